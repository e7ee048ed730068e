/* stops.c - many strings may end a free text: which of them overlap, and which tag has which
 * trigger? See tags.h.
 *
 * Problem   Free text up to a string T is free · T, unless a string S may end first. This can
 *           happen in two cases. S lies in T. Or S, which may be T itself, ends with a proper
 *           beginning of T. To compare each with each takes n² comparisons, and a request may have
 *           100,000 strings.
 * Idea      All of them in one trie with failure links (Aho, Corasick 1975). The link of a node
 *           leads to the longest proper suffix of it that some string begins with.
 *             S in T         on the way of T stands another string's node, or a node whose links
 *                            lead to one
 *             T begins in S  a node on the way of T, before its last, is reached over links from
 *                            the end of some S: those nodes are noted once
 *           If S lies in T and ends before T does, T never ends a free text: S does. In all other
 *           cases the text T itself is one that T ends, so no search for such a text is needed.
 * Example   Of the strings "ab", "cabd" and "bc": "ab" lies in "cabd". The link of the node "cab"
 *           leads to the node "ab", which ends a string. "bc" begins in "ab", as the link of the
 *           end "ab" leads to the node "b", on the way of "bc".
 * Steps     The trie has the nodes a, ab, c, ca, cab, cabd, b, bc. The links of a, c, b and cabd
 *           lead to the root. That of ab to b, of ca to a, of bc to c, of cab to ab. A pass along
 *           each string then sees with one look at a node what would take a look at each other
 *           string.
 * Work      is counted for each node, so that a hostile request reaches a limit, and not a
 *           time-out.
 * Cost      Linear in the bytes of the strings (times the bytes that may follow at one node),
 *           counted as work of the front end.
 * Tested by tests/tags/test_tags.c (all short texts, against a naive search),
 *           tests/engine/test_limits.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "compiler/expr/node.h"
#include "compiler/tags/links.h"
#include "compiler/tags/tags.h"

static uint32_t below(const tsl__links *l, uint32_t from, uint8_t byte) {
  uint32_t seen, to = tsl__links_below(l->at, from, byte, &seen);
  tsl__exprs_work(l->x, seen);
  return to;
}

static void add(tsl__links *l, tsl__string s) {
  uint32_t at = 0;
  for (uint32_t i = 0, to; i < s.length; at = to, i++) {
    if ((to = below(l, at, (uint8_t)s.at[i]))) continue;
    to = l->n++;
    l->at[to] = (tsl__link){.next = l->at[at].child, .byte = (uint8_t)s.at[i]};
    l->at[at].child = to;
  }
  l->at[at].ends = true;
}

/* The link of `child`, below `parent` whose own is known. */
static uint32_t link_of(const tsl__links *l, uint32_t parent, uint8_t byte) {
  uint32_t to = 0;
  for (uint32_t at = parent; at && !to;) {
    at = l->at[at].link;
    to = below(l, at, byte);
  }
  return to;
}

static void link_all(tsl__links *l) {
  uint32_t done = 0, n = 0;
  for (l->row[n++] = 0; done < n && tsl__exprs_status(l->x) == TSL_OK; done++)
    for (uint32_t at = l->row[done], i = l->at[at].child; i; i = l->at[i].next) {
      uint32_t to = l->at[i].link = link_of(l, at, l->at[i].byte);
      l->at[i].holds = l->at[to].ends || l->at[to].holds;
      l->row[n++] = i;
    }
  while (n-- > 1) {
    const tsl__link *m = &l->at[l->row[n]];
    if (m->ends || m->begun) l->at[m->link].begun = true;
  }
}

/* Nothing ends earlier than `s` does (TSL__STOP_APART), or some string does within `s`
 * (TSL__STOP_NEVER), or only with what may stand before `s`. */
static uint8_t judge(const tsl__links *l, tsl__string s) {
  uint32_t at = 0;
  uint8_t how = TSL__STOP_APART;
  for (uint32_t i = 0; i < s.length; i++) {
    if (!(at = below(l, at, (uint8_t)s.at[i]))) return TSL__STOP_NEVER; /* after a failure */
    const tsl__link *n = &l->at[at];
    if (i + 1 < s.length && (n->ends || n->holds)) return TSL__STOP_NEVER;
    if (n->holds || (i + 1 < s.length && n->begun)) how = TSL__STOP_LATE;
  }
  return how;
}

bool tsl__links_make(tsl__tags_lowering *t, const tsl__string *strings, uint32_t n,
                     tsl__links *out) {
  size_t bytes = 1;
  for (uint32_t i = 0; i < n; i++) bytes += strings[i].length;
  *out = (tsl__links){.x = t->x, .n = 1};
  if (bytes > UINT32_MAX || !(out->at = tsl__tags_alloc(t->tags, bytes * sizeof *out->at)) ||
      !(out->row = tsl__tags_alloc(t->tags, bytes * sizeof *out->row)))
    return false;
  for (uint32_t i = 0; i < n && tsl__exprs_status(t->x) == TSL_OK; i++) add(out, strings[i]);
  link_all(out);
  return tsl__exprs_status(t->x) == TSL_OK;
}

uint8_t *tsl__tags_apart(tsl__tags_lowering *t, const tsl__string *strings, uint32_t n) {
  tsl__links l;
  uint8_t *apart = tsl__tags_alloc(t->tags, n * sizeof *apart + 1);
  if (!apart || !tsl__links_make(t, strings, n, &l)) return NULL;
  for (uint32_t i = 0; i < n && tsl__exprs_status(t->x) == TSL_OK; i++)
    apart[i] = judge(&l, strings[i]);
  return tsl__exprs_status(t->x) == TSL_OK ? apart : NULL;
}

/* ---- triggers -------------------------------------------------------------------------------- */

typedef struct trigger {
  tsl__string text;
  uint32_t index, same; /* same: how many have this text, with the first of them */
} trigger;

static int by_text(const void *a, const void *b) {
  const trigger *p = a, *q = b;
  int c = tsl__tags_order(p->text, q->text);
  return c ? c : (p->index > q->index) - (p->index < q->index);
}

/* How many triggers a begin starts with; *index: one of them. All of these are noted in `used`,
 * of equal ones the first. */
static uint32_t matching(tsl__tags_lowering *l, const tsl__strings *sorted, const trigger *all,
                         tsl__string begin, bool *used, uint32_t *index) {
  uint32_t lo = 0, hi = sorted->n, count = 0;
  for (uint32_t i = 0;
       i < begin.length && tsl__strings_narrow(sorted, &lo, &hi, i, (uint8_t)begin.at[i]); i++) {
    tsl__exprs_work(l->x, 1);
    if (sorted->at[lo].length != i + 1) continue;
    count += all[lo].same;
    used[lo] = true;
    *index = all[lo].index;
    lo += all[lo].same;
    if (lo == hi) break;
  }
  return count;
}

/* The first trigger, in their own order, that no tag begins with. */
static const trigger *first_unused(const trigger *all, const bool *used, uint32_t n) {
  const trigger *first = NULL;
  for (uint32_t i = 0; i < n; i += all[i].same)
    if (!used[i] && (!first || all[i].index < first->index)) first = &all[i];
  return first;
}

uint32_t *tsl__tags_triggers(tsl__tags_lowering *l, const tsl__tag *n) {
  uint32_t count = n->trigger_count, *of = tsl__tags_alloc(l->tags, n->item_count * sizeof *of + 1),
           *many = tsl__tags_alloc(l->tags, n->item_count * sizeof *many + 1);
  trigger *all = tsl__tags_alloc(l->tags, count * sizeof *all + 1);
  tsl__string *texts = tsl__tags_alloc(l->tags, count * sizeof *texts + 1);
  bool *used = tsl__tags_alloc(l->tags, count * sizeof *used + 1);
  if (!of || !many || !all || !texts || !used) return NULL;
  for (uint32_t i = 0; i < count; i++) all[i] = (trigger){n->triggers[i], i, 1};
  qsort(all, count, sizeof *all, by_text);
  for (uint32_t i = count; i-- > 0;) {
    texts[i] = all[i].text;
    if (i + 1 < count && !tsl__tags_order(all[i].text, all[i + 1].text))
      all[i].same = all[i + 1].same + 1;
  }
  tsl__strings sorted = {texts, count, TSL__NONE, 0};
  for (uint32_t k = 0; k < n->item_count && tsl__exprs_status(l->x) == TSL_OK; k++)
    many[k] = matching(l, &sorted, all, n->items[k]->begin.text, used, &of[k]);
  if (tsl__exprs_status(l->x) != TSL_OK) return NULL;
  const trigger *none = first_unused(all, used, count);
  if (none)
    return tsl__tags_fail(l->tags, TSL_ERR_SCHEMA, n->at, "no tag begins with the trigger \"%.*s\"",
                          (int)(none->text.length < 60 ? none->text.length : 60), none->text.at);
  for (uint32_t k = 0; k < n->item_count; k++) {
    const tsl__tag *tag = n->items[k];
    const tsl__string begin = tag->begin.text;
    if (tag->begin.is_token)
      return tsl__tags_fail(l->tags, TSL_ERR_SCHEMA, tag->at,
                            "a tag of triggered_tags begins with a string");
    if (many[k] != 1)
      return tsl__tags_fail(l->tags, TSL_ERR_SCHEMA, tag->at,
                            "the begin \"%.*s\" must start with exactly one trigger, not %u",
                            (int)(begin.length < 60 ? begin.length : 60), begin.at, many[k]);
  }
  return of;
}
