/* content.c - contentEncoding and contentMediaType, where the options ask for them.
 *
 * Problem   Both keywords are annotations. A caller who wants a string in base64, or a JSON text in
 *           a string, has to ask for that (assert_content).
 * Idea      An encoding is a pattern, as a format is. The pattern allows what an encoder of RFC
 *           4648 or RFC 2045 writes. So a group is padded, and bits that no byte needs are zero.
 *           A JSON text is a grammar, of which each terminal is spelled as it stands in a string
 *           (text_grammar.c).
 *           With contentSchema it is a value of that schema instead (inner/inner.c).
 * Limits    The bytes that an encoding stands for are not looked at. So an encoding and a JSON text
 *           together are refused.
 * Tested by tests/schema/test_schema.c, tests/cases/schema/content.jsonl,
 *           tests/package/test_package_content.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/node.h"

#define B64 "[A-Za-z0-9+/]"
#define B64U "[A-Za-z0-9_-]"
#define B32 "[A-Z2-7]"
#define B32H "[0-9A-V]"
#define QP "(?:[\\t ]*(?:[!-<>-~]|=[0-9A-F]{2}))*" /* no space stands at the end of a line */
#define QP_LINE "[^\\r\\n]{0,76}"

static const struct {
  const char *name, *pattern; /* NULL: bytes as they are, which asks for nothing */
} encodings[] = {
    {"base64", "^(?:" B64 "{4})*(?:" B64 "[AQgw]==|" B64 "{2}[AEIMQUYcgkosw048]=)?$"},
    {"base64url", "^(?:" B64U "{4})*(?:" B64U "[AQgw](?:==)?|" B64U "{2}[AEIMQUYcgkosw048]=?)?$"},
    {"base32", "^(?:" B32 "{8})*(?:" B32 "[AEIMQUY4]={6}|" B32 "{3}[AQ]={4}|" B32
               "{4}[ACEGIKMOQSUWY246]={3}|" B32 "{6}[AIQY]=)?$"},
    {"base32hex", "^(?:" B32H "{8})*(?:" B32H "[048CGKOS]={6}|" B32H "{3}[0G]={4}|" B32H
                  "{4}[02468ACEGIKMOQSU]={3}|" B32H "{6}[08GO]=)?$"},
    {"base16", "^(?:[0-9A-Fa-f]{2})*$"},
    {"hex", "^(?:[0-9A-Fa-f]{2})*$"},
    {"quoted-printable",
     "^(?=(?:" QP_LINE "\\r?\\n)*" QP_LINE "$)(?:" QP "(?:[\\t ]*=)?\\r?\\n)*" QP "$"},
    {"7bit", NULL},
    {"8bit", NULL},
    {"binary", NULL},
};

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

/* The same word, in letters of any case. */
static bool is_word(const char *text, size_t length, const char *word) {
  size_t n = 0;
  while (n < length && word[n] && lower(text[n]) == word[n]) n++;
  return n == length && !word[n];
}

bool tsl__content_encoding(const tsl__json *name, const char **pattern) {
  for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++)
    if (is_word(name->text, name->length, encodings[i].name))
      return *pattern = encodings[i].pattern, true;
  return false;
}

/* "application/json", or a type that is written as JSON, such as "application/ld+json". What
 * follows a semicolon says nothing about that. */
bool tsl__content_is_json(const tsl__json *type) {
  static const char suffix[] = "+json";
  const char *end = memchr(type->text, ';', type->length);
  size_t n = end ? (size_t)(end - type->text) : type->length, tail = sizeof suffix - 1;
  while (n && type->text[n - 1] == ' ') n--;
  return is_word(type->text, n, "application/json") ||
         (n > tail && is_word(type->text + n - tail, tail, suffix) &&
          memchr(type->text, '/', n - tail));
}

bool tsl__content_described(const tsl__json *at, uint32_t draft) {
  const tsl__json *schema = tsl__json_get(at, "contentSchema", 13);
  return schema && draft & (D19 | D20 | AUTO) && schema->kind != TSL__JSON_TRUE &&
         (schema->kind != TSL__JSON_OBJECT || schema->length);
}

/* RFC 8259, with the white space that values of this schema have. */
#define JSON_TEXT(s, space)                                                        \
  "start: " s " value " s "\n"                                                     \
  "value: object | array | STRING | NUMBER | \"true\" | \"false\" | \"null\"\n"    \
  "object: \"{\" " s " (member (\",\" " s " member)*)? \"}\"\n"                    \
  "member: STRING " s " \":\" " s " value " s "\n"                                 \
  "array: \"[\" " s " (item (\",\" " s " item)*)? \"]\"\n"                         \
  "item: value " s "\n"                                                            \
  "STRING: /\"([^\"\\\\\\x00-\\x1f]|\\\\([\"\\\\\\/bfnrt]|u[0-9a-fA-F]{4}))*\"/\n" \
  "NUMBER: /-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?/\n" space

bool tsl__content_json(struct schema *s, const tsl__json *at, tsl__expr *out) {
  static const char any[] = JSON_TEXT("SPACE?", "SPACE: /[ \\t\\n\\r]+/\n"),
                    plain[] = JSON_TEXT("SPACE?", "SPACE: / |\\n{1,2}[ \\t]{0,64}/\n"),
                    compact[] = JSON_TEXT("", "");
  const char *text = s->options.whitespace == TSL_WS_ANY       ? any
                     : s->options.whitespace == TSL_WS_COMPACT ? compact
                                                               : plain;
  const tsl__json grammar = {.kind = TSL__JSON_GRAMMAR,
                             .text = text,
                             .length = (uint32_t)strlen(text),
                             .offset = at->offset};
  if (s->content_json == TSL__NONE &&
      !tsl__schema_text_grammar(s, &grammar, false, &s->content_json))
    return false;
  if (tsl__schema_bare_strings(s) && s->content_bare == TSL__NONE &&
      !tsl__schema_text_grammar(s, &grammar, true, &s->content_bare))
    return false;
  return *out = s->content_json, true;
}
