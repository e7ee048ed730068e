/* marks.c - captures and counts of tokens in a grammar that is no tree of formats.
 *
 * Problem   A Lark grammar says name[capture] and name[max_tokens=9]. The parser (parse.c) and the
 *           quotas (runtime/matcher/quota.h) know captured rules and counted frames, and nothing of
 *           the notation.
 * Idea      The front end hands over each expression that is such a part, and gets back a captured
 *           rule, as tags have it. The `begin` of that rule is the name of the capture. A rule for
 *           the empty text behind it keeps it from being a tail call.
 * Example   start: name "!"    name[capture]: /[a-z]+/    "ab!" has the capture name, "ab"
 * Steps     name[capture] is read first. The front end hands over [a-z]+, and gets back CALL m
 *           NOTHING. There m is a rule with the body [a-z]+ and the first capture. `start` is then
 *           that, and "!" behind it. The parser sees m's frame begin at byte 0 and end at byte 2.
 * Nested    A capture may stand in another. Its text belongs to both.
 * Cost      That of the frames.
 * Tested by tests/tags/test_marks.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/tags/lower.h"

#include <stdio.h>

struct tsl__marks {
  tsl__captures *captures;
  tsl__exprs *x;
  TSL__VEC(tsl__counted) counted;
  TSL__VEC(tsl__string) ends; /* of captures: a reader holds back what may be one */
};

static void free_marks(void *ctx) {
  tsl__marks *m = ctx;
  tsl__vec_free(tsl__exprs_allocator(m->x), &m->counted);
  tsl__vec_free(tsl__exprs_allocator(m->x), &m->ends);
}

tsl__marks *tsl__marks_new(tsl__exprs *x, const tsl_vocab *vocab) {
  tsl__marks *m = tsl__exprs_alloc(x, sizeof *m);
  if (!m) return NULL;
  *m = (tsl__marks){.x = x, .captures = tsl__captures_new(x, vocab)};
  return m->captures && tsl__exprs_own(x, m, free_marks) ? m : NULL;
}

/* A frame that no other one is equal to: something empty at its end is its own. */
static tsl__expr count(tsl__marks *m, tsl__expr body, uint32_t max_tokens) {
  tsl__captures *c = m->captures;
  char name[32];
  snprintf(name, sizeof name, "counted#%zu", m->counted.n);
  tsl__expr own = tsl__lower_capture_rule(c, TSL__CAPTURE_NONE, TSL__EPS, name,
                                          (uint32_t)strlen(name), 0, NULL, 0);
  if (own == TSL__NONE || !tsl__vec_push(c->alloc, &c->quotas, own))
    return tsl__expr_no_memory(m->x);
  tsl__expr rule = tsl__lower_capture_rule(c, TSL__CAPTURE_NONE, tsl__expr_seq(m->x, body, own),
                                           NULL, 0, 0, NULL, 0);
  tsl__counted counted = {rule, max_tokens, NULL};
  return tsl__vec_push(c->alloc, &m->counted, counted) ? rule : tsl__expr_no_memory(m->x);
}

static bool keep_end(tsl__marks *m, tsl__string end) {
  char *copy = tsl__exprs_alloc(m->x, end.length + 1);
  if (!copy) return false;
  tsl__string kept = {memcpy(copy, end.at, end.length), end.length};
  return tsl__vec_push(m->captures->alloc, &m->ends, kept);
}

tsl__expr tsl__marks_add(tsl__marks *m, tsl__string name, tsl__string end, uint32_t max_tokens,
                         tsl__expr body) {
  tsl__expr e = max_tokens == TSL__INF ? body : count(m, body, max_tokens);
  if (name.at && end.at && !keep_end(m, end)) return tsl__expr_no_memory(m->x);
  if (name.at)
    e = tsl__lower_capture_rule(m->captures, TSL__CAPTURE_TAG, e, name.at, name.length, 0,
                                end.at ? &end : NULL, end.at != NULL);
  return e == TSL__NONE ? e : tsl__expr_seq(m->x, e, m->captures->nothing);
}

tsl__tagged *tsl__marks_finish(tsl__marks *m) {
  tsl__tagged *t = tsl__exprs_alloc(m->x, sizeof *t);
  if (!t) return NULL;
  *t = (tsl__tagged){.captures = m->captures,
                     .counted = m->counted.at,
                     .counted_count = (uint32_t)m->counted.n,
                     .held = m->ends.at,
                     .held_count = (uint32_t)m->ends.n,
                     .whole = true};
  for (uint32_t i = 0; i < t->held_count; i++) {
    tsl__bytes_add(&t->held_first, (uint8_t)t->held[i].at[0]);
    if (t->held[i].length > t->held_longest) t->held_longest = t->held[i].length;
  }
  return t;
}
