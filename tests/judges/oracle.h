/* oracle.h - the naive matcher that the engine is compared with.
 *
 * A position is a list of whole stacks, each an array of (state, register) from the bottom to the
 * top. A mask is made by trying every token byte by byte. No sharing, no memo, no trie, no hints:
 * too simple to be wrong, too slow to be used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_JUDGES_ORACLE_H
#define TSL_TESTS_JUDGES_ORACLE_H

#include "runtime/matcher/grammar.h"

#define ORACLE_STACKS_MAX 20000u

typedef struct oracle_frame {
  tsl__state state;
  uint32_t count;
} oracle_frame;

typedef struct oracle_stack {
  oracle_frame *at;
  uint32_t n;
} oracle_stack;

typedef struct oracle_set {
  oracle_stack *at;
  uint32_t n, cap;
} oracle_set;

typedef struct oracle {
  tsl__space *space;
  oracle_set now;
  bool overflow; /* too many stacks: no verdict */
} oracle;

void oracle_begin(oracle *o, tsl__space *space, tsl__state start);
void oracle_free(oracle *o);
/* Where bytes lead; false (and nothing changed) if they are rejected. */
bool oracle_bytes(oracle *o, const uint8_t *bytes, size_t n);
bool oracle_token(oracle *o, tsl_token token);
bool oracle_complete(oracle *o);
/* The mask, end-of-generation tokens included. */
void oracle_mask(oracle *o, uint32_t *mask);

#endif
