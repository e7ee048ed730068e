/* artifact.h - a grammar as one file that is mapped back.
 *
 * Problem   A server starts many processes, and each compiles the same grammars and walks the same
 *           states. A program that only follows grammars need not contain a compiler at all.
 * Idea      When the file is made, every reachable state is expanded and written down (ahead.c).
 *           Normally the engine expands a state when it is visited. Loading maps the file and reads
 *           only its header. The loaded grammar is an ordinary space. Its hook
 *           (runtime/automaton/space.h) reads states from the file; the compiler's hook derives
 *           them from expressions. So states, walks, stacks and masks are one code path, and a
 *           state costs something only when it is visited.
 * Memo      A part of the file holds walks that were done ahead (ahead_walks.c). They go over the
 *           whole vocabulary from each state, and over what such a walk leaves to the frames below.
 *           A walk that the file does not have is done at run time. Masks that are bitsets lie in
 *           the file as they are used: processes share their pages.
 * Checks    The file is blocks of 16 KiB, each with an XXH3-64 in a table that the header's own
 *           checksum covers. Loading verifies the header, the table, and that the vocabulary is the
 *           right one. A block is verified before its first byte is used. Every number is checked
 *           against its bounds when it is read. So loading takes the same time whatever the size,
 *           and no file, forged checksums included, can make the program read outside of it. A
 *           block that is not sound makes the mask or token that needs it fail with TSL_ERR_FORMAT.
 * Outlines  The digits read of a number make no finite set of states. So these states are not
 *           listed but described. The number files of the compiler make them again
 *           (compiler/states/outline.c); every library has those.
 * Closed    Only a complete artifact has states. Some grammars have more states than the caller's
 *           bound, such as an object with many members in any order. Others compare items
 *           (uniqueItems), and have no states to list. Their artifact holds the source text.
 *           Loading compiles it, so it needs a library with the compiler.
 * Machines  Numbers stand as in the memory of the machine that wrote the file. A machine with the
 *           other order of bytes reads the mark the wrong way round, and refuses the file.
 * Stale     `version` is raised when the meaning of a file changes; a file with another version is
 *           refused. `memo` is raised when the meaning of a walk changes (walk/walk.c,
 *           masks/mask.c, automaton/leftover.c, the order of the trie); then the file's memo is
 *           ignored.
 * Size      Some 60 bytes a state; a mask that is no bitset takes 4 bytes a token of difference.
 * Tested by tests/artifact/test_artifact.c, fuzz/fuzz_artifact.c
 *
 *   header | checksums of the blocks | sections, each at a multiple of 64 bytes from the first
 *   block's begin
 *   STATES    u32[n]: where in BODY each state is, in words
 *   BODY      the states: see ahead.c
 *   RANGES    u32: pairs of code points, tokens: lists that hints and edges point at
 *   BITSETS   u32[3 n]: encoding, words in DENSE or LISTS, its size
 *   DENSE     whole bitsets, u32[mask words] each
 *   LISTS     u32: lists of tokens and nodes
 *   MASKS     u32[4 n]: offset into LISTS, bitsets, tokens removed, tokens put in
 *   LEFTOVERS u32[2 n]: offset into LISTS, nodes
 *   LEFT_SLOTS, WALK_SLOTS   u32[2^k]: hash tables of numbers, 0 is free
 *   WALKS     u32[7 n]: state, context, over, left, mask, exits, reach
 *   REPORT    the report, with NUL
 *   SOURCE    what it was compiled from (compiler/grammar/store.c), or nothing
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_ARTIFACT_ARTIFACT_H
#define TSL_RUNTIME_ARTIFACT_ARTIFACT_H

#include "runtime/matcher/grammar.h"

#define TSL__ARTIFACT_VERSION 4u
#define TSL__ARTIFACT_MEMO 4u
#define TSL__ARTIFACT_MARK 0x01020304u
#define TSL__ARTIFACT_BLOCK 16384u
#define TSL__ARTIFACT_ALIGN 64u
#define TSL__ARTIFACT_MAX ((uint64_t)1 << 31) /* bytes of a file */

enum {
  TSL__A_STATES,
  TSL__A_BODY,
  TSL__A_RANGES,
  TSL__A_BITSETS,
  TSL__A_DENSE,
  TSL__A_LISTS,
  TSL__A_MASKS,
  TSL__A_LEFTOVERS,
  TSL__A_LEFT_SLOTS,
  TSL__A_WALK_SLOTS,
  TSL__A_WALKS,
  TSL__A_REPORT,
  TSL__A_SOURCE,
  TSL__A_SECTIONS
};

typedef struct tsl__a_section {
  uint64_t offset, size; /* bytes, from the file's begin */
} tsl__a_section;

enum {
  TSL__A_COMPLETE = 1,
  TSL__A_NAMES = 2 /* additional names must be new (runtime/position/distinct.h) */,
  TSL__A_FEW_NAMES = 4 /* TSL__FEW_NAMES, runtime/automaton/state.h */,
  TSL__A_TOKENS = 8 /* some state names tokens */
};

typedef struct tsl__a_header {
  char magic[8];
  uint32_t mark, version, memo, flags;
  uint64_t size;      /* of the file, bytes */
  uint64_t blocks;    /* of what follows the table of checksums */
  uint64_t begin;     /* of the first block */
  uint8_t tokens[16]; /* identity of the vocabulary's tokens: what a mask depends on */
  /* XXH3-128 of what it was compiled from (compiler/grammar/store.c); zero: not known */
  uint8_t key[16];
  uint32_t mask_words, nodes;                        /* of the vocabulary, of its trie */
  uint32_t start;                                    /* the first state */
  uint32_t states, walks, masks, bitsets, leftovers; /* how many */
  tsl__a_section section[TSL__A_SECTIONS];
  uint64_t checksum; /* XXH3-64 of the header with this field zero, and of the table */
} tsl__a_header;

extern const char tsl__a_magic[8];

/* How a bitset is written. */
enum { TSL__BITS_DENSE = 0, TSL__BITS_SPARSE = 1, TSL__BITS_COMPLEMENT = 2, TSL__BITS_DELTA = 3 };

/* A state in BODY, in words: `head`, `what`, the fewest bytes to the end of the frame; then, each
 *   where `head` says so:
 *   LOOP       minimum, maximum; fewest bytes with one iteration to come, what each more adds, what
 *              they never exceed
 *   KEYED      for each range: lo, hi; then for each name of each range the fewest bytes that spell
 *              it
 *   RESUME     names, allowed ones; then for each: name, target, fewest bytes after it
 *   NAMED      the state instead where the name before it is not new; 0: none (TSL__NEW_NAME,
 *              runtime/automaton/state.h)
 *   HINT       base, except, like; limit, like_limit, like_dead, like_unit; counted | ends << 1;
 *              ranges of code points: offset in RANGES, how many; two sets of bytes
 *   then targets, upper bytes (4 in a word), edges (push, to), token edges (offset in RANGES,
 *   count, complement, to). */
enum {
  TSL__HEAD_FLAGS = 0x3F, /* tsl__state_rec.flags without the phase */
  TSL__HEAD_PHASE = 6,    /* shift; 2 bits */
  TSL__HEAD_HINT = 1 << 8,
  TSL__HEAD_KEYED = 9, /* shift; 2 bits: ranges of names */
  /* the second word is the length of a description, which follows; there is nothing else */
  TSL__HEAD_OUTLINE = 1 << 11,
  TSL__HEAD_NAMED = 1 << 12,
  TSL__HEAD_KEYED_FOUR = 1 << 13, /* four of them */
  TSL__HEAD_RANGES = 16           /* shift: of bytes */
};
#define TSL__HINT_WORDS (10u + 16u)

/* In a loaded grammar: the handle of a state that is listed, less this, is its number in the file.
 * The handle of a state grown from a description is an expression. */
#define TSL__A_LISTED 0x80000000u

/* Hash of a leftover's nodes, and of a walk's key, in the file's own numbers. */
static inline uint64_t tsl__a_hash_walk(uint32_t state, uint32_t context, uint32_t over) {
  return tsl__mix(((uint64_t)state << 32 | over) + (uint64_t)context * 0x9e3779b97f4a7c15u);
}

/* The shortest way out of a loop that needs `more` iterations after one: it grows by `unit`, up to
 * `most`. */
static inline uint32_t tsl__a_way_out(uint32_t one, uint32_t unit, uint32_t more, uint32_t most) {
  uint64_t sum = one + (uint64_t)unit * more;
  return sum < most ? (uint32_t)sum : most;
}

/* ---- making (ahead.c, ahead_walks.c, write.c) ------------------------------------------------ */

typedef TSL__VEC(uint32_t) tsl__words;

/* The sections while they are gathered. */
typedef struct tsl__a_draft {
  const tsl_allocator *a;
  tsl__words section[TSL__A_SECTIONS];
  tsl__a_header header;
  size_t source_size; /* bytes; all else is whole words */
} tsl__a_draft;

struct tsl_artifact {
  tsl_allocator alloc;
  uint8_t *data;
  size_t size;
};

/* Expand every state of the grammar and write it into the draft. LIMIT: more than `max_states`
 * (or the grammar's own limits); UNSUPPORTED: it cannot be listed. The caller has the grammar's
 * lock. */
tsl_status tsl__ahead_states(tsl__space *space, tsl__state start, uint32_t max_states,
                             tsl__a_draft *draft, const char **why);
/* Do the walks of a loaded grammar ahead, about `max_steps` trie nodes. The caller has the lock. */
tsl_status tsl__ahead_walk(tsl_grammar *loaded, uint64_t max_steps);
/* Write the walks that a loaded grammar has done, and what they consist of, into the draft. */
tsl_status tsl__ahead_memo(const tsl_grammar *loaded, tsl__a_draft *draft);
/* The file that a draft becomes. */
tsl_status tsl__a_assemble(const tsl__a_draft *draft, const tsl_vocab *vocab,
                           const tsl_allocator *a, tsl_artifact **out);
void tsl__a_draft_free(tsl__a_draft *draft);
/* `n` bytes into a section, padded to whole words. OK or NO_MEMORY. */
tsl_status tsl__a_put_text(tsl__a_draft *draft, unsigned section, const char *text, size_t n);
/* XXH3-64 of a header whose checksum counts as zero, and of its table. */
uint64_t tsl__a_header_sum(const tsl__a_header *h, const void *table);
/* Write to a file, to the disk. */
bool tsl__a_write_all(int file, const void *data, size_t size);

/* ---- reading (read.c, memo.c) ---------------------------------------------------------------- */

typedef struct tsl__artifact_file {
  const uint8_t *at;
  size_t size;
  bool mapped; /* else allocated */
} tsl__artifact_file;

/* What the hook of a loaded grammar knows. */
typedef struct tsl__growth tsl__growth;

typedef struct tsl__reader {
  tsl__space *space;
  const tsl__growth *growth;
  tsl__artifact_file file;
  const tsl__a_header *h;
  const uint64_t *sums; /* of the blocks */
  uint64_t *verified;   /* a bit per block */
  uint32_t *state_of;   /* file's number -> the space's; 0: not made yet */
  /* of states that were grown from a description: the space's number -> the file's; 0: it has
   * none */
  tsl__words file_of;
  /* compiler/states/outline.c, and what its states' hook is called with; NULL: nothing was grown
   * yet */
  void *outlines, *grown;
  tsl_limits limits;
  uint32_t *mask_of, *bitset_of, *leftover_of; /* the same; masks: number + 1 */
  /* the space's leftover -> the file's + 1 (1: it has none); 0: not looked up */
  tsl__words left_id;
  size_t maps; /* bytes of state_of and the three after it */
  /* the file's name in a folder that others use (compiler/grammar/store.c), NULL: in none; and the
   * number that it has there */
  char *shared;
  uint64_t inode;
  bool walks; /* its memo can be used */
  /* the reader whose file and expressions this one uses too; NULL: they are its own */
  struct tsl__reader *of;
} tsl__reader;

extern const tsl__hook tsl__artifact_hook;

/* `n` words of a section from word `at`, verified; NULL when they are not in it, or not sound
 * (sticky). */
const uint32_t *tsl__a_words(tsl__reader *r, unsigned section, uint64_t at, uint64_t n);
/* The file's number of a state; 0: it has none. */
uint32_t tsl__a_number(const tsl__reader *r, tsl__state state);
/* The space's number of a state of the file, made if it is new; 0 on failure (sticky), and for
 * 0. */
tsl__state tsl__a_state(tsl__reader *r, uint32_t number);
/* A failure of the file; returns false. */
bool tsl__a_bad(tsl__reader *r, const char *why);
/* Are these tokens of the vocabulary, sorted? Else the file is bad. */
bool tsl__a_check_tokens(tsl__reader *r, const uint32_t *at, uint32_t n);
/* The hook's `walk`. */
bool tsl__a_find_walk(void *ctx, uint32_t state, uint32_t context, uint32_t over,
                      struct tsl__walk *out);
/* The file lies in a folder that others use. Once a block is found to be damaged, the file is
 * removed from there, so that it is made anew. */
void tsl__reader_share(tsl__reader *r, const char *path);
/* The reader of a loaded grammar; NULL if it is another. */
tsl__reader *tsl__reader_of(const tsl__space *space);
/* Forget the `cancel` and `deadline_us` that it was loaded with, wherever they were copied to: for
 * a grammar that outlives who requested it. */
void tsl__reader_forget_limits(tsl__reader *r);

/* Room for the numbers of the file in a space; false when out of memory. */
bool tsl__reader_maps(tsl__reader *r);
void tsl__a_close(tsl__artifact_file *file, const tsl_allocator *a);

/* What loading and writing need from the compiler's side, which this room does not know. Whoever
 * offers the public calls hands it in: compiler/grammar/store.c, and compiler/states/alone.c in a
 * library without front ends. */
struct tsl__growth {
  /* A loaded grammar's own expressions, from which its described states grow (*outlines, freed by
   * `close`). The state `hook` is called with what `states` returns. */
  tsl_status (*open)(tsl__space *space, const tsl_limits *limits, void **outlines);
  void *(*states)(void *outlines);
  const tsl__hook *hook;
  /* The same for another space, over the expressions of `outlines`, which outlive it. */
  tsl_status (*beside)(tsl__space *space, void *outlines, void **out);
  /* The state that these words describe; 0 on failure (sticky). */
  tsl__state (*state)(tsl__space *space, void *outlines, const uint32_t *words, uint32_t n);
  /* Drop the `cancel` and `deadline_us` of the limits that it was opened with. */
  void (*forget_limits)(void *outlines);
  void (*close)(tsl__space *space, void *outlines);
  /* Compile an artifact's source text; UNSUPPORTED without front ends. */
  tsl_status (*compile)(tsl_vocab *vocab, const uint8_t *source, size_t size,
                        const tsl_limits *limits, tsl_grammar **out, tsl_error *error);
  /* Write a source and its key into a draft; UNSUPPORTED without front ends. */
  tsl_status (*source)(const tsl_source *source, const tsl_vocab *vocab, tsl__a_draft *draft,
                       tsl_error *error);
};

/* As tsl_grammar_load, tsl_grammar_load_memory and tsl_artifact_make. */
tsl_status tsl__artifact_load(const tsl__growth *growth, tsl_vocab *vocab, const char *path,
                              const tsl_limits *limits, tsl_grammar **out, tsl_error *error);
tsl_status tsl__artifact_load_memory(const tsl__growth *growth, tsl_vocab *vocab, const void *data,
                                     size_t size, const tsl_limits *limits, tsl_grammar **out,
                                     tsl_error *error);
tsl_status tsl__artifact_make(const tsl__growth *growth, tsl_grammar *grammar,
                              const tsl_artifact_options *options, const tsl_allocator *allocator,
                              tsl_artifact **out, tsl_error *error);

#endif
