/* json.c - see json.h.
 *
 * yajl calls back for every value. Values that are finished but whose container is still open lie on `stack`; `open` holds where the children
 * of each open container begin. At the end of a container its children move to the arena as one block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/json.h"

#include <setjmp.h>
#include <yajl/yajl_parse.h>

#include "compiler/decimal.h"

struct builder {
  tsl__arena *arena;
  const tsl_allocator *alloc;
  const char *text; /* the copy */
  size_t length;
  yajl_handle yajl;
  TSL__VEC(tsl__json) stack;
  TSL__VEC(uint32_t) open; /* index into stack of the container's own node */
  uint32_t max_depth;
  const char *key;
  uint32_t key_length;
  tsl_status status;
  const char *message;
  size_t offset;
};

static int stop(struct builder *b, tsl_status status, size_t offset, const char *message) {
  b->status = status;
  b->offset = offset;
  b->message = message;
  return 0;
}

static tsl__json *push(struct builder *b, unsigned kind, size_t offset) {
  tsl__json node = {.key = b->key, .key_length = b->key_length, .offset = (uint32_t)offset, .kind = kind & 15u};
  b->key = NULL;
  b->key_length = 0;
  if (!tsl__vec_push(b->alloc, &b->stack, node)) {
    stop(b, TSL_ERR_NO_MEMORY, 0, "out of memory");
    return NULL;
  }
  return &b->stack.at[b->stack.n - 1];
}

static size_t consumed(struct builder *b) { return yajl_get_bytes_consumed(b->yajl); }

static bool in_text(const struct builder *b, const void *p) {
  return (uintptr_t)p >= (uintptr_t)b->text && (uintptr_t)p < (uintptr_t)b->text + b->length;
}

/* Where the string that ends before `end` (its closing quote included) begins: at the nearest quote before that is not escaped. */
static size_t string_start(const struct builder *b, size_t end) {
  size_t i = end >= 1 ? end - 1 : 0;
  while (i > 0) {
    if (b->text[--i] != '"') continue;
    size_t slashes = 0;
    while (slashes < i && b->text[i - 1 - slashes] == '\\') slashes++;
    if (slashes % 2 == 0) break;
  }
  return i;
}

static bool hex4(const char *p, unsigned *out) {
  *out = 0;
  for (int i = 0; i < 4; i++) {
    unsigned char c = (unsigned char)p[i];
    unsigned digit = c <= '9' ? c - 48u : (c | 32u) - 97u + 10;
    if (digit > 15) return false;
    *out = *out * 16 + digit;
  }
  return true;
}

/* yajl turns a lone surrogate into '?'; find one in the raw string [from, to). */
static bool lone_surrogate(const char *text, size_t from, size_t to) {
  for (size_t i = from; i + 1 < to; i++) {
    if (text[i] != '\\') continue;
    unsigned unit, low;
    if (text[i + 1] != 'u' || i + 6 > to || !hex4(text + i + 2, &unit)) {
      i++;
      continue;
    }
    i += 5;
    if (unit < 0xD800 || unit > 0xDFFF) continue;
    if (unit > 0xDBFF || i + 7 > to || text[i + 1] != '\\' || text[i + 2] != 'u' || !hex4(text + i + 3, &low) || low < 0xDC00 || low > 0xDFFF)
      return true;
    i += 6;
  }
  return false;
}

/* The decoded string: itself if it lies in the text, else copied. NULL after a failure. */
static const char *keep(struct builder *b, const unsigned char *s, size_t n, size_t *offset) {
  if (in_text(b, s)) {
    *offset = (size_t)((const char *)s - b->text) - 1;
    return (const char *)s;
  }
  size_t end = consumed(b);
  *offset = string_start(b, end);
  if (lone_surrogate(b->text, *offset, end)) {
    stop(b, TSL_ERR_SYNTAX, *offset, "a lone surrogate is not a character");
    return NULL;
  }
  const char *copy = tsl__arena_copy(b->arena, s, n);
  if (!copy) stop(b, TSL_ERR_NO_MEMORY, 0, "out of memory");
  return copy;
}

static int on_null(void *ctx) {
  struct builder *b = ctx;
  return push(b, TSL__JSON_NULL, consumed(b) - 4) != NULL;
}

static int on_boolean(void *ctx, int value) {
  struct builder *b = ctx;
  return push(b, value ? TSL__JSON_TRUE : TSL__JSON_FALSE, consumed(b) - (value ? 4 : 5)) != NULL;
}

static int on_number(void *ctx, const char *text, size_t n) {
  struct builder *b = ctx;
  size_t end = consumed(b), offset = in_text(b, text) ? (size_t)(text - b->text) : end >= n ? end - n : 0;
  if (offset + n > b->length || memcmp(b->text + offset, text, n)) offset = b->length - n; /* a number that ends the whole text */
  tsl__json *node = push(b, TSL__JSON_NUMBER, offset);
  if (!node) return 0;
  node->text = b->text + offset;
  node->length = (uint32_t)n;
  return 1;
}

static int on_string(void *ctx, const unsigned char *s, size_t n) {
  struct builder *b = ctx;
  size_t offset;
  const char *text = keep(b, s, n, &offset);
  tsl__json *node = text ? push(b, TSL__JSON_STRING, offset) : NULL;
  if (!node) return 0;
  node->text = text;
  node->length = (uint32_t)n;
  return 1;
}

static int on_key(void *ctx, const unsigned char *s, size_t n) {
  struct builder *b = ctx;
  size_t offset;
  b->key = keep(b, s, n, &offset);
  b->key_length = (uint32_t)n;
  return b->key != NULL;
}

static int begin(struct builder *b, unsigned kind) {
  size_t offset = consumed(b) - 1;
  if (b->open.n >= b->max_depth) return stop(b, TSL_ERR_LIMIT, offset, "nested deeper than max_depth");
  uint32_t self = (uint32_t)b->stack.n;
  if (!push(b, kind, offset)) return 0;
  if (!tsl__vec_push(b->alloc, &b->open, self)) return stop(b, TSL_ERR_NO_MEMORY, 0, "out of memory");
  return 1;
}

static int on_start_map(void *ctx) { return begin(ctx, TSL__JSON_OBJECT); }
static int on_start_array(void *ctx) { return begin(ctx, TSL__JSON_ARRAY); }

static bool same_key(const tsl__json *a, const tsl__json *b) {
  return a->key_length == b->key_length && !memcmp(a->key, b->key, a->key_length);
}

/* Move `from` onto `onto`, which stays where it is; true if it was a double. */
static bool merge(tsl__json *onto, const tsl__json *from) {
  if (!same_key(onto, from)) return false;
  *onto = *from;
  return true;
}

static uint32_t unique_few(tsl__json *m, uint32_t n) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t j = 0;
    while (j < kept && !merge(&m[j], &m[i])) j++;
    if (j == kept) m[kept++] = m[i];
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

static int end(struct builder *b) {
  uint32_t self = b->open.at[--b->open.n], n = (uint32_t)b->stack.n - self - 1;
  tsl__json *node = &b->stack.at[self], *children = node + 1;
  if (node->kind == TSL__JSON_OBJECT && n > 1) n = n <= 12 ? unique_few(children, n) : unique_many(b->alloc, children, n);
  if (n == UINT32_MAX) return stop(b, TSL_ERR_NO_MEMORY, 0, "out of memory");
  node->length = n;
  node->items = NULL;
  b->stack.n = self + 1;
  if (!n) return 1;
  node->items = tsl__arena_copy(b->arena, children, n * sizeof *children);
  return node->items ? 1 : stop(b, TSL_ERR_NO_MEMORY, 0, "out of memory");
}

static int on_end(void *ctx) { return end(ctx); }

/* ---- yajl's memory --------------------------------------------------------------------------------------------------
 *
 * It comes from an arena of its own; blocks are preceded by their size. yajl does not check what its allocator returns, so running out of memory
 * leaves it by a jump; it holds nothing but the arena. */

struct memory {
  tsl__arena arena;
  jmp_buf out;
};

static void *yajl_alloc_in(void *ctx, size_t n) {
  struct memory *m = ctx;
  size_t *p = tsl__arena_alloc(&m->arena, n + 16);
  if (!p) longjmp(m->out, 1);
  *p = n;
  return (char *)p + 16;
}

static void yajl_free_in(void *ctx, void *p) {
  (void)ctx;
  (void)p;
}

static void *yajl_resize_in(void *ctx, void *p, size_t n) {
  size_t old = p ? *(size_t *)(void *)((char *)p - 16) : 0;
  if (n <= old) return p;
  void *q = yajl_alloc_in(ctx, n);
  if (p) memcpy(q, p, old);
  return q;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end,
};

/* yajl's own words, without its newline. */
static tsl_status syntax(struct builder *b, bool at_end, tsl_error *error) {
  unsigned char *words = yajl_get_error(b->yajl, 0, (const unsigned char *)b->text, b->length);
  size_t n = words ? strcspn((const char *)words, "\n") : 0, at = at_end ? b->length : consumed(b);
  tsl_status status = tsl__fail_at(error, TSL_ERR_SYNTAX, b->text, b->length, at > b->length ? b->length : at, "not JSON: %.*s", (int)n,
                                   words ? (const char *)words : "");
  if (words) yajl_free_error(b->yajl, words);
  return status;
}

static tsl_status run(struct builder *b, struct memory *memory, tsl_error *error) {
  yajl_alloc_funcs functions = {yajl_alloc_in, yajl_resize_in, yajl_free_in, memory};
  if (setjmp(memory->out)) return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  b->yajl = yajl_alloc(&callbacks, &functions, b);
  yajl_status status = yajl_parse(b->yajl, (const unsigned char *)b->text, b->length);
  bool at_end = status == yajl_status_ok;
  if (at_end) status = yajl_complete_parse(b->yajl);
  if (status == yajl_status_error) return syntax(b, at_end, error);
  if (b->status == TSL_ERR_NO_MEMORY) return tsl__fail(error, b->status, "%s", b->message);
  if (b->status != TSL_OK) return tsl__fail_at(error, b->status, b->text, b->length, b->offset, "%s", b->message);
  return TSL_OK;
}

tsl_status tsl__json_parse(tsl__arena *arena, const char *text, size_t length, uint32_t max_depth, tsl__json **out, tsl_error *error) {
  *out = NULL;
  if (length >= UINT32_MAX) return tsl__fail(error, TSL_ERR_LIMIT, "a JSON text may have at most 4294967294 bytes");
  struct builder b = {.arena = arena, .alloc = arena->alloc, .length = length, .max_depth = max_depth};
  b.text = tsl__arena_copy(arena, text, length);
  struct memory memory;
  tsl__arena_init(&memory.arena, arena->alloc);
  tsl_status status = b.text ? run(&b, &memory, error) : tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  if (status == TSL_OK) {
    *out = tsl__arena_copy(arena, b.stack.at, sizeof **out);
    if (!*out) status = tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  }
  tsl__vec_free(b.alloc, &b.stack);
  tsl__vec_free(b.alloc, &b.open);
  tsl__arena_free(&memory.arena);
  return status;
}

/* ---- looking around ----------------------------------------------------------------------------------------------- */

static bool copy_into(tsl__arena *arena, const tsl__json *from, tsl__json *to) {
  *to = *from;
  to->user = 0;
  if (from->key && !(to->key = tsl__arena_copy(arena, from->key, from->key_length))) return false;
  if (from->kind == TSL__JSON_STRING || from->kind == TSL__JSON_NUMBER) return (to->text = tsl__arena_copy(arena, from->text, from->length)) != NULL;
  if (from->kind != TSL__JSON_ARRAY && from->kind != TSL__JSON_OBJECT) return true;
  if (!(to->items = tsl__arena_alloc(arena, from->length * sizeof *to->items + 1))) return false;
  for (uint32_t i = 0; i < from->length; i++)
    if (!copy_into(arena, &from->items[i], &to->items[i])) return false;
  return true;
}

tsl__json *tsl__json_copy(tsl__arena *arena, const tsl__json *node) {
  tsl__json *root = tsl__arena_alloc(arena, sizeof *root);
  if (!root || !copy_into(arena, node, root)) return NULL;
  root->key = NULL;
  root->key_length = 0;
  return root;
}

tsl__json *tsl__json_get(const tsl__json *object, const char *key, size_t length) {
  if (object->kind != TSL__JSON_OBJECT) return NULL;
  for (uint32_t i = 0; i < object->length; i++) {
    tsl__json *m = &object->items[i];
    if (m->key_length == length && !memcmp(m->key, key, length)) return m;
  }
  return NULL;
}

/* One reference token against a key: ~0 is ~ and ~1 is /. */
static bool token_is(const char *token, size_t n, const char *key, size_t key_length) {
  size_t k = 0;
  for (size_t i = 0; i < n; i++, k++) {
    char c = token[i];
    if (c == '~' && i + 1 < n && (token[i + 1] == '0' || token[i + 1] == '1')) c = token[++i] == '0' ? '~' : '/';
    if (k >= key_length || key[k] != c) return false;
  }
  return k == key_length;
}

static tsl__json *child(tsl__json *node, const char *token, size_t n) {
  if (node->kind == TSL__JSON_OBJECT) {
    for (uint32_t i = 0; i < node->length; i++)
      if (token_is(token, n, node->items[i].key, node->items[i].key_length)) return &node->items[i];
    return NULL;
  }
  if (node->kind != TSL__JSON_ARRAY || !n || n > 9 || (n > 1 && token[0] == '0')) return NULL;
  uint32_t index = 0;
  for (size_t i = 0; i < n; i++) {
    if (token[i] < '0' || token[i] > '9') return NULL;
    index = index * 10 + (uint32_t)(token[i] - '0');
  }
  return index < node->length ? &node->items[index] : NULL;
}

tsl__json *tsl__json_at(tsl__json *root, const char *pointer, size_t length, void (*visit)(void *ctx, tsl__json *node), void *ctx) {
  if (visit) visit(ctx, root);
  for (size_t i = 0; i < length;) {
    if (pointer[i] != '/') return NULL;
    size_t from = ++i;
    while (i < length && pointer[i] != '/') i++;
    root = child(root, pointer + from, i - from);
    if (!root) return NULL;
    if (visit) visit(ctx, root);
  }
  return root;
}

struct writer {
  char *out;
  size_t n, used;
};

static void put(struct writer *w, char c) {
  if (w->used + 1 < w->n) w->out[w->used] = c;
  w->used++;
}

static void put_step(struct writer *w, const tsl__json *parent, uint32_t index) {
  put(w, '/');
  if (parent->kind == TSL__JSON_ARRAY) {
    char digits[10];
    int n = 0;
    do digits[n++] = (char)('0' + index % 10);
    while (index /= 10);
    while (n) put(w, digits[--n]);
    return;
  }
  const tsl__json *m = &parent->items[index];
  for (uint32_t i = 0; i < m->key_length; i++) {
    if (m->key[i] == '~' || m->key[i] == '/') {
      put(w, '~');
      put(w, m->key[i] == '~' ? '0' : '1');
    } else {
      put(w, m->key[i]);
    }
  }
}

static bool find(struct writer *w, const tsl__json *at, const tsl__json *node) {
  if (at == node) return true;
  if (at->kind != TSL__JSON_ARRAY && at->kind != TSL__JSON_OBJECT) return false;
  size_t used = w->used;
  for (uint32_t i = 0; i < at->length; i++) {
    put_step(w, at, i);
    if (find(w, &at->items[i], node)) return true;
    w->used = used;
  }
  return false;
}

size_t tsl__json_pointer(const tsl__json *root, const tsl__json *node, char *out, size_t n) {
  struct writer w = {out, n, 0};
  if (!find(&w, root, node)) {
    if (n) out[0] = 0;
    return SIZE_MAX;
  }
  if (n) out[w.used < n ? w.used : n - 1] = 0;
  return w.used;
}

static bool numbers_equal(tsl__arena *scratch, const tsl__json *a, const tsl__json *b) {
  if (a->length == b->length && !memcmp(a->text, b->text, a->length)) return true;
  tsl__decimal x, y;
  return tsl__decimal_parse(scratch, a->text, a->length, &x) == TSL_OK && tsl__decimal_parse(scratch, b->text, b->length, &y) == TSL_OK &&
         tsl__decimal_equal(&x, &y);
}

bool tsl__json_equal(tsl__arena *scratch, const tsl__json *a, const tsl__json *b) {
  if (a->kind != b->kind) return false;
  if (a->kind == TSL__JSON_NUMBER) return numbers_equal(scratch, a, b);
  if (a->kind < TSL__JSON_NUMBER) return true;
  if (a->length != b->length) return false;
  if (a->kind == TSL__JSON_STRING) return !memcmp(a->text, b->text, a->length);
  for (uint32_t i = 0; i < a->length; i++) {
    const tsl__json *m = &a->items[i];
    const tsl__json *other = a->kind == TSL__JSON_ARRAY ? &b->items[i] : tsl__json_get(b, m->key, m->key_length);
    if (!other || !tsl__json_equal(scratch, m, other)) return false;
  }
  return true;
}

/* The digits of the number without its point, and the power of ten that this takes. */
bool tsl__json_count(const tsl__json *number, uint32_t *out) {
  if (number->kind != TSL__JSON_NUMBER) return false;
  const char *p = number->text, *stop_at = p + number->length;
  const bool negative = *p == '-';
  int64_t exponent = 0, sign = 1, shift = 0;
  const char *mantissa = p + negative, *e = mantissa;
  while (e < stop_at && *e != 'e' && *e != 'E') e++;
  if (e < stop_at) {
    const char *q = e + 1;
    if (*q == '+' || *q == '-') sign = *q++ == '-' ? -1 : 1;
    for (; q < stop_at; q++)
      if (exponent < 1000000000) exponent = exponent * 10 + (*q - '0');
  }
  const char *point = memchr(mantissa, '.', (size_t)(e - mantissa));
  if (point) shift = e - point - 1;
  exponent = exponent * sign - shift;
  const char *last = e; /* drop zeros at the end while the exponent is negative */
  while (exponent < 0 && last > mantissa && (last[-1] == '0' || last[-1] == '.')) exponent += *--last == '0';
  uint64_t value = 0;
  for (const char *q = mantissa; q < last; q++)
    if (*q != '.' && value < UINT32_MAX) value = value * 10 + (uint64_t)(*q - '0');
  if (!value) return *out = 0, true;
  if (negative || exponent < 0) return false;
  while (exponent-- > 0 && value < UINT32_MAX) value *= 10;
  *out = value >= UINT32_MAX ? UINT32_MAX - 1 : (uint32_t)value;
  return true;
}
