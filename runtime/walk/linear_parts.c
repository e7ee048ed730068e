/* linear_parts.c - the table of a vocabulary (linear.h), and smaller ones made of it: without
 * words, and of quotes alone.
 *
 * Problem   Three of five tokens are ASCII letters, with a space before them or without. Most
 *           states that read the table let all of them through, and the full table is larger than
 *           the processor's near caches. A JSON string that lives on any letters may be in another
 *           state after each letter. So the search would look for the closing quote from each of
 *           these states.
 * Words     Words of up to 32 ASCII letters are one bitset, and words with a space before them are
 *           another. Where a state lets all words through, the bitsets answer for them. Then a
 *           table is read which lacks the nodes that have only words below.
 * Letters   Most nodes of that table hold letters past ASCII. Most patterns treat these alike,
 *           except for spaces and marks. So two further bitsets hold words of ASCII letters and of
 *           characters whose first byte no space has. Without their nodes a table of some thousand
 *           is left.
 * Quotes    This table has the nodes with a quote or a backslash below, and all nodes below these
 *           bytes, in the order of their spelling. The nodes above a quote have no tokens in this
 *           table: they spell letters, and the mask of the class of letters has their tokens.
 * Example   Tokens `a`, `ab`, `a1`, `b"`, `"}`. Words are `a` and `ab`; the table without words has
 *           `a` (because of `a1` below it), `a1`, `b`, `b"`, `"` and `"}`. The table of quotes has
 *           `b` (no token), `b"`, `"` and `"}`.
 * Cost      Made once per vocabulary. Of the 274,520 nodes of Llama-3.1's trie the table of quotes
 *           keeps some 3,000.
 * Tested by tests/walk/test_linear.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/linear.h"

/* ---- words ----------------------------------------------------------------------------------- */

#define NO_WORD UINT8_MAX

const tsl__high_letter tsl__high_letters[TSL__HIGH_LETTERS] = {
    {2, {{0xC3, 0xDF}, {0x80, 0xBF}}},
    {3, {{0xE0, 0xE0}, {0xA0, 0xBF}, {0x80, 0xBF}}},
    {3, {{0xE4, 0xEC}, {0x80, 0xBF}, {0x80, 0xBF}}},
    {3, {{0xED, 0xED}, {0x80, 0x9F}, {0x80, 0xBF}}}};

/* The path to a node. */
typedef struct path {
  /* ASCII letters, if there is nothing else; NO_WORD: there is, or they are too many */
  uint8_t letters;
  bool spaced,
      nonascii; /* wide: letters of any kind, the last of which may be cut off; one at least */
  uint8_t read; /* bytes of the letter under way */
  const tsl__high_letter *under_way; /* past ASCII; NULL: none is */
} path;

static bool is_letter(uint8_t byte) {
  return byte >> 6 == 1 && TSL__WORD_LETTERS >> (byte & 63) & 1;
}

static bool is_between(uint8_t byte, const uint8_t bounds[2]) {
  return byte >= bounds[0] && byte <= bounds[1];
}

static const tsl__high_letter *begun_by(uint8_t byte) {
  for (uint32_t i = 0; i < TSL__HIGH_LETTERS; i++)
    if (is_between(byte, tsl__high_letters[i].bytes[0])) return &tsl__high_letters[i];
  return NULL;
}

/* A byte that begins a letter, or one within a letter past ASCII. */
static void read_nonascii(path *p, uint8_t byte) {
  if (p->under_way) {
    p->nonascii &= is_between(byte, p->under_way->bytes[p->read]);
    if (++p->read == p->under_way->length) p->under_way = NULL;
  } else if ((p->under_way = begun_by(byte)) != NULL) {
    p->read = 1;
  } else {
    p->nonascii &= is_letter(byte);
  }
}

/* A space alone is no word: what follows it has to be read. */
static path path_on(path p, const tsl__linear_node *n) {
  bool space = n->above == 0 && n->byte == ' ';
  p.spaced |= space;
  p.nonascii |= n->above == 0 || (n->above == 1 && p.spaced);
  if (space) return p;
  p.letters =
      is_letter(n->byte) && p.letters < TSL__WORDS_HIGH ? (uint8_t)(p.letters + 1) : NO_WORD;
  read_nonascii(&p, n->byte);
  return p;
}

/* Is it a word, of ASCII letters or of any? */
static bool is_word(path p, bool nonascii, uint32_t length) {
  return length > p.spaced && (nonascii ? p.nonascii : p.letters != NO_WORD);
}

/* Which nodes are words and have nothing else below: from the last to the first. *more: nodes that
 * are not. */
static void find_covered(const tsl__linear *l, bool *covered, uint32_t *more) {
  *more = 1;
  for (uint32_t i = l->n; i-- > 1;) {
    for (uint32_t c = i + 1; c < l->nodes[i].next && covered[i]; c = l->nodes[c].next)
      covered[i] = covered[c];
    *more += !covered[i];
  }
}

/* All words, as bitsets without and with a space; *covered: each node that is one. */
static bool put_words(tsl__space *base, const tsl__linear *l, bool nonascii,
                      const uint32_t *words[2], bool *covered) {
  size_t size = ((size_t)base->vocab->trie.nodes[0].height + 1) * sizeof(path);
  uint32_t number, *bits[2] = {NULL, NULL};
  for (unsigned k = 0; k < 2; k++)
    if (!(words[k] = bits[k] = tsl__bitset_new(base, &number))) return false;
  path *paths = tsl__alloc_zero(&base->alloc, size);
  if (!paths) return tsl__space_no_memory(base);
  for (uint32_t i = 1; i < l->n; i++) {
    const tsl__linear_node *n = &l->nodes[i];
    path p = paths[n->above + 1] = path_on(paths[n->above], n);
    covered[i] = is_word(p, nonascii, n->above + 1u);
    if (covered[i] && n->token < l->tokens) tsl__mask_bit_set(bits[p.spaced], n->token);
  }
  tsl__free(&base->alloc, paths, size);
  return true;
}

/* The table without what is covered. *before: room for a number each. */
static void put_rest(const tsl__linear *l, const bool *covered, uint32_t *before,
                     tsl__linear *rest) {
  for (uint32_t i = 0, n = 0; i <= l->n; i++) {
    before[i] = n;
    n += i < l->n && !covered[i];
  }
  for (uint32_t i = 0; i < l->n; i++) {
    if (covered[i]) continue;
    rest->nodes[rest->n] = l->nodes[i];
    rest->nodes[rest->n++].next = before[l->nodes[i].next];
  }
  rest->space = before[l->space];
}

/* Words of one kind, and the table without them. *covered and *before: room for a mark of
 * each node. NULL on failure (sticky). */
static const tsl__linear *make_rest(tsl__space *base, const tsl__linear *l, bool nonascii,
                                    const uint32_t *words[2], bool *covered, uint32_t *before) {
  uint32_t more;
  if (!put_words(base, l, nonascii, words, covered)) return NULL;
  find_covered(l, covered, &more);
  tsl__linear *rest = tsl__arena_alloc(&base->arena, sizeof *rest);
  tsl__linear_node *nodes = rest ? tsl__arena_alloc(&base->arena, more * sizeof *nodes) : NULL;
  if (!nodes) return tsl__space_no_memory(base), NULL;
  *rest = (tsl__linear){.nodes = nodes, .tokens = l->tokens, .least = l->least};
  put_rest(l, covered, before, rest);
  return rest;
}

bool tsl__cover_make(tsl__space *base, tsl__linear *l) {
  bool *covered = tsl__alloc_zero(&base->alloc, l->n * sizeof *covered);
  uint32_t *before = tsl__alloc(&base->alloc, (l->n + (size_t)1) * sizeof *before);
  bool fine = (covered && before) || tsl__space_no_memory(base);
  fine = fine && (l->rest = make_rest(base, l, false, l->words, covered, before)) &&
         (l->nonascii_rest = make_rest(base, l, true, l->nonascii_words, covered, before));
  tsl__free(&base->alloc, covered, l->n * sizeof *covered);
  tsl__free(&base->alloc, before, (l->n + (size_t)1) * sizeof *before);
  return fine;
}

/* ---- quotes ---------------------------------------------------------------------------------- */

/* Where a node is: nowhere near; above a quote or backslash; at one, or below. */
enum { AWAY, ABOVE, FROM };

static bool is_quote(uint8_t byte) { return byte == '"' || byte == '\\'; }

/* Find the place of each node; the root is ABOVE in any case. Returns how many nodes are not
 * AWAY. */
static uint32_t find_places(const tsl__linear *l, uint8_t *place) {
  uint32_t n = 0;
  place[0] = ABOVE;
  for (uint32_t i = 1; i < l->n; i++)
    if (is_quote(l->nodes[i].byte)) memset(place + i, FROM, l->nodes[i].next - i);
  for (uint32_t i = l->n; i-- > 0;) {
    for (uint32_t c = i + 1; c < l->nodes[i].next && place[i] == AWAY; c = l->nodes[c].next)
      place[i] = place[c] != AWAY ? ABOVE : AWAY;
    n += place[i] != AWAY;
  }
  return n;
}

/* The table of what is not AWAY. *before: room for a number each. */
static void put_quoted(const tsl__linear *l, const uint8_t *place, uint32_t *before,
                       tsl__linear *quoted) {
  for (uint32_t i = 0, n = 0; i <= l->n; i++) {
    before[i] = n;
    n += i < l->n && place[i] != AWAY;
  }
  for (uint32_t i = 0; i < l->n; i++) {
    if (place[i] == AWAY) continue;
    tsl__linear_node *n = &quoted->nodes[quoted->n++];
    *n = l->nodes[i];
    n->next = before[n->next];
    n->below = place[i] == ABOVE;
    if (n->below) n->token = l->tokens;
  }
}

bool tsl__quoted_make(tsl__space *base, tsl__linear *l) {
  uint8_t *place = tsl__alloc_zero(&base->alloc, l->n);
  uint32_t *before = tsl__alloc(&base->alloc, (l->n + (size_t)1) * sizeof *before);
  tsl__linear *quoted = place && before ? tsl__arena_alloc(&base->arena, sizeof *quoted) : NULL;
  tsl__linear_node *nodes =
      quoted ? tsl__arena_alloc(&base->arena, (find_places(l, place) + (size_t)1) * sizeof *nodes)
             : NULL;
  if (nodes) {
    *quoted = (tsl__linear){.nodes = nodes, .tokens = l->tokens, .least = l->least};
    put_quoted(l, place, before, quoted);
    l->quoted = quoted;
  } else {
    tsl__space_no_memory(base);
  }
  tsl__free(&base->alloc, place, l->n);
  tsl__free(&base->alloc, before, (l->n + (size_t)1) * sizeof *before);
  return nodes != NULL;
}

/* ---- the full table -------------------------------------------------------------------------- */

#define LARGE 32u      /* tokens below a node */
#define WORDS_NODES 3u /* of letters only, from which they are passed over at once */

static const tsl__bytes words = {{0, TSL__WORD_LETTERS, 0, 0}};

typedef struct place {
  uint32_t node;
  uint16_t depth;
} place;

/* A node in the table, with its tokens; what follows it is put in when its tree has been. */
static void put(tsl__linear *l, const tsl__trie *trie, place p) {
  const tsl__trie_node *n = &trie->nodes[p.node];
  tsl__linear_node made = {0,       l->tokens + 32 * (l->n % TSL__LINEAR_SPARE),
                           p.node,  (uint16_t)(p.depth ? p.depth - 1 : 0),
                           n->byte, n->end - n->own_end >= LARGE ? TSL__LINEAR_LARGE : 0};
  for (uint32_t k = n->begin; k < n->own_end; k++) {
    made.token = trie->order[k];
    if (k + 1 == n->own_end) break;
    l->nodes[l->n] = (tsl__linear_node){l->n + 1, made.token, UINT32_MAX, made.above, made.byte, 0};
    l->n++;
  }
  l->at[p.node] = l->n;
  l->nodes[l->n++] = made;
}

/* `next` of each: where the next node is that is no deeper. From the last to the first, as `next`
 * of a later one is known. */
static void put_next(tsl__linear *l) {
  for (uint32_t i = l->n; i-- > 0;) {
    uint32_t next = i + 1;
    if (l->nodes[i].next) continue;
    while (i > 0 && next < l->n && l->nodes[next].above > l->nodes[i].above)
      next = l->nodes[next].next;
    l->nodes[i].next = i == 0 ? l->n : next;
  }
}

/* The height of what is letters only, and more than a few nodes. */
static void put_heights(tsl__linear *l, const tsl__trie *trie) {
  for (uint32_t i = 0; i < l->n; i++) {
    tsl__linear_node *n = &l->nodes[i];
    if (n->next - i <= WORDS_NODES) continue;
    const tsl__trie_node *t = &trie->nodes[n->node];
    if (t->height <= TSL__WORDS_HIGH && tsl__trie_below_within(trie, t, &words))
      n->below |= (uint8_t)t->height;
  }
}

/* How many nodes have a byte below: by the sets that they share. */
static bool count_above(tsl__space *base, tsl__linear *l) {
  const tsl__trie *trie = &base->vocab->trie;
  size_t size = (trie->set_count + 1u) * sizeof(uint32_t);
  uint32_t *nodes = tsl__alloc_zero(&base->alloc, size);
  if (!nodes) return tsl__space_no_memory(base);
  for (uint32_t i = 0; i < trie->node_count; i++)
    nodes[trie->nodes[i].below == UINT16_MAX ? trie->set_count : trie->nodes[i].below]++;
  for (uint32_t k = 0; k < trie->set_count; k++)
    for (unsigned w = 0; w < 4; w++)
      for (uint64_t left = trie->sets[k].w[w]; left; left &= left - 1)
        l->above[w << 6 | (unsigned)__builtin_ctzll(left)] += nodes[k];
  tsl__free(&base->alloc, nodes, size);
  return true;
}

tsl_status tsl__linear_make(tsl__space *base) {
  const tsl__trie *trie = &base->vocab->trie;
  TSL__VEC(place) stack = {0};
  tsl__linear *l = tsl__arena_alloc(&base->arena, sizeof *l);
  size_t most = (size_t)trie->node_count + trie->order_count;
  tsl__linear_node *nodes = l ? tsl__arena_alloc(&base->arena, most * sizeof *nodes) : NULL;
  uint32_t *at = nodes ? tsl__arena_alloc(&base->arena, trie->node_count * sizeof *at) : NULL;
  if (!at || !tsl__vec_push(&base->alloc, &stack, ((place){0, 0})))
    return tsl__space_no_memory(base), base->status;
  *l = (tsl__linear){.nodes = nodes,
                     .at = at,
                     .tokens = (uint32_t)tsl_vocab_mask_words(base->vocab) * 32,
                     .least = TSL__LINEAR_TOKENS};
  while (stack.n) {
    place p = stack.at[--stack.n];
    const tsl__trie_node *n = &trie->nodes[p.node];
    put(l, trie, p);
    for (uint32_t c = n->first_child + n->children; c-- > n->first_child;)
      if (!tsl__vec_push(&base->alloc, &stack, ((place){c, (uint16_t)(p.depth + 1)}))) {
        tsl__vec_free(&base->alloc, &stack);
        return tsl__space_no_memory(base), base->status;
      }
  }
  tsl__vec_free(&base->alloc, &stack);
  put_next(l);
  put_heights(l, trie);
  uint32_t space = tsl__trie_child(trie, 0, ' ');
  l->space = space ? l->at[space] : 0;
  if (count_above(base, l) && tsl__cover_make(base, l) && tsl__quoted_make(base, l))
    base->warm.linear = l;
  return base->status;
}
