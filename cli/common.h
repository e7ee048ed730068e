/* common.h - what the commands share: texts, files, messages, options.
 *
 * Exit codes of every command. 0: yes, or done. 1: no; the text does not match, or a text had to be
 * cut. 2: the call, the grammar or a file is bad. Results go to stdout, everything said to a person
 * goes to stderr. Colour is used only on a terminal, and not if NO_COLOR is set. Running out of
 * memory ends the program with exit code 2 and a message. Tested by tests/cli/test_cli.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_COMMON_H
#define TSL_CLI_COMMON_H

#include <stdio.h>

#include "turnstile.h"

typedef enum cli_exit { CLI_OK = 0, CLI_NO = 1, CLI_BAD = 2 } cli_exit;

#if defined(__GNUC__) || defined(__clang__)
#if defined(__MINGW32__) && !defined(__clang__)
#define CLI_PRINTF(f, a) __attribute__((format(gnu_printf, f, a))) /* %zu, as C has it */
#else
#define CLI_PRINTF(f, a) __attribute__((format(printf, f, a)))
#endif
#else
#define CLI_PRINTF(f, a)
#endif

/* ---- texts ----------------------------------------------------------------------------------- */

/* Bytes that grow; always followed by a NUL that is not counted. Zero-initialised is empty (at =
 * NULL). */
typedef struct cli_text {
  char *at;
  size_t length, capacity;
} cli_text;

void cli_text_add(cli_text *text, const void *bytes, size_t length);
void cli_text_free(cli_text *text);
void *cli_allocate(size_t count, size_t size); /* zeroed; never NULL */

/* Open a file, "-" being stdin, which can be read once in a call. NULL after saying why not. */
FILE *cli_open_input(const char *path);
void cli_close_input(FILE *file); /* NULL is fine */
/* Read a whole file, opened in that way. False after saying why not. */
bool cli_read(const char *path, cli_text *out);
/* What messages call it: "stdin" for "-". */
const char *cli_file_name(const char *path);

/* ---- messages -------------------------------------------------------------------------------- */

typedef enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_RED, CLI_GREEN } cli_style;

/* The escape sequence of a style for that stream, "" where colour is not wanted. */
const char *cli_style_on(FILE *to, cli_style style);

/* "turnstile: ..." and a newline on stderr; what is no printable UTF-8 is escaped as in
 * cli_print_quoted, as it may come from a stranger's file. Returns CLI_BAD, so that a command can
 * `return cli_complain(...)`. */
int cli_complain(const char *format, ...) CLI_PRINTF(1, 2);
/* The same for a failed compile or load: name of what was read, line, column, pointer, reason. */
/* What to do about a limit that was reached, to be added to a message; "" for another status. */
const char *cli_limit_advice(tsl_status status);
int cli_complain_error(const char *name, const tsl_error *error);
/* Are messages wanted as JSON (--json, which every command takes)? cli_complain… see to it
 * themselves. */
bool cli_json(void);
/* True if stdout cannot be written: then nothing more need be made. main says it. */
bool cli_output_failed(void);
/* An error as a JSON object, in any case. */
int cli_complain_at(const char *name, const tsl_error *error);

/* Print bytes in quotes: UTF-8 that can be seen as it is, the rest as \n, \t, \\, \" and \xNN. At
 * most `limit` bytes, then "…". */
void cli_print_quoted(FILE *to, const void *bytes, size_t length, size_t limit);
/* the same as a text that the caller frees */
char *cli_quoted(const void *bytes, size_t length, size_t limit);
/* Print a text without quotes, in which \ and " stay as they are, so that it is one line and moves
 * no terminal. */
void cli_print_plain(FILE *to, const char *text);
/* Print a set of bytes as ranges: 'a'–'z', '"', \x80–\xbf. */
void cli_print_set(FILE *to, const uint32_t set[8]);

/* What a grammar's schemas hardly mean as they say, a line each on stderr. `prefix` stands in front
 * of the pointers. */
void cli_print_warnings(const tsl_grammar *grammar, const char *prefix);
/* The same of a part that was left out: a tsl_line_sink for tsl_tools_options. */
void cli_print_left_out(void *ctx, const char *line);

/* Microseconds from a clock that never goes back. */
double cli_now(void);
/* Microseconds that a processor worked for this thread: other programs do not count. */
double cli_worked(void);

/* Files that --vocab takes. */
#define CLI_VOCABS \
  "tokenizer.json, tiktoken ranks, GGUF, SentencePiece's tokenizer.model or Mistral's tekken.json"
/* What --vocab-cache does. */
#define CLI_VOCAB_CACHE \
  "keep what was read of --vocab in this folder, and map it from there the next time"

/* The vocabulary of a file (NULL: the embedded one), kept in the folder `cache` (NULL: nowhere).
 * CLI_BAD after saying why not. */
int cli_open_vocab(const char *file, const char *cache, tsl_vocab **out);

/* ---- options --------------------------------------------------------------------------------- */

/* One option of a command. `set` gets the value (NULL for a flag) and the command's settings; it
 * returns false if the value is bad. */
typedef struct cli_option {
  const char *name;  /* with its dashes: "--seed", "-n" */
  const char *value; /* what the value is called in the help; NULL for a flag */
  const char *help;
  bool (*set)(void *settings, const char *value);
} cli_option;

/* A table of options and the settings that they write to. */
typedef struct cli_options {
  const cli_option *table;
  size_t count;
  void *settings;
} cli_options;

typedef struct cli_command {
  const char *name, *usage, *summary; /* usage: what follows the name; summary: one line */
  const char *details;                /* the rest of the help: exit codes, examples */
  int (*run)(int argc, char **argv);  /* argv[0] is the first argument after the name */
  /* options that it can only refuse, with a space between any two; NULL: none */
  const char *unlisted;
} cli_command;

extern const cli_command cli_check, cli_compile, cli_demo, cli_explain, cli_extract, cli_generate,
    cli_lint, cli_mask, cli_run, cli_sample, cli_serve, cli_tools, cli_trace;

/* What came of the arguments. */
typedef struct cli_arguments {
  const char **rest; /* arguments that are no options; owned, see cli_arguments_free */
  size_t rest_count;
  bool help; /* --help was given and has been printed */
} cli_arguments;

/* Read the arguments of a command: options anywhere, "--" ends them, "--name=value" works. False
 * after a complaint. */
bool cli_parse(const cli_command *command, int argc, char **argv, const cli_options *sets,
               size_t set_count, cli_arguments *out);
void cli_arguments_free(cli_arguments *arguments);

/* For `set`: say why a value is refused; false. Where nobody says it, it is that the value is none
 * of those that the help lists, or the help stands there. */
bool cli_refuse(const char *format, ...) CLI_PRINTF(1, 2);

/* Values; false (and why) if they are malformed or out of range. */
bool cli_number(const char *value, uint64_t low, uint64_t high, uint64_t *out);
bool cli_real(const char *value, double low, double high, float *out);

#endif
