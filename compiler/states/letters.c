/* letters.c - see letters.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/states/letters.h"

#include "compiler/expr/nonascii.h"

#define ROUNDS_MAX 4u
#define COME_BACK_DEPTH 8u /* of what is looked at for loops */
/* of work for one exploration: what costs as much as a walk without letters */
#define STEPS_MAX 64u
/* explorations in a row that were given up, each of which halves what the next may take */
#define VAIN_MAX 3u
#define FOLLOWED_MAX 256u /* of such work, to know by which bytes letters are left */
/* and of so many states: letters that meet more are seldom known in full */
#define FOLLOWED_STATES 16u
#define TYPICAL 'e' /* a letter that most classes have */
/* bytes that leave letters that never stop, up to which these help: with more of them most nodes
 * are entered */
#define EXITS_MAX 32u
#define NONASCII_TRIES 4u /* classes of non-ASCII characters that are tried */

/* Where a frame is after a byte. NONE too where it is in several places then, or a loop is begun,
 * of which nothing is known here. What calls may have a rule for its last part, which is
 * unfolded. */
static tsl__expr derive_frame(tsl__exprs *x, tsl__expr e, uint8_t byte) {
  tsl__parts parts;
  if (!tsl__expr_has_calls(x, e)) return tsl__derive_plain(x, e, byte);
  tsl__derive(x, e, byte, TSL__PHASE_LOW, &parts);
  return parts.n == 1 && parts.at[0].count == TSL__COUNT_CLEAR ? parts.at[0].e : TSL__NONE;
}

/* Where each byte below `end` leads, of e that reads so. Those that are alike are tried once. */
static void derive_anew(tsl__exprs *x, tsl__expr e, const tsl__reads *r, unsigned end,
                        tsl__expr *to) {
  tsl__alike a;
  uint8_t alike[TSL__ALIKE_MAX];
  bool known = !tsl__expr_has_calls(x, e) && tsl__alike_of(x, e, &r->edges, &a);
  if (known) tsl__alike_firsts(&a, alike);
  for (unsigned b = 0, i = 0, next; b < end; b = next, i++) {
    unsigned first = known ? a.lower[alike[i]] : b;
    tsl__expr d = !tsl__bytes_has(&r->live, b) ? TSL__NONE
                  : first < b                  ? to[first]
                                               : derive_frame(x, e, (uint8_t)b);
    next = tsl__edge_from(&r->edges, b + 1);
    if (next > end) next = end;
    TSL__AT_ONCE
    for (unsigned k = b; k < next; k++) to[k] = d;
  }
}

/* The same, or what is remembered of it. */
static void derive_read(tsl__exprs *x, tsl__expr e, const tsl__reads *r, unsigned end,
                        tsl__expr *to) {
  if (!tsl__expr_has_calls(x, e)) {
    derive_anew(x, e, r, end, to);
    return;
  }
  if (!x->frames_read &&
      !(x->frames_read = tsl__alloc_zero(&x->alloc, TSL__FRAMES_READ * sizeof *x->frames_read))) {
    tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
    memset(to, 0, end * sizeof *to);
    return;
  }
  for (unsigned i = 0; i < TSL__FRAMES_READ; i++)
    if (x->frames_read[i].e == e && x->frames_read[i].end >= end) {
      memcpy(to, x->frames_read[i].to, end * sizeof *to);
      return;
    }
  derive_anew(x, e, r, end, to);
  if (x->status != TSL_OK) return;
  tsl__frame_read *known = &x->frames_read[x->frames_next++ % TSL__FRAMES_READ];
  known->e = e;
  known->end = end;
  memcpy(known->to, to, end * sizeof *to);
}

static void add_live(const tsl__expr *to, unsigned from, tsl__bytes *out) {
  for (unsigned b = from; b < 256; b++)
    if (to[b]) tsl__bytes_add(out, b);
}

/* The same for all bytes below `end`, which are zeros from there on; the bytes that lead anywhere
 * are added to `live`. */
static void derive_each(tsl__exprs *x, tsl__expr e, unsigned end, tsl__expr *to, tsl__bytes *live) {
  tsl__reads r;
  tsl__reads_of(x, e, &r);
  derive_read(x, e, &r, end, to);
  add_live(to, 0, live);
  if (tsl__expr_has_calls(x, e)) tsl__bytes_or(live, &r.live);
}

/* The bytes that lead anywhere. */
void tsl__live_bytes(tsl__exprs *x, tsl__expr e, tsl__bytes *out) {
  tsl__expr to[256];
  tsl__reads r;
  tsl__reads_of(x, e, &r);
  *out = r.live;
  if (!r.guessed || tsl__expr_has_calls(x, e)) return;
  memset(out, 0, sizeof *out);
  derive_read(x, e, &r, 256, to);
  add_live(to, 0, out);
}

/* ---- what comes back ------------------------------------------------------------------------- */

static bool may_come_back(const tsl__exprs *x, tsl__expr e, unsigned depth) {
  for (;;) {
    tsl__node n = tsl__node_at(x, e);
    if (n.flags & (TSL__CHAR | TSL__FINITE)) return false;
    switch ((tsl__kind)n.kind) {
    case TSL__K_EPS:
    case TSL__K_BYTES:
    case TSL__K_LIT:
    case TSL__K_STRSET: return false;
    case TSL__K_SEQ:
      if (depth == COME_BACK_DEPTH || may_come_back(x, n.a, depth + 1)) return true;
      if (!tsl__expr_nullable(x, n.a)) return false;
      e = n.b;
      continue;
    case TSL__K_ALT:
      for (uint32_t i = 0; i < n.b; i++)
        if (depth == COME_BACK_DEPTH || may_come_back(x, tsl__list_at(x, n.a)[i], depth + 1))
          return true;
      return false;
    case TSL__K_REPEAT:
      if (n.c == TSL__INF) return true;
      e = n.a;
      continue;
    case TSL__K_NATIVE: return !tsl__native_at(x, n.a)->ops->live;
    case TSL__K_RULE:
      if (depth == COME_BACK_DEPTH || tsl__rule_at(x, n.a)->body == TSL__NONE) return true;
      depth++;
      e = tsl__rule_at(x, n.a)->body;
      continue;
    default: return true;
    }
  }
}

bool tsl__may_come_back(const tsl__exprs *x, tsl__expr e) { return may_come_back(x, e, 0); }

/* ---- all non-ASCII characters ---------------------------------------------------------------- */

static void reach(tsl__reached *r, tsl__expr e) {
  if (e == TSL__NONE) {
    r->dead = true;
    return;
  }
  for (unsigned i = 0; i < r->n; i++)
    if (r->at[i] == e) return;
  if (r->n == (r->most ? r->most : TSL__EXPLORED_MAX))
    r->full = true;
  else
    r->at[r->n++] = e;
}

/* All texts of some bytes, from `at` on. `known`: the edges of e, or NULL. */
static void spread(tsl__exprs *x, tsl__expr e, const tsl__bytes *known, const uint8_t *lo,
                   const uint8_t *hi, unsigned at, unsigned n, tsl__reached *out) {
  if (x->steps > out->last) out->full = true;
  if (at == n || out->full || out->dead) {
    reach(out, e);
    return;
  }
  tsl__bytes edges;
  if (known)
    edges = *known;
  else
    tsl__boundaries(x, e, &edges);
  for (unsigned b = lo[at]; b <= hi[at] && !out->full && !out->dead; b++) {
    if (b != lo[at] && !tsl__bytes_has(&edges, b)) continue;
    tsl__expr d = derive_frame(x, e, (uint8_t)b);
    if (d)
      spread(x, d, NULL, lo, hi, at + 1, n, out);
    else
      out->dead = true;
  }
}

/* Is any text of these bytes legal first? Follows all of them. */
static bool any_row(tsl__exprs *x, tsl__expr e, const uint8_t *lo, const uint8_t *hi, unsigned at,
                    unsigned n) {
  if (at == n) return true;
  tsl__bytes edges;
  tsl__boundaries(x, e, &edges);
  for (unsigned b = lo[at]; b <= hi[at]; b++) {
    if (b != lo[at] && !tsl__bytes_has(&edges, b)) continue;
    tsl__expr d = tsl__derive_plain(x, e, (uint8_t)b);
    if (d && any_row(x, d, lo, hi, at + 1, n)) return true;
  }
  return false;
}

/* The first code point of lo … hi (from 0x80 on) at which its UTF-8 stops being one row of byte
 * ranges. hi + 1: it is one. */
static uint32_t row_end(uint32_t lo, uint32_t hi) {
  unsigned length = lo < 0x800 ? 2 : lo < 0x10000 ? 3 : 4;
  uint32_t last = length == 2 ? 0x7FF : length == 3 ? 0xFFFF : 0x10FFFF;
  if (hi > last) hi = last;
  for (unsigned k = 1; k < length; k++) {
    uint32_t low = ((uint32_t)1 << (6 * k)) - 1;
    if (lo >> (6 * k) == hi >> (6 * k)) continue;
    if (lo & low)
      hi = lo | low;
    else if ((hi & low) != low)
      hi = (hi & ~low) - 1;
  }
  return hi + 1;
}

static void spread_range(tsl__exprs *x, tsl__expr e, const tsl__bytes *edges, uint32_t lo,
                         uint32_t hi, tsl__reached *out) {
  for (uint32_t next; lo <= hi && !out->dead && !out->full; lo = next) {
    uint8_t a[4], b[4];
    next = row_end(lo, hi);
    unsigned n = tsl__utf8_encode(lo, a);
    tsl__utf8_encode(next - 1, b);
    spread(x, e, edges, a, b, 0, n, out);
  }
}

/* Where the non-ASCII characters of a class (NULL: all of them) lead; dead if some are illegal.
 * `edges`: those of e; NULL: they are not known yet. */
static void spread_nonascii(tsl__exprs *x, tsl__expr e, const tsl__bytes *edges,
                            const tsl__nonascii_class *nonascii, tsl__reached *out) {
  static const uint32_t all[] = {0x80, 0xD7FF, 0xE000, 0x10FFFF};
  const uint32_t *pairs = nonascii ? nonascii->pairs : all;
  tsl__expr to[TSL__NONASCII_MAX];
  uint32_t n = 1;
  if (tsl__derive_nonascii(x, e, nonascii, to) ||
      tsl__derive_nonascii_each(x, e, nonascii, to, &n)) {
    for (uint32_t i = 0; i < n; i++) reach(out, to[i]);
    return;
  }
  for (uint32_t i = 0; i < (nonascii ? nonascii->count : 2) && !out->dead && !out->full; i++)
    spread_range(x, e, edges, pairs[2 * i], pairs[2 * i + 1], out);
}

/* Is any character of lo … hi legal first? */
static bool meets_range(tsl__exprs *x, tsl__expr e, uint32_t lo, uint32_t hi) {
  for (uint32_t next; lo <= hi; lo = next) {
    uint8_t a[4], b[4];
    next = row_end(lo, hi);
    unsigned n = tsl__utf8_encode(lo, a);
    tsl__utf8_encode(next - 1, b);
    if (any_row(x, e, a, b, 0, n)) return true;
  }
  return false;
}

/* ---- sets of letters ------------------------------------------------------------------------- */

static void drop_nonascii(tsl__letter_set *s) {
  s->bytes.w[2] = s->bytes.w[3] = 0;
  s->nonascii = NULL;
}
static bool same_nonascii(const tsl__nonascii_class *a, const tsl__nonascii_class *b) {
  return a == b || (a && b && a->count == b->count &&
                    !memcmp(a->pairs, b->pairs, 2 * a->count * sizeof *a->pairs));
}

bool tsl__letters_within(const tsl__letter_set *a, const tsl__letter_set *b) {
  if ((a->bytes.w[0] & ~b->bytes.w[0]) || (a->bytes.w[1] & ~b->bytes.w[1])) return false;
  return !tsl__letters_nonascii(a) ||
         (tsl__letters_nonascii(b) && (!b->nonascii || same_nonascii(a->nonascii, b->nonascii)));
}

/* Can e begin with one of these letters? The bytes that it can begin with are added to `all`. */
bool tsl__begins_with(tsl__exprs *x, tsl__expr e, const tsl__letter_set *letters, tsl__bytes *all) {
  tsl__bytes first;
  tsl__live_bytes(x, e, &first);
  for (int i = 0; i < 4; i++) all->w[i] |= first.w[i];
  if ((first.w[0] & letters->bytes.w[0]) || (first.w[1] & letters->bytes.w[1])) return true;
  if (!tsl__letters_nonascii(letters) || !(first.w[2] | first.w[3])) return false;
  const tsl__nonascii_class *nonascii = letters->nonascii;
  for (uint32_t i = 0; nonascii && i < nonascii->count; i++)
    if (meets_range(x, e, nonascii->pairs[2 * i], nonascii->pairs[2 * i + 1])) return true;
  return !nonascii;
}

/* ---- exploring ------------------------------------------------------------------------------- */

/* Follow the letters from every state reached, up to `most`; drop from `letters` what dies. Returns
 * true if the set is closed now; r->full: there is too much to follow, or step `last` is behind. */
static bool close_under(tsl__exprs *x, tsl__expr e, tsl__letter_set *letters, unsigned most,
                        uint64_t last, tsl__reached *r) {
  tsl__letter_set kept = *letters;
  *r = (tsl__reached){.n = 1, .at = {e}, .last = last};
  for (unsigned i = 0; i < r->n && !r->full; i++) {
    tsl__expr to[256];
    tsl__reads reads;
    if ((r->full = i == most || x->steps > last)) break;
    if (!tsl__letters_enough(&kept)) break;
    tsl__reads_of(x, r->at[i], &reads);
    derive_read(x, r->at[i], &reads, tsl__letters_nonascii(&kept) ? 0x80 : 256, to);
    if (tsl__expr_has_calls(x, r->at[i])) tsl__bytes_or(&r->live, &reads.live);
    for (unsigned b = 0, end; b < 0x80; b = end) {
      tsl__bytes row = {{0}};
      for (end = b + 1; end < 0x80 && to[end] == to[b]; end++) {
      }
      tsl__bytes_add_range(&row, b, end - 1);
      if (to[b]) tsl__bytes_or(&r->live, &row);
      if (!tsl__bytes_meet(&kept.bytes, &row)) continue;
      if (to[b])
        reach(r, to[b]);
      else
        kept.bytes.w[0] &= ~row.w[0], kept.bytes.w[1] &= ~row.w[1];
    }
    if (!tsl__letters_nonascii(&kept)) {
      add_live(to, 0x80, &r->live);
      continue;
    }
    tsl__reached nonascii = *r;
    nonascii.dead = false;
    spread_nonascii(x, r->at[i], &reads.edges, kept.nonascii, &nonascii);
    if (nonascii.dead)
      drop_nonascii(&kept);
    else
      *r = nonascii;
  }
  bool closed = !r->full && tsl__bytes_equal(&kept.bytes, &letters->bytes);
  *letters = kept;
  return closed;
}

bool tsl__letters_follow(tsl__exprs *x, tsl__expr e, const tsl__letter_set *letters,
                         tsl__reached *r) {
  tsl__letter_set closed = *letters;
  return close_under(x, e, &closed, FOLLOWED_STATES, x->steps + FOLLOWED_MAX, r);
}

typedef enum explored { CLOSED, TOO_FEW, TOO_MANY_STATES } explored;

/* Look for a closed set within `letters`. */
static explored explore(tsl__exprs *x, tsl__expr e, tsl__letter_set *letters, uint64_t last,
                        tsl__reached *r) {
  for (unsigned round = 0; round < ROUNDS_MAX && tsl__letters_enough(letters); round++) {
    if (close_under(x, e, letters, TSL__EXPLORED_MAX, last, r)) return CLOSED;
    if (r->full) return TOO_MANY_STATES;
  }
  return TOO_FEW;
}

/* The letters that lead back to e itself: closed, whatever else there is. */
static bool letters_self(tsl__exprs *x, tsl__expr e, tsl__letter_set *letters, tsl__reached *r) {
  tsl__expr to[256];
  tsl__reads reads;
  *r = (tsl__reached){.n = 1, .at = {e}, .last = UINT64_MAX};
  tsl__reads_of(x, e, &reads);
  derive_read(x, e, &reads, 256, to);
  add_live(to, 0, &r->live);
  if (tsl__expr_has_calls(x, e)) tsl__bytes_or(&r->live, &reads.live);
  for (unsigned b = 0; b < 0x80; b++)
    if (to[b] != e) letters->bytes.w[b >> 6] &= ~((uint64_t)1 << (b & 63));
  if (tsl__letters_nonascii(letters)) spread_nonascii(x, e, &reads.edges, letters->nonascii, r);
  if (r->dead || r->full || r->n > 1) drop_nonascii(letters);
  r->n = 1;
  return tsl__letters_enough(letters);
}

/* The answer for one expression holds for all that were reached from it, and most of these are
 * requested next. `letters` NULL: exploring was given up. After a failure nothing is kept. */
static void keep(tsl__exprs *x, const tsl__reached *r, bool json, const tsl__letter_set *letters) {
  if (x->status != TSL_OK) return;
  if (!x->explored &&
      !(x->explored = tsl__alloc_zero(&x->alloc, TSL__EXPLORED * sizeof *x->explored))) {
    tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
    return;
  }
  tsl__explored *k = &x->explored[x->explored_next++ % TSL__EXPLORED];
  if (letters)
    x->explored_vainly = 0;
  else if (x->explored_vainly < VAIN_MAX)
    x->explored_vainly++;
  *k = (tsl__explored){.n = r->n, .json = json, .live = r->live};
  memcpy(k->at, r->at, r->n * sizeof *r->at);
  if (letters)
    k->letters = letters->bytes, k->nonascii = letters->nonascii ? letters->nonascii->e : TSL__NONE;
}

static const tsl__explored *find_kept(const tsl__exprs *x, tsl__expr e, bool json) {
  for (unsigned i = 0; x->explored && i < TSL__EXPLORED; i++)
    for (unsigned j = 0; j < x->explored[i].n; j++)
      if (x->explored[i].at[j] == e && x->explored[i].json == json) return &x->explored[i];
  return NULL;
}

/* Is a loop among what e may be? */
static bool may_be(const tsl__exprs *x, tsl__expr e, tsl__expr loop, unsigned depth) {
  tsl__node n = tsl__node_at(x, e);
  if (e == loop) return true;
  if (n.kind == TSL__K_SEQ)
    return tsl__expr_nullable(x, n.a) && depth && may_be(x, n.b, loop, depth - 1);
  for (uint32_t i = 0; n.kind == TSL__K_ALT && depth && i < n.b; i++)
    if (may_be(x, tsl__list_at(x, n.a)[i], loop, depth - 1)) return true;
  return false;
}

bool tsl__nonascii_come_back(tsl__exprs *x, tsl__expr loop) {
  for (unsigned i = 0; i < TSL__LOOPS_TRIED; i++)
    if (x->loops[i].e == loop) return x->loops[i].back;
  tsl__reached r = {.last = UINT64_MAX};
  spread_nonascii(x, loop, NULL, NULL, &r);
  bool back = !r.dead && !r.full && x->status == TSL_OK;
  for (unsigned i = 0; i < r.n && back; i++) back = may_be(x, r.at[i], loop, COME_BACK_DEPTH);
  unsigned next = x->loops_next++ % TSL__LOOPS_TRIED;
  x->loops[next].e = loop;
  x->loops[next].back = back;
  return back;
}

/* Do all non-ASCII characters of a class lead there? False too if it is not known at once. Where a
 * class stands among other alternatives, and something is called beside it, its bytes are followed:
 * of all characters alone, until one leads elsewhere. */
static bool lead_to(tsl__exprs *x, tsl__expr e, const tsl__nonascii_class *nonascii, tsl__expr to) {
  tsl__expr there;
  if (tsl__derive_nonascii(x, e, nonascii, &there)) return there == to;
  if (nonascii || !tsl__expr_has_calls(x, e)) return false;
  tsl__reached r = {.n = 1, .at = {to}, .most = 1, .last = UINT64_MAX};
  spread_nonascii(x, e, NULL, nonascii, &r);
  return !r.dead && !r.full;
}

/* A class of non-ASCII characters that lead from two expressions to the second one: all, or one
 * that the grammar mentions. */
static bool nonascii_next(tsl__exprs *x, tsl__expr e, tsl__expr next, tsl__letter_set *letters) {
  unsigned tried = 0;
  letters->nonascii = NULL;
  if (lead_to(x, next, NULL, next)) return lead_to(x, e, NULL, next);
  for (const tsl__exprs *layer = x; layer; layer = layer->parent)
    for (size_t i = 0; i < layer->nonascii_sets.n && tried < NONASCII_TRIES; i++) {
      letters->nonascii = &layer->nonascii_sets.at[i];
      if (tsl__nonascii_count(letters->nonascii) < TSL__NONASCII_MIN) continue;
      tried++;
      if (lead_to(x, next, letters->nonascii, next)) return lead_to(x, e, letters->nonascii, next);
    }
  return false;
}

/* The letters that lead to one other expression, and from there back to it: as in [a-z].*, or where
 * a word begins. */
static bool letters_next(tsl__exprs *x, tsl__expr e, tsl__expr next, tsl__letter_set *letters,
                         tsl__reached *r) {
  tsl__expr to[256], then[256];
  if (next == TSL__NONE || next == e ||
      (tsl__letters_nonascii(letters) && !nonascii_next(x, e, next, letters)))
    return false;
  unsigned end = tsl__letters_nonascii(letters) ? 0x80 : 256;
  memset(to, 0, sizeof to);
  memset(then, 0, sizeof then);
  *r = (tsl__reached){.n = 2, .at = {e, next}, .last = UINT64_MAX};
  derive_each(x, e, end, to, &r->live);
  derive_each(x, next, end, then, &r->live);
  for (unsigned b = 0; b < 0x80; b++)
    if (to[b] != next || then[b] != next) letters->bytes.w[b >> 6] &= ~((uint64_t)1 << (b & 63));
  return tsl__letters_enough(letters);
}

/* Does e begin with no calls but those that `as` begins with? */
static bool calls_no_more(tsl__exprs *x, tsl__expr e, tsl__expr as) {
  tsl__calls own = {0}, known = {0};
  if (e == as || !tsl__expr_has_calls(x, e)) return true;
  tsl__calls_of(x, e, TSL__PHASE_LOW, &own);
  tsl__calls_of(x, as, TSL__PHASE_LOW, &known);
  bool no_more = true;
  for (size_t i = 0; i < own.n; i++) {
    size_t k = 0;
    while (k < known.n && known.at[k].callee != own.at[i].callee) k++;
    no_more &= k < known.n;
  }
  tsl__vec_free(&x->alloc, &own);
  tsl__vec_free(&x->alloc, &known);
  return no_more;
}

/* Does an expression go on with such letters for ever, and begin with no calls but those of
 * `next`? */
static bool goes_on(tsl__exprs *x, tsl__expr e, const tsl__letter_set *letters, tsl__expr next) {
  tsl__letter_set own;
  uint32_t need;
  return e && tsl__letters_endless(x, e, &own, &need, 0) && tsl__letters_within(letters, &own) &&
         calls_no_more(x, e, next);
}

/* Do all non-ASCII characters of a class lead to what goes on with the class? */
static bool nonascii_go_on(tsl__exprs *x, tsl__expr e, const tsl__bytes *edges,
                           const tsl__letter_set *class, tsl__expr next) {
  tsl__reached to = {.last = UINT64_MAX};
  spread_nonascii(x, e, edges, class->nonascii, &to);
  bool all = !to.dead && !to.full;
  for (unsigned i = 0; i < to.n && all; i++) all = goes_on(x, to.at[i], class, next);
  return all;
}

/* Letters of which each leads to such as never stop: what else they lead to adds to that. So a
 * name is letters, though some of them begin a word that is read otherwise. A letter after which
 * another rule may be called is none: that may begin with letters. *class: what never stops after
 * a letter; those remain that lead there. */
static bool through(tsl__exprs *x, tsl__expr e, tsl__expr next, tsl__letter_set *class,
                    tsl__reached *r) {
  tsl__expr to[256];
  tsl__reads reads;
  tsl__letter_set all = *class;
  bool kept = false;
  tsl__reads_of(x, e, &reads);
  if (tsl__letters_nonascii(class) && !nonascii_go_on(x, e, &reads.edges, &all, next)) return false;
  derive_read(x, e, &reads, 0x80, to);
  for (unsigned b = 0; b < 0x80; b++) {
    if (!tsl__bytes_has(&class->bytes, b)) continue;
    if (!b || to[b] != to[b - 1] || !tsl__bytes_has(&class->bytes, b - 1))
      kept = goes_on(x, to[b], &all, next);
    if (!kept) class->bytes.w[b >> 6] &= ~((uint64_t)1 << (b & 63));
  }
  if (!tsl__letters_enough(class)) return false;
  *r = (tsl__reached){.n = 1, .at = {e}, .last = UINT64_MAX};
  tsl__letters_leave_by(x, e, &class->bytes, r);
  unsigned exits = 0;
  for (int i = 0; i < 4; i++) exits += tsl__ones(r->live.w[i] & ~class->bytes.w[i]);
  return exits <= EXITS_MAX;
}

/* The same, if not with characters past ASCII then without them. */
static bool letters_through(tsl__exprs *x, tsl__expr e, tsl__letter_set *letters, tsl__reached *r) {
  tsl__letter_set class;
  uint32_t need;
  tsl__expr next = derive_frame(x, e, TYPICAL);
  if (next == TSL__NONE || !tsl__letters_endless(x, next, &class, &need, 0)) return false;
  *letters = class;
  if (tsl__letters_nonascii(letters) && through(x, e, next, letters, r)) return true;
  *letters = class;
  drop_nonascii(letters);
  return through(x, e, next, letters, r);
}

/* The letters that lead to what goes on with them, or back to e: where nothing better is found. */
static bool letters_nearby(tsl__exprs *x, tsl__expr e, tsl__letter_set *letters, tsl__reached *r) {
  tsl__letter_set with = *letters;
  tsl__expr next = derive_frame(x, e, TYPICAL);
  if (letters_next(x, e, next, &with, r)) return *letters = with, true;
  with = *letters;
  drop_nonascii(&with);
  if (tsl__letters_nonascii(letters) && letters_next(x, e, next, &with, r))
    return *letters = with, true;
  return letters_self(x, e, letters, r);
}

/* The same, or the letters that never stop, if these are more. */
static bool letters_near(tsl__exprs *x, tsl__expr e, bool json, tsl__letter_set *letters,
                         tsl__reached *r) {
  tsl__letter_set without_end;
  tsl__reached reached;
  bool more = !json && letters_through(x, e, &without_end, &reached),
       near = letters_nearby(x, e, letters, r);
  if (!more || (near && tsl__bytes_count(&letters->bytes) >= tsl__bytes_count(&without_end.bytes)))
    return near;
  *letters = without_end;
  *r = reached;
  return true;
}

static bool give_up(tsl__exprs *x, tsl__expr e, bool json, tsl__letter_set *letters,
                    tsl__reached *r) {
  keep(x, r, json, NULL);
  return letters_near(x, e, json, letters, r);
}

/* Explore with all non-ASCII characters, else with those of a class that the grammar mentions, else
 * with none. */
static bool explore_nonascii(tsl__exprs *x, tsl__expr e, bool json, tsl__letter_set *letters,
                             tsl__reached *r) {
  tsl__letter_set all = *letters, none = *letters;
  uint64_t last = x->steps + (STEPS_MAX >> x->explored_vainly);
  explored how;
  tsl__known_steps_make(x);
  drop_nonascii(&none);
  drop_nonascii(&all);
  if (tsl__letters_nonascii(letters)) {
    unsigned tried = 0;
    tsl__add_multibyte(&all.bytes);
    tsl__letter_set with = all;
    how = explore(x, e, &with, last, r);
    if (how == CLOSED && tsl__letters_nonascii(&with))
      return keep(x, r, json, &with), *letters = with, true;
    for (const tsl__exprs *layer = x; layer && how != TOO_MANY_STATES; layer = layer->parent)
      for (size_t i = 0; i < layer->nonascii_sets.n && tried < NONASCII_TRIES; i++) {
        if (tsl__nonascii_count(&layer->nonascii_sets.at[i]) < TSL__NONASCII_MIN) continue;
        tried++;
        with = all;
        with.nonascii = &layer->nonascii_sets.at[i];
        if (explore(x, e, &with, last, r) == CLOSED && tsl__letters_nonascii(&with))
          return keep(x, r, json, &with), *letters = with, true;
      }
    *letters = all;
    if (how == TOO_MANY_STATES && give_up(x, e, json, letters, r)) return true;
  }
  *letters = none;
  how = explore(x, e, letters, last, r);
  if (how == CLOSED) return keep(x, r, json, letters), true;
  *letters = none;
  return how == TOO_MANY_STATES ? give_up(x, e, json, letters, r) : letters_self(x, e, letters, r);
}

/* The same, unless it is known already. */
bool tsl__letters_explore(tsl__exprs *x, tsl__expr e, bool json, tsl__letter_set *letters,
                          tsl__reached *r) {
  const tsl__explored *k = find_kept(x, e, json);
  if (!k && !tsl__reads_enough(x, e)) return false;
  /* it was given up there, or would be */
  bool vain = k ? tsl__bytes_empty(&k->letters) : tsl__counts_down(x, e);
  if (!k && !vain) return explore_nonascii(x, e, json, letters, r);
  if (vain) {
    if (tsl__letters_nonascii(letters))
      tsl__add_multibyte(&letters->bytes);
    else
      drop_nonascii(letters); /* within a character: its other bytes are no letters */
    return letters_near(x, e, json, letters, r);
  }
  *letters =
      (tsl__letter_set){k->letters, k->nonascii ? tsl__nonascii_class_of(x, k->nonascii) : NULL};
  *r = (tsl__reached){.n = k->n, .live = k->live, .last = UINT64_MAX};
  memcpy(r->at, k->at, k->n * sizeof *k->at);
  return true;
}

/* ---- a class --------------------------------------------------------------------------------- */

/* The letters of a class of single characters. *live: the bytes that it can begin with. */
void tsl__letters_of_class(tsl__exprs *x, tsl__expr class, tsl__letter_set *out, tsl__bytes *live) {
  tsl__live_bytes(x, class, live);
  out->bytes = *live;
  bool any = out->bytes.w[2] | out->bytes.w[3];
  const tsl__nonascii_class *nonascii = tsl__nonascii_class_of(x, class);
  drop_nonascii(out);
  if (!any || (nonascii && tsl__nonascii_count(nonascii) < TSL__NONASCII_MIN)) return;
  tsl__reached all = {.last = UINT64_MAX};
  if (!nonascii) spread_nonascii(x, class, NULL, NULL, &all);
  if (all.dead || all.full) return;
  tsl__add_multibyte(&out->bytes);
  out->nonascii = nonascii;
}
