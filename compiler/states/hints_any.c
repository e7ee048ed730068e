/* hints_any.c - the beginnings of texts that counts allow, beside one another and within one
 * another.
 *
 * Problem   `^(.{1,10}){1,10}$` after some characters is a union of many counts, and another union
 *           after each character. Each union is a state with a walk of its own.
 * Idea      Whatever the counts are, any few characters may come. So if nothing follows the frame,
 *           short beginnings of its texts are those of `.*`. So the reference is the class, as far
 *           as no count is used up (tsl__hint's `alone`). Tokens that are longer are tried one by
 *           one.
 * Room      An expression has room for so many characters, whichever they are. It is full if any
 *           text of that length is one of its texts: then what follows the expression begins there.
 *             class C        room 1, full          C{m,n}          room n, full
 *             a b            that of a, and if a is full that of b too
 *             a | b          the larger one        (group){m,n}    n times, if the group is full
 *             other texts of characters in C       room 0
 * Example   `.{0,100},` has room 100 and is not full, as the comma must come. Four of them in a row
 *           have room 100. `.{1,10}` ten times has room 100, and is full.
 * Exact     All texts of the expression are of the class: no other character can come.
 * Letters   Where others can come, too, the class is letters as far as there is room: `[a-z]` in
 *           `([a-z]{1,20},?){1,18}`, of which 360 may come. Alternatives are looked at one by one,
 *           and the one with the most room counts. A loop that is entered has room for those behind
 *           it only: its register is not known here.
 * Few       If no text begins with more letters than there is room for, longer tokens die. So few
 *           letters are worth knowing, too: 16 may come in `([a-z]{1,8},?){1,2}`.
 * Beside    The beginnings of `.{0,38}\w{1,58}` are the texts of `.{0,38}\w{0,58}`. After a letter
 *           the first expression has the alternative `\w{0,57}`, because a text may end there. In
 *           the second one that alternative is a part of another and is dropped (expr/alt.c), so
 *           only one count is followed.
 * Cost      One look at each part, LOOKS_MAX at most, and LETTERS_LOOKS for letters. A mask of
 *           `^.{1,38}\w{1,58}$` took 410,000 steps, and takes 20,000.
 * Tested by tests/walk/test_near_limit.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/states/hints.h"

#include "compiler/states/letters.h"

#define DEPTH_MAX 64u
#define LOOKS_MAX 2048u
#define LETTERS_LOOKS 512u /* the same, of every state */
#define CHAINS_MAX 8u      /* alternatives that are looked at one by one */
#define CLASSES_MAX 4u     /* that are tried */
#define ROOM_MIN 32u       /* fewer characters are not worth trying the longer tokens */

typedef struct looking {
  tsl__exprs *x;
  tsl__expr class;
  tsl__bytes ascii;        /* of the class */
  tsl__letter_set letters; /* the same, where other texts may come, too */
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
  if ((m.kind == TSL__K_REPEAT || m.kind == TSL__K_COUNTED) &&
      tsl__node_at(l->x, m.a).flags & TSL__CHAR) {
    for (uint32_t i = 0; i < *n; i++)
      if (found[i] == m.a) return;
    found[(*n)++] = m.a;
  } else if (m.kind == TSL__K_REPEAT || m.kind == TSL__K_COUNTED || m.kind == TSL__K_SEQ) {
    find_classes(l, m.a, depth + 1, found, n);
    if (m.kind == TSL__K_SEQ) find_classes(l, m.b, depth + 1, found, n);
  } else if (m.kind == TSL__K_ALT) {
    for (uint32_t i = 0; i < m.b; i++)
      find_classes(l, tsl__list_at(l->x, m.a)[i], depth + 1, found, n);
  }
}

/* ---- letters --------------------------------------------------------------------------------- */

/* Is each of the letters one of this class? */
static bool covers(const looking *l, tsl__expr class) {
  tsl__letter_set own;
  tsl__bytes live;
  tsl__letters_of_class(l->x, class, &own, &live);
  return tsl__letters_within(&l->letters, &own);
}

/* The same of an expression that has other texts, too: of those nothing is known but whether they
 * may be missing. */
static room room_of(looking *l, tsl__expr e, unsigned depth) {
  tsl__node n = tsl__node_at(l->x, e);
  room own = {0, tsl__expr_nullable(l->x, e)}, one;
  if (++l->looks > LETTERS_LOOKS || depth > DEPTH_MAX) return (room){0, false};
  if (n.flags & TSL__CHAR) return (room){covers(l, e), covers(l, e)};
  switch ((tsl__kind)n.kind) {
  case TSL__K_SEQ:
    own = room_of(l, n.a, depth + 1);
    if (!own.full) return own;
    one = room_of(l, n.b, depth + 1);
    return (room){tsl__add(own.most, one.most), one.full};
  case TSL__K_ALT:
    for (uint32_t i = 0; i < n.b; i++) {
      one = room_of(l, tsl__list_at(l->x, n.a)[i], depth + 1);
      if (one.most > own.most || (one.most == own.most && one.full)) own = one;
    }
    return own;
  case TSL__K_REPEAT:
    one = room_of(l, n.a, depth + 1);
    if (one.full) return (room){tsl__multiply(one.most, n.c), true};
    return one.most ? (room){one.most, false} : own;
  case TSL__K_COUNTED: return (room){0, room_of(l, n.a, depth + 1).full};
  default: return own;
  }
}

/* With how many letters does the literal begin? */
static uint32_t leading_letters(const looking *l, const tsl__node *n) {
  uint32_t i = 0;
  while (i < n->b && tsl__bytes_has(&l->letters.bytes, tsl__literal_at(l->x, n->a)[i])) i++;
  return i;
}

/* May a text of letters alone be one of e? True if in doubt. */
static bool may_be_letters(looking *l, tsl__expr e, unsigned depth) {
  tsl__node n = tsl__node_at(l->x, e);
  if (++l->looks > LETTERS_LOOKS || depth > DEPTH_MAX) return true;
  switch ((tsl__kind)n.kind) {
  case TSL__K_BYTES: return tsl__bytes_meet(tsl__set_at(l->x, n.a), &l->letters.bytes);
  case TSL__K_LIT: return leading_letters(l, &n) == n.b;
  case TSL__K_SEQ: return may_be_letters(l, n.a, depth + 1) && may_be_letters(l, n.b, depth + 1);
  case TSL__K_ALT:
    for (uint32_t i = 0; i < n.b; i++)
      if (may_be_letters(l, tsl__list_at(l->x, n.a)[i], depth + 1)) return true;
    return false;
  case TSL__K_REPEAT: return !n.b || may_be_letters(l, n.a, depth + 1);
  default: return true;
  }
}

/* The most letters that a text of e begins with; TSL__INF: that is not known. */
static uint32_t most_letters(looking *l, tsl__expr e, unsigned depth) {
  tsl__node n = tsl__node_at(l->x, e);
  uint32_t most = 0, one;
  if (++l->looks > LETTERS_LOOKS || depth > DEPTH_MAX) return TSL__INF;
  switch ((tsl__kind)n.kind) {
  case TSL__K_EPS: return 0;
  case TSL__K_BYTES: return tsl__bytes_meet(tsl__set_at(l->x, n.a), &l->letters.bytes);
  case TSL__K_LIT: return leading_letters(l, &n);
  case TSL__K_SEQ:
    most = most_letters(l, n.a, depth + 1);
    return most == TSL__INF || !may_be_letters(l, n.a, depth + 1)
               ? most
               : tsl__add(most, most_letters(l, n.b, depth + 1));
  case TSL__K_ALT:
    for (uint32_t i = 0; i < n.b; i++)
      if ((one = most_letters(l, tsl__list_at(l->x, n.a)[i], depth + 1)) > most) most = one;
    return most;
  case TSL__K_REPEAT:
    return n.loop ? TSL__INF : tsl__multiply(most_letters(l, n.a, depth + 1), n.c);
  default: return TSL__INF;
  }
}

bool tsl__letters_by_room(tsl__exprs *x, tsl__expr e, tsl__letter_set *letters, uint32_t *most,
                          uint32_t *dead, bool *ends) {
  tsl__expr classes[CLASSES_MAX];
  uint32_t count = 0;
  looking l = {.x = x};
  bool found = false;
  if (!tsl__exprs_work(x, LETTERS_LOOKS / 8)) return false;
  find_classes(&l, e, 0, classes, &count);
  for (uint32_t i = 0; i < count; i++) {
    tsl__bytes live;
    l = (looking){.x = x};
    tsl__letters_of_class(x, classes[i], &l.letters, &live);
    if (!tsl__letters_enough(&l.letters)) continue;
    uint32_t own = room_of(&l, e, 0).most;
    l.looks = 0;
    bool exact = own && own == most_letters(&l, e, 0);
    if ((own <= TSL__LETTERS_FEW && !exact) || (found && own <= *most)) continue;
    *letters = l.letters;
    *most = own;
    *dead = exact ? own : TSL__INF;
    l.looks = 0;
    *ends = may_be_letters(&l, e, 0);
    found = true;
  }
  return found;
}

/* ---- texts of one class ---------------------------------------------------------------------- */

/* Loops over a class one after the other, of which one before the last may end early. Returns them
 * without the least number of the last, which may be reached later. TSL__NONE: e is no such
 * thing. */
static tsl__expr without_least(tsl__exprs *x, tsl__expr e, unsigned depth, bool early) {
  tsl__node n = tsl__node_at(x, e), loop = n.kind == TSL__K_SEQ ? tsl__node_at(x, n.a) : n;
  if (depth > DEPTH_MAX || loop.kind != TSL__K_REPEAT || loop.loop || !tsl__is_class_loop(x, &loop))
    return TSL__NONE;
  if (n.kind != TSL__K_SEQ)
    return early || !depth ? tsl__expr_repeat(x, loop.a, 0, loop.c) : TSL__NONE;
  tsl__expr rest = without_least(x, n.b, depth + 1, early || loop.b < loop.c);
  return rest ? tsl__expr_seq(x, n.a, rest) : TSL__NONE;
}

/* Counts of classes beside one another. What begins a text of e is a text of such an expression, in
 * which alternatives that others imply are gone. */
static tsl__expr beginnings(tsl__exprs *x, tsl__expr e) {
  tsl__node n = tsl__node_at(x, e);
  if (n.kind != TSL__K_ALT) return n.kind == TSL__K_SEQ ? without_least(x, e, 0, false) : TSL__NONE;
  tsl__expr all = TSL__NONE;
  for (uint32_t i = 0; i < n.b && n.b <= CHAINS_MAX; i++) {
    tsl__expr one = tsl__list_at(x, n.a)[i];
    if (one != TSL__EPS && !(one = without_least(x, one, 0, false))) return TSL__NONE;
    all = tsl__expr_alt(x, all, one);
  }
  return all;
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
  tsl__expr all = beginnings(x, e);
  if (all && all != e) {
    out->alone = all;
    out->alone_limit = out->alone_dead = TSL__INF;
    return;
  }
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
