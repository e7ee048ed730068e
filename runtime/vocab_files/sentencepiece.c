/* sentencepiece.c - a vocabulary from SentencePiece's own file, tokenizer.model: a protocol buffer.
 *
 * Format    A message is a list of fields. Each is a varint `number << 3 | wire`, then a varint
 *           (wire 0), 8 bytes (1), a length and as many bytes (2) or 4 bytes (5). What is read of
 *           sentencepiece_model.proto:
 *             1  a piece, once per id     1 text, 2 score (float), 3 type (1 if absent)
 *             2  how it was trained       3 model: 1 unigram (if absent), 2 BPE, 3 word, 4 char; 24
 *             spaces are suffixes; 40 41 42 ids of
 *                                         unknown, beginning, end (0 1 2 if absent; negative: none)
 *             3  how text is normalised   2 table of characters; 3 a space is put in front; 4
 *             spaces are squeezed; 5 spaces become "▁" (all
 *                                         three true if absent)
 *           Everything else is passed over. Of a field that is there twice the last counts, as
 *           protocol buffers say.
 * Example   0A 09 0A 02 68 65 15 00 00 80 C0: 0A is field 1 of wire 2, a piece of 9 bytes. In it
 *           field 1 is the text "he", and 15 is field 2 of wire 5, the float -4. No type is there,
 *           so it is 1, a normal piece. Its id is its place in the list.
 * Encoding  Type BPE, without a table of characters and without squeezing: what Llama 2, Mistral
 *           and Gemma use. Any other model loads, and masks work, but encoding says UNSUPPORTED.
 *
 * Tested by tests/vocab_files/test_gguf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tokenizer/pieces.h"

/* A message, and what is left of it. */
typedef struct message {
  const uint8_t *data; /* of the file */
  size_t at, end;
} message;

typedef struct field {
  uint32_t number, wire;
  uint64_t value; /* wires 0, 1, 5 */
  message body;   /* wire 2 */
} field;

typedef struct reader {
  tsl__piece_model model;
  tsl__vocab_builder b;
  uint32_t type;
  bool suffix, squeezed, table;
  int32_t unknown, bos, eos;
} reader;

/* ---- protocol buffers ------------------------------------------------------------------------ */

static bool read_varint(message *m, uint64_t *out) {
  *out = 0;
  for (unsigned shift = 0; shift < 70 && m->at < m->end; shift += 7) {
    uint8_t byte = m->data[m->at++];
    if (shift == 63 && byte > 1) return false;
    *out |= (uint64_t)(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

static bool read_fixed(message *m, unsigned size, uint64_t *out) {
  *out = 0;
  if (m->end - m->at < size) return false;
  for (unsigned i = 0; i < size; i++) *out |= (uint64_t)m->data[m->at++] << 8 * i;
  return true;
}

static bool read_body(message *m, message *body) {
  uint64_t length;
  if (!read_varint(m, &length) || length > m->end - m->at) return false;
  *body = (message){m->data, m->at, m->at + (size_t)length};
  m->at += (size_t)length;
  return true;
}

/* The next field; false if what stands there is none. */
static bool read_field(message *m, field *f) {
  uint64_t tag;
  *f = (field){0};
  if (!read_varint(m, &tag) || tag >> 3 == 0 || tag >> 3 >= (1u << 29)) return false;
  f->number = (uint32_t)(tag >> 3);
  f->wire = (uint32_t)tag & 7;
  if (f->wire == 0) return read_varint(m, &f->value);
  if (f->wire == 1) return read_fixed(m, 8, &f->value);
  if (f->wire == 2) return read_body(m, &f->body);
  return f->wire == 5 && read_fixed(m, 4, &f->value);
}

static tsl_status malformed(const reader *r, size_t offset) {
  return tsl__fail_binary(r->model.error, TSL_ERR_FORMAT, offset,
                          "a field of the protocol buffer is malformed or cut off");
}

/* ---- the messages ---------------------------------------------------------------------------- */

static tsl_status read_piece(reader *r, message m) {
  tsl__piece piece = {.offset = (uint32_t)m.at, .type = TSL__PIECE_NORMAL};
  bool named = false;
  while (m.at < m.end) {
    size_t begin = m.at;
    field f;
    if (!read_field(&m, &f)) return malformed(r, begin);
    if (f.number == 1 && f.wire == 2) {
      piece.text = (const char *)m.data + f.body.at;
      piece.length = (uint32_t)(f.body.end - f.body.at);
      named = true;
    } else if (f.number == 2 && f.wire == 5) {
      uint32_t bits = (uint32_t)f.value;
      memcpy(&piece.score, &bits, sizeof bits);
    } else if (f.number == 3 && f.wire == 0) {
      piece.type = f.value > UINT32_MAX ? UINT32_MAX : (uint32_t)f.value;
    }
  }
  if (!named)
    return tsl__fail_binary(r->model.error, TSL_ERR_FORMAT, piece.offset, "a piece has no text");
  if (r->model.pieces.n == TSL_MAX_VOCAB)
    return tsl__fail_binary(r->model.error, TSL_ERR_LIMIT, piece.offset,
                            "more than %u pieces (TSL_MAX_VOCAB)", TSL_MAX_VOCAB);
  return tsl__vec_push(r->model.alloc, &r->model.pieces, piece)
             ? TSL_OK
             : tsl__fail(r->model.error, TSL_ERR_NO_MEMORY, "out of memory");
}

static tsl_status read_trainer(reader *r, message m) {
  while (m.at < m.end) {
    size_t begin = m.at;
    field f;
    if (!read_field(&m, &f)) return malformed(r, begin);
    if (f.wire != 0) continue;
    if (f.number == 3)
      r->type = f.value > 4 ? 0 : (uint32_t)f.value;
    else if (f.number == 24)
      r->suffix = f.value != 0;
    else if (f.number == 40)
      r->unknown = (int32_t)(uint32_t)f.value;
    else if (f.number == 41)
      r->bos = (int32_t)(uint32_t)f.value;
    else if (f.number == 42)
      r->eos = (int32_t)(uint32_t)f.value;
  }
  return TSL_OK;
}

static tsl_status read_normaliser(reader *r, message m) {
  while (m.at < m.end) {
    size_t begin = m.at;
    field f;
    if (!read_field(&m, &f)) return malformed(r, begin);
    if (f.number == 2 && f.wire == 2)
      r->table = f.body.end > f.body.at;
    else if (f.number == 3 && f.wire == 0)
      r->model.prefix = f.value != 0;
    else if (f.number == 4 && f.wire == 0)
      r->squeezed = f.value != 0;
    else if (f.number == 5 && f.wire == 0)
      r->model.escaped = f.value != 0;
  }
  return TSL_OK;
}

static tsl_status read_model(reader *r, message m) {
  tsl_status status = TSL_OK;
  while (m.at < m.end && !status) {
    size_t begin = m.at;
    field f;
    if (!read_field(&m, &f)) return malformed(r, begin);
    if (f.wire != 2) continue;
    if (f.number == 1)
      status = read_piece(r, f.body);
    else if (f.number == 2)
      status = read_trainer(r, f.body);
    else if (f.number == 3)
      status = read_normaliser(r, f.body);
  }
  return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static tsl_status known_id(const reader *r, const char *what, int32_t id, tsl_token *out) {
  *out = id < 0 ? TSL_NO_TOKEN : (tsl_token)id;
  if (id < 0 || *out < r->model.pieces.n) return TSL_OK;
  return tsl__fail(r->model.error, TSL_ERR_FORMAT,
                   "the id of the %s token is %d, and there are %zu tokens", what, (int)id,
                   r->model.pieces.n);
}

static tsl_status load(reader *r, message whole) {
  tsl_token eos = TSL_NO_TOKEN;
  tsl_status status = read_model(r, whole);
  if (!status && !r->model.pieces.n)
    return tsl__fail(r->model.error, TSL_ERR_FORMAT, "the file has no pieces");
  if (!status) status = known_id(r, "unknown", r->unknown, &r->model.unknown);
  if (!status) status = known_id(r, "beginning-of-sequence", r->bos, &r->model.bos);
  if (!status) status = known_id(r, "end-of-sequence", r->eos, &eos);
  if (status) return status;
  r->model.encodes = r->type == 2 && !r->suffix && !r->squeezed && !r->table;
  if (eos != TSL_NO_TOKEN && !tsl__vec_push(r->model.alloc, &r->b.eog, eos))
    return tsl__fail(r->model.error, TSL_ERR_NO_MEMORY, "out of memory");
  return tsl__pieces_build(&r->model, &r->b);
}

tsl_status tsl__load_sentencepiece(const uint8_t *data, size_t size,
                                   const tsl_vocab_options *options, const tsl_allocator *a,
                                   tsl_vocab **out, tsl_error *error) {
  reader r = {.model = {.alloc = a,
                        .error = error,
                        .escaped = true,
                        .prefix = true,
                        .user_normalised = true},
              .type = 1,
              .squeezed = true,
              .bos = 1,
              .eos = 2};
  if (size > UINT32_MAX / 2)
    return tsl__fail(error, TSL_ERR_LIMIT, "the file has more than 2^31 bytes");
  tsl__builder_init(&r.b, a);
  tsl_status status = load(&r, (message){data, 0, size});
  if (!status) status = tsl__builder_finish(&r.b, options, out, error);
  tsl__vec_free(a, &r.model.pieces);
  tsl__builder_free(&r.b);
  return status;
}

/* A piece that begins with its text, which a score, a type or nothing follows. No text file in use
 * is read so. It is a line feed, a length, another line feed, and then a control character where
 * the second length ends. */
bool tsl__looks_like_sentencepiece(const uint8_t *data, size_t size) {
  message whole = {data, 0, size}, text;
  field f;
  if (!size || data[0] != 0x0A || !read_field(&whole, &f) || f.body.end - f.body.at < 2 ||
      data[f.body.at] != 0x0A)
    return false;
  f.body.at++;
  if (!read_body(&f.body, &text)) return false;
  return f.body.at == f.body.end || data[f.body.at] == 0x15 || data[f.body.at] == 0x18;
}
