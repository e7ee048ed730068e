/* hints.c - which letters a state lives on, and differences.
 *
 * Problem   The walk is fast where it knows that a whole class of tokens stays inside a frame. The
 *           runtime sees states only; the structure that shows it is here.
 * Letters   A set C of characters such that the expression survives every text over C. Ways to find
 *           one:
 *             - a loop over one class of characters, counted or not: its class, if what follows
 *               cannot begin with a letter;
 *             - so many of one class in all, in groups between which something else may come, as in
 *               a GUID with or without its hyphens;
 *             - an automaton may say itself which (the classes of a pattern, in
 *               compiler/formats/regex_format.c);
 *             - otherwise they are explored (letters.h).
 *           Only raw characters of a JSON string count (no quote, backslash or control character):
 *           escapes are exits.
 * Likeness  hints_like.c: what a state is when its limits are far.
 * Difference
 *           "Any text but these" is the state of any text, minus what these spell in full. That is
 *           exact where every beginning of a text can go on to a text that is none of these. Two
 *           cases are known to be so. The base ends in `text`, and the excluded texts are finitely
 *           many, or never hold a character of Unicode's last plane. Or the base ends in any number
 *           of characters of one class, and the excluded texts are finitely many.
 *           In a third case the base is up to n characters, and the excluded texts are finitely
 *           many. A beginning of fewer than n characters can go on to one of a million texts of n.
 *           One of n characters is lost if it is excluded: then its closing quote need not come.
 * Tested by tests/engine/test_oracle.c (masks with and without hints are equal)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/states/hints.h"

#include "compiler/states/letters.h"
#include "runtime/automaton/state.h"

#define DEPTH_MAX 64u  /* of expressions that are looked into by structure */
#define EXITS_MANY 24u /* below which most nodes are entered */
#define FEW_MAX 8u     /* alternatives that are looked at one by one */

/* ---- by structure ---------------------------------------------------------------------------- */

static void raw_only(tsl__bytes *s) {
  s->w[0] &= ~(uint64_t)0xFFFFFFFF & ~((uint64_t)1 << '"');
  s->w['\\' >> 6] &= ~((uint64_t)1 << ('\\' & 63));
}

/* The letters of several JSON strings, one of which never stops. Alternatives whose registers
 * differ stay apart like that. */
static bool endless_string(tsl__exprs *x, const tsl__node *n, tsl__letter_set *out) {
  bool found = false;
  if (n->kind != TSL__K_ALT || n->flags & TSL__CALLS) return false;
  for (uint32_t i = 0; i < n->b; i++) {
    tsl__node string = tsl__node_at(x, tsl__list_at(x, n->a)[i]);
    uint32_t need;
    if (string.kind != TSL__K_JSTR) return false;
    if (!found) found = tsl__letters_endless(x, string.a, out, &need, 0);
  }
  return found;
}

/* Can e not begin with a letter? Its parts that count or call are not followed: what comes behind
 * others need not be. Bytes that it can begin with are added to `live`. False if in doubt. */
static bool begins_apart(tsl__exprs *x, tsl__expr e, const tsl__letter_set *letters,
                         tsl__bytes *live, unsigned depth) {
  tsl__node n = tsl__node_at(x, e);
  if (n.loop || depth > DEPTH_MAX) return false;
  if (!(n.flags & (TSL__COUNTS | TSL__CALLS))) return !tsl__begins_with(x, e, letters, live);
  if (n.kind == TSL__K_REPEAT) return begins_apart(x, n.a, letters, live, depth + 1);
  if (n.kind == TSL__K_ALT && n.b <= FEW_MAX) {
    for (uint32_t i = 0; i < n.b; i++)
      if (!begins_apart(x, tsl__list_at(x, n.a)[i], letters, live, depth + 1)) return false;
    return true;
  }
  if (n.kind != TSL__K_SEQ || !begins_apart(x, n.a, letters, live, depth + 1)) return false;
  return !(tsl__node_at(x, n.a).flags & (TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH)) ||
         begins_apart(x, n.b, letters, live, depth + 1);
}

/* May a character that is cut off be one of a class, or one of what comes where no more of these
 * may? */
static bool begin_alike(const tsl__letter_set *letters, const tsl__bytes *then) {
  return letters->nonascii && then->w[3];
}

/* A loop over one class of characters at the head of e, and what follows it. Either that can't
 * begin with a letter, or it goes on with any of them for ever. *live: bytes that may come after
 * letters. */
static bool by_loop(tsl__exprs *x, tsl__expr e, tsl__letters *out, tsl__letter_set *letters,
                    uint32_t *need, tsl__bytes *live) {
  tsl__node loop = tsl__node_at(x, e);
  tsl__expr then = TSL__EPS;
  tsl__letter_set follow;
  tsl__bytes first = {{0}};
  if (loop.kind == TSL__K_SEQ) {
    then = loop.b;
    loop = tsl__node_at(x, loop.a);
  }
  if (!tsl__is_class_loop(x, &loop)) return false;
  tsl__letters_of_class(x, loop.a, letters, live);
  out->ends = tsl__node_at(x, then).flags & (TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH);
  out->counted = loop.c != TSL__INF;
  out->whole = false;
  out->limit = loop.kind == TSL__K_REPEAT ? loop.c : TSL__INF;
  if (then == TSL__EPS) return true;
  tsl__node t = tsl__node_at(x, then);
  if (t.loop) return false;
  if (!(t.flags & TSL__CALLS) && tsl__letters_endless(x, then, &follow, need, 0) &&
      tsl__letters_within(letters, &follow)) {
    out->counted = false;
    out->limit = TSL__INF;
    out->ends = true;
    *live = TSL__BYTES_ALL;
    return true;
  }
  if (!begins_apart(x, then, letters, &first, 0)) return false;
  tsl__bytes_or(live, &first);
  out->whole = out->counted && begin_alike(letters, &first);
  return true;
}

/* The same, or it is one of few alternatives, and no other begins with a letter: a field with
 * quotes or without. */
static bool by_structure(tsl__exprs *x, tsl__expr e, tsl__letters *out, tsl__letter_set *letters,
                         uint32_t *need, tsl__bytes *live) {
  tsl__node n = tsl__node_at(x, e), list = n;
  tsl__expr then = TSL__EPS, of[FEW_MAX];
  uint32_t found = FEW_MAX;
  if (n.kind == TSL__K_SEQ) {
    then = n.b;
    list = tsl__node_at(x, n.a);
  }
  if (list.kind != TSL__K_ALT || list.b > FEW_MAX || n.loop || n.flags & TSL__CALLS)
    return by_loop(x, e, out, letters, need, live);
  for (uint32_t i = 0; i < list.b; i++) {
    of[i] = tsl__expr_seq(x, tsl__list_at(x, list.a)[i], then);
    if (found == FEW_MAX && by_loop(x, of[i], out, letters, need, live) &&
        tsl__letters_enough(letters))
      found = i;
  }
  if (found == FEW_MAX) return false;
  for (uint32_t i = 0; i < list.b; i++) {
    if (i == found) continue;
    if (!begins_apart(x, of[i], letters, live, 0)) return false;
    out->ends |= tsl__expr_nullable(x, of[i]);
  }
  uint32_t own = tsl__expr_shortest(x, of[found]); /* after a letter no other will do */
  if (own > *need) *need = own;
  return true;
}

/* Characters of one class that are read one after another: how many, at most, and must another come
 * after what was looked at so far? */
typedef struct run {
  tsl__expr class;
  tsl__letter_set letters;
  uint64_t most;
  bool over;
  bool more;       /* more of them may come, which are not counted */
  tsl__bytes live; /* bytes that may come among them, and where they end */
} run;

/* What e is, or nothing; NONE: it is no such pair of alternatives. */
static tsl__expr optional(const tsl__exprs *x, const tsl__node *n) {
  if (n->kind != TSL__K_ALT || n->b != 2) return TSL__NONE;
  const tsl__expr *either = tsl__list_at(x, n->a);
  return either[0] == TSL__EPS ? either[1] : either[1] == TSL__EPS ? either[0] : TSL__NONE;
}

/* The class that e begins with, but for what may be missing; NONE: it begins otherwise. */
static tsl__expr first_class(tsl__exprs *x, tsl__expr e) {
  tsl__expr some = TSL__NONE;
  tsl__node n = tsl__node_at(x, e);
  while (n.kind == TSL__K_SEQ || (n.kind == TSL__K_REPEAT && n.c > 1) ||
         (some = optional(x, &n)) != TSL__NONE) {
    tsl__node first = tsl__node_at(x, n.a);
    bool missing =
        n.kind == TSL__K_SEQ &&
        (first.kind == TSL__K_REPEAT ? first.c == 1
                                     : first.kind == TSL__K_ALT && tsl__expr_nullable(x, n.a));
    e = n.kind == TSL__K_ALT ? some : missing ? n.b : n.a;
    n = tsl__node_at(x, e);
  }
  return n.flags & TSL__CHAR ? e : TSL__NONE;
}

static bool run_on(tsl__exprs *x, tsl__expr e, run *r, unsigned depth);

/* A group that may come so many times, and must or need not. */
static bool run_on_group(tsl__exprs *x, tsl__expr group, uint32_t times, bool must, run *r,
                         unsigned depth) {
  uint64_t before = r->most;
  if (!run_on(x, group, r, depth + 1)) return false;
  if (!r->over && !r->more)
    r->most = times == TSL__INF ? TSL__INF : before + times * (r->most - before);
  r->more |= (r->over && !must) || r->most >= TSL__INF; /* some of a group need not be all of it */
  r->over &= must;
  return true;
}

/* Add to a run what e adds to it. False: not known. */
static bool run_on(tsl__exprs *x, tsl__expr e, run *r, unsigned depth) {
  tsl__node n = tsl__node_at(x, e);
  tsl__expr some = optional(x, &n);
  if (depth > DEPTH_MAX) return false;
  if (r->over || e == r->class) return r->most += !r->over && !r->more, true;
  if (n.kind == TSL__K_SEQ) return run_on(x, n.a, r, depth + 1) && run_on(x, n.b, r, depth + 1);
  /* once more at least */
  if (n.kind == TSL__K_COUNTED) return run_on_group(x, n.a, 1, false, r, depth) && (r->more = true);
  if (some != TSL__NONE && first_class(x, some) == r->class)
    return run_on_group(x, some, 1, false, r, depth);
  if (n.kind == TSL__K_REPEAT && first_class(x, n.a) == r->class)
    return run_on_group(x, n.a, n.c, n.b > 0, r, depth);
  r->over = !tsl__expr_nullable(x, e);
  return !tsl__begins_with(x, e, &r->letters, &r->live);
}

/* Characters of one class in groups, among which others may come, and then something else. In the
 * midst of a loop it is known of one iteration only that it is left; letters are not requested
 * where none is. Then more letters may come than are counted. */
static bool by_groups(tsl__exprs *x, tsl__expr e, tsl__letters *out, tsl__letter_set *letters,
                      tsl__bytes *live) {
  tsl__node n = tsl__node_at(x, e), loop = n.kind == TSL__K_SEQ ? tsl__node_at(x, n.a) : n;
  bool within = n.kind == TSL__K_SEQ && loop.kind == TSL__K_COUNTED && tsl__is_class_loop(x, &loop);
  run r = {.class = within ? loop.a : first_class(x, e), .most = within};
  if (n.flags & TSL__CALLS || r.class == TSL__NONE) return false;
  tsl__letters_of_class(x, r.class, &r.letters, live);
  if (!tsl__letters_enough(&r.letters) || !run_on(x, within ? n.b : e, &r, 0)) return false;
  *letters = r.letters;
  tsl__bytes_or(live, &r.live);
  out->ends = true;
  /* the register counts no letters, but groups */
  out->counted = !n.loop && !r.more && r.most <= TSL__LETTERS_FEW;
  out->whole = out->counted && begin_alike(letters, &r.live);
  out->limit = r.most < TSL__INF ? (uint32_t)r.most : TSL__INF;
  return out->counted || r.most > TSL__LETTERS_FEW;
}

/* The bytes by which letters that never stop may be left, at least. They are those of the alphabet,
 * or if these are many those that are legal after letters. */
static void leave(tsl__exprs *x, tsl__expr e, bool json, const tsl__letter_set *letters,
                  tsl__bytes *live) {
  tsl__reached r;
  unsigned exits = 0;
  tsl__expr_alphabet(x, e, live);
  if (json) live->w[0] &= ~(uint64_t)0xFFFFFFFF; /* they are escaped */
  for (int i = 0; i < 4; i++) exits += tsl__ones(live->w[i] & ~letters->bytes.w[i]);
  if (exits >= EXITS_MANY && !tsl__node_at(x, e).loop && tsl__letters_follow(x, e, letters, &r))
    *live = r.live;
}

/* An automaton that says itself what it goes on with. */
static bool native_letters(const tsl__exprs *x, const tsl__node *n, tsl__bytes *out,
                           uint32_t *need) {
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

/* Does no member of e hold this byte? By structure; false if in doubt. `but_finite`: what is finite
 * within e may hold it. */
static bool spares(const tsl__exprs *x, tsl__expr e, uint8_t byte, bool but_finite,
                   unsigned depth) {
  tsl__node n = tsl__node_at(x, e);
  if (depth > DEPTH_MAX) return false;
  switch ((tsl__kind)n.kind) {
  case TSL__K_EPS: return true;
  case TSL__K_BYTES: return !tsl__bytes_has(tsl__set_at(x, n.a), byte);
  case TSL__K_LIT: return !memchr(tsl__literal_at(x, n.a), byte, n.b);
  case TSL__K_SEQ:
    for (; n.kind == TSL__K_SEQ; e = n.b, n = tsl__node_at(x, e))
      if (!spares(x, n.a, byte, but_finite, depth + 1)) return false;
    return spares(x, e, byte, but_finite, depth + 1);
  case TSL__K_ALT:
    for (uint32_t i = 0; i < n.b; i++)
      if (!spares(x, tsl__list_at(x, n.a)[i], byte, but_finite, depth + 1)) return false;
    return true;
  case TSL__K_REPEAT: return spares(x, n.a, byte, but_finite, depth + 1);
  case TSL__K_AND:
    for (uint32_t i = 0; i < n.b && !but_finite; i++)
      if (spares(x, tsl__list_at(x, n.a)[i], byte, false, depth + 1)) return true;
    return but_finite && n.flags & TSL__FINITE;
  default: return but_finite && n.flags & TSL__FINITE;
  }
}

/* No text holds a character of the last plane, or those that do are finitely many in each of
 * finitely many parts. */
static bool spares_last_plane(const tsl__exprs *x, tsl__expr e) {
  return spares(x, e, 0xF4, true, 0);
}

bool tsl__spares(const tsl__exprs *x, tsl__expr e, uint8_t byte) {
  return spares(x, e, byte, false, 0);
}

/* Does e end in any number of characters of one class? Where registers say more it is in doubt. */
static bool ends_in_class(const tsl__exprs *x, tsl__expr e) {
  tsl__node n = tsl__node_at(x, e);
  if (n.loop || n.flags & (TSL__CALLS | TSL__COUNTS)) return false;
  while (n.kind == TSL__K_SEQ) n = tsl__node_at(x, n.b);
  return n.kind == TSL__K_REPEAT && n.c == TSL__INF && tsl__is_class_loop(x, &n);
}

/* Is e up to so many characters, any of them? */
static bool is_any_up_to(tsl__exprs *x, tsl__expr e, uint32_t *most) {
  tsl__node n = tsl__node_at(x, e);
  *most = n.c;
  return n.kind == TSL__K_REPEAT && n.c != TSL__INF && n.c && !n.loop &&
         n.a == tsl__expr_any_char(x);
}

/* The excluded texts of strings of up to `most` characters. One of `most` characters goes with its
 * quote, and without it, too: nothing but the quote could follow. */
static tsl__expr except_up_to(tsl__exprs *x, tsl__expr except, uint32_t most) {
  tsl__expr any = tsl__expr_any_char(x);
  tsl__expr all = tsl__expr_and(x, except, tsl__expr_repeat(x, any, 0, most)),
            whole = tsl__expr_and(x, except, tsl__expr_repeat(x, any, most, most));
  return tsl__expr_alt(x, tsl__expr_json_string(x, all), tsl__expr_json_part(x, whole));
}

static bool difference(tsl__exprs *x, tsl__expr inner, tsl__letters *out) {
  uint32_t most = 0;
  tsl__node n = tsl__node_at(x, inner);
  tsl__expr except = TSL__NONE, rest = TSL__NONE;
  bool finite = true;
  if (n.kind != TSL__K_AND) return false;
  for (uint32_t i = 0; i < n.b; i++) {
    tsl__expr c = tsl__list_at(x, n.a)[i];
    tsl__node m = tsl__node_at(x, c);
    if (m.kind == TSL__K_NOT &&
        (tsl__node_at(x, m.a).flags & TSL__FINITE || spares_last_plane(x, m.a)))
      except = tsl__expr_alt(x, except, m.a),
      finite &= (tsl__node_at(x, m.a).flags & TSL__FINITE) != 0;
    else if (rest)
      return false;
    else
      rest = c;
  }
  if (!except || !rest) return false;
  out->limited = finite && is_any_up_to(x, rest, &most);
  if (!out->limited && !ends_in_text(x, rest) && !(finite && ends_in_class(x, rest))) return false;
  out->base = tsl__expr_json_string(x, rest);
  out->except = out->limited ? except_up_to(x, except, most) : tsl__expr_json_string(x, except);
  return true;
}

/* ---- all together ---------------------------------------------------------------------------- */

/* What holds of all that is reached. `need` (may be NULL): the most that it takes to complete
 * it. */
static void sum_up(tsl__exprs *x, const tsl__reached *r, bool *ends, uint32_t *need) {
  *ends = r->ends;
  for (unsigned i = 0; i < r->n; i++) {
    *ends |= tsl__expr_nullable(x, r->at[i]);
    uint32_t shortest = need ? tsl__expr_shortest(x, r->at[i]) : 0;
    if (shortest && shortest > *need) *need = shortest;
  }
}

/* Can a call come before the next byte? */
static bool calls_at_head(tsl__exprs *x, tsl__expr e) {
  tsl__calls calls = {0};
  tsl__calls_of(x, e, TSL__PHASE_LOW, &calls);
  bool any = calls.n > 0;
  tsl__vec_free(&x->alloc, &calls);
  return any;
}

/* A frame, and what it spells without the limit of its length. */
typedef struct frame {
  tsl__expr e, inner;
  tsl__node n;         /* of e */
  bool json;           /* a JSON string */
  uint32_t min, limit; /* of the length, in characters */
} frame;

static frame frame_of(tsl__exprs *x, tsl__expr e) {
  tsl__node n = tsl__node_at(x, e);
  /* a called frame begins as its rule */
  while (n.kind == TSL__K_RULE && tsl__rule_at(x, n.a)->body) {
    e = tsl__rule_at(x, n.a)->body;
    n = tsl__node_at(x, e);
  }
  frame f = {e, e, n, n.kind == TSL__K_JSTR, 0, TSL__INF};
  if (f.json) f.inner = tsl__without_length(x, n.a, true, &f.min, &f.limit);
  return f;
}

void tsl__form_of(tsl__exprs *x, tsl__expr e, tsl__phase phase, tsl__letters *out) {
  memset(out, 0, sizeof *out);
  out->limit = TSL__INF;
  if (phase == TSL__PHASE_TOP && tsl__node_at(x, e).loop) {
    tsl__nonascii_loop(x, e, out);
    return;
  }
  frame f = frame_of(x, e);
  if (f.json && difference(x, f.n.a, out)) return;
  if (!f.json) {
    f.inner = tsl__without_length(x, f.e, false, &f.min, &f.limit);
    tsl__alone_of(x, f.e, out);
    if (!out->alone) tsl__any_begins(x, f.e, out);
  }
  bool begun = !f.n.loop || phase != TSL__PHASE_LOW || tsl__node_at(x, f.n.loop).b == 0;
  /* in a string the minimum is gone with the maximum */
  if (!(f.n.flags & TSL__CALLS) && (f.min == 0 || !f.json))
    tsl__far_from_limit(x, f.inner, begun, f.limit, f.json, out);
  if (!f.json && !out->like && !out->alone) tsl__far_from_counts(x, f.e, begun, out);
  if (f.json && !out->like && !f.n.loop && (f.min || f.limit == TSL__INF))
    tsl__far_from_bounds(x, f.n.a, out);
  /* so it is left in here, and only the maximum goes */
  if (f.json && !out->like && !out->open && (f.limit == TSL__INF || f.min) &&
      !(f.n.flags & TSL__CALLS)) {
    uint32_t least, most;
    tsl__expr inner = tsl__without_length(x, f.n.a, false, &least, &most);
    if (most != TSL__INF) tsl__far_from_limit(x, inner, begun, most, true, out);
  }
  if (f.json && !out->like && !out->open && f.limit == TSL__INF && !f.n.loop)
    tsl__far_from_forbidden(x, f.inner, out);
}

/* Any characters, so many to so many? */
static bool counts_any(tsl__exprs *x, tsl__expr e, uint32_t *least, uint32_t *most) {
  tsl__node n = tsl__node_at(x, e);
  *least = n.b;
  *most = n.c;
  return (n.kind == TSL__K_REPEAT || n.kind == TSL__K_COUNTED) && n.a == tsl__expr_any_char(x);
}

unsigned tsl__counted_of(tsl__exprs *x, tsl__expr e, uint32_t *least, uint32_t *most) {
  tsl__node n = tsl__node_at(x, e);
  if (n.kind == TSL__K_RULE && tsl__rule_at(x, n.a)->body)
    n = tsl__node_at(x, tsl__rule_at(x, n.a)->body);
  if (n.kind == TSL__K_JSTR)
    return counts_any(x, n.a, least, most) ? TSL__TEXT_COUNTED : TSL__TEXT_OTHER;
  if (n.kind != TSL__K_SEQ) return TSL__TEXT_OTHER;
  tsl__node quote = tsl__node_at(x, n.a), string = tsl__node_at(x, n.b);
  bool quoted = quote.kind == TSL__K_LIT && quote.b == 1 && *tsl__literal_at(x, quote.a) == '"';
  return quoted && string.kind == TSL__K_JSTR && counts_any(x, string.a, least, most)
             ? TSL__TEXT_QUOTED
             : TSL__TEXT_OTHER;
}

unsigned tsl__text_of(tsl__exprs *x, tsl__expr e, uint32_t *least, uint32_t *most) {
  tsl__letter_set letters, all = {.bytes = TSL__BYTES_ALL}, raw = {.bytes = TSL__BYTES_ALL};
  uint32_t need;
  frame f = frame_of(x, e);
  if (!f.json || f.n.flags & TSL__CALLS) return TSL__TEXT_OTHER;
  if (counts_any(x, f.n.a, least, most)) return TSL__TEXT_COUNTED;
  if (f.limit != TSL__INF || !tsl__letters_endless(x, f.inner, &letters, &need, 0))
    return TSL__TEXT_OTHER;
  raw_only(&raw.bytes);
  return tsl__letters_within(&all, &letters)   ? TSL__TEXT_ENDLESS
         : tsl__letters_within(&raw, &letters) ? TSL__TEXT_OPEN
                                               : TSL__TEXT_OTHER;
}

void tsl__letters_of(tsl__exprs *x, tsl__expr e, tsl__letters *out) {
  memset(out, 0, sizeof *out);
  out->limit = out->dead = TSL__INF;
  frame f = frame_of(x, e);
  tsl__expr inner = f.inner;
  uint32_t limit = f.limit;
  bool json = f.json;
  tsl__node m = tsl__node_at(x, inner);
  if (m.kind == TSL__K_KEYS) return;
  /* its patterns forbid no letter */
  if (m.kind == TSL__K_CASES) inner = tsl__cases_text(x, &m), m = tsl__node_at(x, inner);
  tsl__letter_set letters = {0};
  uint32_t need = 0;
  tsl__bytes live;
  /* a loop over few may be followed by many */
  bool found = by_structure(x, inner, out, &letters, &need, &live) && tsl__letters_enough(&letters);
  /* with a length it would have to be known what groups need */
  if (!found && limit == TSL__INF && (m.kind == TSL__K_SEQ || m.kind == TSL__K_REPEAT))
    found = by_groups(x, inner, out, &letters, &live);
  tsl__reached r;
  if (!found && endless_string(x, &m, &letters)) {
    live = TSL__BYTES_ALL;
    found = json = true;
  }
  if (!found) {
    live = TSL__BYTES_ALL;
    out->counted = out->whole = false;
    out->limit = TSL__INF;
    out->ends = true;
    found = !(m.flags & TSL__CALLS) && tsl__letters_endless(x, inner, &letters, &need, 0) &&
            tsl__letters_enough(&letters);
  }
  if (found && limit != TSL__INF) {
    uint32_t now = tsl__expr_shortest(x, inner);
    if (now > need) need = now;
  }
  if (!found && m.kind == TSL__K_NATIVE && (found = native_letters(x, &m, &letters.bytes, &need)))
    out->ends = tsl__expr_nullable(x, inner);
  /* what is finite goes on with no letters for ever */
  if (!found && !m.loop && !(m.flags & (TSL__CALLS | TSL__FINITE))) {
    need = 0;
    letters = (tsl__letter_set){.nonascii = NULL};
    tsl__live_bytes(x, inner, &letters.bytes);
    if (json) raw_only(&letters.bytes);
    found = tsl__letters_explore(x, inner, json, &letters, &r);
    if (found) sum_up(x, &r, &out->ends, limit != TSL__INF ? &need : NULL), live = r.live;
  }
  /* what leads back here, or to what does, meets no calls but those that these begin with */
  if (!found && !json && !m.loop && m.flags & TSL__CALLS) {
    letters = (tsl__letter_set){.nonascii = NULL};
    tsl__live_bytes(x, inner, &letters.bytes);
    found = tsl__letters_explore(x, inner, false, &letters, &r);
    if (found) sum_up(x, &r, &out->ends, NULL), live = r.live;
    if (found) out->calls = r.calls;
    for (unsigned i = 0; i < r.n && found; i++) out->calls |= calls_at_head(x, r.at[i]);
  }
  /* not without end, but so many of one class that few tokens have more */
  if (!found && limit == TSL__INF && !(m.flags & TSL__CALLS) &&
      (m.flags & (TSL__COUNTS | TSL__FINITE)) &&
      (found = tsl__letters_by_room(x, inner, &letters, &out->limit, &out->dead, &out->ends)))
    live = TSL__BYTES_ALL;
  if (limit != TSL__INF) { /* letters may be read until what is needed at the end just fits */
    out->limit = limit > need ? limit - need : 0;
    out->dead = limit;
    /* what ends in text, once it is complete, may go on until it is long enough */
    if (out->counted || (out->limit < f.min && !ends_in_text(x, inner))) found = false;
  }
  if (json) raw_only(&letters.bytes), out->ends = false;
  if (found && tsl__bytes_equal(&live, &TSL__BYTES_ALL)) leave(x, inner, json, &letters, &live);
  if (!found || !tsl__letters_enough(&letters)) return;
  out->letters = letters.bytes;
  out->nonascii = tsl__letters_nonascii(&letters) ? letters.nonascii : NULL;
  if (json) tsl__bytes_add(&live, '"'), tsl__bytes_add(&live, '\\');
  for (int i = 0; i < 4; i++) out->exits.w[i] = live.w[i] & ~out->letters.w[i];
  if (!json) return;
  /* control characters are never legal in a JSON string */
  out->exits.w[0] &= ~(uint64_t)0xFFFFFFFF;
}
