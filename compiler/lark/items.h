/* items.h - a Lark grammar as it was read: modules, definitions, and a tree for each body.
 *
 * All of it is numbers into arrays, and is freed when the compile ends. A place is a module and an
 * offset in its text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_LARK_ITEMS_H
#define TSL_COMPILER_LARK_ITEMS_H

#include "compiler/gbnf/ast.h"
#include "compiler/lark/lark.h"

#define TSL__LARK_NOWHERE UINT32_MAX

typedef enum tsl__lkind {
  TSL__L_EMPTY,
  TSL__L_LITERAL, /* a: offset into bytes, b: length > 0, c: flags */
  TSL__L_RANGE,   /* code points a … b */
  TSL__L_PATTERN, /* a: offset into bytes, b: length, c: flags: a regular expression of Python */
  /* a: length; the name stands at `at`. b: 0, or what its parameter is, of params64, plus 1 */
  TSL__L_NAME,
  TSL__L_CALL,    /* of a template: a: first of lists, b: count, c: length of its name */
  TSL__L_SEQ,     /* a: first of lists, b: count */
  TSL__L_ALT,     /* the same */
  TSL__L_AND,     /* the same */
  TSL__L_NOT,     /* a: child */
  TSL__L_REPEAT,  /* a: child, b: min, c: max or TSL__INF */
  TSL__L_TOKEN,   /* a: id, b: 1 = any token but this, c: 1 = no token that a text may have */
  TSL__L_TOKENS,  /* a: an expression of tokens, or TSL__NONE */
  TSL__L_JSON,    /* a: offset of the schema, b: its length */
  TSL__L_EXPR,    /* a: an expression without calls */
  TSL__L_GRAMMAR, /* a: a module: its start */
  TSL__L_IF       /* a: child, b: a condition, of params64 */
} tsl__lkind;

/* Of literals and regular expressions. */
enum {
  TSL__LARK_I = 1, /* case is ignored */
  TSL__LARK_M = 2, /* ^ and $ at lines */
  TSL__LARK_S = 4, /* the dot matches newlines */
  TSL__LARK_X = 8  /* white space and comments are left out */
};

typedef struct tsl__lnode {
  uint8_t kind;
  uint32_t height; /* levels below */
  uint32_t a, b, c;
  uint32_t at; /* offset in the text of its module */
} tsl__lnode;

/* A name, and what it stands for in its module. */
typedef struct tsl__lname {
  uint32_t module;
  uint32_t at, length; /* in the text of the module `text_of`, which is `module` but for aliases */
  uint32_t text_of;
  uint32_t definition; /* TSL__LARK_NOWHERE: it was imported */
  uint32_t target;     /* an import: the module, and the name there, in the text of text_of */
  uint32_t target_at, target_length;
} tsl__lname;

/* One of the bodies of a definition: %extend adds one, which speaks of names of its own module. */
typedef struct tsl__lbody {
  uint32_t module, node;
  uint32_t next; /* another body, or TSL__LARK_NOWHERE */
} tsl__lbody;

typedef struct tsl__ldef {
  uint32_t module, at, length; /* its name */
  bool terminal, declared;     /* `declared` only: it has no body */
  bool lazy;                   /* [lazy] */
  bool stops;                  /* `suffix` is of [stop=…] */
  bool captured, counted;      /* [capture], [max_tokens=…] */
  bool parametric;             /* name::_ */
  bool single;                 /* captured, and nothing but one terminal */
  uint32_t suffix;             /* [suffix=…], [stop=…]: a node, or 0 */
  uint32_t max_tokens;
  uint32_t capture, capture_length;         /* its name, in the text of the module; */
  uint32_t capture_node;                    /* or a literal, if not 0 */
  uint32_t temperature, temperature_length; /* in the text of the module; length 0: none */
  uint32_t first_param, params;             /* of `params`: offsets and lengths of names, in turn */
  uint32_t body;                            /* first of bodies */
  /* of a terminal: its expression and what terminal.c knows of it */
  uint8_t state;
  uint8_t traits;
  tsl__expr raw, value;
  int32_t priority;  /* of a terminal */
  uint32_t token;    /* with a lexer: of tokens, plus 1; 0: it has none yet */
  uint32_t notation; /* of a terminal: characters of its regular expression in Lark */
  uint32_t wrapped;  /* the same, where it stands in another one */
  uint32_t rule;     /* of a rule without parameters, or a terminal with a frame: the GBNF rule */
} tsl__ldef;

/* Is it one expression: a terminal, or a rule that says how it ends? */
static inline bool tsl__lark_is_regular(const tsl__ldef *d) {
  return d->terminal || d->lazy || d->suffix || d->counted || d->single;
}

typedef struct tsl__lmodule {
  const char *text;
  size_t length;
  char *own;        /* a copy to be freed, or NULL */
  const char *name; /* "a/b" for a/b.lark; NULL: the grammar itself */
  uint32_t name_length;
  char *own_name;
  uint32_t importer;  /* module, or TSL__LARK_NOWHERE */
  uint32_t import_at; /* where the grammar itself imports it, or something that does */
  uint32_t around;    /* of a grammar in braces: whose text it stands in; 0: of none */
  uint32_t root;      /* the module whose %ignore counts: this one, or its importer */
  tsl__string label;  /* of a list of grammars: its name; NULL */
  bool listed;        /* it is of a list */
  bool schema;        /* its text is a JSON Schema */
  bool llguidance;    /* it has %llguidance */
  bool skip_first;    /* what is ignored may stand before everything */
  bool skip_once;     /* and is not repeated */
  tsl__expr skip;     /* of a root: what %ignore allows after a terminal; TSL__EPS: nothing */
  uint32_t rule;      /* of a root: its start as a GBNF rule, or TSL__LARK_NOWHERE */
  uint32_t first_action, last_action; /* of its text, or TSL__LARK_NOWHERE */
} tsl__lmodule;

/* What is to be done with a definition, once the imports of its module are known. */
typedef enum tsl__lhow {
  TSL__LARK_DEFINE,
  TSL__LARK_OVERRIDE,
  TSL__LARK_EXTEND,
  TSL__LARK_DECLARE,
  TSL__LARK_IGNORE
} tsl__lhow;
typedef struct tsl__laction {
  tsl__lhow how;
  tsl__ldef definition;
  uint32_t node;
  uint32_t next; /* of the same module, or TSL__LARK_NOWHERE */
} tsl__laction;

/* A value of a parameter, or a condition on it: see param.c. */
typedef struct tsl__lparam {
  uint8_t op;
  uint8_t low, high; /* bits low … high - 1 */
  uint64_t value;    /* a number, or a bit */
  uint32_t a, b;     /* of params64: conditions in it */
} tsl__lparam;

/* An %import that waits. */
typedef struct tsl__limport {
  uint32_t module, at;
  bool relative;
  uint32_t path, parts; /* first of lists: offset and length in turn; its last part is not a name */
  uint32_t names, count;        /* the same: names to import */
  uint32_t alias, alias_length; /* 0: none */
} tsl__limport;

/* A terminal where it stands in a rule. */
typedef struct tsl__lexeme {
  tsl__expr text, skip; /* skip: what is ignored after it */
  bool lazy;            /* of a lazy rule */
  uint32_t token;       /* with a lexer: which one */
} tsl__lexeme;

/* A terminal that a lexer knows: see lexer.h. */
typedef struct tsl__ltoken {
  tsl__expr text;
  int32_t priority;
  uint32_t width;              /* the most characters of a text */
  uint32_t notation;           /* characters of its regular expression in Lark */
  uint32_t module, at, length; /* where it is named, or stands */
  uint32_t def;                /* TSL__LARK_NOWHERE: it has no name */
  uint32_t leaf;               /* the node that its names lead to */
  bool string, ignored, counted;
  bool embedded; /* a string whose place in the order a regular expression takes */
  uint8_t flags; /* of a string or a regular expression */
} tsl__ltoken;

typedef struct tsl__lark {
  tsl__exprs *x;
  tsl_allocator alloc;
  const tsl_vocab *vocab;
  tsl__lark_options options;
  uint32_t max_depth;
  tsl__gbnf *g;
  TSL__VEC(tsl__lnode) nodes;
  TSL__VEC(uint32_t) lists;
  TSL__VEC(uint8_t) bytes;
  TSL__VEC(uint32_t) params;
  TSL__VEC(tsl__lbody) bodies;
  TSL__VEC(tsl__ldef) defs;
  TSL__VEC(tsl__lmodule) modules;
  TSL__VEC(tsl__limport) imports;
  TSL__VEC(tsl__laction) actions;
  TSL__VEC(tsl__lname) names;
  TSL__VEC(uint32_t) ignores; /* definitions */
  TSL__VEC(tsl__lparam) params64;
  TSL__VEC(tsl__lark_mark) marks;
  TSL__VEC(tsl__lexeme) lexemes; /* member c of EXPR nodes, less 1 */
  bool lazy;                     /* some lexeme is lazy */
  TSL__VEC(tsl__ltoken) tokens;  /* with a lexer: terminals that the rules use */
  /* with a lexer: definitions that are one string or regular expression, and tokens without a name
   * (their numbers come after those of the definitions) */
  tsl__index by_leaf;
  bool leaves_known;
  TSL__VEC(char) report; /* items of the grammar's report, as JSON */
  uint32_t top;          /* the module that has the start */
  tsl__arena arena;      /* of a list of grammars */
  tsl__index by_name;    /* of names */
  tsl_status status;
  tsl_error *error;
} tsl__lark;

/* ---- items.c --------------------------------------------------------------------------------- */

/* Fails at a place, once; always false. */
bool tsl__lark_fail(tsl__lark *l, tsl_status status, uint32_t module, size_t at, const char *format,
                    ...) TSL__PRINTF(5, 6);
bool tsl__lark_no_memory(tsl__lark *l);
/* Adds to the report of the grammar: something at a place that has no effect on the language. */
bool tsl__lark_note(tsl__lark *l, uint32_t module, uint32_t at, const char *keyword,
                    const char *reason, const char *what, uint32_t length);
/* Has anything failed, so that the pass must stop? */
bool tsl__lark_failed(tsl__lark *l);
/* 0 (the EMPTY node) on failure. */
uint32_t tsl__lark_node(tsl__lark *l, tsl__lkind kind, uint32_t at, uint32_t a, uint32_t b,
                        uint32_t c);
uint32_t tsl__lark_list(tsl__lark *l, tsl__lkind kind, uint32_t at, const uint32_t *items,
                        size_t count);
static inline const char *tsl__lark_text(const tsl__lark *l, uint32_t module, uint32_t at) {
  return l->modules.at[module].text + at;
}
/* The token of that name, brackets included; fails if there is none. */
uint32_t tsl__lark_token(tsl__lark *l, uint32_t module, uint32_t at, uint32_t length);
/* For messages: how much of a name is shown. */
static inline int tsl__lark_shown(uint32_t length) { return length < 100 ? (int)length : 100; }
/* The name in that module, or NULL. */
tsl__lname *tsl__lark_name(tsl__lark *l, uint32_t module, const char *name, uint32_t length);
/* Adds a name that is not there. */
bool tsl__lark_add_name(tsl__lark *l, tsl__lname name);
/* The definition that a name leads to, imports followed; TSL__LARK_NOWHERE: there is none. */
uint32_t tsl__lark_find(tsl__lark *l, uint32_t module, const char *name, uint32_t length);
void tsl__lark_free(tsl__lark *l);

/* grammars.c: reads a list of grammars, the text of module 0; sets l->top. */
bool tsl__lark_grammars(tsl__lark *l);
/* The module of a listed grammar, or TSL__LARK_NOWHERE. */
uint32_t tsl__lark_grammar(const tsl__lark *l, const char *name, uint32_t length);

/* substring.c: texts of any chunks that follow one another; the empty text, too. TSL__NONE on
 * failure (sticky). */
struct tsl__json;
tsl__expr tsl__lark_chunks(tsl__lark *l, const struct tsl__json *strings);
tsl__expr tsl__lark_words(tsl__lark *l, const char *text, uint32_t length);
tsl__expr tsl__lark_characters(tsl__lark *l, const char *text, uint32_t length);

/* param.c: for a parameter of the value p: its new value; and does a condition hold? */
uint64_t tsl__lark_param_value(const tsl__lark *l, uint32_t param, uint64_t p);
bool tsl__lark_param_holds(const tsl__lark *l, uint32_t param, uint64_t p);

/* parse.c: the text of a module, which was added. */
bool tsl__lark_parse(tsl__lark *l, uint32_t module);

/* imports.c: adds what was imported, and what that imports. */
bool tsl__lark_import(tsl__lark *l);
/* define.c: carries out the actions of all modules, and checks that all names are there. */
bool tsl__lark_define(tsl__lark *l);
/* library.c: the text of a grammar that is built in, or NULL. */
const char *tsl__lark_library(const char *name, size_t length);

/* literal.c: what stands between the quotes of a string, or the slashes of a regular expression, to
 * l->bytes; *first and *count say where. */
bool tsl__lark_unescape(tsl__lark *l, uint32_t module, uint32_t at, uint32_t length, bool pattern,
                        uint32_t *first, uint32_t *count);

/* pattern.c: a regular expression of Python as one of compiler/regex/. */
enum {
  TSL__LARK_LOOKS = 1,    /* it has conditions */
  TSL__LARK_LAZY = 2,     /* it has lazy quantifiers */
  TSL__LARK_LATE = 4,     /* and a greedy one after a lazy one */
  TSL__LARK_VARIABLE = 8, /* it has greedy quantifiers */
  TSL__LARK_COUNTED = 16, /* it counts far enough to want a frame of its own */
  TSL__LARK_OPEN = 32     /* it looks around, and its own text does not decide it */
};
typedef TSL__VEC(char) tsl__lark_chars;
/* False: tsl__lark_fail was called, at `at`. */
bool tsl__lark_pattern(tsl__lark *l, uint32_t module, uint32_t at, const uint8_t *text, size_t n,
                       uint32_t flags, tsl__lark_chars *out, uint8_t *traits);

/* The string of a definition's [suffix=…] or [stop=…]; false: it is no string. */
bool tsl__lark_suffix_text(const tsl__lark *l, const tsl__ldef *d, tsl__string *out);
/* terminal.c: expressions of all terminals, and of what is ignored. */
bool tsl__lark_terminals(tsl__lark *l);
/* The expression of a literal, range or regular expression in a rule. */
bool tsl__lark_leaf(tsl__lark *l, uint32_t module, uint32_t node, tsl__expr *out, uint8_t *traits);
/* The shortest texts of e: those of which no beginning is one, too. */
tsl__expr tsl__lark_shortest(tsl__exprs *x, tsl__expr e);

/* Fails, because the part at that place is open. */
bool tsl__lark_open(tsl__lark *l, uint32_t module, uint32_t at);

/* whole.c: the texts of a terminal, its parts read as one regular expression; false: that does not
 * help. */
bool tsl__lark_whole(tsl__lark *l, const tsl__ldef *d, tsl__expr *out, uint8_t *traits);

/* With a lexer: the token of a terminal in a rule; 0 on failure (token.c). */
uint32_t tsl__lark_token_of(tsl__lark *l, uint32_t module, uint32_t node, tsl__expr text,
                            bool counted);
/* Characters of a terminal as one regular expression in Lark (notation.c). */
uint32_t tsl__lark_notation(tsl__lark *l, uint32_t module, uint32_t node);
/* Those of a definition, to `notation` and `wrapped`; those that it names are done. */
void tsl__lark_measure(tsl__lark *l, tsl__ldef *d);

/* build.c: rules to l->g; *root is where to start. */
bool tsl__lark_build(tsl__lark *l, uint32_t *root);

/* lexeme.c: after build.c. Where a lazy lexeme may begin, no other lexeme may hold its text. */
bool tsl__lark_lexemes(tsl__lark *l, uint32_t *root);

/* lexer.c: after build.c. Rules whose terminals are what a lexer takes. */
bool tsl__lark_lex(tsl__lark *l, uint32_t *root);

#endif
