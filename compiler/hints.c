/* hints.c - which letters a state lives on, and differences.
 *
 * Problem   The walk is fast where it knows that a whole class of tokens stays inside a frame. The runtime sees states only; the structure that tells is here.
 * Letters   A set C of characters such that the expression survives every text over C. Ways to find one:
 *             - a loop over one class of characters, counted or not: its class, if what follows cannot begin with a letter;
 *             - an automaton may say itself which (the classes of a pattern, in formats_regex.c);
 *             - otherwise explore: take the characters that may come next, follow them, and drop those that die somewhere, until what is reached is closed under
 *               what remains (a greatest fixed point; given up beyond STATES_MAX states).
 *           Only raw characters of a JSON string count (no quote, backslash or control character): escapes are exits.
 * Likeness  hints_like.c: what a state is when its limits are far.
 * Difference  "Any text but these" is the state of any text, less what these spell in full. Exact where every beginning of a text can go on to one that is none of
 *           these: what is left of the base ends in `text`, and these are finitely many or never hold a character of Unicode's last plane.
 * Tested by tests/test_oracle.c (masks with and without hints are equal)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/hints.h"

#define STATES_MAX TSL__EXPLORED_MAX
#define ROUNDS_MAX 4u
#define STEPS_MAX 1024u /* of work for one hint: what costs as much as a walk without it */
#define DEPTH_MAX 64u /* of expressions that are looked into by structure */
#define WIDE_TRIES 4u /* classes of characters beyond ASCII that are tried */
#define WIDE_MIN 2048u /* characters beyond ASCII of a class that is worth marks on the trie; of fewer each is walked */

static unsigned count_bytes(const tsl__bytes *s) {
  unsigned n = 0;
  for (int i = 0; i < 4; i++) n += (unsigned)__builtin_popcountll(s->w[i]);
  return n;
}

static void add_multibyte(tsl__bytes *s) { tsl__bytes_add_range(s, 0x80, 0xF4); }

/* The bytes that lead anywhere. */
static void live_bytes(tsl__exprs *x, tsl__expr e, tsl__bytes *out) {
  tsl__bytes edges;
  bool alive = false;
  memset(out, 0, sizeof *out);
  tsl__boundaries(x, e, &edges);
  for (unsigned b = 0; b < 256; b++) {
    if (b == 0 || tsl__bytes_has(&edges, b)) alive = tsl__derive_plain(x, e, (uint8_t)b) != TSL__NONE;
    if (alive) tsl__bytes_add(out, b);
  }
}

/* ---- all characters beyond ASCII ------------------------------------------------------------------------------ */

typedef struct reached {
  tsl__expr at[STATES_MAX];
  unsigned n;
  bool full, dead;
  tsl__bytes live; /* bytes that some of them read next */
} reached;

static void reach(reached *r, tsl__expr e) {
  if (e == TSL__NONE) {
    r->dead = true;
    return;
  }
  for (unsigned i = 0; i < r->n; i++)
    if (r->at[i] == e) return;
  if (r->n == STATES_MAX) r->full = true;
  else r->at[r->n++] = e;
}

static void spread(tsl__exprs *x, tsl__expr e, const uint8_t *lo, const uint8_t *hi, unsigned at, unsigned n, reached *out) {
  if (at == n || out->full || out->dead) {
    reach(out, e);
    return;
  }
  tsl__bytes edges;
  tsl__boundaries(x, e, &edges);
  for (unsigned b = lo[at]; b <= hi[at] && !out->full && !out->dead; b++) {
    if (b != lo[at] && !tsl__bytes_has(&edges, b)) continue;
    tsl__expr d = tsl__derive_plain(x, e, (uint8_t)b);
    if (d) spread(x, d, lo, hi, at + 1, n, out);
    else out->dead = true;
  }
}

/* Is any text of these bytes legal first? Follows all of them. */
static bool any_row(tsl__exprs *x, tsl__expr e, const uint8_t *lo, const uint8_t *hi, unsigned at, unsigned n) {
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

/* The first code point of lo … hi (from 0x80 on) at which its UTF-8 stops being one row of byte ranges: hi + 1 if it is one. */
static uint32_t row_end(uint32_t lo, uint32_t hi) {
  unsigned length = lo < 0x800 ? 2 : lo < 0x10000 ? 3 : 4;
  uint32_t last = length == 2 ? 0x7FF : length == 3 ? 0xFFFF : 0x10FFFF;
  if (hi > last) hi = last;
  for (unsigned k = 1; k < length; k++) {
    uint32_t low = ((uint32_t)1 << (6 * k)) - 1;
    if (lo >> (6 * k) == hi >> (6 * k)) continue;
    if (lo & low) hi = lo | low;
    else if ((hi & low) != low) hi = (hi & ~low) - 1;
  }
  return hi + 1;
}

static void spread_range(tsl__exprs *x, tsl__expr e, uint32_t lo, uint32_t hi, reached *out) {
  for (uint32_t next; lo <= hi && !out->dead && !out->full; lo = next) {
    uint8_t a[4], b[4];
    next = row_end(lo, hi);
    unsigned n = tsl__utf8_encode(lo, a);
    tsl__utf8_encode(next - 1, b);
    spread(x, e, a, b, 0, n, out);
  }
}

/* Where the characters beyond ASCII of a class (NULL: all of them) lead; dead if some are illegal. */
static void spread_wide(tsl__exprs *x, tsl__expr e, const tsl__wide_class *wide, reached *out) {
  static const uint32_t all[] = {0x80, 0xD7FF, 0xE000, 0x10FFFF};
  const uint32_t *pairs = wide ? wide->pairs : all;
  for (uint32_t i = 0; i < (wide ? wide->count : 2) && !out->dead && !out->full; i++) spread_range(x, e, pairs[2 * i], pairs[2 * i + 1], out);
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

/* ---- sets of letters ------------------------------------------------------------------------------------------ */

/* ASCII by bytes; beyond it, if bytes from 0x80 on are there, the characters of a class, or all. */
typedef struct letter_set {
  tsl__bytes bytes;
  const tsl__wide_class *wide;
} letter_set;

static bool has_wide(const letter_set *s) { return s->bytes.w[3] != 0; }
static void drop_wide(letter_set *s) {
  s->bytes.w[2] = s->bytes.w[3] = 0;
  s->wide = NULL;
}
static bool same_wide(const tsl__wide_class *a, const tsl__wide_class *b) {
  return a == b || (a && b && a->count == b->count && !memcmp(a->pairs, b->pairs, 2 * a->count * sizeof *a->pairs));
}

static bool subset(const letter_set *a, const letter_set *b) {
  if ((a->bytes.w[0] & ~b->bytes.w[0]) || (a->bytes.w[1] & ~b->bytes.w[1])) return false;
  return !has_wide(a) || (has_wide(b) && (!b->wide || same_wide(a->wide, b->wide)));
}

/* Can e begin with one of these letters? The bytes that it can begin with are added to `all`. */
static bool begins_with(tsl__exprs *x, tsl__expr e, const letter_set *letters, tsl__bytes *all) {
  tsl__bytes first;
  live_bytes(x, e, &first);
  for (int i = 0; i < 4; i++) all->w[i] |= first.w[i];
  if ((first.w[0] & letters->bytes.w[0]) || (first.w[1] & letters->bytes.w[1])) return true;
  if (!has_wide(letters) || !(first.w[2] | first.w[3])) return false;
  const tsl__wide_class *wide = letters->wide;
  for (uint32_t i = 0; wide && i < wide->count; i++)
    if (meets_range(x, e, wide->pairs[2 * i], wide->pairs[2 * i + 1])) return true;
  return !wide;
}

/* ---- exploring ------------------------------------------------------------------------------------------------ */

/* The bytes beyond ASCII that lead anywhere; `alive`: does 0x7F? */
static void live_beyond_ascii(tsl__exprs *x, tsl__expr e, const tsl__bytes *edges, bool alive, tsl__bytes *out) {
  for (unsigned b = 0x80; b < 0x100; b++) {
    if (tsl__bytes_has(edges, b)) alive = tsl__derive_plain(x, e, (uint8_t)b) != TSL__NONE;
    if (alive) tsl__bytes_add(out, b);
  }
}

/* Follow the letters from every state reached; drop from `letters` what dies. Returns true if the set is closed now; r->full: there is too much to follow, or step `last` is
 * behind. */
static bool close_under(tsl__exprs *x, tsl__expr e, letter_set *letters, uint64_t last, reached *r) {
  letter_set kept = *letters;
  *r = (reached){.n = 1, .at = {e}};
  for (unsigned i = 0; i < r->n && !r->full; i++) {
    tsl__bytes edges;
    tsl__expr d = TSL__NONE;
    r->full = x->steps > last;
    tsl__boundaries(x, r->at[i], &edges);
    for (unsigned b = 0; b < 0x80; b++) {
      if (b == 0 || tsl__bytes_has(&edges, b)) d = tsl__derive_plain(x, r->at[i], (uint8_t)b);
      if (d) tsl__bytes_add(&r->live, b);
      if (!tsl__bytes_has(&kept.bytes, b)) continue;
      if (d) reach(r, d);
      else kept.bytes.w[b >> 6] &= ~((uint64_t)1 << (b & 63));
    }
    if (!has_wide(&kept)) {
      live_beyond_ascii(x, r->at[i], &edges, d != TSL__NONE, &r->live);
      continue;
    }
    reached wide = *r;
    wide.dead = false;
    spread_wide(x, r->at[i], kept.wide, &wide);
    if (wide.dead) drop_wide(&kept);
    else *r = wide;
  }
  bool closed = !r->full && tsl__bytes_equal(&kept.bytes, &letters->bytes);
  *letters = kept;
  return closed;
}

typedef enum explored { CLOSED, TOO_FEW, TOO_MANY_STATES } explored;

/* What holds of all that is reached. `need` (may be NULL): the most that it takes to complete it. */
static void sum_up(tsl__exprs *x, const reached *r, bool *ends, uint32_t *need) {
  *ends = false;
  for (unsigned i = 0; i < r->n; i++) {
    *ends |= tsl__expr_nullable(x, r->at[i]);
    uint32_t shortest = need ? tsl__expr_shortest(x, r->at[i]) : 0;
    if (shortest && shortest > *need) *need = shortest;
  }
}

/* Look for a closed set within `letters`. */
static explored explore(tsl__exprs *x, tsl__expr e, letter_set *letters, uint64_t last, reached *r) {
  for (unsigned round = 0; round < ROUNDS_MAX && count_bytes(&letters->bytes) >= TSL__LETTERS_MIN; round++) {
    if (close_under(x, e, letters, last, r)) return CLOSED;
    if (r->full) return TOO_MANY_STATES;
  }
  return TOO_FEW;
}

/* The letters that lead back to e itself: closed, whatever else there is. */
static bool self_letters(tsl__exprs *x, tsl__expr e, letter_set *letters, reached *r) {
  tsl__bytes edges;
  tsl__expr d = TSL__NONE;
  *r = (reached){.n = 1, .at = {e}};
  tsl__boundaries(x, e, &edges);
  for (unsigned b = 0; b < 0x80; b++) {
    if (b == 0 || tsl__bytes_has(&edges, b)) d = tsl__derive_plain(x, e, (uint8_t)b);
    if (d) tsl__bytes_add(&r->live, b);
    if (d != e) letters->bytes.w[b >> 6] &= ~((uint64_t)1 << (b & 63));
  }
  live_beyond_ascii(x, e, &edges, d != TSL__NONE, &r->live);
  if (has_wide(letters)) spread_wide(x, e, letters->wide, r);
  if (r->dead || r->full || r->n > 1) drop_wide(letters);
  r->n = 1;
  return count_bytes(&letters->bytes) >= TSL__LETTERS_MIN;
}

/* How many characters beyond ASCII it has. */
static uint64_t characters(const tsl__wide_class *c) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < c->count; i++) n += c->pairs[2 * i + 1] - c->pairs[2 * i] + 1u;
  return n;
}

/* What was found from one expression holds for all that were reached from it, and most of these are asked for next. `letters` NULL: it was given up. */
static void keep(tsl__exprs *x, const reached *r, bool json, const letter_set *letters) {
  if (!x->explored && !(x->explored = tsl__alloc_zero(&x->alloc, TSL__EXPLORED * sizeof *x->explored))) return; /* it is found again */
  tsl__explored *k = &x->explored[x->explored_next++ % TSL__EXPLORED];
  *k = (tsl__explored){.n = r->n, .json = json, .live = r->live};
  memcpy(k->at, r->at, r->n * sizeof *r->at);
  if (letters) k->letters = letters->bytes, k->wide = letters->wide ? letters->wide->e : TSL__NONE;
}

static const tsl__explored *find_kept(const tsl__exprs *x, tsl__expr e, bool json) {
  for (unsigned i = 0; x->explored && i < TSL__EXPLORED; i++)
    for (unsigned j = 0; j < x->explored[i].n; j++)
      if (x->explored[i].at[j] == e && x->explored[i].json == json) return &x->explored[i];
  return NULL;
}

/* The letters that lead back to e, where nothing better is found. */
static bool give_up(tsl__exprs *x, tsl__expr e, bool json, letter_set *letters, reached *r) {
  keep(x, r, json, NULL);
  return self_letters(x, e, letters, r);
}

/* With all characters beyond ASCII, else with those of a class that the grammar mentions, else with none. */
static bool explore_wide(tsl__exprs *x, tsl__expr e, bool json, letter_set *letters, reached *r) {
  letter_set all = *letters, none = *letters;
  uint64_t last = x->steps + STEPS_MAX;
  explored how;
  if (!x->class_steps) x->class_steps = tsl__alloc_zero(&x->alloc, TSL__CLASS_STEPS * sizeof *x->class_steps); /* or none */
  drop_wide(&none);
  drop_wide(&all);
  if (has_wide(letters)) {
    unsigned tried = 0;
    add_multibyte(&all.bytes);
    letter_set with = all;
    how = explore(x, e, &with, last, r);
    if (how == CLOSED && has_wide(&with)) return keep(x, r, json, &with), *letters = with, true;
    for (const tsl__exprs *layer = x; layer && how != TOO_MANY_STATES; layer = layer->parent)
      for (size_t i = 0; i < layer->wides.n && tried < WIDE_TRIES; i++) {
        if (characters(&layer->wides.at[i]) < WIDE_MIN) continue;
        tried++;
        with = all;
        with.wide = &layer->wides.at[i];
        if (explore(x, e, &with, last, r) == CLOSED && has_wide(&with)) return keep(x, r, json, &with), *letters = with, true;
      }
    *letters = all;
    if (how == TOO_MANY_STATES && give_up(x, e, json, letters, r)) return true;
  }
  *letters = none;
  how = explore(x, e, letters, last, r);
  if (how == CLOSED) return keep(x, r, json, letters), true;
  *letters = none;
  return how == TOO_MANY_STATES ? give_up(x, e, json, letters, r) : self_letters(x, e, letters, r);
}

/* The same, unless it is known already. */
static bool explore_once(tsl__exprs *x, tsl__expr e, bool json, letter_set *letters, reached *r) {
  const tsl__explored *k = find_kept(x, e, json);
  if (!k) return explore_wide(x, e, json, letters, r);
  if (tsl__bytes_empty(&k->letters)) return self_letters(x, e, letters, r);
  *letters = (letter_set){k->letters, k->wide ? tsl__wide_class_of(x, k->wide) : NULL};
  *r = (reached){.n = k->n, .live = k->live};
  memcpy(r->at, k->at, k->n * sizeof *k->at);
  return true;
}

/* ---- by structure --------------------------------------------------------------------------------------------- */

/* The letters of a class of single characters. *live: the bytes that it can begin with. */
static void letters_of_class(tsl__exprs *x, tsl__expr class, letter_set *out, tsl__bytes *live) {
  live_bytes(x, class, live);
  out->bytes = *live;
  bool any = out->bytes.w[2] | out->bytes.w[3];
  const tsl__wide_class *wide = tsl__wide_class_of(x, class);
  drop_wide(out);
  if (!any || (wide && characters(wide) < WIDE_MIN)) return;
  reached all = {.n = 0};
  if (!wide) spread_wide(x, class, NULL, &all);
  if (all.dead || all.full) return;
  add_multibyte(&out->bytes);
  out->wide = wide;
}

static void raw_only(tsl__bytes *s) {
  s->w[0] &= ~(uint64_t)0xFFFFFFFF & ~((uint64_t)1 << '"');
  s->w['\\' >> 6] &= ~((uint64_t)1 << ('\\' & 63));
}

static bool is_class_loop(const tsl__exprs *x, const tsl__node *n) {
  return (n->kind == TSL__K_REPEAT || n->kind == TSL__K_COUNTED) && (tsl__node_at(x, n->a).flags & TSL__CHAR);
}

/* Letters that never stop: an endless loop over a class at the head of e, or of one of its alternatives (the largest class counts). *need: what completes that, whatever else
 * could have. */
static bool endless_letters(tsl__exprs *x, tsl__expr e, letter_set *out, uint32_t *need, unsigned depth) {
  tsl__node n = tsl__node_at(x, e);
  if (n.kind == TSL__K_SEQ) {
    if (!endless_letters(x, n.a, out, need, depth)) return false;
    uint32_t rest = tsl__expr_shortest(x, n.b);
    *need = *need > TSL__INF - rest ? TSL__INF : *need + rest;
    return true;
  }
  if (n.kind == TSL__K_REPEAT && n.c == TSL__INF && is_class_loop(x, &n)) return letters_of_class(x, n.a, out, &(tsl__bytes){{0}}), *need = tsl__expr_shortest(x, e), true;
  if (n.kind != TSL__K_ALT || depth > 4) return false;
  bool found = false;
  for (uint32_t i = 0; i < n.b; i++) {
    letter_set letters;
    uint32_t own;
    if (!endless_letters(x, tsl__list_at(x, n.a)[i], &letters, &own, depth + 1) || (found && count_bytes(&letters.bytes) <= count_bytes(&out->bytes))) continue;
    *out = letters;
    *need = own;
    found = true;
  }
  return found;
}

static const tsl__bytes any_byte = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};

/* A loop over one class of characters at the head of e, and what follows it: either that can't begin with a letter, or it goes on with any of them for ever. *live: bytes that may come after letters. */
static bool by_structure(tsl__exprs *x, tsl__expr e, tsl__letters *out, letter_set *letters, uint32_t *need, tsl__bytes *live) {
  tsl__node loop = tsl__node_at(x, e);
  tsl__expr then = TSL__EPS;
  letter_set follow;
  if (loop.kind == TSL__K_SEQ) {
    then = loop.b;
    loop = tsl__node_at(x, loop.a);
  }
  if (!is_class_loop(x, &loop)) return false;
  letters_of_class(x, loop.a, letters, live);
  out->ends = tsl__node_at(x, then).flags & (TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH);
  out->counted = loop.c != TSL__INF;
  out->limit = loop.kind == TSL__K_REPEAT ? loop.c : TSL__INF;
  if (then == TSL__EPS) return true;
  tsl__node t = tsl__node_at(x, then);
  if ((t.flags & TSL__CALLS) || t.loop) return false;
  if (endless_letters(x, then, &follow, need, 0) && subset(letters, &follow)) {
    out->counted = false;
    out->limit = TSL__INF;
    out->ends = true;
    *live = any_byte;
    return true;
  }
  if (t.flags & TSL__COUNTS) return false;
  return !begins_with(x, then, letters, live);
}

/* An automaton that says itself what it goes on with. */
static bool native_letters(const tsl__exprs *x, const tsl__node *n, tsl__bytes *out, uint32_t *need) {
  const tsl__native *native = tsl__native_at(x, n->a);
  return native->ops->letters && native->ops->letters(native->ctx, n->b, out, need);
}

/* JSTR(rest & !finite), where every rest of `rest` is infinite because it ends in text. */
static bool ends_in_text(const tsl__exprs *x, tsl__expr e) {
  tsl__node n = tsl__node_at(x, e);
  while (n.kind == TSL__K_SEQ) {
    if (n.b == x->text) {
      tsl__node h = tsl__node_at(x, n.a);
      return h.flags & TSL__TEXTUAL;
    }
    n = tsl__node_at(x, n.b);
  }
  return e == x->text;
}

/* Does no member of e hold the byte 0xF4, that is a character of the last plane? By structure; false if in doubt. */
static bool spares_last_plane(const tsl__exprs *x, tsl__expr e, unsigned depth) {
  tsl__node n = tsl__node_at(x, e);
  if (depth > DEPTH_MAX) return false;
  switch ((tsl__kind)n.kind) {
  case TSL__K_EPS: return true;
  case TSL__K_BYTES: return !tsl__bytes_has(tsl__set_at(x, n.a), 0xF4);
  case TSL__K_LIT: return !memchr(tsl__literal_at(x, n.a), 0xF4, n.b);
  case TSL__K_SEQ:
    for (; n.kind == TSL__K_SEQ; e = n.b, n = tsl__node_at(x, e))
      if (!spares_last_plane(x, n.a, depth + 1)) return false;
    return spares_last_plane(x, e, depth + 1);
  case TSL__K_ALT:
    for (uint32_t i = 0; i < n.b; i++)
      if (!spares_last_plane(x, tsl__list_at(x, n.a)[i], depth + 1)) return false;
    return true;
  case TSL__K_REPEAT: return spares_last_plane(x, n.a, depth + 1);
  default: return n.flags & TSL__FINITE;
  }
}

static bool difference(tsl__exprs *x, tsl__expr inner, tsl__letters *out) {
  tsl__node n = tsl__node_at(x, inner);
  tsl__expr except = TSL__NONE, rest = TSL__NONE;
  if (n.kind != TSL__K_AND) return false;
  for (uint32_t i = 0; i < n.b; i++) {
    tsl__expr c = tsl__list_at(x, n.a)[i];
    tsl__node m = tsl__node_at(x, c);
    if (m.kind == TSL__K_NOT && (tsl__node_at(x, m.a).flags & TSL__FINITE || spares_last_plane(x, m.a, 0))) except = tsl__expr_alt(x, except, m.a);
    else if (rest) return false;
    else rest = c;
  }
  if (!except || !rest || !ends_in_text(x, rest)) return false;
  out->base = tsl__expr_json_string(x, rest);
  out->except = tsl__expr_json_string(x, except);
  return true;
}

/* ---- all together --------------------------------------------------------------------------------------------- */

/* Can a call come before the next byte? */
static bool calls_at_head(tsl__exprs *x, tsl__expr e) {
  tsl__calls calls = {0};
  tsl__calls_of(x, e, TSL__PHASE_LOW, &calls);
  bool any = calls.n > 0;
  tsl__vec_free(&x->alloc, &calls);
  return any;
}

void tsl__letters_of(tsl__exprs *x, tsl__expr e, tsl__phase phase, tsl__letters *out) {
  memset(out, 0, sizeof *out);
  out->limit = TSL__INF;
  tsl__node n = tsl__node_at(x, e);
  while (n.kind == TSL__K_RULE && tsl__rule_at(x, n.a)->body) { /* a called frame begins as its rule */
    e = tsl__rule_at(x, n.a)->body;
    n = tsl__node_at(x, e);
  }
  bool json = n.kind == TSL__K_JSTR;
  if (json && difference(x, n.a, out)) return;
  uint32_t min = 0, limit = TSL__INF;
  tsl__expr inner = json ? tsl__without_length(x, n.a, &min, &limit) : e;
  bool begun = !n.loop || phase != TSL__PHASE_LOW || tsl__node_at(x, n.loop).b == 0;
  if (!(n.flags & TSL__CALLS) && min == 0) tsl__far_from_limit(x, inner, begun, limit, json, out);
  if (json && !out->like && limit == TSL__INF && !n.loop) tsl__far_from_forbidden(x, inner, out);
  if (out->like && !out->like_far && !out->like_unit && out->like_limit >= TSL__LIKE_ENOUGH) return; /* the walk will not need letters */
  tsl__node m = tsl__node_at(x, inner);
  bool calls_later = !json && (m.flags & TSL__CALLS) && !m.loop && !calls_at_head(x, inner);
  if (m.kind == TSL__K_KEYS || (!json && (m.flags & TSL__CALLS) && m.kind != TSL__K_SEQ && !calls_later)) return;
  letter_set letters = {0};
  uint32_t need = 0;
  tsl__bytes live;
  bool found = by_structure(x, inner, out, &letters, &need, &live);
  reached r;
  if (!found) {
    live = any_byte;
    out->counted = false;
    out->limit = TSL__INF;
    out->ends = true;
    found = !(m.flags & TSL__CALLS) && endless_letters(x, inner, &letters, &need, 0);
  }
  if (found && limit != TSL__INF) {
    uint32_t now = tsl__expr_shortest(x, inner);
    if (now > need) need = now;
  }
  if (!found && m.kind == TSL__K_NATIVE && (found = native_letters(x, &m, &letters.bytes, &need))) out->ends = false;
  if (!found && !m.loop && !(m.flags & (TSL__CALLS | TSL__FINITE))) { /* what is finite goes on with no letters for ever */
    need = 0;
    letters = (letter_set){.wide = NULL};
    live_bytes(x, inner, &letters.bytes);
    if (json) raw_only(&letters.bytes);
    found = explore_once(x, inner, json, &letters, &r);
    if (found) sum_up(x, &r, &out->ends, limit != TSL__INF ? &need : NULL), live = r.live;
  }
  if (!found && calls_later) { /* free text before a call: what leads back here meets no call */
    letters = (letter_set){.wide = NULL};
    live_bytes(x, inner, &letters.bytes);
    if (letters.bytes.w[2] | letters.bytes.w[3]) add_multibyte(&letters.bytes);
    found = self_letters(x, inner, &letters, &r);
    if (found) sum_up(x, &r, &out->ends, NULL), live = r.live;
  }
  if (limit != TSL__INF) { /* letters may be read until what is needed at the end just fits */
    out->limit = limit > need ? limit - need : 0;
    if (out->counted || out->limit < min) found = false;
  }
  if (json) raw_only(&letters.bytes), out->ends = false;
  if (!found || count_bytes(&letters.bytes) < TSL__LETTERS_MIN) return;
  out->letters = letters.bytes;
  out->wide = has_wide(&letters) ? letters.wide : NULL;
  if (json) tsl__bytes_add(&live, '"'), tsl__bytes_add(&live, '\\');
  for (int i = 0; i < 4; i++) out->exits.w[i] = live.w[i] & ~out->letters.w[i];
  if (!json) return;
  out->exits.w[0] &= ~(uint64_t)0xFFFFFFFF; /* control characters are never legal in a JSON string */
}
