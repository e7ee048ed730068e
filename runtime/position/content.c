/* content.c - which bytes at a position are content. The essay is in content.h.
 *
 * Steps     tsl__stack_content looks where each byte leads (find_ways), and counts the bytes that
 *           lead to one position (find_alike). It adds the bytes beside them (add_beside), and
 *           finds out whether the text under way is a name (is_name).
 * Example   In a string of JSON 240 bytes lead back to the string. `"` leads behind it and `\` into
 *           an escape. So 240 bytes are alike, `\` is added, and `"` is not.
 * Tested by tests/position/test_content.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/position/content.h"

/* Where each byte leads. */
typedef struct ways {
  tsl__bytes next;    /* bytes that may come */
  tsl__stack to[256]; /* of each: the position after it */
} ways;

/* One byte on, with frames that are used again. */
static tsl__stack after(tsl__space *space, tsl__stepping *s, tsl__stack at, uint8_t byte) {
  size_t accepted;
  bool ok = tsl__step_load(space, s, at) && tsl__step_bytes(space, s, &byte, 1, &accepted);
  tsl__stack to = ok ? tsl__step_collect(space, s) : 0;
  return space->status == TSL_OK ? to : 0;
}

tsl__stack tsl__content_after(tsl__space *space, tsl__stack at, uint8_t byte) {
  tsl__stepping s = tsl__step_new(space);
  tsl__stack to = after(space, &s, tsl__content_key(space, at), byte);
  tsl__step_free(space, &s);
  return to;
}

static bool find_ways(tsl__space *space, tsl__stack at, ways *w) {
  if (!tsl__stack_next(space, at, &w->next)) return false;
  tsl__stepping s = tsl__step_new(space);
  for (unsigned b = 0; b < 256; b++)
    w->to[b] = tsl__bytes_has(&w->next, b) ? after(space, &s, at, (uint8_t)b) : 0;
  tsl__step_free(space, &s);
  return space->status == TSL_OK;
}

/* Bytes that at least TSL__ALIKE bytes stand beside, all of which lead to one position. */
static void find_alike(const ways *w, tsl__bytes *out) {
  tsl__bytes seen = {{0}};
  for (unsigned b = 0; b < 256; b++) {
    if (!w->to[b] || tsl__bytes_has(&seen, b)) continue;
    tsl__bytes group = {{0}};
    for (unsigned c = b; c < 256; c++)
      if (w->to[c] == w->to[b]) tsl__bytes_add(&group, c);
    tsl__bytes_or(&seen, &group);
    if (tsl__bytes_count(&group) >= TSL__ALIKE) tsl__bytes_or(out, &group);
  }
}

/* ---- bytes that belong together -------------------------------------------------------------- */

static tsl__bytes digits(void) {
  tsl__bytes s = {{0}};
  tsl__bytes_add_range(&s, '0', '9');
  return s;
}

static tsl__bytes letters(void) {
  tsl__bytes s = {{0}};
  tsl__bytes_add_range(&s, 'A', 'Z');
  tsl__bytes_add_range(&s, 'a', 'z');
  return s;
}

/* Add those bytes of `some` that may come. */
static void add_coming(const ways *w, tsl__bytes some, tsl__bytes *out) {
  for (int i = 0; i < 4; i++) out->w[i] |= some.w[i] & w->next.w[i];
}

/* Digits beside digits; letters, digits, escapes and long characters beside letters. */
static void add_beside(const ways *w, tsl__bytes *out) {
  tsl__bytes few = digits(), all = letters(), past = {{0}};
  tsl__bytes_add_range(&past, 0x80, 0xff);
  bool text = tsl__bytes_meet(out, &all) || tsl__bytes_meet(out, &past);
  for (int i = 0; i < 4; i++) few.w[i] &= w->next.w[i];
  if (text || tsl__bytes_count(&few) >= TSL__ALIKE) tsl__bytes_or(out, &few);
  if (!text) return;
  tsl__bytes_add(&all, '\\');
  tsl__bytes_or(&all, &past);
  add_coming(w, all, out);
}

/* ---- names ----------------------------------------------------------------------------------- */

bool tsl__content_wants_colon(tsl__space *space, tsl__stack at) {
  tsl__bytes next, may = {{0}};
  if (!at || tsl__stack_at(space, at)->complete || !tsl__stack_next(space, at, &next)) return false;
  for (const char *c = " \t\r\n:"; *c; c++) tsl__bytes_add(&may, (unsigned char)*c);
  return tsl__bytes_has(&next, ':') && tsl__bytes_within(&next, &may);
}

/* The position after the byte that leaves the fewest bytes to the end; 0: none leaves fewer. No
 * escape is begun: what is said of the way behind one may be less than it is. */
static tsl__stack nearer(tsl__space *space, const ways *w, tsl__stack at) {
  tsl__stack best = 0, last = 0;
  uint32_t least = tsl__stack_shortest(space, at);
  for (unsigned b = 0; b < 256 && space->status == TSL_OK; b++) {
    if (!w->to[b] || w->to[b] == last || b == '\\') continue;
    last = w->to[b];
    uint32_t missing = tsl__stack_shortest(space, last);
    if (missing >= least) continue;
    least = missing;
    best = last;
  }
  return best;
}

/* Is the text under way the name of a member? `w` is of `at`, and is used up; `content` is what is
 * content there, names left aside. */
static bool is_name(tsl__space *space, ways *w, tsl__stack at, tsl__bytes content) {
  for (uint32_t i = 0; i < TSL__CONTENT_WAY && space->status == TSL_OK; i++) {
    for (const char *quote = "\"'"; *quote; quote++) {
      unsigned char q = (unsigned char)*quote;
      if (w->to[q] && !tsl__bytes_has(&content, q))
        return tsl__content_wants_colon(space, w->to[q]);
    }
    at = nearer(space, w, at);
    if (!at || !find_ways(space, at, w)) return false;
    memset(&content, 0, sizeof content);
    find_alike(w, &content);
  }
  return false;
}

bool tsl__stack_content(tsl__space *space, tsl__stack at, tsl__bytes *out) {
  ways w;
  memset(out, 0, sizeof *out);
  at = tsl__content_key(space, at);
  if (!tsl__stack_next(space, at, &w.next)) return false;
  if (tsl__bytes_count(&w.next) < TSL__ALIKE) return true;
  if (!find_ways(space, at, &w)) return false;
  find_alike(&w, out);
  add_beside(&w, out);
  if (!tsl__bytes_empty(out) && is_name(space, &w, at, *out)) memset(out, 0, sizeof *out);
  return space->status == TSL_OK;
}
