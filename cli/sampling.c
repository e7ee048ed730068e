/* sampling.c - the options of commands that draw tokens. See sampling.h.
 *
 * Each option writes one field of tsl_sampler_options, so that the command line can say what the
 * library can. Numbers are checked here against the bounds that the header gives. What only several
 * options together can break, such as a stage that is on and not listed, the library refuses.
 *
 * Example   --stages temperature,top-k --top-k 3 --temperature 0.5 writes two stages, and the two
 *           fields that switch them on.
 * Tested by tests/cli/test_cli_sample.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/sampling.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

static const char *const stage_names[SAMPLING_STAGES + 1] = {
    "",      "bias",  "penalties", "dry",     "temperature", "top-n-sigma", "top-k",
    "top-p", "min-p", "typical-p", "epsilon", "eta",         "xtc",         "mirostat"};

const char *sampling_stage_name(tsl_stage stage) {
  return stage >= 1 && (int)stage <= SAMPLING_STAGES ? stage_names[stage] : "";
}

sampling sampling_defaults(void) { return (sampling){.o = {.temperature = 1, .top_p = 1}}; }

/* ---- values ---------------------------------------------------------------------------------- */

#define REAL(name, low, high)                                     \
  static bool set_##name(void *to, const char *value) {           \
    ((sampling *)to)->others++;                                   \
    return cli_real(value, low, high, &((sampling *)to)->o.name); \
  }
#define COUNT(name)                                          \
  static bool set_##name(void *to, const char *value) {      \
    uint64_t n;                                              \
    ((sampling *)to)->others++;                              \
    if (!cli_number(value, 0, UINT32_MAX, &n)) return false; \
    ((sampling *)to)->o.name = (uint32_t)n;                  \
    return true;                                             \
  }

COUNT(top_k)
REAL(top_p, 0, 1)
REAL(min_p, 0, 1)
REAL(typical_p, 0, 1)
REAL(top_n_sigma, 0, 1e6)
REAL(epsilon, 0, 1)
REAL(eta, 0, 1)
REAL(xtc_probability, 0, 1)
REAL(xtc_threshold, 0, 1)
REAL(mirostat_tau, 0, 1e6)
REAL(mirostat_eta, 0, 1e6)
REAL(dynamic_range, 0, 1e6)
REAL(dynamic_exponent, 0, 1e6)
REAL(repetition_penalty, 0, 1e6)
REAL(frequency_penalty, -1e6, 1e6)
REAL(presence_penalty, -1e6, 1e6)
COUNT(penalty_window)
REAL(dry_multiplier, 0, 1e6)
REAL(dry_base, 0, 1e6)
COUNT(dry_allowed)
COUNT(dry_window)
COUNT(no_repeat_ngram)
COUNT(min_tokens)
COUNT(loop_longest)

static bool set_temperature(void *to, const char *value) {
  return cli_real(value, 0, 1e6, &((sampling *)to)->o.temperature);
}
static bool set_seed(void *to, const char *value) {
  return cli_number(value, 0, UINT64_MAX, &((sampling *)to)->o.seed);
}
static bool set_loop_repeats(void *to, const char *value) {
  uint64_t n;
  ((sampling *)to)->others++;
  if (!cli_number(value, 0, UINT32_MAX, &n)) return false;
  if (n == 1) return cli_refuse("every text is one copy of itself: 0, or 2 and more");
  ((sampling *)to)->o.loop_repeats = (uint32_t)n;
  return true;
}
static bool set_structure(void *to, const char *value) {
  ((sampling *)to)->others++;
  return (void)value, ((sampling *)to)->o.penalise_structure = true;
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* One id, up to a comma or the end; *text moves behind it. */
static bool read_id(const char **text, tsl_token *out) {
  char *end;
  unsigned long long n = strtoull(*text, &end, 10);
  if (**text < '0' || **text > '9' || n >= TSL_MAX_VOCAB) return false;
  *out = (tsl_token)n;
  *text = end;
  return true;
}

bool sampling_read_ids(const char *text, sampling_ids *out) {
  out->n = 0;
  while (*text) {
    if (out->n == SAMPLING_LIST) return cli_refuse("more than %u ids", SAMPLING_LIST);
    if (!read_id(&text, &out->at[out->n++]) || (*text && *text != ','))
      return cli_refuse("ids are whole numbers below %u with commas between them", TSL_MAX_VOCAB);
    text += *text == ',';
  }
  return out->n > 0 || cli_refuse("no id");
}

static bool set_allow(void *to, const char *v) {
  ((sampling *)to)->others++;
  return sampling_read_ids(v, &((sampling *)to)->allowed);
}
static bool set_ban(void *to, const char *v) {
  ((sampling *)to)->others++;
  return sampling_read_ids(v, &((sampling *)to)->banned);
}
static bool set_breakers(void *to, const char *v) {
  ((sampling *)to)->others++;
  return sampling_read_ids(v, &((sampling *)to)->breakers);
}

/* ID=B with commas between them. */
static bool set_bias(void *to, const char *value) {
  sampling *s = to;
  s->others++;
  s->o.bias_count = 0;
  while (*value) {
    char *end = NULL;
    tsl_token_bias *b = &s->bias[s->o.bias_count];
    if (s->o.bias_count++ == SAMPLING_LIST) return cli_refuse("more than %u ids", SAMPLING_LIST);
    bool ok = read_id(&value, &b->token) && *value == '=';
    double x = ok ? strtod(value + 1, &end) : 0;
    if (!ok || end == value + 1 || (*end && *end != ',') || !(x >= -FLT_MAX && x <= FLT_MAX))
      return cli_refuse("not ID=NUMBER with commas between them");
    b->bias = (float)x;
    value = end + (*end == ',');
  }
  return true;
}

static bool set_stages(void *to, const char *value) {
  sampling *s = to;
  s->others++;
  s->o.stage_count = 0;
  while (*value) {
    size_t n = strcspn(value, ",");
    int stage = 1;
    while (stage <= SAMPLING_STAGES &&
           (strlen(stage_names[stage]) != n || strncmp(stage_names[stage], value, n)))
      stage++;
    if (stage > SAMPLING_STAGES) return cli_refuse("there is no stage %.*s", (int)n, value);
    for (uint32_t i = 0; i < s->o.stage_count; i++)
      if ((int)s->stages[i] == stage) return cli_refuse("%s is there twice", stage_names[stage]);
    s->stages[s->o.stage_count++] = (tsl_stage)stage;
    value += n + (value[n] == ',');
  }
  return true;
}

/* ---- the table ------------------------------------------------------------------------------- */

static const cli_option table[] = {
    {"--seed", "N",
     "of the random numbers: equal seeds, options and versions give equal texts (default 0; demo: "
     "7)",
     set_seed},
    {"--temperature", "T", "0 = always the most likely token (default 1; demo: 0.8)",
     set_temperature},
    {"--dynamic-range", "R", "the temperature goes from T - R to T + R by entropy; 0 = fixed",
     set_dynamic_range},
    {"--dynamic-exponent", "E",
     "with --dynamic-range: the power of the entropy's share (default 1)", set_dynamic_exponent},
    {"--top-k", "K", "draw from the K most likely; 0 = all (default)", set_top_k},
    {"--top-p", "P", "draw from the most likely that make up P, 0 to 1 (default 1: all, as is 0)",
     set_top_p},
    {"--min-p", "P",
     "draw from those at least P times as likely as the first, 0 to 1 (default 0: all)", set_min_p},
    {"--typical-p", "P", "draw from those that make up P, the least surprising first; 0 = all",
     set_typical_p},
    {"--top-n-sigma", "N", "draw from logits within N standard deviations of the largest; 0 = all",
     set_top_n_sigma},
    {"--epsilon", "E", "draw from those of at least this probability; 0 = all", set_epsilon},
    {"--eta", "E", "the same, with a bound that falls with the entropy; 0 = all", set_eta},
    {"--xtc-probability", "P",
     "how often all likely tokens but the least likely of them are dropped; 0 = never",
     set_xtc_probability},
    {"--xtc-threshold", "P", "with --xtc-probability: which tokens are likely, 0 to 1",
     set_xtc_threshold},
    {"--mirostat-tau", "T", "keep the mean surprise near T bits; 0 = off", set_mirostat_tau},
    {"--mirostat-eta", "E", "with --mirostat-tau: the rate of learning (default 0.1)",
     set_mirostat_eta},
    {"--repetition-penalty", "R",
     "positive logits of tokens that occurred are divided by R, others multiplied (default 1)",
     set_repetition_penalty},
    {"--frequency-penalty", "F", "subtracted from a token's logit for each time that it occurred",
     set_frequency_penalty},
    {"--presence-penalty", "P", "subtracted once from the logit of a token that occurred",
     set_presence_penalty},
    {"--penalty-window", "N", "penalties look at the last N tokens; 0 = all (default)",
     set_penalty_window},
    {"--dry-multiplier", "M",
     "a token that prolongs a repeated sequence of n tokens loses M * B^(n - A); 0 = off",
     set_dry_multiplier},
    {"--dry-base", "B", "with --dry-multiplier (default 1.75)", set_dry_base},
    {"--dry-allowed", "A", "with --dry-multiplier: the shortest such sequence (default 2)",
     set_dry_allowed},
    {"--dry-window", "N", "with --dry-multiplier: tokens looked back at; 0 = all (default)",
     set_dry_window},
    {"--dry-breakers", "IDS", "no repeated sequence goes across these tokens", set_breakers},
    {"--penalise-structure", NULL,
     "penalties hold for brackets and names of members too, which they spare under a grammar",
     set_structure},
    {"--no-repeat-ngram", "N", "no sequence of N tokens comes twice; 0 = off (default)",
     set_no_repeat_ngram},
    {"--loop-repeats", "N",
     "after N equal copies of some tokens at the end, no further copy begins; 2 or more; 0 = off "
     "(default)",
     set_loop_repeats},
    {"--loop-longest", "N", "with --loop-repeats: tokens of one copy at most (default 64)",
     set_loop_longest},
    {"--min-tokens", "N", "no end before N tokens, where the grammar allows more", set_min_tokens},
    {"--bias", "ID=B,…", "add B to the logit of a token", set_bias},
    {"--ban", "IDS", "these tokens are not drawn", set_ban},
    {"--allow", "IDS", "only these tokens are drawn", set_allow},
    {"--stages", "NAMES",
     "the stages that run, in their order, of bias, penalties, dry, temperature, top-n-sigma, "
     "top-k, top-p, min-p, typical-p, epsilon, eta, xtc, mirostat (default: that order)",
     set_stages},
};

cli_options sampling_table(sampling *s) {
  return (cli_options){table, sizeof table / sizeof *table, s};
}

tsl_sampler_options sampling_of(const sampling *s, const tsl_vocab *vocab) {
  tsl_sampler_options o = s->o;
  o.allowed = s->allowed.at;
  o.allowed_count = s->allowed.n;
  o.banned = s->banned.at;
  o.banned_count = s->banned.n;
  o.dry_breakers = s->breakers.at;
  o.dry_breaker_count = s->breakers.n;
  o.bias = s->bias;
  if (o.stage_count) o.stages = s->stages;
  if (vocab) o.eog = tsl_vocab_eog(vocab, &o.eog_count);
  return o;
}
