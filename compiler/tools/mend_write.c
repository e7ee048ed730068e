/* mend_write.c - JSON as it is written, from the tree of mend_json.c. See mend_json.h.
 *
 * Idea      A comma and a blank between members, a colon and a blank behind a key.
 * Example   of the members a and b with 1 and "x": {"a": 1, "b": "x"}
 * Levels    The writer goes through the tree with a stack of its own, as the reader does. So a deep
 *           value cannot exhaust the stack of the thread.
 * Limits    Values nest at most 256 deep, as they were read; the stack of the writer has room for
 *           that.
 * Tested by tests/tools/test_mend_json.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/tools/mend_json.h"

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
