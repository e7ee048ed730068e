/* position.h - following a given text, and saying where and why it stops matching.
 *
 * Tested by tests/cli/test_cli.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_POSITION_H
#define TSL_CLI_POSITION_H

#include "cli/common.h"

typedef enum position_ends {
  POSITION_PREFIX, /* the text may stop anywhere */
  /* it must be complete; a last line break that does not match is left out, as editors and echo put
   * one */
  POSITION_TEXT,
  /* it must be complete; white space before and after it is left out where it does not match (RFC
   * 8259 allows it) */
  POSITION_JSON
} position_ends;

/* Line and column (1-based, bytes) of an offset. */
void position_of(const char *text, size_t offset, size_t *line, size_t *column);

/* Feed a text to a matcher that stands at its beginning. CLI_OK, CLI_NO after saying on stderr
 * where it stopped matching and what was expected, CLI_BAD after saying what went wrong. *start and
 * *length become the part of the text that was read. `name` is the text's name for messages. */
int position_follow(tsl_matcher *matcher, const char *name, const char *text, size_t *start,
                    size_t *length, position_ends ends);

#endif
