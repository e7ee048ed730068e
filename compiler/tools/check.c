/* check.c - whether a preset is what tools.c can use. See tools.h.
 *
 * Problem   A preset may be a user's own. Everything that is used of it must be there, and of the
 *           right kind.
 * Idea      One function for each part of a preset. tools.c uses what they accept without a further
 *           check.
 * Mixed     A block of thinking ends with a text such as </think>. If free text may hold it, nobody
 *           can say where the block ends. Free text never holds what `exclude` names a part of.
 *           tsl__preset_mixed returns the member, "thinking" or "text", and the text that is not
 *           kept out.
 * Example   "thinking": {"begin": "<think>", "end": "</think>"} without "exclude": the member is
 *           "thinking", and the text <think>. With "exclude": ["think>"] both markers are kept out.
 * Alike     A trigger, a section, a block of thinking and a text in words of its own are found by
 *           their begins. If one begin starts with another, or `exclude` has a part of a trigger,
 *           tsl__preset_alike says which two.
 * Order     A section of calls needs no trigger, as its begin finds it. Messages need none either.
 *           Otherwise a preset without "trigger" is wrong, and the name of that member is returned.
 * Errors    tsl__preset_wrong returns the name of the first member that is not as it must be. A
 *           preset of the library is never wrong: a test looks at each of them.
 * Cost      Linear in the preset.
 * Tested by tests/tags/test_tags_errors.c, tests/programs/test_tools.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "compiler/tools/tools.h"

#define GET(o, key) tsl__json_get((o), (key), sizeof(key) - 1)

/* ---- members --------------------------------------------------------------------------------- */

tsl__string tsl__form_text(const tsl__json *o, const char *key) {
  const tsl__json *v = o ? tsl__json_get(o, key, strlen(key)) : NULL;
  return v && v->kind == TSL__JSON_STRING ? (tsl__string){v->text, v->length}
                                          : (tsl__string){"", 0};
}

const tsl__json *tsl__form_object(const tsl__json *o, const char *key) {
  const tsl__json *v = tsl__json_get(o, key, strlen(key));
  return v && v->kind == TSL__JSON_OBJECT ? v : NULL;
}

bool tsl__has_name(tsl__string s) {
  for (uint32_t i = 0; i + 6 <= s.length; i++)
    if (!memcmp(s.at + i, "{name}", 6)) return true;
  return false;
}

bool tsl__form_is_reasoning(const tsl__json *form) {
  return tsl__json_is(GET(form, "as"), "reasoning", 9);
}

/* A string, or several, none of them empty. */
static bool are_texts(const tsl__json *v) {
  bool fine = v && v->length && (v->kind == TSL__JSON_STRING || v->kind == TSL__JSON_ARRAY);
  for (uint32_t i = 0; fine && v->kind == TSL__JSON_ARRAY && i < v->length; i++)
    fine = v->items[i].kind == TSL__JSON_STRING && v->items[i].length;
  return fine;
}

/* Texts that stand in a preset and may be left out; with a list none of them is not a text. */
static bool may_be_texts(const tsl__json *v) {
  bool fine = !v || v->kind == TSL__JSON_STRING || v->kind == TSL__JSON_ARRAY;
  for (uint32_t i = 0; fine && v && v->kind == TSL__JSON_ARRAY && i < v->length; i++)
    fine = v->items[i].kind == TSL__JSON_STRING;
  return fine;
}

static bool is_prefilled(const tsl__json *v) {
  return !v ||
         (v->kind == TSL__JSON_STRING ? tsl__json_is(v, "maybe", 5) : v->kind <= TSL__JSON_TRUE);
}

static bool are_calls(const tsl__json *v) {
  bool fine = v && v->kind == TSL__JSON_ARRAY && v->length;
  for (uint32_t i = 0; fine && i < v->length; i++) {
    const tsl__json *c = &v->items[i];
    const tsl__json *then = GET(c, "then"), *behind = tsl__form_object(c, "behind");
    fine = (tsl__has_name(tsl__form_text(c, "begin")) ||
            (tsl__form_text(c, "id").length && tsl__has_name(tsl__form_text(c, "then")))) &&
           tsl__form_text(c, "style").length && may_be_texts(GET(c, "end"));
    fine = fine && (!then || are_texts(then)) &&
           (!behind ||
            (tsl__form_text(behind, "begin").length && tsl__form_text(behind, "id").length));
  }
  return fine;
}

static bool is_message(const tsl__json *v) {
  const tsl__json *end = GET(v, "end");
  bool fine = end && end->kind == TSL__JSON_ARRAY && end->length && GET(v, "as") &&
              are_texts(GET(v, "begin"));
  for (uint32_t i = 0; fine && i < end->length; i++) fine = end->items[i].kind == TSL__JSON_STRING;
  return fine;
}

/* At least one of them is text. */
static bool are_messages(const tsl__json *v) {
  bool fine = v->kind == TSL__JSON_ARRAY, texts = false;
  for (uint32_t i = 0; fine && i < v->length; i++) {
    fine = is_message(&v->items[i]);
    texts |= fine && !tsl__form_is_reasoning(&v->items[i]);
  }
  return fine && texts;
}

static bool is_thinking(const tsl__json *v) {
  const tsl__json *begin = GET(v, "begin");
  return (!begin || begin->kind == TSL__JSON_STRING || are_texts(begin)) &&
         are_texts(GET(v, "end")) && is_prefilled(GET(v, "prefilled")) &&
         may_be_texts(GET(v, "after"));
}

static bool are_excluded(const tsl__json *v) {
  bool fine = v->kind == TSL__JSON_ARRAY || !v->length;
  for (uint32_t i = 0; fine && i < v->length; i++)
    fine = v->items[i].kind == TSL__JSON_STRING && v->items[i].length;
  return fine;
}

static bool is_text_form(const tsl__json *v) {
  return v->kind == TSL__JSON_OBJECT && tsl__form_text(v, "begin").length &&
         tsl__form_text(v, "end").length;
}

static bool are_text_forms(const tsl__json *v) {
  bool fine = v->kind != TSL__JSON_ARRAY ? is_text_form(v) : v->length > 0;
  for (uint32_t i = 0; fine && v->kind == TSL__JSON_ARRAY && i < v->length; i++)
    fine = is_text_form(&v->items[i]);
  return fine;
}

static bool are_gaps(const tsl__json *v) {
  static const char *const keys[] = {"before", "between", "after"};
  bool fine = v->kind == TSL__JSON_OBJECT;
  for (uint32_t i = 0; fine && i < v->length; i++) {
    bool known = false;
    for (size_t k = 0; k < sizeof keys / sizeof *keys && !known; k++)
      known = strlen(keys[k]) == v->items[i].key_length &&
              !memcmp(keys[k], v->items[i].key, v->items[i].key_length);
    fine = known && are_texts(&v->items[i]);
  }
  return fine;
}

/* The member of a preset that is not as it must be, or NULL. A preset may be a user's: everything
 * that is used is checked here. */
const char *tsl__preset_wrong(const tsl__json *p) {
  const tsl__json *messages_list = GET(p, "messages"), *section = tsl__form_object(p, "section"),
                  *thinking = tsl__form_object(p, "thinking"), *text = GET(p, "text"),
                  *exclude = GET(p, "exclude"), *gaps = GET(p, "gaps");
  if (!are_calls(GET(p, "calls"))) return "calls";
  if (section && !are_texts(GET(section, "begin"))) return "section";
  if (!messages_list && !section && !are_texts(GET(p, "trigger"))) return "trigger";
  if (messages_list && !are_messages(messages_list)) return "messages";
  if (thinking && !is_thinking(thinking)) return "thinking";
  if (text && text->kind != TSL__JSON_NULL && !are_text_forms(text)) return "text";
  if (gaps && !are_gaps(gaps)) return "gaps";
  return exclude && !are_excluded(exclude) ? "exclude" : NULL;
}

/* ---- what cannot be distinguished ------------------------------------------------------------ */

/* Does free text never hold the marker? It does not if a part of it is excluded. */
static bool is_kept_out(const tsl__json *preset, tsl__string marker) {
  const tsl__json *list = GET(preset, "exclude");
  for (uint32_t i = 0; list && i < list->length; i++) {
    const tsl__json *e = &list->items[i];
    for (uint32_t at = 0; at + e->length <= marker.length; at++)
      if (!memcmp(marker.at + at, e->text, e->length)) return true;
  }
  return !marker.length;
}

/* The first text of a list that free text may hold. */
static bool all_kept_out(const tsl__json *preset, const tsl__json *list, tsl__string *marker) {
  bool several = list && list->kind == TSL__JSON_ARRAY;
  for (uint32_t i = 0; list && i < (several ? list->length : 1); i++) {
    const tsl__json *one = several ? &list->items[i] : list;
    *marker = (tsl__string){one->text, one->length};
    if (!is_kept_out(preset, *marker)) return false;
  }
  return true;
}

static bool form_kept_out(const tsl__json *preset, const tsl__json *form, tsl__string *marker) {
  return all_kept_out(preset, GET(form, "begin"), marker) &&
         all_kept_out(preset, GET(form, "end"), marker);
}

const char *tsl__preset_mixed(const tsl__json *p, tsl__string *marker) {
  const tsl__json *thinking = tsl__form_object(p, "thinking"), *text = GET(p, "text");
  if (GET(p, "messages")) return NULL;
  if (thinking && !form_kept_out(p, thinking, marker)) return "thinking";
  bool several = text && text->kind == TSL__JSON_ARRAY, some = text && text->kind > TSL__JSON_TRUE;
  for (uint32_t i = 0; some && i < (several ? text->length : 1); i++)
    if (!form_kept_out(p, several ? &text->items[i] : text, marker)) return "text";
  return NULL;
}

/* A text of a preset that something is found by, and whose it is. */
typedef struct marker {
  const char *member;
  tsl__string text;
} marker;

#define MARKERS_MAX 32u /* of each kind; the texts behind these are not compared */

typedef struct markers {
  marker at[MARKERS_MAX];
  uint32_t n;
} markers;

static void add_markers(markers *to, const char *member, const tsl__json *list) {
  bool several = list && list->kind == TSL__JSON_ARRAY;
  for (uint32_t i = 0; list && i < (several ? list->length : 1) && to->n < MARKERS_MAX; i++) {
    const tsl__json *one = several ? &list->items[i] : list;
    if (one->kind == TSL__JSON_STRING && one->length)
      to->at[to->n++] = (marker){member, {one->text, one->length}};
  }
}

static bool begins_with(tsl__string whole, tsl__string part) {
  return part.length <= whole.length && !memcmp(whole.at, part.at, part.length);
}

/* Two markers of different members, one of which begins with the other. */
static bool begin_alike(const markers *m, const marker **a, const marker **b) {
  for (uint32_t i = 0; i < m->n; i++)
    for (uint32_t k = 0; k < i; k++)
      if (strcmp(m->at[i].member, m->at[k].member) && (begins_with(m->at[i].text, m->at[k].text) ||
                                                       begins_with(m->at[k].text, m->at[i].text))) {
        *a = &m->at[k];
        *b = &m->at[i];
        return true;
      }
  return false;
}

/* A trigger that has an excluded text in it: it is never spelled. */
static bool is_excluded(const tsl__json *preset, const markers *m, const marker **a, marker *out) {
  const tsl__json *list = GET(preset, "exclude");
  for (uint32_t i = 0; i < m->n; i++) {
    tsl__string text = m->at[i].text;
    for (uint32_t k = 0; list && k < list->length; k++)
      for (uint32_t at = 0; at + list->items[k].length <= text.length; at++)
        if (!memcmp(text.at + at, list->items[k].text, list->items[k].length)) {
          *a = &m->at[i];
          *out = (marker){"exclude", {list->items[k].text, list->items[k].length}};
          return true;
        }
  }
  return false;
}

static int shown(tsl__string s) { return (int)(s.length < 60 ? s.length : 60); }

bool tsl__preset_alike(const tsl__json *p, char *message, size_t size) {
  const tsl__json *text = GET(p, "text"), *thinking = tsl__form_object(p, "thinking"),
                  *section = tsl__form_object(p, "section");
  const marker *a = NULL, *b = NULL;
  marker other;
  markers begins = {.n = 0};
  if (GET(p, "messages")) return false;
  if (section)
    add_markers(&begins, "section", GET(section, "begin"));
  else
    add_markers(&begins, "trigger", GET(p, "trigger"));
  bool worded = text && text->kind > TSL__JSON_TRUE; /* calls follow such a text, and its end */
  if (!worded && is_excluded(p, &begins, &a, &other)) {
    b = &other;
  } else {
    if (thinking) add_markers(&begins, "thinking", GET(thinking, "begin"));
    bool several = text && text->kind == TSL__JSON_ARRAY;
    for (uint32_t i = 0; worded && i < (several ? text->length : 1); i++)
      add_markers(&begins, "text", GET(several ? &text->items[i] : text, "begin"));
    tsl__string separator = tsl__form_text(section, "separator"),
                end = tsl__form_text(section, "end");
    if (!begin_alike(&begins, &a, &b)) {
      if (!separator.length || separator.length != end.length ||
          memcmp(separator.at, end.at, end.length))
        return false;
      begins.at[0] = (marker){"section\" as \"separator", separator};
      other = (marker){"section\" as \"end", end};
      a = &begins.at[0];
      b = &other;
    }
  }
  snprintf(message, size,
           "the preset cannot distinguish \"%.*s\" of its \"%s\" from \"%.*s\" of its \"%s\"",
           shown(a->text), a->text.at, a->member, shown(b->text), b->text.at, b->member);
  return true;
}
