/* fuzz_vocab_cache.c - whatever a cache file of a vocabulary says, it is refused or leads nowhere
 * outside of itself.
 *
 * Input       Which of SOURCES entries (1 byte), then changes of that entry, six bytes each. A
 *             change has what (1; bit 7: in the header), where (3, little end first) and with what
 *             (2).
 *               what % 5
 *               0   exclusive-or a byte
 *               1   set a 32-bit word to a small number
 *               2   add to a 32-bit word
 *               3   cut the file off
 *               4   copy 16 bytes to elsewhere in the file
 * Checksum    is made good afterwards, unless bit 6 of the first byte is set: the bounds of every
 *             number are tried, not XXH3.
 * Properties  tsl__vocab_cache_read gives a vocabulary or says IO or FORMAT; what it gives can be
 *             listed and encodes any text. Memory and bounds: the sanitizers'.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/require.h"
#include "tests/support/cache_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SOURCES 4u

static const char *const sources[SOURCES] = {
    "IQ== 0\nYQ== 1\nYg== 2\nYWI= 3\nIA== 4\nIGE= 5\n",
    "{\"added_tokens\":[{\"id\":0,\"content\":\"<s>\",\"special\":true},{\"id\":6,\"content\":\"<w>"
    "\",\"single_word\":true,\"lstrip\":true,\"normalized\":true}],\"normalizer\":{\"type\":"
    "\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"},"
    "{\"type\":\"Replace\",\"pattern\":{\"String\":\" "
    "\"},\"content\":\"\\u2581\"}]},\"pre_tokenizer\":null,\"model\":{\"type\":\"BPE\",\"unk_"
    "token\":\"<s>\",\"vocab\":{\"<s>\":0,\"a\":1,\"b\":2,\"\\u2581\":3,\"ab\":4,\"\\u2581ab\":5},"
    "\"merges\":[\"a b\",\"\\u2581 ab\"]}}",
    "{\"config\":{\"pattern\":\"[ab]+|.\",\"default_vocab_size\":5,\"default_num_special_tokens\":"
    "2},\"vocab\":[{\"rank\":0,\"token_bytes\":\"YQ==\"},{\"rank\":1,\"token_bytes\":\"Yg==\"},{"
    "\"rank\":2,\"token_bytes\":\"YWI=\"}],"
    "\"special_tokens\":[{\"rank\":0,\"token_str\":\"<s>\"},{\"rank\":1,\"token_str\":\"</s>\"}]}",
    "\x0a\x0e\x0a\x05<unk>\x15\x00\x00\x00\x00\x18\x02\x0a\x0c\x0a\x03<s>"
    "\x15\x00\x00\x00\x00\x18\x03\x0a\x0a\x0a\x01"
    "a\x15\x00\x00\x80\xbf\x18\x01\x0a\x0a\x0a\x01"
    "b\x15\x00\x00\x00\xc0\x18\x01\x0a\x0b\x0a\x02"
    "ab\x15\x00\x00\x40\xc0\x18\x01\x12\x02\x18\x02\x1a\x06\x18\x01\x20\x00\x28\x01"};
static const size_t source_length[SOURCES] = {0, 0, 0, 79}; /* 0: a text */
static const uint8_t key[16];

static char folder[64], path[192];
static uint8_t *entries[SOURCES];
static size_t lengths[SOURCES];

/* Nothing lies there between two inputs: a fuzzer ends without a last word. */
static void clean_up(void) {
  remove(path);
  rmdir(folder);
}

static uint8_t *read_whole(size_t *size) {
  FILE *f = fopen(path, "rb");
  uint8_t *bytes = malloc(1 << 16);
  require(f && bytes, "an entry cannot be read");
  *size = fread(bytes, 1, 1 << 16, f);
  fclose(f);
  return bytes;
}

static void make_entries(void) {
  static const tsl_vocab_options options = {.pattern = "\\s+|\\w+"};
  /* memory, if there is such a place: a file is written for each input */
  const char *place = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
  snprintf(folder, sizeof folder, "%s/fuzz-cache-XXXXXX", place);
  require(mkdtemp(folder) != NULL, "no folder");
  snprintf(path, sizeof path, "%s/%032d.tslvocab", folder, 0);
  for (unsigned i = 0; i < SOURCES; i++) {
    tsl_vocab *v;
    tsl_error error = {0};
    tsl_status status =
        tsl_vocab_load_memory(sources[i], source_length[i] ? source_length[i] : strlen(sources[i]),
                              NULL, &options, NULL, &v, &error);
    if (status) fprintf(stderr, "%u: %s\n", i, error.message);
    require(status == TSL_OK && tsl__vocab_cache_write(v, folder, key) == TSL_OK, "no entry");
    tsl_vocab_release(v);
    entries[i] = read_whole(&lengths[i]);
  }
  clean_up();
}

/* One change; returns the new size. */
static size_t change(uint8_t *file, size_t size, const uint8_t *c) {
  size_t begin = c[0] & 0x80 || size <= CACHE_FILE_HEADER + 32 ? 0 : CACHE_FILE_HEADER,
         end = begin                      ? size
               : size < CACHE_FILE_HEADER ? size
                                          : CACHE_FILE_HEADER;
  uint32_t value = c[4] | (uint32_t)c[5] << 8, word;
  if (end - begin < 32) return size;
  size_t at = begin + (c[1] | (size_t)c[2] << 8 | (size_t)c[3] << 16) % (end - begin - 16),
         aligned = at & ~(size_t)3;
  memcpy(&word, file + aligned, 4);
  switch ((c[0] & 0x7F) % 5) {
  case 0: file[at] ^= c[4]; break;
  case 1:
    word = value;
    memcpy(file + aligned, &word, 4);
    break;
  case 2:
    word += (uint32_t)(int32_t)(int16_t)value;
    memcpy(file + aligned, &word, 4);
    break;
  case 3: return at;
  default: memmove(file + aligned, file + value * 4u % (size - 16), 16); break;
  }
  return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!entries[0]) make_entries();
  if (size < 1) return 0;
  unsigned which = (data[0] & 0x3F) % SOURCES;
  size_t n = lengths[which];
  uint8_t *file = malloc(n);
  require(file != NULL, "no memory");
  memcpy(file, entries[which], n);
  for (size_t i = 1; i + 6 <= size && i < 1 + 6 * 16; i += 6) n = change(file, n, data + i);
  if (!(data[0] & 0x40)) cache_file_seal(file, n);
  mkdir(folder, 0700);
  FILE *f = fopen(path, "wb");
  require(f && fwrite(file, 1, n, f) == n && !fclose(f), "an entry cannot be written");
  free(file);
  tsl_vocab *v;
  tsl_status status = tsl__vocab_cache_read(folder, key, &tsl__malloc, &v);
  clean_up();
  require(status == TSL_OK || status == TSL_ERR_FORMAT || status == TSL_ERR_IO ||
              status == TSL_ERR_SYNTAX || status == TSL_ERR_UNSUPPORTED || status == TSL_ERR_LIMIT,
          "an undocumented status");
  require((status == TSL_OK) == (v != NULL), "a vocabulary without a status");
  require(status == TSL_OK || size > 1, "an entry as it was written is refused");
  require(!v || cache_file_use(v) > 0, "no byte, node or token");
  tsl_vocab_release(v);
  return 0;
}
