/* abnf.c - the front end's entry: the passes of abnf.h, one after the other.
 *
 * Problem   RFC texts name core rules such as DIGIT without defining them. A compile must find
 *           these, and an error must still count lines in the caller's text alone.
 * Idea      The text is copied, and the core rules are copied behind it, into the same block.
 *           `own` says where the caller's text ends. A rule's name points into the block: rules
 *           are unfolded when they are first needed, long after the compile has returned.
 * Steps     begin              the block, and an empty grammar of compiler/gbnf/ast.h
 *           tsl__abnf_parse    the rules of the text, then the core rules that they name (parse.c)
 *           find_root          the rule that the caller named, or the first one
 *           tsl__gbnf_finish   left recursion, placing and lowering, as for GBNF
 * Example   The text is `year = 4DIGIT`, 13 bytes. The block has these 13 bytes, then "ALPHA = …".
 *           The parser reads up to byte 13 and meets DIGIT, which has no definition yet. The line
 *           that begins with "DIGIT " lies behind byte 13, and is read as a rule like any other.
 * Failing   Each step sets r.status and the caller's error; the steps after it do nothing. What is
 *           behind `own` cannot be wrong, so an error's line and column are the caller's.
 * Cost      One copy of the text and of the core rules, which are under 1 KB.
 * Tested by tests/abnf/test_abnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/abnf/reader.h"

#define DEFAULT_DEPTH 512u

static bool begin(tsl__abnf *r, const char *text, size_t length) {
  size_t core = strlen(tsl__abnf_core_rules);
  if (length > INT32_MAX) {
    r->status = tsl__fail(r->error, TSL_ERR_LIMIT, "the grammar is longer than 2 GiB");
    return false;
  }
  r->g = tsl__gbnf_new(r->x);
  if (r->g) r->g->text = tsl__alloc(&r->g->alloc, length + core);
  if (!r->g || !r->g->text) {
    r->status = tsl__fail(r->error, TSL_ERR_NO_MEMORY, "out of memory");
    return false;
  }
  r->g->length = length + core;
  if (length) memcpy(r->g->text, text, length);
  memcpy(r->g->text + length, tsl__abnf_core_rules, core);
  r->text = r->g->text;
  r->own = length;
  r->length = length + core;
  return true;
}

static bool find_root(tsl__abnf *r, const char *name, uint32_t *root) {
  *root = name ? tsl__abnf_find(r, name, strlen(name)) : 0;
  if (*root != UINT32_MAX) return true;
  r->status = tsl__fail(r->error, TSL_ERR_SYNTAX, "the grammar has no rule \"%.100s\"", name);
  return false;
}

tsl_status tsl__abnf_compile(tsl__exprs *x, const char *text, size_t length, const char *root,
                             uint32_t max_depth, tsl__expr *out, tsl_error *error) {
  tsl__abnf r = {.x = x, .alloc = *tsl__exprs_allocator(x), .error = error};
  uint32_t start = 0;
  *out = TSL__NONE;
  r.max_depth = !max_depth                        ? DEFAULT_DEPTH
                : max_depth < TSL__GBNF_DEPTH_MAX ? max_depth
                                                  : TSL__GBNF_DEPTH_MAX;
  if (begin(&r, text, length)) tsl__abnf_parse(&r);
  if (!r.status && find_root(&r, root, &start)) r.status = tsl__gbnf_finish(r.g, start, out, error);
  tsl__vec_free(&r.alloc, &r.pending);
  tsl__index_free(&r.names, &r.alloc);
  return r.status;
}
