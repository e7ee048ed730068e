/* place.c - which value of a JSON text is being written. See place.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/place.h"

#include <string.h>

static void enter_or_leave(void *ctx, const tsl_event *event) {
  place *p = ctx;
  if (event->kind == TSL_EVENT_TEXT) return;
  p->pointer.length = 0;
  cli_text_add(&p->pointer, event->pointer, event->pointer_length);
  if (event->kind == TSL_EVENT_BEGIN) return;
  while (p->pointer.length && p->pointer.at[--p->pointer.length] != '/') continue;
}

bool place_open(place *p) {
  *p = (place){0};
  return tsl_events_new(enter_or_leave, p, NULL, &p->events) == TSL_OK;
}

void place_close(place *p) {
  tsl_events_free(p->events);
  cli_text_free(&p->pointer);
  *p = (place){0};
}

void place_restart(place *p) {
  tsl_events_reset(p->events);
  p->pointer.length = 0;
  p->lost = false;
}

void place_read(place *p, const void *bytes, size_t length) {
  if (length && !p->lost) p->lost = tsl_events_feed(p->events, bytes, length, NULL) != TSL_OK;
}

const char *place_pointer(const place *p, size_t *length) {
  *length = p->lost ? 0 : p->pointer.length;
  return p->lost ? NULL : *length ? p->pointer.at : "";
}
