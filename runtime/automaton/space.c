/* space.c - see space.h.
 *
 * Example   A mask may take 4,000,000 steps. The search counts each node of the trie. Every LOOK
 *           steps it comes here: is the deadline over, is the cancel flag set, is memory short? If
 *           one is, tsl__space_fail sets the status. All loops of the piece of work see that and
 *           end. What was walked to its end before stays; what was under way is not remembered.
 * Memory    is looked at less often where little has been added since the last look: up to a
 *           sixteenth of what is left may be added before the next one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/automaton/space.h"

#define LOOK 1024u /* steps from one look at time and memory to the next */
/* what part of the memory that is left the arena may take until memory is looked at again;
 * expressions and indexes grow beside it, several times as much */
#define ROOM 16u

void tsl__space_limits(tsl__space *s, const tsl_limits *limits) {
  static const tsl_limits no_limits = {0};
  if (!limits) limits = &no_limits;
  s->max_steps = limits->max_steps ? limits->max_steps : 4000000u;
  s->max_memory = limits->max_memory ? limits->max_memory : (uint64_t)256 << 20;
  s->max_stacks = limits->max_stacks ? limits->max_stacks : 4096;
  s->text_memory = limits->text_memory;
  s->cancel = limits->cancel;
  s->deadline_us = limits->deadline_us;
  s->deadline = tsl__deadline(s->deadline_us);
  s->look_at = LOOK;
  s->room_until = s->max_memory / ROOM;
  s->full_at = UINT64_MAX;
  s->cycle = UINT32_MAX;
}

/* A step budget of its own. */
static void next_piece(tsl__space *s) {
  s->earlier_steps += s->steps;
  s->steps = 0;
  /* pieces of few steps fill the tables, too */
  s->look_at = s->arena.total < s->room_until ? LOOK : 0;
  s->depth = 0;
  s->union_depth = 0;
  s->cycle = UINT32_MAX;
  if (s->hook && s->hook->begin) s->hook->begin(s->hook_ctx, s->deadline);
  if (!s->spelled) return;
  s->spelled->cancel = s->cancel;
  tsl__space_begin_by(s->spelled, s->deadline);
}

static void look_at_time(tsl__space *s) {
  if (tsl__cancelled(s->cancel)) tsl__space_fail(s, TSL_ERR_CANCELLED, "cancelled");
  if (tsl__expired(s->deadline)) tsl__space_fail(s, TSL_ERR_CANCELLED, "deadline_us: out of time");
}

void tsl__space_begin_by(tsl__space *s, uint64_t deadline) {
  s->status = TSL_OK;
  s->why = NULL;
  s->deadline = deadline;
  next_piece(s);
}

void tsl__space_begin(tsl__space *s) {
  tsl__space_begin_by(s, s->until ? s->until : tsl__deadline(s->deadline_us));
  if (s->until) look_at_time(s);
}

void tsl__space_go_on(tsl__space *s) {
  look_at_time(s);
  if (s->status == TSL_OK) next_piece(s);
}

tsl_status tsl__space_fail(tsl__space *s, tsl_status status, const char *why) {
  if (s->status == TSL_OK) {
    s->status = status;
    s->why = why;
  }
  return s->status;
}

bool tsl__space_no_memory(tsl__space *s) {
  return tsl__space_fail(s, TSL_ERR_NO_MEMORY, "out of memory"), false;
}

bool tsl__space_look(tsl__space *s) {
  s->look_at = s->steps - s->steps % LOOK + LOOK;
  if (s->steps > s->max_steps)
    tsl__space_fail(s, TSL_ERR_LIMIT, "max_steps: too much work for one mask or token");
  look_at_time(s);
  size_t memory = tsl__space_memory(s);
  if (memory > s->max_memory)
    tsl__space_fail(s, TSL_ERR_LIMIT, "max_memory: the grammar's tables are full");
  else
    s->room_until = s->arena.total + (s->max_memory - memory) / ROOM + 1;
  return s->status == TSL_OK;
}
