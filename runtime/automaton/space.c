/* space.c - see space.h.
 *
 * Example   A mask may take 4,000,000 steps. The search counts each node of the trie. Every LOOK
 *           steps it calls tsl__space_look: is the deadline over, is the cancel flag set, is the
 *           memory used up? In each of these cases tsl__space_fail sets the status. All loops of
 *           the piece of work see the status and end. Finished walks stay; the walk under way is
 *           dropped.
 * Memory    is measured less often where little was added. Up to a sixteenth of what is left may be
 *           added before the next measurement.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/automaton/space.h"

#define LOOK 1024u /* steps from one look at time and memory to the next */
/* what part of the memory that is left the arena may take until memory is looked at again.
 * Expressions and indexes grow beside it, several times as much */
#define ROOM 16u

void tsl__space_limits(tsl__space *s, const tsl_limits *limits) {
  static const tsl_limits no_limits = {0};
  if (!limits) limits = &no_limits;
  s->work.max_steps = limits->max_steps ? limits->max_steps : 4000000u;
  s->work.max_memory = limits->max_memory ? limits->max_memory : (uint64_t)256 << 20;
  s->positions.max_stacks = limits->max_stacks ? limits->max_stacks : 4096;
  s->work.text_memory = limits->text_memory;
  s->work.cancel = limits->cancel;
  s->work.deadline_us = limits->deadline_us;
  s->work.deadline = tsl__deadline(s->work.deadline_us);
  s->work.look_at = LOOK;
  s->work.room_until = s->work.max_memory / ROOM;
  s->work.full_at = UINT64_MAX;
  s->walking.cycle = UINT32_MAX;
}

/* A step budget of its own. */
static void next_piece(tsl__space *s) {
  s->work.earlier_steps += s->work.steps;
  s->work.steps = 0;
  /* pieces of few steps fill the tables, too */
  s->work.look_at = s->arena.total < s->work.room_until ? LOOK : 0;
  s->walking.depth = 0;
  s->positions.union_depth = 0;
  s->walking.cycle = UINT32_MAX;
  if (s->hook && s->hook->life.begin) s->hook->life.begin(s->hook_ctx, s->work.deadline);
  if (!s->positions.spelled) return;
  s->positions.spelled->work.cancel = s->work.cancel;
  tsl__space_begin_by(s->positions.spelled, s->work.deadline);
}

static void look_at_time(tsl__space *s) {
  if (tsl__cancelled(s->work.cancel)) tsl__space_fail(s, TSL_ERR_CANCELLED, "cancelled");
  if (tsl__expired(s->work.deadline))
    tsl__space_fail(s, TSL_ERR_CANCELLED, "deadline_us: out of time");
}

void tsl__space_begin_by(tsl__space *s, uint64_t deadline) {
  s->status = TSL_OK;
  s->why = NULL;
  s->work.deadline = deadline;
  next_piece(s);
}

void tsl__space_begin(tsl__space *s) {
  tsl__space_begin_by(s, s->work.until ? s->work.until : tsl__deadline(s->work.deadline_us));
  if (s->work.until) look_at_time(s);
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
  s->work.look_at = s->work.steps - s->work.steps % LOOK + LOOK;
  if (s->work.steps > s->work.max_steps)
    tsl__space_fail(s, TSL_ERR_LIMIT, "max_steps: too much work for one mask or token");
  look_at_time(s);
  size_t memory = tsl__space_memory(s);
  if (memory > s->work.max_memory)
    tsl__space_fail(s, TSL_ERR_LIMIT, "max_memory: the grammar's tables are full");
  else
    s->work.room_until = s->arena.total + (s->work.max_memory - memory) / ROOM + 1;
  return s->status == TSL_OK;
}
