/* tables.c - see tables.h. An entry is what it is found by, as a hash of 64 bits: two that are
 * equal count as the same.
 *
 * Left out are walks (one that came back to a walk in progress is not to be found) and what the
 * compiler numbers itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/judges/tables.h"

#include <stdlib.h>

#include "runtime/walk/classes.h"
#include "runtime/automaton/leftover.h"
#include "runtime/position/distinct.h"
#include "runtime/walk/names.h"
#include "runtime/walk/nonascii.h"

static uint64_t add(uint64_t hash, uint64_t x) {
  return tsl__mix(hash * 31 + x + 0x9e3779b97f4a7c15u);
}
static uint64_t add_all(uint64_t hash, const void *data, size_t n) {
  return add(add(hash, n), n ? tsl__hash(data, n) : 0);
}

static uint64_t key_of_leftover(const void *p) {
  const tsl__leftover_rec *r = p;
  return add_all(0, r->nodes, r->n * sizeof *r->nodes);
}
static uint64_t key_of_child(const void *p) {
  const tsl__child *c = p;
  return add(add(0, c->set), c->byte);
}
static uint64_t key_of_mask(const void *p) {
  const tsl__mask_rec *r = p;
  if (r->joined) return add(0, (uintptr_t)p); /* there may be others like it, of other parts */
  uint64_t hash = add_all(0, tsl__mask_bases(r), r->base_count * sizeof *tsl__mask_bases(r));
  tsl_token tokens[TSL__PATCH_MAX];
  hash =
      add_all(hash, tsl__patches_read(tsl__mask_minus(r), tokens), r->minus_count * sizeof *tokens);
  return add_all(hash, tsl__patches_read(tsl__mask_plus(r), tokens),
                 r->plus_count * sizeof *tokens);
}
static uint64_t key_of_union(const void *p) {
  const tsl__union *u = p;
  return add_all(0, u->parts, sizeof u->parts);
}
static uint64_t key_of_class(const void *p) {
  const tsl__class *c = p;
  return add(add(add(add_all(0, &c->letters, sizeof c->letters), c->nonascii), c->node), c->limit);
}
static uint64_t key_of_stack(const void *p) {
  const tsl__stack_rec *r = p;
  if (r->n == 1 && !r->has_distinct)
    return add(add(add(1, r->cell.state), r->cell.count), r->cell.tail);
  return r->has_distinct ? add_all(2, &r->with_distinct, sizeof r->with_distinct)
                         : add_all(0, r->cells, r->n * sizeof *r->cells);
}
static uint64_t key_of_move(const void *p) {
  const tsl__move *m = p;
  return add(add(0, m->from), m->by.bits);
}
static uint64_t key_of_named(const void *p) {
  const tsl__named_walk *w = p;
  return add(add(0, w->state), w->over);
}
static uint64_t key_of_resumed(const void *p) {
  const tsl__resumed *r = p;
  return add(add(add(0, r->resume), r->name), r->frame != 0);
}
static uint64_t key_of_nonascii(const void *p) {
  const tsl__nonascii *w = p;
  return add_all(0, w->pairs, 2 * w->count * sizeof *w->pairs);
}
static uint64_t key_of_open(const void *p) { return add_all(0, p, sizeof(tsl__open)); }
static uint64_t key_of_text(const void *p) {
  const tsl__text *t = p;
  return add_all(add(0, t->before), t->at, t->n);
}
static uint64_t key_of_memory(const void *p) {
  const tsl__distinct *m = p;
  uint64_t hash = add(add(add(add(0, m->open), m->name), m->in_string), m->escaped);
  for (uint32_t i = 0; i < m->n; i++) hash = add(add(hash, m->denies[i].depth), m->denies[i].at);
  return hash;
}
static uint64_t key_of_texts(uint32_t next, const tsl__spelled *texts, uint32_t n) {
  uint64_t hash = add(0, next);
  for (uint32_t i = 0; i < n; i++) hash = add_all(hash, texts[i].at, texts[i].n);
  return hash;
}
static uint64_t key_of_seen_name(const void *p) {
  const tsl__seen_names *t = p;
  return key_of_texts(t->next, t->names, t->count);
}
static uint64_t key_of_used(const void *p) {
  const tsl__used *u = p;
  return key_of_texts(u->next, u->texts, u->count);
}

static int by_number(const void *p, const void *q) {
  uint64_t a = *(const uint64_t *)p, b = *(const uint64_t *)q;
  return a < b ? -1 : a > b;
}

static bool has_twice(const tsl__table *t, uint64_t (*key)(const void *)) {
  /* the first of all stands for none */
  uint32_t from = t->first == 0, n = t->pool.n > from ? t->pool.n - from : 0;
  uint64_t *keys = malloc((n + 1) * sizeof *keys);
  bool twice = !keys;
  for (uint32_t i = 0; keys && i < n; i++) keys[i] = key(tsl__pool_at(&t->pool, from + i));
  if (keys) qsort(keys, n, sizeof *keys, by_number);
  for (uint32_t i = 1; keys && i < n; i++) twice = twice || keys[i] == keys[i - 1];
  free(keys);
  return twice;
}

const char *tables_have_twice(const tsl__space *s) {
  const struct {
    const char *name;
    const tsl__table *table;
    uint64_t (*key)(const void *);
  } all[] = {{"leftovers", &s->leftovers, key_of_leftover},
             {"children", &s->children, key_of_child},
             {"masks", &s->masks, key_of_mask},
             {"unions", &s->unions, key_of_union},
             {"classes", &s->classes, key_of_class},
             {"stacks", &s->stacks, key_of_stack},
             {"moves", &s->moves, key_of_move},
             {"named", &s->named, key_of_named},
             {"resumed", &s->resumed, key_of_resumed},
             {"wides", &s->nonascii_sets, key_of_nonascii},
             {"opens", &s->opens, key_of_open},
             {"texts", &s->texts, key_of_text},
             {"memories", &s->distinct, key_of_memory},
             {"seen names", &s->seen_names, key_of_seen_name},
             {"used", &s->used, key_of_used}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (has_twice(all[i].table, all[i].key)) return all[i].name;
  return NULL;
}
