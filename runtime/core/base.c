/* base.c - arenas, sorting, errors and UTF-8, for all rooms. See base.h.
 *
 * Arena     A block is handed out from its front, and nothing is given back before the whole arena
 *           is freed. A new block is an eighth of what the arena holds: at least 512 bytes, at most
 *           256 KiB. So about an eighth is held and not used. A request for half a block or more
 *           gets a block of its own behind the one in use, whose rest is not lost.
 * Example   An arena holds 80 KiB, so its next block has 10 KiB. A request for 6 KiB that does not
 *           fit gets a block of its own. The next request, for 100 bytes, still comes from the
 *           block in use.
 * Sorting   Sets of numbers mostly come as a few runs in order, as the children of a node are
 *           visited in order. Up to five runs are merged. Other arrays are sorted by insertion, by
 *           their digits with a copy, or in place by their digits, the larger they are.
 * Example   3 5 9 | 4 5 8 | 1 are three runs. The first two become 3 4 5 8 9, where the 5 stands
 *           once; with the third they become 1 3 4 5 8 9.
 * Cost      Arena: a comparison and an addition a request. Sorting: linear in the numbers, for runs
 *           and for digits alike.
 * Tested by tests/core/test_pool.c, tests/masks/test_mask.c, tests/expr/test_charset.c,
 *           tests/engine/test_faults.c (memory that runs out)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/core/base.h"

#include <stdio.h>
#include <stdlib.h>

#define XXH_STATIC_LINKING_ONLY
#define XXH_INLINE_ALL
#include <xxhash.h>

/* The allocator of the C library behind the one function of tsl_allocator: a new size of 0 frees,
 * no block means a new one. */
static void *malloc_hook(void *ctx, void *block, size_t old_size, size_t new_size) {
  (void)ctx;
  (void)old_size;
  if (new_size == 0) {
    free(block);
    return NULL;
  }
  return block ? realloc(block, new_size) : malloc(new_size);
}

const tsl_allocator tsl__malloc = {NULL, malloc_hook};

void *tsl__alloc_zero(const tsl_allocator *a, size_t size) {
  void *p = tsl__alloc(a, size);
  if (p) memset(p, 0, size);
  return p;
}

/* Small arrays double; from 64 elements on they grow by a half, which holds less that is not used.
 * The check against overflow leaves room for the product of two sizes. */
bool tsl__vec_grow(const tsl_allocator *a, void **at, size_t *cap, size_t need, size_t element) {
  size_t grown = *cap < 8 ? 8 : *cap < 64 ? 2 * *cap : *cap + *cap / 2;
  if (grown < need) grown = need;
  if (grown > SIZE_MAX / 2 / element) return false;
  void *p = tsl__resize(a, *at, *cap * element, grown * element);
  if (!p) return false;
  *at = p;
  *cap = grown;
  return true;
}

/* ---- time ------------------------------------------------------------------------------------ */

/* When the call of this thread must end; 0: never. */
static _Thread_local uint64_t call_until;

static uint64_t earlier(uint64_t a, uint64_t b) { return b && b < a ? b : a; }

uint64_t tsl__deadline_of(uint64_t span) {
  uint64_t now = tsl__now_us();
  return earlier(span > UINT64_MAX - now ? UINT64_MAX : now + span, call_until);
}

tsl__timed tsl__timed_bounded(uint64_t span) {
  const tsl__timed call = {true, call_until};
  call_until = tsl__deadline_of(span);
  return call;
}

tsl__timed tsl__timed_half(void) {
  const tsl__timed call = {call_until != 0, call_until};
  uint64_t now = call.bounded ? tsl__now_us() : 0;
  if (call_until > now) call_until = now + (call_until - now) / 2;
  return call;
}

void tsl__timed_ended(tsl__timed call) { call_until = call.outer; }

/* ---- arena ----------------------------------------------------------------------------------- */

/* Under ASan a gap follows what is handed out, and nobody may look there. */
#ifdef TSL__WATCHED_MEMORY
#include <sanitizer/asan_interface.h>
#define GAP 16u
#else
#define GAP 0u
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

struct tsl__arena_block {
  struct tsl__arena_block *next;
  size_t size; /* of the whole block, header included */
};

void tsl__arena_init(tsl__arena *arena, const tsl_allocator *a) {
  memset(arena, 0, sizeof *arena);
  arena->alloc = a;
}

#define BLOCK_LEAST 512u /* bytes of a block, its head included */
#define BLOCK_MOST ((size_t)1 << 18)

/* A block for at least `size` bytes; NULL when out of memory. */
static struct tsl__arena_block *new_block(tsl__arena *arena, size_t size) {
  struct tsl__arena_block *b = tsl__alloc(arena->alloc, size + sizeof *b);
  if (!b) return NULL;
  b->size = size + sizeof *b;
  arena->total += b->size;
  return b;
}

/* What is handed out: the first bytes of some that the arena has set aside for it. */
static void *gap_after(void *at, size_t wanted, size_t held) {
  ASAN_UNPOISON_MEMORY_REGION(at, wanted);
  ASAN_POISON_MEMORY_REGION((char *)at + wanted, held - wanted);
  return at;
}

/* So many are handed out of the block in use. */
static inline void *take(tsl__arena *arena, size_t wanted, size_t held) {
  void *p = (char *)(arena->head + 1) + arena->used;
  arena->used += held;
  return gap_after(p, wanted, held);
}

/* From a new block. Blocks grow with what there is, an eighth of it each: little is held that is
 * not used. */
static TSL__SELDOM void *take_anew(tsl__arena *arena, size_t wanted, size_t held) {
  size_t block = arena->total / 8, least = arena->least ? arena->least : BLOCK_LEAST;
  if (block < least) block = least;
  if (block > BLOCK_MOST) block = BLOCK_MOST;
  bool alone = arena->head && held >= block / 2; /* a block of its own, behind the one in use */
  struct tsl__arena_block *b =
      new_block(arena, alone || held > block - sizeof *b ? held : block - sizeof *b);
  if (!b) return NULL;
  b->next = alone ? arena->head->next : arena->head;
  if (alone) {
    arena->head->next = b;
    return gap_after(b + 1, wanted, held);
  }
  arena->head = b;
  arena->used = 0;
  arena->size = b->size - sizeof *b;
  return take(arena, wanted, held);
}

void *tsl__arena_alloc(tsl__arena *arena, size_t size) {
  size_t held = ((size + 7) & ~(size_t)7) + GAP;
  return TSL__LIKELY(held <= arena->size - arena->used) ? take(arena, size, held)
                                                        : take_anew(arena, size, held);
}

void *tsl__arena_copy(tsl__arena *arena, const void *data, size_t size) {
  void *p = tsl__arena_alloc(arena, size ? size : 1);
  if (p && size) memcpy(p, data, size);
  return p;
}

void tsl__arena_free(tsl__arena *arena) {
  for (struct tsl__arena_block *b = arena->head, *next; b; b = next) {
    next = b->next;
    ASAN_UNPOISON_MEMORY_REGION(b, b->size);
    tsl__free(arena->alloc, b, b->size);
  }
  tsl__arena_init(arena, arena->alloc);
}

/* The blocks of `from` go behind all of ours. The block in use stays in front, unless we had none:
 * then that of `from` is in use. */
void tsl__arena_absorb(tsl__arena *arena, tsl__arena *from) {
  struct tsl__arena_block **end = &arena->head;
  while (*end) end = &(*end)->next;
  *end = from->head;
  if (end == &arena->head) arena->used = from->used, arena->size = from->size;
  arena->total += from->total;
  tsl__arena_init(from, from->alloc);
}

/* What was handed out last can grow and shrink in place, as a growing text does. Any other block
 * that must grow is copied, and its old bytes lie there until the arena is freed. */
static void *arena_hook(void *ctx, void *block, size_t old_size, size_t new_size) {
  tsl__arena *arena = ctx;
  size_t held = (old_size + 7) & ~(size_t)7, wanted = (new_size + 7) & ~(size_t)7;
  bool last =
      block && arena->head && (char *)block + held == (char *)(arena->head + 1) + arena->used;
  if (!new_size) {
    if (last) arena->used -= held;
    return NULL;
  }
  if (wanted <= held) return gap_after(block, new_size, held);
  if (last && wanted - held <= arena->size - arena->used)
    return arena->used += wanted - held, block;
  void *p = tsl__arena_alloc(arena, new_size);
  if (p && block) memcpy(p, block, old_size);
  return p;
}

tsl_allocator tsl__arena_hooks(tsl__arena *arena) { return (tsl_allocator){arena, arena_hook}; }

/* ---- strings --------------------------------------------------------------------------------- */

bool tsl__string_in(tsl__string s, const char *const *words) {
  while (*words && !tsl__string_is(s, *words)) words++;
  return *words != NULL;
}

uint32_t tsl__string_find(tsl__string s, tsl__string part) {
  if (!part.length) return 0;
  if (part.length > s.length) return UINT32_MAX; /* there may be no text to point at */
  const char *at = s.at, *end = s.at + s.length;
  for (; (size_t)(end - at) >= part.length; at++) {
    at = memchr(at, part.at[0], (size_t)(end - at) - part.length + 1);
    if (!at) return UINT32_MAX;
    if (!memcmp(at, part.at, part.length)) return (uint32_t)(at - s.at);
  }
  return UINT32_MAX;
}

/* ---- byte sets, hashing ---------------------------------------------------------------------- */

/* A byte is an edge if its bit differs from the bit before it. The set {b, c} has the edges b and
 * d: two classes of bytes begin there. */
void tsl__bytes_edges(const tsl__bytes *s, tsl__bytes *out) {
  uint64_t carry = s->w[0] & 1; /* nothing comes before byte 0 */
  for (int i = 0; i < 4; i++) {
    out->w[i] |= s->w[i] ^ (s->w[i] << 1 | carry);
    carry = s->w[i] >> 63;
  }
}

/* For few numbers: no counters have to be cleared. */
static void sort_by_insertion(uint32_t *at, size_t n) {
  for (size_t i = 1; i < n; i++) {
    uint32_t t = at[i];
    size_t j = i;
    for (; j > 0 && at[j - 1] > t; j--) at[j] = at[j - 1];
    at[j] = t;
  }
}

#define RADIX_MAX 2048u

/* Least digit first, eight bits at a time; digits that are all the same are passed over. */
static void sort_by_radix(uint32_t *at, size_t n) {
  uint32_t other[RADIX_MAX], differ = 0;
  uint32_t *from = at, *to = other;
  TSL__AT_ONCE_INTO(|, differ)
  for (size_t i = 1; i < n; i++) differ |= at[i] ^ at[0];
  for (unsigned shift = 0; shift < 32; shift += 8) {
    uint32_t place[256] = {0}, sum = 0;
    if (!(differ >> shift & 0xFF)) continue;
    for (size_t i = 0; i < n; i++) place[from[i] >> shift & 0xFF]++;
    for (unsigned d = 0; d < 256; d++) {
      uint32_t count = place[d];
      place[d] = sum;
      sum += count;
    }
    for (size_t i = 0; i < n; i++) to[place[from[i] >> shift & 0xFF]++] = from[i];
    uint32_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != at) memcpy(at, from, n * sizeof *at);
}

#define INSERTED_MAX 12u  /* up to so many are inserted, runs or not */
#define INSERTED_LAST 44u /* and so many in the end: fewer than the digits that are counted else */

/* The numbers by the highest eight of the bits in which they differ, in place. Each is put where
 * its digit has its place, until what lies there has it. *end: of each digit, where its numbers
 * end. False: they are all the same. */
static bool part(uint32_t *at, size_t n, size_t end[256]) {
  size_t place[256] = {0}, sum = 0;
  uint32_t differ = 0;
  for (size_t i = 1; i < n; i++) differ |= at[i] ^ at[0];
  if (!differ) return false;
  unsigned shift = differ >> 8 ? 24 - (unsigned)__builtin_clz(differ) : 0;
  for (size_t i = 0; i < n; i++) place[at[i] >> shift & 0xFF]++;
  for (unsigned d = 0; d < 256; d++) {
    size_t count = place[d];
    place[d] = sum;
    end[d] = sum += count;
  }
  for (unsigned d = 0; d < 256; d++)
    while (place[d] < end[d]) {
      uint32_t *here = &at[place[d]], *there = &at[place[*here >> shift & 0xFF]++], swap = *there;
      *there = *here;
      *here = swap;
    }
  return true;
}

/* Many are parted first: as often as a number has digits, at most. */
static void sort(uint32_t *at, size_t n) {
  size_t end[256];
  if (n <= INSERTED_LAST)
    sort_by_insertion(at, n);
  else if (n <= RADIX_MAX)
    sort_by_radix(at, n);
  else if (part(at, n, end))
    for (unsigned d = 0; d < 256; d++)
      sort(at + (d ? end[d - 1] : 0), end[d] - (d ? end[d - 1] : 0));
}

#define RUNS_MAX 5u
#define MERGED_MAX 1024u

/* Two lists in order, to one; `out` overlaps neither. */
static size_t merge(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                    uint32_t *out) {
  size_t i = 0, k = 0, n = 0;
  while (i < a_count && k < b_count) {
    uint32_t x = a[i], y = b[k];
    out[n++] = x < y ? x : y;
    i += x <= y;
    k += y <= x;
  }
  memcpy(out + n, a + i, (a_count - i) * sizeof *out);
  n += a_count - i;
  memcpy(out + n, b + k, (b_count - k) * sizeof *out);
  return n + b_count - k;
}

/* Find where runs begin, then merge them one after the other. The two copies take turns, so that no
 * merge reads what it writes. */
size_t tsl__sort_runs(uint32_t *at, size_t n) {
  uint32_t other[2][MERGED_MAX];
  size_t begin[RUNS_MAX + 1], runs = 0;
  for (size_t i = 0; i < n; i++) {
    if (i && at[i] > at[i - 1]) continue;
    if (runs == RUNS_MAX) return TSL__NOT_RUNS;
    begin[runs++] = i;
  }
  if (runs < 2) return n;
  if (n > MERGED_MAX) return TSL__NOT_RUNS;
  begin[runs] = n;
  const uint32_t *merged = at;
  size_t count = begin[1];
  for (size_t r = 1; r < runs; r++) {
    count = merge(merged, count, at + begin[r], begin[r + 1] - begin[r], other[r & 1]);
    merged = other[r & 1];
  }
  memcpy(at, merged, count * sizeof *at);
  return count;
}

/* Runs are merged, which drops doubles by itself; after the other ways doubles lie side by side. */
size_t tsl__sort_unique(uint32_t *at, size_t n) {
  size_t out = n > INSERTED_MAX ? tsl__sort_runs(at, n) : TSL__NOT_RUNS;
  if (out != TSL__NOT_RUNS) return out;
  sort(at, n);
  out = 0;
  for (size_t i = 0; i < n; i++)
    if (out == 0 || at[out - 1] != at[i]) at[out++] = at[i];
  return out;
}

uint64_t tsl__hash(const void *data, size_t size) { return XXH3_64bits(data, size); }

/* ---- status and errors ----------------------------------------------------------------------- */

const char *tsl_status_name(tsl_status status) {
  switch (status) {
#define TSL__STATUS(name, value) \
  case name: return #name;
#include "runtime/core/status.def"
#undef TSL__STATUS
  }
  return "unknown status";
}

#define TSL__STATUS(name, value) _Static_assert(name == value, "status numbers are pinned");
#include "runtime/core/status.def"
#undef TSL__STATUS

#define TSL__TEXT2(x) #x
#define TSL__TEXT(x) TSL__TEXT2(x)
const char *tsl_version(void) {
  return TSL__TEXT(TSL_VERSION_MAJOR) "." TSL__TEXT(TSL_VERSION_MINOR) "." TSL__TEXT(
      TSL_VERSION_PATCH);
}

/* Drop what is no UTF-8: parts of characters that were cut, and bytes of a text that is quoted. */
static void keep_whole_characters(char *text) {
  size_t n = strlen(text), kept = 0;
  for (size_t i = 0, m; i < n; i += m ? m : 1) {
    uint32_t cp;
    m = tsl__utf8_decode((const uint8_t *)text + i, n - i, &cp);
    memmove(text + kept, text + i, m);
    kept += m;
  }
  text[kept] = 0;
}

/* The message is cut at the end of its room, and names in it at the end of theirs. */
static void fill(tsl_error *error, tsl_status status, const char *format, va_list args) {
  memset(error, 0, sizeof *error);
  error->status = status;
  vsnprintf(error->message, sizeof error->message, format, args);
  keep_whole_characters(error->message);
}

tsl_status tsl__fail(tsl_error *error, tsl_status status, const char *format, ...) {
  if (error) {
    va_list args;
    va_start(args, format);
    fill(error, status, format, args);
    va_end(args);
  }
  return status;
}

tsl_status tsl__fail_at(tsl_error *error, tsl_status status, const char *text, size_t length,
                        size_t offset, const char *format, ...) {
  if (!error) return status;
  va_list args;
  va_start(args, format);
  fill(error, status, format, args);
  va_end(args);
  if (offset > length) offset = length;
  error->offset = offset;
  error->line = 1;
  size_t start = 0;
  for (size_t i = 0; i < offset; i++)
    if (text[i] == '\n') error->line++, start = i + 1;
  error->column = (uint32_t)(offset - start + 1);
  return status;
}

void tsl__error_pointer(tsl_error *error, const char *pointer, size_t length) {
  if (!error) return;
  if (length > sizeof error->pointer - 1) length = sizeof error->pointer - 1;
  memcpy(error->pointer, pointer, length);
  error->pointer[length] = 0;
  keep_whole_characters(error->pointer);
}

/* ---- UTF-8 ----------------------------------------------------------------------------------- */

int tsl__shown(const char *text, size_t length, int most) {
  if (length <= (size_t)most) return (int)length;
  int n = most;
  while (n && ((uint8_t)text[n] & 0xC0) == 0x80) n--;
  return n;
}

/* The length is in the first byte. Refused are first bytes that would make overlong forms (C0, C1)
 * or pass U+10FFFF (F5 and up). Refused are then surrogates, and overlong forms of three and four
 * bytes. */
unsigned tsl__utf8_decode(const uint8_t *t, size_t length, uint32_t *cp) {
  if (length == 0) return 0;
  if (t[0] < 0x80) return *cp = t[0], 1;
  unsigned n = t[0] >= 0xF0 ? 4 : t[0] >= 0xE0 ? 3 : 2;
  if (t[0] < 0xC2 || t[0] > 0xF4 || n > length) return 0;
  uint32_t c = t[0] & (0x7Fu >> n);
  for (unsigned i = 1; i < n; i++) {
    if ((t[i] & 0xC0) != 0x80) return 0;
    c = c << 6 | (t[i] & 0x3F);
  }
  if ((n == 3 && (c < 0x800 || (c >= 0xD800 && c <= 0xDFFF))) ||
      (n == 4 && (c < 0x10000 || c > 0x10FFFF)))
    return 0;
  return *cp = c, n;
}

bool tsl__utf8_valid(const uint8_t *text, size_t length) {
  uint32_t cp;
  for (size_t i = 0; i < length;) {
    unsigned n = tsl__utf8_decode(text + i, length - i, &cp);
    if (!n) return false;
    i += n;
  }
  return true;
}

/* From the last byte to the first, six bits each. 0xF00 >> n has n ones where the first byte says
 * its length: n = 2 gives 110xxxxx. */
unsigned tsl__utf8_encode(uint32_t cp, uint8_t out[4]) {
  if (cp < 0x80) return out[0] = (uint8_t)cp, 1;
  unsigned n = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
  for (unsigned i = n - 1; i > 0; i--, cp >>= 6) out[i] = (uint8_t)(0x80 | (cp & 0x3F));
  out[0] = (uint8_t)((0xF00u >> n & 0xF0) | cp);
  return n;
}
