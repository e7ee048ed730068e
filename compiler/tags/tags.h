/* tags.h - text with structure in it: what an assistant writes.
 *
 * Problem   A model writes prose, may think first, and at some moment calls tools. The prose is
 *           free. From the first byte of a call on everything is fixed.
 * Idea      A tree of formats: constant, JSON Schema, regex, GBNF, any text, sequence, or, repeat,
 *           tag, triggered tags, ... It is read from the structural-tag JSON that XGrammar
 *           publishes, or built in C. Each format is an expression (compiler/expr/expr.h); the
 *           matcher needs nothing new.
 *             free text        text & !(.* T .*)    never holds a trigger T
 *             up to a trigger  (.* T) & !(.* T .+)  the first trigger ends it, however tokens split
 *                                                   it: an incomplete trigger is still text
 *             triggered tags   W = free | until(T) · rest of a tag's begin · content · end · W
 *             begins of tags   a trie, so that 500 tools cost as many steps as one
 *           Where constant text spells a special token of the vocabulary, the token itself is
 *           allowed too, as one step.
 * Captures  What a caller wants back (free text, reasoning, a call, its name, its arguments) is a
 *           rule of its own, that is, a frame. parse.c follows a text through the same states and
 *           sees these frames begin and end. There is no second parser.
 *
 * Files     read.c      JSON -> nodes
 *           excludes.c  strings of a schema without certain texts
 *           write.c     nodes -> JSON
 *           text.c      constants, free text, tries of begins
 *           first.c     free text up to the first of many strings that overlap
 *           stops.c     which of many strings overlap, which tag has which trigger
 *           lower.c     nodes -> expressions: tags, loops, captures
 *           leaves.c    nodes -> expressions: schemas and their styles, patterns, text, tokens
 *           loosen.c    parts of a tool's schema that are left out
 *           described.c the report on all schemas of a tree
 *           parse.c     text -> notes of where captures begin and end
 *           events.c    notes -> parts, which a caller reads; the whole as JSON
 *           gaps.c      which text around calls and thinking is no content
 *           mending.c   a parser that refuses no answer
 *           marks.c     captures in grammars of other notations
 *           tags.c      memory and errors of a tree
 *           grammar/tags_build.c, of a later room, makes nodes from C
 * Limits    TSL__TAGS_DEPTH formats inside one another, TSL__TAGS_WRITTEN bytes of a tree that is
 *           written
 * Tested by tests/tags/test_tags.c, tests/tags/test_answers.c, tests/programs/test_tools.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_TAGS_TAGS_H
#define TSL_COMPILER_TAGS_TAGS_H

#include "compiler/expr/expr.h"
#include "compiler/expr/node.h"
#include "compiler/json/json.h"
#include "compiler/schema/schema.h"
#include "runtime/matcher/grammar.h"

#define TSL__TAGS_DEPTH 200u
#define TSL__TAGS_WRITTEN ((size_t)64 << 20)
#define TSL__CONSTANTS 16u

typedef enum tsl__tag_kind {
  TSL__TAG_CONST,    /* text */
  TSL__TAG_SCHEMA,   /* schema, style */
  TSL__TAG_REGEX,    /* text */
  TSL__TAG_GBNF,     /* text; begin: a beginning that is cut off its texts */
  TSL__TAG_ANY,      /* excludes, max_chars, max_tokens */
  TSL__TAG_SEQUENCE, /* items */
  TSL__TAG_OR,       /* items */
  TSL__TAG_REPEAT,   /* items[0], min, max */
  TSL__TAG_TAG,      /* begin, items[0], ends */
  /* triggers, items (tags), excludes, at_least_one, once; by_token: the triggers are tokens */
  TSL__TAG_TRIGGERED,
  TSL__TAG_SEPARATED, /* items (tags), text = separator, at_least_one, once */
  TSL__TAG_DISPATCH,  /* triggers, items (one for each), excludes, once */
  TSL__TAG_TOKENS     /* tokens, complement, min, max times */
} tsl__tag_kind;

/* What a frame is to a reader. What stands in no such frame is text. */
typedef enum tsl__capture_kind {
  TSL__CAPTURE_NONE,
  TSL__CAPTURE_TEXT,      /* a tag around text: its content counts, begin and end do not */
  TSL__CAPTURE_REASONING, /* likewise around thinking */
  TSL__CAPTURE_CALL,      /* a tag around a call; `name` is the tool */
  TSL__CAPTURE_TAG,       /* any other tag; `name` is its begin */
  TSL__CAPTURE_MARKUP,    /* not wanted back, except for captures inside it */
  TSL__CAPTURE_ID,        /* the id of a call */
  TSL__CAPTURE_ARGUMENTS, /* JSON */
  TSL__CAPTURE_MEMBERS,   /* arguments in another style: made of keys and values */
  TSL__CAPTURE_KEY,       /* a key's bare text; `name`: the key, if the text spells it otherwise */
  TSL__CAPTURE_VALUE,     /* JSON; `name` is the key, NULL: the key before */
  TSL__CAPTURE_BARE,      /* a string's text; `name` likewise */
  TSL__CAPTURE_ARRAY,     /* made of values; `name` likewise */
  /* made of keys and values; `name` likewise. Of VALUE to OBJECT, the first that a text can be read
   * as counts */
  TSL__CAPTURE_OBJECT,
  TSL__CAPTURE_TRUE, /* another word for this value; `name` likewise */
  TSL__CAPTURE_FALSE,
  TSL__CAPTURE_NULL
} tsl__capture_kind;

typedef struct tsl__capture {
  tsl__capture_kind kind;
  const char *name; /* NULL if there is none */
  uint32_t name_length;
  uint32_t back; /* bytes before the frame that belong to the capture: the begin of a tag */
  const tsl__string *ends; /* of a tag: one of them ends the frame and is no content */
  uint32_t end_count;
  tsl__expr body, rule;
  uint32_t number; /* among those of its tree, from 0 on */
} tsl__capture;

/* The order of two strings by their bytes: negative, 0 or positive, as for qsort. */
static inline int tsl__tags_order(tsl__string a, tsl__string b) {
  uint32_t n = a.length < b.length ? a.length : b.length;
  int c = n ? memcmp(a.at, b.at, n) : 0;
  return c ? c : (a.length > b.length) - (a.length < b.length);
}

typedef struct tsl__delimiter { /* a string or one token */
  tsl__string text;
  bool is_token;
  tsl_token token;
} tsl__delimiter;

typedef struct tsl__tag tsl__tag;
struct tsl__tag {
  tsl__tag_kind kind;
  tsl__capture_kind capture;
  const char *name; /* of the capture: NULL, or the tool's name */
  uint32_t name_length;
  const tsl__json *at; /* where it stands, for errors; NULL: built in C */
  tsl__string text;
  tsl__delimiter begin, *ends; /* ends: at least one */
  tsl__string *triggers, *excludes;
  tsl_token *tokens; /* sorted */
  tsl__tag **items;
  uint32_t depth; /* built in C: formats inside it, one in the other */
  uint32_t item_count, end_count, trigger_count, exclude_count, token_count;
  uint32_t min, max, max_chars, max_tokens; /* TSL__INF: unbounded */
  tsl__json *schema;
  tsl__string source; /* the schema's text, to find a compiled one again; NULL: not known */
  bool detached;      /* the schema is no part of the text that the rest was read from */
  const char *style;  /* NULL: JSON */
  tsl__string tool;   /* the tool whose arguments the schema describes; NULL: none */
  bool loose;         /* parts of the schema that are not supported may be left out */
  bool at_least_one, once, complement, by_token, any_order;
  uint32_t max_whitespace; /* characters in a row; TSL__INF: any */
};

/* Texts that stand between free text and a call, or thinking, and are no content (gaps.c). */
typedef struct tsl__texts {
  tsl__string *at;
  uint32_t n;
} tsl__texts;

typedef struct tsl__gaps {
  tsl__texts thinking, before, between, after;
} tsl__gaps;

/* A tree of formats under construction; all memory is its arena's. */
typedef struct tsl__tags {
  tsl__arena arena;
  const tsl_vocab *vocab;
  const char *text; /* the text into which the JSON nodes point, in the arena; NULL: none */
  size_t length;
  const tsl__json *root; /* of that text */
  /* not NULL: the arena lives as long as the grammar, so that schemas need not be copied */
  const tsl_allocator *lent;
  tsl__until until; /* what may end the work on the tree early; set by its owner */
  uint32_t work;    /* bytes allocated since the last look at the time */
  tsl__gaps gaps;
  /* makes the grammar's mender from mender_from; NULL: there is none. The mender belongs to the
   * expressions */
  const struct tsl__mender *(*mender)(struct tsl__tags *t, tsl__exprs *x, const void *from);
  const void *mender_from;
  tsl_line_sink report; /* gets a line for each part of a schema that is left out; NULL: nobody */
  void *report_ctx;
  tsl_error *error;
  tsl_status status;
} tsl__tags;

struct tsl__schema_style;

/* A schema that was compiled. One with the same text and options has the same expression. */
typedef struct tsl__schema_part {
  tsl__string source;
  const struct tsl__schema_style *style; /* NULL: JSON */
  uint32_t max_whitespace;
  bool any_order, loose;
  struct tsl__schema_result made;
} tsl__schema_part;

/* A schema of a tree, for the report. */
typedef struct tsl__described {
  struct schema *schema;
  uint32_t offset; /* of the schema in the text that the tree was read from */
  bool tool;       /* it describes the arguments of a tool */
} tsl__described;

/* The texts of a bare string: those of `text` without `close`. */
typedef struct tsl__bare {
  tsl__expr text;
  const char *close; /* a style's own */
  tsl__expr e;
} tsl__bare;

typedef struct tsl__style_text {
  const char *text; /* a style's own */
  tsl__expr e;
} tsl__style_text;

#define TSL__STYLES_MAX 24u

/* What compiled trees keep: belongs to the expressions, and is shared by all grammars over them. */
typedef struct tsl__captures {
  const tsl_allocator *alloc;
  tsl__exprs *x;
  tsl__pool at;     /* of tsl__capture. Parsers read them while another tree adds some */
  tsl__index index; /* of `at` */
  tsl__expr
      nothing; /* a rule for the empty text: keeps a capture before it from being a tail call */
  TSL__VEC(tsl__schema_part) parts;
  tsl__index part_index;                 /* by source */
  TSL__VEC(tsl__style_text) style_texts; /* a handful for each style in use */
  TSL__VEC(tsl__bare) bares;
  tsl__index bare_index; /* by text */
  /* expressions that keep the states of different quotas apart (runtime/matcher/quota.h), in the
   * order of the quotas */
  TSL__VEC(tsl__expr) quotas;
  const tsl_vocab *vocab;
  tsl__strings special_texts; /* of special tokens with text, sorted */
  tsl_token *specials;        /* the tokens, in the same order */
  tsl__bytes special_first;   /* their first bytes */
  /* the styles used so far, each with this struct as its context */
  const struct tsl__schema_style *styles[TSL__STYLES_MAX];
  tsl_schema_options schema; /* of all schemas in it */
} tsl__captures;

typedef struct tsl__counted {
  tsl__expr rule; /* its frame */
  uint32_t max_tokens;
  const struct tsl__tag *of; /* the format; its tree may be gone */
} tsl__counted;

/* What a grammar of a tree knows besides: belongs to the expressions. */
typedef struct tsl__tagged {
  tsl__captures *captures;
  /* begins and ends of tags: text that may become one is held back by a streaming reader */
  tsl__string *held;
  uint32_t held_count, held_longest;
  tsl__bytes held_first; /* their first bytes */
  tsl__counted *counted; /* texts whose tokens are counted */
  uint32_t counted_count;
  tsl__described *described;
  uint32_t described_count;
  tsl__string text; /* what offsets of `described` are in; NULL: it is kept elsewhere */
  tsl__gaps gaps;
  bool whole;                       /* the content of a tag has that of tags in it */
  const struct tsl__mender *mender; /* reads what the grammar refuses (mended.h); NULL: nothing */
} tsl__tagged;

void tsl__tags_init(tsl__tags *t, const tsl_vocab *vocab, const tsl_allocator *alloc,
                    tsl_error *error);
void tsl__tags_free(tsl__tags *t);
/* Zeroed memory; NULL after a failure. */
void *tsl__tags_alloc(tsl__tags *t, size_t size);
/* Fail for good, the first failure stays; `at` may be NULL. Returns NULL, which is false, too. */
void *tsl__tags_fail(tsl__tags *t, tsl_status status, const tsl__json *at, const char *format, ...)
    TSL__PRINTF(4, 5);

/* ---- read.c ---------------------------------------------------------------------------------- */
/* A structural tag, in the form {"type": "structural_tag", "format": ...}, the legacy one with
 * "structures" and "triggers", or a bare format. NULL on failure. */
tsl__tag *tsl__tags_read(tsl__tags *t, const tsl__json *json);
tsl__tag *tsl__tags_node(tsl__tags *t, tsl__tag_kind kind, const tsl__json *at);

/* ---- excludes.c ------------------------------------------------------------------------------ */
/* Makes the schema of a TSL__TAG_SCHEMA one whose strings do not hold its `excludes`. False on
 * failure. */
bool tsl__tags_exclude(tsl__tags *t, tsl__tag *n);

/* ---- text.c ---------------------------------------------------------------------------------- */
struct tsl__tags_lowering;
/* Constant text, special tokens in it allowed as themselves. */
tsl__expr tsl__tags_constant(struct tsl__tags_lowering *l, tsl__string text);
tsl__expr tsl__captures_constant(const struct tsl__captures *m, tsl__string text);
/* The texts of `text` in which `close` does not occur. `close` is one of a style: it stays where it
 * is. */
tsl__expr tsl__captures_without(struct tsl__captures *m, tsl__expr text, const char *close);
/* The special token whose text reaches over byte `at` of a constant, and where that begins and
 * ends. TSL_NO_TOKEN: none that a text may have does. */
tsl_token tsl__tags_across(const struct tsl__tags_lowering *l, tsl__string text, uint32_t at,
                           uint32_t *from, uint32_t *to);
/* Valid UTF-8 without any of these strings, of at most `max_chars` characters. */
tsl__expr tsl__tags_free_text(struct tsl__tags_lowering *l, const tsl__string *without, uint32_t n,
                              uint32_t max_chars);
/* Free text up to one of several strings. It is cut where the first of them ends. */
typedef struct tsl__cut {
  /* text: free text without the strings. late: the complement of the texts that go on after one of
   * them; NONE: not requested yet */
  tsl__expr text, late;
  const uint8_t *apart; /* for each: TSL__STOP_... */
  const tsl__string *stops;
  uint32_t count;
  bool excludes; /* other strings are excluded from the text, too */
} tsl__cut;
/* The first `stops` strings of `without` end the text; the others are excluded. False after a
 * failure. */
bool tsl__tags_cut(struct tsl__tags_lowering *l, const tsl__string *without, uint32_t n,
                   uint32_t stops, tsl__cut *out);
/* Does a stop spell no special token, and overlap neither itself nor another one? Then the texts up
 * to it are free text followed by the stop. */
bool tsl__tags_is_plain(struct tsl__tags_lowering *l, const tsl__cut *cut, uint32_t stop);
/* Free text up to and with the stop of that index. `trigger`: it is a trigger, not an end. */
tsl__expr tsl__tags_until(struct tsl__tags_lowering *l, tsl__cut *cut, uint32_t stop, bool trigger);
/* Does a text spell special tokens? */
bool tsl__tags_names_tokens(struct tsl__tags_lowering *l, tsl__string text);
/* texts[i] · then[i] for all i, as a trie, without the first `skip` bytes of each. Sorts `texts`
 * and `then`. */
tsl__expr tsl__tags_trie(struct tsl__tags_lowering *l, tsl__string *texts, tsl__expr *then,
                         uint32_t n, uint32_t skip);

/* ---- first.c --------------------------------------------------------------------------------- */
/* Free text without any of the stops, or up to the stop that ends first. If that is stop i < n,
 * then[i] follows. TSL__NONE: no two of the first n overlap, or first.c cannot follow them, or a
 * failure. Then the caller uses tsl__tags_until for each stop. */
tsl__expr tsl__tags_first(struct tsl__tags_lowering *l, const tsl__cut *cut, const tsl__expr *then,
                          uint32_t n);

/* ---- stops.c --------------------------------------------------------------------------------- */
/* How free text up to a string can be cut. */
enum {
  TSL__STOP_LATE,  /* another string may end first, or the string itself */
  TSL__STOP_APART, /* in one way only: the string overlaps neither itself nor another one */
  TSL__STOP_NEVER  /* not at all: another string ends within it */
};
/* TSL__STOP_... of each of n strings. NULL after a failure. */
uint8_t *tsl__tags_apart(struct tsl__tags_lowering *l, const tsl__string *strings, uint32_t n);
/* The index of the trigger of each tag of triggered tags: each has one, and each trigger a tag.
 * NULL after a failure. */
uint32_t *tsl__tags_triggers(struct tsl__tags_lowering *l, const tsl__tag *n);

/* ---- lower.c --------------------------------------------------------------------------------- */
typedef struct tsl__tags_lowering {
  tsl__tags *tags;
  tsl__exprs *x;
  tsl__captures *captures;
  const tsl_schema_options *schema;
  const tsl_limits *limits;
  tsl__tagged *out;
  TSL__VEC(tsl__string) held;
  /* the last constants that were lowered */
  struct tsl__constant {
    tsl__string text;
    tsl__expr e;
  } constants[TSL__CONSTANTS];
  uint32_t constant_count;
  struct tsl__constant pattern; /* the last one, and its expression; TSL__NONE: none yet */
  struct tsl__constant grammar; /* likewise */
  /* the last choice of constants within a frame; NULL: none yet */
  struct tsl__choice_of {
    const tsl__tag *of;
    tsl__expr e;
  } choice;
  TSL__VEC(tsl__counted) counted;
  TSL__VEC(tsl__described) described;
} tsl__tags_lowering;
/* The expression of a tree; TSL__NONE on failure (t->status) or if nothing matches. `captures`:
 * those of an earlier tree over the same expressions, or NULL. `schema` may be NULL. */
tsl__expr tsl__tags_lower(tsl__tags *t, tsl__exprs *x, const tsl__tag *root,
                          tsl__captures *captures, const tsl_schema_options *schema,
                          const tsl_limits *limits, tsl__tagged **out);
/* The capture that a rule's expression bears, or NULL. */
const tsl__capture *tsl__capture_of(const tsl__exprs *x, tsl__expr rule);
static inline const tsl__capture *tsl__capture_at(const tsl__captures *m, uint32_t number) {
  return tsl__pool_at_of(&m->at, number, sizeof(tsl__capture));
}

/* ---- described.c ----------------------------------------------------------------------------- */
/* What is enforced of the schemas of a tree: a NUL-terminated JSON array that lives with its
 * expressions. `text`: what the tree was read from; NULL: it was built in C. NULL when out of
 * memory. */
const char *tsl__tags_report(const tsl__tagged *tagged, tsl__string text);

/* ---- marks.c --------------------------------------------------------------------------------- */
/* Captures of a grammar that is no tree of formats. */
tsl__captures *tsl__captures_new(tsl__exprs *x, const tsl_vocab *vocab);
typedef struct tsl__marks tsl__marks;
/* Belongs to x; NULL when out of memory. */
tsl__marks *tsl__marks_new(tsl__exprs *x, const tsl_vocab *vocab);
/* The expression for a part of a grammar that is captured, or whose tokens are counted. `name`: of
 * the capture, NULL: none. `end`: the end of the part that is not captured, NULL: all is.
 * `max_tokens`: TSL__INF: not counted. TSL__NONE on failure (sticky). */
tsl__expr tsl__marks_add(tsl__marks *m, tsl__string name, tsl__string end, uint32_t max_tokens,
                         tsl__expr body);
/* All marks, for the grammar; NULL when out of memory. */
tsl__tagged *tsl__marks_finish(tsl__marks *m);

/* write.c: a tree as structural-tag JSON, NUL-terminated, in t's arena. NULL on failure. */
char *tsl__tags_write(tsl__tags *t, const tsl__tag *root);

#endif
