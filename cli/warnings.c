/* warnings.c - what schemas hardly mean as they say, a line each on stderr.
 *
 * Example   turnstile: warning: /0/parameters/requird (tool "f"): no keyword: is required meant?
 * Tested by tests/cli/test_cli_commands.py, tests/programs/test_tools.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "cli/common.h"
#include "cli/json_in.h"

static void print_member(json_in entry, const char *name, const char *before, const char *after) {
  cli_text text = {0};
  json_in value = json_in_member(entry, name);
  if (value.at && json_in_string(value, &text)) {
    fputs(before, stderr);
    cli_print_plain(stderr, text.at ? text.at : "");
    fputs(after, stderr);
  }
  cli_text_free(&text);
}

static void print_entry(json_in entry, const char *prefix, const char *what) {
  fputs("turnstile: warning: ", stderr);
  cli_print_plain(stderr, prefix);
  print_member(entry, "pointer", "", "");
  print_member(entry, "tool", " (tool \"", "\")");
  fprintf(stderr, ": %s", what);
  print_member(entry, "reason", "", "\n");
}

void cli_print_left_out(void *ctx, const char *line) {
  json_in entry;
  size_t offset;
  const char *why;
  (void)ctx;
  if (!json_in_check(line, strlen(line), &entry, &offset, &why)) return;
  bool all = json_in_is(json_in_member(entry, "status"), "any object");
  print_entry(entry, "", all ? "any object is allowed, as this was left out: " : "left out: ");
}

void cli_print_warnings(const tsl_grammar *grammar, const char *prefix) {
  const char *report = tsl_grammar_report(grammar);
  json_in list, item = {NULL, 0};
  size_t offset;
  const char *why;
  /* most schemas have none: these are not read */
  if (!report || !strstr(report, "\",\"warning\":true}")) return;
  if (!json_in_check(report, strlen(report), &list, &offset, &why)) return;
  while (json_in_next(list, &item))
    if (json_in_kind(json_in_member(item, "warning")) == 't') print_entry(item, prefix, "");
}
