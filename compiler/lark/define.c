/* define.c - definitions in their order, %override, %extend, %declare; names that must be there.
 *
 * Problem   %override INT in a grammar changes what the imported grammar's own rules use. So a name
 *           cannot be followed while the text is read.
 * Idea      The parser leaves a list of actions for each module. They are done here, all of a
 *           module in the order of its text. A module is done after those that it imports, so that
 *           it can change the definitions that it imports. The last module was read last, and
 *           imports none that was read after it: so the modules are done from the last to the
 *           first.
 * Bodies    A definition has a list of bodies. %extend adds one, which means one more alternative.
 *           %override makes a new list.
 * Example     a.lark   n: INT
 *             main     %import .a.n   %override INT: "0"   start: n
 *           a.lark is done first. Then main changes the definition of INT that it has from there,
 *           and `start` accepts 0 and nothing else.
 * Checks    Only then are the names within bodies looked up, of all definitions, used or not. Each
 *           must be there, with as many arguments as it has parameters. A message names the place
 *           where the name is used.
 * Refused   %extend and %override of rules with attributes, as two bodies would have one suffix. A
 *           parameter of a template that is used as a template itself.
 * Cost      Linear in the text; a name is found by its hash.
 *
 * Tested by tests/lark/test_lark.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/items.h"

#define FAIL(l, d, ...) tsl__lark_fail((l), TSL_ERR_SYNTAX, (d)->module, (d)->at, __VA_ARGS__)

static const char *name_of(const tsl__lark *l, const tsl__ldef *d) {
  return tsl__lark_text(l, d->module, d->at);
}

/* In front of the bodies that are there: alternatives have no order. */
static bool add_body(tsl__lark *l, tsl__ldef *d, uint32_t module, uint32_t node) {
  tsl__lbody body = {module, node, d->body};
  if (!tsl__vec_push(&l->alloc, &l->bodies, body)) return tsl__lark_no_memory(l);
  d->body = (uint32_t)l->bodies.n - 1;
  return true;
}

static bool add(tsl__lark *l, const tsl__ldef *d) {
  if (l->defs.n >= TSL__LARK_RULES_MAX)
    return tsl__lark_fail(l, TSL_ERR_LIMIT, d->module, d->at, "too many definitions (limit %u)",
                          TSL__LARK_RULES_MAX);
  return tsl__vec_push(&l->alloc, &l->defs, *d) || tsl__lark_no_memory(l);
}

static bool add_named(tsl__lark *l, const tsl__ldef *d) {
  return add(l, d) && tsl__lark_add_name(l, (tsl__lname){.module = d->module,
                                                         .text_of = d->module,
                                                         .at = d->at,
                                                         .length = d->length,
                                                         .definition = (uint32_t)l->defs.n - 1});
}

/* A definition may stand after its %declare, and then takes its place. Twice is an error: the
 * author of one of the two does not know of the other. */
static bool define(tsl__lark *l, tsl__ldef *d, uint32_t node) {
  const tsl__lname *old = tsl__lark_name(l, d->module, name_of(l, d), d->length);
  if (!add_body(l, d, d->module, node)) return false;
  if (d->temperature_length &&
      !tsl__lark_note(l, d->module, d->at, "temperature", "for the host to act upon",
                      tsl__lark_text(l, d->module, d->temperature), d->temperature_length))
    return false;
  if (!old) return add_named(l, d);
  if (old->definition == TSL__LARK_NOWHERE || !l->defs.at[old->definition].declared)
    return FAIL(l, d, "\"%.*s\" is defined twice; %%override or %%extend changes it",
                tsl__lark_shown(d->length), name_of(l, d));
  l->defs.at[old->definition] = *d;
  return true;
}

/* Do two templates have the same parameters, by name? The bodies of both use them. */
static bool same_params(const tsl__lark *l, const tsl__ldef *a, const tsl__ldef *b) {
  if (a->params != b->params) return false;
  for (uint32_t i = 0; i < a->params; i++) {
    const uint32_t *m = l->params.at + a->first_param + 2 * (size_t)i;
    const uint32_t *n = l->params.at + b->first_param + 2 * (size_t)i;
    if (m[1] != n[1] ||
        memcmp(tsl__lark_text(l, a->module, m[0]), tsl__lark_text(l, b->module, n[0]), m[1]))
      return false;
  }
  return true;
}

static bool has_attributes(const tsl__ldef *d) {
  return d->lazy || d->suffix || d->counted || d->captured || d->parametric;
}

/* %override and %extend. The definition keeps its place and its number, which other modules have;
 * what stands in it changes. */
static bool change(tsl__lark *l, bool extend, tsl__ldef *d, uint32_t node) {
  uint32_t old = tsl__lark_find(l, d->module, name_of(l, d), d->length);
  const char *verb = extend ? "%extend" : "%override";
  int shown = tsl__lark_shown(d->length);
  if (old == TSL__LARK_NOWHERE)
    return FAIL(l, d, "%s of \"%.*s\", which is not defined before", verb, shown, name_of(l, d));
  tsl__ldef *o = &l->defs.at[old];
  if (o->terminal != d->terminal)
    return FAIL(l, d, "%s of \"%.*s\", which is %s", verb, shown, name_of(l, d),
                o->terminal ? "a terminal" : "a rule");
  if (has_attributes(d) || (extend && has_attributes(o)))
    return tsl__lark_fail(l, TSL_ERR_UNSUPPORTED, d->module, d->at,
                          "%s with attributes is not supported", verb);
  if (!extend) return *o = *d, add_body(l, o, d->module, node);
  if (o->declared)
    return FAIL(l, d, "%s of \"%.*s\", which is only declared", verb, shown, name_of(l, d));
  if (!same_params(l, o, d))
    return FAIL(l, d, "%s of \"%.*s\" with other parameters", verb, shown, name_of(l, d));
  return add_body(l, o, d->module, node);
}

/* %ignore has a definition without a name. The pass over terminals compiles it with the others. */
static bool ignore(tsl__lark *l, tsl__ldef *d, uint32_t node) {
  if (!add_body(l, d, d->module, node) || !add(l, d)) return false;
  return tsl__vec_push(&l->alloc, &l->ignores, (uint32_t)l->defs.n - 1) || tsl__lark_no_memory(l);
}

static bool act(tsl__lark *l, tsl__laction *a) {
  tsl__ldef *d = &a->definition;
  switch (a->how) {
  case TSL__LARK_DEFINE: return define(l, d, a->node);
  case TSL__LARK_OVERRIDE:
  case TSL__LARK_EXTEND: return change(l, a->how == TSL__LARK_EXTEND, d, a->node);
  case TSL__LARK_IGNORE: return ignore(l, d, a->node);
  case TSL__LARK_DECLARE:
    return tsl__lark_name(l, d->module, name_of(l, d), d->length) || add_named(l, d);
  }
  return false;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static bool is_param(const tsl__lark *l, const tsl__ldef *d, const char *name, uint32_t length) {
  for (uint32_t i = 0; i < d->params; i++) {
    const uint32_t *p = l->params.at + d->first_param + 2 * (size_t)i;
    if (p[1] == length && !memcmp(tsl__lark_text(l, d->module, p[0]), name, length)) return true;
  }
  return false;
}

/* A name within a body: a parameter of the template that it stands in, or a definition. How it is
 * used must fit: arguments for a template, a value for a rule with a parameter. */
static bool check_name(tsl__lark *l, const tsl__ldef *d, uint32_t module, const tsl__lnode *n) {
  bool call = n->kind == TSL__L_CALL;
  uint32_t length = call ? n->c : n->a;
  const char *name = tsl__lark_text(l, module, n->at);
  int shown = tsl__lark_shown(length);
  bool param = is_param(l, d, name, length);
  if (param && call)
    return tsl__lark_fail(l, TSL_ERR_UNSUPPORTED, module, n->at,
                          "a parameter used as a template is not supported");
  if (param) return true;
  uint32_t def = tsl__lark_find(l, module, name, length);
  if (def == TSL__LARK_NOWHERE)
    return tsl__lark_fail(l, TSL_ERR_SYNTAX, module, n->at, "\"%.*s\" is not defined", shown, name);
  const tsl__ldef *to = &l->defs.at[def];
  if (to->declared)
    return tsl__lark_fail(l, TSL_ERR_UNSUPPORTED, module, n->at,
                          "\"%.*s\" is declared, but not defined: terminals of a caller's own "
                          "lexer are not supported",
                          shown, name);
  if (to->params != (call ? n->b : 0))
    return tsl__lark_fail(l, TSL_ERR_SYNTAX, module, n->at,
                          "template \"%.*s\" takes %u arguments, not %u", shown, name, to->params,
                          call ? n->b : 0);
  if (call && !to->params)
    return tsl__lark_fail(l, TSL_ERR_SYNTAX, module, n->at, "\"%.*s\" is no template", shown, name);
  if (to->parametric != (!call && n->b))
    return tsl__lark_fail(l, TSL_ERR_SYNTAX, module, n->at,
                          to->parametric ? "rule \"%.*s\" has a parameter: write %.*s::value"
                                         : "rule \"%.*s\" has no parameter: write %.*s",
                          shown, name, shown, name);
  return true;
}

/* Depth: the node's height. */
static bool check(tsl__lark *l, const tsl__ldef *d, uint32_t module, uint32_t node) {
  const tsl__lnode n = l->nodes.at[node];
  bool list = n.kind == TSL__L_SEQ || n.kind == TSL__L_ALT || n.kind == TSL__L_AND;
  tsl__exprs_work(l->x, 1);
  if (n.kind == TSL__L_CALL || n.kind == TSL__L_NAME)
    if (!check_name(l, d, module, &n)) return false;
  if (!d->terminal && (n.kind == TSL__L_AND || n.kind == TSL__L_NOT))
    return tsl__lark_fail(l, TSL_ERR_SYNTAX, module, n.at,
                          "'&' and '~' before an item stand in terminals only");
  if (n.kind == TSL__L_IF && !d->parametric)
    return tsl__lark_fail(l, TSL_ERR_SYNTAX, module, n.at,
                          "a condition stands in a rule with a parameter, name::_");
  if (n.kind == TSL__L_REPEAT || n.kind == TSL__L_NOT || n.kind == TSL__L_IF)
    return check(l, d, module, n.a);
  for (uint32_t i = 0; i < n.b && (list || n.kind == TSL__L_CALL); i++)
    if (!check(l, d, module, l->lists.at[n.a + i])) return false;
  return true;
}

/* Is a captured rule one terminal? Then what is ignored after it is no part of the capture. */
static bool is_one_terminal(tsl__lark *l, const tsl__ldef *d) {
  if (!d->captured || d->parametric || d->params || l->bodies.at[d->body].next != TSL__LARK_NOWHERE)
    return false;
  const tsl__lbody *b = &l->bodies.at[d->body];
  const tsl__lnode *n = &l->nodes.at[b->node];
  if (n->kind == TSL__L_NAME) {
    uint32_t def = tsl__lark_find(l, b->module, tsl__lark_text(l, b->module, n->at), n->a);
    return def != TSL__LARK_NOWHERE && l->defs.at[def].terminal;
  }
  return n->kind == TSL__L_LITERAL || n->kind == TSL__L_RANGE || n->kind == TSL__L_PATTERN ||
         n->kind == TSL__L_EXPR;
}

bool tsl__lark_define(tsl__lark *l) {
  for (size_t m = l->modules.n; m-- > 0;)
    for (uint32_t i = l->modules.at[m].first_action; i != TSL__LARK_NOWHERE;
         i = l->actions.at[i].next)
      if (!act(l, &l->actions.at[i]) || tsl__lark_failed(l)) return false;
  for (size_t i = 0; i < l->defs.n; i++) {
    const tsl__ldef d = l->defs.at[i];
    for (uint32_t b = d.body; b != TSL__LARK_NOWHERE; b = l->bodies.at[b].next)
      if (!check(l, &d, l->bodies.at[b].module, l->bodies.at[b].node)) return false;
    if (tsl__lark_failed(l) || (d.suffix && !check(l, &d, d.module, d.suffix))) return false;
    if (d.captured) l->defs.at[i].single = is_one_terminal(l, &d);
  }
  return true;
}
