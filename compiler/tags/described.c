/* described.c - the report on all schemas of a tree: those of tools, and of structural tags.
 *
 * Problem   A misspelled keyword in a tool's schema is no error, but it must be reported. The
 *           report of a schema has pointers into that schema. A caller has the whole request.
 * Idea      A compile notes of each schema where it begins in the text. That is all it does. When
 *           somebody asks for the report, the text is read again. Each value that begins where a
 *           schema does has a pointer, and the tool's name stands beside it.
 * Example   [{"name": "f", "parameters": {"requird": ["a"]}}]: one note, with the offset 28. The
 *           value there is /0/parameters, and its parent has the name "f". The report says that
 *           /0/parameters/requird of the tool "f" is no keyword.
 * Left out  Schemas that are no part of the text, as that of a custom tool, say nothing of it. A
 *           tool whose calls are written in two ways has two notes, and is reported once.
 * Cost      Some 16 bytes a schema while compiling. Asking costs a pass over the text, and the
 *           reports of the schemas.
 * Tested by tests/tools/test_described.c, tests/programs/test_tools.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "compiler/expr/node.h"
#include "compiler/tags/lower.h"

/* ---- while compiling ------------------------------------------------------------------------- */

bool tsl__tags_describe(tsl__tags_lowering *l, const tsl__tag *n, struct schema *schema) {
  if (n->detached && l->tags->text) return true;
  tsl__described d = {schema, n->schema->offset, n->tool.at != NULL};
  if (tsl__vec_push(tsl__exprs_allocator(l->x), &l->described, d)) return true;
  return tsl__expr_no_memory(l->x), false;
}

/* A grammar with a resolver keeps no text of its own. */
bool tsl__tags_keep_described(tsl__tags_lowering *l) {
  tsl__tagged *o = l->out;
  const tsl__tags *t = l->tags;
  size_t size = l->described.n * sizeof *o->described;
  if (!size) return true;
  if (!(o->described = tsl__exprs_alloc(l->x, size))) return false;
  memcpy(o->described, l->described.at, size);
  o->described_count = (uint32_t)l->described.n;
  if (!t->text || !l->captures->schema.resolver) return true;
  char *copy = tsl__exprs_alloc(l->x, t->length);
  if (!copy) return false;
  o->text = (tsl__string){memcpy(copy, t->text, t->length), (uint32_t)t->length};
  return true;
}

/* ---- when somebody asks ---------------------------------------------------------------------- */

typedef struct placing {
  const tsl__described *at; /* sorted by their offsets */
  uint32_t count;
  tsl__report *to;
  const tsl_allocator *alloc;
  TSL__VEC(char) pointer;
} placing;

static int by_offset(const void *a, const void *b) {
  const tsl__described *x = a, *y = b;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

/* The first schema that begins at `offset` or behind it; `count`: there is none. */
static uint32_t first_from(const placing *p, uint32_t offset) {
  uint32_t low = 0, high = p->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (p->at[middle].offset < offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool push(placing *p, const tsl__json *parent, uint32_t index) {
  const tsl__json *item = &parent->items[index];
  char digits[12];
  bool array = parent->kind == TSL__JSON_ARRAY;
  const char *key = array ? digits : item->key;
  size_t n = array ? (size_t)snprintf(digits, sizeof digits, "%u", index) : item->key_length;
  size_t length = 1 + tsl__json_put_token(NULL, key, n);
  if (!tsl__vec_reserve(p->alloc, &p->pointer, length)) return false;
  p->pointer.at[p->pointer.n] = '/';
  tsl__json_put_token(p->pointer.at + p->pointer.n + 1, key, n);
  p->pointer.n += length;
  return true;
}

static void add(placing *p, const tsl__described *d, const tsl__json *parent) {
  const tsl__json *name = d->tool && parent ? tsl__json_member(parent, "name") : NULL;
  tsl__string tool = {NULL, 0}, place = {p->pointer.at, (uint32_t)p->pointer.n};
  if (name && name->kind == TSL__JSON_STRING) tool = (tsl__string){name->text, name->length};
  tsl__report_add(p->to, d->schema, place, tool);
}

/* Recursion is as deep as the text, which TSL__JSON_DEPTH_MAX bounds. */
static void visit(placing *p, const tsl__json *at, const tsl__json *parent) {
  uint32_t i = first_from(p, at->offset);
  size_t length = p->pointer.n;
  if (i == p->count || p->to->failed) return;
  if (p->at[i].offset == at->offset) {
    add(p, &p->at[i], parent);
    return;
  }
  if (at->kind < TSL__JSON_ARRAY || p->at[i].offset >= at->end) return;
  for (uint32_t k = 0; k < at->length && !p->to->failed; k++) {
    if (push(p, at, k))
      visit(p, &at->items[k], at);
    else
      p->to->failed = true;
    p->pointer.n = length;
  }
}

static void add_placed(const tsl__tagged *tagged, tsl__string text, tsl__report *to) {
  placing p = {tagged->described, tagged->described_count, to, to->alloc, {NULL, 0, 0}};
  tsl__arena arena;
  tsl__json *root;
  tsl__arena_init(&arena, to->alloc);
  qsort(tagged->described, tagged->described_count, sizeof *tagged->described, by_offset);
  if (tsl__json_parse_in_place(&arena, NULL, text.at, text.length, TSL__JSON_DEPTH_MAX, &root,
                               NULL) == TSL_OK)
    visit(&p, root, NULL);
  else
    to->failed = true;
  tsl__vec_free(to->alloc, &p.pointer);
  tsl__arena_free(&arena);
}

const char *tsl__tags_report(const tsl__tagged *tagged, tsl__string text) {
  const tsl__string none = {NULL, 0};
  tsl__exprs *x = tagged->captures->x;
  tsl__report to;
  tsl__report_begin(&to, tsl__exprs_allocator(x));
  if (tagged->text.at) text = tagged->text;
  if (text.at && tagged->described_count) add_placed(tagged, text, &to);
  for (uint32_t i = 0; !text.at && i < tagged->described_count; i++)
    tsl__report_add(&to, tagged->described[i].schema, none, none);
  return tsl__report_end(&to, &x->arena);
}
