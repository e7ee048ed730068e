/* expr.c - interning and the constructors that keep expressions canonical.
 *
 * Every constructor first simplifies, then asks tsl__intern for the one node with that content. List-shaped content (literals, alternatives,
 * tokens) is appended to its pool before the look-up and taken back if the node was there already.
 *
 * Left factoring (a·x | a·y → a·(x|y)) is what keeps ordinary unions on one stack: calls at the head count as heads too. It recurses into the
 * tails; beyond FACTOR_DEPTH_MAX common heads the alternatives stay as they are, which is slower but equal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/charset.h"
#include "compiler/expr_node.h"
#include "runtime/state.h"

#include <stdlib.h>

#define FACTOR_DEPTH_MAX 64
#define LITERAL_MERGE_MAX 4096u /* longer literals are kept apart, so that building them stays linear */

static const tsl_limits no_limits = {0};

/* ---- the table ------------------------------------------------------------------------------------------------ */

void tsl__exprs_fail(tsl__exprs *x, tsl_status status, const char *what) {
  if (x->status != TSL_OK) return;
  x->status = status;
  x->why = what;
}

void tsl__exprs_explain(tsl__exprs *x, const char *why) { x->why = why; }

static tsl__expr no_memory(tsl__exprs *x) {
  tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
  return TSL__NONE;
}

static void inherit(tsl__exprs *x, const tsl__exprs *p) {
  x->base = p->base + (uint32_t)p->nodes.n;
  x->list_base = p->list_base + (uint32_t)p->lists.n;
  x->byte_base = p->byte_base + (uint32_t)p->pool.n;
  x->set_base = p->set_base + (uint32_t)p->sets.n;
  x->rule_base = p->rule_base + (uint32_t)p->rules.n;
  x->keys_base = p->keys_base + (uint32_t)p->keys.n;
  x->native_base = p->native_base + (uint32_t)p->natives.n;
  x->strings_base = p->strings_base + (uint32_t)p->strings.n;
  x->any_char = p->any_char;
  x->text = p->text;
  x->hex = p->hex;
  memcpy(x->marks, p->marks, sizeof x->marks);
}

tsl_status tsl__exprs_new(const tsl__exprs *parent, const tsl_allocator *allocator, const tsl_limits *limits, tsl__exprs **out) {
  allocator = tsl__allocator_or_default(allocator);
  if (!limits) limits = &no_limits;
  tsl__exprs *x = tsl__alloc_zero(allocator, sizeof *x);
  *out = NULL;
  if (!x) return TSL_ERR_NO_MEMORY;
  x->alloc = *allocator;
  x->parent = parent;
  tsl__arena_init(&x->arena, &x->alloc);
  x->max_steps = limits->max_steps ? limits->max_steps : 4000000u;
  x->max_memory = limits->max_memory ? limits->max_memory : (uint64_t)256 << 20;
  x->cancel = limits->cancel;
  x->deadline_us = limits->deadline_us;
  x->deadline = tsl__deadline(x->deadline_us);
  if (parent) {
    inherit(x, parent);
  } else {
    tsl__node none = {.kind = TSL__K_NONE, .flags = TSL__FINITE | TSL__CHAR | TSL__TEXTUAL, .shortest = TSL__INF};
    tsl__node eps = {.kind = TSL__K_EPS, .flags = TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH | TSL__FINITE | TSL__TEXTUAL | TSL__SEARCHED};
    if (!tsl__vec_push(&x->alloc, &x->nodes, none) || !tsl__vec_push(&x->alloc, &x->nodes, eps)) {
      tsl__exprs_free(x);
      return TSL_ERR_NO_MEMORY;
    }
  }
  *out = x;
  return TSL_OK;
}

void tsl__exprs_free(tsl__exprs *x) {
  if (!x) return;
  for (size_t i = x->owned.n; i-- > 0;) x->owned.at[i].destroy(x->owned.at[i].ctx);
  const tsl_allocator a = x->alloc;
  tsl__vec_free(&a, &x->owned);
  tsl__vec_free(&a, &x->nodes);
  tsl__vec_free(&a, &x->lists);
  tsl__vec_free(&a, &x->pool);
  tsl__vec_free(&a, &x->sets);
  tsl__vec_free(&a, &x->rules);
  tsl__vec_free(&a, &x->keys);
  tsl__vec_free(&a, &x->names);
  tsl__vec_free(&a, &x->wides);
  tsl__vec_free(&a, &x->natives);
  tsl__vec_free(&a, &x->strings);
  tsl__free(&a, x->slots, x->slot_count * sizeof *x->slots);
  tsl__free(&a, x->needs, x->need_slots * sizeof *x->needs);
  tsl__free(&a, x->meanings, TSL__KNOWN_MEANINGS * sizeof *x->meanings);
  tsl__free(&a, x->known_steps, TSL__KNOWN_STEPS * sizeof *x->known_steps);
  tsl__free(&a, x->explored, TSL__EXPLORED * sizeof *x->explored);
  tsl__free(&a, x->class_steps, TSL__CLASS_STEPS * sizeof *x->class_steps);
  tsl__arena_free(&x->arena);
  tsl__free(&a, x, sizeof *x);
}

size_t tsl__exprs_memory(const tsl__exprs *x) {
  return sizeof *x + x->held + x->arena.total + x->slot_count * sizeof *x->slots + x->need_slots * sizeof *x->needs +
         (x->meanings ? TSL__KNOWN_MEANINGS * sizeof *x->meanings : 0) + (x->known_steps ? TSL__KNOWN_STEPS * sizeof *x->known_steps : 0) +
         (x->explored ? TSL__EXPLORED * sizeof *x->explored : 0) + (x->class_steps ? TSL__CLASS_STEPS * sizeof *x->class_steps : 0) + x->nodes.cap * sizeof *x->nodes.at + x->lists.cap * sizeof *x->lists.at +
         x->pool.cap + x->sets.cap * sizeof *x->sets.at + x->rules.cap * sizeof *x->rules.at + x->keys.cap * sizeof *x->keys.at +
         x->natives.cap * sizeof *x->natives.at + x->strings.cap * sizeof *x->strings.at + x->owned.cap * sizeof *x->owned.at;
}

void tsl__exprs_hold(tsl__exprs *x, size_t bytes) { x->held = bytes; }
size_t tsl__exprs_held(const tsl__exprs *x) { return x->held; }
uint32_t tsl__exprs_count(const tsl__exprs *x) { return x->base + (uint32_t)x->nodes.n; }
tsl_status tsl__exprs_status(const tsl__exprs *x) { return x->status; }
const char *tsl__exprs_why(const tsl__exprs *x) { return x->why ? x->why : ""; }
const tsl_allocator *tsl__exprs_allocator(const tsl__exprs *x) { return &x->alloc; }
void tsl__exprs_set_user(tsl__exprs *x, void *user) { x->user = user; }
void *tsl__exprs_user(const tsl__exprs *x) { return x->user; }
const tsl__exprs *tsl__exprs_parent(const tsl__exprs *x) { return x->parent; }

void *tsl__exprs_alloc(tsl__exprs *x, size_t size) {
  void *p = tsl__arena_alloc(&x->arena, size);
  if (!p) no_memory(x);
  return p;
}

void tsl__exprs_absorb(tsl__exprs *x, tsl__arena *arena, tsl_allocator *hooks) {
  tsl__arena_absorb(&x->arena, arena);
  *hooks = tsl__arena_hooks(&x->arena);
}

bool tsl__exprs_guards(const tsl__exprs *x) { return x->spell != NULL; }
void tsl__exprs_guard(tsl__exprs *x, tsl__spell *spell, void *ctx) {
  x->spell = spell;
  x->spell_ctx = ctx;
  x->watches |= TSL__NEW_ITEM;
}
void tsl__exprs_guard_names(tsl__exprs *x, bool few) { x->watches |= (uint8_t)(TSL__NEW_NAME | (few ? TSL__FEW_NAMES : 0)); }
uint8_t tsl__exprs_watches(const tsl__exprs *x) { return x->watches; }

bool tsl__exprs_own(tsl__exprs *x, void *ctx, void (*destroy)(void *ctx)) {
  struct tsl__owned owned = {ctx, destroy};
  if (tsl__vec_push(&x->alloc, &x->owned, owned)) return true;
  destroy(ctx);
  no_memory(x);
  return false;
}

void tsl__exprs_begin(tsl__exprs *x) {
  x->deadline = tsl__deadline(x->deadline_us);
  x->steps = x->work = 0;
  x->depth = 0;
  x->searching = false;
  x->status = TSL_OK;
  x->why = NULL;
}

static bool spend(tsl__exprs *x, uint64_t steps) {
  uint64_t before = x->steps;
  if (TSL__UNLIKELY(x->status != TSL_OK)) return false;
  if (TSL__UNLIKELY((x->steps += steps) > x->max_steps)) {
    tsl__exprs_fail(x, TSL_ERR_LIMIT, "max_steps: the grammar takes too many derivative steps here");
    return false;
  }
  if (TSL__UNLIKELY((before ^ x->steps) >> 8)) {
    if (tsl__cancelled(x->cancel)) tsl__exprs_fail(x, TSL_ERR_CANCELLED, "cancelled");
    if (tsl__expired(x->deadline)) tsl__exprs_fail(x, TSL_ERR_CANCELLED, "deadline_us: out of time");
    if (tsl__exprs_memory(x) > x->max_memory) tsl__exprs_fail(x, TSL_ERR_LIMIT, "max_memory: the grammar's tables are full");
  }
  return x->status == TSL_OK;
}

bool tsl__exprs_step(tsl__exprs *x) { return spend(x, 1); }

void tsl__exprs_work(tsl__exprs *x, uint64_t things) {
  uint64_t work = x->work + things;
  x->work = work % TSL__WORK;
  if (work >= TSL__WORK) spend(x, work / TSL__WORK);
}

static uint64_t node_hash(const tsl__exprs *x, const tsl__node *n) {
  uint64_t h = n->kind;
  switch (n->kind) {
  case TSL__K_LIT: h ^= tsl__hash(tsl__literal_at(x, n->a), n->b) << 5; break;
  case TSL__K_BYTES: h ^= tsl__hash(tsl__set_at(x, n->a), sizeof(tsl__bytes)) << 5; break;
  case TSL__K_ALT:
  case TSL__K_AND:
  case TSL__K_TOKEN: h ^= (tsl__hash(tsl__list_at(x, n->a), n->b * 4u) << 5) + n->c; break;
  default: h ^= (((uint64_t)n->a << 32 | n->b) * 0x9e3779b97f4a7c15u) + ((uint64_t)n->c << 32 | n->d) * 0xc2b2ae3d27d4eb4fu;
  }
  return tsl__mix(h);
}

static bool node_equal(const tsl__exprs *x, const tsl__node *m, const tsl__node *n) {
  if (m->kind != n->kind || m->hash != n->hash) return false;
  switch (n->kind) {
  case TSL__K_LIT: return m->b == n->b && !memcmp(tsl__literal_at(x, m->a), tsl__literal_at(x, n->a), n->b);
  case TSL__K_BYTES: return tsl__bytes_equal(tsl__set_at(x, m->a), tsl__set_at(x, n->a));
  case TSL__K_ALT:
  case TSL__K_AND:
  case TSL__K_TOKEN: return m->b == n->b && m->c == n->c && !memcmp(tsl__list_at(x, m->a), tsl__list_at(x, n->a), n->b * 4u);
  default: return m->a == n->a && m->b == n->b && m->c == n->c && m->d == n->d;
  }
}

/* Look in one layer; `x` resolves content of both. */
static tsl__expr find(const tsl__exprs *layer, const tsl__exprs *x, const tsl__node *n) {
  if (!layer->slot_count) return TSL__NONE;
  uint32_t mask = layer->slot_count - 1;
  for (uint32_t i = n->hash & mask; layer->slots[i]; i = (i + 1) & mask)
    if (node_equal(x, &layer->nodes.at[layer->slots[i] - layer->base], n)) return layer->slots[i];
  return TSL__NONE;
}

static bool grow_slots(tsl__exprs *x) {
  uint32_t count = x->slot_count ? x->slot_count * 2 : 64;
  uint32_t *slots = tsl__alloc_zero(&x->alloc, count * sizeof *slots);
  if (!slots) return false;
  for (uint32_t i = x->base ? 0 : 2; i < x->nodes.n; i++) {
    uint32_t j = x->nodes.at[i].hash & (count - 1);
    while (slots[j]) j = (j + 1) & (count - 1);
    slots[j] = x->base + i;
  }
  tsl__free(&x->alloc, x->slots, x->slot_count * sizeof *x->slots);
  x->slots = slots;
  x->slot_count = count;
  return true;
}

tsl__expr tsl__intern(tsl__exprs *x, tsl__node node) {
  if (TSL__UNLIKELY(x->status != TSL_OK)) return TSL__NONE;
  tsl__worked(x, node.kind == TSL__K_ALT || node.kind == TSL__K_AND ? 1 + node.b : 1);
  node.hash = (uint32_t)node_hash(x, &node);
  for (const tsl__exprs *layer = x; layer; layer = layer->parent) {
    tsl__expr e = find(layer, x, &node);
    if (e) return e;
  }
  if (x->nodes.n * 2 >= x->slot_count && !grow_slots(x)) return no_memory(x);
  if (x->base + x->nodes.n >= (UINT32_MAX >> 3)) {
    tsl__exprs_fail(x, TSL_ERR_LIMIT, "too many expressions");
    return TSL__NONE;
  }
  if (!tsl__vec_push(&x->alloc, &x->nodes, node)) return no_memory(x);
  tsl__expr e = x->base + (uint32_t)x->nodes.n - 1;
  uint32_t i = node.hash & (x->slot_count - 1);
  while (x->slots[i]) i = (i + 1) & (x->slot_count - 1);
  x->slots[i] = e;
  return e;
}

/* Intern a node whose content is the last `n` words of `lists`; takes them back if the node exists. */
static tsl__expr intern_list(tsl__exprs *x, tsl__node node, size_t n) {
  size_t before = x->nodes.n;
  tsl__expr e = tsl__intern(x, node);
  if (x->nodes.n == before) x->lists.n -= n;
  return e;
}

static bool push_list(tsl__exprs *x, const uint32_t *items, size_t n, uint32_t *offset) {
  if (!tsl__vec_reserve(&x->alloc, &x->lists, n)) return no_memory(x), false;
  *offset = x->list_base + (uint32_t)x->lists.n;
  memcpy(x->lists.at + x->lists.n, items, n * sizeof *items);
  x->lists.n += n;
  return true;
}

static uint32_t add_saturating(uint32_t a, uint32_t b) { return a > TSL__INF - b ? TSL__INF : a + b; }
static uint32_t multiply_saturating(uint32_t a, uint32_t b) {
  uint64_t product = (uint64_t)a * b;
  return product > TSL__INF ? TSL__INF : (uint32_t)product;
}

/* ---- bytes and literals --------------------------------------------------------------------------------------- */

static bool valid_utf8(const uint8_t *t, size_t n) {
  uint32_t cp;
  for (size_t i = 0; i < n;) {
    unsigned k = tsl__utf8_decode(t + i, n - i, &cp);
    if (!k) return false;
    i += k;
  }
  return true;
}

tsl__expr tsl__expr_literal(tsl__exprs *x, const void *bytes, size_t length) {
  if (length == 0) return TSL__EPS;
  if (length > UINT32_MAX / 2) return tsl__exprs_fail(x, TSL_ERR_LIMIT, "a literal of over 2^31 bytes"), TSL__NONE;
  const uint8_t *at = bytes;
  if (!tsl__vec_reserve(&x->alloc, &x->pool, length)) return no_memory(x);
  memmove(x->pool.at + x->pool.n, at, length);
  tsl__node n = {.kind = TSL__K_LIT, .a = x->byte_base + (uint32_t)x->pool.n, .b = (uint32_t)length, .shortest = (uint32_t)length};
  n.flags = TSL__FINITE | TSL__SEARCHED;
  uint32_t cp;
  if (valid_utf8(at, length)) n.flags |= TSL__TEXTUAL;
  if (tsl__utf8_decode(at, length, &cp) == length) n.flags |= TSL__CHAR;
  x->pool.n += length;
  size_t before = x->nodes.n;
  tsl__expr e = tsl__intern(x, n);
  if (x->nodes.n == before) x->pool.n -= length;
  return e;
}

tsl__expr tsl__literal_tail(tsl__exprs *x, const tsl__node *lit, uint32_t skip) {
  if (lit->b == skip) return TSL__EPS;
  tsl__node n = {.kind = TSL__K_LIT, .a = lit->a + skip, .b = lit->b - skip, .shortest = lit->b - skip, .flags = TSL__FINITE | TSL__SEARCHED};
  uint32_t cp;
  const uint8_t *at = tsl__literal_at(x, n.a);
  if (valid_utf8(at, n.b)) n.flags |= TSL__TEXTUAL;
  if (tsl__utf8_decode(at, n.b, &cp) == n.b) n.flags |= TSL__CHAR;
  return tsl__intern(x, n);
}

tsl__expr tsl__expr_bytes(tsl__exprs *x, const tsl__bytes *set) {
  unsigned count = 0, last = 0;
  for (unsigned i = 0; i < 4; i++) {
    count += (unsigned)__builtin_popcountll(set->w[i]);
    if (set->w[i]) last = i * 64 + 63 - (unsigned)__builtin_clzll(set->w[i]);
  }
  if (count == 0) return TSL__NONE;
  if (count == 1) {
    uint8_t b = (uint8_t)last;
    return tsl__expr_literal(x, &b, 1);
  }
  if (!tsl__vec_push(&x->alloc, &x->sets, *set)) return no_memory(x);
  tsl__node n = {.kind = TSL__K_BYTES, .a = x->set_base + (uint32_t)x->sets.n - 1, .shortest = 1, .flags = TSL__FINITE | TSL__SEARCHED};
  if (last < 0x80) n.flags |= TSL__CHAR | TSL__TEXTUAL;
  size_t before = x->nodes.n;
  tsl__expr e = tsl__intern(x, n);
  if (x->nodes.n == before) x->sets.n--;
  return e;
}

tsl__expr tsl__expr_range(tsl__exprs *x, uint8_t lo, uint8_t hi) {
  tsl__bytes set = {{0}};
  tsl__bytes_add_range(&set, lo, hi);
  return tsl__expr_bytes(x, &set);
}

/* ---- concatenation -------------------------------------------------------------------------------------------- */

/* a·b where a is no SEQ. */
static tsl__expr seq_cons(tsl__exprs *x, tsl__expr a, tsl__expr b) {
  if (a == TSL__EPS) return b;
  if (b == TSL__EPS) return a;
  tsl__node na = tsl__node_at(x, a), nb = tsl__node_at(x, b), head = nb;
  tsl__expr rest = TSL__EPS;
  if (nb.kind == TSL__K_SEQ) head = tsl__node_at(x, nb.a), rest = nb.b;
  if (na.kind == TSL__K_LIT && head.kind == TSL__K_LIT && na.b + head.b <= LITERAL_MERGE_MAX) {
    uint8_t joined[LITERAL_MERGE_MAX];
    memcpy(joined, tsl__literal_at(x, na.a), na.b);
    memcpy(joined + na.b, tsl__literal_at(x, head.a), head.b);
    return seq_cons(x, tsl__expr_literal(x, joined, na.b + head.b), rest);
  }
  if (na.kind == TSL__K_REPEAT && head.kind == TSL__K_REPEAT && na.a == head.a && na.c == TSL__INF && head.c == TSL__INF && head.b == 0)
    return seq_cons(x, a, rest); /* a*·a* = a* */
  if (a == x->text && (nb.flags & TSL__TEXTUAL) && (nb.flags & TSL__NULLABLE_LOW) && !nb.loop) return a; /* text·r = text */
  if (b == x->text && (na.flags & TSL__TEXTUAL) && (na.flags & TSL__NULLABLE_LOW) && !na.loop) return b;
  tsl__node n = {.kind = TSL__K_SEQ, .a = a, .b = b, .shortest = add_saturating(na.shortest, nb.shortest)};
  n.loop = na.loop ? na.loop : nb.loop;
  n.flags = (na.flags & nb.flags & (TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH | TSL__FINITE | TSL__TEXTUAL | TSL__SEARCHED)) |
            ((na.flags | nb.flags) & (TSL__CALLS | TSL__COUNTS));
  return tsl__intern(x, n);
}

tsl__expr tsl__expr_seq(tsl__exprs *x, tsl__expr a, tsl__expr b) {
  if (a == TSL__NONE || b == TSL__NONE) return TSL__NONE;
  tsl__node na = tsl__node_at(x, a);
  if (na.kind != TSL__K_SEQ) return seq_cons(x, a, b);
  TSL__VEC(tsl__expr) heads = {0};
  while (na.kind == TSL__K_SEQ) {
    if (!tsl__vec_push(&x->alloc, &heads, na.a)) {
      tsl__vec_free(&x->alloc, &heads);
      return no_memory(x);
    }
    a = na.b;
    na = tsl__node_at(x, a);
  }
  tsl__expr e = seq_cons(x, a, b);
  while (heads.n > 0 && e != TSL__NONE) e = seq_cons(x, heads.at[--heads.n], e);
  tsl__vec_free(&x->alloc, &heads);
  return e;
}

/* ---- alternation ---------------------------------------------------------------------------------------------- */

typedef struct branch {
  tsl__expr head, tail;
} branch;
typedef TSL__VEC(branch) branches;

static bool is_byte_set(const tsl__exprs *x, tsl__expr e, tsl__bytes *set) {
  tsl__node n = tsl__node_at(x, e);
  if (n.kind == TSL__K_BYTES) return *set = *tsl__set_at(x, n.a), true;
  if (n.kind != TSL__K_LIT || n.b != 1) return false;
  memset(set, 0, sizeof *set);
  tsl__bytes_add(set, *tsl__literal_at(x, n.a));
  return true;
}

static int by_tail(const void *p, const void *q) {
  const branch *a = p, *b = q;
  return a->tail != b->tail ? (a->tail < b->tail ? -1 : 1) : a->head != b->head ? (a->head < b->head ? -1 : 1) : 0;
}
static int by_head(const void *p, const void *q) {
  const branch *a = p, *b = q;
  return a->head != b->head ? (a->head < b->head ? -1 : 1) : a->tail != b->tail ? (a->tail < b->tail ? -1 : 1) : 0;
}
static int by_id(const void *p, const void *q) {
  uint32_t a = *(const uint32_t *)p, b = *(const uint32_t *)q;
  return a < b ? -1 : a > b;
}

/* Sort small arrays by insertion: the usual case is a handful of branches. */
static void sort_branches(branch *at, size_t n, int (*order)(const void *, const void *)) {
  if (n > 16) {
    qsort(at, n, sizeof *at, order);
    return;
  }
  for (size_t i = 1; i < n; i++)
    for (size_t j = i; j > 0 && order(&at[j - 1], &at[j]) > 0; j--) {
      branch t = at[j];
      at[j] = at[j - 1];
      at[j - 1] = t;
    }
}

/* Branches with the same tail whose heads are byte sets become one. */
static void merge_byte_heads(tsl__exprs *x, branches *bs) {
  sort_branches(bs->at, bs->n, by_tail);
  size_t out = 0;
  for (size_t i = 0; i < bs->n;) {
    tsl__expr tail = bs->at[i].tail;
    tsl__bytes all = {{0}}, one;
    size_t merged = 0, j = i, first = 0;
    for (; j < bs->n && bs->at[j].tail == tail; j++) {
      if (!is_byte_set(x, bs->at[j].head, &one)) {
        bs->at[out++] = bs->at[j];
        continue;
      }
      tsl__bytes_or(&all, &one);
      if (merged++ == 0) first = out++, bs->at[first] = bs->at[j];
    }
    if (merged > 1) bs->at[first].head = tsl__expr_bytes(x, &all);
    i = j;
  }
  bs->n = out;
}

static tsl__expr alt_of_branches(tsl__exprs *x, branches *bs, unsigned depth);

/* Branches with the same head become head·(tails). */
static void factor_heads(tsl__exprs *x, branches *bs, unsigned depth) {
  sort_branches(bs->at, bs->n, by_head);
  size_t out = 0;
  for (size_t i = 0; i < bs->n;) {
    size_t j = i + 1;
    while (j < bs->n && bs->at[j].head == bs->at[i].head) j++;
    branch b = bs->at[i];
    if (j - i > 1 && depth < FACTOR_DEPTH_MAX) {
      branches tails = {0};
      bool eps = false;
      for (size_t k = i; k < j; k++) {
        tsl__expr t = bs->at[k].tail;
        tsl__node n = tsl__node_at(x, t);
        if (t == TSL__EPS) {
          eps = true;
          continue;
        }
        const uint32_t *children = &t;
        uint32_t count = 1;
        if (n.kind == TSL__K_ALT) children = tsl__list_at(x, n.a), count = n.b;
        for (uint32_t c = 0; c < count; c++) {
          if (children[c] == TSL__EPS) {
            eps = true;
            continue;
          }
          tsl__node m = tsl__node_at(x, children[c]);
          branch tb = m.kind == TSL__K_SEQ ? (branch){m.a, m.b} : (branch){children[c], TSL__EPS};
          if (!tsl__vec_push(&x->alloc, &tails, tb)) no_memory(x);
        }
      }
      if (eps && x->status == TSL_OK) {
        branch e = {TSL__EPS, TSL__EPS};
        if (!tsl__vec_push(&x->alloc, &tails, e)) no_memory(x);
      }
      b.tail = alt_of_branches(x, &tails, depth + 1);
      tsl__vec_free(&x->alloc, &tails);
      bs->at[out++] = b;
    } else {
      for (size_t k = i; k < j; k++)
        if (k == i || by_head(&bs->at[k - 1], &bs->at[k]) != 0) bs->at[out++] = bs->at[k];
    }
    i = j;
  }
  bs->n = out;
}

static tsl__expr intern_alt(tsl__exprs *x, tsl__expr *children, size_t n) {
  if (n == 0) return TSL__NONE;
  if (n == 1) return children[0];
  tsl__node node = {.kind = TSL__K_ALT, .b = (uint32_t)n, .shortest = TSL__INF};
  uint8_t all = 0xFF, any = 0;
  for (size_t i = 0; i < n; i++) {
    tsl__node c = tsl__node_at(x, children[i]);
    all &= c.flags;
    any |= c.flags;
    if (c.shortest < node.shortest) node.shortest = c.shortest;
    if (c.loop) node.loop = c.loop;
  }
  node.flags = (any & (TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH | TSL__CALLS | TSL__COUNTS | TSL__SEARCHED)) | (all & (TSL__FINITE | TSL__CHAR | TSL__TEXTUAL));
  if (!push_list(x, children, n, &node.a)) return TSL__NONE;
  return intern_list(x, node, n);
}

/* text | r = text for every r whose members are texts. This keeps unanchored searches and residuals of look-ahead from growing. */
static void absorb_into_text(tsl__exprs *x, branches *bs) {
  size_t i = 0, out = 0;
  while (i < bs->n && !(bs->at[i].head == x->text && bs->at[i].tail == TSL__EPS)) i++;
  if (!x->text || i == bs->n) return;
  bs->at[out++] = bs->at[i];
  bs->at[i] = bs->at[0];
  for (i = 1; i < bs->n; i++)
    if (!(tsl__node_at(x, bs->at[i].head).flags & tsl__node_at(x, bs->at[i].tail).flags & TSL__TEXTUAL)) bs->at[out++] = bs->at[i];
  bs->n = out;
}

/* JSTR(a)·t | JSTR(b)·t = JSTR(a | b)·t. Names stay apart: each set has a frame of its own. */
static void merge_strings(tsl__exprs *x, branches *bs) {
  size_t out = 0;
  for (size_t i = 0; i < bs->n; i++) {
    tsl__node n = tsl__node_at(x, bs->at[i].head);
    size_t k = out;
    if (n.kind == TSL__K_JSTR && !n.loop && tsl__node_at(x, n.a).kind != TSL__K_KEYS)
      for (k = 0; k < out; k++) {
        tsl__node m = tsl__node_at(x, bs->at[k].head);
        if (m.kind != TSL__K_JSTR || m.loop || bs->at[k].tail != bs->at[i].tail || tsl__node_at(x, m.a).kind == TSL__K_KEYS) continue;
        bs->at[k].head = tsl__expr_json_string(x, tsl__expr_alt(x, m.a, n.a));
        break;
      }
    if (k == out) bs->at[out++] = bs->at[i];
  }
  bs->n = out;
}

static tsl__expr alt_of_branches(tsl__exprs *x, branches *bs, unsigned depth) {
  if (x->status != TSL_OK) return TSL__NONE;
  tsl__worked(x, 8 * bs->n); /* each may become a node */
  if (bs->n > 1) merge_strings(x, bs);
  if (bs->n > 1) absorb_into_text(x, bs);
  if (bs->n > 1) merge_byte_heads(x, bs);
  if (bs->n > 1) factor_heads(x, bs, depth);
  TSL__VEC(tsl__expr) children = {0};
  tsl__expr result = TSL__NONE;
  bool eps = false, nullable = false;
  for (size_t i = 0; i < bs->n; i++) {
    tsl__expr e = tsl__expr_seq(x, bs->at[i].head, bs->at[i].tail);
    if (e == TSL__NONE) continue;
    if (e == TSL__EPS) {
      eps = true;
      continue;
    }
    tsl__node n = tsl__node_at(x, e);
    nullable |= (n.flags & TSL__NULLABLE_LOW) != 0;
    if (!tsl__vec_push(&x->alloc, &children, e)) no_memory(x);
  }
  if (eps && !nullable && !tsl__vec_push(&x->alloc, &children, TSL__EPS)) no_memory(x);
  if (x->status == TSL_OK) {
    if (children.n > 1) qsort(children.at, children.n, sizeof *children.at, by_id);
    size_t out = 0;
    for (size_t i = 0; i < children.n; i++)
      if (out == 0 || children.at[out - 1] != children.at[i]) children.at[out++] = children.at[i];
    result = out ? intern_alt(x, children.at, out) : eps ? TSL__EPS : TSL__NONE;
  }
  tsl__vec_free(&x->alloc, &children);
  return result;
}

static bool add_branch(tsl__exprs *x, branches *bs, tsl__expr e) {
  if (e == TSL__NONE) return true;
  tsl__node n = tsl__node_at(x, e);
  branch b = n.kind == TSL__K_SEQ ? (branch){n.a, n.b} : (branch){e, TSL__EPS};
  if (e == TSL__EPS) b.head = TSL__EPS;
  return tsl__vec_push(&x->alloc, bs, b) ? true : (no_memory(x), false);
}

tsl__expr tsl__expr_alt_n(tsl__exprs *x, const tsl__expr *e, size_t n) {
  branches bs = {0};
  for (size_t i = 0; i < n; i++) {
    tsl__node m = tsl__node_at(x, e[i]);
    if (m.kind == TSL__K_ALT) {
      const uint32_t *children = tsl__list_at(x, m.a);
      for (uint32_t k = 0; k < m.b; k++) add_branch(x, &bs, children[k]);
    } else {
      add_branch(x, &bs, e[i]);
    }
  }
  tsl__expr result = alt_of_branches(x, &bs, 0);
  tsl__vec_free(&x->alloc, &bs);
  return result;
}

tsl__expr tsl__expr_alt(tsl__exprs *x, tsl__expr a, tsl__expr b) {
  if (a == b || b == TSL__NONE) return a;
  if (a == TSL__NONE) return b;
  tsl__expr pair[2] = {a, b};
  return tsl__expr_alt_n(x, pair, 2);
}

/* ---- repetition ----------------------------------------------------------------------------------------------- */

tsl__expr tsl__expr_repeat(tsl__exprs *x, tsl__expr a, uint32_t min, uint32_t max) {
  if (min > max) return TSL__NONE;
  if (max == 0 || a == TSL__EPS) return TSL__EPS;
  if (a == TSL__NONE) return min == 0 ? TSL__EPS : TSL__NONE;
  if (min == 1 && max == 1) return a;
  tsl__node na = tsl__node_at(x, a);
  if (na.flags & TSL__NULLABLE_LOW) {
    min = 0;
    if (na.kind == TSL__K_REPEAT && na.b == 0 && na.c == TSL__INF) return a; /* (r*){m,n} = r* */
    if (na.kind == TSL__K_REPEAT && na.b == 0 && max == TSL__INF) return tsl__expr_repeat(x, na.a, 0, TSL__INF);
    if (max == TSL__INF && na.kind == TSL__K_ALT) { /* (r|ε)* = r* */
      const uint32_t *c = tsl__list_at(x, na.a);
      if (na.b == 2 && c[0] == TSL__EPS) return tsl__expr_repeat(x, c[1], 0, TSL__INF);
    }
  }
  if (max == 1) return tsl__expr_alt(x, a, TSL__EPS);
  tsl__node n = {.kind = TSL__K_REPEAT, .a = a, .b = min, .c = max, .shortest = multiply_saturating(na.shortest, min)};
  n.flags = na.flags & (TSL__CALLS | TSL__COUNTS | TSL__TEXTUAL | TSL__SEARCHED);
  if (min == 0) n.flags |= TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH | TSL__SEARCHED;
  if (max != TSL__INF) n.flags |= na.flags & TSL__FINITE;
  if ((max != TSL__INF && max > TSL__UNROLL_MAX) || (min != TSL__INF && min > TSL__UNROLL_MAX)) n.flags |= TSL__COUNTS;
  return tsl__intern(x, n);
}

/* ---- intersection and complement ------------------------------------------------------------------------------ */

static bool is_universal(const tsl__exprs *x, tsl__expr e) {
  tsl__node n = tsl__node_at(x, e);
  return n.kind == TSL__K_NOT && n.a == TSL__NONE;
}

/* r{m,n} & any_char{p,q} where r is one code point: the counts meet. Returns false where the rule does not apply. */
static bool meet_of_repeats(tsl__exprs *x, tsl__expr a, tsl__expr b, tsl__expr *out) {
  tsl__expr any = tsl__expr_any_char(x);
  tsl__node na = tsl__node_at(x, a), nb = tsl__node_at(x, b);
  if (nb.kind != TSL__K_REPEAT || nb.a != any) {
    tsl__node t = na;
    na = nb;
    nb = t;
    tsl__expr e = a;
    a = b;
    b = e;
  }
  if (nb.kind != TSL__K_REPEAT || nb.a != any) return false;
  if (nb.b == 0 && nb.c == TSL__INF && (na.flags & TSL__TEXTUAL)) return *out = a, true; /* text & e = e */
  uint32_t body = a, m = 1, n = 1;
  if (na.kind == TSL__K_REPEAT) {
    body = na.a, m = na.b, n = na.c;
  }
  if (!(tsl__node_at(x, body).flags & TSL__CHAR)) return false;
  uint32_t lo = m > nb.b ? m : nb.b, hi = n < nb.c ? n : nb.c;
  return *out = tsl__expr_repeat(x, body, lo, hi), true;
}

/* Bounds of the length in code points of those members that are texts, or the end of one, by structure; false where they are not to be had. */
static bool length_bounds(tsl__exprs *x, tsl__expr e, unsigned depth, uint32_t *min, uint32_t *max) {
  uint32_t lo = 0, hi = 0;
  for (;;) {
    tsl__node n = tsl__node_at(x, e), h = n;
    tsl__worked(x, 1);
    if (n.kind == TSL__K_SEQ) h = tsl__node_at(x, n.a);
    uint32_t a = 0, b = 0;
    if (h.flags & TSL__CHAR) {
      a = b = 1;
    } else if (h.kind == TSL__K_EPS) {
    } else if (h.kind == TSL__K_BYTES) { /* of a character: counted with the first of them */
      const tsl__bytes *set = tsl__set_at(x, h.a);
      if (set->w[2] && (set->w[0] | set->w[1] | set->w[3])) return false;
      a = b = !set->w[2];
    } else if (h.kind == TSL__K_LIT) {
      const uint8_t *t = tsl__literal_at(x, h.a);
      for (uint32_t i = 0; i < h.b; i++) a += (t[i] & 0xC0) != 0x80;
      b = a;
    } else if (h.kind == TSL__K_REPEAT && depth < 32) {
      if (!length_bounds(x, h.a, depth + 1, &a, &b)) return false;
      a = multiply_saturating(a, h.b);
      b = h.c == TSL__INF ? TSL__INF : multiply_saturating(b, h.c);
    } else if (h.kind == TSL__K_ALT && depth < 32) {
      a = TSL__INF;
      for (uint32_t i = 0; i < h.b; i++) {
        uint32_t p, q;
        if (!length_bounds(x, tsl__list_at(x, h.a)[i], depth + 1, &p, &q)) return false;
        if (p < a) a = p;
        if (q > b) b = q;
      }
    } else if (h.kind == TSL__K_NATIVE) {
      a = tsl__native_characters(x, &h);
      b = TSL__INF;
    } else {
      return false;
    }
    lo = add_saturating(lo, a);
    hi = add_saturating(hi, b);
    if (n.kind != TSL__K_SEQ) break;
    e = n.b;
  }
  *min = lo;
  *max = hi;
  return true;
}

/* Drop any_char{m,n} conjuncts that the other conjuncts imply; decide those that contradict them. Returns false for an empty meet. */
static bool drop_implied_lengths(tsl__exprs *x, tsl__expr *at, size_t *n) {
  tsl__expr any = tsl__expr_any_char(x);
  for (size_t i = 0; i < *n; i++) {
    tsl__node m = tsl__node_at(x, at[i]);
    if (m.kind != TSL__K_REPEAT || m.a != any) continue;
    for (size_t j = 0; j < *n; j++) {
      uint32_t lo, hi;
      if (j == i || !length_bounds(x, at[j], 0, &lo, &hi)) continue;
      if (lo > m.c || hi < m.b) return false;
      if (lo < m.b || hi > m.c) continue;
      memmove(at + i, at + i + 1, (*n - i - 1) * sizeof *at);
      (*n)--;
      i--;
      break;
    }
  }
  return true;
}

/* Is a native automaton farther from its end than another conjunct lets a text go on? It would take a long search to see that. */
static bool too_long(tsl__exprs *x, const tsl__expr *at, size_t n) {
  uint32_t lo, hi, most = TSL__INF, least = 0;
  for (size_t i = 0; i < n; i++) {
    tsl__node m = tsl__node_at(x, at[i]);
    if (m.kind == TSL__K_SEQ) m = tsl__node_at(x, m.b);
    if (m.kind == TSL__K_NATIVE && length_bounds(x, at[i], 0, &lo, &hi) && lo > least) least = lo;
  }
  for (size_t i = 0; least && i < n; i++)
    if (length_bounds(x, at[i], 0, &lo, &hi) && hi < most) most = hi;
  return least > most;
}

/* Is there r & !r, or !text & r where r's members are texts? */
static bool contradicts(const tsl__exprs *x, tsl__expr a, tsl__expr b) {
  tsl__node na = tsl__node_at(x, a), nb = tsl__node_at(x, b);
  if (na.kind == TSL__K_NOT) return na.a == b || (na.a == x->text && (nb.flags & TSL__TEXTUAL));
  return nb.kind == TSL__K_NOT && (nb.a == a || (nb.a == x->text && (na.flags & TSL__TEXTUAL)));
}

static tsl__expr intern_and(tsl__exprs *x, tsl__expr *at, size_t n) {
  if (n == 1) return at[0];
  tsl__node node = {.kind = TSL__K_AND, .b = (uint32_t)n};
  uint8_t all = 0xFF, any = 0;
  for (size_t i = 0; i < n; i++) {
    tsl__node c = tsl__node_at(x, at[i]);
    all &= c.flags;
    any |= c.flags;
    if (c.kind != TSL__K_NOT && c.shortest > node.shortest) node.shortest = c.shortest;
  }
  node.flags = (all & (TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH)) | (any & (TSL__FINITE | TSL__TEXTUAL | TSL__CHAR));
  if (!push_list(x, at, n, &node.a)) return TSL__NONE;
  tsl__expr e = intern_list(x, node, n);
  return tsl__search_empty(x, e) ? TSL__NONE : e;
}

/* The meet of conjuncts, none of which is an AND; works in `at`. */
static tsl__expr and_of(tsl__exprs *x, tsl__expr *at, size_t n) {
  bool changed = true;
  while (changed) { /* pairwise rules to a fixed point */
    changed = false;
    for (size_t i = 0; i < n && !changed; i++) {
      if (at[i] == TSL__NONE) return TSL__NONE;
      tsl__worked(x, n - i);
      if (n > 1 && is_universal(x, at[i])) at[i] = at[--n], changed = true;
      for (size_t j = i + 1; j < n && !changed; j++) {
        tsl__expr meet = TSL__NONE;
        tsl__bytes p, q;
        bool apply = at[i] == at[j];
        if (contradicts(x, at[i], at[j])) return TSL__NONE;
        if (apply) meet = at[i];
        else if (is_byte_set(x, at[i], &p) && is_byte_set(x, at[j], &q)) {
          for (int k = 0; k < 4; k++) p.w[k] &= q.w[k];
          meet = tsl__expr_bytes(x, &p), apply = true;
        } else if (at[i] == TSL__EPS || at[j] == TSL__EPS) {
          tsl__expr other = at[i] == TSL__EPS ? at[j] : at[i];
          meet = tsl__expr_nullable(x, other) ? TSL__EPS : TSL__NONE, apply = true;
        } else {
          apply = meet_of_repeats(x, at[i], at[j], &meet);
        }
        if (!apply) continue;
        if (meet == TSL__NONE) return TSL__NONE;
        at[i] = meet;
        at[j] = at[--n];
        changed = true;
      }
    }
  }
  if (!drop_implied_lengths(x, at, &n) || too_long(x, at, n)) return TSL__NONE;
  qsort(at, n, sizeof *at, by_id);
  size_t out = 0;
  for (size_t i = 0; i < n; i++)
    if (out == 0 || at[out - 1] != at[i]) at[out++] = at[i];
  return intern_and(x, at, out);
}

static bool reject_calls(tsl__exprs *x, tsl__expr e) {
  if (!tsl__expr_has_calls(x, e)) return false;
  tsl__exprs_fail(x, TSL_ERR_UNSUPPORTED, "a rule or token under intersection or complement");
  return true;
}

tsl__expr tsl__and_n(tsl__exprs *x, const tsl__expr *e, size_t n_e) {
  TSL__VEC(tsl__expr) at = {0};
  tsl__expr result = TSL__NONE;
  for (size_t i = 0; i < n_e; i++) {
    tsl__node n = tsl__node_at(x, e[i]);
    const uint32_t *items = n.kind == TSL__K_AND ? tsl__list_at(x, n.a) : &e[i];
    uint32_t count = n.kind == TSL__K_AND ? n.b : 1;
    for (uint32_t k = 0; k < count; k++)
      if (!tsl__vec_push(&x->alloc, &at, items[k])) no_memory(x);
  }
  if (x->status == TSL_OK) result = and_of(x, at.at, at.n);
  tsl__vec_free(&x->alloc, &at);
  return result;
}

tsl__expr tsl__expr_and(tsl__exprs *x, tsl__expr a, tsl__expr b) {
  if (a == b || b == TSL__NONE) return b;
  if (a == TSL__NONE) return a;
  if (reject_calls(x, a) || reject_calls(x, b)) return TSL__NONE;
  tsl__expr pair[2] = {a, b};
  return tsl__and_n(x, pair, 2);
}

tsl__expr tsl__expr_not(tsl__exprs *x, tsl__expr a) {
  if (reject_calls(x, a)) return TSL__NONE;
  tsl__node na = tsl__node_at(x, a);
  if (na.kind == TSL__K_NOT) return na.a;
  bool nullable = !(na.flags & TSL__NULLABLE_LOW);
  tsl__node n = {.kind = TSL__K_NOT, .a = a, .shortest = nullable ? 0 : 1};
  if (nullable) n.flags = TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH;
  if (na.flags & TSL__FINITE) n.flags |= TSL__SEARCHED; /* the complement of a finite language is not empty */
  tsl__expr e = tsl__intern(x, n);
  return tsl__search_empty(x, e) ? TSL__NONE : e;
}

tsl__expr tsl__expr_text_not(tsl__exprs *x, tsl__expr a) { return tsl__expr_and(x, tsl__expr_text(x), tsl__expr_not(x, a)); }

/* ---- code points ---------------------------------------------------------------------------------------------- */

/* Bytes lo[i] … hi[i] in a row. */
static tsl__expr byte_ranges(tsl__exprs *x, const uint8_t *lo, const uint8_t *hi, unsigned n) {
  tsl__expr e = TSL__EPS;
  while (n-- > 0) e = tsl__expr_seq(x, tsl__expr_range(x, lo[n], hi[n]), e);
  return e;
}

/* The UTF-8 of lo … hi, both of the same length in bytes: split until all bytes but the first differing one run over their whole range. */
static bool utf8_split(tsl__exprs *x, branches *out, uint32_t lo, uint32_t hi) {
  uint8_t a[4], b[4];
  unsigned n = tsl__utf8_encode(lo, a);
  tsl__utf8_encode(hi, b);
  for (unsigned i = 1; i < n; i++) {
    uint32_t low_bits = ((uint32_t)1 << (6 * i)) - 1;
    if ((lo & ~low_bits) == (hi & ~low_bits)) continue;
    if (lo & low_bits) return utf8_split(x, out, lo, lo | low_bits) && utf8_split(x, out, (lo | low_bits) + 1, hi);
    if ((hi & low_bits) != low_bits) return utf8_split(x, out, lo, (hi & ~low_bits) - 1) && utf8_split(x, out, hi & ~low_bits, hi);
  }
  return add_branch(x, out, byte_ranges(x, a, b, n));
}

static void add_code_points(tsl__exprs *x, branches *out, uint32_t lo, uint32_t hi) {
  static const uint32_t first[] = {0, 0x80, 0x800, 0xE000, 0x10000}, last[] = {0x7F, 0x7FF, 0xD7FF, 0xFFFF, 0x10FFFF};
  for (int i = 0; i < 5; i++) {
    uint32_t a = lo > first[i] ? lo : first[i], b = hi < last[i] ? hi : last[i];
    if (a <= b) utf8_split(x, out, a, b);
  }
}

/* Note on a node that lies in x itself what the structure does not show. */
static tsl__expr mark(tsl__exprs *x, tsl__expr e, uint8_t flags) {
  if (e >= x->base && e > TSL__EPS && x->status == TSL_OK) x->nodes.at[e - x->base].flags |= flags;
  return e;
}

/* Notes what e has beyond ASCII, if that is neither nothing nor everything. */
static void note_wide(tsl__exprs *x, tsl__expr e, const tsl__charset *set) {
  TSL__VEC(uint32_t) pairs = {0};
  bool fine = true;
  if (e == TSL__NONE || tsl__wide_class_of(x, e)) return;
  for (size_t i = 0; i < set->ranges.n && fine; i++) {
    static const uint32_t parts[][2] = {{0x80, 0xD7FF}, {0xE000, TSL__CP_MAX}};
    for (int p = 0; p < 2 && fine; p++) {
      uint32_t lo = set->ranges.at[i].lo > parts[p][0] ? set->ranges.at[i].lo : parts[p][0];
      uint32_t hi = set->ranges.at[i].hi < parts[p][1] ? set->ranges.at[i].hi : parts[p][1];
      if (lo <= hi) fine = tsl__vec_push(&x->alloc, &pairs, lo) && tsl__vec_push(&x->alloc, &pairs, hi);
    }
  }
  bool all = pairs.n == 4 && pairs.at[0] == 0x80 && pairs.at[1] == 0xD7FF && pairs.at[2] == 0xE000 && pairs.at[3] == TSL__CP_MAX;
  if (fine && pairs.n && !all) {
    tsl__wide_class w = {e, tsl__arena_copy(&x->arena, pairs.at, pairs.n * sizeof *pairs.at), (uint32_t)pairs.n / 2};
    fine = w.pairs && tsl__vec_push(&x->alloc, &x->wides, w);
  }
  tsl__vec_free(&x->alloc, &pairs);
  if (!fine) no_memory(x);
}

tsl__expr tsl__expr_charset(tsl__exprs *x, const tsl__charset *set) {
  branches bs = {0};
  for (size_t i = 0; i < set->ranges.n; i++) add_code_points(x, &bs, set->ranges.at[i].lo, set->ranges.at[i].hi);
  tsl__expr e = alt_of_branches(x, &bs, 0);
  tsl__vec_free(&x->alloc, &bs);
  e = mark(x, e, TSL__CHAR | TSL__TEXTUAL);
  note_wide(x, e, set);
  return e;
}

const tsl__wide_class *tsl__wide_class_of(const tsl__exprs *x, tsl__expr e) {
  for (; x; x = x->parent)
    for (size_t i = 0; i < x->wides.n; i++)
      if (x->wides.at[i].e == e) return &x->wides.at[i];
  return NULL;
}

tsl__expr tsl__expr_any_char(tsl__exprs *x) {
  if (!x->any_char) {
    tsl__range all = {0, TSL__CP_MAX};
    tsl__charset set = {.ranges = {&all, 1, 1}};
    x->any_char = tsl__expr_charset(x, &set);
  }
  return x->any_char;
}

tsl__expr tsl__expr_text(tsl__exprs *x) {
  if (!x->text) x->text = tsl__expr_star(x, tsl__expr_any_char(x));
  return x->text;
}

/* ---- tokens, rules, native automata --------------------------------------------------------------------------- */

tsl__expr tsl__expr_token(tsl__exprs *x, const tsl_token *tokens, size_t n, bool complement) {
  if (n == 0 && !complement) return TSL__NONE;
  tsl__node node = {.kind = TSL__K_TOKEN, .b = (uint32_t)n, .c = complement, .shortest = 1, .flags = TSL__CALLS | TSL__SEARCHED};
  if (!push_list(x, tokens, n, &node.a)) return TSL__NONE;
  return intern_list(x, node, n);
}

tsl__expr tsl__expr_rule(tsl__exprs *x, const tsl__rule_ops *ops, void *ctx, uint32_t param, uint32_t flags, uint32_t shortest) {
  tsl__rule rule = {ops, ctx, param, flags, shortest, TSL__NONE};
  if (!tsl__vec_push(&x->alloc, &x->rules, rule)) return no_memory(x);
  tsl__node n = {.kind = TSL__K_RULE, .a = x->rule_base + (uint32_t)x->rules.n - 1, .shortest = shortest, .flags = TSL__CALLS | TSL__SEARCHED};
  if (flags & TSL__RULE_NULLABLE) n.flags |= TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH;
  return tsl__intern(x, n);
}

tsl__expr tsl__rule_body(tsl__exprs *x, uint32_t index) {
  tsl__rule rule = *tsl__rule_at(x, index);
  if (rule.body) return rule.body;
  tsl__expr body = rule.ops->unfold(x, rule.ctx, rule.param);
  if (x->status != TSL_OK) return TSL__NONE; /* and what there is of a body is not remembered */
  if (body == TSL__NONE) {
    tsl__exprs_fail(x, TSL_ERR_UNSUPPORTED, "a rule without a body");
    return TSL__NONE;
  }
  if (index < x->rule_base) {
    tsl__exprs_fail(x, TSL_ERR_STATE, "a shared rule that was not unfolded when the vocabulary was warmed up");
    return TSL__NONE;
  }
  tsl__rule_at(x, index)->body = body;
  return body;
}

tsl__expr tsl__expr_native(tsl__exprs *x, const tsl__native_ops *ops, void *ctx, uint32_t param) {
  uint32_t index = UINT32_MAX;
  for (const tsl__exprs *layer = x; layer && index == UINT32_MAX; layer = layer->parent)
    for (size_t i = layer->natives.n; i-- > 0;)
      if (layer->natives.at[i].ops == ops && layer->natives.at[i].ctx == ctx) {
        index = layer->native_base + (uint32_t)i;
        break;
      }
  if (index == UINT32_MAX) {
    tsl__native native = {ops, ctx};
    if (!tsl__vec_push(&x->alloc, &x->natives, native)) return no_memory(x);
    index = x->native_base + (uint32_t)x->natives.n - 1;
  }
  bool nullable = ops->nullable(ctx, param), texts = ops->plain;
  if (ops->characters) ops->characters(ctx, param, &texts);
  tsl__node n = {.kind = TSL__K_NATIVE, .a = index, .b = param, .shortest = !nullable};
  n.flags = TSL__SEARCHED | (texts ? TSL__TEXTUAL : 0) | (nullable ? TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH : 0);
  return tsl__intern(x, n);
}

/* ---- questions ------------------------------------------------------------------------------------------------ */

bool tsl__expr_nullable(const tsl__exprs *x, tsl__expr e) { return tsl__node_at(x, e).flags & TSL__NULLABLE_LOW; }
bool tsl__expr_has_calls(const tsl__exprs *x, tsl__expr e) { return tsl__node_at(x, e).flags & TSL__CALLS; }
