/* turnstile.h - the whole public interface of Turnstile.
 *
 * Turnstile constrains what a language model may write. A grammar (JSON Schema, regular expression
 * or GBNF) is compiled against a vocabulary; a matcher follows one generation and says, before
 * every draw, which tokens may come next so that the text can still end well. The sections are in
 * the order in which a user meets them:
 *
 *   1. status and errors      4. matcher (one sequence)     7. limits
 *   2. vocabulary             5. masks on logits            8. batches, background compiles, cache
 *   3. grammar                6. sampler                    9. decoding
 *                                                          10. tags and tools
 *                                                          11. artifacts
 *                                                          12. masks on a device
 *
 * Conventions that hold everywhere
 *   Ownership  An object that a function hands out through `**out` belongs to the caller, who ends
 *              it with the matching `_release` or `_free`. Pointers to the inside of an object live
 *              as long as that object. Inputs are copied where they are kept.
 *   Pointers   must not be NULL unless it is said that they may be. Where a length or count is 0,
 *              what it counts may be NULL.
 *   Errors     A call that can fail returns tsl_status, TSL_OK being 0. On failure nothing has
 *              changed and `*out` is NULL, unless it is said what holds instead; buffers that a
 *              failed call writes to are unspecified. Compile and load calls also fill a
 *              caller-owned tsl_error on every failure. What failed for want of memory, time or
 *              steps may be asked again. That a grammar does not allow a token is a result
 *              (TSL_REJECTED), not an error.
 *   Threads    A tsl_vocab and a tsl_grammar may be used by any number of threads at once. A
 *              tsl_matcher and a tsl_sampler may be used by one thread at a time; several threads
 *              may call functions that take a const one, as long as nobody calls another.
 *   Globals    None. Nothing is logged; nothing aborts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TURNSTILE_H
#define TURNSTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(TSL_BUILD_SHARED) && (defined(__GNUC__) || defined(__clang__))
#define TSL_API __attribute__((visibility("default")))
#else
#define TSL_API
#endif

#define TSL_VERSION_MAJOR 0
#define TSL_VERSION_MINOR 1
#define TSL_VERSION_PATCH 0

/* "0.1.0": the version of the library that is linked, which may differ from the header's. */
TSL_API const char *tsl_version(void);

/* ---- 1. Status and errors -------------------------------------------------------------------- */

/* Values are pinned and never renumbered; the list is runtime/core/status.def. */
typedef enum tsl_status {
  TSL_OK = 0,
  TSL_REJECTED = 1,      /* the grammar does not allow this token, these bytes, or the end here */
  TSL_ERR_NO_MEMORY = 2, /* the allocator returned NULL */
  TSL_ERR_ARGUMENT = 3,  /* an argument is out of its documented range */
  TSL_ERR_SYNTAX = 4,    /* the text given is malformed: JSON, UTF-8, regex, GBNF */
  /* well-formed, but not a schema: a keyword of the wrong type, a reference that leads nowhere */
  TSL_ERR_SCHEMA = 5,
  TSL_ERR_UNSUPPORTED = 6, /* understood, but not supported; the message says what */
  TSL_ERR_EMPTY = 7,       /* no text at all satisfies the grammar */
  TSL_ERR_LIMIT = 8,       /* a documented limit was reached; the message names it */
  TSL_ERR_IO = 9,          /* a file could not be read or written */
  /* a file is not what it claims to be: magic, version, checksum, bounds */
  TSL_ERR_FORMAT = 10,
  /* the call does not fit the object's state: rollback too far, more text after the end of a
   * reader's. (A matcher that is over rejects.) */
  TSL_ERR_STATE = 11,
  /* the logits cannot be sampled from: NaN, +inf, or nothing allowed is finite */
  TSL_ERR_LOGITS = 12,
  TSL_ERR_CANCELLED = 13 /* the caller's cancel flag was set, or the deadline passed */
} tsl_status;

/* "TSL_ERR_SYNTAX": the name of a status; never NULL. */
TSL_API const char *tsl_status_name(tsl_status status);

/* Where and why something failed. Caller-owned plain data, fully written on every failure,
 * untouched on success. Functions that take one accept NULL. */
typedef struct tsl_error {
  tsl_status status;
  size_t offset; /* byte offset into the text given; 0 where no place in a text is to blame */
  /* 1-based; 0 where no place in a text is to blame: there is no start rule, no text satisfies a
   * pattern, memory ran out */
  uint32_t line;
  uint32_t column; /* 1-based, in bytes; 0 where `line` is */
  /* JSON pointer of the keyword to blame, "" where there is none; cut at a whole character */
  char pointer[256];
  char message[512]; /* one sentence without a full stop, UTF-8 */
} tsl_error;

/* Memory hooks. `reallocate(ctx, NULL, 0, n)` allocates, `(ctx, p, old, n)` resizes, `(ctx, p, old,
 * 0)` frees and returns NULL. Returning NULL for n > 0 is reported as TSL_ERR_NO_MEMORY and leaves
 * the old block alone. Must be callable from any thread that uses objects made with it. Blocks are
 * aligned as malloc's are. */
typedef struct tsl_allocator {
  void *ctx;
  void *(*reallocate)(void *ctx, void *block, size_t old_size, size_t new_size);
} tsl_allocator;

/* ---- 2. Vocabulary --------------------------------------------------------------------------- */

/* The tokens of a model: their bytes, which of them are special, which end a generation, and how to
 * encode text. Immutable, reference-counted, shared by threads. */
typedef struct tsl_vocab tsl_vocab;

typedef uint32_t tsl_token;
#define TSL_NO_TOKEN UINT32_MAX

/* A vocabulary as arrays. `bytes` and `offsets` describe `size` tokens: token i spells
 * bytes[offsets[i]] up to, not including, bytes[offsets[i + 1]], so offsets has size + 1 entries,
 * the first 0. A token with no bytes is never allowed, and a special token only where a grammar
 * names it, never as the text that its bytes spell; either is allowed as an end-of-generation token
 * where the text may end. Masks hold what can be continued to a complete text in bytes: that a
 * token for it exists is certain where the vocabulary has one for every single byte that a text may
 * need, as byte-level ones have. With others a text may come to a position whose mask is empty;
 * tsl_budget_start says whether there is a way in tokens at all, and under tsl_budget_mask no text
 * leaves it. */
typedef struct tsl_vocab_desc {
  const uint8_t *bytes;
  const uint32_t *offsets;
  uint32_t size; /* tokens; 1 to TSL_MAX_VOCAB */
  /* columns of a logits row, >= size; 0 means size. Columns from size on are never allowed */
  uint32_t logits_width;
  const uint8_t *special; /* size flags, non-zero = special; NULL = none */
  const tsl_token *eog;   /* end-of-generation ids; each is treated as special */
  /* may be 0: then nothing is allowed once the text is complete and can't go on */
  uint32_t eog_count;
} tsl_vocab_desc;

/* Build a vocabulary from arrays. Cost: about 100 ms for 128k tokens. Errors: ARGUMENT (offsets
 * decrease, ids out of range), LIMIT (TSL_MAX_VOCAB, TSL_MAX_TOKEN_BYTES), NO_MEMORY. `allocator`
 * may be NULL (malloc). */
TSL_API tsl_status tsl_vocab_new(const tsl_vocab_desc *desc, const tsl_allocator *allocator,
                                 tsl_vocab **out, tsl_error *error);

typedef struct tsl_vocab_options {
  uint32_t logits_width; /* as in tsl_vocab_desc */
  /* replaces what the file says, if eog_count > 0. With a tiktoken file ids behind the ranks too,
   * below logits_width */
  const tsl_token *eog;
  uint32_t eog_count;
  /* keep a content-addressed cache file here and use it if it is there, and a note of what the
   * tokenizer file holds, so that it is not read again until it changes (docs/vocabularies.md);
   * NULL or "" = no cache */
  const char *cache_dir;
  /* PCRE syntax without \K, or NULL. Tiktoken files have no pre-tokenisation pattern: NULL goes by
   * the file's name. In GGUF ("gpt2") and tekken files it replaces the file's own */
  const char *pattern;
} tsl_vocab_options;

/* Load a vocabulary from a file. The format is told from the content:
 *   tokenizer.json    HF's: byte-level BPE, or SentencePiece-style BPE with byte fallback
 *   *.gguf            llama.cpp's models, of which the metadata alone is read: the tokenizer models
 *                     "gpt2", "llama" and "gemma4"; of "bert" and "t5" the bytes, so that masks
 *                     work, but encoding is TSL_ERR_UNSUPPORTED
 *   tokenizer.model   SentencePiece's: type BPE; other types as "bert" above
 *   tekken.json       Mistral's
 *   *.tiktoken        rank files: base64 token, space, rank, a line each
 * End-of-generation tokens are those that the file names (GGUF, tokenizer.model) and special ones
 * with well-known names ("</s>", "<|eot_id|>", "<|im_end|>", "<end_of_turn>", …) unless options
 * give them. Errors: ARGUMENT (out or path is NULL, options->eog names what is no token, a tiktoken
 * file without a pattern), IO (also what is no regular file), SYNTAX and FORMAT with the offset,
 * UNSUPPORTED (another tokenizer model, a decoder under which tokens do not spell bytes of their
 * own), LIMIT (TSL_MAX_VOCAB, TSL_MAX_TOKEN_BYTES, more than 2^30 bytes of GGUF metadata),
 * NO_MEMORY. Work is bounded by the size of the file. `options` and `allocator` may be NULL. */
TSL_API tsl_status tsl_vocab_load_file(const char *path, const tsl_vocab_options *options,
                                       const tsl_allocator *allocator, tsl_vocab **out,
                                       tsl_error *error);

/* As tsl_vocab_load_file, from memory; `name` stands in for the file's name (may be NULL). */
TSL_API tsl_status tsl_vocab_load_memory(const void *data, size_t size, const char *name,
                                         const tsl_vocab_options *options,
                                         const tsl_allocator *allocator, tsl_vocab **out,
                                         tsl_error *error);

/* The embedded vocabulary: 4,096 byte-level BPE tokens trained on text of this project. `allocator`
 * and `error` may be NULL. Errors: NO_MEMORY. */
TSL_API tsl_status tsl_vocab_embedded(const tsl_allocator *allocator, tsl_vocab **out,
                                      tsl_error *error);

TSL_API void tsl_vocab_retain(tsl_vocab *vocab);
TSL_API void tsl_vocab_release(tsl_vocab *vocab); /* NULL is allowed */

TSL_API uint32_t tsl_vocab_size(const tsl_vocab *vocab);         /* tokens */
TSL_API uint32_t tsl_vocab_logits_width(const tsl_vocab *vocab); /* columns of a logits row */
/* uint32_t words of a mask: ceil(logits_width / 32) */
TSL_API size_t tsl_vocab_mask_words(const tsl_vocab *vocab);
TSL_API bool tsl_vocab_is_special(const tsl_vocab *vocab, tsl_token token);
TSL_API bool tsl_vocab_is_eog(const tsl_vocab *vocab, tsl_token token);
TSL_API const tsl_token *tsl_vocab_eog(const tsl_vocab *vocab, uint32_t *count);
/* The bytes of a token (not NUL-terminated); NULL and length 0 for an id out of range. */
TSL_API const uint8_t *tsl_vocab_bytes(const tsl_vocab *vocab, tsl_token token, size_t *length);
/* The special or added token of that exact text, or TSL_NO_TOKEN. */
TSL_API tsl_token tsl_vocab_find_special(const tsl_vocab *vocab, const char *text, size_t length);
/* XXH3-128 over everything that changes a mask or an encoding, as 16 big-endian bytes. */
TSL_API void tsl_vocab_identity(const tsl_vocab *vocab, uint8_t identity[16]);
/* What grammars of a vocabulary learn from one another: the walk of a costly part of a schema (a
 * format, a pattern, a list of strings) is kept for the next grammar that has the same part, and
 * masks that most grammars have are written out once for all. `max_bytes` bounds it (9 MiB unless
 * set; 0: keep nothing, and drop what there is, but for masks that the vocabulary itself has: 128,
 * and a quarter of the bound, at most). Masks are the same with and without. Any thread, any time.
 * What it costs others to know: SECURITY.md. */
TSL_API void tsl_vocab_set_walk_cache(tsl_vocab *vocab, size_t max_bytes);
/* Bytes held, warm-up included. */
TSL_API size_t tsl_vocab_memory(const tsl_vocab *vocab);

/* added and special tokens written out in the text become those tokens (SentencePiece's user
 * symbols always do) */
#define TSL_ENCODE_SPECIAL 1u
/* put first what the tokenizer file puts before a text: mostly the beginning-of-sequence token, or
 * none */
#define TSL_ENCODE_BOS 2u

/* Encode `length` bytes of text as the tokenizer would: normaliser, added tokens, pre-tokenisation
 * pattern, BPE merges. Writes at most `capacity` ids and sets *count to the number needed (so a
 * call with capacity 0 measures); ids past capacity are dropped and TSL_ERR_LIMIT is returned. A
 * vocabulary made from arrays has no merges: it encodes by the greedy longest token. Invalid UTF-8
 * goes through byte by byte where the vocabulary has byte tokens, else TSL_ERR_SYNTAX; so does a
 * character that no token spells, where the file has no unknown token. TSL_ERR_UNSUPPORTED: the
 * file was of a kind that loads but does not encode, or a GGUF file whose pre-tokenisation has an
 * unknown name (see options->pattern). TSL_ERR_LIMIT, too, with *count 0, where the normaliser
 * makes more than 64 bytes of each of a text's (and 65,536). O(n log n) in what the normaliser
 * makes of the text, and as long as the file's pattern is linear. */
TSL_API tsl_status tsl_vocab_encode(const tsl_vocab *vocab, const char *text, size_t length,
                                    uint32_t flags, tsl_token *ids, size_t capacity, size_t *count);

/* ---- 3. Grammar ------------------------------------------------------------------------------ */

/* A compiled grammar bound to a vocabulary. Immutable to its users, reference-counted, shared by
 * threads; its tables grow lazily behind a lock that only a first visit takes. Holds a reference on
 * its vocabulary. */
typedef struct tsl_grammar tsl_grammar;

typedef enum tsl_order { TSL_ORDER_SCHEMA = 0, TSL_ORDER_ANY = 1 } tsl_order;

typedef enum tsl_whitespace {
  TSL_WS_ANY = 0,     /* what RFC 8259 allows, between any two structural characters */
  TSL_WS_COMPACT = 1, /* none */
  TSL_WS_BOUNDED = 2, /* at most `whitespace_max` characters at each place */
  /* newline and `indent` spaces per level, one space after ':'; empty containers are closed at
   * once */
  TSL_WS_PRETTY = 3
} tsl_whitespace;

typedef enum tsl_draft {
  /* by "$schema", else 2020-12 with the old spellings understood where they do not clash */
  TSL_DRAFT_AUTO = 0,
  TSL_DRAFT_3 = 3,
  TSL_DRAFT_4 = 4,
  TSL_DRAFT_6 = 6,
  TSL_DRAFT_7 = 7,
  TSL_DRAFT_2019_09 = 2019,
  TSL_DRAFT_2020_12 = 2020
} tsl_draft;

/* Asked for the document of an absolute URI that a schema refers to. Return true and set *text and
 * *length (they must stay valid until the compile call returns), or false if there is none. */
typedef bool (*tsl_resolver)(void *ctx, const char *uri, const char **text, size_t *length);

/* Limits of one compile; 0 means the default in brackets. Reaching one is TSL_ERR_LIMIT, with a
 * message that names it. */
typedef struct tsl_limits {
  uint64_t max_memory; /* bytes of one grammar's tables, at compile and after [256 MiB] */
  uint32_t max_stacks; /* parallel stacks of a matcher, for ambiguous grammars [4096] */
  /* nesting of input text: brackets of JSON, groups of regex and GBNF [512]; at most 1,000, 250 and
   * 4,096, whatever is asked */
  uint32_t max_depth;
  /* of work, about a microsecond each, spent by one compile call or one mask call [4,000,000] */
  uint64_t max_steps;
  /* polled: non-zero cancels (TSL_ERR_CANCELLED); NULL = never. The pointer is kept, since it ends
   * masks and tokens too: it must stay valid until the last grammar with these tables
   * (tsl_grammar_tags_over) is released. Set it with an atomic store, such as
   * __atomic_store_n(flag, 1, __ATOMIC_RELAXED). With a cache, a shared folder (tsl_store_get) or a
   * background compile it ends with the call */
  const int *cancel;
  /* µs after its start at which one compile, mask, token or question (tsl_budget_mask, …) gives up
   * (TSL_ERR_CANCELLED); polled where `cancel` is; 0 = never. Waiting for another thread's first
   * visit counts. Tables that all grammars of a vocabulary share are made by its first compile (0.1
   * s for 128k tokens), and no deadline ends that: compile `{}` once at the start */
  uint64_t deadline_us;
} tsl_limits;

typedef struct tsl_schema_options {
  /* of the members of an object: as listed in `properties` (default), those of an allOf after the
   * schema's own, subschema by subschema; or any */
  tsl_order order;
  tsl_whitespace whitespace;
  uint32_t whitespace_max; /* characters, for TSL_WS_BOUNDED */
  uint32_t indent;         /* spaces, for TSL_WS_PRETTY */
  tsl_draft draft;
  bool ignore_formats; /* default: known formats are asserted */
  /* OpenAPI 3.0.3's `nullable: true` adds null to the `type` beside it; without one it asks for
   * nothing, and `enum`, `const`, `not`, … hold for null as for all else */
  bool nullable;
  /* members that the schema does not name may come again in an object; default: each name comes
   * once, compared decoded */
  bool repeated_names;
  /* compile no more than the first mask needs; default: for larger schemas, and those with
   * patterns, also masks that most texts come by, so that no text waits for them */
  bool lazy;
  uint32_t max_nesting;  /* levels of arrays and objects in the output; 0 = unbounded */
  tsl_resolver resolver; /* NULL: only the metaschemas can be referred to */
  void *resolver_ctx;
  const char *base_uri; /* of the schema, for relative references; NULL = none */
} tsl_schema_options;

typedef struct tsl_regex_options {
  bool case_insensitive;
  bool dot_all; /* '.' matches line terminators too */
  /* match anywhere in the text, as JSON Schema's `pattern` does; default: the whole text */
  bool search;
} tsl_regex_options;

/* Compile a JSON Schema: the matcher accepts exactly the JSON texts that are valid against it,
 * UTF-8, in the member order asked for. Every asserting keyword is enforced or the call fails with
 * its JSON pointer. `options` and `limits` may be NULL. Errors: SYNTAX, SCHEMA, UNSUPPORTED, EMPTY,
 * LIMIT, CANCELLED, NO_MEMORY, ARGUMENT (an order, whitespace or draft that is none of the above).
 * Cost: tens of microseconds for a schema of a few KB, linear in its size, and, unless `lazy`, up
 * to some 300 more for masks that texts ask for later. */
TSL_API tsl_status tsl_grammar_json_schema(tsl_vocab *vocab, const char *schema, size_t length,
                                           const tsl_schema_options *options,
                                           const tsl_limits *limits, tsl_grammar **out,
                                           tsl_error *error);

/* Compile a regular expression (ECMA-262 and the PCRE syntax that does not clash with it) over code
 * points; the text is UTF-8. `options` and `limits` may be NULL. Errors: SYNTAX with the offset,
 * UNSUPPORTED, EMPTY, LIMIT, CANCELLED, NO_MEMORY, ARGUMENT. */
TSL_API tsl_status tsl_grammar_regex(tsl_vocab *vocab, const char *pattern, size_t length,
                                     const tsl_regex_options *options, const tsl_limits *limits,
                                     tsl_grammar **out, tsl_error *error);

/* Compile a GBNF grammar, llama.cpp's dialect, with left recursion allowed, and lines that begin
 * with '|' going on with the rule before. A token by id or name (<[7]>, <name>) that ends a
 * generation, or has no bytes, is no part of a text: it matches nothing. `root` names the start
 * rule; NULL = "root". `limits` may be NULL. Errors: as tsl_grammar_regex; a rule that is not there
 * is SYNTAX. */
TSL_API tsl_status tsl_grammar_gbnf(tsl_vocab *vocab, const char *text, size_t length,
                                    const char *root, const tsl_limits *limits, tsl_grammar **out,
                                    tsl_error *error);

typedef struct tsl_lark_options {
  const char *start; /* the start rule; NULL: "start" */
  /* asked for what %import names beyond the library: "a/b.lark"; NULL: nothing else is there. */
  tsl_resolver resolver;
  void *resolver_ctx;
} tsl_lark_options;

/* Compile a Lark grammar (docs/lark.md): a text is accepted if it can be cut, in any way, into
 * terminals that parse, with what %ignore names anywhere between them. `options` and `limits` may
 * be NULL. Errors: SYNTAX, and UNSUPPORTED for what is refused, with line and column; EMPTY, LIMIT,
 * CANCELLED, NO_MEMORY, ARGUMENT. */
TSL_API tsl_status tsl_grammar_lark(tsl_vocab *vocab, const char *text, size_t length,
                                    const tsl_lark_options *options, const tsl_limits *limits,
                                    tsl_grammar **out, tsl_error *error);

TSL_API void tsl_grammar_retain(tsl_grammar *grammar);
TSL_API void tsl_grammar_release(tsl_grammar *grammar);           /* NULL is allowed */
TSL_API tsl_vocab *tsl_grammar_vocab(const tsl_grammar *grammar); /* borrowed */

/* What is enforced, as a JSON array of {"pointer", "keyword", "status": "enforced" | "no effect",
 * "reason"}; for regex and GBNF an empty array. Borrowed, NUL-terminated, lives as long as the
 * grammar. Made when it is first asked for, about as fast as the schema is read; NULL when out of
 * memory. */
TSL_API const char *tsl_grammar_report(const tsl_grammar *grammar);

/* One thing in a schema that a provider's documented limits do not have. `pointer` and `keyword`
 * say where ("" for the whole schema or a subschema). */
typedef struct tsl_profile_finding {
  const char *pointer, *keyword, *message; /* valid during the call of the sink */
  /* a documented limit is broken; false: the documentation names no such keyword */
  bool breaks;
} tsl_profile_finding;
typedef void (*tsl_profile_sink)(void *ctx, const tsl_profile_finding *finding);

/* Which documented limits of a provider does this schema break? `profile` is "openai-strict":
 * OpenAI's Structured Outputs with strict: true, for models that are not fine-tuned, as documented
 * in 2026 (docs/schema.md lists the limits). The schema is only read, not compiled. `sink` is
 * called for each finding, in the order of the text, those of the whole schema last. Errors:
 * ARGUMENT (no such profile), SYNTAX, LIMIT (over 512 levels), NO_MEMORY. Linear. */
TSL_API tsl_status tsl_schema_profile(const char *profile, const char *schema, size_t length,
                                      const tsl_allocator *allocator, tsl_profile_sink sink,
                                      void *ctx, tsl_error *error);

/* Called once per line of a listing; `line` has no newline and is valid during the call. */
typedef void (*tsl_line_sink)(void *ctx, const char *line);

/* The rules of a GBNF grammar as JSON, for pictures: {"rules": [{"name", "line", "body": NODE}]},
 * where NODE has a "kind": literal, class or token (with "text", in GBNF notation), any, empty,
 * rule ("name"), sequence or choice ("items"), repeat ("item", "min", "max": null = no bound).
 * Hands it (NUL-terminated, valid during the call) to `sink`. The grammar needs no start rule, and
 * may match no text: errors are those of its notation, as of tsl_grammar_gbnf. Cost: linear in the
 * text. */
TSL_API tsl_status tsl_gbnf_write(tsl_vocab *vocab, const char *text, size_t length,
                                  tsl_line_sink sink, void *ctx, tsl_error *error);

/* List the states that exist so far (all that were visited), with their expressions and
 * transitions: for people and tests. */
TSL_API void tsl_grammar_dump(const tsl_grammar *grammar, tsl_line_sink sink, void *ctx);

typedef enum tsl_edge_kind {
  TSL_EDGE_BYTES = 0, /* reading one of `bytes` leads to state `to` */
  /* a frame of its own begins in `to`; when it is over, this one goes on in `then` */
  TSL_EDGE_CALL = 1,
  TSL_EDGE_OR = 2, /* the state stands for `to`, and for the others of its kind */
  /* one of `tokens` tokens (or, if `complement`, any but these) leads to `to` */
  TSL_EDGE_TOKENS = 3
} tsl_edge_kind;

typedef struct tsl_edge {
  tsl_edge_kind kind;
  uint32_t to, then;
  uint32_t bytes[8]; /* bit b of word b / 32 */
  uint32_t tokens;
  bool complement;
} tsl_edge;

/* A state of the automaton that builds itself. What pointers lead to is valid during the call of
 * the sink. */
typedef struct tsl_state {
  uint32_t number;
  bool nullable; /* its frame may end here */
  bool visited;  /* its edges are known; else there are none yet */
  /* what is left to match in its frame; at most 1,023 bytes, "" for a state that stands for
   * others */
  const char *expression;
  const tsl_edge *edges; /* bytes with the same target are one edge */
  size_t edge_count;
} tsl_state;
typedef void (*tsl_state_sink)(void *ctx, const tsl_state *state);

/* The same as data, for pictures. Edges may lead to states of smaller numbers than the first one's,
 * which all grammars of a vocabulary share and which are not listed. The grammar is locked
 * meanwhile: the sink must not use it. Makes what visited states lead to, as a mask or a token
 * would. Errors: NO_MEMORY, LIMIT. */
TSL_API tsl_status tsl_grammar_states(const tsl_grammar *grammar, tsl_state_sink sink, void *ctx);

typedef struct tsl_grammar_stats {
  /* bytes held by this grammar, its vocabulary's shared tables not counted */
  uint64_t memory;
  uint32_t exprs, states, walks, masks, stacks; /* entries of the tables */
  uint64_t walk_steps;                          /* (state, trie node) visits so far */
} tsl_grammar_stats;
TSL_API void tsl_grammar_get_stats(const tsl_grammar *grammar, tsl_grammar_stats *stats);

/* ---- 4. Matcher ------------------------------------------------------------------------------ */

/* One generation in progress. A mask is `tsl_vocab_mask_words` words: token i is bit i % 32 of word
 * i / 32; set = allowed. */
typedef struct tsl_matcher tsl_matcher;

/* Start at the beginning of the grammar. Holds a reference on it. `allocator` NULL = the grammar's.
 * O(1). */
TSL_API tsl_status tsl_matcher_new(tsl_grammar *grammar, const tsl_allocator *allocator,
                                   tsl_matcher **out);
TSL_API void tsl_matcher_free(tsl_matcher *matcher);                  /* NULL is allowed */
TSL_API tsl_grammar *tsl_matcher_grammar(const tsl_matcher *matcher); /* borrowed */
/* Back to the beginning, history forgotten. */
TSL_API void tsl_matcher_reset(tsl_matcher *matcher);
/* An independent copy with the same text behind it. O(1) but for the rollback history (4 bytes a
 * token, at most TSL_MAX_ROLLBACK). Errors: NO_MEMORY. */
TSL_API tsl_status tsl_matcher_fork(const tsl_matcher *matcher, tsl_matcher **out);

/* Write the allowed tokens into `mask` (every word, padding bits 0). After the end: no bit is set.
 * Errors: LIMIT, CANCELLED, NO_MEMORY (mask then unspecified, matcher unchanged and usable). Cost:
 * 0.1 µs when the position was seen before, microseconds else; rows that begin at a multiple of 64
 * bytes are written fastest. */
TSL_API tsl_status tsl_matcher_mask(tsl_matcher *matcher, uint32_t *mask);

/* The same, as a pointer that is valid until the next call on this matcher: nothing is copied where
 * the mask was lent before. Up to four masks are kept written out with a matcher that lends, and up
 * to 64 with its grammar, whose memory they count to. Equal masks of one grammar have equal *id
 * (stable while the grammar lives; id may be NULL). */
TSL_API tsl_status tsl_matcher_mask_borrow(tsl_matcher *matcher, const uint32_t **mask,
                                           uint64_t *id);

/* Advance by one token. TSL_REJECTED and no change if the mask does not have it, or after the end.
 * Errors (no change): ARGUMENT (the id is not below logits_width: no mask has a bit for it), LIMIT,
 * CANCELLED, NO_MEMORY, and of a loaded grammar FORMAT. */
TSL_API tsl_status tsl_matcher_accept(tsl_matcher *matcher, tsl_token token);

/* Advance by bytes, as if by some tokens that spell them; they count as one token for rollback, no
 * bytes as none. On TSL_REJECTED nothing changed and *accepted (may be NULL) is the number of
 * leading bytes that could have been accepted. Errors (no change): as tsl_matcher_accept; limits
 * hold for each 1,024 bytes or so. */
TSL_API tsl_status tsl_matcher_accept_bytes(tsl_matcher *matcher, const void *bytes, size_t length,
                                            size_t *accepted);

/* How many of the leading tokens could be accepted one after the other; the matcher does not move.
 * The first that cannot be ends the count, also one that is no token at all. Errors: as
 * tsl_matcher_accept but for ARGUMENT; *valid is then the number of those before. */
TSL_API tsl_status tsl_matcher_validate(tsl_matcher *matcher, const tsl_token *tokens, size_t count,
                                        size_t *valid);

/* Undo the last `count` accepted tokens, an end-of-generation token like any other. TSL_ERR_STATE
 * and no change if there are fewer in the history. */
TSL_API tsl_status tsl_matcher_rollback(tsl_matcher *matcher, size_t count);
/* Tokens that can be rolled back now. */
TSL_API size_t tsl_matcher_history(const tsl_matcher *matcher);

/* Is the text so far a whole sentence of the grammar? Then (and only then) end-of-generation tokens
 * are allowed. */
TSL_API bool tsl_matcher_is_complete(const tsl_matcher *matcher);
/* Has an end-of-generation token been accepted? Then nothing is allowed any more. */
TSL_API bool tsl_matcher_is_terminated(const tsl_matcher *matcher);

/* The bytes that must come next whatever is chosen (jump-forward): writes at most `capacity`,
 * *length is what was written. Empty where the text may end or may go on in more than one way, also
 * by a token that the grammar names (<[id]>, "token") and that spells something else. Errors:
 * LIMIT, CANCELLED, NO_MEMORY; the *length bytes written until then are forced. */
TSL_API tsl_status tsl_matcher_forced_bytes(tsl_matcher *matcher, uint8_t *bytes, size_t capacity,
                                            size_t *length);

/* The fewest bytes that complete the text; UINT64_MAX if the shortest completion is longer than
 * 2^32 - 2 bytes. Exact, but for a string under a pattern whose shortest completion exceeds some
 * 4,000 bytes, within an escape of a counted repetition, and where a token is taken by its name,
 * which counts as one byte: there it may be a lower bound. Cost: one look per frame of the stack,
 * inside a member's name one per name that it may become, more where a pattern meets a length
 * limit. */
TSL_API tsl_status tsl_matcher_shortest_completion(tsl_matcher *matcher, uint64_t *bytes);

/* The bytes that may come next, as a set of 256 bits (bit b of word b / 32), and whether the text
 * may end here: what an error message shows as "expected". */
TSL_API tsl_status tsl_matcher_next_bytes(tsl_matcher *matcher, uint32_t set[8]);

/* One frame of a matcher's position: the state that it is in, what is left of it, and which frames
 * may follow when it is over. Unless the grammar is ambiguous there, the frames are a stack, each
 * with one below it. What pointers lead to is valid during the call of the sink. */
typedef struct tsl_frame {
  /* in the listing, from 0: first the frames that read the next byte, then what is below them */
  uint32_t number;
  /* 0 for the first ones; else one more than that of the nearest frame above */
  uint32_t depth;
  /* numbers of the frames that may follow; none: the text is over with this one */
  const uint32_t *below;
  uint32_t below_count;
  /* as in tsl_grammar_states; iterations of the counted loop that is active, 0 where none is */
  uint32_t state, count;
  bool nullable;          /* the frame may end here */
  const char *expression; /* what is left to match in it; at most 1,023 bytes */
  /* what it was begun for, as "<expr>"; at most 255 bytes. "" where it has no name. Rules that
   * stand last in another, or are regular, have no frame of their own and are not told */
  const char *rule;
} tsl_frame;
typedef void (*tsl_frame_sink)(void *ctx, const tsl_frame *frame);

#define TSL_MAX_FRAMES 1024u /* that tsl_matcher_frames lists */

/* List the frames of the position, from the top down, at most `max` of them (0: TSL_MAX_FRAMES):
 * for people and tests. *total is the number of frames there are, or TSL_MAX_FRAMES where there are
 * more. The grammar is locked meanwhile: the sink must not use it or the matcher. Errors:
 * NO_MEMORY, ARGUMENT (max over TSL_MAX_FRAMES). Cost: one look at every state of the grammar, and
 * up to 1,000 more for each frame. */
TSL_API tsl_status tsl_matcher_frames(const tsl_matcher *matcher, uint32_t max, tsl_frame_sink sink,
                                      void *ctx, uint32_t *total);

/* ---- 5. Masks on logits ---------------------------------------------------------------------- */

typedef enum tsl_dtype { TSL_F32 = 0, TSL_F16 = 1, TSL_BF16 = 2 } tsl_dtype;

/* Set the logits of tokens that are not in the mask to -inf, in place. `logits` has `width`
 * elements of `dtype`, `mask` ceil(width / 32) words. Uses the widest vector instructions that the
 * machine has. Reads and writes each logit at most once. */
TSL_API tsl_status tsl_mask_apply(const uint32_t *mask, void *logits, size_t width,
                                  tsl_dtype dtype);
/* How many tokens a mask allows. */
TSL_API size_t tsl_mask_count(const uint32_t *mask, size_t width);
static inline bool tsl_mask_has(const uint32_t *mask, tsl_token token) {
  return (mask[token >> 5] >> (token & 31)) & 1u;
}

/* ---- 6. Sampler ------------------------------------------------------------------------------ */

/* Draws a token from logits under a mask: bans, then stages in the order that the caller lists,
 * then one draw from what is left. Every field of the options that is zero is off, so
 * `(tsl_sampler_options){.temperature = 1}` draws from the model's own distribution under the mask
 * and `(tsl_sampler_options){0}` is greedy. p below is the softmax over the candidates that are
 * left, at the temperature so far. */
typedef struct tsl_sampler tsl_sampler;

/* The stages, in the conventional order. A cut-off never drops the most likely candidate, but for
 * xtc and typical-p, and always leaves one. */
typedef enum tsl_stage {
  TSL_STAGE_BIAS = 1, /* logit + bias, for the tokens listed */
  /* repetition, then frequency and presence, over the tokens accepted before */
  TSL_STAGE_PENALTIES = 2,
  TSL_STAGE_DRY = 3,         /* what would prolong a repeated sequence */
  TSL_STAGE_TEMPERATURE = 4, /* fixed, or by entropy */
  TSL_STAGE_TOP_N_SIGMA = 5,
  TSL_STAGE_TOP_K = 6,
  TSL_STAGE_TOP_P = 7,
  TSL_STAGE_MIN_P = 8,
  TSL_STAGE_TYPICAL_P = 9,
  TSL_STAGE_EPSILON = 10,
  TSL_STAGE_ETA = 11,
  TSL_STAGE_XTC = 12,
  TSL_STAGE_MIROSTAT = 13 /* version 2 */
} tsl_stage;

typedef struct tsl_token_bias {
  tsl_token token;
  float bias; /* added to the logit; finite */
} tsl_token_bias;

typedef struct tsl_sampler_options {
  uint64_t seed;
  float
      /* logits are divided by it; 0 = greedy: only the most likely candidate is left (ties go to
       * the lowest id); INFINITY: all candidates whose logit is finite are alike. Not negative,
       * not NaN. Whatever the temperature, a logit more than FLT_MAX below the largest counts as
       * -inf */
      temperature;
  uint32_t top_k; /* keep the k most likely; 0 = all */
  /* keep the smallest set whose probabilities sum to at least p, the most likely first; 1 (or 0) =
   * all */
  float top_p;
  /* keep tokens with at least min_p times the probability of the most likely one; 0 = all */
  float min_p;
  bool legal_mass; /* fill tsl_draw.legal_mass: one more pass over the logits, 20 µs for 128k */

  /* What runs, in which order; NULL = the conventional one (that of tsl_stage's values). Copied.
   * Each stage once at most; a stage that is not listed does not run, and what would ask for it
   * must be zero (temperature: 0 or 1), so that nothing is ignored silently. Fields that only say
   * how it would run (penalty_window, dry_base, mirostat_eta, …) ask for nothing. */
  const tsl_stage *stages;
  uint32_t stage_count;

  /* Dynamic temperature: between temperature - range and temperature + range (not below 0), by
   * (entropy / log of the number of candidates)^exponent. */
  float dynamic_range;    /* 0 = fixed */
  float dynamic_exponent; /* 0 = 1 */

  /* keep logits within n standard deviations (of the candidates' logits) of the largest; 0 = all */
  float top_n_sigma;
  /* keep the smallest set of mass p, those whose -log p is nearest to the entropy first; 1 (or 0) =
   * all */
  float typical_p;
  float epsilon; /* keep p >= epsilon; 0 = all */
  float eta;     /* keep p >= min(eta, sqrt(eta) * exp(-entropy)); 0 = all */
  /* with that probability, of the tokens with p >= threshold drop all but the least likely */
  float xtc_probability, xtc_threshold;
  float mirostat_tau; /* target surprise in bits; 0 = off */
  float mirostat_eta; /* learning rate; 0 = 0.1 */

  /* Over the last `penalty_window` tokens accepted (0 = all). */
  /* logits of those tokens: positive ones divided by it, others multiplied; 1 (or 0) = off */
  float repetition_penalty;
  float frequency_penalty; /* subtracted for every occurrence */
  float presence_penalty;  /* subtracted once */
  uint32_t penalty_window;

  /* DRY: a token that would prolong a repeated sequence of n >= dry_allowed tokens loses
   * dry_multiplier * dry_base^(n - dry_allowed). */
  float dry_multiplier;          /* 0 = off */
  float dry_base;                /* 0 = 1.75 */
  uint32_t dry_allowed;          /* 0 = 2 */
  uint32_t dry_window;           /* tokens looked back at; 0 = all */
  const tsl_token *dry_breakers; /* no repeated sequence goes across one of these. Copied */
  uint32_t dry_breaker_count;

  const tsl_token_bias *bias; /* copied; a token once at most */
  uint32_t bias_count;

  /* Bans, before all stages. Copied. */
  const tsl_token *allowed; /* nothing else may be drawn; allowed_count 0 = everything may */
  uint32_t allowed_count;
  const tsl_token *banned;
  uint32_t banned_count;
  /* no sequence of that many tokens comes twice, unless nothing else is allowed (with a logit above
   * -inf); 0 = off */
  uint32_t no_repeat_ngram;
  /* no end-of-generation token before so many are accepted, unless nothing else is allowed; 0 =
   * off */
  uint32_t min_tokens;
  /* from so many on only an end-of-generation token, if one is allowed (with a logit above -inf); 0
   * = off. A matcher's budget does more */
  uint32_t max_tokens;
  const tsl_token *eog; /* for min_tokens and max_tokens: tsl_vocab_eog. Copied */
  uint32_t eog_count;
} tsl_sampler_options;

/* Errors: ARGUMENT (a field out of range or NaN, a stage twice or unknown, a field of a stage that
 * is not listed), NO_MEMORY. */
TSL_API tsl_status tsl_sampler_new(const tsl_sampler_options *options,
                                   const tsl_allocator *allocator, tsl_sampler **out);
TSL_API void tsl_sampler_free(tsl_sampler *sampler); /* NULL is allowed */

/* Tell the sampler of a token that became part of the text: what penalties, DRY, n-grams,
 * min_tokens and max_tokens look at. A sampler that uses none of them need not be told. O(log n) in
 * the number of distinct tokens in the window, of which some may move up: 8 bytes each. Errors:
 * NO_MEMORY (nothing changed). */
TSL_API tsl_status tsl_sampler_accept(tsl_sampler *sampler, tsl_token token);
/* The same for tokens that were there before, such as a prompt's: they do not count for min_tokens
 * and max_tokens. Only while nothing was accepted (else TSL_ERR_STATE). On an error nothing
 * changed. O(n log n). */
TSL_API tsl_status tsl_sampler_prompt(tsl_sampler *sampler, const tsl_token *tokens, size_t count);
/* Forget the last `count` accepted tokens (TSL_ERR_STATE and no change if there are fewer).
 * Mirostat's bound goes back to what it was before they were drawn; the generator goes on, so that
 * drawing again may give others. */
TSL_API tsl_status tsl_sampler_rollback(tsl_sampler *sampler, size_t count);
/* Begin another text: no tokens accepted, mirostat as at first; the generator goes on. */
TSL_API void tsl_sampler_restart(tsl_sampler *sampler);

/* A second sampler with the same options, text so far and mirostat state, for another branch of the
 * text (tsl_matcher_fork). It draws with the numbers of `seed`, from the first one on. Memory as
 * much as the text takes; errors: NO_MEMORY. */
TSL_API tsl_status tsl_sampler_fork(const tsl_sampler *sampler, uint64_t seed, tsl_sampler **out);

typedef struct tsl_draw {
  tsl_token token;
  double probability; /* of the token among those that were left after the cut-offs */
  double
      /* softmax mass that the model had put on the tokens of the mask (before anything else); NaN
       * unless options.legal_mass */
      legal_mass;
  uint32_t allowed; /* tokens allowed by the mask */
  /* tokens left after bans and cut-offs; where no cut-off ran, some with a logit of -inf may be
   * among them */
  uint32_t kept;
} tsl_draw;

/* Draw one token. `logits` has `width` float32 and is neither changed nor copied; `mask` may be
 * NULL (all allowed). The generator advances by one draw on success only. Errors: LOGITS (a
 * candidate's logit is NaN or +inf, or none is finite: nothing allowed, all of it banned),
 * ARGUMENT, NO_MEMORY. Equal seeds, options and inputs give equal tokens on every platform. Cost
 * for 128k logits with AVX-512: 17 µs over the whole vocabulary, 8 µs with a cut-off, 0.5 µs where
 * at most 100 tokens are allowed, 80 to 240 µs where a cut-off leaves tens of thousands. */
TSL_API tsl_status tsl_sampler_draw(tsl_sampler *sampler, const float *logits, size_t width,
                                    const uint32_t *mask, tsl_draw *out);

/* ---- 6a. What the model wanted --------------------------------------------------------------- */

typedef struct tsl_token_logprob {
  tsl_token token;
  double logprob; /* natural logarithm */
} tsl_token_logprob;

/* One step: the model's distribution (softmax of the logits, no temperature, no stage) before and
 * after the mask. Natural logarithms; entropies in nats. A token that the model gives less than
 * e^-87 of the most likely one's probability counts as impossible in masses and entropies. */
typedef struct tsl_step {
  /* probability of all allowed tokens: small where the grammar fights the model */
  double legal_mass;
  /* of the token, before the mask; -inf for a logit of -inf */
  double logprob;
  /* of the token among the allowed ones; -inf where the mask does not have it */
  double masked_logprob;
  double entropy;                       /* before the mask */
  double masked_entropy;                /* after it */
  uint32_t allowed;                     /* tokens in the mask */
  uint32_t top_count, masked_top_count; /* entries written to `top` and `masked_top` */
} tsl_step;

/* Measure a step. `token` may be TSL_NO_TOKEN (logprobs are NaN then). `top` and `masked_top` (each
 * may be NULL) get the `top_n` most likely tokens before and after the mask, the most likely first,
 * ties by id. `mask` NULL = all allowed. Nothing is allocated. Outside of the mask NaN counts as no
 * probability, and +inf takes all of it (legal mass and entropy 0, `top` empty). Errors: ARGUMENT
 * (also: a token not below `width`), LOGITS (an allowed NaN or +inf, or nothing allowed is finite;
 * *out unchanged). Cost for 128k: 50 µs, and 5 µs for each list. */
TSL_API tsl_status tsl_step_measure(const float *logits, size_t width, const uint32_t *mask,
                                    tsl_token token, uint32_t top_n, tsl_token_logprob *top,
                                    tsl_token_logprob *masked_top, tsl_step *out);

/* Sums over an output. Zero-initialised = no step yet. */
typedef struct tsl_step_sums {
  uint64_t steps;
  double logprob, masked_logprob, entropy, masked_entropy; /* sums */
  double
      /* sum of log(legal_mass): what the grammar cost in all; logprob = masked_logprob +
       * log_legal_mass for allowed tokens */
      log_legal_mass;
  double least_legal_mass; /* of all steps; 0 before the first one */
} tsl_step_sums;
TSL_API void tsl_step_add(tsl_step_sums *sums, const tsl_step *step);

/* ---- 6b. Guidance ---------------------------------------------------------------------------- */

/* Two rows of logits become one, to be masked and drawn from as usual. `out` may be one of the
 * inputs. Errors: ARGUMENT (NULL, width over TSL_MAX_VOCAB, a number that is not finite or out of
 * range). */

/* Classifier-free: out = without + scale * (with - without), for the same model with and without
 * the condition. Scale 1 = `with` alone, more = more of what the condition changes. Where either is
 * not finite, out is `with`. */
TSL_API tsl_status tsl_guide_classifier_free(const float *with, const float *without, size_t width,
                                             float scale, float *out);

/* Contrastive: out = strong - beta * weak over the tokens to which the strong model gives at least
 * alpha times its largest probability, -inf elsewhere. 0 <= alpha <= 1; beta finite. `mask` (NULL =
 * all): the largest probability is sought among its tokens, so that a grammar's mask does not meet
 * a cut made for other tokens; others become -inf. Where the weak logit is not finite it counts as
 * 0. */
TSL_API tsl_status tsl_guide_contrastive(const float *strong, const float *weak, size_t width,
                                         const uint32_t *mask, float alpha, float beta, float *out);

/* ---- 7. Limits ------------------------------------------------------------------------------- */

#define TSL_MAX_VOCAB (1u << 22)  /* tokens of a vocabulary, and columns of a logits row */
#define TSL_MAX_TOKEN_BYTES 1024u /* bytes of a token, special or not */
#define TSL_MAX_ROLLBACK 4096u    /* tokens of history that a matcher keeps */

/* ---- 8. Batches, background compiles, cache -------------------------------------------------- */

/* Worker threads, for tsl_batch_mask and tsl_compile_start; wholly optional. Everything in this
 * section may be used by any number of threads at once, but for the `_free` functions, which must
 * be the last call on their object. A fork of the process has none of its threads: there these
 * objects, and compiles that were under way, can neither be waited for nor freed. */
typedef struct tsl_threads tsl_threads;

typedef struct tsl_threads_options {
  /* threads to start; 0 = one less than the machine has processors (the calling thread works too),
   * at least 1. At most TSL_MAX_WORKERS */
  uint32_t workers;
  /* A host with threads of its own gives this instead; then none are started. Call task(arg, i)
   * once for each i < n, on any threads in any order, and return when all calls have. May be called
   * by several threads at once. tsl_compile_start then starts a thread per compile. */
  void (*parallel)(void *ctx, void (*task)(void *arg, size_t i), void *arg, size_t n);
  void *ctx;
  uint32_t width; /* with `parallel`: tasks to make of a batch, usually the host's threads; 0 = 2 */
} tsl_threads_options;

/* Start the workers. They block all signals and sleep when there is nothing to do. `options` and
 * `allocator` may be NULL. Errors: NO_MEMORY, LIMIT (the system gives no more threads),
 * ARGUMENT. */
TSL_API tsl_status tsl_threads_new(const tsl_threads_options *options,
                                   const tsl_allocator *allocator, tsl_threads **out);
/* Ends the workers, after the batches and compiles that were handed to them. NULL is allowed. Must
 * not be called by one of them. */
TSL_API void tsl_threads_free(tsl_threads *threads);
/* workers; with `parallel` its width */
TSL_API uint32_t tsl_threads_count(const tsl_threads *threads);

/* Write the masks of `count` matchers into `masks`, row i being that of matchers[i]: row i begins
 * at masks + i * stride words, has the mask words of its vocabulary, and zeros from there to
 * `stride`. A NULL matcher leaves its row alone. Each matcher may stand in the list once, and
 * nobody else may use it until the call returns. The calling thread works too; with `threads` NULL
 * it works alone, and where another batch keeps the workers busy it goes on alone. A failure in one
 * row does not stop the others: statuses[i] (`statuses` may be NULL) is what tsl_matcher_mask would
 * have returned, and the result is that of the first row that failed, or TSL_OK. ARGUMENT, and
 * nothing is written, if `stride` is less than a row's mask words. Cost: rows seen before take no
 * lock, 0.1 to 0.3 µs each; first visits to one grammar take turns, to different grammars run side
 * by side. */
TSL_API tsl_status tsl_batch_mask(tsl_threads *threads, tsl_matcher *const *matchers, size_t count,
                                  uint32_t *masks, size_t stride, tsl_status *statuses);

typedef enum tsl_source_kind {
  TSL_SOURCE_JSON_SCHEMA = 0,
  TSL_SOURCE_REGEX = 1,
  TSL_SOURCE_GBNF = 2,
  TSL_SOURCE_LARK = 3
} tsl_source_kind;

/* The arguments of a compile call as one value; what does not belong to `kind` is ignored. Pointers
 * may be NULL as there. */
typedef struct tsl_source {
  tsl_source_kind kind;
  const char *text;
  size_t length;
  const tsl_schema_options *schema;
  const tsl_regex_options *regex;
  const char *root; /* the start rule of GBNF or Lark */
  const tsl_limits *limits;
} tsl_source;

/* tsl_grammar_json_schema, tsl_grammar_regex, tsl_grammar_gbnf or, without a resolver,
 * tsl_grammar_lark, by `kind`. */
TSL_API tsl_status tsl_grammar_compile(tsl_vocab *vocab, const tsl_source *source,
                                       tsl_grammar **out, tsl_error *error);

/* Compiled grammars by content: equal kind, text, options, limits (but `cancel` and `deadline_us`)
 * and vocabulary identity are one grammar. Found by XXH3-128, then compared in full, so that no
 * crafted text is taken for another. Holds references; the least recently used go when the
 * grammars' memory is over the bound. A grammar that somebody else holds too lives on without the
 * cache and is counted no more. */
typedef struct tsl_cache tsl_cache;

typedef struct tsl_cache_stats {
  uint64_t hits;   /* given out without a compile, `waits` included */
  uint64_t waits;  /* hits that waited for another thread's compile of the same grammar */
  uint64_t misses; /* compiled, or failed to */
  /* compiled and not kept: a resolver is set, whose answers the cache can't know */
  uint64_t bypasses;
  /* dropped to stay below the bound, those that were too large to be kept among them */
  uint64_t evictions;
  uint64_t bytes; /* of the grammars held, as of their last use, and of the keys */
  uint64_t max_bytes;
  uint64_t entries;
} tsl_cache_stats;

/* An empty cache. `max_bytes` bounds what it holds; grammars grow while they are used, and are
 * measured whenever they are given out. `allocator` is for the cache's own memory and may be NULL.
 * Errors: NO_MEMORY, ARGUMENT (max_bytes is 0). */
TSL_API tsl_status tsl_cache_new(uint64_t max_bytes, const tsl_allocator *allocator,
                                 tsl_cache **out);
TSL_API void tsl_cache_free(tsl_cache *cache); /* NULL is allowed */

/* The grammar of `source`: the cached one (with a reference for the caller), or a new one, which is
 * then kept. Threads that ask for the same grammar while it is compiled wait for it, each no longer
 * than its own `cancel` and `deadline_us` say; where it fails or is cancelled, one of those that
 * wait compiles in its place. Failures are not kept. `cancel` and `deadline_us` end with the
 * compile: masks of a grammar that others share are bounded by `max_steps` alone. `vocab` may be
 * another object than the grammar's, of equal identity. Errors: those of tsl_grammar_compile. Cost
 * of a hit: hashing the text and one lock, about 0.3 µs for a few KB. */
TSL_API tsl_status tsl_cache_get(tsl_cache *cache, tsl_vocab *vocab, const tsl_source *source,
                                 tsl_grammar **out, tsl_error *error);
TSL_API void tsl_cache_get_stats(tsl_cache *cache, tsl_cache_stats *stats);
/* Drop everything that is held; the counters stay. */
TSL_API void tsl_cache_clear(tsl_cache *cache);

/* A compile on another thread. */
typedef struct tsl_compile tsl_compile;

/* Begin to compile `source`, through `cache` unless it is NULL, on one of `threads`' workers, or on
 * a thread of its own if that is NULL. Text and options are copied; the resolver is called on that
 * thread, and its ctx and the cache must outlive the compile. `deadline_us` counts from this call,
 * and as with a cache it and cancelling end with the compile. `limits->cancel` must be NULL
 * (ARGUMENT): there is tsl_compile_cancel. Errors: NO_MEMORY, ARGUMENT, LIMIT (no more threads). */
TSL_API tsl_status tsl_compile_start(tsl_threads *threads, tsl_cache *cache, tsl_vocab *vocab,
                                     const tsl_source *source, tsl_compile **out, tsl_error *error);
/* Has it ended, well or not? Never blocks. */
TSL_API bool tsl_compile_is_done(const tsl_compile *compile);
/* Ask it to end early: it does within some hundred microseconds, usually, with TSL_ERR_CANCELLED,
 * unless it is done already; at once if no worker has come to it. Never blocks. */
TSL_API void tsl_compile_cancel(tsl_compile *compile);
/* Wait for the end, at most `timeout_us` (UINT64_MAX: as long as it takes). TSL_OK and a reference
 * on the grammar, one of its own for each call that succeeds; or the compile's error; or
 * TSL_ERR_STATE if it has not ended in time. May be called again, with the same result. */
TSL_API tsl_status tsl_compile_wait(tsl_compile *compile, uint64_t timeout_us, tsl_grammar **out,
                                    tsl_error *error);
/* Cancels what has not ended, waits for it, and frees. NULL is allowed. */
TSL_API void tsl_compile_free(tsl_compile *compile);

#define TSL_MAX_WORKERS 1024u /* threads of a tsl_threads */

/* ---- 9. Decoding ----------------------------------------------------------------------------- */

/* What only a decoder that knows the grammar can do: end every text within a budget of tokens,
 * search with beams, check drafts of several tokens, draw from the model's own distribution given
 * the grammar, score all outputs there are, and report the parts of a JSON text while it is
 * written. */

/* -- 9.1 Token budget: texts that end in time -------------------------------------------------- */

/* Knows the way to the end from every position that it was asked about, for all matchers of one
 * grammar. Use: tsl_budget_start once; then at every step either draw under tsl_budget_mask, or
 * (cheaper) draw under the matcher's own mask, ask tsl_budget_allows, and only if it says
 * TSL_REJECTED draw again under tsl_budget_mask: the distribution of the draw is the same. As long
 * as only such tokens are accepted, the text is complete when `left` reaches 0 or before. Where
 * tokens of a text are counted ("max_tokens") its own end is not part of the reckoning: a text that
 * is cut off in a character may take some tokens more. Limits: `deadline_us` and `cancel` end a
 * call as a whole; `max_steps` is for each piece of its work, of which a search has 50,000
 * positions at most. Where a schema has uniqueItems under a negation there are no budgets
 * (TSL_ERR_UNSUPPORTED from tsl_budget_start, _allows and _mask). Known fault: where arrays of
 * unique items hold one another three deep, a mask has seldom been empty before the text was
 * complete, in indented text near the least budget. End-of-generation tokens are not counted: where
 * the text is complete, they are allowed with nothing left, too. Holds a reference on the grammar;
 * used by one thread at a time. Where the tables for a position are missing, takes the grammar's
 * lock. */
typedef struct tsl_budget tsl_budget;

/* `allocator` NULL = the grammar's. */
TSL_API tsl_status tsl_budget_new(tsl_grammar *grammar, const tsl_allocator *allocator,
                                  tsl_budget **out);
TSL_API void tsl_budget_free(tsl_budget *budget); /* NULL is allowed */

/* Can the matcher's text be completed with at most `max_tokens` more tokens? If not: TSL_ERR_LIMIT,
 * and `error` (may be NULL) says how many it takes, and whether that is certain. Below the number
 * that the fastest way in bytes takes, all ways in tokens are searched, up to 50,000 positions. */
TSL_API tsl_status tsl_budget_start(tsl_budget *budget, const tsl_matcher *matcher,
                                    uint64_t max_tokens, tsl_error *error);

/* The tokens of a short completion: writes at most `capacity` ids (`tokens` may be NULL if that is
 * 0) and sets *count to their number, 0 where the text may end. They spell a text of the fewest
 * bytes (or nearly, where tsl_matcher_shortest_completion is a bound), with the fewest tokens for
 * it. TSL_ERR_LIMIT if no completion was found: then the vocabulary cannot spell one, or it is too
 * far away. Cost: 1 to 3 µs per byte that was on no way before. */
TSL_API tsl_status tsl_budget_completion(tsl_budget *budget, const tsl_matcher *matcher,
                                         tsl_token *tokens, size_t capacity, size_t *count);

/* May this token be taken, with `left` tokens (this one included) to go? TSL_OK, or TSL_REJECTED:
 * the grammar does not allow it, or no completion that fits is known after it. The matcher does not
 * move. Cost: below 1 µs at a position that was seen before. */
TSL_API tsl_status tsl_budget_allows(tsl_budget *budget, const tsl_matcher *matcher, uint64_t left,
                                     tsl_token token);

/* The tokens that tsl_budget_allows lets through, as a mask; asked afterwards it may let one more
 * through, as a shorter completion may have been found meanwhile. Cost: as tsl_matcher_mask where
 * `left` is more than any token of this position needs, once that is known; else all allowed tokens
 * are spelled: milliseconds where many are. */
TSL_API tsl_status tsl_budget_mask(tsl_budget *budget, const tsl_matcher *matcher, uint64_t left,
                                   uint32_t *mask);

/* Wind down: from `soft` tokens left on, add `bias` × (soft − left + 1) / soft to the logits of
 * allowed tokens after which fewer tokens complete the text than now, and of end-of-generation
 * tokens where they are allowed. Nothing is added inside free content (where more than 64 different
 * bytes may follow), so that strings are not cut short for it. `logits` has the vocabulary's
 * logits_width elements. Errors: ARGUMENT (bias is not finite), those of tsl_budget_allows. */
TSL_API tsl_status tsl_budget_wind_down(tsl_budget *budget, const tsl_matcher *matcher,
                                        uint64_t left, uint64_t soft, float bias, float *logits);
/* -- 9.2 Streaming: the parts of a JSON text while it is written ------------------------------- */

typedef enum tsl_value {
  TSL_OBJECT = 1,
  TSL_ARRAY = 2,
  TSL_STRING = 3,
  TSL_NUMBER = 4,
  TSL_TRUE = 5,
  TSL_FALSE = 6,
  TSL_NULL = 7
} tsl_value;

typedef enum tsl_event_kind {
  TSL_EVENT_BEGIN = 1, /* a value begins; what it is is known, nothing of it yet */
  /* more of a string: whole characters, decoded, at least one; escapes and UTF-8 sequences are
   * never split */
  TSL_EVENT_TEXT = 2,
  TSL_EVENT_END = 3 /* the value is whole; of a number: `text` is its spelling */
} tsl_event_kind;

/* Valid during the call of the sink. Nothing is NUL-terminated. */
typedef struct tsl_event {
  tsl_event_kind kind;
  tsl_value value;
  /* JSON pointer (RFC 6901) of the value, "" for the whole text; names of members are decoded */
  const char *pointer;
  size_t pointer_length;
  const char *text; /* UTF-8; half a surrogate pair on its own is given as U+FFFD */
  size_t text_length;
} tsl_event;
typedef void (*tsl_event_sink)(void *ctx, const tsl_event *event);

/* A reader of one JSON text that is given in pieces of any size: feed it the bytes of each accepted
 * token (tsl_vocab_bytes; special tokens have no text). It needs no grammar, checks that the text
 * is JSON by itself, and remembers names of open members, not values. One thread at a time. */
typedef struct tsl_events tsl_events;

/* `allocator` may be NULL (malloc). */
TSL_API tsl_status tsl_events_new(tsl_event_sink sink, void *ctx, const tsl_allocator *allocator,
                                  tsl_events **out);
TSL_API void tsl_events_free(tsl_events *events); /* NULL is allowed */
/* Back to the beginning of a text. */
TSL_API void tsl_events_reset(tsl_events *events);

/* Read on. All events that these bytes allow have been given when it returns; a string's characters
 * that came in one call come as one event. A number ends with the byte after it. On TSL_ERR_SYNTAX
 * (with the offset in the whole text; no line) or NO_MEMORY the events up to there have been given,
 * and further calls return TSL_ERR_STATE until a reset. Cost: some ns a byte. */
TSL_API tsl_status tsl_events_feed(tsl_events *events, const void *bytes, size_t length,
                                   tsl_error *error);

/* The text is over: gives the end of a number that is the whole text. TSL_ERR_SYNTAX if a value is
 * open, or there was none. */
TSL_API tsl_status tsl_events_end(tsl_events *events, tsl_error *error);

/* -- 9.3 Speculative decoding: several drafted tokens checked at once -------------------------- */

#define TSL_NO_PARENT UINT32_MAX

/* The masks of all positions of a chain or tree of drafts, in one call. tokens[i] is drafted after
 * tokens[parents[i]], parents[i] < i, or at the matcher's own position where that is TSL_NO_PARENT;
 * `parents` NULL: a chain, each after the one before. `masks` has count + 1 rows of
 * tsl_vocab_mask_words: row 0 at the matcher's position, row i + 1 after tokens[i], all zero where
 * tokens[i] is not allowed. allowed[i] (may be NULL) says whether it is. The matcher does not move.
 * Errors: ARGUMENT (a parent does not stand before its child), those of masks and of
 * tsl_matcher_accept; rows are then unspecified. */
TSL_API tsl_status tsl_matcher_mask_drafts(tsl_matcher *matcher, const tsl_token *tokens,
                                           const uint32_t *parents, size_t count, uint32_t *masks,
                                           bool *allowed);

/* Drafts and what both models say of them. Rows of logits have the vocabulary's logits_width
 * elements. */
typedef struct tsl_drafts {
  const tsl_token *tokens;
  /* as in tsl_matcher_mask_drafts; NULL: a chain. Siblings stand in the order in which they were
   * drawn */
  const uint32_t *parents;
  size_t count;
  /* the model's: count + 1 rows, at the matcher's position and after each draft */
  const float *logits;
  /* the drafter's, in the same order, where a draft was drawn from; NULL: drafts were not drawn at
   * random but chosen (n-grams, forced tokens, the k most likely) */
  const float *draft_logits;
  /* of the model's distribution; 0 = greedy, ties to the lowest id; INFINITY = all allowed tokens
   * alike whose logit is finite */
  float temperature;
  float draft_temperature; /* of the drafter's */
  /* the drafter drew under the grammar's masks too; else it drew from its whole vocabulary */
  bool draft_masked;
  bool distinct; /* siblings were drawn without replacement; else independently */
} tsl_drafts;

/* Accept drafts, and draw one token after them, so that the tokens are distributed exactly as if
 * each had been drawn from softmax(logits / temperature) under the grammar's mask. A draft t is
 * accepted with probability min(1, p(t) / q(t)); if it is not, p becomes max(0, p - q), normalised,
 * and the next sibling is tried; if none is left, the token is drawn from what p is then. On
 * success the matcher has moved past the accepted drafts and the new token. `path` (room for
 * drafts->count) gets the indices of the accepted ones, root first, *accepted their number; *next
 * is the token after them: TSL_NO_TOKEN where an accepted draft ended the generation, or nothing
 * may follow. `draws` counts the random numbers that were taken from the stream of `seed`: keep it,
 * and start it at 0; it moves on success only. Errors: ARGUMENT (a parent does not stand before its
 * child, a draft that the drafter gives probability 0), LOGITS, those of masks. Refs: Leviathan,
 * Kalman, Matias 2023; Chen et al. 2023; Miao et al. 2024 (trees); Jeon et al. 2024 (without
 * replacement). Cost: two exponentials a token of the vocabulary, per draft looked at. */
TSL_API tsl_status tsl_speculate(tsl_matcher *matcher, const tsl_drafts *drafts, uint64_t seed,
                                 uint64_t *draws, uint32_t *path, size_t *accepted,
                                 tsl_token *next);

/* Drafts that the grammar itself makes: the bytes that must come (tsl_matcher_forced_bytes), as far
 * as no token may be taken by its name instead, in the canonical tokenisation of the text so far
 * and these bytes. `tail` is the last `tail_count` tokens accepted (more is better: 16 or so).
 * Canonical tokens may begin inside what is written already: then *retract says how many of the
 * tail's last tokens they replace, at most `max_retract`; roll the matcher back by so many before
 * the drafts are accepted (0: the drafts simply follow); nothing is drafted where these may not
 * stand in place of those, as of a token that was taken by its name. Tokens at the end that might
 * be others once the following text is known are left out. Writes at most `capacity` ids; *count is
 * how many were written, 0 where there is nothing to draft. The matcher does not move. Check the
 * drafts with tsl_speculate (draft_logits NULL), or accept them as they are. */
TSL_API tsl_status tsl_matcher_draft_forced(tsl_matcher *matcher, const tsl_token *tail,
                                            size_t tail_count, size_t max_retract,
                                            tsl_token *tokens, size_t capacity, size_t *count,
                                            size_t *retract);

/* -- 9.4 The host's model ---------------------------------------------------------------------- */

/* The tokens of a text after the prompt. */
typedef struct tsl_prefix {
  const tsl_token *tokens; /* valid during the call */
  size_t count;            /* 0: right after the prompt */
} tsl_prefix;

/* Called by the functions below for the logits after each of `n` prefixes: write n rows of
 * tsl_vocab_logits_width floats. -inf is probability 0; NaN and +inf are refused (TSL_ERR_LOGITS).
 * A status other than TSL_OK ends the call that asked and is returned by it. Prefixes of one call
 * differ; those of later calls extend earlier ones, so that a host can keep its key-value cache by
 * prefix. Where text ends: with an end-of-generation token; or, in a vocabulary without any, where
 * nothing more is allowed. */
typedef tsl_status (*tsl_model)(void *ctx, const tsl_prefix *prefixes, size_t n, float *logits);

/* -- 9.5 Beam search --------------------------------------------------------------------------- */

typedef struct tsl_beam_options {
  uint32_t width;  /* texts that are followed at once; 1 to 65,536 */
  uint32_t n_best; /* texts wanted; 0 = width */
  /* of a text, end-of-generation tokens not counted; >= 1. All texts are complete within it: see
   * tsl_budget */
  uint32_t max_tokens;
  /* alpha >= 0: texts are ranked by log-probability / tokens^alpha (end-of-generation tokens
   * counted); 0 = by log-probability */
  float length_penalty;
} tsl_beam_options;

typedef struct tsl_beams tsl_beams;

/* The most probable texts of the grammar, found by keeping `width` prefixes at each length.
 * Probabilities are the model's own, over its whole vocabulary, not renormalised under the mask; so
 * texts compare as the model would compare them. Texts that differ in their tokens only count once,
 * the better one is kept. Ends when no open prefix can still become one of the n best. Errors:
 * ARGUMENT, LIMIT (no text fits max_tokens; `error`, which may be NULL, says how many it takes),
 * LOGITS, the model's, those of masks. Cost: one call of the model per length, with at most `width`
 * prefixes; where a position is a number, copying a beam copies a number. */
TSL_API tsl_status tsl_beam_search(tsl_grammar *grammar, tsl_model model, void *ctx,
                                   const tsl_beam_options *options, const tsl_allocator *allocator,
                                   tsl_beams **out, tsl_error *error);
TSL_API void tsl_beams_free(tsl_beams *beams); /* NULL is allowed */
/* Texts found, the best first: at most n_best. */
TSL_API size_t tsl_beams_count(const tsl_beams *beams);
/* Of text i < count: its tokens, its bytes (special tokens have none), its log-probability, its
 * rank. Borrowed; NULL and 0 for an i out of range. */
TSL_API const tsl_token *tsl_beams_tokens(const tsl_beams *beams, size_t i, size_t *count);
TSL_API const char *tsl_beams_text(const tsl_beams *beams, size_t i, size_t *length);
TSL_API double tsl_beams_log_probability(const tsl_beams *beams, size_t i);
TSL_API double tsl_beams_score(const tsl_beams *beams, size_t i);

/* -- 9.6 The model's own distribution, given the grammar --------------------------------------- */

typedef struct tsl_align_options {
  uint64_t seed;
  /* of a text, end-of-generation tokens not counted; >= 1: the distribution is that of texts that
   * end within it, of those that a tsl_budget allows */
  uint32_t max_tokens;
} tsl_align_options;

/* Masking step by step draws from another distribution than the model's texts that satisfy the
 * grammar: a token is as likely as before the mask, though hardly any text may go on from it well.
 * This sampler learns, over repeated samples of one prompt, how much of the model's probability
 * after each prefix is in the grammar, and weighs tokens with it: samples converge to P(text |
 * grammar). Ref: Park, Wang, Berg-Kirkpatrick, Polikarpova, D'Antoni 2024 "Grammar-Aligned
 * Decoding" (ASAp). Holds a reference on the grammar; about 40 bytes for each prefix of a text
 * drawn. One thread at a time. */
typedef struct tsl_align tsl_align;

TSL_API tsl_status tsl_align_new(tsl_grammar *grammar, tsl_model model, void *ctx,
                                 const tsl_align_options *options, const tsl_allocator *allocator,
                                 tsl_align **out, tsl_error *error);
TSL_API void tsl_align_free(tsl_align *align); /* NULL is allowed */
/* Draw a text: `tokens` has room for max_tokens + 1, the end-of-generation token included.
 * *log_probability (may be NULL) is the model's own. The model is called once a token, one prefix
 * at a time. What was learned is kept on success only. A prefix after which nothing that is allowed
 * has a probability is learned as well, and another text drawn, up to a thousand times. Errors:
 * LOGITS (there was no other), the model's, those of masks. */
TSL_API tsl_status tsl_align_sample(tsl_align *align, tsl_token *tokens, size_t *count,
                                    double *log_probability);
/* The probability that the next sample is this text, tokens and all; what is drawn again after a
 * prefix without a way on, not met before, is not counted. Calls the model. */
TSL_API tsl_status tsl_align_probability(tsl_align *align, const tsl_token *tokens, size_t count,
                                         double *probability);
/* An upper bound of the probability that the model, left alone, writes a text of the grammar; it
 * falls towards it. 1 before the first sample. */
TSL_API double tsl_align_mass(const tsl_align *align);

/* -- 9.7 Probabilities of all outputs ---------------------------------------------------------- */

typedef struct tsl_score_options {
  uint32_t max_outputs;  /* texts of the grammar; more are TSL_ERR_LIMIT [1000] */
  uint32_t max_prefixes; /* rows that the model is asked for [100,000] */
  uint32_t batch;        /* prefixes in one call of the model, at most [32] */
  /* sum over every way to spell a text in tokens; default: the canonical one, that of
   * tsl_vocab_encode */
  bool all_tokenisations;
  /* the texts are JSON: an escape is taken only for what cannot stand as itself, \uXXXX only for
   * what has no short one, in small letters */
  bool plain_json;
  /* leave out the probability of the end-of-generation tokens after a text */
  bool open_end;
} tsl_score_options;

typedef struct tsl_scores tsl_scores;

/* The exact probabilities of all texts of a grammar that has finitely many (an enum, yes or no, a
 * small object): a classifier's calibrated answer. The model is asked once for each prefix that
 * texts share. With all tokenisations, prefixes are looked at in the order of their probability; if
 * max_prefixes ends that, tsl_scores_missing says how much probability was not looked at. `options`
 * and `error` may be NULL. Errors: LIMIT (too many texts, or one of over 65,536 bytes: compact
 * white space and listed values help, numbers have endless spellings), UNSUPPORTED (the grammar
 * names special tokens, or the canonical tokenisation does not spell the text), LIMIT too where
 * max_prefixes is too small for the canonical tokenisations, LOGITS, the model's. */
TSL_API tsl_status tsl_score_all(tsl_grammar *grammar, tsl_model model, void *ctx,
                                 const tsl_score_options *options, const tsl_allocator *allocator,
                                 tsl_scores **out, tsl_error *error);
TSL_API void tsl_scores_free(tsl_scores *scores);          /* NULL is allowed */
TSL_API size_t tsl_scores_count(const tsl_scores *scores); /* texts, in the order of their bytes */
/* borrowed; not NUL-terminated */
TSL_API const char *tsl_scores_text(const tsl_scores *scores, size_t i, size_t *length);
/* the model's own; -inf where it gives none */
TSL_API double tsl_scores_log_probability(const tsl_scores *scores, size_t i);
/* among these texts: they sum to 1 (0 if none has any) */
TSL_API double tsl_scores_probability(const tsl_scores *scores, size_t i);
/* 0: everything was summed */
TSL_API double tsl_scores_missing(const tsl_scores *scores);

/* ---- 10. Tags and tools ---------------------------------------------------------------------- */

/* Compile a structural tag: JSON with the field names that XGrammar publishes. Either {"type":
 * "structural_tag", "format": FORMAT}, or a bare FORMAT, or the legacy {"structures": [{"begin",
 * "schema", "end"}], "triggers": [...]}. FORMAT has a "type": const_string, json_schema (with
 * "style": json, qwen_xml, minimax_xml, minimax_m3_xml, deepseek_xml, deepseek_v4_1_xml, glm_xml,
 * cohere_xml, kimi_k3_xml, pythonic), qwen_xml_parameter, regex, grammar, any_text, sequence, or,
 * optional, plus, star, repeat, tag, triggered_tags, tags_with_separator, dispatch, token,
 * exclude_token, any_tokens, token_triggered_tags, token_dispatch. docs/tools.md describes them. In
 * free text every token stays allowed; the first trigger that the text spells, however it is split
 * into tokens, begins a tag. Where constant text spells a special token, the token itself is
 * allowed as well. With "max_tokens" an any_text ends in time: matchers count the tokens that they
 * accept in it (those that reach over its begin or end excepted; tsl_matcher_accept_bytes counts as
 * one, what finishes a character before the rest excepted), and after the last one only what
 * follows the text is allowed; a character that this token leaves unfinished may be finished first.
 * Limits are exact where no text may be in two counted ones at once. What counts goes with
 * rollback, fork and drafts; tsl_beam_search, tsl_align_new and tsl_score_all refuse such grammars.
 * `schema` holds the options of all JSON Schemas in it; it and `limits` may be NULL. Errors:
 * SYNTAX, SCHEMA (a format is malformed), UNSUPPORTED, EMPTY, LIMIT, CANCELLED, NO_MEMORY, with the
 * JSON pointer; ARGUMENT as of tsl_grammar_json_schema. */
TSL_API tsl_status tsl_grammar_tags(tsl_vocab *vocab, const char *json, size_t length,
                                    const tsl_schema_options *schema, const tsl_limits *limits,
                                    tsl_grammar **out, tsl_error *error);

/* The same, over the tables of an earlier grammar of tags or tools: schemas with the same text, and
 * everything that was found out about them (states, walks, masks), are taken over, so that another
 * set of tools costs what is new in it. Both grammars, and all others over the same tables, stay
 * whole and may be used and released in any order; the tables grow, under one lock, until the last
 * of them is gone. Where nothing can be shared (other schema options; the tables hold half of
 * max_memory; uniqueItems in the new schemas only) the grammar has tables of its own. Limits of
 * time, steps and memory are those of the grammar that made the tables. */
TSL_API tsl_status tsl_grammar_tags_over(tsl_grammar *over, const char *json, size_t length,
                                         const tsl_schema_options *schema, const tsl_limits *limits,
                                         tsl_grammar **out, tsl_error *error);

/* The same trees built in C. A format is a node that belongs to its tree, and may stand in several
 * places of it; all texts are copied. A builder that fails returns NULL; the first failure is
 * remembered, NULL parts make NULL formats, and tsl_tags_compile reports it: only there an error
 * need be looked at. Texts are UTF-8; those without a length are NUL-terminated. One thread at a
 * time. Cost: some 100 ns a format. */
typedef struct tsl_tags tsl_tags;
typedef struct tsl_format tsl_format;

#define TSL_UNBOUNDED UINT32_MAX
#define TSL_TAGS_AT_LEAST_ONE 1u /* the text begins with a tag */
#define TSL_TAGS_ONCE 2u         /* nothing follows the first tag */

/* What a part is to a reader (tsl_parser). */
typedef enum tsl_as {
  TSL_AS_TEXT = 0,
  TSL_AS_REASONING = 1,
  TSL_AS_CALL = 2,
  TSL_AS_ID = 3,
  TSL_AS_ARGUMENTS = 4,
  TSL_AS_MARKUP = 5
} tsl_as;

/* Holds a reference on the vocabulary. Errors: ARGUMENT, NO_MEMORY. */
TSL_API tsl_status tsl_tags_new(tsl_vocab *vocab, const tsl_allocator *allocator, tsl_tags **out);
/* NULL is allowed; its formats go with it, grammars stay */
TSL_API void tsl_tags_free(tsl_tags *tags);

/* Exactly this text. What is not UTF-8, here and below, is TSL_ERR_SYNTAX. */
TSL_API tsl_format *tsl_tags_text(tsl_tags *tags, const char *text, size_t length);
/* JSON that is valid; `style` as in the JSON form ("qwen_xml", ...), NULL = JSON. */
TSL_API tsl_format *tsl_tags_json_schema(tsl_tags *tags, const char *schema, size_t length,
                                         const char *style);
TSL_API tsl_format *tsl_tags_regex(tsl_tags *tags, const char *pattern, size_t length);
TSL_API tsl_format *tsl_tags_gbnf(tsl_tags *tags, const char *grammar, size_t length);
/* Any text without the `count` excluded ones. Limits of 0 are none; at most 2^31 - 1. Where it is
 * the last part of a tag it ends at the tag's ends. */
TSL_API tsl_format *tsl_tags_any(tsl_tags *tags, const char *const *excludes, size_t count,
                                 uint32_t max_chars, uint32_t max_tokens);
TSL_API tsl_format *tsl_tags_sequence(tsl_tags *tags, tsl_format *const *formats, size_t count);
TSL_API tsl_format *tsl_tags_or(tsl_tags *tags, tsl_format *const *formats, size_t count);
/* min to max times, at most 2^31 - 1; max may be TSL_UNBOUNDED. */
TSL_API tsl_format *tsl_tags_repeat(tsl_tags *tags, tsl_format *format, uint32_t min, uint32_t max);
/* begin, content, one of the ends. Begin and ends may be "". */
TSL_API tsl_format *tsl_tags_tag(tsl_tags *tags, const char *begin, tsl_format *content,
                                 const char *const *ends, size_t end_count);
/* Free text; the first trigger in it begins one of the tags whose begin starts with it. Each tag's
 * begin starts with exactly one trigger. */
TSL_API tsl_format *tsl_tags_triggered(tsl_tags *tags, const char *const *triggers,
                                       size_t trigger_count, tsl_format *const *formats,
                                       size_t count, uint32_t flags);
/* Tags with a separator between them; none at all unless TSL_TAGS_AT_LEAST_ONE. */
TSL_API tsl_format *tsl_tags_separated(tsl_tags *tags, tsl_format *const *formats, size_t count,
                                       const char *separator, uint32_t flags);
/* Free text; formats[i] must follow triggers[i]. `flags`: 0 or TSL_TAGS_ONCE. */
TSL_API tsl_format *tsl_tags_dispatch(tsl_tags *tags, const char *const *triggers,
                                      tsl_format *const *formats, size_t count, uint32_t flags);
/* min to max of these tokens, as at tsl_tags_repeat; `others`: of all tokens but these and the
 * end-of-generation ones. */
TSL_API tsl_format *tsl_tags_tokens(tsl_tags *tags, const tsl_token *tokens, size_t count,
                                    bool others, uint32_t min, uint32_t max);
/* Says what a format is to a reader; `name`: the tool of a TSL_AS_CALL, what stands before an id of
 * a TSL_AS_ID, or NULL. Returns the format. */
TSL_API tsl_format *tsl_tags_as(tsl_tags *tags, tsl_format *format, tsl_as as, const char *name);

/* The grammar of a format, as tsl_grammar_tags makes it; `over` as in tsl_grammar_tags_over, NULL =
 * tables of its own. The tree may be compiled again, and grow. Pointers in errors are relative to a
 * schema. */
TSL_API tsl_status tsl_tags_compile(tsl_tags *tags, tsl_format *root, tsl_grammar *over,
                                    const tsl_schema_options *schema, const tsl_limits *limits,
                                    tsl_grammar **out, tsl_error *error);
/* The format as a structural tag in JSON (NUL-terminated, valid during the call). */
TSL_API tsl_status tsl_tags_write(tsl_tags *tags, tsl_format *root, tsl_line_sink sink, void *ctx,
                                  tsl_error *error);

typedef enum tsl_thinking {
  TSL_THINKING_AUTO = 0, /* the text may begin with a thinking block */
  /* it must; where the model's prompt opens the block, the text begins inside, and where some
   * models' prompts do, it may */
  TSL_THINKING_ON = 1,
  TSL_THINKING_OFF = 2 /* it must not */
} tsl_thinking;

typedef struct tsl_tools_options {
  /* a name that tsl_tools_preset knows, or the text of a preset (JSON, begins with '{') */
  const char *preset;
  /* "auto", "required", "none" or a tool's name; NULL: what the request says, else auto */
  const char *tool_choice;
  int parallel; /* several calls: 1 yes, -1 no, 0 what the request says, else yes */
  tsl_thinking thinking;
  /* of a block of thinking, its begin and end not counted; 0 = what the request says
   * (thinking.budget_tokens), else any number. See max_tokens at tsl_grammar_tags */
  uint32_t max_thinking_tokens;
  const tsl_schema_options *schema; /* NULL: defaults */
  /* NULL, or a grammar of this or of tsl_grammar_tags: see tsl_grammar_tags_over */
  tsl_grammar *over;
} tsl_tools_options;

/* Compile what a model may answer to a request. `request` is the JSON body as it is sent over the
 * wire: of OpenAI's chat completions or responses (tools, tool_choice, parallel_tool_calls,
 * response_format or text.format; functions and function_call), of Anthropic's messages (tools with
 * input_schema, tool_choice), the answer to MCP's tools/list, or a bare array of tools. Members in
 * which other servers are told what the text must be (guided_json, grammar, …; docs/tools.md lists
 * them) are UNSUPPORTED; others that say nothing about tools are not looked at. Errors: as
 * tsl_grammar_tags; ARGUMENT (no such preset, tool or way of thinking). */
TSL_API tsl_status tsl_grammar_tools(tsl_vocab *vocab, const char *request, size_t length,
                                     const tsl_tools_options *options, const tsl_limits *limits,
                                     tsl_grammar **out, tsl_error *error);

/* The same as a structural tag: hands `json` (NUL-terminated, valid during the call) to `sink`. */
TSL_API tsl_status tsl_tools_write(tsl_vocab *vocab, const char *request, size_t length,
                                   const tsl_tools_options *options, tsl_line_sink sink, void *ctx,
                                   tsl_error *error);

/* The name and text (JSON, NUL-terminated, static) of preset `index`, from 0; false past the
 * last. */
TSL_API bool tsl_tools_preset(size_t index, const char **name, const char **json);

/* Reads an answer back: text or tokens in, parts out, by the grammar's own states. For grammars of
 * tsl_grammar_tags and tsl_grammar_tools. One thread at a time. */
typedef struct tsl_parser tsl_parser;

typedef enum tsl_part_kind {
  TSL_PART_TEXT = 0,      /* a piece of free text, unaltered */
  TSL_PART_REASONING = 1, /* a piece of thinking */
  TSL_PART_CALL = 2,      /* a call begins; text is the tool's name */
  /* a piece of its id, where the format has one (`call` may be one that has not begun yet; it may
   * come after the arguments) */
  TSL_PART_ID = 3,
  TSL_PART_ARGUMENTS = 4, /* a piece of its arguments: JSON, whatever the format */
  TSL_PART_CALL_END = 5,
  TSL_PART_TAG = 6,      /* any other tag begins; text is its begin */
  TSL_PART_TAG_TEXT = 7, /* a piece of its content */
  TSL_PART_TAG_END = 8
} tsl_part_kind;

typedef struct tsl_part {
  tsl_part_kind kind;
  uint32_t call; /* 0 for the first call */
  /* not NUL-terminated; valid until the next call on the parser but tsl_parser_next */
  const char *text;
  size_t length;
} tsl_part;

/* Errors: STATE (the grammar is of another kind), NO_MEMORY. Holds a reference on the grammar. */
TSL_API tsl_status tsl_parser_new(tsl_grammar *grammar, const tsl_allocator *allocator,
                                  tsl_parser **out);
TSL_API void tsl_parser_free(tsl_parser *parser); /* NULL is allowed */
TSL_API void tsl_parser_reset(tsl_parser *parser);

/* Read on. TSL_REJECTED and no change if the grammar does not allow it. Special tokens may be given
 * as tokens or spelled, in pieces, too: the end of a text that is no text here, but may be the
 * beginning of such a token, is held back, and the next call rejects what does not go on with it.
 * After an end-of-generation token, or tsl_parser_finish, everything is told and further text is
 * TSL_ERR_STATE. Where a text can be read in several ways, parts end as early as they can. After
 * NO_MEMORY reset the parser and read everything anew. Cost: some 100 ns a byte. Memory: the text,
 * what is told of it, and the stacks. */
TSL_API tsl_status tsl_parser_text(tsl_parser *parser, const char *text, size_t length);
TSL_API tsl_status tsl_parser_token(tsl_parser *parser, tsl_token token);
/* The text is over. TSL_REJECTED if it is not complete; what is known so far stays available. A
 * parser does not count tokens ("max_tokens"): where a matcher has left a text of which they are
 * spent, and waits for more, what was read may still be complete as that text. */
TSL_API tsl_status tsl_parser_finish(tsl_parser *parser);

/* The next part that is certain; false if there is none yet. Text that may be the beginning of a
 * tag is held back until it is known. */
TSL_API bool tsl_parser_next(tsl_parser *parser, tsl_part *part);

/* All parts so far, read or not, as {"content": "...", "reasoning": "...", "calls": [{"id", "name",
 * "arguments"}], "tags": [{"begin", "content"}]}; a call that is not over has "incomplete": true,
 * and as "arguments" a string, the text of them so far; so has one whose arguments are no JSON (a
 * format that says "as": "arguments" and may be any text). Always valid JSON. NULL when out of
 * memory. Valid until the next call on the parser. */
TSL_API const char *tsl_parser_json(tsl_parser *parser);

/* ---- 11. Artifacts: grammars compiled ahead of time ------------------------------------------ */

/* A grammar as a file that is mapped back, shared by processes, and followed by a library without a
 * compiler (-Dcompiler=false). An artifact is complete if it lists every state of the grammar, with
 * walks done ahead. That is impossible where states are too many (members of an object in any order
 * have one for each set of them) or are not to be listed (uniqueItems): then it holds the source
 * alone, and loading it compiles that. It is bound to the tokens of a vocabulary, not to how text
 * is encoded. docs/artifacts.md */
typedef struct tsl_artifact tsl_artifact;

typedef struct tsl_artifact_options {
  /* states that are listed at most [100,000]; 32 names after a set of members count as one */
  uint32_t max_states;
  /* trie nodes visited for walks done ahead, about [50,000,000]: a second or so. 1 = none */
  uint64_t max_walk_steps;
  /* what the grammar was compiled from, to be kept in the artifact; NULL: nothing is kept. No
   * resolver (ARGUMENT): its answers are not part of a source */
  const tsl_source *source;
} tsl_artifact_options;

/* List a grammar's states and walk ahead. Takes the grammar's lock, and expands its states, so that
 * its memory grows: best done with a grammar compiled for it. A loaded grammar can be made into an
 * artifact again. `options` and `allocator` may be NULL. Errors: LIMIT or UNSUPPORTED where the
 * artifact cannot be complete and options->source is NULL (`error` says why: among others, a
 * grammar of tags or tools that counts tokens, "max_tokens"); CANCELLED (by the grammar's limits);
 * NO_MEMORY, ARGUMENT. Cost: some µs a state, and the walks. Equal grammars and options give equal
 * bytes. */
TSL_API tsl_status tsl_artifact_make(tsl_grammar *grammar, const tsl_artifact_options *options,
                                     const tsl_allocator *allocator, tsl_artifact **out,
                                     tsl_error *error);
TSL_API void tsl_artifact_free(tsl_artifact *artifact); /* NULL is allowed */
/* The bytes of the file; borrowed, aligned to 8 bytes. */
TSL_API const void *tsl_artifact_data(const tsl_artifact *artifact, size_t *size);
/* Write the file: under another name in the same folder, brought to the disk, then renamed, so that
 * readers see all of it or what was there before. Errors: IO. */
TSL_API tsl_status tsl_artifact_write(const tsl_artifact *artifact, const char *path,
                                      tsl_error *error);

typedef struct tsl_artifact_info {
  uint32_t version; /* of the format */
  bool complete;    /* states are listed: loading needs no compiler */
  bool has_source;
  bool memo; /* walks done ahead can be used by this library; else they are done anew */
  uint32_t states, walks, masks, bitsets;
  uint64_t size;      /* bytes */
  uint8_t tokens[16]; /* names the tokens of its vocabulary */
} tsl_artifact_info;

/* Verify a file as a whole, all checksums included, and say what is in it. `data` is aligned to 8
 * bytes. Errors: FORMAT, ARGUMENT. */
TSL_API tsl_status tsl_artifact_inspect(const void *data, size_t size, tsl_artifact_info *info,
                                        tsl_error *error);

/* Map an artifact. Header and vocabulary are verified now, all else in blocks of 16 KiB before the
 * first use: a mask or token that needs a damaged block returns TSL_ERR_FORMAT. The file must not
 * be written to while it is mapped (tsl_artifact_write replaces it, which is fine). The grammar is
 * used like any other; tsl_parser_new refuses it. `limits` (may be NULL) bounds its tables. Errors:
 * IO (no regular file, too); FORMAT (not an artifact, damaged, another version, a big-endian
 * machine, another vocabulary); UNSUPPORTED (it is not complete, and this library has no compiler);
 * those of compiling where it is not complete; NO_MEMORY. Cost: some 5 µs, whatever the size of the
 * file, for a complete one that the system has in memory; the first one of a vocabulary hashes
 * that: 0.1 ms. */
TSL_API tsl_status tsl_grammar_load(tsl_vocab *vocab, const char *path, const tsl_limits *limits,
                                    tsl_grammar **out, tsl_error *error);
/* The same from memory, which is copied. */
TSL_API tsl_status tsl_grammar_load_memory(tsl_vocab *vocab, const void *data, size_t size,
                                           const tsl_limits *limits, tsl_grammar **out,
                                           tsl_error *error);

typedef struct tsl_store_result {
  bool compiled; /* by this call; else the file was there, or another process made it meanwhile */
  bool complete; /* as in tsl_artifact_info */
  /* a file is there now: false where the folder cannot be written to, or time ran out while it was
   * made */
  bool kept;
} tsl_store_result;

/* The grammar of `source` from a folder that any number of processes share: its artifact is loaded
 * if it is there, else compiled, written and loaded. Of several processes that want the same one,
 * one compiles and the others wait for it (at most source->limits->deadline_us), as long as it
 * lives: a process that is killed leaves nothing behind that others would wait for or read. Files
 * are named by content (the source with its options, its limits but `cancel` and `deadline_us`,
 * max_states and max_walk_steps of `options`, tokens of the vocabulary, version of the format): who
 * asks for less of a file does not decide what others find. Where the time runs out, or `cancel` is
 * set, while the file is made, the grammar is there and no file is kept: whoever fills a folder
 * needs more time than a compile takes, a second or two for some schemas. Damaged ones are
 * replaced; where a mask or token is the first to find the damage (TSL_ERR_FORMAT), the file is
 * removed, and the next call makes it anew. The folder is made if only its last part is missing;
 * nothing else is ever removed from it. A folder that cannot be used is no error (nor is one named
 * "", which is none): the grammar is compiled. `options` (its source is not looked at; max_states
 * is 20,000 unless given) and `result` may be NULL. Errors: those of tsl_grammar_compile. */
TSL_API tsl_status tsl_store_get(tsl_vocab *vocab, const char *folder, const tsl_source *source,
                                 const tsl_artifact_options *options, tsl_grammar **out,
                                 tsl_store_result *result, tsl_error *error);

/* ---- 12. Masks on a device ------------------------------------------------------------------- */

/* Which mask is in which row of a table that the host mirrors on its device: a step then sends a
 * row's number for each sequence instead of a mask. Masks of any grammars of one vocabulary. One
 * thread at a time. */
typedef struct tsl_mask_table tsl_mask_table;

typedef struct tsl_mask_table_stats {
  uint64_t hits; /* masks that were in a row already */
  /* masks that the host had to copy: distinct ones, and those that had been given up */
  uint64_t copies;
  uint64_t evictions; /* rows that were given another mask */
  uint32_t rows;      /* that hold a mask */
} tsl_mask_table_stats;

#define TSL_MAX_MASK_ROWS 1048576u

/* `rows` of tsl_vocab_mask_words each, of which the table keeps a copy: at least as many as a batch
 * has sequences, 1 to TSL_MAX_MASK_ROWS. `allocator` may be NULL. Errors: NO_MEMORY, ARGUMENT. */
TSL_API tsl_status tsl_mask_table_new(tsl_vocab *vocab, uint32_t rows,
                                      const tsl_allocator *allocator, tsl_mask_table **out);
TSL_API void tsl_mask_table_free(tsl_mask_table *table); /* NULL is allowed */

/* The row of the matcher's mask. If *fresh is not NULL, the row's content is new: copy those words
 * (valid until the row is given up) to row *row on the device before it is used. Rows handed out
 * since the last tsl_mask_table_step keep their masks; others may be given up, the least recently
 * used first. Errors: LIMIT (more different masks in one step than rows), ARGUMENT (a grammar of
 * another width), those of masks. Cost: 0.07 µs where the table has met the grammar's mask, with
 * 256 grammars; 0.3 to 1 beside that of the mask else. */
TSL_API tsl_status tsl_mask_table_row(tsl_mask_table *table, tsl_matcher *matcher, uint32_t *row,
                                      const uint32_t **fresh);
/* What was handed out has been applied: another step begins. */
TSL_API void tsl_mask_table_step(tsl_mask_table *table);
TSL_API void tsl_mask_table_get_stats(const tsl_mask_table *table, tsl_mask_table_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
