/* state.h - an expression seen from outside: one node of the automaton that builds itself.
 *
 * A state belongs to a frame. Reading a byte moves the frame to another state. A state that is
 * nullable may end the frame. A call pushes a state to come back to and starts a frame of its own.
 *
 * Registers  A frame has one counter, for the loop that is active in it. A state with a loop exists
 *            three times, in a row: below the loop's minimum, between, at its maximum. A target
 *            names the first of the three and what happens to the counter.
 * Targets    32 bits: the state in the lower 30, what happens to the counter (TSL__OP_…) in the
 *            upper two.
 * Later      Most states in the middle of a name or a constrained string see one or two different
 *            bytes. Their other targets are LATER: made when such a byte comes. Until then such a
 *            byte counts as live.
 * Fork       A target can be several states at once (a loop going on and beginning anew). Such a
 *            target is a state of its own with FORK edges and nothing else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_AUTOMATON_STATE_H
#define TSL_RUNTIME_AUTOMATON_STATE_H

#include "runtime/automaton/space.h"

typedef uint32_t tsl__target;
enum { TSL__OP_CLEAR = 0, TSL__OP_KEEP = 1, TSL__OP_NEXT = 2, TSL__OP_FIRST = 3 };
#define tsl__target_make(state, op) ((uint32_t)(op) << 30 | (state))
#define tsl__target_state(t) ((t) & 0x3FFFFFFFu)
#define tsl__target_op(t) ((t) >> 30)
#define TSL__COUNT_INF UINT32_MAX
/* A target that is not made yet: the first reader of such a byte makes it. There are two such
 * numbers, so that neighbouring ranges stay apart. */
#define TSL__TARGET_LATER 0xFFFFFFFEu
#define tsl__target_is_later(t) ((t) >= TSL__TARGET_LATER)

enum {
  TSL__STATE_NULLABLE = 1, /* the frame may end here */
  TSL__STATE_LOOP = 2,     /* one of three states of a counted loop */
  TSL__STATE_FORK = 4,     /* stands for its edges */
  TSL__STATE_FINAL = 8,    /* nullable, and nothing else: the frame is over (known once expanded) */
  TSL__STATE_KEYED = 16,   /* of a frame that spells a name: see runtime/walk/names.h */
  TSL__STATE_RESUME = 32,  /* waits for a name from the frame above; does nothing else */
  TSL__STATE_PHASE = 64    /* times 0, 1, 2: which of the three states of a loop */
};

/* What must be new where a frame comes back to a guarded state, or must not. */
enum {
  TSL__NEW_ITEM = 1, /* the value: it is none of the earlier items of its array */
  TSL__NEW_NAME = 2, /* the rest of a string: it is no name that the object has */
  /* of a grammar: such names may be constrained, so that all names with some beginning may be used
   * up */
  TSL__FEW_NAMES = 4,
  TSL__SAME_ITEM = 8 /* the value: it is one of the earlier items of its array */
};

typedef struct tsl__edge {
  /* where the frame goes on after the call; 0: no call, `to` goes on in this frame (fork) */
  tsl__target push;
  tsl__target to; /* the first state of the called frame, or of the fork */
} tsl__edge;

typedef struct tsl__token_edge {
  const tsl_token *tokens; /* sorted */
  uint32_t count;
  bool complement; /* any token but these and the end-of-generation ones */
  tsl__target to;
} tsl__token_edge;

/* What helps the walk; all optional. */
typedef struct tsl__hint {
  /* Letters: while only these bytes are read (those from 0x80 on in valid UTF-8), the frame neither
   * dies nor ends nor calls. Empty: no hint. */
  tsl__bytes letters;
  /* the letters past ASCII: those of a class (runtime/walk/nonascii.h); 0: all or none, as
   * `letters` says */
  uint32_t nonascii;
  /* Bytes other than letters that may be legal somewhere among them. */
  tsl__bytes exits;
  bool counted; /* each letter is one iteration of the active loop (its maximum limits them) */
  /* the most letters that can be read, where the register does not say; TSL__COUNT_INF: any
   * number */
  uint32_t limit;
  /* with a limit: a text of more letters than this dies; TSL__COUNT_INF: not known */
  uint32_t dead;
  /* the frame may end among the letters. The hint is usable only where nothing follows the frame,
   * or the first bytes of what follows are known (runtime/walk/follow.h) */
  bool ends;
  bool calls; /* the frame may call among the letters: see walk/follow.h */
  /* The texts of this state are those of `base` without the finitely many of `except`; 0: no such
   * hint. */
  tsl__state base, except;
  bool except_open; /* some of `except` are to go before their closing quote comes */
  /* Over tries of at most `like_limit` bytes this state behaves as `like`, a state without its
   * limits; 0: no such hint. */
  tsl__state like;
  uint32_t like_limit;
  /* tokens of more characters than this die here, unless they leave the frame before */
  uint32_t like_dead;
  /* use `like` only where no token reaches the limit; near the limit, letters are faster */
  bool like_far;
  /* if not 0, `like_limit` is also at most this times the iterations that the active loop has
   * left */
  uint32_t like_unit;
  /* A state whose texts this state has as well, while the active loop has `low_left` iterations
   * left; 0: no such hint. For JSON strings only. */
  tsl__state low;
  uint32_t low_left;
  /* A JSON string without bounds of its length. A token that leaves it open leaves this state's
   * string open, as far as `like_limit` and `like_dead` say. A token that closes it need not close
   * this one. 0: no such hint. */
  tsl__state open;
  /* For frames that nothing follows, and tries of at most `alone_limit` characters. Each beginning
   * of a text of this state is one of a text of `alone`, and the other way round. A token of more
   * than `alone_dead` dies. 0: no such hint. */
  tsl__state alone;
  uint32_t alone_limit, alone_dead;
} tsl__hint;

/* Does a text of more letters than the limit die, and is each letter one byte? */
static inline bool tsl__hint_is_exact(const tsl__hint *h) {
  return h->dead <= h->limit && h->limit != TSL__COUNT_INF && !h->letters.w[2] && !h->letters.w[3];
}

/* Kinds of walks: those that do not depend on what follows the frame, and those that do
 * (runtime/walk/follow.h). */
enum { TSL__WALKED_ALONE = 1, TSL__WALKED_BEFORE = 2 };

/* How much of a state's hint was requested. */
enum { TSL__HINTED_NOT, TSL__HINTED_FORM, TSL__HINTED_ALL };

/* The kind of a state of a JSON string, if it is known at once (space.h). */
enum {
  TSL__TEXT_OTHER,
  TSL__TEXT_OPEN,    /* any number of raw characters leaves it open */
  TSL__TEXT_ENDLESS, /* any number of raw or escaped characters leaves it open */
  TSL__TEXT_COUNTED, /* any characters, from a least to a most number of them */
  TSL__TEXT_QUOTED   /* the same with its opening quote, which is still to come */
};

typedef struct tsl__state_rec {
  atomic_uchar expanded;
  uint8_t flags;
  uint8_t hinted; /* how much of `hint` was requested: TSL__HINTED_... */
  /* TSL__NEW_..., TSL__SAME_ITEM: a frame comes back here with something that must be new, or must
   * not: see runtime/position/distinct.h */
  uint8_t guarded;
  uint16_t ranges; /* ranges of bytes, in order; 0: no byte leads anywhere */
  uint16_t edges, token_edges;
  uint16_t live_count;  /* bytes in `live` */
  uint32_t handle;      /* the compiler's number of it */
  tsl__state otherwise; /* guarded: where a frame goes on that comes back with a repetition */
  /* TSL__WALKED_...: which walks of it its own layer has. This and the next field are under the
   * lock */
  uint8_t walked;
  /* its meaning was looked up, and there is none (runtime/walk/shared_walks.c) */
  bool meaningless;
  /* not 0, for a loop: at most so many characters of run_class, then run_then */
  uint16_t run;
  union {
    struct {
      uint32_t loop_min, loop_max; /* LOOP: of the active loop */
    };
    const struct tsl__fixed *fixed; /* of others: see tsl__state_fixed */
  };
  /* one for each range; 0: dead; LATER targets change under the lock. Behind the targets lie the
   * edges, then the last byte of each range. Before them lie the token edges */
  tsl__target *targets;
  const tsl__hint *hint; /* see tsl__state_hint */
  union {
    /* guarded for TSL__SAME_ITEM: where a frame goes on that comes back with a new item
     * (`otherwise`: with a repeated one) */
    tsl__state differs;
    const struct tsl__keyed *keyed; /* KEYED: which names it may become */
    struct tsl__resume *resume;     /* RESUME: which names it lets through */
    struct {
      uint32_t run_class, run_then; /* the compiler's numbers of them */
    };
  };
  tsl__bytes live; /* bytes that lead somewhere, or may */
  /* bytes that lead back here with the register as it is; empty if nullable or with edges, or not
   * expanded; never NULL */
  const tsl__bytes *self;
} tsl__state_rec;

extern const tsl__bytes tsl__no_bytes; /* the empty set, which is `self` of most states */

/* Of an expanded state: its edges, its token edges, the last byte of each range. */
static inline const tsl__edge *tsl__state_edges(const tsl__state_rec *r) {
  return (const tsl__edge *)(const void *)(r->targets + r->ranges);
}
static inline const tsl__token_edge *tsl__state_token_edges(const tsl__state_rec *r) {
  return (const tsl__token_edge *)(const void *)r->targets - r->token_edges;
}
static inline const uint8_t *tsl__state_upper(const tsl__state_rec *r) {
  return (const uint8_t *)(tsl__state_edges(r) + r->edges);
}
/* Fixed texts are being spelled: see runtime/walk/fixed.h; NULL: no such state. */
static inline const struct tsl__fixed *tsl__state_fixed(const tsl__state_rec *r) {
  return r->flags & TSL__STATE_LOOP ? NULL : r->fixed;
}

/* A state of the layer below that was not expanded when that layer was frozen, and its copy in this
 * layer. */
typedef struct tsl__stand_in {
  tsl__state state, copy;
} tsl__stand_in;

static inline const tsl__state_rec *tsl__state_at(const tsl__space *s, tsl__state i) {
  return tsl__space_at_of(s, states, i, sizeof(tsl__state_rec));
}

/* A new state, `copies` of them in a row (3 for loops); 0 when out of memory (sticky). The caller
 * sets flags and handle before anything refers to it. */
tsl__state tsl__state_new(tsl__space *space, uint32_t copies);
static inline tsl__state_rec *tsl__state_own(tsl__space *s, tsl__state i) {
  return tsl__pool_at_of(&s->states.pool, i - s->states.first, sizeof(tsl__state_rec));
}

/* Transitions by ranges of bytes: in order, from byte 0 to 255; none at all: no byte leads
 * anywhere. */
typedef struct tsl__ranges {
  uint32_t n;
  uint8_t upper[256]; /* last byte of each */
  tsl__target to[256];
} tsl__ranges;

/* Give a state its transitions (copied; `ranges` is used up). */
tsl_status tsl__state_fill(tsl__space *space, tsl__state state, tsl__ranges *ranges,
                           const tsl__edge *edges, uint32_t edge_count,
                           const tsl__token_edge *token_edges, uint32_t token_edge_count);
/* The hint of an expanded state, made when it is first requested; NULL: there is none. Needs the
 * lock. tsl__state_form makes no letters: only base, except, like and low, with their fields. */
const tsl__hint *tsl__state_form(tsl__space *space, const tsl__state_rec *r);
const tsl__hint *tsl__state_hint(tsl__space *space, const tsl__state_rec *r);
/* A fork: interned by its edges. */
tsl__state tsl__state_fork(tsl__space *space, const tsl__edge *edges, uint32_t n);

/* Expand a state that is not; NULL on failure (sticky). Needs the lock. */
const tsl__state_rec *tsl__state_expand(tsl__space *space, tsl__state state);
static inline bool tsl__state_is_expanded(const tsl__state_rec *r) {
  return TSL__LIKELY(
      atomic_load_explicit(&((tsl__state_rec *)(uintptr_t)r)->expanded, memory_order_acquire));
}
/* The state, expanded; NULL on failure (sticky). Needs the lock unless it is expanded already. */
static inline const tsl__state_rec *tsl__state_expanded(tsl__space *space, tsl__state state) {
  const tsl__state_rec *r = tsl__state_at(space, state);
  return tsl__state_is_expanded(r) ? r : tsl__state_expand(space, state);
}

/* Make a LATER target, of the range `i` that `byte` is in. 0 on failure, too (sticky). */
tsl__target tsl__state_derive(tsl__space *space, const tsl__state_rec *r, uint32_t i, uint8_t byte);

/* Does an expanded state only read: no call, no fork, no end? It may still be a state of names or
 * of fixed texts. `last`: nothing follows the frame, so the state may also be nullable. */
static inline bool tsl__state_reads_on(const tsl__state_rec *r, bool last) {
  return !(r->flags & (last ? TSL__STATE_FORK : TSL__STATE_NULLABLE | TSL__STATE_FORK)) &&
         !r->edges && !r->token_edges;
}
static inline bool tsl__state_reads(const tsl__state_rec *r) {
  return tsl__state_reads_on(r, false);
}
/* The same, for a state that is not one of fixed texts. */
static inline bool tsl__state_is_plain_on(const tsl__state_rec *r, bool last) {
  return tsl__state_reads_on(r, last) && !tsl__state_fixed(r);
}
static inline bool tsl__state_is_plain(const tsl__state_rec *r) {
  return tsl__state_is_plain_on(r, false);
}

/* Where an expanded state goes by a byte, of the range that it is in; 0: nowhere, or failure
 * (sticky). Needs the lock. */
static inline tsl__target tsl__state_range(tsl__space *space, const tsl__state_rec *r,
                                           uint32_t range, uint8_t byte) {
  tsl__target t = r->targets[range];
  return TSL__LIKELY(!tsl__target_is_later(t)) ? t : tsl__state_derive(space, r, range, byte);
}

/* The same, for a byte whose range is not known. */
static inline tsl__target tsl__state_step(tsl__space *space, const tsl__state_rec *r,
                                          uint8_t byte) {
  uint32_t lo = 0, hi = r->ranges;
  if (!tsl__bytes_has(&r->live, byte)) return 0;
  const uint8_t *upper = tsl__state_upper(r);
  while (lo < hi) {
    uint32_t mid = (lo + hi) / 2;
    if (upper[mid] < byte)
      lo = mid + 1;
    else
      hi = mid;
  }
  return tsl__state_range(space, r, lo, byte);
}

/* The bytes with a target that is not dead. Bytes with a LATER target are left out. */
static inline tsl__bytes tsl__state_goes_on(const tsl__state_rec *r) {
  tsl__bytes by = {{0}};
  for (unsigned i = 0, b = 0; i < r->ranges; b = tsl__state_upper(r)[i++] + 1u)
    if (r->targets[i] && !tsl__target_is_later(r->targets[i]))
      tsl__bytes_add_range(&by, b, tsl__state_upper(r)[i]);
  return by;
}

/* Follow a target: the state for the new count. */
static inline tsl__state tsl__target_resolve(const tsl__space *s, tsl__target t, uint32_t count,
                                             uint32_t *new_count) {
  tsl__state state = tsl__target_state(t);
  uint32_t op = tsl__target_op(t);
  if (TSL__LIKELY(op == TSL__OP_CLEAR)) {
    *new_count = 0;
    return state;
  }
  const tsl__state_rec *r = tsl__state_at(s, state);
  count = op == TSL__OP_KEEP ? count : op == TSL__OP_NEXT ? count + 1 : 1;
  if (r->flags & TSL__STATE_LOOP) {
    /* above the minimum nothing changes */
    if (r->loop_max == TSL__COUNT_INF && count > r->loop_min) count = r->loop_min;
    state += count < r->loop_min ? 0 : count < r->loop_max ? 1 : 2;
  }
  *new_count = count;
  return state;
}

/* Two frames have the same frames below them. Does the first accept all that the second accepts?
 * They may differ only in the register of the loop, or in how many characters may come before the
 * loop goes on. Once the minimum is reached, the frame with fewer iterations may read more. Without
 * a maximum, the frame with more iterations must read less. */
static inline bool tsl__loop_takes(const tsl__space *s, tsl__state a, uint32_t a_count,
                                   tsl__state b, uint32_t b_count) {
  const tsl__state_rec *r = tsl__state_at(s, a), *o = tsl__state_at(s, b);
  if (!(r->flags & o->flags & TSL__STATE_LOOP)) return false;
  bool same = a - r->flags / TSL__STATE_PHASE == b - o->flags / TSL__STATE_PHASE;
  if (!same &&
      !(o->run && r->run >= o->run && r->run_class == o->run_class && r->run_then == o->run_then))
    return false;
  return r->loop_max == TSL__COUNT_INF ? a_count >= b_count
                                       : a_count <= b_count && a_count >= r->loop_min;
}

/* May tsl__loop_takes hold for a frame of that state and count? Not below the minimum of a loop
 * with a maximum: there each count accepts other texts. */
static inline bool tsl__loop_meets(const tsl__state_rec *r, uint32_t count) {
  return (r->flags & TSL__STATE_LOOP) &&
         (r->run || r->loop_max == TSL__COUNT_INF || count >= r->loop_min);
}

/* Every invariant of an expanded state; for tests. */
bool tsl__state_check(const tsl__space *space, tsl__state state);

#endif
