/* mend_bare.c - calls without the markup of their format, or with that of another. See mend.h.
 *
 * Problem   The marker in front is a token that some servers strip. Models also fall back on what
 *           they saw elsewhere: <invoke name="f">, call:f{...}, functions.f:0 {...}, and the lines
 *           "Action: f" and "Action Input: {...}" of ReAct.
 * Idea      None of these is prose if a tool of the request has the name and arguments stand
 *           behind it. So the name is looked for first, and only then the arguments.
 * Where     At the beginning of a line, or behind a tag or a fence. Only where the answer has no
 *           call in its own format.
 * Parted    A call in two parts, each with a name, is a call even within prose:
 *             Action: f                     <name>f</name>
 *             Action Input: {"n": 1}        <arguments>{"n": 1}</arguments>
 *           The names of the parts may be others. If the second one says "input", "argument" or
 *           "parameter", what stands behind it need not be JSON.
 * Example   `call:get_weather{city:"Paris"}`: get_weather {"city": "Paris"}
 * Prose     "Tool: get_weather" and "Reason: because ..." are two lines with names, too. There is
 *           no JSON in the second line, and its name says nothing of arguments: they are text. So
 *           is <get_weather> where neither arguments nor a closing tag follow.
 * Cost      Linear in the names of the tools for each line.
 * Tested by tests/programs/test_lenient.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/tools/mend.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define LABEL_MAX 32u /* bytes of the name of a part */
#define JOINT_MAX 96u /* bytes between a name and its arguments */

static bool is_letter(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

/* ---- elements -------------------------------------------------------------------------------- */

/* f and its elements, without what stands in front of the name. */
static uint32_t read_bare_elements(tsl__mend *m, uint32_t at) {
  tsl__string name;
  uint32_t behind = tsl__mend_known(m, at, &name);
  for (uint32_t i = 0; i < m->plan->form_count && behind; i++) {
    const tsl__mend_form *f = &m->plan->forms[i];
    if (f->kind != TSL__MEND_ELEMENTS || f->attributes || !f->style || !*f->style->open) continue;
    m->notes.n = 0;
    if (tsl__mend_word(m, tsl__mend_space(m, behind), f->style->open))
      return tsl__mend_styled(m, f, at);
  }
  return 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Do only digits, colons, brackets, tags and white space stand between a name and its JSON? */
static bool is_joint(const tsl__mend *m, uint32_t from) {
  uint32_t at = from;
  for (; at < m->length && at - from < JOINT_MAX && m->text[at] != '{'; at++) {
    char c = m->text[at], close = c == '<' ? '>' : c == '[' ? ']' : 0;
    if (close) {
      while (at < m->length && at - from < JOINT_MAX && m->text[at] != close) at++;
    } else if (!tsl__mend_is_space(c) && c != ':' && c != '(' && !(c >= '0' && c <= '9')) {
      return false;
    }
  }
  return tsl__mend_byte(m, at) == '{';
}

/* call:f{...}, functions.f:0 {...}, f[ARGS]{...}: what a form has behind its first tag. */
static uint32_t read_bare_named(tsl__mend *m, uint32_t at) {
  tsl__mend_form form = {.kind = TSL__MEND_JSON};
  tsl__string name;
  uint32_t called = tsl__mend_word(m, at, "call:"), from = called ? tsl__mend_space(m, called) : at,
           behind = tsl__mend_known(m, from, &name);
  if (!behind || !is_joint(m, behind)) return 0;
  for (uint32_t i = 0; i < m->plan->form_count; i++)
    if (m->plan->forms[i].kind == TSL__MEND_JSON && !m->plan->forms[i].id_first) {
      form = m->plan->forms[i];
      break;
    }
  form.start = TSL__NO_TEXT;
  form.ends = false;
  m->notes.n = 0;
  return tsl__mend_form_at(m, &form, from);
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Behind the name of a part and its colon: `Action:`, `**Action Input:**`; 0: there is none.
 * `sign`: what may stand in place of the colon. */
static uint32_t label(const tsl__mend *m, uint32_t at, char sign, tsl__string *out) {
  uint32_t i = at;
  bool word = false;
  while (i < m->length && i - at < LABEL_MAX &&
         (tsl__mend_is_name_byte(m->text[i]) || m->text[i] == ' ' || m->text[i] == '*'))
    word |= is_letter(m->text[i++]);
  *out = (tsl__string){m->text + at, i - at};
  while (sign == '=' && out->length && out->at[out->length - 1] == ' ') out->length--;
  if (!word || (tsl__mend_byte(m, i) != ':' && tsl__mend_byte(m, i) != sign)) return 0;
  for (i++; tsl__mend_byte(m, i) == '*'; i++) continue;
  return tsl__mend_blanks(m, i);
}

/* Does the name of a part say that arguments follow? */
static bool says_arguments(tsl__string name) {
  static const char *const words[] = {"input", "arg", "param"};
  for (size_t w = 0; w < COUNT(words); w++)
    for (uint32_t i = 0, n = (uint32_t)strlen(words[w]); i + n <= name.length; i++) {
      uint32_t k = 0;
      while (k < n && (name.at[i + k] | 32) == words[w][k]) k++;
      if (k == n) return true;
    }
  return false;
}

/* The rest of a line as a string, or nothing; the byte behind it. */
static uint32_t read_line(tsl__mend *m, uint32_t at, tsl__json *out) {
  uint32_t end = at, to;
  while (end < m->length && m->text[end] != '\n' && !tsl__mend_markup(m, end, &to)) end++;
  to = end;
  while (end > at && tsl__mend_is_space(m->text[end - 1])) end--;
  *out = (tsl__json){.kind = TSL__JSON_STRING, .text = m->text + at, .length = end - at};
  if (end == at) *out = (tsl__json){.kind = TSL__JSON_OBJECT};
  return to;
}

/* The label of a line of YAML, which may be an item of a list. */
static uint32_t property_label(const tsl__mend *m, uint32_t *at, tsl__string *key) {
  *at = tsl__mend_space(m, *at);
  if (tsl__mend_byte(m, *at) == '-' && tsl__mend_byte(m, *at + 1) == ' ')
    *at = tsl__mend_blanks(m, *at + 1);
  return label(m, *at, '=', key);
}

tsl__json *tsl__mend_properties(tsl__mend *m, const tsl__mend_tool *tool, uint32_t at,
                                uint32_t *to) {
  const tsl__json *schema = tool ? tool->parameters : NULL, *of;
  tsl__mend_values all = {0};
  tsl__string key;
  uint32_t value;
  while (schema && m->status == TSL_OK && (value = property_label(m, &at, &key)) &&
         (of = tsl__mend_property(schema, schema, key))) {
    tsl__json text, one = {.key = key.at, .key_length = key.length, .offset = at};
    at = *to = read_line(m, value, &text);
    tsl__mend_bare_value(m, schema, of, (tsl__string){text.text ? text.text : "", text.length},
                         value, &one);
    if (!tsl__vec_push(m->alloc, &all, one)) m->status = TSL_ERR_NO_MEMORY;
  }
  tsl__json *out = all.n ? tsl__mend_new_object(m) : NULL;
  if (!out) return tsl__vec_free(m->alloc, &all), NULL;
  return tsl__mend_collect(m, &all, TSL__JSON_OBJECT, out);
}

/* A name and, behind `at`, its arguments: JSON, or the rest of the line if `any`, or lines. */
static uint32_t read_parts(tsl__mend *m, tsl__string name, uint32_t from, uint32_t at, bool any) {
  const tsl__mend_tool *tool;
  tsl__json line;
  uint32_t to = 0, fence = tsl__mend_word(m, at, "```json");
  if (fence) at = tsl__mend_space(m, fence);
  bool json = tsl__mend_byte(m, at) == '{' || tsl__mend_byte(m, at) == '[';
  if (!json && !any) return 0;
  m->notes.n = 0;
  tsl__mend_note(m, TSL__REPAIR_STYLE, from);
  const tsl__json *value =
      json ? tsl__mend_read_json(m, at, TSL__NO_TEXT, tsl__mend_json_value, &to) : &line;
  name = tsl__mend_known_name(m, name, from, &tool);
  if (!json) to = read_line(m, at, &line);
  tsl__json *lines = !json && !line.length ? tsl__mend_properties(m, tool, to, &to) : NULL;
  if (lines) value = lines;
  if (!value || m->status != TSL_OK) return 0;
  if (fence) fence = tsl__mend_word(m, tsl__mend_space(m, to), "```");
  tsl__mend_add(m, name, TSL__NO_TEXT, tsl__mend_object(m, tool, value, at));
  m->parted++;
  return fence ? fence : to;
}

/* `Action: f[Paris]`, up to the bracket that ends the line. */
static uint32_t read_bracketed(tsl__mend *m, tsl__string name, uint32_t from, uint32_t at) {
  const tsl__mend_tool *tool;
  tsl__json line;
  uint32_t to = read_line(m, at, &line);
  if (line.kind != TSL__JSON_STRING || line.text[line.length - 1] != ']') return 0;
  line.length--;
  m->notes.n = 0;
  tsl__mend_note(m, TSL__REPAIR_STYLE, from);
  name = tsl__mend_known_name(m, name, from, &tool);
  tsl__mend_add(m, name, TSL__NO_TEXT, tsl__mend_object(m, tool, &line, at));
  m->parted++;
  return m->status == TSL_OK ? to : 0;
}

/* `Action: f`, and in the next line `Action Input: {...}`. */
static uint32_t read_lines(tsl__mend *m, uint32_t at) {
  tsl__string name, first, second;
  uint32_t from = label(m, at, ':', &first);
  if (!from) return 0;
  while (tsl__mend_byte(m, from) == '`' || tsl__mend_byte(m, from) == '"') from++;
  uint32_t behind = tsl__mend_known(m, from, &name);
  if (behind && tsl__mend_byte(m, behind) == '(') {
    uint32_t to = tsl__mend_python(m, from, TSL__NO_TEXT);
    m->parted += to != 0;
    return to;
  }
  if (behind && tsl__mend_byte(m, behind) == '[') return read_bracketed(m, name, from, behind + 1);
  while (behind && (tsl__mend_byte(m, behind) == '`' || tsl__mend_byte(m, behind) == '"')) behind++;
  behind = behind ? tsl__mend_blanks(m, behind) : 0;
  if (tsl__mend_byte(m, behind) == '\r') behind++;
  if (!behind || tsl__mend_byte(m, behind) != '\n') return 0;
  uint32_t value = label(m, tsl__mend_space(m, behind), ':', &second);
  return value ? read_parts(m, name, from, value, says_arguments(second)) : 0;
}

/* <name>f</name>, and then <arguments>{...}</arguments>. */
static uint32_t read_tags(tsl__mend *m, uint32_t at) {
  static const char *const begins[] = {"<arguments>", "<parameters>", "<args>", "<input>"},
                           *const ends[] = {"</arguments>", "</parameters>", "</args>", "</input>"};
  tsl__string name;
  uint32_t from = tsl__mend_word(m, at, "<name>"), to = 0, behind;
  if (!from) from = tsl__mend_word(m, at, "<tool_name>");
  if (!from || !(behind = tsl__mend_known(m, tsl__mend_space(m, from), &name))) return 0;
  behind = tsl__mend_space(m, behind);
  uint32_t next = tsl__mend_word(m, behind, "</name>");
  if (!next) next = tsl__mend_word(m, behind, "</tool_name>");
  for (size_t i = 0; next && !to && i < COUNT(begins); i++) {
    uint32_t value = tsl__mend_word(m, tsl__mend_space(m, next), begins[i]);
    if (value) to = read_parts(m, name, from, tsl__mend_space(m, value), false);
    uint32_t end = to ? tsl__mend_word(m, tsl__mend_space(m, to), ends[i]) : 0;
    if (end) to = end;
  }
  return to;
}

uint32_t tsl__mend_parted(tsl__mend *m, uint32_t at) {
  at = tsl__mend_space(m, at);
  return tsl__mend_byte(m, at) == '<' ? read_tags(m, at) : read_lines(m, at);
}

/* ---- calls ----------------------------------------------------------------------------------- */

uint32_t tsl__mend_bare(tsl__mend *m, uint32_t at) {
  static const tsl__mend_form json = {.kind = TSL__MEND_ENVELOPE},
                              python = {.kind = TSL__MEND_PYTHON};
  bool before = m->bare;
  char c = tsl__mend_byte(m, at);
  bool word = tsl__mend_is_name_byte(c);
  m->bare = true;
  uint32_t to = c == '{' || c == '[' ? tsl__mend_form_at(m, &json, at) : 0;
  if (!to && (c == '[' || word) && (to = tsl__mend_form_at(m, &python, at)) && !m->plan->python)
    tsl__mend_note_answer(m, TSL__REPAIR_STYLE, at);
  if (!to && c == '<') to = tsl__mend_function_tag(m, at);
  if (!to && word) to = read_bare_elements(m, at);
  if (!to && word) to = read_bare_named(m, at);
  if (!to && (word || c == '*' || c == '<')) to = tsl__mend_parted(m, at);
  m->bare = before;
  return m->status == TSL_OK ? to : 0;
}
