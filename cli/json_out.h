/* json_out.h - writing JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_JSON_OUT_H
#define TSL_CLI_JSON_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The bytes (UTF-8) as a JSON string with its quotes: ", \ and control characters are escaped. A
 * byte that is no UTF-8 (in the name of a file) becomes U+FFFD. */
void json_out_string_to(FILE *to, const char *bytes, size_t length);
/* The same to stdout. */
void json_out_string(const char *bytes, size_t length);
/* A set of bytes as its ranges: [[first, last], …]. */
void json_out_set(FILE *to, const uint32_t set[8]);

#endif
