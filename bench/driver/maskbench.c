/* maskbench.c - see maskbench.h. run.h describes the method.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/driver/maskbench.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "bench/driver/report.h"
#include "bench/driver/resolve.h"
#include "bench/driver/run.h"

#define BUFFER_LINE 64u /* where hosts' rows begin: torch allocates so */

enum { MAX_IDS = 64 };

typedef struct arguments {
  const char *vocab, *vocab_cache, *data, *out;
  const char *ids[MAX_IDS]; /* run these only, if there are any */
  size_t id_count;
  size_t limit, skip; /* schemas; limit 0 = all */
  size_t flush;       /* of so many positions one is measured with empty caches; 0: none is */
  size_t verify;      /* a mask of every so many schemas is compared with the naive one; 0: none */
  bool flush_once;    /* before its mask alone, not before its commit too */
  bool samples;       /* write every sample */
  bool processor;     /* see --clock */
  unsigned timeout_s;
  size_t prefetch_us; /* after each token, for tsl_matcher_prefetch; 0: it is not called */
  size_t grow;        /* tokens after which memory is looked at once more; 0: it is not */
  size_t max_memory;  /* MiB of one grammar; 0: the library's default */
  tsl_schema_options options;
  bench_resolver resolver;
  bool help;
} arguments;

/* ---- command line ---------------------------------------------------------------------------- */

static const char usage[] =
    "usage: turnstile-bench maskbench --vocab F --data F.jsonl[.xz] [option]...\n"
    "  --vocab F          tokenizer.json or tiktoken file, or \"embedded\"\n"
    "  --vocab-cache DIR  keep a prepared copy of the vocabulary here\n"
    "  --data F           one JSON object a line: {\"id\", \"schema\", \"tests\": [{\"valid\", "
    "\"text\", \"tokens\"}]}; a grammar has \"lark\" or \"gbnf\" in place of \"schema\"\n"
    "  --order any|schema order of members (any)\n"
    "  --draft D          3, 4, 6, 7, 2019-09, 2020-12 or auto (auto)\n"
    "  --spelling any|plain  white space and spellings of the grammars (default: any)\n"
    "  --ahead yes|no     may the compile of a larger schema look at masks that most texts come by "
    "(yes)\n"
    "  --names once|any   may a name that the schema does not know come again in an object (once)\n"
    "  --formats assert|ignore   (assert)\n"
    "  --resolve URL=DIR  serve references below URL from DIR; may be repeated\n"
    "  --id ID            run this schema only; may be repeated\n"
    "  --skip N           leave out the first N schemas\n"
    "  --limit N          run at most N schemas\n"
    "  --timeout S        give a schema at most S seconds (60; 0 = no limit)\n"
    "  --max-memory M     give a grammar's tables at most M MiB (256)\n"
    "  --flush N          empty the caches before the calls at about one of N positions, in the "
    "first and the second pass, and report those apart\n"
    "  --flush-before call|step  with --flush: before the mask and again before the commit, or "
    "before the mask alone (call)\n"
    "  --prefetch US      after each token of the first pass let the library make masks ahead for "
    "US microseconds, and say how many masks were there when they were needed (0 = do not)\n"
    "  --verify N         compare a mask of every Nth schema with trying each token byte by byte "
    "(64; 0 = never)\n"
    "  --grow N           a grammar's memory after N tokens, and their time, too (0 = do not)\n"
    "  --clock wall|processor  time that passes, or that of the processor in this thread (wall)\n"
    "  --out F            write one JSON line per schema\n"
    "  --samples yes|no   with every sample of the first pass in it (no)\n"
    "The table goes to stderr; the last line on stdout is one JSON object.\n";

static bool parse_count(const char *text, size_t *out) {
  char *end;
  unsigned long n = strtoul(text, &end, 10);
  *out = n;
  return *text >= '0' && *text <= '9' && !*end && n <= UINT32_MAX;
}

static bool parse_order(arguments *a, const char *value) {
  a->options.order = strcmp(value, "schema") ? TSL_ORDER_ANY : TSL_ORDER_SCHEMA;
  return !strcmp(value, "schema") || !strcmp(value, "any");
}

static bool parse_draft(arguments *a, const char *value) {
  static const struct {
    const char *name;
    tsl_draft draft;
  } drafts[] = {{"auto", TSL_DRAFT_AUTO},
                {"3", TSL_DRAFT_3},
                {"4", TSL_DRAFT_4},
                {"6", TSL_DRAFT_6},
                {"7", TSL_DRAFT_7},
                {"2019-09", TSL_DRAFT_2019_09},
                {"2020-12", TSL_DRAFT_2020_12}};
  for (size_t i = 0; i < sizeof drafts / sizeof *drafts; i++)
    if (!strcmp(value, drafts[i].name)) {
      a->options.draft = drafts[i].draft;
      return true;
    }
  return false;
}

static bool parse_formats(arguments *a, const char *value) {
  a->options.ignore_formats = !strcmp(value, "ignore");
  return a->options.ignore_formats || !strcmp(value, "assert");
}

static bool parse_names(arguments *a, const char *value) {
  a->options.repeated_names = !strcmp(value, "any");
  return a->options.repeated_names || !strcmp(value, "once");
}

/* White space and spellings as masks are by default, or any, as the texts to be judged may have. */
static bool parse_spelling(arguments *a, const char *value) {
  bool plain = !strcmp(value, "plain");
  a->options.whitespace = plain ? TSL_WS_PLAIN : TSL_WS_ANY;
  a->options.spelling = plain ? TSL_SPELLING_PLAIN : TSL_SPELLING_ANY;
  return plain || !strcmp(value, "any");
}

static bool parse_ahead(arguments *a, const char *value) {
  a->options.lazy = !strcmp(value, "no");
  return a->options.lazy || !strcmp(value, "yes");
}

static bool add_id(arguments *a, const char *value) {
  if (a->id_count == MAX_IDS) return false;
  a->ids[a->id_count++] = value;
  return true;
}

static bool parse_timeout(arguments *a, const char *value) {
  size_t seconds;
  if (!parse_count(value, &seconds)) return false;
  a->timeout_s = (unsigned)seconds;
  return true;
}

static bool parse_samples(arguments *a, const char *value) {
  a->samples = !strcmp(value, "yes");
  return a->samples || !strcmp(value, "no");
}

static bool parse_clock(arguments *a, const char *value) {
  a->processor = !strcmp(value, "processor");
  return a->processor || !strcmp(value, "wall");
}

static bool parse_flush_before(arguments *a, const char *value) {
  a->flush_once = !strcmp(value, "step");
  return a->flush_once || !strcmp(value, "call");
}

/* One option and its value; false if either is not understood. */
static bool parse_option(arguments *a, const char *name, const char *value) {
  if (!strcmp(name, "--vocab")) return a->vocab = value, true;
  if (!strcmp(name, "--vocab-cache")) return a->vocab_cache = value, true;
  if (!strcmp(name, "--data")) return a->data = value, true;
  if (!strcmp(name, "--out")) return a->out = value, true;
  if (!strcmp(name, "--order")) return parse_order(a, value);
  if (!strcmp(name, "--draft")) return parse_draft(a, value);
  if (!strcmp(name, "--formats")) return parse_formats(a, value);
  if (!strcmp(name, "--names")) return parse_names(a, value);
  if (!strcmp(name, "--spelling")) return parse_spelling(a, value);
  if (!strcmp(name, "--ahead")) return parse_ahead(a, value);
  if (!strcmp(name, "--resolve")) return bench_resolver_add(&a->resolver, value);
  if (!strcmp(name, "--id")) return add_id(a, value);
  if (!strcmp(name, "--skip")) return parse_count(value, &a->skip);
  if (!strcmp(name, "--limit")) return parse_count(value, &a->limit);
  if (!strcmp(name, "--max-memory")) return parse_count(value, &a->max_memory);
  if (!strcmp(name, "--prefetch")) return parse_count(value, &a->prefetch_us);
  if (!strcmp(name, "--grow")) return parse_count(value, &a->grow);
  if (!strcmp(name, "--verify")) return parse_count(value, &a->verify);
  if (!strcmp(name, "--samples")) return parse_samples(a, value);
  if (!strcmp(name, "--clock")) return parse_clock(a, value);
  if (!strcmp(name, "--flush")) return parse_count(value, &a->flush);
  if (!strcmp(name, "--flush-before")) return parse_flush_before(a, value);
  if (!strcmp(name, "--timeout")) return parse_timeout(a, value);
  return false;
}

static bool parse_arguments(arguments *a, int argc, char **argv) {
  *a = (arguments){.timeout_s = 60, .verify = 64};
  a->options.order = TSL_ORDER_ANY;
  parse_spelling(a, "any");
  for (int i = 1; i < argc; i += 2) {
    if (!strcmp(argv[i], "--help")) return a->help = true;
    if (i + 1 >= argc || !parse_option(a, argv[i], argv[i + 1])) {
      fprintf(stderr, "maskbench: cannot use %s %s\n%s", argv[i],
              i + 1 < argc ? argv[i + 1] : "without a value", usage);
      return false;
    }
  }
  if (a->vocab && a->data) return true;
  fprintf(stderr, "maskbench: --vocab and --data are needed\n%s", usage);
  return false;
}

/* ---- the run --------------------------------------------------------------------------------- */

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool load_vocab(const arguments *a, tsl_vocab **vocab) {
  tsl_error error;
  tsl_vocab_options options = {.cache_dir = a->vocab_cache};
  tsl_status status = strcmp(a->vocab, "embedded")
                          ? tsl_vocab_load_file(a->vocab, &options, NULL, vocab, &error)
                          : tsl_vocab_embedded(NULL, vocab, &error);
  if (status == TSL_OK) return true;
  fprintf(stderr, "maskbench: %s: %s (%s)\n", a->vocab, error.message,
          tsl_status_name(error.status));
  return false;
}

static bool set_up(const arguments *a, bench_setup *setup, bench_about *about) {
  bench_clock_init(&setup->clock, a->processor);
  double start = seconds_now();
  if (!load_vocab(a, &setup->vocab)) return false;
  about->vocab_load_ms = (seconds_now() - start) * 1e3;
  about->vocab_size = tsl_vocab_size(setup->vocab);
  about->overhead_ns = setup->clock.overhead_ns;
  about->step_ns = setup->clock.step_ns;
  setup->options = a->options;
  if (a->resolver.root_count) {
    setup->options.resolver = bench_resolve;
    setup->options.resolver_ctx = (void *)&a->resolver;
  }
  setup->timeout_s = a->timeout_s;
  setup->prefetch_us = a->prefetch_us;
  setup->grow = a->grow;
  setup->limits.max_memory = (uint64_t)a->max_memory << 20;
  setup->flush_every = a->flush;
  setup->flush_once = a->flush_once;
  size_t size = (tsl_vocab_mask_words(setup->vocab) * sizeof *setup->mask + BUFFER_LINE - 1) /
                BUFFER_LINE * BUFFER_LINE;
  setup->mask = aligned_alloc(BUFFER_LINE, size);
  if (a->flush && (setup->row = aligned_alloc(BUFFER_LINE, size))) memset(setup->row, 0x55, size);
  if (setup->mask && (!a->flush || (setup->row && bench_evictor_init(&setup->evictor)))) {
    about->buffers = setup->evictor.size;
    return true;
  }
  fprintf(stderr, "maskbench: out of memory\n");
  return false;
}

static void tear_down(bench_setup *setup) {
  free(setup->mask);
  free(setup->row);
  bench_evictor_free(&setup->evictor);
  tsl_vocab_release(setup->vocab);
}

static bool is_wanted(const arguments *a, const char *id) {
  if (!a->id_count) return true;
  for (size_t i = 0; i < a->id_count; i++)
    if (!strcmp(a->ids[i], id)) return true;
  return false;
}

/* All cases of the file. `out` may be NULL. */
static bool run_all(const arguments *a, const bench_setup *setup, bench_reader *reader, FILE *out,
                    bench_totals *totals, bench_verified *verified) {
  bench_case c;
  bool ok = true;
  size_t seen = 0;
  while (ok && (!a->limit || totals->schemas < a->limit) && bench_reader_next(reader, &c)) {
    if (seen++ >= a->skip && is_wanted(a, c.id)) {
      bench_verdict verdict;
      ok = bench_run_case(setup, &c, totals, &verdict);
      if (out) bench_report_case(out, &c, &verdict, a->samples ? &totals->first : NULL);
      if (ok && a->verify && verdict.outcome != BENCH_REFUSED && !verdict.unsatisfiable &&
          totals->schemas % a->verify == 1 % a->verify)
        bench_verify_case(setup, &c, totals->schemas, verified);
    }
    bench_case_free(&c);
  }
  if (!ok) fprintf(stderr, "maskbench: out of memory\n");
  return ok;
}

/* Read, run, report; the exit status. */
static int measure(const arguments *a, const bench_setup *setup, bench_about *about, FILE *out) {
  bench_reader reader;
  bench_totals totals = {0};
  double start = seconds_now();
  bool ok = bench_reader_open(&reader, a->data) &&
            run_all(a, setup, &reader, out, &totals, &about->verified);
  if (!bench_reader_close(&reader)) {
    fprintf(stderr, "maskbench: %s\n", reader.why);
    ok = false;
  }
  about->wall_s = seconds_now() - start;
  about->vocab_memory_mb = (double)tsl_vocab_memory(setup->vocab) / (1 << 20);
  if (ok && !totals.schemas) fprintf(stderr, "maskbench: no schema was run\n");
  if (ok) bench_report_totals(stderr, stdout, &totals, about);
  ok = ok && totals.schemas && !about->verified.wrong;
  bench_totals_free(&totals);
  return ok ? 0 : 1;
}

/* A server's heap stays as large as it once was. So here, too: the next schema gets the memory that
 * a schema gave back, and the system does not clear that memory in between. */
static void keep_heap(void) {
#ifdef __GLIBC__
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}

int bench_maskbench(int argc, char **argv) {
  arguments a;
  bench_setup setup = {0};
  bench_about about = {0};
  if (!parse_arguments(&a, argc, argv)) return 2;
  if (a.help) return fputs(usage, stdout) < 0;
  keep_heap();
  FILE *out = a.out ? fopen(a.out, "w") : NULL;
  int status = 1;
  if (a.out && !out)
    perror(a.out);
  else if (set_up(&a, &setup, &about))
    status = measure(&a, &setup, &about, out);
  if (out && fclose(out)) {
    perror(a.out);
    status = 1;
  }
  tear_down(&setup);
  bench_resolver_free(&a.resolver);
  return status;
}
