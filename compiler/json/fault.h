/* fault.h - what is wrong with a text that is nearly JSON, in words that say what to do.
 *
 * Tested by tests/json/test_json_fault.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_JSON_FAULT_H
#define TSL_COMPILER_JSON_FAULT_H

#include <stddef.h>

/* A reader of JSON stopped at byte `at` of the text, and says `message`. Returns a message that
 * names the fault (static), or `message`. */
const char *tsl__json_fault(const char *text, size_t length, size_t at, const char *message);

#endif
