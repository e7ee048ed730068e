/* cache.c - compiled grammars by content, bounded in bytes.
 *
 * An entry holds its key (source.h), a reference on its grammar, and how large that was when it was
 * last given out. Entries lie in a chained hash table by the XXH3-128 of the key and in a list by
 * use. An entry is "under way" while the thread that missed compiles it, outside of the lock;
 * others that want it wait on the condition variable. Such entries hold no grammar and are never
 * evicted. A failed compile takes its entry away, and those that waited look again: the first of
 * them becomes the one that compiles.
 *
 * Example  Three threads want the same schema, and the cache lacks it. The first puts an entry that
 *          is under way, and compiles. The others find the entry and wait. The compile succeeds:
 *          the entry gets the grammar, and each of the three a reference. Had it failed, the entry
 *          would be gone, and one of the two that waited would compile. A limit or a cancel of the
 *          first thread says nothing about the second.
 * Evicting When the sum is past the bound, the entry that was used longest ago goes, and so on. A
 *          matcher has a reference of its own: a grammar that is in use lives on without its entry.
 * Lock     The cache's mutex is held for look-ups and lists only. Grammars are measured with their
 *          own lock tried, not waited for: one that is being walked keeps its last measure.
 *
 * Tested by tests/matcher/test_threads.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/grammar/source.h"
#include "runtime/matcher/edition.h"
#include "runtime/core/threads.h"
#include "runtime/vocab/build.h"

#define POLL_US 2000u /* how often a waiting thread looks at its cancel flag */

typedef struct entry {
  struct entry *chain;         /* of its slot */
  struct entry *newer, *older; /* by use; of entries with a grammar only */
  uint8_t hash[16];
  tsl__key key;
  tsl_grammar *grammar; /* NULL: under way */
  uint64_t bytes;       /* counted in the cache's */
  bool used_up;         /* the next who asks for it has it compiled anew */
} entry;

struct tsl_cache {
  tsl_allocator alloc;
  tsl__mutex mutex;
  tsl__cond ended; /* a compile under way */
  entry **slots;
  size_t slot_count; /* a power of two */
  entry *newest, *oldest;
  tsl_cache_stats stats;
};

/* ---- the table ------------------------------------------------------------------------------- */

static entry **slot_of(const tsl_cache *c, const uint8_t hash[16]) {
  uint64_t h;
  memcpy(&h, hash, sizeof h);
  return &c->slots[h & (c->slot_count - 1)];
}

static entry *find(const tsl_cache *c, const uint8_t hash[16], const tsl__key *key) {
  for (entry *e = *slot_of(c, hash); e; e = e->chain)
    if (!memcmp(e->hash, hash, 16) && e->key.n == key->n && !memcmp(e->key.at, key->at, key->n))
      return e;
  return NULL;
}

/* Twice the slots, if there is memory: longer chains are no error. */
static void grow(tsl_cache *c) {
  size_t old_count = c->slot_count;
  entry **old = c->slots, **wider = tsl__alloc_zero(&c->alloc, old_count * 2 * sizeof *wider);
  if (!wider) return;
  c->slots = wider;
  c->slot_count = old_count * 2;
  for (size_t i = 0; i < old_count; i++)
    for (entry *e = old[i], *next; e; e = next) {
      entry **slot = slot_of(c, e->hash);
      next = e->chain;
      e->chain = *slot;
      *slot = e;
    }
  tsl__free(&c->alloc, old, old_count * sizeof *old);
}

/* An entry under way, which takes the key over; NULL when out of memory. */
static entry *add(tsl_cache *c, const uint8_t hash[16], tsl__key *key) {
  entry *e = tsl__alloc_zero(&c->alloc, sizeof *e);
  if (!e) return NULL;
  if (c->stats.entries >= c->slot_count) grow(c);
  memcpy(e->hash, hash, 16);
  e->key = *key;
  *key = (tsl__key){0};
  e->bytes = sizeof *e + e->key.cap;
  entry **slot = slot_of(c, hash);
  e->chain = *slot;
  *slot = e;
  c->stats.entries++;
  c->stats.bytes += e->bytes;
  return e;
}

static void link_newest(tsl_cache *c, entry *e) {
  e->older = c->newest;
  e->newer = NULL;
  if (c->newest)
    c->newest->newer = e;
  else
    c->oldest = e;
  c->newest = e;
}

static void unlink_use(tsl_cache *c, entry *e) {
  if (e->newer)
    e->newer->older = e->older;
  else
    c->newest = e->older;
  if (e->older)
    e->older->newer = e->newer;
  else
    c->oldest = e->newer;
}

/* Take an entry that is in no list of use out of the table and free it. The grammar's reference is
 * the caller's to give up. */
static void drop(tsl_cache *c, entry *e) {
  entry **at = slot_of(c, e->hash);
  while (*at != e) at = &(*at)->chain;
  *at = e->chain;
  c->stats.entries--;
  c->stats.bytes -= e->bytes;
  tsl__vec_free(&c->alloc, &e->key);
  tsl__free(&c->alloc, e, sizeof *e);
}

/* ---- size ------------------------------------------------------------------------------------ */

/* Measure a grammar, unless somebody is growing it right now. */
static void measure(tsl_cache *c, entry *e) {
  if (!tsl__mutex_try(e->grammar->lock)) return;
  e->used_up = tsl__grammar_used_up(e->grammar);
  uint64_t now = sizeof *e + e->key.cap + tsl__grammar_memory(e->grammar);
  tsl__mutex_unlock(e->grammar->lock);
  uint32_t unused = 0;
  now += tsl__editions_memory(e->grammar, &unused);
  c->stats.bytes += now - e->bytes;
  e->bytes = now;
}

/* Drop the least recently used until the rest fits. Returns a chain of dropped grammars, to be
 * released without the lock: that may take a while. */
static tsl_grammar *shrink(tsl_cache *c) {
  entry *e = c->oldest;
  if (!e || c->stats.bytes <= c->stats.max_bytes) return NULL;
  tsl_grammar *grammar = e->grammar;
  unlink_use(c, e);
  drop(c, e);
  c->stats.evictions++;
  return grammar;
}

/* Called with the lock, returns without it. */
static void unlock_and_shrink(tsl_cache *c) {
  for (tsl_grammar *g; (g = shrink(c)) != NULL;) {
    tsl__mutex_unlock(&c->mutex);
    tsl_grammar_release(g);
    tsl__mutex_lock(&c->mutex);
  }
  tsl__mutex_unlock(&c->mutex);
}

/* ---- life ------------------------------------------------------------------------------------ */

tsl_status tsl_cache_new(uint64_t max_bytes, const tsl_allocator *allocator, tsl_cache **out) {
  allocator = tsl__allocator_or_default(allocator);
  *out = NULL;
  if (max_bytes == 0) return TSL_ERR_ARGUMENT;
  tsl_cache *c = tsl__alloc_zero(allocator, sizeof *c);
  if (!c) return TSL_ERR_NO_MEMORY;
  c->alloc = *allocator;
  c->slot_count = 64;
  c->stats.max_bytes = max_bytes;
  c->slots = tsl__alloc_zero(allocator, c->slot_count * sizeof *c->slots);
  if (c->slots && tsl__mutex_init(&c->mutex)) {
    if (tsl__cond_init(&c->ended)) return *out = c, TSL_OK;
    tsl__mutex_free(&c->mutex);
  }
  tsl__free(allocator, c->slots, c->slot_count * sizeof *c->slots);
  tsl__free(allocator, c, sizeof *c);
  return TSL_ERR_NO_MEMORY;
}

void tsl_cache_clear(tsl_cache *c) {
  tsl__mutex_lock(&c->mutex);
  for (entry *e; (e = c->oldest) != NULL;) {
    tsl_grammar *grammar = e->grammar;
    unlink_use(c, e);
    drop(c, e);
    tsl__mutex_unlock(&c->mutex);
    tsl_grammar_release(grammar);
    tsl__mutex_lock(&c->mutex);
  }
  tsl__mutex_unlock(&c->mutex);
}

void tsl_cache_free(tsl_cache *c) {
  if (!c) return;
  tsl_allocator a = c->alloc;
  tsl_cache_clear(c);
  tsl__cond_free(&c->ended);
  tsl__mutex_free(&c->mutex);
  tsl__free(&a, c->slots, c->slot_count * sizeof *c->slots);
  tsl__free(&a, c, sizeof *c);
}

void tsl_cache_get_stats(tsl_cache *c, tsl_cache_stats *stats) {
  tsl__mutex_lock(&c->mutex);
  *stats = c->stats;
  tsl__mutex_unlock(&c->mutex);
}

/* ---- get ------------------------------------------------------------------------------------- */

/* One wait for a compile under way; false when the caller's own patience is over. */
static bool wait_a_while(tsl_cache *c, const int *cancel, uint64_t deadline) {
  if (tsl__cancelled(cancel) || tsl__expired(deadline)) return false;
  uint64_t until = cancel ? tsl__now_us() + POLL_US : UINT64_MAX;
  if (deadline && deadline < until) until = deadline;
  tsl__cond_wait(&c->ended, &c->mutex, until);
  return true;
}

/* Called with the lock, for an entry with a grammar; returns without it. */
static void give(tsl_cache *c, entry *e, bool waited, tsl_grammar **out) {
  c->stats.hits++;
  c->stats.waits += waited;
  *out = e->grammar;
  tsl_grammar_retain(e->grammar);
  unlink_use(c, e);
  link_newest(c, e);
  unlock_and_shrink(c);
}

/* Compile what `e` stands for, and finish the entry or take it away. */
static tsl_status fill(tsl_cache *c, entry *e, tsl_vocab *vocab, const tsl_source *source,
                       const tsl_limits *limits, tsl_grammar **out, tsl_error *error) {
  tsl_status status = tsl__source_compile(vocab, source, limits, out, error);
  tsl__mutex_lock(&c->mutex);
  if (status == TSL_OK) {
    e->grammar = *out;
    tsl_grammar_retain(*out);
    link_newest(c, e);
    measure(c, e);
  } else {
    drop(c, e);
  }
  tsl__cond_broadcast(&c->ended);
  unlock_and_shrink(c);
  return status;
}

static tsl_status get(tsl_cache *c, tsl_vocab *vocab, const tsl_source *source, tsl_limits *limits,
                      tsl__key *key, tsl_grammar **out, tsl_error *error) {
  uint64_t deadline = tsl__deadline(limits->deadline_us);
  uint8_t hash[16] = {0};
  bool waited = false;
  tsl__hash128(key->at, key->n, hash);
  tsl__mutex_lock(&c->mutex);
  entry *e;
  while ((e = find(c, hash, key)) != NULL && !e->grammar) {
    waited = true;
    if (wait_a_while(c, limits->cancel, deadline)) continue;
    tsl__mutex_unlock(&c->mutex);
    return tsl__fail(error, TSL_ERR_CANCELLED, "%s",
                     tsl__cancelled(limits->cancel) ? "cancelled" : "deadline_us: out of time");
  }
  if (e) measure(c, e);
  if (e && !e->used_up) {
    give(c, e, waited, out);
    return TSL_OK;
  }
  tsl_grammar *old = e ? e->grammar : NULL;
  if (e) { /* those who have it keep it */
    unlink_use(c, e);
    drop(c, e);
    c->stats.evictions++;
  }
  c->stats.misses++;
  e = add(c, hash, key);
  tsl__mutex_unlock(&c->mutex);
  tsl_grammar_release(old);
  if (!e) return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  if (deadline) { /* what waiting has left of it */
    uint64_t now = tsl__now_us();
    limits->deadline_us = now < deadline ? deadline - now : 1;
  }
  return fill(c, e, vocab, source, limits, out, error);
}

tsl_status tsl_cache_get(tsl_cache *c, tsl_vocab *vocab, const tsl_source *source,
                         tsl_grammar **out, tsl_error *error) {
  tsl_limits limits = source->limits ? *source->limits : (tsl_limits){0};
  tsl__key key = {0};
  *out = NULL;
  if (!vocab) return tsl__fail(error, TSL_ERR_ARGUMENT, "no vocabulary given");
  if (tsl__source_has_resolver(source)) {
    tsl__mutex_lock(&c->mutex);
    c->stats.bypasses++;
    tsl__mutex_unlock(&c->mutex);
    return tsl__source_compile(vocab, source, &limits, out, error);
  }
  tsl_status status = tsl__source_key(source, vocab, &c->alloc, &key)
                          ? get(c, vocab, source, &limits, &key, out, error)
                          : tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  tsl__vec_free(&c->alloc, &key);
  return status;
}
