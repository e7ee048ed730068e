/* mend_envelopes.c - calls that are JSON with the name inside: {"name": "f", "arguments": {...}}.
 *
 * Problem   Each API has other names for the same members. A model knows them all, and writes
 *           whichever it saw most often. It also writes the message around its calls.
 * Idea      An object is a call if it has a name under one of the known words. It is also one if
 *           its only member has the name of a tool. The arguments stand under another known word,
 *           or beside the name. What is in front of that is passed through: a wrapper
 *           ("function"), or the list of a message ("tool_calls").
 * Example   {"tool": "get-weather", "args": {"city": "Paris"}}, and the request has get_weather.
 *           The name is under "tool", the arguments are under "args": the repair "member". No tool
 *           has that name, but get_weather is equal but for - and _: the repair "name".
 * Bare      An envelope without a member for the arguments has them beside the name:
 *           {"name": "f", "n": 3} is f {"n": 3}. Members such as "id" and "type" are none of them.
 * Keyed     {"get_weather": {"city": "Paris"}} is a call if a tool has that name, or if the preset
 *           writes its calls so. Several such members are several calls. ["get_weather", {...}] is
 *           one, too.
 * Messages  {"role": "assistant", "content": "Hm.", "tool_calls": [...]}: the content is content.
 * Rows      Several envelopes may stand one behind the other, with commas or semicolons between, or
 *           in one list. A list counts only if all of it are calls.
 * Cut       A name that the end of the answer cuts is the name of no tool.
 * Cost      Linear in what is read, times the number of known words.
 * Tested by tests/programs/test_lenient.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/tools/mend.h"

#define WRAPPED_MAX 4u /* messages inside one another */

static tsl__json *as_members(tsl__mend_json *l) { return tsl__mend_json_members(l, '}'); }

/* The member of one of these names, or of one in another spelling, whose name is then "". */
static const tsl__json *member(const tsl__json *object, const char *const *names, size_t n,
                               const char **found) {
  for (size_t i = 0; i < n; i++) {
    const tsl__json *v = tsl__json_member(object, names[i]);
    if (v) return *found = names[i], v;
  }
  for (size_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < object->length; k++) {
      if (tsl__mend_alike(tsl__string_of(names[i]), tsl__json_key(&object->items[k])))
        return *found = "", &object->items[k];
    }
  return NULL;
}

static const char *const name_keys[] = {"name", "tool_name",      "function_name", "function",
                                        "tool", "recipient_name", "action"};
static const char *const argument_keys[] = {
    "arguments", "parameters",   "args",         "input",     "params",
    "kwargs",    "tool_input",   "inputs",       "tool_args", "parameter",
    "argument",  "action_input", "function_args"};
/* Members that hold a call, and those that hold several. */
static const char *const wrappers[] = {"function", "function_call", "tool_call", "tool_use",
                                       "tool",     "action",        "command",   "call"};
static const char *const list_keys[] = {"tool_calls", "function_calls", "tool_uses", "calls",
                                        "actions",    "tools",          "functions"};
static const char *const id_keys[] = {"id", "tool_call_id", "call_id"};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool text_of(const tsl__json *value, tsl__string *out) {
  if (!value || (value->kind != TSL__JSON_STRING && value->kind != TSL__JSON_NUMBER)) return false;
  *out = (tsl__string){value->text, value->length};
  return true;
}

/* {N: A}, where N is a tool of the request. */
static bool keyed_by_name(const tsl__mend *m, const tsl__json *object, tsl__mend_envelope *out) {
  if (object->length != 1) return false;
  const tsl__json *only = &object->items[0];
  tsl__string name = tsl__json_key(only);
  bool own = m->plan->name_key.at && !m->plan->name_key.length;
  if (!tsl__mend_tool_of(m, name) && !(own && only->kind == TSL__JSON_OBJECT)) return false;
  *out = (tsl__mend_envelope){.name = name, .arguments = only};
  return true;
}

/* Does an object describe a call? */
bool tsl__mend_open_envelope(const tsl__mend *m, const tsl__json *object, tsl__mend_envelope *out) {
  const char *key;
  *out = (tsl__mend_envelope){0};
  if (object->kind != TSL__JSON_OBJECT) return false;
  const tsl__json *inner = member(object, wrappers, COUNT(wrappers), &key),
                  *id = member(object, id_keys, COUNT(id_keys), &key);
  out->wrapped = inner && inner->kind == TSL__JSON_OBJECT;
  if (out->wrapped) object = inner;
  out->object = object;
  const tsl__json *name = member(object, name_keys, COUNT(name_keys), &out->name_key);
  if (!name || name->kind != TSL__JSON_STRING || !name->length)
    return keyed_by_name(m, object, out);
  text_of(name, &out->name);
  text_of(id, &out->id);
  out->arguments = member(object, argument_keys, COUNT(argument_keys), &out->arguments_key);
  out->bare = !out->arguments;
  return true;
}

/* The members of an envelope without "arguments": those that are not the name, the id or a type. */
static tsl__json *members_beside(tsl__mend *m, const tsl__json *object) {
  tsl__json *out = tsl__mend_new_object(m),
            *items = tsl__arena_alloc(m->arena, (object->length + 1) * sizeof *items);
  if (!out || !items) return m->status = TSL_ERR_NO_MEMORY, NULL;
  out->items = items;
  for (uint32_t i = 0; i < object->length; i++) {
    tsl__string key = tsl__json_key(&object->items[i]);
    bool known = tsl__string_is(key, "type");
    for (size_t k = 0; k < COUNT(name_keys) && !known; k++)
      known = tsl__string_is(key, name_keys[k]);
    for (size_t k = 0; k < COUNT(id_keys) && !known; k++) known = tsl__string_is(key, id_keys[k]);
    if (!known) items[out->length++] = object->items[i];
  }
  return out;
}

/* Is that text the last value of an object? */
static bool is_last(const tsl__json *object, tsl__string text) {
  return object->items[object->length - 1].text == text.at;
}

/* An object that is a call, in whatever members: {"tool": "f", "args": {…}} is one of f. False:
 * it is no call, and stays text. */
static bool add_envelope(tsl__mend *m, const tsl__json *object, uint32_t at) {
  const tsl__mend_plan *p = m->plan;
  const tsl__mend_tool *tool;
  tsl__mend_envelope e;
  if (!tsl__mend_open_envelope(m, object, &e)) return false;
  tsl__string name = tsl__mend_known_name(m, e.name, at, &tool);
  if (!tool && m->bare && (!p->bare_envelope || e.bare)) return false;
  if (!tool && m->cut && e.object->length && is_last(e.object, e.name)) return false;
  bool own_name =
           p->name_key.length ? e.name_key && tsl__string_is(p->name_key, e.name_key) : !e.name_key,
       own_arguments = !p->arguments_key.length || !e.arguments_key ||
                       tsl__string_is(p->arguments_key, e.arguments_key);
  uint32_t own = 1 + (e.arguments != NULL) + (p->ids && e.id.length);
  if (!own_name || !own_arguments || e.wrapped || object->length > own)
    tsl__mend_note(m, TSL__REPAIR_MEMBER, at);
  const tsl__json *arguments = e.bare ? members_beside(m, e.object) : e.arguments;
  if (e.bare) tsl__mend_note(m, TSL__REPAIR_MEMBER, at);
  if (m->status != TSL_OK) return false;
  tsl__mend_add(m, name, e.id, tsl__mend_object(m, tool, arguments, at));
  return m->status == TSL_OK;
}

/* Several calls in one object, each under the name of its tool. */
static bool is_keyed(const tsl__mend *m, const tsl__json *object) {
  for (uint32_t i = 0; i < object->length; i++) {
    const tsl__json *one = &object->items[i];
    if (one->kind != TSL__JSON_OBJECT || !tsl__mend_tool_of(m, tsl__json_key(one))) return false;
  }
  return object->length > 1;
}

static bool add_call(tsl__mend *m, tsl__string name, const tsl__json *arguments, uint32_t at) {
  const tsl__mend_tool *tool = tsl__mend_tool_of(m, name);
  tsl__mend_note(m, TSL__REPAIR_MEMBER, at);
  tsl__mend_add(m, name, TSL__NO_TEXT, tsl__mend_object(m, tool, arguments, at));
  return m->status == TSL_OK;
}

static bool add_keyed(tsl__mend *m, const tsl__json *object, uint32_t at) {
  for (uint32_t i = 0; i < object->length; i++) {
    const tsl__json *one = &object->items[i];
    if (!add_call(m, tsl__json_key(one), one, at)) return false;
  }
  return true;
}

/* ["get_weather", {...}]. */
static bool is_pair(const tsl__mend *m, const tsl__json *list) {
  tsl__string name;
  return list->length == 2 && list->items[0].kind == TSL__JSON_STRING &&
         list->items[1].kind == TSL__JSON_OBJECT && text_of(&list->items[0], &name) &&
         tsl__mend_tool_of(m, name);
}

static bool add_list(tsl__mend *m, const tsl__json *list, uint32_t at) {
  tsl__mend_envelope e;
  if (is_pair(m, list)) return add_call(m, tsl__json_text(&list->items[0]), &list->items[1], at);
  if (!m->plan->lists) tsl__mend_note(m, TSL__REPAIR_BRACKET, at);
  for (uint32_t i = 0; i < list->length; i++)
    if (!tsl__mend_open_envelope(m, &list->items[i], &e) ||
        (m->bare && (!m->plan->bare_envelope || e.bare) && !tsl__mend_tool_meant(m, e.name)))
      return false;
  size_t before = m->calls.n;
  for (uint32_t i = 0; i < list->length; i++)
    if (!add_envelope(m, &list->items[i], at)) return m->calls.n > before;
  return true;
}

/* The calls of a message: {"content": ..., "tool_calls": [...]}. Other words than "tool_calls" hold
 * calls only where no name stands beside them. NULL: it is no message. */
static const tsl__json *calls_of(const tsl__json *message) {
  const char *key;
  tsl__string text;
  const tsl__json *list = member(message, list_keys, 1, &key);
  if (!list && !text_of(member(message, name_keys, COUNT(name_keys), &key), &text))
    list = member(message, list_keys, COUNT(list_keys), &key);
  bool holds =
      list && list->length && (list->kind == TSL__JSON_ARRAY || list->kind == TSL__JSON_OBJECT);
  return holds ? list : NULL;
}

/* An envelope, all of a list of them, or those of a message. */
static bool add_envelopes(tsl__mend *m, const tsl__json *value, uint32_t at) {
  const tsl__json *inner, *said = NULL;
  for (uint32_t i = 0; value->kind == TSL__JSON_OBJECT && i < WRAPPED_MAX; i++, value = inner) {
    if (!(inner = calls_of(value))) break;
    if (!said) said = tsl__json_member(value, "content");
    tsl__mend_note(m, TSL__REPAIR_MEMBER, at);
  }
  bool added = value->kind == TSL__JSON_OBJECT
                   ? (is_keyed(m, value) ? add_keyed(m, value, at) : add_envelope(m, value, at))
                   : value->kind == TSL__JSON_ARRAY && value->length && add_list(m, value, at);
  if (added && said && said->kind == TSL__JSON_STRING) text_of(said, &m->said);
  return added;
}

/* A string that holds an object: what is inside. */
static tsl__json *decoded(tsl__mend *m, const tsl__json *text, uint32_t at) {
  if (!text || text->kind != TSL__JSON_STRING) return NULL;
  tsl__mend_json l;
  tsl__json *value = tsl__mend_value_of(m, tsl__json_text(text), &l);
  tsl__mend_note(m, TSL__REPAIR_ENCODED, at);
  return value;
}

/* Envelopes in a row; the byte behind them, 0: there is none. `opened`: markup stands in front, so
 * that the first brace may be missing, or all may stand in a string. */
uint32_t tsl__mend_envelopes(tsl__mend *m, uint32_t at, bool opened) {
  uint32_t end = 0;
  for (;;) {
    uint32_t from = tsl__mend_space(m, at), to;
    while (end && (tsl__mend_byte(m, from) == ',' || tsl__mend_byte(m, from) == ';'))
      from = tsl__mend_space(m, from + 1);
    bool quote = opened && !end && tsl__mend_byte(m, from) == '"',
         text = quote && tsl__mend_byte(m, tsl__mend_space(m, from + 1)) == '{',
         braceless = quote && !text;
    if (tsl__mend_byte(m, from) != '{' && tsl__mend_byte(m, from) != '[' && !quote) return end;
    size_t notes = m->notes.n;
    if (braceless) tsl__mend_note(m, TSL__REPAIR_BRACKET, from);
    tsl__json *value = tsl__mend_read_json(m, from, TSL__NO_TEXT,
                                           braceless ? as_members : tsl__mend_json_value, &to);
    if (text) value = decoded(m, value, from);
    m->listed |= value && value->kind == TSL__JSON_ARRAY;
    if (!value || !add_envelopes(m, value, from)) {
      m->work += value ? to - from : 0;
      if (m->notes.n > notes) m->notes.n = notes;
      return end;
    }
    at = end = to;
  }
}
