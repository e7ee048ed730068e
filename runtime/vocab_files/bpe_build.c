/* bpe_build.c - from tokens and merges as a file writes them to bytes and tables. See bpe_build.h.
 *
 * Problem   A file names tokens by their texts: a merge says "Ġt" and "he". An engine needs
 *           numbers, and what each token spells. 280,000 merges are 840,000 texts to look up.
 * Idea      Names go into a table by text first. A name of up to eight bytes is its own key, so
 *           that no text is compared. Longer ones are hashed under a secret, so that no file can be
 *           made of names that share a slot. Merges are dealt with 64 at a time: first all slots of
 *           a block are fetched, then they are read. Most files list merges in the order of what
 *           they make, so that the third look-up is mostly a guess that is right.
 * Example   Tokens "Ġ" 220, "t" 83, "Ġt" 256 and the merge "Ġ t". In a byte-level model "Ġ" is
 *           U+0120, the character of byte 32: token 220 spells a space, token 256 a space and a t.
 *           The merge becomes (220, 83, rank 0, 256).
 * Lies      A token twice, an id twice, a merge of what is no token or to what is none: FORMAT,
 *           with the place in the file.
 * Tested by tests/vocab_files/test_vocab_files.c, tests/vocab_files/test_gguf.c,
 *           tests/tokenizer/test_encode.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define XXH_STATIC_LINKING_ONLY
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/vocab_files/bpe_build.h"
#include "runtime/tokenizer/pieces.h"

static tsl_status no_memory(const tsl__bpe_build *h) {
  return tsl__fail(h->error, TSL_ERR_NO_MEMORY, "out of memory");
}

/* The error quotes the text, 80 bytes of it at most. */
static tsl_status bad(const tsl__bpe_build *h, uint32_t offset, const char *what, const char *text,
                      uint32_t length) {
  int shown = (int)(length < 80 ? length : 80);
  if (h->binary)
    return tsl__fail_binary(h->error, TSL_ERR_FORMAT, offset, "%s \"%.*s\"", what, shown, text);
  return tsl__fail_at(h->error, TSL_ERR_FORMAT, h->file.text, h->file.length, offset, "%s \"%.*s\"",
                      what, shown, text);
}

/* ---- names by id, ids by name ---------------------------------------------------------------- */

static uint32_t load32(const char *p) {
  uint32_t x;
  memcpy(&x, p, sizeof x);
  return x;
}

static uint64_t load64(const uint8_t *p) {
  uint64_t x;
  memcpy(&x, p, sizeof x);
  return x;
}

/* See slot. Different short names of one length have different keys. */
static uint64_t key_of(const tsl__bpe_build *h, const char *text, uint32_t n) {
  if (n > 8) return XXH3_64bits_withSecret(text, n, h->secret, sizeof h->secret);
  if (n >= 4) return (uint64_t)load32(text + n - 4) << 32 | load32(text);
  return n ? (uint64_t)(uint8_t)text[0] << 16 | (uint64_t)(uint8_t)text[n / 2] << 8 |
                 (uint8_t)text[n - 1]
           : 0;
}

/* Where the search for a key begins. The secret goes into it for short names as well. */
static uint32_t first_slot(const tsl__bpe_build *h, uint64_t key, uint32_t length) {
  return (
      uint32_t)((tsl__mix(tsl__mix((key ^ load64(h->secret)) + length) ^ load64(h->secret + 8)) >>
                 32) *
                    h->slot_count >>
                32);
}

/* The slot of that name, or the free one in which it would be. */
static uint32_t find_slot(const tsl__bpe_build *h, const char *text, uint32_t length,
                          uint64_t key) {
  uint32_t at = first_slot(h, key, length);
  for (; h->slots[at].id != TSL_NO_TOKEN; at = at + 1 == h->slot_count ? 0 : at + 1) {
    const tsl__name_slot *s = &h->slots[at];
    if (s->key == key && s->length == length &&
        (length <= 8 || !memcmp(h->names[s->id].text, text, length)))
      break;
  }
  return at;
}

/* The model's token of that text, or TSL_NO_TOKEN. */
tsl_token tsl__build_find(const tsl__bpe_build *h, const char *text, uint32_t length) {
  tsl_token id = h->slots[find_slot(h, text, length, key_of(h, text, length))].id;
  return id != TSL_NO_TOKEN && h->names[id].in_model ? id : TSL_NO_TOKEN;
}

tsl_status tsl__build_name(tsl__bpe_build *h, tsl_token id, tsl__name n) {
  uint64_t key = key_of(h, n.text, n.length);
  uint32_t at = find_slot(h, n.text, n.length, key);
  if (h->slots[at].id != TSL_NO_TOKEN)
    return bad(h, n.offset, "the same token twice:", n.text, n.length);
  if (h->names[id].text)
    return bad(h, n.offset, "two tokens have the same id; the second is", n.text, n.length);
  h->names[id] = n;
  h->slots[at] = (tsl__name_slot){key, n.length, id};
  return TSL_OK;
}

/* LIMIT: the largest id is too large, or there are too many tokens. Ids may leave holes: names
 * there have no text. */
tsl_status tsl__build_names(tsl__bpe_build *h, uint32_t largest, size_t added) {
  size_t count = h->file.tokens.n + added;
  tsl_status status = TSL_OK;
  for (size_t i = 0; i < h->file.tokens.n; i++)
    if (h->file.tokens.at[i].id > largest) largest = h->file.tokens.at[i].id;
  if (largest >= TSL_MAX_VOCAB || count > 2u * TSL_MAX_VOCAB)
    return tsl__fail(h->error, TSL_ERR_LIMIT,
                     "the largest id is %u; at most %u tokens are possible (TSL_MAX_VOCAB)",
                     largest, TSL_MAX_VOCAB);
  if (tsl__too_many_unnamed((uint64_t)largest + 1, count))
    return tsl__fail(h->error, TSL_ERR_LIMIT,
                     "the largest id is %u, but the file has only %zu tokens", largest, count);
  h->size = largest + 1;
  h->slot_count = tsl__slots_for(count);
  h->names = tsl__alloc_zero(h->a, h->size * sizeof *h->names);
  h->plain = tsl__alloc_zero(h->a, h->size);
  h->slots = tsl__alloc(h->a, h->slot_count * sizeof *h->slots);
  if (!h->names || !h->plain || !h->slots) return no_memory(h);
  if (!tsl__secret_draw(h->secret)) memset(h->secret, 0, sizeof h->secret);
  memset(h->slots, 0xFF, h->slot_count * sizeof *h->slots);
  for (size_t i = 0; i < h->file.tokens.n && !status; i++) {
    const tsl__hf_token *t = &h->file.tokens.at[i];
    status = tsl__build_name(
        h, t->id,
        (tsl__name){.text = t->text, .length = t->length, .offset = t->offset, .in_model = true});
  }
  return status;
}

/* ---- spelling -------------------------------------------------------------------------------- */

/* GPT-2's alphabet: printable Latin-1 bytes are themselves, the others are U+0100, U+0101, … in
 * order. */
static void make_alphabet(tsl__bpe_build *h) {
  unsigned next = 256;
  for (unsigned i = 0; i < 324; i++) h->alphabet[i] = 256;
  for (unsigned b = 0; b < 256; b++) {
    bool printable = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
    h->alphabet[printable ? b : next++] = (uint16_t)b;
  }
}

static bool put_bytes(tsl__bpe_build *h, const void *bytes, size_t n) {
  if (!tsl__vec_reserve(h->a, &h->b.bytes, n + 1)) return false;
  memcpy(h->b.bytes.at + h->b.bytes.n, bytes, n);
  h->b.bytes.n += n;
  return true;
}

/* Write what text in the alphabet spells; false, and nothing is written, if a character is not of
 * the alphabet. There is room. */
static bool spell_alphabet(tsl__bpe_build *h, const tsl__name *n) {
  uint8_t *out = h->b.bytes.at + h->b.bytes.n;
  for (uint32_t at = 0, step; at < n->length; at += step) {
    uint32_t cp = (uint8_t)n->text[at];
    step = 1;
    if (cp >= 0x80) step = tsl__utf8_decode((const uint8_t *)n->text + at, n->length - at, &cp);
    if (!step || cp >= 324 || h->alphabet[cp] == 256) return false;
    *out++ = (uint8_t)h->alphabet[cp];
  }
  h->b.bytes.n = (size_t)(out - h->b.bytes.at);
  return true;
}

/* Write text with the decoder's replacement made. */
static bool spell_text(tsl__bpe_build *h, const tsl__name *n) {
  uint32_t space = h->space ? h->space_length : 0;
  for (uint32_t at = 0; at < n->length;) {
    bool is_space = space && n->length - at >= space && !memcmp(n->text + at, h->space, space);
    if (!put_bytes(h, is_space ? h->blank : n->text + at, is_space ? h->blank_length : 1))
      return false;
    at += is_space ? space : 1;
  }
  return true;
}

/* Append what a token spells. A token "<0x0A>" spells its byte where the model says so. A token of
 * a byte-level model is read in the alphabet. Others are text, with spaces as the decoder makes
 * them. */
static bool spell(tsl__bpe_build *h, tsl_token id) {
  const tsl__name *n = &h->names[id];
  int byte = (h->byte_fallback || h->byte_tokens) && !h->byte_level && n->in_model && !n->special
                 ? tsl__hex_byte(n->text, n->length)
                 : -1;
  uint8_t b = (uint8_t)byte;
  if (!tsl__vec_reserve(h->a, &h->b.bytes, n->length + 1)) return false;
  if (n->verbatim) return put_bytes(h, n->text, n->length);
  if (byte >= 0) {
    bool capitals = n->text[3] < 'a' && n->text[4] < 'a'; /* text falls back to these alone */
    if (h->byte_fallback && capitals) h->b.facts.bytes[b] = id;
    return put_bytes(h, &b, 1);
  }
  if (!n->special && !h->byte_level) return spell_text(h, n);
  size_t before = h->b.bytes.n;
  /* a special token is what it says, but text can still be merged to it */
  if (n->in_model && h->byte_level && spell_alphabet(h, n)) {
    h->plain[id] = !n->special || (h->b.bytes.n - before == n->length &&
                                   !memcmp(h->b.bytes.at + before, n->text, n->length));
    if (h->plain[id]) return true;
    h->b.bytes.n = before;
  }
  return put_bytes(h, n->text, n->length);
}

/* All tokens by id, so that offsets are in order. Tokens of one byte are noted: what no token
 * spells falls back to them. */
tsl_status tsl__build_spell(tsl__bpe_build *h) {
  make_alphabet(h);
  if (!tsl__vec_reserve(h->a, &h->b.offsets, (size_t)h->size + 1) ||
      !tsl__vec_reserve(h->a, &h->b.special, h->size))
    return no_memory(h);
  for (tsl_token id = 0; id < h->size; id++) {
    if (h->b.bytes.n > UINT32_MAX / 2)
      return tsl__fail(h->error, TSL_ERR_LIMIT, "the tokens have more than 2^31 bytes");
    h->b.offsets.at[h->b.offsets.n++] = (uint32_t)h->b.bytes.n;
    h->b.special.at[h->b.special.n++] = h->names[id].special;
    if (h->names[id].text && !spell(h, id)) return no_memory(h);
    if (h->plain[id] && h->b.bytes.n - h->b.offsets.at[id] == 1)
      h->b.facts.bytes[h->b.bytes.at[h->b.offsets.at[id]]] = id;
  }
  h->b.offsets.at[h->b.offsets.n++] = (uint32_t)h->b.bytes.n;
  return TSL_OK;
}

/* ---- tables for encoding --------------------------------------------------------------------- */

/* Is that token's text the two texts of the merge, one behind the other? */
static bool is_joined(const tsl__bpe_build *h, tsl_token id, const tsl__hf_merge *m) {
  const tsl__name *n = &h->names[id];
  return n->in_model && n->length == m->left_length + m->right_length &&
         !memcmp(n->text, m->left, m->left_length) &&
         !memcmp(n->text + m->left_length, m->right, m->right_length);
}

/* What a merge makes. Most files list merges in the order of the tokens that they make. So the
 * token of the merge before and the one after it are tried first. `both` has room for the text. */
static tsl_token find_joined(const tsl__bpe_build *h, const tsl__hf_merge *m, tsl_token last,
                             char *both) {
  if (last < h->size && is_joined(h, last, m)) return last;
  if (last + 1 < h->size && is_joined(h, last + 1, m)) return last + 1;
  memcpy(both, m->left, m->left_length);
  memcpy(both + m->left_length, m->right, m->right_length);
  return tsl__build_find(h, both, m->left_length + m->right_length);
}

/* The ids of merge i. */
static tsl_status resolve_merge(const tsl__bpe_build *h, size_t i, tsl_token last, char *both,
                                tsl__merge *out) {
  const tsl__hf_merge *m = &h->file.merges.at[i];
  *out = (tsl__merge){tsl__build_find(h, m->left, m->left_length),
                      tsl__build_find(h, m->right, m->right_length), (uint32_t)i, TSL_NO_TOKEN};
  if (out->left == TSL_NO_TOKEN)
    return bad(h, m->offset, "a merge names what is no token:", m->left, m->left_length);
  if (out->right == TSL_NO_TOKEN)
    return bad(h, m->offset, "a merge names what is no token:", m->right, m->right_length);
  out->result = find_joined(h, m, last, both);
  return out->result != TSL_NO_TOKEN ? TSL_OK
                                     : bad(h, m->offset, "a merge makes what is no token:", both,
                                           m->left_length + m->right_length);
}

/* Both tables are larger than a cache, so merges are dealt with in blocks, and what a block will
 * touch is fetched ahead. */
#define BLOCK 64u

static void expect_names(const tsl__bpe_build *h, const tsl__hf_merge *m) {
  TSL__PREFETCH(&h->slots[first_slot(h, key_of(h, m->left, m->left_length), m->left_length)]);
  TSL__PREFETCH(&h->slots[first_slot(h, key_of(h, m->right, m->right_length), m->right_length)]);
}

/* Merges first … first + n - 1, n at most BLOCK. */
static tsl_status fill_block(const tsl__bpe_build *h, size_t first, size_t n, tsl_token *last,
                             char *both, tsl__merge *table, uint32_t slots, bool *crowded) {
  const tsl__slot_key *key = &h->b.facts.merges_key;
  tsl__merge block[BLOCK];
  for (size_t i = 0; i < n; i++) expect_names(h, &h->file.merges.at[first + i]);
  for (size_t i = 0; i < n; i++) {
    tsl_status status = resolve_merge(h, first + i, *last, both, &block[i]);
    if (status) return status;
    *last = block[i].result;
    tsl__merge_expect(table, slots, key, block[i].left, block[i].right);
  }
  for (size_t i = 0; i < n && !*crowded; i++)
    *crowded = !tsl__merge_put(table, slots, key, block[i]);
  return TSL_OK;
}

/* One try under the key at hand. *crowded: the slots are, and another key is needed. */
static tsl_status fill_merges(const tsl__bpe_build *h, tsl__merge *table, uint32_t slots,
                              bool *crowded) {
  size_t n = h->file.merges.n, longest = 0;
  for (size_t i = 0; i < n; i++) {
    size_t length = (size_t)h->file.merges.at[i].left_length + h->file.merges.at[i].right_length;
    if (length > longest) longest = length;
  }
  char *both = tsl__alloc(h->a, longest + 1);
  if (!both) return no_memory(h);
  tsl_token last = TSL_NO_TOKEN - 1;
  tsl_status status = TSL_OK;
  *crowded = false;
  memset(table, 0xFF, slots * sizeof *table);
  for (size_t i = 0; i < n && !status && !*crowded; i += BLOCK)
    status = fill_block(h, i, n - i < BLOCK ? n - i : BLOCK, &last, both, table, slots, crowded);
  *crowded = *crowded || tsl__merges_crowded(table, slots, &h->b.facts.merges_key);
  tsl__free(h->a, both, longest + 1);
  return status;
}

/* Tries keys until no search is long; the first one serves all real files. */
static tsl_status make_merges(tsl__bpe_build *h) {
  size_t n = h->file.merges.n;
  if (n > UINT32_MAX / 4) return tsl__fail(h->error, TSL_ERR_LIMIT, "more than 2^30 merges");
  uint32_t slots = tsl__slots_for(n);
  tsl__merge *table = tsl__alloc(h->a, slots * sizeof *table);
  if (!table) return no_memory(h);
  h->b.tables.span[TSL__SPAN_MERGES] = (tsl__span){table, slots * sizeof *table};
  bool crowded;
  tsl_status status;
  while (!(status = fill_merges(h, table, slots, &crowded)) && crowded)
    tsl__slot_key_draw(&h->b.facts.merges_key);
  return status;
}

/* Of a model of code points: the tokens that are one. */
static tsl_status make_points(tsl__bpe_build *h) {
  TSL__VEC(tsl__point) points = {0};
  uint32_t cp;
  bool ok = true;
  for (size_t i = 0; i < h->file.tokens.n && ok; i++) {
    const tsl__hf_token *t = &h->file.tokens.at[i];
    if (t->length && tsl__utf8_decode((const uint8_t *)t->text, t->length, &cp) == t->length)
      ok = tsl__vec_push(h->a, &points, ((tsl__point){cp, t->id}));
  }
  ok = ok && tsl__points_build(&h->b, points.at, points.n);
  tsl__vec_free(h->a, &points);
  return ok ? TSL_OK : no_memory(h);
}

tsl_status tsl__build_tables(tsl__bpe_build *h) {
  h->b.facts.units = h->byte_level ? TSL__UNITS_BYTES : TSL__UNITS_POINTS;
  if (h->b.facts.whole_pieces && !tsl__lookup_build(&h->b, h->size, h->plain)) return no_memory(h);
  tsl_status status = h->byte_level ? TSL_OK : make_points(h);
  return status ? status : make_merges(h);
}

void tsl__build_free(tsl__bpe_build *h) {
  tsl__free(h->a, h->names, h->size * sizeof *h->names);
  tsl__free(h->a, h->plain, h->size);
  tsl__free(h->a, h->slots, h->slot_count * sizeof *h->slots);
  tsl__builder_free(&h->b);
}
