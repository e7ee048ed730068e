/* fuzz_judge.c - the engine takes exactly the texts that an independent validator
 * (tests/judges/validator.h) finds valid.
 *
 * Input      options (1 byte: 1 texts; 2 the order of the schema; 4 compact; 16 plain spellings),
 *            then
 *              texts   a schema, NUL, an instance;
 *              else    choices, a byte each, out of which a schema of draft 2020-12 and instances
 *              are drawn (no choices left: zeros).
 * Compared   The instance given, and instances drawn. Texts that the engine itself makes, walked
 *            token by token under its masks. Each of these with one value changed, removed, doubled
 *            or added. Where order, spaces or spellings are bound, the engine may take less.
 * Refusals   a schema refused as empty has no valid instance among those tried. What is drawn is
 *            never refused as malformed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/draw_schema.h"
#include "tests/judges/validator.h"
#include "turnstile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TEXT_MAX 600u
#define DRAWN 4   /* instances */
#define WALKS 3   /* texts of the engine */
#define CHANGES 4 /* of each text */
#define STEPS 60  /* tokens of a walk */

static json_document schema_document, text_document; /* of the input under way */

typedef struct run {
  draws draws;
  tsl_grammar *grammar; /* NULL: refused as empty */
  bool strict;          /* the engine takes all valid texts */
  text schema;
} run;

/* ---- writing a text again, with a change ----------------------------------------------------- */

enum change { REPLACE, REMOVE, DOUBLE, ADD, CHANGE_COUNT };

typedef struct rewrite {
  run *r;
  text *t;
  unsigned left; /* values before the one that is changed */
  enum change change;
} rewrite;

static void put_string(text *t, const char *s, uint32_t n) {
  put(t, "\"");
  for (uint32_t i = 0; i < n; i++) {
    char c[8] = {s[i]};
    if ((unsigned char)s[i] < 0x20 || s[i] == '"' || s[i] == '\\')
      snprintf(c, sizeof c, "\\u%04x", (unsigned)s[i]);
    put(t, c);
  }
  put(t, "\"");
}

static void write_value(rewrite *w, const json_value *v);

static void write_child(rewrite *w, const json_value *c, bool named, bool *begun) {
  bool here = w->left == 0;
  if (here && w->change == REMOVE) {
    w->left--;
    return;
  }
  put(w->t, *begun ? "," : "");
  *begun = true;
  if (named) put_string(w->t, c->name, c->name_n), put(w->t, ":");
  write_value(w, c);
  if (!here || (w->change != DOUBLE && w->change != ADD)) return;
  put(w->t, ",");
  if (named) put(w->t, PICK(&w->r->draws, names)), put(w->t, ":");
  if (w->change == DOUBLE)
    write_value(w, c);
  else
    draw_value(&w->r->draws, w->t, 1);
}

static void write_value(rewrite *w, const json_value *v) {
  static const char *const words[] = {"null", "false", "true"};
  bool begun = false;
  if (w->left-- == 0 && w->change == REPLACE) {
    draw_value(&w->r->draws, w->t, 2);
    return;
  }
  if (v->kind <= JSON_TRUE) {
    put(w->t, words[v->kind]);
  } else if (v->kind == JSON_NUMBER) {
    char number[TEXT_MAX + 1];
    snprintf(number, sizeof number, "%.*s", (int)v->text_n, v->text);
    put(w->t, number);
  } else if (v->kind == JSON_STRING) {
    put_string(w->t, v->text, v->text_n);
  } else {
    put(w->t, v->kind == JSON_ARRAY ? "[" : "{");
    for (const json_value *c = v->first; c; c = c->next)
      write_child(w, c, v->kind == JSON_OBJECT, &begun);
    put(w->t, v->kind == JSON_ARRAY ? "]" : "}");
  }
}

/* ---- comparing ------------------------------------------------------------------------------- */

static void require(bool truth, const run *r, const char *instance, size_t n, const char *what) {
  if (truth) return;
  fprintf(stderr, "fuzz_judge: %s\n  schema   %.*s\n  instance %.*s\n", what, (int)r->schema.n,
          r->schema.at, (int)n, instance);
  abort();
}

/* What the engine says; limits are no verdict. */
static verdict ask(const run *r, const char *s, size_t n) {
  tsl_matcher *m;
  size_t accepted;
  if (!r->grammar) return INVALID;
  if (tsl_matcher_new(r->grammar, NULL, &m) != TSL_OK) return NO_VERDICT;
  tsl_status status = tsl_matcher_accept_bytes(m, s, n, &accepted);
  verdict v = status == TSL_REJECTED       ? INVALID
              : status != TSL_OK           ? NO_VERDICT
              : tsl_matcher_is_complete(m) ? VALID
                                           : INVALID;
  tsl_matcher_free(m);
  return v;
}

/* The validator's word; text_document then has the text. */
static verdict judge(const char *s, size_t n) {
  if (!json_document_read(&text_document, s, n)) return text_document.full ? NO_VERDICT : INVALID;
  if (text_document.odd) return NO_VERDICT;
  return text_document.repeated
             ? validator_judge_repeated(&schema_document)
             : validator_judge(&schema_document, schema_document.value, text_document.value);
}

static void compare(const run *r, const char *s, size_t n) {
  verdict said = judge(s, n), mine = said == NO_VERDICT ? NO_VERDICT : ask(r, s, n);
  if (mine == NO_VERDICT) return;
  require(said == VALID || mine == INVALID, r, s, n, "the engine takes what is not valid");
  require(said == INVALID || mine == VALID || !r->strict, r, s, n,
          r->grammar ? "the engine does not take what is valid"
                     : "refused as empty, with a valid instance");
}

static void compare_changed(run *r, const char *s, size_t n) {
  static json_document original;
  if (!json_document_read(&original, s, n)) return;
  for (int i = 0; i < CHANGES; i++) {
    static text changed;
    changed.n = 0;
    changed.full = false;
    rewrite w = {.r = r,
                 .t = &changed,
                 .change = (enum change)choose(&r->draws, CHANGE_COUNT),
                 .left = choose(&r->draws, 255) % original.values};
    write_value(&w, original.value);
    if (!changed.full) compare(r, changed.at, changed.n);
  }
}

/* ---- texts of the engine --------------------------------------------------------------------- */

/* Follow masks from the start. Every complete text on the way is valid, and never is there no way
 * on. */
static size_t walk(const run *r, uint64_t seed, char *out) {
  tsl_vocab *v = tsl_grammar_vocab(r->grammar);
  tsl_matcher *m;
  uint32_t mask[16];
  size_t n = 0, complete = 0;
  if (tsl_matcher_new(r->grammar, NULL, &m) != TSL_OK) return 0;
  for (int i = 0; i < STEPS && tsl_matcher_mask(m, mask) == TSL_OK; i++) {
    size_t length, count = tsl_mask_count(mask, tsl_vocab_size(v));
    if (tsl_matcher_is_complete(m)) {
      verdict said = judge(out, n);
      complete = n;
      require(said != INVALID, r, out, n, "a walk leads to a text that is not valid");
    }
    require(count || tsl_matcher_is_complete(m), r, out, n, "a dead end");
    if (!count) break;
    tsl_token t = choose_token(mask, tsl_vocab_size(v), &seed);
    const uint8_t *bytes = tsl_vocab_bytes(v, t, &length);
    tsl_status status = tsl_matcher_accept(m, t);
    require(status != TSL_REJECTED, r, out, n, "an allowed token is rejected");
    if (status != TSL_OK || n + length > TEXT_MAX) break;
    memcpy(out + n, bytes, length);
    n += length;
  }
  tsl_matcher_free(m);
  return complete;
}

/* ---- one input ------------------------------------------------------------------------------- */

static bool compile(run *r, uint8_t options, bool drawn) {
  static tsl_vocab *vocab; /* the process ends with it */
  const tsl_limits limits = {.max_memory = 64 << 20, .max_steps = 200000};
  const tsl_schema_options o = {.order = options & 2 ? TSL_ORDER_SCHEMA : TSL_ORDER_ANY,
                                .whitespace = options & 4 ? TSL_WS_COMPACT : TSL_WS_ANY,
                                .spelling = options & 16 ? TSL_SPELLING_PLAIN : TSL_SPELLING_ANY,
                                .draft = TSL_DRAFT_2020_12};
  tsl_error error = {0};
  if (!vocab) vocab = make_vocab();
  tsl_status status =
      tsl_grammar_json_schema(vocab, r->schema.at, r->schema.n, &o, &limits, &r->grammar, &error);
  require(!drawn || status != TSL_ERR_SYNTAX, r, error.message, strlen(error.message),
          "what is drawn is refused as malformed");
  return status == TSL_OK || status == TSL_ERR_EMPTY;
}

static void compare_all(run *r, uint64_t seed) {
  static char s[TEXT_MAX + 1];
  static text drawn;
  for (int i = 0; i < DRAWN; i++) {
    drawn.n = 0;
    drawn.full = false;
    draw_value(&r->draws, &drawn, 3);
    if (!drawn.full) compare(r, drawn.at, drawn.n);
  }
  for (uint64_t i = 0; r->grammar && i < WALKS; i++) {
    size_t n = walk(r, seed * WALKS + i, s);
    if (!n) continue;
    compare(r, s, n);
    compare_changed(r, s, n);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static run r;
  if (size < 2) return 0;
  bool drawn = !(data[0] & 1);
  const uint8_t *zero = drawn ? NULL : memchr(data + 1, 0, size - 1);
  r = (run){.draws = {drawn ? data + 1 : data + size, data + size}, .strict = !(data[0] & 22)};
  if (drawn) {
    draw_root(&r.draws, &r.schema);
  } else {
    r.schema.n = zero ? (size_t)(zero - data) - 1 : size - 1;
    if (r.schema.n >= SCHEMA_MAX) return 0;
    memcpy(r.schema.at, data + 1, r.schema.n);
  }
  if (r.schema.full || !compile(&r, data[0], drawn)) return 0;
  if (!json_document_read(&schema_document, r.schema.at, r.schema.n))
    require(schema_document.full, &r, "", 0, "a schema that is no JSON");
  else if (zero)
    compare(&r, (const char *)zero + 1, size - (size_t)(zero + 1 - data));
  if (!schema_document.full) compare_all(&r, data[size - 1]);
  tsl_grammar_release(r.grammar);
  return 0;
}
