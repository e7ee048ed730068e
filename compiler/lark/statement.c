/* statement.c - what begins with '%' at the beginning of a line.
 *
 * Problem   A statement changes what other parts of a grammar mean, some of them in other texts.
 * Idea      A statement becomes an action in the list of its module. The parser does none of them;
 *           define.c and imports.c do, when all texts are there. %llguidance alone acts at once, as
 *           it is about its own module.
 * Example   %ignore " " leaves a definition without a name and an action IGNORE.
 *
 * %ignore, %declare, %import, %override and %extend are Lark's. %llguidance {…} is llguidance's:
 * its options are JSON, and several of them are one. A grammar that has it begins with what is
 * ignored only if "allow_initial_skip" says so, as llguidance has it. Options that say nothing of
 * the language are accepted, and so are those that nobody knows, as llguidance does. The report of
 * the grammar names them.
 *
 * Tested by tests/lark/test_lark.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/json/json.h"
#include "compiler/lark/scan.h"

/* %ignore takes what a rule takes: a name, or items and alternatives of its own. */
static bool parse_ignore(tsl__lscan *p) {
  tsl__ldef d = {
      .module = p->module, .terminal = true, .body = TSL__LARK_NOWHERE, .rule = TSL__LARK_NOWHERE};
  tsl__scan_skip(p, false);
  d.at = (uint32_t)p->at;
  uint32_t node = tsl__scan_body(p, 0, true);
  if (!tsl__scan_end_line(p)) return false;
  if (!node) return FAIL_AT(p, d.at, "%%ignore of an empty terminal");
  if (p->l->modules.at[p->module].root != p->module) return true; /* an import's own affair */
  return tsl__scan_act(p, TSL__LARK_IGNORE, &d, node);
}

/* %declare X, Y: names of terminals that a lexer of the caller's makes. Here they may be defined
 * later; one that never is, is an error where it is used. */
static bool parse_declare(tsl__lscan *p) {
  tsl__scan_skip(p, false);
  while (!tsl__scan_at_end_of_line(p)) {
    tsl__ldef d = {.module = p->module,
                   .at = (uint32_t)p->at,
                   .body = TSL__LARK_NOWHERE,
                   .rule = TSL__LARK_NOWHERE,
                   .declared = true};
    d.length = tsl__scan_name(p, "a name", &d.terminal);
    if (!d.length) return false;
    if (!tsl__scan_act(p, TSL__LARK_DECLARE, &d, 0)) return false;
    tsl__scan_skip(p, false);
  }
  return true;
}

/* A name of an %import, as two numbers of lists. */
static bool import_name(tsl__lscan *p) {
  bool terminal = false;
  uint32_t at = (uint32_t)p->at, n = tsl__scan_name(p, "a name", &terminal);
  if (!n) return false;
  if (!tsl__vec_push(&p->l->alloc, &p->l->lists, at) ||
      !tsl__vec_push(&p->l->alloc, &p->l->lists, n))
    return tsl__lark_no_memory(p->l);
  return true;
}

/* %import a.b.X, with an alias behind `->`, or with a list of names in brackets behind a.b. A dot
 * in front makes the path relative. The path and the names are kept as places in the text. */
static bool parse_import(tsl__lscan *p, uint32_t start) {
  tsl__limport i = {.module = p->module, .at = start};
  tsl__scan_skip(p, false);
  i.relative = tsl__scan_take(p, '.');
  i.path = (uint32_t)p->l->lists.n;
  do {
    if (!import_name(p)) return false;
    i.parts++;
  } while (tsl__scan_take(p, '.'));
  i.names = i.path + 2 * --i.parts;
  i.count = 1;
  tsl__scan_skip(p, false);
  if (tsl__scan_peek(p) == '(') {
    i.parts++;
    i.names = (uint32_t)p->l->lists.n;
    i.count = 0;
    do {
      p->at++;
      tsl__scan_skip(p, true);
      if (!import_name(p)) return false;
      i.count++;
      tsl__scan_skip(p, true);
    } while (tsl__scan_peek(p) == ',');
    if (!tsl__scan_take(p, ')')) return FAIL(p, "expected ',' or ')'");
  } else if (tsl__scan_take_text(p, "->")) {
    bool terminal = false;
    tsl__scan_skip(p, false);
    i.alias = (uint32_t)p->at;
    i.alias_length = tsl__scan_name(p, "the name to import it as", &terminal);
    if (!i.alias_length) return false;
  }
  if (!i.parts) return FAIL_AT(p, start, "%%import names a grammar and what to take from it");
  if (!tsl__vec_push(&p->l->alloc, &p->l->imports, i)) return tsl__lark_no_memory(p->l);
  return tsl__scan_end_line(p);
}

/* ---- options of llguidance ------------------------------------------------------------------- */

typedef enum option_kind {
  OPTION_SKIP_FIRST,
  OPTION_REPETITION,
  OPTION_INVALID,
  OPTION_NONE
} option_kind;

/* One option of %llguidance. "once" of skip_repetition makes what is ignored one text instead of
 * any number. Of an option that nobody knows there is a note in the report. */
static bool parse_option(tsl__lscan *p, const tsl__json *o, uint32_t at) {
  static const struct {
    const char *name;
    option_kind kind;
  } all[] = {{"allow_initial_skip", OPTION_SKIP_FIRST},
             {"skip_repetition", OPTION_REPETITION},
             {"allow_invalid_utf8", OPTION_INVALID},
             {"no_forcing", OPTION_NONE}};
  tsl__lmodule *m = &p->l->modules.at[p->module];
  bool yes = o->kind == TSL__JSON_TRUE, flag = yes || o->kind == TSL__JSON_FALSE;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (strlen(all[i].name) != o->key_length || memcmp(all[i].name, o->key, o->key_length))
      continue;
    if (all[i].kind == OPTION_REPETITION) {
      m->skip_once = tsl__json_says(o, "once");
      return m->skip_once || tsl__json_says(o, "many") || tsl__json_says(o, "repeat") ||
             FAIL_AT(p, at + o->offset, "skip_repetition is \"once\" or \"many\"");
    }
    if (!flag) return FAIL_AT(p, at + o->offset, "%s is true or false", all[i].name);
    if (all[i].kind == OPTION_SKIP_FIRST) m->skip_first = yes;
    if (all[i].kind == OPTION_INVALID && yes)
      return UNSUPPORTED(p, at + o->offset, "allow_invalid_utf8 is not supported: texts are UTF-8");
    return true;
  }
  return tsl__lark_note(p->l, p->module, at, "%llguidance", "the option is not known", o->key,
                        o->key_length);
}

/* %llguidance and its JSON. A second one adds to the first: the same option again counts as the
 * later one says. */
static bool parse_options(tsl__lscan *p) {
  tsl__arena arena;
  tsl__json *root = NULL;
  tsl_error error = {0};
  tsl__scan_skip(p, true);
  uint32_t start = (uint32_t)p->at;
  if (!tsl__scan_object(p, "%llguidance")) return false;
  tsl__arena_init(&arena, &p->l->alloc);
  const tsl__until until = tsl__exprs_until(p->l->x);
  tsl_status status = tsl__json_parse(&arena, &until, p->text + start, p->at - start,
                                      tsl__json_depth(p->l->max_depth), &root, &error);
  bool fine = status == TSL_OK;
  if (!fine)
    tsl__lark_fail(p->l, status, p->module, start + error.offset, "in %%llguidance: %s",
                   error.message);
  tsl__lmodule *m = &p->l->modules.at[p->module];
  if (fine && !m->llguidance) m->llguidance = true, m->skip_first = false;
  for (uint32_t i = 0; fine && i < root->length; i++)
    fine = parse_option(p, &root->items[i], start);
  tsl__arena_free(&arena);
  return fine && tsl__scan_end_line(p);
}

/* ---- all of them ----------------------------------------------------------------------------- */

bool tsl__scan_statement(tsl__lscan *p) {
  uint32_t start = (uint32_t)p->at;
  bool extend = false;
  if (tsl__scan_take_text(p, "%import")) return parse_import(p, start);
  if (tsl__scan_take_text(p, "%ignore")) return parse_ignore(p);
  if (tsl__scan_take_text(p, "%declare")) return parse_declare(p);
  if (tsl__scan_take_text(p, "%llguidance")) return parse_options(p);
  if (tsl__scan_take_text(p, "%override") || (extend = tsl__scan_take_text(p, "%extend"))) {
    tsl__scan_skip(p, false);
    return tsl__scan_definition(p, extend ? TSL__LARK_EXTEND : TSL__LARK_OVERRIDE);
  }
  return FAIL(p, "an unknown directive");
}
