/* tools_read.c - turnstile tools --parse: an answer that is read back. See tools_read.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/commands/tools_read.h"

#include <stdlib.h>
#include <string.h>

#include "cli/json_out.h"

static void print_part(const tsl_part *part) {
  static const char *const kinds[] = {"text",     "reasoning", "call",     "id",     "arguments",
                                      "call_end", "tag",       "tag_text", "tag_end"};
  printf("{\"part\": \"%s\", \"call\": %u, \"text\": ", kinds[part->kind], part->call);
  json_out_string(part->text, part->length);
  puts("}");
}

static void print_parts(tsl_parser *p) {
  tsl_part part;
  while (tsl_parser_next(p, &part)) print_part(&part);
}

/* An answer out of the format, as unconstrained models write it. False: there is no call in it. */
static bool read_leniently(const tools_reading *how, const cli_text *text) {
  tsl_tools_options options = *how->options;
  tsl_grammar *g = NULL;
  tsl_parser *p = NULL;
  options.lenient = true;
  bool fine = tsl_grammar_tools(how->vocab, how->request->at, how->request->length, &options, NULL,
                                &g, NULL) == TSL_OK &&
              tsl_parser_new(g, NULL, &p) == TSL_OK &&
              tsl_parser_text(p, text->at, text->length) == TSL_OK &&
              tsl_parser_finish(p) == TSL_OK;
  const char *json = fine ? tsl_parser_json(p) : NULL;
  fine = json && strstr(json, "\", \"calls\": [{"); /* quotes in texts have a backslash */
  if (fine) puts(json);
  tsl_parser_free(p);
  tsl_grammar_release(g);
  return fine;
}

/* The text as tokens, special ones where it spells them. */
static tsl_status read_tokens(const tools_reading *how, tsl_parser *p, const char *text,
                              size_t length) {
  size_t count;
  tsl_token *ids = cli_allocate(length + 1, sizeof *ids);
  tsl_status status =
      tsl_vocab_encode(how->vocab, text, length, TSL_ENCODE_SPECIAL, ids, length + 1, &count);
  for (size_t i = 0; i < count && status == TSL_OK; i++) {
    status = tsl_parser_token(p, ids[i]);
    if (how->stream) print_parts(p);
  }
  free(ids);
  return status;
}

static tsl_status read_text(const tools_reading *how, tsl_parser *p, const char *text,
                            size_t length) {
  return how->tokens ? read_tokens(how, p, text, length) : tsl_parser_text(p, text, length);
}

static bool matches(const tools_reading *how, tsl_parser *p, const cli_text *text) {
  bool fine = read_text(how, p, text->at, text->length) == TSL_OK && tsl_parser_finish(p) == TSL_OK;
  tsl_parser_reset(p);
  return fine;
}

static int read_back(const tools_reading *how, tsl_parser *p, const cli_text *text) {
  tsl_status status = how->tokens ? read_tokens(how, p, text->at, text->length) : TSL_OK;
  size_t step = how->stream ? 1 : text->length, at = 0;
  for (; at < text->length && status == TSL_OK && !how->tokens; at += step) {
    status = tsl_parser_text(p, text->at + at, step);
    if (how->stream) print_parts(p);
  }
  if (status == TSL_REJECTED && how->tokens) {
    puts(tsl_parser_json(p));
    return cli_complain("the answer does not match, token by token"), CLI_NO;
  }
  if (status == TSL_REJECTED && !how->stream) { /* where? */
    for (at = 0; at < text->length && tsl_parser_text(p, text->at + at, 1) == TSL_OK; at++)
      continue;
    at += 1;
  }
  if (status == TSL_REJECTED)
    cli_complain("the answer does not match from byte %zu on", at - 1);
  else if (status == TSL_OK && (status = tsl_parser_finish(p)) == TSL_REJECTED)
    cli_complain("the answer is not complete");
  if (how->stream)
    print_parts(p);
  else
    puts(tsl_parser_json(p));
  return status == TSL_OK         ? CLI_OK
         : status == TSL_REJECTED ? CLI_NO
                                  : cli_complain("tools: %s", tsl_status_name(status));
}

static int read_all(const tools_reading *how, tsl_parser *p, const cli_text *text) {
  int code = CLI_OK;
  for (size_t from = 0, to; from < text->length && !cli_output_failed(); from = to + 1) {
    for (to = from; to < text->length && text->at[to]; to++) continue;
    tsl_parser_reset(p);
    bool whole =
        read_text(how, p, text->at + from, to - from) == TSL_OK && tsl_parser_finish(p) == TSL_OK;
    puts(whole ? tsl_parser_json(p) : "null");
    if (!whole) code = CLI_NO;
  }
  return code;
}

int tools_read(const tools_reading *how, const char *path) {
  cli_text text = {0};
  tsl_parser *p = NULL;
  if (!cli_read(path, &text)) return CLI_BAD;
  int code =
      tsl_parser_new(how->grammar, NULL, &p) == TSL_OK ? CLI_OK : cli_complain("tools: no parser");
  bool again = code == CLI_OK && how->again && !how->null && !how->stream;
  if (again && !matches(how, p, &text) && read_leniently(how, &text)) {
    fputs("turnstile: the answer does not match; it was read leniently\n", stderr);
  } else if (code == CLI_OK) {
    code = how->null ? read_all(how, p, &text) : read_back(how, p, &text);
  }
  tsl_parser_free(p);
  cli_text_free(&text);
  return code;
}
