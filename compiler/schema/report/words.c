/* words.c - what a word that is none was meant for.
 *
 * Problem   A keyword that is misspelled asserts nothing, and a required name that no property has
 *           makes a schema empty. Both are seldom meant.
 * Idea      Compare letters without case and without _, - and $. For keywords, one letter may be
 *           changed, left out, added or swapped with the next. For names of properties, the least
 *           number of such changes wins, up to a third of the name.
 * Example   "maxlenght" is maxLength with two letters swapped. "frist_name" is "firstName".
 * Cost      Keywords: about 60 comparisons. Names: letters × letters for each property.
 * Tested by tests/schema/test_schema.c, tests/programs/test_report.py, tests/schema/test_lint.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/report/words.h"

#include "compiler/schema/keywords.h"

uint32_t tsl__schema_letters(const char *text, size_t n, char out[TSL__WORD_MAX]) {
  uint32_t length = 0;
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '_' || text[i] == '-' || text[i] == '$') continue;
    if (length == TSL__WORD_MAX) return UINT32_MAX;
    out[length++] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] | 0x20) : text[i];
  }
  return length;
}

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

const char *tsl__schema_meant(const char *text, size_t n) {
  char word[TSL__WORD_MAX], letters[TSL__WORD_MAX];
  uint32_t length = tsl__schema_letters(text, n, word);
  for (size_t i = 0; i < KW_COUNT && length != UINT32_MAX; i++) {
    const char *keyword = tsl__keyword_rows[i].text;
    uint32_t m = tsl__schema_letters(keyword, strlen(keyword), letters);
    if (m == length && !memcmp(word, letters, m)) return keyword;
    /* short words are like many others */
    if ((m >= 5 || (m == 4 && length && word[0] == letters[0])) &&
        looks_like(word, length, letters, m))
      return keyword;
  }
  return NULL;
}

/* ---- names of properties --------------------------------------------------------------------- */

/* How many letters have to be changed, left out, added or swapped with the next to make b of a? Of
 * small letters, without _ and -. More than `most`: it does not matter how many. */
static uint32_t letters_apart(const char *a, uint32_t n, const char *b, uint32_t m, uint32_t most) {
  uint32_t rows[3][TSL__WORD_MAX + 1];
  for (uint32_t j = 0; j <= m; j++) rows[0][j] = j;
  for (uint32_t i = 1; i <= n; i++) {
    uint32_t *row = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
    row[0] = i;
    for (uint32_t j = 1; j <= m; j++) {
      uint32_t best = before[j - 1] + (a[i - 1] != b[j - 1]);
      if (before[j] + 1 < best) best = before[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
          earlier[j - 2] + 1 < best)
        best = earlier[j - 2] + 1;
      row[j] = best;
    }
  }
  return rows[n % 3][m] <= most ? rows[n % 3][m] : UINT32_MAX;
}

const tsl__json *tsl__schema_nearest(const tsl__json *members, const char *name, size_t n) {
  char own[TSL__WORD_MAX], other[TSL__WORD_MAX];
  const uint32_t length = tsl__schema_letters(name, n, own);
  uint32_t best = length / 3 + 1;
  const tsl__json *found = NULL;
  if (length == UINT32_MAX || members->kind != TSL__JSON_OBJECT) return NULL;
  for (uint32_t i = 0; i < members->length; i++) {
    const tsl__json *m = &members->items[i];
    const uint32_t l = tsl__schema_letters(m->key, m->key_length, other);
    const uint32_t apart =
        l == UINT32_MAX ? UINT32_MAX : letters_apart(own, length, other, l, best);
    if (apart >= best) continue;
    best = apart;
    found = m;
  }
  return found;
}

/* ---- wrappers -------------------------------------------------------------------------------- */

bool tsl__schema_is_wrapper(const tsl__json *v) {
  static const char *const words[] = {"schema",      "inputSchema",  "input_schema",   "parameters",
                                      "json_schema", "outputSchema", "response_schema"};
  static const char *const parts[] = {"type", "properties", "$ref", "anyOf", "schema"};
  bool wraps = false, schema = false;
  for (size_t i = 0; i < sizeof words / sizeof *words && !wraps; i++)
    wraps = v->key_length == strlen(words[i]) && !memcmp(v->key, words[i], v->key_length);
  for (size_t i = 0; wraps && v->kind == TSL__JSON_OBJECT && i < sizeof parts / sizeof *parts; i++)
    schema = schema || tsl__json_get(v, parts[i], strlen(parts[i]));
  return wraps && schema;
}
