/* subtract.c - finder: a class of letters, minus the tokens that die (reference.h).
 *
 * Problem   A string that must not hold some text, or must hold another, goes on with nearly all
 *           texts: only few tokens die. The first walk of such a state would read the whole trie.
 * Idea      A small graph says where texts of letters lead (text_graph.h). For each of its points
 *           it gives the distance in bytes to the nearest death, and the bytes that every way there
 *           has. The walk is the mask of the class minus the tokens that die. Only tokens that are
 *           long enough and have those bytes are tried. Legal bytes that are no letters (a closing
 *           quote, an escape) are searched for among the letters, as in every walk.
 * Needed    The candidates are the bytes of one shortest way to death. At each of its steps there
 *           may be several (`C` and `c`). Which candidates all ways need is a greatest fixed point:
 *           a point needs those that each of its ways needs.
 * Nowhere   A byte that no text may hold (a slash, in names without one) is not searched for. A
 *           bitset has the tokens with that byte. Ways through that byte are then left out.
 * Words     Two words may have no byte in common. Then all ways together need no byte, or too many
 *           tokens have the bytes that they need. So the tokens that die by each way are searched
 *           for, one way after the other.
 * Non-ASCII Most patterns have `.`, which refuses U+2028, and few tokens have that character.
 * Tokens that die within a character past ASCII are searched for separately: such ways share no
 * bytes with others.
 * Letters   Where the state treats a quote unlike its neighbours, as in JSON strings, letters are
 *           the raw characters. Otherwise they are all characters, if the text may end anywhere or
 *           nothing follows.
 * Exact     Every way to death through the letters is in the graph. A token without one of the
 *           bytes that all ways need, or with fewer bytes than the shortest way, does not die.
 * Example   Names without `hipchat`: each way needs seven bytes, and h, i, p, c, a and t among
 *           them. The few tokens with all of these are tried, and none dies.
 * Cost      0.1 ms where the states are known, most of it for the graph; reading the whole trie
 *           takes 1.1 ms.
 * Tested by tests/walk/test_subtract.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/reference.h"

#include "runtime/walk/classes.h"
#include "runtime/walk/fixed.h"
#include "runtime/walk/linear.h"
#include "runtime/walk/text/text_graph.h"
#include "runtime/kernels/logits.h"
#include "runtime/core/trie.h"
#include "runtime/vocab/token_ring.h"

#define NEW_MAX 96u        /* states that are made for the graph of a conjunction */
#define NEW_FEW 2u         /* and of others: letters (runtime/automaton/state.h) are found faster */
#define FEW_BYTES 4u       /* of a candidate: bitsets have its tokens */
#define SUSPECTS_MAX 4096u /* tokens with all that is needed: they are tried one by one */
#define WORDS_MAX 16u      /* ways to death that are looked at one by one */
#define NODES_MAX 24576u   /* of the trie that are looked at for a conjunction */
#define NODES_FEW 1024u    /* and for others */
/* live bytes: of conjunctions all are that are no control characters, until they are looked up */
#define CONJUNCTION 200u

typedef tsl__graph graph;
typedef tsl__graph_point point;
typedef tsl__graph_way way;

/* ---- ways to death --------------------------------------------------------------------------- */

/* How far death is where a way ends. */
static uint32_t away_after(const graph *g, const way *w) {
  return w->to == TSL__GRAPH_DEAD   ? 0
         : w->to < TSL__GRAPH_FIRST ? TSL__GRAPH_FAR
                                    : g->points[w->to].away;
}

/* The ways by where they end: counts become ends, and ends become beginnings. */
static void turn_around(graph *g) {
  memset(g->into, 0, (g->n + 1) * sizeof *g->into);
  for (uint32_t i = 0; i < g->way_count; i++) g->into[g->ways[i].to]++;
  for (uint32_t k = 0; k < g->n; k++) g->into[k + 1] = (uint16_t)(g->into[k + 1] + g->into[k]);
  for (uint32_t i = g->way_count; i-- > 0;) g->by_end[--g->into[g->ways[i].to]] = (uint16_t)i;
}

/* How far each point is from death: backwards from there, the nearest first. */
static void measure(graph *g) {
  uint16_t order[TSL__GRAPH_FIRST + TSL__GRAPH_POINTS + 1];
  uint32_t n = 0;
  turn_around(g);
  order[n++] = TSL__GRAPH_DEAD;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t away = order[k] == TSL__GRAPH_DEAD ? 1 : g->points[order[k]].away + 1;
    for (uint32_t i = g->into[order[k]]; i < g->into[order[k] + 1]; i++) {
      point *from = &g->points[g->ways[g->by_end[i]].from];
      if (from->away != TSL__GRAPH_FAR) continue;
      from->away = away;
      order[n++] = (uint16_t)(from - g->points);
    }
  }
}

/* The steps of a shortest way from the first point: all bytes that go the same way. */
static void find_candidates(graph *g) {
  for (uint32_t at = TSL__GRAPH_FIRST;
       at != TSL__GRAPH_DEAD && g->candidate_count < TSL__GRAPH_NEEDED;) {
    const way *w = g->ways + g->points[at].ways, *end = g->ways + g->points[at + 1].ways, *next = w;
    tsl__bytes *bytes = &g->candidates[g->candidate_count++];
    while (away_after(g, next) + 1 != g->points[at].away) next++;
    for (*bytes = (tsl__bytes){{0}}; w < end; w++)
      if (w->to == next->to) tsl__bytes_add_range(bytes, w->lo, w->hi);
    at = next->to;
  }
}

/* Has a set all of these bytes? */
static bool has_row(const tsl__bytes *set, unsigned lo, unsigned hi) {
  tsl__bytes row = {{0}};
  if (!tsl__bytes_has(set, lo) || !tsl__bytes_has(set, hi)) return false;
  if (hi - lo < 2) return true;
  tsl__bytes_add_range(&row, lo, hi);
  return tsl__bytes_within(&row, set);
}

/* Find the candidates that all ways need, from the ends of the ways to their beginnings. A point
 * that needs fewer than before is visited once more. */
static void find_needed_before(graph *g) {
  uint16_t changed[TSL__GRAPH_FIRST + TSL__GRAPH_POINTS + 1];
  bool waits[TSL__GRAPH_FIRST + TSL__GRAPH_POINTS + 1] = {false};
  uint32_t n = 0;
  changed[n++] = TSL__GRAPH_DEAD;
  while (n) {
    uint32_t at = changed[--n], then = at == TSL__GRAPH_DEAD ? 0 : g->points[at].needed;
    waits[at] = false;
    for (uint32_t i = g->into[at]; i < g->into[at + 1]; i++) {
      const way *w = &g->ways[g->by_end[i]];
      uint32_t needed = g->points[w->from].needed & (w->candidates | then);
      if (needed == g->points[w->from].needed) continue;
      g->points[w->from].needed = needed;
      if (!waits[w->from]) changed[n++] = w->from;
      waits[w->from] = true;
    }
  }
}

/* Which candidates have each byte. */
static void find_having(const graph *g, uint16_t having[256]) {
  memset(having, 0, 256 * sizeof *having);
  for (uint32_t k = 0; k < g->candidate_count; k++)
    for (unsigned w = 0; w < 4; w++)
      for (uint64_t bits = g->candidates[k].w[w]; bits; bits &= bits - 1)
        having[w * 64 + (unsigned)__builtin_ctzll(bits)] |= (uint16_t)(1u << k);
}

static void find_needed(graph *g) {
  uint16_t having[256];
  find_candidates(g);
  find_having(g, having);
  for (way *w = g->ways; w < g->ways + g->way_count; w++) {
    if (w->to == TSL__GRAPH_DEAD) tsl__bytes_add_range(&g->fatal, w->lo, w->hi);
    unsigned candidates = having[w->lo] & having[w->hi]; /* mostly none */
    for (unsigned b = w->lo + 1u; candidates && b < w->hi; b++) candidates &= having[b];
    w->candidates = (uint16_t)candidates;
  }
  find_needed_before(g);
}

/* ---- the trie -------------------------------------------------------------------------------- */

/* Can no text below a node die that leads to a point? */
static bool is_safe(const graph *g, const tsl__trie *trie, const tsl__trie_node *n,
                    const point *p) {
  if (n->height < p->away ||
      (n->below != UINT16_MAX && !tsl__bytes_meet(&trie->sets[n->below], &g->fatal)))
    return true;
  for (uint32_t k = 0; n->below != UINT16_MAX && k < g->candidate_count; k++)
    if (p->needed >> k & 1 && !tsl__bytes_meet(&trie->sets[n->below], &g->candidates[k]))
      return true;
  return false;
}

typedef struct place {
  uint32_t node, at;
} place;

static bool add_tokens(const graph *g, tsl__reference *out, const tsl_token *tokens, uint32_t n) {
  if (!tsl__vec_reserve(&g->space->alloc, &out->tokens, n)) return tsl__space_no_memory(g->space);
  memcpy(out->tokens.at + out->tokens.n, tokens, n * sizeof *tokens);
  out->tokens.n += n;
  return true;
}

/* The tokens that die, by the trees that they are in. False if there is too much to look at, or on
 * failure (sticky). */
static bool find_in_trie(const graph *g, tsl__reference *out) {
  tsl__space *space = g->space;
  const tsl__trie *trie = &space->vocab->trie;
  TSL__VEC(place) stack = {0};
  uint32_t looked = 0;
  bool fine = tsl__vec_push(&space->alloc, &stack, ((place){0, TSL__GRAPH_FIRST})) ||
              tsl__space_no_memory(space);
  while (fine && stack.n) {
    place p = stack.at[--stack.n];
    const tsl__trie_node *n = &trie->nodes[p.node];
    const way *w = g->ways + g->points[p.at].ways, *last = g->ways + g->points[p.at + 1].ways;
    looked += 1 + n->children;
    fine = looked <= g->nodes_max && tsl__space_step(space, 1u + n->children / 8);
    for (uint32_t c = n->first_child, end = c + n->children; c < end && fine; c++) {
      while (w < last && w->hi < trie->labels[c]) w++;
      if (w == last) break;
      if (trie->labels[c] < w->lo) continue; /* no letter */
      const tsl__trie_node *child = &trie->nodes[c];
      if (w->to == TSL__GRAPH_DEAD)
        fine = add_tokens(g, out, trie->order + child->begin, child->end - child->begin);
      else if (w->to >= TSL__GRAPH_FIRST && !is_safe(g, trie, child, &g->points[w->to]))
        fine = tsl__vec_push(&space->alloc, &stack, ((place){c, w->to})) ||
               tsl__space_no_memory(space);
    }
  }
  tsl__vec_free(&space->alloc, &stack);
  return fine;
}

/* Where the ways from a point lead, by byte. */
typedef struct onward {
  bool made[TSL__GRAPH_FIRST + TSL__GRAPH_POINTS];
  uint16_t to[][256];
} onward;

/* The row of a point, made when it is first requested. By what is no letter it leads
 * TSL__GRAPH_ELSEWHERE. */
static const uint16_t *row_of(const graph *g, onward *o, uint32_t at) {
  if (o->made[at]) return o->to[at];
  o->made[at] = true;
  for (unsigned b = 0; b < 256; b++) o->to[at][b] = TSL__GRAPH_ELSEWHERE;
  for (const way *w = g->ways + g->points[at].ways; w < g->ways + g->points[at + 1].ways; w++)
    for (unsigned b = w->lo; b <= w->hi; b++) o->to[at][b] = w->to;
  return o->to[at];
}

/* Does a token die by its letters? */
static bool dies(const graph *g, onward *o, const uint8_t *bytes, const uint8_t *end) {
  uint32_t at = TSL__GRAPH_FIRST;
  for (; at >= TSL__GRAPH_FIRST && (size_t)(end - bytes) >= g->points[at].away; bytes++)
    at = row_of(g, o, at)[*bytes];
  return at == TSL__GRAPH_DEAD;
}

/* Only the tokens that have one of n bytes are kept. */
static void keep_having(uint32_t *restrict bits, const uint32_t *const *having, uint32_t n,
                        size_t words) {
  const uint32_t *a = having[0], *b = having[n > 1], *c = having[n > 2 ? 2 : 0], *d = having[n - 1];
  if (n == 1) {
    tsl__mask_and(bits, a, words);
  } else if (n == 2) {
    TSL__AT_ONCE
    for (size_t i = 0; i < words; i++) bits[i] &= a[i] | b[i];
  } else {
    TSL__AT_ONCE
    for (size_t i = 0; i < words; i++) bits[i] &= a[i] | b[i] | c[i] | d[i];
  }
}

/* The tokens that have all that is needed, as far as candidates of few bytes say. False if there
 * is no such candidate. */
static bool find_suspects(const graph *g, const tsl__lengths *l, uint32_t *bits) {
  size_t words = tsl_vocab_mask_words(g->space->vocab);
  bool any = false;
  memset(bits, 0xFF, words * sizeof *bits);
  for (uint32_t k = 0; k < g->candidate_count; k++) {
    const uint32_t *having[FEW_BYTES];
    uint32_t n = 0;
    const tsl__bytes *c = &g->candidates[k];
    if (!(g->points[TSL__GRAPH_FIRST].needed >> k & 1) || c->w[2] || c->w[3] ||
        tsl__ones(c->w[0]) + tsl__ones(c->w[1]) > FEW_BYTES)
      continue;
    for (unsigned b = 0; b < 0x80; b++)
      if (tsl__bytes_has(c, b)) having[n++] = l->having[b];
    if (n == 0) continue;
    keep_having(bits, having, n, words);
    any = true;
  }
  return any;
}

/* Remove the tokens of a bitset that die. */
static bool try_bitset(const graph *g, const uint32_t *bits, tsl__reference *out) {
  const tsl_vocab *v = g->space->vocab;
  size_t size = sizeof(onward) + g->n * sizeof(uint16_t[256]);
  onward *o = tsl__alloc(&g->space->alloc, size);
  bool fine = o || tsl__space_no_memory(g->space);
  tsl__turns turns = tsl__turns_of(v, bits);
  if (o) memset(o->made, 0, sizeof o->made);
  for (tsl_token t; fine && tsl__turns_next(&turns, &t);)
    if (dies(g, o, v->bytes + v->offsets[t], v->bytes + v->offsets[t + 1]))
      fine = add_tokens(g, out, &t, 1);
  tsl__free(&g->space->alloc, o, size);
  return fine;
}

/* The tokens that die, among those few that have all that is needed. False if they are not few, or
 * on failure (sticky). */
static bool find_among_suspects(const graph *g, tsl__reference *out) {
  const tsl__lengths *l = tsl__lengths_of(g->space);
  size_t words = tsl_vocab_mask_words(g->space->vocab);
  uint32_t *bits = l ? tsl__alloc(&g->space->alloc, words * sizeof *bits) : NULL;
  if (l && !bits) return tsl__space_no_memory(g->space);
  bool fine = l && find_suspects(g, l, bits);
  size_t n = fine ? tsl_mask_count(bits, words * 32) : 0;
  fine = fine && n <= SUSPECTS_MAX && tsl__space_step(g->space, n) &&
         (n == 0 || try_bitset(g, bits, out));
  tsl__free(&g->space->alloc, bits, words * sizeof *bits);
  return fine;
}

/* The ASCII letters by which a text dies from any point between two characters. */
static tsl__bytes find_nowhere(const graph *g) {
  tsl__bytes all = {{UINT64_MAX, UINT64_MAX, 0, 0}};
  for (uint32_t i = TSL__GRAPH_FIRST; i < g->n; i++) {
    tsl__bytes dead = {{0}};
    for (const way *w = g->ways + g->points[i].ways; w < g->ways + g->points[i + 1].ways; w++) {
      if (w->to == TSL__GRAPH_ALIVE) return (tsl__bytes){{0}};
      if (w->to == TSL__GRAPH_DEAD) tsl__bytes_add_range(&dead, w->lo, w->hi);
    }
    for (int k = 0; k < 2 && g->points[i].part == TSL__GRAPH_BETWEEN; k++) all.w[k] &= dead.w[k];
  }
  return all;
}

/* The tokens that are texts of letters and hold one of some ASCII characters die. False on failure
 * (sticky). */
static bool add_holding(const graph *g, const tsl__bytes *any, tsl__reference *out) {
  tsl__space *space = g->space;
  const tsl__lengths *l = tsl__lengths_of(space);
  tsl__mask letters = l ? tsl__class_mask(space, &out->hint.letters, 0, 0, UINT32_MAX) : 0;
  size_t words = tsl_vocab_mask_words(space->vocab);
  uint32_t *bits = letters ? tsl__alloc_zero(&space->alloc, 2 * words * sizeof *bits) : NULL,
           *having = bits ? bits + words : NULL;
  if (!bits) return letters ? tsl__space_no_memory(space) : space->status == TSL_OK;
  tsl__mask_write(space, tsl__mask_at(space, letters), bits);
  for (unsigned b = 0; b < 0x80; b++)
    if (tsl__bytes_has(any, b)) tsl__mask_or(having, l->having[b], words);
  tsl__mask_and(bits, having, words);
  size_t n = tsl_mask_count(bits, words * 32);
  bool fine = tsl__space_step(space, n) &&
              (tsl__vec_reserve(&space->alloc, &out->tokens, n) || tsl__space_no_memory(space));
  for (size_t i = 0; i < words && fine; i++)
    for (uint32_t word = bits[i]; word; word &= word - 1)
      out->tokens.at[out->tokens.n++] = (tsl_token)(i * 32) + (tsl_token)__builtin_ctz(word);
  tsl__free(&space->alloc, bits, 2 * words * sizeof *bits);
  return fine;
}

/* Ways to death by what no text may hold are none from here on: the tokens that hold it have a
 * bitset. */
static void drop_nowhere(graph *g, const tsl__bytes *nowhere) {
  for (way *w = g->ways; w < g->ways + g->way_count; w++)
    if (w->to == TSL__GRAPH_DEAD && has_row(nowhere, w->lo, w->hi)) w->to = TSL__GRAPH_ELSEWHERE;
}

/* Find what the present ways to death need. False if there are none. */
static bool look_at_deaths(graph *g) {
  for (uint32_t i = TSL__GRAPH_FIRST; i < g->n; i++)
    g->points[i].away = TSL__GRAPH_FAR, g->points[i].needed = UINT16_MAX;
  g->candidate_count = 0;
  g->fatal = (tsl__bytes){{0}};
  measure(g);
  if (g->points[TSL__GRAPH_FIRST].away == TSL__GRAPH_FAR) return false;
  find_needed(g);
  return true;
}

/* The same tokens, death by death: each needs more than all have in common. False if it is too
 * much, or on failure (sticky); what they need is found anew then. */
static bool find_by_words(graph *g, tsl__reference *out) {
  way *dead[WORDS_MAX];
  uint32_t n = 0;
  for (way *w = g->ways; w < g->ways + g->way_count; w++) {
    if (w->to != TSL__GRAPH_DEAD) continue;
    if (n == WORDS_MAX) return false;
    dead[n++] = w;
  }
  if (n < 2) return false;
  size_t before = out->tokens.n;
  bool fine = true;
  for (uint32_t i = 0; i < n; i++) dead[i]->to = TSL__GRAPH_ELSEWHERE;
  for (uint32_t i = 0; i < n && fine; i++) {
    dead[i]->to = TSL__GRAPH_DEAD;
    fine = !look_at_deaths(g) || find_among_suspects(g, out);
    dead[i]->to = TSL__GRAPH_ELSEWHERE;
  }
  for (uint32_t i = 0; i < n; i++) dead[i]->to = TSL__GRAPH_DEAD;
  if (!fine) out->tokens.n = before, look_at_deaths(g);
  return fine;
}

/* The tokens that die by the ways to death that the graph has now. False if it is too much, or on
 * failure (sticky). */
static bool find_kind(graph *g, tsl__reference *out) {
  return !look_at_deaths(g) || find_among_suspects(g, out) ||
         (g->space->status == TSL_OK && find_by_words(g, out)) ||
         (g->space->status == TSL_OK && find_in_trie(g, out));
}

/* Some ways to death, by whether they are by ASCII, become none or some again. Returns how many. */
static uint32_t turn_ways(graph *g, bool ascii, uint16_t from, uint16_t to) {
  uint32_t n = 0;
  for (way *w = g->ways; w < g->ways + g->way_count; w++)
    if (w->to == from && (w->lo < 0x80) == ascii) w->to = to, n++;
  return n;
}

/* The tokens that die: by ASCII, within other characters, and by what they hold. False if it is too
 * much, or on failure (sticky). */
static bool find_dying(graph *g, tsl__reference *out) {
  tsl__bytes nowhere = find_nowhere(g);
  drop_nowhere(g, &nowhere);
  uint32_t others = turn_ways(g, false, TSL__GRAPH_DEAD, TSL__GRAPH_ELSEWHERE);
  if (!find_kind(g, out)) return false;
  turn_ways(g, true, TSL__GRAPH_DEAD, TSL__GRAPH_ELSEWHERE);
  if (others && (turn_ways(g, false, TSL__GRAPH_ELSEWHERE, TSL__GRAPH_DEAD), !find_kind(g, out)))
    return false;
  return tsl__bytes_empty(&nowhere) || add_holding(g, &nowhere, out);
}

/* ---- all together ---------------------------------------------------------------------------- */

/* Is a quote kept apart from the characters beside it, as in JSON strings? */
static bool keeps_quote_apart(const tsl__state_rec *r) {
  const uint8_t *upper = tsl__state_upper(r);
  uint32_t i = 0;
  while (upper[i] < '"') i++;
  return upper[i] == '"' && i && upper[i - 1] == '!';
}

/* Do all ASCII characters that live lead to one place? The letters of a class are found faster. */
static bool is_class(tsl__space *space, const tsl__state_rec *r) {
  tsl__target all = 0;
  for (uint32_t i = 0, b = 0; b < 0x80; b = tsl__state_upper(r)[i++] + 1u) {
    tsl__target t = tsl__state_range(space, r, i, (uint8_t)b);
    if (t && all && t != all) return false;
    all = t ? t : all;
  }
  return true;
}

/* The raw characters of a JSON string, or of any text; of what a state lives on, all else is an
 * exit. */
static void take_letters(tsl__hint *h, bool quoted, const tsl__bytes *live) {
  *h = (tsl__hint){.limit = TSL__COUNT_INF, .dead = TSL__COUNT_INF};
  tsl__bytes_add_range(&h->letters, quoted ? 0x20 : 0, 0xF4);
  h->letters.w[0] &= ~((uint64_t)quoted << '"');
  h->letters.w[1] &= ~((uint64_t)quoted << ('\\' & 63));
  for (int w = 0; w < 2; w++) h->exits.w[w] = live->w[w] & ~h->letters.w[w];
}

bool tsl__subtract_find(tsl__space *space, tsl__state state, bool last, tsl__reference *out) {
  const tsl__state_rec *r = tsl__state_expanded(space, state);
  if (!r) return false;
  bool quoted = keeps_quote_apart(r);
  tsl__reference_clear(out);
  if (!quoted && is_class(space, r)) return false;
  take_letters(&out->hint, quoted, &r->live);
  if (tsl__linear_beats(space, tsl__linear_table(space), r, &out->hint, 0)) return false;
  graph *g = tsl__alloc(&space->alloc, sizeof *g);
  if (!g) return tsl__space_no_memory(space);
  tsl__bytes live = {{(uint64_t)quoted << '"', (uint64_t)quoted << ('\\' & 63), 0,
                      0}}; /* as where it is TSL__GRAPH_ALIVE */
  g->space = space;
  g->quoted = quoted;
  /* a text that may end anywhere and keeps quotes apart is mostly one of a class, of which letters
   * are found faster */
  g->last = last && !quoted;
  g->n = TSL__GRAPH_FIRST;
  g->way_count = 0;
  g->derived = 0;
  g->stray = 0;
  for (unsigned i = 0; i < TSL__GRAPH_BRANCHES; i++) g->alike[i].of = NULL;
  g->leads = TSL__ALL_LEADS;
  bool few = quoted && r->live_count < CONJUNCTION;
  g->states_max = tsl__space_count(space, states) + (few ? NEW_FEW : NEW_MAX);
  g->nodes_max = few || !quoted ? NODES_FEW : NODES_MAX;
  memset(g->slots, 0, sizeof g->slots);
  bool fine = tsl__graph_explore(g, state, &live);
  if (fine) {
    take_letters(&out->hint, quoted, &live);
    fine = find_dying(g, out);
  }
  if (fine) {
    out->mask = tsl__class_mask(space, &out->hint.letters, 0, 0, UINT32_MAX);
    out->among = true;
    out->from = (tsl__linear_from){state, 0, 0, 0, last, NULL};
  }
  tsl__free(&space->alloc, g, sizeof *g);
  return fine;
}
