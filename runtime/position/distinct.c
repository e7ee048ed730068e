/* distinct.c - see memory.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/position/distinct_run.h"

#include "runtime/walk/fixed.h"

/* ---- interning ------------------------------------------------------------------------------- */

static uint64_t hash_open(const tsl__open *o) { return tsl__hash(o, sizeof *o) ^ 0x6F70656Eu; }

static uint32_t intern_open(tsl__space *space, const tsl__open *o) {
  uint64_t hash = hash_open(o);
  tsl__index_iter it = tsl__index_first(&space->opens.index, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;)
    if (!memcmp(tsl__space_at(space, opens, i), o, sizeof *o)) return i;
  tsl__open *fresh = tsl__pool_add(&space->opens.pool, &space->kept);
  uint32_t number = tsl__space_count(space, opens) - 1;
  if (fresh) *fresh = *o;
  if (!fresh || !tsl__index_add(&space->opens.index, &space->alloc, hash, number))
    return tsl__space_no_memory(space), 0;
  return number;
}

/* The last part of a text: the bytes after those before. */
static uint32_t intern_part(tsl__space *space, uint32_t before, const uint8_t *at, uint32_t n) {
  uint64_t hash = tsl__hash(at, n) ^ tsl__mix(before + 0x74657874u);
  tsl__index_iter it = tsl__index_first(&space->texts.index, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__text *t = tsl__space_at(space, texts, i);
    if (t->before == before && t->n == n && !memcmp(t->at, at, n)) return i;
  }
  const tsl__text *b = tsl__space_at(space, texts, before);
  if (b->total > UINT32_MAX / 2 - n)
    return tsl__space_fail(space, TSL_ERR_LIMIT,
                           "an item or name of over 2^31 bytes that must be unique"),
           0;
  tsl__text made = {tsl__arena_copy(&space->arena, at, n), before, n, b->total + n};
  tsl__text *fresh = made.at ? tsl__pool_add(&space->texts.pool, &space->kept) : NULL;
  uint32_t number = tsl__space_count(space, texts) - 1;
  if (fresh) *fresh = made;
  if (!fresh || !tsl__index_add(&space->texts.index, &space->alloc, hash, number))
    return tsl__space_no_memory(space), 0;
  return number;
}

/* A text with n bytes more. It is cut where its own length says, so that it is one text in whatever
 * pieces it came. */
static uint32_t intern_text(tsl__space *space, uint32_t text, const uint8_t *at, uint32_t n) {
  while (n && space->status == TSL_OK) {
    const tsl__text *last = tsl__space_at(space, texts, text);
    uint8_t part[TSL__TEXT_PART];
    uint32_t kept = last->total % TSL__TEXT_PART,
             more = TSL__TEXT_PART - kept < n ? TSL__TEXT_PART - kept : n;
    if (kept) memcpy(part, last->at, kept);
    memcpy(part + kept, at, more);
    text = intern_part(space, kept ? last->before : text, part, kept + more);
    at += more, n -= more;
  }
  return text;
}

static uint32_t intern_memory(tsl__space *space, const tsl__distinct *m) {
  uint64_t hash = tsl__mix(((uint64_t)m->name << 34 | (uint64_t)m->open << 2) +
                           ((uint64_t)m->in_string << 1 | m->escaped));
  for (uint32_t i = 0; i < m->n; i++)
    hash = tsl__mix(hash + ((uint64_t)m->denies[i].depth << 32 | m->denies[i].at));
  tsl__index_iter it = tsl__index_first(&space->distinct.index, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__distinct *o = tsl__space_at(space, distinct, i);
    if (o->open == m->open && o->name == m->name && o->in_string == m->in_string &&
        o->escaped == m->escaped && o->n == m->n &&
        (!m->n || !memcmp(o->denies, m->denies, m->n * sizeof *m->denies)))
      return i;
  }
  tsl__distinct made = *m;
  if (m->n && !(made.denies = tsl__arena_copy(&space->arena, m->denies, m->n * sizeof *m->denies)))
    return tsl__space_no_memory(space), 0;
  tsl__distinct *fresh = tsl__pool_add(&space->distinct.pool, &space->kept);
  uint32_t number = tsl__space_count(space, distinct) - 1;
  if (fresh) *fresh = made;
  if (!fresh || !tsl__index_add(&space->distinct.index, &space->alloc, hash, number))
    return tsl__space_no_memory(space), 0;
  return number;
}

static uint64_t hash_position(tsl__stack plain, uint32_t memory, uint32_t text) {
  return tsl__mix(((uint64_t)plain << 32 | memory) + (uint64_t)text * 0x9e3779b97f4a7c15u);
}

tsl__stack tsl__distinct_position_known(const tsl__space *space, tsl__stack plain, uint32_t memory,
                                        uint32_t text) {
  tsl__index_iter it = tsl__index_first(&space->stacks.index, hash_position(plain, memory, text));
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__remembered *r = tsl__remembered_at(space, i);
    if (r->memory == memory && r->plain == plain && r->text == text) return i;
  }
  return 0;
}

/* The position of a plain one with a memory. */
tsl__stack tsl__distinct_position(tsl__space *space, tsl__stack plain, uint32_t memory,
                                  uint32_t text) {
  tsl__stack known = tsl__distinct_position_known(space, plain, memory, text);
  if (known) return known;
  tsl__stack_rec *r = tsl__pool_add(&space->stacks.pool, &space->kept);
  uint32_t number = tsl__space_count(space, stacks) - 1;
  const tsl__stack_rec *p = tsl__stack_at(space, plain);
  if (!r) return tsl__space_no_memory(space), 0;
  r->remembered = (tsl__remembered){plain, memory, text};
  r->n = p->n;
  r->complete = p->complete;
  r->remembers = true;
  if (!tsl__index_add(&space->stacks.index, &space->alloc, hash_position(plain, memory, text),
                      number))
    return tsl__space_no_memory(space), 0;
  return number;
}

tsl__stack tsl__distinct_of(tsl__space *space, tsl__stack plain, tsl__stack at) {
  const tsl__remembered *r = tsl__remembered_at(space, at);
  return r->memory ? tsl__distinct_position(space, plain, r->memory, r->text) : plain;
}

/* ---- what was used --------------------------------------------------------------------------- */

static uint64_t hash_used(uint32_t next, const tsl__spelled *texts, uint32_t n) {
  uint64_t hash = tsl__mix(next + 0x75736564u);
  for (uint32_t i = 0; i < n; i++) hash = tsl__mix(hash ^ tsl__hash(texts[i].at, texts[i].n));
  return hash;
}

static bool same_texts(const tsl__used *u, const tsl__spelled *texts, uint32_t n) {
  if (u->count != n) return false;
  for (uint32_t i = 0; i < n; i++)
    if (u->texts[i].n != texts[i].n || memcmp(u->texts[i].at, texts[i].at, texts[i].n))
      return false;
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
  if (!copy) return tsl__space_no_memory(space), 0;
  tsl__used made = {next, n, copy, space->hook->spellings(space->hook_ctx, copy, n)};
  if (!made.state) return 0;
  tsl__used *fresh = tsl__pool_add(&space->used.pool, &space->kept);
  uint32_t number = tsl__space_count(space, used) - 1;
  if (fresh) *fresh = made;
  if (!fresh || !tsl__index_add(&space->used.index, &space->alloc, hash, number))
    return tsl__space_no_memory(space), 0;
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
  uint32_t made =
      fine ? group(space, used, all.at, (uint32_t)all.n) : (tsl__space_no_memory(space), 0u);
  tsl__vec_free(&space->alloc, &all);
  return made;
}

/* ---- denies ---------------------------------------------------------------------------------- */

/* The two states that stand for "spelled, exactly here" and "something after that": made by hand,
 * they belong to no expression. */
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
  tsl__state end = end_state(space);
  if (!end) return 0;
  tsl__stepping s = tsl__step_new(space);
  tsl__step_land(space, &s, end, 0, 0);
  tsl__stack tail = tsl__step_collect(space, &s);
  s.landed.n = 0;
  for (; tail && used; used = ((const tsl__used *)tsl__space_at(space, used, used))->next)
    tsl__step_land(space, &s, ((const tsl__used *)tsl__space_at(space, used, used))->state, 0,
                   tail);
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
static tsl__stack deny_byte(tsl__space *space, tsl__stepping *s, tsl__stack at, uint8_t byte) {
  if (!tsl__step_load(space, s, at) || !tsl__step_byte(space, s, byte)) return 0;
  drop_past(space, &s->landed);
  return s->landed.n ? tsl__step_collect(space, s) : 0;
}

/* Is something that was used spelled to its end here? */
static bool deny_ends(const tsl__space *space, tsl__stack at) {
  const tsl__stack_rec *r = tsl__stack_at(space, at);
  for (uint32_t i = 0; i < r->n; i++) {
    const tsl__cell *c = tsl__stack_cell(space, r, i);
    if (c->state == space->spelled_end) return true;
    if (c->tail && (tsl__state_at(space, c->state)->flags & TSL__STATE_NULLABLE) &&
        deny_ends(space, c->tail))
      return true;
  }
  return false;
}

/* ---- a run over bytes ------------------------------------------------------------------------ */

tsl__run *tsl__run_take(tsl__space *space) {
  tsl__run *r = space->runs;
  if (r) return space->runs = r->next, r;
  r = tsl__alloc_zero(&space->alloc, sizeof *r);
  if (!r) tsl__space_no_memory(space);
  return r;
}

void tsl__run_give(tsl__space *space, tsl__run *r) {
  if (!r) return;
  r->next = space->runs;
  space->runs = r;
}

void tsl__distinct_free(tsl__space *space) {
  for (tsl__run *r; (r = space->runs);) {
    space->runs = r->next;
    tsl__step_free(space, &r->step);
    tsl__step_free(space, &r->deny);
    tsl__vec_free(&space->alloc, &r->denies);
    tsl__vec_free(&space->alloc, &r->bytes);
    tsl__vec_free(&space->alloc, &r->name_bytes);
    tsl__vec_free(&space->alloc, &r->raw);
    tsl__vec_free(&space->alloc, &r->spelling.decoded);
    tsl__free(&space->alloc, r, sizeof *r);
  }
}

size_t tsl__distinct_kept(const tsl__space *space) {
  size_t n = 0;
  for (const tsl__run *r = space->runs; r; r = r->next) {
    n += sizeof *r + tsl__step_memory(&r->step) + tsl__step_memory(&r->deny) +
         tsl__vec_memory(&r->denies) + tsl__vec_memory(&r->bytes);
    n += tsl__vec_memory(&r->name_bytes) + tsl__vec_memory(&r->raw) +
         tsl__vec_memory(&r->spelling.decoded);
  }
  return n;
}

/* ---- names that frames tell ------------------------------------------------------------------ */

/* What is spelled of a name that the schema may know: the frame that spells such names has it in
 * its table, between two characters. */
static const tsl__fixed *spells_known(const tsl__space *space, const tsl__cell *c) {
  const tsl__state_rec *r = tsl__state_at(space, c->state);
  const tsl__fixed *f = tsl__state_fixed(r);
  return (r->flags & TSL__STATE_KEYED) && f && !f->others && f->lo < f->hi ? f : NULL;
}

bool tsl__cell_names(const tsl__space *space, const tsl__cell *c) {
  return tsl__stack_at(space, c->tail)->names;
}

const tsl__fixed *tsl__name_implied(const tsl__space *space, tsl__stack plain) {
  const tsl__stack_rec *p = tsl__stack_at(space, plain);
  const tsl__fixed *f = NULL;
  for (uint32_t i = 0; i < p->n && !f; i++) f = spells_known(space, tsl__stack_cell(space, p, i));
  return f;
}

/* Does some frame spell an additional name? */
static bool names(const tsl__space *space, tsl__stack plain) {
  const tsl__stack_rec *p = tsl__stack_at(space, plain);
  for (uint32_t i = 0; i < p->n; i++)
    if (tsl__cell_names(space, tsl__stack_cell(space, p, i))) return true;
  return false;
}

bool tsl__distinct_begins(const tsl__space *space, const tsl__stepping *s) {
  if (s->called & space->watches & TSL__NEW_ITEM) return true;
  if (!(space->watches & TSL__NEW_NAME)) return false;
  if (s->came & TSL__NEW_NAME) return true;
  bool named = false, known = false;
  for (size_t i = 0; i < s->landed.n && !named; i++)
    named = tsl__cell_names(space, &s->landed.at[i]);
  for (size_t i = 0; i < s->landed.n && named && !known; i++)
    known = spells_known(space, &s->landed.at[i]);
  return named && !known;
}

/* Is a name under way that the frames tell, and that may become an additional one? */
static bool infers_name(const tsl__space *space, tsl__stack plain) {
  return (space->watches & TSL__NEW_NAME) && tsl__name_implied(space, plain) && names(space, plain);
}

/* What is spelled of a name, as the frames tell it. */
static bool load_implied(tsl__space *space, tsl__run *r, tsl__stack plain) {
  const tsl__fixed *f = tsl__name_implied(space, plain);
  for (uint32_t i = 0; f && i < f->depth; i++) {
    uint8_t byte = (uint8_t)f->texts[f->lo].at[i];
    if (!tsl__vec_push(&space->alloc, &r->name_bytes, byte) ||
        (byte == '\\' && !tsl__vec_push(&space->alloc, &r->name_bytes, byte)))
      return tsl__space_no_memory(space);
  }
  return true;
}

/* Everything but the frames. */
bool tsl__run_load_memory(tsl__space *space, tsl__run *r, const tsl__remembered *p) {
  const tsl__distinct *m = tsl__distinct_at(space, p->memory);
  r->open = m->open;
  r->text = p->text;
  r->in_string = m->in_string;
  r->escaped = m->escaped;
  r->naming = m->name != 0;
  r->name_text = m->name && m->name != TSL__NAME_IMPLIED ? m->name - 1 : 0;
  r->denies.n = r->bytes.n = r->name_bytes.n = 0;
  /* the object's first: no comma told of it */
  if (p->memory && !m->name && m->in_string) r->naming = infers_name(space, p->plain);
  if (r->naming && r->name_text == 0 && !load_implied(space, r, p->plain)) return false;
  if (!tsl__vec_reserve(&space->alloc, &r->denies, m->n)) return tsl__space_no_memory(space);
  if (m->n) memcpy(r->denies.at, m->denies, m->n * sizeof *m->denies);
  r->denies.n = m->n;
  return true;
}

bool tsl__run_load(tsl__space *space, tsl__run *r, tsl__stack at) {
  const tsl__remembered *p = tsl__remembered_at(space, at);
  r->step.watch = true;
  r->fresh = 0;
  if (!tsl__run_load_memory(space, r, p) ||
      !tsl__step_load(space, &r->step, p->memory ? p->plain : at))
    return false;
  if (p->memory || !infers_name(space, at)) return true;
  r->open = intern_open(space, &(tsl__open){.depth = 1, .start = TSL__OPEN_NONE});
  r->in_string = r->naming = true;
  return load_implied(space, r, at);
}

/* Is what ends in the container at that depth a repetition? */
static bool repeats(const tsl__space *space, const tsl__run *r, uint32_t depth) {
  for (size_t i = r->denies.n; i-- > 0;)
    if (r->denies.at[i].depth == depth) return deny_ends(space, r->denies.at[i].at);
  return false;
}

static void step_denies(tsl__space *space, tsl__run *r, uint8_t byte) {
  size_t kept = 0;
  for (size_t i = 0; i < r->denies.n; i++) {
    tsl__stack to = deny_byte(space, &r->deny, r->denies.at[i].at, byte);
    if (to) r->denies.at[kept++] = (tsl__deny){r->denies.at[i].depth, to};
  }
  r->denies.n = kept;
}

static void drop_denies(tsl__run *r, uint32_t depth) {
  while (r->denies.n && r->denies.at[r->denies.n - 1].depth >= depth) r->denies.n--;
}

uint32_t tsl__run_total(const tsl__space *space, const tsl__run *r) {
  return ((const tsl__text *)tsl__space_at(space, texts, r->text))->total + (uint32_t)r->bytes.n;
}

/* The bytes of a text that ends in `own`, from `start` on, into r->raw. false on failure. */
static bool spell_since(tsl__space *space, tsl__run *r, uint32_t text, const uint8_t *own,
                        size_t own_count, uint32_t start) {
  uint32_t n =
      ((const tsl__text *)tsl__space_at(space, texts, text))->total + (uint32_t)own_count - start;
  r->raw.n = 0;
  if (!tsl__vec_reserve(&space->alloc, &r->raw, n + 1)) return tsl__space_no_memory(space);
  uint32_t end = r->raw.n = n, part = (uint32_t)own_count < n ? (uint32_t)own_count : n;
  if (part) memcpy(r->raw.at + end - part, own + own_count - part, part);
  end -= part;
  for (uint32_t t = text; end && t;) {
    const tsl__text *x = tsl__space_at(space, texts, t);
    part = x->n < end ? x->n : end;
    memcpy(r->raw.at + end - part, x->at + x->n - part, part);
    end -= part;
    t = x->before;
  }
  return true;
}

bool tsl__run_item(tsl__space *space, tsl__run *r, uint32_t start) {
  return spell_since(space, r, r->text, r->bytes.at, r->bytes.n, start);
}

/* The current item has ended: it is used now. */
static void remember(tsl__space *space, tsl__run *r, tsl__open *o) {
  if (!tsl__run_item(space, r, o->start)) return;
  o->used = use(space, o->used, (tsl__spelled){r->raw.at, (uint32_t)r->raw.n});
}

/* ---- names ----------------------------------------------------------------------------------- */

uint32_t tsl__run_seen(const tsl__space *space, const tsl__run *r) {
  return r->naming && r->open ? tsl__open_at(space, r->open)->used : 0;
}

const tsl__spelling *tsl__run_spelling(tsl__space *space, tsl__run *r) {
  bool fine = spell_since(space, r, r->name_text, r->name_bytes.at, r->name_bytes.n, 0);
  r->spelling.decoded.n = 0;
  r->spelling.open_count = 0;
  if (fine) tsl__spelling_bytes(space, &r->spelling, r->raw.at, r->raw.n);
  return space->status == TSL_OK ? &r->spelling : NULL;
}

/* Would a quote end a name that the object has already? */
static bool name_repeats(tsl__space *space, tsl__run *r) {
  uint32_t seen_names = tsl__run_seen(space, r);
  const tsl__spelling *s = seen_names ? tsl__run_spelling(space, r) : NULL;
  return s && tsl__seen_names_has(space, seen_names, s->decoded.at, (uint32_t)s->decoded.n);
}

/* ---- what the bytes mean --------------------------------------------------------------------- */

/* What is used already may not come next. */
static void begin_deny(tsl__space *space, tsl__run *r, const tsl__open *o) {
  if (!o->used) return;
  tsl__deny d = {o->depth, deny_begin(space, o->used)};
  if (d.at && !tsl__vec_push(&space->alloc, &r->denies, d)) tsl__space_no_memory(space);
}

static uint8_t captured(const tsl__space *space, const tsl__open *o) {
  return o->start != TSL__OPEN_NONE || (o->below && tsl__open_at(space, o->below)->captured);
}

static uint8_t remembers(const tsl__space *space, const tsl__open *o) {
  return o->captured || (o->array && o->used) ||
         (o->below && tsl__open_at(space, o->below)->remembers);
}

static void set_open(tsl__space *space, tsl__run *r, tsl__open *o) {
  o->captured = captured(space, o);
  o->remembers = remembers(space, o);
  r->open = intern_open(space, o);
  if (o->captured) return;
  r->text = 0;
  r->bytes.n = 0;
}

/* Whatever was known is of another text. */
static void forget(tsl__run *r) {
  r->open = r->text = 0;
  r->denies.n = r->bytes.n = 0;
  r->in_string = r->escaped = r->naming = false;
}

/* An item of a guarded array begins: where the innermost container waits for one, or in an array
 * that nothing is known of yet. What came before that one need not be JSON (compiler/tags/tags.h),
 * and is not looked at. */
static void begin_item(tsl__space *space, tsl__run *r) {
  const tsl__open *known = r->open ? tsl__open_at(space, r->open) : NULL;
  bool expected = known && known->array && known->start == TSL__OPEN_NONE && !r->in_string;
  tsl__open o = {.depth = 1, .array = TSL__ARRAY};
  if (expected)
    o = *known;
  else
    forget(r);
  o.start = tsl__run_total(space, r);
  set_open(space, r, &o);
}

/* The first byte of an additional name has been read: in an object that is known, or the first that
 * has one. */
static void begin_name(tsl__space *space, tsl__run *r) {
  const tsl__open *known = r->open ? tsl__open_at(space, r->open) : NULL;
  if (!known || known->array || !r->in_string) {
    tsl__open o = {.depth = 1, .start = TSL__OPEN_NONE};
    forget(r);
    set_open(space, r, &o);
    r->in_string = true;
  }
  r->naming = true;
  r->name_text = 0;
  r->name_bytes.n = 0;
}

/* A name has ended. One that the schema knows comes once as it is. */
static void end_name(tsl__space *space, tsl__run *r) {
  tsl__open o = *tsl__open_at(space, r->open);
  const tsl__spelling *s = r->step.came & TSL__NEW_NAME ? tsl__run_spelling(space, r) : NULL;
  r->naming = false;
  if (!s || (o.used && tsl__seen_names_has(space, o.used, s->decoded.at, (uint32_t)s->decoded.n)))
    return;
  o.used = tsl__seen_names_add(space, o.used, s->decoded.at, (uint32_t)s->decoded.n);
  set_open(space, r, &o);
}

static void close_container(tsl__space *space, tsl__run *r) {
  tsl__open o = *tsl__open_at(space, r->open);
  drop_denies(r, o.depth);
  r->open = o.below;
  if (o.captured && !(r->open && tsl__open_at(space, r->open)->captured)) {
    r->text = 0;
    r->bytes.n = 0;
  }
}

static void comma(tsl__space *space, tsl__run *r) {
  tsl__open o = *tsl__open_at(space, r->open);
  if (!o.array && !o.used) return;
  if (o.array) {
    drop_denies(r, o.depth);
    if (r->brief && (o.start != TSL__OPEN_NONE || o.used)) r->fresh = o.depth;
    if (!r->brief && o.start != TSL__OPEN_NONE) remember(space, r, &o);
    if (!r->brief) begin_deny(space, r, &o);
    o.start = TSL__OPEN_NONE;
    if (o.array & TSL__ARRAY_FORGOT) o.array ^= TSL__ARRAY_FORGOT | TSL__ARRAY_LOST;
  } else {
    o.expects = 1;
  }
  set_open(space, r, &o);
}

static void open_container(tsl__space *space, tsl__run *r, bool array) {
  tsl__open inner = {.below = r->open,
                     .depth = tsl__open_at(space, r->open)->depth + 1,
                     .start = TSL__OPEN_NONE,
                     .array = array ? TSL__ARRAY : 0};
  set_open(space, r, &inner);
}

static void open_string(tsl__space *space, tsl__run *r) {
  tsl__open o = *tsl__open_at(space, r->open);
  r->in_string = true;
  if (!o.expects) return;
  o.expects = 0;
  set_open(space, r, &o);
  r->naming = true;
  r->name_text = 0;
  r->name_bytes.n = 0;
}

static void scan_string(tsl__space *space, tsl__run *r, uint8_t byte) {
  bool ends = byte == '"' && !r->escaped;
  if (r->naming && !ends && !tsl__vec_push(&space->alloc, &r->name_bytes, byte))
    tsl__space_no_memory(space);
  r->escaped = byte == '\\' && !r->escaped;
  if (!ends) return;
  r->in_string = false;
  if (r->naming) end_name(space, r);
}

/* What the byte means to the structure of the text; it has been read. */
static void scan(tsl__space *space, tsl__run *r, uint8_t byte) {
  if (r->step.called & TSL__NEW_ITEM) begin_item(space, r);
  if (r->step.called & TSL__NEW_NAME) begin_name(space, r);
  if (!r->open) return;
  if (r->in_string)
    scan_string(space, r, byte);
  else if (byte == ',')
    comma(space, r);
  else if (byte == ']' || byte == '}')
    close_container(space, r);
  else if (byte == '"')
    open_string(space, r);
  else if (byte == '[' || byte == '{')
    open_container(space, r, byte == '[');
}

/* Which items that are repeated end before the byte, and after it. */
static void look_at_items(tsl__space *space, tsl__run *r, uint8_t byte) {
  uint32_t depth = r->open ? tsl__open_at(space, r->open)->depth : 0;
  bool closes = !r->in_string && (byte == ']' || byte == '}');
  uint8_t is_new = r->open ? space->watches & TSL__SAME_ITEM : 0;
  r->step.repeats_before = repeats(space, r, depth) ? TSL__NEW_ITEM : is_new;
  step_denies(space, r, byte);
  r->step.repeats_after =
      repeats(space, r, closes && depth ? depth - 1 : depth) ? TSL__NEW_ITEM : is_new;
}

void tsl__run_look_ahead(tsl__space *space, tsl__run *r, uint8_t byte) {
  r->step.repeats_before = r->step.repeats_after = r->step.called = r->step.came = 0;
  if (r->denies.n || space->watches & TSL__SAME_ITEM) look_at_items(space, r, byte);
  if (byte == '"' && r->naming && !r->escaped && name_repeats(space, r))
    r->step.repeats_after |= TSL__NEW_NAME;
}

/* The byte has been read by the frames, if they were asked. */
bool tsl__run_note(tsl__space *space, tsl__run *r, uint8_t byte) {
  r->step.called &= space->watches;
  scan(space, r, byte);
  if (r->open && tsl__open_at(space, r->open)->captured &&
      !tsl__vec_push(&space->alloc, &r->bytes, byte))
    return tsl__space_no_memory(space);
  return space->status == TSL_OK;
}

bool tsl__run_byte(tsl__space *space, tsl__run *r, uint8_t byte) {
  tsl__run_look_ahead(space, r, byte);
  return tsl__step_byte(space, &r->step, byte) && tsl__run_note(space, r, byte);
}

/* The name under way, as tsl__distinct has it. */
static uint32_t intern_name(tsl__space *space, const tsl__run *r, tsl__stack plain) {
  if (!r->naming) return 0;
  if (tsl__run_name_empty(r) || tsl__name_implied(space, plain)) return TSL__NAME_IMPLIED;
  return names(space, plain)
             ? intern_text(space, r->name_text, r->name_bytes.at, (uint32_t)r->name_bytes.n) + 1
             : 0;
}

/* Is there nothing to remember but an object that has no additional names, nor is about to? */
static bool nothing(const tsl__space *space, const tsl__run *r, uint32_t name) {
  const tsl__open *o = r->open ? tsl__open_at(space, r->open) : NULL;
  return !r->denies.n &&
         (!o || (!o->below && !o->array && !o->used && (!name || name == TSL__NAME_IMPLIED)));
}

/* The position of these frames with what the run remembers; 0 on failure. */
tsl__stack tsl__run_position_of(tsl__space *space, tsl__run *r, tsl__stack plain) {
  if (!plain || (!r->open && !r->denies.n)) return plain;
  uint32_t name = intern_name(space, r, plain);
  if (nothing(space, r, name)) return plain;
  tsl__distinct m = {r->open, name, r->in_string, r->escaped, (uint32_t)r->denies.n, r->denies.at};
  uint32_t memory = space->status == TSL_OK ? intern_memory(space, &m) : 0;
  uint32_t text = memory ? intern_text(space, r->text, r->bytes.at, (uint32_t)r->bytes.n) : 0;
  return memory && space->status == TSL_OK ? tsl__distinct_position(space, plain, memory, text) : 0;
}

tsl__stack tsl__run_position(tsl__space *space, tsl__run *r) {
  return tsl__run_position_of(space, r, tsl__step_collect(space, &r->step));
}

#define SHAPE_DEPTH 16u /* of deeper memories each is its own shape */

/* The open containers, innermost first; 0: they are too many. */
static uint32_t chain_of(const tsl__space *space, uint32_t open, uint32_t chain[SHAPE_DEPTH]) {
  uint32_t n = 0;
  for (; open; open = tsl__open_at(space, open)->below) {
    if (n == SHAPE_DEPTH) return 0;
    chain[n++] = open;
  }
  return n;
}

uint32_t tsl__distinct_shape(tsl__space *space, uint32_t memory) {
  tsl__distinct m = *tsl__distinct_at(space, memory);
  uint32_t chain[SHAPE_DEPTH], n = chain_of(space, m.open, chain);
  if (m.open && !n) return memory;
  for (m.open = 0; n && space->status == TSL_OK;) {
    tsl__open o = *tsl__open_at(space, chain[--n]);
    o.below = m.open;
    if (o.array) o.used = 0;
    if (o.start != TSL__OPEN_NONE) o.start = 0;
    m.open = intern_open(space, &o);
  }
  m.n = 0;
  return space->status == TSL_OK ? intern_memory(space, &m) : 0;
}

uint32_t tsl__distinct_watched_within(const tsl__space *space, const tsl__distinct *m,
                                      uint32_t depth) {
  uint32_t n = 0;
  for (uint32_t i = m->open; i;) {
    const tsl__open *o = tsl__open_at(space, i);
    if (o->depth <= depth) break;
    n += o->array && o->start != TSL__OPEN_NONE;
    i = o->below;
  }
  return n;
}

tsl__stack tsl__distinct_blank(tsl__space *space, tsl__stack at) {
  const tsl__remembered *p = tsl__remembered_at(space, at);
  if (!at || !p->memory || !tsl__distinct_at(space, p->memory)->name) return at;
  tsl__run *r = tsl__run_take(space);
  bool loaded = r && tsl__run_load_memory(space, r, p);
  uint32_t seen_names = loaded ? tsl__run_seen(space, r) : 0;
  const tsl__spelling *s = seen_names ? tsl__run_spelling(space, r) : NULL;
  if (loaded && !(s && tsl__seen_names_rivals(space, seen_names, s))) {
    r->naming = false;
    at = tsl__run_position_of(space, r, p->plain);
  }
  tsl__run_give(space, r);
  return at;
}

/* The containers without what is spelled of the items under way; 0 where nothing is, or may be,
 * forgotten. */
static uint32_t forget_items(tsl__space *space, uint32_t open, uint32_t denies) {
  uint32_t chain[SHAPE_DEPTH], n, made = 0;
  if (denies || !open || !tsl__open_at(space, open)->captured ||
      !(n = chain_of(space, open, chain)))
    return 0;
  while (n && space->status == TSL_OK) {
    tsl__open o = *tsl__open_at(space, chain[--n]);
    o.below = made;
    if (o.start != TSL__OPEN_NONE) o.array |= TSL__ARRAY_FORGOT;
    o.start = TSL__OPEN_NONE;
    o.captured = captured(space, &o);
    o.remembers = remembers(space, &o);
    made = intern_open(space, &o);
  }
  return space->status == TSL_OK ? made : 0;
}

/* The position without what is spelled of items under way, where that may be forgotten. */
static tsl__stack without_items(tsl__space *space, tsl__stack at) {
  const tsl__remembered *p = tsl__remembered_at(space, at);
  tsl__distinct m = *tsl__distinct_at(space, p->memory);
  uint32_t open = forget_items(space, m.open, m.n), plain = p->plain;
  if (!open) return space->status == TSL_OK ? at : 0;
  m.open = open;
  uint32_t memory = intern_memory(space, &m);
  return space->status == TSL_OK ? tsl__distinct_position(space, plain, memory, 0) : 0;
}

tsl__stack tsl__distinct_byte_forget(tsl__space *space, tsl__stack from, uint8_t byte,
                                     bool *forgot) {
  *forgot = false;
  if (!tsl__remembered_at(space, from)->memory) {
    tsl__stack to = tsl__stack_byte(space, from, byte), shared = to ? without_items(space, to) : 0;
    return *forgot = shared != to, shared;
  }
  tsl__run *r = tsl__run_take(space);
  bool fine = r && tsl__run_load(space, r, from) && tsl__run_byte(space, r, byte) &&
              (!tsl__run_watched(space, r) || tsl__run_alive(space, r));
  uint32_t open = fine ? forget_items(space, r->open, (uint32_t)r->denies.n) : 0;
  if (open) {
    r->open = open;
    r->text = 0;
    r->bytes.n = 0;
  }
  *forgot = open;
  tsl__stack to = fine && space->status == TSL_OK ? tsl__run_position(space, r) : 0;
  tsl__run_give(space, r);
  return to;
}

bool tsl__distinct_passes(const tsl__space *space, tsl__stack at, uint8_t byte) {
  const tsl__distinct *m = tsl__distinct_at(space, tsl__remembered_at(space, at)->memory);
  bool array = m->open && tsl__open_at(space, m->open)->array;
  if (m->in_string) return array && byte == '"' && !m->escaped;
  return byte == '[' || byte == ']' || byte == '}' || (byte == ',' && array);
}

tsl__stack tsl__distinct_deny(tsl__space *space, const tsl__spelled *texts, uint32_t n) {
  uint32_t used = group(space, 0, texts, n);
  return used ? deny_begin(space, used) : 0;
}

/* More bytes of an item, and what comes after it; *deny 0: it is none of those. True: it is one,
 * and has ended in them. */
static bool deny_on(tsl__space *space, tsl__run *r, tsl__stack *deny, const uint8_t *bytes,
                    size_t n) {
  for (size_t i = 0; *deny && i < n; i++) {
    if (memchr(",]} \t\n\r", bytes[i], 7) && deny_ends(space, *deny)) return true;
    *deny = deny_byte(space, &r->deny, *deny, bytes[i]);
  }
  return false;
}

tsl__stack tsl__distinct_deny_item(tsl__space *space, tsl__stack deny, tsl__stack at,
                                   uint32_t depth) {
  tsl__run *r = tsl__run_take(space);
  bool fine = r && tsl__run_load_memory(space, r, tsl__remembered_at(space, at));
  const tsl__open *o = fine && r->open ? tsl__open_at(space, r->open) : NULL;
  while (o && o->depth > depth) o = o->below ? tsl__open_at(space, o->below) : NULL;
  if (o && o->depth == depth && o->start != TSL__OPEN_NONE) {
    fine = tsl__run_item(space, r, o->start);
    if (fine) deny_on(space, r, &deny, r->raw.at, r->raw.n);
  }
  tsl__run_give(space, r);
  return fine ? deny : 0;
}

bool tsl__distinct_denies(tsl__space *space, tsl__stack deny, const uint8_t *bytes, size_t n) {
  tsl__run *r = tsl__run_take(space);
  if (r) deny_on(space, r, &deny, bytes, n);
  tsl__run_give(space, r);
  return deny != 0;
}
