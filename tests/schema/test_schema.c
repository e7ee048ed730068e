/* test_schema.c - JSON Schemas through the public calls. Tested: what is accepted, what is refused
 * and where, how short texts can be, and that no allowed prefix is a dead end.
 *
 * Cases are lines of JSON in tests/cases/schema/NAME.jsonl. A line is a schema with texts, or a
 * schema that is refused:
 *
 *   {"schema": S, "valid": [texts], "invalid": [texts]}
 *   {"text": schema text (or "schema": S), "error": "TSL_ERR_…", "pointer": p, "message": a part}
 *
 * The first kind may have more members: "order": "schema", "whitespace": "compact" | "pretty" | a
 * number, "draft": 7, "nullable": true, "formats": false, "content": true, "max_nesting": n. With
 * "bound": true, what the matcher says of lengths is a lower bound.
 * Further members are "documents": {URI: schema}, "base": URI, "shortest": bytes, and "keyword":
 * one that makes the difference. The JSON Schema Test Suite is run whole where it has been fetched.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L

#include "compiler/json/json.h"
#include "compiler/schema/keywords.h"
#include "tests/support/byte_vocab.h"
#include "tests/support/folder.h"
#include "tests/support/text.h"
#include "turnstile.h"

static tsl_vocab *embedded;

/* ---- texts of trees -------------------------------------------------------------------------- */

static void put_string(struct text *t, const char *s, size_t n) {
  text_put(t, "\"", 1);
  for (size_t i = 0; i < n; i++) {
    char unit[8];
    if ((uint8_t)s[i] < 0x20 || s[i] == '"' || s[i] == '\\')
      text_put(t, unit, (size_t)snprintf(unit, sizeof unit, "\\u%04x", (uint8_t)s[i]));
    else
      text_put(t, &s[i], 1);
  }
  text_put(t, "\"", 1);
}

static void put_json(struct text *t, const tsl__json *v) {
  static const char *const literals[] = {"null", "false", "true"};
  bool object = v->kind == TSL__JSON_OBJECT;
  if (v->kind < TSL__JSON_NUMBER) text_put(t, literals[v->kind], strlen(literals[v->kind]));
  if (v->kind == TSL__JSON_NUMBER) text_put(t, v->text, v->length);
  if (v->kind == TSL__JSON_STRING) put_string(t, v->text, v->length);
  if (v->kind < TSL__JSON_ARRAY) return;
  text_put(t, object ? "{" : "[", 1);
  for (uint32_t i = 0; i < v->length; i++) {
    if (i) text_put(t, ",", 1);
    if (object) {
      put_string(t, v->items[i].key, v->items[i].key_length);
      text_put(t, ":", 1);
    }
    put_json(t, &v->items[i]);
  }
  text_put(t, object ? "}" : "]", 1);
}

/* ---- one grammar ----------------------------------------------------------------------------- */

enum { REJECTED, ACCEPTED, FAILED };

static int try_text(tsl_grammar *g, const char *text, size_t length, size_t *accepted) {
  tsl_matcher *m;
  if (tsl_matcher_new(g, NULL, &m) != TSL_OK) return FAILED;
  tsl_status status = tsl_matcher_accept_bytes(m, text, length, accepted);
  int verdict = status == TSL_REJECTED       ? REJECTED
                : status != TSL_OK           ? FAILED
                : tsl_matcher_is_complete(m) ? ACCEPTED
                                             : REJECTED;
  tsl_matcher_free(m);
  return verdict;
}

/* Is there a text of exactly `left` more bytes? It is written to out. What the matcher says of the
 * shortest completion bounds the search. */
static bool finish(tsl_matcher *m, uint64_t left, struct text *out) {
  uint32_t next[8];
  size_t n = out->n;
  if (!left) return tsl_matcher_is_complete(m);
  if (tsl_matcher_next_bytes(m, next) != TSL_OK) return false;
  for (unsigned b = 0; b < 256; b++) {
    tsl_matcher *fork;
    uint64_t after = UINT64_MAX;
    uint8_t byte = (uint8_t)b;
    if (!((next[b / 32] >> (b % 32)) & 1u) || tsl_matcher_fork(m, &fork) != TSL_OK) continue;
    bool found = tsl_matcher_accept_bytes(fork, &byte, 1, NULL) == TSL_OK &&
                 tsl_matcher_shortest_completion(fork, &after) == TSL_OK && after < left;
    out->n = n;
    text_put(out, (const char *)&byte, 1);
    found = found && finish(fork, left - 1, out);
    tsl_matcher_free(fork);
    if (found) return true;
  }
  out->n = n;
  return false;
}

/* Write a random text of the grammar: `wild` bytes at random, then as short as possible. A prefix
 * that can't be completed is a dead end. What the matcher says of the shortest completion must be
 * right at the start; inside a key it may be too small. */
static bool write_text(tsl_grammar *g, uint64_t *seed, size_t wild, struct text *out) {
  tsl_matcher *m;
  uint64_t here = UINT64_MAX;
  if (tsl_matcher_new(g, NULL, &m) != TSL_OK) return false;
  bool good = true;
  for (size_t steps = 0; good && steps < wild; steps++) {
    uint32_t next[8];
    uint8_t bytes[256];
    size_t n = 0;
    good = tsl_matcher_next_bytes(m, next) == TSL_OK;
    for (unsigned b = 0; good && b < 256; b++)
      if ((next[b / 32] >> (b % 32)) & 1u) bytes[n++] = (uint8_t)b;
    if (tsl_matcher_is_complete(m) && (!n || tsl_test_random(seed) % 4 == 0)) break;
    uint8_t byte = n ? bytes[tsl_test_random(seed) % n] : 0;
    /* most bytes are the inside of strings */
    if (n && tsl_test_random(seed) % 3 == 0 && memchr(bytes, '"', n)) byte = '"';
    good = good && n && tsl_matcher_accept_bytes(m, &byte, 1, NULL) == TSL_OK;
    text_put(out, (const char *)&byte, 1);
  }
  good = good && tsl_matcher_shortest_completion(m, &here) == TSL_OK && here != UINT64_MAX;
  bool done = good && (tsl_matcher_is_complete(m) || finish(m, here, out));
  for (uint64_t more = 1; good && wild && !done && more < 100; more++)
    done = finish(m, here + more, out);
  if (!done)
    fprintf(stderr, "after %.*s: shortest %" PRIu64 "\n", (int)out->n, out->at ? out->at : "",
            here);
  tsl_matcher_free(m);
  return done;
}

/* What is written must be JSON, and accepted when it comes at once. */
static void check_writing(tsl_grammar *g, const char *name, unsigned texts) {
  uint64_t seed = 7;
  for (unsigned i = 0; i < texts; i++) {
    struct text t = {0};
    tsl__arena arena;
    tsl__json *v;
    size_t accepted;
    bool good = write_text(g, &seed, i * 15, &t);
    CHECKF(good, "%s", name);
    tsl__arena_init(&arena, &tsl__malloc);
    CHECKF(!good || tsl__json_parse(&arena, NULL, t.at, t.n, 1000, &v, NULL) == TSL_OK, "%s: %s",
           name, t.at);
    CHECKF(!good || try_text(g, t.at, t.n, &accepted) == ACCEPTED, "%s: %s", name, t.at);
    tsl__arena_free(&arena);
    free(t.at);
  }
}

/* ---- cases ----------------------------------------------------------------------------------- */

static const tsl__json *get(const tsl__json *o, const char *key) {
  return tsl__json_get(o, key, strlen(key));
}
static bool is(const tsl__json *v, const char *text) {
  return v && tsl__json_is(v, text, strlen(text));
}

static uint32_t number(const tsl__json *v) {
  uint32_t n = 0;
  return v && tsl__json_count(v, &n) ? n : 0;
}

static tsl_schema_options options_of(const tsl__json *c) {
  tsl_schema_options o = {.order =
                              is(get(c, "order"), "schema") ? TSL_ORDER_SCHEMA : TSL_ORDER_ANY};
  const tsl__json *space = get(c, "whitespace");
  /* the cases are about values, but for those that say so */
  bool plain = is(get(c, "spelling"), "plain");
  if (!plain) o.spelling = TSL_SPELLING_ANY;
  if (!plain && !space) o.whitespace = TSL_WS_ANY;
  if (is(space, "compact")) o.whitespace = TSL_WS_COMPACT;
  if (is(space, "pretty")) o.whitespace = TSL_WS_PRETTY;
  if (space && space->kind == TSL__JSON_NUMBER) o.whitespace = TSL_WS_BOUNDED;
  o.whitespace_max = number(space);
  o.indent = 2;
  uint32_t draft = number(get(c, "draft"));
  o.draft = (tsl_draft)draft;
  o.nullable = get(c, "nullable") != NULL;
  o.ignore_formats = get(c, "formats") != NULL;
  o.assert_content = get(c, "content") != NULL;
  o.max_nesting = number(get(c, "max_nesting"));
  return o;
}

/* The case's documents, written out as they are requested. */
struct given {
  const tsl__json *documents;
  struct text texts[8];
  size_t count;
};

static bool give_document(void *ctx, const char *uri, const char **text, size_t *length) {
  struct given *d = ctx;
  const tsl__json *v = d->documents ? get(d->documents, uri) : NULL;
  if (!v || d->count == sizeof d->texts / sizeof *d->texts) return false;
  struct text *t = &d->texts[d->count++];
  put_json(t, v);
  *text = t->at;
  *length = t->n;
  return true;
}

static void check_texts(tsl_grammar *g, const tsl__json *list, int expected, const char *schema) {
  for (uint32_t i = 0; list && i < list->length; i++) {
    size_t accepted = 0;
    int got = try_text(g, list->items[i].text, list->items[i].length, &accepted);
    CHECKF(got == expected, "%s\n  %s %.*s (%zu bytes could be accepted)", schema,
           expected == ACCEPTED ? "must accept" : "must reject", (int)list->items[i].length,
           list->items[i].text, accepted);
  }
}

/* Every keyword that asserts has a case that names it ("keyword": K): without it some text of the
 * case has another verdict. So none is called enforced that no pass asks about. */
static unsigned cases_of[KW_COUNT];

static bool verdicts_differ(tsl_grammar *g, const tsl__json *list, int with) {
  size_t accepted;
  for (uint32_t i = 0; list && i < list->length; i++)
    if (try_text(g, list->items[i].text, list->items[i].length, &accepted) != with) return true;
  return false;
}

static void check_keyword(const tsl__json *c, const tsl_schema_options *o) {
  const tsl__json *schema = get(c, "schema"), *keyword = get(c, "keyword");
  tsl__json without = *schema;
  struct text text = {0};
  tsl_grammar *g = NULL;
  for (size_t i = 0; i < KW_COUNT; i++) cases_of[i] += is(keyword, tsl__keyword_rows[i].text);
  without.items = malloc((schema->length + 1) * sizeof *without.items);
  without.length = 0;
  for (uint32_t i = 0; i < schema->length; i++)
    if (!tsl__json_is(keyword, schema->items[i].key, schema->items[i].key_length))
      without.items[without.length++] = schema->items[i];
  put_json(&text, &without);
  CHECKF(without.length + 1 == schema->length &&
             tsl_grammar_json_schema(vocab, text.at, text.n, o, NULL, &g, NULL) == TSL_OK,
         "%s", text.at);
  CHECKF(g && (verdicts_differ(g, get(c, "valid"), ACCEPTED) ||
               verdicts_differ(g, get(c, "invalid"), REJECTED)),
         "%.*s changes nothing in %s", (int)keyword->length, keyword->text, text.at);
  tsl_grammar_release(g);
  free(text.at);
  free(without.items);
}

static void test_keywords(void) {
  for (size_t i = 0; i < KW_COUNT; i++)
    CHECKF(cases_of[i] > 0, "%s: no case in tests/cases/schema names this keyword",
           tsl__keyword_rows[i].text);
}

static bool holds(const char *message, const tsl__json *part) {
  for (; *message; message++)
    if (!strncmp(message, part->text, part->length)) return true;
  return false;
}

static void check_case(const tsl__json *c) {
  struct text schema = {0};
  const tsl__json *text = get(c, "text"), *wanted = get(c, "error"), *pointer = get(c, "pointer"),
                  *message = get(c, "message");
  if (text)
    text_put(&schema, text->text, text->length);
  else
    put_json(&schema, get(c, "schema"));
  tsl_schema_options o = options_of(c);
  struct given given = {.documents = get(c, "documents")};
  o.resolver = give_document;
  o.resolver_ctx = &given;
  char base[200];
  snprintf(base, sizeof base, "%.*s", get(c, "base") ? (int)get(c, "base")->length : 0,
           get(c, "base") ? get(c, "base")->text : "");
  o.base_uri = base;
  tsl_grammar *g;
  tsl_error error = {0};
  tsl_status status = tsl_grammar_json_schema(vocab, schema.at, schema.n, &o, NULL, &g, &error);
  if (wanted) {
    CHECKF(is(wanted, tsl_status_name(status)), "%s: %s (%s)", schema.at, tsl_status_name(status),
           status ? error.message : "");
    CHECKF(!pointer || (status && is(pointer, error.pointer)), "%s: pointer \"%s\"", schema.at,
           error.pointer);
    CHECKF(!status || (error.status == status && error.message[0]),
           "%s: an error without a message", schema.at);
    CHECKF(!message || (status && holds(error.message, message)), "%s: message \"%s\"", schema.at,
           error.message);
  } else {
    CHECKF(status == TSL_OK, "%s: %s at \"%s\": %s", schema.at, tsl_status_name(status),
           error.pointer, error.message);
  }
  if (g) {
    const tsl__json *shortest = get(c, "shortest");
    tsl_matcher *m;
    uint64_t bytes = 0;
    check_texts(g, get(c, "valid"), ACCEPTED, schema.at);
    check_texts(g, get(c, "invalid"), REJECTED, schema.at);
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
          tsl_matcher_shortest_completion(m, &bytes) == TSL_OK);
    CHECKF(!shortest || bytes == number(shortest), "%s: shortest is %" PRIu64, schema.at, bytes);
    tsl_matcher_free(m);
    /* where lengths are lower bounds, a way to the end is long to look for */
    if (!get(c, "bound")) check_writing(g, schema.at, 8);
    tsl_grammar_release(g);
  }
  if (get(c, "keyword")) check_keyword(c, &o);
  for (size_t i = 0; i < given.count; i++) free(given.texts[i].at);
  free(schema.at);
}

static void run_cases(const char *path) {
  size_t length;
  char *text = text_of_file(path, &length);
  CHECKF(text != NULL, "%s", path);
  for (char *line = text ? strtok(text, "\n") : NULL; line; line = strtok(NULL, "\n")) {
    tsl__arena arena;
    tsl__json *c;
    tsl_error error;
    if (line[0] == '#') continue;
    tsl__arena_init(&arena, &tsl__malloc);
    tsl_status status = tsl__json_parse(&arena, NULL, line, strlen(line), 1000, &c, &error);
    CHECKF(status == TSL_OK, "%s: %s: %s", path, line, error.message);
    if (status == TSL_OK) check_case(c);
    tsl__arena_free(&arena);
  }
  free(text);
}

static void test_cases(void) {
  char *paths[100];
  size_t n = folder_list("tests/cases/schema", ".jsonl", paths, 100);
  CHECK(n > 0);
  for (size_t i = 0; i < n; i++) {
    run_cases(paths[i]);
    free(paths[i]);
  }
}

/* Where only one text is left, what is missing of it is the shortest completion, inside names
 * too. */
static void test_shortest_inside(void) {
  static const char one[] = "{\"alpha\":{\"beta\":{\"gamma\":[{\"d\":null}]}}}";
  struct text schema = {0};
  tsl_schema_options o = {.whitespace = TSL_WS_COMPACT};
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  text_add(&schema, "{\"const\":");
  text_add(&schema, one);
  text_add(&schema, "}");
  CHECK(tsl_grammar_json_schema(vocab, schema.at, schema.n, &o, NULL, &g, NULL) == TSL_OK &&
        tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (size_t i = 0; m && i <= strlen(one); i++) {
    uint64_t bytes = 0;
    CHECK(tsl_matcher_shortest_completion(m, &bytes) == TSL_OK);
    CHECKF(bytes == strlen(one) - i, "after %.*s: %" PRIu64, (int)i, one, bytes);
    if (i < strlen(one)) CHECK(tsl_matcher_accept_bytes(m, &one[i], 1, NULL) == TSL_OK);
  }
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  text_free(&schema);
}

/* ---- the JSON Schema Test Suite -------------------------------------------------------------- */

static const struct exception {
  const char *draft, *file, *group, *reason;
} exceptions[] = {
#include "tests/cases/schema/exceptions.inc"
    {NULL, NULL, NULL, NULL}};

struct remotes {
  const char *folder;
  char *texts[64];
  size_t count;
};

static bool find_remote(void *ctx, const char *uri, const char **text, size_t *length) {
  struct remotes *r = ctx;
  char path[1024];
  const char *host = "http://localhost:1234/";
  if (strncmp(uri, host, strlen(host)) != 0 || r->count == 64) return false;
  snprintf(path, sizeof path, "%s/%s", r->folder, uri + strlen(host));
  char *t = text_of_file(path, length);
  if (!t) return false;
  r->texts[r->count++] = t;
  *text = t;
  return true;
}

struct table {
  unsigned groups, compiled, empty, excepted, tests, wrong;
};

static const struct exception *excepted(const char *draft, const char *file,
                                        const tsl__json *group) {
  for (const struct exception *e = exceptions; e->draft; e++)
    if ((!strcmp(e->draft, draft) || !strcmp(e->draft, "*")) && !strcmp(e->file, file) &&
        (!*e->group || is(group, e->group)))
      return e;
  return NULL;
}

/* A group whose schema nothing satisfies is refused: right if all its instances are invalid. */
static bool all_invalid(const tsl__json *tests) {
  for (uint32_t i = 0; i < tests->length; i++)
    if (get(&tests->items[i], "valid")->kind == TSL__JSON_TRUE) return false;
  return true;
}

/* The text is read as a model would write it. Each token of the text must be in the mask of its
 * place. What the mask lacks must not be accepted. At the end the end must be allowed. */
static int try_tokens(tsl_grammar *g, const char *text, size_t length) {
  enum { TOKENS = 4096 };
  static tsl_token tokens[TOKENS];
  static uint32_t mask[1024];
  size_t n = 0;
  tsl_matcher *m;
  if (tsl_vocab_encode(embedded, text, length, 0, tokens, TOKENS, &n) != TSL_OK ||
      tsl_matcher_new(g, NULL, &m) != TSL_OK)
    return FAILED;
  int verdict = ACCEPTED;
  for (size_t i = 0; i < n && verdict == ACCEPTED; i++) {
    tsl_status status = tsl_matcher_mask(m, mask);
    bool allowed = status == TSL_OK && tsl_mask_has(mask, tokens[i]);
    if (status == TSL_OK) status = tsl_matcher_accept(m, tokens[i]);
    verdict = status == TSL_OK && allowed          ? ACCEPTED
              : status == TSL_REJECTED && !allowed ? REJECTED
                                                   : FAILED;
  }
  if (verdict == ACCEPTED && !tsl_matcher_is_complete(m)) verdict = REJECTED;
  tsl_matcher_free(m);
  return verdict;
}

static void run_group(const char *draft, uint32_t number_of_draft, const char *file,
                      const tsl__json *group, const char *remotes, bool formats, struct table *t) {
  struct remotes r = {.folder = remotes};
  struct text schema = {0};
  const tsl__json *name = get(group, "description"), *tests = get(group, "tests");
  const struct exception *except = excepted(draft, file, name);
  put_json(&schema, get(group, "schema"));
  tsl_schema_options o = {.generous = true,
                          .draft = (tsl_draft)number_of_draft,
                          .ignore_formats = !formats,
                          .assert_content = formats,
                          .resolver = find_remote,
                          .resolver_ctx = &r};
  tsl_grammar *g;
  tsl_error error = {0};
  tsl_status status = tsl_grammar_json_schema(embedded, schema.at, schema.n, &o, NULL, &g, &error);
  t->groups++;
  if (status == TSL_OK) t->compiled++;
  if (status == TSL_ERR_EMPTY && all_invalid(tests))
    t->empty++;
  else if (except)
    t->excepted++;
  else
    CHECKF(status == TSL_OK, "%s/%s \"%.*s\": %s at \"%s\": %s", draft, file, (int)name->length,
           name->text, tsl_status_name(status), error.pointer, error.message);
  for (uint32_t i = 0; g && i < tests->length; i++) {
    struct text instance = {0};
    size_t accepted;
    put_json(&instance, get(&tests->items[i], "data"));
    bool valid = get(&tests->items[i], "valid")->kind == TSL__JSON_TRUE;
    int verdict = try_tokens(g, instance.at, instance.n);
    CHECKF(verdict == try_text(g, instance.at, instance.n, &accepted),
           "%s/%s: by bytes %s is judged otherwise", draft, file, instance.at);
    t->tests++;
    if (!except && verdict != (valid ? ACCEPTED : REJECTED)) t->wrong++;
    CHECKF(except || verdict == (valid ? ACCEPTED : REJECTED), "%s/%s \"%.*s\", test %u: %s is %s",
           draft, file, (int)name->length, name->text, (unsigned)i, instance.at,
           valid ? "valid" : "invalid");
    free(instance.at);
  }
  if (g && !except) check_writing(g, schema.at, 2);
  if (g) tsl_grammar_release(g);
  for (size_t i = 0; i < r.count; i++) free(r.texts[i]);
  free(schema.at);
}

static void run_file(const char *path, const char *draft, uint32_t number_of_draft,
                     const char *remotes, bool formats, struct table *t) {
  const char *file = strrchr(path, '/') + 1;
  size_t length;
  tsl__arena arena;
  tsl__json *groups;
  char *text = text_of_file(path, &length);
  tsl__arena_init(&arena, &tsl__malloc);
  bool good = text && tsl__json_parse(&arena, NULL, text, length, 1000, &groups, NULL) == TSL_OK;
  CHECKF(good, "%s", path);
  for (uint32_t i = 0; good && i < groups->length; i++)
    run_group(draft, number_of_draft, file, &groups->items[i], remotes, formats, t);
  tsl__arena_free(&arena);
  free(text);
}

static void run_draft(const char *suite, const char *draft, uint32_t number_of_draft,
                      const char *part, bool formats) {
  char folder[900], remotes[900], *paths[200];
  struct table t = {0};
  snprintf(folder, sizeof folder, "%s/tests/%s%s", suite, draft, part);
  snprintf(remotes, sizeof remotes, "%s/remotes", suite);
  size_t n = folder_list(folder, ".json", paths, 200);
  CHECKF(n > 0, "%s", folder);
  for (size_t i = 0; i < n; i++) {
    run_file(paths[i], draft, number_of_draft, remotes, formats, &t);
    free(paths[i]);
  }
  printf("    %-14s%-18s %4u groups: %4u compiled, %3u refused as empty (rightly), %3u exceptions; "
         "%5u tests, %u wrong\n",
         draft, part, t.groups, t.compiled, t.empty, t.excepted, t.tests, t.wrong);
}

static void test_suite(void) {
  static const struct {
    const char *name;
    uint32_t draft;
  } drafts[] = {{"draft3", 3}, {"draft4", 4},          {"draft6", 6},
                {"draft7", 7}, {"draft2019-09", 2019}, {"draft2020-12", 2020}};
  const char *suite = getenv("TSL_SUITE");
  char path[900];
  size_t length;
  snprintf(path, sizeof path, "%s/README.md", suite ? suite : ".");
  char *readme = suite ? text_of_file(path, &length) : NULL;
  if (!readme) {
    SKIP("the JSON Schema Test Suite is not there (TSL_SUITE; ./dev test fetches it)");
    return;
  }
  free(readme);
  if (tsl_vocab_embedded(NULL, &embedded, NULL) != TSL_OK) {
    CHECKF(false, "%s", "the embedded vocabulary");
    return;
  }
  for (size_t i = 0; i < sizeof drafts / sizeof *drafts; i++)
    run_draft(suite, drafts[i].name, drafts[i].draft, "", false);
  for (size_t i = 1; i < sizeof drafts / sizeof *drafts; i++)
    run_draft(suite, drafts[i].name, drafts[i].draft, "/optional/format", true);
  for (size_t i = 1; i < sizeof drafts / sizeof *drafts; i++)
    run_draft(suite, drafts[i].name, drafts[i].draft, "/optional", true);
  tsl_vocab_release(embedded);
  for (const struct exception *e = exceptions; e->draft; e++)
    printf("    exception: %s %s %s: %s\n", e->draft, e->file, e->group, e->reason);
}

/* Patterns of names that overlap so much that no mask could be made are refused by the compile. */
static void test_overlapping_patterns(void) {
  static const char *const names[] = {"foo", "bar", "baz", "qux", "zip", "tar", "low", "end"};
  for (unsigned count = 2; count <= 8; count += 3) {
    char schema[400] = "{\"patternProperties\":{", error_of[64];
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    for (unsigned i = 0; i < count; i++)
      snprintf(schema + strlen(schema), 40, "%s\"%s\":{\"minLength\":%u}", i ? "," : "", names[i],
               i);
    strcat(schema, "},\"additionalProperties\":{\"type\":\"integer\"},\"minProperties\":1}");
    snprintf(error_of, sizeof error_of, "distinguish %u groups of keys", 1u << count);
    tsl_status status =
        tsl_grammar_json_schema(vocab, schema, strlen(schema), NULL, NULL, &g, &error);
    CHECKF(count < 8 ? status == TSL_OK
                     : status == TSL_ERR_LIMIT && strstr(error.message, error_of),
           "%u patterns: %s, %s", count, tsl_status_name(status), error.message);
    tsl_grammar_release(g);
  }
}

/* An object's cells are made when it is first read: the message says where the object stands. */
static void test_many_patterns(void) {
  static const char *const around[][3] = {
      {"", "", ": the root of the schema"},
      {"{\"anyOf\":[{\"type\":\"string\"},", "]}", "/anyOf/1"},
  };
  for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
    char schema[4000];
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    snprintf(schema, sizeof schema, "%s{\"type\":\"object\",\"patternProperties\":{", around[i][0]);
    for (unsigned k = 0; k < 70; k++)
      snprintf(schema + strlen(schema), 40, "%s\"%c%u$\":{\"minimum\":%u}", k ? "," : "",
               'a' + (int)(k % 26), k, k);
    strcat(schema, "},\"additionalProperties\":false}");
    strcat(schema, around[i][1]);
    tsl_status status =
        tsl_grammar_json_schema(vocab, schema, strlen(schema), NULL, NULL, &g, &error);
    CHECKF(status == TSL_ERR_LIMIT && strstr(error.message, "more than 64 different patterns"),
           "%s, %s", tsl_status_name(status), error.message);
    CHECKF(strstr(error.message, around[i][2]) || strstr(error.pointer, around[i][2]), "%s at %s",
           error.message, error.pointer);
    tsl_grammar_release(g);
  }
}

int main(void) {
  make_vocab();
  RUN(test_cases, "schemas: accepted, rejected, refused, shortest; no dead ends");
  RUN(test_keywords, "a case for every keyword");
  RUN(test_overlapping_patterns, "patterns of names that overlap");
  RUN(test_many_patterns, "too many patterns of names, and where they stand");
  RUN(test_shortest_inside, "the shortest completion, byte by byte");
  RUN(test_suite, "the JSON Schema Test Suite, required and optional, token by token with masks, "
                  "property order any");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
