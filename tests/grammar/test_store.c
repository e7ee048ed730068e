/* test_store.c - a folder of artifacts that processes share: one compile, equal masks, and nobody
 * waits for the dead.
 *
 * Processes are forked from this one. Each takes the same grammar from the same folder. It prints
 * through a pipe what became of the grammar, and a hash of its masks along a fixed text. Writers
 * are killed at every byte of a write (the size of a file is limited in the child), and while they
 * hold the lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/artifact/artifact.h"
#include "tests/support/check.h"

#define WORKERS_MAX 8

static const char schema[] =
    "{\"type\": \"object\", \"properties\": {\"name\": {\"type\": \"string\"}, \"kind\": "
    "{\"enum\": [\"leaf\", \"node\"]}, \"flags\": {\"type\": \"array\", \"items\": "
    "{\"type\": \"boolean\"}}}, \"required\": [\"name\"], \"additionalProperties\": false}";
static const char text[] =
    "{\"name\": \"it's\\u00e9\", \"kind\":\"leaf\",\n\"flags\": [true, false]}";
static char folder[64];
static tsl_vocab *vocab;

typedef struct report {
  uint64_t masks; /* hash of all of them */
  int status;
  tsl_store_result result;
} report;

static const tsl_limits limits = {.deadline_us = 60000000};
static const tsl_source source = {
    .kind = TSL_SOURCE_JSON_SCHEMA, .text = schema, .length = sizeof schema - 1, .limits = &limits};

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t hash_masks(tsl_grammar *g) {
  tsl_matcher *m;
  uint32_t mask[256];
  uint64_t hash = 0;
  if (tsl_matcher_new(g, NULL, &m) != TSL_OK) return 0;
  for (const char *c = text; *c; c++) {
    if (tsl_matcher_mask(m, mask) != TSL_OK || tsl_matcher_accept_bytes(m, c, 1, NULL) != TSL_OK)
      return 0;
    hash = tsl__mix(hash ^ tsl__hash(mask, tsl_vocab_mask_words(vocab) * 4));
  }
  tsl_matcher_free(m);
  return hash;
}

static report work(void) {
  report r = {0};
  tsl_grammar *g = NULL;
  r.status = (int)tsl_store_get(vocab, folder, &source, NULL, &g, &r.result, NULL);
  if (g) r.masks = hash_masks(g);
  tsl_grammar_release(g);
  return r;
}

/* ---- processes ------------------------------------------------------------------------------- */

static void be_worker(int gate, int out) {
  char c;
  while (read(gate, &c, 1) > 0) continue; /* all start when the gate is closed on the other side */
  report r = work();
  _exit(write(out, &r, sizeof r) == (ssize_t)sizeof r ? 0 : 1);
}

/* Run n workers at once; returns how many reports came. */
static unsigned run_workers(unsigned n, report reports[WORKERS_MAX]) {
  int gate[2], out[2];
  unsigned got = 0;
  CHECK(!pipe(gate) && !pipe(out));
  fflush(stdout);
  for (unsigned i = 0; i < n; i++) {
    pid_t pid = fork();
    if (pid == 0) {
      close(gate[1]);
      close(out[0]);
      be_worker(gate[0], out[1]);
    }
  }
  close(gate[0]);
  close(gate[1]);
  close(out[1]);
  while (got < n && read(out[0], &reports[got], sizeof *reports) == (ssize_t)sizeof *reports) got++;
  close(out[0]);
  while (wait(NULL) > 0) continue;
  return got;
}

static void empty_folder(void) {
  DIR *d = opendir(folder);
  struct dirent *e;
  char path[512];
  while (d && (e = readdir(d))) {
    if (e->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    unlink(path);
  }
  if (d) closedir(d);
}

/* Files in the folder whose names end so. */
static unsigned files(const char *end, char *path, size_t size) {
  DIR *d = opendir(folder);
  struct dirent *e;
  unsigned n = 0;
  while (d && (e = readdir(d))) {
    size_t length = strlen(e->d_name), k = strlen(end);
    if (length < k || strcmp(e->d_name + length - k, end)) continue;
    if (path) snprintf(path, size, "%s/%s", folder, e->d_name);
    n++;
  }
  if (d) closedir(d);
  return n;
}

static uint64_t expected; /* masks of the compiled grammar */

static void check_reports(const report *r, unsigned n, unsigned compiles) {
  unsigned compiled = 0;
  for (unsigned i = 0; i < n; i++) {
    CHECKF(r[i].status == TSL_OK && r[i].result.complete && r[i].result.kept, "worker %u: %s", i,
           tsl_status_name((tsl_status)r[i].status));
    CHECKF(r[i].masks == expected, "worker %u has other masks", i);
    compiled += r[i].result.compiled;
  }
  CHECKF(compiled == compiles, "%u of %u compiled", compiled, n);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void one_compile(void) {
  report r[WORKERS_MAX];
  for (unsigned n = 2; n <= WORKERS_MAX; n++) {
    empty_folder();
    CHECK(run_workers(n, r) == n);
    check_reports(r, n, 1);
    CHECK(files(".tslgrammar", NULL, 0) == 1 && files(".draft", NULL, 0) == 0);
    CHECK(run_workers(n, r) == n);
    check_reports(r, n, 0);
  }
}

/* A writer dies at byte k of the file; the next one compiles, and nobody sees half a file. */
static void killed_at_any_byte(void) {
  char path[512];
  struct stat info;
  report r;
  CHECK(files(".tslgrammar", path, sizeof path) == 1 && !stat(path, &info));
  size_t step = (size_t)info.st_size / 40 + 1;
  for (size_t k = 0; k < (size_t)info.st_size; k += k < 70 ? 1 : step) {
    empty_folder();
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
      const struct rlimit size = {k, k};
      signal(SIGXFSZ, SIG_DFL); /* write of byte k ends the process */
      setrlimit(RLIMIT_FSIZE, &size);
      setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
      work();
      _exit(0);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECKF(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ, "byte %zu: the writer lived", k);
    CHECK(files(".tslgrammar", NULL, 0) == 0);
    CHECK(files(".draft", path, sizeof path) == 1 && !stat(path, &info) &&
          (size_t)info.st_size <= k);
    r = work();
    check_reports(&r, 1, 1);
    CHECK(files(".draft", NULL, 0) == 0 && files(".tslgrammar", path, sizeof path) == 1 &&
          !stat(path, &info));
  }
}

/* Somebody holds the lock: whoever waits gets on when the holder dies, or when its own time is
 * over. */
static void killed_while_others_wait(void) {
  char path[512], draft[520];
  report r[WORKERS_MAX];
  CHECK(files(".tslgrammar", path, sizeof path) == 1);
  snprintf(draft, sizeof draft, "%.*s.draft", (int)(strlen(path) - strlen(".tslgrammar")), path);
  empty_folder();
  int ready[2];
  CHECK(!pipe(ready));
  fflush(stdout);
  pid_t holder = fork();
  if (holder == 0) {
    int file = open(draft, O_RDWR | O_CREAT, 0666);
    char c = file >= 0 && !flock(file, LOCK_EX) && write(file, "half a file", 11) == 11;
    if (write(ready[1], &c, 1) == 1)
      for (;;) pause();
    _exit(1);
  }
  char c = 0;
  CHECK(read(ready[0], &c, 1) == 1 && c == 1);
  tsl_limits hurry = {.deadline_us = 20000};
  tsl_source in_a_hurry = source;
  in_a_hurry.limits = &hurry;
  tsl_grammar *g = NULL;
  tsl_error error;
  /* other limits but `deadline_us` would be another name */
  CHECK(tsl_store_get(vocab, folder, &in_a_hurry, NULL, &g, NULL, &error) == TSL_ERR_CANCELLED &&
        strstr(error.message, "deadline_us") && !g);
  fflush(stdout);
  pid_t killer = fork();
  if (killer == 0) {
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    _exit(0);
  }
  CHECK(run_workers(4, r) == 4);
  check_reports(r, 4, 1);
  waitpid(killer, NULL, 0);
  waitpid(holder, NULL, 0);
  close(ready[0]);
  close(ready[1]);
}

static void damaged_files_are_replaced(void) {
  char path[512];
  report r;
  CHECK(files(".tslgrammar", path, sizeof path) == 1);
  int file = open(path, O_WRONLY | O_TRUNC);
  CHECK(file >= 0 && write(file, "TSLGRAM\nrubbish", 15) == 15 && !close(file));
  r = work();
  check_reports(&r, 1, 1);
  r = work();
  check_reports(&r, 1, 0);
}

static void flip(const char *path, off_t at) {
  uint8_t byte = 0;
  int file = open(path, O_RDWR);
  CHECK(file >= 0 && pread(file, &byte, 1, at) == 1);
  byte ^= 4;
  CHECK(pwrite(file, &byte, 1, at) == 1 && !close(file));
}

/* Damage that loading does not come to: a mask fails, once, and whoever asks next has another
 * file. */
static void damaged_blocks_are_replaced(void) {
  char long_schema[16384], path[512];
  size_t n = (size_t)sprintf(long_schema, "{\"enum\":[");
  for (int i = 0; i < 120; i++)
    n += (size_t)sprintf(long_schema + n, "%s\"%d is one of the texts\"", i ? "," : "", i * 7919);
  n += (size_t)sprintf(long_schema + n, "]}");
  const tsl_schema_options any = {.generous = true};
  const tsl_source many = {
      .kind = TSL_SOURCE_JSON_SCHEMA, .text = long_schema, .length = n, .schema = &any};
  struct stat info;
  unsigned late = 0;
  empty_folder();
  for (off_t at = 0; at == 0 || at < info.st_size; at += TSL__ARTIFACT_BLOCK) {
    for (int again = 0; again < 3; again++) {
      uint32_t mask[256];
      tsl_store_result result;
      tsl_grammar *g = NULL;
      tsl_matcher *m = NULL;
      CHECK(tsl_store_get(vocab, folder, &many, NULL, &g, &result, NULL) == TSL_OK &&
            tsl_matcher_new(g, NULL, &m) == TSL_OK);
      tsl_status status = tsl_matcher_accept_bytes(m, "\"7919 is one of", 15, NULL);
      if (status == TSL_OK) status = tsl_matcher_mask(m, mask);
      CHECK(again == 1 ? status == TSL_OK || status == TSL_ERR_FORMAT : status == TSL_OK);
      late += status != TSL_OK;
      tsl_matcher_free(m);
      tsl_grammar_release(g);
      CHECK(result.kept && files(".tslgrammar", path, sizeof path) == (status == TSL_OK));
      if (again == 0) CHECK(!stat(path, &info));
      if (again == 0)
        flip(path, at + TSL__ARTIFACT_BLOCK / 2 < info.st_size ? at + TSL__ARTIFACT_BLOCK / 2
                                                               : info.st_size - 1);
    }
    empty_folder();
  }
  CHECKF(late > 0, "no block of %lld bytes was read late", (long long)info.st_size);
}

static void no_folder(void) {
  char kept[64];
  memcpy(kept, folder, sizeof kept);
  snprintf(folder, sizeof folder, "/nowhere/at/all");
  report r = work();
  CHECK(r.status == TSL_OK && r.result.compiled && !r.result.kept && r.masks == expected);
  folder[0] = 0; /* is not the root, which who may do all may write to */
  r = work();
  CHECK(r.status == TSL_OK && r.result.compiled && !r.result.kept && r.masks == expected);
  memcpy(folder, kept, sizeof kept);
  tsl_source bad = source;
  bad.text = "{\"type\": 7}";
  bad.length = 11;
  tsl_grammar *g;
  tsl_error error;
  CHECK(tsl_store_get(vocab, folder, &bad, NULL, &g, NULL, &error) == TSL_ERR_SCHEMA &&
        error.message[0]);
  CHECK(files(".draft", NULL, 0) == 0);
}

/* A file that holds the source alone is compiled when it is loaded: within the caller's time, and
 * until the caller cancels. */
static void source_in_time(void) {
  static char long_schema[1 << 16];
  size_t n = (size_t)sprintf(long_schema, "{\"anyOf\":[");
  for (int i = 0; i < 300; i++)
    n += (size_t)sprintf(long_schema + n,
                         "%s{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":"
                         "\"string\",\"pattern\":\"^[a-z]*%d$\"}}",
                         i ? "," : "", i);
  n += (size_t)sprintf(long_schema + n, "]}");
  int flag = 0;
  const tsl_limits with = {.cancel = &flag, .deadline_us = 60000000};
  const tsl_source unlisted = {
      .kind = TSL_SOURCE_JSON_SCHEMA, .text = long_schema, .length = n, .limits = &with};
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_store_result result;
  for (int k = 0; k < 2; k++) {
    CHECK(tsl_store_get(vocab, folder, &unlisted, NULL, &g, &result, &error) == TSL_OK &&
          result.compiled == !k && result.kept && !result.complete);
    CHECK(g && !g->space->work.cancel &&
          !g->space->work.deadline_us); /* it outlives who requested it */
    tsl_grammar_release(g);
    g = NULL;
  }
  flag = 1;
  CHECK(tsl_store_get(vocab, folder, &unlisted, NULL, &g, NULL, &error) == TSL_ERR_CANCELLED &&
        !g && !strcmp(error.message, "cancelled"));
  CHECK(tsl_store_get(vocab, folder, &source, NULL, &g, &result, &error) == TSL_OK &&
        result.complete && !g->space->work.cancel && !g->space->work.deadline_us);
  tsl_grammar_release(g);
  CHECK(files(".draft", NULL, 0) == 0);
}

/* A pattern that compiles in a tenth of a millisecond. To list its states and walks takes three
 * seconds: many times the 40 ms below. */
static size_t lengthy(char *pattern) {
  size_t n = 0;
  for (int last = 'c'; last < 'w'; last++)
    n += (size_t)sprintf(pattern + n, "(?:[a-%c]{1,60} ?){1,60}", last);
  return n;
}

static int raised; /* the flag of a call that is under way */
static void raise_flag(int signal_number) {
  (void)signal_number;
  __atomic_store_n(&raised, 1, __ATOMIC_RELAXED);
}

/* The file is made within the caller's time, and until the caller cancels: else the grammar is
 * there, and no file. */
static void kept_in_time(void) {
  const tsl_limits hurried[] = {
      {.deadline_us = 40000}, {.cancel = &raised}, {.cancel = &raised, .deadline_us = 60000000}};
  static char pattern[1 << 10];
  tsl_source s = {.kind = TSL_SOURCE_REGEX, .text = pattern, .length = lengthy(pattern)};
  tsl_store_result result;
  tsl_grammar *g;
  empty_folder();
  CHECK(!sigaction(SIGALRM, &(struct sigaction){.sa_handler = raise_flag}, NULL));
  for (size_t i = 0; i < sizeof hurried / sizeof *hurried; i++) {
    s.limits = &hurried[i];
    raised = 0;
    if (hurried[i].cancel)
      CHECK(!setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 40000}}, NULL));
    tsl_status status = tsl_store_get(vocab, folder, &s, NULL, &g, &result, NULL);
    CHECKF(status == TSL_OK && result.compiled && !result.kept && !result.complete,
           "limits %zu: %s", i, tsl_status_name(status));
    CHECK(g && !g->space->work.cancel && !g->space->work.deadline_us && !g->space->work.until);
    tsl_grammar_release(g);
    CHECK(files(".tslgrammar", NULL, 0) == 0 && files(".draft", NULL, 0) == 0);
  }
  CHECK(!setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL) && raised);
  CHECK(signal(SIGALRM, SIG_DFL) != SIG_ERR);
}

/* ---- a fork of who has the lock -------------------------------------------------------------- */

static bool forks;      /* at the next request for memory while there is a draft */
static int fork_report; /* where the fork writes its report */

/* Memory of a process that forks while it has the lock, as one with other threads may at any time.
 * The fork asks for the same grammar. */
static void *forking(void *ctx, void *block, size_t old_size, size_t new_size) {
  (void)ctx;
  if (forks && files(".draft", NULL, 0) == 1) {
    forks = false;
    if (fork() == 0) {
      report r = work();
      _exit(write(fork_report, &r, sizeof r) == (ssize_t)sizeof r ? 0 : 1);
    }
    /* it waits for the lock, which it has open itself */
    nanosleep(&(struct timespec){0, 100000000}, NULL);
  }
  return tsl__malloc.reallocate(NULL, block, old_size, new_size);
}

static void forked_with_the_lock(void) {
  const tsl_allocator hooks = {NULL, forking};
  tsl_vocab *v = NULL;
  tsl_store_result result;
  tsl_grammar *g;
  report r = {0};
  int out[2];
  empty_folder();
  CHECK(tsl_vocab_embedded(&hooks, &v, NULL) == TSL_OK && !pipe(out));
  fork_report = out[1];
  forks = true;
  fflush(stdout);
  CHECK(tsl_store_get(v, folder, &source, NULL, &g, &result, NULL) == TSL_OK && result.compiled &&
        result.kept && !forks);
  double begun = seconds();
  CHECK(read(out[0], &r, sizeof r) == (ssize_t)sizeof r);
  /* it waits no longer than the lock is held */
  CHECKF(seconds() - begun < 5, "%.1f s", seconds() - begun);
  check_reports(&r, 1, 0);
  while (wait(NULL) > 0) continue;
  close(out[0]);
  close(out[1]);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* The artifact of a source with other options has another name: whoever wants little of it does not
 * decide for others. */
static void options_have_names(void) {
  static const tsl_artifact_options all[] = {
      {.max_states = 1}, {0}, {.max_states = 20000}, {.max_walk_steps = 1}};
  static const bool compiled[] = {true, true, false, true}, complete[] = {false, true, true, true};
  tsl_grammar *g;
  tsl_store_result result;
  empty_folder();
  for (int again = 0; again < 2; again++)
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
      CHECK(tsl_store_get(vocab, folder, &source, &all[i], &g, &result, NULL) == TSL_OK);
      CHECKF(result.compiled == (compiled[i] && !again) && result.complete == complete[i] &&
                 result.kept,
             "options %zu", i);
      CHECK(hash_masks(g) == expected);
      tsl_grammar_release(g);
    }
  CHECK(files(".tslgrammar", NULL, 0) == 3);
}

/* The flag ends with the call, also for states that were grown while the file was loaded: those of
 * numbers. */
static void flag_ends_with_the_call(void) {
  static const char number[] =
      "{\"type\": \"number\", \"multipleOf\": 0.00000700013, \"not\": {\"multipleOf\": 0.030101}}";
  static const tsl_artifact_options bare = {.max_walk_steps = 1};
  static const tsl_schema_options any = {.spelling = TSL_SPELLING_ANY}; /* of 600 digits too */
  char digits[600];
  memset(digits, '7', sizeof digits);
  for (int k = 0; k < 2; k++) {
    int flag = 0;
    const tsl_limits with = {.cancel = &flag};
    const tsl_source numbers = {.kind = TSL_SOURCE_JSON_SCHEMA,
                                .text = number,
                                .length = sizeof number - 1,
                                .schema = &any,
                                .limits = &with};
    tsl_grammar *g = NULL;
    tsl_matcher *m = NULL;
    tsl_store_result result;
    tsl_status status = tsl_store_get(vocab, folder, &numbers, &bare, &g, &result, NULL);
    CHECK(status == TSL_OK && result.compiled == !k && result.complete);
    flag = 1;
    if (status != TSL_OK || tsl_matcher_new(g, NULL, &m) != TSL_OK)
      status = TSL_ERR_NO_MEMORY;
    else
      status = tsl_matcher_accept_bytes(
          m, digits, sizeof digits,
          NULL); /* more work than there is between two looks at the flag */
    CHECKF(status == TSL_OK, "%s", tsl_status_name(status));
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
}

/* The file in the folder is none. */
static void no_plain_file(void) {
  char path[512], draft[520], victim[600], content[16] = "";
  report r;
  empty_folder();
  r = work();
  check_reports(&r, 1, 1);
  CHECK(files(".tslgrammar", path, sizeof path) == 1);
  snprintf(draft, sizeof draft, "%.*s.draft", (int)(strlen(path) - strlen(".tslgrammar")), path);
  snprintf(victim, sizeof victim, "%s/victim", folder);
  CHECK(!unlink(path) && !mkfifo(path, 0600)); /* nobody will ever write to it */
  r = work();
  check_reports(&r, 1, 1);
  r = work();
  check_reports(&r, 1, 0);
  int file = open(victim, O_WRONLY | O_CREAT, 0600);
  CHECK(file >= 0 && write(file, "precious", 8) == 8 && !close(file));
  /* a draft that is somebody's link is not written to */
  CHECK(!unlink(path) && !symlink(victim, draft));
  r = work();
  CHECK(r.status == TSL_OK && r.result.compiled && !r.result.kept && r.masks == expected);
  file = open(victim, O_RDONLY);
  CHECK(file >= 0 && read(file, content, sizeof content - 1) == 8 && !strcmp(content, "precious") &&
        !close(file));
  CHECK(!unlink(draft) && !unlink(victim));
}

static void arguments(void) {
  tsl_grammar *g;
  CHECK(tsl_store_get(NULL, folder, &source, NULL, &g, NULL, NULL) == TSL_ERR_ARGUMENT);
  CHECK(tsl_store_get(vocab, NULL, &source, NULL, &g, NULL, NULL) == TSL_ERR_ARGUMENT);
  CHECK(tsl_store_get(vocab, folder, NULL, NULL, &g, NULL, NULL) == TSL_ERR_ARGUMENT);
}

int main(void) {
  tsl_grammar *g = NULL;
  CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
  CHECK(tsl_grammar_json_schema(vocab, schema, sizeof schema - 1, NULL, NULL, &g, NULL) == TSL_OK);
  expected = g ? hash_masks(g) : 0;
  CHECK(expected != 0);
  tsl_grammar_release(g);
  snprintf(folder, sizeof folder, "%s/turnstile-store-XXXXXX", "/tmp");
  CHECK(mkdtemp(folder) != NULL);
  RUN(one_compile, "2 to 8 processes, one compile");
  RUN(killed_at_any_byte, "killed at any byte of a write");
  RUN(killed_while_others_wait, "killed while others wait");
  RUN(damaged_files_are_replaced, "damaged files are replaced");
  RUN(damaged_blocks_are_replaced, "so are those whose damage a mask finds");
  RUN(no_folder, "no folder, no grammar");
  RUN(source_in_time, "a source in a file, and time");
  RUN(kept_in_time, "a file in time, or none");
  RUN(forked_with_the_lock, "a fork of who has the lock");
  RUN(options_have_names, "other options, another file");
  RUN(flag_ends_with_the_call, "the flag ends with the call");
  RUN(no_plain_file, "a FIFO and a link in the folder");
  RUN(arguments, "arguments");
  empty_folder();
  CHECK(!rmdir(folder));
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
