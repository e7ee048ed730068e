/* batch.h - `turnstile-bench batch`: what a batch of masks costs, by matchers and workers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_BENCH_BATCH_H
#define TSL_BENCH_BATCH_H

/* argv[0] is "batch". One JSON line per number of matchers and workers on stdout. Returns the exit
 * status. */
int bench_batch(int argc, char **argv);

#endif
