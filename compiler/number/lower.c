/* lower.c - the numbers of a spec as an automaton whose states are made when they are reached.
 *
 * A spec has two sides, the magnitudes after '-' and those without; both are often alike, or free.
 * A state is (side, prefix record of state.c), interned: its index is the automaton's parameter.
 * Three things are not states. A prefix after which the value does not matter any more is a plain
 * expression (parts.c). A prefix of an integer without further constraints belongs to integer.c.
 * What follows an 'e' is a range of integers, an expression too. Those are shared by all specs.
 *
 * Memory    A record is some ten words, made once per distinct state. A long run of digits makes
 *           one state a digit, while an exponent could still bring the number back into its bounds.
 *           It makes none once its future is free.
 * Layers    A table grows while its states are explored, so it belongs to one tsl__exprs. One of a
 *           frozen layer that several share is explored ahead (tsl__number_explore). The layers
 *           above only read it: they have a table of their own to work in, and for the states
 *           that are missing there.
 * Tested by tests/number/test_number.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/expr/deriv.h"
#include "compiler/expr/node.h"
#include "compiler/number/inner.h"
#include "compiler/number/integer.h"
#include "compiler/number/outline.h"
#include "compiler/number/parts.h"
#include "runtime/core/pool.h"

/* states of a table that are explored ahead; below TSL__NUMBER_PREFIX, so that each has a prefix of
 * which state_below can begin anew. Zeros behind a point go on for ever, and are seldom written. */
#define EXPLORED_MOST 48u
#define SMALL_STATE 1024u /* bytes; of longer numbers it is more */

/* for the shortest completion, in nodes of expressions by word of the state */
#define WORK_OF_SEARCH 50u

/* One state: how a tsl__number_state is written down. */
typedef struct record {
  const int64_t *words;
  /* shortest: fewest bytes to finish; a lower bound until it is computed */
  uint32_t count, side, shortest;
  bool nullable, measured;
  uint8_t byte;    /* by which it was first reached from `before`; of no meaning at the beginning */
  uint32_t before; /* UINT32_MAX: the beginning */
} record;

/* Which spec and sign a side is of. */
typedef struct origin {
  tsl__number_spec spec;
  bool negative;
} origin;

struct tsl__numbers {
  tsl__exprs *x;
  tsl__arena arena; /* sides */
  TSL__VEC(tsl__side *) sides;
  TSL__VEC(origin) origins; /* of the sides */
  uint32_t before;          /* of the record that is made next */
  uint8_t byte;
  tsl__index side_index;
  TSL__VEC(record) records;
  TSL__VEC(int64_t) words; /* the record being looked up */
  tsl__index index;        /* of the records */
  void *work, *scratch;    /* for a tsl__number_state each */
  size_t work_size;
};

static void destroy(void *ctx) {
  tsl__numbers *t = ctx;
  const tsl_allocator a = *tsl__exprs_allocator(t->x);
  tsl__arena_free(&t->arena);
  tsl__vec_free(&a, &t->sides);
  tsl__vec_free(&a, &t->origins);
  tsl__index_free(&t->side_index, &a);
  tsl__vec_free(&a, &t->records);
  tsl__vec_free(&a, &t->words);
  tsl__index_free(&t->index, &a);
  tsl__free(&a, t->work, t->work_size);
  tsl__free(&a, t->scratch, t->work_size);
  tsl__free(&a, t, sizeof *t);
}

tsl__numbers *tsl__numbers_new(tsl__exprs *x) {
  const tsl_allocator *a = tsl__exprs_allocator(x);
  tsl__numbers *t = tsl__alloc_zero(a, sizeof *t);
  if (!t) {
    tsl__expr_no_memory(x);
    return NULL;
  }
  t->x = x;
  tsl__arena_init(&t->arena, a);
  return tsl__exprs_own(x, t, destroy) ? t : NULL;
}

/* ---- interning ------------------------------------------------------------------------------- */

static bool put(tsl__numbers *t, int64_t word) {
  return tsl__vec_push(tsl__exprs_allocator(t->x), &t->words, word);
}

/* A state of t as words, in w. */
static bool write_down(const tsl__numbers *t, tsl__numbers *w, uint32_t side,
                       const tsl__number_state *st) {
  int64_t head = (int64_t)st->phase | (int64_t)st->significant << 3 | (int64_t)st->low_open << 4 |
                 (int64_t)st->high_open << 5 | (int64_t)st->single << 6 | (int64_t)side << 8;
  w->words.n = 0;
  bool ok = put(w, head) && put(w, st->fraction) && put(w, st->position) && put(w, st->low) &&
            put(w, st->high) && put(w, st->left);
  for (uint32_t k = 0; ok && k < t->sides.at[side]->tracker_count; k++) {
    ok = put(w, st->ready[k]) && put(w, st->residue[k]->n);
    for (uint32_t i = 0; ok && i < st->residue[k]->n; i++) ok = put(w, st->residue[k]->limb[i]);
  }
  ok = ok && put(w, st->live_count);
  for (uint32_t i = 0; ok && i < st->live_count; i++)
    ok = put(w, st->live[i].index) && put(w, st->live[i].at);
  return ok;
}

/* The state, in `memory` of its size. */
static tsl__number_state *read_into(const tsl__numbers *t, const record *r, void *memory) {
  tsl__number_state *st = tsl__number_state_place(t->sides.at[r->side], memory);
  const int64_t *w = r->words;
  st->phase = (tsl__number_phase)(w[0] & 7);
  st->significant = w[0] >> 3 & 1, st->low_open = w[0] >> 4 & 1, st->high_open = w[0] >> 5 & 1;
  st->single = w[0] >> 6 & 1;
  st->fraction = w[1], st->position = w[2], st->low = w[3], st->high = w[4], st->left = w[5];
  w += 6;
  for (uint32_t k = 0; k < t->sides.at[r->side]->tracker_count; k++) {
    st->ready[k] = *w++;
    st->residue[k]->n = (uint32_t)*w++;
    for (uint32_t i = 0; i < st->residue[k]->n; i++) st->residue[k]->limb[i] = (uint32_t)*w++;
  }
  st->live_count = (uint32_t)*w++;
  for (uint32_t i = 0; i < st->live_count; i++, w += 2)
    st->live[i] = (tsl__live){(uint32_t)w[0], w[1]};
  return st;
}

static tsl__number_state *read_back(tsl__numbers *t, const record *r) {
  return read_into(t, r, t->work);
}

/* The index of the record that is written down in `w`; UINT32_MAX: there is none. */
static uint32_t find(const tsl__numbers *t, const tsl__numbers *w, uint64_t hash) {
  uint32_t i;
  for (tsl__index_iter it = tsl__index_first(&t->index, hash);
       (i = tsl__index_next(&it)) != UINT32_MAX;)
    if (t->records.at[i].count == w->words.n &&
        !memcmp(t->records.at[i].words, w->words.at, w->words.n * sizeof(int64_t)))
      break;
  return i;
}

/* The index of a state, made if it is new; UINT32_MAX when out of memory. `at_least`: its shortest
 * completion is known to be that long. */
static uint32_t intern(tsl__numbers *t, uint32_t side, const tsl__number_state *st,
                       uint32_t at_least) {
  if (!write_down(t, t, side, st)) return UINT32_MAX;
  size_t size = t->words.n * sizeof(int64_t);
  uint64_t hash = tsl__hash(t->words.at, size);
  uint32_t i = find(t, t, hash);
  if (i != UINT32_MAX) return i;
  int64_t *words = tsl__exprs_alloc(t->x, size);
  if (!words) return UINT32_MAX;
  memcpy(words, t->words.at, size);
  record made = {words,
                 (uint32_t)t->words.n,
                 side,
                 at_least,
                 tsl__number_state_nullable(t->sides.at[side], st),
                 false,
                 t->byte,
                 t->before};
  const tsl_allocator *a = tsl__exprs_allocator(t->x);
  i = (uint32_t)t->records.n;
  return tsl__vec_push(a, &t->records, made) && tsl__index_add(&t->index, a, hash, i) ? i
                                                                                      : UINT32_MAX;
}

static bool make_work(tsl__numbers *t, size_t size);

/* ---- the automaton --------------------------------------------------------------------------- */

static const tsl__native_ops ops;

/* Are integrality and nothing else required (of the side, or of what is left of it)? */
static bool only_integral(const tsl__side *s) {
  return !s->spelling && s->has_multiple && s->tracker_count == 1 && s->trackers[0].exponent == 0 &&
         s->trackers[0].unit->n == 1 && s->trackers[0].unit->limb[0] == 1;
}

static bool unbounded(const tsl__side *s) {
  return s->zero && s->positive && !s->has_low && !s->has_high && !s->excluded_count;
}

static tsl__expr integer_state(tsl__exprs *x, const tsl__number_state *st) {
  switch (st->phase) {
  case TSL__NUMBER_BEGIN: return tsl__integer_begin(x);
  case TSL__NUMBER_ZERO: return tsl__integer_zero(x, -1);
  case TSL__NUMBER_WHOLE: return tsl__integer_whole(x, -st->ready[0]);
  default:
    return st->significant ? tsl__integer_fraction(x, st->fraction, st->ready[0])
                           : tsl__integer_zero(x, st->fraction);
  }
}

/* What a state is without a table; TSL__NONE: it has to be a record. */
static tsl__expr without_table(tsl__exprs *x, const tsl__side *s, const tsl__number_state *st) {
  if (tsl__number_state_free(s, st))
    return tsl__is_printed(s) ? tsl__number_printed_tail(x, s, st)
                              : tsl__number_free_tail(x, st->phase, s->spelling);
  if (!only_integral(s)) return TSL__NONE;
  bool free = st->significant ? st->low == -TSL__EXPONENT_INF && st->high == TSL__EXPONENT_INF &&
                                    !st->live_count
                              : unbounded(s);
  return free ? integer_state(x, st) : TSL__NONE;
}

static tsl__expr state_expr(tsl__exprs *x, tsl__numbers *t, uint32_t side,
                            const tsl__number_state *st, uint32_t at_least) {
  tsl__expr e = without_table(x, t->sides.at[side], st);
  if (e != TSL__NONE || tsl__exprs_status(x) != TSL_OK) return e;
  uint32_t index = intern(t, side, st, at_least);
  return index == UINT32_MAX ? tsl__expr_no_memory(x) : tsl__expr_native(x, &ops, t, index);
}

static bool nullable(void *ctx, uint32_t param) {
  return ((tsl__numbers *)ctx)->records.at[param].nullable;
}

/* Computed when it is needed: for long multiples that takes longer than all the rest. */
static uint32_t shortest(void *ctx, uint32_t param) {
  tsl__numbers *t = ctx;
  record r = t->records.at[param];
  if (!r.measured) {
    const tsl__side *side = t->sides.at[r.side];
    tsl__exprs_work(t->x, WORK_OF_SEARCH * r.count);
    r.shortest = tsl__number_state_shortest(side, read_back(t, &r), r.shortest,
                                            tsl__number_state_place(side, t->scratch));
    r.measured = true;
    if (!tsl__exprs_status(t->x)) t->records.at[param] = r;
  }
  return r.shortest;
}

/* Digits on both sides of one lead to different states, and it to a third. */
static void cut_at(tsl__bytes *out, const tsl__decimal *d, int64_t position) {
  unsigned digit = position < (int64_t)d->count ? d->digits[position] : '0';
  tsl__bytes_add(out, digit);
  tsl__bytes_add(out, digit + 1);
}

/* The next digits of bounds and excluded values that those read so far agree with. */
static void cut_at_open(const tsl__side *s, const tsl__number_state *st, tsl__bytes *out) {
  bool first = !st->significant;
  int64_t position = first ? 0 : st->position;
  if (first ? s->has_low : st->low_open) cut_at(out, &s->low, position);
  if (first ? s->has_high : st->high_open) cut_at(out, &s->high, position);
  for (uint32_t i = 0; i < (first ? s->excluded_count : st->live_count); i++)
    cut_at(out, &s->excluded[first ? i : st->live[i].index], position);
}

static void boundaries(void *ctx, uint32_t param, tsl__bytes *out) {
  tsl__numbers *t = ctx;
  const record *r = &t->records.at[param];
  const tsl__side *s = t->sides.at[r->side];
  bool apart = false; /* do digits other than 0 differ by what they leave of a unit? */
  for (uint32_t k = 0; k < s->tracker_count; k++)
    apart |= s->trackers[k].unit->n != 1 || s->trackers[k].unit->limb[0] != 1;
  for (const char *c = "./01:EFef"; *c; c++) tsl__bytes_add(out, (uint8_t)*c);
  for (unsigned b = '2'; apart && b <= '9'; b++) tsl__bytes_add(out, b);
  int64_t room[SMALL_STATE / sizeof(int64_t)];
  bool fits = tsl__number_state_size(s) <= sizeof room;
  if (!apart) cut_at_open(s, read_into(t, r, fits ? (void *)room : t->work), out);
}

static void live(void *ctx, uint32_t param, tsl__bytes *out) {
  const tsl__numbers *t = ctx;
  const record *r = &t->records.at[param];
  const tsl__side *side = t->sides.at[r->side];
  tsl__number_phase phase = (tsl__number_phase)(r->words[0] & 7);
  if (phase != TSL__NUMBER_ZERO) tsl__bytes_add_range(out, '0', '9');
  if (phase == TSL__NUMBER_ZERO || phase == TSL__NUMBER_WHOLE) tsl__bytes_add(out, '.');
  if (phase != TSL__NUMBER_BEGIN && phase != TSL__NUMBER_POINT && !tsl__never_exponent(side) &&
      (!tsl__is_printed(side) || (r->words[0] >> 6 & 1)))
    tsl__bytes_add(out, 'E'), tsl__bytes_add(out, 'e');
}

static tsl__expr step_exponent(tsl__exprs *x, const tsl__side *side, const tsl__number_state *st) {
  tsl__exponents e;
  if (st->phase == TSL__NUMBER_BEGIN || st->phase == TSL__NUMBER_POINT ||
      tsl__no_exponent(side, st))
    return TSL__NONE;
  tsl__number_state_exponents(side, st, &e);
  return tsl__is_printed(side) ? tsl__number_printed_exponent(x, side, &e)
                               : tsl__number_exponent(x, &e);
}

/* A state of a table of the layer below, which is read and not changed. Returns its record there,
 * or one in w, the table of x. `param` and the byte led to it. */
static tsl__expr state_below(tsl__exprs *x, const tsl__numbers *t, tsl__numbers *w, uint32_t param,
                             uint8_t byte, const tsl__number_state *st) {
  uint32_t side = t->records.at[param].side;
  tsl__expr e = without_table(x, t->sides.at[side], st);
  if (e != TSL__NONE || tsl__exprs_status(x)) return e;
  if (!write_down(t, w, side, st)) return tsl__expr_no_memory(x);
  uint32_t index = find(t, w, tsl__hash(w->words.at, w->words.n * sizeof(int64_t)));
  if (index != UINT32_MAX) return tsl__expr_native(x, &ops, (void *)(uintptr_t)t, index);
  tsl__number_at at;
  const tsl__native native = {.ops = &ops, .ctx = (void *)(uintptr_t)t};
  if (!tsl__number_place(&native, param, &at) || at.length == TSL__NUMBER_PREFIX)
    return tsl__exprs_fail(x, TSL_ERR_LIMIT, "numbers: a shared state of over 64 digits"),
           TSL__NONE;
  at.prefix[at.length++] = byte;
  return tsl__number_from(w, &at);
}

/* The table to work in: that of the automaton, or, if that is of the layer below x, one of x. NULL
 * when out of memory. */
static tsl__numbers *work_table(tsl__exprs *x, tsl__numbers *t) {
  if (t->x == x) return t;
  if (!x->numbers) x->numbers = tsl__numbers_new(x);
  return x->numbers;
}

static tsl__expr step(tsl__exprs *x, void *ctx, uint32_t param, uint8_t byte) {
  tsl__numbers *t = ctx, *w = work_table(x, t);
  record r = t->records.at[param];
  const tsl__side *side = t->sides.at[r.side];
  if (!w || !make_work(w, tsl__number_state_size(side))) return tsl__expr_no_memory(x);
  tsl__number_state *st = read_into(t, &r, w->work);
  tsl__exprs_work(x, r.count); /* as long as its units are */
  if (byte == 'e' || byte == 'E') return step_exponent(x, side, st);
  bool lives = tsl__number_state_push(side, st, byte);
  tsl__exprs_work(x, st->tried * WORK_OF_SEARCH);
  if (!lives || tsl__exprs_status(x)) return TSL__NONE;
  if (w != t) return state_below(x, t, w, param, byte, st);
  t->before = param;
  t->byte = byte;
  return state_expr(x, t, r.side, st, r.shortest ? r.shortest - 1 : 0);
}

static void print(void *ctx, uint32_t param, char *out, size_t n) {
  static const char *const phases[] = {"begin", "0", "whole", "point", "fraction"};
  tsl__numbers *t = ctx;
  const record *r = &t->records.at[param];
  snprintf(out, n, "number %u %s #%u", r->side, phases[r->words[0] & 7], param);
}

static const tsl__native_ops ops = {.nullable = nullable,
                                    .boundaries = boundaries,
                                    .step = step,
                                    .shortest = shortest,
                                    .print = print,
                                    .ascii = "+-.0123456789Ee",
                                    .live = live,
                                    .outline = tsl__outline_write};

/* ---- specs ----------------------------------------------------------------------------------- */

static bool make_work(tsl__numbers *t, size_t size) {
  const tsl_allocator *a = tsl__exprs_allocator(t->x);
  if (size <= t->work_size) return true;
  void *work = tsl__alloc(a, size), *scratch = tsl__alloc(a, size);
  if (!work || !scratch) {
    tsl__free(a, work, size);
    tsl__free(a, scratch, size);
    return false;
  }
  tsl__free(a, t->work, t->work_size);
  tsl__free(a, t->scratch, t->work_size);
  t->work = work;
  t->scratch = scratch;
  t->work_size = size;
  return true;
}

static uint64_t side_hash(const tsl__side *s) {
  uint64_t h = tsl__mix((uint64_t)s->tracker_count << 32 | s->excluded_count);
  for (uint32_t k = 0; k < s->tracker_count; k++)
    h = tsl__mix(h ^ tsl__hash(s->trackers[k].unit->limb,
                               s->trackers[k].unit->n * sizeof *s->trackers[k].unit->limb));
  if (s->has_low)
    h = tsl__mix(h ^ (uint64_t)s->low_exclusive ^ tsl__hash(s->low.digits, s->low.count));
  if (s->has_high)
    h = tsl__mix(h ^ (uint64_t)s->high_exclusive << 1 ^ tsl__hash(s->high.digits, s->high.count));
  return h;
}

/* The index of the side of a sign; UINT32_MAX: failed (sticky in x). */
static uint32_t intern_side(tsl__numbers *t, const tsl__number_spec *spec, bool negative) {
  tsl__side side;
  if (tsl__side_make(&side, t->x, &t->arena, spec, negative) ||
      !make_work(t, tsl__number_state_size(&side)))
    return UINT32_MAX;
  uint64_t hash = side_hash(&side);
  tsl__exprs_work(t->x, 16);
  tsl__index_iter it = tsl__index_first(&t->side_index, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;)
    if (tsl__side_equal(t->sides.at[i], &side)) return i;
  tsl__side *kept = tsl__arena_copy(&t->arena, &side, sizeof side);
  origin from = {*spec, negative};
  if (!kept || !tsl__vec_reserve(tsl__exprs_allocator(t->x), &t->sides, 1) ||
      !tsl__vec_reserve(tsl__exprs_allocator(t->x), &t->origins, 1) ||
      !tsl__index_add(&t->side_index, tsl__exprs_allocator(t->x), hash, (uint32_t)t->sides.n))
    return UINT32_MAX;
  t->origins.at[t->origins.n++] = from;
  t->sides.at[t->sides.n++] = kept;
  return (uint32_t)t->sides.n - 1;
}

static tsl__expr side_expr(tsl__numbers *t, uint32_t side) {
  if (!t->sides.at[side]->zero && !t->sides.at[side]->positive) return TSL__NONE;
  tsl__number_state *st = tsl__number_state_place(t->sides.at[side], t->work);
  tsl__number_state_begin(t->sides.at[side], st);
  t->before = UINT32_MAX;
  return state_expr(t->x, t, side, st, 0);
}

/* Free of constraints but for integrality: no table is needed. TSL__NONE for any other spec. */
static tsl__expr unconstrained(tsl__exprs *x, const tsl__number_spec *s) {
  tsl__expr sign = tsl__expr_opt(x, tsl__expr_literal(x, "-", 1));
  bool digits = (s->spelling & ~TSL__SPELL_PRINTED) == TSL__SPELL_DIGITS,
       whole = s->multiple_count == 1 && tsl__decimal_equal(&s->multiples[0], &tsl__decimal_one);
  if (s->empty || s->not_integer || s->has_min || s->has_max || (s->multiple_count && !whole) ||
      s->non_multiple_count || s->excluded_count)
    return TSL__NONE;
  if (s->spelling & TSL__SPELL_PRINTED) {
    if ((s->integer || whole) && !digits) return TSL__NONE;
    return tsl__expr_seq(x, sign, tsl__number_printed_free(x, s->spelling));
  }
  if (digits) {
    tsl__expr many =
        tsl__expr_seq(x, tsl__expr_range(x, '1', '9'), tsl__expr_star(x, tsl__number_digit(x)));
    return tsl__expr_seq(x, sign, tsl__expr_alt(x, many, tsl__expr_literal(x, "0", 1)));
  }
  whole = whole || s->integer;
  if (s->spelling & TSL__SPELL_DIGITS || (whole && s->spelling)) return TSL__NONE;
  return tsl__expr_seq(x, sign,
                       whole ? tsl__integer_begin(x)
                             : tsl__number_free_tail(x, TSL__NUMBER_BEGIN, s->spelling));
}

tsl__expr tsl__numbers_expr(tsl__numbers *t, const tsl__number_spec *spec) {
  tsl__number_spec s;
  tsl__expr free = unconstrained(t->x, spec);
  if (free != TSL__NONE) return free;
  tsl_status status = tsl__number_intersect(t->x, &t->arena, spec, spec, &s);
  if (status == TSL_ERR_NO_MEMORY) return tsl__expr_no_memory(t->x);
  if (status)
    tsl__exprs_fail(t->x, status,
                    "numbers: more than 1,000 digits in a merged multipleOf, 16 non-multiples or "
                    "1,024 excluded values");
  if (status || s.empty) return TSL__NONE;
  uint32_t below = intern_side(t, &s, true), above = intern_side(t, &s, false);
  if (below == UINT32_MAX || above == UINT32_MAX) return tsl__expr_no_memory(t->x);
  tsl__expr minus = tsl__expr_literal(t->x, "-", 1), magnitude = side_expr(t, above);
  if (below == above) return tsl__expr_seq(t->x, tsl__expr_opt(t->x, minus), magnitude);
  return tsl__expr_alt(t->x, tsl__expr_seq(t->x, minus, side_expr(t, below)), magnitude);
}

/* The first states that are reached from e, with their shortest completions. */
bool tsl__number_explore(tsl__exprs *x, tsl__expr e) {
  static const char bytes[] = "+-.0123456789";
  TSL__VEC(tsl__expr) all = {0};
  bool ok = tsl__vec_push(&x->alloc, &all, e) || tsl__expr_no_memory(x);
  for (size_t i = 0; ok && i < all.n && all.n < EXPLORED_MOST; i++)
    for (const char *b = bytes; ok && *b; b++) {
      tsl__expr next = tsl__derive_plain(x, all.at[i], (uint8_t)*b);
      tsl__node n = tsl__node_at(x, next);
      if (n.kind != TSL__K_NATIVE || tsl__native_at(x, n.a)->ops != &ops) continue;
      size_t k = 0;
      while (k < all.n && all.at[k] != next) k++;
      if (k == all.n) ok = tsl__vec_push(&x->alloc, &all, next) || tsl__expr_no_memory(x);
      (void)tsl__expr_shortest(x, next);
    }
  tsl__vec_free(&x->alloc, &all);
  return ok && tsl__exprs_status(x) == TSL_OK;
}

tsl__expr tsl__number_expr(tsl__exprs *x, const tsl__number_spec *spec) {
  tsl__expr free = unconstrained(x, spec);
  if (free != TSL__NONE) return free;
  tsl__numbers *t = tsl__numbers_new(x);
  return t ? tsl__numbers_expr(t, spec) : TSL__NONE;
}

/* ---- for outlines (compiler/states/outline.c) ------------------------------------------------ */

bool tsl__number_place(const tsl__native *native, uint32_t param, tsl__number_at *out) {
  const tsl__numbers *t = native->ctx;
  if (native->ops != &ops) return false;
  const origin *from = &t->origins.at[t->records.at[param].side];
  *out = (tsl__number_at){.spec = from->spec, .negative = from->negative};
  uint32_t n = 0, i = param;
  for (; t->records.at[i].before != UINT32_MAX; i = t->records.at[i].before)
    if (++n > TSL__NUMBER_PREFIX) return false;
  out->length = n;
  for (i = param; n; i = t->records.at[i].before) out->prefix[--n] = t->records.at[i].byte;
  return true;
}

tsl__expr tsl__number_from(tsl__numbers *t, const tsl__number_at *at) {
  tsl__number_spec s;
  tsl_status status = tsl__number_intersect(t->x, &t->arena, &at->spec, &at->spec, &s);
  if (status)
    return tsl__exprs_fail(t->x, status, "numbers: a constraint that is out of bounds"), TSL__NONE;
  if (s.empty) return TSL__NONE;
  uint32_t side = intern_side(t, &s, at->negative);
  tsl__expr e = side == UINT32_MAX ? tsl__expr_no_memory(t->x) : side_expr(t, side);
  for (uint32_t i = 0; i < at->length && e != TSL__NONE; i++) {
    tsl__node n = tsl__node_at(t->x, e);
    const tsl__native *native = n.kind == TSL__K_NATIVE ? tsl__native_at(t->x, n.a) : NULL;
    e = native && native->ops == &ops ? step(t->x, t, n.b, at->prefix[i]) : TSL__NONE;
  }
  return e;
}
