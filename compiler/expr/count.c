/* count.c - how many texts an expression has, and which.
 *
 * Problem   "Names that this object may have: at most 20?" and "list them" need the texts of a
 *           finite expression, which may hold meets.
 * Idea      Follow the derivatives depth first, with a stack of our own. An expression that is met
 *           again on the way to itself has a loop, and so endless many texts. Otherwise its count
 *           is the sum over the bytes of the counts of its derivatives, plus 1 if it is nullable;
 *           each is computed once.
 * Example   (a|b)(c|d)?: D_a = D_b = (c|d)?, which has 3 texts, so there are 2 × 3 = 6.
 * Cost      One derivative for each range of bytes that are alike, of each expression on the way.
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/search.h"

typedef struct counting {
  tsl__expr e;
  tsl__bytes edges;     /* bytes at which the derivative may change */
  uint32_t next, width; /* byte to go on with, 256 when done; bytes of the last derivative */
  uint64_t total;       /* members found so far */
} counting;

static bool count_later(tsl__exprs *x, counting *c, tsl__expr e) {
  *c = (counting){.e = e, .total = tsl__expr_nullable(x, e) ? 1 : 0};
  tsl__boundaries(x, e, &c->edges);
  return x->status == TSL_OK;
}

/* The next derivative, and how many bytes lead there. */
static tsl__expr count_next(tsl__exprs *x, counting *c) {
  unsigned begin = c->next, end = tsl__edge_from(&c->edges, begin + 1);
  c->next = end;
  c->width = end - begin;
  return tsl__exprs_step(x) ? tsl__derive_plain(x, c->e, (uint8_t)begin) : TSL__NONE;
}

/* Depth-first over the derivatives with an explicit stack: a state met again on the way to itself
 * means infinitely many. Finished counts are kept in a table by expression. The depth is at most
 * `limit` + the longest common prefix, since every state is alive. */
bool tsl__expr_count(tsl__exprs *x, tsl__expr e, uint32_t limit, uint32_t *count) {
  TSL__VEC(counting) stack = {0};
  tsl__graph done = {0}; /* cost = count + 1 when finished, 0 while open */
  counting c;
  bool finite = true;
  uint32_t left = TSL__AT_LEAST_NODES;
  uint64_t last_total = 0, least = tsl__at_least(x, e, &left);
  *count = 0;
  if (e == TSL__NONE) return true;
  if (least > limit) return *count = least == TSL__ENDLESS ? 0 : limit + 1, least != TSL__ENDLESS;
  if (!count_later(x, &c, e) || !tsl__vec_push(&x->alloc, &stack, c) ||
      !tsl__graph_add(&x->alloc, &done, (tsl__visit){e, 0, 0, 0}, 0))
    tsl__expr_no_memory(x);
  while (stack.n && finite && x->status == TSL_OK) {
    counting *top = &stack.at[stack.n - 1];
    if (top->next == 256) {
      last_total = top->total > limit ? (uint64_t)limit + 1 : top->total;
      done.visits.at[*tsl__graph_slot(&done, top->e) - 1].cost = (uint32_t)last_total + 1;
      if (--stack.n) stack.at[stack.n - 1].total += last_total * stack.at[stack.n - 1].width;
      continue;
    }
    tsl__expr d = count_next(x, top);
    if (!d) continue;
    if (done.visits.n * 2 >= done.slot_count && !tsl__graph_grow(&x->alloc, &done))
      tsl__expr_no_memory(x);
    uint32_t seen = x->status == TSL_OK ? *tsl__graph_slot(&done, d) : 0;
    if (seen) {
      uint32_t known = done.visits.at[seen - 1].cost;
      if (known == 0)
        finite = false; /* on the way to itself */
      else
        top->total += (uint64_t)(known - 1) * top->width;
      continue;
    }
    if (top->total > limit) { /* every state can be reached: so many there are */
      last_total = (uint64_t)limit + 1;
      break;
    }
    if (!count_later(x, &c, d) || !tsl__vec_push(&x->alloc, &stack, c) ||
        !tsl__graph_add(&x->alloc, &done, (tsl__visit){d, 0, 0, 0}, 0))
      tsl__expr_no_memory(x);
  }
  tsl__vec_free(&x->alloc, &stack);
  tsl__graph_free(&x->alloc, &done);
  if (finite) *count = (uint32_t)last_total;
  return finite && x->status == TSL_OK;
}

typedef struct listing {
  tsl__expr e, below; /* where the last byte led */
  uint32_t next;      /* byte to go on with */
  tsl__bytes edges;   /* bytes from which on others may lead elsewhere */
} listing;

static listing listing_of(tsl__exprs *x, tsl__expr e) {
  listing l = {.e = e};
  tsl__boundaries(x, e, &l.edges);
  tsl__bytes_add(&l.edges, 0);
  return l;
}

/* The next byte that leads anywhere, and where; 256: there is none. */
static uint32_t next_byte(tsl__exprs *x, listing *l) {
  while (l->next < 256) {
    uint32_t byte = l->next++;
    if (tsl__bytes_has(&l->edges, byte))
      l->below = tsl__exprs_step(x) ? tsl__derive_plain(x, l->e, (uint8_t)byte) : TSL__NONE;
    if (l->below) return byte;
    l->next = tsl__edge_from(&l->edges, l->next);
  }
  return 256;
}

bool tsl__expr_members(tsl__exprs *x, tsl__expr e,
                       void (*member)(void *ctx, const uint8_t *at, uint32_t n), void *ctx) {
  TSL__VEC(listing) stack = {0};
  TSL__VEC(uint8_t) text = {0};
  bool fine = e == TSL__NONE || tsl__vec_push(&x->alloc, &stack, listing_of(x, e));
  if (e && tsl__expr_nullable(x, e)) member(ctx, text.at, 0);
  while (fine && stack.n && x->status == TSL_OK) {
    listing *top = &stack.at[stack.n - 1];
    uint32_t byte = next_byte(x, top);
    tsl__expr below = top->below;
    if (byte == 256) {
      stack.n--;
      text.n -= text.n > 0;
      continue;
    }
    fine = tsl__vec_push(&x->alloc, &text, (uint8_t)byte) &&
           tsl__vec_push(&x->alloc, &stack, listing_of(x, below));
    if (fine && tsl__expr_nullable(x, below)) member(ctx, text.at, (uint32_t)text.n);
  }
  if (!fine) tsl__expr_no_memory(x);
  tsl__vec_free(&x->alloc, &stack);
  tsl__vec_free(&x->alloc, &text);
  return x->status == TSL_OK;
}
