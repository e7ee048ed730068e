/* test_texts.c - the grammars of languages that are shipped, on texts that people wrote.
 *
 * Each file in schemas/grammars/ has a file in tests/texts/ of the same name, with at least three
 * valid and three invalid texts. A line `== valid: title` or `== invalid: title` begins a text,
 * which ends before the next such line. The line break before that line is not part of the text.
 *
 * By bytes: valid texts are accepted to their end and complete there, invalid ones are not. The
 * texts are read as tokens of the embedded vocabulary. Each token of a valid text is in the mask,
 * and at some positions the whole mask is the oracle's. tests/engine/test_shipped.c follows random
 * texts of the same grammars.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/judges/oracle.h"
#include "tests/support/check.h"
#include "tests/support/folder.h"
#include "tests/support/text.h"

#define NAMES_MAX 128
#define COMPARE_EVERY ROUNDS_OF(16u) /* tokens from one comparison with the oracle to the next */
#define COMPARE_MAX ROUNDS_OF(8u)    /* comparisons in one text */

static char *names[NAMES_MAX];
static size_t name_count;
static unsigned long texts_judged, masks_compared;
static tsl_vocab *vocab;

typedef struct text_of {
  bool valid;
  const char *title, *at;
  size_t title_length, length;
} text_of;

/* The next text of a file; false at its end. *rest: what is still to be read. */
static bool next_text(const char *name, char **rest, text_of *out) {
  char *line = *rest;
  if (!*line) return false;
  bool valid = !strncmp(line, "== valid: ", 10), invalid = !strncmp(line, "== invalid: ", 12);
  CHECKF(valid || invalid, "%s: not the beginning of a text: %.40s", name, line);
  if (!valid && !invalid) return false;
  char *end = strchr(line, '\n');
  out->valid = valid;
  out->title = line + (valid ? 10 : 12);
  out->title_length = end ? (size_t)(end - out->title) : strlen(out->title);
  out->at = end ? end + 1 : line + strlen(line);
  /* the line break of the title may be the one before the next title */
  char *next = end ? strstr(end, "\n== ") : NULL;
  *rest = next ? next + 1 : line + strlen(line);
  out->length = (size_t)(*rest - out->at);
  if (out->length && out->at[out->length - 1] == '\n') out->length--;
  return true;
}

static tsl_grammar *compile(const char *name) {
  size_t n;
  char *text = text_of_file(name, &n);
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_source source = {.kind = folder_has(name, ".gbnf") ? TSL_SOURCE_GBNF : TSL_SOURCE_LARK,
                       .text = text,
                       .length = n};
  CHECKF(tsl_grammar_compile(vocab, &source, &g, &error) == TSL_OK, "%s:%u:%u: %s", name,
         error.line, error.column, error.message);
  free(text);
  return g;
}

static void judge(const char *name, tsl_matcher *m, const text_of *t) {
  size_t accepted = 0;
  tsl_matcher_reset(m);
  tsl_status status = tsl_matcher_accept_bytes(m, t->at, t->length, &accepted);
  bool got = status == TSL_OK && tsl_matcher_is_complete(m);
  CHECKF(status == TSL_OK || status == TSL_REJECTED, "%s: %s", name, tsl_status_name(status));
  CHECKF(got == t->valid, "%s: %.*s: %zu of %zu bytes accepted, %s", name, (int)t->title_length,
         t->title, accepted, t->length, got ? "complete" : "not complete");
  texts_judged++;
}

/* The masks along a valid text. */
static void follow(const char *name, tsl_grammar *g, tsl_matcher *m, const text_of *t) {
  size_t words = tsl_vocab_mask_words(vocab), capacity = t->length + 16, count = 0, compared = 0;
  uint32_t *mine = malloc(words * 4), *naive = malloc(words * 4);
  tsl_token *tokens = malloc(capacity * sizeof *tokens);
  oracle o;
  CHECK(tsl_vocab_encode(vocab, t->at, t->length, 0, tokens, capacity, &count) == TSL_OK);
  tsl_matcher_reset(m);
  oracle_begin(&o, g->space, g->start);
  for (size_t i = 0; i < count && !o.overflow; i++) {
    CHECK(tsl_matcher_mask(m, mine) == TSL_OK);
    if (i % COMPARE_EVERY == 0 && compared < COMPARE_MAX) {
      tsl__space_begin(g->space);
      oracle_mask(&o, naive);
      if (!o.overflow) CHECKF(!memcmp(mine, naive, words * 4), "%s: token %zu", name, i);
      compared++;
    }
    bool allowed = tsl_mask_has(mine, tokens[i]);
    CHECKF(allowed, "%s: %.*s: token %zu", name, (int)t->title_length, t->title, i);
    if (!allowed || tsl_matcher_accept(m, tokens[i]) != TSL_OK) break;
    if (compared < COMPARE_MAX) CHECK(oracle_token(&o, tokens[i]) || o.overflow);
  }
  masks_compared += compared;
  oracle_free(&o);
  free(tokens);
  free(mine);
  free(naive);
}

/* "schemas/grammars/x.lark": its texts are "tests/texts/x.txt". */
static char *texts_of(const char *name, size_t *size) {
  char path[FOLDER_PATH];
  const char *base = strrchr(name, '/') + 1;
  snprintf(path, sizeof path, "tests/texts/%.*s.txt", (int)(strrchr(base, '.') - base), base);
  char *text = text_of_file(path, size);
  CHECKF(text, "%s cannot be read", path);
  return text;
}

static void all_texts(void) {
  for (size_t i = 0; i < name_count; i++) {
    size_t size, counts[2] = {0};
    char *texts = texts_of(names[i], &size), *rest = texts;
    tsl_grammar *g = compile(names[i]);
    tsl_matcher *m = NULL;
    text_of t;
    if (g) CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
    while (m && texts && next_text(names[i], &rest, &t)) {
      counts[t.valid]++;
      judge(names[i], m, &t);
      if (t.valid && tsl_test_turn(texts_judged, TURN_OF(2, 5))) follow(names[i], g, m, &t);
    }
    CHECKF(counts[0] >= 3 && counts[1] >= 3, "%s: %zu valid and %zu invalid texts", names[i],
           counts[1], counts[0]);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
    free(texts);
  }
}

static void something_was_judged(void) {
  printf("  %zu grammars, %lu texts, %lu masks compared\n", name_count, texts_judged,
         masks_compared);
  CHECK(name_count >= 30 && texts_judged >= 6 * name_count && masks_compared > 10);
}

int main(void) {
  CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
  name_count = folder_list("schemas/grammars", ".gbnf", names, NAMES_MAX);
  name_count +=
      folder_list("schemas/grammars", ".lark", names + name_count, NAMES_MAX - name_count);
  RUN(all_texts, "verdicts on texts, and masks along them");
  RUN(something_was_judged, "there were grammars and texts");
  for (size_t i = 0; i < name_count; i++) free(names[i]);
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
