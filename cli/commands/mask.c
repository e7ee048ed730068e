/* mask.c - turnstile mask: the tokens that are allowed after a prefix.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/position.h"
#include "cli/source.h"

typedef struct settings {
  const char *prefix; /* text, or NULL */
  const char *file;   /* of the prefix, or NULL */
  bool ids;
  uint64_t limit;
} settings;

static bool set_prefix(void *to, const char *value) {
  return ((settings *)to)->prefix = value, true;
}
static bool set_file(void *to, const char *value) {
  return ((settings *)to)->file = value, *value != 0;
}
static bool set_ids(void *to, const char *value) {
  return (void)value, ((settings *)to)->ids = true;
}
static bool set_limit(void *to, const char *value) {
  return cli_number(value, 0, UINT64_MAX, &((settings *)to)->limit);
}

static const cli_option table[] = {
    {"--prefix", "TEXT", "the text so far (default: empty)", set_prefix},
    {"--prefix-file", "F", "the text so far, from a file or stdin (-)", set_file},
    {"--limit", "N", "list at most N tokens (default: all)", set_limit},
    {"--ids", NULL, "write only the ids", set_ids},
};

static void list_tokens(const tsl_vocab *vocab, const uint32_t *mask, const settings *o) {
  uint64_t listed = 0;
  for (tsl_token t = 0; t < tsl_vocab_size(vocab) && listed < o->limit; t++) {
    if (!tsl_mask_has(mask, t)) continue;
    if (cli_output_failed()) return;
    listed++;
    printf("%" PRIu32, t);
    if (!o->ids) {
      size_t length;
      const uint8_t *bytes = tsl_vocab_bytes(vocab, t, &length);
      putchar('\t');
      cli_print_quoted(stdout, bytes, length, TSL_MAX_TOKEN_BYTES);
      if (tsl_vocab_is_special(vocab, t))
        fputs(tsl_vocab_is_eog(vocab, t) ? "\tend of generation" : "\tspecial", stdout);
    }
    putchar('\n');
  }
}

static int show(const source *s, tsl_matcher *matcher, const settings *o) {
  uint32_t *mask = cli_allocate(tsl_vocab_mask_words(s->vocab), sizeof *mask);
  double start = cli_now();
  tsl_status status = tsl_matcher_mask(matcher, mask);
  double elapsed = cli_now() - start;
  int code = CLI_OK;
  if (status != TSL_OK) {
    code = cli_complain("mask: %s after the text%s", tsl_status_name(status),
                        cli_limit_advice(status));
  } else {
    list_tokens(s->vocab, mask, o);
    fflush(stdout);
    fprintf(stderr, "%zu of %" PRIu32 " tokens are allowed (%.1f µs)%s\n",
            tsl_mask_count(mask, tsl_vocab_logits_width(s->vocab)), tsl_vocab_size(s->vocab),
            elapsed, tsl_matcher_is_complete(matcher) ? "; the text may end here" : "");
  }
  free(mask);
  return code;
}

static int mask_after(const source *s, const settings *o) {
  cli_text prefix = {0};
  tsl_matcher *matcher = NULL;
  if (o->file && !cli_read(o->file, &prefix)) return CLI_BAD;
  if (o->prefix) cli_text_add(&prefix, o->prefix, strlen(o->prefix));
  tsl_status status = tsl_matcher_new(s->grammar, NULL, &matcher);
  int code = status == TSL_OK ? CLI_OK : cli_complain("mask: %s", tsl_status_name(status));
  size_t start, length = prefix.length;
  if (code == CLI_OK && length)
    code = position_follow(matcher, o->file ? cli_file_name(o->file) : "prefix", prefix.at, &start,
                           &length, POSITION_PREFIX);
  if (code == CLI_OK) code = show(s, matcher, o);
  tsl_matcher_free(matcher);
  cli_text_free(&prefix);
  return code;
}

static int run(int argc, char **argv) {
  source s = {0};
  settings o = {NULL, NULL, false, UINT64_MAX};
  cli_options sets[] = {source_options(&s, SOURCE_MASKS),
                        {table, sizeof table / sizeof *table, &o}};
  cli_arguments arguments;
  if (!cli_parse(&cli_mask, argc, argv, sets, 2, &arguments)) return CLI_BAD;
  int code = CLI_OK;
  if (!arguments.help) {
    if (arguments.rest_count)
      code = cli_complain("mask: unexpected argument %s", arguments.rest[0]);
    else if (o.prefix && o.file)
      code = cli_complain("mask: --prefix and --prefix-file exclude each other");
    else
      code = source_open(&s);
    if (code == CLI_OK) code = mask_after(&s, &o);
  }
  source_close(&s);
  cli_arguments_free(&arguments);
  return code;
}

const cli_command cli_mask = {
    "mask",
    "(--schema F | --regex R | --grammar F | --artifact F) [--prefix TEXT] [options]",
    "list the tokens that are allowed after a prefix",
    "A line per token: its id, a tab, its bytes in quotes, and whether it is special. How many "
    "there are goes to stderr.\n"
    "exit codes: 0 listed; 1 the prefix does not match: the byte offset and what was expected "
    "there go to stderr; 2 the call, the grammar "
    "or a\n"
    "file is bad.\n",
    run,
    NULL};
