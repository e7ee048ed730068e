/* test_tags.c - structural tags: what they accept, exact triggers, masks against the naive matcher,
 * reading back, errors. Built in C: test_tags_built.c; out of requests: test_requests.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/failing.h"
#include "tests/judges/oracle.h"
#include "tests/support/tags.h"
#include "tests/support/toy.h"

static tsl_vocab *vocab;

static tsl_grammar *compile(const char *json) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_status status = tsl_grammar_tags(vocab, json, strlen(json), NULL, NULL, &g, &error);
  CHECKF(status == TSL_OK, "%s: %s %s", json, error.message, error.pointer);
  return g;
}

#define TAG(b, c, e) "{\"type\":\"tag\",\"begin\":\"" b "\",\"content\":" c ",\"end\":\"" e "\"}"
#define CONST(t) "{\"type\":\"const_string\",\"value\":\"" t "\"}"
#define SCHEMA "{\"type\":\"json_schema\",\"json_schema\":" S "}"
#define STYLED(style) "{\"type\":\"json_schema\",\"style\":\"" style "\",\"json_schema\":" S "}"
#define NESTED(schema) \
  "{\"type\":\"json_schema\",\"style\":\"minimax_m3_xml\",\"json_schema\":" schema "}"
#define CLOSED(properties, required)                                             \
  "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required \
  "],\"additionalProperties\":false}"
#define TREE                                                                                     \
  "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"},\"k\":{\"type\":\"array\"," \
  "\"items\":{\"$ref\":\"#\"},\"maxItems\":2}},\"required\":[\"n\"]}"
#define LOOSE                                                                                 \
  CLOSED("\"a\":{},\"b\":{\"type\":[\"array\",\"object\"],\"properties\":{\"c\":{}}},\"n\":{" \
         "\"type\":[\"integer\",\"string\"]},\"q\":{\"type\":\"string\"}",                    \
         "")
#define ANY "{\"type\":\"any_text\"}"
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
                               "item", EL("n", "4")))},
     {EL("k", ""), EL("n", "1") EL("k", "[]"), EL("n", "1") EL("k", EL("item", "")),
      EL("n", "1")
          EL("k", EL("item", EL("n", "1")) EL("item", EL("n", "1")) EL("item", EL("n", "1"))),
      EL("n", "1") EL("x", "1"), EL("n", "1") EL("k", EL("n", "1")),
      EL("n", "1") EL("k", EL("item", EL("n", "1"))) "]"}},
    {NESTED(LOOSE),
     {"", EL("a", EL("item", EL("item", "null")) EL("item", "")), EL("b", EL("c", "x")),
      EL("b", EL("item", "x")), EL("a", "{\"x\":1}"), EL("b", "")},
     {EL("a", EL("x", "1")), EL("b", "x"), EL("b", EL("x", "1")),
      EL("b", EL("item", "x") EL("c", "x"))}},
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
    {STYLED("cohere_xml"),
     {"<cofl:value name=\"a\" type=\"json\">1</cofl:value><cofl:value name=\"s\" "
      "type=\"raw\">1</cofl:value>"},
     {"<cofl:value name=\"a\" type=\"raw\">1</cofl:value>"}},
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

/* Free text, in which the first of the triggers to end must be followed by "!". */
static bool naive(const char *text, const char *const *triggers, size_t n) {
  size_t from = 0, length = strlen(text);
  for (size_t end = 1; end <= length; end++)
    for (size_t i = 0; i < n; i++) {
      size_t t = strlen(triggers[i]);
      if (end < from + t || memcmp(text + end - t, triggers[i], t)) continue;
      if (text[end] != '!') return false;
      from = ++end;
      break;
    }
  return true;
}

static void triggers_are_exact(void) {
  static const char *const sets[][2] = {{"ab", NULL}, {"aa", NULL}, {"aba", NULL},
                                        {"ab", "bb"}, {"ab", "ba"}, {"aab", "b!a"}};
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
        CHECKF(accepts(g, text) == naive(text, sets[s], n), "%s: %s", json, text);
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
      tsl_token t = 0;
      CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
      oracle_mask(&o, plain);
      if (!o.overflow)
        CHECKF(!memcmp(mask, plain, words * sizeof *mask), "masks differ: %s, step %d",
               forms[i].json, step);
      size_t n = tsl_mask_count(mask, words * 32), pick = n ? tsl_test_random(&seed) % n : 0;
      while (n && (!tsl_mask_has(mask, t) || pick--)) t++;
      if (!n || tsl_vocab_is_eog(vocab, t)) break;
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

/* ---- counted tokens -------------------------------------------------------------------------- */

#define COUNTED(n, end)                        \
  "{\"type\":\"sequence\",\"elements\":[" TAG( \
      "<t>", "{\"type\":\"any_text\",\"max_tokens\":" n "}", end) "," ANY "]}"

/* The tokens accepted from the first one that begins inside to the last one that ends inside. */
typedef struct span {
  size_t from, to; /* bytes of the text: after begin, before end */
  uint32_t inside;
} span;

static span span_of(const char *text, size_t length, const size_t *ends, size_t tokens) {
  span s = {3, 0, 0};
  for (s.to = 3; s.to + 4 <= length && memcmp(text + s.to, "</t>", 4); s.to++) continue;
  if (s.to + 4 > length) s.to = length;
  for (size_t i = 0; i < tokens; i++)
    s.inside += (i ? ends[i - 1] : 0) >= s.from && ends[i] <= s.to;
  return s;
}

/* Random texts: never more tokens inside than allowed, but for those that finish a character; at
 * the limit exactly the end is left. */
static void tokens_are_counted(void) {
  static const char *const limits[] = {COUNTED("1", "</t>"), COUNTED("2", "</t>"),
                                       COUNTED("7", "</t>")};
  static const uint32_t max[] = {1, 2, 7};
  uint64_t seed = 5;
  uint32_t words = (uint32_t)tsl_vocab_mask_words(vocab), *mask = malloc(words * sizeof *mask),
           full = 0, finished = 0;
  for (int round = 0; round < 900; round++) {
    tsl_grammar *g = compile(limits[round % 3]);
    tsl_matcher *m = NULL, *fork = NULL;
    char text[4000];
    size_t ends[200], n = 0, length = 0;
    if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) continue;
    while (n < 60 && length < 3000) {
      tsl_token t = 0;
      CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
      size_t allowed = tsl_mask_count(mask, words * 32),
             pick = allowed ? tsl_test_random(&seed) % allowed : 0, size;
      CHECKF(allowed > 0, "a dead end after %.*s", (int)length, text);
      if (!allowed) break;
      while (!tsl_mask_has(mask, t) || pick--) t++;
      if (tsl_vocab_is_eog(vocab, t)) break;
      CHECK(tsl_matcher_accept(m, t) == TSL_OK);
      if (tsl_test_random(&seed) % 4 == 0) { /* there and back, and in a copy */
        CHECK(tsl_matcher_rollback(m, 1) == TSL_OK && tsl_matcher_accept(m, t) == TSL_OK &&
              tsl_matcher_fork(m, &fork) == TSL_OK);
        tsl_matcher_free(m);
        m = fork;
      }
      const uint8_t *bytes = tsl_vocab_bytes(vocab, t, &size);
      memcpy(text + length, bytes, size);
      ends[n++] = length += size;
    }
    span s = span_of(text, length, ends, n);
    uint32_t over = s.inside > max[round % 3] ? s.inside - max[round % 3] : 0;
    for (size_t i = n, left = over; left && i-- > 0;)
      if (ends[i] <= s.to && (i ? ends[i - 1] : 0) >= s.from) {
        left--;
        for (size_t k = ends[i - 1]; k < ends[i]; k++)
          CHECKF(((uint8_t)text[k] & 0xC0) == 0x80, "over the limit: %.*s", (int)length, text);
      }
    CHECKF(over <= 3, "%u tokens over: %.*s", over, (int)length, text);
    full += s.inside >= max[round % 3] && s.to < length;
    finished += over > 0;
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
  CHECKF(full > 300 && finished > 0, "%u ended at the limit, %u finished a character", full,
         finished);
  free(mask);
}

/* The same tokens, in every way in which tokens are taken. */
static void counts_agree(void) {
  tsl_grammar *g = compile(COUNTED("3", "</t>"));
  tsl_matcher *m = NULL;
  tsl_parser *p = NULL;
  tsl_token ids[32];
  size_t n = 0, valid = 0, words = tsl_vocab_mask_words(vocab);
  static const char text[] = "<t>abc</t>x";
  for (size_t i = 0; text[i]; i++)
    for (tsl_token t = 0; t < tsl_vocab_size(vocab); t++) {
      size_t size;
      const uint8_t *bytes = tsl_vocab_bytes(vocab, t, &size);
      if (size == 1 && bytes[0] == (uint8_t)text[i] && !tsl_vocab_is_special(vocab, t))
        ids[n++] = t, t = tsl_vocab_size(vocab);
    }
  if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK || tsl_parser_new(g, NULL, &p) != TSL_OK) return;
  uint32_t *masks = malloc((n + 1) * words * sizeof *masks), *mask = malloc(words * sizeof *mask);
  CHECK(n == sizeof text - 1 && tsl_matcher_validate(m, ids, n, &valid) == TSL_OK && valid == n);
  CHECK(tsl_matcher_mask_drafts(m, ids, NULL, n, masks, NULL) == TSL_OK);
  for (size_t i = 0; i <= n; i++) {
    CHECKF(tsl_matcher_mask(m, mask) == TSL_OK &&
               !memcmp(mask, masks + i * words, words * sizeof *mask),
           "row %zu", i);
    /* three letters: the end is left */
    if (i == 6) CHECK(!tsl_mask_has(mask, ids[5]) && tsl_mask_has(mask, ids[6]));
    if (i < n)
      CHECK(tsl_matcher_accept(m, ids[i]) == TSL_OK && tsl_parser_token(p, ids[i]) == TSL_OK);
  }
  CHECK(tsl_matcher_rollback(m, n - 6) == TSL_OK && tsl_matcher_accept(m, ids[4]) == TSL_REJECTED &&
        tsl_matcher_accept(m, ids[6]) == TSL_OK);
  tsl_matcher_reset(m);
  CHECK(tsl_matcher_accept_bytes(m, "<t>a long text that is one token", 32, NULL) == TSL_OK &&
        tsl_matcher_accept_bytes(m, "abc", 3, NULL) == TSL_OK);
  CHECK(tsl_matcher_accept_bytes(m, "def", 3, NULL) == TSL_OK &&
        tsl_matcher_accept_bytes(m, "ghi", 3, NULL) == TSL_OK &&
        tsl_matcher_accept_bytes(m, "x", 1, NULL) == TSL_REJECTED);
  CHECK(tsl_parser_finish(p) == TSL_OK && strstr(tsl_parser_json(p), "\"content\": \"abc\"") &&
        strstr(tsl_parser_json(p), "\"x\""));
  free(masks);
  free(mask);
  tsl_parser_free(p);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* Text by bytes where the tokens are spent and a character is unfinished: that is finished first,
 * and then what follows comes. */
static void bytes_finish(void) {
  static const struct {
    const char *bytes;
    size_t accepted;
    bool fine;
  } cases[] = {{"\x82", 1, true},      {"\x82\xAC", 2, true},   {"\x82\xAC</t>abc", 9, true},
               {"\x82\xAC<", 3, true}, {"\x82\xACx", 2, false}, {"\x82\xACxyz</t>", 2, false},
               {"\x82x", 1, false},    {"x", 0, false},         {"\xC3", 0, false}};
  tsl_grammar *g = compile(COUNTED("2", "</t>"));
  tsl_matcher *m = NULL;
  if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) return;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    size_t n = 99, length = strlen(cases[i].bytes);
    tsl_matcher_reset(m);
    CHECK(tsl_matcher_accept_bytes(m, "<t>", 3, NULL) == TSL_OK &&
          tsl_matcher_accept_bytes(m, "a", 1, NULL) == TSL_OK &&
          tsl_matcher_accept_bytes(m, "b\xE2", 2, NULL) == TSL_OK);
    CHECKF(tsl_matcher_accept_bytes(m, cases[i].bytes, length, &n) ==
                   (cases[i].fine ? TSL_OK : TSL_REJECTED) &&
               n == cases[i].accepted,
           "bytes %zu: %zu", i, n);
    CHECK(tsl_matcher_history(m) == 3u + cases[i].fine);
    /* nothing changed */
    if (!cases[i].fine)
      CHECK(tsl_matcher_accept_bytes(m, "\x82\xAC</", 4, NULL) == TSL_OK &&
            tsl_matcher_accept_bytes(m, "t>", 2, NULL) == TSL_OK);
  }
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* Where positions have a memory (uniqueItems), and where the text is all there is. */
static void counts_elsewhere(void) {
  tsl_grammar *g = compile(
      "{\"type\":\"sequence\",\"elements\":[{\"type\":\"any_text\",\"max_tokens\":2},{\"type\":"
      "\"json_schema\",\"json_schema\":{\"type\":\"array\",\"uniqueItems\":true}}]}");
  tsl_matcher *m = NULL;
  if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) return;
  CHECK(tsl_matcher_accept_bytes(m, "a", 1, NULL) == TSL_OK &&
        tsl_matcher_accept_bytes(m, "[", 1, NULL) == TSL_OK &&
        tsl_matcher_accept_bytes(m, "x", 1, NULL) == TSL_REJECTED);
  CHECK(tsl_matcher_accept_bytes(m, "1,1]", 4, NULL) == TSL_REJECTED &&
        tsl_matcher_accept_bytes(m, "1,2]", 4, NULL) == TSL_OK && tsl_matcher_is_complete(m));
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  g = compile("{\"type\":\"any_text\",\"max_tokens\":1}");
  if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) return;
  CHECK(tsl_matcher_is_complete(m) && tsl_matcher_accept_bytes(m, "a", 1, NULL) == TSL_OK &&
        tsl_matcher_is_complete(m) && tsl_matcher_accept_bytes(m, "b", 1, NULL) == TSL_REJECTED);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* A mask of a copy that is narrowed for a character to be finished: where it cannot be made,
 * nothing is lent. */
static void lending_fails(void) {
  const uint32_t *words = NULL;
  uint64_t id = 7;
  tsl_grammar *g = compile(COUNTED("1", "</t>"));
  tsl_matcher *m = NULL;
  failing none = {0};
  if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) return;
  CHECK(tsl_matcher_accept_bytes(m, "<t>", 3, NULL) == TSL_OK &&
        tsl_matcher_accept_bytes(m, "\xC3", 1, NULL) == TSL_OK);
  const tsl_allocator alloc = g->space->alloc;
  g->space->alloc = failing_allocator(&none);
  CHECK(tsl_matcher_mask_borrow(m, &words, &id) == TSL_ERR_NO_MEMORY && !words && id == 7);
  g->space->alloc = alloc;
  CHECK(tsl_matcher_mask_borrow(m, &words, &id) == TSL_OK && words && id != 7 &&
        tsl_mask_has(words, 0x80) && !tsl_mask_has(words, 'a') && !tsl_mask_has(words, 0xC3));
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* A token that is spelled in a list without repetitions, and named beside it: what was used is not
 * forgotten. */
static void named_beside_memory(void) {
  static const char json[] =
      "{\"type\":\"or\",\"elements\":[{\"type\":\"json_schema\",\"json_schema\":{\"type\":"
      "\"array\",\"uniqueItems\":true,\"items\":{\"enum\":[1,2,3]}}},"
      /* token 50 is "2" */
      "{\"type\":\"sequence\",\"elements\":[" CONST(
          "[1,") ",{\"type\":\"token\",\"token\":50}," CONST("x") "]}]}";
  static const struct {
    const char *text, *next;
    bool good;
  } cases[] = {{"[1,", "2", true},    {"[1,", "3", true},    {"[1,", "1", false},
               {"[1,2", "x", true},   {"[1,2", ",", true},   {"[1,2,", "3", true},
               {"[1,2,", "2", false}, {"[1,2,", "1", false}, {"[1,3", "x", false}};
  tsl_grammar *g = compile(json);
  uint32_t *mask = malloc(tsl_vocab_mask_words(vocab) * sizeof *mask);
  for (size_t i = 0; g && mask && i < sizeof cases / sizeof *cases; i++) {
    tsl_matcher *m = NULL;
    bool fine = tsl_matcher_new(g, NULL, &m) == TSL_OK;
    for (const char *c = cases[i].text; *c; c++)
      fine = fine && tsl_matcher_accept(m, (uint8_t)*c) == TSL_OK;
    CHECKF(fine && tsl_matcher_mask(m, mask) == TSL_OK &&
               tsl_mask_has(mask, (uint8_t)*cases[i].next) == cases[i].good,
           "%s before %s", cases[i].text, cases[i].next);
    CHECK((tsl_matcher_accept(m, (uint8_t)*cases[i].next) == TSL_OK) == cases[i].good);
    tsl_matcher_free(m);
  }
  tsl_grammar_release(g);
  free(mask);
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

/* ---- errors ---------------------------------------------------------------------------------- */

static const struct {
  const char *json;
  tsl_status status;
  const char *message, *pointer;
} errors[] = {
    {"{", TSL_ERR_SYNTAX, "", ""},
    {"[]", TSL_ERR_SCHEMA, "a format is an object", ""},
    {"{\"type\":\"structural_tag\"}", TSL_ERR_SCHEMA, "\"format\" is missing", ""},
    {"{\"type\":\"structural_tag\",\"format\":{\"type\":\"nonsense\"}}", TSL_ERR_SCHEMA,
     "there is no format \"nonsense\"", "/format/type"},
    {"{\"type\":\"const_string\"}", TSL_ERR_SCHEMA, "\"value\" is missing", ""},
    {"{\"type\":\"any_text\",\"exclude\":[]}", TSL_ERR_SCHEMA, "no member \"exclude\"", "/exclude"},
    {"{\"type\":\"any_text\",\"max_chars\":2147483648}", TSL_ERR_SCHEMA, "from 0 to 2147483647",
     "/max_chars"},
    {"{\"type\":\"any_text\",\"max_chars\":-1}", TSL_ERR_SCHEMA, "max_chars", "/max_chars"},
    {"{\"type\":\"repeat\",\"min\":3,\"max\":2,\"content\":" ANY "}", TSL_ERR_SCHEMA, "greater",
     ""},
    {"{\"type\":\"sequence\",\"elements\":[]}", TSL_ERR_SCHEMA, "not empty", "/elements"},
    {"{\"type\":\"regex\",\"pattern\":\"(\"}", TSL_ERR_SYNTAX, "in the pattern", ""},
    {"{\"type\":\"grammar\",\"grammar\":\"x ::= y\"}", TSL_ERR_SYNTAX, "in the grammar", ""},
    {"{\"type\":\"sequence\",\"elements\":[{\"type\":\"json_schema\",\"json_schema\":{\"type\":"
     "\"strin\"}}]}",
     TSL_ERR_SCHEMA, "", "/elements/0/json_schema/type"},
    {"{\"type\":\"json_schema\",\"json_schema\":{\"type\":\"string\"},\"style\":\"qwen_xml\"}",
     TSL_ERR_UNSUPPORTED, "objects", "/json_schema"},
    {"{\"type\":\"json_schema\",\"json_schema\":{},\"style\":\"unknown\"}", TSL_ERR_UNSUPPORTED,
     "style", ""},
    {"{\"type\":\"json_schema\",\"json_schema\":{\"type\":\"object\",\"required\":[\"a>\"]},"
     "\"style\":\"qwen_xml\"}",
     TSL_ERR_UNSUPPORTED, "cannot be written", "/json_schema"},
    {NESTED(CLOSED("\"a\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}", "")),
     TSL_ERR_UNSUPPORTED, "no value can be written here in the style minimax_m3_xml",
     "/json_schema/properties/a/items"},
    {NESTED(CLOSED("\"a\":{\"type\":\"array\",\"uniqueItems\":true}", "")), TSL_ERR_UNSUPPORTED,
     "uniqueItems in the style", "/json_schema/properties/a"},
    {NESTED(CLOSED("\"a\":{\"const\":\"]<]minimax[>[\"}", "\"a\"")), TSL_ERR_EMPTY, "no value",
     "/json_schema/properties/a/const"},
    {NESTED(CLOSED("\"a\":{\"type\":\"object\",\"properties\":{\"/b\":{\"type\":\"null\"}}}", "")),
     TSL_ERR_UNSUPPORTED, "\"/b\" cannot be written", "/json_schema"},
    {NESTED(CLOSED("\" \":{\"type\":\"null\"}", "")), TSL_ERR_UNSUPPORTED,
     "\" \" cannot be written", "/json_schema"},
    {NESTED(CLOSED("\"a>\":{\"type\":\"null\"}", "")), TSL_ERR_UNSUPPORTED,
     "\"a>\" cannot be written", "/json_schema"},
    {NESTED("{\"type\":\"array\"}"), TSL_ERR_UNSUPPORTED, "objects", "/json_schema"},
    {"{\"type\":\"json_schema\",\"json_schema\":{\"not\":{\"uniqueItems\":true},\"maxItems\":2}}",
     TSL_ERR_UNSUPPORTED, "uniqueItems", "/json_schema/not/uniqueItems"},
    {"{\"type\":\"triggered_tags\",\"triggers\":[\"<x\"],\"tags\":[" TAG("<f>", ANY, "e") "]}",
     TSL_ERR_SCHEMA, "no tag begins", ""},
    {"{\"type\":\"triggered_tags\",\"triggers\":[\"<\",\"<f\"],\"tags\":[" TAG("<f>", ANY,
                                                                               "e") "]}",
     TSL_ERR_SCHEMA, "exactly one trigger", "/tags/0"},
    {"{\"type\":\"token\",\"token\":99999999}", TSL_ERR_SCHEMA, "there is no token", "/token"},
    {"{\"type\":\"token\",\"token\":\"no such token at all\"}", TSL_ERR_SCHEMA, "has no token",
     "/token"},
    {"{\"type\":\"any_text\",\"as\":\"prose\"}", TSL_ERR_SCHEMA, "\"as\" is", "/as"},
};

static void errors_are_precise(void) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    tsl_grammar *g = NULL;
    tsl_error e = {0};
    tsl_status status =
        tsl_grammar_tags(vocab, errors[i].json, strlen(errors[i].json), NULL, NULL, &g, &e);
    CHECKF(status == errors[i].status && e.status == status && !g, "%s: %s %s", errors[i].json,
           tsl_status_name(status), e.message);
    CHECKF(strstr(e.message, errors[i].message) != NULL, "%s: %s", errors[i].json, e.message);
    CHECKF(!strcmp(e.pointer, errors[i].pointer), "%s: pointer %s", errors[i].json, e.pointer);
    tsl_grammar_release(g);
  }
  static const tsl_schema_options options[] = {{.order = (tsl_order)2},
                                               {.whitespace = (tsl_whitespace)4},
                                               {.draft = (tsl_draft)5},
                                               {.draft = (tsl_draft)2018}};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    tsl_grammar *g = NULL;
    tsl_error e = {0};
    CHECK(tsl_grammar_tags(vocab, "{\"type\":\"any_text\"}", 19, &options[i], NULL, &g, &e) ==
              TSL_ERR_ARGUMENT &&
          e.status == TSL_ERR_ARGUMENT && !g);
    CHECK(tsl_grammar_json_schema(vocab, "{}", 2, &options[i], NULL, &g, &e) == TSL_ERR_ARGUMENT &&
          e.status == TSL_ERR_ARGUMENT && !g);
  }
  tsl_grammar *g = NULL;
  CHECK(tsl_grammar_tools(vocab, "[]", 2,
                          &(tsl_tools_options){.preset = "qwen3", .thinking = (tsl_thinking)3},
                          NULL, &g, NULL) == TSL_ERR_ARGUMENT &&
        !g);
}

/* ---- options --------------------------------------------------------------------------------- */

/* Are the tables of one grammar taken for another with these options? */
static bool shares(const tsl_schema_options *first, const tsl_schema_options *second,
                   bool *repeats) {
  static const char json[] = "{\"type\": \"json_schema\", \"json_schema\": {\"type\": \"object\"}}";
  tsl_grammar *g = NULL, *h = NULL;
  CHECK(tsl_grammar_tags(vocab, json, sizeof json - 1, first, NULL, &g, NULL) == TSL_OK &&
        tsl_grammar_tags_over(g, json, sizeof json - 1, second, NULL, &h, NULL) == TSL_OK);
  bool same = g && h && g->space == h->space;
  *repeats = h && accepts(h, "{\"a\":1,\"a\":2}");
  tsl_grammar_release(g);
  tsl_grammar_release(h);
  return same;
}

/* Only grammars with the same options share; what they are compared with is a copy. */
static void options_are_kept(void) {
  const tsl_schema_options plain = {0}, repeated = {.repeated_names = true},
                           based = {.base_uri = "http://a/b"},
                           elsewhere = {.base_uri = "http://a/c"};
  bool repeats;
  CHECK(shares(&repeated, &repeated, &repeats) && repeats);
  CHECK(!shares(&repeated, &plain, &repeats) && !repeats);
  CHECK(!shares(&plain, &repeated, &repeats) && repeats);
  CHECK(!shares(&based, &elsewhere, &repeats) && !shares(&based, NULL, &repeats) &&
        !shares(NULL, &based, &repeats));
  static const char json[] = "{\"type\": \"json_schema\", \"json_schema\": {\"type\": \"array\"}}";
  char *base = malloc(11);
  tsl_grammar *g = NULL, *h = NULL;
  memcpy(base, "http://a/b", 11);
  CHECK(tsl_grammar_tags(vocab, json, sizeof json - 1, &(tsl_schema_options){.base_uri = base},
                         NULL, &g, NULL) == TSL_OK);
  memset(base, 'x', 10);
  free(base); /* the caller's */
  CHECK(tsl_grammar_tags_over(g, json, sizeof json - 1, &based, NULL, &h, NULL) == TSL_OK &&
        g->space == h->space);
  tsl_grammar_release(g);
  tsl_grammar_release(h);
}

/* Where a length is 0, NULL will do. */
static void nothing_given(void) {
  tsl_grammar *g = NULL;
  tsl_parser *p = NULL;
  tsl_error e = {0};
  CHECK(tsl_grammar_tags(vocab, NULL, 0, NULL, NULL, &g, &e) == TSL_ERR_SYNTAX && !g);
  CHECK(tsl_grammar_tags(vocab, "{\"type\":\"any_tokens\"}", 21, NULL, NULL, &g, &e) == TSL_OK);
  CHECK(tsl_parser_new(g, NULL, &p) == TSL_OK && tsl_parser_text(p, NULL, 0) == TSL_OK &&
        tsl_parser_finish(p) == TSL_OK);
  tsl_parser_free(p);
  tsl_grammar_release(g);
}

int main(void) {
  if (tsl_vocab_embedded(NULL, &vocab, NULL) != TSL_OK) return 1;
  RUN(accepted, "every format, its texts and others");
  RUN(triggers_are_exact, "all short texts against a naive search");
  RUN(masks_are_right, "against the naive matcher");
  RUN(bytes_finish, "bytes that finish a character");
  RUN(tokens_are_counted, "max_tokens of any_text");
  RUN(named_beside_memory, "tokens named where others must not be repeated");
  RUN(lending_fails, "a mask that cannot be made is not lent");
  RUN(counts_elsewhere, "uniqueItems, and nothing after the text");
  RUN(counts_agree, "drafts, validation, rollback");
  RUN(specials_in_begins, "special tokens in begins and triggers");
  RUN(read_back, "whole and byte by byte");
  RUN(nested_lengths, "elements inside elements");
  RUN(rejections_change_nothing, "and grammars of other kinds");
  RUN(memory_may_fail, "every allocation of a parser");
  RUN(errors_are_precise, "status, message, pointer");
  RUN(nothing_given, "NULL of length 0");
  RUN(options_are_kept, "and decide what is shared");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
