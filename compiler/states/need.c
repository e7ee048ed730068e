/* need.c - how much a text may still need, at most, whatever is read first.
 *
 * Problem   A text of at most 65 characters goes on like one of any length as long as what it needs
 *           at its end fits. What a password needs depends on which kinds of characters it has, and
 *           on how far a forbidden word is spelled: 2^4 times 8 states. To visit them all took most
 *           of the time of the first mask.
 * Idea      An upper bound is enough. The structure often gives one: of a sequence, what is left of
 *           its first part and all of the others. Where a meet looks for several things in any
 *           text, they can come one after another.
 * Forbidden What a text must not hold may be spelled in part. A character that it does not have
 *           ends that. So that character stands in front of each thing and behind all, and none of
 *           these things may be as long as what is forbidden.
 * Example   (?=.*[a-z])(?=.*[0-9])(?!.*word)[a-z0-9!]* needs at most `!a!0!`.
 * Cost      Some 20 parts are looked at. Where the structure says nothing, up to NEED_STATES_MAX
 *           expressions are visited, and their needs are remembered.
 * Tested by tests/engine/test_oracle.c, tests/walk/test_groups.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/states/letters.h"
#include "compiler/states/hints.h"

#define DEPTH_MAX 64u /* of expressions that are looked into by structure */
#define NEED_STATES_MAX 512u
#define BOUND_NODES_MAX 2048u
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
    if (slot->need != TSL__NEED_UNKNOWN && slot->shortest + 1 < r->shortest[from])
      r->shortest[from] = slot->shortest + 1;
    return;
  }
  struct step step = {(uint16_t)from, (uint16_t)(met ? slot->shortest : r->n)};
  if (!met && (r->n == NEED_STATES_MAX || !need_put(x, (tsl__known_need){d, NEED_OPEN, r->n}))) {
    r->need = TSL__NEED_UNKNOWN;
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
  if (!need_put(x, (tsl__known_need){e, NEED_OPEN, 0})) return TSL__NEED_UNKNOWN;
  for (uint32_t i = 0; i < r.n && r.need != TSL__NEED_UNKNOWN && tsl__exprs_step(x); i++) {
    tsl__bytes edges;
    tsl__alike a;
    r.shortest[i] = tsl__node_at(x, r.at[i]).flags & TSL__NULLABLE_LOW ? 0 : TSL__INF;
    tsl__boundaries(x, r.at[i], &edges);
    bool read = tsl__alike_of(x, r.at[i], &edges, &a);
    for (unsigned b = 0, k = 0; b < 256 && r.need != TSL__NEED_UNKNOWN; b++) {
      if (b && !tsl__bytes_has(&edges, b)) continue;
      k += b != 0;
      tsl__expr d = read && tsl__alike_first(&a, k) < k ? TSL__NONE
                                                        : tsl__derive_plain(x, r.at[i], (uint8_t)b);
      if (d) reach(x, &r, i, d);
    }
  }
  if (r.need != TSL__NEED_UNKNOWN) measure(x, &r);
  tsl__vec_free(&x->alloc, &r.steps);
  if (x->status != TSL_OK) r.need = TSL__NEED_UNKNOWN;
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
    out->shortest = out->later == TSL__NEED_UNKNOWN ? 0 : known_need(x, e)->shortest;
    return out->later != TSL__NEED_UNKNOWN;
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

/* Any number of characters, of a class or of more? */
static bool is_star_of(tsl__exprs *x, tsl__expr e, tsl__expr class) {
  tsl__node n = tsl__node_at(x, e);
  if (n.kind != TSL__K_REPEAT || n.b || n.c != TSL__INF) return false;
  return n.a == class || n.a == x->any_char ||
         (class != x->any_char && tsl__node_at(x, n.a).flags & TSL__CHAR &&
          !tsl__expr_and(x, class, tsl__expr_not(x, n.a)));
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
static bool is_search(tsl__exprs *x, tsl__expr e, tsl__expr class) {
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
static tsl__expr search_in(tsl__exprs *x, tsl__expr e, tsl__expr class) {
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
static bool needs_nothing(tsl__exprs *x, const tsl__node *n, tsl__expr class) {
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

/* What is looked for can come one after another, a character in front of each and behind all. */
typedef struct parted {
  tsl__expr class;
  uint32_t most; /* bytes of the longest that is looked for */
  uint8_t by;    /* the character, which the class has */
} parted;

/* Is such a text none of e? Where e says: any characters, then something without that character,
 * then any. That does not fit between two of them. */
static bool is_parted(tsl__exprs *x, tsl__expr e, const parted *p, unsigned depth) {
  tsl__node n = tsl__node_at(x, e);
  if (n.kind == TSL__K_ALT) {
    if (n.b > ALTERNATIVES_MAX || depth > DEPTH_MAX) return false;
    for (uint32_t i = 0; i < n.b; i++)
      if (!is_parted(x, tsl__list_at(x, n.a)[i], p, depth + 1)) return false;
    return true;
  }
  uint32_t least = 0;
  tsl__node head = n.kind == TSL__K_SEQ ? tsl__node_at(x, n.a) : n;
  bool anywhere = n.kind == TSL__K_SEQ && head.b == 0 && tsl__is_class_loop(x, &head),
       never = false;
  if (anywhere) e = n.b;
  for (bool last = false; !last; e = n.b) {
    n = tsl__node_at(x, e);
    last = n.kind != TSL__K_SEQ;
    tsl__expr part = last ? e : n.a;
    if (last && is_star_of(x, part, p->class)) return never || least > (anywhere ? p->most : 0);
    if (!tsl__spares(x, part, p->by)) return false;
    never |= tsl__node_at(x, part).flags & TSL__CHAR && !tsl__expr_and(x, part, p->class);
    least = tsl__add(least, tsl__expr_shortest(x, part));
  }
  return !anywhere || never || least > p->most;
}

/* Is there such a character for all that a meet forbids? */
static bool may_part(tsl__exprs *x, tsl__expr e, parted *p) {
  tsl__node n = tsl__node_at(x, e);
  for (p->by = '!'; p->by <= '~' && x->status == TSL_OK; p->by++) {
    bool all = tsl__expr_matches(x, p->class, (const char *)&p->by, 1);
    for (uint32_t i = 0; i < n.b && all; i++) {
      tsl__node m = tsl__node_at(x, tsl__list_at(x, n.a)[i]);
      if (m.kind == TSL__K_NOT) all = is_parted(x, m.a, p, 0);
    }
    if (all) return true;
  }
  return false;
}

/* A meet of parts. Some look for something in any text of a class, wherever it stands. Others
 * forbid texts that hold something, or texts without some character. Whatever was read, what the
 * parts look for can come one after another, and that character behind it. The class is that which
 * the texts of one part are of, or all characters. False: it is none. */
static bool need_of_searches(tsl__exprs *x, tsl__expr e, uint32_t *need) {
  tsl__node n = tsl__node_at(x, e);
  tsl__expr class, all;
  const char *spared = "";
  uint32_t least, shortest, searches = 0, sum = 3; /* bytes of a character under way */
  parted p = {.most = 0};
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
      if (spared && !*spared) spared = spared_by(x, e, class);
      continue;
    }
    if (!(search = search_in(x, c, class)) || (all && !(search = tsl__expr_and(x, search, all))))
      return false;
    shortest = tsl__expr_shortest(x, search);
    sum = tsl__add(sum, shortest);
    if (shortest > p.most) p.most = shortest;
    searches++;
  }
  p.class = class;
  if (!spared) return may_part(x, e, &p) && (*need = tsl__add(sum, searches + 1)) < TSL__INF;
  return *need = tsl__add(sum, (uint32_t)strlen(spared)), *need < TSL__INF && x->status == TSL_OK;
}

/* As `explore`, in bytes, which bounds the characters; by structure, if that says that it is far
 * below `length`. */
uint32_t tsl__need_of(tsl__exprs *x, tsl__expr e, uint32_t length) {
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
