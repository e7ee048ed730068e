/* abnf.c - the front end's entry: the passes of abnf.h, one after the other.
 *
 * Problem   RFC texts name core rules such as DIGIT without defining them. A compile must find
 *           these, and an error must still count lines in the caller's text alone.
 * Idea      The text is copied, and the core rules are copied behind it, into the same block.
 *           `own` says where the caller's text ends. A rule's name points into the block: rules
 *           are unfolded when they are first needed, long after the compile has returned.
 * Steps     tsl__greader_begin the block, and an empty grammar of compiler/gbnf/ast.h
 *           tsl__abnf_parse    the rules of the text, then the core rules that they name (parse.c)
 *           tsl__greader_root  the rule that the caller named, or the first one
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

tsl_status tsl__abnf_compile(tsl__exprs *x, const char *text, size_t length, const char *root,
                             uint32_t max_depth, tsl__expr *out, tsl_error *error) {
  tsl__abnf r = {.in = {.x = x, .error = error}};
  *out = TSL__NONE;
  if (tsl__greader_begin(&r.in, text, length, tsl__abnf_core_rules, max_depth)) {
    r.in.g->any_case = true;
    tsl__abnf_parse(&r);
  }
  uint32_t start = root ? tsl__greader_root(&r.in, root) : 0;
  if (!r.in.status) r.in.status = tsl__gbnf_finish(r.in.g, start, out, error);
  tsl__greader_end(&r.in);
  return r.in.status;
}
