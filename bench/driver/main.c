/* main.c - turnstile-bench: picks the benchmark.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "bench/driver/batch.h"
#include "bench/driver/maskbench.h"
#include "bench/driver/sampler.h"
#include "bench/driver/texts.h"
#include "bench/driver/tools.h"
#include "turnstile.h"

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "maskbench")) return bench_maskbench(argc - 1, argv + 1);
  if (argc > 1 && !strcmp(argv[1], "batch")) return bench_batch(argc - 1, argv + 1);
  if (argc > 1 && !strcmp(argv[1], "sampler")) return bench_sampler(argc - 1, argv + 1);
  if (argc > 1 && !strcmp(argv[1], "tools")) return bench_tools(argc - 1, argv + 1);
  if (argc > 1 && !strcmp(argv[1], "texts")) return bench_texts(argc - 1, argv + 1);
  if (argc > 1 && !strcmp(argv[1], "--version")) {
    printf("turnstile-bench %s\n", tsl_version());
    return 0;
  }
  fprintf(
      stderr,
      "usage: turnstile-bench maskbench --vocab F --data F.jsonl[.xz] [option]...\n       "
      "turnstile-bench maskbench --help\n"
      "       turnstile-bench batch --vocab F [--rounds N]\n"
      "       turnstile-bench sampler --vocab F --grammar F [--runs N] [--dump FOLDER]\n"
      "       turnstile-bench tools --vocab F --request F [--over F] [--preset NAME] [--runs N]\n"
      "       turnstile-bench texts --data F.jsonl [--texts N]\n");
  return 2;
}
