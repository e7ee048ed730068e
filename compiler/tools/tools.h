/* tools.h - what a model may answer to a request with tools.
 *
 * Problem   Each family of models writes calls in its own way, and each API describes tools in its
 *           own way.
 * Idea      A preset (schemas/tools/NAME.json) says how a family writes thinking, one call and
 *           several. request.c finds tools, choice and response format in a request's JSON. tools.c
 *           puts both together as a tree of formats (compiler/tags/tags.h).
 * Preset    Its members (docs/tools.md says more of each):
 *             thinking     begin, end, after, prefilled: the block of thinking, or null
 *             text         begin, end: what may stand around the text
 *             exclude      texts that free text never holds
 *             text_ahead   true: marked text may stand in front of calls that are required
 *             end          a text that may stand at the end of the answer
 *             gaps         before, between, after: texts around calls that are no content
 *             trigger      what a call in free text begins with, where there is no section
 *             section      before, begin, separator, end: what stands around all calls, or null
 *             separator    a text between calls, where no free text may stand
 *             before       a text that may stand before each call, in place of a separator
 *             calls        begin, id, id_prefix, then, style, behind, end: ways to write one call
 *             messages     as, begin, end, and message_separator: the answer is messages (Harmony)
 * Example   After `<tool_call>` of the preset qwen3 come `{"name": "` and a trie of the tools'
 *           names. After a name come the arguments of that tool, and then `</tool_call>`.
 * Tested by tests/tools/test_requests.c, tests/programs/test_tools.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_TOOLS_TOOLS_H
#define TSL_COMPILER_TOOLS_TOOLS_H

#include "compiler/tags/tags.h"

typedef struct tsl__tool {
  tsl__string name;
  tsl__json *parameters; /* NULL: any object */
  /* what parameters that the request does not hold as they are is known by; NULL: they are part of
   * it */
  tsl__string source;
  bool made_up;        /* the parameters are no part of the request */
  bool loose;          /* "strict" is false: what is not supported may be left out */
  const tsl__json *at; /* what is to blame for made-up parameters */
} tsl__tool;

typedef enum tsl__choice { TSL__CHOICE_AUTO, TSL__CHOICE_REQUIRED, TSL__CHOICE_NONE } tsl__choice;

typedef struct tsl__request {
  tsl__tool *tools;
  uint32_t count;
  tsl__choice choice;
  bool forced; /* one call of the only tool left */
  bool parallel;
  const tsl__tag *content; /* what the text must be; NULL: free */
  uint32_t max_thinking;   /* tokens; 0: not said */
  bool no_thinking;
} tsl__request;

/* request.c: what the request (t->root) and the options ask for. False on failure. */
bool tsl__tools_request(tsl__tags *t, const tsl_tools_options *options, tsl__request *out);
/* schemas.c: a member that is there and not null, or NULL. `o` may be NULL. */
tsl__json *tsl__tools_present(const tsl__json *o, const char *key);
/* The schema of a tool, whose name is in `inner`: itself, or an object in it. NULL:
 * it has none. *other: one that would not hold beside it, or NULL. */
const tsl__json *tsl__tool_schema(const tsl__json *inner, const tsl__json *outer,
                                  const tsl__json **other);
/* The same of a response format, but for a structural tag. */
const tsl__json *tsl__format_schema(const tsl__json *format, const tsl__json **other);
#define TSL__OTHER_SCHEMA                                                     \
  "this schema would not hold: it stands under \"schema\", as in {\"type\": " \
  "\"json_schema\", \"json_schema\": {\"schema\": ...}}"
#define TSL__NO_WHITE_SPACE_PATTERN \
  "white space follows the options of the compile call (whitespace, --ws), not a pattern"
#define TSL__NO_FORMAT                                                                        \
  "the \"type\" of a response format is text, json_object, json_schema or structural_tag: a " \
  "regex is {\"type\": \"structural_tag\", \"format\": {\"type\": \"regex\", \"pattern\": ...}}"
/* foreign.c: the first member that another API reads, and that would be lost here. *what: the
 * error. NULL: there is none. `o` may be no object. */
const tsl__json *tsl__foreign_member(const tsl__json *o, const char **what);
/* The same of SGLang's "sampling_params", which a request without tools may have. */
const tsl__json *tsl__wrapped_constraint(const tsl__json *o);
/* tools.c: the tree of formats. NULL on failure. */
const tsl__tag *tsl__tools_read(tsl__tags *t, const tsl_tools_options *options);
/* named.c: the text (static) of the preset of this name, or of a model of this name. NULL: none is
 * known. */
const char *tsl__preset_named(const char *name);
/* The message that there is none, with the names that are most like it. */
void tsl__preset_near(const char *name, char *message, size_t size);
/* check.c: the member of a preset that is not as it must be, or NULL. */
const char *tsl__preset_wrong(const tsl__json *preset);
/* "thinking" or "text" where free text may hold one of its markers, which would be read as text;
 * else NULL. */
const char *tsl__preset_mixed(const tsl__json *preset, tsl__string *marker);
/* Two texts of the preset find different things, and are the same, or one begins with the other.
 * Returns a message that names both. */
bool tsl__preset_alike(const tsl__json *preset, char *message, size_t size);
/* A text of a form, "" where it has none; an object of it, or NULL. `of` may be NULL for a text. */
tsl__string tsl__form_text(const tsl__json *of, const char *key);
const tsl__json *tsl__form_object(const tsl__json *of, const char *key);
/* A member that is one value or a list of them: how many there are, and one of them. `list` may be
 * NULL. */
uint32_t tsl__form_count(const tsl__json *list);
const tsl__json *tsl__form_one(const tsl__json *list, uint32_t i);
bool tsl__has_name(tsl__string text); /* is {name} in it? */
bool tsl__form_is_reasoning(const tsl__json *form);
/* presets.c, generated: NULL past the last. */
const char *tsl__tools_preset_text(size_t index);

#endif
