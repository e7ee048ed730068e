/* strings.c - sorted sets of strings, and keys that lead on to different things.
 *
 * Problem   An enum of 100,000 values as alternatives of literals is as many nodes, and one more
 *           list for each byte that is read.
 * Idea      A node over a set is a range [lo, hi) of its strings, all of which agree on the first d
 *           bytes. Reading a byte narrows the range by binary search. 100,000 enum values are one
 *           array and as many nodes as a generation visits.
 * Example   The set is ape, apple, axe, bee: the node [0, 4) at depth 0. After `a` it is [0, 3) at
 *           depth 1, after `p` it is [0, 2) at depth 2. After `p` again [1, 2) at depth 3. A range
 *           of one string is a literal: "le".
 * Keys      Names of members are such a set, too, but each goes on with something of its own. The
 *           frame that spells them says at its end which one it was (RESUME).
 * Others    tsl__expr_others is any JSON string but those of a set: a call of its own, unfolded
 *           when it is reached.
 * Sorting   By the first eight bytes as one number, then by the rest. Lists that come sorted, as
 *           most do, are seen to be so.
 * Cost      n log n comparisons once for a set; a byte costs two binary searches.
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/expr/node.h"

typedef struct sorted {
  uint64_t first; /* the first eight bytes, the first highest; zeros behind a shorter text */
  uint32_t input;
} sorted;

static uint64_t first_bytes(tsl__string s) {
  uint64_t first = 0;
  if (s.length >= 8) { /* one load */
    for (int i = 0; i < 8; i++) first = first << 8 | (uint8_t)s.at[i];
    return first;
  }
  for (uint32_t i = 0; i < s.length; i++) first = first << 8 | (uint8_t)s.at[i];
  return s.length ? first << (64 - 8 * s.length) : 0;
}

/* Of two texts that agree on the first eight bytes, a short one is the beginning of the other. */
static int by_rest(tsl__string a, tsl__string b) {
  uint32_t n = a.length < b.length ? a.length : b.length;
  int c = n > 8 ? memcmp(a.at + 8, b.at + 8, n - 8) : 0;
  return c ? c : a.length != b.length ? (a.length < b.length ? -1 : 1) : 0;
}

static inline int by_spelling(const tsl__string *of, const sorted *a, const sorted *b) {
  return a->first != b->first ? (a->first < b->first ? -1 : 1)
                              : by_rest(of[a->input], of[b->input]);
}

enum {
  INSERTED = 8, /* runs that are sorted by insertion */
  FEW = 24      /* strings that need no room of their own to be sorted */
};

static void sort_run(const tsl__string *of, sorted *at, size_t n) {
  for (size_t i = 1; i < n; i++) {
    sorted one = at[i];
    size_t j = i;
    for (; j > 0 && by_spelling(of, &at[j - 1], &one) > 0; j--) at[j] = at[j - 1];
    at[j] = one;
  }
}

/* Merge [0, mid) and [mid, n) of `from`; what is in order already is copied. */
static void merge_runs(const tsl__string *of, const sorted *from, size_t mid, size_t n,
                       sorted *to) {
  size_t i = 0, j = mid;
  while (i < mid && j < n) {
    if (by_spelling(of, &from[i], &from[j]) <= 0)
      *to++ = from[i++];
    else
      *to++ = from[j++];
  }
  memcpy(to, from + i, (mid - i) * sizeof *to);
  memcpy(to + (mid - i), from + j, (n - j) * sizeof *to);
}

/* Sort short runs by insertion; most lists end as such a run. Merge these from one half of the
 * room, of 2 * n, to the other and back. The sorted half; in no order if x has stopped the work. */
static sorted *sort_strings(tsl__exprs *x, const tsl__string *of, sorted *at, size_t n) {
  sorted *to = at + n;
  for (size_t i = 0; i < n; i += INSERTED)
    sort_run(of, at + i, n - i < INSERTED ? n - i : INSERTED);
  for (size_t run = INSERTED; run < n && tsl__exprs_work(x, n); run *= 2) {
    for (size_t i = 0; i < n; i += 2 * run) {
      size_t left = n - i;
      merge_runs(of, at + i, left < run ? left : run, left < 2 * run ? left : 2 * run, to + i);
    }
    sorted *swap = at;
    at = to;
    to = swap;
  }
  return at;
}

#define SEEN_BITS 6 /* of a slot's number */
/* in an order that is being made: the text is that of the string with this number */
#define AGAIN ((uint32_t)1 << 31)

/* Note the strings to be sorted in `all`, without those that are seen to be there already.
 * Alternatives of one schema often name the same members. A slot keeps the last string that fell
 * into it, so that a few doubles stay. How many are left. */
static size_t note_once(const tsl__string *strings, size_t n, sorted *all, uint32_t *order) {
  uint32_t seen[(size_t)1 << SEEN_BITS] = {0}; /* the place in `all`, + 1 */
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    sorted one = {first_bytes(strings[i]), (uint32_t)i};
    uint32_t *slot = &seen[tsl__mix(one.first + strings[i].length) >> (64 - SEEN_BITS)];
    if (*slot && by_spelling(strings, &all[*slot - 1], &one) == 0) {
      order[i] = all[*slot - 1].input | AGAIN;
      continue;
    }
    all[kept++] = one;
    *slot = (uint32_t)kept;
  }
  return kept;
}

static tsl__stringset make_set(tsl__exprs *x, const tsl__string *strings, size_t n, uint32_t *order,
                               bool copied) {
  if (n >= AGAIN) return tsl__exprs_fail(x, TSL_ERR_LIMIT, "too many strings in a set"), 0;
  sorted few[2 * FEW];
  size_t room = n > FEW ? 2 * n * sizeof(sorted) : 0;
  sorted *all = room ? tsl__alloc(&x->alloc, room) : few;
  tsl__string *kept = tsl__exprs_alloc(x, (n ? n : 1) * sizeof *kept);
  uint32_t count = 0;
  uint64_t hash = 0;
  if (!all || !kept) {
    tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
    if (room) tsl__free(&x->alloc, all, room);
    return 0;
  }
  size_t once = n;
  if (order && n > FEW)
    once = note_once(strings, n, all, order);
  else
    for (size_t i = 0; i < n; i++) all[i] = (sorted){first_bytes(strings[i]), (uint32_t)i};
  const sorted *in_order = sort_strings(x, strings, all, once);
  for (size_t i = 0; i < once; i++) {
    const sorted *one = &in_order[i];
    if (i == 0 || by_spelling(strings, one - 1, one) != 0) {
      tsl__string s = strings[one->input];
      if (copied && !(s.at = tsl__arena_copy(&x->arena, s.at, s.length)))
        tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
      hash = tsl__mix(hash ^ one->first) + s.length;
      kept[count++] = s;
    }
    if (order) order[one->input] = count - 1;
  }
  for (size_t i = 0; order && once < n && i < n; i++)
    if (order[i] & AGAIN) order[i] = order[order[i] & ~AGAIN];
  if (room) tsl__free(&x->alloc, all, room);
  tsl__strings set = {kept, count, TSL__NONE, hash};
  if (x->status == TSL_OK && !tsl__vec_push(&x->alloc, &x->strings, set))
    tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
  return x->status == TSL_OK ? x->strings_base + (uint32_t)x->strings.n - 1 : 0;
}

tsl__stringset tsl__stringset_new(tsl__exprs *x, const tsl__string *strings, size_t n,
                                  uint32_t *order) {
  return make_set(x, strings, n, order, true);
}
tsl__stringset tsl__stringset_over(tsl__exprs *x, const tsl__string *strings, size_t n,
                                   uint32_t *order) {
  return make_set(x, strings, n, order, false);
}

uint32_t tsl__stringset_size(const tsl__exprs *x, tsl__stringset s) {
  return tsl__strings_at(x, s)->n;
}
tsl__string tsl__stringset_at(const tsl__exprs *x, tsl__stringset s, uint32_t index) {
  return tsl__strings_at(x, s)->at[index];
}

/* First index in [lo, hi) whose byte at `depth` is at least `byte`; a string that ends there comes
 * first. */
static uint32_t lower_bound(const tsl__strings *s, uint32_t lo, uint32_t hi, uint32_t depth,
                            unsigned byte) {
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    bool less = s->at[mid].length == depth || (uint8_t)s->at[mid].at[depth] < byte;
    if (less)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

bool tsl__strings_narrow(const tsl__strings *s, uint32_t *lo, uint32_t *hi, uint32_t depth,
                         uint8_t byte) {
  uint32_t first = lower_bound(s, *lo, *hi, depth, byte);
  if (first == *hi || (uint8_t)s->at[first].at[depth] != byte) return false;
  *hi = lower_bound(s, first, *hi, depth, byte + 1u);
  *lo = first;
  return true;
}

static tsl__node strings_node(const tsl__strings *s, tsl__stringset set, uint32_t lo, uint32_t hi,
                              uint32_t depth) {
  tsl__node n = {.kind = TSL__K_STRSET,
                 .a = set,
                 .b = lo,
                 .c = hi,
                 .d = depth,
                 .shortest = TSL__INF,
                 .flags = TSL__FINITE | TSL__SEARCHED};
  bool textual = true;
  for (uint32_t i = lo; i < hi; i++) {
    if (s->at[i].length - depth < n.shortest) n.shortest = s->at[i].length - depth;
    if (s->at[i].length > depth && ((uint8_t)s->at[i].at[depth] & 0xC0) == 0x80) textual = false;
    if (n.shortest == 0 && i - lo > 64) break; /* the first ones decide */
  }
  if (s->at[lo].length == depth) n.flags |= TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH;
  if (textual) n.flags |= TSL__TEXTUAL;
  return n;
}

tsl__expr tsl__strset_node(tsl__exprs *x, tsl__stringset set, uint32_t lo, uint32_t hi,
                           uint32_t depth) {
  const tsl__strings *s = tsl__strings_at(x, set);
  if (lo == hi) return TSL__NONE;
  if (hi - lo == 1) return tsl__expr_literal(x, s->at[lo].at + depth, s->at[lo].length - depth);
  tsl__worked(x, (hi - lo) / 4);
  return tsl__intern(x, strings_node(s, set, lo, hi, depth));
}

/* After a failure there may be no set at all. */
tsl__expr tsl__expr_stringset(tsl__exprs *x, tsl__stringset s) {
  return x->status == TSL_OK ? tsl__strset_node(x, s, 0, tsl__stringset_size(x, s), 0) : TSL__NONE;
}

/* The same where nobody asks for it again. */
static tsl__expr stringset_alone(tsl__exprs *x, tsl__stringset s) {
  const tsl__strings *all = x->status == TSL_OK ? tsl__strings_at(x, s) : NULL;
  return all && all->n > 1 ? tsl__append(x, strings_node(all, s, 0, all->n, 0))
                           : tsl__expr_stringset(x, s);
}

/* ---- all others ------------------------------------------------------------------------------ */

static tsl__expr unfold_others(tsl__exprs *x, void *ctx, uint32_t set) {
  (void)ctx;
  return tsl__expr_json_string(x, tsl__expr_text_not(x, stringset_alone(x, set)));
}

static void print_others(void *ctx, uint32_t set, char *out, size_t n) {
  (void)ctx;
  snprintf(out, n, "others#%u", (unsigned)set);
}

/* Of most sets the empty text is none. */
static uint32_t others_shortest(tsl__exprs *x, void *ctx, uint32_t set) {
  return tsl__stringset_at(x, set, 0).length ? 1
                                             : tsl__expr_shortest(x, unfold_others(x, ctx, set));
}

tsl__expr tsl__expr_others(tsl__exprs *x, tsl__stringset set) {
  static const tsl__rule_ops ops = {unfold_others, print_others, NULL, others_shortest, NULL};
  return tsl__expr_rule(x, &ops, NULL, set, TSL__RULE_OTHERS, 1);
}

/* ---- keys ------------------------------------------------------------------------------------ */

tsl__expr tsl__keys_node(tsl__exprs *x, tsl__stringset set, uint32_t lo, uint32_t hi,
                         uint32_t depth) {
  const tsl__strings *s = tsl__strings_at(x, set);
  if (lo >= hi) return TSL__NONE;
  tsl__node n = {.kind = TSL__K_KEYS,
                 .a = set,
                 .b = lo,
                 .c = hi,
                 .d = depth,
                 .flags = TSL__SEARCHED,
                 .shortest = TSL__INF};
  for (uint32_t i = lo; i < hi && n.shortest; i++)
    if (s->at[i].length - depth < n.shortest) n.shortest = s->at[i].length - depth;
  if (s->at[lo].length == depth) n.flags |= TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH;
  return tsl__intern(x, n);
}

/* The first string of [lo, hi) whose next character is at least `cp`; a string that ends here comes
 * before all. */
static uint32_t first_from(const tsl__strings *s, const tsl__node *n, uint32_t cp) {
  uint32_t lo = n->b, hi = n->c;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2, next = 0;
    bool ends = s->at[mid].length == n->d;
    if (!ends)
      tsl__utf8_decode((const uint8_t *)s->at[mid].at + n->d, s->at[mid].length - n->d, &next);
    if (ends || next < cp)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

tsl__expr tsl__keys_between(tsl__exprs *x, const tsl__node *keys, uint32_t lo, uint32_t hi) {
  const tsl__strings *s = tsl__strings_at(x, keys->a);
  return tsl__keys_node(x, keys->a, first_from(s, keys, lo), first_from(s, keys, hi + 1), keys->d);
}

static tsl__expr unfold_names(tsl__exprs *x, void *ctx, uint32_t set) {
  (void)ctx;
  return tsl__expr_json_string(x, tsl__keys_node(x, set, 0, tsl__stringset_size(x, set), 0));
}

static void print_names(void *ctx, uint32_t set, char *out, size_t n) {
  (void)ctx;
  snprintf(out, n, "names#%u", (unsigned)set);
}

static bool equal_sets(const tsl__strings *a, const tsl__strings *b) {
  for (uint32_t i = 0; i < a->n; i++)
    if (a->at[i].length != b->at[i].length || memcmp(a->at[i].at, b->at[i].at, a->at[i].length))
      return false;
  return true;
}

static tsl__expr find_names_frame(tsl__exprs *x, tsl__stringset set) {
  static const tsl__rule_ops ops = {unfold_names, print_names, NULL, NULL, NULL};
  const tsl__strings *s = tsl__strings_at(x, set);
  for (size_t i = 0; i < x->names.n; i++) {
    const tsl__strings *other = tsl__strings_at(x, x->names.at[i].set);
    if (other->hash != s->hash || other->n != s->n) continue;
    /* sets that differ behind the first bytes of their strings have one hash */
    tsl__exprs_work(x, s->n);
    if (equal_sets(s, other)) return x->names.at[i].frame;
  }
  uint32_t shortest = TSL__INF;
  for (uint32_t i = 0; i < s->n; i++)
    if (s->at[i].length + 1 < shortest) shortest = s->at[i].length + 1;
  tsl__names made = {set, tsl__expr_rule(x, &ops, NULL, set, TSL__RULE_NAMES, shortest)};
  if (made.frame == TSL__NONE) return TSL__NONE;
  if (!tsl__vec_push(&x->alloc, &x->names, made))
    return tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory"), TSL__NONE;
  return made.frame;
}

/* The frame in which the strings of the set are spelled. */
static tsl__expr names_frame(tsl__exprs *x, tsl__stringset set) {
  tsl__expr frame = tsl__strings_at(x, set)->names;
  if (frame != TSL__NONE) return frame;
  frame = find_names_frame(x, set);
  if (set >= x->strings_base) x->strings.at[set - x->strings_base].names = frame;
  return frame;
}

bool tsl__expr_has_names(const tsl__exprs *x) {
  while (x && !x->names.n) x = x->parent;
  return x;
}

tsl__expr tsl__expr_names(tsl__exprs *x, tsl__stringset set, const tsl__keys_ops *ops, void *ctx,
                          uint32_t param, tsl__expr *resume) {
  tsl__expr frame = names_frame(x, set);
  tsl__keys keys = {set, ops, ctx, param, tsl__node_at(x, frame).shortest};
  if (frame == TSL__NONE) return TSL__NONE;
  if (!tsl__vec_push(&x->alloc, &x->keys, keys))
    return tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory"), TSL__NONE;
  /* the shortest when requested */
  tsl__node n = {.kind = TSL__K_RESUME,
                 .a = x->keys_base + (uint32_t)x->keys.n - 1,
                 .flags = TSL__CALLS | TSL__SEARCHED};
  *resume = tsl__append(x, n);
  return frame;
}

tsl__expr tsl__expr_keys(tsl__exprs *x, tsl__stringset set, const tsl__keys_ops *ops, void *ctx,
                         uint32_t param) {
  tsl__expr resume, frame = tsl__expr_names(x, set, ops, ctx, param, &resume);
  return frame == TSL__NONE ? TSL__NONE : tsl__expr_seq_alone(x, frame, resume);
}

uint32_t tsl__resume_fewest(tsl__exprs *x, const tsl__node *n) {
  const tsl__keys k = *tsl__keys_at(x, n->a);
  uint32_t bytes = k.ops->fewest(k.ctx, k.param);
  return bytes == TSL__INF || bytes < k.spelled ? bytes : bytes - k.spelled;
}

bool tsl__expr_is_resume(const tsl__exprs *x, tsl__expr e, uint32_t *names) {
  tsl__node n = tsl__node_at(x, e);
  /* nothing else follows a frame of names */
  if (n.kind == TSL__K_ALT) return tsl__expr_is_resume(x, tsl__list_at(x, n.a)[0], names);
  if (n.kind != TSL__K_RESUME) return false;
  *names = tsl__stringset_size(x, tsl__keys_at(x, n.a)->set);
  return true;
}

bool tsl__expr_resume_allows(tsl__exprs *x, tsl__expr resume, uint32_t index) {
  tsl__node n = tsl__node_at(x, resume);
  if (n.kind == TSL__K_ALT) {
    for (uint32_t i = 0; i < n.b; i++)
      if (tsl__expr_resume_allows(x, tsl__list_at(x, n.a)[i], index)) return true;
    return false;
  }
  const tsl__keys k = *tsl__keys_at(x, n.a);
  return k.ops->allows(k.ctx, k.param, index);
}

uint64_t tsl__expr_resume_allowed(const tsl__exprs *x, tsl__expr resume, uint32_t word,
                                  uint64_t *allowed) {
  tsl__node n = tsl__node_at(x, resume);
  const tsl__keys *k = n.kind == TSL__K_RESUME ? tsl__keys_at(x, n.a) : NULL;
  return k && k->ops->allowed ? k->ops->allowed(k->ctx, k->param, word, allowed) : 0;
}

/* What follows in any of several, of which a union of objects has hundreds: one alternation. */
static tsl__expr after_any(tsl__exprs *x, const tsl__node *n, uint32_t index) {
  TSL__VEC(tsl__expr) all = {0};
  tsl__expr result = TSL__NONE;
  for (uint32_t i = 0; i < n->b && x->status == TSL_OK; i++) {
    tsl__expr one = tsl__expr_resume_after(x, tsl__list_at(x, n->a)[i], index);
    if (one != TSL__NONE && !tsl__vec_push(&x->alloc, &all, one)) tsl__expr_no_memory(x);
  }
  if (all.n && x->status == TSL_OK) result = tsl__expr_alt_n(x, all.at, all.n);
  tsl__vec_free(&x->alloc, &all);
  return result;
}

tsl__expr tsl__expr_resume_after(tsl__exprs *x, tsl__expr resume, uint32_t index) {
  tsl__node n = tsl__node_at(x, resume);
  if (n.kind == TSL__K_ALT) return after_any(x, &n, index);
  const tsl__keys k = *tsl__keys_at(x, n.a);
  return k.ops->allows(k.ctx, k.param, index) ? k.ops->after(x, k.ctx, k.param, index) : TSL__NONE;
}

/* Is it a frame of its own, that something is read in? */
static bool is_frame(const tsl__exprs *x, tsl__expr e) {
  tsl__node n = tsl__node_at(x, e);
  return n.kind == TSL__K_RULE &&
         !(tsl__rule_at(x, n.a)->flags & (TSL__RULE_INLINE | TSL__RULE_NULLABLE));
}

tsl__expr tsl__expr_resume_calls(tsl__exprs *x, tsl__expr resume, uint32_t index, tsl__expr *then) {
  tsl__node n = tsl__node_at(x, resume);
  if (n.kind != TSL__K_RESUME) return TSL__NONE;
  const tsl__keys k = *tsl__keys_at(x, n.a);
  tsl__expr rule = k.ops->calls ? k.ops->calls(k.ctx, k.param, index, then) : TSL__NONE;
  return is_frame(x, rule) ? rule : TSL__NONE;
}

tsl__expr tsl__expr_resume_begins(tsl__exprs *x, tsl__expr resume, uint32_t index) {
  tsl__node n = tsl__node_at(x, resume);
  if (n.kind != TSL__K_RESUME) return TSL__NONE;
  const tsl__keys k = *tsl__keys_at(x, n.a);
  tsl__expr rule = k.ops->begins ? k.ops->begins(k.ctx, k.param, index) : TSL__NONE;
  return is_frame(x, rule) ? rule : TSL__NONE;
}

uint32_t tsl__expr_resume_shortest(tsl__exprs *x, tsl__expr resume, uint32_t index) {
  tsl__node n = tsl__node_at(x, resume);
  if (n.kind == TSL__K_ALT) {
    uint32_t best = TSL__INF;
    for (uint32_t i = 0; i < n.b; i++) {
      uint32_t one = tsl__expr_resume_shortest(x, tsl__list_at(x, n.a)[i], index);
      if (one < best) best = one;
    }
    return best;
  }
  const tsl__keys k = *tsl__keys_at(x, n.a);
  return k.ops->allows(k.ctx, k.param, index) ? k.ops->shortest(k.ctx, k.param, index) : TSL__INF;
}

uint32_t tsl__spelling_cost(uint8_t b) {
  return tsl__stands_raw(b) ? 1 : tsl__escape_letter(b) ? 2 : 6;
}

uint32_t tsl__json_spelled(const char *at, uint32_t length) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < length; i++) n += tsl__spelling_cost((uint8_t)at[i]);
  return n;
}

/* The same where the first character is an escape. `digits` of its four hex digits were read (5:
 * nothing but the backslash), and perhaps the first half, a high surrogate. */
static uint32_t spelled_escape(const char *at, uint32_t length, uint32_t digits, bool second_half) {
  uint32_t cp;
  size_t first = tsl__utf8_decode((const uint8_t *)at, length, &cp);
  uint32_t rest = tsl__json_spelled(at + first, length - (uint32_t)first),
           more = cp >= 0x10000 && !second_half ? 6 : 0;
  if (digits < 5) return 4 - digits + more + rest;
  return (tsl__escape_letter(cp) ? 1 : 5 + more) + rest;
}

uint32_t tsl__expr_name_shortest(tsl__exprs *x, tsl__expr e, uint32_t index) {
  uint32_t before = 0, best = TSL__INF;
  tsl__node n = tsl__node_at(x, e);
  for (; n.kind == TSL__K_SEQ || n.kind == TSL__K_RULE; n = tsl__node_at(x, e)) {
    if (n.kind == TSL__K_SEQ) before += tsl__node_at(x, n.a).shortest;
    e = n.kind == TSL__K_SEQ ? n.b : tsl__rule_body(x, n.a);
  }
  if (n.kind == TSL__K_ALT) {
    for (uint32_t i = 0; i < n.b; i++) {
      uint32_t one = tsl__expr_name_shortest(x, tsl__list_at(x, n.a)[i], index);
      if (one < best) best = one;
    }
    return best == TSL__INF ? best : best + before;
  }
  if (n.kind == TSL__K_NAME) return n.a == index ? before : TSL__INF;
  tsl__node keys = tsl__node_at(x, n.a);
  if (index < keys.b || index >= keys.c) return TSL__INF;
  const tsl__string s = tsl__strings_at(x, keys.a)->at[index];
  const char *at = s.at + keys.d;
  uint32_t length = s.length - keys.d;
  if (n.kind == TSL__K_JSTR) return before + tsl__json_spelled(at, length) + 1;
  return before +
         spelled_escape(at, length, n.kind == TSL__K_JESC ? 5 : n.b,
                        n.kind == TSL__K_JHEX && n.d & ~TSL__JSON_PLAIN) +
         1;
}
