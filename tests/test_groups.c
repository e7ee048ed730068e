/* test_groups.c - masks of characters that are counted in groups, and of fields between which something comes: random patterns and grammars.
 *
 * A vocabulary of words, runs of words with what separates them, and long tokens; patterns such as `^(\w{1,20} ?){1,12}$`, grammars such as rows of fields of at most so many characters. Along random texts each
 * mask must allow just the tokens that can be accepted one by one; and of a pattern, single bytes must be allowed where PCRE2 says that a match may go on with them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "tests/draw.h"
#include "turnstile.h"

#define TOKENS 1800u
#define LONGEST 90u
#define STEPS 14
#define TEXT_MAX 8192
#define ASKED 8            /* bytes that PCRE2 is asked for at each step */
#define MATCH_MAX 200000u  /* its steps */

static tsl_vocab *vocab;
static uint64_t seed = 5;
static unsigned rounds = ROUNDS_OF(60u), first; /* numbers of patterns, from which on */
static unsigned long compared, judged, refused, given_up;

static unsigned below(unsigned n) { return (unsigned)(tsl_test_random(&seed) % n); }

/* Single bytes first, then words with what may come between them. */
static void make_vocab(void) {
  static uint8_t bytes[TOKENS * (LONGEST + 8)];
  static uint32_t offsets[TOKENS + 1];
  static uint8_t special[TOKENS];
  static const char *const between[] = {" ", " ", " ", "-", "_", ",", "\n", "\r\n", ".", "\"", "\\n", "\t", "\xC3\xA9", "\xE2\x80\xA8", "\",\"", "1"};
  uint32_t n = 0;
  for (uint32_t t = 0; t < TOKENS; t++) {
    offsets[t] = n;
    if (t < 256) {
      bytes[n++] = (uint8_t)t;
      continue;
    }
    if (t == 256) { /* ends a generation */
      special[t] = 1;
      memcpy(bytes + n, "<end>", 5);
      n += 5;
      continue;
    }
    uint32_t length = 1 + (below(8) ? below(12) : below(LONGEST)), begin = n, word = 1 + below(below(3) ? 7 : 30);
    if (below(3) == 0) bytes[n++] = ' ';
    while (n - begin < length) {
      const char *piece = between[below(sizeof between / sizeof *between)];
      for (uint32_t k = 0; k < word && n - begin < length; k++) bytes[n++] = (uint8_t)("abcdefghijklmnopqrstuvwxyzABCD0f"[below(32)]);
      if (below(2)) continue;
      memcpy(bytes + n, piece, strlen(piece));
      n += (uint32_t)strlen(piece);
    }
  }
  offsets[TOKENS] = n;
  const tsl_token end = 256;
  tsl_vocab_desc desc = {bytes, offsets, TOKENS, 0, special, &end, 1};
  tsl_error error = {0};
  CHECKF(tsl_vocab_new(&desc, NULL, &vocab, &error) == TSL_OK, "%s", error.message);
}

/* ---- PCRE2 ----------------------------------------------------------------------------------------------------- */

typedef struct judge {
  pcre2_code *pattern;
  pcre2_match_data *match;
  pcre2_match_context *context;
} judge;

static judge judge_of(const char *pattern) {
  int code;
  PCRE2_SIZE offset;
  judge j = {.context = pcre2_match_context_create(NULL)};
  pcre2_compile_context *c = pcre2_compile_context_create(NULL);
  pcre2_set_newline(c, PCRE2_NEWLINE_ANYCRLF); /* what ECMA-262's dot leaves out, in ASCII */
  j.pattern = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_DOLLAR_ENDONLY, &code, &offset, c);
  CHECKF(j.pattern != NULL, "%s", pattern);
  if (j.pattern) j.match = pcre2_match_data_create_from_pattern(j.pattern, NULL);
  pcre2_set_match_limit(j.context, MATCH_MAX);
  pcre2_compile_context_free(c);
  return j;
}

static void judge_free(judge *j) {
  pcre2_match_data_free(j->match);
  pcre2_match_context_free(j->context);
  pcre2_code_free(j->pattern);
}

/* Does the text match, or begin something that does? -1: it is not known. */
static int matches(const judge *j, const char *text, size_t n, bool begin) {
  int rc = pcre2_match(j->pattern, (PCRE2_SPTR)text, n, 0, PCRE2_ANCHORED | (begin ? PCRE2_PARTIAL_HARD : 0), j->match, j->context);
  return rc > 0 || rc == PCRE2_ERROR_PARTIAL ? 1 : rc == PCRE2_ERROR_NOMATCH ? 0 : -1;
}

static void ask(const judge *j, const tsl_matcher *m, const uint32_t *mask, char *text, const char *what) {
  size_t n = strlen(text);
  for (const char *p = text; *p; p++)
    if (*p & 0x80) return; /* they agree in ASCII */
  int verdict = matches(j, text, n, false);
  if (verdict >= 0) CHECKF(tsl_matcher_is_complete(m) == verdict, "%s on '%s'", what, text);
  for (int k = 0; k < ASKED && n + 2 < TEXT_MAX; k++) {
    char byte = " -_,\n\ra1fzA.\t\"q"[below(16)];
    text[n] = byte;
    text[n + 1] = 0;
    verdict = matches(j, text, n + 1, true);
    if (verdict >= 0) CHECKF(tsl_mask_has(mask, (tsl_token)byte) == verdict, "%s after '%s'", what, text);
    judged += verdict >= 0;
    text[n] = 0;
  }
}

/* ---- texts ----------------------------------------------------------------------------------------------------- */

/* Random texts of a grammar, each mask beside every token by itself, and beside `j` (may be NULL). */
static void follow(tsl_grammar *g, const char *what, const judge *j) {
  static uint32_t mask[(TOKENS + 31) / 32 + 16];
  static char text[TEXT_MAX];
  tsl_matcher *m = NULL;
  text[0] = 0;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (int step = 0; m && step < STEPS && !tsl_matcher_is_terminated(m); step++) {
    tsl_status status = tsl_matcher_mask(m, mask);
    if (status == TSL_ERR_LIMIT) { /* too ambiguous: said, not wrong */
      given_up++;
      break;
    }
    CHECKF(status == TSL_OK, "%s: %s", what, tsl_status_name(status));
    bool right = status == TSL_OK && mask_is_right(m, mask, what, text);
    CHECK(right);
    if (j) ask(j, m, mask, text, what);
    tsl_token t = right ? draw(mask, (TOKENS + 31) / 32 * 32, &seed) : TSL_NO_TOKEN;
    if (t == TSL_NO_TOKEN) break;
    compared++;
    if (tsl_mask_has(mask, 'a') && (t == 256 || below(3) == 0)) t = 'a'; /* to go on, by a step that leaves a limit near */
    CHECK(tsl_matcher_accept(m, t) == TSL_OK);
    size_t n;
    const uint8_t *bytes = tsl_vocab_bytes(vocab, t, &n);
    if (memchr(bytes, 0, n) || strlen(text) + n + 1 >= sizeof text) j = NULL; /* the text is not kept from here on */
    else strncat(text, (const char *)bytes, n);
  }
  tsl_matcher_free(m);
}

/* ---- patterns -------------------------------------------------------------------------------------------------- */

typedef struct writer {
  char at[600];
  size_t n;
} writer;

#define PUT(w, ...) ((w)->n += (size_t)snprintf((w)->at + (w)->n, sizeof(w)->at - (w)->n, __VA_ARGS__))

static const char *a_class(void) {
  static const char *const classes[] = {"[a-z]", "[A-Za-z]", "\\w", "\\S", "[^,]", ".", "[a-z ]", "[0-9a-f]", "[^_\\n]", "[a-zA-Z0-9]"};
  return classes[below(sizeof classes / sizeof *classes)];
}

static void put_times(writer *w, unsigned most) {
  unsigned min = below(3), max = min + 1 + below(most);
  if (below(9) == 0) PUT(w, "%s", below(2) ? "+" : "*");
  else PUT(w, "{%u,%u}", min, max);
}

static void put_separator(writer *w) {
  static const char *const separators[] = {" ?", "\\s?", "-?", "[ -]?", "_?", "\\n?", " ", ",", "-", ", ?", "(?: |, )", "(?:-a)?"};
  PUT(w, "%s", separators[below(sizeof separators / sizeof *separators)]);
}

static void put_group(writer *w, const char *class) {
  PUT(w, "(?:");
  if (below(3) == 0) put_separator(w);
  PUT(w, "%s", below(5) ? class : a_class());
  put_times(w, below(2) ? 40 : 9);
  if (below(3)) put_separator(w);
  PUT(w, ")");
  put_times(w, below(2) ? 5 : 20);
}

static void put_pattern(writer *w) {
  const char *class = a_class();
  PUT(w, "^");
  for (unsigned parts = 1 + below(2) * below(3), i = 0; i < parts; i++) {
    if (below(4) == 0) {
      PUT(w, "%s", class);
      put_times(w, 50);
      if (below(2)) put_separator(w);
    }
    put_group(w, class);
  }
  PUT(w, "$");
}

static void patterns(void) {
  for (unsigned i = first; i < first + rounds; i++) {
    writer w = {.n = 0}, schema = {.n = 0};
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    seed = i * 7177 + 1;
    put_pattern(&w);
    bool json = below(2);
    if (json) {
      PUT(&schema, "{\"type\":\"string\",\"pattern\":\"");
      for (const char *p = w.at; *p; p++) PUT(&schema, *p == '\\' ? "\\\\" : "%c", *p);
      PUT(&schema, "\"");
      if (below(2)) PUT(&schema, ",\"maxLength\":%u", 10 + below(90));
      PUT(&schema, "}");
    }
    const tsl_limits limits = {.max_steps = 4000000};
    tsl_status status = json ? tsl_grammar_json_schema(vocab, schema.at, schema.n, NULL, &limits, &g, &error) : tsl_grammar_regex(vocab, w.at, w.n, NULL, &limits, &g, &error);
    CHECKF(status == TSL_OK || status == TSL_ERR_LIMIT, "%s: %s", json ? schema.at : w.at, error.message);
    refused += status == TSL_ERR_LIMIT;
    judge j = judge_of(w.at);
    for (int k = 0; g && j.match && k < 2; k++) follow(g, json ? schema.at : w.at, json ? NULL : &j);
    judge_free(&j);
    tsl_grammar_release(g);
  }
}

/* Groups that must have some letters each, in texts that may not be long: what is begun must still fit. */
static void groups_and_lengths(void) {
  static const char *const forms[] = {"^(?:[a-z]{5,20}-?)+$", "^(?:[a-z]{9,20} ?){1,30}$", "^[a-z]{0,9}(?:[A-Za-z]{17,40}_?)*$"};
  char schema[200];
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    for (unsigned most = 12; most <= 60; most += 16) {
      tsl_grammar *g = NULL;
      tsl_error error = {0};
      snprintf(schema, sizeof schema, "{\"type\":\"string\",\"pattern\":\"%s\",\"maxLength\":%u}", forms[i], most);
      CHECKF(tsl_grammar_json_schema(vocab, schema, strlen(schema), NULL, NULL, &g, &error) == TSL_OK, "%s: %s", schema, error.message);
      if (g) follow(g, schema, NULL);
      tsl_grammar_release(g);
    }
}

/* ---- fields ---------------------------------------------------------------------------------------------------- */

static void put_field(writer *w, const char *name) {
  static const char *const classes[] = {"[^,\\n]", "[a-z]", "[^,]", "[^\\n]", "[a-z ]", "char"};
  PUT(w, "%s ::= ", name);
  if (below(3) == 0) PUT(w, "\"\\\"\" [^\"\\n]{0,%u} \"\\\"\" | ", 20 + below(60));
  if (below(4) == 0) PUT(w, "[A-D] ");
  PUT(w, "%s{%u,%u}\n", classes[below(sizeof classes / sizeof *classes)], below(3), 12 + below(80));
}

static void put_grammar(writer *w) {
  static const char *const roots[] = {"row (\"\\n\" row)*", "(row \"\\n\"){1,3}", "row \"\\n\" row? other", "row (other | \"\\n\" row)", "\"(\" row root? \")\"", "other row", "row+"};
  static const char *const rows[] = {"f (\",\" f)*", "f \",\" f \",\" f", "f (\", \" f){0,5}", "f | \"-\" f \",\" row", "f? (\",\" f?)*", "f other? \",\" f", "other \"=\" f"};
  PUT(w, "root ::= %s\nrow ::= %s\n", roots[below(sizeof roots / sizeof *roots)], rows[below(sizeof rows / sizeof *rows)]);
  put_field(w, "f");
  put_field(w, "other");
  PUT(w, "char ::= [^,\"\\n]\n");
}

static void fields(void) {
  for (unsigned i = first; i < first + rounds; i++) {
    writer w = {.n = 0};
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    seed = i * 9181 + 2;
    put_grammar(&w);
    tsl_status status = tsl_grammar_gbnf(vocab, w.at, w.n, NULL, NULL, &g, &error);
    CHECKF(status == TSL_OK, "%s: %s", w.at, error.message);
    for (int k = 0; g && k < 2; k++) follow(g, w.at, NULL);
    tsl_grammar_release(g);
  }
}

static void masks_were_compared(void) {
  printf("     %lu masks compared, %lu bytes judged by PCRE2; %lu times the limit of steps, %lu patterns too large\n", compared, judged, given_up, refused);
  CHECK(judged > rounds * 20 && compared > rounds * 10 && given_up * 20 < compared && refused * 10 < rounds);
}

/* test_groups [ROUNDS [FIRST]] */
int main(int argc, char **argv) {
  if (argc > 1) rounds = (unsigned)strtoul(argv[1], NULL, 10);
  if (argc > 2) first = (unsigned)strtoul(argv[2], NULL, 10);
  make_vocab();
  if (!vocab) return tsl_test_end();
  RUN(patterns, "patterns of groups");
  RUN(groups_and_lengths, "groups in texts that may not be long");
  RUN(fields, "fields in rows");
  RUN(masks_were_compared, "the comparison did happen");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
