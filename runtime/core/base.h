/* base.h - what every file of the engine needs: memory hooks, growable arrays, stable pools, byte
 * sets, errors.
 *
 * Nothing here knows about vocabularies or grammars. All memory goes through a tsl_allocator that
 * may fail; a failed call leaves its object as it was.
 *
 * Owners    What is allocated here is freed with the allocator that made it and the size that it
 *           has: allocators of hosts may need both. Arrays (TSL__VEC) and arenas keep their sizes.
 *           A zero-initialised array is empty and may be freed.
 * Which     Few elements of one kind that grow: an array. Many small parts that go together: an
 *           arena. Elements that others point to while more are added: a pool (pool.h).
 * Example   tsl__arena_init(&arena, alloc) makes an empty arena. tsl__arena_copy(&arena, "abc", 4)
 *           returns a copy, or NULL: then the call fails with TSL_ERR_NO_MEMORY. One
 *           tsl__arena_free(&arena) at the end frees all.
 *
 * Tested by tests/core/test_pool.c, tests/masks/test_mask.c, tests/engine/test_faults.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_CORE_BASE_H
#define TSL_RUNTIME_CORE_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "turnstile.h"

#if defined(__GNUC__) || defined(__clang__)
#define TSL__LIKELY(x) __builtin_expect(!!(x), 1)
#define TSL__UNLIKELY(x) __builtin_expect(!!(x), 0)
#if defined(__MINGW32__) && !defined(__clang__)
#define TSL__PRINTF(f, a) __attribute__((format(gnu_printf, f, a))) /* %zu, as C has it */
#else
#define TSL__PRINTF(f, a) __attribute__((format(printf, f, a)))
#endif
/* runs for each token of a text: such functions lie side by side, so that few pages hold them */
#define TSL__EACH_TOKEN __attribute__((hot))
#define TSL__SELDOM __attribute__((noinline)) /* kept out of functions that run often */
/* hardly ever runs: what leads there is kept out of the lines of code that do */
#define TSL__COLD __attribute__((cold))
#define TSL__PREFETCH(at) __builtin_prefetch(at)
#define TSL__PREFETCH_WRITE(at) __builtin_prefetch(at, 1)
#else
#define TSL__LIKELY(x) (x)
#define TSL__UNLIKELY(x) (x)
#define TSL__PRINTF(f, a)
#define TSL__EACH_TOKEN
#define TSL__SELDOM
#define TSL__COLD
#define TSL__PREFETCH(at) ((void)(at))
#define TSL__PREFETCH_WRITE(at) ((void)(at))
#endif

/* Before a loop of which several turns are done at once: the compiler then makes vectors of
 * these loops and of no others (meson.build). None of its turns depends on another, but for what
 * they all are or-ed or added into. */
#ifdef TSL__SIMD
#define TSL__PRAGMA(text) _Pragma(#text)
#define TSL__AT_ONCE TSL__PRAGMA(omp simd)
#define TSL__AT_ONCE_INTO(operation, sum) TSL__PRAGMA(omp simd reduction(operation : sum))
#else
#define TSL__AT_ONCE
#define TSL__AT_ONCE_INTO(operation, sum)
#endif

/* Builds in which somebody looks after every byte (ASan). */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TSL__WATCHED_MEMORY
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TSL__WATCHED_MEMORY
#endif

/* ---- memory ---------------------------------------------------------------------------------- */

/* The malloc-backed allocator that a NULL tsl_allocator stands for. */
extern const tsl_allocator tsl__malloc;

static inline const tsl_allocator *tsl__allocator_or_default(const tsl_allocator *a) {
  return a ? a : &tsl__malloc;
}
/* NULL when out of memory. Not zeroed. A size of 0 is not allowed: to an allocator it means
 * "free". */
static inline void *tsl__alloc(const tsl_allocator *a, size_t size) {
  return a->reallocate(a->ctx, NULL, 0, size);
}
/* The block with its bytes, which may have moved; NULL when out of memory: the old block is then as
 * it was. */
static inline void *tsl__resize(const tsl_allocator *a, void *p, size_t old_size, size_t new_size) {
  return a->reallocate(a->ctx, p, old_size, new_size);
}
/* `size` is the size that it was allocated with. NULL: nothing. */
static inline void tsl__free(const tsl_allocator *a, void *p, size_t size) {
  if (p) a->reallocate(a->ctx, p, size, 0);
}
/* As tsl__alloc, and all bytes are 0. */
void *tsl__alloc_zero(const tsl_allocator *a, size_t size);

/* Where the next line of the processor's caches begins. What is copied whole and often lies there:
 * with room for a line more. */
#define TSL__LINE 64u
static inline void *tsl__at_line(void *p) { return (char *)p + (-(uintptr_t)p & (TSL__LINE - 1)); }

/* A growable array of T: `typedef TSL__VEC(uint32_t) u32_vec;` Zero-initialised is empty. The
 * allocator is passed to each call, so that the array is three words. */
#define TSL__VEC(T) \
  struct {          \
    T *at;          \
    size_t n, cap;  \
  }
/* Make room for `more` elements; false when out of memory (the array is then as before). */
#define tsl__vec_reserve(a, v, more)           \
  (TSL__LIKELY((v)->n + (more) <= (v)->cap) || \
   tsl__vec_grow((a), (void **)&(v)->at, &(v)->cap, (v)->n + (more), sizeof *(v)->at))
/* Append one element; false when out of memory. */
#define tsl__vec_push(a, v, x) \
  (tsl__vec_reserve((a), (v), 1) ? ((v)->at[(v)->n++] = (x), true) : false)
/* Free the elements' array, not what they point to; the array is empty then. */
#define tsl__vec_free(a, v) \
  (tsl__free((a), (v)->at, (v)->cap * sizeof *(v)->at), (v)->at = NULL, (v)->n = (v)->cap = 0)
#define tsl__vec_memory(v) ((v)->cap * sizeof *(v)->at) /* bytes held */
bool tsl__vec_grow(const tsl_allocator *a, void **at, size_t *cap, size_t need, size_t element);

/* A binary heap of numbers of things: the one that comes before all others is in front. `before`
 * says which of two does. Callers pass a constant, so that it is compiled in place. Pushing and
 * popping cost the logarithm of the number. */
typedef TSL__VEC(uint32_t) tsl__heap;
typedef bool (*tsl__heap_order)(const void *ctx, uint32_t a, uint32_t b);
/* false when out of memory */
static inline bool tsl__heap_push(const tsl_allocator *a, tsl__heap *h, uint32_t number,
                                  tsl__heap_order before, const void *ctx) {
  if (!tsl__vec_push(a, h, number)) return false;
  size_t i = h->n - 1;
  for (; i && before(ctx, number, h->at[(i - 1) / 2]); i = (i - 1) / 2)
    h->at[i] = h->at[(i - 1) / 2];
  h->at[i] = number;
  return true;
}
/* takes the first; h is not empty */
static inline uint32_t tsl__heap_pop(tsl__heap *h, tsl__heap_order before, const void *ctx) {
  uint32_t first = h->at[0], last = h->at[--h->n];
  size_t i = 0;
  for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
    if (child + 1 < h->n && before(ctx, h->at[child + 1], h->at[child])) child++;
    if (!before(ctx, h->at[child], last)) break;
    h->at[i] = h->at[child];
  }
  if (h->n) h->at[i] = last;
  return first;
}

/* A bump allocator whose blocks never move and are freed together. */
typedef struct tsl__arena {
  const tsl_allocator *alloc;
  struct tsl__arena_block *head;
  size_t used, size; /* of the head block, bytes */
  size_t total;      /* bytes held in all blocks */
  uint32_t least;    /* bytes of a block at least; 0: a few */
} tsl__arena;
/* An empty arena, which holds no memory yet. The allocator must live as long as the arena. */
void tsl__arena_init(tsl__arena *arena, const tsl_allocator *a);
/* 8-byte aligned, not zeroed; NULL when out of memory */
void *tsl__arena_alloc(tsl__arena *arena, size_t size);
/* The bytes, copied; of none a place of one byte. NULL when out of memory. */
void *tsl__arena_copy(tsl__arena *arena, const void *data, size_t size);
/* Free all blocks at once. The arena is empty and can be used again. */
void tsl__arena_free(tsl__arena *arena);
/* All that `from` holds is `arena`'s from now on; `from` is empty. Both take from the same
 * allocator. */
void tsl__arena_absorb(tsl__arena *arena, tsl__arena *from);
/* Memory hooks that take from an arena and give nothing back until it is freed: for what has many
 * small parts. Blocks are 8-byte aligned. */
tsl_allocator tsl__arena_hooks(tsl__arena *arena);

/* Some bytes of somebody's; no NUL at the end. */
typedef struct tsl__string {
  const char *at;
  uint32_t length;
} tsl__string;

#define TSL__NO_TEXT ((tsl__string){"", 0})

static inline tsl__string tsl__string_of(const char *word) {
  return (tsl__string){word, (uint32_t)strlen(word)};
}
static inline bool tsl__string_equal(tsl__string a, tsl__string b) {
  return a.length == b.length && (!a.length || !memcmp(a.at, b.at, a.length));
}
/* Is it that word, which a NUL ends? */
static inline bool tsl__string_is(tsl__string s, const char *word) {
  return tsl__string_equal(s, tsl__string_of(word));
}
static inline bool tsl__string_begins(tsl__string s, tsl__string part) {
  return part.length <= s.length && (!part.length || !memcmp(s.at, part.at, part.length));
}
/* Is it one of these words? NULL ends the list. */
bool tsl__string_in(tsl__string s, const char *const *words);
/* The byte where the part first stands in it; UINT32_MAX: nowhere. Cost: the product of the
 * lengths, in the worst case. */
uint32_t tsl__string_find(tsl__string s, tsl__string part);
static inline bool tsl__string_has(tsl__string s, tsl__string part) {
  return tsl__string_find(s, part) != UINT32_MAX;
}

/* Bits that are set: in place, where the processor is not known to count them. */
static inline unsigned tsl__ones(uint64_t w) {
#ifdef __POPCNT__
  return (unsigned)__builtin_popcountll(w);
#else
  w -= w >> 1 & 0x5555555555555555u;
  w = (w & 0x3333333333333333u) + (w >> 2 & 0x3333333333333333u);
  return (unsigned)(((w + (w >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
#endif
}

/* ---- sets of bytes --------------------------------------------------------------------------- */

typedef struct tsl__bytes {
  uint64_t w[4]; /* byte b is bit b % 64 of w[b / 64] */
} tsl__bytes;

static inline bool tsl__bytes_has(const tsl__bytes *s, unsigned b) {
  return (s->w[b >> 6] >> (b & 63)) & 1u;
}
static inline void tsl__bytes_add(tsl__bytes *s, unsigned b) {
  s->w[b >> 6] |= (uint64_t)1 << (b & 63);
}
static inline bool tsl__bytes_empty(const tsl__bytes *s) {
  return !(s->w[0] | s->w[1] | s->w[2] | s->w[3]);
}
static inline bool tsl__bytes_equal(const tsl__bytes *a, const tsl__bytes *b) {
  return !memcmp(a, b, sizeof *a);
}
/* Have the two a byte in common? */
static inline bool tsl__bytes_meet(const tsl__bytes *a, const tsl__bytes *b) {
  return ((a->w[0] & b->w[0]) | (a->w[1] & b->w[1]) | (a->w[2] & b->w[2]) | (a->w[3] & b->w[3])) !=
         0;
}
/* Are all bytes of `a` in `b`? */
static inline bool tsl__bytes_within(const tsl__bytes *a, const tsl__bytes *b) {
  return !((a->w[0] & ~b->w[0]) | (a->w[1] & ~b->w[1]) | (a->w[2] & ~b->w[2]) |
           (a->w[3] & ~b->w[3]));
}
#define TSL__BYTES_ALL ((tsl__bytes){{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}})
static inline void tsl__bytes_or(tsl__bytes *a, const tsl__bytes *b) {
  for (int i = 0; i < 4; i++) a->w[i] |= b->w[i];
}
static inline void tsl__bytes_remove(tsl__bytes *a, const tsl__bytes *b) {
  for (int i = 0; i < 4; i++) a->w[i] &= ~b->w[i];
}
static inline unsigned tsl__bytes_count(const tsl__bytes *s) {
  unsigned n = 0;
  for (int i = 0; i < 4; i++) n += tsl__ones(s->w[i]);
  return n;
}
/* Add to `out` each byte that is in the set while its predecessor is not, or the other way
 * round. */
void tsl__bytes_edges(const tsl__bytes *s, tsl__bytes *out);
/* Both ends included. */
static inline void tsl__bytes_add_range(tsl__bytes *s, unsigned lo, unsigned hi) {
  unsigned first = lo >> 6, last = hi >> 6;
  uint64_t from = UINT64_MAX << (lo & 63), to = UINT64_MAX >> (63 - (hi & 63));
  if (first == last) {
    s->w[first] |= from & to;
    return;
  }
  s->w[first] |= from;
  while (++first < last) s->w[first] = UINT64_MAX;
  s->w[last] |= to;
}

/* ---- digits ---------------------------------------------------------------------------------- */

/* The value of a hexadecimal digit; -1: it is none. */
static inline int tsl__hex_value(uint8_t b) {
  if (b >= '0' && b <= '9') return b - '0';
  b |= 0x20;
  return b >= 'a' && b <= 'f' ? b - 'a' + 10 : -1;
}

/* ---- escapes of JSON ------------------------------------------------------------------------- */

#define TSL__ESCAPE_LETTERS "\"\\/bfnrt" /* of the short ones */
#define TSL__ESCAPED "\"\\/\b\f\n\r\t" /* the characters that these stand for, in the same order */

static inline uint8_t tsl__counterpart(uint32_t c, const char *from, const char *to) {
  const char *at = c && c < 0x80 ? strchr(from, (int)c) : NULL;
  return at ? (uint8_t)to[at - from] : 0;
}
/* May a character, or the first byte of one, stand in a string as itself? */
static inline bool tsl__stands_raw(uint32_t c) { return c >= 0x20 && c != '"' && c != '\\'; }
/* The character that a letter after a backslash stands for; 0: none. */
static inline uint8_t tsl__escaped(uint8_t letter) {
  return tsl__counterpart(letter, TSL__ESCAPE_LETTERS, TSL__ESCAPED);
}
/* The letter of a character's short escape; 0: it has none. */
static inline uint8_t tsl__escape_letter(uint32_t c) {
  return tsl__counterpart(c, TSL__ESCAPED, TSL__ESCAPE_LETTERS);
}

/* Plain strings: a character is written as an escape only if printers have a reason to. It is not a
 * printable ASCII character, or it cannot stand for itself. `hex`: as \uXXXX, which the quote and
 * the backslash never are. */
static inline bool tsl__escapes_plainly(uint32_t c, bool hex) {
  return c < 0x20 || c >= 0x7F || (!hex && (c == '"' || c == '\\'));
}

/* ---- sorting --------------------------------------------------------------------------------- */

/* Sort numbers and drop doubles, in place; returns how many are left. A few runs in order are
 * merged; other arrays are sorted by insertion if small, else by their digits. Needs no memory but
 * 17 KiB of stack, 12 KiB more if they are large. */
size_t tsl__sort_unique(uint32_t *at, size_t n);
/* The same for at most 1,024 numbers in a few runs, each in order; others are left as they are:
 * TSL__NOT_RUNS. */
size_t tsl__sort_runs(uint32_t *at, size_t n);
#define TSL__NOT_RUNS SIZE_MAX

/* Of sorted numbers the first that is not less. */
static inline size_t tsl__lower_bound(const uint32_t *at, size_t n, uint32_t number) {
  size_t lo = 0, hi = n;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (at[mid] < number)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}
/* The same from `from` on, where all before are less: what is near is met soon, what is far in
 * steps that double. */
static inline size_t tsl__bound_from(const uint32_t *at, size_t n, size_t from, uint32_t number) {
  size_t step = 1;
  for (; from + step <= n && at[from + step - 1] < number; step *= 2) from += step;
  if (from == n) return n;
  return from + tsl__lower_bound(at + from, from + step <= n ? step - 1 : n - from, number);
}

/* ---- hashing --------------------------------------------------------------------------------- */

/* Spreads each bit over the whole word. Two words that differ stay different. */
static inline uint64_t tsl__mix(uint64_t h) {
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93u;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93u;
  return h ^ (h >> 32);
}
/* For tables of this process; the same on every machine. Who chooses the data can make hashes meet,
 * so that keys are compared, too. Where they cannot be, see tsl__digest. */
uint64_t tsl__hash(const void *data, size_t size); /* XXH3-64 */

/* XXH3-128 under a secret: equal digests mean equal data, whoever chose it, as long as the secret
 * stays one. */
#define TSL__SECRET 192
typedef struct tsl__digest {
  uint64_t lo, hi;
} tsl__digest;
/* Draw one from the system's source of random bytes; false if it has none. */
bool tsl__secret_draw(uint8_t secret[TSL__SECRET]);

/* ---- time ------------------------------------------------------------------------------------ */

uint64_t tsl__now_us(void); /* of a clock that never goes back; its beginning means nothing */

/* What ends a piece of work early: a flag of the caller, or the time. */
static inline bool tsl__cancelled(const int *flag) {
  return flag && __atomic_load_n(flag, __ATOMIC_RELAXED) != 0;
}
static inline bool tsl__expired(uint64_t deadline) { return deadline && tsl__now_us() >= deadline; }
/* The point in time `span` µs from now; 0 (never) for a span of 0. It is no later than the end of
 * this thread's call. */
uint64_t tsl__deadline_of(uint64_t span);
static inline uint64_t tsl__deadline(uint64_t span) { return span ? tsl__deadline_of(span) : 0; }

/* A call may consist of several pieces of work, and has one deadline for all of them. Until the
 * call ends, tsl__deadline gives no later one in this thread. Calls may lie within one another.
 *
 *     tsl__timed call = tsl__timed_begin(space->work.deadline_us);
 *     …
 *     tsl__timed_end(call);
 *
 * Without a deadline both do nothing. */
typedef struct tsl__timed {
  bool bounded;
  uint64_t outer; /* when the call around this one must end; 0: never */
} tsl__timed;
tsl__timed tsl__timed_bounded(uint64_t span);
void tsl__timed_ended(tsl__timed call);
static inline tsl__timed tsl__timed_begin(uint64_t span) {
  return TSL__UNLIKELY(span) ? tsl__timed_bounded(span) : (tsl__timed){0};
}
static inline void tsl__timed_end(tsl__timed call) {
  if (TSL__UNLIKELY(call.bounded)) tsl__timed_ended(call);
}
/* Of the time that is left to a bounded call: half of it. */
tsl__timed tsl__timed_half(void);

/* What ends a call early. A call makes one when it begins, and hands it to all that it calls. So
 * there is one point in time for the whole call. */
typedef struct tsl__until {
  const int *cancel; /* may be NULL */
  uint64_t deadline; /* 0: never */
} tsl__until;

static inline tsl__until tsl__until_of(const tsl_limits *limits) {
  return limits ? (tsl__until){limits->cancel, tsl__deadline(limits->deadline_us)}
                : (tsl__until){NULL, 0};
}
/* Has the call to end? This looks at the clock, so call it once in some 10 to 100 µs. */
static inline bool tsl__is_over(const tsl__until *until) {
  return until && (tsl__cancelled(until->cancel) || tsl__expired(until->deadline));
}
/* What it says then; the status is TSL_ERR_CANCELLED. */
static inline const char *tsl__why_over(const tsl__until *until) {
  return tsl__cancelled(until->cancel) ? "cancelled" : "deadline_us: out of time";
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Fill *error (may be NULL) and return `status`. Offset, line, column and pointer become 0 and
 * "". */
tsl_status tsl__fail(tsl_error *error, tsl_status status, const char *format, ...)
    TSL__PRINTF(3, 4);
/* The same for a place in `text`: sets offset, line and column (1-based, bytes). */
tsl_status tsl__fail_at(tsl_error *error, tsl_status status, const char *text, size_t length,
                        size_t offset, const char *format, ...) TSL__PRINTF(6, 7);
/* Set the JSON pointer of an error that is already filled; cut at a whole UTF-8 character. error
 * may be NULL. */
void tsl__error_pointer(tsl_error *error, const char *pointer, size_t length);

/* ---- folders --------------------------------------------------------------------------------- */

/* May files of the directory be believed, and written? It is not there yet, or it is this user's or
 * root's, and not everybody may write there. Missing ones are made with mode 0700. */
bool tsl__folder_trusted(const char *directory);

/* ---- UTF-8 ----------------------------------------------------------------------------------- */

/* First bytes of non-ASCII characters as a set: bit 0 for 0xC2, to 0xF4. */
#define TSL__LEAD 0xC2u
#define TSL__LEADS 51u
#define TSL__ALL_LEADS (((uint64_t)1 << TSL__LEADS) - 1)

/* As many bytes of a text as are shown in a message: at most `most`, and whole characters. */
int tsl__shown(const char *text, size_t length, int most);
/* Decode one code point (no surrogates, no overlong forms, up to U+10FFFF). Returns its length in
 * bytes, 0 if invalid or cut off. */
unsigned tsl__utf8_decode(const uint8_t *text, size_t length, uint32_t *cp);
/* Is it made of whole characters alone? */
bool tsl__utf8_valid(const uint8_t *text, size_t length);
/* Encode; returns 1 to 4. cp must be a code point. */
unsigned tsl__utf8_encode(uint32_t cp, uint8_t out[4]);
static inline uint8_t tsl__utf8_first(uint32_t cp) { /* its first byte */
  uint8_t bytes[4];
  tsl__utf8_encode(cp, bytes);
  return bytes[0];
}

#endif
