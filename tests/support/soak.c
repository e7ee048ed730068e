/* soak.c - one process for a long time: schemas compiled and dropped, matchers by the thousand,
 * tokens by the million; memory must stay flat.
 *
 * Usage     soak SECONDS                 as long as that
 *           soak SCHEMAS TOKENS          until so many schemas and so many tokens are done
 *           Schemas differ each time (names, numbers, patterns are drawn anew). A pool of MATCHERS
 *           matchers over one shared grammar walks on meanwhile; where a text is complete another
 *           matcher begins. LINES lines print what was done, what the library holds, and the
 *           resident memory. Every thousandth schema, and one of the shared matchers, is walked
 *           beside the oracle: all masks must be equal.
 * Fails     if a mask differs or a call fails, or if memory grows from the third part to the last
 *           line. The bound for what the library holds is a tenth. The bound for the resident
 *           memory is a tenth and 16 MiB.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <time.h>
#include <unistd.h>

#include "runtime/matcher/grammar.h"
#include "tests/support/check.h"
#include "tests/judges/oracle.h"
#include "turnstile.h"

#define MATCHERS 10000
#define LINES 30
#define COMPARE_EVERY 1000u

static uint64_t seed = 1;
static unsigned long masks; /* compared with the oracle's */
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

/* Bytes that the library holds, by its hooks. */
static size_t held;
static void *count(void *ctx, void *block, size_t old_size, size_t new_size) {
  (void)ctx;
  if (new_size == 0) {
    free(block);
    held -= old_size;
    return NULL;
  }
  void *p = realloc(block, new_size);
  if (p) held += new_size - old_size;
  return p;
}

static int write_schema(char *out, size_t room) {
  return snprintf(out, room,
                  "{\"type\":\"object\",\"properties\":{\"p%u\":{\"type\":\"string\",\"pattern\":"
                  "\"^[a-%c]{1,%u}$\"},\"q%u\":{\"type\":"
                  "\"integer\",\"minimum\":%u},"
                  "\"r\":{\"type\":\"array\",\"items\":{\"enum\":[%u,\"%u\",null]},\"maxItems\":%u}"
                  "},\"required\":[\"r\"]}",
                  below(1000000), (char)('b' + below(25)), 1 + below(40), below(1000000),
                  below(1000000), below(1000000), below(1000000), 1 + below(9));
}

/* One step; at the end of a text another matcher begins, as another sequence would. */
static bool step(tsl_matcher **m, uint32_t width) {
  const uint32_t *mask;
  if (tsl_matcher_mask_borrow(*m, &mask, NULL) != TSL_OK) return false;
  tsl_token t = below(width), tries = 0;
  while (!tsl_mask_has(mask, t) && tries++ < width) t = t + 1 == width ? 0 : t + 1;
  if (tsl_mask_has(mask, t)) return tsl_matcher_accept(*m, t) == TSL_OK;
  tsl_matcher *next;
  if (tsl_matcher_new(tsl_matcher_grammar(*m), NULL, &next) != TSL_OK) return false;
  tsl_matcher_free(*m);
  *m = next;
  return true;
}

/* A new text of the grammar beside the oracle; false if a mask differs. */
static bool compare(tsl_vocab *v, tsl_grammar *g) {
  static uint32_t naive[1 << 13];
  const uint32_t *mask;
  tsl_matcher *m;
  oracle o;
  bool same = tsl_vocab_mask_words(v) <= sizeof naive / sizeof *naive &&
              tsl_matcher_new(g, NULL, &m) == TSL_OK;
  if (!same) return false;
  tsl__space_begin(g->space);
  oracle_begin(&o, g->space, g->start);
  for (int i = 0; same && i < 12 && !tsl_matcher_is_terminated(m); i++, masks++) {
    same = tsl_matcher_mask_borrow(m, &mask, NULL) == TSL_OK;
    tsl__space_begin(g->space);
    oracle_mask(&o, naive);
    same = same && !o.overflow && !memcmp(mask, naive, tsl_vocab_mask_words(v) * sizeof *naive);
    tsl_token t = below(tsl_vocab_size(v));
    while (same && !tsl_mask_has(mask, t)) t = t + 1 == tsl_vocab_size(v) ? 0 : t + 1;
    same = same && tsl_matcher_accept(m, t) == TSL_OK &&
           (tsl_vocab_is_eog(v, t) || oracle_token(&o, t));
  }
  oracle_free(&o);
  tsl_matcher_free(m);
  return same;
}

static bool compile_and_drop(tsl_vocab *v, bool compared) {
  char text[600];
  tsl_grammar *g;
  tsl_matcher *m;
  int n = write_schema(text, sizeof text);
  if (tsl_grammar_json_schema(v, text, (size_t)n, NULL, NULL, &g, NULL) != TSL_OK) return false;
  bool fine = tsl_matcher_new(g, NULL, &m) == TSL_OK;
  for (int i = 0; fine && i < 8; i++) fine = step(&m, tsl_vocab_size(v));
  if (fine && compared) fine = compare(v, g);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  return fine;
}

int main(int argc, char **argv) {
  static tsl_matcher *matcher[MATCHERS];
  static const char shared[] = "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"boolean\"},"
                               "\"b\":{\"enum\":[\"x\",\"y\"]},\"c\":{\"type\":\"string\","
                               "\"pattern\":\"^[0-9]{1,3}$\"}},"
                               "\"required\":[\"a\",\"b\",\"c\"],\"additionalProperties\":false}";
  const tsl_schema_options compact = {.whitespace = TSL_WS_COMPACT};
  double length = argc == 2 ? atof(argv[1]) : 10, start = seconds();
  unsigned long schemas = 0, tokens = 0, first = 0, last = 0;
  unsigned long wanted = argc > 2 ? strtoul(argv[1], NULL, 10) : 0,
                wanted_tokens = argc > 2 ? strtoul(argv[2], NULL, 10) : 0,
                each = wanted ? wanted_tokens / wanted : 200;
  const tsl_allocator hooks = {NULL, count};
  size_t first_held = 0;
  tsl_vocab *v = NULL;
  tsl_grammar *g = NULL;
  CHECK(tsl_vocab_embedded(&hooks, &v, NULL) == TSL_OK);
  CHECK(tsl_grammar_json_schema(v, shared, sizeof shared - 1, &compact, NULL, &g, NULL) == TSL_OK);
  for (unsigned i = 0; i < MATCHERS; i++) CHECK(tsl_matcher_new(g, NULL, &matcher[i]) == TSL_OK);
  for (unsigned long line = 1; line <= LINES && !tsl_test_failed; line++) {
    while (!tsl_test_failed && (wanted ? schemas < wanted * line / LINES
                                       : seconds() - start < length * (double)line / LINES)) {
      bool compared = schemas % COMPARE_EVERY == 0;
      CHECK(compile_and_drop(v, compared));
      if (compared) CHECK(compare(v, g));
      schemas++;
      for (unsigned long k = 0; k < each && !tsl_test_failed; k++, tokens++)
        CHECK(step(&matcher[below(MATCHERS)], tsl_vocab_size(v)));
    }
    last = resident();
    if (line == LINES / 3) first = last, first_held = held;
    printf("  %8.1f s %10lu schemas %12lu tokens %8lu masks compared %8zu KiB held %8lu KiB "
           "resident\n",
           seconds() - start, schemas, tokens, masks, held / 1024, last);
    fflush(stdout);
  }
  CHECKF(held <= first_held + first_held / 10, "what the library holds grew from %zu to %zu bytes",
         first_held, held);
  CHECKF(last <= first + first / 10 + 16384, "memory grew from %lu to %lu KiB", first, last);
  for (unsigned i = 0; i < MATCHERS; i++) tsl_matcher_free(matcher[i]);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
  return tsl_test_end();
}
