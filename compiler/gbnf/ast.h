/* ast.h - a parsed GBNF grammar, and what is known of its rules.
 *
 * Nodes are numbers into one array and never change; passes add nodes. The whole grammar lives as
 * long as the expressions made from it, because rules are unfolded when they are first needed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_GBNF_AST_H
#define TSL_COMPILER_GBNF_AST_H

#include "compiler/expr/charset.h"
#include "compiler/gbnf/gbnf.h"
#include "runtime/core/pool.h"

typedef enum tsl__gkind {
  TSL__G_EMPTY,
  TSL__G_LITERAL, /* a: offset into bytes, b: length > 0 */
  /* a: first of ranges, b: count; negation is done already, surrogates may be in it */
  TSL__G_CLASS,
  TSL__G_ANY,
  /* a: id, b: 1 = any token but this, c: 1 = no token that a text may have: it matches nothing */
  TSL__G_TOKEN,
  TSL__G_REF,    /* a: rule, b: offset in the text */
  TSL__G_SEQ,    /* a: first of lists, b: count */
  TSL__G_ALT,    /* the same */
  TSL__G_REPEAT, /* a: child, b: min, c: max or TSL__INF; max > 0 */
  TSL__G_PLUS,   /* a: child; its texts but the empty one. Only made by passes */
  /* a: an expression, b: 1 = its rule keeps a frame of its own. Not made by parse.c */
  TSL__G_EXPR,
  TSL__G_TOKENS /* a: an expression of tokens, or TSL__NONE. Not made by parse.c */
} tsl__gkind;

/* What a node or rule matches. */
typedef struct tsl__gfacts {
  bool some;         /* anything at all */
  bool more;         /* anything but the empty text */
  uint32_t shortest; /* bytes of the shortest text, saturating; 0: the empty text is one */
  uint32_t longer;   /* bytes of the shortest text that is not empty */
} tsl__gfacts;

typedef struct tsl__gnode {
  uint8_t kind;
  bool known;      /* `facts` are final: read after those of all rules were */
  uint8_t begins;  /* TSL__G_BEGINS_... */
  uint32_t height; /* levels below */
  uint32_t a, b, c;
  tsl__gfacts facts;
  tsl__expr whole, plus; /* what it was lowered to, and without the empty text; NONE until then */
} tsl__gnode;

/* Of a node in a rule of a left-recursive cycle: may it begin with a rule of that cycle? */
enum { TSL__G_BEGINS_UNASKED, TSL__G_BEGINS_ELSEWHERE, TSL__G_BEGINS_IN };

#define TSL__G_NO_CYCLE UINT32_MAX

typedef struct tsl__grule {
  const char *name; /* not NUL-terminated */
  uint32_t name_length;
  uint32_t offset; /* of the first mention in the text */
  uint32_t line;   /* of the definition; 0 = not defined */
  uint32_t body;   /* node */
  tsl__gfacts facts;
  uint32_t component; /* of rules that refer to each other */
  bool reached;       /* from the root */
  bool recursive;     /* it can contain itself */
  uint32_t size;      /* nodes, those of the rules it refers to included; saturating */
  uint32_t cycle;     /* index of the left-recursive cycle, or TSL__G_NO_CYCLE */
  uint32_t position;  /* in that cycle */
  uint32_t mark;      /* 0: none; else it keeps a frame of its own, which `wrap` hears of */
  tsl__expr whole;    /* the rule; NONE until made */
  tsl__expr plus;     /* without the empty text; NONE until made */
} tsl__grule;

/* An equation's term: texts that begin with (a non-empty text of) rule `head` and go on with
 * `rest`; head UINT32_MAX: `rest` alone, not empty. `again`: the rule itself follows, alone in its
 * cycle. */
typedef struct tsl__gterm {
  uint32_t head, rest;
  bool again;
} tsl__gterm;
typedef TSL__VEC(tsl__gterm) tsl__gterms;

/* A left-recursive cycle: see leftrec.c. */
typedef struct tsl__gcycle {
  uint32_t first, count; /* members: cycle_rules[first … first + count) */
  /* per member: its equation; head is a position in the cycle or UINT32_MAX */
  tsl__gterms *terms;
  /* count × count: bytes of the shortest text that leads from a finished j to a finished i,
   * saturating; 0: none is needed */
  uint32_t *distance;
  tsl__expr *tails; /* count × count: those texts; NONE until made */
  uint32_t base;    /* parameter of tails[0] */
} tsl__gcycle;

typedef struct tsl__gbnf {
  tsl__exprs *x;
  tsl_allocator alloc;
  char *text;
  size_t length;
  TSL__VEC(tsl__gnode) nodes;
  TSL__VEC(uint32_t) lists;
  TSL__VEC(uint8_t) bytes;
  TSL__VEC(tsl__range) ranges;
  TSL__VEC(tsl__grule) rules;
  TSL__VEC(uint32_t) order;       /* reached rules, callees before callers (but for cycles) */
  TSL__VEC(uint32_t) cycle_rules; /* members of left-recursive cycles */
  TSL__VEC(tsl__gcycle) cycles;
  tsl__index names; /* rules by their names */
  bool any_case;    /* names are the same in upper and lower case */
  /* What a marked rule becomes; TSL__NONE on failure (sticky). */
  tsl__expr (*wrap)(void *ctx, uint32_t mark, tsl__expr body);
  void *wrap_ctx;
  uint64_t work; /* nodes looked at so far until facts are final */
  bool settled;  /* they are */
  bool nameless; /* a token is named that no text can have: the first one, and where */
  tsl_token nameless_token;
  size_t nameless_at;
  bool no_memory, too_much_work;
} tsl__gbnf;

#define TSL__GBNF_REPEAT 8u
/* A counted repeat of more than that many keeps a frame of its own, which has one register. So does
 * an expression that says so. */
static inline bool tsl__gbnf_is_long(const tsl__gnode *n) {
  if (n->kind == TSL__G_EXPR) return n->b;
  return n->kind == TSL__G_REPEAT &&
         (n->b > TSL__GBNF_REPEAT || (n->c != TSL__INF && n->c > TSL__GBNF_REPEAT));
}

/* The texts of a nullable expression without calls, but the empty one. */
static inline tsl__expr tsl__gbnf_not_empty(tsl__exprs *x, tsl__expr e) {
  return tsl__expr_and(x, e, tsl__expr_not(x, TSL__EPS));
}

/* Nodes are looked at: x counts them, and they take time (tsl__exprs_work). */
static inline void tsl__gbnf_look(tsl__gbnf *g, uint64_t nodes) { tsl__exprs_work(g->x, nodes); }
/* Is there no sense in going on? */
static inline bool tsl__gbnf_failed(const tsl__gbnf *g) {
  return g->no_memory || g->too_much_work || tsl__exprs_status(g->x) != TSL_OK;
}

/* ast.c */
/* why it failed; TSL_OK: it did not */
tsl_status tsl__gbnf_failure(const tsl__gbnf *g, tsl_error *error);
tsl__gbnf *tsl__gbnf_new(tsl__exprs *x); /* owned by x; NULL when out of memory */
/* Adding: 0 (the EMPTY node) on failure, with g->no_memory set. */
uint32_t tsl__gbnf_node(tsl__gbnf *g, tsl__gkind kind, uint32_t a, uint32_t b, uint32_t c);
/* SEQ or ALT; one item is itself, none EMPTY */
uint32_t tsl__gbnf_list(tsl__gbnf *g, tsl__gkind kind, const uint32_t *items, uint32_t count);
/* a SEQ */
uint32_t tsl__gbnf_pair(tsl__gbnf *g, uint32_t first, uint32_t then);
/* items from `from` on */
uint32_t tsl__gbnf_suffix(tsl__gbnf *g, uint32_t seq, uint32_t from);
/* In GBNF notation, PLUS as `%item`; writes at most n bytes with NUL, returns the length it would
 * need. */
size_t tsl__gbnf_print(const tsl__gbnf *g, uint32_t node, char *out, size_t n);

/* parse.c: a text of GBNF; *out is owned by x, and NULL only when out of memory. max_depth 0 is the
 * default. */
tsl_status tsl__gbnf_parse(tsl__exprs *x, const tsl_vocab *vocab, const char *text, size_t length,
                           uint32_t max_depth, tsl__gbnf **out, tsl_error *error);

/* reader.c: the rule of that name, or UINT32_MAX. */
uint32_t tsl__gbnf_find(const tsl__gbnf *g, const char *name, size_t length);
/* The rule to begin with, whose name ends with a NUL; an error where there is none. */
tsl_status tsl__gbnf_root(const tsl__gbnf *g, const char *name, uint32_t *root, tsl_error *error);

/* facts.c: reached, order, component, recursive, size, facts of every rule reached from root.
 * False: tsl__gbnf_failed. */
bool tsl__gbnf_analyse(tsl__gbnf *g, uint32_t root);
tsl__gfacts tsl__gbnf_facts(tsl__gbnf *g, uint32_t node);
/* Strongly connected components of `n` vertices with edges targets[starts[v] … starts[v + 1]),
 * visited from `from` (UINT32_MAX: all). `order` receives the vertices reached, those of a
 * component together and after everything they lead to; component[v] (UINT32_MAX: not reached)
 * numbers them. */
bool tsl__gbnf_components(const tsl_allocator *a, uint32_t n, const uint32_t *starts,
                          const uint32_t *targets, uint32_t from, uint32_t *component,
                          uint32_t *order, uint32_t *order_count);

/* leftrec.c: finds the left-recursive cycles and writes their equations. */
tsl_status tsl__gbnf_left_recursion(tsl__gbnf *g, tsl_error *error);
tsl__expr tsl__gbnf_cycle_body(tsl__gbnf *g, uint32_t rule); /* of rule's `plus` */
tsl__expr tsl__gbnf_tail_body(tsl__gbnf *g, uint32_t param); /* of a tail */
void tsl__gbnf_print_terms(const tsl__gbnf *g, uint32_t rule, char *out, size_t n);

/* lower.c: expressions of nodes. */
/* The expression of the rule `start`, of a grammar whose rules are all there. */
tsl_status tsl__gbnf_finish(tsl__gbnf *g, uint32_t start, tsl__expr *out, tsl_error *error);
tsl__expr tsl__gbnf_lower(tsl__gbnf *g, uint32_t node);
tsl__expr tsl__gbnf_lower_plus(tsl__gbnf *g, uint32_t node); /* without the empty text */
tsl__expr tsl__gbnf_tail(tsl__gbnf *g, uint32_t cycle, uint32_t from, uint32_t to);

/* place.c: makes `whole` and `plus` of rules reached from root that need no frame of their own;
 * those of others are left as they are. */
void tsl__gbnf_place(tsl__gbnf *g, uint32_t root);

/* run.c: after that, puts the bodies of rules in the place of their names where their texts run
 * into what follows. */
void tsl__gbnf_run(tsl__gbnf *g);

/* edges.c: adds the bytes that texts of an expression begin with, or end with (`last`). Maybe some
 * more; of characters past ASCII their first bytes. */
void tsl__gbnf_expression_edge(tsl__gbnf *g, tsl__expr e, bool last, tsl__bytes *out);

/* tower.c: after that, makes `whole` and `plus` of rules that call others and need no frame. */
void tsl__gbnf_tower(tsl__gbnf *g, uint32_t root);

#endif
