/* literal.c - the escapes of strings and regular expressions, as Lark reads them.
 *
 * Problem   Lark reads the escapes of a literal before it knows what the literal is. So an escape
 *           in a regular expression may be read twice, by Lark and by the expression.
 * Idea      This file does the same: one pass over strings and regular expressions, before
 *           everything else.
 * Example   "\n" is a newline. "\d" is a backslash and a d. /\d/ is a digit, as the expression
 *           reads the escape that was left.
 *
 * \n \f \t \r \xHH \uHHHH \UHHHHHHHH are the character itself, in a regular expression too: /\x2e/
 * is a dot that matches anything. \" is a quote. Before anything else the backslash stays. In a
 * regular expression it goes on as an escape, in a string it means itself, and \\ is one backslash.
 *
 * Tested by tests/lark/test_lark.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/items.h"

static bool put(tsl__lark *l, const void *bytes, size_t n) {
  if (!tsl__vec_reserve(&l->alloc, &l->bytes, n)) return tsl__lark_no_memory(l);
  memcpy(l->bytes.at + l->bytes.n, bytes, n);
  l->bytes.n += n;
  return true;
}

static bool put_hex(tsl__lark *l, uint32_t module, uint32_t at, const char *text, uint32_t left,
                    uint32_t digits) {
  uint32_t value = 0;
  uint8_t utf8[4];
  for (uint32_t i = 0; i < digits; i++) {
    int d = i < left ? tsl__hex_value((uint8_t)text[i]) : -1;
    if (d < 0)
      return tsl__lark_fail(l, TSL_ERR_SYNTAX, module, at, "an escape needs %u hexadecimal digits",
                            digits);
    value = value << 4 | (uint32_t)d;
  }
  if (value > TSL__CP_MAX)
    return tsl__lark_fail(l, TSL_ERR_SYNTAX, module, at, "an escape above U+10FFFF");
  if (value >= 0xD800 && value <= 0xDFFF)
    return tsl__lark_fail(l, TSL_ERR_SYNTAX, module, at, "a surrogate is no character");
  return put(l, utf8, tsl__utf8_encode(value, utf8));
}

bool tsl__lark_unescape(tsl__lark *l, uint32_t module, uint32_t at, uint32_t length, bool pattern,
                        uint32_t *first, uint32_t *count) {
  static const char plain[] = "nftr", meant[] = "\n\f\t\r";
  const char *text = tsl__lark_text(l, module, at);
  *first = (uint32_t)l->bytes.n;
  for (uint32_t i = 0; i < length;) {
    const char *found;
    if (text[i] != '\\') {
      if (!put(l, text + i++, 1)) return false;
      continue;
    }
    uint32_t start = at + i++;
    if (i == length)
      return tsl__lark_fail(l, TSL_ERR_SYNTAX, module, start, "a backslash before the end");
    char c = text[i++];
    uint32_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    bool fine;
    if (digits) {
      fine = put_hex(l, module, start, text + i, length - i, digits);
      i += digits;
    } else if ((found = memchr(plain, c, sizeof plain - 1)) != NULL) {
      fine = put(l, &meant[found - plain], 1);
    } else if (c == '"' || (c == '\\' && !pattern)) {
      fine = put(l, &c, 1);
    } else {
      fine = put(l, "\\", 1) && put(l, &c, 1);
    }
    if (!fine) return false;
  }
  *count = (uint32_t)l->bytes.n - *first;
  return true;
}
