/* demo.c - turnstile demo: one generation, step by step.
 *
 * The logits of the n-gram model are computed for all tokens. So the table can say how much of the
 * model's probability was legal at each step. Where that probability is small, the grammar has
 * changed what would have been written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>

#include "cli/steps.h"

#define DEFAULT_SCHEMA "schemas/examples/tool-call.json"

static int demo(const source *s, generation *g) {
  generation_step step;
  generation_result result;
  uint64_t steps = 0;
  double mask_us = 0;
  printf("schema %s, vocabulary of %" PRIu32 " tokens\n\n", source_name(s),
         tsl_vocab_size(g->vocab));
  steps_head(stdout);
  while ((result = generation_next(g, &step)) == GENERATION_MORE) {
    steps_line(stdout, g, ++steps, &step);
    mask_us += step.mask_us;
  }
  if (result == GENERATION_BAD) return CLI_BAD;
  if (result == GENERATION_CUT) {
    cli_complain("the text was cut after %" PRIu64 " tokens; see --max-tokens", steps);
    return CLI_NO;
  }
  printf("\n%" PRIu64 " tokens; masks took %.2f µs on average\n\n", steps,
         steps ? mask_us / (double)steps : 0);
  fwrite(g->text.at ? g->text.at : "", 1, g->text.length, stdout);
  putchar('\n');
  return CLI_OK;
}

static int run(int argc, char **argv) {
  source s = {0};
  generation_settings how = generation_defaults();
  how.score_all = true;
  sampling draws = sampling_defaults();
  draws.o.seed = 7;
  draws.o.temperature = 0.8f;
  cli_options sets[] = {source_options(&s, SOURCE_WRITES_COMPACT), generation_options(&how),
                        sampling_table(&draws)};
  cli_arguments arguments;
  if (!cli_parse(&cli_demo, argc, argv, sets, 3, &arguments)) return CLI_BAD;
  int code = CLI_OK;
  if (!arguments.help) {
    if (s.kind == SOURCE_NONE) {
      s.kind = SOURCE_SCHEMA;
      s.from = DEFAULT_SCHEMA;
    }
    code = arguments.rest_count ? cli_complain("demo: unexpected argument %s", arguments.rest[0])
                                : generation_source(&s, &how);
    generation g;
    how.sampler = sampling_of(&draws, s.vocab);
    if (code == CLI_OK) code = generation_open(&g, &s, &how) ? CLI_OK : CLI_BAD;
    if (code == CLI_OK) {
      code = demo(&s, &g);
      generation_close(&g);
    }
  }
  source_close(&s);
  cli_arguments_free(&arguments);
  return code;
}

const cli_command cli_demo = {
    "demo",
    "[--schema F | --regex R | --grammar F | --artifact F] [options]",
    "one constrained generation, step by step",
    "Without a grammar it takes " DEFAULT_SCHEMA
    ", looked for in the current folder. Writes a line per token: how many tokens\n"
    "were allowed, the probability that the model had put on them (red below 10 %), the time that "
    "the\n"
    "mask took, and the token. The text comes last, on a line of its own.\n"
    "exit codes: 0 the text is complete; 1 it was cut; 2 the call, the grammar or a file is bad.\n",
    run,
    NULL};
