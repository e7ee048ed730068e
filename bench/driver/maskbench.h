/* maskbench.h - `turnstile-bench maskbench`: options, the loop over the schemas, the table and the
 * JSON line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_BENCH_MASKBENCH_H
#define TSL_BENCH_MASKBENCH_H

/* argv[0] is "maskbench". Returns the exit status. 0: the run came to its end, whatever the
 * outcomes. 1: an input error or a wrong mask. 2: a bad command line. */
int bench_maskbench(int argc, char **argv);

#endif
