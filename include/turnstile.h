/* turnstile.h - the whole public interface of Turnstile.
 *
 * Turnstile constrains what a language model may write. A grammar (JSON Schema, regular expression
 * or GBNF) is compiled against a vocabulary. A matcher follows one generation. Before every draw it
 * says which tokens may come next so that the text can still end well.
 *
 * The sections are in the order in which a user meets them:
 *
 *   1. status and errors      5. masks on logits                    9. decoding
 *   2. vocabulary             6. sampler                           10. tags and tools
 *   3. grammar                7. limits                            11. artifacts
 *   4. matcher                8. batches, compiles, cache          12. masks on a device
 *
 * Example: a yes or no from a model. `logits_of` and `say` are the host's.
 *
 *   tsl_vocab *vocab;
 *   tsl_grammar *grammar;
 *   tsl_matcher *matcher;
 *   tsl_sampler *sampler;
 *   tsl_error error;
 *   if (tsl_vocab_load_file("tokenizer.json", NULL, NULL, &vocab, &error)) return fail(&error);
 *   if (tsl_grammar_regex(vocab, "yes|no", 6, NULL, NULL, &grammar, &error)) return fail(&error);
 *   if (tsl_matcher_new(grammar, NULL, &matcher)) return out_of_memory();
 *   if (tsl_sampler_new(&(tsl_sampler_options){.temperature = 1}, NULL, &sampler)) return ...;
 *   uint32_t *mask = malloc(tsl_vocab_mask_words(vocab) * sizeof *mask);
 *   while (!tsl_matcher_is_terminated(matcher)) {
 *     tsl_draw draw;
 *     const float *logits = logits_of(model);
 *     if (tsl_matcher_mask(matcher, mask)) break;
 *     if (tsl_sampler_draw(sampler, logits, tsl_vocab_logits_width(vocab), mask, &draw)) break;
 *     if (tsl_matcher_accept(matcher, draw.token)) break;
 *     say(model, draw.token);
 *   }
 *
 * Conventions that hold everywhere
 *
 *   Ownership  An object that a function hands out through `**out` belongs to the caller. The
 *              caller ends it with the matching `_release` or `_free`. A pointer into an object
 *              lives as long as the object. Inputs are copied where they are kept.
 *   Pointers   must not be NULL unless the function says that they may be. Where a length or a
 *              count is 0, the pointer beside it may be NULL.
 *   Allocators `allocator` may be NULL. Objects that follow a grammar then use the grammar's
 *              allocator, and tsl_tags_new uses the vocabulary's. All others use malloc.
 *   Errors     A call that can fail returns tsl_status; TSL_OK is 0. After a failure nothing has
 *              changed and `*out` is NULL, unless the function says otherwise. Buffers that a
 *              failed call writes to are unspecified. Compile and load calls also fill a
 *              caller-owned tsl_error on every failure. A call that failed for want of memory, time
 *              or steps may be repeated. That a grammar does not allow a token is a result
 *              (TSL_REJECTED), not an error. "Errors: LIMIT" is short for TSL_ERR_LIMIT.
 *   Threads    Any number of threads may use a tsl_vocab and a tsl_grammar at once. One thread at a
 *              time may use any other object, unless its description says otherwise. Functions that
 *              take a const object may run at once, as long as no other function runs on it.
 *   Globals    None. The library logs nothing and never aborts.
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

/* TSL_BUILD_SHARED: for who compiles the library itself. TSL_USE_DLL: for a program for Windows
 * that is linked with the DLL; it works without, too, at the cost of a jump for each call. */
#if defined(_WIN32) && defined(TSL_BUILD_SHARED)
#define TSL_API __declspec(dllexport)
#elif defined(_WIN32) && defined(TSL_USE_DLL)
#define TSL_API __declspec(dllimport)
#elif defined(TSL_BUILD_SHARED) && (defined(__GNUC__) || defined(__clang__))
#define TSL_API __attribute__((visibility("default")))
#else
#define TSL_API
#endif

#define TSL_VERSION_MAJOR 0
#define TSL_VERSION_MINOR 2
#define TSL_VERSION_PATCH 0

/* The version of the library that is linked, as "MAJOR.MINOR.PATCH". It may differ from that of
 * the header. */
TSL_API const char *tsl_version(void);

/* ---- 1. Status and errors -------------------------------------------------------------------- */

/* Values are pinned and never renumbered; the list is runtime/core/status.def. */
typedef enum tsl_status {
  TSL_OK = 0,
  TSL_REJECTED = 1,      /* the grammar does not allow this token, these bytes, or the end here */
  TSL_ERR_NO_MEMORY = 2, /* the allocator returned NULL */
  TSL_ERR_ARGUMENT = 3,  /* an argument is outside of its documented range */
  TSL_ERR_SYNTAX = 4,    /* the text is malformed: JSON, UTF-8, regex, GBNF */
  /* the text is JSON but not a schema: a keyword has the wrong type, a reference leads nowhere */
  TSL_ERR_SCHEMA = 5,
  /* the library understands the text but does not support it; the message says what */
  TSL_ERR_UNSUPPORTED = 6,
  TSL_ERR_EMPTY = 7, /* no text at all satisfies the grammar */
  TSL_ERR_LIMIT = 8, /* a documented limit was reached; the message names it */
  TSL_ERR_IO = 9,    /* a file could not be read or written */
  /* a file is not what it claims to be: its magic, version, checksum or bounds are wrong */
  TSL_ERR_FORMAT = 10,
  /* the call does not fit the object's state: rollback too far, or text after the end of a parser's
   * text. (A matcher whose text is over rejects instead.) */
  TSL_ERR_STATE = 11,
  /* the logits cannot be sampled from: NaN, +inf, or nothing allowed is finite */
  TSL_ERR_LOGITS = 12,
  TSL_ERR_CANCELLED = 13 /* the caller set its cancel flag, or the deadline passed */
} tsl_status;

/* The name of a status, such as "TSL_ERR_SYNTAX"; never NULL. */
TSL_API const char *tsl_status_name(tsl_status status);

/* Where and why a call failed. Plain data that the caller owns. A failure writes all of it, a
 * success leaves it alone. Functions that take one accept NULL. */
typedef struct tsl_error {
  tsl_status status;
  size_t offset; /* byte offset into the text; 0 where no place in a text is to blame */
  /* 1-based. 0 where no place in a text is to blame: no start rule, an unsatisfiable pattern, no
   * memory */
  uint32_t line;
  uint32_t column; /* 1-based, in bytes; 0 where `line` is 0 */
  /* JSON pointer of the keyword to blame; "" where there is none. Cut at a whole character */
  char pointer[256];
  char message[512]; /* one sentence without a full stop, UTF-8 */
} tsl_error;

/* Memory hooks.
 *   reallocate(ctx, NULL, 0, n)    allocates n bytes
 *   reallocate(ctx, p, old, n)     resizes a block of `old` bytes
 *   reallocate(ctx, p, old, 0)     frees it and returns NULL
 * NULL for n > 0 is reported as TSL_ERR_NO_MEMORY; the old block must then be intact. Blocks are
 * aligned as malloc's are. Threads: any thread that uses an object made with the hooks calls them.
 */
typedef struct tsl_allocator {
  void *ctx;
  void *(*reallocate)(void *ctx, void *block, size_t old_size, size_t new_size);
} tsl_allocator;

/* ---- 2. Vocabulary --------------------------------------------------------------------------- */

/* The tokens of a model: their bytes, which are special, which end a generation, and how to encode
 * text. Immutable, reference-counted, shared by threads. */
typedef struct tsl_vocab tsl_vocab;

typedef uint32_t tsl_token;
#define TSL_NO_TOKEN UINT32_MAX

/* A vocabulary as arrays. Token i spells bytes[offsets[i]] up to, not including, bytes[offsets[i +
 * 1]]. So `offsets` has size + 1 entries, the first of which is 0.
 * Never allowed: a token without bytes. A special token is allowed only where a grammar names it,
 * never as the text that its bytes spell. Both are allowed as end-of-generation tokens where the
 * text may end.
 * No dead ends: a mask holds what can be continued to a complete text in bytes. If the vocabulary
 * has a token for every single byte, as byte-level ones have, tokens can spell that text. With
 * other vocabularies a text may arrive at a position whose mask is empty. Then use
 * tsl_budget_start, which says whether tokens can end the text, and tsl_budget_mask, which leaves
 * only such tokens.
 *   Example: the tokens "a", "b" and an end-of-generation token without bytes:
 *     bytes "ab", offsets {0, 1, 2, 2}, size 3, eog {2}, eog_count 1 */
typedef struct tsl_vocab_desc {
  const uint8_t *bytes;
  const uint32_t *offsets;
  uint32_t size; /* tokens; 1 to TSL_MAX_VOCAB */
  /* columns of a row of logits, at least `size`; 0 means `size`. Columns from `size` on are never
   * allowed */
  uint32_t logits_width;
  const uint8_t *special; /* `size` flags, non-zero = special; NULL = none */
  const tsl_token *eog;   /* ids of the end-of-generation tokens; each of them counts as special */
  /* may be 0: then nothing is allowed once the text is complete and cannot go on */
  uint32_t eog_count;
} tsl_vocab_desc;

/* Build a vocabulary from arrays, which are copied.
 * Errors: ARGUMENT (offsets decrease, ids out of range), LIMIT (TSL_MAX_VOCAB,
 * TSL_MAX_TOKEN_BYTES), NO_MEMORY.
 * Cost: about 100 ms for 128k tokens. */
TSL_API tsl_status tsl_vocab_new(const tsl_vocab_desc *desc, const tsl_allocator *allocator,
                                 tsl_vocab **out, tsl_error *error);

typedef struct tsl_vocab_options {
  uint32_t logits_width; /* as in tsl_vocab_desc */
  /* if eog_count > 0, these replace the file's own. With a tiktoken file they may be ids after the
   * ranks, below logits_width */
  const tsl_token *eog;
  uint32_t eog_count;
  /* folder for a cache file, named by content; NULL or "" = no cache. A second file there notes
   * what the tokenizer file holds, so that it is read again only after a change
   * (docs/vocabularies.md) */
  const char *cache_dir;
  /* PCRE syntax without \K, or NULL. Tiktoken files have no pre-tokenisation pattern: NULL means
   * the pattern that belongs to the file's name. In GGUF ("gpt2") and tekken files it replaces the
   * file's own */
  const char *pattern;
} tsl_vocab_options;

/* Load a vocabulary from a file. The content decides the format:
 *   tokenizer.json    HF's: byte-level BPE, or SentencePiece-style BPE with byte fallback
 *   *.gguf            llama.cpp's models; only the metadata is read. Tokenizer models "gpt2",
 *                     "llama" and "gemma4". Of "bert" and "t5" only the bytes are read: masks work,
 *                     encoding is TSL_ERR_UNSUPPORTED
 *   tokenizer.model   SentencePiece's: type BPE; other types as "bert" above
 *   tekken.json       Mistral's
 *   *.tiktoken        rank files: base64 token, space, rank, a line each
 * End-of-generation tokens are those that the file names (GGUF, tokenizer.model), and special
 * tokens with well-known names: "</s>", "<|eot_id|>", "<|im_end|>", "<end_of_turn>" and more. Those
 * of `options` replace them. `options` may be NULL.
 * Errors:
 *   ARGUMENT        out or path is NULL, options->eog has an id that is no token, or there is no
 *                   pattern for a tiktoken file
 *   IO              also for what is no regular file
 *   SYNTAX, FORMAT  with the offset
 *   UNSUPPORTED     another tokenizer model, or a decoder under which tokens do not spell bytes of
 *                   their own
 *   LIMIT           TSL_MAX_VOCAB, TSL_MAX_TOKEN_BYTES, or more than 2^30 bytes of GGUF metadata
 *   NO_MEMORY
 * Cost: work is bounded by the size of the file. */
TSL_API tsl_status tsl_vocab_load_file(const char *path, const tsl_vocab_options *options,
                                       const tsl_allocator *allocator, tsl_vocab **out,
                                       tsl_error *error);

/* The same from memory. `name` stands for the file's name and may be NULL. */
TSL_API tsl_status tsl_vocab_load_memory(const void *data, size_t size, const char *name,
                                         const tsl_vocab_options *options,
                                         const tsl_allocator *allocator, tsl_vocab **out,
                                         tsl_error *error);

/* The embedded vocabulary: 4,096 byte-level BPE tokens, trained on text of this project. `error`
 * may be NULL. Errors: NO_MEMORY. */
TSL_API tsl_status tsl_vocab_embedded(const tsl_allocator *allocator, tsl_vocab **out,
                                      tsl_error *error);

TSL_API void tsl_vocab_retain(tsl_vocab *vocab);
TSL_API void tsl_vocab_release(tsl_vocab *vocab); /* NULL is allowed */

TSL_API uint32_t tsl_vocab_size(const tsl_vocab *vocab);         /* tokens */
TSL_API uint32_t tsl_vocab_logits_width(const tsl_vocab *vocab); /* columns of a row of logits */
/* uint32_t words of a mask: ceil(logits_width / 32) */
TSL_API size_t tsl_vocab_mask_words(const tsl_vocab *vocab);
TSL_API bool tsl_vocab_is_special(const tsl_vocab *vocab, tsl_token token);
TSL_API bool tsl_vocab_is_eog(const tsl_vocab *vocab, tsl_token token);
TSL_API const tsl_token *tsl_vocab_eog(const tsl_vocab *vocab, uint32_t *count);
/* The bytes of a token, not NUL-terminated; they live as long as the vocabulary. NULL and length 0
 * for an id out of range. */
TSL_API const uint8_t *tsl_vocab_bytes(const tsl_vocab *vocab, tsl_token token, size_t *length);
/* The special or added token of exactly that text, or TSL_NO_TOKEN. */
TSL_API tsl_token tsl_vocab_find_special(const tsl_vocab *vocab, const char *text, size_t length);
/* XXH3-128 over everything that changes a mask or an encoding, as 16 big-endian bytes. */
TSL_API void tsl_vocab_identity(const tsl_vocab *vocab, uint8_t identity[16]);
/* Set how many bytes the grammars of a vocabulary may keep for each other: 9 MiB unless set.
 * Kept are walks of costly parts of schemas (a format, a pattern, a list of strings), for the next
 * grammar that has the same part. Masks that most grammars have are kept written out, once for all.
 * 0 keeps nothing and drops what is there. Masks of the vocabulary itself stay: 128 at most, and at
 * most a quarter of the bound. Masks are the same with and without. SECURITY.md says what this can
 * reveal.
 * Threads: any thread, any time. */
TSL_API void tsl_vocab_set_walk_cache(tsl_vocab *vocab, size_t max_bytes);
/* Bytes held, those of tables made ahead included. */
TSL_API size_t tsl_vocab_memory(const tsl_vocab *vocab);

/* added and special tokens that are written out in the text become those tokens (user symbols of
 * SentencePiece and GGUF always do) */
#define TSL_ENCODE_SPECIAL 1u
/* put first what the tokenizer file puts before a text: usually the beginning-of-sequence token, or
 * none */
#define TSL_ENCODE_BOS 2u

/* Encode `length` bytes of text as the tokenizer would: normaliser, added tokens, pre-tokenisation
 * pattern, BPE merges. `flags`: TSL_ENCODE_... or 0.
 * Writes at most `capacity` ids; *count is the number needed. So a call with capacity 0 measures.
 * If `capacity` is too small, the result is TSL_ERR_LIMIT and the first ids are written.
 * A vocabulary made from arrays has no merges: it encodes by the longest token that fits. Invalid
 * UTF-8 goes through byte by byte where the vocabulary has byte tokens.
 * Errors: SYNTAX (invalid UTF-8 without byte tokens, or a character that no token spells in a file
 * without an unknown token). UNSUPPORTED (a kind of file that does not encode, or a GGUF file whose
 * pre-tokenisation has an unknown name: see options->pattern).
 * LIMIT with *count 0: the normaliser makes more than 64 bytes of each byte of the text, and more
 * than 65,536. NO_MEMORY.
 * Cost: O(n log n) in the bytes that the normaliser makes, if the file's pattern is linear. */
TSL_API tsl_status tsl_vocab_encode(const tsl_vocab *vocab, const char *text, size_t length,
                                    uint32_t flags, tsl_token *ids, size_t capacity, size_t *count);

/* ---- 3. Grammar ------------------------------------------------------------------------------ */

/* A compiled grammar, bound to a vocabulary. Immutable to its users, reference-counted, shared by
 * threads. It holds a reference on its vocabulary. Its tables grow when a text visits a position
 * first; only a first visit takes their lock. */
typedef struct tsl_grammar tsl_grammar;

typedef enum tsl_order { TSL_ORDER_SCHEMA = 0, TSL_ORDER_ANY = 1 } tsl_order;

/* White space between two structural characters. */
typedef enum tsl_whitespace {
  /* as printers and models write it: none, or one space, or line breaks and then an indent. There
   * are at most `whitespace_lines` line breaks (LF or CRLF), and at most `whitespace_columns`
   * spaces or tabs */
  TSL_WS_PLAIN = 0,
  TSL_WS_COMPACT = 1, /* none */
  TSL_WS_BOUNDED = 2, /* at most `whitespace_max` characters at each place */
  /* newline and `indent` spaces per level, one space after ':'; empty containers are closed at once
   */
  TSL_WS_PRETTY = 3,
  TSL_WS_ANY = 4 /* what RFC 8259 allows, without end */
} tsl_whitespace;

/* How numbers and strings are written. A value that a double holds, or that the schema names, has a
 * plain spelling, so a schema has the same values either way. */
typedef enum tsl_spelling {
  /* as printers of JSON write them.
   *   integers  digits, no fraction or exponent
   *   numbers   digits, perhaps a fraction. After a single digit other than 0 and its fraction an
   *             exponent may follow, which is not 0: 1.5e-07. At most 309 digits stand before the
   *             point and 24 behind it, and exponents go from -324 to 308. The bounds and multiples
   *             of a schema may need more, and get 17 digits more than they have. Where they have
   *             over 1,000 digits, written out, their numbers have any spelling
   *   const     and enum: the shortest spellings of a number, and the one that the schema has
   *   strings   characters stand for themselves. The quote, the backslash and control characters
   *             have their short escapes; control characters and those past ASCII also \uXXXX */
  TSL_SPELLING_PLAIN = 0,
  TSL_SPELLING_ANY = 1 /* what RFC 8259 allows: 1e1, 10.0 and "\u0061" too, without end */
} tsl_spelling;

typedef enum tsl_draft {
  /* by "$schema"; without it 2020-12, and older spellings are understood where they do not clash */
  TSL_DRAFT_AUTO = 0,
  TSL_DRAFT_3 = 3,
  TSL_DRAFT_4 = 4,
  TSL_DRAFT_6 = 6,
  TSL_DRAFT_7 = 7,
  TSL_DRAFT_2019_09 = 2019,
  TSL_DRAFT_2020_12 = 2020
} tsl_draft;

/* Called for the document of an absolute URI that a schema refers to. Return true and set *text and
 * *length, or return false if there is none. The text must stay valid until the compile call
 * returns. */
typedef bool (*tsl_resolver)(void *ctx, const char *uri, const char **text, size_t *length);

/* Limits of one compile. 0 means the default, which stands in brackets. A limit that is reached is
 * TSL_ERR_LIMIT, and the message names it. */
typedef struct tsl_limits {
  /* bytes of one grammar's tables, while it is compiled and afterwards [256 MiB] */
  uint64_t max_memory;
  uint32_t max_stacks; /* parallel stacks of a matcher, for ambiguous grammars [4096] */
  /* levels of nesting in the input text: brackets of JSON, groups of regex and GBNF [512]; never
   * more than 1,000, 250 and 4,096 */
  uint32_t max_depth;
  /* steps of one compile call or one mask call; a step takes about a microsecond [4,000,000] */
  uint64_t max_steps;
  /* polled: non-zero cancels (TSL_ERR_CANCELLED); NULL = never. Set it with an atomic store, such
   * as __atomic_store_n(flag, 1, __ATOMIC_RELAXED). The grammar keeps the pointer, since the flag
   * ends masks and tokens too. So it must stay valid until the last grammar with these tables
   * (tsl_grammar_tags_over) is released. With a cache, a shared folder (tsl_store_get) or a
   * background compile the flag is used for the compile only */
  const int *cancel;
  /* µs from the start of a call after which it gives up (TSL_ERR_CANCELLED); 0 = never. The call
   * may be a compile, a mask, a token or a question (tsl_budget_mask and others). Waiting for
   * another thread's first visit counts. Polled where `cancel` is. The first compile of a
   * vocabulary makes tables that all its grammars share (0.1 s for 128k tokens). No deadline ends
   * that, so compile `{}` once at the start */
  uint64_t deadline_us;
  /* bytes that texts may fill of a grammar's tables until newer ones take their place. [5 MiB, or
   * what compiling made, if that is more]; never more than an eighth of max_memory. What texts
   * leave there is a cache: what is missed is found again. See docs/limits.md */
  uint64_t text_memory;
} tsl_limits;

typedef struct tsl_schema_options {
  /* order of an object's members: as listed in `properties` (default), or any. Members of an allOf
   * come after the schema's own, subschema by subschema */
  tsl_order order;
  tsl_whitespace whitespace;
  uint32_t whitespace_max;     /* characters, for TSL_WS_BOUNDED */
  uint32_t whitespace_lines;   /* line breaks, for TSL_WS_PLAIN; 0 = 2 */
  uint32_t whitespace_columns; /* spaces or tabs after them, for TSL_WS_PLAIN; 0 = 64 */
  uint32_t indent;             /* spaces, for TSL_WS_PRETTY */
  tsl_spelling spelling;
  /* for texts that are read, not generated: every JSON text of a valid value. The same as
   * TSL_ORDER_ANY, TSL_WS_ANY and TSL_SPELLING_ANY, whatever the fields say */
  bool generous;
  /* contentEncoding (base64, base64url, base32, base32hex, base16, quoted-printable), the
   * contentMediaType application/json and its contentSchema constrain strings; default: they are
   * annotations. See docs/schema.md */
  bool assert_content;
  tsl_draft draft;
  bool ignore_formats; /* default: known formats are enforced */
  /* OpenAPI 3.0.3's `nullable: true` adds null to the `type` beside it. Without a `type` beside it,
   * it does nothing. `enum`, `const`, `not` and others hold for null as for every value */
  bool nullable;
  /* members that the schema does not name may come more than once in an object; default: each name
   * comes once, compared decoded */
  bool repeated_names;
  /* compile only what the first mask needs. Default: for larger schemas, and those with patterns,
   * also masks that most texts use, so that no text waits for them */
  bool lazy;
  uint32_t max_nesting;  /* levels of arrays and objects in the output; 0 = any number */
  tsl_resolver resolver; /* NULL: a schema may refer to the metaschemas only */
  void *resolver_ctx;
  const char *base_uri; /* of the schema, for relative references; NULL = none */
} tsl_schema_options;

typedef struct tsl_regex_options {
  bool case_insensitive;
  bool dot_all; /* '.' matches line terminators too */
  /* match anywhere in the text, as JSON Schema's `pattern` does; default: the whole text */
  bool search;
} tsl_regex_options;

/* Compile a JSON Schema. The matcher then accepts exactly the JSON texts, in UTF-8, that are valid
 * against the schema. Order of members, white space and spellings are the chosen ones. The defaults
 * are what models should write: no value is lost, and no choice of spelling or white space goes on
 * for ever. `generous` accepts every valid text. Every asserting keyword is enforced, or the call
 * fails and names it by its JSON pointer. `options` and `limits` may be NULL.
 *   Example: tsl_grammar_json_schema(vocab, "{\"enum\":[1,2]}", 14, NULL, NULL, &g, &error)
 *            accepts 1 and 2.
 * Errors: SYNTAX, SCHEMA, UNSUPPORTED, EMPTY, LIMIT, CANCELLED, NO_MEMORY. ARGUMENT: an order,
 * whitespace, spelling or draft that is none of the above.
 * Cost: tens of microseconds for a schema of a few KB, linear in its size. Unless `lazy`, up to
 * some 300 more for masks that texts need later. */
TSL_API tsl_status tsl_grammar_json_schema(tsl_vocab *vocab, const char *schema, size_t length,
                                           const tsl_schema_options *options,
                                           const tsl_limits *limits, tsl_grammar **out,
                                           tsl_error *error);

/* Compile a regular expression over code points; the text is UTF-8. The syntax is ECMA-262's, and
 * of PCRE's what does not clash with it. A count that repeats nothing, or has no least number
 * (a{,3}), is SYNTAX, as in JSON Schema's `pattern`. `options` and `limits` may be NULL.
 * Errors: SYNTAX with the offset, UNSUPPORTED, EMPTY, LIMIT, CANCELLED, NO_MEMORY, ARGUMENT. */
TSL_API tsl_status tsl_grammar_regex(tsl_vocab *vocab, const char *pattern, size_t length,
                                     const tsl_regex_options *options, const tsl_limits *limits,
                                     tsl_grammar **out, tsl_error *error);

/* Compile a GBNF grammar in llama.cpp's dialect. Left recursion is allowed, and a line that begins
 * with '|' continues the rule before it. `root` names the start rule; NULL = "root". `limits` may
 * be NULL.
 * A token may be named by id or text (<[7]>, <name>). If it ends a generation, or has no bytes, it
 * is no part of a text: it matches nothing.
 * Errors: as tsl_grammar_regex; a missing rule is SYNTAX. */
TSL_API tsl_status tsl_grammar_gbnf(tsl_vocab *vocab, const char *text, size_t length,
                                    const char *root, const tsl_limits *limits, tsl_grammar **out,
                                    tsl_error *error);

typedef struct tsl_lark_options {
  const char *start; /* the start rule; NULL: "start" */
  /* called for what %import names outside the library: "a/b.lark"; NULL: nothing else is there. */
  tsl_resolver resolver;
  void *resolver_ctx;
  /* How a text is cut into terminals: "dynamic_complete" (or NULL), in any way; "dynamic" and
   * "basic", as Lark's lexers of these names do (docs/lark.md). */
  const char *lexer;
} tsl_lark_options;

/* Compile a Lark grammar (docs/lark.md). A text is accepted if it can be cut, in any way or as
 * options->lexer says, into terminals that parse. What %ignore names may stand anywhere between
 * them. A text that begins with a brace is a list of grammars, {"grammars": [{"lark_grammar":
 * ...}, ...]}. Rules with [capture] are read back by a tsl_parser, as tags. What says nothing of
 * the language, as [temperature=...], is in tsl_grammar_report with the status "no effect".
 * `options` and `limits` may be NULL. Errors: SYNTAX, and UNSUPPORTED for what is refused, with
 * line and column; EMPTY, LIMIT, CANCELLED, NO_MEMORY, ARGUMENT. */
TSL_API tsl_status tsl_grammar_lark(tsl_vocab *vocab, const char *text, size_t length,
                                    const tsl_lark_options *options, const tsl_limits *limits,
                                    tsl_grammar **out, tsl_error *error);

/* Compile an EBNF grammar, XGrammar's notation (docs/ebnf.md). It is GBNF with other ends of rules,
 * more escapes, options of rules, and macros: Regex("..."), Substring("..."), Token(7),
 * ExcludeToken(7), TagDispatch(("<a>", rule)), TokenTagDispatch((7, rule)). `root` names the start
 * rule; NULL = "root". `limits` may be NULL. Rules with [capture] are read back by a tsl_parser, as
 * tags. What says nothing of the language, as a look-ahead (= ...), is in tsl_grammar_report with
 * the status "no effect".
 * Errors: as tsl_grammar_lark. Cost: linear in the text; what TagDispatch, [lazy] and [max_chars]
 * cost grows with the states that texts visit. */
TSL_API tsl_status tsl_grammar_ebnf(tsl_vocab *vocab, const char *text, size_t length,
                                    const char *root, const tsl_limits *limits, tsl_grammar **out,
                                    tsl_error *error);

/* Compile an ABNF grammar, the notation of RFCs (RFC 5234 and RFC 7405, docs/abnf.md): repeats such
 * as 1*8DIGIT, strings in any case, %s"..." as written, numbers %x41-5A, =/ for more alternatives,
 * core rules. A number is a code point, and a text is UTF-8. `root` names the start rule in any
 * case; NULL = the first rule. `limits` may be NULL.
 * Errors: as tsl_grammar_gbnf; prose in <...> is UNSUPPORTED. Cost: linear in the text. */
TSL_API tsl_status tsl_grammar_abnf(tsl_vocab *vocab, const char *text, size_t length,
                                    const char *root, const tsl_limits *limits, tsl_grammar **out,
                                    tsl_error *error);

/* Compile what a request to a server constrains its answer to. `request` is the request's JSON, as
 * it is sent over the wire, `length` bytes. One of these places may hold a constraint:
 *   OpenAI     response_format; text.format of the Responses API
 *   vLLM       structured_outputs, or the older guided_json, guided_regex, guided_choice,
 *              guided_grammar
 *   SGLang     json_schema, regex, ebnf or structural_tag, in sampling_params or outside of them
 *   llama.cpp  grammar (GBNF) or json_schema; with grammar_lazy the grammar holds from the first of
 *              the words in grammar_triggers on, and the text before it is free
 *   Ollama     format
 * Other members are the server's own. `schema` goes to JSON Schemas and structural tags, and may be
 * NULL, as `limits` may. disable_any_whitespace of vLLM overrides its `whitespace`.
 *   Example: {"structured_outputs": {"choice": ["yes", "no"]}} accepts yes and no.
 * Errors: those of the compile call, with the pointer into the request. SCHEMA: no constraint, more
 * than one, or one of another type. UNSUPPORTED: tools (tsl_grammar_tools reads them), triggers
 * that are patterns, unknown members of structured_outputs. SYNTAX: no JSON.
 * Cost: reading the request, and that of the compile call. */
TSL_API tsl_status tsl_grammar_request(tsl_vocab *vocab, const char *request, size_t length,
                                       const tsl_schema_options *schema, const tsl_limits *limits,
                                       tsl_grammar **out, tsl_error *error);

TSL_API void tsl_grammar_retain(tsl_grammar *grammar);
TSL_API void tsl_grammar_release(tsl_grammar *grammar);           /* NULL is allowed */
TSL_API tsl_vocab *tsl_grammar_vocab(const tsl_grammar *grammar); /* borrowed */

/* What is enforced, as a JSON array. Each item is {"pointer", "keyword", "status", "reason"}; the
 * status is "enforced" or "no effect". An item has "warning": true as well where the schema hardly
 * means what it says. Such places are a misspelled keyword, a schema inside a wrapper, and a
 * required name for which a closed object has no place. The reason then says what was meant.
 * Of tags and tools all schemas are in it. Pointers lead from the root of the text, and an item of
 * a tool begins with "tool", its name. Pointers of a tree that was built in C are relative to their
 * schema. For regex and GBNF the array is empty. NUL-terminated; lives as long as the grammar. NULL
 * when out of memory. Cost: the first call makes it, about as fast as the schema is read. A request
 * is read again for it. */
TSL_API const char *tsl_grammar_report(const tsl_grammar *grammar);

/* One thing in a schema that a provider's documented limits exclude. `pointer` and `keyword` say
 * where; they are "" for the whole schema or a subschema. */
typedef struct tsl_profile_finding {
  const char *pointer, *keyword, *message; /* valid during the call of the sink */
  /* true: the schema breaks a documented limit; false: the documentation does not name the keyword
   */
  bool breaks;
} tsl_profile_finding;
typedef void (*tsl_profile_sink)(void *ctx, const tsl_profile_finding *finding);

/* Report which documented limits of a provider a schema breaks. `profile` is "openai-strict":
 * OpenAI's Structured Outputs with strict: true, for models that are not fine-tuned, as documented
 * in 2026. docs/schema.md lists the limits.
 * The schema is only read, not compiled. `sink` is called for each finding, in the order of the
 * text; findings about the whole schema come last.
 * Errors: ARGUMENT (no such profile), SYNTAX, LIMIT (over 512 levels), NO_MEMORY.
 * Cost: linear in the text. */
TSL_API tsl_status tsl_schema_profile(const char *profile, const char *schema, size_t length,
                                      const tsl_allocator *allocator, tsl_profile_sink sink,
                                      void *ctx, tsl_error *error);

/* Called once for each line of a listing. `line` has no newline and is valid during the call. */
typedef void (*tsl_line_sink)(void *ctx, const char *line);

/* One thing in a schema that makes models worse, or costs tokens. All texts are NUL-terminated and
 * valid during the call of the sink. */
typedef struct tsl_lint_finding {
  const char *rule;     /* such as "answer-first"; docs/lint.md explains each */
  const char *severity; /* "mistake", "quality" or "cost" */
  const char *pointer;  /* JSON pointer (RFC 6901) into the text; "" is the root */
  const char *message;  /* what is wrong there */
  const char *why;      /* why that matters; the same for every finding of a rule */
  bool mended;          /* the mended text has it no more */
} tsl_lint_finding;
typedef void (*tsl_lint_sink)(void *ctx, const tsl_lint_finding *finding);

/* Zero is the default of each. */
typedef struct tsl_lint_options {
  /* NULL or "": all rules. "a,b": these alone. "-a,-b": all but these. */
  const char *rules;
  bool fix; /* mend what a rule can mend; otherwise nothing is mended */
  /* with `fix`: what has no end gets wide bounds (maxLength 1000, maxItems 100, numbers up to
   * 2^53 - 1, additionalProperties false) */
  bool bounds;
} tsl_lint_options;

/* The name of a rule, by its number from 0; NULL behind the last one. Static. */
TSL_API const char *tsl_lint_rule(uint32_t index);

/* Report what in a schema makes models worse, or costs tokens. The text may also be a tool, or a
 * request with tools or a response format: then each schema in it is looked at. `sink` is called
 * for each finding, in the order of the text, at most 1,000 times. At most 64 properties of a
 * schema are found that no value satisfies. With `fix`, `mended` (may be NULL) is called once
 * behind all findings, with the mended text as JSON. `options` and `allocator` may be NULL. The
 * mended text may allow other values than the first: a rule changes what a schema says where it
 * hardly means that. Errors: ARGUMENT (no such rule), SYNTAX, LIMIT (over 512 levels), NO_MEMORY. A
 * text that is no schema, or that does not compile, is a finding and no error. Cost: linear in the
 * text, beside one compile of each schema in it. */
TSL_API tsl_status tsl_schema_lint(const char *text, size_t length, const tsl_lint_options *options,
                                   const tsl_allocator *allocator, tsl_lint_sink sink,
                                   tsl_line_sink mended, void *ctx, tsl_error *error);

/* Hand the rules of a GBNF grammar to `sink` as JSON, for pictures: {"rules": [{"name", "line",
 * "body": NODE}]}. The text is NUL-terminated and valid during the call.
 *   "kind" of a NODE           other members
 *     literal, class, token    "text", in GBNF notation
 *     any, empty
 *     rule                     "name"
 *     sequence, choice         "items"
 *     repeat                   "item", "min", "max" (null = no bound)
 * The grammar needs no start rule, and may match no text at all.
 * Errors: those of the notation, as of tsl_grammar_gbnf. Cost: linear in the text. */
TSL_API tsl_status tsl_gbnf_write(tsl_vocab *vocab, const char *text, size_t length,
                                  tsl_line_sink sink, void *ctx, tsl_error *error);

/* List the states that were visited so far, with their expressions and transitions: for people and
 * tests. */
TSL_API void tsl_grammar_dump(const tsl_grammar *grammar, tsl_line_sink sink, void *ctx);

typedef enum tsl_edge_kind {
  TSL_EDGE_BYTES = 0, /* reading one of `bytes` leads to state `to` */
  /* a frame of its own begins in `to`; when that frame is over, this one goes on in `then` */
  TSL_EDGE_CALL = 1,
  /* the state stands for `to`, and for the targets of its other edges of this kind */
  TSL_EDGE_OR = 2,
  /* one of `tokens` tokens leads to `to`; if `complement`, any token but these */
  TSL_EDGE_TOKENS = 3
} tsl_edge_kind;

typedef struct tsl_edge {
  tsl_edge_kind kind;
  uint32_t to, then;
  uint32_t bytes[8]; /* bit b of word b / 32 */
  uint32_t tokens;
  bool complement;
} tsl_edge;

/* A state of the automaton that builds itself. Pointers are valid during the call of the sink. */
typedef struct tsl_state {
  uint32_t number;
  bool nullable; /* the state's frame may end here */
  bool visited;  /* the state's edges are known; otherwise it has none yet */
  /* what is left to match in its frame, at most 1,023 bytes; "" for a state that stands for others
   */
  const char *expression;
  const tsl_edge *edges; /* bytes with the same target are one edge */
  size_t edge_count;
} tsl_state;
typedef void (*tsl_state_sink)(void *ctx, const tsl_state *state);

/* The same listing as data, for pictures. An edge may lead to a state with a smaller number than
 * the first one listed. All grammars of a vocabulary share those states, and they are not listed.
 * The grammar is locked during the call: the sink must not use it. The call makes the states that
 * visited states lead to.
 * Errors: NO_MEMORY, LIMIT. */
TSL_API tsl_status tsl_grammar_states(const tsl_grammar *grammar, tsl_state_sink sink, void *ctx);

typedef struct tsl_grammar_stats {
  /* bytes held by this grammar, without its vocabulary's shared tables */
  uint64_t memory;
  uint32_t exprs, states, walks, masks, stacks; /* entries of the tables */
  /* visits of a state at a trie node, by the tables that are there */
  uint64_t walk_steps;
  /* tables that texts have filled, and the ones in use: see tsl_limits.text_memory */
  uint32_t generations;
} tsl_grammar_stats;
TSL_API void tsl_grammar_get_stats(const tsl_grammar *grammar, tsl_grammar_stats *stats);

/* ---- 4. Matcher ------------------------------------------------------------------------------ */

/* One generation in progress. A mask has tsl_vocab_mask_words words of 32 bits. Token i is bit i %
 * 32 of word i / 32; a set bit allows it. */
typedef struct tsl_matcher tsl_matcher;

/* A matcher at the beginning of the grammar, on which it holds a reference. `allocator` NULL = the
 * grammar's. Errors: NO_MEMORY. Cost: O(1). */
TSL_API tsl_status tsl_matcher_new(tsl_grammar *grammar, const tsl_allocator *allocator,
                                   tsl_matcher **out);
TSL_API void tsl_matcher_free(tsl_matcher *matcher);                  /* NULL is allowed */
TSL_API tsl_grammar *tsl_matcher_grammar(const tsl_matcher *matcher); /* borrowed */
/* Back to the beginning. The history is dropped. */
TSL_API void tsl_matcher_reset(tsl_matcher *matcher);
/* An independent copy with the same text behind it. Errors: NO_MEMORY. Cost: O(1), and two copies.
 * The rollback history is 4 bytes a token, at most TSL_MAX_ROLLBACK tokens. The text is 4 bytes a
 * token, and what was given as bytes. */
TSL_API tsl_status tsl_matcher_fork(const tsl_matcher *matcher, tsl_matcher **out);

/* Write the allowed tokens into `mask`: every word, padding bits 0. After the end no bit is set.
 * Errors: LIMIT, CANCELLED, NO_MEMORY, and of a loaded grammar FORMAT. The mask is then
 * unspecified; the matcher is unchanged and usable.
 * Cost: 0.1 µs where the position was seen before, else microseconds. A mask at a multiple of 64
 * bytes is written fastest. */
TSL_API tsl_status tsl_matcher_mask(tsl_matcher *matcher, uint32_t *mask);

/* The same as a pointer, valid until the next call on this matcher. Nothing is copied where the
 * mask was lent before.
 * *id (`id` may be NULL) is equal for equal masks of one grammar, and stable while the grammar
 * lives.
 * Errors: as tsl_matcher_mask. Memory: a matcher that lends keeps up to four masks written out. Its
 * grammar keeps up to 64 more, which count to the grammar's memory. */
TSL_API tsl_status tsl_matcher_mask_borrow(tsl_matcher *matcher, const uint32_t **mask,
                                           uint64_t *id);

/* Make masks that the next steps are likely to need, in the grammar's tables. Call it while the
 * model computes, behind tsl_matcher_accept. First comes the mask of this position. Then come those
 * after each of `count` likely tokens (`likely` may be NULL if `count` is 0), up to 255 positions.
 * Then come those of positions that the next bytes lead to, nearest first, up to 16. *made (`made`
 * may be NULL) counts the masks.
 * Ends after `budget_us` µs, at most 2 ms later. The matcher stays where it is. To make masks in
 * another thread, give that thread a fork. A step that needs a mask meanwhile waits for one
 * position at most.
 * Errors: CANCELLED (by the grammar's flag), NO_MEMORY, and of a loaded grammar FORMAT. A position
 * that meets a limit is passed over.
 * Cost: that of the masks. Memory: masks ahead count as what texts leave (text_memory). */
TSL_API tsl_status tsl_matcher_prefetch(tsl_matcher *matcher, const tsl_token *likely, size_t count,
                                        uint64_t budget_us, uint32_t *made);
/* Is the mask of this position made already? Then tsl_matcher_mask only copies, without a lock. A
 * host that must not wait may draw without a mask instead, and let tsl_matcher_accept judge the
 * token. */
TSL_API bool tsl_matcher_is_ready(const tsl_matcher *matcher);

/* Advance by one token. TSL_REJECTED and no change if the mask does not have the token, or after
 * the end. Errors (no change): ARGUMENT, LIMIT, CANCELLED, NO_MEMORY, and of a loaded grammar
 * FORMAT. ARGUMENT: the id is not below logits_width, so no mask has a bit for it. Cost: some ns
 * where another text took the same step before, else 5 to 45 ns a byte. */
TSL_API tsl_status tsl_matcher_accept(tsl_matcher *matcher, tsl_token token);

/* Advance by bytes, as if by tokens that spell them. For rollback they count as one token, and no
 * bytes as none. On TSL_REJECTED nothing has changed, and *accepted is the number of leading bytes
 * that could be accepted. `accepted` may be NULL.
 * Errors (no change): as tsl_matcher_accept; LIMIT where `length` is 2^31 or more. Limits of steps
 * and time hold for each 4,096 bytes. */
TSL_API tsl_status tsl_matcher_accept_bytes(tsl_matcher *matcher, const void *bytes, size_t length,
                                            size_t *accepted);

/* Count the leading tokens that could be accepted one after the other, in *valid. The matcher does
 * not move. The first token that is rejected ends the count, and so does an id that is no token.
 * Errors: as tsl_matcher_accept but for ARGUMENT; *valid then counts the tokens before the failure.
 */
TSL_API tsl_status tsl_matcher_validate(tsl_matcher *matcher, const tsl_token *tokens, size_t count,
                                        size_t *valid);

/* Undo the last `count` accepted tokens; an end-of-generation token counts like any other.
 * TSL_ERR_STATE and no change if the history has fewer. Cost: O(1). */
TSL_API tsl_status tsl_matcher_rollback(tsl_matcher *matcher, size_t count);
/* Tokens that can be rolled back now, at most TSL_MAX_ROLLBACK. */
TSL_API size_t tsl_matcher_history(const tsl_matcher *matcher);

/* Is the text so far a complete text of the grammar? Then, and only then, end-of-generation tokens
 * are allowed. */
TSL_API bool tsl_matcher_is_complete(const tsl_matcher *matcher);
/* Has an end-of-generation token been accepted? Then nothing is allowed any more. */
TSL_API bool tsl_matcher_is_terminated(const tsl_matcher *matcher);

/* The bytes that must come next, whatever is chosen (jump-forward). Writes at most `capacity`
 * bytes; *length is what was written.
 * Nothing is forced where the text may end or go on in two ways. A token that the grammar names
 * (<[id]>, "token"), and that spells something else, is such a second way.
 * Errors: LIMIT, CANCELLED, NO_MEMORY. The *length bytes written until then are forced. */
TSL_API tsl_status tsl_matcher_forced_bytes(tsl_matcher *matcher, uint8_t *bytes, size_t capacity,
                                            size_t *length);

/* The fewest bytes that complete the text, in *bytes. UINT64_MAX if they are more than 2^32 - 2.
 * Exact, except in five places, where it may be too low:
 *   - a string under a pattern whose shortest completion exceeds some 4,000 bytes
 *   - an escape within a counted repetition
 *   - a token accepted by its name, which counts as one byte
 *   - items and names that must differ, or must repeat
 *   - a text in a string that follows contentSchema, where not all escapes are counted
 * Errors: LIMIT, CANCELLED, NO_MEMORY.
 * Cost: one look for each frame of the stack. Inside a member's name, one for each name that it may
 * become. More where a pattern meets a limit of length. */
TSL_API tsl_status tsl_matcher_shortest_completion(tsl_matcher *matcher, uint64_t *bytes);

/* The bytes that may come next, as a set of 256 bits: bit b % 32 of word b / 32. An error message
 * can show them as "expected". Errors: LIMIT, CANCELLED, NO_MEMORY. */
TSL_API tsl_status tsl_matcher_next_bytes(tsl_matcher *matcher, uint32_t set[8]);

/* One frame of a matcher's position: its state, what is left of it, and which frames may follow
 * when it is over. Unless the grammar is ambiguous there, the frames form a stack, each with one
 * below it. Pointers are valid during the call of the sink. */
typedef struct tsl_frame {
  /* its place in the listing, from 0: first the frames that read the next byte, then those below
   * them */
  uint32_t number;
  /* 0 for the frames that read the next byte; else one more than that of the nearest frame above */
  uint32_t depth;
  /* numbers of the frames that may follow; if there are none, the text is over with this frame */
  const uint32_t *below;
  uint32_t below_count;
  /* state: as in tsl_grammar_states. count: iterations of the counted loop that is active, 0 where
   * none is */
  uint32_t state, count;
  bool nullable;          /* the frame may end here */
  const char *expression; /* what is left to match in it; at most 1,023 bytes */
  /* the rule that the frame was begun for, as "<expr>", at most 255 bytes; "" where it has no name.
   * Rules that stand last in another rule, are regular, or are put in place of their name, have no
   * frame of their own. Of rules of GBNF that call one another in a cycle, one keeps its frame */
  const char *rule;
} tsl_frame;
typedef void (*tsl_frame_sink)(void *ctx, const tsl_frame *frame);

#define TSL_MAX_FRAMES 1024u /* frames that tsl_matcher_frames lists at most */

/* List the frames of the position, from the top down, at most `max` of them (0: TSL_MAX_FRAMES):
 * for people and tests. *total is the number of frames, or TSL_MAX_FRAMES if there are more.
 * The grammar is locked during the call: the sink must not use it or the matcher.
 * Errors: NO_MEMORY, ARGUMENT (max over TSL_MAX_FRAMES).
 * Cost: one look at every state of the grammar, and up to 1,000 more for each frame. */
TSL_API tsl_status tsl_matcher_frames(const tsl_matcher *matcher, uint32_t max, tsl_frame_sink sink,
                                      void *ctx, uint32_t *total);

/* ---- 5. Masks on logits ---------------------------------------------------------------------- */

typedef enum tsl_dtype { TSL_F32 = 0, TSL_F16 = 1, TSL_BF16 = 2 } tsl_dtype;

/* Set the logits of tokens that are not in the mask to -inf, in place. `logits` has `width`
 * elements of `dtype`, `mask` has ceil(width / 32) words.
 * Errors: ARGUMENT. Cost: each logit is read and written at most once, by the widest vector
 * instructions of the machine. */
TSL_API tsl_status tsl_mask_apply(const uint32_t *mask, void *logits, size_t width,
                                  tsl_dtype dtype);
/* Tokens that a mask allows. */
TSL_API size_t tsl_mask_count(const uint32_t *mask, size_t width);
static inline bool tsl_mask_has(const uint32_t *mask, tsl_token token) {
  return (mask[token >> 5] >> (token & 31)) & 1u;
}

/* ---- 6. Sampler ------------------------------------------------------------------------------ */

/* Draws a token from logits under a mask. First bans apply, then stages in the order that the
 * caller lists, then one draw from what is left.
 * A field of the options that is zero is off. So `(tsl_sampler_options){.temperature = 1}` draws
 * from the model's own distribution under the mask, and `(tsl_sampler_options){0}` is greedy.
 * Below, p is the softmax over the candidates that are left, at the temperature so far. */
typedef struct tsl_sampler tsl_sampler;

/* The stages, in the conventional order. A cut-off always leaves a candidate. All but xtc and
 * typical-p keep the most likely one. */
typedef enum tsl_stage {
  TSL_STAGE_BIAS = 1, /* logit + bias, for the tokens listed */
  /* repetition, then frequency and presence, over the tokens accepted before */
  TSL_STAGE_PENALTIES = 2,
  TSL_STAGE_DRY = 3,         /* lowers tokens that would prolong a repeated sequence */
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
      /* logits are divided by it. 0 = greedy: only the most likely candidate is left; of equal
       * ones, the lowest id. INFINITY: all candidates with a finite logit are alike. Not negative,
       * not NaN. A logit more than FLT_MAX below the largest counts as -inf */
      temperature;
  uint32_t top_k; /* keep the k most likely; 0 = all */
  /* keep the smallest set whose probabilities sum to at least p, the most likely first; 1 (or 0) =
   * all */
  float top_p;
  /* keep tokens with at least min_p times the probability of the most likely one; 0 = all */
  float min_p;
  bool legal_mass; /* fill tsl_draw.legal_mass: one more pass over the logits, 20 µs for 128k */

  /* The stages that run, in their order; NULL = the conventional order, that of tsl_stage's values.
   * Copied. Each stage may be listed once.
   * A stage that is not listed does not run. The fields that switch it on must then be zero
   * (temperature: 0 or 1), so that nothing is ignored silently. Fields that only tune a stage
   * (penalty_window, dry_base, mirostat_eta and others) may be set. */
  const tsl_stage *stages;
  uint32_t stage_count;

  /* Dynamic temperature: between temperature - range and temperature + range, not below 0, by
   * (entropy / log of the number of candidates)^exponent. */
  float dynamic_range;    /* 0 = fixed */
  float dynamic_exponent; /* 0 = 1 */

  /* keep logits within n standard deviations (of the candidates' logits) of the largest; 0 = all */
  float top_n_sigma;
  /* keep the smallest set of mass p, beginning with candidates whose -log p is nearest to the
   * entropy; 1 (or 0) = all */
  float typical_p;
  float epsilon; /* keep p >= epsilon; 0 = all */
  float eta;     /* keep p >= min(eta, sqrt(eta) * exp(-entropy)); 0 = all */
  /* with probability xtc_probability, of the tokens with p >= xtc_threshold drop all but the least
   * likely */
  float xtc_probability, xtc_threshold;
  float mirostat_tau; /* target surprise in bits; 0 = off */
  float mirostat_eta; /* learning rate; 0 = 0.1 */

  /* Penalties look at the last `penalty_window` tokens accepted (0 = all). */
  /* for each of those tokens: a positive logit is divided by it, another one multiplied; 1 (or 0) =
   * off */
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
  const tsl_token *dry_breakers; /* no repeated sequence goes across one of these tokens. Copied */
  uint32_t dry_breaker_count;

  const tsl_token_bias *bias; /* copied; each token once at most */
  uint32_t bias_count;

  /* Bans, before all stages. Copied. */
  const tsl_token *allowed; /* only these may be drawn; allowed_count 0 = every token may */
  uint32_t allowed_count;
  const tsl_token *banned;
  uint32_t banned_count;
  /* no sequence of that many tokens comes twice, unless nothing else is allowed (with a logit above
   * -inf); 0 = off */
  uint32_t no_repeat_ngram;
  /* no end-of-generation token before so many tokens are accepted, unless nothing else is allowed;
   * 0 = off */
  uint32_t min_tokens;
  /* after so many accepted tokens, only an end-of-generation token, if one is allowed (with a logit
   * above -inf); 0 = off. tsl_budget also makes the text complete in time */
  uint32_t max_tokens;
  const tsl_token *eog; /* for min_tokens and max_tokens: tsl_vocab_eog. Copied */
  uint32_t eog_count;

  /* The guard against loops: so many copies of the same tokens at the end ban the token that would
   * begin the next copy (tsl_find_loop). It is not banned if nothing else is allowed. 0 = off, 1 is
   * an error. A text that has such copies on purpose, as a list of equal numbers, ends earlier with
   * it. */
  uint32_t loop_repeats;
  uint32_t loop_longest; /* tokens of one copy at most; 0 = 64 */

  /* Penalties, DRY and no_repeat_ngram take structure as any other text, though there is a matcher:
   * see tsl_sampler_set_matcher */
  bool penalise_structure;
} tsl_sampler_options;

/* Errors: ARGUMENT, NO_MEMORY. ARGUMENT: a field out of range or NaN, a stage twice or unknown, a
 * field that switches on a stage that is not listed. */
TSL_API tsl_status tsl_sampler_new(const tsl_sampler_options *options,
                                   const tsl_allocator *allocator, tsl_sampler **out);
TSL_API void tsl_sampler_free(tsl_sampler *sampler); /* NULL is allowed */

/* Add a token that became part of the text. Penalties, DRY, n-grams, min_tokens and max_tokens look
 * at these tokens; a sampler without them need not be given any.
 * Errors: NO_MEMORY (nothing changed).
 * Cost: O(log n) in the number of different tokens in the window, some of which move: 8 bytes each.
 */
TSL_API tsl_status tsl_sampler_accept(tsl_sampler *sampler, tsl_token token);
/* Add tokens that were there before, such as a prompt's. They do not count for min_tokens and
 * max_tokens. Only while nothing was accepted, else TSL_ERR_STATE. After an error nothing has
 * changed. Cost: O(n log n). */
TSL_API tsl_status tsl_sampler_prompt(tsl_sampler *sampler, const tsl_token *tokens, size_t count);
/* Penalties, DRY and no_repeat_ngram spare structure from here on. Structure is brackets, quotes,
 * names of members, words that the grammar lists, and whatever else the grammar does not leave to
 * the writer. A token is spared if it writes no content. Content are the bytes that at least 8
 * bytes may stand in for with the same effect: letters of a string, digits of a number. So the
 * probabilities of names are those without penalties. `matcher` is that of the text, and at its
 * position when a token is drawn. It is borrowed, and its grammar is retained: NULL ends both, and
 * must be set before the matcher is freed. options.penalise_structure switches it off. A fork has
 * no matcher until one is set. Threads: a draw with penalties may take the grammar's lock. Its
 * errors are also those of masks. Cost of a draw with penalties: some ns for each allowed token
 * that occurred before. A position that was not met before costs some µs. Without penalties
 * nothing. */
TSL_API void tsl_sampler_set_matcher(tsl_sampler *sampler, const tsl_matcher *matcher);
/* Take back the last `count` accepted tokens. TSL_ERR_STATE and no change if there are fewer.
 * Mirostat's bound returns to its value before they were drawn. The random numbers go on, so
 * another draw may give other tokens. */
TSL_API tsl_status tsl_sampler_rollback(tsl_sampler *sampler, size_t count);
/* Does a text of `count` tokens end with the same tokens, `repeats` times in a row? The shortest
 * such period, in tokens and at most `longest` (0 = 64); *next (NULL allowed) is then the token
 * that would begin another copy. 0 if there is none, or if repeats < 2. For hosts that have their
 * own samplers: they forbid *next where something else is allowed. Cost: some comparisons; at most
 * repeats * longest tokens are looked at for each period. */
TSL_API uint32_t tsl_find_loop(const tsl_token *tokens, size_t count, uint32_t repeats,
                               uint32_t longest, tsl_token *next);
/* Begin another text: no tokens accepted, mirostat as at first. The random numbers go on. */
TSL_API void tsl_sampler_restart(tsl_sampler *sampler);

/* A second sampler with the same options, text and mirostat state, for another branch of the text
 * (tsl_matcher_fork). It draws with the random numbers of `seed`, from the first one on. Errors:
 * NO_MEMORY. Memory: as much as the text takes. */
TSL_API tsl_status tsl_sampler_fork(const tsl_sampler *sampler, uint64_t seed, tsl_sampler **out);

typedef struct tsl_draw {
  tsl_token token;
  double probability; /* of the token, among those that were left after the cut-offs */
  double
      /* softmax mass that the model had put on the tokens of the mask, before any stage; NaN unless
       * options.legal_mass */
      legal_mass;
  uint32_t allowed; /* tokens allowed by the mask */
  /* tokens left after bans and cut-offs; where no cut-off ran, some may have a logit of -inf */
  uint32_t kept;
} tsl_draw;

/* Draw one token. `logits` has `width` float32, which are neither changed nor copied. `mask` has
 * ceil(width / 32) words and may be NULL (all allowed). On success the random numbers move on by
 * one draw. Equal seeds, options and inputs give equal tokens on every platform.
 * Errors: LOGITS (a candidate's logit is NaN or +inf, or none is finite, as when all of them are
 * banned), ARGUMENT, NO_MEMORY.
 * Cost for 128k logits with AVX-512:
 *     17 µs           over the whole vocabulary
 *     8 µs            with a cut-off
 *     0.5 µs          where at most 100 tokens are allowed
 *     80 to 240 µs    where a cut-off leaves tens of thousands */
TSL_API tsl_status tsl_sampler_draw(tsl_sampler *sampler, const float *logits, size_t width,
                                    const uint32_t *mask, tsl_draw *out);

typedef struct tsl_stage_left {
  tsl_stage stage;
  uint32_t left; /* tokens that it left; where no cut-off ran yet, some may have a logit of -inf */
} tsl_stage_left;

/* What the next tsl_sampler_draw draws from: the probability of each token after all stages, 0
 * where it was cut. `probabilities` has room for `width`; they sum to 1. `left` says for each stage
 * that does something, in their order, what it left. *count: in, the room of `left` (13 is always
 * enough); out, the stages. Both may be NULL. Nothing moves on: no random number is used up, and
 * mirostat learns nothing. Arguments and errors as in tsl_sampler_draw.
 * Cost: that of a draw, and an exponential for each token that is left. */
TSL_API tsl_status tsl_sampler_distribution(tsl_sampler *sampler, const float *logits, size_t width,
                                            const uint32_t *mask, double *probabilities,
                                            tsl_stage_left *left, size_t *count);

#define TSL_CUT_MASK 64 /* of tsl_sampler_cuts: the mask does not allow the token */
#define TSL_CUT_BAN 65  /* a ban of the options took it, or its logit is -inf */

/* What took each token from the next draw. `cuts` has room for `width`: 0 where the token is left,
 * TSL_CUT_MASK, TSL_CUT_BAN, or the tsl_stage that cut it. Nothing moves on. Arguments and errors
 * as in tsl_sampler_draw. Cost: that of a draw, and a pass over `width` for each stage. */
TSL_API tsl_status tsl_sampler_cuts(tsl_sampler *sampler, const float *logits, size_t width,
                                    const uint32_t *mask, uint8_t *cuts);

/* ---- 6a. What the model wanted --------------------------------------------------------------- */

typedef struct tsl_token_logprob {
  tsl_token token;
  double logprob; /* natural logarithm */
} tsl_token_logprob;

/* One step: the model's distribution (softmax of the logits, no temperature, no stage) before and
 * after the mask. Logarithms are natural, entropies in nats. Masses and entropies leave out tokens
 * with less than e^-87 times the probability of the most likely one. */
typedef struct tsl_step {
  /* probability of all allowed tokens: small where the grammar forces the model */
  double legal_mass;
  /* of the token before the mask; -inf for a logit of -inf */
  double logprob;
  /* of the token among the allowed ones; -inf where the mask does not have it */
  double masked_logprob;
  double entropy;                       /* before the mask */
  double masked_entropy;                /* after it */
  uint32_t allowed;                     /* tokens in the mask */
  uint32_t top_count, masked_top_count; /* entries written to `top` and `masked_top` */
} tsl_step;

/* Measure a step. `token` may be TSL_NO_TOKEN: then the logprobs are NaN. `mask` NULL = all
 * allowed.
 * `top` and `masked_top` get the `top_n` most likely tokens before and after the mask, the most
 * likely first, ties by id. Each of them may be NULL.
 * Outside of the mask NaN counts as no probability. +inf there takes all of it: legal mass and
 * entropy are 0, and `top` is empty.
 * Errors (*out unchanged): ARGUMENT (also a token not below `width`), LOGITS (an allowed logit is
 * NaN or +inf, or no allowed one is finite).
 * Cost for 128k: 50 µs, and 5 µs for each list. Nothing is allocated. */
TSL_API tsl_status tsl_step_measure(const float *logits, size_t width, const uint32_t *mask,
                                    tsl_token token, uint32_t top_n, tsl_token_logprob *top,
                                    tsl_token_logprob *masked_top, tsl_step *out);

/* Sums over an output. Zero-initialised = no step yet. */
typedef struct tsl_step_sums {
  uint64_t steps;
  double logprob, masked_logprob, entropy, masked_entropy; /* sums */
  double
      /* sum of log(legal_mass): what the grammar cost in all. For allowed tokens logprob =
       * masked_logprob + log_legal_mass */
      log_legal_mass;
  double least_legal_mass; /* of all steps; 0 before the first one */
} tsl_step_sums;
TSL_API void tsl_step_add(tsl_step_sums *sums, const tsl_step *step);

/* ---- 6b. Guidance ---------------------------------------------------------------------------- */

/* Guidance makes one row of logits of two, to be masked and drawn from as usual. `out` may be one
 * of the inputs. Rows have `width` elements. Errors: ARGUMENT (NULL, width over TSL_MAX_VOCAB, a
 * number that is not finite or out of range). */

/* Classifier-free: out = without + scale * (with - without), for one model with and without the
 * condition. Scale 1 gives `with` alone; more gives more of what the condition changes. Where
 * either is not finite, out is `with`. */
TSL_API tsl_status tsl_guide_classifier_free(const float *with, const float *without, size_t width,
                                             float scale, float *out);

/* Contrastive: out = strong - beta * weak for tokens to which the strong model gives at least alpha
 * times its largest probability; -inf elsewhere. 0 <= alpha <= 1; beta is finite.
 * The largest probability is sought among the tokens of `mask` (NULL = all), and the others become
 * -inf. So a cut made for other tokens never removes all that the grammar allows. A weak logit that
 * is not finite counts as 0. */
TSL_API tsl_status tsl_guide_contrastive(const float *strong, const float *weak, size_t width,
                                         const uint32_t *mask, float alpha, float beta, float *out);

/* ---- 7. Limits ------------------------------------------------------------------------------- */

#define TSL_MAX_VOCAB (1u << 22)  /* tokens of a vocabulary, and columns of a row of logits */
#define TSL_MAX_TOKEN_BYTES 1024u /* bytes of a token, special or not */
#define TSL_MAX_ROLLBACK 4096u    /* tokens of history that a matcher keeps */

/* ---- 8. Batches, background compiles, cache -------------------------------------------------- */

/* Worker threads, for tsl_batch_mask and tsl_compile_start. Nobody needs them.
 * Threads: any number of threads may use everything in this section at once. A `_free` function
 * must be the last call on its object.
 * After a fork of the process the child has none of the threads. It can neither wait for nor free
 * these objects, nor compiles that were under way. */
typedef struct tsl_threads tsl_threads;

typedef struct tsl_threads_options {
  /* threads to start; at most TSL_MAX_WORKERS. 0 = one less than the machine has processors, at
   * least 1, since the calling thread works too */
  uint32_t workers;
  /* A host with threads of its own gives this function; then none are started. It calls task(arg,
   * i) once for each i < n, on any threads, in any order. It returns when all calls have returned.
   * Several threads may call it at once. tsl_compile_start then starts a thread for each compile.
   */
  void (*parallel)(void *ctx, void (*task)(void *arg, size_t i), void *arg, size_t n);
  void *ctx;
  /* with `parallel`: tasks to make of a batch, usually the number of the host's threads; 0 = 2 */
  uint32_t width;
} tsl_threads_options;

/* Start the workers. They block all signals and sleep when there is nothing to do. `options` may be
 * NULL. Errors: NO_MEMORY, LIMIT (the system gives no more threads), ARGUMENT. */
TSL_API tsl_status tsl_threads_new(const tsl_threads_options *options,
                                   const tsl_allocator *allocator, tsl_threads **out);
/* End the workers, after the batches and compiles that were handed to them. NULL is allowed. None
 * of the workers may call it. */
TSL_API void tsl_threads_free(tsl_threads *threads);
/* workers; with `parallel` its `width` */
TSL_API uint32_t tsl_threads_count(const tsl_threads *threads);

/* Write the masks of `count` matchers into `masks`. Row i, that of matchers[i], begins at masks + i
 * * stride words. It has the mask words of its vocabulary, and zeros from there to `stride`. A NULL
 * matcher leaves its row alone.
 * Each matcher may be listed once, and nobody else may use it until the call returns. The calling
 * thread works too. With `threads` NULL, or while another batch keeps the workers busy, it works
 * alone.
 * statuses[i] (`statuses` may be NULL) is what tsl_matcher_mask returns for row i. A failure in one
 * row does not stop the others. The result is that of the first row that failed, or TSL_OK.
 * Errors: ARGUMENT, and nothing is written, if `stride` is less than a row's mask words.
 * Cost: 0.1 to 0.3 µs for a row seen before, without a lock. First visits to one grammar take
 * turns; first visits to different grammars run side by side. */
TSL_API tsl_status tsl_batch_mask(tsl_threads *threads, tsl_matcher *const *matchers, size_t count,
                                  uint32_t *masks, size_t stride, tsl_status *statuses);

typedef enum tsl_source_kind {
  TSL_SOURCE_JSON_SCHEMA = 0,
  TSL_SOURCE_REGEX = 1,
  TSL_SOURCE_GBNF = 2,
  TSL_SOURCE_LARK = 3,
  TSL_SOURCE_EBNF = 4,
  TSL_SOURCE_ABNF = 5
} tsl_source_kind;

/* The arguments of a compile call as one value. Members that do not belong to `kind` are ignored.
 * Pointers may be NULL where the compile call allows NULL. */
typedef struct tsl_source {
  tsl_source_kind kind;
  const char *text;
  size_t length;
  const tsl_schema_options *schema;
  const tsl_regex_options *regex;
  const char *root; /* the start rule of a grammar */
  const tsl_limits *limits;
  const tsl_lark_options *lark; /* its `start` counts where `root` is NULL */
} tsl_source;

/* Call tsl_grammar_json_schema, tsl_grammar_regex, tsl_grammar_gbnf, tsl_grammar_ebnf,
 * tsl_grammar_abnf or, without a resolver, tsl_grammar_lark, by `kind`. */
TSL_API tsl_status tsl_grammar_compile(tsl_vocab *vocab, const tsl_source *source,
                                       tsl_grammar **out, tsl_error *error);

/* The compile call that a constraint of a request goes to. */
typedef enum tsl_request_kind {
  TSL_REQUEST_JSON_SCHEMA = TSL_SOURCE_JSON_SCHEMA,
  TSL_REQUEST_REGEX = TSL_SOURCE_REGEX, /* a choice is one, too */
  TSL_REQUEST_GBNF = TSL_SOURCE_GBNF,
  TSL_REQUEST_LARK = TSL_SOURCE_LARK,
  TSL_REQUEST_EBNF = TSL_SOURCE_EBNF,
  TSL_REQUEST_TAGS = 16 /* a structural tag: tsl_grammar_tags */
} tsl_request_kind;

/* The constraint of a request, before it is compiled. Texts are valid during the call of the sink.
 */
typedef struct tsl_request_source {
  tsl_request_kind kind;
  const char *text;    /* what the compile call reads; no NUL behind it */
  size_t length;       /* of it, in bytes */
  const char *pointer; /* JSON pointer of the constraint, from the request's root */
  size_t offset;       /* of the constraint's value in the request, in bytes */
  bool part;           /* offsets in the text are those in the request, counted from `offset` */
  bool compact;        /* the request wants no white space in JSON (disable_any_whitespace) */
} tsl_request_source;
typedef void (*tsl_request_sink)(void *ctx, const tsl_request_source *source);

/* Say what a request constrains its answer to, and compile nothing. This is for a host that
 * compiles with options, a cache or a folder of its own. `request` is as at tsl_grammar_request.
 * `sink` is called once, before the call returns TSL_OK. `max_depth`, `cancel` and `deadline_us` of
 * `limits` hold. `limits` and `allocator` may be NULL.
 *   Example: {"guided_choice": ["a", "b"]} is a REGEX, a|b, at /guided_choice.
 * Errors: as tsl_grammar_request, without those of the compile call.
 * Cost: linear in the request. Threads: any. */
TSL_API tsl_status tsl_request_read(const char *request, size_t length, const tsl_limits *limits,
                                    const tsl_allocator *allocator, tsl_request_sink sink,
                                    void *ctx, tsl_error *error);

/* Move the error of a compile call to its place in the request: pointer, offset, line and column.
 * `source` is what tsl_request_read found in it; its text and length are not looked at. `error`
 * has what the compile call wrote, and is changed. */
TSL_API void tsl_request_place(const char *request, size_t length, const tsl_request_source *source,
                               tsl_error *error);

/* Compiled grammars by content. Sources with equal kind, text, options and limits, and vocabularies
 * of equal identity, give one grammar; `cancel` and `deadline_us` do not matter. The cache looks up
 * an XXH3-128 and then compares everything, so no crafted text passes for another.
 * It holds references. When the grammars' memory is over the bound, the least recently used are
 * dropped. A grammar that somebody else holds too lives on, and counts no more. */
typedef struct tsl_cache tsl_cache;

typedef struct tsl_cache_stats {
  uint64_t hits;   /* given out without a compile, `waits` included */
  uint64_t waits;  /* hits that waited for another thread's compile of the same grammar */
  uint64_t misses; /* compiled, or failed to */
  /* compiled and not kept: a resolver is set, whose answers the cache cannot know */
  uint64_t bypasses;
  /* dropped to stay below the bound, grammars too large to be kept included */
  uint64_t evictions;
  uint64_t bytes; /* of the grammars held, as of their last use, and of the keys */
  uint64_t max_bytes;
  uint64_t entries;
} tsl_cache_stats;

/* An empty cache. `max_bytes` bounds what it holds. Grammars grow while they are used; the cache
 * measures them whenever it gives them out. `allocator` is for the cache's own memory. Errors:
 * NO_MEMORY, ARGUMENT (max_bytes is 0). */
TSL_API tsl_status tsl_cache_new(uint64_t max_bytes, const tsl_allocator *allocator,
                                 tsl_cache **out);
TSL_API void tsl_cache_free(tsl_cache *cache); /* NULL is allowed */

/* The grammar of `source`: the cached one, with a reference for the caller, or a new one, which the
 * cache then keeps. `vocab` may be another object than the grammar's, of equal identity.
 * Threads that want a grammar while it is compiled wait for it, each no longer than its own
 * `cancel` and `deadline_us` say. If that compile fails or is cancelled, one of the waiting threads
 * compiles in its place. Failures are not kept.
 * `cancel` and `deadline_us` hold for the compile only. Only `max_steps` bounds the masks of a
 * grammar that others share.
 * Errors: those of tsl_grammar_compile.
 * Cost of a hit: hashing the text and one lock, about 0.3 µs for a few KB. */
TSL_API tsl_status tsl_cache_get(tsl_cache *cache, tsl_vocab *vocab, const tsl_source *source,
                                 tsl_grammar **out, tsl_error *error);
TSL_API void tsl_cache_get_stats(tsl_cache *cache, tsl_cache_stats *stats);
/* Drop everything that is held. The counters stay. */
TSL_API void tsl_cache_clear(tsl_cache *cache);

/* A compile on another thread. */
typedef struct tsl_compile tsl_compile;

/* Begin to compile `source` on one of the workers of `threads`, or on a thread of its own if
 * `threads` is NULL. The compile goes through `cache` unless that is NULL. Text and options are
 * copied.
 * The resolver is called on that thread. Its ctx and the cache must outlive the compile.
 * `deadline_us` counts from this call, and holds for the compile only. `limits->cancel` must be
 * NULL: tsl_compile_cancel takes its place.
 * Errors: NO_MEMORY, ARGUMENT, LIMIT (no more threads). */
TSL_API tsl_status tsl_compile_start(tsl_threads *threads, tsl_cache *cache, tsl_vocab *vocab,
                                     const tsl_source *source, tsl_compile **out, tsl_error *error);
/* Has the compile ended, well or not? Never blocks. */
TSL_API bool tsl_compile_is_done(const tsl_compile *compile);
/* End the compile early, with TSL_ERR_CANCELLED, unless it is done already. At once if no worker
 * has begun it, else usually within some hundred microseconds. Never blocks. */
TSL_API void tsl_compile_cancel(tsl_compile *compile);
/* Wait for the end, at most `timeout_us` (UINT64_MAX: as long as it takes). Returns TSL_OK and a
 * reference on the grammar, or the compile's error, or TSL_ERR_STATE if it has not ended in time.
 * May be called again, with the same result; each success gives another reference. */
TSL_API tsl_status tsl_compile_wait(tsl_compile *compile, uint64_t timeout_us, tsl_grammar **out,
                                    tsl_error *error);
/* Cancel the compile if it has not ended, wait for it, and free it. NULL is allowed. */
TSL_API void tsl_compile_free(tsl_compile *compile);

#define TSL_MAX_WORKERS 1024u /* threads of a tsl_threads */

/* ---- 9. Decoding ----------------------------------------------------------------------------- */

/* What only a decoder that knows the grammar can do:
 *   - 9.1 end every text within a budget of tokens
 *   - 9.2 report the parts of a JSON text while it is written
 *   - 9.3 check drafts of several tokens
 *   - 9.5 search with beams
 *   - 9.6 draw from the model's own distribution given the grammar
 *   - 9.7 score all outputs that there are */

/* -- 9.1 Token budget: texts that end in time -------------------------------------------------- */

/* Knows the way to the end from every position that it was given, for all matchers of one grammar.
 * As long as only tokens that it allows are accepted, the text is complete when `left` reaches 0,
 * or before.
 * Use: tsl_budget_start once, and then at every step one of these:
 *     draw under tsl_budget_mask
 *     draw under the matcher's own mask and call tsl_budget_allows; on TSL_REJECTED draw again
 *     under tsl_budget_mask. This is cheaper, and the distribution of the draw is the same.
 * End-of-generation tokens are not counted: where the text is complete, they are allowed with
 * nothing left, too.
 * Tokens that the grammar counts ("max_tokens") end by themselves, which the budget does not
 * foresee. A text that is cut off in a character may take some tokens more.
 * Limits: `deadline_us` and `cancel` end a call as a whole. `max_steps` holds for each piece of its
 * work; a search has 50,000 positions at most.
 * UNSUPPORTED from tsl_budget_start, _allows and _mask: a schema that has uniqueItems under a
 * negation.
 * No mask is empty before the text is complete, if tsl_budget_start said TSL_OK. A call that
 * reaches a limit says so.
 * Holds a reference on the grammar. Threads: one at a time. It takes the grammar's lock where the
 * tables for a position are missing. */
typedef struct tsl_budget tsl_budget;

/* `allocator` NULL = the grammar's. Errors: NO_MEMORY. */
TSL_API tsl_status tsl_budget_new(tsl_grammar *grammar, const tsl_allocator *allocator,
                                  tsl_budget **out);
TSL_API void tsl_budget_free(tsl_budget *budget); /* NULL is allowed */

/* Can the matcher's text be completed with at most `max_tokens` more tokens? If not: TSL_ERR_LIMIT,
 * and `error` (may be NULL) says how many it takes, and whether that is certain.
 * If `max_tokens` is below the tokens of the fastest way in bytes, all ways in tokens are searched,
 * up to 50,000 positions.
 * Errors: LIMIT, UNSUPPORTED, CANCELLED, NO_MEMORY. */
TSL_API tsl_status tsl_budget_start(tsl_budget *budget, const tsl_matcher *matcher,
                                    uint64_t max_tokens, tsl_error *error);

/* The tokens of a short completion. Writes at most `capacity` ids and sets *count to their number:
 * 0 where the text may end. `tokens` may be NULL if `capacity` is 0.
 * The tokens spell a text of the fewest bytes, or nearly so where tsl_matcher_shortest_completion
 * may be too low. Of the ways to spell that text they are the one with the fewest tokens.
 * Errors: LIMIT (no completion was found: the vocabulary cannot spell one, or it is too far away),
 * CANCELLED, NO_MEMORY.
 * Cost: 1 to 3 µs for each byte that was on no way before. */
TSL_API tsl_status tsl_budget_completion(tsl_budget *budget, const tsl_matcher *matcher,
                                         tsl_token *tokens, size_t capacity, size_t *count);

/* May this token come next, with `left` tokens to go, this one included? TSL_OK, or TSL_REJECTED:
 * the grammar does not allow it, or no completion that fits is known after it. The matcher does not
 * move.
 * Cost: below 1 µs at a position that was seen before. */
TSL_API tsl_status tsl_budget_allows(tsl_budget *budget, const tsl_matcher *matcher, uint64_t left,
                                     tsl_token token);

/* The tokens that tsl_budget_allows lets through, as a mask of tsl_vocab_mask_words words. A later
 * tsl_budget_allows may let one more through, if a shorter completion was found meanwhile.
 * Cost: as tsl_matcher_mask where `left` is more than any token of this position needs, once that
 * is known. Otherwise all allowed tokens are spelled: milliseconds where there are many. */
TSL_API tsl_status tsl_budget_mask(tsl_budget *budget, const tsl_matcher *matcher, uint64_t left,
                                   uint32_t *mask);

/* Wind down. From `soft` tokens left on, add `bias` × (soft − left + 1) / soft to the logits of two
 * kinds of allowed tokens. These are tokens after which fewer tokens complete the text than now,
 * and end-of-generation tokens.
 * Nothing is added inside free content (where more than 64 different bytes may follow), so strings
 * are not cut short. `logits` has the vocabulary's logits_width elements.
 * Errors: ARGUMENT (bias is not finite), those of tsl_budget_allows. */
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
  TSL_EVENT_BEGIN = 1, /* a value begins; its kind is known, nothing of its content yet */
  /* more of a string: at least one whole character, decoded; escapes and UTF-8 sequences are never
   * split */
  TSL_EVENT_TEXT = 2,
  TSL_EVENT_END = 3 /* the value is whole; for a number, `text` is its spelling */
} tsl_event_kind;

/* Valid during the call of the sink. Nothing is NUL-terminated. */
typedef struct tsl_event {
  tsl_event_kind kind;
  tsl_value value;
  /* JSON pointer (RFC 6901) of the value, "" for the whole text; names of members are decoded */
  const char *pointer;
  size_t pointer_length;
  const char *text; /* UTF-8; half of a surrogate pair is given as U+FFFD */
  size_t text_length;
} tsl_event;
typedef void (*tsl_event_sink)(void *ctx, const tsl_event *event);

/* A reader of one JSON text that arrives in pieces of any size. Give it the bytes of each accepted
 * token (tsl_vocab_bytes); special tokens have no text. It needs no grammar: it checks by itself
 * that the text is JSON. It keeps the names of open members, and no values. Threads: one at a time.
 *   Example: {"a":"hi"} gives
 *     BEGIN object ""    BEGIN string "/a"    TEXT "/a" hi    END "/a"    END "" */
typedef struct tsl_events tsl_events;

/* `sink` is called with `ctx` by tsl_events_feed and tsl_events_end. Errors: NO_MEMORY. */
TSL_API tsl_status tsl_events_new(tsl_event_sink sink, void *ctx, const tsl_allocator *allocator,
                                  tsl_events **out);
TSL_API void tsl_events_free(tsl_events *events); /* NULL is allowed */
/* Back to the beginning of a text. */
TSL_API void tsl_events_reset(tsl_events *events);

/* Read on. On return all events that these bytes allow have been given. The characters of a string
 * that came in one call are one event. A number ends with the byte after it.
 * Errors: SYNTAX (`error` has the offset in the whole text, and no line), NO_MEMORY. The events up
 * to there have been given; further calls return TSL_ERR_STATE until a reset.
 * Cost: some ns a byte. */
TSL_API tsl_status tsl_events_feed(tsl_events *events, const void *bytes, size_t length,
                                   tsl_error *error);

/* The text is over. Gives the end of a number that is the whole text. Errors: SYNTAX if a value is
 * open, or if there was none. */
TSL_API tsl_status tsl_events_end(tsl_events *events, tsl_error *error);

/* -- 9.3 Speculative decoding: several drafted tokens checked at once -------------------------- */

#define TSL_NO_PARENT UINT32_MAX

/* The masks of all positions of a chain or tree of drafts, in one call. The matcher does not move.
 * tokens[i] is drafted after tokens[parents[i]], and parents[i] < i. TSL_NO_PARENT stands for the
 * matcher's own position. `parents` NULL means a chain, each token after the one before.
 * `masks` has count + 1 rows of tsl_vocab_mask_words. Row 0 is the mask at the matcher's position,
 * row i + 1 the mask after tokens[i]. That row is all zero if tokens[i] is not allowed. allowed[i]
 * says whether it is; `allowed` may be NULL.
 * Errors: ARGUMENT (a parent does not stand before its child), those of masks and of
 * tsl_matcher_accept. Rows are then unspecified. */
TSL_API tsl_status tsl_matcher_mask_drafts(tsl_matcher *matcher, const tsl_token *tokens,
                                           const uint32_t *parents, size_t count, uint32_t *masks,
                                           bool *allowed);

/* Drafts, and what both models say of them. Rows of logits have the vocabulary's logits_width
 * elements. */
typedef struct tsl_drafts {
  const tsl_token *tokens;
  /* as in tsl_matcher_mask_drafts; NULL: a chain. Siblings stand in the order in which they were
   * drawn */
  const uint32_t *parents;
  size_t count;
  /* the model's: count + 1 rows, at the matcher's position and after each draft */
  const float *logits;
  /* the drafter's rows, in the same order, where a draft was drawn. NULL: drafts were not drawn at
   * random but chosen (n-grams, forced tokens, the k most likely) */
  const float *draft_logits;
  /* of the model's distribution. 0 = greedy, of equal ones the lowest id. INFINITY = all allowed
   * tokens with a finite logit are alike */
  float temperature;
  float draft_temperature; /* of the drafter's */
  /* the drafter drew under the grammar's masks too; otherwise it drew from its whole vocabulary */
  bool draft_masked;
  bool distinct; /* siblings were drawn without replacement; otherwise independently */
} tsl_drafts;

/* Accept drafts, and draw one token after them. The tokens are distributed exactly as if each had
 * been drawn from softmax(logits / temperature) under the grammar's mask.
 * A draft t is accepted with probability min(1, p(t) / q(t)). If it is not, p becomes max(0, p -
 * q), normalised, and the next sibling is tried. If no sibling is left, the token is drawn from
 * what p is then.
 * On success the matcher has moved past the accepted drafts and the new token. `path` (room for
 * drafts->count) has the indices of the accepted drafts, root first; *accepted is their number.
 * *next is the token after them. TSL_NO_TOKEN: an accepted draft ended the generation, or nothing
 * may follow.
 * *draws counts the random numbers that were drawn from the stream of `seed`. Start it at 0 and
 * keep it; it moves on success only.
 * Errors: ARGUMENT (a parent does not stand before its child, a draft that the drafter gives
 * probability 0), LOGITS, those of masks.
 * Cost: two exponentials for each token of the vocabulary and draft that is looked at.
 * Refs: Leviathan, Kalman, Matias 2023; Chen et al. 2023; Miao et al. 2024 (trees); Jeon et al.
 * 2024 (without replacement). */
TSL_API tsl_status tsl_speculate(tsl_matcher *matcher, const tsl_drafts *drafts, uint64_t seed,
                                 uint64_t *draws, uint32_t *path, size_t *accepted,
                                 tsl_token *next);

/* Drafts that the grammar itself makes: the bytes that must come (tsl_matcher_forced_bytes), in the
 * canonical tokenisation of the text. They end where a token might be accepted by its name instead.
 * The matcher does not move.
 * `tail` has the last `tail_count` accepted tokens; 16 or so are enough. Canonical tokens may begin
 * inside of what is written already. Then *retract says how many of the tail's last tokens they
 * replace, at most `max_retract`. Roll the matcher back by so many before the drafts are accepted;
 * 0 means that the drafts simply follow.
 * Nothing is drafted where the new tokens may not replace the old ones, as where one was read by
 * its name. Tokens at the end that may become others when more text follows are left out.
 * Writes at most `capacity` ids; *count is how many, 0 where there is nothing to draft. Check the
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

/* The host's model. Functions below call it for the logits after each of `n` prefixes. Write n rows
 * of tsl_vocab_logits_width floats. -inf is probability 0; NaN and +inf are refused
 * (TSL_ERR_LOGITS). A status other than TSL_OK ends the function that called, which returns it.
 * The prefixes of one call differ. Those of later calls extend earlier ones, so a host can keep its
 * key-value cache by prefix. A text ends with an end-of-generation token; in a vocabulary without
 * any, where nothing more is allowed. */
typedef tsl_status (*tsl_model)(void *ctx, const tsl_prefix *prefixes, size_t n, float *logits);

/* -- 9.5 Beam search --------------------------------------------------------------------------- */

typedef struct tsl_beam_options {
  uint32_t width;  /* texts that are followed at once; 1 to 65,536 */
  uint32_t n_best; /* texts wanted; 0 = width */
  /* of a text, end-of-generation tokens not counted; at least 1. All texts are complete within it,
   * as with tsl_budget */
  uint32_t max_tokens;
  /* alpha >= 0: texts are ranked by log-probability / tokens^alpha, end-of-generation tokens
   * counted; 0 = by log-probability */
  float length_penalty;
} tsl_beam_options;

typedef struct tsl_beams tsl_beams;

/* The most probable texts of the grammar, found by keeping `width` prefixes at each length. The
 * search ends when no open prefix can still become one of the n best.
 * Probabilities are the model's own, over its whole vocabulary, not renormalised under the mask. So
 * texts compare as the model would compare them. Of texts that differ only in their tokens, the
 * better one is kept.
 * Errors: ARGUMENT, LIMIT (no text fits max_tokens; `error`, which may be NULL, says how many it
 * takes), LOGITS, the model's, those of masks.
 * Cost: one call of the model for each length, with at most `width` prefixes. */
TSL_API tsl_status tsl_beam_search(tsl_grammar *grammar, tsl_model model, void *ctx,
                                   const tsl_beam_options *options, const tsl_allocator *allocator,
                                   tsl_beams **out, tsl_error *error);
TSL_API void tsl_beams_free(tsl_beams *beams); /* NULL is allowed */
/* Texts found, the best first: at most n_best. */
TSL_API size_t tsl_beams_count(const tsl_beams *beams);
/* Of text i: its tokens, its bytes (special tokens have none), its log-probability, its rank.
 * Borrowed; NULL and 0 for an i that is not below the count. */
TSL_API const tsl_token *tsl_beams_tokens(const tsl_beams *beams, size_t i, size_t *count);
TSL_API const char *tsl_beams_text(const tsl_beams *beams, size_t i, size_t *length);
TSL_API double tsl_beams_log_probability(const tsl_beams *beams, size_t i);
TSL_API double tsl_beams_score(const tsl_beams *beams, size_t i);

/* -- 9.6 The model's own distribution, given the grammar --------------------------------------- */

typedef struct tsl_align_options {
  uint64_t seed;
  /* of a text, end-of-generation tokens not counted; at least 1. The distribution is that of texts
   * that a tsl_budget of this size allows */
  uint32_t max_tokens;
} tsl_align_options;

/* Draws from P(text | grammar). Masking step by step draws from another distribution. It takes a
 * token as likely as before the mask, even if hardly any text goes on well after that token. This
 * sampler learns over repeated samples of one prompt. After each prefix it knows an estimate of how
 * much of the model's probability is in the grammar, and weighs tokens with it. Samples converge to
 * P(text | grammar). Holds a reference on the grammar. Memory: about 40 bytes for each prefix of a
 * text drawn. Threads: one at a time. Ref: Park, Wang, Berg-Kirkpatrick, Polikarpova, D'Antoni 2024
 * "Grammar-Aligned Decoding" (ASAp).
 */
typedef struct tsl_align tsl_align;

TSL_API tsl_status tsl_align_new(tsl_grammar *grammar, tsl_model model, void *ctx,
                                 const tsl_align_options *options, const tsl_allocator *allocator,
                                 tsl_align **out, tsl_error *error);
TSL_API void tsl_align_free(tsl_align *align); /* NULL is allowed */
/* Draw a text. `tokens` has room for max_tokens + 1 ids, the end-of-generation token included.
 * *log_probability is the model's own; the pointer may be NULL. The model is called once for each
 * token, with one prefix.
 * What was learned is kept on success only. If nothing allowed after a prefix has a probability,
 * that is learned and another text is drawn, up to a thousand times.
 * Errors: LOGITS (no text was found), the model's, those of masks. */
TSL_API tsl_status tsl_align_sample(tsl_align *align, tsl_token *tokens, size_t *count,
                                    double *log_probability);
/* The probability that the next sample is this text, in these tokens. Not counted: samples that are
 * drawn again after a prefix without a way on that was not met before. Calls the model. */
TSL_API tsl_status tsl_align_probability(tsl_align *align, const tsl_token *tokens, size_t count,
                                         double *probability);
/* An upper bound of the probability that the model, left alone, writes a text of the grammar. It
 * falls towards that probability, from 1 before the first sample. */
TSL_API double tsl_align_mass(const tsl_align *align);

/* -- 9.7 Probabilities of all outputs ---------------------------------------------------------- */

typedef struct tsl_score_options {
  uint32_t max_outputs;  /* texts of the grammar; more are TSL_ERR_LIMIT [1000] */
  uint32_t max_prefixes; /* prefixes for which the model is called [100,000] */
  uint32_t batch;        /* prefixes in one call of the model, at most [32] */
  /* sum over every way to spell a text in tokens; default: only the canonical one, that of
   * tsl_vocab_encode */
  bool all_tokenisations;
  /* the texts are JSON in one spelling: a character is escaped only if it cannot stand as itself.
   * \uXXXX is used only where there is no short escape, in small letters */
  bool plain_json;
  /* leave out the probability of the end-of-generation tokens after a text */
  bool open_end;
} tsl_score_options;

typedef struct tsl_scores tsl_scores;

/* The exact probabilities of all texts of a grammar that has finitely many (an enum, yes or no, a
 * small object): a classifier's calibrated answer. The model is called once for each prefix that
 * texts share. `options` and `error` may be NULL.
 * With all tokenisations, prefixes are looked at in the order of their probability. If max_prefixes
 * ends that, tsl_scores_missing says how much probability was not looked at.
 * Errors: LIMIT (too many texts, a text of over 65,536 bytes, or max_prefixes is too small for the
 * canonical tokenisations). Compact white space and listed values help; numbers have endless
 * spellings.
 * UNSUPPORTED (the grammar names special tokens, or the canonical tokenisation does not spell the
 * text), LOGITS, the model's. */
TSL_API tsl_status tsl_score_all(tsl_grammar *grammar, tsl_model model, void *ctx,
                                 const tsl_score_options *options, const tsl_allocator *allocator,
                                 tsl_scores **out, tsl_error *error);
/* The same from the middle of a text: the texts are all ways to go on from where the matcher
 * stands, and prefixes begin there. So a label is scored behind reasoning that was written before
 * it. The canonical tokens are those of what follows, as if a text began there. The matcher does
 * not move. More errors: STATE (an end-of-generation token was accepted). */
TSL_API tsl_status tsl_score_all_from(const tsl_matcher *matcher, tsl_model model, void *ctx,
                                      const tsl_score_options *options,
                                      const tsl_allocator *allocator, tsl_scores **out,
                                      tsl_error *error);
/* The probability of a text as the mean of tsl_scores_probability over `count` scores. Let the
 * scores be made behind several reasoning traces of one prompt, drawn by the model. Then *mean
 * estimates P(text | prompt). *standard_error (may be NULL) is its standard error: NaN for one
 * trace. A text that some scores do not have counts as 0 there. Errors: ARGUMENT (count is 0).
 * Cost: O(count log texts). */
TSL_API tsl_status tsl_scores_mean(const tsl_scores *const *scores, size_t count, const char *text,
                                   size_t length, double *mean, double *standard_error);
TSL_API void tsl_scores_free(tsl_scores *scores);          /* NULL is allowed */
TSL_API size_t tsl_scores_count(const tsl_scores *scores); /* texts, in the order of their bytes */
/* borrowed; not NUL-terminated */
TSL_API const char *tsl_scores_text(const tsl_scores *scores, size_t i, size_t *length);
/* the model's own; -inf where it gives the text no probability */
TSL_API double tsl_scores_log_probability(const tsl_scores *scores, size_t i);
/* among these texts: they sum to 1, or are all 0 if none has any probability */
TSL_API double tsl_scores_probability(const tsl_scores *scores, size_t i);
/* probability that was not looked at; 0: all of it was summed */
TSL_API double tsl_scores_missing(const tsl_scores *scores);

/* ---- 10. Tags and tools ---------------------------------------------------------------------- */

/* Compile a structural tag: JSON with the field names that XGrammar publishes. `json` is one of
 * three:
 *     {"type": "structural_tag", "format": FORMAT}
 *     a bare FORMAT
 *     the legacy {"structures": [{"begin", "schema", "end"}], "triggers": [...]}
 * FORMAT has a "type" (docs/tools.md describes all of them):
 *   - texts: const_string, regex, grammar, any_text
 *   - JSON: json_schema, with a "style": json, qwen_xml, minimax_xml, minimax_m3_xml, deepseek_xml,
 *     deepseek_v4_1_xml, glm_xml, cohere_xml, kimi_k3_xml, pythonic; qwen_xml_parameter
 *   - combinations: sequence, or, optional, plus, star, repeat
 *   - tags: tag, triggered_tags, tags_with_separator, dispatch
 *   - tokens: token, exclude_token, any_tokens, token_triggered_tags, token_dispatch
 * In free text every token stays allowed. The first trigger that the text spells begins a tag,
 * however the trigger is split into tokens. Where constant text spells a special token, that token
 * is allowed as well.
 *   Example: {"type":"triggered_tags","triggers":["<f>"],"tags":[{"begin":"<f>",
 *            "content":{"type":"regex","pattern":"[0-9]+"},"end":"</f>"}]}
 *            allows: It is <f>12</f> degrees.
 * "max_tokens" ends an any_text in time. Matchers count the tokens that they accept in it. After
 * the last one, only what follows the text is allowed; a character that it leaves unfinished may be
 * finished first.
 * Not counted are tokens that reach over the begin or the end of the text. tsl_matcher_accept_bytes
 * counts as one token, without the bytes that finish a character first. Limits are exact where no
 * text may be in two counted texts at once. Counts go with rollback, fork and drafts.
 * tsl_beam_search, tsl_align_new and tsl_score_all refuse such grammars.
 * `schema` holds the options of all JSON Schemas in the tag. `schema` and `limits` may be NULL.
 * Errors, with the JSON pointer: SYNTAX, SCHEMA (a format is malformed), UNSUPPORTED, EMPTY, LIMIT,
 * CANCELLED, NO_MEMORY, and ARGUMENT as of tsl_grammar_json_schema. */
TSL_API tsl_status tsl_grammar_tags(tsl_vocab *vocab, const char *json, size_t length,
                                    const tsl_schema_options *schema, const tsl_limits *limits,
                                    tsl_grammar **out, tsl_error *error);

/* The same, over the tables of an earlier grammar of tags or tools. Schemas with the same text are
 * shared, with all that was found out about them (states, walks, masks). So another set of tools
 * costs what is new in it. All grammars over the same tables stay whole, and may be used and
 * released in any order. The tables grow, under one lock, until the last of these grammars is
 * released. Limits of time, steps and memory are those of the grammar that made the tables. The
 * grammar has tables of its own where nothing can be shared. That is so with other schema options,
 * or with uniqueItems in the new schemas only. It is also so if the tables hold half of max_memory,
 * or if texts have filled their expressions. */
TSL_API tsl_status tsl_grammar_tags_over(tsl_grammar *over, const char *json, size_t length,
                                         const tsl_schema_options *schema, const tsl_limits *limits,
                                         tsl_grammar **out, tsl_error *error);

/* The same trees built in C. A format is a node; it belongs to its tree and may stand in several
 * places of it. All texts are copied. They are UTF-8; those without a length are NUL-terminated.
 * A builder that fails returns NULL, and a NULL part makes a NULL format. The first failure is
 * kept, and tsl_tags_compile reports it: only there need a caller look at an error.
 * Threads: one at a time. Cost: some 100 ns a format.
 *   Example: tsl_tags_compile(t, tsl_tags_tag(t, "<f>", tsl_tags_regex(t, "[0-9]+", 6),
 *                             (const char *const[]){"</f>"}, 1), NULL, NULL, NULL, &g, &error) */
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

/* Exactly this text. Here and below, text that is not UTF-8 is TSL_ERR_SYNTAX. */
TSL_API tsl_format *tsl_tags_text(tsl_tags *tags, const char *text, size_t length);
/* JSON that is valid against the schema. `style` as in the JSON form ("qwen_xml", ...); NULL =
 * JSON. */
TSL_API tsl_format *tsl_tags_json_schema(tsl_tags *tags, const char *schema, size_t length,
                                         const char *style);
TSL_API tsl_format *tsl_tags_regex(tsl_tags *tags, const char *pattern, size_t length);
TSL_API tsl_format *tsl_tags_gbnf(tsl_tags *tags, const char *grammar, size_t length);
/* Any text without the `count` excluded ones. A limit of 0 is none; at most 2^31 - 1. As the last
 * part of a tag, the text ends at the tag's ends. */
TSL_API tsl_format *tsl_tags_any(tsl_tags *tags, const char *const *excludes, size_t count,
                                 uint32_t max_chars, uint32_t max_tokens);
TSL_API tsl_format *tsl_tags_sequence(tsl_tags *tags, tsl_format *const *formats, size_t count);
TSL_API tsl_format *tsl_tags_or(tsl_tags *tags, tsl_format *const *formats, size_t count);
/* `format` min to max times, at most 2^31 - 1; max may be TSL_UNBOUNDED. */
TSL_API tsl_format *tsl_tags_repeat(tsl_tags *tags, tsl_format *format, uint32_t min, uint32_t max);
/* `begin`, `content`, and one of the ends. Begin and ends may be "". */
TSL_API tsl_format *tsl_tags_tag(tsl_tags *tags, const char *begin, tsl_format *content,
                                 const char *const *ends, size_t end_count);
/* Free text. The first trigger in it begins one of the tags whose begin starts with that trigger.
 * Each tag's begin starts with exactly one trigger. `flags`: TSL_TAGS_... or 0. */
TSL_API tsl_format *tsl_tags_triggered(tsl_tags *tags, const char *const *triggers,
                                       size_t trigger_count, tsl_format *const *formats,
                                       size_t count, uint32_t flags);
/* Tags with a separator between them. There may be none at all, unless TSL_TAGS_AT_LEAST_ONE. */
TSL_API tsl_format *tsl_tags_separated(tsl_tags *tags, tsl_format *const *formats, size_t count,
                                       const char *separator, uint32_t flags);
/* Free text, in which formats[i] must follow triggers[i]. `flags`: 0 or TSL_TAGS_ONCE. */
TSL_API tsl_format *tsl_tags_dispatch(tsl_tags *tags, const char *const *triggers,
                                      tsl_format *const *formats, size_t count, uint32_t flags);
/* min to max of these tokens, as in tsl_tags_repeat. With `others`: of all tokens but these and the
 * end-of-generation ones. */
TSL_API tsl_format *tsl_tags_tokens(tsl_tags *tags, const tsl_token *tokens, size_t count,
                                    bool others, uint32_t min, uint32_t max);
/* Say what a format is to a reader (tsl_parser), and return it. `name` is the tool of a
 * TSL_AS_CALL, what stands before an id of a TSL_AS_ID, or NULL. */
TSL_API tsl_format *tsl_tags_as(tsl_tags *tags, tsl_format *format, tsl_as as, const char *name);

/* The grammar of a format, as tsl_grammar_tags makes it. `over` as in tsl_grammar_tags_over; NULL =
 * tables of its own. The tree may grow afterwards and be compiled again. Pointers in errors are
 * relative to a schema. Errors: as tsl_grammar_tags. */
TSL_API tsl_status tsl_tags_compile(tsl_tags *tags, tsl_format *root, tsl_grammar *over,
                                    const tsl_schema_options *schema, const tsl_limits *limits,
                                    tsl_grammar **out, tsl_error *error);
/* Hand the format to `sink` as a structural tag in JSON, NUL-terminated and valid during the call.
 */
TSL_API tsl_status tsl_tags_write(tsl_tags *tags, tsl_format *root, tsl_line_sink sink, void *ctx,
                                  tsl_error *error);

typedef enum tsl_thinking {
  TSL_THINKING_AUTO = 0, /* the text may begin with a thinking block */
  /* it must begin with one. Where the model's prompt opens the block, the text begins inside of it;
   * where some prompts of the model do, it may */
  TSL_THINKING_ON = 1,
  TSL_THINKING_OFF = 2 /* it must not begin with one */
} tsl_thinking;

typedef struct tsl_tools_options {
  /* a name that tsl_tools_preset knows, that of a model ("Qwen/Qwen3-8B"), or the text of a preset
   * (JSON, begins with '{') */
  const char *preset;
  /* "auto", "required", "none" or the name of a tool; NULL: what the request says, else auto */
  const char *tool_choice;
  int parallel; /* several calls: 1 yes, -1 no, 0 what the request says, else yes */
  tsl_thinking thinking;
  /* of a block of thinking, its begin and end not counted. 0 = what the request says
   * (thinking.budget_tokens), else any number. "max_tokens" at tsl_grammar_tags says how they count
   */
  uint32_t max_thinking_tokens;
  /* For answers that nobody constrained. The grammar and its masks are the same, but its parsers
   * refuse no text: see tsl_parser_text */
  bool lenient;
  const tsl_schema_options *schema; /* NULL: defaults */
  /* NULL, or a grammar of this or of tsl_grammar_tags: see tsl_grammar_tags_over */
  tsl_grammar *over;
  /* Gets a line of JSON for each part of a tool's schema that is left out, because the tool has
   * "strict": false. The line is {"tool", "pointer", "status", "reason"}. `status` is "no effect",
   * or "any object" where nothing of the schema is enforced. Called during the compile, in the
   * thread that compiles. NULL: no report */
  tsl_line_sink report;
  void *report_ctx;
} tsl_tools_options;

/* Compile what a model may answer to a request. `request` is JSON, in one of these forms:
 *   - the body of OpenAI's chat completions or responses: tools, tool_choice, parallel_tool_calls,
 *     response_format or text.format; functions and function_call
 *   - the body of Anthropic's messages: tools with input_schema, tool_choice
 *   - the answer to MCP's tools/list
 *   - a bare array of tools
 * Members that say to other servers what the text must be (guided_json, grammar and others, listed
 * in docs/tools.md) are UNSUPPORTED. Other members that say nothing about tools are ignored.
 * A part of a tool's schema that is not supported is an error that names the tool. If the tool has
 * "strict": false, the part is left out, and options->report gets a line.
 * Errors: as tsl_grammar_tags; ARGUMENT (no such preset, tool or way of thinking). */
TSL_API tsl_status tsl_grammar_tools(tsl_vocab *vocab, const char *request, size_t length,
                                     const tsl_tools_options *options, const tsl_limits *limits,
                                     tsl_grammar **out, tsl_error *error);

/* The same as a structural tag, handed to `sink` as `json`: NUL-terminated and valid during the
 * call. */
TSL_API tsl_status tsl_tools_write(tsl_vocab *vocab, const char *request, size_t length,
                                   const tsl_tools_options *options, tsl_line_sink sink, void *ctx,
                                   tsl_error *error);

/* The name and the text (JSON, NUL-terminated, static) of preset `index`, from 0. false after the
 * last one. */
TSL_API bool tsl_tools_preset(size_t index, const char **name, const char **json);

/* The preset that goes with a chat template: Jinja, or a tokenizer_config.json that has one. The
 * template is searched for the markup of calls, and not run.
 * *preset: its name (static), NULL: unknown. *count: in, the room of `near_presets`; out, how many
 * other presets share markup with the template. Both may be NULL.
 * Errors: SCHEMA (a JSON object without a "chat_template"), ARGUMENT, NO_MEMORY. Cost: some 50
 * searches of the text. Threads: any. */
TSL_API tsl_status tsl_tools_template(const char *text, size_t length, const char **preset,
                                      const char **near_presets, size_t *count);

/* Reads an answer back: text or tokens in, parts out, by the grammar's own states. For grammars of
 * tsl_grammar_tags and tsl_grammar_tools. Threads: one at a time. */
typedef struct tsl_parser tsl_parser;

typedef enum tsl_part_kind {
  TSL_PART_TEXT = 0,      /* a piece of free text, unaltered */
  TSL_PART_REASONING = 1, /* a piece of thinking */
  TSL_PART_CALL = 2,      /* a call begins; text is the tool's name */
  /* a piece of its id, where the format has one. `call` may be one that has not begun yet; the id
   * may come after the arguments */
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
  /* not NUL-terminated; valid until the next call on the parser other than tsl_parser_next */
  const char *text;
  size_t length;
} tsl_part;

/* Holds a reference on the grammar. Errors: STATE (the grammar is of another kind), NO_MEMORY. */
TSL_API tsl_status tsl_parser_new(tsl_grammar *grammar, const tsl_allocator *allocator,
                                  tsl_parser **out);
TSL_API void tsl_parser_free(tsl_parser *parser); /* NULL is allowed */
TSL_API void tsl_parser_reset(tsl_parser *parser);

/* Read on. TSL_REJECTED and no change if the grammar does not allow the text. A parser of a
 * `lenient` grammar (tsl_tools_options) rejects nothing. What the grammar allows is read by the
 * grammar. Where it stops allowing, all parts so far are given, and the rest waits for the end.
 * Then the whole is read for what it means, and mended. Mended are members in another order, other
 * quotes and words, and missing commas, brackets and markup. Mended are also unknown tools and
 * arguments, calls in a code fence, and JSON in strings. Parts of a call are given when the call is
 * over. TSL_ERR_LIMIT after 2^30 bytes. Memory: the text once more, and its calls. A special token
 * may be given as a token or spelled, in pieces too. A text whose end may begin such a token, and
 * is no text there, is held back. The next call rejects what does not complete it. Where a text can
 * be read in several ways, parts end as early as they can. After an end-of-generation token or
 * tsl_parser_finish all parts are given, and further text is TSL_ERR_STATE. After NO_MEMORY reset
 * the parser and read the text again. Cost: some 100 ns a byte. Memory: the text, its parts, and
 * the stacks. */
TSL_API tsl_status tsl_parser_text(tsl_parser *parser, const char *text, size_t length);
TSL_API tsl_status tsl_parser_token(tsl_parser *parser, tsl_token token);
/* The text is over. TSL_REJECTED if it is not complete; the parts so far stay available.
 * A parser does not count tokens ("max_tokens"). A matcher whose tokens are spent leaves the
 * counted text and waits for what follows. What was read may still be complete with that text as it
 * is. */
TSL_API tsl_status tsl_parser_finish(tsl_parser *parser);

/* The next part that is certain; false if there is none yet. Text that may be the beginning of a
 * tag is held back until that is known. */
TSL_API bool tsl_parser_next(tsl_parser *parser, tsl_part *part);

/* All parts so far, read or not, as valid JSON: {"content": "...", "reasoning": "...", "calls":
 * [{"id", "name", "arguments"}], "tags": [{"begin", "content"}]}. A call that is not over has
 * "incomplete": true, and its "arguments" are a string: their text so far. So has a call whose
 * arguments are no JSON, as those of a format with "as": "arguments" may be. A lenient parser adds
 * "repairs" to an answer that it mended, and to each call of that answer. The value is [{"repair",
 * "at"}], in the order in which the repairs were made, the first of each kind. `repair` is a word
 * of docs/tools.md, `at` a byte of the answer. Unknown tools and arguments have their name as
 * "text". NULL when out of memory. Valid until the next call on the parser. */
TSL_API const char *tsl_parser_json(tsl_parser *parser);

/* ---- 11. Artifacts: grammars compiled ahead of time ------------------------------------------ */

/* A grammar as a file. Processes map it and share it, and a library without a compiler
 * (-Dcompiler=false) can follow it. docs/artifacts.md
 * A complete artifact lists every state of the grammar, with walks done ahead. That is impossible
 * where states are too many: members of an object in any order have one state for each set of them.
 * Nor can states of uniqueItems be listed. Then it holds only the source, and loading it compiles
 * the source. It is bound to the tokens of a vocabulary, not to how text is encoded. */
typedef struct tsl_artifact tsl_artifact;

typedef struct tsl_artifact_options {
  /* states that are listed at most [100,000]; 32 names after a set of members count as one */
  uint32_t max_states;
  /* trie nodes visited for walks done ahead, about [50,000,000]: a second or so. 1 = none */
  uint64_t max_walk_steps;
  /* what the grammar was compiled from, to be kept in the artifact; NULL: nothing is kept. With a
   * resolver: ARGUMENT, since its answers are not part of a source */
  const tsl_source *source;
} tsl_artifact_options;

/* List a grammar's states and walk ahead. Takes the grammar's lock and expands its states, so its
 * memory grows: best done with a grammar that was compiled for this. A loaded grammar can be made
 * into an artifact again. `options` may be NULL. Equal grammars and options give equal bytes.
 * Errors: LIMIT or UNSUPPORTED where the artifact cannot be complete and options->source is NULL.
 * `error` says why; one reason is a grammar that counts tokens ("max_tokens"). CANCELLED (by the
 * grammar's limits), NO_MEMORY, ARGUMENT.
 * Cost: some µs a state, and the walks. */
TSL_API tsl_status tsl_artifact_make(tsl_grammar *grammar, const tsl_artifact_options *options,
                                     const tsl_allocator *allocator, tsl_artifact **out,
                                     tsl_error *error);
TSL_API void tsl_artifact_free(tsl_artifact *artifact); /* NULL is allowed */
/* The bytes of the file, *size of them; borrowed, aligned to 8 bytes. */
TSL_API const void *tsl_artifact_data(const tsl_artifact *artifact, size_t *size);
/* Write the file. The bytes go to another name in the same folder and to the disk, and then the
 * file is renamed. So readers see all of it, or what was there before. Errors: IO. */
TSL_API tsl_status tsl_artifact_write(const tsl_artifact *artifact, const char *path,
                                      tsl_error *error);

typedef struct tsl_artifact_info {
  uint32_t version; /* of the format */
  bool complete;    /* states are listed: loading needs no compiler */
  bool has_source;
  bool memo; /* this library can use the walks done ahead; otherwise it walks again */
  uint32_t states, walks, masks, bitsets;
  uint64_t size;      /* bytes */
  uint8_t tokens[16]; /* identifies the tokens of its vocabulary */
} tsl_artifact_info;

/* Verify a file as a whole, all checksums included, and say what is in it. `data` is aligned to 8
 * bytes. Errors: FORMAT, ARGUMENT. */
TSL_API tsl_status tsl_artifact_inspect(const void *data, size_t size, tsl_artifact_info *info,
                                        tsl_error *error);

/* Map an artifact. The grammar is used like any other, but tsl_parser_new refuses it. `limits` (may
 * be NULL) bounds its tables.
 * Header and vocabulary are verified now, and each block of 16 KiB before its first use. A mask or
 * token that needs a damaged block returns TSL_ERR_FORMAT. The file must not be written to while it
 * is mapped; tsl_artifact_write replaces it, which is fine.
 * Errors: IO (also for what is no regular file). FORMAT (no artifact, damaged, another version or
 * vocabulary, a big-endian machine). UNSUPPORTED (not complete, and this library has no compiler).
 * Those of compiling where it is not complete. NO_MEMORY.
 * Cost: some 5 µs for a complete file of any size that the system has in memory. The first load of
 * a vocabulary hashes the vocabulary: 0.1 ms. */
TSL_API tsl_status tsl_grammar_load(tsl_vocab *vocab, const char *path, const tsl_limits *limits,
                                    tsl_grammar **out, tsl_error *error);
/* The same from `size` bytes in memory, which are copied. */
TSL_API tsl_status tsl_grammar_load_memory(tsl_vocab *vocab, const void *data, size_t size,
                                           const tsl_limits *limits, tsl_grammar **out,
                                           tsl_error *error);

typedef struct tsl_store_result {
  /* this call compiled the grammar; otherwise the file was there, or another process made it
   * meanwhile */
  bool compiled;
  bool complete; /* as in tsl_artifact_info */
  /* a file is there now. false: the folder cannot be written to, or time ran out while the file was
   * made */
  bool kept;
} tsl_store_result;

/* The grammar of `source` from a folder that any number of processes share. If its artifact is
 * there, it is loaded; otherwise it is compiled, written and loaded.
 * If several processes want the same grammar, one compiles. The others wait for it as long as it
 * lives, at most source->limits->deadline_us. A process that is killed leaves nothing behind that
 * others would wait for or read.
 * Files are named by content: the source with its options and limits, max_states and
 * max_walk_steps, the vocabulary's tokens, and the version of the format. `cancel` and
 * `deadline_us` are not part of it. So a caller that wants less in a file does not change what
 * others find.
 * If time runs out or `cancel` is set while the file is made, the grammar is returned and no file
 * is kept. Whoever fills a folder needs more time than a compile takes: a second or two for some
 * schemas.
 * Damaged files are replaced. If a mask or token finds the damage first (TSL_ERR_FORMAT), the file
 * is removed, and the next call makes it again. Nothing else is ever removed from the folder. The
 * folder is made if only its last part is missing. A folder that cannot be used, such as "", is no
 * error: the grammar is compiled.
 * `options` and `result` may be NULL. The source in `options` is ignored; its max_states is 20,000
 * by default.
 * Errors: those of tsl_grammar_compile. */
TSL_API tsl_status tsl_store_get(tsl_vocab *vocab, const char *folder, const tsl_source *source,
                                 const tsl_artifact_options *options, tsl_grammar **out,
                                 tsl_store_result *result, tsl_error *error);

/* ---- 12. Masks on a device ------------------------------------------------------------------- */

/* Says which mask is in which row of a table that the host mirrors on its device. A step then sends
 * the number of a row for each sequence, instead of a mask. Masks may belong to any grammars of one
 * vocabulary. Threads: one at a time.
 *   Example: one step of a batch. `upload` and `apply` are the host's.
 *     for (i = 0; i < count; i++) {
 *       if (tsl_mask_table_row(table, matchers[i], &rows[i], &fresh)) return failed();
 *       if (fresh) upload(rows[i], fresh);
 *     }
 *     apply(rows, count);
 *     tsl_mask_table_step(table); */
typedef struct tsl_mask_table tsl_mask_table;

typedef struct tsl_mask_table_stats {
  uint64_t hits; /* masks that were in a row already */
  /* masks that the host had to copy: new ones, and those whose row was given to another mask */
  uint64_t copies;
  uint64_t evictions; /* rows that were given to another mask */
  uint32_t rows;      /* that hold a mask */
} tsl_mask_table_stats;

#define TSL_MAX_MASK_ROWS 1048576u

/* A table of `rows` rows of tsl_vocab_mask_words words, of which it keeps a copy. `rows` is at
 * least the number of sequences in a batch, 1 to TSL_MAX_MASK_ROWS. Errors: NO_MEMORY, ARGUMENT. */
TSL_API tsl_status tsl_mask_table_new(tsl_vocab *vocab, uint32_t rows,
                                      const tsl_allocator *allocator, tsl_mask_table **out);
TSL_API void tsl_mask_table_free(tsl_mask_table *table); /* NULL is allowed */

/* The row of the matcher's mask, in *row. If *fresh is not NULL, the row's content is new: copy
 * those words to row *row on the device before it is used. They stay valid until the row is given
 * to another mask.
 * Rows handed out since the last tsl_mask_table_step keep their masks. Other rows may be given to
 * other masks, the least recently used first.
 * Errors: LIMIT (more different masks in one step than rows), ARGUMENT (a grammar of another
 * width), those of masks.
 * Cost: 0.07 µs where the table has met this mask of the grammar, with 256 grammars. Otherwise 0.3
 * to 1 µs, and the cost of the mask. */
TSL_API tsl_status tsl_mask_table_row(tsl_mask_table *table, tsl_matcher *matcher, uint32_t *row,
                                      const uint32_t **fresh);
/* The rows that were handed out have been applied: another step begins. */
TSL_API void tsl_mask_table_step(tsl_mask_table *table);
TSL_API void tsl_mask_table_get_stats(const tsl_mask_table *table, tsl_mask_table_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
