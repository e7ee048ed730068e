/* limit_shapes.h - the schemas, patterns and grammars whose cost tests/engine/test_limits.c
 * measures at two sizes.
 *
 * Problem   A hostile text costs far more than its length. To find such texts, one needs a text of
 *           every kind, at any size.
 * Idea      A shape is a function that writes a text of size n into a buffer. Three tables say what
 *           is expected when n doubles. `numbers` cost the same. `lists` cost at most twice as
 *           much. `steep` end with an answer or with a limit's error.
 * Example   big_enum at n = 2 writes {"enum":["name0","name1"]}. At n = 20,000 and n = 40,000 the
 *           steps, expressions, states and bytes may double, and no more.
 * Extend    Write a function, and add a row to one of the three tables at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_ENGINE_LIMIT_SHAPES_H
#define TSL_TESTS_ENGINE_LIMIT_SHAPES_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* The text that is being written. */
static char *text;
static size_t length, room;

static void begin(void) { length = 0; }
static void add(const char *format, ...) {
  va_list args;
  if (room - length < 256) text = realloc(text, room = room * 2 + 1024);
  va_start(args, format);
  length += (size_t)vsnprintf(text + length, room - length, format, args);
  va_end(args);
}

typedef enum shape_kind { SCHEMA, REGEX, GBNF, TAGS } shape_kind;

/* ---- shapes: n is what is doubled ------------------------------------------------------------ */

static void max_items(unsigned n) {
  add("{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"maxItems\":%u}", n);
}
static void min_items(unsigned n) {
  add("{\"type\":\"array\",\"items\":{\"type\":\"null\"},\"minItems\":%u}", n);
}
static void max_length(unsigned n) { add("{\"type\":\"string\",\"maxLength\":%u}", n); }
static void max_properties(unsigned n) { add("{\"type\":\"object\",\"maxProperties\":%u}", n); }
static void big_maximum(unsigned n) { add("{\"type\":\"integer\",\"maximum\":%u}", n); }
static void repeat(unsigned n) { add("a{1,%u}b", n); }
static void nested_repeat(unsigned n) { add("((a{%u}){%u}){1000}", n, n); }
static void gbnf_repeat(unsigned n) { add("root ::= \"a\"{1,%u} \"b\"", n); }

static void big_enum(unsigned n) {
  add("{\"enum\":[");
  for (unsigned i = 0; i < n; i++) add("%s\"value %u\"", i ? "," : "", i * 2654435761u);
  add("]}");
}
static void many_properties(unsigned n) {
  add("{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{");
  for (unsigned i = 0; i < n; i++) add("%s\"p%u\":{\"type\":\"integer\"}", i ? "," : "", i);
  add("}}");
}
static void any_of_any_of(unsigned n) {
  for (unsigned i = 0; i < n; i++) add("{\"anyOf\":[{\"const\":%u},", i);
  add("{\"type\":\"null\"}");
  for (unsigned i = 0; i < n; i++) add("]}");
}
static void chain_of_refs(unsigned n) {
  add("{\"$defs\":{");
  for (unsigned i = 0; i < n; i++)
    add("\"d%u\":{\"type\":\"object\",\"properties\":{\"x\":{\"$ref\":\"#/$defs/d%u\"}}},", i,
        i + 1);
  add("\"d%u\":{\"type\":\"null\"}},\"$ref\":\"#/$defs/d0\"}", n);
}
/* n subschemas of one object, and as many references to them. */
static void referred(unsigned n, const char *of, const char *to) {
  add("{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$defs\":{");
  for (unsigned i = 0; i < n; i++)
    add("%s\"p%u\":{", i ? "," : "", i), add(of, i), add("\"type\":\"integer\"}");
  add("},\"properties\":{");
  for (unsigned i = 0; i < n; i++)
    add("%s\"p%u\":{\"$ref\":\"", i ? "," : "", i), add(to, i), add("\"}");
  add("}}");
}
static void refs_to_ids(unsigned n) { referred(n, "\"$id\":\"http://x/%u\",", "http://x/%u"); }
static void refs_to_anchors(unsigned n) { referred(n, "\"$anchor\":\"a%u\",", "#a%u"); }
static void refs_to_members(unsigned n) { referred(n, "\"title\":\"%u\",", "#/$defs/p%u"); }
/* Resources that refer to one another, each with a dynamic anchor of this name: in how many orders
 * can they be entered? */
static void scopes(unsigned n, const char *name) {
  add("{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$ref\":\"http://x/"
      "0\",\"$defs\":{");
  for (unsigned i = 0; i < n; i++) {
    add("%s\"p%u\":{\"$id\":\"http://x/%u\",\"$dynamicAnchor\":\"", i ? "," : "", i, i),
        add(name, i), add("\",\"properties\":{");
    for (unsigned k = 0; k < n; k++)
      add("%s\"p%u\":{\"$ref\":\"http://x/%u\"}", k ? "," : "", k, k);
    add("},\"additionalProperties\":{\"$dynamicRef\":\"#"), add(name, i), add("\"}}");
  }
  add("}}");
}
static void scopes_of_one_name(unsigned n) { scopes(n, "q"); }
static void scopes_of_many_names(unsigned n) { scopes(n, "q%u"); }
static void required(unsigned n) {
  add("{\"type\":\"object\",\"properties\":{");
  for (unsigned i = 0; i < n; i++) add("%s\"p%u\":{\"type\":\"null\"}", i ? "," : "", i);
  add("},\"required\":[");
  for (unsigned i = 0; i < n; i++) add("%s\"p%u\"", i ? "," : "", i);
  add("]}");
}
static void one_of(unsigned n, const char *branch) {
  add("{\"oneOf\":[");
  for (unsigned i = 0; i < n; i++) add(i ? "," : ""), add(branch, i, i);
  add("]}");
}
static void one_of_prefixes(unsigned n) {
  one_of(n, "{\"type\":\"string\",\"pattern\":\"^k%u:\"}");
}
static void one_of_titles(unsigned n) { one_of(n, "{\"const\":\"k%u\",\"title\":\"t%u\"}"); }
static void one_of_ranges(unsigned n) {
  one_of(n, "{\"type\":\"integer\",\"minimum\":%ue1,\"maximum\":%u.9e1}");
}
static void alternatives(unsigned n) {
  for (unsigned i = 0; i < n; i++) add("%sw%uz", i ? "|" : "", i * 2654435761u);
}
static void many_rules(unsigned n) {
  add("root ::= r0\n");
  for (unsigned i = 0; i < n; i++) add("r%u ::= \"a\" r%u | \"b\"\n", i, i + 1);
  add("r%u ::= \"c\"\n", n);
}
static void ambiguous(unsigned n) {
  add("root ::= s\ns ::= s s | \"a\"");
  for (unsigned i = 0; i < n; i++) add(" | \"b%u\"", i);
}

static void names_listed(unsigned n) {
  add("{\"type\":\"object\",\"propertyNames\":{\"enum\":[");
  for (unsigned i = 0; i < n; i++) add("%s\"p%u\"", i ? "," : "", i);
  add("]}}");
}
static void prefix_items(unsigned n) {
  add("{\"type\":\"array\",\"prefixItems\":[");
  for (unsigned i = 0; i < n; i++) add("%s{\"type\":\"integer\"}", i ? "," : "");
  add("]}");
}
static void numbers_listed(unsigned n) {
  add("{\"enum\":[");
  for (unsigned i = 0; i < n; i++) add("%s%u", i ? "," : "", i * 2654435761u);
  add("]}");
}
static void objects_to_choose(unsigned n) {
  add("{\"anyOf\":[");
  for (unsigned i = 0; i < n; i++)
    add("%s{\"properties\":{\"a%u\":{\"const\":%u}},\"required\":[\"a%u\"]}", i ? "," : "", i, i,
        i);
  add("],\"type\":\"object\"}");
}
static void strings_to_choose(unsigned n) {
  add("{\"anyOf\":[");
  for (unsigned i = 0; i < n; i++)
    add("%s{\"type\":\"string\",\"pattern\":\"^a%u.*b$\"}", i ? "," : "", i);
  add("]}");
}
static void all_of(unsigned n) {
  add("{\"allOf\":[");
  for (unsigned i = 0; i < n; i++)
    add("%s{\"properties\":{\"a%u\":{\"type\":\"integer\"}}}", i ? "," : "", i);
  add("]}");
}
static void property_patterns(unsigned n) {
  add("{\"type\":\"object\",\"properties\":{");
  for (unsigned i = 0; i < n; i++)
    add("%s\"p%u\":{\"type\":\"string\",\"pattern\":\"^\\\\p{Lu}%u\"}", i ? "," : "", i, i);
  add("}}");
}
static void same_property(unsigned n) {
  for (unsigned i = 0; i < n; i++) add("\\p{L}");
}
static void formats(unsigned n) {
  add("{\"type\":\"object\",\"properties\":{");
  for (unsigned i = 0; i < n; i++)
    add("%s\"p%u\":{\"type\":\"string\",\"format\":\"idn-email\"}", i ? "," : "", i);
  add("}}");
}
/* d0 leads to the last one in 2^n ways. */
static void doubled(unsigned n, const char *how, const char *aside, const char *last) {
  add("{\"$defs\":{");
  for (unsigned i = 0; i < n; i++)
    add("\"d%u\":{\"%s\":[{\"$ref\":\"#/$defs/d%u\"},{\"$ref\":\"#/$defs/d%u\"%s}]},", i, how,
        i + 1, i + 1, aside);
  add("\"d%u\":%s},\"$ref\":\"#/$defs/d0\"}", n, last);
}
static void all_of_doubled(unsigned n) {
  doubled(n, "allOf", ",\"minimum\":1", "{\"type\":\"integer\"}");
}

/* Shapes for which a limit or an answer will do; n is how long. */
static void any_of_doubled(unsigned n) { doubled(n, "anyOf", "", "{\"type\":\"object\"}"); }
static void any_of_scalars_doubled(unsigned n) {
  doubled(n, "anyOf", ",\"minLength\":0", "{\"type\":\"null\"}");
}
static void one_of_doubled(unsigned n) {
  doubled(n, "oneOf", ",\"maxProperties\":9", "{\"type\":\"object\",\"required\":[\"a\"]}");
}
static void many_patterns(unsigned n) {
  add("{\"allOf\":[");
  for (unsigned i = 0; i < n; i++)
    add("%s{\"type\":\"string\",\"pattern\":\"a%u\"}", i ? "," : "", i);
  add("]}");
}
static void keys_by_patterns(unsigned n) {
  add("{\"type\":\"object\",\"patternProperties\":{");
  for (unsigned i = 0; i < n; i++) add("%s\"a%u\":{\"type\":\"integer\"}", i ? "," : "", i);
  add("}}");
}
static void conditions(unsigned n) {
  add("{\"allOf\":[");
  for (unsigned i = 0; i < n; i++)
    add("%s{\"if\":{\"properties\":{\"a%u\":{\"const\":1}},\"required\":[\"a%u\"]},\"then\":{"
        "\"required\":[\"b%u\"]}}",
        i ? "," : "", i, i, i);
  add("]}");
}
static void counted_items(unsigned n) {
  add("{\"type\":\"array\",\"contains\":{\"const\":1},\"minContains\":%u,\"maxContains\":%u}", n,
      n);
}
static void unique_items(unsigned n) {
  add("{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":%u,\"maxItems\":%u}", n, n);
}
static void unique_listed(unsigned n) {
  add("{\"type\":\"array\",\"uniqueItems\":true,\"items\":");
  big_enum(n);
  add("}");
}
static void spelled_properties(unsigned n) { /* PCRE2 takes each of these for \p{L} */
  for (unsigned i = 0; i < n; i++) {
    add("\\p{L");
    for (unsigned k = i; k; k /= 3) add("%c", " _-"[k % 3]);
    add("}");
  }
}
static void folded(unsigned n) {
  add("(?i)");
  for (unsigned i = 0; i < n; i++)
    add("[%c%c-%c%c]", 0xC3, 0xA0 + (int)(i % 30), 0xD0 + (int)(i / 30 / 48 % 4),
        0x90 + (int)(i / 30 % 48));
}
static void optional_sets(unsigned n) {
  for (unsigned i = 0; i < n; i++) add("[a-%c]?", 'b' + (int)(i % 24));
}
static void optional_words(unsigned n) {
  for (unsigned i = 0; i < n; i++) add("(a%u|b%u)?", i, i);
}
static void rules_doubled(unsigned n) {
  add("root ::= r0\n");
  for (unsigned i = 0; i < n; i++) add("r%u ::= r%u r%u\n", i, i + 1, i + 1);
  add("r%u ::= \"a\" | \"\"\n", n);
}
/* n rules, each of groups in groups, which may all begin with the root. */
static void left_nested(unsigned n) {
  add("root ::= r0\n");
  for (unsigned i = 0; i < n; i++) {
    add("r%u ::= ", i);
    for (unsigned k = 0; k < 500; k++) add("(");
    add("\"a\"");
    for (unsigned k = 0; k < 500; k++) add(" | root \"b\") \"c\"");
    if (i + 1 < n) add(" r%u?", i + 1);
    add("\n");
  }
}
/* n left-recursive cycles, as long as one may be. */
static void long_cycles(unsigned n) {
  add("root ::= c0r0\n");
  for (unsigned i = 0; i < n; i++)
    for (unsigned k = 0; k < 256; k++) {
      add("c%ur%u ::= c%ur%u \"a\" | \"b\"", i, k, i, (k + 1) % 256);
      if (k == 0 && i + 1 < n) add(" c%ur0", i + 1);
      add("\n");
    }
}
/* Rules of which each round finds what one more of them matches. */
static void rounds_of_rules(unsigned n) {
  add("root ::= r0\nno ::= no\nr0 ::= \"z\" | r1 no\n");
  for (unsigned i = 1; i < n; i++)
    add("r%u ::= r%u no | \"b\" r%u\n", i, i + 1 < n ? i + 1 : 0, i - 1);
}
static void chain_of_choices(unsigned n) {
  add("root ::= r0\n");
  for (unsigned i = 0; i < n; i++) add("r%u ::= r%u | \"x%u\"\n", i, i + 1, i);
  add("r%u ::= \"z\"\n", n);
}

static void many_ends(unsigned n) {
  add("{\"type\":\"tag\",\"begin\":\"a\",\"content\":{\"type\":\"any_text\"},\"end\":[");
  for (unsigned i = 0; i < n; i++) add("%s\"<%06u>\"", i ? "," : "", i);
  add("]}");
}
static void many_triggers(unsigned n) {
  add("{\"type\":\"triggered_tags\",\"triggers\":[");
  for (unsigned i = 0; i < n; i++) add("%s\"<%06u>\"", i ? "," : "", i);
  add("],\"tags\":[");
  for (unsigned i = 0; i < n; i++)
    add("%s{\"type\":\"tag\",\"begin\":\"<%06u>\",\"content\":{\"type\":\"const_string\",\"value\":"
        "\"a\"},\"end\":\"e\"}",
        i ? "," : "", i);
  add("]}");
}
static void many_rules_of_dispatch(unsigned n) {
  add("{\"type\":\"dispatch\",\"rules\":[");
  for (unsigned i = 0; i < n; i++)
    add("%s[\"<%06u>\",{\"type\":\"const_string\",\"value\":\"a\"}]", i ? "," : "", i);
  add("]}");
}
static void many_token_texts(unsigned n) {
  add("{\"type\":\"exclude_token\",\"exclude_tokens\":[");
  for (unsigned i = 0; i < n; i++) add("%s\"the\"", i ? "," : "");
  add("]}");
}

/* ---- tables ---------------------------------------------------------------------------------- */

typedef struct shape {
  const char *name;
  shape_kind kind;
  void (*write)(unsigned n);
  unsigned n;
} shape;

static const shape numbers[] = {{"maxItems", SCHEMA, max_items, 500000000},
                                {"minItems", SCHEMA, min_items, 500000000},
                                {"maxLength", SCHEMA, max_length, 500000000},
                                {"maxProperties", SCHEMA, max_properties, 500000000},
                                {"maximum", SCHEMA, big_maximum, 500000000},
                                {"{1,n}", REGEX, repeat, 500000000},
                                {"GBNF {1,n}", GBNF, gbnf_repeat, 500000}};

static const shape lists[] = {{"enum", SCHEMA, big_enum, 20000},
                              {"properties", SCHEMA, many_properties, 2500},
                              {"anyOf in anyOf", SCHEMA, any_of_any_of, 100},
                              {"a chain of $ref", SCHEMA, chain_of_refs, 400},
                              {"$ref to $id", SCHEMA, refs_to_ids, 2000},
                              {"$ref to $anchor", SCHEMA, refs_to_anchors, 2000},
                              {"$ref to members", SCHEMA, refs_to_members, 2000},
                              {"required", SCHEMA, required, 500},
                              {"oneOf of prefixes", SCHEMA, one_of_prefixes, 100},
                              {"oneOf of ranges", SCHEMA, one_of_ranges, 200},
                              {"oneOf of titles", SCHEMA, one_of_titles, 500},
                              {"alternatives", REGEX, alternatives, 1000},
                              {"rules", GBNF, many_rules, 1000},
                              {"ambiguous", GBNF, ambiguous, 200},
                              {"rules of nested groups", GBNF, left_nested, 100},
                              {"cycles of rules", GBNF, long_cycles, 4},
                              {"propertyNames", SCHEMA, names_listed, 2500},
                              {"prefixItems", SCHEMA, prefix_items, 5000},
                              {"enum of numbers", SCHEMA, numbers_listed, 1000},
                              {"anyOf of objects", SCHEMA, objects_to_choose, 125},
                              {"anyOf of patterns", SCHEMA, strings_to_choose, 500},
                              {"allOf", SCHEMA, all_of, 500},
                              {"\\p in patterns", SCHEMA, property_patterns, 100},
                              {"\\p", REGEX, same_property, 1000},
                              {"idn-email", SCHEMA, formats, 20},
                              {"if and then", SCHEMA, conditions, 28},
                              {"allOf, doubling", SCHEMA, all_of_doubled, 100},
                              {"ends of a tag", TAGS, many_ends, 1000},
                              {"tokens by their text", TAGS, many_token_texts, 20000}};

static const shape steep[] = {{"anyOf, doubling", SCHEMA, any_of_doubled, 60},
                              {"scalars, doubling", SCHEMA, any_of_scalars_doubled, 60},
                              {"oneOf, doubling", SCHEMA, one_of_doubled, 40},
                              {"patterns of one string", SCHEMA, many_patterns, 20},
                              {"patterns of keys", SCHEMA, keys_by_patterns, 16},
                              {"if and then", SCHEMA, conditions, 300},
                              {"dynamic scopes", SCHEMA, scopes_of_one_name, 100},
                              {"of many names", SCHEMA, scopes_of_many_names, 20},
                              {"contains", SCHEMA, counted_items, 1900},
                              {"uniqueItems", SCHEMA, unique_items, 100000},
                              {"uniqueItems of a list", SCHEMA, unique_listed, 100000},
                              {"enum", SCHEMA, big_enum, 100000},
                              {"enum of numbers", SCHEMA, numbers_listed, 100000},
                              {"\\p spelled", REGEX, spelled_properties, 5000},
                              {"(?i) sets", REGEX, folded, 5000},
                              {"optional sets", REGEX, optional_sets, 500},
                              {"optional words", REGEX, optional_words, 400},
                              {"rules, doubling", GBNF, rules_doubled, 60},
                              {"a chain of choices", GBNF, chain_of_choices, 2000},
                              {"rules in rounds", GBNF, rounds_of_rules, 6000},
                              {"cycles of rules", GBNF, long_cycles, 200},
                              {"ends of a tag", TAGS, many_ends, 20000},
                              {"triggers", TAGS, many_triggers, 20000},
                              {"dispatch", TAGS, many_rules_of_dispatch, 20000}};

#endif
