/* parse.c - the text of a Lark grammar to definitions.
 *
 * Problem   Two dialects in one text. Lark ends a definition with its line. Llguidance has counts
 *           in braces, where Lark has a template's arguments. Names, conditions and tokens may
 *           stand where Lark has nothing.
 * Idea      A recursive-descent parser. It recurses into brackets only, at most max_depth deep.
 *           What stands next decides what is read: Lark and llguidance agree wherever both have
 *           something. a{2} is a count as a digit or a comma follows the brace; a{b} is a template.
 * Lines     A definition ends with its line, except before a line that begins with '|' and within
 *           brackets.
 * Pending   The items of a sequence wait in one array of the scanner, whatever is nested in them.
 *           They become a node when the sequence is over (`collect`). So a node's children lie side
 *           by side.
 * Example   a: b "x"~2 | [c]    is  alt(seq(name b, repeat("x", 2, 2)), repeat(name c, 0, 1))
 *
 * What a rule says of itself stands behind its name. It may have attributes in brackets ([lazy,
 * suffix="x"]), parameters of a template in braces, and "::_" for a parameter of 64 bits. They are
 * kept with the definition (items.h); terminal.c and build.c act upon them.
 *
 * Tested by tests/lark/test_lark.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/scan.h"

/* ---- bodies ---------------------------------------------------------------------------------- */

/* The items from `base` on as one node; one item is itself, none is the empty text. */
static uint32_t collect(tsl__lscan *p, tsl__lkind kind, uint32_t at, size_t base) {
  uint32_t node =
      tsl__scan_failed(p)
          ? 0
          : tsl__lark_list(p->l, kind, at, p->pending.n > base ? p->pending.at + base : NULL,
                           p->pending.n - base);
  p->pending.n = base;
  return node;
}

/* ( ) groups, [ ] is what may be left out. A newline within is white space. */
static uint32_t parse_group(tsl__lscan *p, uint32_t depth) {
  uint32_t start = (uint32_t)p->at;
  char end = p->text[p->at++] == '(' ? ')' : ']';
  if (depth >= p->l->max_depth) return tsl__scan_too_deep(p, start), 0;
  uint32_t node = tsl__scan_body(p, depth + 1, false);
  if (tsl__scan_failed(p)) return 0;
  if (!tsl__scan_take(p, end))
    return FAIL(p,
                tsl__scan_peek(p) < 0 ? "a group without its '%c'"
                                      : "expected an item, '|' or '%c'",
                end),
           0;
  if (end == ')') return node;
  return node ? tsl__lark_node(p->l, TSL__L_REPEAT, start, node, 0, 1) : 0;
}

/* The arguments of a template, after its name and '{'. */
static uint32_t parse_call(tsl__lscan *p, uint32_t start, uint32_t length, uint32_t depth) {
  size_t base = p->pending.n;
  if (depth >= p->l->max_depth) return tsl__scan_too_deep(p, start), 0;
  do {
    bool none = false;
    size_t at;
    tsl__scan_skip(p, true);
    at = p->at;
    uint32_t argument = tsl__scan_atom(p, depth + 1, &none);
    if (tsl__scan_failed(p)) return 0;
    uint8_t kind = none ? TSL__L_EMPTY : p->l->nodes.at[argument].kind;
    if (kind != TSL__L_NAME && kind != TSL__L_CALL && kind != TSL__L_LITERAL &&
        kind != TSL__L_PATTERN && kind != TSL__L_RANGE)
      return FAIL_AT(p, at,
                     "an argument is a name, a string, a range, a regular expression or "
                     "a template"),
             0;
    if (!tsl__scan_push(p, argument)) return 0;
    tsl__scan_skip(p, true);
  } while (tsl__scan_take(p, ','));
  if (!tsl__scan_take(p, '}')) return FAIL(p, "expected ',' or '}'"), 0;
  uint32_t first = (uint32_t)p->l->lists.n, count = (uint32_t)(p->pending.n - base);
  for (size_t i = base; i < p->pending.n; i++)
    if (!tsl__vec_push(&p->l->alloc, &p->l->lists, p->pending.at[i]))
      return tsl__lark_no_memory(p->l), 0;
  p->pending.n = base;
  return tsl__lark_node(p->l, TSL__L_CALL, start, first, count, length);
}

/* A name; with arguments in braces a template, with "::" and a value a rule with a parameter. A
 * count behind a name is no part of it, so the place before the brace is kept. */
static uint32_t parse_reference(tsl__lscan *p, uint32_t depth) {
  uint32_t start = (uint32_t)p->at;
  bool terminal = false;
  uint32_t n = tsl__scan_name(p, "a name", &terminal);
  if (!n) return 0;
  size_t after = p->at;
  tsl__scan_skip(p, false);
  if (tsl__scan_take(p, '{')) {
    tsl__scan_skip(p, true);
    if (!tsl__scan_digit(tsl__scan_peek(p)) && tsl__scan_peek(p) != ',')
      return parse_call(p, start, n, depth);
  }
  p->at = after;
  if (tsl__scan_take_text(p, "::")) {
    uint32_t param = 0;
    if (!tsl__scan_param(p, false, &param)) return 0;
    return tsl__lark_node(p->l, TSL__L_NAME, start, n, param + 1, 0);
  }
  return tsl__lark_node(p->l, TSL__L_NAME, start, n, 0, 0);
}

/* Does the condition of an alternative stand here? */
static bool is_condition(const tsl__lscan *p) {
  return p->length - p->at > 3 && !memcmp(p->text + p->at, "%if", 3) &&
         !tsl__scan_begins_name(tsl__scan_byte(p, p->at + 3));
}

/* One item without its quantifier. *none: there is none here, which only who calls can judge. */
uint32_t tsl__scan_atom(tsl__lscan *p, uint32_t depth, bool *none) {
  int c = tsl__scan_peek(p);
  *none = false;
  if (c == '"') return tsl__scan_string(p);
  if (c == '/') return tsl__scan_pattern(p);
  if (c == '(' || c == '[') return parse_group(p, depth);
  if (c == '<') return tsl__scan_token(p);
  if (c == '%' && !is_condition(p)) return tsl__scan_embedded(p, depth);
  if (c == '@') return tsl__scan_reference(p);
  if (tsl__scan_begins_name(c)) return parse_reference(p, depth);
  *none = true;
  return 0;
}

/* {m} {m,} {,n} {m,n} after its '{'; or n, n..m after its '~'. */
static void parse_counts(tsl__lscan *p, size_t start, bool braces, uint32_t *min, uint32_t *max) {
  tsl__scan_skip(p, braces);
  *min = *max = 0;
  if (!braces || tsl__scan_peek(p) != ',')
    *min = *max = tsl__scan_number(p, "a count", TSL__GBNF_REPEAT_MAX);
  size_t before = p->at;
  tsl__scan_skip(p, braces);
  if (braces ? tsl__scan_take(p, ',') : tsl__scan_take_text(p, "..")) {
    tsl__scan_skip(p, braces);
    *max = TSL__INF;
    if (!braces || tsl__scan_digit(tsl__scan_peek(p)))
      *max = tsl__scan_number(p, "a count", TSL__GBNF_REPEAT_MAX);
    before = p->at;
    tsl__scan_skip(p, braces);
  }
  if (!braces) p->at = before;
  if (!tsl__scan_failed(p) && braces && !tsl__scan_take(p, '}')) FAIL(p, "expected '}'");
  if (!tsl__scan_failed(p) && *max < *min) FAIL_AT(p, start, "a repeat from high to low");
}

/* Is there a '~' with a number after it here? */
static bool take_tilde(tsl__lscan *p) {
  size_t at = p->at;
  if (!tsl__scan_take(p, '~')) return false;
  tsl__scan_skip(p, false);
  if (tsl__scan_digit(tsl__scan_peek(p))) return true;
  p->at = at;
  return false;
}

static uint32_t parse_quantifier(tsl__lscan *p, uint32_t item, bool nested) {
  uint32_t min = 0, max = TSL__INF, start = (uint32_t)p->at;
  tsl__scan_skip(p, nested);
  size_t at = p->at;
  if (tsl__scan_take(p, '*'))
    max = TSL__INF;
  else if (tsl__scan_take(p, '+'))
    min = 1;
  else if (tsl__scan_take(p, '?'))
    max = 1;
  else if (tsl__scan_take(p, '{'))
    parse_counts(p, at, true, &min, &max);
  else if (take_tilde(p))
    parse_counts(p, at, false, &min, &max);
  else
    return p->at = start, item;
  if (tsl__scan_failed(p) || !item || !max) return 0;
  return tsl__lark_node(p->l, TSL__L_REPEAT, (uint32_t)at, item, min, max);
}

static uint32_t parse_item(tsl__lscan *p, uint32_t depth, bool *none) {
  uint32_t start = (uint32_t)p->at, negations = 0;
  for (; tsl__scan_take(p, '~'); negations++) tsl__scan_skip(p, depth > 0);
  if (negations > 1) return FAIL_AT(p, start, "'~' stands twice"), 0;
  uint32_t item = tsl__scan_atom(p, depth, none);
  if (negations && *none) return FAIL(p, "'~' is followed by an item"), 0;
  if (negations && !tsl__scan_failed(p)) item = tsl__lark_node(p->l, TSL__L_NOT, start, item, 0, 0);
  if (*none || tsl__scan_failed(p)) return 0;
  return parse_quantifier(p, item, depth > 0);
}

static uint32_t parse_sequence(tsl__lscan *p, uint32_t depth) {
  size_t base = p->pending.n;
  uint32_t start = (uint32_t)p->at;
  while (!tsl__scan_failed(p)) {
    bool none = false;
    tsl__scan_skip(p, depth > 0);
    uint32_t item = parse_item(p, depth, &none);
    if (none || tsl__scan_failed(p)) break;
    if (p->l->nodes.at[item].height > 5 * p->l->max_depth) tsl__scan_too_deep(p, p->at);
    if (item && !tsl__scan_push(p, item)) break;
  }
  int c = tsl__scan_peek(p);
  if (!tsl__scan_failed(p) && (c == '*' || c == '+' || c == '?'))
    FAIL(p, "'%c' has nothing before it to repeat", c);
  return collect(p, TSL__L_SEQ, start, base);
}

static uint32_t parse_conjunction(tsl__lscan *p, uint32_t depth) {
  size_t base = p->pending.n;
  tsl__scan_skip(p, depth > 0);
  uint32_t start = (uint32_t)p->at;
  do {
    if (!tsl__scan_push(p, parse_sequence(p, depth))) break;
  } while (!tsl__scan_failed(p) && tsl__scan_take(p, '&'));
  uint32_t node = collect(p, TSL__L_AND, start, base), condition = 0;
  if (tsl__scan_failed(p) || !is_condition(p)) return node;
  start = (uint32_t)p->at;
  p->at += 3;
  if (!tsl__scan_param(p, true, &condition)) return 0;
  return tsl__lark_node(p->l, TSL__L_IF, start, node, condition, 0);
}

/* -> name, which says nothing of the language. */
static void skip_alias(tsl__lscan *p, bool terminal) {
  bool upper = false;
  size_t start = p->at;
  if (tsl__scan_failed(p) || !tsl__scan_take_text(p, "->")) return;
  if (terminal) {
    FAIL_AT(p, start, "a terminal has no aliases");
    return;
  }
  tsl__scan_skip(p, false);
  if (tsl__scan_name(p, "the name of an alias", &upper) && upper)
    FAIL_AT(p, start, "an alias is lower case");
  tsl__scan_skip(p, false);
}

/* The '|' before another alternative, which may begin a line. */
static bool take_bar(tsl__lscan *p, uint32_t depth) {
  size_t end = p->at;
  tsl__scan_skip(p, true);
  if (tsl__scan_take(p, '|')) return true;
  if (!depth) p->at = end;
  return false;
}

uint32_t tsl__scan_body(tsl__lscan *p, uint32_t depth, bool terminal) {
  size_t base = p->pending.n;
  uint32_t start = (uint32_t)p->at;
  do {
    if (!tsl__scan_push(p, parse_conjunction(p, depth))) break;
    skip_alias(p, terminal);
  } while (!tsl__scan_failed(p) && take_bar(p, depth));
  return collect(p, TSL__L_ALT, start, base);
}

/* ---- definitions ----------------------------------------------------------------------------- */

static bool parse_params(tsl__lscan *p, tsl__ldef *d) {
  d->first_param = (uint32_t)p->l->params.n;
  if (!tsl__scan_take(p, '{')) return true;
  if (d->terminal) return UNSUPPORTED(p, p->at - 1, "a terminal has no parameters");
  do {
    bool terminal = false;
    tsl__scan_skip(p, true);
    uint32_t at = (uint32_t)p->at, n = tsl__scan_name(p, "the name of a parameter", &terminal);
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
    tsl__scan_skip(p, true);
  } while (tsl__scan_take(p, ','));
  return tsl__scan_take(p, '}') || FAIL(p, "expected ',' or '}'");
}

/* The value of suffix= or stop=: a string, a regular expression or a terminal. An empty string says
 * nothing: stop="" is the end of the generation. */
static bool parse_end(tsl__lscan *p, tsl__ldef *d, bool stop) {
  bool none = false;
  size_t at = p->at;
  if (d->suffix) return FAIL(p, "stop and suffix stand once, and not together");
  if (tsl__scan_take_text(p, "\"\"")) return true;
  d->suffix = tsl__scan_atom(p, 0, &none);
  if (tsl__scan_failed(p)) return false;
  if (!d->suffix)
    return FAIL_AT(p, at, "%s is a string, a regular expression or a terminal",
                   stop ? "stop" : "suffix");
  d->stops = stop;
  return true;
}

static bool parse_capture(tsl__lscan *p, tsl__ldef *d) {
  d->captured = true;
  d->capture = d->at;
  d->capture_length = d->length;
  tsl__scan_skip(p, true);
  if (!tsl__scan_take(p, '=')) return true;
  tsl__scan_skip(p, true);
  size_t at = p->at;
  uint32_t node = tsl__scan_peek(p) == '"' ? tsl__scan_string(p) : 0;
  if (tsl__scan_failed(p)) return false;
  const tsl__lnode *n = &p->l->nodes.at[node];
  if (!node || n->kind != TSL__L_LITERAL || n->c)
    return FAIL_AT(p, at, "the name of a capture is a string that is not empty");
  d->capture_node = node;
  return true;
}

/* A number such as 0.7, which only the host acts upon. */
static bool parse_temperature(tsl__lscan *p, tsl__ldef *d) {
  size_t at = p->at;
  while (tsl__scan_digit(tsl__scan_peek(p)) || tsl__scan_peek(p) == '.') p->at++;
  d->temperature = (uint32_t)at;
  d->temperature_length = (uint32_t)(p->at - at);
  return d->temperature_length || FAIL(p, "a temperature is a number, such as 0.7");
}

static bool parse_attribute(tsl__lscan *p, tsl__ldef *d) {
  static const struct {
    const char *name;
    bool valued;
  } all[] = {{"lazy", false}, {"capture", false},   {"suffix", true},
             {"stop", true},  {"max_tokens", true}, {"temperature", true}};
  size_t start = p->at, which = 0, count = sizeof all / sizeof *all;
  uint32_t n = tsl__scan_name_length(p);
  for (; which < count; which++)
    if (strlen(all[which].name) == n && !memcmp(all[which].name, p->text + start, n)) break;
  p->at += n;
  if (which == count)
    return UNSUPPORTED(p, start, "the attribute \"%.*s\" is not supported", tsl__lark_shown(n),
                       p->text + start);
  if (!all[which].valued) return which ? parse_capture(p, d) : (d->lazy = true);
  tsl__scan_skip(p, true);
  if (!tsl__scan_take(p, '=')) return FAIL(p, "the attribute %s has a value", all[which].name);
  tsl__scan_skip(p, true);
  if (which == 2 || which == 3) return parse_end(p, d, which == 3);
  if (which == 5) return parse_temperature(p, d);
  d->max_tokens = tsl__scan_number(p, "a count of tokens", INT32_MAX);
  d->counted = true;
  return !tsl__scan_failed(p);
}

static bool parse_attributes(tsl__lscan *p, tsl__ldef *d) {
  if (!tsl__scan_take(p, '[')) return true;
  if (d->terminal) return FAIL(p, "a terminal has no attributes; give them to a rule");
  do {
    tsl__scan_skip(p, true);
    if (!parse_attribute(p, d)) return false;
    tsl__scan_skip(p, true);
  } while (tsl__scan_take(p, ','));
  return tsl__scan_take(p, ']') || FAIL(p, "expected ',' or ']'");
}

/* ::_ after the name of a rule that has a parameter. */
static bool parse_parametric(tsl__lscan *p, tsl__ldef *d) {
  size_t at = p->at;
  if (!tsl__scan_take_text(p, "::")) return true;
  if (d->terminal) return FAIL_AT(p, at, "a terminal has no parameter");
  if (!tsl__scan_take(p, '_')) return FAIL(p, "the parameter of a rule is written ::_");
  return d->parametric = true;
}

/* A higher priority counts as this one. */
#define PRIORITY_MAX 1000000000
static bool parse_priority(tsl__lscan *p, tsl__ldef *d) {
  if (!tsl__scan_take(p, '.')) return true;
  bool minus = tsl__scan_take(p, '-');
  if (!minus) tsl__scan_take(p, '+');
  if (!tsl__scan_digit(tsl__scan_peek(p))) return FAIL(p, "a priority is a number");
  int64_t n = 0;
  for (; tsl__scan_digit(tsl__scan_peek(p)); p->at++)
    if (n < PRIORITY_MAX) n = 10 * n + p->text[p->at] - '0';
  if (n > PRIORITY_MAX) n = PRIORITY_MAX;
  d->priority = (int32_t)(minus ? -n : n);
  return true;
}

bool tsl__scan_act(tsl__lscan *p, tsl__lhow how, const tsl__ldef *d, uint32_t node) {
  tsl__lark *l = p->l;
  tsl__laction action = {.how = how, .definition = *d, .node = node, .next = TSL__LARK_NOWHERE};
  tsl__lmodule *m = &l->modules.at[p->module];
  uint32_t number = (uint32_t)l->actions.n;
  if (!tsl__vec_push(&l->alloc, &l->actions, action)) return tsl__lark_no_memory(l);
  if (m->first_action == TSL__LARK_NOWHERE)
    m->first_action = number;
  else
    l->actions.at[m->last_action].next = number;
  m->last_action = number;
  return true;
}

bool tsl__scan_definition(tsl__lscan *p, tsl__lhow how) {
  tsl__ldef d = {.module = p->module, .body = TSL__LARK_NOWHERE, .rule = TSL__LARK_NOWHERE};
  bool marked = false, question = false;
  for (; tsl__scan_peek(p) == '!' || tsl__scan_peek(p) == '?'; marked = true)
    question |= p->text[p->at++] == '?';
  d.at = (uint32_t)p->at;
  d.length = tsl__scan_name(p, "the name of a rule or terminal", &d.terminal);
  if (!d.length) return false;
  if (marked && d.terminal) return FAIL_AT(p, d.at, "'!' and '?' stand before rules only");
  if (question && p->text[d.at] == '_')
    return FAIL_AT(p, d.at, "'?' does not go with a rule whose name begins with '_'");
  if (!parse_parametric(p, &d) || !parse_params(p, &d) || !parse_attributes(p, &d)) return false;
  tsl__scan_skip(p, false);
  if (!parse_priority(p, &d) || !parse_attributes(p, &d)) return false;
  tsl__scan_skip(p, false);
  if (!tsl__scan_take(p, ':')) return FAIL(p, "expected ':' after the name of a definition");
  uint32_t node = tsl__scan_body(p, 0, d.terminal);
  if (!tsl__scan_end_line(p)) return false;
  if (d.terminal && !node)
    return FAIL_AT(p, d.at, "terminal \"%.*s\" is empty", tsl__lark_shown(d.length),
                   p->text + d.at);
  return tsl__scan_act(p, how, &d, node);
}

/* ---- the whole ------------------------------------------------------------------------------- */

bool tsl__scan_grammar(tsl__lscan *p) {
  tsl__scan_skip(p, true);
  while (!tsl__scan_failed(p) && p->at < p->length && !tsl__lark_failed(p->l)) {
    if (p->nested && tsl__scan_peek(p) == '}') break;
    if (tsl__scan_peek(p) == '%' ? !tsl__scan_statement(p)
                                 : !tsl__scan_definition(p, TSL__LARK_DEFINE))
      break;
    tsl__scan_skip(p, true);
  }
  return !tsl__lark_failed(p->l);
}

#define LOOK_CHARACTERS 4096u /* after which the check looks at the time */

/* Later readers of strings rely on whole characters. */
static bool is_utf8(tsl__lark *l, uint32_t module, const tsl__lmodule *m) {
  uint32_t cp, left = LOOK_CHARACTERS;
  size_t at = 0;
  for (unsigned n = 1; n && at < m->length; at += n) {
    n = tsl__utf8_decode((const uint8_t *)m->text + at, m->length - at, &cp);
    if (--left) continue;
    left = LOOK_CHARACTERS;
    if (!tsl__exprs_work(l->x, LOOK_CHARACTERS)) return false;
  }
  return at == m->length ||
         tsl__lark_fail(l, TSL_ERR_SYNTAX, module, (uint32_t)at, "invalid UTF-8");
}

bool tsl__lark_parse(tsl__lark *l, uint32_t module) {
  tsl__lmodule *m = &l->modules.at[module];
  tsl__lscan p = {.l = l, .module = module, .text = m->text, .length = m->length};
  if (m->length > INT32_MAX)
    return tsl__lark_fail(l, TSL_ERR_LIMIT, module, 0, "the grammar is longer than 2 GiB");
  if (!is_utf8(l, module, m)) return false;
  tsl__scan_grammar(&p);
  tsl__vec_free(&l->alloc, &p.pending);
  return !tsl__lark_failed(l);
}
