/* gguf_read.c - the keys and values of a GGUF file. See gguf_read.h.
 *
 * Format    As in ggml/docs/gguf.md: "GGUF", version u32 (2 or 3), tensors u64, keys u64. Then for
 *           each key a string, a type u32 and a value. A string is its length u64 and its bytes; an
 *           array is a type u32, a count u64 and the elements. All little-endian. Tensors follow,
 *           which are not looked at.
 * Example   The bytes 05 00 00 00 00 00 00 00 "a.eos" are a key of five bytes. Then 04 00 00 00 02
 *           00 00 00 are type 4 (u32) and the value 2.
 * Work      Every element of an array of strings takes eight bytes of the file at least, and
 *           numbers are skipped at once. So a file can't ask for more work than it has bytes.
 * Lies      Every length is compared with what is left of the file before it is used.
 * Tested by tests/vocab_files/test_gguf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/vocab_files/gguf_read.h"

#include "runtime/tokenizer/pieces.h"

#define PREFIX "tokenizer.ggml."
#define HEADER 24u

static const char *const keys[] = {
#define KEY_TEXT(name, text) PREFIX text,
    TSL__GGUF_KEYS(KEY_TEXT)
#undef KEY_TEXT
};

static const uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8}; /* of numbers, by type */

const char *tsl__gguf_key(unsigned key) { return keys[key]; }

static uint64_t load(const tsl__gguf *g, size_t at, unsigned size) {
  uint64_t x = 0;
  for (unsigned i = 0; i < size; i++) x |= (uint64_t)g->data[at + i] << 8 * i;
  return x;
}

uint32_t tsl__gguf_u32(const tsl__gguf *g, size_t at) { return (uint32_t)load(g, at, 4); }

const char *tsl__gguf_string(const tsl__gguf *g, size_t *at, uint32_t *length) {
  *length = (uint32_t)load(g, *at, 8);
  const char *text = (const char *)g->data + *at + 8;
  *at += 8 + (size_t)*length;
  return text;
}

bool tsl__gguf_is(const tsl__gguf *g, const tsl__gguf_value *v, const char *text) {
  return v->type == TSL__GGUF_STRING && v->count == strlen(text) &&
         !memcmp(g->data + v->at, text, (size_t)v->count);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static tsl_status cut_off(tsl__gguf *g, size_t at) {
  g->cut_off = true;
  return tsl__fail_binary(g->error, TSL_ERR_FORMAT, at,
                          "the GGUF metadata is cut off: the file ends at byte %zu", g->size);
}

/* Take `n` bytes; false if they are not there. */
static bool take(const tsl__gguf *g, size_t *at, uint64_t n) {
  if (n > g->size - *at) return false;
  *at += (size_t)n;
  return true;
}

static tsl_status skip_string(tsl__gguf *g, size_t *at, uint64_t *length) {
  size_t begin = *at;
  if (!take(g, at, 8)) return cut_off(g, begin);
  *length = load(g, begin, 8);
  if (*length > UINT32_MAX / 2)
    return tsl__fail_binary(g->error, TSL_ERR_FORMAT, begin, "a string of %llu bytes",
                            (unsigned long long)*length);
  return take(g, at, *length) ? TSL_OK : cut_off(g, begin);
}

static tsl_status skip_array(tsl__gguf *g, size_t *at, tsl__gguf_value *v) {
  size_t begin = *at;
  uint64_t length;
  if (!take(g, at, 12)) return cut_off(g, begin);
  v->item = tsl__gguf_u32(g, begin);
  v->count = load(g, begin + 4, 8);
  v->at = *at;
  if (v->item == TSL__GGUF_ARRAY)
    return tsl__fail_binary(g->error, TSL_ERR_UNSUPPORTED, begin,
                            "an array of arrays is not supported");
  if (v->item >= TSL__GGUF_ABSENT)
    return tsl__fail_binary(g->error, TSL_ERR_FORMAT, begin, "there is no type %u", v->item);
  if (v->item != TSL__GGUF_STRING) {
    bool there =
        v->count <= (g->size - *at) / sizes[v->item] && take(g, at, v->count * sizes[v->item]);
    return there ? TSL_OK : cut_off(g, begin);
  }
  tsl_status status = TSL_OK;
  for (uint64_t i = 0; i < v->count && !status; i++) status = skip_string(g, at, &length);
  return status;
}

static tsl_status skip_value(tsl__gguf *g, size_t *at, tsl__gguf_value *v) {
  size_t begin = *at;
  if (v->type == TSL__GGUF_ARRAY) return skip_array(g, at, v);
  if (v->type == TSL__GGUF_STRING) {
    v->at = begin + 8;
    return skip_string(g, at, &v->count);
  }
  if (v->type >= TSL__GGUF_ABSENT)
    return tsl__fail_binary(g->error, TSL_ERR_FORMAT, begin, "there is no type %u", v->type);
  v->at = begin;
  return take(g, at, sizes[v->type]) ? TSL_OK : cut_off(g, begin);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static unsigned find_key(const char *text, uint64_t length) {
  unsigned key = 0;
  while (key < TSL__GGUF_KEY_COUNT &&
         (strlen(keys[key]) != length || memcmp(keys[key], text, (size_t)length)))
    key++;
  return key;
}

static tsl_status read_pair(tsl__gguf *g, size_t *at) {
  size_t begin = *at;
  uint64_t length;
  tsl_status status = skip_string(g, at, &length);
  if (status) return status;
  unsigned key = find_key((const char *)g->data + begin + 8, length);
  tsl__gguf_value value = {.item = TSL__GGUF_ABSENT};
  if (!take(g, at, 4)) return cut_off(g, begin);
  value.type = tsl__gguf_u32(g, *at - 4);
  status = skip_value(g, at, &value);
  if (status || key == TSL__GGUF_KEY_COUNT) return status;
  if (g->value[key].type != TSL__GGUF_ABSENT)
    return tsl__fail_binary(g->error, TSL_ERR_FORMAT, begin, "the key \"%s\" is there twice",
                            keys[key]);
  g->value[key] = value;
  return TSL_OK;
}

static tsl_status check_version(const tsl__gguf *g) {
  uint32_t version = tsl__gguf_u32(g, 4);
  if (version == 2 || version == 3) return TSL_OK;
  if (version == 0x02000000u || version == 0x03000000u)
    return tsl__fail_binary(g->error, TSL_ERR_UNSUPPORTED, 4,
                            "big-endian GGUF files are not supported");
  return tsl__fail_binary(g->error, TSL_ERR_UNSUPPORTED, 4,
                          "GGUF of version %u is not supported; versions 2 and 3 are", version);
}

tsl_status tsl__gguf_read(tsl__gguf *g) {
  size_t at = HEADER;
  for (unsigned i = 0; i < TSL__GGUF_KEY_COUNT; i++)
    g->value[i] = (tsl__gguf_value){.type = TSL__GGUF_ABSENT, .item = TSL__GGUF_ABSENT};
  g->cut_off = false;
  if (g->size < HEADER) return cut_off(g, 0);
  if (memcmp(g->data, "GGUF", 4))
    return tsl__fail_binary(g->error, TSL_ERR_FORMAT, 0, "not a GGUF file");
  tsl_status status = check_version(g);
  uint64_t count = load(g, 16, 8);
  for (uint64_t i = 0; i < count && !status; i++) status = read_pair(g, &at);
  g->end = at;
  return status;
}
