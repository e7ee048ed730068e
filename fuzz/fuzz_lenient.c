/* fuzz_lenient.c - any bytes as an answer that nobody constrained.
 *
 * Input       preset (1 byte), step (1 byte): the bytes of each piece; then the answer.
 * Properties  A parser that mends refuses nothing, and what it says is JSON. Given in pieces, an
 *             answer is read as it is read as a whole. Parts of text come before the answer is
 *             over, and every call has a name, arguments and an end. An answer that the grammar
 *             allows is read as the grammar reads it. Exceptions are more calls, and markup at the
 *             end that is left out (docs/tools.md). A hang is a finding.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/json/json.h"
#include "fuzz/require.h"
#include "turnstile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char request[] =
    "[{\"name\": \"f\", \"parameters\": {\"type\": \"object\", \"properties\": {\"n\": {\"type\": "
    "\"integer\"}, \"s\": {\"type\": \"string\"}, \"o\": {\"type\": \"object\"}, \"l\": {\"type\": "
    "\"array\", \"items\": {\"type\": \"integer\"}}}}}, {\"name\": \"get_time\"}]";

/* Made once for each preset: strict, and lenient over its tables. */
static tsl_grammar *grammar_of(uint8_t preset, bool lenient) {
  static tsl_vocab *vocab;
  static tsl_grammar *kept[64][2];
  const char *name, *json;
  if (!vocab) require(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK, "no vocabulary");
  if (!tsl_tools_preset(preset & 63, &name, &json)) preset = 0, tsl_tools_preset(0, &name, &json);
  tsl_grammar **g = &kept[preset & 63][lenient];
  const tsl_tools_options options = {.preset = name, .lenient = lenient};
  if (!*g)
    require(tsl_grammar_tools(vocab, request, sizeof request - 1, &options, NULL, g, NULL) ==
                TSL_OK,
            "no grammar");
  return *g;
}

static void require_json(const char *text) {
  tsl__arena arena;
  tsl__json *root;
  tsl__arena_init(&arena, &tsl__malloc);
  require(text && tsl__json_parse(&arena, NULL, text, strlen(text), 1000, &root, NULL) == TSL_OK,
          "what is read is no JSON");
  tsl__arena_free(&arena);
}

/* Of each call: its name, its arguments, its end. */
static void take_parts(tsl_parser *p, uint32_t *calls, int *state) {
  tsl_part part;
  while (tsl_parser_next(p, &part)) {
    if (part.kind == TSL_PART_CALL)
      require(*state == 0 && part.call == *calls, "calls"), *state = 1;
    if (part.kind == TSL_PART_ARGUMENTS) require(*state == 1, "arguments outside of a call");
    if (part.kind == TSL_PART_CALL_END) require(*state == 1, "an end"), *state = 0, ++*calls;
  }
}

static char *read_in(tsl_grammar *g, const char *text, size_t n, size_t step) {
  tsl_parser *p = NULL;
  uint32_t calls = 0;
  int state = 0;
  require(tsl_parser_new(g, NULL, &p) == TSL_OK, "no parser");
  for (size_t at = 0; at < n; at += step) {
    require(tsl_parser_text(p, text + at, n - at < step ? n - at : step) == TSL_OK, "refused");
    take_parts(p, &calls, &state);
  }
  require(tsl_parser_finish(p) == TSL_OK, "not finished");
  take_parts(p, &calls, &state);
  require(!state, "a call without an end");
  const char *json = tsl_parser_json(p);
  require_json(json);
  char *copy = malloc(strlen(json) + 1);
  require(copy != NULL, "no memory");
  strcpy(copy, json);
  tsl_parser_free(p);
  return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2 || size > 4096) return 0;
  const char *text = (const char *)data + 2;
  size_t n = size - 2;
  tsl_grammar *strict = grammar_of(data[0], false), *lenient = grammar_of(data[0], true);
  char *whole = read_in(lenient, text, n, n ? n : 1),
       *pieces = read_in(lenient, text, n, 1 + data[1] % 7u);
  require(!strcmp(whole, pieces), "in pieces it is another answer");
  tsl_parser *p = NULL;
  require(tsl_parser_new(strict, NULL, &p) == TSL_OK, "no parser");
  if (tsl_parser_text(p, text, n) == TSL_OK && tsl_parser_finish(p) == TSL_OK)
    require(!strcmp(tsl_parser_json(p), whole) || strstr(whole, "\"calls\": [{") ||
                strstr(whole, "\"repair\": \"markup\""),
            "an exact answer is mended");
  tsl_parser_free(p);
  free(whole);
  free(pieces);
  return 0;
}
