/* test_tags.c - structural tags: what they accept, exact triggers, masks against the naive matcher,
 * reading back, errors. Built in C: test_tags_built.c; out of requests: test_requests.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/failing.h"
#include "tests/judges/oracle.h"
#include "tests/support/tags_json.h"
#include "tests/support/toy.h"
#include "tests/support/take.h"

static tsl_vocab *vocab;

#define COFL(name, type, content) "<cofl:value" name " type=\"" type "\">" content "</cofl:value>"

static tsl_grammar *compile(const char *json) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_status status = tsl_grammar_tags(vocab, json, strlen(json), NULL, NULL, &g, &error);
  CHECKF(status == TSL_OK, "%s: %s %s", json, error.message, error.pointer);
  return g;
}

#define TRIGGERED(more)                                                \
  "{\"type\":\"triggered_tags\",\"triggers\":[\"<f\"],\"tags\":[" TAG( \
      "<f=a>", SCHEMA, "</f>") "," TAG("<f=b>", CONST("x"), "</f>") "]" more "}"

static const struct {
  const char *json;
  const char *yes[7], *no[9];
} forms[] = {
    {CONST("ab"), {"ab"}, {"", "a", "abc"}},
    {SCHEMA, {"{\"a\":1}", "{\"a\": 2, \"s\": \"x\"}"}, {"{}", "{\"s\":\"x\"}"}},
    {"{\"type\":\"regex\",\"pattern\":\"[0-9]+\"}", {"1", "123"}, {"", "a"}},
    {"{\"type\":\"grammar\",\"grammar\":\"root ::= \\\"a\\\" root | \\\"b\\\"\"}",
     {"b", "aab"},
     {"", "a"}},
    {"{\"type\":\"grammar\",\"grammar\":\"root ::= \\\"a\\\" root | \\\"b\\\"\",\"after\":\"aa\"}",
     {"b", "ab"},
     {"", "a", "aa"}},
    {ANY, {"", "anything <f at all", "\xC3\xA4"}, {"\xFF", "\xC3"}},
    {"{\"type\":\"sequence\",\"elements\":[{\"type\":\"any_text\",\"max_tokens\":0}," CONST(
         "x") "]}",
     {"x"},
     {"", "ax", "xx"}},
    {"{\"type\":\"any_text\",\"max_chars\":2147483647,\"max_tokens\":2147483647}",
     {"", "aaaa"},
     {"\xC3"}},
    {"{\"type\":\"any_text\",\"excludes\":[\"ab\",\"c\"],\"max_chars\":3}",
     {"", "aaa", "ba", "\xC3\xA4\xC3\xA4\xC3\xA4"},
     {"ab", "c", "aaaa", "xab"}},
    {"{\"type\":\"sequence\",\"elements\":[" CONST("a") "," CONST("b") "]}",
     {"ab"},
     {"a", "b", "ba"}},
    {"{\"type\":\"or\",\"elements\":[" CONST("a") "," CONST("ab") "]}", {"a", "ab"}, {"", "b"}},
    {"{\"type\":\"optional\",\"content\":" CONST("a") "}", {"", "a"}, {"aa"}},
    {"{\"type\":\"plus\",\"content\":" CONST("a") "}", {"a", "aaa"}, {""}},
    {"{\"type\":\"star\",\"content\":" CONST("ab") "}", {"", "ab", "abab"}, {"aba"}},
    {"{\"type\":\"repeat\",\"min\":2,\"max\":3,\"content\":" CONST("a") "}",
     {"aa", "aaa"},
     {"a", "aaaa"}},
    {"{\"type\":\"repeat\",\"min\":1,\"max\":-1,\"content\":" CONST("a") "}",
     {"a", "aaaaaa"},
     {""}},
    {TAG("<t>", ANY, "</t>"),
     {"<t></t>", "<t>x<t>y</t>", "<t></</t>"},
     {"<t>", "<t></t>x", "<t></t></t>", "x<t></t>"}},
    {TAG("<t>", ANY, "aa"), {"<t>aa", "<t>baa"}, {"<t>aaa", "<t>a"}},
    {"{\"type\":\"tag\",\"begin\":\"[\",\"content\":" ANY ",\"end\":[\"]\",\"|\"]}",
     {"[]", "[a|"},
     {"[a", "[]|"}},
    {TRIGGERED(""),
     {"", "text", "<", "a<f=b>x</f>", "<f=a>{\"a\":1}</f> and <f=b>x</f> end", "<<f=b>x</f>"},
     {"<f", "<f=c>", "<f=b>y</f>", "<f=b>x", "<f=a>{}</f>"}},
    {TAG("\\\"[",
         "{\"type\":\"json_schema\",\"json_schema\":{\"type\":\"array\",\"items\":{\"type\":"
         "\"string\"},\"uniqueItems\":true}}",
         "#"),
     {"\"[[\"a\",\"b\"]#", "\"[[]#"},
     {"\"[[\"a\",\"a\"]#"}},
    {"{\"type\":\"triggered_tags\",\"triggers\":[\"<f\"],\"tags\":[{\"begin\":\"<f>\","
     "\"content\":" CONST("x") ",\"end\":\">\"}]}",
     {"a<f>x>b"},
     {"<f>x"}},
    {"{\"type\":\"tags_with_separator\",\"separator\":\",\",\"tags\":[{\"begin\":\"<\","
     "\"content\":" CONST("x") ",\"end\":\">\"}]}",
     {"<x>,<x>"},
     {"<x><x>"}},
    {"{\"type\":\"or\",\"elements\":[{\"begin\":\"<\",\"content\":{\"begin\":\"[\","
     "\"content\":" CONST("x") ",\"end\":\"]\"},\"end\":\">\"}," CONST("y") "]}",
     {"<[x]>", "y"},
     {"<x>"}},
    {"{\"begin\":\"<\",\"content\":" CONST("x") ",\"end\":\">\"}", {"<x>"}, {"x"}},
    {"{\"type\":\"structural_tag\",\"format\":{\"begin\":\"<\",\"content\":" CONST(
         "x") ",\"end\":\">\"}}",
     {"<x>"},
     {"x"}},
    {TRIGGERED(",\"at_least_one\":true"), {"<f=b>x</f>", "<f=b>x</f>text"}, {"", "text<f=b>x</f>"}},
    {TRIGGERED(",\"stop_after_first\":true"),
     {"", "t<f=b>x</f>"},
     {"<f=b>x</f>t", "<f=b>x</f><f=b>x</f>"}},
    {TRIGGERED(",\"excludes\":[\"no\"]"), {"n o", "<f=b>x</f>n"}, {"no", "<f=b>x</f>no"}},
    {TAG("(", TRIGGERED(""), ")"), {"()", "(text<f=b>x</f>more)"}, {"(", "(a)b", "(a))"}},
    {"{\"type\":\"tags_with_separator\",\"tags\":[" TAG("<", CONST("x"), ">") "," TAG(
         "<y", CONST(""), ">") "],\"separator\":\", \"}",
     {"", "<x>", "<x>, <y>, <x>"},
     {", ", "<x>,", "<x><x>", "<x>, "}},
    {"{\"type\":\"tags_with_separator\",\"tags\":[" TAG(
         "<", CONST("x"),
         ">") "],\"separator\":\"\",\"at_least_one\":true,\"stop_after_first\":true}",
     {"<x>"},
     {"", "<x><x>"}},
    {"{\"type\":\"dispatch\",\"rules\":[[\"<1>\"," CONST("one") "],[\"<2>\"," CONST(
         "two") "]],\"excludes\":[\"!\"]}",
     {"", "a<1>one b<2>two", "<<1>one"},
     {"<1>two", "<1>", "!"}},
    {"{\"type\":\"dispatch\",\"rules\":[[\"<1>\"," CONST("one") "]],\"loop\":false}",
     {"", "a<1>one"},
     {"<1>one "}},
    {"{\"type\":\"structural_tag\",\"format\":" CONST("a") "}", {"a"}, {"b"}},
    {"{\"format\":" CONST("a") "}", {"a"}, {"b"}},
    {"{\"type\":\"structural_tag\",\"triggers\":[\"<f\"],\"structures\":[{\"begin\":\"<f>\","
     "\"schema\":" S ",\"end\":\"</f>\"}]}",
     {"", "t", "t<f>{\"a\":1}</f>u"},
     {"<f", "<f>{}</f>"}},
    {"{\"triggers\":[\"<f\"],\"structures\":[{\"begin\":\"<f>\",\"schema\":\"{\\\"type\\\":"
     "\\\"null\\\"}\",\"end\":\"\"}]}",
     {"<f>null", "<f>null<f>null"},
     {"<f>"}},
    {STYLED("qwen_xml"),
     {"<parameter=a>1</parameter>",
      "<parameter=a>\n1\n</parameter>\n<parameter=s>\nx \"y\" <z>\n</parameter>\n"},
     {"", "<parameter=s>x</parameter>", "<parameter=a>x</parameter>",
      "<parameter=a>1</parameter><parameter=a>1</parameter>", "<parameter=b>1</parameter>"}},
    {STYLED("minimax_xml"),
     {"<parameter name=\"a\">1</parameter>\n<parameter name=\"s\">x</parameter>"},
     {"<parameter=a>1</parameter>"}},
    {STYLED("minimax_m3_xml"),
     {EL("a", "1"), EL("a", "1") "\n" EL("s", "x <b> ]<] \n") "\n"},
     {"", EL("s", "") EL("a", "1"), EL("a", "x"), EL("a", "1") " " EL("s", "x"),
      EL("a", "1") EL("a", "1"), NS "<a>1" NS "</s>", EL("a", "1") EL("s", NS),
      EL("a", "1") EL("b", "x"), "\n" EL("a", "1")}},
    {NESTED(TREE),
     {EL("n", "1"), EL("n", "1") EL("k", ""),
      EL("n", "1") EL("k", EL("item", EL("n", "2") EL("k", EL("item", EL("n", "3")))) "\n" EL(
                               "item", EL("n", "4"))),
      EL("n", "1") EL("x", "1"), EL("n", "1") EL("x y", EL("item", "1") EL("k", "2"))},
     {EL("k", ""), EL("n", "1") EL("k", "[]"), EL("n", "1") EL("k", EL("item", "")),
      EL("n", "1")
          EL("k", EL("item", EL("n", "1")) EL("item", EL("n", "1")) EL("item", EL("n", "1"))),
      EL("n", "1") EL("/x", "1"), EL("n", "1") EL("k", EL("n", "1")), EL("n", "1") EL(" ", "1"),
      EL("n", "1") EL("k", EL("item", EL("n", "1"))) "]"}},
    {NESTED(LOOSE),
     {"", EL("a", EL("item", EL("item", "null")) EL("item", "")), EL("b", EL("c", "x")),
      EL("b", EL("item", "x")), EL("a", "{\"x\":1}"), EL("b", ""),
      EL("a", EL("x", "1")) EL("b", EL("c", "x") EL("item", "x"))},
     {EL("a", EL(">", "1")), EL("b", "x"), EL("x", "1"), EL("b", EL("", "1"))}},
    {NESTED(CLOSED("\"e\":{\"enum\":[\"\",[],[1,\"x\"],{\"k\":[true]},\"it\"]},\"l\":{\"type\":"
                   "\"array\",\"items\":{\"type\":\"boolean\"},\"contains\":{\"const\":true}}",
                   "")),
     {EL("e", ""), EL("e", EL("item", "1") EL("item", "x")), EL("e", EL("k", EL("item", "true"))),
      EL("e", "it"), EL("l", EL("item", "false") EL("item", "true"))},
     {EL("e", "1"), EL("e", EL("item", "1")), EL("e", EL("k", "true")), EL("l", ""),
      EL("l", EL("item", "false"))}},
    {STYLED("deepseek_xml"),
     {"<｜DSML｜parameter name=\"a\" string=\"false\">1</｜DSML｜parameter><｜DSML｜parameter "
      "name=\"s\" string=\"true\">x</｜DSML｜parameter>"},
     {"<｜DSML｜parameter name=\"a\" string=\"true\">1</｜DSML｜parameter>"}},
    {STYLED("glm_xml"),
     {"<arg_key>a</arg_key><arg_value>1</arg_value>",
      "<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n<arg_key>s</arg_key>\n<arg_value></"
      "arg_value>\n"},
     {"<arg_key>s</arg_key><arg_value>x</arg_value>"}},
    {"{\"type\":\"json_schema\",\"style\":\"minicpm_xml\",\"json_schema\":{\"type\":"
     "\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"n\":{\"type\":\"integer\"},\"e\":{"
     "\"enum\":[\"<\",\"x\"]}},\"additionalProperties\":false}}",
     {"<param name=\"a\">x & ]]></param>", "<param name=\"e\">x</param>",
      "<param name=\"a\"><![CDATA[<b> </param> ]] >]]></param>\n<param name=\"n\">1</param>"},
     {"<param name=\"a\"><b></param>", "<param name=\"n\"><![CDATA[1]]></param>",
      "<param name=\"e\"><</param>"}},
    {"{\"type\":\"json_schema\",\"style\":\"minicpm_xml\",\"json_schema\":{\"type\":"
     "\"object\",\"properties\":{\"a\":{\"const\":\"]]>\"},\"b\":{\"const\":\"<\"}}}}",
     {"<param name=\"a\">]]></param>", "<param name=\"b\"><![CDATA[<]]></param>"},
     {"<param name=\"a\"><![CDATA[]]>]]></param>", "<param name=\"b\"><</param>"}},
    {STYLED("cohere_xml"),
     {"<cofl:value name=\"a\" type=\"json\">1</cofl:value><cofl:value name=\"s\" "
      "type=\"raw\">1</cofl:value>"},
     {"<cofl:value name=\"a\" type=\"raw\">1</cofl:value>"}},
    {"{\"type\":\"json_schema\",\"style\":\"cohere_xml\",\"json_schema\":" CLOSED(
         "\"b&<\":{\"type\":\"object\",\"properties\":{\"w\":{\"type\":\"integer\"}}},\"l\":{"
         "\"type\":"
         "\"array\",\"items\":{\"type\":[\"string\",\"null\"]}}",
         "") "}",
     {"", COFL(" name=\"b&amp;&lt;\"", "dict", COFL(" name=\"w\"", "json", "3")),
      COFL(" name=\"l\"", "list", COFL("", "raw", "null") COFL("", "json", "null")),
      COFL(" name=\"b&amp;&lt;\"", "dict", COFL(" name=\"x\"", "list", ""))},
     {COFL(" name=\"b&amp;&lt;\"", "json", "{\"w\":3}"), COFL(" name=\"b&<\"", "dict", ""),
      COFL(" name=\"l\"", "list", COFL("", "json", "1")), COFL(" name=\"x\"", "raw", "")}},
    {"{\"type\":\"json_schema\",\"style\":\"gemma4\",\"json_schema\":" CLOSED(
         "\"b\":{\"type\":\"object\",\"properties\":{\"w\":{\"type\":\"integer\"}}},\"l\":{"
         "\"type\":"
         "\"array\",\"items\":{\"type\":[\"string\",\"null\"]},\"maxItems\":2}",
         "") "}",
     {"", "b:{w:3}", "l:[<|\"|>a\"\n,]}<|\"|>,null]", "b:{},l:[]", "b:{w:-1,x:{y:[true]}}"},
     {"b:{\"w\":3}", "b: {}", "l:[\"a\"]", "l:[null,null,null]", "l:[null,]", "c:1",
      "b:{w:3,w:3}"}},
    {STYLED("kimi_k3_xml"),
     {"<|open|>argument key=\"a\" type=\"number\"<|sep|>1<|close|>argument<|sep|>",
      "<|open|>argument key=\"a\" type=\"number\"<|sep|>1<|close|>argument<|sep|><|open|>argument "
      "key=\"s\" type=\"string\"<|sep|><b<|close|>argument<|sep|>"},
     {"<|open|>argument key=\"a\" type=\"string\"<|sep|>1<|close|>argument<|sep|>",
      "<|open|>argument key=\"a\" type=\"integer\"<|sep|>1<|close|>argument<|sep|>"}},
    {STYLED("pythonic"),
     {"a=1", "a=1, s=\"x, \\\"y)\""},
     {"", "a=1,s=\"x\"", "a=1, ", "a=True", "s=\"x\""}},
    {"{\"type\":\"json_schema\",\"style\":\"pythonic\",\"json_schema\":{\"type\":\"object\","
     "\"properties\":{\"b\":{\"type\":[\"boolean\",\"null\"]},\"l\":{\"type\":\"array\",\"items\":{"
     "\"type\":\"boolean\"}}},\"additionalProperties\":false}}",
     {"", "b=True", "b=None, l=[true]", "l=[]"},
     {"b=true", "b=null", "b=1", "l=[True]"}},
    {"{\"type\":\"qwen_xml_parameter\",\"json_schema\":{\"type\":\"object\","
     "\"additionalProperties\":true}}",
     {"", "<parameter=any>thing</parameter>", "<parameter=x>[1, 2]</parameter>"},
     {"<parameter=>x</parameter>", "<parameter=a<b>x</parameter>"}},
};

static void accepted(void) {
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    tsl_grammar *g = compile(forms[i].json);
    if (!g) continue;
    for (size_t k = 0; k < 7 && forms[i].yes[k]; k++)
      CHECKF(accepts(g, forms[i].yes[k]), "%s must accept \"%s\"", forms[i].json, forms[i].yes[k]);
    for (size_t k = 0; k < 9 && forms[i].no[k]; k++)
      CHECKF(!accepts(g, forms[i].no[k]), "%s must not accept \"%s\"", forms[i].json,
             forms[i].no[k]);
    tsl_grammar_release(g);
  }
}

/* ---- triggers: all short texts --------------------------------------------------------------- */

static void triggers_are_exact(void) {
  static const char *const sets[][2] = {{"ab", NULL}, {"aa", NULL},   {"aba", NULL}, {"ab", "bb"},
                                        {"ab", "ba"}, {"aab", "b!a"}, {"ab", "b"},   {"bab", "ab"},
                                        {"abb", "b"}, {"ba!", "a!b"}};
  for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
    size_t n = sets[s][1] ? 2 : 1;
    char json[600], text[10];
    snprintf(json, sizeof json,
             "{\"type\":\"triggered_tags\",\"triggers\":[\"%s\"%s%s%s],\"tags\":[{\"type\":\"tag\","
             "\"begin\":\"%s\",\"content\":" CONST("") ",\"end\":\"!\"}%s%s%s]}",
             sets[s][0], n > 1 ? ",\"" : "", n > 1 ? sets[s][1] : "", n > 1 ? "\"" : "", sets[s][0],
             n > 1 ? ",{\"type\":\"tag\",\"begin\":\"" : "", n > 1 ? sets[s][1] : "",
             n > 1 ? "\",\"content\":" CONST("") ",\"end\":\"!\"}" : "");
    tsl_grammar *g = compile(json);
    for (unsigned length = 0, all = 1; g && length <= 7; length++, all *= 3)
      for (unsigned code = 0; code < all; code++) {
        for (unsigned i = 0, c = code; i < length; i++, c /= 3) text[i] = "ab!"[c % 3];
        text[length] = 0;
        CHECKF(accepts(g, text) == triggers_fit(text, sets[s], n), "%s: %s", json, text);
      }
    tsl_grammar_release(g);
  }
}

/* ---- masks ----------------------------------------------------------------------------------- */

/* Random answers; each mask is the naive one, and the parser takes what the matcher takes. */
static void masks_are_right(void) {
  uint64_t seed = 11;
  uint32_t words = (uint32_t)tsl_vocab_mask_words(vocab);
  uint32_t *mask = malloc(words * sizeof *mask), *plain = malloc(words * sizeof *plain);
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    tsl_grammar *g = compile(forms[i].json);
    tsl_matcher *m = NULL;
    tsl_parser *p = NULL;
    oracle o;
    if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK || tsl_parser_new(g, NULL, &p) != TSL_OK)
      continue;
    oracle_begin(&o, g->space, g->start);
    for (int step = 0; step < 14; step++) {
      CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
      oracle_mask(&o, plain);
      if (!o.overflow)
        CHECKF(!memcmp(mask, plain, words * sizeof *mask), "masks differ: %s, step %d",
               forms[i].json, step);
      tsl_token t = draw(mask, words * 32, &seed);
      if (t == TSL_NO_TOKEN || tsl_vocab_is_eog(vocab, t)) break;
      CHECK(tsl_matcher_accept(m, t) == TSL_OK && tsl_parser_token(p, t) == TSL_OK &&
            oracle_token(&o, t));
    }
    oracle_free(&o);
    tsl_parser_free(p);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
  free(mask);
  free(plain);
}

/* ---- special tokens that constants spell ----------------------------------------------------- */

#define EITHER(a, b, c) \
  "{\"type\":\"tags_with_separator\",\"separator\":\"\",\"tags\":[" a "," b "," c "]}"
#define AFTER(trigger, tag) \
  "{\"type\":\"triggered_tags\",\"triggers\":[\"" trigger "\"],\"tags\":[" tag "]}"
#define READ(content, tags) \
  "{\"content\": \"" content "\", \"reasoning\": \"\", \"calls\": [], \"tags\": [" tags "]}"
#define READ_TAG(begin, content) "{\"begin\": \"" begin "\", \"content\": \"" content "\"}"

/* Tokens by their names in begins: beside others that begin alike, and over the end of a trigger. A
 * trigger is spelled, also one that ends a generation. */
static void specials_in_begins(void) {
  static const char *const tokens[] = {"a", "b", "x", "]", "<t>", "<tt>", "<end>"};
  static const struct {
    const char *json;
    tsl_token path[6], no; /* the path ends with TSL_NO_TOKEN; no: what may not come first */
    const char *read;
  } cases[] = {
      {EITHER(TAG("<a", CONST("x"), "]"), TAG("<t>b", CONST("x"), "]"), TAG("<x", CONST("x"), "]")),
       {4, 1, 2, 3, TSL_NO_TOKEN},
       5,
       READ("", READ_TAG("<t>b", "x"))},
      {EITHER(TAG("a<t>", CONST("x"), "]"), TAG("a<tt>", CONST("b"), "]"),
              TAG("a<tx", CONST("x"), "]")),
       {0, 5, 1, 3, TSL_NO_TOKEN},
       5,
       READ("", READ_TAG("a<tt>", "b"))},
      {AFTER("a<t", TAG("a<t>b", CONST("x"), "]") "," TAG("a<tt>", CONST("x"), "]")),
       {1, 0, 4, 1, 2, TSL_NO_TOKEN},
       4,
       NULL},
      {AFTER("a<t", TAG("a<t>b", CONST("x"), "]") "," TAG("a<tt>", CONST("x"), "]")),
       {0, 5, 2, 3, 1, TSL_NO_TOKEN},
       5,
       READ("b", READ_TAG("a<tt>", "x"))},
      {AFTER("<t>", TAG("<t>b", CONST("x"), "]")),
       {0, 4, 1, 2, 3, TSL_NO_TOKEN},
       5,
       READ("a", READ_TAG("<t>b", "x"))},
      {AFTER("<end>", TAG("<end>b", CONST("x"), "]")), {1, 2, 3, TSL_NO_TOKEN}, 4, READ("bx]", "")},
      {"{\"type\":\"dispatch\",\"rules\":[[\"<end>\"," ANY "]]}",
       {0, 1, TSL_NO_TOKEN},
       4,
       READ("ab", "")},
  };
  tsl_vocab *embedded = vocab;
  vocab = toy_vocab(tokens, 7, true);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_grammar *g = compile(cases[i].json);
    tsl_matcher *m = NULL;
    tsl_parser *p = NULL;
    if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK || tsl_parser_new(g, NULL, &p) != TSL_OK)
      continue;
    CHECKF(tsl_matcher_accept(m, cases[i].no) == TSL_REJECTED &&
               tsl_parser_token(p, cases[i].no) == TSL_REJECTED,
           "%s: first", cases[i].json);
    for (const tsl_token *t = cases[i].path; *t != TSL_NO_TOKEN; t++) {
      uint32_t mask = 0;
      CHECKF(tsl_matcher_mask(m, &mask) == TSL_OK && tsl_mask_has(&mask, *t), "%s: %s",
             cases[i].json, tokens[*t]);
      CHECKF(tsl_matcher_accept(m, *t) == TSL_OK && tsl_parser_token(p, *t) == TSL_OK, "%s: %s",
             cases[i].json, tokens[*t]);
    }
    CHECKF(tsl_matcher_is_complete(m) == (cases[i].read != NULL), "%s: complete", cases[i].json);
    if (cases[i].read)
      CHECKF(tsl_parser_finish(p) == TSL_OK && !strcmp(tsl_parser_json(p), cases[i].read), "%s: %s",
             cases[i].json, tsl_parser_json(p));
    tsl_parser_free(p);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
  tsl_vocab_release(vocab);
  vocab = embedded;
}

/* ---- reading back ---------------------------------------------------------------------------- */

#define CALL(style, name, begin, end)                                                \
  "{\"type\":\"tag\",\"as\":\"call\",\"name\":\"" name "\",\"begin\":\"" begin       \
  "\",\"content\":{\"type\":\"json_schema\",\"as\":\"arguments\",\"style\":\"" style \
  "\",\"json_schema\":" S "},\"end\":\"" end "\"}"

#define OPEN_CALL(style, name)                              \
  "{\"type\":\"tag\",\"as\":\"call\",\"name\":\"" name      \
  "\",\"begin\":\"<f>\",\"content\":{\"type\":"             \
  "\"json_schema\",\"as\":\"arguments\",\"style\":\"" style \
  "\",\"json_schema\":{\"type\":\"object\"}},\"end\":\"</f>\"}"

#define NESTED_CALL(schema)                                                                   \
  "{\"type\":\"tag\",\"as\":\"call\",\"name\":\"m\",\"begin\":\"<f>\",\"content\":{\"type\":" \
  "\"json_schema\",\"as\":\"arguments\",\"style\":\"minimax_m3_xml\",\"json_schema\":" schema \
  "},\"end\":\"</f>\"}"

static const struct {
  const char *json, *text, *expected;
} readings[] = {
    {ANY, "a \"b\"\n",
     "{\"content\": \"a \\\"b\\\"\\n\", \"reasoning\": \"\", \"calls\": [], \"tags\": []}"},
    {"{\"type\":\"triggered_tags\",\"triggers\":[\"<f\"],\"tags\":[" CALL("json", "f", "<f>",
                                                                          "</f>") "]}",
     "x<<f>{\"a\": 1}</f>y<f>{\"a\":2,\"s\":\"</f>\"}</f>",
     "{\"content\": \"x<y\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": "
     "\"f\", \"arguments\": {\"a\": 1}}, {\"id\": \"call_1\", \"name\": \"f\", \"arguments\": "
     "{\"a\":2,\"s\":\"</f>\"}}], \"tags\": []}"},
    {CALL("qwen_xml", "q", "<f>", "</f>"),
     "<f><parameter=a>\n1\n</parameter><parameter=s>\n\"x\"\n\ny\n</parameter></f>",
     "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"q\", "
     "\"arguments\": {\"a\": 1, \"s\": \"\\\"x\\\"\\n\\ny\"}}], \"tags\": []}"},
    {TAG("<",
         "{\"type\":\"json_schema\",\"as\":\"arguments\",\"style\":\"minimax_m3_xml\",\"json_"
         "schema\":" TREE "}",
         "/"),
     "<" EL("n", "1")
         EL("k", EL("item", EL("n", "2")) "\n" EL("item", EL("n", "3") EL("k", ""))) "/",
     "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [], \"tags\": [{\"begin\": \"<\", "
     "\"content\": \"\"}]}"},
    {NESTED_CALL(TREE),
     "<f>" EL("n", "1")
         EL("k", EL("item", EL("n", "2")) "\n" EL("item", EL("n", "3") "\n" EL("k", ""))) "</f>",
     "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"m\", "
     "\"arguments\": {\"n\": 1, \"k\": [{\"n\": 2}, {\"n\": 3, \"k\": []}]}}], \"tags\": []}"},
    {NESTED_CALL(LOOSE),
     "<f>" EL("a", EL("item", "") EL("item", "12") EL("item", EL("item", "null") EL("item", "nul")))
         EL("b", "") EL("n", "12") EL("q", "\"]<]\n<item>") "</f>",
     "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"m\", "
     "\"arguments\": {\"a\": [\"\", 12, [null, \"nul\"]], \"b\": [], \"n\": 12, \"q\": "
     "\"\\\"]<]\\n<item>\"}}], \"tags\": []}"},
    {NESTED_CALL("{\"type\":\"object\"}"), "<f></f>",
     "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"m\", "
     "\"arguments\": {}}], \"tags\": []}"},
    {"{\"type\":\"tag\",\"as\":\"call\",\"name\":\"v\",\"begin\":\"<f>\",\"content\":{\"type\":"
     "\"json_schema\",\"as\":\"arguments\",\"style\":\"minimax_xml\",\"json_schema\":{\"type\":"
     "\"object\"}},\"end\":\"</f>\"}",
     "<f><parameter name=\"a\">12</parameter><parameter name=\"b\">12.</parameter><parameter "
     "name=\"c\">[null]</parameter></f>",
     "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"v\", "
     "\"arguments\": {\"a\": 12, \"b\": \"12.\", \"c\": [null]}}], \"tags\": []}"},
    {CALL("glm_xml", "g", "<f>", "</f>"), "<f><arg_key>a</arg_key>\n<arg_value>-3</arg_value></f>",
     "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"g\", "
     "\"arguments\": {\"a\": -3}}], \"tags\": []}"},
    {OPEN_CALL("gemma4", "g"), "<f>a:1,s:<|\"|>\"\nx<|\"|>,o:{k:[],l:[{},<|\"|><|\"|>]}</f>",
     "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"g\", "
     "\"arguments\": {\"a\": 1, \"s\": \"\\\"\\nx\", \"o\": {\"k\": [], \"l\": [{}, \"\"]}}}], "
     "\"tags\": []}"},
    {OPEN_CALL("cohere_xml", "c"),
     "<f>" COFL(" name=\"a\"", "json", "1")
         COFL(" name=\"o\"", "dict", COFL(" name=\"k\"", "list", COFL("", "raw", "<\""))) "</f>",
     "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"c\", "
     "\"arguments\": {\"a\": 1, \"o\": {\"k\": [\"<\\\"\"]}}}], \"tags\": []}"},
    {STYLED("gemma4"), "a:1,s:<|\"|>x<|\"|>",
     "{\"content\": \"a:1,s:<|\\\"|>x<|\\\"|>\", \"reasoning\": \"\", \"calls\": [], \"tags\": "
     "[]}"},
    {CALL("kimi_k3_xml", "k", "<f>", "</f>"),
     "<f><|open|>argument key=\"a\" "
     "type=\"number\"<|sep|>-3<|close|>argument<|sep|><|open|>argument key=\"s\" "
     "type=\"string\"<|sep|>\"<|close|>argument<|sep|></f>",
     "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"k\", "
     "\"arguments\": {\"a\": -3, \"s\": \"\\\"\"}}], \"tags\": []}"},
    {"{\"type\":\"tag\",\"as\":\"call\",\"name\":\"p\",\"begin\":\"[p(\",\"content\":{\"type\":"
     "\"json_schema\",\"as\":\"arguments\",\"style\":\"pythonic\",\"json_schema\":{\"type\":"
     "\"object\"}},\"end\":\")]\"}",
     "[p(a=True, b=None, c=\"x)]\", d=[false, 1], e=False)]",
     "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"p\", "
     "\"arguments\": {\"a\": true, \"b\": null, \"c\": \"x)]\", \"d\": [false, 1], \"e\": "
     "false}}], \"tags\": []}"},
    {"{\"type\":\"sequence\",\"elements\":[{\"type\":\"tag\",\"as\":\"reasoning\",\"begin\":\"<t>"
     "\",\"content\":" ANY ",\"end\":\"</t>\"}," ANY "]}",
     "<t>a</b</t>c</t>",
     "{\"content\": \"c</t>\", \"reasoning\": \"a</b\", \"calls\": [], \"tags\": []}"},
    {TRIGGERED(""), "x<f=b>x</f>",
     "{\"content\": \"x\", \"reasoning\": \"\", \"calls\": [], \"tags\": [{\"begin\": \"<f=b>\", "
     "\"content\": \"x\"}]}"},
    {"{\"type\":\"sequence\",\"elements\":[{\"type\":\"const_string\",\"as\":\"markup\",\"value\":"
     "\"##\"}," ANY "]}",
     "##a", "{\"content\": \"a\", \"reasoning\": \"\", \"calls\": [], \"tags\": []}"},
};

static void read_back(void) {
  for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
    tsl_grammar *g = compile(readings[i].json);
    tsl_parser *p = NULL;
    if (!g || tsl_parser_new(g, NULL, &p) != TSL_OK) continue;
    size_t length = strlen(readings[i].text);
    for (size_t step = 1; step <= length; step += length > 1 ? length - 1 : 1) {
      tsl_part part;
      tsl_parser_reset(p);
      for (size_t at = 0; at < length; at += step) {
        CHECK(tsl_parser_text(p, readings[i].text + at, at + step < length ? step : length - at) ==
              TSL_OK);
        while (tsl_parser_next(p, &part)) CHECK(part.kind <= TSL_PART_TAG_END);
      }
      CHECK(tsl_parser_finish(p) == TSL_OK && tsl_parser_text(p, "x", 1) == TSL_ERR_STATE);
      CHECKF(!strcmp(tsl_parser_json(p), readings[i].expected), "%s: %s", readings[i].text,
             tsl_parser_json(p));
    }
    tsl_parser_free(p);
    tsl_grammar_release(g);
  }
}

/* Of elements inside elements the fewest bytes are known: otherwise an answer that is to end soon
 * might go on with empty items for ever. */
static void nested_lengths(void) {
  static const struct {
    const char *json, *text;
    size_t read;
  } cases[] = {
      {NESTED(TREE), EL("n", "1"), 0},
      {NESTED(TREE), EL("n", "1") EL("k", EL("item", EL("n", "1"))),
       sizeof EL("n", "1") NS "<k>" NS "<i" - 1},
      {NESTED(CLOSED("\"l\":{\"type\":\"array\",\"items\":{\"enum\":[\"\",[1,\"x\"]]},\"contains\":"
                     "{\"type\":\"array\"}}",
                     "\"l\"")),
       EL("l", EL("item", EL("item", "1") EL("item", "x"))), 0},
      {NESTED(CLOSED("\"\\\"l\":{\"type\":\"array\",\"items\":{\"const\":{\"a\":\"\\\"\\n\",\"b\":"
                     "false}},\"minItems\":2}",
                     "\"\\\"l\"")),
       EL("\"l", EL("item", EL("a", "\"\n") EL("b", "false"))
                     EL("item", EL("a", "\"\n") EL("b", "false"))),
       0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_grammar *g = compile(cases[i].json);
    tsl_matcher *m = NULL;
    uint64_t bytes = 0;
    if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) continue;
    CHECK(accepts(g, cases[i].text) &&
          tsl_matcher_accept_bytes(m, cases[i].text, cases[i].read, NULL) == TSL_OK);
    CHECK(tsl_matcher_shortest_completion(m, &bytes) == TSL_OK);
    CHECKF(bytes == strlen(cases[i].text) - cases[i].read, "%s: %llu bytes", cases[i].json,
           (unsigned long long)bytes);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
}

static void rejections_change_nothing(void) {
  tsl_grammar *g = compile(TRIGGERED(""));
  tsl_parser *p = NULL;
  if (!g || tsl_parser_new(g, NULL, &p) != TSL_OK) return;
  CHECK(tsl_parser_text(p, "a<f=b>", 6) == TSL_OK && tsl_parser_text(p, "zz", 2) == TSL_REJECTED &&
        tsl_parser_text(p, "xy", 2) == TSL_REJECTED);
  CHECK(tsl_parser_finish(p) == TSL_REJECTED);
  CHECK(tsl_parser_text(p, "x</f>b", 6) == TSL_OK && tsl_parser_finish(p) == TSL_OK);
  CHECK(!strcmp(tsl_parser_json(p), "{\"content\": \"ab\", \"reasoning\": \"\", \"calls\": [], "
                                    "\"tags\": [{\"begin\": \"<f=b>\", \"content\": \"x\"}]}"));
  tsl_parser_free(p);
  tsl_grammar_release(g);
  g = NULL;
  CHECK(tsl_grammar_regex(vocab, "a", 1, NULL, NULL, &g, NULL) == TSL_OK &&
        tsl_parser_new(g, NULL, &p) == TSL_ERR_STATE && !p);
  tsl_grammar_release(g);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void memory_may_fail(void) {
  tsl_grammar *g = compile(readings[1].json);
  bool done = false;
  for (uint64_t n = 0; g && !done && n < 5000; n++) {
    budget b = {n, 0};
    tsl_allocator a = {&b, limited};
    tsl_parser *p = NULL;
    tsl_status status = tsl_parser_new(g, &a, &p);
    if (status == TSL_OK) status = tsl_parser_text(p, readings[1].text, strlen(readings[1].text));
    if (status == TSL_OK) status = tsl_parser_finish(p);
    const char *json = status == TSL_OK ? tsl_parser_json(p) : NULL;
    done = json && !strcmp(json, readings[1].expected);
    CHECK(done || status == TSL_ERR_NO_MEMORY || (status == TSL_OK && !json));
    tsl_parser_free(p);
    CHECK(b.bytes == 0);
  }
  CHECK(done);
  tsl_grammar_release(g);
}

int main(void) {
  if (tsl_vocab_embedded(NULL, &vocab, NULL) != TSL_OK) return 1;
  RUN(accepted, "every format, its texts and others");
  RUN(triggers_are_exact, "all short texts against a naive search");
  RUN(masks_are_right, "against the naive matcher");
  RUN(specials_in_begins, "special tokens in begins and triggers");
  RUN(read_back, "whole and byte by byte");
  RUN(nested_lengths, "elements inside elements");
  RUN(rejections_change_nothing, "and grammars of other kinds");
  RUN(memory_may_fail, "every allocation of a parser");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
