/* tekken.h - Mistral's tekken.json, once it is read as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_VOCAB_FILES_TEKKEN_H
#define TSL_RUNTIME_VOCAB_FILES_TEKKEN_H

#include "runtime/vocab_files/hf_read.h"
#include "runtime/tokenizer/tokenizer.h"

bool tsl__is_tekken(const tsl__hf_file *file);
tsl_status tsl__load_tekken(const tsl__hf_file *file, const tsl_vocab_options *options,
                            const tsl_allocator *a, tsl_vocab **out, tsl_error *error);

#endif
