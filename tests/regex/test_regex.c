/* test_regex.c - regular expressions: a table of cases, and random patterns and texts with PCRE2's
 * verdict.
 *
 * The random patterns stay within the syntax and meaning that PCRE2 shares with ECMA-262: no \s on
 * unusual spaces, and no \v. PCRE2_DOLLAR_ENDONLY is set, so no `$` stands before a final newline.
 * PCRE2_MATCH_UNSET_BACKREF is set, so unset groups match empty. What this engine refuses as
 * unsupported is counted and bounded, so that it can't hide a wrong verdict.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "compiler/expr/deriv.h"
#include "compiler/json/json.h"
#include "compiler/regex/regex.h"
#include "tests/support/check.h"
#include "tests/support/failing.h"
#include "tests/support/text.h"

#define PAIRS_WANTED 60000u

static tsl__exprs *new_exprs(void) {
  tsl__exprs *x = NULL;
  if (tsl__exprs_new(NULL, NULL, NULL, &x) != TSL_OK) exit(2);
  return x;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* tests/cases/regex.txt: "p[flags] pattern", then "+ text", "- text" (escapes \n \t \r \\ \xHH
 * \u{H}), or "! STATUS offset", or "= printed form". Flags: s search, i case-insensitive, d dot
 * matches all, m multi-line. */
typedef struct table {
  const char *path;
  unsigned line;
  tsl__exprs *x;
  tsl__expr e;
  tsl_status status;
  tsl_error error;
} table;

static void table_pattern(table *t, const char *line) {
  tsl__regex_flags flags = {0};
  for (; *line && *line != ' '; line++) {
    flags.search |= *line == 's';
    flags.case_insensitive |= *line == 'i';
    flags.dot_all |= *line == 'd';
    flags.multiline |= *line == 'm';
  }
  if (*line) line++;
  tsl__exprs_free(t->x);
  t->x = new_exprs();
  memset(&t->error, 0, sizeof t->error);
  t->status = tsl__regex_compile(t->x, line, strlen(line), &flags, &t->e, &t->error);
}

static void table_verdict(table *t, const char *line) {
  uint8_t text[4096];
  bool want = line[0] == '+';
  size_t n = text_unescape(line[1] ? line + 2 : "", text);
  bool got = t->status == TSL_OK && tsl__expr_matches(t->x, t->e, text, n);
  CHECKF(t->status == TSL_OK && got == want, "%s:%u: %s (%s)", t->path, t->line, line,
         t->status == TSL_OK ? "verdict" : t->error.message);
}

static void table_error(table *t, const char *line) {
  const char *want = line[1] ? line + 2 : "";
  char got[256];
  snprintf(got, sizeof got, "%s %zu",
           tsl_status_name(t->status) + (t->status == TSL_OK ? 0 : strlen("TSL_ERR_")),
           t->error.offset);
  CHECKF(!strcmp(want, got) && t->e == TSL__NONE && t->error.message[0] &&
             t->error.status == t->status,
         "%s:%u: wanted %s, got %s", t->path, t->line, want, got);
}

static void table_printed(table *t, const char *line) {
  char got[1024] = "";
  if (t->status == TSL_OK) tsl__expr_print(t->x, t->e, got, sizeof got);
  CHECKF(!strcmp(got, line[1] ? line + 2 : ""), "%s:%u: wanted %s, got %s", t->path, t->line,
         line + 1, got);
}

static void run_table(const char *path) {
  table t = {.path = path};
  char line[4096];
  FILE *f = fopen(path, "r");
  CHECKF(f != NULL, "%s can't be opened", path);
  if (!f) return;
  while (fgets(line, sizeof line, f)) {
    t.line++;
    line[strcspn(line, "\n")] = 0;
    if (line[0] == 'p')
      table_pattern(&t, line + 1);
    else if (line[0] == '+' || line[0] == '-')
      table_verdict(&t, line);
    else if (line[0] == '!')
      table_error(&t, line);
    else if (line[0] == '=')
      table_printed(&t, line);
    else
      CHECKF(line[0] == 0 || line[0] == '#', "%s:%u: unknown kind of line", path, t.line);
  }
  fclose(f);
  tsl__exprs_free(t.x);
}

static void test_table(void) { run_table("tests/cases/regex.txt"); }

/* ---- shapes ---------------------------------------------------------------------------------- */

static tsl__expr compiled(tsl__exprs *x, const char *pattern, bool search) {
  tsl__regex_flags flags = {.search = search};
  tsl__expr e = TSL__NONE;
  CHECKF(tsl__regex_compile(x, pattern, strlen(pattern), &flags, &e, NULL) == TSL_OK, "%s",
         pattern);
  return e;
}

/* Common patterns give the expression that one would write by hand, and so share states. */
static void test_shapes(void) {
  tsl__exprs *x = new_exprs();
  tsl__expr text = tsl__expr_text(x), a = tsl__expr_literal(x, "a", 1),
            b = tsl__expr_literal(x, "b", 1), foo = tsl__expr_literal(x, "foo", 3);
  tsl__expr letters = tsl__expr_repeat(x, tsl__expr_range(x, 'a', 'z'), 1, TSL__INF);
  CHECK(compiled(x, "foo", true) == tsl__expr_seq(x, text, tsl__expr_seq(x, foo, text)));
  CHECK(compiled(x, "a|b", true) ==
        tsl__expr_seq(x, text, tsl__expr_seq(x, tsl__expr_range(x, 'a', 'b'), text)));
  CHECK(compiled(x, "^foo", true) == tsl__expr_seq(x, foo, text) &&
        compiled(x, "foo$", true) == tsl__expr_seq(x, text, foo));
  CHECK(compiled(x, "^[a-z]+$", true) == letters && compiled(x, "[a-z]+", false) == letters);
  CHECK(compiled(x, "^a|b$", true) ==
        tsl__expr_alt(x, tsl__expr_seq(x, a, text), tsl__expr_seq(x, text, b)));
  CHECK(compiled(x, "^(?:a|b)$", true) == tsl__expr_range(x, 'a', 'b'));
  CHECK(compiled(x, "", true) == text && compiled(x, "x*", true) == text &&
        compiled(x, "(?:)|foo", true) == text);
  CHECK(compiled(x, "^", true) == text && compiled(x, "$", true) == text &&
        compiled(x, "^$", true) == TSL__EPS);
  CHECK(compiled(x, ".*foo.*", true) == compiled(x, "foo", true) &&
        compiled(x, "fooo*", true) == compiled(x, "foo", true));
  CHECK(compiled(x, "[\\s\\S]*", false) == text && compiled(x, "[^]*", false) == text &&
        compiled(x, "\\bfoo\\b", false) == foo);
  CHECK(compiled(x, "(?:(?=b)a)+", false) == TSL__NONE &&
        compiled(x, "a(?!b)b", true) == TSL__NONE && compiled(x, "a\\bb", true) == TSL__NONE);
  CHECK(tsl__exprs_status(x) == TSL_OK);
  tsl__exprs_free(x);
}

/* ---- random patterns ------------------------------------------------------------------------- */

typedef struct writer {
  char at[512];
  size_t n;
  uint64_t seed;
  unsigned groups; /* capturing groups written */
} writer;

static unsigned pick(writer *w, unsigned n) { return (unsigned)(tsl_test_random(&w->seed) % n); }

static void put(writer *w, const char *s) {
  size_t n = strlen(s);
  if (w->n + n < sizeof w->at) memcpy(w->at + w->n, s, n + 1), w->n += n;
}

static void put_atom(writer *w, unsigned depth);

static void put_sequence(writer *w, unsigned depth, bool look) {
  static const char *const quantifiers[] = {"*",     "+",    "?",  "{2}", "{1,2}",
                                            "{0,3}", "{2,}", "*?", "+?",  "{3,9}"};
  for (unsigned i = pick(w, look ? 3 : 4) + 1; i-- > 0;) {
    size_t before = w->n;
    put_atom(w, depth);
    bool anchor = w->n - before == 1 && (w->at[before] == '^' || w->at[before] == '$');
    anchor |=
        w->n - before == 2 && w->at[before] == '\\' && strchr("bBA", w->at[before + 1]) != NULL;
    anchor |= w->n - before > 3 &&
              (!memcmp(w->at + before, "(?=", 3) || !memcmp(w->at + before, "(?!", 3) ||
               !memcmp(w->at + before, "(?<", 3));
    if (!anchor && pick(w, 3) == 0) put(w, quantifiers[pick(w, look ? 6 : 10)]);
  }
}

static void put_alternatives(writer *w, unsigned depth, bool look) {
  put_sequence(w, depth, look);
  while (pick(w, 4) == 0) {
    put(w, "|");
    if (pick(w, 8)) put_sequence(w, depth, look);
  }
}

/* What a look-behind may hold in PCRE2 10.42: alternatives of fixed length. */
static void put_fixed(writer *w) {
  static const char *const parts[] = {"a",   "b",    "ab",  "[ab]", "\\w", "-",       "^",
                                      "a|^", "ab|c", "\\d", "[^a]", "ba",  "(?<!b)a", "^a"};
  put(w, parts[pick(w, 14)]);
}

static void put_group(writer *w, unsigned depth) {
  static const char *const open[] = {"(?:",  "(?:",  "(",    "(?=",  "(?!",
                                     "(?<=", "(?<!", "(?i:", "(?s:", "(?m:"};
  unsigned kind = pick(w, 10);
  put(w, open[kind]);
  if (kind == 2) w->groups++;
  if (kind == 5 || kind == 6)
    put_fixed(w);
  else
    put_alternatives(w, depth - 1, kind == 3 || kind == 4);
  put(w, ")");
}

static void put_atom(writer *w, unsigned depth) {
  static const char *const atoms[] = {"a",   "b",    "c",        "-",           "\\d", "\\w",
                                      "\\W", "[ab]", "[^a]",     ".",           "\\b", "\\B",
                                      "^",   "$",    "\xC3\xA9", "a",           "b",   "[^-b]",
                                      "\\S", "\\D",  "[a-c]",    "[[:alpha:]]", "0"};
  unsigned choice = pick(w, 40);
  static const char back[] = "(?:\\1)"; /* in a group: a digit may follow */
  if (choice < 23)
    put(w, atoms[choice]);
  else if (choice < 24 && w->groups)
    put(w, back);
  else if (choice < 32 && depth)
    put_group(w, depth);
  else
    put(w, choice & 1 ? "a" : "b");
}

#define TEXT_MAX 128u

/* A text over an alphabet that the patterns know. */
static size_t random_text(uint64_t *seed, char *out) {
  static const char *const chars[] = {"a", "a",  "b",        "b", "c", "-",
                                      "0", "\n", "\xC3\xA9", "A", " "};
  size_t n = 0;
  for (unsigned i = (unsigned)(tsl_test_random(seed) % 9); i-- > 0;) {
    const char *c = chars[tsl_test_random(seed) % 11];
    memcpy(out + n, c, strlen(c));
    n += strlen(c);
  }
  return n;
}

typedef struct tally {
  unsigned pairs, matched, patterns, unsupported, limited, invalid, gave_up;
} tally;

/* One pattern on a number of texts, which `write` makes. */
static void compare(const char *pattern, size_t length, bool search, uint64_t *seed, unsigned texts,
                    size_t (*write)(uint64_t *, char *), tally *t) {
  int code;
  PCRE2_SIZE offset;
  uint32_t options =
      PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_UNSET_BACKREF | PCRE2_ALT_CIRCUMFLEX;
  pcre2_code *p = pcre2_compile((PCRE2_SPTR)pattern, length, options, &code, &offset, NULL);
  tsl__regex_flags flags = {.search = search};
  tsl__exprs *x;
  tsl__expr e;
  tsl_error error;
  tsl_status status;
  if (!p) {
    t->invalid++;
    return;
  }
  x = new_exprs();
  status = tsl__regex_compile(x, pattern, length, &flags, &e, &error);
  t->unsupported += status == TSL_ERR_UNSUPPORTED;
  t->limited += status == TSL_ERR_LIMIT;
  CHECKF(status == TSL_OK || status == TSL_ERR_UNSUPPORTED || status == TSL_ERR_LIMIT,
         "/%s/: %s at %zu: %s", pattern, tsl_status_name(status), error.offset, error.message);
  pcre2_match_data *match = pcre2_match_data_create_from_pattern(p, NULL);
  t->patterns += status == TSL_OK;
  for (unsigned i = 0; status == TSL_OK && i < texts; i++) {
    char text[TEXT_MAX];
    size_t n = write(seed, text);
    int rc = pcre2_match(p, (PCRE2_SPTR)text, n, 0, search ? 0 : PCRE2_ANCHORED | PCRE2_ENDANCHORED,
                         match, NULL);
    if (rc < 0 && rc != PCRE2_ERROR_NOMATCH) {
      t->gave_up++;
      continue;
    }
    bool got = tsl__expr_matches(x, e, text, n);
    t->pairs++;
    t->matched += got;
    CHECKF(got == (rc > 0), "/%s/%s on \"%.*s\": %s, PCRE2 says %s", pattern,
           search ? " (search)" : "", (int)n, text, got ? "match" : "no match",
           rc > 0 ? "match" : "no match");
    if (tsl__exprs_status(x) != TSL_OK) {
      CHECKF(false, "/%s/: %s", pattern, tsl__exprs_why(x));
      break;
    }
  }
  pcre2_match_data_free(match);
  pcre2_code_free(p);
  tsl__exprs_free(x);
}

static void test_random(void) {
  writer w = {.seed = 20240607};
  uint64_t seed = 4711;
  tally t = {0};
  while (t.pairs < PAIRS_WANTED && tsl_test_failed < 50) {
    w.n = w.groups = 0;
    put_alternatives(&w, 3, false);
    if (w.n + 8 < sizeof w.at) compare(w.at, w.n, pick(&w, 2) == 0, &seed, 12, random_text, &t);
  }
  printf("  %u pairs of %u random patterns have PCRE2's verdict, %u of them matches; not compared: "
         "%u unsupported, %u too large, %u invalid for PCRE2, "
         "%u texts on which it gave up\n",
         t.pairs, t.patterns, t.matched, t.unsupported, t.limited, t.invalid, t.gave_up);
  CHECK(t.pairs >= 50000 && t.matched > t.pairs / 20);
  CHECKF(t.unsupported + t.limited < t.patterns / 5, "%u of %u", t.unsupported + t.limited,
         t.patterns);
}

/* A long text, mostly of one letter. */
static size_t long_text(uint64_t *seed, char *out) {
  char letter = "ab-"[tsl_test_random(seed) % 3];
  size_t n = 56 + tsl_test_random(seed) % 24;
  for (size_t i = 0; i < n; i++)
    out[i] = tsl_test_random(seed) % 40 ? letter : "ab-0"[tsl_test_random(seed) % 4];
  return n;
}

/* Loops with conditions inside of more iterations than are written out. */
static void test_counted(void) {
  static const char *const looks[] = {"(?!ab)",  "(?!a-)",    "(?=[ab]|-)", "(?<!ba)",
                                      "(?!b*-)", "(?!0|aa-)", "\\b",        "(?!ab)(?<=^|[^0])"},
                           *const takes[] = {".",       "[ab]", "[^0]",
                                             "(?:a|-)", "..",   "(?:ab|-.|b[^a])"},
                           *const thens[] = {"",      "ab",        "-",   ".*",
                                             "[ab]*", "(?:a|b-)+", "a?$", "b.*a"},
                           *const befores[] = {"", "b?", "a", "-*"};
  uint64_t seed = 20261129;
  tally t = {0};
  for (unsigned i = 0; i < ROUNDS_OF(400u); i++) {
    char pattern[100];
    unsigned min = (unsigned)(tsl_test_random(&seed) % 4),
             max = 65 + (unsigned)(tsl_test_random(&seed) % 8);
    int n =
        snprintf(pattern, sizeof pattern, "%s(?:%s%s){%u,%u}%s",
                 befores[tsl_test_random(&seed) % 4], looks[tsl_test_random(&seed) % 8],
                 takes[tsl_test_random(&seed) % 6], min, max, thens[tsl_test_random(&seed) % 8]);
    compare(pattern, (size_t)n, tsl_test_random(&seed) % 4 == 0, &seed, 20, long_text, &t);
  }
  printf("  %u pairs of %u patterns, %u matches; not compared: %u unsupported, %u too large\n",
         t.pairs, t.patterns, t.matched, t.unsupported, t.limited);
  CHECK(t.matched > t.pairs / 20 && t.unsupported + t.limited < t.patterns / 2);
}

/* ---- no dead ends ---------------------------------------------------------------------------- */

/* A derivative of e that is one byte nearer to the end; NONE if there is none. */
static tsl__expr nearer(tsl__exprs *x, tsl__expr e, uint32_t shortest) {
  tsl__bytes edges;
  tsl__boundaries(x, e, &edges);
  for (unsigned b = 0; b < 256; b++) {
    tsl__expr d =
        b == 0 || tsl__bytes_has(&edges, b) ? tsl__derive_plain(x, e, (uint8_t)b) : TSL__NONE;
    if (d && tsl__expr_shortest(x, d) + 1 == shortest) return d;
  }
  return TSL__NONE;
}

/* Can e be completed in as many bytes as it says? */
static bool completes(tsl__exprs *x, tsl__expr e) {
  uint32_t shortest = tsl__expr_shortest(x, e);
  for (; shortest > 0 && e; shortest--) e = nearer(x, e, shortest);
  return e && tsl__expr_nullable(x, e);
}

/* Random patterns followed along random bytes: whatever is not NONE has a completion, of the length
 * that it claims. */
static void test_dead_ends(void) {
  static const char bytes[] = "aabbc-0\n\xC3\xA9 A";
  writer w = {.seed = 99};
  uint64_t seed = 5;
  unsigned patterns = 0, states = 0;
  while (patterns < 400) {
    tsl__exprs *x = new_exprs();
    tsl__expr e = TSL__NONE;
    w.n = w.groups = 0;
    put_alternatives(&w, 3, false);
    tsl__regex_flags flags = {.search = pick(&w, 2) == 0};
    if (w.n < 200 && tsl__regex_compile(x, w.at, w.n, &flags, &e, NULL) == TSL_OK) {
      patterns++;
      for (unsigned round = 0; round < 4; round++)
        for (tsl__expr d = e; d && tsl_test_random(&seed) % 8; states++) {
          CHECKF(completes(x, d), "/%s/%s", w.at, flags.search ? " (search)" : "");
          d = tsl__derive_plain(x, d, (uint8_t)bytes[tsl_test_random(&seed) % (sizeof bytes - 1)]);
        }
      CHECKF(tsl__exprs_status(x) == TSL_OK, "/%s/: %s", w.at, tsl__exprs_why(x));
    }
    tsl__exprs_free(x);
  }
  printf("  %u states of %u random patterns can be completed in as many bytes as they say\n",
         states, patterns);
}

/* ---- boundaries ------------------------------------------------------------------------------ */

/* Bytes without a boundary between them lead to the same place. */
static void no_edge_is_missed(tsl__exprs *x, tsl__expr e, const char *pattern) {
  tsl__bytes edges;
  tsl__expr last = TSL__NONE;
  tsl__boundaries(x, e, &edges);
  for (unsigned b = 0; b < 256; b++) {
    tsl__expr d = tsl__derive_plain(x, e, (uint8_t)b);
    CHECKF(!b || tsl__bytes_has(&edges, b) || d == last, "/%s/: no boundary at byte %u", pattern,
           b);
    last = d;
  }
}

static void test_boundaries(void) {
  static const char *const patterns[] = {"(?:(?!-->).)*-->",         "(?:(?!ab)[^0])*",
                                         "(?:(?!a-)[ab-])*c",        "(?:(?!ab).){0,70}-",
                                         "x(?:(?=[ab]|-)..)*y",      "(?:\\b\\w+\\b ?)*",
                                         "(?:(?<!a)b|a|\xC3\xA9)*0", "(?:(?!\xC3\xA9)..)*x"};
  static const char bytes[] = "aabbc-0x\n\xC3\xA9 A";
  uint64_t seed = 7;
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    tsl__exprs *x = new_exprs();
    tsl__expr e = TSL__NONE;
    const tsl__regex_flags flags = {0};
    if (tsl__regex_compile(x, patterns[i], strlen(patterns[i]), &flags, &e, NULL) == TSL_OK)
      for (unsigned round = 0; round < 20; round++)
        for (tsl__expr d = e; d && tsl_test_random(&seed) % 12;) {
          no_edge_is_missed(x, d, patterns[i]);
          d = tsl__derive_plain(x, d, (uint8_t)bytes[tsl_test_random(&seed) % (sizeof bytes - 1)]);
        }
    CHECKF(e != TSL__NONE && tsl__exprs_status(x) == TSL_OK, "/%s/: %s", patterns[i],
           tsl__exprs_why(x));
    tsl__exprs_free(x);
  }
}

/* ---- the JSON Schema Test Suite -------------------------------------------------------------- */

static const tsl__json *get(const tsl__json *object, const char *key) {
  return object ? tsl__json_get(object, key, strlen(key)) : NULL;
}

/* The tests of one group whose schema is a pattern. */
static unsigned run_suite_group(const char *path, const tsl__json *group) {
  const tsl__json *pattern = get(get(group, "schema"), "pattern"), *cases = get(group, "tests");
  tsl__regex_flags flags = {.search = true};
  tsl__exprs *x;
  tsl__expr e;
  tsl_error error;
  unsigned tests = 0;
  if (!pattern) return 0;
  x = new_exprs();
  tsl_status status = tsl__regex_compile(x, pattern->text, pattern->length, &flags, &e, &error);
  CHECKF(status == TSL_OK, "%s: %.*s: %s", path, (int)pattern->length, pattern->text,
         error.message);
  for (uint32_t k = 0; status == TSL_OK && k < cases->length; k++) {
    const tsl__json *data = get(&cases->items[k], "data"), *want = get(&cases->items[k], "valid"),
                    *what = get(&cases->items[k], "description");
    if (data->kind != TSL__JSON_STRING) continue;
    tests++;
    CHECKF(tsl__expr_matches(x, e, data->text, data->length) == (want->kind == TSL__JSON_TRUE),
           "%s: %.*s: %.*s", path, (int)pattern->length, pattern->text, (int)what->length,
           what->text);
  }
  tsl__exprs_free(x);
  return tests;
}

static void test_suite(void) {
  static const char *const files[] = {"pattern", "optional/ecmascript-regex",
                                      "optional/non-bmp-regex", "optional/unicode"};
  const char *folder = getenv("TSL_SUITE");
  char path[1024];
  unsigned tests = 0;
  for (size_t i = 0; folder && i < sizeof files / sizeof *files; i++) {
    size_t length;
    tsl__arena arena;
    tsl__json *root = NULL;
    snprintf(path, sizeof path, "%s/tests/draft2020-12/%s.json", folder, files[i]);
    char *text = text_of_file(path, &length);
    if (!text) continue;
    tsl__arena_init(&arena, &tsl__malloc);
    CHECKF(tsl__json_parse(&arena, NULL, text, length, 100, &root, NULL) == TSL_OK, "%s", path);
    for (uint32_t k = 0; root && k < root->length; k++)
      tests += run_suite_group(path, &root->items[k]);
    tsl__arena_free(&arena);
    free(text);
  }
  if (!tests)
    SKIP("the JSON Schema Test Suite is not there: `./dev fetch suite` gets it, TSL_SUITE names "
         "its folder");
  else
    CHECKF(tests > 50, "%u tests of patterns of the JSON Schema Test Suite", tests);
}

/* As many groups inside each other as there may be, and one more. */
static void test_depth(void) {
  char pattern[2 * (TSL__REGEX_MAX_DEPTH + 1) + 2];
  for (unsigned more = 0; more < 2; more++) {
    unsigned depth = TSL__REGEX_MAX_DEPTH + more;
    snprintf(pattern, sizeof pattern, "%0*d", (int)(2 * depth + 1), 0);
    memset(pattern, '(', depth);
    memset(pattern + depth + 1, ')', depth);
    tsl__exprs *x = new_exprs();
    tsl_error error = {0};
    tsl__expr e = TSL__NONE;
    tsl_status status = tsl__regex_compile(x, pattern, 2 * depth + 1, NULL, &e, &error);
    CHECKF(status == (more ? TSL_ERR_LIMIT : TSL_OK), "%u groups: %s", depth, error.message);
    CHECK(more || tsl__expr_matches(x, e, "0", 1));
    tsl__exprs_free(x);
  }
}

/* A pattern as long as it may be, and one byte longer. */
static void test_length(void) {
  static char pattern[TSL__REGEX_MAX_LENGTH + 1];
  memset(pattern, 'a', sizeof pattern);
  for (unsigned more = 0; more < 2; more++) {
    size_t n = TSL__REGEX_MAX_LENGTH + more;
    tsl__exprs *x = new_exprs();
    tsl_error error = {0};
    tsl__expr e = TSL__NONE;
    tsl_status want = more ? TSL_ERR_LIMIT : TSL_OK;
    CHECKF(tsl__regex_compile(x, pattern, n, NULL, &e, &error) == want && (e == TSL__NONE) == more,
           "%zu bytes: %s", n, error.message);
    CHECK(tsl__regex_check(&tsl__malloc, pattern, n, &error) == want);
    tsl__exprs_free(x);
  }
}

/* ---- every allocation fails once ------------------------------------------------------------- */

/* Compile with memory for `n` allocations; returns how many were made. */
static long compile_with(long n, bool *done) {
  static const char pattern[] =
      "(?i)^(?<q>['\"])?(?:(?!-)[\\w-]{1,63}(?<!-)\\.)+\\b(?:(?!-->).)*-->\\k<q>[^x-z\xC3\xA9]$";
  tsl__regex_flags flags = {.search = true};
  failing f = {n, 0};
  tsl_allocator a = failing_allocator(&f);
  tsl__exprs *x;
  tsl_error error = {0};
  tsl__expr e = TSL__NONE;
  tsl_status status = tsl__exprs_new(NULL, &a, NULL, &x);
  if (status == TSL_OK) {
    status = tsl__regex_compile(x, pattern, sizeof pattern - 1, &flags, &e, &error);
    *done = status == TSL_OK && e != TSL__NONE;
    CHECKF(*done ||
               (status == TSL_ERR_NO_MEMORY && error.status == TSL_ERR_NO_MEMORY && e == TSL__NONE),
           "%ld: %s", n, tsl_status_name(status));
  }
  tsl__exprs_free(x);
  CHECK(f.held == 0);
  return n - f.left;
}

static void test_no_memory(void) {
  bool done = false;
  long total = compile_with(1000000, &done), runs = 0;
  CHECK(done);
  /* some are for what can do without */
  for (long n = 0; n < total; n += n < 200 ? 1 : 1 + total / 500, runs++) compile_with(n, &done);
  printf("  %ld allocations, %ld of them made to fail\n", total, runs);
}

int main(void) {
  RUN(test_table, "tests/cases/regex.txt");
  RUN(test_shapes, "common patterns give small, canonical expressions");
  RUN(test_random, "random patterns and texts against PCRE2");
  RUN(test_counted, "counted loops with conditions inside, with PCRE2's verdict");
  RUN(test_dead_ends, "every state of random patterns can be completed");
  RUN(test_boundaries, "loops say where their derivatives change");
  RUN(test_suite, "patterns of the JSON Schema Test Suite");
  RUN(test_depth, "groups inside each other");
  RUN(test_length, "how long a pattern may be");
  RUN(test_no_memory, "every allocation fails once");
  return tsl_test_end();
}
