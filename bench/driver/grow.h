/* grow.h - what many tokens cost: memory, and time a token.
 *
 * Method    A grammar of its own. First come the valid texts, token by token, each with its mask.
 *           Then come drawn texts. Each step draws one of the allowed tokens, all with the same
 *           odds. A text ends when the end is drawn or 200 tokens are there. Both until the count
 *           is reached. Drawn tokens are nothing that a model would write: most go to states that
 *           no text comes to. So the figure is one of the worst.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_BENCH_GROW_H
#define TSL_BENCH_GROW_H

#include "bench/driver/run.h"

typedef struct bench_grown {
  double kb;           /* KiB of the grammar at the end; 0: it does not compile, or a call failed */
  bench_summary steps; /* µs of each token, mask and commit together */
} bench_grown;

/* After setup->grow tokens. */
bench_grown bench_grow(const bench_setup *setup, const bench_case *c);

#endif
