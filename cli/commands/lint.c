/* lint.c - turnstile lint: what in a schema makes models worse, or costs tokens.
 *
 * Findings go to stdout, one a line, or as JSON, one object a line. With --fix the mended schema
 * goes to stdout, and the findings to stderr.
 *
 * Tested by tests/cli/test_cli_lint.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "cli/common.h"
#include "cli/json_out.h"

typedef struct settings {
  const char *schema;
  tsl_lint_options options;
  bool list;
  /* while it runs */
  FILE *to;
  unsigned found, mended;
} settings;

static bool set_schema(void *to, const char *v) { return ((settings *)to)->schema = v, *v != 0; }
static bool set_rules(void *to, const char *v) {
  return ((settings *)to)->options.rules = v, *v != 0;
}
static bool set_fix(void *to, const char *v) {
  return (void)v, ((settings *)to)->options.fix = true;
}
static bool set_bounds(void *to, const char *v) {
  settings *o = to;
  return (void)v, o->options.fix = o->options.bounds = true;
}
static bool set_list(void *to, const char *v) { return (void)v, ((settings *)to)->list = true; }
static bool set_json(void *to, const char *v) { return (void)to, (void)v, true; }

static const cli_option table[] = {
    {"--schema", "F", "a JSON Schema, a tool, or a request with tools or a response format",
     set_schema},
    {"--fix", NULL, "write the mended schema to stdout, and the findings to stderr", set_fix},
    {"--bounds", NULL,
     "--fix, and wide bounds for what has no end: maxLength 1000, maxItems 100, numbers up to "
     "2^53 - 1, additionalProperties false",
     set_bounds},
    {"--rules", "R", "a,b: these rules alone; -a,-b: all but these", set_rules},
    {"--list", NULL, "write the names of the rules", set_list},
    {"--json", NULL, "findings as JSON, one object a line; errors too", set_json},
};

static void json_member(FILE *to, const char *name, const char *text) {
  fprintf(to, "\"%s\":", name);
  json_out_string_to(to, text, strlen(text));
  putc(',', to);
}

static void print_json(FILE *to, const tsl_lint_finding *f) {
  putc('{', to);
  json_member(to, "rule", f->rule);
  json_member(to, "severity", f->severity);
  json_member(to, "pointer", f->pointer);
  json_member(to, "message", f->message);
  json_member(to, "why", f->why);
  fprintf(to, "\"mended\":%s}\n", f->mended ? "true" : "false");
}

static void print_finding(void *ctx, const tsl_lint_finding *f) {
  settings *o = ctx;
  o->found++;
  o->mended += f->mended;
  if (cli_json()) {
    print_json(o->to, f);
    return;
  }
  fprintf(o->to, "%s%s%s ", cli_style_on(o->to, CLI_BOLD), f->rule, cli_style_on(o->to, CLI_PLAIN));
  cli_print_plain(o->to, *f->pointer ? f->pointer : "(root)");
  fputs(": ", o->to);
  cli_print_plain(o->to, f->message);
  fprintf(o->to, "%s\n  %s: %s\n", f->mended ? " [mended]" : "", f->severity, f->why);
}

static void print_mended(void *ctx, const char *text) {
  (void)ctx;
  fputs(text, stdout);
}

static int lint(settings *o) {
  cli_text text = {0};
  tsl_error error = {0};
  if (!o->schema) return cli_complain("lint: --schema F is needed");
  if (!cli_read(o->schema, &text)) return CLI_BAD;
  o->to = o->options.fix ? stderr : stdout;
  tsl_status status = tsl_schema_lint(text.at, text.length, &o->options, NULL, print_finding,
                                      print_mended, o, &error);
  cli_text_free(&text);
  if (status == TSL_ERR_ARGUMENT) return cli_complain("lint: --rules: %s", error.message);
  if (status != TSL_OK) return cli_complain_error(cli_file_name(o->schema), &error);
  return o->found > o->mended ? CLI_NO : CLI_OK;
}

static int run(int argc, char **argv) {
  settings o = {0};
  cli_options sets[] = {{table, sizeof table / sizeof *table, &o}};
  cli_arguments arguments;
  if (!cli_parse(&cli_lint, argc, argv, sets, 1, &arguments)) return CLI_BAD;
  int code = CLI_OK;
  const char *name;
  if (!arguments.help && o.list)
    for (uint32_t i = 0; (name = tsl_lint_rule(i)); i++) puts(name);
  else if (!arguments.help)
    code = arguments.rest_count ? cli_complain("lint: unexpected argument %s", arguments.rest[0])
                                : lint(&o);
  cli_arguments_free(&arguments);
  return code;
}

const cli_command cli_lint = {
    "lint",
    "--schema F [--fix | --bounds] [--rules R] [--json]",
    "what in a schema makes models worse, or costs tokens",
    "Each finding has a rule, a pointer and a reason; docs/lint.md explains the rules.\n"
    "exit codes: 0 nothing was found, or all was mended; 1 something was found; 2 the call or the "
    "file is bad.\n",
    run,
    NULL};
