/* pieces.c - see pieces.h.
 *
 * Encoding  Text is cut into code points. Of all neighbours that together spell a piece, those with
 *           the best score merge first, the leftmost of equals, until none is left (bpe.c,
 *           TSL__UNITS_SCORES). Scores become ranks here: the best is 0, equal scores share one.
 * Spaces    The model writes a space as "▁". Here pieces spell real spaces and text keeps them. A
 *           "▁" in the text becomes a space first, as it does in the model, where the two can't be
 *           distinguished.
 * User      SentencePiece finds pieces of type "user" in any text that it encodes, after the prefix
 *           and before it merges. llama.cpp looks for them where it looks for other special tokens,
 *           in the text as it is, and puts a prefix after each.
 * Unused    Pieces of type "unused" spell nothing. SentencePiece merges to them and takes the merge
 *           apart again; no file that a generating model uses was seen to have any.
 *
 * Tested by tests/vocab_files/test_gguf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tokenizer/pieces.h"

#include <math.h>
#include <stdio.h>

static tsl_status no_memory(const tsl__piece_model *m) {
  return tsl__fail(m->error, TSL_ERR_NO_MEMORY, "out of memory");
}

tsl_status tsl__fail_binary(tsl_error *error, tsl_status status, size_t offset, const char *format,
                            ...) {
  char text[sizeof error->message];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  tsl__fail(error, status, "%s", text);
  if (error) error->offset = offset;
  return status;
}

int tsl__hex_byte(const char *text, uint32_t length) {
  static const char digits[] = "0123456789ABCDEFabcdef";
  if (length != 6 || memcmp(text, "<0x", 3) || text[5] != '>') return -1;
  int value = 0;
  for (int i = 3; i < 5; i++) {
    const char *d = text[i] ? strchr(digits, text[i]) : NULL;
    if (!d) return -1;
    value = value * 16 + (int)(d - digits < 16 ? d - digits : d - digits - 6);
  }
  return value;
}

/* ---- what pieces spell ----------------------------------------------------------------------- */

static bool is_added(const tsl__piece *p) {
  return p->type == TSL__PIECE_CONTROL || p->type == TSL__PIECE_USER ||
         p->type == TSL__PIECE_UNKNOWN;
}

/* Write text with "▁" as a space. There is room. */
static void put_text(tsl__vocab_builder *b, const tsl__piece *p, bool escaped) {
  for (uint32_t at = 0; at < p->length;) {
    bool space = escaped && p->length - at >= 3 && !memcmp(p->text + at, "\xE2\x96\x81", 3);
    b->bytes.at[b->bytes.n++] = space ? ' ' : (uint8_t)p->text[at];
    at += space ? 3 : 1;
  }
}

static tsl_status put_byte(const tsl__piece_model *m, tsl__vocab_builder *b, tsl_token id) {
  const tsl__piece *p = &m->pieces.at[id];
  int byte = tsl__hex_byte(p->text, p->length);
  if (byte < 0)
    return tsl__fail_binary(m->error, TSL_ERR_FORMAT, p->offset,
                            "a byte token is not written <0xHH>: \"%.*s\"",
                            (int)(p->length < 80 ? p->length : 80), p->text);
  if (b->facts.bytes[byte] != TSL_NO_TOKEN)
    return tsl__fail_binary(m->error, TSL_ERR_FORMAT, p->offset,
                            "two tokens stand for the byte 0x%02X", (unsigned)byte);
  b->facts.bytes[byte] = id;
  b->bytes.at[b->bytes.n++] = (uint8_t)byte;
  return TSL_OK;
}

static tsl_status add_piece(const tsl__piece_model *m, tsl__vocab_builder *b, tsl_token id) {
  const tsl__piece *p = &m->pieces.at[id];
  bool special = p->type == TSL__PIECE_CONTROL || p->type == TSL__PIECE_UNKNOWN;
  if (b->bytes.n > UINT32_MAX / 2)
    return tsl__fail(m->error, TSL_ERR_LIMIT, "the tokens have more than 2^31 bytes");
  size_t begin = b->bytes.n;
  if (!tsl__vec_reserve(m->alloc, &b->bytes, (size_t)p->length + 1) ||
      !tsl__vec_push(m->alloc, &b->special, special))
    return no_memory(m);
  if (p->type == TSL__PIECE_BYTE) {
    tsl_status status = put_byte(m, b, id);
    if (status) return status;
  } else if (p->type != TSL__PIECE_UNUSED) {
    put_text(b, p, m->escaped && !special);
  }
  if (!tsl__vec_push(m->alloc, &b->offsets, (uint32_t)b->bytes.n)) return no_memory(m);
  if (!is_added(p) || begin == b->bytes.n) return TSL_OK;
  bool ends = tsl__is_eog_name(p->text, p->length) && special;
  if (ends && !tsl__vec_push(m->alloc, &b->eog, id)) return no_memory(m);
  uint32_t flags = p->type != TSL__PIECE_USER ? 0
                   : m->user_normalised       ? TSL__ADDED_NORMALIZED | TSL__ADDED_ALWAYS
                                              : TSL__ADDED_ALWAYS;
  return tsl__builder_added(b, id, flags, (const char *)b->bytes.at + begin, b->bytes.n - begin)
             ? TSL_OK
             : no_memory(m);
}

/* ---- tables for encoding --------------------------------------------------------------------- */

/* A float as a number that is the smaller the better the score is. Not for NaN; -0 is 0. */
static uint32_t descending(float score) {
  uint32_t bits;
  score += 0.0f;
  memcpy(&bits, &score, sizeof bits);
  return bits & 0x80000000u ? bits : ~bits & 0x7FFFFFFFu;
}

/* The place of a score among the sorted ones, by halving. */
static uint32_t rank_of(const uint32_t *sorted, size_t n, uint32_t key) {
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (sorted[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  return (uint32_t)low;
}

static tsl_status make_ranks(const tsl__piece_model *m, tsl__vocab_builder *b) {
  size_t n = m->pieces.n;
  uint32_t *ranks = tsl__alloc(m->alloc, n * sizeof *ranks),
           *keys = tsl__alloc(m->alloc, n * sizeof *keys);
  b->tables.span[TSL__SPAN_RANKS] = (tsl__span){ranks, ranks ? n * sizeof *ranks : 0};
  for (size_t i = 0; ranks && keys && i < n; i++)
    keys[i] = ranks[i] = descending(m->pieces.at[i].score);
  size_t distinct = ranks && keys ? tsl__sort_unique(keys, n) : 0;
  for (size_t i = 0; distinct && i < n; i++) ranks[i] = rank_of(keys, distinct, ranks[i]);
  tsl__free(m->alloc, keys, n * sizeof *keys);
  return distinct ? TSL_OK : no_memory(m);
}

/* Can text be merged to it? */
static bool is_reachable(const tsl__piece *p) {
  return p->type == TSL__PIECE_NORMAL || p->type == TSL__PIECE_USER;
}

static bool spells_point(const tsl__vocab_builder *b, tsl_token id, uint32_t *cp) {
  uint32_t length = b->offsets.at[id + 1] - b->offsets.at[id];
  return length && tsl__utf8_decode(b->bytes.at + b->offsets.at[id], length, cp) == length;
}

static tsl_status make_points(const tsl__piece_model *m, tsl__vocab_builder *b) {
  TSL__VEC(tsl__point) points = {0};
  uint32_t cp;
  bool ok = true;
  for (tsl_token id = 0; id < m->pieces.n && ok; id++)
    if (is_reachable(&m->pieces.at[id]) && spells_point(b, id, &cp))
      ok = tsl__vec_push(m->alloc, &points, ((tsl__point){cp, id}));
  ok = ok && tsl__points_build(b, points.at, points.n);
  tsl__vec_free(m->alloc, &points);
  return ok ? TSL_OK : no_memory(m);
}

static tsl_status make_lookup(const tsl__piece_model *m, tsl__vocab_builder *b) {
  uint8_t *take = tsl__alloc(m->alloc, m->pieces.n);
  if (!take) return no_memory(m);
  for (size_t i = 0; i < m->pieces.n; i++) take[i] = is_reachable(&m->pieces.at[i]);
  bool ok = tsl__lookup_build(b, (uint32_t)m->pieces.n, take);
  tsl__free(m->alloc, take, m->pieces.n);
  return ok ? TSL_OK : no_memory(m);
}

static tsl_status make_steps(const tsl__piece_model *m, tsl__vocab_builder *b) {
  tsl__step replace = {.kind = TSL__STEP_REPLACE, .normaliser = 1};
  tsl__step prepend = {.kind = TSL__STEP_PREPEND, .how = TSL__WHEN_ALWAYS, .normaliser = 1};
  bool ok = (!m->escaped || tsl__builder_step(b, replace, "\xE2\x96\x81", 3, " ", 1)) &&
            (!m->prefix || tsl__builder_step(b, prepend, " ", 1, "", 0));
  return ok ? TSL_OK : no_memory(m);
}

static tsl_status make_tables(const tsl__piece_model *m, tsl__vocab_builder *b) {
  b->facts.units = TSL__UNITS_SCORES;
  b->facts.fuse_unknown = 1;
  b->facts.unknown = m->unknown;
  tsl_status status = make_ranks(m, b);
  if (!status) status = make_points(m, b);
  if (!status) status = make_lookup(m, b);
  return status ? status : make_steps(m, b);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static tsl_status check_piece(const tsl__piece_model *m, const tsl__piece *p) {
  if (p->type < TSL__PIECE_NORMAL || p->type > TSL__PIECE_BYTE)
    return tsl__fail_binary(m->error, TSL_ERR_FORMAT, p->offset,
                            "a token has the type %u; there are 1 to 6", p->type);
  if (isnan(p->score))
    return tsl__fail_binary(m->error, TSL_ERR_FORMAT, p->offset, "a token's score is not a number");
  return TSL_OK;
}

tsl_status tsl__pieces_build(const tsl__piece_model *m, tsl__vocab_builder *b) {
  if (!m->pieces.n) return tsl__fail(m->error, TSL_ERR_FORMAT, "the file has no tokens");
  if (!tsl__vec_push(m->alloc, &b->offsets, 0)) return no_memory(m);
  tsl_status status = TSL_OK;
  for (tsl_token id = 0; id < m->pieces.n && !status; id++) {
    status = check_piece(m, &m->pieces.at[id]);
    if (!status) status = add_piece(m, b, id);
  }
  if (!status && m->bos != TSL_NO_TOKEN && !tsl__vec_push(m->alloc, &b->bos, m->bos))
    status = no_memory(m);
  if (!status && m->encodes)
    status = make_tables(m, b);
  else
    b->facts.units = TSL__UNITS_NONE;
  return status;
}
