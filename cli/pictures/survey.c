/* survey.c - how many tokens are allowed where. See survey.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/pictures/survey.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/generation.h"

#define BAR 40   /* characters of the longest bar */
#define SHOWN 60 /* bytes of an expression */

/* ---- counting -------------------------------------------------------------------------------- */

static void grow(survey *v, uint32_t state) {
  if (state < v->count) return;
  uint32_t count = state * 2 + 64;
  picture_state *states = cli_allocate(count, sizeof *states);
  if (v->count) memcpy(states, v->states, v->count * sizeof *states);
  free(v->states);
  v->states = states;
  v->count = count;
}

typedef struct position {
  survey *v;
  uint32_t allowed;
} position;

static void count_state(void *ctx, const tsl_frame *f) {
  position *p = ctx;
  if (f->depth) return;
  grow(p->v, f->state);
  picture_state *s = &p->v->states[f->state];
  if (!s->visits || p->allowed < s->least) s->least = p->allowed;
  if (p->allowed > s->most) s->most = p->allowed;
  s->visits++;
}

static bool count_position(survey *v, const tsl_matcher *m, size_t allowed) {
  position p = {v, (uint32_t)allowed};
  uint32_t total, size = 0;
  while (allowed >> (size + 1)) size++;
  v->sizes[size < SURVEY_SIZES ? size : SURVEY_SIZES - 1]++;
  v->positions++;
  return tsl_matcher_frames(m, 0, count_state, &p, &total) == TSL_OK;
}

/* ---- texts ----------------------------------------------------------------------------------- */

bool survey_text(survey *v, const source *s, const char *text, size_t length) {
  tsl_matcher *m = NULL;
  uint32_t *mask = cli_allocate(tsl_vocab_mask_words(s->vocab), sizeof *mask);
  tsl_status status = tsl_matcher_new(s->grammar, NULL, &m);
  for (size_t i = 0; i <= length && status == TSL_OK; i++) {
    status = tsl_matcher_mask(m, mask);
    if (status == TSL_OK &&
        !count_position(v, m, tsl_mask_count(mask, tsl_vocab_logits_width(s->vocab))))
      status = TSL_ERR_NO_MEMORY;
    if (status == TSL_OK && i < length) status = tsl_matcher_accept_bytes(m, text + i, 1, NULL);
  }
  free(mask);
  tsl_matcher_free(m);
  return status == TSL_OK || status == TSL_REJECTED ||
         (cli_complain("counting masks: %s", tsl_status_name(status)), false);
}

static void watch(void *ctx, generation *g) {
  count_position(ctx, g->matcher, tsl_mask_count(g->mask, tsl_vocab_logits_width(g->vocab)));
}

bool survey_sample(survey *v, const source *s, uint64_t n) {
  generation_settings how = generation_defaults();
  generation g;
  how.watch = watch;
  how.watch_ctx = v;
  if (!generation_open(&g, s, &how)) return false;
  generation_result result = GENERATION_DONE;
  for (uint64_t i = 0; i < n && result != GENERATION_BAD; i++) {
    generation_step step;
    generation_restart(&g);
    do result = generation_next(&g, &step);
    while (result == GENERATION_MORE);
  }
  generation_close(&g);
  return result != GENERATION_BAD;
}

/* ---- printing -------------------------------------------------------------------------------- */

static void print_sizes(const survey *v) {
  uint64_t most = 1;
  for (int i = 0; i < SURVEY_SIZES; i++)
    if (v->sizes[i] > most) most = v->sizes[i];
  for (int i = 0; i < SURVEY_SIZES; i++) {
    if (!v->sizes[i]) continue;
    printf("  %8lu to %8lu  %8" PRIu64 "  ", i ? 1ul << i : 0ul, (2ul << i) - 1, v->sizes[i]);
    for (uint64_t k = 0; k < (v->sizes[i] * BAR + most - 1) / most; k++) putchar('#');
    putchar('\n');
  }
}

typedef struct state_lister {
  const survey *v;
  /* number of the first state that was listed; those before it are shared by all grammars of the
   * vocabulary */
  uint32_t first;
} state_lister;

static void print_visits(const survey *v, uint32_t state, const char *expression) {
  if (state >= v->count || !v->states[state].visits) return;
  const picture_state *k = &v->states[state];
  printf("  state %-6" PRIu32 " %8" PRIu32 " times  %6" PRIu32 " to %6" PRIu32 " tokens  %.*s\n",
         state, k->visits, k->least, k->most, SHOWN, expression);
}

static void print_state(void *ctx, const tsl_state *s) {
  state_lister *l = ctx;
  if (s->number < l->first) l->first = s->number;
  print_visits(l->v, s->number, s->expression);
}

bool survey_print(const survey *v, const tsl_grammar *grammar) {
  state_lister l = {v, UINT32_MAX};
  printf("  tokens allowed          positions (of %" PRIu64 ")\n", v->positions);
  print_sizes(v);
  if (tsl_grammar_states(grammar, print_state, &l) != TSL_OK)
    return cli_complain("listing states: out of memory"), false;
  for (uint32_t i = 0; i < v->count && i < l.first; i++)
    print_visits(v, i, "(shared by all grammars)");
  return true;
}

void survey_free(survey *v) {
  free(v->states);
  *v = (survey){0};
}
