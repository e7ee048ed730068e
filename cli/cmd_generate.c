/* cmd_generate.c - turnstile generate: texts that satisfy a grammar.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "generation.h"

typedef struct settings {
  uint64_t count;
  bool raw;
} settings;

static bool set_count(void *to, const char *value) { return cli_number(value, 1, UINT32_MAX, &((settings *)to)->count); }
static bool set_raw(void *to, const char *value) { return (void)value, ((settings *)to)->raw = true; }

static const cli_option table[] = {
    {"-n", "N", "how many texts (default 1)", set_count},
    {"-0", NULL, "write the texts as they are, each followed by a NUL byte", set_raw},
};

/* One line: a line break inside a JSON text is white space between its parts (in strings it must be escaped) and is written as a space; in
 * other texts it becomes \n, and a carriage return \r. */
static void print_line(const cli_text *text, bool json) {
  for (size_t i = 0; i < text->length; i++) {
    char c = text->at[i];
    if (c == '\n') fputs(json ? " " : "\\n", stdout);
    else if (c == '\r') fputs(json ? " " : "\\r", stdout);
    else putchar(c);
  }
  putchar('\n');
}

static int say_cut(const generation *g) {
  fflush(stdout);
  cli_complain("a text was cut after %llu tokens: it is not complete, and its shortest completion does not fit; see --max-tokens",
               (unsigned long long)g->tokens);
  fputs("  ", stderr);
  cli_print_quoted(stderr, g->text.at ? g->text.at : "", g->text.length, 200);
  fputc('\n', stderr);
  return CLI_NO;
}

static int generate(generation *g, const settings *o, bool json) {
  int code = CLI_OK;
  for (uint64_t i = 0; i < o->count; i++) {
    generation_step step;
    generation_result result;
    generation_restart(g);
    while ((result = generation_next(g, &step)) == GENERATION_MORE) continue;
    if (result == GENERATION_BAD) return CLI_BAD;
    if (result == GENERATION_CUT) {
      code = say_cut(g);
      continue;
    }
    if (o->raw) fwrite(g->text.length ? g->text.at : "", 1, g->text.length + 1, stdout); /* the NUL after the text included */
    else print_line(&g->text, json);
  }
  return code;
}

static int run(int argc, char **argv) {
  source s = {0};
  generation_settings how = generation_defaults();
  settings o = {1, false};
  cli_options sets[] = {
      source_options(&s, TSL_ORDER_SCHEMA, TSL_WS_COMPACT), generation_options(&how), {table, sizeof table / sizeof *table, &o}};
  cli_arguments arguments;
  if (!cli_parse(&cli_generate, argc, argv, sets, 3, &arguments)) return CLI_BAD;
  int code = arguments.help         ? CLI_OK
             : arguments.rest_count ? cli_complain("generate: unexpected argument %s", arguments.rest[0])
                                    : source_open(&s);
  generation g;
  if (code == CLI_OK && !arguments.help) {
    code = generation_open(&g, &s, &how) ? CLI_OK : CLI_BAD;
    if (code == CLI_OK) {
      code = generate(&g, &o, s.kind == SOURCE_SCHEMA);
      generation_close(&g);
    }
  }
  source_close(&s);
  cli_arguments_free(&arguments);
  return code;
}

const cli_command cli_generate = {
    "generate", "(--schema F | --regex R | --grammar F) [options]", "write texts that satisfy a grammar, drawn from a small n-gram model",
    "One text per line. Line breaks inside a text: a JSON text (--schema) gets a space instead, which means the same; any other text gets "
    "\\n\n"
    "(and \\r). With -0 texts are written as they are. JSON has no white space by default (--ws compact).\n"
    "A text ends when the model ends it, or when just enough tokens are left for its shortest completion.\n"
    "exit codes: 0 all texts are complete; 1 a text was cut, because even the shortest one needs more than --max-tokens (it is shown on\n"
    "stderr, not written); 2 the call, the grammar or a file is bad.\n",
    run};
