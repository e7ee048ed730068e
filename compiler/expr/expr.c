/* expr.c - interning, and the constructors that keep expressions canonical.
 *
 * Problem   The engine compares expressions all the time: is this derivative one that was met
 *           before? The answer must cost a comparison of two numbers. So equal content must be one
 *           node.
 * Idea      Every constructor first simplifies, then gets from tsl__intern the one node with that
 *           content. List-shaped content (literals, alternatives, tokens) is appended to its pool
 *           before the look-up and removed again if the node was there already. Alternatives and
 *           sets of characters are in alt.c, intersections and complements in and.c.
 * Forms     Sequences lean to the right: (a·b)·c is a·(b·c). NONE in a sequence makes NONE, ε goes
 *           away. Two literals in a row are one. r{1,1} is r, (r*){2,5} is r*, (r|ε)* is r*.
 * Example   seq(seq("a", x), "b") has the heads "a" and x before "b". seq_cons makes x·"b" first,
 *           then "a" before it. seq("a", seq(x, "b")) arrives at the same two nodes, so both calls
 *           return one number.
 * Layers    A node of a layer may be made of nodes of the layer below. tsl__intern looks below
 *           first. A node that has a part of this layer can be in no other: then it looks here
 *           alone.
 * Table     Open addressing. A slot holds the node's number within the layer in the low bits, and
 *           high bits of its hash above them. So most other nodes are passed over without a look at
 *           them. The table doubles when it is half full.
 * Failing   A failure is sticky: each constructor returns NONE afterwards, and the status says
 *           why.
 * Cost      A hash and a probe for each layer. A long literal is hashed by its two ends.
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/node.h"
#include "runtime/automaton/state.h"

#define HEADS_FEW 16u   /* parts of a sequence that need no memory while it is made anew */
#define NODES_FIRST 64u /* room for nodes that a grammar begins with: hardly any has fewer */
/* longer literals are kept apart, so that building them stays linear */
#define LITERAL_MERGE_MAX 4096u

static const tsl_limits no_limits = {0};

/* ---- the table ------------------------------------------------------------------------------- */

void tsl__exprs_fail(tsl__exprs *x, tsl_status status, const char *what) {
  if (x->status != TSL_OK) return;
  x->status = status;
  x->why = what;
}

void tsl__exprs_forgive(tsl__exprs *x) {
  if (x->status != TSL_ERR_UNSUPPORTED) return;
  x->status = TSL_OK;
  x->why = NULL;
}

void tsl__exprs_explain(tsl__exprs *x, const char *why) { x->why = why; }

tsl__expr tsl__expr_no_memory(tsl__exprs *x) {
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
  memcpy(x->number_tails, p->number_tails, sizeof x->number_tails);
  memcpy(x->guards, p->guards, sizeof x->guards);
}

tsl_status tsl__exprs_new(const tsl__exprs *parent, const tsl_allocator *allocator,
                          const tsl_limits *limits, tsl__exprs **out) {
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
  x->deadline = tsl__deadline(limits->deadline_us);
  if (parent) {
    inherit(x, parent);
    if (!tsl__vec_reserve(&x->alloc, &x->nodes, NODES_FIRST)) {
      tsl__exprs_free(x);
      return TSL_ERR_NO_MEMORY;
    }
  } else {
    tsl__node none = {
        .kind = TSL__K_NONE, .flags = TSL__FINITE | TSL__CHAR | TSL__TEXTUAL, .shortest = TSL__INF};
    tsl__node eps = {.kind = TSL__K_EPS,
                     .flags = TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH | TSL__FINITE | TSL__TEXTUAL |
                              TSL__SEARCHED};
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
  tsl__vec_free(&a, &x->nonascii_sets);
  tsl__vec_free(&a, &x->natives);
  tsl__vec_free(&a, &x->strings);
  tsl__free(&a, x->slots, x->slot_count * sizeof *x->slots);
  tsl__free(&a, x->needs, x->need_slots * sizeof *x->needs);
  tsl__free(&a, x->meanings, TSL__KNOWN_MEANINGS * sizeof *x->meanings);
  tsl__free(&a, x->way_shortest, TSL__WAY_SHORTEST * sizeof *x->way_shortest);
  tsl__free(&a, x->known_fewest, TSL__KNOWN_FEWEST * sizeof *x->known_fewest);
  tsl__free(&a, x->search_steps, TSL__SEARCH_STEPS * sizeof *x->search_steps);
  tsl__free(&a, x->explored, TSL__EXPLORED * sizeof *x->explored);
  tsl__free(&a, x->frames_read, TSL__FRAMES_READ * sizeof *x->frames_read);
  tsl__free(&a, x->chain_reads, TSL__CHAIN_READS * sizeof *x->chain_reads);
  tsl__free(&a, x->known_reads, TSL__KNOWN_READS * sizeof *x->known_reads);
  tsl__free(&a, x->known_bounds, TSL__KNOWN_BOUNDS * sizeof *x->known_bounds);
  tsl__free(&a, x->known_steps, TSL__KNOWN_STEPS * sizeof *x->known_steps);
  tsl__free(&a, x->call_steps, TSL__CALL_STEPS * sizeof *x->call_steps);
  tsl__free(&a, x->chain_steps, TSL__CHAIN_STEPS * sizeof *x->chain_steps);
  tsl__arena_free(&x->arena);
  tsl__free(&a, x, sizeof *x);
}

size_t tsl__exprs_memory(const tsl__exprs *x) {
  return sizeof *x + x->held + x->arena.total + x->slot_count * sizeof *x->slots +
         x->need_slots * sizeof *x->needs +
         (x->meanings ? TSL__KNOWN_MEANINGS * sizeof *x->meanings : 0) +
         (x->search_steps ? TSL__SEARCH_STEPS * sizeof *x->search_steps : 0) +
         (x->chain_reads ? TSL__CHAIN_READS * sizeof *x->chain_reads : 0) +
         (x->known_reads ? TSL__KNOWN_READS * sizeof *x->known_reads : 0) +
         (x->known_bounds ? TSL__KNOWN_BOUNDS * sizeof *x->known_bounds : 0) +
         (x->way_shortest ? TSL__WAY_SHORTEST * sizeof *x->way_shortest : 0) +
         (x->known_fewest ? TSL__KNOWN_FEWEST * sizeof *x->known_fewest : 0) +
         (x->explored ? TSL__EXPLORED * sizeof *x->explored : 0) +
         (x->frames_read ? TSL__FRAMES_READ * sizeof *x->frames_read : 0) +
         (x->known_steps ? TSL__KNOWN_STEPS * sizeof *x->known_steps : 0) +
         (x->call_steps ? TSL__CALL_STEPS * sizeof *x->call_steps : 0) +
         (x->chain_steps ? TSL__CHAIN_STEPS * sizeof *x->chain_steps : 0) +
         x->nodes.cap * sizeof *x->nodes.at + x->lists.cap * sizeof *x->lists.at + x->pool.cap +
         x->sets.cap * sizeof *x->sets.at + x->rules.cap * sizeof *x->rules.at +
         x->keys.cap * sizeof *x->keys.at + x->natives.cap * sizeof *x->natives.at +
         x->strings.cap * sizeof *x->strings.at + x->owned.cap * sizeof *x->owned.at;
}

void tsl__exprs_hold(tsl__exprs *x, size_t bytes) { x->held = bytes; }
size_t tsl__exprs_held(const tsl__exprs *x) { return x->held; }
tsl_status tsl__exprs_status(const tsl__exprs *x) { return x->status; }
const char *tsl__exprs_why(const tsl__exprs *x) { return x->why ? x->why : ""; }
const tsl_allocator *tsl__exprs_allocator(const tsl__exprs *x) { return &x->alloc; }
void tsl__exprs_plain_strings(tsl__exprs *x, bool plain) { x->plain_strings = plain; }
void tsl__exprs_set_user(tsl__exprs *x, void *user) { x->user = user; }
void *tsl__exprs_user(const tsl__exprs *x) { return x->user; }
const tsl__exprs *tsl__exprs_parent(const tsl__exprs *x) { return x->parent; }

void *tsl__exprs_alloc(tsl__exprs *x, size_t size) {
  void *p = tsl__arena_alloc(&x->arena, size);
  if (!p) tsl__expr_no_memory(x);
  return p;
}

void tsl__exprs_absorb(tsl__exprs *x, tsl__arena *arena, tsl_allocator *hooks) {
  tsl__arena_absorb(&x->arena, arena);
  *hooks = tsl__arena_hooks(&x->arena);
}

bool tsl__exprs_guards(const tsl__exprs *x) { return x->speller != NULL; }
void tsl__exprs_guard(tsl__exprs *x, const tsl__speller *speller) {
  x->speller = speller;
  x->watches |= TSL__NEW_ITEM;
}
void tsl__exprs_guard_names(tsl__exprs *x, bool few) {
  x->watches |= (uint8_t)(TSL__NEW_NAME | (few ? TSL__FEW_NAMES : 0));
}
void tsl__exprs_guard_repeats(tsl__exprs *x) { x->watches |= TSL__SAME_ITEM; }
uint8_t tsl__exprs_watches(const tsl__exprs *x) { return x->watches; }
void tsl__exprs_name_tokens(tsl__exprs *x) { x->names_tokens = true; }
bool tsl__exprs_names_tokens(const tsl__exprs *x) { return x->names_tokens; }

bool tsl__exprs_own(tsl__exprs *x, void *ctx, void (*destroy)(void *ctx)) {
  struct tsl__owned owned = {ctx, destroy};
  if (tsl__vec_push(&x->alloc, &x->owned, owned)) return true;
  destroy(ctx);
  tsl__expr_no_memory(x);
  return false;
}

void tsl__exprs_begin(tsl__exprs *x) {
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
    tsl__exprs_fail(x, TSL_ERR_LIMIT,
                    "max_steps: the grammar takes too many derivative steps here");
    return false;
  }
  if (TSL__UNLIKELY((before ^ x->steps) >> 8)) {
    if (tsl__cancelled(x->cancel)) tsl__exprs_fail(x, TSL_ERR_CANCELLED, "cancelled");
    if (tsl__expired(x->deadline))
      tsl__exprs_fail(x, TSL_ERR_CANCELLED, "deadline_us: out of time");
    if (tsl__exprs_memory(x) > x->max_memory)
      tsl__exprs_fail(x, TSL_ERR_LIMIT, "max_memory: the grammar's tables are full");
  }
  return x->status == TSL_OK;
}

void tsl__exprs_end_by(tsl__exprs *x, uint64_t deadline) { x->deadline = deadline; }

tsl__until tsl__exprs_until(const tsl__exprs *x) { return (tsl__until){x->cancel, x->deadline}; }

uint64_t tsl__exprs_bound(tsl__exprs *x, uint64_t max_steps) {
  uint64_t before = x->max_steps;
  x->max_steps = max_steps;
  return before;
}

uint64_t tsl__exprs_steps(const tsl__exprs *x) { return x->steps; }

bool tsl__exprs_step(tsl__exprs *x) { return spend(x, 1); }

bool tsl__exprs_work(tsl__exprs *x, uint64_t things) {
  uint64_t work = x->work + things;
  x->work = work % TSL__WORK;
  if (work >= TSL__WORK) spend(x, work / TSL__WORK);
  return x->status == TSL_OK;
}

/* What two nodes of a kind must have in common to be one (kind.def). */
typedef enum content { NUMBERS, LIST, SET, TEXT } content;
/* Which field of a node is of the newest layer, if the node is made of something of that layer. */
typedef enum owner { ANY, PART, PARTS, LAST, RULE, STRINGS } owner;

#define TSL__KIND(name, functions, content, layer, text) content,
static const uint8_t content_of[TSL__KIND_COUNT] = {
#include "compiler/expr/kind.def"
};
#undef TSL__KIND
#define TSL__KIND(name, functions, content, layer, text) layer,
static const uint8_t owner_of[TSL__KIND_COUNT] = {
#include "compiler/expr/kind.def"
};
#undef TSL__KIND

/* Of a long literal its ends and its length are hashed. A text that is read through it has a node
 * for each of its bytes. To hash all that is left each time would take time in the square of its
 * length. */
#define HASHED_ENDS 2048u

static uint64_t literal_hash(const uint8_t *at, uint32_t n) {
  if (n <= 2 * HASHED_ENDS) return tsl__hash(at, n);
  return tsl__mix(tsl__hash(at, HASHED_ENDS) + n) ^ tsl__hash(at + n - HASHED_ENDS, HASHED_ENDS);
}

static uint64_t node_hash(const tsl__exprs *x, const tsl__node *n) {
  uint64_t h = n->kind;
  switch ((content)content_of[n->kind]) {
  case TEXT: h ^= literal_hash(tsl__literal_at(x, n->a), n->b) << 5; break;
  case SET: h ^= tsl__hash(tsl__set_at(x, n->a), sizeof(tsl__bytes)) << 5; break;
  case LIST: h ^= (tsl__hash(tsl__list_at(x, n->a), n->b * 4u) << 5) + n->c; break;
  case NUMBERS:
    h ^= (((uint64_t)n->a << 32 | n->b) * 0x9e3779b97f4a7c15u) +
         ((uint64_t)n->c << 32 | n->d) * 0xc2b2ae3d27d4eb4fu;
  }
  return tsl__mix(h);
}

/* Of two with the same hash. */
static TSL__SELDOM bool node_equal(const tsl__exprs *x, const tsl__node *m, const tsl__node *n) {
  if (m->kind != n->kind) return false;
  switch ((content)content_of[n->kind]) {
  case TEXT:
    return m->b == n->b &&
           (m->a == n->a || !memcmp(tsl__literal_at(x, m->a), tsl__literal_at(x, n->a), n->b));
  case SET: return tsl__bytes_equal(tsl__set_at(x, m->a), tsl__set_at(x, n->a));
  case LIST:
    return m->b == n->b && m->c == n->c &&
           !memcmp(tsl__list_at(x, m->a), tsl__list_at(x, n->a), n->b * 4u);
  case NUMBERS: break;
  }
  return m->a == n->a && m->b == n->b && m->c == n->c && m->d == n->d;
}

/* Look in one layer; `x` resolves content of both. */
static inline tsl__expr find(const tsl__exprs *layer, const tsl__exprs *x, const tsl__node *n) {
  if (!layer->slot_count) return TSL__NONE;
  uint32_t mask = layer->slot_count - 1, slot;
  for (uint32_t i = n->hash & mask; (slot = layer->slots[i]) != 0; i = (i + 1) & mask) {
    if ((slot ^ n->hash) & ~mask) continue;
    const tsl__node *m = &layer->nodes.at[(slot & mask) - 1];
    if (m->hash == n->hash && node_equal(x, m, n)) return layer->base + (slot & mask) - 1;
  }
  return TSL__NONE;
}

/* Is the node made of one of this layer's? Then no other layer has it. */
static bool is_own(const tsl__exprs *x, const tsl__node *n) {
  switch ((owner)owner_of[n->kind]) {
  case PARTS: return n->a >= x->base || n->b >= x->base;
  case PART: return n->a >= x->base;
  case RULE: return n->a >= x->rule_base;
  case STRINGS: return n->a >= x->strings_base;
  case LAST: return tsl__list_at(x, n->a)[n->b - 1] >= x->base; /* lists are sorted */
  case ANY: break;
  }
  return false;
}

/* Node number `i` of this layer into the first free slot from its home on. */
static inline void fill_slot(const tsl__exprs *x, uint32_t *slots, uint32_t count, uint32_t i) {
  uint32_t hash = x->nodes.at[i].hash, at = hash & (count - 1);
  while (slots[at]) at = (at + 1) & (count - 1);
  slots[at] = (hash & ~(count - 1)) | (i + 1);
}

static bool is_full(const tsl__exprs *x, uint32_t slot_count) {
  return x->slot_used * 2 >= slot_count || x->nodes.n + 1 >= slot_count;
}

static bool grow_slots(tsl__exprs *x) {
  uint32_t count = 2 * NODES_FIRST;
  while (is_full(x, count)) count *= 2;
  uint32_t *slots = tsl__alloc_zero(&x->alloc, count * sizeof *slots);
  if (!slots) return false;
  for (uint32_t i = x->base ? 0 : 2; i < x->nodes.n; i++)
    /* else nobody looks for it (tsl__append) */
    if (x->nodes.at[i].hash) fill_slot(x, slots, count, i);
  tsl__free(&x->alloc, x->slots, x->slot_count * sizeof *x->slots);
  x->slots = slots;
  x->slot_count = count;
  return true;
}

static tsl__expr append(tsl__exprs *x, tsl__node node) {
  if (x->base + x->nodes.n >= (UINT32_MAX >> 3)) {
    tsl__exprs_fail(x, TSL_ERR_LIMIT, "too many expressions");
    return TSL__NONE;
  }
  if (!tsl__vec_push(&x->alloc, &x->nodes, node)) return tsl__expr_no_memory(x);
  return x->base + (uint32_t)x->nodes.n - 1;
}

tsl__expr tsl__append(tsl__exprs *x, tsl__node node) {
  if (!x->parent) return tsl__intern(x, node);
  if (TSL__UNLIKELY(x->status != TSL_OK)) return TSL__NONE;
  tsl__worked(x, node.kind == TSL__K_ALT ? 1 + node.b : 1);
  return append(x, node);
}

tsl__expr tsl__intern(tsl__exprs *x, tsl__node node) {
  if (TSL__UNLIKELY(x->status != TSL_OK)) return TSL__NONE;
  tsl__worked(x, node.kind == TSL__K_ALT || node.kind == TSL__K_AND ? 1 + node.b : 1);
  node.hash = (uint32_t)node_hash(x, &node);
  node.hash += !node.hash; /* 0: not looked for */
  /* while the layers below are looked through */
  if (x->slots) TSL__PREFETCH(&x->slots[node.hash & (x->slot_count - 1)]);
  /* most that another layer can have it has */
  for (const tsl__exprs *layer = is_own(x, &node) ? NULL : x->parent; layer;
       layer = layer->parent) {
    tsl__expr e = find(layer, x, &node);
    if (e) return e;
  }
  tsl__expr known = find(x, x, &node);
  if (known) return known;
  if (is_full(x, x->slot_count) && !grow_slots(x)) return tsl__expr_no_memory(x);
  tsl__expr e = append(x, node);
  if (!e) return TSL__NONE;
  x->slot_used++;
  fill_slot(x, x->slots, x->slot_count, e - x->base);
  return e;
}

tsl__expr tsl__intern_list(tsl__exprs *x, tsl__node node, size_t n) {
  size_t before = x->nodes.n;
  tsl__expr e = tsl__intern(x, node);
  if (x->nodes.n == before) x->lists.n -= n;
  return e;
}

bool tsl__push_list(tsl__exprs *x, const uint32_t *items, size_t n, uint32_t *offset) {
  /* an empty list has a place, too */
  if (!tsl__vec_reserve(&x->alloc, &x->lists, n ? n : 1)) return tsl__expr_no_memory(x), false;
  *offset = x->list_base + (uint32_t)x->lists.n;
  if (n) memcpy(x->lists.at + x->lists.n, items, n * sizeof *items);
  x->lists.n += n;
  return true;
}

/* ---- bytes and literals ---------------------------------------------------------------------- */

/* From which byte on is all of it valid UTF-8? `n`: nowhere. */
static uint32_t valid_from(const uint8_t *at, uint32_t n) {
  uint32_t from = 0, cp;
  for (uint32_t i = 0; i < n;) {
    unsigned length = tsl__utf8_decode(at + i, n - i, &cp);
    i += length ? length : 1;
    if (!length) from = i;
  }
  return from;
}

tsl__expr tsl__expr_literal(tsl__exprs *x, const void *bytes, size_t length) {
  if (length == 0) return TSL__EPS;
  if (length > UINT32_MAX / 2)
    return tsl__exprs_fail(x, TSL_ERR_LIMIT, "a literal of over 2^31 bytes"), TSL__NONE;
  const uint8_t *at = bytes;
  if (!tsl__vec_reserve(&x->alloc, &x->pool, length)) return tsl__expr_no_memory(x);
  memmove(x->pool.at + x->pool.n, at, length);
  tsl__node n = {.kind = TSL__K_LIT,
                 .a = x->byte_base + (uint32_t)x->pool.n,
                 .b = (uint32_t)length,
                 .shortest = (uint32_t)length};
  n.flags = TSL__FINITE | TSL__SEARCHED;
  n.c = valid_from(at, (uint32_t)length);
  uint32_t cp;
  if (!n.c) n.flags |= TSL__TEXTUAL;
  if (tsl__utf8_decode(at, length, &cp) == length) n.flags |= TSL__CHAR;
  x->pool.n += length;
  tsl__exprs_work(x, length / 16);
  size_t before = x->nodes.n;
  tsl__expr e = tsl__intern(x, n);
  if (x->nodes.n == before) x->pool.n -= length;
  return e;
}

tsl__expr tsl__literal_tail(tsl__exprs *x, const tsl__node *lit, uint32_t skip) {
  if (lit->b == skip) return TSL__EPS;
  tsl__node n = {.kind = TSL__K_LIT,
                 .a = lit->a + skip,
                 .b = lit->b - skip,
                 .shortest = lit->b - skip,
                 .flags = TSL__FINITE | TSL__SEARCHED};
  uint32_t cp;
  const uint8_t *at = tsl__literal_at(x, n.a);
  if (skip <= lit->c)
    n.c = lit->c - skip;
  else /* within valid text: from its next character on */
    while (n.c < n.b && (at[n.c] & 0xC0) == 0x80) n.c++;
  if (!n.c) n.flags |= TSL__TEXTUAL;
  if (tsl__utf8_decode(at, n.b, &cp) == n.b) n.flags |= TSL__CHAR;
  return tsl__intern(x, n);
}

tsl__expr tsl__expr_bytes(tsl__exprs *x, const tsl__bytes *set) {
  unsigned count = 0, last = 0;
  for (unsigned i = 0; i < 4; i++) {
    count += tsl__ones(set->w[i]);
    if (set->w[i]) last = i * 64 + 63 - (unsigned)__builtin_clzll(set->w[i]);
  }
  if (count == 0) return TSL__NONE;
  if (count == 1) {
    uint8_t b = (uint8_t)last;
    return tsl__expr_literal(x, &b, 1);
  }
  if (!tsl__vec_push(&x->alloc, &x->sets, *set)) return tsl__expr_no_memory(x);
  tsl__node n = {.kind = TSL__K_BYTES,
                 .a = x->set_base + (uint32_t)x->sets.n - 1,
                 .shortest = 1,
                 .flags = TSL__FINITE | TSL__SEARCHED};
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

/* ---- concatenation --------------------------------------------------------------------------- */

static tsl__node seq_node(tsl__exprs *x, tsl__expr a, const tsl__node *na, tsl__expr b,
                          const tsl__node *nb) {
  tsl__node n = {
      .kind = TSL__K_SEQ, .a = a, .b = b, .shortest = tsl__add(na->shortest, nb->shortest)};
  n.loop = na->loop ? na->loop : nb->loop;
  n.flags =
      (na->flags & nb->flags &
       (TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH | TSL__FINITE | TSL__TEXTUAL | TSL__SEARCHED)) |
      ((na->flags | nb->flags) & (TSL__CALLS | TSL__COUNTS));
  if (n.flags & TSL__COUNTS) n.traits = tsl__overlap_of_seq(x, a, b);
  n.traits |= (na->traits | nb->traits) & TSL__GROUPS;
  return n;
}

/* Two literals as one. */
static TSL__SELDOM tsl__expr joined(tsl__exprs *x, const tsl__node *a, const tsl__node *b) {
  uint8_t bytes[LITERAL_MERGE_MAX];
  memcpy(bytes, tsl__literal_at(x, a->a), a->b);
  memcpy(bytes + a->b, tsl__literal_at(x, b->a), b->b);
  return tsl__expr_literal(x, bytes, a->b + b->b);
}

/* a·b where a is no SEQ. */
static tsl__expr seq_cons(tsl__exprs *x, tsl__expr a, tsl__expr b) {
  if (a == TSL__EPS) return b;
  if (b == TSL__EPS) return a;
  tsl__node na = tsl__node_at(x, a), nb = tsl__node_at(x, b), head = nb;
  tsl__expr rest = TSL__EPS;
  if (nb.kind == TSL__K_SEQ) head = tsl__node_at(x, nb.a), rest = nb.b;
  if (na.kind == TSL__K_LIT && head.kind == TSL__K_LIT && na.b + head.b <= LITERAL_MERGE_MAX)
    return seq_cons(x, joined(x, &na, &head), rest);
  if (na.kind == TSL__K_REPEAT && head.kind == TSL__K_REPEAT && na.a == head.a &&
      na.c == TSL__INF && head.c == TSL__INF && head.b == 0)
    return seq_cons(x, a, rest); /* a*·a* = a* */
  /* text·r = text */
  if (a == x->text && (nb.flags & TSL__TEXTUAL) && (nb.flags & TSL__NULLABLE_LOW) && !nb.loop)
    return a;
  if (b == x->text && (na.flags & TSL__TEXTUAL) && (na.flags & TSL__NULLABLE_LOW) && !na.loop)
    return b;
  return tsl__intern(x, seq_node(x, a, &na, b, &nb));
}

tsl__expr tsl__expr_seq(tsl__exprs *x, tsl__expr a, tsl__expr b) {
  if (a == TSL__NONE || b == TSL__NONE) return TSL__NONE;
  tsl__expr few[HEADS_FEW], *heads = few;
  size_t n = 0, k = 0;
  tsl__node na = tsl__node_at(x, a);
  if (na.kind != TSL__K_SEQ) return seq_cons(x, a, b);
  for (tsl__node m = na; m.kind == TSL__K_SEQ; m = tsl__node_at(x, m.b)) n++;
  if (n > HEADS_FEW && !(heads = tsl__alloc(&x->alloc, n * sizeof *heads)))
    return tsl__expr_no_memory(x);
  for (; na.kind == TSL__K_SEQ; na = tsl__node_at(x, a)) {
    heads[k++] = na.a;
    a = na.b;
  }
  tsl__expr e = seq_cons(x, a, b);
  while (k > 0 && e != TSL__NONE) e = seq_cons(x, heads[--k], e);
  if (heads != few) tsl__free(&x->alloc, heads, n * sizeof *heads);
  return e;
}

tsl__expr tsl__expr_seq_alone(tsl__exprs *x, tsl__expr a, tsl__expr b) {
  tsl__node na = tsl__node_at(x, a), nb = tsl__node_at(x, b);
  if (na.kind != TSL__K_RULE || !tsl__is_alone(x, b)) return tsl__expr_seq(x, a, b);
  return tsl__append(x, seq_node(x, a, &na, b, &nb));
}

/* ---- repetition ------------------------------------------------------------------------------ */

tsl__expr tsl__expr_repeat(tsl__exprs *x, tsl__expr a, uint32_t min, uint32_t max) {
  if (min > max) return TSL__NONE;
  if (max == 0 || a == TSL__EPS) return TSL__EPS;
  if (a == TSL__NONE) return min == 0 ? TSL__EPS : TSL__NONE;
  if (min == 1 && max == 1) return a;
  tsl__node na = tsl__node_at(x, a);
  if (na.flags & TSL__NULLABLE_LOW) {
    min = 0;
    if (na.kind == TSL__K_REPEAT && na.b == 0 && na.c == TSL__INF) return a; /* (r*){m,n} = r* */
    if (na.kind == TSL__K_REPEAT && na.b == 0 && max == TSL__INF)
      return tsl__expr_repeat(x, na.a, 0, TSL__INF);
    if (max == TSL__INF && na.kind == TSL__K_ALT) { /* (r|ε)* = r* */
      const uint32_t *c = tsl__list_at(x, na.a);
      if (na.b == 2 && c[0] == TSL__EPS) return tsl__expr_repeat(x, c[1], 0, TSL__INF);
    }
  }
  if (max == 1) return tsl__expr_alt(x, a, TSL__EPS);
  if (na.kind == TSL__K_REPEAT && tsl__loops_join(&na, min, max)) /* (r{a,b}){c,d} */
    return tsl__expr_repeat(x, na.a, tsl__multiply(na.b, min),
                            na.c == TSL__INF || max == TSL__INF ? TSL__INF
                                                                : tsl__multiply(na.c, max));
  tsl__node n = {.kind = TSL__K_REPEAT,
                 .a = a,
                 .b = min,
                 .c = max,
                 .shortest = tsl__multiply(na.shortest, min)};
  n.flags = na.flags & (TSL__CALLS | TSL__COUNTS | TSL__TEXTUAL | TSL__SEARCHED);
  if (min == 0) n.flags |= TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH | TSL__SEARCHED;
  if (max != TSL__INF) n.flags |= na.flags & TSL__FINITE;
  if ((max != TSL__INF && max > TSL__UNROLL_MAX) || (min != TSL__INF && min > TSL__UNROLL_MAX))
    n.flags |= TSL__COUNTS;
  if (n.flags & TSL__COUNTS) n.traits = tsl__overlap_of_loop(x, a, min, max);
  if (!(na.flags & TSL__CHAR)) n.traits |= TSL__GROUPS;
  return tsl__intern(x, n);
}

/* ---- tokens, rules, native automata ---------------------------------------------------------- */

tsl__expr tsl__expr_token(tsl__exprs *x, const tsl_token *tokens, size_t n, bool complement) {
  if (n == 0 && !complement) return TSL__NONE;
  tsl__exprs_name_tokens(x);
  tsl__node node = {.kind = TSL__K_TOKEN,
                    .b = (uint32_t)n,
                    .c = complement,
                    .shortest = 1,
                    .flags = TSL__CALLS | TSL__SEARCHED};
  if (!tsl__push_list(x, tokens, n, &node.a)) return TSL__NONE;
  return tsl__intern_list(x, node, n);
}

tsl__expr tsl__expr_rule(tsl__exprs *x, const tsl__rule_ops *ops, void *ctx, uint32_t param,
                         uint32_t flags, uint32_t shortest) {
  tsl__rule rule = {ops, ctx, param, flags, shortest, TSL__NONE};
  if (!tsl__vec_push(&x->alloc, &x->rules, rule)) return tsl__expr_no_memory(x);
  tsl__node n = {.kind = TSL__K_RULE,
                 .a = x->rule_base + (uint32_t)x->rules.n - 1,
                 .shortest = shortest,
                 .flags = TSL__CALLS | TSL__SEARCHED};
  if (flags & TSL__RULE_NULLABLE) n.flags |= TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH;
  return tsl__append(x, n);
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
    tsl__exprs_fail(x, TSL_ERR_STATE,
                    "a shared rule that was not unfolded when the vocabulary was warmed up");
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
    if (!tsl__vec_push(&x->alloc, &x->natives, native)) return tsl__expr_no_memory(x);
    index = x->native_base + (uint32_t)x->natives.n - 1;
  }
  bool nullable = ops->nullable(ctx, param), texts = ops->plain;
  if (ops->characters) ops->characters(ctx, param, &texts);
  tsl__node n = {
      .kind = TSL__K_NATIVE, .traits = TSL__GROUPS, .a = index, .b = param, .shortest = !nullable};
  n.flags = TSL__SEARCHED | (texts ? TSL__TEXTUAL : 0) |
            (nullable ? TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH : 0);
  return tsl__intern(x, n);
}

void *tsl__exprs_native(const tsl__exprs *x, const tsl__native_ops *ops, size_t *at) {
  while (*at < x->natives.n) {
    const tsl__native *native = &x->natives.at[(*at)++];
    if (native->ops == ops) return native->ctx;
  }
  return NULL;
}

/* ---- questions ------------------------------------------------------------------------------- */

bool tsl__expr_nullable(const tsl__exprs *x, tsl__expr e) {
  return tsl__node_at(x, e).flags & TSL__NULLABLE_LOW;
}
bool tsl__expr_has_calls(const tsl__exprs *x, tsl__expr e) {
  return tsl__node_at(x, e).flags & TSL__CALLS;
}
