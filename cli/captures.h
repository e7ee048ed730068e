/* captures.h - taking values out of a finished text.
 *
 * Both write one JSON object on one line to stdout.
 * Tested by tests/cli/test_cli_commands.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_CAPTURES_H
#define TSL_CLI_CAPTURES_H

#include "cli/common.h"

/* The named groups of a regex, in the order of their numbers: {"name": "text", "unset": null}.
 * PCRE2 finds them: the whole text must match, or, with `search`, some place in it. Returns an exit
 * code. */
int captures_regex(const char *pattern, size_t pattern_length, const tsl_regex_options *options,
                   const char *text, size_t length);

/* Values of a well-formed JSON text, followed by a NUL, by JSON pointer (RFC 6901): {"/a/0": 1,
 * "/b": "x"}. `pointers` says which; without any, all scalars and empty containers. Values are
 * written as they were spelled. CLI_NO after saying which pointer leads nowhere. */
int captures_json(const char *text, size_t length, const char *const *pointers, size_t count);

#endif
