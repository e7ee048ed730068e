/* distinct_unbounded.c - can the name, string or number under way still become any number of texts,
 * and an item any number of values?
 *
 * Problem   A search for one text that differs (distinct_search.c) depends on what was used, so its
 *           result is of use for one text only.
 * Idea      If any number of texts may come, one of them is new, whatever was read. This depends on
 *           the frames alone, and is kept for the plain position (tsl__key_endless,
 *           tsl__key_texts). "Not known" is kept as well: then the search decides.
 * Search    looks for a string with any number of texts, or a number with any number of digits. As
 *           many as MANY_TEXTS are enough. An array counts as well if it can come back to where it
 *           was with one item more. The frames may come to these before the item is over. The
 *           search goes depth first over plain positions, a byte at a time, into members and their
 *           values first. It never goes through a name that must be new, unless there are any
 *           number of these names. In an array within whose items must be new it does not go past
 *           the first item.
 * Texts     of a string are counted over the states of its frame: the sum over the bytes that may
 *           come next. A count stops where it is large enough (tsl__state_spells). So 40 used
 *           addresses are compared with no others: after `"200` more than 40 may come.
 * Example   Items {"id": integer}. At `[` the bytes `{"id":1` lead to a digit that may be followed
 *           by any digits: UNBOUNDED. Items true or false: nothing is found, NOT_KNOWN.
 * Tokens    A token that lengthens a string or a number is followed from state to state, without a
 *           run (tsl__run_lengthens). Where it leaves more texts than values were used, one of
 *           these texts is new, and the token is not tried.
 * Cost      At most LOOKS_MAX places, once for each plain position.
 * Tested by tests/position/test_distinct.c, tests/position/test_distinct_tokens.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/position/distinct_run.h"

#include "runtime/walk/fixed.h"

/* ---- what is under way in a string or a number ----------------------------------------------- */

/* iterations of a counted loop with two ways or more: more texts than there can be names */
#define MANY 32u

/* Do two bytes or more begin another iteration of the state's counted loop, of which many are
 * left? */
static bool counts_far(const tsl__space *space, const tsl__state_rec *r, uint32_t count) {
  unsigned ways = 0;
  if (!(r->flags & TSL__STATE_LOOP) || r->loop_max - count < MANY) return false;
  for (unsigned i = 0, byte = 0; i < r->ranges; byte = tsl__state_upper(r)[i++] + 1u) {
    tsl__target t = r->targets[i];
    bool next = t && !tsl__target_is_later(t) && tsl__target_op(t) == TSL__OP_NEXT &&
                tsl__state_at(space, tsl__target_state(t))->handle == r->handle;
    ways += next ? tsl__state_upper(r)[i] + 1u - byte : 0;
  }
  return ways > 1;
}

static bool loops(const tsl__space *space, const tsl__state_rec *r, uint32_t count) {
  return (tsl__state_fixed(r) && tsl__state_fixed(r)->others) || !tsl__bytes_empty(r->self) ||
         counts_far(space, r, count);
}

/* Bytes of a range that each begin another text, whether it is a character or within an escape.
 * They hold no capitals, which hexadecimal digits may be, and no `u`, by which any character is
 * escaped. */
static uint32_t ways_in(unsigned from, unsigned upper) {
  /* from '!' to '~' without '"', '\\', 'u' and capitals */
  static const tsl__bytes ways = {{0xFFFFFFFA00000000u, 0x7FDFFFFFE8000001u, 0, 0}};
  tsl__bytes row = {{0}};
  tsl__bytes_add_range(&row, from, upper);
  return tsl__ones(row.w[0] & ways.w[0]) + tsl__ones(row.w[1] & ways.w[1]);
}

/* More texts than there can be items, as a text of items has 2^31 bytes at most. */
#define MANY_TEXTS ((uint64_t)1 << 31)
#define LOOKS 64u /* states that are looked at in one search */

/* May the rest of a text be read there, or end? Else a counted loop is at its maximum. */
static bool goes_on(const tsl__state_rec *r) {
  return r->live_count || r->edges || r->flags & TSL__STATE_NULLABLE;
}

/* What is known of the texts from a state; those of a counted loop depend on its register. */
static bool texts_known(const tsl__space *space, tsl__state state, uint64_t *texts) {
  uint32_t found;
  if (!tsl__move_find(space, state, tsl__key_texts(), &found)) return false;
  return *texts = found, true;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* The first byte of the range of the most ways on that is not among those tried; -1: there is
 * none. */
static int widest(const tsl__state_rec *r, tsl__bytes *tried, uint32_t *ways) {
  int from = -1;
  for (unsigned i = 0, byte = 0; i < r->ranges; byte = tsl__state_upper(r)[i++] + 1u) {
    if (!r->targets[i] || tsl__bytes_has(tried, (uint8_t)byte)) continue;
    uint32_t here = ways_in(byte, tsl__state_upper(r)[i]);
    if (from < 0 || here > *ways) *ways = here, from = (int)byte;
  }
  if (from >= 0) tsl__bytes_add(tried, (uint8_t)from);
  return from;
}

#define LOOKS_ASIDE 3u /* of those, ranges without a way of their own */

/* A lower bound of how many texts can be spelled from a state, up to `need`. *looks: so many states
 * more may be looked at. */
static uint64_t texts_from(tsl__space *space, tsl__state state, uint32_t count, uint64_t need,
                           uint32_t *looks) {
  const tsl__state_rec *r = tsl__state_expanded(space, state);
  uint64_t n = 0, known;
  if (!r || loops(space, r, count)) return r ? need : 0;
  if (tsl__state_fixed(r)) return least(tsl__state_fixed(r)->hi - tsl__state_fixed(r)->lo, need);
  if (!goes_on(r)) return 0;
  if (need <= 1 || r->flags & TSL__STATE_FORK || !*looks) return 1;
  bool counts = r->flags & TSL__STATE_LOOP;
  if (!counts && texts_known(space, state, &known)) return least(known, need);
  --*looks;
  tsl__bytes tried = {{0}};
  uint32_t ways = 0, aside = 0, c;
  for (int byte; n < need && aside < LOOKS_ASIDE && space->status == TSL_OK &&
                 (byte = widest(r, &tried, &ways)) >= 0;) {
    tsl__target t = tsl__state_step(space, r, (uint8_t)byte);
    aside += !ways;
    if (!t) continue;
    tsl__state to = tsl__target_resolve(space, t, count, &c);
    uint64_t there = texts_from(space, to, c, ways ? (need - n + ways - 1) / ways : need, looks);
    /* without a way of their own they may be other spellings of the same texts */
    n = ways ? n + ways * there : there > n ? there : n;
  }
  n = n < 1 ? 1 : least(n, need);
  bool final = !counts && *looks && (n < need || n == MANY_TEXTS) && space->status == TSL_OK;
  if (final && !texts_known(space, state, &known))
    tsl__move_add(space, state, tsl__key_texts(), (uint32_t)n);
  return n;
}

bool tsl__state_spells(tsl__space *space, tsl__state state, uint32_t count, uint64_t more_than) {
  uint32_t looks = LOOKS;
  uint64_t need = more_than < MANY_TEXTS ? more_than + 1 : MANY_TEXTS;
  return texts_from(space, state, count, need, &looks) >= need;
}

bool tsl__run_names_on(tsl__space *space, const tsl__run *r, uint32_t seen_names) {
  for (size_t i = 0; i < r->step.landed.n; i++) {
    const tsl__cell *c = &r->step.landed.at[i];
    if (tsl__cell_names(space, c) && tsl__state_spells(space, c->state, c->count, seen_names))
      return true;
  }
  return false;
}

/* A lower bound of the numbers that digits from 1 to 9 lead to, up to MANY_TEXTS. Digits that lead
 * back to a state may come any number of times. (`self` is empty where a number may end.) */
static uint64_t numbers_from(tsl__space *space, tsl__state state, uint32_t count) {
  tsl__state seen = state;
  uint32_t seen_count = count;
  uint64_t n = 1;
  for (uint32_t i = 0; n < MANY_TEXTS && i < LOOKS; i++) {
    const tsl__state_rec *r = tsl__state_expanded(space, state);
    tsl__target t = r ? tsl__state_step(space, r, '1') : 0;
    if (!t) return n;
    if (tsl__state_step(space, r, '9') == t) n *= 9;
    state = tsl__target_resolve(space, t, count, &count);
    if (state == seen && count == seen_count) return MANY_TEXTS;
    if (!(i & (i + 1))) seen = state, seen_count = count;
  }
  return n;
}

#define LOOK_BACK 8u /* parts of a text: longer numbers are not looked at */

/* Do `n` bytes after a text end in a number without an exponent, or in what a number may follow? */
static bool may_count(const tsl__space *space, uint32_t text, const uint8_t *at, size_t n) {
  for (uint32_t parts = 0; parts <= LOOK_BACK; parts++) {
    while (n-- > 0)
      if (!memchr("0123456789.-", at[n], 12)) return memchr(" \t\n\r,[:", at[n], 7);
    if (!text) return true;
    const tsl__text *t = tsl__space_at(space, texts, text);
    at = t->at;
    n = t->n;
    text = t->before;
  }
  return false;
}

/* A number without an exponent under way that may have any number of digits more, of which some are
 * not zero. */
static bool counts_on(tsl__space *space, const tsl__run *r) {
  if (r->in_string || !may_count(space, r->text, r->bytes.at, r->bytes.n)) return false;
  for (size_t k = 0; k < r->step.landed.n; k++) {
    const tsl__cell *c = &r->step.landed.at[k];
    if (numbers_from(space, c->state, c->count) >= MANY_TEXTS) return true;
  }
  return false;
}

/* ---- tokens that lengthen a string or a number ----------------------------------------------- */

uint64_t tsl__used_in_all(const tsl__space *space, uint32_t open) {
  uint64_t n = 0;
  for (const tsl__open *o; open; open = o->below) {
    o = tsl__open_at(space, open);
    for (uint32_t used = o->array ? o->used : 0; used;
         used = ((const tsl__used *)tsl__space_at(space, used, used))->next)
      n += ((const tsl__used *)tsl__space_at(space, used, used))->count;
  }
  return n;
}

tsl__onward tsl__run_onward(const tsl__space *space, tsl__stack at) {
  const tsl__with_distinct *p = tsl__with_distinct_at(space, at);
  const tsl__distinct *m = tsl__distinct_at(space, p->distinct);
  bool may = m->in_string ? !m->escaped && !m->name : may_count(space, p->text, NULL, 0);
  return (tsl__onward){.plain = may ? p->plain : 0,
                       .used = may ? tsl__used_in_all(space, m->open) : 0,
                       .in_string = m->in_string};
}

/* The frame after the first digit in which most digits may come. */
static void begin_digits(tsl__space *space, tsl__run *r, tsl__onward *o, unsigned digit) {
  uint64_t most = 0, n;
  o->known |= 1u << digit;
  if (!tsl__step_load(space, &r->step, o->plain) ||
      !tsl__step_byte(space, &r->step, (uint8_t)('0' + digit)))
    return;
  for (size_t i = 0; i < r->step.landed.n; i++) {
    const tsl__cell *c = &r->step.landed.at[i];
    if ((n = numbers_from(space, c->state, c->count)) <= most) continue;
    most = n;
    o->state[digit] = c->state;
    o->count[digit] = c->count;
  }
}

/* Follow the bytes of a token that are such as these from a state; false: it has others, or leads
 * nowhere. */
static bool follow_within(tsl__space *space, tsl__state *state, uint32_t *count, const uint8_t *at,
                          const uint8_t *end, bool in_string) {
  for (; at < end && *state; at++) {
    const tsl__state_rec *r = tsl__state_expanded(space, *state);
    bool such = in_string ? tsl__stands_raw(*at) : tsl__is_digit(*at);
    if (!r || !such || r->flags & TSL__STATE_FORK) return false;
    *state = tsl__target_resolve(space, tsl__state_step(space, r, *at), *count, count);
  }
  return *state;
}

bool tsl__run_lengthens(tsl__space *space, tsl__run *r, tsl__onward *o, const uint8_t *at,
                        const uint8_t *end) {
  if (!o->plain || at == end || (!o->in_string && !tsl__is_digit(*at))) return false;
  if (!o->in_string) {
    unsigned first = *at - '0';
    if (!(o->known >> first & 1)) begin_digits(space, r, o, first);
    tsl__state state = o->state[first];
    uint32_t count = o->count[first];
    return follow_within(space, &state, &count, at + 1, end, false) &&
           numbers_from(space, state, count) > o->used;
  }
  const tsl__stack_rec *s = tsl__stack_at(space, o->plain);
  for (uint32_t i = 0; i < s->n; i++) {
    const tsl__cell *c = tsl__stack_cell(space, s, i);
    tsl__state state = c->state;
    uint32_t count = c->count;
    if (follow_within(space, &state, &count, at, end, true) &&
        tsl__state_spells(space, state, count, o->used))
      return true;
  }
  return false;
}

bool tsl__run_strings_on(tsl__space *space, const tsl__run *r, uint64_t more_than) {
  for (size_t i = 0; r->in_string && i < r->step.landed.n; i++)
    if (tsl__state_spells(space, r->step.landed.at[i].state, r->step.landed.at[i].count, more_than))
      return true;
  return false;
}

bool tsl__run_watched(tsl__space *space, tsl__run *r) {
  if (r->denies.n && !tsl__run_strings_on(space, r, TSL__ENDLESS) && !counts_on(space, r))
    return true;
  uint32_t seen_names = tsl__run_seen(space, r);
  /* where a name begins there are enough: the compiler saw to it */
  if (!seen_names || tsl__run_name_empty(r) ||
      tsl__run_names_on(space, r, tsl__seen_names_total(space, seen_names)))
    return false;
  const tsl__spelling *s = tsl__run_spelling(space, r);
  return s && tsl__seen_names_rivals(space, seen_names, s);
}

/* ---- an item --------------------------------------------------------------------------------- */

#define LOOKS_MAX 128u /* positions looked around */

enum { UNBOUNDED = 1, NOT_KNOWN = 2 };

typedef struct place {
  tsl__stack at;
  uint16_t from;          /* which place led here */
  uint16_t tried;         /* ways on that were tried */
  uint16_t level;         /* containers of the item that are open */
  char last;              /* byte outside strings; a string is one quote */
  bool in_string, digits; /* digits: the last byte was one */
  bool exponent; /* a number under way may have one: its digits need not change the value */
} place;

typedef struct looking {
  place seen[LOOKS_MAX];
  uint32_t n;
  bool full; /* there is no room for more */
  bool adds; /* a byte led back to a place on the way, and each such round adds an item */
  tsl__stepping step;
} looking;

static bool known(const tsl__space *space, const place *p, uint32_t *verdict) {
  return tsl__move_find(space, p->at, tsl__key_endless(p->level), verdict);
}

static void note(tsl__space *space, const place *p, uint32_t verdict) {
  uint32_t before;
  if (!known(space, p, &before)) tsl__move_add(space, p->at, tsl__key_endless(p->level), verdict);
}

/* Is there a value under way already of which there are any number? *names: or a name that must be
 * new. */
static bool is_endless(tsl__space *space, const place *p, bool *names) {
  const tsl__stack_rec *s = tsl__stack_at(space, p->at);
  *names = false;
  for (uint32_t i = 0; i < s->n; i++) {
    const tsl__cell *c = tsl__stack_cell(space, s, i);
    if (p->in_string && tsl__state_spells(space, c->state, c->count, TSL__ENDLESS)) return true;
    if (p->digits && numbers_from(space, c->state, c->count) >= MANY_TEXTS) return true;
    *names = *names || (p->in_string && tsl__cell_names(space, c));
  }
  return false;
}

/* The bytes to go on by, those that open something first. */
static const char in_strings[] =
    "\"0123456789 "
    "!#$%&'()*+,-./:;<=>?@[]^_`{|}~ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
                  outside[] = "\"{[:,]}12-tfnruelas";

/* A way by `p` has come back to the place `from`. Does each round add an item to an array? A comma
 * of an object has a colon after it. */
static bool adds_item(const looking *l, const place *p, uint32_t from) {
  for (bool comma = false;; p = &l->seen[p->from]) {
    comma = comma || p->last == ',';
    if (p->from == from || p->from == 0 || p->last == ':')
      return p->from == from && p->last != ':' && comma;
  }
}

/* Go by a byte from a place to a new one; false: there is none. */
static bool follow(tsl__space *space, looking *l, uint32_t from, char byte) {
  place p = l->seen[from];
  bool after_comma = p.last == ',';
  p.from = (uint16_t)from;
  p.tried = 0;
  if (!p.in_string) {
    p.exponent = p.exponent && memchr("0123456789-", byte, 11);
    p.digits = (byte == '1' || byte == '2') && !p.exponent;
    if (byte == 'e' && !memchr("rus", p.last, 3)) return false; /* an exponent */
    p.last = byte;
    if (!p.level && (byte == ',' || byte == ']' || byte == '}')) return false;
    p.level = (uint16_t)(p.level + (byte == '[' || byte == '{') - (byte == ']' || byte == '}'));
  }
  p.in_string ^= byte == '"';
  l->step.begun = 0;
  if (!tsl__step_load(space, &l->step, p.at) || !tsl__step_byte(space, &l->step, (uint8_t)byte))
    return false;
  if (after_comma && l->step.begun & TSL__NEW_ITEM) return false;
  p.at = tsl__step_collect(space, &l->step);
  for (uint32_t i = 0; i < l->n; i++)
    if (l->seen[i].at == p.at && l->seen[i].level == p.level)
      return l->adds = l->adds || adds_item(l, &p, i), false;
  l->full = l->n == LOOKS_MAX;
  if (!l->full) l->seen[l->n++] = p;
  return !l->full;
}

/* The next way on from a place; false: there is none. */
static bool go_on(tsl__space *space, looking *l, uint32_t at) {
  place *p = &l->seen[at];
  const char *bytes = p->in_string ? in_strings : outside;
  tsl__bytes next = {{0}};
  tsl__may_read(space, p->at, &next);
  while (bytes[p->tried] && !l->full && !l->adds && space->status == TSL_OK) {
    char byte = bytes[p->tried++];
    if (tsl__bytes_has(&next, (uint8_t)byte) && follow(space, l, at, byte)) return true;
  }
  return false;
}

static uint32_t search(tsl__space *space, looking *l) {
  uint32_t at = 0;
  bool done = false;
  while (!done && !l->full && space->status == TSL_OK) {
    uint32_t before = 0;
    bool names = false, fresh = !l->seen[at].tried;
    bool found =
        l->adds || (fresh && (is_endless(space, &l->seen[at], &names) ||
                              (known(space, &l->seen[at], &before) && before == UNBOUNDED)));
    for (uint32_t i = at; found; i = l->seen[i].from) {
      note(space, &l->seen[i], UNBOUNDED);
      if (i == 0) return UNBOUNDED;
    }
    if (!names && before != NOT_KNOWN && go_on(space, l, at))
      at = l->n - 1;
    else if (!l->adds && !(done = at == 0))
      at = l->seen[at].from;
  }
  for (uint32_t i = 0, all = l->full ? 1 : l->n; i < all && space->status == TSL_OK; i++)
    note(space, &l->seen[i], NOT_KNOWN);
  return NOT_KNOWN;
}

bool tsl__run_unbounded(tsl__space *space, tsl__run *r) {
  const tsl__open *o = r->open ? tsl__open_at(space, r->open) : NULL;
  uint32_t array = r->fresh, verdict = NOT_KNOWN;
  for (size_t i = 0; i < r->denies.n; i++)
    if (r->denies.at[i].depth > array) array = r->denies.at[i].depth;
  if (!o || r->escaped || o->depth < array || o->depth - array > UINT16_MAX) return false;
  bool counts = r->in_string || may_count(space, r->text, r->bytes.at, r->bytes.n);
  place begin = {.level = (uint16_t)(array ? o->depth - array : 0),
                 .in_string = r->in_string,
                 .exponent = !counts};
  if (!(begin.at = tsl__step_collect(space, &r->step))) return false;
  if (known(space, &begin, &verdict)) return verdict == UNBOUNDED;
  looking *l = tsl__alloc(&space->alloc, sizeof *l);
  if (!l) return tsl__space_no_memory(space);
  l->n = 1;
  l->full = l->adds = false;
  l->step = tsl__step_new(space);
  l->step.watch = true;
  l->seen[0] = begin;
  verdict = search(space, l);
  tsl__step_free(space, &l->step);
  tsl__free(&space->alloc, l, sizeof *l);
  return verdict == UNBOUNDED && space->status == TSL_OK;
}
