/* shortest.c - the fewest bytes of a text, and whether a given text matches.
 *
 * Problem   A budget must know how many bytes a text still takes at least, exactly, for every
 *           state. A meet or an escape in a JSON string does not show it.
 * Idea      Part by part where the structure says it: a sequence adds, alternatives take the least,
 *           a loop multiplies (kind.h). Meets and complements are searched by Dijkstra's algorithm
 *           over the derivatives, with a lower bound of what is left as the estimate (A*).
 * Example   Of (ab|c)d{3} it is min(2, 1) + 3. Of [a-z]{5} & .*zz.* a search finds 5.
 * Memory    The last answers are kept. A budget asks again after each byte. So on a way of 32 bytes
 *           or more each expression keeps the rest of the way as its answer.
 * Cost      One look at each part, or a search whose steps count against max_steps.
 * Refs      Dijkstra 1959 "A note on two problems in connexion with graphs"; Hart, Nilsson, Raphael
 *           1968 (A*).
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/search.h"

#define DEPTH_MAX 200u

/* bytes from which what is on a way is looked up again, one after the other, as by a budget */
#define LONG_WAY 32u

static tsl__known_shortest *way_slot(const tsl__exprs *x, tsl__expr e, bool spelled) {
  return x->way_shortest ? &x->way_shortest[tsl__mix((uint64_t)e * 2 + spelled) % TSL__WAY_SHORTEST]
                         : NULL;
}

/* What was noted of an expression on a long way; TSL__INF: nothing. */
static uint32_t known_on_way(const tsl__exprs *x, tsl__expr e, bool spelled) {
  const tsl__known_shortest *known = way_slot(x, e, spelled);
  return known && known->e == e && known->spelled == spelled ? known->bytes : TSL__INF;
}

/* The rest of a shortest way is one, too. */
static void note_way(tsl__exprs *x, const tsl__graph *g, uint32_t index, uint32_t total,
                     bool spelled) {
  if (total < LONG_WAY || total == TSL__INF) return;
  /* or none */
  if (!x->way_shortest)
    x->way_shortest = tsl__alloc_zero(&x->alloc, TSL__WAY_SHORTEST * sizeof *x->way_shortest);
  if (!x->way_shortest) return;
  for (;; index = g->visits.at[index].from) {
    const tsl__visit *v = &g->visits.at[index];
    *way_slot(x, v->e, spelled) = (tsl__known_shortest){v->e, total - v->cost, spelled};
    if (v->from == index) return;
  }
}

/* Dijkstra over the derivatives; with `spelled`, a byte costs what it costs in a JSON string. */
uint32_t tsl__shortest_by_search(tsl__exprs *x, tsl__expr e, bool spelled) {
  tsl__known_shortest *known = &x->known_shortest[(e * 2 + spelled) % TSL__KNOWN_SHORTEST];
  tsl__graph g = {0};
  uint32_t result = TSL__INF, end = 0;
  if (known->e == e && known->spelled == spelled) return known->bytes;
  if (!tsl__graph_add(&x->alloc, &g, (tsl__visit){e, 0, 0, 0}, 0)) tsl__expr_no_memory(x);
  /* what is left in the queue would be longer */
  while (x->status == TSL_OK && g.queue.n && g.keys.at[0] >> 32 < result) {
    uint32_t index = tsl__graph_pop(&g);
    tsl__visit v = g.visits.at[index];
    uint32_t left =
        tsl__node_at(x, v.e).flags & TSL__NULLABLE_LOW ? 0 : known_on_way(x, v.e, spelled);
    if (left == TSL__INF)
      tsl__search_expand(x, &g, index, spelled ? TSL__BY_SPELLING : TSL__BY_LENGTH);
    else if (tsl__add(v.cost, left) < result)
      result = tsl__add(v.cost, left), end = index;
  }
  if (x->status == TSL_OK) note_way(x, &g, end, result, spelled);
  tsl__graph_free(&x->alloc, &g);
  if (x->status != TSL_OK) return tsl__node_at(x, e).shortest;
  *known = (tsl__known_shortest){e, result, spelled};
  return result;
}

static uint32_t shortest_head(tsl__exprs *x, tsl__expr e, bool spelled, unsigned depth);

/* Fewest bytes of e, part by part. Where an expression nests deeper than DEPTH_MAX its stored lower
 * bound is used. */
uint32_t tsl__shortest_in(tsl__exprs *x, tsl__expr e, bool spelled, unsigned depth) {
  uint32_t total = 0;
  for (;;) {
    tsl__node n = tsl__node_at(x, e);
    tsl__worked(x, 1);
    if (n.kind != TSL__K_SEQ) return tsl__add(total, shortest_head(x, e, spelled, depth));
    total = tsl__add(total, shortest_head(x, n.a, spelled, depth));
    e = n.b;
  }
}

static uint32_t shortest_head(tsl__exprs *x, tsl__expr e, bool spelled, unsigned depth) {
  tsl__node n = tsl__node_at(x, e);
  const tsl__kind_ops *kind = tsl__kinds[n.kind];
  if (depth > DEPTH_MAX || !kind->shortest) return n.shortest;
  return kind->shortest(x, e, &n, spelled, depth);
}

uint32_t tsl__expr_shortest(tsl__exprs *x, tsl__expr e) { return tsl__shortest_in(x, e, false, 0); }

uint32_t tsl__expr_shortest_spelled(tsl__exprs *x, tsl__expr e) {
  return tsl__shortest_in(x, e, true, 0);
}

bool tsl__expr_matches(tsl__exprs *x, tsl__expr e, const void *bytes, size_t length) {
  const uint8_t *at = bytes;
  for (size_t i = 0; i < length && e; i++)
    e = tsl__exprs_step(x) ? tsl__derive_plain(x, e, at[i]) : TSL__NONE;
  return e && tsl__expr_nullable(x, e);
}
