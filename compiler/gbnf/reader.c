/* reader.c - words, lists and names of grammar texts: what reader.h promises.
 *
 * Problem   Three notations have the same words, and each word can be wrong in a dozen ways. A
 *           message must be the same in each of them, and name the place.
 * Idea      One recursive-descent reader. It recurses into groups only, at most max_depth deep. A
 *           dialect says what space, an escape and an item are. A name that is met becomes a rule
 *           at once, without a body. At the end of the text, a rule without a body is an error.
 * Example   root ::= "a" (b |
 *                    "c")+
 *           tsl__greader_alternatives reads the literal, then the dialect's item calls
 *           tsl__greader_group. Within it GBNF's space skips ends of lines, so the group goes on in
 *           the second line. `b` is mentioned: rule 1, without a line. The group's node is
 *           ALT(REF 1, LITERAL), and `+` makes a REPEAT of it, 1 to without end. The text ends, and
 *           b has no body: "rule \"b\" is not defined", line 1, column 15.
 * Items     The items of sequences that are open lie on one array, `pending`. A list takes those
 *           above its base, and cuts the array there. So nesting needs no allocation.
 * Classes   [a-c-e] is a to c, '-' and e. `a` is read, a '-' follows with no ']' behind it, so a to
 *           c is one range. The next character is '-' itself: e stands behind it, which is no '-'.
 *           Then e. tsl__charset_normalise sorts the ranges.
 * Names     An index of hashes. Where g->any_case is set, letters count in lower case.
 * Cost      Linear in the text.
 * Tested by tests/gbnf/test_gbnf.c, tests/ebnf/test_ebnf.c, tests/abnf/test_abnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/gbnf/reader.h"

#include "runtime/vocab/vocab.h"

#define peek tsl__greader_peek
#define take tsl__greader_take
#define FAIL TSL__G_FAIL
#define DEFAULT_DEPTH 512u

/* ---- begin and end --------------------------------------------------------------------------- */

bool tsl__greader_begin(tsl__greader *r, const char *text, size_t length, const char *behind,
                        uint32_t max_depth) {
  size_t more = strlen(behind), all = length + more ? length + more : 1;
  r->alloc = *tsl__exprs_allocator(r->x);
  r->max_depth = !max_depth                        ? DEFAULT_DEPTH
                 : max_depth < TSL__GBNF_DEPTH_MAX ? max_depth
                                                   : TSL__GBNF_DEPTH_MAX;
  if (length > INT32_MAX) {
    r->status = tsl__fail(r->error, TSL_ERR_LIMIT, "the grammar is longer than 2 GiB");
    return false;
  }
  r->g = tsl__gbnf_new(r->x);
  if (r->g) r->g->text = tsl__alloc(&r->g->alloc, all);
  if (!r->g || !r->g->text) return tsl__greader_no_memory(r), false;
  r->g->length = all;
  if (length) memcpy(r->g->text, text, length);
  memcpy(r->g->text + length, behind, more);
  r->text = r->g->text;
  r->length = r->own = length;
  if (length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
    FAIL(r, 0, "a byte order mark stands before the grammar");
  return !r->status;
}

void tsl__greader_end(tsl__greader *r) { tsl__vec_free(&r->alloc, &r->pending); }

uint32_t tsl__greader_root(tsl__greader *r, const char *name) {
  uint32_t root = 0;
  if (!r->status) r->status = tsl__gbnf_root(r->g, name, &root, r->error);
  return root;
}

/* ---- failing --------------------------------------------------------------------------------- */

void tsl__greader_limit(tsl__greader *r, size_t offset, const char *what, unsigned limit) {
  TSL__G_FAIL_AS(r, TSL_ERR_LIMIT, offset, "%s (limit %u)", what, limit);
}

void tsl__greader_no_memory(tsl__greader *r) {
  if (!r->status) r->status = tsl__fail(r->error, TSL_ERR_NO_MEMORY, "out of memory");
}

bool tsl__greader_over(tsl__greader *r) {
  if (!r->status && tsl__gbnf_failed(r->g)) r->status = tsl__gbnf_failure(r->g, r->error);
  return r->status != TSL_OK;
}

/* ---- rules by name --------------------------------------------------------------------------- */

static char folded(const tsl__gbnf *g, char c) {
  return g->any_case && c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static uint64_t hash_of(const tsl__gbnf *g, const char *name, size_t length) {
  uint64_t h = length;
  if (!g->any_case) return tsl__hash(name, length);
  for (size_t i = 0; i < length; i++) h = tsl__mix(h ^ (uint8_t)folded(g, name[i]));
  return h;
}

static bool is_named(const tsl__gbnf *g, uint32_t rule, const char *name, size_t length) {
  const tsl__grule *u = &g->rules.at[rule];
  if (u->name_length != length) return false;
  for (size_t i = 0; i < length; i++)
    if (folded(g, u->name[i]) != folded(g, name[i])) return false;
  return true;
}

uint32_t tsl__gbnf_find(const tsl__gbnf *g, const char *name, size_t length) {
  tsl__index_iter it = tsl__index_first(&g->names, hash_of(g, name, length));
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;)
    if (is_named(g, i, name, length)) return i;
  return UINT32_MAX;
}

tsl_status tsl__gbnf_root(const tsl__gbnf *g, const char *name, uint32_t *root, tsl_error *error) {
  *root = tsl__gbnf_find(g, name, strlen(name));
  if (*root != UINT32_MAX) return TSL_OK;
  return tsl__fail(error, TSL_ERR_SYNTAX, "the grammar has no rule \"%.100s\"", name);
}

uint32_t tsl__greader_mention(tsl__greader *r, size_t length) {
  tsl__gbnf *g = r->g;
  tsl__grule made = {.name = r->text + r->at,
                     .name_length = (uint32_t)length,
                     .offset = (uint32_t)r->at,
                     .cycle = TSL__G_NO_CYCLE,
                     .component = UINT32_MAX};
  uint32_t rule = tsl__gbnf_find(g, made.name, length);
  r->at += length;
  if (tsl__greader_over(r)) return 0;
  if (rule != UINT32_MAX) return rule;
  rule = (uint32_t)g->rules.n;
  if (!tsl__vec_push(&g->alloc, &g->rules, made) ||
      !tsl__index_add(&g->names, &g->alloc, hash_of(g, made.name, length), rule))
    return tsl__greader_no_memory(r), 0;
  return rule;
}

uint32_t tsl__greader_reference(tsl__greader *r, size_t length) {
  size_t start = r->at;
  uint32_t rule = tsl__greader_mention(r, length);
  return r->status ? 0 : tsl__gbnf_node(r->g, TSL__G_REF, rule, (uint32_t)start, 0);
}

/* ---- rules ----------------------------------------------------------------------------------- */

static int shown(size_t length) { return (int)(length < 100 ? length : 100); }

bool tsl__greader_is_new(tsl__greader *r, uint32_t rule, size_t start, const char *hint) {
  if (r->status) return false;
  const tsl__grule *u = &r->g->rules.at[rule];
  if (u->line)
    FAIL(r, start, "rule \"%.*s\" is defined twice, first in line %u%s", shown(u->name_length),
         u->name, u->line, hint);
  return !r->status;
}

void tsl__greader_define(tsl__greader *r, uint32_t rule, size_t start, uint32_t body) {
  if (r->status) return;
  for (; r->counted < start; r->counted++) r->lines += r->text[r->counted] == '\n';
  r->g->rules.at[rule].body = body;
  r->g->rules.at[rule].line = r->lines + 1;
}

void tsl__greader_undefined(tsl__greader *r, const tsl__grule *rule) {
  FAIL(r, rule->offset, "rule \"%.*s\" is not defined", shown(rule->name_length), rule->name);
}

void tsl__greader_all_defined(tsl__greader *r) {
  if (!r->status && !r->g->rules.n) FAIL(r, r->at, "a grammar without rules");
  for (size_t i = 0; !r->status && i < r->g->rules.n; i++)
    if (!r->g->rules.at[i].line) tsl__greader_undefined(r, &r->g->rules.at[i]);
}

/* ---- characters ------------------------------------------------------------------------------ */

uint32_t tsl__greader_number(tsl__greader *r, const char *what, uint32_t limit) {
  size_t start = r->at;
  uint64_t value = 0;
  if (!tsl__greader_is_digit(peek(r))) FAIL(r, start, "%s is missing", what);
  for (; tsl__greader_is_digit(peek(r)); r->at++)
    if (value <= limit) value = value * 10 + (uint64_t)(peek(r) - '0');
  if (value > limit) tsl__greader_limit(r, start, what, limit);
  return (uint32_t)value;
}

uint32_t tsl__greader_hex(tsl__greader *r, size_t start, unsigned least, unsigned most) {
  uint32_t value = 0;
  unsigned n = 0;
  for (; n < most; n++, r->at++) {
    int c = peek(r), d = c < 0 ? -1 : tsl__hex_value((uint8_t)c);
    if (d < 0) break;
    value = value > TSL__CP_MAX ? value : value << 4 | (uint32_t)d;
  }
  if (n < least) FAIL(r, start, "an escape needs %u hexadecimal digits", least);
  if (value > TSL__CP_MAX) FAIL(r, start, "an escape above U+10FFFF");
  return value;
}

/* One code point, raw or escaped. */
static uint32_t character(tsl__greader *r) {
  uint32_t cp = 0;
  size_t start = r->at;
  if (take(r, '\\')) {
    int c = peek(r);
    if (c >= 0) r->at++;
    return r->dialect->escape(r, start, c);
  }
  unsigned n = tsl__utf8_decode((const uint8_t *)r->text + r->at, r->length - r->at, &cp);
  if (!n) FAIL(r, r->at, "invalid UTF-8");
  r->at += n;
  return cp;
}

/* Does the text end here, or the line where a word may not go past that? */
static bool is_cut(const tsl__greader *r) {
  return peek(r) < 0 || (r->dialect->one_line && tsl__greader_is_line_end(peek(r)));
}

static const char *where(const tsl__greader *r) {
  return r->dialect->one_line ? " on the same line" : "";
}

/* ---- words ----------------------------------------------------------------------------------- */

void tsl__greader_string(tsl__greader *r, uint32_t *first, uint32_t *count) {
  size_t start = r->at;
  *first = (uint32_t)r->g->bytes.n;
  /* an empty text has a place, too */
  if (!tsl__vec_reserve(&r->g->alloc, &r->g->bytes, 4)) tsl__greader_no_memory(r);
  if (!take(r, '"')) FAIL(r, start, "expected a string in quotes");
  while (!tsl__greader_over(r) && !take(r, '"')) {
    uint8_t utf8[4];
    size_t at = r->at;
    if (is_cut(r)) {
      FAIL(r, start, "a string without its closing quote%s", where(r));
      break;
    }
    uint32_t cp = character(r);
    if (cp >= 0xD800 && cp <= 0xDFFF) FAIL(r, at, "a surrogate is no character");
    unsigned n = r->status ? 0 : tsl__utf8_encode(cp, utf8);
    for (unsigned i = 0; i < n; i++)
      if (!tsl__vec_push(&r->g->alloc, &r->g->bytes, utf8[i])) tsl__greader_no_memory(r);
    tsl__exprs_work(r->x, 1);
  }
  *count = (uint32_t)r->g->bytes.n - *first;
}

uint32_t tsl__greader_literal(tsl__greader *r) {
  uint32_t first, count;
  tsl__greader_string(r, &first, &count);
  return r->status || !count ? 0 : tsl__gbnf_node(r->g, TSL__G_LITERAL, first, count, 0);
}

uint32_t tsl__greader_bytes(tsl__greader *r, const char *at, size_t n) {
  tsl__gbnf *g = r->g;
  uint32_t first = (uint32_t)g->bytes.n;
  if (tsl__greader_over(r) || !n) return 0;
  if (!tsl__vec_reserve(&g->alloc, &g->bytes, n)) return tsl__greader_no_memory(r), 0;
  memcpy(g->bytes.at + first, at, n);
  g->bytes.n += n;
  return tsl__gbnf_node(g, TSL__G_LITERAL, first, (uint32_t)n, 0);
}

static void class_members(tsl__greader *r, size_t start, tsl__charset *set) {
  while (!tsl__greader_over(r) && peek(r) != ']') {
    size_t at = r->at;
    if (is_cut(r)) {
      FAIL(r, start, "a class without its ']'%s", where(r));
      return;
    }
    uint32_t low = character(r), high = low;
    if (!r->status && peek(r) == '-' && r->at + 1 < r->length && r->text[r->at + 1] != ']') {
      r->at++;
      high = character(r);
    }
    if (!r->status && high < low) FAIL(r, at, "a range from high to low");
    if (!r->status && !tsl__charset_add(&r->g->alloc, set, low, high)) tsl__greader_no_memory(r);
    tsl__exprs_work(r->x, 1);
  }
}

uint32_t tsl__greader_class(tsl__greader *r) {
  tsl__gbnf *g = r->g;
  tsl__charset set = {0};
  size_t start = r->at++;
  uint32_t first = (uint32_t)g->ranges.n;
  bool negated = take(r, '^');
  class_members(r, start, &set);
  if (!r->status && !set.ranges.n && !r->dialect->empty_class)
    FAIL(r, start, "a class without characters");
  tsl__charset_normalise(&set);
  if (!r->status && negated && !tsl__charset_negate(&g->alloc, &set)) tsl__greader_no_memory(r);
  for (size_t i = 0; i < set.ranges.n && !r->status; i++)
    if (!tsl__vec_push(&g->alloc, &g->ranges, set.ranges.at[i])) tsl__greader_no_memory(r);
  uint32_t count = (uint32_t)set.ranges.n;
  tsl__charset_free(&g->alloc, &set);
  if (r->status) return 0;
  r->at++;
  return tsl__gbnf_node(g, TSL__G_CLASS, first, count, 0);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static tsl_token known(tsl__greader *r, size_t start, tsl_token id) {
  if (!r->status && r->vocab && id >= tsl_vocab_size(r->vocab))
    FAIL(r, start, "the vocabulary has no token %u", id);
  return r->status ? 0 : id;
}

tsl_token tsl__greader_token_id(tsl__greader *r) {
  size_t start = r->at;
  return known(r, start, tsl__greader_number(r, "a token id", INT32_MAX));
}

/* The token whose name stands from `start` to here. */
static tsl_token token_by_name(tsl__greader *r, size_t start) {
  size_t length = r->at - start, count = 0;
  tsl_token id = tsl_vocab_find_special(r->vocab, r->text + start, length);
  if (id != TSL_NO_TOKEN) return id;
  if (tsl_vocab_encode(r->vocab, r->text + start, length, TSL_ENCODE_SPECIAL, &id, 1, &count) ||
      count != 1)
    FAIL(r, start, "%.*s is not one token of the vocabulary", shown(length), r->text + start);
  return id;
}

tsl_token tsl__greader_token(tsl__greader *r, bool *others) {
  *others = take(r, '!');
  size_t start = r->at;
  tsl_token id = 0;
  if (!take(r, '<')) return FAIL(r, start, "'!' is followed by a token: <[id]> or <name>"), 0;
  if (take(r, '[')) {
    id = tsl__greader_number(r, "a token id", INT32_MAX);
    if (!r->status && (!take(r, ']') || !take(r, '>'))) FAIL(r, r->at, "a token id ends with ]>");
    return known(r, start, id);
  }
  while (peek(r) >= 0 && peek(r) != '>' && !tsl__greader_is_line_end(peek(r))) r->at++;
  if (!take(r, '>')) return FAIL(r, start, "a token without its '>'"), 0;
  if (!r->vocab) return FAIL(r, start, "a token by name needs a vocabulary"), 0;
  return known(r, start, token_by_name(r, start));
}

/* ---- structure ------------------------------------------------------------------------------- */

bool tsl__greader_pend(tsl__greader *r, uint32_t node) {
  if (!tsl__greader_over(r) && !tsl__vec_push(&r->alloc, &r->pending, node))
    tsl__greader_no_memory(r);
  return !r->status;
}

uint32_t tsl__greader_collect(tsl__greader *r, tsl__gkind kind, size_t base) {
  const uint32_t *items = r->pending.n > base ? r->pending.at + base : NULL;
  uint32_t node =
      r->status ? 0 : tsl__gbnf_list(r->g, kind, items, (uint32_t)(r->pending.n - base));
  r->pending.n = base;
  return tsl__greader_over(r) ? 0 : node;
}

uint32_t tsl__greader_repeat(tsl__greader *r, size_t start, uint32_t node, uint32_t min,
                             uint32_t max) {
  if (!r->status && max < min) FAIL(r, start, "a repeat from high to low");
  if (tsl__greader_over(r) || !node || !max) return 0;
  if (min == 1 && max == 1) return node;
  node = tsl__gbnf_node(r->g, TSL__G_REPEAT, node, min, max);
  /* a group is up to three levels of nodes */
  if (r->g->nodes.at[node].height > 3 * r->max_depth)
    tsl__greader_limit(r, start, "nesting is too deep", r->max_depth);
  return tsl__greader_over(r) ? 0 : node;
}

/* {m} {m,} {m,n} after its '{'. */
static void counts(tsl__greader *r, bool lines, uint32_t *min, uint32_t *max) {
  r->dialect->space(r, lines);
  *min = *max = tsl__greader_number(r, "a repeat count", TSL__GBNF_REPEAT_MAX);
  r->dialect->space(r, lines);
  if (r->status || take(r, '}')) return;
  if (!take(r, ',')) {
    FAIL(r, r->at, "expected ',' or '}'");
    return;
  }
  r->dialect->space(r, lines);
  *max = TSL__INF;
  if (r->dialect->minus_one && r->length - r->at >= 2 && !memcmp(r->text + r->at, "-1", 2))
    r->at += 2;
  else if (tsl__greader_is_digit(peek(r)))
    *max = tsl__greader_number(r, "a repeat count", TSL__GBNF_REPEAT_MAX);
  r->dialect->space(r, lines);
  if (!r->status && !take(r, '}')) FAIL(r, r->at, "expected '}'");
}

static uint32_t quantifiers(tsl__greader *r, uint32_t node, bool lines) {
  while (!r->status) {
    uint32_t min = 0, max = TSL__INF;
    r->dialect->space(r, lines);
    size_t start = r->at;
    if (take(r, '*'))
      min = 0;
    else if (take(r, '+'))
      min = 1;
    else if (take(r, '?'))
      max = 1;
    else if (take(r, '{'))
      counts(r, lines, &min, &max);
    else
      return node;
    node = tsl__greader_repeat(r, start, node, min, max);
  }
  return 0;
}

uint32_t tsl__greader_group(tsl__greader *r, uint32_t depth) {
  size_t start = r->at++;
  if (depth >= r->max_depth)
    return tsl__greader_limit(r, start, "nesting is too deep", r->max_depth), 0;
  uint32_t node = tsl__greader_alternatives(r, depth + 1);
  if (!r->status && !take(r, ')'))
    FAIL(r, r->at, peek(r) < 0 ? "a group without its ')'" : "expected an item, '|' or ')'");
  return node;
}

static uint32_t sequence(tsl__greader *r, uint32_t depth) {
  size_t base = r->pending.n;
  while (!tsl__greader_over(r)) {
    bool none;
    uint32_t node = r->dialect->item(r, depth, &none);
    if (none) break;
    node = quantifiers(r, node, depth > 0);
    if (node && !tsl__greader_pend(r, node)) break;
  }
  int c = peek(r);
  if (c == '*' || c == '+' || c == '?' || c == '{')
    FAIL(r, r->at, "'%c' has nothing before it to repeat", c);
  return tsl__greader_collect(r, TSL__G_SEQ, base);
}

/* The '|' before another alternative, which may begin a line. llama.cpp ends the rule there, and
 * finds no rule in that line; XGrammar's grammars and others are written so. */
static bool take_bar(tsl__greader *r) {
  size_t end = r->at;
  r->dialect->space(r, true);
  if (take(r, '|')) return true;
  r->at = end;
  return false;
}

uint32_t tsl__greader_alternatives(tsl__greader *r, uint32_t depth) {
  size_t base = r->pending.n;
  do r->dialect->space(r, depth > 0 || r->pending.n > base);
  while (tsl__greader_pend(r, sequence(r, depth)) && take_bar(r));
  return tsl__greader_collect(r, TSL__G_ALT, base);
}
