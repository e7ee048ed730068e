/* distinct_mask.c - the mask of a position with a distinct record: the plain mask without the
 * tokens that lead nowhere. These tokens are found in distinct_items.c and distinct_names.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/position/distinct_tokens.h"

bool tsl__run_leads(tsl__space *space, tsl__run *r, tsl__stack from, tsl_token token) {
  if (!tsl__run_token(space, r, from, token)) return false;
  return !tsl__run_watched(space, r) || tsl__run_alive(space, r);
}

bool tsl__probed_write(tsl__space *space, tsl__probed_mask *m) {
  if (m->bits) return true;
  m->bits = tsl__alloc(&space->alloc, tsl_vocab_mask_words(space->vocab) * sizeof *m->bits);
  if (m->bits) tsl__mask_write(space, tsl__mask_at(space, m->mask), m->bits);
  return m->bits;
}

bool tsl__may_be_raw(const uint8_t *open, uint32_t count) {
  static const char begin[] = "\\u00";
  return count < 6 && !memcmp(open, begin, count < 4 ? count : 4) &&
         (count < 5 || (open[4] >= '2' && open[4] <= '7'));
}

bool tsl__takes_any(const tsl__space *space, tsl__state state) {
  static const tsl__bytes raw = {{0xFFFFFFFB00000000u, 0x7FFFFFFFEFFFFFFFu, 0, 0}};
  const tsl__bytes *self = tsl__state_at(space, state)->self;
  return (self->w[0] & raw.w[0]) == raw.w[0] && (self->w[1] & raw.w[1]) == raw.w[1];
}

/* The plain mask without the tokens that are gone. */
static tsl__mask without(tsl__space *space, tsl__mask plain, tsl__tokens *gone) {
  tsl__gather *g = space->gather;
  gone->n = tsl__sort_unique(gone->at, gone->n);
  tsl__gather_clear(g);
  tsl__gather_mask(space, g, plain);
  tsl__gather_remove_all(space, g, gone->at, gone->n);
  return tsl__gather_done(space, g);
}

/* May no token repeat a name from there? */
static bool harmless(tsl__space *space, uint32_t distinct) {
  /* tokens that hold a whole name, which mostly are none */
  bool named = tsl__boundary_known(space)->named.n;
  if (named || !distinct) return !named;
  const tsl__distinct *m = tsl__distinct_at(space, distinct);
  const tsl__open *o = m->open ? tsl__open_at(space, m->open) : NULL;
  if (m->open && space->positions.watches & TSL__FEW_NAMES) return false;
  return !(o && !o->array && o->used && (m->name || (o->expects && !m->in_string)));
}

static TSL__SELDOM tsl__mask narrowed(tsl__space *space, tsl__stack at, tsl__mask plain) {
  tsl__tokens gone = {0};
  tsl__run *r = tsl__run_take(space);
  if (!r) return 0;
  tsl__probed_mask p = {.mask = plain};
  if (space->positions.watches & TSL__NEW_ITEM) tsl__narrow_items(space, r, at, &p, &gone);
  if (space->positions.watches & TSL__NEW_NAME) tsl__narrow_names(space, r, at, &p, &gone);
  tsl__free(&space->alloc, p.bits, tsl_vocab_mask_words(space->vocab) * sizeof *p.bits);
  tsl__mask made = gone.n && space->status == TSL_OK ? without(space, plain, &gone) : plain;
  tsl__vec_free(&space->alloc, &gone);
  tsl__run_give(space, r);
  return made;
}

tsl__mask tsl__distinct_mask(tsl__space *space, tsl__stack at, tsl__mask plain) {
  if (!tsl__boundary_of(space)) return 0;
  if (!(space->positions.watches & TSL__NEW_ITEM) &&
      harmless(space, tsl__with_distinct_at(space, at)->distinct))
    return plain;
  return narrowed(space, at, plain);
}
