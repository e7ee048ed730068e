/* folder.h - the files of a folder, by how their names end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_FOLDER_H
#define TSL_TESTS_SUPPORT_FOLDER_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER_PATH 1200

/* Does a file end so, and is it to be seen? */
static inline bool folder_has(const char *name, const char *end) {
  size_t n = strlen(name), m = strlen(end);
  return name[0] != '.' && n >= m && !strcmp(name + n - m, end);
}

static inline int folder_order(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Paths of the files, sorted, `max` at most: how many there are. The caller frees each. */
static inline size_t folder_list(const char *folder, const char *end, char **paths, size_t max) {
  DIR *d = opendir(folder);
  size_t n = 0;
  for (struct dirent *e; d && n < max && (e = readdir(d));) {
    if (!folder_has(e->d_name, end) || !(paths[n] = malloc(FOLDER_PATH))) continue;
    snprintf(paths[n++], FOLDER_PATH, "%s/%.200s", folder, e->d_name);
  }
  if (d) closedir(d);
  qsort(paths, n, sizeof *paths, folder_order);
  return n;
}

/* How many there are; *path is that of the last one. */
static inline int folder_files(const char *folder, const char *end, char path[FOLDER_PATH]) {
  DIR *d = opendir(folder);
  int n = 0;
  for (struct dirent *e; d && (e = readdir(d));) {
    if (!folder_has(e->d_name, end)) continue;
    snprintf(path, FOLDER_PATH, "%s/%.200s", folder, e->d_name);
    n++;
  }
  if (d) closedir(d);
  return n;
}

#endif
