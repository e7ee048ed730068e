/* cost_cases.h - the grammars whose costs tests/engine/test_costs.c counts, and the texts that each
 * one is followed along.
 *
 * Problem   A cost is guarded only where some grammar and some text cause it.
 * Idea      There is one case for each part of the engine that saves work. Examples are names of
 *           objects, patterns with limits, items that must differ, rules that call themselves, and
 *           tags of tool calls. Every text is a complete text of its grammar; a text that is not
 *           fails the test.
 * Example   The case "anything" compiles the schema `true` and follows two JSON texts. Its costs
 *           are the block `anything/embedded` in tests/costs.txt.
 * Order     The blocks of tests/costs.txt have the order of this table. A case's place also says
 *           with which of the made vocabularies it is counted, so a new case goes to the end.
 * Tested by tests/engine/test_costs.c itself: it reports a text that the grammar does not allow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TURNSTILE_TESTS_ENGINE_COST_CASES_H
#define TURNSTILE_TESTS_ENGINE_COST_CASES_H

/* PLAIN: the library's defaults. The other schemas have any spelling; ORDERED: with members in the
 * order of the schema, the rest: in any. */
typedef enum case_kind { SCHEMA, ORDERED, COMPACT, PRETTY, PLAIN, REGEX, GBNF, TAGS } case_kind;

typedef struct test_case {
  const char *name;
  case_kind kind;
  const char *grammar;
  const char *texts[4]; /* each is followed to its end, where it is complete */
} test_case;

#define OBJECT(properties, more) "{\"type\":\"object\",\"properties\":{" properties "}" more "}"
#define STRING(more) "{\"type\":\"string\"," more "}"
#define ARRAY(items, more) "{\"type\":\"array\",\"items\":" items more "}"
#define LISTED(t)                                                             \
  "{\"properties\":{\"t\":{\"enum\":[\"" t "\"]},\"v\":{\"properties\":{\"" t \
  "\":{\"type\":\"integer\"}}}}}"
#define ALIKE(key) /* the same members in each, but one */                                \
  OBJECT("\"" key "\":{\"type\":\"string\"},\"n\":{\"type\":\"string\"},\"m\":{\"type\":" \
         "\"boolean\"},\"l\":" ARRAY("{\"type\":\"integer\"}", ""),                       \
         ",\"required\":[\"n\",\"" key "\"]")
#define PERSON                                                                                     \
  OBJECT("\"name\":{\"type\":\"string\"},\"age\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":" \
         "130},\"mail\":" STRING("\"format\":\"email\"") ",\"tags\":" ARRAY(                       \
             "{\"type\":\"string\"}", ""),                                                         \
         ",\"required\":[\"name\"]")

static const test_case cases[] = {
    {"anything",
     SCHEMA,
     "true",
     {"{\"a\": [1, 2.5e3, \"x\\n\", null], \"b\": {\"c\": true}}", "[[], {}, -0.5]"}},
    {"anything-pretty", PRETTY, "true", {"{\n  \"a\": [\n    1,\n    true\n  ],\n  \"b\": {}\n}"}},
    {"person",
     SCHEMA,
     PERSON,
     {"{\"name\": \"Ann\", \"age\": 31, \"mail\": \"ann@a.org\"}",
      "{\"tags\":[\"a\",\"b\"],\"mail\":\"x@y.de\",\"name\":\"B. C\",\"zip\":[0]}",
      "{\"nam\":1,\"name\":\"\"}"}},
    {"person-ordered",
     ORDERED,
     PERSON,
     {"{\"name\": \"Ann\", \"age\": 31, \"mail\": \"ann@a.org\"}",
      "{\"name\":\"\",\"tags\":[\"a\"]}"}},
    {"person-closed",
     COMPACT,
     OBJECT("\"name\":{\"type\":\"string\"},\"age\":{\"type\":\"integer\"},\"nation\":{\"type\":"
            "\"string\",\"maxLength\":3}",
            ",\"additionalProperties\":false"),
     {"{\"name\":\"A\",\"age\":1}", "{\"age\":-12,\"nation\":\"abc\",\"name\":\"\"}", "{}"}},
    {"names-any",
     SCHEMA,
     OBJECT("\"a\":{\"type\":\"integer\"},\"ab\":{\"type\":\"null\"},\"abc\":{}",
            ",\"minProperties\":2,\"maxProperties\":4"),
     {"{\"abc\":0,\"a\":1,\"abcd\":2}", "{\"x\": 1, \"\\u0061b\": null, \"ab \": [], \"a\": 3}"}},
    {"names-many",
     COMPACT,
     OBJECT("\"id\":{},\"ident\":{},\"identity\":{},\"in\":{},\"index\":{},\"info\":{},\"item\":{},"
            "\"items\":{},\"is\":{}",
            ",\"required\":[\"id\",\"items\"],\"additionalProperties\":{\"type\":\"integer\"}"),
     {"{\"items\":[],\"index\":1,\"id\":\"\"}",
      "{\"i\":1,\"id\":0,\"indexes\":2,\"items\":null,\"is\":{}}"}},
    {"names-patterned",
     SCHEMA,
     "{\"type\":\"object\",\"patternProperties\":{\"^s_\":{\"type\":\"string\"},\"_n$\":{\"type\":"
     "\"integer\"}},\"additionalProperties\":{\"type\":\"boolean\"}}",
     {"{\"s_a\":\"x\",\"a_n\":12,\"flag\":true}", "{\"n\": false, \"s_\": \"\"}"}},
    {"names-bounded",
     SCHEMA,
     "{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[a-c]{1,3}$\"},"
     "\"additionalProperties\":{\"type\":\"integer\"},\"minProperties\":2}",
     {"{\"a\":1,\"b\":2,\"abc\":3}", "{\"ab\": 10, \"a\": 0, \"c\": 1, \"cc\": 5}"}},
    {"names-few",
     COMPACT,
     "{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^(a|b|ab)$\"},\"minProperties\":2}",
     {"{\"a\":1,\"ab\":2}", "{\"b\":[],\"ab\":{},\"a\":null}"}},
    {"names-excluded",
     SCHEMA,
     "{\"type\":\"object\",\"propertyNames\":{\"not\":{\"enum\":[\"id\",\"item\",\"a\"]}}}",
     {"{\"ide\":1,\"x\":2}", "{\"\\u0069\": 0, \"items\": []}"}},
    {"names-repeated",
     SCHEMA,
     "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}",
     {"{\"a\":\"\",\"ab\":\"x\",\"abc\":\"\",\"b\":\"\"}",
      "{\"\\u0061\":\"1\",\"A\":\"2\",\"\\\"\":\"\",\"\xC3\xA4\":\"\",\"\\u00e5\":\"\"}"}},
    {"dependent",
     COMPACT,
     OBJECT("\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"string\"},\"c\":{}",
            ",\"dependentRequired\":{\"a\":[\"b\"]},\"additionalProperties\":false"),
     {"{\"a\":1,\"b\":\"\"}", "{\"c\":0}", "{\"b\":\"x\",\"c\":[],\"a\":2}"}},
    {"evaluated",
     SCHEMA,
     "{\"allOf\":[{\"properties\":{\"a\":{\"type\":\"integer\"}}},{\"properties\":{\"b\":{\"type\":"
     "\"string\"}}}],\"type\":\"object\",\"unevaluatedProperties\":false}",
     {"{\"a\":1,\"b\":\"x\"}", "{\"b\":\"\"}"}},
    {"one-of",
     COMPACT,
     "{\"oneOf\":[" OBJECT(
         "\"kind\":{\"const\":\"circle\"},\"r\":{\"type\":\"number\"}",
         ",\"required\":[\"kind\",\"r\"],\"additionalProperties\":false") "," OBJECT("\"kind\":{"
                                                                                     "\"const\":"
                                                                                     "\"square\"},"
                                                                                     "\"side\":{"
                                                                                     "\"type\":"
                                                                                     "\"number\"}",
                                                                                     ",\"required\""
                                                                                     ":[\"kind\"],"
                                                                                     "\"additionalP"
                                                                                     "roperties\":"
                                                                                     "false") "]}",
     {"{\"kind\":\"circle\",\"r\":1.5}", "{\"side\":2,\"kind\":\"square\"}",
      "{\"kind\":\"square\"}"}},
    {"any-of-objects",
     COMPACT,
     "{\"anyOf\":[" OBJECT(
         "\"a\":{\"const\":1},\"b\":{}",
         ",\"additionalProperties\":false") "," OBJECT("\"a\":{\"const\":10},\"ab\":{},\"c\":{"
                                                       "\"type\":\"string\"}",
                                                       ",\"additionalProperties\":false") "]}",
     {"{\"a\":1,\"b\":[0]}", "{\"c\":\"\",\"a\":10}", "{\"ab\":{\"a\":1}}"}},
    {"any-of-texts",
     SCHEMA,
     "{\"anyOf\":[" STRING("\"pattern\":\"^a.{3,20}$\"") "," STRING(
         "\"pattern\":\"b$\"") ",{\"type\":\"null\"}]}",
     {"\"abcd\"", "\"xxb\"", "\"axb\"", "null"}},
    {"tree",
     COMPACT,
     "{\"$ref\":\"#/$defs/t\",\"$defs\":{\"t\":" OBJECT(
         "\"v\":{\"type\":\"integer\"},\"k\":" ARRAY("{\"$ref\":\"#/$defs/t\"}", ""),
         ",\"required\":[\"v\"],\"additionalProperties\":false") "}}",
     {"{\"v\":1,\"k\":[{\"v\":2},{\"k\":[{\"v\":3,\"k\":[]}],\"v\":4}]}"}},
    {"if-then",
     SCHEMA,
     "{\"type\":\"object\",\"properties\":{\"a\":{\"enum\":[1,2]},\"b\":{}},\"if\":{\"properties\":"
     "{\"a\":{\"const\":1}},\"required\":[\"a\"]},\"then\":{\"required\":[\"b\"]}}",
     {"{\"a\":2}", "{\"a\":1,\"b\":null}", "{\"b\":0,\"c\":0}"}},
    /* strings */
    {"text-short",
     COMPACT,
     STRING("\"maxLength\":5"),
     {"\"\"", "\"abcde\"", "\"\\u00e4\xC3\xA4\\n\"", "\"\xF0\x9F\x98\x80\\ud83d\\ude00ab\""}},
    {"text-middling",
     COMPACT,
     STRING("\"minLength\":3,\"maxLength\":20"),
     {"\"abc\"", "\"the quick brown fox\"", "\"aaaaaaaaaaaaaaaaaaaa\""}},
    {"text-long",
     COMPACT,
     ARRAY(STRING("\"minLength\":2,\"maxLength\":70"), ",\"maxItems\":3"),
     {"[\"a b c d e f g\",\"aa\"]",
      "[\"it is a rather long text that has more than sixty characters in it\"]"}},
    {"text-least",
     COMPACT,
     STRING("\"minLength\":30"),
     {"\"abcdefghijklmnopqrstuvwxyz and more of it\""}},
    {"text-letters",
     COMPACT,
     ARRAY(STRING("\"pattern\":\"^[a-z]+$\",\"maxLength\":12"), ""),
     {"[\"abc\",\"xyzzy\",\"aaaaaaaaaaaa\"]"}},
    {"text-wide",
     COMPACT,
     STRING("\"pattern\":\"^\\\\p{L}+( \\\\p{L}+)*$\""),
     {"\"Stra\xC3\x9F"
      "e \xE4\xB8\x96\xE4\xB8\x80\"",
      "\"ab c\"", "\"\xC3\xA9\xC3\xA9 a\""}},
    {"text-wide-counted",
     COMPACT,
     STRING("\"pattern\":\"^[a\\\\u00e0-\\\\u2028]{2,18}$\""),
     {"\"a\xC3\xA9\xC3\xB6\"", "\"aaaaaaaaaaaaaaaaaa\""}},
    {"text-but",
     COMPACT,
     STRING("\"not\":{\"enum\":[\"a\",\"ab\",\"the\",\"null\"]}"),
     {"\"\"", "\"abc\"", "\"then\"", "\"\\u0061b\\n\""}},
    {"text-but-patterned",
     COMPACT,
     STRING("\"not\":{\"pattern\":\"^[ab]{1,40}$\"}"),
     {"\"aabc\"", "\"x\"", "\"ababababab abababab\""}},
    {"text-but-within",
     COMPACT,
     STRING("\"not\":{\"pattern\":\"the\"}"),
     {"\"tea thy\"", "\"th\""}},
    {"text-search",
     COMPACT,
     STRING("\"pattern\":\"[0-9a-f]{3}\",\"maxLength\":12"),
     {"\"xx0af\"", "\"abcdefghijkl\""}},
    {"text-both",
     COMPACT,
     STRING("\"allOf\":[{\"pattern\":\"e.*s\"},{\"pattern\":\"^[a-z ]*$\"}]"),
     {"\"the tests\"", "\"es\""}},
    {"text-ahead",
     COMPACT,
     STRING("\"pattern\":\"^(?!.*(ab|er)).{4,30}$\""),
     {"\"a b c\"", "\"nothing of this kind\""}},
    {"text-words",
     COMPACT,
     STRING("\"pattern\":\"^([a-z]+ ){2,5}[a-z]+$\""),
     {"\"it is so\"", "\"a b c d e f\""}},
    {"text-pairs",
     COMPACT,
     STRING("\"pattern\":\"^(?:[^eta]|[eta][^b]){0,12}$\""),
     {"\"aeiou\"", "\"a cat is \""}},
    {"text-pairs-long",
     COMPACT,
     ARRAY(STRING("\"pattern\":\"^(?:[^a]|a[^b]){0,40}$\""), ""),
     {"[\"an apple a day, and what\",\"a x\"]"}},
    {"text-commas",
     COMPACT,
     STRING("\"pattern\":\"^([^,]{1,9},){3}\""),
     {"\"a,bc,def,\"", "\"one,two,three,four\""}},
    {"enum",
     COMPACT,
     "{\"enum\":[\"red\",\"green\",\"blue\",\"blueish\",\"a "
     "b\",1,10,100,null,[1,2],{\"a\":\"b\",\"c\":1}]}",
     {"\"blue\"", "\"blueish\"", "10", "{\"c\":1,\"a\":\"b\"}"}},
    {"enum-texts",
     SCHEMA,
     ARRAY("{\"enum\":[\"a\",\"ab\",\"abc\",\"b\",\"bc\",\"\xC3\xA9\",\"e\\n\",\"\\\"\"]}", ""),
     {"[\"a\", \"abc\", \"\xC3\xA9\"]", "[\"\\u0061b\",\"\\\"\",\"e\\n\",\"\\u00e9\"]"}},
    {"const",
     SCHEMA,
     "{\"const\":{\"a\":[1,\"x\",{}],\"b\":1.50}}",
     {"{\"a\":[1,\"x\",{}],\"b\":1.5}", "{ \"b\" : 1.5 , \"a\" : [ 1.0 , \"x\" , { } ] }"}},
    {"date-time",
     COMPACT,
     ARRAY(STRING("\"format\":\"date-time\""), ""),
     {"[\"2024-02-29T23:59:60Z\",\"1999-12-31T00:00:00.5+01:30\"]"}},
    {"uuid", COMPACT, STRING("\"format\":\"uuid\""), {"\"123e4567-e89b-12d3-a456-426614174000\""}},
    {"uri",
     COMPACT,
     STRING("\"format\":\"uri\""),
     {"\"https://a.org:80/b/c?d=%20#e\"", "\"urn:x\""}},
    {"email", COMPACT, STRING("\"format\":\"email\""), {"\"a.b@c-d.org\""}},
    {"addresses",
     COMPACT,
     ARRAY("{\"anyOf\":[" STRING("\"format\":\"ipv4\"") "," STRING(
               "\"format\":\"ipv6\"") "," STRING("\"format\":\"hostname\"") "]}",
           ""),
     {"[\"127.0.0.1\",\"::1\",\"a.b-c\"]"}},
    {"regex-format", COMPACT, STRING("\"format\":\"regex\""), {"\"^a[b-c]{1,2}(?:d|e)*$\""}},
    /* numbers */
    {"integers",
     COMPACT,
     ARRAY("{\"type\":\"integer\",\"minimum\":-12,\"maximum\":345}", ",\"minItems\":2"),
     {"[0,345,-12]", "[99,1.0e2]"}},
    {"numbers",
     COMPACT,
     ARRAY("{\"type\":\"number\",\"exclusiveMinimum\":0,\"maximum\":2.5}", ""),
     {"[0.1,2.5,1e-3,25e-1]"}},
    {"multiples",
     COMPACT,
     ARRAY("{\"type\":\"integer\",\"multipleOf\":3,\"minimum\":0}", ""),
     {"[0,3,999,123456]"}},
    /* arrays */
    {"tuple",
     COMPACT,
     "{\"type\":\"array\",\"prefixItems\":[{\"type\":\"string\"},{\"type\":\"integer\"}],\"items\":"
     "{\"type\":\"boolean\"},\"maxItems\":4}",
     {"[\"a\",1,true,false]", "[]", "[\"\"]"}},
    {"contains",
     COMPACT,
     "{\"type\":\"array\",\"contains\":{\"type\":\"integer\"},\"minContains\":2,\"maxItems\":4}",
     {"[1,\"a\",2]", "[[],{},0,0]"}},
    {"counted-items",
     SCHEMA,
     ARRAY("{\"type\":\"integer\"}", ",\"minItems\":3,\"maxItems\":100"),
     {"[1,2,3]", "[1, 22, 333, 4444, 5, 6, 7]"}},
    /* uniqueItems */
    {"unique-texts",
     SCHEMA,
     ARRAY("{\"type\":\"string\"}", ",\"uniqueItems\":true"),
     {"[\"a\",\"ab\",\"b\",\"\"]", "[\"\\u0061\", \"A\", \"a b\", \"a\\n\"]"}},
    {"unique-few",
     COMPACT,
     ARRAY("{\"enum\":[\"a\",\"ab\",\"b\",1,10,null]}", ",\"uniqueItems\":true,\"minItems\":3"),
     {"[\"ab\",10,\"a\",1]", "[null,\"b\",\"a\"]", "[1.0,\"\\u0061\",10,\"ab\",null,\"b\"]"}},
    {"unique-patterned",
     COMPACT,
     ARRAY(STRING("\"pattern\":\"^[ab]{1,2}$\""), ",\"uniqueItems\":true,\"minItems\":4"),
     {"[\"a\",\"b\",\"ab\",\"aa\",\"bb\",\"ba\"]"}},
    {"unique-numbers",
     COMPACT,
     ARRAY("{\"type\":\"number\"}", ",\"uniqueItems\":true"),
     {"[1,10,1.5,-1,0.1,1e2]", "[0,100,1000]"}},
    /* digits that need an exponent */
    {"unique-above",
     COMPACT,
     ARRAY("{\"type\":\"number\",\"minimum\":1}", ",\"uniqueItems\":true"),
     {"[0.12e2,0.125e3,0.1252E4]", "[0.15e1,2,0.15e2]"}},
    {"unique-above-in",
     SCHEMA,
     ARRAY(ARRAY("{\"type\":\"number\",\"minimum\":50}", ""), ",\"uniqueItems\":true"),
     {"[[0.5e2, 1.5e3], [0.5e3, 15e1], [0.5e4,1.5e4]]"}},
    {"unique-integers",
     SCHEMA,
     ARRAY("{\"type\":\"integer\",\"minimum\":0,\"maximum\":12}", ",\"uniqueItems\":true"),
     {"[1,2,3,10,11,12]", "[0, 1.0, 1.1e1]"}},
    {"unique-objects",
     COMPACT,
     ARRAY(OBJECT("\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"boolean\"}",
                  ",\"additionalProperties\":false"),
           ",\"uniqueItems\":true"),
     {"[{\"a\":1},{\"b\":true,\"a\":1},{}]",
      "[{\"a\":1,\"b\":true},{\"a\":1,\"b\":false},{\"a\":10}]"}},
    {"unique-anything",
     SCHEMA,
     "{\"type\":\"array\",\"uniqueItems\":true}",
     {"[{},[],\"\",[[]],{\"a\":1},1,null]",
      "[{\"a\": 1, \"b\": 2}, {\"b\": 2}, [1, 2], [2, 1], \"a\"]"}},
    {"unique-nested",
     COMPACT,
     ARRAY(ARRAY("{\"type\":\"integer\"}", ",\"uniqueItems\":true"),
           ",\"uniqueItems\":true,\"minItems\":2"),
     {"[[1,2],[2,1],[]]", "[[12],[1,2,3],[1]]"}},
    /* what was used: objects in any order of their members */
    {"unique-records",
     COMPACT,
     ARRAY(OBJECT("\"a\":{},\"b\":{},\"ab\":{}", ""), ",\"uniqueItems\":true"),
     {"[{\"a\":1},{\"a\":1,\"b\":2},{\"b\":2},{\"b\":2,\"ab\":1},{\"ab\":1},{\"b\":1,\"a\":1}]",
      "[{\"x\":1,\"y\":2},{\"y\":2},{\"y\":2,\"z\":0},{\"z\":0,\"x\":1}]",
      "[{\"a\":[],\"b\":[]},{\"a\":[],\"ab\":[]},{\"a\":[],\"b\":[],\"ab\":[]},{\"b\":[],\"ab\":[]}"
      "]"}},
    {"unique-lists",
     COMPACT,
     ARRAY(ARRAY("{\"type\":\"number\"}", ""), ",\"uniqueItems\":true"),
     {"[[1,2],[1,23],[1,2.5],[12]]", "[[123],[12],[1234,-1],[123,0]]"}},
    {"unique-members",
     SCHEMA,
     ARRAY(OBJECT("\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"string\"}", ""),
           ",\"uniqueItems\":true"),
     {"[{\"a\": 12, \"b\": \"x\"}, {\"a\": 1}, {\"a\": 123, \"b\": \"xy\"}]",
      "[{\"b\":\"ab\",\"c\":1},{\"b\":\"a\"},{\"c\":10,\"b\":\"ab\"}]"}},
    {"unique-within",
     COMPACT,
     OBJECT("\"l\":" ARRAY(STRING("\"maxLength\":3"), ",\"uniqueItems\":true"), ""),
     {"{\"l\":[\"a\",\"abc\"],\"x\":1}", "{\"k\":[\"a\",\"a\"],\"l\":[]}"}},
    /* patterns and grammars */
    {"regex-date", REGEX, "\\d{4}-(0[1-9]|1[0-2])-[0-3]\\d", {"2024-12-31", "1999-01-09"}},
    {"regex-alternatives", REGEX, "(?:[^x]{3}x|[^a]{2,17}a|.b)*", {"abcxxxa1b", "zzzzza"}},
    {"regex-fields", REGEX, "(?:[^,]{1,16},){2}[a-c]*", {"one,two,abc", "aaaaaaaaaaaaaaaa,b,"}},
    {"regex-counted",
     REGEX,
     "[a-cx]{0,16}(?:-[\\x00-\\x7f]{1,20})?",
     {"abcx", "aaaaaaaaaaaaaaaa-bbbb b", ""}},
    /* each letter may begin the next group */
    {"regex-groups", REGEX, "^(\\w{1,20} ?){1,12}$", {"some words in a row", "abc_d"}},
    {"regex-lines", REGEX, "^(.{1,80}\n?){1,20}$", {"some text\nand more"}},
    {"regex-counts", REGEX, "(?:a{2,5}b?){1,9}c", {"aabaaac", "aaaaaaac"}},
    {"regex-wide",
     REGEX,
     "(?:[ab\\x{80}-\\x{ff}]*1|[\\p{L} ]{2,30}-)*",
     {"ab\xC3\xA9"
      "1word -",
      "1"}},
    {"gbnf-arithmetic",
     GBNF,
     "root ::= sum\nsum ::= term ([-+] term)*\nterm ::= factor ([*/] factor)*\nfactor ::= [0-9]+ | "
     "\"(\" sum \")\" | [a-z]+",
     {"a+(b*12-3)/c", "((x))"}},
    {"gbnf-left",
     GBNF,
     "root ::= root \"+\" item | item\nitem ::= \"a\" | \"(\" root \")\" | item \"x\"",
     {"a+axx+(a)x", "(a+a)+a"}},
    {"gbnf-ambiguous", GBNF, "root ::= s\ns ::= s s | \"a\" | \"b\" s?", {"aabab", "bba"}},
    {"gbnf-palindrome",
     GBNF,
     "root ::= \"a\" root \"a\" | \"b\" root \"b\" | \"a\" | \"b\" | \"\"",
     {"abaaba", "aabaa"}},
    {"gbnf-code",
     GBNF,
     "root ::= (text | \"```\" [a-z]* \"\\n\" line* \"```\\n\")*\ntext ::= [^`\\n] [^\\n]* "
     "\"\\n\"\nline ::= [^`\\n]* \"\\n\"",
     {"some text\n```c\nint a;\n\n```\n", "a\n"}},
    {"gbnf-empty", GBNF, "root ::= (a? b?)* \";\"\na ::= \"x\"*\nb ::= \"y\" a?", {"xxyxy;", ";"}},
    {"gbnf-calls",
     GBNF,
     "root ::= ([^x] call)*\ncall ::= \"a\" | \"(\" call \")\" | \"b\" call",
     {"1(ba)2a", "aa\na"}},
    {"gbnf-tokens",
     GBNF,
     "root ::= (\"a\" | <[300]> \"b\")* | \"b\" (!<[300]> \"c\")+",
     {"aaa", "a"}},
    {"tags-triggered",
     TAGS,
     "{\"type\":\"structural_tag\",\"format\":{\"type\":\"triggered_tags\",\"triggers\":[\"<f\"],"
     "\"tags\":[{\"type\":\"tag\",\"begin\":\"<f=a>\",\"content\":{\"type\":\"json_schema\",\"json_"
     "schema\":" OBJECT(
         "\"a\":{\"type\":\"integer\"}",
         ",\"required\":[\"a\"]") "},\"end\":\"</"
                                  "f>\"},{\"type\":\"tag\",\"begin\":\"<f=b>\",\"content\":{"
                                  "\"type\":\"any_text\"},\"end\":\"</f>\"}]}}",
     {"some text <f=a>{\"a\": 1}</f> <f=b>x<</f>.", "<"}},
    {"tags-excluded",
     TAGS,
     "{\"type\":\"structural_tag\",\"format\":{\"type\":\"any_text\",\"excludes\":[\"the "
     "end\",\"ab\"],\"max_chars\":20}}",
     {"a the b", "\xC3\xA4 the en"}},
    {"tags-sequence",
     TAGS,
     "{\"type\":\"structural_tag\",\"format\":{\"type\":\"sequence\",\"elements\":[{\"type\":"
     "\"tag\",\"begin\":\"<think>\",\"content\":{\"type\":\"any_text\"},\"end\":\"</"
     "think>\"},{\"type\":\"or\",\"elements\":"
     "[{\"type\":\"const_string\",\"value\":\"yes\"},{\"type\":\"regex\",\"pattern\":\"no+\"},{"
     "\"type\":\"repeat\",\"min\":2,\"max\":3,\"content\":{\"type\":\"const_string\",\"value\":"
     "\"a\"}}]}]}}",
     {"<think>hm, < </think>yes", "<think></think>nooo", "<think>a</think>aa"}},
    {"tags-either",
     TAGS, /* two objects at once, in one name */
     "{\"type\":\"structural_tag\",\"format\":{\"type\":\"or\",\"elements\":[{\"type\":\"json_"
     "schema\",\"json_schema\":" OBJECT("\"a\":{\"type\":\"integer\"},\"ab\":{\"type\":\"string\"},"
                                        "\"b\":{}",
                                        ",\"required\":[\"a\",\"ab\"],\"additionalProperties\":"
                                        "false") "},{\"type\":\"json_schema\",\"json_"
                                                 "schema\":" OBJECT("\"a\":{\"type\":\"number\"},"
                                                                    "\"ab\":{\"type\":\"null\"},"
                                                                    "\"c\":{}",
                                                                    ",\"required\":[\"c\"],"
                                                                    "\"additionalProperties\":"
                                                                    "false") "},{\"type\":\"json_"
                                                                             "schema\",\"json_"
                                                                             "schema\":" OBJECT(
                                                                                 "\""
                                                                                 "a"
                                                                                 "\""
                                                                                 ":{"
                                                                                 "\""
                                                                                 "ty"
                                                                                 "pe"
                                                                                 "\""
                                                                                 ":"
                                                                                 "\""
                                                                                 "in"
                                                                                 "te"
                                                                                 "ge"
                                                                                 "r"
                                                                                 "\""
                                                                                 "},"
                                                                                 "\""
                                                                                 "b"
                                                                                 "\""
                                                                                 ":{"
                                                                                 "\""
                                                                                 "ty"
                                                                                 "pe"
                                                                                 "\""
                                                                                 ":"
                                                                                 "\""
                                                                                 "st"
                                                                                 "ri"
                                                                                 "ng"
                                                                                 "\""
                                                                                 "},"
                                                                                 "\""
                                                                                 "ab"
                                                                                 "\""
                                                                                 ":{"
                                                                                 "}",
                                                                                 ","
                                                                                 "\""
                                                                                 "mi"
                                                                                 "nP"
                                                                                 "ro"
                                                                                 "pe"
                                                                                 "rt"
                                                                                 "ie"
                                                                                 "s"
                                                                                 "\""
                                                                                 ":"
                                                                                 "2") "}]}}",
     {"{\"a\": 1, \"ab\": \"\"}", "{\"a\":1.5,\"c\":[],\"ab\":null}", "{\"b\":\"x\",\"a\":1}",
      "{\"x\":0,\"ab\":0}"}},
    /* added after the others, which keep their vocabularies */
    {"one-of-alike",
     COMPACT,
     "{\"oneOf\":[" ALIKE("p") "," ALIKE("q") "," ALIKE("r") "," ALIKE("s") "," ALIKE("t") "]}",
     {"{\"n\":\"\",\"l\":[1],\"p\":\"\"}", "{\"q\":\"x\",\"m\":true,\"n\":\"\",\"p\":1}"}},
    {"text-run",
     COMPACT,
     STRING("\"pattern\":\"[0-9a-f]{40}\""),
     {"\"0123456789abcdef0123456789abcdef 0123456789abcdef0123456789abcdef0123456789\""}},
    {"one-of-listed",
     COMPACT,
     "{\"required\":[\"t\"],\"properties\":{\"t\":{\"type\":\"string\",\"pattern\":\"^[a-f]{1,3}$"
     "\"}},\"oneOf\":[{\"not\":{\"required\":[\"t\"],\"properties\":{\"t\":{\"enum\":[\"a\",\"b\","
     "\"ca\",\"cab\"]}}}}," LISTED("a") "," LISTED("b") "," LISTED("ca") "," LISTED("cab") "]}",
     {"{\"t\":\"ca\",\"v\":{\"ca\":1}}",
      "{\"v\":{\"a\":\"\",\"b\":\"x\",\"ca\":null},\"t\":\"fab\"}", "{\"t\":\"b\"}"}},
    /* free text, and calls at each place */
    {"gbnf-prose",
     GBNF,
     "root ::= ([^`] | \"`\" [^`] | block)*\nblock ::= \"```\" (\"(\" block \")\" | \"x\")",
     {"some text ```(```x) more", "a ` b"}},
    /* texts that may be parted anywhere */
    {"gbnf-parted",
     GBNF,
     "root ::= (text | \"$\" math \"$\")+\ntext ::= [^$\\\\]+ | \"\\\\t{\" root? \"}\"\nmath ::= "
     "[a-z0-9]+ | \"{\" math \"}\"",
     {"some text $x1$ more \\t{a}", "a\nb"}},
    {"gbnf-counted",
     GBNF,
     "root ::= item+ obj?\nitem ::= \"- \" key \": \" text \"\\n\"\nkey ::= [a-z] "
     "[a-z0-9]{0,30}\ntext ::= [^\\n]{1,80}\nobj ::= \"{\" key \"=\" obj \"}\" | \"x\"",
     {"- ab: some text\n- c: d\n{a=x}"}},
    /* rows of which each character may be the last */
    {"gbnf-fields",
     GBNF,
     "root ::= row (\"\\n\" row)*\nrow ::= field (\",\" field)*\nfield ::= \"'\" [^'\\n]{0,60} "
     "\"'\" | [^',\\n]{0,40}",
     {"a b,'c, d',,e\nf"}},
    {"gbnf-adjoining",
     GBNF,
     "root ::= (item ws)+\nitem ::= [0-9]+ | [a-z] [a-z0-9_]* | \"(\" ws (item (\" \" ws item)*)? "
     "ws \")\"\nws ::= [ \\n]*",
     {"abc (d e1) 12", "((a) b2)\n"}},
    {"text-words",
     COMPACT,
     STRING("\"pattern\":\"^([a-z]{1,40} ?)+$\""),
     {"\"some words in a row\""}},
    {"text-long-words",
     COMPACT,
     STRING("\"pattern\":\"^([a-z]{2,40} ?)+$\""),
     {"\"some words in rows\""}},
    /* shapes that would be a product of choices */
    {"unevaluated",
     COMPACT,
     "{\"type\":\"object\",\"properties\":{\"a0\":{\"type\":\"boolean\"},\"a1\":{\"type\":"
     "\"boolean\"},\"a2\":{\"type\":\"boolean\"},\"a3\":{\"type\":\"boolean\"},\"a4\":{\"type\":"
     "\"boolean\"}"
     ",\"a5\":{\"type\":\"boolean\"}},\"allOf\":[{\"if\":{\"properties\":{\"a0\":{\"const\":true}},"
     "\"required\":[\"a0\"]},\"then\":{\"properties\":{\"b0\":{\"type\":\"string\"},\"c0\":{\"ty"
     "pe\":\"integer\"}},\"required\":[\"b0\"]}},{\"if\":{\"properties\":{\"a1\":{\"const\":true}},"
     "\"required\":[\"a1\"]},\"then\":{\"properties\":{\"b1\":{\"type\":\"string\"},\"c1\":{\"t"
     "ype\":\"integer\"}},\"required\":[\"b1\"]}},{\"if\":{\"properties\":{\"a2\":{\"const\":true}}"
     ",\"required\":[\"a2\"]},\"then\":{\"properties\":{\"b2\":{\"type\":\"string\"},\"c2\":{\""
     "type\":\"integer\"}},\"required\":[\"b2\"]}},{\"if\":{\"properties\":{\"a3\":{\"const\":true}"
     "},\"required\":[\"a3\"]},\"then\":{\"properties\":{\"b3\":{\"type\":\"string\"},\"c3\":{"
     "\"type\":\"integer\"}},\"required\":[\"b3\"]}},{\"if\":{\"properties\":{\"a4\":{\"const\":"
     "true}},\"required\":[\"a4\"]},\"then\":{\"properties\":{\"b4\":{\"type\":\"string\"},\"c4\":"
     "{\"type\":\"integer\"}},\"required\":[\"b4\"]}},{\"if\":{\"properties\":{\"a5\":{\"const\":"
     "true}},\"required\":[\"a5\"]},\"then\":{\"properties\":{\"b5\":{\"type\":\"string\"},\"c5\""
     ":{\"type\":\"integer\"}},\"required\":[\"b5\"]}}],\"unevaluatedProperties\":false}",
     {"{\"a1\":true,\"b1\":\"x\",\"a4\":false}",
      "{\"c2\":1,\"a2\":true,\"b2\":\"\",\"a0\":true,\"b0\":\"y\"}"}},
    {"contains-many",
     COMPACT,
     "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"allOf\":[{\"contains\":{\"const\":"
     "\"a\"}},{\"contains\":{\"const\":\"ab\"},\"maxContains\":1},{\"contains\":{\"const\":\"b\"}},"
     "{"
     "\"contains\":{\"const\":\"c\"},\"maxContains\":1},{\"contains\":{\"const\":\"cd\"}},{"
     "\"contains\":{\"const\":\"d\"},\"maxContains\":1},{\"contains\":{\"const\":\"e\"}},{"
     "\"contains"
     "\":{\"const\":\"ef\"},\"maxContains\":1}]}",
     {"[\"a\",\"ab\",\"b\",\"c\",\"cd\",\"d\",\"e\",\"ef\"]",
      "[\"x\",\"ef\",\"d\",\"a\",\"a\",\"b\",\"ab\",\"cd\",\"c\",\"e\"]"}},
    {"anything-plain",
     PLAIN,
     "true",
     {"{\"a\": [1, 2.5, 1.5e-07, \"x\\n\", null],\n  \"b\": {\"c\": true}}", "[[], {}, -0.5]"}},
    {"person-plain",
     PLAIN,
     PERSON,
     {"{\"name\": \"Ann\", \"age\": 31, \"mail\": \"ann@a.org\"}",
      "{\"name\":\"B. C\",\"tags\":[\"a\",\"b\"],\"zip\":[0]}"}},
    {"numbers-plain",
     PLAIN,
     ARRAY(
         "{\"anyOf\":[{\"type\":\"integer\",\"multipleOf\":7},{\"type\":\"number\",\"minimum\":0.5,"
         "\"maximum\":1e20},{\"const\":1e-7}]}",
         ""),
     {"[7, -14, 0.75, 100000000000000000000, 1e-07, 5e-1]", "[1e-7,0.0000001,12.25,1.5e19]"}},
    {"text-but-bounded",
     COMPACT,
     STRING("\"not\":{\"enum\":[\"a\",\"ab\",\"the\",\"null\"]},\"minLength\":2,\"maxLength\":99"),
     {"\"abba\"", "\"abc\"", "\"then\"", "\"\\u0061b\\n\""}},
    /* values of which there are many, but no string and no number without end */
    {"unique-booleans",
     SCHEMA,
     ARRAY("{\"type\":[\"boolean\",\"array\"],\"items\":{\"type\":\"boolean\"}}",
           ",\"uniqueItems\":true"),
     {"[true, [true, false, true, true], [true, false, false], false, []]"}},
    {"unique-addresses",
     SCHEMA,
     ARRAY(STRING("\"format\":\"ipv4\""), ",\"uniqueItems\":true"),
     {"[\"10.0.0.1\", \"10.0.0.2\", \"200.1.1.1\", \"10.10.0.1\", \"20.0.0.1\", \"10.1.2.3\"]"}},
    {"unique-limited",
     SCHEMA,
     ARRAY(STRING("\"maxLength\":255"), ",\"uniqueItems\":true"),
     {"[\"some text\", \"\", \"some other text\", \"s\"]"}},
    {"unique-multiples",
     SCHEMA,
     ARRAY("{\"type\":\"integer\",\"multipleOf\":60}", ",\"uniqueItems\":true"),
     {"[60, 600, 6000, 120, 1200, 0, 180]"}},
    {"text-but-short",
     COMPACT,
     STRING("\"not\":{\"enum\":[\"a\",\"the\",\"null\",\"action\"]},\"maxLength\":6"),
     {"\"abba\"", "\"actio\"", "\"actual\"", "\"\\u0061b\\n\""}},
};

#endif
