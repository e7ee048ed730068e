/* compile.c - the public compile calls: text → expression → grammar.
 *
 * Problem   Many front ends make grammars. What is around them is always the same: a layer,
 *           limits, a status, a first state, and nothing left behind after a failure.
 * Idea      Each call makes a layer of expressions and tables over the vocabulary's shared one. Its
 *           front end turns the text into one expression, whose state is handed to the runtime.
 *           open_layer and close_layer stand around every front end.
 * Example   tsl_grammar_regex("[0-9]{3}"): open_layer gets the base layer, which the vocabulary's
 *           first grammar makes, and starts the call's clock. The front end returns an expression
 *           of one node, a REPEAT. close_layer asks for its state and makes the grammar around the
 *           layer. No state but the first exists; the others are made as texts come to them.
 * Ahead     States grow when they are visited; of larger schemas, and those with patterns, the
 *           first of them are visited here (compiler/schema/ahead.c).
 * Marked    Captures and counted tokens of Lark and EBNF rules are noted while the text is read.
 *           They become quotas and captures of the finished grammar (finish_tags).
 * Owners    The grammar owns the layer and its expressions. On failure close_layer frees both, and
 *           *out is NULL.
 * Clock     The time and steps of a call begin after the base layer is there. Who comes first pays
 *           for that with time, not with the limits of its own grammar.
 * Tested by tests/grammar/, tests/schema/test_schema.c, tests/engine/test_faults.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/grammar/compile.h"
#include "compiler/abnf/abnf.h"
#include "compiler/ebnf/ebnf.h"
#include "compiler/gbnf/gbnf.h"
#include "compiler/lark/lark.h"
#include "compiler/regex/regex.h"
#include "compiler/schema/schema.h"
#include "compiler/grammar/anew.h"
#include "compiler/grammar/base_layer.h"
#include "compiler/grammar/guidance.h"
#include "compiler/tools/tools.h"
#include "runtime/matcher/edition.h"
#include "runtime/position/distinct.h"
#include "runtime/matcher/quota.h"

/* A layer over the vocabulary's. On failure nothing is left. The call's time begins here, after the
 * vocabulary's own tables are there. */
static tsl_status open_layer(tsl_vocab *vocab, tsl_spelling spelling, const tsl_limits *limits,
                             tsl__space **space, tsl__exprs **x, tsl_error *error) {
  const tsl__space *shared;
  *space = NULL;
  *x = NULL;
  if (!vocab) return tsl__fail(error, TSL_ERR_ARGUMENT, "no vocabulary given");
  tsl_status status = tsl__shared_get(vocab, spelling, &shared, error);
  if (status != TSL_OK) return status;
  status = tsl__states_layer(shared, vocab, limits, space, x);
  return status == TSL_OK ? TSL_OK : tsl__fail(error, status, "out of memory");
}

static tsl_status close_layer(tsl_vocab *vocab, tsl__space *space, tsl__exprs *x, tsl_status status,
                              tsl__expr root, const char *report, tsl_grammar **out,
                              tsl_error *error) {
  if (status == TSL_OK && tsl__exprs_status(x) != TSL_OK)
    status = tsl__fail(error, tsl__exprs_status(x), "%s", tsl__exprs_why(x));
  if (status == TSL_OK && root == TSL__NONE)
    status = tsl__fail(error, TSL_ERR_EMPTY, "no text satisfies this grammar");
  if (status != TSL_OK) {
    tsl__space_free(space);
    return status;
  }
  space->positions.watches = tsl__exprs_watches(x);
  return tsl__grammar_make(vocab, space, tsl__state_of(space, root), report, out, error);
}

/* The same, and what it was compiled from is kept. */
static tsl_status close_source(tsl_vocab *vocab, tsl__space *space, tsl__exprs *x,
                               tsl_status status, tsl__expr root, const tsl_source *source,
                               tsl_grammar **out, tsl_error *error) {
  status = close_layer(vocab, space, x, status, root, "[]", out, error);
  return status == TSL_OK ? tsl__anew_source(out, source, error) : status;
}

static tsl_status unknown_option(tsl_error *error) {
  return tsl__fail(
      error, TSL_ERR_ARGUMENT,
      "an option of schemas is out of its range: order, whitespace, spelling or draft");
}

tsl_status tsl_grammar_json_schema(tsl_vocab *vocab, const char *schema, size_t length,
                                   const tsl_schema_options *options, const tsl_limits *limits,
                                   tsl_grammar **out, tsl_error *error) {
  tsl__space *space;
  tsl__exprs *x;
  struct tsl__schema_result result = {0};
  *out = NULL;
  if (!tsl__schema_options_known(options)) return unknown_option(error);
  tsl_status status =
      open_layer(vocab, tsl__schema_options_of(options).spelling, limits, &space, &x, error);
  if (status != TSL_OK) return status;
  status = tsl__schema_compile(x, schema, length, options, limits, &result, error);
  status = close_layer(vocab, space, x, status, result.root, NULL, out, error);
  if (status != TSL_OK) return status;
  tsl__schema_look_ahead(result.schema, space, (*out)->begin);
  (*out)->describe = tsl__schema_report;
  (*out)->described = result.schema;
  tsl__grammar_born(*out);
  const tsl_source source = {.kind = TSL_SOURCE_JSON_SCHEMA,
                             .text = schema,
                             .length = length,
                             .schema = options,
                             .limits = limits};
  return tsl__anew_source(out, &source, error);
}

tsl_status tsl_grammar_regex(tsl_vocab *vocab, const char *pattern, size_t length,
                             const tsl_regex_options *options, const tsl_limits *limits,
                             tsl_grammar **out, tsl_error *error) {
  tsl__space *space;
  tsl__exprs *x;
  tsl__expr root = TSL__NONE;
  tsl__regex_flags flags = {.counts = true};
  if (options) {
    flags.case_insensitive = options->case_insensitive;
    flags.dot_all = options->dot_all;
    flags.search = options->search;
  }
  *out = NULL;
  tsl_status status = open_layer(vocab, TSL_SPELLING_PLAIN, limits, &space, &x, error);
  if (status != TSL_OK) return status;
  status = tsl__regex_compile(x, pattern, length, &flags, &root, error);
  const tsl_source source = {.kind = TSL_SOURCE_REGEX,
                             .text = pattern,
                             .length = length,
                             .regex = options,
                             .limits = limits};
  return close_source(vocab, space, x, status, root, &source, out, error);
}

tsl_status tsl_grammar_gbnf(tsl_vocab *vocab, const char *text, size_t length,
                            const char *root_name, const tsl_limits *limits, tsl_grammar **out,
                            tsl_error *error) {
  tsl__space *space;
  tsl__exprs *x;
  tsl__expr root = TSL__NONE;
  uint32_t max_depth = limits && limits->max_depth ? limits->max_depth : 512;
  *out = NULL;
  tsl_status status = open_layer(vocab, TSL_SPELLING_PLAIN, limits, &space, &x, error);
  if (status != TSL_OK) return status;
  status = tsl__gbnf_compile(x, vocab, text, length, root_name, max_depth, &root, error);
  const tsl_source source = {
      .kind = TSL_SOURCE_GBNF, .text = text, .length = length, .root = root_name, .limits = limits};
  return close_source(vocab, space, x, status, root, &source, out, error);
}

/* The quotas of a grammar, or of a view, whose front end is known. Needs the lock if others use its
 * tables. */
static bool make_quotas(tsl_grammar *g) {
  const tsl__tagged *tagged = g->front;
  tsl__space *space = g->space;
  uint32_t n = tagged->counted_count;
  tsl__quota *quotas = n ? tsl__arena_alloc(&space->arena, n * sizeof *quotas) : NULL;
  if (n && !quotas) return tsl__space_no_memory(space);
  for (uint32_t i = 0; i < n; i++) {
    quotas[i] = (tsl__quota){.max_tokens = tagged->counted[i].max_tokens};
    quotas[i].first = tsl__state_of(space, tagged->counted[i].rule);
    quotas[i].over = tsl__state_of(space, tagged->captures->nothing);
    if (!quotas[i].first || !quotas[i].over || !tsl__state_expanded(space, quotas[i].over) ||
        !tsl__quota_explore(space, &quotas[i]))
      return false;
  }
  g->quotas = quotas;
  g->quota_count = n;
  return true;
}

/* What the front end knows of a grammar that was made; the same lock. */
static bool finish_tags(tsl_grammar *g, const tsl__tagged *tagged) {
  g->front = tagged;
  g->dress = make_quotas;
  return make_quotas(g);
}

/* The same for a grammar that nobody else has, which is released on failure. `tagged` NULL: out of
 * memory. */
static tsl_status finish_or_drop(tsl_grammar **out, const tsl__tagged *tagged, tsl_error *error) {
  const tsl__space *space = (*out)->space;
  if (tagged && finish_tags(*out, tagged)) return TSL_OK;
  tsl_status status = tsl__fail(error, tagged ? space->status : TSL_ERR_NO_MEMORY, "%s",
                                tagged && space->why ? space->why : "out of memory");
  tsl_grammar_release(*out);
  *out = NULL;
  return status;
}

/* %json in a Lark grammar. */
static tsl_status lark_json(void *ctx, tsl__exprs *x, const char *schema, size_t length,
                            tsl__expr *out, tsl_error *error) {
  struct tsl__schema_result result = {0};
  tsl_schema_options options = {0};
  tsl_status status =
      tsl__guidance_options(tsl__exprs_allocator(x), schema, length, ctx, &options, error);
  if (status == TSL_OK)
    status = tsl__schema_compile(x, schema, length, &options, ctx, &result, error);
  *out = result.root;
  if (status == TSL_OK && *out == TSL__NONE && tsl__exprs_status(x) == TSL_OK)
    return tsl__fail(error, TSL_ERR_EMPTY, "no text satisfies this schema");
  return status;
}

/* Captures and counts of a Lark or EBNF grammar: made when it has the first. */
typedef struct marking {
  const tsl_vocab *vocab;
  tsl__marks *marks;
} marking;

static tsl__expr add_mark(void *ctx, tsl__exprs *x, const tsl__lark_mark *mark, tsl__expr body) {
  marking *m = ctx;
  if (!m->marks && !(m->marks = tsl__marks_new(x, m->vocab))) {
    tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
    return TSL__NONE;
  }
  return tsl__marks_add(m->marks, mark->name, mark->end,
                        mark->counted ? mark->max_tokens : TSL__INF, body);
}

/* close_layer, and what its marks are for. */
static tsl_status close_marked(const marking *m, tsl_vocab *vocab, tsl__space *space, tsl__exprs *x,
                               tsl_status status, tsl__expr root, const char *report,
                               const tsl_source *source, tsl_grammar **out, tsl_error *error) {
  tsl__tagged *tagged = m->marks && status == TSL_OK ? tsl__marks_finish(m->marks) : NULL;
  status = close_layer(vocab, space, x, status, root, report, out, error);
  if (status == TSL_OK && m->marks) status = finish_or_drop(out, tagged, error);
  return status == TSL_OK ? tsl__anew_source(out, source, error) : status;
}

static tsl_status lexer_named(const char *name, tsl__lark_lexer *out, tsl_error *error) {
  static const char *const names[] = {[TSL__LARK_COMPLETE] = "dynamic_complete",
                                      [TSL__LARK_DYNAMIC] = "dynamic",
                                      [TSL__LARK_BASIC] = "basic"};
  *out = TSL__LARK_COMPLETE;
  for (uint32_t i = 0; name && i < sizeof names / sizeof *names; i++)
    if (!strcmp(name, names[i])) return *out = (tsl__lark_lexer)i, TSL_OK;
  if (!name) return TSL_OK;
  if (!strcmp(name, "contextual"))
    return tsl__fail(error, TSL_ERR_UNSUPPORTED,
                     "the lexer \"contextual\" is not supported; there are \"dynamic_complete\", "
                     "\"dynamic\" and \"basic\"");
  return tsl__fail(error, TSL_ERR_ARGUMENT,
                   "there is no lexer \"%.100s\"; there are \"dynamic_complete\", \"dynamic\" and "
                   "\"basic\"",
                   name);
}

tsl_status tsl_grammar_lark(tsl_vocab *vocab, const char *text, size_t length,
                            const tsl_lark_options *options, const tsl_limits *limits,
                            tsl_grammar **out, tsl_error *error) {
  tsl__space *space;
  tsl__exprs *x;
  tsl__expr root = TSL__NONE;
  marking m = {.vocab = vocab};
  const char *report = "[]";
  tsl__lark_options o = {.max_depth = limits ? limits->max_depth : 0,
                         .json = lark_json,
                         .json_ctx = (void *)(uintptr_t)limits,
                         .marks = add_mark,
                         .marks_ctx = &m,
                         .report = &report};
  if (options) {
    o.start = options->start;
    o.resolver = options->resolver;
    o.resolver_ctx = options->resolver_ctx;
  }
  *out = NULL;
  tsl_status status = lexer_named(options ? options->lexer : NULL, &o.lexer, error);
  if (status == TSL_OK) status = open_layer(vocab, TSL_SPELLING_PLAIN, limits, &space, &x, error);
  if (status != TSL_OK) return status;
  status = tsl__lark_compile(x, vocab, text, length, &o, &root, error);
  const tsl_source source = {
      .kind = TSL_SOURCE_LARK, .text = text, .length = length, .lark = options, .limits = limits};
  return close_marked(&m, vocab, space, x, status, root, report, &source, out, error);
}

tsl_status tsl_grammar_ebnf(tsl_vocab *vocab, const char *text, size_t length,
                            const char *root_name, const tsl_limits *limits, tsl_grammar **out,
                            tsl_error *error) {
  tsl__space *space;
  tsl__exprs *x;
  tsl__expr root = TSL__NONE;
  marking m = {.vocab = vocab};
  const char *report = "[]";
  const tsl__ebnf_options o = {.root = root_name,
                               .max_depth = limits ? limits->max_depth : 0,
                               .marks = add_mark,
                               .marks_ctx = &m,
                               .report = &report};
  *out = NULL;
  tsl_status status = open_layer(vocab, TSL_SPELLING_PLAIN, limits, &space, &x, error);
  if (status != TSL_OK) return status;
  status = tsl__ebnf_compile(x, vocab, text, length, &o, &root, error);
  const tsl_source source = {
      .kind = TSL_SOURCE_EBNF, .text = text, .length = length, .root = root_name, .limits = limits};
  return close_marked(&m, vocab, space, x, status, root, report, &source, out, error);
}

tsl_status tsl_grammar_abnf(tsl_vocab *vocab, const char *text, size_t length,
                            const char *root_name, const tsl_limits *limits, tsl_grammar **out,
                            tsl_error *error) {
  tsl__space *space;
  tsl__exprs *x;
  tsl__expr root = TSL__NONE;
  *out = NULL;
  tsl_status status = open_layer(vocab, TSL_SPELLING_PLAIN, limits, &space, &x, error);
  if (status != TSL_OK) return status;
  status =
      tsl__abnf_compile(x, text, length, root_name, limits ? limits->max_depth : 0, &root, error);
  const tsl_source source = {
      .kind = TSL_SOURCE_ABNF, .text = text, .length = length, .root = root_name, .limits = limits};
  return close_source(vocab, space, x, status, root, &source, out, error);
}

/* ---- tags ------------------------------------------------------------------------------------ */

/* What a tree is compiled with. */
typedef struct request {
  tsl_vocab *vocab;
  tsl_grammar *over; /* NULL: tables of its own */
  const tsl_schema_options *schema;
  const tsl_limits *limits;
} tags_job;

/* The report on the schemas of a tree. */
static const char *describe_tags(void *grammar) {
  const tsl_grammar *g = grammar;
  return tsl__tags_report(g->front, tsl__anew_text(g));
}

/* A grammar with tables of its own; `lend`: it takes over the tree's memory. */
static tsl_status compile_alone(const tags_job *r, tsl__tags *t, const tsl__tag *root, bool lend,
                                tsl_grammar **out, tsl_error *error) {
  tsl__space *space;
  tsl__exprs *x;
  tsl__tagged *tagged = NULL;
  tsl_status status = open_layer(r->vocab, tsl__schema_options_of(r->schema).spelling, r->limits,
                                 &space, &x, error);
  if (status != TSL_OK) return status;
  space->work.deadline = t->until.deadline; /* reading the tree was part of the call */
  tsl__exprs_end_by(x, t->until.deadline);
  tsl_allocator *hooks = lend ? tsl__exprs_alloc(x, sizeof *hooks) : NULL;
  if (hooks) *hooks = tsl__arena_hooks(&t->arena);
  t->lent = hooks;
  tsl__expr e = tsl__tags_lower(t, x, root, NULL, r->schema, r->limits, &tagged);
  if (t->status == TSL_OK && hooks) tsl__exprs_absorb(x, &t->arena, hooks);
  status = close_layer(r->vocab, space, x, t->status, e, NULL, out, error);
  if (status == TSL_OK) status = finish_or_drop(out, tagged, error);
  if (status == TSL_OK) (*out)->describe = describe_tags, (*out)->described = *out;
  return status;
}

static bool same_options(const tsl_schema_options *a, const tsl_schema_options *b) {
  bool same = a->order == b->order && a->whitespace == b->whitespace &&
              a->whitespace_max == b->whitespace_max && a->indent == b->indent &&
              a->whitespace_lines == b->whitespace_lines &&
              a->whitespace_columns == b->whitespace_columns && a->spelling == b->spelling &&
              a->generous == b->generous && a->draft == b->draft;
  same = same && a->ignore_formats == b->ignore_formats && a->assert_content == b->assert_content &&
         a->nullable == b->nullable && a->repeated_names == b->repeated_names &&
         a->max_nesting == b->max_nesting;
  return same && a->resolver == b->resolver && a->resolver_ctx == b->resolver_ctx &&
         (a->base_uri == b->base_uri ||
          (a->base_uri && b->base_uri && !strcmp(a->base_uri, b->base_uri)));
}

/* A grammar over the tables of an earlier one; false: it needs its own. */
static bool compile_over(const tags_job *r, tsl__tags *t, const tsl__tag *root, tsl_grammar **out) {
  static const tsl_schema_options defaults = {0};
  tsl_grammar *over = r->over;
  const tsl__tagged *before = over ? over->front : NULL;
  if (!before || over->vocab != r->vocab ||
      !same_options(r->schema ? r->schema : &defaults, &before->captures->schema))
    return false;
  if (tsl__is_crowded(over->tables->first)) return false; /* its first matcher would leave them */
  tsl_error unused, *error = t->error;
  tsl__tagged *tagged = NULL;
  tsl__mutex_lock(over->lock);
  tsl__space_begin(over->space);
  tsl__exprs *x = before->captures->x;
  /* what is left is for those who use it already */
  if (tsl__space_memory(over->space) > over->space->work.max_memory / 2) {
    tsl__mutex_unlock(over->lock);
    return false;
  }
  t->error = &unused;
  tsl__expr e = tsl__tags_lower(t, x, root, before->captures, NULL, r->limits, &tagged);
  bool fits = t->status == TSL_OK && e != TSL__NONE && tsl__exprs_status(x) == TSL_OK &&
              tsl__exprs_watches(x) == over->space->positions.watches;
  tsl__state start = fits ? tsl__state_of(over->space, e) : 0;
  if (start) tsl__grammar_make_over(over, start, NULL, out, NULL);
  bool done = *out && finish_tags(*out, tagged);
  if (done) (*out)->describe = describe_tags, (*out)->described = *out;
  tsl__mutex_unlock(over->lock);
  if (!done) {
    tsl_grammar_release(*out);
    *out = NULL;
  }
  t->error = error;
  t->status = TSL_OK;
  return *out != NULL;
}

static tsl_status compile_tags(const tags_job *r, tsl__tags *t, const tsl__tag *root,
                               const tsl__json *schemas, tsl_grammar **out, tsl_error *error) {
  if (!tsl__schema_options_known(r->schema)) return unknown_option(error);
  if (compile_over(r, t, root, out)) return TSL_OK;
  bool lend = schemas && schemas->kind >= TSL__JSON_ARRAY &&
              (size_t)(schemas->end - schemas->offset) * 2 >= t->length;
  return compile_alone(r, t, root, lend, out, error);
}

tsl_status tsl__tags_compile(tsl__tags *t, tsl_vocab *vocab, const tsl__tag *root,
                             tsl_grammar *over, const tsl_schema_options *schema,
                             const tsl_limits *limits, tsl_grammar **out, tsl_error *error) {
  const tags_job r = {vocab, over, schema, limits};
  t->until = tsl__until_of(limits);
  return compile_tags(&r, t, root, NULL, out, error);
}

/* The call's time begins when the vocabulary's own tables are there. */
static void begin_tags(tsl__tags *t, tsl_vocab *vocab, const tsl_schema_options *schema,
                       const tsl_limits *limits, tsl_error *error) {
  const tsl__space *shared;
  tsl__tags_init(t, vocab, &vocab->alloc, error);
  t->status = tsl__schema_options_known(schema)
                  ? tsl__shared_get(vocab, tsl__schema_options_of(schema).spelling, &shared, error)
                  : unknown_option(error);
  t->until = tsl__until_of(limits);
}

/* Parse the text that a tree is read from; false after a failure. */
static bool parse_tags(tsl__tags *t, const char *json, size_t length, const tsl_limits *limits) {
  tsl__json *root;
  if (t->status != TSL_OK) return false;
  uint32_t depth = tsl__json_depth(limits ? limits->max_depth : 0);
  t->text = length < UINT32_MAX ? tsl__arena_copy(&t->arena, json, length) : json;
  if (!t->text) return tsl__tags_fail(t, TSL_ERR_NO_MEMORY, NULL, "out of memory");
  t->length = length;
  t->status =
      tsl__json_parse_in_place(&t->arena, &t->until, t->text, length, depth, &root, t->error);
  t->root = t->status == TSL_OK ? root : NULL;
  return t->root != NULL;
}

static tsl_status grammar_tags(const tags_job *r, const char *json, size_t length,
                               tsl_grammar **out, tsl_error *error) {
  tsl__tags t;
  *out = NULL;
  if (!r->vocab) return tsl__fail(error, TSL_ERR_ARGUMENT, "no vocabulary given");
  begin_tags(&t, r->vocab, r->schema, r->limits, error);
  const tsl__tag *root =
      parse_tags(&t, json, length, r->limits) ? tsl__tags_read(&t, t.root) : NULL;
  tsl_status status = root ? compile_tags(r, &t, root, t.root, out, error) : t.status;
  tsl__tags_free(&t);
  return status == TSL_OK ? tsl__anew_tags(out, json, length, r->schema, NULL, r->limits, error)
                          : status;
}

tsl_status tsl_grammar_tags(tsl_vocab *vocab, const char *json, size_t length,
                            const tsl_schema_options *schema, const tsl_limits *limits,
                            tsl_grammar **out, tsl_error *error) {
  const tags_job r = {.vocab = vocab, .schema = schema, .limits = limits};
  return grammar_tags(&r, json, length, out, error);
}

tsl_status tsl_grammar_tags_over(tsl_grammar *over, const char *json, size_t length,
                                 const tsl_schema_options *schema, const tsl_limits *limits,
                                 tsl_grammar **out, tsl_error *error) {
  const tags_job r = {
      .vocab = over ? over->vocab : NULL, .over = over, .schema = schema, .limits = limits};
  return grammar_tags(&r, json, length, out, error);
}

tsl_status tsl_grammar_tools(tsl_vocab *vocab, const char *json, size_t length,
                             const tsl_tools_options *options, const tsl_limits *limits,
                             tsl_grammar **out, tsl_error *error) {
  tsl__tags t;
  *out = NULL;
  if (!vocab || !options || !options->preset)
    return tsl__fail(error, TSL_ERR_ARGUMENT, "a vocabulary and a preset are needed");
  if (options->over && options->over->vocab != vocab)
    return tsl__fail(error, TSL_ERR_ARGUMENT, "`over` is a grammar of another vocabulary");
  const tags_job r = {vocab, options->over, options->schema, limits};
  begin_tags(&t, vocab, options->schema, limits, error);
  t.report = options->report;
  t.report_ctx = options->report_ctx;
  const tsl__tag *root = parse_tags(&t, json, length, limits) ? tsl__tools_read(&t, options) : NULL;
  tsl_status status =
      root ? compile_tags(&r, &t, root,
                          t.root->kind == TSL__JSON_ARRAY ? t.root
                                                          : tsl__json_get(t.root, "tools", 5),
                          out, error)
           : t.status;
  tsl__tags_free(&t);
  return status == TSL_OK
             ? tsl__anew_tags(out, json, length, options->schema, options, limits, error)
             : status;
}

tsl_status tsl_tools_write(tsl_vocab *vocab, const char *request, size_t length,
                           const tsl_tools_options *options, tsl_line_sink sink, void *ctx,
                           tsl_error *error) {
  tsl__tags t;
  if (!vocab || !options || !options->preset)
    return tsl__fail(error, TSL_ERR_ARGUMENT, "a vocabulary and a preset are needed");
  tsl__tags_init(&t, vocab, &vocab->alloc, error);
  const tsl__tag *root =
      parse_tags(&t, request, length, NULL) ? tsl__tools_read(&t, options) : NULL;
  char *json = root ? tsl__tags_write(&t, root) : NULL;
  if (json) sink(ctx, json);
  tsl__tags_free(&t);
  return t.status;
}
