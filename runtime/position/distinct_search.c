/* distinct_search.c - can a text end from here, if the item or name under way may still become a
 * repetition?
 *
 * Problem   A frame may allow only values that were used already. If items are true or false, there
 *           is no third item after `[true, false,`. Such a position must not be reached.
 * Idea      Search over bytes, depth first, from the position. The places of the search are pairs
 *           of a plain position and a distinct record. The search succeeds at the first place where
 *           nothing under way is watched any more (distinct.h). Bytes that no deny accepts are
 *           tried first; often the first of them succeeds.
 * Ends      The values that must not be repeated are finitely many, but their spellings are not:
 *           1.000, 1e00. The search tries only numbers with few zeros in a row, and only the
 *           shortest forms of an escape. Its answer is kept for every place on the way
 *           (tsl__key_alive).
 * Example   Items "a" and "ab" are allowed, "a" is used. At `["a","a` the deny is alive. The byte b
 *           kills it: a way on is found after one byte. If "ab" is used too, each byte leads to a
 *           repetition, the queue runs empty, and the position is dead.
 * Cost      A step for each place and byte; max_steps bounds it.
 * Tested by tests/position/test_distinct.c, tests/position/test_distinct_tokens.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/position/distinct_run.h"

enum { ALIVE = 1, DEAD = 2 };

typedef struct seen {
  tsl__stack at;
  uint32_t from; /* which of the seen led to it */
} seen;

typedef struct looking {
  TSL__VEC(uint32_t) queue; /* of seen */
  TSL__VEC(seen) seen;      /* one for each pair of plain position and distinct record */
  uint32_t *slots;          /* of seen, by pair: index + 1 */
  uint32_t slot_count;
  uint32_t begun; /* bytes of the text where the search began */
  uint32_t now;   /* which of the seen is looked around */
} looking;

static uint32_t *slot_of(const tsl__space *space, looking *l, const tsl__with_distinct *p) {
  uint32_t mask = l->slot_count - 1,
           i = (uint32_t)tsl__mix((uint64_t)p->plain << 32 | p->distinct) & mask;
  for (; l->slots[i]; i = (i + 1) & mask) {
    const tsl__with_distinct *q = tsl__with_distinct_at(space, l->seen.at[l->slots[i] - 1].at);
    if (q->plain == p->plain && q->distinct == p->distinct) break;
  }
  return &l->slots[i];
}

/* Look at a position later, unless one like it was seen. */
static bool look_later(tsl__space *space, looking *l, tsl__stack at) {
  if (l->seen.n * 2 >= l->slot_count) {
    uint32_t old = l->slot_count, count = old ? old * 2 : 64,
             *slots = tsl__alloc_zero(&space->alloc, count * sizeof *slots);
    if (!slots) return tsl__space_no_memory(space);
    tsl__free(&space->alloc, l->slots, old * sizeof *slots);
    l->slots = slots;
    l->slot_count = count;
    for (uint32_t i = 0; i < l->seen.n; i++)
      *slot_of(space, l, tsl__with_distinct_at(space, l->seen.at[i].at)) = i + 1;
  }
  uint32_t *slot = slot_of(space, l, tsl__with_distinct_at(space, at));
  if (*slot) return true;
  seen fresh = {at, l->now};
  if (!tsl__vec_push(&space->alloc, &l->queue, (uint32_t)l->seen.n) ||
      !tsl__vec_push(&space->alloc, &l->seen, fresh))
    return tsl__space_no_memory(space);
  *slot = (uint32_t)l->seen.n;
  return true;
}

static bool known_alive(const tsl__space *space, tsl__stack at, uint32_t *verdict) {
  const tsl__with_distinct *p = tsl__with_distinct_at(space, at);
  return tsl__move_find(space, p->plain, tsl__key_alive(p->distinct), verdict);
}

static void note_alive(tsl__space *space, tsl__stack at, uint32_t verdict) {
  const tsl__with_distinct *p = tsl__with_distinct_at(space, at);
  uint32_t known;
  if (!known_alive(space, at, &known))
    tsl__move_add(space, p->plain, tsl__key_alive(p->distinct), verdict);
}

/* Is the text since the outermost watched item there, with all names in it? Else the name under way
 * is all that there is. */
static bool captured(const tsl__space *space, const tsl__run *r) {
  return r->open && tsl__open_at(space, r->open)->captured;
}

/* Bytes of that text. */
static uint32_t total(const tsl__space *space, const tsl__run *r) {
  if (captured(space, r)) return tsl__run_total(space, r);
  return ((const tsl__text *)tsl__space_at(space, texts, r->name_text))->total +
         (uint32_t)r->name_bytes.n;
}

/* The last bytes of the run's text, at most n. */
static uint32_t last_bytes(const tsl__space *space, const tsl__run *r, uint8_t *out, uint32_t n) {
  bool all = captured(space, r);
  const uint8_t *own = all ? r->bytes.at : r->name_bytes.at;
  uint32_t have = 0;
  for (size_t i = all ? r->bytes.n : r->name_bytes.n; i-- > 0 && have < n;)
    out[n - ++have] = own[i];
  for (uint32_t t = all ? r->text : r->name_text; t && have < n;) {
    const tsl__text *x = tsl__space_at(space, texts, t);
    for (uint32_t i = x->n; i-- > 0 && have < n;) out[n - ++have] = x->at[i];
    t = x->before;
  }
  memmove(out, out + n - have, have);
  return have;
}

#define ZEROS_MAX 40u      /* in a row, where a number has no exponent */
#define ZEROS_MAX_SHORT 6u /* where it may have one instead */

/* Would the byte only spell a number at greater length that can be spelled without? There is no end
 * to zeros at the end of a fraction, and to more than one at the beginning of an exponent. E is e,
 * and e+1 is e1. */
static bool pads(const tsl__space *space, const tsl__run *r, const tsl__bytes *next, uint8_t byte) {
  uint8_t at[ZEROS_MAX + 4];
  if (r->in_string || (!tsl__is_digit(byte) && byte != 'E' && byte != '+')) return false;
  uint32_t n = last_bytes(space, r, at, sizeof at), zeros = 0;
  if (!tsl__is_digit(byte))
    return n && (at[n - 1] == 'e' || at[n - 1] == 'E' || (byte == 'E' && tsl__is_digit(at[n - 1])));
  while (zeros < n && at[n - 1 - zeros] == '0') zeros++;
  if (zeros == 1 && n > 1) {
    uint8_t before = at[n - 2] == '+' || at[n - 2] == '-' ? n > 2 ? at[n - 3] : 0 : at[n - 2];
    if (before == 'e' || before == 'E') return byte == '0';
  }
  return byte == '0' && zeros >= (tsl__bytes_has(next, 'e') ? ZEROS_MAX_SHORT : ZEROS_MAX);
}

/* Where in the bytes does an escape of the form \uXXXX stand that is not complete; n: nowhere. */
static uint32_t open_escape(const uint8_t *at, uint32_t n) {
  for (uint32_t k = 2; k <= 5 && k <= n; k++) {
    if (at[n - k] != '\\' || at[n - k + 1] != 'u') continue;
    uint32_t slashes = 0;
    while (slashes < n - k && at[n - k - 1 - slashes] == '\\') slashes++;
    return slashes % 2 ? n : n - k;
  }
  return n;
}

/* Would the byte escape what needs no escape, or spell a hexadecimal digit in capitals? An escape
 * that was begun before the search may be anything. */
static bool respells(const tsl__space *space, const tsl__run *r, uint32_t begun, uint8_t byte) {
  uint8_t at[64];
  if (!r->in_string) return false;
  uint32_t n = last_bytes(space, r, at, sizeof at), first = total(space, r) - n;
  if (r->escaped) return byte == '/'; /* \u002f is always a way on, too */
  uint32_t escape = open_escape(at, n), digit = n - escape - 2;
  if (escape == n) return false;
  if (byte >= 'A' && byte <= 'F') return true;
  if (first + escape < begun) return false;
  /* the second half of a pair */
  if (escape >= 6 && at[escape - 6] == '\\' && at[escape - 5] == 'u' &&
      (at[escape - 4] | 0x20) == 'd')
    return false;
  return digit < 2 ? byte != '0' : digit == 2 && byte != '0' && byte != '1';
}

void tsl__may_read(tsl__space *space, tsl__stack at, tsl__bytes *out) {
  const tsl__stack_rec *p = tsl__stack_at(space, at);
  for (uint32_t i = 0; i < p->n; i++) {
    const tsl__state_rec *r = tsl__state_expanded(space, tsl__stack_cell(space, p, i)->state);
    bool more = !r || r->edges || r->flags & TSL__STATE_NULLABLE;
    for (int w = 0; w < 4; w++) out->w[w] |= more ? UINT64_MAX : r->live.w[w];
  }
}

typedef struct around {
  looking *l;
  tsl__stack at;
  tsl__bytes next;
  tsl__run *run;
} around;

/* The way on by a byte; true if it is watched no more. */
static bool look_at_byte(tsl__space *space, around *a, uint8_t byte) {
  tsl__run *r = a->run;
  uint32_t verdict = 0;
  if (!tsl__run_load(space, r, a->at) || pads(space, r, &a->next, byte) ||
      respells(space, r, a->l->begun, byte) || !tsl__run_byte(space, r, byte))
    return false;
  bool watched = tsl__run_watched(space, r);
  tsl__stack to = watched ? tsl__run_position(space, r) : 0;
  if (!watched || (to && known_alive(space, to, &verdict) && verdict == ALIVE))
    return space->status == TSL_OK;
  if (to && verdict != DEAD) look_later(space, a->l, to);
  return false;
}

#define LOW 0x1FFFFFFFFu /* bytes up to the space */

/* All ways on by one byte from a position; true as soon as one of them is watched no more. First
 * those that no repetition takes; white space, which changes nothing, last. */
static bool look_around(tsl__space *space, looking *l, tsl__stack at) {
  const tsl__with_distinct *p = tsl__with_distinct_at(space, at);
  const tsl__distinct *m = tsl__distinct_at(space, p->distinct);
  around a = {.l = l, .at = at};
  tsl__bytes repeated = {{0}};
  bool found = false;
  if (m->in_string)
    tsl__may_read(space, p->plain, &a.next);
  else if (!tsl__stack_next(space, p->distinct ? p->plain : at, &a.next))
    return false;
  tsl__space *spelled = m->n ? tsl__deny_enter(space) : NULL;
  for (uint32_t i = 0; spelled && i < m->n; i++) tsl__may_read(spelled, m->denies[i].at, &repeated);
  if (spelled) tsl__deny_leave(space);
  a.run = tsl__run_take(space);
  for (unsigned part = 0; a.run && part < 10 && !found && space->status == TSL_OK; part++) {
    unsigned w = part % 5 % 4; /* the first word in two halves */
    uint64_t bits = a.next.w[w] & (part < 5 ? ~repeated.w[w] : repeated.w[w]) &
                    (part % 5 == 0   ? ~LOW
                     : part % 5 == 4 ? LOW
                                     : UINT64_MAX);
    for (; bits && !found && space->status == TSL_OK; bits &= bits - 1)
      found = look_at_byte(space, &a, (uint8_t)(w * 64 + (unsigned)__builtin_ctzll(bits)));
  }
  tsl__run_give(space, a.run);
  return found;
}

static bool search(tsl__space *space, tsl__stack at, uint32_t begun) {
  looking l = {.begun = begun};
  bool found = false;
  uint32_t looks = 0;
  look_later(space, &l, at);
  for (; l.queue.n && !found && space->status == TSL_OK; looks++) {
    l.now = l.queue.at[--l.queue.n];
    found = look_around(space, &l, l.seen.at[l.now].at);
  }
  /* the way there; after one look it is found again as fast */
  for (uint32_t i = l.now; found && looks > 1; i = l.seen.at[i].from) {
    note_alive(space, l.seen.at[i].at, ALIVE);
    if (i == 0) break;
  }
  for (size_t i = 0; !found && i < l.seen.n && space->status == TSL_OK; i++)
    note_alive(space, l.seen.at[i].at, DEAD);
  tsl__vec_free(&space->alloc, &l.queue);
  tsl__vec_free(&space->alloc, &l.seen);
  tsl__free(&space->alloc, l.slots, l.slot_count * sizeof *l.slots);
  return found;
}

bool tsl__run_alive(tsl__space *space, tsl__run *r) {
  uint32_t verdict, begun = total(space, r);
  if (r->denies.n && tsl__run_unbounded(space, r)) return true;
  tsl__stack at = tsl__run_position(space, r);
  if (!at) return false;
  return known_alive(space, at, &verdict) ? verdict == ALIVE : search(space, at, begun);
}
