/* plan.h - how a text can be ended: in which bytes, and with how many tokens.
 *
 * Problem   A budget of tokens must never run out in the middle of a text. So a way to the end must
 *           be known for every position that a token may lead to. It must fit into the tokens that
 *           are left. The stacks know how many bytes are missing (a lower bound in places), not
 *           which.
 * Idea      A plan per position: one byte, and the position after it, whose plan goes on. A plan is
 *           found by descent: choose a byte after which fewer bytes are missing. The missing bytes
 *           may be a lower bound, so that no byte is such a one. Then an A* search starts there.
 *           Chains of plans soon meet plans that are known, so most plans cost one step. The fewest
 *           tokens of a chain are computed from its end backwards: 1 + the fewest after any token
 *           that the chain begins with. Positions are interned, so plans are kept by their number,
 *           and hold for every matcher of the grammar.
 * Forget    Where names or items must differ, every text is a position of its own. A landing is the
 *           position that a token leads to. A landing forgets the item under way once it differs
 *           from all earlier items, so that many tokens share a plan. A token whose item the plan
 *           might repeat gets a search of its own. See below, and plan_items.c.
 * Example   After `{"a": 4`: missing 1, `}` leaves 0 missing. Plan: `}`, one token. After `{"a": `
 *           the plan is `0`, `}`: two tokens, or one if there is a token `0}`.
 * Tokens    A way in bytes needs tokens that spell it. Every byte-level vocabulary has them. If a
 *           vocabulary lacks them, or the grammar names a token that must come, the search goes
 *           over tokens. It is A* over the positions that tokens lead to. Its answer is exact.
 * Bound     The tokens of a plan are an upper bound of the fewest. They spell a text of (nearly
 *           always) the fewest bytes, with the fewest tokens for that text. Where that bound is too
 *           high, tsl__planner_within runs the search over tokens as well.
 * Cost      Descent: 1 to 3 µs a position that has no plan yet. A long search in bytes accepts any
 *           way that gets nearer to the end, not only the shortest. Searches are long where items
 *           must differ, because the bound knows nothing of that. Searches end after
 *           TSL__PLAN_POSITIONS positions or TSL__PLAN_STEPS landings. To find all landings visits
 *           each node of the trie that may follow. Where many tokens pass the same position, its
 *           bytes are followed once.
 * Ref       Hart, Nilsson, Raphael 1968 "A formal basis for the heuristic determination of minimum
 *           cost paths".
 * Tested by tests/decode/test_budget.c, tests/decode/test_budget_items.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_DECODE_PLAN_H
#define TSL_RUNTIME_DECODE_PLAN_H

#include "runtime/matcher/matcher.h"

#define TSL__PLAN_POSITIONS 50000u /* that one search looks at */
/* positions that one search over tokens lands on, doubles counted */
#define TSL__PLAN_STEPS 200000u
#define TSL__PLAN_NONE UINT32_MAX /* tokens: no way is known */

typedef struct tsl__plan {
  tsl__stack at;
  tsl__stack next;  /* after `byte`; 0: the text may end here, or there is no way in bytes */
  tsl__stack after; /* after `token` */
  tsl_token token;  /* the first one */
  uint32_t bytes;   /* of the way in bytes; TSL__PLAN_NONE: there is none */
  uint32_t tokens;  /* to the end; TSL__PLAN_NONE: no way is known */
  uint32_t missing; /* tsl__stack_shortest */
  uint8_t byte;
  uint8_t names;  /* tsl__later_names */
  bool ends_name; /* `byte` ends a name; known where `names` is */
  bool searched;  /* the way was searched over tokens, as there is none in bytes */
  /* where tokens lead by their names is not known: it was not looked up yet, or a failure came
   * between */
  bool unfollowed;
} tsl__plan;

/* Is there a way to the end, and a token that it begins with? NULL: no. */
static inline bool tsl__plan_leads(const tsl__plan *plan) {
  return plan && plan->tokens && plan->tokens != TSL__PLAN_NONE;
}

/* Where bytes lead from a position. Many tokens pass the same few positions. */
typedef struct tsl__byte_row {
  tsl__stack at;     /* 0: none yet */
  bool whole;        /* items under way may be forgotten at `at` */
  tsl__bytes wholes; /* bytes after which they may still be forgotten */
  tsl__bytes next;   /* bytes that may follow */
  tsl__bytes known;  /* those of them whose `to` is known */
  tsl__bytes stays;  /* those of them that lead back */
  tsl__stack to[256];
} tsl__byte_row;
#define TSL__BYTE_ROWS 64u

/* A landing forgot an item. These are the items that its plan writes later, in the array at this
 * depth. The forgotten one must differ from them. */
typedef struct tsl__later_item {
  uint32_t depth;
  tsl__stack deny; /* reads their spellings (tsl__distinct_deny); 0: the plan may write any item */
} tsl__later_item;

/* The later items of one landing: a range of later_items. */
typedef struct tsl__later {
  tsl__stack at;
  uint32_t first, n;
} tsl__later;

typedef struct tsl__planner {
  tsl_allocator alloc;
  tsl_grammar *grammar; /* referenced */
  tsl__pool plans;
  tsl__index index;
  uint32_t
      rises; /* of the plan under construction: bytes after which no fewer bytes were missing */
  /* TSL__BYTE_ROWS of them, placed by the number of their position; NULL: none were requested */
  tsl__byte_row *rows;
  bool exactly; /* landings forget no items */
  tsl__pool laters;
  tsl__index laters_index;
  TSL__VEC(tsl__later_item) later_items;
  /* positions that a search for the shortest way may visit. It falls each time this was not
   * enough */
  uint32_t near;
} tsl__planner;

void tsl__planner_init(tsl__planner *p, tsl_grammar *grammar, const tsl_allocator *a);
void tsl__planner_free(tsl__planner *p);

/* All of these want the grammar's lock, and fail through the space's sticky status. */

/* The plan of a position; NULL on failure. tokens is TSL__PLAN_NONE where no way was found. */
const tsl__plan *tsl__planner_plan(tsl__planner *p, tsl__stack at);
/* Is a way to the end in at most `tokens` known? */
bool tsl__planner_fits(tsl__planner *p, tsl__stack at, uint64_t tokens);
/* The plan of a position, after a search over tokens if the plan is too long. *proven: no way is
 * shorter than the plan's. */
const tsl__plan *tsl__planner_within(tsl__planner *p, tsl__stack at, uint64_t tokens, bool *proven);

/* Find where tokens lead from a position by their bytes. `visit` gets each position that they lead
 * to, and a range of the trie's `order`; when it returns false, the search stops. A name that can
 * no longer be that of an earlier member is forgotten (tsl__distinct_blank). Otherwise each name
 * would lead to a position of its own. The same holds for items that differ from all before them,
 * up to the first item that ends in the token (tsl__distinct_byte_forget). */
typedef bool (*tsl__landing)(void *ctx, tsl__stack to, const tsl_token *tokens, size_t n);
bool tsl__planner_landings(tsl__planner *p, tsl__stack at, tsl__landing visit, void *ctx);

/* If the grammar names tokens, visit all tokens one by one: a token may lead to more than its
 * spelling does. If it names none, do nothing. */
bool tsl__planner_named_landings(tsl__planner *p, tsl__stack at, tsl__landing visit, void *ctx);

/* Landings forget the names that tokens spell. The plan may give a later member the same name, and
 * is then no plan for that token. So: does the plan end names? */
typedef enum tsl__later_names {
  TSL__NAMES_UNKNOWN = 0,
  TSL__NAMES_NONE, /* the way's text ends no name that matters */
  TSL__NAMES_SOME,
  TSL__NAMES_ANY /* it was found in tokens: nobody knows which */
} tsl__later_names;

/* Names: each as its length in four bytes, and its bytes, decoded. */
typedef TSL__VEC(uint8_t) tsl__name_list;

/* Does the plan of a position end names, if it has a plan? `out`: the names, for TSL__NAMES_SOME.
 * UNKNOWN on failure. */
tsl__later_names tsl__planner_names(tsl__planner *p, tsl__stack at, tsl__name_list *out);

/* The name under way at a position. */
typedef struct tsl__plan_naming {
  bool known, under_way,
      escape;             /* known: what follows says so; escape: an escape is not complete */
  tsl__name_list written; /* its bytes, decoded */
} tsl__plan_naming;
bool tsl__planner_naming(tsl__planner *p, tsl__stack at, tsl__plan_naming *out);

/* May the name that a token continues or begins be one of `names`, or become one? True also where
 * this cannot be seen at once. */
bool tsl__may_name(const tsl_vocab *v, const tsl__plan_naming *begun, tsl_token token,
                   const tsl__name_list *names);

/* Landings forget items, too, and the plan may write such an item again. For each array with a
 * forgotten item: the items that the plan writes there. false on failure. */
bool tsl__planner_later_items(tsl__planner *p, tsl__stack at, const tsl__later_item **out,
                              uint32_t *n);

/* Note the way in tokens of the position `like` for the position `at`, if it leads to an end from
 * there as well. */
void tsl__planner_copy(tsl__planner *p, tsl__stack at, tsl__stack like);

/* Note a way to the end that other tables had, unless one as short is known. */
typedef TSL__VEC(tsl_token) tsl__token_list;
void tsl__planner_note(tsl__planner *p, tsl__stack at, const tsl_token *tokens, size_t n);

/* Where one token leads, as tsl__planner_landings reports it. */
tsl__stack tsl__planner_landing(tsl__planner *p, tsl__stack at, tsl_token token);

#endif
