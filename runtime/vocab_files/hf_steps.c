/* hf_steps.c - see hf_steps.h.
 *
 * HF's components and the steps they stand for (tokenizer/steps.c):
 *   normalizer      NFC            NFC
 *                   Replace        REPLACE (of a string; a regex is refused)
 *                   Prepend        PREPEND always
 *   pre_tokenizer   ByteLevel      PREPEND " " if missing (add_prefix_space), SPLIT_REGEX by
 *                                  GPT-2's pattern (use_regex)
 *                   Split          SPLIT_TEXT, SPLIT_REGEX
 *                   Digits         SPLIT_REGEX by \p{N}
 *                   Punctuation    SPLIT_REGEX, as do Whitespace and WhitespaceSplit
 *                   Metaspace      REPLACE " ", PREPEND, SPLIT_TEXT
 *   Sequence, in either, is its parts in order. Everything else is refused by name.
 *
 * Example   Llama 3 has the pre_tokenizer Sequence [Split {"Regex": "(?i:'s|'t|…)"}, ByteLevel
 *           {"use_regex": false, "add_prefix_space": false}]. It becomes one step, SPLIT_REGEX by
 *           that pattern: ByteLevel adds none without its pattern. It notes that the model is of
 *           bytes.
 * Refused   An unknown type is UNSUPPORTED at the place where the file names it; a known type with
 *           a member of the wrong kind is FORMAT.
 * Tested by tests/tokenizer/test_encode.c, tests/vocab_files/test_vocab_files.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/vocab_files/hf_steps.h"

#define GPT2_PATTERN \
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

typedef struct steps_reader {
  const tsl__hf_file *file;
  tsl__vocab_builder *b;
  tsl_error *error;
  bool byte_level;
} steps_reader;

tsl_status tsl__hf_fail(const tsl__hf_file *file, const tsl__doc *node, tsl_status status,
                        tsl_error *error, const char *what) {
  if (status == TSL_ERR_NO_MEMORY) return tsl__fail(error, status, "out of memory");
  return tsl__fail_at(error, status, file->text, file->length, node ? node->offset : 0, "%s", what);
}

static tsl_status refuse(const steps_reader *r, const tsl__doc *node, const char *what) {
  return tsl__hf_fail(r->file, node, TSL_ERR_UNSUPPORTED, r->error, what);
}

static tsl_status malformed(const steps_reader *r, const tsl__doc *node, const char *what) {
  return tsl__hf_fail(r->file, node, TSL_ERR_FORMAT, r->error, what);
}

/* "no such step" with the name that the file gives it. */
static tsl_status refuse_type(const steps_reader *r, const tsl__doc *node, const char *what) {
  const tsl__doc *type = tsl__doc_get(node, "type");
  if (!type || type->kind != TSL__DOC_STRING)
    return malformed(r, node, "a component has no \"type\"");
  return tsl__fail_at(r->error, TSL_ERR_UNSUPPORTED, r->file->text, r->file->length, type->offset,
                      "%s of type \"%.*s\" is not supported", what,
                      (int)(type->length < 60 ? type->length : 60), type->text);
}

static tsl_status added(const steps_reader *r, bool ok) {
  return ok ? TSL_OK : tsl__fail(r->error, TSL_ERR_NO_MEMORY, "out of memory");
}

static tsl_status add_pattern(const steps_reader *r, tsl__split how, bool invert, uint32_t dialect,
                              const char *pattern, size_t length) {
  tsl__step step = {
      .kind = TSL__STEP_SPLIT_REGEX, .how = how, .invert = invert, .dialect = dialect};
  return added(r, tsl__builder_step(r->b, step, pattern, length, "", 0));
}

static tsl_status add_regex(const steps_reader *r, tsl__split how, bool invert,
                            const char *pattern) {
  return add_pattern(r, how, invert, TSL__DIALECT_RUST, pattern, strlen(pattern));
}

const tsl__doc *tsl__hf_pattern(const tsl__doc *node, const char *key, bool *regex) {
  const tsl__doc *pattern = tsl__doc_get(node, key), *s = tsl__doc_get(pattern, "String");
  *regex = !s;
  if (!s) s = tsl__doc_get(pattern, "Regex");
  return s && s->kind == TSL__DOC_STRING ? s : NULL;
}

/* ---- normalisers ----------------------------------------------------------------------------- */

static tsl_status read_replace(const steps_reader *r, const tsl__doc *node) {
  bool regex;
  const tsl__doc *pattern = tsl__hf_pattern(node, "pattern", &regex),
                 *content = tsl__doc_get(node, "content");
  if (!pattern || !content || content->kind != TSL__DOC_STRING)
    return malformed(r, node, "a Replace needs \"pattern\" and \"content\"");
  if (regex)
    return refuse(r, pattern,
                  "a normalizer that replaces by a regular expression is not supported");
  if (!pattern->length) return malformed(r, pattern, "a Replace of nothing");
  tsl__step step = {.kind = TSL__STEP_REPLACE, .normaliser = 1};
  return added(r, tsl__builder_step(r->b, step, pattern->text, pattern->length, content->text,
                                    content->length));
}

static tsl_status read_normaliser(const steps_reader *r, const tsl__doc *node) {
  const tsl__doc *type = tsl__doc_get(node, "type"), *prepend = tsl__doc_get(node, "prepend");
  tsl__step step = {.normaliser = 1};
  if (tsl__doc_is(type, "NFC")) {
    step.kind = TSL__STEP_NFC;
    return added(r, tsl__builder_step(r->b, step, "", 0, "", 0));
  }
  if (tsl__doc_is(type, "Replace")) return read_replace(r, node);
  if (!tsl__doc_is(type, "Prepend")) return refuse_type(r, node, "a normalizer");
  if (!prepend || prepend->kind != TSL__DOC_STRING)
    return malformed(r, node, "a Prepend needs \"prepend\"");
  step.kind = TSL__STEP_PREPEND;
  step.how = TSL__WHEN_ALWAYS;
  return added(r, tsl__builder_step(r->b, step, prepend->text, prepend->length, "", 0));
}

/* ---- pre-tokenisers -------------------------------------------------------------------------- */

static bool behaviour(const tsl__doc *name, tsl__split *out) {
  static const char *const names[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext",
                                      "Contiguous"};
  for (unsigned i = 0; i < 5; i++) {
    if (!tsl__doc_is(name, names[i])) continue;
    *out = (tsl__split)i;
    return true;
  }
  return false;
}

static tsl_status read_split(const steps_reader *r, const tsl__doc *node) {
  bool regex;
  tsl__split how;
  const tsl__doc *pattern = tsl__hf_pattern(node, "pattern", &regex);
  if (!pattern) return malformed(r, node, "a Split needs \"pattern\"");
  if (!behaviour(tsl__doc_get(node, "behavior"), &how))
    return malformed(r, node, "a Split has no known \"behavior\"");
  bool invert = tsl__doc_true(tsl__doc_get(node, "invert"));
  if (regex)
    return add_pattern(r, how, invert, TSL__DIALECT_ONIGURUMA, pattern->text, pattern->length);
  tsl__step step = {.kind = TSL__STEP_SPLIT_TEXT, .how = how, .invert = invert};
  return added(r, tsl__builder_step(r->b, step, pattern->text, pattern->length, "", 0));
}

static bool flag(const tsl__doc *node, const char *key, bool otherwise) {
  const tsl__doc *value = tsl__doc_get(node, key);
  return value ? tsl__doc_true(value) : otherwise;
}

static tsl_status read_byte_level(steps_reader *r, const tsl__doc *node) {
  tsl__step step = {.kind = TSL__STEP_PREPEND, .how = TSL__WHEN_MISSING};
  r->byte_level = true;
  if (flag(node, "add_prefix_space", true) && !tsl__builder_step(r->b, step, " ", 1, "", 0))
    return added(r, false);
  return flag(node, "use_regex", true) ? add_regex(r, TSL__SPLIT_ISOLATED, false, GPT2_PATTERN)
                                       : TSL_OK;
}

/* HF goes by a piece's place in the text before all steps. That is known only as long as no step
 * has removed text or put some in. */
static bool keeps_places(const tsl__vocab_builder *b) {
  for (size_t i = 0; i < b->steps.n; i++)
    if (b->steps.at[i].kind != TSL__STEP_NFC) return false;
  return true;
}

static tsl_status read_metaspace(const steps_reader *r, const tsl__doc *node) {
  const tsl__doc *mark = tsl__doc_get(node, "replacement"),
                 *scheme = tsl__doc_get(node, "prepend_scheme");
  if (!mark || mark->kind != TSL__DOC_STRING || !mark->length)
    return malformed(r, node, "a Metaspace needs \"replacement\"");
  bool never = scheme ? tsl__doc_is(scheme, "never") : !flag(node, "add_prefix_space", true);
  if (scheme && !never && !tsl__doc_is(scheme, "always") && !tsl__doc_is(scheme, "first"))
    return malformed(r, scheme, "an unknown \"prepend_scheme\"");
  if (tsl__doc_is(scheme, "first") && !keeps_places(r->b))
    return refuse(r, scheme, "the \"prepend_scheme\" \"first\" after other steps is not supported");
  tsl__step replace = {.kind = TSL__STEP_REPLACE},
            split = {.kind = TSL__STEP_SPLIT_TEXT, .how = TSL__SPLIT_WITH_NEXT};
  tsl__step prepend = {.kind = TSL__STEP_PREPEND,
                       .how = tsl__doc_is(scheme, "first") ? TSL__WHEN_FIRST_MISSING
                                                           : TSL__WHEN_MISSING};
  bool ok = tsl__builder_step(r->b, replace, " ", 1, mark->text, mark->length) &&
            (never || tsl__builder_step(r->b, prepend, mark->text, mark->length, "", 0)) &&
            (!flag(node, "split", true) ||
             tsl__builder_step(r->b, split, mark->text, mark->length, "", 0));
  return added(r, ok);
}

static tsl_status read_simple(const steps_reader *r, const tsl__doc *node, const tsl__doc *type) {
  tsl__split how = TSL__SPLIT_ISOLATED;
  if (tsl__doc_is(type, "Digits"))
    return add_regex(
        r, flag(node, "individual_digits", false) ? TSL__SPLIT_ISOLATED : TSL__SPLIT_CONTIGUOUS,
        false, "\\p{N}");
  if (tsl__doc_is(type, "WhitespaceSplit")) return add_regex(r, TSL__SPLIT_REMOVED, false, "\\s");
  if (tsl__doc_is(type, "Whitespace"))
    return add_regex(r, TSL__SPLIT_REMOVED, true, "\\w+|[^\\w\\s]+");
  if (!tsl__doc_is(type, "Punctuation")) return refuse_type(r, node, "a pre_tokenizer");
  if (tsl__doc_get(node, "behavior") && !behaviour(tsl__doc_get(node, "behavior"), &how))
    return malformed(r, node, "a Punctuation has no known \"behavior\"");
  return add_regex(r, how, false, "[!-\\/:-@\\[-`{-~\\p{P}]");
}

static tsl_status read_pre_tokeniser(steps_reader *r, const tsl__doc *node) {
  const tsl__doc *type = tsl__doc_get(node, "type");
  if (r->byte_level) return refuse(r, node, "a pre_tokenizer after ByteLevel is not supported");
  if (tsl__doc_is(type, "ByteLevel")) return read_byte_level(r, node);
  if (tsl__doc_is(type, "Split")) return read_split(r, node);
  if (tsl__doc_is(type, "Metaspace")) return read_metaspace(r, node);
  return read_simple(r, node, type);
}

/* A component, or all parts of a Sequence. Recursion is bounded by TSL__HF_MAX_DEPTH. */
static tsl_status read_component(steps_reader *r, const tsl__doc *node, bool normaliser) {
  if (!tsl__doc_is(tsl__doc_get(node, "type"), "Sequence"))
    return normaliser ? read_normaliser(r, node) : read_pre_tokeniser(r, node);
  const tsl__doc *parts = tsl__doc_get(node, normaliser ? "normalizers" : "pretokenizers");
  if (!parts || parts->kind != TSL__DOC_ARRAY)
    return malformed(r, node, "a Sequence has no list of parts");
  tsl_status status = TSL_OK;
  for (const tsl__doc *part = parts->first; part && !status; part = part->next)
    status = read_component(r, part, normaliser);
  return status;
}

tsl_status tsl__hf_steps(const tsl__hf_file *file, tsl__vocab_builder *b, bool *byte_level,
                         tsl_error *error) {
  steps_reader r = {file, b, error, false};
  const tsl__doc *normaliser = tsl__doc_get(file->root, "normalizer"),
                 *pre = tsl__doc_get(file->root, "pre_tokenizer");
  tsl_status status = normaliser ? read_component(&r, normaliser, true) : TSL_OK;
  if (!status && pre) status = read_component(&r, pre, false);
  *byte_level = r.byte_level;
  return status;
}
