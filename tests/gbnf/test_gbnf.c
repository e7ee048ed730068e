/* test_gbnf.c - GBNF: tables of grammars and texts, random grammars against a naive oracle, limits.
 *
 * The oracle takes a grammar as it was parsed. By the definition and a least fixed point it works
 * out every text of up to ORACLE_LENGTH letters that each rule matches. It has sets of texts as
 * bits, no derivatives, and no removal of left recursion.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/gbnf/ast.h"
#include "tests/support/check.h"
#include "tests/support/failing.h"
#include "tests/support/accepted.h"
#include "tests/support/gbnf.h"
#include "tests/support/text.h"

static uint64_t seed = 97;
static uint32_t rnd(uint32_t n) { return (uint32_t)(tsl_test_random(&seed) % n); }

/* ---- tables ---------------------------------------------------------------------------------- */

static char *read_file(const char *path, size_t *size) {
  char *text = text_of_file(path, size);
  CHECKF(text && *size > 0, "%s cannot be read", path);
  return text;
}

static size_t unescape(const char *text, size_t length, char *out) {
  size_t n = 0;
  for (size_t i = 0; i < length; i++) {
    if (text[i] != '\\' || i + 1 == length) {
      out[n++] = text[i];
      continue;
    }
    char c = text[++i];
    if (c == 'x' && i + 2 < length) {
      char hex[3] = {text[i + 1], text[i + 2], 0};
      out[n++] = (char)strtol(hex, NULL, 16);
      i += 2;
    } else {
      out[n++] = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
    }
  }
  return n;
}

/* One "+ text" or "- text" line. */
static void check_text(tsl_matcher *m, const char *name, const char *line, size_t length) {
  char text[1024];
  bool want = line[0] == '+';
  size_t n = unescape(line + 2, length < 2 ? 0 : length - 2, text), accepted = 0;
  tsl_matcher_reset(m);
  tsl_status status = tsl_matcher_accept_bytes(m, text, n, &accepted);
  CHECKF(status == TSL_OK || status == TSL_REJECTED, "%s: %s", name, tsl_status_name(status));
  bool got = status == TSL_OK && tsl_matcher_is_complete(m);
  CHECKF(got == want, "%s: %.*s (%zu bytes accepted)", name, (int)length, line, accepted);
}

static void accept_table(void) {
  size_t size;
  char *all = read_file("tests/cases/gbnf/accept.txt", &size), *line = all, *grammar = NULL;
  char name[128] = "";
  tsl_matcher *m = NULL;
  int cases = 0;
  while (line < all + size) {
    char *end = memchr(line, '\n', (size_t)(all + size - line));
    if (!end) end = all + size;
    if (line[0] == '=' && line[1] == '=') {
      tsl_matcher_free(m);
      m = NULL;
      snprintf(name, sizeof name, "%.*s", (int)(end - line - 3), line + 3);
      grammar = end + 1;
      cases++;
    } else if (grammar && (line[0] == '+' || line[0] == '-') &&
               (line[1] == ' ' || line + 1 == end)) {
      if (!m) m = start(grammar, (size_t)(line - grammar));
      if (m) check_text(m, name, line, (size_t)(end - line));
    }
    line = end + 1;
  }
  tsl_matcher_free(m);
  free(all);
  CHECK(cases == 45);
}

static void reject_table(void) {
  size_t size;
  char *all = read_file("tests/cases/gbnf/reject.txt", &size);
  int rows = 0;
  for (char *line = strtok(all, "\n"); line; line = strtok(NULL, "\n")) {
    char *field[5] = {line}, text[512];
    if (line[0] == '#') continue;
    for (int i = 1; i < 5; i++)
      field[i] = strchr(field[i - 1], '\t'),
      field[i] = field[i] ? (*field[i] = 0, field[i] + 1) : NULL;
    CHECKF(field[4] != NULL, "%s: a row of five fields", line);
    if (!field[4]) continue;
    size_t n = unescape(field[4], strlen(field[4]), text);
    tsl_error error = {0};
    tsl_grammar *grammar = (tsl_grammar *)&error;
    tsl_status status = tsl_grammar_gbnf(vocab, text, n, NULL, NULL, &grammar, &error);
    CHECKF(!strcmp(tsl_status_name(status) + 8, field[0]) && status == error.status && !grammar,
           "%s: %s", field[4], tsl_status_name(status));
    CHECKF(error.line == (uint32_t)atoi(field[1]) && error.column == (uint32_t)atoi(field[2]),
           "%s: at %u:%u (%s)", field[4], error.line, error.column, error.message);
    CHECKF(strstr(error.message, field[3]) != NULL, "%s: %s", field[4], error.message);
    rows++;
  }
  free(all);
  CHECK(rows > 40);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static void tokens(void) {
  const char *text = "root ::= <think> thought </think> .*\nthought ::= !</think>*";
  tsl_matcher *m = start(text, strlen(text));
  uint32_t mask[(TOKENS + 31) / 32];
  if (!m) return;
  CHECK(tsl_matcher_mask(m, mask) == TSL_OK && tsl_mask_count(mask, TOKENS) == 1 &&
        tsl_mask_has(mask, THINK));
  CHECK(tsl_matcher_accept(m, '<') == TSL_REJECTED && tsl_matcher_accept(m, THINK) == TSL_OK);
  CHECK(tsl_matcher_mask(m, mask) == TSL_OK && tsl_mask_has(mask, 'a') &&
        tsl_mask_has(mask, WORD) && tsl_mask_has(mask, THINK) && tsl_mask_has(mask, END_THINK));
  CHECK(!tsl_mask_has(mask, EOS) && !tsl_matcher_is_complete(m));
  CHECK(tsl_matcher_accept(m, WORD) == TSL_OK && tsl_matcher_accept(m, 0xff) == TSL_OK &&
        tsl_matcher_accept(m, END_THINK) == TSL_OK);
  CHECK(tsl_matcher_is_complete(m) && tsl_matcher_accept(m, 'a') == TSL_OK &&
        tsl_matcher_accept(m, 0xff) == TSL_REJECTED);
  CHECK(tsl_matcher_accept(m, THINK) == TSL_REJECTED && tsl_matcher_accept(m, EOS) == TSL_OK);
  tsl_matcher_free(m);
  tsl__exprs *x = NULL;
  tsl__expr e;
  tsl_error error;
  CHECK(tsl__exprs_new(NULL, NULL, NULL, &x) == TSL_OK);
  CHECK(tsl__gbnf_compile(x, NULL, "root ::= <think>", 16, NULL, 0, &e, &error) == TSL_ERR_SYNTAX &&
        strstr(error.message, "needs a vocabulary"));
  CHECK(tsl__gbnf_compile(x, NULL, "start ::= \"a\"", 13, "start", 0, &e, &error) == TSL_OK &&
        e != TSL__NONE);
  tsl__exprs_free(x);
}

/* A token that is named beside any text is no text: it stays, whichever comes first. */
static void tokens_beside_text(void) {
  static const char *const grammars[] = {"root ::= <think> \"x\" | .*",
                                         "root ::= .* | <think> \"x\"", "root ::= (<think> | .*)*",
                                         "root ::= (t | .*){2,5}\nt ::= t t | <think> \"x\"",
                                         "root ::= \"a\"* | t | .*\nt ::= \"(\" t \")\" | <think>"};
  uint32_t mask[(TOKENS + 31) / 32];
  for (size_t i = 0; i < sizeof grammars / sizeof *grammars; i++) {
    tsl_matcher *m = start(grammars[i], strlen(grammars[i]));
    if (!m) continue;
    CHECKF(tsl_matcher_mask(m, mask) == TSL_OK && tsl_mask_has(mask, THINK) &&
               tsl_mask_has(mask, WORD) && !tsl_mask_has(mask, END_THINK),
           "%s", grammars[i]);
    CHECKF(tsl_matcher_accept(m, THINK) == TSL_OK, "%s", grammars[i]);
    tsl_matcher_free(m);
  }
}

/* ---- random grammars ------------------------------------------------------------------------- */

#define ORACLE_LENGTH 6
#define ORACLE_TEXTS ((1 << (ORACLE_LENGTH + 1)) - 1)

/* A set of texts over {a, b}: text number 2^length - 1 + (its letters as bits, the first the
 * highest). */
typedef struct {
  uint8_t has[ORACLE_TEXTS];
} texts;

static int text_length(int t) {
  int n = 0;
  while (t >= (2 << n) - 1) n++;
  return n;
}
static int text_join(int s, int t) {
  int m = text_length(s), n = text_length(t);
  if (m + n > ORACLE_LENGTH) return -1;
  return (1 << (m + n)) - 1 + (((s - (1 << m) + 1) << n) | (t - (1 << n) + 1));
}

static texts concat(const texts *s, const texts *t) {
  static int16_t joined[ORACLE_TEXTS][ORACLE_TEXTS]; /* 0: not worked out yet; text + 1, or -1 */
  texts out = {{0}};
  for (int i = 0; i < ORACLE_TEXTS; i++)
    for (int j = 0; s->has[i] && j < ORACLE_TEXTS; j++) {
      if (!t->has[j]) continue;
      if (!joined[i][j]) joined[i][j] = (int16_t)(text_join(i, j) < 0 ? -1 : text_join(i, j) + 1);
      if (joined[i][j] > 0) out.has[joined[i][j] - 1] = 1;
    }
  return out;
}

static texts evaluate(const tsl__gbnf *g, uint32_t node, const texts *rules) {
  const tsl__gnode n = g->nodes.at[node];
  texts out = {{0}};
  if (n.kind == TSL__G_EMPTY) out.has[0] = 1;
  if (n.kind == TSL__G_REF) return rules[n.a];
  if (n.kind == TSL__G_CLASS)
    for (uint32_t i = 0; i < n.b; i++)
      for (uint32_t c = 'a'; c <= 'b'; c++)
        out.has[1 + c - 'a'] |= g->ranges.at[n.a + i].lo <= c && c <= g->ranges.at[n.a + i].hi;
  if (n.kind == TSL__G_LITERAL) {
    int t = 0;
    for (uint32_t i = 0; i < n.b && t >= 0; i++) t = text_join(t, 1 + g->bytes.at[n.a + i] - 'a');
    if (t >= 0) out.has[t] = 1;
  }
  if (n.kind == TSL__G_ALT)
    for (uint32_t i = 0; i < n.b; i++) {
      texts one = evaluate(g, g->lists.at[n.a + i], rules);
      for (int t = 0; t < ORACLE_TEXTS; t++) out.has[t] |= one.has[t];
    }
  if (n.kind == TSL__G_SEQ) {
    out.has[0] = 1;
    for (uint32_t i = 0; i < n.b; i++) {
      texts one = evaluate(g, g->lists.at[n.a + i], rules);
      out = concat(&out, &one);
    }
  }
  if (n.kind == TSL__G_REPEAT) {
    texts one = evaluate(g, n.a, rules), power = {{1}};
    for (uint32_t i = 0; i <= n.b + ORACLE_LENGTH && (n.c == TSL__INF || i <= n.c); i++) {
      if (i >= n.b)
        for (int t = 0; t < ORACLE_TEXTS; t++) out.has[t] |= power.has[t];
      power = concat(&power, &one);
    }
  }
  return out;
}

/* The texts of the root, by the least fixed point. */
static texts oracle(const tsl__gbnf *g) {
  texts rules[8];
  memset(rules, 0, sizeof rules);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t r = 0; r < g->rules.n; r++) {
      texts now = evaluate(g, g->rules.at[r].body, rules);
      changed |= memcmp(&now, &rules[r], sizeof now) != 0;
      rules[r] = now;
    }
  }
  return rules[tsl__gbnf_find(g, "root", 4)];
}

static const char *const rule_names[] = {"root", "s", "t", "u"};

static size_t random_alternatives(char *out, int rules, int depth);

static size_t random_item(char *out, int rules, int depth) {
  static const char *const leaves[] = {"\"a\"", "\"b\"", "\"ab\"", "[ab]",
                                       "\"\"",  "[a-z]", "[b-r]"};
  static const char *const suffixes[] = {"", "", "", "",  "",  "",  "",    "",
                                         "", "", "", "?", "*", "+", "{2}", "{0,2}"};
  size_t n;
  uint32_t kind = rnd(10);
  if (kind < 4)
    n = (size_t)sprintf(out, "%s", leaves[rnd(7)]);
  else if (kind < 8 || depth == 0)
    n = (size_t)sprintf(out, "%s", rule_names[rnd((uint32_t)rules)]);
  else {
    n = (size_t)sprintf(out, "(");
    n += random_alternatives(out + n, rules, depth - 1);
    n += (size_t)sprintf(out + n, ")");
  }
  return n + (size_t)sprintf(out + n, "%s", suffixes[rnd(16)]);
}

static size_t random_alternatives(char *out, int rules, int depth) {
  size_t n = 0;
  for (uint32_t i = 0, count = 1 + rnd(depth ? 3 : 2); i < count; i++) {
    if (i) n += (size_t)sprintf(out + n, " | ");
    for (uint32_t k = 0, items = rnd(12) || i + 1 == count ? 1 + rnd(rnd(3) ? 2 : 3) : 0; k < items;
         k++) {
      if (k) out[n++] = ' ';
      n += random_item(out + n, rules, depth);
    }
  }
  out[n] = 0;
  return n;
}

static uint64_t shortest(tsl_matcher *m) {
  uint64_t n = 0;
  CHECK(tsl_matcher_shortest_completion(m, &n) == TSL_OK);
  return n;
}

/* A position that the oracle does not see the end of: the promised completion must exist. */
static void finish(const tsl_matcher *from, const char *grammar) {
  tsl_matcher *m = NULL;
  CHECK(tsl_matcher_fork(from, &m) == TSL_OK);
  for (uint64_t left = shortest(m); left && left < 200; left--) {
    bool moved = false;
    for (int c = 'a'; c <= 'b' && !moved; c++) {
      if (tsl_matcher_accept(m, (tsl_token)c) != TSL_OK) continue;
      if (!(moved = shortest(m) == left - 1)) CHECK(tsl_matcher_rollback(m, 1) == TSL_OK);
    }
    CHECKF(moved, "%" PRIu64 " bytes promised, none found in\n%s", left, grammar);
    if (!moved) break;
  }
  CHECKF(shortest(m) || tsl_matcher_is_complete(m), "not complete in\n%s", grammar);
  tsl_matcher_free(m);
}

static void compare(const texts *want, tsl_matcher *m, const char *grammar) {
  for (int t = 0; t < ORACLE_TEXTS; t++) {
    char text[ORACLE_LENGTH + 1] = "";
    int length = text_length(t), best = -1;
    for (int i = 0; i < length; i++)
      text[i] = (char)('a' + (((t - (1 << length) + 1) >> (length - 1 - i)) & 1));
    for (int s = 0; s < ORACLE_TEXTS; s++) {
      int more = text_length(s) - length;
      if (want->has[s] && more >= 0 &&
          (s - (1 << (length + more)) + 1) >> more == t - (1 << length) + 1 &&
          (best < 0 || more < best))
        best = more;
    }
    tsl_matcher_reset(m);
    bool accepted = tsl_matcher_accept_bytes(m, text, (size_t)length, NULL) == TSL_OK;
    CHECKF((accepted && tsl_matcher_is_complete(m)) == want->has[t], "\"%s\" should be %d in\n%s",
           text, want->has[t], grammar);
    CHECKF(best < 0 || accepted, "\"%s\" can be continued in\n%s", text, grammar);
    if (!accepted) continue;
    uint64_t promised = shortest(m);
    CHECKF(best < 0 ? promised > (uint64_t)(ORACLE_LENGTH - length) : promised == (uint64_t)best,
           "after \"%s\" %" PRIu64 " bytes promised, %d needed in\n%s", text, promised, best,
           grammar);
    if (best < 0) finish(m, grammar);
  }
}

static void random_grammars(void) {
  int empty = 0, left = 0;
  for (int i = 0; i < ROUNDS_OF(1500); i++) {
    char text[8192];
    size_t n = 0;
    int rules = 1 + (int)rnd(3);
    for (int r = 0; r < rules; r++) {
      n += (size_t)sprintf(text + n, "%s ::= ", rule_names[r]);
      n += random_alternatives(text + n, rules, 1);
      n += (size_t)sprintf(text + n, "\n");
    }
    parsed p = parse(text, n);
    texts want = oracle(p.g);
    CHECK(tsl__gbnf_analyse(p.g, tsl__gbnf_find(p.g, "root", 4)));
    bool some = p.g->rules.at[tsl__gbnf_find(p.g, "root", 4)].facts.some;
    CHECK(some || !memchr(want.has, 1, sizeof want.has));
    if (some) {
      CHECK(tsl__gbnf_left_recursion(p.g, NULL) == TSL_OK);
      left += p.g->cycles.n > 0;
      tsl_matcher *m = start(text, n);
      if (m) compare(&want, m, text);
      tsl_matcher_free(m);
    } else {
      tsl_grammar *grammar;
      CHECK(tsl_grammar_gbnf(vocab, text, n, NULL, NULL, &grammar, NULL) == TSL_ERR_EMPTY);
      empty++;
    }
    tsl__exprs_free(p.x);
  }
  printf("       %d grammars, %d of them left-recursive, %d empty; %d texts each\n",
         ROUNDS_OF(1500), left, empty, ORACLE_TEXTS);
}

/* Left-recursive cycles of which what comes next has more bytes than are counted, or as many as
 * still are. */
static void long_ways(void) {
  static const struct {
    const char *grammar, *text;
    uint64_t missing;
  } rows[] = {
      {"root ::= b x | \"a\"\nb ::= root \"c\" | \"q\"\nx ::= (\"b\"{1000000}){1000000}", "acb",
       UINT64_MAX},
      {"root ::= b x | \"a\"\nb ::= root \"c\" | \"q\"\nx ::= (\"b\"{65536}){65535}", "acb",
       65536u * 65535u - 1},
      {"root ::= b x\nb ::= root \"c\" | \"q\"\nx ::= (\"b\"{65536}){65536}", "qb", UINT64_MAX},
      {"root ::= b x\nb ::= root? \"c\" | \"q\"\nx ::= (\"b\"{65536}){65536}", "cb", UINT64_MAX},
      {"root ::= b x\nb ::= c \"c\" | \"q\"\nc ::= root | \"\"\nx ::= (\"b\"{65536}){65536} | "
       "\"d\"",
       "cdcdcb", UINT64_MAX},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tsl_matcher *m = start(rows[i].grammar, strlen(rows[i].grammar));
    uint32_t mask[(TOKENS + 31) / 32];
    size_t n = 0, length = strlen(rows[i].text);
    if (!m) continue;
    CHECKF(tsl_matcher_accept_bytes(m, rows[i].text, length, &n) == TSL_OK, "%s: %zu bytes of %s",
           rows[i].grammar, n, rows[i].text);
    CHECK(tsl_matcher_mask(m, mask) == TSL_OK && tsl_mask_count(mask, TOKENS) == 1 &&
          tsl_mask_has(mask, 'b') && shortest(m) == rows[i].missing);
    tsl_matcher_free(m);
  }
}

/* ---- size and limits ------------------------------------------------------------------------- */

static tsl_status compile(const char *text, size_t n, uint32_t depth, tsl_error *error) {
  tsl__exprs *x = NULL;
  tsl__expr e;
  CHECK(tsl__exprs_new(NULL, NULL, NULL, &x) == TSL_OK);
  tsl_status status = tsl__gbnf_compile(x, NULL, text, n, NULL, depth, &e, error);
  CHECK((e != TSL__NONE) == (status == TSL_OK));
  tsl__exprs_free(x);
  return status;
}

static void nesting(void) {
  char text[9000];
  tsl_error error;
  for (uint32_t depth = 10; depth <= 11; depth++) {
    size_t n = (size_t)sprintf(text, "root ::= ");
    for (uint32_t i = 0; i < depth; i++) text[n++] = '(';
    n += (size_t)sprintf(text + n, "\"a\"");
    for (uint32_t i = 0; i < depth; i++) text[n++] = ')';
    CHECK(compile(text, n, 10, &error) == (depth == 10 ? TSL_OK : TSL_ERR_LIMIT));
  }
  CHECKF(error.column == 20 && strstr(error.message, "limit 10"), "%u %s", error.column,
         error.message);
  size_t n = (size_t)sprintf(text, "root ::= \"a\"");
  for (int i = 0; i < 4000; i++) text[n++] = '?';
  CHECK(compile(text, n, 0, &error) == TSL_ERR_LIMIT);
  CHECK(compile(text, 12 + 1500, 0, &error) == TSL_OK);
}

/* A cycle of n rules that all begin with the next. */
static void cycle_limit(void) {
  char *text = malloc(1 << 20);
  for (uint32_t count = TSL__GBNF_CYCLE_MAX; count <= TSL__GBNF_CYCLE_MAX + 1; count++) {
    size_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
      if (i)
        n += (size_t)sprintf(text + n, "r%u ::= ", i);
      else
        n += (size_t)sprintf(text + n, "root ::= ");
      n += i + 1 < count ? (size_t)sprintf(text + n, "r%u \"x\"\n", i + 1)
                         : (size_t)sprintf(text + n, "root \"y\" | \"z\"\n");
    }
    tsl_error error;
    tsl_status status = compile(text, n, 0, &error);
    CHECKF(status == (count == TSL__GBNF_CYCLE_MAX ? TSL_OK : TSL_ERR_LIMIT), "%u: %s", count,
           tsl_status_name(status));
  }
  free(text);
}

/* Large grammars: a chain of 20,000 rules, 20,000 alternatives, a sequence of 20,000 items. */
static void large(void) {
  enum { N = 20000 };
  char *text = malloc(4 << 20);
  tsl_error error;
  size_t n = (size_t)sprintf(text, "root ::= r0\n");
  for (int i = 0; i < N; i++)
    n += (size_t)sprintf(text + n, "r%d ::= \"a\" r%d | \"(\" root \")\"\n", i, i + 1);
  n += (size_t)sprintf(text + n, "r%d ::= \"z\"\n", N);
  tsl_status status = compile(text, n, 0, &error);
  CHECKF(status == TSL_OK, "%s", error.message);
  n = (size_t)sprintf(text, "root ::= \"x\" (\"w0\"");
  for (int i = 1; i < N; i++) n += (size_t)sprintf(text + n, " | \"w%d\" root?", i);
  n += (size_t)sprintf(text + n, ")\n");
  status = compile(text, n, 0, &error);
  CHECKF(status == TSL_OK, "%s", error.message);
  n = (size_t)sprintf(text, "root ::= ");
  for (int i = 0; i < N; i++) n += (size_t)sprintf(text + n, "[a-%c] ", 'b' + i % 20);
  status = compile(text, n, 0, &error);
  CHECKF(status == TSL_OK, "%s", error.message);
  /* 2,000 terms of one left-recursive rule, each with 2,000 alternatives behind it */
  n = (size_t)sprintf(text, "root ::= \"b\" | (root");
  for (int i = 1; i < N / 10; i++) n += (size_t)sprintf(text + n, " | root");
  n += (size_t)sprintf(text + n, ") (\"a\"");
  for (int i = 1; i < N / 10; i++) n += (size_t)sprintf(text + n, " | \"%d\" root", i);
  n += (size_t)sprintf(text + n, ")\n");
  status = compile(text, n, 0, &error);
  CHECKF(status == TSL_OK, "%s", error.message);
  free(text);
}

/* Deep and wide at once: what a group matches is looked up at every level above it, and found out
 * once. */
static void deep_and_broad(void) {
  char *text = malloc(4 << 20);
  tsl_error error = {0};
  size_t n = (size_t)sprintf(text, "root ::= ");
  for (int i = 0; i < 500; i++) n += (size_t)sprintf(text + n, "(\"x\"? ");
  for (int i = 0; i < 420000; i++) n += (size_t)sprintf(text + n, "\"a\"|");
  n += (size_t)sprintf(text + n, "\"b\"");
  for (int i = 0; i < 500; i++) text[n++] = ')';
  CHECKF(compile(text, n, 0, &error) == TSL_OK, "%s", error.message);
  free(text);
}

/* Each round over the rules finds what one more of them matches. */
static void work_limit(void) {
  if (!tsl_test_turn(0, TURN_OF(1, 4))) return;
  char *text = malloc(1 << 20);
  tsl_error error = {0};
  for (unsigned rules = 600; rules <= 6000; rules *= 10) {
    size_t n = (size_t)sprintf(text, "root ::= r0\nno ::= no\nr0 ::= \"z\" | r1 no\n");
    for (unsigned i = 1; i < rules; i++)
      n += (size_t)sprintf(text + n, "r%u ::= r%u no | \"b\" r%u\n", i, i + 1 < rules ? i + 1 : 0,
                           i - 1);
    tsl_status status = compile(text, n, 0, &error);
    CHECKF(status == (rules == 6000 ? TSL_ERR_LIMIT : TSL_OK), "%s", tsl_status_name(status));
  }
  CHECKF(strstr(error.message, "limit 200000000") != NULL, "%s", error.message);
  free(text);
}

static void shipped(void) {
  static const char *const names[] = {"arithmetic", "c",    "chess",    "english",
                                      "japanese",   "json", "json_arr", "list"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[128];
    size_t n;
    snprintf(path, sizeof path, "schemas/examples/%s.gbnf", names[i]);
    char *text = read_file(path, &n);
    tsl_matcher *m = start(text, n);
    CHECKF(m && shortest(m) > 0 && shortest(m) < 1000, "%s", path);
    tsl_matcher_free(m);
    free(text);
  }
}

/* ---- loops that call ------------------------------------------------------------------------- */

#define PAIRS_MAX 6u

/* All bytes, and from 256 on, for each number of pairs, these alone, with what ends the text, and
 * with half a pair before. */
static tsl_vocab *vocab_of_pairs(void) {
  static const char *const ends[] = {"", "!", "(b)!"};
  uint8_t bytes[1024], special[256 + PAIRS_MAX * 6 + 1] = {0};
  uint32_t offsets[sizeof special + 1] = {0}, n = 256;
  tsl_token eog = sizeof special - 1;
  for (uint32_t i = 0; i < 256; i++) bytes[i] = (uint8_t)i, offsets[i + 1] = i + 1;
  for (uint32_t t = 0; t < PAIRS_MAX * 6; t++, offsets[256 + t] = n) {
    if (t & 1) bytes[n++] = 'b';
    for (uint32_t pairs = t / 6 + 1; pairs--; n += 2) memcpy(bytes + n, "ab", 2);
    for (const char *end = ends[t % 6 / 2]; *end; end++) bytes[n++] = (uint8_t)*end;
  }
  offsets[sizeof special] = n;
  special[eog] = 1;
  tsl_vocab_desc desc = {.bytes = bytes,
                         .offsets = offsets,
                         .size = sizeof special,
                         .special = special,
                         .eog = &eog,
                         .eog_count = 1};
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_new(&desc, NULL, &v, NULL) == TSL_OK);
  return v;
}

/* The masks along a text of `length` of two letters in turns, over that vocabulary; each `every`th
 * is judged token by token. */
static void follow(const char *grammar, const char letters[2], size_t length, size_t every) {
  uint32_t mask[(256 + PAIRS_MAX * 6 + 32) / 32];
  char text[64] = "";
  tsl_vocab *all = vocab;
  vocab = vocab_of_pairs();
  tsl_matcher *m = start(grammar, strlen(grammar));
  for (size_t n = 0; m && n < length; n++) {
    CHECKF(tsl_matcher_mask(m, mask) == TSL_OK, "%s after %s", grammar, text);
    if (n % every == 0) CHECK(mask_is_right(m, mask, grammar, text));
    text[n] = letters[n & 1];
    CHECK(tsl_matcher_accept(m, (tsl_token)text[n]) == TSL_OK);
  }
  tsl_matcher_free(m);
  tsl_vocab_release(vocab);
  vocab = all;
}

/* What a loop begins past a call counts as what it begins before: many iterations in one
 * token. */
static void loops_that_call(void) {
  static const char *const grammars[] = {
      "root ::= (\"a\" x){9,} \"!\"\nx ::= \"b\" | \"(\" x \")\"",
      "root ::= (\"a\" x){5,40} \"!\"\nx ::= \"b\" | \"(\" x \")\"",
      "root ::= \"a\" (x \"a\"?){9,} \"!\"\nx ::= \"b\" | \"(\" x \")\"",
  };
  for (size_t i = 0; i < sizeof grammars / sizeof *grammars; i++) follow(grammars[i], "ab", 31, 1);
}

/* ---- ambiguous texts ------------------------------------------------------------------------- */

/* Ways that part and meet again, twice as many after each byte: 2^n of them, and what follows where
 * they meet is gathered once. */
static void many_ways(void) {
  static const char *const grammars[] = {
      "root ::= \"a\" root \"b\"? root \"b\"? | \"\"",
      "root ::= \"a\" root sp root sp | \"b\"\nsp ::= \"b\"?",
      "root ::= root root root root | \"a\" | root \"a\" root | \"a\" root \"a\" | \"\"",
      "root ::= root root | \"a\" root | word | \"b\" root? \"b\"\nword ::= \"a\"+",
  };
  for (size_t i = 0; i < sizeof grammars / sizeof *grammars; i++)
    if (tsl_test_turn(i, TURN_OF(1, 4))) follow(grammars[i], "aa", 63, 5);
}

/* ---- out of memory --------------------------------------------------------------------------- */

static void out_of_memory(void) {
  static const char text[] =
      "root ::= a b [^x]{2,9} | root \"+\" c\na ::= b \"1\" | \"x\"\nb ::= a \"2\" | ws\nws ::= [ "
      "\\t]*\nc ::= (\"(\" root \")\")? c \"!\" | \"v\"\n";
  bool done = false;
  long nth = 0;
  for (; !done && nth < 500; nth++) {
    failing f = {nth, 0};
    const tsl_allocator hooks = failing_allocator(&f);
    tsl__exprs *x = NULL;
    tsl_error error = {0};
    tsl__expr e = TSL__NONE;
    if (tsl__exprs_new(NULL, &hooks, NULL, &x) != TSL_OK) continue;
    tsl_status status = tsl__gbnf_compile(x, NULL, text, sizeof text - 1, NULL, 0, &e, &error);
    done = status == TSL_OK && !failing_failed(&f);
    CHECKF(status == TSL_OK
               ? e != TSL__NONE
               : status == TSL_ERR_NO_MEMORY && error.status == status && e == TSL__NONE,
           "%ld: %s", nth, tsl_status_name(status));
    tsl__exprs_free(x);
    CHECK(f.held == 0);
  }
  CHECK(done && nth > 10);
}

int main(void) {
  vocab = token_vocab();
  RUN(accept_table, "grammars and texts");
  RUN(reject_table, "errors with line, column and message");
  RUN(tokens, "tokens by id and name");
  RUN(tokens_beside_text, "tokens beside any text");
  RUN(random_grammars, "random grammars, all short texts");
  RUN(long_ways, "cycles whose texts are longer than is counted");
  RUN(nesting, "nesting limit");
  RUN(cycle_limit, "limit of left-recursive cycles");
  RUN(large, "large grammars");
  RUN(deep_and_broad, "what groups match is found out once");
  RUN(work_limit, "limit of the fixed points");
  RUN(shipped, "shipped grammars compile");
  RUN(loops_that_call, "loops that call, several iterations in a token");
  RUN(many_ways, "texts that can be read in 2^n ways");
  RUN(out_of_memory, "every allocation fails once");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
