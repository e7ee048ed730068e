/* pieces.h - vocabularies of scored pieces: SentencePiece's model of type BPE, from its own file or
 * from GGUF.
 *
 * Idea      Two file formats hold the same model. Each reader fills a tsl__piece_model with what
 *           its file says. From that tsl__pieces_build makes what a builder holds: what each token
 *           spells, which are special, and the tables of merges by score.
 * Example   Piece 300 is "▁the", of type NORMAL and score -12: with `escaped` token 300 spells
 *           " the". Piece 13 is "<0x0A>", of type BYTE: token 13 spells a line feed.
 * Tested by tests/tokenizer/test_pieces.c, tests/vocab_files/test_gguf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_TOKENIZER_PIECES_H
#define TSL_RUNTIME_TOKENIZER_PIECES_H

#include "runtime/tokenizer/tokenizer.h"

/* What a piece is for. SentencePiece and GGUF have the same numbers. */
typedef enum tsl__piece_type {
  TSL__PIECE_NORMAL = 1,
  TSL__PIECE_UNKNOWN = 2,
  TSL__PIECE_CONTROL = 3,
  TSL__PIECE_USER = 4,   /* found in text before anything else */
  TSL__PIECE_UNUSED = 5, /* spells nothing here: never allowed, never encoded to */
  TSL__PIECE_BYTE = 6    /* "<0xHH>" */
} tsl__piece_type;

typedef struct tsl__piece {
  const char *text;        /* as the file has it, with "▁" for a space */
  uint32_t length, offset; /* bytes; place in the file */
  float score;
  uint32_t type; /* tsl__piece_type */
} tsl__piece;

typedef struct tsl__piece_model {
  const tsl_allocator *alloc;
  tsl_error *error;
  TSL__VEC(tsl__piece) pieces; /* by id */
  /* merges by score; else the vocabulary has bytes only (TSL__UNITS_NONE) */
  bool encodes;
  bool escaped; /* "▁" stands for a space */
  bool prefix;  /* a space is put before each stretch of text */
  /* pieces of type USER are found in normalised text, else in the text as it is. They are found
   * whether other added tokens are looked for or not */
  bool user_normalised;
  tsl_token bos, unknown; /* or TSL_NO_TOKEN */
} tsl__piece_model;

/* "<0x0A>" is 10; -1 if the text is not of that form. */
int tsl__hex_byte(const char *text, uint32_t length);
/* FORMAT (or another status) at a place in a file that has no lines. */
tsl_status tsl__fail_binary(tsl_error *error, tsl_status status, size_t offset, const char *format,
                            ...) TSL__PRINTF(4, 5);

/* Fill a builder; tokens that end a generation may be in it already. The texts of the pieces are
 * copied. Fails with *m->error set: FORMAT, LIMIT or NO_MEMORY; the builder is still the
 * caller's. */
tsl_status tsl__pieces_build(const tsl__piece_model *m, tsl__vocab_builder *b);

#endif
