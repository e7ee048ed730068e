/* json_document.c - the validator's own JSON reader: RFC 8259 in strict UTF-8; see validator.h.
 *
 * Problem   The judge of the compiler must not share a mistake with it, so it reads JSON itself.
 * Idea      One pass over the text, by recursive descent to at most 60 levels. Values and decoded
 *           text go into two arrays of the document, which never grow. Where they are full the
 *           document says so, and the judge gives no verdict.
 * Example   [1,"a"]: value 0 is an array, and its `first` is value 1, the number "1", whose `next`
 *           is value 2, the string "a".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/judges/validator.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 60u

typedef struct reader {
  const unsigned char *at, *end;
  json_document *d;
  unsigned depth;
} reader;

static void skip_space(reader *r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
    r->at++;
}

static bool take(reader *r, char c) {
  if (r->at == r->end || *r->at != (unsigned char)c) return false;
  r->at++;
  return true;
}

static void put(reader *r, unsigned byte) {
  if (r->d->bytes == JSON_TEXT)
    r->d->full = true;
  else
    r->d->text[r->d->bytes++] = (char)byte;
}

static void put_point(reader *r, uint32_t c) {
  if (c < 0x80) {
    put(r, c);
  } else if (c < 0x800) {
    put(r, 0xC0 | c >> 6), put(r, 0x80 | (c & 63));
  } else if (c < 0x10000) {
    put(r, 0xE0 | c >> 12), put(r, 0x80 | (c >> 6 & 63)), put(r, 0x80 | (c & 63));
  } else {
    put(r, 0xF0 | c >> 18), put(r, 0x80 | (c >> 12 & 63)), put(r, 0x80 | (c >> 6 & 63)),
        put(r, 0x80 | (c & 63));
  }
}

/* Four hexadecimal digits. */
static bool read_unit(reader *r, uint32_t *unit) {
  *unit = 0;
  for (int i = 0; i < 4; i++) {
    if (r->at == r->end) return false;
    unsigned c = *r->at++;
    if (c >= '0' && c <= '9')
      *unit = *unit * 16 + (c - '0');
    else if ((c | 32) >= 'a' && (c | 32) <= 'f')
      *unit = *unit * 16 + ((c | 32) - 'a' + 10);
    else
      return false;
  }
  return true;
}

/* What follows "\u". */
static bool read_escaped_point(reader *r) {
  uint32_t high, low;
  if (!read_unit(r, &high)) return false;
  if (high < 0xD800 || high > 0xDFFF) return put_point(r, high), true;
  if (high >= 0xDC00 || r->end - r->at < 6 || r->at[0] != '\\' || r->at[1] != 'u')
    return r->d->odd = true;
  r->at += 2;
  if (!read_unit(r, &low)) return false;
  if (low < 0xDC00 || low > 0xDFFF) return r->d->odd = true;
  put_point(r, 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
  return true;
}

static bool read_escape(reader *r) {
  static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  if (r->at == r->end) return false;
  char c = (char)*r->at++;
  if (c == 'u') return read_escaped_point(r);
  const char *found = c ? strchr(names, c) : NULL;
  if (found) put(r, (unsigned char)meant[found - names]);
  return found != NULL;
}

/* One code point in strict UTF-8 that is no control character. */
static bool read_plain(reader *r) {
  unsigned c = *r->at, more = c < 0x80                ? 0
                              : c >= 0xC2 && c < 0xE0 ? 1
                              : c >= 0xE0 && c < 0xF0 ? 2
                              : c >= 0xF0 && c < 0xF5 ? 3
                                                      : 9;
  if (c < 0x20 || more == 9 || (size_t)(r->end - r->at) <= more) return false;
  uint32_t point = more ? c & (0x3Fu >> more) : c;
  for (unsigned i = 1; i <= more; i++) {
    if ((r->at[i] & 0xC0) != 0x80) return false;
    point = point << 6 | (r->at[i] & 0x3F);
  }
  if ((more == 2 && (point < 0x800 || (point >= 0xD800 && point <= 0xDFFF))) ||
      (more == 3 && (point < 0x10000 || point > 0x10FFFF)))
    return false;
  put_point(r, point);
  r->at += more + 1;
  return true;
}

static bool read_string(reader *r, const char **text, uint32_t *n) {
  uint32_t begin = r->d->bytes;
  if (!take(r, '"')) return false;
  while (r->at < r->end && *r->at != '"')
    if (take(r, '\\') ? !read_escape(r) : !read_plain(r)) return false;
  *text = r->d->text + begin;
  *n = r->d->bytes - begin;
  return take(r, '"');
}

static bool read_digits(reader *r) {
  const unsigned char *begin = r->at;
  while (r->at < r->end && *r->at >= '0' && *r->at <= '9') r->at++;
  return r->at > begin;
}

static bool read_number(reader *r, json_value *v) {
  const unsigned char *begin = r->at;
  v->kind = JSON_NUMBER;
  take(r, '-');
  if (!take(r, '0') && !read_digits(r)) return false;
  if (take(r, '.') && !read_digits(r)) return false;
  if (take(r, 'e') || take(r, 'E')) {
    if (!take(r, '+')) take(r, '-');
    if (!read_digits(r)) return false;
  }
  v->text = r->d->text + r->d->bytes;
  v->text_n = (uint32_t)(r->at - begin);
  for (; begin < r->at; begin++) put(r, *begin);
  return true;
}

static bool read_word(reader *r, const char *word) {
  size_t n = strlen(word);
  if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n)) return false;
  r->at += n;
  return true;
}

bool json_same_text(const char *a, uint32_t an, const char *b, uint32_t bn) {
  return an == bn && !memcmp(a, b, an);
}

static bool read_value(reader *r, json_value **out);

static bool read_child(reader *r, json_value *parent, json_value **last) {
  const char *name = NULL;
  uint32_t name_n = 0;
  json_value *child;
  skip_space(r);
  if (parent->kind == JSON_OBJECT) {
    if (!read_string(r, &name, &name_n)) return false;
    skip_space(r);
    if (!take(r, ':')) return false;
    for (const json_value *m = parent->first; m; m = m->next)
      if (json_same_text(m->name, m->name_n, name, name_n)) r->d->repeated = true;
  }
  if (!read_value(r, &child)) return false;
  child->name = name;
  child->name_n = name_n;
  if (*last)
    (*last)->next = child;
  else
    parent->first = child;
  *last = child;
  parent->count++;
  skip_space(r);
  return true;
}

static bool read_children(reader *r, json_value *v, char close) {
  json_value *last = NULL;
  r->at++;
  skip_space(r);
  if (take(r, close)) return true;
  if (++r->depth > DEPTH_MAX) return r->d->full = true, false;
  do {
    if (!read_child(r, v, &last)) return false;
  } while (take(r, ','));
  r->depth--;
  return take(r, close);
}

static bool read_value(reader *r, json_value **out) {
  if (r->d->values == JSON_VALUES) return r->d->full = true, false;
  json_value *v = *out = &r->d->value[r->d->values++];
  *v = (json_value){.kind = JSON_NULL};
  skip_space(r);
  if (r->at == r->end) return false;
  switch (*r->at) {
  case '{': v->kind = JSON_OBJECT; return read_children(r, v, '}');
  case '[': v->kind = JSON_ARRAY; return read_children(r, v, ']');
  case '"': v->kind = JSON_STRING; return read_string(r, &v->text, &v->text_n);
  case 't': v->kind = JSON_TRUE; return read_word(r, "true");
  case 'f': v->kind = JSON_FALSE; return read_word(r, "false");
  case 'n': return read_word(r, "null");
  default: return read_number(r, v);
  }
}

bool json_document_read(json_document *d, const char *text, size_t n) {
  reader r = {.at = (const unsigned char *)text, .end = (const unsigned char *)text + n, .d = d};
  json_value *root;
  d->values = d->bytes = 0;
  d->repeated = d->odd = d->full = false;
  if (!read_value(&r, &root)) return false;
  skip_space(&r);
  return r.at == r.end && !d->full;
}

const json_value *json_member(const json_value *object, const char *name) {
  for (const json_value *m = object->kind == JSON_OBJECT ? object->first : NULL; m; m = m->next)
    if (json_same_text(m->name, m->name_n, name, (uint32_t)strlen(name))) return m;
  return NULL;
}
