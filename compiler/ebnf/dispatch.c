/* dispatch.c - TagDispatch: free text, and rules that begin behind their triggers.
 *
 * Meaning   Free text holds no trigger. As soon as a trigger has been read, its rule must follow,
 *           and then free text again (unless loop_after_dispatch=false). A text may end within free
 *           text. If several triggers end at one place, the longest counts. No excluded text is in
 *           free text and the trigger behind it.
 * Idea      F is the free text. A trigger t that cannot be cut in another way is F t. All such
 *           triggers share F:  ( F ( t1 rule1 | t2 rule2 ) )* F
 * Overlap   After "aa" has been read, "aaa" cannot be read. If a trigger can run into another one,
 *           into itself or into an excluded text, F t has too many texts. Then the texts up to the
 *           trigger
 *           are  (any t) & ~(any T any+ | any longer | any X any), T being all triggers, `longer`
 *           those that end with t, X what is excluded.
 * Example   triggers "ab" and "bc": "abc" begins the rule of "ab", which must go on with "c".
 *           triggers "a" and "ba": "ba" begins the rule of "ba".
 * Steps     For "ab" and "bc" the look at overlaps finds that "ab" may run into "bc" by its b. So
 *           both get the exact form, in which the end of the trigger is the first place where any
 *           ends.
 * Cost      Pairs of triggers times their lengths, for the look at overlaps.
 * Tested by tests/ebnf/test_ebnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/ebnf/reader.h"

static tsl__string text_of(const tsl__ebnf *r, const tsl__ebnf_trigger *t) {
  return (tsl__string){(const char *)r->in.g->bytes.at + t->first, t->count};
}

static tsl__expr literal(tsl__ebnf *r, tsl__string s) {
  return tsl__expr_literal(r->in.x, s.at, s.length);
}

/* ---- overlaps -------------------------------------------------------------------------------- */

static bool ends_with(tsl__string s, tsl__string end) {
  return s.length >= end.length && !memcmp(s.at + s.length - end.length, end.at, end.length);
}

/* Can s be whole within free text and t, other than as t itself? */
static bool overlaps(tsl__ebnf *r, tsl__string t, tsl__string s, bool excluded) {
  tsl__exprs_work(r->in.x, 1 + (uint64_t)t.length * s.length / 16);
  bool same = !excluded && tsl__string_equal(s, t);
  if (!same && (tsl__string_has(t, s) || ends_with(s, t))) return true;
  for (uint32_t n = 1; n < t.length && n < s.length; n++)
    if (ends_with(s, (tsl__string){t.at, n})) return true;
  return false;
}

static bool overlaps_some(tsl__ebnf *r, tsl__string t) {
  for (size_t i = 0; i < r->triggers.n && !tsl__ebnf_over(r); i++)
    if (overlaps(r, t, text_of(r, &r->triggers.at[i]), false)) return true;
  for (size_t i = 0; i < r->strings.n && !tsl__ebnf_over(r); i++)
    if (overlaps(r, t, r->strings.at[i], true)) return true;
  return false;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* The alternatives of all triggers, or of those that end with `end` and are longer. */
static tsl__expr triggers(tsl__ebnf *r, const tsl__string *end) {
  tsl__expr all = TSL__NONE;
  for (size_t i = 0; i < r->triggers.n && !tsl__ebnf_over(r); i++) {
    tsl__string s = text_of(r, &r->triggers.at[i]);
    if (!end || (s.length > end->length && ends_with(s, *end)))
      all = tsl__expr_alt(r->in.x, all, literal(r, s));
  }
  return all;
}

static tsl__expr excluded(tsl__ebnf *r) {
  tsl__expr all = TSL__NONE;
  for (size_t i = 0; i < r->strings.n && !tsl__ebnf_over(r); i++)
    all = tsl__expr_alt(r->in.x, all, literal(r, r->strings.at[i]));
  return all;
}

static tsl__expr around(tsl__ebnf *r, tsl__expr middle, tsl__expr after) {
  return tsl__expr_seq(r->in.x, tsl__expr_text(r->in.x), tsl__expr_seq(r->in.x, middle, after));
}

static tsl__expr free_text(tsl__ebnf *r, tsl__expr all, tsl__expr out) {
  tsl__expr words = tsl__expr_alt(r->in.x, all, out), any = tsl__expr_text(r->in.x);
  return words == TSL__NONE ? any : tsl__expr_text_not(r->in.x, around(r, words, any));
}

/* Texts up to the end of a trigger that overlaps. */
static tsl__expr up_to(tsl__ebnf *r, tsl__string t, tsl__expr all, tsl__expr out) {
  tsl__exprs *x = r->in.x;
  tsl__expr any = tsl__expr_text(x), some = tsl__expr_seq(x, tsl__expr_any_char(x), any);
  tsl__expr wrong = tsl__expr_alt(x, around(r, all, some), around(r, triggers(r, &t), TSL__EPS));
  wrong = tsl__expr_alt(x, wrong, around(r, out, any));
  return tsl__expr_and(x, around(r, literal(r, t), TSL__EPS), tsl__expr_not(x, wrong));
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static uint32_t expression(tsl__ebnf *r, tsl__expr e) {
  return tsl__ebnf_over(r) ? 0 : tsl__gbnf_node(r->in.g, TSL__G_EXPR, e, 0, 0);
}

static uint32_t call(tsl__ebnf *r, const tsl__ebnf_trigger *t, tsl__expr before) {
  uint32_t ref = tsl__gbnf_node(r->in.g, TSL__G_REF, t->rule, (uint32_t)t->at, 0);
  return tsl__gbnf_pair(r->in.g, expression(r, before), ref);
}

/* Each trigger with its rule: those that overlap nothing behind one free text. */
static uint32_t calls(tsl__ebnf *r, tsl__expr all, tsl__expr out, tsl__expr text) {
  size_t base = r->in.pending.n, plain = 0;
  for (size_t i = 0; i < r->triggers.n && !tsl__ebnf_over(r); i++)
    if (!overlaps_some(r, text_of(r, &r->triggers.at[i]))) {
      tsl__greader_pend(&r->in,
                        call(r, &r->triggers.at[i], literal(r, text_of(r, &r->triggers.at[i]))));
      plain++;
    }
  if (plain && !tsl__ebnf_over(r)) {
    uint32_t list = tsl__greader_collect(&r->in, TSL__G_ALT, base);
    tsl__greader_pend(&r->in, tsl__gbnf_pair(r->in.g, expression(r, text), list));
  }
  for (size_t i = 0; i < r->triggers.n && !tsl__ebnf_over(r); i++)
    if (overlaps_some(r, text_of(r, &r->triggers.at[i])))
      tsl__greader_pend(
          &r->in, call(r, &r->triggers.at[i], up_to(r, text_of(r, &r->triggers.at[i]), all, out)));
  return tsl__greader_collect(&r->in, TSL__G_ALT, base);
}

uint32_t tsl__ebnf_dispatch(tsl__ebnf *r, bool loop) {
  tsl__expr all = triggers(r, NULL), out = excluded(r), text = free_text(r, all, out);
  uint32_t last = expression(r, text);
  if (tsl__ebnf_over(r) || !r->triggers.n) return last;
  uint32_t once = calls(r, all, out, text);
  if (tsl__ebnf_over(r)) return 0;
  if (!loop) return tsl__gbnf_list(r->in.g, TSL__G_ALT, (uint32_t[]){once, last}, 2);
  return tsl__gbnf_pair(r->in.g, tsl__gbnf_node(r->in.g, TSL__G_REPEAT, once, 0, TSL__INF), last);
}
