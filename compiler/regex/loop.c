/* loop.c - loops whose body looks past its own end: (?:(?!-->).)*-->
 *
 * Problem   The loop is the smallest solution of X = body(X) | then, where `then` is what follows
 *           the loop. Here body(X) is an intersection, !(-->·text) & .·X, and not r·X. So X has not
 *           the form r*·then.
 * Idea      An automaton in C whose only state is X itself. The derivative of X is the derivative
 *           of body(X) | then. X occurs in it as this same node. The body consumes at least one
 *           code point, so the derivative of X never asks for itself. Iterations that read no text
 *           change nothing, and are cut out of the body first. X is never empty since it holds
 *           `then`, and its shortest text is that of `then`: an iteration only makes texts longer.
 * Behind    Where the body has look-behinds of one code point (\b is one), what X means depends on
 *           the code point before. The code points fall into atoms, sets that no look-behind keeps
 *           apart. There is one X for each, and one for the beginning of the text.
 * Example   D_a(X) = !(rest of the look-ahead) & X. When that rest can match nothing more, it is
 *           dropped, and X is left.
 * Building  The bodies are made twice. The first time X has no derivative yet, so no search for
 *           emptiness may run (x->searching). The second time every intersection is searched as
 *           usual, over the derivatives that the first bodies give. The searched ones are kept.
 * Finite    Each iteration adds the rest of its look-ahead to the derivative. Derivatives become
 *           equal again only if these rests repeat. So a look-ahead has at most LOOK_MAX code
 *           points, or at most RESIDUALS_MAX different rests. An example of many code points and
 *           few rests is the \$\{[a-z]+: of (?:(?!\$\{[a-z]+:).)*.
 * Counted   (?:(?!-->).){0,500}--> is the unbounded loop & .{0,500}-->, if each iteration takes
 *           equally many code points. Say a text is in both: the unbounded loop reads it in 501
 *           iterations, and .{0,500}--> in 400. Then the first 400 iterations of the loop end where
 *           those of .{0,500}--> end. Their conditions looked at the whole text, and hold. So the
 *           counted loop has the text, too. A minimum number of iterations is written out.
 * Tested by tests/regex/test_regex.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/expr/deriv.h"
#include "compiler/regex/lower.h"

#define LOOK_MAX 64u
#define RESIDUALS_MAX 256u
#define ATOMS_MAX 16u

typedef struct loop {
  tsl__exprs *x;  /* where the expressions live */
  tsl__expr then; /* what follows the loop */
  tsl__expr body; /* one iteration and the loop again; NONE until it is known */
  uint32_t shortest;
  bool nullable;
} loop;

static bool loop_nullable(void *ctx, uint32_t param) {
  (void)param;
  return ((const loop *)ctx)->nullable;
}

static uint32_t loop_shortest(void *ctx, uint32_t param) {
  (void)param;
  return ((const loop *)ctx)->shortest;
}

static void loop_boundaries(void *ctx, uint32_t param, tsl__bytes *out) {
  const loop *f = ctx;
  tsl__bytes edges;
  (void)param;
  tsl__boundaries(f->x, f->then, &edges);
  tsl__bytes_or(out, &edges);
  if (!f->body) return;
  tsl__boundaries(f->x, f->body, &edges);
  tsl__bytes_or(out, &edges);
}

static tsl__expr loop_step(tsl__exprs *x, void *ctx, uint32_t param, uint8_t byte) {
  const loop *f = ctx;
  (void)param;
  tsl__expr end = tsl__derive_plain(x, f->then, byte);
  return f->body ? tsl__expr_alt(x, end, tsl__derive_plain(x, f->body, byte)) : end;
}

static void loop_print(void *ctx, uint32_t param, char *out, size_t n) {
  (void)param;
  snprintf(out, n, "loop[%u]", (unsigned)((const loop *)ctx)->body);
}

static const tsl__native_ops loop_ops = {.nullable = loop_nullable,
                                         .boundaries = loop_boundaries,
                                         .step = loop_step,
                                         .shortest = loop_shortest,
                                         .print = loop_print};

/* ---- iterations that take no text ------------------------------------------------------------ */

static tsl__rx *nothing(tsl__rx_lowering *l, const tsl__rx *node) {
  return tsl__rx_set(l->tree, node->offset, NULL, 0);
}
static tsl__rx *empty_text(tsl__rx_lowering *l, const tsl__rx *node) {
  return tsl__rx_list(l->tree, TSL__RX_SEQ, node->offset, NULL, 0);
}

/* A SEQ, an ALT or a REPEAT with each child replaced; NULL on failure. */
static tsl__rx *with_children(tsl__rx_lowering *l, const tsl__rx *node,
                              tsl__rx *(*part)(tsl__rx_lowering *, tsl__rx *)) {
  tsl__rx **child = tsl__arena_alloc(l->tree->arena, node->n * sizeof *child);
  if (!child) return tsl__rx_fail(l->tree, TSL_ERR_NO_MEMORY, 0, "out of memory");
  for (uint32_t i = 0; i < node->n; i++)
    if (!(child[i] = part(l, node->u.child[i]))) return NULL;
  return node->kind == TSL__RX_REPEAT
             ? tsl__rx_repeat(l->tree, node->offset, child[0], node->min, node->max)
             : tsl__rx_list(l->tree, (tsl__rx_kind)node->kind, node->offset, child, node->n);
}

/* What is left of a node that takes no text: its conditions. */
static tsl__rx *taking_nothing(tsl__rx_lowering *l, tsl__rx *node) {
  if (node->kind == TSL__RX_LOOK) return node;
  if (node->kind == TSL__RX_SET || node->least > 0) return nothing(l, node);
  if (node->plain || (node->kind == TSL__RX_REPEAT && node->min == 0)) return empty_text(l, node);
  if (node->kind == TSL__RX_REPEAT || node->kind == TSL__RX_GROUP)
    return taking_nothing(l, node->u.child[0]);
  return with_children(l, node, taking_nothing);
}

static tsl__rx *taking_text(tsl__rx_lowering *l, tsl__rx *node);

/* r{m,n} that takes text: iterations that take none may be left out, so it begins with one that
 * does. With a minimum of two or more, conditions of the left-out ones would have to hold: NULL
 * then, unless there are none. */
static tsl__rx *repeat_taking_text(tsl__rx_lowering *l, tsl__rx *node) {
  tsl__rx *part[2], *body = node->u.child[0];
  uint32_t min = body->least == 0 || node->min == 0 ? 0 : node->min - 1,
           max = node->max == TSL__INF ? TSL__INF : node->max - 1;
  if (node->max == 0) return nothing(l, node);
  if (node->min > 1 && body->least == 0 && !body->plain)
    return tsl__rx_fail(l->tree, TSL_ERR_UNSUPPORTED, node->offset,
                        "this look-around inside a loop is not supported");
  part[0] = taking_text(l, body);
  part[1] = part[0] ? tsl__rx_repeat(l->tree, node->offset, body, min, max) : NULL;
  return part[1] ? tsl__rx_list(l->tree, TSL__RX_SEQ, node->offset, part, 2) : NULL;
}

/* A sequence takes text if one child does; those before the first one take none. */
static tsl__rx *sequence_taking_text(tsl__rx_lowering *l, tsl__rx *node) {
  tsl__rx **way = tsl__arena_alloc(l->tree->arena, (node->n + 1) * sizeof *way),
          **part = tsl__arena_alloc(l->tree->arena, (node->n + 1) * sizeof *part);
  uint32_t ways = 0;
  if (!way || !part) return tsl__rx_fail(l->tree, TSL_ERR_NO_MEMORY, 0, "out of memory");
  if (node->n) memcpy(part, node->u.child, node->n * sizeof *part);
  for (uint32_t i = 0; i < node->n; i++) {
    if (!tsl__rx_count(l, node) || !(part[i] = taking_text(l, node->u.child[i]))) return NULL;
    if (!(way[ways++] = tsl__rx_list(l->tree, TSL__RX_SEQ, node->offset, part, node->n)))
      return NULL;
    if (node->u.child[i]->least > 0) break;
    if (!(part[i] = taking_nothing(l, node->u.child[i]))) return NULL;
  }
  return ways ? tsl__rx_list(l->tree, TSL__RX_ALT, node->offset, way, ways) : nothing(l, node);
}

/* The matches of a node that take text. NULL on failure. */
static tsl__rx *taking_text(tsl__rx_lowering *l, tsl__rx *node) {
  if (node->least > 0) return node;
  switch (node->kind) {
  case TSL__RX_LOOK: return nothing(l, node);
  case TSL__RX_SEQ: return sequence_taking_text(l, node);
  case TSL__RX_REPEAT: return repeat_taking_text(l, node);
  case TSL__RX_GROUP: return taking_text(l, node->u.child[0]);
  default: return with_children(l, node, taking_text); /* ALT */
  }
}

/* ---- what the body looks at ------------------------------------------------------------------ */

typedef struct atoms {
  tsl__rx_ranges at[ATOMS_MAX];
  uint32_t n;
} atoms;

static bool refuse(tsl__rx_lowering *l, uint32_t offset, const char *message) {
  tsl__rx_fail(l->tree, TSL_ERR_UNSUPPORTED, offset, message);
  return false;
}

/* Split every atom by a set. */
static bool split(tsl__rx_lowering *l, const tsl__rx *node, atoms *a, tsl__rx_ranges set) {
  tsl__rx_ranges other = tsl__rx_ranges_not(l->tree, set);
  for (uint32_t i = 0, n = a->n; i < n; i++) {
    tsl__rx_ranges in = tsl__rx_ranges_and(l->tree, a->at[i], set),
                   out = tsl__rx_ranges_and(l->tree, a->at[i], other);
    if (!in.n || !out.n) continue;
    if (a->n == ATOMS_MAX)
      return refuse(l, node->offset, "too many different look-behinds inside a loop");
    a->at[i] = in;
    a->at[a->n++] = out;
  }
  return true;
}

/* Are there at most RESIDUALS_MAX languages that can be left of a look-ahead? */
static bool few_residuals(tsl__rx_lowering *l, const tsl__rx *ahead) {
  tsl__expr left[RESIDUALS_MAX] = {ahead->plain ? tsl__rx_plain(l, ahead, l->text) : TSL__NONE};
  uint32_t n = left[0] ? 1 : 0;
  for (uint32_t i = 0; i < n; i++) {
    tsl__bytes edges;
    tsl__boundaries(l->x, left[i], &edges);
    for (unsigned b = 0; b < 256 && !tsl__rx_failed(l); b++) {
      uint32_t k = 0;
      tsl__expr d = b == 0 || tsl__bytes_has(&edges, (uint8_t)b)
                        ? tsl__derive_plain(l->x, left[i], (uint8_t)b)
                        : TSL__NONE;
      while (k < n && left[k] != d) k++;
      if (!d || k < n) continue;
      if (n == RESIDUALS_MAX) return false;
      left[n++] = d;
    }
  }
  return n > 0;
}

/* The sets of all look-behinds split the atoms; conditions of other kinds are refused. */
static bool collect(tsl__rx_lowering *l, const tsl__rx *node, atoms *a, bool *behind) {
  tsl__rx_ranges set;
  if (node->kind == TSL__RX_SET) return true;
  if (node->kind == TSL__RX_LOOK && node->ahead && node->u.child[0]->most > LOOK_MAX &&
      !few_residuals(l, node->u.child[0]))
    return refuse(l, node->offset,
                  "in a loop, a look-ahead that looks past one iteration must be of at most 64 "
                  "code points, or repeat itself");
  if (node->kind == TSL__RX_LOOK && !node->ahead) {
    if (!tsl__rx_one_char(l, node->u.child[0], &set))
      return refuse(
          l, node->offset,
          "in a loop, a look-behind that looks past one iteration must be of one code point");
    *behind = true;
    return split(l, node, a, set);
  }
  for (uint32_t i = 0; i < node->n; i++)
    if (!collect(l, node->u.child[i], a, behind)) return false;
  return true;
}

/* ---- building -------------------------------------------------------------------------------- */

/* Does the condition hold after an atom (of no code points: at the beginning)? False and failure if
 * it holds after some of it only. */
static bool holds(tsl__rx_lowering *l, const tsl__rx *body, const tsl__rx_cond *c,
                  tsl__rx_ranges atom) {
  if (c->before) return refuse(l, body->offset, "this look-around inside a loop is not supported");
  if (c->any) return true;
  if (!atom.n) return c->begin;
  tsl__rx_ranges both = tsl__rx_ranges_and(l->tree, atom, c->prev);
  if (both.n && !tsl__rx_ranges_equal(both, atom))
    return refuse(l, body->offset, "this look-around inside a loop is not supported");
  return both.n > 0;
}

/* One automaton, not knowing its body yet. */
static tsl__expr new_loop(tsl__exprs *x, tsl__expr then, loop **out) {
  loop *f = tsl__exprs_alloc(x, sizeof *f);
  tsl__expr e;
  *out = f;
  if (!f) return TSL__NONE;
  *f = (loop){x, then, TSL__NONE, tsl__expr_shortest(x, then), tsl__expr_nullable(x, then)};
  e = tsl__expr_native(x, &loop_ops, f, 0);
  if (e >= x->base && e > TSL__EPS) x->nodes.at[e - x->base].flags |= TSL__TEXTUAL;
  return e;
}

/* Lower the body, the loops standing for what follows it, and hand each loop what is its body. */
static bool set_bodies(tsl__rx_lowering *l, const tsl__rx *body, tsl__rx_rests loops,
                       loop *const *f, const atoms *a, bool behind) {
  tsl__rx_rests rests = tsl__rx_lower(l, body, loops, false);
  tsl__expr e[ATOMS_MAX + 1] = {TSL__NONE};
  uint32_t n = behind ? a->n + 1 : 1;
  for (uint32_t k = 0; k < n; k++)
    for (uint32_t i = 0; i < rests.n && !tsl__rx_failed(l); i++)
      if (holds(l, body, &rests.at[i].cond, k < a->n ? a->at[k] : (tsl__rx_ranges){NULL, 0}))
        e[k] = tsl__expr_alt(l->x, e[k], rests.at[i].e);
  for (uint32_t k = 0; k < n; k++) f[k]->body = e[k];
  return !tsl__rx_failed(l);
}

tsl__rx_rests tsl__rx_loop(tsl__rx_lowering *l, tsl__rx *body, tsl__expr then) {
  tsl__exprs *x = l->x;
  tsl__rx_rests none = {NULL, 0}, loops = tsl__rx_list_new(l, ATOMS_MAX + 1);
  atoms a = {.at = {tsl__rx_ranges_all()}, .n = 1};
  loop *f[ATOMS_MAX + 1];
  bool behind = false, searching = x->searching, ok = true;
  body = taking_text(l, body);
  if (!body || !loops.at || !collect(l, body, &a, &behind)) return none;
  for (uint32_t k = 0; k < (behind ? a.n + 1 : 1); k++) {
    tsl__rx_rest item = {.cond = {.any = !behind, .begin = k == a.n},
                         .e = new_loop(x, then, &f[k]),
                         .first = tsl__rx_ranges_all()};
    if (!item.e) return none;
    if (behind && k < a.n) item.cond.prev = a.at[k];
    tsl__rx_list_add(l, &loops, item);
  }
  x->searching = true;
  ok = set_bodies(l, body, loops, f, &a, behind);
  x->searching = searching;
  ok = ok && set_bodies(l, body, loops, f, &a, behind);
  return ok ? loops : none;
}

/* ---- at most so many iterations -------------------------------------------------------------- */

/* What the iterations of a loop take, whatever its conditions say. */
static tsl__rx *without_conditions(tsl__rx_lowering *l, tsl__rx *node) {
  if (node->plain) return node;
  if (node->kind == TSL__RX_LOOK) return empty_text(l, node);
  if (node->kind == TSL__RX_GROUP) return without_conditions(l, node->u.child[0]);
  if (node->kind != TSL__RX_SEQ && node->kind != TSL__RX_ALT && node->kind != TSL__RX_REPEAT)
    return tsl__rx_fail(l->tree, TSL_ERR_UNSUPPORTED, node->offset,
                        "this look-around inside a loop is not supported");
  return with_children(l, node, without_conditions);
}

tsl__rx_rests tsl__rx_at_most(tsl__rx_lowering *l, const tsl__rx *node, tsl__rx_rests loops,
                              tsl__expr then) {
  tsl__rx_rests none = {NULL, 0}, out = tsl__rx_list_new(l, loops.n);
  tsl__rx *body = loops.n && out.at ? without_conditions(l, node->u.child[0]) : NULL,
          *run =
              body ? tsl__rx_repeat(l->tree, node->offset, body, 0, node->max - node->min) : NULL;
  tsl__expr bound = run ? tsl__rx_plain(l, run, then) : TSL__NONE;
  if (!bound) return none;
  for (uint32_t i = 0; i < loops.n && !tsl__rx_failed(l); i++) {
    tsl__rx_rest item = loops.at[i];
    item.e = tsl__expr_and(l->x, item.e, bound);
    if (item.e) tsl__rx_list_add(l, &out, item);
  }
  return tsl__rx_failed(l) ? none : out;
}
