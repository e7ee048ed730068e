/* space.h - the tables of one grammar: states, leftover tries, masks, walks, stacks.
 *
 * A space is a layer. The vocabulary has one (made once, then frozen: JSON strings, numbers,
 * whitespace are warm for every schema), each grammar has one on top. Numbers below `first` of a
 * table belong to the layer below. Every lookup goes through both; what is new goes into
 * the upper one. One thread adds at a time (the grammar's lock), readers need none: see pool.h.
 *
 *   state     an expression seen from outside: transitions by byte class, calls, complete or not
 *             (state.h)
 *   leftover  what is left to spell: a set of trie nodes, merged lazily
 *             (leftover.h)
 *   mask      what is allowed: shared bitsets, and a few tokens more or less
 *             (runtime/masks/mask.h)
 *   walk      (state, leftover) → (mask, leftover), memoised
 *             (runtime/walk/walk.h)
 *   stacks    sets of frames with shared tails
 *             (runtime/position/stacks.h)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_AUTOMATON_SPACE_H
#define TSL_RUNTIME_AUTOMATON_SPACE_H

#include "runtime/core/pool.h"
#include "runtime/core/trie.h"
#include "runtime/vocab/vocab.h"

typedef uint32_t tsl__state; /* 0 is dead: nothing matches */
typedef struct tsl__space tsl__space;

/* One table of a layer. */
typedef struct tsl__table {
  uint32_t first;
  tsl__index index;
  /* last: what is read of it most lies at its beginning, in one cache line with the others */
  tsl__pool pool;
} tsl__table;

struct tsl__state_rec;
struct tsl__hint;
struct tsl__spelled;
struct tsl__walk;
struct tsl__adopted;
struct tsl__mask_rec;

/* How states grow, in three interfaces: filled in by the compiler, absent where a program only
 * loads artifacts. */

/* What a state is, and where it goes. */
typedef struct tsl__hook_states {
  /* Fill in transitions and calls of a state (see tsl__state_fill). Called under the lock, once per
   * state. */
  tsl_status (*expand)(void *ctx, tsl__state state);
  /* Where an expanded state goes by a byte whose target was left for later. */
  uint32_t (*derive)(void *ctx, const struct tsl__state_rec *state, uint8_t byte);
  /* For each of its ranges the first one that leads to the same place for sure, which may be that
   * itself. False: that is not known. NULL: never. */
  bool (*alike)(void *ctx, const struct tsl__state_rec *state, uint8_t *first);
  /* Where it goes by any character past ASCII that begins with these bytes (TSL__LEADS), all of
   * whose bytes it reads without being left. TSL__TARGET_LATER: that depends on the character, or
   * is not known. Fewer are left in *leads, if that is said of those only. 0 on failure, too. NULL:
   * never known. */
  uint32_t (*past_ascii)(void *ctx, const struct tsl__state_rec *state, uint64_t *leads);
  /* A state in a JSON string that goes where this one does by all bytes but *but, which has the
   * quote and the backslash. 0: none is known, also on failure. NULL: never. */
  tsl__state (*falls_to)(void *ctx, const struct tsl__state_rec *state, tsl__bytes *but);
  /* Where a state that spells fixed texts goes on, when it may become [lo, hi) of them, and `depth`
   * bytes have been read. 0 on failure. */
  tsl__state (*fixed)(void *ctx, const struct tsl__state_rec *from, uint32_t lo, uint32_t hi,
                      uint32_t depth);
  /* What helps the walk in this (expanded) state: fill *hint, or return false. First its form,
   * which is quickly found out; then, its hint being that, the same with letters. */
  bool (*form)(void *ctx, const struct tsl__state_rec *state, struct tsl__hint *hint);
  bool (*letters)(void *ctx, const struct tsl__state_rec *state, struct tsl__hint *hint);
  /* What is known at once of a state in a JSON string: TSL__TEXT_... (state.h), and of one that
   * counts the least and the most characters to come, if it has no register. NULL: nothing. */
  unsigned (*text)(void *ctx, const struct tsl__state_rec *state, uint32_t *least, uint32_t *most);
  /* The same of strings that count, and of others nothing, in less time. */
  unsigned (*counted)(void *ctx, const struct tsl__state_rec *state, uint32_t *least,
                      uint32_t *most);
  /* The fewest bytes from a state, its register being `count`, to the end of its frame; saturates
   * at UINT32_MAX. */
  uint32_t (*shortest)(void *ctx, tsl__state state, uint32_t count);
  /* Can a text end the frame of a state without a register? The text has at most `room` characters,
   * and the rest of one that is cut off. False on failure, too. NULL: never known. */
  bool (*ends_within)(void *ctx, const struct tsl__state_rec *state, uint32_t room);
  /* A walk that was done ahead, in the space's numbers; false if there is none (or on failure,
   * sticky). NULL: no walk was. */
  bool (*walk)(void *ctx, tsl__state state, uint32_t context, uint32_t over, struct tsl__walk *out);
  /* A digest of what the state stands for, the same in every grammar of the vocabulary; false: it
   * cannot be said without its grammar. NULL: of none. */
  bool (*meaning)(void *ctx, tsl__state state, const uint8_t *secret, tsl__digest *out);
  /* Hand over, word by word, a description from which a state and all that follows can be grown
   * again (`put` NULL: only ask). False: it has none, its transitions must be listed. */
  bool (*outline)(void *ctx, tsl__state state, void *to, bool (*put)(void *to, uint32_t word));
  /* A state for listings; writes at most n bytes with NUL. */
  void (*print)(void *ctx, tsl__state state, char *out, size_t n);
} tsl__hook_states;

/* Members of an object after their names: RESUME states, which let some names through. */
typedef struct tsl__hook_names {
  /* Does a RESUME state let a name through? And where does it go on after one that it does; 0 on
   * failure. */
  bool (*allows)(void *ctx, tsl__state resume, uint32_t name);
  /* Those of 64 names, from number 64 * `word` on, of which that is known at once. *allowed has
   * those of them that it lets through. NULL: of none. */
  uint64_t (*allowed)(void *ctx, tsl__state resume, uint32_t word, uint64_t *allowed);
  uint32_t (*resume)(void *ctx, tsl__state resume, uint32_t name);
  /* The frame that is called after a name that it lets through. *then is the state to which this
   * frame comes back, if there is nothing beside. Else, or if that is not known, 0. NULL: never
   * known. */
  tsl__state (*calls)(void *ctx, tsl__state resume, uint32_t name, tsl__state *then);
  /* That frame, or another that allows the same until it has ended, and is cheaper to make; 0: none
   * is known. NULL where `calls` is. */
  tsl__state (*begins)(void *ctx, tsl__state resume, uint32_t name);
  /* The fewest bytes that spell a name to its end from a KEYED state. From a RESUME that lets it
   * through: those that come after it. Saturates at UINT32_MAX. */
  uint32_t (*name_shortest)(void *ctx, tsl__state state, uint32_t name);
} tsl__hook_names;

/* The context itself: its work, its memory, and others made from it. */
typedef struct tsl__hook_life {
  /* Called at the start of each piece of work: resets the step budget. It must end at `deadline`
   * (0: never). */
  void (*begin)(void *ctx, uint64_t deadline);
  /* Why the last call failed. */
  const char *(*why)(void *ctx);
  size_t (*memory)(void *ctx);
  uint32_t (*count)(void *ctx); /* of expressions */
  void (*free)(void *ctx);
  /* A context for another space, empty yet, whose states grow out of the same things as those of
   * this one, which outlives it. NULL when out of memory. */
  void *(*again)(void *ctx, tsl__space *fresh);
  /* The state here that stands for the same as `state` of `from`. The context of `from` was made by
   * `again` from the same one, or is that one. 0 on failure (sticky). */
  tsl__state (*carry)(void *ctx, const tsl__space *from, tsl__state state);
  /* A new space over the vocabulary's layer for spellings of values, and nothing else; NULL on
   * failure (sticky). See runtime/position/distinct_deny.c. */
  tsl__space *(*speller)(void *ctx);
  /* In such a space: the state that begins the spellings of these values (JSON texts), with white
   * space before them; 0 on failure (sticky). */
  tsl__state (*spellings)(void *ctx, const struct tsl__spelled *texts, uint32_t n);
} tsl__hook_life;

typedef struct tsl__hook {
  tsl__hook_states states;
  tsl__hook_names names;
  tsl__hook_life life;
} tsl__hook;

#define TSL__DELTA_MAX 8u
#define TSL__DELTA_WORK 1024u /* steps from which a walk is worth telling others from */
/* live bytes of a state that may live on nearly all letters (runtime/walk/subtract.c) */
#define TSL__SUBTRACT_BYTES 128u

#define TSL__QUOTED 8u
#define TSL__STARTS_MAX 16u

/* A walk that others may be derived from (runtime/walk/delta.c). */
typedef struct tsl__delta_base {
  uint32_t walk, count; /* its number; the register of its state */
} tsl__delta_base;

/* Two sets of nodes and what they are together (leftover.h); 0: too many. */
typedef struct tsl__joined {
  uint32_t a, b, both;
} tsl__joined;
#define TSL__JOINED 8u
#define TSL__FOLLOWED 16u /* what follows, as far as the last walks needed it (narrowed.c) */

/* What the mask of a position is gathered of (runtime/position/stacks_mask.c): stacks, each over
 * what those above it leave to spell. */
typedef struct tsl__chains {
  uint64_t *slots; /* these, once there are many; 0: free */
  size_t capacity, n;
  uint32_t looked; /* at so many, known or not */
} tsl__chains;

/* How layers are made, freed and counted, and what their masks share with those of other grammars.
 * The room that knows all tables fills this in (runtime/position/layer.c), so that the rooms below
 * need not know it. */
typedef struct tsl__layer_ops {
  tsl_status (*make)(const tsl__space *parent, const tsl_vocab *vocab, const tsl_allocator *a,
                     const tsl_limits *limits, tsl__space **out);
  void (*free)(tsl__space *space);
  size_t (*memory)(const tsl__space *space);
  /* see runtime/walk/shared_walks.h */
  uint32_t (*shared_base)(tsl__space *space, const uint32_t *bases, uint32_t n);
  void (*shared_row)(tsl__space *space, uint32_t mask, const struct tsl__mask_rec *m);
} tsl__layer_ops;

/* One piece of work, and what bounds it. */
typedef struct tsl__work {
  uint64_t steps, max_steps; /* nodes visited in this piece of work */
  uint64_t earlier_steps;    /* in those before */
  uint64_t look_at;          /* steps at which time and memory are looked at next */
  uint64_t room_until;       /* bytes of the arena up to which memory need not be looked at */
  /* the same for its share of what is kept for speed (runtime/matcher/generation.h) */
  uint64_t full_at;
  uint64_t max_memory;
  uint64_t text_memory; /* of tsl_limits; 0: the default */
  const int *cancel;
  /* time for one piece of work; when this one must end (0: never) */
  uint64_t deadline_us, deadline;
  /* while somebody waits for many pieces together: when the last of them must end, UINT64_MAX:
   * never; 0: nobody does */
  uint64_t until;
} tsl__work;

/* What runtime/walk keeps from one walk to the next. */
typedef struct tsl__walking {
  uint32_t depth; /* of nested walks */
  /* depth of the outermost walk that a walk in progress came back to; UINT32_MAX: none */
  uint32_t cycle;
  struct tsl__scratch *scratch;                /* reusable buffers of the walk */
  struct tsl__rows *rows;                      /* of linear.c, while a walk is under way */
  tsl__bytes follow_bytes;                     /* all that most of `follows` begin with */
  struct tsl__naming *naming;                  /* and of walks along names (names.c) */
  tsl__delta_base delta_bases[TSL__DELTA_MAX]; /* the last ones */
  uint32_t delta_count;                        /* in all */
  uint64_t delta_work;                         /* TSL__DELTA_WORK; tests have less, or more */
  uint32_t delta_met, delta_missed;            /* states that had such a one, or not */
  uint32_t subtract_bytes;                     /* TSL__SUBTRACT_BYTES; tests have more */
  uint32_t subtract_met;                       /* walks that were derived from a class */
  uint32_t shortcuts_off;                      /* TSL__SHORTCUT_... (walk.h): tests turn some off */
  TSL__VEC(struct tsl__adopted) adopted;       /* bitsets of shared_walks.h */
  uint32_t followed[TSL__FOLLOWED];            /* of the last walks, the newest first; 0: none */
} tsl__walking;

/* What runtime/position keeps from one position to the next. */
typedef struct tsl__positions {
  /* TSL__NEW_... (state.h): what some states are guarded for; then positions may have a memory
   * (distinct.h) */
  uint8_t watches;
  uint32_t max_stacks;
  uint32_t union_depth; /* of unions of tails */
  /* where values that were used are spelled (distinct_deny.c); NULL until then */
  tsl__space *spelled;
  uint64_t spelled_memory;              /* of that, when last looked at */
  tsl__state spelled_end;               /* of such a space: see there; 0 until it is made */
  struct tsl__run *runs;                /* kept for reuse (distinct_run.h) */
  tsl__chains chains;                   /* of the mask that is gathered */
  struct tsl__spare_steps *spare_steps; /* reusable buffers of steps (stacks.c) */
} tsl__positions;

/* What a vocabulary's layer has, once, for all grammars; zeros in a grammar's layer. */
typedef struct tsl__warm {
  struct tsl__boundary *boundary; /* see runtime/position/boundary.h */
  /* states of its rules that do nothing but read, walked over the whole vocabulary
   * (runtime/walk/walk.c); 0 behind the last */
  tsl__state starts[TSL__STARTS_MAX];
  /* any number of digits, and of those that do not begin with 0, walked over the whole
   * vocabulary */
  tsl__state digits[2];
  /* digits that tokens have at most; 0: there is more than digits below some, or too many */
  uint32_t digits_depth;
  /* the frame of a member of any name and any value, from its opening quote on
   * (runtime/walk/walk.c); 0: none */
  tsl__state extra;
  /* a string of so many characters at least, the last of more than any token has, whichever, with
   * its opening quote. Walked over the whole vocabulary, and over what white space leaves */
  tsl__state quoted[TSL__QUOTED];
  tsl__frozen *frozen;             /* its walks, once there will be no more (runtime/walk/walk.c) */
  tsl__frozen *frozen_unions;      /* the same of its unions (runtime/masks/union_memo.c) */
  struct tsl__lengths *lengths;    /* of the vocabulary's tokens */
  struct tsl__linear *linear;      /* of its trie */
  struct tsl__any_texts *any_text; /* see runtime/walk/text/any_text.h */
} tsl__warm;

struct tsl__space {
  const tsl__space *parent;
  uint32_t mask_words; /* of the vocabulary's masks: read with each, and close by */
  /* matchers here go on in newer tables (runtime/matcher/generation.h): read with each token */
  atomic_bool left;
  tsl__table masks, stacks;
  const tsl_vocab *vocab;
  tsl_allocator alloc;
  const tsl__hook *hook;
  void *hook_ctx;
  tsl__arena arena;   /* the tables' entries, and their small arrays */
  tsl_allocator kept; /* from there: for what is given back with all else */
  tsl__table states, stand_ins, leftovers, children, bitsets, unions, classes, walks, moves, named,
      resumed, nonascii_sets, opens, used, seen_names, texts, distinct, follows, letters_after;
  const tsl__layer_ops *layer;
  tsl_status status; /* sticky during one piece of work */
  const char *why;
  /* some state names tokens, or will: then a token can be accepted by its name */
  bool names_tokens;
  struct tsl__gather *gather;      /* for masks of positions */
  uint32_t *spare_bits;            /* room for a bitset that turned out to be there; NULL: none */
  tsl__joined joined[TSL__JOINED]; /* the last ones */
  atomic_uint rows; /* masks that are written out for good (runtime/masks/borrow.h) */
  tsl__work work;
  tsl__walking walking;
  tsl__positions positions;
  tsl__warm warm;
};

static inline void tsl__space_free(tsl__space *space) {
  if (space) space->layer->free(space);
}
/* Bytes that it holds. */
static inline size_t tsl__space_memory(const tsl__space *space) {
  return space->layer->memory(space);
}
/* The same without what its hook holds, which other spaces may share. */
static inline size_t tsl__space_own_memory(const tsl__space *space) {
  size_t all = space->layer->memory(space);
  return all -
         (space->hook && space->hook->life.memory ? space->hook->life.memory(space->hook_ctx) : 0);
}
/* Set the limits of a new space (NULL: the defaults), and begin its first piece of work. */
void tsl__space_limits(tsl__space *space, const tsl_limits *limits);
/* Begin a piece of work: clears the sticky status and the step budget. Where `until` is set, the
 * time and `cancel` are looked at: small pieces never come to it. */
void tsl__space_begin(tsl__space *space);
/* The same for work that was requested before, and must end at `deadline` (0: never). */
void tsl__space_begin_by(tsl__space *space, uint64_t deadline);
/* The next part of the same work: the step budget begins anew; the time, which is looked at, does
 * not, and a failure sticks. */
void tsl__space_go_on(tsl__space *space);
/* Make a failure stick. `why` outlives the space. Returns `status`. */
TSL__COLD tsl_status tsl__space_fail(tsl__space *space, tsl_status status, const char *why);
TSL__COLD bool tsl__space_no_memory(tsl__space *space); /* fails, and is false */
/* Every 1024 steps of a piece of work, and at its first one where the tables have grown by some of
 * what was left. False when the budget or the time is spent, memory is full or the caller cancelled
 * (sticky). */
bool tsl__space_look(tsl__space *space);
/* Steps in all. */
static inline uint64_t tsl__space_steps(const tsl__space *space) {
  return space->work.earlier_steps + space->work.steps;
}
/* Count `n` steps; false as above. */
static inline bool tsl__space_step(tsl__space *space, uint32_t n) {
  space->work.steps += n;
  return TSL__LIKELY(space->work.steps < space->work.look_at) ? space->status == TSL_OK
                                                              : tsl__space_look(space);
}
/* Before something is made without counting steps: false, which sticks, where the tables are full
 * already. */
static inline bool tsl__space_has_room(tsl__space *space) {
  return TSL__LIKELY(space->arena.total < space->work.room_until) || tsl__space_look(space);
}

/* Element `i` of a table, from the layer that has it. `TABLE` is a member name; `element`: bytes of
 * one. */
#define tsl__space_at_of(space, TABLE, i, element)                                         \
  ((i) < (space)->TABLE.first                                                              \
       ? tsl__pool_at_of(&(space)->parent->TABLE.pool, (i) - (space)->parent->TABLE.first, \
                         element)                                                          \
       : tsl__pool_at_of(&(space)->TABLE.pool, (i) - (space)->TABLE.first, element))
#define tsl__space_at(space, TABLE, i) \
  tsl__space_at_of(space, TABLE, i, (space)->TABLE.pool.element)
#define tsl__space_count(space, TABLE) ((space)->TABLE.first + (space)->TABLE.pool.n)

#endif
