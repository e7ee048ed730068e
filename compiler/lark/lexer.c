/* lexer.c - rules whose terminals are what a lexer takes.
 *
 * Problem   A terminal that ends before a bar (lexer.h) says how the next terminal may not begin.
 *           The next terminal may stand in another rule.
 * Idea      A bar goes through the rules from left to right. Of each rule it is known which bars
 *           its texts may end before, if it begins behind a given bar (`ends_of`). A rule that is
 *           used behind a bar becomes a copy for that bar. The copy has the texts that end before
 *           some set of bars, as the place behind it may treat these alike. Before ")" no bar of
 *           letters or digits matters. So an item of a sequence is copied once for each way in
 *           which the next item can begin (`sequence`).
 * Loops     The bar behind an iteration is before the next one. If that leads to one bar only, the
 *           loop stays a loop. Otherwise each bar becomes a rule: what one iteration leads to, and
 *           the rule of the bar behind it (`loop_rule`).
 * Example   start: (NAME | "(" start ")")+    NAME: /[a-z]+/
 *           `start` ends before [a-z], or before no bar. Within the brackets ")" follows, and both
 *           are the same. In the loop they differ: behind NAME only "(" may follow.
 * Cost      Linear in the copies; each bar of a sequence costs a look at each of its items.
 * Limits    TSL__LARK_INSTANCES_MAX copies, SPLIT_MAX items of a sequence or a counted loop that is
 *           cut by bars
 * Tested by tests/lark/test_lexers.c, tests/programs/test_lark_lexers.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/lexer.h"

#define SPLIT_MAX 512u
#define NO_NODE UINT32_MAX
#define ALL UINT32_MAX /* ends: any */

/* A rule behind a bar, and the bars that its texts may end before. */
typedef struct place {
  uint32_t rule, bar, ends;
} place;

/* A rule that is made: a copy of a rule, or a loop of a node, with the texts that end so. */
typedef struct copy {
  uint32_t of, bar, ends, made;
  bool loop;
} copy;

typedef struct lexing {
  tsl__lark *l;
  tsl__gbnf *g;
  tsl__llexer lexer;
  TSL__VEC(tsl__bytes) first;  /* of each rule: bytes that it may begin with */
  TSL__VEC(tsl__bytes) follow; /* of each rule: bytes that may come behind it */
  TSL__VEC(uint8_t) empty;     /* of each rule: it may be empty */
  TSL__VEC(place) places;
  tsl__index by_place; /* of places */
  TSL__VEC(copy) copies;
  tsl__index by_copy; /* of copies */
  TSL__VEC(uint32_t) pending;
  bool changed, found; /* `ends` of all places are final */
} lexing;

static bool failed(lexing *p) {
  if (p->g->no_memory) tsl__lark_no_memory(p->l);
  return tsl__lark_failed(p->l);
}

static uint32_t item(const lexing *p, const tsl__gnode *n, uint32_t i) {
  return p->g->lists.at[n->a + i];
}

/* ---- how nodes begin, and what follows them -------------------------------------------------- */

static void add_bytes(lexing *p, tsl__bytes *to, const tsl__bytes *bytes) {
  if (tsl__bytes_within(bytes, to)) return;
  tsl__bytes_or(to, bytes);
  p->changed = true;
}

/* Adds the bytes that a node may begin with; may it be empty? Depth: the node's height. */
static bool begins(lexing *p, uint32_t node, tsl__bytes *out) {
  const tsl__gnode *n = &p->g->nodes.at[node];
  bool empty = false;
  tsl__exprs_work(p->l->x, 1);
  switch ((tsl__gkind)n->kind) {
  case TSL__G_EMPTY: return true;
  case TSL__G_REF: tsl__bytes_or(out, &p->first.at[n->a]); return p->empty.at[n->a];
  case TSL__G_REPEAT: return begins(p, n->a, out) || n->b == 0;
  case TSL__G_SEQ:
    for (uint32_t i = 0; i < n->b; i++)
      if (!begins(p, item(p, n, i), out)) return false;
    return true;
  case TSL__G_ALT:
    for (uint32_t i = 0; i < n->b; i++) empty |= begins(p, item(p, n, i), out);
    return empty;
  case TSL__G_EXPR:
    if (n->c) tsl__bytes_or(out, &p->lexer.first.at[p->l->lexemes.at[n->c - 1].token]);
    return false;
  default: return false;
  }
}

static bool find_first(lexing *p) {
  const tsl_allocator *a = &p->l->alloc;
  const tsl__bytes none = {{0}};
  for (size_t i = 0; i < p->g->rules.n; i++)
    if (!tsl__vec_push(a, &p->first, none) || !tsl__vec_push(a, &p->follow, none) ||
        !tsl__vec_push(a, &p->empty, 0))
      return tsl__lark_no_memory(p->l);
  do {
    p->changed = false;
    for (size_t i = 0; i < p->g->rules.n; i++) {
      tsl__bytes first = p->first.at[i];
      bool empty = begins(p, p->g->rules.at[i].body, &first);
      p->changed |= empty != p->empty.at[i];
      p->empty.at[i] = empty;
      add_bytes(p, &p->first.at[i], &first);
    }
  } while (p->changed && !failed(p));
  return !failed(p);
}

/* These bytes may come behind a node. Depth: the node's height. */
static void follows(lexing *p, uint32_t node, const tsl__bytes *after) {
  const tsl__gnode n = p->g->nodes.at[node];
  tsl__bytes then = *after;
  tsl__exprs_work(p->l->x, 1);
  switch ((tsl__gkind)n.kind) {
  case TSL__G_REF: add_bytes(p, &p->follow.at[n.a], after); break;
  case TSL__G_EXPR:
    if (n.c) add_bytes(p, &p->lexer.follow.at[p->l->lexemes.at[n.c - 1].token], after);
    break;
  case TSL__G_REPEAT:
    if (n.c != 1) begins(p, n.a, &then);
    follows(p, n.a, &then);
    break;
  case TSL__G_SEQ:
    for (uint32_t i = n.b; i-- > 0;) {
      tsl__bytes own = {{0}};
      follows(p, item(p, &n, i), &then);
      if (begins(p, item(p, &n, i), &own)) tsl__bytes_or(&own, &then);
      then = own;
    }
    break;
  case TSL__G_ALT:
    for (uint32_t i = 0; i < n.b; i++) follows(p, item(p, &n, i), after);
    break;
  default: break;
  }
}

/* What is ignored may come behind all terminals, and all terminals behind that. */
static bool find_follow(lexing *p) {
  tsl__bytes ignored = {{0}};
  do {
    p->changed = false;
    for (size_t i = 0; i < p->g->rules.n && !failed(p); i++) {
      const tsl__bytes after = p->follow.at[i];
      follows(p, p->g->rules.at[i].body, &after);
    }
  } while (p->changed && !failed(p));
  for (size_t i = 0; i < p->l->tokens.n; i++)
    if (p->l->tokens.at[i].ignored) tsl__bytes_or(&ignored, &p->lexer.first.at[i]);
  for (size_t i = 0; i < p->l->tokens.n; i++)
    tsl__bytes_or(&p->lexer.follow.at[i], p->l->tokens.at[i].ignored ? &p->lexer.all : &ignored);
  return !failed(p);
}

/* ---- bars before and behind nodes ------------------------------------------------------------ */

/* What is left of a bar before a node. Before one that may be empty, all of it. */
static uint32_t before(lexing *p, uint32_t node, uint32_t bar) {
  tsl__bytes first = {{0}};
  if (!bar || begins(p, node, &first)) return bar;
  return tsl__lexer_within(&p->lexer, bar, &first);
}

/* The place of a rule behind a bar. Its ends are found by and by. A rule may contain itself, so the
 * ends begin as none, and grow until nothing changes. */
static uint32_t place_of(lexing *p, uint32_t rule, uint32_t bar) {
  uint64_t hash = tsl__mix(((uint64_t)rule << 8) + bar);
  tsl__index_iter it = tsl__index_first(&p->by_place, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;)
    if (p->places.at[i].rule == rule && p->places.at[i].bar == bar) return i;
  place made = {rule, bar, 0};
  p->changed = true;
  if (!tsl__vec_push(&p->l->alloc, &p->places, made) ||
      !tsl__index_add(&p->by_place, &p->l->alloc, hash, (uint32_t)p->places.n - 1))
    tsl__lark_no_memory(p->l);
  return (uint32_t)p->places.n - 1;
}

static uint32_t ends_of(lexing *p, uint32_t node, uint32_t bar);
static bool find_ends(lexing *p);

/* The bars before iterations of a loop, the first one behind `bar`; *ends: those behind them. */
static uint32_t turns_of(lexing *p, uint32_t child, uint32_t bar, uint32_t *ends) {
  uint32_t seen = 1u << before(p, child, bar), done = 0;
  for (uint32_t left; (left = seen & ~done) && !failed(p);) {
    uint32_t at = (uint32_t)__builtin_ctz(left);
    uint32_t behind = ends_of(p, child, at);
    done |= 1u << at;
    *ends |= behind;
    for (; behind; behind &= behind - 1)
      seen |= 1u << before(p, child, (uint32_t)__builtin_ctz(behind));
  }
  return seen;
}

/* The bars that texts of a node may end before, if that bar is before it: a bit for each. Depth:
 * the node's height. */
static uint32_t ends_of(lexing *p, uint32_t node, uint32_t bar) {
  const tsl__gnode n = p->g->nodes.at[node];
  uint32_t ends = 0;
  tsl__exprs_work(p->l->x, 1);
  if (failed(p)) return 0;
  switch ((tsl__gkind)n.kind) {
  case TSL__G_EMPTY: return 1u << bar;
  case TSL__G_EXPR:
    if (!n.c) return 0;
    return tsl__lexer_ends(&p->lexer, p->l->lexemes.at[n.c - 1].token, bar);
  case TSL__G_REF: {
    size_t known = p->places.n;
    uint32_t at = place_of(p, n.a, before(p, node, bar));
    if (p->found && p->places.n > known) find_ends(p);
    return failed(p) ? 0 : p->places.at[at].ends;
  }
  case TSL__G_SEQ:
    ends = 1u << bar;
    for (uint32_t i = 0; i < n.b; i++) {
      uint32_t then = 0;
      for (; ends; ends &= ends - 1)
        then |=
            ends_of(p, item(p, &n, i), before(p, item(p, &n, i), (uint32_t)__builtin_ctz(ends)));
      ends = then;
    }
    return ends;
  case TSL__G_ALT:
    for (uint32_t i = 0; i < n.b; i++)
      ends |= ends_of(p, item(p, &n, i), before(p, item(p, &n, i), bar));
    return ends;
  case TSL__G_REPEAT:
    if (n.b == 0) ends = 1u << bar;
    turns_of(p, n.a, bar, &ends);
    return ends;
  default: return 0;
  }
}

static bool find_ends(lexing *p) {
  p->found = false;
  do {
    p->changed = false;
    for (size_t i = 0; i < p->places.n && !failed(p); i++) {
      const place at = p->places.at[i];
      uint32_t ends = ends_of(p, p->g->rules.at[at.rule].body, at.bar);
      p->changed |= ends != at.ends;
      p->places.at[i].ends = ends;
    }
  } while (p->changed && !failed(p));
  p->found = true;
  return !failed(p);
}

/* ---- copies ---------------------------------------------------------------------------------- */

static uint32_t new_node(lexing *p, tsl__gkind kind, uint32_t a, uint32_t b, uint32_t c) {
  return tsl__gbnf_node(p->g, kind, a, b, c);
}

/* The rule that is a copy, or a loop; its body is made later. A capture stays with its rule, so a
 * loop within the rule has none. */
static uint32_t copy_of(lexing *p, bool loop, uint32_t of, const tsl__grule *rule, uint32_t bar,
                        uint32_t ends) {
  uint64_t hash = tsl__mix(tsl__mix(((uint64_t)of << 8) + bar) + ends + loop);
  tsl__index_iter it = tsl__index_first(&p->by_copy, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const copy *c = &p->copies.at[i];
    if (c->of == of && c->bar == bar && c->ends == ends && c->loop == loop) return c->made;
  }
  tsl__grule made = *rule;
  copy c = {of, bar, ends, (uint32_t)p->g->rules.n, loop};
  if (p->copies.n >= TSL__LARK_INSTANCES_MAX) {
    p->l->status =
        tsl__fail_at(p->l->error, TSL_ERR_LIMIT, p->g->text, p->g->length, made.offset,
                     "with this lexer rules stand in too many kinds of places (limit %u)",
                     TSL__LARK_INSTANCES_MAX);
    return 0;
  }
  if (loop) made.mark = 0;
  if (!tsl__vec_push(&p->l->alloc, &p->g->rules, made) ||
      !tsl__vec_push(&p->l->alloc, &p->copies, c) ||
      !tsl__index_add(&p->by_copy, &p->l->alloc, hash, (uint32_t)p->copies.n - 1))
    return tsl__lark_no_memory(p->l), 0;
  return c.made;
}

static uint32_t make(lexing *p, const tsl__grule *in, uint32_t node, uint32_t bar, uint32_t ends);

/* Alternatives from `base` of `pending` on, which are dropped. NO_NODE: there are none. */
static uint32_t choice(lexing *p, size_t base) {
  uint32_t n = (uint32_t)(p->pending.n - base);
  uint32_t made =
      !n || failed(p) ? NO_NODE : tsl__gbnf_list(p->g, TSL__G_ALT, p->pending.at + base, n);
  p->pending.n = base;
  return made;
}

static void add_choice(lexing *p, uint32_t node) {
  if (node != NO_NODE && !tsl__vec_push(&p->l->alloc, &p->pending, node)) tsl__lark_no_memory(p->l);
}

/* Those of `ends` that are `key` before the node. */
static uint32_t ends_before(lexing *p, uint32_t ends, uint32_t node, uint32_t key) {
  uint32_t out = 0;
  for (; ends; ends &= ends - 1)
    if (before(p, node, (uint32_t)__builtin_ctz(ends)) == key) out |= ends & -ends;
  return out;
}

static bool too_long(lexing *p, const tsl__grule *in) {
  p->l->status = tsl__fail_at(p->l->error, TSL_ERR_LIMIT, p->g->text, p->g->length, in->offset,
                              "with this lexer rule \"%.*s\" has a sequence or a count of more "
                              "than %u whose items end in different ways",
                              tsl__lark_shown(in->name_length), in->name, SPLIT_MAX);
  return false;
}

/* A sequence whose items are each reached behind one bar. It stays a list, whatever its length. */
static uint32_t plain_sequence(lexing *p, const tsl__grule *in, const tsl__gnode *n,
                               const uint32_t *reached, uint32_t ends) {
  size_t base = p->pending.n;
  for (uint32_t i = 0; i < n->b && !failed(p); i++) {
    uint32_t made =
        make(p, in, item(p, n, i), (uint32_t)__builtin_ctz(reached[i]), i + 1 == n->b ? ends : ALL);
    if (made == NO_NODE) return p->pending.n = base, NO_NODE;
    add_choice(p, made);
  }
  uint32_t made =
      failed(p) ? NO_NODE : tsl__gbnf_list(p->g, TSL__G_SEQ, p->pending.at + base, n->b);
  p->pending.n = base;
  return made;
}

/* Item i behind the bar `at`, and the rest by what is before the next item: rest[bar]. The ends of
 * the item are grouped by what they are before the next item, so that each group has one copy. */
static uint32_t split(lexing *p, const tsl__grule *in, const tsl__gnode *n, uint32_t i, uint32_t at,
                      uint32_t next, const uint32_t *rest) {
  size_t base = p->pending.n;
  uint32_t behind = ends_of(p, item(p, n, i), at);
  for (; next; next &= next - 1) {
    uint32_t key = (uint32_t)__builtin_ctz(next);
    uint32_t part = ends_before(p, behind, item(p, n, i + 1), key);
    if (!part || rest[key] == NO_NODE) continue;
    uint32_t head = make(p, in, item(p, n, i), at, part);
    if (head != NO_NODE) add_choice(p, tsl__gbnf_pair(p->g, head, rest[key]));
  }
  return choice(p, base);
}

/* Bars before each item, to reached[i]; is there one each? */
static bool reach(lexing *p, const tsl__gnode *n, uint32_t bar, uint32_t *reached) {
  bool one = true;
  for (uint32_t i = 0; i < n->b && !failed(p); i++) {
    uint32_t set = 1u << bar, behind = 0;
    if (i) {
      set = 0;
      for (uint32_t left = reached[i - 1]; left; left &= left - 1)
        set |= ends_of(p, item(p, n, i - 1), (uint32_t)__builtin_ctz(left));
    }
    for (; set; set &= set - 1)
      behind |= 1u << before(p, item(p, n, i), (uint32_t)__builtin_ctz(set));
    reached[i] = behind;
    one &= behind && !(behind & (behind - 1));
  }
  return one;
}

/* From the last item to the first: what the sequence is from there on, behind each bar. So each
 * rest is made once, though many ways lead to it, and its node is shared by all of them. */
static uint32_t split_sequence(lexing *p, const tsl__grule *in, const tsl__gnode *n,
                               const uint32_t *reached, uint32_t ends) {
  uint32_t rest[TSL__LARK_BARS_MAX], here[TSL__LARK_BARS_MAX];
  if (n->b > SPLIT_MAX) return too_long(p, in), NO_NODE;
  for (uint32_t i = n->b; i-- > 0 && !failed(p);) {
    for (uint32_t bar = 0; bar < TSL__LARK_BARS_MAX; bar++) {
      here[bar] = NO_NODE;
      if (!(reached[i] >> bar & 1)) continue;
      here[bar] = i + 1 == n->b ? make(p, in, item(p, n, i), bar, ends)
                                : split(p, in, n, i, bar, reached[i + 1], rest);
    }
    memcpy(rest, here, sizeof rest);
  }
  return failed(p) ? NO_NODE : rest[__builtin_ctz(reached[0])];
}

static uint32_t sequence(lexing *p, const tsl__grule *in, const tsl__gnode *n, uint32_t bar,
                         uint32_t ends) {
  size_t size = n->b * sizeof(uint32_t);
  uint32_t made = NO_NODE, *reached = tsl__alloc(&p->l->alloc, size);
  if (!reached) return tsl__lark_no_memory(p->l), NO_NODE;
  bool one = reach(p, n, bar, reached);
  if (!failed(p))
    made = one ? plain_sequence(p, in, n, reached, ends) : split_sequence(p, in, n, reached, ends);
  tsl__free(&p->l->alloc, reached, size);
  return made;
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* Iterations that are all reached behind one bar. They stay a loop. If not all ends will do, the
 * last iteration stands apart, with those that do. */
static uint32_t plain_loop(lexing *p, const tsl__grule *in, const tsl__gnode *n, uint32_t at,
                           bool empty, uint32_t ends) {
  uint32_t all = ends_of(p, n->a, at), body = make(p, in, n->a, at, ALL), least = n->b;
  if (body == NO_NODE) return empty && !n->b ? 0 : NO_NODE;
  if (!least && !empty) least = 1;
  if (!(all & ~ends)) return new_node(p, TSL__G_REPEAT, body, least, n->c);
  uint32_t last = make(p, in, n->a, at, all & ends);
  if (last == NO_NODE) return empty && !n->b ? 0 : NO_NODE;
  if (n->c == 1) body = last;
  if (n->c != 1) {
    uint32_t more = new_node(p, TSL__G_REPEAT, body, least ? least - 1 : 0,
                             n->c == TSL__INF ? TSL__INF : n->c - 1);
    body = tsl__gbnf_pair(p->g, more, last);
  }
  return empty && n->b == 0 ? new_node(p, TSL__G_REPEAT, body, 0, 1) : body;
}

/* The body of a loop's rule: an iteration that is the last one, or one that another follows. */
static uint32_t loop_rule(lexing *p, const tsl__grule *in, uint32_t child, uint32_t bar,
                          uint32_t ends) {
  size_t base = p->pending.n;
  uint32_t behind = ends_of(p, child, bar), keys = 0;
  add_choice(p, make(p, in, child, bar, ends));
  for (uint32_t left = behind; left; left &= left - 1)
    keys |= 1u << before(p, child, (uint32_t)__builtin_ctz(left));
  for (; keys; keys &= keys - 1) {
    uint32_t key = (uint32_t)__builtin_ctz(keys);
    uint32_t head = make(p, in, child, bar, ends_before(p, behind, child, key));
    if (head == NO_NODE || failed(p)) continue;
    uint32_t again = copy_of(p, true, child, in, key, ends);
    add_choice(p, tsl__gbnf_pair(p->g, head, new_node(p, TSL__G_REF, again, in->offset, 0)));
  }
  return choice(p, base);
}

/* A count as a sequence: its first iterations, and those that may be left out, one in another; or a
 * loop of at least one. */
static uint32_t unrolled(lexing *p, const tsl__grule *in, const tsl__gnode *n) {
  size_t base = p->pending.n;
  bool endless = n->c == TSL__INF;
  uint32_t first = endless && n->b ? n->b - 1 : n->b, inner = 0, made;
  if (first > SPLIT_MAX || (!endless && n->c > SPLIT_MAX)) return too_long(p, in), NO_NODE;
  for (uint32_t i = 0; i < first; i++) add_choice(p, n->a);
  if (endless) inner = new_node(p, TSL__G_REPEAT, n->a, 1, TSL__INF);
  for (uint32_t i = n->b; !endless && i < n->c && !failed(p); i++)
    inner = new_node(p, TSL__G_REPEAT, inner ? tsl__gbnf_pair(p->g, n->a, inner) : n->a, 0, 1);
  if (inner) add_choice(p, inner);
  made = failed(p) ? NO_NODE
                   : tsl__gbnf_list(p->g, TSL__G_SEQ, p->pending.at + base,
                                    (uint32_t)(p->pending.n - base));
  p->pending.n = base;
  return made;
}

static uint32_t repeat(lexing *p, const tsl__grule *in, const tsl__gnode *n, uint32_t bar,
                       uint32_t ends) {
  uint32_t behind = 0, turns = turns_of(p, n->a, bar, &behind), at = before(p, n->a, bar);
  bool empty = ends >> bar & 1;
  if (failed(p)) return NO_NODE;
  if (n->c == 1 || !(turns & (turns - 1))) return plain_loop(p, in, n, at, empty, ends);
  if (n->c == TSL__INF && n->b < 2) {
    uint32_t rule = copy_of(p, true, n->a, in, at, ends);
    if (failed(p)) return NO_NODE;
    uint32_t loop = new_node(p, TSL__G_REF, rule, in->offset, 0);
    return n->b || !empty ? loop : new_node(p, TSL__G_REPEAT, loop, 0, 1);
  }
  uint32_t list = unrolled(p, in, n);
  return list == NO_NODE ? NO_NODE : make(p, in, list, bar, ends);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* What a node of rule `in` is behind a bar, if its texts end before one of `ends`. NO_NODE: it has
 * no text there. Depth: the node's height, and SPLIT_MAX in counts. */
static uint32_t make(lexing *p, const tsl__grule *in, uint32_t node, uint32_t bar, uint32_t ends) {
  const tsl__gnode n = p->g->nodes.at[node];
  size_t base = p->pending.n;
  tsl__exprs_work(p->l->x, 1);
  if (failed(p)) return NO_NODE;
  bar = before(p, node, bar);
  ends &= ends_of(p, node, bar);
  if (!ends || failed(p)) return NO_NODE;
  switch ((tsl__gkind)n.kind) {
  case TSL__G_EXPR:
    return new_node(p, TSL__G_EXPR,
                    tsl__lexer_text(&p->lexer, p->l->lexemes.at[n.c - 1].token, bar, ends), n.b, 0);
  case TSL__G_REF: {
    const tsl__grule rule = p->g->rules.at[n.a];
    return new_node(p, TSL__G_REF, copy_of(p, false, n.a, &rule, bar, ends), n.b, 0);
  }
  case TSL__G_SEQ: return sequence(p, in, &n, bar, ends);
  case TSL__G_ALT:
    for (uint32_t i = 0; i < n.b && !failed(p); i++)
      add_choice(p, make(p, in, item(p, &n, i), bar, ends));
    return choice(p, base);
  case TSL__G_REPEAT: return repeat(p, in, &n, bar, ends);
  default: return node;
  }
}

/* The start: what is ignored, and the start rule behind each bar. */
static uint32_t start(lexing *p, uint32_t root) {
  size_t base = p->pending.n;
  uint32_t use = new_node(p, TSL__G_REF, root, p->g->rules.at[root].offset, 0), keys = 0;
  uint32_t behind = tsl__lexer_ends(&p->lexer, TSL__LARK_NO_TOKEN, 0);
  const tsl__grule rule = p->g->rules.at[root];
  for (uint32_t left = behind; left; left &= left - 1)
    keys |= 1u << before(p, use, (uint32_t)__builtin_ctz(left));
  for (; keys && !failed(p); keys &= keys - 1) {
    uint32_t key = (uint32_t)__builtin_ctz(keys), part = ends_before(p, behind, use, key);
    tsl__expr skip = tsl__lexer_text(&p->lexer, TSL__LARK_NO_TOKEN, 0, part);
    uint32_t body = make(p, &rule, use, key, ALL);
    if (body == NO_NODE) continue;
    if (skip != TSL__EPS) body = tsl__gbnf_pair(p->g, new_node(p, TSL__G_EXPR, skip, 0, 0), body);
    add_choice(p, body);
  }
  uint32_t made = choice(p, base);
  return made == NO_NODE && !failed(p) ? new_node(p, TSL__G_EXPR, TSL__NONE, 0, 0) : made;
}

static bool make_all(lexing *p, uint32_t *root) {
  tsl__grule top = p->g->rules.at[*root];
  uint32_t behind = tsl__lexer_ends(&p->lexer, TSL__LARK_NO_TOKEN, 0);
  for (; behind; behind &= behind - 1)
    place_of(p, *root,
             p->empty.at[*root] ? (uint32_t)__builtin_ctz(behind)
                                : tsl__lexer_within(&p->lexer, (uint32_t)__builtin_ctz(behind),
                                                    &p->first.at[*root]));
  if (!find_ends(p)) return false;
  top.mark = 0;
  top.body = start(p, *root);
  for (size_t i = 0; i < p->copies.n && !failed(p); i++) {
    const copy c = p->copies.at[i];
    const tsl__grule in = p->g->rules.at[c.made];
    uint32_t body = c.loop ? loop_rule(p, &in, c.of, c.bar, c.ends)
                           : make(p, &in, p->g->rules.at[c.of].body, c.bar, c.ends);
    if (body == NO_NODE && !failed(p)) body = new_node(p, TSL__G_EXPR, TSL__NONE, 0, 0);
    p->g->rules.at[c.made].body = body;
  }
  if (failed(p)) return false;
  *root = (uint32_t)p->g->rules.n;
  return tsl__vec_push(&p->l->alloc, &p->g->rules, top) || tsl__lark_no_memory(p->l);
}

bool tsl__lark_lex(tsl__lark *l, uint32_t *root) {
  lexing p = {.l = l, .g = l->g};
  if (l->options.lexer == TSL__LARK_COMPLETE) return true;
  bool fine =
      tsl__lexer_open(&p.lexer, l) && find_first(&p) && find_follow(&p) && make_all(&p, root);
  tsl__lexer_free(&p.lexer);
  tsl__vec_free(&l->alloc, &p.first);
  tsl__vec_free(&l->alloc, &p.follow);
  tsl__vec_free(&l->alloc, &p.empty);
  tsl__vec_free(&l->alloc, &p.places);
  tsl__index_free(&p.by_place, &l->alloc);
  tsl__vec_free(&l->alloc, &p.copies);
  tsl__index_free(&p.by_copy, &l->alloc);
  tsl__vec_free(&l->alloc, &p.pending);
  return fine;
}
