/* test_os.c - locks, threads and files, each as the header says, on every system.
 *
 * Two threads add to a number under one mutex. A wait ends by its time and by a signal. A file is
 * written, looked at, mapped, locked, replaced and removed. A path holds letters outside ASCII, and
 * is longer than Windows takes by itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/core/os.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/support/check.h"

/* ---- locks and threads ----------------------------------------------------------------------- */

enum { ADDITIONS = 20000, ADDERS = 4 };

typedef struct shared {
  tsl__mutex mutex;
  tsl__cond changed;
  uint64_t sum, wanted;
} shared;

static void add(void *arg) {
  shared *s = arg;
  for (int i = 0; i < ADDITIONS; i++) {
    tsl__mutex_lock(&s->mutex);
    s->sum++;
    if (s->sum == s->wanted) tsl__cond_signal(&s->changed);
    tsl__mutex_unlock(&s->mutex);
  }
}

static bool open_shared(shared *s) {
  *s = (shared){.sum = 0};
  return tsl__mutex_init(&s->mutex) && tsl__cond_init(&s->changed);
}

static void close_shared(shared *s) {
  tsl__cond_free(&s->changed);
  tsl__mutex_free(&s->mutex);
}

static void additions(void) {
  shared s;
  tsl__thread threads[ADDERS];
  CHECK(open_shared(&s));
  s.wanted = (uint64_t)ADDITIONS * ADDERS;
  for (int i = 0; i < ADDERS; i++) CHECK(tsl__thread_start(&threads[i], add, &s));
  tsl__mutex_lock(&s.mutex);
  while (s.sum < s.wanted) tsl__cond_wait(&s.changed, &s.mutex, TSL__FOREVER);
  CHECK(s.sum == s.wanted);
  tsl__mutex_unlock(&s.mutex);
  for (int i = 0; i < ADDERS; i++) tsl__thread_join(&threads[i]);
  close_shared(&s);
}

static void try_it(void *arg) {
  shared *s = arg;
  s->sum = tsl__mutex_try(&s->mutex);
  if (s->sum) tsl__mutex_unlock(&s->mutex);
}

/* Does another thread get the mutex? */
static bool is_free(shared *s) {
  tsl__thread other;
  CHECK(tsl__thread_start(&other, try_it, s));
  tsl__thread_join(&other);
  return s->sum;
}

static void tries(void) {
  shared s;
  CHECK(open_shared(&s));
  CHECK(is_free(&s));
  tsl__mutex_lock(&s.mutex);
  CHECK(!is_free(&s));
  tsl__mutex_unlock(&s.mutex);
  CHECK(is_free(&s));
  close_shared(&s);
}

/* A wait ends neither before its time nor much later; one for a time that is past ends at once. */
static void waits(void) {
  shared s;
  CHECK(open_shared(&s));
  tsl__mutex_lock(&s.mutex);
  uint64_t start = tsl__now_us(), until = start + 30000;
  while (tsl__now_us() < until) tsl__cond_wait(&s.changed, &s.mutex, until);
  CHECKF(tsl__now_us() - start < 10000000, "waited %llu us",
         (unsigned long long)(tsl__now_us() - start));
  tsl__cond_wait(&s.changed, &s.mutex, 1);
  tsl__mutex_unlock(&s.mutex);
  start = tsl__now_us();
  tsl__sleep_us(5000);
  CHECK(tsl__now_us() - start >= 5000);
  close_shared(&s);
}

static void numbers(void) {
  uint8_t secret[2][TSL__SECRET] = {{0}, {0}};
  CHECK(tsl__processors() >= 1);
  CHECK(tsl__process_id() == tsl__process_id() && tsl__process_id());
  CHECK(tsl__secret_draw(secret[0]) && tsl__secret_draw(secret[1]));
  CHECK(memcmp(secret[0], secret[1], TSL__SECRET));
  CHECK(memcmp(secret[0] + TSL__SECRET / 2, (uint8_t[TSL__SECRET / 2]){0}, TSL__SECRET / 2));
}

/* ---- files ----------------------------------------------------------------------------------- */

/* é and 字, as UTF-8. */
#define LETTERS "\xC3\xA9\xE5\xAD\x97"

static char folder[512];

static const char *in_folder(const char *name) {
  static char path[8][1024];
  static unsigned turn;
  char *out = path[turn++ % 8];
  snprintf(out, sizeof path[0], "%s/%s", folder, name);
  return out;
}

static bool put(const char *path, tsl__open_mode mode, const char *text) {
  int file = tsl__file_open(path, mode);
  if (file < 0) return false;
  bool fine = tsl__file_write(file, text, strlen(text)) == (ptrdiff_t)strlen(text);
  fine = tsl__file_sync(file) && fine;
  return tsl__file_close(file) && fine;
}

static bool holds(const char *path, const char *text) {
  char got[64] = {0};
  int file = tsl__file_open(path, TSL__OPEN_READ);
  if (file < 0) return false;
  ptrdiff_t n = tsl__file_read(file, got, sizeof got - 1);
  return tsl__file_close(file) && n == (ptrdiff_t)strlen(text) && !strcmp(got, text);
}

static void modes(void) {
  const char *path = in_folder("a" LETTERS);
  errno = 0;
  CHECK(tsl__file_open(path, TSL__OPEN_READ) < 0 && errno == ENOENT);
  CHECK(put(path, TSL__OPEN_NEW, "one\r\n\x1Atwo\n"));
  CHECK(holds(path, "one\r\n\x1Atwo\n"));
  CHECK(!put(path, TSL__OPEN_NEW, "not again"));
  CHECK(put(path, TSL__OPEN_OVER, "over"));
  CHECK(holds(path, "over"));
  CHECK(put(path, TSL__OPEN_DRAFT, "OV"));
  CHECK(holds(path, "OVer"));
  int file = tsl__file_open(path, TSL__OPEN_DRAFT);
  CHECK(file >= 0 && tsl__file_cut(file) && tsl__file_close(file));
  CHECK(holds(path, ""));
  tsl__file_remove(path);
  CHECK(tsl__file_open(path, TSL__OPEN_READ) < 0);
  CHECK(tsl__file_open("\xFF\xFE/nowhere", TSL__OPEN_READ) < 0);
}

static void looks(void) {
  const char *path = in_folder("look"), *other = in_folder("other");
  tsl__file_info a, b;
  CHECK(put(path, TSL__OPEN_NEW, "12345") && put(other, TSL__OPEN_NEW, "12345"));
  int file = tsl__file_open(path, TSL__OPEN_READ);
  CHECK(tsl__file_look(file, &a) && tsl__path_look(path, false, &b));
  CHECK(a.regular && a.size == 5 && a.inode == b.inode && a.device == b.device);
  CHECK(!memcmp(a.written, b.written, sizeof a.written));
  int64_t now = time(NULL);
  CHECKF(a.written[0] > now - 600 && a.written[0] < now + 600, "%lld", (long long)a.written[0]);
  CHECKF(a.changed[0] > now - 600 && a.changed[0] < now + 600, "%lld", (long long)a.changed[0]);
  CHECK(tsl__path_look(other, true, &b) && b.inode != a.inode);
  CHECK(tsl__path_look(folder, true, &b) && !b.regular);
  CHECK(!tsl__path_look(in_folder("none"), true, &b));
  char byte[2];
  CHECK(tsl__file_read(file, byte, 2) == 2 && byte[0] == '1' && tsl__file_rewind(file));
  CHECK(tsl__file_read(file, byte, 1) == 1 && byte[0] == '1');
  CHECK(tsl__file_close(file));
  tsl__file_remove(path);
  tsl__file_remove(other);
}

/* What is mapped stays when the file is closed. */
static void maps(void) {
  const char *path = in_folder("map");
  CHECK(put(path, TSL__OPEN_NEW, "mapped"));
  int file = tsl__file_open(path, TSL__OPEN_READ);
  const char *at = tsl__file_map(file, 6);
  CHECK(tsl__file_close(file));
  CHECK(at && !memcmp(at, "mapped", 6));
  if (at) tsl__file_unmap(at, 6);
  tsl__file_remove(path);
}

/* The owner of the lock may write, rename, and go on with the file under its new name. */
static void locks(void) {
  const char *path = in_folder("lock"), *name = in_folder("name");
  int first = tsl__file_open(path, TSL__OPEN_DRAFT), second = tsl__file_open(path, TSL__OPEN_DRAFT);
  CHECK(first >= 0 && second >= 0);
  CHECK(tsl__file_lock(first) == TSL__LOCKED);
  CHECK(tsl__file_lock(second) == TSL__LOCK_BUSY);
  CHECK(tsl__file_write(first, "kept", 4) == 4);
  CHECK(holds(path, "kept"));
  CHECK(put(name, TSL__OPEN_NEW, "older"));
  CHECK(tsl__file_rename(path, name));
  CHECK(holds(name, "kept"));
  tsl__file_info a, b;
  CHECK(tsl__file_look(second, &a) && tsl__path_look(name, false, &b) && a.inode == b.inode);
  CHECK(tsl__file_lock(second) == TSL__LOCK_BUSY);
  tsl__file_unlock(first);
  CHECK(tsl__file_lock(second) == TSL__LOCKED);
  tsl__file_unlock(second);
  tsl__file_remove(name);
}

/* Over 260 characters in all, in folders of 100. */
static void long_paths(void) {
  char path[1024];
  snprintf(path, sizeof path, "%s", folder);
  for (int i = 0; i < 3; i++) {
    size_t n = strlen(path);
    path[n++] = '/';
    memset(path + n, 'n', 100);
    path[n + 100] = 0;
    if (i < 2) tsl__folder_make(path);
  }
  CHECK(strlen(path) > 300);
  CHECK(put(path, TSL__OPEN_NEW, "far"));
  CHECK(holds(path, "far"));
  tsl__file_remove(path);
  CHECK(!holds(path, "far"));
}

static void folders(void) {
  const char *path = in_folder("own" LETTERS);
  tsl__file_info info;
  CHECK(tsl__folder_trusted(in_folder("not there")));
  tsl__folder_make(path);
  CHECK(tsl__path_look(path, true, &info) && !info.regular);
  CHECK(tsl__folder_trusted(path));
  tsl__folder_make(path); /* again: nothing happens */
  CHECK(put(in_folder("own" LETTERS "/file"), TSL__OPEN_NEW, "in"));
  CHECK(holds(in_folder("own" LETTERS "/file"), "in"));
  tsl__file_remove(in_folder("own" LETTERS "/file"));
}

int main(void) {
  const char *build = getenv("TSL_BUILD");
  snprintf(folder, sizeof folder, "%.300s/os-files", build ? build : ".");
  RUN(additions, "threads add under a mutex");
  RUN(tries, "a mutex that somebody holds is not given twice");
  RUN(waits, "waits end in time");
  RUN(numbers, "processors, processes, random bytes");
  tsl__folder_make(folder);
  RUN(modes, "files are opened as they are to be");
  RUN(looks, "files are looked at");
  RUN(maps, "files are mapped");
  RUN(locks, "files are locked and replaced");
  RUN(long_paths, "paths may be long");
  RUN(folders, "folders are made and judged");
  return tsl_test_end();
}
