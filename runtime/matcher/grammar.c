/* grammar.c - see grammar.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/matcher/edition.h"
#include "runtime/matcher/generation.h"

#include <stdio.h>

static tsl_status failed(const tsl__space *space, tsl_error *error) {
  return tsl__fail(error, space->status != TSL_OK ? space->status : TSL_ERR_NO_MEMORY, "%s",
                   space->why ? space->why : "out of memory");
}

tsl_status tsl__grammar_make_over(tsl_grammar *base, tsl__state start, const char *report,
                                  tsl_grammar **out, tsl_error *error) {
  tsl__space *space = base->space;
  tsl__stack begin = start ? tsl__stack_begin(space, start) : 0;
  size_t report_size = report ? strlen(report) + 1 : 0;
  tsl_grammar *g = begin ? tsl__alloc_zero(&base->alloc, sizeof *g) : NULL;
  char *copy = g && report ? tsl__alloc(&base->alloc, report_size) : NULL;
  *out = NULL;
  if (!g || (report && !copy)) {
    if (g) tsl__free(&base->alloc, g, sizeof *g);
    return failed(space, error);
  }
  *g = (tsl_grammar){.vocab = base->vocab,
                     .space = space,
                     .lock = base->lock,
                     .start = start,
                     .begin = begin,
                     .alloc = base->alloc,
                     .tables = base->tables};
  g->whole = g->origin = g;
  atomic_init(&g->references, 1);
  atomic_init(&g->report, report ? memcpy(copy, report, report_size) : NULL);
  g->report_size = report_size;
  tsl__mutex_init(&g->door);
  atomic_fetch_add_explicit(&g->tables->references, 1, memory_order_relaxed);
  tsl_vocab_retain(g->vocab);
  *out = g;
  return TSL_OK;
}

tsl_status tsl__grammar_make(tsl_vocab *vocab, tsl__space *space, tsl__state start,
                             const char *report, tsl_grammar **out, tsl_error *error) {
  tsl_grammar base = {.alloc = space->alloc, .vocab = vocab, .space = space};
  base.tables = tsl__alloc_zero(&space->alloc, sizeof *base.tables);
  *out = NULL;
  if (base.tables) {
    base.lock = &base.tables->lock;
    base.tables->space = space;
    base.tables->first = base.tables;
    base.tables->serial =
        1 + atomic_fetch_add_explicit(&vocab->tables_made, 1, memory_order_relaxed);
  }
  tsl_status status =
      base.tables ? tsl__grammar_make_over(&base, start, report, out, error) : failed(space, error);
  if (status == TSL_OK) {
    tsl__mutex_init(base.lock);
    tsl__grammar_born(*out);
    return TSL_OK;
  }
  if (base.tables) tsl__free(&space->alloc, base.tables, sizeof *base.tables);
  tsl__space_free(space);
  return status;
}

static void free_grammar(tsl_grammar *g) {
  tsl_vocab *vocab = g->vocab;
  tsl_allocator a = g->alloc;
  if (g->whole == g) {
    if (g->report_size) tsl__free(&a, (char *)(uintptr_t)atomic_load(&g->report), g->report_size);
    tsl__editions_free(g); /* these go by the door */
    tsl__views_free(g);
  } else {
    vocab = NULL; /* the whole grammar's */
  }
  tsl__tables_release(g->tables, &a);
  tsl__free(&a, g, sizeof *g);
  tsl_vocab_release(vocab);
}

static bool is_last(tsl_grammar *g) {
  return atomic_fetch_sub_explicit(&g->references, 1, memory_order_acq_rel) == 1;
}

void tsl_grammar_release(tsl_grammar *g) {
  if (!g) return;
  tsl_grammar *whole = g->whole, *origin = whole->origin;
  if (whole != g && is_last(g)) free_grammar(g);
  if (whole != origin && is_last(whole)) {
    tsl__edition_unlink(whole);
    free_grammar(whole);
  }
  if (is_last(origin)) free_grammar(origin);
}

void tsl__edition_drop(tsl_grammar *edition) {
  if (!edition || !is_last(edition)) return;
  tsl__edition_unlink(edition);
  free_grammar(edition);
}

tsl_vocab *tsl_grammar_vocab(const tsl_grammar *g) { return g->vocab; }

const char *tsl_grammar_report(const tsl_grammar *g) {
  tsl_grammar *own = (tsl_grammar *)(uintptr_t)g;
  const char *report = atomic_load_explicit(&own->report, memory_order_acquire);
  if (report || !g->describe) return report;
  tsl__mutex_lock(g->lock);
  if (!(report = atomic_load_explicit(&own->report, memory_order_relaxed)) &&
      (report = g->describe(g->described)) != NULL)
    atomic_store_explicit(&own->report, report, memory_order_release);
  tsl__mutex_unlock(g->lock);
  return report;
}

static void add_stats(const tsl__space *s, tsl_grammar_stats *stats) {
  stats->states += s->states.pool.n;
  stats->walks += s->walks.pool.n;
  stats->masks += s->masks.pool.n;
  stats->stacks += s->stacks.pool.n;
  stats->walk_steps += tsl__space_steps(s);
}

void tsl_grammar_get_stats(const tsl_grammar *g, tsl_grammar_stats *stats) {
  tsl__mutex *lock = g->lock;
  tsl__mutex_lock(lock);
  const tsl__space *s = g->space;
  *stats = (tsl_grammar_stats){.memory = tsl__grammar_memory(g),
                               .generations = 1 + g->tables->first->begun};
  add_stats(s, stats);
  stats->exprs = s->hook && s->hook->life.count ? s->hook->life.count(s->hook_ctx) : 0;
  for (const tsl__tables *t = g->tables->first->others; t; t = t->older) add_stats(t->space, stats);
  tsl__mutex_unlock(lock);
  stats->memory += tsl__editions_memory((tsl_grammar *)(uintptr_t)g, &stats->generations);
}

/* ---- listing --------------------------------------------------------------------------------- */

typedef struct lister {
  const tsl__space *space;
  tsl_line_sink sink;
  void *ctx;
} lister;

static void print_byte(char *out, size_t n, unsigned b) {
  if (b > 0x20 && b < 0x7F && b != '\'')
    snprintf(out, n, "'%c'", (int)b);
  else
    snprintf(out, n, "%02X", b);
}

static void list_state(const lister *l, tsl__state i) {
  static const char *const op[] = {"", " keep", " next", " first"};
  char line[1024], expr[700] = "", lo[8], hi[8];
  const tsl__state_rec *r = tsl__state_at(l->space, i);
  if (l->space->hook && !(r->flags & TSL__STATE_FORK))
    l->space->hook->states.print(l->space->hook_ctx, i, expr, sizeof expr);
  snprintf(line, sizeof line, "state %u%s%s %s%s", i,
           r->flags & TSL__STATE_NULLABLE ? " nullable" : "",
           r->flags & TSL__STATE_FORK ? " fork" : "", expr,
           atomic_load(&((tsl__state_rec *)(uintptr_t)r)->expanded) ? "" : " (not visited)");
  l->sink(l->ctx, line);
  for (uint32_t k = 0; k < r->ranges; k++) {
    if (!r->targets[k] || tsl__target_is_later(r->targets[k])) continue;
    print_byte(lo, sizeof lo, k ? tsl__state_upper(r)[k - 1] + 1u : 0);
    print_byte(hi, sizeof hi, tsl__state_upper(r)[k]);
    snprintf(line, sizeof line, "  %s-%s -> %u%s", lo, hi, tsl__target_state(r->targets[k]),
             op[tsl__target_op(r->targets[k])]);
    l->sink(l->ctx, line);
  }
  for (uint32_t k = 0; k < r->edges; k++) {
    const tsl__edge *e = &tsl__state_edges(r)[k];
    if (e->push)
      snprintf(line, sizeof line, "  call %u, then %u%s", tsl__target_state(e->to),
               tsl__target_state(e->push), op[tsl__target_op(e->push)]);
    else
      snprintf(line, sizeof line, "  or %u%s", tsl__target_state(e->to), op[tsl__target_op(e->to)]);
    l->sink(l->ctx, line);
  }
  for (uint32_t k = 0; k < r->token_edges; k++) {
    const tsl__token_edge *e = &tsl__state_token_edges(r)[k];
    snprintf(line, sizeof line, "  %s of %u tokens -> %u", e->complement ? "none" : "one", e->count,
             tsl__target_state(e->to));
    l->sink(l->ctx, line);
  }
}

void tsl_grammar_dump(const tsl_grammar *g, tsl_line_sink sink, void *ctx) {
  tsl__mutex *lock = g->lock;
  lister l = {g->space, sink, ctx};
  tsl__mutex_lock(lock);
  for (tsl__state i = g->space->states.first ? g->space->states.first : 1;
       i < tsl__space_count(g->space, states); i++)
    list_state(&l, i);
  tsl__mutex_unlock(lock);
}
