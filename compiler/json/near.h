/* near.h - how far two names are apart, as people misspell them.
 *
 * Compared are letters, without case and without _, - and $: maxlength, max_length and MaxLength
 * are one word. Used by errors, reports and the lint of schemas, and by names of presets.
 *
 * Tested by tests/schema/test_schema_report.c, tests/tools/test_named_presets.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_JSON_NEAR_H
#define TSL_COMPILER_JSON_NEAR_H

#include "runtime/core/base.h"

#define TSL__WORD_MAX 40u /* letters of a word that is compared */

/* The letters of a word. Returns how many; UINT32_MAX: more than `out` holds. */
uint32_t tsl__near_letters(const char *text, size_t n, char out[TSL__WORD_MAX]);

/* How many letters have to be changed, left out, added or swapped with the next to make b of a.
 * UINT32_MAX: more than `most`. Cost: n × m steps. */
uint32_t tsl__near_apart(const char *a, uint32_t n, const char *b, uint32_t m, uint32_t most);

#endif
