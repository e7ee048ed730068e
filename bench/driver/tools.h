/* tools.h - turnstile-bench tools: from a request with many tools to the first mask.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_BENCH_TOOLS_H
#define TSL_BENCH_TOOLS_H

int bench_tools(int argc, char **argv);

#endif
