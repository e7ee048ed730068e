/* charset.h - sets of code points as sorted ranges, and where they come from.
 *
 * Unicode properties and case folding are looked up in PCRE2, never copied into tables of our own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_EXPR_CHARSET_H
#define TSL_COMPILER_EXPR_CHARSET_H

#include "runtime/core/base.h"

#define TSL__CP_MAX 0x10FFFFu

typedef struct tsl__range {
  uint32_t lo, hi;
} tsl__range; /* both ends included */

/* Sorted, disjoint and non-adjacent after tsl__charset_normalise; the add calls may leave it
 * otherwise. Zero-initialised is empty. */
typedef struct tsl__charset {
  TSL__VEC(tsl__range) ranges;
} tsl__charset;

bool tsl__charset_add(const tsl_allocator *a, tsl__charset *s, uint32_t lo, uint32_t hi);
bool tsl__charset_add_set(const tsl_allocator *a, tsl__charset *s, const tsl__charset *other);
void tsl__charset_normalise(tsl__charset *s);
/* Complement within 0 … TSL__CP_MAX. */
bool tsl__charset_negate(const tsl_allocator *a, tsl__charset *s);
/* Add every code point that is equal to a member when case is ignored (simple case folding). */
bool tsl__charset_fold(const tsl_allocator *a, tsl__charset *s);
/* Add the code points with a Unicode property, by the name that PCRE2 or ECMA-262 gives it ("L",
 * "Lu", "Script=Greek", "Greek", "Alphabetic"). TSL_ERR_SYNTAX: nobody knows it. `until` ends it
 * early (TSL_ERR_CANCELLED); NULL: nothing does. Cost: some milliseconds. */
tsl_status tsl__charset_add_property(const tsl_allocator *a, const tsl__until *until,
                                     tsl__charset *s, const char *name, size_t length);
/* No code point past ASCII. */
bool tsl__charset_is_ascii(const tsl__charset *s);
bool tsl__charset_has(const tsl__charset *s, uint32_t cp);
void tsl__charset_free(const tsl_allocator *a, tsl__charset *s);

#endif
