/* near_limit.c - finder: a string near its limit, from the same string without it (reference.h).
 *
 * Problem   A string of a pattern and at most 64 characters is at another count after each letter.
 *           Far from the limit each walk is that of the same string without a limit. Near the
 *           limit, tokens with more characters than are left need a trial, and the walk would be a
 *           new one.
 * Idea      A token that is shorter than the characters left does not see the limit. The other
 *           tokens are few. Each is tried in the state without the limit and in the state with it.
 *           If only the former accepts a token, it is removed from the walk.
 * Fewer     Most long tokens need no trial in the state with the limit. A token with more
 *           characters than are left dies. A token after which the shortest end still fits lives.
 *           So does a token that `low`, a part of the texts, accepts. Tokens are tried in the order
 *           of their spelling, so bytes that two neighbours share are read once.
 * Open      If the whole text has the limit, and the pattern is open at its end, the reference is
 *           the walk of any string (`open`). That walk is no answer for tokens with a quote or a
 *           backslash: these are removed, and read along a table (linear.h).
 * Alone     The reference of a third kind is `alone`. Take a pattern that looks for something among
 *           any characters of a class, where nothing follows the frame. It accepts any text of
 *           these characters, because the missing part can still come. So the reference is that
 *           class. With a limit, a long token lives if the missing part still fits after it, by the
 *           state without the limit (`ends_within`).
 * Example   `^[a-z]+( [a-z]+)*$` with at most 12 characters, after `ab`: 10 are left. ` abcdefghij`
 *           has 11 characters and is removed; `cde` is as without the limit.
 * Exact     If a token leaves the frame in only one of the two states, the finder gives up. So it
 *           does if a token leaves the frame by a call or a fork.
 * Cost      Four steps for each token longer than what is left: of Llama-3.1's some 2,000 have more
 *           than 12 characters.
 * Tested by tests/walk/test_near_limit.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/text/any_text.h"
#include "runtime/walk/classes.h"
#include "runtime/walk/memo.h"
#include "runtime/walk/reference.h"
#include "runtime/walk/search.h"

#define TRY_COST 4u /* steps that trying a token is worth */
#define TRY_MIN \
  64u /* tokens to be tried, from which a similar state (delta.c) is looked for first */

typedef struct near {
  tsl__state state;
  uint32_t count;
  const tsl__hint *hint;
  /* of the hint: `like`, or `open`, which says nothing of tokens with a quote or a backslash */
  tsl__state like;
  bool last;                   /* nothing follows the frame */
  bool open;                   /* `like` is the hint's `open` */
  bool alone;                  /* `like` is the hint's `alone` */
  uint32_t dead;               /* a token of more characters dies; UINT32_MAX: that is not known */
  uint32_t limit;              /* characters over which the state is as `like` */
  const tsl__lengths *lengths; /* NULL if no token is longer */
  uint32_t longer;             /* the first so many of the long tokens are */
  /* one of each: may it be rejected, if `like` accepts it? See try_all */
  uint8_t *denied;
  /* tokens that the state always takes, none of which goes on past the string; 0: none are known */
  tsl__mask low;
} near;

uint32_t tsl__like_limit(const tsl__space *space, tsl__state state, uint32_t count,
                         const tsl__hint *h) {
  const tsl__state_rec *r = tsl__state_at(space, state);
  if (!h->like_unit || r->loop_max == TSL__COUNT_INF) return h->like_limit;
  uint64_t left = (uint64_t)(r->loop_max - count) * h->like_unit;
  return left < h->like_limit ? (uint32_t)left : h->like_limit;
}

/* How a frame takes a token. */
typedef enum fate { DIES, LIVES, LEAVES_EARLY, LEAVES_LATE, UNCLEAR } fate;

/* A state of a frame, and its register. */
typedef struct place {
  tsl__state state;
  uint32_t count;
} place;

/* The way of one token through a frame: tokens are tried by spelling, and what one shares with the
 * last is not read again. */
typedef struct trail {
  tsl__space *space;
  bool last;            /* nothing follows the frame: it cannot be left */
  place *at;            /* after so many bytes; the first is where all begin */
  uint32_t *characters; /* the same */
  uint32_t read;        /* bytes of the last token that were read */
  uint32_t shared;      /* bytes that all tokens since then share with it */
  tsl__state staying;   /* that was last seen to lead to itself */
  tsl__bytes stays;     /* by these bytes, with no register */
  /* where it was last searched for the shortest text: long tokens lead to few places; state 0:
   * nowhere yet */
  place measured;
  uint32_t shortest; /* bytes of that */
} trail;

/* A state leads to itself: by which bytes. Long tokens are of few kinds of letters, and most of
 * them stay where they are. */
static void stay(trail *t, const tsl__state_rec *r, tsl__state state) {
  const uint8_t *upper = tsl__state_upper(r);
  t->staying = state;
  t->stays = (tsl__bytes){{0}};
  for (unsigned i = 0, b = 0; i < r->ranges; b = upper[i++] + 1u)
    if (r->targets[i] == tsl__target_make(state, TSL__OP_CLEAR))
      tsl__bytes_add_range(&t->stays, b, upper[i]);
}

/* `late`: characters from which on leaving the frame is late. Frames that call or fork are not
 * followed. Nor are those that may be over and may go on by the same byte, if something follows
 * them: UNCLEAR. Where it LIVES, it goes to t->at[t->read]. */
static fate take_token(trail *t, tsl_token token, uint32_t late) {
  tsl__space *space = t->space;
  const tsl_vocab *v = space->vocab;
  const uint8_t *bytes = v->bytes + v->offsets[token];
  uint32_t n = v->offsets[token + 1] - v->offsets[token],
           i = t->shared < t->read ? t->shared : t->read;
  t->shared = UINT32_MAX;
  for (t->read = i; i < n; t->read = ++i) {
    place p = t->at[i];
    t->characters[i + 1] = t->characters[i] + ((bytes[i] & 0xC0) != 0x80);
    if (p.state == t->staying && tsl__bytes_has(&t->stays, bytes[i])) {
      t->at[i + 1] = (place){p.state, 0};
      continue;
    }
    const tsl__state_rec *r = tsl__state_expanded(space, p.state);
    if (!r || (r->flags & TSL__STATE_FORK) || r->edges) return UNCLEAR;
    if (r->flags & TSL__STATE_NULLABLE && !t->last)
      return tsl__bytes_has(&r->live, bytes[i]) ? UNCLEAR
             : t->characters[i] > late          ? LEAVES_LATE
                                                : LEAVES_EARLY;
    tsl__target to = tsl__state_step(space, r, bytes[i]);
    if (!to) return DIES;
    if (to == tsl__target_make(p.state, TSL__OP_CLEAR)) stay(t, r, p.state);
    p.state = tsl__target_resolve(space, to, p.count, &p.count);
    t->at[i + 1] = p;
  }
  return LIVES;
}

static bool trail_new(tsl__space *space, trail *t, place from) {
  size_t n = (size_t)space->vocab->trie.nodes[0].height + 1;
  t->at = tsl__alloc(&space->alloc, n * sizeof *t->at);
  t->characters = tsl__alloc(&space->alloc, n * sizeof *t->characters);
  if (!t->at || !t->characters) return tsl__space_no_memory(space);
  t->at[0] = from;
  t->characters[0] = 0;
  return true;
}

static void trail_free(trail *t) {
  size_t n = (size_t)t->space->vocab->trie.nodes[0].height + 1;
  tsl__free(&t->space->alloc, t->at, n * sizeof *t->at);
  tsl__free(&t->space->alloc, t->characters, n * sizeof *t->characters);
}

/* Bytes of the shortest text from a place. */
static uint32_t shortest_from(trail *t, const place *at) {
  if (t->measured.state != at->state || t->measured.count != at->count) {
    t->shortest = t->space->hook->states.shortest(t->space->hook_ctx, at->state, at->count);
    t->measured = *at;
  }
  return t->shortest;
}

/* How a text of at most `room` characters may go on after a token. The token LIVES where no length
 * is requested, and has that many characters. LIVES or DIES; or UNCLEAR where what is shortest in
 * bytes need not have the fewest characters. */
static fate fits(trail *t, const near *n, const place *after, tsl_token token, uint32_t room) {
  const tsl_vocab *v = t->space->vocab;
  /* so many bytes are no more characters, even if the token cuts one off */
  if (n->alone && shortest_from(t, after) <= room) return LIVES;
  if (n->alone && t->space->hook->states.ends_within)
    return t->space->hook->states.ends_within(t->space->hook_ctx,
                                              tsl__state_at(t->space, after->state), room)
               ? LIVES
               : DIES;
  for (uint32_t i = v->offsets[token]; i < v->offsets[token + 1]; i++)
    if (v->bytes[i] >= 0x80 || (v->bytes[i] == '\\' && !n->alone)) return UNCLEAR;
  uint32_t bytes = shortest_from(t, after); /* a closing quote among them; 0: it was read */
  if (bytes == 0 || bytes - !n->alone <= room) return LIVES;
  return room == 0 ? DIES : UNCLEAR;
}

/* Characters that a long token (by number) adds to a text. It leaves the text open, or closes it
 * with its last byte, and holds no backslash. */
static uint32_t spelled(const trail *t, const near *n, uint32_t i) {
  const tsl_vocab *v = t->space->vocab;
  return n->lengths->longer_length[i] -
         (!n->alone && v->bytes[v->offsets[n->lengths->longer[i] + 1] - 1] == '"');
}

/* How the state takes a long token (by number) that is not too long, where `like` LIVES and goes to
 * *after, or leaves late. */
static fate take_near(trail *own, const near *n, uint32_t i, fate like, const place *after) {
  tsl_token token = n->lengths->longer[i];
  fate known = like == LIVES && n->dead != UINT32_MAX
                   ? fits(own, n, after, token, n->dead - spelled(own, n, i))
                   : UNCLEAR;
  return known == UNCLEAR ? take_token(own, token, n->limit) : known;
}

/* Is a long token (by number) more than the state can read? One that holds a backslash may spell
 * fewer characters than it has. */
static bool is_dead(const trail *own, const near *n, uint32_t i) {
  return spelled(own, n, i) > n->dead &&
         (n->alone || !tsl__mask_bit(n->lengths->having['\\'], n->lengths->longer[i]));
}

/* Each longer token, by spelling. False if that of one is not known. */
static bool try_all(const near *n, trail *other, trail *own) {
  for (uint32_t k = 0; k < n->lengths->longer_count; k++) {
    uint32_t i = n->lengths->longer_spelled[k], shared = n->lengths->longer_shared[k];
    if (other->shared > shared) other->shared = shared;
    if (own->shared > shared) own->shared = shared;
    if (i >= n->longer) continue;
    tsl_token token = n->lengths->longer[i];
    n->denied[i] = false;
    if (n->low && tsl__mask_has(own->space, n->low, token)) continue;
    if (n->open && tsl__is_quoted(n->lengths, token)) continue;
    fate like = take_token(other, token, n->limit), mine = like;
    bool dead = is_dead(own, n, i);
    if (like == LEAVES_LATE || (like == LIVES && !dead))
      mine = take_near(own, n, i, like, &other->at[other->read]);
    if (like == UNCLEAR || mine == UNCLEAR || (like == LEAVES_LATE) != (mine == LEAVES_LATE))
      return false;
    n->denied[i] = dead || mine != LIVES;
  }
  return true;
}

/* Can each longer token be settled by trying it? And leave the frame those at most that leave
 * `like` too, and as far. Then n->denied is filled in. */
static bool is_known(tsl__space *space, const near *n) {
  trail other = {.space = space, .last = n->last}, own = other;
  if (n->longer == 0) return true;
  bool known = trail_new(space, &other, (place){n->like, 0}) &&
               trail_new(space, &own, (place){n->state, n->count}) && try_all(n, &other, &own);
  trail_free(&other);
  trail_free(&own);
  return known;
}

/* The mask of the tokens that the state always takes, none of which goes on past the string; 0:
 * nothing is known. */
static tsl__mask always_accepted(tsl__space *space, const near *n) {
  const tsl__state_rec *r = tsl__state_at(space, n->state);
  const tsl__hint *h = n->hint;
  if (!h->low || n->alone ||
      (h->low_left && r->loop_max != TSL__COUNT_INF && r->loop_max - n->count < h->low_left))
    return 0;
  const tsl__walk *low = tsl__walk_over(space, h->low, 0, TSL__WHOLE, n->last);
  return low ? low->mask : 0;
}

/* Fill in the reference: the walk of `like`, minus the longer tokens that the state denies. */
static bool refer(tsl__space *space, const near *n, tsl__leftover over, tsl__reference *ref) {
  const tsl__walk *known = tsl__walk_over(space, n->like, 0, over, n->last);
  if (!known) return false;
  ref->mask = known->mask;
  ref->left = n->open ? 0 : known->left;
  for (uint32_t i = 0; i < n->longer; i++)
    if (n->denied[i] && (n->open || tsl__mask_has(space, known->mask, n->lengths->longer[i])) &&
        !tsl__vec_push(&space->alloc, &ref->tokens, n->lengths->longer[i]))
      return tsl__space_no_memory(space);
  if (!n->open) return true;
  ref->without[0] = n->lengths->having['"'];
  ref->without[1] = n->lengths->having['\\'];
  ref->quoted = tsl__linear_table(space)->quoted;
  ref->letters = tsl__raw_letters();
  ref->from = (tsl__linear_from){n->state, n->count, 0, 0, n->last, NULL};
  return true;
}

/* Is it worth it, and which tokens are longer than what is left? */
static bool find_longer(tsl__space *space, near *n, const tsl__state_rec *r, tsl__leftover over) {
  const tsl__hint *h = n->hint;
  bool reached = n->limit < tsl__memo_height(space, over);
  if (n->open && (over != TSL__WHOLE || !tsl__linear_of(space, r, 0) || !tsl__state_is_plain(r)))
    return false;
  if (reached && ((!n->alone && h->like_far) || over != TSL__WHOLE || n->limit < TSL__SHORT_MAX))
    return false;
  if ((reached || n->open) && !(n->lengths = tsl__lengths_of(space))) return false;
  while (reached && n->longer < n->lengths->longer_count &&
         n->lengths->longer_length[n->longer] > n->limit)
    n->longer++;
  return true;
}

bool tsl__near_find(tsl__space *space, const tsl__hint *h, const tsl__linear_from *from,
                    tsl__leftover over, tsl__reference *ref) {
  const tsl__state_rec *r = tsl__state_at(space, from->state);
  near n = {.state = from->state, .count = from->count, .hint = h, .last = from->last};
  n.alone = from->last && h->alone;
  n.open = !n.alone && h->open;
  n.like = n.alone ? h->alone : n.open ? h->open : h->like;
  n.dead = n.alone ? h->alone_dead : h->like_dead;
  n.limit = n.alone ? h->alone_limit : tsl__like_limit(space, from->state, from->count, h);
  if (!n.like) return false;
  if (!find_longer(space, &n, r, over)) return false;
  if (n.longer >= TRY_MIN && tsl__delta_find(space, n.state, n.count, n.last, TSL__DELTA_NEAR, ref))
    return true;
  tsl__reference_clear(ref);
  if (!tsl__space_step(space, TRY_COST * n.longer)) return false;
  n.low = n.longer ? always_accepted(space, &n) : 0;
  if (n.longer && !(n.denied = tsl__alloc(&space->alloc, n.longer)))
    return tsl__space_no_memory(space);
  bool known = is_known(space, &n) && refer(space, &n, over, ref);
  tsl__free(&space->alloc, n.denied, n.longer);
  return known;
}
