/* repeats.h - does a JSON text that may be cut off repeat an item of an array, or a name of an
 * object?
 *
 * Too simple to be wrong: what is finished of the text is closed, parsed, and compared pair by
 * pair. A number or literal without anything after it is not finished.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_JUDGES_REPEATS_H
#define TSL_TESTS_JUDGES_REPEATS_H

#include <stdbool.h>
#include <stddef.h>

/* Also true where there is no telling: more than 100 open containers, 512 names, no JSON, no
 * memory. */
bool text_repeats_item(const char *text, size_t n);
/* Names are compared decoded. */
bool text_repeats_name(const char *text, size_t n);

#endif
