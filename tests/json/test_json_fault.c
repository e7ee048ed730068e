/* test_json_fault.c - texts that are nearly JSON: the error names the fault, at its place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/json/json.h"
#include "tests/support/check.h"

static const struct {
  const char *text, *message; /* a part of it */
  size_t offset;
} faults[] = {
    {"{\"a\": True}", "JSON has true", 6},
    {"{\"a\": [False]}", "JSON has false", 7},
    {"{\"a\": None}", "JSON has null", 6},
    {"{\"a\": NULL}", "in small letters", 6},
    {"{\"a\": undefined}", "leave the member out", 6},
    {"{\"a\": NaN}", "JSON has no NaN", 6},
    {"{\"a\": nan}", "JSON has no nan", 7},
    {"{\"a\": -Infinity}", "JSON has no Infinity", 7},
    {"{\"a\": inf}", "JSON has no inf", 6},
    {"{\"a\": set()}", "json.dumps", 6},
    {"{\"a\": string}", "write it in double quotes", 6},
    {"type: object", "or no JSON at all", 1},
    {"string", "or no JSON at all", 0},
    {"{'a': 1}", "double quotes, no single ones", 1},
    {"{\"a\": 'x'}", "double quotes, no single ones", 6},
    {"{\"a\": `x`}", "double quotes, no single ones", 6},
    {"{\xE2\x80\x9C"
     "a\xE2\x80\x9D: 1}",
     "typographic quotes", 1},
    {"{a: 1}", "a key without quotes", 1},
    {"{$ref: 1}", "a key without quotes", 1},
    {"{1: 2}", "write the number in double quotes", 1},
    {"{\"a\": 1,}", "leave out the last comma", 8},
    {"[1, 2,\n]", "leave out the last comma", 7},
    {"{, \"a\": 1}", "leave it out", 1},
    {"[1,, 2]", "a comma is too many", 3},
    {"{\"a\": , \"b\": 1}", "a value is missing", 6},
    {"{\"a\": 1 \"b\": 2}", "a comma is missing", 8},
    {"[{} {}]", "a comma is missing", 4},
    {"[1 2]", "a comma is missing", 3},
    {"{\"a\": 1; \"b\": 2}", "no semicolons", 7},
    {"{\"a\" = 1}", "no =", 5},
    {"{\"a\" 1}", "a colon must follow the key", 5},
    {"{\"a\": 1 // x\n}", "no comments", 8},
    {"/* x */ {}", "no comments", 0},
    {"{\n# x\n\"a\": 1}", "no comments", 2},
    {"{} // x", "no comments", 3},
    {"{\"a\": 1, ...}", "leave them out", 9},
    {"```json\n{}\n```", "a code fence", 0},
    {"<html>", "this is markup", 0},
    {"{{\"a\": 1}}", "the brace is too many", 1},
    {"{\"a\": 1}}", "a bracket too many", 8},
    {"{} {}", "one text is one value", 3},
    {"{\"a\": 1", "a } is missing", 7},
    {"[1", "a ] is missing", 2},
    {"{\"a\":", "the text ends where a value must stand", 5},
    {"", "the text is empty", 0},
    {" \n", "the text is empty", 2},
    {"{\"a\": \"x}", "the string that begins here has no end", 6},
    {"{\"a\": \"x\ny\"}", "written as \\n", 8},
    {"{\"a\": \"\\d\"}", "a backslash is written twice", 8},
    {"{\"a\": \"\\'\"}", "a backslash is written twice", 8},
    {"{\"a\": \"\\u12\"}", "four hexadecimal digits", 8},
    {"{\"a\": +1}", "no plus sign", 6},
    {"{\"a\": .5}", "write 0.5 for .5", 6},
    {"{\"a\": 0x10}", "decimal numbers", 7},
    {"{\"a\": 1_000}", "leave out the _", 7},
    {"{\"a\": 007}", "no leading zeros", 7},
    {"{\"a\": 1.}", "a digit must follow the point", 8},
    {"[\"a\": 1]", "a colon stands behind a key alone", 4},
};

static void faults_are_named(void) {
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    tsl__arena arena;
    tsl__json *v;
    tsl_error e = {0};
    tsl__arena_init(&arena, &tsl__malloc);
    const char *text = faults[i].text;
    CHECKF(tsl__json_parse(&arena, NULL, text, strlen(text), 10, &v, &e) == TSL_ERR_SYNTAX, "%s",
           text);
    CHECKF(strstr(e.message, faults[i].message) && !strncmp(e.message, "not JSON: ", 10), "%s: %s",
           text, e.message);
    CHECKF(e.offset == faults[i].offset, "%s: at %zu: %s", text, e.offset, e.message);
    tsl__arena_free(&arena);
  }
}

/* Every beginning of a text, and every text with one byte changed: nothing is read outside of it.
 * Run it under ASan. */
static void no_byte_outside(void) {
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    const char *text = faults[i].text;
    for (size_t n = 0; n <= strlen(text); n++) {
      tsl__arena arena;
      tsl__json *v;
      tsl_error e = {0};
      char *copy = malloc(n ? n : 1);
      if (!copy) return;
      memcpy(copy, text, n);
      tsl__arena_init(&arena, &tsl__malloc);
      tsl_status status = tsl__json_parse_in_place(&arena, NULL, copy, n, 10, &v, &e);
      CHECKF((status == TSL_OK) == !e.message[0] && e.offset <= n, "%s, %zu bytes", text, n);
      tsl__arena_free(&arena);
      free(copy);
    }
  }
}

int main(void) {
  RUN(faults_are_named, "with what to do");
  RUN(no_byte_outside, "of texts that end early");
  return tsl_test_end();
}
