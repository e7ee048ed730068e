/* ngram.c - the language model of the tool. See ngram.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/ngram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_NODE 0u
/* of special tokens that don't end the text, and of tokens with a NUL */
#define RARE_LOGIT (-25.0f)
/* of its probability that a token keeps, however many tokens continue it */
#define LEAST_SHARE 1e-6

typedef struct spelling {
  const uint8_t *bytes;
  uint32_t length;
  uint32_t shared; /* bytes that it has in common with the one before in the order */
  tsl_token token;
} spelling;

struct ngram {
  const tsl_vocab *vocab;
  uint32_t *first;   /* of each node, the index of its first child */
  spelling *order;   /* the tokens that text can spell, sorted by bytes */
  uint32_t count;    /* of them */
  uint32_t longest;  /* bytes */
  ngram_state *path; /* longest + 1 states: after each byte of the token being scored */
  double *scores;    /* longest + 1: log P of the bytes up to there */
  /* longest + 1: indices of the tokens that are prefixes of the one being scored, the longest
   * last */
  uint32_t *open;
  double *rest; /* of each token, the probability that no longer token has used up */
};

/* ---- the trie -------------------------------------------------------------------------------- */

static uint32_t node_byte(uint32_t node) { return ngram_nodes[node] & 0xff; }
static float node_logp(uint32_t node) { return -(float)(ngram_nodes[node] >> 8 & 0xff) / 16.0f; }
static float node_back_off(uint32_t node) {
  return -(float)(ngram_nodes[node] >> 16 & 0xff) / 32.0f;
}
static uint32_t node_children(uint32_t node) { return node ? ngram_nodes[node] >> 24 : 256; }

/* Nodes are in breadth-first order, so each one's children follow those of the node before. */
static uint32_t *first_children(void) {
  uint32_t *first = malloc(ngram_node_count * sizeof *first), next = 1;
  if (!first) return NULL;
  for (uint32_t i = 0; i < ngram_node_count; i++) {
    first[i] = next;
    next += node_children(i);
  }
  return first;
}

static uint32_t child(const ngram *m, uint32_t node, uint8_t byte) {
  if (!node) return m->first[0] + byte;
  uint32_t low = m->first[node], end = low + node_children(node), high = end;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (node_byte(middle) < byte)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && node_byte(low) == byte ? low : NO_NODE;
}

float ngram_read(const ngram *model, ngram_state *state, uint8_t byte) {
  ngram_state next = {{0}};
  float logp = 0, back_off = 0;
  bool found = false;
  for (int k = NGRAM_CONTEXT; k >= 0; k--) {
    uint32_t node = state->node[k];
    if (k && !node) continue;
    uint32_t below = child(model, node, byte);
    if (below && !found) {
      logp = back_off + node_logp(below);
      found = true;
    }
    if (!below) back_off += node_back_off(node);
    if (k < NGRAM_CONTEXT) next.node[k + 1] = below;
  }
  *state = next;
  return logp;
}

/* ---- a vocabulary's tokens in order ---------------------------------------------------------- */

static int by_bytes(const void *a, const void *b) {
  const spelling *x = a, *y = b;
  int c = memcmp(x->bytes, y->bytes, x->length < y->length ? x->length : y->length);
  if (c) return c;
  if (x->length != y->length) return x->length < y->length ? -1 : 1;
  return x->token < y->token ? -1 : x->token > y->token;
}

static uint32_t shared_bytes(const spelling *a, const spelling *b) {
  uint32_t n = 0;
  while (n < a->length && n < b->length && a->bytes[n] == b->bytes[n]) n++;
  return n;
}

static void collect_tokens(ngram *m) {
  uint32_t size = tsl_vocab_size(m->vocab);
  for (tsl_token t = 0; t < size; t++) {
    size_t length;
    const uint8_t *bytes = tsl_vocab_bytes(m->vocab, t, &length);
    if (!length || tsl_vocab_is_special(m->vocab, t)) continue;
    m->order[m->count++] = (spelling){bytes, (uint32_t)length, 0, t};
    if (length > m->longest) m->longest = (uint32_t)length;
  }
  qsort(m->order, m->count, sizeof *m->order, by_bytes);
  for (uint32_t i = 1; i < m->count; i++)
    m->order[i].shared = shared_bytes(&m->order[i - 1], &m->order[i]);
}

ngram *ngram_new(const tsl_vocab *vocab) {
  ngram *m = calloc(1, sizeof *m);
  if (!m) return NULL;
  m->vocab = vocab;
  m->first = first_children();
  m->order = malloc((tsl_vocab_size(vocab) + (size_t)1) * sizeof *m->order);
  if (m->first && m->order) {
    collect_tokens(m);
    m->path = malloc((m->longest + (size_t)1) * sizeof *m->path);
    m->scores = malloc((m->longest + (size_t)1) * sizeof *m->scores);
    m->open = malloc((m->longest + (size_t)1) * sizeof *m->open);
    m->rest = malloc((m->count + (size_t)1) * sizeof *m->rest);
  }
  if (m->path && m->scores && m->open && m->rest) return m;
  ngram_free(m);
  return NULL;
}

void ngram_free(ngram *model) {
  if (!model) return;
  free(model->first);
  free(model->order);
  free(model->path);
  free(model->scores);
  free(model->open);
  free(model->rest);
  free(model);
}

/* ---- scoring --------------------------------------------------------------------------------- */

ngram_state ngram_start(const ngram *model) {
  ngram_state s = {{0}};
  ngram_read(model, &s, 0);
  return s;
}

static bool wanted(const uint32_t *mask, tsl_token t) { return !mask || tsl_mask_has(mask, t); }

/* Ends and other special tokens. */
static void score_special(const ngram *m, const ngram_state *state, const uint32_t *mask,
                          float *logits) {
  ngram_state s = *state;
  float end = ngram_read(m, &s, 0);
  for (tsl_token t = 0; t < tsl_vocab_size(m->vocab); t++)
    if (tsl_vocab_is_special(m->vocab, t) && wanted(mask, t))
      logits[t] = tsl_vocab_is_eog(m->vocab, t) ? end : RARE_LOGIT;
}

/* log P of a token's bytes; the path is right for the first `known` of them. */
static double score(const ngram *m, const spelling *s, uint32_t known) {
  for (; known < s->length; known++) {
    m->path[known + 1] = m->path[known];
    m->scores[known + 1] =
        m->scores[known] + (double)ngram_read(m, &m->path[known + 1], s->bytes[known]);
  }
  return m->scores[s->length];
}

/* What is left of a token's probability, as a logit: finite. */
static float logit_of(double score, double rest) {
  double p = exp(score);
  return (float)(rest > p * LEAST_SHARE ? log(rest) : score + log(LEAST_SHARE));
}

/* Give every wanted token P of its bytes, and take it from the longest token that is a prefix of
 * it. The score goes to logits for now. */
static void share_out(const ngram *m, const uint32_t *mask, float *logits) {
  /* bytes that the token at hand has in common with the last wanted one; tokens in m->open */
  uint32_t known = 0, open = 0;
  for (uint32_t i = 0; i < m->count; i++) {
    const spelling *s = &m->order[i];
    if (s->shared < known) known = s->shared;
    if (!wanted(mask, s->token)) continue;
    while (open && m->order[m->open[open - 1]].length > known) open--;
    double logp = score(m, s, known), p = exp(logp);
    logits[s->token] = (float)logp;
    m->rest[i] = p;
    if (open) m->rest[m->open[open - 1]] -= p;
    /* the same bytes once more */
    if (open && m->order[m->open[open - 1]].length == s->length) open--;
    m->open[open++] = i;
    known = s->length;
  }
}

void ngram_logits(const ngram *model, const ngram_state *state, const uint32_t *mask,
                  float *logits) {
  uint32_t width = tsl_vocab_logits_width(model->vocab);
  for (uint32_t i = 0; i < width; i++) logits[i] = -INFINITY;
  score_special(model, state, mask, logits);
  model->path[0] = *state;
  model->scores[0] = 0;
  share_out(model, mask, logits);
  for (uint32_t i = 0; i < model->count; i++) {
    const spelling *s = &model->order[i];
    if (!wanted(mask, s->token)) continue;
    logits[s->token] = memchr(s->bytes, 0, s->length)
                           ? RARE_LOGIT
                           : logit_of((double)logits[s->token], model->rest[i]);
  }
}
