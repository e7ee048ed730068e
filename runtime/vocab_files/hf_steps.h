/* hf_steps.h - a tokenizer.json's "normalizer" and "pre_tokenizer" as steps.
 *
 * Example   {"type": "Digits"} becomes a SPLIT_REGEX by \p{N}; a Sequence becomes its parts.
 * Tested by tests/tokenizer/test_encode.c, tests/vocab_files/test_vocab_files.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_VOCAB_FILES_HF_STEPS_H
#define TSL_RUNTIME_VOCAB_FILES_HF_STEPS_H

#include "runtime/vocab_files/hf_read.h"
#include "runtime/tokenizer/tokenizer.h"

/* Append the steps of file->root to the builder. *byte_level is set if the last one is HF's
 * ByteLevel, whose alphabet the tokens are then written in. */
tsl_status tsl__hf_steps(const tsl__hf_file *file, tsl__vocab_builder *b, bool *byte_level,
                         tsl_error *error);
/* Fill *error for a place in the file. */
tsl_status tsl__hf_fail(const tsl__hf_file *file, const tsl__doc *node, tsl_status status,
                        tsl_error *error, const char *what);
/* {"String": s} or {"Regex": s} under `key`; NULL if it is neither. */
const tsl__doc *tsl__hf_pattern(const tsl__doc *node, const char *key, bool *regex);

#endif
