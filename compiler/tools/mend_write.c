/* mend_write.c - JSON as it is written, from the tree of mend_json.c. See mend_json.h.
 *
 * Idea      A comma and a blank between members, a colon and a blank behind a key. Text that is no
 *           UTF-8 becomes U+FFFD, so that what is written is JSON.
 * Example   of the members a and b with 1 and "x": {"a": 1, "b": "x"}
 * Levels    The writer goes through the tree with a stack of its own, as the reader does. So a deep
 *           value cannot exhaust the stack of the thread.
 * Limits    Values nest at most 256 deep, as they were read; the stack of the writer has room for
 *           that.
 * Tested by tests/tools/test_mend_json.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/tools/mend_json.h"

void tsl__out_put(tsl__out *o, const char *text, size_t n) {
  if (!n || o->failed) return;
  if (!tsl__vec_reserve(o->alloc, &o->text, n)) {
    o->failed = true;
    return;
  }
  memcpy(o->text.at + o->text.n, text, n);
  o->text.n += n;
}

void tsl__out_quoted(tsl__out *o, const char *text, size_t n) {
  tsl__out_put(o, "\"", 1);
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
  tsl__out_put(o, "\"", 1);
}

static void put_scalar(tsl__out *o, const tsl__json *value) {
  static const char *const words[] = {"null", "false", "true"};
  if (value->kind == TSL__JSON_STRING)
    tsl__out_quoted(o, value->text, value->length);
  else if (value->kind == TSL__JSON_NUMBER)
    tsl__out_put(o, value->text, value->length);
  else
    tsl__out_string(o, words[value->kind]);
}

void tsl__out_json(tsl__out *o, const tsl__json *value) {
  struct {
    const tsl__json *of;
    uint32_t next;
  } stack[TSL__MEND_DEPTH_MAX + 8];
  uint32_t depth = 0;
  for (;;) {
    if (value && value->kind >= TSL__JSON_ARRAY && depth < sizeof stack / sizeof *stack) {
      tsl__out_string(o, value->kind == TSL__JSON_ARRAY ? "[" : "{");
      stack[depth].of = value;
      stack[depth++].next = 0;
    } else if (value) {
      put_scalar(o, value->kind >= TSL__JSON_ARRAY ? &(tsl__json){.kind = TSL__JSON_NULL} : value);
    }
    if (!depth) return;
    const tsl__json *of = stack[depth - 1].of;
    uint32_t i = stack[depth - 1].next++;
    if (i == of->length) {
      tsl__out_string(o, of->kind == TSL__JSON_ARRAY ? "]" : "}");
      depth--;
      value = NULL;
      continue;
    }
    value = &of->items[i];
    if (i) tsl__out_string(o, ", ");
    if (of->kind != TSL__JSON_OBJECT) continue;
    tsl__out_quoted(o, value->key, value->key_length);
    tsl__out_string(o, ": ");
  }
}
