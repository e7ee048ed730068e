/* repeats.h - does a JSON text that may be cut off repeat an item of an array, or a name of an object?
 *
 * Too simple to be wrong: what is finished of the text is closed, parsed, and compared pair by pair. A number or literal without anything after it is not finished.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_FUZZ_REPEATS_H
#define TSL_FUZZ_REPEATS_H

#include <stdbool.h>
#include <stddef.h>

/* Also true where there is no telling: more than 100 open containers, no JSON, no memory. */
bool fuzz_repeats(const char *text, size_t n);

#endif
