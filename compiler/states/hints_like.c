/* hints_like.c - which state without limits a state is like, when its limits are far.
 *
 * Idea      A text may be far from every limit, of its length or of how often a group may be
 *           repeated. Then it is followed as if there were none. So one walk serves all counts. It
 *           is exact for tokens that are too short to reach a limit. An upper bound has no effect
 *           before it is reached, neither on what may come next nor on the shortest completion. The
 *           length is dropped first: without it the state does not depend on the position any more.
 *           Then groups, then automata that know their own limits. An intersection that is no JSON
 *           string loses the maximum of the part that counts characters of a class. So do the parts
 *           of a sequence, and alternatives (unbounded). Forbidden texts are a limit too: as long
 *           as none of them can be spelled, all texts go. Near a group's limit, a state whose
 *           groups may be repeated only a few times helps. A token that it allows is allowed: what
 *           few repetitions take, more of them take as well.
 * Example   (\S+\s+){0,49}\S+ of at most 500 characters is walked as (\S+\s+){0,49}\S+, and that as
 *           (\S+\s+)*\S+, one walk for all words.
 * Tested by tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/states/hints.h"

#define DEPTH_MAX 64u /* of expressions that are looked into by structure */
#define ALTERNATIVES_MAX 64u

/* The fewest characters of a text; a lower bound. */
static uint32_t fewest(const tsl__exprs *x, tsl__expr e) {
  uint32_t least, most;
  tsl__expr_characters(x, e, &least, &most);
  return least;
}

#define REPLACED 64u       /* a power of two */
#define REPLACED_MAX 4096u /* expressions that are replaced in one go; the others stay */

/* What expressions were replaced by. Alternatives share what follows them, so a part of which ten
 * repetitions are written out can be come to in 2^10 ways. */
typedef struct replaced {
  tsl__expr e[REPLACED], by[REPLACED];
  uint32_t n; /* so many were */
} replaced;

/* A sequence or alternatives with each part replaced; e itself if none changes, or there are too
 * many. NONE: a part has none. */
static tsl__expr with_parts_anew(tsl__exprs *x, tsl__expr e,
                                 tsl__expr (*part)(void *ctx, tsl__expr e, unsigned depth),
                                 void *ctx, unsigned depth) {
  tsl__node n = tsl__node_at(x, e);
  tsl__expr all[ALTERNATIVES_MAX];
  bool changed = false;
  if (n.kind == TSL__K_SEQ) {
    tsl__expr head = part(ctx, n.a, depth + 1), tail = part(ctx, n.b, depth + 1);
    return head == n.a && tail == n.b ? e : tsl__expr_seq(x, head, tail);
  }
  if (n.b > ALTERNATIVES_MAX) return e;
  for (uint32_t i = 0; i < n.b; i++) {
    tsl__expr one = tsl__list_at(x, n.a)[i];
    if (!(all[i] = part(ctx, one, depth + 1))) return TSL__NONE;
    changed |= all[i] != one;
  }
  return changed ? tsl__expr_alt_n(x, all, n.b) : e;
}

/* The same, or what is known of it. */
static tsl__expr with_parts(tsl__exprs *x, tsl__expr e,
                            tsl__expr (*part)(void *ctx, tsl__expr e, unsigned depth), void *ctx,
                            replaced *known, unsigned depth) {
  uint32_t i = e & (REPLACED - 1);
  if (known->e[i] == e) return known->by[i];
  if (known->n == REPLACED_MAX) return e;
  known->n++;
  tsl__expr by = with_parts_anew(x, e, part, ctx, depth);
  known->e[i] = e;
  known->by[i] = by;
  return by;
}

struct relaxing {
  tsl__exprs *x;
  bool begun;     /* the active loop has its minimum */
  uint32_t limit; /* characters that are read before a maximum is met, at least */
  /* characters of an iteration of the active loop, at least; 0: it was left as it is */
  uint32_t unit;
  uint32_t few; /* not 0: maxima are lowered to this instead */
  bool failed;  /* there is no such lower one */
  replaced known;
};

#define FEW 8u

/* e with the maxima of its groups' repetitions removed, where it takes a long text to get there;
 * or with these maxima lowered. */
static tsl__expr relax(void *ctx, tsl__expr e, unsigned depth) {
  struct relaxing *r = ctx;
  tsl__exprs *x = r->x;
  tsl__node n = tsl__node_at(x, e);
  /* a class has no groups, but many parts */
  if (depth > DEPTH_MAX || n.flags & (TSL__CALLS | TSL__CHAR) || !(n.traits & TSL__GROUPS))
    return e;
  if (n.kind == TSL__K_COUNTED && r->begun && !(tsl__node_at(x, n.a).flags & TSL__CHAR) &&
      (r->unit = fewest(x, n.a)))
    return tsl__expr_repeat(x, relax(r, n.a, depth + 1), 0, r->few ? r->few : TSL__INF);
  if (n.kind == TSL__K_SEQ || n.kind == TSL__K_ALT)
    return with_parts(x, e, relax, r, &r->known, depth);
  if (n.kind == TSL__K_NATIVE) {
    const tsl__native native = *tsl__native_at(x, n.a);
    uint32_t far = 0, param = native.ops->like ? native.ops->like(native.ctx, n.b, &far) : n.b;
    if (param == n.b || far < TSL__LIKE_ENOUGH) return e;
    if (far < r->limit) r->limit = far;
    r->failed |= r->few != 0;
    return tsl__expr_native(x, native.ops, native.ctx, param);
  }
  if (n.kind == TSL__K_JSTR) {
    tsl__expr text = relax(r, n.a, depth + 1);
    return text == n.a ? e : tsl__expr_json_string(x, text);
  }
  if (n.kind != TSL__K_REPEAT || tsl__node_at(x, n.a).flags & TSL__CHAR) return e;
  tsl__expr body = relax(r, n.a, depth + 1);
  uint64_t far = n.c == TSL__INF ? TSL__INF : (uint64_t)n.c * fewest(x, n.a);
  uint32_t few = n.b < r->few ? r->few : n.b, max = far < TSL__LIKE_ENOUGH ? n.c
                                                    : !r->few              ? TSL__INF
                                                    : few < n.c            ? few
                                                                           : n.c;
  if (max != n.c && far < r->limit) r->limit = (uint32_t)far;
  return body == n.a && max == n.c ? e : tsl__expr_repeat(x, body, n.b, max);
}

/* The same texts with few repetitions only. Near the limits it says of most tokens that they are
 * allowed, and it is one for all counts. */
static void find_low(tsl__exprs *x, tsl__expr rest, bool begun, tsl__letters *out) {
  struct relaxing r = {.x = x, .begun = begun, .limit = TSL__INF, .few = FEW};
  tsl__expr low = relax(&r, rest, 0);
  if (r.failed || low == rest || tsl__node_at(x, low).loop) return;
  out->low = tsl__expr_json_string(x, low);
  out->low_left = r.unit ? FEW : 0;
}

/* Characters of one kind, up to so many. What counts is their class, which knows its own limits,
 * but far from them all maxima are one. */
static void far_from_most(tsl__exprs *x, tsl__expr e, bool begun, tsl__letters *out) {
  tsl__node n = tsl__node_at(x, e);
  bool counted = n.kind == TSL__K_COUNTED;
  if ((!counted && n.kind != TSL__K_REPEAT) || n.c == TSL__INF || n.c < TSL__LIKE_ENOUGH ||
      !(tsl__node_at(x, n.a).flags & TSL__CHAR) || (counted && !begun))
    return;
  out->like = tsl__expr_json_string(x, counted ? tsl__expr_star(x, n.a)
                                               : tsl__expr_repeat(x, n.a, n.b, TSL__INF));
  out->like_limit = counted ? TSL__INF : n.c;
  out->like_unit = counted;
  out->like_dead = TSL__INF;
  out->like_far = true;
}

/* e, whose active loop has had all its iterations, without it; NONE: it cannot be said. */
static tsl__expr without_loop(void *ctx, tsl__expr e, unsigned depth) {
  tsl__exprs *x = ctx;
  tsl__node n = tsl__node_at(x, e);
  if (!n.loop) return e;
  if (depth > DEPTH_MAX || n.flags & TSL__CALLS) return TSL__NONE;
  switch ((tsl__kind)n.kind) {
  case TSL__K_COUNTED: return TSL__EPS;
  case TSL__K_JSTR: {
    tsl__expr text = without_loop(x, n.a, depth + 1);
    return text ? tsl__expr_json_string(x, text) : TSL__NONE;
  }
  case TSL__K_SEQ:
  case TSL__K_ALT: {
    tsl__expr rest = with_parts_anew(x, e, without_loop, x, depth);
    return rest == e ? TSL__NONE : rest;
  }
  default: return TSL__NONE;
  }
}

/* Once its active loop has had all its iterations, e is as if it were not there. */
void tsl__nonascii_loop(tsl__exprs *x, tsl__expr e, tsl__letters *out) {
  out->like = without_loop(x, e, 0);
  out->like_limit = out->like_dead = TSL__INF;
}

/* Texts that end before any limit is met are those of an expression without limits: that of the
 * length, and those of repeated groups. */
void tsl__far_from_limit(tsl__exprs *x, tsl__expr rest, bool begun, uint32_t length, bool json,
                         tsl__letters *out) {
  struct relaxing r = {.x = x, .begun = begun, .limit = TSL__INF};
  if (json && length == TSL__INF) far_from_most(x, rest, begun, out);
  if (out->like) return;
  tsl__expr relaxed = relax(&r, rest, 0);
  if (tsl__node_at(x, relaxed).loop) return;
  /* first the length: what is left without it depends on the position no more */
  if (length != TSL__INF) {
    uint32_t need = tsl__need_of(x, relaxed, length);
    if (need == TSL__NEED_UNKNOWN || need >= length) return;
    out->like = json ? tsl__expr_json_string(x, rest) : rest;
    out->like_limit = length - need;
    out->like_dead = json ? length : TSL__INF;
  } else if (relaxed != rest) {
    out->like = json ? tsl__expr_json_string(x, relaxed) : relaxed;
    out->like_limit = r.limit;
    out->like_dead = TSL__INF;
    out->like_unit = r.unit;
    if (json) find_low(x, rest, begun, out);
  }
}

/* A sequence or alternatives whose parts have bounds of their characters, as `.{0,3000} "end"` has.
 * Without the upper bounds all counts are one. A part may also be a meet with such a bound: what it
 * still needs must fit. */
typedef struct unbounding {
  tsl__exprs *x;
  bool begun;     /* the active loop has its minimum */
  bool counted;   /* it was left out */
  uint32_t limit; /* characters that are read before an upper bound is met, at least */
  replaced known;
} unbounding;

static tsl__expr unbounded(void *ctx, tsl__expr e, unsigned depth);

/* A text of a meet that meets no upper bound is one of the meet without them. What is still needed
 * after a token must not meet one either. */
static tsl__expr unbounded_meet(unbounding *u, tsl__expr e, const tsl__node *n, unsigned depth) {
  tsl__expr parts[8];
  unbounding own = {.x = u->x, .limit = TSL__INF};
  uint32_t need;
  if (n->b > 8) return e;
  for (uint32_t i = 0; i < n->b; i++)
    parts[i] = unbounded(&own, tsl__list_at(u->x, n->a)[i], depth + 1);
  if (own.limit == TSL__INF) return e;
  tsl__expr rest = tsl__and_n(u->x, parts, n->b);
  if ((need = tsl__need_of(u->x, rest, own.limit)) == TSL__NEED_UNKNOWN || need >= own.limit ||
      own.limit - need < TSL__LIKE_ENOUGH)
    return e;
  if (own.limit - need < u->limit) u->limit = own.limit - need;
  return rest;
}

static tsl__expr unbounded(void *ctx, tsl__expr e, unsigned depth) {
  unbounding *u = ctx;
  tsl__exprs *x = u->x;
  tsl__node n = tsl__node_at(x, e);
  if (n.flags & TSL__CHAR || depth > DEPTH_MAX) return e;
  switch ((tsl__kind)n.kind) {
  case TSL__K_COUNTED:
    if (!u->begun || !(tsl__node_at(x, n.a).flags & TSL__CHAR)) return e;
    u->counted = true;
    return tsl__expr_star(x, n.a);
  case TSL__K_REPEAT:
    if (n.c == TSL__INF || n.c < TSL__LIKE_ENOUGH || !(tsl__node_at(x, n.a).flags & TSL__CHAR))
      return e;
    if (n.c < u->limit) u->limit = n.c;
    return tsl__expr_repeat(x, n.a, n.b, TSL__INF);
  case TSL__K_AND: return n.flags & TSL__CALLS ? e : unbounded_meet(u, e, &n, depth);
  case TSL__K_SEQ:
  case TSL__K_ALT: return with_parts(x, e, unbounded, u, &u->known, depth);
  default: return e;
  }
}

void tsl__far_from_counts(tsl__exprs *x, tsl__expr e, bool begun, tsl__letters *out) {
  tsl__node n = tsl__node_at(x, e);
  unbounding u = {.x = x, .begun = begun, .limit = TSL__INF};
  if (n.loop && !(n.traits & TSL__EXITS)) return; /* its letters say the same, and faster */
  tsl__expr rest = unbounded(&u, e, 0);
  if (rest == e || tsl__node_at(x, rest).loop || x->status != TSL_OK) return;
  out->like = rest;
  out->like_unit = u.counted;
  out->like_far = !u.counted; /* what is counted down is often too ambiguous near a bound */
  out->like_limit = u.limit;
  out->like_dead = TSL__INF;
}

/* A least length is not met by what closes a text too early. Where any text could go on until it is
 * long enough, all else is as if there were none. */
void tsl__far_from_bounds(tsl__exprs *x, tsl__expr e, tsl__letters *out) {
  uint32_t most, need;
  tsl__expr rest = tsl__without_bounds(x, e, &most);
  if (!rest || (need = tsl__need_of(x, rest, most)) == TSL__NEED_UNKNOWN || need >= most) return;
  out->open = tsl__expr_json_string(x, rest);
  out->like_limit = most == TSL__INF ? TSL__INF : most - need;
  out->like_dead = most;
}

void tsl__need_ahead(tsl__exprs *x, tsl__expr text) {
  struct relaxing r = {.x = x, .begun = true, .limit = TSL__INF};
  tsl__need_of(x, relax(&r, text, 0), TSL__INF);
}

/* Texts but those that hold something long: far from that, all texts. A text shorter than every
 * forbidden one is none of them; so is what completes it, if there is room for that. */
void tsl__far_from_forbidden(tsl__exprs *x, tsl__expr e, tsl__letters *out) {
  tsl__node n = tsl__node_at(x, e);
  tsl__expr rest[8];
  uint32_t count = 0, limit = TSL__INF;
  if (n.kind != TSL__K_AND || n.b > 8) return;
  for (uint32_t i = 0; i < n.b; i++) {
    tsl__expr c = tsl__list_at(x, n.a)[i];
    tsl__node m = tsl__node_at(x, c);
    uint32_t far = m.kind == TSL__K_NOT ? fewest(x, m.a) : 0;
    if (far <= TSL__LIKE_ENOUGH)
      rest[count++] = c;
    else if (far < limit)
      limit = far;
  }
  if (limit == TSL__INF || count == 0) return;
  tsl__expr left = tsl__and_n(x, rest, count);
  /* to find out what is needed may take long: not less than that */
  if (!(tsl__node_at(x, left).flags & TSL__TEXTUAL) ||
      tsl__node_at(x, left).shortest >= limit - TSL__LIKE_ENOUGH)
    return;
  uint32_t need = tsl__need_of(x, left, limit);
  if (need == TSL__NEED_UNKNOWN || need >= limit - TSL__LIKE_ENOUGH) return;
  out->like = tsl__expr_json_string(x, left);
  out->like_limit = limit - 1 - need;
  out->like_dead = TSL__INF;
}

/* Texts of which one part says how many characters they have: the limit matters only near it. */
tsl__expr tsl__without_length(tsl__exprs *x, tsl__expr e, bool whole, uint32_t *min,
                              uint32_t *limit) {
  tsl__node n = tsl__node_at(x, e);
  tsl__expr parts[8];
  *min = 0;
  *limit = TSL__INF;
  if (n.kind != TSL__K_AND || n.b > 8 || (!whole && n.loop)) return e;
  for (uint32_t i = 0; i < n.b; i++) {
    tsl__node m = tsl__node_at(x, parts[i] = tsl__list_at(x, n.a)[i]);
    if (m.kind != TSL__K_REPEAT || *limit != TSL__INF) continue;
    bool counts =
        whole ? m.a == x->any_char : m.c != TSL__INF && tsl__node_at(x, m.a).flags & TSL__CHAR;
    if (!counts) continue;
    *min = m.b;
    *limit = m.c;
    parts[i] = tsl__expr_repeat(x, m.a, whole ? 0 : m.b, TSL__INF);
  }
  return *limit == TSL__INF ? e : tsl__and_n(x, parts, n.b);
}
