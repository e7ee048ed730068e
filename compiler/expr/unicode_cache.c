/* unicode_cache.c - what PCRE2 says about Unicode, remembered with a layer of expressions and
 * counted as steps.
 *
 * Problem   To ask for a property takes milliseconds. A text of 100 KB can ask 20,000 times:
 *           minutes in which no step is counted and no deadline seen.
 * Idea      Each question is answered once for all patterns of a grammar. It counts as the number
 *           of steps that take about as long. So a grammar with thousands of patterns that have
 *           \p{L} is fast, and one with thousands of different questions reaches max_steps.
 * Shared    What a grammar has looked up is kept with its vocabulary's layer, up to COMMON_BYTES,
 *           and the next grammar copies it from there. It counts as many steps as if PCRE2 had
 *           answered: what fits into max_steps does not depend on other grammars.
 * Lock      The lock of the vocabulary's answers is held for look-ups and copies only.
 * Cost      Remembered answers are looked through one by one; that is counted too.
 * Tested by tests/engine/test_limits.c (questions)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/unicode_cache.h"

#include "compiler/expr/node.h"
#include "runtime/core/os.h"

#define PROPERTY_STEPS 4096u
#define FOLD_STEPS 512u
#define COMMON_BYTES (256u << 10) /* of questions and answers that grammars have in common */

typedef struct answer {
  uint64_t hash; /* of the question: a property's name, or the ranges to be folded */
  bool fold;
  void *question;
  size_t length; /* of the question, bytes */
  tsl__charset set;
} answer;

struct tsl__unicode_cache {
  const tsl_allocator *alloc;
  TSL__VEC(answer) answers;
  bool common;     /* of a layer that others are on top of: */
  tsl__mutex lock; /* guards them */
  size_t bytes;
};

static void forget(void *ctx) {
  struct tsl__unicode_cache *cache = ctx;
  for (size_t i = 0; i < cache->answers.n; i++) {
    answer *a = &cache->answers.at[i];
    tsl__free(cache->alloc, a->question, a->length);
    tsl__charset_free(cache->alloc, &a->set);
  }
  tsl__vec_free(cache->alloc, &cache->answers);
  if (cache->common) tsl__mutex_free(&cache->lock);
  tsl__free(cache->alloc, cache, sizeof *cache);
}

/* What x remembers; NULL when out of memory. */
static struct tsl__unicode_cache *cache_of(tsl__exprs *x) {
  if (x->unicode) return x->unicode;
  struct tsl__unicode_cache *cache = tsl__alloc_zero(&x->alloc, sizeof *cache);
  if (!cache) return NULL;
  cache->alloc = &x->alloc;
  if (!tsl__exprs_own(x, cache, forget)) return NULL;
  return x->unicode = cache;
}

static const answer *look(const struct tsl__unicode_cache *cache, const answer *q) {
  for (size_t i = 0; i < cache->answers.n; i++) {
    const answer *a = &cache->answers.at[i];
    if (a->hash == q->hash && a->fold == q->fold && a->length == q->length &&
        !memcmp(a->question, q->question, q->length))
      return a;
  }
  return NULL;
}

static size_t bytes_of(const answer *q) { return q->length + q->set.ranges.n * sizeof(tsl__range); }

static bool keep(struct tsl__unicode_cache *cache, const answer *q) {
  answer mine = {.hash = q->hash,
                 .fold = q->fold,
                 .question = tsl__alloc(cache->alloc, q->length),
                 .length = q->length};
  if (!mine.question) return false;
  memcpy(mine.question, q->question, q->length);
  if (tsl__charset_add_set(cache->alloc, &mine.set, &q->set) &&
      tsl__vec_push(cache->alloc, &cache->answers, mine))
    return true;
  tsl__charset_free(cache->alloc, &mine.set);
  tsl__free(cache->alloc, mine.question, mine.length);
  return false;
}

/* Ask PCRE2 and remember. */
static tsl_status learn(struct tsl__unicode_cache *cache, const tsl__until *until, answer q) {
  const tsl_allocator *a = cache->alloc;
  tsl_status status = TSL_OK;
  if (!q.fold)
    status = tsl__charset_add_property(a, until, &q.set, q.question, q.length);
  else if (!tsl__charset_add_set(
               a, &q.set,
               &(tsl__charset){.ranges = {q.question, q.length / sizeof(tsl__range), 0}}) ||
           !tsl__charset_fold(a, &q.set))
    status = TSL_ERR_NO_MEMORY;
  if (status == TSL_OK && !keep(cache, &q)) status = TSL_ERR_NO_MEMORY;
  tsl__charset_free(a, &q.set);
  return status;
}

/* The answers of the layer that x and others are on top of; NULL: there are none. */
static struct tsl__unicode_cache *common_of(const tsl__exprs *x) {
  for (const tsl__exprs *p = x->parent; p; p = p->parent)
    if (p->unicode && p->unicode->common) return p->unicode;
  return NULL;
}

static bool copy(struct tsl__unicode_cache *common, struct tsl__unicode_cache *own,
                 const answer *q) {
  tsl__mutex_lock(&common->lock);
  const answer *a = look(common, q);
  bool copied = a && keep(own, a);
  tsl__mutex_unlock(&common->lock);
  return copied;
}

/* Others need not ask it; without memory they do. */
static void offer(struct tsl__unicode_cache *common, const answer *a) {
  tsl__mutex_lock(&common->lock);
  if (!look(common, a) && common->bytes + bytes_of(a) <= COMMON_BYTES && keep(common, a))
    common->bytes += bytes_of(a);
  tsl__mutex_unlock(&common->lock);
}

bool tsl__unicode_share(tsl__exprs *x) {
  struct tsl__unicode_cache *cache = cache_of(x);
  return cache && (cache->common = tsl__mutex_init(&cache->lock));
}

static tsl_status ask(tsl__exprs *x, answer q, uint32_t steps, const answer **out) {
  struct tsl__unicode_cache *cache = cache_of(x), *common = common_of(x);
  if (!cache) return TSL_ERR_NO_MEMORY;
  tsl__exprs_work(x, 1 + cache->answers.n / 16);
  if ((*out = look(cache, &q)) != NULL) return TSL_OK;
  tsl__exprs_work(x, (uint64_t)steps * TSL__WORK);
  if (tsl__exprs_status(x) != TSL_OK) return tsl__exprs_status(x);
  bool known = common && copy(common, cache, &q);
  tsl__until until = tsl__exprs_until(x);
  tsl_status status = known ? TSL_OK : learn(cache, &until, q);
  if (status == TSL_ERR_CANCELLED) tsl__exprs_fail(x, status, tsl__why_over(&until));
  if (status != TSL_OK) return status;
  *out = &cache->answers.at[cache->answers.n - 1];
  if (common && !known) offer(common, *out);
  return TSL_OK;
}

tsl_status tsl__unicode_property(tsl__exprs *x, tsl__charset *s, const char *name, size_t length) {
  const answer *known;
  if (!length) return TSL_ERR_SYNTAX;
  tsl_status status = ask(x,
                          (answer){.hash = tsl__hash(name, length),
                                   .question = (void *)(uintptr_t)name,
                                   .length = length},
                          PROPERTY_STEPS, &known);
  if (status != TSL_OK) return status;
  return tsl__charset_add_set(&x->alloc, s, &known->set) ? TSL_OK : TSL_ERR_NO_MEMORY;
}

bool tsl__unicode_fold(tsl__exprs *x, tsl__charset *s) {
  const answer *known;
  if (tsl__charset_is_ascii(s)) return tsl__charset_fold(&x->alloc, s);
  size_t length = s->ranges.n * sizeof *s->ranges.at;
  tsl_status status = ask(x,
                          (answer){.hash = tsl__hash(s->ranges.at, length),
                                   .fold = true,
                                   .question = s->ranges.at,
                                   .length = length},
                          FOLD_STEPS, &known);
  if (status != TSL_OK) return false;
  s->ranges.n = 0;
  return tsl__charset_add_set(&x->alloc, s, &known->set);
}
