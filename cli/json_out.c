/* json_out.c - writing JSON to stdout. See json_out.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "json_out.h"

#include <stdio.h>

void json_out_string(const char *bytes, size_t length) {
  putchar('"');
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)bytes[i];
    if (c == '"' || c == '\\') printf("\\%c", c);
    else if (c == '\n') fputs("\\n", stdout);
    else if (c == '\t') fputs("\\t", stdout);
    else if (c < 0x20) printf("\\u%04x", c);
    else putchar(c);
  }
  putchar('"');
}
