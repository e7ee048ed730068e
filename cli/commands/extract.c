/* extract.c - turnstile extract: named captures of a finished text, as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "cli/captures.h"
#include "cli/position.h"
#include "cli/source.h"

#define MAX_POINTERS 64

typedef struct settings {
  const char *pointer[MAX_POINTERS];
  size_t count;
} settings;

static bool set_pointer(void *to, const char *value) {
  settings *o = to;
  if (o->count == MAX_POINTERS) return cli_refuse("given more than %d times", MAX_POINTERS);
  if (*value && *value != '/')
    return cli_refuse("no JSON pointer: these are empty or begin with /");
  o->pointer[o->count++] = value;
  return true;
}

static const cli_option table[] = {
    {"--pointer", "P",
     "schema: write only the value at this JSON pointer (at most 64 times; default: all leaves)",
     set_pointer},
};

/* What the rules with [capture] hold, in Lark or EBNF. */
static int captures(tsl_grammar *grammar, const char *text, size_t length) {
  tsl_parser *parser = NULL;
  tsl_status status = tsl_parser_new(grammar, NULL, &parser);
  if (status == TSL_ERR_STATE)
    return cli_complain("extract: the grammar has no captures; name[capture] is one");
  if (status == TSL_OK) status = tsl_parser_text(parser, text, length);
  if (status == TSL_OK) status = tsl_parser_finish(parser);
  const char *json = status == TSL_OK ? tsl_parser_json(parser) : NULL;
  if (json) printf("%s\n", json);
  tsl_parser_free(parser);
  return json ? CLI_OK : cli_complain("extract: %s", tsl_status_name(status));
}

static int extract(const source *s, const settings *o, const char *path) {
  cli_text text = {0};
  tsl_matcher *matcher = NULL;
  if (!cli_read(path, &text)) return CLI_BAD;
  size_t start = 0, length = text.length;
  tsl_status status = tsl_matcher_new(s->grammar, NULL, &matcher);
  int code = status == TSL_OK ? CLI_OK : cli_complain("extract: %s", tsl_status_name(status));
  if (code == CLI_OK)
    code = position_follow(matcher, cli_file_name(path), text.at, &start, &length, source_ends(s));
  text.at[start + length] = 0; /* something at the end may have been left out */
  if (code == CLI_OK && s->kind == SOURCE_REGEX)
    code = captures_regex(s->text.at, s->text.length, &s->regex, text.at + start, length);
  else if (code == CLI_OK && s->kind >= SOURCE_LARK)
    code = captures(s->grammar, text.at + start, length);
  else if (code == CLI_OK)
    code = captures_json(text.at + start, length, o->pointer, o->count);
  tsl_matcher_free(matcher);
  cli_text_free(&text);
  return code;
}

static int run(int argc, char **argv) {
  source s = {0};
  settings o = {{NULL}, 0};
  cli_options sets[] = {source_options(&s, SOURCE_READS),
                        {table, sizeof table / sizeof *table, &o}};
  cli_arguments arguments;
  if (!cli_parse(&cli_extract, argc, argv, sets, 2, &arguments)) return CLI_BAD;
  int code = CLI_OK;
  if (!arguments.help) {
    if (arguments.rest_count != 1)
      code =
          cli_complain("extract: one text is needed, a file or -, not %zu", arguments.rest_count);
    else if (s.kind == SOURCE_NONE)
      code = cli_complain(
          "extract: one of --schema, --regex, --lark and --ebnf is needed; see --help");
    else if (s.kind == SOURCE_ARTIFACT)
      code = cli_complain("extract: an artifact has no captures; give --regex or --schema");
    else if (s.kind == SOURCE_REQUEST)
      code = cli_complain("extract: a request has no captures; give what stands in it");
    else if (s.kind == SOURCE_GBNF || s.kind == SOURCE_ABNF)
      code = cli_complain(
          "extract: this notation has no captures; give --lark, --ebnf, --regex or --schema");
    else if (s.kind == SOURCE_REGEX && o.count)
      code = cli_complain("extract: --pointer goes with --schema");
    else
      code = source_open(&s);
    if (code == CLI_OK) code = extract(&s, &o, arguments.rest[0]);
  }
  source_close(&s);
  cli_arguments_free(&arguments);
  return code;
}

const cli_command cli_extract = {
    "extract",
    "(--schema F | --regex R | --lark F | --ebnf F) [options] FILE|-",
    "write the named captures of a matching text as JSON",
    "With --regex: {\"group\": \"text\", ...} for the named groups, null where a group took no "
    "part. A group\n"
    "in a repetition has its text of the last round. A last round that matches nothing counts "
    "(in\n"
    "ECMA-262 it does not). A group in a look-ahead, or an empty one at the very end of the round "
    "before,\n"
    "may have its text of that round. PCRE2 finds the groups: what it cannot read, or gives up "
    "on, is an\n"
    "error.\n"
    "With --lark or --ebnf: {\"content\": text outside of captures, \"tags\": [{\"begin\": name, "
    "\"content\":\n"
    "text}, ...]}, with the captures in the order of the text.\n"
    "With --schema: {\"/json/pointer\": value, ...}.\n"
    "exit codes: 0 written; 1 the text does not match (the byte offset and what was expected go to "
    "stderr), or a pointer leads nowhere;\n"
    "2 the call, the schema, the regex or a file is bad.\n",
    run,
    "--grammar --artifact --root"};
