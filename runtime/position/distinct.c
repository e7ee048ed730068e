/* distinct.c - runs: a text followed byte by byte, and what must differ in it. See distinct.h.
 *
 * Each byte goes through three stations (tsl__run_byte):
 *   1. tsl__run_look_ahead steps the denies, and so finds out whether an item or a name that ends
 *   at this byte is a repetition;
 *   2. tsl__step_byte steps the frames. A frame that comes back to a guarded state uses this
 *   answer;
 *   3. tsl__run_note follows JSON's structure: strings, commas and brackets open and close
 *      containers, end items and names, and begin new ones.
 *
 * Example   In `[1,` the comma ends an item: `1` joins the used items of the array, and a deny of
 *           all spellings of 1 begins. If the byte `1` follows, the deny is at its end. Then `]`
 *           would complete a repetition, and the guarded state rejects it. If the byte `2` follows,
 *           the deny dies.
 * Cost      A step of the frames for each byte, and one for each deny that is alive.
 * Tested by tests/position/test_distinct.c, tests/position/test_distinct_names.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/position/distinct_run.h"

#include "runtime/walk/fixed.h"

/* ---- a run over bytes ------------------------------------------------------------------------ */

tsl__run *tsl__run_take(tsl__space *space) {
  tsl__run *r = space->positions.runs;
  if (r) return space->positions.runs = r->next, r;
  r = tsl__alloc_zero(&space->alloc, sizeof *r);
  if (!r) tsl__space_no_memory(space);
  return r;
}

void tsl__run_give(tsl__space *space, tsl__run *r) {
  if (!r) return;
  r->next = space->positions.runs;
  space->positions.runs = r;
}

void tsl__distinct_free(tsl__space *space) {
  for (tsl__run *r; (r = space->positions.runs);) {
    space->positions.runs = r->next;
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
  for (const tsl__run *r = space->positions.runs; r; r = r->next) {
    n += sizeof *r + tsl__step_memory(&r->step) + tsl__step_memory(&r->deny) +
         tsl__vec_memory(&r->denies) + tsl__vec_memory(&r->bytes);
    n += tsl__vec_memory(&r->name_bytes) + tsl__vec_memory(&r->raw) +
         tsl__vec_memory(&r->spelling.decoded);
  }
  return n;
}

/* ---- names known from frames ----------------------------------------------------------------- */

/* How much of a name that the schema may know is spelled? The frame that spells such names has it
 * in its table, between two characters. */
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
  if (s->begun & space->positions.watches & TSL__NEW_ITEM) return true;
  if (!(space->positions.watches & TSL__NEW_NAME)) return false;
  if (s->returned & TSL__NEW_NAME) return true;
  bool named = false, known = false;
  for (size_t i = 0; i < s->landed.n && !named; i++)
    named = tsl__cell_names(space, &s->landed.at[i]);
  for (size_t i = 0; i < s->landed.n && named && !known; i++)
    known = spells_known(space, &s->landed.at[i]);
  return named && !known;
}

/* Is a name under way that is known from the frames, and that may become an additional one? */
static bool infers_name(const tsl__space *space, tsl__stack plain) {
  return (space->positions.watches & TSL__NEW_NAME) && tsl__name_implied(space, plain) &&
         names(space, plain);
}

/* Load the bytes of a name under way from the frames. */
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
bool tsl__run_load_distinct(tsl__space *space, tsl__run *r, const tsl__with_distinct *p) {
  const tsl__distinct *m = tsl__distinct_at(space, p->distinct);
  r->open = m->open;
  r->text = p->text;
  r->in_string = m->in_string;
  r->escaped = m->escaped;
  r->in_name = m->name != 0;
  r->name_text = m->name && m->name != TSL__NAME_IMPLIED ? m->name - 1 : 0;
  r->denies.n = r->bytes.n = r->name_bytes.n = 0;
  /* the object's first name, which no comma announced */
  if (p->distinct && !m->name && m->in_string) r->in_name = infers_name(space, p->plain);
  if (r->in_name && r->name_text == 0 && !load_implied(space, r, p->plain)) return false;
  if (!tsl__vec_reserve(&space->alloc, &r->denies, m->n)) return tsl__space_no_memory(space);
  if (m->n) memcpy(r->denies.at, m->denies, m->n * sizeof *m->denies);
  r->denies.n = m->n;
  return true;
}

bool tsl__run_load(tsl__space *space, tsl__run *r, tsl__stack at) {
  const tsl__with_distinct *p = tsl__with_distinct_at(space, at);
  r->step.watch = true;
  r->fresh = 0;
  if (!tsl__run_load_distinct(space, r, p) ||
      !tsl__step_load(space, &r->step, p->distinct ? p->plain : at))
    return false;
  if (p->distinct || !infers_name(space, at)) return true;
  r->open = tsl__open_intern(space, &(tsl__open){.depth = 1, .start = TSL__OPEN_NONE});
  r->in_string = r->in_name = true;
  return load_implied(space, r, at);
}

/* Is what ends in the container at that depth a repetition? */
static bool repeats(const tsl__space *space, const tsl__run *r, uint32_t depth) {
  for (size_t i = r->denies.n; i-- > 0;)
    if (r->denies.at[i].depth == depth) return tsl__deny_ends(space, r->denies.at[i].at);
  return false;
}

static void step_denies(tsl__space *space, tsl__run *r, uint8_t byte) {
  size_t kept = 0;
  for (size_t i = 0; i < r->denies.n; i++) {
    tsl__stack to = tsl__deny_byte(space, &r->deny, r->denies.at[i].at, byte);
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
  o->used = tsl__used_add(space, o->used, (tsl__spelled){r->raw.at, (uint32_t)r->raw.n});
}

/* ---- names ----------------------------------------------------------------------------------- */

uint32_t tsl__run_seen(const tsl__space *space, const tsl__run *r) {
  return r->in_name && r->open ? tsl__open_at(space, r->open)->used : 0;
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

/* Begin a deny of the used values, which may not come next. */
static void begin_deny(tsl__space *space, tsl__run *r, const tsl__open *o) {
  if (!o->used) return;
  tsl__deny d = {o->depth, tsl__deny_begin(space, o->used)};
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
  r->open = tsl__open_intern(space, o);
  if (o->captured) return;
  r->text = 0;
  r->bytes.n = 0;
}

/* Whatever was known is of another text. */
static void forget(tsl__run *r) {
  r->open = r->text = 0;
  r->denies.n = r->bytes.n = 0;
  r->in_string = r->escaped = r->in_name = false;
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
  r->in_name = true;
  r->name_text = 0;
  r->name_bytes.n = 0;
}

/* A name has ended. One that the schema knows comes once as it is. */
static void end_name(tsl__space *space, tsl__run *r) {
  tsl__open o = *tsl__open_at(space, r->open);
  const tsl__spelling *s = r->step.returned & TSL__NEW_NAME ? tsl__run_spelling(space, r) : NULL;
  r->in_name = false;
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
    if (r->drops_items && (o.start != TSL__OPEN_NONE || o.used)) r->fresh = o.depth;
    if (!r->drops_items && o.start != TSL__OPEN_NONE) remember(space, r, &o);
    if (!r->drops_items) begin_deny(space, r, &o);
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
  r->in_name = true;
  r->name_text = 0;
  r->name_bytes.n = 0;
}

static void scan_string(tsl__space *space, tsl__run *r, uint8_t byte) {
  bool ends = byte == '"' && !r->escaped;
  if (r->in_name && !ends && !tsl__vec_push(&space->alloc, &r->name_bytes, byte))
    tsl__space_no_memory(space);
  r->escaped = byte == '\\' && !r->escaped;
  if (!ends) return;
  r->in_string = false;
  if (r->in_name) end_name(space, r);
}

/* Follow the structure of the text by a byte that was read. */
static void scan(tsl__space *space, tsl__run *r, uint8_t byte) {
  if (r->step.begun & TSL__NEW_ITEM) begin_item(space, r);
  if (r->step.begun & TSL__NEW_NAME) begin_name(space, r);
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
  uint8_t is_new = r->open ? space->positions.watches & TSL__SAME_ITEM : 0;
  r->step.repeats_before = repeats(space, r, depth) ? TSL__NEW_ITEM : is_new;
  step_denies(space, r, byte);
  r->step.repeats_after =
      repeats(space, r, closes && depth ? depth - 1 : depth) ? TSL__NEW_ITEM : is_new;
}

void tsl__run_look_ahead(tsl__space *space, tsl__run *r, uint8_t byte) {
  r->step.repeats_before = r->step.repeats_after = r->step.begun = r->step.returned = 0;
  if (r->denies.n || space->positions.watches & TSL__SAME_ITEM) look_at_items(space, r, byte);
  if (byte == '"' && r->in_name && !r->escaped && name_repeats(space, r))
    r->step.repeats_after |= TSL__NEW_NAME;
}

/* The byte has been read by the frames, if they were needed. */
bool tsl__run_note(tsl__space *space, tsl__run *r, uint8_t byte) {
  r->step.begun &= space->positions.watches;
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
  if (!r->in_name) return 0;
  if (tsl__run_name_empty(r) || tsl__name_implied(space, plain)) return TSL__NAME_IMPLIED;
  return names(space, plain)
             ? tsl__text_intern(space, r->name_text, r->name_bytes.at, (uint32_t)r->name_bytes.n) +
                   1
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
  uint32_t distinct = space->status == TSL_OK ? tsl__distinct_intern(space, &m) : 0;
  uint32_t text =
      distinct ? tsl__text_intern(space, r->text, r->bytes.at, (uint32_t)r->bytes.n) : 0;
  return distinct && space->status == TSL_OK ? tsl__distinct_position(space, plain, distinct, text)
                                             : 0;
}

tsl__stack tsl__run_position(tsl__space *space, tsl__run *r) {
  return tsl__run_position_of(space, r, tsl__step_collect(space, &r->step));
}

tsl__stack tsl__distinct_blank(tsl__space *space, tsl__stack at) {
  const tsl__with_distinct *p = tsl__with_distinct_at(space, at);
  if (!at || !p->distinct || !tsl__distinct_at(space, p->distinct)->name) return at;
  tsl__run *r = tsl__run_take(space);
  bool loaded = r && tsl__run_load_distinct(space, r, p);
  uint32_t seen_names = loaded ? tsl__run_seen(space, r) : 0;
  const tsl__spelling *s = seen_names ? tsl__run_spelling(space, r) : NULL;
  if (loaded && !(s && tsl__seen_names_rivals(space, seen_names, s))) {
    r->in_name = false;
    at = tsl__run_position_of(space, r, p->plain);
  }
  tsl__run_give(space, r);
  return at;
}

/* The containers without what is spelled of the items under way; 0 where nothing is, or may be,
 * forgotten. */
static uint32_t forget_items(tsl__space *space, uint32_t open, uint32_t denies) {
  uint32_t chain[TSL__CHAIN_MAX], n, made = 0;
  if (denies || !open || !tsl__open_at(space, open)->captured ||
      !(n = tsl__open_chain(space, open, chain)))
    return 0;
  while (n && space->status == TSL_OK) {
    tsl__open o = *tsl__open_at(space, chain[--n]);
    o.below = made;
    if (o.start != TSL__OPEN_NONE) o.array |= TSL__ARRAY_FORGOT;
    o.start = TSL__OPEN_NONE;
    o.captured = captured(space, &o);
    o.remembers = remembers(space, &o);
    made = tsl__open_intern(space, &o);
  }
  return space->status == TSL_OK ? made : 0;
}

/* The position without what is spelled of items under way, where that may be forgotten. */
static tsl__stack without_items(tsl__space *space, tsl__stack at) {
  const tsl__with_distinct *p = tsl__with_distinct_at(space, at);
  tsl__distinct m = *tsl__distinct_at(space, p->distinct);
  uint32_t open = forget_items(space, m.open, m.n), plain = p->plain;
  if (!open) return space->status == TSL_OK ? at : 0;
  m.open = open;
  uint32_t distinct = tsl__distinct_intern(space, &m);
  return space->status == TSL_OK ? tsl__distinct_position(space, plain, distinct, 0) : 0;
}

tsl__stack tsl__distinct_byte_forget(tsl__space *space, tsl__stack from, uint8_t byte,
                                     bool *forgot) {
  *forgot = false;
  if (!tsl__with_distinct_at(space, from)->distinct) {
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
  const tsl__distinct *m = tsl__distinct_at(space, tsl__with_distinct_at(space, at)->distinct);
  bool array = m->open && tsl__open_at(space, m->open)->array;
  if (m->in_string) return array && byte == '"' && !m->escaped;
  return byte == '[' || byte == ']' || byte == '}' || (byte == ',' && array);
}
