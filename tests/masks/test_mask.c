/* test_mask.c - masks as shared bitsets and a few tokens more or less: random unions, removals and
 * marks against plain sets of tokens.
 *
 * Also checked: the lists are sorted unless they were joined, and no mask has more patches than it
 * may. `minus` names what a base has and the mask does not, or what a joined mask lists, too.
 * tests/masks/test_borrow.c tests a grammar's rows and lent masks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/matcher/grammar.h"
#include "runtime/masks/mask.h"
#include "tests/support/check.h"

#define SIZE 1000u /* tokens: past what sorts by comparing, and no multiple of 32 */
#define WORDS ((SIZE + 31) / 32)
#define MADE 400u

static tsl_vocab *vocab;
static tsl_grammar *grammar;
static tsl__space *space;
static uint64_t seed = 3;
static uint32_t below(uint32_t n) { return (uint32_t)(tsl_test_random(&seed) % n); }

static void set_up(void) {
  uint8_t bytes[SIZE * 2];
  uint32_t offsets[SIZE + 1];
  for (uint32_t i = 0; i <= SIZE; i++) {
    offsets[i] = 2 * i;
    if (i < SIZE) bytes[2 * i] = (uint8_t)(i >> 5), bytes[2 * i + 1] = (uint8_t)i;
  }
  const tsl_vocab_desc desc = {.bytes = bytes, .offsets = offsets, .size = SIZE};
  CHECK(tsl_vocab_new(&desc, NULL, &vocab, NULL) == TSL_OK &&
        tsl_grammar_regex(vocab, "a", 1, NULL, NULL, &grammar, NULL) == TSL_OK);
  space = grammar->space;
}

/* ---- sets ------------------------------------------------------------------------------------ */

typedef struct set {
  bool has[SIZE];
} set;

static set bitset_set[MADE], mask_set[MADE];
static uint32_t bitset[MADE], bitsets;
static tsl__mask mask[MADE];
static uint32_t masks;

static void join(set *a, const set *b) {
  for (uint32_t t = 0; t < SIZE; t++) a->has[t] = a->has[t] || b->has[t];
}

static void new_bitset(void) {
  uint32_t *bits = tsl__bitset_new(space, &bitset[bitsets]);
  CHECK(bits != NULL);
  set *s = &bitset_set[bitsets++];
  uint32_t share = 1 + below(6);
  for (uint32_t t = 0; bits && t < SIZE; t++)
    if ((s->has[t] = below(share + 1) == 0)) bits[t / 32] |= (uint32_t)1 << t % 32;
}

/* ---- one mask gathered ----------------------------------------------------------------------- */

/* Few tokens, in a narrow place or anywhere, so that some are met twice. */
static uint32_t some_tokens(tsl_token *out, uint32_t most) {
  uint32_t n = below(most), from = below(SIZE - 60), width = below(2) ? 60 : SIZE - from;
  for (uint32_t i = 0; i < n; i++) out[i] = from + below(width);
  return n;
}

static void mask_piece(tsl__gather *g, set *s) {
  uint32_t which = masks - 1 - below(masks < 12 ? masks : 12);
  CHECK(tsl__gather_mask(space, g, mask[which]));
  join(s, &mask_set[which]);
}

static void piece(tsl__gather *g, set *s) {
  tsl_token tokens[300];
  uint32_t marks[WORDS] = {0}, n = some_tokens(tokens, below(6) ? 12 : 300), which;
  switch (below(6)) {
  case 0:
    which = below(bitsets);
    CHECK(tsl__gather_base(space, g, bitset[which]));
    join(s, &bitset_set[which]);
    break;
  case 1:
    for (uint32_t i = 0; i < n && i < 20; i++) {
      CHECK(tsl__gather_remove(space, g, tokens[i]));
      s->has[tokens[i]] = false;
    }
    break;
  case 2:
    for (uint32_t i = 0; i < n; i++)
      marks[tokens[i] / 32] |= (uint32_t)1 << tokens[i] % 32, s->has[tokens[i]] = true;
    CHECK(tsl__gather_bits(space, g, marks));
    break;
  case 3:
    CHECK(tsl__gather_tokens(space, g, tokens, n));
    for (uint32_t i = 0; i < n; i++) s->has[tokens[i]] = true;
    break;
  default:
    if (masks) mask_piece(g, s);
  }
}

static bool ascending(const uint32_t *at, uint32_t n) {
  for (uint32_t i = 1; i < n; i++)
    if (at[i - 1] >= at[i]) return false;
  return true;
}

static bool in_a_base(const tsl__mask_rec *r, tsl_token t) {
  for (uint32_t i = 0; i < r->base_count; i++)
    if (tsl__bitset_at(space, tsl__mask_bases(r)[i])[t / 32] >> t % 32 & 1) return true;
  return false;
}

static void check_mask(tsl__mask m, const set *s) {
  const tsl__mask_rec *r = tsl__mask_at(space, m);
  uint32_t words[WORDS];
  tsl__mask_write(space, tsl__mask_at(space, m), words);
  unsigned wrong = 0, odd = 0;
  for (tsl_token t = 0; t < SIZE; t++)
    wrong += tsl__mask_has(space, m, t) != s->has[t],
        wrong += (words[t / 32] >> t % 32 & 1) != s->has[t];
  CHECKF(!wrong, "%u answers of mask %u are wrong", wrong, m);
  CHECK(words[WORDS - 1] >> SIZE % 32 == 0);
  tsl_token minus[TSL__PATCH_MAX], plus[TSL__JOINED_MAX];
  tsl__patches_read(tsl__mask_minus(r), minus);
  tsl__patches_read(tsl__mask_plus(r), plus);
  CHECK(ascending(tsl__mask_bases(r), r->base_count) && ascending(minus, r->minus_count) &&
        (r->joined || ascending(plus, r->plus_count)));
  CHECK(r->joined ? r->minus_count <= TSL__PATCH_MAX && r->plus_count <= TSL__JOINED_MAX
                  : r->minus_count + r->plus_count <= TSL__PATCH_MAX);
  for (uint32_t i = 0; i < r->minus_count; i++)
    odd += (s->has[minus[i]] && !r->joined) || !in_a_base(r, minus[i]);
  CHECKF(!odd, "%u tokens of minus are allowed, or in no base", odd);
}

static void random_masks(void) {
  unsigned with_minus = 0, with_bases = 0, joined = 0, both = 0;
  for (int i = 0; i < 12; i++) new_bitset();
  while (masks < MADE) {
    tsl__gather g = {0};
    set s = {{false}};
    uint32_t pieces = 1 + below(5);
    bool of_masks = masks && below(3) == 0, position = of_masks || below(2);
    for (uint32_t i = 0; i < pieces; i++) (of_masks ? mask_piece : piece)(&g, &s);
    tsl__mask m = position ? tsl__gather_joined(space, &g) : tsl__gather_done(space, &g);
    tsl__gather_free(space, &g);
    check_mask(m, &s);
    with_minus += tsl__mask_at(space, m)->minus_count > 0;
    with_bases += tsl__mask_at(space, m)->base_count > 1;
    joined += tsl__mask_at(space, m)->joined;
    both += tsl__mask_at(space, m)->joined && tsl__mask_at(space, m)->minus_count;
    mask[masks] = m;
    mask_set[masks++] = s;
  }
  printf("  %u with minus, %u with several bases, %u joined, %u of these with minus\n", with_minus,
         with_bases, joined, both);
  CHECK(space->status == TSL_OK && with_minus > 20 && with_bases > 20 && joined > 20 && both > 4);
}

/* The same pieces give the same number, and what was gathered alone is the answer itself. */
static void shared(void) {
  for (uint32_t i = 0; i < masks; i++) {
    tsl__gather g = {0};
    CHECK(tsl__gather_mask(space, &g, mask[i]) && tsl__gather_mask(space, &g, mask[i]) &&
          tsl__gather_done(space, &g) == mask[i]);
    tsl__gather_free(space, &g);
  }
  uint32_t before = tsl__space_count(space, masks);
  for (uint32_t i = 0; i + 1 < masks; i++) {
    tsl__mask both[2];
    for (int k = 0; k < 2; k++) {
      tsl__gather g = {0};
      CHECK(tsl__gather_mask(space, &g, mask[i]) && tsl__gather_mask(space, &g, mask[i + 1]));
      both[k] = tsl__gather_done(space, &g);
      tsl__gather_free(space, &g);
    }
    /* of too many patches a bitset is made, which is one with any equal one */
    CHECK(both[0] == both[1]);
  }
  CHECK(tsl__space_count(space, masks) < before + masks);
}

/* Words in room of their own: equal ones get one number, and the room is used again. */
static void equal_bitsets(void) {
  uint32_t before = tsl__space_count(space, bitsets), first = 0, *room = NULL;
  for (unsigned i = 0; i < 4; i++) {
    uint32_t *bits = tsl__bits_room(space), number = 0;
    CHECK(bits && (i == 0 || i == 3 || !room || bits == room));
    if (!bits) return;
    memset(bits, i == 3 ? 0x11 : 0x77, WORDS * sizeof *bits);
    CHECK((number = tsl__bitset_settle(space, bits)));
    if (i == 0) first = number;
    CHECK((number == first) == (i < 3));
    room = i ? bits : NULL;
  }
  CHECK(tsl__space_count(space, bitsets) == before + 2);
  tsl__gather g = {0};
  uint32_t *few = tsl__bits_room(space);
  if (!few) return;
  memset(few, 0, WORDS * sizeof *few);
  tsl__mask_bit_set(few, 7);
  CHECK(tsl__gather_room(space, &g, few) && g.plus.n == 1 && g.plus.at[0] == 7);
  tsl__gather_free(space, &g);
  CHECK(tsl__space_count(space, bitsets) == before + 2);
}

/* ---- stretches ------------------------------------------------------------------------------- */

#define LARGE 200000u /* tokens: in four stretches */

static void large_vocabulary(tsl_vocab **v, tsl_grammar **g) {
  uint8_t *bytes = malloc(LARGE * 3u);
  uint32_t *offsets = malloc((LARGE + 1) * sizeof *offsets);
  for (uint32_t i = 0; i <= LARGE; i++) {
    offsets[i] = 3 * i;
    for (uint32_t k = 0; k < 3 && i < LARGE; k++) bytes[3 * i + k] = (uint8_t)(i >> 8 * k);
  }
  const tsl_vocab_desc desc = {.bytes = bytes, .offsets = offsets, .size = LARGE};
  CHECK(tsl_vocab_new(&desc, NULL, v, NULL) == TSL_OK &&
        tsl_grammar_regex(*v, "a", 1, NULL, NULL, g, NULL) == TSL_OK);
  free(offsets);
  free(bytes);
}

/* A mask of these tokens (sorted), more than `all` has if they are no `minus`. Its number. */
static tsl__mask patched(tsl__space *s, uint32_t all, const tsl_token *tokens, uint32_t n,
                         bool minus) {
  tsl__gather g = {0};
  if (minus)
    CHECK(tsl__gather_base(s, &g, all) && tsl__gather_remove_all(s, &g, tokens, n));
  else
    CHECK(tsl__gather_tokens(s, &g, tokens, n));
  tsl__mask m = tsl__gather_done(s, &g);
  tsl__gather_free(s, &g);
  return m;
}

/* Half of these tokens, and of the others neighbours. */
static tsl__mask all_but(tsl__space *s, uint32_t base, const tsl_token *tokens, uint32_t n) {
  tsl_token gone[60];
  for (uint32_t i = 0; i < n; i++) gone[i] = tokens[i] ^ (i & 1);
  return patched(s, base, gone, (uint32_t)tsl__sort_unique(gone, n), true);
}

/* Masks of tokens in some of the stretches, joined, and of every other round one that has all but
 * such: what they have together. */
static unsigned joined_in_stretches(tsl__space *s, uint32_t base) {
  static uint32_t words[(LARGE + 31) / 32], all[(LARGE + 31) / 32];
  unsigned wrong = 0;
  for (uint32_t round = 0; round < 100; round++) {
    tsl__gather g = {0};
    tsl__mask lacking = 0;
    memset(all, 0, sizeof all);
    for (uint32_t part = 2 + below(6); part; part--) {
      tsl_token tokens[60];
      uint32_t n = 1 + below(60), from = below(4) * 50000, width = below(2) ? 50000 : LARGE - from;
      for (uint32_t i = 0; i < n; i++)
        tokens[i] = from + below(width), tsl__mask_bit_set(all, tokens[i]);
      n = (uint32_t)tsl__sort_unique(tokens, n);
      if (part == 2 && round % 2) lacking = all_but(s, base, tokens, n);
      if (part == 1)
        tsl__gather_token(s, &g, tokens[0]),
            tsl__gather_mask(s, &g, patched(s, 0, tokens, n, false));
      else
        tsl__gather_mask(s, &g, patched(s, 0, tokens, n, false));
    }
    if (lacking) {
      tsl__gather_mask(s, &g, lacking);
      tsl__mask_write(s, tsl__mask_at(s, lacking), words);
      for (uint32_t w = 0; w < sizeof words / sizeof *words; w++) all[w] |= words[w];
    }
    tsl__mask m = tsl__gather_joined(s, &g);
    tsl__gather_free(s, &g);
    tsl__mask_write(s, tsl__mask_at(s, m), words);
    wrong += !tsl__mask_at(s, m)->joined || memcmp(words, all, sizeof all);
    for (uint32_t i = 0; i < 200; i++) {
      tsl_token t = below(LARGE);
      wrong += tsl__mask_has(s, m, t) != tsl__mask_bit(all, t);
    }
    for (tsl_token t = 0; t < LARGE; t++)
      if (tsl__mask_bit(all, t)) wrong += !tsl__mask_has(s, m, t);
  }
  return wrong;
}

/* Lists whose tokens lie in some of the stretches, at their ends or anywhere. */
static void in_stretches(void) {
  static const tsl_token ends[] = {0, 65535, 65536, 131071, 131072, 196607, 196608, LARGE - 1};
  static uint32_t words[(LARGE + 31) / 32];
  tsl_vocab *v = NULL;
  tsl_grammar *g = NULL;
  large_vocabulary(&v, &g);
  uint32_t all, wrong = 0;
  uint32_t *bits = tsl__bitset_new(g->space, &all);
  for (uint32_t t = 0; bits && t < LARGE; t++) bits[t / 32] |= (uint32_t)1 << t % 32;
  for (uint32_t round = 0; bits && round < 256 + 100; round++) {
    tsl_token tokens[TSL__PATCH_MAX], read[TSL__PATCH_MAX];
    uint32_t n = 0;
    for (uint32_t i = 0; i < 8; i++)
      if (round >> i & 1 || round >= 256) tokens[n++] = round < 256 ? ends[i] : below(LARGE);
    while (round >= 256 && n < TSL__PATCH_MAX && below(60)) tokens[n++] = below(LARGE);
    n = (uint32_t)tsl__sort_unique(tokens, n);
    for (int minus = 0; minus < 2 && n; minus++) {
      tsl__mask m = patched(g->space, all, tokens, n, minus);
      const tsl__mask_rec *r = tsl__mask_at(g->space, m);
      wrong += patched(g->space, all, tokens, n, minus) != m || r->minus_count != (minus ? n : 0) ||
               r->plus_count != (minus ? 0 : n);
      wrong += memcmp(tsl__patches_read(minus ? tsl__mask_minus(r) : tsl__mask_plus(r), read),
                      tokens, n * sizeof *tokens) != 0;
      tsl__mask_write(g->space, tsl__mask_at(g->space, m), words);
      wrong += tsl_mask_count(words, LARGE) != (minus ? LARGE - n : n);
      for (uint32_t i = 0; i < n; i++)
        wrong += tsl__mask_has(g->space, m, tokens[i]) == minus ||
                 tsl_mask_has(words, tokens[i]) == minus;
      for (uint32_t i = 0; i < 8; i++)
        wrong += tsl__mask_has(g->space, m, ends[i]) != tsl_mask_has(words, ends[i]);
    }
  }
  wrong += joined_in_stretches(g->space, all);
  CHECKF(bits && !wrong, "%u answers are wrong", wrong);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

int main(void) {
  set_up();
  RUN(random_masks, "gathered from pieces: the tokens that sets have");
  RUN(shared, "equal pieces, equal numbers");
  RUN(equal_bitsets, "equal words, one bitset");
  RUN(in_stretches, "lists of tokens past 65,535");
  tsl_grammar_release(grammar);
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
