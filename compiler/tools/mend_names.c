/* mend_names.c - names of tools as models write them. See mend.h.
 *
 * Problem   The request has get_weather. The model calls getWeather, functions.get_weather,
 *           GET-WEATHER or "get_weather()".
 * Idea      A name that the request has stays as it is. Another one loses its name space and its
 *           brackets. Then it is compared without case, spaces, - and _. It must be like one name
 *           only.
 * Example   Of the tools get_weather and getweather no one is meant by "GetWeather": it is an
 *           unknown tool.
 * Cost      Linear in the names of the request.
 * Tested by tests/tools/test_mend_arguments.c, tests/programs/test_lenient.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/tools/mend.h"

static char folded(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c; }
static bool is_joint(char c) { return c == '-' || c == '_' || c == ' ' || c == '\\'; }

bool tsl__mend_alike(tsl__string a, tsl__string b) {
  uint32_t i = 0, k = 0;
  for (;;) {
    while (i < a.length && is_joint(a.at[i])) i++;
    while (k < b.length && is_joint(b.at[k])) k++;
    if (i == a.length || k == b.length) return i == a.length && k == b.length && i && k;
    if (folded(a.at[i++]) != folded(b.at[k++])) return false;
  }
}

const tsl__mend_tool *tsl__mend_tool_of(const tsl__mend *m, tsl__string name) {
  for (uint32_t i = 0; i < m->plan->tool_count; i++) {
    if (tsl__string_equal(m->plan->tools[i].name, name)) return &m->plan->tools[i];
  }
  return NULL;
}

/* The one tool whose name is equal but for case, spaces, - and _. NULL: none is, or several are. */
static const tsl__mend_tool *only_alike(const tsl__mend *m, tsl__string name) {
  const tsl__mend_tool *found = NULL;
  for (uint32_t i = 0; i < m->plan->tool_count; i++) {
    if (!tsl__mend_alike(m->plan->tools[i].name, name)) continue;
    if (found) return NULL;
    found = &m->plan->tools[i];
  }
  return found;
}

/* Name spaces that models put before names: "functions.weather" is weather. */
static bool without_prefix(tsl__string *s, const char *prefix) {
  size_t n = strlen(prefix);
  if (s->length <= n || !tsl__string_begins(*s, tsl__string_of(prefix))) return false;
  s->at += n;
  s->length -= (uint32_t)n;
  return true;
}

/* Leaves out what stands in front of the last dot, if a tool has the rest as its name: that of
 * "weather.get_weather" is get_weather. */
static void cut_path(const tsl__mend *m, tsl__string *s) {
  uint32_t i = s->length;
  while (i && s->at[i - 1] != '.') i--;
  tsl__string rest = {s->at + i, s->length - i};
  if (i && tsl__mend_tool_of(m, rest)) *s = rest;
}

/* The tool that a name means, which becomes what is left of it; NULL: none. */
static const tsl__mend_tool *meant(const tsl__mend *m, tsl__string *s, bool *cut) {
  *s = tsl__mend_trimmed(*s);
  const tsl__mend_tool *tool = tsl__mend_tool_of(m, *s);
  if (tool) return tool;
  *cut = without_prefix(s, "functions.") || without_prefix(s, "tools.");
  if (s->length > 2 && !memcmp(s->at + s->length - 2, "()", 2)) s->length -= 2;
  cut_path(m, s);
  tool = tsl__mend_tool_of(m, *s);
  return tool ? tool : only_alike(m, *s);
}

const tsl__mend_tool *tsl__mend_tool_meant(const tsl__mend *m, tsl__string name) {
  bool cut;
  return meant(m, &name, &cut);
}

/* The request's name for it. Where the request has none the name stays as it is. */
tsl__string tsl__mend_known_name(tsl__mend *m, tsl__string name, uint32_t at,
                                 const tsl__mend_tool **tool) {
  tsl__string s = name;
  bool cut = false;
  *tool = meant(m, &s, &cut);
  if (tsl__mend_tool_of(m, tsl__mend_trimmed(name))) return s;
  if (*tool) {
    tsl__mend_note(m, TSL__REPAIR_NAME, at);
    return (*tool)->name;
  }
  tsl__mend_note_name(m, TSL__REPAIR_UNKNOWN_TOOL, at, s);
  return cut ? s : tsl__mend_trimmed(name);
}

/* The name at `at`: the longest of the request's, or what looks like one. The byte behind it. */
uint32_t tsl__mend_read_name(const tsl__mend *m, uint32_t at, char stop, tsl__string *out) {
  uint32_t from = at, best = 0;
  tsl__string rest = {m->text + at, m->length - at};
  if (without_prefix(&rest, "functions.")) from += 10;
  for (uint32_t i = 0; i < m->plan->tool_count; i++) {
    tsl__string n = m->plan->tools[i].name;
    if (n.length > best && n.length <= rest.length && !memcmp(n.at, rest.at, n.length) &&
        (n.length == rest.length || !tsl__mend_is_name_byte(rest.at[n.length])))
      best = n.length;
  }
  uint32_t end = from + best;
  if (!best) {
    while (end < m->length && end - from < TSL__MEND_NAME_BYTES && m->text[end] &&
           m->text[end] != stop && !strchr(" \t\r\n\"'<>{}()[]=,\\`:;", m->text[end]))
      end++;
  }
  *out = (tsl__string){m->text + from, end - from};
  return end;
}

uint32_t tsl__mend_known(const tsl__mend *m, uint32_t at, tsl__string *name) {
  uint32_t behind = tsl__mend_read_name(m, at, 0, name);
  return name->length && tsl__mend_tool_of(m, *name) ? behind : 0;
}
