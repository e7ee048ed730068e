/* utf8.c - is it text? See utf8.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/utf8.h"

size_t utf8_character(const uint8_t *b, size_t left) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t n = b[0] < 0x80                   ? 1
             : b[0] >= 0xc2 && b[0] < 0xe0 ? 2
             : b[0] >= 0xe0 && b[0] < 0xf0 ? 3
             : b[0] >= 0xf0 && b[0] < 0xf5 ? 4
                                           : 0;
  if (n < 2 || n > left) return n > left ? 0 : n;
  uint32_t c = b[0] & (0xffu >> (n + 1));
  for (size_t i = 1; i < n; i++) {
    if ((b[i] & 0xc0) != 0x80) return 0;
    c = c << 6 | (b[i] & 0x3f);
  }
  return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

size_t utf8_prefix(const uint8_t *bytes, size_t length) {
  size_t i = 0, n;
  while (i < length && (n = utf8_character(bytes + i, length - i))) i += n;
  return i;
}
