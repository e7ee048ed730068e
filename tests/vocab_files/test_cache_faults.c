/* test_cache_faults.c - the vocabulary's cache file when the machine is not kind.
 *
 *   cut       a file that is cut off at any byte, or with any byte changed, is not used. The
 *             vocabulary is read from its source, and is the same
 *   killed    a process that is killed while it writes leaves nothing that is used; the next one
 *             writes the file
 *   full      where the file can't be written (no room, no folder, no permission) the vocabulary
 *             loads all the same
 *   race      many processes on one folder: each has the right vocabulary, and in the end there is
 *             one file and no draft
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/core/base.h"
#include "tests/support/check.h"
#include "tests/support/folder.h"

static const char source[] = "YQ== 0\nYg== 1\nYWI= 2\nIA== 3\nYWJh 4\nAA== 5\n";
static char folder[] = "turnstile-cache-XXXXXX", file_path[FOLDER_PATH];
static uint8_t identity[16];

static tsl_status load(const char *directory, tsl_vocab **v) {
  const tsl_vocab_options options = {.pattern = "\\s+|\\w+", .cache_dir = directory};
  return tsl_vocab_load_memory(source, sizeof source - 1, NULL, &options, NULL, v, NULL);
}

/* Does it load, and is it the vocabulary? */
static bool loads(const char *directory) {
  tsl_vocab *v = NULL;
  uint8_t found[16];
  tsl_token ids[4];
  size_t n = 0;
  if (load(directory, &v) != TSL_OK) return false;
  tsl_vocab_identity(v, found);
  bool same = !memcmp(found, identity, 16) &&
              tsl_vocab_encode(v, "aba b", 5, 0, ids, 4, &n) == TSL_OK && n == 3 && ids[0] == 4;
  tsl_vocab_release(v);
  return same;
}

static int files(const char *end) { return folder_files(folder, end, file_path); }

static void clear(void) {
  while (files(".tslvocab") || files(".draft")) unlink(file_path);
}

static size_t read_file(uint8_t *data, size_t room) {
  FILE *f = fopen(file_path, "rb");
  size_t n = f ? fread(data, 1, room, f) : 0;
  if (f) fclose(f);
  return n;
}

static bool write_file(const uint8_t *data, size_t n) {
  FILE *f = fopen(file_path, "wb");
  bool fine = f && fwrite(data, 1, n, f) == n;
  return f && !fclose(f) && fine;
}

static uint8_t whole[1 << 16];

static void cut_and_changed(void) {
  clear();
  CHECK(loads(folder) && files(".tslvocab") == 1);
  size_t n = read_file(whole, sizeof whole);
  CHECK(n > 500 && n < sizeof whole);
  for (size_t i = 0; i < n; i += 1 + n / 400) {
    uint8_t flip = (uint8_t)(1u << i % 8);
    CHECK(write_file(whole, i) && loads(folder));
    whole[i] ^= flip;
    CHECK(write_file(whole, n) && loads(folder));
    whole[i] ^= flip;
  }
  CHECK(write_file(whole, n) && loads(folder) && files(".tslvocab") == 1 && files(".draft") == 0);
}

/* Load under a limit of `bytes` for files, in a process of its own. SIGXFSZ kills at that byte.
 * Where SIGXFSZ is ignored, the write fails as on a full disk. */
static int load_with_room(rlim_t bytes, bool killed) {
  pid_t child = fork();
  if (child == 0) {
    struct rlimit limit = {bytes, bytes}, no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGXFSZ, killed ? SIG_DFL : SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(loads(folder) ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

static void killed_at_any_byte(void) {
  clear();
  CHECK(loads(folder) && files(".tslvocab") == 1);
  size_t n = read_file(whole, sizeof whole);
  for (size_t i = 0; i < n; i += 1 + n / 60) {
    clear();
    int status = load_with_room(i, true);
    CHECKF(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ, "byte %zu: status %d", i, status);
    CHECK(files(".tslvocab") == 0);
    CHECK(loads(folder) && files(".tslvocab") == 1);
  }
}

static void no_room(void) {
  clear();
  CHECK(loads(folder) && files(".tslvocab") == 1);
  size_t n = read_file(whole, sizeof whole);
  for (size_t i = 0; i < n; i += 1 + n / 20) {
    clear();
    CHECK(load_with_room(i, false) == 0);
    CHECKF(files(".tslvocab") == 0 && files(".draft") == 0,
           "a write that failed at byte %zu left a file", i);
  }
  clear();
  CHECK(loads("/dev/full/nowhere") && loads("") && loads("/dev/null"));
  CHECK(loads("turnstile-cache-no/such/folder"));
}

static void folder_in_the_way(void) {
  clear();
  CHECK(loads(folder) && files(".tslvocab") == 1);
  unlink(file_path);
  CHECK(!mkdir(file_path, 0700)); /* the name of the file is that of a folder */
  CHECK(loads(folder) && files(".draft") == 0);
  files(".tslvocab");
  CHECK(!rmdir(file_path));
}

static void many_processes(void) {
  enum { PROCESSES = 16, ROUNDS = 4 };
  for (int round = 0; round < ROUNDS; round++) {
    pid_t child[PROCESSES];
    clear();
    for (int i = 0; i < PROCESSES; i++) {
      child[i] = fork();
      if (child[i] == 0) {
        bool fine = true;
        for (int k = 0; k < 20; k++) fine = fine && loads(folder);
        _exit(fine ? 0 : 1);
      }
    }
    for (int i = 0; i < PROCESSES; i++) {
      int status = -1;
      CHECK(waitpid(child[i], &status, 0) == child[i] && status == 0);
    }
    CHECK(files(".tslvocab") == 1 && files(".draft") == 0);
  }
}

int main(void) {
  tsl_vocab *v = NULL;
  CHECK(load(NULL, &v) == TSL_OK);
  if (v) tsl_vocab_identity(v, identity);
  tsl_vocab_release(v);
  const char *tmp = getenv("TMPDIR");
  CHECK(!chdir(tmp ? tmp : "/tmp") && mkdtemp(folder));
  RUN(cut_and_changed, "a file cut off or changed anywhere is not used, and written anew");
  RUN(killed_at_any_byte, "a writer killed at any byte leaves nothing that is used");
  RUN(no_room, "no room, no folder: it loads without a cache");
  RUN(folder_in_the_way, "a folder where the file should be");
  RUN(many_processes, "16 processes on one folder");
  clear();
  CHECK(!rmdir(folder));
  return tsl_test_end();
}
