/* outputs.c - see outputs.h. Depth first over the bytes that may come, smallest first: so the texts come sorted. Every way leads to a text, as there are no dead ends; so
 * the work is at most the number of texts times their length, and an endless grammar runs into one of the two limits.
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

/* In JSON: no escape where anything else may stand, and no \uXXXX where a short one may. */
static void plain(const listing *l, tsl__bytes *next) {
  bool escape = l->text.n && l->text.at[l->text.n - 1] == '\\';
  for (size_t i = l->text.n; escape && i > 1 && l->text.at[i - 2] == '\\'; i--) escape = !escape;
  unsigned odd = escape ? 'u' : '\\';
  tsl__bytes rest = *next;
  rest.w[odd >> 6] &= ~((uint64_t)1 << (odd & 63));
  if (!tsl__bytes_empty(&rest)) *next = rest;
}

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
  if (l->plain_json) plain(l, &next);
  for (unsigned b = 256; b-- > 0;) {
    if (!tsl__bytes_has(&next, b)) continue;
    turn t = {tsl__stack_byte(l->space, at, (uint8_t)b), (uint32_t)l->text.n + 1, (uint8_t)b};
    if (t.at && !tsl__vec_push(l->alloc, &l->todo, t)) return out_of_memory(l);
  }
  return true;
}

static bool visit(listing *l, tsl__stack at) {
  if (l->text.n > TSL__OUTPUT_MAX) return tsl__space_fail(l->space, TSL_ERR_LIMIT, "the grammar has a text of over 65,536 bytes"), false;
  if (tsl__stack_at(l->space, at)->complete && !keep(l)) return false;
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
  return status == TSL_OK ? status : tsl__fail(error, status, "%s", why ? why : tsl_status_name(status));
}
