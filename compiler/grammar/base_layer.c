/* base_layer.c - see base_layer.h.
 *
 * Steps     `make` is the list of them. The schema compiler's common rules are made first:
 *           strings, numbers, white space, any value. Then each is expanded and walked over the
 *           whole vocabulary (walk_whole). Those walks leave states in the middle of strings and
 *           numbers, which are walked as well, as far as WALK_STEPS goes (walk_states).
 * Leftovers What a string leaves over is met by whatever follows a string. warm_leftovers merges
 *           what follows by white space, quotes, brackets, colon and comma, and walk_between walks
 *           the rules between members over what most values leave.
 * Example   After `{"a": "x` the token `",` ends the string. Its rest, `,`, is one node of the
 *           leftover of strings. The base layer has merged the child of that leftover by `,`
 *           already, and has walked "white space, then a name" over it. A grammar's first mask
 *           finds both.
 * Frozen    At the end unions and walks get tables that are read without a lock, and the tables
 *           that only a search needs are freed. A frozen layer is never changed again, so grammars
 *           on all threads read it.
 * Failing   Nothing of a layer that failed stays; the next call tries again.
 * Tested by tests/grammar/test_rehearsal.c, tests/engine/test_oracle.c, tests/engine/test_faults.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/grammar/base_layer.h"

#include "compiler/expr/unicode_cache.h"
#include "compiler/expr/node.h"
#include "compiler/regex/regex.h"
#include "compiler/number/parts.h"
#include "compiler/grammar/rehearsal.h"
#include "compiler/schema/schema.h"
#include "runtime/walk/classes.h"
#include "runtime/position/distinct.h"
#include "runtime/walk/names.h"
#include "runtime/masks/union_memo.h"
#include "runtime/walk/shared_walks.h"
#include "runtime/walk/walk.h"
#include "runtime/walk/text/any_text.h"
#include "runtime/walk/nonascii.h"

#define WALK_STEPS 3000000u /* trie nodes visited for states in the middle of rules */
#define LEFTOVERS_MAX 512u  /* walked and merged ahead; later ones when a grammar needs them */
#define STRUCTURE_MAX 1024u /* the same for what follows anything */
#define OFTEN 3u            /* and what follows most often, over what that leaves */
#define ROUNDS 2
/* digits of a token up to which those of numbers are known without a search: all states on the way
 * are looked at */
#define DIGITS_MAX 3u

typedef struct layer {
  tsl__shared head;
  tsl_allocator alloc;
  tsl__space *space;
} layer;

static void layer_free(tsl__shared *shared) {
  layer *l = (layer *)(void *)shared;
  tsl_allocator a = l->alloc;
  tsl__space_free(l->space);
  tsl__free(&a, l, sizeof *l);
}

static size_t layer_memory(const tsl__shared *shared) {
  return sizeof(layer) + tsl__space_memory(((const layer *)(const void *)shared)->space);
}

static tsl__state state_of_rule(tsl__space *space, tsl__exprs *x, uint32_t rule) {
  tsl__node n = {.kind = TSL__K_RULE, .a = rule};
  return tsl__state_of(space, tsl__intern(x, n));
}

/* A state unfolded (a frozen layer can't do it later) and walked over the vocabulary. */
static void walk_from(tsl__space *space, tsl__state s) {
  if (s && tsl__state_expanded(space, s)) tsl__walk_over(space, s, 0, TSL__WHOLE, false);
}

/* Every rule. */
static void walk_whole(tsl__space *space, tsl__exprs *x) {
  for (uint32_t rule = 0; rule < x->rules.n && space->status == TSL_OK; rule++) {
    tsl__space_begin(space);
    walk_from(space, state_of_rule(space, x, rule));
  }
}

/* What is left of a string where a name that the schema knows has been read to its end: the quote,
 * or anything but that. */
static void walk_rests(tsl__space *space, tsl__exprs *x) {
  tsl__expr more = tsl__expr_and(x, x->text, tsl__expr_not(x, TSL__EPS)),
            rests[] = {TSL__EPS, more};
  for (size_t i = 0; i < sizeof rests / sizeof *rests && space->status == TSL_OK; i++) {
    tsl__space_begin(space);
    walk_from(space, tsl__state_of(space, tsl__expr_json_string(x, rests[i])));
  }
}

/* Strings of any characters. */
static void note_texts(tsl__space *space, tsl__exprs *x) {
  tsl__state s =
      space->status == TSL_OK ? tsl__state_of(space, tsl__expr_json_string(x, x->text)) : 0;
  walk_from(space, s);
  if (s && space->status == TSL_OK) tsl__texts_make(space, s);
}

/* The same with their opening quotes. */
static void note_quoted(tsl__space *space, tsl__exprs *x, const tsl__leftover behind[2]) {
  for (uint32_t i = 0; i < TSL__QUOTED && space->status == TSL_OK; i++) {
    uint32_t least = i + 1 < TSL__QUOTED ? i : space->vocab->trie.nodes[0].height + 1u;
    tsl__expr text = tsl__expr_repeat(x, tsl__expr_any_char(x), least, TSL__INF);
    tsl__space_begin(space);
    tsl__state s = tsl__state_of(
        space, tsl__expr_seq(x, tsl__expr_literal(x, "\"", 1), tsl__expr_json_string(x, text)));
    walk_from(space, s);
    for (int k = 0; k < 2 && s; k++)
      if (behind[k]) tsl__walk_over(space, s, 0, behind[k], false);
    space->warm.quoted[i] = s;
  }
}

/* Rules that values of schemas begin with. */
static void note_starts(tsl__space *space, tsl__exprs *x, uint32_t rules) {
  uint32_t n = 0;
  for (uint32_t rule = 0; rule < rules && n < TSL__STARTS_MAX; rule++) {
    tsl__state s = state_of_rule(space, x, rule);
    const tsl__state_rec *r = s ? tsl__state_expanded(space, s) : NULL;
    if (r && tsl__state_reads(r) && r->live_count && r->live_count < TSL__STARTS_LIVE &&
        !(r->flags & TSL__STATE_LOOP))
      space->warm.starts[n++] = s;
  }
}

/* Digits that the tokens have at most that begin with one; 0: some of them hold something else, or
 * more than DIGITS_MAX. */
static uint32_t digits_depth(const tsl__trie *trie) {
  tsl__bytes digits = {{0}};
  uint32_t depth = 0;
  tsl__bytes_add_range(&digits, '0', '9');
  for (uint8_t b = '0'; b <= '9'; b++) {
    uint32_t c = tsl__trie_child(trie, 0, b);
    if (!c) continue;
    if (!tsl__trie_below_within(trie, &trie->nodes[c], &digits) ||
        trie->nodes[c].height >= DIGITS_MAX)
      return 0;
    if (trie->nodes[c].height >= depth) depth = trie->nodes[c].height + 1u;
  }
  return depth;
}

/* Digits of numbers, if the vocabulary's are known. */
static void note_digits(tsl__space *space, tsl__exprs *x) {
  uint32_t depth = digits_depth(&space->vocab->trie);
  tsl__expr rest = tsl__expr_star(x, tsl__expr_range(x, '0', '9'));
  for (uint8_t first = 0; first < 2 && depth && space->status == TSL_OK; first++) {
    tsl__space_begin(space);
    space->warm.digits[first] = tsl__state_of(
        space, tsl__expr_seq(x, tsl__expr_range(x, (uint8_t)('0' + first), '9'), rest));
    walk_from(space, space->warm.digits[first]);
  }
  if (space->status == TSL_OK) space->warm.digits_depth = depth;
}

/* States that those walks came through, as far as the budget goes: where a token ends in the middle
 * of a string or number. */
static void walk_states(tsl__space *space) {
  uint64_t budget = tsl__space_steps(space) + WALK_STEPS;
  uint32_t n = tsl__space_count(space, states);
  for (tsl__state s = 1; s < n && tsl__space_steps(space) < budget && space->status == TSL_OK;
       s++) {
    const tsl__state_rec *r = tsl__state_at(space, s);
    tsl__space_begin(space);
    if (atomic_load(&((tsl__state_rec *)(uintptr_t)r)->expanded) &&
        !(r->flags & (TSL__STATE_FORK | TSL__STATE_LOOP)))
      tsl__walk_over(space, s, 0, TSL__WHOLE, false);
  }
}

/* What follows a leftover by the bytes of JSON's structure, for those that there are so far. */
static void merge_structure(tsl__space *space, tsl__leftover from, tsl__leftover to) {
  static const char structure[] = " \t\n\r\"[]{}:,";
  for (tsl__leftover t = from; t < to && space->status == TSL_OK; t++) {
    const tsl__leftover_rec *r = tsl__leftover_at(space, t);
    tsl__space_begin(space);
    for (const char *c = structure; *c; c++)
      if (tsl__bytes_has(&r->next, (uint8_t)*c)) tsl__leftover_child(space, t, (uint8_t)*c);
  }
}

/* A state over what others leave, from one leftover to another. */
static void walk_over_all(tsl__space *space, tsl__state s, tsl__leftover from, tsl__leftover to) {
  for (tsl__leftover t = from; s && t < to && space->status == TSL_OK; t++) {
    tsl__space_begin(space);
    tsl__walk_over(space, s, 0, t, false);
  }
}

/* What follows a string, a name or a value anywhere: white space, a colon, the rest of a string,
 * what lies between members. */
static void walk_structure(tsl__space *space, tsl__exprs *x, uint32_t most, tsl__leftover from,
                           tsl__leftover to) {
  tsl__expr between[TSL__SCHEMA_BETWEEN];
  uint32_t n = tsl__schema_between(x, between);
  for (uint32_t i = 0; i < n && i < most && space->status == TSL_OK; i++)
    walk_over_all(space, tsl__state_of(space, between[i]), from, to);
}

/* The frame of a member of any name and any value: most objects have one like it. */
static void note_extra(tsl__space *space, tsl__exprs *x) {
  tsl__expr between[TSL__SCHEMA_BETWEEN];
  tsl__schema_between(x, between);
  tsl__state extra = tsl__state_of(space, between[TSL__SCHEMA_EXTRA]);
  if (extra && tsl__state_expanded(space, extra)) space->warm.extra = extra;
}

/* Leftovers of the vocabulary's walks, then those of these: what a schema's own states meet
 * first. */
static void warm_leftovers(tsl__space *space, tsl__exprs *x, uint32_t rules) {
  tsl__leftover from = 1;
  for (int round = 0; round < ROUNDS && from < LEFTOVERS_MAX; round++) {
    tsl__leftover to = tsl__space_count(space, leftovers);
    if (to > LEFTOVERS_MAX) to = LEFTOVERS_MAX;
    for (uint32_t rule = 0; rule < rules; rule++)
      walk_over_all(space, state_of_rule(space, x, rule), from, to);
    merge_structure(space, from, to);
    from = to;
  }
  tsl__leftover first = tsl__space_count(space, leftovers),
                to = first < STRUCTURE_MAX ? first : STRUCTURE_MAX;
  walk_structure(space, x, TSL__SCHEMA_BETWEEN, 1, to);
  /* what these leave in turn */
  walk_structure(space, x, OFTEN, first, tsl__space_count(space, leftovers));
}

/* What an expression leaves of a leftover. */
static tsl__leftover left_of(tsl__space *space, tsl__expr e, tsl__leftover over) {
  tsl__space_begin(space);
  tsl__state s = over ? tsl__state_of(space, e) : 0;
  const tsl__walk *w = s ? tsl__walk_over(space, s, 0, over, false) : NULL;
  return w ? tsl__leftover_set(w->left) : 0;
}

/* A state's calls: the state is walked over the vocabulary. What goes on after each call is walked
 * over what two frames leave, behind which it mostly stands: white space, and a string. */
static void walk_calls(tsl__space *space, const tsl__state_rec *r, tsl__state s,
                       const tsl__leftover behind[2]) {
  if (r->edges && !(r->flags & TSL__STATE_LOOP)) walk_from(space, s);
  for (uint32_t i = 0; i < r->edges && space->status == TSL_OK; i++) {
    tsl__target push = tsl__state_edges(r)[i].push;
    tsl__state then = push ? tsl__target_state(push) : 0;
    if (!then || tsl__state_at(space, then)->flags & TSL__STATE_LOOP) continue;
    walk_from(space, then);
    for (int k = 0; k < 2; k++)
      if (behind[k]) tsl__walk_over(space, then, 0, behind[k], false);
  }
}

/* The states of objects, arrays and members between what they call. Most schemas come to some of
 * them, and each grammar would walk them for itself. */
static void walk_between(tsl__space *space, tsl__exprs *x, uint32_t common) {
  tsl__expr between[TSL__SCHEMA_BETWEEN];
  tsl__schema_between(x, between);
  tsl__leftover behind[] = {left_of(space, between[0], TSL__WHOLE),
                            left_of(space, between[TSL__SCHEMA_BETWEEN - 1], TSL__WHOLE)};
  tsl__leftover named = left_of(space, tsl__expr_literal(x, "\"", 1), TSL__WHOLE);
  note_quoted(space, x, (tsl__leftover[]){behind[0], left_of(space, between[1], named)});
  uint32_t first = tsl__space_count(space, leftovers), states = tsl__space_count(space, states);
  for (uint32_t rule = common; rule < x->rules.n && behind[0]; rule++)
    walk_over_all(space, state_of_rule(space, x, rule), behind[0], behind[0] + 1);
  for (tsl__state s = 1; s < states && space->status == TSL_OK; s++) {
    const tsl__state_rec *r = tsl__state_at(space, s);
    tsl__space_begin(space);
    if (atomic_load(&((tsl__state_rec *)(uintptr_t)r)->expanded) && !(r->flags & TSL__STATE_FORK))
      walk_calls(space, r, s, behind);
  }
  walk_structure(space, x, TSL__SCHEMA_BETWEEN, first, tsl__space_count(space, leftovers));
}

/* The marks of the two classes that are common in patterns: `.` and \S of ECMA-262. */
static void mark_classes(tsl__space *space) {
  static const uint32_t dot[] = {0x80, 0x2027, 0x202A, 0xD7FF, 0xE000, 0x10FFFF};
  static const uint32_t not_space[] = {0x80,   0x9F,   0xA1,   0x167F, 0x1681, 0x1FFF,  0x200B,
                                       0x2027, 0x202A, 0x202E, 0x2030, 0x205E, 0x2060,  0x2FFF,
                                       0x3001, 0xD7FF, 0xE000, 0xFEFE, 0xFF00, 0x10FFFF};
  tsl__nonascii_of(space, dot, 3, false);
  tsl__nonascii_of(space, not_space, 10, false);
}

/* Text in which a tag may begin (compiler/tags/tags.h): every character but '<', from the beginning
 * of a token, and after its first character. */
static void mark_text(tsl__space *space) {
  const tsl__trie *trie = &space->vocab->trie;
  const tsl__trie_node *root = &trie->nodes[0];
  tsl__bytes letters = {{0}};
  tsl__bytes_add_range(&letters, 0, 0xF4);
  letters.w['<' / 64] &= ~((uint64_t)1 << '<' % 64);
  tsl__class_mask(space, &letters, 0, 0, UINT32_MAX);
  for (uint32_t c = root->first_child;
       c < root->first_child + root->children && space->status == TSL_OK; c++)
    if (trie->nodes[c].byte < 0x80 && trie->nodes[c].children)
      tsl__class_mask(space, &letters, 0, c, UINT32_MAX);
}

/* Expressions of the classes that patterns have most. */
static tsl_status note_classes(tsl__exprs *x) {
  static const char *const classes[] = {".", "\\S", "\\s"};
  tsl_status status = TSL_OK;
  tsl__expr unused;
  for (size_t i = 0; i < sizeof classes / sizeof *classes && status == TSL_OK; i++)
    status = tsl__regex_compile(x, classes[i], strlen(classes[i]), NULL, &unused, NULL);
  return status;
}

static tsl_status make(tsl_vocab *vocab, tsl_spelling spelling, bool rehearse, layer **out,
                       tsl_error *error) {
  tsl__space *space = NULL;
  tsl__exprs *x = NULL;
  uint32_t common = 0;
  layer *l = tsl__alloc_zero(&vocab->alloc, sizeof *l);
  tsl_status status = l ? tsl__states_layer(NULL, vocab, NULL, &space, &x) : TSL_ERR_NO_MEMORY;
  if (status == TSL_OK) {
    tsl__expr_text(x);
    status = tsl__schema_warm(x, spelling, &common);
  }
  if (status == TSL_OK) status = note_classes(x);
  if (status == TSL_OK && !tsl__unicode_share(x)) status = TSL_ERR_NO_MEMORY;
  if (status == TSL_OK && !tsl__number_exponents_make(x)) status = tsl__exprs_status(x);
  if (status == TSL_OK) status = tsl__walk_prepare(space);
  if (status == TSL_OK && !(space->warm.boundary = tsl__boundary_make(vocab, &space->alloc)))
    status = TSL_ERR_NO_MEMORY;
  if (status == TSL_OK) {
    mark_classes(space);
    mark_text(space);
    walk_whole(space, x);
    walk_rests(space, x);
    note_texts(space, x);
    note_starts(space, x, common);
    note_digits(space, x);
    if (space->status == TSL_OK) walk_states(space);
    if (space->status == TSL_OK) warm_leftovers(space, x, common);
    if (space->status == TSL_OK) walk_between(space, x, common);
    if (space->status == TSL_OK) note_extra(space, x);
    if (space->status == TSL_OK && rehearse) tsl__rehearse(space);
    tsl__states_hint(space);
    if (space->status == TSL_OK && !tsl__common_attach(vocab)) tsl__space_no_memory(space);
    if (space->status == TSL_OK && tsl__union_freeze(space)) tsl__walks_freeze(space);
    tsl__walk_scratch_free(space); /* a frozen layer walks no more */
    tsl__naming_free(space);
    status = space->status;
  }
  if (status != TSL_OK) {
    tsl__fail(error, status, "while warming up the vocabulary: %s",
              space && space->why ? space->why
              : x                 ? tsl__exprs_why(x)
                                  : "out of memory");
    tsl__space_free(space);
    tsl__free(&vocab->alloc, l, sizeof *l);
    return status;
  }
  *l = (layer){{layer_free, layer_memory}, vocab->alloc, space};
  *out = l;
  return TSL_OK;
}

tsl_status tsl__shared_make(tsl_vocab *vocab, tsl_spelling spelling, bool rehearse,
                            const tsl__space **space, tsl_error *error) {
  _Atomic(tsl__shared *) *at = &vocab->shared[spelling];
  tsl__shared *shared = atomic_load_explicit(at, memory_order_acquire);
  if (!shared) {
    layer *l = NULL;
    tsl__mutex_lock(&vocab->lock);
    shared = atomic_load_explicit(at, memory_order_acquire);
    tsl_status status = shared ? TSL_OK : make(vocab, spelling, rehearse, &l, error);
    if (l) atomic_store_explicit(at, shared = &l->head, memory_order_release);
    tsl__mutex_unlock(&vocab->lock);
    if (status != TSL_OK) return status;
  }
  *space = ((layer *)(void *)shared)->space;
  return TSL_OK;
}

tsl_status tsl__shared_get(tsl_vocab *vocab, tsl_spelling spelling, const tsl__space **space,
                           tsl_error *error) {
  return tsl__shared_make(vocab, spelling, true, space, error);
}
