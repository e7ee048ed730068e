/* draw_schema.h - schemas and values drawn out of the bytes of an input, and a small vocabulary to
 * write them with.
 *
 * A choice is a byte; without any left every choice is the first one. So what an engine of fuzzing
 * changes in its input is a keyword, a bound or a name of the schema.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_FUZZ_DRAW_SCHEMA_H
#define TSL_FUZZ_DRAW_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "turnstile.h"
#include "tests/support/nth_token.h"

#define SCHEMA_MAX 8192u

typedef struct draws {
  const uint8_t *at, *end; /* choices left */
} draws;

typedef struct text {
  char at[SCHEMA_MAX];
  size_t n;
  bool full;
} text;

static void put(text *t, const char *s) {
  size_t n = strlen(s);
  if (t->n + n >= sizeof t->at) {
    t->full = true;
    return;
  }
  memcpy(t->at + t->n, s, n + 1);
  t->n += n;
}

static unsigned choose(draws *r, unsigned n) { return r->at < r->end ? *r->at++ % n : 0; }

#define PICK(r, list) (list)[choose(r, sizeof(list) / sizeof *(list))]

/* ---- drawing --------------------------------------------------------------------------------- */

static const char *const names[] = {"\"a\"", "\"b\"",        "\"ab\"",   "\"\"",
                                    "\"x\"", "\"\xC3\xA9\"", "\"c\\\"\""};
static const char *const scalars[] = {
    "null",   "1",           "\"a\"",    "true",         "false",
    "0",      "-0",          "1.0",      "10e-1",        "2",
    "3",      "1.5",         "-1",       "10",           "1e1",
    "0.1",    "100",         "12.25",    "\"\"",         "\"b\"",
    "\"ab\"", "\"\\u0061\"", "\"aab\"",  "\"\xC3\xA9\"", "\"\xF0\x9F\x98\x80\"",
    "\"1\"",  "\"a b\"",     "\"\\\"\"", "1e-3",         "123456789012345678901234567890"};

static void draw_value(draws *r, text *t, unsigned depth) {
  unsigned kind = choose(r, 8), n;
  if (depth == 0 || kind < 4) {
    put(t, PICK(r, scalars));
    return;
  }
  n = choose(r, 4);
  put(t, kind < 6 ? "[" : "{");
  for (unsigned i = 0; i < n; i++) {
    if (i) put(t, ",");
    if (kind >= 6) put(t, names[(i + kind) % (sizeof names / sizeof *names)]), put(t, ":");
    draw_value(r, t, depth - 1);
  }
  put(t, kind < 6 ? "]" : "}");
}

static void draw_schema(draws *r, text *t, unsigned depth);

/* { name: ..., } of the schemas or lists that `what` draws. */
static void draw_map(draws *r, text *t, unsigned depth, void (*what)(draws *, text *, unsigned),
                     const char *const *keys, unsigned key_count) {
  unsigned n = 1 + choose(r, 3), first = choose(r, key_count);
  put(t, "{");
  for (unsigned i = 0; i < n && i < key_count; i++) {
    put(t, i ? "," : "");
    put(t, keys[(first + i) % key_count]);
    put(t, ":");
    what(r, t, depth);
  }
  put(t, "}");
}

static void draw_list(draws *r, text *t, unsigned depth, void (*what)(draws *, text *, unsigned)) {
  unsigned n = 1 + choose(r, 3);
  put(t, "[");
  for (unsigned i = 0; i < n; i++) {
    put(t, i ? "," : "");
    what(r, t, depth);
  }
  put(t, "]");
}

/* Different names. */
static void draw_names(draws *r, text *t, unsigned depth) {
  unsigned n = choose(r, 3), first = choose(r, 7);
  (void)depth;
  put(t, "[");
  for (unsigned i = 0; i < n; i++) put(t, i ? "," : ""), put(t, names[(first + i) % 7]);
  put(t, "]");
}

static const char *const patterns[] = {
    "\"^a\"",       "\"b$\"",         "\"^[ab]+$\"", "\"a|c\"",          "\"^x?$\"",
    "\".\"",        "\"^(a|b.*)$\"",  "\"[^a]\"",    "\"^\\\\d{1,3}$\"", "\"^.{2}$\"",
    "\"^(ab?)*$\"", "\"\\\\w\\\\W\"", "\"^$\"",      "\"^(?:aa)+b\""};
static const char *const counts[] = {"1", "0", "2", "3", "2.0", "1e0", "5"};
static const char *const bounds[] = {"1", "0", "-1", "2.5", "10", "0.1", "99", "-0.0", "1e2"};
static const char *const steps[] = {"1", "2", "0.5", "0.1", "3", "2.50", "7", "1e1"};
static const char *const types[] = {"\"string\"",
                                    "\"integer\"",
                                    "\"number\"",
                                    "\"object\"",
                                    "\"array\"",
                                    "\"boolean\"",
                                    "\"null\"",
                                    "[\"string\",\"integer\"]",
                                    "[\"object\",\"null\"]",
                                    "[\"array\",\"number\"]"};
static const char *const refs[] = {"\"#/$defs/d\"", "\"#/$defs/e\"", "\"#\""};

/* What the value of a keyword is. */
enum shape {
  SCHEMA,
  SCHEMAS,
  MAP,
  PATTERN_MAP,
  NAMES_MAP,
  NAMES,
  VALUE,
  VALUES,
  COUNT,
  BOUND,
  STEP,
  PATTERN,
  TYPE,
  TRUTH,
  REF
};

static const struct keyword {
  const char *name;
  enum shape shape;
} keywords[] = {
    {"\"type\":", TYPE},
    {"\"properties\":", MAP},
    {"\"required\":", NAMES},
    {"\"items\":", SCHEMA},
    {"\"enum\":", VALUES},
    {"\"const\":", VALUE},
    {"\"additionalProperties\":", SCHEMA},
    {"\"patternProperties\":", PATTERN_MAP},
    {"\"propertyNames\":", SCHEMA},
    {"\"minProperties\":", COUNT},
    {"\"maxProperties\":", COUNT},
    {"\"dependentRequired\":", NAMES_MAP},
    {"\"dependentSchemas\":", MAP},
    {"\"prefixItems\":", SCHEMAS},
    {"\"contains\":", SCHEMA},
    {"\"minContains\":", COUNT},
    {"\"maxContains\":", COUNT},
    {"\"minItems\":", COUNT},
    {"\"maxItems\":", COUNT},
    {"\"uniqueItems\":", TRUTH},
    {"\"minLength\":", COUNT},
    {"\"maxLength\":", COUNT},
    {"\"pattern\":", PATTERN},
    {"\"minimum\":", BOUND},
    {"\"maximum\":", BOUND},
    {"\"exclusiveMinimum\":", BOUND},
    {"\"exclusiveMaximum\":", BOUND},
    {"\"multipleOf\":", STEP},
    {"\"allOf\":", SCHEMAS},
    {"\"anyOf\":", SCHEMAS},
    {"\"oneOf\":", SCHEMAS},
    {"\"not\":", SCHEMA},
    {"\"if\":", SCHEMA},
    {"\"then\":", SCHEMA},
    {"\"else\":", SCHEMA},
    {"\"$ref\":", REF},
    {"\"unevaluatedItems\":", SCHEMA},
    {"\"unevaluatedProperties\":", SCHEMA},
};
#define KEYWORDS (sizeof keywords / sizeof *keywords)

static void draw_shape(draws *r, text *t, enum shape shape, unsigned depth) {
  switch (shape) {
  case SCHEMA: draw_schema(r, t, depth); break;
  case SCHEMAS: draw_list(r, t, depth, draw_schema); break;
  case MAP: draw_map(r, t, depth, draw_schema, names, 7); break;
  case PATTERN_MAP:
    draw_map(r, t, depth, draw_schema, patterns, sizeof patterns / sizeof *patterns);
    break;
  case NAMES_MAP: draw_map(r, t, depth, draw_names, names, 7); break;
  case NAMES: draw_names(r, t, depth); break;
  case VALUE: draw_value(r, t, 2); break;
  case VALUES: draw_list(r, t, 1, draw_value); break;
  case COUNT: put(t, PICK(r, counts)); break;
  case BOUND: put(t, PICK(r, bounds)); break;
  case STEP: put(t, PICK(r, steps)); break;
  case PATTERN: put(t, PICK(r, patterns)); break;
  case TYPE: put(t, PICK(r, types)); break;
  case TRUTH: put(t, "true"); break;
  case REF: put(t, PICK(r, refs)); break;
  }
}

/* Up to six keywords, each once; `begun` has been written already. */
static void draw_keywords(draws *r, text *t, unsigned depth, bool begun) {
  uint64_t used = 0;
  unsigned n = 1 + choose(r, 6);
  for (unsigned i = 0; i < n; i++) {
    unsigned k = choose(r, KEYWORDS);
    if (used >> k & 1) continue;
    used |= (uint64_t)1 << k;
    put(t, begun ? "," : "");
    begun = true;
    put(t, keywords[k].name);
    draw_shape(r, t, keywords[k].shape, depth - 1);
  }
}

static void draw_schema(draws *r, text *t, unsigned depth) {
  static const char *const leaves[] = {"true",
                                       "{\"type\":\"string\"}",
                                       "{\"type\":\"integer\"}",
                                       "{\"const\":1}",
                                       "{\"maxLength\":1}",
                                       "{\"type\":[\"null\",\"boolean\"]}",
                                       "{\"minimum\":1}",
                                       "{\"enum\":[\"a\",\"b\",1,null]}",
                                       "{}",
                                       "false"};
  if (depth == 0 || t->n > SCHEMA_MAX / 2 || choose(r, 4) == 0) {
    put(t, PICK(r, leaves));
    return;
  }
  put(t, "{");
  draw_keywords(r, t, depth, false);
  put(t, "}");
}

/* A schema with two definitions, which it may refer to. */
static void draw_root(draws *r, text *t) {
  put(t, "{\"$defs\":{\"d\":");
  draw_schema(r, t, 2);
  put(t, ",\"e\":");
  draw_schema(r, t, 2);
  put(t, "}");
  draw_keywords(r, t, 4, true);
  put(t, "}");
}

/* ---- a vocabulary -------------------------------------------------------------------------- */

/* Every byte, and pieces that JSON is made of. */
static tsl_vocab *make_vocab(void) {
  static const char *const pieces[] = {
      "\":",    "\",\"", "{\"",    "\"}",      "},{",  "],[", "[1", "1,",      "\"a\"",
      "\"a\":", "a\":1", "true",   "null",     "10",   ".0",  "e0", "\\u0061", "ab",
      "aa",     ", ",    "\": \"", "\xC3\xA9", "b\",", "]}",  "}}", "0}",      "1]"};
  uint8_t bytes[512];
  uint32_t offsets[257 + sizeof pieces / sizeof *pieces], n = 0, count = 0;
  tsl_vocab *v = NULL;
  for (; count < 256; count++) offsets[count] = n, bytes[n++] = (uint8_t)count;
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
    offsets[count++] = n;
    memcpy(bytes + n, pieces[i], strlen(pieces[i]));
    n += (uint32_t)strlen(pieces[i]);
  }
  offsets[count] = n;
  const tsl_vocab_desc d = {.bytes = bytes, .offsets = offsets, .size = count};
  if (tsl_vocab_new(&d, NULL, &v, NULL) != TSL_OK) abort();
  return v;
}

/* One of the allowed tokens, those that close something often. */
static tsl_token choose_token(const uint32_t *mask, uint32_t size, uint64_t *seed) {
  static const char closing[] = "\"}]";
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  unsigned which = (unsigned)(*seed >> 60);
  if (which < 6 && tsl_mask_has(mask, (tsl_token)closing[which % 3]))
    return (tsl_token)closing[which % 3];
  uint32_t nth = (uint32_t)(*seed >> 33) % (uint32_t)tsl_mask_count(mask, size);
  return nth_token(mask, nth);
}

#endif
