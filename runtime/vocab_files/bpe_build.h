/* bpe_build.h - from tokens and merges as a file writes them to a vocabulary's bytes and tables.
 * Shared by tokenizer.json and GGUF.
 *
 * A reader fills `file.tokens`, `file.merges` and what is said below, then calls in this order:
 *   tsl__build_names    names by id, ids by name
 *   tsl__build_name     once for each token that is not of the model (added tokens)
 *   tsl__build_spell    what each token spells
 *   tsl__build_tables   merges and lookup tables
 * and hands `b` to tsl__builder_finish.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_VOCAB_FILES_BPE_BUILD_H
#define TSL_RUNTIME_VOCAB_FILES_BPE_BUILD_H

#include "runtime/vocab_files/hf_read.h"
#include "runtime/tokenizer/tokenizer.h"

/* A token as the file writes it, by id. text is NULL in a hole. */
typedef struct tsl__name {
  const char *text;
  uint32_t length, offset;
  bool in_model, special;
  bool added; /* it is in the list of added tokens */
  /* spells what it is written as, and text can't be merged to it but by name: GGUF's control and
   * user-defined tokens */
  bool verbatim;
} tsl__name;

/* Of a name: up to eight bytes, with the length, are the key; of a longer one it is the hash. id =
 * TSL_NO_TOKEN: free. */
typedef struct tsl__name_slot {
  uint64_t key;
  uint32_t length;
  tsl_token id;
} tsl__name_slot;

typedef struct tsl__bpe_build {
  const tsl_allocator *a;
  tsl__hf_file file; /* `text` and `length` are what offsets refer to */
  tsl__vocab_builder b;
  tsl_error *error;
  bool byte_level;
  /* what is no token is encoded as its bytes' tokens "<0xHH>", which spell these bytes */
  bool byte_fallback;
  bool byte_tokens; /* they spell them, though text is not encoded so */
  bool binary;      /* the file has no lines: errors have an offset alone */
  /* in spelling this text … is that one; NULL: nothing is replaced */
  const char *space, *blank;
  uint32_t space_length, blank_length; /* bytes */
  tsl__name *names;
  /* by id: the token of a byte-level model is written in the alphabet, so that text can reach it */
  uint8_t *plain;
  uint32_t size;
  tsl__name_slot *slots; /* by text; of the model and the added tokens */
  uint32_t slot_count;
  /* where a name's slot is, so that no file can be made of names which all have the same */
  uint8_t secret[TSL__SECRET];
  uint16_t alphabet[324]; /* byte of a character, or 256 */
} tsl__bpe_build;

/* `largest` and `added`: the largest id and the number of the tokens that tsl__build_name will be
 * called for. */
tsl_status tsl__build_names(tsl__bpe_build *h, uint32_t largest, size_t added);
tsl_status tsl__build_name(tsl__bpe_build *h, tsl_token id, tsl__name name);
/* The model's token of that text, or TSL_NO_TOKEN. */
tsl_token tsl__build_find(const tsl__bpe_build *h, const char *text, uint32_t length);
tsl_status tsl__build_spell(tsl__bpe_build *h);
tsl_status tsl__build_tables(tsl__bpe_build *h);
void tsl__build_free(tsl__bpe_build *h); /* not the file */

#endif
