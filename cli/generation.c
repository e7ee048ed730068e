/* generation.c - writing a text under a grammar. See generation.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/generation.h"

#include <stdlib.h>
#include <string.h>

/* ---- options --------------------------------------------------------------------------------- */

generation_settings generation_defaults(void) {
  return (generation_settings){.sampler = {.temperature = 1, .top_p = 1}, .wind_bias = 8};
}

static bool set_max(void *to, const char *value) {
  return cli_number(value, 1, 100000000, &((generation_settings *)to)->max_tokens);
}
static bool set_spelling(void *to, const char *value) {
  return (void)value, ((generation_settings *)to)->any_spelling = true;
}

static bool set_wind_down(void *to, const char *value) {
  return cli_number(value, 0, 100000000, &((generation_settings *)to)->wind_down);
}
static bool set_wind_bias(void *to, const char *value) {
  return cli_real(value, 0, 1000, &((generation_settings *)to)->wind_bias);
}

static const cli_option table[] = {
    {"--max-tokens", "N",
     "tokens of a text at most, 1 to 100000000; the text is closed in time (default: 256 more "
     "than the shortest text has bytes)",
     set_max},
    {"--wind-down", "N",
     "when N tokens are left, tokens that close what is open become more likely, outside of "
     "strings; 0 = never (default)",
     set_wind_down},
    {"--wind-bias", "B",
     "with --wind-down: up to B is added to their logits, 0 to 1000 (default 8)", set_wind_bias},
    {"--any-spelling", NULL,
     "schema: exponents, \\uXXXX and long numbers too (default: only where nothing else is "
     "allowed)",
     set_spelling},
};

int generation_source(source *s, const generation_settings *settings) {
  if (settings->any_spelling) s->schema.spelling = TSL_SPELLING_ANY;
  return source_open(s);
}

cli_options generation_options(generation_settings *settings) {
  return (cli_options){table, sizeof table / sizeof *table, settings};
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static uint64_t shortest(tsl_matcher *m) {
  uint64_t bytes;
  return tsl_matcher_shortest_completion(m, &bytes) == TSL_OK ? bytes : UINT64_MAX;
}

static uint64_t default_max(tsl_matcher *m) {
  uint64_t bytes = shortest(m);
  return GENERATION_ROOM + (bytes < UINT32_MAX ? bytes : 0);
}

/* Can the text be completed with that many more tokens? The completion that is looked at is that of
 * the fewest bytes. */
static bool fits(generation *g, uint64_t left) {
  size_t count;
  /* looked up at every step, and the tokens of a long completion take long to find */
  if (g->in_bytes && shortest(g->matcher) <= left) return true;
  return tsl_budget_completion(g->budget, g->matcher, NULL, 0, &count) == TSL_OK && count <= left;
}

static bool has_every_byte(const tsl_vocab *vocab) {
  bool there[256] = {false};
  unsigned missing = 256;
  for (tsl_token t = 0; t < tsl_vocab_size(vocab); t++) {
    size_t n;
    const uint8_t *at = tsl_vocab_bytes(vocab, t, &n);
    if (n != 1 || there[*at] || tsl_vocab_is_special(vocab, t)) continue;
    there[*at] = true;
    missing--;
  }
  return !missing;
}

bool generation_open(generation *g, const source *s, const generation_settings *settings) {
  *g = (generation){.settings = settings, .vocab = s->vocab};
  size_t words = tsl_vocab_mask_words(s->vocab);
  g->mask = cli_allocate(words, sizeof *g->mask);
  g->plain = cli_allocate(words, sizeof *g->plain);
  g->scratch = cli_allocate(words, sizeof *g->scratch);
  g->in_bytes = (s->kind == SOURCE_SCHEMA || s->kind == SOURCE_REGEX) && has_every_byte(s->vocab);
  g->json = s->kind == SOURCE_SCHEMA && !settings->any_spelling;
  size_t width = tsl_vocab_logits_width(s->vocab);
  if (!settings->real) g->own_logits = cli_allocate(width, sizeof *g->own_logits);
  if (settings->wind_down) g->own_biased = cli_allocate(width, sizeof *g->own_biased);
  if (!settings->real) g->model = settings->model ? settings->model : ngram_new(s->vocab);
  tsl_status status = g->model || settings->real ? tsl_matcher_new(s->grammar, NULL, &g->matcher)
                                                 : TSL_ERR_NO_MEMORY;
  if (status == TSL_OK) status = tsl_budget_new(s->grammar, NULL, &g->budget);
  if (status == TSL_OK) status = tsl_sampler_new(&settings->sampler, NULL, &g->sampler);
  if (g->sampler) tsl_sampler_set_matcher(g->sampler, g->matcher);
  if (status == TSL_ERR_ARGUMENT)
    cli_complain("the options of the sampler do not go together: a stage that is on is not among "
                 "--stages, or a token of --bias is there twice");
  else if (status != TSL_OK)
    cli_complain("cannot start a generation: %s", tsl_status_name(status));
  if (status != TSL_OK) {
    generation_close(g);
    return false;
  }
  generation_restart(g);
  g->max_tokens = settings->max_tokens ? settings->max_tokens : default_max(g->matcher);
  g->tight = !fits(g, g->max_tokens) &&
             tsl_budget_start(g->budget, g->matcher, g->max_tokens, NULL) == TSL_OK;
  return true;
}

void generation_close(generation *g) {
  tsl_sampler_free(g->sampler);
  tsl_budget_free(g->budget);
  tsl_matcher_free(g->matcher);
  if (g->settings && !g->settings->model) ngram_free(g->model);
  free(g->mask);
  free(g->plain);
  free(g->scratch);
  free(g->own_logits);
  free(g->own_biased);
  free(g->closing);
  cli_text_free(&g->text);
  *g = (generation){0};
}

void generation_restart(generation *g) {
  tsl_matcher_reset(g->matcher);
  tsl_sampler_restart(g->sampler);
  if (g->settings->real)
    g->settings->real->restart(g->settings->real->ctx);
  else
    g->state = ngram_start(g->model);
  g->forced_count = g->forced_next = g->tail_count = 0;
  g->forced_tokens = 0;
  g->place = (plain_state){0};
  cli_text_free(&g->text);
  g->tokens = 0;
  free(g->closing);
  g->closing = NULL;
  g->closing_count = g->closing_next = 0;
}

/* With the place in the text that there is so far. */
static generation_result failed(const generation *g, const char *what, tsl_status status) {
  cli_complain("%s: %s at byte offset %zu%s", what, tsl_status_name(status), g->text.length,
               cli_limit_advice(status));
  return GENERATION_BAD;
}

/* The text may not end here, and the vocabulary has no token that may follow. */
static generation_result nothing_fits(const generation *g) {
  char *shown = cli_quoted(g->text.at, g->text.length, 200);
  cli_complain("the vocabulary has no token that may come next, and the text is not complete: %s",
               shown);
  free(shown);
  return GENERATION_BAD;
}

/* ---- closing in time ------------------------------------------------------------------------- */

/* The tokens of a short completion go to g->closing. False if there is none. */
static bool plan_closing(generation *g) {
  size_t count;
  free(g->closing);
  g->closing = NULL;
  g->closing_count = g->closing_next = 0;
  if (tsl_budget_completion(g->budget, g->matcher, NULL, 0, &count) != TSL_OK) return false;
  g->closing = cli_allocate(count, sizeof *g->closing);
  if (tsl_budget_completion(g->budget, g->matcher, g->closing, count, &count) != TSL_OK)
    return false;
  g->closing_count = count;
  return true;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The model failed, not the grammar. */
static generation_result model_failed(const generation *g) {
  const generation_model *m = g->settings->real;
  cli_complain("the model: %s", m->error(m->ctx));
  return GENERATION_BAD;
}

static void note_tail(generation *g, tsl_token token) {
  if (g->tail_count == GENERATION_TAIL)
    memmove(g->tail, g->tail + 1, --g->tail_count * sizeof *g->tail);
  g->tail[g->tail_count++] = token;
}

static generation_result take(generation *g, tsl_token token) {
  size_t n;
  const uint8_t *bytes = tsl_vocab_bytes(g->vocab, token, &n);
  const generation_model *m = g->settings->real;
  if (m && !m->read(m->ctx, token)) return model_failed(g);
  if (tsl_vocab_is_special(g->vocab, token)) n = 0; /* special tokens are not text */
  for (size_t i = 0; !m && i < n; i++) ngram_read(g->model, &g->state, bytes[i]);
  note_tail(g, token);
  plain_read(&g->place, bytes, n);
  cli_text_add(&g->text, bytes, n);
  g->tokens++;
  if (tsl_sampler_accept(g->sampler, token) != TSL_OK)
    return failed(g, "telling the sampler", TSL_ERR_NO_MEMORY);
  return GENERATION_MORE;
}

/* A token that is not drawn: its step is a certain draw. `what` it is, for the error. */
static generation_result take_certain(generation *g, generation_step *step, tsl_token token,
                                      const char *what) {
  tsl_status status = tsl_matcher_accept(g->matcher, token);
  if (status != TSL_OK) return failed(g, what, status);
  step->draw.token = token;
  step->draw.probability = 1;
  step->draw.kept = 1;
  return take(g, token);
}

static generation_result take_closing(generation *g, generation_step *step) {
  step->closing = true;
  return take_certain(g, step, g->closing[g->closing_next++], "a token of the shortest completion");
}

static bool mask_is_empty(const generation *g) {
  return tsl_mask_count(g->mask, tsl_vocab_logits_width(g->vocab)) == 0;
}

/* The logits to draw from: near the end, if that is wanted, with closing made likelier. */
static tsl_status wind_down(generation *g) {
  uint64_t left = g->max_tokens - g->tokens;
  g->biased = g->logits;
  if (left > g->settings->wind_down) return TSL_OK;
  memcpy(g->own_biased, g->logits, tsl_vocab_logits_width(g->vocab) * sizeof *g->biased);
  g->biased = g->own_biased;
  return tsl_budget_wind_down(g->budget, g->matcher, left, g->settings->wind_down,
                              g->settings->wind_bias, g->own_biased);
}

/* Draw from g->plain and accept. */
static tsl_status draw_once(generation *g, tsl_draw *d) {
  tsl_status status =
      tsl_sampler_draw(g->sampler, g->biased, tsl_vocab_logits_width(g->vocab), g->plain, d);
  return status == TSL_OK ? tsl_matcher_accept(g->matcher, d->token) : status;
}

/* After a draw: does it lead a number astray? Then it is rolled back and out of g->plain. */
static bool astray(generation *g, tsl_token token) {
  size_t n, width = tsl_vocab_logits_width(g->vocab);
  const uint8_t *bytes = tsl_vocab_bytes(g->vocab, token, &n);
  plain_state after = g->place;
  if (tsl_vocab_is_special(g->vocab, token) || tsl_mask_count(g->plain, width) <= 1) return false;
  plain_read(&after, bytes, n);
  if (plain_can_end(&after, g->matcher) || tsl_matcher_rollback(g->matcher, 1) != TSL_OK)
    return false;
  g->plain[token >> 5] &= ~(1u << (token & 31));
  return true;
}

/* Of g->plain only the tokens after which the text can be completed in time; all, where there are
 * none (a person chose the tokens before). */
static tsl_status keep_in_time(generation *g) {
  if (g->tokens >= g->max_tokens) return TSL_OK;
  tsl_status status = tsl_budget_mask(g->budget, g->matcher, g->max_tokens - g->tokens, g->scratch);
  if (status == TSL_OK && tsl_mask_count(g->scratch, tsl_vocab_logits_width(g->vocab)))
    memcpy(g->plain, g->scratch, tsl_vocab_mask_words(g->vocab) * sizeof *g->plain);
  return status;
}

/* What may be drawn here, and the model's logits, for g->mask. */
static tsl_status score(generation *g) {
  memcpy(g->plain, g->mask, tsl_vocab_mask_words(g->vocab) * sizeof *g->mask);
  tsl_status status = g->tight ? keep_in_time(g) : TSL_OK;
  if (status != TSL_OK) return status;
  if (g->json) plain_filter(&g->place, g->vocab, g->matcher, g->plain, g->scratch);
  const generation_model *m = g->settings->real;
  if (m) {
    g->logits = m->logits(m->ctx);
    return g->logits ? TSL_OK : TSL_ERR_LOGITS;
  }
  ngram_logits(g->model, &g->state, g->settings->score_all ? NULL : g->plain, g->own_logits);
  g->logits = g->own_logits;
  return TSL_OK;
}

/* Draw and accept; MORE, or what to return. */
static generation_result draw(generation *g, generation_step *step) {
  size_t width = tsl_vocab_logits_width(g->vocab);
  uint32_t allowed = step->draw.allowed;
  tsl_status status =
      g->settings->score_all ? tsl_matcher_next_bytes(g->matcher, step->expected) : TSL_OK;
  if (status != TSL_OK) return failed(g, "what may come next", status);
  status = score(g);
  if (status == TSL_OK) status = wind_down(g);
  if (status == TSL_OK) status = draw_once(g, &step->draw);
  while (status == TSL_OK && g->json && astray(g, step->draw.token))
    status = draw_once(g, &step->draw);
  if (status == TSL_OK && g->settings->score_all)
    status = tsl_step_measure(g->logits, width, g->mask, step->draw.token, GENERATION_TOP,
                              step->top, NULL, &step->want);
  if (status == TSL_ERR_LOGITS && g->settings->real) {
    const generation_model *m = g->settings->real;
    if (*m->error(m->ctx)) return model_failed(g);
  }
  if (status != TSL_OK) return failed(g, "drawing a token", status);
  step->draw.allowed = allowed;
  return GENERATION_MORE;
}

/* The mask of this position, in g->mask. */
static tsl_status find_mask(generation *g, double *mask_us) {
  double start = cli_now();
  tsl_status status = tsl_matcher_mask(g->matcher, g->mask);
  *mask_us = cli_now() - start;
  return status;
}

tsl_status generation_look(generation *g, bool scored, double *mask_us) {
  tsl_status status = find_mask(g, mask_us);
  if (status == TSL_OK && scored) status = score(g);
  return status;
}

tsl_status generation_write(generation *g, tsl_token token) {
  tsl_status status = tsl_matcher_accept(g->matcher, token);
  if (status == TSL_OK && !tsl_matcher_is_terminated(g->matcher)) take(g, token);
  return status;
}

/* Are there forced tokens to be written? */
static bool find_forced(generation *g) {
  size_t retract;
  if (g->forced_next < g->forced_count) return true;
  g->forced_count = g->forced_next = 0;
  if (!g->settings->forced || g->closing_count) return false;
  tsl_status status = tsl_matcher_draft_forced(g->matcher, g->tail, g->tail_count, 0, g->forced,
                                               GENERATION_FORCED, &g->forced_count, &retract);
  if (status != TSL_OK || g->tokens + g->forced_count > g->max_tokens) g->forced_count = 0;
  return g->forced_count > 0;
}

/* Write the next forced token. */
static generation_result take_forced(generation *g, generation_step *step) {
  step->forced = true;
  step->draw.allowed = 1;
  g->forced_tokens++;
  return take_certain(g, step, g->forced[g->forced_next++], "a forced token");
}

/* The one token of g->mask, where it has no other and the token is part of the text. */
static tsl_token only_token(const generation *g, uint32_t allowed) {
  size_t words = tsl_vocab_mask_words(g->vocab), i = 0;
  if (allowed != 1 || !g->settings->forced) return TSL_NO_TOKEN;
  while (i + 1 < words && !g->mask[i]) i++;
  tsl_token token = (tsl_token)(i * 32);
  for (uint32_t bits = g->mask[i]; bits > 1; bits >>= 1) token++;
  return tsl_vocab_is_eog(g->vocab, token) ? TSL_NO_TOKEN : token;
}

generation_result generation_next(generation *g, generation_step *step) {
  *step = (generation_step){0};
  bool closing = g->closing_count > 0;
  if (closing && g->closing_next == g->closing_count) return GENERATION_DONE;
  if (!closing && g->tokens < g->max_tokens && find_forced(g)) return take_forced(g, step);
  if (g->tokens >= g->max_tokens)
    return tsl_matcher_is_complete(g->matcher) ? GENERATION_DONE : GENERATION_CUT;
  tsl_status status = find_mask(g, &step->mask_us);
  if (status != TSL_OK) return failed(g, "computing a mask", status);
  step->draw.allowed = (uint32_t)tsl_mask_count(g->mask, tsl_vocab_logits_width(g->vocab));
  if (g->settings->watch) g->settings->watch(g->settings->watch_ctx, g);
  if (closing) return take_closing(g, step);
  if (mask_is_empty(g))
    return tsl_matcher_is_complete(g->matcher) ? GENERATION_DONE : nothing_fits(g);
  tsl_token only = only_token(g, step->draw.allowed);
  if (only != TSL_NO_TOKEN) {
    g->forced[0] = only;
    g->forced_count = 1;
    g->forced_next = 0;
    return take_forced(g, step);
  }
  uint64_t left = g->max_tokens - g->tokens;
  generation_result result = draw(g, step);
  if (result != GENERATION_MORE) return result;
  if (tsl_matcher_is_terminated(g->matcher)) return GENERATION_DONE;
  if (g->tight || fits(g, left - 1)) return take(g, step->draw.token);
  status = tsl_matcher_rollback(g->matcher, 1);
  if (status != TSL_OK) return failed(g, "taking a token back", status);
  if (tsl_matcher_is_complete(g->matcher)) return GENERATION_DONE;
  if (plan_closing(g) && g->closing_count > 0) return take_closing(g, step);
  /* it cannot be closed: write on, it will be cut */
  status = tsl_matcher_accept(g->matcher, step->draw.token);
  return status == TSL_OK ? take(g, step->draw.token)
                          : failed(g, "accepting a token again", status);
}
