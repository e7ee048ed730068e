/* place.h - which value of a JSON text is being written.
 *
 * Reads the text token by token and gives the JSON pointer of the innermost value that has begun
 * and is not over. That is "/items/2" inside the third item, and "" between the members of the
 * whole object. Text that is no JSON has no place from there on. Tested by
 * tests/cli/test_cli_generate.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_PLACE_H
#define TSL_CLI_PLACE_H

#include "cli/common.h"

typedef struct place {
  tsl_events *events;
  cli_text pointer;
  bool lost; /* the text is no JSON */
} place;

/* False when out of memory. `place` must not move while it is open. */
bool place_open(place *place);
void place_close(place *place);
/* Back to the beginning of a text. */
void place_restart(place *place);
void place_read(place *place, const void *bytes, size_t length);
/* Not NUL-terminated; NULL where the text is no JSON. */
const char *place_pointer(const place *place, size_t *length);

#endif
