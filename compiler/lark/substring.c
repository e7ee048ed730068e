/* substring.c - any chunks of a text that follow one another: %regex {"substring_words": "…"}.
 *
 * Problem   A model must quote from a text: chunks n to m, for any n and m. 10^5 chunks have 10^10
 *           such quotations.
 * Idea      It is the suffix automaton of the list of chunks, with chunks as its letters. It has
 *           fewer than two states for each chunk, and all of them end a text. A state's edges are
 *           sorted by the bytes of their chunks. So the edges which go on with a byte are a range
 *           of them.
 * Position  A range of edges, and how many bytes of their chunks are read. It is one native
 *           automaton (expr/expr.h), made where a text gets to it. Where a chunk ends and another
 *           one begins with it, both go on, as alternatives.
 * Example   "ab", "a", "b" : after "a" the text is within "ab", or after the chunk "a"
 * Words     runs of letters, digits and '_'; runs of white space; runs of anything else
 * Cost      n log n to build, some 60 bytes a chunk; a step looks at the bytes that can follow
 * Refs      Blumer et al. 1985 "The smallest automaton recognizing the subwords of a text"
 * Tested by tests/lark/test_lark.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/unicode_cache.h"
#include "compiler/json/json.h"
#include "compiler/lark/items.h"
#include "runtime/core/pool.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct edge {
  uint32_t chunk, to; /* to: a state */
  uint32_t next;      /* while it is built: of the same state, or TSL__LARK_NOWHERE */
} edge;

typedef struct state {
  uint32_t length, link;
  uint32_t first, count; /* of edges */
} state;

typedef struct position {
  uint32_t low, high, depth; /* edges low … high - 1, bytes read */
  uint32_t shortest;
} position;

/* Lives as long as the expressions. */
typedef struct automaton {
  tsl_allocator alloc;
  tsl__exprs *x;
  tsl__string *chunks; /* distinct and sorted */
  uint32_t chunk_count;
  TSL__VEC(state) states;
  TSL__VEC(edge) edges; /* of each state in turn, sorted by chunk */
  TSL__VEC(position) positions;
  tsl__index index; /* of positions */
} automaton;

/* ---- positions ------------------------------------------------------------------------------- */

static int byte_of(const automaton *m, uint32_t number, uint32_t depth) {
  const tsl__string *s = &m->chunks[m->edges.at[number].chunk];
  return depth < s->length ? (uint8_t)s->at[depth] : -1;
}

/* The first edge of low … high - 1 whose chunk has a byte over `byte` at `depth`. */
static uint32_t past(const automaton *m, uint32_t low, uint32_t high, uint32_t depth, int byte) {
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (byte_of(m, middle, depth) > byte)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static const tsl__native_ops ops;

/* The expression of a position; TSL__EPS where nothing can follow. */
static tsl__expr expression(automaton *m, uint32_t low, uint32_t high, uint32_t depth) {
  position p = {low, high, depth, depth ? TSL__INF : 0};
  if (low == high) return depth ? TSL__NONE : TSL__EPS;
  uint64_t hash = tsl__mix(((uint64_t)low << 32 | high) + depth * 0x9E3779B97F4A7C15u);
  tsl__index_iter it = tsl__index_first(&m->index, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const position *q = &m->positions.at[i];
    if (q->low == low && q->high == high && q->depth == depth)
      return tsl__expr_native(m->x, &ops, m, i);
  }
  tsl__exprs_work(m->x, high - low);
  for (uint32_t i = low; depth && i < high; i++) {
    uint32_t left = m->chunks[m->edges.at[i].chunk].length - depth;
    if (left < p.shortest) p.shortest = left;
  }
  if (!tsl__vec_push(&m->alloc, &m->positions, p) ||
      !tsl__index_add(&m->index, &m->alloc, hash, (uint32_t)m->positions.n - 1)) {
    tsl__exprs_fail(m->x, TSL_ERR_NO_MEMORY, "out of memory");
    return TSL__NONE;
  }
  return tsl__expr_native(m->x, &ops, m, (uint32_t)m->positions.n - 1);
}

static tsl__expr after_chunk(automaton *m, uint32_t number) {
  const state *s = &m->states.at[m->edges.at[number].to];
  return expression(m, s->first, s->first + s->count, 0);
}

static bool nullable(void *ctx, uint32_t param) {
  return ((automaton *)ctx)->positions.at[param].depth == 0;
}

static void live(void *ctx, uint32_t param, tsl__bytes *out) {
  const automaton *m = ctx;
  const position *p = &m->positions.at[param];
  for (uint32_t at = p->low; at < p->high;) {
    int byte = byte_of(m, at, p->depth);
    if (byte >= 0) tsl__bytes_add(out, (unsigned)byte);
    at = past(m, at, p->high, p->depth, byte);
  }
}

static void boundaries(void *ctx, uint32_t param, tsl__bytes *out) {
  tsl__bytes bytes = {{0}};
  live(ctx, param, &bytes);
  for (unsigned b = 0; b < 256; b++)
    if (tsl__bytes_has(&bytes, b)) {
      tsl__bytes_add(out, b);
      if (b < 255) tsl__bytes_add(out, b + 1);
    }
}

static tsl__expr step(tsl__exprs *x, void *ctx, uint32_t param, uint8_t byte) {
  automaton *m = ctx;
  const position p = m->positions.at[param];
  uint32_t low = past(m, p.low, p.high, p.depth, (int)byte - 1);
  uint32_t high = past(m, low, p.high, p.depth, byte), depth = p.depth + 1;
  if (low == high) return TSL__NONE;
  bool ends = m->chunks[m->edges.at[low].chunk].length == depth;
  tsl__expr done = ends ? after_chunk(m, low) : TSL__NONE;
  return tsl__expr_alt(x, done, expression(m, low + ends, high, depth));
}

static uint32_t shortest(void *ctx, uint32_t param) {
  return ((automaton *)ctx)->positions.at[param].shortest;
}

static void print(void *ctx, uint32_t param, char *out, size_t n) {
  const position *p = &((automaton *)ctx)->positions.at[param];
  snprintf(out, n, "chunks[%u,%u]+%u", p->low, p->high, p->depth);
}

static const tsl__native_ops ops = {.nullable = nullable,
                                    .boundaries = boundaries,
                                    .step = step,
                                    .shortest = shortest,
                                    .print = print,
                                    .live = live};

/* ---- building -------------------------------------------------------------------------------- */

static void free_automaton(void *ctx) {
  automaton *m = ctx;
  tsl__vec_free(&m->alloc, &m->states);
  tsl__vec_free(&m->alloc, &m->edges);
  tsl__vec_free(&m->alloc, &m->positions);
  tsl__index_free(&m->index, &m->alloc);
  tsl__free(&m->alloc, m, sizeof *m);
}

/* While it is built: edges are lists, and a table finds them by state and chunk. */
typedef struct builder {
  automaton *m;
  tsl__index table; /* of edges */
} builder;

static edge *find(builder *b, uint32_t from, uint32_t chunk) {
  tsl__index_iter it = tsl__index_first(&b->table, tsl__mix((uint64_t)from << 32 | chunk));
  /* the state's own list is not walked: it may be long */
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;)
    if (b->m->edges.at[i].chunk == chunk && b->m->positions.at[i].low == from)
      return &b->m->edges.at[i];
  return NULL;
}

/* `positions` holds where each edge is from, until the edges are sorted. */
static bool add_edge(builder *b, uint32_t from, uint32_t chunk, uint32_t to) {
  automaton *m = b->m;
  uint32_t number = (uint32_t)m->edges.n;
  edge e = {chunk, to, m->states.at[from].first};
  position of = {.low = from};
  m->states.at[from].first = number;
  m->states.at[from].count++;
  return tsl__vec_push(&m->alloc, &m->edges, e) && tsl__vec_push(&m->alloc, &m->positions, of) &&
         tsl__index_add(&b->table, &m->alloc, tsl__mix((uint64_t)from << 32 | chunk), number);
}

static bool add_state(automaton *m, uint32_t length, uint32_t link, uint32_t *out) {
  state s = {length, link, TSL__LARK_NOWHERE, 0};
  *out = (uint32_t)m->states.n;
  return tsl__vec_push(&m->alloc, &m->states, s);
}

/* State `at` is split: the texts of up to `length` chunks get a state of their own. */
static bool split(builder *b, uint32_t from, uint32_t chunk, uint32_t at, uint32_t *out) {
  automaton *m = b->m;
  if (!add_state(m, m->states.at[from].length + 1, m->states.at[at].link, out)) return false;
  for (uint32_t i = m->states.at[at].first; i != TSL__LARK_NOWHERE; i = m->edges.at[i].next)
    if (!add_edge(b, *out, m->edges.at[i].chunk, m->edges.at[i].to)) return false;
  m->states.at[at].link = *out;
  for (edge *e; from != TSL__LARK_NOWHERE && (e = find(b, from, chunk)) && e->to == at;
       from = m->states.at[from].link)
    e->to = *out;
  return true;
}

static bool extend(builder *b, uint32_t *last, uint32_t chunk) {
  automaton *m = b->m;
  uint32_t made, from = *last;
  if (!add_state(m, m->states.at[from].length + 1, 0, &made)) return false;
  for (; from != TSL__LARK_NOWHERE && !find(b, from, chunk); from = m->states.at[from].link)
    if (!add_edge(b, from, chunk, made)) return false;
  *last = made;
  if (from == TSL__LARK_NOWHERE) return true;
  uint32_t to = find(b, from, chunk)->to;
  if (m->states.at[to].length != m->states.at[from].length + 1 && !split(b, from, chunk, to, &to))
    return false;
  m->states.at[made].link = to;
  return true;
}

static int by_chunk(const void *a, const void *b) {
  uint32_t p = ((const edge *)a)->chunk, q = ((const edge *)b)->chunk;
  return (p > q) - (p < q);
}

/* The edges of each state in a row. */
static bool sort_edges(automaton *m) {
  size_t size = m->edges.n * sizeof(edge);
  edge *sorted = tsl__alloc(&m->alloc, size + 1);
  uint32_t at = 0;
  if (!sorted) return false;
  for (size_t i = 0; i < m->states.n; i++) {
    state *s = &m->states.at[i];
    uint32_t first = at;
    for (uint32_t e = s->first; e != TSL__LARK_NOWHERE; e = m->edges.at[e].next)
      sorted[at++] = m->edges.at[e];
    s->first = first;
    if (s->count) qsort(sorted + first, s->count, sizeof *sorted, by_chunk);
  }
  if (size) memcpy(m->edges.at, sorted, size);
  tsl__free(&m->alloc, sorted, size + 1);
  m->positions.n = 0;
  return true;
}

static bool build(tsl__lark *l, automaton *m, const uint32_t *order, uint32_t count) {
  builder b = {.m = m};
  uint32_t last;
  bool fine = add_state(m, 0, TSL__LARK_NOWHERE, &last);
  for (uint32_t i = 0; fine && i < count && !tsl__lark_failed(l); i++) {
    tsl__exprs_work(l->x, 4);
    if (m->chunks[order[i]].length) fine = extend(&b, &last, order[i]);
  }
  tsl__index_free(&b.table, &m->alloc);
  return fine && sort_edges(m);
}

/* The distinct ones of a set of expr/expr.h, which keeps copies. */
static bool keep_chunks(tsl__lark *l, automaton *m, const tsl__string *all, uint32_t count,
                        uint32_t *order) {
  tsl__stringset set = tsl__stringset_new(l->x, all, count, order);
  if (tsl__exprs_status(l->x)) return false;
  m->chunk_count = tsl__stringset_size(l->x, set);
  m->chunks = tsl__exprs_alloc(l->x, m->chunk_count * sizeof *m->chunks + 1);
  for (uint32_t i = 0; m->chunks && i < m->chunk_count; i++)
    m->chunks[i] = tsl__stringset_at(l->x, set, i);
  return m->chunks != NULL;
}

static tsl__expr chunks(tsl__lark *l, const tsl__string *all, uint32_t count) {
  size_t size = count * sizeof(uint32_t) + 1;
  uint32_t *order = tsl__alloc(&l->alloc, size);
  automaton *m = order ? tsl__alloc_zero(&l->alloc, sizeof *m) : NULL;
  tsl__expr e = TSL__EPS;
  if (m) {
    m->alloc = l->alloc;
    m->x = l->x;
  }
  bool fine = m && tsl__exprs_own(l->x, m, free_automaton) &&
              (!count || (keep_chunks(l, m, all, count, order) && build(l, m, order, count)));
  if (!fine) tsl__lark_no_memory(l);
  if (fine && count)
    e = expression(m, m->states.at[0].first, m->states.at[0].first + m->states.at[0].count, 0);
  tsl__free(&l->alloc, order, size);
  return fine ? e : TSL__NONE;
}

tsl__expr tsl__lark_substring(tsl__exprs *x, const tsl__string *all, uint32_t count) {
  tsl__lark l = {.x = x, .alloc = *tsl__exprs_allocator(x)};
  tsl__expr e = chunks(&l, all, count);
  if (l.status) tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
  return l.status ? TSL__NONE : e;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

typedef TSL__VEC(tsl__string) strings;

static tsl__expr finish(tsl__lark *l, strings *all, bool fine) {
  tsl__expr e = fine ? chunks(l, all->at, (uint32_t)all->n) : TSL__NONE;
  if (!fine) tsl__lark_no_memory(l);
  tsl__vec_free(&l->alloc, all);
  return e;
}

tsl__expr tsl__lark_chunks(tsl__lark *l, const tsl__json *list) {
  strings all = {0};
  bool fine = true;
  for (uint32_t i = 0; fine && i < list->length; i++) {
    tsl__string one = {list->items[i].text, list->items[i].length};
    fine = tsl__vec_push(&l->alloc, &all, one);
  }
  return finish(l, &all, fine);
}

tsl__expr tsl__lark_characters(tsl__lark *l, const char *text, uint32_t length) {
  strings all = {0};
  bool fine = true;
  for (uint32_t at = 0, n; fine && at < length; at += n) {
    uint32_t cp;
    n = tsl__utf8_decode((const uint8_t *)text + at, length - at, &cp);
    if (!n) n = 1;
    fine = tsl__vec_push(&l->alloc, &all, ((tsl__string){text + at, n}));
  }
  return finish(l, &all, fine);
}

/* Letters, marks, digits and '_'; white space. */
static bool classes(tsl__lark *l, tsl__charset *word, tsl__charset *space) {
  const tsl_allocator *a = &l->alloc;
  tsl_status status = tsl__unicode_property(l->x, word, "L", 1);
  if (!status) status = tsl__unicode_property(l->x, word, "M", 1);
  if (!status) status = tsl__unicode_property(l->x, word, "N", 1);
  if (!status) status = tsl__unicode_property(l->x, space, "Z", 1);
  bool fine = !status && tsl__charset_add(a, word, '_', '_') && tsl__charset_add(a, space, 9, 13);
  tsl__charset_normalise(word);
  tsl__charset_normalise(space);
  return fine;
}

tsl__expr tsl__lark_words(tsl__lark *l, const char *text, uint32_t length) {
  strings all = {0};
  tsl__charset word = {0}, space = {0};
  bool fine = classes(l, &word, &space);
  int before = -1;
  for (uint32_t at = 0, n; fine && at < length; at += n) {
    uint32_t cp = 0;
    n = tsl__utf8_decode((const uint8_t *)text + at, length - at, &cp);
    if (!n) n = 1;
    int kind = tsl__charset_has(&word, cp) ? 0 : tsl__charset_has(&space, cp) ? 1 : 2;
    if (kind == before)
      all.at[all.n - 1].length += n;
    else
      fine = tsl__vec_push(&l->alloc, &all, ((tsl__string){text + at, n}));
    before = kind;
  }
  tsl__charset_free(&l->alloc, &word);
  tsl__charset_free(&l->alloc, &space);
  return finish(l, &all, fine);
}
