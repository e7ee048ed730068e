/* position.h - following a given text, and saying where and why it stops matching.
 *
 * Tested by tests/test_cli.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_POSITION_H
#define TSL_CLI_POSITION_H

#include "common.h"

/* Feed a text to a matcher that stands at its beginning. CLI_OK, CLI_NO after saying on stderr where it stopped matching and what was expected, CLI_BAD
 * after saying what went wrong. With `whole`, the text must also be complete, and a last line break that does not match is left out, as editors and
 * echo put one: *length is then the length without it. `name` is the text's name for messages. */
int position_follow(tsl_matcher *matcher, const char *name, const char *text, size_t *length, bool whole);

#endif
