/* rules.c - see rules.h.
 *
 * Recursion follows the nesting of a rule's body, which the parser of grammars bounds (three levels
 * for each of max_depth).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/pictures/rules.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_tree.h>

typedef struct called {
  uint32_t rule, places;
} called;

typedef struct rule {
  const char *name;
  long long line;
  called *calls;
  uint32_t count, room;
} rule;

typedef struct rules {
  rule *at;
  const rule **sorted; /* by name */
  uint32_t count;
} rules;

static yajl_val member(yajl_val object, const char *key, yajl_type type) {
  const char *path[] = {key, NULL};
  return yajl_tree_get(object, path, type);
}

static int by_name(const void *a, const void *b) {
  return strcmp((*(const rule *const *)a)->name, (*(const rule *const *)b)->name);
}

/* The rule of that name; one that is not there is no node: NULL. */
static const rule *find(const rules *all, const char *name) {
  const rule wanted = {.name = name}, *key = &wanted;
  const rule **found = bsearch(&key, all->sorted, all->count, sizeof *all->sorted, by_name);
  return found ? *found : NULL;
}

static bool add_call(rule *r, uint32_t to) {
  for (uint32_t i = 0; i < r->count; i++)
    if (r->calls[i].rule == to) return r->calls[i].places++, true;
  if (r->count == r->room) {
    uint32_t room = r->room ? r->room * 2 : 8;
    called *calls = realloc(r->calls, room * sizeof *calls);
    if (!calls) return false;
    r->calls = calls;
    r->room = room;
  }
  r->calls[r->count++] = (called){to, 1};
  return true;
}

static bool add_calls(const rules *all, rule *r, yajl_val body) {
  yajl_val items = member(body, "items", yajl_t_array), item = member(body, "item", yajl_t_object),
           name = member(body, "name", yajl_t_string);
  const rule *to = name ? find(all, YAJL_GET_STRING(name)) : NULL;
  if (to && !add_call(r, (uint32_t)(to - all->at))) return false;
  for (size_t i = 0; items && i < items->u.array.len; i++)
    if (!add_calls(all, r, items->u.array.values[i])) return false;
  return !item || add_calls(all, r, item);
}

static bool read_rules(rules *all, yajl_val list) {
  all->at = calloc(list->u.array.len + 1, sizeof *all->at);
  all->sorted = calloc(list->u.array.len + 1, sizeof *all->sorted);
  if (!all->at || !all->sorted) return false;
  for (size_t i = 0; i < list->u.array.len; i++) {
    yajl_val r = list->u.array.values[i];
    all->at[i] = (rule){.name = YAJL_GET_STRING(member(r, "name", yajl_t_string)),
                        .line = YAJL_GET_INTEGER(member(r, "line", yajl_t_number))};
    all->sorted[i] = &all->at[i];
  }
  all->count = (uint32_t)list->u.array.len;
  qsort(all->sorted, all->count, sizeof *all->sorted, by_name);
  for (uint32_t i = 0; i < all->count; i++)
    if (!add_calls(all, &all->at[i], member(list->u.array.values[i], "body", yajl_t_object)))
      return false;
  return true;
}

static void free_rules(rules *all) {
  for (uint32_t i = 0; i < all->count; i++) free(all->at[i].calls);
  free(all->at);
  free(all->sorted);
}

/* Does a way of calls lead from the rule back to it? `seen` and `stack` have room for every
 * rule. */
static bool is_recursive(const rules *all, uint32_t from, bool *seen, uint32_t *stack) {
  uint32_t n = 0;
  memset(seen, 0, all->count * sizeof *seen);
  stack[n++] = from;
  while (n) {
    const rule *r = &all->at[stack[--n]];
    for (uint32_t i = 0; i < r->count; i++) {
      uint32_t to = r->calls[i].rule;
      if (to == from) return true;
      if (seen[to]) continue;
      seen[to] = true;
      stack[n++] = to;
    }
  }
  return false;
}

static void put_rule(FILE *to, const rules *all, uint32_t i, bool recursive) {
  const rule *r = &all->at[i];
  fprintf(to, "  \"%s\" [label=\"%s\\nline %lld\"%s%s];\n", r->name, r->name, r->line,
          recursive ? ", penwidth=2.5" : "", strcmp(r->name, "root") ? "" : ", peripheries=2");
  for (uint32_t k = 0; k < r->count; k++) {
    fprintf(to, "  \"%s\" -> \"%s\"", r->name, all->at[r->calls[k].rule].name);
    if (r->calls[k].places > 1) fprintf(to, " [label=\"%" PRIu32 " times\"]", r->calls[k].places);
    fputs(";\n", to);
  }
}

static bool put_rules(FILE *to, const rules *all) {
  bool *seen = calloc(all->count + 1, sizeof *seen);
  uint32_t *stack = calloc(all->count + 1, sizeof *stack);
  bool ok = seen && stack;
  fputs("digraph rules {\n  rankdir=LR;\n  node [shape=box, style=rounded, fontname=\"monospace\", "
        "fontsize=10];\n  edge [fontname=\"monospace\", fontsize=9];\n",
        to);
  for (uint32_t i = 0; ok && i < all->count; i++)
    put_rule(to, all, i, is_recursive(all, i, seen, stack));
  fputs("}\n", to);
  free(seen);
  free(stack);
  return ok;
}

bool rules_dot(FILE *to, const char *json) {
  char why[160];
  rules all = {0};
  yajl_val tree = yajl_tree_parse(json, why, sizeof why),
           list = tree ? member(tree, "rules", yajl_t_array) : NULL;
  bool ok = list && read_rules(&all, list) && put_rules(to, &all);
  free_rules(&all);
  yajl_tree_free(tree);
  return ok;
}
