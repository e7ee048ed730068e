/* reader.h - what GBNF, EBNF and ABNF share: a text, where the reading is, words and lists.
 *
 * Three notations differ in space, in escapes and in what an item is. They share the rest: strings,
 * classes, tokens, counts, sequences, alternatives, names and the way to fail. What differs stands
 * in a tsl__gdialect. GBNF and EBNF use all of this. ABNF has a grammar of its own for what stands
 * between its words (`2*5element`, `/`), so it takes the words and the lists alone.
 *
 * Use       tsl__greader r = {.x = x, .vocab = vocab, .dialect = &dialect, .error = error};
 *           if (tsl__greader_begin(&r, text, length, "", max_depth)) ... read rules ...
 *           tsl__greader_end(&r);
 *           r.status says how it went; r.g is the grammar, which x owns.
 * Failing   The first error sets r->status, and later ones do nothing. A function that fails
 *           returns node 0, the empty text. Each function may be called after a failure.
 * Places    A word's function begins at its first character, and ends behind its last one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_GBNF_READER_H
#define TSL_COMPILER_GBNF_READER_H

#include "compiler/gbnf/ast.h"

typedef struct tsl__greader tsl__greader;

/* What one notation says otherwise than another. */
typedef struct tsl__gdialect {
  /* The code point of the escape whose backslash is at `start`, and whose letter c (-1: the text
   * ends) is read over. */
  uint32_t (*escape)(tsl__greader *r, size_t start, int c);
  /* Space and comments; `lines`: ends of lines, too. */
  void (*space)(tsl__greader *r, bool lines);
  /* An item without quantifier; *none: there is no item here. */
  uint32_t (*item)(tsl__greader *r, uint32_t depth, bool *none);
  bool one_line;    /* strings and classes end before the line does */
  bool empty_class; /* [] is a class: it matches nothing */
  bool minus_one;   /* {2,-1} is {2,} */
} tsl__gdialect;

struct tsl__greader {
  tsl__gbnf *g;
  tsl__exprs *x;
  tsl_allocator alloc;
  const tsl_vocab *vocab; /* NULL: tokens have no names */
  const tsl__gdialect *dialect;
  const char *text; /* g->text: the caller's, and perhaps more behind it */
  size_t length;    /* what is to be read of it */
  size_t own;       /* bytes of the caller's text; an error's place is in it */
  size_t at;
  uint32_t max_depth;
  uint32_t lines; /* newlines before `counted` */
  size_t counted;
  TSL__VEC(uint32_t) pending; /* items of the sequences and alternatives that are open */
  tsl_status status;
  tsl_error *error;
};

/* ---- begin and end --------------------------------------------------------------------------- */

/* Copies the text, and `behind` after it, into a new grammar; max_depth 0 is the default. False:
 * r->status says why. A text of over 2 GiB, or with a byte order mark, is refused. */
bool tsl__greader_begin(tsl__greader *r, const char *text, size_t length, const char *behind,
                        uint32_t max_depth);
/* Frees what the reading needed, and leaves the grammar. */
void tsl__greader_end(tsl__greader *r);
/* The number of the rule of that name (which has a NUL); an error where there is none. */
uint32_t tsl__greader_root(tsl__greader *r, const char *name);

/* ---- failing --------------------------------------------------------------------------------- */

#define TSL__G_FAIL_AS(r, kind, offset, ...)                       \
  ((r)->status =                                                   \
       (r)->status                                                 \
           ? (r)->status                                           \
           : tsl__fail_at((r)->error, (kind), (r)->text, (r)->own, \
                          (size_t)(offset) < (r)->own ? (size_t)(offset) : (r)->own, __VA_ARGS__))
#define TSL__G_FAIL(r, offset, ...) TSL__G_FAIL_AS(r, TSL_ERR_SYNTAX, offset, __VA_ARGS__)

void tsl__greader_limit(tsl__greader *r, size_t offset, const char *what, unsigned limit);
void tsl__greader_no_memory(tsl__greader *r);
/* Is there no sense in going on? Then r->status is set. */
bool tsl__greader_over(tsl__greader *r);

/* ---- characters ------------------------------------------------------------------------------ */

static inline int tsl__greader_peek(const tsl__greader *r) {
  return r->at < r->length ? (unsigned char)r->text[r->at] : -1;
}
static inline bool tsl__greader_take(tsl__greader *r, int c) {
  return tsl__greader_peek(r) == c && c >= 0 && (r->at++, true);
}
static inline bool tsl__greader_is_digit(int c) { return c >= '0' && c <= '9'; }
static inline bool tsl__greader_is_letter(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
static inline bool tsl__greader_is_line_end(int c) { return c == '\n' || c == '\r'; }
/* A decimal number up to `limit`; `what` it is, for the message. */
uint32_t tsl__greader_number(tsl__greader *r, const char *what, uint32_t limit);
/* `least` to `most` hexadecimal digits of the escape at `start`: a code point. */
uint32_t tsl__greader_hex(tsl__greader *r, size_t start, unsigned least, unsigned most);

/* ---- words ----------------------------------------------------------------------------------- */

/* The characters of "…" go to the grammar's bytes as UTF-8; *first and *count say where. */
void tsl__greader_string(tsl__greader *r, uint32_t *first, uint32_t *count);
/* Nodes. */
uint32_t tsl__greader_literal(tsl__greader *r);                         /* "…" */
uint32_t tsl__greader_bytes(tsl__greader *r, const char *at, size_t n); /* a text's node */
uint32_t tsl__greader_class(tsl__greader *r);                           /* [a-z], [^a-z] */
/* <[7]>, <name>, !<[7]>: the id, and whether all others are meant. */
tsl_token tsl__greader_token(tsl__greader *r, bool *others);
/* The id of a token, which the vocabulary must have. */
tsl_token tsl__greader_token_id(tsl__greader *r);

/* ---- rules ----------------------------------------------------------------------------------- */

/* The rule of the name here, of `length` bytes; the name is read over. */
uint32_t tsl__greader_mention(tsl__greader *r, size_t length);
/* The same: a node. */
uint32_t tsl__greader_reference(tsl__greader *r, size_t length);
/* Fails if the rule has a body already; `hint` is what the message goes on with. */
bool tsl__greader_is_new(tsl__greader *r, uint32_t rule, size_t start, const char *hint);
/* The body of a rule whose name stood at `start`. Starts grow from call to call. */
void tsl__greader_define(tsl__greader *r, uint32_t rule, size_t start, uint32_t body);
/* Fails with the name of the rule: it has no body. */
void tsl__greader_undefined(tsl__greader *r, const tsl__grule *rule);
/* The end of a text: it has rules, and each has a body. */
void tsl__greader_all_defined(tsl__greader *r);

/* ---- structure ------------------------------------------------------------------------------- */

/* Adds an item to the list that is open; false: r->status is set. */
bool tsl__greader_pend(tsl__greader *r, uint32_t node);
/* The node of all items from `base` on, which leave the list. */
uint32_t tsl__greader_collect(tsl__greader *r, tsl__gkind kind, size_t base);
/* The repeat of a node; min and max as they stand in the text. */
uint32_t tsl__greader_repeat(tsl__greader *r, size_t start, uint32_t node, uint32_t min,
                             uint32_t max);
/* ( … ), one level deeper. */
uint32_t tsl__greader_group(tsl__greader *r, uint32_t depth);
/* a b | c, up to something that is none of the dialect's items. */
uint32_t tsl__greader_alternatives(tsl__greader *r, uint32_t depth);

#endif
