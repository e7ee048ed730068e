/* expr_print.c - expressions in a regex-like notation, for listings and tests.
 *
 * Notation  literals as themselves, [..] byte sets, (a|b), (a)*, (a){m,n}, (a){m,n}@ for an active
 *           loop, (a&b), !(a), <name> for rules and native automata, <[7],[9]> for one of these
 *           tokens, !<[7]> for any other, j"e" for the rest of a JSON string, j\e" after a
 *           backslash in it, j\uN:V:H e" after N digits of \u with the value V (H: the high
 *           surrogate before, or 0), {a,b} for string sets, keys{a,b} for names that the schema
 *           knows, name#N for the end of the Nth of them and then#N for what follows, ... for more
 *           strings than 8 and what is nested deeper than 200, <char> for any character. ε and ∅
 *           stand for themselves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/node.h"

#include "compiler/expr/print.h"

static void put_byte(tsl__printer *w, uint8_t b) {
  if (b == '\n')
    tsl__print_format(w, "\\n");
  else if (b < 0x20 || b >= 0x7F)
    tsl__print_format(w, "\\x%02X", b);
  else if (strchr("()[]{}|&!*<>\\", b))
    tsl__print_format(w, "\\%c", b);
  else
    tsl__print_format(w, "%c", b);
}

static void put_set(tsl__printer *w, const tsl__bytes *s) {
  tsl__print_format(w, "[");
  for (unsigned b = 0; b < 256; b++) {
    if (!tsl__bytes_has(s, b)) continue;
    unsigned end = b;
    while (end < 255 && tsl__bytes_has(s, end + 1)) end++;
    put_byte(w, (uint8_t)b);
    if (end > b + 1) tsl__print_format(w, "-");
    if (end > b) put_byte(w, (uint8_t)end);
    b = end;
  }
  tsl__print_format(w, "]");
}

static void put_bounds(tsl__printer *w, const tsl__node *n) {
  if (n->b == 0 && n->c == TSL__INF)
    tsl__print_format(w, "*");
  else if (n->c == TSL__INF)
    tsl__print_format(w, "{%u,}", n->b);
  else
    tsl__print_format(w, "{%u,%u}", n->b, n->c);
  if (n->kind == TSL__K_COUNTED) tsl__print_format(w, "@");
}

static void print(const tsl__exprs *x, tsl__expr e, tsl__printer *w, unsigned depth);

static void print_list(const tsl__exprs *x, const tsl__node *n, const char *between,
                       tsl__printer *w, unsigned depth) {
  tsl__print_format(w, "(");
  for (uint32_t i = 0; i < n->b && w->length <= w->size; i++) {
    if (i) tsl__print_format(w, "%s", between);
    print(x, tsl__list_at(x, n->a)[i], w, depth + 1);
  }
  tsl__print_format(w, ")");
}

static void print_strings(const tsl__exprs *x, const tsl__node *n, tsl__printer *w) {
  const tsl__strings *s = tsl__strings_at(x, n->a);
  tsl__print_format(w, n->kind == TSL__K_KEYS ? "keys{" : "{");
  for (uint32_t i = n->b; i < n->c; i++) {
    if (i > n->b) tsl__print_format(w, ",");
    if (i - n->b == 8) {
      tsl__print_format(w, "... %u in all", n->c - n->b);
      break;
    }
    for (uint32_t k = n->d; k < s->at[i].length; k++) put_byte(w, (uint8_t)s->at[i].at[k]);
  }
  tsl__print_format(w, "}");
}

static void print_name(const tsl__exprs *x, const tsl__node *n, tsl__printer *w) {
  char name[128] = "";
  if (n->kind == TSL__K_NATIVE) {
    const tsl__native *native = tsl__native_at(x, n->a);
    if (native->ops->print) native->ops->print(native->ctx, n->b, name, sizeof name);
  } else {
    const tsl__rule *rule = tsl__rule_at(x, n->a);
    if (rule->ops->print) rule->ops->print(rule->ctx, rule->param, name, sizeof name);
  }
  tsl__print_format(w, "<%s>", name[0] ? name : "rule");
}

/* Any character of UTF-8: known by its expression. */
static bool is_any_char(const tsl__exprs *x, tsl__expr e) {
  for (; x; x = x->parent)
    if (x->any_char == e && e != TSL__NONE) return true;
  return false;
}

static void print(const tsl__exprs *x, tsl__expr e, tsl__printer *w, unsigned depth) {
  if (w->length > w->size) return;
  if (is_any_char(x, e)) {
    tsl__print_format(w, "<char>");
    return;
  }
  if (depth > 200) {
    tsl__print_format(w, "...");
    return;
  }
  tsl__node n = tsl__node_at(x, e);
  switch ((tsl__kind)n.kind) {
  case TSL__K_NONE: tsl__print_format(w, "∅"); return;
  case TSL__K_EPS: tsl__print_format(w, "ε"); return;
  case TSL__K_BYTES: put_set(w, tsl__set_at(x, n.a)); return;
  case TSL__K_LIT:
    for (uint32_t i = 0; i < n.b && w->length <= w->size; i++)
      put_byte(w, tsl__literal_at(x, n.a)[i]);
    return;
  case TSL__K_SEQ:
    while (n.kind == TSL__K_SEQ && w->length <= w->size) {
      print(x, n.a, w, depth + 1);
      e = n.b;
      n = tsl__node_at(x, e);
    }
    print(x, e, w, depth + 1);
    return;
  case TSL__K_ALT: print_list(x, &n, "|", w, depth); return;
  case TSL__K_AND: print_list(x, &n, "&", w, depth); return;
  case TSL__K_NOT:
  case TSL__K_REPEAT:
  case TSL__K_COUNTED:
    tsl__print_format(w, n.kind == TSL__K_NOT ? "!(" : "(");
    print(x, n.a, w, depth + 1);
    tsl__print_format(w, ")");
    if (n.kind != TSL__K_NOT) put_bounds(w, &n);
    return;
  case TSL__K_NATIVE:
  case TSL__K_RULE: print_name(x, &n, w); return;
  case TSL__K_TOKEN:
    tsl__print_format(w, n.c ? "!<" : "<");
    for (uint32_t i = 0; i < n.b; i++)
      tsl__print_format(w, "%s[%u]", i ? "," : "", tsl__list_at(x, n.a)[i]);
    tsl__print_format(w, ">");
    return;
  case TSL__K_STRSET:
  case TSL__K_KEYS: print_strings(x, &n, w); return;
  case TSL__K_NAME: tsl__print_format(w, "name#%u", n.a); return;
  case TSL__K_RESUME: tsl__print_format(w, "then#%u", n.a); return;
  case TSL__K_JSTR:
  case TSL__K_JESC:
    tsl__print_format(w, n.kind == TSL__K_JSTR ? "j\"" : "j\\");
    print(x, n.a, w, depth + 1);
    tsl__print_format(w, "\"");
    return;
  case TSL__K_JHEX:
    tsl__print_format(w, "j\\u%u:%X:%X ", n.b, n.c, n.d);
    print(x, n.a, w, depth + 1);
    tsl__print_format(w, "\"");
    return;
  case TSL__KIND_COUNT: return;
  }
}

size_t tsl__expr_print(const tsl__exprs *x, tsl__expr e, char *out, size_t size) {
  tsl__printer w = {out, size, 0};
  print(x, e, &w, 0);
  return tsl__print_end(&w);
}
