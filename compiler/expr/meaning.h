/* meaning.h - what an expression stands for, as a digest that every grammar of a vocabulary would
 * give it. See meaning.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_EXPR_MEANING_H
#define TSL_COMPILER_EXPR_MEANING_H

#include "compiler/expr/node.h"

/* One digest being made. */
typedef struct tsl__meaning {
  tsl__exprs *x;
  const uint8_t *secret; /* TSL__SECRET bytes, always the same ones for x */
  uint32_t height;       /* bytes of the longest token, always the same */
  uint32_t room;         /* nodes, and 64 bytes of texts each, that may still be looked at */
  uint32_t depth;
  uint32_t bounded; /* within so many meets and complements: all bounds matter there */
  uint32_t values;  /* within so many values of a schema, of which some hold themselves */
} tsl__meaning;

/* What it is to texts of at most `height` bytes. False: it cannot be said without its grammar, or
 * would take too long. Changes nothing that can be seen. */
bool tsl__meaning_of(tsl__exprs *x, const uint8_t *secret, uint32_t height, tsl__expr e,
                     tsl__digest *out);
/* The same within another, for rules that are made of expressions. */
bool tsl__meaning_within(tsl__meaning *m, tsl__expr e, tsl__digest *out);
/* Digest of data that names what is meant, for rules. `kind` keeps them apart. */
enum {
  TSL__MEANS_GUARD = 0,
  /* plus the kind of the guard */ TSL__MEANS_MORE =
      0x100 /* the items that may follow, given what they are and the white space */
};
bool tsl__meaning_data(tsl__meaning *m, uint32_t kind, const void *data, size_t size,
                       tsl__digest *out);

/* ---- for the kinds of expressions (compiler/expr/kind.h) ------------------------------------- */

/* Takes nodes from the room; false: too few are left. */
bool tsl__meaning_spend(tsl__meaning *m, uint64_t nodes);
/* Of a node made of numbers and at most two parts; of a list in any order; of a node made of
 * bytes. */
bool tsl__meaning_node(tsl__meaning *m, const tsl__node *n, uint32_t b, uint32_t c, uint32_t d,
                       tsl__expr left, tsl__expr right, tsl__digest *out);
bool tsl__meaning_list(tsl__meaning *m, const tsl__node *n, tsl__digest *out);
bool tsl__meaning_bytes(tsl__meaning *m, const tsl__node *n, const void *data, size_t size,
                        tsl__digest *out);

#endif
