/* vain.c - keywords that say nothing where they stand, as another one was meant.
 *
 * Problem   {"type": "array", "minLength": 2} is valid, and the length says nothing: it is about
 *           strings. So is a keyword of a later draft than $schema names.
 * Idea      Compare the types that a keyword is about with the type beside it. Where another
 *           keyword says the same of that type, name it.
 * Example   minLength of an array is minItems; prefixItems in draft 7 is a list as items.
 * Tested by tests/schema/test_schema_report.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/schema/report/doubts.h"

/* The name of the types, or NULL: of several. */
static const char *name_of(uint8_t types) {
  switch (types) {
  case T_NULL: return "null";
  case T_FALSE | T_TRUE: return "boolean";
  case T_NUMBER: return "number";
  case T_STRING: return "string";
  case T_ARRAY: return "array";
  case T_OBJECT: return "object";
  default: return NULL;
  }
}

/* The least or the most of strings, arrays, objects and numbers. */
static const enum keyword sizes[][4] = {
    {KW_MIN_LENGTH, KW_MIN_ITEMS, KW_MIN_PROPERTIES, KW_MINIMUM},
    {KW_MAX_LENGTH, KW_MAX_ITEMS, KW_MAX_PROPERTIES, KW_MAXIMUM}};

/* The keyword that says the same of one of these types, or NULL. */
static const char *same_of(enum keyword k, uint8_t types) {
  const enum keyword *row = NULL;
  for (size_t i = 0; i < 8; i++)
    if (sizes[i / 4][i % 4] == k) row = sizes[i / 4];
  for (size_t i = 0; row && i < 4; i++)
    if (tsl__keyword_rows[row[i]].types & types) return tsl__keyword_rows[row[i]].text;
  return NULL;
}

bool tsl__schema_doubt_type(const struct node *n, enum keyword k, char out[TSL__DOUBT_MAX]) {
  const uint8_t about = tsl__keyword_rows[k].types;
  /* some writers put the latter beside every type */
  if (!tsl__has(n, KW_TYPE) || n->types & about || !n->types || k == KW_ADDITIONAL_PROPERTIES)
    return false;
  const char *type = n->integer ? "integer" : name_of(n->types), *same = same_of(k, n->types),
             *other = name_of(about);
  const int used = type ? snprintf(out, TSL__DOUBT_MAX, "it says nothing of the type \"%s\"", type)
                        : snprintf(out, TSL__DOUBT_MAX, "it says nothing of these types");
  const size_t left = TSL__DOUBT_MAX - (size_t)used;
  if (same)
    snprintf(out + used, left, ": is %s meant?", same);
  else if (n->types & T_ARRAY && about == T_OBJECT)
    snprintf(out + used, left, ": does it belong into \"items\"?");
  else if (other)
    snprintf(out + used, left, ": it is about the type \"%s\"", other);
  return true;
}

const char *tsl__schema_other_draft(enum keyword k) {
  switch (k) {
  case KW_PREFIX_ITEMS: return "no keyword of this draft: write a list as items";
  case KW_ADDITIONAL_ITEMS: return "no keyword of this draft: items is what follows prefixItems";
  case KW_DEPENDENT_REQUIRED:
  case KW_DEPENDENT_SCHEMAS: return "no keyword of this draft: write dependencies";
  case KW_CONST: return "no keyword of this draft: write an enum of one value";
  default: return "no keyword of this draft";
  }
}
