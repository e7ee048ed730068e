/* check.c - turnstile check: does a text match? If not, where and why.
 *
 * The text is fed as bytes, so the vocabulary does not matter; it must also be complete at its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "cli/position.h"
#include "cli/source.h"

#define SHOWN 40 /* bytes of a spelling that a message shows */

/* Bytes of the text that fit, or SIZE_MAX: all of it does. */
static size_t fits(const source *s, const tsl_schema_options *o, const char *text, size_t length) {
  tsl_grammar *grammar = NULL;
  tsl_matcher *matcher = NULL;
  size_t accepted = 0;
  bool whole = true; /* also where it is not known: the text is valid */
  if (tsl_grammar_json_schema(s->vocab, s->text.at, s->text.length, o, NULL, &grammar, NULL) ==
          TSL_OK &&
      tsl_matcher_new(grammar, NULL, &matcher) == TSL_OK)
    whole = tsl_matcher_accept_bytes(matcher, text, length, &accepted) == TSL_OK
                ? tsl_matcher_is_complete(matcher)
                : accepted == length;
  tsl_matcher_free(matcher);
  tsl_grammar_release(grammar);
  return whole ? SIZE_MAX : accepted;
}

/* The string or number of a valid JSON text in which, or at whose end, the offset `at` stands: from
 * *begin on. Returns its bytes. */
static size_t scalar_at(const char *text, size_t length, size_t at, size_t *begin) {
  size_t end = 0;
  for (size_t i = 0; i < length && i <= at; i = end) {
    *begin = i;
    if (text[i] == '"') {
      for (end = i + 1; text[end] != '"'; end++) end += text[end] == '\\';
      end++;
    } else {
      end = i + strspn(text + i, "+-.0123456789Ee");
      if (end == i) end++;
    }
    if (at < end || (at == end && text[i] != '"')) break;
  }
  return end - *begin;
}

/* The beginning of a string or number; whole characters. */
static void print_some(const char *text, size_t n) {
  char some[SHOWN + 1];
  size_t k = n < SHOWN ? n : SHOWN;
  while (k < n && ((unsigned char)text[k] & 0xC0) == 0x80) k--;
  memcpy(some, text, k);
  some[k] = 0;
  cli_print_plain(stderr, some);
  if (k < n) fputs("...", stderr);
}

static void say(const char *name, const char *text, size_t at) {
  size_t line, column;
  position_of(text, at, &line, &column);
  cli_print_plain(stderr, name);
  fprintf(stderr, ":%zu:%zu: byte offset %zu: valid; ", line, column, at);
}

/* Say which parts of a valid text no mask would have let a model write. By default, generation asks
 * for the schema's order, plain white space and plain spellings. */
static void say_unwritten(const source *s, const char *name, const char *text, size_t start,
                          size_t length) {
  tsl_schema_options o = s->schema;
  o.order = TSL_ORDER_SCHEMA;
  size_t at = s->order_given ? SIZE_MAX : fits(s, &o, text + start, length), begin = 0, n;
  if (at != SIZE_MAX) {
    say(name, text, start + at);
    fputs("members not in the schema's order, which generation asks for\n", stderr);
  }
  o = s->schema;
  o.spelling = TSL_SPELLING_PLAIN;
  at = s->spelling_given ? SIZE_MAX : fits(s, &o, text + start, length);
  if (at != SIZE_MAX) {
    n = scalar_at(text + start, length, at, &begin);
    say(name, text, start + begin);
    fputs("spelled otherwise: `", stderr);
    print_some(text + start + begin, n);
    fputs("`; generation asks for plain spellings\n", stderr);
  }
  o = s->schema;
  o.whitespace = TSL_WS_PLAIN;
  at = s->whitespace_given ? SIZE_MAX : fits(s, &o, text + start, length);
  if (at == SIZE_MAX) return;
  say(name, text, start + at);
  fputs("more white space than generation asks for\n", stderr);
}

static int check(const source *s, const char *path) {
  cli_text text = {0};
  tsl_matcher *matcher = NULL;
  int code = CLI_BAD;
  if (!cli_read(path, &text)) return CLI_BAD;
  tsl_status status = tsl_matcher_new(s->grammar, NULL, &matcher);
  size_t start, length = text.length;
  if (status != TSL_OK)
    cli_complain("cannot start: %s", tsl_status_name(status));
  else
    code = position_follow(matcher, cli_file_name(path), text.at, &start, &length, source_ends(s));
  if (status == TSL_OK && code == CLI_OK && s->kind == SOURCE_SCHEMA)
    say_unwritten(s, cli_file_name(path), text.at, start, length);
  tsl_matcher_free(matcher);
  cli_text_free(&text);
  return code;
}

static bool set_profile(void *to, const char *value) {
  return *(const char **)to = value, *value != 0;
}

static const cli_option table[] = {
    {"--profile", "openai-strict",
     "check the schema, not a text: which of a provider's documented limits does it break?",
     set_profile},
};

static int run(int argc, char **argv) {
  source s = {0};
  const char *profile = NULL;
  cli_options sets[] = {source_options(&s, SOURCE_READS), {table, 1, &profile}};
  cli_arguments arguments;
  if (!cli_parse(&cli_check, argc, argv, sets, 2, &arguments)) return CLI_BAD;
  int code = CLI_OK;
  if (!arguments.help && profile) {
    code = arguments.rest_count ? cli_complain("check: --profile takes no text")
                                : source_profile(&s, profile);
  } else if (!arguments.help) {
    if (arguments.rest_count != 1)
      code = cli_complain("check: one text is needed, a file or -, not %zu", arguments.rest_count);
    else
      code = source_open(&s);
    if (code == CLI_OK) code = check(&s, arguments.rest[0]);
  }
  source_close(&s);
  cli_arguments_free(&arguments);
  return code;
}

const cli_command cli_check = {
    "check",
    "(--schema F | --regex R | --grammar F | --artifact F) [options] FILE|-",
    "does this text match the grammar? if not, where and why",
    "Unless said otherwise, members of objects may come in any order (--order any), with any "
    "white space\n"
    "(--ws any) and any spelling (--spelling any). For some valid texts stderr says that masks "
    "would have\n"
    "let no model write them: they have another order of members, other spellings or more white "
    "space.\n"
    "A text may have white space around it (--schema with --ws any), or one line break at its end "
    "(else).\n"
    "That is left out if the grammar does not match it.\n"
    "exit codes: 0 the text matches (with --profile: no limit is broken); 1 it does not: the byte "
    "offset and what was expected there go to stderr; 2 the call, the grammar or "
    "a\n"
    "file is bad.\n",
    run,
    NULL};
