/* json.h - a JSON text as a tree in one arena.
 *
 * Problem   Schemas are read once, in microseconds. They are pointed into for as long as the
 *           grammar lives: by errors, by reports, by rules that are unfolded late.
 * Idea      Nodes are 40 bytes; the children of a container are one contiguous array that is copied
 *           into the arena when the container closes. The text is copied first, so that strings
 *           without escapes and all numbers simply point into it.
 * Values    Strings and keys are decoded. Numbers keep their spelling. Of members with equal keys
 *           the last value wins and stands where the first one stood. A lone surrogate escape is an
 *           error: it is no text.
 * Cost      One pass; about 1 ns a byte.
 * Tested by tests/json/test_json.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_JSON_JSON_H
#define TSL_COMPILER_JSON_JSON_H

#include "runtime/core/base.h"

enum {
  TSL__JSON_NULL,
  TSL__JSON_FALSE,
  TSL__JSON_TRUE,
  TSL__JSON_NUMBER,
  TSL__JSON_STRING,
  TSL__JSON_ARRAY,
  TSL__JSON_OBJECT,
  /* a string that is a grammar in Lark's notation, in place of a pattern; no text is read as one */
  TSL__JSON_GRAMMAR
};

typedef struct tsl__json {
  const char *key; /* of a member; not NUL-terminated; NULL where the parent is no object */
  union {
    const char *text;        /* string: decoded UTF-8; number: as spelled; neither NUL-terminated */
    struct tsl__json *items; /* array, object: the children */
  };
  uint32_t key_length; /* bytes */
  uint32_t length;     /* bytes of `text`, or number of children */
  uint32_t offset;     /* of the value's first byte in the text parsed */
  uint32_t end;        /* array, object: of the byte after its last one */
  uint32_t kind : 3;   /* TSL__JSON_… */
  /* array, object: a member in it, at any depth, may name a schema: a string "id", "$id", "$anchor"
   * or "$dynamicAnchor". So a search for such members need not look everywhere */
  uint32_t names : 1;
  uint32_t repeated : 1; /* of a member: others of its key stood before it, and are gone */
  uint32_t user : 27;    /* for the owner of the tree; 0 after parsing */
} tsl__json;

#define TSL__JSON_USER_MAX ((1u << 27) - 1)

/* How deep a text may be that is followed by recursion. The caller's limits say it (0: the
 * default), but it is no deeper than is safe in 8 MiB of stack. */
#define TSL__JSON_DEPTH_DEFAULT 512u
#define TSL__JSON_DEPTH_MAX 1000u
static inline uint32_t tsl__json_depth(uint32_t wanted) {
  return !wanted                        ? TSL__JSON_DEPTH_DEFAULT
         : wanted < TSL__JSON_DEPTH_MAX ? wanted
                                        : TSL__JSON_DEPTH_MAX;
}

/* Parse a whole JSON text (UTF-8; white space around it is fine). The tree and all it points to
 * live in `arena`. At most `max_depth` containers inside one another. `until` ends it early; NULL:
 * nothing does. Errors: SYNTAX and LIMIT with offset, line and column; NO_MEMORY; CANCELLED. */
tsl_status tsl__json_parse(tsl__arena *arena, const tsl__until *until, const char *text,
                           size_t length, uint32_t max_depth, tsl__json **out, tsl_error *error);

/* The same for a text that lives as long as the tree: it is not copied. */
tsl_status tsl__json_parse_in_place(tsl__arena *arena, const tsl__until *until, const char *text,
                                    size_t length, uint32_t max_depth, tsl__json **out,
                                    tsl_error *error);

/* Bytes of the UTF-8 sequence at p, which has bytes up to `stop`: 2 to 4; 0 if it is none, or a
 * single byte. */
size_t tsl__json_sequence(const char *p, const char *stop);

/* A copy of a tree, strings included, that owns nothing outside `arena`; `user` is 0 in it. NULL
 * when out of memory. Recursion is as deep as the tree. */
tsl__json *tsl__json_copy(tsl__arena *arena, const tsl__json *node);

/* The member of an object (a node of another kind has none); NULL if there is none. Linear. */
tsl__json *tsl__json_get(const tsl__json *object, const char *key, size_t length);
static inline bool tsl__json_is(const tsl__json *string, const char *text, size_t length) {
  return string->kind == TSL__JSON_STRING && string->length == length &&
         !memcmp(string->text, text, length);
}

/* The member of that name, which a NUL ends; NULL if there is none. `object` may be NULL. */
static inline tsl__json *tsl__json_member(const tsl__json *object, const char *name) {
  return object ? tsl__json_get(object, name, strlen(name)) : NULL;
}
/* Is it the string of that text, which a NUL ends? NULL is none. */
static inline bool tsl__json_says(const tsl__json *value, const char *text) {
  return value && tsl__json_is(value, text, strlen(text));
}
/* The text of a string; "" of anything else, and of NULL. */
static inline tsl__string tsl__json_text(const tsl__json *value) {
  return value && value->kind == TSL__JSON_STRING ? (tsl__string){value->text, value->length}
                                                  : TSL__NO_TEXT;
}
static inline tsl__string tsl__json_key(const tsl__json *member) {
  return (tsl__string){member->key, member->key_length};
}

/* The item of an array that a token of a JSON pointer (RFC 6901) means; NULL if there is none. A
 * node of another kind has no items. */
tsl__json *tsl__json_item(const tsl__json *array, const char *token, size_t length);

/* Write the JSON pointer of `node` below `root`, NUL-terminated and cut at n bytes. Returns the
 * length it would need, SIZE_MAX if node is not below root. A search through the tree: for errors.
 * Recursion is as deep as the tree. */
size_t tsl__json_pointer(const tsl__json *root, const tsl__json *node, char *out, size_t n);

/* A key as one token of a JSON pointer (RFC 6901), without the slash before it. Both write to
 * `out`, or only count where it is NULL; they return the bytes. No NUL is written. */
size_t tsl__json_put_token(char *out, const char *key, size_t length);
/* A text as the inside of a JSON string: escaped is what has to be. */
size_t tsl__json_put_escaped(char *out, const char *text, size_t length);

/* Two members' names. */
static inline bool tsl__json_same_key(const tsl__json *a, const tsl__json *b) {
  return a->key_length == b->key_length && !memcmp(a->key, b->key, a->key_length);
}

/* Equal as JSON Schema compares: numbers by value, objects whatever the order. Recursion is as deep
 * as the trees. */
bool tsl__json_equal(const tsl__json *a, const tsl__json *b);

/* A non-negative integer, in any spelling ("3", "3.0", "0.3e1"): *out saturates at UINT32_MAX - 1.
 * False if it is none. */
bool tsl__json_count(const tsl__json *number, uint32_t *out);

#endif
