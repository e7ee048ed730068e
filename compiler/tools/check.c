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

/* ---- members --------------------------------------------------------------------------------- */

tsl__string tsl__form_text(const tsl__json *o, const char *key) {
  return tsl__json_text(tsl__json_member(o, key));
}

const tsl__json *tsl__form_object(const tsl__json *o, const char *key) {
  const tsl__json *v = tsl__json_member(o, key);
  return v && v->kind == TSL__JSON_OBJECT ? v : NULL;
}

uint32_t tsl__form_count(const tsl__json *list) {
  if (!list || list->kind == TSL__JSON_NULL) return 0;
  return list->kind == TSL__JSON_ARRAY ? list->length : 1;
}

const tsl__json *tsl__form_one(const tsl__json *list, uint32_t i) {
  return list->kind == TSL__JSON_ARRAY ? &list->items[i] : list;
}

bool tsl__has_name(tsl__string s) { return tsl__string_has(s, tsl__string_of("{name}")); }

bool tsl__form_is_reasoning(const tsl__json *form) {
  return tsl__json_says(tsl__json_member(form, "as"), "reasoning");
}

/* Are all of a list strings, of at least so many bytes? */
static bool are_strings(const tsl__json *list, uint32_t least) {
  bool fine = true;
  for (uint32_t i = 0; fine && i < tsl__form_count(list); i++) {
    const tsl__json *one = tsl__form_one(list, i);
    fine = one->kind == TSL__JSON_STRING && one->length >= least;
  }
  return fine;
}

/* A string, or several, none of them empty. */
static bool are_texts(const tsl__json *v) { return v && v->length && are_strings(v, 1); }

/* Texts that stand in a preset and may be left out; with a list none of them is not a text. */
static bool may_be_texts(const tsl__json *v) {
  return !v || (v->kind != TSL__JSON_NULL && are_strings(v, 0));
}

static bool is_prefilled(const tsl__json *v) {
  return !v ||
         (v->kind == TSL__JSON_STRING ? tsl__json_says(v, "maybe") : v->kind <= TSL__JSON_TRUE);
}

static bool are_calls(const tsl__json *v) {
  bool fine = v && v->kind == TSL__JSON_ARRAY && v->length;
  for (uint32_t i = 0; fine && i < v->length; i++) {
    const tsl__json *c = &v->items[i];
    const tsl__json *then = tsl__json_member(c, "then"), *behind = tsl__form_object(c, "behind");
    fine = (tsl__has_name(tsl__form_text(c, "begin")) ||
            (tsl__form_text(c, "id").length && tsl__has_name(tsl__form_text(c, "then")))) &&
           tsl__form_text(c, "style").length && may_be_texts(tsl__json_member(c, "end"));
    fine = fine && (!then || are_texts(then)) &&
           (!behind ||
            (tsl__form_text(behind, "begin").length && tsl__form_text(behind, "id").length));
  }
  return fine;
}

static bool is_message(const tsl__json *v) {
  const tsl__json *end = tsl__json_member(v, "end");
  return end && end->kind == TSL__JSON_ARRAY && end->length && are_strings(end, 0) &&
         tsl__json_member(v, "as") && are_texts(tsl__json_member(v, "begin"));
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
  const tsl__json *begin = tsl__json_member(v, "begin");
  return (!begin || begin->kind == TSL__JSON_STRING || are_texts(begin)) &&
         are_texts(tsl__json_member(v, "end")) && is_prefilled(tsl__json_member(v, "prefilled")) &&
         may_be_texts(tsl__json_member(v, "after"));
}

static bool are_excluded(const tsl__json *v) {
  return !v->length || (v->kind == TSL__JSON_ARRAY && are_strings(v, 1));
}

static bool is_text_form(const tsl__json *v) {
  return v->kind == TSL__JSON_OBJECT && tsl__form_text(v, "begin").length &&
         tsl__form_text(v, "end").length;
}

static bool are_text_forms(const tsl__json *v) {
  bool fine = tsl__form_count(v) > 0;
  for (uint32_t i = 0; fine && i < tsl__form_count(v); i++)
    fine = is_text_form(tsl__form_one(v, i));
  return fine;
}

static bool are_gaps(const tsl__json *v) {
  static const char *const keys[] = {"before", "between", "after", NULL};
  bool fine = v->kind == TSL__JSON_OBJECT;
  for (uint32_t i = 0; fine && i < v->length; i++)
    fine = tsl__string_in(tsl__json_key(&v->items[i]), keys) && are_texts(&v->items[i]);
  return fine;
}

/* The member of a preset that is not as it must be, or NULL. A preset may be a user's: everything
 * that is used is checked here. */
const char *tsl__preset_wrong(const tsl__json *p) {
  const tsl__json *messages_list = tsl__json_member(p, "messages"),
                  *section = tsl__form_object(p, "section"),
                  *thinking = tsl__form_object(p, "thinking"), *text = tsl__json_member(p, "text"),
                  *exclude = tsl__json_member(p, "exclude"), *gaps = tsl__json_member(p, "gaps");
  if (!are_calls(tsl__json_member(p, "calls"))) return "calls";
  if (section && !are_texts(tsl__json_member(section, "begin"))) return "section";
  if (!messages_list && !section && !are_texts(tsl__json_member(p, "trigger"))) return "trigger";
  if (messages_list && !are_messages(messages_list)) return "messages";
  if (thinking && !is_thinking(thinking)) return "thinking";
  if (text && text->kind != TSL__JSON_NULL && !are_text_forms(text)) return "text";
  if (gaps && !are_gaps(gaps)) return "gaps";
  return exclude && !are_excluded(exclude) ? "exclude" : NULL;
}

/* ---- what cannot be distinguished ------------------------------------------------------------ */

/* The text of `exclude` that is a part of this one; NULL: none is. */
static const tsl__json *excluded_in(const tsl__json *preset, tsl__string text) {
  const tsl__json *list = tsl__json_member(preset, "exclude");
  for (uint32_t i = 0; list && i < list->length; i++)
    if (tsl__string_has(text, tsl__json_text(&list->items[i]))) return &list->items[i];
  return NULL;
}

/* Can free text hold none of these texts? If it can, *marker is the first one that it may hold. */
static bool all_kept_out(const tsl__json *preset, const tsl__json *list, tsl__string *marker) {
  for (uint32_t i = 0; i < tsl__form_count(list); i++) {
    *marker = tsl__json_text(tsl__form_one(list, i));
    if (marker->length && !excluded_in(preset, *marker)) return false;
  }
  return true;
}

static bool form_kept_out(const tsl__json *preset, const tsl__json *form, tsl__string *marker) {
  return all_kept_out(preset, tsl__json_member(form, "begin"), marker) &&
         all_kept_out(preset, tsl__json_member(form, "end"), marker);
}

const char *tsl__preset_mixed(const tsl__json *p, tsl__string *marker) {
  const tsl__json *thinking = tsl__form_object(p, "thinking"), *text = tsl__json_member(p, "text");
  if (tsl__json_member(p, "messages")) return NULL;
  if (thinking && !form_kept_out(p, thinking, marker)) return "thinking";
  for (uint32_t i = 0; i < tsl__form_count(text); i++)
    if (!form_kept_out(p, tsl__form_one(text, i), marker)) return "text";
  return NULL;
}

/* A text of a preset that something is found by, and whose it is. */
typedef struct marker {
  const char *member;
  tsl__string text;
} marker;

#define MARKERS_MAX 32u /* the texts behind these are not compared */

typedef struct markers {
  marker at[MARKERS_MAX];
  uint32_t n;
} markers;

static void add_markers(markers *to, const char *member, const tsl__json *list) {
  for (uint32_t i = 0; i < tsl__form_count(list) && to->n < MARKERS_MAX; i++) {
    tsl__string text = tsl__json_text(tsl__form_one(list, i));
    if (text.length) to->at[to->n++] = (marker){member, text};
  }
}

/* Two markers of different members, one of which begins with the other. */
static bool begin_alike(const markers *m, marker *a, marker *b) {
  for (uint32_t i = 0; i < m->n; i++)
    for (uint32_t k = 0; k < i; k++) {
      *a = m->at[k];
      *b = m->at[i];
      if (strcmp(a->member, b->member) != 0 &&
          (tsl__string_begins(a->text, b->text) || tsl__string_begins(b->text, a->text)))
        return true;
    }
  return false;
}

/* A trigger that has an excluded text in it: it is never spelled. */
static bool is_excluded(const tsl__json *preset, const markers *m, marker *a, marker *b) {
  for (uint32_t i = 0; i < m->n; i++) {
    const tsl__json *part = excluded_in(preset, m->at[i].text);
    if (!part) continue;
    *a = m->at[i];
    *b = (marker){"exclude", tsl__json_text(part)};
    return true;
  }
  return false;
}

/* A section that goes on as it ends. */
static bool ends_alike(const tsl__json *section, marker *a, marker *b) {
  *a = (marker){"section\" as \"separator", tsl__form_text(section, "separator")};
  *b = (marker){"section\" as \"end", tsl__form_text(section, "end")};
  return a->text.length && tsl__string_equal(a->text, b->text);
}

bool tsl__preset_alike(const tsl__json *p, char *message, size_t size) {
  const tsl__json *text = tsl__json_member(p, "text"), *thinking = tsl__form_object(p, "thinking"),
                  *section = tsl__form_object(p, "section");
  bool worded = tsl__form_count(text) > 0; /* calls follow such a text, and its end */
  marker a, b;
  markers begins = {.n = 0};
  if (tsl__json_member(p, "messages")) return false;
  if (section)
    add_markers(&begins, "section", tsl__json_member(section, "begin"));
  else
    add_markers(&begins, "trigger", tsl__json_member(p, "trigger"));
  bool alike = !worded && is_excluded(p, &begins, &a, &b);
  add_markers(&begins, "thinking", tsl__json_member(thinking, "begin"));
  for (uint32_t i = 0; i < tsl__form_count(text); i++)
    add_markers(&begins, "text", tsl__json_member(tsl__form_one(text, i), "begin"));
  if (!alike && !begin_alike(&begins, &a, &b) && !ends_alike(section, &a, &b)) return false;
  snprintf(message, size,
           "the preset cannot distinguish \"%.*s\" of its \"%s\" from \"%.*s\" of its \"%s\"",
           tsl__shown(a.text.at, a.text.length, 60), a.text.at, a.member,
           tsl__shown(b.text.at, b.text.length, 60), b.text.at, b.member);
  return true;
}
