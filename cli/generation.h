/* generation.h - writing a text under a grammar, token by token, with a language model, or the
 * n-gram model in its place.
 *
 * Every step: mask, logits, draw, accept. Texts end. Before a token is kept, the rest must still
 * fit into what is left of `max_tokens`. If the rest would not fit, the token is rolled back and a
 * short completion is written instead (tsl_budget_completion). That completion has the fewest
 * bytes, and may not fit from the beginning where another one, of fewer tokens, does. Then all
 * tokens are drawn from those after which some completion fits (tsl_budget_mask). Only where none
 * is found a text is cut. Tested by tests/cli/test_cli_generate.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_GENERATION_H
#define TSL_CLI_GENERATION_H

#include "cli/common.h"
#include "cli/ngram.h"
#include "cli/plain.h"
#include "cli/sampling.h"
#include "cli/source.h"

#define GENERATION_ROOM 256u
#define GENERATION_TOP 3u     /* tokens that the model wanted */
#define GENERATION_FORCED 64u /* forced tokens that are found at once */
#define GENERATION_TAIL 16u   /* last tokens that the search for forced ones looks at */

typedef struct generation generation;

/* A language model in the place of the n-gram model (cli/model/llama.h has one). */
typedef struct generation_model {
  void *ctx;
  void (*restart)(void *ctx);               /* a new text begins behind the prompt */
  bool (*read)(void *ctx, tsl_token token); /* a token of the text; false: the context is full */
  /* after all that was read, one for each column; valid until the next call. NULL: failed */
  const float *(*logits)(void *ctx);
  const char *(*error)(void *ctx); /* why the last call failed */
  const char *name;                /* for the record of a trace; plain ASCII without quotes */
} generation_model;

typedef struct generation_settings {
  tsl_sampler_options sampler;
  /* of a text; 0 = GENERATION_ROOM more than the shortest text has bytes */
  uint64_t max_tokens;
  /* score the tokens that are not allowed too, for generation_step.want */
  bool score_all;
  bool any_spelling; /* of JSON: see plain.h */
  ngram *model;      /* borrowed, for the source's vocabulary; NULL: made anew */
  /* borrowed; NULL: the n-gram model */
  const generation_model *real;
  /* Where the next bytes are forced, their canonical tokens are written without logits. Not with
   * score_all's measures: such steps have none. */
  bool forced;
  /* NULL, or called at every step with g->mask, before a token is drawn */
  void (*watch)(void *ctx, generation *g);
  void *watch_ctx;
  /* from so many tokens left on closing is made likelier; 0 = never */
  uint64_t wind_down;
  float wind_bias; /* by up to so much, added to logits */
} generation_settings;

/* Temperature 1, all tokens. */
generation_settings generation_defaults(void);
/* --max-tokens, --any-spelling, --wind-down, --wind-bias. What draws is among sampling_table's. */
cli_options generation_options(generation_settings *settings);
/* source_open; with --any-spelling the grammar of a schema has any spelling too. */
int generation_source(source *s, const generation_settings *settings);

struct generation {
  const generation_settings *settings;
  tsl_vocab *vocab; /* borrowed */
  tsl_matcher *matcher;
  tsl_budget *budget;
  tsl_sampler *sampler;
  ngram *model;
  ngram_state state;
  uint32_t *mask;  /* what the grammar allows */
  uint32_t *plain; /* the part of it that is drawn from */
  uint32_t *scratch;
  bool json; /* the texts are JSON, to be spelled plainly */
  plain_state place;
  /* of the last step that was scored: the model's, and those that are drawn from, closing made
   * likelier. Often one row, which belongs to the model */
  const float *logits, *biased;
  float *own_logits, *own_biased;
  cli_text text;   /* so far */
  uint64_t tokens; /* so far */
  uint64_t max_tokens;
  /* the grammar names no tokens, and the vocabulary has one for every byte: so many bytes need no
   * more tokens */
  bool in_bytes;
  bool tight; /* the way of the fewest bytes does not fit into max_tokens, but another does */
  tsl_token *closing; /* the tokens of the shortest completion, once it is needed */
  size_t closing_count, closing_next;
  /* forced tokens that are to be written next, and the last tokens of the text */
  tsl_token forced[GENERATION_FORCED], tail[GENERATION_TAIL];
  size_t forced_count, forced_next, tail_count;
  uint64_t forced_tokens; /* of the text, so far */
};

typedef struct generation_step {
  /* probability 1 and kept 1 for a token of the completion; allowed is the grammar's */
  tsl_draw draw;
  /* what the model wanted under the grammar's mask; with score_all, and where the token was
   * drawn */
  tsl_step want;
  tsl_token_logprob top[GENERATION_TOP]; /* the want.top_count most likely tokens before the mask */
  uint32_t expected[8];                  /* the bytes that could come next */
  double mask_us;                        /* microseconds for the mask */
  bool closing;                          /* not drawn, but part of the shortest completion */
  bool forced;                           /* not drawn: no other text was allowed */
} generation_step;

typedef enum generation_result {
  GENERATION_MORE, /* a token was added */
  GENERATION_DONE, /* the text is complete; no token was added, or an end-of-generation token */
  GENERATION_CUT,  /* max_tokens are used up, and the text is not complete */
  GENERATION_BAD   /* something failed; it has been said */
} generation_result;

/* False after a complaint. */
bool generation_open(generation *g, const source *s, const generation_settings *settings);
void generation_close(generation *g);
/* Begin the next text; the sampler goes on with its stream. */
void generation_restart(generation *g);
/* The mask of this position (timed, in microseconds) in g->mask; with `scored`, what may be drawn
 * and the logits, too, in g->plain and g->logits. Nothing is drawn. */
tsl_status generation_look(generation *g, bool scored, double *mask_us);
/* Write a token that somebody else chose; TSL_REJECTED and no change if the grammar does not allow
 * it. */
tsl_status generation_write(generation *g, tsl_token token);
/* *step is filled where the result is MORE (and for an end-of-generation token). */
generation_result generation_next(generation *g, generation_step *step);

#endif
