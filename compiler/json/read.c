/* read.c - JSON text to a tree. See json.h.
 *
 * Idea      One pass with an explicit stack. Some values are finished, but their container is still
 *           open. They lie on `stack`, after the container's own node. Until the container's end
 *           that node says where the one around it is. At the end of a container its children move
 *           to the arena as one block.
 * Place     Where the reader stands is handed from function to function and so stays in a register:
 *           each returns where it stopped, NULL after a failure.
 * Strings   are looked at sixteen or eight bytes at a time: what is ASCII, no quote, no backslash
 *           and no control character needs no second look. A string without escapes is not copied.
 * Strict    RFC 8259 to the letter: no comments, no byte order mark, no leading zeros, no control
 *           characters in strings; UTF-8 without overlong forms and surrogates. An escape that is
 *           half of a surrogate pair is an error too: it is no text.
 * Time      Every LOOK_BYTES the reader looks whether its time is over. Within a string, text that
 *           needs no second look is read so fast that 16 MB of it take a millisecond.
 * Cost      About 1 ns a byte.
 * Tested by tests/json/test_json.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/json/fault.h"
#include "compiler/json/json.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define LOOK_BYTES (1u << 16)

typedef struct reader {
  tsl__arena *arena;
  const tsl__until *until; /* NULL: it takes the time that it takes */
  const char *look;        /* where to look at the time */
  const tsl_allocator *alloc;
  const char *text, *end;
  TSL__VEC(tsl__json) stack;
  /* index into stack of the innermost open container's own node, whose `end` is that of the one
   * around it until it ends */
  uint32_t inner;
  uint32_t open; /* containers that are open */
  bool object;   /* the innermost one is an object */
  uint32_t max_depth;
  tsl__string key; /* of the value to come */
  uint32_t names;  /* members so far that may name a schema (json.h) */
  tsl_status status;
  const char *message;
  const char *where; /* of the failure */
} reader;

static TSL__SELDOM const char *fail(reader *r, tsl_status status, const char *where,
                                    const char *message) {
  r->status = status;
  r->where = where;
  r->message = message;
  return NULL;
}

static TSL__SELDOM const char *wrong(reader *r, const char *where, const char *message) {
  return fail(r, TSL_ERR_SYNTAX, where, message);
}
static TSL__SELDOM const char *no_memory(reader *r) {
  return fail(r, TSL_ERR_NO_MEMORY, r->text, "out of memory");
}

/* At p, which is past r->look: has the call to end? */
static TSL__SELDOM bool is_over(reader *r, const char *p) {
  r->look = (size_t)(r->end - p) > LOOK_BYTES ? p + LOOK_BYTES : r->end;
  if (!tsl__is_over(r->until)) return false;
  fail(r, TSL_ERR_CANCELLED, p, tsl__why_over(r->until));
  return true;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static inline tsl__json *push(reader *r, unsigned kind, const char *from) {
  if (!tsl__vec_reserve(r->alloc, &r->stack, 1)) return no_memory(r), NULL;
  tsl__json *node = &r->stack.at[r->stack.n++];
  node->key = r->key.at;
  node->text = NULL;
  node->key_length = r->key.length;
  node->length = 0;
  node->offset = (uint32_t)(from - r->text);
  node->end = 0;
  node->kind = kind & 7u;
  node->names = 0;
  node->repeated = 0;
  node->user = 0;
  r->key = (tsl__string){NULL, 0};
  return node;
}

/* Move `from` onto `onto`, which stays where it is; true if it was a double. */
static bool merge(tsl__json *onto, const tsl__json *from) {
  if (!tsl__json_same_key(onto, from)) return false;
  *onto = *from;
  onto->repeated = 1;
  return true;
}

#define FEW 40u /* keys at most whose bytes are mostly different */

/* A byte that few other keys of an object have. */
static inline uint8_t byte_of(const tsl__json *m) {
  uint32_t n = m->key_length;
  return n ? (uint8_t)(19 * n + 5u * (uint8_t)m->key[n - 1] + (uint8_t)m->key[n / 2]) : 0;
}

/* Keys are compared only where two have the same byte. */
static uint32_t unique_few(tsl__json *m, uint32_t n) {
  uint64_t met[4] = {0};
  uint32_t kept = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint8_t byte = byte_of(&m[i]);
    uint32_t j = met[byte >> 6] >> (byte & 63) & 1 ? 0 : kept;
    met[byte >> 6] |= (uint64_t)1 << (byte & 63);
    while (j < kept && !merge(&m[j], &m[i])) j++;
    if (j == kept && kept++ != i) m[j] = m[i];
  }
  return kept;
}

/* The same with a hash table of indices + 1. Returns UINT32_MAX when out of memory. */
static uint32_t unique_many(const tsl_allocator *a, tsl__json *m, uint32_t n) {
  size_t slots = 64;
  while (slots < (size_t)n * 2) slots *= 2;
  uint32_t *table = tsl__alloc_zero(a, slots * sizeof *table), kept = 0;
  if (!table) return UINT32_MAX;
  for (uint32_t i = 0; i < n; i++) {
    size_t slot = (size_t)tsl__hash(m[i].key, m[i].key_length) & (slots - 1);
    while (table[slot] && !merge(&m[table[slot] - 1], &m[i])) slot = (slot + 1) & (slots - 1);
    if (table[slot]) continue;
    m[kept++] = m[i];
    table[slot] = kept;
  }
  tsl__free(a, table, slots * sizeof *table);
  return kept;
}

static inline const char *begin(reader *r, const char *p, unsigned kind) {
  if (r->open >= r->max_depth) return fail(r, TSL_ERR_LIMIT, p, "nested deeper than max_depth");
  tsl__json *node = push(r, kind, p);
  if (!node) return NULL;
  node->length = r->names; /* these two until its end */
  node->end = r->inner;
  r->inner = (uint32_t)(node - r->stack.at);
  r->object = kind == TSL__JSON_OBJECT;
  r->open++;
  return p + 1;
}

/* The innermost container ends with the byte at p. */
static const char *end(reader *r, const char *p) {
  tsl__json *node = &r->stack.at[r->inner], *children = node + 1;
  uint32_t n = (uint32_t)r->stack.n - r->inner - 1;
  if (r->object && n > 1)
    n = n <= FEW ? unique_few(children, n) : unique_many(r->alloc, children, n);
  if (n == UINT32_MAX) return no_memory(r);
  r->stack.n = r->inner + 1;
  r->inner = node->end;
  r->object = --r->open && r->stack.at[r->inner].kind == TSL__JSON_OBJECT;
  node->names = node->length != r->names;
  node->length = n;
  node->items = NULL;
  node->end = (uint32_t)(p + 1 - r->text);
  if (n && !(node->items = tsl__arena_copy(r->arena, children, n * sizeof *children)))
    return no_memory(r);
  return p + 1;
}

/* ---- strings --------------------------------------------------------------------------------- */

#define ONES 0x0101010101010101ull
#define HIGHS 0x8080808080808080ull

/* Past bytes that are plain text: in sixteens where there is SSE2, in eights, then one by one. In
 * an eight the lowest mark is exact: a borrow comes from a byte that bears a mark itself. As signed
 * numbers control characters and what is not ASCII are below a space. */
static inline const char *skip_plain(const char *p, const char *stop) {
#ifdef __SSE2__
  for (; stop - p >= 16; p += 16) {
    __m128i w = _mm_loadu_si128((const __m128i *)(const void *)p),
            quote = _mm_cmpeq_epi8(w, _mm_set1_epi8('"')),
            escape = _mm_cmpeq_epi8(w, _mm_set1_epi8('\\'));
    int special = _mm_movemask_epi8(
        _mm_or_si128(_mm_or_si128(quote, escape), _mm_cmplt_epi8(w, _mm_set1_epi8(' '))));
    if (special) return p + __builtin_ctz((unsigned)special);
  }
#endif
  for (; stop - p >= 8; p += 8) {
    uint64_t w;
    memcpy(&w, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    w = __builtin_bswap64(w);
#endif
    uint64_t special =
        (((w ^ (ONES * '"')) - ONES) | ((w ^ (ONES * '\\')) - ONES) | (w - ONES * 0x20) | w) &
        HIGHS;
    if (special) return p + __builtin_ctzll(special) / 8;
  }
  while (p < stop && (uint8_t)*p < 0x80 && tsl__stands_raw((uint8_t)*p)) p++;
  return p;
}

size_t tsl__json_sequence(const char *p, const char *stop) {
  uint8_t c = (uint8_t)*p, low = 0x80, high = 0xBF;
  size_t n = c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
  if (!n || (size_t)(stop - p) < n) return 0;
  if (c == 0xE0) low = 0xA0;
  if (c == 0xED) high = 0x9F;
  if (c == 0xF0) low = 0x90;
  if (c == 0xF4) high = 0x8F;
  if ((uint8_t)p[1] < low || (uint8_t)p[1] > high) return 0;
  for (size_t i = 2; i < n; i++)
    if (((uint8_t)p[i] & 0xC0) != 0x80) return 0;
  return n;
}

static bool hex4(const char *p, const char *stop, unsigned *out) {
  *out = 0;
  if (stop - p < 4) return false;
  for (int i = 0; i < 4; i++) {
    int digit = tsl__hex_value((uint8_t)p[i]);
    if (digit < 0) return false;
    *out = *out * 16 + (unsigned)digit;
  }
  return true;
}

/* The escape at p; where it ends, or NULL after a failure. What it stands for is written to *out,
 * which moves on; never longer than the escape. */
static const char *escape(reader *r, const char *p, char **out) {
  uint8_t means = p + 1 < r->end ? tsl__escaped((uint8_t)p[1]) : 0;
  unsigned unit, low;
  if (means) return *(*out)++ = (char)means, p + 2;
  if (p + 1 >= r->end || p[1] != 'u')
    return wrong(r, p + 1,
                 "no such escape: a backslash is written twice, as in the pattern \"\\\\d\"");
  if (!hex4(p + 2, r->end, &unit))
    return wrong(r, p + 1, "an escape with u has four hexadecimal digits: \\u00e9");
  if (unit < 0xD800 || unit > 0xDFFF) return *out += tsl__utf8_encode(unit, (uint8_t *)*out), p + 6;
  if (unit > 0xDBFF || r->end - p < 8 || p[6] != '\\' || p[7] != 'u' ||
      !hex4(p + 8, r->end, &low) || low < 0xDC00 || low > 0xDFFF)
    return wrong(r, p, "a lone surrogate is not a character");
  *out += tsl__utf8_encode(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00), (uint8_t *)*out);
  return p + 12;
}

/* From the first escape at p on; `from` is the string's first byte. Where the quote is. */
static const char *decoded(reader *r, const char *from, const char *p, tsl__string *text) {
  const char *quote = p;
  while (quote < r->end && *quote != '"') quote += *quote == '\\' && quote + 1 < r->end ? 2 : 1;
  char *copy = tsl__arena_alloc(r->arena, (size_t)(quote - from) + 1), *out = copy;
  if (!copy) return no_memory(r);
  memcpy(out, from, (size_t)(p - from));
  out += p - from;
  while (p < r->end && *p != '"') {
    const char *stop = skip_plain(p, r->end);
    memcpy(out, p, (size_t)(stop - p));
    out += stop - p;
    p = stop;
    if (p >= r->end || *p == '"') break;
    if (p > r->look && is_over(r, p)) return NULL;
    if (*p == '\\') {
      if (!(p = escape(r, p, &out))) return NULL;
      continue;
    }
    size_t n = (uint8_t)*p < 0x20 ? 0 : tsl__json_sequence(p, r->end);
    if (!n)
      return wrong(r, p,
                   (uint8_t)*p < 0x20 ? "a control character in a string must be escaped"
                                      : "no UTF-8");
    while (n--) *out++ = *p++;
  }
  *text = (tsl__string){copy, (uint32_t)(out - copy)};
  return p;
}

/* The same, of which p is the first byte that needs a look. */
static TSL__SELDOM const char *string_on(reader *r, const char *from, const char *p,
                                         tsl__string *text) {
  for (;; p = skip_plain(p, r->end)) {
    if (p >= r->end || *p == '"') break;
    if (p > r->look && is_over(r, p)) return NULL;
    if (*p == '\\') {
      if (!(p = decoded(r, from, p, text))) return NULL;
      if (p >= r->end) break;
      return p + 1;
    }
    size_t n = (uint8_t)*p < 0x20 ? 0 : tsl__json_sequence(p, r->end);
    if (!n)
      return wrong(r, p,
                   (uint8_t)*p < 0x20 ? "a control character in a string must be escaped"
                                      : "no UTF-8");
    p += n;
  }
  if (p >= r->end) return wrong(r, from - 1, "the string that begins here has no end");
  *text = (tsl__string){from, (uint32_t)(p - from)};
  return p + 1;
}

/* The string whose opening quote is at p. */
static inline const char *string(reader *r, const char *p, tsl__string *text) {
  const char *from = p + 1;
  p = skip_plain(from, r->end);
  if (p >= r->end || *p != '"') return string_on(r, from, p, text);
  *text = (tsl__string){from, (uint32_t)(p - from)};
  return p + 1;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool is_digit(const reader *r, const char *p) {
  return p < r->end && *p >= '0' && *p <= '9';
}

static const char *digits(const reader *r, const char *p) {
  while (is_digit(r, p)) p++;
  return p;
}

static const char *number(reader *r, const char *from) {
  const char *p = from + (*from == '-');
  if (!is_digit(r, p))
    return wrong(r, p,
                 *from == '-' ? "a digit must follow the minus sign" : "a value must stand here");
  p = *p == '0' ? p + 1 : digits(r, p);
  if (is_digit(r, p)) return wrong(r, p, "a number has no leading zeros");
  if (p < r->end && *p == '.') {
    if (!is_digit(r, ++p)) return wrong(r, p, "a digit must follow the point");
    p = digits(r, p);
  }
  if (p < r->end && (*p == 'e' || *p == 'E')) {
    p++;
    if (p < r->end && (*p == '+' || *p == '-')) p++;
    if (!is_digit(r, p)) return wrong(r, p, "an exponent has digits");
    p = digits(r, p);
  }
  tsl__json *node = push(r, TSL__JSON_NUMBER, from);
  if (!node) return NULL;
  node->text = from;
  node->length = (uint32_t)(p - from);
  return p;
}

static inline const char *word(reader *r, const char *p, const char *what, size_t n,
                               unsigned kind) {
  if ((size_t)(r->end - p) >= n && !memcmp(p, what, n)) return push(r, kind, p) ? p + n : NULL;
  while (p < r->end && *p == *what) p++, what++;
  return wrong(r, p, "a value must stand here");
}

static bool is_name(const tsl__string *key) {
  switch (key->length) {
  case 2: return !memcmp(key->at, "id", 2);
  case 3: return !memcmp(key->at, "$id", 3);
  case 7: return !memcmp(key->at, "$anchor", 7);
  case 14: return !memcmp(key->at, "$dynamicAnchor", 14);
  default: return false;
  }
}

static inline const char *text_value(reader *r, const char *from) {
  tsl__string text;
  const char *p = string(r, from, &text);
  r->names += r->key.length && (*r->key.at == '$' || *r->key.at == 'i') && is_name(&r->key);
  tsl__json *node = p ? push(r, TSL__JSON_STRING, from) : NULL;
  if (!node) return NULL;
  node->text = text.at;
  node->length = text.length;
  return p;
}

static inline bool is_space(char c) {
  return (uint8_t)c <= ' ' && (c == ' ' || c == '\n' || c == '\t' || c == '\r');
}

static inline const char *space(const reader *r, const char *p) {
  while (p < r->end && is_space(*p)) p++;
  return p;
}

/* To the next byte of a container; there must be one. */
static inline const char *inside(reader *r, const char *p) {
  p = space(r, p);
  return p < r->end
             ? p
             : wrong(r, r->end,
                     r->object ? "an object has no end: a } is missing, or the text is cut off"
                               : "an array has no end: a ] is missing, or the text is cut off");
}

/* A key and its colon. */
static inline const char *key(reader *r, const char *p) {
  if (!(p = inside(r, p))) return NULL;
  if (*p != '"') return wrong(r, p, "the key of a member must stand here");
  if (!(p = string(r, p, &r->key)) || !(p = inside(r, p))) return NULL;
  return *p == ':' ? p + 1 : wrong(r, p, "a colon must follow the key");
}

/* A scalar, or the beginning of a container (*opened). */
static inline const char *value(reader *r, const char *p, bool *opened) {
  *opened = false;
  p = space(r, p);
  if (p == r->end) return wrong(r, p, "a value must stand here");
  switch (*p) {
  case '{': *opened = true; return begin(r, p, TSL__JSON_OBJECT);
  case '[': *opened = true; return begin(r, p, TSL__JSON_ARRAY);
  case '"': return text_value(r, p);
  case 't': return word(r, p, "true", 4, TSL__JSON_TRUE);
  case 'f': return word(r, p, "false", 5, TSL__JSON_FALSE);
  case 'n': return word(r, p, "null", 4, TSL__JSON_NULL);
  default: return number(r, p);
  }
}

/* After a value: end the containers that end here. *more: a comma asks for another value. */
static inline const char *after(reader *r, const char *p, bool *more) {
  *more = false;
  while (r->open) {
    if (!(p = inside(r, p))) return NULL;
    if (*p == ',') return *more = true, p + 1;
    if (*p != (r->object ? '}' : ']'))
      return wrong(r, p,
                   r->object ? "a comma or } must stand here" : "a comma or ] must stand here");
    if (!(p = end(r, p))) return NULL;
  }
  return p;
}

static const char *run(reader *r, const char *p) {
  for (bool opened, more = true; more;) {
    if (TSL__UNLIKELY(p > r->look) && is_over(r, p)) return NULL;
    if (r->object && !(p = key(r, p))) return NULL;
    if (!(p = value(r, p, &opened))) return NULL;
    if (opened) { /* an empty container has no value */
      if (!(p = inside(r, p))) return NULL;
      if (*p != (r->object ? '}' : ']')) continue;
      if (!(p = end(r, p))) return NULL;
    }
    if (!(p = after(r, p, &more))) return NULL;
  }
  p = space(r, p);
  return p == r->end ? p : wrong(r, p, "nothing may follow the value");
}

/* bytes that even the smallest text's tree and its owner's notes take; a longer one's take as much
 * as the text, and mostly more */
#define TREE_LEAST 512u
/* bytes of a text up to which room for its tree is requested together with its own */
#define FORESEEN (1u << 16)

/* A copy of the text, in a block in which its tree has room too, as far as it is certain to take
 * it. */
static const char *copy_text(tsl__arena *arena, const char *text, size_t length) {
  uint32_t least = arena->least;
  if (length < FORESEEN) arena->least = 2 * (uint32_t)length + TREE_LEAST;
  const char *copy = tsl__arena_copy(arena, text, length);
  arena->least = least;
  return copy;
}

tsl_status tsl__json_parse(tsl__arena *arena, const tsl__until *until, const char *text,
                           size_t length, uint32_t max_depth, tsl__json **out, tsl_error *error) {
  const char *copy = length < UINT32_MAX ? copy_text(arena, text, length) : text;
  *out = NULL;
  return copy ? tsl__json_parse_in_place(arena, until, copy, length, max_depth, out, error)
              : tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
}

/* of text for each value that waits at once, about, and no more of them than this at first */
#define VALUE_BYTES 32u
#define VALUES_MOST 128u

/* Why a text that is no JSON cannot be: how it is encoded. NULL: it may be UTF-8. */
static const char *encoding(const char *text, size_t length) {
  if (length >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3))
    return "a byte order mark stands before the value";
  if (length < 2 ||
      (text[0] && text[1] && memcmp(text, "\xFF\xFE", 2) != 0 && memcmp(text, "\xFE\xFF", 2) != 0))
    return NULL;
  return "the text is in UTF-16 or UTF-32, and must be in UTF-8";
}

tsl_status tsl__json_parse_in_place(tsl__arena *arena, const tsl__until *until, const char *text,
                                    size_t length, uint32_t max_depth, tsl__json **out,
                                    tsl_error *error) {
  *out = NULL;
  if (length >= UINT32_MAX)
    return tsl__fail(error, TSL_ERR_LIMIT, "a JSON text may have at most 4294967294 bytes");
  reader r = {.arena = arena,
              .until = until,
              .look = text + (length < LOOK_BYTES ? length : LOOK_BYTES),
              .alloc = arena->alloc,
              .text = text,
              .end = text + length,
              .max_depth = max_depth};
  size_t room = 8 + length / VALUE_BYTES;
  const char *done = tsl__vec_reserve(r.alloc, &r.stack, room < VALUES_MOST ? room : VALUES_MOST)
                         ? run(&r, text)
                         : no_memory(&r);
  if (done && !(*out = tsl__arena_copy(arena, r.stack.at, sizeof **out))) done = no_memory(&r);
  tsl__vec_free(r.alloc, &r.stack);
  if (done) return TSL_OK;
  if (r.status == TSL_ERR_NO_MEMORY) return tsl__fail(error, r.status, "%s", r.message);
  const char *other =
      r.status == TSL_ERR_SYNTAX && r.where < text + 2 ? encoding(text, length) : NULL;
  if (other)
    r.message = other;
  else if (r.status == TSL_ERR_SYNTAX)
    r.message = tsl__json_fault(text, length, (size_t)(r.where - text), r.message);
  return tsl__fail_at(error, r.status, r.text, length, (size_t)(r.where - r.text),
                      r.status == TSL_ERR_SYNTAX ? "not JSON: %s" : "%s", r.message);
}
