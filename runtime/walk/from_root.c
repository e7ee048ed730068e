/* from_root.c - which subtrees of the root are known before a search, and need none.
 *
 * Starts    Some bytes begin a number, a string, or a value of another kind. What may follow them
 *           is in the walk of that value, and the vocabulary's layer has that walk.
 * Digits    If at least as many digits may come as tokens have, their tokens are those of a number
 *           of any length. The vocabulary's layer has that walk too. Numbers within wide bounds
 *           need it.
 * Past      Characters past ASCII that all lead to one state are read at once.
 * Text      A letter may lead to a state of any text. The walk of any text is known, and has the
 *           tokens that begin with such a letter. Examples are the `:` of `^[a-z]+:[a-z]+`, and the
 *           beginning of `^[a-z]` or `^\w`. Otherwise the search would enter all subtrees of
 *           letters, to find what ends the text.
 * Escapes   An escape in a string of any characters is similar. Behind its letter the string goes
 *           on, and the walk of the string with one more letter to come is known.
 * Cost      Some 0.1 ms for a text, where the search takes 0.7.
 * Tested by tests/walk/test_delta.c, tests/walk/test_letters.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/search.h"

#include "runtime/walk/classes.h"
#include "runtime/walk/text/any_text.h"

#define TYPICAL_LEAD 0xE1u
#define TYPICAL_LETTER 'e'
/* live bytes from which a state that a text follows is a text itself: letters, digits and an
 * underscore are fewer */
#define TEXT_LIVE 80u
#define TYPICAL_ESCAPE 'n' /* after a backslash */

/* Do few bytes live where a target leads? */
static bool is_narrow(tsl__space *space, tsl__target t, uint32_t count) {
  const tsl__state_rec *r =
      t ? tsl__state_expanded(space, tsl__target_resolve(space, t, count, &count)) : NULL;
  return !r || r->live_count < TSL__LINEAR_BYTES;
}

/* Characters past ASCII that all lead to one place, where few bytes are live, as where a letter
 * leads (else the table is faster). Their first bytes become known. */
static void add_nonascii(tsl__space *space, tsl__level *l, const tsl__level_entry *e,
                         const tsl__state_rec *r, tsl__bytes *known) {
  uint64_t leads = TSL__ALL_LEADS;
  uint32_t count = 0;
  if (!tsl__bytes_has(&r->live, TYPICAL_LEAD) || r->flags & TSL__STATE_LOOP || !space->hook ||
      !space->hook->states.past_ascii)
    return;
  if (!is_narrow(space, tsl__state_step(space, r, TYPICAL_LETTER), e->count)) return;
  const tsl__lengths *lengths = tsl__lengths_of(space);
  tsl__target t =
      lengths ? space->hook->states.past_ascii(space->hook_ctx, r, &leads) : TSL__TARGET_LATER;
  if (tsl__target_is_later(t)) return;
  if (!is_narrow(space, t, e->count) || space->status != TSL_OK || !tsl__level_bits(space, l))
    return;
  tsl__state to = t ? tsl__target_resolve(space, t, e->count, &count) : 0;
  for (unsigned k = 0; k < TSL__LEADS && space->status == TSL_OK; k++) {
    if (!(leads >> k & 1)) continue;
    tsl__bytes_add(known, TSL__LEAD + k);
    for (uint32_t i = lengths->ones_of[k]; i < lengths->ones_of[k + 1] && to; i++)
      tsl__mask_bit_set(l->marks, lengths->ones[i]);
    for (uint32_t i = lengths->wholes_of[k]; i < lengths->wholes_of[k + 1] && to; i++)
      tsl__search_below(space, l, to, count, lengths->wholes[i], e->depth + 1);
  }
}

/* Does a state go by all bytes of another as that one does? Neither has a register. */
static bool goes_as(tsl__space *space, const tsl__state_rec *r, const tsl__state_rec *start) {
  if (!tsl__bytes_within(&start->live, &r->live)) return false;
  for (uint32_t i = 0, k = 0, b = 0; i < start->ranges && space->status == TSL_OK;
       b = tsl__state_upper(start)[i++] + 1u) {
    if (!start->targets[i]) continue;
    for (; b <= tsl__state_upper(start)[i]; b = tsl__state_upper(r)[k] + 1u) {
      while (tsl__state_upper(r)[k] < b) k++;
      if (tsl__state_range(space, r, k, (uint8_t)b) !=
          tsl__state_range(space, start, i, (uint8_t)b))
        return false;
    }
  }
  return space->status == TSL_OK;
}

/* Gather subtrees in which tokens begin as a number, a string, or another kind of value. Their
 * first bytes become known. */
static void add_starts(tsl__space *space, tsl__level *l, const tsl__level_entry *e,
                       const tsl__state_rec *r, tsl__bytes *known) {
  const tsl__space *base = space->parent;
  if (!base || r->live_count >= TSL__STARTS_LIVE || e->state < base->states.first) return;
  for (unsigned i = 0; i < TSL__STARTS_MAX && base->warm.starts[i]; i++) {
    const tsl__state_rec *start = tsl__state_at(space, base->warm.starts[i]);
    if (tsl__bytes_meet(&start->live, known) || !goes_as(space, r, start)) continue;
    const tsl__walk *w = tsl__walk_over(space, base->warm.starts[i], 0, TSL__WHOLE, l->last);
    if (!w) return;
    tsl__gather_mask(space, &l->gather, w->mask);
    tsl__level_leave_over(space, l, w->left);
    tsl__bytes_or(known, &start->live);
    l->counted = false;
  }
}

static bool takes_digits(tsl__space *space, const tsl__state_rec *r, unsigned first, uint32_t depth,
                         int *ends);

/* After a digit: may any others follow, `depth` of them? */
static bool takes_more(tsl__space *space, tsl__state state, uint32_t depth, int *ends) {
  const tsl__state_rec *r = tsl__state_expanded(space, state);
  if (!r || !r->ranges || r->flags & (TSL__STATE_FORK | TSL__STATE_LOOP) || r->edges ||
      r->token_edges || tsl__state_fixed(r))
    return false;
  int over = r->flags & TSL__STATE_NULLABLE;
  if (*ends >= 0 && *ends != over) return false;
  *ends = over;
  return takes_digits(space, r, '0', depth, ends);
}

/* May any text of `depth` digits be read, the first of them at least `first`? *ends: whether the
 * frame may be over after each of them but the last (not 0) or after none (0); -1: not come to
 * yet. */
static bool takes_digits(tsl__space *space, const tsl__state_rec *r, unsigned first, uint32_t depth,
                         int *ends) {
  const uint8_t *upper = tsl__state_upper(r);
  for (unsigned b = first, i = 0; b <= '9'; b = upper[i] + 1u) {
    while (upper[i] < b) i++;
    tsl__target t = tsl__state_range(space, r, i, (uint8_t)b);
    if (!t || tsl__target_op(t) != TSL__OP_CLEAR ||
        (depth > 1 && !takes_more(space, tsl__target_state(t), depth - 1, ends)))
      return false;
  }
  return true;
}

/* Numbers, where what comes next may be any digits, as many as tokens have of them: within wide
 * bounds. */
static void add_digits(tsl__space *space, tsl__level *l, const tsl__state_rec *r,
                       tsl__bytes *known) {
  const tsl__space *base = space->parent;
  if (!base || !base->warm.digits_depth || r->live_count >= TSL__STARTS_LIVE ||
      r->flags & TSL__STATE_LOOP || !tsl__bytes_has(&r->live, '1') || tsl__bytes_has(known, '1'))
    return;
  for (unsigned first = tsl__bytes_has(&r->live, '0') && !tsl__bytes_has(known, '0') ? 0 : 1;
       first < 2; first++) {
    int ends = -1;
    if (!takes_digits(space, r, '0' + first, base->warm.digits_depth, &ends)) continue;
    const tsl__walk *w = tsl__walk_over(space, base->warm.digits[first], 0, TSL__WHOLE, false);
    if (!w) return;
    tsl__gather_mask(space, &l->gather, w->mask);
    if (ends) tsl__level_leave_over(space, l, w->left);
    tsl__bytes_add_range(known, '0' + first, '9');
    l->counted = false;
    return;
  }
}

tsl__state tsl__leads_to_text(tsl__space *space, const tsl__state_rec *r) {
  uint32_t count;
  if (tsl__shortcut_is_off(space, TSL__SHORTCUT_ROOT) || r->live_count >= TEXT_LIVE ||
      r->flags & TSL__STATE_LOOP || !tsl__bytes_has(&r->live, TYPICAL_LETTER))
    return 0;
  tsl__target t = tsl__state_step(space, r, TYPICAL_LETTER);
  tsl__state text = t ? tsl__target_resolve(space, t, 0, &count) : 0;
  if (!text || (text >= space->states.first && !tsl__state_own(space, text)->walked)) return 0;
  const tsl__state_rec *to = tsl__state_expanded(space, text);
  if (!to || to->flags & TSL__STATE_LOOP || to->live_count < TSL__LINEAR_BYTES ||
      !tsl__state_is_plain(to))
    return 0;
  /* letters are as fast there, and need no walk of the text */
  if (r->live_count >= TSL__LINEAR_BYTES && to->live_count < 2u * r->live_count) return 0;
  return tsl__state_step(space, to, TYPICAL_LETTER) == t ? text : 0;
}

/* Tokens one by one: those of a bitset. */
static void take_tokens(const tsl_token *t, const tsl_token *end, const uint32_t *of,
                        uint32_t *marks) {
  for (; t < end; t++) marks[*t >> 5] |= of[*t >> 5] & (uint32_t)1 << (*t & 31);
}

/* Gather from a walk over the whole vocabulary the tokens and leftovers that begin with some
 * bytes. */
static void take_begun(tsl__space *space, tsl__level *l, const tsl__walk *w,
                       const tsl__bytes *with) {
  const tsl_vocab *v = space->vocab;
  const tsl__trie_node *nodes = v->trie.nodes, *child = &nodes[nodes[0].first_child],
                       *end = child + nodes[0].children;
  size_t size = tsl_vocab_mask_words(v) * sizeof(uint32_t);
  uint32_t *all = tsl__level_bits(space, l) ? tsl__alloc(&space->alloc, size) : NULL;
  const tsl__leftover_rec *left =
      tsl__leftover_set(w->left) ? tsl__leftover_at(space, tsl__leftover_set(w->left)) : NULL;
  if (!all) {
    tsl__space_no_memory(space);
    return;
  }
  tsl__mask_write(space, tsl__mask_at(space, w->mask), all);
  for (; child < end; child++)
    if (tsl__bytes_has(with, child->byte) &&
        tsl__space_step(space, (child->end - child->begin) / 8))
      take_tokens(v->trie.order + child->begin, v->trie.order + child->end, all, l->marks);
  for (uint32_t i = 0; left && i < left->n; i++)
    if (tsl__bytes_has(with, v->bytes[v->offsets[v->trie.order[nodes[left->nodes[i]].begin]]]))
      tsl__level_leave_node(space, l, left->nodes[i]);
  tsl__free(&space->alloc, all, size);
}

/* Gather subtrees of bytes that lead to the same state from here and from the text behind them.
 * There both walks are equal. The bytes become known. */
static void add_text(tsl__space *space, tsl__level *l, const tsl__state_rec *r, tsl__bytes *known) {
  tsl__state text = tsl__leads_to_text(space, r);
  const tsl__walk *w = text ? tsl__walk_over(space, text, 0, TSL__WHOLE, l->last) : NULL;
  const tsl__state_rec *to = w ? tsl__state_at(space, text) : NULL;
  tsl__bytes same = {{0}};
  for (unsigned b = 0; to && b < 256; b++)
    if (tsl__bytes_has(&r->live, b) && !tsl__bytes_has(known, b) &&
        tsl__state_step(space, r, (uint8_t)b) == tsl__state_step(space, to, (uint8_t)b))
      tsl__bytes_add(&same, b);
  if (!to || space->status != TSL_OK) return;
  take_begun(space, l, w, &same);
  tsl__bytes_or(known, &same);
  l->counted = false;
}

/* Gather subtrees of bytes behind which a string of any characters goes on, as behind most escapes.
 * A string that may have one more character reads such a byte alike. The bytes become known. */
static void add_escaped(tsl__space *space, tsl__level *l, const tsl__level_entry *e,
                        const tsl__state_rec *r, tsl__bytes *known) {
  uint32_t count;
  tsl__bytes same = {{0}};
  if (r->live_count >= TSL__STARTS_LIVE || !tsl__bytes_has(&r->live, TYPICAL_ESCAPE) ||
      tsl__bytes_has(known, TYPICAL_ESCAPE))
    return;
  tsl__target t = tsl__state_step(space, r, TYPICAL_ESCAPE);
  tsl__state to = t ? tsl__target_resolve(space, t, e->count, &count) : 0;
  const tsl__walk *w = to ? tsl__text_before(space, to, count) : NULL;
  for (unsigned b = ' '; w && b < 0x7F; b++)
    if (b != '"' && b != '\\' && tsl__bytes_has(&r->live, b) && !tsl__bytes_has(known, b) &&
        tsl__state_step(space, r, (uint8_t)b) == t)
      tsl__bytes_add(&same, b);
  if (!w || space->status != TSL_OK) return;
  take_begun(space, l, w, &same);
  tsl__bytes_or(known, &same);
  l->counted = false;
}

tsl__bytes tsl__from_root(tsl__space *space, tsl__level *l, const tsl__level_entry *e,
                          const tsl__state_rec *r) {
  tsl__bytes known = {{0}};
  if (tsl__shortcut_is_off(space, TSL__SHORTCUT_ROOT)) return known;
  add_starts(space, l, e, r, &known);
  add_digits(space, l, r, &known);
  add_nonascii(space, l, e, r, &known);
  add_text(space, l, r, &known);
  add_escaped(space, l, e, r, &known);
  return known;
}
