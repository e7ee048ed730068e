/* generate.c - turnstile generate: texts that satisfy a grammar.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json_out.h"
#include "cli/place.h"
#include "cli/pictures/trace.h"

typedef struct settings {
  uint64_t count;
  uint64_t beam; /* width; 0: texts are drawn */
  bool raw;
  bool events;
  bool stats;
  float below;       /* steps with less legal mass are listed */
  const char *trace; /* file to write a page to that shows the text's steps, or NULL */
} settings;

static bool set_count(void *to, const char *value) {
  return cli_number(value, 1, UINT32_MAX, &((settings *)to)->count);
}
static bool set_beam(void *to, const char *value) {
  return cli_number(value, 1, 65536, &((settings *)to)->beam);
}
static bool set_raw(void *to, const char *value) {
  return (void)value, ((settings *)to)->raw = true;
}
static bool set_events(void *to, const char *value) {
  return (void)value, ((settings *)to)->events = true;
}
static bool set_stats(void *to, const char *value) {
  return (void)value, ((settings *)to)->stats = true;
}
static bool set_trace(void *to, const char *value) {
  return ((settings *)to)->trace = value, *value != 0;
}
static bool set_below(void *to, const char *value) {
  return cli_real(value, 0, 1, &((settings *)to)->below);
}

static const cli_option table[] = {
    {"-n", "N", "how many texts (default 1)", set_count},
    {"--beam", "B",
     "draw nothing: search with the B best beginnings at once, 1 to 65536, and write the -n most "
     "likely texts",
     set_beam},
    {"--stats", NULL,
     "say on stderr where the grammar fought the model: steps with little probability on allowed "
     "tokens",
     set_stats},
    {"--stats-below", "P",
     "with --stats: list steps where allowed tokens had a probability below P, 0 to 1 (default "
     "0.01)",
     set_below},
    {"--trace", "F",
     "write a page to F that shows every step of one text (-n 1); the text differs from that "
     "without --trace; see turnstile trace",
     set_trace},
    {"--events", NULL,
     "write a JSON line for each part of a text while it is written, in place of the text: a "
     "value begins, more of a string, a value is whole",
     set_events},
    {"-0", NULL, "write the texts as they are, each followed by a NUL byte", set_raw},
};

/* Writes one line. A line break inside a JSON text is white space between its parts, because
 * strings must escape line breaks; it is written as a space. In other texts a line break becomes
 * \n, and a carriage return \r. */
static void print_line(const cli_text *text, bool json) {
  for (size_t i = 0; i < text->length; i++) {
    char c = text->at[i];
    if (c == '\n')
      fputs(json ? " " : "\\n", stdout);
    else if (c == '\r')
      fputs(json ? " " : "\\r", stdout);
    else
      putchar(c);
  }
  putchar('\n');
}

static int say_cut(const generation *g) {
  char *shown = cli_quoted(g->text.at, g->text.length, 200);
  cli_complain("a text was cut after %llu tokens: it is not complete, and no completion that fits "
               "is known; see --max-tokens: %s",
               (unsigned long long)g->tokens, shown);
  free(shown);
  return CLI_NO;
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* In percent, small ones with an exponent. */
static void print_share(double p) {
  fprintf(stderr, p >= 0.0001 || p == 0 ? "%.2f %%" : "%.1e %%", p * 100);
}

static void print_token(const generation *g, tsl_token token) {
  size_t length;
  const uint8_t *bytes = tsl_vocab_bytes(g->vocab, token, &length);
  if (tsl_vocab_is_eog(g->vocab, token))
    fputs("the end", stderr);
  else
    cli_print_quoted(stderr, bytes, length, 40);
}

#define TAIL 30 /* bytes of the text that stand for a place */

/* Where, how little, what was wanted, what was written, what the grammar expected. `where` is NULL
 * where the text is no JSON. */
static void say_step(const generation *g, const generation_step *step, size_t offset,
                     const place *where) {
  size_t tail = offset < TAIL ? offset : TAIL;
  /* from a whole character on */
  while (tail < offset && tail && ((uint8_t)g->text.at[offset - tail] & 0xc0) == 0x80) tail--;
  fprintf(stderr, "  byte %zu, after ", offset);
  cli_print_quoted(stderr, g->text.at ? g->text.at + offset - tail : "", tail, TAIL);
  size_t length;
  const char *pointer = where ? place_pointer(where, &length) : NULL;
  if (pointer) {
    fputs(", at ", stderr);
    cli_print_quoted(stderr, pointer, length, 200);
  }
  fputs(": ", stderr);
  print_share(step->want.legal_mass);
  fputs(" allowed; wanted ", stderr);
  for (uint32_t i = 0; i < step->want.top_count; i++) {
    if (i) fputs(", ", stderr);
    print_token(g, step->top[i].token);
    fputs(" (", stderr);
    print_share(exp(step->top[i].logprob));
    fputc(')', stderr);
  }
  fputs("; wrote ", stderr);
  print_token(g, step->draw.token);
  bool any = false;
  for (int i = 0; i < 8; i++) any |= step->expected[i] != 0;
  fputs(any ? "; expected one of " : "; expected the end", stderr);
  if (any) cli_print_set(stderr, step->expected);
  fputc('\n', stderr);
}

static void say_sums(const tsl_step_sums *sums, uint64_t listed) {
  if (!sums->steps) return;
  fprintf(stderr,
          "  %llu tokens drawn, %llu listed; log-probability %.2f nats before the mask, %.2f after "
          "it; the grammar took %.2f, least allowed ",
          (unsigned long long)sums->steps, (unsigned long long)listed, sums->logprob,
          sums->masked_logprob, -sums->log_legal_mass);
  print_share(sums->least_legal_mass);
  fprintf(stderr, "; entropy %.2f nats a token before, %.2f after\n",
          sums->entropy / (double)sums->steps, sums->masked_entropy / (double)sums->steps);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* {"event": "text", "pointer": "/name", "text": "Al"}: one line. */
static void print_event(void *ctx, const tsl_event *e) {
  static const char *const kinds[] = {"", "begin", "text", "end"};
  static const char *const values[] = {"",       "object", "array", "string",
                                       "number", "true",   "false", "null"};
  (void)ctx;
  printf("{\"event\": \"%s\", \"value\": \"%s\", \"pointer\": ", kinds[e->kind], values[e->value]);
  json_out_string(e->pointer, e->pointer_length);
  if (e->text_length) {
    fputs(", \"text\": ", stdout);
    json_out_string(e->text, e->text_length);
  }
  puts("}");
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* What follows a text while it is written; each may be NULL. */
typedef struct followers {
  place *where;
  tsl_events *events;
} followers;

/* One text. */
static generation_result write_text(generation *g, const settings *o, const followers *f) {
  tsl_step_sums sums = {0};
  generation_step step;
  generation_result result;
  uint64_t listed = 0;
  size_t before = 0;
  tsl_error error = {.status = TSL_OK};
  generation_restart(g);
  if (f->where) place_restart(f->where);
  if (f->events) tsl_events_reset(f->events);
  do {
    result = generation_next(g, &step);
    if (o->stats && step.want.allowed) { /* measured: a token was drawn, the end included */
      tsl_step_add(&sums, &step.want);
      if (step.want.legal_mass < (double)o->below) say_step(g, &step, before, f->where), listed++;
    }
    size_t added = g->text.length - before;
    if (f->where && added) place_read(f->where, g->text.at + before, added);
    if (f->events && added && error.status == TSL_OK)
      tsl_events_feed(f->events, g->text.at + before, added, &error);
    if (f->events && added) fflush(stdout);
    before = g->text.length;
  } while (result == GENERATION_MORE && !cli_output_failed());
  if (f->events && result == GENERATION_DONE && error.status == TSL_OK)
    tsl_events_end(f->events, &error);
  if (error.status != TSL_OK) {
    cli_complain("--events: %s", error.message);
    return GENERATION_BAD;
  }
  if (o->stats) say_sums(&sums, listed);
  return result;
}

static int generate_texts(generation *g, const settings *o, trace *record, const followers *f,
                          bool json) {
  int code = CLI_OK;
  for (uint64_t i = 0; i < o->count && !cli_output_failed(); i++) {
    generation_result result = record ? trace_text(record, g) : write_text(g, o, f);
    if (record && result != GENERATION_BAD && !trace_write(record, o->trace, true)) return CLI_BAD;
    if (result == GENERATION_BAD) return CLI_BAD;
    if (result == GENERATION_CUT) code = say_cut(g);
    if (result == GENERATION_CUT || f->events) continue;
    /* the NUL after the text included */
    if (o->raw)
      fwrite(g->text.length ? g->text.at : "", 1, g->text.length + 1, stdout);
    else
      print_line(&g->text, json);
  }
  return code;
}

static int generate(generation *g, const settings *o, trace *record, bool json) {
  place where = {0};
  followers f = {NULL, NULL};
  bool ok = !o->events || tsl_events_new(print_event, NULL, NULL, &f.events) == TSL_OK;
  if (ok && o->stats && json) {
    ok = place_open(&where);
    f.where = &where;
  }
  int code = ok ? generate_texts(g, o, record, &f, json) : cli_complain("out of memory");
  tsl_events_free(f.events);
  if (f.where) place_close(&where);
  return code;
}

/* The n-gram model as beams ask for it. */
static tsl_status ask_model(void *ctx, const tsl_prefix *prefixes, size_t n, float *logits) {
  const generation *g = ctx;
  for (size_t i = 0; i < n; i++) {
    ngram_state state = ngram_start(g->model);
    for (size_t k = 0; k < prefixes[i].count; k++) {
      size_t length;
      const uint8_t *bytes = tsl_vocab_bytes(g->vocab, prefixes[i].tokens[k], &length);
      /* special tokens are not text */
      if (tsl_vocab_is_special(g->vocab, prefixes[i].tokens[k])) length = 0;
      for (size_t b = 0; b < length; b++) ngram_read(g->model, &state, bytes[b]);
    }
    ngram_logits(g->model, &state, NULL, logits + i * tsl_vocab_logits_width(g->vocab));
  }
  return TSL_OK;
}

/* The most likely texts, the best first. */
static int generate_beams(generation *g, const source *s, const settings *o) {
  tsl_beams *beams;
  tsl_error error;
  tsl_beam_options how = {(uint32_t)o->beam, (uint32_t)o->count,
                          (uint32_t)(g->max_tokens < UINT32_MAX ? g->max_tokens : UINT32_MAX), 0};
  tsl_status status = tsl_beam_search(s->grammar, ask_model, g, &how, NULL, &beams, &error);
  if (status != TSL_OK) cli_complain("beam search: %s", error.message);
  if (status != TSL_OK) return status == TSL_ERR_LIMIT ? CLI_NO : CLI_BAD;
  for (size_t i = 0; i < tsl_beams_count(beams); i++) {
    cli_text text = {0};
    size_t length;
    const char *bytes = tsl_beams_text(beams, i, &length);
    cli_text_add(&text, bytes, length);
    if (o->raw)
      fwrite(bytes, 1, length + 1, stdout); /* the NUL after the text included */
    else
      print_line(&text, s->kind == SOURCE_SCHEMA);
    cli_text_free(&text);
  }
  tsl_beams_free(beams);
  return CLI_OK;
}

static int generate_all(const source *s, generation_settings *how, const settings *o) {
  generation g;
  trace record;
  how->score_all = o->stats;
  if (o->trace && !trace_open(&record, s, how)) return CLI_BAD;
  int code = CLI_BAD;
  if (generation_open(&g, s, how)) {
    code = o->beam ? generate_beams(&g, s, o)
                   : generate(&g, o, o->trace ? &record : NULL, s->kind == SOURCE_SCHEMA);
    generation_close(&g);
  }
  if (o->trace) trace_close(&record);
  return code;
}

static int run(int argc, char **argv) {
  source s = {0};
  generation_settings how = generation_defaults();
  sampling draws = sampling_defaults();
  settings o = {.count = 1, .below = 0.01f};
  cli_options sets[] = {source_options(&s, SOURCE_WRITES_COMPACT),
                        generation_options(&how),
                        sampling_table(&draws),
                        {table, sizeof table / sizeof *table, &o}};
  cli_arguments arguments;
  if (!cli_parse(&cli_generate, argc, argv, sets, 4, &arguments)) return CLI_BAD;
  bool alone = o.trace && (o.count != 1 || o.beam || o.stats || o.events),
       bare = o.events && (o.beam || o.raw);
  int code = arguments.help ? CLI_OK
             : arguments.rest_count
                 ? cli_complain("generate: unexpected argument %s", arguments.rest[0])
             : alone ? cli_complain("generate: --trace shows one text that is drawn: without -n, "
                                    "--beam, --stats and --events")
             : bare  ? cli_complain("generate: --events does not go with --beam and -0")
                     : generation_source(&s, &how);
  if (code == CLI_OK && !arguments.help && o.events && s.kind != SOURCE_SCHEMA)
    code = cli_complain("generate: --events goes with --schema");
  how.sampler = sampling_of(&draws, s.vocab);
  if (code == CLI_OK && !arguments.help) code = generate_all(&s, &how, &o);
  source_close(&s);
  cli_arguments_free(&arguments);
  return code;
}

const cli_command cli_generate = {
    "generate",
    "(--schema F | --regex R | --grammar F | --artifact F) [options]",
    "write texts that satisfy a grammar, drawn from a small n-gram model",
    "One text per line. A line break inside a JSON text (--schema) becomes a space, which means "
    "the same.\n"
    "In any other text it becomes \\n, and a carriage return \\r. With -0 texts are written as "
    "they are.\n"
    "With --schema, JSON has no white space by default (--ws compact), and plain spellings (see\n"
    "--any-spelling). An artifact does not say that its texts are JSON: they have the white space "
    "and the\n"
    "spelling that turnstile compile was given, and line breaks become \\n.\n"
    "--stats and --trace need the model's probabilities of all tokens, so they are slower. With "
    "them a\n"
    "seed gives other texts than without them: those of turnstile trace.\n"
    "--events writes {\"event\": \"begin\", \"text\" or \"end\", \"value\": \"string\", ..., "
    "\"pointer\": JSON pointer, \"text\": ...}, at once.\n"
    "--beam finds the same texts whatever the seed; it weighs all spellings that the grammar "
    "allows.\n"
    "A text ends when the model ends it, or when just enough tokens are left for its shortest "
    "completion.\n"
    "exit codes: 0 all texts are complete; 1 a text was cut, because even the shortest one needs "
    "more than --max-tokens (it is shown on\n"
    "stderr, not written); 2 the call, the grammar or a file is bad.\n",
    run,
    NULL};
