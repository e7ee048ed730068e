/* os.h - what the library needs of the operating system: locks, threads, files.
 *
 * Problem   POSIX and Windows have the same few things under other names. If every file that needs
 *           one looked which system it is, a third system would mean changes everywhere.
 * Idea      One header says what the library needs. os_posix.c and os_windows.c give it, and the
 *           one that is not for this system is empty. No other file of runtime/ and compiler/
 *           includes a header of the system.
 * Locks     A lock is held for each token, so the calls for POSIX stand here and are compiled in
 *           place. They cost what the calls of pthreads cost.
 * Files     A file is a number (int), as in POSIX and in the C library of Windows. Paths are UTF-8
 *           on every system. Windows gets them as UTF-16, and paths of over 247 characters too.
 * Example   A file appears whole or not at all: open a draft with TSL__OPEN_NEW, write, close, then
 *           tsl__file_rename(draft, path). Readers see the old file or the new one.
 * Windows   differs in two points. A file that a process has mapped can be neither replaced nor
 *           removed: tsl__file_rename and tsl__file_remove then fail. Who may write into a folder
 *           is read from its access control list.
 *
 * base.h has the clock (tsl__now_us), random bytes (tsl__secret_draw) and tsl__folder_trusted,
 * which are given by the same two sources.
 *
 * Tested by tests/core/test_os.c, on Windows too (./dev cross windows)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_CORE_OS_H
#define TSL_RUNTIME_CORE_OS_H

#ifndef _WIN32
#include <pthread.h>
#endif

#include "runtime/core/base.h"

/* ---- locks ----------------------------------------------------------------------------------- */

/* One thread holds a mutex at a time; who holds it must not take it again. */
#ifdef _WIN32
typedef struct tsl__mutex {
  void *word; /* an SRWLOCK */
} tsl__mutex;
typedef struct tsl__cond {
  void *word; /* a CONDITION_VARIABLE */
} tsl__cond;

bool tsl__mutex_init(tsl__mutex *m);
void tsl__mutex_free(tsl__mutex *m);
void tsl__mutex_lock(tsl__mutex *m);
bool tsl__mutex_try(tsl__mutex *m);
void tsl__mutex_unlock(tsl__mutex *m);
void tsl__cond_free(tsl__cond *c);
void tsl__cond_signal(tsl__cond *c);
void tsl__cond_broadcast(tsl__cond *c);
#else
typedef pthread_mutex_t tsl__mutex;
typedef pthread_cond_t tsl__cond;

/* false: the system has no room for it */
static inline bool tsl__mutex_init(tsl__mutex *m) { return !pthread_mutex_init(m, NULL); }
static inline void tsl__mutex_free(tsl__mutex *m) { pthread_mutex_destroy(m); }
static inline void tsl__mutex_lock(tsl__mutex *m) { pthread_mutex_lock(m); }
/* Take it if nobody has it; false: somebody does. */
static inline bool tsl__mutex_try(tsl__mutex *m) { return !pthread_mutex_trylock(m); }
static inline void tsl__mutex_unlock(tsl__mutex *m) { pthread_mutex_unlock(m); }
static inline void tsl__cond_free(tsl__cond *c) { pthread_cond_destroy(c); }
static inline void tsl__cond_signal(tsl__cond *c) { pthread_cond_signal(c); }
static inline void tsl__cond_broadcast(tsl__cond *c) { pthread_cond_broadcast(c); }
#endif

/* A condition variable that waits by the clock of tsl__now_us; false: no room. */
bool tsl__cond_init(tsl__cond *c);
#define TSL__FOREVER UINT64_MAX
/* Wait for a signal, until `until` (tsl__now_us) at most, or TSL__FOREVER. The caller holds the
 * mutex. It may return without a signal. */
void tsl__cond_wait(tsl__cond *c, tsl__mutex *m, uint64_t until);

/* ---- threads --------------------------------------------------------------------------------- */

/* Lies where it is until tsl__thread_join: the new thread reads it. */
typedef struct tsl__thread {
#ifdef _WIN32
  void *handle;
#else
  pthread_t id;
#endif
  void (*body)(void *arg);
  void *arg;
} tsl__thread;

/* Start a thread, with all signals blocked; false: the system has no room for one. */
bool tsl__thread_start(tsl__thread *t, void (*body)(void *arg), void *arg);
/* Wait for its end. Once for each thread that was started. */
void tsl__thread_join(tsl__thread *t);
uint32_t tsl__processors(void); /* that this machine has; 1 if nobody knows */
uint64_t tsl__process_id(void);
void tsl__sleep_us(uint64_t span);

/* ---- files ----------------------------------------------------------------------------------- */

typedef enum tsl__open_mode {
  TSL__OPEN_READ,  /* what is there; a pipe is not waited for */
  TSL__OPEN_NEW,   /* to write; fails if there is one */
  TSL__OPEN_OVER,  /* to write, emptied if there is one */
  TSL__OPEN_DRAFT, /* to read and write, made if there is none, kept if there is; no link */
} tsl__open_mode;

/* A file's number; -1, with errno, if it cannot be opened (ENOENT: there is none). Programs that
 * this process starts do not inherit it. */
int tsl__file_open(const char *path, tsl__open_mode mode);
bool tsl__file_close(int file); /* false: what was written may be lost */

/* What the system knows of a file. */
typedef struct tsl__file_info {
  bool regular;           /* no folder, pipe or device */
  uint64_t size;          /* bytes */
  uint64_t device, inode; /* equal for the same file */
  int64_t written[2];     /* when its content changed: seconds since 1970, nanoseconds */
  int64_t changed[2];     /* when that or anything else of it changed */
} tsl__file_info;

bool tsl__file_look(int file, tsl__file_info *out);
/* `follow`: of a link, what it leads to. */
bool tsl__path_look(const char *path, bool follow, tsl__file_info *out);

/* Up to so many bytes from where the file stands; 0 at its end, -1 on failure. */
ptrdiff_t tsl__file_read(int file, void *data, size_t size);
/* As many as it takes, -1 on failure. */
ptrdiff_t tsl__file_write(int file, const void *data, size_t size);
bool tsl__file_rewind(int file);
bool tsl__file_cut(int file);  /* to no bytes */
bool tsl__file_sync(int file); /* bring it to the disk */

/* The first `size` bytes, to be read; NULL on failure. They stay after the file is closed. Who cuts
 * the file off ends the process that reads there. */
const void *tsl__file_map(int file, size_t size);
void tsl__file_unmap(const void *at, size_t size);

typedef enum tsl__lock { TSL__LOCKED, TSL__LOCK_BUSY, TSL__LOCK_NONE } tsl__lock;
/* Lock a file for this process, without waiting. BUSY: somebody has it. NONE: the file system has
 * no locks. Whoever ends loses it. */
tsl__lock tsl__file_lock(int file);
/* Give the lock back and close the file. */
void tsl__file_unlock(int file);

/* A new name for a file, in the place of one that has it. */
bool tsl__file_rename(const char *from, const char *to);
void tsl__file_remove(const char *path);
/* Make a folder for this user alone, if there is none. */
void tsl__folder_make(const char *path);

#endif
