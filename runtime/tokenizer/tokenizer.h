/* tokenizer.h - what a tokenizer file says about encoding, as flat tables, and the passes that read
 * them.
 *
 * Text goes through these passes, one file each:
 *   added.c   cut out added tokens (TSL_ENCODE_SPECIAL)
 *             "a<|x|>b" -> "a", <|x|>, "b"
 *   steps.c   normalise and pre-tokenise: a list of small steps
 *             "it's me" -> "it", "'s", " me"
 *   bpe.c     merge the symbols of each piece
 *             " me" -> 757
 * encode.c runs them. The same passes serve byte-level BPE (GPT-2, Llama 3, Qwen),
 * SentencePiece-style BPE (Gemma), SentencePiece's own (Llama 2, Mistral) and tiktoken ranks.
 *
 * Example   A tokenizer with the merges l+o = 300 and lo+w = 301 has two entries in MERGES. They
 *           are (l, o, rank 0, 300) and (300, w, rank 1, 301). "low" is three symbols l, o, w; the
 *           pair of rank 0 is merged first, then the pair (300, w). What is left is the token 301.
 * Owners    A reader fills a tsl__vocab_builder. tsl__builder_finish moves its tables into a
 *           tokenizer and that into a vocabulary, which frees both. An encode call has its own
 *           tsl__encode_work: any number of threads may encode with one tokenizer.
 *
 * All tables are spans without pointers inside, so that the cache file
 * (runtime/vocab_files/cache.c) can write them as they are and map them back.
 *
 * Tested by tests/tokenizer/test_encode.c, tests/tokenizer/test_nfc.c,
 *           tests/vocab_files/test_vocab_files.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_TOKENIZER_TOKENIZER_H
#define TSL_RUNTIME_TOKENIZER_TOKENIZER_H

#include "runtime/vocab/build.h"

/* What a symbol is before the first merge. */
typedef enum tsl__units {
  TSL__UNITS_BYTES = 0, /* one byte each; merges from a table */
  /* one code point each, else its bytes (<0xHH> tokens), else the unknown token; merges from a
   * table */
  TSL__UNITS_POINTS = 1,
  /* one byte each; two symbols merge if their bytes together are a token, whose id is the rank */
  TSL__UNITS_RANKS = 2,
  /* one code point each; two symbols merge if their bytes together are a token, whose rank is in
   * RANKS */
  TSL__UNITS_SCORES = 3,
  TSL__UNITS_NONE = 4 /* how this model encodes is not supported: UNSUPPORTED */
} tsl__units;

/* What goes into the hashes of a table. Zeros, unless the tokens of the file crowd into few slots
 * (bpe.c): then it is drawn at random. */
typedef struct tsl__slot_key {
  uint64_t first, second;
} tsl__slot_key;

/* What is said of the tokenizer as a whole. */
typedef struct tsl__tok_facts {
  uint32_t units;        /* tsl__units */
  uint32_t whole_pieces; /* 1: a piece that is a token needs no merges */
  uint32_t fuse_unknown; /* 1: neighbouring unknown symbols are one */
  tsl_token unknown;     /* or TSL_NO_TOKEN */
  tsl_token bytes[256];  /* the token of a single byte, or TSL_NO_TOKEN */
  /* last: they say where things are, not what, and are not hashed (tables.c) */
  tsl__slot_key merges_key, lookup_key, points_key;
} tsl__tok_facts;

/* Open addressing over pairs of ids; a free slot has left = TSL_NO_TOKEN. */
typedef struct tsl__merge {
  tsl_token left, right;
  uint32_t rank;
  tsl_token result;
} tsl__merge;

/* Open addressing over code points; a free slot has id = TSL_NO_TOKEN. */
typedef struct tsl__point {
  uint32_t cp;
  tsl_token id;
} tsl__point;

typedef enum tsl__step_kind {
  TSL__STEP_NFC = 0,
  TSL__STEP_REPLACE = 1, /* every `text` by `content`, in each piece */
  TSL__STEP_PREPEND = 2, /* `text` in front of each non-empty piece, as `when` says */
  TSL__STEP_SPLIT_TEXT = 3,
  TSL__STEP_SPLIT_REGEX = 4
} tsl__step_kind;

typedef enum tsl__split { /* what becomes of a match; HF's names */
                          TSL__SPLIT_REMOVED = 0,
                          TSL__SPLIT_ISOLATED = 1,
                          TSL__SPLIT_WITH_PREVIOUS = 2,
                          TSL__SPLIT_WITH_NEXT = 3,
                          TSL__SPLIT_CONTIGUOUS = 4
} tsl__split;

typedef enum tsl__when {
  TSL__WHEN_ALWAYS = 0,
  TSL__WHEN_MISSING = 1,      /* unless the piece begins with it */
  TSL__WHEN_FIRST_MISSING = 2 /* the same, and only at the start of the whole text */
} tsl__when;

typedef enum tsl__dialect {                             /* of a pattern (dialect.c) */
                            TSL__DIALECT_ONIGURUMA = 0, /* HF's Split; ^ and $ are those of lines */
                            /* tiktoken, and HF elsewhere; ^ and $ are those of the text */
                            TSL__DIALECT_RUST = 1
} tsl__dialect;

typedef struct tsl__step {
  uint32_t kind; /* tsl__step_kind */
  uint32_t how;  /* tsl__split or tsl__when */
  /* SPLIT: 1: what does not match is the match */
  uint32_t invert;
  uint32_t dialect;                                    /* SPLIT_REGEX: tsl__dialect */
  uint32_t text, text_length, content, content_length; /* in the pool */
  /* 1: a normaliser's step, which comes before added tokens that are looked for in normalised
   * text */
  uint32_t normaliser;
} tsl__step;

#define TSL__ADDED_SINGLE_WORD 1u /* not next to a word character */
#define TSL__ADDED_LSTRIP 2u      /* takes the white space before it along */
#define TSL__ADDED_RSTRIP 4u
#define TSL__ADDED_NORMALIZED 8u /* looked for in normalised text */
/* even without TSL_ENCODE_SPECIAL; with NORMALIZED its text is normalised already */
#define TSL__ADDED_ALWAYS 16u
typedef struct tsl__added {
  tsl_token id;
  uint32_t flags, text, text_length;
} tsl__added; /* text in the pool, as in the file */

typedef struct tsl__span {
  void *at;
  size_t size;
} tsl__span; /* bytes */

enum {
  TSL__SPAN_FACTS,  /* one tsl__tok_facts */
  TSL__SPAN_MERGES, /* tsl__merge */
  /* uint32_t id + 1, 0 = free: open addressing over the bytes of tokens (whole_pieces and RANKS) */
  TSL__SPAN_LOOKUP,
  TSL__SPAN_POINTS, /* tsl__point */
  TSL__SPAN_STEPS,  /* tsl__step, in the order in which they run */
  TSL__SPAN_POOL,   /* text */
  TSL__SPAN_ADDED,  /* tsl__added */
  TSL__SPAN_BOS,    /* tsl_token */
  /* uint32_t by id, of units SCORES: tokens of one score share a rank, the best is 0 */
  TSL__SPAN_RANKS,
  TSL__SPAN_COUNT
};

typedef struct tsl__tok_tables {
  tsl__span span[TSL__SPAN_COUNT];
} tsl__tok_tables;

static inline const tsl__tok_facts *tsl__tok_facts_of(const tsl__tok_tables *t) {
  return t->span[TSL__SPAN_FACTS].at;
}
/* The texts that steps and added tokens point into; never NULL, though a tokenizer without texts
 * has an empty span. */
static inline const uint8_t *tsl__tok_pool(const tsl__tok_tables *t) {
  return t->span[TSL__SPAN_POOL].at ? t->span[TSL__SPAN_POOL].at : (const uint8_t *)"";
}

/* A compiled pattern (steps.c). */
typedef struct tsl__pattern tsl__pattern;

/* The tokenizer behind every vocabulary that came from a file. */
typedef struct tsl__bpe_tokenizer {
  tsl__tokenizer base; /* first */
  tsl_allocator alloc;
  tsl__tok_tables tables;
  bool mapped;             /* the spans belong to the vocabulary's mapping */
  tsl__pattern **patterns; /* one per step; NULL for steps without one */
  tsl__pattern *word;      /* \w, where an added token is a single word; else NULL */
  /* the added tokens that are looked for in raw and in normalised text; `order` holds indices into
   * ADDED */
  tsl__trie raw, normalised;
  bool raw_always, normalised_always; /* some there have ALWAYS */
} tsl__bpe_tokenizer;

/* Make a tokenizer of tables. On success the spans (unless mapped) are its own; on failure they
 * stay the caller's. Fails with SYNTAX if a pattern is none. */
tsl_status tsl__tokenizer_new(const tsl__tok_tables *tables, bool mapped, const tsl_allocator *a,
                              tsl__bpe_tokenizer **out, tsl_error *error);
/* Checks every index in the tables against `vocab_size` and each other; for tables out of a
 * file. */
bool tsl__tok_tables_check(const tsl__tok_tables *tables, uint32_t vocab_size);
/* 16 bytes of XXH3-128 over all that changes an encoding: a part of the vocabulary's identity. */
void tsl__tok_tables_hash(const tsl__tok_tables *tables, uint8_t hash[16]);
/* Free the spans, which must not be mapped. */
void tsl__tok_tables_free(tsl__tok_tables *tables, const tsl_allocator *a);

/* ---- steps.c --------------------------------------------------------------------------------- */

/* Pieces of text: piece i is bytes[ends[i - 1]] up to bytes[ends[i]] (ends[-1] being 0). */
typedef struct tsl__pieces {
  TSL__VEC(uint8_t) bytes;
  TSL__VEC(uint32_t) ends;
} tsl__pieces;

/* bytes between two added tokens, before and after normalising */
#define TSL__MAX_SEGMENT ((uint32_t)1 << 30)
/* a segment's steps may make so many bytes of each of its bytes, */
#define TSL__MAX_GROWTH 64u
#define TSL__FREE_GROWTH 65536u /* and these */

/* Everything that an encode call needs to write to; kept for its duration and reused from segment
 * to segment. */
typedef struct tsl__encode_work {
  const tsl_allocator *alloc;
  tsl__pieces pieces[2];
  TSL__VEC(struct tsl__symbol) symbols;
  TSL__VEC(uint64_t) heap;
  TSL__VEC(uint32_t) marks;     /* SPLIT: where matches begin and end */
  TSL__VEC(uint8_t) normalised; /* a segment's text, while its parts are encoded */
  void *match_data;             /* pcre2_match_data, made when first needed */
  size_t most;                  /* bytes that steps may make of what was put into pieces[0] */
  bool too_long;                /* a step made more */
} tsl__encode_work;

/* Compile a pattern of a dialect for PCRE2. SYNTAX: it is no pattern; UNSUPPORTED: PCRE2 would read
 * it differently (dialect.c). The caller frees it. */
tsl_status tsl__pattern_new(const char *text, size_t length, uint32_t dialect,
                            const tsl_allocator *a, tsl__pattern **out, tsl_error *error);
void tsl__pattern_free(tsl__pattern *p, const tsl_allocator *a);
size_t tsl__pattern_memory(const tsl__pattern *p);
/* Does it match anywhere in this valid UTF-8? */
tsl_status tsl__pattern_test(const tsl__pattern *p, tsl__encode_work *work, const uint8_t *text,
                             uint32_t length, bool *matches);

/* Run the steps that are (or are not) the normaliser's over work->pieces[0], which holds valid
 * UTF-8; the result is there too. */
tsl_status tsl__steps_run(const tsl__bpe_tokenizer *t, tsl__encode_work *work, bool normaliser,
                          bool at_start);
/* Free what calls that use `work` allocated; also after a failure. */
void tsl__work_free(tsl__encode_work *work);

/* ---- nfc.c ----------------------------------------------------------------------------------- */

/* Append the canonical composition (NFC) of valid UTF-8 to `out`. */
tsl_status tsl__nfc(const tsl_allocator *a, const uint8_t *text, size_t length, tsl__pieces *out);
/* certainly in NFC already: no byte from 0xCC on, so nothing above U+02FF */
bool tsl__nfc_is_plain(const uint8_t *text, size_t length);

/* ---- bpe.c ----------------------------------------------------------------------------------- */

typedef struct tsl__symbol {
  tsl_token id;
  uint32_t previous, next; /* indices; TSL__NO_SYMBOL at the ends */
  uint32_t start, length;  /* bytes of the piece */
  uint32_t rank;           /* of the merge with `next`; UINT32_MAX: none, or this symbol is gone */
  tsl_token result;        /* of that merge */
} tsl__symbol;
#define TSL__NO_SYMBOL UINT32_MAX

/* Encode one piece. SYNTAX: a byte that no token spells. */
tsl_status tsl__bpe(const tsl__bpe_tokenizer *t, const tsl_vocab *vocab, const uint8_t *piece,
                    uint32_t length, tsl__encode_work *work, tsl__id_sink *sink);
/* The token that spells these bytes, by the LOOKUP table; TSL_NO_TOKEN if there is none. */
tsl_token tsl__lookup_bytes(const tsl__tok_tables *tables, const tsl_vocab *vocab,
                            const uint8_t *bytes, uint32_t length);
size_t tsl__lookup_count(const tsl__tok_tables *tables); /* tokens in the LOOKUP table */
/* Put a merge into a table of `slots`; a pair that is there already takes the new rank, as in HF.
 * False if the slots are crowded: the table is to be filled anew under another key. */
bool tsl__merge_put(tsl__merge *slots, uint32_t slot_count, const tsl__slot_key *key,
                    tsl__merge merge);
/* prefetch */
void tsl__merge_expect(const tsl__merge *slots, uint32_t slot_count, const tsl__slot_key *key,
                       tsl_token left, tsl_token right);
/* The merge of that pair, or NULL. One or two slots are looked at. */
const tsl__merge *tsl__merge_find(const tsl__merge *slots, uint32_t slot_count,
                                  const tsl__slot_key *key, tsl_token left, tsl_token right);
/* Would a search pass more than CROWD full slots (bpe.c)? For tables out of a cache file. */
bool tsl__merges_crowded(const tsl__merge *slots, uint32_t slot_count, const tsl__slot_key *key);
/* The token of one code point, or TSL_NO_TOKEN. */
tsl_token tsl__point_find(const tsl__tok_tables *tables, uint32_t cp);
/* Another key, under which no table is crowded. */
void tsl__slot_key_draw(tsl__slot_key *key);
/* never full */
/* Ids for which a file names no token cost memory and time like any other. So some bytes of a file
 * could cause millions. A file may have as many of them as tokens, and so many besides. */
#define TSL__UNNAMED_IDS 65536u
static inline bool tsl__too_many_unnamed(uint64_t ids, uint64_t tokens) {
  return ids > 2 * tokens + TSL__UNNAMED_IDS;
}
static inline uint32_t tsl__slots_for(size_t n) { return (uint32_t)(n + n / 2 + 8); }

/* ---- added.c --------------------------------------------------------------------------------- */

typedef struct tsl__added_match {
  const tsl__added *token;
  size_t begin, end;
} tsl__added_match; /* with the white space that belongs to it */

/* Which added tokens one encode call looks for. */
typedef struct tsl__added_wanted {
  bool all;             /* else those with ALWAYS, */
  const tsl_vocab *own; /* and unless NULL all that are not special in it */
} tsl__added_wanted;

/* Find the next added token that is wanted and begins at *scan or later in valid UTF-8.
 * match->token is NULL if there is none. `done` is where the text before ends that is dealt with;
 * *scan is advanced to where to look on. */
tsl_status tsl__added_next(const tsl__bpe_tokenizer *t, tsl__encode_work *work,
                           const tsl__trie *trie, const tsl__added_wanted *wanted,
                           const uint8_t *text, size_t length, size_t done, size_t *scan,
                           tsl__added_match *match);
/* The added token of exactly that text, or NULL. */
const tsl__added *tsl__added_exact(const tsl__bpe_tokenizer *t, const uint8_t *text, size_t length);

/* ---- readers and runtime/vocab_files/load.c -------------------------------------------------- */

/* A vocabulary out of the text of a tokenizer.json. The text is read only, and not needed
 * afterwards. On failure *error says what is wrong and where. So do the other readers. */
tsl_status tsl__load_hf(const char *text, size_t length, const tsl_vocab_options *options,
                        const tsl_allocator *a, tsl_vocab **out, tsl_error *error);
tsl_status tsl__load_tiktoken(const char *text, size_t length, const char *name,
                              const tsl_vocab_options *options, const tsl_allocator *a,
                              tsl_vocab **out, tsl_error *error);
/* Decode four characters of base64, padded only if they are the last. Returns the number of bytes,
 * or -1 with *wrong the index of what is no character of base64, or -1 for bits left over. */
int tsl__base64_group(const char group[4], bool last, uint8_t out[3], int *wrong);
tsl_status tsl__load_gguf(const uint8_t *data, size_t size, const tsl_vocab_options *options,
                          const tsl_allocator *a, tsl_vocab **out, tsl_error *error);
/* Where the metadata of a GGUF file ends, of which the first `size` bytes are there: all that a
 * vocabulary is made of. False if more bytes are needed to know. `size` where the file is
 * malformed, which loading will say. */
bool tsl__gguf_end(const uint8_t *data, size_t size, size_t *end);
bool tsl__looks_like_sentencepiece(const uint8_t *data, size_t size);
tsl_status tsl__load_sentencepiece(const uint8_t *data, size_t size,
                                   const tsl_vocab_options *options, const tsl_allocator *a,
                                   tsl_vocab **out, tsl_error *error);
/* Is this the text of a token that ends a generation in a well-known model? */
bool tsl__is_eog_name(const char *text, size_t length);

/* A vocabulary under construction, shared by the readers (builder.c). Ids may come in any order and
 * leave holes. */
typedef struct tsl__vocab_builder {
  const tsl_allocator *alloc;
  TSL__VEC(uint8_t) bytes;
  TSL__VEC(uint32_t) offsets;
  TSL__VEC(uint8_t) special;
  TSL__VEC(tsl_token) eog;
  TSL__VEC(uint8_t) pool;
  TSL__VEC(tsl__step) steps;
  TSL__VEC(tsl__added) added;
  TSL__VEC(tsl_token) bos;
  tsl__tok_facts facts;
  /* MERGES, LOOKUP and POINTS are built in place; the rest is moved here at the end */
  tsl__tok_tables tables;
} tsl__vocab_builder;

/* An empty builder that takes memory from `a`. */
void tsl__builder_init(tsl__vocab_builder *b, const tsl_allocator *a);
/* Free all that is in it, whether it was finished or not. */
void tsl__builder_free(tsl__vocab_builder *b);
/* Append a step; `text` and `content` are copied into the pool. False when out of memory. */
bool tsl__builder_step(tsl__vocab_builder *b, tsl__step step, const char *text, size_t length,
                       const char *content, size_t content_length);
/* Append an added token (TSL__ADDED_…); `text` is copied into the pool. False when out of
 * memory. */
bool tsl__builder_added(tsl__vocab_builder *b, tsl_token id, uint32_t flags, const char *text,
                        size_t length);
/* Fill the LOOKUP table over the first `size` tokens, those whose flag in `take` is set. Of tokens
 * that spell the same the first stays. */
bool tsl__lookup_build(tsl__vocab_builder *b, uint32_t size, const uint8_t *take);
/* Fill the POINTS table. Of tokens of one code point the first stays. */
bool tsl__points_build(tsl__vocab_builder *b, const tsl__point *points, size_t count);
/* Turn it into a vocabulary; the builder is still to be freed. */
tsl_status tsl__builder_finish(tsl__vocab_builder *b, const tsl_vocab_options *options,
                               tsl_vocab **out, tsl_error *error);

#endif
