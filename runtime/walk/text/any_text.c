/* any_text.c - see any_text.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/text/any_text.h"

#include "runtime/walk/classes.h"

/* characters that a string may still have: with more it is walked when it is met */
#define ROOMS_MAX 256u
/* that are looked at and put in order in the time that the search takes for a node */
#define PIECES 16u

/* A token, or a node, and how many characters were begun, or are complete where the string is
 * closed. */
typedef struct piece {
  uint32_t what, characters;
} piece;

typedef TSL__VEC(piece) piece_vec;

struct tsl__any_texts {
  tsl__state state;
  tsl__mask open; /* tokens that leave the string open */
  /* Of those the ones with an escape; tokens that close the string, and nodes where it is closed
   * that have something below. */
  const piece *escaped, *closing, *ended;
  uint32_t escaped_n, closing_n, ended_n;
  /* Walks over the whole vocabulary. They are of so many characters at most, from none on, and of
   * so many at least, from one on. No token closes the last of these early. */
  const tsl__walk *rooms, *needs;
  uint32_t rooms_n, needs_n;
  uint32_t closing_bytes; /* of a token before the quote that closes the string, at most */
  /* of the table of quotes the nodes that close the string, and what leads to them */
  tsl__linear closed;
};

tsl__bytes tsl__raw_letters(void) {
  tsl__bytes b = {{0}};
  tsl__bytes_add_range(&b, 0x20, 0xF4);
  b.w[0] &= ~((uint64_t)1 << '"');
  b.w[1] &= ~((uint64_t)1 << ('\\' & 63));
  return b;
}

/* ---- the tables ------------------------------------------------------------------------------ */

/* Where the path to a node leads: state, characters read in full, number in the table of quotes. */
typedef struct place {
  tsl__state state;
  uint32_t characters, node;
} place;

/* The place of a node in the table of quotes. AWAY: it is left out. LEADS: it leads to a node that
 * closes the string. CLOSES: it closes the string, or lies below such a node. */
enum { AWAY, LEADS, CLOSES };

typedef struct making {
  tsl__space *base;
  const tsl__linear *quoted;
  tsl__state text;
  place *at;     /* by depth */
  uint8_t *kept; /* nodes of the table of what closes the string */
  uint32_t closing_bytes;
  piece_vec escaped, closing, ended;
} making;

static bool add_piece(making *m, piece_vec *to, uint32_t what, uint32_t characters) {
  return tsl__vec_push(&m->base->alloc, to, ((piece){what, characters})) ||
         tsl__space_no_memory(m->base);
}

/* A node that closes the string. */
static bool add_closing(making *m, uint32_t i) {
  const tsl__linear_node *n = &m->quoted->nodes[i];
  uint32_t characters = m->at[n->above].characters;
  if (n->above > m->closing_bytes) m->closing_bytes = n->above;
  memset(m->kept + i, CLOSES, n->next - i);
  for (uint32_t d = n->above; d && !m->kept[m->at[d].node]; d--) m->kept[m->at[d].node] = LEADS;
  if (n->token < m->quoted->tokens && !add_piece(m, &m->closing, n->token, characters))
    return false;
  return n->next == i + 1 || add_piece(m, &m->ended, n->node, characters);
}

/* All that the table of quotes has. False on failure (sticky), or if some state does more than is
 * expected of it: then there are no tables. */
static bool find_pieces(making *m) {
  for (uint32_t i = 1, next; i < m->quoted->n; i = next) {
    const tsl__linear_node *n = &m->quoted->nodes[i];
    place from = m->at[n->above], to = from;
    uint32_t count;
    tsl__target t = tsl__state_step(m->base, tsl__state_at(m->base, from.state), n->byte);
    next = n->next;
    if (!t) continue;
    to.state = tsl__target_resolve(m->base, t, 0, &count);
    to.node = i;
    const tsl__state_rec *r = tsl__state_expanded(m->base, to.state);
    if (!r) return false;
    if (r->flags & TSL__STATE_FINAL) {
      if (from.state != m->text || !add_closing(m, i)) return false;
      continue;
    }
    if (!tsl__state_is_plain(r) || r->flags & TSL__STATE_LOOP) return false;
    to.characters += to.state == m->text;
    if (n->token < m->quoted->tokens &&
        !add_piece(m, &m->escaped, n->token, to.characters + (to.state != m->text)))
      return false;
    m->at[n->above + 1] = to;
    next = i + 1;
  }
  return m->base->status == TSL_OK;
}

/* The table of what is kept. What only leads to it has no tokens. */
static bool put_closed(making *m, tsl__linear *closed) {
  const tsl__linear *q = m->quoted;
  uint32_t *before = tsl__alloc(&m->base->alloc, (q->n + (size_t)1) * sizeof *before), n = 0;
  m->kept[0] = LEADS;
  for (uint32_t i = 0; i <= q->n && before; i++) {
    before[i] = n;
    n += i < q->n && m->kept[i] != AWAY;
  }
  *closed = (tsl__linear){
      .nodes = before ? tsl__arena_alloc(&m->base->arena, n * sizeof *closed->nodes) : NULL,
      .tokens = q->tokens,
      .least = q->least};
  for (uint32_t i = 0; i < q->n && closed->nodes; i++) {
    if (m->kept[i] == AWAY) continue;
    tsl__linear_node *to = &closed->nodes[closed->n++];
    *to = q->nodes[i];
    to->next = before[to->next];
    if (m->kept[i] == LEADS) to->token = q->tokens;
  }
  tsl__free(&m->base->alloc, before, (q->n + (size_t)1) * sizeof *before);
  return closed->nodes || tsl__space_no_memory(m->base);
}

static const piece *copy_pieces(making *m, const piece_vec *from, uint32_t *n) {
  const piece *p = tsl__arena_copy(&m->base->arena, from->at, from->n * sizeof *p);
  *n = (uint32_t)from->n;
  return p || tsl__space_no_memory(m->base) ? p : NULL;
}

static bool fill(making *m, struct tsl__any_texts *t) {
  tsl__space *base = m->base;
  tsl__bytes letters = tsl__raw_letters();
  tsl__gather g = {0};
  bool fine = tsl__gather_mask(base, &g, tsl__class_mask(base, &letters, 0, 0, UINT32_MAX));
  for (size_t i = 0; i < m->escaped.n && fine; i++)
    fine = tsl__gather_token(base, &g, m->escaped.at[i].what);
  t->state = m->text;
  t->open = fine ? tsl__gather_done(base, &g) : 0;
  tsl__gather_free(base, &g);
  t->escaped = copy_pieces(m, &m->escaped, &t->escaped_n);
  t->closing = copy_pieces(m, &m->closing, &t->closing_n);
  t->ended = copy_pieces(m, &m->ended, &t->ended_n);
  t->closing_bytes = m->closing_bytes;
  return base->status == TSL_OK && put_closed(m, &t->closed);
}

static bool make_counted(tsl__space *base, struct tsl__any_texts *t);

tsl_status tsl__texts_make(tsl__space *base, tsl__state state) {
  size_t depths = (size_t)base->vocab->trie.nodes[0].height + 1;
  making m = {.base = base, .quoted = base->warm.linear->quoted, .text = state};
  struct tsl__any_texts *t = tsl__arena_alloc(&base->arena, sizeof *t);
  m.at = t ? tsl__alloc_zero(&base->alloc, depths * sizeof *m.at) : NULL;
  m.kept = m.at ? tsl__alloc_zero(&base->alloc, m.quoted->n) : NULL;
  if (!m.kept)
    tsl__space_no_memory(base);
  else if (tsl__state_expanded(base, state)) {
    m.at[0].state = state;
    if (find_pieces(&m) && fill(&m, t) && make_counted(base, t)) base->warm.any_text = t;
  }
  tsl__free(&base->alloc, m.at, depths * sizeof *m.at);
  tsl__free(&base->alloc, m.kept, m.quoted->n);
  tsl__vec_free(&base->alloc, &m.escaped);
  tsl__vec_free(&base->alloc, &m.closing);
  tsl__vec_free(&base->alloc, &m.ended);
  return base->status;
}

/* ---- walks ----------------------------------------------------------------------------------- */

/* How many characters may still come. */
typedef struct span {
  uint32_t least, most;
} span;

static bool is_within(span s, uint32_t characters) {
  return characters >= s.least && characters <= s.most;
}

/* The nodes where such a string is not closed yet, or too late, are removed from all that close a
 * string. They are in the order of their spelling, which is that of their tokens. */
static bool remove_ended(tsl__space *space, const struct tsl__any_texts *t, span s,
                         tsl__reference *ref) {
  for (uint32_t i = 0; i < t->ended_n; i++)
    if (!is_within(s, t->ended[i].characters) &&
        !tsl__vec_push(&space->alloc, &ref->nodes, t->ended[i].what))
      return tsl__space_no_memory(space);
  if (ref->nodes.n == t->ended_n) ref->left = 0;
  return true;
}

/* Tokens that a string of any characters takes, and one of these lengths does not, are removed. */
static bool remove_tokens(tsl__space *space, const struct tsl__any_texts *t, span s, tsl__mask any,
                          tsl__reference *out) {
  const tsl__lengths *lengths = tsl__lengths_of(space);
  if (!lengths || !tsl__vec_reserve(&space->alloc, &out->tokens,
                                    lengths->longer_count + t->escaped_n + t->closing_n))
    return tsl__space_no_memory(space);
  tsl_token *at = out->tokens.at;
  for (uint32_t i = 0; i < lengths->longer_count && lengths->longer_length[i] > s.most; i++) {
    tsl_token token = lengths->longer[i];
    if (!tsl__is_quoted(lengths, token) && tsl__mask_has(space, any, token)) *at++ = token;
  }
  for (uint32_t i = 0; i < t->escaped_n; i++)
    if (t->escaped[i].characters > s.most) *at++ = t->escaped[i].what;
  for (uint32_t i = 0; i < t->closing_n; i++)
    if (!is_within(s, t->closing[i].characters)) *at++ = t->closing[i].what;
  out->tokens.n = (size_t)(at - out->tokens.at);
  return true;
}

/* Few characters: letters by a class of so many, the other tokens one by one. */
static void gather_short(tsl__space *space, tsl__level *l, const struct tsl__any_texts *t, span s) {
  tsl__bytes letters = tsl__raw_letters();
  l->reference.mask = s.most ? tsl__class_mask(space, &letters, 0, 0, s.most) : 0;
  for (uint32_t i = 0; i < t->escaped_n; i++)
    if (t->escaped[i].characters <= s.most)
      tsl__gather_token(space, &l->gather, t->escaped[i].what);
  for (uint32_t i = 0; i < t->closing_n; i++)
    if (is_within(s, t->closing[i].characters))
      tsl__gather_token(space, &l->gather, t->closing[i].what);
}

/* A string of so many characters to so many: any string, minus what is too long or ends it
 * early. */
static void walk_counted(tsl__space *space, tsl__level *l, const struct tsl__any_texts *t, span s) {
  const tsl__walk *any = tsl__walk_over(space, t->state, 0, TSL__WHOLE, false);
  tsl__reference *ref = &l->reference;
  if (!any || !tsl__space_step(space, 1 + (t->escaped_n + t->closing_n) / PIECES)) return;
  tsl__reference_clear(ref);
  ref->mask = any->mask;
  ref->left = any->left;
  if (s.least || s.most < space->vocab->trie.nodes[0].height) {
    if (s.most < TSL__SHORT_MAX)
      gather_short(space, l, t, s);
    else if (!remove_tokens(space, t, s, any->mask, ref))
      return;
    if (!remove_ended(space, t, s, ref)) return;
  }
  tsl__reference_apply(space, l, ref);
}

/* Make the walk of one such string from the tables. False on failure (sticky). */
static bool walk_alone(tsl__space *base, const struct tsl__any_texts *t, span s, tsl__walk *out) {
  uint32_t depth = base->walking.depth;
  tsl__level *l = tsl__level_open(base);
  if (!l) return false;
  l->last = false;
  walk_counted(base, l, t, s);
  *out = (tsl__walk){.state = t->state,
                     .over = TSL__WHOLE,
                     .left = tsl__level_left(base, l),
                     .mask = tsl__level_mask(base, l),
                     .reach = TSL__UNSPLIT,
                     .gain = TSL__UNCOUNTED};
  base->walking.depth = depth;
  return base->status == TSL_OK;
}

static bool make_counted(tsl__space *base, struct tsl__any_texts *t) {
  uint32_t height = base->vocab->trie.nodes[0].height, most = 0;
  for (uint32_t i = 0; i < t->closing_n; i++)
    most = t->closing[i].characters > most ? t->closing[i].characters : most;
  for (uint32_t i = 0; i < t->ended_n; i++)
    most = t->ended[i].characters > most ? t->ended[i].characters : most;
  t->rooms_n = height < ROOMS_MAX ? height : ROOMS_MAX;
  t->needs_n = most + 1;
  tsl__walk *rooms =
                tsl__arena_alloc(&base->arena, (t->rooms_n + (size_t)t->needs_n) * sizeof *rooms),
            *needs = rooms + t->rooms_n;
  if (!rooms) return tsl__space_no_memory(base);
  bool fine = true;
  for (uint32_t i = 0; i < t->rooms_n && fine; i++)
    fine = walk_alone(base, t, (span){0, i}, &rooms[i]);
  for (uint32_t i = 0; i < t->needs_n && fine; i++)
    fine = walk_alone(base, t, (span){i + 1, TSL__COUNT_INF}, &needs[i]);
  t->rooms = rooms;
  t->needs = needs;
  return fine;
}

/* A string that any characters leave open: the tokens that do, plus those that close it here. */
static void walk_endless(tsl__space *space, tsl__level *l, const struct tsl__any_texts *t,
                         tsl__state state, uint32_t count) {
  tsl__reference *ref = &l->reference;
  tsl__reference_clear(ref);
  ref->mask = t->open;
  /* unless what must still come is more than any token that closes a string has before its quote */
  if (space->hook->states.shortest(space->hook_ctx, state, count) <= t->closing_bytes + 1) {
    ref->quoted = &t->closed;
    ref->letters = tsl__raw_letters();
    ref->from = (tsl__linear_from){state, count, 0, 0, l->last, NULL};
  }
  tsl__reference_apply(space, l, ref);
}

/* Bytes that may follow the opening quote within a token of these. */
static uint32_t after_quote(const tsl__space *space, tsl__leftover over) {
  const tsl__trie *trie = &space->vocab->trie;
  return over == TSL__WHOLE ? trie->nodes[tsl__trie_child(trie, 0, '"')].height
                            : tsl__leftover_at(space, tsl__leftover_set(over))->height;
}

/* The vocabulary's string that is as one of so many characters at least, with its opening quote; 0:
 * there is none. Where the last that it has is walked as one of more than any token has, so are all
 * between. */
static tsl__state quoted_like(tsl__space *space, uint32_t least, tsl__leftover over) {
  const tsl__space *base = space->parent;
  if (least < TSL__QUOTED - 1) return base->warm.quoted[least];
  if (least < after_quote(space, over)) {
    const tsl__walk *some =
                        tsl__walk_over(space, base->warm.quoted[TSL__QUOTED - 2], 0, over, false),
                    *many =
                        tsl__walk_over(space, base->warm.quoted[TSL__QUOTED - 1], 0, over, false);
    if (!some || !many || some->mask != many->mask || some->left != many->left) return 0;
  }
  return base->warm.quoted[TSL__QUOTED - 1];
}

/* The bounds for the rest of a string, after some characters were read. */
static span left_of(const tsl__state_rec *r, span s, uint32_t count) {
  if (!(r->flags & TSL__STATE_LOOP)) return s;
  return (span){r->loop_min > count ? r->loop_min - count : 0,
                r->loop_max == TSL__COUNT_INF ? TSL__COUNT_INF : r->loop_max - count};
}

/* Is the most more than any token has? */
static bool is_free(const tsl__space *space, span s) {
  return s.most >= space->vocab->trie.nodes[0].height;
}

/* The walk over the whole vocabulary that the tables have. NULL: none. */
static const tsl__walk *walk_of(const tsl__space *space, const struct tsl__any_texts *t, span s) {
  if (is_free(space, s) && s.least)
    return &t->needs[(s.least < t->needs_n ? s.least : t->needs_n) - 1];
  return !s.least && s.most < t->rooms_n ? &t->rooms[s.most] : NULL;
}

/* The tables, if the grammar says of its states whether they are of such strings; else NULL. */
static const struct tsl__any_texts *texts_of(const tsl__space *space) {
  return space->parent && !tsl__shortcut_is_off(space, TSL__SHORTCUT_TEXT) &&
                 space->walking.subtract_bytes <= UINT8_MAX && space->hook &&
                 space->hook->states.counted
             ? space->parent->warm.any_text
             : NULL;
}

const tsl__walk *tsl__text_known(tsl__space *space, const tsl__state_rec *r, uint32_t count,
                                 tsl__leftover over, tsl__state *like) {
  const struct tsl__any_texts *t = texts_of(space);
  span s = {0, 0};
  *like = 0;
  if (!t || (over & TSL__WHOLE && over != TSL__WHOLE)) return NULL;
  unsigned text = space->hook->states.counted(space->hook_ctx, r, &s.least, &s.most);
  if (text == TSL__TEXT_QUOTED && s.most >= after_quote(space, over))
    *like = quoted_like(space, s.least, over);
  if (text != TSL__TEXT_COUNTED) return NULL;
  s = left_of(r, s, count);
  if (is_free(space, s) && !s.least) *like = t->state;
  return over == TSL__WHOLE ? walk_of(space, t, s) : NULL;
}

const tsl__walk *tsl__text_before(tsl__space *space, tsl__state state, uint32_t count) {
  const struct tsl__any_texts *t = texts_of(space);
  const tsl__state_rec *r = tsl__state_at(space, state);
  span s = {0, 0};
  if (!t || !tsl__may_be_text(space, r, state) ||
      space->hook->states.counted(space->hook_ctx, r, &s.least, &s.most) != TSL__TEXT_COUNTED)
    return NULL;
  s = left_of(r, s, count);
  s.least += s.least != 0;
  s.most += s.most != TSL__COUNT_INF;
  return is_free(space, s) && !s.least ? tsl__walk_over(space, t->state, 0, TSL__WHOLE, false)
                                       : walk_of(space, t, s);
}

bool tsl__walk_text(tsl__space *space, tsl__level *l, const tsl__state_rec *r, tsl__state state,
                    uint32_t count, bool *open) {
  const struct tsl__any_texts *t = space->parent ? space->parent->warm.any_text : NULL;
  span s = {0, 0};
  *open = false;
  if (!t || r->live_count < space->walking.subtract_bytes || !tsl__linear_of(space, r, 0) ||
      !space->hook || !space->hook->states.text)
    return false;
  unsigned text = space->hook->states.text(space->hook_ctx, r, &s.least, &s.most);
  *open = text == TSL__TEXT_OPEN || text == TSL__TEXT_ENDLESS;
  if (space->status != TSL_OK) return false;
  if (text == TSL__TEXT_COUNTED)
    walk_counted(space, l, t, left_of(r, s, count));
  else if (text == TSL__TEXT_ENDLESS && tsl__state_is_plain(r) && !(r->flags & TSL__STATE_LOOP))
    walk_endless(space, l, t, state, count);
  else
    return false;
  return true;
}
