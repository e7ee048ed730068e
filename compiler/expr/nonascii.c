/* nonascii.c - see nonascii.h.
 * Recursion follows the nesting of an expression, as in deriv.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/nonascii.h"

#include "compiler/expr/kind.h"

#define ALTERNATIVES_MAX 32u
#define CONJUNCTS_MAX 16u
#define TRIES_MAX 4u
#define PAIRS_MAX 96u /* ranges of characters of a part of a class */
/* in a key of known_steps: of two classes, not of a class and a byte */
#define KNOWN ((uint64_t)1 << 63)

/* How many of some characters a class has. */
typedef enum share { ALL, NO, SOME } share;

/* ---- classes --------------------------------------------------------------------------------- */

/* Does a byte from 0x80 on lead anywhere? */
static bool begins_nonascii(tsl__exprs *x, tsl__expr e) {
  tsl__reads r;
  tsl__reads_of(x, e, &r);
  if (!r.guessed) return (r.live.w[2] | r.live.w[3]) != 0;
  for (unsigned b = 0x80; b < 0x100; b++)
    if ((b == 0x80 || tsl__bytes_has(&r.edges, b)) && tsl__derive_plain(x, e, (uint8_t)b))
      return true;
  return false;
}

/* Are all texts of these bytes members? */
static bool has_row(tsl__exprs *x, tsl__expr e, const uint8_t (*row)[2], unsigned n) {
  if (n == 0) return e == TSL__EPS;
  tsl__bytes edges;
  tsl__boundaries(x, e, &edges);
  for (unsigned b = row[0][0]; b <= row[0][1]; b++) {
    if (b != row[0][0] && !tsl__bytes_has(&edges, b)) continue;
    tsl__expr d = tsl__derive_plain(x, e, (uint8_t)b);
    if (!d || !has_row(x, d, row + 1, n - 1)) return false;
  }
  return true;
}

/* Has it all non-ASCII characters? */
static bool has_all(tsl__exprs *x, tsl__expr e) {
  static const uint8_t rows[][4][2] = {
      {{0xC2, 0xDF}, {0x80, 0xBF}},
      {{0xE0, 0xE0}, {0xA0, 0xBF}, {0x80, 0xBF}},
      {{0xE1, 0xEC}, {0x80, 0xBF}, {0x80, 0xBF}},
      {{0xED, 0xED}, {0x80, 0x9F}, {0x80, 0xBF}},
      {{0xEE, 0xEF}, {0x80, 0xBF}, {0x80, 0xBF}},
      {{0xF0, 0xF0}, {0x90, 0xBF}, {0x80, 0xBF}, {0x80, 0xBF}},
      {{0xF1, 0xF3}, {0x80, 0xBF}, {0x80, 0xBF}, {0x80, 0xBF}},
      {{0xF4, 0xF4}, {0x80, 0x8F}, {0x80, 0xBF}, {0x80, 0xBF}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!has_row(x, e, rows[i], i < 1 ? 2 : i < 5 ? 3 : 4)) return false;
  return true;
}

/* How many of the characters of one class another has; both have some. */
static share share_of_pairs(const tsl__nonascii_class *has, const tsl__nonascii_class *of) {
  bool all = true, any = false;
  for (uint32_t i = 0, k = 0; i < of->count; i++) {
    uint32_t lo = of->pairs[2 * i], hi = of->pairs[2 * i + 1];
    while (k < has->count && has->pairs[2 * k + 1] < lo) k++;
    bool meets = k < has->count && has->pairs[2 * k] <= hi;
    any |= meets;
    all &= meets && has->pairs[2 * k] <= lo && hi <= has->pairs[2 * k + 1];
    if (any && !all) return SOME;
  }
  return all ? ALL : NO;
}

static share find_share(tsl__exprs *x, tsl__expr e, const tsl__nonascii_class *own,
                        const tsl__nonascii_class *nonascii) {
  if (own) return share_of_pairs(own, nonascii);
  return has_all(x, e) ? ALL : begins_nonascii(x, e) ? SOME : NO;
}

/* How many characters a class has, of those of `nonascii` if it is some of them only itself. */
static share share_of(tsl__exprs *x, tsl__expr e, const tsl__nonascii_class *own,
                      const tsl__nonascii_class *nonascii) {
  static const tsl__expr noted[] = {[ALL] = TSL__EPS, [NO] = TSL__NONE, [SOME] = UINT32_MAX};
  uint64_t key = KNOWN | (uint64_t)(own ? nonascii->e : TSL__NONE) << 31 | e;
  tsl__known_steps_make(x);
  tsl__expr known;
  if (e >> 31 || (own && !nonascii->e)) return find_share(x, e, own, nonascii);
  if (tsl__step_known(x, key, &known))
    return known == TSL__EPS ? ALL : known == TSL__NONE ? NO : SOME;
  share found = find_share(x, e, own, nonascii);
  tsl__step_remember(x, key, noted[found]);
  return found;
}

/* ---- the step -------------------------------------------------------------------------------- */

typedef struct characters {
  tsl__exprs *x;
  const tsl__nonascii_class *nonascii; /* these; NULL: those that begin with `leads` */
  /* fewer: of some of them it may be known, or not be; 0: nothing is known of any */
  uint64_t leads, fewer;
  const tsl__nonascii_class *apart; /* a class that has some of `nonascii`; NULL: none was met */
  bool frame;                       /* what is called is no part of it: it has a frame of its own */
} characters;

/* `last`: nothing follows e, so a call there is no call, as in deriv.c. */
static bool derive_part(characters *c, tsl__expr e, bool last, tsl__expr *out);

static bool derive(characters *c, tsl__expr e, tsl__expr *out) {
  return derive_part(c, e, false, out);
}

/* The larger of two sets. */
static uint64_t more_of(uint64_t a, uint64_t b) { return tsl__ones(a) < tsl__ones(b) ? b : a; }

/* A class that has all characters of some first bytes, and some of those of others. */
static bool derive_by_leads(characters *c, uint64_t all, uint64_t some, tsl__expr *out) {
  uint64_t of = c->leads, no = of & ~(all | some);
  *out = (of & ~all) == 0 ? TSL__EPS : TSL__NONE;
  if (*out || of == no) return true;
  c->fewer = more_of(of & some, more_of(of & all, no));
  if (c->fewer == of) c->fewer = 0;
  return false;
}

static bool derive_class(characters *c, tsl__expr e, tsl__expr *out) {
  const tsl__nonascii_class *own = e == c->x->any_char ? NULL : tsl__nonascii_class_of(c->x, e);
  if (own && !c->nonascii) return derive_by_leads(c, own->all, own->some, out);
  share has = e == c->x->any_char ? ALL : share_of(c->x, e, own, c->nonascii);
  *out = has == ALL ? TSL__EPS : TSL__NONE;
  if (has == SOME && own) c->apart = own;
  return has != SOME;
}

/* A byte that is read by itself: only what begins with it is not known. */
static bool not_by(characters *c, uint64_t leads) {
  return (!c->nonascii && derive_by_leads(c, 0, leads, &(tsl__expr){TSL__NONE})) ||
         (c->nonascii && !leads);
}

static uint64_t leads_of(const tsl__bytes *set) { return set->w[3] >> 2 & TSL__ALL_LEADS; }

static bool derive_seq(characters *c, tsl__node n, bool last, tsl__expr *out) {
  tsl__expr d;
  for (*out = TSL__NONE;;) {
    tsl__node head = tsl__node_at(c->x, n.a), rest = tsl__node_at(c->x, n.b);
    if (!derive(c, n.a, &d)) return false;
    if (d) *out = tsl__expr_alt(c->x, *out, tsl__expr_seq(c->x, d, n.b));
    if (!(head.flags & TSL__NULLABLE_LOW) || (c->frame && tsl__node_is_call(c->x, &head)))
      return true;
    if (rest.kind != TSL__K_SEQ) {
      if (!derive_part(c, n.b, last, &d)) return false;
      return *out = tsl__expr_alt(c->x, *out, d), true;
    }
    n = rest;
  }
}

/* A rule within a frame: its body, or nothing if it is called. */
static bool derive_rule(characters *c, const tsl__node *n, bool last, tsl__expr *out) {
  if (!c->frame) return false;
  if (!last && tsl__node_is_call(c->x, n)) return true;
  tsl__expr body = tsl__rule_body(c->x, n->a);
  if (!tsl__unfold(c->x)) return false;
  bool known = derive_part(c, body, last, out);
  c->x->depth--;
  return known;
}

static bool derive_repeat(characters *c, const tsl__node *n, tsl__expr *out) {
  if (c->frame && tsl__node_is_big(n)) return false;
  if (!derive(c, n->a, out)) return false;
  if (*out) *out = tsl__expr_seq(c->x, *out, tsl__one_fewer(c->x, n));
  return true;
}

static bool derive_alt(characters *c, tsl__expr e, const tsl__node *n, bool last, tsl__expr *out) {
  tsl__expr each[ALTERNATIVES_MAX];
  size_t count = 0;
  if (n->flags & TSL__CHAR) return derive_class(c, e, out);
  if (n->b > ALTERNATIVES_MAX) return false;
  for (uint32_t i = 0; i < n->b; i++) {
    if (!derive_part(c, tsl__list_at(c->x, n->a)[i], last, &each[count])) return false;
    count += each[count] != TSL__NONE;
  }
  *out = count == 0 ? TSL__NONE : count == 1 ? each[0] : tsl__expr_alt_n(c->x, each, count);
  return true;
}

/* One conjunct that allows no such character is enough. */
static bool derive_and(characters *c, const tsl__node *n, tsl__expr *out) {
  tsl__expr each[CONJUNCTS_MAX];
  bool known = true;
  if (n->b > CONJUNCTS_MAX) return false;
  for (uint32_t i = 0; i < n->b; i++) {
    if (!derive(c, tsl__list_at(c->x, n->a)[i], &each[i]))
      known = false;
    else if (each[i] == TSL__NONE)
      return *out = TSL__NONE, true;
  }
  if (known) *out = tsl__and_n(c->x, each, n->b);
  return known;
}

static bool step_part(void *ctx, tsl__expr e, tsl__expr *out) { return derive(ctx, e, out); }

static bool derive_strings(characters *c, const tsl__node *n, tsl__expr *out) {
  tsl__bytes first = {{0}};
  tsl__first_bytes(c->x, n, &first);
  *out = TSL__NONE;
  return not_by(c, leads_of(&first));
}

/* What only reads ASCII. */
static bool derive_native(characters *c, tsl__expr e) {
  tsl__reads r;
  tsl__reads_of(c->x, e, &r);
  return not_by(c, leads_of(&r.live));
}

static bool derive_part(characters *c, tsl__expr e, bool last, tsl__expr *out) {
  tsl__exprs *x = c->x;
  tsl__node n = tsl__node_at(x, e);
  tsl__worked(x, 1);
  *out = TSL__NONE;
  if (c->frame && n.loop) return false;
  switch ((tsl__kind)n.kind) {
  case TSL__K_BYTES: return not_by(c, leads_of(tsl__set_at(x, n.a)));
  case TSL__K_LIT: {
    tsl__bytes first = {{0}};
    tsl__bytes_add(&first, *tsl__literal_at(x, n.a));
    return not_by(c, leads_of(&first));
  }
  case TSL__K_SEQ: return derive_seq(c, n, last, out);
  case TSL__K_ALT: return derive_alt(c, e, &n, last, out);
  case TSL__K_REPEAT: return derive_repeat(c, &n, out);
  case TSL__K_RULE: return derive_rule(c, &n, last, out);
  case TSL__K_AND: return derive_and(c, &n, out);
  case TSL__K_NOT:
    if (!derive(c, n.a, out)) return false;
    *out = tsl__expr_not(x, *out);
    return true;
  case TSL__K_NATIVE: return c->frame && derive_native(c, e);
  case TSL__K_CASES: return tsl__cases_step(x, &n, c, step_part, out);
  case TSL__K_STRSET:
  case TSL__K_KEYS: return derive_strings(c, &n, out);
  case TSL__K_JSTR:
    if (!derive(c, n.a, out)) return false;
    *out = tsl__json_string_like(x, &n, *out);
    return true;
  case TSL__K_NONE:
  case TSL__K_EPS:
  case TSL__K_JESC:
  case TSL__K_JHEX: return true;
  default: return false;
  }
}

bool tsl__derive_nonascii(tsl__exprs *x, tsl__expr e, const tsl__nonascii_class *nonascii,
                          tsl__expr *out) {
  bool frame = tsl__expr_has_calls(x, e);
  characters c = {x, nonascii, TSL__ALL_LEADS, 0, NULL, frame};
  return tsl__exprs_step(x) && derive_part(&c, e, frame, out) && x->status == TSL_OK;
}

/* A part of a class. */
typedef struct part {
  uint32_t pairs[2 * PAIRS_MAX], count;
} part;

static bool add_pair(part *p, uint32_t lo, uint32_t hi) {
  if (lo > hi) return true;
  if (p->count == PAIRS_MAX) return false;
  p->pairs[2 * p->count] = lo;
  p->pairs[2 * p->count++ + 1] = hi;
  return true;
}

/* What a class has of some characters, and what not; false: too many ranges. */
static bool split(const part *of, const tsl__nonascii_class *class, part *in, part *out) {
  in->count = out->count = 0;
  for (uint32_t i = 0, k = 0; i < of->count; i++) {
    uint32_t lo = of->pairs[2 * i], hi = of->pairs[2 * i + 1];
    while (k < class->count && class->pairs[2 * k + 1] < lo) k++;
    for (uint32_t j = k; j < class->count && class->pairs[2 * j] <= hi; j++) {
      uint32_t from = class->pairs[2 * j] > lo ? class->pairs[2 * j] : lo,
               to = class->pairs[2 * j + 1] < hi ? class->pairs[2 * j + 1] : hi;
      if (!add_pair(out, lo, from - 1) || !add_pair(in, from, to)) return false;
      lo = to + 1;
    }
    if (!add_pair(out, lo, hi)) return false;
  }
  return true;
}

bool tsl__derive_nonascii_each(tsl__exprs *x, tsl__expr e, const tsl__nonascii_class *nonascii,
                               tsl__expr *out, uint32_t *n) {
  part parts[TSL__NONASCII_MAX + 1] = {{{0x80, 0xD7FF, 0xE000, 0x10FFFF}, 2}};
  uint32_t open = 1;
  bool frame = tsl__expr_has_calls(x, e);
  if (nonascii && nonascii->count > PAIRS_MAX) return false;
  if (nonascii)
    memcpy(parts[0].pairs, nonascii->pairs, 2 * nonascii->count * sizeof *nonascii->pairs),
        parts[0].count = nonascii->count;
  for (*n = 0; open && tsl__exprs_step(x);) {
    part *p = &parts[open - 1], in;
    tsl__nonascii_class these = {.pairs = p->pairs, .count = p->count};
    characters c = {x, &these, TSL__ALL_LEADS, 0, NULL, frame};
    if (derive_part(&c, e, frame, &out[*n])) {
      ++*n;
      open--;
    } else if (!c.apart || *n + open == TSL__NONASCII_MAX ||
               !split(p, c.apart, &in, &parts[open])) {
      return false;
    } else {
      *p = in;
      open++;
    }
  }
  return open == 0 && x->status == TSL_OK;
}

bool tsl__derive_leads(tsl__exprs *x, tsl__expr e, uint64_t *leads, tsl__expr *out) {
  characters c = {x, NULL, *leads, 0, NULL, false};
  for (unsigned i = 0; tsl__exprs_step(x); i++) {
    *leads = c.leads;
    c.fewer = 0;
    if (derive(&c, e, out)) return x->status == TSL_OK;
    if (!c.fewer || i == TRIES_MAX) return false;
    c.leads = c.fewer;
  }
  return false;
}
