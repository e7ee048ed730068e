/* events.c - the parts of a JSON text while it is written: a reader that can be stopped after any
 * byte.
 *
 * Problem   A server that streams the arguments of a tool call would have to parse the text anew
 *           after each token. And tokens end anywhere: in the middle of a character, of `\u00e9`,
 *           of a surrogate pair, of a number.
 * Idea      A push parser: one state, a stack of open containers, the JSON pointer of the value at
 *           hand. Decoded characters of a string gather in `out`, and are reported when the piece
 *           or the string ends. What is not complete waits for the next piece: up to three bytes of
 *           a character, an escape, the first half of a pair.
 * Example   `{"a\n` `b":1` `2}` gives: BEGIN object at "", then (the name is `a⏎b`) BEGIN number at
 *           "/a⏎b", END "12", END object.
 * Cost      A few ns a byte; memory for the open names, and for the longest piece of a string.
 * Ref       RFC 8259 (JSON), RFC 6901 (JSON pointer).
 * Tested by tests/decode/test_events.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "runtime/core/base.h"

typedef enum place {
  VALUE,       /* a value must come */
  ITEM_OR_END, /* after [ */
  NAME_OR_END, /* after { */
  NAME,        /* after , in an object */
  COLON,
  AFTER, /* after a value in a container */
  DONE,  /* after the whole text */
  STRING,
  ESCAPE,
  HEX,
  MINUS,
  ZERO,
  DIGITS,
  POINT,
  FRACTION,
  E,
  SIGN,
  EXPONENT, /* of a number: what was read last */
  WORD      /* true, false, null */
} place;

typedef struct container {
  bool object;
  uint64_t index; /* of the item at hand */
  size_t pointer; /* length of the container's own pointer */
} container;

struct tsl_events {
  tsl_allocator alloc;
  tsl_event_sink sink;
  void *ctx;
  place at;
  bool broken;
  bool in_name;    /* the string is a member's name */
  tsl_value value; /* at hand */
  uint64_t offset; /* bytes read */
  TSL__VEC(container) open;
  TSL__VEC(char) pointer;
  TSL__VEC(char) out; /* decoded text that was not given yet; the name; the number */
  uint8_t partial[4]; /* of a character */
  uint8_t partial_n, partial_need;
  uint8_t hex_n;      /* digits of an escape read */
  uint32_t hex, high; /* the escape's value; the first half of a pair, or 0 */
  const char *word;   /* what is left of it */
};

tsl_status tsl_events_new(tsl_event_sink sink, void *ctx, const tsl_allocator *allocator,
                          tsl_events **out) {
  if (!out) return TSL_ERR_ARGUMENT;
  *out = NULL;
  if (!sink) return TSL_ERR_ARGUMENT;
  allocator = tsl__allocator_or_default(allocator);
  tsl_events *e = tsl__alloc_zero(allocator, sizeof *e);
  if (!e) return TSL_ERR_NO_MEMORY;
  e->alloc = *allocator;
  e->sink = sink;
  e->ctx = ctx;
  *out = e;
  return TSL_OK;
}

void tsl_events_free(tsl_events *e) {
  if (!e) return;
  tsl_allocator a = e->alloc;
  tsl__vec_free(&a, &e->open);
  tsl__vec_free(&a, &e->pointer);
  tsl__vec_free(&a, &e->out);
  tsl__free(&a, e, sizeof *e);
}

void tsl_events_reset(tsl_events *e) {
  e->at = VALUE;
  e->broken = e->in_name = false;
  e->offset = 0;
  e->open.n = e->pointer.n = e->out.n = 0;
  e->partial_n = e->hex_n = 0;
  e->high = 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void give(const tsl_events *e, tsl_event_kind kind, tsl_value value, const char *text,
                 size_t length) {
  tsl_event event = {
      kind, value, e->pointer.n ? e->pointer.at : "", e->pointer.n, length ? text : "", length};
  e->sink(e->ctx, &event);
}

static bool append(tsl_events *e, const void *bytes, size_t n) {
  if (!tsl__vec_reserve(&e->alloc, &e->out, n)) return false;
  memcpy(e->out.at + e->out.n, bytes, n);
  e->out.n += n;
  return true;
}

static bool append_code_point(tsl_events *e, uint32_t cp) {
  uint8_t bytes[4];
  return append(e, bytes, tsl__utf8_encode(cp, bytes));
}

/* The first half of a pair that the second did not follow. */
static bool append_lone(tsl_events *e) {
  bool lone = e->high != 0;
  e->high = 0;
  return !lone || append_code_point(e, 0xFFFD);
}

/* Report the content that a piece has added to a string, at the end of the piece. */
static void give_text(tsl_events *e) {
  bool inside = e->at == STRING || e->at == ESCAPE || e->at == HEX;
  if (!inside || e->in_name || e->out.n == 0) return;
  give(e, TSL_EVENT_TEXT, TSL_STRING, e->out.at, e->out.n);
  e->out.n = 0;
}

static bool point_to(tsl_events *e, const char *name, size_t length) {
  if (!tsl__vec_reserve(&e->alloc, &e->pointer, 2 * length + 1)) return false;
  e->pointer.at[e->pointer.n++] = '/';
  for (size_t i = 0; i < length; i++) {
    bool escaped = name[i] == '~' || name[i] == '/';
    e->pointer.at[e->pointer.n++] = escaped ? '~' : name[i];
    if (escaped) e->pointer.at[e->pointer.n++] = name[i] == '~' ? '0' : '1';
  }
  return true;
}

/* A value begins: if it is an item, its number is its name. */
static bool begin(tsl_events *e, tsl_value value) {
  container *c = e->open.n ? &e->open.at[e->open.n - 1] : NULL;
  if (c && !c->object) {
    char index[24];
    int n = snprintf(index, sizeof index, "%llu", (unsigned long long)c->index);
    if (!point_to(e, index, (size_t)n)) return false;
  }
  e->value = value;
  e->out.n = 0;
  give(e, TSL_EVENT_BEGIN, value, NULL, 0);
  return true;
}

/* A value ends: what follows depends on where it stands. */
static void end(tsl_events *e, tsl_value value) {
  give(e, TSL_EVENT_END, value, e->out.at, value == TSL_NUMBER ? e->out.n : 0);
  e->out.n = 0;
  container *c = e->open.n ? &e->open.at[e->open.n - 1] : NULL;
  e->at = c ? AFTER : DONE;
  if (!c) return;
  e->pointer.n = c->pointer;
  c->index++;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

typedef enum verdict { FINE, AGAIN, WRONG, NO_MEMORY } verdict;

static verdict begin_container(tsl_events *e, bool object) {
  container c = {object, 0, 0};
  if (!begin(e, object ? TSL_OBJECT : TSL_ARRAY)) return NO_MEMORY;
  c.pointer = e->pointer.n;
  if (!tsl__vec_push(&e->alloc, &e->open, c)) return NO_MEMORY;
  e->at = object ? NAME_OR_END : ITEM_OR_END;
  return FINE;
}

static verdict begin_at(tsl_events *e, tsl_value value, place at) {
  if (!begin(e, value)) return NO_MEMORY;
  e->at = at;
  e->in_name = false;
  return FINE;
}

static verdict begin_word(tsl_events *e, tsl_value value, const char *rest) {
  e->word = rest;
  return begin_at(e, value, WORD);
}

static verdict begin_number(tsl_events *e, uint8_t byte) {
  verdict v = begin_at(e, TSL_NUMBER, byte == '-' ? MINUS : byte == '0' ? ZERO : DIGITS);
  return v == FINE && !append(e, &byte, 1) ? NO_MEMORY : v;
}

static verdict read_value(tsl_events *e, uint8_t byte) {
  switch (byte) {
  case '{': return begin_container(e, true);
  case '[': return begin_container(e, false);
  case '"': return begin_at(e, TSL_STRING, STRING);
  case 't': return begin_word(e, TSL_TRUE, "rue");
  case 'f': return begin_word(e, TSL_FALSE, "alse");
  case 'n': return begin_word(e, TSL_NULL, "ull");
  default: return byte == '-' || (byte >= '0' && byte <= '9') ? begin_number(e, byte) : WRONG;
  }
}

static verdict close_container(tsl_events *e, uint8_t byte) {
  container c = e->open.at[e->open.n - 1];
  if (byte != (c.object ? '}' : ']')) return WRONG;
  e->open.n--;
  end(e, c.object ? TSL_OBJECT : TSL_ARRAY);
  return FINE;
}

static verdict read_name(tsl_events *e, uint8_t byte) {
  if (byte != '"') return WRONG;
  e->at = STRING;
  e->in_name = true;
  e->out.n = 0;
  return FINE;
}

static verdict read_between(tsl_events *e, uint8_t byte) {
  if (byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r') return FINE;
  switch (e->at) {
  case VALUE: return read_value(e, byte);
  case ITEM_OR_END: return byte == ']' ? close_container(e, byte) : read_value(e, byte);
  case NAME_OR_END: return byte == '}' ? close_container(e, byte) : read_name(e, byte);
  case NAME: return read_name(e, byte);
  case COLON: return byte == ':' ? (e->at = VALUE, FINE) : WRONG;
  case AFTER:
    if (byte != ',') return close_container(e, byte);
    e->at = e->open.at[e->open.n - 1].object ? NAME : VALUE;
    return FINE;
  default: return WRONG; /* something after the text */
  }
}

/* ---- strings --------------------------------------------------------------------------------- */

static verdict end_string(tsl_events *e) {
  if (!append_lone(e)) return NO_MEMORY;
  if (e->in_name) {
    e->at = COLON;
    return point_to(e, e->out.at, e->out.n) ? FINE : NO_MEMORY;
  }
  give_text(e);
  end(e, TSL_STRING);
  return FINE;
}

/* A byte of a character of two to four. */
static verdict read_partial(tsl_events *e, uint8_t byte) {
  uint32_t cp;
  if (e->partial_n == 0) e->partial_need = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
  e->partial[e->partial_n++] = byte;
  if (e->partial_n < e->partial_need)
    return e->partial_n == 1 || (byte & 0xC0) == 0x80 ? FINE : WRONG;
  e->partial_n = 0;
  if (tsl__utf8_decode(e->partial, e->partial_need, &cp) != e->partial_need) return WRONG;
  return append(e, e->partial, e->partial_need) ? FINE : NO_MEMORY;
}

static verdict read_string(tsl_events *e, uint8_t byte) {
  if (e->partial_n) return read_partial(e, byte);
  if (byte == '\\') return e->at = ESCAPE, FINE;
  if (byte == '"') return end_string(e);
  if (byte < 0x20) return WRONG;
  if (!append_lone(e)) return NO_MEMORY;
  if (byte >= 0x80) return read_partial(e, byte);
  return append(e, &byte, 1) ? FINE : NO_MEMORY;
}

static verdict read_escape(tsl_events *e, uint8_t byte) {
  uint8_t means = tsl__escaped(byte);
  if (byte == 'u') {
    e->at = HEX;
    e->hex = e->hex_n = 0;
    return FINE;
  }
  if (!means) return WRONG;
  e->at = STRING;
  return append_lone(e) && append(e, &means, 1) ? FINE : NO_MEMORY;
}

static verdict read_hex(tsl_events *e, uint8_t byte) {
  int digit = tsl__hex_value(byte);
  if (digit < 0) return WRONG;
  e->hex = e->hex << 4 | (uint32_t)digit;
  if (++e->hex_n < 4) return FINE;
  e->at = STRING;
  bool low = e->hex >= 0xDC00 && e->hex <= 0xDFFF, high = e->hex >= 0xD800 && e->hex <= 0xDBFF;
  if (low && e->high) {
    uint32_t cp = 0x10000 + ((e->high - 0xD800) << 10) + (e->hex - 0xDC00);
    e->high = 0;
    return append_code_point(e, cp) ? FINE : NO_MEMORY;
  }
  if (!append_lone(e)) return NO_MEMORY;
  if (high) return e->high = e->hex, FINE;
  return append_code_point(e, low ? 0xFFFD : e->hex) ? FINE : NO_MEMORY;
}

/* ---- numbers and words ----------------------------------------------------------------------- */

static bool number_may_end(place at) {
  return at == ZERO || at == DIGITS || at == FRACTION || at == EXPONENT;
}

/* The place in a number after a byte; VALUE: the byte does not belong to the number. */
static place number_next(place at, uint8_t byte) {
  bool digit = byte >= '0' && byte <= '9';
  if (digit) {
    static const place next[] = {
        [MINUS] = DIGITS, [DIGITS] = DIGITS, [POINT] = FRACTION,    [FRACTION] = FRACTION,
        [E] = EXPONENT,   [SIGN] = EXPONENT, [EXPONENT] = EXPONENT, [ZERO] = VALUE};
    return at == MINUS && byte == '0' ? ZERO : next[at];
  }
  if (byte == '.') return at == ZERO || at == DIGITS ? POINT : VALUE;
  if (byte == 'e' || byte == 'E') return at == ZERO || at == DIGITS || at == FRACTION ? E : VALUE;
  return (byte == '+' || byte == '-') && at == E ? SIGN : VALUE;
}

static verdict read_number(tsl_events *e, uint8_t byte) {
  place next = number_next(e->at, byte);
  if (next == VALUE) {
    if (!number_may_end(e->at)) return WRONG;
    end(e, TSL_NUMBER);
    return AGAIN;
  }
  e->at = next;
  return append(e, &byte, 1) ? FINE : NO_MEMORY;
}

static verdict read_word(tsl_events *e, uint8_t byte) {
  if (byte != (uint8_t)*e->word) return WRONG;
  if (!*++e->word) end(e, e->value);
  return FINE;
}

static verdict read_byte(tsl_events *e, uint8_t byte) {
  switch (e->at) {
  case STRING: return read_string(e, byte);
  case ESCAPE: return read_escape(e, byte);
  case HEX: return read_hex(e, byte);
  case WORD: return read_word(e, byte);
  case MINUS:
  case ZERO:
  case DIGITS:
  case POINT:
  case FRACTION:
  case E:
  case SIGN:
  case EXPONENT: return read_number(e, byte);
  default: return read_between(e, byte);
  }
}

/* ---- the text -------------------------------------------------------------------------------- */

static tsl_status fail(tsl_events *e, tsl_error *error, tsl_status status, const char *message) {
  e->broken = true;
  tsl__fail(error, status, "%s", message);
  if (error) error->offset = (size_t)e->offset;
  return status;
}

tsl_status tsl_events_feed(tsl_events *e, const void *bytes, size_t length, tsl_error *error) {
  if (e->broken) return tsl__fail(error, TSL_ERR_STATE, "an earlier piece of the text was refused");
  verdict v = FINE;
  for (size_t i = 0; i < length && v == FINE; i++) {
    do v = read_byte(e, ((const uint8_t *)bytes)[i]);
    while (v == AGAIN);
    e->offset += v == FINE;
  }
  give_text(e);
  if (v == FINE) return TSL_OK;
  return v == WRONG ? fail(e, error, TSL_ERR_SYNTAX, "this byte cannot come here in a JSON text")
                    : fail(e, error, TSL_ERR_NO_MEMORY, "out of memory");
}

tsl_status tsl_events_end(tsl_events *e, tsl_error *error) {
  if (e->broken) return tsl__fail(error, TSL_ERR_STATE, "an earlier piece of the text was refused");
  if (e->open.n == 0 && number_may_end(e->at)) end(e, TSL_NUMBER);
  return e->at == DONE ? TSL_OK : fail(e, error, TSL_ERR_SYNTAX, "the JSON text ends too early");
}
