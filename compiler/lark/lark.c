/* lark.c - the front end's entry: the passes of lark.h, one after the other.
 *
 * Tested by tests/lark/test_lark.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/items.h"

#define DEFAULT_DEPTH 512u

/* The grammar's own text lives as long as x: rules have their names there. */
static bool begin(tsl__lark *l, const char *text, size_t length) {
  tsl__lmodule top = {.length = length, .importer = TSL__LARK_NOWHERE};
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

static bool check_text(tsl__lark *l) {
  const tsl__lmodule *m = &l->modules.at[0];
  if (m->length >= 3 && !memcmp(m->text, "\xef\xbb\xbf", 3))
    return tsl__lark_fail(l, TSL_ERR_SYNTAX, 0, 0, "a byte order mark stands before the grammar");
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
  bool fine = begin(&l, text, length) && check_text(&l) && tsl__lark_parse(&l, 0) &&
              tsl__lark_import(&l) && tsl__lark_terminals(&l) && tsl__lark_build(&l, &root);
  tsl__lark_free(&l);
  return fine ? tsl__gbnf_finish(l.g, root, out, error) : l.status;
}
