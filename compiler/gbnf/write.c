/* write.c - the rules of a GBNF grammar as JSON, for those who draw them.
 *
 *   {"rules": [{"name": "root", "line": 1, "body": NODE}]}
 *   NODE   {"kind": "literal" | "class" | "token", "text": in GBNF notation} | {"kind": "any"} |
 *          {"kind": "empty"} | {"kind": "rule", "name": "…"} | {"kind": "sequence" | "choice",
 *          "items": [NODE, …]} | {"kind": "repeat", "item": NODE, "min": m, "max": n or null}
 *
 * The rules are as written, except for what the parser has changed. A negated class is kept as its
 * ranges; it counts as negated if these hold nearly all characters. Depth of recursion: the nesting
 * of groups and quantifiers, which the parser bounds. Tested by tests/gbnf/test_gbnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/gbnf/ast.h"
#include "compiler/json/out.h"
#include "runtime/vocab/vocab.h"

#define NESTING_MAX 512

typedef struct writer {
  tsl__gbnf *g;
  tsl__out out;
} writer;

static void put(writer *w, const char *text, size_t n) { tsl__out_put(&w->out, text, n); }
static void word(writer *w, const char *text) { tsl__out_string(&w->out, text); }

static void number(writer *w, uint32_t n) {
  char text[16];
  snprintf(text, sizeof text, "%u", n);
  word(w, text);
}

/* GBNF notation has no control characters. */
static void string(writer *w, const char *text, size_t n) {
  word(w, "\"");
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '"' || text[i] == '\\') word(w, "\\");
    put(w, &text[i], 1);
  }
  word(w, "\"");
}

/* A node in GBNF notation. `skip`: characters left out at the beginning, in whose place `before`
 * stands. */
static void notation(writer *w, const char *kind, uint32_t node, const char *before, size_t skip) {
  size_t n = tsl__gbnf_print(w->g, node, NULL, 0), there = strlen(before);
  char *text = tsl__alloc(w->out.alloc, there + n + 1);
  w->out.failed = w->out.failed || !text;
  if (!text) return;
  tsl__gbnf_print(w->g, node, text + there, n + 1);
  memmove(text + there, text + there + skip, n - skip + 1);
  memcpy(text, before, there);
  word(w, "{\"kind\":\"");
  word(w, kind);
  word(w, "\",\"text\":");
  string(w, text, there + n - skip);
  word(w, "}");
  tsl__free(w->out.alloc, text, there + n + 1);
}

/* A class of the characters between its ranges, where it begins with the first and ends with the
 * last there is; else 0. */
static uint32_t complement(writer *w, tsl__gnode n) {
  tsl__gbnf *g = w->g;
  if (n.b < 2 || g->ranges.at[n.a].lo != 0 || g->ranges.at[n.a + n.b - 1].hi != TSL__CP_MAX)
    return 0;
  uint32_t first = (uint32_t)g->ranges.n;
  for (uint32_t i = 0; i + 1 < n.b; i++) {
    tsl__range gap = {g->ranges.at[n.a + i].hi + 1, g->ranges.at[n.a + i + 1].lo - 1};
    if (!tsl__vec_push(&g->alloc, &g->ranges, gap)) return w->out.failed = true, 0;
  }
  uint32_t node = tsl__gbnf_node(g, TSL__G_CLASS, first, n.b - 1, 0);
  w->out.failed = w->out.failed || g->no_memory;
  return node;
}

static void put_node(writer *w, uint32_t node);

static void put_items(writer *w, tsl__gnode n) {
  word(w, n.kind == TSL__G_SEQ ? "{\"kind\":\"sequence\",\"items\":["
                               : "{\"kind\":\"choice\",\"items\":[");
  for (uint32_t i = 0; i < n.b && !w->out.failed; i++) {
    if (i) word(w, ",");
    put_node(w, w->g->lists.at[n.a + i]);
  }
  word(w, "]}");
}

static void put_repeat(writer *w, tsl__gnode n) {
  word(w, "{\"kind\":\"repeat\",\"item\":");
  put_node(w, n.a);
  word(w, ",\"min\":");
  number(w, n.b);
  word(w, ",\"max\":");
  if (n.c == TSL__INF)
    word(w, "null");
  else
    number(w, n.c);
  word(w, "}");
}

static void put_class(writer *w, uint32_t node, tsl__gnode n) {
  uint32_t others = complement(w, n);
  if (others)
    notation(w, "class", others, "[^", 1);
  else
    notation(w, "class", node, "", 0);
}

static void put_reference(writer *w, tsl__gnode n) {
  word(w, "{\"kind\":\"rule\",\"name\":");
  string(w, w->g->rules.at[n.a].name, w->g->rules.at[n.a].name_length);
  word(w, "}");
}

static void put_node(writer *w, uint32_t node) {
  tsl__gnode n = w->g->nodes.at[node];
  switch ((tsl__gkind)n.kind) {
  case TSL__G_EMPTY: word(w, "{\"kind\":\"empty\"}"); break;
  case TSL__G_LITERAL: notation(w, "literal", node, "", 0); break;
  case TSL__G_CLASS: put_class(w, node, n); break;
  case TSL__G_ANY: word(w, "{\"kind\":\"any\"}"); break;
  case TSL__G_TOKEN: notation(w, "token", node, "", 0); break;
  case TSL__G_TOKENS:
  case TSL__G_EXPR: notation(w, "literal", node, "", 0); break; /* no GBNF text has one */
  case TSL__G_REF: put_reference(w, n); break;
  case TSL__G_SEQ:
  case TSL__G_ALT: put_items(w, n); break;
  case TSL__G_REPEAT: put_repeat(w, n); break;
  case TSL__G_PLUS: put_node(w, n.a); break; /* only passes that did not run make it */
  }
}

static void put_rules(writer *w) {
  word(w, "{\"rules\":[");
  for (uint32_t i = 0; i < w->g->rules.n && !w->out.failed; i++) {
    const tsl__grule *r = &w->g->rules.at[i];
    word(w, i ? ",{\"name\":" : "{\"name\":");
    string(w, r->name, r->name_length);
    word(w, ",\"line\":");
    number(w, r->line);
    word(w, ",\"body\":");
    put_node(w, r->body);
    word(w, "}");
  }
  word(w, "]}");
  put(w, "", 1);
}

tsl_status tsl_gbnf_write(tsl_vocab *vocab, const char *text, size_t length, tsl_line_sink sink,
                          void *ctx, tsl_error *error) {
  tsl__exprs *x;
  if (!vocab || (!text && length) || !sink)
    return tsl__fail(error, TSL_ERR_ARGUMENT, "a vocabulary, a text and a sink are needed");
  tsl_status status = tsl__exprs_new(NULL, &vocab->alloc, NULL, &x);
  if (status != TSL_OK) return tsl__fail(error, status, "out of memory");
  writer w = {.out.alloc = &vocab->alloc};
  status = tsl__gbnf_parse(x, vocab, text, length, NESTING_MAX, &w.g, error);
  if (status == TSL_OK) put_rules(&w);
  if (w.out.failed)
    status = tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  else if (status == TSL_OK)
    sink(ctx, w.out.text.at);
  tsl__vec_free(w.out.alloc, &w.out.text);
  tsl__exprs_free(x);
  return status;
}
