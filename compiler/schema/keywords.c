/* keywords.c - the tables that are made of keywords.def: spellings, sets, groups, vocabularies.
 *
 * Problem   A dozen passes ask what kind of keyword a node has. One is about strings, one plain.c
 *           understands, one has subschemas that speak about the same value. Lists kept by hand in
 *           each pass miss a new keyword, and nothing says so.
 * Idea      keywords.def has a column for each such question, and the lists are made here. A macro
 *           that gives a row's bit where the row belongs to the set goes over all rows. The
 *           compiler folds the bits into one constant.
 * Example   A set of the keywords with the trait STYLED is 0, then for each row
 *           "| (traits & STYLED ? OF(name) : 0)". The row of `pattern` adds its bit, that of `not`
 *           adds nothing.
 * Careful   Sets are chosen so that a keyword without traits is treated with care. `not_clause` is
 *           what does not have the trait CLAUSE, so a new keyword is in it from the start.
 * Cost      None when the library runs: the tables are constants.
 * Tested by tests/schema/test_schema.c, tests/programs/test_report.py, tests/tree/test_docs.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/keywords.h"

#include <string.h>

enum { CORE, APPLICATOR, VALIDATION, UNEVALUATED };
enum {
  ALONE,
  WITH_MEMBERS,
  WITH_ITEMS,
  WITH_CONTAINS,
  WITH_LOWER,
  WITH_UPPER,
  WITH_TYPE,
  WITH_IF,
  GROUPS
};
_Static_assert(GROUPS == TSL__KEYWORD_GROUPS + 1, "each group is in the table");
enum {
  PLAIN = 1,
  STYLED = 2,
  CHEAP_NOT = 4,
  IN_PLACE = 8,
  CONJUNCTIVE = 16,
  EVALUATES = 32,
  CONTEXT = 64,
  CLAUSE = 128,
  CLAUSE_NOT = 256
};

/* A row's own bit, if the row belongs to a set. The sets: with all of these traits and of this
 * type; with a trait; in a group; in a vocabulary. The last set is about objects and without a
 * trait. */
#define IF(condition, name) | ((condition) ? OF(name) : 0)
#define PLAIN_OF(type, name, types, traits) IF((traits) & PLAIN && (types) == (type), name)
#define STRINGS(name, text, d, s, types, v, g, traits) PLAIN_OF(T_STRING, name, types, traits)
#define NUMBERS(name, text, d, s, types, v, g, traits) PLAIN_OF(T_NUMBER, name, types, traits)
#define ARRAYS(name, text, d, s, types, v, g, traits) PLAIN_OF(T_ARRAY, name, types, traits)
#define OBJECTS(name, text, d, s, types, v, g, traits) PLAIN_OF(T_OBJECT, name, types, traits)
#define ANY_PLAIN(name, text, d, s, types, v, g, traits) IF((traits) & PLAIN, name)
#define IS_STYLED(name, text, d, s, types, v, g, traits) IF((traits) & STYLED, name)
#define IS_CHEAP(name, text, d, s, types, v, g, traits) IF((traits) & CHEAP_NOT, name)
#define IS_IN_PLACE(name, text, d, s, types, v, g, traits) IF((traits) & IN_PLACE, name)
#define IS_CONJUNCTIVE(name, text, d, s, types, v, g, traits) IF((traits) & CONJUNCTIVE, name)
#define HAS_CONTEXT(name, text, d, s, types, v, g, traits) IF((traits) & CONTEXT, name)
#define SEES_MEMBERS(name, text, d, s, types, v, g, traits) \
  IF((traits) & EVALUATES && (types) == T_OBJECT, name)
#define SEES_ITEMS(name, text, d, s, types, v, g, traits) \
  IF((traits) & EVALUATES && (types) == T_ARRAY, name)
#define NO_CLAUSE(name, text, d, s, types, v, g, traits) \
  IF((types) & T_OBJECT && !((traits) & CLAUSE), name)
#define NO_NOT_CLAUSE(name, text, d, s, types, v, g, traits) \
  IF((types) & T_OBJECT && !((traits) & CLAUSE_NOT), name)
#define IN_MEMBERS(name, text, d, s, types, v, group, traits) IF((group) == WITH_MEMBERS, name)
#define IN_ITEMS(name, text, d, s, types, v, group, traits) IF((group) == WITH_ITEMS, name)
#define IN_CONTAINS(name, text, d, s, types, v, group, traits) IF((group) == WITH_CONTAINS, name)
#define IN_LOWER(name, text, d, s, types, v, group, traits) IF((group) == WITH_LOWER, name)
#define IN_UPPER(name, text, d, s, types, v, group, traits) IF((group) == WITH_UPPER, name)
#define IN_TYPE(name, text, d, s, types, v, group, traits) IF((group) == WITH_TYPE, name)
#define IN_IF(name, text, d, s, types, v, group, traits) IF((group) == WITH_IF, name)
#define OF_APPLICATOR(name, text, d, s, types, v, g, traits) IF((v) == APPLICATOR, name)
#define OF_VALIDATION(name, text, d, s, types, v, g, traits) IF((v) == VALIDATION, name)
#define OF_UNEVALUATED(name, text, d, s, types, v, g, traits) IF((v) == UNEVALUATED, name)
#define SET(row) (0 TSL__KEYWORDS(row))

const struct keyword_sets tsl__keyword_sets = {
    .plain_strings = SET(STRINGS),
    .plain_numbers = SET(NUMBERS),
    .plain_arrays = SET(ARRAYS),
    .plain_objects = SET(OBJECTS),
    .plain = SET(ANY_PLAIN) | OF(TYPE),
    .objects = (SET(OBJECTS) & ~SET(HAS_CONTEXT)) | OF(TYPE),
    .styled = SET(IS_STYLED),
    .cheap_not = SET(IS_CHEAP),
    .in_place = SET(IS_IN_PLACE),
    .conjunctive = SET(IS_CONJUNCTIVE),
    .evaluates_members = SET(SEES_MEMBERS),
    .evaluates_items = SET(SEES_ITEMS),
    .context = SET(HAS_CONTEXT),
    .members = SET(IN_MEMBERS),
    .not_clause = SET(NO_CLAUSE),
    .not_negated_clause = SET(NO_NOT_CLAUSE),
};

const uint64_t tsl__keyword_groups[TSL__KEYWORD_GROUPS] = {
    SET(IN_MEMBERS), SET(IN_ITEMS), SET(IN_CONTAINS), SET(IN_LOWER),
    SET(IN_UPPER),   SET(IN_TYPE),  SET(IN_IF)};

const uint8_t tsl__conjunctive[] = {KW_REF, KW_DYNAMIC_REF, KW_RECURSIVE_REF, KW_ALL_OF,
                                    KW_EXTENDS};
_Static_assert(SET(IS_CONJUNCTIVE) ==
                   (OF(REF) | OF(DYNAMIC_REF) | OF(RECURSIVE_REF) | OF(ALL_OF) | OF(EXTENDS)),
               "tsl__conjunctive lists the keywords with the trait CONJUNCTIVE");

/* ---- spellings ------------------------------------------------------------------------------- */

const struct keyword_row tsl__keyword_rows[KW_COUNT] = {
#define ROW(name, text, drafts, shape, types, vocabulary, group, traits) \
  {text, drafts, shape, types},
    TSL__KEYWORDS(ROW)
#undef ROW
};

enum keyword tsl__schema_keyword(const char *key, uint32_t length) {
#define SPELLED(name, text, d, s, types, v, g, traits)                                         \
  if (length == sizeof(text) - 1 && key[0] == text[0] && !memcmp(key, text, sizeof(text) - 1)) \
    return KW_##name;
  TSL__KEYWORDS(SPELLED)
#undef SPELLED
  return KW_COUNT;
}

/* ---- vocabularies ---------------------------------------------------------------------------- */

/* References and identifiers are always understood, and formats are asserted as the caller says,
 * whatever the vocabularies. */
bool tsl__schema_vocabulary(const char *uri, uint32_t length, uint64_t *keywords) {
#define OF_2019 "https://json-schema.org/draft/2019-09/vocab/"
#define OF_2020 "https://json-schema.org/draft/2020-12/vocab/"
  static const struct {
    const char *uri;
    uint64_t keywords;
  } known[] = {
      {OF_2020 "core", 0},
      {OF_2020 "applicator", SET(OF_APPLICATOR)},
      {OF_2020 "unevaluated", SET(OF_UNEVALUATED)},
      {OF_2020 "validation", SET(OF_VALIDATION)},
      {OF_2020 "meta-data", 0},
      {OF_2020 "format-annotation", 0},
      {OF_2020 "format-assertion", 0},
      {OF_2020 "content", 0},
      {OF_2019 "core", 0},
      {OF_2019 "applicator", SET(OF_APPLICATOR) | SET(OF_UNEVALUATED)},
      {OF_2019 "validation", SET(OF_VALIDATION)},
      {OF_2019 "meta-data", 0},
      {OF_2019 "format", 0},
      {OF_2019 "content", 0},
  };
#undef OF_2019
#undef OF_2020
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strlen(known[i].uri) == length && !memcmp(known[i].uri, uri, length))
      return *keywords = known[i].keywords, true;
  return false;
}

uint64_t tsl__schema_vocabularies(void) {
  return SET(OF_APPLICATOR) | SET(OF_UNEVALUATED) | SET(OF_VALIDATION);
}
