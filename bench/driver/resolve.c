/* resolve.c - see resolve.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/driver/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool bench_resolver_add(bench_resolver *resolver, const char *argument) {
  const char *equals = strrchr(argument, '=');
  if (!equals || equals == argument || !equals[1] || resolver->root_count == BENCH_MAX_ROOTS)
    return false;
  resolver->roots[resolver->root_count++] =
      (bench_root){argument, (size_t)(equals - argument), equals + 1};
  return true;
}

/* Is ".." one of the segments of a path? */
static bool climbs(const char *path, size_t length) {
  for (size_t i = 0; i + 1 < length; i++)
    if (path[i] == '.' && path[i + 1] == '.' && (i == 0 || path[i - 1] == '/') &&
        (i + 2 == length || path[i + 2] == '/'))
      return true;
  return false;
}

/* The file that a URI means, allocated; NULL if no root has it. */
static char *path_of(const bench_resolver *resolver, const char *uri) {
  size_t length = strcspn(uri, "#");
  for (size_t i = 0; i < resolver->root_count; i++) {
    const bench_root *root = &resolver->roots[i];
    if (length < root->url_length || memcmp(uri, root->url, root->url_length) != 0) continue;
    const char *rest = uri + root->url_length;
    size_t rest_length = length - root->url_length, folder_length = strlen(root->folder);
    if (climbs(rest, rest_length)) continue;
    char *path = malloc(folder_length + 1 + rest_length + 1);
    if (path) sprintf(path, "%s/%.*s", root->folder, (int)rest_length, rest);
    return path;
  }
  return NULL;
}

static bool read_whole(const char *path, char **text, size_t *length) {
  FILE *file = fopen(path, "rb");
  size_t cap = 1 << 16, n = 0, got;
  char *buffer = file ? malloc(cap) : NULL;
  while (buffer && (got = fread(buffer + n, 1, cap - n, file)) > 0) {
    n += got;
    if (n < cap) continue;
    char *larger = realloc(buffer, cap *= 2);
    if (!larger) free(buffer);
    buffer = larger;
  }
  bool ok = buffer && !ferror(file);
  if (file) fclose(file);
  if (!ok) {
    free(buffer);
    return false;
  }
  *text = buffer;
  *length = n;
  return true;
}

/* The document at a path, loaded now or before; takes the path over. */
static const bench_document *load(bench_resolver *resolver, char *path) {
  for (bench_document *d = resolver->documents; d; d = d->next)
    if (!strcmp(d->path, path)) {
      free(path);
      return d;
    }
  bench_document *d = calloc(1, sizeof *d);
  if (!d || !read_whole(path, &d->text, &d->length)) {
    free(d);
    free(path);
    return NULL;
  }
  d->path = path;
  d->next = resolver->documents;
  return resolver->documents = d;
}

bool bench_resolve(void *ctx, const char *uri, const char **text, size_t *length) {
  char *path = path_of(ctx, uri);
  const bench_document *d = path ? load(ctx, path) : NULL;
  if (!d) return false;
  *text = d->text;
  *length = d->length;
  return true;
}

void bench_resolver_free(bench_resolver *resolver) {
  while (resolver->documents) {
    bench_document *d = resolver->documents;
    resolver->documents = d->next;
    free(d->path);
    free(d->text);
    free(d);
  }
}
