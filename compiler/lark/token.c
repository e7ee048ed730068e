/* token.c - the terminals that a lexer knows, in its order, and their texts behind a bar.
 *
 * Problem   lexer.h says what a lexer takes. Which terminals are one must be as in Lark. Two rules
 *           that write "if" speak of one terminal, and a terminal that is named with the same
 *           notation is that one, too. The order of terminals must be Lark's as well, as the lexer
 *           takes the first one that matches.
 * Idea      Terminals become tokens: one for each name, and one for each string or regular
 *           expression without a name. In Lark's order they become pieces: the token, its texts
 *           that no earlier token spoils, and the texts that would be longer. A row has the texts
 *           of a token behind a bar, and what is ignored after it, in a cell for each bar behind
 *           them. Rows are made when they are needed, and kept.
 * Example   IF: "if"    NAME: /[a-z]+/    %ignore " "
 *           IF is a keyword of NAME. The pieces are (NAME, [a-z]+ without if, longer [a-z]+), (IF,
 *           if, longer [a-z]+) and the blank. The row of IF, without a bar before it, has two
 *           cells. One is "if" before the bar [a-z]. The other is "if " before no bar.
 * Cost      Tokens are compared in pairs, but only those that share a first byte are looked at.
 * Tested by tests/lark/test_lexers.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/lexer.h"

#include <stdlib.h>

static bool fail_at(tsl__lark *l, const tsl__ltoken *t, tsl_status status, const char *why) {
  return tsl__lark_fail(l, status, t->module, t->at, "with this lexer terminal \"%.*s\" %s",
                        tsl__lark_shown(t->length), tsl__lark_text(l, t->module, t->at), why);
}

/* ---- which terminal -------------------------------------------------------------------------- */

/* The node that a name of terminals leads to in the end. */
static uint32_t leaf_of(tsl__lark *l, uint32_t module, uint32_t node) {
  while (l->nodes.at[node].kind == TSL__L_NAME) {
    const tsl__lnode *n = &l->nodes.at[node];
    uint32_t def = tsl__lark_find(l, module, tsl__lark_text(l, module, n->at), n->a);
    const tsl__lbody *b = &l->bodies.at[l->defs.at[def].body];
    if (b->next != TSL__LARK_NOWHERE) break;
    module = b->module;
    node = b->node;
  }
  return node;
}

/* Are they the same string, or the same regular expression? */
static bool same(const tsl__lark *l, uint32_t first, uint32_t second) {
  const tsl__lnode *a = &l->nodes.at[first], *b = &l->nodes.at[second];
  bool leaf = a->kind == TSL__L_LITERAL || a->kind == TSL__L_PATTERN;
  if (a->kind == TSL__L_RANGE) return b->kind == a->kind && a->a == b->a && a->b == b->b;
  return leaf && a->kind == b->kind && a->b == b->b && a->c == b->c &&
         !memcmp(l->bytes.at + a->a, l->bytes.at + b->a, a->b);
}

/* What equal strings and regular expressions have in common. */
static uint64_t hash_of_leaf(const tsl__lark *l, uint32_t node) {
  const tsl__lnode *n = &l->nodes.at[node];
  if (n->kind == TSL__L_RANGE) return tsl__mix(((uint64_t)n->a << 32) + n->b);
  if (n->kind != TSL__L_LITERAL && n->kind != TSL__L_PATTERN) return 0;
  return tsl__mix(tsl__hash(l->bytes.at + n->a, n->b) + n->c * 2 + n->kind);
}

/* Definitions that are one string or regular expression, by that. */
static bool index_definitions(tsl__lark *l) {
  l->leaves_known = true;
  for (uint32_t i = 0; i < l->defs.n; i++) {
    const tsl__ldef *d = &l->defs.at[i];
    if (!d->terminal || d->body == TSL__LARK_NOWHERE) continue;
    const tsl__lbody *b = &l->bodies.at[d->body];
    if (b->next != TSL__LARK_NOWHERE) continue;
    uint64_t hash = hash_of_leaf(l, leaf_of(l, b->module, b->node));
    if (hash && !tsl__index_add(&l->by_leaf, &l->alloc, hash, i)) return tsl__lark_no_memory(l);
  }
  return tsl__exprs_work(l->x, l->defs.n);
}

/* A definition whose body is that string or regular expression: Lark takes the last one. */
static uint32_t named_like(tsl__lark *l, uint32_t node) {
  uint32_t found = TSL__LARK_NOWHERE;
  if (!l->leaves_known && !index_definitions(l)) return found;
  tsl__index_iter it = tsl__index_first(&l->by_leaf, hash_of_leaf(l, node));
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__lbody *b = i < l->defs.n ? &l->bodies.at[l->defs.at[i].body] : NULL;
    if (b && same(l, node, leaf_of(l, b->module, b->node)) &&
        (found == TSL__LARK_NOWHERE || i > found))
      found = i;
  }
  return found;
}

/* The token without a name that is that string or regular expression, or NOWHERE. */
static uint32_t known_like(tsl__lark *l, uint32_t node) {
  tsl__index_iter it = tsl__index_first(&l->by_leaf, hash_of_leaf(l, node));
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;)
    if (i >= l->defs.n && same(l, node, l->tokens.at[i - l->defs.n].leaf))
      return i - (uint32_t)l->defs.n;
  return TSL__LARK_NOWHERE;
}

static uint32_t add_token(tsl__lark *l, tsl__ltoken made, uint32_t module, uint32_t node) {
  uint32_t least;
  made.leaf = leaf_of(l, module, node);
  const tsl__lnode *n = &l->nodes.at[made.leaf];
  made.string = n->kind == TSL__L_LITERAL;
  if (made.string || n->kind == TSL__L_PATTERN) made.flags = (uint8_t)n->c;
  tsl__expr_characters(l->x, made.text, &least, &made.width);
  if (!tsl__vec_push(&l->alloc, &l->tokens, made)) return tsl__lark_no_memory(l), 0;
  return (uint32_t)l->tokens.n - 1;
}

static uint32_t named_token(tsl__lark *l, uint32_t def) {
  const tsl__ldef *d = &l->defs.at[def];
  const tsl__lbody *b = &l->bodies.at[d->body];
  if (d->token) return d->token - 1;
  tsl__ltoken made = {.text = d->value,
                      .priority = d->priority,
                      .notation = d->notation,
                      .module = d->module,
                      .at = d->at,
                      .length = d->length,
                      .def = def,
                      .counted = (d->traits & TSL__LARK_COUNTED) != 0};
  bool one = b->next == TSL__LARK_NOWHERE;
  uint32_t token = add_token(l, made, b->module, one ? b->node : 0);
  l->defs.at[def].token = token + 1;
  return token;
}

uint32_t tsl__lark_token_of(tsl__lark *l, uint32_t module, uint32_t node, tsl__expr text,
                            bool counted) {
  const tsl__lnode n = l->nodes.at[node];
  if (n.kind == TSL__L_NAME)
    return named_token(l, tsl__lark_find(l, module, tsl__lark_text(l, module, n.at), n.a));
  uint32_t def = named_like(l, node);
  if (def != TSL__LARK_NOWHERE) return named_token(l, def);
  uint32_t known = known_like(l, node);
  if (known != TSL__LARK_NOWHERE) return known;
  size_t left = l->modules.at[module].length - n.at;
  tsl__ltoken made = {.text = text,
                      .notation = tsl__lark_notation(l, module, node),
                      .module = module,
                      .at = n.at,
                      .length = n.b + 2 < left ? n.b + 2 : (uint32_t)left,
                      .def = TSL__LARK_NOWHERE,
                      .counted = counted};
  uint32_t token = add_token(l, made, module, node);
  if (!tsl__index_add(&l->by_leaf, &l->alloc, hash_of_leaf(l, node), (uint32_t)l->defs.n + token))
    return tsl__lark_no_memory(l), 0;
  return token;
}

/* %ignore of a name is of that terminal; else it has a terminal of its own. */
static bool add_ignored(tsl__lark *l) {
  for (size_t i = 0; i < l->ignores.n; i++) {
    const tsl__ldef *d = &l->defs.at[l->ignores.at[i]];
    const tsl__lbody *b = &l->bodies.at[d->body];
    const tsl__lnode *n = &l->nodes.at[b->node];
    if (l->modules.at[d->module].root != l->top) continue;
    uint32_t def = l->ignores.at[i];
    if (n->kind == TSL__L_NAME)
      def = tsl__lark_find(l, b->module, tsl__lark_text(l, b->module, n->at), n->a);
    uint32_t token = named_token(l, def);
    if (tsl__lark_failed(l)) return false;
    l->tokens.at[token].ignored = true;
  }
  return true;
}

/* ---- the order ------------------------------------------------------------------------------- */

/* %ignore of something else than a name makes a definition without one. */
static bool has_name(const tsl__lark *l, const tsl__ltoken *t) {
  return t->def != TSL__LARK_NOWHERE && l->defs.at[t->def].length;
}

/* As Lark sorts them; tokens without a name come in the order of the grammar. */
static int compare(const tsl__lark *l, const tsl__ltoken *a, const tsl__ltoken *b) {
  if (a->priority != b->priority) return a->priority > b->priority ? -1 : 1;
  if (a->width != b->width) return a->width > b->width ? -1 : 1;
  if (a->notation != b->notation) return a->notation > b->notation ? -1 : 1;
  bool named = has_name(l, a);
  if (named != has_name(l, b)) return named ? -1 : 1;
  if (!named) return a->at < b->at ? -1 : a->at > b->at;
  uint32_t n = a->length < b->length ? a->length : b->length;
  int order = memcmp(tsl__lark_text(l, a->module, a->at), tsl__lark_text(l, b->module, b->at), n);
  return order ? order : a->length < b->length ? -1 : a->length > b->length;
}

/* The numbers of tokens in order, by insertion: tokens mostly come in small numbers. */
static bool sort(tsl__lark *l, uint32_t *order, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    uint32_t at = i;
    while (at && compare(l, &l->tokens.at[i], &l->tokens.at[order[at - 1]]) < 0) {
      order[at] = order[at - 1];
      at--;
    }
    order[at] = i;
    if (!tsl__exprs_work(l->x, i)) return false;
  }
  return true;
}

static tsl__expr any(tsl__exprs *x) { return tsl__expr_star(x, tsl__expr_range(x, 0, 255)); }

/* May both match at one place? Of two strings, one must begin with the other. */
static bool meet(const tsl__llexer *lexer, uint32_t a, uint32_t b) {
  const tsl__lark *l = lexer->l;
  tsl__exprs *x = l->x;
  const tsl__ltoken *s = &l->tokens.at[a], *t = &l->tokens.at[b];
  const tsl__lnode *m = &l->nodes.at[s->leaf], *n = &l->nodes.at[t->leaf];
  tsl__exprs_work(x, 4);
  if (!tsl__bytes_meet(&lexer->first.at[a], &lexer->first.at[b])) return false;
  if (s->string && t->string && !s->flags && !t->flags)
    return !memcmp(l->bytes.at + m->a, l->bytes.at + n->a, m->b < n->b ? m->b : n->b);
  return tsl__expr_and(x, tsl__expr_seq(x, lexer->l->tokens.at[a].text, any(x)),
                       tsl__expr_seq(x, lexer->l->tokens.at[b].text, any(x))) != TSL__NONE;
}

/* Is string `s` a keyword of the regular expression `r`: does it match the string in full? */
static bool is_keyword(const tsl__lark *l, const tsl__ltoken *s, const tsl__ltoken *r) {
  const tsl__lnode *n = &l->nodes.at[s->leaf];
  return s->string && !r->string && s->priority == r->priority &&
         tsl__expr_matches(l->x, r->text, l->bytes.at + n->a, n->b);
}

static bool add_piece(tsl__llexer *lexer, uint32_t token, tsl__expr text, tsl__expr longer,
                      bool ignored) {
  tsl__lpiece piece = {token, text, longer, ignored};
  if (text == TSL__NONE) return !tsl__lark_failed(lexer->l);
  return tsl__vec_push(&lexer->l->alloc, &lexer->pieces, piece) || tsl__lark_no_memory(lexer->l);
}

/* A regular expression's keywords: pieces of theirs, whose texts go from *text. */
static bool add_keywords(tsl__llexer *lexer, const uint32_t *order, uint32_t n, uint32_t token,
                         tsl__expr longer, tsl__expr *text) {
  tsl__lark *l = lexer->l;
  tsl__exprs *x = l->x;
  size_t count = 0, size = (n + 1) * sizeof(tsl__expr);
  tsl__expr *words = tsl__alloc(&l->alloc, size);
  if (!words) return tsl__lark_no_memory(l);
  bool fine = true, folded = false; /* some string has many spellings */
  for (uint32_t i = 0; i < n && fine && tsl__exprs_work(x, 1); i++) {
    const tsl__ltoken *s = &l->tokens.at[order[i]];
    if (!is_keyword(l, s, &l->tokens.at[token])) continue;
    folded |= s->flags != 0;
    tsl__expr before = tsl__expr_alt_n(x, words, folded ? count : 0);
    tsl__expr own = tsl__expr_and(x, *text, s->text);
    if (before != TSL__NONE) own = tsl__expr_and(x, own, tsl__expr_not(x, before));
    words[count++] = s->text;
    fine = add_piece(lexer, order[i], own, longer, false);
  }
  if (count) *text = tsl__expr_and(x, *text, tsl__expr_not(x, tsl__expr_alt_n(x, words, count)));
  tsl__free(&l->alloc, words, size);
  return fine && !tsl__lark_failed(l);
}

/* The pieces of one token of the order: its keywords, and itself. What is ignored has no keywords:
 * the lexer drops it without a look at its text. `before`: texts of earlier tokens that may match
 * where it does. */
static bool add_pieces(tsl__llexer *lexer, const uint32_t *order, uint32_t n, uint32_t token,
                       tsl__expr before) {
  tsl__exprs *x = lexer->l->x;
  const tsl__ltoken *r = &lexer->l->tokens.at[token];
  tsl__expr longer = tsl__expr_alt(x, r->text, before), text = r->text;
  if (before != TSL__NONE)
    text = tsl__expr_and(x, text, tsl__expr_not(x, tsl__expr_seq(x, before, any(x))));
  return (r->string || r->ignored || add_keywords(lexer, order, n, token, longer, &text)) &&
         add_piece(lexer, token, text, longer, r->ignored);
}

/* Strings whose place in the order a regular expression takes. */
static bool find_embedded(tsl__lark *l) {
  for (uint32_t i = 0; i < l->tokens.n; i++)
    for (uint32_t k = 0; k < l->tokens.n && tsl__exprs_work(l->x, 1); k++) {
      tsl__ltoken *s = &l->tokens.at[i], *r = &l->tokens.at[k];
      if (!(s->flags & ~r->flags) && is_keyword(l, s, r)) s->embedded = true;
    }
  return !tsl__lark_failed(l);
}

static bool basic_pieces(tsl__llexer *lexer, uint32_t *order) {
  tsl__lark *l = lexer->l;
  uint32_t n = (uint32_t)l->tokens.n;
  if (!sort(l, order, n) || !find_embedded(l)) return false;
  for (uint32_t i = 0; i < n; i++) {
    tsl__expr before = TSL__NONE;
    if (l->tokens.at[order[i]].embedded) continue;
    for (uint32_t k = 0; k < i; k++)
      if (!l->tokens.at[order[k]].embedded && meet(lexer, order[k], order[i]))
        before = tsl__expr_alt(l->x, before, l->tokens.at[order[k]].text);
    if (!add_pieces(lexer, order, n, order[i], before)) return false;
  }
  return !tsl__lark_failed(l);
}

static bool dynamic_pieces(tsl__llexer *lexer) {
  for (uint32_t i = 0; i < lexer->l->tokens.n; i++) {
    tsl__expr text = lexer->l->tokens.at[i].text;
    bool ignored = lexer->l->tokens.at[i].ignored;
    if (!add_piece(lexer, i, text, text, false)) return false;
    if (ignored && !add_piece(lexer, i, text, text, true)) return false;
  }
  return true;
}

bool tsl__lexer_open(tsl__llexer *lexer, tsl__lark *l) {
  *lexer = (tsl__llexer){.l = l};
  if (!add_ignored(l)) return false;
  for (size_t i = 0; i < l->tokens.n; i++) {
    tsl__bytes first = {{0}}, none = {{0}};
    const tsl__ltoken *t = &l->tokens.at[i];
    if (tsl__expr_nullable(l->x, t->text))
      return fail_at(l, t, TSL_ERR_SYNTAX, "may not match the empty text");
    tsl__gbnf_expression_edge(l->g, t->text, false, &first);
    tsl__bytes_or(&lexer->all, &first);
    if (!tsl__vec_push(&l->alloc, &lexer->first, first) ||
        !tsl__vec_push(&l->alloc, &lexer->follow, none))
      return tsl__lark_no_memory(l);
  }
  if (!tsl__vec_push(&l->alloc, &lexer->bars, TSL__NONE)) return tsl__lark_no_memory(l);
  if (l->options.lexer == TSL__LARK_DYNAMIC) return dynamic_pieces(lexer);
  size_t size = (l->tokens.n + 1) * sizeof(uint32_t);
  uint32_t *order = tsl__alloc(&l->alloc, size);
  bool fine = order ? basic_pieces(lexer, order) : tsl__lark_no_memory(l);
  tsl__free(&l->alloc, order, order ? size : 0);
  return fine;
}

void tsl__lexer_free(tsl__llexer *lexer) {
  const tsl_allocator *a = &lexer->l->alloc;
  tsl__vec_free(a, &lexer->pieces);
  tsl__vec_free(a, &lexer->bars);
  tsl__vec_free(a, &lexer->first);
  tsl__vec_free(a, &lexer->follow);
  tsl__vec_free(a, &lexer->cells);
  tsl__vec_free(a, &lexer->rows);
  tsl__index_free(&lexer->by_place, a);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Tokens of rows. NO_TOKEN is any number of ignored tokens, ONE_IGNORED one of them. From ALONE on
 * it is a token without what is ignored behind it. Other rows have a token with what is ignored
 * behind it, which is what the rules need. */
#define ALONE 0x80000000u
#define ONE_IGNORED (TSL__LARK_NO_TOKEN - 1)

static uint64_t hash_of(uint32_t token, uint32_t bar) {
  return tsl__mix(((uint64_t)token << 8) + bar + 1);
}

static const tsl__lrow *find_row(const tsl__llexer *lexer, uint32_t token, uint32_t bar) {
  tsl__index_iter it = tsl__index_first(&lexer->by_place, hash_of(token, bar));
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__lrow *r = &lexer->rows.at[i];
    if (r->token == token && r->bar == bar) return r;
  }
  return NULL;
}

static bool row_of(tsl__llexer *lexer, uint32_t token, uint32_t bar, tsl__lrow *out);

/* Texts by the bar behind them: TSL__NONE where no text has that bar. */
typedef struct texts {
  tsl__expr of[TSL__LARK_BARS_MAX];
} texts;

static void add_text(tsl__llexer *lexer, texts *t, uint32_t bar, tsl__expr text) {
  t->of[bar] = tsl__expr_alt(lexer->l->x, t->of[bar], text);
}

/* A token alone, or one that is ignored: its pieces behind the bar. */
static bool cut_token(tsl__llexer *lexer, uint32_t token, uint32_t bar) {
  for (size_t i = 0; i < lexer->pieces.n; i++) {
    const tsl__lpiece *piece = &lexer->pieces.at[i];
    bool its =
        token == ONE_IGNORED ? piece->ignored : !piece->ignored && piece->token == (token & ~ALONE);
    if (its && !tsl__lexer_cut(lexer, piece, lexer->bars.at[bar])) return false;
  }
  return true;
}

/* Bars that what is ignored leads to from the first one, and the texts between them. */
typedef struct skips {
  uint32_t n, bars[TSL__LARK_BARS_MAX];
  texts to[TSL__LARK_BARS_MAX]; /* by bar */
} skips;

static bool follow_skips(tsl__llexer *lexer, skips *s) {
  tsl__lark *l = lexer->l;
  uint32_t seen = 1u << s->bars[0];
  for (uint32_t i = 0; i < s->n; i++) {
    tsl__lrow row;
    if (!row_of(lexer, ONE_IGNORED, s->bars[i], &row)) return false;
    for (uint32_t k = 0; k < row.count; k++) {
      const tsl__lcell *c = &lexer->cells.at[row.first + k];
      add_text(lexer, &s->to[i], c->bar, c->text);
      if (!(seen >> c->bar & 1)) s->bars[s->n++] = c->bar;
      seen |= 1u << c->bar;
    }
  }
  return !tsl__lark_failed(l);
}

/* What is ignored behind a bar: any number of ignored tokens, by the bar behind the last one. */
static bool skip_texts(tsl__llexer *lexer, uint32_t bar, texts *out) {
  tsl__lark *l = lexer->l;
  skips *s = tsl__alloc(&l->alloc, sizeof *s);
  if (!s) return tsl__lark_no_memory(l);
  memset(s, 0, sizeof *s);
  s->bars[s->n++] = bar;
  bool fine = follow_skips(lexer, s);
  uint32_t n = s->n + 1;
  tsl__expr way[(TSL__LARK_BARS_MAX + 1) * (TSL__LARK_BARS_MAX + 1)];
  for (uint32_t end = 0; fine && end < s->n; end++) {
    memset(way, 0, sizeof way);
    for (uint32_t i = 0; i < s->n; i++)
      for (uint32_t k = 0; k < s->n; k++) way[i * n + k] = s->to[i].of[s->bars[k]];
    way[end * n + n - 1] = TSL__EPS;
    out->of[s->bars[end]] = tsl__lexer_eliminate(l->x, way, n);
  }
  tsl__free(&l->alloc, s, sizeof *s);
  return fine && !tsl__lark_failed(l);
}

/* A token and what is ignored behind it. */
static bool token_texts(tsl__llexer *lexer, uint32_t token, uint32_t bar, texts *out) {
  tsl__lrow alone, skip;
  if (!row_of(lexer, ALONE | token, bar, &alone)) return false;
  for (uint32_t i = 0; i < alone.count; i++) {
    if (!row_of(lexer, TSL__LARK_NO_TOKEN, lexer->cells.at[alone.first + i].bar, &skip))
      return false;
    for (uint32_t k = 0; k < skip.count; k++) {
      const tsl__lcell *then = &lexer->cells.at[skip.first + k];
      tsl__expr text = lexer->cells.at[alone.first + i].text;
      add_text(lexer, out, then->bar, tsl__expr_seq(lexer->l->x, text, then->text));
    }
  }
  return !tsl__lark_failed(lexer->l);
}

static bool add_cells(tsl__llexer *lexer, const texts *t) {
  for (uint32_t bar = 0; bar < TSL__LARK_BARS_MAX; bar++) {
    tsl__lcell cell = {bar, t->of[bar]};
    if (cell.text != TSL__NONE && !tsl__vec_push(&lexer->l->alloc, &lexer->cells, cell))
      return tsl__lark_no_memory(lexer->l);
  }
  return true;
}

/* The row of a token behind a bar, which is made if it is not there. A row of a token leads to the
 * rows of what is ignored, and these to rows of tokens alone: recursion is three deep. */
static bool row_of(tsl__llexer *lexer, uint32_t token, uint32_t bar, tsl__lrow *out) {
  tsl__lark *l = lexer->l;
  const tsl__lrow *known = find_row(lexer, token, bar);
  texts made = {{0}};
  bool alone = token != TSL__LARK_NO_TOKEN && token & ALONE, fine = true;
  if (known) return *out = *known, true;
  if (!alone)
    fine = token == TSL__LARK_NO_TOKEN ? skip_texts(lexer, bar, &made)
                                       : token_texts(lexer, token, bar, &made);
  *out = (tsl__lrow){token, bar, (uint32_t)lexer->cells.n, 0};
  fine = fine && (alone ? cut_token(lexer, token, bar) : add_cells(lexer, &made));
  out->count = (uint32_t)lexer->cells.n - out->first;
  if (!fine) return false;
  if (!tsl__vec_push(&l->alloc, &lexer->rows, *out) ||
      !tsl__index_add(&lexer->by_place, &l->alloc, hash_of(token, bar),
                      (uint32_t)lexer->rows.n - 1))
    return tsl__lark_no_memory(l);
  return true;
}

uint32_t tsl__lexer_ends(tsl__llexer *lexer, uint32_t token, uint32_t bar) {
  tsl__lrow row;
  uint32_t ends = 0;
  if (!row_of(lexer, token, bar, &row)) return 0;
  for (uint32_t i = 0; i < row.count; i++) ends |= 1u << lexer->cells.at[row.first + i].bar;
  return ends;
}

tsl__expr tsl__lexer_text(tsl__llexer *lexer, uint32_t token, uint32_t bar, uint32_t ends) {
  tsl__lrow row;
  tsl__expr text = TSL__NONE;
  if (!row_of(lexer, token, bar, &row)) return TSL__NONE;
  for (uint32_t i = 0; i < row.count; i++) {
    const tsl__lcell *c = &lexer->cells.at[row.first + i];
    if (ends >> c->bar & 1) text = tsl__expr_alt(lexer->l->x, text, c->text);
  }
  return text;
}

uint32_t tsl__lexer_within(tsl__llexer *lexer, uint32_t bar, const tsl__bytes *first) {
  tsl__bytes own = {{0}};
  tsl__gbnf_expression_edge(lexer->l->g, lexer->bars.at[bar], false, &own);
  return tsl__bytes_meet(&own, first) ? bar : 0;
}
