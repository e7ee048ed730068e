/* parser.h - what parse.c, which follows a text, and events.c, which reports what is in it, share.
 *
 * A parser has one thread for each way to read the text so far. A thread is a stack of frames and a
 * list of notes. Both are lists with shared tails, kept as indices: 0 is none, i + 1 is entry i. Of
 * "<think>a" a thread has the note "capture 0 begins at byte 7", and its stack the frame of that
 * capture on top. `reported` is the last note that was turned into parts. `reported_to` is the byte
 * up to which the text was turned into parts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_TAGS_PARSER_H
#define TSL_COMPILER_TAGS_PARSER_H

#include "compiler/json/out.h"
#include "compiler/states/states.h"
#include "compiler/tags/mended.h"
#include "compiler/tags/tags.h"
#include "runtime/automaton/state.h"

typedef struct frame {
  tsl__state state;
  uint32_t count, parent; /* parent: frame + 1; 0: the bottom */
  uint32_t capture;       /* + 1; 0: none */
} frame;

typedef struct note {
  uint32_t before; /* note + 1; 0: the first */
  uint32_t depth;
  uint32_t capture;
  bool begin;
  size_t at;
} note;

typedef struct thread {
  uint32_t frame, notes; /* notes: the last one + 1 */
} thread;

typedef TSL__VEC(thread) threads;
typedef tsl__chars text_vec;

typedef struct part { /* its text lies in parser.parts_text */
  tsl_part_kind kind;
  uint32_t call;
  size_t from, length;
  size_t next; /* the next part of the same call, + 1; 0: none. Of parts of calls alone */
} part;

typedef struct call_parts { /* + 1 */
  size_t first, last;
} call_parts;

/* What stands in front of the text that is outside of all captures. */
typedef enum tsl__behind {
  TSL__BEHIND_NOTHING, /* or a gap was dropped there */
  TSL__BEHIND_THINKING,
  TSL__BEHIND_CALL
} tsl__behind;

struct tsl_parser {
  tsl_allocator alloc;
  tsl_grammar *grammar;
  const tsl__tagged *tagged;
  const tsl__captures *captures;
  TSL__VEC(frame) frames;
  tsl__index index;
  TSL__VEC(note) notes;
  threads now, next, saved;
  threads entered; /* stepped from, for this byte */
  uint32_t depth;
  text_vec text;
  /* What was reported so far. */
  uint32_t reported; /* last note + 1 */
  size_t reported_to;
  TSL__VEC(uint32_t) open; /* captures, + 1 */
  TSL__VEC(part) parts;
  TSL__VEC(call_parts) call_parts; /* of each call that has a part, and of those before it */
  size_t parts_read;
  text_vec parts_text, key, json;
  /* the end of the input, held back: it may become the text of a special token, which is no text
   * here */
  text_vec held;
  uint32_t calls, members;
  uint32_t in_members; /* open captures of members: keys and values count in them alone */
  tsl__behind behind;
  size_t behind_at; /* the byte at which it ended */
  bool finished;
  /* The mender of a lenient parser (mending.c); NULL: a text that the grammar refuses is an
   * error. */
  const tsl__mender *mender;
  text_vec raw;   /* the whole input, but for what is held back here */
  text_vec ends;  /* the end of the input: end tokens, and what may become one */
  bool cut;       /* end tokens were left out behind `raw`, or a header at its beginning */
  bool begun;     /* the answer has begun: what stands in front of it was read */
  size_t skipped; /* bytes of `raw` that stand in front of the answer */
  bool refused;   /* the grammar refused the input */
  bool is_mended; /* the answer is `mended`, in `arena` */
  tsl__mended mended;
  tsl__arena arena;
  tsl_status status; /* sticky: no memory, a limit */
};

/* ---- parse.c --------------------------------------------------------------------------------- */
void *tsl__parser_failed(tsl_parser *p, tsl_status status);
const tsl__capture *tsl__parser_capture_at(const tsl_parser *p, uint32_t capture);
/* The last note that both lists have. */
uint32_t tsl__parser_common(const tsl_parser *p, uint32_t a, uint32_t b);
/* Threads at the beginning. */
void tsl__parser_begin(tsl_parser *p);
/* The public calls, by the grammar alone. */
tsl_status tsl__parser_read_text(tsl_parser *p, const char *text, size_t length);
tsl_status tsl__parser_read_token(tsl_parser *p, tsl_token token);
tsl_status tsl__parser_read_end(tsl_parser *p);

/* ---- events.c -------------------------------------------------------------------------------- */
void tsl__parser_put(tsl_parser *p, text_vec *to, const char *text, size_t n);
/* Report the text between two notes, as a part of the innermost open capture. */
void tsl__parser_report_text(tsl_parser *p, size_t to);
/* Notes after `reported` up to `last`, in their order. */
void tsl__parser_report_notes(tsl_parser *p, uint32_t last);
void tsl__parser_report_all(tsl_parser *p);
/* JSON string contents; bytes that are no UTF-8 (tokens may be anything) as U+FFFD. */
void tsl__parser_put_escaped(tsl_parser *p, text_vec *to, const char *text, size_t n);
const char *tsl__parser_json_of_parts(tsl_parser *p);

/* ---- mending.c ------------------------------------------------------------------------------- */
/* The public calls of a parser with a mender. */
tsl_status tsl__mending_text(tsl_parser *p, const char *text, size_t length);
tsl_status tsl__mending_token(tsl_parser *p, tsl_token token);
tsl_status tsl__mending_finish(tsl_parser *p);
const char *tsl__mending_json(tsl_parser *p);
/* Is this part one of a call that is not over? */
bool tsl__mending_holds(const tsl_parser *p, size_t i);

/* ---- gaps.c ---------------------------------------------------------------------------------- */
/* How far may text be reported? `to`: where the text ends so far. One is for text that goes on, one
 * for text in front of a call (`call`) or another capture, one for the end. Each may raise
 * `reported_to`. */
size_t tsl__gaps_wait(tsl_parser *p, size_t to);
size_t tsl__gaps_before(tsl_parser *p, size_t to, bool call);
size_t tsl__gaps_at_end(tsl_parser *p, size_t to);

#endif
