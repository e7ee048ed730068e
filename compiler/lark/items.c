/* items.c - nodes, names and failures of a Lark grammar as it was read.
 *
 * Problem   A grammar is many texts: its own, imported ones, those in a list, those in braces. Each
 *           pass makes nodes, looks up names and may fail, in any of them.
 * Idea      A place is a module and an offset in its text. Whoever fails says the place; here it
 *           becomes a line and a column of the text that the caller knows.
 * Places    A place in the caller's own text is said as it is. Of another text the caller sees the
 *           place where it came in (its %import, its item of the list). The message has the line
 *           and the column within. Braces nest modules over one text: the outermost is meant.
 * Example   %import a.b.x stands in line 3, and line 7 of a/b.lark has an error. The error is at
 *           line 3, and its message begins with "in the imported b.lark, line 7, column 2: ".
 * Names     One hash table for all modules, the module being part of the key. An imported name
 *           leads to a name of another module, and so on. That takes as many steps as there are
 *           modules at most, since a cycle of imports would come back to a module.
 * Trees     A node knows the number of levels below it. So a pass that recurses is bounded by what
 *           the parser has bounded (max_depth).
 * Failure   The first one stays. A failure of the expressions (a limit, a deadline) becomes one of
 *           the grammar when a pass looks next (tsl__lark_failed).
 *
 * Tested by tests/lark/test_lark.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/items.h"

#include <stdarg.h>
#include <stdio.h>

bool tsl__lark_fail(tsl__lark *l, tsl_status status, uint32_t module, size_t at, const char *format,
                    ...) {
  char message[256];
  va_list arguments;
  if (l->status) return false;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  while (l->modules.at[module].around) module = l->modules.at[module].around;
  const tsl__lmodule *m = &l->modules.at[module], *top = &l->modules.at[0];
  if (module == 0 || m->text == top->text) {
    l->status = tsl__fail_at(l->error, status, m->text, m->length, at, "%s", message);
    return false;
  }
  tsl_error inner;
  tsl__fail_at(&inner, status, m->text, m->length, at, "%s", message);
  const char *of = m->name ? m->name : m->label.at ? m->label.at : "first";
  uint32_t length = m->name ? m->name_length : m->label.at ? m->label.length : 5;
  l->status = tsl__fail_at(l->error, status, top->text, top->length, m->import_at,
                           m->name ? "in the imported %.*s.lark, line %u, column %u: %s"
                                   : "in the grammar %.*s, line %u, column %u: %s",
                           tsl__lark_shown(length), of, inner.line, inner.column, message);
  return false;
}

bool tsl__lark_no_memory(tsl__lark *l) {
  if (!l->status) l->status = tsl__fail(l->error, TSL_ERR_NO_MEMORY, "out of memory");
  return false;
}

/* Into a JSON string, if `quoted`; control characters of the grammar's text become spaces. */
static bool put_report(tsl__lark *l, const char *text, size_t length, bool quoted) {
  bool fine = true;
  for (size_t i = 0; fine && i < length; i++) {
    unsigned char c = (unsigned char)text[i];
    if (quoted && (c == '"' || c == '\\')) fine = tsl__vec_push(&l->alloc, &l->report, '\\');
    fine = fine && tsl__vec_push(&l->alloc, &l->report, (char)(quoted && c < 0x20 ? ' ' : c));
  }
  return fine || tsl__lark_no_memory(l);
}

bool tsl__lark_note(tsl__lark *l, uint32_t module, uint32_t at, const char *keyword,
                    const char *reason, const char *what, uint32_t length) {
  char text[256];
  tsl_error place;
  const tsl__lmodule *m = &l->modules.at[module];
  tsl__fail_at(&place, TSL_OK, m->text, m->length, at, "%s", "");
  snprintf(text, sizeof text,
           "%s{\"pointer\": \"\", \"keyword\": \"%s\", \"status\": \"no effect\", \"reason\": "
           "\"line %u, column %u: %s: ",
           l->report.n ? ", " : "", keyword, place.line, place.column, reason);
  return put_report(l, text, strlen(text), false) &&
         put_report(l, what, (size_t)tsl__lark_shown(length), true) &&
         put_report(l, "\"}", 2, false);
}

bool tsl__lark_failed(tsl__lark *l) {
  if (!l->status && tsl__exprs_status(l->x) != TSL_OK)
    l->status = tsl__fail(l->error, tsl__exprs_status(l->x), "%s", tsl__exprs_why(l->x));
  return l->status != TSL_OK;
}

uint32_t tsl__lark_node(tsl__lark *l, tsl__lkind kind, uint32_t at, uint32_t a, uint32_t b,
                        uint32_t c) {
  tsl__lnode node = {.kind = (uint8_t)kind, .a = a, .b = b, .c = c, .at = at};
  if (kind == TSL__L_REPEAT || kind == TSL__L_NOT || kind == TSL__L_IF)
    node.height = l->nodes.at[a].height + 1;
  if (kind == TSL__L_SEQ || kind == TSL__L_ALT || kind == TSL__L_AND)
    for (uint32_t i = 0; i < b; i++) {
      uint32_t height = l->nodes.at[l->lists.at[a + i]].height + 1;
      if (height > node.height) node.height = height;
    }
  /* and its part of reading the text */
  if (!tsl__exprs_work(l->x, 8)) return tsl__lark_failed(l), 0;
  if (l->nodes.n > INT32_MAX || !tsl__vec_push(&l->alloc, &l->nodes, node)) {
    tsl__lark_no_memory(l);
    return 0;
  }
  return (uint32_t)l->nodes.n - 1;
}

uint32_t tsl__lark_list(tsl__lark *l, tsl__lkind kind, uint32_t at, const uint32_t *items,
                        size_t count) {
  uint32_t first = (uint32_t)l->lists.n;
  if (count == 0) return 0;
  if (count == 1) return items[0];
  for (size_t i = 0; i < count; i++)
    if (!tsl__vec_push(&l->alloc, &l->lists, items[i])) {
      tsl__lark_no_memory(l);
      return 0;
    }
  return tsl__lark_node(l, kind, at, first, (uint32_t)count, 0);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

uint32_t tsl__lark_token(tsl__lark *l, uint32_t module, uint32_t at, uint32_t length) {
  const char *name = tsl__lark_text(l, module, at);
  size_t count = 0;
  if (!l->vocab)
    return tsl__lark_fail(l, TSL_ERR_SYNTAX, module, at, "a token by name needs a vocabulary"), 0;
  tsl_token id = tsl_vocab_find_special(l->vocab, name, length);
  if (id != TSL_NO_TOKEN) return id;
  if (tsl_vocab_encode(l->vocab, name, length, TSL_ENCODE_SPECIAL, &id, 1, &count) || count != 1)
    tsl__lark_fail(l, TSL_ERR_SYNTAX, module, at, "%.*s is not one token of the vocabulary",
                   tsl__lark_shown(length), name);
  return id;
}

/* ---- names ----------------------------------------------------------------------------------- */

static uint64_t hash_of(uint32_t module, const char *name, uint32_t length) {
  return tsl__hash(name, length) + tsl__mix(module);
}

tsl__lname *tsl__lark_name(tsl__lark *l, uint32_t module, const char *name, uint32_t length) {
  tsl__index_iter it = tsl__index_first(&l->by_name, hash_of(module, name, length));
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    tsl__lname *n = &l->names.at[i];
    if (n->module == module && n->length == length &&
        !memcmp(tsl__lark_text(l, n->text_of, n->at), name, length))
      return n;
  }
  return NULL;
}

bool tsl__lark_add_name(tsl__lark *l, tsl__lname name) {
  uint64_t hash = hash_of(name.module, tsl__lark_text(l, name.text_of, name.at), name.length);
  return (tsl__vec_push(&l->alloc, &l->names, name) &&
          tsl__index_add(&l->by_name, &l->alloc, hash, (uint32_t)l->names.n - 1)) ||
         tsl__lark_no_memory(l);
}

/* Follows imports of imports. */
uint32_t tsl__lark_find(tsl__lark *l, uint32_t module, const char *name, uint32_t length) {
  for (size_t steps = 0; steps <= l->modules.n; steps++) {
    const tsl__lname *n = tsl__lark_name(l, module, name, length);
    if (!n) return TSL__LARK_NOWHERE;
    if (n->definition != TSL__LARK_NOWHERE) return n->definition;
    module = n->target;
    name = tsl__lark_text(l, n->text_of, n->target_at);
    length = n->target_length;
  }
  return TSL__LARK_NOWHERE;
}

void tsl__lark_free(tsl__lark *l) {
  const tsl_allocator *a = &l->alloc;
  for (size_t i = 0; i < l->modules.n; i++) {
    tsl__lmodule *m = &l->modules.at[i];
    tsl__free(a, m->own, m->own ? m->length + 1 : 0);
    tsl__free(a, m->own_name, m->own_name ? m->name_length + 1 : 0);
  }
  tsl__vec_free(a, &l->nodes);
  tsl__vec_free(a, &l->lists);
  tsl__vec_free(a, &l->bytes);
  tsl__vec_free(a, &l->params);
  tsl__vec_free(a, &l->bodies);
  tsl__vec_free(a, &l->defs);
  tsl__vec_free(a, &l->modules);
  tsl__vec_free(a, &l->imports);
  tsl__vec_free(a, &l->actions);
  tsl__vec_free(a, &l->names);
  tsl__vec_free(a, &l->ignores);
  tsl__vec_free(a, &l->params64);
  tsl__vec_free(a, &l->marks);
  tsl__vec_free(a, &l->lexemes);
  tsl__vec_free(a, &l->tokens);
  tsl__vec_free(a, &l->report);
  tsl__arena_free(&l->arena);
  tsl__index_free(&l->by_name, a);
  tsl__index_free(&l->by_leaf, a);
}
