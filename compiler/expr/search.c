/* search.c - see search.h: the graph of a search, a hash table beside a binary heap.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/search.h"

void tsl__graph_free(const tsl_allocator *a, tsl__graph *g) {
  tsl__vec_free(a, &g->visits);
  tsl__vec_free(a, &g->queue);
  tsl__vec_free(a, &g->keys);
  tsl__free(a, g->slots, g->slot_count * sizeof *g->slots);
}

uint32_t *tsl__graph_slot(tsl__graph *g, tsl__expr e) {
  uint32_t mask = g->slot_count - 1, i = (uint32_t)tsl__mix(e) & mask;
  while (g->slots[i] && g->visits.at[g->slots[i] - 1].e != e) i = (i + 1) & mask;
  return &g->slots[i];
}

bool tsl__graph_grow(const tsl_allocator *a, tsl__graph *g) {
  uint32_t count = g->slot_count ? g->slot_count * 2 : 64, old = g->slot_count;
  uint32_t *slots = tsl__alloc_zero(a, count * sizeof *slots);
  if (!slots) return false;
  tsl__free(a, g->slots, old * sizeof *slots);
  g->slots = slots;
  g->slot_count = count;
  for (uint32_t i = 0; i < g->visits.n; i++) *tsl__graph_slot(g, g->visits.at[i].e) = i + 1;
  return true;
}

bool tsl__graph_push(const tsl_allocator *a, tsl__graph *g, uint64_t key, uint32_t index) {
  if (!tsl__vec_push(a, &g->queue, index) || !tsl__vec_push(a, &g->keys, key)) return false;
  size_t i = g->queue.n - 1;
  while (i > 0 && g->keys.at[(i - 1) / 2] > key) {
    g->keys.at[i] = g->keys.at[(i - 1) / 2];
    g->queue.at[i] = g->queue.at[(i - 1) / 2];
    i = (i - 1) / 2;
  }
  g->keys.at[i] = key;
  g->queue.at[i] = index;
  return true;
}

uint32_t tsl__graph_pop(tsl__graph *g) {
  uint32_t top = g->queue.at[0], index = g->queue.at[--g->queue.n];
  uint64_t key = g->keys.at[--g->keys.n];
  size_t i = 0;
  for (;;) {
    size_t c = 2 * i + 1;
    if (c >= g->queue.n) break;
    if (c + 1 < g->queue.n && g->keys.at[c + 1] < g->keys.at[c]) c++;
    if (g->keys.at[c] >= key) break;
    g->keys.at[i] = g->keys.at[c];
    g->queue.at[i] = g->queue.at[c];
    i = c;
  }
  if (g->queue.n) {
    g->keys.at[i] = key;
    g->queue.at[i] = index;
  }
  return top;
}

bool tsl__graph_add(const tsl_allocator *a, tsl__graph *g, tsl__visit v, uint64_t key) {
  if (g->visits.n * 2 >= g->slot_count && !tsl__graph_grow(a, g)) return false;
  uint32_t *slot = tsl__graph_slot(g, v.e);
  if (*slot) {
    tsl__visit *old = &g->visits.at[*slot - 1];
    if (old->cost <= v.cost) return true;
    *old = v;
    return tsl__graph_push(a, g, key, *slot - 1);
  }
  if (!tsl__vec_push(a, &g->visits, v)) return false;
  *slot = (uint32_t)g->visits.n;
  return tsl__graph_push(a, g, key, (uint32_t)g->visits.n - 1);
}
