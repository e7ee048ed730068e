/* nonascii.c - see nonascii.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/nonascii.h"

#include "runtime/walk/classes.h"

#define INVALID 0xFFu

/* Where a node's path ends: the bits of its last character so far. */
typedef struct ending {
  uint32_t bits;
  /* bytes still to come, and of the whole character; missing INVALID: no UTF-8 */
  uint8_t missing, length;
} ending;

static ending step(ending from, uint8_t byte) {
  ending to = {0};
  if (from.missing == INVALID) return from;
  if (from.missing) {
    to = (ending){from.bits << 6 | (byte & 0x3F), (uint8_t)(from.missing - 1), from.length};
    if ((byte & 0xC0) != 0x80) to.missing = INVALID;
  } else if (byte >= 0x80) {
    to.length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    to.missing = (uint8_t)(to.length - 1);
    to.bits = byte & (0x7Fu >> to.length);
    if (byte < 0xC2 || byte > 0xF4) to.missing = INVALID;
  }
  return to;
}

/* The range in which a path's last character lies; false: the path is no UTF-8. */
static bool range_of(ending e, tsl__ending *out) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (e.missing == INVALID) return false;
  out->lo = e.bits << (6 * e.missing);
  out->hi = out->lo | (((uint32_t)1 << (6 * e.missing)) - 1);
  if (out->lo < least[e.length]) out->lo = least[e.length];
  return out->lo <= out->hi;
}

static void set_bit(uint64_t *bits, uint32_t node) {
  bits[node >> 6] |= (uint64_t)1 << (node & 63);
}

/* ---- the vocabulary's ------------------------------------------------------------------------ */

/* How each path ends. Children have higher numbers than their parents. Both are zero; what ends in
 * ASCII stays so. */
static uint32_t find_endings(const tsl__trie *trie, ending *endings, uint32_t *parents) {
  uint32_t n = 0;
  for (uint32_t node = 0; node < trie->node_count; node++)
    for (uint32_t c = trie->nodes[node].first_child, end = c + trie->nodes[node].children; c < end;
         c++) {
      parents[c] = node;
      if (trie->nodes[c].byte < 0x80 && !endings[node].missing) continue;
      endings[c] = step(endings[node], trie->nodes[c].byte);
      n++;
    }
  return n;
}

/* Those past ASCII into their buckets, by counting; `n` of them at most. */
static void sort_endings(const tsl__trie *trie, const ending *endings, tsl__endings *out) {
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t c = 0; c < trie->node_count; c++) {
      tsl__ending e = {c, 0, 0};
      if (!endings[c].length && !endings[c].missing) continue;
      if (pass && endings[c].missing) set_bit(out->midway, c);
      if (!range_of(endings[c], &e)) {
        if (pass) out->always[out->always_count++] = c;
      } else if (pass) {
        out->at[out->first[(e.lo >> 6) + 1]++] = e;
      } else {
        out->first[(e.lo >> 6) + 2]++;
      }
    }
    for (uint32_t k = 2; !pass && k <= TSL__ENDING_BUCKETS; k++) out->first[k] += out->first[k - 1];
  }
}

const tsl__endings *tsl__endings_make(tsl__space *base) {
  const tsl__trie *trie = &base->vocab->trie;
  size_t words = trie->node_count / 64 + 1, size = trie->node_count * sizeof(ending),
         first_size = (TSL__ENDING_BUCKETS + 2) * sizeof(uint32_t);
  ending *endings = tsl__alloc_zero(&base->alloc, size);
  tsl__endings *e = tsl__arena_alloc(&base->arena, sizeof *e);
  uint32_t *parents = tsl__arena_alloc(&base->arena, trie->node_count * sizeof *parents), n = 0;
  if (endings && e && parents) {
    memset(parents, 0, trie->node_count * sizeof *parents);
    n = find_endings(trie, endings, parents);
    *e = (tsl__endings){.at = tsl__arena_alloc(&base->arena, (n + 1) * sizeof *e->at),
                        .first = tsl__arena_alloc(&base->arena, first_size),
                        .always = tsl__arena_alloc(&base->arena, (n + 1) * sizeof *e->always),
                        .parents = parents,
                        .midway = tsl__arena_alloc(&base->arena, words * sizeof *e->midway)};
  }
  bool fine = endings && e && parents && e->at && e->first && e->always && e->midway;
  if (fine) {
    memset(e->first, 0, first_size);
    memset(e->midway, 0, words * sizeof *e->midway);
    sort_endings(trie, endings, e);
  }
  tsl__free(&base->alloc, endings, size);
  return fine ? e : (tsl__space_no_memory(base), NULL);
}

/* ---- a class --------------------------------------------------------------------------------- */

typedef struct marks {
  const tsl__endings *of;
  uint64_t *exit, *dirty;
  bool whole;
} marks;

/* A node is an exit, and those above it are dirty. */
static void mark_exit(const marks *m, uint32_t node) {
  set_bit(m->exit, node);
  for (node = m->of->parents[node]; !tsl__nonascii_bit(m->dirty, node); node = m->of->parents[node])
    set_bit(m->dirty, node);
}

/* Paths whose last character is (or, of a whole class, may be) one of those from lo to hi. None of
 * these is in the class. They are those in buckets `from` to `to`. */
static void mark_buckets(const marks *m, uint32_t lo, uint32_t hi, uint32_t from, uint32_t to) {
  const tsl__endings *e = m->of;
  for (uint32_t i = e->first[from], end = e->first[to + 1]; i < end; i++)
    if (m->whole ? e->at[i].lo <= hi && e->at[i].hi >= lo : e->at[i].lo >= lo && e->at[i].hi <= hi)
      mark_exit(m, e->at[i].node);
}

/* All of them. What is cut off after the first or second byte of the character `lo` is in a bucket
 * before it. */
static void mark_gap(const marks *m, uint32_t lo, uint32_t hi) {
  mark_buckets(m, lo, hi, lo >> 6, hi >> 6);
  for (uint32_t missing = 2; m->whole && missing < 4; missing++) {
    uint32_t least = missing == 2 ? 0x800 : 0x10000, first = lo >> (6 * missing) << (6 * missing);
    if (first < least) first = least;
    if (first < lo) mark_buckets(m, lo, hi, first >> 6, first >> 6);
  }
}

static uint32_t make(tsl__space *space, tsl__nonascii w) {
  size_t words = space->vocab->trie.node_count / 64 + 1;
  const tsl__lengths *lengths = tsl__lengths_of(space);
  uint64_t *bits = lengths ? tsl__arena_alloc(&space->arena, 2 * words * sizeof *bits) : NULL;
  const uint32_t *pairs =
      bits ? tsl__arena_copy(&space->arena, w.pairs, 2 * w.count * sizeof *pairs) : NULL;
  tsl__nonascii *made = pairs ? tsl__pool_add(&space->nonascii_sets.pool, &space->kept) : NULL;
  if (made) {
    marks m = {lengths->endings, bits, bits + words, w.whole};
    uint32_t from = 0x80;
    memset(bits, 0, 2 * words * sizeof *bits);
    for (uint32_t i = 0; i < m.of->always_count; i++) mark_exit(&m, m.of->always[i]);
    for (uint32_t i = 0; i < w.count; i++) {
      if (pairs[2 * i] > from) mark_gap(&m, from, pairs[2 * i] - 1);
      from = pairs[2 * i + 1] + 1;
    }
    mark_gap(&m, from, TSL__ENDING_BUCKETS * 64 - 1);
    *made = (tsl__nonascii){w.hash, pairs, w.count, w.whole, m.exit, m.dirty, m.of->midway};
  }
  uint32_t number = tsl__space_count(space, nonascii_sets) - 1;
  if (made && tsl__index_add(&space->nonascii_sets.index, &space->alloc, w.hash, number))
    return number;
  return tsl__space_no_memory(space), 0;
}

uint32_t tsl__nonascii_of(tsl__space *space, const uint32_t *pairs, uint32_t count, bool whole) {
  tsl__nonascii wanted = {.hash = tsl__hash(pairs, 2 * count * sizeof *pairs) + whole,
                          .pairs = pairs,
                          .count = count,
                          .whole = whole};
  for (const tsl__space *layer = space; layer; layer = layer->parent) {
    tsl__index_iter it = tsl__index_first(&layer->nonascii_sets.index, wanted.hash);
    for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
      const tsl__nonascii *w = tsl__nonascii_at(space, i);
      if (w->count == count && w->whole == whole &&
          !memcmp(w->pairs, pairs, 2 * count * sizeof *pairs))
        return i;
    }
  }
  return make(space, wanted);
}
