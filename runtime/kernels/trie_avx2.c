/* trie_avx2.c - tsl__trie_block_agrees with AVX2: eight nodes a step.
 *
 * A node is six words. The first four of eight nodes are turned into four vectors, a field each,
 * and the last four likewise, of which two are new. What the node before says is the same vector a
 * lane further, its first lane out of the step before. Numbers are compared as signed ones: since a
 * chain of larger ones leads from the root's 0 to its end, none that passes is negative.
 * Tested by tests/kernels/test_trie_sound.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/kernels/logits.h"
#include "runtime/kernels/trie_sound.h"

#if TSL__LOGITS_X86
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define LANES 8u

/* Eight nodes, a field a vector. */
typedef struct fields {
  __m256i first_child, begin, own_end, end, children, height, below, byte;
} fields;

/* Of the nodes before. */
typedef struct neighbours {
  __m256i end, next, byte;
} neighbours;

TARGET static inline __m256i two_rows(const uint8_t *low, const uint8_t *high) {
  return _mm256_inserti128_si256(
      _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)low)),
      _mm_loadu_si128((const __m128i *)(const void *)high), 1);
}

TARGET static inline fields read_fields(const tsl__trie_node *nodes) {
  enum { ROW = sizeof(tsl__trie_node), HALF = 4 * ROW };
  const uint8_t *p = (const uint8_t *)nodes, *q = p + 8;
  __m256i r0 = two_rows(p, p + HALF), r1 = two_rows(p + ROW, p + ROW + HALF),
          r2 = two_rows(p + 2 * ROW, p + 2 * ROW + HALF),
          r3 = two_rows(p + 3 * ROW, p + 3 * ROW + HALF);
  __m256i a0 = _mm256_unpacklo_epi32(r0, r1), a1 = _mm256_unpacklo_epi32(r2, r3),
          b0 = _mm256_unpackhi_epi32(r0, r1), b1 = _mm256_unpackhi_epi32(r2, r3);
  r0 = two_rows(q, q + HALF), r1 = two_rows(q + ROW, q + ROW + HALF),
  r2 = two_rows(q + 2 * ROW, q + 2 * ROW + HALF), r3 = two_rows(q + 3 * ROW, q + 3 * ROW + HALF);
  __m256i c0 = _mm256_unpackhi_epi32(r0, r1), c1 = _mm256_unpackhi_epi32(r2, r3),
          low = _mm256_set1_epi32(0xFFFF);
  __m256i w4 = _mm256_unpacklo_epi64(c0, c1), w5 = _mm256_unpackhi_epi64(c0, c1);
  return (fields){.first_child = _mm256_unpacklo_epi64(a0, a1),
                  .begin = _mm256_unpackhi_epi64(a0, a1),
                  .own_end = _mm256_unpacklo_epi64(b0, b1),
                  .end = _mm256_unpackhi_epi64(b0, b1),
                  .children = _mm256_and_si256(w4, low),
                  .height = _mm256_srli_epi32(w4, 16),
                  .below = _mm256_and_si256(w5, low),
                  .byte = _mm256_srli_epi32(_mm256_slli_epi32(w5, 8), 24)};
}

/* `v` a lane further; *last is what the lane in front of it was, and becomes what it is for the
 * next. */
TARGET static inline __m256i shift_in(__m256i v, __m256i *last) {
  __m256i turned = _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6)),
          before = _mm256_blend_epi32(turned, *last, 1);
  *last = turned;
  return before;
}

TARGET static inline __m256i load(const uint32_t *p) {
  return _mm256_loadu_si256((const __m256i *)(const void *)p);
}
TARGET static inline __m256i either(__m256i a, __m256i b) { return _mm256_or_si256(a, b); }
TARGET static inline __m256i more(__m256i a, __m256i b) { return _mm256_cmpgt_epi32(a, b); }
TARGET static inline __m256i differ(__m256i a, __m256i b) { return _mm256_xor_si256(a, b); }
TARGET static inline __m256i all(uint32_t x) { return _mm256_set1_epi32((int)x); }

/* Any bit: not as it must be, whoever the parent is; see alone() in trie_sound.c. */
TARGET static inline __m256i bad_alone(const tsl__trie *t, const fields *f, __m256i place) {
  __m256i leaf = _mm256_cmpeq_epi32(f->children, _mm256_setzero_si256()), one = all(1);
  __m256i set = _mm256_and_si256(_mm256_add_epi32(f->below, one), all(0xFFFF));
  return either(either(more(_mm256_add_epi32(place, one), f->first_child),
                       more(f->first_child, all(t->node_count))),
                either(either(more(f->begin, f->own_end), more(set, all(t->set_count))),
                       _mm256_and_si256(leaf, differ(f->own_end, f->end))));
}

TARGET static inline __m256i bad_beside(const tsl__trie_block *b, uint32_t i, const fields *f,
                                        neighbours *before) {
  __m256i first = load(b->first + i), end = shift_in(f->end, &before->end),
          byte = shift_in(f->byte, &before->byte);
  __m256i next = shift_in(_mm256_add_epi32(f->first_child, f->children), &before->next);
  __m256i bad =
      either(differ(f->first_child, next), _mm256_and_si256(first, differ(end, load(b->end + i))));
  bad = either(bad, differ(f->begin, _mm256_blendv_epi8(end, load(b->begin + i), first)));
  __m256i good = _mm256_and_si256(more(f->end, f->begin), more(load(b->above + i), f->height));
  good = _mm256_and_si256(good, either(first, more(f->byte, byte)));
  return either(bad, differ(good, all(UINT32_MAX)));
}

TARGET bool tsl__trie_block_agrees_avx2(const tsl__trie *t, const tsl__trie_block *b, uint32_t from,
                                        uint32_t count) {
  const tsl__trie_node *n = &t->nodes[from];
  neighbours before = {all(n[-1].end), all(n[-1].first_child + n[-1].children), all(n[-1].byte)};
  __m256i bad = _mm256_setzero_si256(),
          place = _mm256_add_epi32(all(from), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  uint32_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    fields f = read_fields(n + i);
    bad = either(bad, either(bad_alone(t, &f, place), bad_beside(b, i, &f, &before)));
    place = _mm256_add_epi32(place, all(LANES));
  }
  return _mm256_testz_si256(bad, bad) && tsl__trie_block_agrees_from(t, b, from, i, count);
}
#else
typedef int tsl__trie_avx2_not_built; /* ISO C wants a declaration in every file */
#endif
