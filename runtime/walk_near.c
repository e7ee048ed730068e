/* walk_near.c - see walk_near.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk_near.h"

/* How a frame takes a token. */
typedef enum taken { DIES, LIVES, LEAVES_EARLY, LEAVES_LATE, UNCLEAR } taken;

/* A state of a frame, and its register. */
typedef struct place {
  tsl__state state;
  uint32_t count;
} place;

/* `late`: characters from which on leaving the frame is late. Frames that call or fork are not followed: UNCLEAR. *after: where it LIVES. */
static taken take_token(tsl__space *space, tsl__state state, uint32_t count, tsl_token token, uint32_t late, place *after) {
  const tsl_vocab *v = space->vocab;
  uint32_t characters = 0;
  for (uint32_t i = v->offsets[token]; i < v->offsets[token + 1]; i++) {
    const tsl__state_rec *r = tsl__state_expanded(space, state);
    if (!r || (r->flags & TSL__STATE_FORK) || r->edges) return UNCLEAR;
    if (r->flags & TSL__STATE_NULLABLE) return characters > late ? LEAVES_LATE : LEAVES_EARLY;
    tsl__target t = tsl__state_step(space, r, v->bytes[i]);
    if (!t) return DIES;
    state = tsl__target_resolve(space, t, count, &count);
    characters += (v->bytes[i] & 0xC0) != 0x80;
  }
  *after = (place){state, count};
  return LIVES;
}

/* How a text of at most `room` characters may go on after a token that LIVES where no length is asked for, and that has that many characters: LIVES or DIES, or UNCLEAR
 * where what is shortest in bytes need not have the fewest characters. */
static taken fits(tsl__space *space, const place *after, tsl_token token, uint32_t room) {
  const tsl_vocab *v = space->vocab;
  for (uint32_t i = v->offsets[token]; i < v->offsets[token + 1]; i++)
    if (v->bytes[i] >= 0x80 || v->bytes[i] == '\\') return UNCLEAR;
  uint32_t bytes = space->hook->shortest(space->hook_ctx, after->state, after->count); /* the closing quote among them */
  if (bytes - 1 <= room) return LIVES;
  return room == 0 ? DIES : UNCLEAR;
}

/* How the state takes a long token (by number) that is not too long, where `like` LIVES and goes to *after, or leaves late. */
static taken take_near(tsl__space *space, place own, const tsl__near *n, uint32_t i, taken like, const place *after) {
  place ignored;
  tsl_token token = n->lengths->longer[i];
  taken known = like == LIVES && n->hint->like_dead != UINT32_MAX ? fits(space, after, token, n->hint->like_dead - n->lengths->longer_length[i]) : UNCLEAR;
  return known == UNCLEAR ? take_token(space, own.state, own.count, token, n->limit, &ignored) : known;
}

/* Is a long token (by number) more than the state can read? One that holds a backslash may spell fewer characters than it has. */
static bool is_dead(const tsl__lengths *lengths, const tsl__hint *h, uint32_t i) {
  tsl_token t = lengths->longer[i];
  return lengths->longer_length[i] > h->like_dead && !(lengths->having['\\'][t >> 5] >> (t & 31) & 1);
}

bool tsl__near_known(tsl__space *space, const tsl__near *n) {
  place own = {n->state, n->count}, after;
  for (uint32_t i = 0; i < n->longer; i++) {
    tsl_token token = n->lengths->longer[i];
    n->denied[i] = false;
    if (n->low && tsl__mask_has(space, n->low, token)) continue;
    taken like = take_token(space, n->hint->like, 0, token, n->limit, &after), mine = like;
    bool dead = is_dead(n->lengths, n->hint, i);
    if (like == LEAVES_LATE || (like == LIVES && !dead)) mine = take_near(space, own, n, i, like, &after);
    if (like == UNCLEAR || mine == UNCLEAR || (like == LEAVES_LATE) != (mine == LEAVES_LATE)) return false;
    n->denied[i] = dead || mine != LIVES;
  }
  return true;
}

bool tsl__near_denies(tsl__space *space, const tsl__near *n, tsl__mask like, uint32_t i) {
  return n->denied[i] && tsl__mask_has(space, like, n->lengths->longer[i]);
}
