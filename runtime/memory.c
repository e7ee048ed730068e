/* memory.c - see memory.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/memory.h"

static bool out_of_memory(tsl__space *space) {
  tsl__space_fail(space, TSL_ERR_NO_MEMORY, "out of memory");
  return false;
}

/* ---- interning ---------------------------------------------------------------------------------------------------- */

static uint64_t hash_open(const tsl__open *o) { return tsl__hash(o, sizeof *o) ^ 0x6F70656Eu; }

static uint32_t intern_open(tsl__space *space, const tsl__open *o) {
  uint64_t hash = hash_open(o);
  tsl__index_iter it = tsl__index_first(&space->opens.index, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;)
    if (!memcmp(tsl__space_at(space, opens, i), o, sizeof *o)) return i;
  tsl__open *fresh = tsl__pool_add(&space->opens.pool, &space->alloc);
  uint32_t number = tsl__space_count(space, opens) - 1;
  if (fresh) *fresh = *o;
  if (!fresh || !tsl__index_add(&space->opens.index, &space->alloc, hash, number)) return out_of_memory(space), 0;
  return number;
}

static uint32_t intern_text(tsl__space *space, uint32_t before, const uint8_t *at, uint32_t n) {
  if (n == 0) return before;
  uint64_t hash = tsl__hash(at, n) ^ tsl__mix(before + 0x74657874u);
  tsl__index_iter it = tsl__index_first(&space->texts.index, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__text *t = tsl__space_at(space, texts, i);
    if (t->before == before && t->n == n && !memcmp(t->at, at, n)) return i;
  }
  const tsl__text *b = tsl__space_at(space, texts, before);
  if (b->total > UINT32_MAX / 2 - n) return tsl__space_fail(space, TSL_ERR_LIMIT, "an item of over 2^31 bytes that must be unique"), 0;
  tsl__text made = {tsl__arena_copy(&space->arena, at, n), before, n, b->total + n};
  tsl__text *fresh = made.at ? tsl__pool_add(&space->texts.pool, &space->alloc) : NULL;
  uint32_t number = tsl__space_count(space, texts) - 1;
  if (fresh) *fresh = made;
  if (!fresh || !tsl__index_add(&space->texts.index, &space->alloc, hash, number)) return out_of_memory(space), 0;
  return number;
}

static uint32_t intern_memory(tsl__space *space, const tsl__memory *m) {
  uint64_t hash = tsl__mix((uint64_t)m->open << 2 | (uint64_t)m->in_string << 1 | m->escaped);
  for (uint32_t i = 0; i < m->n; i++) hash = tsl__mix(hash + ((uint64_t)m->denies[i].depth << 32 | m->denies[i].at));
  tsl__index_iter it = tsl__index_first(&space->memories.index, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__memory *o = tsl__space_at(space, memories, i);
    if (o->open == m->open && o->in_string == m->in_string && o->escaped == m->escaped && o->n == m->n && (!m->n || !memcmp(o->denies, m->denies, m->n * sizeof *m->denies)))
      return i;
  }
  tsl__memory made = *m;
  if (m->n && !(made.denies = tsl__arena_copy(&space->arena, m->denies, m->n * sizeof *m->denies))) return out_of_memory(space), 0;
  tsl__memory *fresh = tsl__pool_add(&space->memories.pool, &space->alloc);
  uint32_t number = tsl__space_count(space, memories) - 1;
  if (fresh) *fresh = made;
  if (!fresh || !tsl__index_add(&space->memories.index, &space->alloc, hash, number)) return out_of_memory(space), 0;
  return number;
}

/* The position of a plain one with a memory. */
static tsl__stack intern_position(tsl__space *space, tsl__stack plain, uint32_t memory, uint32_t text) {
  uint64_t hash = tsl__mix(((uint64_t)plain << 32 | memory) + (uint64_t)text * 0x9e3779b97f4a7c15u);
  tsl__index_iter it = tsl__index_first(&space->stacks.index, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__stack_rec *r = tsl__stack_at(space, i);
    if (r->memory == memory && r->plain == plain && r->text == text) return i;
  }
  tsl__stack_rec *r = tsl__pool_add(&space->stacks.pool, &space->alloc);
  uint32_t number = tsl__space_count(space, stacks) - 1;
  if (!r) return out_of_memory(space), 0;
  const tsl__stack_rec *p = tsl__stack_at(space, plain);
  r->cells = p->cells;
  r->n = p->n;
  r->complete = p->complete;
  r->plain = plain;
  r->memory = memory;
  r->text = text;
  if (!tsl__index_add(&space->stacks.index, &space->alloc, hash, number)) return out_of_memory(space), 0;
  return number;
}

tsl__stack tsl__memory_begin(tsl__space *space, tsl__stack plain) {
  tsl__memory none = {0};
  uint32_t memory = intern_memory(space, &none);
  return memory ? intern_position(space, plain, memory, 0) : 0;
}

/* ---- what was used ------------------------------------------------------------------------------------------------ */

static uint64_t hash_used(uint32_t next, const tsl__spelled *texts, uint32_t n) {
  uint64_t hash = tsl__mix(next + 0x75736564u);
  for (uint32_t i = 0; i < n; i++) hash = tsl__mix(hash ^ tsl__hash(texts[i].at, texts[i].n));
  return hash;
}

static bool same_texts(const tsl__used *u, const tsl__spelled *texts, uint32_t n) {
  if (u->count != n) return false;
  for (uint32_t i = 0; i < n; i++)
    if (u->texts[i].n != texts[i].n || memcmp(u->texts[i].at, texts[i].at, texts[i].n)) return false;
  return true;
}

/* The group of these texts before the group `next`; texts are copied. 0 on failure. */
static uint32_t group(tsl__space *space, uint32_t next, const tsl__spelled *texts, uint32_t n) {
  uint64_t hash = hash_used(next, texts, n);
  tsl__index_iter it = tsl__index_first(&space->used.index, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__used *u = tsl__space_at(space, used, i);
    if (u->next == next && same_texts(u, texts, n)) return i;
  }
  tsl__spelled *copy = tsl__arena_alloc(&space->arena, n * sizeof *copy);
  for (uint32_t i = 0; copy && i < n; i++) {
    copy[i] = (tsl__spelled){tsl__arena_copy(&space->arena, texts[i].at, texts[i].n), texts[i].n};
    if (!copy[i].at) copy = NULL;
  }
  if (!copy) return out_of_memory(space), 0;
  tsl__used made = {next, n, copy, space->hook->spellings(space->hook_ctx, copy, n)};
  if (!made.state) return 0;
  tsl__used *fresh = tsl__pool_add(&space->used.pool, &space->alloc);
  uint32_t number = tsl__space_count(space, used) - 1;
  if (fresh) *fresh = made;
  if (!fresh || !tsl__index_add(&space->used.index, &space->alloc, hash, number)) return out_of_memory(space), 0;
  return number;
}

/* One more: groups of equal size become one, as digits of a binary number carry. */
static uint32_t use(tsl__space *space, uint32_t used, tsl__spelled text) {
  TSL__VEC(tsl__spelled) all = {0};
  bool fine = tsl__vec_push(&space->alloc, &all, text);
  for (; fine && used; used = ((const tsl__used *)tsl__space_at(space, used, used))->next) {
    const tsl__used *u = tsl__space_at(space, used, used);
    if (u->count > all.n) break;
    fine = tsl__vec_reserve(&space->alloc, &all, u->count);
    if (!fine) break;
    memcpy(all.at + all.n, u->texts, u->count * sizeof *u->texts);
    all.n += u->count;
  }
  uint32_t made = fine ? group(space, used, all.at, (uint32_t)all.n) : (out_of_memory(space), 0u);
  tsl__vec_free(&space->alloc, &all);
  return made;
}

/* ---- denies ------------------------------------------------------------------------------------------------------- */

/* The two states that stand for "spelled, exactly here" and "something after that": made by hand, they belong to no expression. */
static tsl__state end_state(tsl__space *space) {
  if (space->spelled_end) return space->spelled_end;
  tsl__state end = tsl__state_new(space, 2);
  if (!end) return 0;
  for (tsl__state s = end; s <= end + 1; s++) {
    tsl__ranges all = {1, {255}, {tsl__target_make(end + 1, TSL__OP_CLEAR)}};
    if (tsl__state_fill(space, s, &all, NULL, 0, NULL, 0) != TSL_OK) return 0;
  }
  return space->spelled_end = end;
}

static tsl__stack deny_begin(tsl__space *space, uint32_t used) {
  tsl__stepping s = {0};
  tsl__state end = end_state(space);
  if (!end) return 0;
  tsl__step_land(space, &s, end, 0, 0);
  tsl__stack tail = tsl__step_collect(space, &s);
  s.landed.n = 0;
  for (; tail && used; used = ((const tsl__used *)tsl__space_at(space, used, used))->next)
    tsl__step_land(space, &s, ((const tsl__used *)tsl__space_at(space, used, used))->state, 0, tail);
  tsl__stack begin = tail ? tsl__step_collect(space, &s) : 0;
  tsl__step_free(space, &s);
  return begin;
}

/* Cells that have gone past the end are no repetitions. */
static void drop_past(const tsl__space *space, tsl__cells *cells) {
  size_t kept = 0;
  for (size_t i = 0; i < cells->n; i++)
    if (cells->at[i].state != space->spelled_end + 1) cells->at[kept++] = cells->at[i];
  cells->n = kept;
}

/* One byte on; 0: it differs from all that was used. */
static tsl__stack deny_byte(tsl__space *space, tsl__stack at, uint8_t byte) {
  tsl__stepping s = {0};
  tsl__stack to = 0;
  if (tsl__step_load(space, &s, at) && tsl__step_byte(space, &s, byte)) {
    drop_past(space, &s.landed);
    to = s.landed.n ? tsl__step_collect(space, &s) : 0;
  }
  tsl__step_free(space, &s);
  return to;
}

/* Is something that was used spelled to its end here? */
static bool deny_ends(const tsl__space *space, tsl__stack at) {
  const tsl__stack_rec *r = tsl__stack_at(space, at);
  for (uint32_t i = 0; i < r->n; i++) {
    const tsl__cell *c = tsl__cell_at(space, r->cells[i]);
    if (c->state == space->spelled_end) return true;
    if (c->tail && (tsl__state_at(space, c->state)->flags & TSL__STATE_NULLABLE) && deny_ends(space, c->tail)) return true;
  }
  return false;
}

/* ---- a run over bytes --------------------------------------------------------------------------------------------- */

typedef struct run {
  tsl__stepping step;
  uint32_t open, text;
  bool in_string, escaped;
  TSL__VEC(tsl__deny) denies;
  TSL__VEC(uint8_t) bytes; /* read since `text`, as far as anything is watched */
} run;

static void run_free(tsl__space *space, run *r) {
  tsl__step_free(space, &r->step);
  tsl__vec_free(&space->alloc, &r->denies);
  tsl__vec_free(&space->alloc, &r->bytes);
}

static bool run_load(tsl__space *space, run *r, tsl__stack at) {
  const tsl__stack_rec *p = tsl__stack_at(space, at);
  const tsl__memory *m = tsl__space_at(space, memories, p->memory);
  r->open = m->open;
  r->text = p->text;
  r->in_string = m->in_string;
  r->escaped = m->escaped;
  r->denies.n = r->bytes.n = 0;
  r->step.watch = true;
  if (!tsl__vec_reserve(&space->alloc, &r->denies, m->n)) return out_of_memory(space);
  if (m->n) memcpy(r->denies.at, m->denies, m->n * sizeof *m->denies);
  r->denies.n = m->n;
  return tsl__step_load(space, &r->step, p->plain);
}

static const tsl__open *open_at(const tsl__space *space, uint32_t i) { return tsl__space_at(space, opens, i); }

/* Is what ends in the container at that depth a repetition? */
static bool repeats(const tsl__space *space, const run *r, uint32_t depth) {
  for (size_t i = r->denies.n; i-- > 0;)
    if (r->denies.at[i].depth == depth) return deny_ends(space, r->denies.at[i].at);
  return false;
}

static void step_denies(tsl__space *space, run *r, uint8_t byte) {
  size_t kept = 0;
  for (size_t i = 0; i < r->denies.n; i++) {
    tsl__stack to = deny_byte(space, r->denies.at[i].at, byte);
    if (to) r->denies.at[kept++] = (tsl__deny){r->denies.at[i].depth, to};
  }
  r->denies.n = kept;
}

static void drop_denies(run *r, uint32_t depth) {
  while (r->denies.n && r->denies.at[r->denies.n - 1].depth >= depth) r->denies.n--;
}

static uint32_t run_total(const tsl__space *space, const run *r) {
  return ((const tsl__text *)tsl__space_at(space, texts, r->text))->total + (uint32_t)r->bytes.n;
}

/* The text from `start` on, copied into memory of its own; NULL on failure. */
static uint8_t *spelled_since(tsl__space *space, const run *r, uint32_t start, uint32_t *n) {
  *n = run_total(space, r) - start;
  uint8_t *out = tsl__alloc(&space->alloc, *n + 1);
  if (!out) return out_of_memory(space), NULL;
  uint32_t end = *n, own = (uint32_t)r->bytes.n < *n ? (uint32_t)r->bytes.n : *n;
  if (own) memcpy(out + end - own, r->bytes.at + r->bytes.n - own, own);
  end -= own;
  for (uint32_t t = r->text; end && t;) {
    const tsl__text *x = tsl__space_at(space, texts, t);
    uint32_t part = x->n < end ? x->n : end;
    memcpy(out + end - part, x->at + x->n - part, part);
    end -= part;
    t = x->before;
  }
  return out;
}

/* The current item has ended: it is used now. */
static void remember(tsl__space *space, run *r, tsl__open *o) {
  uint32_t n;
  uint8_t *text = spelled_since(space, r, o->start, &n);
  if (!text) return;
  o->used = use(space, o->used, (tsl__spelled){text, n});
  tsl__free(&space->alloc, text, n + 1);
  o->start = TSL__OPEN_NONE;
}

/* What is used already may not come next. */
static void begin_deny(tsl__space *space, run *r, const tsl__open *o) {
  if (!o->used) return;
  tsl__deny d = {o->depth, deny_begin(space, o->used)};
  if (d.at && !tsl__vec_push(&space->alloc, &r->denies, d)) out_of_memory(space);
}

static uint8_t captured(const tsl__space *space, const tsl__open *o) {
  return o->start != TSL__OPEN_NONE || (o->below && open_at(space, o->below)->captured);
}

static uint8_t remembers(const tsl__space *space, const tsl__open *o) {
  return o->captured || o->used || (o->below && open_at(space, o->below)->remembers);
}

static void set_open(tsl__space *space, run *r, tsl__open *o) {
  o->captured = captured(space, o);
  o->remembers = remembers(space, o);
  r->open = intern_open(space, o);
  if (o->captured) return;
  r->text = 0;
  r->bytes.n = 0;
}

/* An item of a guarded array begins: where the innermost container waits for one, or in an array that nothing is known of yet. What came before that one need not
 * be JSON (tags.h), and is not looked at. */
static void begin_item(tsl__space *space, run *r) {
  const tsl__open *known = r->open ? open_at(space, r->open) : NULL;
  bool expected = known && known->array && known->start == TSL__OPEN_NONE && !r->in_string;
  tsl__open o = {.depth = 1, .array = 1};
  if (expected) {
    o = *known;
  } else {
    r->denies.n = r->bytes.n = 0;
    r->text = 0;
    r->in_string = r->escaped = false;
  }
  o.start = run_total(space, r);
  set_open(space, r, &o);
}

static void close_container(tsl__space *space, run *r) {
  tsl__open o = *open_at(space, r->open);
  drop_denies(r, o.depth);
  r->open = o.below;
  if (o.captured && !(r->open && open_at(space, r->open)->captured)) {
    r->text = 0;
    r->bytes.n = 0;
  }
}

static void comma(tsl__space *space, run *r) {
  tsl__open o = *open_at(space, r->open);
  if (!o.array) return;
  drop_denies(r, o.depth);
  if (o.start != TSL__OPEN_NONE) remember(space, r, &o);
  begin_deny(space, r, &o);
  set_open(space, r, &o);
}

static void open_container(tsl__space *space, run *r, bool array) {
  tsl__open inner = {.below = r->open, .depth = open_at(space, r->open)->depth + 1, .start = TSL__OPEN_NONE, .array = array};
  set_open(space, r, &inner);
}

/* What the byte means to the structure of the text; it has been read. */
static void scan(tsl__space *space, run *r, uint8_t byte) {
  if (r->step.called) begin_item(space, r);
  if (!r->open) return;
  if (r->in_string) {
    if (r->escaped) r->escaped = false;
    else if (byte == '\\') r->escaped = true;
    else if (byte == '"') r->in_string = false;
  } else if (byte == ',') {
    comma(space, r);
  } else if (byte == ']' || byte == '}') {
    close_container(space, r);
  } else if (byte == '"') {
    r->in_string = true;
  } else if (byte == '[' || byte == '{') {
    open_container(space, r, byte == '[');
  }
}

/* One byte; false: it is rejected. */
static bool run_byte(tsl__space *space, run *r, uint8_t byte) {
  uint32_t depth = r->open ? open_at(space, r->open)->depth : 0;
  r->step.repeats_before = repeats(space, r, depth);
  step_denies(space, r, byte);
  bool closes = !r->in_string && (byte == ']' || byte == '}');
  r->step.repeats_after = repeats(space, r, closes && depth ? depth - 1 : depth);
  r->step.called = false;
  if (!tsl__step_byte(space, &r->step, byte)) return false;
  scan(space, r, byte);
  if (r->open && open_at(space, r->open)->captured && !tsl__vec_push(&space->alloc, &r->bytes, byte)) return out_of_memory(space);
  return space->status == TSL_OK;
}

/* The position that the run has come to; 0 on failure. */
static tsl__stack run_position(tsl__space *space, run *r) {
  tsl__memory m = {r->open, r->in_string, r->escaped, (uint32_t)r->denies.n, r->denies.at};
  tsl__stack plain = tsl__step_collect(space, &r->step);
  uint32_t memory = plain ? intern_memory(space, &m) : 0;
  uint32_t text = memory ? intern_text(space, r->text, r->bytes.at, (uint32_t)r->bytes.n) : 0;
  return memory && space->status == TSL_OK ? intern_position(space, plain, memory, text) : 0;
}

/* ---- can a text end from here? -------------------------------------------------------------------------------------- */

enum { ALIVE = 1, DEAD = 2 };

typedef struct looking {
  TSL__VEC(tsl__stack) queue;
  TSL__VEC(tsl__stack) seen; /* one for each pair of plain position and memory */
  uint32_t *slots;           /* of seen, by pair: index + 1 */
  uint32_t slot_count;
  uint32_t begun;            /* bytes of the text where the search began */
} looking;

static uint32_t *slot_of(const tsl__space *space, looking *l, const tsl__stack_rec *p) {
  uint32_t mask = l->slot_count - 1, i = (uint32_t)tsl__mix((uint64_t)p->plain << 32 | p->memory) & mask;
  for (; l->slots[i]; i = (i + 1) & mask) {
    const tsl__stack_rec *q = tsl__stack_at(space, l->seen.at[l->slots[i] - 1]);
    if (q->plain == p->plain && q->memory == p->memory) break;
  }
  return &l->slots[i];
}

/* Look at a position later, unless one like it was seen. */
static bool look_later(tsl__space *space, looking *l, tsl__stack at) {
  if (l->seen.n * 2 >= l->slot_count) {
    uint32_t old = l->slot_count, count = old ? old * 2 : 64, *slots = tsl__alloc_zero(&space->alloc, count * sizeof *slots);
    if (!slots) return out_of_memory(space);
    tsl__free(&space->alloc, l->slots, old * sizeof *slots);
    l->slots = slots;
    l->slot_count = count;
    for (uint32_t i = 0; i < l->seen.n; i++) *slot_of(space, l, tsl__stack_at(space, l->seen.at[i])) = i + 1;
  }
  uint32_t *slot = slot_of(space, l, tsl__stack_at(space, at));
  if (*slot) return true;
  if (!tsl__vec_push(&space->alloc, &l->seen, at) || !tsl__vec_push(&space->alloc, &l->queue, at)) return out_of_memory(space);
  *slot = (uint32_t)l->seen.n;
  return true;
}

static bool known_alive(const tsl__space *space, tsl__stack at, uint32_t *verdict) {
  const tsl__stack_rec *p = tsl__stack_at(space, at);
  return tsl__move_find(space, p->plain, TSL__MOVE_ALIVE | p->memory, verdict);
}

static void note_alive(tsl__space *space, tsl__stack at, uint32_t verdict) {
  const tsl__stack_rec *p = tsl__stack_at(space, at);
  uint32_t known;
  if (!known_alive(space, at, &known)) tsl__move_add(space, p->plain, TSL__MOVE_ALIVE | p->memory, verdict);
}

/* The last bytes of the text, at most n. */
static uint32_t last_bytes(const tsl__space *space, const run *r, uint8_t *out, uint32_t n) {
  uint32_t have = 0;
  for (size_t i = r->bytes.n; i-- > 0 && have < n;) out[n - ++have] = r->bytes.at[i];
  for (uint32_t t = r->text; t && have < n;) {
    const tsl__text *x = tsl__space_at(space, texts, t);
    for (uint32_t i = x->n; i-- > 0 && have < n;) out[n - ++have] = x->at[i];
    t = x->before;
  }
  memmove(out, out + n - have, have);
  return have;
}

static bool is_digit(uint8_t b) { return b >= '0' && b <= '9'; }

#define ZEROS_MAX 40u      /* in a row, where a number has no exponent */
#define ZEROS_MAX_SHORT 6u /* where it may have one instead */

/* Would the byte only spell a number at greater length that can be spelled without? There is no end to that: zeros at the end of a fraction, and at the
 * beginning of an exponent; E is e, and e+1 is e1. */
static bool pads(const tsl__space *space, const run *r, const tsl__bytes *next, uint8_t byte) {
  uint8_t at[ZEROS_MAX + 4];
  if (r->in_string || (!is_digit(byte) && byte != 'E' && byte != '+')) return false;
  uint32_t n = last_bytes(space, r, at, sizeof at), zeros = 0;
  if (!is_digit(byte)) return n && (at[n - 1] == 'e' || at[n - 1] == 'E' || (byte == 'E' && is_digit(at[n - 1])));
  while (zeros < n && at[n - 1 - zeros] == '0') zeros++;
  if (zeros == 1 && n > 1) {
    uint8_t before = at[n - 2] == '+' || at[n - 2] == '-' ? n > 2 ? at[n - 3] : 0 : at[n - 2];
    if (before == 'e' || before == 'E') return true;
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

/* Would the byte escape what needs no escape, or spell a hexadecimal digit in capitals? An escape that was begun before the search may be anything. */
static bool respells(const tsl__space *space, const run *r, uint32_t begun, uint8_t byte) {
  uint8_t at[64];
  if (!r->in_string) return false;
  uint32_t n = last_bytes(space, r, at, sizeof at), first = run_total(space, r) - n;
  if (r->escaped) return byte == '/' && first + n > begun;
  uint32_t escape = open_escape(at, n), digit = n - escape - 2;
  if (escape == n) return false;
  if (byte >= 'A' && byte <= 'F') return true;
  if (first + escape < begun) return false;
  if (escape >= 6 && at[escape - 6] == '\\' && at[escape - 5] == 'u' && (at[escape - 4] | 0x20) == 'd') return false; /* the second half of a pair */
  return digit < 2 ? byte != '0' : digit == 2 && byte != '0' && byte != '1';
}

/* All ways on by one byte from a position; true as soon as one of them is watched no more. */
static bool look_around(tsl__space *space, looking *l, tsl__stack at) {
  tsl__bytes next;
  run r = {0};
  bool found = false;
  if (!tsl__stack_next(space, tsl__stack_at(space, at)->plain, &next)) return false;
  for (unsigned b = 0; b < 256 && !found && space->status == TSL_OK; b++) {
    if (!tsl__bytes_has(&next, b) || !run_load(space, &r, at) || pads(space, &r, &next, (uint8_t)b) || respells(space, &r, l->begun, (uint8_t)b) || !run_byte(space, &r, (uint8_t)b)) continue;
    uint32_t verdict = 0;
    tsl__stack to = r.denies.n ? run_position(space, &r) : 0;
    if (!r.denies.n || (to && known_alive(space, to, &verdict) && verdict == ALIVE)) found = space->status == TSL_OK;
    else if (to && verdict != DEAD) look_later(space, l, to);
  }
  run_free(space, &r);
  return found;
}

static bool alive(tsl__space *space, tsl__stack at) {
  uint32_t verdict;
  if (known_alive(space, at, &verdict)) return verdict == ALIVE;
  looking l = {0};
  bool found = false;
  l.begun = ((const tsl__text *)tsl__space_at(space, texts, tsl__stack_at(space, at)->text))->total;
  look_later(space, &l, at);
  while (l.queue.n && !found && space->status == TSL_OK) found = look_around(space, &l, l.queue.at[--l.queue.n]);
  if (found) note_alive(space, at, ALIVE);
  for (size_t i = 0; !found && i < l.seen.n && space->status == TSL_OK; i++) note_alive(space, l.seen.at[i], DEAD);
  tsl__vec_free(&space->alloc, &l.queue);
  tsl__vec_free(&space->alloc, &l.seen);
  tsl__free(&space->alloc, l.slots, l.slot_count * sizeof *l.slots);
  return found;
}

/* ---- moving ------------------------------------------------------------------------------------------------------- */

tsl__stack tsl__memory_bytes(tsl__space *space, tsl__stack from, const uint8_t *bytes, size_t n, size_t *accepted) {
  run r = {0};
  size_t i = 0;
  bool fine = run_load(space, &r, from);
  for (; fine && i < n; i++) {
    if (i % 4096 == 4095) tsl__space_begin(space); /* the step budget is for a piece of work of that size */
    if (!(fine = run_byte(space, &r, bytes[i]))) break;
    if (!r.denies.n) continue;
    tsl__stack here = run_position(space, &r);
    if (!(fine = here && alive(space, here))) break;
  }
  if (accepted) *accepted = i;
  tsl__stack to = fine && space->status == TSL_OK ? run_position(space, &r) : 0;
  run_free(space, &r);
  return to;
}

/* Read a token's bytes; false if it is rejected (or on failure). */
static bool run_token(tsl__space *space, run *r, tsl__stack from, tsl_token token) {
  const tsl_vocab *v = space->vocab;
  uint32_t begin = v->offsets[token], end = v->offsets[token + 1];
  if (v->special[token] || begin == end || !run_load(space, r, from)) return false;
  for (uint32_t i = begin; i < end; i++)
    if (!run_byte(space, r, v->bytes[i])) return false;
  return true;
}

tsl__stack tsl__memory_token(tsl__space *space, tsl__stack from, tsl_token token) {
  run r = {0};
  tsl__stack to = run_token(space, &r, from, token) ? run_position(space, &r) : 0;
  if (to && r.denies.n && !alive(space, to)) to = 0;
  run_free(space, &r);
  return to;
}

bool tsl__memory_next(tsl__space *space, tsl__stack at, tsl__bytes *out) {
  tsl__bytes next;
  memset(out, 0, sizeof *out);
  if (!tsl__stack_next(space, tsl__stack_at(space, at)->plain, &next)) return false;
  for (unsigned b = 0; b < 256 && space->status == TSL_OK; b++) {
    uint8_t byte = (uint8_t)b;
    if (tsl__bytes_has(&next, b) && tsl__memory_bytes(space, at, &byte, 1, NULL)) tsl__bytes_add(out, b);
  }
  return space->status == TSL_OK;
}

/* ---- masks -------------------------------------------------------------------------------------------------------- */

/* Does the token lead somewhere? A position is made only where a search needs one. */
static bool leads(tsl__space *space, run *r, tsl__stack from, tsl_token token) {
  if (!run_token(space, r, from, token)) return false;
  if (!r->denies.n) return true;
  tsl__stack to = run_position(space, r);
  return to && alive(space, to);
}

#define AHEAD_MAX 4u /* frames that may be empty (white space) between an array's bracket and its first item */

/* May an item begin here that must be new, in an array that nothing is known of yet? */
static bool item_ahead(tsl__space *space, tsl__state state, tsl__stack tail, uint32_t depth) {
  const tsl__state_rec *r = tsl__state_expanded(space, state);
  if (!r || depth == AHEAD_MAX) return false;
  for (uint32_t i = 0; i < r->edges; i++) {
    tsl__state then = tsl__target_state(r->edge[i].push);
    if (then && (tsl__state_at(space, then)->guarded || item_ahead(space, then, 0, depth + 1))) return true;
    if (!then && item_ahead(space, tsl__target_state(r->edge[i].to), tail, depth + 1)) return true;
  }
  const tsl__stack_rec *t = tail && (r->flags & TSL__STATE_NULLABLE) ? tsl__stack_at(space, tail) : NULL;
  for (uint32_t i = 0; t && i < t->n; i++) {
    const tsl__cell *c = tsl__cell_at(space, t->cells[i]);
    if (item_ahead(space, c->state, c->tail, depth + 1)) return true;
  }
  return false;
}

static bool first_item_ahead(tsl__space *space, tsl__stack plain) {
  const tsl__stack_rec *r = tsl__stack_at(space, plain);
  for (uint32_t i = 0; i < r->n; i++) {
    const tsl__cell *c = tsl__cell_at(space, r->cells[i]);
    if (item_ahead(space, c->state, c->tail, 0)) return true;
  }
  return false;
}

static const uint32_t *crossing(tsl__space *space, const tsl__memory *m, tsl__stack plain) {
  const tsl__crossing *c = space->parent->crossing;
  const tsl__open *o = m->open ? open_at(space, m->open) : NULL;
  bool array = o && o->array && !m->in_string;
  if (!o && first_item_ahead(space, plain)) return c->comma;
  if (!array && !(o && o->remembers)) return c->whole;
  if (!o->array) return m->in_string ? c->closed_quoted : c->closed;
  return m->in_string ? c->quoted : c->comma;
}

/* Tokens of `plain` that may lead nowhere, into `out`. */
static void candidates(tsl__space *space, const tsl__memory *m, tsl__stack at, tsl__mask plain, uint32_t *out, uint32_t *scratch, size_t words) {
  memcpy(out, crossing(space, m, at), words * sizeof *out);
  for (uint32_t i = 0; i < m->n && space->status == TSL_OK; i++) {
    tsl__mask_write(space, tsl__stack_mask(space, m->denies[i].at), scratch);
    for (size_t w = 0; w < words; w++) out[w] |= scratch[w];
  }
  tsl__mask_write(space, plain, scratch);
  for (size_t w = 0; w < words; w++) out[w] &= scratch[w];
}

tsl__mask tsl__memory_mask(tsl__space *space, tsl__stack at) {
  const tsl__stack_rec *p = tsl__stack_at(space, at);
  const tsl__memory *m = tsl__space_at(space, memories, p->memory);
  tsl__mask plain = tsl__stack_mask(space, p->plain);
  if (space->status != TSL_OK) return plain;
  size_t words = tsl_vocab_mask_words(space->vocab);
  uint32_t *maybe = tsl__alloc(&space->alloc, 2 * words * sizeof *maybe);
  TSL__VEC(tsl_token) gone = {0};
  run r = {0};
  if (!maybe) return out_of_memory(space), 0;
  candidates(space, m, p->plain, plain, maybe, maybe + words, words);
  for (size_t w = 0; w < words; w++)
    for (uint32_t bits = maybe[w]; bits && space->status == TSL_OK; bits &= bits - 1) {
      tsl_token t = (tsl_token)(w * 32 + (unsigned)__builtin_ctz(bits));
      if (!tsl_vocab_is_eog(space->vocab, t) && !leads(space, &r, at, t) && !tsl__vec_push(&space->alloc, &gone, t)) out_of_memory(space);
    }
  tsl__mask made = plain;
  if (gone.n) {
    tsl__gather_clear(space->gather);
    tsl__gather_mask(space, space->gather, plain);
    for (size_t i = 0; i < gone.n; i++) tsl__gather_remove(space, space->gather, gone.at[i]);
    made = tsl__gather_done(space, space->gather);
  }
  tsl__vec_free(&space->alloc, &gone);
  tsl__free(&space->alloc, maybe, 2 * words * sizeof *maybe);
  run_free(space, &r);
  return made;
}

/* ---- tokens that may pass from one item into the next ----------------------------------------------------------------- */

#define CROSSINGS 5u /* bitsets of tsl__crossing */

/* Are these characters among the bytes, one after the other? */
static bool in_order(const uint8_t *at, const uint8_t *end, const char *characters) {
  for (; *characters; characters++) {
    at = memchr(at, *characters, (size_t)(end - at));
    if (!at) return false;
    at++;
  }
  return true;
}

tsl_status tsl__memory_prepare(tsl__space *base) {
  const tsl_vocab *v = base->vocab;
  tsl__crossing *c = tsl__alloc_zero(&base->alloc, sizeof *c);
  if (!c) return TSL_ERR_NO_MEMORY;
  c->words = tsl_vocab_mask_words(v);
  c->comma = tsl__alloc_zero(&base->alloc, CROSSINGS * c->words * sizeof *c->comma);
  if (!c->comma) {
    tsl__free(&base->alloc, c, sizeof *c);
    return TSL_ERR_NO_MEMORY;
  }
  c->quoted = c->comma + c->words;
  c->whole = c->quoted + c->words;
  c->closed = c->whole + c->words;
  c->closed_quoted = c->closed + c->words;
  for (tsl_token t = 0; t < v->size; t++) {
    const uint8_t *at = v->bytes + v->offsets[t], *end = v->bytes + v->offsets[t + 1];
    const uint8_t *quote = memchr(at, '"', (size_t)(end - at));
    if (memchr(at, ',', (size_t)(end - at))) c->comma[t >> 5] |= (uint32_t)1 << (t & 31);
    if (quote && memchr(quote, ',', (size_t)(end - quote))) c->quoted[t >> 5] |= (uint32_t)1 << (t & 31);
    bool whole = in_order(at, end, "[,");
    if (whole) c->whole[t >> 5] |= (uint32_t)1 << (t & 31);
    if (whole || in_order(at, end, "},")) c->closed[t >> 5] |= (uint32_t)1 << (t & 31);
    if (whole || in_order(at, end, "\"},")) c->closed_quoted[t >> 5] |= (uint32_t)1 << (t & 31);
  }
  base->crossing = c;
  return TSL_OK;
}

void tsl__memory_free(tsl__space *space) {
  tsl__crossing *c = space->crossing;
  if (!c) return;
  tsl__free(&space->alloc, c->comma, CROSSINGS * c->words * sizeof *c->comma);
  tsl__free(&space->alloc, c, sizeof *c);
  space->crossing = NULL;
}
