/* unicode_cache.h - what PCRE2 says about Unicode, remembered with a layer of expressions and
 * counted as steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_EXPR_UNICODE_CACHE_H
#define TSL_COMPILER_EXPR_UNICODE_CACHE_H

#include "compiler/expr/charset.h"
#include "compiler/expr/expr.h"

/* tsl__charset_add_property and tsl__charset_fold, with x's allocator. Where they fail because the
 * steps or the time are used up, x says so. */
tsl_status tsl__unicode_property(tsl__exprs *x, tsl__charset *s, const char *name, size_t length);
bool tsl__unicode_fold(tsl__exprs *x, tsl__charset *s);
/* From now on what layers on top of x ask is remembered with x, for all of them; from any
 * thread. */
bool tsl__unicode_share(tsl__exprs *x);

#endif
