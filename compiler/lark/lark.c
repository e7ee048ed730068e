/* lark.c - the front end's entry: the passes of lark.h, one after the other.
 *
 * Problem   A Lark text says less in one place than GBNF does. A name may come from another file,
 *           an %ignore counts everywhere, a template has no rules until it is used.
 * Idea      Each pass removes one such thing, and leaves a grammar that means the same. What is
 *           left at the end is a tree of compiler/gbnf/, which lowers it.
 *
 *             parse or grammars   text to definitions with a tree for each body (items.h)
 *             import              the definitions of other files; then define.c makes them final
 *             terminals           one expression for each terminal
 *             build               rules to GBNF's, templates and parameters instantiated
 *             lexemes             lazy rules against the terminals that may stand in their place
 *             rewrite             the texts as they are written within a string of a larger text
 *
 * Example   start: "a" b    b: X+    X: /[xy]/    %ignore " "
 *           X becomes the expression [xy]. The rule of b is (X " "*)+, that of start is
 *           " "* "a" " "* b: what is ignored stands behind every terminal, and once in front.
 * Order     A pass reads what the passes before it have made, and nothing else. So an error of an
 *           early pass is reported before one of a later pass, wherever they stand in the text.
 * Failure   The first error stays in `l.status`. Every pass returns false then, and all memory but
 *           that of `x` is freed at one place.
 * Cost      Linear in the text, beside what build.c instantiates.
 * Tested by tests/lark/test_lark.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/items.h"

#define DEFAULT_DEPTH 512u

/* The first module and the tree that rules go to. The grammar's own text lives as long as x: rules
 * have their names there. A text of no bytes gets one byte, so that its address is one. */
static bool begin(tsl__lark *l, const char *text, size_t length) {
  tsl__lmodule top = {.length = length,
                      .importer = TSL__LARK_NOWHERE,
                      .skip_first = true,
                      .rule = TSL__LARK_NOWHERE,
                      .first_action = TSL__LARK_NOWHERE};
  l->g = tsl__gbnf_new(l->x);
  if (!l->g) return tsl__lark_no_memory(l);
  l->g->text = tsl__alloc(&l->alloc, length ? length : 1);
  if (!l->g->text) return tsl__lark_no_memory(l);
  l->g->length = length ? length : 1;
  if (length) memcpy(l->g->text, text, length);
  top.text = l->g->text;
  if (!tsl__vec_push(&l->alloc, &l->modules, top)) return tsl__lark_no_memory(l);
  return tsl__lark_node(l, TSL__L_EMPTY, 0, 0, 0, 0) == 0 && !tsl__lark_failed(l);
}

/* Editors write a byte order mark that nobody sees. Lark refuses it as a character that no rule
 * begins with; here the message names it. */
static bool check_text(tsl__lark *l) {
  const tsl__lmodule *m = &l->modules.at[0];
  if (m->length >= 3 && !memcmp(m->text, "\xef\xbb\xbf", 3))
    return tsl__lark_fail(l, TSL_ERR_SYNTAX, 0, 0, "a byte order mark stands before the grammar");
  return true;
}

/* A body that is captured or counted. Its mark was made when build.c met the rule; the expression
 * is there only now. */
static tsl__expr wrap(void *ctx, uint32_t mark, tsl__expr body) {
  const tsl__lark *l = ctx;
  return l->options.marks(l->options.marks_ctx, l->x, &l->marks.at[mark - 1], body);
}

/* The grammar's texts as they are written in a larger one. A token has no other spelling. */
static bool rewrite(tsl__lark *l) {
  for (size_t i = 0; l->options.written && i < l->g->nodes.n; i++) {
    tsl__gnode *n = &l->g->nodes.at[i];
    if (n->kind == TSL__G_TOKEN || n->kind == TSL__G_TOKENS)
      return tsl__lark_fail(l, TSL_ERR_UNSUPPORTED, 0, 0,
                            "tokens are not supported in a grammar that stands within a string");
    if (n->kind != TSL__G_EXPR || n->a == TSL__NONE) continue;
    n->a = l->options.written(l->options.written_ctx, l->x, n->a);
  }
  return tsl__exprs_status(l->x) == TSL_OK || tsl__lark_failed(l);
}

/* A grammar begins with no brace: this is a list of grammars. */
static bool is_list(const tsl__lark *l) {
  const tsl__lmodule *m = &l->modules.at[0];
  size_t at = 0;
  while (at < m->length && memchr(" \t\r\n", m->text[at], 4)) at++;
  return at < m->length && m->text[at] == '{';
}

/* The parts of the text without effect, as one JSON array that lives as long as x. Each pass has
 * added its items behind a comma. */
static bool finish_report(tsl__lark *l) {
  size_t n = l->report.n;
  const char **out = l->options.report;
  if (!out) return true;
  *out = "[]";
  if (!n) return true;
  char *text = tsl__exprs_alloc(l->x, n + 3);
  if (!text) return tsl__lark_no_memory(l);
  text[0] = '[';
  memcpy(text + 1, l->report.at, n);
  memcpy(text + 1 + n, "]", 2);
  *out = text;
  return true;
}

tsl_status tsl__lark_compile(tsl__exprs *x, const tsl_vocab *vocab, const char *text, size_t length,
                             const tsl__lark_options *options, tsl__expr *out, tsl_error *error) {
  tsl__lark l = {.x = x,
                 .alloc = *tsl__exprs_allocator(x),
                 .vocab = vocab,
                 .options = *options,
                 .error = error};
  uint32_t root = 0;
  *out = TSL__NONE;
  l.max_depth = !options->max_depth                        ? DEFAULT_DEPTH
                : options->max_depth < TSL__GBNF_DEPTH_MAX ? options->max_depth
                                                           : TSL__GBNF_DEPTH_MAX;
  tsl__arena_init(&l.arena, &l.alloc);
  bool fine = begin(&l, text, length) && check_text(&l) &&
              (is_list(&l) ? tsl__lark_grammars(&l) : tsl__lark_parse(&l, 0)) &&
              tsl__lark_import(&l) && tsl__lark_terminals(&l) && tsl__lark_build(&l, &root) &&
              tsl__lark_lexemes(&l, &root) && tsl__lark_lex(&l, &root) && rewrite(&l) &&
              finish_report(&l);
  if (fine) {
    l.g->wrap = wrap;
    l.g->wrap_ctx = &l;
    l.status = tsl__gbnf_finish(l.g, root, out, error);
    l.g->wrap = NULL;
  }
  tsl__lark_free(&l);
  return l.status;
}
