/* hints_any.c - does any text of one class begin a text of an expression?
 *
 * Problem   `^(.{1,10}){1,10}$` after some characters is a union of many counts, another one after
 *           each character. Each is a state of its own, and a walk.
 * Idea      Whatever the counts are, any few characters may come: where nothing follows the frame,
 *           its beginnings are those of `.*`. So the reference is the class, as far as no count is
 *           used up (tsl__hint's `alone`). Tokens that are longer are tried one by one.
 * Room      So many characters may come, whichever they are. An expression is full if any text of
 *           that length is one of its texts: then what follows it begins there.
 *             class C        room 1, full          C{m,n}          room n, full
 *             a b            that of a, and if a is full that of b too
 *             a | b          the larger one        (group){m,n}    n times, if the group is full
 *             other texts of characters in C       room 0
 * Example   `.{0,100},` has room 100 and is not full, as the comma must come. Four of them in a row
 *           have room 100. `.{1,10}` ten times has room 100, and is full.
 * Exact     All texts of the expression are of the class: no other character can come.
 * Cost      One look at each part, LOOKS_MAX at most.
 * Tested by tests/walk/test_near_limit.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/states/hints.h"

#define DEPTH_MAX 64u
#define LOOKS_MAX 2048u
#define CLASSES_MAX 4u /* that are tried */
#define ROOM_MIN 32u   /* fewer characters are not worth trying the longer tokens */

typedef struct looking {
  tsl__exprs *x;
  tsl__expr class;
  tsl__bytes ascii; /* of the class */
  uint32_t looks;
} looking;

typedef struct room {
  uint32_t most;
  bool full;
} room;

/* A set of bytes, or a text: is all of it of the class, in ASCII? */
static bool is_within(const looking *l, const tsl__node *n) {
  tsl__bytes set = {{0}};
  if (n->kind == TSL__K_BYTES) set = *tsl__set_at(l->x, n->a);
  for (uint32_t i = 0; n->kind == TSL__K_LIT && i < n->b; i++)
    tsl__bytes_add(&set, (uint8_t)tsl__literal_at(l->x, n->a)[i]);
  for (int i = 0; i < 4; i++)
    if (set.w[i] & ~l->ascii.w[i]) return false;
  return n->kind == TSL__K_BYTES || n->kind == TSL__K_LIT;
}

static bool look(looking *l, tsl__expr e, unsigned depth, room *out);

static bool look_at_all(looking *l, const tsl__node *n, unsigned depth, room *out) {
  *out = (room){0, false};
  for (uint32_t i = 0; i < n->b; i++) {
    room one;
    if (!look(l, tsl__list_at(l->x, n->a)[i], depth + 1, &one)) return false;
    if (one.most > out->most || (one.most == out->most && one.full)) *out = one;
  }
  return true;
}

/* False: it has other texts, or parts that are not looked into. */
static bool look(looking *l, tsl__expr e, unsigned depth, room *out) {
  tsl__node n = tsl__node_at(l->x, e);
  room one;
  *out = (room){e == l->class, e == l->class || e == TSL__EPS};
  if (++l->looks > LOOKS_MAX || depth > DEPTH_MAX) return false;
  if (out->full || is_within(l, &n)) return true;
  switch ((tsl__kind)n.kind) {
  case TSL__K_SEQ:
    if (!look(l, n.a, depth + 1, out) || !look(l, n.b, depth + 1, &one)) return false;
    if (out->full) *out = (room){tsl__add(out->most, one.most), one.full};
    return true;
  case TSL__K_ALT: return !(n.flags & TSL__CHAR) && look_at_all(l, &n, depth, out);
  case TSL__K_REPEAT:
    if (!look(l, n.a, depth + 1, out)) return false;
    if (out->full) out->most = tsl__multiply(out->most, n.c);
    return true;
  default: return false;
  }
}

/* Classes that are repeated in e, into `found`. */
static void find_classes(looking *l, tsl__expr e, unsigned depth, tsl__expr *found, uint32_t *n) {
  tsl__node m = tsl__node_at(l->x, e);
  if (++l->looks > LOOKS_MAX || depth > DEPTH_MAX || *n == CLASSES_MAX) return;
  if (m.kind == TSL__K_REPEAT && tsl__node_at(l->x, m.a).flags & TSL__CHAR) {
    for (uint32_t i = 0; i < *n; i++)
      if (found[i] == m.a) return;
    found[(*n)++] = m.a;
  } else if (m.kind == TSL__K_REPEAT || m.kind == TSL__K_SEQ) {
    find_classes(l, m.a, depth + 1, found, n);
    if (m.kind == TSL__K_SEQ) find_classes(l, m.b, depth + 1, found, n);
  } else if (m.kind == TSL__K_ALT) {
    for (uint32_t i = 0; i < m.b; i++)
      find_classes(l, tsl__list_at(l->x, m.a)[i], depth + 1, found, n);
  }
}

void tsl__any_begins(tsl__exprs *x, tsl__expr e, tsl__letters *out) {
  tsl__node n = tsl__node_at(x, e);
  tsl__expr classes[CLASSES_MAX];
  uint32_t count = 0;
  looking l = {.x = x};
  if (n.loop || n.flags & TSL__CALLS ||
      (n.kind != TSL__K_SEQ && n.kind != TSL__K_ALT && n.kind != TSL__K_REPEAT) ||
      (n.kind == TSL__K_REPEAT && tsl__node_at(x, n.a).flags & TSL__CHAR))
    return;
  find_classes(&l, e, 0, classes, &count);
  for (uint32_t i = 0; i < count && !out->alone; i++) {
    room r;
    l = (looking){.x = x, .class = classes[i]};
    for (unsigned b = 0; b < 128; b++)
      if (tsl__expr_matches(x, classes[i], &(char){(char)b}, 1)) tsl__bytes_add(&l.ascii, b);
    if (!tsl__exprs_work(x, LOOKS_MAX / 8) || !look(&l, e, 0, &r) || r.most < ROOM_MIN) continue;
    out->alone = tsl__expr_star(x, classes[i]);
    out->alone_limit = r.most;
    out->alone_dead = TSL__INF;
  }
}
