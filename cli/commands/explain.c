/* explain.c - turnstile explain: what a grammar enforces, what it costs, and the states that a
 * text goes through.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "cli/pictures/pictures.h"
#include "cli/position.h"
#include "cli/pictures/rules.h"
#include "cli/source.h"
#include "cli/pictures/survey.h"

typedef struct settings {
  const char *text;    /* file to follow, or NULL */
  const char *profile; /* whose limits to look at instead, or NULL */
  uint64_t sample;     /* texts to draw */
  bool states, json, masks, dot, rules;
} settings;

static bool set_text(void *to, const char *value) {
  return ((settings *)to)->text = value, *value != 0;
}
static bool set_profile(void *to, const char *value) {
  return ((settings *)to)->profile = value, *value != 0;
}
static bool set_states(void *to, const char *value) {
  return (void)value, ((settings *)to)->states = true;
}
static bool set_json(void *to, const char *value) {
  return (void)value, ((settings *)to)->json = true;
}

static bool set_masks(void *to, const char *value) {
  return (void)value, ((settings *)to)->masks = true;
}
static bool set_dot(void *to, const char *value) {
  return (void)value, ((settings *)to)->dot = true;
}
static bool set_rules(void *to, const char *value) {
  return (void)value, ((settings *)to)->rules = true;
}
static bool set_sample(void *to, const char *value) {
  return cli_number(value, 1, 1000000, &((settings *)to)->sample);
}

static const cli_option table[] = {
    {"--states", NULL, "list the states that exist so far: those that were visited", set_states},
    {"--text", "F", "follow a text first (a file, or -), so that there are states to list",
     set_text},
    {"--sample", "N", "draw N texts first, so that there are states to list, 1 to 1000000",
     set_sample},
    {"--masks", NULL, "how many tokens were allowed along these texts: a histogram, and by state",
     set_masks},
    {"--dot", NULL,
     "write only the states, as a digraph for Graphviz; with --rules: the rules, and which calls "
     "which",
     set_dot},
    {"--rules", NULL, "grammar: write only the rules, as JSON for programs that draw them",
     set_rules},
    {"--profile", "openai-strict",
     "say only which of a provider's documented limits the schema breaks, one finding a line",
     set_profile},
    {"--json", NULL,
     "write only the report (or the findings, one object a line) as JSON; errors too", set_json},
};

static void print_line(void *ctx, const char *line) {
  (void)ctx;
  printf("%s\n", line);
}

/* A heading in bold where stdout is a terminal. */
static void heading(const char *text) {
  printf("%s%s%s\n", cli_style_on(stdout, CLI_BOLD), text, cli_style_on(stdout, CLI_PLAIN));
}

/* The report has one object a row; a line break after each is all it needs to be read. */
static void print_report(const char *report) {
  bool in_string = false;
  int depth = 0;
  for (const char *p = report; *p; p++) {
    if (in_string && *p == '\\' && p[1]) {
      fwrite(p++, 1, 2, stdout);
      continue;
    }
    if (*p == '"') in_string = !in_string;
    if (!in_string && (*p == '[' || *p == ']')) continue;
    if (!in_string && *p == '{' && depth++ == 0) fputs("  ", stdout);
    if (!in_string && depth == 0) continue; /* the commas between rows */
    putchar(*p);
    if (!in_string && *p == '}' && --depth == 0) putchar('\n');
  }
}

static void print_stats(const tsl_grammar *grammar) {
  tsl_grammar_stats t;
  tsl_grammar_get_stats(grammar, &t);
  printf("  %" PRIu64 " bytes; %" PRIu32 " expressions, %" PRIu32 " states, %" PRIu32
         " walks in %" PRIu64 " steps, %" PRIu32 " masks, %" PRIu32 " stacks\n",
         t.memory, t.exprs, t.states, t.walks, t.walk_steps, t.masks, t.stacks);
}

static int follow(const source *s, tsl_matcher *matcher, const char *path, survey *v) {
  cli_text text = {0};
  if (!cli_read(path, &text)) return CLI_BAD;
  size_t start, length = text.length;
  int code =
      position_follow(matcher, cli_file_name(path), text.at, &start, &length, source_ends(s));
  if (v && code != CLI_BAD && !survey_text(v, s, text.at + start, length)) code = CLI_BAD;
  cli_text_free(&text);
  return code;
}

static void print_rules_line(void *ctx, const char *json) {
  (void)ctx;
  printf("%s\n", json);
}

static void print_rules_dot(void *ctx, const char *json) { *(bool *)ctx = rules_dot(stdout, json); }

static int print_rules(const source *s, bool dot) {
  tsl_error error;
  bool drawn = true;
  if (s->kind != SOURCE_GBNF) return cli_complain("explain: --rules takes a GBNF grammar");
  tsl_status status = tsl_gbnf_write(s->vocab, s->text.at, s->text.length,
                                     dot ? print_rules_dot : print_rules_line, &drawn, &error);
  if (status != TSL_OK) return cli_complain_error(source_name(s), &error);
  return drawn ? CLI_OK : cli_complain("explain: out of memory");
}

/* What is demanded of the states that texts came through. */
static int print_states(const source *s, const settings *o, const survey *v) {
  if (o->dot)
    return pictures_dot(stdout, s->grammar, v->states, v->count)
               ? CLI_OK
               : cli_complain("explain: out of memory");
  if (o->masks) {
    heading("masks");
    if (!survey_print(v, s->grammar)) return CLI_BAD;
  }
  if (o->states) {
    heading("states");
    tsl_grammar_dump(s->grammar, print_line, NULL);
  }
  return CLI_OK;
}

static void print_summary(const source *s, tsl_matcher *matcher, const char *shortest) {
  uint64_t least = 0;
  const char *report = tsl_grammar_report(s->grammar);
  heading("what is enforced");
  print_report(report ? report : "[]"); /* NULL: there is no memory for it */
  heading("size");
  if (s->tables_us)
    printf("  compiled in %.1f µs, after %.0f µs for the vocabulary's tables, which all its "
           "grammars share\n",
           s->compile_us, s->tables_us);
  else
    printf("  loaded in %.1f µs\n", s->compile_us);
  print_stats(s->grammar);
  if (tsl_matcher_shortest_completion(matcher, &least) == TSL_OK)
    printf("  the shortest %s takes %" PRIu64 " bytes\n", shortest, least);
}

static void print_finding(void *ctx, const tsl_lint_finding *f) {
  bool *begun = ctx;
  if (!*begun) heading("what could be better (turnstile lint says why)");
  *begun = true;
  printf("  %s at %s: %s\n", f->rule, *f->pointer ? f->pointer : "the root", f->message);
}

/* The lint's findings: a schema may compile and still not mean what its author meant. */
static int print_findings(const source *s) {
  bool begun = false;
  tsl_error error;
  if (s->kind != SOURCE_SCHEMA) return CLI_OK;
  tsl_status status =
      tsl_schema_lint(s->text.at, s->text.length, NULL, NULL, print_finding, NULL, &begun, &error);
  return status == TSL_OK ? CLI_OK : cli_complain_error(source_name(s), &error);
}

static int explain(const source *s, const settings *o) {
  if (o->json) {
    const char *report = tsl_grammar_report(s->grammar);
    if (!report) return cli_complain("out of memory");
    printf("%s\n", report);
    return CLI_OK;
  }
  if (o->rules) return print_rules(s, o->dot);
  survey v = {0};
  tsl_matcher *matcher = NULL;
  tsl_status status = tsl_matcher_new(s->grammar, NULL, &matcher);
  if (status != TSL_OK) return cli_complain("explain: %s", tsl_status_name(status));
  int code = o->text ? follow(s, matcher, o->text, o->masks || o->dot ? &v : NULL) : CLI_OK;
  if (code == CLI_OK && o->sample && !survey_sample(&v, s, o->sample)) code = CLI_BAD;
  if (!o->dot) {
    print_summary(s, matcher, o->text ? "completion of the text" : "text");
    if (print_findings(s) != CLI_OK) code = CLI_BAD;
  }
  if (code != CLI_BAD && print_states(s, o, &v) != CLI_OK) code = CLI_BAD;
  survey_free(&v);
  tsl_matcher_free(matcher);
  return code;
}

static int run(int argc, char **argv) {
  source s = {0};
  settings o = {0};
  cli_options sets[] = {source_options(&s, SOURCE_MASKS),
                        {table, sizeof table / sizeof *table, &o}};
  cli_arguments arguments;
  if (!cli_parse(&cli_explain, argc, argv, sets, 2, &arguments)) return CLI_BAD;
  int code = CLI_OK;
  if (!arguments.help) {
    code = arguments.rest_count ? cli_complain("explain: unexpected argument %s", arguments.rest[0])
           : o.profile          ? source_profile(&s, o.profile)
                                : source_open(&s);
    if (code == CLI_OK && !o.profile) code = explain(&s, &o);
  }
  source_close(&s);
  cli_arguments_free(&arguments);
  return code;
}

const cli_command cli_explain = {
    "explain",
    "(--schema F | --regex R | --grammar F | --artifact F) [--text F] [--states] [options]",
    "say what a grammar enforces, its size, and its states",
    "exit codes: 0 explained; 1 the text of --text does not match, or --profile found a limit "
    "broken; 2 the call, the grammar or a file is bad.\n",
    run,
    NULL};
