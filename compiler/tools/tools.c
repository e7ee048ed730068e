/* tools.c - a preset and a request to a tree of formats. See tools.h.
 *
 * Problem   Families of models write calls in forty ways. A request says which tools there are,
 *           whether one must be called, and what the text must be. Each pair of them is another
 *           grammar.
 * Idea      A preset is data: texts around names, arguments, calls, sections and thinking. This
 *           file puts the request's tools into these texts, and builds the tree with the nodes of
 *           tags/tags.h:
 *             text layout      [thinking], then: free text with calls (auto); calls (required); or
 *                              free text (no tools)
 *             section          calls stand in it, one after the other; without one each call is
 *                              found by the trigger
 *             response format  the answer is that instead of free text; with tools: that, or calls
 *             messages layout  a list of messages, of which calls are some (Harmony)
 *           Between two calls stands the `separator` of the section, or of the preset
 *           (list_of_calls). Where free text stands there, `gaps.between` says which texts of it
 *           are no content.
 * Example   The preset hermes writes <tool_call>\n{"name": "{name}", "arguments": ARGUMENTS}\n
 *           </tool_call>, and the request has the tool f with the choice "auto". `one_call`
 *           replaces {name} and makes a tag: its begin is `<tool_call>\n{"name": "f", "arguments":
 *           `, its content the schema of f, its end `}\n</tool_call>`. text_with_calls puts the
 *           tag behind the trigger <tool_call> in free text. With the choice "required" the same
 *           tag stands alone, and no free text is before it.
 * Thinking  AUTO makes the block optional, ON demands it, OFF leaves it out. Where the prompt has
 *           begun the block already, its begin is the empty text.
 * Exclude   Free text and thinking leave out what the preset names in `exclude`: markup of the
 *           family that has no place there.
 * Ids       Some families write an id before the name, some behind the arguments. The first form
 *           has one tag around the choice of all names, since the id says nothing of which it will
 *           be.
 * Parallel  Several calls are a list with a separator, unless the request allows one, or forces
 *           one.
 * Failing   Functions that build return NULL after a failure, and so do those that get a NULL.
 * Cost      Linear in the tools, but for their schemas, which are compiled when the tree is
 *           lowered.
 * Tested by tests/programs/test_tools.py, tests/programs/test_families.py,
 *           tests/tags/test_tags_errors.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/tools/mend.h"
#include "compiler/tools/tools.h"

typedef struct build {
  tsl__tags *tags;
  const tsl__json *preset;
  const tsl__request *request;
  tsl_thinking thinking;
  uint32_t max_thinking; /* tokens; TSL__INF: any number */
  tsl__string *exclude;  /* of thinking */
  uint32_t exclude_count;
  /* of text beside calls: `exclude`, then what closes calls; then, for text in words of its own,
   * what begins them */
  tsl__string *apart;
  uint32_t apart_count, marked_count;
} build;

/* ---- pieces ---------------------------------------------------------------------------------- */

static tsl__tag *node(build *b, tsl__tag_kind kind, uint32_t items) {
  tsl__tag *n = tsl__tags_node(b->tags, kind, NULL);
  if (!n || !(n->items = tsl__tags_alloc(b->tags, (items + 1) * sizeof *n->items))) return NULL;
  n->item_count = items;
  return n;
}

static tsl__tag *of_two(build *b, tsl__tag_kind kind, tsl__tag *first, tsl__tag *second) {
  tsl__tag *n = node(b, kind, 2);
  if (!n || !first || !second) return NULL;
  n->items[0] = first;
  n->items[1] = second;
  return n;
}

static tsl__tag *constant(build *b, tsl__string text) {
  tsl__tag *n = node(b, TSL__TAG_CONST, 0);
  if (!n) return NULL;
  n->text = text;
  n->capture = TSL__CAPTURE_MARKUP;
  return n;
}

static tsl__tag *optional(build *b, tsl__tag *content) {
  tsl__tag *n = node(b, TSL__TAG_REPEAT, 1);
  if (!n || !content) return NULL;
  n->items[0] = content;
  n->max = 1;
  return n;
}

static tsl__tag *any_text(build *b) {
  tsl__tag *n = node(b, TSL__TAG_ANY, 0);
  if (!n) return NULL;
  n->excludes = b->exclude;
  n->exclude_count = b->exclude_count;
  return n;
}

/* Text where there may be calls as well. */
static tsl__tag *text_apart(build *b, bool marked) {
  tsl__tag *n = any_text(b);
  if (!n) return NULL;
  n->excludes = b->apart;
  n->exclude_count = marked ? b->marked_count : b->apart_count;
  return n;
}

/* What a model thinks: any text, of as many tokens as the request allows. */
static tsl__tag *thoughts(build *b) {
  tsl__tag *n = any_text(b);
  if (n) n->max_tokens = b->max_thinking;
  return n;
}

static tsl__tag *tag(build *b, tsl__capture_kind capture, tsl__string begin, tsl__tag *content,
                     tsl__string end) {
  tsl__tag *n = node(b, TSL__TAG_TAG, 1);
  if (!n || !content || !(n->ends = tsl__tags_alloc(b->tags, sizeof *n->ends))) return NULL;
  n->capture = capture;
  n->begin.text = begin;
  n->items[0] = content;
  n->ends[0].text = end;
  n->end_count = 1;
  return n;
}

/* `pattern` with every {name} replaced. */
static tsl__string named(build *b, tsl__string pattern, tsl__string name) {
  char *out =
      tsl__tags_alloc(b->tags, pattern.length + (pattern.length / 6 + 1) * (size_t)name.length + 1);
  uint32_t n = 0;
  if (!out) return pattern;
  for (uint32_t i = 0; i < pattern.length;) {
    if (pattern.length - i >= 6 && !memcmp(pattern.at + i, "{name}", 6)) {
      memcpy(out + n, name.at, name.length);
      n += name.length;
      i += 6;
    } else {
      out[n++] = pattern.at[i++];
    }
  }
  return (tsl__string){out, n};
}

/* One string, or an array of them; with room for one more. */
static bool read_list(build *b, const tsl__json *list, tsl__string **out, uint32_t *count) {
  *count = list && list->kind >= TSL__JSON_OBJECT ? 0 : tsl__form_count(list);
  if (!(*out = tsl__tags_alloc(b->tags, (*count + 1) * sizeof **out))) return false;
  for (uint32_t i = 0; i < *count; i++) (*out)[i] = tsl__json_text(tsl__form_one(list, i));
  return true;
}

/* What ends a tag: one text, or one of several. Without any the tag ends with its content. */
static bool set_ends(build *b, tsl__tag *n, const tsl__json *list) {
  tsl__string *ends;
  uint32_t count;
  if (!read_list(b, list, &ends, &count)) return false;
  if (count && !(n->ends = tsl__tags_alloc(b->tags, count * sizeof *n->ends))) return false;
  for (uint32_t i = 0; i < count; i++) n->ends[i].text = ends[i];
  if (count) n->end_count = count;
  return true;
}

/* One of these. */
static tsl__tag *any_of(build *b, tsl__tag **all, uint32_t count) {
  tsl__tag *n = count == 1 ? all[0] : node(b, TSL__TAG_OR, count);
  if (n && count > 1) memcpy(n->items, all, count * sizeof *all);
  return n;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The arguments of a call: its schema, written as JSON or in the preset's own style. */
static tsl__tag *arguments(build *b, const tsl__tool *tool, tsl__string style) {
  static const char any_object[] = "{\"type\":\"object\"}";
  tsl__tag *n = node(b, TSL__TAG_SCHEMA, 0);
  if (!n) return NULL;
  n->capture = TSL__CAPTURE_ARGUMENTS;
  n->schema = tool->parameters;
  n->source = tool->source;
  n->detached = tool->made_up;
  n->at = tool->at;
  n->tool = tool->name;
  n->loose = tool->loose;
  if (!n->schema) {
    tsl__json *schema;
    if ((b->tags->status = tsl__json_parse(&b->tags->arena, NULL, any_object, sizeof any_object - 1,
                                           8, &schema, b->tags->error)) != TSL_OK)
      return NULL;
    n->schema = schema;
    n->source = (tsl__string){any_object, sizeof any_object - 1};
    n->detached = true;
  }
  if (style.length == 4 && !memcmp(style.at, "json", 4)) return n;
  char *copy = tsl__tags_alloc(b->tags, style.length + 1);
  if (copy) n->style = memcpy(copy, style.at, style.length);
  return copy ? n : NULL;
}

/* One of the texts that a form gives, NULL if it gives none. */
static tsl__tag *one_text(build *b, const tsl__json *list, tsl__capture_kind capture) {
  tsl__string *texts;
  uint32_t count;
  tsl__tag **all = read_list(b, list, &texts, &count)
                       ? tsl__tags_alloc(b->tags, (count + 1) * sizeof *all)
                       : NULL;
  for (uint32_t i = 0; all && i < count; i++) {
    if (!(all[i] = constant(b, texts[i]))) return NULL;
    all[i]->capture = capture;
  }
  return all && count ? any_of(b, all, count) : NULL;
}

static tsl__tag *id_of(build *b, const tsl__json *form, tsl__string name) {
  tsl__tag *n = node(b, TSL__TAG_REGEX, 0);
  tsl__string prefix = named(b, tsl__form_text(form, "id_prefix"), name);
  if (!n) return NULL;
  n->text = tsl__form_text(form, "id");
  n->capture = TSL__CAPTURE_ID;
  n->name = prefix.at;
  n->name_length = prefix.length;
  return n;
}

static bool id_comes_first(const tsl__json *form) {
  return tsl__form_text(form, "id").length && !tsl__has_name(tsl__form_text(form, "begin"));
}

/* An id that may stand behind the arguments, NULL where the form has none there. */
static tsl__tag *id_behind(build *b, const tsl__json *form) {
  const tsl__json *behind = tsl__form_object(form, "behind");
  if (!behind) return NULL;
  tsl__tag *id = of_two(b, TSL__TAG_SEQUENCE, id_of(b, behind, TSL__NO_TEXT),
                        constant(b, tsl__form_text(behind, "end")));
  return optional(b,
                  of_two(b, TSL__TAG_SEQUENCE, constant(b, tsl__form_text(behind, "begin")), id));
}

/* What stands around the arguments of every call of a form. */
typedef struct around {
  tsl__tag *then, *behind; /* NULL: nothing */
} around;

/* A call from where its name is known on. */
static tsl__tag *one_call(build *b, const tsl__json *form, around a, const tsl__tool *tool) {
  bool id_first = id_comes_first(form);
  tsl__tag *content = arguments(b, tool, tsl__form_text(form, "style"));
  if (a.behind) content = of_two(b, TSL__TAG_SEQUENCE, content, a.behind);
  if (a.then) content = of_two(b, TSL__TAG_SEQUENCE, a.then, content);
  if (tsl__form_text(form, "id").length && !id_first)
    content = of_two(b, TSL__TAG_SEQUENCE, id_of(b, form, tool->name), content);
  tsl__tag *n = tag(b, TSL__CAPTURE_CALL,
                    named(b, tsl__form_text(form, id_first ? "then" : "begin"), tool->name),
                    content, TSL__NO_TEXT);
  if (!n || !set_ends(b, n, tsl__json_member(form, "end"))) return NULL;
  n->name = tool->name.at, n->name_length = tool->name.length;
  return n;
}

/* A list of tags, one of which, or several with a separator. */
static tsl__tag *list_of(build *b, tsl__tag **tags, uint32_t n, tsl__string separator,
                         bool several) {
  tsl__tag *list = node(b, TSL__TAG_SEPARATED, n);
  if (!list) return NULL;
  memcpy(list->items, tags, n * sizeof *tags);
  list->text = separator;
  list->at_least_one = true;
  list->once = !several;
  return list;
}

/* All ways to write all calls: for a form whose id comes before the name, one tag that holds the
 * choice of names. */
static tsl__tag **all_calls(build *b, uint32_t *count) {
  const tsl__json *forms = tsl__json_member(b->preset, "calls");
  const tsl__request *r = b->request;
  tsl__tag **all = tsl__tags_alloc(b->tags, (forms->length * r->count + 1) * sizeof *all);
  *count = 0;
  for (uint32_t f = 0; all && f < forms->length; f++) {
    const tsl__json *form = &forms->items[f];
    const around a = {.then = id_comes_first(form) ? NULL
                                                   : one_text(b, tsl__json_member(form, "then"),
                                                              TSL__CAPTURE_MARKUP),
                      .behind = id_behind(b, form)};
    uint32_t from = *count;
    for (uint32_t i = 0; i < r->count; i++)
      if (!(all[(*count)++] = one_call(b, form, a, &r->tools[i]))) return NULL;
    if (!id_comes_first(form)) continue;
    tsl__string none = {"", 0};
    tsl__tag *names = list_of(b, all + from, r->count, none, false);
    tsl__tag *whole = tag(b, TSL__CAPTURE_MARKUP, tsl__form_text(form, "begin"),
                          of_two(b, TSL__TAG_SEQUENCE, id_of(b, form, none), names), none);
    if (!names || !whole) return NULL;
    all[from] = whole;
    *count = from + 1;
  }
  return all;
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool several_calls(const build *b) { return b->request->parallel && !b->request->forced; }

/* Calls with the separator between them, as many as the request allows. */
static tsl__tag *list_of_calls(build *b, tsl__string separator) {
  uint32_t count;
  tsl__tag **calls = all_calls(b, &count);
  return calls ? list_of(b, calls, count, separator, several_calls(b)) : NULL;
}

/* A call, or several, each with that text before it or without. */
static tsl__tag *calls_after(build *b, tsl__string before) {
  uint32_t count;
  tsl__tag **calls = all_calls(b, &count), *n = calls ? node(b, TSL__TAG_REPEAT, 1) : NULL;
  if (!n) return NULL;
  n->items[0] = of_two(b, TSL__TAG_SEQUENCE, optional(b, constant(b, before)),
                       list_of(b, calls, count, TSL__NO_TEXT, false));
  n->min = 1;
  n->max = several_calls(b) ? TSL__INF : 1;
  return n->items[0] ? n : NULL;
}

/* The section with the calls in it, in each way in which it may begin. */
static tsl__tag **sections(build *b, const tsl__json *section, tsl__string **begins,
                           uint32_t *count) {
  tsl__tag *list = list_of_calls(b, tsl__form_text(section, "separator")), **all;
  if (!list || !read_list(b, tsl__json_member(section, "begin"), begins, count) ||
      !(all = tsl__tags_alloc(b->tags, (*count + 1) * sizeof *all)))
    return NULL;
  for (uint32_t i = 0; i < *count; i++)
    if (!(all[i] = tag(b, TSL__CAPTURE_MARKUP, (*begins)[i], list, tsl__form_text(section, "end"))))
      return NULL;
  return all;
}

/* Calls and nothing else. */
static tsl__tag *only_calls(build *b) {
  const tsl__json *section = tsl__form_object(b->preset, "section");
  tsl__string *begins;
  uint32_t count;
  if (!section && tsl__form_text(b->preset, "before").length)
    return calls_after(b, tsl__form_text(b->preset, "before"));
  if (!section) return list_of_calls(b, tsl__form_text(b->preset, "separator"));
  tsl__tag **all = sections(b, section, &begins, &count);
  return all ? any_of(b, all, count) : NULL;
}

/* Free text, and calls in it. */
static tsl__tag *text_with_calls(build *b) {
  const tsl__json *section = tsl__form_object(b->preset, "section");
  tsl__string *triggers;
  uint32_t count, trigger_count = 1;
  if (!section && !read_list(b, tsl__json_member(b->preset, "trigger"), &triggers, &trigger_count))
    return NULL;
  tsl__tag **all = section ? sections(b, section, &triggers, &count) : all_calls(b, &count),
           *n = all ? node(b, TSL__TAG_TRIGGERED, count) : NULL;
  if (!n) return NULL;
  memcpy(n->items, all, count * sizeof *all);
  n->triggers = triggers;
  n->trigger_count = section ? count : trigger_count;
  n->excludes = b->apart;
  n->exclude_count = b->apart_count;
  n->once = section || !b->request->parallel;
  return n;
}

/* Calls with what may stand around them where no free text is. */
static tsl__tag *between_gaps(build *b, tsl__tag *calls) {
  const tsl__json *gaps = tsl__form_object(b->preset, "gaps");
  tsl__tag *before = gaps ? one_text(b, tsl__json_member(gaps, "before"), TSL__CAPTURE_NONE) : NULL,
           *after = gaps ? one_text(b, tsl__json_member(gaps, "after"), TSL__CAPTURE_NONE) : NULL;
  if (before) calls = of_two(b, TSL__TAG_SEQUENCE, optional(b, before), calls);
  return after ? of_two(b, TSL__TAG_SEQUENCE, calls, optional(b, after)) : calls;
}

/* Text between the words that the model puts around it: each way in which it may begin has its own
 * end. Then calls, if there may be some. */
static tsl__tag *marked_text(build *b, const tsl__json *forms, tsl__tag *content, tsl__tag *calls) {
  uint32_t count = tsl__form_count(forms);
  tsl__tag **all = tsl__tags_alloc(b->tags, count * sizeof *all);
  for (uint32_t i = 0; all && i < count; i++) {
    const tsl__json *form = tsl__form_one(forms, i);
    if (!(all[i] = tag(b, TSL__CAPTURE_TEXT, tsl__form_text(form, "begin"), content,
                       tsl__form_text(form, "end"))))
      return NULL;
  }
  tsl__tag *text = all ? any_of(b, all, count) : NULL;
  if (calls) calls = between_gaps(b, calls);
  return calls ? of_two(b, TSL__TAG_SEQUENCE, text, optional(b, calls)) : text;
}

/* Text in those words, or without them. */
static tsl__tag *said(build *b, tsl__tag *content, tsl__tag *calls, tsl__tag *bare) {
  const tsl__json *forms = tsl__json_member(b->preset, "text");
  return forms && forms->kind > TSL__JSON_TRUE
             ? of_two(b, TSL__TAG_OR, marked_text(b, forms, content, calls), bare)
             : bare;
}

static tsl__tag *requested_format(build *b) {
  tsl__tag *content = (tsl__tag *)(uintptr_t)b->request->content;
  return content ? content : any_text(b);
}

/* Calls where nothing stands before them. */
static tsl__tag *calls_alone(build *b) {
  const tsl__json *section = tsl__form_object(b->preset, "section");
  tsl__string before = section ? tsl__form_text(section, "before") : TSL__NO_TEXT;
  tsl__tag *calls = only_calls(b);
  return before.length ? of_two(b, TSL__TAG_SEQUENCE, constant(b, before), calls) : calls;
}

/* Calls that must be there, behind text in its words where the model always writes that first. */
static tsl__tag *required_calls(build *b) {
  const tsl__json *forms = tsl__json_member(b->preset, "text"),
                  *ahead = tsl__json_member(b->preset, "text_ahead");
  tsl__tag *calls = calls_alone(b);
  if (!ahead || ahead->kind != TSL__JSON_TRUE || !forms) return calls;
  return of_two(b, TSL__TAG_SEQUENCE, optional(b, marked_text(b, forms, text_apart(b, true), NULL)),
                calls);
}

/* All of an answer, by what the request's tool_choice asks for. */
static tsl__tag *answer(build *b) {
  bool content = b->request->content != NULL;
  if (b->request->count && b->request->choice == TSL__CHOICE_REQUIRED) return required_calls(b);
  if (b->request->count && !content)
    return said(b, text_apart(b, true), calls_alone(b), text_with_calls(b));
  tsl__tag *text = said(b, requested_format(b), NULL, requested_format(b));
  return b->request->count ? of_two(b, TSL__TAG_OR, text, calls_alone(b)) : text;
}

/* A block of thinking, in each way in which it may begin; inside, where the prompt has begun it, or
 * may have. */
static tsl__tag *thinking_block(build *b, const tsl__json *form) {
  const tsl__json *prefilled = tsl__json_member(form, "prefilled");
  bool maybe = tsl__json_says(prefilled, "maybe"),
       inside = b->thinking == TSL_THINKING_ON && prefilled &&
                (maybe || prefilled->kind == TSL__JSON_TRUE);
  tsl__string *begins;
  uint32_t count;
  if (!read_list(b, tsl__json_member(form, "begin"), &begins, &count)) return NULL;
  if (inside && !maybe) count = 0;
  if (inside || !count) begins[count++] = TSL__NO_TEXT;
  tsl__tag **all = tsl__tags_alloc(b->tags, count * sizeof *all);
  const tsl__string none = {"", 0};
  for (uint32_t i = 0; all && i < count; i++)
    if (!(all[i] = tag(b, TSL__CAPTURE_REASONING, begins[i], thoughts(b), none)) ||
        !set_ends(b, all[i], tsl__json_member(form, "end")))
      return NULL;
  return all ? any_of(b, all, count) : NULL;
}

static tsl__tag *with_thinking(build *b, tsl__tag *rest) {
  const tsl__json *form = tsl__form_object(b->preset, "thinking");
  if (!form || b->thinking == TSL_THINKING_OFF) return rest;
  tsl__string skip = tsl__form_text(form, "skip");
  tsl__tag *block = thinking_block(b, form),
           *after = one_text(b, tsl__json_member(form, "after"), TSL__CAPTURE_NONE);
  if (after && block) block = of_two(b, TSL__TAG_SEQUENCE, block, after);
  if (skip.length && b->thinking == TSL_THINKING_AUTO)
    block = of_two(b, TSL__TAG_OR, block, constant(b, skip));
  return of_two(b, TSL__TAG_SEQUENCE, b->thinking == TSL_THINKING_AUTO ? optional(b, block) : block,
                rest);
}

/* ---- messages -------------------------------------------------------------------------------- */

static tsl__tag *message(build *b, const tsl__json *form, tsl__string begin, tsl__tag *content) {
  tsl__tag *n = tag(b, tsl__form_is_reasoning(form) ? TSL__CAPTURE_REASONING : TSL__CAPTURE_TEXT,
                    begin, content, TSL__NO_TEXT);
  return n && set_ends(b, n, tsl__json_member(form, "end")) ? n : NULL;
}

/* A kind of message, in each way in which it may begin, behind those that are there. */
static bool add_messages(build *b, const tsl__json *form, tsl__tag **all, uint32_t *count) {
  tsl__tag *content = tsl__form_is_reasoning(form) ? thoughts(b) : requested_format(b);
  tsl__string *begins;
  uint32_t n;
  if (!read_list(b, tsl__json_member(form, "begin"), &begins, &n)) return false;
  for (uint32_t i = 0; i < n; i++)
    if (!(all[(*count)++] = message(b, form, begins[i], content))) return false;
  return true;
}

static uint32_t ways_to_begin(const tsl__json *form) {
  return tsl__form_count(tsl__json_member(form, "begin"));
}

/* One message, or several, of these kinds; NULL if there is none. */
static tsl__tag *messages_of(build *b, bool reasoning, bool text, bool several) {
  const tsl__json *forms = tsl__json_member(b->preset, "messages");
  uint32_t count = 0, ways = 1;
  for (uint32_t i = 0; i < forms->length; i++) ways += ways_to_begin(&forms->items[i]);
  tsl__tag **all = tsl__tags_alloc(b->tags, ways * sizeof *all);
  for (uint32_t i = 0; all && i < forms->length; i++)
    if ((tsl__form_is_reasoning(&forms->items[i]) ? reasoning : text) &&
        !add_messages(b, &forms->items[i], all, &count))
      return NULL;
  return all && count
             ? list_of(b, all, count, tsl__form_text(b->preset, "message_separator"), several)
             : NULL;
}

/* What was requested instead of free text: in the last of the messages that are text. */
static tsl__tag *requested_message(build *b) {
  const tsl__json *forms = tsl__json_member(b->preset, "messages");
  uint32_t i = forms->length, count = 0;
  while (tsl__form_is_reasoning(&forms->items[i - 1])) i--; /* are_messages: there is one */
  tsl__tag **all = tsl__tags_alloc(b->tags, ways_to_begin(&forms->items[i - 1]) * sizeof *all);
  return all && add_messages(b, &forms->items[i - 1], all, &count) ? any_of(b, all, count) : NULL;
}

/* Messages, of which thinking and text may be left out, and calls may be demanded; or thinking, and
 * then what was requested, or calls. */
static tsl__tag *messages(build *b) {
  bool required = b->request->count && b->request->choice == TSL__CHOICE_REQUIRED,
       content = !required && b->request->content, on = b->thinking == TSL_THINKING_ON;
  tsl__string separator = tsl__form_text(b->preset, "message_separator");
  tsl__tag *said = messages_of(b, b->thinking != TSL_THINKING_OFF, !required && !content, true),
           *end = b->request->count ? list_of_calls(b, separator) : NULL,
           *thought = on ? messages_of(b, true, false, false) : NULL;
  if (content) end = end ? of_two(b, TSL__TAG_OR, requested_message(b), end) : requested_message(b);
  tsl__tag *all = end ? end : said;
  if (end && said)
    all = of_two(b, TSL__TAG_SEQUENCE,
                 optional(b, of_two(b, TSL__TAG_SEQUENCE, said, constant(b, separator))), end);
  if (end && said && !required && !content) all = of_two(b, TSL__TAG_OR, all, said);
  return thought ? of_two(b, TSL__TAG_SEQUENCE,
                          of_two(b, TSL__TAG_SEQUENCE, thought, constant(b, separator)), all)
                 : all;
}

/* ---- presets --------------------------------------------------------------------------------- */

/* The texts of a member, but for empty ones: they say that nothing may stand there. */
static bool read_gap(build *b, const tsl__json *of, const char *key, tsl__texts *out) {
  tsl__string *all;
  uint32_t count;
  if (!read_list(b, tsl__json_member(of, key), &all, &count)) return false;
  *out = (tsl__texts){all, 0};
  for (uint32_t i = 0; i < count; i++)
    if (all[i].length) all[out->n++] = all[i];
  return true;
}

/* What stands around calls and thinking and is no content (compiler/tags/gaps.c). */
static bool read_gaps(build *b) {
  const tsl__json *gaps = tsl__form_object(b->preset, "gaps"),
                  *form = tsl__form_object(b->preset, "thinking");
  tsl__gaps *to = &b->tags->gaps;
  *to = (tsl__gaps){0};
  return read_gap(b, form, "after", &to->thinking) && read_gap(b, gaps, "before", &to->before) &&
         read_gap(b, gaps, "between", &to->between) && read_gap(b, gaps, "after", &to->after);
}

/* For parsers that mend. */
static const struct tsl__mender *make_mender(tsl__tags *t, tsl__exprs *x, const void *from) {
  return tsl__mend_plan_new(t, x, from);
}

static bool ask_for_mender(build *b) {
  tsl__mend_source *from = tsl__tags_alloc(b->tags, sizeof *from);
  tsl__request *request = tsl__tags_alloc(b->tags, sizeof *request);
  if (!from || !request) return false;
  *request = *b->request;
  *from = (tsl__mend_source){b->preset, request, b->thinking != TSL_THINKING_OFF};
  b->tags->mender = make_mender;
  b->tags->mender_from = from;
  return true;
}

/* ---- what text beside calls never holds ------------------------------------------------------ */

/* Its last tag, such as </tool_call>; "" where it ends otherwise. */
static tsl__string last_tag(tsl__string end) {
  uint32_t at = end.length;
  while (at && end.at[at - 1] != '<') at--;
  return at && end.length - at >= 3 && end.at[end.length - 1] == '>'
             ? (tsl__string){end.at + at - 1, end.length - at + 1}
             : TSL__NO_TEXT;
}

/* Keep a closing tag out of text, unless that is done, or a begin has it. */
static void keep_out(build *b, tsl__string tag, const tsl__string *begins, uint32_t n) {
  bool needed = tag.length != 0;
  for (uint32_t i = 0; i < b->apart_count && needed; i++)
    needed = !tsl__string_has(tag, b->apart[i]);
  for (uint32_t i = 0; i < n && needed; i++)
    needed = !tsl__string_has(begins[i], tag) && !tsl__string_has(tag, begins[i]);
  if (needed) b->apart[b->apart_count++] = tag;
}

static bool read_apart(build *b) {
  const tsl__json *section = tsl__form_object(b->preset, "section"),
                  *calls = tsl__json_member(b->preset, "calls");
  tsl__string *begins, *ends;
  uint32_t n, count, room = b->exclude_count + 1;
  if (!read_list(
          b, section ? tsl__json_member(section, "begin") : tsl__json_member(b->preset, "trigger"),
          &begins, &n))
    return false;
  for (uint32_t i = 0; i < calls->length; i++) {
    room += tsl__form_count(tsl__json_member(&calls->items[i], "end"));
  }
  if (!(b->apart = tsl__tags_alloc(b->tags, (room + n) * sizeof *b->apart))) return false;
  for (uint32_t i = 0; i < b->exclude_count; i++) b->apart[i] = b->exclude[i];
  b->apart_count = b->exclude_count;
  if (section) keep_out(b, last_tag(tsl__form_text(section, "end")), begins, n);
  for (uint32_t i = 0; i < calls->length; i++) {
    if (!read_list(b, tsl__json_member(&calls->items[i], "end"), &ends, &count)) return false;
    for (uint32_t k = 0; k < count; k++) keep_out(b, last_tag(ends[k]), begins, n);
  }
  b->marked_count = b->apart_count;
  for (uint32_t i = 0; i < n; i++)
    if (begins[i].length) b->apart[b->marked_count++] = begins[i];
  return true;
}

/* The preset of that name, or a user's own, checked. NULL on failure. */
static const tsl__json *read_preset(tsl__tags *t, const char *name) {
  const char *text = name[0] == '{' ? name : tsl__preset_named(name);
  char message[320];
  tsl__json *preset;
  tsl__string marker;
  if (!text) {
    tsl__preset_near(name, message, sizeof message);
    return tsl__tags_fail(t, TSL_ERR_ARGUMENT, NULL, "%s", message);
  }
  t->status = tsl__json_parse(&t->arena, NULL, text, strlen(text), 64, &preset, t->error);
  if (t->status != TSL_OK) return NULL;
  const char *wrong = tsl__preset_wrong(preset);
  if (wrong)
    return tsl__tags_fail(
        t, TSL_ERR_SCHEMA, NULL,
        "the preset's \"%s\" is missing or malformed: docs/tools.md says what it needs", wrong);
  if (tsl__preset_alike(preset, message, sizeof message))
    return tsl__tags_fail(t, TSL_ERR_SCHEMA, NULL, "%s", message);
  if ((wrong = tsl__preset_mixed(preset, &marker)))
    return tsl__tags_fail(
        t, TSL_ERR_SCHEMA, NULL,
        "the preset cannot distinguish \"%.*s\" of its \"%s\" from text: name it, or a "
        "part of it, in \"exclude\"",
        tsl__shown(marker.at, marker.length, 60), marker.at, wrong);
  return preset;
}

const tsl__tag *tsl__tools_read(tsl__tags *t, const tsl_tools_options *options) {
  tsl__request request;
  build b = {.tags = t,
             .request = &request,
             .thinking = options->thinking,
             .max_thinking =
                 options->max_thinking_tokens ? options->max_thinking_tokens : TSL__INF};
  if ((uint32_t)options->thinking > TSL_THINKING_OFF)
    return tsl__tags_fail(t, TSL_ERR_ARGUMENT, NULL, "an option is out of its range: thinking");
  if (!(b.preset = read_preset(t, options->preset)) || !tsl__tools_request(t, options, &request))
    return NULL;
  if (request.no_thinking && b.thinking == TSL_THINKING_AUTO) b.thinking = TSL_THINKING_OFF;
  if (request.max_thinking && !options->max_thinking_tokens) b.max_thinking = request.max_thinking;
  if (!read_list(&b, tsl__json_member(b.preset, "exclude"), &b.exclude, &b.exclude_count) ||
      !read_apart(&b) || !read_gaps(&b) || (options->lenient && !ask_for_mender(&b)))
    return NULL;
  tsl__tag *root =
      tsl__json_member(b.preset, "messages") ? messages(&b) : with_thinking(&b, answer(&b));
  tsl__string end = tsl__form_text(b.preset, "end");
  if (end.length) root = of_two(&b, TSL__TAG_SEQUENCE, root, optional(&b, constant(&b, end)));
  return t->status == TSL_OK ? root : NULL;
}

bool tsl_tools_preset(size_t index, const char **name, const char **json) {
  const char *text = tsl__tools_preset_text(index);
  if (!text) return false;
  *name = text;
  *json = text + strlen(text) + 1; /* the name, NUL, the JSON */
  return true;
}
