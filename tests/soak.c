/* soak.c - one process for a long time: schemas compiled and dropped, matchers by the thousand, tokens by the million; memory must stay flat.
 *
 * Usage     soak SECONDS. Schemas differ each time (names, numbers, patterns are drawn anew). A pool of MATCHERS matchers over one shared grammar walks on
 *           meanwhile; each starts anew when its text is complete. Every tenth of the time prints what was done and the resident memory.
 * Fails     if the resident memory of the last line is more than a tenth and 16 MiB above that of the third, or a call fails.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <time.h>
#include <unistd.h>

#include "tests/check.h"
#include "turnstile.h"

#define MATCHERS 10000
#define LINES 10

static uint64_t seed = 1;
static unsigned below(unsigned n) { return (unsigned)(tsl_test_random(&seed) % n); }

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* KiB of the process in memory; 0 where the system does not say. */
static unsigned long resident(void) {
  unsigned long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f && fscanf(f, "%*s %lu", &pages) != 1) pages = 0;
  if (f) fclose(f);
  return pages * (unsigned long)sysconf(_SC_PAGESIZE) / 1024;
}

static int write_schema(char *out, size_t room) {
  return snprintf(out, room,
                  "{\"type\":\"object\",\"properties\":{\"p%u\":{\"type\":\"string\",\"pattern\":\"^[a-%c]{1,%u}$\"},\"q%u\":{\"type\":"
                  "\"integer\",\"minimum\":%u},"
                  "\"r\":{\"type\":\"array\",\"items\":{\"enum\":[%u,\"%u\",null]},\"maxItems\":%u}},\"required\":[\"r\"]}",
                  below(1000000), (char)('b' + below(25)), 1 + below(40), below(1000000), below(1000000), below(1000000), below(1000000),
                  1 + below(9));
}

/* One step; at the end of a text, or where its tables would leave the step undone, from the beginning. */
static bool step(tsl_matcher *m, uint32_t width) {
  const uint32_t *mask;
  if (tsl_matcher_mask_borrow(m, &mask, NULL) != TSL_OK) return false;
  tsl_token t = below(width), tries = 0;
  while (!tsl_mask_has(mask, t) && tries++ < width) t = t + 1 == width ? 0 : t + 1;
  if (!tsl_mask_has(mask, t)) return tsl_matcher_reset(m), true;
  return tsl_matcher_accept(m, t) == TSL_OK;
}

static bool compile_and_drop(tsl_vocab *v) {
  char text[600];
  tsl_grammar *g;
  tsl_matcher *m;
  int n = write_schema(text, sizeof text);
  if (tsl_grammar_json_schema(v, text, (size_t)n, NULL, NULL, &g, NULL) != TSL_OK) return false;
  bool fine = tsl_matcher_new(g, NULL, &m) == TSL_OK;
  for (int i = 0; fine && i < 8; i++) fine = step(m, tsl_vocab_size(v));
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  return fine;
}

int main(int argc, char **argv) {
  static tsl_matcher *matcher[MATCHERS];
  static const char shared[] =
      "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"boolean\"},\"b\":{\"enum\":[\"x\",\"y\"]},\"c\":{\"type\":\"integer\","
      "\"minimum\":0,\"maximum\":999}},"
      "\"required\":[\"a\",\"b\",\"c\"],\"additionalProperties\":false}";
  const tsl_schema_options compact = {.whitespace = TSL_WS_COMPACT};
  double length = argc > 1 ? atof(argv[1]) : 10, start = seconds();
  unsigned long schemas = 0, tokens = 0, first = 0, last = 0;
  tsl_vocab *v = NULL;
  tsl_grammar *g = NULL;
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  CHECK(tsl_grammar_json_schema(v, shared, sizeof shared - 1, &compact, NULL, &g, NULL) == TSL_OK);
  for (unsigned i = 0; i < MATCHERS; i++) CHECK(tsl_matcher_new(g, NULL, &matcher[i]) == TSL_OK);
  for (int line = 1; line <= LINES && !tsl_test_failed; line++) {
    while (seconds() - start < length * line / LINES && !tsl_test_failed) {
      CHECK(compile_and_drop(v));
      schemas++;
      for (int k = 0; k < 200 && !tsl_test_failed; k++, tokens++) CHECK(step(matcher[below(MATCHERS)], tsl_vocab_size(v)));
    }
    last = resident();
    if (line == 3) first = last;
    printf("  %8.1f s %10lu schemas %12lu tokens %8lu KiB\n", seconds() - start, schemas, tokens, last);
    fflush(stdout);
  }
  CHECKF(last <= first + first / 10 + 16384, "memory grew from %lu to %lu KiB", first, last);
  for (unsigned i = 0; i < MATCHERS; i++) tsl_matcher_free(matcher[i]);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
  return tsl_test_end();
}
