/* lower.h - what lower.c, which turns formats into expressions, and leaves.c share.
 *
 * The strings at which a format must stop are handed down the tree as a struct stops. They are the
 * ends of the tag around the format, if the format is the last part of that tag.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_TAGS_LOWER_H
#define TSL_COMPILER_TAGS_LOWER_H

#include "compiler/tags/tags.h"
#include "compiler/schema/schema.h"

/* What is handed down: where unbounded formats stop, and whether the format ends its frame. */
typedef struct stops {
  const tsl__string *text;
  const tsl_token *tokens;
  uint32_t text_count, token_count;
  bool last;
} stops;

/* ---- lower.c --------------------------------------------------------------------------------- */
/* A captured rule around `body`. */
tsl__expr tsl__lower_capture_rule(tsl__captures *m, tsl__capture_kind kind, tsl__expr body,
                                  const char *name, uint32_t name_length, uint32_t back,
                                  const tsl__string *ends, uint32_t end_count);
/* A capture around a part, kept from being a tail call. */
tsl__expr tsl__lower_captured(tsl__tags_lowering *l, const tsl__tag *n, tsl__expr e, stops s);
bool tsl__lower_same_text(tsl__string a, tsl__string b);
/* Triggers, the stops handed down, then what is excluded, as one list. */
tsl__string *tsl__lower_without(tsl__tags_lowering *l, const tsl__string *triggers,
                                uint32_t trigger_count, stops s, const tsl__tag *n,
                                uint32_t *count);

/* ---- leaves.c -------------------------------------------------------------------------------- */
tsl__expr tsl__lower_schema(tsl__tags_lowering *l, const tsl__tag *n, stops s);
/* Many tags have the same pattern: the last one is remembered. */
tsl__expr tsl__lower_regex(tsl__tags_lowering *l, const tsl__tag *n);
tsl__expr tsl__lower_gbnf(tsl__tags_lowering *l, const tsl__tag *n);
/* Where a schema stands in the whole text, with a pointer below it. */
void tsl__tags_schema_pointer(const tsl__tags_lowering *l, const tsl__tag *n, const char *below,
                              char *out, size_t size);
tsl__expr tsl__lower_any(tsl__tags_lowering *l, const tsl__tag *n, stops s);
/* One of these tokens, or one of all others. Tokens that no text can have are left out. */
tsl__expr tsl__lower_named(tsl__tags_lowering *l, const tsl__tag *n, const tsl_token *tokens,
                           size_t count, bool others);
tsl__expr tsl__lower_token_set(tsl__tags_lowering *l, const tsl__tag *n, const tsl_token *more,
                               uint32_t more_count);
tsl__expr tsl__lower_tokens(tsl__tags_lowering *l, const tsl__tag *n, stops s);

/* ---- loosen.c -------------------------------------------------------------------------------- */
/* A schema of a tool that may be loosened gave this error. *tree becomes a copy of the schema
 * without the part that is to blame, and the report gets a line. False: the error stands. *rounds
 * counts from 0. */
bool tsl__tags_loosen(tsl__tags_lowering *l, const tsl__tag *n, tsl__json **tree,
                      const tsl_error *error, uint32_t *rounds);

/* ---- described.c ----------------------------------------------------------------------------- */
/* Note a schema for the report. False when out of memory. */
bool tsl__tags_describe(tsl__tags_lowering *l, const tsl__tag *n, struct schema *schema);
/* What was noted, and the text where it is needed, for the report. False when out of memory. */
bool tsl__tags_keep_described(tsl__tags_lowering *l);

#endif
