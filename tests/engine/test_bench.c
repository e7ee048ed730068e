/* test_bench.c - the parts of the benchmark driver that numbers rest on: percentiles and the
 * resolver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <unistd.h>

#include "bench/driver/resolve.h"
#include "bench/driver/stats.h"
#include "tests/support/check.h"

static bench_summary of_range(size_t n) {
  bench_samples samples = {0};
  /* 7919 is prime: a permutation */
  for (size_t i = 0; i < n; i++) CHECK(bench_samples_add(&samples, (double)((i * 7919) % n + 1)));
  bench_summary s = bench_summarize(&samples);
  bench_samples_free(&samples);
  return s;
}

static void percentiles(void) {
  bench_summary s = of_range(10000);
  CHECK(s.n == 10000);
  CHECK(s.avg == 5000.5);
  CHECK(s.p50 == 5000 && s.p90 == 9000 && s.p99 == 9900 && s.p99_9 == 9990 && s.max == 10000);
  s = of_range(3);
  CHECK(s.p50 == 2 && s.p90 == 3 && s.p99_9 == 3 && s.max == 3);
  s = of_range(1);
  CHECK(s.avg == 1 && s.p50 == 1 && s.p99_9 == 1 && s.max == 1);
  s = of_range(0);
  CHECK(s.n == 0 && s.avg == 0 && s.p50 == 0 && s.max == 0);
}

static void resolver(void) {
  char folder[512], path[600], argument[700];
  bench_resolver r = {.root_count = 0};
  const char *text = NULL, *again = NULL;
  size_t length = 0;
  snprintf(folder, sizeof folder, "%s/test-bench-XXXXXX",
           getenv("TSL_BUILD") ? getenv("TSL_BUILD") : ".");
  CHECK(mkdtemp(folder) != NULL);
  snprintf(path, sizeof path, "%s/a.json", folder);
  FILE *file = fopen(path, "w");
  CHECK(file && fputs("{\"type\":1}", file) >= 0 && !fclose(file));
  snprintf(argument, sizeof argument, "http://x/=%s", folder);

  CHECK(!bench_resolver_add(&r, "no equals sign"));
  CHECK(!bench_resolver_add(&r, "=folder"));
  CHECK(!bench_resolver_add(&r, "http://x/="));
  CHECK(bench_resolver_add(&r, argument));
  CHECK(bench_resolve(&r, "http://x/a.json", &text, &length) && length == 10 &&
        !memcmp(text, "{\"type\":1}", 10));
  CHECK(bench_resolve(&r, "http://x/a.json#/type", &again, &length) && again == text);
  CHECK(!bench_resolve(&r, "http://x/b.json", &text, &length));
  CHECK(!bench_resolve(&r, "http://y/a.json", &text, &length));
  CHECK(!bench_resolve(&r, "http://x/../a.json", &text, &length));
  CHECK(!bench_resolve(&r, "http://x/..", &text, &length));
  bench_resolver_free(&r);
  CHECK(!unlink(path) && !rmdir(folder));
}

int main(void) {
  RUN(percentiles, "nearest-rank percentiles, average, maximum");
  RUN(resolver, "documents from folders, never from above them");
  return tsl_test_end();
}
