/* seen_names.c - see seen_names.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/automaton/seen_names.h"

#include <stdlib.h>

static const tsl__seen_names *group_at(const tsl__space *space, uint32_t i) {
  return tsl__space_at(space, seen_names, i);
}

/* ---- sets ------------------------------------------------------------------------------------ */

static int order(const uint8_t *a, const uint8_t *b, size_t n) { return n ? memcmp(a, b, n) : 0; }

static int compare(const tsl__spelled *a, const tsl__spelled *b) {
  int c = order(a->at, b->at, a->n < b->n ? a->n : b->n);
  return c ? c : a->n < b->n ? -1 : a->n > b->n;
}

/* The first name from `lo` on that is not below the text, or, with `past`, that does not begin with
 * it either. */
static uint32_t bound(const tsl__seen_names *g, const uint8_t *text, uint32_t n, bool past) {
  uint32_t lo = 0, hi = g->count;
  while (lo < hi) {
    uint32_t mid = (lo + hi) / 2, common = g->names[mid].n < n ? g->names[mid].n : n;
    int c = order(g->names[mid].at, text, common);
    if (c == 0 && common < n) c = -1;
    if (c < 0 || (past && c == 0))
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

bool tsl__seen_names_has(const tsl__space *space, uint32_t seen_names, const uint8_t *name,
                         uint32_t n) {
  for (; seen_names; seen_names = group_at(space, seen_names)->next) {
    const tsl__seen_names *g = group_at(space, seen_names);
    uint32_t i = bound(g, name, n, false);
    if (i < g->count && g->names[i].n == n && !order(g->names[i].at, name, n)) return true;
  }
  return false;
}

static bool same(const tsl__seen_names *g, uint32_t next, const tsl__spelled *names, uint32_t n) {
  if (g->next != next || g->count != n) return false;
  for (uint32_t i = 0; i < n; i++)
    if (compare(&g->names[i], &names[i])) return false;
  return true;
}

static bool has_short_escapes(const tsl__spelled *name) {
  for (uint32_t i = 0; i < name->n; i++)
    if (!tsl__stands_raw(name->at[i]) || name->at[i] == '/') return true;
  return false;
}

/* The group of these sorted names before the group `next`; the list is copied, their bytes only
 * with `copies`. 0 on failure. */
static uint32_t intern(tsl__space *space, uint32_t next, const tsl__spelled *names, uint32_t n,
                       bool copies) {
  uint64_t hash = tsl__mix(next + 0x74616B65u);
  for (uint32_t i = 0; i < n; i++) hash = tsl__mix(hash ^ tsl__hash(names[i].at, names[i].n));
  tsl__index_iter it = tsl__index_first(&space->seen_names.index, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;)
    if (same(group_at(space, i), next, names, n)) return i;
  uint32_t total = n + (next ? group_at(space, next)->total : 0);
  if (total > TSL__SEEN_MAX)
    return tsl__space_fail(space, TSL_ERR_LIMIT,
                           "more than 1,048,576 additional members in one object"),
           0;
  tsl__spelled *copy = tsl__arena_copy(&space->arena, names, n * sizeof *names);
  for (uint32_t i = 0; copies && copy && i < n; i++)
    if (!(copy[i].at = tsl__arena_copy(&space->arena, names[i].at, names[i].n))) copy = NULL;
  tsl__seen_names *fresh = copy ? tsl__pool_add(&space->seen_names.pool, &space->kept) : NULL;
  uint32_t number = tsl__space_count(space, seen_names) - 1;
  if (fresh)
    *fresh =
        (tsl__seen_names){next, n, total, false, next ? group_at(space, next)->signs : 0, copy};
  for (uint32_t i = 0; fresh && i < n; i++) {
    fresh->signs |= tsl__name_sign(names[i].at, names[i].n);
    fresh->shortened = fresh->shortened || has_short_escapes(&names[i]);
  }
  if (fresh && tsl__index_add(&space->seen_names.index, &space->alloc, hash, number)) return number;
  return tsl__space_no_memory(space), 0;
}

uint32_t tsl__seen_names_group(tsl__space *space, uint32_t next, const tsl__spelled *names,
                               uint32_t n) {
  return intern(space, next, names, n, true);
}

static int by_bytes(const void *a, const void *b) { return compare(a, b); }

uint32_t tsl__seen_names_add(tsl__space *space, uint32_t seen_names, const uint8_t *name,
                             uint32_t n) {
  TSL__VEC(tsl__spelled) all = {0};
  tsl__spelled own = {tsl__arena_copy(&space->arena, name, n), n};
  bool fine = own.at && tsl__vec_push(&space->alloc, &all, own);
  for (; fine && seen_names && group_at(space, seen_names)->count <= all.n;
       seen_names = group_at(space, seen_names)->next) {
    const tsl__seen_names *g = group_at(space, seen_names);
    fine = tsl__vec_reserve(&space->alloc, &all, g->count);
    if (!fine) break;
    memcpy(all.at + all.n, g->names, g->count * sizeof *g->names);
    all.n += g->count;
  }
  if (!fine)
    tsl__space_no_memory(space);
  else
    qsort(all.at, all.n, sizeof *all.at, by_bytes);
  uint32_t made = fine ? intern(space, seen_names, all.at, (uint32_t)all.n, false) : 0;
  tsl__vec_free(&space->alloc, &all);
  return made;
}

/* ---- spellings ------------------------------------------------------------------------------- */

static unsigned hex4(const uint8_t *at) {
  return (unsigned)tsl__hex_value(at[0]) << 12 | (unsigned)tsl__hex_value(at[1]) << 8 |
         (unsigned)tsl__hex_value(at[2]) << 4 | (unsigned)tsl__hex_value(at[3]);
}

uint32_t tsl__escape_byte(uint8_t open[12], uint8_t *count, uint8_t byte, uint8_t utf8[4]) {
  uint32_t c;
  open[(*count)++] = byte;
  if (*count == 2 && byte != 'u')
    c = tsl__escaped(byte);
  else if (*count == 6 && (hex4(open + 2) & 0xFC00) != 0xD800)
    c = hex4(open + 2); /* the first half of a pair waits for the second */
  else if (*count == 12)
    c = 0x10000 + ((hex4(open + 2) & 0x3FF) << 10 | (hex4(open + 8) & 0x3FF));
  else
    return 0;
  *count = 0;
  return tsl__utf8_encode(c, utf8);
}

bool tsl__spelling_byte(tsl__space *space, tsl__spelling *s, uint8_t byte) {
  uint8_t utf8[4] = {byte};
  uint32_t n = s->open_count == 0 && byte != '\\'
                   ? 1
                   : tsl__escape_byte(s->open, &s->open_count, byte, utf8);
  for (uint32_t i = 0; i < n; i++)
    if (!tsl__vec_push(&space->alloc, &s->decoded, utf8[i])) return tsl__space_no_memory(space);
  return true;
}

bool tsl__spelling_bytes(tsl__space *space, tsl__spelling *s, const uint8_t *bytes, size_t n) {
  for (size_t i = 0; i < n;) {
    const uint8_t *escape = s->open_count ? bytes + i : memchr(bytes + i, '\\', n - i);
    size_t raw = escape ? (size_t)(escape - bytes) - i : n - i;
    if (!tsl__vec_reserve(&space->alloc, &s->decoded, raw)) return tsl__space_no_memory(space);
    if (raw) memcpy(s->decoded.at + s->decoded.n, bytes + i, raw);
    s->decoded.n += raw;
    i += raw;
    if (i < n && !tsl__spelling_byte(space, s, bytes[i++])) return false;
  }
  return true;
}

static void put_unit(uint8_t out[6], unsigned unit) {
  static const char digits[] = "0123456789abcdef";
  out[0] = '\\';
  out[1] = 'u';
  for (int i = 0; i < 4; i++) out[2 + i] = (uint8_t)digits[unit >> (12 - 4 * i) & 15];
}

bool tsl__escape_opens(const uint8_t *open, uint32_t count, const tsl__spelled *name,
                       uint32_t known) {
  uint8_t spelled[12];
  uint32_t c;
  /* at its end, or within a character */
  if (!tsl__utf8_decode(name->at + known, name->n - known, &c)) return false;
  if (count == 2 && open[1] != 'u') return tsl__escaped(open[1]) == c;
  if (c >= 0x10000)
    put_unit(spelled, 0xD800 | (c - 0x10000) >> 10),
        put_unit(spelled + 6, 0xDC00 | ((c - 0x10000) & 0x3FF));
  else
    put_unit(spelled, c);
  if (count > (c >= 0x10000 ? 12 : 6)) return false;
  for (uint32_t i = 0; i < count; i++)
    if (open[i] != spelled[i] && (i % 6 < 2 || (open[i] | 0x20) != spelled[i])) return false;
  return true;
}

bool tsl__seen_names_rivals(const tsl__space *space, uint32_t seen_names, const tsl__spelling *s) {
  for (; seen_names; seen_names = group_at(space, seen_names)->next) {
    const tsl__seen_names *g = group_at(space, seen_names);
    for (uint32_t i = bound(g, s->decoded.at, (uint32_t)s->decoded.n, false); i < g->count; i++) {
      if (g->names[i].n < s->decoded.n || order(g->names[i].at, s->decoded.at, s->decoded.n) != 0)
        break;
      if (!s->open_count ||
          tsl__escape_opens(s->open, s->open_count, &g->names[i], (uint32_t)s->decoded.n))
        return true;
    }
  }
  return false;
}

void tsl__seen_names_range(const tsl__seen_names *group, const uint8_t *text, uint32_t n,
                           uint32_t *lo, uint32_t *hi) {
  *lo = bound(group, text, n, false);
  *hi = bound(group, text, n, true);
}

/* The first of names [lo, hi) whose byte at `known` is not below; one that ends there is below
 * all. */
static uint32_t first_from(const tsl__seen_names *g, uint32_t lo, uint32_t hi, uint32_t known,
                           unsigned byte) {
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (g->names[mid].n == known || g->names[mid].at[known] < byte)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

void tsl__seen_names_narrow(const tsl__seen_names *group, uint32_t known, uint8_t byte,
                            uint32_t *lo, uint32_t *hi) {
  *lo = first_from(group, *lo, *hi, known, byte);
  *hi = first_from(group, *lo, *hi, known, byte + 1u);
}

/* Names are in the order of their characters, and so are escapes by their digits, but for those of
 * two halves. The first name that is not below the digits read decides. */
void tsl__seen_names_narrow_open(const tsl__seen_names *group, uint32_t known, const uint8_t *open,
                                 uint32_t count, uint32_t *lo, uint32_t hi) {
  bool ordered = count > 2 && count <= 6 && (open[2] | 0x20) != 'd';
  if (ordered) {
    uint8_t digits[4] = "0000", least[4];
    memcpy(digits, open + 2, count - 2);
    uint32_t n = tsl__utf8_encode(hex4(digits), least), end = hi;
    while (*lo < end) {
      uint32_t mid = *lo + (end - *lo) / 2, left = group->names[mid].n - known;
      int below = memcmp(group->names[mid].at + known, least, left < n ? left : n);
      if (below < 0 || (!below && left < n))
        *lo = mid + 1;
      else
        end = mid;
    }
    if (*lo < hi && !tsl__escape_opens(open, count, &group->names[*lo], known)) *lo = hi;
    return;
  }
  while (*lo < hi && !tsl__escape_opens(open, count, &group->names[*lo], known)) ++*lo;
}
