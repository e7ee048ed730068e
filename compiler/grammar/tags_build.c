/* tags_build.c - trees of formats built in C. See tags/tags.h and section 10 of turnstile.h.
 *
 * Problem   A host that writes C should not have to print JSON to describe an answer. Nor should it
 *           have to check forty calls for running out of memory.
 * Idea      A tree is an arena with nodes in it; all texts are copied into it. What fails makes
 *           NULL and is remembered. A NULL among the parts of a format makes that NULL too. So a
 *           caller checks once, at the end.
 * Example   sequence(text("<a>"), schema(NULL), text("</a>")): `schema` gets no text, so it
 *           notes the failure with its place, and returns NULL. `sequence` finds a NULL among its
 *           parts and returns NULL. The compile gets NULL for its tree and reports the first
 *           failure that was noted, that of `schema`.
 * Texts     are checked when they are copied: NULL, over 2^31 bytes, and what is not UTF-8 are
 *           failures of that call. So later passes read texts without looking at them again.
 * Sharing   A format may stand in several places of a tree: each of them is work when it is
 *           compiled, and text when it is written.
 * Owners    The tree owns all nodes; formats are freed with it, none alone.
 * Tested by tests/tags/test_tags_built.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/grammar/compile.h"
#include "compiler/tools/tools.h"
#include "runtime/vocab/vocab.h"

struct tsl_tags {
  tsl_allocator alloc;
  tsl_vocab *vocab;
  tsl__tags tree;
  tsl_error error; /* the first failure of a builder */
};

static tsl__tag *node_of(tsl_format *f) { return (tsl__tag *)(void *)f; }
static tsl_format *format_of(tsl__tag *n) { return (tsl_format *)(void *)n; }

tsl_status tsl_tags_new(tsl_vocab *vocab, const tsl_allocator *allocator, tsl_tags **out) {
  *out = NULL;
  if (!vocab) return TSL_ERR_ARGUMENT;
  if (!allocator) allocator = &vocab->alloc;
  tsl_tags *t = tsl__alloc_zero(allocator, sizeof *t);
  if (!t) return TSL_ERR_NO_MEMORY;
  t->alloc = *allocator;
  t->vocab = vocab;
  tsl_vocab_retain(vocab);
  tsl__tags_init(&t->tree, vocab, &t->alloc, &t->error);
  *out = t;
  return TSL_OK;
}

void tsl_tags_free(tsl_tags *t) {
  if (!t) return;
  tsl_allocator a = t->alloc;
  tsl__tags_free(&t->tree);
  tsl_vocab_release(t->vocab);
  tsl__free(&a, t, sizeof *t);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static tsl__tag *node(tsl_tags *t, tsl__tag_kind kind) {
  return t->tree.status == TSL_OK ? tsl__tags_node(&t->tree, kind, NULL) : NULL;
}

static tsl_format *refused(tsl_tags *t, const char *why) {
  return tsl__tags_fail(&t->tree, TSL_ERR_ARGUMENT, NULL, "%s", why);
}

static bool copy_text(tsl_tags *t, const char *text, size_t length, tsl__string *out) {
  if (length > INT32_MAX || (!text && length))
    return refused(t, "a text of a format is NULL or has over 2^31 bytes");
  if (!tsl__utf8_valid((const uint8_t *)text, length))
    return tsl__tags_fail(&t->tree, TSL_ERR_SYNTAX, NULL, "a text of a format is not UTF-8");
  const char *copy = tsl__arena_copy(&t->tree.arena, text ? text : "", length);
  if (!copy) return tsl__tags_fail(&t->tree, TSL_ERR_NO_MEMORY, NULL, "out of memory");
  *out = (tsl__string){copy, (uint32_t)length};
  return true;
}

/* NUL-terminated texts, none of them empty. */
static bool copy_texts(tsl_tags *t, const char *const *texts, size_t n, tsl__string **out,
                       uint32_t *count) {
  *count = (uint32_t)n;
  if (!n) return true;
  if (n > INT32_MAX || !texts) return refused(t, "a list of texts is NULL or too long");
  if (!(*out = tsl__tags_alloc(&t->tree, n * sizeof **out))) return false;
  for (size_t i = 0; i < n; i++) {
    if (!texts[i] || !*texts[i]) return refused(t, "triggers and excluded texts are not empty");
    if (!copy_text(t, texts[i], strlen(texts[i]), &(*out)[i])) return false;
  }
  return true;
}

static bool copy_formats(tsl_tags *t, tsl_format *const *formats, size_t n, tsl__tag *to) {
  if (!formats || !n || n > INT32_MAX) return refused(t, "a format is made of at least one other");
  if (!(to->items = tsl__tags_alloc(&t->tree, (n + 1) * sizeof *to->items))) return false;
  for (size_t i = 0; i < n; i++) {
    if (!(to->items[i] = node_of(formats[i]))) return refused(t, "a part of a format is NULL");
    /* as deep as the text that is written of it */
    if (to->items[i]->depth >= to->depth)
      to->depth = to->items[i]->depth + (to->kind == TSL__TAG_DISPATCH ? 2 : 1);
  }
  to->item_count = (uint32_t)n;
  return to->depth <= TSL__TAGS_DEPTH ||
         tsl__tags_fail(&t->tree, TSL_ERR_LIMIT, NULL, "more than %u formats inside one another",
                        TSL__TAGS_DEPTH);
}

static bool all_tags(tsl_tags *t, const tsl__tag *n) {
  for (uint32_t i = 0; i < n->item_count; i++)
    if (n->items[i]->kind != TSL__TAG_TAG) return refused(t, "only tags may stand here");
  return true;
}

static uint32_t limit_of(uint32_t n) { return n ? n : TSL__INF; }

/* From min to max, as the JSON form can say it. */
static bool copy_bounds(tsl_tags *t, uint32_t min, uint32_t max, tsl__tag *to) {
  if (min > INT32_MAX || (max > INT32_MAX && max != TSL_UNBOUNDED))
    return refused(t, "a count of a format is over 2^31 - 1");
  if (min > max) return refused(t, "a repetition's min is greater than its max");
  to->min = min;
  to->max = max == TSL_UNBOUNDED ? TSL__INF : max;
  return true;
}

/* ---- formats --------------------------------------------------------------------------------- */

static tsl_format *of_text(tsl_tags *t, tsl__tag_kind kind, const char *text, size_t length) {
  tsl__tag *n = node(t, kind);
  return n && copy_text(t, text, length, &n->text) ? format_of(n) : NULL;
}

tsl_format *tsl_tags_text(tsl_tags *t, const char *text, size_t length) {
  return of_text(t, TSL__TAG_CONST, text, length);
}
tsl_format *tsl_tags_regex(tsl_tags *t, const char *pattern, size_t length) {
  return of_text(t, TSL__TAG_REGEX, pattern, length);
}
tsl_format *tsl_tags_gbnf(tsl_tags *t, const char *grammar, size_t length) {
  return of_text(t, TSL__TAG_GBNF, grammar, length);
}

tsl_format *tsl_tags_json_schema(tsl_tags *t, const char *schema, size_t length,
                                 const char *style) {
  tsl__tag *n = node(t, TSL__TAG_SCHEMA);
  tsl__string name;
  if (!n || !copy_text(t, schema, length, &n->source)) return NULL;
  t->tree.status = tsl__json_parse_in_place(&t->tree.arena, NULL, n->source.at, length,
                                            TSL__TAGS_DEPTH, &n->schema, &t->error);
  n->detached = true;
  if (t->tree.status != TSL_OK || !style || !strcmp(style, "json"))
    return t->tree.status == TSL_OK ? format_of(n) : NULL;
  if (!copy_text(t, style, strlen(style) + 1, &name)) return NULL;
  n->style = name.at;
  return format_of(n);
}

tsl_format *tsl_tags_any(tsl_tags *t, const char *const *excludes, size_t count, uint32_t max_chars,
                         uint32_t max_tokens) {
  tsl__tag *n = node(t, TSL__TAG_ANY);
  if (!n || !copy_texts(t, excludes, count, &n->excludes, &n->exclude_count)) return NULL;
  if (max_chars > INT32_MAX || max_tokens > INT32_MAX)
    return refused(t, "a count of a format is over 2^31 - 1");
  n->max_chars = limit_of(max_chars);
  n->max_tokens = limit_of(max_tokens);
  return format_of(n);
}

static tsl_format *of_formats(tsl_tags *t, tsl__tag_kind kind, tsl_format *const *formats,
                              size_t count) {
  tsl__tag *n = node(t, kind);
  return n && copy_formats(t, formats, count, n) ? format_of(n) : NULL;
}

tsl_format *tsl_tags_sequence(tsl_tags *t, tsl_format *const *formats, size_t count) {
  return of_formats(t, TSL__TAG_SEQUENCE, formats, count);
}
tsl_format *tsl_tags_or(tsl_tags *t, tsl_format *const *formats, size_t count) {
  return of_formats(t, TSL__TAG_OR, formats, count);
}

tsl_format *tsl_tags_repeat(tsl_tags *t, tsl_format *format, uint32_t min, uint32_t max) {
  tsl__tag *n = node(t, TSL__TAG_REPEAT);
  return n && copy_bounds(t, min, max, n) && copy_formats(t, &format, 1, n) ? format_of(n) : NULL;
}

tsl_format *tsl_tags_tag(tsl_tags *t, const char *begin, tsl_format *content,
                         const char *const *ends, size_t end_count) {
  tsl__tag *n = node(t, TSL__TAG_TAG);
  if (!n || !copy_formats(t, &content, 1, n) ||
      !copy_text(t, begin, begin ? strlen(begin) : 0, &n->begin.text))
    return NULL;
  if (!ends || !end_count || end_count > INT32_MAX) return refused(t, "a tag has at least one end");
  if (!(n->ends = tsl__tags_alloc(&t->tree, end_count * sizeof *n->ends))) return NULL;
  for (size_t i = 0; i < end_count; i++)
    if (!ends[i] || !copy_text(t, ends[i], strlen(ends[i]), &n->ends[i].text))
      return ends[i] ? NULL : refused(t, "an end is NULL");
  n->end_count = (uint32_t)end_count;
  n->capture = TSL__CAPTURE_TAG;
  return format_of(n);
}

static tsl_format *with_flags(tsl_tags *t, tsl__tag *n, uint32_t flags) {
  if (flags & ~(TSL_TAGS_AT_LEAST_ONE | TSL_TAGS_ONCE)) return refused(t, "there is no such flag");
  if (n->kind == TSL__TAG_DISPATCH && flags & TSL_TAGS_AT_LEAST_ONE)
    return refused(
        t, "a dispatch does not begin with one of its triggers: TSL_TAGS_AT_LEAST_ONE is for tags");
  n->at_least_one = flags & TSL_TAGS_AT_LEAST_ONE;
  n->once = flags & TSL_TAGS_ONCE;
  return format_of(n);
}

tsl_format *tsl_tags_triggered(tsl_tags *t, const char *const *triggers, size_t trigger_count,
                               tsl_format *const *tags, size_t tag_count, uint32_t flags) {
  tsl__tag *n = node(t, TSL__TAG_TRIGGERED);
  if (n && !trigger_count) return refused(t, "there is no trigger");
  if (!n || !copy_texts(t, triggers, trigger_count, &n->triggers, &n->trigger_count) ||
      !copy_formats(t, tags, tag_count, n) || !all_tags(t, n))
    return NULL;
  return with_flags(t, n, flags);
}

tsl_format *tsl_tags_separated(tsl_tags *t, tsl_format *const *tags, size_t tag_count,
                               const char *separator, uint32_t flags) {
  tsl__tag *n = node(t, TSL__TAG_SEPARATED);
  if (!n || !copy_formats(t, tags, tag_count, n) || !all_tags(t, n) ||
      !copy_text(t, separator, separator ? strlen(separator) : 0, &n->text))
    return NULL;
  return with_flags(t, n, flags);
}

tsl_format *tsl_tags_dispatch(tsl_tags *t, const char *const *triggers, tsl_format *const *formats,
                              size_t count, uint32_t flags) {
  tsl__tag *n = node(t, TSL__TAG_DISPATCH);
  if (!n || !copy_formats(t, formats, count, n) ||
      !copy_texts(t, triggers, count, &n->triggers, &n->trigger_count))
    return NULL;
  return with_flags(t, n, flags);
}

tsl_format *tsl_tags_tokens(tsl_tags *t, const tsl_token *tokens, size_t count, bool others,
                            uint32_t min, uint32_t max) {
  tsl__tag *n = node(t, TSL__TAG_TOKENS);
  if (!n || !(n->tokens = tsl__tags_alloc(&t->tree, (count + 1) * sizeof *tokens))) return NULL;
  if (!count && !others) return refused(t, "a run of tokens has at least one");
  if (!copy_bounds(t, min, max, n)) return NULL;
  for (size_t i = 0; i < count; i++) {
    if (tokens[i] >= tsl_vocab_size(t->vocab))
      return refused(t, "the vocabulary has no such token");
    n->tokens[i] = tokens[i];
  }
  n->token_count = (uint32_t)count;
  n->complement = others;
  /* a repetition, of a choice, as it is written */
  n->depth = (uint32_t)(min != 1 || max != 1) + (uint32_t)(!others && count > 1);
  return format_of(n);
}

tsl_format *tsl_tags_as(tsl_tags *t, tsl_format *format, tsl_as as, const char *name) {
  static const tsl__capture_kind kinds[] = {
      [TSL_AS_TEXT] = TSL__CAPTURE_TEXT,           [TSL_AS_REASONING] = TSL__CAPTURE_REASONING,
      [TSL_AS_CALL] = TSL__CAPTURE_CALL,           [TSL_AS_ID] = TSL__CAPTURE_ID,
      [TSL_AS_ARGUMENTS] = TSL__CAPTURE_ARGUMENTS, [TSL_AS_MARKUP] = TSL__CAPTURE_MARKUP};
  tsl__tag *n = node_of(format);
  tsl__string text = TSL__NO_TEXT;
  if (t->tree.status != TSL_OK) return NULL;
  if (!n || (size_t)as >= sizeof kinds / sizeof *kinds)
    return refused(t, "no format, or no such kind of part");
  if (name && !copy_text(t, name, strlen(name), &text)) return NULL;
  n->capture = kinds[as];
  if (name) n->name = text.at, n->name_length = text.length;
  return format;
}

/* ---- what is made of it ---------------------------------------------------------------------- */

static tsl_status failed(const tsl_tags *t, tsl_error *error) {
  if (error) *error = t->error;
  return t->tree.status;
}

tsl_status tsl_tags_compile(tsl_tags *t, tsl_format *root, tsl_grammar *over,
                            const tsl_schema_options *schema, const tsl_limits *limits,
                            tsl_grammar **out, tsl_error *error) {
  *out = NULL;
  if (t->tree.status != TSL_OK) return failed(t, error);
  if (!root || (over && tsl_grammar_vocab(over) != t->vocab))
    return tsl__fail(error, TSL_ERR_ARGUMENT, "no format, or a grammar of another vocabulary");
  t->tree.error = error;
  tsl_status status =
      tsl__tags_compile(&t->tree, t->vocab, node_of(root), over, schema, limits, out, error);
  t->tree.error = &t->error;
  t->tree.status = TSL_OK; /* the tree is as good as before */
  return status;
}

tsl_status tsl_tags_write(tsl_tags *t, tsl_format *root, tsl_line_sink sink, void *ctx,
                          tsl_error *error) {
  if (t->tree.status != TSL_OK) return failed(t, error);
  if (!root) return tsl__fail(error, TSL_ERR_ARGUMENT, "no format");
  char *json = tsl__tags_write(&t->tree, node_of(root));
  tsl_status status = t->tree.status;
  if (!json && error) *error = t->error;
  t->tree.status = TSL_OK; /* the tree is as good as before */
  if (json) sink(ctx, json);
  return status;
}
