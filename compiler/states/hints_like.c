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
#define NEED_STATES_MAX 512u
#define BOUND_NODES_MAX 2048u
#define NEED_UNKNOWN UINT32_MAX
#define NEED_OPEN (UINT32_MAX - 1) /* of the exploration under way */
#define ALTERNATIVES_MAX 64u

static tsl__known_need *need_slot(const tsl__exprs *x, tsl__expr e) {
  uint32_t mask = x->need_slots - 1, i = (uint32_t)tsl__mix(e) & mask;
  while (x->needs[i].e && x->needs[i].e != e) i = (i + 1) & mask;
  return &x->needs[i];
}

/* What is known of an expression, here or below; NULL: nothing. */
static const tsl__known_need *known_need(const tsl__exprs *x, tsl__expr e) {
  for (const tsl__exprs *layer = x; layer; layer = layer->parent)
    if (layer->need_slots && need_slot(layer, e)->e) return need_slot(layer, e);
  return NULL;
}

static bool need_grow(tsl__exprs *x) {
  tsl__known_need *old = x->needs;
  uint32_t old_slots = x->need_slots, slots = old_slots ? old_slots * 2 : 256;
  tsl__known_need *fresh = tsl__alloc_zero(&x->alloc, slots * sizeof *fresh);
  if (!fresh) return tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory"), false;
  x->needs = fresh;
  x->need_slots = slots;
  for (uint32_t i = 0; i < old_slots; i++)
    if (old[i].e) *need_slot(x, old[i].e) = old[i];
  tsl__free(&x->alloc, old, old_slots * sizeof *old);
  return true;
}

static bool need_put(tsl__exprs *x, tsl__known_need known) {
  if (x->need_count * 2 >= x->need_slots && !need_grow(x)) return false;
  tsl__known_need *slot = need_slot(x, known.e);
  if (!slot->e) x->need_count++;
  *slot = known;
  return true;
}

struct step { /* a byte leads from one expression to another */
  uint16_t from, to;
};

/* Expressions that one leads to: each with the fewest bytes of its texts, once those are known. */
typedef struct reached {
  tsl__expr at[NEED_STATES_MAX];
  uint32_t shortest[NEED_STATES_MAX];
  uint32_t n, need;
  TSL__VEC(struct step) steps;
} reached;

/* Where a byte leads from expression `from`: to one whose need is known already, or to one of this
 * exploration. */
static void reach(tsl__exprs *x, reached *r, uint32_t from, tsl__expr d) {
  const tsl__known_need *slot = known_need(x, d);
  bool met = slot != NULL;
  if (met && slot->need != NEED_OPEN) {
    /* what is not known of one is not known of those that lead to it */
    if (slot->need > r->need) r->need = slot->need;
    if (slot->need != NEED_UNKNOWN && slot->shortest + 1 < r->shortest[from])
      r->shortest[from] = slot->shortest + 1;
    return;
  }
  struct step step = {(uint16_t)from, (uint16_t)(met ? slot->shortest : r->n)};
  if (!met && (r->n == NEED_STATES_MAX || !need_put(x, (tsl__known_need){d, NEED_OPEN, r->n}))) {
    r->need = NEED_UNKNOWN;
    return;
  }
  if (!met) r->at[r->n++] = d;
  if (!tsl__vec_push(&x->alloc, &r->steps, step))
    tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
}

/* The fewest bytes of all at once, from what is found first to what leads to it. */
static void measure(tsl__exprs *x, reached *r) {
  for (bool changed = true; changed && x->status == TSL_OK;) {
    changed = false;
    tsl__exprs_work(x, r->steps.n / 8);
    for (size_t k = r->steps.n; k-- > 0;) {
      struct step step = r->steps.at[k];
      if (r->shortest[step.to] == TSL__INF || r->shortest[step.to] + 1 >= r->shortest[step.from])
        continue;
      r->shortest[step.from] = r->shortest[step.to] + 1;
      changed = true;
    }
  }
  for (uint32_t i = 0; i < r->n; i++)
    if (r->shortest[i] > r->need) r->need = r->shortest[i];
}

/* The longest of the shortest texts of e and all that it leads to, in bytes: up to NEED_STATES_MAX
 * expressions, one by one. */
static uint32_t explore(tsl__exprs *x, tsl__expr e) {
  const tsl__known_need *known = known_need(x, e);
  if (known) return known->need;
  reached r = {.at = {e}, .n = 1};
  if (!need_put(x, (tsl__known_need){e, NEED_OPEN, 0})) return NEED_UNKNOWN;
  for (uint32_t i = 0; i < r.n && r.need != NEED_UNKNOWN && tsl__exprs_step(x); i++) {
    tsl__bytes edges;
    tsl__alike a;
    r.shortest[i] = tsl__node_at(x, r.at[i]).flags & TSL__NULLABLE_LOW ? 0 : TSL__INF;
    tsl__boundaries(x, r.at[i], &edges);
    bool read = tsl__alike_of(x, r.at[i], &edges, &a);
    for (unsigned b = 0, k = 0; b < 256 && r.need != NEED_UNKNOWN; b++) {
      if (b && !tsl__bytes_has(&edges, b)) continue;
      k += b != 0;
      tsl__expr d = read && tsl__alike_first(&a, k) < k ? TSL__NONE
                                                        : tsl__derive_plain(x, r.at[i], (uint8_t)b);
      if (d) reach(x, &r, i, d);
    }
  }
  if (r.need != NEED_UNKNOWN) measure(x, &r);
  tsl__vec_free(&x->alloc, &r.steps);
  if (x->status != TSL_OK) r.need = NEED_UNKNOWN;
  for (uint32_t i = 0; i < r.n; i++)
    *need_slot(x, r.at[i]) = (tsl__known_need){r.at[i], r.need, r.shortest[i]};
  return r.need;
}

/* Bound an expression by its structure. Intersections inside it are explored, but not the whole.
 * False: parts of it have no known bound, or there are too many parts. */
static bool bound_of(tsl__exprs *x, tsl__expr e, uint32_t *room, bool part, tsl__known_bound *out);

/* from so many on its bound is remembered: what is left of a text after a byte has mostly the same
 * parts */
#define BOUND_PARTS 8u

static bool bound_of_parts(tsl__exprs *x, tsl__expr e, uint32_t *room, bool part,
                           tsl__known_bound *out) {
  tsl__node n = tsl__node_at(x, e);
  tsl__known_bound one;
  *out = (tsl__known_bound){e, n.shortest, 0};
  switch ((tsl__kind)n.kind) {
  case TSL__K_EPS:
  case TSL__K_BYTES: return true;
  case TSL__K_LIT: out->later = n.shortest - 1; return true;
  case TSL__K_NATIVE: return (out->later = tsl__native_at(x, n.a)->ops->later) != 0;
  case TSL__K_SEQ: /* what is left of the first part, and the second; then what is left of that */
    if (!bound_of(x, n.a, room, true, &one) || !bound_of(x, n.b, room, true, out)) return false;
    one.later = tsl__add(one.later, out->shortest);
    if (one.later > out->later) out->later = one.later;
    out->shortest = tsl__add(one.shortest, out->shortest);
    out->e = e;
    return true;
  case TSL__K_ALT:
    out->shortest = TSL__INF;
    for (uint32_t i = 0; i < n.b; i++) {
      if (!bound_of(x, tsl__list_at(x, n.a)[i], room, true, &one)) return false;
      if (one.later > out->later) out->later = one.later;
      if (one.shortest < out->shortest) out->shortest = one.shortest;
    }
    return true;
  case TSL__K_REPEAT: /* an iteration in progress, and those that must follow */
    if (!bound_of(x, n.a, room, true, &one)) return false;
    *out = (tsl__known_bound){e, tsl__multiply(n.b, one.shortest),
                              tsl__add(one.later, n.b ? tsl__multiply(n.b - 1, one.shortest) : 0)};
    return true;
  case TSL__K_AND:
    if (!part || n.loop) return false;
    out->later = explore(x, e);
    out->shortest = out->later == NEED_UNKNOWN ? 0 : known_need(x, e)->shortest;
    return out->later != NEED_UNKNOWN;
  default: return false;
  }
}

static bool bound_of(tsl__exprs *x, tsl__expr e, uint32_t *room, bool part, tsl__known_bound *out) {
  tsl__known_bound *known = x->known_bounds ? &x->known_bounds[e % TSL__KNOWN_BOUNDS] : NULL;
  uint32_t before = *room;
  if (before == 0) return false;
  --*room;
  if (known && known->e == e) return *out = *known, true;
  if (!bound_of_parts(x, e, room, part, out)) return false;
  if (before - *room < BOUND_PARTS) return true;
  if (!x->known_bounds && !(x->known_bounds = tsl__alloc_zero(
                                &x->alloc, TSL__KNOWN_BOUNDS * sizeof *x->known_bounds))) {
    tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
    return false;
  }
  x->known_bounds[e % TSL__KNOWN_BOUNDS] = *out;
  return true;
}

/* ---- what is looked for in any text ---------------------------------------------------------- */

#define SEARCHES_MAX 16u

/* Any number of characters, of a class or of all? */
static bool is_star_of(const tsl__exprs *x, tsl__expr e, tsl__expr class) {
  tsl__node n = tsl__node_at(x, e);
  return n.kind == TSL__K_REPEAT && n.b == 0 && n.c == TSL__INF &&
         (n.a == class || n.a == x->any_char);
}

/* So many characters of a class, or more: how many bytes do they need? Not with one of another
 * class before them, as in `.[^]*`: that asks something of the beginning. */
static bool is_least_of(const tsl__exprs *x, tsl__expr e, tsl__expr class, uint32_t *bytes) {
  tsl__node n = tsl__node_at(x, e), loop = n;
  if (n.kind == TSL__K_SEQ) loop = tsl__node_at(x, n.b);
  *bytes = n.shortest;
  return loop.kind == TSL__K_REPEAT && loop.c == TSL__INF && loop.a == class &&
         (loop.kind == n.kind || n.a == class);
}

/* Any characters of a class, then something, then any again? */
static bool is_search(const tsl__exprs *x, tsl__expr e, tsl__expr class) {
  tsl__node n = tsl__node_at(x, e), head;
  if (n.kind != TSL__K_SEQ) return false;
  tsl__expr first = n.a;
  for (head = tsl__node_at(x, first);
       head.kind == TSL__K_SEQ || (head.kind == TSL__K_REPEAT && head.b);
       head = tsl__node_at(x, first))
    first = head.a;
  while (n.kind == TSL__K_SEQ) e = n.b, n = tsl__node_at(x, e);
  return is_star_of(x, first, class) && is_star_of(x, e, class);
}

/* What a part looks for in any text of a class; NONE: nothing that is known. */
static tsl__expr search_in(const tsl__exprs *x, tsl__expr e, tsl__expr class) {
  tsl__node n = tsl__node_at(x, e);
  /* what may be missing is not looked for */
  while (n.kind == TSL__K_SEQ && !is_search(x, e, class) && tsl__expr_nullable(x, n.a))
    e = n.b, n = tsl__node_at(x, e);
  if (n.kind != TSL__K_ALT) return is_search(x, e, class) ? e : TSL__NONE;
  for (uint32_t i = 0; i < n.b; i++)
    if (is_search(x, tsl__list_at(x, n.a)[i], class)) return tsl__list_at(x, n.a)[i];
  return TSL__NONE;
}

/* A character that no forbidden text of a meet holds, but the texts of a class. Behind any text it
 * sees to it that the text is none of those. NULL: there is none, or nothing to be forbidden. */
static const char *spared_by(tsl__exprs *x, tsl__expr e, tsl__expr class) {
  static const char *const one[] = {"\xF4\x8F\xBF\xBF", "\n", " "};
  for (size_t k = 0; k < sizeof one / sizeof *one; k++) {
    tsl__node n = tsl__node_at(x, e);
    uint32_t i = 0;
    for (tsl__node m; i < n.b; i++)
      if ((m = tsl__node_at(x, tsl__list_at(x, n.a)[i])).kind == TSL__K_NOT &&
          !tsl__spares(x, m.a, (uint8_t)*one[k]))
        break;
    if (i == n.b && tsl__expr_matches(x, class, one[k], strlen(one[k]))) return one[k];
  }
  return NULL;
}

/* Are all texts that begin as one of e does texts of e? By structure; false if in doubt. */
static bool is_kept(const tsl__exprs *x, tsl__expr e, unsigned depth) {
  tsl__node n = tsl__node_at(x, e);
  while (n.kind == TSL__K_SEQ) e = n.b, n = tsl__node_at(x, e);
  if (n.kind != TSL__K_ALT || n.b > ALTERNATIVES_MAX || depth > DEPTH_MAX) return e == x->text;
  for (uint32_t i = 0; i < n.b; i++)
    if (!is_kept(x, tsl__list_at(x, n.a)[i], depth + 1)) return false;
  return true;
}

/* A meet of any text of a class and what is forbidden. It stays so whatever follows: what was read
 * is all right as it is. */
static bool needs_nothing(const tsl__exprs *x, const tsl__node *n, tsl__expr class) {
  for (uint32_t i = 0; i < n->b; i++) {
    tsl__expr c = tsl__list_at(x, n->a)[i];
    tsl__node m = tsl__node_at(x, c);
    if (!(m.kind == TSL__K_NOT ? is_kept(x, m.a, 0) : is_star_of(x, c, class))) return false;
  }
  return true;
}

/* The class of which the texts of a meet are: what one of its parts says; else all characters. */
static tsl__expr class_of(const tsl__exprs *x, const tsl__expr *parts, uint32_t n) {
  tsl__expr class = x->any_char;
  for (uint32_t i = 0; i < n; i++) {
    tsl__node m = tsl__node_at(x, parts[i]);
    if (m.kind == TSL__K_REPEAT && tsl__node_at(x, m.a).flags & TSL__CHAR && m.a != x->any_char)
      class = m.a;
  }
  return class;
}

/* A meet of parts, each of which looks for something in any text of a class, wherever it stands, or
 * forbids texts without some character. Whatever was read, what they look for can come one after
 * another, and that character behind it. The class is that which the texts of one part are of, or
 * all characters. False: it is none. */
static bool need_of_searches(tsl__exprs *x, tsl__expr e, uint32_t *need) {
  tsl__node n = tsl__node_at(x, e);
  tsl__expr class, all;
  const char *spared = "";
  uint32_t least, sum = 3; /* bytes of a character under way */
  if (n.kind != TSL__K_AND || n.b > SEARCHES_MAX || n.loop) return false;
  class = class_of(x, tsl__list_at(x, n.a), n.b);
  all = class == x->any_char ? TSL__NONE : tsl__expr_star(x, class);
  if (needs_nothing(x, &n, class)) return *need = sum, true;
  for (uint32_t i = 0; i < n.b; i++) {
    tsl__expr c = tsl__list_at(x, n.a)[i], search;
    if (is_star_of(x, c, class)) continue;
    if (is_least_of(x, c, class, &least)) {
      sum = tsl__add(sum, least);
      continue;
    }
    if (tsl__node_at(x, c).kind == TSL__K_NOT) {
      if (!*spared && !(spared = spared_by(x, e, class))) return false;
      continue;
    }
    if (!(search = search_in(x, c, class)) || (all && !(search = tsl__expr_and(x, search, all))))
      return false;
    sum = tsl__add(sum, tsl__expr_shortest(x, search));
  }
  return *need = tsl__add(sum, (uint32_t)strlen(spared)), *need < TSL__INF && x->status == TSL_OK;
}

/* As `explore`, in bytes, which bounds the characters; by structure, if that says that it is far
 * below `length`. */
static uint32_t need_of(tsl__exprs *x, tsl__expr e, uint32_t length) {
  uint32_t room = BOUND_NODES_MAX, most;
  tsl__known_bound bound;
  const tsl__known_need *known = known_need(x, e);
  if (known) return known->need;
  if (bound_of(x, e, &room, false, &bound)) {
    most = bound.shortest > bound.later ? bound.shortest : bound.later;
    if (most < length / 2) return most;
  }
  return need_of_searches(x, e, &most) ? most : explore(x, e);
}

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
    uint32_t need = need_of(x, relaxed, length);
    if (need == NEED_UNKNOWN || need >= length) return;
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
  if ((need = need_of(u->x, rest, own.limit)) == NEED_UNKNOWN || need >= own.limit ||
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

/* Texts that look for something among any characters of a class: whatever was read, what they look
 * for can still come. So any such characters begin one of them, and these alone. A bound of the
 * length goes first, as above. */
void tsl__alone_of(tsl__exprs *x, tsl__expr e, tsl__letters *out) {
  tsl__node n = tsl__node_at(x, e);
  tsl__expr parts[SEARCHES_MAX];
  uint32_t need, most = TSL__INF;
  if (n.kind != TSL__K_AND || n.b > SEARCHES_MAX || n.loop || n.flags & TSL__CALLS) return;
  memcpy(parts, tsl__list_at(x, n.a), n.b * sizeof *parts);
  tsl__expr class = class_of(x, parts, n.b), all = tsl__expr_star(x, class);
  for (uint32_t i = 0; i < n.b; i++) {
    tsl__node m = tsl__node_at(x, parts[i]);
    /* what is forbidden may be all that is left */
    if (m.kind == TSL__K_NOT && !spared_by(x, e, class)) return;
    if (m.kind != TSL__K_REPEAT || m.a != class) continue;
    if (m.c < most) most = m.c;
    parts[i] = all;
  }
  tsl__expr rest = tsl__and_n(x, parts, n.b);
  if (tsl__node_at(x, rest).kind != TSL__K_AND)
    need = tsl__expr_shortest(x, rest);
  else if (!need_of_searches(x, rest, &need))
    return;
  if (need >= most || x->status != TSL_OK) return;
  out->alone = rest == e ? all : rest;
  out->alone_limit = most == TSL__INF ? TSL__INF : most - need;
  out->alone_dead = most;
}

/* A least length is not met by what closes a text too early. Where any text could go on until it is
 * long enough, all else is as if there were none. */
void tsl__far_from_bounds(tsl__exprs *x, tsl__expr e, tsl__letters *out) {
  uint32_t most, need;
  tsl__expr rest = tsl__without_bounds(x, e, &most);
  if (!rest || (need = need_of(x, rest, most)) == NEED_UNKNOWN || need >= most) return;
  out->open = tsl__expr_json_string(x, rest);
  out->like_limit = most == TSL__INF ? TSL__INF : most - need;
  out->like_dead = most;
}

void tsl__need_ahead(tsl__exprs *x, tsl__expr text) {
  struct relaxing r = {.x = x, .begun = true, .limit = TSL__INF};
  need_of(x, relax(&r, text, 0), TSL__INF);
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
  uint32_t need = need_of(x, left, limit);
  if (need == NEED_UNKNOWN || need >= limit - TSL__LIKE_ENOUGH) return;
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
