/* shared.c - see shared.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/shared.h"

#include "compiler/expr_node.h"
#include "compiler/schema.h"
#include "runtime/walk.h"

#define LEFTOVERS_MAX 4096u /* merged ahead; later ones are merged when a grammar needs them */

typedef struct layer {
  tsl__shared head;
  tsl_allocator alloc;
  tsl__space *space;
} layer;

static void layer_free(tsl__shared *shared) {
  layer *l = (layer *)(void *)shared;
  tsl_allocator a = l->alloc;
  tsl__space_free(l->space);
  tsl__free(&a, l, sizeof *l);
}

static size_t layer_memory(const tsl__shared *shared) { return sizeof(layer) + tsl__space_memory(((const layer *)(const void *)shared)->space); }

/* Every rule a state, every state expanded: nothing is left to grow when the layer is frozen. */
static void expand_all(tsl__space *space, tsl__exprs *x) {
  tsl__state next = 1;
  for (uint32_t rule = 0;; rule++) {
    for (; next < tsl__space_count(space, states) && space->status == TSL_OK; next++) tsl__state_expanded(space, next);
    if (rule >= x->rules.n || space->status != TSL_OK) return;
    tsl__node n = {.kind = TSL__K_RULE, .a = rule};
    tsl__state_of(space, tsl__intern(x, n));
  }
}

static void walk_all(tsl__space *space) {
  uint32_t n = tsl__space_count(space, states);
  for (tsl__state s = 1; s < n && space->status == TSL_OK; s++) {
    tsl__space_begin(space);
    if (!(tsl__state_at(space, s)->flags & (TSL__STATE_FORK | TSL__STATE_LOOP))) tsl__walk_over(space, s, 0, TSL__WHOLE, false);
  }
}

/* White space as the callers' continuation: over each leftover, and each leftover of that, until nothing new comes. */
static void merge_structure(tsl__space *space) {
  static const char structure[] = " \t\n\r\"[]{}:,";
  for (tsl__leftover t = 1; t < tsl__space_count(space, leftovers) && t < LEFTOVERS_MAX && space->status == TSL_OK; t++) {
    const tsl__leftover_rec *r = tsl__leftover_at(space, t);
    tsl__space_begin(space);
    for (const char *c = structure; *c; c++)
      if (tsl__bytes_has(&r->next, (uint8_t)*c)) tsl__leftover_child(space, t, (uint8_t)*c);
  }
}

static void walk_rules(tsl__space *space, tsl__exprs *x) {
  for (uint32_t rule = 0; rule < x->rules.n; rule++) {
    tsl__node n = {.kind = TSL__K_RULE, .a = rule};
    tsl__state s = tsl__state_of(space, tsl__intern(x, n));
    for (tsl__leftover t = 1; t < tsl__space_count(space, leftovers) && t < LEFTOVERS_MAX && space->status == TSL_OK; t++) {
      tsl__space_begin(space);
      tsl__walk_over(space, s, 0, t, false);
    }
  }
}

static tsl_status make(tsl_vocab *vocab, layer **out, tsl_error *error) {
  tsl__space *space = NULL;
  tsl__exprs *x = NULL;
  layer *l = tsl__alloc_zero(&vocab->alloc, sizeof *l);
  tsl_status status = l ? tsl__space_new(NULL, vocab, &vocab->alloc, NULL, &space) : TSL_ERR_NO_MEMORY;
  if (status == TSL_OK) status = tsl__exprs_new(NULL, &vocab->alloc, NULL, &x);
  if (status == TSL_OK && (status = tsl__states_attach(space, x)) != TSL_OK) tsl__exprs_free(x);
  if (status == TSL_OK) {
    tsl__expr_text(x);
    status = tsl__schema_warm(x);
  }
  if (status == TSL_OK) status = tsl__walk_prepare(space);
  if (status == TSL_OK) {
    expand_all(space, x);
    if (space->status == TSL_OK) walk_all(space);
    if (space->status == TSL_OK) merge_structure(space);
    if (space->status == TSL_OK) walk_rules(space, x);
    status = space->status;
  }
  if (status != TSL_OK) {
    tsl__fail(error, status, "while warming up the vocabulary: %s", space && space->why ? space->why : x ? tsl__exprs_why(x) : "out of memory");
    tsl__space_free(space);
    tsl__free(&vocab->alloc, l, sizeof *l);
    return status;
  }
  *l = (layer){{layer_free, layer_memory}, vocab->alloc, space};
  *out = l;
  return TSL_OK;
}

tsl_status tsl__shared_get(tsl_vocab *vocab, const tsl__space **space, tsl_error *error) {
  tsl__shared *shared = atomic_load_explicit(&vocab->shared, memory_order_acquire);
  if (!shared) {
    layer *l = NULL;
    pthread_mutex_lock(&vocab->lock);
    shared = atomic_load_explicit(&vocab->shared, memory_order_acquire);
    tsl_status status = shared ? TSL_OK : make(vocab, &l, error);
    if (l) atomic_store_explicit(&vocab->shared, shared = &l->head, memory_order_release);
    pthread_mutex_unlock(&vocab->lock);
    if (status != TSL_OK) return status;
  }
  *space = ((layer *)(void *)shared)->space;
  return TSL_OK;
}
