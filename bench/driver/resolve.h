/* resolve.h - documents for absolute references, from folders: --resolve URL=DIR serves URL + rest
 * from DIR/rest.
 *
 * Limits    rest must not have ".." as a segment; a fragment is no part of it. At most
 *           BENCH_MAX_ROOTS folders. Documents stay loaded until bench_resolver_free.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_BENCH_RESOLVE_H
#define TSL_BENCH_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>

#define BENCH_MAX_ROOTS 16

typedef struct bench_root {
  const char *url; /* not NUL-terminated */
  size_t url_length;
  const char *folder;
} bench_root;

typedef struct bench_document {
  struct bench_document *next;
  char *path, *text;
  size_t length;
} bench_document;

typedef struct bench_resolver {
  bench_root roots[BENCH_MAX_ROOTS];
  size_t root_count;
  bench_document *documents;
} bench_resolver;

/* `argument` is URL=DIR and must outlive the resolver; false if it is not of that form or there are
 * too many. */
bool bench_resolver_add(bench_resolver *resolver, const char *argument);
/* A tsl_resolver; ctx is the bench_resolver. */
bool bench_resolve(void *ctx, const char *uri, const char **text, size_t *length);
void bench_resolver_free(bench_resolver *resolver);

#endif
