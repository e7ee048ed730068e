/* mend_plan.c - what a reader of answers of no format needs of a preset and a request.
 *
 * Problem   A preset gives whole texts, such as `<tool_call>\n{"name": "{name}", "arguments": `. A
 *           model may write any part of such a text differently. Nearly always the marker in front
 *           is there: <tool_call>.
 * Idea      The plan keeps the core of each text. The core lacks the white space around the text,
 *           and brackets of JSON, which are read as JSON. How a call goes on behind its core is one
 *           of four kinds (mend.h). A core that is made of tags alone also counts in parts.
 * Example   of qwen3-coder: starts <tool_call><function= and <function=, elements in <parameter>;
 *           markup </function></tool_call>, </function>, </tool_call>, <think>, </think>. Besides,
 *           JSON with a name behind <tool_call>.
 * Steps     Of `<tool_call>\n{"name": "{name}", "arguments": `: start_core cuts at the first brace
 *           and trims, which leaves <tool_call>. What follows in the preset is a brace and a name,
 *           so the form is one of JSON. Of the end `}\n</tool_call>` end_core drops the brace in
 *           front and the line break: </tool_call> is markup. The set of first bytes gets `<`: the
 *           reader looks at a place in the text only if its byte is in that set.
 * Parts     <tool_call><function= has a complete tag in front. Where a text is tags alone, each tag
 *           also counts by itself: models leave one of two out.
 * Once      A text that is there already is not added again, whoever names it.
 * Which     Starts of calls come from "calls" and "section". Ends, separators, and the texts of
 *           messages and of thinking are markup, with a sign of their own (mend.h). A text that
 *           begins with no bracket is a word that prose may hold, too: it counts only where a
 *           message begins.
 * Cost      Some microseconds for a preset; the schemas of the tools are copied.
 * Tested by tests/programs/test_lenient.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "compiler/tools/mend.h"

typedef struct builder {
  tsl__mend_plan *plan;
  const tsl__json *preset;
  const tsl_allocator *alloc;
  TSL__VEC(tsl__mend_form) forms;
  TSL__VEC(tsl__mend_text) texts;
  bool failed;
} builder;

/* ---- texts ----------------------------------------------------------------------------------- */

/* Without brackets and fences in front: what ends JSON. */
static tsl__string end_core(tsl__string s, bool json) {
  s = tsl__mend_trimmed(s);
  while (json && s.length && strchr("}])` \n\"", s.at[0])) s.at++, s.length--;
  return tsl__mend_trimmed(s);
}

static uint32_t find(tsl__string s, const char *what) {
  return tsl__string_find(s, tsl__string_of(what));
}
static tsl__string first_of(tsl__string s, uint32_t n) {
  return (tsl__string){s.at, n < s.length ? n : s.length};
}
static tsl__string from_on(tsl__string s, uint32_t at) {
  return at < s.length ? (tsl__string){s.at + at, s.length - at} : TSL__NO_TEXT;
}

/* In front of JSON: up to its first bracket or quote. */
static tsl__string start_core(tsl__string s) {
  uint32_t name = find(s, "{name}") == 0 ? 6 : 0, brace = find(from_on(s, name), "{");
  if (brace != UINT32_MAX) s = first_of(s, name + brace);
  s = tsl__mend_trimmed(s);
  if (s.length && s.at[s.length - 1] == '[') s.length--;
  return tsl__mend_trimmed(s);
}

static tsl__string copied(builder *b, tsl__string s) {
  char *copy = tsl__arena_copy(b->plan->arena, s.at, s.length);
  if (!copy) b->failed = true;
  return (tsl__string){copy ? copy : "", copy ? s.length : 0};
}

static tsl__string text_at(const tsl__json *list, uint32_t i) {
  return i < tsl__form_count(list) ? tsl__json_text(tsl__form_one(list, i)) : TSL__NO_TEXT;
}

/* ---- markup ---------------------------------------------------------------------------------- */

static void add_one(builder *b, tsl__string text, tsl__mend_sign sign, bool part) {
  for (size_t i = 0; i < b->texts.n; i++)
    if (tsl__string_equal(b->texts.at[i].text, text)) {
      b->texts.at[i].part &= part;
      return;
    }
  bool tag = text.length && strchr("<[]>", text.at[0]);
  tsl__mend_text fresh = {copied(b, text), sign, !tag, part};
  if (!text.length || b->failed) return;
  tsl__bytes_add(&b->plan->first, (uint8_t)text.at[0]);
  if (!tsl__vec_push(b->alloc, &b->texts, fresh)) b->failed = true;
}

/* The number of bytes of the tag at the beginning of a text; 0: there is none. */
static uint32_t tag_length(tsl__string s) {
  const char *end = s.length && s.at[0] == '<' ? memchr(s.at, '>', s.length) : NULL;
  return end ? (uint32_t)(end - s.at) + 1 : 0;
}

/* A text; also each of its tags where it has nothing but tags. */
static void add_text(builder *b, tsl__string text, tsl__mend_sign sign) {
  uint32_t tags = 0;
  tsl__string rest = text = tsl__mend_trimmed(text);
  add_one(b, text, sign, false);
  for (uint32_t n; (n = tag_length(rest)); tags++) rest = tsl__mend_trimmed(from_on(rest, n));
  if (rest.length || tags < 2) return;
  for (rest = text; rest.length; rest = tsl__mend_trimmed(from_on(rest, tag_length(rest))))
    add_one(b, first_of(rest, tag_length(rest)), sign, true);
}

static void add_list(builder *b, const tsl__json *list, tsl__mend_sign sign, bool json) {
  for (uint32_t i = 0; i < tsl__form_count(list); i++)
    add_text(b, json ? end_core(text_at(list, i), true) : text_at(list, i), sign);
}

static void add_messages(builder *b) {
  const tsl__json *forms = tsl__json_member(b->preset, "messages");
  if (!forms || forms->kind != TSL__JSON_ARRAY) return;
  b->plan->messages = true;
  for (uint32_t i = 0; i < forms->length; i++) {
    const tsl__json *form = &forms->items[i];
    add_list(b, tsl__json_member(form, "begin"),
             tsl__form_is_reasoning(form) ? TSL__SIGN_THINK : TSL__SIGN_TEXT, false);
    add_list(b, tsl__json_member(form, "end"), TSL__SIGN_TEXT, false);
  }
  add_list(b, tsl__json_member(b->preset, "message_separator"), TSL__SIGN_SEPARATOR, false);
}

static int longer_first(const void *a, const void *b) {
  const tsl__mend_text *x = a, *y = b;
  return (x->text.length < y->text.length) - (x->text.length > y->text.length);
}

static void add_texts(builder *b, bool json) {
  const tsl__json *section = tsl__form_object(b->preset, "section"),
                  *thinking = tsl__form_object(b->preset, "thinking"),
                  *text = tsl__json_member(b->preset, "text"),
                  *calls = tsl__json_member(b->preset, "calls");
  for (uint32_t i = 0; section && i < tsl__form_count(tsl__json_member(section, "begin")); i++)
    add_text(b, start_core(text_at(tsl__json_member(section, "begin"), i)), TSL__SIGN_SECTION);
  if (section) add_list(b, tsl__json_member(section, "end"), TSL__SIGN_SECTION_END, json);
  for (uint32_t i = 0; i < calls->length; i++)
    add_list(b, tsl__json_member(&calls->items[i], "end"), TSL__SIGN_CALL_END, json);
  b->plan->thinking = thinking != NULL;
  if (thinking) {
    add_list(b, tsl__json_member(thinking, "begin"), TSL__SIGN_THINK, false);
    add_list(b, tsl__json_member(thinking, "end"), TSL__SIGN_THINK_END, false);
    add_list(b, tsl__json_member(thinking, "after"), TSL__SIGN_SKIP, false);
  }
  for (uint32_t i = 0; text && text->kind >= TSL__JSON_ARRAY && i < tsl__form_count(text); i++) {
    add_list(b, tsl__json_member(tsl__form_one(text, i), "begin"), TSL__SIGN_TEXT, false);
    add_list(b, tsl__json_member(tsl__form_one(text, i), "end"), TSL__SIGN_TEXT, false);
  }
  add_messages(b);
  add_list(b, tsl__json_member(b->preset, "end"), TSL__SIGN_SKIP, false);
  if (b->texts.n) qsort(b->texts.at, b->texts.n, sizeof *b->texts.at, longer_first);
}

/* ---- forms ----------------------------------------------------------------------------------- */

static void add_form(builder *b, tsl__mend_form form, tsl__string start) {
  form.start = copied(b, tsl__mend_trimmed(start));
  if (!form.after.at) form.after = TSL__NO_TEXT;
  if (!form.then.at) form.then = TSL__NO_TEXT;
  if (!form.id_prefix.at) form.id_prefix = TSL__NO_TEXT;
  form.named = find(form.start, "{name}") == 0;
  if (form.start.length && !form.named) tsl__bytes_add(&b->plan->first, (uint8_t)form.start.at[0]);
  for (size_t i = 0; i < b->forms.n; i++) {
    const tsl__mend_form *f = &b->forms.at[i];
    if (f->kind == form.kind && f->style == form.style && tsl__string_equal(f->start, form.start) &&
        tsl__string_equal(f->after, form.after))
      return;
  }
  if (!tsl__vec_push(b->alloc, &b->forms, form)) b->failed = true;
}

/* JSON with a name, behind the section's begin or the call's. */
static void add_envelopes(builder *b, const tsl__json *form) {
  const tsl__json *section = tsl__form_object(b->preset, "section"), *begin;
  tsl__string start = start_core(tsl__form_text(form, "begin"));
  tsl__mend_form f = {.kind = TSL__MEND_ENVELOPE,
                      .ends = end_core(text_at(tsl__json_member(form, "end"), 0), true).length > 0};
  /* xLAM's begin is the name; Inkling's has a tag behind the name */
  if (find(start, "{name}") != UINT32_MAX && find(start, "<") == UINT32_MAX) start.length = 0;
  if (!start.length && section) {
    begin = tsl__json_member(section, "begin");
    f.ends = end_core(tsl__form_text(section, "end"), true).length > 0;
    for (uint32_t i = 0; i < tsl__form_count(begin); i++) {
      tsl__string core = start_core(text_at(begin, i));
      if (core.length)
        add_form(b, f, core);
      else
        b->plan->bare_envelope = true;
    }
    add_form(b, f, TSL__NO_TEXT);
    return;
  }
  if (!start.length) b->plan->bare_envelope = true;
  add_form(b, f, start);
}

/* The last tag of a start where others stand before it: they may be missing. */
static tsl__string last_tag(tsl__string start) {
  uint32_t i = start.length;
  while (i && start.at[i - 1] != '<') i--;
  bool closed = i && memchr(start.at + i, '>', start.length - i);
  return i > 1 && !closed ? from_on(start, i - 1) : TSL__NO_TEXT;
}

/* In front of the name, and what stands behind it. */
static void add_named(builder *b, const tsl__json *form, tsl__mend_form f) {
  tsl__string begin = tsl__form_text(form, "begin"),
              then = text_at(tsl__json_member(form, "then"), 0);
  uint32_t at = find(begin, "{name}");
  f.has_id = tsl__form_text(form, "id").length > 0;
  f.id_first = f.has_id && at == UINT32_MAX;
  f.id_prefix = copied(b, tsl__form_text(form, "id_prefix"));
  tsl__string start = tsl__mend_trimmed(first_of(begin, at)), after = from_on(begin, at + 6);
  if (f.id_first) {
    uint32_t name = find(then, "{name}");
    start = begin;
    f.then = copied(b, tsl__mend_trimmed(first_of(then, name)));
    after = from_on(then, name == UINT32_MAX ? then.length : name + 6);
  } else {
    f.then = copied(b, tsl__mend_trimmed(then));
  }
  uint32_t quote = find(begin, "=\"");
  if (f.kind == TSL__MEND_ELEMENTS && quote != UINT32_MAX) {
    while (quote && !tsl__mend_is_space(begin.at[quote - 1])) quote--;
    start = tsl__mend_trimmed(first_of(begin, quote));
    f.attributes = true;
  }
  uint32_t space = find(start, "functions."); /* of names, as gpt-oss has one */
  if (space != UINT32_MAX && space + 10 == start.length) start.length = space;
  f.after = copied(b, tsl__mend_trimmed(after));
  add_form(b, f, start);
  uint32_t tag = tag_length(start); /* <|tool_call>call: without its word */
  if (tag > 2 && tag < start.length && start.at[start.length - 1] == ':')
    f.cut = true, add_form(b, f, first_of(start, tag)), f.cut = false;
  if (f.kind == TSL__MEND_ELEMENTS && last_tag(start).length) add_form(b, f, last_tag(start));
}

/* The whole head of a call: does JSON hold its name? */
static bool in_json(const builder *b, const tsl__json *form) {
  const tsl__json *section = tsl__form_object(b->preset, "section");
  tsl__string parts[] = {section ? text_at(tsl__json_member(section, "begin"), 0) : TSL__NO_TEXT,
                         tsl__form_text(form, "begin")};
  for (int i = 0; i < 2; i++)
    if (find(parts[i], "{\"") != UINT32_MAX && find(parts[i], "call:") == UINT32_MAX) return true;
  return false;
}

static void add_call(builder *b, const tsl__json *form) {
  tsl__string style = tsl__form_text(form, "style");
  tsl__mend_form f = {.kind = TSL__MEND_JSON,
                      .ends = tsl__form_count(tsl__json_member(form, "end")) &&
                              text_at(tsl__json_member(form, "end"), 0).length};
  if (in_json(b, form)) {
    add_envelopes(b, form);
    return;
  }
  f.style = tsl__mend_style_of(style);
  if (f.style) f.kind = TSL__MEND_ELEMENTS;
  if (tsl__string_is(style, "gemma4")) f.quote = (tsl__string){"<|\"|>", 5};
  if (tsl__string_is(style, "functiongemma")) f.quote = (tsl__string){"<escape>", 8};
  if (tsl__string_is(style, "pythonic") || tsl__string_is(style, "pythonic_json")) {
    f.kind = TSL__MEND_PYTHON;
    f.ends = false;
    add_form(b, f, TSL__NO_TEXT);
    return;
  }
  add_named(b, form, f);
}

/* JSON with a name where the format has another way: behind the first tag of a section or a call.
 */
static void add_json_anyway(builder *b) {
  const tsl__json *section = tsl__form_object(b->preset, "section"),
                  *calls = tsl__json_member(b->preset, "calls");
  tsl__string parts[] = {section ? text_at(tsl__json_member(section, "begin"), 0) : TSL__NO_TEXT,
                         tsl__form_text(&calls->items[0], "begin")};
  for (int i = 0; i < 2; i++) {
    tsl__string s = tsl__mend_trimmed(parts[i]);
    uint32_t n = tag_length(s);
    if (s.length && s.at[0] == '[' && memchr(s.at, ']', s.length))
      n = (uint32_t)((const char *)memchr(s.at, ']', s.length) - s.at) + 1;
    if (n > 2) add_form(b, (tsl__mend_form){.kind = TSL__MEND_ENVELOPE}, first_of(s, n));
  }
}

/* The names of an envelope's members in the format: the last two in front of the arguments. */
static void find_keys(builder *b) {
  static const char *const names[] = {"\"name\"", "\"tool_name\""};
  const tsl__json *calls = tsl__json_member(b->preset, "calls"),
                  *section = tsl__form_object(b->preset, "section");
  tsl__string parts[] = {section ? text_at(tsl__json_member(section, "begin"), 0) : TSL__NO_TEXT,
                         tsl__form_text(&calls->items[0], "begin"),
                         text_at(tsl__json_member(&calls->items[0], "then"), 0)};
  b->plan->name_key = TSL__NO_TEXT;
  if (!in_json(b, &calls->items[0])) b->plan->name_key.at = NULL;
  for (int p = 0; p < 3; p++) {
    for (int i = 0; i < 2; i++)
      if (find(parts[p], names[i]) != UINT32_MAX)
        b->plan->name_key = (tsl__string){names[i] + 1, (uint32_t)strlen(names[i]) - 2};
    if (find(parts[p], "\"arguments\"") != UINT32_MAX)
      b->plan->arguments_key = (tsl__string){"arguments", 9};
    if (find(parts[p], "\"parameters\"") != UINT32_MAX)
      b->plan->arguments_key = (tsl__string){"parameters", 10};
  }
}

/* ---- tools ----------------------------------------------------------------------------------- */

static void add_tools(builder *b, const tsl__request *request) {
  tsl__mend_plan *p = b->plan;
  p->tools = tsl__arena_alloc(p->arena, (request->count + 1) * sizeof *p->tools);
  if (!p->tools) b->failed = true;
  for (uint32_t i = 0; !b->failed && i < request->count; i++) {
    const tsl__tool *tool = &request->tools[i];
    const tsl__json *parameters =
        tool->parameters ? tsl__json_copy(p->arena, tool->parameters) : NULL;
    if (tool->parameters && !parameters) b->failed = true;
    p->tools[p->tool_count++] = (tsl__mend_tool){copied(b, tool->name), parameters};
  }
  p->content = request->content != NULL;
}

static void free_arena(void *arena) { tsl__arena_free(arena); }

static void fill(builder *b, const tsl__mend_source *from) {
  tsl__mend_plan *p = b->plan;
  const tsl__json *calls = tsl__json_member(b->preset, "calls");
  bool json = in_json(b, &calls->items[0]) ||
              !tsl__mend_style_of(tsl__form_text(&calls->items[0], "style"));
  add_tools(b, from->request);
  add_texts(b, json);
  for (uint32_t i = 0; i < calls->length; i++) add_call(b, &calls->items[i]);
  add_json_anyway(b);
  find_keys(b);
  if (!from->thinking) p->thinking = false;
  if (tsl__bytes_has(&p->first, '<')) { /* escaped by HTML or Markdown */
    tsl__bytes_add(&p->first, '&');
    tsl__bytes_add(&p->first, '\\');
  }
  p->forms = tsl__arena_copy(p->arena, b->forms.at, b->forms.n * sizeof *b->forms.at);
  p->texts = tsl__arena_copy(p->arena, b->texts.at, b->texts.n * sizeof *b->texts.at);
  const tsl__json *section = tsl__form_object(b->preset, "section");
  tsl__string first = section ? text_at(tsl__json_member(section, "begin"), 0) : TSL__NO_TEXT;
  p->lists = section != NULL;
  for (uint32_t i = 0; i < calls->length; i++)
    p->ids |=
        tsl__json_member(&calls->items[i], "behind") || tsl__json_member(&calls->items[i], "id");
  p->has_section = start_core(first).length > 0;
  p->has_list =
      find(first, "[") != UINT32_MAX && find(first, "[") + 1 == tsl__mend_trimmed(first).length;
  for (size_t i = 0; i < b->forms.n; i++) p->python |= b->forms.at[i].kind == TSL__MEND_PYTHON;
  p->form_count = (uint32_t)b->forms.n;
  p->text_count = (uint32_t)b->texts.n;
  if (!p->forms || !p->texts) b->failed = true;
}

const tsl__mender *tsl__mend_plan_new(tsl__tags *t, tsl__exprs *x, const tsl__mend_source *from) {
  tsl__arena *arena = tsl__exprs_alloc(x, sizeof *arena);
  tsl__mend_plan *plan = tsl__exprs_alloc(x, sizeof *plan);
  tsl__mender *mender = tsl__exprs_alloc(x, sizeof *mender);
  bool made = arena && plan && mender;
  if (made) {
    tsl__arena_init(arena, tsl__exprs_allocator(x));
    made = tsl__exprs_own(x, arena, free_arena);
  }
  if (!made) return tsl__tags_fail(t, TSL_ERR_NO_MEMORY, NULL, "out of memory");
  *plan = (tsl__mend_plan){.arena = arena};
  builder b = {.plan = plan, .preset = from->preset, .alloc = arena->alloc};
  fill(&b, from);
  *mender = (tsl__mender){plan, b.failed ? NULL : tsl__mend_ends(plan),
                          b.failed ? NULL : tsl__mend_begins(plan), tsl__mend_read};
  b.failed |= !mender->ends || !mender->begins;
  tsl__vec_free(b.alloc, &b.forms);
  tsl__vec_free(b.alloc, &b.texts);
  return b.failed ? tsl__tags_fail(t, TSL_ERR_NO_MEMORY, NULL, "out of memory") : mender;
}
