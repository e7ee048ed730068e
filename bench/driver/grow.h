/* grow.h - how much memory a grammar holds after many tokens.
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

/* KiB of the grammar after setup->grow tokens; 0 if it does not compile or a call fails. */
double bench_grow(const bench_setup *setup, const bench_case *c);

#endif
