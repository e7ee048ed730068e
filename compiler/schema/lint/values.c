/* values.c - rules of the lint about values: enumerations, strings, numbers, arrays.
 *
 * Problem   A scalar's schema says what is valid. It seldom says how much is enough, how a date is
 *           spelled, or what to write where there is no answer.
 * Idea      One function for each rule. Patterns are read letter by letter, outside of classes and
 *           groups, to see whether each alternative begins with ^ and ends with $.
 * Example   "^ab|cd$" has two alternatives, and each lacks an anchor: it becomes
 *           "^(?:^ab|cd$)$".
 * Bounds    Rules about what has no end are mended only where the caller asks for bounds. The
 *           bounds are wide: 1,000 characters, 100 items, integers that a double holds exactly.
 * Cost      Linear in the subschema.
 * Tested by tests/schema/test_lint.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/lint/lint.h"

/* The value of a keyword, if it is an array. */
static bool get_list(const tsl__json *schema, const char *key, tsl__json **out) {
  *out = tsl__json_member(schema, key);
  return *out && (*out)->kind == TSL__JSON_ARRAY;
}

/* ---- enumerations ---------------------------------------------------------------------------- */

/* Are all values texts, or null? */
static bool all_texts(const tsl__json *list, bool *null) {
  bool texts = list->length > 1;
  for (uint32_t i = 0; i < list->length; i++) {
    *null = *null || list->items[i].kind == TSL__JSON_NULL;
    texts =
        texts && (list->items[i].kind == TSL__JSON_STRING || list->items[i].kind == TSL__JSON_NULL);
  }
  return texts;
}

/* Letters and digits in small letters; other signs of ASCII count for nothing. */
static uint32_t folded(const char *text, uint32_t length, char *out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < length; i++) {
    char c = text[i];
    if (c >= 'A' && c <= 'Z') c = (char)(c | 0x20);
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (uint8_t)c >= 0x80) out[n++] = c;
  }
  return n;
}

/* Is it a value for "none of these"? Case, spaces and signs do not matter: "N/A" is one. */
static bool is_way_out(const tsl__json *v) {
  static const char *const words[] = {
      "unknown",  "other",       "others",       "none",         "na",        "notapplicable",
      "null",     "unspecified", "undefined",    "notsure",      "unclear",   "undetermined",
      "notfound", "any",         "misc",         "undecided",    "uncertain", "miscellaneous",
      "default",  "notstated",   "notmentioned", "unclassified", "neither",   "nooneofthese",
      "skip",     "unsure",      "notprovided",  "notgiven",     "general",   "unavailable"};
  char text[32];
  if (v->kind != TSL__JSON_STRING || v->length > sizeof text) return v->kind == TSL__JSON_NULL;
  uint32_t n = folded(v->text, v->length, text);
  if (!n) return true; /* "", "-" and the like */
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strlen(words[i]) == n && !memcmp(words[i], text, n)) return true;
  return false;
}

/* Names of members that say which branch an object is: there is always one. */
static bool is_kind(const lint_place *p) {
  static const char *const words[] = {"type", "kind", "action", "op",   "operation",
                                      "tool", "name", "method", "role", NULL};
  return tsl__string_in((tsl__string){p->key, p->key_length}, words);
}

/* A required choice without a way out makes a model invent an answer. */
void tsl__lint_no_unknown(lint *l, lint_place *p) {
  tsl__json *list;
  bool null = tsl__schema_names_type(p->at, "null");
  if (p->role != LINT_PROPERTY || !p->required || !get_list(p->at, "enum", &list) || is_kind(p) ||
      !all_texts(list, &null) || null)
    return;
  for (uint32_t i = 0; i < list->length; i++)
    if (is_way_out(&list->items[i])) return;
  bool mends = tsl__lint_mends(l);
  if (mends && !tsl__lint_append(l, list, tsl__lint_text("unknown"))) return;
  tsl__lint_find(l, p, list, mends, "required, and none of the %u values says \"unknown\"",
                 list->length - mends);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_letter(char c) {
  return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (uint8_t)c >= 0x80;
}

/* Small letters, without a space, _ or - between two letters, or a letter and a digit. Other
 * signs mean something: A+ is not A-, C is not C++, 1.5 is not 15. */
static uint32_t words_of(const char *text, uint32_t length, char *out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < length; i++) {
    char c = text[i], before = i ? text[i - 1] : 0, after = i + 1 < length ? text[i + 1] : 0;
    bool sign = c == ' ' || c == '_' || c == '-';
    if (sign && ((is_letter(before) && (is_letter(after) || is_digit(after))) ||
                 (is_digit(before) && is_letter(after))))
      continue;
    out[n++] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
  }
  return n;
}

/* The texts without case and spaces, so that equal ones can be found. */
static bool fold_all(lint *l, const tsl__json *list, tsl__json *out) {
  *out = (tsl__json){.kind = TSL__JSON_ARRAY, .length = list->length};
  out->items = tsl__arena_alloc(&l->arena, (list->length + 1u) * sizeof *out->items);
  if (!out->items) return l->failed = true, false;
  for (uint32_t i = 0; i < list->length; i++) {
    const tsl__json *v = &list->items[i];
    bool text = v->kind == TSL__JSON_STRING;
    char *letters = tsl__arena_alloc(&l->arena, (text ? v->length : 0) + 1u);
    if (!letters) return l->failed = true, false;
    uint32_t n = text ? words_of(v->text, v->length, letters) : 0;
    out->items[i] = (tsl__json){.kind = n ? TSL__JSON_STRING : TSL__JSON_NULL};
    out->items[i].text = letters;
    out->items[i].length = n;
    out->items[i].offset = i;
  }
  return true;
}

/* Of "In progress" and "in_progress" a model takes now one, now the other; the first one stays. */
void tsl__lint_enum_alike(lint *l, lint_place *p) {
  tsl__json *list, letters;
  bool mends = tsl__lint_mends(l);
  if (!get_list(p->at, "enum", &list) || !fold_all(l, list, &letters)) return;
  lint_names names;
  uint32_t kept = 0;
  if (!tsl__lint_names_of(l, &letters, &names)) return;
  for (uint32_t i = 0; i < list->length; i++) {
    const tsl__json *own = &letters.items[i], value = list->items[i];
    const tsl__json *first =
        own->kind == TSL__JSON_STRING ? tsl__lint_find_name(&names, own->text, own->length) : NULL;
    bool alike = first && first->offset < i;
    if (alike)
      tsl__lint_find(l, p, list, mends, "\"%.*s\" is spelled like an earlier value",
                     tsl__lint_shown(value.text, value.length), value.text);
    if (!alike || !mends) list->items[kept++] = value;
  }
  list->length = kept;
}

#define PREFIX_LEAST 8u /* bytes: two tokens or more */

/* Values that begin alike cost tokens that decide nothing. */
void tsl__lint_enum_prefix(lint *l, lint_place *p) {
  tsl__json *list;
  bool null = false;
  if (!get_list(p->at, "enum", &list) || !all_texts(list, &null) || null) return;
  const tsl__json *first = &list->items[0];
  uint32_t n = first->length;
  for (uint32_t i = 1; i < list->length; i++) {
    const tsl__json *v = &list->items[i];
    uint32_t same = 0;
    while (same < n && same < v->length && v->text[same] == first->text[same]) same++;
    n = same;
  }
  while (n && n < first->length && ((uint8_t)first->text[n] & 0xC0) == 0x80) n--;
  if (n >= PREFIX_LEAST)
    tsl__lint_find(l, p, list, false, "all %u values begin with \"%.*s\", %u bytes", list->length,
                   tsl__lint_shown(first->text, n), first->text, n);
}

/* ---- patterns and formats -------------------------------------------------------------------- */

/* How a pattern is anchored: each alternative at the top level. */
typedef struct anchors {
  bool begin, end, choice;
} anchors;

/* ".*" or ".+" at the beginning. */
static bool starts_free(const char *text, uint32_t n) {
  return n >= 2 && text[0] == '.' && (text[1] == '*' || text[1] == '+');
}

/* ".*" or ".+" at the end. */
static bool ends_free(const char *text, uint32_t n) {
  return n >= 2 && (text[n - 1] == '*' || text[n - 1] == '+') && text[n - 2] == '.' &&
         (n < 3 || text[n - 3] != '\\');
}

/* One alternative. `.*` says that any text may stand there, and means it. */
static void look_at_alternative(anchors *a, const char *text, uint32_t n) {
  uint32_t escapes = 0;
  a->begin = a->begin && ((n && text[0] == '^') || starts_free(text, n));
  while (n > 1 && escapes < n - 1 && text[n - 2 - escapes] == '\\') escapes++;
  a->end = a->end && ((n && text[n - 1] == '$' && escapes % 2 == 0) || ends_free(text, n));
}

/* All alternatives together: each must have its anchors. */
static anchors anchors_of(const char *text, uint32_t length) {
  anchors a = {true, true, false};
  uint32_t from = 0, depth = 0;
  bool set = false;
  for (uint32_t i = 0; i < length; i++) {
    char c = text[i];
    if (c == '\\') {
      i++;
    } else if (set) {
      set = c != ']';
    } else if (c == '[') {
      set = true;
    } else if (c == '(') {
      depth++;
    } else if (c == ')') {
      depth -= depth > 0;
    } else if (c == '|' && !depth) {
      look_at_alternative(&a, text + from, i - from);
      from = i + 1;
      a.choice = true;
    }
  }
  look_at_alternative(&a, text + from, length - from);
  return a;
}

/* The pattern with what it lacks. */
static bool anchor(lint *l, tsl__json *pattern, anchors a) {
  const char *before = a.choice  ? "^(?:"
                       : a.begin ? ""
                                 : "^",
             *after = a.choice ? ")$"
                      : a.end  ? ""
                               : "$";
  size_t n = strlen(before), m = strlen(after);
  char *text = tsl__arena_alloc(&l->arena, n + pattern->length + m + 1);
  if (!text) return l->failed = true, false;
  memcpy(text, before, n);
  memcpy(text + n, pattern->text, pattern->length);
  memcpy(text + n + pattern->length, after, m + 1);
  pattern->text = text;
  pattern->length += (uint32_t)(n + m);
  return true;
}

/* "[0-9]{5}" also matches "a 12345 b", which is seldom meant. */
void tsl__lint_anchors(lint *l, lint_place *p) {
  tsl__json *pattern = tsl__json_member(p->at, "pattern");
  if (!pattern || pattern->kind != TSL__JSON_STRING || !pattern->length) return;
  anchors a = anchors_of(pattern->text, pattern->length);
  const tsl__json before = *pattern;
  if (a.begin && a.end) return;
  bool mends = tsl__lint_mends(l);
  if (mends && !anchor(l, pattern, a)) return;
  tsl__lint_find(l, p, pattern, mends, "\"%.*s\" has no %s%s",
                 tsl__lint_shown(before.text, before.length), before.text,
                 a.begin ? "$ at its end"
                 : a.end ? "^ at its begin"
                         : "^ and no $",
                 a.choice ? " in one of its alternatives" : "");
}

/* A format's rule is not in the prompt: models write dates and times as they like unless a
 * description says how. */
void tsl__lint_format(lint *l, lint_place *p) {
  static const struct {
    const char *name, *text;
  } formats[] = {
      {"date-time", "date and time with an offset, such as 2026-01-31T13:45:00Z"},
      {"date", "year, month and day, such as 2026-01-31"},
      {"time", "time of day with an offset, such as 13:45:00Z"},
      {"duration", "a duration of ISO 8601, such as P3DT12H"},
      {"uri", "a whole URI with its scheme, such as https://example.com/a"},
      {"iri", "a whole IRI with its scheme, such as https://example.com/a"},
      {"hostname", "a host's name without scheme and path, such as www.example.com"},
      {"json-pointer", "a JSON pointer, such as /a/0"},
      {"uuid", "a UUID, such as 123e4567-e89b-12d3-a456-426614174000"},
  };
  const tsl__json *format = tsl__json_member(p->at, "format");
  if (!format || tsl__json_member(p->at, "description") || tsl__json_member(p->at, "examples") ||
      tsl__json_member(p->at, "example") || tsl__json_member(p->at, "pattern"))
    return;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    if (!tsl__json_is(format, formats[i].name, strlen(formats[i].name))) continue;
    bool mends = tsl__lint_mends(l);
    const tsl__json before = *format;
    if (mends && !tsl__lint_add(l, p->at, "description", tsl__lint_text(formats[i].text), false))
      return;
    tsl__lint_find(l, p, &before, mends, "no description says how it is spelled: %s",
                   formats[i].text);
    return;
  }
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* Is the value one of a list, or described elsewhere? */
static bool is_listed(const tsl__json *schema) {
  return tsl__json_member(schema, "enum") || tsl__json_member(schema, "const") ||
         tsl__lint_in_place(schema);
}

/* Small models go on for ever in strings that nothing ends. */
void tsl__lint_string(lint *l, lint_place *p) {
  if (!tsl__schema_names_type(p->at, "string") || is_listed(p->at) ||
      tsl__json_member(p->at, "maxLength") || tsl__json_member(p->at, "format") ||
      tsl__json_member(p->at, "pattern"))
    return;
  bool mends = tsl__lint_mends(l);
  if (mends && !tsl__lint_add(l, p->at, "maxLength", tsl__lint_number_of("1000"), false)) return;
  tsl__lint_find(l, p, NULL, mends, "a string without maxLength, pattern or format");
}

/* The same of arrays. */
void tsl__lint_array(lint *l, lint_place *p) {
  const tsl__json *items = tsl__json_member(p->at, "items");
  if (!tsl__schema_names_type(p->at, "array") || is_listed(p->at) ||
      tsl__json_member(p->at, "maxItems") || (items && items->kind == TSL__JSON_FALSE))
    return;
  bool mends = tsl__lint_mends(l);
  if (mends && !tsl__lint_add(l, p->at, "maxItems", tsl__lint_number_of("100"), false)) return;
  tsl__lint_find(l, p, NULL, mends, "an array without maxItems");
}

/* A number without an end may have more digits than its reader can hold. */
void tsl__lint_number(lint *l, lint_place *p) {
  bool integer = tsl__schema_names_type(p->at, "integer");
  bool low = tsl__json_member(p->at, "minimum") || tsl__json_member(p->at, "exclusiveMinimum");
  bool high = tsl__json_member(p->at, "maximum") || tsl__json_member(p->at, "exclusiveMaximum");
  if ((!integer && !tsl__schema_names_type(p->at, "number")) || is_listed(p->at) || (low && high))
    return;
  bool mends = tsl__lint_mends(l);
  const tsl__json least = tsl__lint_number_of("-9007199254740991"),
                  most = tsl__lint_number_of("9007199254740991");
  if (mends && !low && !tsl__lint_add(l, p->at, "minimum", least, false)) return;
  if (mends && !high && !tsl__lint_add(l, p->at, "maximum", most, false)) return;
  tsl__lint_find(l, p, NULL, mends, "%s without %s", integer ? "an integer" : "a number",
                 low    ? "maximum"
                 : high ? "minimum"
                        : "minimum and maximum");
}
