/* imports.c - %import: grammars that are built in, and those that a caller has.
 *
 * Problem   A name of another file has names of its own behind it, some of them imported in turn.
 *           The files come from whoever compiles, or are not there.
 * Idea      An import makes a module of the other file, parses it, and binds the names that are
 *           listed. In the importing module they lead to names of that module (items.c follows
 *           them). All definitions of the file are there, bound or not, as its rules need them.
 *
 * As in Lark, each grammar that imports has a copy of what it imports. A change of an imported name
 * is seen only where that copy is used. Imports wait in a list and are done one after the other,
 * however deep they go.
 *
 *   %import common.INT            the library's (library.c)
 *   %import a.b.x  .b.x           requested from the resolver: "a/b.lark", and the same beside
 *                                 a/….lark
 *
 * Tested by tests/lark/test_lark.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/items.h"

/* An import is at fault where it stands, in the text that has it. */
#define FAIL(l, i, ...) tsl__lark_fail((l), TSL_ERR_SYNTAX, (i)->module, (i)->at, __VA_ARGS__)

/* "a/b" of a path, and of the folder of who imports it if it is relative; NULL without memory. */
static char *module_name(tsl__lark *l, const tsl__limport *i, uint32_t *length) {
  const tsl__lmodule *from = &l->modules.at[i->module];
  uint32_t folder = i->relative ? from->name_length : 0;
  while (folder && from->name[folder - 1] != '/') folder--;
  *length = folder + i->parts - 1;
  for (uint32_t k = 0; k < i->parts; k++) *length += l->lists.at[i->path + 2 * k + 1];
  char *name = tsl__alloc(&l->alloc, *length + 1);
  if (!name) return tsl__lark_no_memory(l), NULL;
  char *at = name;
  if (folder) memcpy(at, from->name, folder), at += folder;
  for (uint32_t k = 0; k < i->parts; k++) {
    const uint32_t *part = &l->lists.at[i->path + 2 * k];
    if (k) *at++ = '/';
    memcpy(at, tsl__lark_text(l, i->module, part[0]), part[1]);
    at += part[1];
  }
  *at = 0;
  return name;
}

/* Is the module that file? */
static bool same_name(const tsl__lmodule *m, const char *name, uint32_t length) {
  return m->name && m->name_length == length && !memcmp(m->name, name, length);
}

/* Does it import itself, by way of others? */
static bool is_circular(const tsl__lark *l, const tsl__limport *i, const char *name,
                        uint32_t length) {
  for (uint32_t m = i->module; m != TSL__LARK_NOWHERE; m = l->modules.at[m].importer)
    if (same_name(&l->modules.at[m], name, length)) return true;
  return false;
}

/* The text of a file, from the caller. It is copied, as the resolver may take it back. */
static bool resolve(tsl__lark *l, const tsl__limport *i, tsl__lmodule *m) {
  char file[1024];
  const char *text = NULL;
  const tsl__lark_options *o = &l->options;
  if (!o->resolver)
    return FAIL(l, i, "there is no resolver to import \"%.*s.lark\" with",
                tsl__lark_shown(m->name_length), m->name);
  if (m->name_length + 6 > sizeof file) return FAIL(l, i, "the path of an import is too long");
  memcpy(file, m->name, m->name_length);
  memcpy(file + m->name_length, ".lark", 6);
  if (!o->resolver(o->resolver_ctx, file, &text, &m->length) || (!text && m->length))
    return FAIL(l, i, "no grammar is known for \"%.*s.lark\"", tsl__lark_shown(m->name_length),
                m->name);
  m->own = tsl__alloc(&l->alloc, m->length + 1); /* the resolver may take the text back */
  if (!m->own) return tsl__lark_no_memory(l);
  if (m->length) memcpy(m->own, text, m->length);
  m->own[m->length] = 0;
  m->text = m->own;
  return true;
}

/* The module that an import leads to: one that is there, or a new one; NOWHERE on failure. */
static uint32_t module_of(tsl__lark *l, const tsl__limport *i) {
  uint32_t number = (uint32_t)l->modules.n;
  tsl__lmodule m = {.importer = i->module,
                    .root = l->modules.at[i->module].root,
                    .rule = TSL__LARK_NOWHERE,
                    .first_action = TSL__LARK_NOWHERE,
                    .import_at = i->module ? l->modules.at[i->module].import_at : i->at};
  m.name = m.own_name = module_name(l, i, &m.name_length);
  if (!m.name) return TSL__LARK_NOWHERE;
  for (uint32_t k = 1; k < number; k++)
    if (l->modules.at[k].importer == i->module &&
        same_name(&l->modules.at[k], m.name, m.name_length))
      return tsl__free(&l->alloc, m.own_name, m.name_length + 1), k;
  bool fine = !is_circular(l, i, m.name, m.name_length) ||
              FAIL(l, i, "\"%.*s.lark\" imports itself", tsl__lark_shown(m.name_length), m.name);
  if (fine && number > TSL__LARK_MODULES_MAX)
    fine = tsl__lark_fail(l, TSL_ERR_LIMIT, i->module, i->at, "too many imports (limit %u)",
                          TSL__LARK_MODULES_MAX);
  m.text = fine && !i->relative ? tsl__lark_library(m.name, m.name_length) : NULL;
  if (m.text) m.length = strlen(m.text);
  if (fine && !m.text) fine = resolve(l, i, &m);
  if (fine && !tsl__vec_push(&l->alloc, &l->modules, m)) fine = tsl__lark_no_memory(l);
  if (!fine) {
    tsl__free(&l->alloc, m.own_name, m.name_length + 1);
    tsl__free(&l->alloc, m.own, m.own ? m.length + 1 : 0);
    return TSL__LARK_NOWHERE;
  }
  return tsl__lark_parse(l, number) ? number : TSL__LARK_NOWHERE;
}

/* The names of an import in the module that has it. The same import twice is no error; the same
 * name for two things is. */
static bool bind(tsl__lark *l, const tsl__limport *i, uint32_t target) {
  for (uint32_t k = 0; k < i->count; k++) {
    uint32_t at = l->lists.at[i->names + 2 * k], n = l->lists.at[i->names + 2 * k + 1];
    tsl__lname name = {.module = i->module,
                       .text_of = i->module,
                       .at = i->alias_length ? i->alias : at,
                       .length = i->alias_length ? i->alias_length : n,
                       .definition = TSL__LARK_NOWHERE,
                       .target = target,
                       .target_at = at,
                       .target_length = n};
    const char *text = tsl__lark_text(l, i->module, name.at);
    const tsl__lname *old = tsl__lark_name(l, i->module, text, name.length);
    bool again =
        old && old->target == target && old->target_length == n &&
        !memcmp(tsl__lark_text(l, i->module, old->target_at), tsl__lark_text(l, i->module, at), n);
    if (old && !again)
      return tsl__lark_fail(l, TSL_ERR_SYNTAX, i->module, name.at, "\"%.*s\" is imported twice",
                            tsl__lark_shown(name.length), text);
    if (!old && !tsl__lark_add_name(l, name)) return false;
  }
  return true;
}

/* Do all names of an import mean something? */
static bool check(tsl__lark *l, const tsl__limport *i) {
  for (uint32_t k = 0; k < i->count; k++) {
    uint32_t at = l->lists.at[i->names + 2 * k], n = l->lists.at[i->names + 2 * k + 1];
    uint32_t alias = i->alias_length ? i->alias : at;
    uint32_t def = tsl__lark_find(l, i->module, tsl__lark_text(l, i->module, alias),
                                  i->alias_length ? i->alias_length : n);
    const char *name = tsl__lark_text(l, i->module, at);
    if (def == TSL__LARK_NOWHERE)
      return tsl__lark_fail(l, TSL_ERR_SYNTAX, i->module, at,
                            "the imported grammar does not define \"%.*s\"", tsl__lark_shown(n),
                            name);
    char first =
        *tsl__lark_text(l, i->module, alias + (*tsl__lark_text(l, i->module, alias) == '_'));
    if (l->defs.at[def].terminal != (first >= 'A' && first <= 'Z'))
      return tsl__lark_fail(l, TSL_ERR_SYNTAX, i->module, alias,
                            "a rule is imported as a rule, and a terminal as a terminal");
  }
  return true;
}

/* A file that is parsed adds its own imports at the end of the list, so the loop meets them too. */
bool tsl__lark_import(tsl__lark *l) {
  for (size_t i = 0; i < l->imports.n; i++) {
    const tsl__limport import = l->imports.at[i];
    uint32_t target = module_of(l, &import);
    if (target == TSL__LARK_NOWHERE || !bind(l, &import, target) || tsl__lark_failed(l))
      return false;
  }
  if (!tsl__lark_define(l)) return false;
  for (size_t i = 0; i < l->imports.n; i++)
    if (!check(l, &l->imports.at[i])) return false;
  return true;
}
