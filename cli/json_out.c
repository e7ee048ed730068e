/* json_out.c - writing JSON. See json_out.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/json_out.h"

#include "cli/utf8.h"

void json_out_string_to(FILE *to, const char *bytes, size_t length) {
  putc('"', to);
  for (size_t i = 0, n = 1; i < length; i += n ? n : 1) {
    unsigned char c = (unsigned char)bytes[i];
    n = utf8_character((const uint8_t *)bytes + i, length - i);
    if (c == '"' || c == '\\')
      fprintf(to, "\\%c", c);
    else if (c == '\n')
      fputs("\\n", to);
    else if (c == '\t')
      fputs("\\t", to);
    else if (c < 0x20)
      fprintf(to, "\\u%04x", c);
    else if (n)
      fwrite(bytes + i, 1, n, to);
    else
      fputs("\xef\xbf\xbd", to);
  }
  putc('"', to);
}

void json_out_string(const char *bytes, size_t length) {
  json_out_string_to(stdout, bytes, length);
}

void json_out_set(FILE *to, const uint32_t set[8]) {
  const char *comma = "";
  putc('[', to);
  for (unsigned b = 0; b < 256; b++) {
    unsigned first = b;
    while (b < 256 && (set[b >> 5] >> (b & 31) & 1)) b++;
    if (b == first) continue;
    fprintf(to, "%s[%u,%u]", comma, first, b - 1);
    comma = ",";
  }
  putc(']', to);
}
