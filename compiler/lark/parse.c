/* parse.c - the text of a Lark grammar to definitions.
 *
 * A recursive-descent parser. It recurses into brackets only, at most max_depth deep. The first
 * error stops it: every function then returns node 0, or false. A definition ends with its line,
 * except before a line that begins with '|' and within brackets.
 *
 * Tested by tests/lark/test_lark.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/items.h"
#include "runtime/vocab/vocab.h"

typedef struct parser {
  tsl__lark *l;
  uint32_t module;
  const char *text;
  size_t length, at;
  TSL__VEC(uint32_t) pending; /* items of the lists that are open */
} parser;

#define FAIL_AT(p, offset, ...) \
  tsl__lark_fail((p)->l, TSL_ERR_SYNTAX, (p)->module, (offset), __VA_ARGS__)
#define FAIL(p, ...) FAIL_AT((p), (p)->at, __VA_ARGS__)
#define UNSUPPORTED(p, offset, ...) \
  tsl__lark_fail((p)->l, TSL_ERR_UNSUPPORTED, (p)->module, (offset), __VA_ARGS__)

static bool failed(const parser *p) { return p->l->status != TSL_OK; }
static int peek_at(const parser *p, size_t at) {
  return at < p->length ? (unsigned char)p->text[at] : -1;
}
static int peek(const parser *p) { return peek_at(p, p->at); }
static bool take(parser *p, char c) { return peek(p) == c ? (p->at++, true) : false; }
static bool take_text(parser *p, const char *text) {
  size_t n = strlen(text);
  if (p->length - p->at < n || memcmp(p->text + p->at, text, n)) return false;
  p->at += n;
  return true;
}
static bool is_digit(int c) { return c >= '0' && c <= '9'; }
static bool is_lower(int c) { return c >= 'a' && c <= 'z'; }
static bool is_upper(int c) { return c >= 'A' && c <= 'Z'; }

/* White space, comments, and a newline after a backslash. */
static void skip(parser *p, bool newlines) {
  for (;;) {
    int c = peek(p);
    if (c == ' ' || c == '\t' || c == '\f' || (newlines && (c == '\n' || c == '\r'))) {
      p->at++;
    } else if (c == '#' || (c == '/' && peek_at(p, p->at + 1) == '/')) {
      while (peek(p) >= 0 && peek(p) != '\n') p->at++;
    } else if (c == '\r' && peek_at(p, p->at + 1) == '\n') {
      if (!newlines) return;
    } else if (c == '\\') {
      size_t at = p->at + 1;
      while (peek_at(p, at) == ' ' || peek_at(p, at) == '\r') at++;
      if (peek_at(p, at) != '\n') return;
      p->at = at + 1;
    } else {
      return;
    }
  }
}

static bool at_end_of_line(const parser *p) {
  int c = peek(p);
  return c < 0 || c == '\n' || (c == '\r' && peek_at(p, p->at + 1) == '\n');
}

static bool push(parser *p, uint32_t value) {
  return tsl__vec_push(&p->l->alloc, &p->pending, value) || tsl__lark_no_memory(p->l);
}

/* ---- names and numbers ----------------------------------------------------------------------- */

/* Letters, digits, '_', and '-' between them. */
static uint32_t name_length(const parser *p) {
  size_t at = p->at;
  for (;; at++) {
    int c = peek_at(p, at), next = peek_at(p, at + 1);
    bool dash = c == '-' && at > p->at && (is_lower(next) || is_upper(next) || is_digit(next));
    if (!is_lower(c) && !is_upper(c) && !is_digit(c) && c != '_' && !dash) break;
  }
  return (uint32_t)(at - p->at);
}

static bool is_name_start(int c) { return is_lower(c) || is_upper(c) || c == '_'; }

/* Takes a name; *terminal: it is one. 0: there is none, or a bad one. */
static uint32_t take_name(parser *p, const char *what, bool *terminal) {
  size_t start = p->at;
  uint32_t n = is_name_start(peek(p)) ? name_length(p) : 0;
  bool lower = false, upper = false;
  for (uint32_t i = 0; i < n; i++) {
    lower |= is_lower((unsigned char)p->text[start + i]);
    upper |= is_upper((unsigned char)p->text[start + i]);
  }
  if (!n) return FAIL(p, "expected %s", what), 0;
  const char *name = p->text + start;
  if (lower == upper)
    return FAIL(p, "the name \"%.*s\" %s", tsl__lark_shown(n), name,
                lower ? "has letters of both cases: rules are lower case, terminals upper case"
                      : "has no letter"),
           0;
  if (n > 1 && name[0] == '_' && name[1] == '_')
    return FAIL(p, "names that begin with two underscores are reserved"), 0;
  *terminal = upper;
  p->at += n;
  return n;
}

static uint32_t take_number(parser *p, const char *what) {
  size_t start = p->at;
  uint64_t value = 0;
  if (!is_digit(peek(p))) FAIL(p, "%s is missing", what);
  for (; is_digit(peek(p)); p->at++)
    if (value <= TSL__GBNF_REPEAT_MAX) value = value * 10 + (uint64_t)(peek(p) - '0');
  if (value > TSL__GBNF_REPEAT_MAX)
    tsl__lark_fail(p->l, TSL_ERR_LIMIT, p->module, start, "%s is too large (limit %u)", what,
                   TSL__GBNF_REPEAT_MAX);
  return (uint32_t)value;
}

/* ---- strings and regular expressions --------------------------------------------------------- */

/* The end of what begins with `quote` at p->at: past its last quote; 0: there is none. */
static size_t find_end(const parser *p, char quote, bool newlines) {
  for (size_t at = p->at + 1; at < p->length; at++) {
    if (p->text[at] == '\n' && !newlines) return 0;
    if (p->text[at] == '\\' && at + 1 < p->length && p->text[at + 1] != '\n')
      at++;
    else if (p->text[at] == quote)
      return at + 1;
  }
  return 0;
}

/* The one character of a string in a range. */
static uint32_t range_end(parser *p) {
  uint32_t start = (uint32_t)p->at, first, count, cp = 0;
  size_t end = peek(p) == '"' ? find_end(p, '"', false) : 0;
  if (!end) return FAIL(p, "a range goes from a string to a string"), 0;
  p->at = end;
  if (!tsl__lark_unescape(p->l, p->module, start + 1, (uint32_t)(end - start - 2), false, &first,
                          &count))
    return 0;
  unsigned n = count ? tsl__utf8_decode(p->l->bytes.at + first, count, &cp) : 0;
  if (!n || n != count || peek(p) == 'i')
    FAIL_AT(p, start, "an end of a range is one character, without a flag");
  return cp;
}

static uint32_t parse_range(parser *p, uint32_t start) {
  p->at = start;
  uint32_t low = range_end(p);
  skip(p, false);
  take_text(p, "..");
  skip(p, false);
  uint32_t high = failed(p) ? 0 : range_end(p);
  if (failed(p)) return 0;
  if (high < low) return FAIL_AT(p, start, "a range from high to low"), 0;
  return tsl__lark_node(p->l, TSL__L_RANGE, start, low, high, 0);
}

static uint32_t parse_string(parser *p) {
  uint32_t start = (uint32_t)p->at, first, count, flags = 0;
  size_t end = find_end(p, '"', false);
  if (!end) return FAIL(p, "a string without its closing quote"), 0;
  p->at = end;
  skip(p, false);
  if (take_text(p, "..")) return parse_range(p, start);
  p->at = end;
  if (take(p, 'i')) flags = TSL__LARK_I;
  if (!tsl__lark_unescape(p->l, p->module, start + 1, (uint32_t)(end - start - 2), false, &first,
                          &count))
    return 0;
  if (!count) return 0;
  return tsl__lark_node(p->l, TSL__L_LITERAL, start, first, count, flags);
}

static uint32_t parse_pattern(parser *p) {
  static const char letters[] = "imsx";
  static const uint8_t bits[] = {TSL__LARK_I, TSL__LARK_M, TSL__LARK_S, TSL__LARK_X};
  uint32_t start = (uint32_t)p->at, first, count, flags = 0;
  size_t end = find_end(p, '/', true);
  if (!end) return FAIL(p, "a regular expression without its closing slash"), 0;
  p->at = end;
  for (; is_lower(peek(p)); p->at++) {
    const char *found = memchr(letters, peek(p), sizeof letters - 1);
    if (peek(p) == 'l') return UNSUPPORTED(p, p->at, "the flag l is not supported"), 0;
    if (!found && peek(p) != 'u') return FAIL(p, "the flags are i, m, s, u and x"), 0;
    if (found) flags |= bits[found - letters];
  }
  if (!(flags & TSL__LARK_X) && memchr(p->text + start, '\n', end - start))
    return FAIL_AT(p, start, "a regular expression of several lines needs the flag x"), 0;
  if (!tsl__lark_unescape(p->l, p->module, start + 1, (uint32_t)(end - start - 2), true, &first,
                          &count))
    return 0;
  if (!count) return FAIL_AT(p, start, "a regular expression of no characters"), 0;
  return tsl__lark_node(p->l, TSL__L_PATTERN, start, first, count, flags);
}

/* ---- tokens and JSON ------------------------------------------------------------------------- */

/* <name>, <[id]>, <[^id]> */
static uint32_t parse_token(parser *p) {
  uint32_t start = (uint32_t)p->at++, id, negated = 0;
  const tsl_vocab *vocab = p->l->vocab;
  if (take(p, '[')) {
    negated = take(p, '^');
    if (peek(p) == '*') return UNSUPPORTED(p, start, "<[*]>, any token, is not supported"), 0;
    id = take_number(p, "a token id");
    if (peek(p) == ',' || peek(p) == '-')
      return UNSUPPORTED(p, start,
                         "lists and ranges of tokens are not supported; "
                         "write <[1]> | <[2]>"),
             0;
    if (!failed(p) && (!take(p, ']') || !take(p, '>'))) FAIL(p, "a token id ends with ]>");
  } else {
    while (peek(p) >= 0 && peek(p) != '>' && peek(p) != '\n') p->at++;
    if (!take(p, '>')) return FAIL_AT(p, start, "a token without its '>'"), 0;
    id = tsl__lark_token(p->l, p->module, start, (uint32_t)(p->at - start));
  }
  if (failed(p)) return 0;
  if (vocab && id >= tsl_vocab_size(vocab))
    return FAIL_AT(p, start, "the vocabulary has no token %u", id), 0;
  tsl__exprs_name_tokens(p->l->x);
  bool nameless = vocab && !tsl__vocab_names_some(vocab, &id, 1, negated);
  return tsl__lark_node(p->l, TSL__L_TOKEN, start, id, negated, nameless);
}

/* Past the JSON object at p->at. */
static bool skip_object(parser *p, const char *what) {
  size_t start = p->at, depth = 0;
  if (peek(p) != '{') return FAIL(p, "%s is followed by a JSON object", what);
  for (; p->at < p->length; p->at++) {
    char c = p->text[p->at];
    if (c == '"') {
      for (p->at++; p->at < p->length && p->text[p->at] != '"'; p->at++)
        if (p->text[p->at] == '\\') p->at++;
      if (p->at >= p->length) break;
    }
    depth += c == '{' || c == '[';
    depth -= c == '}' || c == ']';
    if (!depth) return p->at++, true;
  }
  return FAIL_AT(p, start, "a JSON object without its end");
}

/* %json {…}; what else begins with % within a body is not supported. */
static uint32_t parse_embedded(parser *p) {
  uint32_t start = (uint32_t)p->at;
  if (!take_text(p, "%json")) {
    p->at++;
    uint32_t n = name_length(p);
    return UNSUPPORTED(p, start, "%%%.*s within a definition is not supported", tsl__lark_shown(n),
                       p->text + p->at),
           0;
  }
  skip(p, true);
  uint32_t object = (uint32_t)p->at;
  if (!p->l->options.json) return UNSUPPORTED(p, start, "%%json is not supported here"), 0;
  if (!skip_object(p, "%json")) return 0;
  return tsl__lark_node(p->l, TSL__L_JSON, start, object, (uint32_t)(p->at - object), 0);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static uint32_t parse_alternatives(parser *p, uint32_t depth);
static uint32_t parse_atom(parser *p, uint32_t depth, bool *none);

static uint32_t collect(parser *p, tsl__lkind kind, uint32_t at, size_t base) {
  uint32_t node =
      failed(p) ? 0
                : tsl__lark_list(p->l, kind, at, p->pending.n > base ? p->pending.at + base : NULL,
                                 p->pending.n - base);
  p->pending.n = base;
  return node;
}

static bool too_deep(parser *p, size_t at) {
  tsl__lark_fail(p->l, TSL_ERR_LIMIT, p->module, at, "%s (limit %u)", "nesting is too deep",
                 p->l->max_depth);
  return true;
}

static uint32_t parse_group(parser *p, uint32_t depth) {
  uint32_t start = (uint32_t)p->at;
  char end = p->text[p->at++] == '(' ? ')' : ']';
  if (depth >= p->l->max_depth) return too_deep(p, start), 0;
  uint32_t node = parse_alternatives(p, depth + 1);
  if (failed(p)) return 0;
  if (!take(p, end))
    return FAIL(p, peek(p) < 0 ? "a group without its '%c'" : "expected an item, '|' or '%c'", end),
           0;
  if (end == ')') return node;
  return node ? tsl__lark_node(p->l, TSL__L_REPEAT, start, node, 0, 1) : 0;
}

/* The arguments of a template, after its name and '{'. */
static uint32_t parse_call(parser *p, uint32_t start, uint32_t length, uint32_t depth) {
  size_t base = p->pending.n;
  if (depth >= p->l->max_depth) return too_deep(p, start), 0;
  do {
    bool none = false;
    size_t at;
    skip(p, true);
    at = p->at;
    uint32_t argument = parse_atom(p, depth + 1, &none);
    if (failed(p)) return 0;
    uint8_t kind = none ? TSL__L_EMPTY : p->l->nodes.at[argument].kind;
    if (kind != TSL__L_NAME && kind != TSL__L_CALL && kind != TSL__L_LITERAL &&
        kind != TSL__L_PATTERN && kind != TSL__L_RANGE)
      return FAIL_AT(p, at,
                     "an argument is a name, a string, a range, a regular expression or "
                     "a template"),
             0;
    if (!push(p, argument)) return 0;
    skip(p, true);
  } while (take(p, ','));
  if (!take(p, '}')) return FAIL(p, "expected ',' or '}'"), 0;
  uint32_t first = (uint32_t)p->l->lists.n, count = (uint32_t)(p->pending.n - base);
  for (size_t i = base; i < p->pending.n; i++)
    if (!tsl__vec_push(&p->l->alloc, &p->l->lists, p->pending.at[i]))
      return tsl__lark_no_memory(p->l), 0;
  p->pending.n = base;
  return tsl__lark_node(p->l, TSL__L_CALL, start, first, count, length);
}

static uint32_t parse_reference(parser *p, uint32_t depth) {
  uint32_t start = (uint32_t)p->at;
  bool terminal = false;
  uint32_t n = take_name(p, "a name", &terminal);
  if (!n) return 0;
  size_t after = p->at;
  skip(p, false);
  if (take(p, '{')) {
    skip(p, true);
    if (!is_digit(peek(p)) && peek(p) != ',') return parse_call(p, start, n, depth);
  }
  p->at = after;
  return tsl__lark_node(p->l, TSL__L_NAME, start, n, 0, 0);
}

/* An item without what repeats it; *none: there is no item here. */
static uint32_t parse_atom(parser *p, uint32_t depth, bool *none) {
  int c = peek(p);
  *none = false;
  if (c == '"') return parse_string(p);
  if (c == '/') return parse_pattern(p);
  if (c == '(' || c == '[') return parse_group(p, depth);
  if (c == '<') return parse_token(p);
  if (c == '%') return parse_embedded(p);
  if (c == '@') return UNSUPPORTED(p, p->at, "other grammars by @name are not supported"), 0;
  if (is_name_start(c)) return parse_reference(p, depth);
  *none = true;
  return 0;
}

/* {m} {m,} {,n} {m,n} after its '{'; or n, n..m after its '~'. */
static void parse_counts(parser *p, size_t start, bool braces, uint32_t *min, uint32_t *max) {
  skip(p, braces);
  *min = *max = 0;
  if (!braces || peek(p) != ',') *min = *max = take_number(p, "a count");
  size_t before = p->at;
  skip(p, braces);
  if (braces ? take(p, ',') : take_text(p, "..")) {
    skip(p, braces);
    *max = TSL__INF;
    if (!braces || is_digit(peek(p))) *max = take_number(p, "a count");
    before = p->at;
    skip(p, braces);
  }
  if (!braces) p->at = before;
  if (!failed(p) && braces && !take(p, '}')) FAIL(p, "expected '}'");
  if (!failed(p) && *max < *min) FAIL_AT(p, start, "a repeat from high to low");
}

/* Is there a '~' with a number after it here? */
static bool take_tilde(parser *p) {
  size_t at = p->at;
  if (!take(p, '~')) return false;
  skip(p, false);
  if (is_digit(peek(p))) return true;
  p->at = at;
  return false;
}

static uint32_t parse_quantifier(parser *p, uint32_t item, bool nested) {
  uint32_t min = 0, max = TSL__INF, start = (uint32_t)p->at;
  skip(p, nested);
  size_t at = p->at;
  if (take(p, '*'))
    max = TSL__INF;
  else if (take(p, '+'))
    min = 1;
  else if (take(p, '?'))
    max = 1;
  else if (take(p, '{'))
    parse_counts(p, at, true, &min, &max);
  else if (take_tilde(p))
    parse_counts(p, at, false, &min, &max);
  else
    return p->at = start, item;
  if (failed(p) || !item || !max) return 0;
  return tsl__lark_node(p->l, TSL__L_REPEAT, (uint32_t)at, item, min, max);
}

static uint32_t parse_item(parser *p, uint32_t depth, bool *none) {
  uint32_t start = (uint32_t)p->at, negations = 0;
  for (; take(p, '~'); negations++) skip(p, depth > 0);
  if (negations > 1) return FAIL_AT(p, start, "'~' stands twice"), 0;
  uint32_t item = parse_atom(p, depth, none);
  if (negations && *none) return FAIL(p, "'~' is followed by an item"), 0;
  if (negations && !failed(p)) item = tsl__lark_node(p->l, TSL__L_NOT, start, item, 0, 0);
  if (*none || failed(p)) return 0;
  return parse_quantifier(p, item, depth > 0);
}

static uint32_t parse_sequence(parser *p, uint32_t depth) {
  size_t base = p->pending.n;
  uint32_t start = (uint32_t)p->at;
  while (!failed(p)) {
    bool none = false;
    skip(p, depth > 0);
    uint32_t item = parse_item(p, depth, &none);
    if (none || failed(p)) break;
    if (p->l->nodes.at[item].height > 5 * p->l->max_depth) too_deep(p, p->at);
    if (item && !push(p, item)) break;
  }
  int c = peek(p);
  if (!failed(p) && (c == '*' || c == '+' || c == '?'))
    FAIL(p, "'%c' has nothing before it to repeat", c);
  return collect(p, TSL__L_SEQ, start, base);
}

static uint32_t parse_conjunction(parser *p, uint32_t depth) {
  size_t base = p->pending.n;
  skip(p, depth > 0);
  uint32_t start = (uint32_t)p->at;
  do {
    if (!push(p, parse_sequence(p, depth))) break;
  } while (!failed(p) && take(p, '&'));
  return collect(p, TSL__L_AND, start, base);
}

/* -> name, which says nothing of the language. */
static void skip_alias(parser *p, bool terminal) {
  bool upper = false;
  size_t start = p->at;
  if (failed(p) || !take_text(p, "->")) return;
  if (terminal) {
    FAIL_AT(p, start, "a terminal has no aliases");
    return;
  }
  skip(p, false);
  if (take_name(p, "the name of an alias", &upper) && upper)
    FAIL_AT(p, start, "an alias is lower case");
  skip(p, false);
}

/* The '|' before another alternative, which may begin a line. */
static bool take_bar(parser *p, uint32_t depth) {
  size_t end = p->at;
  skip(p, true);
  if (take(p, '|')) return true;
  if (!depth) p->at = end;
  return false;
}

static uint32_t parse_body(parser *p, uint32_t depth, bool terminal) {
  size_t base = p->pending.n;
  uint32_t start = (uint32_t)p->at;
  do {
    if (!push(p, parse_conjunction(p, depth))) break;
    skip_alias(p, terminal);
  } while (!failed(p) && take_bar(p, depth));
  return collect(p, TSL__L_ALT, start, base);
}

static uint32_t parse_alternatives(parser *p, uint32_t depth) {
  return parse_body(p, depth, false);
}

/* ---- definitions ----------------------------------------------------------------------------- */

static bool end_line(parser *p) {
  skip(p, false);
  if (at_end_of_line(p) || failed(p)) return !failed(p);
  return FAIL(p, peek(p) == ')' || peek(p) == ']' ? "a closing bracket without its opening one"
                                                  : "expected an item, '|' or the end of the line");
}

static bool parse_params(parser *p, tsl__ldef *d) {
  d->first_param = (uint32_t)p->l->params.n;
  if (!take(p, '{')) return true;
  if (d->terminal) return UNSUPPORTED(p, p->at - 1, "a terminal has no parameters");
  do {
    bool terminal = false;
    skip(p, true);
    uint32_t at = (uint32_t)p->at, n = take_name(p, "the name of a parameter", &terminal);
    if (!n) return false;
    for (uint32_t i = 0; i < d->params; i++) {
      const uint32_t *other = p->l->params.at + d->first_param + 2 * (size_t)i;
      if (other[1] == n && !memcmp(p->text + other[0], p->text + at, n))
        return FAIL_AT(p, at, "a parameter of that name is there already");
    }
    if (!tsl__vec_push(&p->l->alloc, &p->l->params, at) ||
        !tsl__vec_push(&p->l->alloc, &p->l->params, n))
      return tsl__lark_no_memory(p->l);
    d->params++;
    skip(p, true);
  } while (take(p, ','));
  return take(p, '}') || FAIL(p, "expected ',' or '}'");
}

/* [lazy], [suffix=…]; those that say nothing of the language, or that a host must act upon, are
 * refused. */
static bool parse_attributes(parser *p, tsl__ldef *d) {
  if (!take(p, '[')) return true;
  do {
    skip(p, true);
    size_t start = p->at;
    uint32_t n = name_length(p);
    p->at += n;
    skip(p, true);
    if (n == 4 && !memcmp(p->text + start, "lazy", 4)) {
      d->lazy = true;
    } else if (n == 6 && !memcmp(p->text + start, "suffix", 6) && take(p, '=')) {
      bool none = false;
      skip(p, true);
      d->suffix = parse_atom(p, 0, &none);
      if (failed(p)) return false;
      if (!d->suffix) return FAIL(p, "suffix is a string, a regular expression or a terminal");
      skip(p, true);
    } else {
      return UNSUPPORTED(p, start, "the attribute \"%.*s\" is not supported", tsl__lark_shown(n),
                         p->text + start);
    }
  } while (take(p, ','));
  return take(p, ']') || FAIL(p, "expected ',' or ']'");
}

static bool parse_priority(parser *p) {
  if (!take(p, '.')) return true;
  if (!take(p, '-')) take(p, '+');
  if (!is_digit(peek(p))) return FAIL(p, "a priority is a number");
  while (is_digit(peek(p))) p->at++;
  return true;
}

static bool act(parser *p, tsl__lhow how, const tsl__ldef *d, uint32_t node) {
  tsl__laction action = {.how = how, .definition = *d, .node = node};
  return tsl__vec_push(&p->l->alloc, &p->l->actions, action) || tsl__lark_no_memory(p->l);
}

static bool parse_definition(parser *p, tsl__lhow how) {
  tsl__ldef d = {.module = p->module, .body = TSL__LARK_NOWHERE, .rule = TSL__LARK_NOWHERE};
  bool marked = false, question = false;
  for (; peek(p) == '!' || peek(p) == '?'; marked = true) question |= p->text[p->at++] == '?';
  d.at = (uint32_t)p->at;
  d.length = take_name(p, "the name of a rule or terminal", &d.terminal);
  if (!d.length) return false;
  if (marked && d.terminal) return FAIL_AT(p, d.at, "'!' and '?' stand before rules only");
  if (question && p->text[d.at] == '_')
    return FAIL_AT(p, d.at, "'?' does not go with a rule whose name begins with '_'");
  if (peek(p) == ':' && peek_at(p, p->at + 1) == ':')
    return UNSUPPORTED(p, p->at, "rules with a parameter after :: are not supported");
  if (!parse_attributes(p, &d) || !parse_params(p, &d)) return false;
  skip(p, false);
  if (!parse_priority(p)) return false;
  skip(p, false);
  if (!take(p, ':')) return FAIL(p, "expected ':' after the name of a definition");
  uint32_t node = parse_body(p, 0, d.terminal);
  if (!end_line(p)) return false;
  if (d.terminal && !node)
    return FAIL_AT(p, d.at, "terminal \"%.*s\" is empty", tsl__lark_shown(d.length),
                   p->text + d.at);
  return act(p, how, &d, node);
}

/* ---- directives ------------------------------------------------------------------------------ */

static bool parse_ignore(parser *p) {
  tsl__ldef d = {
      .module = p->module, .terminal = true, .body = TSL__LARK_NOWHERE, .rule = TSL__LARK_NOWHERE};
  skip(p, false);
  d.at = (uint32_t)p->at;
  uint32_t node = parse_body(p, 0, true);
  if (!end_line(p)) return false;
  if (!node) return FAIL_AT(p, d.at, "%%ignore of an empty terminal");
  if (p->module) return true; /* what an imported grammar ignores is its own affair */
  return act(p, TSL__LARK_IGNORE, &d, node);
}

static bool parse_declare(parser *p) {
  skip(p, false);
  while (!at_end_of_line(p)) {
    tsl__ldef d = {.module = p->module,
                   .at = (uint32_t)p->at,
                   .body = TSL__LARK_NOWHERE,
                   .rule = TSL__LARK_NOWHERE,
                   .declared = true};
    d.length = take_name(p, "a name", &d.terminal);
    if (!d.length) return false;
    if (!act(p, TSL__LARK_DECLARE, &d, 0)) return false;
    skip(p, false);
  }
  return true;
}

/* A name of an %import, as two numbers of lists. */
static bool import_name(parser *p) {
  bool terminal = false;
  uint32_t at = (uint32_t)p->at, n = take_name(p, "a name", &terminal);
  if (!n) return false;
  if (!tsl__vec_push(&p->l->alloc, &p->l->lists, at) ||
      !tsl__vec_push(&p->l->alloc, &p->l->lists, n))
    return tsl__lark_no_memory(p->l);
  return true;
}

static bool parse_import(parser *p, uint32_t start) {
  tsl__limport i = {.module = p->module, .at = start};
  skip(p, false);
  i.relative = take(p, '.');
  i.path = (uint32_t)p->l->lists.n;
  do {
    if (!import_name(p)) return false;
    i.parts++;
  } while (take(p, '.'));
  i.names = i.path + 2 * --i.parts;
  i.count = 1;
  skip(p, false);
  if (peek(p) == '(') {
    i.parts++;
    i.names = (uint32_t)p->l->lists.n;
    i.count = 0;
    do {
      p->at++;
      skip(p, true);
      if (!import_name(p)) return false;
      i.count++;
      skip(p, true);
    } while (peek(p) == ',');
    if (!take(p, ')')) return FAIL(p, "expected ',' or ')'");
  } else if (take_text(p, "->")) {
    bool terminal = false;
    skip(p, false);
    i.alias = (uint32_t)p->at;
    i.alias_length = take_name(p, "the name to import it as", &terminal);
    if (!i.alias_length) return false;
  }
  if (!i.parts) return FAIL_AT(p, start, "%%import names a grammar and what to take from it");
  if (!tsl__vec_push(&p->l->alloc, &p->l->imports, i)) return tsl__lark_no_memory(p->l);
  return end_line(p);
}

/* Options of llguidance: those that say nothing of the language are taken. */
static bool parse_options(parser *p) {
  skip(p, true);
  size_t start = p->at;
  if (!skip_object(p, "%llguidance")) return false;
  for (size_t at = start + 1; at + 1 < p->at; at++)
    if (!memchr(" \t\r\n", p->text[at], 4))
      return UNSUPPORTED(p, at, "options of %%llguidance are not supported; {} is");
  return end_line(p);
}

static bool parse_statement(parser *p) {
  uint32_t start = (uint32_t)p->at;
  bool extend = false;
  if (take_text(p, "%import")) return parse_import(p, start);
  if (take_text(p, "%ignore")) return parse_ignore(p);
  if (take_text(p, "%declare")) return parse_declare(p);
  if (take_text(p, "%llguidance")) return parse_options(p);
  if (take_text(p, "%override") || (extend = take_text(p, "%extend"))) {
    skip(p, false);
    return parse_definition(p, extend ? TSL__LARK_EXTEND : TSL__LARK_OVERRIDE);
  }
  if (peek(p) == '%') return FAIL(p, "an unknown directive");
  return parse_definition(p, TSL__LARK_DEFINE);
}

bool tsl__lark_parse(tsl__lark *l, uint32_t module) {
  tsl__lmodule *m = &l->modules.at[module];
  parser p = {.l = l, .module = module, .text = m->text, .length = m->length};
  if (m->length > INT32_MAX)
    return tsl__lark_fail(l, TSL_ERR_LIMIT, module, 0, "the grammar is longer than 2 GiB");
  m->first_action = (uint32_t)l->actions.n;
  skip(&p, true);
  while (!failed(&p) && p.at < p.length && !tsl__lark_failed(l)) {
    if (!parse_statement(&p)) break;
    skip(&p, true);
  }
  l->modules.at[module].last_action = (uint32_t)l->actions.n;
  tsl__vec_free(&l->alloc, &p.pending);
  return !tsl__lark_failed(l);
}
