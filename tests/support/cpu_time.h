/* cpu_time.h - the processor's time of this program, for tests that bound how long work takes.
 *
 * C's clock() is that time, but on Windows it is the time that went by. There a bound would fail on
 * a machine that is busy with something else. Include this header before clock() is used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TEST_CPU_TIME_H
#define TSL_TEST_CPU_TIME_H

#include <time.h>

#ifdef _WIN32
/* As windows.h has them, without its hundreds of macros. */
typedef struct tsl_test_filetime {
  unsigned low, high; /* of a count of 100 ns */
} tsl_test_filetime;
__declspec(dllimport) void *__stdcall GetCurrentProcess(void);
__declspec(dllimport) int __stdcall GetProcessTimes(void *process, tsl_test_filetime *begun,
                                                    tsl_test_filetime *ended,
                                                    tsl_test_filetime *kernel,
                                                    tsl_test_filetime *user);

/* In CLOCKS_PER_SEC. */
static inline clock_t tsl_test_clock(void) {
  tsl_test_filetime begun, ended, kernel, user;
  if (!GetProcessTimes(GetCurrentProcess(), &begun, &ended, &kernel, &user)) return (clock_t)-1;
  unsigned long long ticks = ((unsigned long long)kernel.high << 32) + kernel.low;
  ticks += ((unsigned long long)user.high << 32) + user.low;
  return (clock_t)(ticks / (10000000 / CLOCKS_PER_SEC));
}
#define clock tsl_test_clock
#endif

#endif
