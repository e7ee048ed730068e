/* costs.c - what a step costs on each kind of kernels: scripts/platform_costs.py runs it.
 *
 *   costs KERNELS ROUNDS      KERNELS: auto, portable, avx2, avx512 or neon
 *
 * Three pieces of work, ROUNDS times each, over a row of 131,072 logits:
 *
 *   apply   tsl_mask_apply with a mask of which every other word is empty
 *   draw    a draw of the sampler at temperature 1 under that mask
 *   masks   a grammar is compiled anew, and a text followed with a mask at each byte
 *
 * It prints a line for each: its name and nanoseconds of a round. It is linked with the library's
 * static objects, as the choice of kernels is no public call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "turnstile.h"

enum { WIDTH = 131072, WORDS = WIDTH / 32 };
extern bool tsl__logits_force(int level); /* runtime/kernels/logits.h */

static float row[WIDTH], scratch[WIDTH];
static uint32_t mask[WORDS];
static tsl_vocab *vocab;
static tsl_sampler *sampler;

static int work_apply(void) {
  memcpy(scratch, row, sizeof row);
  return tsl_mask_apply(mask, scratch, WIDTH, TSL_F32) != TSL_OK;
}

static int work_draw(void) {
  tsl_draw draw;
  return tsl_sampler_draw(sampler, row, WIDTH, mask, &draw) != TSL_OK;
}

static int work_masks(void) {
  static const char schema[] =
      "{\"type\": \"object\", \"required\": [\"name\", \"age\"], \"properties\": {\"name\":"
      " {\"type\": \"string\", \"pattern\": \"^[A-Z][a-z]+$\"}, \"age\": {\"type\": \"integer\"}}}";
  static const char text[] = "{\"name\": \"Ada\", \"age\": 36}";
  uint32_t words[8192 / 32];
  tsl_grammar *grammar = NULL;
  tsl_matcher *matcher = NULL;
  int bad = tsl_grammar_json_schema(vocab, schema, sizeof schema - 1, NULL, NULL, &grammar, NULL) ||
            tsl_matcher_new(grammar, NULL, &matcher);
  for (size_t i = 0; !bad && i < sizeof text - 1; i++)
    bad = tsl_matcher_mask(matcher, words) || tsl_matcher_accept_bytes(matcher, text + i, 1, NULL);
  tsl_matcher_free(matcher);
  tsl_grammar_release(grammar);
  return bad;
}

/* scripts/platform_costs.py counts instructions between calls of getppid, under qemu. */
static double now(void) {
  getppid();
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

int main(int argc, char **argv) {
  static const char *const levels[] = {"auto", "portable", "avx2", "avx512", "neon"};
  static int (*const works[])(void) = {work_apply, work_draw, work_masks};
  static const char *const names[] = {"apply", "draw", "masks"};
  int rounds = argc == 3 ? atoi(argv[2]) : 0, level = 0;
  while (rounds && level < 5 && strcmp(argv[1], levels[level])) level++;
  tsl_sampler_options options = {.temperature = 1};
  if (!rounds || level == 5 || !tsl__logits_force(level - 1)) {
    fprintf(stderr, "costs: costs KERNELS ROUNDS; this machine may lack those kernels\n");
    return 2;
  }
  if (tsl_vocab_embedded(NULL, &vocab, NULL) || tsl_sampler_new(&options, NULL, &sampler)) return 1;
  for (size_t i = 0; i < WIDTH; i++) row[i] = (float)(i * 2654435761u % 1000) / 100;
  for (size_t i = 0; i < WORDS; i++) mask[i] = i % 2 ? 0xFFFFFFFFu : 0;
  for (size_t w = 0; w < 3; w++) {
    for (int i = 0; i < 3; i++)
      if (works[w]()) return 1; /* so that what is made at first is there */
    double start = now();
    for (int i = 0; i < rounds; i++)
      if (works[w]()) return 1;
    double end = now();
    printf("%s %.0f\n", names[w], (end - start) / rounds);
  }
  return 0;
}
