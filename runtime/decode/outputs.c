/* outputs.c - see outputs.h. Depth first over the bytes that may come, smallest first: so the texts come sorted. Every way leads to a text, as there are no dead ends; so
 * the work is at most the number of texts times their length, and an endless grammar runs into one of the two limits. In plain JSON a way ends with an escape that is not needed:
 * which one is, is known at its end, from what may stand in its place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/decode/outputs.h"

typedef struct turn {
  tsl__stack at; /* after `byte` */
  uint32_t depth; /* of the text with it */
  uint8_t byte;
} turn;

typedef struct listing {
  tsl__outputs *out;
  const tsl_allocator *alloc;
  tsl__space *space;
  TSL__VEC(turn) todo;
  TSL__VEC(uint8_t) text;
  TSL__VEC(tsl__stack) stood; /* for plain JSON: before each byte of the text */
  uint32_t max;
  bool plain_json;
} listing;

void tsl__outputs_init(tsl__outputs *o, const tsl_allocator *a) {
  *o = (tsl__outputs){0};
  tsl__arena_init(&o->arena, a);
}

void tsl__outputs_free(tsl__outputs *o, const tsl_allocator *a) {
  tsl__vec_free(a, &o->list);
  tsl__arena_free(&o->arena);
}

static bool out_of_memory(const listing *l) {
  tsl__space_no_memory(l->space);
  return false;
}

/* ---- plain JSON ------------------------------------------------------------------------------------------------ */

/* Is this byte the backslash of an escape? Of several in a row every other one is. */
static bool begins_escape(const listing *l, size_t at) {
  size_t n = 0;
  while (n <= at && l->text.at[at - n] == '\\') n++;
  return n & 1;
}

/* The value of an escape \uXXXX that begins so many bytes before the end of the text; -1: there is none. */
static int32_t unit(const listing *l, size_t back) {
  size_t at = l->text.n - back;
  int32_t value = 0;
  if (l->text.at[at + 1] != 'u' || !begins_escape(l, at)) return -1;
  for (size_t i = at + 2; i < at + 6; i++) {
    int digit = tsl__hex_value(l->text.at[i]);
    if (digit < 0) return -1;
    value = value << 4 | digit;
  }
  return value;
}

static bool is_half(int32_t unit, int32_t first) { return unit >= first && unit < first + 0x400; }

static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";

/* The character of an escape that ends the text, and the escape's length; -1: none ends here, or only half of a character. */
static int32_t ended_escape(const listing *l, size_t *length) {
  size_t n = l->text.n;
  int32_t second = n >= 6 ? unit(l, 6) : -1, first = is_half(second, 0xDC00) && n >= 12 ? unit(l, 12) : -1;
  const char *letter = n >= 2 && begins_escape(l, n - 2) && l->text.at[n - 1] ? strchr(letters, l->text.at[n - 1]) : NULL;
  *length = letter ? 2 : is_half(first, 0xD800) ? 12 : 6;
  if (letter) return meant[letter - letters];
  if (is_half(first, 0xD800)) return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
  return is_half(second, 0xD800) || is_half(second, 0xDC00) ? -1 : second;
}

/* May this stand instead of the text's last `length` bytes? */
static bool may_stand(const listing *l, size_t length, const uint8_t *bytes, size_t n) {
  size_t accepted;
  return tsl__stack_bytes(l->space, l->stood.at[l->text.n - length], bytes, n, &accepted) != 0;
}

/* Does the text end with an escape where the character itself may stand, or one of \uXXXX where a short one may, or small digits instead of large ones? */
static bool needless(const listing *l) {
  size_t length;
  int32_t c = ended_escape(l, &length);
  if (c < 0) return false;
  uint8_t raw[4], small[12] = {'\\'};
  if (c >= 0x20 && c != '"' && c != '\\' && may_stand(l, length, raw, tsl__utf8_encode((uint32_t)c, raw))) return true;
  if (length == 2) return false;
  const char *found = c && c < 0x80 ? strchr(meant, c) : NULL;
  if (found) small[1] = (uint8_t)letters[found - meant];
  if (found && may_stand(l, length, small, 2)) return true;
  memcpy(small, l->text.at + l->text.n - length, length);
  for (size_t i = 0; i < length; i++) small[i] |= small[i] >= 'A' && small[i] <= 'F' ? 0x20 : 0;
  return memcmp(small, l->text.at + l->text.n - length, length) && may_stand(l, length, small, length);
}

/* ---- all texts ------------------------------------------------------------------------------------------------- */

static bool keep(listing *l) {
  tsl__output o = {tsl__arena_copy(&l->out->arena, l->text.at, l->text.n + !l->text.n), l->text.n};
  if (l->out->list.n >= l->max) {
    tsl__space_fail(l->space, TSL_ERR_LIMIT, "the grammar has more texts than max_outputs");
    return false;
  }
  return (o.bytes && tsl__vec_push(l->alloc, &l->out->list, o)) || out_of_memory(l);
}

/* All bytes that may follow, the smallest on top. */
static bool turn_off(listing *l, tsl__stack at) {
  tsl__bytes next;
  if (!tsl__stack_next(l->space, at, &next)) return false;
  for (unsigned b = 256; b-- > 0;) {
    if (!tsl__bytes_has(&next, b)) continue;
    turn t = {tsl__stack_byte(l->space, at, (uint8_t)b), (uint32_t)l->text.n + 1, (uint8_t)b};
    if (t.at && !tsl__vec_push(l->alloc, &l->todo, t)) return out_of_memory(l);
  }
  return true;
}

static bool visit(listing *l, tsl__stack at) {
  if (l->text.n > TSL__OUTPUT_MAX) return tsl__space_fail(l->space, TSL_ERR_LIMIT, "the grammar has a text of over 65,536 bytes"), false;
  if (l->plain_json && needless(l)) return l->space->status == TSL_OK;
  if (tsl__stack_at(l->space, at)->complete && !keep(l)) return false;
  l->stood.n = l->text.n;
  if (l->plain_json && !tsl__vec_push(l->alloc, &l->stood, at)) return out_of_memory(l);
  return turn_off(l, at) && l->space->status == TSL_OK;
}

static void list_all(listing *l, tsl__stack begin) {
  bool more = (tsl__vec_reserve(l->alloc, &l->text, 1) || out_of_memory(l)) && visit(l, begin);
  for (uint32_t steps = 1; more && l->todo.n; steps++) {
    turn t = l->todo.at[--l->todo.n];
    if (steps % 1024 == 0) tsl__space_go_on(l->space); /* the step budget is for a piece of work of that size */
    l->text.n = t.depth - 1;
    more = tsl__vec_push(l->alloc, &l->text, t.byte) ? visit(l, t.at) : out_of_memory(l);
  }
}

tsl_status tsl__outputs_find(tsl__outputs *o, const tsl_allocator *a, tsl_grammar *grammar, uint32_t max, bool plain_json, tsl_error *error) {
  listing l = {.out = o, .alloc = a, .space = tsl__grammar_lock(grammar), .max = max, .plain_json = plain_json};
  list_all(&l, grammar->begin);
  if (l.space->status == TSL_OK && l.space->names_tokens) tsl__space_fail(l.space, TSL_ERR_UNSUPPORTED, "the grammar names tokens: its texts are not bytes alone");
  const char *why = l.space->why;
  tsl_status status = tsl__grammar_unlock(grammar);
  tsl__vec_free(a, &l.todo);
  tsl__vec_free(a, &l.text);
  tsl__vec_free(a, &l.stood);
  return status == TSL_OK ? status : tsl__fail(error, status, "%s", why ? why : tsl_status_name(status));
}
