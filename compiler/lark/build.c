/* build.c - rules to the tree of compiler/gbnf/ast.h, which lowers them.
 *
 * Problem   A template is not one rule, and a rule with a parameter is up to 2^64 of them. Only the
 *           start rule shows which of them are needed.
 * Idea      Instances: a definition with the values of its parameter and its arguments. The start
 *           is the first. Building an instance names others, which wait in a list until it is their
 *           turn. A hash table finds an instance that is there, so each is built once.
 * Example   start: p{A} p{A} p{B}    makes three rules: start, p with A, p with B.
 * Bounds    TSL__LARK_INSTANCES_MAX. A template that calls itself with more and more arguments, or
 *           a parameter that only grows, ends there. The error names the rule.
 *
 * A rule becomes a rule of that tree. A template becomes one rule for each list of arguments that
 * it is used with. Instances wait in a list, so that templates that use templates need no
 * recursion. Arguments are equal if they are the same rule, or terminals of the same expression.
 *
 * A terminal is an EXPR node, with what is ignored after it. A terminal with a large count has a
 * rule of its own, because its counter needs a frame.
 *
 * Tested by tests/lark/test_lark.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/items.h"

/* An argument: a rule of l->g, or an expression. Of a rule, `counted`: what is ignored comes after
 * its name. */
typedef struct argument {
  uint32_t is_rule, value, counted;
  uint32_t lazy;  /* an expression of a rule that says where it ends */
  uint32_t token; /* an expression, with a lexer: which terminal */
} argument;

typedef struct instance {
  uint32_t def, rule;
  uint32_t first, count; /* of `arguments` */
  uint64_t value;        /* of its parameter; 0: it has none */
} instance;

typedef struct builder {
  tsl__lark *l;
  TSL__VEC(instance) instances; /* rules to be built, in the order in which they were named */
  TSL__VEC(argument) arguments;
  tsl__index templates;       /* instances with arguments, or with a parameter */
  TSL__VEC(uint32_t) pending; /* children of the nodes that are open */
  instance at;                /* what is being built */
} builder;

static bool no_memory(builder *b) { return tsl__lark_no_memory(b->l); }
static bool failed(builder *b) {
  if (b->l->g->no_memory) no_memory(b);
  return tsl__lark_failed(b->l);
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* A new rule of l->g with the name of a definition. It has no body yet: others may refer to it. */
static uint32_t new_rule(builder *b, const tsl__ldef *d) {
  tsl__lark *l = b->l;
  const tsl__lmodule *m = &l->modules.at[d->module];
  const char *name = m->text + d->at;
  if (d->module) { /* its text goes */
    char *copy = tsl__exprs_alloc(l->x, d->length + 1);
    if (!copy) return no_memory(b), 0;
    memcpy(copy, name, d->length);
    name = copy;
  }
  tsl__grule rule = {.name = name,
                     .name_length = d->length,
                     .offset = d->module ? m->import_at : d->at,
                     .line = 1,
                     .cycle = TSL__G_NO_CYCLE,
                     .component = UINT32_MAX};
  if (!tsl__vec_push(&l->alloc, &l->g->rules, rule)) return no_memory(b), 0;
  return (uint32_t)l->g->rules.n - 1;
}

static bool same(const builder *b, const instance *i, uint32_t def, uint64_t value, uint32_t first,
                 uint32_t count) {
  return i->def == def && i->count == count && i->value == value &&
         (!count ||
          !memcmp(b->arguments.at + i->first, b->arguments.at + first, count * sizeof(argument)));
}

static uint64_t hash_of(const builder *b, uint32_t def, uint64_t value, uint32_t first,
                        uint32_t count) {
  uint64_t h = count ? tsl__hash(b->arguments.at + first, count * sizeof(argument)) : 0;
  return tsl__mix(h + tsl__mix(value) + def);
}

/* The instance with these arguments, or UINT32_MAX. */
static uint32_t find_instance(const builder *b, uint64_t hash, uint32_t def, uint64_t value,
                              uint32_t first, uint32_t count) {
  tsl__index_iter it = tsl__index_first(&b->templates, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;)
    if (same(b, &b->instances.at[i], def, value, first, count)) return i;
  return UINT32_MAX;
}

/* A rule whose text is wanted back, or whose tokens are counted. */
static bool mark_rule(builder *b, uint32_t rule, const tsl__ldef *d) {
  tsl__lark *l = b->l;
  if (failed(b) || (!d->captured && !d->counted)) return !failed(b);
  if (!l->options.marks)
    return tsl__lark_fail(l, TSL_ERR_UNSUPPORTED, d->module, d->at,
                          "captures and counts of tokens are not supported here");
  tsl__lark_mark mark = {.counted = d->counted, .max_tokens = d->max_tokens};
  const tsl__lnode *name = &l->nodes.at[d->capture_node];
  if (d->captured && d->capture_node)
    mark.name = (tsl__string){(const char *)l->bytes.at + name->a, name->b};
  else if (d->captured)
    mark.name = (tsl__string){tsl__lark_text(l, d->module, d->capture), d->capture_length};
  if (d->captured && d->suffix && !tsl__lark_suffix_text(l, d, &mark.end))
    return tsl__lark_fail(l, TSL_ERR_UNSUPPORTED, d->module, d->at,
                          "a capture whose suffix is no string is not supported");
  if (!tsl__vec_push(&l->alloc, &l->marks, mark)) return no_memory(b);
  l->g->rules.at[rule].mark = (uint32_t)l->marks.n;
  return true;
}

/* The rule of a definition with the arguments from `first` on, which are dropped if it is there,
 * and this value of its parameter. */
static uint32_t rule_of(builder *b, uint32_t def, uint64_t value, uint32_t first) {
  tsl__ldef *d = &b->l->defs.at[def];
  uint32_t count = (uint32_t)(b->arguments.n - first);
  uint64_t hash = hash_of(b, def, value, first, count);
  bool many = count || d->parametric;
  if (!many && d->rule != TSL__LARK_NOWHERE) return d->rule;
  if (many) {
    uint32_t known = find_instance(b, hash, def, value, first, count);
    if (known != UINT32_MAX) return b->arguments.n = first, b->instances.at[known].rule;
    if (b->templates.n >= TSL__LARK_INSTANCES_MAX)
      return tsl__lark_fail(b->l, TSL_ERR_LIMIT, d->module, d->at,
                            d->parametric
                                ? "a parameter has too many values (limit %u)"
                                : "templates are used with too many lists of arguments (limit %u)",
                            TSL__LARK_INSTANCES_MAX),
             0;
  }
  instance made = {def, new_rule(b, d), first, count, value};
  if (!tsl__vec_push(&b->l->alloc, &b->instances, made)) return no_memory(b), 0;
  if (many && !tsl__index_add(&b->templates, &b->l->alloc, hash, (uint32_t)b->instances.n - 1))
    return no_memory(b), 0;
  if (!many) b->l->defs.at[def].rule = made.rule;
  mark_rule(b, made.rule, d);
  return made.rule;
}

/* ---- terminals ------------------------------------------------------------------------------- */

/* What is ignored in the grammar of the rule that is being built. */
static tsl__expr skip_of(const builder *b) {
  const tsl__lark *l = b->l;
  if (l->options.lexer) return TSL__EPS; /* lexer.c puts it there */
  return l->modules.at[l->modules.at[l->defs.at[b->at.def].module].root].skip;
}

static bool is_lazy(const tsl__ldef *d) { return !d->terminal && (d->lazy || d->suffix); }

/* The node of a lexeme: lexeme.c may find that others end it. */
static uint32_t lexeme(builder *b, tsl__expr e, tsl__expr skip, bool counted, bool lazy,
                       uint32_t token) {
  tsl__lark *l = b->l;
  tsl__lexeme made = {e, skip, lazy, token};
  if (!tsl__vec_push(&l->alloc, &l->lexemes, made)) return no_memory(b), 0;
  l->lazy |= lazy;
  return tsl__gbnf_node(l->g, TSL__G_EXPR, tsl__expr_seq(l->x, e, skip), counted,
                        (uint32_t)l->lexemes.n);
}

/* The node of a terminal; `d` gives a rule its name, if it needs one. */
static uint32_t terminal(builder *b, const tsl__ldef *d, tsl__expr e, bool counted, bool lazy,
                         uint32_t token) {
  uint32_t node = lexeme(b, e, skip_of(b), counted, lazy, token);
  if (!counted) return node;
  uint32_t rule = new_rule(b, d);
  if (failed(b)) return 0;
  b->l->g->rules.at[rule].body = node;
  return tsl__gbnf_node(b->l->g, TSL__G_REF, rule, d->at, 0);
}

/* The rule of a regular one that is marked: what is ignored stands behind its name. */
static uint32_t marked_terminal(builder *b, uint32_t def) {
  tsl__lark *l = b->l;
  const tsl__ldef d = l->defs.at[def];
  if (d.rule != TSL__LARK_NOWHERE) return d.rule;
  uint32_t rule = l->defs.at[def].rule = new_rule(b, &d);
  uint32_t body = lexeme(b, d.value, TSL__EPS, true, is_lazy(&d), 0);
  if (failed(b)) return 0;
  l->g->rules.at[rule].body = body;
  mark_rule(b, rule, &d);
  return rule;
}

/* What is ignored, after something else. */
static uint32_t and_skip(builder *b, uint32_t node) {
  if (skip_of(b) == TSL__EPS) return node;
  return tsl__gbnf_pair(b->l->g, node, tsl__gbnf_node(b->l->g, TSL__G_EXPR, skip_of(b), 0, 0));
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static const argument *param(const builder *b, const char *name, uint32_t length) {
  const tsl__lark *l = b->l;
  const tsl__ldef *d = &l->defs.at[b->at.def];
  for (uint32_t i = 0; i < d->params; i++) {
    const uint32_t *p = l->params.at + d->first_param + 2 * (size_t)i;
    if (p[1] == length && !memcmp(tsl__lark_text(l, d->module, p[0]), name, length))
      return &b->arguments.at[b->at.first + i];
  }
  return NULL;
}

static bool call(builder *b, uint32_t module, const tsl__lnode *n, uint32_t *rule);

/* What a lexer does not know: parts that are no terminals, and terminals that end in a way of their
 * own. False: it was refused. */
static bool suits_lexer(tsl__lark *l, uint32_t module, uint32_t at, bool fine) {
  return fine || !l->options.lexer ||
         tsl__lark_fail(l, TSL_ERR_UNSUPPORTED, module, at,
                        "this is not supported together with a lexer of Lark");
}

static bool is_plain(const tsl__ldef *d) {
  return d->terminal && !d->captured && !d->counted && !d->suffix && !d->lazy;
}

/* What an argument stands for. Depth: the node's height in calls, at most max_depth. */
static bool evaluate(builder *b, uint32_t module, uint32_t node, argument *out) {
  tsl__lark *l = b->l;
  const tsl__lnode n = l->nodes.at[node];
  uint8_t traits = 0;
  *out = (argument){0};
  if (n.kind == TSL__L_CALL) {
    out->is_rule = 1;
    return call(b, module, &n, &out->value);
  }
  if (n.kind != TSL__L_NAME) {
    if (!tsl__lark_leaf(l, module, node, &out->value, &traits)) return false;
    out->counted = (traits & TSL__LARK_COUNTED) != 0;
    if (l->options.lexer)
      out->token = tsl__lark_token_of(l, module, node, out->value, out->counted);
    return !tsl__lark_failed(l);
  }
  const char *name = tsl__lark_text(l, module, n.at);
  const argument *given = param(b, name, n.a);
  if (given) return *out = *given, true;
  uint32_t def = tsl__lark_find(l, module, name, n.a);
  const tsl__ldef *d = &l->defs.at[def];
  if (d->traits & TSL__LARK_OPEN) return tsl__lark_open(l, module, n.at);
  if (tsl__lark_is_regular(d) && !suits_lexer(l, module, n.at, is_plain(d))) return false;
  if (tsl__lark_is_regular(d) && (d->captured || d->counted)) {
    *out = (argument){1, marked_terminal(b, def), 1, 0, 0};
    return !failed(b);
  }
  if (tsl__lark_is_regular(d)) {
    out->value = d->value;
    out->counted = (d->traits & TSL__LARK_COUNTED) != 0;
    out->lazy = is_lazy(d);
    if (l->options.lexer)
      out->token = tsl__lark_token_of(l, module, node, out->value, out->counted);
    return !tsl__lark_failed(l);
  }
  out->is_rule = 1;
  uint64_t value = n.b ? tsl__lark_param_value(l, n.b - 1, b->at.value) : 0;
  out->value = rule_of(b, def, value, (uint32_t)b->arguments.n);
  return !failed(b);
}

static bool call(builder *b, uint32_t module, const tsl__lnode *n, uint32_t *rule) {
  tsl__lark *l = b->l;
  argument own[64], *all = own;
  size_t size = n->b * sizeof *all;
  if (n->b > 64 && !(all = tsl__alloc(&l->alloc, size))) return no_memory(b);
  bool fine = true;
  for (uint32_t i = 0; i < n->b && fine; i++)
    fine = evaluate(b, module, l->lists.at[n->a + i], &all[i]);
  uint32_t first = (uint32_t)b->arguments.n;
  for (uint32_t i = 0; i < n->b && fine; i++)
    fine = tsl__vec_push(&l->alloc, &b->arguments, all[i]) || no_memory(b);
  if (all != own) tsl__free(&l->alloc, all, size);
  if (!fine) return false;
  *rule = rule_of(b, tsl__lark_find(l, module, tsl__lark_text(l, module, n->at), n->c), 0, first);
  return !failed(b);
}

static uint32_t leaf(builder *b, uint32_t module, uint32_t node) {
  argument value;
  const tsl__ldef *d = &b->l->defs.at[b->at.def];
  if (!evaluate(b, module, node, &value)) return 0;
  if (value.is_rule) {
    uint32_t name = tsl__gbnf_node(b->l->g, TSL__G_REF, value.value, d->at, 0);
    return value.counted ? and_skip(b, name) : name;
  }
  return terminal(b, &b->l->defs.at[b->at.def], value.value, value.counted, value.lazy,
                  value.token);
}

/* The JSON Schema at a place of a text. */
static uint32_t schema(builder *b, uint32_t module, uint32_t at, uint32_t length) {
  tsl__lark *l = b->l;
  tsl__expr e = TSL__NONE;
  tsl_error error = {0};
  if (!l->options.json)
    return tsl__lark_fail(l, TSL_ERR_UNSUPPORTED, module, at, "schemas are not supported here"), 0;
  tsl_status status =
      l->options.json(l->options.json_ctx, l->x, tsl__lark_text(l, module, at), length, &e, &error);
  if (status) {
    tsl__lark_fail(l, status, module, at + error.offset, "in the schema: %s", error.message);
    if (l->error) tsl__error_pointer(l->error, error.pointer, strlen(error.pointer));
    return 0;
  }
  return tsl__gbnf_node(l->g, TSL__G_EXPR, e, 1, 0);
}

/* ---- grammars -------------------------------------------------------------------------------- */

/* The rule that a grammar begins with, by its name. */
static uint32_t start_of(builder *b, uint32_t module, const char *name) {
  tsl__lark *l = b->l;
  const tsl__lmodule *m = &l->modules.at[module];
  uint32_t start = tsl__lark_find(l, module, name, (uint32_t)strlen(name));
  if (start == TSL__LARK_NOWHERE && !module) {
    l->status = tsl__fail(l->error, TSL_ERR_SYNTAX, "the grammar has no rule \"%.100s\"", name);
    return start;
  }
  if (start == TSL__LARK_NOWHERE)
    return tsl__lark_fail(l, TSL_ERR_SYNTAX, 0, m->import_at, "the grammar has no rule \"%.100s\"",
                          name),
           start;
  const tsl__ldef *d = &l->defs.at[start];
  if (d->terminal || d->params || d->declared || d->parametric)
    return tsl__lark_fail(l, TSL_ERR_SYNTAX, d->module, d->at,
                          "the start is a rule, not a terminal, a template or a declaration; nor "
                          "has it a parameter"),
           TSL__LARK_NOWHERE;
  return start;
}

/* What a grammar as a whole accepts, as a rule. */
static uint32_t grammar(builder *b, uint32_t module, const char *name) {
  tsl__lark *l = b->l;
  const tsl__lmodule m = l->modules.at[module];
  const instance before = b->at;
  uint32_t start = 0, body, rule;
  if (m.rule != TSL__LARK_NOWHERE) return m.rule;
  if (!m.schema && (start = start_of(b, module, name)) == TSL__LARK_NOWHERE) return 0;
  const tsl__ldef d = m.schema ? (tsl__ldef){.module = module} : l->defs.at[start];
  bool lexed = !m.schema && !m.skip_once && m.skip_first && !tsl__lark_is_regular(&d);
  if (!suits_lexer(l, module, d.at, lexed)) return 0;
  rule = l->modules.at[module].rule = new_rule(b, &d);
  if (failed(b)) return 0;
  if (m.schema) {
    body = schema(b, module, m.import_at, (uint32_t)m.length - m.import_at);
  } else {
    b->at = (instance){start, rule, 0, 0, 0};
    argument value = {1, 0, 0, 0, 0};
    if (!tsl__lark_is_regular(&d))
      value.value = rule_of(b, start, 0, (uint32_t)b->arguments.n);
    else if (d.captured || d.counted)
      value = (argument){1, marked_terminal(b, start), 1, 0, 0};
    body = !value.value && tsl__lark_is_regular(&d) && !value.counted
               ? terminal(b, &d, d.value, d.traits & TSL__LARK_COUNTED, is_lazy(&d), 0)
               : tsl__gbnf_node(l->g, TSL__G_REF, value.value, d.at, 0);
    if (value.counted) body = and_skip(b, body);
    if (m.skip_first && m.skip != TSL__EPS && !l->options.lexer)
      body = tsl__gbnf_pair(l->g, tsl__gbnf_node(l->g, TSL__G_EXPR, m.skip, 0, 0), body);
    b->at = before;
  }
  if (failed(b)) return 0;
  l->g->rules.at[rule].body = body;
  return rule;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static uint32_t build(builder *b, uint32_t module, uint32_t node);

/* A rule with [stop="x"] before a string that begins with "x": the rule has read it already. The
 * rest of that string; NOWHERE: it is not so. */
static uint32_t after_stop(builder *b, uint32_t module, uint32_t rule, uint32_t string) {
  tsl__lark *l = b->l;
  const tsl__lnode r = l->nodes.at[rule], s = l->nodes.at[string];
  tsl__string stop;
  if (r.kind != TSL__L_NAME || s.kind != TSL__L_LITERAL || s.c) return TSL__LARK_NOWHERE;
  const char *name = tsl__lark_text(l, module, r.at);
  if (param(b, name, r.a)) return TSL__LARK_NOWHERE;
  const tsl__ldef *d = &l->defs.at[tsl__lark_find(l, module, name, r.a)];
  if (!d->stops || !tsl__lark_suffix_text(l, d, &stop) || s.b < stop.length ||
      memcmp(l->bytes.at + s.a, stop.at, stop.length))
    return TSL__LARK_NOWHERE;
  if (s.b == stop.length) return 0;
  return tsl__lark_node(l, TSL__L_LITERAL, s.at, s.a + stop.length, s.b - stop.length, 0);
}

/* A sequence or a choice, item by item. */
static uint32_t list(builder *b, uint32_t module, const tsl__lnode *n) {
  size_t base = b->pending.n;
  bool sequence = n->kind == TSL__L_SEQ;
  for (uint32_t i = 0; i < n->b && !failed(b); i++) {
    uint32_t node = b->l->lists.at[n->a + i];
    if (sequence && i) {
      uint32_t rest = after_stop(b, module, b->l->lists.at[n->a + i - 1], node);
      if (rest != TSL__LARK_NOWHERE) node = rest;
    }
    uint32_t item = build(b, module, node);
    if (!item && sequence) continue;
    if (!tsl__vec_push(&b->l->alloc, &b->pending, item)) no_memory(b);
  }
  uint32_t made = 0;
  if (!failed(b))
    made = tsl__gbnf_list(b->l->g, sequence ? TSL__G_SEQ : TSL__G_ALT,
                          b->pending.n > base ? b->pending.at + base : NULL,
                          (uint32_t)(b->pending.n - base));
  b->pending.n = base;
  return made;
}

/* Depth: the node's height. */
static uint32_t build(builder *b, uint32_t module, uint32_t node) {
  const tsl__lnode n = b->l->nodes.at[node];
  uint32_t child;
  bool lexed = n.kind != TSL__L_TOKEN && n.kind != TSL__L_TOKENS && n.kind != TSL__L_JSON &&
               n.kind != TSL__L_GRAMMAR && n.kind != TSL__L_EXPR;
  if (failed(b) || !suits_lexer(b->l, module, n.at, lexed)) return 0;
  switch ((tsl__lkind)n.kind) {
  case TSL__L_EMPTY: return 0;
  case TSL__L_LITERAL:
  case TSL__L_RANGE:
  case TSL__L_PATTERN:
  case TSL__L_EXPR:
  case TSL__L_NAME:
  case TSL__L_CALL: return leaf(b, module, node);
  case TSL__L_SEQ:
  case TSL__L_ALT: return list(b, module, &n);
  case TSL__L_AND:
  case TSL__L_NOT: break; /* checked by define.c */
  case TSL__L_TOKEN: return and_skip(b, tsl__gbnf_node(b->l->g, TSL__G_TOKEN, n.a, n.b, n.c));
  case TSL__L_TOKENS: return and_skip(b, tsl__gbnf_node(b->l->g, TSL__G_TOKENS, n.a, 0, 0));
  case TSL__L_JSON: return and_skip(b, schema(b, module, n.a, n.b));
  case TSL__L_GRAMMAR:
    child = grammar(b, n.a, "start");
    return failed(b) ? 0 : and_skip(b, tsl__gbnf_node(b->l->g, TSL__G_REF, child, n.at, 0));
  case TSL__L_IF:
    if (tsl__lark_param_holds(b->l, n.b, b->at.value)) return build(b, module, n.a);
    return tsl__gbnf_node(b->l->g, TSL__G_EXPR, TSL__NONE, 0, 0);
  case TSL__L_REPEAT:
    child = build(b, module, n.a);
    if (!child || (n.b == 1 && n.c == 1)) return child;
    return tsl__gbnf_node(b->l->g, TSL__G_REPEAT, child, n.b, n.c);
  }
  return 0;
}

/* The body of an instance: of its definition, with what %extend added. */
static bool build_instance(builder *b) {
  tsl__lark *l = b->l;
  size_t base = b->pending.n;
  for (uint32_t i = l->defs.at[b->at.def].body; i != TSL__LARK_NOWHERE; i = l->bodies.at[i].next) {
    uint32_t node = build(b, l->bodies.at[i].module, l->bodies.at[i].node);
    if (!tsl__vec_push(&l->alloc, &b->pending, node)) return no_memory(b);
  }
  if (failed(b)) return false;
  uint32_t body =
      tsl__gbnf_list(l->g, TSL__G_ALT, b->pending.at + base, (uint32_t)(b->pending.n - base));
  l->g->rules.at[b->at.rule].body = body;
  b->pending.n = base;
  return !failed(b);
}

/* ---- rules that a lexer reads ---------------------------------------------------------------- */

/* Lark keeps a rule that another rule uses that it keeps. So rules that use each other are kept
 * though the start leads to none of them, and the basic lexer takes their terminals, too. */

/* Notes in `used` what a node of rule `by` names. Depth: the node's height. */
static void note_uses(builder *b, uint32_t by, uint32_t module, uint32_t node, bool looped,
                      uint8_t *used) {
  tsl__lark *l = b->l;
  const tsl__lnode n = l->nodes.at[node];
  bool list = n.kind == TSL__L_SEQ || n.kind == TSL__L_ALT || n.kind == TSL__L_CALL;
  tsl__exprs_work(l->x, 1);
  if (n.kind == TSL__L_NAME || n.kind == TSL__L_CALL) {
    uint32_t length = n.kind == TSL__L_CALL ? n.c : n.a;
    uint32_t def = tsl__lark_find(l, module, tsl__lark_text(l, module, n.at), length);
    if (def != TSL__LARK_NOWHERE && (def != by || looped)) used[def] = 1;
  }
  /* a loop is a rule of its own in Lark, and so is a template with its arguments */
  if (n.kind == TSL__L_REPEAT) note_uses(b, by, module, n.a, looped || n.c == TSL__INF, used);
  if (n.kind == TSL__L_IF) note_uses(b, by, module, n.a, looped, used);
  for (uint32_t i = 0; list && i < n.b; i++)
    note_uses(b, by, module, l->lists.at[n.a + i], looped || n.kind == TSL__L_CALL, used);
}

/* One round: `kept` loses the rules that no kept rule uses. Has it lost some? */
static bool drop_unused(builder *b, uint8_t *kept, uint8_t *used) {
  tsl__lark *l = b->l;
  bool lost = false;
  memset(used, 0, l->defs.n);
  for (uint32_t i = 0; i < l->defs.n; i++)
    for (uint32_t k = l->defs.at[i].body; kept[i] && k != TSL__LARK_NOWHERE;
         k = l->bodies.at[k].next)
      note_uses(b, i, l->bodies.at[k].module, l->bodies.at[k].node, false, used);
  for (uint32_t i = 0; i < l->defs.n; i++) {
    lost |= kept[i] && !used[i];
    kept[i] &= used[i];
  }
  return lost;
}

static bool build_kept(builder *b) {
  tsl__lark *l = b->l;
  size_t size = 2 * l->defs.n;
  uint8_t *kept = l->options.lexer == TSL__LARK_BASIC ? tsl__alloc(&l->alloc, size) : NULL;
  if (!kept) return l->options.lexer != TSL__LARK_BASIC || no_memory(b);
  for (uint32_t i = 0; i < l->defs.n; i++) {
    const tsl__ldef *d = &l->defs.at[i];
    kept[i] = !d->terminal && !d->declared && !d->parametric && d->module == l->top;
  }
  while (!failed(b) && drop_unused(b, kept, kept + l->defs.n)) {
  }
  for (uint32_t i = 0; i < l->defs.n && !failed(b); i++)
    if (kept[i] && !l->defs.at[i].params && !tsl__lark_is_regular(&l->defs.at[i]))
      rule_of(b, i, 0, (uint32_t)b->arguments.n);
  tsl__free(&l->alloc, kept, size);
  return !failed(b);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool build_all(builder *b, uint32_t *root) {
  tsl__lark *l = b->l;
  *root = grammar(b, l->top, l->options.start ? l->options.start : "start");
  if (failed(b) || !build_kept(b)) return false;
  for (size_t i = 0; i < b->instances.n && !failed(b); i++) {
    b->at = b->instances.at[i];
    if (!build_instance(b)) return false;
  }
  return !failed(b);
}

bool tsl__lark_build(tsl__lark *l, uint32_t *root) {
  builder b = {.l = l};
  bool fine = build_all(&b, root);
  tsl__vec_free(&l->alloc, &b.instances);
  tsl__vec_free(&l->alloc, &b.arguments);
  tsl__vec_free(&l->alloc, &b.pending);
  tsl__index_free(&b.templates, &l->alloc);
  return fine;
}
