/* trace.h - a record of one generation, step by step, and the page that shows it.
 *
 * The record of a step has the position before it: JSON pointer, frames, bytes that may come next,
 * bytes that must. It has how many tokens were allowed, and how much of the model's probability
 * they had. It has the most likely tokens before and after the mask, with their logits, and what
 * was drawn. docs/inspector.md describes the JSON. The page is page/trace.html with style and
 * script in it, one file that needs nothing else; the record stands in it as JSON. Tested by
 * tests/programs/test_trace.py, tests/page/trace_test.js
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_TRACE_H
#define TSL_CLI_TRACE_H

#include "cli/generation.h"
#include "cli/os.h"
#include "cli/place.h"

/* tokens recorded of a step: the most likely before the mask, and as many of those that may be
 * drawn */
#define TRACE_TOP 16u
#define TRACE_FRAMES 24u /* frames recorded of a step, the uppermost */

typedef struct trace {
  cli_memory json;
  FILE *to; /* of `json` */
  place place;
  const source *source;
  uint64_t steps;
  cli_memory position; /* JSON members that describe the position of the step at hand */
} trace;

/* Begin a record; sets what `how` must have so that trace_text can see every step. False after a
 * complaint. `trace` must not move while it is open. */
bool trace_open(trace *t, const source *s, generation_settings *how);
/* Generate one text and record it. */
generation_result trace_text(trace *t, generation *g);
/* Begin the text anew. */
void trace_restart(trace *t, generation *g);

/* For the playground, which shows a text while it is written: single steps as JSON, valid until the
 * next call. */
/* Generate the next token. NULL where there was none. */
const char *trace_next(trace *t, generation *g, generation_result *result);
/* The position that was reached, without a token; `measured`: with candidates, which costs a row of
 * logits. NULL on failure. */
const char *trace_here(trace *t, generation *g, bool measured, tsl_status *status);
/* Write a token that a person chose. */
tsl_status trace_write_token(trace *t, generation *g, tsl_token token);

/* Write the record as JSON, or as a page. False after a complaint. "-" is stdout. */
bool trace_write(trace *t, const char *path, bool page);
void trace_close(trace *t);
/* The page around a record that was written as JSON before. False after a complaint. */
bool trace_render(const char *json, size_t length, const char *path);

#endif
