/* nfc.c - canonical composition of Unicode text (NFC), which Qwen's tokenizer asks for.
 *
 * Idea      Nearly all text is in NFC already. A code point is a border if NFC leaves it alone, it
 *           composes with nothing before it, and it is no mark. Nothing on its left acts on what is
 *           right of it. So text is copied until a code point is met that is not of that kind
 *           ("unsafe"). Then the run from the border before it up to the next border is decomposed,
 *           put in canonical order and composed.
 * Order     Marks are sorted by combining class, stably. Runs of marks are short; long ones (an
 *           attack) are counted instead of inserted.
 * Hangul    11,172 syllables by arithmetic.
 *
 * Example   "e" U+0323 U+0301  ->  U+1EB9 U+0301;   U+212B  ->  U+00C5
 * Cost      O(n). Text without code points from U+0300 on is recognised by its bytes and not
 *           touched.
 * Refs      The Unicode Standard, chapter 3.11 and 3.12; UAX #15.
 * Tested by tests/tokenizer/test_nfc.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tokenizer/nfc_data.h"
#include "runtime/tokenizer/tokenizer.h"

enum {
  L = 0x1100,
  V = 0x1161,
  T = 0x11A7,
  S = 0xAC00,
  L_COUNT = 19,
  V_COUNT = 21,
  T_COUNT = 28,
  S_COUNT = L_COUNT * V_COUNT * T_COUNT
};

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define INSERTION_LIMIT 32u

typedef struct mark {
  uint32_t cp, ccc;
} mark;

/* The run at hand. */
typedef struct composer {
  const tsl_allocator *a;
  TSL__VEC(mark) run;
  TSL__VEC(mark) sorted; /* scratch of the counting sort */
} composer;

/* ---- tables ---------------------------------------------------------------------------------- */

static bool is_unsafe(uint32_t cp) {
  size_t lo = 0, hi = COUNT(unsafe);
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (unsafe[mid].hi < cp)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < COUNT(unsafe) && unsafe[lo].lo <= cp;
}

static uint32_t class_of(uint32_t cp) {
  size_t lo = 0, hi = COUNT(classes);
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (classes[mid].hi < cp)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < COUNT(classes) && classes[lo].lo <= cp ? classes[lo].ccc : 0;
}

/* What first and second compose to, or 0. */
static uint32_t composite_of(uint32_t first, uint32_t second) {
  if (first >= L && first < L + L_COUNT && second >= V && second < V + V_COUNT)
    return S + ((first - L) * V_COUNT + second - V) * T_COUNT;
  if (first >= S && first < S + S_COUNT && (first - S) % T_COUNT == 0 && second > T &&
      second < T + T_COUNT)
    return first + second - T;
  size_t lo = 0, hi = COUNT(composites);
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (composites[mid].first < first ||
        (composites[mid].first == first && composites[mid].second < second))
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < COUNT(composites) && composites[lo].first == first && composites[lo].second == second
             ? composites[lo].composite
             : 0;
}

/* ---- one run --------------------------------------------------------------------------------- */

static bool push(composer *c, uint32_t cp) {
  mark m = {cp, class_of(cp)};
  return tsl__vec_push(c->a, &c->run, m);
}

static bool push_decomposed(composer *c, uint32_t cp) {
  if (cp >= S && cp < S + S_COUNT) {
    uint32_t s = cp - S, t = s % T_COUNT;
    return push(c, L + s / (V_COUNT * T_COUNT)) && push(c, V + s / T_COUNT % V_COUNT) &&
           (!t || push(c, T + t));
  }
  size_t lo = 0, hi = COUNT(decompositions);
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (decompositions[mid].cp < cp)
      lo = mid + 1;
    else
      hi = mid;
  }
  if (lo == COUNT(decompositions) || decompositions[lo].cp != cp) return push(c, cp);
  for (unsigned i = 0; i < decompositions[lo].count; i++)
    if (!push(c, decomposed[decompositions[lo].at + i])) return false;
  return true;
}

static void insertion_sort(mark *m, size_t n) {
  for (size_t i = 1; i < n; i++) {
    mark x = m[i];
    size_t k = i;
    for (; k && m[k - 1].ccc > x.ccc; k--) m[k] = m[k - 1];
    m[k] = x;
  }
}

static bool counting_sort(composer *c, mark *m, size_t n) {
  size_t start[256] = {0};
  c->sorted.n = 0;
  if (!tsl__vec_reserve(c->a, &c->sorted, n)) return false;
  for (size_t i = 0; i < n; i++)
    if (m[i].ccc < 255) start[m[i].ccc + 1]++;
  for (unsigned i = 1; i < 256; i++) start[i] += start[i - 1];
  for (size_t i = 0; i < n; i++) c->sorted.at[start[m[i].ccc]++] = m[i];
  memcpy(m, c->sorted.at, n * sizeof *m);
  return true;
}

/* Put the marks between starters in order of their classes. */
static bool order(composer *c) {
  for (size_t i = 0, end; i < c->run.n; i = end) {
    end = i + 1;
    if (!c->run.at[i].ccc) continue;
    while (end < c->run.n && c->run.at[end].ccc) end++;
    if (end - i <= INSERTION_LIMIT)
      insertion_sort(c->run.at + i, end - i);
    else if (!counting_sort(c, c->run.at + i, end - i))
      return false;
  }
  return true;
}

/* Compose in place: each mark joins the starter before it unless one of the same or a higher class
 * stands between. */
static void compose(composer *c) {
  mark *m = c->run.at;
  size_t kept = 0, starter = SIZE_MAX;
  for (size_t i = 0; i < c->run.n; i++) {
    uint32_t last = kept ? m[kept - 1].ccc : 0, joined = 0;
    bool adjacent = starter != SIZE_MAX && starter + 1 == kept;
    if (starter != SIZE_MAX && (adjacent || last < m[i].ccc))
      joined = composite_of(m[starter].cp, m[i].cp);
    if (joined) {
      m[starter].cp = joined;
      continue;
    }
    if (!m[i].ccc) starter = kept;
    m[kept++] = m[i];
  }
  c->run.n = kept;
}

static bool put(const tsl_allocator *a, tsl__pieces *out, const uint8_t *bytes, size_t n) {
  if (!tsl__vec_reserve(a, &out->bytes, n)) return false;
  if (n) memcpy(out->bytes.at + out->bytes.n, bytes, n);
  out->bytes.n += n;
  return true;
}

static bool finish_run(composer *c, tsl__pieces *out) {
  if (!order(c)) return false;
  compose(c);
  for (size_t i = 0; i < c->run.n; i++) {
    uint8_t bytes[4];
    if (!put(c->a, out, bytes, tsl__utf8_encode(c->run.at[i].cp, bytes))) return false;
  }
  c->run.n = 0;
  return true;
}

/* ---- the text -------------------------------------------------------------------------------- */

bool tsl__nfc_is_plain(const uint8_t *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (text[i] >= 0xCC) return false;
  return true;
}

/* Normalise the run that begins at text[at] and ends before the next border; *at is moved there. */
static bool do_run(composer *c, const uint8_t *text, size_t length, size_t *at, tsl__pieces *out) {
  uint32_t cp;
  for (bool first = true; *at < length; first = false) {
    unsigned n = tsl__utf8_decode(text + *at, length - *at, &cp);
    if (!first && !is_unsafe(cp)) break;
    if (!push_decomposed(c, cp)) return false;
    *at += n;
  }
  return finish_run(c, out);
}

tsl_status tsl__nfc(const tsl_allocator *a, const uint8_t *text, size_t length, tsl__pieces *out) {
  composer c = {.a = a};
  bool ok = true;
  /* text[done … border) is to be copied as it is; a border, or the start, is at `border` */
  size_t done = 0, border = 0;
  for (size_t at = 0; at < length && ok;) {
    uint32_t cp;
    unsigned n = tsl__utf8_decode(text + at, length - at, &cp);
    if (cp < 0x300 || !is_unsafe(cp)) {
      border = at;
      at += n;
      continue;
    }
    ok = put(a, out, text + done, border - done) && do_run(&c, text, length, &border, out);
    done = at = border;
  }
  ok = ok && put(a, out, text + done, length - done);
  tsl__vec_free(a, &c.run);
  tsl__vec_free(a, &c.sorted);
  return ok ? TSL_OK : TSL_ERR_NO_MEMORY;
}
