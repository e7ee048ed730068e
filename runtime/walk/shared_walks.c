/* shared_walks.c - see shared_walks.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/shared_walks.h"
#include "runtime/core/os.h"
#include "runtime/kernels/digest.h"

#define WORDS_MAX 16384u /* of one entry: longer ones stay with their grammar */
#define PIECES 32u       /* of a bitset, by which it is found */
#define PIECE_WORDS 16u
#define SLOTS_MIN 256u
/* rows of a generation, and its bases: what is seldom copied is not near, and that costs more than
 * patches */
#define ROWS_MAX 64u
/* rows of masks of the vocabulary's layer, which has most of those that are copied often */
#define LAYER_ROWS_MAX 128u
#define ROWS_SHARE 4u /* of the limit, for each of these at most */
#define ROW_SEEN 4u   /* times that a mask was requested, from which it has a row */
#define SEEN 1024u
#define SEEN_ROUND 4096u /* masks requested, after which counting begins anew */
#define SEEN_MADE 0x80u  /* with a count: a row was made for one of this hash */

typedef struct tsl__common_bits {
  atomic_uint references;
  uint32_t *words; /* behind this, where a cache line begins */
} bits;

typedef struct kept {
  uint64_t hash; /* of some of the words */
  bits *bits;
} kept;

typedef struct entry {
  tsl__digest key;
  /* how many: bitsets of the vocabulary's layer by number, shared ones, tokens, tokens, nodes */
  uint32_t bases, shared, minus, plus, left;
  /* row: no walk, but a mask written out, the one that is shared; base: the same of bitsets alone,
   * to be one of a mask's */
  bool whole, row, base;
  bits *at[]; /* the shared ones, then words: the other four */
} entry;

/* With the lower half of the key: entries have mostly not been looked at for long, so only the one
 * that is sought is. */
typedef struct slot {
  uint64_t lo;
  entry *at; /* NULL: free */
} slot;

typedef struct generation {
  tsl__arena arena;
  slot *slots; /* open addressing, a power of two */
  uint32_t slot_count, n;
  TSL__VEC(kept) bitsets;
  size_t bytes;
  uint32_t rows, unions;
} generation;

struct tsl__common {
  const tsl_vocab *vocab;
  tsl__mutex lock;
  uint8_t secret[TSL__SECRET];
  bool drawn; /* the secret is there: without it nothing is kept */
  generation young, old;
  TSL__VEC(bits *) rows; /* of masks of the vocabulary's layer, for good */
  uint8_t seen[SEEN];    /* masks requested, by hash */
  uint32_t seen_all;
};

/* The vocabulary's, read without a lock. */
static size_t limit_of(const tsl__common *c) {
  tsl_vocab *v = (tsl_vocab *)(uintptr_t)c->vocab;
  return c->drawn ? atomic_load_explicit(&v->walk_cache, memory_order_relaxed) : 0;
}
static uint32_t *words_of(const entry *e) { return (uint32_t *)(uintptr_t)(e->at + e->shared); }
static size_t size_of(const entry *e) {
  return sizeof *e + e->shared * sizeof *e->at +
         ((size_t)e->bases + e->minus + e->plus + e->left) * 4;
}
static size_t bits_size(const tsl_vocab *v) {
  return sizeof(bits) + tsl_vocab_mask_words(v) * 4 + TSL__LINE;
}

/* ---- generations ----------------------------------------------------------------------------- */

static bits *new_bits(const tsl_vocab *v) {
  bits *b = tsl__alloc(&v->alloc, bits_size(v));
  if (!b) return NULL;
  atomic_init(&b->references, 0);
  b->words = tsl__at_line(b + 1);
  return b;
}

static void release(const tsl_vocab *v, bits *b) {
  if (atomic_fetch_sub_explicit(&b->references, 1, memory_order_acq_rel) == 1)
    tsl__free(&v->alloc, b, bits_size(v));
}

static void generation_free(const tsl_vocab *v, generation *g) {
  for (size_t i = 0; i < g->bitsets.n; i++) release(v, g->bitsets.at[i].bits);
  tsl__vec_free(&v->alloc, &g->bitsets);
  tsl__free(&v->alloc, g->slots, g->slot_count * sizeof *g->slots);
  tsl__arena_free(&g->arena);
  *g = (generation){0};
  tsl__arena_init(&g->arena, &v->alloc);
}

static size_t generation_memory(const generation *g) {
  return g->arena.total + g->slot_count * sizeof *g->slots +
         g->bitsets.cap * sizeof *g->bitsets.at + g->bytes;
}

static entry *probe(const generation *g, const tsl__digest *key) {
  for (uint64_t i = key->lo; g->slot_count; i++) {
    slot s = g->slots[i & (g->slot_count - 1)];
    if (!s.at || (s.lo == key->lo && s.at->key.hi == key->hi)) return s.at;
  }
  return NULL;
}

static void place(generation *g, slot s) {
  uint64_t i = s.lo;
  while (g->slots[i & (g->slot_count - 1)].at) i++;
  g->slots[i & (g->slot_count - 1)] = s;
}

static bool grow(const tsl_vocab *v, generation *g) {
  if ((g->n + 1) * 4 <= g->slot_count * 3) return true;
  uint32_t count = g->slot_count ? g->slot_count * 2 : SLOTS_MIN;
  slot *fresh = tsl__alloc_zero(&v->alloc, count * sizeof *fresh), *former = g->slots;
  if (!fresh) return false;
  uint32_t before = g->slot_count;
  g->slots = fresh;
  g->slot_count = count;
  for (uint32_t i = 0; i < before; i++)
    if (former[i].at) place(g, former[i]); /* the entries lie far apart, and none is looked at */
  tsl__free(&v->alloc, former, before * sizeof *former);
  return true;
}

static bool keep(const tsl_vocab *v, generation *g, kept k) {
  if (!tsl__vec_push(&v->alloc, &g->bitsets, k)) return false;
  atomic_fetch_add_explicit(&k.bits->references, 1, memory_order_relaxed);
  g->bytes += bits_size(v);
  return true;
}

/* Of pieces here and there: those that agree in them are compared, and a hash of 16 KB costs more
 * than that. */
static uint64_t hash_pieces(const uint32_t *words, size_t n) {
  uint32_t pieces[PIECES][PIECE_WORDS];
  if (n <= sizeof pieces / sizeof **pieces) return tsl__hash(words, n * sizeof *words);
  for (size_t i = 0; i < PIECES; i++) memcpy(pieces[i], words + i * (n / PIECES), sizeof pieces[i]);
  return tsl__hash(pieces, sizeof pieces);
}

/* The bitset of that content that the generation keeps; NULL when out of memory. */
static bits *keep_bits(const tsl_vocab *v, generation *g, const uint32_t *words) {
  size_t bytes = tsl_vocab_mask_words(v) * 4;
  uint64_t hash = hash_pieces(words, tsl_vocab_mask_words(v));
  for (size_t i = g->bitsets.n; i-- > 0;)
    if (g->bitsets.at[i].hash == hash && !memcmp(g->bitsets.at[i].bits->words, words, bytes))
      return g->bitsets.at[i].bits;
  bits *b = new_bits(v);
  if (!b) return NULL;
  memcpy(b->words, words, bytes);
  if (keep(v, g, (kept){hash, b})) return b;
  tsl__free(&v->alloc, b, bits_size(v));
  return NULL;
}

/* Keep one that the older generation has. */
static bool carry_bits(const tsl_vocab *v, generation *g, const generation *from, bits *b) {
  for (size_t i = g->bitsets.n; i-- > 0;)
    if (g->bitsets.at[i].bits == b) return true;
  for (size_t i = 0; i < from->bitsets.n; i++)
    if (from->bitsets.at[i].bits == b) return keep(v, g, from->bitsets.at[i]);
  return false;
}

static void make_room(tsl__common *c) {
  if (generation_memory(&c->young) <= limit_of(c) / 2) return;
  generation_free(c->vocab, &c->old);
  c->old = c->young;
  c->young = (generation){0};
  tsl__arena_init(&c->young.arena, &c->vocab->alloc);
}

static entry *find(tsl__common *c, const tsl__digest *key) {
  if (c->old.slot_count) TSL__PREFETCH(&c->old.slots[key->lo & (c->old.slot_count - 1)]);
  entry *e = probe(&c->young, key);
  if (e || !(e = probe(&c->old, key))) return e;
  bool fine = grow(c->vocab, &c->young);
  for (uint32_t i = 0; i < e->shared && fine; i++)
    fine = carry_bits(c->vocab, &c->young, &c->old, e->at[i]);
  entry *carried = fine ? tsl__arena_copy(&c->young.arena, e, size_of(e)) : NULL;
  if (!carried) return e;
  c->young.n++;
  c->young.rows += e->row;
  c->young.unions += e->base;
  place(&c->young, (slot){key->lo, carried});
  return carried;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static tsl__common *make(const tsl_vocab *vocab) {
  tsl__common *c = tsl__alloc_zero(&vocab->alloc, sizeof *c);
  if (!c) return NULL;
  c->vocab = vocab;
  c->drawn = tsl__secret_draw(c->secret);
  if (!tsl__mutex_init(&c->lock)) return tsl__free(&vocab->alloc, c, sizeof *c), NULL;
  tsl__arena_init(&c->young.arena, &vocab->alloc);
  tsl__arena_init(&c->old.arena, &vocab->alloc);
  return c;
}

static tsl__common *kept_by(const tsl_vocab *v) {
  return atomic_load_explicit(&((tsl_vocab *)(uintptr_t)v)->common, memory_order_acquire);
}

static void free_kept(tsl_vocab *v) {
  tsl__common *c = kept_by(v);
  tsl_allocator a = v->alloc;
  generation_free(v, &c->young);
  generation_free(v, &c->old);
  for (size_t i = 0; i < c->rows.n; i++) release(v, c->rows.at[i]);
  tsl__vec_free(&a, &c->rows);
  tsl__mutex_free(&c->lock);
  tsl__free(&a, c, sizeof *c);
}

static size_t kept_memory(const tsl_vocab *v) {
  tsl__common *c = kept_by(v);
  tsl__mutex_lock(&c->lock);
  size_t n = sizeof *c + generation_memory(&c->young) + generation_memory(&c->old) +
             c->rows.cap * sizeof *c->rows.at + c->rows.n * bits_size(v);
  tsl__mutex_unlock(&c->lock);
  return n;
}

bool tsl__common_attach(tsl_vocab *v) {
  static const tsl__kept_ops ops = {free_kept, kept_memory};
  if (kept_by(v)) return true;
  tsl__common *c = make(v);
  if (!c) return false;
  atomic_store_explicit(&v->common, c, memory_order_release);
  atomic_store_explicit(&v->kept[TSL__KEPT_WALKS], &ops, memory_order_release);
  return true;
}

void tsl_vocab_set_walk_cache(tsl_vocab *v, size_t max_bytes) {
  atomic_store_explicit(&v->walk_cache, max_bytes, memory_order_relaxed);
  tsl__common *c = kept_by(v);
  if (!c) return;
  tsl__mutex_lock(&c->lock);
  generation_free(v, &c->old);
  if (generation_memory(&c->young) > limit_of(c) / 2) generation_free(v, &c->young);
  tsl__mutex_unlock(&c->lock);
}

/* ---- keys ----------------------------------------------------------------------------------
 * Bitsets, leftovers and masks of a vocabulary's layer go by number, and there is a layer for each
 * kind of spellings. So each key says which layer it is of. */

/* NULL: none. What is requested before the vocabulary's layer is whole
 * (compiler/grammar/rehearsal.h) says nothing of what grammars will ask for. */
static tsl__common *common_of(const tsl__space *space) {
  return space->parent && space->parent->warm.frozen ? kept_by(space->vocab) : NULL;
}

/* The meaning of a state; false: it has none outside its grammar. */
static bool meaning_of(tsl__space *space, const tsl__common *c, tsl__state state,
                       tsl__digest *out) {
  if (space->hook->states.meaning &&
      space->hook->states.meaning(space->hook_ctx, state, c->secret, out))
    return true;
  if (state >= space->states.first) tsl__state_own(space, state)->meaningless = true;
  return false;
}

bool tsl__common_key(tsl__space *space, tsl__state state, uint32_t context, tsl__leftover over,
                     tsl__digest *key) {
  tsl__common *c = common_of(space);
  tsl__leftover set = tsl__leftover_set(over);
  struct {
    tsl__digest state, over;
    uint64_t layer;
    uint32_t context, whole;
  } of;
  if (!c || !limit_of(c) || tsl__state_at(space, state)->meaningless ||
      !meaning_of(space, c, state, &of.state))
    return false;
  if (set < space->leftovers.first) {
    of.over = (tsl__digest){.lo = set};
  } else {
    const tsl__leftover_rec *r = tsl__leftover_at(space, set);
    of.over = tsl__digest_of(c->secret, r->nodes, r->n * sizeof *r->nodes);
  }
  of.layer = (uintptr_t)space->parent;
  of.context = context;
  of.whole = over & TSL__WHOLE;
  *key = tsl__digest_of(c->secret, &of, sizeof of);
  return true;
}

bool tsl__common_class_key(tsl__space *space, const tsl__bytes *letters,
                           const tsl__nonascii *nonascii, uint32_t node, tsl__digest *key) {
  tsl__common *c = common_of(space);
  if (!c || !limit_of(c)) return false;
  struct {
    tsl__bytes letters;
    tsl__digest pairs;
    uint64_t layer;
    uint32_t node, whole;
  } of = {*letters, {0, 0}, (uintptr_t)space->parent, node, nonascii && nonascii->whole};
  if (nonascii)
    of.pairs =
        tsl__digest_of(c->secret, nonascii->pairs, 2 * nonascii->count * sizeof *nonascii->pairs);
  *key = tsl__digest_of(c->secret, &of, sizeof of);
  return true;
}

/* ---- giving and taking ----------------------------------------------------------------------- */

/* The number of a shared bitset in the space; 0 on failure (sticky). */
static uint32_t adopt(tsl__space *space, bits *b) {
  for (size_t i = space->walking.adopted.n; i-- > 0;)
    if (space->walking.adopted.at[i].bits == b) return space->walking.adopted.at[i].number;
  const uint32_t **words = tsl__vec_reserve(&space->alloc, &space->walking.adopted, 1)
                               ? tsl__pool_add(&space->bitsets.pool, &space->kept)
                               : NULL;
  if (!words) return tsl__space_no_memory(space), 0;
  *words = b->words;
  atomic_fetch_add_explicit(&b->references, 1, memory_order_relaxed);
  space->walking.adopted.at[space->walking.adopted.n++] =
      (tsl__adopted){b, tsl__space_count(space, bitsets) - 1};
  return tsl__space_count(space, bitsets) - 1;
}

void tsl__adopted_free(tsl__space *space) {
  for (size_t i = 0; i < space->walking.adopted.n; i++)
    release(space->vocab, space->walking.adopted.at[i].bits);
  tsl__vec_free(&space->alloc, &space->walking.adopted);
}

static bool take(tsl__space *space, const entry *e, tsl__gather *gather, tsl__words *left) {
  const uint32_t *words = words_of(e);
  bool fine = true;
  for (uint32_t i = 0; i < e->bases && fine; i++) fine = tsl__gather_base(space, gather, words[i]);
  words += e->bases;
  for (uint32_t i = 0; i < e->shared && fine; i++) {
    uint32_t number = adopt(space, e->at[i]);
    fine = number && tsl__gather_base(space, gather, number);
  }
  fine = fine && tsl__gather_remove_all(space, gather, words, e->minus);
  words += e->minus;
  fine = fine && tsl__gather_tokens(space, gather, words, e->plus);
  words += e->plus;
  if (!fine || !tsl__vec_reserve(&space->alloc, left, e->left)) return tsl__space_no_memory(space);
  if (e->left) memcpy(left->at, words, e->left * 4);
  left->n = e->left;
  return true;
}

bool tsl__common_take(tsl__space *space, const tsl__digest *key, tsl__gather *gather,
                      tsl__words *left, bool *whole) {
  tsl__common *c = common_of(space);
  tsl__mutex_lock(&c->lock);
  const entry *e = find(c, key);
  if (e) {
    *whole = e->whole;
    take(space, e, gather, left);
  }
  tsl__mutex_unlock(&c->lock);
  return e;
}

static bool fill(tsl__space *space, generation *g, entry *e, const tsl__walk *walk) {
  const tsl__mask_rec *m = tsl__mask_at(space, walk->mask);
  uint32_t *words = words_of(e), shared = 0;
  for (uint32_t i = 0; i < m->base_count; i++) {
    if (tsl__mask_bases(m)[i] < space->bitsets.first)
      *words++ = tsl__mask_bases(m)[i];
    else if (!(e->at[shared++] =
                   keep_bits(space->vocab, g, tsl__bitset_at(space, tsl__mask_bases(m)[i]))))
      return false;
  }
  tsl__patches_read(tsl__mask_minus(m), words);
  words += e->minus;
  tsl__patches_read(tsl__mask_plus(m), words);
  words += e->plus;
  if (e->left) memcpy(words, tsl__leftover_at(space, walk->left)->nodes, e->left * 4);
  return true;
}

void tsl__common_put(tsl__space *space, const tsl__digest *key, const tsl__walk *walk) {
  tsl__common *c = common_of(space);
  const tsl__mask_rec *m = tsl__mask_at(space, walk->mask);
  entry head = {.key = *key,
                .minus = m->minus_count,
                .plus = m->plus_count,
                .whole = walk->left & TSL__WHOLE};
  head.left = tsl__leftover_set(walk->left) ? tsl__leftover_at(space, walk->left)->n : 0;
  for (uint32_t i = 0; i < m->base_count; i++)
    *(tsl__mask_bases(m)[i] < space->bitsets.first ? &head.bases : &head.shared) += 1;
  if ((uint64_t)head.minus + head.plus + head.left > WORDS_MAX) return;
  tsl__mutex_lock(&c->lock);
  make_room(c);
  if (limit_of(c) && !probe(&c->young, key) && grow(c->vocab, &c->young)) {
    entry *e = tsl__arena_alloc(&c->young.arena, size_of(&head));
    if (e) *e = head;
    if (e && fill(space, &c->young, e, walk)) {
      c->young.n++;
      place(&c->young, (slot){e->key.lo, e});
    }
  }
  tsl__mutex_unlock(&c->lock);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Is it made of the vocabulary's bitsets alone? */
static bool is_shared(const tsl__space *space, const tsl__mask_rec *m) {
  for (uint32_t i = 0; i < m->base_count; i++)
    if (tsl__mask_bases(m)[i] >= space->bitsets.first) return false;
  return true;
}

static bool has_room_for_row(const tsl__common *c, size_t rows, size_t most) {
  return rows < most && (rows + 1) * bits_size(c->vocab) <= limit_of(c) / ROWS_SHARE;
}

/* Count one that was requested: was it, or one of its hash, requested often lately? */
static bool is_common(tsl__common *c, uint64_t hash) {
  uint8_t *seen = &c->seen[hash % SEEN];
  for (size_t i = 0; i < SEEN && c->seen_all == SEEN_ROUND; i++) c->seen[i] &= SEEN_MADE;
  c->seen_all = c->seen_all % SEEN_ROUND + 1;
  if ((*seen & ~SEEN_MADE) < ROW_SEEN) ++*seen;
  return (*seen & ~SEEN_MADE) == ROW_SEEN;
}

/* The hash by which it is counted. Not its key: which masks share a counter must not depend on the
 * secret. */
static uint64_t row_hash(const tsl__mask_rec *m) {
  return tsl__hash(m->lists, tsl__mask_lists_size(m));
}

static bits *write_row(const tsl__space *space, const tsl__mask_rec *m) {
  bits *b = new_bits(space->vocab);
  if (b) tsl__mask_put(space, m, b->words);
  return b;
}

/* Give a row to a mask of the vocabulary's layer. Nothing else of its record changes. */
static void give_row(tsl__common *c, const tsl__space *space, tsl__mask mask) {
  tsl__mask_rec *m = (tsl__mask_rec *)(uintptr_t)tsl__mask_at(space, mask);
  if (atomic_load_explicit(&m->row, memory_order_relaxed) || !is_common(c, tsl__mix(mask)) ||
      !has_room_for_row(c, c->rows.n, LAYER_ROWS_MAX))
    return;
  bits *b = tsl__vec_reserve(&c->vocab->alloc, &c->rows, 1) ? write_row(space, m) : NULL;
  if (!b) return;
  atomic_fetch_add_explicit(&b->references, 1, memory_order_relaxed);
  c->rows.at[c->rows.n++] = b;
  atomic_store_explicit(&m->row, b->words, memory_order_release);
}

static tsl__digest row_key(const tsl__common *c, const tsl__space *space, const tsl__mask_rec *m,
                           bool base) {
  struct {
    tsl__digest lists;
    uint64_t layer;
    uint32_t bases, minus, plus, row;
  } of = {tsl__digest_of(c->secret, m->lists, tsl__mask_lists_size(m)),
          (uintptr_t)space->parent,
          m->base_count,
          m->minus_count,
          m->plus_count,
          1u + base};
  return tsl__digest_of(c->secret, &of, sizeof of);
}

/* The row of a mask, or one of its bitsets alone. NULL: memory is short. */
static const entry *make_row(tsl__common *c, const tsl__space *space, const tsl__digest *key,
                             const tsl__mask_rec *m, bool base) {
  generation *g = &c->young;
  make_room(c);
  entry *e = has_room_for_row(c, base ? g->unions : g->rows, ROWS_MAX) && grow(c->vocab, g)
                 ? tsl__arena_alloc(&g->arena, sizeof *e + sizeof *e->at)
                 : NULL;
  bits *b = e ? write_row(space, m) : NULL;
  if (!b) return NULL;
  if (!keep(c->vocab, g, (kept){0, b}))
    return tsl__free(&c->vocab->alloc, b, bits_size(c->vocab)), NULL;
  *e = (entry){.key = *key, .shared = 1, .row = !base, .base = base};
  e->at[0] = b;
  g->n++;
  g->rows += e->row;
  g->unions += e->base;
  place(g, (slot){e->key.lo, e});
  return e;
}

/* The same, found or made. NULL: it is not common enough, too. Most are not, and nothing was made
 * for any of their hash: then there is nothing to look for. */
static const entry *row_of(tsl__common *c, const tsl__space *space, const tsl__mask_rec *m,
                           bool base) {
  uint64_t hash = row_hash(m);
  uint8_t *seen = &c->seen[hash % SEEN];
  bool counted = !(*seen & SEEN_MADE);
  if (counted && !is_common(c, hash)) return NULL;
  tsl__digest key = row_key(c, space, m, base);
  const entry *e = find(c, &key);
  if (!e && (counted || is_common(c, hash)) && (e = make_row(c, space, &key, m, base)))
    *seen |= SEEN_MADE;
  return e;
}

/* Find the row of a mask of the grammar's own layer. */
static void find_row(tsl__common *c, tsl__space *space, tsl__mask mask) {
  tsl__mask_rec *m = tsl__pool_at(&space->masks.pool, mask - space->masks.first);
  const entry *e = row_of(c, space, m, false);
  uint32_t *none = NULL, number = e ? adopt(space, e->at[0]) : 0;
  m->requested = true;
  if (number && atomic_compare_exchange_strong_explicit(&m->row, &none, e->at[0]->words,
                                                        memory_order_acq_rel, memory_order_acquire))
    m->shared = true;
}

uint32_t tsl__common_base(tsl__space *space, const uint32_t *bases, uint32_t n) {
  tsl__common *c = common_of(space);
  const tsl__mask_rec both = {
      .first = tsl__bitset_at(space, bases[0]), .lists = bases, .base_count = (uint8_t)n};
  if (!c || !limit_of(c)) return 0;
  tsl__mutex_lock(&c->lock);
  const entry *e = row_of(c, space, &both, true);
  uint32_t number = e ? adopt(space, e->at[0]) : 0;
  tsl__mutex_unlock(&c->lock);
  return number;
}

void tsl__common_row_of(tsl__space *space, tsl__mask mask, const tsl__mask_rec *m) {
  tsl__common *c = common_of(space);
  if (!c || !limit_of(c) ||
      atomic_load_explicit(&((tsl__mask_rec *)(uintptr_t)m)->row, memory_order_relaxed) ||
      !is_shared(space, m))
    return;
  tsl__mutex_lock(&c->lock);
  if (mask < space->masks.first)
    give_row(c, space, mask);
  else
    find_row(c, space, mask);
  tsl__mutex_unlock(&c->lock);
}
