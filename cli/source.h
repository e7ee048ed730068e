/* source.h - the grammar that a command works with: where it comes from and how it is compiled.
 *
 * All commands take the same options for it: one of --schema, --regex, --grammar, --request,
 * --artifact and others, and what goes with them. --resolve URL=DIR answers references of a schema
 * to other documents. A URI that starts with URL is read from the file DIR plus the rest of the
 * URI. Tested by tests/cli/test_cli.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_SOURCE_H
#define TSL_CLI_SOURCE_H

#include "cli/common.h"
#include "cli/position.h"

#define SOURCE_MAX_RESOLVES 64 /* --resolve options of one call */

typedef enum source_kind {
  SOURCE_NONE,
  SOURCE_SCHEMA,
  SOURCE_REGEX,
  SOURCE_GBNF,
  SOURCE_LARK,
  SOURCE_EBNF,
  SOURCE_ABNF,
  SOURCE_REQUEST,
  SOURCE_ARTIFACT
} source_kind;

/* What a command does with texts: its default of order, white space and spelling. */
typedef enum source_use {
  SOURCE_MASKS,          /* as the library's: what masks let a model write */
  SOURCE_WRITES_COMPACT, /* the same without white space */
  SOURCE_READS           /* every text of a valid value */
} source_use;

typedef struct source_document source_document; /* a file that a reference led to */

typedef struct source {
  source_kind kind;
  const char *from; /* the file, or the regex itself */
  const char *root; /* start rule of a grammar */
  /* by kind: the last option given that only sources of this kind have */
  const char *option[SOURCE_ARTIFACT + 1];
  const char *vocab_path, *vocab_cache;
  cli_text text; /* what was compiled */
  tsl_schema_options schema;
  tsl_regex_options regex;
  bool order_given, spelling_given, whitespace_given; /* by an option */
  const char *resolve[SOURCE_MAX_RESOLVES];           /* URL=DIR */
  size_t resolve_count;
  const char *imports; /* the folder of what a Lark grammar imports, or NULL */
  const char *lexer;   /* of a Lark grammar, or NULL */
  source_document *documents;
  /* after source_open: */
  tsl_vocab *vocab;
  tsl_grammar *grammar;
  /* microseconds that compiling took, and before it the vocabulary's tables (0: an artifact) */
  double compile_us, tables_us;
} source;

/* The options that every command has. */
cli_options source_options(source *s, source_use use);
/* plain[:LINES:COLUMNS] | compact | at-most:N | pretty[:N] | any, as --ws has it. False: it is none
 * of these. */
bool source_whitespace(const char *value, tsl_schema_options *o);
/* The name for messages: the file, or "regex". */
const char *source_name(const source *s);
/* Read and compile. Returns CLI_OK, or CLI_BAD after saying why. */
int source_open(source *s);
/* Say which limits of a provider the schema breaks: CLI_OK if none, CLI_NO if some, CLI_BAD. */
int source_profile(source *s, const char *profile);
/* What was compiled, to be kept in an artifact; points into `s`. False: it was an artifact. */
bool source_kept(const source *s, tsl_source *out);
/* How finished texts of this grammar may end: for position_follow. */
position_ends source_ends(const source *s);
void source_close(source *s);

#endif
