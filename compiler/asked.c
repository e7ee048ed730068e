/* asked.c - what PCRE2 says about Unicode, remembered with a layer of expressions and counted as steps.
 *
 * Problem   To ask for a property takes milliseconds. A text of 100 KB can ask 20,000 times: minutes in which no step is counted and no deadline seen.
 * Idea      Each question is asked once for all patterns of a grammar, and counts as many steps as take about that long. So a grammar with thousands of
 *           patterns that have \p{L} is fast, and one with thousands of different questions reaches max_steps.
 * Cost      Remembered answers are looked through one by one; that is counted too.
 * Tested by tests/test_limits.c (questions)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/asked.h"

#include "compiler/expr_node.h"

#define PROPERTY_STEPS 4096u
#define FOLD_STEPS 512u

typedef struct answer {
  uint64_t hash; /* of the question: a property's name, or the ranges to be folded */
  bool fold;
  void *question;
  size_t length; /* of the question, bytes */
  tsl__charset set;
} answer;

struct tsl__asked {
  const tsl_allocator *alloc;
  TSL__VEC(answer) answers;
};

static void forget(void *ctx) {
  struct tsl__asked *asked = ctx;
  for (size_t i = 0; i < asked->answers.n; i++) {
    answer *a = &asked->answers.at[i];
    tsl__free(asked->alloc, a->question, a->length);
    tsl__charset_free(asked->alloc, &a->set);
  }
  tsl__vec_free(asked->alloc, &asked->answers);
  tsl__free(asked->alloc, asked, sizeof *asked);
}

/* What x remembers; NULL when out of memory. */
static struct tsl__asked *asked_of(tsl__exprs *x) {
  if (x->asked) return x->asked;
  struct tsl__asked *asked = tsl__alloc_zero(&x->alloc, sizeof *asked);
  if (!asked) return NULL;
  asked->alloc = &x->alloc;
  if (!tsl__exprs_own(x, asked, forget)) return NULL;
  return x->asked = asked;
}

static const answer *look(const struct tsl__asked *asked, const answer *q) {
  for (size_t i = 0; i < asked->answers.n; i++) {
    const answer *a = &asked->answers.at[i];
    if (a->hash == q->hash && a->fold == q->fold && a->length == q->length && !memcmp(a->question, q->question, q->length)) return a;
  }
  return NULL;
}

/* Ask PCRE2 and remember; q's question is the caller's and is copied. */
static tsl_status learn(struct tsl__asked *asked, answer q, const answer **out) {
  const tsl_allocator *a = asked->alloc;
  tsl_status status = TSL_OK;
  if (!q.fold) status = tsl__charset_add_property(a, &q.set, q.question, q.length);
  else if (!tsl__charset_add_set(a, &q.set, &(tsl__charset){.ranges = {q.question, q.length / sizeof(tsl__range), 0}}) || !tsl__charset_fold(a, &q.set))
    status = TSL_ERR_NO_MEMORY;
  void *copy = status == TSL_OK ? tsl__alloc(a, q.length) : NULL;
  if (copy) q.question = memcpy(copy, q.question, q.length);
  if (copy && tsl__vec_push(a, &asked->answers, q)) {
    *out = &asked->answers.at[asked->answers.n - 1];
    return TSL_OK;
  }
  tsl__free(a, copy, q.length);
  tsl__charset_free(a, &q.set);
  return status != TSL_OK ? status : TSL_ERR_NO_MEMORY;
}

static tsl_status ask(tsl__exprs *x, answer q, uint32_t steps, const answer **out) {
  struct tsl__asked *asked = asked_of(x);
  if (!asked) return TSL_ERR_NO_MEMORY;
  tsl__exprs_work(x, 1 + asked->answers.n / 16);
  if ((*out = look(asked, &q)) != NULL) return TSL_OK;
  tsl__exprs_work(x, (uint64_t)steps * TSL__WORK);
  if (tsl__exprs_status(x) != TSL_OK) return tsl__exprs_status(x);
  return learn(asked, q, out);
}

tsl_status tsl__ask_property(tsl__exprs *x, tsl__charset *s, const char *name, size_t length) {
  const answer *known;
  if (!length) return TSL_ERR_SYNTAX;
  tsl_status status = ask(x, (answer){.hash = tsl__hash(name, length), .question = (void *)(uintptr_t)name, .length = length}, PROPERTY_STEPS, &known);
  if (status != TSL_OK) return status;
  return tsl__charset_add_set(&x->alloc, s, &known->set) ? TSL_OK : TSL_ERR_NO_MEMORY;
}

bool tsl__ask_fold(tsl__exprs *x, tsl__charset *s) {
  const answer *known;
  if (tsl__charset_is_ascii(s)) return tsl__charset_fold(&x->alloc, s);
  size_t length = s->ranges.n * sizeof *s->ranges.at;
  tsl_status status = ask(x, (answer){.hash = tsl__hash(s->ranges.at, length), .fold = true, .question = s->ranges.at, .length = length}, FOLD_STEPS, &known);
  if (status != TSL_OK) return false;
  s->ranges.n = 0;
  return tsl__charset_add_set(&x->alloc, s, &known->set);
}
