/* types.c - what a "type" that is none was meant for.
 *
 * Problem   Each language has names of its own for types: str, dict, Int64. Some write a format or
 *           the type of a tool there.
 * Idea      A table of such names, each with what to write. Then the names of the seven types, of
 *           which one letter may be wrong.
 * Example   "Int" is "integer", "date" is a string with that format, "strnig" is "string".
 * Tested by tests/schema/test_schema_report.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "compiler/schema/report/words.h"

/* Is the name that word, in letters of either case? `word` has small letters. */
static bool same_letters(const tsl__json *name, const char *word) {
  for (uint32_t i = 0; i < name->length; i++)
    if (!word[i] || (name->text[i] != word[i] && (name->text[i] | 0x20) != word[i])) return false;
  return !word[name->length];
}

/* The names of types, of which one letter may be wrong; short names are like many others. Then
 * names that other languages and APIs have for types; and what is no schema but has one. */
#define TYPES 6u

const char *tsl__schema_meant_type(const tsl__json *name) {
  static const struct {
    const char *word, *meant;
  } others[] = {
      {"string", "is \"string\" meant?"},
      {"integer", "is \"integer\" meant?"},
      {"number", "is \"number\" meant?"},
      {"boolean", "is \"boolean\" meant?"},
      {"object", "is \"object\" meant?"},
      {"array", "is \"array\" meant?"},
      {"str", "is \"string\" meant?"},
      {"text", "is \"string\" meant?"},
      {"int", "is \"integer\" meant?"},
      {"long", "is \"integer\" meant?"},
      {"float", "is \"number\" meant?"},
      {"double", "is \"number\" meant?"},
      {"decimal", "is \"number\" meant?"},
      {"bool", "is \"boolean\" meant?"},
      {"dict", "is \"object\" meant?"},
      {"map", "is \"object\" meant?"},
      {"list", "is \"array\" meant?"},
      {"tuple", "is \"array\" meant?"},
      {"null", "is \"null\" meant?"},
      {"none", "is \"null\" meant?"},
      {"nul", "is \"null\" meant?"},
      {"any", "without \"type\" all are"},
      {"enum", "enum is a keyword, beside \"type\" or without it"},
      {"date", "a date is a string with \"format\": \"date\""},
      {"datetime", "a time is a string with \"format\": \"date-time\""},
      {"time", "a time is a string with \"format\": \"time\""},
      {"email", "an address is a string with \"format\": \"email\""},
      {"uuid", "a UUID is a string with \"format\": \"uuid\""},
      {"uri", "a URI is a string with \"format\": \"uri\""},
      {"function", "a tool's schema is its \"parameters\""},
      {"json_schema", "a response format's schema is its \"schema\""},
      {"json_object", "is \"object\" meant, or what \"schema\" holds?"},
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (same_letters(name, others[i].word)) return others[i].meant;
  if (name->length && memchr(name->text, '|', name->length))
    return "several types are a list: [\"string\", \"null\"]";
  char letters[TSL__WORD_MAX];
  const uint32_t n = tsl__near_letters(name->text, name->length, letters);
  for (size_t i = 0; n != UINT32_MAX && i < TYPES; i++)
    if (tsl__near_apart(letters, n, others[i].word, (uint32_t)strlen(others[i].word), 1) <= 1)
      return others[i].meant;
  return NULL;
}
