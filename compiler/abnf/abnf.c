/* abnf.c - the front end's entry: the passes of abnf.h, one after the other.
 *
 * The text is copied, the core rules behind it: rules have their names there, and are unfolded when
 * they are first needed. Errors count lines in the text alone.
 *
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
