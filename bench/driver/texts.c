/* texts.c - see texts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/driver/texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>

#include "bench/driver/cases.h"
#include "bench/driver/resolve.h"
#include "bench/driver/run.h"
#include "turnstile.h"

enum { CLOSING_MAX = 1 << 16 }; /* tokens of a completion */

typedef enum kind {
  KIND_END,
  KIND_SPACE,
  KIND_STRUCTURE,
  KIND_DIGIT,
  KIND_LETTER,
  KIND_ESCAPE,
  KIND_OTHER,
  KIND_HIGH,
  KIND_COUNT
} kind;

typedef struct setup {
  const char *data, *vocab_path;
  size_t texts;   /* of a schema */
  size_t tokens;  /* the most that are drawn of a text before it is closed */
  uint64_t state; /* of the random numbers */
  tsl_schema_options options;
  bench_resolver resolver;
  bool report; /* say what is enforced, too */
  tsl_vocab *vocab;
  uint8_t *kinds; /* of tokens: enum kind; KIND_COUNT: no bytes */
  uint32_t *mask;
  tsl_token *closing;
} setup;

typedef struct text {
  char *at;
  size_t length, capacity;
  size_t tokens;
} text;

static uint64_t draw(setup *s, uint64_t below) {
  s->state ^= s->state << 13;
  s->state ^= s->state >> 7;
  s->state ^= s->state << 17;
  return (s->state >> 11) % below;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static kind kind_of_byte(uint8_t b) {
  if (b >= 0x80) return KIND_HIGH;
  if (b <= ' ') return KIND_SPACE;
  if (strchr("{}[]\",:", b)) return KIND_STRUCTURE;
  if ((b >= '0' && b <= '9') || b == '-') return KIND_DIGIT;
  if (b == '\\') return KIND_ESCAPE;
  return (b | 0x20) >= 'a' && (b | 0x20) <= 'z' ? KIND_LETTER : KIND_OTHER;
}

static bool find_kinds(setup *s) {
  uint32_t n = tsl_vocab_size(s->vocab);
  s->kinds = malloc(n);
  for (tsl_token t = 0; s->kinds && t < n; t++) {
    size_t length;
    const uint8_t *bytes = tsl_vocab_bytes(s->vocab, t, &length);
    bool spelled = length && !tsl_vocab_is_special(s->vocab, t);
    s->kinds[t] = (uint8_t)(tsl_vocab_is_eog(s->vocab, t) ? KIND_END
                            : spelled                     ? kind_of_byte(bytes[0])
                                                          : KIND_COUNT);
  }
  return s->kinds != NULL;
}

/* The nth token of this kind that the mask has. */
static tsl_token nth(const setup *s, kind k, uint64_t n) {
  for (tsl_token t = 0;; t++)
    if (tsl_mask_has(s->mask, t) && s->kinds[t] == k && n-- == 0) return t;
}

/* A token out of s->mask; TSL_NO_TOKEN if it is empty. The end and white space come seldom,
 * structure often. */
static tsl_token draw_token(setup *s) {
  size_t counts[KIND_COUNT + 1] = {0}, weights[KIND_COUNT], sum = 0;
  for (tsl_token t = 0; t < tsl_vocab_size(s->vocab); t++)
    if (tsl_mask_has(s->mask, t)) counts[s->kinds[t]]++;
  for (size_t k = 0; k < KIND_COUNT; k++)
    sum += weights[k] = !counts[k] ? 0 : k <= KIND_SPACE ? 1 : k == KIND_STRUCTURE ? 8 : 4;
  if (!sum) return TSL_NO_TOKEN;
  uint64_t at = draw(s, sum);
  size_t k = 0;
  while (at >= weights[k]) at -= weights[k++];
  return nth(s, (kind)k, draw(s, counts[k]));
}

/* ---- one text -------------------------------------------------------------------------------- */

static bool append(setup *s, text *t, tsl_token token) {
  size_t n;
  const uint8_t *bytes = tsl_vocab_bytes(s->vocab, token, &n);
  if (t->length + n > t->capacity) {
    size_t capacity = 2 * (t->length + n) + 64;
    char *p = realloc(t->at, capacity);
    if (!p) return false;
    t->at = p;
    t->capacity = capacity;
  }
  if (n) memcpy(t->at + t->length, bytes, n);
  t->length += n;
  t->tokens++;
  return true;
}

/* The mask, into s->mask; NULL, or what went wrong. */
static const char *look(setup *s, tsl_matcher *m) {
  tsl_status status = tsl_matcher_mask(m, s->mask);
  return status == TSL_OK ? NULL : tsl_status_name(status);
}

/* Take a token that the mask has. */
static const char *take(setup *s, tsl_matcher *m, text *t, tsl_token token) {
  tsl_status status = tsl_matcher_accept(m, token);
  if (status != TSL_OK)
    return status == TSL_REJECTED ? "a token of the mask was rejected" : tsl_status_name(status);
  return append(s, t, token) ? NULL : "the benchmark is out of memory";
}

/* Draw up to `most` tokens; *ended: the end was drawn. */
static const char *draw_some(setup *s, tsl_matcher *m, text *t, size_t most, bool *ended) {
  for (size_t i = 0; i < most; i++) {
    const char *why = look(s, m);
    if (why) return why;
    tsl_token token = draw_token(s);
    if (token == TSL_NO_TOKEN) return "nothing is allowed";
    *ended = tsl_vocab_is_eog(s->vocab, token);
    if (*ended)
      return tsl_matcher_is_complete(m) ? NULL : "the end is allowed, and the text not complete";
    if ((why = take(s, m, t, token))) return why;
  }
  return NULL;
}

/* Write the shortest completion. */
static const char *close_text(setup *s, tsl_budget *budget, tsl_matcher *m, text *t) {
  size_t count;
  tsl_status status = tsl_budget_completion(budget, m, s->closing, CLOSING_MAX, &count);
  if (status != TSL_OK)
    return status == TSL_ERR_LIMIT ? "no completion was found" : tsl_status_name(status);
  for (size_t i = 0; i < count; i++) {
    const char *why = look(s, m);
    if (why) return why;
    if (!tsl_mask_has(s->mask, s->closing[i]))
      return "a token of the completion is not in the mask";
    if ((why = take(s, m, t, s->closing[i]))) return why;
  }
  return tsl_matcher_is_complete(m) ? NULL : "after its completion the text is not complete";
}

/* ---- one schema ------------------------------------------------------------------------------ */

static void put_string(yajl_gen gen, const char *at, size_t n) {
  yajl_gen_string(gen, (const unsigned char *)at, n);
}
static void put_name(yajl_gen gen, const char *name) { put_string(gen, name, strlen(name)); }

static void put_line(yajl_gen gen) {
  const unsigned char *at;
  size_t n;
  if (yajl_gen_get_buf(gen, &at, &n) == yajl_gen_status_ok) fwrite(at, 1, n, stdout);
  putchar('\n');
  fflush(stdout);
}

/* All texts into `gen`, as members "texts" and "ended"; those that came to no end into `whys`. */
static bool write_texts(setup *s, tsl_grammar *grammar, yajl_gen gen, yajl_gen whys) {
  tsl_matcher *m = NULL;
  tsl_budget *budget = NULL;
  long long ended_by_itself = 0;
  text t = {0};
  bool ok = tsl_matcher_new(grammar, NULL, &m) == TSL_OK &&
            tsl_budget_new(grammar, NULL, &budget) == TSL_OK;
  put_name(gen, "texts");
  yajl_gen_array_open(gen);
  for (size_t i = 0; ok && i < s->texts; i++) {
    bool ended = false;
    t.length = t.tokens = 0;
    tsl_matcher_reset(m);
    const char *why = draw_some(s, m, &t, (size_t)draw(s, s->tokens + 1), &ended);
    if (!why && !ended) why = close_text(s, budget, m, &t);
    ended_by_itself += ended;
    put_string(why ? whys : gen, t.at ? t.at : "", t.length);
    if (why) put_name(whys, why);
  }
  yajl_gen_array_close(gen);
  put_name(gen, "ended");
  yajl_gen_integer(gen, ended_by_itself);
  free(t.at);
  tsl_budget_free(budget);
  tsl_matcher_free(m);
  return ok;
}

/* A member whose value is JSON already, on one line. */
static void put_verbatim(yajl_gen gen, const char *name, const char *json) {
  put_name(gen, name);
  yajl_gen_number(gen, json, strlen(json));
}

/* "why": pairs of what was written and what went wrong, flat. */
static void put_whys(yajl_gen gen, yajl_gen whys) {
  const unsigned char *at;
  size_t n;
  yajl_gen_array_close(whys);
  if (yajl_gen_get_buf(whys, &at, &n) == yajl_gen_status_ok)
    put_verbatim(gen, "why", (const char *)at);
}

/* The report has its entries on lines of their own, this file has one line. */
static bool put_report(yajl_gen gen, const char *report) {
  char *line = report ? strdup(report) : NULL;
  for (char *c = line; c && (c = strchr(c, '\n')) != NULL;) *c = ' ';
  if (line) put_verbatim(gen, "report", line);
  free(line);
  return line != NULL;
}

static bool run_case(setup *s, const bench_case *c) {
  tsl_grammar *grammar;
  tsl_error error = {.status = TSL_OK};
  yajl_gen gen = yajl_gen_alloc(NULL), whys = yajl_gen_alloc(NULL);
  bool ok = gen && whys;
  if (ok) {
    yajl_gen_map_open(gen);
    yajl_gen_array_open(whys);
    put_name(gen, "id");
    put_name(gen, c->id);
    if (bench_compile(s->vocab, &s->options, c, NULL, &grammar, &error) == TSL_OK) {
      ok = write_texts(s, grammar, gen, whys);
      put_whys(gen, whys);
      if (s->report) ok = put_report(gen, tsl_grammar_report(grammar)) && ok;
    }
    tsl_grammar_release(grammar);
    put_name(gen, "status");
    put_name(gen, tsl_status_name(error.status));
    put_name(gen, "message");
    put_name(gen, error.message);
    yajl_gen_map_close(gen);
    put_line(gen);
  }
  if (gen) yajl_gen_free(gen);
  if (whys) yajl_gen_free(whys);
  return ok;
}

/* ---- command line ---------------------------------------------------------------------------- */

static const char usage[] = "usage: turnstile-bench texts --data F.jsonl [--vocab F] [--texts N] "
                            "[--tokens N] [--seed N] [--order any|schema]\n"
                            "       [--names once|any] [--draft 0|3|4|6|7|2019|2020] [--formats "
                            "assert|ignore] [--resolve URL=DIR]... [--report yes|no]\n";

/* yes, or no. */
static bool parse_yes(const char *value, const char *yes, const char *no, bool *to) {
  *to = !strcmp(value, yes);
  return *to || !strcmp(value, no);
}

static bool parse_option(setup *s, const char *name, const char *value) {
  char *end;
  unsigned long n = strtoul(value, &end, 10);
  bool number = *value >= '0' && *value <= '9' && !*end && n <= UINT32_MAX;
  if (!strcmp(name, "--data")) return s->data = value, true;
  if (!strcmp(name, "--vocab")) return s->vocab_path = value, true;
  if (!strcmp(name, "--texts")) return s->texts = n, number;
  if (!strcmp(name, "--tokens")) return s->tokens = n, number;
  if (!strcmp(name, "--seed")) return s->state = (n + 1) * 0x9e3779b97f4a7c15u, number;
  if (!strcmp(name, "--draft")) return s->options.draft = (tsl_draft)n, number;
  if (!strcmp(name, "--resolve")) return bench_resolver_add(&s->resolver, value);
  if (!strcmp(name, "--report")) return parse_yes(value, "yes", "no", &s->report);
  if (!strcmp(name, "--names")) return parse_yes(value, "any", "once", &s->options.repeated_names);
  if (!strcmp(name, "--formats"))
    return parse_yes(value, "ignore", "assert", &s->options.ignore_formats);
  bool any;
  if (strcmp(name, "--order") || !parse_yes(value, "any", "schema", &any)) return false;
  s->options.order = any ? TSL_ORDER_ANY : TSL_ORDER_SCHEMA;
  return true;
}

static bool load(setup *s) {
  tsl_error error;
  tsl_status status = strcmp(s->vocab_path, "embedded")
                          ? tsl_vocab_load_file(s->vocab_path, NULL, NULL, &s->vocab, &error)
                          : tsl_vocab_embedded(NULL, &s->vocab, &error);
  if (status != TSL_OK)
    return fprintf(stderr, "texts: %s: %s\n", s->vocab_path, error.message), false;
  s->mask = calloc(tsl_vocab_mask_words(s->vocab), sizeof *s->mask);
  s->closing = malloc(CLOSING_MAX * sizeof *s->closing);
  return find_kinds(s) && s->mask && s->closing;
}

static bool run_all(setup *s) {
  bench_reader reader;
  bench_case c;
  bool ok = bench_reader_open(&reader, s->data);
  while (ok && bench_reader_next(&reader, &c)) {
    ok = run_case(s, &c);
    bench_case_free(&c);
  }
  bool read = bench_reader_close(&reader);
  if (!read)
    fprintf(stderr, "texts: %s\n", reader.why);
  else if (!ok)
    fprintf(stderr, "texts: out of memory\n");
  return ok && read;
}

int bench_texts(int argc, char **argv) {
  setup s = {.vocab_path = "embedded",
             .texts = 100,
             .tokens = 60,
             .state = 0x9e3779b97f4a7c15u,
             .options.order = TSL_ORDER_ANY};
  bool understood = true;
  for (int i = 1; understood && i < argc; i += 2)
    understood = i + 1 < argc && parse_option(&s, argv[i], argv[i + 1]);
  if (!understood || !s.data) return fputs(usage, stderr), 2;
  if (s.resolver.root_count) {
    s.options.resolver = bench_resolve;
    s.options.resolver_ctx = &s.resolver;
  }
  bool ok = load(&s) && run_all(&s);
  bench_resolver_free(&s.resolver);
  free(s.kinds);
  free(s.mask);
  free(s.closing);
  tsl_vocab_release(s.vocab);
  return ok ? 0 : 1;
}
