/* distinct_intern.c - the records of distinct.h, each kept once: open containers, texts, groups of
 * used items, positions.
 *
 * Problem   Equal records must have equal numbers. Then the next text that comes to the same
 *           position finds its mask and its moves.
 * Idea      Each kind of record has a pool and an index over the hash of its content. A record that
 *           is there already is returned instead of a second one.
 * Texts     are cut into parts of TSL__TEXT_PART bytes, counted from the beginning of the text. So
 *           a text of n bytes costs n / 32 records, and texts with a common beginning share its
 *           parts. A text has the same number whether it arrived in one piece or byte by byte.
 * Groups    of used items have 1, 2, 4 ... items, the larger ones behind the smaller ones, as the
 *           digits of a binary number. n items cost O(n log n) copies of texts in all, and a deny
 *           looks at O(log n) groups.
 * Example   items used one by one: "a", "b", "c", "d". The groups after each of them:
 *             {a}    {b,a}    {c} {b,a}    {d,c,b,a}
 * Shapes    tsl__distinct_shape maps a record to one without texts, denies and used items. What
 *           holds for a shape holds for every record of that shape (tsl__key_unbounded).
 * Cost      One hash and one probe for a record that is there.
 * Tested by tests/position/test_distinct.c, tests/engine/test_faults.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/position/distinct_run.h"

/* ---- records
 * ------------------------------------------------------------------------------------- */

static uint64_t hash_open(const tsl__open *o) { return tsl__hash(o, sizeof *o) ^ 0x6F70656Eu; }

uint32_t tsl__open_intern(tsl__space *space, const tsl__open *o) {
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
uint32_t tsl__text_intern(tsl__space *space, uint32_t text, const uint8_t *at, uint32_t n) {
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

uint32_t tsl__distinct_intern(tsl__space *space, const tsl__distinct *m) {
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

static uint64_t hash_position(tsl__stack plain, uint32_t distinct, uint32_t text) {
  return tsl__mix(((uint64_t)plain << 32 | distinct) + (uint64_t)text * 0x9e3779b97f4a7c15u);
}

tsl__stack tsl__distinct_position_known(const tsl__space *space, tsl__stack plain,
                                        uint32_t distinct, uint32_t text) {
  tsl__index_iter it = tsl__index_first(&space->stacks.index, hash_position(plain, distinct, text));
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__with_distinct *r = tsl__with_distinct_at(space, i);
    if (r->distinct == distinct && r->plain == plain && r->text == text) return i;
  }
  return 0;
}

/* The position of a plain one with a distinct record. */
tsl__stack tsl__distinct_position(tsl__space *space, tsl__stack plain, uint32_t distinct,
                                  uint32_t text) {
  tsl__stack known = tsl__distinct_position_known(space, plain, distinct, text);
  if (known) return known;
  tsl__stack_rec *r = tsl__pool_add(&space->stacks.pool, &space->kept);
  uint32_t number = tsl__space_count(space, stacks) - 1;
  const tsl__stack_rec *p = tsl__stack_at(space, plain);
  if (!r) return tsl__space_no_memory(space), 0;
  r->with_distinct = (tsl__with_distinct){plain, distinct, text};
  r->n = p->n;
  r->complete = p->complete;
  r->has_distinct = true;
  if (!tsl__index_add(&space->stacks.index, &space->alloc, hash_position(plain, distinct, text),
                      number))
    return tsl__space_no_memory(space), 0;
  return number;
}

tsl__stack tsl__distinct_of(tsl__space *space, tsl__stack plain, tsl__stack at) {
  const tsl__with_distinct *r = tsl__with_distinct_at(space, at);
  return r->distinct ? tsl__distinct_position(space, plain, r->distinct, r->text) : plain;
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
uint32_t tsl__used_group(tsl__space *space, uint32_t next, const tsl__spelled *texts, uint32_t n) {
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
  tsl__space *spelled = tsl__deny_enter(space);
  tsl__used made = {next, n, copy,
                    spelled ? spelled->hook->life.spellings(spelled->hook_ctx, copy, n) : 0};
  tsl__deny_leave(space);
  if (!made.state || space->status != TSL_OK) return 0;
  tsl__used *fresh = tsl__pool_add(&space->used.pool, &space->kept);
  uint32_t number = tsl__space_count(space, used) - 1;
  if (fresh) *fresh = made;
  if (!fresh || !tsl__index_add(&space->used.index, &space->alloc, hash, number))
    return tsl__space_no_memory(space), 0;
  return number;
}

/* One more: groups of equal size become one, as digits of a binary number carry. */
uint32_t tsl__used_add(tsl__space *space, uint32_t used, tsl__spelled text) {
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
  uint32_t made = fine ? tsl__used_group(space, used, all.at, (uint32_t)all.n)
                       : (tsl__space_no_memory(space), 0u);
  tsl__vec_free(&space->alloc, &all);
  return made;
}

/* ---- shapes
 * -------------------------------------------------------------------------------------- */

/* The open containers, innermost first; 0: they are too many. */
uint32_t tsl__open_chain(const tsl__space *space, uint32_t open, uint32_t chain[TSL__CHAIN_MAX]) {
  uint32_t n = 0;
  for (; open; open = tsl__open_at(space, open)->below) {
    if (n == TSL__CHAIN_MAX) return 0;
    chain[n++] = open;
  }
  return n;
}

uint32_t tsl__distinct_shape(tsl__space *space, uint32_t distinct) {
  tsl__distinct m = *tsl__distinct_at(space, distinct);
  uint32_t chain[TSL__CHAIN_MAX], n = tsl__open_chain(space, m.open, chain);
  if (m.open && !n) return distinct;
  for (m.open = 0; n && space->status == TSL_OK;) {
    tsl__open o = *tsl__open_at(space, chain[--n]);
    o.below = m.open;
    if (o.array) o.used = 0;
    if (o.start != TSL__OPEN_NONE) o.start = 0;
    m.open = tsl__open_intern(space, &o);
  }
  m.n = 0;
  return space->status == TSL_OK ? tsl__distinct_intern(space, &m) : 0;
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
