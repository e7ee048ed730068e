/* words.c - what a word that is none was meant for.
 *
 * Problem   A keyword that is misspelled asserts nothing, and a required name that no property has
 *           makes a schema empty. Both are seldom meant.
 * Idea      Compare letters without case and without _, - and $. For keywords, one letter may be
 *           changed, left out, added or swapped with the next. For names of properties, the least
 *           number of such changes wins, up to a third of the name. Some words have other names
 *           elsewhere, such as "regex" and "min": tables have them.
 *           Formats are compared like keywords. Some have other names elsewhere: a table has them.
 * Example   "maxlenght" is maxLength with two letters swapped. "frist_name" is "firstName".
 * Cost      Keywords: about 60 comparisons. Names: letters × letters for each property.
 * Tested by tests/schema/test_schema.c, tests/programs/test_report.py, tests/schema/test_lint.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/report/words.h"

#include "compiler/formats/formats.h"
#include "compiler/schema/keywords.h"

/* ---- keywords -------------------------------------------------------------------------------- */

/* With one letter changed, left out or added, or two of them swapped. */
static bool looks_like(const char *a, size_t n, const char *b, size_t m) {
  size_t begin = 0;
  while (begin < n && begin < m && a[begin] == b[begin]) begin++;
  while (n > begin && m > begin && a[n - 1] == b[m - 1]) n--, m--;
  n -= begin, m -= begin;
  return (n <= 1 && m <= 1) ||
         (n == 2 && m == 2 && a[begin] == b[begin + 1] && a[begin + 1] == b[begin]);
}

/* What a word of another notation is called here; NULL: it is none of `names`. */
static const char *renamed(const char *const (*names)[2], size_t count, const char *text,
                           size_t n) {
  char own[TSL__WORD_MAX], other[TSL__WORD_MAX];
  uint32_t length = tsl__near_letters(text, n, own);
  for (size_t i = 0; i < count && length != UINT32_MAX; i++)
    if (tsl__near_letters(names[i][0], strlen(names[i][0]), other) == length &&
        !memcmp(own, other, length))
      return names[i][1];
  return NULL;
}
#define RENAMED(names, text, n) renamed(names, sizeof names / sizeof *names, text, n)

const char *tsl__schema_meant_bound(const tsl__json *type, const char *text, size_t n) {
  static const char *const of_strings[][2] = {{"min", "minLength"}, {"max", "maxLength"}},
                           *const of_numbers[][2] = {{"min", "minimum"}, {"max", "maximum"}},
                           *const of_arrays[][2] = {{"min", "minItems"}, {"max", "maxItems"}};
  if (tsl__json_says(type, "string")) return RENAMED(of_strings, text, n);
  if (tsl__json_says(type, "array")) return RENAMED(of_arrays, text, n);
  bool number = tsl__json_says(type, "integer") || tsl__json_says(type, "number");
  return number ? RENAMED(of_numbers, text, n) : NULL;
}

const char *tsl__schema_meant(const char *text, size_t n) {
  static const char *const names[][2] = {{"property", "properties"},
                                         {"props", "properties"},
                                         {"regex", "pattern"},
                                         {"regexp", "pattern"}};
  char word[TSL__WORD_MAX], letters[TSL__WORD_MAX];
  uint32_t length = tsl__near_letters(text, n, word);
  const char *name = RENAMED(names, text, n);
  if (name) return name;
  for (size_t i = 0; i < KW_COUNT && length != UINT32_MAX; i++) {
    const char *keyword = tsl__keyword_rows[i].text;
    uint32_t m = tsl__near_letters(keyword, strlen(keyword), letters);
    if (m == length && !memcmp(word, letters, m)) return keyword;
    /* short words are like many others */
    if ((m >= 5 || (m == 4 && length && word[0] == letters[0])) &&
        looks_like(word, length, letters, m))
      return keyword;
  }
  return NULL;
}

/* ---- formats --------------------------------------------------------------------------------- */

/* Names that other notations have for a format. */
static const char *other_name(const char *text, size_t n) {
  static const char *const names[][2] = {{"timestamp", "date-time"},
                                         {"iso8601", "date-time"},
                                         {"iso-date-time", "date-time"},
                                         {"rfc3339", "date-time"},
                                         {"iso-date", "date"},
                                         {"iso-time", "time"},
                                         {"url", "uri"},
                                         {"link", "uri"},
                                         {"guid", "uuid"},
                                         {"mail", "email"},
                                         {"email-address", "email"},
                                         {"ip", "ipv4"},
                                         {"ip-address", "ipv4"},
                                         {"domain", "hostname"},
                                         {"interval", "duration"}};
  return RENAMED(names, text, n);
}

const char *tsl__schema_meant_format(const char *text, size_t n) {
  char word[TSL__WORD_MAX], letters[TSL__WORD_MAX];
  uint32_t length = tsl__near_letters(text, n, word);
  const char *name = other_name(text, n), *near = NULL;
  for (size_t i = 0; !name && length != UINT32_MAX && tsl__format_name(i); i++) {
    uint32_t m = tsl__near_letters(tsl__format_name(i), strlen(tsl__format_name(i)), letters);
    if (m == length && !memcmp(word, letters, m)) name = tsl__format_name(i);
    if (!near && m >= 4 && length && word[0] == letters[0] && looks_like(word, length, letters, m))
      near = tsl__format_name(i);
  }
  return name ? name : near;
}

/* ---- names of properties --------------------------------------------------------------------- */

const tsl__json *tsl__schema_nearest(const tsl__json *members, const char *name, size_t n) {
  char own[TSL__WORD_MAX], other[TSL__WORD_MAX];
  const uint32_t length = tsl__near_letters(name, n, own);
  uint32_t best = length / 3 + 1;
  const tsl__json *found = NULL;
  if (length == UINT32_MAX || members->kind != TSL__JSON_OBJECT) return NULL;
  for (uint32_t i = 0; i < members->length; i++) {
    const tsl__json *m = &members->items[i];
    const uint32_t l = tsl__near_letters(m->key, m->key_length, other);
    const uint32_t apart =
        l == UINT32_MAX ? UINT32_MAX : tsl__near_apart(own, length, other, l, best);
    if (apart >= best) continue;
    best = apart;
    found = m;
  }
  return found;
}

/* ---- wrappers -------------------------------------------------------------------------------- */

bool tsl__schema_is_wrapper(const tsl__json *v) {
  static const char *const words[] = {"schema",
                                      "inputSchema",
                                      "input_schema",
                                      "parameters",
                                      "json_schema",
                                      "outputSchema",
                                      "response_schema",
                                      "responseSchema",
                                      "response_json_schema",
                                      "json",
                                      "guided_json",
                                      "responseJsonSchema",
                                      NULL};
  static const char *const parts[] = {"type", "properties", "$ref", "anyOf"};
  bool wraps = tsl__string_in(tsl__json_key(v), words), schema = false;
  for (size_t i = 0; wraps && v->kind == TSL__JSON_OBJECT && i < sizeof parts / sizeof *parts; i++)
    schema = schema || tsl__json_member(v, parts[i]);
  return wraps && schema;
}

/* ---- types ----------------------------------------------------------------------------------- */

bool tsl__schema_names_type(const tsl__json *schema, const char *type) {
  const tsl__json *t = tsl__json_member(schema, "type");
  for (uint32_t i = 0; t && t->kind == TSL__JSON_ARRAY && i < t->length; i++)
    if (tsl__json_says(&t->items[i], type)) return true;
  return tsl__json_says(t, type);
}
