/* trace.c - a record of one generation. See trace.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/pictures/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json_out.h"
#include "cli/pictures/trace_page.h"
#include "cli/utf8.h"

#define FORCED_MAX 4096 /* bytes that must come next, recorded of a step */

/* ---- pieces of JSON -------------------------------------------------------------------------- */

/* "text": "…", or, where the bytes are no UTF-8, "hex": "…". */
static void put_bytes(FILE *to, const uint8_t *bytes, size_t length) {
  if (utf8_valid(bytes, length)) {
    fputs("\"text\":", to);
    json_out_string_to(to, (const char *)bytes, length);
    return;
  }
  fputs("\"hex\":\"", to);
  for (size_t i = 0; i < length; i++) fprintf(to, "%02x", bytes[i]);
  putc('"', to);
}

/* JSON has no infinities and no NaN. */
static void put_number(FILE *to, const char *name, double x) {
  if (isfinite(x))
    fprintf(to, ",\"%s\":%.9g", name, x);
  else
    fprintf(to, ",\"%s\":null", name);
}

static void put_token(FILE *to, const tsl_vocab *v, tsl_token token) {
  size_t length;
  const uint8_t *bytes = tsl_vocab_bytes(v, token, &length);
  fprintf(to, "\"id\":%" PRIu32 ",", token);
  put_bytes(to, bytes, length);
  if (tsl_vocab_is_special(v, token)) fputs(",\"special\":true", to);
  if (tsl_vocab_is_eog(v, token)) fputs(",\"end\":true", to);
}

/* ---- the position before a step -------------------------------------------------------------- */

typedef struct frame_writer {
  FILE *to;
  bool any;
} frame_writer;

static void put_frame(void *ctx, const tsl_frame *f) {
  frame_writer *w = ctx;
  fprintf(w->to,
          "%s{\"state\":%" PRIu32 ",\"depth\":%" PRIu32 ",\"count\":%" PRIu32
          ",\"nullable\":%s,\"rule\":",
          w->any ? "," : "", f->state, f->depth, f->count, f->nullable ? "true" : "false");
  json_out_string_to(w->to, f->rule, strlen(f->rule));
  fputs(",\"expression\":", w->to);
  json_out_string_to(w->to, f->expression,
                     utf8_prefix((const uint8_t *)f->expression, strlen(f->expression)));
  fputs(",\"below\":[", w->to);
  for (uint32_t i = 0; i < f->below_count; i++)
    fprintf(w->to, "%s%" PRIu32, i ? "," : "", f->below[i]);
  fputs("]}", w->to);
  w->any = true;
}

static void put_position(void *ctx, generation *g) {
  trace *t = ctx;
  FILE *to = t->position.to;
  frame_writer frames = {to, false};
  uint8_t forced[FORCED_MAX];
  uint32_t next[8], total = 0;
  size_t n;
  rewind(to);
  const char *pointer = t->source->kind == SOURCE_SCHEMA ? place_pointer(&t->place, &n) : NULL;
  if (pointer) {
    fputs(",\"pointer\":", to);
    json_out_string_to(to, pointer, n);
  }
  fprintf(to, ",\"complete\":%s,\"frames\":[",
          tsl_matcher_is_complete(g->matcher) ? "true" : "false");
  if (tsl_matcher_frames(g->matcher, TRACE_FRAMES, put_frame, &frames, &total) != TSL_OK) total = 0;
  fprintf(to, "],\"frames_total\":%" PRIu32, total);
  if (tsl_matcher_next_bytes(g->matcher, next) == TSL_OK) {
    fputs(",\"next\":", to);
    json_out_set(to, next);
  }
  if (tsl_matcher_forced_bytes(g->matcher, forced, sizeof forced, &n) == TSL_OK && n) {
    fputs(",\"forced\":{", to);
    put_bytes(to, forced, n);
    putc('}', to);
  }
  cli_memory_flush(&t->position);
}

/* ---- the candidates of a step ---------------------------------------------------------------- */

typedef struct candidates {
  tsl_token at[2 * TRACE_TOP + 1];
  uint32_t n;
} candidates;

static void add_candidate(candidates *c, tsl_token token) {
  for (uint32_t i = 0; i < c->n; i++)
    if (c->at[i] == token) return;
  c->at[c->n++] = token;
}

/* `biased`: g->biased is of this step. */
static void put_candidate(FILE *to, const generation *g, tsl_token token, bool biased) {
  fputs("{", to);
  put_token(to, g->vocab, token);
  put_number(to, "logit", (double)g->logits[token]);
  if (biased && g->biased[token] > g->logits[token])
    put_number(to, "bias", (double)g->biased[token] - (double)g->logits[token]);
  fprintf(to, ",\"allowed\":%s", tsl_mask_has(g->mask, token) ? "true" : "false");
  if (tsl_mask_has(g->mask, token) && !tsl_mask_has(g->plain, token)) fputs(",\"odd\":true", to);
  putc('}', to);
}

/* The most likely tokens, before the mask and of those that were drawn from, and the one drawn; the
 * most likely first. */
static tsl_status find_candidates(const generation *g, tsl_token drawn, candidates *c,
                                  tsl_step *measured) {
  tsl_token_logprob top[TRACE_TOP], plain[TRACE_TOP];
  tsl_status status = tsl_step_measure(g->logits, tsl_vocab_logits_width(g->vocab), g->plain, drawn,
                                       TRACE_TOP, top, plain, measured);
  if (status != TSL_OK) return status;
  for (uint32_t i = 0; i < measured->top_count; i++) add_candidate(c, top[i].token);
  for (uint32_t i = 0; i < measured->masked_top_count; i++) add_candidate(c, plain[i].token);
  if (drawn != TSL_NO_TOKEN) add_candidate(c, drawn);
  for (uint32_t i = 1; i < c->n; i++) /* few: by insertion */
    for (uint32_t k = i; k && g->logits[c->at[k]] > g->logits[c->at[k - 1]]; k--) {
      tsl_token swap = c->at[k];
      c->at[k] = c->at[k - 1];
      c->at[k - 1] = swap;
    }
  return TSL_OK;
}

/* `want`: measured under the grammar's mask, for `drawn` (TSL_NO_TOKEN: nothing was). */
static bool put_candidates(FILE *to, const generation *g, tsl_token drawn, const tsl_step *want) {
  candidates c = {.n = 0};
  tsl_step plain;
  tsl_token_logprob best;
  tsl_status status = find_candidates(g, drawn, &c, &plain);
  if (status == TSL_OK)
    status = tsl_step_measure(g->logits, tsl_vocab_logits_width(g->vocab), NULL, TSL_NO_TOKEN, 1,
                              &best, NULL, &plain);
  if (status != TSL_OK) return cli_complain("measuring a step: %s", tsl_status_name(status)), false;
  put_number(to, "legal_mass", want->legal_mass);
  put_number(to, "entropy", want->entropy);
  put_number(to, "masked_entropy", want->masked_entropy);
  put_number(to, "log_sum", (double)g->logits[best.token] - best.logprob);
  if (drawn != TSL_NO_TOKEN) put_number(to, "logprob", want->logprob);
  if (drawn != TSL_NO_TOKEN) put_number(to, "masked_logprob", want->masked_logprob);
  fprintf(to, ",\"drawable\":%zu,\"candidates\":[",
          tsl_mask_count(g->plain, tsl_vocab_logits_width(g->vocab)));
  for (uint32_t i = 0; i < c.n; i++) {
    if (i) putc(',', to);
    put_candidate(to, g, c.at[i], drawn != TSL_NO_TOKEN);
  }
  putc(']', to);
  return true;
}

/* ---- the record ------------------------------------------------------------------------------ */

static bool out_of_memory(trace *t) {
  cli_complain("out of memory");
  trace_close(t);
  return false;
}

bool trace_open(trace *t, const source *s, generation_settings *how) {
  *t = (trace){.source = s};
  if (!place_open(&t->place)) return out_of_memory(t);
  bool opened = cli_memory_open(&t->json);
  if (!cli_memory_open(&t->position) || !opened) return out_of_memory(t);
  t->to = t->json.to;
  how->score_all = true;
  how->watch = put_position;
  how->watch_ctx = t;
  return true;
}

void trace_close(trace *t) {
  cli_memory_close(&t->json);
  cli_memory_close(&t->position);
  free(t->json.at);
  free(t->position.at);
  if (t->place.events) place_close(&t->place);
  *t = (trace){0};
}

static const char *kind_name(source_kind kind) {
  return kind == SOURCE_SCHEMA    ? "schema"
         : kind == SOURCE_REGEX   ? "regex"
         : kind == SOURCE_GBNF    ? "gbnf"
         : kind == SOURCE_LARK    ? "lark"
         : kind == SOURCE_EBNF    ? "ebnf"
         : kind == SOURCE_ABNF    ? "abnf"
         : kind == SOURCE_REQUEST ? "request"
                                  : "artifact";
}

/* The options of other stages, where they are on. */
static void put_stages(FILE *to, const tsl_sampler_options *o) {
  const struct {
    const char *name;
    float value;
  } on[] = {{"repetition_penalty", o->repetition_penalty},
            {"frequency_penalty", o->frequency_penalty},
            {"presence_penalty", o->presence_penalty},
            {"dry_multiplier", o->dry_multiplier},
            {"dynamic_range", o->dynamic_range},
            {"top_n_sigma", o->top_n_sigma},
            {"typical_p", o->typical_p},
            {"epsilon", o->epsilon},
            {"eta", o->eta},
            {"xtc_probability", o->xtc_probability},
            {"xtc_threshold", o->xtc_threshold},
            {"mirostat_tau", o->mirostat_tau}};
  for (size_t i = 0; i < sizeof on / sizeof *on; i++)
    if (on[i].value != 0) put_number(to, on[i].name, (double)on[i].value);
}

static void put_head(const trace *t, const generation *g) {
  const source *s = t->source;
  const tsl_sampler_options *o = &g->settings->sampler;
  const char *vocab = s->vocab_path ? s->vocab_path : "embedded";
  const char *slash = strrchr(vocab, '/');
  fprintf(t->to,
          "{\"format\":\"turnstile-trace\",\"version\":1,\"tool\":\"turnstile "
          "%s\",\"grammar\":{\"kind\":\"%s\",\"name\":",
          tsl_version(), kind_name(s->kind));
  json_out_string_to(t->to, source_name(s), strlen(source_name(s)));
  fputs(",\"source\":", t->to);
  json_out_string_to(t->to, s->text.at, s->text.length);
  fputs("},\"vocabulary\":{\"name\":", t->to);
  json_out_string_to(t->to, slash ? slash + 1 : vocab, strlen(slash ? slash + 1 : vocab));
  fprintf(t->to,
          ",\"size\":%" PRIu32 "},\"model\":\"%s\",\"captured\":%u,\"sampling\":{\"seed\":%" PRIu64,
          tsl_vocab_size(s->vocab), g->settings->real ? g->settings->real->name : "n-gram",
          TRACE_TOP, o->seed);
  fprintf(t->to, ",\"temperature\":%.6g,\"top_p\":%.6g,\"min_p\":%.6g,\"top_k\":%" PRIu32,
          (double)o->temperature, (double)o->top_p, (double)o->min_p, o->top_k);
  put_stages(t->to, o);
  fputs("},\"steps\":[", t->to);
}

/* What every step has. */
static void put_common(trace *t, size_t offset, uint64_t allowed, double mask_us) {
  fprintf(t->to, "\"at\":%zu,\"allowed\":%" PRIu64 ",\"mask_us\":%.2f", offset, allowed, mask_us);
  fwrite(t->position.at, 1, t->position.length, t->to);
}

static bool put_step(trace *t, const generation *g, const generation_step *step, size_t offset) {
  putc('{', t->to);
  put_common(t, offset, step->draw.allowed, step->mask_us);
  fputs(",\"token\":{", t->to);
  put_token(t->to, g->vocab, step->draw.token);
  fputs(step->closing ? "},\"closing\":true" : "}", t->to);
  if (!step->closing) put_number(t->to, "probability", step->draw.probability);
  bool ok = step->closing || put_candidates(t->to, g, step->draw.token, &step->want);
  putc('}', t->to);
  return ok;
}

/* Was a token drawn in this step? */
static bool took(const generation *g, generation_result result) {
  return result == GENERATION_MORE ||
         (result == GENERATION_DONE && tsl_matcher_is_terminated(g->matcher));
}

/* Generate a token and record the step, if there was one. */
static generation_result next_step(trace *t, generation *g) {
  generation_step step;
  size_t before = g->text.length;
  generation_result result = generation_next(g, &step);
  if (!took(g, result)) return result;
  fputs(t->steps++ ? ",\n" : "\n", t->to);
  if (!put_step(t, g, &step, before)) return GENERATION_BAD;
  if (g->text.length > before) place_read(&t->place, g->text.at + before, g->text.length - before);
  return result;
}

void trace_restart(trace *t, generation *g) {
  generation_restart(g);
  place_restart(&t->place);
}

generation_result trace_text(trace *t, generation *g) {
  generation_result result;
  trace_restart(t, g);
  put_head(t, g);
  do result = next_step(t, g);
  while (result == GENERATION_MORE);
  fprintf(t->to, "],\"result\":\"%s\"}\n", result == GENERATION_DONE ? "complete" : "cut");
  if (!cli_memory_flush(&t->json)) return cli_complain("out of memory"), GENERATION_BAD;
  return result;
}

/* ---- one step at a time ---------------------------------------------------------------------- */

static void begin_alone(trace *t) {
  rewind(t->to);
  t->steps = 0;
}

static const char *end_alone(trace *t) {
  putc(0, t->to);
  return cli_memory_flush(&t->json) ? t->json.at : NULL;
}

const char *trace_next(trace *t, generation *g, generation_result *result) {
  begin_alone(t);
  *result = next_step(t, g);
  return t->steps ? end_alone(t) : NULL;
}

const char *trace_here(trace *t, generation *g, bool measured, tsl_status *status) {
  double mask_us;
  tsl_step want;
  tsl_token_logprob none;
  size_t width = tsl_vocab_logits_width(g->vocab);
  begin_alone(t);
  *status = generation_look(g, measured, &mask_us);
  if (*status != TSL_OK) return NULL;
  uint64_t allowed = tsl_mask_count(g->mask, width);
  put_position(t, g);
  putc('{', t->to);
  put_common(t, g->text.length, allowed, mask_us);
  if (measured && allowed)
    *status = tsl_step_measure(g->logits, width, g->mask, TSL_NO_TOKEN, 1, &none, NULL, &want);
  if (*status != TSL_OK || (measured && allowed && !put_candidates(t->to, g, TSL_NO_TOKEN, &want)))
    return NULL;
  putc('}', t->to);
  return end_alone(t);
}

tsl_status trace_write_token(trace *t, generation *g, tsl_token token) {
  size_t before = g->text.length;
  tsl_status status = generation_write(g, token);
  if (status == TSL_OK && g->text.length > before)
    place_read(&t->place, g->text.at + before, g->text.length - before);
  return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The record as it may stand in a script element: "<" is inside strings only, and means the same as
 * an escape. */
static void put_page(FILE *to, const char *json, size_t length) {
  fwrite(trace_page_head, 1, trace_page_head_length, to);
  for (size_t i = 0; i < length; i++) {
    if (json[i] == '<')
      fputs("\\u003c", to);
    else
      putc(json[i], to);
  }
  fwrite(trace_page_tail, 1, trace_page_tail_length, to);
}

static bool write_to(const char *path, const char *json, size_t length, bool page) {
  bool is_stdout = !strcmp(path, "-");
  FILE *to = is_stdout ? stdout : cli_os_open(path, "wb");
  if (!to) return cli_complain("%s: %s", path, strerror(errno)), false;
  if (page)
    put_page(to, json, length);
  else
    fwrite(json, 1, length, to);
  bool ok = !fflush(to) && !ferror(to);
  if (!is_stdout && fclose(to)) ok = false;
  if (!ok) cli_complain("%s: cannot write", path);
  return ok;
}

bool trace_write(trace *t, const char *path, bool page) {
  return write_to(path, t->json.at, t->json.length, page);
}
bool trace_render(const char *json, size_t length, const char *path) {
  return write_to(path, json, length, true);
}
