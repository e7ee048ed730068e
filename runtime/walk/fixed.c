/* fixed.c - see fixed.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/fixed.h"

#include <string.h>

#define RAW 0u    /* between characters, or within a raw one */
#define ESCAPE 1u /* after a backslash */
#define DIGITS 2u /* after \u; plus the number of digits read */

#define TOGETHER 32u /* places that wait together */

/* printable characters of ASCII (tsl__escapes_plainly) */
#define PRINTABLE_FIRST 0x20u
#define PRINTABLE_LAST 0x7Eu

struct tsl__fixed_place {
  uint32_t node, lo, hi, depth;
  uint16_t how, value; /* of the digits read */
};

void tsl__fixed_walk_free(tsl__space *space, tsl__fixed_walk *w) {
  tsl__vec_free(&space->alloc, &w->reached);
  tsl__vec_free(&space->alloc, &w->ends);
  tsl__vec_free(&space->alloc, &w->rests);
  tsl__vec_free(&space->alloc, &w->places);
}

size_t tsl__fixed_walk_memory(const tsl__fixed_walk *w) {
  return tsl__vec_memory(&w->reached) + tsl__vec_memory(&w->ends) + tsl__vec_memory(&w->rests) +
         tsl__vec_memory(&w->places);
}

static uint8_t next_byte(const tsl__string *s, uint32_t depth) { return (uint8_t)s->at[depth]; }

/* The first text of [lo, hi) whose next byte is at least `byte`; none of them ends here. */
static uint32_t first_from(const tsl__string *texts, uint32_t lo, uint32_t hi, uint32_t depth,
                           unsigned byte) {
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (next_byte(&texts[mid], depth) < byte)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* The texts of [lo, hi) that have the same next byte as the first: where they end. */
static uint32_t end_of_run(const tsl__string *texts, uint32_t lo, uint32_t hi, uint32_t depth) {
  uint8_t byte = next_byte(&texts[lo], depth);
  if (hi - lo == 1 || next_byte(&texts[hi - 1], depth) == byte) return hi;
  return first_from(texts, lo + 1, hi, depth, byte + 1u);
}

static bool may_be_below(const tsl__trie *trie, const tsl__trie_node *n, uint8_t byte) {
  return n->below == UINT16_MAX || tsl__bytes_has(&trie->sets[n->below], byte);
}

static inline bool note_reached(tsl__space *space, tsl__fixed_walk *out, tsl__fixed_node reached) {
  return out->ends_only || tsl__vec_push(&space->alloc, &out->reached, reached) ||
         tsl__space_no_memory(space);
}

/* Reach a node within texts, and have what is below it looked at later. Until then it has come from
 * memory. */
static inline bool reach(tsl__space *space, tsl__fixed_walk *out, tsl__fixed_place p) {
  TSL__PREFETCH(&space->vocab->trie.nodes[p.node]);
  if (!note_reached(space, out, (tsl__fixed_node){p.node, p.lo, p.hi})) return false;
  return tsl__vec_push(&space->alloc, &out->places, p) || tsl__space_no_memory(space);
}

static bool reach_end(tsl__space *space, tsl__fixed_walk *out, uint32_t node, uint32_t text) {
  tsl__fixed_end end = {node, text};
  if (!note_reached(space, out, (tsl__fixed_node){node, text, text + 1})) return false;
  return tsl__vec_push(&space->alloc, &out->ends, end) || tsl__space_no_memory(space);
}

/* Some next character lies past ASCII: the state after the backslash goes on from here. */
static bool leave_to_states(tsl__space *space, const tsl__state_rec *from, tsl__fixed_walk *out,
                            const tsl__fixed_place *p) {
  tsl__state raw = tsl__state_fixed(from)->others
                       ? 0
                       : space->hook->states.fixed(space->hook_ctx, from, p->lo, p->hi, p->depth);
  const tsl__state_rec *r = raw ? tsl__state_expanded(space, raw) : NULL;
  tsl__target t = r ? tsl__state_step(space, r, '\\') : 0;
  tsl__fixed_rest rest = {p->node, tsl__target_state(t)};
  out->past_ascii = true;
  if (space->status != TSL_OK) return false;
  return (raw && !t) || tsl__vec_push(&space->alloc, &out->rests, rest) ||
         tsl__space_no_memory(space);
}

/* A backslash, which leads to p's node, at the beginning of a character. It is reached within those
 * texts alone that may go on with an escape: in plain strings, few may. */
static TSL__SELDOM bool backslash(tsl__space *space, const tsl__state_rec *from,
                                  tsl__fixed_walk *out, tsl__fixed_place p) {
  static const uint8_t any[][2] = {{0, 0xFF}}, few[][2] = {{0, PRINTABLE_FIRST - 1},
                                                           {'"', '"'},
                                                           {'\\', '\\'},
                                                           {PRINTABLE_LAST + 1, 0xFF}};
  const tsl__fixed *f = tsl__state_fixed(from);
  const uint8_t(*ranges)[2] = f->plain ? few : any;
  size_t n_ranges = f->plain ? sizeof few / sizeof *few : sizeof any / sizeof *any;
  uint8_t first = next_byte(&f->texts[p.lo], p.depth),
          last = next_byte(&f->texts[p.hi - 1], p.depth);
  bool past_ascii = last >= 0x80, some = false;
  if ((first & 0xC0) == 0x80) return true;
  p.how = ESCAPE;
  for (size_t i = 0; i < n_ranges; i++) {
    if (ranges[i][0] > last || ranges[i][1] < first) continue; /* as of most names */
    tsl__fixed_place at = p;
    at.lo = first_from(f->texts, p.lo, p.hi, p.depth, ranges[i][0]);
    at.hi = first_from(f->texts, at.lo, p.hi, p.depth, ranges[i][1] + 1u);
    if (at.lo == at.hi) continue;
    some = true;
    if (!(past_ascii ? note_reached(space, out, (tsl__fixed_node){p.node, at.lo, at.hi})
                     : reach(space, out, at)))
      return false;
  }
  return !some || !past_ascii || !space->vocab->trie.nodes[p.node].children ||
         leave_to_states(space, from, out, &p);
}

/* Between characters: what may come there. */
static bool visit_raw(tsl__space *space, const tsl__state_rec *from, tsl__fixed_walk *out,
                      const tsl__fixed_place *p) {
  const tsl__trie *trie = &space->vocab->trie;
  const tsl__string *texts = tsl__state_fixed(from)->texts;
  uint32_t depth = p->depth, lo = p->lo, end = p->hi, c;
  if (texts[lo].length == depth) {
    if ((c = tsl__trie_child(trie, p->node, '"')) && !reach_end(space, out, c, lo)) return false;
    if (++lo == end) return true;
  }
  if ((c = tsl__trie_child(trie, p->node, '\\')) &&
      !backslash(space, from, out, (tsl__fixed_place){c, lo, end, depth, RAW, 0}))
    return false;
  for (uint32_t hi; lo < end; lo = hi) {
    uint8_t byte = next_byte(&texts[lo], depth);
    bool alone = lo + 1 == end || next_byte(&texts[lo + 1], depth) != byte; /* as most are, soon */
    hi = alone ? lo + 1 : end_of_run(texts, lo, end, depth);
    if (tsl__stands_raw(byte) && (c = tsl__trie_child(trie, p->node, byte)) &&
        !reach(space, out, (tsl__fixed_place){c, lo, hi, depth + 1, RAW, 0}))
      return false;
  }
  return true;
}

/* Reach the texts of p whose next byte is in [first, last], at a child of p's node. */
static bool reach_some(tsl__space *space, const tsl__state_rec *from, tsl__fixed_walk *out,
                       tsl__fixed_place p, unsigned first, unsigned last) {
  p.lo = first_from(tsl__state_fixed(from)->texts, p.lo, p.hi, p.depth, first);
  p.hi = first_from(tsl__state_fixed(from)->texts, p.lo, p.hi, p.depth, last + 1);
  if (p.lo == p.hi) return true;
  p.depth += p.how == RAW;
  return reach(space, out, p);
}

/* The same of characters that digits spell: in plain strings printable ones are none of them. */
static bool reach_hex(tsl__space *space, const tsl__state_rec *from, tsl__fixed_walk *out,
                      tsl__fixed_place p, unsigned first, unsigned last) {
  if (!tsl__state_fixed(from)->plain || first > PRINTABLE_LAST || last < PRINTABLE_FIRST)
    return reach_some(space, from, out, p, first, last);
  return (first >= PRINTABLE_FIRST ||
          reach_some(space, from, out, p, first, PRINTABLE_FIRST - 1)) &&
         (last <= PRINTABLE_LAST || reach_some(space, from, out, p, PRINTABLE_LAST + 1, last));
}

static TSL__SELDOM bool visit_escape(tsl__space *space, const tsl__state_rec *from,
                                     tsl__fixed_walk *out, tsl__fixed_place p) {
  const tsl__string *texts = tsl__state_fixed(from)->texts;
  uint8_t least = next_byte(&texts[p.lo], p.depth), most = next_byte(&texts[p.hi - 1], p.depth);
  bool plain = tsl__state_fixed(from)->plain;
  /* mostly all of them go on with a small letter */
  for (unsigned i = 0; TSL__ESCAPED[i] && least <= '\\'; i++) {
    tsl__fixed_place to = p;
    uint8_t byte = (uint8_t)TSL__ESCAPED[i];
    if (byte < least || byte > most || (plain && !tsl__escapes_plainly(byte, false)) ||
        !(to.node = tsl__trie_child(&space->vocab->trie, p.node, (uint8_t)TSL__ESCAPE_LETTERS[i])))
      continue;
    to.how = RAW;
    if (!reach_some(space, from, out, to, byte, byte)) return false;
  }
  if (plain && least >= PRINTABLE_FIRST && most <= PRINTABLE_LAST) return true;
  p.node = tsl__trie_child(&space->vocab->trie, p.node, 'u');
  p.how = DIGITS;
  return !p.node || reach(space, out, p);
}

static TSL__SELDOM bool visit_digits(tsl__space *space, const tsl__state_rec *from,
                                     tsl__fixed_walk *out, tsl__fixed_place p) {
  const tsl__trie_node *n = &space->vocab->trie.nodes[p.node];
  unsigned shift = 4 * (4 - (p.how - DIGITS) - 1);
  for (uint32_t c = n->first_child; c < n->first_child + n->children; c++) {
    int digit = tsl__hex_value(space->vocab->trie.labels[c]);
    unsigned value = (unsigned)p.value << 4 | (unsigned)digit;
    if (digit < 0 || value << shift > 0x7F) continue;
    tsl__fixed_place to = {c,
                           p.lo,
                           p.hi,
                           p.depth,
                           (uint16_t)(shift ? p.how + 1u : RAW),
                           (uint16_t)(shift ? value : 0)};
    if (!reach_hex(space, from, out, to, value << shift, (value << shift) + (1u << shift) - 1))
      return false;
  }
  return true;
}

/* Is there anything below a node to be looked at? */
static bool goes_on_below(const tsl__trie *trie, const tsl__trie_node *n,
                          const tsl__fixed_walk *out) {
  return n->children && (!out->ends_only || may_be_below(trie, n, '"'));
}

static bool visit(tsl__space *space, const tsl__state_rec *from, tsl__fixed_walk *out,
                  tsl__fixed_place p) {
  if (!goes_on_below(&space->vocab->trie, &space->vocab->trie.nodes[p.node], out)) return true;
  if (!tsl__space_step(space, 1)) return false;
  if (TSL__LIKELY(p.how == RAW)) return visit_raw(space, from, out, &p);
  return p.how == ESCAPE ? visit_escape(space, from, out, p) : visit_digits(space, from, out, p);
}

/* Level by level. The nodes and labels that a walk looks at have mostly not been looked at for
 * long. So all places of a level wait for theirs together. */
static bool run(tsl__space *space, const tsl__state_rec *from, uint32_t node,
                tsl__fixed_walk *out) {
  const tsl__fixed *f = tsl__state_fixed(from);
  const tsl__trie *trie = &space->vocab->trie;
  out->places.n = 0;
  if (!visit_raw(space, from, out, &(tsl__fixed_place){node, f->lo, f->hi, f->depth, RAW, 0}))
    return false;
  for (size_t i = 0, end; i < out->places.n;) {
    end = out->places.n - i < TOGETHER ? out->places.n : i + TOGETHER;
    for (size_t k = i; k < end; k++) {
      const tsl__trie_node *n = &trie->nodes[out->places.at[k].node];
      TSL__PREFETCH(&trie->labels[n->first_child]);
      TSL__PREFETCH(&trie->order[n->begin]); /* fetched by whoever requested the walk */
    }
    for (; i < end; i++)
      if (!visit(space, from, out, out->places.at[i])) return false;
  }
  return true;
}

bool tsl__fixed_over(tsl__space *space, const tsl__state_rec *from, uint32_t node,
                     tsl__fixed_walk *out) {
  out->ends_only = false;
  return run(space, from, node, out);
}

bool tsl__fixed_ends(tsl__space *space, const tsl__state_rec *from, uint32_t node,
                     tsl__fixed_walk *out) {
  out->ends_only = true;
  return run(space, from, node, out);
}

bool tsl__fixed_goes_on(tsl__space *space, const tsl__state_rec *from, tsl__leftover over,
                        tsl__fixed_walk *scratch) {
  const tsl__leftover_rec *t =
      tsl__leftover_set(over) ? tsl__leftover_at(space, tsl__leftover_set(over)) : NULL;
  scratch->ends.n = scratch->rests.n = 0;
  scratch->past_ascii = false;
  bool fine = !(over & TSL__WHOLE) || tsl__fixed_ends(space, from, 0, scratch);
  for (uint32_t i = 0; t && i < t->n && fine; i++)
    fine = tsl__fixed_ends(space, from, t->nodes[i], scratch);
  return fine && !scratch->ends.n && !scratch->rests.n;
}

size_t tsl__fixed_raw(const uint8_t *bytes, size_t n) {
  size_t raw = 0;
  while (raw < n && tsl__fixed_is_raw(bytes[raw])) raw++;
  return raw;
}

static bool goes_on_so(const tsl__string *text, uint32_t depth, const uint8_t *bytes, size_t n) {
  return text->length - depth >= n && !memcmp(text->at + depth, bytes, n);
}

/* The texts of f that go on with a run's characters. */
static tsl__fixed_range look(const tsl__fixed *f, const tsl__fixed_run *run) {
  uint32_t lo = f->lo, hi = f->hi, depth = f->depth;
  for (size_t i = 0; i < run->n && lo < hi; i++, depth++) {
    if (hi - lo == 1) { /* nothing is to be looked for in one text */
      hi = goes_on_so(&f->texts[lo], depth, run->at + i, run->n - i) ? hi : lo;
      break;
    }
    lo += f->texts[lo].length == depth; /* a text that ends here comes first */
    lo = first_from(f->texts, lo, hi, depth, run->at[i]);
    hi = lo < hi && next_byte(&f->texts[lo], depth) == run->at[i]
             ? end_of_run(f->texts, lo, hi, depth)
             : lo;
  }
  return (tsl__fixed_range){lo, hi, f->depth + (uint32_t)run->n};
}

bool tsl__fixed_find(const tsl__state_rec *from, tsl__fixed_run *run, tsl__fixed_range *out) {
  const tsl__fixed *f = tsl__state_fixed(from);
  if (run->texts != f->texts || run->from.lo != f->lo || run->from.hi != f->hi ||
      run->from.depth != f->depth) {
    run->texts = f->texts;
    run->from = (tsl__fixed_range){f->lo, f->hi, f->depth};
    run->to = look(f, run);
  }
  *out = run->to;
  bool whole = out->lo < out->hi && f->texts[out->lo].length == out->depth;
  return run->ends ? whole != f->others : out->lo < out->hi || f->others;
}

tsl__state tsl__fixed_state(tsl__space *space, const tsl__state_rec *from,
                            const tsl__fixed_range *at) {
  tsl__state to = space->hook->states.fixed(space->hook_ctx, from, at->lo, at->hi, at->depth);
  if (!to) tsl__space_fail(space, TSL_ERR_LIMIT, space->hook->life.why(space->hook_ctx));
  return to;
}
