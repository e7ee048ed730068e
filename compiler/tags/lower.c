/* lower.c - formats to expressions, and the captures in them. See tags.h.
 *
 * Problem   A tree of formats says where text is free, where tags stand in it, and what of it a
 *           caller wants back. The matcher follows expressions, and ends a rule in tail position
 *           without a trace.
 * Idea      The tree is walked once, from the root down, with the strings at which a format must
 *           stop. What a caller wants back becomes a rule of its own (a capture).
 * Stops     A format that can go on for ever (any text, triggered tags) may be the last part of a
 *           tag. It stops at the ends of that tag. These are handed down.
 * Loops     "free text, a tag, free text, ..." is a rule in tail position: constant stack, one
 *           frame.
 * Tails     A captured rule that ends a frame would be a tail call and leave no trace. Then a rule
 *           for the empty text stands behind it.
 * Example   A tag "<t>" any text "</t>" that is a call lowers to "<t>" CAPTURE(text & !(.* "</t>"
 *           .*) · "</t>") NOTHING where NOTHING, the rule for the empty text, keeps CAPTURE from
 *           being a tail call.
 * Steps     For {"type": "triggered_tags", "triggers": ["<f"], "tags": [A, B]} with A "<fa>" … and
 *           B "<fb>" …. Each tag gets the trigger that its begin starts with, here "<f" both times.
 *           Free text up to "<f" is cut by text.c. Behind it stands a trie of the begins' rests:
 *           "a>" A's content | "b>" B's content. The whole is a loop of "free text, a tag", and
 *           ends with free text in which no trigger is.
 * Ends      The content of A is lowered with A's ends as stops. A sequence hands its stops to its
 *           last format alone. A repetition hands them to its content, as each time may be the
 *           last.
 * Cost      Linear in the tree, but for schemas, patterns and grammars, which cost what their front
 *           ends cost. Equal parts of a tree are lowered once.
 * Tested by tests/tags/test_tags.c, tests/tags/test_tags_built.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "compiler/expr/node.h"
#include "compiler/gbnf/gbnf.h"
#include "compiler/regex/regex.h"
#include "compiler/schema/object.h"
#include "compiler/tags/lower.h"

/* ---- captures -------------------------------------------------------------------------------- */

static tsl__expr unfold_capture(tsl__exprs *x, void *ctx, uint32_t index) {
  (void)x;
  return tsl__capture_at(ctx, index)->body;
}

static void print_capture(void *ctx, uint32_t index, char *out, size_t n) {
  static const char *const names[] = {"",      "text",      "reasoning", "call",  "tag",   "markup",
                                      "id",    "arguments", "members",   "key",   "value", "bare",
                                      "array", "object",    "true",      "false", "null"};
  const tsl__capture *m = tsl__capture_at(ctx, index);
  snprintf(out, n, "<%s%s%.*s>", names[m->kind], m->name ? " " : "",
           (int)(m->name_length < 60 ? m->name_length : 60), m->name ? m->name : "");
}

static uint32_t capture_shortest(tsl__exprs *x, void *ctx, uint32_t index) {
  return tsl__expr_shortest(x, tsl__capture_at(ctx, index)->body);
}

static const tsl__rule_ops capture_ops = {unfold_capture, print_capture, NULL, capture_shortest,
                                          NULL};

const tsl__capture *tsl__capture_of(const tsl__exprs *x, tsl__expr e) {
  tsl__node n = tsl__node_at(x, e);
  if (n.kind != TSL__K_RULE) return NULL;
  const tsl__rule *r = tsl__rule_at(x, n.a);
  return r->ops == &capture_ops ? tsl__capture_at(r->ctx, r->param) : NULL;
}

static uint64_t capture_hash(const tsl__capture *m) {
  return tsl__mix(((uint64_t)m->kind << 56) + ((uint64_t)m->back << 32) + m->body) ^
         (m->name ? tsl__hash(m->name, m->name_length) : 0);
}

static bool capture_equal(const tsl__capture *a, const tsl__capture *b) {
  if (a->kind != b->kind || a->body != b->body || a->back != b->back ||
      a->name_length != b->name_length || !a->name != !b->name || a->end_count != b->end_count)
    return false;
  if (a->name && memcmp(a->name, b->name, a->name_length)) return false;
  for (uint32_t i = 0; i < a->end_count; i++)
    if (a->ends[i].length != b->ends[i].length ||
        memcmp(a->ends[i].at, b->ends[i].at, a->ends[i].length))
      return false;
  return true;
}

/* Copies that live as long as the expressions. */
static bool keep_texts(tsl__captures *m, tsl__capture *capture) {
  char *name = capture->name ? tsl__exprs_alloc(m->x, capture->name_length + 1) : NULL;
  tsl__string *ends =
      capture->end_count ? tsl__exprs_alloc(m->x, capture->end_count * sizeof *ends) : NULL;
  if ((capture->name && !name) || (capture->end_count && !ends)) return false;
  if (name) capture->name = memcpy(name, capture->name, capture->name_length);
  for (uint32_t i = 0; i < capture->end_count; i++) {
    char *text = tsl__exprs_alloc(m->x, capture->ends[i].length + 1);
    if (!text) return false;
    ends[i] = (tsl__string){memcpy(text, capture->ends[i].at, capture->ends[i].length),
                            capture->ends[i].length};
  }
  capture->ends = ends;
  return true;
}

/* A captured rule around `body`. */
tsl__expr tsl__lower_capture_rule(tsl__captures *m, tsl__capture_kind kind, tsl__expr body,
                                  const char *name, uint32_t name_length, uint32_t back,
                                  const tsl__string *ends, uint32_t end_count) {
  tsl__capture capture = {kind, name, name_length, back, ends, end_count, body, TSL__NONE, m->at.n};
  if (body == TSL__NONE) return TSL__NONE;
  uint64_t hash = capture_hash(&capture);
  uint32_t i;
  for (tsl__index_iter it = tsl__index_first(&m->index, hash);
       (i = tsl__index_next(&it)) != UINT32_MAX;)
    if (capture_equal(tsl__capture_at(m, i), &capture)) return tsl__capture_at(m, i)->rule;
  uint32_t flags = tsl__expr_nullable(m->x, body) ? TSL__RULE_NULLABLE : 0;
  capture.rule = tsl__expr_rule(m->x, &capture_ops, m, capture.number, flags,
                                tsl__node_at(m->x, body).shortest);
  if (capture.rule == TSL__NONE || !keep_texts(m, &capture)) return tsl__expr_no_memory(m->x);
  tsl__capture *kept = tsl__pool_add(&m->at, m->alloc);
  if (!kept) return tsl__expr_no_memory(m->x);
  *kept = capture;
  if (!tsl__index_add(&m->index, m->alloc, hash, capture.number)) return tsl__expr_no_memory(m->x);
  return capture.rule;
}

static void free_captures(void *ctx) {
  tsl__captures *m = ctx;
  const tsl_allocator *a = m->alloc;
  tsl__pool_free(&m->at, a);
  tsl__vec_free(a, &m->parts);
  tsl__vec_free(a, &m->quotas);
  tsl__index_free(&m->part_index, a);
  tsl__vec_free(a, &m->style_texts);
  tsl__vec_free(a, &m->bares);
  tsl__index_free(&m->bare_index, a);
  tsl__index_free(&m->index, a);
  tsl__free(a, m, sizeof *m);
}

typedef struct special {
  tsl__string text;
  tsl_token token;
} special;

static int by_text(const void *a, const void *b) {
  const special *p = a, *q = b;
  int c = tsl__tags_order(p->text, q->text);
  return c ? c : (p->token > q->token) - (p->token < q->token);
}

static bool find_specials(tsl__captures *m) {
  const tsl_vocab *v = m->vocab;
  TSL__VEC(special) all = {0};
  bool fine = true;
  for (tsl_token i = 0; i < v->size && fine; i++) {
    special one = {
        {(const char *)v->bytes + v->offsets[i], (uint32_t)(v->offsets[i + 1] - v->offsets[i])}, i};
    if (v->special[i] && one.text.length) fine = tsl__vec_push(m->alloc, &all, one);
  }
  tsl__string *texts = fine && all.n ? tsl__exprs_alloc(m->x, all.n * sizeof *texts) : NULL;
  m->specials = texts ? tsl__exprs_alloc(m->x, all.n * sizeof *m->specials) : NULL;
  fine = fine && (!all.n || m->specials);
  if (fine && all.n) qsort(all.at, all.n, sizeof *all.at, by_text);
  for (size_t i = 0; i < all.n && fine; i++) {
    texts[i] = all.at[i].text;
    m->specials[i] = all.at[i].token;
    tsl__bytes_add(&m->special_first, (uint8_t)texts[i].at[0]);
  }
  m->special_texts = (tsl__strings){texts, fine ? (uint32_t)all.n : 0, TSL__NONE, 0};
  tsl__vec_free(m->alloc, &all);
  return fine;
}

tsl__captures *tsl__captures_new(tsl__exprs *x, const tsl_vocab *vocab) {
  const tsl_allocator *a = tsl__exprs_allocator(x);
  tsl__captures *m = tsl__alloc_zero(a, sizeof *m);
  if (!m) return NULL;
  m->alloc = a;
  m->x = x;
  m->vocab = vocab;
  tsl__pool_init(&m->at, sizeof(tsl__capture));
  if (!tsl__exprs_own(x, m, free_captures) || !find_specials(m)) return NULL;
  m->nothing = tsl__lower_capture_rule(m, TSL__CAPTURE_NONE, TSL__EPS, NULL, 0, 0, NULL, 0);
  return m;
}

/* What later grammars over these tables are compared with; the caller's text is not theirs. */
static bool keep_options(tsl__captures *m, const tsl_schema_options *options) {
  size_t size = options->base_uri ? strlen(options->base_uri) + 1 : 0;
  char *base = size ? tsl__exprs_alloc(m->x, size) : NULL;
  m->schema = *options;
  m->schema.base_uri = base;
  if (base) memcpy(base, options->base_uri, size);
  return base || !size;
}

/* ---- rules with a body that is made once ----------------------------------------------------- */

typedef struct loop {
  tsl__expr body;
  const char *name;
} loop;

static tsl__expr unfold_loop(tsl__exprs *x, void *ctx, uint32_t param) {
  (void)x;
  (void)param;
  return ((loop *)ctx)->body;
}

static void print_loop(void *ctx, uint32_t param, char *out, size_t n) {
  (void)param;
  snprintf(out, n, "%s", ((loop *)ctx)->name);
}

static const tsl__rule_ops loop_ops = {unfold_loop, print_loop, NULL, NULL, NULL};

/* A rule that matches at least the empty text; its body is set by the caller. */
static tsl__expr new_loop(tsl__tags_lowering *l, const char *name, loop **out) {
  *out = tsl__exprs_alloc(l->x, sizeof **out);
  if (!*out) return TSL__NONE;
  **out = (loop){TSL__EPS, name};
  return tsl__expr_rule(l->x, &loop_ops, *out, 0, TSL__RULE_NULLABLE, 0);
}

/* ---- contexts -------------------------------------------------------------------------------- */

static tsl__expr lower(tsl__tags_lowering *l, const tsl__tag *n, stops s);

#define NODE_WORK 16u /* of one format, in things touched (compiler/expr/expr.h) */

/* A capture around a part, kept from being a tail call. */
tsl__expr tsl__lower_captured(tsl__tags_lowering *l, const tsl__tag *n, tsl__expr e, stops s) {
  tsl__expr rule =
      tsl__lower_capture_rule(l->captures, n->capture, e, n->name, n->name_length, 0, NULL, 0);
  return s.last ? tsl__expr_seq(l->x, rule, l->captures->nothing) : rule;
}

bool tsl__lower_same_text(tsl__string a, tsl__string b) {
  return a.length == b.length && !tsl__tags_order(a, b);
}

/* Many tags end alike: only the last few are looked at, which is enough to keep the list short. */
static bool hold(tsl__tags_lowering *l, tsl__string text) {
  if (!text.length) return true;
  for (size_t i = l->held.n, k = 0; i-- > 0 && k < 4; k++)
    if (tsl__lower_same_text(l->held.at[i], text)) return true;
  char *copy = tsl__exprs_alloc(l->x, text.length);
  if (!copy) return false;
  tsl__string kept = {memcpy(copy, text.at, text.length), text.length};
  return tsl__vec_push(l->captures->alloc, &l->held, kept) || (tsl__expr_no_memory(l->x), false);
}

static bool keep_held(tsl__tags_lowering *l) {
  tsl__tagged *o = l->out;
  o->held_count = (uint32_t)l->held.n;
  if (o->held_count && !(o->held = tsl__exprs_alloc(l->x, l->held.n * sizeof *o->held)))
    return false;
  for (uint32_t i = 0; i < o->held_count; i++) {
    o->held[i] = l->held.at[i];
    tsl__bytes_add(&o->held_first, (uint8_t)o->held[i].at[0]);
    if (o->held[i].length > o->held_longest) o->held_longest = o->held[i].length;
  }
  return true;
}

static bool keep_texts_of(tsl__tags_lowering *l, const tsl__texts *from, tsl__texts *to) {
  if (!from->n) return true;
  if (!(to->at = tsl__exprs_alloc(l->x, from->n * sizeof *to->at))) return false;
  for (uint32_t i = 0; i < from->n; i++) {
    char *copy = tsl__exprs_alloc(l->x, from->at[i].length + 1);
    if (!copy) return false;
    to->at[i] = (tsl__string){memcpy(copy, from->at[i].at, from->at[i].length), from->at[i].length};
  }
  to->n = from->n;
  return true;
}

static bool keep_gaps(tsl__tags_lowering *l) {
  const tsl__gaps *from = &l->tags->gaps;
  tsl__gaps *to = &l->out->gaps;
  return keep_texts_of(l, &from->thinking, &to->thinking) &&
         keep_texts_of(l, &from->before, &to->before) &&
         keep_texts_of(l, &from->between, &to->between) &&
         keep_texts_of(l, &from->after, &to->after);
}

static bool keep_counted(tsl__tags_lowering *l) {
  tsl__tagged *o = l->out;
  o->counted_count = (uint32_t)l->counted.n;
  if (!o->counted_count) return true;
  o->counted = tsl__exprs_alloc(l->x, l->counted.n * sizeof *o->counted);
  if (o->counted) memcpy(o->counted, l->counted.at, l->counted.n * sizeof *o->counted);
  return o->counted != NULL;
}

/* Triggers, the stops handed down, then what is excluded, as one list. */
tsl__string *tsl__lower_without(tsl__tags_lowering *l, const tsl__string *triggers,
                                uint32_t trigger_count, stops s, const tsl__tag *n,
                                uint32_t *count) {
  uint32_t total = trigger_count + s.text_count + n->exclude_count, at = 0;
  tsl__string *all = tsl__tags_alloc(l->tags, total * sizeof *all + 1);
  *count = 0;
  if (!all) return NULL;
  for (uint32_t i = 0; i < trigger_count; i++) all[at++] = triggers[i];
  for (uint32_t i = 0; i < s.text_count; i++) all[at++] = s.text[i];
  for (uint32_t i = 0; i < n->exclude_count; i++) all[at++] = n->excludes[i];
  *count = at;
  return all;
}

/* ---- tags ------------------------------------------------------------------------------------ */

static tsl__expr delimiter(tsl__tags_lowering *l, const tsl__tag *n, const tsl__delimiter *d) {
  return d->is_token ? tsl__lower_named(l, n, &d->token, 1, false) : tsl__tags_constant(l, d->text);
}

/* A tag may end without it: it is empty, or a token that ends the generation, which comes after the
 * text. */
static bool is_left_out(const tsl__tags_lowering *l, const tsl__delimiter *end) {
  return end->is_token ? tsl_vocab_is_eog(l->tags->vocab, end->token) : !end->text.length;
}

/* What free text up to one of the ends looks like: exact where ends overlap. */
static tsl__expr any_until(tsl__tags_lowering *l, const tsl__tag *any, const tsl__delimiter *ends,
                           uint32_t end_count, stops inner) {
  uint32_t count, text = 0;
  tsl__cut cut;
  const tsl__string *list = tsl__lower_without(l, NULL, 0, inner, any, &count);
  tsl__expr *all = tsl__tags_alloc(l->tags, end_count * sizeof *all + 1);
  if (!list || !all || !tsl__tags_cut(l, list, count, inner.text_count, &cut)) return TSL__NONE;
  for (uint32_t i = 0; i < end_count && tsl__exprs_work(l->x, NODE_WORK); i++)
    all[i] = ends[i].is_token ? tsl__expr_seq(l->x, cut.text, delimiter(l, any, &ends[i]))
                              : tsl__tags_until(l, &cut, text++, false);
  return tsl__expr_alt_n(l->x, all, end_count);
}

/* A tag after its begin: content and end, in a frame that bears its capture. */
static tsl__expr rest_of_tag(tsl__tags_lowering *l, const tsl__tag *n, bool last) {
  tsl__string *texts = tsl__tags_alloc(l->tags, n->end_count * sizeof *texts),
              *spelled = tsl__tags_alloc(l->tags, n->end_count * sizeof *spelled);
  tsl_token *tokens = tsl__tags_alloc(l->tags, n->end_count * sizeof *tokens);
  tsl__expr *ends = tsl__tags_alloc(l->tags, n->end_count * sizeof *ends), all;
  stops inner = {.text = texts, .tokens = tokens};
  tsl__exprs_work(l->x, NODE_WORK);
  uint32_t spelled_count = 0;
  if (!texts || !spelled || !tokens || !ends || !hold(l, n->begin.text)) return TSL__NONE;
  for (uint32_t i = 0; i < n->end_count && tsl__exprs_work(l->x, NODE_WORK); i++) {
    bool left_out = is_left_out(l, &n->ends[i]);
    if (left_out)
      inner.last = true; /* nothing has to follow the content */
    else if (n->ends[i].is_token)
      tokens[inner.token_count++] = n->ends[i].token;
    else
      texts[inner.text_count++] = n->ends[i].text;
    /* a token's text is no content either */
    if (n->ends[i].text.length) spelled[spelled_count++] = n->ends[i].text;
    if (!hold(l, n->ends[i].text)) return TSL__NONE;
    ends[i] = left_out ? TSL__EPS : delimiter(l, n, &n->ends[i]);
  }
  const tsl__tag *content = n->items[0];
  bool free_text = content->kind == TSL__TAG_ANY && !content->capture &&
                   content->max_chars == TSL__INF && content->max_tokens == TSL__INF && !inner.last;
  if (free_text) {
    all = any_until(l, content, n->ends, n->end_count, inner);
  } else {
    tsl__expr end = tsl__expr_alt_n(l->x, ends, n->end_count);
    all = tsl__expr_seq(l->x, lower(l, content, inner), end);
  }
  const tsl__string *name = n->name || n->capture != TSL__CAPTURE_TAG
                                ? &(tsl__string){n->name, n->name_length}
                                : &n->begin.text;
  tsl__expr rule = tsl__lower_capture_rule(l->captures, n->capture, all, name->at, name->length,
                                           n->begin.text.length, spelled, spelled_count);
  return last ? tsl__expr_seq(l->x, rule, l->captures->nothing) : rule;
}

static tsl__expr lower_tag(tsl__tags_lowering *l, const tsl__tag *n, stops s) {
  /* before the rest: expressions are numbered as they are made, in the same order by every
   * compiler */
  tsl__expr begin = delimiter(l, n, &n->begin);
  return tsl__expr_seq(l->x, begin, rest_of_tag(l, n, s.last));
}

/* Some of the tags (`which`: their indices; NULL: all of them), less so many bytes of their begins,
 * each followed by `then`. */
static tsl__expr tags_after(tsl__tags_lowering *l, const tsl__tag *n, const uint32_t *which,
                            uint32_t tags, uint32_t skip, tsl__expr then) {
  tsl__string *begins = tsl__tags_alloc(l->tags, tags * sizeof *begins + 1);
  tsl__expr *rests = tsl__tags_alloc(l->tags, tags * sizeof *rests + 1), by_token = TSL__NONE;
  uint32_t count = 0;
  if (!begins || !rests) return TSL__NONE;
  for (uint32_t i = 0; i < tags && l->tags->status == TSL_OK && tsl__exprs_status(l->x) == TSL_OK;
       i++) {
    const tsl__tag *tag = n->items[which ? which[i] : i];
    tsl__expr rest = tsl__expr_seq(l->x, rest_of_tag(l, tag, false), then);
    if (tag->begin.is_token)
      by_token =
          tsl__expr_alt(l->x, by_token, tsl__expr_seq(l->x, delimiter(l, tag, &tag->begin), rest));
    else
      begins[count] = tag->begin.text, rests[count++] = rest;
  }
  tsl__expr all = count ? tsl__tags_trie(l, begins, rests, count, skip) : TSL__NONE;
  return tsl__expr_alt(l->x, all, by_token);
}

/* The tags by their triggers, those of one in their own order: those of trigger i are tags[from[i]]
 * to tags[from[i + 1] - 1]. */
static uint32_t *by_trigger(tsl__tags_lowering *l, const tsl__tag *n, uint32_t **from) {
  const uint32_t *of = tsl__tags_triggers(l, n);
  uint32_t *tags = tsl__tags_alloc(l->tags, n->item_count * sizeof *tags + 1),
           *at = *from = tsl__tags_alloc(l->tags, (n->trigger_count + 2) * sizeof *at);
  if (!of || !tags || !at) return NULL;
  for (uint32_t k = 0; k < n->item_count; k++) at[of[k] + 2]++;
  for (uint32_t i = 2; i < n->trigger_count + 2; i++) at[i] += at[i - 1];
  for (uint32_t k = 0; k < n->item_count; k++) tags[at[of[k] + 1]++] = k;
  return tags;
}

/* `first` = the tags at once, without text before. */
static tsl__expr with_first(tsl__tags_lowering *l, const tsl__tag *n, tsl__expr loop_rule) {
  return tags_after(l, n, NULL, n->item_count, 0, n->once ? l->captures->nothing : loop_rule);
}

/* Those of the tags whose begin has a special token that reaches over the end of the trigger. The
 * token comes after free text, and the trigger is not spelled. */
static tsl__expr over_the_trigger(tsl__tags_lowering *l, const tsl__tag *n, const uint32_t *which,
                                  uint32_t tags, uint32_t trigger, tsl__expr text, tsl__expr then) {
  tsl__expr all = TSL__NONE;
  for (uint32_t i = 0, from, to; i < tags; i++) {
    const tsl__tag *tag = n->items[which[i]];
    tsl__string begin = tag->begin.text;
    tsl_token token = tsl__tags_across(l, begin, trigger, &from, &to);
    if (token == TSL_NO_TOKEN) continue;
    tsl__expr rest =
        tsl__expr_seq(l->x, tsl__tags_constant(l, (tsl__string){begin.at + to, begin.length - to}),
                      tsl__expr_seq(l->x, rest_of_tag(l, tag, false), then));
    tsl__expr before =
        tsl__expr_seq(l->x, text, tsl__tags_constant(l, (tsl__string){begin.at, from}));
    all = tsl__expr_alt(
        l->x, all,
        tsl__expr_seq(l->x, before,
                      tsl__expr_seq(l->x, tsl__expr_token(l->x, &token, 1, false), rest)));
  }
  return all;
}

/* Triggers that end free text in one way only, as a trie behind that text. */
typedef struct plain_triggers {
  tsl__string *texts;
  tsl__expr *then;
  uint32_t n;
} plain_triggers;

static tsl__expr lower_triggered(tsl__tags_lowering *l, const tsl__tag *n, stops s) {
  plain_triggers plain = {
      .texts = tsl__tags_alloc(l->tags, n->trigger_count * sizeof *plain.texts + 1),
      .then = tsl__tags_alloc(l->tags, n->trigger_count * sizeof *plain.then + 1)};
  uint32_t count, *from = NULL;
  loop *body;
  tsl__cut cut;
  const uint32_t *tags = by_trigger(l, n, &from);
  if (!tags) return TSL__NONE;
  tsl__string *list = tsl__lower_without(l, n->triggers, n->trigger_count, s, n, &count);
  tsl__expr again = new_loop(l, "triggered-tags", &body),
            then = n->once ? l->captures->nothing : again,
            *all = tsl__tags_alloc(l->tags, (n->trigger_count + 2) * sizeof *all),
            *rest = tsl__tags_alloc(l->tags, n->trigger_count * sizeof *rest + 1);
  if (!list || !all || !rest || !plain.texts || !plain.then || again == TSL__NONE ||
      !tsl__tags_cut(l, list, count, n->trigger_count + s.text_count, &cut))
    return TSL__NONE;
  for (uint32_t i = 0; i < n->trigger_count; i++) {
    rest[i] = tags_after(l, n, tags + from[i], from[i + 1] - from[i], n->triggers[i].length, then);
    if (rest[i] == TSL__NONE) return TSL__NONE;
  }
  tsl__expr first = tsl__tags_first(l, &cut, rest, n->trigger_count);
  for (uint32_t i = 0; i < n->trigger_count; i++) {
    all[i] = TSL__NONE;
    if (first == TSL__NONE && tsl__tags_is_plain(l, &cut, i)) {
      plain.texts[plain.n] = n->triggers[i];
      plain.then[plain.n++] = rest[i];
    } else if (first == TSL__NONE) {
      all[i] = tsl__expr_seq(l->x, tsl__tags_until(l, &cut, i, true), rest[i]);
    }
    all[i] = tsl__expr_alt(l->x, all[i],
                           over_the_trigger(l, n, tags + from[i], from[i + 1] - from[i],
                                            n->triggers[i].length, cut.text, then));
  }
  all[n->trigger_count] = first ? first : cut.text;
  all[n->trigger_count + 1] =
      tsl__expr_seq(l->x, cut.text, tsl__tags_trie(l, plain.texts, plain.then, plain.n, 0));
  body->body = tsl__expr_alt_n(l->x, all, n->trigger_count + 2);
  return n->at_least_one ? with_first(l, n, again) : again;
}

/* Any tokens but triggers and those excluded, then a trigger and what it asks for. */
static tsl__expr lower_by_token(tsl__tags_lowering *l, const tsl__tag *n, stops s) {
  loop *body;
  const tsl__tag *excluded = n->items[n->item_count];
  tsl_token *stop = tsl__tags_alloc(l->tags, (n->token_count + s.token_count) * sizeof *stop + 1);
  tsl__expr again = new_loop(l, "token-triggered", &body),
            then = n->once ? l->captures->nothing : again, tags = TSL__NONE;
  if (!stop || again == TSL__NONE) return TSL__NONE;
  for (uint32_t i = 0; i < n->token_count; i++) stop[i] = n->tokens[i];
  for (uint32_t i = 0; i < s.token_count; i++) stop[n->token_count + i] = s.tokens[i];
  tsl__expr free =
      tsl__expr_star(l->x, tsl__lower_token_set(l, excluded, stop, n->token_count + s.token_count));
  if (n->kind == TSL__TAG_TRIGGERED) tags = tags_after(l, n, NULL, n->item_count, 0, then);
  for (uint32_t i = 0; n->kind == TSL__TAG_DISPATCH && i < n->item_count; i++) {
    stops inner = {.last = false};
    tsl__expr token = tsl__lower_named(l, n, &n->tokens[i], 1, false),
              rest = tsl__expr_seq(l->x, lower(l, n->items[i], inner), then);
    tags = tsl__expr_alt(l->x, tags, tsl__expr_seq(l->x, token, rest));
  }
  body->body = tsl__expr_alt(l->x, free, tsl__expr_seq(l->x, free, tags));
  return n->kind == TSL__TAG_TRIGGERED && n->at_least_one ? with_first(l, n, again) : again;
}

static tsl__expr lower_dispatch(tsl__tags_lowering *l, const tsl__tag *n, stops s) {
  uint32_t count;
  loop *body;
  tsl__cut cut;
  tsl__string *list = tsl__lower_without(l, n->triggers, n->trigger_count, s, n, &count);
  tsl__expr again = new_loop(l, "dispatch", &body), then = n->once ? l->captures->nothing : again,
            *all = tsl__tags_alloc(l->tags, (n->item_count + 1) * sizeof *all);
  if (!list || !all || again == TSL__NONE ||
      !tsl__tags_cut(l, list, count, n->trigger_count + s.text_count, &cut))
    return TSL__NONE;
  for (uint32_t i = 0; i < n->item_count; i++) {
    stops inner = {.last = false};
    tsl__expr content = lower(l, n->items[i], inner);
    if (content == TSL__NONE) return TSL__NONE;
    all[i] = tsl__expr_seq(l->x, content, then);
  }
  body->body = tsl__tags_first(l, &cut, all, n->item_count);
  if (body->body) return again;
  for (uint32_t i = 0; i < n->item_count; i++)
    all[i] = tsl__expr_seq(l->x, tsl__tags_until(l, &cut, i, true), all[i]);
  all[n->item_count] = cut.text;
  body->body = tsl__expr_alt_n(l->x, all, n->item_count + 1);
  return again;
}

/* tag (separator tag)*, none at all unless at_least_one. */
static tsl__expr lower_separated(tsl__tags_lowering *l, const tsl__tag *n) {
  loop *body;
  tsl__expr more = new_loop(l, "more-tags", &body), separator = tsl__tags_constant(l, n->text);
  if (more == TSL__NONE) return TSL__NONE;
  tsl__expr tags = tags_after(l, n, NULL, n->item_count, 0, n->once ? l->captures->nothing : more);
  if (n->text.length)
    separator =
        tsl__lower_capture_rule(l->captures, TSL__CAPTURE_MARKUP, separator, NULL, 0, 0, NULL, 0);
  if (!n->once) body->body = tsl__expr_opt(l->x, tsl__expr_seq(l->x, separator, tags));
  return n->at_least_one ? tags : tsl__expr_opt(l->x, tags);
}

/* ---- composition ----------------------------------------------------------------------------- */

static bool is_choice_of_constants(const tsl__tag *n) {
  bool all = n->kind == TSL__TAG_OR;
  for (uint32_t i = 0; all && i < n->item_count; i++) all = n->items[i]->kind == TSL__TAG_CONST;
  return all;
}

/* Many tags begin with the same choice of constants: the last one is remembered. */
static tsl__expr lower_items(tsl__tags_lowering *l, const tsl__tag *n, stops s) {
  tsl__expr all = n->kind == TSL__TAG_OR ? TSL__NONE : TSL__EPS;
  stops open = {.last = false};
  if (n == l->choice.of && !s.last) return l->choice.e;
  for (uint32_t i = n->item_count; i-- > 0 && l->tags->status == TSL_OK;) {
    bool last = n->kind == TSL__TAG_OR || i + 1 == n->item_count;
    tsl__expr e = lower(l, n->items[i], last ? s : open);
    all = n->kind == TSL__TAG_OR ? tsl__expr_alt(l->x, e, all) : tsl__expr_seq(l->x, e, all);
  }
  if (!s.last && is_choice_of_constants(n)) l->choice = (struct tsl__choice_of){n, all};
  return all;
}

static tsl__expr lower_repeat(tsl__tags_lowering *l, const tsl__tag *n, stops s) {
  if (n->max != 1) s.last = true;
  return tsl__expr_repeat(l->x, lower(l, n->items[0], s), n->min, n->max);
}

/* Depth: TSL__TAGS_DEPTH. A node is some work even where all that is made of it is there already. A
 * tree built in C may have it in many places. */
static tsl__expr lower(tsl__tags_lowering *l, const tsl__tag *n, stops s) {
  tsl__expr e = TSL__NONE;
  tsl__exprs_work(l->x, NODE_WORK);
  if (tsl__exprs_status(l->x) != TSL_OK) return TSL__NONE;
  switch (n->kind) {
  case TSL__TAG_CONST: e = tsl__tags_constant(l, n->text); break;
  case TSL__TAG_SCHEMA: return tsl__lower_schema(l, n, s);
  case TSL__TAG_REGEX: e = tsl__lower_regex(l, n); break;
  case TSL__TAG_GBNF: e = tsl__lower_gbnf(l, n); break;
  case TSL__TAG_ANY: e = tsl__lower_any(l, n, s); break;
  case TSL__TAG_SEQUENCE:
  case TSL__TAG_OR: e = lower_items(l, n, s); break;
  case TSL__TAG_REPEAT: e = lower_repeat(l, n, s); break;
  case TSL__TAG_TAG: return lower_tag(l, n, s);
  case TSL__TAG_TRIGGERED:
    e = n->by_token ? lower_by_token(l, n, s) : lower_triggered(l, n, s);
    break;
  case TSL__TAG_SEPARATED: e = lower_separated(l, n); break;
  case TSL__TAG_DISPATCH:
    e = n->by_token ? lower_by_token(l, n, s) : lower_dispatch(l, n, s);
    break;
  case TSL__TAG_TOKENS: e = tsl__lower_tokens(l, n, s); break;
  }
  if (e == TSL__EPS || e == TSL__NONE || !n->capture) return e;
  return tsl__lower_captured(l, n, e, s);
}

/* ---- the whole ------------------------------------------------------------------------------- */

tsl__expr tsl__tags_lower(tsl__tags *t, tsl__exprs *x, const tsl__tag *root,
                          tsl__captures *captures, const tsl_schema_options *schema,
                          const tsl_limits *limits, tsl__tagged **out) {
  const tsl_allocator *a = tsl__exprs_allocator(x);
  tsl__tags_lowering l = {.tags = t,
                          .x = x,
                          .captures = captures ? captures : tsl__captures_new(x, t->vocab),
                          .limits = limits,
                          .out = tsl__exprs_alloc(x, sizeof **out)};
  tsl__expr e = TSL__NONE;
  *out = l.out;
  bool kept = captures || !schema || (l.captures && keep_options(l.captures, schema));
  if (l.out) *l.out = (tsl__tagged){.captures = l.captures};
  if (!l.captures || !l.out || !kept)
    tsl__tags_fail(t, TSL_ERR_NO_MEMORY, NULL, "out of memory");
  else
    e = lower(&l, root, (stops){.last = true});
  if (t->status == TSL_OK && keep_held(&l) && keep_gaps(&l) && keep_counted(&l))
    tsl__tags_keep_described(&l);
  if (t->status == TSL_OK && t->mender) l.out->mender = t->mender(t, x, t->mender_from);
  tsl__vec_free(a, &l.counted);
  tsl__vec_free(a, &l.described);
  tsl__vec_free(a, &l.held);
  if (t->status == TSL_OK && tsl__exprs_status(x) != TSL_OK)
    tsl__tags_fail(t, tsl__exprs_status(x), NULL, "%s", tsl__exprs_why(x));
  return t->status == TSL_OK ? e : TSL__NONE;
}
