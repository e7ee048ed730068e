/* vocab_file.h - what holds for a tokenizer file of any format, and for any text that is encoded
 * with it.
 *
 * Each format has a target, a corpus and a dictionary of its own, so that none hides another:
 * fuzz_vocab_hf (tokenizer.json), fuzz_vocab_tekken, fuzz_vocab_tiktoken, fuzz_vocab_gguf,
 * fuzz_vocab_sentencepiece. An input that would be read as another format is passed over.
 *
 * Properties  Loading ends with a documented status and a filled error inside the file. What loads
 *             has a sound trie, and the same identity when loaded again. Encoding ends, measures
 *             what it writes, and gives ids of the vocabulary.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_FUZZ_VOCAB_FILE_H
#define TSL_FUZZ_VOCAB_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* End the process with a message if something does not hold. */
void vocab_file_try(const void *file, size_t file_length, const char *text, size_t text_length);
/* The same for an input: the file; then, if there is a NUL byte, after the last one the text. */
void vocab_file_try_input(const uint8_t *data, size_t size);
/* The file's bytes of such an input. */
size_t vocab_file_length(const uint8_t *data, size_t size);
/* Does it begin as a JSON object does? */
bool vocab_file_is_object(const uint8_t *data, size_t size);
/* tekken.json is an object as well, whose tokens have "token_bytes". */
bool vocab_file_is_tekken(const uint8_t *data, size_t size);

#endif
