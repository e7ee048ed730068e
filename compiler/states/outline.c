/* outline.c - states that are not listed in an artifact but described, and grown again from the
 * description.
 *
 * Problem   The state of a number depends on all of its digits so far: how many zeros it ends in
 *           decides which exponents may follow. So there are endlessly many such states. Such
 *           states cannot be listed (runtime/artifact/ahead.c).
 * Idea      They are expressions of a few kinds around the automata of compiler/number/lower.c and
 *           compiler/number/integer.c. Such an automaton is named by its constraints and the text
 *           read so far. So the artifact holds the expression as words. The loaded grammar makes
 *           the expression again, and grows these states as the compiler does, with the same files.
 *           These files need no front end. So a library that only loads artifacts still needs
 *           neither PCRE2 nor yajl.
 * Form      Each expression is a word for its kind, then:
 *             BYTES     eight words
 *             LIT       length, bytes (four in a word)
 *             SEQ       two expressions
 *             ALT       how many, expressions
 *             REPEAT    min, max, expression
 *             INTEGER   the automaton's parameter
 *             NUMBER    flags, prefix (length, bytes), five lists of decimals: min, max, multiples,
 *                       non-multiples, excluded. A list is how many, then length and JSON text of
 *                       each.
 * Trust     Nothing of it is believed: expressions are made by the constructors, decimals parsed,
 *           prefixes read by the automaton.
 * Tested by tests/artifact/test_artifact.c, fuzz/fuzz_artifact.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/states/outline.h"

#include "compiler/expr/node.h"
#include "compiler/number/outline.h"
#include "compiler/states/states.h"
#include "runtime/artifact/artifact.h"

#define LIST_MAX 1100u /* decimals of a list */
#define TEXT_MAX 1200u /* bytes of a decimal that is written down */

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct outlines {
  void *states; /* of states.c */
  tsl__exprs *x;
  tsl__numbers *numbers; /* NULL: not made yet */
  tsl__arena scratch;
  struct outlines *of; /* whose expressions and numbers these use; NULL: they have their own */
} outlines;

typedef struct reader {
  outlines *o;
  const uint32_t *at, *end;
  bool fine;
} reader;

static uint32_t take(reader *r) {
  if (r->at == r->end) r->fine = false;
  return r->fine ? *r->at++ : 0;
}

/* `*n` bytes, at most `max`. */
static const char *take_bytes(reader *r, uint32_t max, uint32_t *n) {
  *n = take(r);
  if (*n > max || (*n + 3) / 4 > (size_t)(r->end - r->at)) r->fine = false;
  if (!r->fine) return *n = 0, "";
  const char *bytes = (const char *)r->at;
  r->at += (*n + 3) / 4;
  return bytes;
}

/* No list was made: it is too long, or memory ran out. */
static void give_up(reader *r) {
  if (r->fine) tsl__exprs_fail(r->o->x, TSL_ERR_NO_MEMORY, "out of memory");
  r->fine = false;
}

static const tsl__decimal *take_decimals(reader *r, uint32_t max, uint32_t *n) {
  *n = take(r);
  if (*n > max) r->fine = false;
  tsl__decimal *list = r->fine ? tsl__arena_alloc(&r->o->scratch, (*n + 1) * sizeof *list) : NULL;
  if (!list) return give_up(r), NULL;
  for (uint32_t i = 0; i < *n && r->fine; i++) {
    uint32_t length;
    const char *text = take_bytes(r, TEXT_MAX, &length);
    tsl_status status =
        r->fine ? tsl__decimal_parse(&r->o->scratch, text, length, &list[i]) : TSL_OK;
    if (status == TSL_ERR_NO_MEMORY) tsl__exprs_fail(r->o->x, status, "out of memory");
    r->fine = r->fine && status == TSL_OK;
  }
  return list;
}

static bool positive(const tsl__decimal *at, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (!at[i].count || at[i].negative) return false;
  return true;
}

static tsl__expr take_number(reader *r) {
  uint32_t flags = take(r), n, has_min, has_max;
  tsl__number_at at = {.negative = flags & TSL__OUTLINE_F_NEGATIVE};
  tsl__number_spec *s = &at.spec;
  const char *prefix = take_bytes(r, TSL__NUMBER_PREFIX, &n);
  if (n) memcpy(at.prefix, prefix, n);
  at.length = n;
  const tsl__decimal *min = take_decimals(r, 1, &has_min), *max = take_decimals(r, 1, &has_max);
  s->multiples = take_decimals(r, 1, &s->multiple_count);
  s->non_multiples = take_decimals(r, TSL__NUMBER_NON_MULTIPLES, &s->non_multiple_count);
  s->excluded = take_decimals(r, LIST_MAX, &s->excluded_count);
  if (!r->fine || !positive(s->multiples, s->multiple_count) ||
      !positive(s->non_multiples, s->non_multiple_count))
    return r->fine = false, TSL__NONE;
  if ((s->has_min = has_min) != 0) s->min = *min;
  if ((s->has_max = has_max) != 0) s->max = *max;
  s->integer = flags & TSL__OUTLINE_F_INTEGER;
  s->not_integer = flags & TSL__OUTLINE_F_NOT_INTEGER;
  s->min_exclusive = s->has_min && (flags & TSL__OUTLINE_F_MIN_EXCLUSIVE);
  s->max_exclusive = s->has_max && (flags & TSL__OUTLINE_F_MAX_EXCLUSIVE);
  s->spelling = flags >> TSL__OUTLINE_F_SPELLING & TSL__SPELL_ALL;
  if (s->spelling & TSL__SPELL_PRINTED && !tsl__number_printable(s))
    return r->fine = false, TSL__NONE;
  outlines *o = r->o->of ? r->o->of : r->o;
  if (!o->numbers && !(o->numbers = tsl__numbers_new(o->x))) return TSL__NONE;
  return tsl__number_from(o->numbers, &at);
}

static tsl__expr take_expr(reader *r, uint32_t depth);

static tsl__expr take_alt(reader *r, uint32_t depth) {
  tsl__expr all = TSL__NONE;
  uint32_t n = take(r);
  if (n > TSL__OUTLINE_WORDS) r->fine = false;
  tsl__expr *parts = r->fine ? tsl__arena_alloc(&r->o->scratch, (n + 1) * sizeof *parts) : NULL;
  if (!parts) return give_up(r), TSL__NONE;
  for (uint32_t i = 0; i < n && r->fine; i++) parts[i] = take_expr(r, depth);
  if (r->fine) all = tsl__expr_alt_n(r->o->x, parts, n);
  return all;
}

static tsl__expr take_bytes_set(reader *r) {
  tsl__bytes set = {{0}};
  for (int i = 0; i < 8; i++) set.w[i / 2] |= (uint64_t)take(r) << (i % 2 ? 32 : 0);
  return tsl__expr_bytes(r->o->x, &set);
}

/* Whatever is not right ends as `fine` false, or as TSL__NONE. */
static tsl__expr take_expr(reader *r, uint32_t depth) {
  tsl__exprs *x = r->o->x;
  tsl__expr a, b;
  uint32_t n, min, max;
  const char *bytes;
  if (depth > TSL__OUTLINE_DEPTH) r->fine = false;
  switch (take(r)) {
  case TSL__OUTLINE_EPS: return TSL__EPS;
  case TSL__OUTLINE_BYTES: return take_bytes_set(r);
  case TSL__OUTLINE_LIT:
    bytes = take_bytes(r, TSL__OUTLINE_WORDS, &n);
    return n ? tsl__expr_literal(x, bytes, n) : TSL__NONE;
  case TSL__OUTLINE_SEQ:
    a = take_expr(r, depth + 1);
    b = take_expr(r, depth + 1);
    return tsl__expr_seq(x, a, b);
  case TSL__OUTLINE_ALT: return take_alt(r, depth + 1);
  case TSL__OUTLINE_REPEAT:
    min = take(r);
    max = take(r);
    a = take_expr(r, depth + 1);
    return r->fine && min <= max ? tsl__expr_repeat(x, a, min, max) : TSL__NONE;
  case TSL__OUTLINE_INTEGER: return tsl__integer_from(x, take(r));
  case TSL__OUTLINE_NUMBER: return take_number(r);
  default: r->fine = false; return TSL__NONE;
  }
}

/* ---- the seam to runtime/ -------------------------------------------------------------------- */

tsl_status tsl__outline_open(tsl__space *space, const tsl_limits *limits, void **ctx) {
  outlines *o = tsl__alloc_zero(&space->alloc, sizeof *o);
  tsl_status status = o ? tsl__exprs_new(NULL, &space->alloc, limits, &o->x) : TSL_ERR_NO_MEMORY;
  if (status == TSL_OK) {
    o->states = tsl__states_open(space, o->x);
    if (o->states) {
      tsl__arena_init(&o->scratch, &space->alloc);
      return *ctx = o, TSL_OK;
    }
    tsl__exprs_free(o->x);
    status = TSL_ERR_NO_MEMORY;
  }
  tsl__free(&space->alloc, o, sizeof *o);
  return status;
}

tsl_status tsl__outline_beside(tsl__space *space, void *ctx, void **out) {
  outlines *of = ctx, *o = tsl__alloc_zero(&space->alloc, sizeof *o);
  void *states = o ? tsl__states_hook.life.again(of->states, space) : NULL;
  if (states) {
    *o = (outlines){.states = states, .x = of->x, .of = of};
    tsl__arena_init(&o->scratch, &space->alloc);
    return *out = o, TSL_OK;
  }
  if (o) tsl__free(&space->alloc, o, sizeof *o);
  return TSL_ERR_NO_MEMORY;
}

void *tsl__outline_states(void *ctx) { return ((outlines *)ctx)->states; }

tsl__state tsl__outline_state(tsl__space *space, void *ctx, const uint32_t *words, uint32_t n) {
  outlines *o = ctx;
  reader r = {o, words, words + n, true};
  tsl__expr e = take_expr(&r, 0);
  tsl__arena_free(&o->scratch);
  tsl__arena_init(&o->scratch, &space->alloc);
  if (tsl__exprs_status(o->x) != TSL_OK)
    return tsl__space_fail(space, tsl__exprs_status(o->x), tsl__exprs_why(o->x)), 0;
  if (!r.fine || r.at != r.end || e == TSL__NONE || tsl__node_at(o->x, e).loop)
    return tsl__space_fail(space, TSL_ERR_FORMAT, "the artifact is damaged: an outline"), 0;
  return tsl__states_of(o->states, e);
}

void tsl__outline_forget_limits(void *ctx) {
  tsl__exprs *x = ((outlines *)ctx)->x;
  x->cancel = NULL;
  x->deadline = 0;
}

void tsl__outline_close(tsl__space *space, void *ctx) {
  outlines *o = ctx;
  tsl__arena_free(&o->scratch);
  tsl__states_hook.life.free(o->states);
  tsl__free(&space->alloc, o, sizeof *o);
}
