/* replay.c - runs a fuzz target over its corpus as an ordinary test.
 *
 * Usage     replay_<name> LABEL FOLDER: each regular file of FOLDER is one input, or FOLDER is a
 *           file and the only one. The empty input is always run too. A finding ends the process on
 *           a signal, so that reaching the end is the result. In a run of all tests a part of the
 *           inputs has its turn (tests/support/check.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/support/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Run one file; false if it could not be read. The buffer is exactly as large as the input, so that
 * a sanitizer sees reads past it. */
static int replay_file(const char *path) {
  struct stat info;
  FILE *file = fopen(path, "rb");
  if (!file || fstat(fileno(file), &info)) return 0;
  size_t size = (size_t)info.st_size;
  uint8_t *data = malloc(size ? size : 1);
  int ok = data && fread(data, 1, size, file) == size;
  fclose(file);
  if (ok) LLVMFuzzerTestOneInput(data, size);
  free(data);
  return ok;
}

/* A folder has no order, so that names decide. */
static bool its_turn(const char *name) {
  uint64_t number = 0;
  while (*name) number = number * 31 + (unsigned char)*name++;
  return tsl_test_turn(number, TURN_OF(2, 4));
}

/* How many inputs were run; those that cannot be read are added to *failed. */
static unsigned long replay(const char *path, unsigned long *failed) {
  int ok = replay_file(path);
  if (!ok) fprintf(stderr, "%s: cannot be read\n", path), ++*failed;
  return (unsigned long)ok;
}

int main(int argc, char **argv) {
  static const uint8_t nothing[1];
  unsigned long passed = 0, failed = 0, skipped = 0;
  if (argc != 3) return fprintf(stderr, "usage: %s LABEL FOLDER\n", argv[0]), 2;
  LLVMFuzzerTestOneInput(nothing, 0);
  passed++;
  DIR *folder = opendir(argv[2]);
  if (!folder && errno == ENOTDIR) {
    passed += replay(argv[2], &failed);
  } else if (!folder) {
    printf("  skipped: %s has no corpus folder\n", argv[1]);
    skipped++;
  }
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    char path[4096];
    if (entry->d_name[0] == '.' || !its_turn(entry->d_name)) continue;
    int n = snprintf(path, sizeof path, "%s/%s", argv[2], entry->d_name);
    if (n > 0 && (size_t)n < sizeof path)
      passed += replay(path, &failed);
    else
      failed++;
  }
  if (folder) closedir(folder);
  printf("  %s %lu inputs of %s went through\n", failed ? "FAIL" : "ok  ", passed, argv[1]);
  printf("%lu passed, %lu failed, %lu skipped\n", passed, failed, skipped);
  return failed != 0;
}
