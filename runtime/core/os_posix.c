/* os_posix.c - locks, threads and files of POSIX systems. See os.h.
 *
 * Systems   Linux (glibc, musl, Android), macOS, FreeBSD, and Emscripten's for WebAssembly. Where
 *           they differ, a line here says so. MacOS waits by spans where others wait until a point
 *           in time, and names the times of files otherwise.
 * Random    Linux has the call getrandom since 3.17, glibc a function for it since 2.25. The call
 *           is made by its number, so that the library also loads where glibc is older
 *           (manylinux2014 has 2.17). Where the call is missing or forbidden, /dev/urandom is read.
 * Locks     flock belongs to the open file, not to the process: two threads that open a draft each
 *           keep each other out. It is given back before the file is closed. A fork of this process
 *           has the file open too, and would have the lock from then on.
 * Signals   A host's handlers must not run on our threads, so these begin with all signals blocked.
 * Cost      One call of the system each, but tsl__secret_draw, which may need three.
 * Tested by tests/core/test_os.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* syscall, flock, getentropy */
#endif
#include "runtime/core/os.h"

#ifndef _WIN32
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#elif defined(__APPLE__)
#include <sys/random.h>
#endif

/* ---- locks and threads ----------------------------------------------------------------------- */

#ifdef __APPLE__
bool tsl__cond_init(tsl__cond *c) { return !pthread_cond_init(c, NULL); }
#else
bool tsl__cond_init(tsl__cond *c) {
  pthread_condattr_t attr;
  if (pthread_condattr_init(&attr)) return false;
  bool fine = !pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) && !pthread_cond_init(c, &attr);
  pthread_condattr_destroy(&attr);
  return fine;
}
#endif

/* A point in time too far for time_t's smallest form is for ever. */
void tsl__cond_wait(tsl__cond *c, tsl__mutex *m, uint64_t until) {
  if (until >= (uint64_t)INT32_MAX * 1000000u) {
    pthread_cond_wait(c, m);
    return;
  }
#ifdef __APPLE__
  uint64_t now = tsl__now_us(), span = until > now ? until - now : 0;
  struct timespec t = {(time_t)(span / 1000000u), (long)(span % 1000000u) * 1000};
  pthread_cond_timedwait_relative_np(c, m, &t);
#else
  struct timespec t = {(time_t)(until / 1000000u), (long)(until % 1000000u) * 1000};
  pthread_cond_timedwait(c, m, &t);
#endif
}

static void *run_thread(void *arg) {
  tsl__thread *t = arg;
  t->body(t->arg);
  return NULL;
}

bool tsl__thread_start(tsl__thread *t, void (*body)(void *arg), void *arg) {
  sigset_t all, before;
  t->body = body;
  t->arg = arg;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = pthread_create(&t->id, NULL, run_thread, t) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

void tsl__thread_join(tsl__thread *t) { pthread_join(t->id, NULL); }

uint32_t tsl__processors(void) {
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : n > INT32_MAX ? INT32_MAX : (uint32_t)n;
}

uint64_t tsl__process_id(void) { return (uint64_t)getpid(); }

uint64_t tsl__now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

void tsl__sleep_us(uint64_t span) {
  struct timespec t = {(time_t)(span / 1000000u), (long)(span % 1000000u) * 1000};
  nanosleep(&t, NULL);
}

/* ---- random bytes ---------------------------------------------------------------------------- */

static bool read_random(uint8_t *out, size_t size) {
  int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  size_t n = 0;
  for (ssize_t got; n < size && (got = read(file, out + n, size - n)) > 0;) n += (size_t)got;
  close(file);
  return n == size;
}

static bool ask_system(uint8_t *out, size_t size) {
#if defined(__linux__) && defined(SYS_getrandom)
  return syscall(SYS_getrandom, out, size, 0u) == (long)size;
#elif defined(__linux__)
  return (void)out, (void)size, false;
#else
  return getentropy(out, size) == 0;
#endif
}

bool tsl__secret_draw(uint8_t secret[TSL__SECRET]) {
  return ask_system(secret, TSL__SECRET) || read_random(secret, TSL__SECRET);
}

/* ---- files ----------------------------------------------------------------------------------- */

int tsl__file_open(const char *path, tsl__open_mode mode) {
  static const int flags[] = {
      [TSL__OPEN_READ] = O_RDONLY | O_NONBLOCK,
      [TSL__OPEN_NEW] = O_WRONLY | O_CREAT | O_EXCL,
      [TSL__OPEN_OVER] = O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK,
      [TSL__OPEN_DRAFT] = O_RDWR | O_CREAT | O_NOFOLLOW,
  };
  return open(path, flags[mode] | O_CLOEXEC, 0666);
}

bool tsl__file_close(int file) { return !close(file); }

#ifdef __APPLE__
#define WRITTEN(s) (s).st_mtimespec
#define CHANGED(s) (s).st_ctimespec
#else
#define WRITTEN(s) (s).st_mtim
#define CHANGED(s) (s).st_ctim
#endif

static bool fill_info(const struct stat *s, tsl__file_info *out) {
  *out = (tsl__file_info){.regular = S_ISREG(s->st_mode),
                          .size = (uint64_t)s->st_size,
                          .device = (uint64_t)s->st_dev,
                          .inode = (uint64_t)s->st_ino,
                          .written = {WRITTEN(*s).tv_sec, WRITTEN(*s).tv_nsec},
                          .changed = {CHANGED(*s).tv_sec, CHANGED(*s).tv_nsec}};
  return true;
}

bool tsl__file_look(int file, tsl__file_info *out) {
  struct stat s;
  return !fstat(file, &s) && fill_info(&s, out);
}

bool tsl__path_look(const char *path, bool follow, tsl__file_info *out) {
  struct stat s;
  return !(follow ? stat(path, &s) : lstat(path, &s)) && fill_info(&s, out);
}

ptrdiff_t tsl__file_read(int file, void *data, size_t size) { return read(file, data, size); }

ptrdiff_t tsl__file_write(int file, const void *data, size_t size) {
  for (;;) {
    ssize_t n = write(file, data, size);
    if (n >= 0 || errno != EINTR) return n;
  }
}

bool tsl__file_rewind(int file) { return lseek(file, 0, SEEK_SET) == 0; }
bool tsl__file_cut(int file) { return !ftruncate(file, 0); }
bool tsl__file_sync(int file) { return !fsync(file); }

const void *tsl__file_map(int file, size_t size) {
  void *at = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
  return at == MAP_FAILED ? NULL : at;
}

void tsl__file_unmap(const void *at, size_t size) { munmap((void *)(uintptr_t)at, size); }

tsl__lock tsl__file_lock(int file) {
  while (flock(file, LOCK_EX | LOCK_NB)) {
    if (errno == EWOULDBLOCK) return TSL__LOCK_BUSY;
    if (errno != EINTR) return TSL__LOCK_NONE;
  }
  return TSL__LOCKED;
}

void tsl__file_unlock(int file) {
  flock(file, LOCK_UN);
  close(file);
}

bool tsl__file_rename(const char *from, const char *to) { return !rename(from, to); }
void tsl__file_remove(const char *path) { unlink(path); }
void tsl__folder_make(const char *path) { mkdir(path, 0700); }

bool tsl__folder_trusted(const char *directory) {
  struct stat found;
  if (stat(directory, &found)) return true;
  return (found.st_uid == geteuid() || !found.st_uid) && !(found.st_mode & S_IWOTH);
}

#endif
