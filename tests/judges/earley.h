/* earley.h - what a grammar of bytes and tokens takes, by the definition. It is Earley's algorithm
 * over a text's tokens, each of which is read byte by byte, or accepted by its name.
 *
 * It is made of productions and shares nothing with the library but the vocabulary. A set of items
 * stands for each place between tokens, and one for each byte within a token that was read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_JUDGES_EARLEY_H
#define TSL_TESTS_JUDGES_EARLEY_H

#include "turnstile.h"

typedef enum earley_kind { EARLEY_RULE, EARLEY_BYTES, EARLEY_TOKENS } earley_kind;

#define EARLEY_LISTED 2u

typedef struct earley_symbol {
  earley_kind kind;
  uint32_t rule;
  uint32_t bytes[8];               /* as a set of 256 bits */
  tsl_token tokens[EARLEY_LISTED]; /* of which `count` are listed */
  uint32_t count;
  bool others; /* any token but these */
} earley_symbol;

typedef struct earley earley;

earley *earley_new(const tsl_vocab *vocab); /* aborts without memory, as all of these */
void earley_free(earley *e);

/* Rules are numbers, the first one 0: that is where texts begin. */
uint32_t earley_rule(earley *e);
/* Another production of a rule, empty at first, and what is added to the last one. */
void earley_production(earley *e, uint32_t rule);
void earley_add(earley *e, earley_symbol symbol);
static inline earley_symbol earley_call(uint32_t rule) {
  return (earley_symbol){.kind = EARLEY_RULE, .rule = rule};
}
earley_symbol earley_range(unsigned from, unsigned to);

/* The grammar is whole: does it match any text? Productions that come to no end are left out. */
bool earley_close(earley *e);

/* At the beginning of a text. */
void earley_begin(earley *e);
/* Take a token; false, and nothing changed, if none of the texts goes on so. */
bool earley_take(earley *e, tsl_token token);
void earley_back(earley *e, size_t tokens);
bool earley_complete(const earley *e);
/* Every token that may come next, end-of-generation tokens among them. */
void earley_mask(earley *e, uint32_t *mask);
/* Items of the last set: how ambiguous the text is. */
size_t earley_items(const earley *e);

#endif
