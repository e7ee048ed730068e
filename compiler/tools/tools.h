/* tools.h - what a model may answer to a request with tools.
 *
 * Problem   Each family of models writes calls in its own way, and each API describes tools in its
 *           own way.
 * Idea      A preset (schemas/tools/NAME.json) says how a family writes thinking, one call and
 *           several; request.c finds tools, choice and response format in a request's JSON; tools.c
 *           puts both together as a tree of formats (compiler/tags/tags.h).
 * Preset    {"name", "title", "sources": [URL, ...],
 *            "thinking": {"begin", "end", "after", "prefilled"} or null   begin: one text or
 *            several; after: text between the end and the answer; prefilled: the prompt
 *                                                                          ends with `begin`
 *            "text": {"begin", "end"}                                      may stand around the
 *            text "exclude": [TEXT, ...]                                        never in free text
 *            "text_ahead": true: text stands in front of calls even where these are required
 *            "end": TEXT that may stand at the end of the answer
 *            "gaps": {"before", "between", "after"}: texts around calls that are no content
 *            "trigger": TEXT                                               of a call (without a
 *            section) "section": {"before", "begin", "separator", "end"} or null    around all
 *            calls; before: in front of it where no text is
 *            "separator": TEXT                                             between calls where
 *            nothing else may stand (tool_choice: required)
 *            "before": TEXT                                                instead of a separator:
 *            may stand before each call there "calls": [{"begin", "id", "id_prefix", "then",
 *            "style", "behind", "end"}]   ways to write one call, {name} being the tool's; id: a
 *            regex; then: one text
 *                                                                          or several between the
 *     name, or the id, and the arguments; behind: {"begin", "id", "end"}, an id that may stand
 *     behind these
 *            "messages": [{"as", "begin", "end": [...]}], "message_separator"  the answer is a list
 *            of messages (Harmony): these, and calls; begin: one text or several}
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
/* tools.c: the tree of formats. NULL on failure. */
const tsl__tag *tsl__tools_read(tsl__tags *t, const tsl_tools_options *options);
/* check.c: the member of a preset that is not as it must be, or NULL. */
const char *tsl__preset_wrong(const tsl__json *preset);
/* "thinking" or "text" where free text may hold one of its markers, which would be read as text;
 * else NULL. */
const char *tsl__preset_mixed(const tsl__json *preset, tsl__string *marker);
/* Two texts of the preset by which different things are found, and which are the same, or one
 * begins with the other: a message that names both. */
bool tsl__preset_alike(const tsl__json *preset, char *message, size_t size);
/* A text of a form, "" where it has none; an object of it, or NULL. `of` may be NULL for a text. */
tsl__string tsl__form_text(const tsl__json *of, const char *key);
const tsl__json *tsl__form_object(const tsl__json *of, const char *key);
bool tsl__has_name(tsl__string text); /* is {name} in it? */
bool tsl__form_is_reasoning(const tsl__json *form);
/* presets.c, generated: NULL past the last. */
const char *tsl__tools_preset_text(size_t index);

#endif
