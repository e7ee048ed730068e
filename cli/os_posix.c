/* os_posix.c - the tool on POSIX systems. See os.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* realpath */
#endif
#include "cli/os.h"

#ifndef _WIN32
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void cli_os_begin(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
}

FILE *cli_os_open(const char *path, const char *mode) { return fopen(path, mode); }
bool cli_os_there(const char *path) { return !access(path, F_OK); }
bool cli_os_is_terminal(FILE *file) { return isatty(fileno(file)); }

static double microseconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

double cli_os_now(void) { return microseconds(CLOCK_MONOTONIC); }
double cli_os_worked(void) { return microseconds(CLOCK_THREAD_CPUTIME_ID); }

cli_os_kind cli_os_look(const char *path) {
  struct stat s;
  return stat(path, &s) ? CLI_OS_NOTHING : S_ISREG(s.st_mode) ? CLI_OS_FILE : CLI_OS_OTHER;
}

bool cli_os_is_link(const char *path, char **target) {
  struct stat s;
  bool link = !lstat(path, &s) && S_ISLNK(s.st_mode);
  *target = link ? realpath(path, NULL) : NULL;
  return link;
}

bool cli_memory_open(cli_memory *m) {
  *m = (cli_memory){.at = NULL};
  return (m->to = open_memstream(&m->at, &m->held)) != NULL;
}

bool cli_memory_flush(cli_memory *m) {
  long n = ftell(m->to);
  m->length = n > 0 ? (size_t)n : 0;
  return !fflush(m->to);
}

bool cli_memory_close(cli_memory *m) {
  if (!m->to) return true;
  bool fine = cli_memory_flush(m);
  fine = !fclose(m->to) && fine;
  m->to = NULL;
  return fine;
}

void cli_os_own_folder(char *out, size_t size) {
  ssize_t n = readlink("/proc/self/exe", out, size - 1);
  out[n > 0 ? n : 0] = 0;
  char *slash = strrchr(out, '/');
  *(slash ? slash + 1 : out) = 0;
}

void *cli_os_library(const char *name) { return dlopen(name, RTLD_NOW | RTLD_GLOBAL); }
const char *cli_os_library_error(void) { return dlerror(); }

bool cli_os_symbol(void *library, const char *name, void *out) {
  void *found = dlsym(library, name);
  if (found) memcpy(out, &found, sizeof found);
  return found != NULL;
}
#endif
