/* parse.c - the text of a regular expression as a tree.
 *
 * Problem   A pattern is a text with groups inside groups, of any length, by anybody.
 * Idea      Recursive descent over the grammar
 *
 *             alternatives = sequence { "|" sequence }
 *             sequence     = { term }
 *             term         = atom [ quantifier ]
 *             atom         = character | class | escape | "(" … ")" | "^" | "$"
 *
 *           The only recursion is through groups, at most TSL__REGEX_MAX_DEPTH deep. The children
 *           of all lists that are open wait on one stack (cursor.stack); a list that ends copies
 *           its own into the arena.
 * Example   "a|b+":
 *
 *             read   stack                   then
 *             a      SET a                   the sequence of one term is that term
 *             |b     SET a, SET b
 *             +      SET a, REPEAT(b,1,∞)    the quantifier takes the top
 *             end    ALT(a, REPEAT(b,1,∞))   the list takes all
 *
 * Cost      Linear; one arena node a character.
 * Tested by tests/regex/test_regex.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/regex/cursor.h"

static tsl__rx *parse_alternatives(tsl__rx_cursor *c);

/* ---- helpers --------------------------------------------------------------------------------- */

static tsl__rx *fail(tsl__rx_cursor *c, tsl_status status, size_t offset, const char *message) {
  return tsl__rx_fail(c->tree, status, offset, message);
}

/* NULL is an error that was reported already. */
static bool push(tsl__rx_cursor *c, tsl__rx *node) {
  if (!node) return false;
  return tsl__vec_push(c->alloc, &c->stack, node) ||
         tsl__rx_error(c, TSL_ERR_NO_MEMORY, 0, "out of memory");
}

/* The nodes pushed since the stack had `base`, as one. */
static tsl__rx *pop_list(tsl__rx_cursor *c, tsl__rx_kind kind, size_t offset, size_t base) {
  tsl__rx *node = tsl__rx_list(c->tree, kind, (uint32_t)offset,
                               c->stack.n > base ? c->stack.at + base : NULL, c->stack.n - base);
  c->stack.n = base;
  return node;
}

static tsl__rx *set_node(tsl__rx_cursor *c, size_t offset) {
  return tsl__rx_set(c->tree, (uint32_t)offset, c->set.ranges.at, c->set.ranges.n);
}

/* Is the text that follows exactly this? Then take it. */
static bool take_text(tsl__rx_cursor *c, const char *text) {
  size_t n = strlen(text);
  if (c->length - c->at < n || memcmp(c->text + c->at, text, n) != 0) return false;
  c->at += n;
  return true;
}

/* ---- anchors and boundaries ------------------------------------------------------------------ */

/* (?<![^]) or (?![^]). */
static tsl__rx *edge(tsl__rx_cursor *c, size_t offset, bool ahead) {
  static const tsl__range all = {0, TSL__CP_MAX};
  tsl__rx *any = tsl__rx_set(c->tree, (uint32_t)offset, &all, 1);
  return any ? tsl__rx_look(c->tree, (uint32_t)offset, ahead, true, any) : NULL;
}

/* ^ or $. */
static tsl__rx *anchor(tsl__rx_cursor *c, size_t offset, bool ahead) {
  tsl__rx *other;
  if (!c->multiline) return edge(c, offset, ahead);
  if (!tsl__rx_line_set(c, true)) return NULL;
  other = set_node(c, offset);
  return other ? tsl__rx_look(c->tree, (uint32_t)offset, ahead, true, other) : NULL;
}

/* \Z: (?=\n?(?![^])). */
static tsl__rx *last_line_end(tsl__rx_cursor *c, size_t offset) {
  static const tsl__range newline = {'\n', '\n'};
  tsl__rx *part[2], *set = tsl__rx_set(c->tree, (uint32_t)offset, &newline, 1);
  part[0] = set ? tsl__rx_repeat(c->tree, (uint32_t)offset, set, 0, 1) : NULL;
  part[1] = part[0] ? edge(c, offset, true) : NULL;
  set = part[1] ? tsl__rx_list(c->tree, TSL__RX_SEQ, (uint32_t)offset, part, 2) : NULL;
  return set ? tsl__rx_look(c->tree, (uint32_t)offset, true, false, set) : NULL;
}

/* (?<=\w)(?!\w)|(?<!\w)(?=\w), or the same with both sides equal for \B. */
static tsl__rx *boundary(tsl__rx_cursor *c, size_t offset, bool negated) {
  uint32_t at = (uint32_t)offset;
  tsl__rx *word, *side[2], *part[2];
  if (!tsl__rx_word_set(c) || !(word = set_node(c, offset))) return NULL;
  for (int i = 0; i < 2; i++) {
    part[0] = tsl__rx_look(c->tree, at, false, i == 1, word);
    part[1] = tsl__rx_look(c->tree, at, true, (i == 0) != negated, word);
    side[i] = part[0] && part[1] ? tsl__rx_list(c->tree, TSL__RX_SEQ, at, part, 2) : NULL;
    if (!side[i]) return NULL;
  }
  return tsl__rx_list(c->tree, TSL__RX_ALT, at, side, 2);
}

/* ---- back-references ------------------------------------------------------------------------- */

static tsl__rx *back(tsl__rx_cursor *c, size_t offset, uint32_t number) {
  tsl__rx *node = tsl__rx_back(c->tree, (uint32_t)offset, number);
  if (node) node->max = c->fold;
  return node;
}

/* \1 … : after the backslash. */
static tsl__rx *numbered_back(tsl__rx_cursor *c, size_t offset) {
  uint32_t number = 0;
  while (tsl__rx_peek(c, 0) >= '0' && tsl__rx_peek(c, 0) <= '9') {
    number = number * 10 + (uint32_t)(c->text[c->at++] - '0');
    if (number > TSL__REGEX_MAX_LENGTH)
      return fail(c, TSL_ERR_SYNTAX, offset, "reference to a group that does not exist");
  }
  if (number > c->furthest_back) {
    c->furthest_back = number;
    c->furthest_at = offset;
  }
  return back(c, offset, number);
}

/* A name up to `close`; letters, digits, _ and $, and any code point past ASCII. */
static bool read_name(tsl__rx_cursor *c, char close, tsl__rx_name *name) {
  size_t start = c->at;
  while (tsl__rx_more(c) && tsl__rx_peek(c, 0) != (uint8_t)close) {
    uint8_t b = tsl__rx_peek(c, 0);
    bool digit = b >= '0' && b <= '9';
    bool ok = (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || (digit && c->at > start) ||
              b == '_' || b == '$' || b >= 0x80;
    uint32_t cp;
    if (!ok)
      return tsl__rx_error(c, TSL_ERR_SYNTAX, c->at,
                           "a group name holds letters, digits, _ and $ and begins with no digit");
    if (!tsl__rx_code_point(c, &cp)) return false;
  }
  *name = (tsl__rx_name){(uint32_t)start, (uint32_t)(c->at - start), 0, NULL};
  if (c->at == start || !tsl__rx_take(c, close))
    return tsl__rx_error(c, TSL_ERR_SYNTAX, start, "a group name is missing or not closed");
  return true;
}

static tsl__rx *named_back(tsl__rx_cursor *c, size_t offset, char close) {
  tsl__rx_name use;
  if (!read_name(c, close, &use) || !(use.use = back(c, offset, 0))) return NULL;
  if (!tsl__vec_push(c->alloc, &c->uses, use))
    return fail(c, TSL_ERR_NO_MEMORY, 0, "out of memory");
  return use.use;
}

/* Names are few: they are compared one by one. */
static const tsl__rx_name *find_name(const tsl__rx_cursor *c, const tsl__rx_name *name) {
  for (size_t i = 0; i < c->names.n; i++) {
    const tsl__rx_name *known = &c->names.at[i];
    if (known->length == name->length &&
        !memcmp(c->text + known->at, c->text + name->at, name->length))
      return known;
  }
  return NULL;
}

/* At the end of the pattern: every reference has its group. */
static bool resolve_backs(tsl__rx_cursor *c) {
  if (c->furthest_back > c->groups)
    return tsl__rx_error(c, TSL_ERR_SYNTAX, c->furthest_at,
                         "reference to a group that does not exist");
  for (size_t i = 0; i < c->uses.n; i++) {
    const tsl__rx_name *known = find_name(c, &c->uses.at[i]);
    if (!known)
      return tsl__rx_error(c, TSL_ERR_SYNTAX, c->uses.at[i].use->offset,
                           "reference to a group name that does not exist");
    c->uses.at[i].use->min = known->number;
  }
  return true;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* The rest of a group: alternatives and the closing parenthesis. Flags set inside end with it. */
static tsl__rx *group_body(tsl__rx_cursor *c, size_t offset) {
  bool fold = c->fold, dot_all = c->dot_all, multiline = c->multiline;
  tsl__rx *body;
  if (++c->depth > TSL__REGEX_MAX_DEPTH)
    return fail(c, TSL_ERR_LIMIT, offset, "groups are nested too deeply (more than 250 levels)");
  body = parse_alternatives(c);
  if (!body) return NULL;
  c->depth--;
  c->fold = fold;
  c->dot_all = dot_all;
  c->multiline = multiline;
  if (!tsl__rx_take(c, ')'))
    return fail(c, TSL_ERR_SYNTAX, offset, "the group has no closing parenthesis");
  return body;
}

static tsl__rx *capturing(tsl__rx_cursor *c, size_t offset) {
  uint32_t number = ++c->groups;
  tsl__rx *body = group_body(c, offset);
  return body ? tsl__rx_group(c->tree, (uint32_t)offset, number, body) : NULL;
}

/* (?<name>…): the name stands for the number that the group gets now. */
static tsl__rx *named(tsl__rx_cursor *c, size_t offset, char close) {
  tsl__rx_name name;
  if (!read_name(c, close, &name)) return NULL;
  if (find_name(c, &name)) return fail(c, TSL_ERR_SYNTAX, name.at, "two groups have this name");
  name.number = c->groups + 1;
  if (!tsl__vec_push(c->alloc, &c->names, name))
    return fail(c, TSL_ERR_NO_MEMORY, 0, "out of memory");
  return capturing(c, offset);
}

static tsl__rx *look(tsl__rx_cursor *c, size_t offset, bool ahead, bool negative) {
  tsl__rx *body = group_body(c, offset);
  return body ? tsl__rx_look(c->tree, (uint32_t)offset, ahead, negative, body) : NULL;
}

/* (?ims-ims) or (?ims-ims:…). The former has no node of its own: *none is set. */
static tsl__rx *inline_flags(tsl__rx_cursor *c, size_t offset, bool *none) {
  bool fold = c->fold, dot_all = c->dot_all, multiline = c->multiline, on = true;
  tsl__rx *body;
  for (;;) {
    uint8_t b = tsl__rx_peek(c, 0);
    if (b == 'i')
      c->fold = on;
    else if (b == 's')
      c->dot_all = on;
    else if (b == 'm')
      c->multiline = on;
    else if (b == '-' && on)
      on = false;
    else
      break;
    c->at++;
  }
  if (tsl__rx_take(c, ')')) {
    *none = true;
    return NULL;
  }
  if (!tsl__rx_take(c, ':')) {
    bool letter = tsl__rx_peek(c, 0) != 'P' && (tsl__rx_peek(c, 0) | 0x20) >= 'a' &&
                  (tsl__rx_peek(c, 0) | 0x20) <= 'z';
    return letter ? fail(c, TSL_ERR_UNSUPPORTED, c->at, "only the flags i, s and m are supported")
                  : fail(c, TSL_ERR_SYNTAX, offset, "unknown kind of group");
  }
  body = group_body(c, offset);
  c->fold = fold;
  c->dot_all = dot_all;
  c->multiline = multiline;
  return body;
}

/* After "(?". */
static tsl__rx *special_group(tsl__rx_cursor *c, size_t offset, bool *none) {
  uint8_t b = tsl__rx_peek(c, 0);
  if (take_text(c, ":")) return group_body(c, offset);
  if (take_text(c, "=")) return look(c, offset, true, false);
  if (take_text(c, "!")) return look(c, offset, true, true);
  if (take_text(c, "<=")) return look(c, offset, false, false);
  if (take_text(c, "<!")) return look(c, offset, false, true);
  if (take_text(c, "P<") || take_text(c, "<")) return named(c, offset, '>');
  if (take_text(c, "'")) return named(c, offset, '\'');
  if (take_text(c, "P=")) return named_back(c, offset, ')');
  bool back = b == '-' && tsl__rx_peek(c, 1) >= '0' && tsl__rx_peek(c, 1) <= '9',
       called = b == 'P' && tsl__rx_peek(c, 1) == '>';
  if (b == '>' || b == '|' || b == '(' || b == '+' || b == '&' || b == 'R' || b == '^' ||
      (b >= '0' && b <= '9') || back || called)
    return fail(c, TSL_ERR_UNSUPPORTED, offset,
                "atomic groups, conditionals, branch resets and recursion are not supported");
  return inline_flags(c, offset, none);
}

/* ---- terms ----------------------------------------------------------------------------------- */

/* At a '\\'. *assertion: it is one that can't be repeated. */
static tsl__rx *escape(tsl__rx_cursor *c, size_t offset, bool *assertion) {
  uint8_t b = tsl__rx_peek(c, 1);
  *assertion = b && strchr("bBAzZ", b) != NULL;
  if (*assertion || (b >= '1' && b <= '9')) c->at += 2;
  switch (b) {
  case 'b': return boundary(c, offset, false);
  case 'B': return boundary(c, offset, true);
  case 'A': return edge(c, offset, false);
  case 'z': return edge(c, offset, true);
  case 'Z': return c->very_end ? edge(c, offset, true) : last_line_end(c, offset);
  case 'k':
    c->at += 2;
    if (tsl__rx_take(c, '<')) return named_back(c, offset, '>');
    if (tsl__rx_take(c, '{')) return named_back(c, offset, '}');
    if (tsl__rx_take(c, '\'')) return named_back(c, offset, '\'');
    return fail(c, TSL_ERR_SYNTAX, offset, "\\k needs a group name");
  default: break;
  }
  if (b >= '1' && b <= '9') {
    c->at--;
    return numbered_back(c, offset);
  }
  return tsl__rx_read_escape(c) ? set_node(c, offset) : NULL;
}

/* Any code point as itself, and under (?i) what is the same but for case. */
static tsl__rx *character(tsl__rx_cursor *c, size_t offset) {
  uint32_t cp;
  tsl__range one;
  if (!tsl__rx_code_point(c, &cp)) return NULL;
  if (!c->fold) {
    one = (tsl__range){cp, cp};
    return tsl__rx_set(c->tree, (uint32_t)offset, &one, 1);
  }
  c->set.ranges.n = 0;
  if (!tsl__charset_add(c->alloc, &c->set, cp, cp) || !tsl__unicode_fold(c->tree->x, &c->set))
    return fail(c, TSL_ERR_NO_MEMORY, 0, "out of memory");
  return set_node(c, offset);
}

/* Digits as a number; false if there are none. Values past the limit become TSL__REGEX_MAX_REPEAT
 * + 1. */
static bool take_number(tsl__rx_cursor *c, uint32_t *value) {
  uint64_t v = 0;
  size_t start = c->at;
  while (tsl__rx_peek(c, 0) >= '0' && tsl__rx_peek(c, 0) <= '9') {
    v = v * 10 + (uint64_t)(c->text[c->at++] - '0');
    if (v > TSL__REGEX_MAX_REPEAT) v = (uint64_t)TSL__REGEX_MAX_REPEAT + 1;
  }
  *value = (uint32_t)v;
  return c->at > start;
}

/* {m} {m,} {m,n}; anything else is no quantifier and nothing is read. */
static bool take_braces(tsl__rx_cursor *c, uint32_t *min, uint32_t *max) {
  size_t start = c->at;
  bool ok = tsl__rx_take(c, '{') && take_number(c, min);
  *max = ok ? *min : 0;
  if (ok && tsl__rx_take(c, ',') && !take_number(c, max)) *max = TSL__INF;
  ok = ok && tsl__rx_take(c, '}');
  if (!ok) c->at = start;
  return ok;
}

/* Does a count stand here, its least number left out perhaps? */
static bool is_count(const tsl__rx_cursor *c) {
  tsl__rx_cursor ahead = *c;
  uint32_t min, max;
  if (take_braces(&ahead, &min, &max)) return true;
  return tsl__rx_take(&ahead, '{') && tsl__rx_take(&ahead, ',') && take_number(&ahead, &max) &&
         tsl__rx_take(&ahead, '}');
}

/* *fixed: may not be repeated. *none: there was no node (inline flags). */
static tsl__rx *atom(tsl__rx_cursor *c, bool *fixed, bool *none) {
  size_t offset = c->at;
  uint32_t min, max;
  *fixed = *none = false;
  switch (tsl__rx_peek(c, 0)) {
  case '(':
    c->at++;
    if (take_text(c, "?")) return special_group(c, offset, none);
    if (tsl__rx_peek(c, 0) == '*')
      return fail(c, TSL_ERR_UNSUPPORTED, offset, "verbs are not supported");
    return capturing(c, offset);
  case '[': return tsl__rx_read_class(c) ? set_node(c, offset) : NULL;
  case '\\': return escape(c, offset, fixed);
  case '.': c->at++; return tsl__rx_read_dot(c) ? set_node(c, offset) : NULL;
  case '^':
    c->at++;
    *fixed = true;
    return anchor(c, offset, false);
  case '$':
    c->at++;
    *fixed = true;
    return anchor(c, offset, true);
  case '*':
  case '+':
  case '?': return fail(c, TSL_ERR_SYNTAX, offset, "nothing to repeat");
  case '{':
    if (c->counts && is_count(c))
      return fail(c, TSL_ERR_SYNTAX, offset,
                  "a count that repeats nothing, or without its least number: write {0,n} for "
                  "{,n}, and \\{ for "
                  "a brace");
    if (take_braces(c, &min, &max)) return fail(c, TSL_ERR_SYNTAX, offset, "nothing to repeat");
    return character(c, offset);
  default: return character(c, offset);
  }
}

/* * + ? or a count. False: none follows, and nothing was read. */
static bool take_quantifier(tsl__rx_cursor *c, uint32_t *min, uint32_t *max) {
  *min = 0;
  *max = TSL__INF;
  if (tsl__rx_take(c, '*')) return true;
  if (tsl__rx_take(c, '?')) {
    *max = 1;
    return true;
  }
  if (tsl__rx_take(c, '+')) {
    *min = 1;
    return true;
  }
  return take_braces(c, min, max);
}

/* (?#…) anywhere between terms and quantifiers. */
static bool skip_comments(tsl__rx_cursor *c) {
  size_t start = c->at;
  while (take_text(c, "(?#")) {
    while (tsl__rx_more(c) && tsl__rx_peek(c, 0) != ')') c->at++;
    if (!tsl__rx_take(c, ')'))
      return tsl__rx_error(c, TSL_ERR_SYNTAX, start, "the comment has no closing parenthesis");
  }
  return true;
}

/* The term with its quantifier, if one follows. */
static tsl__rx *quantified(tsl__rx_cursor *c, tsl__rx *node, bool fixed) {
  size_t start = c->at;
  uint32_t min, max, ignored, more;
  if (!take_quantifier(c, &min, &max)) return node;
  if (fixed)
    return fail(c, TSL_ERR_SYNTAX, start,
                "nothing to repeat: an anchor stands before the quantifier");
  if (min > TSL__REGEX_MAX_REPEAT || (max != TSL__INF && max > TSL__REGEX_MAX_REPEAT))
    return fail(c, TSL_ERR_LIMIT, start, "a repeat bound exceeds 2147483648");
  if (min > max) return fail(c, TSL_ERR_SYNTAX, start, "the bounds of the repeat are out of order");
  if (tsl__rx_take(c, '+'))
    return fail(c, TSL_ERR_UNSUPPORTED, start, "possessive quantifiers are not supported");
  (void)tsl__rx_take(c, '?'); /* lazy: the same language */
  start = c->at;
  if (take_quantifier(c, &ignored, &more))
    return fail(c, TSL_ERR_SYNTAX, start, "nothing to repeat: a quantifier follows a quantifier");
  return tsl__rx_repeat(c->tree, node->offset, node, min, max);
}

static tsl__rx *parse_sequence(tsl__rx_cursor *c) {
  size_t base = c->stack.n, offset = c->at;
  for (;;) {
    bool fixed, none;
    tsl__rx *node;
    if (!skip_comments(c)) return NULL;
    if (!tsl__rx_more(c) || tsl__rx_peek(c, 0) == '|' || tsl__rx_peek(c, 0) == ')') break;
    node = atom(c, &fixed, &none);
    if (none) continue;
    if (!node || !skip_comments(c) || !push(c, quantified(c, node, fixed))) return NULL;
  }
  return pop_list(c, TSL__RX_SEQ, offset, base);
}

static tsl__rx *parse_alternatives(tsl__rx_cursor *c) {
  size_t base = c->stack.n, offset = c->at;
  do {
    if (!push(c, parse_sequence(c))) return NULL;
  } while (tsl__rx_take(c, '|'));
  return pop_list(c, TSL__RX_ALT, offset, base);
}

tsl__rx *tsl__rx_parse(tsl__rx_tree *t, const tsl_allocator *scratch,
                       const tsl__regex_flags *flags) {
  tsl__rx_cursor c = {.tree = t,
                      .alloc = scratch,
                      .text = (const uint8_t *)t->pattern,
                      .length = t->length,
                      .fold = flags->case_insensitive,
                      .dot_all = flags->dot_all,
                      .multiline = flags->multiline,
                      .counts = flags->counts,
                      .very_end = flags->very_end};
  tsl__rx *root = parse_alternatives(&c);
  if (root && tsl__rx_more(&c))
    root = fail(&c, TSL_ERR_SYNTAX, c.at, "unmatched closing parenthesis");
  if (root && !resolve_backs(&c)) root = NULL;
  tsl__charset_free(scratch, &c.set);
  tsl__charset_free(scratch, &c.loose);
  tsl__vec_free(scratch, &c.stack);
  tsl__vec_free(scratch, &c.names);
  tsl__vec_free(scratch, &c.uses);
  return root;
}
