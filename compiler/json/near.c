/* near.c - how far two names are apart: see near.h.
 *
 * Idea      A table has the least changes that make the first i letters of one word the first j of
 *           the other. Three of its rows are kept. The changes are those of Damerau and
 *           Levenshtein, with swaps of neighbours only.
 * Example   maxlenght and maxlength are one change apart: h and t are swapped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/json/near.h"

uint32_t tsl__near_letters(const char *text, size_t n, char out[TSL__WORD_MAX]) {
  uint32_t length = 0;
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '_' || text[i] == '-' || text[i] == '$') continue;
    if (length == TSL__WORD_MAX) return UINT32_MAX;
    out[length++] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] | 0x20) : text[i];
  }
  return length;
}

uint32_t tsl__near_apart(const char *a, uint32_t n, const char *b, uint32_t m, uint32_t most) {
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
