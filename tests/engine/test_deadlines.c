/* test_deadlines.c - a deadline is a deadline: no call works on for long after its time.
 *
 * Problem   A server gives each call a millisecond. A loop that nobody counts, such as a sort of
 *           100,000 strings or a division of long numbers, goes on after that time.
 * Idea      Every public call that takes time is made on the hardest text of each kind, with a
 *           deadline of 1 ms. The test counts the processor time of the call. It may be the
 *           deadline and LATE_MS more.
 * Noise     Processor time grows a little when other programs use the machine. A call that is late
 *           is therefore made again, up to RETRIES times, and the shortest time counts. A loop
 *           without a look at the clock is late every time.
 * Texts     Those of limit_shapes.h at their largest sizes, and those below: long numbers, long
 *           strings, many tools, grammars of many rules.
 * Extend    A new kind of text is a row of `texts`; a new public call is a function in `calls`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <time.h>

#include "runtime/matcher/grammar.h"
#include "tests/engine/limit_shapes.h"
#include "tests/support/check.h"

#define DEADLINE_US 1000u
#define RETRIES 20
#ifdef TSL_TEST_SANITIZED
#define LATE_MS 40.0 /* every look costs ten times as much */
#else
#define LATE_MS 2.0
#endif

static tsl_vocab *vocab;
/* The report takes no limits: it is linear in the text (docs/limits.md). */
#define REPORT_FACTOR 10

static const tsl_limits in_time = {.deadline_us = DEADLINE_US};

static double milliseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* ---- texts ----------------------------------------------------------------------------------- */

typedef enum form {
  A_SCHEMA,
  A_REGEX,
  A_GBNF,
  A_TAGS,
  A_LARK,
  A_LEXED,
  AN_EBNF,
  AN_ABNF,
  SOME_TOOLS,
  A_REQUEST,
  A_SOURCE
} form;

static uint64_t seed;
static void digits(unsigned n) {
  for (unsigned i = 0; i < n; i++) add("%u", 1 + (unsigned)(tsl_test_random(&seed) % 9));
}

/* The powers of two up to 2^(n - 1) have a product's worth of twos: digits of 2^n. */
static void power_of_two(unsigned n, unsigned factor) {
  static unsigned char at[2000];
  unsigned used = 1;
  memset(at, 0, sizeof at);
  at[0] = 1;
  for (unsigned i = 0; i <= n; i++) {
    unsigned by = i < n ? 2 : factor, carry = 0;
    for (unsigned k = 0; k < used || carry; k++) {
      unsigned value = at[k] * by + carry;
      at[k] = (unsigned char)(value % 10);
      carry = value / 10;
      if (k >= used) used = k + 1;
    }
  }
  while (used--) add("%u", (unsigned)at[used]);
}

static const unsigned primes[] = {3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59};

static void long_multiples(unsigned n) {
  add("{\"type\":\"object\",\"required\":[");
  for (unsigned i = 0; i < n; i++) add("%s\"p%u\"", i ? "," : "", i);
  add("],\"properties\":{");
  for (unsigned i = 0; i < n; i++) {
    add("%s\"p%u\":{\"type\":\"number\",\"minimum\":%u,\"multipleOf\":", i ? "," : "", i, i + 1);
    power_of_two(3200, 1);
    add(",\"not\":{\"anyOf\":[");
    for (unsigned k = 0; k < 16; k++) {
      add("%s{\"multipleOf\":", k ? "," : "");
      power_of_two(3200, primes[k]);
      add("}");
    }
    add("]}}");
  }
  add("}}");
}
static void many_non_multiples(unsigned n) {
  add("{\"type\":\"number\",\"not\":{\"anyOf\":[");
  for (unsigned i = 0; i < n; i++) {
    add("%s{\"multipleOf\":0.", i ? "," : "");
    digits(990);
    add("}");
  }
  add("]}}");
}
static void long_excluded(unsigned n) {
  add("{\"type\":\"number\",\"multipleOf\":7,\"not\":{\"enum\":[");
  for (unsigned i = 0; i < n; i++) add("%s", i ? "," : ""), digits(900);
  add("]}}");
}
static void long_bounds(unsigned n) {
  add("{\"type\":\"number\",\"multipleOf\":");
  digits(n);
  add(",\"minimum\":");
  digits(n + 40);
  add(",\"maximum\":9");
  digits(n + 60);
  add("}");
}
static void least_properties(unsigned n) {
  add("{\"type\":\"object\",\"minProperties\":%u,\"propertyNames\":{\"enum\":[", n / 2);
  for (unsigned i = 0; i < n; i++) add("%s\"k%u\"", i ? "," : "", i);
  add("]}}");
}
static void unique_words(unsigned n) {
  add("{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":%u,\"items\":{\"enum\":[", n / 9 * 8);
  for (unsigned i = 0; i < n; i++) add("%s\"%x\"", i ? "," : "", i * 2654435761u);
  add("]}}");
}
static void long_words(unsigned n) {
  add("{\"enum\":[");
  for (unsigned i = 0; i < 40; i++) {
    add("%s\"%u", i ? "," : "", i);
    for (unsigned k = 0; k < n; k++) add("%x", i * 2654435761u + k);
    add("\"");
  }
  add("]}");
}
static void ends_and_excludes(unsigned n) {
  add("{\"type\":\"structural_tag\",\"format\":{\"type\":\"tag\",\"begin\":\"<a>\",\"content\":{"
      "\"type\":\"any_text\",\"excludes\":[");
  for (unsigned i = 0; i < 2 * n; i++) add("%s\"%07x\"", i ? "," : "", (i + 1) * 2654435761u >> 4);
  add("]},\"end\":[");
  for (unsigned i = 0; i < n; i++) add("%s\"%08x:\"", i ? "," : "", (i + 1) * 2246822519u);
  add("]}}");
}
static void long_string(unsigned n) {
  add("{\"const\":\"");
  for (unsigned i = 0; i < n; i++) add("\xC3\xA9%u", i);
  add("\"}");
}
static void long_title(unsigned n) {
  add("{\"title\":\"");
  for (unsigned i = 0; i < n; i++) add("\xC3\xA9%u", i);
  add("\",\"type\":\"string\"}");
}
static void enum_of_objects(unsigned n) {
  add("{\"enum\":[");
  for (unsigned i = 0; i < n; i++) add("%s{\"kind\":\"k%u\",\"at\":[%u,null]}", i ? "," : "", i, i);
  add("]}");
}
static void long_pattern(unsigned n) {
  for (unsigned i = 0; i < n; i++) add("(a%u|b[c-x]{2,9})?", i);
}
static void many_definitions(unsigned n) {
  add("{\"type\":\"string\",\"$defs\":{");
  for (unsigned i = 0; i < n; i++)
    add("%s\"d%u\":{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/d%u\"}}}",
        i ? "," : "", i, (i + 1) % n);
  add("}}");
}
static void one_of_objects(unsigned n) {
  add("{\"oneOf\":[");
  for (unsigned i = 0; i < n; i++)
    add("%s{\"type\":\"object\",\"properties\":{\"k\":{\"const\":%u},\"v\":{}}}", i ? "," : "", i);
  add("]}");
}
static void lark_rules(unsigned n) {
  add("start: r0\n");
  for (unsigned i = 0; i < n; i++)
    add("r%u: \"a%u\" r%u? | T%u\nT%u: /x%u[a-z]*/\n", i, i, (i + 1) % n, i, i, i);
}
static void lark_keywords(unsigned n) {
  add("start: (NAME | NUMBER | \"(\" start \")\"");
  for (unsigned i = 0; i < n; i++) add(" | \"word%u\" NAME | \"<%u\"", i, i);
  add(")+\nNAME: /[a-z]\\w*/\nNUMBER: /\\d+(\\.\\d+)?/\n%%ignore \" \"\n");
}
static void lark_terminal(unsigned n) {
  add("start: T\nT: ");
  for (unsigned i = 0; i < n; i++) add("%s\"word%u\"", i ? " | " : "", i);
  add("\n");
}
static void ebnf_rules(unsigned n) {
  add("root ::= r0\n");
  for (unsigned i = 0; i < n; i++)
    add("r%u ::= \"a%u\" r%u? | [a-z]{2,%u} \"x\"\n", i, i, (i + 1) % n, 3 + i % 50);
}
static void abnf_rules(unsigned n) {
  for (unsigned i = 0; i < n; i++)
    add("r%u = \"a%u\" [r%u] / 2*%uALPHA \"x\"\n", i, i, (i + 1) % n, 3 + i % 50);
}
static void abnf_options(unsigned n) {
  add("r =");
  for (unsigned i = 0; i < n; i++) add(" [ %%i\"word%u\" ]", i);
  add("\n");
}
static void hidden_recursion(unsigned n) {
  add("root ::= a0\n");
  for (unsigned i = 0; i < n; i++) add("a%u ::= \"x\"? a%u \"x%u\"? | \"y\"?\n", i, (i + 1) % n, i);
}
static void ebnf_dispatches(unsigned n) {
  add("root ::= ");
  for (unsigned i = 0; i < n; i++) add("%sTagDispatch((\"<a%u>\", r))", i ? " | " : "", i);
  add("\nr ::= \"x\"\n");
}
static void ends_of_a_tag(unsigned n) {
  add("{\"type\":\"structural_tag\",\"format\":{\"type\":\"tag\",\"begin\":\"<a>\",\"content\":{"
      "\"type\":\"any_text\"},\"end\":[");
  for (unsigned i = 1; i <= n; i++) {
    add("%s\"", i > 1 ? "," : "");
    for (unsigned k = 0; k < i; k++) add("a");
    add("b\"");
  }
  add("]}}");
}
static void request_of_schema(unsigned n) {
  add("{\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"a\",\"schema\":");
  enum_of_objects(n);
  add("}}}");
}
static void request_of_tools(unsigned n) {
  add("{\"tools\":[");
  for (unsigned i = 0; i < n; i++)
    add("%s{\"type\":\"function\",\"function\":{\"name\":\"tool_%u\",\"parameters\":{\"type\":"
        "\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"b%u\":{\"type\":\"number\"}},"
        "\"required\":[\"a\"]}}}",
        i ? "," : "", i, i);
  add("]}");
}

typedef struct text_row {
  const char *name;
  form kind;
  void (*write)(unsigned n);
  unsigned n;
  const char *before; /* a text in front of the call; NULL: none */
} text_row;

static const text_row texts[] = {
    {"long multiples", A_SCHEMA, long_multiples, 12, NULL},
    {"many non-multiples", A_SCHEMA, many_non_multiples, 900, NULL},
    {"long excluded values", A_SCHEMA, long_excluded, 1000, NULL},
    {"long bounds", A_SCHEMA, long_bounds, 900, NULL},
    {"minProperties of names", A_SCHEMA, least_properties, 2000, NULL},
    {"unique words of a list", A_SCHEMA, unique_words, 2700, NULL},
    {"long words", A_SCHEMA, long_words, 7500, NULL},
    {"a long const", A_SCHEMA, long_string, 300000, NULL},
    {"a long title", A_SCHEMA, long_title, 300000, NULL},
    {"enum of objects", A_SCHEMA, enum_of_objects, 20000, NULL},
    {"enum of strings", A_SCHEMA, big_enum, 100000, NULL},
    {"many $defs", A_SCHEMA, many_definitions, 20000, NULL},
    {"oneOf of objects", A_SCHEMA, one_of_objects, 300, NULL},
    {"a long pattern", A_REGEX, long_pattern, 3000, NULL},
    {"counts in counts", A_REGEX, nested_repeat, 1000, NULL},
    {"alternatives", A_REGEX, alternatives, 20000, NULL},
    {"GBNF's rules", A_GBNF, many_rules, 20000, NULL},
    {"Lark's rules", A_LARK, lark_rules, 20000, NULL},
    {"keywords of Lark", A_LEXED, lark_keywords, 1500, NULL},
    {"a terminal of Lark", A_LARK, lark_terminal, 50000, NULL},
    {"EBNF's rules", AN_EBNF, ebnf_rules, 20000, NULL},
    {"ABNF's rules", AN_ABNF, abnf_rules, 20000, NULL},
    {"options of ABNF", AN_ABNF, abnf_options, 15000, "word12word"},
    {"hidden left recursion", A_GBNF, hidden_recursion, 600, NULL},
    {"dispatches of EBNF", AN_EBNF, ebnf_dispatches, 6000, NULL},
    {"ends of a tag", A_TAGS, ends_of_a_tag, 2400, NULL},
    {"ends and excludes of a tag", A_TAGS, ends_and_excludes, 1200, "<a>a"},
    {"tools", SOME_TOOLS, request_of_tools, 1500, NULL},
    {"a request", A_REQUEST, request_of_schema, 20000, NULL},
    {"a source", A_SOURCE, one_of_objects, 300, NULL},
};

static form form_of(shape_kind k) {
  return k == SCHEMA ? A_SCHEMA : k == REGEX ? A_REGEX : k == GBNF ? A_GBNF : A_TAGS;
}

static tsl_status compile_source(const tsl_limits *limits, tsl_grammar **out, tsl_error *error) {
  const tsl_source source = {
      .kind = TSL_SOURCE_JSON_SCHEMA, .text = text, .length = length, .limits = limits};
  return tsl_grammar_compile(vocab, &source, out, error);
}

static tsl_status compile(form kind, const tsl_limits *limits, tsl_grammar **out,
                          tsl_error *error) {
  const tsl_lark_options lexed = {.lexer = "basic"};
  switch (kind) {
  case A_LEXED: return tsl_grammar_lark(vocab, text, length, &lexed, limits, out, error);
  case A_SCHEMA: return tsl_grammar_json_schema(vocab, text, length, NULL, limits, out, error);
  case A_REGEX: return tsl_grammar_regex(vocab, text, length, NULL, limits, out, error);
  case A_GBNF: return tsl_grammar_gbnf(vocab, text, length, NULL, limits, out, error);
  case A_TAGS: return tsl_grammar_tags(vocab, text, length, NULL, limits, out, error);
  case A_LARK: return tsl_grammar_lark(vocab, text, length, NULL, limits, out, error);
  case AN_EBNF: return tsl_grammar_ebnf(vocab, text, length, NULL, limits, out, error);
  case AN_ABNF: return tsl_grammar_abnf(vocab, text, length, NULL, limits, out, error);
  case A_REQUEST: return tsl_grammar_request(vocab, text, length, NULL, limits, out, error);
  case A_SOURCE: return compile_source(limits, out, error);
  default:
    return tsl_grammar_tools(vocab, text, length, &(tsl_tools_options){.preset = "hermes"}, limits,
                             out, error);
  }
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* One call on a grammar whose calls have a deadline. */
typedef tsl_status (*call)(tsl_grammar *g, tsl_matcher *m);

static uint32_t *mask;

static tsl_status call_mask(tsl_grammar *g, tsl_matcher *m) {
  (void)g;
  return tsl_matcher_mask(m, mask);
}
static tsl_status call_shortest(tsl_grammar *g, tsl_matcher *m) {
  uint64_t bytes;
  (void)g;
  return tsl_matcher_shortest_completion(m, &bytes);
}
static tsl_status call_forced(tsl_grammar *g, tsl_matcher *m) {
  static uint8_t bytes[1 << 16];
  size_t count;
  (void)g;
  return tsl_matcher_forced_bytes(m, bytes, sizeof bytes, &count);
}
static tsl_status call_next(tsl_grammar *g, tsl_matcher *m) {
  uint32_t set[8];
  (void)g;
  return tsl_matcher_next_bytes(m, set);
}
static tsl_status call_prefetch(tsl_grammar *g, tsl_matcher *m) {
  (void)g;
  return tsl_matcher_prefetch(m, NULL, 0, DEADLINE_US, NULL);
}
static tsl_status call_draft_forced(tsl_grammar *g, tsl_matcher *m) {
  static tsl_token tokens[4096];
  size_t count, retract;
  (void)g;
  return tsl_matcher_draft_forced(m, NULL, 0, 0, tokens, 4096, &count, &retract);
}
static tsl_status call_budget(tsl_grammar *g, tsl_matcher *m) {
  tsl_budget *b = NULL;
  tsl_status status = tsl_budget_new(g, NULL, &b);
  if (!status) status = tsl_budget_start(b, m, 100, NULL);
  tsl_budget_free(b);
  return status;
}
static tsl_status call_budget_mask(tsl_grammar *g, tsl_matcher *m) {
  tsl_budget *b = NULL;
  tsl_status status = tsl_budget_new(g, NULL, &b);
  if (!status) status = tsl_budget_mask(b, m, 100000, mask);
  tsl_budget_free(b);
  return status;
}
static tsl_status call_borrow(tsl_grammar *g, tsl_matcher *m) {
  const uint32_t *lent;
  (void)g;
  return tsl_matcher_mask_borrow(m, &lent, NULL);
}
static tsl_status call_accept(tsl_grammar *g, tsl_matcher *m) {
  (void)g;
  tsl_status status = tsl_matcher_accept(m, '{');
  return status == TSL_REJECTED ? tsl_matcher_accept(m, 'a') : status;
}
static tsl_status call_bytes(tsl_grammar *g, tsl_matcher *m) {
  static char bytes[1 << 16];
  (void)g;
  memset(bytes, 'a', sizeof bytes);
  return tsl_matcher_accept_bytes(m, bytes, sizeof bytes, NULL);
}
static tsl_status call_validate(tsl_grammar *g, tsl_matcher *m) {
  tsl_token tokens[64];
  size_t valid;
  (void)g;
  for (size_t i = 0; i < 64; i++) tokens[i] = (tsl_token) "{[\"a1 "[i % 6];
  return tsl_matcher_validate(m, tokens, 64, &valid);
}
static tsl_status call_drafts(tsl_grammar *g, tsl_matcher *m) {
  const tsl_token tokens[2] = {'{', 'a'};
  const uint32_t parents[2] = {UINT32_MAX, UINT32_MAX};
  bool allowed[2];
  (void)g;
  uint32_t *masks = malloc(3 * tsl_vocab_mask_words(vocab) * sizeof *masks);
  tsl_status status = tsl_matcher_mask_drafts(m, tokens, parents, 2, masks, allowed);
  free(masks);
  return status;
}
static tsl_status call_completion(tsl_grammar *g, tsl_matcher *m) {
  tsl_budget *b = NULL;
  size_t count;
  tsl_status status = tsl_budget_new(g, NULL, &b);
  if (!status) status = tsl_budget_completion(b, m, NULL, 0, &count);
  tsl_budget_free(b);
  return status;
}
static tsl_status call_allows(tsl_grammar *g, tsl_matcher *m) {
  tsl_budget *b = NULL;
  tsl_status status = tsl_budget_new(g, NULL, &b);
  if (!status) status = tsl_budget_allows(b, m, 100000, '{');
  tsl_budget_free(b);
  return status;
}
static tsl_status call_wind_down(tsl_grammar *g, tsl_matcher *m) {
  static float row[1 << 17];
  tsl_budget *b = NULL;
  tsl_status status = tsl_budget_new(g, NULL, &b);
  if (!status) status = tsl_budget_wind_down(b, m, 10, 100, 1.0f, row);
  tsl_budget_free(b);
  return status;
}
static void skip_state(void *ctx, const tsl_state *state) { (void)ctx, (void)state; }
static tsl_status call_states(tsl_grammar *g, tsl_matcher *m) {
  (void)m;
  return tsl_grammar_states(g, skip_state, NULL);
}
static tsl_status even(void *ctx, const tsl_prefix *prefixes, size_t n, float *logits) {
  (void)ctx, (void)prefixes;
  memset(logits, 0, n * tsl_vocab_logits_width(vocab) * sizeof *logits);
  return TSL_OK;
}
static tsl_status call_score(tsl_grammar *g, tsl_matcher *m) {
  tsl_scores *s = NULL;
  (void)m;
  tsl_status status =
      tsl_score_all(g, even, NULL, &(tsl_score_options){.max_prefixes = 1}, NULL, &s, NULL);
  tsl_scores_free(s);
  return status;
}
static tsl_status call_score_from(tsl_grammar *g, tsl_matcher *m) {
  tsl_scores *s = NULL;
  (void)g;
  tsl_status status =
      tsl_score_all_from(m, even, NULL, &(tsl_score_options){.max_prefixes = 1}, NULL, &s, NULL);
  tsl_scores_free(s);
  return status;
}
static tsl_status call_beams(tsl_grammar *g, tsl_matcher *m) {
  tsl_beams *b = NULL;
  (void)m;
  tsl_status status = tsl_beam_search(
      g, even, NULL, &(tsl_beam_options){.width = 2, .max_tokens = 2}, NULL, &b, NULL);
  tsl_beams_free(b);
  return status;
}
static tsl_status call_align(tsl_grammar *g, tsl_matcher *m) {
  static tsl_token tokens[4];
  size_t count = 4;
  tsl_align *a = NULL;
  (void)m;
  tsl_status status =
      tsl_align_new(g, even, NULL, &(tsl_align_options){.max_tokens = 2}, NULL, &a, NULL);
  if (!status) status = tsl_align_sample(a, tokens, &count, NULL);
  tsl_align_free(a);
  return status;
}
static tsl_status call_artifact(tsl_grammar *g, tsl_matcher *m) {
  tsl_artifact *a = NULL;
  (void)m;
  tsl_status status = tsl_artifact_make(g, NULL, NULL, &a, NULL);
  tsl_artifact_free(a);
  return status;
}
static tsl_status call_report(tsl_grammar *g, tsl_matcher *m) {
  (void)m;
  tsl_grammar_report(g);
  return TSL_OK;
}

static const struct {
  const char *name;
  call call;
} calls[] = {{"tsl_matcher_mask", call_mask},
             {"tsl_matcher_shortest_completion", call_shortest},
             {"tsl_matcher_forced_bytes", call_forced},
             {"tsl_matcher_next_bytes", call_next},
             {"tsl_matcher_prefetch", call_prefetch},
             {"tsl_matcher_draft_forced", call_draft_forced},
             {"tsl_budget_start", call_budget},
             {"tsl_budget_mask", call_budget_mask},
             {"tsl_budget_completion", call_completion},
             {"tsl_budget_allows", call_allows},
             {"tsl_budget_wind_down", call_wind_down},
             {"tsl_matcher_mask_borrow", call_borrow},
             {"tsl_matcher_accept", call_accept},
             {"tsl_matcher_accept_bytes", call_bytes},
             {"tsl_matcher_validate", call_validate},
             {"tsl_matcher_mask_drafts", call_drafts},
             {"tsl_score_all_from", call_score_from},
             {"tsl_beam_search", call_beams},
             {"tsl_align_sample", call_align},
             {"tsl_score_all", call_score},
             {"tsl_artifact_make", call_artifact},
             {"tsl_grammar_report", call_report},
             {"tsl_grammar_states", call_states}};

/* ---- checks ---------------------------------------------------------------------------------- */

static double worst;
static char worst_name[200];

static void judge(const char *what, const char *name, double spent, double late,
                  tsl_status status) {
  CHECKF(spent < DEADLINE_US * 1e-3 + late, "%s, %s: %.1f ms of processor time, %s", name, what,
         spent, tsl_status_name(status));
  if (spent <= worst) return;
  worst = spent;
  snprintf(worst_name, sizeof worst_name, "%s, %s", name, what);
}

static void check_compile(const char *name, form kind) {
  static unsigned long number;
  if (!tsl_test_turn(number++, TURN_OF(1, 3))) return;
  double least = 1e9;
  tsl_status status = TSL_OK;
  for (int i = 0; i < RETRIES && least >= DEADLINE_US * 1e-3 + LATE_MS; i++) {
    tsl_grammar *g = NULL;
    tsl_error error;
    double from = milliseconds();
    status = compile(kind, &in_time, &g, &error);
    double spent = milliseconds() - from;
    if (spent < least) least = spent;
    tsl_grammar_release(g);
  }
  judge("compile", name, least, LATE_MS, status);
}

/* Each call on a grammar of its own, so that no call finds what another has left. */
static void check_call(const text_row *row, size_t k) {
  static unsigned long number;
  if (!tsl_test_turn(number++, TURN_OF(1, 4))) return;
  const double late = calls[k].call == call_report ? REPORT_FACTOR * LATE_MS : LATE_MS;
  double least = 1e9;
  tsl_status status = TSL_OK;
  for (int i = 0; i < RETRIES && least >= DEADLINE_US * 1e-3 + late; i++) {
    tsl_grammar *g = NULL;
    tsl_matcher *m = NULL;
    if (compile(row->kind, NULL, &g, NULL) != TSL_OK) return;
    if (tsl_matcher_new(g, NULL, &m) == TSL_OK) {
      const size_t before = row->before ? strlen(row->before) : 0;
      if (before) CHECK(tsl_matcher_accept_bytes(m, row->before, before, NULL) == TSL_OK);
      g->space->work.deadline_us = DEADLINE_US;
      double from = milliseconds();
      status = calls[k].call(g, m);
      double spent = milliseconds() - from;
      if (spent < least) least = spent;
    }
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
  judge(calls[k].name, row->name, least, late, status);
}

static void compiles(void) {
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    begin();
    texts[i].write(texts[i].n);
    check_compile(texts[i].name, texts[i].kind);
  }
  const struct {
    const shape *at;
    size_t n;
  } all[] = {{numbers, sizeof numbers / sizeof *numbers},
             {lists, sizeof lists / sizeof *lists},
             {steep, sizeof steep / sizeof *steep}};
  for (size_t k = 0; k < 3; k++)
    for (size_t i = 0; i < all[k].n; i++) {
      begin();
      all[k].at[i].write(all[k].at[i].n);
      check_compile(all[k].at[i].name, form_of(all[k].at[i].kind));
    }
}

/* Without a deadline a text compiles, or reaches a limit, which is said. */
static bool compiles_at_leisure(const text_row *row) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_status status = compile(row->kind, NULL, &g, &error);
  CHECKF(status == TSL_OK || status == TSL_ERR_LIMIT, "%s: %s", row->name, error.message);
  if (status != TSL_OK) printf("    no questions about %s: %s\n", row->name, error.message);
  tsl_grammar_release(g);
  return status == TSL_OK;
}

static void questions(void) {
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    begin();
    texts[i].write(texts[i].n / 3 + 1);
    if (!compiles_at_leisure(&texts[i])) continue;
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) check_call(&texts[i], k);
  }
}

int main(void) {
  tsl_grammar *g = NULL;
  tsl_error error;
  if (tsl_vocab_embedded(NULL, &vocab, &error) != TSL_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  /* the tables that all grammars of a vocabulary share, which no deadline ends */
  CHECK(tsl_grammar_json_schema(vocab, "{}", 2, NULL, NULL, &g, NULL) == TSL_OK);
  tsl_grammar_release(g);
  mask = malloc(tsl_vocab_mask_words(vocab) * sizeof *mask);
  RUN(compiles, "compiles end at their deadline");
  RUN(questions, "so do masks and questions");
  printf("    the longest took %.1f ms: %s\n", worst, worst_name);
  free(mask);
  free(text);
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
