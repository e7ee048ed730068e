/* values.c - what a keyword's value of the wrong type was meant for.
 *
 * Problem   People and models write "5" for 5, one name for a list of names, and one schema for a
 *           list of schemas.
 * Idea      A string whose text is JSON was not meant to have quotes. Where a list is wanted, what
 *           stands there may be its only entry.
 * Example   {"maxLength": "10"} -> is 10 meant, without quotes? And {"required": "a"} -> is ["a"]
 *           meant? Programs write null for what nobody gave: {"maximum": null}.
 * Tested by tests/schema/test_schema_report.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/schema/node.h"
#include "compiler/schema/report/doubts.h"

#define SHOWN 40 /* bytes of the value */
#define DEPTH 8u /* of a value in quotes */

const tsl__json *tsl__schema_unquoted(struct schema *s, const tsl__json *text) {
  tsl__json *value;
  tsl_error error;
  if (text->kind != TSL__JSON_STRING || text->length > SHOWN) return NULL;
  const tsl_status status =
      tsl__json_parse(&s->arena, NULL, text->text, text->length, DEPTH, &value, &error);
  if (status == TSL_ERR_NO_MEMORY) tsl__schema_fail(s, status, NULL, "out of memory");
  return status != TSL_OK || value->kind == TSL__JSON_STRING ? NULL : value;
}

void tsl__schema_meant_value(struct schema *s, const tsl__json *at, bool list,
                             char out[TSL__MEANT_MAX]) {
  const bool named = at->kind == TSL__JSON_STRING;
  const tsl__json *first = at->kind == TSL__JSON_OBJECT && at->length ? at->items : NULL;
  const tsl__json *name = !list && at->kind == TSL__JSON_ARRAY && at->length
                              ? tsl__json_member(at->items, "name")
                              : NULL;
  *out = 0;
  if (at->kind == TSL__JSON_NULL && at->key)
    snprintf(out, TSL__MEANT_MAX, ": leave it out in place of null");
  else if (named && tsl__schema_unquoted(s, at))
    snprintf(out, TSL__MEANT_MAX, ": is %.*s meant, without quotes?", (int)at->length, at->text);
  else if (list && named)
    snprintf(out, TSL__MEANT_MAX, ": is [\"%.*s\"] meant?", tsl__shown(at->text, at->length, SHOWN),
             at->text);
  else if (list && first && first->kind <= TSL__JSON_TRUE)
    snprintf(out, TSL__MEANT_MAX, ": is [\"%.*s\"] meant?",
             tsl__shown(first->key, first->key_length, SHOWN), first->key);
  else if (name && name->kind == TSL__JSON_STRING)
    snprintf(out, TSL__MEANT_MAX, ": is {\"%.*s\": {\xE2\x80\xA6}} meant?",
             tsl__shown(name->text, name->length, SHOWN), name->text);
  else if (list && first)
    snprintf(out, TSL__MEANT_MAX, ": a list has [ and ] around it, also where it has one entry");
}
