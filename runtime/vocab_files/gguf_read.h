/* gguf_read.h - the metadata of a GGUF file: keys and where their values lie.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_VOCAB_FILES_GGUF_READ_H
#define TSL_RUNTIME_VOCAB_FILES_GGUF_READ_H

#include "runtime/core/base.h"

typedef enum tsl__gguf_type {
  TSL__GGUF_U8 = 0,
  TSL__GGUF_I8 = 1,
  TSL__GGUF_U16 = 2,
  TSL__GGUF_I16 = 3,
  TSL__GGUF_U32 = 4,
  TSL__GGUF_I32 = 5,
  TSL__GGUF_F32 = 6,
  TSL__GGUF_BOOL = 7,
  TSL__GGUF_STRING = 8,
  TSL__GGUF_ARRAY = 9,
  TSL__GGUF_U64 = 10,
  TSL__GGUF_I64 = 11,
  TSL__GGUF_F64 = 12,
  TSL__GGUF_ABSENT = 13
} tsl__gguf_type;

typedef struct tsl__gguf_value {
  uint32_t type, item; /* tsl__gguf_type; item: of an array's elements */
  uint64_t count;      /* elements of an array, bytes of a string */
  size_t at;           /* where the number, the string's bytes or the array's first element lie */
} tsl__gguf_value;

/* The keys that a vocabulary is made of, without "tokenizer.ggml.". */
#define TSL__GGUF_KEYS(X)        \
  X(MODEL, "model")              \
  X(PRE, "pre")                  \
  X(TOKENS, "tokens")            \
  X(SCORES, "scores")            \
  X(TYPES, "token_type")         \
  X(MERGES, "merges")            \
  X(BOS, "bos_token_id")         \
  X(EOS, "eos_token_id")         \
  X(EOT, "eot_token_id")         \
  X(EOM, "eom_token_id")         \
  X(UNKNOWN, "unknown_token_id") \
  X(ADD_BOS, "add_bos_token")    \
  X(ADD_SPACE, "add_space_prefix")

enum {
#define TSL__GGUF_ENUM(name, text) TSL__GGUF_KEY_##name,
  TSL__GGUF_KEYS(TSL__GGUF_ENUM)
#undef TSL__GGUF_ENUM
      TSL__GGUF_KEY_COUNT
};

typedef struct tsl__gguf {
  const uint8_t *data;
  size_t size; /* bytes that are there */
  size_t end;  /* of the metadata; set by tsl__gguf_read */
  tsl_error *error;
  tsl__gguf_value value[TSL__GGUF_KEY_COUNT];
  bool cut_off; /* the metadata goes on after `size` */
} tsl__gguf;

/* Read the metadata: every value is checked to lie within `size`, those of known keys are noted.
 * `data`, `size` and `error` are set. FORMAT: no GGUF file, a type that does not exist, a key
 * twice, cut off. UNSUPPORTED: another version, big-endian, arrays of arrays. */
tsl_status tsl__gguf_read(tsl__gguf *g);
/* "tokenizer.ggml.tokens" */
const char *tsl__gguf_key(unsigned key);

/* The elements of an array of strings, in order. `*at` starts at value->at. The lengths were
 * checked. */
const char *tsl__gguf_string(const tsl__gguf *g, size_t *at, uint32_t *length);
uint32_t tsl__gguf_u32(const tsl__gguf *g, size_t at); /* 4 bytes, little-endian */
bool tsl__gguf_is(const tsl__gguf *g, const tsl__gguf_value *v, const char *text);

#endif
