/* fuzz_vocab_gguf.c - any bytes as a GGUF file, or as what is in one, and any bytes as text to
 * encode with it.
 *
 * Input       If it begins with "GGUF": as vocab_file.h says. Else the number of keys (1 byte),
 *             which are put into a file with all lengths right, then the text. A key is
 *               which (1 byte: % 16, 13 and more: one that is not known), type (1 byte: % 13; 8 a
 *               string, 9 an array), and the value:
 *               number   8 bytes      string   length % 32 (1 byte), bytes      array   type of the
 *               elements (1 byte, % 13), how many (1 byte), the elements
 * Properties  vocab_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "fuzz/vocab_file.h"
#include "runtime/vocab_files/gguf_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FILE_MAX 65536u

typedef struct maker {
  const uint8_t *at, *end;
  uint8_t file[FILE_MAX];
  size_t n;
} maker;

static uint8_t next_byte(maker *m) { return m->at < m->end ? *m->at++ : 0; }

static void put(maker *m, const void *bytes, size_t n) {
  if (n > FILE_MAX - m->n) n = FILE_MAX - m->n;
  if (n) memcpy(m->file + m->n, bytes, n);
  m->n += n;
}

static void put_number(maker *m, uint64_t x, unsigned size) {
  for (unsigned i = 0; i < size; i++) {
    uint8_t byte = (uint8_t)(x >> 8 * i);
    put(m, &byte, 1);
  }
}

static void put_string(maker *m, const void *text, size_t n) {
  put_number(m, n, 8);
  put(m, text, n);
}

static void take_string(maker *m) {
  size_t n = next_byte(m) % 32u;
  if (n > (size_t)(m->end - m->at)) n = (size_t)(m->end - m->at);
  put_string(m, m->at, n);
  m->at += n;
}

static void take_number(maker *m, unsigned type) {
  static const uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  for (unsigned i = 0; i < sizes[type]; i++) put_number(m, next_byte(m), 1);
}

static void take_value(maker *m) {
  unsigned type = next_byte(m) % 13, elements, count;
  put_number(m, type, 4);
  if (type == 8) take_string(m);
  if (type != 9) {
    take_number(m, type);
    return;
  }
  elements = next_byte(m) % 13;
  count = next_byte(m);
  put_number(m, elements, 4);
  put_number(m, count, 8);
  for (unsigned i = 0; i < count; i++) elements == 8 ? take_string(m) : take_number(m, elements);
}

static void take_key(maker *m) {
  unsigned key = next_byte(m) % 16;
  const char *name = key < TSL__GGUF_KEY_COUNT ? tsl__gguf_key(key) : "general.alignment";
  put_string(m, name, strlen(name));
  take_value(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static maker m;
  if (size >= 4 && !memcmp(data, "GGUF", 4)) {
    vocab_file_try_input(data, size);
    return 0;
  }
  m.at = data;
  m.end = data + size;
  m.n = 0;
  unsigned keys = next_byte(&m) % 16;
  put(&m, "GGUF", 4);
  put_number(&m, 3, 4);
  put_number(&m, 0, 8);
  put_number(&m, keys, 8);
  for (unsigned i = 0; i < keys; i++) take_key(&m);
  vocab_file_try(m.file, m.n, (const char *)m.at, (size_t)(m.end - m.at));
  return 0;
}
