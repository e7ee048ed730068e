/* narrowed.c - the leftover of a frame before one follower, made from its leftover before a
 * follower with more first bytes.
 *
 * Problem   A walk with a large leftover is remembered together with its follower (follow.h): the
 *           bytes with which that may begin. An expression of SQL is followed by `)`, by `,`, by an
 *           operator, by `from`, or by any of these. Each is another set of bytes, and the same
 *           state was walked over the vocabulary for each: 247 such walks of 122 states.
 * Idea      The walks of one state differ in their leftovers, not in their masks. Before fewer
 *           bytes the leftover is smaller: it has those nodes after which one of the fewer bytes
 *           comes. So the walk before more bytes is narrowed, by one look at each node of its
 *           leftover.
 * Wider     The first walk of a state leaves what its own follower needs. The second walk is made
 *           for more bytes than its follower needs, so that later followers can mostly be narrowed
 *           from it. Where the follower begins with signs alone, these are all signs that any
 *           follower of the grammar begins with. Signs are bytes that are no part of a word: the
 *           search looks for few of them (search.h).
 * Words     Where the follower may begin with a letter, the search looks for all bytes that are no
 *           letter. So all of ASCII costs no more than one such byte, and leaves some hundred
 *           nodes. A token that is letters to its end is not left over, as it is in the mask
 *           already (tsl__letters_leave, stops_at in linear.c).
 * Apart     A follower that begins with letters by calling the same frame again (`again`) leaves
 *           less than its bytes say. It is neither widened nor narrowed.
 * Texts     A follower that begins with most bytes is one of names or texts. It is neither widened
 *           nor narrowed: it needs nearly all nodes.
 * Example   After `select a` the expression is left before `,` and space, later before `)`. The
 *           second walk is made before `)`, `,`, space and the signs of all operators. In
 *           `f(a, b` the third follower, `,` and `)`, takes the nodes of that walk before these.
 * Cost      A comparison with the last few wider sets, and some 20 ns for each node of the
 *           leftover.
 * Tested by tests/walk/test_shortcuts.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/memo.h"
#include "runtime/walk/search.h"

#define BYTES_MOST 64u /* of a follower: with more of them, it begins with names or with texts */

/* The bytes of words: digits, letters, the underscore, and all bytes past ASCII. */
static const tsl__bytes of_words = {{0x03FF000000000000u, 0x07FFFFFE87FFFFFEu, ~0ull, ~0ull}};

static bool is_apart(const tsl__space *space, uint32_t number) {
  return tsl__follow_at(space, number)->then || tsl__shortcut_is_off(space, TSL__SHORTCUT_NARROWED);
}

uint32_t tsl__follow_wider(tsl__space *space, uint32_t number) {
  const tsl__bytes *own = &tsl__follow_at(space, number)->bytes;
  if (is_apart(space, number) || tsl__bytes_count(own) > BYTES_MOST) return number;
  tsl__bytes bytes = {{UINT64_MAX, UINT64_MAX, 0, 0}};
  if (!tsl__bytes_meet(own, &of_words)) {
    bytes = space->walking.follow_bytes;
    tsl__bytes_remove(&bytes, &of_words);
  }
  tsl__bytes_or(&bytes, own);
  uint32_t wider = tsl__follow_before(space, &bytes);
  return wider ? wider : number;
}

void tsl__narrowed_note(tsl__space *space, const tsl__walk *w) {
  uint32_t number = w->follow, *last = space->walking.followed;
  if (is_apart(space, number)) return;
  for (uint32_t i = 0; i < TSL__FOLLOWED; i++)
    if (last[i] == number) return;
  memmove(last + 1, last, (TSL__FOLLOWED - 1) * sizeof *last);
  last[0] = number;
}

/* The nodes of a leftover after which one of the bytes comes. The flag TSL__WHOLE stays. */
static tsl__leftover left_before(tsl__space *space, tsl__leftover left, const tsl__bytes *bytes) {
  const tsl__trie *trie = &space->vocab->trie;
  if (!tsl__leftover_set(left)) return left;
  const tsl__leftover_rec *r = tsl__leftover_at(space, left);
  uint32_t *nodes = tsl__alloc(&space->alloc, r->n * sizeof *nodes);
  size_t n = 0;
  if (!nodes) return tsl__space_no_memory(space), 0;
  for (uint32_t i = 0; i < r->n; i++)
    if (tsl__next_meets(trie, &trie->nodes[r->nodes[i]], bytes)) nodes[n++] = r->nodes[i];
  tsl__leftover set = n == r->n ? tsl__leftover_set(left) : tsl__leftover_intern(space, nodes, n);
  tsl__free(&space->alloc, nodes, r->n * sizeof *nodes);
  return (left & TSL__WHOLE) | set;
}

const tsl__walk *tsl__narrowed_to(tsl__space *space, const tsl__walk *w, uint32_t number) {
  if (w->follow == number) return w;
  const tsl__follow *f = tsl__follow_at(space, number);
  tsl__leftover left = tsl__space_step(space, 1) ? left_before(space, w->left, &f->bytes) : 0;
  tsl__walk *made =
      space->status == TSL_OK ? tsl__pool_add(&space->walks.pool, &space->kept) : NULL;
  if (!made) return space->status == TSL_OK ? (tsl__space_no_memory(space), NULL) : NULL;
  *made = *w;
  made->left = left;
  made->follow = (uint16_t)number;
  return tsl__memo_put(space, made) ? made : NULL;
}

const tsl__walk *tsl__narrowed_find(tsl__space *space, tsl__state state, uint32_t context,
                                    tsl__leftover over, uint32_t number) {
  if (is_apart(space, number)) return NULL;
  const tsl__bytes *bytes = &tsl__follow_at(space, number)->bytes;
  for (uint32_t i = 0; i < TSL__FOLLOWED && space->walking.followed[i]; i++) {
    uint32_t wider = space->walking.followed[i];
    if (wider == number || !tsl__bytes_within(bytes, &tsl__follow_at(space, wider)->bytes))
      continue;
    const tsl__walk *w = tsl__memo_find_before(space, state, context, over, wider);
    if (w) return tsl__narrowed_to(space, w, number);
  }
  return NULL;
}
