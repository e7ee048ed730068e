/* parse.c - GBNF text to nodes.
 *
 * Problem   A line end ends a rule, but not within parentheses, nor after a `|`. A name may be
 *           used before its rule is there.
 * Idea      A recursive-descent parser; it recurses into parentheses only, at most max_depth deep.
 *           A name that is met becomes a rule at once, without a body; check_defined reports those
 *           that never get one. The first error stops the parser: every function then returns node
 *           0 and its callers find p->status set.
 * Example   root ::= "a" (b |
 *                    "c")+
 *           parse_sequence reads the literal, then parse_group. Within it skip_space skips line
 *           ends, so the group goes on in the second line. `b` is mentioned: rule 1, without a
 *           line. The group's node is ALT(REF 1, LITERAL), and `+` makes a REPEAT of it, 1 to
 *           without end. The text ends, and b has no body: "rule \"b\" is not defined", line 1,
 *           column 15.
 * Items     The items of sequences that are open lie on one array, `pending`. `collect` makes a
 *           list of those above a base, and cuts the array there. So nesting needs no allocation.
 * Cost      Linear in the text. Names are found through a table of hashes.
 * Tested by tests/gbnf/test_gbnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/gbnf/ast.h"
#include "runtime/vocab/vocab.h"

typedef struct parser {
  tsl__gbnf *g;
  const tsl_vocab *vocab;
  const char *text;
  size_t length, at;
  uint32_t max_depth;
  uint32_t lines; /* newlines before `counted` */
  size_t counted;
  TSL__VEC(uint32_t) pending; /* items of the sequences and alternatives that are open */
  tsl_status status;
  tsl_error *error;
} parser;

#define FAIL_AT(p, offset, ...)                                                                 \
  ((p)->status = (p)->status ? (p)->status                                                      \
                             : tsl__fail_at((p)->error, TSL_ERR_SYNTAX, (p)->text, (p)->length, \
                                            (offset), __VA_ARGS__))
#define FAIL(p, ...) FAIL_AT((p), (p)->at, __VA_ARGS__)

static void fail_limit(parser *p, size_t offset, const char *what, unsigned limit) {
  if (!p->status)
    p->status = tsl__fail_at(p->error, TSL_ERR_LIMIT, p->text, p->length, offset, "%s (limit %u)",
                             what, limit);
}

/* Is memory or time over? */
static bool is_over(parser *p) {
  bool failed = tsl__gbnf_failed(p->g);
  if (failed && !p->status) p->status = tsl__gbnf_failure(p->g, p->error);
  return failed;
}

static int peek(const parser *p) { return p->at < p->length ? (unsigned char)p->text[p->at] : -1; }
static bool take(parser *p, char c) {
  return peek(p) == (unsigned char)c ? (p->at++, true) : false;
}

static bool is_digit(int c) { return c >= '0' && c <= '9'; }
static bool is_word(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '-' || c == '_';
}

static void skip_space(parser *p, bool newlines) {
  for (int c = peek(p); c == ' ' || c == '\t' || c == '#' || (newlines && (c == '\r' || c == '\n'));
       c = peek(p)) {
    if (c != '#') {
      p->at++;
      continue;
    }
    while (peek(p) >= 0 && peek(p) != '\r' && peek(p) != '\n') p->at++;
  }
}

/* ---- rules by name --------------------------------------------------------------------------- */

static uint64_t name_hash(const char *name, size_t length) { return tsl__hash(name, length); }

static uint32_t *find_slot(const tsl__gbnf *g, const char *name, size_t length) {
  uint64_t h = name_hash(name, length);
  for (;; h++) {
    uint32_t *slot = &g->slots[h & (g->slot_count - 1)];
    if (!*slot) return slot;
    const tsl__grule *r = &g->rules.at[*slot - 1];
    if (r->name_length == length && !memcmp(r->name, name, length)) return slot;
  }
}

uint32_t tsl__gbnf_find(const tsl__gbnf *g, const char *name, size_t length) {
  if (!g->slot_count) return UINT32_MAX;
  uint32_t *slot = find_slot(g, name, length);
  return *slot ? *slot - 1 : UINT32_MAX;
}

static bool grow_names(tsl__gbnf *g) {
  uint32_t size = g->slot_count ? g->slot_count * 2 : 64, old = g->slot_count;
  uint32_t *slots = tsl__alloc_zero(&g->alloc, size * sizeof *slots), *before = g->slots;
  if (!slots) return false;
  g->slots = slots;
  g->slot_count = size;
  for (uint32_t i = 0; i < g->rules.n; i++)
    *find_slot(g, g->rules.at[i].name, g->rules.at[i].name_length) = i + 1;
  tsl__free(&g->alloc, before, old * sizeof *before);
  return true;
}

uint32_t tsl__gbnf_mention(tsl__gbnf *g, size_t offset, size_t length) {
  tsl__grule rule = {.name = g->text + offset,
                     .name_length = (uint32_t)length,
                     .offset = (uint32_t)offset,
                     .cycle = TSL__G_NO_CYCLE,
                     .component = UINT32_MAX};
  if (g->rules.n * 2 >= g->slot_count && !grow_names(g)) g->no_memory = true;
  if (g->no_memory) return 0;
  uint32_t *slot = find_slot(g, rule.name, length);
  if (*slot) return *slot - 1;
  if (!tsl__vec_push(&g->alloc, &g->rules, rule)) return g->no_memory = true, 0;
  return (*slot = (uint32_t)g->rules.n) - 1;
}

static uint32_t mention(parser *p, size_t offset, size_t length) {
  uint32_t rule = is_over(p) ? 0 : tsl__gbnf_mention(p->g, offset, length);
  return is_over(p) ? 0 : rule;
}

static size_t word_length(const parser *p) {
  size_t end = p->at;
  while (end < p->length && is_word((unsigned char)p->text[end])) end++;
  return end - p->at;
}

/* ---- characters ------------------------------------------------------------------------------ */

static uint32_t parse_hex(parser *p, size_t start, int digits) {
  uint32_t value = 0;
  for (int i = 0; i < digits; i++, p->at++) {
    int c = peek(p), d = c < 0 ? -1 : tsl__hex_value((uint8_t)c);
    if (d < 0) {
      FAIL_AT(p, start, "an escape needs %d hexadecimal digits", digits);
      return 0;
    }
    value = value << 4 | (uint32_t)d;
  }
  if (value > TSL__CP_MAX) FAIL_AT(p, start, "an escape above U+10FFFF");
  return value;
}

static uint32_t parse_escape(parser *p) {
  size_t start = p->at++;
  int c = peek(p);
  if (c >= 0) p->at++;
  switch (c) {
  case 'x': return parse_hex(p, start, 2);
  case 'u': return parse_hex(p, start, 4);
  case 'U': return parse_hex(p, start, 8);
  case 'n': return '\n';
  case 'r': return '\r';
  case 't': return '\t';
  case '\\':
  case '"':
  case '[':
  case ']':
  case '-': return (uint32_t)c;
  default: FAIL_AT(p, start, "an unknown escape"); return 0;
  }
}

/* One code point, raw or escaped. */
static uint32_t parse_char(parser *p) {
  uint32_t cp = 0;
  if (peek(p) == '\\') return parse_escape(p);
  unsigned n = tsl__utf8_decode((const uint8_t *)p->text + p->at, p->length - p->at, &cp);
  if (!n) FAIL(p, "invalid UTF-8");
  p->at += n;
  return cp;
}

static uint32_t parse_literal(parser *p) {
  size_t start = p->at++;
  uint32_t first = (uint32_t)p->g->bytes.n;
  while (!p->status && peek(p) != '"') {
    uint8_t utf8[4];
    size_t at = p->at;
    if (peek(p) < 0) return FAIL_AT(p, start, "a literal without its closing quote"), 0;
    uint32_t cp = parse_char(p);
    if (cp >= 0xD800 && cp <= 0xDFFF) return FAIL_AT(p, at, "a surrogate is no character"), 0;
    unsigned n = tsl__utf8_encode(cp, utf8);
    for (unsigned i = 0; i < n && !p->g->no_memory; i++)
      if (!tsl__vec_push(&p->g->alloc, &p->g->bytes, utf8[i])) p->g->no_memory = true;
    if (is_over(p)) return 0;
  }
  p->at++;
  uint32_t length = (uint32_t)p->g->bytes.n - first;
  return length && !p->status ? tsl__gbnf_node(p->g, TSL__G_LITERAL, first, length, 0) : 0;
}

/* The members of a class up to its ']'. */
static void parse_members(parser *p, size_t start, tsl__charset *set) {
  while (!p->status && peek(p) != ']') {
    size_t at = p->at;
    if (peek(p) < 0) {
      FAIL_AT(p, start, "a class without its ']'");
      return;
    }
    uint32_t low = parse_char(p), high = low;
    if (!p->status && peek(p) == '-' && p->at + 1 < p->length && p->text[p->at + 1] != ']') {
      p->at++;
      high = parse_char(p);
    }
    if (!p->status && high < low) FAIL_AT(p, at, "a range from high to low");
    if (!p->status && !tsl__charset_add(&p->g->alloc, set, low, high)) p->g->no_memory = true;
    if (is_over(p)) return;
  }
}

static uint32_t parse_class(parser *p) {
  tsl__gbnf *g = p->g;
  tsl__charset set = {0};
  size_t start = p->at++;
  uint32_t first = (uint32_t)g->ranges.n;
  bool negated = take(p, '^');
  parse_members(p, start, &set);
  if (!p->status && !set.ranges.n) FAIL_AT(p, start, "a class without characters");
  tsl__charset_normalise(&set);
  if (!p->status && negated && !tsl__charset_negate(&g->alloc, &set)) g->no_memory = true;
  for (size_t i = 0; i < set.ranges.n && !p->status && !g->no_memory; i++)
    if (!tsl__vec_push(&g->alloc, &g->ranges, set.ranges.at[i])) g->no_memory = true;
  uint32_t count = (uint32_t)set.ranges.n;
  tsl__charset_free(&g->alloc, &set);
  if (is_over(p) || p->status) return 0;
  p->at++;
  return tsl__gbnf_node(g, TSL__G_CLASS, first, count, 0);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

/* A number up to `limit`. */
static uint32_t parse_number(parser *p, const char *what, uint32_t limit) {
  size_t start = p->at;
  uint64_t value = 0;
  if (!is_digit(peek(p))) FAIL(p, "%s is missing", what);
  for (; is_digit(peek(p)); p->at++)
    if (value <= limit) value = value * 10 + (uint64_t)(peek(p) - '0');
  if (value > limit) fail_limit(p, start, what, limit);
  return (uint32_t)value;
}

static uint32_t token_by_name(parser *p, size_t start) {
  size_t length = p->at - start, count = 0;
  tsl_token id = tsl_vocab_find_special(p->vocab, p->text + start, length);
  if (id != TSL_NO_TOKEN) return id;
  if (tsl_vocab_encode(p->vocab, p->text + start, length, TSL_ENCODE_SPECIAL, &id, 1, &count) ||
      count != 1)
    FAIL_AT(p, start, "%.*s is not one token of the vocabulary", (int)(length < 100 ? length : 100),
            p->text + start);
  return id;
}

/* <[id]> or <name>, perhaps after '!'. */
static uint32_t parse_token(parser *p) {
  bool negated = take(p, '!');
  size_t start = p->at;
  uint32_t id;
  if (!take(p, '<')) return FAIL(p, "'!' is followed by a token: <[id]> or <name>"), 0;
  if (take(p, '[')) {
    id = parse_number(p, "a token id", INT32_MAX);
    if (!p->status && (!take(p, ']') || !take(p, '>'))) FAIL(p, "a token id ends with ]>");
  } else {
    while (peek(p) >= 0 && peek(p) != '>' && peek(p) != '\n') p->at++;
    if (!take(p, '>')) return FAIL_AT(p, start, "a token without its '>'"), 0;
    if (!p->vocab) return FAIL_AT(p, start, "a token by name needs a vocabulary"), 0;
    id = token_by_name(p, start);
  }
  if (!p->status && p->vocab && id >= tsl_vocab_size(p->vocab))
    FAIL_AT(p, start, "the vocabulary has no token %u", id);
  tsl__exprs_name_tokens(p->g->x);
  bool nameless = !p->status && p->vocab && !tsl__vocab_names_some(p->vocab, &id, 1, negated);
  if (nameless && !p->g->nameless) {
    p->g->nameless = true;
    p->g->nameless_token = id;
    p->g->nameless_at = start;
  }
  return p->status ? 0 : tsl__gbnf_node(p->g, TSL__G_TOKEN, id, negated, nameless);
}

/* ---- structure ------------------------------------------------------------------------------- */

static uint32_t parse_alternatives(parser *p, uint32_t depth);

static uint32_t parse_group(parser *p, uint32_t depth) {
  size_t start = p->at++;
  if (depth >= p->max_depth) {
    fail_limit(p, start, "nesting is too deep", p->max_depth);
    return 0;
  }
  skip_space(p, true);
  uint32_t node = parse_alternatives(p, depth + 1);
  if (!p->status && !take(p, ')'))
    FAIL(p, peek(p) < 0 ? "a group without its ')'" : "expected an item, '|' or ')'");
  return node;
}

static uint32_t parse_reference(parser *p) {
  size_t start = p->at, length = word_length(p);
  p->at += length;
  uint32_t rule = mention(p, start, length);
  return p->status ? 0 : tsl__gbnf_node(p->g, TSL__G_REF, rule, (uint32_t)start, 0);
}

/* An item without quantifier; *none: there is no item here. */
static uint32_t parse_item(parser *p, uint32_t depth, bool *none) {
  int c = peek(p);
  *none = false;
  if (c == '"') return parse_literal(p);
  if (c == '[') return parse_class(p);
  if (c == '(') return parse_group(p, depth);
  if (c == '<' || c == '!') return parse_token(p);
  if (is_word(c)) return parse_reference(p);
  if (take(p, '.')) return tsl__gbnf_node(p->g, TSL__G_ANY, 0, 0, 0);
  *none = true;
  return 0;
}

/* {m} {m,} {m,n} after its '{'. */
static void parse_counts(parser *p, size_t start, bool nested, uint32_t *min, uint32_t *max) {
  skip_space(p, nested);
  *min = *max = parse_number(p, "a repeat count", TSL__GBNF_REPEAT_MAX);
  skip_space(p, nested);
  if (p->status || take(p, '}')) return;
  if (!take(p, ',')) {
    FAIL(p, "expected ',' or '}'");
    return;
  }
  skip_space(p, nested);
  if (is_digit(peek(p)))
    *max = parse_number(p, "a repeat count", TSL__GBNF_REPEAT_MAX);
  else
    *max = TSL__INF;
  skip_space(p, nested);
  if (!p->status && !take(p, '}')) FAIL(p, "expected '}'");
  if (!p->status && *max < *min) FAIL_AT(p, start, "a repeat from high to low");
}

static uint32_t parse_quantifiers(parser *p, uint32_t item, bool nested) {
  for (;;) {
    uint32_t min = 0, max = TSL__INF;
    size_t start = p->at;
    skip_space(p, nested);
    if (take(p, '*'))
      max = TSL__INF;
    else if (take(p, '+'))
      min = 1;
    else if (take(p, '?'))
      max = 1;
    else if (take(p, '{'))
      parse_counts(p, start, nested, &min, &max);
    else
      return item;
    if (p->status) return 0;
    if (max == 0)
      item = 0;
    else if (item && (min != 1 || max != 1))
      item = tsl__gbnf_node(p->g, TSL__G_REPEAT, item, min, max);
    if (is_over(p)) return 0;
    /* A group is up to three levels of nodes. */
    if (p->g->nodes.at[item].height > 3 * p->max_depth)
      fail_limit(p, start, "nesting is too deep", p->max_depth);
  }
}

static bool pend(parser *p, uint32_t node) {
  if (!tsl__vec_push(&p->g->alloc, &p->pending, node)) p->g->no_memory = true;
  return !is_over(p) && !p->status;
}

static uint32_t collect(parser *p, tsl__gkind kind, size_t base) {
  const uint32_t *items = p->pending.n > base ? p->pending.at + base : NULL;
  uint32_t node =
      p->status ? 0 : tsl__gbnf_list(p->g, kind, items, (uint32_t)(p->pending.n - base));
  p->pending.n = base;
  is_over(p);
  return node;
}

static uint32_t parse_sequence(parser *p, uint32_t depth) {
  size_t base = p->pending.n;
  while (!p->status) {
    bool none;
    uint32_t item = parse_item(p, depth, &none);
    if (none) break;
    if (!p->status) item = parse_quantifiers(p, item, depth > 0);
    if (item && !pend(p, item)) break;
  }
  int c = peek(p);
  if (c == '*' || c == '+' || c == '?' || c == '{')
    FAIL(p, "'%c' has nothing before it to repeat", c);
  return collect(p, TSL__G_SEQ, base);
}

/* The '|' before another alternative, which may begin a line: llama.cpp ends the rule there, and
 * finds no rule in that line; XGrammar's grammars and others are written so. */
static bool take_bar(parser *p, uint32_t depth) {
  size_t end = p->at;
  if (depth == 0) skip_space(p, true); /* within a group it is skipped already */
  if (take(p, '|')) return true;
  p->at = end;
  return false;
}

static uint32_t parse_alternatives(parser *p, uint32_t depth) {
  size_t base = p->pending.n;
  do {
    skip_space(p, depth > 0 || p->pending.n > base);
    if (!pend(p, parse_sequence(p, depth))) break;
  } while (take_bar(p, depth));
  return collect(p, TSL__G_ALT, base);
}

/* The line of an offset; offsets only grow from call to call. */
static uint32_t line_of(parser *p, size_t offset) {
  for (; p->counted < offset; p->counted++) p->lines += p->text[p->counted] == '\n';
  return p->lines + 1;
}

static void parse_rule(parser *p) {
  size_t start = p->at, length = word_length(p);
  if (!length) {
    FAIL(p, !start && p->length >= 3 && !memcmp(p->text, "\xef\xbb\xbf", 3)
                ? "a byte order mark stands before the grammar"
                : "expected the name of a rule");
    return;
  }
  p->at += length;
  uint32_t rule = mention(p, start, length);
  if (!p->status && p->g->rules.at[rule].line)
    FAIL_AT(p, start, "rule \"%.*s\" is defined twice, first in line %u",
            (int)(length < 100 ? length : 100), p->text + start, p->g->rules.at[rule].line);
  skip_space(p, false);
  if (!p->status && (p->length - p->at < 3 || memcmp(p->text + p->at, "::=", 3)))
    FAIL(p, "expected ::=");
  if (p->status) return;
  p->at += 3;
  skip_space(p, true);
  uint32_t body = parse_alternatives(p, 0);
  if (p->status) return;
  p->g->rules.at[rule].body = body;
  p->g->rules.at[rule].line = line_of(p, start);
  if (peek(p) >= 0 && peek(p) != '\r' && peek(p) != '\n')
    FAIL(p,
         peek(p) == ')' ? "')' without its '('" : "expected an item, '|' or the end of the line");
}

static void check_defined(parser *p) {
  for (size_t i = 0; i < p->g->rules.n && !p->status; i++) {
    const tsl__grule *r = &p->g->rules.at[i];
    if (!r->line)
      FAIL_AT(p, r->offset, "rule \"%.*s\" is not defined",
              (int)(r->name_length < 100 ? r->name_length : 100), r->name);
  }
}

tsl_status tsl__gbnf_parse(tsl__gbnf *g, const tsl_vocab *vocab, const char *text, size_t length,
                           uint32_t max_depth, tsl_error *error) {
  parser p = {.g = g, .vocab = vocab, .length = length, .max_depth = max_depth, .error = error};
  if (length > INT32_MAX)
    return tsl__fail(error, TSL_ERR_LIMIT, "the grammar is longer than 2 GiB");
  g->text = tsl__alloc(&g->alloc, length ? length : 1);
  if (!g->text) return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  g->length = length ? length : 1;
  if (length) memcpy(g->text, text, length);
  p.text = g->text;
  skip_space(&p, true);
  while (!p.status && p.at < length) {
    parse_rule(&p);
    skip_space(&p, true);
  }
  if (!p.status && !g->rules.n) FAIL(&p, "a grammar without rules");
  check_defined(&p);
  tsl__vec_free(&g->alloc, &p.pending);
  return p.status;
}
