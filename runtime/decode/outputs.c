/* outputs.c - see outputs.h. Depth first over the bytes that may come, smallest first: so the texts
 * come sorted. Every way leads to a text, as there are no dead ends. So the work is at most the
 * number of texts times their length. A grammar without a longest text reaches one of the two
 * limits. With plain_json a way is given up after an escape that is not needed. At the end of the
 * escape it is known whether another spelling may stand in its place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/decode/outputs.h"

#include "runtime/automaton/seen_names.h"

typedef struct turn {
  tsl__stack at;  /* after `byte` */
  uint32_t depth; /* of the text with it */
  uint8_t byte;
} turn;

/* Between two bytes of a text; for plain JSON. */
typedef struct place {
  tsl__stack at;
  uint8_t open[12], open_count; /* an escape that is not complete */
} place;

typedef struct listing {
  tsl__outputs *out;
  const tsl_allocator *alloc;
  tsl__space *space;
  TSL__VEC(turn) todo;
  TSL__VEC(uint8_t) text;
  TSL__VEC(place) places; /* before each byte of the text, if it is to be plain JSON */
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

/* ---- plain JSON ------------------------------------------------------------------------------ */

/* May this stand instead of the text's last `length` bytes? */
static bool may_stand(const listing *l, size_t length, const uint8_t *bytes, size_t n) {
  size_t accepted;
  return tsl__stack_bytes(l->space, l->places.at[l->text.n - length].at, bytes, n, &accepted) != 0;
}

/* Read the text's last byte. Does it end an escape where the character itself may stand, or one of
 * \uXXXX where a short one may? Or does it have small digits instead of large ones? */
static bool needless(const listing *l, place *p) {
  uint8_t byte = l->text.at[l->text.n - 1], raw[4], small[12] = {'\\'};
  size_t length = p->open_count + 1u,
         n = length > 1 || byte == '\\' ? tsl__escape_byte(p->open, &p->open_count, byte, raw) : 0;
  if (!n) return false;
  if (tsl__stands_raw(raw[0]) && may_stand(l, length, raw, n)) return true;
  if (length == 2) return false;
  small[1] = tsl__escape_letter(raw[0]);
  if (small[1] && may_stand(l, length, small, 2)) return true;
  for (size_t i = 0; i < length; i++)
    small[i] = p->open[i] | (p->open[i] >= 'A' && p->open[i] <= 'F' ? 0x20 : 0);
  return memcmp(small, p->open, length) && may_stand(l, length, small, length);
}

/* ---- all texts ------------------------------------------------------------------------------- */

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
  if (l->text.n > TSL__OUTPUT_MAX)
    return tsl__space_fail(l->space, TSL_ERR_LIMIT, "the grammar has a text of over 65,536 bytes"),
           false;
  place here = l->plain_json && l->text.n ? l->places.at[l->text.n - 1] : (place){0};
  if (l->plain_json && l->text.n && needless(l, &here)) return l->space->status == TSL_OK;
  if (tsl__stack_at(l->space, at)->complete && !keep(l)) return false;
  here.at = at;
  l->places.n = l->text.n;
  if (l->plain_json && !tsl__vec_push(l->alloc, &l->places, here)) return out_of_memory(l);
  return turn_off(l, at) && l->space->status == TSL_OK;
}

static void list_all(listing *l, tsl__stack begin) {
  bool more = (tsl__vec_reserve(l->alloc, &l->text, 1) || out_of_memory(l)) && visit(l, begin);
  for (uint32_t steps = 1; more && l->todo.n; steps++) {
    turn t = l->todo.at[--l->todo.n];
    /* the step budget is for a piece of work of that size */
    if (steps % 1024 == 0) tsl__space_go_on(l->space);
    l->text.n = t.depth - 1;
    more = tsl__vec_push(l->alloc, &l->text, t.byte) ? visit(l, t.at) : out_of_memory(l);
  }
}

tsl_status tsl__outputs_find(tsl__outputs *o, const tsl_allocator *a, tsl_grammar *grammar,
                             tsl__stack from, uint32_t max, bool plain_json, tsl_error *error) {
  listing l = {.out = o,
               .alloc = a,
               .space = tsl__grammar_lock(grammar),
               .max = max,
               .plain_json = plain_json};
  list_all(&l, from);
  if (l.space->status == TSL_OK && l.space->names_tokens)
    tsl__space_fail(l.space, TSL_ERR_UNSUPPORTED,
                    "the grammar names tokens: its texts are not bytes alone");
  const char *why = l.space->why;
  tsl_status status = tsl__grammar_unlock(grammar);
  tsl__vec_free(a, &l.todo);
  tsl__vec_free(a, &l.text);
  tsl__vec_free(a, &l.places);
  return status == TSL_OK ? status
                          : tsl__fail(error, status, "%s", why ? why : tsl_status_name(status));
}
