/* mend_tags.c - calls that are a tag: <function=f>, <f>, <f city="Paris"/>. See mend.h.
 *
 * Problem   Models fall back on XML that they saw elsewhere. The name of the tool is an attribute,
 *           or the tag's own. The arguments are elements behind it, JSON, or attributes as well.
 * Idea      A tag counts only if it names a tool of the request. Its word is the tool's name, or
 *           a word such as "invoke", with the name as an attribute. An attribute that is a
 *           property of the tool is an argument. One with a word such as "arguments" holds all.
 * Example   <get_weather city="Paris" days="3"/>: get_weather {"city": "Paris", "days": 3}
 * Text      <f> alone, without arguments or a closing tag behind it, is text.
 * Cost      Linear in the tag, times the names of the tools.
 * Tested by tests/programs/test_lenient.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/tools/mend.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* ---- tags ------------------------------------------------------------------------------------ */

static const tsl__string heads[] = {
    {"function", 8}, {"invoke", 6}, {"tool", 4}, {"tool_call", 9}, {"function_call", 13}};

/* The byte behind <function=, <invoke name= or such, or behind the "<" in front of a tool's name.
 * 0: neither stands there. *head: the word that closes the tag. */
static uint32_t function_tag(const tsl__mend *m, uint32_t at, tsl__string *head) {
  tsl__string name;
  if (tsl__mend_byte(m, at) != '<') return 0;
  for (size_t i = 0; i < COUNT(heads); i++) {
    uint32_t word = tsl__mend_match(m, tsl__mend_blanks(m, at + 1), heads[i]),
             key = word ? tsl__mend_blanks(m, word) : 0,
             to = key ? tsl__mend_word(m, key, "name") : 0;
    to = tsl__mend_blanks(m, to && to > word + 4 ? to : key);
    *head = heads[i];
    if (word && tsl__mend_byte(m, to) == '=') return to + 1;
  }
  uint32_t behind = tsl__mend_known(m, at + 1, &name);
  *head = name;
  if (!behind || tsl__mend_byte(m, behind) != '>') return 0;
  char first = tsl__mend_byte(m, tsl__mend_space(m, behind + 1)); /* <f> alone is text */
  return first == '<' || first == '{' ? at + 1 : 0;
}

/* Behind </head>, or <head> without its slash; `at`: neither stands there. */
static uint32_t past_closing(const tsl__mend *m, uint32_t at, tsl__string head) {
  uint32_t end = tsl__mend_space(m, at), name = tsl__mend_word(m, end, "</");
  if (!name) name = tsl__mend_word(m, end, "<");
  name = name ? tsl__mend_match(m, tsl__mend_blanks(m, name), head) : 0;
  name = name ? tsl__mend_blanks(m, name) : 0;
  return name && tsl__mend_byte(m, name) == '>' ? name + 1 : at;
}

/* <function=f>, with JSON or with elements behind it, as several families write it. */
static uint32_t read_function_tag(tsl__mend *m, uint32_t at) {
  const tsl__mend_form tag = {.kind = TSL__MEND_ELEMENTS,
                              .after = {">", 1},
                              .style = tsl__mend_style_of(tsl__string_of("qwen_xml"))};
  tsl__string head;
  uint32_t inside = function_tag(m, at, &head);
  if (!inside) return 0;
  m->notes.n = 0;
  tsl__mend_note(m, TSL__REPAIR_STYLE, at);
  uint32_t to = tsl__mend_styled(m, &tag, inside);
  return to ? past_closing(m, to, head) : 0;
}

/* ---- attributes ------------------------------------------------------------------------------ */

#define ATTRIBUTES_MAX 64u

/* A tag with attributes. */
typedef struct tag {
  tsl__string word;
  tsl__json attributes[ATTRIBUTES_MAX]; /* strings */
  uint32_t count, behind;               /* behind: the byte behind its > */
  bool closed;                          /* it ends with /> */
} tag;

static uint32_t past_name(const tsl__mend *m, uint32_t at) {
  while (tsl__mend_is_name_byte(tsl__mend_byte(m, at))) at++;
  return at;
}

/* name="value" at `at`; the byte behind it, 0: there is none. */
static uint32_t read_attribute(tsl__mend *m, uint32_t at, tsl__json *out) {
  uint32_t end = past_name(m, at), from = tsl__mend_blanks(m, end);
  if (end == at || tsl__mend_byte(m, from) != '=') return 0;
  from = tsl__mend_blanks(m, from + 1);
  char c = tsl__mend_byte(m, from), quote = c == '"' || c == '\'' ? c : 0;
  uint32_t i = from += quote != 0;
  while (i < m->length && (quote ? m->text[i] != quote : !strchr(" \t\r\n/>", m->text[i]))) i++;
  if (i == m->length) return 0;
  tsl__string value = tsl__mend_plain(m, (tsl__string){m->text + from, i - from});
  *out = (tsl__json){.kind = TSL__JSON_STRING,
                     .key = m->text + at,
                     .key_length = end - at,
                     .text = value.at,
                     .length = value.length,
                     .offset = from};
  return i + (quote != 0);
}

static bool read_tag(tsl__mend *m, uint32_t at, tag *out) {
  uint32_t i = past_name(m, at + 1), to;
  if (tsl__mend_byte(m, at) != '<' || i == at + 1) return false;
  out->word = (tsl__string){m->text + at + 1, i - at - 1};
  out->count = 0;
  for (i = tsl__mend_space(m, i); out->count < ATTRIBUTES_MAX; i = tsl__mend_space(m, to)) {
    if (!(to = read_attribute(m, i, &out->attributes[out->count]))) break;
    out->count++;
  }
  out->closed = tsl__mend_byte(m, i) == '/';
  if (out->closed) i = tsl__mend_blanks(m, i + 1);
  out->behind = i + 1;
  m->work += i - at;
  return out->count && tsl__mend_byte(m, i) == '>';
}

static bool is_one_of(const tsl__json *a, const char *const *words, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (tsl__string_is(tsl__json_key(a), words[i])) return true;
  return false;
}

/* The attributes of a tag that are arguments, or hold all of them; NULL: there are none. */
static const tsl__json *arguments_of(tsl__mend *m, const tag *t, const tsl__mend_tool *tool) {
  static const char *const words[] = {"arguments", "parameters", "args", "params", "input"};
  const tsl__json *schema = tool->parameters, *of;
  tsl__json *out = tsl__mend_new_object(m),
            *items = tsl__arena_alloc(m->arena, (t->count + 1) * sizeof *items);
  if (!out || !items) return m->status = TSL_ERR_NO_MEMORY, NULL;
  out->items = items;
  for (uint32_t i = 0; i < t->count; i++) {
    const tsl__json *a = &t->attributes[i];
    tsl__string key = tsl__json_key(a), text = tsl__json_text(a);
    if (schema && (of = tsl__mend_property(schema, schema, key))) {
      tsl__json *one = &items[out->length++];
      *one = (tsl__json){.key = a->key, .key_length = a->key_length};
      tsl__mend_bare_value(m, schema, of, text, a->offset, one);
    } else if (is_one_of(a, words, COUNT(words))) {
      return *out = *a, out;
    }
  }
  return out->length ? out : NULL;
}

/* The tool that a tag calls; NULL: none. */
static const tsl__mend_tool *tool_of_tag(const tsl__mend *m, const tag *t) {
  static const char *const words[] = {"name", "tool", "function"};
  const tsl__mend_tool *tool = tsl__mend_tool_of(m, t->word);
  bool known = false;
  for (size_t i = 0; i < COUNT(heads); i++)
    known |= heads[i].length == t->word.length && !memcmp(heads[i].at, t->word.at, t->word.length);
  for (uint32_t i = 0; !tool && known && i < t->count; i++) {
    const tsl__json *a = &t->attributes[i];
    if (is_one_of(a, words, COUNT(words))) tool = tsl__mend_tool_meant(m, tsl__json_text(a));
  }
  return tool;
}

uint32_t tsl__mend_attributes(tsl__mend *m, uint32_t at, bool more) {
  const tsl__mend_form form = {.kind = TSL__MEND_ELEMENTS,
                               .attributes = true,
                               .style = tsl__mend_style_of(tsl__string_of("qwen_xml"))};
  tag t;
  const tsl__mend_tool *tool = read_tag(m, at, &t) ? tool_of_tag(m, &t) : NULL;
  if (!tool) return 0;
  m->notes.n = 0;
  tsl__mend_note(m, TSL__REPAIR_STYLE, at);
  const tsl__json *arguments = arguments_of(m, &t, tool);
  bool named = tsl__mend_tool_of(m, t.word) != NULL;
  if (!arguments && !more) return 0;
  if (!arguments && (named || !t.closed)) {
    uint32_t to = named ? 0 : tsl__mend_styled(m, &form, at + 1 + t.word.length);
    return to ? past_closing(m, to, t.word) : 0;
  }
  tsl__mend_add(m, tool->name, TSL__NO_TEXT, tsl__mend_object(m, tool, arguments, at));
  if (m->status != TSL_OK) return 0;
  return t.closed ? t.behind : past_closing(m, t.behind, t.word);
}

uint32_t tsl__mend_function_tag(tsl__mend *m, uint32_t at) {
  uint32_t to = tsl__mend_attributes(m, at, true);
  return to ? to : read_function_tag(m, at);
}
