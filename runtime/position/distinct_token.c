/* distinct_token.c - where bytes and tokens lead from a position with a distinct record. See
 * distinct.h.
 *
 * A token is followed in the first of four ways that applies:
 *   unstructured  the token has nothing of JSON's structure and no name is under way: the plain
 *                 position moves, and the record stays (without the lock: tsl__distinct_find)
 *   in a name     the plain position moves, and the name grows by the token's bytes
 *   beside        the plain position moves, and the bytes are read for their structure (`follow`).
 *                 No item that must be new begins in the token, and nothing is repeated
 *   stepped       frames and record go byte by byte (tsl__run_token). If an item or a name is still
 *                 watched, a search decides whether a text can end (tsl__run_alive)
 *
 * Example   After {"a":1,"b": the token `true` is unstructured. The token `2,"` is followed beside:
 *           its comma makes the object expect a name, and its quote begins one.
 * Cost      The first three cost one plain move and the bytes of the token.
 * Tested by tests/position/test_distinct.c, tests/position/test_distinct_tokens.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/position/distinct_run.h"

tsl__stack tsl__distinct_bytes(tsl__space *space, tsl__stack from, const uint8_t *bytes, size_t n,
                               size_t *accepted) {
  tsl__run *r = tsl__run_take(space);
  size_t i = 0;
  bool fine = r && tsl__run_load(space, r, from);
  for (; fine && i < n; i++) {
    if (i % TSL__PIECE == TSL__PIECE - 1) tsl__space_begin(space);
    if (!(fine = tsl__run_byte(space, r, bytes[i]))) break;
    if (tsl__run_watched(space, r) && !(fine = tsl__run_alive(space, r))) break;
  }
  if (accepted) *accepted = i;
  tsl__stack to = fine && space->status == TSL_OK ? tsl__run_position(space, r) : 0;
  tsl__run_give(space, r);
  return to;
}

bool tsl__run_token(tsl__space *space, tsl__run *r, tsl__stack from, tsl_token token) {
  const tsl_vocab *v = space->vocab;
  uint32_t begin = v->offsets[token], end = v->offsets[token + 1];
  if (v->special[token] || begin == end || !tsl__run_load(space, r, from)) return false;
  for (uint32_t i = begin; i < end; i++)
    if (!tsl__run_byte(space, r, v->bytes[i])) return false;
  return true;
}

/* Has the token nothing in it that means anything to the distinct record, unless it begins or ends
 * something new? */
static bool is_unstructured(const tsl__space *space, const tsl__with_distinct *p, tsl_token token) {
  const tsl__distinct *m = tsl__distinct_at(space, p->distinct);
  const tsl__boundary *c = tsl__boundary_known(space);
  if (!c || m->n || m->escaped || p->text || (m->open && tsl__open_at(space, m->open)->captured))
    return false;
  return tsl__mask_bit(m->in_string ? c->unstructured_quoted : c->unstructured, token);
}

/* Does the name, if there is one, stay implied from one plain position to the next? */
static bool stays_implied(const tsl__space *space, const tsl__distinct *m, tsl__stack to) {
  return !m->name || (m->name == TSL__NAME_IMPLIED && tsl__name_implied(space, to));
}

bool tsl__distinct_find(const tsl__space *space, tsl__stack from, tsl_token token, tsl__stack *to) {
  const tsl__with_distinct *p = tsl__with_distinct_at(space, from);
  tsl__lead lead;
  if (!is_unstructured(space, p, token) || !tsl__move_known(space, p->plain, token, &lead) ||
      tsl__lead_guarded(lead))
    return false;
  tsl__stack plain = tsl__lead_to(lead);
  if (plain && !stays_implied(space, tsl__distinct_at(space, p->distinct), plain)) return false;
  *to = plain == p->plain ? from
        : plain           ? tsl__distinct_position_known(space, plain, p->distinct, 0)
                          : 0;
  return *to || !plain;
}

/* The plain position moves as it does without a record; the bytes say what is recorded.
 * false: an item begins that must be new, or something is repeated. */
static bool follow(tsl__space *space, tsl__run *r, const tsl__with_distinct *p, tsl_token token) {
  const tsl_vocab *v = space->vocab;
  if (!tsl__run_load_distinct(space, r, p)) return false;
  r->step.returned = 0;
  for (uint32_t i = v->offsets[token]; i < v->offsets[token + 1]; i++) {
    tsl__run_look_ahead(space, r, v->bytes[i]);
    if (r->step.repeats_before || r->step.repeats_after || !tsl__run_note(space, r, v->bytes[i]))
      return false;
  }
  return !r->denies.n;
}

/* A name goes on. */
static bool lengthen(tsl__space *space, tsl__run *r, const tsl__with_distinct *p, tsl_token token) {
  const tsl_vocab *v = space->vocab;
  uint32_t n = v->offsets[token + 1] - v->offsets[token];
  if (!tsl__run_load_distinct(space, r, p)) return false;
  if (!tsl__vec_reserve(&space->alloc, &r->name_bytes, n)) return tsl__space_no_memory(space);
  memcpy(r->name_bytes.at + r->name_bytes.n, v->bytes + v->offsets[token], n);
  r->name_bytes.n += n;
  return true;
}

/* Do the frames leave more names than were used, or is the name under way nobody's beginning? */
static bool unrivalled(tsl__space *space, tsl__run *r, tsl__stack plain) {
  uint32_t seen_names = tsl__run_seen(space, r);
  const tsl__spelling *s =
      seen_names && !tsl__run_name_empty(r) ? tsl__run_spelling(space, r) : NULL;
  if (!s || !tsl__seen_names_rivals(space, seen_names, s)) return true;
  return tsl__step_load(space, &r->step, plain) &&
         tsl__run_names_on(space, r, tsl__seen_names_total(space, seen_names));
}

/* The plain position after a token that is spelled, without a quote in it: nothing is repeated. 0:
 * rejected. */
static tsl__stack plain_after(tsl__space *space, tsl__run *r, const tsl__with_distinct *p,
                              tsl_token token) {
  const tsl_vocab *v = space->vocab;
  uint32_t begin = v->offsets[token], end = v->offsets[token + 1];
  tsl__lead lead;
  size_t accepted;
  if (v->special[token]) return 0;
  if (tsl__move_known(space, p->plain, token, &lead)) return tsl__lead_to(lead);
  if (!tsl__step_load(space, &r->step, p->plain)) return 0;
  r->step.repeats_before = r->step.repeats_after = 0;
  return tsl__step_bytes(space, &r->step, v->bytes + begin, end - begin, &accepted)
             ? tsl__step_collect(space, &r->step)
             : 0;
}

/* Where a token leads from a position in the middle of a name. */
static bool token_in_name(tsl__space *space, tsl__run *r, const tsl__with_distinct *p,
                          tsl_token token, tsl__stack *to) {
  tsl__stack plain = plain_after(space, r, p, token);
  if (!plain) return true;
  if (tsl__with_distinct_at(space, plain)->distinct)
    plain = tsl__with_distinct_at(space, plain)->plain;
  if (!lengthen(space, r, p, token) || !unrivalled(space, r, plain)) return false;
  return *to = tsl__run_position_of(space, r, plain), true;
}

/* Where a token leads beside the frames, from a position with a distinct record; *to = 0: rejected.
 * false: only stepping the frames answers that.
 * */
static bool token_beside(tsl__space *space, tsl__run *r, const tsl__with_distinct *p,
                         tsl_token token, tsl__stack *to, bool *keep) {
  const tsl__distinct *m = tsl__distinct_at(space, p->distinct);
  bool unstructured = is_unstructured(space, p, token);
  tsl__lead lead;
  *to = 0;
  /* the plain position goes on after an item as if it were both, new and not */
  if (space->positions.watches & TSL__SAME_ITEM && !unstructured) return false;
  if (unstructured && m->name) return token_in_name(space, r, p, token, to);
  if (m->name && m->name != TSL__NAME_IMPLIED) return false;
  if (!tsl__stack_token(space, p->plain, token) || !tsl__move_known(space, p->plain, token, &lead))
    return true;
  tsl__stack plain = tsl__lead_to(lead);
  if (tsl__lead_guarded(lead) || tsl__with_distinct_at(space, plain)->distinct) return false;
  *keep = !unstructured;
  if (unstructured) return *to = tsl__distinct_position(space, plain, p->distinct, 0), true;
  if (!follow(space, r, p, token) || !unrivalled(space, r, plain)) return false;
  return *to = tsl__run_position_of(space, r, plain), true;
}

tsl__lead tsl__distinct_token(tsl__space *space, tsl__stack from, tsl_token token, bool *keep) {
  tsl__run *r = tsl__run_take(space);
  const tsl__with_distinct *p = tsl__with_distinct_at(space, from);
  tsl__stack to = 0;
  bool guarded = false;
  *keep = true;
  if (!r) return tsl__lead_of(0, false);
  if (!p->distinct || !token_beside(space, r, p, token, &to, keep)) {
    bool fine = tsl__run_token(space, r, from, token) &&
                (!tsl__run_watched(space, r) || tsl__run_alive(space, r));
    to = fine ? tsl__run_position(space, r) : 0;
    guarded = to && !p->distinct;
  }
  tsl__run_give(space, r);
  return space->status == TSL_OK ? tsl__lead_of(to, guarded) : tsl__lead_of(0, false);
}

/* From a plain position: did one additional name begin in the token, or go on there, or end, and
 * nothing else that matters? Nothing was used before it, so nothing is repeated, and the bytes say
 * what is to be recorded. false: only stepping the frames answers that. */
static bool begin_beside(tsl__space *space, tsl__run *r, tsl__stack from, tsl_token token,
                         const tsl__stepping *s) {
  const tsl_vocab *v = space->vocab;
  bool begins = s->begun & TSL__NEW_NAME, ends = s->returned & TSL__NEW_NAME;
  if (s->begun & space->positions.watches & TSL__NEW_ITEM || (begins && ends) ||
      !tsl__run_load(space, r, from) || begins == r->in_name)
    return false;
  for (uint32_t i = v->offsets[token]; i < v->offsets[token + 1]; i++) {
    bool quote = v->bytes[i] == '"' && !r->escaped;
    if (quote && begins) return false; /* it need not begin with the token */
    r->step.begun = begins && i == v->offsets[token] ? TSL__NEW_NAME : 0;
    r->step.returned = quote && ends ? TSL__NEW_NAME : 0;
    ends = ends && !quote;
    if (!tsl__run_note(space, r, v->bytes[i])) return false;
  }
  return true;
}

tsl__lead tsl__distinct_begun(tsl__space *space, tsl__stack from, tsl_token token, tsl__stepping *s,
                              bool *keep) {
  tsl__run *r = tsl__run_take(space);
  if (!r) return tsl__lead_of(0, false);
  bool done = begin_beside(space, r, from, token, s);
  tsl__stack to = done ? tsl__run_position_of(space, r, tsl__step_collect(space, s)) : 0;
  tsl__run_give(space, r);
  if (!done && space->status == TSL_OK) return tsl__distinct_token(space, from, token, keep);
  return tsl__lead_of(to, to != 0);
}

bool tsl__distinct_next(tsl__space *space, tsl__stack at, tsl__bytes *out) {
  const tsl__with_distinct *p = tsl__with_distinct_at(space, at);
  tsl__bytes next;
  memset(out, 0, sizeof *out);
  if (!tsl__stack_next(space, p->plain, &next)) return false;
  const tsl__distinct *m = tsl__distinct_at(space, p->distinct);
  const tsl__open *o = tsl__open_at(space, m->open);
  if (!m->n && !m->name && !o->remembers) return *out = next, true;
  /* nothing is under way that could be repeated: a comma alone begins something */
  bool free = !m->n && !m->name && !(m->in_string && !o->array) &&
              !(space->positions.watches & TSL__SAME_ITEM);
  if (free) *out = next;
  if (free && (m->in_string || !tsl__bytes_has(&next, ','))) return true;
  if (free) out->w[0] &= ~((uint64_t)1 << ',');
  tsl__run *r = tsl__run_take(space);
  if (!r) return false;
  for (unsigned b = free ? ',' : 0; b < (free ? ',' + 1u : 256) && space->status == TSL_OK; b++) {
    if (!tsl__bytes_has(&next, b) || !tsl__run_load(space, r, at) ||
        !tsl__run_byte(space, r, (uint8_t)b))
      continue;
    if (!tsl__run_watched(space, r) || tsl__run_alive(space, r)) tsl__bytes_add(out, b);
  }
  tsl__run_give(space, r);
  return space->status == TSL_OK;
}
