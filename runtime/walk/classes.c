/* classes.c - see classes.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/classes.h"

#include "runtime/walk/shared_walks.h"
#include "runtime/walk/linear.h"
#include "runtime/kernels/logits.h"
#include "runtime/walk/nonascii.h"

#include <limits.h>
#include <stdlib.h>

#define LARGE_CLASS 20u /* ASCII letters */

/* The groups, as the words of a set of bytes. They are controls; signs, but for those that names,
 * paths and numbers have; digits; letters, those that are hexadecimal digits apart. */
static const uint64_t alike[TSL__ALIKE][2] = {
    {0x00000000FFFFFFFFu, 0x8000000000000000u},
    {0xF80000FE00000000u, 0x0000000000000001u}, /* !"#$%&' and ;<=>?@ */
    {0x00001F0000000000u, 0},                   /* ()*+, */
    {0, 0x7800000078000000u},                   /* [\]^ and {|}~ */
    {0x03FF000000000000u, 0},
    {0, 0x000000000000007Eu},
    {0, 0x0000000007FFFF80u},
    {0, 0x0000007E00000000u},
    {0, 0x07FFFF8000000000u},
};

/* ---- UTF-8 ----------------------------------------------------------------------------------- */

/* Where in a multi-byte character a walk is: bytes still to come, and the range of the next one. */
typedef struct place {
  uint32_t node;
  uint8_t missing, lo, hi;
} place;

static bool step_utf8(const place *at, const tsl__bytes *letters, uint8_t b, place *to) {
  to->lo = 0x80;
  to->hi = 0xBF;
  if (at->missing) {
    to->missing = (uint8_t)(at->missing - 1);
    return b >= at->lo && b <= at->hi;
  }
  if (!tsl__bytes_has(letters, b)) return false;
  to->missing = 0;
  if (b < 0x80) return true;
  if (b < 0xC2 || b > 0xF4) return false;
  to->missing = b < 0xE0 ? 1 : b < 0xF0 ? 2 : 3;
  if (b == 0xE0) to->lo = 0xA0;
  if (b == 0xED) to->hi = 0x9F;
  if (b == 0xF0) to->lo = 0x90;
  if (b == 0xF4) to->hi = 0x8F;
  return true;
}

/* ---- lengths --------------------------------------------------------------------------------- */

static uint32_t characters(const tsl_vocab *v, tsl_token t) {
  uint32_t n = 0;
  for (uint32_t i = v->offsets[t]; i < v->offsets[t + 1]; i++) n += (v->bytes[i] & 0xC0) != 0x80;
  return n;
}

typedef struct counted_token {
  tsl_token token;
  uint32_t rank; /* by spelling */
  uint16_t length;
} counted_token;

static int longest_first(const void *p, const void *q) {
  const counted_token *a = p, *b = q;
  return a->length != b->length ? (a->length > b->length ? -1 : 1)
         : a->token < b->token  ? -1
                                : a->token > b->token;
}

/* Bytes that two tokens begin with alike. */
static uint16_t shares(const tsl_vocab *v, tsl_token a, tsl_token b) {
  const uint8_t *p = v->bytes + v->offsets[a], *q = v->bytes + v->offsets[b];
  uint32_t n = 0, m = v->offsets[a + 1] - v->offsets[a], k = v->offsets[b + 1] - v->offsets[b];
  while (n < m && n < k && n < UINT16_MAX && p[n] == q[n]) n++;
  return (uint16_t)n;
}

/* Note the characters of a token. */
static void look_into(const tsl_vocab *v, tsl_token t, uint32_t *text, uint32_t *having[129]) {
  place at = {0, 0, 0x80, 0xBF};
  bool fine = true;
  for (uint32_t i = v->offsets[t]; i < v->offsets[t + 1]; i++) {
    place to = at;
    fine = fine && step_utf8(&at, &TSL__BYTES_ALL, v->bytes[i], &to);
    at = to;
    tsl__mask_bit_set(having[v->bytes[i] < 0x80 ? v->bytes[i] : 128], t);
  }
  if (fine) tsl__mask_bit_set(text, t);
}

/* The same of groups. */
static bool make_alike(tsl__space *base, tsl__lengths *l) {
  for (unsigned k = 0; k < TSL__ALIKE; k++) {
    uint32_t number, *bits = tsl__bitset_new(base, &number);
    if (!bits) return false;
    for (unsigned c = 0; c < 128; c++)
      if (alike[k][c >> 6] >> (c & 63) & 1)
        tsl__mask_or(bits, l->having[c], tsl_vocab_mask_words(base->vocab));
    l->having_alike[k] = bits;
  }
  return true;
}

/* The tables by character, filled in; false on failure (sticky). */
static bool make_having(tsl__space *base, tsl__lengths *l) {
  uint32_t *having[129], *text, number;
  if (!(l->text = text = tsl__bitset_new(base, &number))) return false;
  for (unsigned c = 0; c < 129; c++)
    if (!(having[c] = tsl__bitset_new(base, &number))) return false;
  for (uint32_t i = 0; i < base->vocab->trie.order_count; i++)
    look_into(base->vocab, base->vocab->trie.order[i], text, having);
  for (unsigned c = 0; c < 128; c++) l->having[c] = having[c];
  l->past_ascii = having[128];
  return make_alike(base, l);
}

typedef TSL__VEC(uint32_t) number_vec;

/* All that is one character past ASCII or begins one, from a node on that is in the middle of
 * it. */
static bool find_ones(tsl__space *base, place at, number_vec *ones, number_vec *wholes) {
  const tsl__trie *trie = &base->vocab->trie;
  const tsl__trie_node *n = &trie->nodes[at.node];
  for (uint32_t k = n->begin; k < n->own_end; k++)
    if (!tsl__vec_push(&base->alloc, ones, trie->order[k])) return false;
  if (!at.missing) return !n->children || tsl__vec_push(&base->alloc, wholes, at.node);
  for (uint32_t c = n->first_child, end = c + n->children; c < end; c++) {
    place to = {.node = c};
    if (step_utf8(&at, NULL, trie->nodes[c].byte, &to) && !find_ones(base, to, ones, wholes))
      return false;
  }
  return true;
}

static bool make_ones(tsl__space *base, tsl__lengths *l) {
  const tsl__trie *trie = &base->vocab->trie;
  number_vec ones = {0}, wholes = {0};
  bool fine = true;
  l->ones_of[0] = l->wholes_of[0] = 0;
  for (unsigned k = 0; k < TSL__LEADS && fine; k++) {
    place at = {0, 0, 0, 0}, to = {.node = tsl__trie_child(trie, 0, (uint8_t)(TSL__LEAD + k))};
    fine = !to.node || (step_utf8(&at, &TSL__BYTES_ALL, (uint8_t)(TSL__LEAD + k), &to) &&
                        find_ones(base, to, &ones, &wholes));
    l->ones_of[k + 1] = (uint32_t)ones.n;
    l->wholes_of[k + 1] = (uint32_t)wholes.n;
  }
  l->ones = fine ? tsl__arena_copy(&base->arena, ones.at, ones.n * sizeof *ones.at) : NULL;
  l->wholes = fine ? tsl__arena_copy(&base->arena, wholes.at, wholes.n * sizeof *wholes.at) : NULL;
  tsl__vec_free(&base->alloc, &ones);
  tsl__vec_free(&base->alloc, &wholes);
  if (!l->ones || !l->wholes) return tsl__space_no_memory(base);
  return true;
}

/* What the nodes hold, by character: each marks itself and those above it, up to one that is marked
 * already. */
static bool make_holding(tsl__space *base, tsl__lengths *l) {
  const tsl__trie *trie = &base->vocab->trie;
  const uint32_t *parents = l->endings->parents;
  size_t words = trie->node_count / 64 + 1;
  uint64_t *bits = tsl__arena_alloc(&base->arena, 129 * words * sizeof *bits);
  if (!bits) return tsl__space_no_memory(base);
  memset(bits, 0, 129 * words * sizeof *bits);
  for (unsigned c = 0; c < 129; c++) l->holding[c] = bits + c * words;
  for (uint32_t node = 1; node < trie->node_count; node++) {
    uint8_t byte = trie->nodes[node].byte;
    uint64_t *of = bits + (byte < 0x80 ? byte : 128) * words;
    for (uint32_t n = node; !tsl__nonascii_bit(of, n); n = parents[n])
      of[n >> 6] |= (uint64_t)1 << (n & 63);
  }
  return true;
}

tsl_status tsl__lengths_make(tsl__space *base) {
  const tsl_vocab *v = base->vocab;
  TSL__VEC(counted_token) longer = {0};
  tsl__lengths *l = tsl__arena_alloc(&base->arena, sizeof *l);
  uint32_t *bits[TSL__SHORT_MAX], number;
  if (!l) return tsl__space_fail(base, TSL_ERR_NO_MEMORY, "out of memory");
  for (uint32_t k = 0; k < TSL__SHORT_MAX; k++)
    if (!(l->at_most[k] = bits[k] = tsl__bitset_new(base, &number))) return base->status;
  for (uint32_t i = 0; i < v->trie.order_count; i++) {
    tsl_token t = v->trie.order[i];
    uint32_t n = characters(v, t);
    counted_token c = {t, (uint32_t)longer.n, (uint16_t)n};
    if (n > TSL__SHORT_MAX && !tsl__vec_push(&base->alloc, &longer, c)) tsl__space_no_memory(base);
    if (n <= TSL__SHORT_MAX) tsl__mask_bit_set(bits[n ? n - 1 : 0], t);
  }
  for (uint32_t k = 1; k < TSL__SHORT_MAX; k++)
    tsl__mask_or(bits[k], bits[k - 1], tsl_vocab_mask_words(v));
  if (longer.n) qsort(longer.at, longer.n, sizeof *longer.at, longest_first);
  tsl_token *tokens = tsl__arena_alloc(&base->arena, longer.n * sizeof *tokens + 4);
  uint16_t *lengths = tsl__arena_alloc(&base->arena, longer.n * sizeof *lengths + 4),
           *shared = tsl__arena_alloc(&base->arena, longer.n * sizeof *shared + 4);
  uint32_t *spelled = tsl__arena_alloc(&base->arena, longer.n * sizeof *spelled + 4);
  bool fine = tokens && lengths && shared && spelled;
  for (size_t i = 0; fine && i < longer.n; i++) {
    tokens[i] = longer.at[i].token;
    lengths[i] = longer.at[i].length;
    spelled[longer.at[i].rank] = (uint32_t)i;
  }
  for (size_t k = 0; fine && k < longer.n; k++)
    shared[k] = k ? shares(v, tokens[spelled[k - 1]], tokens[spelled[k]]) : 0;
  l->longer = tokens;
  l->longer_shared = shared;
  l->longer_spelled = spelled;
  l->longer_length = lengths;
  l->longer_count = (uint32_t)longer.n;
  tsl__vec_free(&base->alloc, &longer);
  if (!fine)
    tsl__space_no_memory(base);
  else if (make_having(base, l) && make_ones(base, l) && (l->endings = tsl__endings_make(base)))
    make_holding(base, l);
  base->warm.lengths = l;
  return base->status;
}

/* ---- classes --------------------------------------------------------------------------------- */

/* Are all bytes below this node letters of the class? Where the class has all characters past
 * ASCII, only ASCII is looked at. */
static bool all_below(const tsl__trie *trie, uint32_t n, const tsl__bytes *letters,
                      const tsl__nonascii *nonascii) {
  const tsl__trie_node *node = &trie->nodes[n];
  if (node->below == UINT16_MAX) return node->children == 0;
  const tsl__bytes *below = &trie->sets[node->below];
  if ((below->w[0] & ~letters->w[0]) || (below->w[1] & ~letters->w[1])) return false;
  return (!below->w[2] && !below->w[3]) || (nonascii && !tsl__nonascii_bit(nonascii->dirty, n));
}

/* The words of a mask that is one bitset and no more; NULL: it is another. */
static const uint32_t *only_bitset(const tsl__mask_rec *r) {
  return r->base_count == 1 && !r->plus_count && !r->minus_count ? r->first : NULL;
}

/* The smallest class with a bitset that has all the letters, and is not narrower past ASCII. NULL:
 * there is none. */
static const tsl__class *find_wider(const tsl__space *space, const tsl__bytes *letters,
                                    uint32_t nonascii) {
  const tsl__class *best = NULL;
  unsigned least = UINT_MAX;
  for (uint32_t i = 0; i < tsl__space_count(space, classes); i++) {
    const tsl__class *c = tsl__space_at(space, classes, i);
    if (c->node || c->limit != UINT32_MAX || (c->nonascii && c->nonascii != nonascii) ||
        !tsl__bytes_within(letters, &c->letters))
      continue;
    unsigned more =
        tsl__ones(c->letters.w[0] & ~letters->w[0]) + tsl__ones(c->letters.w[1] & ~letters->w[1]);
    if (more >= least || !only_bitset(tsl__mask_at(space, c->mask))) continue;
    least = more;
    best = c;
  }
  return best;
}

/* Take out what holds an ASCII character that is no letter, but may be one of `wider` (NULL: any).
 * What holds one of a group goes at once. */
static void remove_having(const tsl__lengths *l, const tsl__bytes *letters, const tsl__bytes *wider,
                          uint32_t *bits, size_t words) {
  uint64_t left[2] = {~letters->w[0] & (wider ? wider->w[0] : UINT64_MAX),
                      ~letters->w[1] & (wider ? wider->w[1] : UINT64_MAX)};
  for (unsigned k = 0; k < TSL__ALIKE; k++) {
    bool some = (alike[k][0] & left[0]) || (alike[k][1] & left[1]),
         one = (alike[k][0] & letters->w[0]) || (alike[k][1] & letters->w[1]);
    if (!some || one) continue;
    tsl__mask_andnot(bits, l->having_alike[k], words);
    for (int w = 0; w < 2; w++) left[w] &= ~alike[k][w];
  }
  for (unsigned c = 0; c < 128; c++)
    if (left[c >> 6] >> (c & 63) & 1) tsl__mask_andnot(bits, l->having[c], words);
}

/* The same from the root, for large classes: all text, or what a larger class has, minus the tokens
 * that hold anything else. */
static bool gather_all(tsl__space *space, tsl__gather *g, const tsl__lengths *l,
                       const tsl__bytes *letters, uint32_t nonascii_number) {
  const tsl__nonascii *nonascii = nonascii_number ? tsl__nonascii_at(space, nonascii_number) : NULL;
  const tsl__class *wider = find_wider(space, letters, nonascii_number);
  const tsl__trie *trie = &space->vocab->trie;
  size_t words = tsl_vocab_mask_words(space->vocab);
  uint32_t *bits = tsl__space_step(space, (uint32_t)words) ? tsl__bits_room(space) : NULL;
  if (!bits) return false;
  memcpy(bits, wider ? only_bitset(tsl__mask_at(space, wider->mask)) : l->text,
         words * sizeof *bits);
  remove_having(l, letters, wider ? &wider->letters : NULL, bits, words);
  if (!letters->w[3] && (!wider || wider->letters.w[3]))
    tsl__mask_andnot(bits, l->past_ascii, words);
  for (uint32_t w = 0; nonascii && w <= trie->node_count / 64; w++)
    for (uint64_t exits = nonascii->exit[w]; exits; exits &= exits - 1) {
      const tsl__trie_node *n = &trie->nodes[w * 64 + (uint32_t)__builtin_ctzll(exits)];
      for (uint32_t k = n->begin; k < n->end; k++) tsl__mask_bit_clear(bits, trie->order[k]);
    }
  return tsl__gather_room(space, g, bits);
}

static bool gather_class(tsl__space *space, tsl__gather *g, const tsl__bytes *letters,
                         uint32_t nonascii_number, uint32_t root) {
  const tsl__nonascii *nonascii = nonascii_number ? tsl__nonascii_at(space, nonascii_number) : NULL;
  const tsl__trie *trie = &space->vocab->trie;
  TSL__VEC(place) stack = {0};
  place start = {root, 0, 0x80, 0xBF};
  bool fine = tsl__vec_push(&space->alloc, &stack, start);
  while (fine && stack.n) {
    place at = stack.at[--stack.n];
    const tsl__trie_node *node = &trie->nodes[at.node];
    fine = tsl__space_step(space, node->children);
    for (uint32_t c = node->first_child; fine && c < node->first_child + node->children; c++) {
      const tsl__trie_node *child = &trie->nodes[c];
      place to;
      if (!step_utf8(&at, letters, child->byte, &to) ||
          (nonascii && child->byte >= 0x80 && tsl__nonascii_bit(nonascii->exit, c)))
        continue;
      bool sweep = to.missing == 0 && all_below(trie, c, letters, nonascii);
      uint32_t end = sweep ? child->end : child->own_end;
      fine = tsl__gather_tokens(space, g, trie->order + child->begin, end - child->begin);
      to.node = c;
      if (!sweep && child->children) fine = fine && tsl__vec_push(&space->alloc, &stack, to);
    }
  }
  tsl__vec_free(&space->alloc, &stack);
  if (!fine) tsl__space_no_memory(space);
  return fine;
}

static void free_lengths(tsl_vocab *v) {
  tsl__space_free(atomic_load_explicit(&v->lengths, memory_order_acquire));
}
static size_t lengths_memory(const tsl_vocab *v) {
  return tsl__space_memory(
      atomic_load_explicit(&((tsl_vocab *)(uintptr_t)v)->lengths, memory_order_acquire));
}

/* A grammar that was loaded has no layer below: its vocabulary keeps the lengths for all of
 * them. */
static const tsl__lengths *lengths_of_vocab(tsl__space *space) {
  static const tsl__kept_ops kept = {free_lengths, lengths_memory};
  tsl_vocab *v = (tsl_vocab *)(uintptr_t)space->vocab;
  tsl__space *made = atomic_load_explicit(&v->lengths, memory_order_acquire);
  if (made) return made->warm.lengths;
  tsl__mutex_lock(&v->lock);
  made = atomic_load_explicit(&v->lengths, memory_order_acquire);
  tsl_status status = TSL_OK;
  if (!made) {
    status = space->layer->make(NULL, v, &v->alloc, NULL, &made);
    if (status == TSL_OK) status = tsl__lengths_make(made);
    if (status == TSL_OK) {
      atomic_store_explicit(&v->lengths, made, memory_order_release);
      atomic_store_explicit(&v->kept[TSL__KEPT_LENGTHS], &kept, memory_order_release);
    } else {
      tsl__space_free(made), made = NULL;
    }
  }
  tsl__mutex_unlock(&v->lock);
  if (!made) tsl__space_fail(space, status, "out of memory");
  return made ? made->warm.lengths : NULL;
}

/* Is the path to the node made of letters only, the last one whole? Then a token below is a text of
 * letters just if what is left of it is. With a class past ASCII only paths of ASCII are known. */
static bool is_among(const tsl__space *space, const tsl__linear *t, const tsl__bytes *letters,
                     uint32_t nonascii, uint32_t node) {
  const tsl_vocab *v = space->vocab;
  const uint8_t *path = v->bytes + v->offsets[v->trie.order[v->trie.nodes[node].begin]];
  place at = {node, 0, 0x80, 0xBF}, to;
  for (uint32_t i = 0; i <= t->nodes[t->at[node]].above; i++, at = to)
    if ((nonascii && path[i] >= 0x80) || !step_utf8(&at, letters, path[i], &to)) return false;
  return at.missing == 0;
}

/* The words of a class from the root, if they say which tokens below a node are of it. NULL: they
 * do not, or on failure (sticky). */
static const uint32_t *whole_class(tsl__space *space, const tsl__bytes *letters, uint32_t nonascii,
                                   uint32_t node) {
  const tsl__linear *t = tsl__linear_table(space);
  if (!t || !is_among(space, t, letters, nonascii, node)) return NULL;
  tsl__mask all = tsl__class_mask(space, letters, nonascii, 0, UINT32_MAX);
  return space->status == TSL_OK ? only_bitset(tsl__mask_at(space, all)) : NULL;
}

/* Gather the tokens of a bitset that lie below a node. */
static bool gather_below(tsl__space *space, tsl__gather *g, const uint32_t *from, uint32_t node) {
  const tsl__trie_node *n = &space->vocab->trie.nodes[node];
  const tsl_token *order = space->vocab->trie.order;
  uint32_t *bits = n->end - n->own_end > TSL__PATCH_MAX ? tsl__bits_room(space) : NULL;
  if (space->status != TSL_OK || !tsl__space_step(space, (n->end - n->own_end) / 8)) return false;
  if (bits) memset(bits, 0, space->mask_words * sizeof *bits);
  for (uint32_t k = n->own_end; k < n->end; k++) {
    if (!tsl__mask_bit(from, order[k])) continue;
    if (bits)
      tsl__mask_bit_set(bits, order[k]);
    else if (!tsl__gather_token(space, g, order[k]))
      return false;
  }
  return !bits || tsl__gather_room(space, g, bits);
}

/* Has a class all letters of ASCII? */
static bool has_words(const tsl__bytes *letters) {
  return (letters->w[1] & TSL__WORD_LETTERS) == TSL__WORD_LETTERS;
}

/* Gather a class below the space with which most tokens begin. Words are read at once, all other
 * tokens along the table without words (linear_parts.c). Past ASCII a class has all characters or
 * none, so a token is one of it if it is in UTF-8. */
static bool gather_spaced(tsl__space *space, tsl__gather *g, const tsl__linear *t,
                          const tsl__lengths *l, const tsl__bytes *letters) {
  const tsl__linear *rest = t->rest;
  const tsl__linear_node *n = rest->nodes + rest->space, *end = rest->nodes + n->next;
  uint32_t *bits = tsl__bits_room(space);
  if (!bits || !tsl__space_step(space, (uint32_t)(end - n) / 8)) return false;
  memcpy(bits, t->words[true], tsl_vocab_mask_words(space->vocab) * sizeof *bits);
  for (n++; n < end;) {
    bool is_letter = tsl__bytes_has(letters, n->byte);
    if (is_letter && n->token < t->tokens) tsl__mask_bit_set(bits, n->token);
    n = is_letter ? n + 1 : rest->nodes + n->next;
  }
  if (letters->w[3])
    for (size_t w = 0; w < tsl_vocab_mask_words(space->vocab); w++) bits[w] &= l->text[w];
  return tsl__gather_room(space, g, bits);
}

static bool gather_unlimited(tsl__space *space, tsl__gather *g, const tsl__bytes *letters,
                             uint32_t nonascii, uint32_t node) {
  const tsl__lengths *l = space->warm.lengths ? space->warm.lengths
                          : space->parent     ? space->parent->warm.lengths
                                              : NULL;
  const tsl__linear *t = tsl__linear_table(space);
  unsigned ascii = tsl__ones(letters->w[0]) + tsl__ones(letters->w[1]);
  if (!l || ascii < LARGE_CLASS) return gather_class(space, g, letters, nonascii, node);
  if (node == 0) return gather_all(space, g, l, letters, nonascii);
  if (t && t->rest && t->space && node == t->nodes[t->space].node && has_words(letters) &&
      !nonascii)
    return gather_spaced(space, g, t, l, letters);
  const uint32_t *all = whole_class(space, letters, nonascii, node);
  if (space->status != TSL_OK) return false;
  return all ? gather_below(space, g, all, node) : gather_class(space, g, letters, nonascii, node);
}

const tsl__lengths *tsl__lengths_of(tsl__space *space) {
  if (space->warm.lengths) return space->warm.lengths;
  return space->parent ? space->parent->warm.lengths : lengths_of_vocab(space);
}

/* The unlimited mask, minus what is longer than `limit`. */
static bool gather_limited(tsl__space *space, tsl__gather *g, const tsl__bytes *letters,
                           uint32_t nonascii, uint32_t node, uint32_t limit) {
  tsl__mask all = tsl__class_mask(space, letters, nonascii, node, UINT32_MAX);
  const tsl__lengths *l = tsl__lengths_of(space);
  if (space->status != TSL_OK || limit == 0) return space->status == TSL_OK;
  if (limit > TSL__SHORT_MAX) {
    if (!tsl__gather_mask(space, g, all)) return false;
    for (uint32_t i = 0; i < l->longer_count && l->longer_length[i] > limit; i++) {
      tsl_token t = l->longer[i];
      if (tsl__mask_has(space, all, t) && !tsl__gather_remove(space, g, t)) return false;
    }
    return true;
  }
  const uint32_t *short_ones = l->at_most[limit - 1], *from = only_bitset(tsl__mask_at(space, all));
  size_t words = tsl_vocab_mask_words(space->vocab);
  uint32_t *bits = tsl__bits_room(space);
  if (!bits) return false;
  if (!from) {
    tsl__mask_write(space, tsl__mask_at(space, all), bits);
    from = bits;
  }
  tsl__mask_meet(bits, from, short_ones, words);
  return tsl__gather_room(space, g, bits);
}

static tsl__mask make_mask(tsl__space *space, const tsl__bytes *letters, uint32_t nonascii,
                           uint32_t node, uint32_t limit) {
  tsl__gather g = {0};
  bool fine = limit == UINT32_MAX ? gather_unlimited(space, &g, letters, nonascii, node)
                                  : gather_limited(space, &g, letters, nonascii, node, limit);
  tsl__mask mask = fine ? tsl__gather_done(space, &g) : 0;
  tsl__gather_free(space, &g);
  return mask;
}

/* The same from what other grammars have left; what is made is left for others. A limited one is
 * quickly made of one that is not. */
static tsl__mask find_mask(tsl__space *space, const tsl__bytes *letters, uint32_t nonascii,
                           uint32_t node, uint32_t limit) {
  const tsl__nonascii *w = nonascii ? tsl__nonascii_at(space, nonascii) : NULL;
  tsl__digest key;
  if (limit != UINT32_MAX || !tsl__common_class_key(space, letters, w, node, &key))
    return make_mask(space, letters, nonascii, node, limit);
  tsl__gather g = {0};
  tsl__words left = {0};
  bool whole, known = tsl__common_take(space, &key, &g, &left, &whole);
  tsl__mask mask = !known                    ? make_mask(space, letters, nonascii, node, limit)
                   : space->status == TSL_OK ? tsl__gather_done(space, &g)
                                             : 0;
  if (!known && space->status == TSL_OK) tsl__common_put(space, &key, &(tsl__walk){.mask = mask});
  tsl__gather_free(space, &g);
  tsl__vec_free(&space->alloc, &left);
  return mask;
}

static uint64_t hash_class(const tsl__class *of) {
  return tsl__mix(tsl__hash(&of->letters, sizeof of->letters) + of->nonascii) ^
         tsl__mix((uint64_t)of->node << 32 | of->limit);
}

/* The record of a class; NULL: its mask was not made yet. */
static const tsl__class *find_class(const tsl__space *space, const tsl__class *of) {
  uint64_t hash = hash_class(of);
  for (const tsl__space *layer = space; layer; layer = layer->parent) {
    tsl__index_iter it = tsl__index_first(&layer->classes.index, hash);
    for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
      const tsl__class *c = tsl__space_at(space, classes, i);
      if (c->node == of->node && c->limit == of->limit && c->nonascii == of->nonascii &&
          tsl__bytes_equal(&c->letters, &of->letters))
        return c;
    }
  }
  return NULL;
}

tsl__mask tsl__class_mask(tsl__space *space, const tsl__bytes *letters, uint32_t nonascii,
                          uint32_t node, uint32_t limit) {
  tsl__class made = {*letters, nonascii, node, limit, 0};
  const tsl__class *known = find_class(space, &made);
  if (known) return known->mask;
  made.mask = find_mask(space, letters, nonascii, node, limit);
  if (space->status != TSL_OK) return 0;
  tsl__class *c = tsl__pool_add(&space->classes.pool, &space->kept);
  if (c) *c = made;
  if (!c || !tsl__index_add(&space->classes.index, &space->alloc, hash_class(&made),
                            tsl__space_count(space, classes) - 1))
    tsl__space_no_memory(space);
  return made.mask;
}

/* Mark the tokens of a class below a node. The list of `g` lends the room. */
static bool mark_class(tsl__space *space, const tsl__class *of, tsl__gather *g, uint32_t *marks) {
  const tsl__trie_node *n = &space->vocab->trie.nodes[of->node];
  const tsl_token *order = space->vocab->trie.order;
  const uint32_t *all = whole_class(space, &of->letters, of->nonascii, of->node);
  if (space->status != TSL_OK || !tsl__space_step(space, (n->end - n->own_end) / 8)) return false;
  for (uint32_t k = n->own_end; all && k < n->end; k++)
    marks[order[k] >> 5] |= all[order[k] >> 5] & (uint32_t)1 << (order[k] & 31);
  if (all) return true;
  size_t floor = g->plus.n;
  bool fine = gather_class(space, g, &of->letters, of->nonascii, of->node);
  for (size_t i = floor; i < g->plus.n; i++) tsl__mask_bit_set(marks, g->plus.at[i]);
  g->plus.n = floor;
  return fine;
}

bool tsl__class_gather(tsl__space *space, const tsl__bytes *letters, uint32_t nonascii,
                       uint32_t node, tsl__gather *g, uint32_t *marks) {
  tsl__class of = {*letters, nonascii, node, UINT32_MAX, 0};
  const tsl__class *known = find_class(space, &of);
  return known ? tsl__gather_mask(space, g, known->mask) : mark_class(space, &of, g, marks);
}
