/* mend_json.h - JSON as models write it when nothing holds them to it, as a tree of true JSON.
 *
 * What is read besides JSON: single and typographic quotes, and Python's and other words for true,
 * false and null. Keys and values without quotes, and `=` for `:`. Commas that are missing or too
 * many, and comments. Numbers such as +1 and .5, control characters in strings, and brackets that
 * do not close.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_TOOLS_MEND_JSON_H
#define TSL_COMPILER_TOOLS_MEND_JSON_H

#include "compiler/json/json.h"
#include "compiler/json/out.h"

/* What was mended. The array repair_names in mend.c has their names, in this order. */
typedef enum tsl__repair {
  TSL__REPAIR_SPELLING,         /* white space, or the order of members */
  TSL__REPAIR_WORD,             /* True, None, ... */
  TSL__REPAIR_QUOTES,           /* other quotes, or none */
  TSL__REPAIR_STRING,           /* a control character, a bad escape, a quote inside */
  TSL__REPAIR_COMMA,            /* missing, or too many */
  TSL__REPAIR_COLON,            /* another character in its place */
  TSL__REPAIR_NUMBER,           /* +1, .5, 1_000 */
  TSL__REPAIR_BRACKET,          /* missing, of the wrong kind, or too many */
  TSL__REPAIR_COMMENT,          /* left out */
  TSL__REPAIR_ENCODED,          /* JSON inside of a string */
  TSL__REPAIR_TYPE,             /* a value of another type, where the schema asks for one */
  TSL__REPAIR_MEMBER,           /* another name for "name" or "arguments" */
  TSL__REPAIR_NAME,             /* the tool's name in another spelling */
  TSL__REPAIR_ID,               /* an id of another shape */
  TSL__REPAIR_POSITION,         /* an argument without its name */
  TSL__REPAIR_BEGIN,            /* the text in front of the call is missing */
  TSL__REPAIR_END,              /* the text behind it */
  TSL__REPAIR_FENCE,            /* a code fence around it */
  TSL__REPAIR_MARKUP,           /* markup of the format where none may stand */
  TSL__REPAIR_STYLE,            /* arguments in another style than the format's */
  TSL__REPAIR_THINKING,         /* a block of thinking that was not opened, or not closed */
  TSL__REPAIR_UNKNOWN_TOOL,     /* with its name */
  TSL__REPAIR_UNKNOWN_ARGUMENT, /* with its name */
  TSL__REPAIR_MISSING_ARGUMENT, /* with its name: the schema requires it */
  TSL__REPAIR_WRONG_ARGUMENT,   /* with its name: the schema does not allow the value */
  TSL__REPAIRS
} tsl__repair;

#define TSL__MEND_DEPTH_MAX 256u /* of values in one another */

/* Where a comment ends. No comment ends in `from`..`to`; one does at `to`, or the text does.
 * Readings begin at many places, and the same comment may never end. */
typedef struct tsl__comment_end {
  uint32_t length; /* bytes of the text */
  uint32_t from, to;
} tsl__comment_end;

/* A reader of such a text. */
typedef struct tsl__mend_json {
  const tsl_allocator *alloc;
  tsl__arena *arena; /* of the tree */
  const char *text;
  uint32_t at, stop;            /* bytes: the next one, and the end of what may be read */
  tsl__comment_end *comments;   /* what all readings of the text share; NULL: nothing */
  tsl__string quote;            /* stands around strings besides quotes; length 0: nothing does */
  uint32_t found;               /* a bit for each repair */
  uint32_t first[TSL__REPAIRS]; /* byte of the first of each */
  bool last;                    /* the text ends at `stop`: what is not whole there was cut off */
  bool cut;                     /* the end cut the last string off */
  bool unclean; /* a string or a bracket did not end as it should: a smaller `stop` may read better
                 */
  tsl_status status; /* sticky: no memory */
} tsl__mend_json;

void tsl__mend_json_note(tsl__mend_json *l, tsl__repair repair, uint32_t at);
/* White space and comments. */
void tsl__mend_json_space(tsl__mend_json *l);
/* The value at l->at, which is moved behind it. NULL: there is none, it is deeper than 256, or no
 * memory is left. */
tsl__json *tsl__mend_json_value(tsl__mend_json *l);
/* Members up to `close`: a ')' ends those of a call of Python's, of which some may have no name.
 * These have `user` 1 and their number as a key. As tsl__mend_json_value. */
tsl__json *tsl__mend_json_members(tsl__mend_json *l, char close);

/* A tree as JSON in one line: {"a": [1, 2]}. */
void tsl__out_json(tsl__out *o, const tsl__json *value);

static inline bool tsl__mend_is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

#endif
