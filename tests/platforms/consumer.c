/* consumer.c - a small program of a host: makes a grammar, follows a text, prints what it saw.
 *
 * The tests of tests/platforms build it against each form in which the library is handed out, and
 * compare what it prints. It uses nothing but the public header.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "turnstile.h"

static const char SCHEMA[] =
    "{\"type\": \"object\", \"required\": [\"name\", \"age\"], \"additionalProperties\": false,"
    " \"properties\": {\"name\": {\"type\": \"string\", \"pattern\": \"^\\\\p{Lu}[a-z]+$\"},"
    " \"age\": {\"type\": \"integer\", \"minimum\": 18}, \"when\": {\"format\": \"date\"}}}";
static const char TEXT[] = "{\"name\": \"Ada\", \"age\": 36}";

/* FNV-1a: the same on every machine. */
static uint64_t hashed(uint64_t hash, const uint32_t *words, size_t count) {
  for (size_t i = 0; i < count; i++) hash = (hash ^ words[i]) * UINT64_C(1099511628211);
  return hash;
}

static int fails(const char *what, tsl_status status, const tsl_error *error) {
  printf("%s: %s %s\n", what, tsl_status_name(status), error ? error->message : "");
  return 1;
}

/* Follow the text byte by byte; the hash of all masks on the way. */
static int follow(tsl_matcher *matcher, size_t words) {
  uint32_t *mask = malloc(words * sizeof *mask);
  uint64_t hash = UINT64_C(14695981039346656037);
  if (!mask) return 1;
  for (size_t i = 0; i <= strlen(TEXT); i++) {
    tsl_status status = tsl_matcher_mask(matcher, mask);
    if (status) return free(mask), fails("mask", status, NULL);
    hash = hashed(hash, mask, words);
    if (i == strlen(TEXT)) break;
    status = tsl_matcher_accept_bytes(matcher, TEXT + i, 1, NULL);
    if (status) return free(mask), fails("accept", status, NULL);
  }
  free(mask);
  printf("masks %08lx%08lx complete %d\n", (unsigned long)(hash >> 32),
         (unsigned long)(hash & 0xFFFFFFFFu), (int)tsl_matcher_is_complete(matcher));
  return 0;
}

int main(void) {
  tsl_vocab *vocab = NULL;
  tsl_grammar *grammar = NULL;
  tsl_matcher *matcher = NULL;
  tsl_error error;
  memset(&error, 0, sizeof error);
  printf("turnstile %s\n", tsl_version());
  tsl_status status = tsl_vocab_embedded(NULL, &vocab, &error);
  if (status) return fails("vocabulary", status, &error);
  status = tsl_grammar_json_schema(vocab, SCHEMA, strlen(SCHEMA), NULL, NULL, &grammar, &error);
  if (status) return fails("grammar", status, &error);
  status = tsl_matcher_new(grammar, NULL, &matcher);
  if (status) return fails("matcher", status, NULL);
  int bad = follow(matcher, tsl_vocab_mask_words(vocab));
  tsl_matcher_free(matcher);
  tsl_grammar_release(grammar);
  grammar = NULL;
  status = tsl_grammar_json_schema(vocab, "{\"type\": 1}", 11, NULL, NULL, &grammar, &error);
  printf("%s %s\n", tsl_status_name(status), error.message);
  tsl_vocab_release(vocab);
  return bad;
}
