/* test_json.c - JSON texts to trees: values, decoding, places, doubles, errors with their offsets,
 * pointers, equality, counts, memory that runs out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/json/json.h"

#include "tests/support/check.h"

static tsl__arena arena;

static tsl__json *parse(const char *text) {
  tsl__json *v = NULL;
  tsl_error error;
  tsl_status status = tsl__json_parse(&arena, NULL, text, strlen(text), 100, &v, &error);
  CHECKF(status == TSL_OK, "%s: %s", text, error.message);
  return v;
}

static void test_values(void) {
  tsl__json *v = parse(" {\"a\": [1, -2.50e+3, \"x\\n\\u00e9\\ud83d\\ude00\"], \"\": null, "
                       "\"b\\u0000c\": {\"t\": true, \"f\": false}} ");
  if (!v) return;
  CHECK(v->kind == TSL__JSON_OBJECT && v->length == 3 && v->offset == 1 && v->user == 0);
  const tsl__json *a = tsl__json_get(v, "a", 1), *b = tsl__json_get(v, "b\0c", 3);
  CHECK(a && a->kind == TSL__JSON_ARRAY && a->length == 3 && a->offset == 7);
  CHECK(a->items[0].kind == TSL__JSON_NUMBER && a->items[0].length == 1 && a->items[0].offset == 8);
  CHECK(a->items[1].length == 8 && !memcmp(a->items[1].text, "-2.50e+3", 8) &&
        a->items[1].offset == 11);
  CHECK(tsl__json_is(&a->items[2], "x\n\xc3\xa9\xf0\x9f\x98\x80", 8) && a->items[2].offset == 21);
  CHECK(tsl__json_get(v, "", 0)->kind == TSL__JSON_NULL);
  CHECK(b && b->length == 2 && b->items[0].kind == TSL__JSON_TRUE &&
        b->items[1].kind == TSL__JSON_FALSE);
  CHECK(!tsl__json_get(v, "c", 1) && !tsl__json_get(a, "a", 1));
  tsl__json *number = parse("12"), *string = parse("\"\\\\\"");
  CHECK(number && number->length == 2 && !memcmp(number->text, "12", 2) && number->offset == 0);
  CHECK(string && tsl__json_is(string, "\\", 1) && string->offset == 0);
}

static void test_doubles(void) {
  tsl__json *v = parse("{\"a\":1,\"b\":2,\"\\u0061\":3}");
  CHECK(v && v->length == 2 && v->items[0].text[0] == '3' && v->items[1].text[0] == '2');
  char text[8000];
  size_t n = 0;
  text[n++] = '{';
  for (int i = 0; i < 400; i++)
    n += (size_t)snprintf(text + n, sizeof text - n, "%s\"k%d\":%d", i ? "," : "", i % 150, i);
  text[n++] = '}';
  text[n] = 0;
  v = parse(text);
  CHECK(v && v->length == 150);
  for (uint32_t i = 0; v && i < v->length; i++) {
    char wanted[16];
    int last = i < 100 ? 300 + (int)i : 150 + (int)i;
    snprintf(wanted, sizeof wanted, "%d", last);
    CHECKF(v->items[i].length == strlen(wanted) &&
               !memcmp(v->items[i].text, wanted, strlen(wanted)),
           "key %u", (unsigned)i);
  }
}

static void test_errors(void) {
  static const struct {
    const char *text;
    tsl_status status;
    size_t offset;
  } bad[] = {
      {"", TSL_ERR_SYNTAX, 0},
      {"{", TSL_ERR_SYNTAX, 1},
      {"[1,]", TSL_ERR_SYNTAX, 4},
      {"[1 2]", TSL_ERR_SYNTAX, 4},
      {"{\"a\" 1}", TSL_ERR_SYNTAX, 6},
      {"nul", TSL_ERR_SYNTAX, 3},
      {"01", TSL_ERR_SYNTAX, 2},
      {"\"\\x\"", TSL_ERR_SYNTAX, 3},
      {"\"\xff\"", TSL_ERR_SYNTAX, 2},
      {"1 x", TSL_ERR_SYNTAX, 3},
      {"[\"\\ud800\"]", TSL_ERR_SYNTAX, 1},
      {"[\"a\", \"\\udc00\\ud800\"]", TSL_ERR_SYNTAX, 6},
      {"[[[[[[]]]]]]", TSL_ERR_LIMIT, 5},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tsl__json *v;
    tsl_error error = {0};
    tsl_status status =
        tsl__json_parse(&arena, NULL, bad[i].text, strlen(bad[i].text), 5, &v, &error);
    CHECKF(status == bad[i].status && !v && error.status == status && error.message[0], "%s: %s",
           bad[i].text, tsl_status_name(status));
    size_t off =
        error.offset > bad[i].offset ? error.offset - bad[i].offset : bad[i].offset - error.offset;
    CHECKF(off <= 1, "%s: offset %zu", bad[i].text, error.offset); /* at the byte, or beside it */
    CHECKF(error.line == 1 && error.column == error.offset + 1, "%s: line %u, column %u",
           bad[i].text, error.line, error.column);
  }
}

static void test_deep(void) {
  enum { DEPTH = 1000000 };
  char *text = malloc(DEPTH + 1);
  tsl__json *v;
  tsl_error error;
  memset(text, '[', DEPTH);
  text[DEPTH] = 0;
  CHECK(tsl__json_parse(&arena, NULL, text, DEPTH, 512, &v, &error) == TSL_ERR_LIMIT &&
        error.offset == 512);
  free(text);
}

static void test_pointers(void) {
  tsl__json *v = parse("{\"a/b\": {\"m~n\": [10, {\"\": 5}]}, \"a\": 1}");
  static const struct {
    const char *token;
    int item;
  } cases[] = {{"0", 0},  {"1", 1}, {"2", -1},  {"01", -1},
               {"-", -1}, {"", -1}, {"1x", -1}, {"4294967296", -1}};
  const tsl__json *list = v ? &v->items[0].items[0] : NULL;
  for (size_t i = 0; list && i < sizeof cases / sizeof *cases; i++) {
    const tsl__json *item = tsl__json_item(list, cases[i].token, strlen(cases[i].token));
    CHECKF(item == (cases[i].item < 0 ? NULL : &list->items[cases[i].item]), "%s", cases[i].token);
  }
  CHECK(v && !tsl__json_item(v, "0", 1));
  char back[64];
  const tsl__json *deepest = list ? &list->items[1].items[0] : NULL;
  CHECK(deepest && tsl__json_pointer(v, deepest, back, sizeof back) == 13 &&
        !strcmp(back, "/a~1b/m~0n/1/"));
  CHECK(v && tsl__json_pointer(v, v, back, sizeof back) == 0 && !*back);
  char cut[4];
  tsl__json *other = parse("1");
  CHECK(v && tsl__json_pointer(v, &v->items[0].items[0], cut, sizeof cut) == 10 &&
        !strcmp(cut, "/a~"));
  CHECK(v && other && tsl__json_pointer(v, other, cut, sizeof cut) == SIZE_MAX && cut[0] == 0);
}

static void test_equality(void) {
  static const struct {
    const char *a, *b;
    bool equal;
  } cases[] = {
      {"1", "1.0", true},
      {"1e2", "100", true},
      {"0", "-0.0", true},
      {"1", "-1", false},
      {"0.0012", "12e-4", true},
      {"1200e5000", "12e5002", true},
      {"1e99", "1e98", false},
      {"1", "2", false},
      {"\"a\"", "\"\\u0061\"", true},
      {"null", "false", false},
      {"{\"a\":1,\"b\":[2]}", "{\"b\":[2.0],\"a\":1}", true},
      {"{\"a\":1}", "{\"a\":1,\"b\":2}", false},
      {"{\"a\":1}", "{\"b\":1}", false},
      {"[1,2]", "[2,1]", false},
      {"[]", "{}", false},
      {"[]", "[]", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl__json *a = parse(cases[i].a), *b = parse(cases[i].b);
    CHECKF(a && b && tsl__json_equal(a, b) == cases[i].equal &&
               tsl__json_equal(b, a) == cases[i].equal,
           "%s and %s", cases[i].a, cases[i].b);
  }
}

static void test_counts(void) {
  static const struct {
    const char *text;
    bool fits;
    uint32_t value;
  } cases[] = {
      {"0", true, 0},
      {"-0", true, 0},
      {"0.0e5", true, 0},
      {"3", true, 3},
      {"3.0", true, 3},
      {"0.3e1", true, 3},
      {"300e-2", true, 3},
      {"12e3", true, 12000},
      {"3.5", false, 0},
      {"-1", false, 0},
      {"1e-1", false, 0},
      {"\"1\"", false, 0},
      {"4294967293", true, 4294967293u},
      {"4294967294", true, 4294967294u},
      {"4294967295", true, 4294967294u},
      {"1e99", true, 4294967294u},
      {"1e99999999999", true, 4294967294u},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint32_t n = 77;
    tsl__json *v = parse(cases[i].text);
    bool fits = v && tsl__json_count(v, &n);
    CHECKF(fits == cases[i].fits && (!fits || n == cases[i].value), "%s: %u", cases[i].text,
           (unsigned)n);
  }
}

static long blocks_left;

static void *failing(void *ctx, void *block, size_t old_size, size_t new_size) {
  long *held = ctx;
  (void)old_size;
  if (!new_size) {
    *held -= block != NULL;
    free(block);
    return NULL;
  }
  if (blocks_left-- <= 0) return NULL;
  void *p = realloc(block, new_size);
  *held += p && !block;
  return p;
}

static void test_out_of_memory(void) {
  char text[6000];
  size_t n = 0;
  text[n++] = '[';
  for (int i = 0; i < 300; i++)
    n += (size_t)snprintf(text + n, sizeof text - n, "%s{\"k\\n\":[%d]}", i ? "," : "", i);
  text[n++] = ']';
  long held = 0, failures = 0;
  tsl_allocator a = {&held, failing};
  for (long left = 0;; left++) {
    tsl__arena own;
    tsl__json *v;
    tsl_error error;
    tsl__arena_init(&own, &a);
    blocks_left = left;
    tsl_status status = tsl__json_parse(&own, NULL, text, n, 100, &v, &error);
    tsl__arena_free(&own);
    CHECKF(held == 0, "%ld blocks leaked", held);
    if (status == TSL_OK) break;
    failures++;
    CHECK(status == TSL_ERR_NO_MEMORY && !v && error.status == status);
  }
  CHECKF(failures > 5, "%ld allocations failed", failures);
}

int main(void) {
  tsl__arena_init(&arena, &tsl__malloc);
  RUN(test_values, "values, decoding, places");
  RUN(test_doubles, "of equal keys the last value wins");
  RUN(test_errors, "malformed texts: status, offset, line, column");
  RUN(test_deep, "a million brackets");
  RUN(test_pointers, "pointers, there and back");
  RUN(test_equality, "equality of values");
  RUN(test_counts, "non-negative integers in any spelling");
  RUN(test_out_of_memory, "every allocation may fail");
  tsl__arena_free(&arena);
  return tsl_test_end();
}
