/* plan_landings.c - the positions that the tokens of a vocabulary lead to: see plan.h.
 *
 * Problem   A mask under a budget needs the plan of every position that an allowed token leads to.
 *           There are 100,000 tokens, and a step of a position costs more than a step of a state.
 * Idea      The search goes down the trie of all tokens with a position for each node: where a byte
 *           may not follow, the subtree is skipped. Many tokens share the same few positions. So a
 *           row of 256 entries keeps where each byte leads from a position. A byte that leads from
 *           a position back to it is noted. Where all bytes below a node lead back, the whole
 *           subtree is handed over at once, as a range of the trie's order.
 * Example   Inside a string every letter leads back to the same position: the subtree under "a" is
 *           one range. The subtree under `"` is searched, because the string ends there.
 * Forget    Names and items that must differ make every text a position of its own. Landings forget
 *           them: see plan.h.
 * Cost      Each node of the trie that may follow is visited once. A position's row costs one step
 *           for each byte that some token has there. 64 rows are kept; a new one replaces an old
 *           one.
 * Tested by tests/decode/test_budget.c, tests/decode/test_budget_items.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/decode/plan_table.h"
#include "runtime/position/distinct_run.h"

typedef struct spelled {
  uint32_t node;
  tsl__stack at; /* after the bytes up to the node */
  bool whole;    /* no item that was under way has been forgotten, or has ended */
} spelled;

/* One byte on in a token; 0 on failure, or where it leads nowhere after all. */
static tsl__stack land(tsl__planner *p, tsl__stack at, uint8_t byte, bool *whole) {
  tsl__space *space = tsl__plan_space(p);
  bool forgot = false;
  *whole = *whole && !tsl__distinct_passes(space, at, byte);
  tsl__stack to = *whole ? tsl__distinct_byte_forget(space, at, byte, &forgot)
                         : tsl__stack_byte(space, at, byte);
  *whole = *whole && !forgot;
  return to ? tsl__distinct_blank(space, to) : 0;
}

/* The row of a position, which another may have had; NULL on failure. */
static tsl__byte_row *row_of(tsl__planner *p, const spelled *s) {
  if (!p->rows && !(p->rows = tsl__alloc_zero(&p->alloc, TSL__BYTE_ROWS * sizeof *p->rows)))
    return tsl__plan_no_memory(p), NULL;
  tsl__byte_row *row = &p->rows[tsl__mix(s->at) % TSL__BYTE_ROWS];
  if (row->at == s->at && row->whole == s->whole) return row;
  row->at = 0;
  row->whole = s->whole;
  row->known = row->stays = row->wholes = (tsl__bytes){0};
  if (!tsl__stack_next(tsl__plan_space(p), s->at, &row->next)) return NULL;
  row->at = s->at;
  return row;
}

/* Where one of the bytes leads that may follow; 0 on failure, or where it leads nowhere after
 * all. */
static tsl__stack row_byte(tsl__planner *p, tsl__byte_row *row, uint8_t byte) {
  if (tsl__bytes_has(&row->known, byte)) return row->to[byte];
  bool whole = row->whole;
  tsl__stack to = land(p, row->at, byte, &whole);
  if (!tsl__plan_fine(p)) return 0;
  row->to[byte] = to;
  tsl__bytes_add(&row->known, byte);
  if (whole) tsl__bytes_add(&row->wholes, byte);
  if (to == row->at && whole == row->whole) tsl__bytes_add(&row->stays, byte);
  return to;
}

/* Do all bytes below a node lead from a position back to it? */
static bool stays(tsl__planner *p, tsl__byte_row *row, const tsl__trie_node *node) {
  if (node->below == UINT16_MAX) return false;
  const tsl__bytes *below = &tsl__plan_space(p)->vocab->trie.sets[node->below];
  for (int i = 0; i < 4; i++)
    if (below->w[i] & (~row->next.w[i] | (row->known.w[i] & ~row->stays.w[i]))) return false;
  for (int i = 0; i < 4; i++)
    for (uint64_t left = below->w[i] & ~row->stays.w[i]; left; left &= left - 1) {
      uint8_t byte = (uint8_t)(i * 64 + __builtin_ctzll(left));
      if (!row_byte(p, row, byte) || !tsl__bytes_has(&row->stays, byte)) return false;
    }
  return tsl__plan_fine(p);
}

bool tsl__planner_landings(tsl__planner *p, tsl__stack at, tsl__landing visit, void *ctx) {
  tsl__space *space = tsl__plan_space(p);
  const tsl__trie *trie = &space->vocab->trie;
  TSL__VEC(spelled) todo = {0};
  spelled s = {0, tsl__distinct_blank(space, at), tsl__plan_begins_whole(p)};
  bool more = true;
  if (!tsl__vec_push(&p->alloc, &todo, s)) tsl__plan_no_memory(p);
  for (uint32_t steps = 0; more && todo.n && tsl__plan_fine(p); steps++) {
    if (steps % 1024 == 0) tsl__space_go_on(space);
    s = todo.at[--todo.n];
    const tsl__trie_node *node = &trie->nodes[s.node];
    tsl__byte_row *row = node->children ? row_of(p, &s) : NULL;
    if (s.node && row && stays(p, row, node)) {
      more = visit(ctx, s.at, trie->order + node->begin, node->end - node->begin);
      continue;
    }
    if (s.node && node->begin < node->own_end)
      more = visit(ctx, s.at, trie->order + node->begin, node->own_end - node->begin);
    /* what was visited may have requested others */
    row = node->children && more && tsl__plan_fine(p) ? row_of(p, &s) : NULL;
    for (uint32_t c = node->first_child;
         row && c < node->first_child + node->children && tsl__plan_fine(p); c++) {
      uint8_t byte = trie->nodes[c].byte;
      spelled t = {c, tsl__bytes_has(&row->next, byte) ? row_byte(p, row, byte) : 0, false};
      t.whole = tsl__bytes_has(&row->wholes, byte);
      if (t.at && !tsl__vec_push(&p->alloc, &todo, t)) tsl__plan_no_memory(p);
    }
  }
  tsl__vec_free(&p->alloc, &todo);
  return tsl__plan_fine(p);
}

tsl__stack tsl__planner_landing(tsl__planner *p, tsl__stack at, tsl_token token) {
  tsl__space *space = tsl__plan_space(p);
  const tsl_vocab *v = space->vocab;
  bool whole = tsl__plan_begins_whole(p);
  if (space->names_tokens) return tsl__stack_token(space, at, token);
  at = tsl__distinct_blank(space, at);
  for (uint32_t i = v->offsets[token]; at && i < v->offsets[token + 1]; i++)
    at = land(p, at, v->bytes[i], &whole);
  return at;
}

bool tsl__planner_named_landings(tsl__planner *p, tsl__stack at, tsl__landing visit, void *ctx) {
  tsl__space *space = tsl__plan_space(p);
  const tsl_vocab *v = space->vocab;
  if (!space->names_tokens) return true;
  tsl__mask mask = tsl__stack_mask(space, at);
  for (tsl_token t = 0; t < v->size && tsl__plan_fine(p); t++) {
    if (t % 1024 == 0) tsl__space_go_on(space);
    if (!tsl__mask_has(space, mask, t) || tsl_vocab_is_eog(v, t)) continue;
    tsl__stack to = tsl__stack_token(space, at, t);
    if (to && !visit(ctx, to, &t, 1)) break;
  }
  return tsl__plan_fine(p);
}
