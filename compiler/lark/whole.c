/* whole.c - a terminal as one regular expression, where its parts look around.
 *
 * Problem   ESCAPED_STRING: "\"" _INNER /(?<!\\)(\\\\)*?/ "\"" has a look-behind that sees the part
 *           before it. A part that is compiled alone cannot know what stands there.
 * Idea      A part that its own text does not decide is left open. The terminal that holds it is
 *           written out as one pattern, the terminals in it included, and compiled as a whole. If
 *           that does not decide it either, the terminal is open in its turn, for those that use
 *           it. An open terminal in a rule is an error.
 * Example   the terminal above is written  (?:\u{22})(?:[^\n]*?)(?:(?<!\u{5C})(?:...)*?)(?:\u{22})
 * Limits    parts inside one another: DEPTH_MAX; `&`, `~`, %regex and tokens are not written
 * Tested by tests/lark/test_lark.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/items.h"
#include "compiler/regex/regex.h"

#include <stdio.h>

#define DEPTH_MAX 200u
#define CHARS_MAX 1000000u /* of one pattern */

typedef struct writer {
  tsl__lark *l;
  tsl__lark_chars *out;
  uint8_t traits;
} writer;

static bool put(writer *w, const char *text) {
  size_t n = strlen(text);
  if (w->out->n + n > CHARS_MAX) return false;
  if (!tsl__vec_reserve(&w->l->alloc, w->out, n)) return tsl__lark_no_memory(w->l);
  memcpy(w->out->at + w->out->n, text, n);
  w->out->n += n;
  return true;
}

static bool put_char(writer *w, uint32_t cp) {
  char text[16];
  snprintf(text, sizeof text, "\\u{%X}", (unsigned)cp);
  return put(w, text);
}

static bool literal(writer *w, const tsl__lnode *n) {
  size_t at = n->a, end = n->a + (size_t)n->b;
  if (!put(w, n->c & TSL__LARK_I ? "(?i:" : "(?:")) return false;
  while (at < end) {
    uint32_t cp = 0;
    unsigned length = tsl__utf8_decode(w->l->bytes.at + at, end - at, &cp);
    if (!length || !put_char(w, cp)) return false;
    at += length;
  }
  return put(w, ")");
}

static void join(writer *w, uint8_t traits) {
  bool late = w->traits & TSL__LARK_LAZY && traits & TSL__LARK_VARIABLE;
  w->traits |= (uint8_t)(traits | (late ? TSL__LARK_LATE : 0));
}

static bool pattern(writer *w, uint32_t module, const tsl__lnode *n) {
  uint8_t traits = 0;
  const uint8_t *text = w->l->bytes.at + n->a;
  if (!put(w, "(?:")) return false;
  size_t before = w->out->n;
  if (!tsl__lark_pattern(w->l, module, n->at, text, n->b, n->c, w->out, &traits)) return false;
  /* (?i) stands at the beginning of a pattern only */
  if (w->out->n - before >= 4 && !memcmp(w->out->at + before, "(?i)", 4)) return false;
  join(w, traits);
  return put(w, ")");
}

static bool write_node(writer *w, uint32_t module, uint32_t node, uint32_t depth);

static bool write_terminal(writer *w, const tsl__ldef *d, uint32_t depth) {
  if (!put(w, "(?:")) return false;
  for (uint32_t b = d->body; b != TSL__LARK_NOWHERE; b = w->l->bodies.at[b].next) {
    const tsl__lbody body = w->l->bodies.at[b];
    if (b != d->body && !put(w, "|")) return false;
    if (!write_node(w, body.module, body.node, depth)) return false;
  }
  return put(w, ")");
}

static bool write_list(writer *w, uint32_t module, const tsl__lnode *n, uint32_t depth) {
  if (!put(w, "(?:")) return false;
  for (uint32_t i = 0; i < n->b; i++) {
    if (i && n->kind == TSL__L_ALT && !put(w, "|")) return false;
    if (!write_node(w, module, w->l->lists.at[n->a + i], depth)) return false;
  }
  if (n->kind == TSL__L_ALT) w->traits |= TSL__LARK_VARIABLE;
  return put(w, ")");
}

static bool write_repeat(writer *w, uint32_t module, const tsl__lnode *n, uint32_t depth) {
  char counts[32];
  if (!put(w, "(?:") || !write_node(w, module, n->a, depth)) return false;
  if (n->c == TSL__INF)
    snprintf(counts, sizeof counts, "){%u,}", n->b);
  else
    snprintf(counts, sizeof counts, "){%u,%u}", n->b, n->c);
  if (n->b != n->c) join(w, TSL__LARK_VARIABLE);
  return put(w, counts);
}

/* Depth: of this recursion, names included. */
static bool write_node(writer *w, uint32_t module, uint32_t node, uint32_t depth) {
  const tsl__lnode n = w->l->nodes.at[node];
  tsl__exprs_work(w->l->x, 1);
  if (depth > DEPTH_MAX || tsl__lark_failed(w->l)) return false;
  switch ((tsl__lkind)n.kind) {
  case TSL__L_EMPTY: return true;
  case TSL__L_LITERAL: return literal(w, &n);
  case TSL__L_RANGE:
    return put(w, "[") && put_char(w, n.a) && put(w, "-") && put_char(w, n.b) && put(w, "]");
  case TSL__L_PATTERN: return pattern(w, module, &n);
  case TSL__L_NAME: {
    uint32_t def = tsl__lark_find(w->l, module, tsl__lark_text(w->l, module, n.at), n.a);
    return write_terminal(w, &w->l->defs.at[def], depth + 1);
  }
  case TSL__L_SEQ:
  case TSL__L_ALT: return write_list(w, module, &n, depth + 1);
  case TSL__L_REPEAT: return write_repeat(w, module, &n, depth + 1);
  default: return false;
  }
}

bool tsl__lark_whole(tsl__lark *l, const tsl__ldef *d, tsl__expr *out, uint8_t *traits) {
  static const tsl__regex_flags flags = {.within = true};
  tsl__lark_chars chars = {0};
  writer w = {.l = l, .out = &chars};
  tsl_error error;
  tsl_status status = TSL_ERR_UNSUPPORTED;
  if (write_terminal(&w, d, 0))
    status = tsl__regex_compile(l->x, chars.at, chars.n, &flags, out, &error);
  tsl__vec_free(&l->alloc, &chars);
  if (status == TSL_ERR_NO_MEMORY) tsl__lark_no_memory(l);
  *traits = w.traits;
  return status == TSL_OK;
}
