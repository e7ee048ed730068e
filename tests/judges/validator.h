/* validator.h - a JSON Schema validator that shares nothing with the compiler: its own JSON reader,
 * its own numbers, PCRE2 for patterns.
 *
 * Draft 2020-12, every assertion and applicator of it, `$ref` within the document. Too simple to be
 * wrong: it walks schema and instance together, and compares pair by pair. Where it would have to
 * guess it gives no verdict (NO_VERDICT). Such places are other drafts, `format`, `$id`, `$anchor`,
 * `$dynamicRef`, malformed schemas, and sizes past its arrays. Patterns that ECMA-262 and PCRE2 may
 * read differently are such places, too. An instance is JSON by RFC 8259 in strict UTF-8. As the
 * engine's default is, an object with a repeated name is not valid, or it gives no verdict.
 *
 * Tested by tests/engine/test_validator.c, against the JSON Schema Test Suite where that is
 * fetched.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_JUDGES_VALIDATOR_H
#define TSL_TESTS_JUDGES_VALIDATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum verdict { NO_VERDICT, INVALID, VALID } verdict;

typedef enum json_kind {
  JSON_NULL,
  JSON_FALSE,
  JSON_TRUE,
  JSON_NUMBER,
  JSON_STRING,
  JSON_ARRAY,
  JSON_OBJECT
} json_kind;

/* A value; the items or members of a container hang on `first`, each on the `next` of the one
 * before it. */
typedef struct json_value {
  json_kind kind;
  uint32_t name_n, text_n, count; /* bytes; items or members */
  const char *name;               /* of a member, decoded */
  const char *text;               /* of a string: decoded; of a number: as written */
  const struct json_value *first, *next;
} json_value;

#define JSON_VALUES 20000u
#define JSON_TEXT 262144u

typedef struct json_document {
  json_value value[JSON_VALUES]; /* [0] is the root */
  char text[JSON_TEXT];          /* what `name` and `text` point to */
  uint32_t values, bytes;
  bool repeated; /* an object has a name twice */
  bool odd;      /* half a surrogate pair: no Unicode text */
  bool full;     /* the arrays are too small */
} json_document;

/* False if it is no JSON, or if the document is `full`. */
bool json_document_read(json_document *d, const char *text, size_t n);
/* The member of that name, or NULL. */
const json_value *json_member(const json_value *object, const char *name);
/* Are two texts of so many bytes equal? */
bool json_same_text(const char *a, uint32_t an, const char *b, uint32_t bn);
/* Both must have been read, the schema from the beginning of a document of its own. */
verdict validator_judge(const json_document *schema, const json_value *root,
                        const json_value *instance);
/* The verdict about an instance in which an object has a name twice. NO_VERDICT where three or more
 * patterns of names overlap: there the engine does not compare names
 * (compiler/schema/keys/by_pattern.c). */
verdict validator_judge_repeated(const json_document *schema);
/* The same for texts. */
verdict validator_judge_texts(const char *schema, size_t schema_n, const char *text, size_t n);

#endif
