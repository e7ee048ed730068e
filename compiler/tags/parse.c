/* parse.c - from text back to calls: following a text through the grammar's own states, and noting
 * where captured frames begin and end.
 *
 * Idea       A thread is one way to read the text so far. It has a stack of frames, and a list of
 *            notes "frame with capture M begins / ends at byte n". Stacks and notes are lists with
 *            shared tails, stacks are interned. A byte moves every thread through the states that
 *            the matcher uses; equal stacks are one thread.
 * Ambiguity  Threads are ordered, and of threads with equal stacks the first stays. Values are an
 *            exception: a reading as JSON is preferred to one as a bare string. At each byte a
 *            thread first ends its frame, then goes on in it, then calls. So a part ends as early
 *            as it can, and begins as late as it can. At the end the first complete thread counts.
 * Empty      A tag with nothing in it whose end is empty reads no byte. Its begin and end are noted
 *            where the frame around it ends, if that frame cannot be empty without the tag.
 * Streaming  What all threads agree on is final: the notes up to their last common one, and the
 *            text before the first other one. Text that may become a tag's begin or end is held
 *            back until this is decided, and so is half a character.
 * Example    The grammar has the call "<f>" [a-z]+ "</f>" in free text, and "Hi <f>ab</f>" is read.
 *            After "Hi " there is one thread, in free text. After "<f>" a frame with the capture f
 *            has begun: the thread's list has the note (begin f, byte 6). "ab" moves it on. "</f>"
 *            ends the captured frame: (end f, byte 12), behind the first note. Both notes have one
 *            thread, so they are final: events.c reports the text "Hi " and the call.
 *            Had "<f" been followed by a space, no rule would begin there. Another thread, which
 *            read "<f" as free text, would be the only one left, and its list has no note.
 * Stacks     Two threads in one frame share what lies below. A frame is (state, register, frame
 *            below) and is interned, so equal stacks have one number, and a comparison of numbers
 *            is enough.
 * Steps      `step` moves one thread by one byte. `land` says where it arrives: in the state
 *            itself, or in states that it calls (`entered` notes their begin). Where the frame may
 *            be over, it arrives in the frame below (land_below notes the end). Forks land in each
 *            of their branches.
 * Tables     An answer grows states and expressions, as a text of a matcher does. So each is read
 *            where new matchers begin (runtime/matcher/generation.h, matcher/edition.h), and is
 *            finished there.
 * Tokens     Where the grammar names special tokens, a token is one step of its own, beside the
 *            steps by the bytes that it spells.
 * Cost       Tens of nanoseconds a byte and thread (one, but for ambiguous grammars); memory: the
 *            text, and 24 bytes for each different stack.
 * Tested by  tests/tags/test_tags.c, tests/tags/test_answers.c, tests/programs/test_tools.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/tags/parser.h"
#include "runtime/matcher/generation.h"
#include "runtime/walk/names.h"

#define THREADS_MAX 4096u
#define DEPTH_MAX 20000u /* frames closed and opened before one byte is read */

/* ---- frames and notes ------------------------------------------------------------------------ */

void *tsl__parser_failed(tsl_parser *p, tsl_status status) {
  if (p->status == TSL_OK) p->status = status;
  return NULL;
}

static uint32_t frame_of(tsl_parser *p, frame f) {
  uint64_t hash = tsl__mix(((uint64_t)f.state << 32 | f.parent) +
                           (uint64_t)f.count * 0x9e3779b97f4a7c15u + f.capture);
  tsl__index_iter it = tsl__index_first(&p->index, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;)
    if (!memcmp(&p->frames.at[i], &f, sizeof f)) return i;
  if (!tsl__vec_push(&p->alloc, &p->frames, f) ||
      !tsl__index_add(&p->index, &p->alloc, hash, (uint32_t)p->frames.n - 1))
    tsl__parser_failed(p, TSL_ERR_NO_MEMORY);
  return (uint32_t)p->frames.n - 1;
}

static uint32_t note_add(tsl_parser *p, uint32_t before, uint32_t capture, bool begin) {
  note n = {before, before ? p->notes.at[before - 1].depth + 1 : 1, capture, begin, p->text.n};
  if (!tsl__vec_push(&p->alloc, &p->notes, n)) tsl__parser_failed(p, TSL_ERR_NO_MEMORY);
  return (uint32_t)p->notes.n;
}

static tsl__space *space_of(const tsl_parser *p) { return p->grammar->space; }
const tsl__capture *tsl__parser_capture_at(const tsl_parser *p, uint32_t capture) {
  return tsl__capture_at(p->captures, capture - 1);
}

/* The capture of a frame that begins in this state, + 1. */
static uint32_t capture_of_state(const tsl_parser *p, tsl__state state) {
  const tsl__state_rec *r = tsl__state_at(space_of(p), state);
  if (r->flags & TSL__STATE_FORK) return 0;
  const tsl__capture *m = tsl__capture_of(tsl__states_exprs(space_of(p)), r->handle);
  return m && m->kind != TSL__CAPTURE_NONE ? m->number + 1 : 0;
}

static uint32_t depth_of(const tsl_parser *p, uint32_t n) {
  return n ? p->notes.at[n - 1].depth : 0;
}

/* The last note that both lists have. */
uint32_t tsl__parser_common(const tsl_parser *p, uint32_t a, uint32_t b) {
  while (a != b) {
    if (depth_of(p, a) >= depth_of(p, b))
      a = p->notes.at[a - 1].before;
    else
      b = p->notes.at[b - 1].before;
  }
  return a;
}

/* Of two ways to the same stack: does `a` begin with a kind of value that goes before that of
 * `b`? */
static bool goes_before(const tsl_parser *p, uint32_t a, uint32_t b) {
  uint32_t before = tsl__parser_common(p, a, b), kinds[2] = {0, 0}, at[2] = {a, b};
  for (int i = 0; i < 2; i++)
    for (; at[i] != before; at[i] = p->notes.at[at[i] - 1].before)
      kinds[i] = p->notes.at[at[i] - 1].begin
                     ? tsl__parser_capture_at(p, p->notes.at[at[i] - 1].capture)->kind
                     : 0;
  return kinds[0] >= TSL__CAPTURE_VALUE && kinds[0] < kinds[1] && kinds[1] <= TSL__CAPTURE_OBJECT;
}

/* ---- one step -------------------------------------------------------------------------------- */

static void land(tsl_parser *p, tsl__state state, uint32_t count, const frame *from,
                 uint32_t notes);

/* A frame is over: go on in the one below; `names`: with the name that it spelled. */
static void land_below(tsl_parser *p, const frame *from, const tsl__keyed *names, uint32_t notes) {
  const frame below = p->frames.at[from->parent - 1];
  tsl__state state = below.state;
  uint32_t count = below.count;
  if (from->capture) notes = note_add(p, notes, from->capture, false);
  if (names) {
    tsl__target to = tsl__resume_to(space_of(p), state, names->range[0].lo);
    if (!to) return;
    state = tsl__target_resolve(space_of(p), to, 0, &count);
  }
  land(p, state, count, &below, notes);
}

static void land(tsl_parser *p, tsl__state state, uint32_t count, const frame *from,
                 uint32_t notes) {
  const tsl__state_rec *r = tsl__state_expanded(space_of(p), state);
  if (!r) return;
  const tsl__keyed *names = r->flags & TSL__STATE_KEYED ? r->keyed : NULL;
  if (names &&
      (!from->parent || !tsl__resume_any(space_of(p), p->frames.at[from->parent - 1].state, names)))
    return;
  if (r->flags & TSL__STATE_FORK) {
    for (uint32_t i = 0; i < r->edges; i++) {
      uint32_t c;
      tsl__state to = tsl__target_resolve(space_of(p), tsl__state_edges(r)[i].to, count, &c);
      land(p, to, c, from, notes);
    }
    return;
  }
  if ((r->flags & TSL__STATE_FINAL) && from->parent) { /* it is over: say so at once */
    land_below(p, from, names, notes);
    return;
  }
  thread t = {frame_of(p, (frame){state, count, from->parent, from->capture}), notes};
  for (size_t i = 0; i < p->next.n; i++) {
    if (p->next.at[i].frame != t.frame) continue;
    if (goes_before(p, t.notes, p->next.at[i].notes)) p->next.at[i].notes = t.notes;
    return;
  }
  if (p->next.n >= THREADS_MAX)
    tsl__parser_failed(p, TSL_ERR_LIMIT);
  else if (!tsl__vec_push(&p->alloc, &p->next, t))
    tsl__parser_failed(p, TSL_ERR_NO_MEMORY);
}

static bool entered(tsl_parser *p, thread t) {
  for (size_t i = 0; i < p->entered.n; i++) {
    if (p->entered.at[i].frame != t.frame) continue;
    if (!goes_before(p, t.notes, p->entered.at[i].notes)) return true;
    p->entered.at[i].notes = t.notes;
    return false;
  }
  if (!tsl__vec_push(&p->alloc, &p->entered, t)) tsl__parser_failed(p, TSL_ERR_NO_MEMORY);
  return false;
}

static bool takes(const tsl__token_edge *e, tsl_token token) {
  bool listed = false;
  for (uint32_t i = 0; i < e->count && !listed; i++) listed = e->tokens[i] == token;
  return listed != e->complement;
}

/* May it be empty without any captured frame in it? */
static bool empty_by_itself(const tsl__exprs *x, tsl__expr e) {
  for (;;) {
    const tsl__node n = tsl__node_at(x, e);
    const tsl__capture *m;
    if (!tsl__expr_nullable(x, e)) return false;
    if (!(n.flags & TSL__CALLS)) return true;
    if (n.kind == TSL__K_RULE) return !(m = tsl__capture_of(x, e)) || m->kind == TSL__CAPTURE_NONE;
    if (n.kind == TSL__K_ALT) {
      bool any = false;
      for (uint32_t i = 0; i < n.b && !any; i++) any = empty_by_itself(x, tsl__list_at(x, n.a)[i]);
      return any;
    }
    if (n.kind != TSL__K_SEQ) return true;
    if (!empty_by_itself(x, n.a)) return false;
    e = n.b;
  }
}

/* Where a frame ends in this state. Adds the notes of the captured frames that begin and end there,
 * with nothing in them, if it cannot end without. */
static uint32_t notes_of_empty(tsl_parser *p, tsl__state state, uint32_t count, uint32_t notes,
                               uint32_t depth) {
  const tsl__exprs *x = tsl__states_exprs(space_of(p));
  const tsl__state_rec *r = tsl__state_expanded(space_of(p), state);
  if (!r || !r->edges || (r->flags & TSL__STATE_FORK) || depth > TSL__TAGS_DEPTH) return notes;
  const tsl__capture *own = tsl__capture_of(x, r->handle);
  if (empty_by_itself(x, own ? own->body : r->handle)) return notes;
  for (uint32_t i = 0; i < r->edges; i++) {
    uint32_t c, to_count;
    tsl__state callee = tsl__target_resolve(space_of(p), tsl__state_edges(r)[i].to, 0, &c),
               to = tsl__target_resolve(space_of(p), tsl__state_edges(r)[i].push, count, &to_count);
    const tsl__state_rec *called = tsl__state_expanded(space_of(p), callee),
                         *back = tsl__state_expanded(space_of(p), to);
    if (!called || !back || !(called->flags & back->flags & TSL__STATE_NULLABLE)) continue;
    uint32_t capture = capture_of_state(p, callee);
    if (capture) notes = note_add(p, notes, capture, true);
    notes = notes_of_empty(p, callee, c, notes, depth + 1);
    if (capture) notes = note_add(p, notes, capture, false);
    return notes_of_empty(p, to, to_count, notes, depth + 1);
  }
  return notes;
}

/* The notes of a frame that ends here. */
static uint32_t notes_of_end(tsl_parser *p, const frame *f, uint32_t notes) {
  notes = notes_of_empty(p, f->state, f->count, notes, 0);
  return f->capture ? note_add(p, notes, f->capture, false) : notes;
}

/* A byte, or a token as one step (token other than TSL_NO_TOKEN). p->text already holds what is
 * read. `notes` are made at its length, which the caller sets. */
static void step(tsl_parser *p, uint32_t at, uint32_t notes, uint8_t byte, tsl_token token) {
  const frame f = p->frames.at[at];
  const tsl__state_rec *r = tsl__state_expanded(space_of(p), f.state);
  if (!r || p->status != TSL_OK || entered(p, (thread){at, notes})) return;
  if (++p->depth > DEPTH_MAX) {
    tsl__parser_failed(p, TSL_ERR_LIMIT);
    return;
  }
  if ((r->flags & TSL__STATE_NULLABLE) && f.parent)
    step(p, f.parent - 1, notes_of_end(p, &f, notes), byte, token);
  if (token == TSL_NO_TOKEN && tsl__bytes_has(&r->live, byte)) {
    uint32_t c = 0;
    tsl__target target = tsl__state_step(space_of(p), r, byte);
    tsl__state to = target ? tsl__target_resolve(space_of(p), target, f.count, &c) : 0;
    p->text.n++; /* what ends with this byte ends after it */
    if (to) land(p, to, c, &f, notes);
    p->text.n--;
  }
  for (uint32_t i = 0; token != TSL_NO_TOKEN && i < r->token_edges; i++) {
    uint32_t c;
    size_t length;
    if (!takes(&tsl__state_token_edges(r)[i], token)) continue;
    tsl_vocab_bytes(p->grammar->vocab, token, &length);
    tsl__state to = tsl__target_resolve(space_of(p), tsl__state_token_edges(r)[i].to, f.count, &c);
    p->text.n += length;
    land(p, to, c, &f, notes);
    p->text.n -= length;
  }
  for (uint32_t i = 0; i < r->edges && !(r->flags & TSL__STATE_FORK); i++) {
    uint32_t c, back_count;
    tsl__state callee = tsl__target_resolve(space_of(p), tsl__state_edges(r)[i].to, 0, &c);
    tsl__state back =
        tsl__target_resolve(space_of(p), tsl__state_edges(r)[i].push, f.count, &back_count);
    const tsl__state_rec *b = tsl__state_expanded(space_of(p), back),
                         *called = tsl__state_expanded(space_of(p), callee);
    if (!b || !called) return;
    if (token == TSL_NO_TOKEN && !(called->flags & (TSL__STATE_NULLABLE | TSL__STATE_FORK)) &&
        !called->edges && !tsl__bytes_has(&called->live, byte))
      continue;
    for (uint32_t k = 0; k < ((b->flags & TSL__STATE_FORK) ? b->edges : 1u); k++) {
      uint32_t count = back_count;
      tsl__state to = back;
      if (b->flags & TSL__STATE_FORK)
        to = tsl__target_resolve(space_of(p), tsl__state_edges(b)[k].to, back_count, &count);
      uint32_t below = frame_of(p, (frame){to, count, f.parent, f.capture}),
               capture = capture_of_state(p, callee);
      uint32_t called_frame = frame_of(p, (frame){callee, c, below + 1, capture});
      step(p, called_frame, capture ? note_add(p, notes, capture, true) : notes, byte, token);
    }
  }
}

static bool all_threads(tsl_parser *p, uint8_t byte, tsl_token token, bool keep) {
  if (!keep) p->next.n = 0;
  p->entered.n = p->depth = 0;
  for (size_t i = 0; i < p->now.n; i++)
    step(p, p->now.at[i].frame, p->now.at[i].notes, byte, token);
  return p->next.n > 0;
}

static void swap(tsl_parser *p) {
  threads t = p->now;
  p->now = p->next;
  p->next = t;
}

static bool read_byte(tsl_parser *p, uint8_t byte) {
  if (!all_threads(p, byte, TSL_NO_TOKEN, false)) return false;
  swap(p);
  p->text.at[p->text.n++] = (char)byte;
  return true;
}

/* Threads at the beginning. */
void tsl__parser_begin(tsl_parser *p) {
  const tsl__stack_rec *r = tsl__stack_at(space_of(p), p->grammar->begin);
  for (uint32_t i = 0; i < r->n; i++) {
    const tsl__cell *c = tsl__stack_cell(space_of(p), r, i);
    uint32_t capture = capture_of_state(p, c->state);
    thread t = {frame_of(p, (frame){c->state, c->count, 0, capture}), 0};
    if (capture) t.notes = note_add(p, 0, capture, true);
    if (!tsl__vec_push(&p->alloc, &p->now, t)) tsl__parser_failed(p, TSL_ERR_NO_MEMORY);
  }
}

/* ---- the public calls ------------------------------------------------------------------------ */

static void lock(tsl_parser *p) { tsl__grammar_lock(p->grammar); }

static tsl_status unlock(tsl_parser *p) {
  tsl_status status = tsl__grammar_unlock(p->grammar);
  if (p->status == TSL_OK) p->status = status;
  return p->status;
}

/* Nothing of an answer has been read. */
static void begin(tsl_parser *p) {
  p->now.n = p->notes.n = p->text.n = p->held.n = p->open.n = p->parts.n = p->call_parts.n =
      p->parts_read = p->parts_text.n = p->reported = p->calls = p->members = 0;
  p->reported_to = 0;
  p->raw.n = p->ends.n = 0;
  p->finished = p->refused = p->is_mended = p->cut = p->begun = false;
  p->skipped = 0;
  p->behind = TSL__BEHIND_NOTHING;
  p->behind_at = p->in_members = 0;
  p->status = TSL_OK;
  lock(p);
  tsl__parser_begin(p);
  unlock(p);
}

/* The tables in which the next answer is read. Frames are numbers of states there. */
static void read_in(tsl_parser *p, tsl_grammar *grammar) {
  if (p->grammar != grammar) {
    p->frames.n = 0;
    tsl__index_free(&p->index, &p->alloc);
  }
  p->grammar = grammar;
  p->tagged = grammar->front;
  p->captures = p->tagged->captures;
  p->mender = p->tagged->mender;
}

tsl_status tsl_parser_new(tsl_grammar *grammar, const tsl_allocator *allocator, tsl_parser **out) {
  *out = NULL;
  if (!grammar) return TSL_ERR_ARGUMENT;
  if (!grammar->front) return TSL_ERR_STATE;
  if (!allocator) allocator = &grammar->alloc;
  tsl_parser *p = tsl__alloc_zero(allocator, sizeof *p);
  if (!p) return TSL_ERR_NO_MEMORY;
  p->alloc = *allocator;
  tsl__arena_init(&p->arena, &p->alloc);
  tsl__timed call = tsl__timed_begin(grammar->space->work.deadline_us);
  read_in(p, tsl__grammar_now(grammar));
  begin(p);
  tsl__timed_end(call);
  if (p->status != TSL_OK) {
    tsl_status status = p->status;
    tsl_parser_free(p);
    return status;
  }
  *out = p;
  return TSL_OK;
}

void tsl_parser_free(tsl_parser *p) {
  if (!p) return;
  tsl_allocator a = p->alloc;
  tsl__vec_free(&a, &p->frames);
  tsl__index_free(&p->index, &a);
  tsl__vec_free(&a, &p->notes);
  tsl__vec_free(&a, &p->now);
  tsl__vec_free(&a, &p->next);
  tsl__vec_free(&a, &p->saved);
  tsl__vec_free(&a, &p->entered);
  tsl__vec_free(&a, &p->text);
  tsl__vec_free(&a, &p->open);
  tsl__vec_free(&a, &p->parts);
  tsl__vec_free(&a, &p->call_parts);
  tsl__vec_free(&a, &p->parts_text);
  tsl__vec_free(&a, &p->key);
  tsl__vec_free(&a, &p->json);
  tsl__vec_free(&a, &p->held);
  tsl__vec_free(&a, &p->raw);
  tsl__vec_free(&a, &p->ends);
  tsl__arena_free(&p->arena);
  tsl_grammar_release(p->grammar);
  tsl__free(&a, p, sizeof *p);
}

void tsl_parser_reset(tsl_parser *p) {
  tsl__timed call = tsl__timed_begin(p->grammar->space->work.deadline_us);
  read_in(p, tsl__grammar_renew(p->grammar));
  begin(p);
  tsl__timed_end(call);
}

/* Keep the threads, so that a rejection changes nothing. */
static bool save(tsl_parser *p, size_t more) {
  p->saved.n = 0;
  /* a failure at the beginning left no way */
  if (!p->now.n) return tsl__parser_failed(p, TSL_ERR_STATE), false;
  if (!tsl__vec_reserve(&p->alloc, &p->saved, p->now.n) ||
      !tsl__vec_reserve(&p->alloc, &p->text, more))
    return tsl__parser_failed(p, TSL_ERR_NO_MEMORY), false;
  memcpy(p->saved.at, p->now.at, p->now.n * sizeof *p->now.at);
  p->saved.n = p->now.n;
  return true;
}

/* The lists change places: that of `now` may be the smaller one, as every byte swaps it. */
static void restore(tsl_parser *p, size_t length) {
  threads rejected = p->now;
  p->now = p->saved;
  p->saved = rejected;
  p->text.n = length;
}

/* The special token that the text spells here and that some thread takes as one step; its length, 0
 * if there is none. *begun: the text ends before it is known whether it spells one. */
static size_t spelled_token(tsl_parser *p, const char *text, size_t n, bool *begun) {
  const tsl_vocab *v = p->grammar->vocab;
  *begun = false;
  if (!space_of(p)->names_tokens) return 0;
  for (tsl_token t = 0; t < v->size; t++) {
    size_t length = v->offsets[t + 1] - v->offsets[t], both = length < n ? length : n;
    if (!v->special[t] || !length || v->bytes[v->offsets[t]] != (uint8_t)text[0] ||
        memcmp(v->bytes + v->offsets[t], text, both))
      continue;
    if ((both < length && *begun) || !all_threads(p, 0, t, false)) continue;
    if (both == length) return length;
    *begun = true;
  }
  return 0;
}

/* What was held back, and then the text. */
static const char *with_held(tsl_parser *p, const char *text, size_t *length) {
  if (!p->held.n) return text;
  tsl__parser_put(p, &p->held, text, *length);
  *length = p->held.n;
  return p->held.at;
}

tsl_status tsl__parser_read_text(tsl_parser *p, const char *text, size_t length) {
  size_t before = p->text.n, held = p->held.n, i = 0;
  bool alive = true;
  if (p->finished) return TSL_ERR_STATE;
  if (p->status != TSL_OK) return p->status;
  text = with_held(p, text ? text : "", &length);
  if (p->status != TSL_OK || !save(p, length)) return p->status;
  lock(p);
  while (i < length && alive && p->status == TSL_OK) {
    /* the step budget is for a piece of work of that size */
    if (i % 4096 == 4095) tsl__space_begin(space_of(p));
    if (read_byte(p, (uint8_t)text[i])) {
      i++;
      continue;
    }
    bool begun;
    size_t n = spelled_token(p, text + i, length - i, &begun);
    alive = n || begun;
    if (!n) break;
    swap(p);
    memcpy(p->text.at + p->text.n, text + i, n);
    p->text.n += n;
    i += n;
  }
  tsl_status status = unlock(p);
  if (status == TSL_OK && !alive) status = TSL_REJECTED;
  if (status != TSL_OK) {
    restore(p, before);
    p->held.n = held;
    return status;
  }
  if (held) {
    memmove(p->held.at, text + i, length - i);
    p->held.n = length - i;
  } else {
    tsl__parser_put(p, &p->held, text + i, length - i);
  }
  tsl__parser_report_all(p);
  return p->status;
}

tsl_status tsl__parser_read_token(tsl_parser *p, tsl_token token) {
  const tsl_vocab *v = p->grammar->vocab;
  size_t length, before = p->text.n;
  const uint8_t *bytes = tsl_vocab_bytes(v, token, &length);
  if (p->finished) return TSL_ERR_STATE;
  if (!bytes) return TSL_ERR_ARGUMENT;
  if (tsl_vocab_is_eog(v, token)) return tsl__parser_read_end(p);
  if (!length) return p->status != TSL_OK ? p->status : TSL_REJECTED;
  if (p->held.n)
    return tsl_vocab_is_special(v, token) ? TSL_REJECTED
                                          : tsl__parser_read_text(p, (const char *)bytes, length);
  if (p->status != TSL_OK || !save(p, length)) return p->status;
  lock(p);
  bool spelled = !tsl_vocab_is_special(v, token);
  for (size_t i = 0; i < length && spelled; i++) spelled = read_byte(p, bytes[i]);
  threads read = p->now; /* by its bytes; then by its name, from where it was */
  if (space_of(p)->names_tokens) {
    p->now = p->saved;
    p->text.n = before;
    p->next.n = 0;
    if (spelled && tsl__vec_reserve(&p->alloc, &p->next, read.n))
      memcpy(p->next.at, read.at, read.n * sizeof *read.at), p->next.n = read.n;
    spelled = all_threads(p, 0, token, true);
    p->saved = p->now;
    p->now = read;
    if (spelled) {
      swap(p);
      memcpy(p->text.at + before, bytes, length);
      p->text.n = before + length;
    }
  }
  tsl_status status = unlock(p);
  if (status == TSL_OK && !spelled) status = TSL_REJECTED;
  if (status != TSL_OK)
    restore(p, before);
  else
    tsl__parser_report_all(p);
  return status != TSL_OK ? status : p->status;
}

static bool may_end(const tsl_parser *p, uint32_t at) {
  for (uint32_t f = at + 1; f; f = p->frames.at[f - 1].parent)
    if (!(tsl__state_at(space_of(p), p->frames.at[f - 1].state)->flags & TSL__STATE_NULLABLE))
      return false;
  return true;
}

tsl_status tsl__parser_read_end(tsl_parser *p) {
  if (p->finished || p->status != TSL_OK) return p->status;
  size_t i = 0;
  if (p->held.n) return TSL_REJECTED;
  while (i < p->now.n && !may_end(p, p->now.at[i].frame)) i++;
  if (i == p->now.n) return TSL_REJECTED;
  uint32_t notes = p->now.at[i].notes;
  lock(p);
  for (uint32_t f = p->now.at[i].frame + 1; f; f = p->frames.at[f - 1].parent) {
    const frame over = p->frames.at[f - 1];
    notes = notes_of_end(p, &over, notes);
  }
  if (unlock(p) != TSL_OK) return p->status;
  tsl__parser_report_notes(p, notes);
  tsl__parser_report_text(p, p->open.n ? p->text.n : tsl__gaps_at_end(p, p->text.n));
  p->finished = p->status == TSL_OK;
  return p->status;
}

tsl_status tsl_parser_text(tsl_parser *p, const char *text, size_t length) {
  return p->mender ? tsl__mending_text(p, text, length) : tsl__parser_read_text(p, text, length);
}

tsl_status tsl_parser_token(tsl_parser *p, tsl_token token) {
  return p->mender ? tsl__mending_token(p, token) : tsl__parser_read_token(p, token);
}

tsl_status tsl_parser_finish(tsl_parser *p) {
  return p->mender ? tsl__mending_finish(p) : tsl__parser_read_end(p);
}

bool tsl_parser_next(tsl_parser *p, tsl_part *out) {
  if (p->parts_read == p->parts.n) return false;
  if (p->mender && tsl__mending_holds(p, p->parts_read)) return false;
  const part *q = &p->parts.at[p->parts_read++];
  *out = (tsl_part){q->kind, q->call, p->parts_text.at + q->from, q->length};
  return true;
}
