/* edition.h - a grammar whose expressions texts have filled is compiled again, while texts go on.
 *
 * Problem   Generations (generation.h) grow their states out of the same expressions, and these are
 *           not evicted. Most grammars have few. But a pattern such as (a|b)*a(a|b){20}c, a large
 *           `multipleOf` or an object in any order needs new expressions for nearly every text. One
 *           tenant's texts would fill max_memory, and every text of that grammar would fail.
 * Idea      What a grammar was compiled from is kept. Texts make its expressions grow. When they
 *           have grown by two shares and as much as compiling made, the grammar is compiled again,
 *           while the old one stays in use. The result is its next edition. New matchers begin
 *           there. Matchers under way stay until the expressions have grown by twice that amount.
 *           Then each moves over at its next call that moves or grows: it reads its own text again.
 *           So no front end needs special code, and a text under way is treated like a new text.
 * Parsers   A parser of answers fills expressions as well. It begins each answer in the newest
 *           edition, and does not move: an answer has an end.
 * Text      So a matcher keeps its text: 4 bytes a token, and the bytes that were given as bytes.
 * Own       A text that alone needs a great many expressions gets an edition that it has alone,
 *           bounded by max_memory. So the text that fills it fails, and no other does.
 * Example   A share of 5 MiB. Random texts of that pattern leave some 400 bytes a letter. After
 *           25,000 letters the grammar is closed, after 50,000 it is left: a text of 200 letters
 *           reads them again in some 0.1 ms.
 * Origin    The program holds the grammar that it compiled: the origin. An edition is a whole
 *           grammar with views of its own. A reference to an edition, or to a view of it, also
 *           holds the origin. The origin points to the newest edition and to the one before it, and
 *           holds neither.
 * Bound     The origin's own expressions stay as long as the origin. When it is left, they have
 *           grown by at most twice the amount that closes it, and by what one call adds. The same
 *           holds for each edition that still has a matcher.
 * Not yet   Three kinds of grammars are not compiled again (docs/limits.md). They were loaded from
 *           an artifact, have a resolver, or are trees of formats that were built in C.
 * Cost      Each token costs one more store. An edition costs one compile, in the call that needs
 *           it. A move reads the text again.
 * Time      Compile and move share the deadline of the call (tsl__timed_begin). Reading the text
 *           again may take half of the time that the compile left. The other half is for the call's
 *           own work.
 * Tested by tests/matcher/test_edition.c, tests/engine/test_faults.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_MATCHER_EDITION_H
#define TSL_RUNTIME_MATCHER_EDITION_H

#include "runtime/matcher/matcher.h"

/* How a grammar is compiled again from its source, of which a copy is `kept`. */
typedef struct tsl__again {
  tsl_status (*compile)(const void *kept, tsl_vocab *vocab, const tsl_limits *limits,
                        tsl_grammar **out);
  void (*free)(void *kept, const tsl_allocator *a);
  size_t (*memory)(const void *kept);
} tsl__again;
/* Hand a new grammar the copy of its source. No other thread may have the grammar yet. Its
 * expressions must be its own, or those of a grammar that can be compiled again. */
void tsl__grammar_keep(tsl_grammar *g, const tsl__again *again, void *kept);

/* Set `crowded` and `deserted` of the first tables, if their expressions have grown enough. Needs
 * the lock. */
void tsl__expressions_look(tsl__tables *first);
static inline bool tsl__is_crowded(const tsl__tables *first) {
  return TSL__UNLIKELY(
      atomic_load_explicit(&((tsl__tables *)(uintptr_t)first)->crowded, memory_order_relaxed));
}
/* Do matchers under way move, too? */
static inline bool tsl__is_left(const tsl__tables *first) {
  return atomic_load_explicit(&((tsl__tables *)(uintptr_t)first)->deserted, memory_order_relaxed);
}
/* The edition in which matchers begin, retained; the origin, if there is no other. `g` is the
 * origin. */
tsl_grammar *tsl__edition_now(tsl_grammar *g);
/* Free the editions of an origin. No other reference to it is left. */
void tsl__editions_free(tsl_grammar *origin);
/* An edition is freed. */
void tsl__edition_unlink(tsl_grammar *g);
/* Bytes of all editions but the origin, and of the source. An edition that another thread has
 * locked counts as when it was last measured. The number of their generations, freed ones included,
 * is added to *generations. */
uint64_t tsl__editions_memory(tsl_grammar *origin, uint32_t *generations);

/* Have a matcher go on in a view of another edition, whose reference it takes over: it reads its
 * text again. false: it stays where it is, and nothing has changed. */
bool tsl__matcher_reread(tsl_matcher *m, tsl_grammar *view);

/* ---- a matcher's text ------------------------------------------------------------------------ */

/* An entry of a matcher's text: a token, or this bit and a number of bytes. */
#define TSL__TEXT_BYTES 0x80000000u

/* Make room for one more entry, and for so many bytes, less than TSL__TEXT_BYTES. False: out of
 * memory. */
bool tsl__text_room(tsl_matcher *m, size_t bytes);
/* Drop the last `count` entries. */
void tsl__text_drop(tsl_matcher *m, size_t count);
void tsl__text_free(tsl_matcher *m);
/* Copy the text of another matcher; false when out of memory. */
bool tsl__text_copy(const tsl_matcher *from, tsl_matcher *to);

#endif
