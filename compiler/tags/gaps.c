/* gaps.c - text around calls and thinking that the format puts there, and that is no content.
 *
 * Problem   Between two calls a model writes "\n" or "; ", in front of the first one "\n\n", after
 *           a block of thinking "\n\n". The grammar reads that as free text, as any text may stand
 *           there. A caller does not want it as content.
 * Idea      A tree has lists of such texts (struct tsl__gaps). Where a reader reports text that
 *           stands outside of all captures, it looks at what stands on both sides.
 *             thinking  the text behind a block of thinking begins with one of them
 *             before    the text in front of a call, or of a section of calls, ends with one
 *             between   the text between two calls is one, as a whole
 *             after     the text behind the last call is one, as a whole
 *           The longest that fits is left out. Everything else comes back unaltered.
 * Blank     Where a tree has such lists, text behind a call that is white space alone is left out
 *           as well. Models vary their line breaks there, and no reader wants them.
 * Streaming What may still become a gap waits: the beginning of a "thinking", "between" or "after"
 *           behind its block or call, and what ends with the beginning of a "before".
 * Example   before ["\n"], and the answer "Hi\n<call>": the line break waits until "<call>" is
 *           complete, and is dropped then. In "Hi\nyou" it waits for one byte, and is content.
 *           between ["; "], and two calls with "; " between: the text is one of the list as a
 *           whole, and is dropped. With "; and " between nothing is dropped.
 * Cost      Linear in the lists for each report, and only outside of captures.
 * Tested by tests/tags/test_gaps.c, tests/programs/test_tools.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/tags/parser.h"

static size_t longest_of(const tsl__texts *texts) {
  size_t longest = 0;
  for (uint32_t i = 0; i < texts->n; i++)
    if (texts->at[i].length > longest) longest = texts->at[i].length;
  return longest;
}

/* Is it one of them? */
static bool is_one(const tsl__texts *texts, const char *text, size_t n) {
  for (uint32_t i = 0; i < texts->n; i++)
    if (texts->at[i].length == n && !memcmp(texts->at[i].at, text, n)) return n > 0;
  return false;
}

/* Is it the beginning of one of them, or one of them? */
static bool begins_one(const tsl__texts *texts, const char *text, size_t n) {
  for (uint32_t i = 0; i < texts->n; i++)
    if (texts->at[i].length >= n && !memcmp(texts->at[i].at, text, n)) return true;
  return false;
}

/* Is it white space, and does the tree have gaps at all? */
static bool is_blank(const tsl__gaps *g, const char *text, size_t n) {
  if (!(g->thinking.n + g->before.n + g->between.n + g->after.n)) return false;
  for (size_t i = 0; i < n; i++)
    if (!memchr(" \n\t\r", text[i], 4)) return false;
  return true;
}

/* The text that is not yet reported. An empty buffer has no address to count from. */
static const char *waiting(const tsl_parser *p) {
  return p->text.at ? p->text.at + p->reported_to : "";
}

/* Is the text that waits all that stands behind the last block or call? */
static bool stands_behind(const tsl_parser *p, tsl__behind what) {
  return p->behind == what && p->reported_to == p->behind_at;
}

/* The text up to `to` is known to go on with something else than a gap: drop that of thinking. */
static void drop_thinking(tsl_parser *p, size_t to) {
  const tsl__texts *texts = &p->tagged->gaps.thinking;
  size_t best = 0;
  if (!stands_behind(p, TSL__BEHIND_THINKING)) return;
  for (uint32_t i = 0; i < texts->n; i++) {
    const tsl__string s = texts->at[i];
    if (s.length > best && s.length <= to - p->reported_to && !memcmp(waiting(p), s.at, s.length))
      best = s.length;
  }
  p->reported_to += best;
  p->behind = TSL__BEHIND_NOTHING;
}

size_t tsl__gaps_wait(tsl_parser *p, size_t to) {
  const tsl__gaps *g = &p->tagged->gaps;
  if (stands_behind(p, TSL__BEHIND_THINKING)) {
    if (begins_one(&g->thinking, waiting(p), to - p->reported_to)) return p->reported_to;
    drop_thinking(p, to);
  }
  size_t n = to - p->reported_to;
  if (stands_behind(p, TSL__BEHIND_CALL) &&
      (is_blank(g, waiting(p), n) || begins_one(&g->between, waiting(p), n) ||
       begins_one(&g->after, waiting(p), n)))
    return p->reported_to;
  size_t longest = longest_of(&g->before), from = to > longest ? to - longest : 0;
  for (size_t k = from > p->reported_to ? from : p->reported_to; k < to; k++)
    if (begins_one(&g->before, p->text.at + k, to - k)) return k;
  return to;
}

size_t tsl__gaps_before(tsl_parser *p, size_t to, bool call) {
  const tsl__gaps *g = &p->tagged->gaps;
  size_t best = 0;
  drop_thinking(p, to);
  size_t n = to - p->reported_to;
  if (!call) return to;
  if (stands_behind(p, TSL__BEHIND_CALL) &&
      (is_one(&g->between, waiting(p), n) || is_blank(g, waiting(p), n)))
    return p->reported_to;
  for (uint32_t i = 0; i < g->before.n; i++) {
    const tsl__string s = g->before.at[i];
    if (s.length > best && s.length <= n && !memcmp(p->text.at + to - s.length, s.at, s.length))
      best = s.length;
  }
  return to - best;
}

size_t tsl__gaps_at_end(tsl_parser *p, size_t to) {
  drop_thinking(p, to);
  const tsl__gaps *g = &p->tagged->gaps;
  const char *text = waiting(p);
  size_t n = to - p->reported_to;
  bool drop =
      stands_behind(p, TSL__BEHIND_CALL) && (is_one(&g->after, text, n) || is_blank(g, text, n));
  return drop ? p->reported_to : to;
}
