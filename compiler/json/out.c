/* out.c - a text of JSON that grows while it is written: see out.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/json/out.h"

#include <stdio.h>

#include "compiler/json/json.h"

/* Room for n more bytes. False (sticky): there is none. */
static bool has_room(tsl__out *o, size_t n) {
  o->failed = o->failed || !tsl__vec_reserve(o->alloc, &o->text, n);
  return !o->failed;
}

void tsl__out_put(tsl__out *o, const char *text, size_t n) {
  if (!n || !has_room(o, n)) return;
  memcpy(o->text.at + o->text.n, text, n);
  o->text.n += n;
}

void tsl__out_escaped(tsl__out *o, const char *text, size_t n) {
  if (has_room(o, tsl__json_put_escaped(NULL, text, n)))
    o->text.n += tsl__json_put_escaped(o->text.at + o->text.n, text, n);
}

void tsl__out_inside(tsl__out *o, const char *text, size_t n) {
  for (size_t i = 0; i < n; i++) {
    char buffer[8];
    uint8_t c = (uint8_t)text[i];
    size_t length = c < 0x80 ? 0 : tsl__json_sequence(text + i, text + n);
    if (length)
      tsl__out_put(o, text + i, length), i += length - 1;
    else if (c >= 0x80)
      tsl__out_put(o, "\xEF\xBF\xBD", 3);
    else if (c == '"' || c == '\\')
      tsl__out_put(o, (char[]){'\\', (char)c}, 2);
    else if (c == '\n')
      tsl__out_put(o, "\\n", 2);
    else if (c < 0x20)
      tsl__out_put(o, buffer, (size_t)snprintf(buffer, sizeof buffer, "\\u%04x", c));
    else
      tsl__out_put(o, (const char *)&c, 1);
  }
}

void tsl__out_quoted(tsl__out *o, const char *text, size_t n) {
  tsl__out_put(o, "\"", 1);
  tsl__out_inside(o, text, n);
  tsl__out_put(o, "\"", 1);
}
