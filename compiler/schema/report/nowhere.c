/* nowhere.c - references that lead nowhere: which definition was meant.
 *
 * Problem   "#/$defs/address" leads nowhere, and a reader of the message has to compare it with a
 *           hundred definitions.
 * Idea      What stands behind the folder in the reference is a name. It is sought in `$defs` and
 *           in `definitions`: as it stands, with its slashes, and at last the one most like it.
 * Example   With the definitions Address and a/b, "#/$defs/address" means "#/$defs/Address", and
 *           "#/$defs/a/b" means "#/$defs/a~1b".
 * Cost      One look at the definitions, on the way to an error.
 * Tested by tests/schema/test_schema_report.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/schema/goal.h"
#include "compiler/schema/report/doubts.h"
#include "compiler/schema/report/words.h"

static const char *const folders[] = {"$defs", "definitions"};

static const tsl__json *definitions(const tsl__json *root, size_t folder) {
  const tsl__json *all =
      root->kind == TSL__JSON_OBJECT ? tsl__json_member(root, folders[folder]) : NULL;
  return all && all->kind == TSL__JSON_OBJECT ? all : NULL;
}

/* The definition of that name, or the one most like it; NULL: there is none. */
static const tsl__json *definition(const tsl__json *root, const char *name, uint32_t n, bool like,
                                   const char **folder) {
  const tsl__json *found = NULL;
  for (size_t i = 0; i < 2 && !found; i++) {
    const tsl__json *all = definitions(root, i);
    if (all) found = like ? tsl__schema_nearest(all, name, n) : tsl__json_get(all, name, n);
    *folder = folders[i];
  }
  return found;
}

/* What stands behind "#/$defs/" and the like; the whole text without such a beginning. */
static const char *behind_folder(const tsl__json *reference, uint32_t *n) {
  const char *text = reference->text, *end = text + reference->length;
  if (text < end && *text == '#') text++;
  if (text < end && *text == '/') text++;
  for (size_t i = 0; i < 2; i++) {
    const size_t m = strlen(folders[i]);
    if ((size_t)(end - text) <= m + 1 || memcmp(text, folders[i], m) != 0 || text[m] != '/')
      continue;
    text += m + 1;
    break;
  }
  *n = (uint32_t)(end - text);
  return text;
}

bool tsl__schema_means_here(const struct schema *s, uint32_t resource, const tsl__json *reference) {
  const tsl__json *root = s->resources.at[resource].root;
  const char *folder;
  uint32_t n;
  const char *name = behind_folder(reference, &n);
  if (*s->resources.at[resource].uri || s->options.resolver ||
      memchr(reference->text, '#', reference->length))
    return false;
  return (n < reference->length || !memchr(name, '/', n)) &&
         definition(root, name, n, false, &folder);
}

bool tsl__schema_fail_nowhere(struct schema *s, const tsl__json *reference, uint32_t resource) {
  const tsl__json *root = s->resources.at[resource].root, *meant;
  const char *text = reference->text, *name = text + reference->length, *folder;
  uint32_t n;
  char token[2 * TSL__NAME_SHOWN + 2];
  const char *whole = behind_folder(reference, &n);
  while (name > text && name[-1] != '/' && name[-1] != '#') name--;
  const uint32_t last = (uint32_t)(text + reference->length - name);
  meant = n ? definition(root, whole, n, false, &folder) : NULL;
  if (!meant && last) meant = definition(root, name, last, false, &folder);
  if (!meant && last) meant = definition(root, name, last, true, &folder);
  if (meant && meant->key_length <= TSL__NAME_SHOWN) {
    const size_t m = tsl__json_put_token(token, meant->key, meant->key_length);
    tsl__schema_fail(s, TSL_ERR_SCHEMA, reference,
                     "the reference \"%.*s\" leads nowhere: is \"#/%s/%.*s\" meant?",
                     tsl__shown(text, reference->length, TSL__NAME_SHOWN), text, folder, (int)m,
                     token);
  } else {
    tsl__schema_fail(s, TSL_ERR_SCHEMA, reference, "the reference \"%.*s\" leads nowhere",
                     tsl__shown(text, reference->length, 2 * TSL__NAME_SHOWN), text);
  }
  return false;
}
