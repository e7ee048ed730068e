/* sampling.h - the options of commands that draw tokens: one for each field of a sampler.
 *
 * Tested by tests/cli/test_cli_sample.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_SAMPLING_H
#define TSL_CLI_SAMPLING_H

#include "cli/common.h"

#define SAMPLING_LIST 256u /* ids that one option lists at most */
#define SAMPLING_STAGES 13 /* values of tsl_stage; they are 1 to this */

typedef struct sampling_ids {
  tsl_token at[SAMPLING_LIST];
  uint32_t n;
} sampling_ids;

typedef struct sampling {
  tsl_sampler_options o; /* its lists lead nowhere until sampling_of */
  sampling_ids allowed, banned, breakers;
  tsl_token_bias bias[SAMPLING_LIST];
  tsl_stage stages[SAMPLING_STAGES];
  unsigned others; /* options given besides --seed and --temperature */
} sampling;

/* What a tsl_stage is called, as in --stages: "top-k". */
const char *sampling_stage_name(tsl_stage stage);
/* Temperature 1, all tokens. */
sampling sampling_defaults(void);
/* The options that write to it. */
cli_options sampling_table(sampling *s);
/* Its options with the lists in it; `vocab` (may be NULL) has the end tokens. */
tsl_sampler_options sampling_of(const sampling *s, const tsl_vocab *vocab);
/* Ids with commas between them: "3,17"; false, and why, if it is none. */
bool sampling_read_ids(const char *text, sampling_ids *out);

#endif
