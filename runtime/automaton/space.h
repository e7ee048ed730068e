/* space.h - the tables of one grammar: states, leftover tries, masks, walks, stacks.
 *
 * A space is a layer. The vocabulary has one (made once, then frozen: JSON strings, numbers,
 * whitespace are warm for every schema), each grammar has one on top. Numbers below `first` of a
 * table belong to the layer below. Every lookup goes through both; what is new goes into
 * the upper one. One thread adds at a time (the grammar's lock), readers need none: see
 * core/pool.h.
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
  /* last, because its first fields are read most, and so lie in one cache line with the others */
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
  /* For each range of a state: the first range that certainly leads to the same place, perhaps the
   * range itself. False: not known. NULL: never known. */
  bool (*alike)(void *ctx, const struct tsl__state_rec *state, uint8_t *first);
  /* Where a state goes by a character past ASCII, if the frame reads all bytes of the character. It
   * is the same state for all characters that begin with a byte of *leads (TSL__LEADS).
   * TSL__TARGET_LATER: it depends on the character, or is not known. If the answer holds for fewer
   * first bytes, only these are left in *leads. 0 on failure, too. NULL: never known. */
  uint32_t (*past_ascii)(void *ctx, const struct tsl__state_rec *state, uint64_t *leads);
  /* A state in a JSON string that goes to the same states as this one by all bytes but those of
   * *but. *but has the quote and the backslash. 0: none is known, or failure. NULL: never known. */
  tsl__state (*falls_to)(void *ctx, const struct tsl__state_rec *state, tsl__bytes *but);
  /* The state that follows a state of fixed texts, when the texts [lo, hi) are still possible and
   * `depth` bytes were read. 0 on failure. */
  tsl__state (*fixed)(void *ctx, const struct tsl__state_rec *from, uint32_t lo, uint32_t hi,
                      uint32_t depth);
  /* What helps the walk in an expanded state: fill *hint, or return false. `form` is called first,
   * and is quick. `letters` adds the letters to the hint that `form` filled. */
  bool (*form)(void *ctx, const struct tsl__state_rec *state, struct tsl__hint *hint);
  bool (*letters)(void *ctx, const struct tsl__state_rec *state, struct tsl__hint *hint);
  /* What is known at once of a state in a JSON string: TSL__TEXT_... (state.h). If the string
   * counts characters, and has no register: the least and the most that are to come. NULL:
   * nothing. */
  unsigned (*text)(void *ctx, const struct tsl__state_rec *state, uint32_t *least, uint32_t *most);
  /* The same in less time, for strings that count characters only. */
  unsigned (*counted)(void *ctx, const struct tsl__state_rec *state, uint32_t *least,
                      uint32_t *most);
  /* The fewest bytes from a state, its register being `count`, to the end of its frame; saturates
   * at UINT32_MAX. */
  uint32_t (*shortest)(void *ctx, tsl__state state, uint32_t count);
  /* Can a text of at most `room` characters end the frame of a state without a register? The rest
   * of a character that was cut off does not count. False on failure, too. NULL: never known. */
  bool (*ends_within)(void *ctx, const struct tsl__state_rec *state, uint32_t room);
  /* A walk that was done ahead, in the space's numbers; false if there is none (or on failure,
   * sticky). NULL: no walk was. */
  bool (*walk)(void *ctx, tsl__state state, uint32_t context, uint32_t over, struct tsl__walk *out);
  /* A digest of what the state stands for, the same in every grammar of the vocabulary; false: it
   * cannot be said without its grammar. NULL: of none. */
  bool (*meaning)(void *ctx, tsl__state state, const uint8_t *secret, tsl__digest *out);
  /* Hand over, word by word, a description from which a state and all that follows can be grown
   * again (`put` NULL: only ask). False: there is none, and the transitions of the state must be
   * listed. */
  bool (*outline)(void *ctx, tsl__state state, void *to, bool (*put)(void *to, uint32_t word));
  /* A state for listings; writes at most n bytes with NUL. */
  void (*print)(void *ctx, tsl__state state, char *out, size_t n);
} tsl__hook_states;

/* Members of an object after their names: RESUME states, which let some names through. */
typedef struct tsl__hook_names {
  /* allows: does a RESUME state let a name through? resume: where does it go on after such a name;
   * 0 on failure. */
  bool (*allows)(void *ctx, tsl__state resume, uint32_t name);
  /* The same for the 64 names from number 64 * `word` on: a bit for each name of which the answer
   * is known at once. *allowed has the bits of names that are let through. NULL: none is known. */
  uint64_t (*allowed)(void *ctx, tsl__state resume, uint32_t word, uint64_t *allowed);
  uint32_t (*resume)(void *ctx, tsl__state resume, uint32_t name);
  /* The frame that is called after a name which the state lets through. *then is the state to which
   * that frame returns, if there is only one way. Otherwise, or if it is not known, 0. NULL: never
   * known. */
  tsl__state (*calls)(void *ctx, tsl__state resume, uint32_t name, tsl__state *then);
  /* That frame, or one that allows the same up to its end and is cheaper to make; 0: none is known.
   * NULL where `calls` is NULL. */
  tsl__state (*begins)(void *ctx, tsl__state resume, uint32_t name);
  /* The fewest bytes that spell a name to its end from a KEYED state. For a RESUME state that lets
   * the name through: the fewest bytes after the name. Saturates at UINT32_MAX. */
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
  /* A context for the new, empty space `fresh`. Its states grow out of the same expressions, and
   * this context outlives it. NULL when out of memory. */
  void *(*again)(void *ctx, tsl__space *fresh);
  /* The state of this space that stands for the same as `state` of `from`. The contexts of both
   * spaces go back to the same one by `again`. 0 on failure (sticky). */
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
#define TSL__DELTA_WORK 1024u /* a walk of fewer steps is no base for others */
/* a state with so many live bytes may live on nearly all letters (runtime/walk/subtract.c) */
#define TSL__SUBTRACT_BYTES 128u

#define TSL__QUOTED 8u
#define TSL__STARTS_MAX 16u

/* A walk that others may be derived from (runtime/walk/delta.c). */
typedef struct tsl__delta_base {
  uint32_t walk, count; /* its number; the register of its state */
} tsl__delta_base;

/* Two leftovers and their union (leftover.h); 0: it has too many nodes. */
typedef struct tsl__joined {
  uint32_t a, b, both;
} tsl__joined;
#define TSL__JOINED 8u
/* of how many of the last walks it is known what followed their frames (walk/narrowed.c) */
#define TSL__FOLLOWED 16u

/* The parts of a position's mask (runtime/position/stacks_mask.c): pairs of a stack and the
 * leftover of the frames above it. */
typedef struct tsl__chains {
  uint64_t *slots; /* a hash table of the pairs, once there are many; 0: free */
  size_t capacity, n;
  uint32_t looked; /* how many pairs were looked up, known or not */
} tsl__chains;

/* How layers are made, freed and measured, and which masks grammars share. The room that knows all
 * tables fills this in (runtime/position/layer.c), so that the rooms below need not know it. */
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
  uint64_t earlier_steps;    /* those of earlier pieces of work */
  uint64_t look_at;          /* steps at which time and memory are looked at next */
  uint64_t room_until;       /* bytes of the arena up to which memory need not be looked at */
  /* bytes of the arena at which its share of memory is checked (runtime/matcher/generation.h) */
  uint64_t full_at;
  uint64_t max_memory;
  uint64_t text_memory; /* of tsl_limits; 0: the default */
  const int *cancel;
  /* time for one piece of work; when this one must end (0: never) */
  uint64_t deadline_us, deadline;
  /* when one call waits for many pieces of work: the deadline of all of them, UINT64_MAX: never. 0:
   * no such call */
  uint64_t until;
} tsl__work;

/* What runtime/walk keeps from one walk to the next. */
typedef struct tsl__walking {
  uint32_t depth; /* of nested walks */
  /* depth of the outermost walk under way that was needed again by a walk inside it; UINT32_MAX:
   * none */
  uint32_t cycle;
  struct tsl__scratch *scratch; /* reusable buffers of the walk */
  struct tsl__rows *rows;       /* of walk/linear.c, while a walk is under way */
  tsl__bytes follow_bytes;      /* all bytes that most of `follows` begin with */
  struct tsl__naming *naming;   /* reusable buffers of walks along names (walk/names.c) */
  tsl__delta_base delta_bases[TSL__DELTA_MAX]; /* the last ones */
  uint32_t delta_count;                        /* in all */
  uint64_t delta_work;                         /* TSL__DELTA_WORK; tests have less, or more */
  uint32_t delta_met, delta_missed;            /* states for which a base was found, or not */
  uint32_t subtract_bytes;                     /* TSL__SUBTRACT_BYTES; tests have more */
  uint32_t subtract_met;                       /* walks that were derived from a class */
  uint32_t shortcuts_off;                /* TSL__SHORTCUT_... (walk/walk.h): tests turn some off */
  TSL__VEC(struct tsl__adopted) adopted; /* bitsets of walk/shared_walks.h */
  uint32_t followed[TSL__FOLLOWED];      /* of the last walks, the newest first; 0: none */
} tsl__walking;

/* What runtime/position keeps from one position to the next. */
typedef struct tsl__positions {
  /* TSL__NEW_... (state.h): for what states are guarded; if any are, positions may have distinct
   * records (position/distinct.h) */
  uint8_t watches;
  uint32_t max_stacks;
  uint32_t union_depth; /* of unions of tails */
  /* the space for spellings of used values (position/distinct_deny.c); NULL: not needed yet */
  tsl__space *spelled;
  uint64_t spelled_memory; /* bytes of that space, when last measured */
  tsl__state spelled_end;  /* in that space: see position/distinct_deny.c; 0: not made yet */
  struct tsl__run *runs;   /* kept for reuse (position/distinct_run.h) */
  tsl__chains chains;      /* of the mask that is being gathered */
  struct tsl__spare_steps *spare_steps; /* reusable buffers of steps (position/stacks.c) */
} tsl__positions;

/* What a vocabulary's layer keeps for all its grammars; zeros in a grammar's layer. */
typedef struct tsl__warm {
  struct tsl__boundary *boundary; /* see runtime/position/boundary.h */
  /* states of its rules that only read, and that were walked over the whole vocabulary
   * (runtime/walk/walk.c); 0 behind the last */
  tsl__state starts[TSL__STARTS_MAX];
  /* any number of digits, and any number that does not begin with 0; both walked over the whole
   * vocabulary */
  tsl__state digits[2];
  /* the most digits of a token; 0: below some digits the trie has other bytes, or too many
   * digits */
  uint32_t digits_depth;
  /* the frame of a member of any name and any value, from its opening quote on
   * (runtime/walk/walk.c); 0: none */
  tsl__state extra;
  /* strings with their opening quote and a least number of characters; the last one's is more than
   * any token has. Walked over the whole vocabulary, and over the leftover of white space */
  tsl__state quoted[TSL__QUOTED];
  tsl__frozen *frozen;             /* its walks, when no more are added (runtime/walk/walk.c) */
  tsl__frozen *frozen_unions;      /* its unions of masks (runtime/masks/union_memo.c) */
  struct tsl__lengths *lengths;    /* of the vocabulary's tokens */
  struct tsl__linear *linear;      /* of its trie */
  struct tsl__any_texts *any_text; /* see runtime/walk/text/any_text.h */
} tsl__warm;

struct tsl__space {
  const tsl__space *parent;
  uint32_t mask_words; /* words of a mask; beside `parent`, because each mask needs it */
  /* matchers must move to newer tables (runtime/matcher/generation.h); read with each token */
  atomic_bool left;
  tsl__table masks, stacks;
  const tsl_vocab *vocab;
  tsl_allocator alloc;
  const tsl__hook *hook;
  void *hook_ctx;
  tsl__arena arena;   /* the tables' entries, and their small arrays */
  tsl_allocator kept; /* allocates from `arena`, for arrays that are freed with the space */
  tsl__table states, stand_ins, leftovers, children, bitsets, unions, classes, walks, moves, named,
      resumed, nonascii_sets, opens, used, seen_names, texts, distinct, follows, letters_after;
  const tsl__layer_ops *layer;
  tsl_status status; /* sticky during one piece of work */
  const char *why;
  /* some state names tokens, or will: a token can be accepted by its name */
  bool names_tokens;
  struct tsl__gather *gather;      /* for masks of positions */
  uint32_t *spare_bits;            /* room of a bitset that was there already; NULL: none */
  tsl__joined joined[TSL__JOINED]; /* the last ones */
  atomic_uint rows;                /* how many masks have a row (runtime/masks/borrow.h) */
  tsl__work work;
  tsl__walking walking;
  tsl__positions positions;
  tsl__warm warm;
};

static inline void tsl__space_free(tsl__space *space) {
  if (space) space->layer->free(space);
}
/* The bytes of a space, with those of its hook. */
static inline size_t tsl__space_memory(const tsl__space *space) {
  return space->layer->memory(space);
}
/* The same without the bytes of the hook, which other spaces may share. */
static inline size_t tsl__space_own_memory(const tsl__space *space) {
  size_t all = space->layer->memory(space);
  return all -
         (space->hook && space->hook->life.memory ? space->hook->life.memory(space->hook_ctx) : 0);
}
/* Set the limits of a new space (NULL: the defaults), and begin its first piece of work. */
void tsl__space_limits(tsl__space *space, const tsl_limits *limits);
/* Begin a piece of work: clears the sticky status and the step budget. Where work.until is set, the
 * deadline and `cancel` are checked at once, because a small piece of work never counts enough
 * steps for that. */
void tsl__space_begin(tsl__space *space);
/* The same for work that began earlier, and must end at `deadline` (0: never). */
void tsl__space_begin_by(tsl__space *space, uint64_t deadline);
/* Begin the next part of the same work. The step budget begins anew, the deadline stays and is
 * checked, and a failure stays. */
void tsl__space_go_on(tsl__space *space);
/* Make a failure stick. `why` outlives the space. Returns `status`. */
TSL__COLD tsl_status tsl__space_fail(tsl__space *space, tsl_status status, const char *why);
TSL__COLD bool tsl__space_no_memory(tsl__space *space); /* fails, and is false */
/* Check the limits. It is called every 1024 steps of a piece of work, and where the tables have
 * grown by some part of what was left. False (sticky): too many steps, deadline, out of max_memory,
 * or cancelled. */
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
/* For code that adds to the tables without counting steps: false (sticky) if the tables are
 * full. */
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
