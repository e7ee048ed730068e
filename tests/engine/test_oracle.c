/* test_oracle.c - the seat belt: the engine's masks against the naive oracle's, on random grammars,
 * vocabularies and generations.
 *
 * Random rules are built from expressions directly, so that every feature of the automaton meets
 * every other. The features are calls, tail calls, nullable rules, ambiguity, registers, JSON
 * strings, string sets, differences and named tokens. At every step of a random generation the
 * masks are equal. An allowed token is accepted, a token that is not allowed is rejected. The text
 * can be finished in as many bytes as the shortest completion says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/states/states.h"
#include "compiler/expr/node.h"
#include "runtime/walk/walk.h"
#include "tests/support/draw.h"
#include "tests/judges/oracle.h"

static uint64_t seed = 1;
static uint32_t below(uint32_t n) { return (uint32_t)(tsl_test_random(&seed) % n); }

/* ---- random vocabularies --------------------------------------------------------------------- */

static tsl_vocab *random_vocab(uint32_t size, const char *alphabet) {
  static uint8_t bytes[1 << 20];
  static uint32_t offsets[1 << 16];
  static uint8_t special[1 << 16];
  uint32_t n = 0, letters = (uint32_t)strlen(alphabet);
  for (uint32_t i = 0; i < size; i++) {
    offsets[i] = n;
    special[i] = i >= size - 4;
    uint32_t length = 1 + below(6);
    if (below(50) == 0) length += below(24);
    if (i == size - 5) length = 0; /* a token without bytes is never allowed */
    /* every byte has a token: no grammar can be stuck for want of one */
    if (i < 256) length = 0, bytes[n++] = (uint8_t)i;
    for (uint32_t k = 0; k < length; k++) bytes[n++] = (uint8_t)alphabet[below(letters)];
  }
  offsets[size] = n;
  tsl_token eog[2] = {size - 1, size - 2};
  tsl_vocab_desc d = {bytes, offsets, size, size + 7, special, eog, 2};
  tsl_vocab *v = NULL;
  tsl_error e;
  if (tsl_vocab_new(&d, NULL, &v, &e) != TSL_OK) fprintf(stderr, "vocabulary: %s\n", e.message);
  return v;
}

/* ---- random rules ---------------------------------------------------------------------------- */

#define RULES 6
typedef struct rules {
  tsl__expr ref[RULES], body[RULES];
} rules;

static tsl__expr unfold(tsl__exprs *x, void *ctx, uint32_t param) {
  (void)x;
  return ((rules *)ctx)->body[param];
}
static const tsl__rule_ops rule_ops = {unfold, NULL, NULL, NULL, NULL};
static const char *alphabet;

static tsl__expr letter(tsl__exprs *x) {
  char c = alphabet[below((uint32_t)strlen(alphabet))];
  return tsl__expr_literal(x, &c, 1);
}

static tsl__expr letters(tsl__exprs *x) {
  if (below(3) == 0) return tsl__expr_range(x, 'a', (uint8_t)('a' + below(26)));
  return tsl__expr_alt(x, letter(x), letter(x));
}

static tsl__expr ascii(tsl__exprs *x) {
  tsl__expr e = letters(x);
  return tsl__expr_and(x, e, tsl__expr_range(x, 0, 0x7F)) == e ? e : tsl__expr_literal(x, "z", 1);
}

/* Decoded text for JSON strings: no calls, valid UTF-8. */
static tsl__expr text(tsl__exprs *x, unsigned depth) {
  switch (below(depth ? 8 : 4)) {
  case 0: return tsl__expr_text(x);
  case 1: return tsl__expr_repeat(x, tsl__expr_any_char(x), below(3), 3 + below(30));
  case 2: return tsl__expr_star(x, tsl__expr_range(x, 'a', 'z'));
  case 3: return ascii(x);
  case 4: return tsl__expr_seq(x, text(x, depth - 1), text(x, depth - 1));
  case 5: return tsl__expr_alt(x, text(x, depth - 1), text(x, depth - 1));
  case 6:
    return tsl__expr_and(x, text(x, depth - 1), tsl__expr_repeat(x, tsl__expr_any_char(x), 0, 12));
  default: {
    tsl__string s[3] = {{"a", 1}, {"ab", 2}, {"\"b\\", 3}};
    tsl__expr set = tsl__expr_stringset(x, tsl__stringset_new(x, s, 1 + below(3), NULL));
    tsl__expr other = tsl__expr_and(x, tsl__expr_text(x), tsl__expr_not(x, set));
    return below(2) ? other : tsl__expr_and(x, other, text(x, depth - 1));
  }
  }
}

static tsl__expr random_expr(tsl__exprs *x, const rules *r, unsigned depth) {
  switch (below(depth ? 12 : 3)) {
  case 0:
  case 1: return letter(x);
  case 2: return letters(x);
  case 3:
  case 4: return tsl__expr_seq(x, random_expr(x, r, depth - 1), random_expr(x, r, depth - 1));
  case 5: return tsl__expr_alt(x, random_expr(x, r, depth - 1), random_expr(x, r, depth - 1));
  case 6: return tsl__expr_opt(x, random_expr(x, r, depth - 1));
  case 7: return tsl__expr_star(x, tsl__expr_seq(x, letter(x), random_expr(x, r, depth - 1)));
  case 8: {
    uint32_t min = below(12);
    return tsl__expr_repeat(
        x, tsl__expr_seq(x, letters(x), below(2) ? TSL__EPS : random_expr(x, r, depth - 1)), min,
        min + below(20));
  }
  case 9: {
    tsl__expr body = text(x, 2);
    if (!body) return letter(x);
    tsl__expr whole = below(3) ? tsl__expr_json_string(x, body) : tsl__expr_json_part(x, body);
    return tsl__expr_seq(x, tsl__expr_literal(x, "\"", 1), whole);
  }
  default:
    return tsl__expr_seq(x, letter(x),
                         tsl__expr_seq(x, r->ref[below(RULES)], random_expr(x, r, depth - 1)));
  }
}

/* Rules that always can end: each has an alternative without rules. */
static tsl__expr random_grammar(tsl__exprs *x, rules *r, const tsl_vocab *v) {
  bool nullable[RULES];
  for (uint32_t i = 0; i < RULES; i++) {
    nullable[i] = below(4) == 0;
    r->ref[i] = tsl__expr_rule(x, &rule_ops, r, i, nullable[i] ? TSL__RULE_NULLABLE : 0,
                               nullable[i] ? 0 : 1);
  }
  for (uint32_t i = 0; i < RULES; i++) {
    tsl__expr e = random_expr(x, r, 3);
    if (e == TSL__NONE) e = letter(x);
    tsl__expr body = tsl__expr_alt(x, letter(x), tsl__expr_seq(x, letter(x), e));
    if (below(8) == 0) {
      tsl_token t[2] = {0, v->size - 3};
      body =
          tsl__expr_alt(x, body, tsl__expr_seq(x, tsl__expr_token(x, t, 2, below(2)), letter(x)));
    }
    r->body[i] = nullable[i] ? tsl__expr_opt(x, body) : body;
  }
  return tsl__expr_seq(x, r->ref[0], below(2) ? TSL__EPS : r->ref[1]);
}

/* ---- one run --------------------------------------------------------------------------------- */

static unsigned long masks_compared;
static uint32_t shortcuts_off; /* TSL__SHORTCUT_... */

static void report_difference(const tsl_vocab *v, const uint32_t *a, const uint32_t *b,
                              const char *where) {
  for (tsl_token t = 0; t < v->logits_width; t++)
    if (tsl_mask_has(a, t) != tsl_mask_has(b, t)) {
      size_t n;
      const uint8_t *s = tsl_vocab_bytes(v, t, &n);
      fprintf(stderr, "  %s: token %u '%.*s': engine %d, oracle %d\n", where, t, (int)n,
              s ? (const char *)s : "", tsl_mask_has(a, t), tsl_mask_has(b, t));
      return;
    }
}

static bool one_step(tsl_matcher *m, oracle *o, const tsl_vocab *v, uint32_t *mine,
                     uint32_t *naive) {
  if (tsl_matcher_mask(m, mine) != TSL_OK) return false;
  oracle_mask(o, naive);
  if (o->overflow) return false;
  bool same = !memcmp(mine, naive, tsl_vocab_mask_words(v) * sizeof *mine);
  if (!same) {
    report_difference(v, mine, naive, "mask");
    for (uint32_t i = 0; i < o->now.n; i++) {
      char expr[400] = "";
      if (o->now.at[i].n)
        o->space->hook->states.print(o->space->hook_ctx, o->now.at[i].at[o->now.at[i].n - 1].state,
                                     expr, sizeof expr);
      fprintf(stderr, "    stack of %u: register %u, %s\n", o->now.at[i].n,
              o->now.at[i].n ? o->now.at[i].at[o->now.at[i].n - 1].count : 0, expr);
    }
  }
  CHECK(same);
  masks_compared++;
  const uint32_t *lent;
  CHECK(tsl_matcher_mask_borrow(m, &lent, NULL) == TSL_OK &&
        !memcmp(mine, lent, tsl_vocab_mask_words(v) * sizeof *mine));
  CHECK(tsl_matcher_is_complete(m) == oracle_complete(o));
  for (int k = 0; k < 4; k++) {
    tsl_token t = below(v->size);
    size_t valid;
    CHECK(tsl_matcher_validate(m, &t, 1, &valid) == TSL_OK && valid == tsl_mask_has(mine, t));
  }
  tsl_token t = draw(mine, v->logits_width, &seed);
  if (!same || t == TSL_NO_TOKEN) {
    CHECK(t != TSL_NO_TOKEN); /* no dead end: something is always allowed */
    return false;
  }
  tsl_status status = tsl_matcher_accept(m, t);
  CHECK(status == TSL_OK);
  if (tsl_vocab_is_eog(v, t) || status != TSL_OK) return false;
  CHECK(oracle_token(o, t));
  return true;
}

static void run_grammar(const tsl_vocab *v, uint32_t generations, uint32_t steps) {
  tsl__space *space;
  tsl__exprs *x;
  static rules r;
  tsl_limits limits = {.max_steps = 3000000};
  CHECK(tsl__states_layer(NULL, v, &limits, &space, &x) == TSL_OK);
  if (!space) return;
  space->walking.shortcuts_off = shortcuts_off;
  tsl__walk_prepare(space);
  tsl__expr root = random_grammar(x, &r, v);
  tsl_grammar *g = NULL;
  tsl_error error;
  tsl_status status = tsl__exprs_status(x) == TSL_OK
                          ? tsl__grammar_make((tsl_vocab *)(uintptr_t)v, space,
                                              tsl__state_of(space, root), "[]", &g, &error)
                          : TSL_ERR_LIMIT;
  if (status != TSL_OK) {
    if (tsl__exprs_status(x) != TSL_OK) tsl__space_free(space);
    return;
  }
  uint32_t *mine = malloc(tsl_vocab_mask_words(v) * 4),
           *naive = malloc(tsl_vocab_mask_words(v) * 4);
  for (uint32_t i = 0; i < generations; i++) {
    tsl_matcher *m, *fork;
    oracle o;
    tsl_matcher_new(g, NULL, &m);
    oracle_begin(&o, space, g->start);
    for (uint32_t k = 0; k < steps && one_step(m, &o, v, mine, naive); k++) {
    }
    if (!o.overflow) { /* fork, then rollback: the same masks as before */
      size_t n = tsl_matcher_history(m);
      tsl_matcher_mask(m, mine);
      CHECK(tsl_matcher_fork(m, &fork) == TSL_OK);
      CHECK(tsl_matcher_mask(fork, naive) == TSL_OK &&
            !memcmp(mine, naive, tsl_vocab_mask_words(v) * 4));
      CHECK(tsl_matcher_rollback(fork, n) == TSL_OK && tsl_matcher_history(fork) == 0);
      tsl_matcher_reset(m);
      CHECK(tsl_matcher_mask(m, mine) == TSL_OK && tsl_matcher_mask(fork, naive) == TSL_OK &&
            !memcmp(mine, naive, tsl_vocab_mask_words(v) * 4));
      tsl_matcher_free(fork);
    }
    oracle_free(&o);
    tsl_matcher_free(m);
  }
  for (tsl__state s = 1; s < tsl__space_count(space, states); s++)
    if (atomic_load(&tsl__state_own(space, s)->expanded)) CHECK(tsl__state_check(space, s));
  free(mine);
  free(naive);
  tsl_grammar_release(g);
}

static uint32_t rounds = 150;

static void small_alphabet(void) {
  alphabet = "abc\"\\nu01";
  for (uint32_t i = 0; i < rounds; i++) {
    seed = i * 7919 + 1;
    tsl_vocab *v = random_vocab(300 + below(200), alphabet);
    run_grammar(v, 4, 25);
    tsl_vocab_release(v);
  }
}

static void many_letters(void) {
  alphabet = "abcdefghijklmnopqrstuvwxyz\"\\\xC3\xA9\xE2\x82\xAC 0";
  for (uint32_t i = 0; i < rounds / 5; i++) {
    seed = i * 104729 + 3;
    tsl_vocab *v = random_vocab(3000, alphabet);
    for (int k = 0; k < 3; k++) run_grammar(v, 2, 12);
    tsl_vocab_release(v);
  }
}

/* Each shortcut of the walk off in turn, then all: on a tenth of the grammars. */
static void without_shortcuts(void) {
  uint32_t all_rounds = rounds;
  rounds = rounds / 10 + 1;
  for (uint32_t off = 1; off < TSL__SHORTCUTS; off <<= 1) {
    shortcuts_off = off;
    small_alphabet();
    many_letters();
  }
  shortcuts_off = TSL__SHORTCUTS;
  small_alphabet();
  many_letters();
  shortcuts_off = 0;
  rounds = all_rounds;
}

static void masks_were_compared(void) {
  CHECKF(masks_compared > rounds * 5, "%lu masks", masks_compared);
}

int main(int argc, char **argv) {
  if (argc > 1) rounds = (uint32_t)strtoul(argv[1], NULL, 10);
  RUN(small_alphabet, "random grammars, tiny vocabularies: engine = oracle at every step");
  RUN(many_letters, "classes, registers and differences over larger vocabularies");
  RUN(without_shortcuts, "the same without each shortcut of the walk, and without all");
  RUN(masks_were_compared, "the comparison did happen");
  printf("  %lu masks compared with the oracle\n", masks_compared);
  return tsl_test_end();
}
