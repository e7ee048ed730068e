/* sampler.h - turnstile-bench sampler: microseconds of a draw.
 *
 * One row of logits is as wide as the vocabulary: a bell curve with thirty peaks. The mask is one
 * inside a string of the JSON grammar. The chains are those that the peers have too. Medians of
 * many draws on one thread. With --dump the inputs are written, so that a peer can be timed on the
 * same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_BENCH_SAMPLER_H
#define TSL_BENCH_SAMPLER_H

/* sampler --vocab F --grammar F [--runs N] [--dump FOLDER]: one JSON object on stdout. */
int bench_sampler(int argc, char **argv);

#endif
