/* test_groups.c - masks of characters that are counted in groups, and of fields between which
 * something comes. Also masks of several patterns for one text of limited length. Patterns and
 * grammars are random.
 *
 * The vocabulary has words, runs of words with what separates them, and long tokens. A pattern is
 * like `^(\w{1,20} ?){1,12}$`. A grammar is like rows of fields of at most so many characters.
 * Along random texts each mask must allow just the tokens that can be accepted one by one. Of a
 * pattern, single bytes must be allowed where PCRE2 says that a match may go on with them. There
 * may be several patterns, each of which may be forbidden. PCRE2 tries all texts of up to five
 * letters over four letters. After each beginning just those letters must be allowed with which one
 * of the texts goes on. Of longer ones each text must come to an end, and match.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "tests/support/draw.h"
#include "turnstile.h"

#define TOKENS 1800u
#define LONGEST 90u
#define STEPS 14
#define TEXT_MAX 8192
#define TRIED 8           /* bytes that PCRE2 is called with at each step */
#define MATCH_MAX 200000u /* its steps */

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
  static const char *const between[] = {" ",     " ", " ",  "-",   "_",  ",",        "\n",
                                        "\r\n",  ".", "\"", "\\n", "\t", "\xC3\xA9", "\xE2\x80\xA8",
                                        "\",\"", "1"};
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
    uint32_t length = 1 + (below(8) ? below(12) : below(LONGEST)), begin = n,
             word = 1 + below(below(3) ? 7 : 30);
    if (below(3) == 0) bytes[n++] = ' ';
    while (n - begin < length) {
      const char *piece = between[below(sizeof between / sizeof *between)];
      for (uint32_t k = 0; k < word && n - begin < length; k++)
        bytes[n++] = (uint8_t)("abcdefghijklmnopqrstuvwxyzABCD0f"[below(32)]);
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

/* ---- PCRE2 ----------------------------------------------------------------------------------- */

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
  j.pattern = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                            PCRE2_UTF | PCRE2_DOLLAR_ENDONLY, &code, &offset, c);
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

/* Does the text match, or (PCRE2_PARTIAL_HARD) begin something that does? -1: it is not known. */
static int matches(const judge *j, const char *text, size_t n, uint32_t how) {
  int rc = pcre2_match(j->pattern, (PCRE2_SPTR)text, n, 0, how, j->match, j->context);
  return rc > 0 || rc == PCRE2_ERROR_PARTIAL ? 1 : rc == PCRE2_ERROR_NOMATCH ? 0 : -1;
}

static void ask(const judge *j, const tsl_matcher *m, const uint32_t *mask, char *text,
                const char *what) {
  size_t n = strlen(text);
  for (const char *p = text; *p; p++)
    if (*p & 0x80) return; /* they agree in ASCII */
  int verdict = matches(j, text, n, PCRE2_ANCHORED);
  if (verdict >= 0) CHECKF(tsl_matcher_is_complete(m) == verdict, "%s on '%s'", what, text);
  for (int k = 0; k < TRIED && n + 2 < TEXT_MAX; k++) {
    char byte = " -_,\n\ra1fzA.\t\"q"[below(16)];
    text[n] = byte;
    text[n + 1] = 0;
    verdict = matches(j, text, n + 1, PCRE2_ANCHORED | PCRE2_PARTIAL_HARD);
    if (verdict >= 0)
      CHECKF(tsl_mask_has(mask, (tsl_token)byte) == verdict, "%s after '%s'", what, text);
    judged += verdict >= 0;
    text[n] = 0;
  }
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Random texts of a grammar, each mask beside every token by itself, and beside `j` (may be
 * NULL). */
static void follow(tsl_grammar *g, const char *what, const judge *j) {
  static uint32_t mask[(TOKENS + 31) / 32 + 16];
  static char text[TEXT_MAX];
  tsl_matcher *m = NULL;
  text[0] = 0;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (int step = 0; m && step < STEPS && !tsl_matcher_is_terminated(m); step++) {
    bool limit, right = checked_mask(m, mask, what, text, &limit);
    given_up += limit;
    if (limit) break;
    if (j) ask(j, m, mask, text, what);
    tsl_token t = right ? draw(mask, (TOKENS + 31) / 32 * 32, &seed) : TSL_NO_TOKEN;
    if (t == TSL_NO_TOKEN) break;
    compared++;
    /* to go on, by a step that leaves a limit near */
    if (tsl_mask_has(mask, 'a') && (t == 256 || below(3) == 0)) t = 'a';
    if (!take_and_keep(m, t, text, sizeof text)) j = NULL; /* the text is not kept from here on */
  }
  tsl_matcher_free(m);
}

/* ---- patterns -------------------------------------------------------------------------------- */

typedef struct writer {
  char at[3000];
  size_t n;
} writer;

#define PUT(w, ...) \
  ((w)->n += (size_t)snprintf((w)->at + (w)->n, sizeof(w)->at - (w)->n, __VA_ARGS__))

static const char *a_class(void) {
  static const char *const classes[] = {"[a-z]", "[A-Za-z]", "\\w",      "\\S",     "[^,]",
                                        ".",     "[a-z ]",   "[0-9a-f]", "[^_\\n]", "[a-zA-Z0-9]"};
  return classes[below(sizeof classes / sizeof *classes)];
}

static void put_times(writer *w, unsigned most) {
  unsigned min = below(3), max = min + 1 + below(most);
  if (below(9) == 0)
    PUT(w, "%s", below(2) ? "+" : "*");
  else
    PUT(w, "{%u,%u}", min, max);
}

static void put_separator(writer *w) {
  static const char *const separators[] = {" ?", "\\s?", "-?", "[ -]?", "_?",       "\\n?",
                                           " ",  ",",    "-",  ", ?",   "(?: |, )", "(?:-a)?"};
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
    tsl_status status =
        json ? tsl_grammar_json_schema(vocab, schema.at, schema.n, NULL, &limits, &g, &error)
             : tsl_grammar_regex(vocab, w.at, w.n, NULL, &limits, &g, &error);
    CHECKF(status == TSL_OK || status == TSL_ERR_LIMIT, "%s: %s", json ? schema.at : w.at,
           error.message);
    refused += status == TSL_ERR_LIMIT;
    judge j = judge_of(w.at);
    for (int k = 0; g && j.match && k < 2; k++)
      follow(g, json ? schema.at : w.at, json ? NULL : &j);
    judge_free(&j);
    tsl_grammar_release(g);
  }
}

/* Groups that must have some letters each, in texts that may not be long: what is begun must still
 * fit. */
static void groups_and_lengths(void) {
  static const char *const forms[] = {"^(?:[a-z]{5,20}-?)+$", "^(?:[a-z]{9,20} ?){1,30}$",
                                      "^[a-z]{0,9}(?:[A-Za-z]{17,40}_?)*$"};
  char schema[200];
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    for (unsigned most = 12; most <= 60; most += 16) {
      tsl_grammar *g = NULL;
      tsl_error error = {0};
      snprintf(schema, sizeof schema, "{\"type\":\"string\",\"pattern\":\"%s\",\"maxLength\":%u}",
               forms[i], most);
      CHECKF(tsl_grammar_json_schema(vocab, schema, strlen(schema), NULL, NULL, &g, &error) ==
                 TSL_OK,
             "%s: %s", schema, error.message);
      if (g) follow(g, schema, NULL);
      tsl_grammar_release(g);
    }
}

/* One of a few alternatives goes on with letters, of which it must have more than a short
 * alternative has. The short one must not hide that these letters do not fit. */
static void long_alternatives(void) {
  static const char *const heads[] = {"", "a", "[ab]", "[0-9a-f]"}, *const classes[] = {
                                                                        "[^,]", "[a-z ]", ".",
                                                                        "[ab ]", "[^0-9]"};
  static const char *const others[] = {"a", "", "ab", "[ab]{0,3}", "1*", "a,", "(?:1[a-z]*)?"},
                           *const tails[] = {"", "0", ",?", "[a-z]{3}"};
  static const char *const texts[] = {"\"", "\"a", "\"0", "\"ab", "\"a a"};
  static uint32_t mask[4096 / 32];
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK &&
        tsl_vocab_mask_words(v) <= sizeof mask / sizeof *mask);
  for (unsigned i = first; v && i < first + rounds; i++) {
    writer w = {.n = 0};
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    seed = i * 6133 + 3;
    PUT(&w, "{\"type\":\"string\",\"pattern\":\"^(?:%s%s{%u,}|%s|%s)%s$\"", heads[below(4)],
        classes[below(5)], below(90), others[below(7)], others[below(7)], tails[below(4)]);
    PUT(&w, ",\"maxLength\":%u}", 5 + below(50));
    CHECKF(tsl_grammar_json_schema(v, w.at, w.n, NULL, NULL, &g, &error) == TSL_OK ||
               error.status == TSL_ERR_EMPTY,
           "%s: %s", w.at, error.message);
    for (size_t k = 0; g && k < sizeof texts / sizeof *texts; k++) {
      tsl_matcher *m = NULL;
      CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
      if (tsl_matcher_accept_bytes(m, texts[k], strlen(texts[k]), NULL) == TSL_OK)
        CHECK(tsl_matcher_mask(m, mask) == TSL_OK && mask_is_right(m, mask, w.at, texts[k]));
      tsl_matcher_free(m);
    }
    tsl_grammar_release(g);
  }
  tsl_vocab_release(v);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void put_field(writer *w, const char *name) {
  static const char *const classes[] = {"[^,\\n]", "[a-z]", "[^,]", "[^\\n]", "[a-z ]", "char"};
  PUT(w, "%s ::= ", name);
  if (below(3) == 0) PUT(w, "\"\\\"\" [^\"\\n]{0,%u} \"\\\"\" | ", 20 + below(60));
  if (below(4) == 0) PUT(w, "[A-D] ");
  PUT(w, "%s{%u,%u}\n", classes[below(sizeof classes / sizeof *classes)], below(3), 12 + below(80));
}

static void put_grammar(writer *w) {
  static const char *const roots[] = {"row (\"\\n\" row)*",
                                      "(row \"\\n\"){1,3}",
                                      "row \"\\n\" row? other",
                                      "row (other | \"\\n\" row)",
                                      "\"(\" row root? \")\"",
                                      "other row",
                                      "row+"};
  static const char *const rows[] = {
      "f (\",\" f)*",   "f \",\" f \",\" f", "f (\", \" f){0,5}", "f | \"-\" f \",\" row",
      "f? (\",\" f?)*", "f other? \",\" f",  "other \"=\" f"};
  PUT(w, "root ::= %s\nrow ::= %s\n", roots[below(sizeof roots / sizeof *roots)],
      rows[below(sizeof rows / sizeof *rows)]);
  put_field(w, "f");
  put_field(w, "other");
  PUT(w, "char ::= [^,\"\\n]\n");
}

/* The grammar of a text, followed twice. */
static void follow_grammar(const writer *w) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_status status = tsl_grammar_gbnf(vocab, w->at, w->n, NULL, NULL, &g, &error);
  CHECKF(status == TSL_OK, "%s: %s", w->at, error.message);
  for (int k = 0; g && k < 2; k++) follow(g, w->at, NULL);
  tsl_grammar_release(g);
}

static void fields(void) {
  for (unsigned i = first; i < first + rounds; i++) {
    writer w = {.n = 0};
    seed = i * 9181 + 2;
    put_grammar(&w);
    follow_grammar(&w);
  }
}

/* Dozens of parts that may be missing: words, classes, loops, rules with frames of their own. */
static void chains(void) {
  static const char *const parts[] = {"\"%c%c\"?", "[%c-z%c]?",       "(\"%c%c\" | \"1\")?",
                                      "\"%c%c\"*", "nest? \"%c%c\"?", "maybe [%c1%c]?"};
  for (unsigned i = first; i < first + rounds; i++) {
    writer w = {.n = 0};
    seed = i * 7411 + 5;
    PUT(&w, "root ::= ");
    for (unsigned k = 40 + below(60); k-- > 0;) {
      unsigned kind = below(3) ? 0 : below(sizeof parts / sizeof *parts);
      PUT(&w, parts[kind], 'a' + (int)below(20), 'a' + (int)below(20));
      PUT(&w, " ");
    }
    PUT(&w, "\".\"\nnest ::= \"(\" nest? \")\"\nmaybe ::= (\"[\" maybe \"]\")?\n");
    follow_grammar(&w);
  }
}

/* ---- several patterns ------------------------------------------------------------------------ */

#define PARTS 6u
#define LETTERS "aA1_"
#define SHORT 5u          /* letters of the longest text of which all are tried */
#define SHORT_TEXTS 1365u /* 4^0 + ... + 4^5 */
#define LONG_STEPS 160

/* A text that must match some patterns, and must not match others. */
typedef struct meet {
  const char *pattern[PARTS];
  judge of[PARTS];
  bool forbidden[PARTS];
  unsigned n, least, most;
  writer schema;
} meet;

static void put_meet(meet *m, const char *all, unsigned least, unsigned most) {
  static const char *const parts[] = {"a",
                                      "[A1]",
                                      "(.*[a-z]){2}",
                                      "(?:[A1_].*){3}",
                                      "^(?!.*aa)",
                                      "A$",
                                      "^[^1]*$",
                                      "_a|1A",
                                      "^(?=.*A)(?=.*1)",
                                      "^(?=.*[A-Z]).{1,4}$",
                                      "^[aA1]{1,40}_?",
                                      "^a",
                                      "^(.*1)?$",
                                      "[^a-zA-Z0-9]",
                                      "^(?=.*[A-Z])(?=.*[0-9])(?=.*[^a-zA-Z0-9]).{2,64}$",
                                      "^(?=(.*[a-z]){2})(?=(.*[0-9]){2}).{3,30}$",
                                      "^(?!(?:a|A1)$)",
                                      "a1a1|_A_A",
                                      "^[a-zA-Z0-9_]{3,20}$",
                                      "^\\S(?:.*\\S)?$",
                                      "^(?!.*(?:1A|__))[^_].*$"};
  *m = (meet){.n = 1 + below(PARTS - 1), .least = least, .most = most};
  PUT(&m->schema, "{\"type\":\"string\",\"allOf\":[");
  for (unsigned i = 0; i <= m->n; i++) {
    bool last = i == m->n;
    if (last && !all) break;
    m->pattern[i] = last ? all : parts[below(sizeof parts / sizeof *parts)];
    m->forbidden[i] = !last && below(5) == 0;
    m->of[i] = judge_of(m->pattern[i]);
    PUT(&m->schema, m->forbidden[i] ? "%s{\"not\":{\"pattern\":\"" : "%s{\"pattern\":\"",
        i ? "," : "");
    for (const char *p = m->pattern[i]; *p; p++) PUT(&m->schema, *p == '\\' ? "\\\\" : "%c", *p);
    PUT(&m->schema, m->forbidden[i] ? "\"}}" : "\"}");
  }
  m->n += all != NULL;
  PUT(&m->schema, "]");
  if (least) PUT(&m->schema, ",\"minLength\":%u", least);
  if (most) PUT(&m->schema, ",\"maxLength\":%u", most);
  PUT(&m->schema, "}");
}

static void meet_free(meet *m) {
  for (unsigned i = 0; i < m->n; i++) judge_free(&m->of[i]);
}

/* Is it such a text, by PCRE2? -1: it is not known. */
static int is_valid(const meet *m, const char *text, size_t n) {
  if (n < m->least || (m->most && n > m->most)) return 0;
  for (unsigned i = 0; i < m->n; i++) {
    int verdict = matches(&m->of[i], text, n, 0);
    if (verdict < 0) return -1;
    if (verdict == m->forbidden[i]) return 0;
  }
  return 1;
}

/* All texts of a few letters by number: which are such, and which go on to one. Returns whether any
 * does; -1: it is not known. */
static int try_texts(const meet *m, unsigned number, char *text, size_t n, bool *valid,
                     bool *alive) {
  int verdict = is_valid(m, text, n);
  if (verdict < 0) return -1;
  valid[number] = alive[number] = verdict;
  for (unsigned k = 0; n < SHORT && k < 4; k++) {
    text[n] = LETTERS[k];
    if ((verdict = try_texts(m, number * 4 + 1 + k, text, n + 1, valid, alive)) < 0) return -1;
    alive[number] |= verdict;
  }
  return alive[number];
}

/* After each beginning of such texts. */
static void compare_texts(const meet *of, tsl_matcher *m, unsigned number, char *text, size_t n,
                          const bool *valid, const bool *alive) {
  uint32_t mask[(TOKENS + 31) / 32 + 16];
  tsl_status status = tsl_matcher_mask(m, mask);
  text[n] = 0;
  if (status == TSL_ERR_LIMIT) {
    given_up++;
    return;
  }
  CHECKF(status == TSL_OK, "%s after '%s': %s", of->schema.at, text, tsl_status_name(status));
  CHECKF(tsl_mask_has(mask, '"') == valid[number], "%s after '%s'", of->schema.at, text);
  compared++;
  for (unsigned k = 0; k < 4; k++) {
    tsl_token t = (tsl_token)LETTERS[k];
    bool lives = n < SHORT && alive[number * 4 + 1 + k];
    CHECKF(tsl_mask_has(mask, t) == lives, "%s after '%s%c'", of->schema.at, text, LETTERS[k]);
    judged++;
    if (!lives || tsl_matcher_accept(m, t) != TSL_OK) continue;
    text[n] = LETTERS[k];
    compare_texts(of, m, number * 4 + 1 + k, text, n + 1, valid, alive);
    CHECK(tsl_matcher_rollback(m, 1) == TSL_OK);
    text[n] = 0;
  }
}

static tsl_grammar *compile_meet(const meet *m, tsl_status *status, tsl_error *error) {
  const tsl_limits limits = {.max_steps = 4000000};
  tsl_grammar *g = NULL;
  *status = tsl_grammar_json_schema(vocab, m->schema.at, m->schema.n, NULL, &limits, &g, error);
  CHECKF(*status == TSL_OK || *status == TSL_ERR_LIMIT || *status == TSL_ERR_EMPTY, "%s: %s",
         m->schema.at, error->message);
  refused += *status == TSL_ERR_LIMIT;
  return g;
}

static void short_meets(void) {
  for (unsigned i = first; i < first + rounds; i++) {
    static bool valid[SHORT_TEXTS], alive[SHORT_TEXTS];
    char text[SHORT + 2];
    meet of;
    tsl_error error = {0};
    tsl_status status;
    tsl_matcher *m = NULL;
    seed = i * 6151 + 3;
    unsigned least = below(2) * below(4);
    put_meet(&of, "^[" LETTERS "]*$", least, least + below(SHORT - least + 1));
    if (of.most == 0) of.most = SHORT, of.schema.n--, PUT(&of.schema, ",\"maxLength\":%u}", SHORT);
    tsl_grammar *g = compile_meet(&of, &status, &error);
    int any = try_texts(&of, 0, text, 0, valid, alive);
    if (any >= 0 && status != TSL_ERR_LIMIT)
      CHECKF((status == TSL_OK) == any, "%s: %s", of.schema.at, tsl_status_name(status));
    if (g && any > 0 && tsl_matcher_new(g, NULL, &m) == TSL_OK &&
        tsl_matcher_accept(m, '"') == TSL_OK)
      compare_texts(&of, m, 0, text, 0, valid, alive);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
    meet_free(&of);
  }
}

/* A random text to its end; it is then judged if it is ASCII and has no escapes. */
static void follow_to_the_end(const meet *of, tsl_grammar *g) {
  static uint32_t mask[(TOKENS + 31) / 32 + 16];
  static char text[TEXT_MAX];
  tsl_matcher *m = NULL;
  size_t n = 0, length;
  bool plain = true;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (int step = 0; m && step < LONG_STEPS && !tsl_matcher_is_terminated(m); step++) {
    tsl_status status = tsl_matcher_mask(m, mask);
    if (status == TSL_ERR_LIMIT) {
      given_up++;
      break;
    }
    CHECKF(status == TSL_OK && (step % 6 || mask_is_right(m, mask, of->schema.at, text)),
           "%s after '%s': %s", of->schema.at, text, tsl_status_name(status));
    tsl_token t = draw(mask, (TOKENS + 31) / 32 * 32, &seed);
    CHECKF(t != TSL_NO_TOKEN, "%s: nothing may follow '%s'", of->schema.at, text);
    if (t == TSL_NO_TOKEN) break;
    compared++;
    if (below(3) && tsl_mask_has(mask, (tsl_token)LETTERS[step % 4]))
      t = (tsl_token)LETTERS[step % 4];
    CHECK(tsl_matcher_accept(m, t) == TSL_OK);
    const uint8_t *bytes = tsl_vocab_bytes(vocab, t, &length);
    for (size_t i = 0; i < length && t != 256 && plain; i++) {
      plain = bytes[i] < 0x80 && bytes[i] >= ' ' && bytes[i] != '\\' && n + 2 < TEXT_MAX;
      if (plain) text[n++] = (char)bytes[i];
    }
    text[n] = 0;
  }
  if (m && tsl_matcher_is_terminated(m) && plain && n >= 2) {
    CHECKF(is_valid(of, text + 1, n - 2) != 0, "%s: '%s'", of->schema.at, text);
    judged++;
  }
  tsl_matcher_free(m);
}

static void long_meets(void) {
  for (unsigned i = first; i < first + rounds; i++) {
    meet of;
    tsl_error error = {0};
    tsl_status status;
    seed = i * 5003 + 4;
    unsigned least = below(2) * below(25);
    put_meet(&of, NULL, least, below(4) ? least + 1 + below(below(2) ? 20 : 100) : 0);
    tsl_grammar *g = compile_meet(&of, &status, &error);
    for (int k = 0; g && k < 2; k++) follow_to_the_end(&of, g);
    tsl_grammar_release(g);
    meet_free(&of);
  }
}

/* After their first character these are the vocabulary's own strings of some characters at
 * least. */
static void least_lengths(void) {
  static uint32_t mask[(TOKENS + 31) / 32 + 16];
  for (unsigned least = 0; least < 14; least++) {
    char schema[100];
    tsl_grammar *g = NULL;
    tsl_matcher *m = NULL;
    tsl_error error = {0};
    snprintf(schema, sizeof schema,
             "{\"type\":\"string\",\"not\":{\"pattern\":\"^b\"},\"minLength\":%u}", least);
    CHECKF(tsl_grammar_json_schema(vocab, schema, strlen(schema), NULL, NULL, &g, &error) == TSL_OK,
           "%s: %s", schema, error.message);
    if (g && tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_matcher_accept(m, '"') == TSL_OK)
      CHECK(tsl_matcher_mask(m, mask) == TSL_OK && mask_is_right(m, mask, schema, "\""));
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
}

/* Strings of limited length but those of a pattern with a count. After each of 1 to 21 characters
 * tokens that end the string are judged, and tokens that reach the limit with their quote. */
static void excluded_counts(void) {
  static const char *const patterns[] = {"^a.{2,64}$", "^.{2,64}$", "^a.{0,30}b$|^a.{3,40}$"};
  static uint32_t mask[(TOKENS + 31) / 32 + 16];
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    char schema[100], text[40] = "\"a";
    tsl_grammar *g = NULL;
    tsl_matcher *m = NULL;
    tsl_error error = {0};
    snprintf(schema, sizeof schema,
             "{\"type\":\"string\",\"not\":{\"pattern\":\"%s\"},\"maxLength\":22}", patterns[i]);
    CHECKF(tsl_grammar_json_schema(vocab, schema, strlen(schema), NULL, NULL, &g, &error) == TSL_OK,
           "%s: %s", schema, error.message);
    if (g) CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
    for (size_t n = 2; m && n < 23; n++) {
      tsl_matcher_reset(m);
      CHECK(tsl_matcher_accept_bytes(m, text, n, NULL) == TSL_OK);
      CHECK(tsl_matcher_mask(m, mask) == TSL_OK && mask_is_right(m, mask, schema, text));
      text[n] = 'b';
    }
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
}

/* A look-ahead writes out the repetitions around it. Each of four kinds of lines is followed by all
 * four. There are 4^24 ways through them, and no pass may go along all. */
static void alternatives_in_rows(void) {
  static const char pattern[] = "^(?:(?:- .+|# .+|```(?:(?!```)[\\s\\S])*```|)\n){1,24}$",
                    text[] = "- a\n# b\n```x\n```\n\n";
  uint32_t mask[(TOKENS + 31) / 32];
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  tsl_error error = {0};
  CHECKF(tsl_grammar_regex(vocab, pattern, strlen(pattern), NULL, NULL, &g, &error) == TSL_OK, "%s",
         error.message);
  if (g && tsl_matcher_new(g, NULL, &m) == TSL_OK)
    for (const char *p = text; *p; p++)
      CHECK(tsl_matcher_mask(m, mask) == TSL_OK && mask_is_right(m, mask, pattern, p) &&
            tsl_matcher_accept(m, (uint8_t)*p) == TSL_OK);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

static void masks_were_compared(void) {
  printf("     %lu masks compared, %lu bytes judged by PCRE2; %lu times the limit of steps, %lu "
         "patterns too large\n",
         compared, judged, given_up, refused);
  CHECK(judged > rounds * 20 && compared > rounds * 10 && given_up * 20 < compared &&
        refused * 10 < rounds);
}

/* test_groups [ROUNDS [FIRST]] */
int main(int argc, char **argv) {
  tsl_test_part(&rounds, &first, 3);
  if (argc > 1) rounds = (unsigned)strtoul(argv[1], NULL, 10);
  if (argc > 2) first = (unsigned)strtoul(argv[2], NULL, 10);
  make_vocab();
  if (!vocab) return tsl_test_end();
  RUN(patterns, "patterns of groups");
  RUN(groups_and_lengths, "groups in texts that may not be long");
  RUN(long_alternatives, "alternatives that must not be short, beside others");
  RUN(fields, "fields in rows");
  RUN(chains, "dozens of parts that may be missing");
  RUN(short_meets, "several patterns, all short texts");
  RUN(long_meets, "several patterns, to the end of long texts");
  RUN(least_lengths, "texts that begin otherwise and must not be short");
  RUN(excluded_counts, "strings of limited length but those with a count");
  RUN(alternatives_in_rows, "alternatives in front of one another, many times");
  RUN(masks_were_compared, "the comparison did happen");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
