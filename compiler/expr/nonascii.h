/* nonascii.h - one step by any non-ASCII character.
 *
 * Problem   A non-ASCII character has up to four bytes, and its first byte is one of some 50. To
 *           find what may follow any such character takes twenty derivatives, and as many
 *           expressions on the way.
 * Idea      Most patterns distinguish such characters by at most one class. Where each class in an
 *           expression has all of them or none, one derivative by a whole character serves for all.
 *           Otherwise the characters are split by the class that distinguishes them, and each part
 *           is tried. Or their first bytes decide: `.` in a pattern lacks only two characters, and
 *           both begin with 0xE2.
 * Example   After any of é, 漢 and 😀 what is left of [^x]*ab is [^x]*ab; what is left of
 *           [^x]ab|[0-9] is ab.
 * Tested by tests/expr/test_expr.c, tests/walk/test_subtract.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_EXPR_NONASCII_H
#define TSL_COMPILER_EXPR_NONASCII_H

#include "compiler/expr/deriv.h"

/* What is left of an expression, loops counted down, after any non-ASCII character of a class
 * (NULL: of any of all); NONE: none is legal. False: that depends on the character, or is not
 * known. Of an expression with calls, what its own frame reads: what is called is no part of
 * it. */
bool tsl__derive_nonascii(tsl__exprs *x, tsl__expr e, const tsl__nonascii_class *nonascii,
                          tsl__expr *out);
/* The same where that depends on the character: by sets of characters that are kept together.
 * False: of some it is not known, or there are more than TSL__NONASCII_MAX sets. */
#define TSL__NONASCII_MAX 8u
bool tsl__derive_nonascii_each(tsl__exprs *x, tsl__expr e, const tsl__nonascii_class *nonascii,
                               tsl__expr *out, uint32_t *n);
/* The same of the characters that begin with some bytes: bit 0 of *leads for 0xC2. Fewer are left
 * there, if only of those it is known, or that it is not. */
bool tsl__derive_leads(tsl__exprs *x, tsl__expr e, uint64_t *leads, tsl__expr *out);

#endif
