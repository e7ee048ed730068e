/* hf.c - a vocabulary from HF's tokenizer.json, model type BPE.
 *
 * Two families use this format:
 *   byte level      (GPT-2, Llama 3, Qwen)  Tokens are written in an alphabet of 256 printable characters: "Ġthe" spells " the".
 *   code points     (Llama 2, Gemma)        Tokens are text with "▁" for a space; a character that is no token falls back to "<0xHH>".
 * What a token spells is what the file's decoder makes of it. Added tokens of the first family stand for themselves.
 *
 * Passes    read (hf_read.c) -> steps (hf_steps.c) -> decoder -> names by id -> spelling -> merges -> added tokens, BOS -> builder.c
 * Lies      Ids and names may not repeat, merges name tokens of the model, added tokens agree with it: FORMAT, with the offset. Ids may
 *           leave holes; those are tokens without bytes.
 *
 * Cost      Llama 3.1 (9 MB, 128,256 tokens, 280,147 merges): about 70 ms of one core, of which yajl and the trie take 20 each.
 * Tested by tests/test_vocab.c, tests/test_encode.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define XXH_STATIC_LINKING_ONLY
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/tokenizer/hf_read.h"
#include "runtime/tokenizer/hf_steps.h"
#include "runtime/tokenizer/tokenizer.h"

/* A token as the file writes it, by id. text is NULL in a hole. */
typedef struct name {
  const char *text;
  uint32_t length, offset;
  bool in_model, special;
} name;

/* Of a name: up to eight bytes, with the length, are the key; of a longer one it is the hash. id = TSL_NO_TOKEN: free. */
typedef struct slot {
  uint64_t key;
  uint32_t length;
  tsl_token id;
} slot;

typedef struct hf {
  const tsl_allocator *a;
  tsl__hf_file file;
  tsl__vocab_builder b;
  tsl_error *error;
  const tsl__doc *model;
  bool byte_level, byte_fallback;
  const tsl__doc *space; /* the decoder's Replace: this text … */
  const char *blank;     /* … is that one */
  uint32_t blank_length;
  name *names;
  uint8_t *plain; /* by id: the token of a byte-level model is written in the alphabet, so that text can reach it */
  uint32_t size;
  slot *slots; /* by text; of the model and the added tokens */
  uint32_t slot_count;
  uint16_t alphabet[324]; /* byte of a character, or 256 */
} hf;

static tsl_status no_memory(const hf *h) { return tsl__fail(h->error, TSL_ERR_NO_MEMORY, "out of memory"); }

static tsl_status bad(const hf *h, uint32_t offset, tsl_status status, const char *what, const char *text, uint32_t length) {
  return tsl__fail_at(h->error, status, h->file.text, h->file.length, offset, "%s \"%.*s\"", what, (int)(length < 80 ? length : 80), text);
}

/* ---- the model's options -------------------------------------------------------------------------------------- */

static bool is_empty(const tsl__doc *node) { return !node || (node->kind == TSL__DOC_STRING && !node->length); }

static tsl_status read_model(hf *h) {
  const tsl__doc *type;
  if (h->file.root->kind != TSL__DOC_OBJECT)
    return tsl__hf_fail(&h->file, h->file.root, TSL_ERR_FORMAT, h->error, "a tokenizer file is a JSON object");
  h->model = tsl__doc_get(h->file.root, "model");
  if (!h->model || h->model->kind != TSL__DOC_OBJECT)
    return tsl__hf_fail(&h->file, h->file.root, TSL_ERR_FORMAT, h->error, "there is no \"model\"");
  type = tsl__doc_get(h->model, "type");
  if (type && !tsl__doc_is(type, "BPE"))
    return tsl__hf_fail(&h->file, type, TSL_ERR_UNSUPPORTED, h->error, "the model's type is not \"BPE\", the only one that is supported");
  if (!tsl__doc_get(h->model, "vocab") || !h->file.tokens.n)
    return tsl__hf_fail(&h->file, h->model, TSL_ERR_FORMAT, h->error, "the model has no tokens");
  const tsl__doc *dropout = tsl__doc_get(h->model, "dropout");
  if (dropout && dropout->text[strspn(dropout->text, "0.")] && dropout->kind == TSL__DOC_NUMBER)
    return tsl__hf_fail(&h->file, dropout, TSL_ERR_UNSUPPORTED, h->error, "dropout, which makes encoding random, is not supported");
  if (!is_empty(tsl__doc_get(h->model, "continuing_subword_prefix")) || !is_empty(tsl__doc_get(h->model, "end_of_word_suffix")))
    return tsl__hf_fail(&h->file, h->model, TSL_ERR_UNSUPPORTED, h->error,
                        "continuing_subword_prefix and end_of_word_suffix are not supported");
  h->byte_fallback = tsl__doc_true(tsl__doc_get(h->model, "byte_fallback"));
  h->b.facts.fuse_unknown = tsl__doc_true(tsl__doc_get(h->model, "fuse_unk"));
  h->b.facts.whole_pieces = tsl__doc_true(tsl__doc_get(h->model, "ignore_merges"));
  return TSL_OK;
}

/* ---- the decoder ---------------------------------------------------------------------------------------------- */

static tsl_status set_space(hf *h, const tsl__doc *node, const tsl__doc *from, const char *to, uint32_t length) {
  if (!from || from->kind != TSL__DOC_STRING || !from->length)
    return tsl__hf_fail(&h->file, node, TSL_ERR_FORMAT, h->error, "a decoder lacks what it replaces");
  if (h->space) return tsl__hf_fail(&h->file, node, TSL_ERR_UNSUPPORTED, h->error, "a second decoder that replaces text is not supported");
  h->space = from;
  h->blank = to;
  h->blank_length = length;
  return TSL_OK;
}

/* One decoder. ByteFallback, Fuse and Strip say nothing about what a token spells in the middle of a text. */
static tsl_status read_decoder(hf *h, const tsl__doc *node, bool *byte_level) {
  const tsl__doc *type = tsl__doc_get(node, "type"), *content = tsl__doc_get(node, "content");
  bool regex;
  if (tsl__doc_is(type, "ByteLevel")) *byte_level = true;
  else if (tsl__doc_is(type, "ByteFallback")) h->byte_fallback = true;
  else if (tsl__doc_is(type, "Metaspace")) return set_space(h, node, tsl__doc_get(node, "replacement"), " ", 1);
  else if (tsl__doc_is(type, "Replace")) {
    const tsl__doc *from = tsl__hf_pattern(node, "pattern", &regex);
    if (regex || !content || content->kind != TSL__DOC_STRING)
      return tsl__hf_fail(&h->file, node, TSL_ERR_UNSUPPORTED, h->error, "a decoder that replaces anything but a string is not supported");
    return set_space(h, node, from, content->text, content->length);
  } else if (!tsl__doc_is(type, "Fuse") && !tsl__doc_is(type, "Strip")) {
    return tsl__hf_fail(&h->file, type ? type : node, TSL_ERR_UNSUPPORTED, h->error, "this type of decoder is not supported");
  }
  return TSL_OK;
}

static tsl_status read_decoders(hf *h) {
  const tsl__doc *node = tsl__doc_get(h->file.root, "decoder");
  bool byte_level = false;
  tsl_status status = TSL_OK;
  if (tsl__doc_is(tsl__doc_get(node, "type"), "Sequence")) {
    const tsl__doc *parts = tsl__doc_get(node, "decoders");
    for (const tsl__doc *part = parts ? parts->first : NULL; part && !status; part = part->next)
      status = read_decoder(h, part, &byte_level);
  } else if (node) {
    status = read_decoder(h, node, &byte_level);
  }
  if (status || byte_level == h->byte_level) return status;
  return tsl__hf_fail(&h->file, node, TSL_ERR_UNSUPPORTED, h->error, "the pre_tokenizer and the decoder do not agree on ByteLevel");
}

/* ---- names by id, ids by name --------------------------------------------------------------------------------- */

static uint32_t load32(const char *p) {
  uint32_t x;
  memcpy(&x, p, sizeof x);
  return x;
}

/* See slot. Different short names of one length have different keys. */
static uint64_t key_of(const char *text, uint32_t n) {
  if (n > 8) return XXH3_64bits(text, n);
  if (n >= 4) return (uint64_t)load32(text + n - 4) << 32 | load32(text);
  return n ? (uint64_t)(uint8_t)text[0] << 16 | (uint64_t)(uint8_t)text[n / 2] << 8 | (uint8_t)text[n - 1] : 0;
}

static uint32_t first_slot(const hf *h, uint64_t key, uint32_t length) {
  return (uint32_t)((tsl__mix(key + length) >> 32) * h->slot_count >> 32);
}

static uint32_t find_slot(const hf *h, const char *text, uint32_t length, uint64_t key) {
  uint32_t at = first_slot(h, key, length);
  for (; h->slots[at].id != TSL_NO_TOKEN; at = at + 1 == h->slot_count ? 0 : at + 1) {
    const slot *s = &h->slots[at];
    if (s->key == key && s->length == length && (length <= 8 || !memcmp(h->names[s->id].text, text, length))) break;
  }
  return at;
}

/* The model's token of that text, or TSL_NO_TOKEN. */
static tsl_token find_token(const hf *h, const char *text, uint32_t length) {
  tsl_token id = h->slots[find_slot(h, text, length, key_of(text, length))].id;
  return id != TSL_NO_TOKEN && h->names[id].in_model ? id : TSL_NO_TOKEN;
}

static tsl_status add_name(hf *h, tsl_token id, name n) {
  uint64_t key = key_of(n.text, n.length);
  uint32_t at = find_slot(h, n.text, n.length, key);
  if (h->slots[at].id != TSL_NO_TOKEN) return bad(h, n.offset, TSL_ERR_FORMAT, "the same token twice:", n.text, n.length);
  if (h->names[id].text) return bad(h, n.offset, TSL_ERR_FORMAT, "two tokens have the same id; the second is", n.text, n.length);
  h->names[id] = n;
  h->slots[at] = (slot){key, n.length, id};
  return TSL_OK;
}

static const tsl__doc *added_tokens(const hf *h) {
  const tsl__doc *list = tsl__doc_get(h->file.root, "added_tokens");
  return list ? list->first : NULL;
}

static tsl_status check_added(const hf *h, uint32_t *largest, size_t *count) {
  const tsl__doc *list = tsl__doc_get(h->file.root, "added_tokens");
  if (list && list->kind != TSL__DOC_ARRAY) return tsl__hf_fail(&h->file, list, TSL_ERR_FORMAT, h->error, "added_tokens is not an array");
  for (const tsl__doc *t = added_tokens(h); t; t = t->next) {
    const tsl__doc *content = tsl__doc_get(t, "content");
    uint32_t id;
    if (!tsl__doc_u32(tsl__doc_get(t, "id"), &id) || !content || content->kind != TSL__DOC_STRING || !content->length)
      return tsl__hf_fail(&h->file, t, TSL_ERR_FORMAT, h->error, "an added token needs \"id\" and \"content\"");
    if (id > *largest) *largest = id;
    ++*count;
  }
  return TSL_OK;
}

static tsl_status make_names(hf *h) {
  uint32_t largest = 0;
  size_t count = h->file.tokens.n;
  for (size_t i = 0; i < h->file.tokens.n; i++)
    if (h->file.tokens.at[i].id > largest) largest = h->file.tokens.at[i].id;
  tsl_status status = check_added(h, &largest, &count);
  if (status) return status;
  if (largest >= TSL_MAX_VOCAB || count > 2u * TSL_MAX_VOCAB)
    return tsl__fail(h->error, TSL_ERR_LIMIT, "the largest id is %u; at most %u tokens are possible (TSL_MAX_VOCAB)", largest,
                     TSL_MAX_VOCAB);
  h->size = largest + 1;
  h->slot_count = tsl__slots_for(count);
  h->names = tsl__alloc_zero(h->a, h->size * sizeof *h->names);
  h->plain = tsl__alloc_zero(h->a, h->size);
  h->slots = tsl__alloc(h->a, h->slot_count * sizeof *h->slots);
  if (!h->names || !h->plain || !h->slots) return no_memory(h);
  memset(h->slots, 0xFF, h->slot_count * sizeof *h->slots);
  for (size_t i = 0; i < h->file.tokens.n && !status; i++) {
    const tsl__hf_token *t = &h->file.tokens.at[i];
    status = add_name(h, t->id, (name){t->text, t->length, t->offset, true, false});
  }
  return status;
}

/* ---- added tokens, BOS ---------------------------------------------------------------------------------------- */

static uint32_t added_flags(const tsl__doc *t) {
  return (tsl__doc_true(tsl__doc_get(t, "single_word")) ? TSL__ADDED_SINGLE_WORD : 0) |
         (tsl__doc_true(tsl__doc_get(t, "lstrip")) ? TSL__ADDED_LSTRIP : 0) |
         (tsl__doc_true(tsl__doc_get(t, "rstrip")) ? TSL__ADDED_RSTRIP : 0) |
         (tsl__doc_true(tsl__doc_get(t, "normalized")) ? TSL__ADDED_NORMALIZED : 0);
}

static tsl_status read_added(hf *h) {
  for (const tsl__doc *t = added_tokens(h); t; t = t->next) {
    const tsl__doc *content = tsl__doc_get(t, "content");
    uint32_t id = 0;
    tsl__doc_u32(tsl__doc_get(t, "id"), &id);
    const name *n = &h->names[id];
    bool same = n->in_model && n->length == content->length && !memcmp(n->text, content->text, n->length);
    tsl_status status = same ? TSL_OK : add_name(h, id, (name){content->text, content->length, content->offset, false, false});
    if (status) return status;
    h->names[id].special = tsl__doc_true(tsl__doc_get(t, "special"));
    if (!tsl__builder_added(&h->b, id, added_flags(t), content->text, content->length)) return no_memory(h);
    if (h->names[id].special && tsl__is_eog_name(content->text, content->length) && !tsl__vec_push(h->a, &h->b.eog, id))
      return no_memory(h);
  }
  return TSL_OK;
}

/* The ids that a TemplateProcessing's "special_tokens" gives for a name. */
static tsl_status add_bos(hf *h, const tsl__doc *processor, const tsl__doc *id) {
  const tsl__doc *token = tsl__doc_get(processor, "special_tokens");
  for (token = token ? token->first : NULL; token; token = token->next)
    if (id && id->length == token->key_length && !memcmp(id->text, token->key, id->length)) break;
  const tsl__doc *ids = tsl__doc_get(token, "ids");
  if (!ids) return tsl__hf_fail(&h->file, processor, TSL_ERR_FORMAT, h->error, "the post_processor's template names a token without ids");
  for (const tsl__doc *i = ids->first; i; i = i->next) {
    uint32_t bos;
    if (!tsl__doc_u32(i, &bos) || bos >= h->size)
      return tsl__hf_fail(&h->file, i, TSL_ERR_FORMAT, h->error, "the post_processor names an id that is no token");
    if (!tsl__vec_push(h->a, &h->b.bos, bos)) return no_memory(h);
  }
  return TSL_OK;
}

/* What the template puts before the text; what it puts after it is left alone. */
static tsl_status read_template(hf *h, const tsl__doc *processor) {
  const tsl__doc *single = tsl__doc_get(processor, "single");
  for (const tsl__doc *part = single ? single->first : NULL; part && !tsl__doc_get(part, "Sequence"); part = part->next) {
    tsl_status status = add_bos(h, processor, tsl__doc_get(tsl__doc_get(part, "SpecialToken"), "id"));
    if (status) return status;
  }
  return TSL_OK;
}

static tsl_status read_post_processor(hf *h) {
  const tsl__doc *node = tsl__doc_get(h->file.root, "post_processor");
  if (tsl__doc_is(tsl__doc_get(node, "type"), "TemplateProcessing")) return read_template(h, node);
  const tsl__doc *parts = tsl__doc_get(node, "processors");
  for (const tsl__doc *part = parts ? parts->first : NULL; part; part = part->next) {
    tsl_status status = tsl__doc_is(tsl__doc_get(part, "type"), "TemplateProcessing") ? read_template(h, part) : TSL_OK;
    if (status) return status;
  }
  return TSL_OK;
}

/* ---- spelling ------------------------------------------------------------------------------------------------- */

/* GPT-2's alphabet: printable Latin-1 bytes are themselves, the others are U+0100, U+0101, … in order. */
static void make_alphabet(hf *h) {
  unsigned next = 256;
  for (unsigned i = 0; i < 324; i++) h->alphabet[i] = 256;
  for (unsigned b = 0; b < 256; b++) {
    bool printable = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
    h->alphabet[printable ? b : next++] = (uint16_t)b;
  }
}

static bool put_bytes(hf *h, const void *bytes, size_t n) {
  if (!tsl__vec_reserve(h->a, &h->b.bytes, n + 1)) return false;
  memcpy(h->b.bytes.at + h->b.bytes.n, bytes, n);
  h->b.bytes.n += n;
  return true;
}

/* Write what text in the alphabet spells; false, and nothing is written, if a character is not of the alphabet. There is room. */
static bool spell_alphabet(hf *h, const name *n) {
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

/* "<0x0A>" is 10; -1 if the text is not of that form. */
static int hex_byte(const name *n) {
  static const char digits[] = "0123456789ABCDEFabcdef";
  if (n->length != 6 || memcmp(n->text, "<0x", 3) || n->text[5] != '>') return -1;
  int value = 0;
  for (int i = 3; i < 5; i++) {
    const char *d = n->text[i] ? strchr(digits, n->text[i]) : NULL;
    if (!d) return -1;
    value = value * 16 + (int)(d - digits < 16 ? d - digits : d - digits - 6);
  }
  return value;
}

/* Write text with the decoder's replacement made. */
static bool spell_text(hf *h, const name *n) {
  uint32_t space = h->space ? h->space->length : 0;
  for (uint32_t at = 0; at < n->length;) {
    bool is_space = space && n->length - at >= space && !memcmp(n->text + at, h->space->text, space);
    if (!put_bytes(h, is_space ? h->blank : n->text + at, is_space ? h->blank_length : 1)) return false;
    at += is_space ? space : 1;
  }
  return true;
}

static bool spell(hf *h, tsl_token id) {
  const name *n = &h->names[id];
  int byte = h->byte_fallback && !h->byte_level && n->in_model && !n->special ? hex_byte(n) : -1;
  uint8_t b = (uint8_t)byte;
  if (!tsl__vec_reserve(h->a, &h->b.bytes, n->length + 1)) return false;
  if (byte >= 0) {
    h->b.facts.bytes[b] = id;
    return put_bytes(h, &b, 1);
  }
  if (!n->special && !h->byte_level) return spell_text(h, n);
  size_t before = h->b.bytes.n;
  if (n->in_model && h->byte_level && spell_alphabet(h, n)) { /* a special token is what it says, but text can still be merged to it */
    h->plain[id] = !n->special || (h->b.bytes.n - before == n->length && !memcmp(h->b.bytes.at + before, n->text, n->length));
    if (h->plain[id]) return true;
    h->b.bytes.n = before;
  }
  return put_bytes(h, n->text, n->length);
}

static tsl_status spell_all(hf *h) {
  make_alphabet(h);
  if (!tsl__vec_reserve(h->a, &h->b.offsets, (size_t)h->size + 1) || !tsl__vec_reserve(h->a, &h->b.special, h->size)) return no_memory(h);
  for (tsl_token id = 0; id < h->size; id++) {
    if (h->b.bytes.n > UINT32_MAX / 2) return tsl__fail(h->error, TSL_ERR_LIMIT, "the tokens have more than 2^31 bytes");
    h->b.offsets.at[h->b.offsets.n++] = (uint32_t)h->b.bytes.n;
    h->b.special.at[h->b.special.n++] = h->names[id].special;
    if (h->names[id].text && !spell(h, id)) return no_memory(h);
    if (h->plain[id] && h->b.bytes.n - h->b.offsets.at[id] == 1) h->b.facts.bytes[h->b.bytes.at[h->b.offsets.at[id]]] = id;
  }
  h->b.offsets.at[h->b.offsets.n++] = (uint32_t)h->b.bytes.n;
  return TSL_OK;
}

/* ---- tables for encoding -------------------------------------------------------------------------------------- */

static bool is_joined(const hf *h, tsl_token id, const tsl__hf_merge *m) {
  const name *n = &h->names[id];
  return n->in_model && n->length == m->left_length + m->right_length && !memcmp(n->text, m->left, m->left_length) &&
         !memcmp(n->text + m->left_length, m->right, m->right_length);
}

/* What a merge makes. Most files list merges in the order of the tokens that they make, so the token of the merge before and the one
 * after it are tried first. `both` has room for the text. */
static tsl_token find_joined(const hf *h, const tsl__hf_merge *m, tsl_token last, char *both) {
  if (last < h->size && is_joined(h, last, m)) return last;
  if (last + 1 < h->size && is_joined(h, last + 1, m)) return last + 1;
  memcpy(both, m->left, m->left_length);
  memcpy(both + m->left_length, m->right, m->right_length);
  return find_token(h, both, m->left_length + m->right_length);
}

/* The ids of merge i. */
static tsl_status resolve_merge(const hf *h, size_t i, tsl_token last, char *both, tsl__merge *out) {
  const tsl__hf_merge *m = &h->file.merges.at[i];
  *out = (tsl__merge){find_token(h, m->left, m->left_length), find_token(h, m->right, m->right_length), (uint32_t)i, TSL_NO_TOKEN};
  if (out->left == TSL_NO_TOKEN) return bad(h, m->offset, TSL_ERR_FORMAT, "a merge names what is no token:", m->left, m->left_length);
  if (out->right == TSL_NO_TOKEN) return bad(h, m->offset, TSL_ERR_FORMAT, "a merge names what is no token:", m->right, m->right_length);
  out->result = find_joined(h, m, last, both);
  return out->result != TSL_NO_TOKEN
             ? TSL_OK
             : bad(h, m->offset, TSL_ERR_FORMAT, "a merge makes what is no token:", both, m->left_length + m->right_length);
}

/* Both tables are larger than a cache, so merges are dealt with in blocks, and what a block will touch is asked for ahead. */
#define BLOCK 64u

static void expect_names(const hf *h, const tsl__hf_merge *m) {
  TSL__PREFETCH(&h->slots[first_slot(h, key_of(m->left, m->left_length), m->left_length)]);
  TSL__PREFETCH(&h->slots[first_slot(h, key_of(m->right, m->right_length), m->right_length)]);
}

/* Merges first … first + n - 1, n at most BLOCK. */
static tsl_status fill_block(const hf *h, size_t first, size_t n, tsl_token *last, char *both, tsl__merge *table, uint32_t slots) {
  tsl__merge block[BLOCK];
  for (size_t i = 0; i < n; i++) expect_names(h, &h->file.merges.at[first + i]);
  for (size_t i = 0; i < n; i++) {
    tsl_status status = resolve_merge(h, first + i, *last, both, &block[i]);
    if (status) return status;
    *last = block[i].result;
    tsl__merge_expect(table, slots, block[i].left, block[i].right);
  }
  for (size_t i = 0; i < n; i++) tsl__merge_put(table, slots, block[i]);
  return TSL_OK;
}

static tsl_status fill_merges(const hf *h, tsl__merge *table, uint32_t slots) {
  size_t n = h->file.merges.n, longest = 0;
  for (size_t i = 0; i < n; i++) {
    size_t length = (size_t)h->file.merges.at[i].left_length + h->file.merges.at[i].right_length;
    if (length > longest) longest = length;
  }
  char *both = tsl__alloc(h->a, longest + 1);
  if (!both) return no_memory(h);
  tsl_token last = TSL_NO_TOKEN - 1;
  tsl_status status = TSL_OK;
  for (size_t i = 0; i < n && !status; i += BLOCK) status = fill_block(h, i, n - i < BLOCK ? n - i : BLOCK, &last, both, table, slots);
  tsl__free(h->a, both, longest + 1);
  return status;
}

static tsl_status make_merges(hf *h) {
  size_t n = h->file.merges.n;
  if (n > UINT32_MAX / 4) return tsl__fail(h->error, TSL_ERR_LIMIT, "more than 2^30 merges");
  uint32_t slots = tsl__slots_for(n);
  tsl__merge *table = tsl__alloc(h->a, slots * sizeof *table);
  if (!table) return no_memory(h);
  h->b.tables.span[TSL__SPAN_MERGES] = (tsl__span){table, slots * sizeof *table};
  memset(table, 0xFF, slots * sizeof *table);
  return fill_merges(h, table, slots);
}

/* Of a model of code points: the tokens that are one. */
static tsl_status make_points(hf *h) {
  size_t count = 0;
  uint32_t cp;
  for (size_t i = 0; i < h->file.tokens.n; i++) {
    const tsl__hf_token *t = &h->file.tokens.at[i];
    count += t->length && tsl__utf8_decode((const uint8_t *)t->text, t->length, &cp) == t->length;
  }
  uint32_t slots = tsl__slots_for(count);
  tsl__point *table = tsl__alloc(h->a, slots * sizeof *table);
  if (!table) return no_memory(h);
  memset(table, 0xFF, slots * sizeof *table);
  h->b.tables.span[TSL__SPAN_POINTS] = (tsl__span){table, slots * sizeof *table};
  for (size_t i = 0; i < h->file.tokens.n; i++) {
    const tsl__hf_token *t = &h->file.tokens.at[i];
    if (t->length && tsl__utf8_decode((const uint8_t *)t->text, t->length, &cp) == t->length)
      tsl__point_put(table, slots, (tsl__point){cp, t->id});
  }
  return TSL_OK;
}

static tsl_status make_tables(hf *h) {
  const tsl__doc *unknown = tsl__doc_get(h->model, "unk_token");
  if (unknown) {
    h->b.facts.unknown = unknown->kind == TSL__DOC_STRING ? find_token(h, unknown->text, unknown->length) : TSL_NO_TOKEN;
    if (h->b.facts.unknown == TSL_NO_TOKEN)
      return tsl__hf_fail(&h->file, unknown, TSL_ERR_FORMAT, h->error, "unk_token is no token of the model");
  }
  h->b.facts.units = h->byte_level ? TSL__UNITS_BYTES : TSL__UNITS_POINTS;
  if (!h->byte_level && h->b.facts.whole_pieces)
    return tsl__hf_fail(&h->file, h->model, TSL_ERR_UNSUPPORTED, h->error, "ignore_merges without ByteLevel is not supported");
  if (h->b.facts.whole_pieces && !tsl__lookup_build(&h->b.tables, h->a, h->b.bytes.at, h->b.offsets.at, h->size, h->plain))
    return no_memory(h);
  tsl_status status = h->byte_level ? TSL_OK : make_points(h);
  return status ? status : make_merges(h);
}

/* ---- the whole ------------------------------------------------------------------------------------------------ */

static tsl_status load(hf *h, const tsl_vocab_options *options, tsl_vocab **out) {
  tsl_status status = read_model(h);
  if (!status) status = tsl__hf_steps(&h->file, &h->b, &h->byte_level, h->error);
  if (!status) status = read_decoders(h);
  if (!status) status = make_names(h);
  if (!status) status = read_added(h);
  if (!status) status = read_post_processor(h);
  if (!status) status = spell_all(h);
  if (!status) status = make_tables(h);
  return status ? status : tsl__builder_finish(&h->b, options, out, h->error);
}

tsl_status tsl__load_hf(const char *text, size_t length, const tsl_vocab_options *options, const tsl_allocator *a, tsl_vocab **out,
                        tsl_error *error) {
  hf h = {.a = a, .error = error};
  tsl_status status = tsl__hf_read(&h.file, a, text, length, error);
  if (status) return status;
  tsl__builder_init(&h.b, a);
  status = load(&h, options, out);
  tsl__free(a, h.names, h.size * sizeof *h.names);
  tsl__free(a, h.plain, h.size);
  tsl__free(a, h.slots, h.slot_count * sizeof *h.slots);
  tsl__builder_free(&h.b);
  tsl__hf_free(&h.file);
  return status;
}
