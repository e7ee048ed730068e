/* budget.c - texts that end in time: masks of the tokens from which a completion that fits is
 * known.
 *
 * Invariant  While `left` tokens may still come, a plan (plan.h) of at most `left` tokens is known
 *            for the position. Its first token leads to a position with a plan of at most left - 1,
 *            so there is always a token to take. Any other token is allowed only under the same
 *            condition.
 * Renewal    When the tables are full, plans begin anew in newer ones. The known way to the end is
 *            followed there token by token, and noted. If this reaches a limit, or the way does not
 *            fit, the old plans stay. In another edition (matcher/edition.h) the way is searched
 *            for anew. If no way that fits is found, the call returns TSL_ERR_LIMIT: its mask would
 *            be empty.
 * Cost       A mask under a budget spells every allowed token. If the longest plan after any of
 *            them is known to fit (this length is kept per position), the mask is the plain one. A
 *            host can avoid the cost. It draws under the plain mask, and draws again under the
 *            budget's mask if the budget refuses the token. Token t then has the probability p(t) +
 *            p(refused) p(t) / p(not refused) = p(t) / p(not refused).
 * Tested by  tests/decode/test_budget.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>

#include "runtime/decode/model.h"
#include "runtime/decode/plan.h"
#include "runtime/matcher/edition.h"
#include "runtime/matcher/generation.h"
#include "runtime/position/carry.h"

#define CONTENT_MIN 65 /* bytes that may follow: then a text is in free content */

/* The most tokens that it takes after any allowed token, this one included. */
typedef struct worst {
  tsl__stack at;
  uint32_t tokens;
} worst;

struct tsl_budget {
  tsl__planner planner;
  tsl__pool worsts;
  tsl__index worst_index;
  tsl__stack masked; /* where the last mask was made, in the tables of the plans; 0: nowhere */
};

tsl_status tsl_budget_new(tsl_grammar *grammar, const tsl_allocator *allocator, tsl_budget **out) {
  if (!out) return TSL_ERR_ARGUMENT;
  *out = NULL;
  if (!grammar) return TSL_ERR_ARGUMENT;
  if (!allocator) allocator = &grammar->alloc;
  tsl_budget *b = tsl__alloc_zero(allocator, sizeof *b);
  if (!b) return TSL_ERR_NO_MEMORY;
  tsl__planner_init(&b->planner, grammar, allocator);
  tsl__pool_init(&b->worsts, sizeof(worst));
  *out = b;
  return TSL_OK;
}

void tsl_budget_free(tsl_budget *b) {
  if (!b) return;
  tsl_allocator a = b->planner.alloc;
  tsl__pool_free(&b->worsts, &a);
  tsl__index_free(&b->worst_index, &a);
  tsl__planner_free(&b->planner);
  tsl__free(&a, b, sizeof *b);
}

/* ---- whose matcher --------------------------------------------------------------------------- */

/* A matcher as the budget asks about it. Plans are numbers of positions in the tables of one
 * generation (runtime/matcher/generation.h), and a matcher may have moved on to newer ones. Then
 * its position, and the one before, are carried back to where the plans are. Between editions
 * (runtime/matcher/edition.h) nothing is carried: the plans are made anew. A matcher whose edition
 * is left cannot move in a question. So another one with the same text does. */
typedef struct question {
  tsl_matcher there;
  tsl__stack before;
  tsl_matcher *like; /* NULL: none was needed */
  tsl__timed call;   /* moves and new plans too have the deadline of the call */
} question;

static bool ours(const tsl_budget *b, const tsl_matcher *m) {
  return b && m && b->planner.grammar->whole->origin == m->grammar->whole->origin;
}

/* The question is over. */
static void answered(question *a) {
  tsl_matcher_free(a->like);
  tsl__timed_end(a->call);
}

/* Needs the lock. */
static tsl_status carry_back(const tsl_budget *b, const tsl_matcher *m, question *a) {
  tsl_grammar *g = b->planner.grammar;
  tsl__carry c = {.to = g->space, .from = m->space, .most = SIZE_MAX};
  bool moved = m->history_n != 0;
  tsl__stack at = tsl__carry_stack(&c, m->at);
  if (moved)
    a->before =
        tsl__carry_stack(&c, m->history[(m->history_next + m->history_cap - 1) % m->history_cap]);
  tsl__carry_free(&c);
  if (g->space->status != TSL_OK) return g->space->status;
  a->there = tsl__matcher_at(g, at, moved ? &a->before : NULL);
  a->there.terminated = m->terminated;
  a->there.counted = m->counted;
  return TSL_OK;
}

/* Forget the notes on masks, which belong to the plans. */
static void forget_masks(tsl_budget *b) {
  tsl__pool_free(&b->worsts, &b->planner.alloc);
  tsl__index_free(&b->worst_index, &b->planner.alloc);
  b->masked = 0;
}

/* Plans from here on are those of the grammar's tables. */
static void plan_anew(tsl_budget *b, tsl_grammar *g) {
  tsl_allocator a = b->planner.alloc;
  forget_masks(b);
  tsl__planner_free(&b->planner);
  tsl__planner_init(&b->planner, g, &a);
}

/* The same text in the newest edition, where that of a matcher is left. */
static tsl_status go_along(const tsl_matcher **m, question *a) {
  if (!tsl__is_left((*m)->grammar->tables->first) || !(*m)->rereads) return TSL_OK;
  tsl_status status = tsl_matcher_fork(*m, &a->like);
  if (status != TSL_OK) return status;
  tsl__matcher_move(a->like);
  *m = a->like;
  return TSL_OK;
}

/* The matcher's place in the tables of the plans. */
static tsl_status ask_there(const tsl_budget *b, const tsl_matcher **m, question *a) {
  if (b->planner.grammar == (*m)->grammar) return TSL_OK;
  tsl__grammar_lock(b->planner.grammar);
  tsl_status status = carry_back(b, *m, a), failed = tsl__grammar_unlock(b->planner.grammar);
  *m = &a->there;
  return status != TSL_OK ? status : failed;
}

static tsl_token own_way(tsl_budget *b, const tsl_matcher *m, uint64_t left, bool hard);

/* The way that is known from where the matcher is: step by step, as a text would take it. False:
 * none is. */
static bool way_so_far(tsl_budget *b, const tsl_matcher *m, uint64_t left, tsl__token_list *way) {
  tsl_grammar *g = b->planner.grammar;
  tsl__space *space = g->space;
  question a;
  if (ask_there(b, &m, &a) != TSL_OK) return false;
  tsl__stack at = m->at, before = 0;
  tsl_matcher there = *m;
  tsl__grammar_lock(g);
  while (at && !tsl__stack_at(space, at)->complete && way->n < left) {
    tsl_token token = own_way(b, &there, left - way->n, true);
    if (token == TSL_NO_TOKEN) break;
    if (!tsl__vec_push(&b->planner.alloc, way, token)) tsl__space_no_memory(space);
    before = at;
    at = tsl__stack_token(space, at, token);
    there = tsl__matcher_at(g, at, &before);
  }
  bool ends = at && tsl__stack_at(space, at)->complete;
  return tsl__grammar_unlock(g) == TSL_OK && ends;
}

/* Note the way in other tables; false: it is not known there to fit. */
static bool note_there(tsl_budget *b, const tsl_matcher *m, const tsl__token_list *way,
                       uint64_t left) {
  question a;
  if (ask_there(b, &m, &a) != TSL_OK) return false;
  tsl__grammar_lock(b->planner.grammar);
  tsl__planner_note(&b->planner, m->at, way->at, way->n);
  bool fit = tsl__planner_fits(&b->planner, m->at, left);
  return tsl__grammar_unlock(b->planner.grammar) == TSL_OK && fit;
}

/* Plans fill tables, and those which they have filled are left, as by matchers. Then they are made
 * anew in the newest ones. In the middle of a text the way that is known is kept. The invariant
 * depends on it, and another search may find a longer one. Where it cannot be kept, plans stay
 * where they are, and reach the limit of their tables. */
static void renew(tsl_budget *b, const tsl_matcher *m, uint64_t left) {
  tsl_grammar *newest = tsl__grammar_now(b->planner.grammar);
  tsl__token_list way = {0};
  tsl_allocator al = b->planner.alloc;
  if (newest->space != b->planner.grammar->space && newest->whole == m->grammar->whole &&
      way_so_far(b, m, left, &way)) {
    tsl__planner before = b->planner;
    forget_masks(b);
    tsl__planner_init(&b->planner, newest, &al);
    tsl__planner unneeded = before;
    if (!note_there(b, m, &way, left)) {
      forget_masks(b);
      unneeded = b->planner;
      b->planner = before;
    }
    tsl__planner_free(&unneeded);
  }
  tsl__vec_free(&al, &way);
  tsl_grammar_release(newest);
}

/* Is there a way that fits, for plans which know nothing yet? TSL_ERR_LIMIT: none was found. */
static tsl_status fits_anew(tsl_budget *b, const tsl_matcher *m, uint64_t left) {
  bool proven;
  if (left == UINT64_MAX) return TSL_OK;
  tsl__grammar_lock(m->grammar);
  own_way(b, m, left, true); /* ways from the position before count, too */
  const tsl__plan *plan = tsl__planner_within(&b->planner, m->at, left, &proven);
  bool fit = plan && plan->tokens <= left;
  tsl_status status = tsl__grammar_unlock(m->grammar);
  return status != TSL_OK || fit ? status : TSL_ERR_LIMIT;
}

static bool tables_left(const tsl_budget *b) {
  return atomic_load_explicit(&b->planner.grammar->space->left, memory_order_relaxed);
}

/* To make all plans anew takes as long as a few masks. So in a text that is done when a good part
 * of what there may be is full. */
#define FULL_PART 8u
static bool tables_full(const tsl_budget *b) {
  const tsl__space *s = b->planner.grammar->space;
  return tables_left(b) && s->arena.total > s->work.max_memory / FULL_PART;
}

/* *m becomes the matcher to ask about; `answered` ends it, also on failure. `left`: tokens that may
 * still come. */
static tsl_status ask_about(tsl_budget *b, const tsl_matcher **m, uint64_t left, question *a) {
  a->like = NULL;
  a->call = tsl__timed_begin((*m)->space->work.deadline_us);
  if (b->planner.grammar == (*m)->grammar && !tsl__is_left(b->planner.grammar->tables->first) &&
      !tables_full(b))
    return TSL_OK;
  tsl_status status = go_along(m, a);
  if (status != TSL_OK) return status;
  if (b->planner.grammar->whole != (*m)->grammar->whole) {
    plan_anew(b, (*m)->grammar);
    if ((status = fits_anew(b, *m, left)) != TSL_OK) return status;
  }
  const tsl_matcher *here = *m;
  status = ask_there(b, m, a);
  /* a token of a mask is judged by the plans that the mask was made with */
  if (status != TSL_OK || !tables_full(b) || (*m)->at == b->masked) return status;
  *m = here;
  renew(b, here, left);
  return ask_there(b, m, a);
}

/* A text begins: where the tables of the plans are left, plans are made anew. */
static void begin_anew(tsl_budget *b, const tsl_matcher *m) {
  if (tables_left(b)) plan_anew(b, m->grammar);
}

/* How a text ends then depends on each character of an item, while tokens that leave the frames as
 * they are count as one here. */
static bool must_repeat(const tsl_budget *b) {
  return b->planner.grammar->space->positions.watches & TSL__SAME_ITEM;
}

/* ---- the beginning --------------------------------------------------------------------------- */

static tsl_status too_small(tsl_error *error, const tsl__plan *plan, bool proven,
                            uint64_t max_tokens) {
  if (plan->tokens == TSL__PLAN_NONE)
    return tsl__fail(
        error, TSL_ERR_LIMIT,
        proven
            ? "no text of at most %llu tokens of this vocabulary satisfies the grammar"
            : "no completion of at most %llu tokens was found, and the search for one was given up",
        (unsigned long long)max_tokens);
  return tsl__fail(error, TSL_ERR_LIMIT,
                   "max_tokens is %llu, but the shortest completion%s takes %u tokens",
                   (unsigned long long)max_tokens, proven ? "" : " that was found", plan->tokens);
}

static tsl_status start(tsl_budget *b, const tsl_matcher *m, uint64_t max_tokens,
                        tsl_error *error) {
  bool proven;
  tsl__space *space = tsl__grammar_lock(m->grammar);
  const tsl__plan *plan = tsl__planner_within(&b->planner, m->at, max_tokens, &proven);
  const char *why = space->why;
  tsl_status status = tsl__grammar_unlock(m->grammar);
  if (status != TSL_OK) return tsl__fail(error, status, "%s", why ? why : tsl_status_name(status));
  return plan->tokens <= max_tokens ? TSL_OK : too_small(error, plan, proven, max_tokens);
}

tsl_status tsl_budget_start(tsl_budget *b, const tsl_matcher *m, uint64_t max_tokens,
                            tsl_error *error) {
  if (!ours(b, m))
    return tsl__fail(error, TSL_ERR_ARGUMENT, "the matcher is not one of the budget's grammar");
  if (must_repeat(b))
    return tsl__fail(error, TSL_ERR_UNSUPPORTED,
                     "a budget where uniqueItems stands under a negation");
  if (m->terminated) return TSL_OK;
  question a;
  begin_anew(b, m);
  tsl_status status = ask_about(b, &m, max_tokens, &a);
  status = status == TSL_OK ? start(b, m, max_tokens, error)
                            : tsl__fail(error, status, "%s", tsl_status_name(status));
  answered(&a);
  return status;
}

#define COMPLETION_MAX (1u << 20) /* tokens that are followed */

static tsl_status completion(tsl_budget *b, const tsl_matcher *m, tsl_token *tokens,
                             size_t capacity, size_t *count) {
  tsl__space *space = tsl__grammar_lock(m->grammar);
  const tsl__plan *plan = tsl__planner_plan(&b->planner, m->at);
  tsl__stack at = m->at;
  /* where something is remembered, the way may turn out longer than the plan had it, and is
   * followed to its end */
  size_t n = 0;
  while (tsl__plan_leads(plan) && n < COMPLETION_MAX &&
         (n < capacity || tsl__with_distinct_at(space, at)->distinct)) {
    if (n < capacity) tokens[n] = plan->token;
    n++;
    at = tsl__stack_token(space, at, plan->token);
    plan = at ? tsl__planner_plan(&b->planner, at) : NULL;
  }
  bool none = plan && (plan->tokens == TSL__PLAN_NONE || n == COMPLETION_MAX);
  uint64_t total = plan ? n + (uint64_t)plan->tokens : 0;
  tsl_status status = tsl__grammar_unlock(m->grammar);
  if (status != TSL_OK) return status;
  if (none) return TSL_ERR_LIMIT;
  *count = (size_t)total;
  return TSL_OK;
}

tsl_status tsl_budget_completion(tsl_budget *b, const tsl_matcher *m, tsl_token *tokens,
                                 size_t capacity, size_t *count) {
  if (!ours(b, m) || !count || (capacity && !tokens)) return TSL_ERR_ARGUMENT;
  *count = 0;
  if (m->terminated) return TSL_OK;
  question a;
  tsl_status status = ask_about(b, &m, UINT64_MAX, &a);
  if (status == TSL_OK) status = completion(b, m, tokens, capacity, count);
  answered(&a);
  return status;
}

/* The position before the last token led here by landings that forgot something: their plans are
 * ways from here, too, if they end. */
typedef struct inheritance {
  tsl_budget *budget;
  tsl__stack at;
  uint64_t left;
} inheritance;

static bool inherit_landing(void *ctx, tsl__stack to, const tsl_token *tokens, size_t n) {
  inheritance *i = ctx;
  tsl__planner *p = &i->budget->planner;
  (void)tokens, (void)n;
  if (tsl__planner_fits(p, to, i->left)) tsl__planner_copy(p, i->at, to);
  return !tsl__planner_fits(p, i->at, i->left);
}

static void inherit(tsl_budget *b, const tsl_matcher *m, uint64_t left) {
  inheritance i = {b, m->at, left};
  if (!m->history_n) return;
  tsl__stack from = m->history[(m->history_next + m->history_cap - 1) % m->history_cap];
  tsl__planner_landings(&b->planner, from, inherit_landing, &i);
}

/* Landings forget names and items (plan.h), and a plan may then repeat one. Where they are
 * remembered, the position's own plan is followed too. With `hard` those of the landings that led
 * here are followed, and then one that was searched over tokens. The token that it begins with, if
 * it fits. */
static tsl_token own_way(tsl_budget *b, const tsl_matcher *m, uint64_t left, bool hard) {
  bool proven;
  if (!m->space->positions.watches) return TSL_NO_TOKEN;
  const tsl__plan *plan = tsl__planner_plan(&b->planner, m->at);
  if (hard && plan && plan->tokens > left) inherit(b, m, left);
  if (hard && plan && plan->tokens > left)
    plan = tsl__planner_within(&b->planner, m->at, left, &proven);
  return plan && plan->tokens <= left && plan->tokens ? plan->token : TSL_NO_TOKEN;
}

/* ---- what fits ------------------------------------------------------------------------------- */

/* Values that a plan has later on, which what was forgotten in a landing must not be. */
typedef struct rival {
  tsl__later_item of;
  tsl__stack on; /* after what is spelled of the item; 0: that is none of them */
  tsl__bytes next;
} rival;

typedef struct restriction {
  tsl_budget *budget;
  tsl__stack at;
  uint64_t left;
  uint32_t *mask;
  uint32_t worst;          /* tokens, the accepted one included */
  tsl__plan_naming naming; /* at `at` */
  tsl__name_list names;    /* of the plan that is looked at */
  TSL__VEC(rival) rivals;
  tsl__stack last; /* the landing that was looked at last, and the answers */
  tsl__later_names last_names;
  bool last_fits, last_repeats;
} restriction;

static void restriction_free(restriction *r) {
  tsl__vec_free(&r->budget->planner.alloc, &r->naming.written);
  tsl__vec_free(&r->budget->planner.alloc, &r->names);
  tsl__vec_free(&r->budget->planner.alloc, &r->rivals);
}

static uint32_t plan_tokens(tsl_budget *b, tsl__stack at) {
  const tsl__plan *plan = tsl__planner_plan(&b->planner, at);
  return plan ? plan->tokens : TSL__PLAN_NONE;
}

/* Does what comes after a position fit? */
static bool fits(restriction *r, tsl__stack to) {
  bool fits = to && tsl__planner_fits(&r->budget->planner, to, r->left - 1);
  uint32_t need = fits ? plan_tokens(r->budget, to) + 1 : TSL__PLAN_NONE;
  if (need > r->worst) r->worst = need;
  return fits;
}

/* Names that the plan of a landing has later on, which a token may have spelled. Then what it leads
 * to is looked up itself (plan.h). */
static tsl__later_names later_names(restriction *r, tsl__stack to) {
  tsl__planner *p = &r->budget->planner;
  const tsl__space *space = p->grammar->space;
  if (!(space->positions.watches & TSL__NEW_NAME) || space->names_tokens) return TSL__NAMES_NONE;
  tsl__later_names names = tsl__planner_names(p, to, &r->names);
  return names != TSL__NAMES_SOME || r->naming.known || tsl__planner_naming(p, r->at, &r->naming)
             ? names
             : TSL__NAMES_UNKNOWN;
}

/* Could they go on with the token's first byte, or end before it? */
static bool may_rival(const rival *r, const uint8_t *bytes, size_t n) {
  return n && (tsl__bytes_has(&r->next, bytes[0]) || memchr(",]} \t\n\r", bytes[0], 7));
}

/* The rivals in an array, at the place where the token begins; NULL on failure. */
static const rival *rival_of(restriction *r, const tsl__later_item *of) {
  tsl__planner *p = &r->budget->planner;
  for (size_t i = 0; i < r->rivals.n; i++)
    if (r->rivals.at[i].of.deny == of->deny && r->rivals.at[i].of.depth == of->depth)
      return &r->rivals.at[i];
  rival made = {*of,
                of->deny ? tsl__distinct_deny_item(p->grammar->space, of->deny, r->at, of->depth)
                         : 0,
                {{0}}};
  if (made.on && !tsl__distinct_deny_next(p->grammar->space, made.on, &made.next)) return NULL;
  if (!tsl__vec_push(&p->alloc, &r->rivals, made))
    return tsl__space_no_memory(p->grammar->space), NULL;
  return &r->rivals.at[r->rivals.n - 1];
}

/* Is it plain that no token repeats an item that the plan of a landing has later on? */
static bool unrivalled(restriction *r, tsl__stack to) {
  const tsl__later_item *items;
  uint32_t n;
  if (!tsl__planner_later_items(&r->budget->planner, to, &items, &n)) return false;
  for (uint32_t i = 0; i < n; i++) {
    const rival *is = rival_of(r, &items[i]);
    if (!is || !items[i].deny || is->on) return false;
  }
  return true;
}

/* May this one? */
static bool may_repeat(restriction *r, tsl__stack to, tsl_token token) {
  tsl__space *space = r->budget->planner.grammar->space;
  const tsl_vocab *v = space->vocab;
  const uint8_t *bytes = v->bytes + v->offsets[token];
  size_t length = v->offsets[token + 1] - v->offsets[token];
  const tsl__later_item *items;
  uint32_t n;
  if (!tsl__planner_later_items(&r->budget->planner, to, &items, &n)) return true;
  for (uint32_t i = 0; i < n; i++) {
    const rival *is = rival_of(r, &items[i]);
    if (!is || !items[i].deny) return true;
    if (is->on && may_rival(is, bytes, length) &&
        tsl__distinct_denies(space, is->on, bytes, length))
      return true;
  }
  return false;
}

/* Try a token by a search of its own, which forgets no name and no item. */
static bool fits_itself(restriction *r, tsl__stack to, tsl__later_names names, bool repeats,
                        tsl_token token) {
  tsl__space *space = r->budget->planner.grammar->space;
  bool named =
      names != TSL__NAMES_NONE &&
      !(names == TSL__NAMES_SOME && !tsl__may_name(space->vocab, &r->naming, token, &r->names));
  if (!named && !(repeats && may_repeat(r, to, token))) return true;
  tsl__stack itself = space->status == TSL_OK ? tsl__stack_token(space, r->at, token) : 0;
  if (itself && names == TSL__NAMES_ANY) tsl__planner_copy(&r->budget->planner, itself, to);
  return fits(r, itself);
}

/* ---- one token ------------------------------------------------------------------------------- */

static tsl_status allows(tsl_budget *b, const tsl_matcher *m, uint64_t left, tsl_token token) {
  tsl__stack to = 0;
  uint32_t counted = m->counted;
  tsl_status status =
      left ? tsl__grammar_lead_counted(m->grammar, m->at, token, &to, &counted) : TSL_OK;
  if (status != TSL_OK || to == 0) return status != TSL_OK ? status : TSL_REJECTED;
  restriction r = {.budget = b, .at = m->at, .left = left};
  tsl__grammar_lock(m->grammar);
  to = tsl__planner_landing(&b->planner, m->at, token);
  bool may =
      (fits(&r, to) && fits_itself(&r, to, later_names(&r, to), !unrivalled(&r, to), token)) ||
      own_way(b, m, left, false) == token;
  status = tsl__grammar_unlock(m->grammar);
  restriction_free(&r);
  return status != TSL_OK ? status : may ? TSL_OK : TSL_REJECTED;
}

tsl_status tsl_budget_allows(tsl_budget *b, const tsl_matcher *m, uint64_t left, tsl_token token) {
  if (!ours(b, m)) return TSL_ERR_ARGUMENT;
  if (must_repeat(b)) return TSL_ERR_UNSUPPORTED;
  const tsl_vocab *v = m->grammar->vocab;
  if (token >= v->size) return token < v->logits_width ? TSL_REJECTED : TSL_ERR_ARGUMENT;
  if (m->terminated) return TSL_REJECTED;
  if (tsl_vocab_is_eog(v, token)) return tsl_matcher_is_complete(m) ? TSL_OK : TSL_REJECTED;
  question a;
  tsl_status status = ask_about(b, &m, left, &a);
  if (status == TSL_OK) status = allows(b, m, left, token);
  answered(&a);
  return status;
}

/* ---- masks ----------------------------------------------------------------------------------- */

static bool restrict_landing(void *ctx, tsl__stack to, const tsl_token *tokens, size_t n) {
  restriction *r = ctx;
  if (r->last != to) {
    r->last_fits = fits(r, to);
    r->last_names = r->last_fits ? later_names(r, to) : TSL__NAMES_UNKNOWN;
    r->last_repeats = r->last_fits && !unrivalled(r, to);
    /* the names are looked up once for each token */
    r->last = r->last_names == TSL__NAMES_SOME ? 0 : to;
  }
  for (size_t i = 0; i < n && (r->last_names != TSL__NAMES_NONE || r->last_repeats); i++)
    if (!r->last_fits || !fits_itself(r, to, r->last_names, r->last_repeats, tokens[i]))
      r->mask[tokens[i] >> 5] &= ~(1u << (tokens[i] & 31));
  return true;
}

static const worst *worst_of(const tsl_budget *b, tsl__stack at) {
  tsl__index_iter it = tsl__index_first(&b->worst_index, tsl__mix(at));
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const worst *w = tsl__pool_at(&b->worsts, i);
    if (w->at == at) return w;
  }
  return NULL;
}

static bool remember_worst(tsl_budget *b, tsl__stack at, uint32_t tokens) {
  worst *w = tsl__pool_add(&b->worsts, &b->planner.alloc);
  if (w) *w = (worst){at, tokens};
  return w && tsl__index_add(&b->worst_index, &b->planner.alloc, tsl__mix(at), b->worsts.n - 1);
}

/* Take out what does not fit. */
static tsl_status restrict_mask(tsl_budget *b, const tsl_matcher *m, uint64_t left,
                                uint32_t *mask) {
  const worst *known = worst_of(b, m->at);
  if (known && known->tokens <= left) return TSL_OK;
  restriction r = {.budget = b, .at = m->at, .left = left, .mask = mask};
  tsl__space *space = tsl__grammar_lock(m->grammar);
  if (space->names_tokens)
    tsl__planner_named_landings(&b->planner, m->at, restrict_landing, &r);
  else
    tsl__planner_landings(&b->planner, m->at, restrict_landing, &r);
  tsl_token own = own_way(b, m, left, tsl_mask_count(mask, space->vocab->logits_width) == 0);
  if (own != TSL_NO_TOKEN) mask[own >> 5] |= 1u << (own & 31);
  tsl_status status = tsl__grammar_unlock(m->grammar);
  restriction_free(&r);
  if (status == TSL_OK && !known && r.worst != TSL__PLAN_NONE && !remember_worst(b, m->at, r.worst))
    status = TSL_ERR_NO_MEMORY;
  return status;
}

static tsl_status write_mask(tsl_budget *b, const tsl_matcher *m, uint64_t left, uint32_t *mask) {
  b->masked = m->at;
  const tsl__mask_rec *plain;
  tsl_status status = tsl__grammar_mask(m->grammar, m->at, &plain);
  if (status != TSL_OK) return status;
  tsl__mask_write(m->space, plain, mask);
  status = restrict_mask(b, m, left, mask);
  if (status == TSL_OK && tsl__quota_finishing(m->grammar, m->at, m->counted))
    tsl__quota_finishers(m->grammar, mask);
  return status;
}

tsl_status tsl_budget_mask(tsl_budget *b, const tsl_matcher *m, uint64_t left, uint32_t *mask) {
  if (!ours(b, m) || !mask) return TSL_ERR_ARGUMENT;
  if (must_repeat(b)) return TSL_ERR_UNSUPPORTED;
  const tsl_vocab *v = m->grammar->vocab;
  if (m->terminated || !left) {
    memset(mask, 0, tsl_vocab_mask_words(v) * sizeof *mask);
    for (uint32_t i = 0; i < v->eog_count && !m->terminated && tsl_matcher_is_complete(m); i++)
      mask[v->eog[i] >> 5] |= 1u << (v->eog[i] & 31);
    return TSL_OK;
  }
  question a;
  tsl_status status = ask_about(b, &m, left, &a);
  if (status == TSL_OK) status = write_mask(b, m, left, mask);
  answered(&a);
  return status;
}

/* ---- winding down ---------------------------------------------------------------------------- */

typedef struct winding {
  tsl_budget *budget;
  uint32_t now;               /* tokens to the end */
  TSL__VEC(tsl_token) nearer; /* after which there are fewer */
} winding;

static bool wind_landing(void *ctx, tsl__stack to, const tsl_token *tokens, size_t n) {
  winding *w = ctx;
  tsl__planner *p = &w->budget->planner;
  if (plan_tokens(w->budget, to) >= w->now) return true;
  if (!tsl__vec_reserve(&p->alloc, &w->nearer, n)) return tsl__space_no_memory(p->grammar->space);
  memcpy(w->nearer.at + w->nearer.n, tokens, n * sizeof *tokens);
  w->nearer.n += n;
  return true;
}

static unsigned bytes_count(const tsl__bytes *s) {
  unsigned n = 0;
  for (int i = 0; i < 4; i++) n += (unsigned)__builtin_popcountll(s->w[i]);
  return n;
}

static tsl_status wind_down(tsl_budget *b, const tsl_matcher *m, float added, float *logits) {
  const tsl_vocab *v = m->grammar->vocab;
  tsl__bytes next;
  tsl__space *space = tsl__grammar_lock(m->grammar);
  winding w = {.budget = b};
  bool winds = tsl__stack_next(space, m->at, &next) && bytes_count(&next) < CONTENT_MIN;
  if (winds && (w.now = plan_tokens(b, m->at)) != 0) {
    if (space->names_tokens)
      tsl__planner_named_landings(&b->planner, m->at, wind_landing, &w);
    else
      tsl__planner_landings(&b->planner, m->at, wind_landing, &w);
  }
  tsl_status status = tsl__grammar_unlock(m->grammar);
  for (size_t i = 0; status == TSL_OK && i < w.nearer.n; i++) logits[w.nearer.at[i]] += added;
  for (uint32_t i = 0; status == TSL_OK && winds && i < v->eog_count && tsl_matcher_is_complete(m);
       i++)
    logits[v->eog[i]] += added;
  tsl__vec_free(&b->planner.alloc, &w.nearer);
  return status;
}

tsl_status tsl_budget_wind_down(tsl_budget *b, const tsl_matcher *m, uint64_t left, uint64_t soft,
                                float bias, float *logits) {
  if (!ours(b, m) || !logits || !(bias >= -FLT_MAX && bias <= FLT_MAX)) return TSL_ERR_ARGUMENT;
  if (m->terminated || left > soft || left == 0) return TSL_OK;
  question a;
  tsl_status status = ask_about(b, &m, left, &a);
  if (status == TSL_OK)
    status = wind_down(b, m, bias * ((float)(soft - left + 1) / (float)soft), logits);
  answered(&a);
  return status;
}
