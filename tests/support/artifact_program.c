/* artifact_program.c - follows an artifact and prints a hash of every mask: built against the
 * library with a compiler, and against the one without (tests/programs/test_install.py).
 *
 *   artifact_program write SCHEMA FILE     (with -DWITH_COMPILER)
 *       compiles a schema and writes its artifact
 *   artifact_program follow FILE TEXT
 *       loads it and prints a line for each byte of the text: the hash of the mask before it, and
 *       the shortest completion
 *
 * Sees include/turnstile.h alone. The vocabulary is made of arrays: every byte, and words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <turnstile.h>

static tsl_vocab *make_vocab(void) {
  static const char *const words[] = {"{\"", "\":", "\": ", "\",\"", "name", "count", "1",
                                      "10",  "100", "00",   "12",    "true", "false", ".0",
                                      ".5",  "e1",  "E-",   "leaf",  "\"}",  "}",     ", "};
  static uint8_t bytes[1024], special[300];
  static uint32_t offsets[301];
  uint32_t n = 0, count = 0;
  for (; count < 256; count++) offsets[count] = n, bytes[n++] = (uint8_t)count;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    offsets[count++] = n;
    memcpy(bytes + n, words[i], strlen(words[i]));
    n += (uint32_t)strlen(words[i]);
  }
  offsets[count] = n;
  special[count++] = 1;
  offsets[count] = n;
  const tsl_token eog = count - 1;
  const tsl_vocab_desc d = {bytes, offsets, count, 0, special, &eog, 1};
  tsl_vocab *v = NULL;
  tsl_error error;
  if (tsl_vocab_new(&d, NULL, &v, &error) != TSL_OK) fprintf(stderr, "%s\n", error.message);
  return v;
}

static int follow(tsl_vocab *v, const char *path, const char *text) {
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  tsl_error error;
  const uint32_t *mask;
  uint64_t id, left;
  tsl_status status = tsl_grammar_load(v, path, NULL, &g, &error);
  if (status != TSL_OK)
    return fprintf(stderr, "%s: %s\n", tsl_status_name(status), error.message), 1;
  status = tsl_matcher_new(g, NULL, &m);
  for (const char *c = text; status == TSL_OK; c++) {
    status = tsl_matcher_mask_borrow(m, &mask, &id);
    if (status == TSL_OK) status = tsl_matcher_shortest_completion(m, &left);
    if (status == TSL_OK)
      printf("%016" PRIx64 " %" PRIu64 " %d\n", id, left, tsl_matcher_is_complete(m));
    if (!*c || status != TSL_OK) break;
    status = tsl_matcher_accept_bytes(m, c, 1, NULL);
  }
  if (status != TSL_OK) fprintf(stderr, "%s\n", tsl_status_name(status));
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  return status != TSL_OK;
}

#ifdef WITH_COMPILER
static int write_artifact(tsl_vocab *v, const char *schema, const char *path) {
  tsl_grammar *g = NULL;
  tsl_artifact *a = NULL;
  tsl_error error;
  const tsl_schema_options any = {.generous = true};
  const tsl_source source = {
      .kind = TSL_SOURCE_JSON_SCHEMA, .text = schema, .length = strlen(schema), .schema = &any};
  const tsl_artifact_options options = {.source = &source, .max_states = 5000};
  tsl_status status = tsl_grammar_compile(v, &source, &g, &error);
  if (status == TSL_OK) status = tsl_artifact_make(g, &options, NULL, &a, &error);
  if (status == TSL_OK) status = tsl_artifact_write(a, path, &error);
  if (status != TSL_OK) fprintf(stderr, "%s: %s\n", tsl_status_name(status), error.message);
  tsl_artifact_free(a);
  tsl_grammar_release(g);
  return status != TSL_OK;
}
#endif

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  tsl_vocab *v = make_vocab();
  int code = 2;
  if (!strcmp(argv[1], "follow")) code = follow(v, argv[2], argv[3]);
#ifdef WITH_COMPILER
  else if (!strcmp(argv[1], "write"))
    code = write_artifact(v, argv[2], argv[3]);
#endif
  tsl_vocab_release(v);
  return code;
}
