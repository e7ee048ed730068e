/* mend_calls.c - one call of an answer of no format: its name, its id, its arguments, its end.
 *
 * Problem   What stands around the arguments differs from family to family, and each of its pieces
 *           may be missing or spelled otherwise.
 * Idea      A form has a start, such as <tool_call> or <function=. From there on the reader looks
 *           for what it needs. That is JSON that holds a name, or a name and then a bracket, an
 *           element or a parenthesis. What stands between is passed over if it is short. Names that
 *           the request has are preferred to others.
 * Example   <tool_call>get_weather{"city": "Paris"}, and a form is <tool_call>NAME JSON. The
 *           name is the request's, and the brace behind it begins the arguments. No closing tag
 *           follows: the repair "end".
 * Nothing   What turns out to be no call leaves no trace: its notes are dropped, and the bytes that
 *           were read are counted as work.
 * Bounds    JSON whose strings or brackets do not end as they should is read once more. The second
 *           reading stops at the markup that ends the call, or at the next call.
 * Cost      Linear in what is read; what comes to nothing is counted, and bounded (mend.c).
 * Tested by tests/programs/test_lenient.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/tools/mend.h"

#define GAP_MAX 256u /* bytes between a name and its arguments */

/* ---- JSON ------------------------------------------------------------------------------------ */

static tsl__json *as_call(tsl__mend_json *l) { return tsl__mend_json_members(l, ')'); }

/* The value at `at`; *to: the byte behind it. What was mended becomes notes of the call. */
tsl__json *tsl__mend_read_json(tsl__mend *m, uint32_t at, tsl__string quote, tsl__loose_reader read,
                               uint32_t *to) {
  tsl__mend_json l = {.alloc = m->alloc,
                      .arena = m->arena,
                      .text = m->text,
                      .at = at,
                      .stop = m->length,
                      .last = true,
                      .comments = &m->comments,
                      .quote = quote};
  if (m->work > m->work_max) return NULL;
  tsl__json *value = read(&l);
  if (!value || l.unclean) {
    tsl__mend_json again = l;
    uint32_t inside = at;
    while (tsl__mend_byte(m, inside) == '[' || tsl__mend_is_space(tsl__mend_byte(m, inside)))
      inside++;
    uint32_t bound = tsl__mend_bound(m, inside + 1);
    m->work += l.at - at + (bound - at);
    again.at = at;
    again.stop = bound;
    again.found = 0;
    again.unclean = again.cut = again.last = false;
    tsl__json *second = bound < m->length && l.status == TSL_OK ? read(&again) : NULL;
    if (second) value = second;
    if (second || again.status != TSL_OK) l = again;
  }
  if (l.status != TSL_OK) m->status = l.status;
  if (!value || m->status != TSL_OK) return NULL;
  tsl__mend_notes_of(m, &l, 0);
  m->cut = l.cut && l.at == m->length;
  *to = l.at;
  return value;
}

/* ---- what stands between --------------------------------------------------------------------- */

/* Line breaks that are spelled: \\n behind markup, as in a string. */
static uint32_t past_lines(tsl__mend *m, uint32_t at) {
  uint32_t to = tsl__mend_space(m, at);
  for (; tsl__mend_has(m, to, "\\n"); at = to) to = tsl__mend_space(m, to + 2);
  return at;
}

static uint32_t past_fence(const tsl__mend *m, uint32_t at) {
  uint32_t to = tsl__mend_space(m, at);
  if (tsl__mend_has(m, to, "<![CDATA[")) return to + 9;
  if (!tsl__mend_has(m, to, "```")) return at;
  for (to += 3; tsl__mend_is_name_byte(tsl__mend_byte(m, to)); to++) continue;
  return to;
}

/* ---- names before arguments ------------------------------------------------------------------ */

/* Digits behind a known prefix are an id as the format has it; anything else is what was written.
 */
static tsl__string id_of(tsl__mend *m, const tsl__mend_form *f, tsl__string name, tsl__string raw,
                         uint32_t from, uint32_t to) {
  tsl__string id = tsl__mend_trimmed(raw);
  if (!f->id_prefix.length) return id;
  tsl__out o = {.alloc = m->alloc};
  bool digits = id.length > 0, whole = from >= 10 && !memcmp(m->text + from - 10, "functions.", 10);
  for (uint32_t i = 0; i < id.length; i++) digits &= id.at[i] >= '0' && id.at[i] <= '9';
  if (digits && whole) { /* functions.{name}:0 */
    tsl__out_string(&o, "functions.");
    tsl__out_put(&o, name.at, name.length);
    tsl__out_string(&o, ":");
    tsl__out_put(&o, id.at, id.length);
  } else {
    tsl__string all = tsl__mend_trimmed((tsl__string){m->text + from, to - from});
    tsl__out_put(&o, all.at, all.length);
    tsl__mend_note(m, TSL__REPAIR_ID, from);
  }
  char *copy = tsl__arena_copy(m->arena, o.text.at, o.text.n);
  tsl__string out = {copy, (uint32_t)o.text.n};
  if (o.failed || !copy) m->status = TSL_ERR_NO_MEMORY, out = TSL__NO_TEXT;
  tsl__vec_free(m->alloc, &o.text);
  return out;
}

/* Where JSON begins, not far from `at` and before markup that ends a call; UINT32_MAX: nowhere. */
static uint32_t bracket_after(const tsl__mend *m, uint32_t at) {
  for (uint32_t i = at, to; i < m->length && i - at < GAP_MAX; i++) {
    if (m->text[i] == '{') return i;
    if (m->text[i] == '"' && tsl__mend_byte(m, i + 1) == '{') return i; /* JSON in a string */
    const tsl__mend_text *t = tsl__mend_markup(m, i, &to);
    if (t && (t->sign == TSL__SIGN_CALL_END || t->sign == TSL__SIGN_SECTION_END)) break;
  }
  return UINT32_MAX;
}

static uint32_t find(const tsl__mend *m, uint32_t from, uint32_t to, tsl__string text) {
  for (uint32_t i = from; text.length && i + text.length <= to; i++)
    if (!memcmp(m->text + i, text.at, text.length)) return i;
  return UINT32_MAX;
}

static void forget(tsl__mend *m, tsl__repair repair) {
  size_t kept = 0;
  for (size_t i = 0; i < m->notes.n; i++)
    if (m->notes.at[i].repair != repair) m->notes.at[kept++] = m->notes.at[i];
  m->notes.n = kept;
}

/* `function` in place of the name, and the name behind: DeepSeek V3 has both in a call. */
static uint32_t past_function(const tsl__mend *m, const tsl__mend_form *f, uint32_t behind,
                              tsl__string *name) {
  tsl__string next;
  uint32_t to = tsl__string_is(*name, "function") && !tsl__mend_tool_of(m, *name)
                    ? tsl__mend_match(m, behind, f->after)
                    : 0,
           end = to ? tsl__mend_read_name(m, tsl__mend_space(m, to), 0, &next) : 0;
  if (!end || !tsl__mend_tool_of(m, next)) return behind;
  *name = next;
  return end;
}

/* A form whose start ends at `at`: name, id, JSON. */
uint32_t tsl__mend_named(tsl__mend *m, const tsl__mend_form *f, uint32_t at) {
  const tsl__mend_tool *tool;
  tsl__string name, id = TSL__NO_TEXT;
  uint32_t from = tsl__mend_space(m, at);
  if (f->id_first) {
    uint32_t end = find(m, from, m->length < from + GAP_MAX ? m->length : from + GAP_MAX, f->then);
    if (end == UINT32_MAX) return 0;
    id = tsl__mend_trimmed((tsl__string){m->text + from, end - from});
    from = tsl__mend_space(m, end + f->then.length);
  }
  while (tsl__mend_byte(m, from) == '"' || tsl__mend_byte(m, from) == '\'') from++;
  uint32_t behind = tsl__mend_read_name(m, from, f->after.length ? f->after.at[0] : 0, &name), to;
  behind = past_function(m, f, behind, &name);
  if (!name.length || (m->bare && !tsl__mend_tool_of(m, name))) return 0;
  uint32_t bracket = bracket_after(m, behind);
  if (!tsl__mend_tool_of(m, name) && bracket == UINT32_MAX) return 0;
  name = tsl__mend_known_name(m, name, from, &tool);
  if (f->has_id && !f->id_first) {
    uint32_t stop = bracket == UINT32_MAX ? behind : bracket, end = find(m, behind, stop, f->then),
             begin = tsl__mend_match(m, behind, f->after);
    if (end != UINT32_MAX && (begin || end > behind))
      id = id_of(m, f, name,
                 (tsl__string){m->text + (begin ? begin : behind), end - (begin ? begin : behind)},
                 name.at >= m->text && name.at < m->text + m->length ? (uint32_t)(name.at - m->text)
                                                                     : from,
                 end);
  }
  if (f->id_prefix.length && !id.length) tsl__mend_note(m, TSL__REPAIR_ID, behind);
  if (f->after.length && !f->has_id && !tsl__mend_match(m, tsl__mend_space(m, behind), f->after))
    tsl__mend_note(m, TSL__REPAIR_BEGIN, behind);
  tsl__json *value = NULL;
  if (bracket != UINT32_MAX)
    value = tsl__mend_read_json(m, bracket, f->quote, tsl__mend_json_value, &to);
  if (!value) tsl__mend_note(m, TSL__REPAIR_BRACKET, behind), to = behind;
  tsl__mend_envelope e; /* the name once more, or instead, and the arguments within */
  bool enveloped = value && tsl__mend_open_envelope(m, value, &e) && e.arguments,
       renamed = enveloped && !tool && tsl__mend_tool_of(m, e.name);
  if (renamed) {
    forget(m, TSL__REPAIR_UNKNOWN_TOOL);
    tsl__mend_note(m, TSL__REPAIR_NAME, from);
    name = tsl__mend_known_name(m, e.name, from, &tool);
  }
  if (renamed || (enveloped && tsl__mend_alike(e.name, name))) {
    tsl__mend_note(m, TSL__REPAIR_MEMBER, bracket);
    tsl__mend_add(m, name, id, tsl__mend_object(m, tool, e.arguments, behind));
    return m->status == TSL_OK ? to : 0;
  }
  if (m->status != TSL_OK) return 0;
  tsl__mend_add(m, name, id, tsl__mend_object(m, tool, value, behind));
  return to;
}

/* The attribute of a tag, in the bytes from `from` to `to`. */
static tsl__string attribute(const tsl__mend *m, uint32_t from, uint32_t to, const char *name) {
  size_t n = strlen(name);
  for (uint32_t i = from; i + n + 1 < to; i++) {
    if (memcmp(m->text + i, name, n) || m->text[i + n] != '=') continue;
    uint32_t at = i + (uint32_t)n + 1, begin;
    char quote = m->text[at] == '"' || m->text[at] == '\'' ? m->text[at++] : ' ';
    for (begin = at; at < to && m->text[at] != quote && m->text[at] != '\n'; at++) continue;
    return tsl__mend_trimmed((tsl__string){m->text + begin, at - begin});
  }
  return TSL__NO_TEXT;
}

/* A tag around all arguments: <parameters>. The byte behind it, or `at`. */
static uint32_t past_wrapper(const tsl__mend *m, uint32_t at, tsl__string *out) {
  static const char *const words[] = {"parameters", "arguments", "params", "args", "input"};
  uint32_t from = tsl__mend_space(m, at);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t n = strlen(words[i]);
    if (m->length - from < n + 2 || m->text[from] != '<' || m->text[from + n + 1] != '>' ||
        memcmp(m->text + from + 1, words[i], n))
      continue;
    *out = (tsl__string){words[i], (uint32_t)n};
    return from + (uint32_t)n + 2;
  }
  return at;
}

/* Behind </word>, if it stands at `at`. */
static uint32_t past_closing(const tsl__mend *m, uint32_t at, tsl__string word) {
  uint32_t from = tsl__mend_space(m, at);
  bool there = m->length - from >= word.length + 3 && !memcmp(m->text + from, "</", 2) &&
               !memcmp(m->text + from + 2, word.at, word.length);
  return there && m->text[from + 2 + word.length] == '>' ? from + word.length + 3 : at;
}

/* Elements of another style, in place of `empty` where there are some. */
static tsl__json *other_elements(tsl__mend *m, const tsl__mend_tool *tool, uint32_t at,
                                 tsl__json *empty, uint32_t *to) {
  uint32_t end = *to;
  tsl__json *value = tsl__mend_other_elements(m, tool, at, &end);
  if (!value) value = tsl__mend_properties(m, tool, at, &end);
  if (!value) return empty;
  tsl__mend_note(m, TSL__REPAIR_STYLE, at);
  *to = end;
  return value;
}

/* The same for elements. */
uint32_t tsl__mend_styled(tsl__mend *m, const tsl__mend_form *f, uint32_t at) {
  const tsl__mend_tool *tool;
  tsl__string name = TSL__NO_TEXT, id = TSL__NO_TEXT;
  uint32_t from = tsl__mend_space(m, at), behind, to;
  if (f->attributes) {
    tsl__string close = {">", 1}, sep = {"<|sep|>", 7};
    uint32_t stop = m->length < from + GAP_MAX + TSL__MEND_NAME_BYTES
                        ? m->length
                        : from + GAP_MAX + TSL__MEND_NAME_BYTES,
             end = find(m, from, stop, f->style && f->style->between[0] == '<' ? sep : close);
    if (end == UINT32_MAX) return 0;
    name = attribute(m, from, end, "name");
    if (!name.length) name = attribute(m, from, end, "tool");
    if (!name.length) name = attribute(m, from, end, "function");
    if (f->has_id) id = attribute(m, from, end, "id");
    if (f->has_id && !id.length) id = attribute(m, from, end, "index");
    behind = end + (f->style && f->style->between[0] == '<' ? sep.length : 1);
  } else {
    while (tsl__mend_byte(m, from) == '"' || tsl__mend_byte(m, from) == '\'') from++;
    behind = tsl__mend_read_name(m, from, 0, &name);
    while (tsl__mend_byte(m, behind) == '"' || tsl__mend_byte(m, behind) == '\'') behind++;
    to = tsl__mend_match(m, behind, f->after);
    if (!to && (to = tsl__mend_space(m, behind)) < m->length) {
      if (m->text[to] == '/' && tsl__mend_byte(m, to + 1) == '>') to++;
      to = m->text[to] == '>' ? to + 1 : 0;
    }
    behind = to ? to : behind;
  }
  if (!name.length || (m->bare && !tsl__mend_tool_of(m, name))) return 0;
  tsl__string wrapper = TSL__NO_TEXT;
  behind = past_wrapper(m, behind, &wrapper);
  uint32_t first = tsl__mend_space(m, behind);
  if (!f->attributes && !tsl__mend_tool_of(m, name) && tsl__mend_byte(m, first) != '<' &&
      tsl__mend_byte(m, first) != '{')
    return 0;
  name = tsl__mend_known_name(m, name, from, &tool);
  tsl__json *value = NULL;
  bool json = tsl__mend_byte(m, first) == '{';
  if (json && (value = tsl__mend_read_json(m, first, TSL__NO_TEXT, tsl__mend_json_value, &to)))
    tsl__mend_note(m, TSL__REPAIR_STYLE, first);
  if (!json) value = tsl__mend_elements(m, f->style, tool, behind, &to);
  if (!json && value && !value->length) value = other_elements(m, tool, behind, value, &to);
  if (value && wrapper.length) to = past_closing(m, to, wrapper);
  if (!value || m->status != TSL_OK) return 0;
  bool nothing = !value->length && first < m->length && !tsl__mend_has(m, first, "</");
  if (nothing && !f->start.length && !tsl__mend_markup(m, first, &to)) return 0;
  tsl__mend_add(m, name, id, tsl__mend_object(m, tool, value, behind));
  return to;
}

/* Behind the end of a list, where one began. */
static uint32_t past_list(tsl__mend *m, uint32_t end, bool list) {
  uint32_t at = tsl__mend_space(m, end);
  if (!end || !list) return end;
  if (tsl__mend_byte(m, at) == ']') return at + 1;
  tsl__mend_note_answer(m, TSL__REPAIR_BRACKET, at);
  return end;
}

/* What a program has in front of a call: `print(`, `await `, `x = `. */
static uint32_t past_statement(const tsl__mend *m, uint32_t at) {
  static const char *const words[] = {"print(", "await ", "return "};
  uint32_t i = at;
  while (tsl__mend_is_name_byte(tsl__mend_byte(m, i))) i++;
  uint32_t sign = i;
  while (tsl__mend_byte(m, sign) == ' ') sign++;
  if (i > at && tsl__mend_byte(m, sign) == '=' && tsl__mend_byte(m, sign + 1) != '=')
    at = tsl__mend_space(m, sign + 1);
  for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
    size_t n = strlen(words[w]);
    if (m->length - at > n && !memcmp(m->text + at, words[w], n)) at += (uint32_t)n;
  }
  return at;
}

/* Calls of Python's in a row, in a list or without. */
uint32_t tsl__mend_python(tsl__mend *m, uint32_t at, tsl__string quote) {
  uint32_t end = 0, to;
  bool list = false;
  for (;;) {
    tsl__string name;
    const tsl__mend_tool *tool;
    uint32_t from = tsl__mend_space(m, at);
    while (tsl__mend_byte(m, from) == ',' || tsl__mend_byte(m, from) == ';' ||
           tsl__mend_byte(m, from) == '[') {
      list |= m->text[from] == '[';
      m->listed |= list;
      from = tsl__mend_space(m, from + 1);
    }
    from = past_statement(m, from);
    uint32_t behind = tsl__mend_read_name(m, from, '(', &name);
    if (m->length - behind > 6 && tsl__mend_has(m, behind, ".call(")) behind += 5;
    uint32_t paren = tsl__mend_space(m, behind);
    if (!name.length || tsl__mend_byte(m, paren) != '(' ||
        (m->bare && !tsl__mend_tool_meant(m, name)))
      return past_list(m, end, list);
    name = tsl__mend_known_name(m, name, from, &tool);
    tsl__json *value = tsl__mend_read_json(m, paren + 1, quote, as_call, &to);
    if (!value) return past_list(m, end, list);
    tsl__mend_add(m, name, TSL__NO_TEXT, tsl__mend_object(m, tool, value, paren));
    if (m->status != TSL_OK) return 0;
    at = end = to;
  }
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* Are brackets here that nothing opened, with markup or the end behind them? */
static uint32_t extra_brackets(const tsl__mend *m, uint32_t at) {
  uint32_t i = at, to;
  while (i < m->length && (tsl__mend_is_space(m->text[i]) || strchr("}])\"", m->text[i]))) i++;
  bool end = i == m->length || tsl__mend_markup(m, i, &to) || tsl__mend_has(m, i, "```");
  return end ? i : at;
}

/* An end of calls that the end of the answer cuts off. */
static bool cut_off(const tsl__mend *m, uint32_t at) {
  uint32_t left = m->length - at;
  for (uint32_t i = 0; left && i < m->plan->text_count; i++) {
    const tsl__mend_text *t = &m->plan->texts[i];
    bool end = t->sign == TSL__SIGN_CALL_END || t->sign == TSL__SIGN_SECTION_END ||
               t->sign == TSL__SIGN_SKIP;
    if (end && left < t->text.length && !memcmp(t->text.at, m->text + at, left)) return true;
  }
  return false;
}

/* What ends a call, or all of them: the byte behind it. An end that comes twice is noted. */
static uint32_t read_end(tsl__mend *m, const tsl__mend_form *f, uint32_t at) {
  const tsl__mend_text *last = NULL;
  bool ended = !f->ends, fenced = !tsl__string_has(f->after, tsl__string_of("```"));
  for (uint32_t to;;) {
    at = tsl__mend_space(m, at);
    if (f->start.length) at = tsl__mend_space(m, past_lines(m, at));
    char c = tsl__mend_byte(m, at);
    const tsl__mend_text *t = at < m->length ? tsl__mend_markup(m, at, &to) : NULL;
    if (t && (t->sign == TSL__SIGN_CALL_END || t->sign == TSL__SIGN_SECTION_END)) {
      if (t->sign == TSL__SIGN_SECTION_END) m->in_section = false;
      if (t == last) tsl__mend_note_answer(m, TSL__REPAIR_MARKUP, at);
      ended |= !t->part && (t->sign == TSL__SIGN_CALL_END || f->kind == TSL__MEND_ENVELOPE);
      last = t;
      at = to;
    } else if (c == ']' && tsl__mend_has(m, at, "]]>")) {
      tsl__mend_note_answer(m, TSL__REPAIR_MARKUP, at);
      at += 3;
    } else if (c && strchr("}])\"", c) && (to = extra_brackets(m, at)) > at) {
      if (c != ']' || !m->in_section) tsl__mend_note_answer(m, TSL__REPAIR_BRACKET, at);
      at = to;
    } else if (c == '`' && tsl__mend_has(m, at, "```")) {
      m->fenced |= f->kind == TSL__MEND_ENVELOPE;
      fenced = true;
      at += 3;
    } else {
      break;
    }
  }
  if (!fenced) tsl__mend_note_answer(m, TSL__REPAIR_FENCE, at);
  bool cut = cut_off(m, at);
  if (cut || (!ended && f->start.length)) tsl__mend_note_answer(m, TSL__REPAIR_END, at);
  return cut ? m->length : at;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* A call in another style than the form's, of a tool of the request: f(a=1), or f and then JSON. */
static uint32_t read_other_style(tsl__mend *m, const tsl__mend_form *f, uint32_t at) {
  const tsl__mend_form named = {.kind = TSL__MEND_JSON, .quote = f->quote};
  const tsl__mend_form tags = {.kind = TSL__MEND_ELEMENTS,
                               .style = tsl__mend_style_of(tsl__string_of("qwen_xml"))};
  tsl__string name;
  uint32_t behind = tsl__mend_space(m, tsl__mend_read_name(m, tsl__mend_space(m, at), 0, &name));
  bool before = m->bare;
  m->bare = true;
  m->notes.n = 0;
  if (!m->plan->python) tsl__mend_note(m, TSL__REPAIR_STYLE, at);
  uint32_t to = tsl__mend_python(m, at, f->quote);
  if (!to) to = tsl__mend_parted(m, at);
  if (!to) to = tsl__mend_attributes(m, tsl__mend_space(m, at), false);
  if (!to && tsl__mend_byte(m, behind) == '<' && tsl__mend_byte(m, behind + 1) != '/')
    to = tsl__mend_styled(m, &tags, at);
  if (!to) to = tsl__mend_named(m, &named, at);
  m->bare = before;
  return to;
}

/* Does f( stand there, of a tool of the request? */
static bool python_here(const tsl__mend *m, uint32_t at) {
  tsl__string name;
  uint32_t behind = tsl__mend_read_name(m, tsl__mend_space(m, at), '(', &name);
  return tsl__mend_byte(m, behind) == '(' && tsl__mend_tool_of(m, name);
}

uint32_t tsl__mend_form_at(tsl__mend *m, const tsl__mend_form *f, uint32_t at) {
  size_t calls = m->calls.n;
  if (f->start.length) at = past_lines(m, at);
  uint32_t to = 0, inside = past_fence(m, at);
  if (f->start.length && inside != at && m->text[inside - 1] != '[') m->fenced = true;
  m->notes.n = 0;
  if (f->cut) tsl__mend_note(m, TSL__REPAIR_BEGIN, at);
  bool other = f->start.length && (f->kind == TSL__MEND_JSON || f->kind == TSL__MEND_ELEMENTS) &&
               python_here(m, at);
  if (other) to = read_other_style(m, f, at);
  if (!other) switch (f->kind) {
    case TSL__MEND_ENVELOPE:
      to = tsl__mend_envelopes(m, inside, f->start.length > 0);
      if (!to && f->start.length) to = read_other_style(m, f, inside);
      break;
    case TSL__MEND_JSON: to = tsl__mend_named(m, f, at); break;
    case TSL__MEND_ELEMENTS: to = tsl__mend_styled(m, f, at); break;
    case TSL__MEND_PYTHON: to = tsl__mend_python(m, inside, f->quote); break;
    }
  if (!to) {
    m->calls.n = calls;
    return 0;
  }
  return read_end(m, f, to);
}

/* Of two forms with the same start the one whose text behind the name is there. */
static bool fits_better(const tsl__mend *m, const tsl__mend_form *f, uint32_t at) {
  tsl__string name;
  if (f->kind != TSL__MEND_JSON || f->id_first || !f->after.length) return false;
  uint32_t behind = tsl__mend_read_name(m, tsl__mend_space(m, at), f->after.at[0], &name);
  return tsl__mend_match(m, behind, f->after) != 0;
}

/* Does a form begin at `at`? *from: the byte behind its start. */
static bool begins(const tsl__mend *m, const tsl__mend_form *f, uint32_t at, uint32_t *from) {
  *from = f->start.length ? tsl__mend_match(m, at, f->start) : at;
  if (f->start.length) return *from != 0 && (!f->named || m->first);
  return f->kind == TSL__MEND_JSON ? m->first : m->in_section && f->kind != TSL__MEND_ELEMENTS;
}

/* Is all of a message a name, a line break and an object? */
static bool is_own_message(const tsl__mend *m, const tsl__mend_form *f, uint32_t at) {
  tsl__string name;
  uint32_t behind = at, next;
  if (f->start.length || f->kind != TSL__MEND_JSON || !m->plan->messages) return false;
  behind = tsl__mend_read_name(m, at, 0, &name);
  next = tsl__mend_space(m, behind);
  return name.length && tsl__mend_byte(m, behind) == '\n' && tsl__mend_byte(m, next) == '{';
}

uint32_t tsl__mend_calls(tsl__mend *m, uint32_t at) {
  const tsl__mend_plan *p = m->plan;
  bool bare = m->bare;
  for (int round = 0; round < 2; round++) {
    for (uint32_t i = 0; i < p->form_count && m->status == TSL_OK; i++) {
      const tsl__mend_form *f = &p->forms[i];
      uint32_t from, to;
      if (!begins(m, f, at, &from) || (!round && !fits_better(m, f, from))) continue;
      bool own = is_own_message(m, f, at);
      m->sectioned |= f->kind == TSL__MEND_ENVELOPE && f->start.length;
      m->bare = !m->refused || (!f->start.length && f->kind == TSL__MEND_JSON && !own);
      to = tsl__mend_form_at(m, f, from);
      m->bare = bare;
      if (to) return to;
    }
  }
  return 0;
}

uint32_t tsl__mend_lone_start(const tsl__mend *m, uint32_t at) {
  for (uint32_t i = 0; i < m->plan->form_count; i++) {
    const tsl__mend_form *f = &m->plan->forms[i];
    uint32_t to = f->start.length ? tsl__mend_match(m, at, f->start) : 0, next, unused;
    if (!to) continue;
    if ((next = tsl__mend_space(m, to)) == m->length || tsl__mend_markup(m, next, &unused))
      return to;
    for (uint32_t k = 0; k < m->plan->form_count; k++)
      if (tsl__mend_match(m, next, m->plan->forms[k].start)) return to;
  }
  return 0;
}
