/* utf8.h - is it text?
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_UTF8_H
#define TSL_CLI_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character that begins here; 0: none that is whole and valid. `left` is at least
 * 1. */
size_t utf8_character(const uint8_t *bytes, size_t left);
/* Bytes of the longest beginning that is valid UTF-8 (surrogates, overlong and too large ones are
 * not). */
size_t utf8_prefix(const uint8_t *bytes, size_t length);
static inline bool utf8_valid(const uint8_t *bytes, size_t length) {
  return utf8_prefix(bytes, length) == length;
}

#endif
