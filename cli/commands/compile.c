/* compile.c - turnstile compile: a grammar as a file that is mapped back, or what is in such a
 * file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/os.h"
#include "cli/source.h"

typedef struct settings {
  const char *output, *inspect;
  tsl_artifact_options options;
  bool must_be_complete;
} settings;

static bool set_output(void *to, const char *value) {
  return ((settings *)to)->output = value, *value != 0;
}
static bool set_inspect(void *to, const char *value) {
  return ((settings *)to)->inspect = value, *value != 0;
}
static bool set_complete(void *to, const char *value) {
  return (void)value, ((settings *)to)->must_be_complete = true;
}

static bool set_states(void *to, const char *value) {
  uint64_t n;
  if (!cli_number(value, 1, UINT32_MAX, &n)) return false;
  ((settings *)to)->options.max_states = (uint32_t)n;
  return true;
}

static bool set_steps(void *to, const char *value) {
  return cli_number(value, 1, UINT64_MAX, &((settings *)to)->options.max_walk_steps);
}

static const cli_option table[] = {
    {"-o", "F",
     "the file to write (-: stdout); what a symbolic link leads to is replaced, a pipe or a device "
     "is written into",
     set_output},
    {"--max-states", "N", "states that are listed at most (default: 100000)", set_states},
    {"--max-walk-steps", "N",
     "trie nodes visited for walks done ahead, about (default: 50000000); 1: none", set_steps},
    {"--must-be-complete", NULL,
     "fail where not all states can be listed, instead of keeping the source", set_complete},
    {"--inspect", "F", "verify a file, and say what is in it", set_inspect},
};

static int show(FILE *to, const char *name, const void *data, size_t size) {
  tsl_artifact_info info;
  tsl_error error = {0};
  if (tsl_artifact_inspect(data, size, &info, &error) != TSL_OK)
    return cli_complain_error(name, &error);
  fprintf(to, "%s: %s, %" PRIu64 " bytes, format %" PRIu32 "\n", name,
          info.complete ? "complete" : "the source alone", info.size, info.version);
  fprintf(to, "  states %" PRIu32 "  walks %" PRIu32 "%s  masks %" PRIu32 "  bitsets %" PRIu32 "\n",
          info.states, info.walks, info.memo ? "" : " (of another version: not used)", info.masks,
          info.bitsets);
  fprintf(to, "  source %s  tokens ", info.has_source ? "kept" : "not kept");
  for (size_t i = 0; i < sizeof info.tokens; i++) fprintf(to, "%02x", info.tokens[i]);
  fprintf(to, "\n");
  return CLI_OK;
}

static int inspect(const char *path) {
  cli_text text = {0};
  if (!cli_read(path, &text)) return CLI_BAD;
  int code = show(stdout, cli_file_name(path), text.at, text.length);
  cli_text_free(&text);
  return code;
}

static bool is_stdout(const char *path) { return !strcmp(path, "-"); }
static const char *output_name(const char *path) { return is_stdout(path) ? "stdout" : path; }

/* Into what is no file that could be replaced: stdout, a pipe, a device. */
static int write_into(const char *path, const void *data, size_t size) {
  FILE *to = is_stdout(path) ? stdout : cli_os_open(path, "wb");
  if (!to) return cli_complain("%s: %s", path, strerror(errno));
  bool ok = fwrite(data, 1, size, to) == size && !fflush(to);
  if (to != stdout && fclose(to)) ok = false;
  return ok ? CLI_OK : cli_complain("%s: cannot be written", output_name(path));
}

/* tsl_artifact_write puts a new file in the place of what bears the name. That must not be a link,
 * which would be lost, and it must be a file. */
static int write_artifact(const tsl_artifact *artifact, const char *path) {
  tsl_error error = {0};
  size_t size;
  const void *data = tsl_artifact_data(artifact, &size);
  if (is_stdout(path) || cli_os_look(path) == CLI_OS_OTHER) return write_into(path, data, size);
  char *target;
  bool link = cli_os_is_link(path, &target);
  if (link && !target) return cli_complain("%s: a link that leads nowhere", path);
  tsl_status status = tsl_artifact_write(artifact, target ? target : path, &error);
  free(target);
  return status == TSL_OK ? CLI_OK : cli_complain_error(path, &error);
}

static int compile(source *s, const settings *set) {
  tsl_source kept;
  tsl_artifact_options options = set->options;
  tsl_artifact *artifact = NULL;
  tsl_error error = {0};
  size_t size;
  if (!set->must_be_complete && !s->resolve_count && source_kept(s, &kept)) options.source = &kept;
  double start = cli_now();
  if (tsl_artifact_make(s->grammar, &options, NULL, &artifact, &error) != TSL_OK)
    return cli_complain_error(source_name(s), &error);
  double took = cli_now() - start;
  const void *data = tsl_artifact_data(artifact, &size);
  /* what is said of the file must not stand in it */
  FILE *to = is_stdout(set->output) ? stderr : stdout;
  int code = write_artifact(artifact, set->output);
  if (code == CLI_OK) code = show(to, output_name(set->output), data, size);
  if (code == CLI_OK)
    fprintf(to, "  compiled in %.0f µs, listed and walked in %.0f µs\n", s->compile_us, took);
  tsl_artifact_free(artifact);
  return code;
}

static int run(int argc, char **argv) {
  source s = {0};
  settings set = {0};
  cli_options sets[] = {source_options(&s, SOURCE_MASKS),
                        {table, sizeof table / sizeof *table, &set}};
  cli_arguments arguments;
  if (!cli_parse(&cli_compile, argc, argv, sets, 2, &arguments)) return CLI_BAD;
  int code = CLI_OK;
  if (!arguments.help) {
    if (arguments.rest_count)
      code = cli_complain("compile: %s is no option", arguments.rest[0]);
    else if (set.inspect)
      code = set.output || s.kind != SOURCE_NONE ? cli_complain("compile: --inspect stands alone")
                                                 : inspect(set.inspect);
    else if (!set.output)
      code = cli_complain("compile: -o F is needed");
    else if ((code = source_open(&s)) == CLI_OK)
      code = compile(&s, &set);
  }
  source_close(&s);
  cli_arguments_free(&arguments);
  return code;
}

const cli_command cli_compile = {
    "compile",
    "(--schema F | --regex R | --grammar F | --artifact F) [options] -o F | --inspect F",
    "a grammar as a file that is mapped back",
    "Lists all states of the grammar and walks them over the vocabulary, so that --artifact F "
    "(and\n"
    "tsl_grammar_load) need no compiler. A grammar may have too many states, or some that cannot "
    "be\n"
    "listed. Then the file holds the source of the grammar instead, and loading compiles it. A "
    "file fits\n"
    "only the vocabulary with which it was made.\n"
    "Members of objects come in the order of the schema (--order schema), white space is bounded "
    "(--ws plain), and numbers and\n"
    "strings are spelled as printers write them (--spelling plain), unless said otherwise.\n"
    "exit codes: 0 done; 2 the call, the grammar or a file is bad.\n",
    run,
    NULL};
