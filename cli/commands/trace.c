/* trace.c - turnstile trace: one generation as a page that shows every step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "cli/pictures/trace.h"

typedef struct settings {
  const char *out, *render;
  bool json;
} settings;

static bool set_out(void *to, const char *value) {
  return ((settings *)to)->out = value, *value != 0;
}
static bool set_json(void *to, const char *value) {
  return (void)value, ((settings *)to)->json = true;
}
static bool set_render(void *to, const char *value) {
  return ((settings *)to)->render = value, *value != 0;
}

static const cli_option table[] = {
    {"-o", "F", "the file to write (default: stdout)", set_out},
    {"--json", NULL, "write the record alone, as JSON", set_json},
    {"--render", "F",
     "generate nothing: the page around a record that was written as JSON before, by this tool or "
     "by a host",
     set_render},
};

static int render(const settings *o) {
  cli_text json = {0};
  if (!cli_read(o->render, &json)) return CLI_BAD;
  bool known = strstr(json.at, "\"turnstile-trace\"") != NULL;
  int code = known ? trace_render(json.at, json.length, o->out) ? CLI_OK : CLI_BAD
                   : cli_complain("%s: no record of a generation", cli_file_name(o->render));
  cli_text_free(&json);
  return code;
}

static int record(const source *s, generation_settings *how, const settings *o) {
  trace t;
  generation g;
  if (!trace_open(&t, s, how)) return CLI_BAD;
  if (!generation_open(&g, s, how)) {
    trace_close(&t);
    return CLI_BAD;
  }
  generation_result result = trace_text(&t, &g);
  int code = result == GENERATION_BAD            ? CLI_BAD
             : trace_write(&t, o->out, !o->json) ? CLI_OK
                                                 : CLI_BAD;
  if (code == CLI_OK && result == GENERATION_CUT) {
    cli_complain("the text was cut after %llu tokens; see --max-tokens",
                 (unsigned long long)g.tokens);
    code = CLI_NO;
  }
  generation_close(&g);
  trace_close(&t);
  return code;
}

static int run(int argc, char **argv) {
  source s = {0};
  generation_settings how = generation_defaults();
  sampling draws = sampling_defaults();
  settings o = {.out = "-"};
  cli_options sets[] = {source_options(&s, SOURCE_WRITES_COMPACT),
                        generation_options(&how),
                        sampling_table(&draws),
                        {table, sizeof table / sizeof *table, &o}};
  cli_arguments arguments;
  if (!cli_parse(&cli_trace, argc, argv, sets, 4, &arguments)) return CLI_BAD;
  int code = CLI_OK;
  if (!arguments.help) {
    if (arguments.rest_count)
      code = cli_complain("trace: unexpected argument %s", arguments.rest[0]);
    else if (o.render && s.kind != SOURCE_NONE)
      code = cli_complain("trace: --render takes a record, and no grammar");
    else if (o.render && o.json)
      code = cli_complain("trace: --render writes a page, not JSON");
    else if (o.render)
      code = render(&o);
    else
      code = generation_source(&s, &how);
    how.sampler = sampling_of(&draws, s.vocab);
    if (code == CLI_OK && !o.render) code = record(&s, &how, &o);
  }
  source_close(&s);
  cli_arguments_free(&arguments);
  return code;
}

const cli_command cli_trace = {
    "trace",
    "(--schema F | --regex R | --grammar F | --artifact F) [-o F] [options]",
    "one generation as a page that shows every step: logits, mask, probabilities",
    "The page is one HTML file that needs no network: for each step the text, the likely tokens "
    "before and after the mask, how much of "
    "the\n"
    "model's probability was allowed, and the place in the grammar. Sliders apply temperature and "
    "cut-offs anew to what was recorded.\n"
    "exit codes: 0 the text is complete; 1 it was cut; 2 the call, the grammar or a file is bad.\n",
    run,
    NULL};
