/* terminal.c - terminals to expressions.
 *
 * Problem   A terminal is one regular language, written with other terminals, strings, ranges and
 *           regular expressions. Some of it decides where a text ends (a lazy quantifier), and some
 *           looks at what stands around it.
 * Idea      Two expressions are made of each terminal. `raw` has all its texts and stands in other
 *           terminals. `value` stands in rules, and has the shortest texts only where it is lazy.
 * Lazy      Laziness spreads along a sequence: "<" /.*?/ ">" ends at the first ">". Of
 *           alternatives each has its own. The shortest texts of E are E & ~(E any+): those of
 *           which no beginning matches too.
 * Traits    The traits of a sequence are joined from those of its parts, from left to right
 *           (`then`). A part of several lengths after a lazy one is LATE. "The shortest" would cut
 *           that part as well, which its author did not mean. So it is refused.
 * Example   A: "<" B ">"    B: /.*?/
 *           raw of B is .*, its value the empty text. raw of A is <.*>, its value <[^>\n]*>.
 * Open      A look-around that its own part does not decide leaves the part OPEN, without an
 *           expression. whole.c compiles the terminal around it as one pattern. What is open still
 *           when a rule uses it is an error.
 * Order     Terminals are visited callees before callers, with a stack of its own. One that leads
 *           back to itself is an error: only rules may be recursive.
 * Strings   Sixteen alternatives or more that are strings become one set of strings: a keyword
 *           list of a thousand words is one node.
 * Cost      Linear in the text, and what compiling each regular expression costs.
 *
 * Tested by tests/lark/test_lark.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/items.h"
#include "compiler/regex/regex.h"

#include <stdio.h>

#define STRINGS_MIN 16u /* alternatives that are all strings, from which they are a set */

enum { UNSEEN, OPEN, DONE };

typedef struct meaning {
  tsl__expr raw, value;
  uint8_t traits;
} meaning;

tsl__expr tsl__lark_shortest(tsl__exprs *x, tsl__expr e) {
  tsl__expr any = tsl__expr_range(x, 0, 255);
  tsl__expr longer = tsl__expr_seq(x, e, tsl__expr_repeat(x, any, 1, TSL__INF));
  return tsl__expr_and(x, e, tsl__expr_not(x, longer));
}

/* ---- leaves ---------------------------------------------------------------------------------- */

/* A regular expression. A part that looks around is compiled as a part (`within`). Its own text
 * must decide what it says of the text before and after it, or it stays open. */
static bool pattern(tsl__lark *l, uint32_t module, const tsl__lnode *n, const uint8_t *text,
                    size_t length, meaning *out) {
  static const tsl__regex_flags flags = {.within = true, .counts = true}, alone = {.counts = true};
  tsl__lark_chars chars = {0};
  tsl_error error;
  bool fine = tsl__lark_pattern(l, module, n->at, text, length, n->c, &chars, &out->traits);
  if (fine) {
    tsl_status status =
        tsl__regex_compile(l->x, chars.at ? chars.at : "", chars.n,
                           out->traits & TSL__LARK_LOOKS ? &flags : &alone, &out->raw, &error);
    bool open = status == TSL_ERR_UNSUPPORTED && out->traits & TSL__LARK_LOOKS;
    if (open) out->traits |= TSL__LARK_OPEN;
    fine = status == TSL_OK || open ||
           tsl__lark_fail(l, status, module, n->at, "in the regular expression: %s", error.message);
  }
  tsl__vec_free(&l->alloc, &chars);
  return fine;
}

/* A string whose case is ignored: as a regular expression of its characters. */
static bool folded(tsl__lark *l, uint32_t module, const tsl__lnode *n, meaning *out) {
  tsl__lark_chars chars = {0};
  const uint8_t *at = l->bytes.at + n->a, *end = at + n->b;
  tsl_error error;
  bool fine = true;
  const char *begin = "(?i)";
  for (; fine && *begin; begin++) fine = tsl__vec_push(&l->alloc, &chars, *begin);
  while (fine && at < end) {
    char text[16];
    uint32_t cp = 0;
    at += tsl__utf8_decode(at, (size_t)(end - at), &cp);
    int length = snprintf(text, sizeof text, "\\u{%X}", (unsigned)cp);
    for (int i = 0; fine && i < length; i++) fine = tsl__vec_push(&l->alloc, &chars, text[i]);
  }
  if (!fine) tsl__lark_no_memory(l);
  tsl_status status =
      fine ? tsl__regex_compile(l->x, chars.at, chars.n, NULL, &out->raw, &error) : TSL_OK;
  tsl__vec_free(&l->alloc, &chars);
  return fine && (status == TSL_OK ||
                  tsl__lark_fail(l, status, module, n->at, "in the string: %s", error.message));
}

/* The characters of "a".."z". The parser has seen that the first comes before the last. */
static bool range(tsl__lark *l, const tsl__lnode *n, tsl__expr *out) {
  tsl__charset set = {0};
  if (!tsl__charset_add(&l->alloc, &set, n->a, n->b)) return tsl__lark_no_memory(l);
  tsl__charset_normalise(&set);
  *out = tsl__expr_charset(l->x, &set);
  tsl__charset_free(&l->alloc, &set);
  return true;
}

static bool leaf(tsl__lark *l, uint32_t module, const tsl__lnode *n, meaning *out) {
  *out = (meaning){TSL__EPS, TSL__EPS, 0};
  bool fine = true;
  if (n->kind == TSL__L_LITERAL && n->c & TSL__LARK_I)
    fine = folded(l, module, n, out);
  else if (n->kind == TSL__L_LITERAL)
    out->raw = tsl__expr_literal(l->x, l->bytes.at + n->a, n->b);
  else if (n->kind == TSL__L_RANGE)
    fine = range(l, n, &out->raw);
  else if (n->kind == TSL__L_PATTERN)
    fine = pattern(l, module, n, l->bytes.at + n->a, n->b, out);
  else if (n->kind == TSL__L_EXPR)
    out->raw = n->a;
  out->value = out->raw;
  return fine && !tsl__lark_failed(l);
}

bool tsl__lark_open(tsl__lark *l, uint32_t module, uint32_t at) {
  return tsl__lark_fail(l, TSL_ERR_UNSUPPORTED, module, at,
                        "in the regular expression: a look-around, anchor or boundary that may "
                        "look past the match is not supported");
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* `value` of a tree whose `raw` is made. */
static bool finish(tsl__lark *l, uint32_t module, uint32_t at, meaning *m) {
  if (!(m->traits & TSL__LARK_LAZY)) return m->value = m->raw, true;
  if (m->traits & TSL__LARK_LATE)
    return tsl__lark_fail(l, TSL_ERR_UNSUPPORTED, module, at,
                          "a greedy quantifier after a lazy one in a terminal is not supported; "
                          "make both lazy, or say what the text may not hold");
  m->value = tsl__lark_shortest(l->x, m->raw);
  return true;
}

static bool evaluate(tsl__lark *l, uint32_t module, uint32_t node, meaning *out);

/* The traits of a sequence of two. */
static uint8_t then(uint8_t first, uint8_t second) {
  bool late = first & TSL__LARK_LAZY && second & TSL__LARK_VARIABLE;
  return first | second | (late ? TSL__LARK_LATE : 0);
}

/* From the last item to the first. A sequence is made by putting one item in front of the rest, and
 * that keeps its normal form without copies. */
static bool sequence(tsl__lark *l, uint32_t module, const tsl__lnode *n, meaning *out) {
  *out = (meaning){TSL__EPS, TSL__EPS, 0};
  tsl__expr *items = tsl__alloc(&l->alloc, n->b * sizeof *items);
  bool fine = items || tsl__lark_no_memory(l);
  for (uint32_t i = 0; i < n->b && fine; i++) {
    meaning item;
    fine = evaluate(l, module, l->lists.at[n->a + i], &item);
    items[i] = item.raw;
    out->traits = then(out->traits, item.traits);
  }
  for (uint32_t i = n->b; fine && i-- > 0;) out->raw = tsl__expr_seq(l->x, items[i], out->raw);
  tsl__free(&l->alloc, items, n->b * sizeof *items);
  return fine && finish(l, module, n->at, out);
}

static bool all_strings(const tsl__lark *l, const tsl__lnode *n) {
  for (uint32_t i = 0; i < n->b; i++) {
    const tsl__lnode *item = &l->nodes.at[l->lists.at[n->a + i]];
    if (item->kind != TSL__L_LITERAL || item->c) return false;
  }
  return n->b >= STRINGS_MIN;
}

/* Their value is the set as it is: a set of strings has no lazy part. */
static bool strings(tsl__lark *l, const tsl__lnode *n, meaning *out) {
  tsl__string *all = tsl__alloc(&l->alloc, n->b * sizeof *all);
  if (!all) return tsl__lark_no_memory(l);
  for (uint32_t i = 0; i < n->b; i++) {
    const tsl__lnode *item = &l->nodes.at[l->lists.at[n->a + i]];
    all[i].at = (const char *)l->bytes.at + item->a;
    all[i].length = item->b;
  }
  out->raw = out->value = tsl__expr_stringset(l->x, tsl__stringset_new(l->x, all, n->b, NULL));
  out->traits = 0;
  tsl__free(&l->alloc, all, n->b * sizeof *all);
  return true;
}

static bool alternatives(tsl__lark *l, uint32_t module, const tsl__lnode *n, meaning *out) {
  size_t size = 2 * (size_t)n->b * sizeof(tsl__expr);
  if (all_strings(l, n)) return strings(l, n, out);
  tsl__expr *items = tsl__alloc(&l->alloc, size);
  bool fine = items || tsl__lark_no_memory(l);
  uint8_t traits = 0;
  for (uint32_t i = 0; i < n->b && fine; i++) {
    meaning item;
    fine = evaluate(l, module, l->lists.at[n->a + i], &item);
    items[i] = item.raw;
    items[n->b + i] = item.value;
    traits |= item.traits;
  }
  if (fine) {
    out->raw = tsl__expr_alt_n(l->x, items, n->b);
    out->value = tsl__expr_alt_n(l->x, items + n->b, n->b);
    /* alternatives of several lengths are a choice, too */
    out->traits = traits | TSL__LARK_VARIABLE;
  }
  tsl__free(&l->alloc, items, size);
  return fine;
}

static bool repeat(tsl__lark *l, uint32_t module, const tsl__lnode *n, meaning *out) {
  if (!evaluate(l, module, n->a, out)) return false;
  out->raw = tsl__expr_repeat(l->x, out->raw, n->b, n->c);
  if (n->b != n->c) out->traits = then(out->traits, TSL__LARK_VARIABLE);
  if (n->b > TSL__GBNF_REPEAT || (n->c != TSL__INF && n->c > TSL__GBNF_REPEAT))
    out->traits |= TSL__LARK_COUNTED;
  return finish(l, module, n->at, out);
}

/* a & b of terminals. Each is what it would be in a rule: a lazy one has its shortest texts, and
 * the whole has no laziness of its own. */
static bool both(tsl__lark *l, uint32_t module, const tsl__lnode *n, meaning *out) {
  out->traits = 0;
  for (uint32_t i = 0; i < n->b; i++) {
    meaning item;
    if (!evaluate(l, module, l->lists.at[n->a + i], &item)) return false;
    out->raw = i ? tsl__expr_and(l->x, out->raw, item.value) : item.value;
    out->traits |= item.traits & (TSL__LARK_COUNTED | TSL__LARK_OPEN);
  }
  out->value = out->raw;
  return true;
}

/* Depth: the node's height. */
static bool evaluate(tsl__lark *l, uint32_t module, uint32_t node, meaning *out) {
  const tsl__lnode n = l->nodes.at[node];
  *out = (meaning){TSL__EPS, TSL__EPS, 0};
  if (tsl__lark_failed(l)) return false;
  switch ((tsl__lkind)n.kind) {
  case TSL__L_EMPTY: return true;
  case TSL__L_LITERAL:
  case TSL__L_RANGE:
  case TSL__L_PATTERN:
  case TSL__L_EXPR: return leaf(l, module, &n, out) && finish(l, module, n.at, out);
  case TSL__L_NAME: {
    const tsl__ldef *d =
        &l->defs.at[tsl__lark_find(l, module, tsl__lark_text(l, module, n.at), n.a)];
    *out = (meaning){d->raw, d->value, d->traits};
    return true;
  }
  case TSL__L_SEQ: return sequence(l, module, &n, out);
  case TSL__L_ALT: return alternatives(l, module, &n, out);
  case TSL__L_REPEAT: return repeat(l, module, &n, out);
  case TSL__L_AND: return both(l, module, &n, out);
  case TSL__L_NOT:
    if (!evaluate(l, module, n.a, out)) return false;
    out->raw = out->value = tsl__expr_text_not(l->x, out->value);
    out->traits &= TSL__LARK_COUNTED | TSL__LARK_OPEN;
    return true;
  case TSL__L_CALL:
    return tsl__lark_fail(l, TSL_ERR_SYNTAX, module, n.at, "a terminal cannot use a template");
  case TSL__L_IF:
    return tsl__lark_fail(l, TSL_ERR_SYNTAX, module, n.at, "a terminal has no conditions");
  case TSL__L_GRAMMAR:
    return tsl__lark_fail(l, TSL_ERR_SYNTAX, module, n.at,
                          "a terminal cannot use another grammar; use it in a rule");
  case TSL__L_TOKENS:
  case TSL__L_TOKEN:
    return tsl__lark_fail(l, TSL_ERR_SYNTAX, module, n.at,
                          "a terminal cannot name a token; name it in a rule");
  case TSL__L_JSON:
    return tsl__lark_fail(l, TSL_ERR_SYNTAX, module, n.at,
                          "%%json cannot stand in a terminal; put it into a rule");
  }
  return false;
}

bool tsl__lark_leaf(tsl__lark *l, uint32_t module, uint32_t node, tsl__expr *out, uint8_t *traits) {
  meaning m;
  if (!evaluate(l, module, node, &m)) return false;
  if (m.traits & TSL__LARK_OPEN) return tsl__lark_open(l, module, l->nodes.at[node].at);
  *out = m.value;
  *traits = m.traits;
  return true;
}

bool tsl__lark_suffix_text(const tsl__lark *l, const tsl__ldef *d, tsl__string *out) {
  const tsl__lnode *n = &l->nodes.at[d->suffix];
  if (!d->suffix || n->kind != TSL__L_LITERAL || n->c) return false;
  *out = (tsl__string){(const char *)l->bytes.at + n->a, n->b};
  return true;
}

/* ---- in order -------------------------------------------------------------------------------- */

typedef TSL__VEC(uint32_t) numbers;

typedef struct visit {
  uint32_t def, next, last; /* of refs: where its references stand, and the next to look at */
} visit;

typedef struct visits {
  tsl__lark *l;
  TSL__VEC(visit) stack;
  numbers refs; /* pairs: definition, place */
} visits;

/* Adds the terminals that a node names. Depth: its height. */
static bool add_refs(visits *v, const tsl__ldef *of, uint32_t module, uint32_t node) {
  tsl__lark *l = v->l;
  const tsl__lnode n = l->nodes.at[node];
  tsl__exprs_work(l->x, 1);
  if (n.kind == TSL__L_NAME) {
    const char *name = tsl__lark_text(l, module, n.at);
    uint32_t def = tsl__lark_find(l, module, name, n.a);
    if (def == TSL__LARK_NOWHERE)
      return tsl__lark_fail(l, TSL_ERR_SYNTAX, module, n.at, "\"%.*s\" is not defined",
                            tsl__lark_shown(n.a), name);
    if (!l->defs.at[def].terminal)
      return tsl__lark_fail(l, TSL_ERR_SYNTAX, module, n.at, "%s cannot use the rule \"%.*s\"",
                            of->terminal ? "a terminal"
                                         : "a rule with lazy, suffix, stop or max_tokens is one "
                                           "terminal, and",
                            tsl__lark_shown(n.a), name);
    if (!tsl__vec_push(&l->alloc, &v->refs, def) || !tsl__vec_push(&l->alloc, &v->refs, n.at))
      return tsl__lark_no_memory(l);
  }
  if (n.kind == TSL__L_REPEAT || n.kind == TSL__L_NOT) return add_refs(v, of, module, n.a);
  if (n.kind == TSL__L_SEQ || n.kind == TSL__L_ALT || n.kind == TSL__L_AND)
    for (uint32_t i = 0; i < n.b; i++)
      if (!add_refs(v, of, module, l->lists.at[n.a + i])) return false;
  return true;
}

/* A terminal that is met for the first time: what it names must be done before it. */
static bool enter(visits *v, uint32_t def) {
  tsl__lark *l = v->l;
  visit here = {.def = def, .next = (uint32_t)v->refs.n};
  const tsl__ldef d = l->defs.at[def];
  for (uint32_t b = d.body; b != TSL__LARK_NOWHERE; b = l->bodies.at[b].next)
    if (!add_refs(v, &d, l->bodies.at[b].module, l->bodies.at[b].node)) return false;
  if (d.suffix && !add_refs(v, &d, d.module, d.suffix)) return false;
  here.last = (uint32_t)v->refs.n;
  l->defs.at[def].state = OPEN;
  return tsl__vec_push(&l->alloc, &v->stack, here) || tsl__lark_no_memory(l);
}

/* All that a terminal names is done: its expressions, over all of its bodies, its suffix and its
 * own `lazy`. */
static bool leave(tsl__lark *l, uint32_t def) {
  tsl__ldef *d = &l->defs.at[def];
  meaning all = {TSL__NONE, TSL__NONE, 0};
  for (uint32_t b = d->body; b != TSL__LARK_NOWHERE; b = l->bodies.at[b].next) {
    meaning one;
    if (!evaluate(l, l->bodies.at[b].module, l->bodies.at[b].node, &one)) return false;
    bool first = b == d->body;
    all.raw = first ? one.raw : tsl__expr_alt(l->x, all.raw, one.raw);
    all.value = first ? one.value : tsl__expr_alt(l->x, all.value, one.value);
    all.traits |= one.traits;
  }
  if (all.traits & TSL__LARK_OPEN) {
    uint8_t counted = all.traits & TSL__LARK_COUNTED, traits = 0;
    if (tsl__lark_whole(l, d, &all.raw, &traits)) {
      all.traits = traits | counted;
      if (!finish(l, d->module, d->at, &all)) return false;
    } else if (tsl__lark_failed(l)) {
      return false;
    }
    d = &l->defs.at[def];
    if (all.traits & TSL__LARK_OPEN && !d->terminal) return tsl__lark_open(l, d->module, d->at);
  }
  if (d->suffix) {
    meaning suffix;
    if (!evaluate(l, d->module, d->suffix, &suffix)) return false;
    all.raw = tsl__expr_seq(l->x, all.raw, suffix.raw);
  }
  if (d->suffix || d->lazy) all.value = tsl__lark_shortest(l->x, all.raw);
  d->raw = all.raw;
  d->value = all.value;
  d->traits = all.traits;
  d->state = DONE;
  if (l->options.lexer) tsl__lark_measure(l, d);
  return !tsl__lark_failed(l);
}

/* Terminals that the first one leads to, without recursion: a chain may be as long as the text. */
static bool follow(visits *v) {
  tsl__lark *l = v->l;
  while (v->stack.n) {
    visit *top = &v->stack.at[v->stack.n - 1];
    if (top->next == top->last) {
      v->stack.n--;
      if (!leave(l, top->def)) return false;
      continue;
    }
    uint32_t def = v->refs.at[top->next], at = v->refs.at[top->next + 1];
    top->next += 2;
    const tsl__ldef *d = &l->defs.at[def];
    if (d->state == OPEN)
      return tsl__lark_fail(l, TSL_ERR_SYNTAX, d->module, d->module ? d->at : at,
                            "terminal \"%.*s\" leads back to itself; only rules may",
                            tsl__lark_shown(d->length), tsl__lark_text(l, d->module, d->at));
    if (d->state == UNSEEN && !enter(v, def)) return false;
  }
  return true;
}

/* What each grammar ignores, as one expression that stands behind its terminals. A terminal that
 * matches the empty text alone would be ignored for ever, and is an error. One that may be empty
 * does no harm, as the loop around it is normalised. */
static bool skip(tsl__lark *l) {
  for (size_t i = 0; i < l->modules.n; i++) l->modules.at[i].skip = TSL__NONE;
  for (size_t i = 0; i < l->ignores.n; i++) {
    const tsl__ldef *d = &l->defs.at[l->ignores.at[i]];
    tsl__lmodule *m = &l->modules.at[d->module];
    if (d->traits & TSL__LARK_OPEN) return tsl__lark_open(l, d->module, d->at);
    if (d->value == TSL__EPS || d->value == TSL__NONE)
      return tsl__lark_fail(l, TSL_ERR_SYNTAX, d->module, d->at,
                            "%%ignore of a terminal that matches %s",
                            d->value ? "the empty text only" : "nothing");
    m->skip = tsl__expr_alt(l->x, m->skip, d->value);
  }
  for (size_t i = 0; i < l->modules.n; i++) {
    tsl__lmodule *m = &l->modules.at[i];
    m->skip = m->skip == TSL__NONE ? TSL__EPS
              : m->skip_once       ? tsl__expr_opt(l->x, m->skip)
                                   : tsl__expr_star(l->x, m->skip);
  }
  return !tsl__lark_failed(l);
}

bool tsl__lark_terminals(tsl__lark *l) {
  visits v = {.l = l};
  bool fine = true;
  for (uint32_t i = 0; i < l->defs.n && fine; i++)
    if (tsl__lark_is_regular(&l->defs.at[i]) && l->defs.at[i].state == UNSEEN)
      fine = enter(&v, i) && follow(&v), v.refs.n = 0;
  tsl__vec_free(&l->alloc, &v.stack);
  tsl__vec_free(&l->alloc, &v.refs);
  return fine && skip(l);
}
