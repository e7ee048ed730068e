/* main.c - turnstile, the command line tool: finds the command and runs it.
 *
 * Each command is a file of commands/. Four files have what the commands share: common.c (texts,
 * messages, options), source.c (the grammar), generation.c (drawing texts) and position.c (where a
 * text stops matching). Records and pictures of a grammar are in pictures/. The tool sees
 * include/turnstile.h alone.
 *
 * Tested by tests/cli/test_cli.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "cli/common.h"
#include "cli/os.h"

static const cli_command *const commands[] = {
    &cli_generate, &cli_check, &cli_mask, &cli_explain, &cli_extract, &cli_tools, &cli_compile,
    &cli_trace,    &cli_demo,  &cli_run,  &cli_lint,    &cli_serve,   &cli_sample};
#define COMMANDS (sizeof commands / sizeof *commands)

static void usage(FILE *to) {
  fprintf(to, "usage: turnstile COMMAND ...\n\n");
  for (size_t i = 0; i < COMMANDS; i++)
    fprintf(to, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
  fprintf(to, "\nturnstile COMMAND --help says more. As a file to read, - is stdin (but for "
              "--vocab). As a file to write, - is stdout.\n"
              "Exit codes: 0 done, or the text matches; 1 it does not, or a text had to be cut; 2 "
              "the call, the grammar or a file is bad.\n");
}

/* The exit code, once all is written. */
static int written(int code) {
  return fflush(stdout) || cli_output_failed() ? cli_complain("stdout: cannot write") : code;
}

int main(int argc, char **argv) {
  cli_os_begin(&argc, &argv);
  if (argc < 2) {
    usage(stderr);
    return CLI_BAD;
  }
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
    usage(stdout);
    return written(CLI_OK);
  }
  if (!strcmp(argv[1], "--version")) {
    printf("turnstile %s\n", tsl_version());
    return written(CLI_OK);
  }
  for (size_t i = 0; i < COMMANDS; i++)
    if (!strcmp(argv[1], commands[i]->name)) return written(commands[i]->run(argc - 2, argv + 2));
  cli_complain("no command %s", argv[1]);
  usage(stderr);
  return CLI_BAD;
}
