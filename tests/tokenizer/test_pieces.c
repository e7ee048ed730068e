/* test_pieces.c - masks over vocabularies that are cut out of the grammars' own texts, beside the
 * same grammars over single bytes.
 *
 * Problem   Tokens of a fixed list of pieces hardly ever follow a random grammar over several
 *           frames, past a count, or to a repetition. So a test with them does not meet what is
 *           special there.
 * Idea      A grammar is first compiled over a vocabulary of single bytes, where walks have nothing
 *           to be clever about. Random texts of it are cut into pieces of any length, some of them
 *           changed a little, lengthened or put together: that is the vocabulary. A few grammars
 *           share it, one after another, and with it what each learns. Some are the one before with
 *           other options, or with another digit somewhere. At random places a mask must allow just
 *           the tokens that the grammar over bytes accepts byte by byte. What must come, and the
 *           shortest way to the end, must be the same.
 * Kinds     Values of which some must differ, or must be equal. Objects of many names. Counted
 *           items and letters. Sets of texts, and all but these. Patterns. Rules that call one
 *           another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/draw.h"
#include "tests/support/text.h"
#include "turnstile.h"

#define GROUP 4u      /* grammars of one vocabulary */
#define TEXTS 6u      /* of each */
#define TEXT_MAX 600u /* bytes */
#define TOKENS 700u
#define TOKEN_MAX 300u
#define STEPS 8u

static uint64_t seed;
static unsigned rounds = ROUNDS_OF(12u), first; /* numbers of groups, from which on */
static unsigned long compared, given_up, refused;

static unsigned below(unsigned n) { return (unsigned)(tsl_test_random(&seed) % n); }

#define ONE_OF(...)                          \
  one_of((const char *const[]){__VA_ARGS__}, \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
static const char *one_of(const char *const *at, size_t n) { return at[below((unsigned)n)]; }

/* ---- grammars -------------------------------------------------------------------------------- */

static void put(struct text *t, const char *s) { text_add(t, s); }

static void put_number(struct text *t, const char *before, unsigned n) {
  text_add(t, before);
  text_add_number(t, n);
}

/* Around what is counted in another way from there on. */
static unsigned edge(void) {
  static const unsigned edges[] = {1,  2,  3,  5,   9,   15,  16,  17,  31, 33,
                                   63, 64, 65, 127, 129, 130, 131, 255, 257};
  return edges[below(below(2) ? 5 : sizeof edges / sizeof *edges)];
}

static void scalar(struct text *t) {
  if (below(4) == 0) {
    put_number(t, "{\"type\":\"string\",\"pattern\":\"^[ab]{0,", edge());
    put(t, below(2) ? "}$\"}" : "} ?b$\"}");
    return;
  }
  put(t, ONE_OF("{\"type\":\"boolean\"}", "{\"enum\":[1,2,\"a\"]}",
                "{\"enum\":[\"a\",\"ab\",\"b\",null,\"abc\",\"ba\"]}", "{\"type\":\"string\"}",
                "{\"type\":\"string\",\"maxLength\":1}",
                "{\"type\":\"integer\",\"minimum\":0,\"maximum\":12}", "{\"type\":\"integer\"}",
                "{\"type\":\"number\",\"multipleOf\":0.5,\"minimum\":0,\"maximum\":2}",
                "{\"type\":[\"string\",\"null\",\"integer\"]}",
                "{\"enum\":[[1],[1,2],{\"a\":1},\"x\",0]}",
                "{\"type\":\"string\",\"pattern\":\"^(?:aa|ab|b)-[01]$\"}",
                "{\"type\":\"string\",\"not\":{\"enum\":[\"a\",\"ab\",\"\"]}}"));
}

static void value(struct text *t, unsigned depth);

static void array(struct text *t, unsigned depth) {
  put(t, ONE_OF("{\"type\":\"array\"", "{\"type\":\"array\",\"uniqueItems\":true",
                "{\"type\":\"array\",\"not\":{\"uniqueItems\":true}"));
  put(t, ",\"items\":");
  value(t, depth - 1);
  if (below(3) == 0)
    put_number(t, ",\"minItems\":", below(4));
  else if (below(3) == 0 && !strstr(t->at, "not\":{\"uniq"))
    put_number(t, ",\"maxItems\":", edge());
  if (below(5) == 0) {
    put(t, ",\"prefixItems\":[");
    scalar(t);
    put(t, "]");
  }
  put(t, "}");
}

static void object(struct text *t, unsigned depth) {
  static const char *const names[] = {"a", "ab", "b", "ba", "name"};
  put(t, "{\"type\":\"object\",\"properties\":{");
  for (unsigned i = 0, n = below(sizeof names / sizeof *names); i < n; i++) {
    put(t, i ? ",\"" : "\"");
    put(t, names[i]);
    put(t, "\":");
    value(t, depth - 1);
  }
  put(t, "}");
  if (below(3) == 0) {
    put_number(t, ",\"patternProperties\":{\"^b[ab]{1,", edge());
    put(t, "}$\":{\"type\":\"null\"}}");
  }
  put(t, ONE_OF("", ",\"additionalProperties\":false",
                ",\"additionalProperties\":{\"type\":\"integer\"}",
                ",\"propertyNames\":{\"pattern\":\"^[ab]{0,2}$\"}",
                ",\"propertyNames\":{\"maxLength\":1}", ",\"required\":[\"a\"]",
                ",\"minProperties\":2"));
  put(t, "}");
}

static void value(struct text *t, unsigned depth) {
  unsigned kind = depth ? below(6) : 0;
  if (kind < 2)
    scalar(t);
  else if (kind < 4)
    array(t, depth);
  else if (kind < 5)
    object(t, depth);
  else {
    put(t, "{\"anyOf\":[");
    value(t, depth - 1);
    put(t, ",");
    value(t, depth - 1);
    put(t, "]}");
  }
}

/* More names than one look finds, of which some begin with others. */
static void many_names(struct text *t) {
  unsigned n = edge();
  put(t, "{\"type\":\"object\",\"properties\":{");
  for (unsigned i = 0; i < n; i++) {
    put_number(t, i ? ",\"n" : "\"n", i);
    put(t, ONE_OF("\":true", "\":{\"type\":\"integer\"}"));
  }
  put(t, ONE_OF("}", "},\"required\":[\"n0\"]", "},\"additionalProperties\":false",
                "},\"additionalProperties\":{\"type\":\"null\"}"));
  put(t, "}");
}

static void pattern(struct text *t, unsigned depth) {
  switch (below(depth ? 7 : 2)) {
  case 0: put(t, ONE_OF("a", "b", "ab", "-", "the", " ", "x")); break;
  case 1:
    put(t, ONE_OF("[a-z]", "\\w", "\\S", ".", "[ab]", "[^a]", "[^,]", "\xC3\xA9",
                  "[\xC3\xA0-\xC3\xBF a]"));
    put_number(t, "{", below(3));
    put_number(t, ",", 3 + edge());
    put(t, ONE_OF("}", "}?"));
    break;
  case 2:
  case 3:
    pattern(t, depth - 1);
    pattern(t, depth - 1);
    break;
  case 4:
    put(t, "(?:");
    pattern(t, depth - 1);
    put(t, "|");
    pattern(t, depth - 1);
    put(t, ")");
    break;
  case 5:
    put(t, "(?:");
    pattern(t, depth - 1);
    put_number(t, ONE_OF("){0,", " ?){0,", "-?){1,"), 1 + edge());
    put(t, "}");
    break;
  default:
    put(t, ONE_OF("(?!.*the)", "(?!.*a{16})", "(?=.{3,40}$)", "\\b", "(a|b|ab)x?\\1"));
    pattern(t, depth - 1);
  }
}

static void rule(struct text *t, unsigned rules) {
  for (unsigned i = 1 + below(3); i--;) {
    switch (below(5)) {
    case 0: put(t, ONE_OF("\"a\" ", "\"b\" ", "\"(\" ", "\", \" ", "\"\" ", "[ab] ")); break;
    case 1:
      put_number(t, "[a-z]{0,", edge());
      put(t, "} ");
      break;
    default: put_number(t, "r", below(rules)); put(t, ONE_OF(" ", " ", "? ", "* "));
    }
  }
}

static void rules_of(struct text *t) {
  unsigned rules = 2 + below(3);
  put(t,
      ONE_OF("root ::= r0 r1\n", "root ::= (r0 \",\")* r1\n", "root ::= \"(\" root \")\" | r0\n"));
  for (unsigned i = 0; i < rules; i++) {
    put_number(t, "r", i);
    put(t, " ::= ");
    rule(t, rules);
    put(t, "| ");
    rule(t, rules);
    put(t, ONE_OF("| \"a\"\n", "| [a-c]\n", "| \"x\" \"y\"\n"));
  }
}

typedef struct grammar {
  enum { SCHEMA, REGEX, GBNF } kind;
  struct text text;
  tsl_schema_options options;
} grammar;

static void set_options(grammar *g) {
  static const tsl_whitespace spaces[] = {TSL_WS_ANY, TSL_WS_COMPACT, TSL_WS_BOUNDED,
                                          TSL_WS_PRETTY};
  g->options = (tsl_schema_options){.whitespace = spaces[below(4)],
                                    .whitespace_max = 1 + below(3),
                                    .indent = 1 + below(3),
                                    .order = below(2) ? TSL_ORDER_ANY : TSL_ORDER_SCHEMA,
                                    .repeated_names = below(3) == 0,
                                    .lazy = below(2)};
}

/* The one before with another digit, which mostly is a bound; it may make no sense then. */
static void change_digit(struct text *t) {
  for (unsigned tries = 0; tries < 30; tries++) {
    char *c = &t->at[below((unsigned)t->n)];
    /* the name of a rule, a reference */
    if (*c < '1' || *c > '9' || (c > t->at && (c[-1] == 'r' || c[-1] == '\\'))) continue;
    *c = (char)('1' + below(9));
    break;
  }
}

static void make(grammar *g, const grammar *before) {
  set_options(g);
  g->text.n = 0;
  put(&g->text, "");
  if (before && below(2)) {
    g->kind = before->kind;
    put(&g->text, before->text.at);
    if (below(2)) change_digit(&g->text);
    return;
  }
  unsigned kind = below(8);
  g->kind = kind < 5 ? SCHEMA : kind < 6 ? REGEX : GBNF;
  if (kind < 3)
    below(4) ? array(&g->text, 2) : object(&g->text, 2);
  else if (kind < 4)
    value(&g->text, 2);
  else if (kind < 5)
    many_names(&g->text);
  else if (kind < 6)
    pattern(&g->text, 3);
  else
    rules_of(&g->text);
}

static tsl_grammar *compile(tsl_vocab *v, const grammar *g) {
  const tsl_limits limits = {.max_steps = 300000};
  tsl_grammar *made = NULL;
  tsl_error e = {0};
  tsl_status s =
      g->kind == SCHEMA
          ? tsl_grammar_json_schema(v, g->text.at, g->text.n, &g->options, &limits, &made, &e)
      : g->kind == REGEX ? tsl_grammar_regex(v, g->text.at, g->text.n, NULL, &limits, &made, &e)
                         : tsl_grammar_gbnf(v, g->text.at, g->text.n, NULL, &limits, &made, &e);
  CHECKF(s == TSL_OK || s == TSL_ERR_SYNTAX || s == TSL_ERR_LIMIT || s == TSL_ERR_UNSUPPORTED ||
             s == TSL_ERR_EMPTY,
         "%s: %s", g->text.at, e.message);
  refused += s != TSL_OK;
  return made;
}

/* ---- texts ----------------------------------------------------------------------------------- */

typedef struct sample {
  uint8_t at[TEXT_MAX];
  size_t n;
} sample;

/* A random text, or the beginning of one: some bytes are preferred. */
static void write_sample(tsl_grammar *g, sample *s) {
  tsl_matcher *m = NULL;
  uint32_t next[8];
  const char *preferred = ONE_OF("ab", "a", "ab\"", "ab,", "0123", "a b", "1,]", "");
  unsigned most = 10 + below(below(3) ? 90 : TEXT_MAX - 10);
  s->n = 0;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  while (m && s->n < most && tsl_matcher_next_bytes(m, next) == TSL_OK &&
         !(tsl_matcher_is_complete(m) && below(8) == 0)) {
    uint8_t b = (uint8_t)below(256);
    size_t tries = 0;
    if (*preferred && below(4)) b = (uint8_t)preferred[below((unsigned)strlen(preferred))];
    while (tries++ < 256 && !(tsl_mask_has(next, b) && (b >= 0x20 || tries > 128))) b++;
    if (!tsl_mask_has(next, b) || tsl_matcher_accept_bytes(m, &b, 1, NULL) != TSL_OK) break;
    s->at[s->n++] = b;
  }
  tsl_matcher_free(m);
}

/* ---- vocabularies ---------------------------------------------------------------------------- */

static struct {
  uint8_t bytes[TOKENS * TOKEN_MAX];
  uint32_t offsets[TOKENS + 1], spelled[TOKENS]; /* tokens by their bytes */
  uint8_t special[TOKENS];
  uint32_t n, tokens;
} pieces;

static void add_token(const uint8_t *at, size_t n) {
  memcpy(pieces.bytes + pieces.n, at, n);
  pieces.offsets[pieces.tokens++] = pieces.n;
  pieces.n += (uint32_t)n;
}

/* Insert, drop or repeat something. */
static void change(uint8_t *at, size_t *n) {
  const char *more = ONE_OF("a", "b", "\"", "\xC3\xA9", "\\n", "\xC3", "\xFF", ",", " ", "\\u0061",
                            "0", "]", "}", "-", "\n");
  size_t k = strlen(more), from = below((unsigned)*n + 1), length = 1 + below(6);
  if (below(3) == 0) {
    memmove(at + from + k, at + from, *n - from);
    memcpy(at + from, more, k);
    *n += k;
  } else if (below(2) && from < *n && *n > 1) {
    memmove(at + from, at + from + 1, --*n - from);
  } else if (from + length <= *n) {
    for (unsigned times = 1 + below(40); times && *n + length < TOKEN_MAX - 10;
         times--, *n += length)
      memmove(at + from + length, at + from, *n - from);
  }
}

static int by_spelling(const void *x, const void *y) {
  uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y,
           m = pieces.offsets[a + 1] - pieces.offsets[a],
           n = pieces.offsets[b + 1] - pieces.offsets[b];
  int order =
      memcmp(pieces.bytes + pieces.offsets[a], pieces.bytes + pieces.offsets[b], m < n ? m : n);
  return order ? order : (m > n) - (m < n);
}

/* A token for each byte, one that ends a generation, and pieces. NULL samples: no pieces. */
static tsl_vocab *make_vocab(const sample *samples, unsigned n, uint32_t tokens) {
  static const tsl_token end = 256;
  tsl_vocab *v = NULL;
  tsl_error e = {0};
  pieces.n = pieces.tokens = 0;
  for (unsigned b = 0; b < 256; b++) add_token(&(uint8_t){(uint8_t)b}, 1);
  pieces.special[256] = 1;
  add_token((const uint8_t *)"<end>", 5);
  while (pieces.tokens < tokens) {
    uint8_t at[TOKEN_MAX + TEXT_MAX];
    size_t length = 0;
    for (unsigned parts = below(6) ? 1 : 2; parts; parts--) {
      const sample *s = &samples[below(n)];
      size_t from = s->n ? below((unsigned)s->n) : 0, some = 1 + below(below(3)   ? 8
                                                                       : below(3) ? 40
                                                                                  : 120);
      if (some > s->n - from) some = s->n - from;
      memcpy(at + length, s->at + from, some);
      length += some;
    }
    if (below(3) == 0) change(at, &length);
    if (length)
      add_token(at, length < TOKEN_MAX ? length : TOKEN_MAX);
    else
      add_token((const uint8_t *)"\"", 1);
  }
  pieces.offsets[tokens] = pieces.n;
  for (uint32_t t = 0; t < tokens; t++) pieces.spelled[t] = t;
  qsort(pieces.spelled, tokens, sizeof *pieces.spelled, by_spelling);
  const tsl_vocab_desc desc = {pieces.bytes, pieces.offsets, tokens, 0, pieces.special, &end, 1};
  CHECKF(tsl_vocab_new(&desc, NULL, &v, &e) == TSL_OK, "%s", e.message);
  return v;
}

/* ---- what is compared ------------------------------------------------------------------------ */

#define WORDS ((TOKENS + 31) / 32)

/* The tokens that a matcher over bytes accepts, each byte by byte; false: a limit. */
static bool accepted_by_bytes(const tsl_matcher *from, uint32_t *mask) {
  tsl_matcher *m = NULL;
  const uint8_t *path = pieces.bytes; /* that was followed, to `depth`; at `dead` it was rejected */
  size_t depth = 0, dead = SIZE_MAX;
  bool fine = tsl_matcher_fork(from, &m) == TSL_OK;
  memset(mask, 0, WORDS * sizeof *mask);
  if (tsl_matcher_is_complete(from)) mask[256 / 32] |= 1;
  for (uint32_t i = 0; fine && i < pieces.tokens; i++) {
    tsl_token t = pieces.spelled[i];
    const uint8_t *at = pieces.bytes + pieces.offsets[t];
    size_t n = pieces.offsets[t + 1] - pieces.offsets[t], same = 0,
           known = dead == SIZE_MAX ? depth : dead + 1;
    if (pieces.special[t]) continue;
    while (same < n && same < known && path[same] == at[same]) same++;
    if (same > dead || (dead != SIZE_MAX && same == dead + 1)) continue;
    fine = depth <= same || tsl_matcher_rollback(m, depth - same) == TSL_OK;
    if (depth > same) depth = same;
    path = at;
    dead = SIZE_MAX;
    while (fine && depth < n && dead == SIZE_MAX) {
      tsl_status s = tsl_matcher_accept_bytes(m, at + depth, 1, NULL);
      if (s == TSL_OK)
        depth++;
      else if (s == TSL_REJECTED)
        dead = depth;
      else
        fine = false;
    }
    if (fine && depth == n) mask[t / 32] |= (uint32_t)1 << t % 32;
  }
  tsl_matcher_free(m);
  return fine;
}

static bool same_answers(const grammar *g, tsl_matcher *m, tsl_matcher *bytes, const char *text) {
  uint64_t shortest[2];
  uint8_t forced[2][32];
  size_t n[2];
  if (tsl_matcher_shortest_completion(m, &shortest[0]) ||
      tsl_matcher_shortest_completion(bytes, &shortest[1]))
    return true;
  CHECKF(shortest[0] == shortest[1], "%s after %s: shortest %llu and %llu", g->text.at, text,
         (unsigned long long)shortest[0], (unsigned long long)shortest[1]);
  if (tsl_matcher_forced_bytes(m, forced[0], 32, &n[0]) ||
      tsl_matcher_forced_bytes(bytes, forced[1], 32, &n[1]))
    return true;
  CHECKF(n[0] == n[1] && !memcmp(forced[0], forced[1], n[0]),
         "%s after %s: %zu bytes must come, and %zu", g->text.at, text, n[0], n[1]);
  return shortest[0] == shortest[1] && n[0] == n[1];
}

static bool compare(const grammar *g, tsl_matcher *m, tsl_matcher *bytes, const char *text,
                    uint32_t *mask) {
  uint32_t naive[WORDS];
  if (tsl_matcher_mask(m, mask) != TSL_OK || !accepted_by_bytes(bytes, naive))
    return given_up++, false;
  compared++;
  for (tsl_token t = 0; t < pieces.tokens; t++) {
    if (tsl_mask_has(mask, t) == tsl_mask_has(naive, t)) continue;
    CHECKF(false, "%s (white space %d, order %d, lazy %d) after '%s': '%.*s' is %s", g->text.at,
           g->options.whitespace, g->options.order, g->options.lazy, text,
           (int)(pieces.offsets[t + 1] - pieces.offsets[t]),
           (const char *)pieces.bytes + pieces.offsets[t],
           tsl_mask_has(mask, t) ? "allowed and leads nowhere" : "denied and may come");
    return false;
  }
  CHECK(tsl_mask_count(mask, pieces.tokens) > 0);
  return same_answers(g, m, bytes, text);
}

/* Along a random text of tokens, which begins with a part of a sample. */
static void follow(const grammar *g, tsl_grammar *made, tsl_grammar *over_bytes, const sample *s) {
  uint32_t mask[WORDS] = {0};
  char text[TEXT_MAX + STEPS * TOKEN_MAX + 1];
  size_t n = below(3) ? below((unsigned)s->n + 1) : 0;
  tsl_matcher *m = NULL, *bytes = NULL;
  CHECK(tsl_matcher_new(made, NULL, &m) == TSL_OK &&
        tsl_matcher_new(over_bytes, NULL, &bytes) == TSL_OK);
  memcpy(text, s->at, n);
  text[n] = 0;
  bool on = m && bytes && tsl_matcher_accept_bytes(m, text, n, NULL) == TSL_OK &&
            tsl_matcher_accept_bytes(bytes, text, n, NULL) == TSL_OK;
  for (unsigned step = 0; on && step < STEPS && compare(g, m, bytes, text, mask); step++) {
    tsl_token t = draw(mask, pieces.tokens, &seed);
    for (unsigned k = below(5); k; k--) { /* mostly a longer one */
      tsl_token other = draw(mask, pieces.tokens, &seed);
      if (pieces.offsets[other + 1] - pieces.offsets[other] >
          pieces.offsets[t + 1] - pieces.offsets[t])
        t = other;
    }
    uint32_t length = pieces.offsets[t + 1] - pieces.offsets[t];
    if (t == 256 || n + length >= sizeof text) break;
    tsl_status status = tsl_matcher_accept(m, t);
    CHECKF(status == TSL_OK || status == TSL_ERR_LIMIT, "%s after '%s': %s", g->text.at, text,
           tsl_status_name(status));
    if (status != TSL_OK && ++given_up) break;
    on = tsl_matcher_accept_bytes(bytes, pieces.bytes + pieces.offsets[t], length, NULL) == TSL_OK;
    memcpy(text + n, pieces.bytes + pieces.offsets[t], length);
    text[n += length] = 0;
  }
  tsl_matcher_free(m);
  tsl_matcher_free(bytes);
}

static void one_group(tsl_vocab *single) {
  static grammar at[GROUP];
  static sample samples[GROUP * TEXTS];
  tsl_grammar *over_bytes[GROUP] = {0};
  unsigned n = 0;
  for (unsigned i = 0; i < GROUP; i++) {
    make(&at[i], i ? &at[i - 1] : NULL);
    over_bytes[i] = compile(single, &at[i]);
    for (unsigned k = 0; over_bytes[i] && k < TEXTS; k++)
      write_sample(over_bytes[i], &samples[n++]);
  }
  tsl_vocab *v = n ? make_vocab(samples, n, 300 + below(TOKENS - 300)) : NULL;
  for (unsigned i = 0, used = 0; v && i < GROUP; i++) {
    if (!over_bytes[i]) continue;
    tsl_grammar *made = compile(v, &at[i]);
    for (unsigned k = 0; made && k < 2; k++)
      follow(&at[i], made, over_bytes[i], &samples[used + below(TEXTS)]);
    tsl_grammar_release(made);
    used += TEXTS;
  }
  for (unsigned i = 0; i < GROUP; i++) {
    tsl_grammar_release(over_bytes[i]);
    text_free(&at[i].text);
  }
  tsl_vocab_release(v);
}

static void groups(void) {
  tsl_vocab *single = make_vocab(NULL, 0, 257);
  tsl_vocab_set_walk_cache(single, 0); /* here nothing is learned from one another */
  for (unsigned i = first; single && i < first + rounds; i++) {
    seed = i * 7919 + 5;
    one_group(single);
  }
  tsl_vocab_release(single);
  printf("     %lu masks compared; %lu times a limit; %lu grammars refused\n", compared, given_up,
         refused);
  CHECK(compared > rounds * 15 && given_up * 5 < compared);
}

/* ---- fixed places ---------------------------------------------------------------------------- */

/* The mask after a text is that of tokens one by one. */
static void check_place(tsl_grammar *g, const char *schema, const char *text) {
  uint32_t mask[WORDS];
  tsl_matcher *m = NULL;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
        tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK &&
        tsl_matcher_mask(m, mask) == TSL_OK);
  CHECK(mask_is_right(m, mask, schema, text));
  tsl_matcher_free(m);
}

/* Tokens over the ends of items, in indented text, and where some must be equal. A line break after
 * the last item leads to the end alone. */
static void ends_of_items(void) {
  static const char *const tokens[] = {
      "\n",           "0,1]",          "00,0.1E1]",     ",1]",
      "\n]",          "\n  1,\n  1\n", "\n  1,\n  2\n", "  1,\n  1\n]",
      "  1,\n  2\n]", ",\n  1\n",      ",\n  2\n",      "\"\n",
      "\"",           "\"a\",\"\"]",   "\"a\",\"bb\"]", "\"a\",\"b\"]"};
  static const struct {
    const char *schema;
    tsl_whitespace space;
    const char *texts[3];
  } rows[] = {
      {"{\"type\":\"array\",\"not\":{\"uniqueItems\":true},\"items\":{\"enum\":[1,2,\"a\"]}}",
       TSL_WS_COMPACT,
       {"[1.0", "[2,1.0", "["}},
      {"{\"type\":\"array\",\"not\":{\"uniqueItems\":true},\"items\":{\"enum\":[1,2,\"a\"]}}",
       TSL_WS_PRETTY,
       {"[\n  1", "[\n  1,\n  \"a", "["}},
      {"{\"type\":\"array\",\"not\":{\"uniqueItems\":true},\"items\":{\"enum\":[1,2,\"a\"]}}",
       TSL_WS_PRETTY,
       {"[\n", "[\n  1,\n  2", "[\n  2,\n  2"}},
      {"{\"type\":\"array\",\"not\":{\"uniqueItems\":true},\"items\":{\"type\":\"string\","
       "\"pattern\":\"^[ab]{0,2}$\"}}",
       TSL_WS_COMPACT,
       {"[\"\",\"bb\",", "[\"\",", "["}},
      {"{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"integer\"}}",
       TSL_WS_PRETTY,
       {"[", "[\n", "[\n  1"}}};
  enum { COUNT = sizeof tokens / sizeof *tokens };
  pieces.n = pieces.tokens = 0;
  for (unsigned b = 0; b < 256; b++) add_token(&(uint8_t){(uint8_t)b}, 1);
  for (size_t i = 0; i < COUNT; i++) add_token((const uint8_t *)tokens[i], strlen(tokens[i]));
  pieces.offsets[pieces.tokens] = pieces.n;
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_new(&(tsl_vocab_desc){.bytes = pieces.bytes,
                                        .offsets = pieces.offsets,
                                        .size = pieces.tokens},
                      NULL, &v, NULL) == TSL_OK);
  for (size_t i = 0; v && i < sizeof rows / sizeof *rows; i++) {
    const tsl_schema_options options = {
        .whitespace = rows[i].space, .indent = 2, .spelling = TSL_SPELLING_ANY};
    tsl_grammar *g = NULL;
    CHECK(tsl_grammar_json_schema(v, rows[i].schema, strlen(rows[i].schema), &options, NULL, &g,
                                  NULL) == TSL_OK);
    for (size_t k = 0; g && k < 3; k++) check_place(g, rows[i].schema, rows[i].texts[k]);
    tsl_grammar_release(g);
  }
  tsl_vocab_release(v);
}

/* One white space after another over one vocabulary. What the first grammar knows of an array's
 * items holds for the other as far as both lay it out in the same way. */
static void layouts(void) {
  static const char *const values[] = {"true", "false", "null"},
                           *const blanks[] = {"", " ", "\n", "  "},
                           *const ends[] = {",", "]", "],", ", "},
                           *const next[] = {"", "true", " false", "t"};
  static const char schema[] = "{\"type\":\"array\",\"items\":{\"type\":[\"boolean\",\"null\"]}}",
                    *const texts[] = {"[", "[true,", "[true", "[true,false", "[null,tr"};
  static const tsl_whitespace all[] = {TSL_WS_ANY, TSL_WS_COMPACT, TSL_WS_BOUNDED};
  for (unsigned pair = 0; pair < 9; pair++) {
    tsl_vocab *v = NULL;
    pieces.n = pieces.tokens = 0;
    for (unsigned b = 0; b < 256; b++) add_token(&(uint8_t){(uint8_t)b}, 1);
    for (unsigned i = 0; i < 3 * 4 * 4 * 4; i++) {
      char token[40];
      add_token((const uint8_t *)token,
                (size_t)snprintf(token, sizeof token, "%s%s%s%s", values[i % 3], blanks[i / 3 % 4],
                                 ends[i / 12 % 4], next[i / 48]));
    }
    pieces.offsets[pieces.tokens] = pieces.n;
    CHECK(tsl_vocab_new(&(tsl_vocab_desc){.bytes = pieces.bytes,
                                          .offsets = pieces.offsets,
                                          .size = pieces.tokens},
                        NULL, &v, NULL) == TSL_OK);
    for (unsigned which = 0; v && which < 2; which++) {
      const tsl_schema_options options = {.whitespace = all[which ? pair / 3 : pair % 3],
                                          .whitespace_max = 1 + which};
      tsl_grammar *g = NULL;
      CHECK(tsl_grammar_json_schema(v, schema, strlen(schema), &options, NULL, &g, NULL) == TSL_OK);
      for (size_t k = 0; g && k < sizeof texts / sizeof *texts; k++)
        check_place(g, schema, texts[k]);
      tsl_grammar_release(g);
    }
    tsl_vocab_release(v);
  }
}

/* test_pieces [ROUNDS [FIRST]] */
int main(int argc, char **argv) {
  tsl_test_part(&rounds, &first, 2);
  if (argc > 1) rounds = (unsigned)strtoul(argv[1], NULL, 10);
  if (argc > 2) first = (unsigned)strtoul(argv[2], NULL, 10);
  RUN(ends_of_items, "tokens over the ends of items that must differ, or not");
  RUN(layouts, "white space of one grammar, then of another");
  RUN(groups, "grammars over pieces of their own texts, beside single bytes");
  return tsl_test_end();
}
