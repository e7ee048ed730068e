/* json_in.h - reading a JSON text that is in memory, without a tree.
 *
 * A value is the bytes that it is written with. Members and items are found by going over these
 * bytes. So a request of some MB costs no memory beside its text, and no depth of nesting costs
 * stack. Everything here but json_in_check needs a text that json_in_check has accepted. Cost: a
 * look-up goes over its object once. Tested by tests/models/test_models.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_JSON_IN_H
#define TSL_CLI_JSON_IN_H

#include "cli/common.h"

/* The bytes of one value; `at` NULL: there is none. */
typedef struct json_in {
  const char *at;
  size_t length;
} json_in;

/* The value of a whole text. False where it is no JSON: *offset says where, *why names the reason
 * (static). */
bool json_in_check(const char *text, size_t length, json_in *out, size_t *offset, const char **why);

/* '{', '[', '"', '0' (a number), 't', 'f', 'n' (null); 0 for no value. */
char json_in_kind(json_in value);
/* The last member of that name, as other readers have it; no value where there is none, or where
 * `object` is no object. */
json_in json_in_member(json_in object, const char *name);
/* The next item of an array, or the next value of an object. `item` is no value at the begin.
 * False after the last one, and of what is no list. */
bool json_in_next(json_in list, json_in *item);
/* The same of an object, with the name of the member, a string. */
bool json_in_next_member(json_in object, json_in *item, json_in *name);
/* The text of a string, added to `out`. False if it is no string. A half of a surrogate pair
 * becomes U+FFFD. */
bool json_in_string(json_in value, cli_text *out);
bool json_in_number(json_in value, double *out);
/* Is it a string with that text? */
bool json_in_is(json_in value, const char *text);

#endif
