/* hf_read.h - a tokenizer.json as it stands in the file: a tree of the small parts, flat lists of
 * the two big ones.
 *
 * `model.vocab` (128,000 members) and `model.merges` (280,000 elements) never become tree nodes;
 * all else does. Strings point into the text that was given wherever they hold no escapes, so the
 * text must outlive the result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_VOCAB_FILES_HF_READ_H
#define TSL_RUNTIME_VOCAB_FILES_HF_READ_H

#include "runtime/core/base.h"

#define TSL__HF_MAX_DEPTH 64u /* brackets; real files have 8 */

typedef enum tsl__doc_kind {
  TSL__DOC_NULL,
  TSL__DOC_FALSE,
  TSL__DOC_TRUE,
  TSL__DOC_NUMBER,
  TSL__DOC_STRING,
  TSL__DOC_ARRAY,
  TSL__DOC_OBJECT
} tsl__doc_kind;

typedef struct tsl__doc {
  struct tsl__doc *next, *first; /* next in the same container; first child */
  struct tsl__doc *last;         /* last child, while reading */
  const char *key, *text;        /* text: of a string (decoded) or a number (as written) */
  uint32_t key_length, length, offset;
  tsl__doc_kind kind;
} tsl__doc;

typedef struct tsl__hf_token {
  const char *text;
  uint32_t length, id, offset;
} tsl__hf_token;
typedef struct tsl__hf_merge {
  const char *left, *right;
  uint32_t left_length, right_length, offset;
} tsl__hf_merge;

typedef struct tsl__hf_file {
  const tsl_allocator *alloc;
  const char *text;
  size_t length;
  tsl__arena arena; /* nodes, and strings that had escapes */
  tsl__doc *root;
  TSL__VEC(tsl__hf_token) tokens; /* in the order of the file */
  TSL__VEC(tsl__hf_merge) merges;
} tsl__hf_file;

/* Read. On failure `file` is empty. The text may have up to 4 GiB. */
tsl_status tsl__hf_read(tsl__hf_file *file, const tsl_allocator *a, const char *text, size_t length,
                        tsl_error *error);
void tsl__hf_free(tsl__hf_file *file);

/* The member of that name, or NULL if there is none, if it is null, or if `node` is no object (or
 * NULL). */
tsl__doc *tsl__doc_get(const tsl__doc *node, const char *key);
bool tsl__doc_is(const tsl__doc *node, const char *text); /* a string equal to that */
bool tsl__doc_true(const tsl__doc *node);                 /* true; false for anything else */
/* A whole number below 2^32 - 1; false if it is anything else. */
bool tsl__doc_u32(const tsl__doc *node, uint32_t *out);

#endif
