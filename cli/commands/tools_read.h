/* tools_read.h - turnstile tools --parse: an answer that is read back, and printed as JSON.
 *
 * The answer is read as a whole, byte by byte (`stream`), or as the vocabulary's tokens (`tokens`).
 * A file may have several answers (`null`). An answer that does not match may be read once more,
 * leniently (`again`).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_TOOLS_READ_H
#define TSL_CLI_TOOLS_READ_H

#include "cli/common.h"

typedef struct tools_reading {
  tsl_vocab *vocab;
  tsl_grammar *grammar;
  const tsl_tools_options *options; /* the grammar was compiled with them */
  const cli_text *request;
  bool stream, null, tokens, again;
} tools_reading;

/* Read the answer, or the answers, of a file. An exit code. */
int tools_read(const tools_reading *how, const char *path);

#endif
