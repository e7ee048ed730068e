/* folder.h - the files of a folder, by how their names end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_FOLDER_H
#define TSL_TESTS_FOLDER_H

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#define FOLDER_PATH 512

/* How many there are; *path is that of the last one. */
static inline int folder_files(const char *folder, const char *end, char path[FOLDER_PATH]) {
  DIR *d = opendir(folder);
  int n = 0;
  for (struct dirent *e; d && (e = readdir(d));) {
    size_t length = strlen(e->d_name), m = strlen(end);
    if (length < m || strcmp(e->d_name + length - m, end)) continue;
    snprintf(path, FOLDER_PATH, "%s/%.200s", folder, e->d_name);
    n++;
  }
  if (d) closedir(d);
  return n;
}

#endif
