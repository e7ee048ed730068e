/* json.c - finding, copying and comparing values of trees. json.h has the tree's essay.
 *
 * Problem   Error messages name a value by its JSON Pointer, `const` compares values, and
 *           `minLength` may be written 3, 3.0 or 30e-1.
 * Idea      No node knows its parent, so that a node stays small. A pointer is found by a search
 *           from the root, which only errors and reports need.
 * Pointer   `find` writes a step, looks below, and takes the step back where the node is not there.
 *           In {"a": [1, {"b/c": 2}]} the value 2 is reached by the steps /a, /1 and /b~1c. `~1` is
 *           how RFC 6901 spells a slash in a name, and `~0` is a tilde.
 * Numbers   Two numbers are equal if their values are: tsl__json_equal compares 1, 1.0 and 10e-1
 *           as decimals, exactly. tsl__json_count reads a count without floating point.
 * Example   tsl__json_count of 30.50e1: the digits are 3050 and the point takes two of them, so
 *           the exponent is 1 - 2 = -1. The last zero is dropped, which makes the exponent 0. The
 *           count is 305. Of 30.5 one digit other than 0 stays behind the point: it is no count.
 * Cost      A member is looked for one by one. A pointer visits all nodes before its own. Depth of
 *           recursion: that of the tree, which the reader bounds (TSL__JSON_DEPTH_MAX).
 * Tested by tests/json/test_json.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/json/json.h"

#include "compiler/number/decimal.h"
#include "compiler/expr/print.h"

/* ---- looking around -------------------------------------------------------------------------- */

static bool copy_into(tsl__arena *arena, const tsl__json *from, tsl__json *to) {
  *to = *from;
  to->user = 0;
  if (from->key && !(to->key = tsl__arena_copy(arena, from->key, from->key_length))) return false;
  if (from->kind == TSL__JSON_STRING || from->kind == TSL__JSON_NUMBER ||
      from->kind == TSL__JSON_GRAMMAR)
    return (to->text = tsl__arena_copy(arena, from->text, from->length)) != NULL;
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

tsl__json *tsl__json_item(const tsl__json *node, const char *token, size_t n) {
  if (node->kind != TSL__JSON_ARRAY || !n || n > 9 || (n > 1 && token[0] == '0')) return NULL;
  uint32_t index = 0;
  for (size_t i = 0; i < n; i++) {
    if (token[i] < '0' || token[i] > '9') return NULL;
    index = index * 10 + (uint32_t)(token[i] - '0');
  }
  return index < node->length ? &node->items[index] : NULL;
}

static void put_step(tsl__printer *p, const tsl__json *parent, uint32_t index) {
  tsl__print_char(p, '/');
  if (parent->kind == TSL__JSON_ARRAY) {
    char digits[10];
    int n = 0;
    do digits[n++] = (char)('0' + index % 10);
    while (index /= 10);
    while (n) tsl__print_char(p, digits[--n]);
    return;
  }
  const tsl__json *m = &parent->items[index];
  for (uint32_t i = 0; i < m->key_length; i++) {
    if (m->key[i] == '~' || m->key[i] == '/') {
      tsl__print_char(p, '~');
      tsl__print_char(p, m->key[i] == '~' ? '0' : '1');
    } else {
      tsl__print_char(p, m->key[i]);
    }
  }
}

static bool find(tsl__printer *p, const tsl__json *at, const tsl__json *node) {
  if (at == node) return true;
  if (at->kind != TSL__JSON_ARRAY && at->kind != TSL__JSON_OBJECT) return false;
  size_t length = p->length;
  for (uint32_t i = 0; i < at->length; i++) {
    put_step(p, at, i);
    if (find(p, &at->items[i], node)) return true;
    p->length = length;
  }
  return false;
}

size_t tsl__json_pointer(const tsl__json *root, const tsl__json *node, char *out, size_t n) {
  tsl__printer p = {out, n, 0};
  if (!find(&p, root, node)) {
    if (n) out[0] = 0;
    return SIZE_MAX;
  }
  return tsl__print_end(&p);
}

size_t tsl__json_put_token(char *out, const char *key, size_t length) {
  size_t n = 0;
  for (size_t i = 0; i < length; i++) {
    bool escaped = key[i] == '~' || key[i] == '/';
    if (out) out[n] = escaped ? '~' : key[i];
    if (escaped && out) out[n + 1] = key[i] == '~' ? '0' : '1';
    n += 1u + escaped;
  }
  return n;
}

size_t tsl__json_put_escaped(char *out, const char *text, size_t length) {
  static const char hex[] = "0123456789abcdef";
  size_t n = 0;
  for (size_t i = 0; i < length; i++) {
    uint8_t c = (uint8_t)text[i];
    const char unit[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    const char pair[2] = {'\\', (char)c};
    const char *at = tsl__stands_raw(c) ? text + i : c < 0x20 ? unit : pair;
    size_t m = at == unit ? sizeof unit : at == pair ? sizeof pair : 1;
    if (out) memcpy(out + n, at, m);
    n += m;
  }
  return n;
}

bool tsl__json_equal(const tsl__json *a, const tsl__json *b) {
  if (a->kind != b->kind) return false;
  if (a->kind == TSL__JSON_NUMBER)
    return tsl__decimal_texts_equal(a->text, a->length, b->text, b->length);
  if (a->kind < TSL__JSON_NUMBER) return true;
  if (a->length != b->length) return false;
  if (a->kind == TSL__JSON_STRING || a->kind == TSL__JSON_GRAMMAR)
    return !memcmp(a->text, b->text, a->length);
  for (uint32_t i = 0; i < a->length; i++) {
    const tsl__json *m = &a->items[i];
    const tsl__json *other =
        a->kind == TSL__JSON_ARRAY ? &b->items[i] : tsl__json_get(b, m->key, m->key_length);
    if (!other || !tsl__json_equal(m, other)) return false;
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
  while (exponent < 0 && last > mantissa && (last[-1] == '0' || last[-1] == '.'))
    exponent += *--last == '0';
  uint64_t value = 0;
  for (const char *q = mantissa; q < last; q++)
    if (*q != '.' && value < UINT32_MAX) value = value * 10 + (uint64_t)(*q - '0');
  if (!value) return *out = 0, true;
  if (negative || exponent < 0) return false;
  while (exponent-- > 0 && value < UINT32_MAX) value *= 10;
  *out = value >= UINT32_MAX ? UINT32_MAX - 1 : (uint32_t)value;
  return true;
}
