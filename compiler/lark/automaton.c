/* automaton.c - the texts of a terminal, cut by what may not follow them.
 *
 * Problem   A number with a fraction has two kinds of ends. Behind "12" a digit would make it
 *           longer, and so would a point with a digit. Behind "1.5" only a digit would. Where
 *           another number may follow, these are two bars. The texts before each are needed as an
 *           expression.
 * Idea      A state is three expressions. They are what is left of the terminal, of the texts that
 *           would be longer, and of the bar before it. Their derivatives by whole characters make a
 *           small automaton. Where the first matches the empty text, the terminal may end, and the
 *           other two are the bar. If all ends have one bar, the terminal's own expression will do.
 *           Otherwise the states are eliminated, one by one, for each bar.
 * Bars      A bar is kept as the shortest texts that are barred, in one form: a choice of bytes and
 *           what follows each. So equal bars are one number. A bar that goes round in a loop has no
 *           such form, and is refused.
 * Example   [0-9]+(.[0-9]+)? has the states start, whole, point, fraction; it ends in whole and
 *           fraction. The bars are [0-9]|.[0-9] and [0-9].
 * Cost      States times the classes of their bytes; eliminating takes the cube of the states.
 * Tested by tests/lark/test_lexers.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/deriv.h"
#include "compiler/lark/lexer.h"

#define STATES_MAX 512u
#define FORM_MAX 4096u

/* ---- bars ------------------------------------------------------------------------------------ */

typedef struct form {
  tsl__expr of, made;
  bool open; /* it is being made: the bar leads back to itself */
} form;

typedef struct forms {
  tsl__exprs *x;
  const tsl_allocator *alloc;
  TSL__VEC(form) known;
  bool endless, no_memory;
} forms;

static void next_class(tsl__exprs *x, const tsl__expr *of, unsigned n, tsl__bytes *edges) {
  *edges = (tsl__bytes){{0}};
  for (unsigned i = 0; i < n; i++) {
    tsl__bytes own;
    if (of[i] == TSL__NONE) continue;
    tsl__boundaries(x, of[i], &own);
    tsl__bytes_or(edges, &own);
  }
  tsl__bytes_add(edges, 0);
}

/* Those of the bytes lo … hi - 1 that are in the set. */
static tsl__bytes class_of(unsigned lo, unsigned hi, const tsl__bytes *within) {
  tsl__bytes set = {{0}};
  tsl__bytes_add_range(&set, lo, hi - 1);
  for (unsigned w = 0; w < 4; w++) set.w[w] &= within->w[w];
  return set;
}

/* The shortest texts of e that begin with these bytes, as a tree. Depth: the longest of them, at
 * most FORM_MAX, or a loop. */
static tsl__expr form_of(forms *f, tsl__expr e, const tsl__bytes *within) {
  const tsl__bytes all = TSL__BYTES_ALL;
  bool whole = tsl__bytes_equal(within, &all);
  size_t at = f->known.n;
  tsl__bytes edges;
  tsl__expr made = TSL__NONE;
  tsl__exprs_work(f->x, 16 + at / 16);
  for (size_t i = 0; whole && i < at; i++) {
    if (f->known.at[i].of != e) continue;
    f->endless |= f->known.at[i].open;
    return f->known.at[i].made;
  }
  if (f->endless || f->known.n == FORM_MAX) return f->endless = true, TSL__NONE;
  if (!tsl__vec_push(f->alloc, &f->known, ((form){whole ? e : TSL__NONE, TSL__NONE, whole})))
    return f->no_memory = true, TSL__NONE;
  next_class(f->x, &e, 1, &edges);
  for (unsigned lo = 0, hi; lo < 256 && !f->endless && !f->no_memory; lo = hi) {
    hi = tsl__edge_from(&edges, lo + 1);
    tsl__bytes set = class_of(lo, hi, within);
    tsl__expr d = tsl__bytes_empty(&set) ? TSL__NONE : tsl__derive_plain(f->x, e, (uint8_t)lo);
    if (d == TSL__NONE) continue;
    tsl__expr rest = tsl__expr_nullable(f->x, d) ? TSL__EPS : form_of(f, d, &all);
    if (rest == TSL__NONE) continue;
    made = tsl__expr_alt(f->x, made, tsl__expr_seq(f->x, tsl__expr_bytes(f->x, &set), rest));
  }
  f->known.at[at].made = made;
  f->known.at[at].open = false;
  return made;
}

uint32_t tsl__lexer_bar(tsl__llexer *lexer, tsl__expr texts, const tsl__bytes *follow,
                        uint32_t token) {
  tsl__lark *l = lexer->l;
  forms f = {.x = l->x, .alloc = &l->alloc};
  tsl__bytes first = {{0}};
  tsl__gbnf_expression_edge(l->g, texts, false, &first);
  if (!tsl__bytes_meet(&first, follow)) return 0;
  tsl__expr made = form_of(&f, texts, &lexer->all);
  if (f.endless) { /* perhaps only where nothing can follow */
    f.endless = false;
    f.known.n = 0;
    made = form_of(&f, texts, follow);
  }
  tsl__vec_free(&l->alloc, &f.known);
  if (f.no_memory) return tsl__lark_no_memory(l), UINT32_MAX;
  if (tsl__lark_failed(l)) return UINT32_MAX;
  if (f.endless) {
    const tsl__ltoken *t = &l->tokens.at[token];
    return tsl__lark_fail(l, TSL_ERR_UNSUPPORTED, t->module, t->at,
                          "with this lexer the end of terminal \"%.*s\" depends on a text of any "
                          "length behind it: that is not supported",
                          tsl__lark_shown(t->length), tsl__lark_text(l, t->module, t->at)),
           UINT32_MAX;
  }
  for (uint32_t i = 0; i < lexer->bars.n; i++)
    if (lexer->bars.at[i] == made) return i;
  if (lexer->bars.n == TSL__LARK_BARS_MAX) {
    l->status = tsl__fail(l->error, TSL_ERR_LIMIT,
                          "with this lexer the ends of terminals bar too many different "
                          "continuations (limit %u)",
                          TSL__LARK_BARS_MAX);
    return UINT32_MAX;
  }
  if (!tsl__vec_push(&l->alloc, &lexer->bars, made)) return tsl__lark_no_memory(l), UINT32_MAX;
  return (uint32_t)lexer->bars.n - 1;
}

/* ---- states ---------------------------------------------------------------------------------- */

typedef struct state {
  tsl__expr text, longer, barred;
  uint32_t bar; /* behind a text that ends here; UINT32_MAX: none does */
} state;

/* One character, as bytes, that leads from a state to another. */
typedef struct edge {
  uint32_t from, to;
  tsl__expr text;
} edge;
typedef TSL__VEC(edge) edges;

typedef struct automaton {
  tsl__llexer *lexer;
  const tsl__lpiece *piece;
  TSL__VEC(state) states;
  edges edges;
  tsl__index index;
} automaton;

/* What is barred behind a text that ends in this state. */
static uint32_t bar_behind(automaton *a, const state *s) {
  tsl__exprs *x = a->lexer->l->x;
  tsl__expr longer = tsl__expr_and(x, s->longer, tsl__expr_not(x, TSL__EPS));
  const tsl__bytes *follow =
      a->piece->ignored ? &a->lexer->all : &a->lexer->follow.at[a->piece->token];
  return tsl__lexer_bar(a->lexer, tsl__expr_alt(x, longer, s->barred), follow, a->piece->token);
}

/* The number of a state, which is added if it is new; UINT32_MAX on failure. */
static uint32_t state_of(automaton *a, state s) {
  tsl__lark *l = a->lexer->l;
  uint64_t hash = tsl__mix(tsl__mix(((uint64_t)s.text << 32) + s.longer) + s.barred);
  tsl__index_iter it = tsl__index_first(&a->index, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const state *known = &a->states.at[i];
    if (known->text == s.text && known->longer == s.longer && known->barred == s.barred) return i;
  }
  const tsl__ltoken *t = &l->tokens.at[a->piece->token];
  if (a->states.n == STATES_MAX)
    return tsl__lark_fail(l, TSL_ERR_LIMIT, t->module, t->at,
                          "with this lexer terminal \"%.*s\" has too many states (limit %u)",
                          tsl__lark_shown(t->length), tsl__lark_text(l, t->module, t->at),
                          STATES_MAX),
           UINT32_MAX;
  if (tsl__expr_nullable(l->x, s.text) && (s.bar = bar_behind(a, &s)) == UINT32_MAX)
    return UINT32_MAX;
  if (!tsl__vec_push(&l->alloc, &a->states, s) ||
      !tsl__index_add(&a->index, &l->alloc, hash, (uint32_t)a->states.n - 1))
    return tsl__lark_no_memory(l), UINT32_MAX;
  return (uint32_t)a->states.n - 1;
}

/* Adds an edge, or one more text of an edge that is there. The state has the edges from `base` on.
 */
static bool add_edge(tsl__lark *l, edges *to, size_t base, uint32_t from, uint32_t target,
                     tsl__expr text) {
  const edge made = {from, target, text};
  for (size_t i = base; i < to->n; i++)
    if (to->at[i].to == target)
      return to->at[i].text = tsl__expr_alt(l->x, to->at[i].text, text), true;
  return tsl__vec_push(&l->alloc, to, made) || tsl__lark_no_memory(l);
}

/* Bytes of a character that come after such a first byte. */
static unsigned more_bytes(unsigned byte) {
  return byte < 0xC0 ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
}

/* Adds the characters that lead from a place to states: their bytes from there on. The place is
 * state `from` (first), or within a character that has `left` bytes to come. Depth: the bytes of a
 * character. */
static bool read_character(automaton *a, uint32_t from, const state *s, bool first, unsigned left,
                           edges *out) {
  tsl__lark *l = a->lexer->l;
  const tsl__expr all[] = {s->text, s->longer, s->barred};
  size_t base = out->n;
  tsl__bytes edges_of;
  next_class(l->x, all, 3, &edges_of);
  if (first)
    for (unsigned lead = 0xC0; lead <= 0xF0; lead += lead == 0xC0 ? 0x20 : 0x10)
      tsl__bytes_add(&edges_of, lead);
  tsl__exprs_work(l->x, 64);
  for (unsigned lo = 0, hi; lo < 256 && !tsl__lark_failed(l); lo = hi) {
    hi = tsl__edge_from(&edges_of, lo + 1);
    state to = {.bar = UINT32_MAX};
    to.text = tsl__derive_plain(l->x, s->text, (uint8_t)lo);
    if (to.text == TSL__NONE) continue;
    to.longer = s->longer ? tsl__derive_plain(l->x, s->longer, (uint8_t)lo) : TSL__NONE;
    to.barred = s->barred ? tsl__derive_plain(l->x, s->barred, (uint8_t)lo) : TSL__NONE;
    if (to.barred && tsl__expr_nullable(l->x, to.barred)) continue;
    tsl__expr bytes = tsl__expr_range(l->x, (uint8_t)lo, (uint8_t)(hi - 1));
    unsigned more = first ? more_bytes(lo) : left - 1;
    edges inner = {0};
    bool fine = true;
    if (more) {
      fine = read_character(a, from, &to, false, more, &inner);
    } else {
      uint32_t target = state_of(a, to);
      fine = target != UINT32_MAX && add_edge(l, &inner, 0, from, target, TSL__EPS);
    }
    for (size_t i = 0; fine && i < inner.n; i++)
      fine = add_edge(l, out, base, from, inner.at[i].to,
                      tsl__expr_seq(l->x, bytes, inner.at[i].text));
    tsl__vec_free(&l->alloc, &inner);
    if (!fine) return false;
  }
  return !tsl__lark_failed(l);
}

/* ---- ends ------------------------------------------------------------------------------------ */

tsl__expr tsl__lexer_eliminate(tsl__exprs *x, tsl__expr *way, uint32_t n) {
  for (uint32_t k = n - 1; k-- > 1 && tsl__exprs_work(x, n);) {
    tsl__expr loop = tsl__expr_star(x, way[k * n + k]);
    for (uint32_t i = 0; i < n; i++) {
      if (i >= k && i < n - 1) continue; /* eliminated already */
      if (way[i * n + k] == TSL__NONE) continue;
      tsl__expr before = tsl__expr_seq(x, way[i * n + k], loop);
      for (uint32_t j = 0; j < n; j++)
        if ((j < k || j == n - 1) && way[k * n + j] != TSL__NONE)
          way[i * n + j] =
              tsl__expr_alt(x, way[i * n + j], tsl__expr_seq(x, before, way[k * n + j]));
    }
  }
  return tsl__expr_seq(x, tsl__expr_star(x, way[0]), way[n - 1]);
}

/* The texts that end before that bar. */
static tsl__expr texts_before(automaton *a, uint32_t bar) {
  tsl__lark *l = a->lexer->l;
  uint32_t n = (uint32_t)a->states.n + 1;
  size_t size = (size_t)n * n * sizeof(tsl__expr);
  tsl__expr *way = tsl__alloc(&l->alloc, size);
  if (!way) return tsl__lark_no_memory(l), TSL__NONE;
  memset(way, 0, size);
  for (size_t i = 0; i < a->edges.n; i++) {
    const edge *e = &a->edges.at[i];
    tsl__expr *to = &way[(size_t)e->from * n + e->to];
    *to = tsl__expr_alt(l->x, *to, e->text);
  }
  for (uint32_t i = 0; i + 1 < n; i++)
    if (a->states.at[i].bar == bar) way[(size_t)i * n + n - 1] = TSL__EPS;
  tsl__expr made = tsl__lexer_eliminate(l->x, way, n);
  tsl__free(&l->alloc, way, size);
  return made;
}

static bool add_cell(tsl__llexer *lexer, uint32_t bar, tsl__expr text) {
  tsl__lcell cell = {bar, text};
  return text == TSL__NONE || tsl__vec_push(&lexer->l->alloc, &lexer->cells, cell) ||
         tsl__lark_no_memory(lexer->l);
}

/* A cell for each bar that stands behind some end. */
static bool add_cells(automaton *a, tsl__expr barred) {
  tsl__exprs *x = a->lexer->l->x;
  uint32_t bars = 0;
  for (size_t i = 0; i < a->states.n; i++)
    if (a->states.at[i].bar != UINT32_MAX) bars |= 1u << a->states.at[i].bar;
  bool one = !(bars & (bars - 1));
  for (uint32_t bar = 0; bar < TSL__LARK_BARS_MAX; bar++) {
    if (!(bars >> bar & 1)) continue;
    tsl__expr text = a->piece->text;
    if (one && barred != TSL__NONE) {
      tsl__expr any = tsl__expr_star(x, tsl__expr_range(x, 0, 255));
      text = tsl__expr_and(x, text, tsl__expr_not(x, tsl__expr_seq(x, barred, any)));
    } else if (!one) {
      text = texts_before(a, bar);
    }
    if (!add_cell(a->lexer, bar, text)) return false;
  }
  return !tsl__lark_failed(a->lexer->l);
}

bool tsl__lexer_cut(tsl__llexer *lexer, const tsl__lpiece *piece, tsl__expr barred) {
  tsl__lark *l = lexer->l;
  automaton a = {.lexer = lexer, .piece = piece};
  const state start = {piece->text, piece->longer, barred, UINT32_MAX};
  bool fine = state_of(&a, start) != UINT32_MAX;
  for (uint32_t i = 0; fine && i < a.states.n; i++) {
    const state at = a.states.at[i];
    fine = read_character(&a, i, &at, true, 0, &a.edges);
  }
  fine = fine && add_cells(&a, barred);
  tsl__vec_free(&l->alloc, &a.states);
  tsl__vec_free(&l->alloc, &a.edges);
  tsl__index_free(&a.index, &l->alloc);
  return fine;
}
