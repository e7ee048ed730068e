/* source.c - reading and compiling the grammar of a command. See source.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/source.h"

#include "cli/json_out.h"
#include "cli/os.h"

#include <stdlib.h>
#include <string.h>

struct source_document {
  source_document *next;
  cli_text text;
};

/* ---- options --------------------------------------------------------------------------------- */

static bool set_kind(source *s, source_kind kind, const char *from) {
  if (s->kind != SOURCE_NONE)
    return cli_refuse("one of --schema, --regex, --grammar, --lark, --ebnf, --abnf, --request and "
                      "--artifact is given already");
  s->kind = kind;
  s->from = from;
  return true;
}

/* The source, of which an option is given that only one kind has. */
static source *of_kind(void *to, source_kind kind, const char *option) {
  source *s = to;
  s->option[kind] = option;
  return s;
}

static bool set_schema(void *to, const char *value) { return set_kind(to, SOURCE_SCHEMA, value); }
static bool set_regex(void *to, const char *value) { return set_kind(to, SOURCE_REGEX, value); }
static bool set_grammar(void *to, const char *value) { return set_kind(to, SOURCE_GBNF, value); }
static bool set_lark(void *to, const char *value) { return set_kind(to, SOURCE_LARK, value); }
static bool set_ebnf(void *to, const char *value) { return set_kind(to, SOURCE_EBNF, value); }
static bool set_abnf(void *to, const char *value) { return set_kind(to, SOURCE_ABNF, value); }
static bool set_request(void *to, const char *value) { return set_kind(to, SOURCE_REQUEST, value); }
static bool set_imports(void *to, const char *value) {
  return of_kind(to, SOURCE_LARK, "--imports")->imports = value, *value != 0;
}
static bool set_lexer(void *to, const char *value) {
  return of_kind(to, SOURCE_LARK, "--lexer")->lexer = value, *value != 0;
}
static bool set_artifact(void *to, const char *value) {
  return set_kind(to, SOURCE_ARTIFACT, value);
}
static bool set_root(void *to, const char *value) {
  source *s = to;
  if (s->kind < SOURCE_GBNF || s->kind > SOURCE_ABNF) of_kind(to, SOURCE_GBNF, "--root");
  return s->root = value, *value != 0;
}
static bool set_vocab(void *to, const char *value) {
  return ((source *)to)->vocab_path = value, *value != 0;
}
static bool set_vocab_cache(void *to, const char *value) {
  return ((source *)to)->vocab_cache = value, *value != 0;
}
static bool set_base(void *to, const char *value) {
  return of_kind(to, SOURCE_SCHEMA, "--base")->schema.base_uri = value, *value != 0;
}
static bool set_repeated_names(void *to, const char *value) {
  return (void)value, of_kind(to, SOURCE_SCHEMA, "--repeated-names")->schema.repeated_names = true;
}
static bool set_lazy(void *to, const char *value) {
  return (void)value, of_kind(to, SOURCE_SCHEMA, "--lazy")->schema.lazy = true;
}
static bool set_nullable(void *to, const char *value) {
  return (void)value, of_kind(to, SOURCE_SCHEMA, "--nullable")->schema.nullable = true;
}
static bool set_ignore_case(void *to, const char *value) {
  return (void)value, of_kind(to, SOURCE_REGEX, "--ignore-case")->regex.case_insensitive = true;
}
static bool set_dot_all(void *to, const char *value) {
  return (void)value, of_kind(to, SOURCE_REGEX, "--dot-all")->regex.dot_all = true;
}
static bool set_search(void *to, const char *value) {
  return (void)value, of_kind(to, SOURCE_REGEX, "--search")->regex.search = true;
}

static bool set_order(void *to, const char *value) {
  source *s = of_kind(to, SOURCE_SCHEMA, "--order");
  s->order_given = true;
  s->schema.order = !strcmp(value, "any") ? TSL_ORDER_ANY : TSL_ORDER_SCHEMA;
  return !strcmp(value, "any") || !strcmp(value, "schema");
}

static bool set_formats(void *to, const char *value) {
  source *s = of_kind(to, SOURCE_SCHEMA, "--formats");
  s->schema.ignore_formats = !strcmp(value, "ignore");
  return s->schema.ignore_formats || !strcmp(value, "assert");
}

static bool set_content(void *to, const char *value) {
  source *s = of_kind(to, SOURCE_SCHEMA, "--content");
  s->schema.assert_content = !strcmp(value, "assert");
  return s->schema.assert_content || !strcmp(value, "ignore");
}

static bool set_draft(void *to, const char *value) {
  static const struct {
    const char *name;
    tsl_draft draft;
  } names[] = {{"auto", TSL_DRAFT_AUTO},    {"3", TSL_DRAFT_3},
               {"4", TSL_DRAFT_4},          {"6", TSL_DRAFT_6},
               {"7", TSL_DRAFT_7},          {"2019-09", TSL_DRAFT_2019_09},
               {"2019", TSL_DRAFT_2019_09}, {"2020-12", TSL_DRAFT_2020_12},
               {"2020", TSL_DRAFT_2020_12}};
  const char *name = value;
  if (!strncmp(name, "draft", 5)) name += name[5] == '-' ? 6 : 5;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(name, names[i].name)) {
      of_kind(to, SOURCE_SCHEMA, "--draft")->schema.draft = names[i].draft;
      return true;
    }
  return false;
}

static bool set_spelling(void *to, const char *value) {
  source *s = of_kind(to, SOURCE_SCHEMA, "--spelling");
  s->spelling_given = true;
  s->schema.spelling = !strcmp(value, "any") ? TSL_SPELLING_ANY : TSL_SPELLING_PLAIN;
  return !strcmp(value, "any") || !strcmp(value, "plain");
}

static bool set_generous(void *to, const char *value) {
  source *s = of_kind(to, SOURCE_SCHEMA, "--generous");
  s->schema.order = TSL_ORDER_ANY;
  s->schema.whitespace = TSL_WS_ANY;
  s->schema.spelling = TSL_SPELLING_ANY;
  return (void)value, s->order_given = s->spelling_given = s->whitespace_given = true;
}

/* plain:LINES:COLUMNS, from the first number on. */
static bool set_bounds(tsl_schema_options *o, const char *value) {
  const char *colon = strchr(value, ':');
  char lines[8];
  uint64_t n, columns;
  if (!colon || (size_t)(colon - value) >= sizeof lines) return false;
  memcpy(lines, value, (size_t)(colon - value));
  lines[colon - value] = 0;
  if (!cli_number(lines, 1, 1000, &n) || !cli_number(colon + 1, 1, 1000, &columns)) return false;
  o->whitespace_lines = (uint32_t)n;
  o->whitespace_columns = (uint32_t)columns;
  return true;
}

/* plain[:LINES:COLUMNS] | any | compact | at-most:N | pretty[:N] */
bool source_whitespace(const char *value, tsl_schema_options *o) {
  uint64_t n;
  if (!strncmp(value, "plain", 5) && (!value[5] || value[5] == ':')) {
    o->whitespace = TSL_WS_PLAIN;
    return !value[5] || set_bounds(o, value + 6);
  }
  if (!strcmp(value, "any")) return o->whitespace = TSL_WS_ANY, true;
  if (!strcmp(value, "compact")) return o->whitespace = TSL_WS_COMPACT, true;
  if (!strncmp(value, "at-most:", 8) && cli_number(value + 8, 0, 1000, &n)) {
    o->whitespace = TSL_WS_BOUNDED;
    o->whitespace_max = (uint32_t)n;
    return true;
  }
  n = 2;
  if (!strcmp(value, "pretty") ||
      (!strncmp(value, "pretty:", 7) && cli_number(value + 7, 0, 16, &n))) {
    o->whitespace = TSL_WS_PRETTY;
    o->indent = (uint32_t)n;
    return true;
  }
  return false;
}

static bool set_whitespace(void *to, const char *value) {
  source *s = of_kind(to, SOURCE_SCHEMA, "--ws");
  s->whitespace_given = true;
  return source_whitespace(value, &s->schema);
}

static bool set_nesting(void *to, const char *value) {
  uint64_t n;
  if (!cli_number(value, 1, UINT32_MAX, &n)) return false;
  of_kind(to, SOURCE_SCHEMA, "--max-nesting")->schema.max_nesting = (uint32_t)n;
  return true;
}

static bool set_resolve(void *to, const char *value) {
  source *s = of_kind(to, SOURCE_SCHEMA, "--resolve");
  const char *equals = strrchr(value, '=');
  if (!equals || equals == value || !equals[1]) return cli_refuse("not URL=DIR");
  if (s->resolve_count == SOURCE_MAX_RESOLVES)
    return cli_refuse("given more than %d times", SOURCE_MAX_RESOLVES);
  s->resolve[s->resolve_count++] = value;
  return true;
}

static const cli_option table[] = {
    {"--schema", "F", "a JSON Schema file", set_schema},
    {"--regex", "R",
     "a regular expression that the whole text matches, or with --search a part of it", set_regex},
    {"--grammar", "F", "a GBNF file", set_grammar},
    {"--lark", "F", "a Lark file", set_lark},
    {"--ebnf", "F", "a file in XGrammar's EBNF", set_ebnf},
    {"--abnf", "F", "a file in ABNF, the notation of RFCs", set_abnf},
    {"--request", "F",
     "a request to a server (OpenAI, vLLM, SGLang, llama.cpp, Ollama), as JSON: what it asks of "
     "its "
     "answer",
     set_request},
    {"--artifact", "F",
     "what turnstile compile wrote for the same vocabulary, in place of a schema, regex or grammar",
     set_artifact},
    {"--vocab", "F", "tokens of a model: " CLI_VOCABS " (default: the embedded vocabulary)",
     set_vocab},
    {"--vocab-cache", "DIR", CLI_VOCAB_CACHE, set_vocab_cache},
    {"--order", "any|schema", "schema: order of object members, any or schema", set_order},
    {"--ws", "plain[:LINES:COLUMNS]|compact|at-most:N|pretty[:INDENT]|any", "schema: white space",
     set_whitespace},
    {"--spelling", "plain|any",
     "schema: numbers and strings as printers of JSON write them, or in any spelling",
     set_spelling},
    {"--generous", NULL,
     "schema: every JSON text of a valid value, as --order any --ws any --spelling any",
     set_generous},
    {"--draft", "auto|3|4|6|7|2019-09|2020-12", "schema: its draft (default: auto, by $schema)",
     set_draft},
    {"--formats", "assert|ignore", "schema: what to do about `format`: assert (default) or ignore",
     set_formats},
    {"--content", "assert|ignore",
     "schema: what to do about `contentEncoding`, `contentMediaType`, `contentSchema`: ignore "
     "(default) or "
     "assert",
     set_content},
    {"--resolve", "URL=DIR",
     "schema: read documents whose URI starts with URL from DIR (at most 64 times)", set_resolve},
    {"--base", "URI", "schema: the schema's own URI, for relative references", set_base},
    {"--repeated-names", NULL,
     "schema: a member that the schema does not name may come again in an object",
     set_repeated_names},
    {"--lazy", NULL, "schema: compile no more than the first mask needs", set_lazy},
    {"--nullable", NULL, "schema: OpenAPI's nullable adds null to the type beside it",
     set_nullable},
    {"--max-nesting", "N", "schema: levels of arrays and objects, 1 or more (default: unbounded)",
     set_nesting},
    {"--search", NULL, "regex: match anywhere in the text", set_search},
    {"--ignore-case", NULL, "regex: upper and lower case are the same", set_ignore_case},
    {"--dot-all", NULL, "regex: . matches line ends too", set_dot_all},
    {"--root", "NAME", "grammar: the start rule (default: root; Lark: start; ABNF: the first)",
     set_root},
    {"--imports", "DIR", "lark: read the grammars that %import names from DIR", set_imports},
    {"--lexer", "NAME",
     "lark: how terminals are cut: dynamic_complete (default: in any way), dynamic, basic",
     set_lexer},
};

cli_options source_options(source *s, source_use use) {
  if (use == SOURCE_READS) {
    s->schema.order = TSL_ORDER_ANY;
    s->schema.whitespace = TSL_WS_ANY;
    s->schema.spelling = TSL_SPELLING_ANY;
  }
  if (use == SOURCE_WRITES_COMPACT) s->schema.whitespace = TSL_WS_COMPACT;
  return (cli_options){table, sizeof table / sizeof *table, s};
}

/* ---- references ------------------------------------------------------------------------------ */

/* Does the rest of a URI stay below its folder? No ".." between slashes. */
static bool stays_inside(const char *path) {
  for (const char *p = path; *p;) {
    size_t n = strcspn(p, "/");
    if (n == 2 && !strncmp(p, "..", 2)) return false;
    p += n + (p[n] == '/');
  }
  return true;
}

/* The file for a URI under one --resolve, or false if it is not for that URI. */
static bool path_of(const char *resolve, const char *uri, cli_text *path) {
  const char *equals = strrchr(resolve, '=');
  size_t prefix = (size_t)(equals - resolve);
  if (strncmp(uri, resolve, prefix)) return false;
  const char *rest = uri + prefix;
  size_t length = strcspn(rest, "#");
  cli_text_add(path, equals + 1, strlen(equals + 1));
  if (path->at[path->length - 1] != '/' && *rest != '/') cli_text_add(path, "/", 1);
  cli_text_add(path, rest, length);
  return stays_inside(rest);
}

/* Reads a file, if there is one; *read: without a complaint. */
static bool read_document(source *s, const char *path, const char **text, size_t *length,
                          bool *read) {
  if (!cli_os_there(path)) return false;
  source_document *d = cli_allocate(1, sizeof *d);
  d->next = s->documents;
  s->documents = d;
  *read = cli_read(path, &d->text);
  *text = d->text.at;
  *length = d->text.length;
  return true;
}

static bool resolve(void *ctx, const char *uri, const char **text, size_t *length) {
  source *s = ctx;
  bool found = false, read = false;
  for (size_t i = 0; i < s->resolve_count && !found; i++) {
    cli_text path = {0};
    found = path_of(s->resolve[i], uri, &path) && read_document(s, path.at, text, length, &read);
    cli_text_free(&path);
  }
  return read;
}

/* What a Lark grammar imports: "a/b.lark". Its parts are names: none is "..". */
static bool import(void *ctx, const char *name, const char **text, size_t *length) {
  source *s = ctx;
  bool read = false;
  cli_text path = {0};
  cli_text_add(&path, s->imports, strlen(s->imports));
  cli_text_add(&path, "/", 1);
  cli_text_add(&path, name, strlen(name));
  read_document(s, path.at, text, length, &read);
  cli_text_free(&path);
  return read;
}

static void free_documents(source *s) {
  while (s->documents) {
    source_document *next = s->documents->next;
    cli_text_free(&s->documents->text);
    free(s->documents);
    s->documents = next;
  }
}

/* ---- compiling ------------------------------------------------------------------------------- */

const char *source_name(const source *s) {
  if (s->kind == SOURCE_REGEX) return "regex";
  return cli_file_name(s->from);
}

/* An artifact that came through stdin; it is copied, and no text of a grammar. */
static tsl_status load_text(source *s, tsl_error *error) {
  tsl_status status =
      tsl_grammar_load_memory(s->vocab, s->text.at, s->text.length, NULL, &s->grammar, error);
  cli_text_free(&s->text);
  return status;
}

static tsl_status compile(source *s, tsl_error *error) {
  if (s->kind == SOURCE_REGEX)
    return tsl_grammar_regex(s->vocab, s->text.at, s->text.length, &s->regex, NULL, &s->grammar,
                             error);
  if (s->kind == SOURCE_ARTIFACT && s->text.at) return load_text(s, error);
  if (s->kind == SOURCE_ARTIFACT)
    return tsl_grammar_load(s->vocab, s->from, NULL, &s->grammar, error);
  if (s->kind == SOURCE_GBNF)
    return tsl_grammar_gbnf(s->vocab, s->text.at, s->text.length, s->root, NULL, &s->grammar,
                            error);
  if (s->kind == SOURCE_EBNF)
    return tsl_grammar_ebnf(s->vocab, s->text.at, s->text.length, s->root, NULL, &s->grammar,
                            error);
  if (s->kind == SOURCE_ABNF)
    return tsl_grammar_abnf(s->vocab, s->text.at, s->text.length, s->root, NULL, &s->grammar,
                            error);
  if (s->kind == SOURCE_LARK) {
    tsl_lark_options options = {.start = s->root, .lexer = s->lexer};
    if (s->imports) {
      options.resolver = import;
      options.resolver_ctx = s;
    }
    return tsl_grammar_lark(s->vocab, s->text.at, s->text.length, &options, NULL, &s->grammar,
                            error);
  }
  if (s->kind == SOURCE_REQUEST)
    return tsl_grammar_request(s->vocab, s->text.at, s->text.length, &s->schema, NULL, &s->grammar,
                               error);
  if (s->resolve_count) {
    s->schema.resolver = resolve;
    s->schema.resolver_ctx = s;
  }
  return tsl_grammar_json_schema(s->vocab, s->text.at, s->text.length, &s->schema, NULL,
                                 &s->grammar, error);
}

/* What the first grammar of a vocabulary makes for all of them, before the clock starts for the
 * time that one takes. */
static tsl_status make_tables(source *s, tsl_error *error) {
  tsl_grammar *any = NULL;
  if (s->kind == SOURCE_ARTIFACT) return TSL_OK;
  double start = cli_now();
  tsl_status status = tsl_grammar_regex(s->vocab, "a?", 2, NULL, NULL, &any, error);
  tsl_grammar_release(any);
  s->tables_us = cli_now() - start;
  return status;
}

static bool begins(const char *text, const char *with) {
  return !strncmp(text, with, strlen(with));
}

/* What a command line can do about it. */
static void add_advice(const source *s, tsl_error *error) {
  size_t length = strlen(error->message), room = sizeof error->message - length;
  const char *advice = "";
  if (begins(error->message, "the grammar has no rule ") && !s->root)
    advice = "; --root NAME says which one is the start";
  else if (begins(error->message, "no document is known for "))
    advice = s->schema.base_uri ? "; --resolve URL=DIR says where such documents are"
                                : "; --base URI is the schema's own, and --resolve URL=DIR says "
                                  "where such documents are";
  snprintf(error->message + length, room, "%s", advice);
}

/* An option that would change nothing is a mistake. */
static int check_options(const source *s) {
  static const char *const names[] = {
      [SOURCE_SCHEMA] = "--schema", [SOURCE_REGEX] = "--regex", [SOURCE_GBNF] = "--grammar",
      [SOURCE_LARK] = "--lark",     [SOURCE_EBNF] = "--ebnf",   [SOURCE_ABNF] = "--abnf"};
  if (s->kind == SOURCE_NONE)
    return cli_complain(
        "one of --schema, --regex, --grammar, --lark, --ebnf, --abnf, --request and --artifact is "
        "needed; see --help");
  bool grammar = s->kind >= SOURCE_GBNF && s->kind <= SOURCE_ABNF; /* --root goes with all */
  for (source_kind k = SOURCE_SCHEMA; k <= SOURCE_ABNF; k++)
    if (k != s->kind && s->option[k] && !(k == SOURCE_GBNF && grammar) &&
        !(k == SOURCE_SCHEMA && s->kind == SOURCE_REQUEST && !s->resolve_count))
      return cli_complain("%s goes with %s", s->option[k], names[k]);
  return CLI_OK;
}

#define REQUEST_POINTER 256 /* bytes of a pointer that is shown */

/* Where the schema of a request stands in it. */
static void keep_pointer(void *ctx, const tsl_request_source *found) {
  snprintf(ctx, REQUEST_POINTER, "%s", found->pointer);
}

static void print_warnings(const source *s) {
  char schema[REQUEST_POINTER] = "";
  if (s->kind == SOURCE_REQUEST)
    tsl_request_read(s->text.at, s->text.length, NULL, NULL, keep_pointer, schema, NULL);
  if (s->kind == SOURCE_REQUEST || s->kind == SOURCE_SCHEMA) cli_print_warnings(s->grammar, schema);
}

int source_open(source *s) {
  tsl_error error = {0};
  if (check_options(s) != CLI_OK) return CLI_BAD;
  if (s->kind == SOURCE_REGEX)
    cli_text_add(&s->text, s->from, strlen(s->from));
  else if ((s->kind != SOURCE_ARTIFACT || !strcmp(s->from, "-")) && !cli_read(s->from, &s->text))
    return CLI_BAD; /* other artifacts are mapped */
  if (cli_open_vocab(s->vocab_path, s->vocab_cache, &s->vocab) != CLI_OK) return CLI_BAD;
  tsl_status status = make_tables(s, &error);
  double start = cli_now();
  if (status == TSL_OK) status = compile(s, &error);
  s->compile_us = cli_now() - start;
  free_documents(s);
  if (status != TSL_OK) add_advice(s, &error);
  if (status == TSL_OK) print_warnings(s);
  return status == TSL_OK ? CLI_OK : cli_complain_error(source_name(s), &error);
}

bool source_kept(const source *s, tsl_source *out) {
  static const tsl_source_kind kinds[] = {
      [SOURCE_SCHEMA] = TSL_SOURCE_JSON_SCHEMA, [SOURCE_REGEX] = TSL_SOURCE_REGEX,
      [SOURCE_GBNF] = TSL_SOURCE_GBNF,          [SOURCE_LARK] = TSL_SOURCE_LARK,
      [SOURCE_EBNF] = TSL_SOURCE_EBNF,          [SOURCE_ABNF] = TSL_SOURCE_ABNF};
  if (s->kind >= SOURCE_REQUEST || s->kind == SOURCE_NONE) return false;
  *out = (tsl_source){.kind = kinds[s->kind],
                      .text = s->text.at,
                      .length = s->text.length,
                      .schema = &s->schema,
                      .regex = &s->regex,
                      .root = s->root};
  return true;
}

static void print_finding(void *ctx, const tsl_profile_finding *f) {
  bool *broken = ctx;
  *broken |= f->breaks;
  if (cli_json()) {
    printf("{\"pointer\":");
    json_out_string(f->pointer, strlen(f->pointer));
    printf(",\"keyword\":");
    json_out_string(f->keyword, strlen(f->keyword));
    printf(",\"status\":\"%s\",\"reason\":", f->breaks ? "breaks" : "not documented");
    json_out_string(f->message, strlen(f->message));
    puts("}");
  } else {
    printf("%s ", f->breaks ? "breaks        " : "not documented");
    cli_print_plain(stdout, *f->pointer ? f->pointer : "the schema");
    fputs(": ", stdout);
    cli_print_plain(stdout, f->message);
    putchar('\n');
  }
}

int source_profile(source *s, const char *profile) {
  tsl_error error = {0};
  bool broken = false;
  if (s->kind != SOURCE_SCHEMA) return cli_complain("--profile needs --schema");
  if (!cli_read(s->from, &s->text)) return CLI_BAD;
  if (tsl_schema_profile(profile, s->text.at, s->text.length, NULL, print_finding, &broken,
                         &error) != TSL_OK)
    return cli_complain_error(source_name(s), &error);
  return broken ? CLI_NO : CLI_OK;
}

position_ends source_ends(const source *s) {
  bool free = s->schema.whitespace == TSL_WS_ANY || s->schema.whitespace == TSL_WS_PLAIN;
  bool json = s->kind == SOURCE_SCHEMA || s->kind == SOURCE_REQUEST;
  return json && free ? POSITION_JSON : POSITION_TEXT;
}

void source_close(source *s) {
  tsl_grammar_release(s->grammar);
  tsl_vocab_release(s->vocab);
  cli_text_free(&s->text);
  s->grammar = NULL;
  s->vocab = NULL;
}
