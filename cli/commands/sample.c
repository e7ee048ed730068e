/* sample.c - turnstile sample: the sampler, beams and drafts on logits that a user brings.
 *
 * Problem   A host in any language has logits and wants ids, or wants to see what a chain of stages
 *           does to a row.
 * Idea      Rows come in, one a line; ids go out, one a line, at once. So two pipes are enough to
 *           draw under a grammar. With --distribution the whole distribution is printed, and what
 *           each stage cut.
 * Example   echo '[6, 5, 4.5, 3.5, 2, 0]' | turnstile sample --top-k 3 --distribution
 * Tested by tests/cli/test_cli_sample.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "cli/brought/decode.h"
#include "cli/sampling.h"

typedef struct settings {
  const char *logits, *without, *weak;
  float scale, alpha, beta, length_penalty;
  sampling_ids seen;
  bool distribution, drafts;
  uint64_t beam, count, max_tokens;
} settings;

static bool set_logits(void *to, const char *v) { return ((settings *)to)->logits = v, *v != 0; }
static bool set_without(void *to, const char *v) { return ((settings *)to)->without = v, *v != 0; }
static bool set_weak(void *to, const char *v) { return ((settings *)to)->weak = v, *v != 0; }
static bool set_scale(void *to, const char *v) {
  return cli_real(v, -1e6, 1e6, &((settings *)to)->scale);
}
static bool set_alpha(void *to, const char *v) {
  return cli_real(v, 0, 1, &((settings *)to)->alpha);
}
static bool set_beta(void *to, const char *v) {
  return cli_real(v, -1e6, 1e6, &((settings *)to)->beta);
}
static bool set_length(void *to, const char *v) {
  return cli_real(v, 0, 1e6, &((settings *)to)->length_penalty);
}
static bool set_seen(void *to, const char *v) {
  return sampling_read_ids(v, &((settings *)to)->seen);
}
static bool set_distribution(void *to, const char *v) {
  return (void)v, ((settings *)to)->distribution = true;
}
static bool set_drafts(void *to, const char *v) { return (void)v, ((settings *)to)->drafts = true; }
static bool set_beam(void *to, const char *v) {
  return cli_number(v, 1, 65536, &((settings *)to)->beam);
}
static bool set_count(void *to, const char *v) {
  return cli_number(v, 1, 65536, &((settings *)to)->count);
}
static bool set_max(void *to, const char *v) {
  return cli_number(v, 1, 100000000, &((settings *)to)->max_tokens);
}

static const cli_option table[] = {
    {"--logits", "F", "the rows: JSON lines or an .npy file (default: stdin)", set_logits},
    {"--distribution", NULL,
     "draw nothing: for each row its tokens and their probabilities, the most likely first, and "
     "what each stage cut, as a line of JSON",
     set_distribution},
    {"--seen", "IDS", "tokens before the text, which penalties look at", set_seen},
    {"--without", "F",
     "guidance: rows of the model without the condition; with --scale S a row becomes without + S "
     "* (with - without)",
     set_without},
    {"--scale", "S", "with --without (default 1)", set_scale},
    {"--weak", "F",
     "guidance: rows of a weaker model; a row becomes strong - B * weak where the strong model "
     "gives A times its largest probability",
     set_weak},
    {"--alpha", "A", "with --weak, 0 to 1 (default 0.1)", set_alpha},
    {"--beta", "B", "with --weak (default 0.5)", set_beta},
    {"--beam", "W",
     "the most likely texts of the grammar, by following the W best; a line is {\"prefix\": [ids], "
     "\"logits\": …}",
     set_beam},
    {"-n", "N", "with --beam: how many texts (default 1)", set_count},
    {"--max-tokens", "N", "with --beam: of a text (default 64)", set_max},
    {"--length-penalty", "A", "with --beam: rank by log-probability / tokens^A (default 0)",
     set_length},
    {"--drafts", NULL,
     "accept drafts: a line is {\"drafts\": [ids], \"logits\": [rows], \"draft_logits\": [rows]}",
     set_drafts},
};

/* ---- rows ------------------------------------------------------------------------------------ */

/* What a run has open. */
typedef struct sampled {
  const settings *o;
  const source *source;
  rows rows, second; /* second: of guidance */
  bool guided;
  tsl_matcher *matcher; /* NULL: without a grammar */
  tsl_sampler *sampler;
  uint32_t *mask; /* NULL: everything may be drawn */
} sampled;

/* The logits of the line that was read. */
static float *logits_of(rows *r) {
  json_in inside = json_in_member(r->value, "logits");
  return rows_logits(r, inside.at ? inside : r->value);
}

/* Change a row by the second file's. */
static bool guide(sampled *s, float *row) {
  const settings *o = s->o;
  if (!s->guided) return true;
  s->second.width = s->rows.width;
  int more = rows_next(&s->second);
  if (!more) rows_complain(&s->second, "the file has fewer rows than the first");
  float *other = more > 0 ? logits_of(&s->second) : NULL;
  if (!other) return false;
  tsl_status status =
      o->without
          ? tsl_guide_classifier_free(row, other, s->rows.width, o->scale, row)
          : tsl_guide_contrastive(row, other, s->rows.width, s->mask, o->alpha, o->beta, row);
  free(other);
  if (status == TSL_OK) return true;
  return rows_complain(&s->rows, "guidance: %s", tsl_status_name(status)), false;
}

static int failed(const sampled *s, tsl_status status) {
  if (status == TSL_ERR_LOGITS)
    return rows_complain(&s->rows, "no token that may be drawn has a finite logit");
  return rows_complain(&s->rows, "%s%s", tsl_status_name(status), cli_limit_advice(status));
}

/* ---- distributions --------------------------------------------------------------------------- */

typedef struct share {
  tsl_token token;
  double p;
} share;

static int by_share(const void *a, const void *b) {
  const share *x = a, *y = b;
  if (x->p != y->p) return x->p > y->p ? -1 : 1;
  return (x->token > y->token) - (x->token < y->token);
}

static void print_shares(const double *p, size_t width) {
  share *at = cli_allocate(width, sizeof *at);
  size_t n = 0;
  for (size_t t = 0; t < width; t++)
    if (p[t] > 0) at[n++] = (share){(tsl_token)t, p[t]};
  qsort(at, n, sizeof *at, by_share);
  fputs("{\"tokens\": [", stdout);
  for (size_t i = 0; i < n; i++)
    printf("%s[%u, %.9g]", i ? ", " : "", (unsigned)at[i].token, at[i].p);
  free(at);
}

static void print_cut(const uint8_t *cuts, size_t width, uint8_t what) {
  const char *between = "";
  putchar('[');
  for (size_t t = 0; t < width; t++) {
    if (cuts[t] != what) continue;
    printf("%s%zu", between, t);
    between = ", ";
  }
  putchar(']');
}

static int print_distribution(sampled *s, const float *row) {
  size_t width = s->rows.width, count = SAMPLING_STAGES;
  tsl_stage_left left[SAMPLING_STAGES];
  double *p = cli_allocate(width, sizeof *p);
  uint8_t *cuts = cli_allocate(width, 1);
  tsl_status status = tsl_sampler_distribution(s->sampler, row, width, s->mask, p, left, &count);
  if (status == TSL_OK) status = tsl_sampler_cuts(s->sampler, row, width, s->mask, cuts);
  if (status == TSL_OK) {
    print_shares(p, width);
    fputs("], \"stages\": [", stdout);
    for (size_t i = 0; i < count; i++) {
      printf("%s{\"stage\": \"%s\", \"left\": %u, \"cut\": ", i ? ", " : "",
             sampling_stage_name(left[i].stage), (unsigned)left[i].left);
      print_cut(cuts, width, (uint8_t)left[i].stage);
      putchar('}');
    }
    puts("]}");
  }
  free(p);
  free(cuts);
  return status == TSL_OK ? CLI_OK : failed(s, status);
}

/* ---- draws ----------------------------------------------------------------------------------- */

/* The id goes out at once: a host may wait for it. */
static int draw(sampled *s, const float *row) {
  tsl_draw d;
  tsl_status status = tsl_sampler_draw(s->sampler, row, s->rows.width, s->mask, &d);
  if (status == TSL_OK && s->matcher) status = tsl_matcher_accept(s->matcher, d.token);
  if (status == TSL_OK) status = tsl_sampler_accept(s->sampler, d.token);
  if (status != TSL_OK) return failed(s, status);
  printf("%u\n", (unsigned)d.token);
  fflush(stdout);
  return CLI_OK;
}

static int do_row(sampled *s) {
  float *row = logits_of(&s->rows);
  if (!row) return CLI_BAD;
  tsl_status status = s->matcher ? tsl_matcher_mask(s->matcher, s->mask) : TSL_OK;
  int code = status != TSL_OK     ? failed(s, status)
             : !guide(s, row)     ? CLI_BAD
             : s->o->distribution ? print_distribution(s, row)
                                  : draw(s, row);
  free(row);
  return code;
}

static int do_rows(sampled *s) {
  int more = 0, code = CLI_OK;
  while (code == CLI_OK && !(s->matcher && tsl_matcher_is_terminated(s->matcher)) &&
         !cli_output_failed() && (more = rows_next(&s->rows)) > 0)
    code = do_row(s);
  if (more < 0 || code != CLI_OK) return CLI_BAD;
  bool cut = s->matcher && !s->o->distribution && !tsl_matcher_is_terminated(s->matcher) &&
             !tsl_matcher_is_complete(s->matcher);
  if (cut) cli_complain("the rows ended before the text was complete");
  return cut ? CLI_NO : CLI_OK;
}

static int open_second(sampled *s) {
  const char *path = s->o->without ? s->o->without : s->o->weak;
  s->guided = path != NULL;
  return path ? rows_open(&s->second, path, 0) : CLI_OK;
}

/* The sampler, and with a grammar its matcher. */
static int open_sampler(sampled *s, const sampling *draws) {
  tsl_sampler_options o = sampling_of(draws, s->source->vocab);
  tsl_status status = tsl_sampler_new(&o, NULL, &s->sampler);
  if (status == TSL_ERR_ARGUMENT)
    return cli_complain("the options of the sampler do not go together: a stage that is on is not "
                        "among --stages, or a token of --bias is there twice");
  if (status == TSL_OK) status = tsl_sampler_prompt(s->sampler, s->o->seen.at, s->o->seen.n);
  if (status == TSL_OK && s->source->grammar) {
    status = tsl_matcher_new(s->source->grammar, NULL, &s->matcher);
    s->mask = cli_allocate(tsl_vocab_mask_words(s->source->vocab), sizeof *s->mask);
    if (status == TSL_OK) tsl_sampler_set_matcher(s->sampler, s->matcher);
  }
  return status == TSL_OK ? CLI_OK : cli_complain("%s", tsl_status_name(status));
}

/* ---- the command ----------------------------------------------------------------------------- */

static int sample(const settings *o, const source *s, const sampling *draws) {
  sampled job = {.o = o, .source = s};
  int code = rows_open(&job.rows, o->logits, s->vocab ? tsl_vocab_logits_width(s->vocab) : 0);
  if (code == CLI_OK && o->beam) {
    tsl_beam_options how = {(uint32_t)o->beam, (uint32_t)o->count, (uint32_t)o->max_tokens,
                            o->length_penalty};
    code = brought_beams(s, &job.rows, &how);
  } else if (code == CLI_OK && o->drafts) {
    code = brought_drafts(s, &job.rows, draws->o.seed, draws->o.temperature);
  } else if (code == CLI_OK) {
    code = open_second(&job);
    if (code == CLI_OK) code = open_sampler(&job, draws);
    if (code == CLI_OK) code = do_rows(&job);
  }
  tsl_sampler_free(job.sampler);
  tsl_matcher_free(job.matcher);
  free(job.mask);
  rows_close(&job.rows);
  rows_close(&job.second);
  return code;
}

/* Does the call make sense? */
static int check(const settings *o, const source *s, const sampling *draws,
                 const cli_arguments *arguments) {
  bool decodes = o->beam || o->drafts, guided = o->without || o->weak;
  if (arguments->rest_count)
    return cli_complain("sample: unexpected argument %s", arguments->rest[0]);
  if (decodes && s->kind == SOURCE_NONE)
    return cli_complain("sample: --beam and --drafts need a grammar, such as --regex '.*'");
  if ((o->beam != 0) + o->drafts + o->distribution > 1)
    return cli_complain("sample: --beam, --drafts and --distribution do not go together");
  if (o->without && o->weak) return cli_complain("sample: --without and --weak do not go together");
  if (decodes && (guided || o->seen.n || draws->others))
    return cli_complain(
        "sample: --beam and --drafts take no guidance, and of the sampler's options "
        "only --seed and --temperature");
  if (o->beam && (draws->o.seed || draws->o.temperature != 1))
    return cli_complain("sample: --beam draws nothing: without --seed and --temperature");
  return CLI_OK;
}

static int run(int argc, char **argv) {
  source s = {0};
  sampling draws = sampling_defaults();
  settings o = {
      .logits = "-", .scale = 1, .alpha = 0.1f, .beta = 0.5f, .count = 1, .max_tokens = 64};
  cli_options sets[] = {{table, sizeof table / sizeof *table, &o},
                        sampling_table(&draws),
                        source_options(&s, SOURCE_MASKS)};
  cli_arguments arguments;
  if (!cli_parse(&cli_sample, argc, argv, sets, 3, &arguments)) return CLI_BAD;
  int code = CLI_OK;
  if (!arguments.help) {
    code = check(&o, &s, &draws, &arguments);
    if (code == CLI_OK && s.kind != SOURCE_NONE)
      code = source_open(&s);
    else if (code == CLI_OK && s.vocab_path)
      code = cli_open_vocab(s.vocab_path, s.vocab_cache, &s.vocab);
    if (code == CLI_OK) code = sample(&o, &s, &draws);
  }
  source_close(&s);
  cli_arguments_free(&arguments);
  return code;
}

const cli_command cli_sample = {
    "sample",
    "[--logits F] [--schema F | --regex R | …] [options]",
    "ids drawn from logits that you bring, under a grammar or none",
    "A line is a row of logits: [6, 5, 4.5], or {\"logits\": …}. By id, the others being -inf, "
    "it is "
    "{\"logits\": {\"17\": 0.5}}. null is -inf. An .npy file has rows of float32 or float64.\n"
    "Each row gives a line with the id that was drawn, at once. With a grammar the id is accepted, "
    "and the next row is drawn under the next mask, until the text ends.\n"
    "Penalties spare structure under a grammar: see docs/sampling.md.\n"
    "exit codes: 0 done; 1 the rows ended before the text was complete, or no text fits "
    "--max-tokens; 2 the call, the grammar or a row is bad.\n",
    run,
    NULL};
