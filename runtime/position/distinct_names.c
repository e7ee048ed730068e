/* distinct_names.c - the tokens that complete a name which the object has already, or begin a name
 * that can only become one of these. See distinct_tokens.h.
 *
 * Problem   An object may have seen thousands of names, and a vocabulary has thousands of tokens
 *           that begin or end a name, in many spellings.
 * Idea      In the middle of a name the search descends the vocabulary's trie and the sorted seen
 *           names together. It enters a node of the trie only if some seen name goes on with the
 *           same bytes. Where a seen name is closed by a quote, the whole subtree is removed from
 *           the mask. A token that ends in between can fail only where the schema constrains names.
 *           Then the frame that spells the name follows the descent (`speller`).
 * Escapes   A speller reads an escape once its character is known, unless the beginning of the
 *           escape may matter before.
 * Before    a name the descent begins at the few nodes of the trie after white space and a quote.
 *           Tokens with a comma and a whole string behind it are tried one by one; most
 *           vocabularies have none. Where names are constrained, tokens with a comma and the
 *           beginning of a name are tried, too, if a seen name has that beginning (boundary.h).
 * Example   Seen: "ab", "b". After {"ab":1,"b":2,"a the tokens `b"` and `b":` are removed, since
 *           they close "ab". The token `b` stays: `abc` is new.
 * Cost      The nodes of the trie that are a beginning of a seen name, and those below a closed
 *           name.
 * Tested by tests/position/test_distinct_names.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/fixed.h"
#include "runtime/position/distinct_tokens.h"

/* A frame that spells a name: its state and register. */
typedef struct speller {
  tsl__state state; /* 0: it is not known which one */
  uint32_t count;
  bool beside; /* others may spell names that this one does not */
} speller;

/* A node of the trie, reached by `depth` bytes, and the names of a group that may be spelled there.
 * They are [lo, hi), which have the first `known` bytes in common. */
typedef struct spot {
  uint32_t node, depth, lo, hi, known;
  speller speller;
  uint8_t open[12], open_count; /* an escape that is open */
  bool unread;                  /* which the speller has not read: see spell_escape */
} spot;

typedef struct descent {
  tsl__run *run;
  tsl__stack at;
  tsl__probed_mask *plain;
  tsl__tokens *gone;
  uint32_t seen_names;
  /* names are constrained: those with some beginning may be used up, else it is only looked up
   * where one is closed, and by no speller */
  bool few;
  const tsl__seen_names *group;
  TSL__VEC(uint8_t) prefix; /* decoded, of the name under way */
  TSL__VEC(spot) spots;
} descent;

static const speller no_speller;

static bool spells_any(const tsl__space *space, speller s) {
  return s.state && tsl__takes_any(space, s.state);
}

/* Does it spell all texts, or all but some? */
static bool spells_most(const tsl__space *space, speller s) {
  const tsl__fixed *f = s.state ? tsl__state_fixed(tsl__state_at(space, s.state)) : NULL;
  return (f && f->others) || spells_any(space, s);
}

/* Does every raw ASCII character lead to where texts can go on in any way? So it does where a frame
 * is called that spells any. */
static bool begins_any(tsl__space *space, speller s) {
  const tsl__state_rec *r = s.state ? tsl__state_expanded(space, s.state) : NULL;
  tsl__target first =
      r && !(r->flags & (TSL__STATE_FORK | TSL__STATE_LOOP)) ? tsl__state_step(space, r, ' ') : 0;
  if (!first || !tsl__takes_any(space, tsl__target_state(first))) return false;
  for (unsigned i = 0, byte = 0; byte < 0x7F; byte = tsl__state_upper(r)[i++] + 1u) {
    unsigned upper = tsl__state_upper(r)[i];
    bool raw = upper >= ' ' && !(byte == upper && (byte == '"' || byte == '\\'));
    if (raw && r->targets[i] != first) return false;
  }
  return true;
}

/* The frames that spell a name which begins in this state. They are those that it calls itself, and
 * those that a frame for a whole member calls first. */
static uint32_t called_spellers(tsl__space *space, const tsl__state_rec *s, speller *found,
                                bool within) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < s->edges; k++) {
    uint32_t count;
    tsl__state callee = tsl__target_resolve(space, tsl__state_edges(s)[k].to, 0, &count);
    const tsl__state_rec *r;
    if (tsl__state_edges(s)[k].push &&
        (tsl__state_at(space, tsl__target_state(tsl__state_edges(s)[k].push))->guarded &
         TSL__NEW_NAME))
      *found = (speller){callee, count, false}, n++;
    else if (!within && !(tsl__state_at(space, callee)->flags & TSL__STATE_KEYED) &&
             (r = tsl__state_expanded(space, callee)))
      n += called_spellers(space, r, found, true);
  }
  return n;
}

/* The speller at the place of the run: in a name, or where a name begins. */
static speller speller_of(tsl__space *space, const tsl__run *r) {
  speller found = no_speller;
  uint32_t n = 0;
  for (size_t i = 0; i < r->step.landed.n; i++) {
    const tsl__cell *c = &r->step.landed.at[i];
    const tsl__state_rec *s = tsl__state_expanded(space, c->state);
    if (s && tsl__cell_names(space, c)) found = (speller){c->state, c->count, false}, n++;
    if (s) n += called_spellers(space, s, &found, false);
    found.beside = true;
    if (spells_most(space, found) || begins_any(space, found)) return found;
  }
  found.beside = false;
  return n == 1 ? found : no_speller;
}

/* One byte on; false: this name can't be spelled. */
static bool spell(tsl__space *space, speller *s, uint8_t byte) {
  if (!s->state || (byte < 0x7F && byte != '\\' && spells_any(space, *s))) return true;
  const tsl__state_rec *r = tsl__state_expanded(space, s->state);
  tsl__target t = r ? tsl__state_step(space, r, byte) : 0;
  if (!t && !s->beside) return false;
  s->state = t ? tsl__target_resolve(space, t, s->count, &s->count) : 0;
  if (s->state && tsl__state_at(space, s->state)->flags & TSL__STATE_FORK) s->state = 0;
  return true;
}

/* Does a token of the plain mask that ends no name lead somewhere? Mostly what it begins, or goes
 * on with, can become any number of names, which are then looked up no more. */
static bool leads_unended(tsl__space *space, descent *d, tsl_token t) {
  const tsl__with_distinct *p = tsl__with_distinct_at(space, d->at);
  tsl__run *r = d->run;
  uint32_t found;
  tsl__move_key by = tsl__key_leads(t);
  bool noted = p->distinct && !tsl__distinct_at(space, p->distinct)->escaped;
  if (noted && tsl__move_find(space, p->plain, by, &found)) return true;
  if (!tsl__run_token(space, r, d->at, t)) return false;
  if (!noted || !r->in_name || !tsl__run_names_on(space, r, TSL__ENDLESS - 1))
    return !tsl__run_watched(space, r) || tsl__run_alive(space, r);
  tsl__move_add(space, p->plain, by, 1);
  return true;
}

/* `ends`: a name may end in it. */
static void try_token(tsl__space *space, descent *d, tsl_token t, bool ends) {
  if (!tsl__probed_has(space, d->plain, t)) return;
  bool leads = ends ? tsl__run_leads(space, d->run, d->at, t) : leads_unended(space, d, t);
  if (!leads && !tsl__vec_push(&space->alloc, d->gone, t)) tsl__space_no_memory(space);
}

/* Try the tokens order[begin … end). */
static void try_tokens(tsl__space *space, descent *d, uint32_t begin, uint32_t end, bool ends) {
  for (uint32_t i = begin; i < end && space->status == TSL_OK; i++)
    try_token(space, d, space->vocab->trie.order[i], ends);
}

/* Here a name that was used is closed: mostly no frame lets that pass, and no token goes on. */
static void try_subtree(tsl__space *space, descent *d, const spot *at) {
  const tsl_vocab *v = space->vocab;
  const tsl__trie_node *node = &v->trie.nodes[at->node];
  const uint8_t *bytes = v->bytes + v->offsets[v->trie.order[node->begin]];
  bool passes = tsl__run_load(space, d->run, d->at);
  for (uint32_t i = 0; passes && i < at->depth; i++)
    passes = tsl__run_byte(space, d->run, bytes[i]);
  if (passes) {
    try_tokens(space, d, node->begin, node->end, true);
    return;
  }
  for (uint32_t i = node->begin; i < node->end && space->status == TSL_OK; i++)
    if (tsl__probed_has(space, d->plain, v->trie.order[i]) &&
        !tsl__vec_push(&space->alloc, d->gone, v->trie.order[i]))
      tsl__space_no_memory(space);
}

/* Can there be anything to take out at the node or below? */
static bool worth(const tsl__space *space, const descent *d, const spot *s) {
  const tsl__trie *trie = &space->vocab->trie;
  const tsl__trie_node *n = &trie->nodes[s->node];
  if (n->below == UINT16_MAX) return true;
  const tsl__bytes *below = &trie->sets[n->below];
  if (!d->few) return tsl__bytes_has(below, '"');
  if (s->open_count || !spells_any(space, s->speller)) return true;
  return tsl__bytes_has(below, '"') || tsl__bytes_has(below, '\\') || below->w[2] || below->w[3];
}

/* To a child: its names are those of `to`, and its speller is there already. */
static void push_spot(tsl__space *space, descent *d, spot to, uint32_t child) {
  to.node = child;
  to.depth++;
  if (worth(space, d, &to) && !tsl__vec_push(&space->alloc, &d->spots, to))
    tsl__space_no_memory(space);
}

/* What the speller reads of an escape that has `n` bytes, `byte` the last. It spells a JSON string,
 * and goes by an escape where it goes by the character. Where any raw ASCII character leads to any
 * number of names, so does the beginning of an escape that may become one. The escape is read when
 * it is known which. false: this name can't be spelled. */
static bool spell_escape(tsl__space *space, spot *to, uint32_t n, uint8_t byte, const uint8_t *utf8,
                         uint32_t length) {
  if (n == 1) to->unread = spells_most(space, to->speller) || begins_any(space, to->speller);
  if (to->unread && to->open_count && tsl__may_be_raw(to->open, to->open_count)) return true;
  bool raw = to->unread && length == 1 && tsl__is_raw(*utf8);
  for (uint32_t i = 0; to->unread && !raw && i < n - 1; i++)
    if (!spell(space, &to->speller, to->open[i])) return false;
  to->unread = false;
  return spell(space, &to->speller, raw ? *utf8 : byte);
}

/* An escape goes on, or begins. */
static void push_escaped(tsl__space *space, descent *d, spot to, uint8_t byte) {
  uint8_t utf8[4];
  uint32_t child = tsl__trie_child(&space->vocab->trie, to.node, byte), bytes = to.open_count + 1u;
  if (!child) return;
  uint32_t n = tsl__escape_byte(to.open, &to.open_count, byte, utf8);
  for (uint32_t i = 0; i < n && to.lo < to.hi; i++)
    tsl__seen_names_narrow(d->group, to.known++, utf8[i], &to.lo, &to.hi);
  if (to.open_count)
    tsl__seen_names_narrow_open(d->group, to.known, to.open, to.open_count, &to.lo, to.hi);
  if (to.lo < to.hi && spell_escape(space, &to, bytes, byte, utf8, n))
    push_spot(space, d, to, child);
}

static void look_on_raw(tsl__space *space, descent *d, spot at) {
  const tsl__spelled *names = d->group->names;
  if (names[at.lo].n == at.known) {
    spot closed = at;
    closed.node = tsl__trie_child(&space->vocab->trie, at.node, '"');
    closed.depth++;
    if (closed.node) try_subtree(space, d, &closed);
    if (++at.lo == at.hi) return;
  }
  push_escaped(space, d, at, '\\');
  while (at.lo < at.hi && space->status == TSL_OK) {
    uint8_t byte = names[at.lo].at[at.known];
    uint32_t child =
        tsl__stands_raw(byte) ? tsl__trie_child(&space->vocab->trie, at.node, byte) : 0;
    spot to = at;
    tsl__seen_names_narrow(d->group, at.known, byte, &to.lo, &to.hi);
    at.lo = to.hi;
    to.known++;
    if (child && spell(space, &to.speller, byte)) push_spot(space, d, to, child);
  }
}

static void look_at_spot(tsl__space *space, descent *d, spot at, bool first) {
  const tsl__trie_node *n = &space->vocab->trie.nodes[at.node];
  bool ends = d->few && !first && n->begin < n->own_end;
  if (ends && !at.unread &&
      (!at.speller.state || !tsl__state_spells(space, at.speller.state, at.speller.count,
                                               tsl__seen_names_total(space, d->seen_names))))
    try_tokens(space, d, n->begin, n->own_end, false);
  if (!at.open_count) look_on_raw(space, d, at);
  static const char second[] = TSL__ESCAPE_LETTERS "u", digits[] = "0123456789abcdefABCDEF";
  const char *next = at.open_count == 1   ? (d->group->shortened ? second : "u")
                     : at.open_count == 6 ? "\\"
                     : at.open_count == 7 ? "u"
                                          : digits;
  for (; at.open_count && n->children && *next; next++) push_escaped(space, d, at, (uint8_t)*next);
}

#define ENDS_MAX 16u /* names that are looked at for that */

/* May a token close one of the names of a spot where a descent begins? */
static bool may_end(const tsl__space *space, const descent *d, const spot *at) {
  uint64_t signs = 0;
  if (at->open_count || at->hi - at->lo > ENDS_MAX) return true;
  for (uint32_t i = at->lo; i < at->hi; i++)
    signs |= tsl__name_sign(d->group->names[i].at + at->known, d->group->names[i].n - at->known);
  return signs & (at->node ? tsl__boundary_known(space)->whole_names
                           : tsl__boundary_known(space)->name_ends);
}

/* Descend from a node, whose prefix is spelled. */
static void descend(tsl__space *space, descent *d, spot at) {
  at.known = (uint32_t)d->prefix.n;
  for (uint32_t i = d->seen_names; i && space->status == TSL_OK; i = d->group->next) {
    d->group = tsl__space_at(space, seen_names, i);
    tsl__seen_names_range(d->group, d->prefix.at, at.known, &at.lo, &at.hi);
    if (at.lo == at.hi || (!d->few && !may_end(space, d, &at))) continue;
    look_at_spot(space, d, at, true);
    while (d->spots.n && space->status == TSL_OK)
      look_at_spot(space, d, d->spots.at[--d->spots.n], false);
  }
}

/* In the middle of a name. */
static void narrow_name(tsl__space *space, descent *d) {
  bool loaded = d->few ? tsl__run_load(space, d->run, d->at)
                       : tsl__run_load_distinct(space, d->run, tsl__with_distinct_at(space, d->at));
  const tsl__spelling *s = loaded ? tsl__run_spelling(space, d->run) : NULL;
  if (!s || !tsl__seen_names_rivals(space, d->seen_names, s)) return;
  if (!tsl__vec_reserve(&space->alloc, &d->prefix, s->decoded.n + 1)) {
    tsl__space_no_memory(space);
    return;
  }
  if (s->decoded.n) memcpy(d->prefix.at, s->decoded.at, s->decoded.n);
  d->prefix.n = s->decoded.n;
  spot begin = {.speller = d->few ? speller_of(space, d->run) : no_speller,
                .open_count = s->open_count};
  memcpy(begin.open, s->open, sizeof begin.open);
  descend(space, d, begin);
}

/* Before a name: white space, its opening quote and more in one token. Whichever white space it is,
 * the same names may follow. */
static void narrow_before(tsl__space *space, descent *d) {
  const tsl_vocab *v = space->vocab;
  const tsl__boundary *c = tsl__boundary_known(space);
  speller begin = no_speller;
  bool known = !d->few;
  if (known && !(c->whole_names &
                 ((const tsl__seen_names *)tsl__space_at(space, seen_names, d->seen_names))->signs))
    return;
  for (uint32_t i = 0; i < c->names_count && space->status == TSL_OK; i++) {
    const tsl__trie_node *n = &v->trie.nodes[c->names[i].node];
    const uint8_t *bytes = v->bytes + v->offsets[v->trie.order[n->begin]];
    bool passes = known || tsl__run_load(space, d->run, d->at);
    for (uint32_t k = 0; !known && passes && k < c->names[i].depth; k++)
      passes = tsl__run_byte(space, d->run, bytes[k]);
    if (!passes) continue;
    if (!known) begin = speller_of(space, d->run);
    known = true;
    descend(space, d,
            (spot){.node = c->names[i].node, .depth = c->names[i].depth, .speller = begin});
  }
}

/* May a name that begins so, its opening quote included, be one that an object has? */
static bool may_become(const tsl__space *space, uint32_t seen_names, const uint8_t *at,
                       const uint8_t *end) {
  uint32_t n = (uint32_t)(end - at) - 1, lo, hi;
  const tsl__seen_names *first = tsl__space_at(space, seen_names, seen_names);
  if (*at != '"' || !n || memchr(at + 1, '"', n) || memchr(at + 1, '\\', n)) return true;
  if (!(first->signs & tsl__name_sign(at + 1, n))) return false;
  for (; seen_names;
       seen_names = ((const tsl__seen_names *)tsl__space_at(space, seen_names, seen_names))->next) {
    tsl__seen_names_range(tsl__space_at(space, seen_names, seen_names), at + 1, n, &lo, &hi);
    if (lo < hi) return true;
  }
  return false;
}

/* The container that is open after so many were closed; NULL: none that is known. */
static const tsl__open *container(const tsl__space *space, uint32_t open, uint32_t closes) {
  for (; open && closes; closes--) open = tsl__open_at(space, open)->below;
  return open ? tsl__open_at(space, open) : NULL;
}

/* May the name that a token begins be one that its container has? It need not begin one: `,",` does
 * outside strings, and within one it closes that and comes to the comma. */
static bool may_repeat(const tsl__space *space, const tsl__open *o, const tsl__next_name *next) {
  const tsl_vocab *v = space->vocab;
  const uint8_t *name = v->bytes + v->offsets[next->token] + next->at,
                *end = v->bytes + v->offsets[next->token + 1];
  return !o->array && name < end && may_become(space, o->used, name, end);
}

/* Tokens with a comma and the beginning of a name after it, where names are constrained. */
static void narrow_next(tsl__space *space, descent *d, const tsl__distinct *m) {
  const tsl__boundary *c = tsl__boundary_known(space);
  const tsl__next_name *list = m->in_string ? c->begun_quoted.at : c->begun.at;
  const tsl__open *o = NULL;
  for (size_t i = 0; i < c->begun.n && space->status == TSL_OK; i++) {
    const tsl__next_name *next = &list[i];
    if (!m->escaped && next->closes == TSL__CLOSES_NEVER) return;
    if (!i || next->closes != list[i - 1].closes)
      o = next->closes < TSL__CLOSES_UNKNOWN ? container(space, m->open, next->closes) : NULL;
    if (m->escaped || next->closes == TSL__CLOSES_UNKNOWN ||
        (o && o->used && may_repeat(space, o, next)))
      try_token(space, d, next->token, next->closes == TSL__CLOSES_UNKNOWN);
  }
}

void tsl__narrow_names(tsl__space *space, tsl__run *r, tsl__stack at, tsl__probed_mask *plain,
                       tsl__tokens *gone) {
  const tsl__distinct *m = tsl__distinct_at(space, tsl__with_distinct_at(space, at)->distinct);
  const tsl__boundary *c = tsl__boundary_known(space);
  const tsl__open *o = m->open ? tsl__open_at(space, m->open) : NULL;
  descent d = {.run = r,
               .at = at,
               .plain = plain,
               .gone = gone,
               .seen_names = o && !o->array ? o->used : 0,
               .few = space->positions.watches & TSL__FEW_NAMES};
  if (d.few && m->open)
    narrow_next(space, &d, m);
  else
    for (size_t i = 0; i < c->named.n && space->status == TSL_OK; i++)
      try_token(space, &d, c->named.at[i], true);
  if (d.seen_names && m->name)
    narrow_name(space, &d);
  else if (d.seen_names && o->expects && !m->in_string)
    narrow_before(space, &d);
  tsl__vec_free(&space->alloc, &d.prefix);
  tsl__vec_free(&space->alloc, &d.spots);
}
