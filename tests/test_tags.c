/* test_tags.c - structural tags: what they accept, exact triggers, masks against the naive matcher, reading back, errors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/check.h"
#include "tests/failing.h"
#include "tests/oracle.h"

static tsl_vocab *vocab;

static tsl_grammar *compile(const char *json) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_status status = tsl_grammar_tags(vocab, json, strlen(json), NULL, NULL, &g, &error);
  CHECKF(status == TSL_OK, "%s: %s %s", json, error.message, error.pointer);
  return g;
}

static bool accepts(tsl_grammar *g, const char *text) {
  tsl_matcher *m = NULL;
  bool whole = tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK && tsl_matcher_is_complete(m);
  tsl_matcher_free(m);
  return whole;
}

#define S "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"s\":{\"type\":\"string\"}},\"required\":[\"a\"],\"additionalProperties\":false}"
#define TAG(b, c, e) "{\"type\":\"tag\",\"begin\":\"" b "\",\"content\":" c ",\"end\":\"" e "\"}"
#define CONST(t) "{\"type\":\"const_string\",\"value\":\"" t "\"}"
#define SCHEMA "{\"type\":\"json_schema\",\"json_schema\":" S "}"
#define STYLED(style) "{\"type\":\"json_schema\",\"style\":\"" style "\",\"json_schema\":" S "}"
#define NESTED(schema) "{\"type\":\"json_schema\",\"style\":\"minimax_m3_xml\",\"json_schema\":" schema "}"
#define CLOSED(properties, required) "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required "],\"additionalProperties\":false}"
#define TREE "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"},\"k\":{\"type\":\"array\",\"items\":{\"$ref\":\"#\"},\"maxItems\":2}},\"required\":[\"n\"]}"
#define LOOSE CLOSED("\"a\":{},\"b\":{\"type\":[\"array\",\"object\"],\"properties\":{\"c\":{}}},\"n\":{\"type\":[\"integer\",\"string\"]},\"q\":{\"type\":\"string\"}", "")
#define NS "]<]minimax[>["
#define EL(name, content) NS "<" name ">" content NS "</" name ">"
#define ANY "{\"type\":\"any_text\"}"
#define TRIGGERED(more) "{\"type\":\"triggered_tags\",\"triggers\":[\"<f\"],\"tags\":[" TAG("<f=a>", SCHEMA, "</f>") "," TAG("<f=b>", CONST("x"), "</f>") "]" more "}"

static const struct {
  const char *json;
  const char *yes[7], *no[9];
} forms[] = {
    {CONST("ab"), {"ab"}, {"", "a", "abc"}},
    {SCHEMA, {"{\"a\":1}", "{\"a\": 2, \"s\": \"x\"}"}, {"{}", "{\"s\":\"x\"}"}},
    {"{\"type\":\"regex\",\"pattern\":\"[0-9]+\"}", {"1", "123"}, {"", "a"}},
    {"{\"type\":\"grammar\",\"grammar\":\"root ::= \\\"a\\\" root | \\\"b\\\"\"}", {"b", "aab"}, {"", "a"}},
    {ANY, {"", "anything <f at all", "\xC3\xA4"}, {"\xFF", "\xC3"}},
    {"{\"type\":\"any_text\",\"excludes\":[\"ab\",\"c\"],\"max_chars\":3}", {"", "aaa", "ba", "\xC3\xA4\xC3\xA4\xC3\xA4"}, {"ab", "c", "aaaa", "xab"}},
    {"{\"type\":\"sequence\",\"elements\":[" CONST("a") "," CONST("b") "]}", {"ab"}, {"a", "b", "ba"}},
    {"{\"type\":\"or\",\"elements\":[" CONST("a") "," CONST("ab") "]}", {"a", "ab"}, {"", "b"}},
    {"{\"type\":\"optional\",\"content\":" CONST("a") "}", {"", "a"}, {"aa"}},
    {"{\"type\":\"plus\",\"content\":" CONST("a") "}", {"a", "aaa"}, {""}},
    {"{\"type\":\"star\",\"content\":" CONST("ab") "}", {"", "ab", "abab"}, {"aba"}},
    {"{\"type\":\"repeat\",\"min\":2,\"max\":3,\"content\":" CONST("a") "}", {"aa", "aaa"}, {"a", "aaaa"}},
    {"{\"type\":\"repeat\",\"min\":1,\"max\":-1,\"content\":" CONST("a") "}", {"a", "aaaaaa"}, {""}},
    {TAG("<t>", ANY, "</t>"), {"<t></t>", "<t>x<t>y</t>", "<t></</t>"}, {"<t>", "<t></t>x", "<t></t></t>", "x<t></t>"}},
    {TAG("<t>", ANY, "aa"), {"<t>aa", "<t>baa"}, {"<t>aaa", "<t>a"}},
    {"{\"type\":\"tag\",\"begin\":\"[\",\"content\":" ANY ",\"end\":[\"]\",\"|\"]}", {"[]", "[a|"}, {"[a", "[]|"}},
    {TRIGGERED(""), {"", "text", "<", "a<f=b>x</f>", "<f=a>{\"a\":1}</f> and <f=b>x</f> end", "<<f=b>x</f>"}, {"<f", "<f=c>", "<f=b>y</f>", "<f=b>x", "<f=a>{}</f>"}},
    {TAG("\\\"[", "{\"type\":\"json_schema\",\"json_schema\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"uniqueItems\":true}}", "#"), {"\"[[\"a\",\"b\"]#", "\"[[]#"}, {"\"[[\"a\",\"a\"]#"}},
    {"{\"type\":\"triggered_tags\",\"triggers\":[\"<f\"],\"tags\":[{\"begin\":\"<f>\",\"content\":" CONST("x") ",\"end\":\">\"}]}", {"a<f>x>b"}, {"<f>x"}},
    {"{\"type\":\"tags_with_separator\",\"separator\":\",\",\"tags\":[{\"begin\":\"<\",\"content\":" CONST("x") ",\"end\":\">\"}]}", {"<x>,<x>"}, {"<x><x>"}},
    {"{\"type\":\"or\",\"elements\":[{\"begin\":\"<\",\"content\":{\"begin\":\"[\",\"content\":" CONST("x") ",\"end\":\"]\"},\"end\":\">\"}," CONST("y") "]}", {"<[x]>", "y"}, {"<x>"}},
    {"{\"begin\":\"<\",\"content\":" CONST("x") ",\"end\":\">\"}", {"<x>"}, {"x"}},
    {"{\"type\":\"structural_tag\",\"format\":{\"begin\":\"<\",\"content\":" CONST("x") ",\"end\":\">\"}}", {"<x>"}, {"x"}},
    {TRIGGERED(",\"at_least_one\":true"), {"<f=b>x</f>", "<f=b>x</f>text"}, {"", "text<f=b>x</f>"}},
    {TRIGGERED(",\"stop_after_first\":true"), {"", "t<f=b>x</f>"}, {"<f=b>x</f>t", "<f=b>x</f><f=b>x</f>"}},
    {TRIGGERED(",\"excludes\":[\"no\"]"), {"n o", "<f=b>x</f>n"}, {"no", "<f=b>x</f>no"}},
    {TAG("(", TRIGGERED(""), ")"), {"()", "(text<f=b>x</f>more)"}, {"(", "(a)b", "(a))"}},
    {"{\"type\":\"tags_with_separator\",\"tags\":[" TAG("<", CONST("x"), ">") "," TAG("<y", CONST(""), ">") "],\"separator\":\", \"}", {"", "<x>", "<x>, <y>, <x>"}, {", ", "<x>,", "<x><x>", "<x>, "}},
    {"{\"type\":\"tags_with_separator\",\"tags\":[" TAG("<", CONST("x"), ">") "],\"separator\":\"\",\"at_least_one\":true,\"stop_after_first\":true}", {"<x>"}, {"", "<x><x>"}},
    {"{\"type\":\"dispatch\",\"rules\":[[\"<1>\"," CONST("one") "],[\"<2>\"," CONST("two") "]],\"excludes\":[\"!\"]}", {"", "a<1>one b<2>two", "<<1>one"}, {"<1>two", "<1>", "!"}},
    {"{\"type\":\"dispatch\",\"rules\":[[\"<1>\"," CONST("one") "]],\"loop\":false}", {"", "a<1>one"}, {"<1>one "}},
    {"{\"type\":\"structural_tag\",\"format\":" CONST("a") "}", {"a"}, {"b"}},
    {"{\"type\":\"structural_tag\",\"triggers\":[\"<f\"],\"structures\":[{\"begin\":\"<f>\",\"schema\":" S ",\"end\":\"</f>\"}]}", {"", "t", "t<f>{\"a\":1}</f>u"}, {"<f", "<f>{}</f>"}},
    {"{\"triggers\":[\"<f\"],\"structures\":[{\"begin\":\"<f>\",\"schema\":\"{\\\"type\\\":\\\"null\\\"}\",\"end\":\"\"}]}", {"<f>null", "<f>null<f>null"}, {"<f>"}},
    {STYLED("qwen_xml"), {"<parameter=a>1</parameter>", "<parameter=a>\n1\n</parameter>\n<parameter=s>\nx \"y\" <z>\n</parameter>\n"}, {"", "<parameter=s>x</parameter>", "<parameter=a>x</parameter>", "<parameter=a>1</parameter><parameter=a>1</parameter>", "<parameter=b>1</parameter>"}},
    {STYLED("minimax_xml"), {"<parameter name=\"a\">1</parameter>\n<parameter name=\"s\">x</parameter>"}, {"<parameter=a>1</parameter>"}},
    {STYLED("minimax_m3_xml"), {EL("a", "1"), EL("a", "1") "\n" EL("s", "x <b> ]<] \n") "\n"}, {"", EL("s", "") EL("a", "1"), EL("a", "x"), EL("a", "1") " " EL("s", "x"), EL("a", "1") EL("a", "1"), NS "<a>1" NS "</s>", EL("a", "1") EL("s", NS), EL("a", "1") EL("b", "x"), "\n" EL("a", "1")}},
    {NESTED(TREE), {EL("n", "1"), EL("n", "1") EL("k", ""), EL("n", "1") EL("k", EL("item", EL("n", "2") EL("k", EL("item", EL("n", "3")))) "\n" EL("item", EL("n", "4")))}, {EL("k", ""), EL("n", "1") EL("k", "[]"), EL("n", "1") EL("k", EL("item", "")), EL("n", "1") EL("k", EL("item", EL("n", "1")) EL("item", EL("n", "1")) EL("item", EL("n", "1"))), EL("n", "1") EL("x", "1"), EL("n", "1") EL("k", EL("n", "1")), EL("n", "1") EL("k", EL("item", EL("n", "1"))) "]"}},
    {NESTED(LOOSE), {"", EL("a", EL("item", EL("item", "null")) EL("item", "")), EL("b", EL("c", "x")), EL("b", EL("item", "x")), EL("a", "{\"x\":1}"), EL("b", "")}, {EL("a", EL("x", "1")), EL("b", "x"), EL("b", EL("x", "1")), EL("b", EL("item", "x") EL("c", "x"))}},
    {NESTED(CLOSED("\"e\":{\"enum\":[\"\",[],[1,\"x\"],{\"k\":[true]},\"it\"]},\"l\":{\"type\":\"array\",\"items\":{\"type\":\"boolean\"},\"contains\":{\"const\":true}}", "")), {EL("e", ""), EL("e", EL("item", "1") EL("item", "x")), EL("e", EL("k", EL("item", "true"))), EL("e", "it"), EL("l", EL("item", "false") EL("item", "true"))}, {EL("e", "1"), EL("e", EL("item", "1")), EL("e", EL("k", "true")), EL("l", ""), EL("l", EL("item", "false"))}},
    {STYLED("deepseek_xml"), {"<｜DSML｜parameter name=\"a\" string=\"false\">1</｜DSML｜parameter><｜DSML｜parameter name=\"s\" string=\"true\">x</｜DSML｜parameter>"}, {"<｜DSML｜parameter name=\"a\" string=\"true\">1</｜DSML｜parameter>"}},
    {STYLED("glm_xml"), {"<arg_key>a</arg_key><arg_value>1</arg_value>", "<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n<arg_key>s</arg_key>\n<arg_value></arg_value>\n"}, {"<arg_key>s</arg_key><arg_value>x</arg_value>"}},
    {STYLED("cohere_xml"), {"<cofl:value name=\"a\" type=\"json\">1</cofl:value><cofl:value name=\"s\" type=\"raw\">1</cofl:value>"}, {"<cofl:value name=\"a\" type=\"raw\">1</cofl:value>"}},
    {STYLED("kimi_k3_xml"), {"<|open|>argument key=\"a\" type=\"number\"<|sep|>1<|close|>argument<|sep|>", "<|open|>argument key=\"a\" type=\"number\"<|sep|>1<|close|>argument<|sep|><|open|>argument key=\"s\" type=\"string\"<|sep|><b<|close|>argument<|sep|>"}, {"<|open|>argument key=\"a\" type=\"string\"<|sep|>1<|close|>argument<|sep|>", "<|open|>argument key=\"a\" type=\"integer\"<|sep|>1<|close|>argument<|sep|>"}},
    {STYLED("pythonic"), {"a=1", "a=1, s=\"x, \\\"y)\""}, {"", "a=1,s=\"x\"", "a=1, ", "a=True", "s=\"x\""}},
    {"{\"type\":\"json_schema\",\"style\":\"pythonic\",\"json_schema\":{\"type\":\"object\",\"properties\":{\"b\":{\"type\":[\"boolean\",\"null\"]},\"l\":{\"type\":\"array\",\"items\":{\"type\":\"boolean\"}}},\"additionalProperties\":false}}", {"", "b=True", "b=None, l=[true]", "l=[]"}, {"b=true", "b=null", "b=1", "l=[True]"}},
    {"{\"type\":\"qwen_xml_parameter\",\"json_schema\":{\"type\":\"object\",\"additionalProperties\":true}}", {"", "<parameter=any>thing</parameter>", "<parameter=x>[1, 2]</parameter>"}, {"<parameter=>x</parameter>", "<parameter=a<b>x</parameter>"}},
};

static void accepted(void) {
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    tsl_grammar *g = compile(forms[i].json);
    if (!g) continue;
    for (size_t k = 0; k < 7 && forms[i].yes[k]; k++) CHECKF(accepts(g, forms[i].yes[k]), "%s must accept \"%s\"", forms[i].json, forms[i].yes[k]);
    for (size_t k = 0; k < 9 && forms[i].no[k]; k++) CHECKF(!accepts(g, forms[i].no[k]), "%s must not accept \"%s\"", forms[i].json, forms[i].no[k]);
    tsl_grammar_release(g);
  }
}

/* ---- triggers: all short texts ---------------------------------------------------------------------------------- */

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
  static const char *const sets[][2] = {{"ab", NULL}, {"aa", NULL}, {"aba", NULL}, {"ab", "bb"}, {"ab", "ba"}, {"aab", "b!a"}};
  for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
    size_t n = sets[s][1] ? 2 : 1;
    char json[600], text[10];
    snprintf(json, sizeof json, "{\"type\":\"triggered_tags\",\"triggers\":[\"%s\"%s%s%s],\"tags\":[{\"type\":\"tag\",\"begin\":\"%s\",\"content\":" CONST("") ",\"end\":\"!\"}%s%s%s]}", sets[s][0], n > 1 ? ",\"" : "",
             n > 1 ? sets[s][1] : "", n > 1 ? "\"" : "", sets[s][0], n > 1 ? ",{\"type\":\"tag\",\"begin\":\"" : "", n > 1 ? sets[s][1] : "", n > 1 ? "\",\"content\":" CONST("") ",\"end\":\"!\"}" : "");
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

/* ---- masks ------------------------------------------------------------------------------------------------------- */

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
    if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK || tsl_parser_new(g, NULL, &p) != TSL_OK) continue;
    oracle_begin(&o, g->space, g->start);
    for (int step = 0; step < 14; step++) {
      tsl_token t = 0;
      CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
      oracle_mask(&o, plain);
      if (!o.overflow) CHECKF(!memcmp(mask, plain, words * sizeof *mask), "masks differ: %s, step %d", forms[i].json, step);
      size_t n = tsl_mask_count(mask, words * 32), pick = n ? tsl_test_random(&seed) % n : 0;
      while (n && (!tsl_mask_has(mask, t) || pick--)) t++;
      if (!n || tsl_vocab_is_eog(vocab, t)) break;
      CHECK(tsl_matcher_accept(m, t) == TSL_OK && tsl_parser_token(p, t) == TSL_OK && oracle_token(&o, t));
    }
    oracle_free(&o);
    tsl_parser_free(p);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
  free(mask);
  free(plain);
}

/* ---- counted tokens ---------------------------------------------------------------------------------------------- */

#define COUNTED(n, end) "{\"type\":\"sequence\",\"elements\":[" TAG("<t>", "{\"type\":\"any_text\",\"max_tokens\":" n "}", end) "," ANY "]}"

/* The tokens accepted from the first one that begins inside to the last one that ends inside. */
typedef struct span {
  size_t from, to; /* bytes of the text: after begin, before end */
  uint32_t inside;
} span;

static span span_of(const char *text, size_t length, const size_t *ends, size_t tokens) {
  span s = {3, 0, 0};
  for (s.to = 3; s.to + 4 <= length && memcmp(text + s.to, "</t>", 4); s.to++) continue;
  if (s.to + 4 > length) s.to = length;
  for (size_t i = 0; i < tokens; i++) s.inside += (i ? ends[i - 1] : 0) >= s.from && ends[i] <= s.to;
  return s;
}

/* Random texts: never more tokens inside than allowed, but for those that finish a character; at the limit exactly the end is left. */
static void tokens_are_counted(void) {
  static const char *const limits[] = {COUNTED("1", "</t>"), COUNTED("2", "</t>"), COUNTED("7", "</t>")};
  static const uint32_t max[] = {1, 2, 7};
  uint64_t seed = 5;
  uint32_t words = (uint32_t)tsl_vocab_mask_words(vocab), *mask = malloc(words * sizeof *mask), full = 0, finished = 0;
  for (int round = 0; round < 900; round++) {
    tsl_grammar *g = compile(limits[round % 3]);
    tsl_matcher *m = NULL, *fork = NULL;
    char text[4000];
    size_t ends[200], n = 0, length = 0;
    if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) continue;
    while (n < 60 && length < 3000) {
      tsl_token t = 0;
      CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
      size_t allowed = tsl_mask_count(mask, words * 32), pick = allowed ? tsl_test_random(&seed) % allowed : 0, size;
      CHECKF(allowed > 0, "a dead end after %.*s", (int)length, text);
      if (!allowed) break;
      while (!tsl_mask_has(mask, t) || pick--) t++;
      if (tsl_vocab_is_eog(vocab, t)) break;
      CHECK(tsl_matcher_accept(m, t) == TSL_OK);
      if (tsl_test_random(&seed) % 4 == 0) { /* there and back, and in a copy */
        CHECK(tsl_matcher_rollback(m, 1) == TSL_OK && tsl_matcher_accept(m, t) == TSL_OK && tsl_matcher_fork(m, &fork) == TSL_OK);
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
        for (size_t k = ends[i - 1]; k < ends[i]; k++) CHECKF(((uint8_t)text[k] & 0xC0) == 0x80, "over the limit: %.*s", (int)length, text);
      }
    CHECKF(over <= 3, "%u tokens over: %.*s", over, (int)length, text);
    full += s.inside >= max[round % 3] && s.to < length;
    finished += over > 0;
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
  CHECKF(full > 300 && finished > 0, "%u ended at the limit, %u finished a character", full, finished);
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
      if (size == 1 && bytes[0] == (uint8_t)text[i] && !tsl_vocab_is_special(vocab, t)) ids[n++] = t, t = tsl_vocab_size(vocab);
    }
  if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK || tsl_parser_new(g, NULL, &p) != TSL_OK) return;
  uint32_t *masks = malloc((n + 1) * words * sizeof *masks), *mask = malloc(words * sizeof *mask);
  CHECK(n == sizeof text - 1 && tsl_matcher_validate(m, ids, n, &valid) == TSL_OK && valid == n);
  CHECK(tsl_matcher_mask_drafts(m, ids, NULL, n, masks, NULL) == TSL_OK);
  for (size_t i = 0; i <= n; i++) {
    CHECKF(tsl_matcher_mask(m, mask) == TSL_OK && !memcmp(mask, masks + i * words, words * sizeof *mask), "row %zu", i);
    if (i == 6) CHECK(!tsl_mask_has(mask, ids[5]) && tsl_mask_has(mask, ids[6])); /* three letters: the end is left */
    if (i < n) CHECK(tsl_matcher_accept(m, ids[i]) == TSL_OK && tsl_parser_token(p, ids[i]) == TSL_OK);
  }
  CHECK(tsl_matcher_rollback(m, n - 6) == TSL_OK && tsl_matcher_accept(m, ids[4]) == TSL_REJECTED && tsl_matcher_accept(m, ids[6]) == TSL_OK);
  tsl_matcher_reset(m);
  CHECK(tsl_matcher_accept_bytes(m, "<t>a long text that is one token", 32, NULL) == TSL_OK && tsl_matcher_accept_bytes(m, "abc", 3, NULL) == TSL_OK);
  CHECK(tsl_matcher_accept_bytes(m, "def", 3, NULL) == TSL_OK && tsl_matcher_accept_bytes(m, "ghi", 3, NULL) == TSL_OK && tsl_matcher_accept_bytes(m, "x", 1, NULL) == TSL_REJECTED);
  CHECK(tsl_parser_finish(p) == TSL_OK && strstr(tsl_parser_json(p), "\"content\": \"abc\"") && strstr(tsl_parser_json(p), "\"x\""));
  free(masks);
  free(mask);
  tsl_parser_free(p);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* Text by bytes where the tokens are spent and a character is unfinished: that is finished first, and then what follows comes. */
static void bytes_finish(void) {
  static const struct {
    const char *bytes;
    size_t accepted;
    bool fine;
  } cases[] = {{"\x82", 1, true}, {"\x82\xAC", 2, true}, {"\x82\xAC</t>abc", 9, true}, {"\x82\xAC<", 3, true}, {"\x82\xACx", 2, false}, {"\x82\xACxyz</t>", 2, false}, {"\x82x", 1, false}, {"x", 0, false}, {"\xC3", 0, false}};
  tsl_grammar *g = compile(COUNTED("2", "</t>"));
  tsl_matcher *m = NULL;
  if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) return;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    size_t n = 99, length = strlen(cases[i].bytes);
    tsl_matcher_reset(m);
    CHECK(tsl_matcher_accept_bytes(m, "<t>", 3, NULL) == TSL_OK && tsl_matcher_accept_bytes(m, "a", 1, NULL) == TSL_OK && tsl_matcher_accept_bytes(m, "b\xE2", 2, NULL) == TSL_OK);
    CHECKF(tsl_matcher_accept_bytes(m, cases[i].bytes, length, &n) == (cases[i].fine ? TSL_OK : TSL_REJECTED) && n == cases[i].accepted, "bytes %zu: %zu", i, n);
    CHECK(tsl_matcher_history(m) == 3u + cases[i].fine);
    if (!cases[i].fine) CHECK(tsl_matcher_accept_bytes(m, "\x82\xAC</", 4, NULL) == TSL_OK && tsl_matcher_accept_bytes(m, "t>", 2, NULL) == TSL_OK); /* nothing changed */
  }
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* Where positions have a memory (uniqueItems), and where the text is all there is. */
static void counts_elsewhere(void) {
  tsl_grammar *g = compile("{\"type\":\"sequence\",\"elements\":[{\"type\":\"any_text\",\"max_tokens\":2},{\"type\":\"json_schema\",\"json_schema\":{\"type\":\"array\",\"uniqueItems\":true}}]}");
  tsl_matcher *m = NULL;
  if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) return;
  CHECK(tsl_matcher_accept_bytes(m, "a", 1, NULL) == TSL_OK && tsl_matcher_accept_bytes(m, "[", 1, NULL) == TSL_OK && tsl_matcher_accept_bytes(m, "x", 1, NULL) == TSL_REJECTED);
  CHECK(tsl_matcher_accept_bytes(m, "1,1]", 4, NULL) == TSL_REJECTED && tsl_matcher_accept_bytes(m, "1,2]", 4, NULL) == TSL_OK && tsl_matcher_is_complete(m));
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  g = compile("{\"type\":\"any_text\",\"max_tokens\":1}");
  if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) return;
  CHECK(tsl_matcher_is_complete(m) && tsl_matcher_accept_bytes(m, "a", 1, NULL) == TSL_OK && tsl_matcher_is_complete(m) && tsl_matcher_accept_bytes(m, "b", 1, NULL) == TSL_REJECTED);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* A mask of a copy that is narrowed for a character to be finished: where it cannot be made, nothing is lent. */
static void lending_fails(void) {
  const uint32_t *words = NULL;
  uint64_t id = 7;
  tsl_grammar *g = compile(COUNTED("1", "</t>"));
  tsl_matcher *m = NULL;
  failing none = {0};
  if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) return;
  CHECK(tsl_matcher_accept_bytes(m, "<t>", 3, NULL) == TSL_OK && tsl_matcher_accept_bytes(m, "\xC3", 1, NULL) == TSL_OK);
  const tsl_allocator alloc = g->space->alloc;
  g->space->alloc = failing_allocator(&none);
  CHECK(tsl_matcher_mask_borrow(m, &words, &id) == TSL_ERR_NO_MEMORY && !words && id == 7);
  g->space->alloc = alloc;
  CHECK(tsl_matcher_mask_borrow(m, &words, &id) == TSL_OK && words && id != 7 && tsl_mask_has(words, 0x80) && !tsl_mask_has(words, 'a') && !tsl_mask_has(words, 0xC3));
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* A token that is spelled in a list without repetitions, and named beside it: what was used is not forgotten. */
static void named_beside_memory(void) {
  static const char json[] = "{\"type\":\"or\",\"elements\":[{\"type\":\"json_schema\",\"json_schema\":{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"enum\":[1,2,3]}}},"
                             "{\"type\":\"sequence\",\"elements\":[" CONST("[1,") ",{\"type\":\"token\",\"token\":50}," CONST("x") "]}]}"; /* token 50 is "2" */
  static const struct {
    const char *text, *next;
    bool good;
  } cases[] = {{"[1,", "2", true}, {"[1,", "3", true}, {"[1,", "1", false}, {"[1,2", "x", true}, {"[1,2", ",", true}, {"[1,2,", "3", true}, {"[1,2,", "2", false}, {"[1,2,", "1", false}, {"[1,3", "x", false}};
  tsl_grammar *g = compile(json);
  uint32_t *mask = malloc(tsl_vocab_mask_words(vocab) * sizeof *mask);
  for (size_t i = 0; g && mask && i < sizeof cases / sizeof *cases; i++) {
    tsl_matcher *m = NULL;
    bool fine = tsl_matcher_new(g, NULL, &m) == TSL_OK;
    for (const char *c = cases[i].text; *c; c++) fine = fine && tsl_matcher_accept(m, (uint8_t)*c) == TSL_OK;
    CHECKF(fine && tsl_matcher_mask(m, mask) == TSL_OK && tsl_mask_has(mask, (uint8_t)*cases[i].next) == cases[i].good, "%s before %s", cases[i].text, cases[i].next);
    CHECK((tsl_matcher_accept(m, (uint8_t)*cases[i].next) == TSL_OK) == cases[i].good);
    tsl_matcher_free(m);
  }
  tsl_grammar_release(g);
  free(mask);
}

/* ---- reading back ------------------------------------------------------------------------------------------------ */

#define CALL(style, name, begin, end) "{\"type\":\"tag\",\"as\":\"call\",\"name\":\"" name "\",\"begin\":\"" begin "\",\"content\":{\"type\":\"json_schema\",\"as\":\"arguments\",\"style\":\"" style "\",\"json_schema\":" S "},\"end\":\"" end "\"}"

#define NESTED_CALL(schema) "{\"type\":\"tag\",\"as\":\"call\",\"name\":\"m\",\"begin\":\"<f>\",\"content\":{\"type\":\"json_schema\",\"as\":\"arguments\",\"style\":\"minimax_m3_xml\",\"json_schema\":" schema "},\"end\":\"</f>\"}"

static const struct {
  const char *json, *text, *expected;
} readings[] = {
    {ANY, "a \"b\"\n", "{\"content\": \"a \\\"b\\\"\\n\", \"reasoning\": \"\", \"calls\": [], \"tags\": []}"},
    {"{\"type\":\"triggered_tags\",\"triggers\":[\"<f\"],\"tags\":[" CALL("json", "f", "<f>", "</f>") "]}", "x<<f>{\"a\": 1}</f>y<f>{\"a\":2,\"s\":\"</f>\"}</f>",
     "{\"content\": \"x<y\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"f\", \"arguments\": {\"a\": 1}}, {\"id\": \"call_1\", \"name\": \"f\", \"arguments\": {\"a\":2,\"s\":\"</f>\"}}], \"tags\": []}"},
    {CALL("qwen_xml", "q", "<f>", "</f>"), "<f><parameter=a>\n1\n</parameter><parameter=s>\n\"x\"\n\ny\n</parameter></f>",
     "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"q\", \"arguments\": {\"a\": 1, \"s\": \"\\\"x\\\"\\n\\ny\"}}], \"tags\": []}"},
    {TAG("<", "{\"type\":\"json_schema\",\"as\":\"arguments\",\"style\":\"minimax_m3_xml\",\"json_schema\":" TREE "}", "/") , "<" EL("n", "1") EL("k", EL("item", EL("n", "2")) "\n" EL("item", EL("n", "3") EL("k", ""))) "/",
     "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [], \"tags\": [{\"begin\": \"<\", \"content\": \"\"}]}"},
    {NESTED_CALL(TREE), "<f>" EL("n", "1") EL("k", EL("item", EL("n", "2")) "\n" EL("item", EL("n", "3") "\n" EL("k", ""))) "</f>",
     "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"m\", \"arguments\": {\"n\": 1, \"k\": [{\"n\": 2}, {\"n\": 3, \"k\": []}]}}], \"tags\": []}"},
    {NESTED_CALL(LOOSE), "<f>" EL("a", EL("item", "") EL("item", "12") EL("item", EL("item", "null") EL("item", "nul"))) EL("b", "") EL("n", "12") EL("q", "\"]<]\n<item>") "</f>",
     "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"m\", \"arguments\": {\"a\": [\"\", 12, [null, \"nul\"]], \"b\": [], \"n\": 12, \"q\": \"\\\"]<]\\n<item>\"}}], \"tags\": []}"},
    {NESTED_CALL("{\"type\":\"object\"}"), "<f></f>", "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"m\", \"arguments\": {}}], \"tags\": []}"},
    {"{\"type\":\"tag\",\"as\":\"call\",\"name\":\"v\",\"begin\":\"<f>\",\"content\":{\"type\":\"json_schema\",\"as\":\"arguments\",\"style\":\"minimax_xml\",\"json_schema\":{\"type\":\"object\"}},\"end\":\"</f>\"}",
     "<f><parameter name=\"a\">12</parameter><parameter name=\"b\">12.</parameter><parameter name=\"c\">[null]</parameter></f>",
     "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"v\", \"arguments\": {\"a\": 12, \"b\": \"12.\", \"c\": [null]}}], \"tags\": []}"},
    {CALL("glm_xml", "g", "<f>", "</f>"), "<f><arg_key>a</arg_key>\n<arg_value>-3</arg_value></f>", "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"g\", \"arguments\": {\"a\": -3}}], \"tags\": []}"},
    {CALL("kimi_k3_xml", "k", "<f>", "</f>"), "<f><|open|>argument key=\"a\" type=\"number\"<|sep|>-3<|close|>argument<|sep|><|open|>argument key=\"s\" type=\"string\"<|sep|>\"<|close|>argument<|sep|></f>",
     "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"k\", \"arguments\": {\"a\": -3, \"s\": \"\\\"\"}}], \"tags\": []}"},
    {"{\"type\":\"tag\",\"as\":\"call\",\"name\":\"p\",\"begin\":\"[p(\",\"content\":{\"type\":\"json_schema\",\"as\":\"arguments\",\"style\":\"pythonic\",\"json_schema\":{\"type\":\"object\"}},\"end\":\")]\"}",
     "[p(a=True, b=None, c=\"x)]\", d=[false, 1], e=False)]", "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"p\", \"arguments\": {\"a\": true, \"b\": null, \"c\": \"x)]\", \"d\": [false, 1], \"e\": false}}], \"tags\": []}"},
    {"{\"type\":\"sequence\",\"elements\":[{\"type\":\"tag\",\"as\":\"reasoning\",\"begin\":\"<t>\",\"content\":" ANY ",\"end\":\"</t>\"}," ANY "]}", "<t>a</b</t>c</t>",
     "{\"content\": \"c</t>\", \"reasoning\": \"a</b\", \"calls\": [], \"tags\": []}"},
    {TRIGGERED(""), "x<f=b>x</f>", "{\"content\": \"x\", \"reasoning\": \"\", \"calls\": [], \"tags\": [{\"begin\": \"<f=b>\", \"content\": \"x\"}]}"},
    {"{\"type\":\"sequence\",\"elements\":[{\"type\":\"const_string\",\"as\":\"markup\",\"value\":\"##\"}," ANY "]}", "##a", "{\"content\": \"a\", \"reasoning\": \"\", \"calls\": [], \"tags\": []}"},
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
        CHECK(tsl_parser_text(p, readings[i].text + at, at + step < length ? step : length - at) == TSL_OK);
        while (tsl_parser_next(p, &part)) CHECK(part.kind <= TSL_PART_TAG_END);
      }
      CHECK(tsl_parser_finish(p) == TSL_OK && tsl_parser_text(p, "x", 1) == TSL_ERR_STATE);
      CHECKF(!strcmp(tsl_parser_json(p), readings[i].expected), "%s: %s", readings[i].text, tsl_parser_json(p));
    }
    tsl_parser_free(p);
    tsl_grammar_release(g);
  }
}

/* Of elements inside elements the fewest bytes are known: otherwise an answer that is to end soon might go on with empty items for ever. */
static void nested_lengths(void) {
  static const struct { const char *json, *text; size_t read; } cases[] = {
    {NESTED(TREE), EL("n", "1"), 0},
    {NESTED(TREE), EL("n", "1") EL("k", EL("item", EL("n", "1"))), sizeof EL("n", "1") NS "<k>" NS "<i" - 1},
    {NESTED(CLOSED("\"l\":{\"type\":\"array\",\"items\":{\"enum\":[\"\",[1,\"x\"]]},\"contains\":{\"type\":\"array\"}}", "\"l\"")), EL("l", EL("item", EL("item", "1") EL("item", "x"))), 0},
    {NESTED(CLOSED("\"\\\"l\":{\"type\":\"array\",\"items\":{\"const\":{\"a\":\"\\\"\\n\",\"b\":false}},\"minItems\":2}", "\"\\\"l\"")), EL("\"l", EL("item", EL("a", "\"\n") EL("b", "false")) EL("item", EL("a", "\"\n") EL("b", "false"))), 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_grammar *g = compile(cases[i].json);
    tsl_matcher *m = NULL;
    uint64_t bytes = 0;
    if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) continue;
    CHECK(accepts(g, cases[i].text) && tsl_matcher_accept_bytes(m, cases[i].text, cases[i].read, NULL) == TSL_OK);
    CHECK(tsl_matcher_shortest_completion(m, &bytes) == TSL_OK);
    CHECKF(bytes == strlen(cases[i].text) - cases[i].read, "%s: %llu bytes", cases[i].json, (unsigned long long)bytes);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
}

static void rejections_change_nothing(void) {
  tsl_grammar *g = compile(TRIGGERED(""));
  tsl_parser *p = NULL;
  if (!g || tsl_parser_new(g, NULL, &p) != TSL_OK) return;
  CHECK(tsl_parser_text(p, "a<f=b>", 6) == TSL_OK && tsl_parser_text(p, "zz", 2) == TSL_REJECTED && tsl_parser_text(p, "xy", 2) == TSL_REJECTED);
  CHECK(tsl_parser_finish(p) == TSL_REJECTED);
  CHECK(tsl_parser_text(p, "x</f>b", 6) == TSL_OK && tsl_parser_finish(p) == TSL_OK);
  CHECK(!strcmp(tsl_parser_json(p), "{\"content\": \"ab\", \"reasoning\": \"\", \"calls\": [], \"tags\": [{\"begin\": \"<f=b>\", \"content\": \"x\"}]}"));
  tsl_parser_free(p);
  tsl_grammar_release(g);
  g = NULL;
  CHECK(tsl_grammar_regex(vocab, "a", 1, NULL, NULL, &g, NULL) == TSL_OK && tsl_parser_new(g, NULL, &p) == TSL_ERR_STATE && !p);
  tsl_grammar_release(g);
}

/* ---- memory ------------------------------------------------------------------------------------------------------- */

typedef struct budget {
  uint64_t left;
  int64_t bytes;
} budget;

static void *limited(void *ctx, void *block, size_t old_size, size_t new_size) {
  budget *b = ctx;
  if (new_size && b->left == 0) return NULL;
  if (new_size) b->left--;
  b->bytes += (int64_t)new_size - (int64_t)old_size;
  if (!new_size) return free(block), NULL;
  return realloc(block, new_size);
}

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

/* ---- errors ------------------------------------------------------------------------------------------------------- */

static const struct {
  const char *json;
  tsl_status status;
  const char *message, *pointer;
} errors[] = {
    {"{", TSL_ERR_SYNTAX, "", ""},
    {"[]", TSL_ERR_SCHEMA, "a format is an object", ""},
    {"{\"type\":\"structural_tag\"}", TSL_ERR_SCHEMA, "\"format\" is missing", ""},
    {"{\"type\":\"structural_tag\",\"format\":{\"type\":\"nonsense\"}}", TSL_ERR_SCHEMA, "there is no format \"nonsense\"", "/format/type"},
    {"{\"type\":\"const_string\"}", TSL_ERR_SCHEMA, "\"value\" is missing", ""},
    {"{\"type\":\"any_text\",\"exclude\":[]}", TSL_ERR_SCHEMA, "no member \"exclude\"", "/exclude"},
    {"{\"type\":\"any_text\",\"max_chars\":-1}", TSL_ERR_SCHEMA, "max_chars", "/max_chars"},
    {"{\"type\":\"repeat\",\"min\":3,\"max\":2,\"content\":" ANY "}", TSL_ERR_SCHEMA, "greater", ""},
    {"{\"type\":\"sequence\",\"elements\":[]}", TSL_ERR_SCHEMA, "not empty", "/elements"},
    {"{\"type\":\"regex\",\"pattern\":\"(\"}", TSL_ERR_SYNTAX, "in the pattern", ""},
    {"{\"type\":\"grammar\",\"grammar\":\"x ::= y\"}", TSL_ERR_SYNTAX, "in the grammar", ""},
    {"{\"type\":\"sequence\",\"elements\":[{\"type\":\"json_schema\",\"json_schema\":{\"type\":\"strin\"}}]}", TSL_ERR_SCHEMA, "", "/elements/0/json_schema/type"},
    {"{\"type\":\"json_schema\",\"json_schema\":{\"type\":\"string\"},\"style\":\"qwen_xml\"}", TSL_ERR_UNSUPPORTED, "objects", "/json_schema"},
    {"{\"type\":\"json_schema\",\"json_schema\":{},\"style\":\"unknown\"}", TSL_ERR_UNSUPPORTED, "style", ""},
    {"{\"type\":\"json_schema\",\"json_schema\":{\"type\":\"object\",\"required\":[\"a>\"]},\"style\":\"qwen_xml\"}", TSL_ERR_UNSUPPORTED, "cannot be written", "/json_schema"},
    {NESTED(CLOSED("\"a\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}", "")), TSL_ERR_UNSUPPORTED, "no value can be written here in the style minimax_m3_xml", "/json_schema/properties/a/items"},
    {NESTED(CLOSED("\"a\":{\"type\":\"array\",\"uniqueItems\":true}", "")), TSL_ERR_UNSUPPORTED, "uniqueItems in the style", "/json_schema/properties/a"},
    {NESTED(CLOSED("\"a\":{\"const\":\"]<]minimax[>[\"}", "\"a\"")), TSL_ERR_EMPTY, "no value", "/json_schema/properties/a/const"},
    {NESTED(CLOSED("\"a\":{\"type\":\"object\",\"properties\":{\"/b\":{\"type\":\"null\"}}}", "")), TSL_ERR_UNSUPPORTED, "\"/b\" cannot be written", "/json_schema"},
    {NESTED(CLOSED("\" \":{\"type\":\"null\"}", "")), TSL_ERR_UNSUPPORTED, "\" \" cannot be written", "/json_schema"},
    {NESTED(CLOSED("\"a>\":{\"type\":\"null\"}", "")), TSL_ERR_UNSUPPORTED, "\"a>\" cannot be written", "/json_schema"},
    {NESTED("{\"type\":\"array\"}"), TSL_ERR_UNSUPPORTED, "objects", "/json_schema"},
    {"{\"type\":\"json_schema\",\"json_schema\":{\"not\":{\"uniqueItems\":true},\"maxItems\":2}}", TSL_ERR_UNSUPPORTED, "uniqueItems", "/json_schema/not/uniqueItems"},
    {"{\"type\":\"triggered_tags\",\"triggers\":[\"<x\"],\"tags\":[" TAG("<f>", ANY, "e") "]}", TSL_ERR_SCHEMA, "no tag begins", ""},
    {"{\"type\":\"triggered_tags\",\"triggers\":[\"<\",\"<f\"],\"tags\":[" TAG("<f>", ANY, "e") "]}", TSL_ERR_SCHEMA, "exactly one trigger", "/tags/0"},
    {"{\"type\":\"token\",\"token\":99999999}", TSL_ERR_SCHEMA, "there is no token", "/token"},
    {"{\"type\":\"token\",\"token\":\"no such token at all\"}", TSL_ERR_SCHEMA, "has no token", "/token"},
    {"{\"type\":\"any_text\",\"as\":\"prose\"}", TSL_ERR_SCHEMA, "\"as\" is", "/as"},
};

static void errors_are_precise(void) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    tsl_grammar *g = NULL;
    tsl_error e = {0};
    tsl_status status = tsl_grammar_tags(vocab, errors[i].json, strlen(errors[i].json), NULL, NULL, &g, &e);
    CHECKF(status == errors[i].status && e.status == status && !g, "%s: %s %s", errors[i].json, tsl_status_name(status), e.message);
    CHECKF(strstr(e.message, errors[i].message) != NULL, "%s: %s", errors[i].json, e.message);
    CHECKF(!strcmp(e.pointer, errors[i].pointer), "%s: pointer %s", errors[i].json, e.pointer);
    tsl_grammar_release(g);
  }
  static const tsl_schema_options options[] = {{.order = (tsl_order)2}, {.whitespace = (tsl_whitespace)4}, {.draft = (tsl_draft)5}, {.draft = (tsl_draft)2018}};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    tsl_grammar *g = NULL;
    tsl_error e = {0};
    CHECK(tsl_grammar_tags(vocab, "{\"type\":\"any_text\"}", 19, &options[i], NULL, &g, &e) == TSL_ERR_ARGUMENT && e.status == TSL_ERR_ARGUMENT && !g);
    CHECK(tsl_grammar_json_schema(vocab, "{}", 2, &options[i], NULL, &g, &e) == TSL_ERR_ARGUMENT && e.status == TSL_ERR_ARGUMENT && !g);
  }
  tsl_grammar *g = NULL;
  CHECK(tsl_grammar_tools(vocab, "[]", 2, &(tsl_tools_options){.preset = "qwen3", .thinking = (tsl_thinking)3}, NULL, &g, NULL) == TSL_ERR_ARGUMENT && !g);
}

/* ---- requests ------------------------------------------------------------------------------------------------------ */

#define TOOL(name, schema) "{\"type\":\"function\",\"function\":{\"name\":\"" name "\",\"parameters\":" schema "}}"

static const struct {
  const char *request, *choice;
  tsl_status status;
  const char *message, *pointer;
} refusals[] = {
    {"{\"tools\":[]}", "required", TSL_ERR_ARGUMENT, "there are no tools", ""},
    {"{\"tools\":[" TOOL("f", S) "]}", "g", TSL_ERR_ARGUMENT, "no tool \"g\"", ""},
    {"{\"tools\":[" TOOL("f", S) "," TOOL("g", S) "," TOOL("f", S) "]}", NULL, TSL_ERR_SCHEMA, "same name", "/tools/2"},
    {"{\"tools\":[" TOOL("", S) "]}", NULL, TSL_ERR_SCHEMA, "not empty", "/tools/0"},
    {"{\"tools\":[" TOOL("a\\\"b", S) "]}", NULL, TSL_ERR_SCHEMA, "quotes", "/tools/0/function/name"},
    {"{\"tools\":[" TOOL("a\\nb", S) "]}", NULL, TSL_ERR_SCHEMA, "spaces", "/tools/0/function/name"},
    {"{\"tools\":[" TOOL("f", S) "," TOOL("g", "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"strin\"}}}") "]}", NULL, TSL_ERR_SCHEMA, "", "/tools/1/function/parameters/properties/x/type"},
    {"{\"tools\":[" TOOL("f", "{\"$ref\":\"#/nowhere\"}") "]}", NULL, TSL_ERR_SCHEMA, "", "/tools/0/function/parameters/$ref"},
    {"{\"tools\":[" TOOL("f", "{\"type\":\"object\",\"properties\":{\"x\":false},\"required\":[\"x\"]}") "]}", NULL, TSL_ERR_EMPTY, "", "/tools/0/function/parameters/type"},
    {"{\"tools\":[{\"type\":\"web_search\"}]}", NULL, TSL_ERR_UNSUPPORTED, "function tools", "/tools/0/type"},
    {"{\"tools\":[{\"type\":\"custom\",\"name\":\"l\",\"format\":{\"type\":\"grammar\",\"syntax\":\"lark\",\"definition\":\"start: \\\"a\\\"\"}}]}", NULL, TSL_ERR_UNSUPPORTED, "Lark", "/tools/0/format/syntax"},
    {"{\"tools\":[{\"type\":\"custom\",\"name\":\"r\",\"format\":{\"type\":\"grammar\",\"syntax\":\"regex\",\"definition\":\"(\"}}]}", NULL, TSL_ERR_SYNTAX, "at byte 0: the group has no closing parenthesis", "/tools/0/format/definition"},
    {"{\"tools\":[{\"type\":\"custom\",\"name\":\"r\",\"format\":{\"type\":\"grammar\",\"syntax\":\"regex\",\"definition\":\"a)|(?:b\"}}]}", NULL, TSL_ERR_SYNTAX, "at byte 1: unmatched closing parenthesis", "/tools/0/format/definition"},
    {"{\"tools\":[" TOOL("f", S) "],\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"g\"}}}", NULL, TSL_ERR_ARGUMENT, "no tool", "/tool_choice"},
    {"{\"tools\":[" TOOL("f", S) "],\"tool_choice\":\"always\"}", NULL, TSL_ERR_SCHEMA, "is auto", "/tool_choice"},
    {"{\"type\":\"object\",\"properties\":{}}", NULL, TSL_ERR_SCHEMA, "this is no request", ""},
    {"{\"tools\":[" TOOL("f", S) "],\"parallel_tool_calls\":\"no\"}", NULL, TSL_ERR_SCHEMA, "parallel_tool_calls", "/parallel_tool_calls"},
    {"{\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"x\"}}}", NULL, TSL_ERR_SCHEMA, "no \"schema\"", "/response_format"},
    {"{\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"x\",\"schema\":{\"type\":7}}}}", NULL, TSL_ERR_SCHEMA, "", "/response_format/json_schema/schema/type"},
    {"{\"response_format\":{\"type\":\"yaml\"}}", NULL, TSL_ERR_UNSUPPORTED, "response format", "/response_format"},
    {"{\"response_format\":{\"type\":\"json_object\",\"schema\":{\"type\":7}}}", NULL, TSL_ERR_SCHEMA, "", "/response_format/schema/type"},
    {"{\"response_format\":{\"type\":\"json_object\",\"schema\":3}}", NULL, TSL_ERR_SCHEMA, "", "/response_format/schema"},
    {"{\"functions\":[{\"name\":\"f\",\"parameters\":" S "}],\"function_call\":{\"name\":\"g\"}}", NULL, TSL_ERR_ARGUMENT, "no tool \"g\"", "/function_call"},
    {"{\"functions\":[{\"name\":\"f\",\"parameters\":{\"type\":3}}]}", NULL, TSL_ERR_SCHEMA, "", "/functions/0/parameters/type"},
    {"{\"functions\":[{\"name\":\"f\"}],\"function_call\":\"required\"}", NULL, TSL_ERR_SCHEMA, "is auto, none or", "/function_call"},
    {"{\"functions\":{\"name\":\"f\"}}", NULL, TSL_ERR_SCHEMA, "\"functions\" must be an array", "/functions"},
    {"{\"functions\":[{\"name\":\"f\"}],\"tools\":[" TOOL("f", S) "]}", NULL, TSL_ERR_SCHEMA, "one of them", "/functions"},
    {"{\"model\":\"m\",\"guided_json\":{}}", NULL, TSL_ERR_UNSUPPORTED, "\"guided_json\" is another server's: here it is \"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"schema\": ...}}", "/guided_json"},
    {"{\"model\":\"m\",\"guided_regex\":\"a\"}", NULL, TSL_ERR_UNSUPPORTED, "here it is \"response_format\": {\"type\": \"structural_tag\", \"format\": ...}", "/guided_regex"},
    {"{\"model\":\"m\",\"guided_choice\":[\"a\"]}", NULL, TSL_ERR_UNSUPPORTED, "structural_tag", "/guided_choice"},
    {"{\"model\":\"m\",\"guided_grammar\":\"root ::= \\\"a\\\"\"}", NULL, TSL_ERR_UNSUPPORTED, "structural_tag", "/guided_grammar"},
    {"{\"model\":\"m\",\"structured_outputs\":{\"json\":{}}}", NULL, TSL_ERR_UNSUPPORTED, "another server's", "/structured_outputs"},
    {"{\"model\":\"m\",\"format\":\"json\"}", NULL, TSL_ERR_UNSUPPORTED, "another server's", "/format"},
    {"{\"model\":\"m\",\"json_schema\":{}}", NULL, TSL_ERR_UNSUPPORTED, "another server's", "/json_schema"},
    {"{\"model\":\"m\",\"grammar\":\"a\"}", NULL, TSL_ERR_UNSUPPORTED, "another server's", "/grammar"},
    {"{\"model\":\"m\",\"regex\":\"a\"}", NULL, TSL_ERR_UNSUPPORTED, "another server's", "/regex"},
    {"{\"model\":\"m\",\"ebnf\":\"a\"}", NULL, TSL_ERR_UNSUPPORTED, "another server's", "/ebnf"},
    {"{\"tools\":[{\"name\":\"f\",\"parametres\":" S "}]}", NULL, TSL_ERR_SCHEMA, "\"parametres\" meant for it", "/tools/0/parametres"},
    {"[{\"name\":\"f\",\"schema\":{\"$ref\":\"#\"}}]", NULL, TSL_ERR_SCHEMA, "\"schema\" meant for it", "/0/schema"},
    {"{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"},\"parameters\":" S "}]}", NULL, TSL_ERR_SCHEMA, "beside its name", "/tools/0/parameters"},
    {"{\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":-1}}", NULL, TSL_ERR_SCHEMA, "budget_tokens", "/thinking/budget_tokens"},
    {"{\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":0}}", NULL, TSL_ERR_SCHEMA, "at least 1", "/thinking/budget_tokens"},
    {"{\"tools\":[" TOOL("f", S) "],\"tool_choice\":{\"type\":\"any\",\"disable_parallel_tool_use\":\"true\"}}", NULL, TSL_ERR_SCHEMA, "is true or false", "/tool_choice/disable_parallel_tool_use"},
    {"{\"response_format\":{\"type\":\"json_object\"},\"text\":{\"format\":{\"type\":\"json_object\"}}}", NULL, TSL_ERR_SCHEMA, "one format", "/text/format"},
    {"{\"output_format\":{\"type\":\"json_object\"},\"output_config\":{\"format\":{\"type\":\"json_object\"}}}", NULL, TSL_ERR_SCHEMA, "one format", "/output_config/format"},
    {"{\"tools\":[{\"name\":\"f\",\"parameter_definitions\":{\"a\":{\"type\":\"str\",\"required\":true}}}]}", NULL, TSL_ERR_SCHEMA, "\"parameter_definitions\" meant for it", "/tools/0/parameter_definitions"},
    {"[{\"name\":\"f\",\"inputs\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"integer\"}}}]", NULL, TSL_ERR_SCHEMA, "\"inputs\" meant for it", "/0/inputs"},
    {"3", NULL, TSL_ERR_SCHEMA, "a request is an object", ""},
};

static void requests_are_refused(void) {
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    tsl_tools_options o = {.preset = "qwen3", .tool_choice = refusals[i].choice};
    tsl_grammar *g = NULL;
    tsl_error e = {0};
    tsl_status status = tsl_grammar_tools(vocab, refusals[i].request, strlen(refusals[i].request), &o, NULL, &g, &e);
    CHECKF(status == refusals[i].status && e.status == status && !g, "%s: %s %s", refusals[i].request, tsl_status_name(status), e.message);
    CHECKF(strstr(e.message, refusals[i].message) != NULL, "%s: %s", refusals[i].request, e.message);
    CHECKF(!strcmp(e.pointer, refusals[i].pointer), "%s: pointer %s", refusals[i].request, e.pointer);
    tsl_grammar_release(g);
  }
}

/* Answers that are on the edge: what they are read as; NULL: not allowed. */
static const struct {
  const char *preset, *request, *answer, *expected;
} answers[] = {
    {"qwen3", "{\"tools\":[]}", "any <tool_call> text", "\"content\": \"any <tool_call> text\""},
    {"qwen3", "[" TOOL("f", S) "]", "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\":1,\"s\":\"</tool_call><tool_call>\"}}\n</tool_call>", "\"arguments\": {\"a\":1,\"s\":\"</tool_call><tool_call>\"}}]"},
    {"qwen3", "[" TOOL("f", S) "]", "a <tool_call", "\"content\": \"a <tool_call\""},
    {"qwen3", "[" TOOL("f", S) "]", "a <tool_call>", NULL},
    {"qwen3", "[" TOOL("f", S) "," TOOL("ff", S) "]", "<tool_call>\n{\"name\": \"ff\", \"arguments\": {\"a\":1}}\n</tool_call>", "\"name\": \"ff\""},
    {"qwen3", "[" TOOL("w\303\244r", S) "]", "<tool_call>\n{\"name\": \"w\303\244r\", \"arguments\": {\"a\":1}}\n</tool_call>", "\"name\": \"w\303\244r\""},
    {"qwen3", "{\"output_format\":null,\"output_config\":{\"format\":{\"type\":\"json_schema\",\"schema\":{\"const\":1}}}}", "text", NULL},
    {"qwen3", "{\"response_format\":null,\"text\":{\"format\":{\"type\":\"json_schema\",\"schema\":{\"const\":1}}}}", "text", NULL},
    {"qwen3", "{\"response_format\":{\"type\":\"text\"},\"text\":{\"format\":{\"type\":\"json_schema\",\"schema\":{\"const\":1}}}}", "text", NULL},
    {"qwen3", "{\"response_format\":{\"type\":\"text\"},\"output_config\":\"x\",\"text\":\"prompt\"}", "text", "\"content\": \"text\""},
    {"qwen3", "[{\"name\":\"f\",\"inputs\":{}}]", "hi", "\"content\": \"hi\""},
    {"qwen3", "{\"response_format\":null,\"text\":null,\"output_format\":null,\"output_config\":null}", "text", "\"content\": \"text\""},
    {"qwen3", "[{\"name\":\"f\",\"parameters\":null,\"input_schema\":" S "}]", "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>", NULL},
    {"qwen3", "[" TOOL("f", "{}") "]", "<tool_call>\n{\"name\": \"f\", \"arguments\": 1}\n</tool_call>", NULL},
    {"qwen3", "[" TOOL("f", "{}") "]", "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\":[]}}\n</tool_call>", "\"arguments\": {\"a\":[]}"},
    {"qwen3", "[" TOOL("f", "true") "]", "<tool_call>\n{\"name\": \"f\", \"arguments\": null}\n</tool_call>", NULL},
    {"qwen3", "[" TOOL("f", "{\"type\":[\"object\",\"null\"]}") "]", "<tool_call>\n{\"name\": \"f\", \"arguments\": null}\n</tool_call>", NULL},
    {"qwen3", "[" TOOL("f", "{\"properties\":{\"a\":{\"type\":\"null\"}}}") "," TOOL("g", "{}") "]", "<tool_call>\n{\"name\": \"f\", \"arguments\": []}\n</tool_call>", NULL},
    {"qwen3", "{\"tools\":[" TOOL("f", "{}") "],\"response_format\":{\"type\":\"json_schema\",\"schema\":{}}}", "1", "\"content\": \"1\""}, /* the same text, and no arguments */
#define OBJECT(schema) "{\"response_format\":{\"type\":\"json_object\"," schema "}}"
    {"qwen3", OBJECT("\"schema\":" S), "{}", NULL},
    {"qwen3", OBJECT("\"schema\":" S), "{\"a\":1}", "\"content\": \"{\\\"a\\\":1}\""},
    {"qwen3", OBJECT("\"schema\":{}"), "[]", NULL},
    {"qwen3", OBJECT("\"schema\":{}"), "{}", "\"content\": \"{}\""},
    {"qwen3", OBJECT("\"schema\":null"), "{\"b\":1}", "\"content\""},
    {"qwen3", OBJECT("\"schema\":{\"type\":\"array\"}"), "[]", "\"content\": \"[]\""},
    {"qwen3", OBJECT("\"json_schema\":" S), "{}", NULL},
    {"qwen3", OBJECT("\"json_schema\":{\"name\":\"x\",\"schema\":" S "}"), "{}", NULL},
    {"qwen3", "{\"text\":{\"format\":{\"type\":\"json_object\",\"schema\":" S "}}}", "{}", NULL},
#undef OBJECT
#define FUNCTIONS(more) "{\"functions\":[{\"name\":\"f\",\"parameters\":" S "},{\"name\":\"g\"}]" more "}"
#define CALLED(name) "<tool_call>\n{\"name\": \"" name "\", \"arguments\": {\"a\":1}}\n</tool_call>"
    {"qwen3", FUNCTIONS(""), "hi " CALLED("f"), "\"arguments\": {\"a\":1}"},
    {"qwen3", FUNCTIONS(""), "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>", NULL},
    {"qwen3", FUNCTIONS(""), CALLED("f") "\n" CALLED("g"), NULL}, /* an answer had one function_call */
    {"qwen3", FUNCTIONS(",\"function_call\":{\"name\":\"f\"}"), CALLED("f"), "\"name\": \"f\""},
    {"qwen3", FUNCTIONS(",\"function_call\":{\"name\":\"f\"}"), CALLED("g"), NULL},
    {"qwen3", FUNCTIONS(",\"function_call\":{\"name\":\"f\"}"), "hi", NULL},
    {"qwen3", FUNCTIONS(",\"tool_choice\":null,\"function_call\":\"none\""), CALLED("f"), "\"calls\": []"},
    {"qwen3", FUNCTIONS(",\"function_call\":\"auto\""), "hi", "\"content\": \"hi\""},
#undef CALLED
#undef FUNCTIONS
    {"qwen3", "{\"functions\":null,\"format\":\"\",\"grammar\":null,\"temperature\":0.5}", "hi", "\"content\": \"hi\""},
    {"qwen3", "[{\"name\":\"f\",\"outputSchema\":{\"type\":\"object\"},\"annotations\":{\"title\":\"F\"}}]", "hi", "\"content\": \"hi\""},
    {"qwen3", "{\"thinking\":{\"type\":\"disabled\"}}", "<think>a</think>\n\nb", NULL},
    {"glm4", "[" TOOL("f", S) "]", "\n<think>hm</think>\n<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>", "\"reasoning\": \"hm\", \"calls\": [{\"id\": \"call_0\", \"name\": \"f\", \"arguments\": {\"a\": 1}}]"},
    {"command", "[" TOOL("f", S) "]", "<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>hello<|END_RESPONSE|>", "\"content\": \"hello\", \"reasoning\": \"hm\""},
    {"command", "[" TOOL("f", S) "]", "hello", "\"content\": \"hello\""},
    {"mistral-v11", "[" TOOL("f", S) "]", "x[TOOL_CALLS]f[CALL_ID]abcDEF123[ARGS]{\"a\": 1}", "\"id\": \"abcDEF123\", \"name\": \"f\", \"arguments\": {\"a\": 1}"},
    {"mistral-v11", "[" TOOL("f", S) "]", "[TOOL_CALLS]f[ARGS]{\"a\": 1}[TOOL_CALLS]f[ARGS]{\"a\": 2}", "\"id\": \"call_1\", \"name\": \"f\", \"arguments\": {\"a\": 2}"},
    {"llama4-pythonic", "[" TOOL("f", S) "]", "x<|python_start|>[f(a=1), f(a=2, s=\")]\")]<|python_end|>", "\"arguments\": {\"a\": 2, \"s\": \")]\"}"},
    {"phi4-functools", "[" TOOL("f", S) "]", "functools[{\"name\": \"f\", \"arguments\": {\"a\": 1}}]", "\"arguments\": {\"a\": 1}"},
    {"minimax-m3", "[" TOOL("f", S) "]", "<mm:think>hm</mm:think>Well.\n" NS "<tool_call>\n" NS "<invoke name=\"f\">" EL("a", "1") NS "</invoke>\n" NS "<invoke name=\"f\">" EL("a", "2") NS "</invoke>\n" NS "</tool_call>",
     "\"content\": \"Well.\\n\", \"reasoning\": \"hm\", \"calls\": [{\"id\": \"call_0\", \"name\": \"f\", \"arguments\": {\"a\": 1}}, {\"id\": \"call_1\", \"name\": \"f\", \"arguments\": {\"a\": 2}}]"},
    {"minimax-m3", "[" TOOL("f", S) "]", "</mm:think>" NS "<tool_call>\n" NS "<invoke name=\"f\">" EL("a", "1") NS "</invoke>\n" NS "</tool_call>", "\"content\": \"\", \"reasoning\": \"\", \"calls\": [{"},
    {"minimax-m3", "[" TOOL("f", S) "]", "Well.</mm:think>", NULL},
    {"minimax-m3", "[" TOOL("f", S) "]", NS "<tool_call>\n" NS "<invoke name=\"f\"><a>1</a>" NS "</invoke>\n" NS "</tool_call>", NULL},
    {"mistral", "[" TOOL("f", S) "]", "x[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"a\": 1}}]", "\"content\": \"x\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"f\", \"arguments\": {\"a\": 1}}]"},
    {"mistral", "[" TOOL("f", S) "]", "x[TOOL_CALLS] [{\"name\": \"f\", \"arguments\": {\"a\": 1}}]", "\"content\": \"x\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"f\", \"arguments\": {\"a\": 1}}]"},
    {"mistral", "[" TOOL("f", S) "]", "[TOOL_CALLS] [{\"name\": \"f\", \"arguments\": {}}]", NULL},
    {"kimi-k2", "[" TOOL("f", S) "]", "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{\"a\": 1}<|tool_call_end|><|tool_calls_section_end|>", "\"id\": \"functions.f:0\""},
    {"gpt-oss", "[" TOOL("f", S) "]", "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"a\": 1}<|call|>", "\"reasoning\": \"hm\", \"calls\": [{\"id\": \"call_0\", \"name\": \"f\""},
};

static void edges_are_read(void) {
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
    tsl_tools_options o = {.preset = answers[i].preset};
    tsl_grammar *g = NULL;
    tsl_parser *p = NULL;
    tsl_error e = {0};
    CHECKF(tsl_grammar_tools(vocab, answers[i].request, strlen(answers[i].request), &o, NULL, &g, &e) == TSL_OK, "%s: %s %s", answers[i].request, e.message, e.pointer);
    if (!g || tsl_parser_new(g, NULL, &p) != TSL_OK) continue;
    bool read = tsl_parser_text(p, answers[i].answer, strlen(answers[i].answer)) == TSL_OK && tsl_parser_finish(p) == TSL_OK;
    CHECKF(read == (answers[i].expected != NULL), "%s: %s", answers[i].preset, answers[i].answer);
    if (read && answers[i].expected) CHECKF(strstr(tsl_parser_json(p), answers[i].expected), "%s: %s", answers[i].preset, tsl_parser_json(p));
    tsl_parser_free(p);
    tsl_grammar_release(g);
  }
}

/* With thinking: a block that the model begins, that the prompt has begun, or either; and messages, the first of which is one of thinking. What a response format asks for is
 * said once, and nothing beside it. */
#define CODED "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"
#define KIMI "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{\"a\": 1}<|tool_call_end|><|tool_calls_section_end|>"
#define SAID(channel, text) "<|channel|>" channel "<|message|>" text
#define NEXT "<|end|><|start|>assistant"
#define ONE "{\"response_format\":{\"type\":\"json_schema\",\"schema\":{\"const\":1}}}"
#define ONE_OR_CALLS "{\"tools\":[" TOOL("f", S) "],\"response_format\":{\"type\":\"json_schema\",\"schema\":{\"const\":1}}}"
#define CALLED "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"a\": 1}<|call|>"

static const struct {
  const char *preset, *request, *answer, *on, *off; /* what it is read as; NULL: not allowed */
} thoughts[] = {
    {"qwen3", "{\"tools\":[]}", "hm\n</think>\n\nhi", "\"content\": \"hi\", \"reasoning\": \"hm\\n\"", NULL},
    {"qwen3", "{\"tools\":[]}", "<think>hm</think>\n\nhi", "\"content\": \"hi\", \"reasoning\": \"hm\"", NULL},
    {"qwen3", "{\"tools\":[]}", "hi", NULL, "\"content\": \"hi\""},
    {"qwen3-coder", "[" TOOL("f", S) "]", "hm\n</think>\n\n" CODED, "\"reasoning\": \"hm\\n\", \"calls\": [{\"id\": \"call_0\", \"name\": \"f\"", NULL},
    {"qwen3-coder", "[" TOOL("f", S) "]", "<think>\nhm\n</think>\n\n" CODED, "\"reasoning\": \"\\nhm\\n\", \"calls\": [{\"id\"", NULL},
    {"qwen3-coder", "[" TOOL("f", S) "]", "x" CODED, NULL, "\"content\": \"x\", \"reasoning\": \"\", \"calls\": [{\"id\""},
    {"qwen3-coder", "[" TOOL("f", S) "]", "<tool_call><function=f>\n<parameter=a>\n\"x\"\n</parameter>\n</function></tool_call>", NULL, NULL},
    {"glm4", "[" TOOL("f", S) "]", "hm</think><tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>", "\"reasoning\": \"hm\", \"calls\": [{\"id\"", NULL},
    {"glm4", "[" TOOL("f", S) "]", "\n<think>hm</think>hi", "\"content\": \"hi\", \"reasoning\": \"hm\"", NULL},
    {"kimi-k2", "[" TOOL("f", S) "]", "hm</think>" KIMI, "\"reasoning\": \"hm\", \"calls\": [{\"id\": \"functions.f:0\"", NULL},
    {"deepseek-v3.1", "{\"tools\":[]}", "hm</think>hi", "\"content\": \"hi\", \"reasoning\": \"hm\"", NULL},
    {"deepseek-v3.1", "{\"tools\":[]}", "<think>hm</think>hi", NULL, NULL},
    {"gpt-oss", "{\"tools\":[]}", SAID("final", "hi<|return|>"), NULL, "\"content\": \"hi\""},
    {"gpt-oss", "{\"tools\":[]}", SAID("analysis", "hm") NEXT SAID("final", "hi<|return|>"), "\"content\": \"hi\", \"reasoning\": \"hm\"", NULL},
    {"gpt-oss", "[" TOOL("f", S) "]", SAID("analysis", "hm") NEXT SAID("commentary", "hi") NEXT CALLED, "\"content\": \"hi\", \"reasoning\": \"hm\", \"calls\": [{\"id\"", NULL},
    {"gpt-oss", "[" TOOL("f", S) "]", CALLED, NULL, "\"calls\": [{\"id\""},
    {"gpt-oss", ONE, SAID("final", "1<|return|>"), NULL, "\"content\": \"1\""},
    {"gpt-oss", ONE, SAID("analysis", "hm") NEXT SAID("final", "1<|return|>"), "\"content\": \"1\", \"reasoning\": \"hm\"", NULL},
    {"gpt-oss", ONE, SAID("analysis", "hm<|end|>"), NULL, NULL},
    {"gpt-oss", ONE, SAID("final", "1") NEXT SAID("final", "1<|return|>"), NULL, NULL},
    {"gpt-oss", ONE, SAID("analysis", "hm") NEXT SAID("commentary", "1") NEXT SAID("final", "1<|return|>"), NULL, NULL},
    {"gpt-oss", ONE_OR_CALLS, SAID("final", "1<|end|>"), NULL, "\"content\": \"1\""},
    {"gpt-oss", ONE_OR_CALLS, CALLED, NULL, "\"calls\": [{\"id\""},
    {"gpt-oss", ONE_OR_CALLS, SAID("final", "1") NEXT CALLED, NULL, NULL},
};

static void thoughts_are_read(void) {
  for (size_t i = 0; i < 2 * (sizeof thoughts / sizeof *thoughts); i++) {
    const char *answer = thoughts[i / 2].answer, *expected = i % 2 ? thoughts[i / 2].on : thoughts[i / 2].off, *request = thoughts[i / 2].request;
    const tsl_tools_options o = {.preset = thoughts[i / 2].preset, .thinking = i % 2 ? TSL_THINKING_ON : TSL_THINKING_OFF};
    tsl_grammar *g = NULL;
    tsl_parser *p = NULL;
    tsl_error e = {0};
    CHECKF(tsl_grammar_tools(vocab, request, strlen(request), &o, NULL, &g, &e) == TSL_OK, "%s: %s %s", request, e.message, e.pointer);
    if (!g || tsl_parser_new(g, NULL, &p) != TSL_OK) continue;
    bool read = tsl_parser_text(p, answer, strlen(answer)) == TSL_OK && tsl_parser_finish(p) == TSL_OK;
    CHECKF(read == (expected != NULL), "%s, thinking %d: %s", o.preset, (int)o.thinking, answer);
    if (read && expected) CHECKF(strstr(tsl_parser_json(p), expected), "%s: %s", o.preset, tsl_parser_json(p));
    tsl_parser_free(p);
    tsl_grammar_release(g);
  }
}

/* One token that ends the thinking and begins a call; one that begins the call's arguments too. */
static void tokens_reach_over(void) {
  static const char *const more[] = {"k</think>\n\n<tool_", "call>\n{\"name\": \"f\", \"arguments\": {\"a\":", "1}}\n</tool_call>x"};
  uint8_t bytes[400];
  uint32_t offsets[260], mask[9], n = 0;
  for (uint32_t i = 0; i < 259; i++) {
    size_t length = i < 256 ? 1 : strlen(more[i - 256]);
    offsets[i] = n;
    if (i < 256) bytes[n] = (uint8_t)i;
    else memcpy(bytes + n, more[i - 256], length);
    n += (uint32_t)length;
  }
  offsets[259] = n;
  const tsl_vocab_desc desc = {.bytes = bytes, .offsets = offsets, .size = 259};
  const tsl_tools_options o = {.preset = "qwen3", .thinking = TSL_THINKING_ON};
  const tsl_token tokens[] = {'<', 't', 'h', 'i', 'n', 'k', '>', 'o', 256, 257, 258};
  static const char request[] = "[" TOOL("f", S) "]";
  tsl_vocab *v = NULL;
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  tsl_parser *p = NULL;
  CHECK(tsl_vocab_new(&desc, NULL, &v, NULL) == TSL_OK && tsl_grammar_tools(v, request, sizeof request - 1, &o, NULL, &g, NULL) == TSL_OK);
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_parser_new(g, NULL, &p) == TSL_OK);
  for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
    CHECKF(tsl_matcher_mask(m, mask) == TSL_OK && tsl_mask_has(mask, tokens[i]), "token %zu", i);
    CHECK(tsl_matcher_accept(m, tokens[i]) == TSL_OK && tsl_parser_token(p, tokens[i]) == TSL_OK);
  }
  CHECK(tsl_matcher_is_complete(m) && tsl_parser_finish(p) == TSL_OK);
  CHECKF(!strcmp(tsl_parser_json(p), "{\"content\": \"x\", \"reasoning\": \"ok\", \"calls\": [{\"id\": \"call_0\", \"name\": \"f\", \"arguments\": {\"a\":1}}], \"tags\": []}"), "%s", tsl_parser_json(p));
  tsl_parser_free(p);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* Ten thousand tools: names are a trie, errors point at the last one. */
static void many_tools(void) {
  enum { N = 10000 };
  char *request = malloc(N * 160 + 10);
  size_t n = 0;
  request[n++] = '[';
  for (int i = 0; i < N; i++) n += (size_t)sprintf(request + n, "%s{\"name\":\"tool_%d\",\"input_schema\":{\"type\":\"object\",\"properties\":{\"p%d\":{\"type\":\"integer\"}},\"required\":[\"p%d\"]}}", i ? "," : "", i, i % 100, i % 100);
  request[n++] = ']';
  tsl_tools_options o = {.preset = "qwen3", .tool_choice = "required"};
  tsl_grammar *g = NULL;
  tsl_parser *p = NULL;
  tsl_error e = {0};
  CHECKF(tsl_grammar_tools(vocab, request, n, &o, NULL, &g, &e) == TSL_OK, "%s", e.message);
  static const char answer[] = "<tool_call>\n{\"name\": \"tool_9876\", \"arguments\": {\"p76\": 1}}\n</tool_call>";
  if (g && tsl_parser_new(g, NULL, &p) == TSL_OK) CHECK(tsl_parser_text(p, answer, sizeof answer - 1) == TSL_OK && tsl_parser_finish(p) == TSL_OK && strstr(tsl_parser_json(p), "\"tool_9876\""));
  tsl_parser_free(p);
  memcpy(request + n - 12, "\"p99\",9] ", 10);
  tsl_grammar *h = NULL;
  CHECK(tsl_grammar_tools(vocab, request, n, &o, NULL, &h, &e) != TSL_OK && e.offset > n - 40);
  tsl_grammar_release(h);
  tsl_grammar_release(g);
  free(request);
}

/* Another set of tools over the same tables: the same masks as alone, whoever goes first; and what cannot be shared is not. */
static void tables_are_shared(void) {
  static const char a[] = "[" TOOL("f", S) "," TOOL("g", "{\"type\":\"object\"}") "]", b[] = "[" TOOL("h", "{\"type\":\"object\",\"maxProperties\":1}") "," TOOL("f", S) "]";
  static const char bad[] = "[" TOOL("f", "{\"type\":3}") "]", unique[] = "[" TOOL("u", "{\"type\":\"object\",\"properties\":{\"l\":{\"type\":\"array\",\"uniqueItems\":true}}}") "]";
  static const char text[] = "hi <tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 12, \"s\": \"x\"}}\n</tool_call>";
  tsl_tools_options o = {.preset = "qwen3"};
  tsl_grammar *first = NULL, *over = NULL, *alone = NULL, *other = NULL;
  tsl_error e = {0};
  size_t words = tsl_vocab_mask_words(vocab);
  uint32_t *x = malloc(words * sizeof *x), *y = malloc(words * sizeof *y);
  CHECK(tsl_grammar_tools(vocab, a, sizeof a - 1, &o, NULL, &first, &e) == TSL_OK && tsl_grammar_tools(vocab, b, sizeof b - 1, &o, NULL, &alone, &e) == TSL_OK);
  o.over = first;
  CHECK(tsl_grammar_tools(vocab, b, sizeof b - 1, &o, NULL, &over, &e) == TSL_OK && over->space == first->space);
  CHECK(tsl_grammar_tools(vocab, bad, sizeof bad - 1, &o, NULL, &other, &e) == TSL_ERR_SCHEMA && !other && !strcmp(e.pointer, "/0/function/parameters/type"));
  CHECK(tsl_grammar_tools(vocab, unique, sizeof unique - 1, &o, NULL, &other, &e) == TSL_OK && other->space != first->space);
  tsl_grammar_release(other);
  tsl_grammar_release(first);
  tsl_matcher *m = NULL, *k = NULL;
  if (!over || !alone || tsl_matcher_new(over, NULL, &m) != TSL_OK || tsl_matcher_new(alone, NULL, &k) != TSL_OK) return;
  for (size_t i = 0; i <= sizeof text - 1; i++) {
    CHECKF(tsl_matcher_mask(m, x) == TSL_OK && tsl_matcher_mask(k, y) == TSL_OK && !memcmp(x, y, words * sizeof *x), "byte %zu", i);
    if (i < sizeof text - 1) CHECK(tsl_matcher_accept_bytes(m, text + i, 1, NULL) == TSL_OK && tsl_matcher_accept_bytes(k, text + i, 1, NULL) == TSL_OK);
  }
  tsl_matcher_free(m);
  tsl_matcher_free(k);
  const tsl_schema_options options = {.whitespace = TSL_WS_COMPACT};
  o.over = over;
  o.schema = &options;
  CHECK(tsl_grammar_tools(vocab, b, sizeof b - 1, &o, NULL, &other, &e) == TSL_OK && other->space != over->space);
  tsl_grammar_release(other);
  tsl_grammar_release(over);
  tsl_grammar_release(alone);
  free(x);
  free(y);
}

/* Are the tables of one grammar taken for another with these options? */
static bool shares(const tsl_schema_options *first, const tsl_schema_options *second, bool *repeats) {
  static const char json[] = "{\"type\": \"json_schema\", \"json_schema\": {\"type\": \"object\"}}";
  tsl_grammar *g = NULL, *h = NULL;
  CHECK(tsl_grammar_tags(vocab, json, sizeof json - 1, first, NULL, &g, NULL) == TSL_OK && tsl_grammar_tags_over(g, json, sizeof json - 1, second, NULL, &h, NULL) == TSL_OK);
  bool same = g && h && g->space == h->space;
  *repeats = h && accepts(h, "{\"a\":1,\"a\":2}");
  tsl_grammar_release(g);
  tsl_grammar_release(h);
  return same;
}

/* Only grammars with the same options share; what they are compared with is a copy. */
static void options_are_kept(void) {
  const tsl_schema_options plain = {0}, repeated = {.repeated_names = true}, based = {.base_uri = "http://a/b"}, elsewhere = {.base_uri = "http://a/c"};
  bool repeats;
  CHECK(shares(&repeated, &repeated, &repeats) && repeats);
  CHECK(!shares(&repeated, &plain, &repeats) && !repeats);
  CHECK(!shares(&plain, &repeated, &repeats) && repeats);
  CHECK(!shares(&based, &elsewhere, &repeats) && !shares(&based, NULL, &repeats) && !shares(NULL, &based, &repeats));
  static const char json[] = "{\"type\": \"json_schema\", \"json_schema\": {\"type\": \"array\"}}";
  char *base = malloc(11);
  tsl_grammar *g = NULL, *h = NULL;
  memcpy(base, "http://a/b", 11);
  CHECK(tsl_grammar_tags(vocab, json, sizeof json - 1, &(tsl_schema_options){.base_uri = base}, NULL, &g, NULL) == TSL_OK);
  memset(base, 'x', 10);
  free(base); /* the caller's */
  CHECK(tsl_grammar_tags_over(g, json, sizeof json - 1, &based, NULL, &h, NULL) == TSL_OK && g->space == h->space);
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
  CHECK(tsl_parser_new(g, NULL, &p) == TSL_OK && tsl_parser_text(p, NULL, 0) == TSL_OK && tsl_parser_finish(p) == TSL_OK);
  tsl_parser_free(p);
  tsl_grammar_release(g);
}

/* ---- built in C --------------------------------------------------------------------------------------------------- */

static void take_line(void *ctx, const char *line) { snprintf(ctx, 1 << 16, "%s", line); }

/* A tree with every format in it. */
static tsl_format *build_all(tsl_tags *t) {
  static const char *const end[] = {"</f>"}, *const call_end[] = {"</f>", "|"}, *const trigger[] = {"<f"}, *const dispatch[] = {"<1>", "<2>"}, *const no[] = {"#"};
  const tsl_token token = 1;
  tsl_format *arguments = tsl_tags_as(t, tsl_tags_json_schema(t, S, sizeof S - 1, NULL), TSL_AS_ARGUMENTS, NULL);
  tsl_format *xml = tsl_tags_as(t, tsl_tags_json_schema(t, S, sizeof S - 1, "qwen_xml"), TSL_AS_ARGUMENTS, NULL);
  tsl_format *tags[] = {tsl_tags_as(t, tsl_tags_tag(t, "<f=a>", arguments, call_end, 2), TSL_AS_CALL, "a"), tsl_tags_as(t, tsl_tags_tag(t, "<f=b>", xml, end, 1), TSL_AS_CALL, "b")};
  tsl_format *rules[] = {tsl_tags_text(t, "one", 3), tsl_tags_regex(t, "[0-9]+", 6)};
  tsl_format *choice[] = {tsl_tags_separated(t, tags, 2, ", ", TSL_TAGS_AT_LEAST_ONE), tsl_tags_dispatch(t, dispatch, rules, 2, 0), tsl_tags_gbnf(t, "root ::= \"g\"", 12),
                          tsl_tags_tokens(t, &token, 1, true, 1, 1)};
  tsl_format *parts[] = {tsl_tags_repeat(t, tsl_tags_as(t, tsl_tags_tag(t, "<t>", tsl_tags_any(t, no, 1, 50, 7), end, 1), TSL_AS_REASONING, NULL), 0, 1),
                         tsl_tags_repeat(t, tsl_tags_or(t, choice, 4), 1, TSL_UNBOUNDED), tsl_tags_as(t, tsl_tags_text(t, "##", 2), TSL_AS_MARKUP, NULL),
                         tsl_tags_triggered(t, trigger, 1, tags, 2, TSL_TAGS_ONCE)};
  return tsl_tags_sequence(t, parts, 4);
}

static void built_in_c(void) {
  static const char *const yes[] = {"<t>x</f>g##", "<f=a>{\"a\":1}|, <f=b><parameter=a>1</parameter></f>##text", "a<1>one##<f=a>{\"a\":1}</f>", "g##"}, *const no[] = {"", "g", "<t>x</f>"};
  char *written = malloc(1 << 16), *again = malloc(1 << 16);
  tsl_tags *t = NULL;
  tsl_grammar *g = NULL, *h = NULL;
  tsl_error e = {0};
  if (tsl_tags_new(vocab, NULL, &t) != TSL_OK) return;
  tsl_format *root = build_all(t);
  CHECKF(root && tsl_tags_compile(t, root, NULL, NULL, NULL, &g, &e) == TSL_OK, "%s", e.message);
  CHECK(tsl_tags_write(t, root, take_line, written, &e) == TSL_OK);
  CHECKF(tsl_grammar_tags(vocab, written, strlen(written), NULL, NULL, &h, &e) == TSL_OK, "%s: %s", e.message, written);
  for (size_t i = 0; i < 4; i++) CHECKF(g && h && accepts(g, yes[i]) && accepts(h, yes[i]), "%s", yes[i]);
  for (size_t i = 0; i < 3; i++) CHECKF(g && h && !accepts(g, no[i]) && !accepts(h, no[i]), "%s", no[i]);
  tsl_grammar_release(h);
  h = NULL;
  CHECK(tsl_tags_compile(t, root, g, NULL, NULL, &h, &e) == TSL_OK && tsl_tags_write(t, root, take_line, again, &e) == TSL_OK && !strcmp(written, again));
  tsl_grammar_release(g);
  tsl_tags_free(t);
  CHECK(h && accepts(h, yes[1])); /* what they share stays */
  tsl_grammar_release(h);
  free(written);
  free(again);
}

/* How a matcher takes the `n`th of all sequences of three of the tokens 1 to 4: how far, and after which of them the text may end. */
static unsigned walked(tsl_grammar *g, unsigned n) {
  tsl_matcher *m = NULL;
  if (tsl_matcher_new(g, NULL, &m) != TSL_OK) return 0;
  unsigned way = tsl_matcher_is_complete(m) ? 2 : 3;
  for (int i = 0; i < 3 && tsl_matcher_accept(m, 1 + (n >> 2 * i & 3)) == TSL_OK; i++) way = way << 1 | tsl_matcher_is_complete(m);
  tsl_matcher_free(m);
  return way;
}

/* Tokens are written as they are meant: all of them, and how often. */
static void tokens_written(void) {
  static const struct { size_t count; bool others; uint32_t min, max; } rows[] = {
      {1, false, 1, 1}, {2, false, 1, 1}, {2, false, 2, 3}, {1, false, 0, TSL_UNBOUNDED}, {2, false, 0, 0}, {0, true, 1, 1},
      {2, true, 1, 1},  {2, true, 0, 2},  {2, true, 2, 3},  {1, true, 0, TSL_UNBOUNDED},  {1, true, 1, TSL_UNBOUNDED},
  };
  static const tsl_token tokens[] = {1, 2};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char *written = malloc(1 << 16);
    tsl_tags *t = NULL;
    tsl_grammar *g = NULL, *h = NULL;
    tsl_error e = {0};
    if (tsl_tags_new(vocab, NULL, &t) != TSL_OK) return;
    tsl_format *f = tsl_tags_as(t, tsl_tags_tokens(t, tokens, rows[i].count, rows[i].others, rows[i].min, rows[i].max), TSL_AS_REASONING, NULL);
    CHECKF(tsl_tags_compile(t, f, NULL, NULL, NULL, &g, &e) == TSL_OK && tsl_tags_write(t, f, take_line, written, &e) == TSL_OK, "%zu: %s", i, e.message);
    CHECKF(tsl_grammar_tags(vocab, written, strlen(written), NULL, NULL, &h, &e) == TSL_OK, "%s: %s", e.message, written);
    for (unsigned n = 0; n < 64 && g && h; n++) CHECKF(walked(g, n) == walked(h, n), "%u: %s", n, written);
    tsl_grammar_release(g);
    tsl_grammar_release(h);
    tsl_tags_free(t);
    free(written);
  }
}

/* The first failure is told at the end, and nothing else happens. */
static void builders_fail(void) {
  tsl_grammar *g = NULL;
  for (int i = 0; i < 19; i++) {
    const char *const empty[] = {""}, *const trigger[] = {"<"}, *const broken[] = {"\xFF"};
    const tsl_token far = 1u << 30;
    tsl_tags *t = NULL;
    tsl_error e = {0};
    if (tsl_tags_new(vocab, NULL, &t) != TSL_OK) return;
    tsl_format *x = tsl_tags_text(t, "x", 1), *bad = NULL;
    switch (i) {
      case 0: bad = tsl_tags_sequence(t, &x, 0); break;
      case 1: bad = tsl_tags_repeat(t, x, 2, 1); break;
      case 2: bad = tsl_tags_tag(t, "<", x, NULL, 0); break;
      case 3: bad = tsl_tags_triggered(t, empty, 1, &x, 1, 0); break;
      case 4: bad = tsl_tags_separated(t, &x, 1, ",", 0); break;
      case 5: bad = tsl_tags_tokens(t, &far, 1, false, 1, 1); break;
      case 6: bad = tsl_tags_as(t, NULL, TSL_AS_CALL, "f"); break;
      case 7: bad = tsl_tags_json_schema(t, "{", 1, NULL); break;
      case 8: bad = tsl_tags_text(t, "a\xFF", 2); break;
      case 9: bad = tsl_tags_tag(t, broken[0], x, trigger, 1); break;
      case 10: bad = tsl_tags_any(t, broken, 1, 0, 0); break;
      case 11: bad = tsl_tags_as(t, x, TSL_AS_CALL, "\xC3"); break;
      case 12: bad = tsl_tags_dispatch(t, trigger, &x, 1, TSL_TAGS_AT_LEAST_ONE); break;
      case 13: bad = tsl_tags_dispatch(t, trigger, &x, 1, 4); break;
      case 14: bad = tsl_tags_repeat(t, x, 0, 1u << 31); break;
      case 15: bad = tsl_tags_repeat(t, x, TSL_UNBOUNDED, TSL_UNBOUNDED); break;
      case 16: bad = tsl_tags_tokens(t, &(tsl_token){1}, 1, false, 0, 1u << 31); break;
      case 17: bad = tsl_tags_any(t, NULL, 0, 1u << 31, 0); break;
      default: bad = tsl_tags_regex(t, NULL, 3); break;
    }
    CHECK(!bad && !tsl_tags_text(t, "y", 1));
    tsl_status status = tsl_tags_compile(t, x, NULL, NULL, NULL, &g, &e);
    CHECKF(status == (i >= 7 && i <= 11 ? TSL_ERR_SYNTAX : TSL_ERR_ARGUMENT) && e.status == status && e.message[0] && !g, "%d: %s", i, e.message);
    tsl_tags_free(t);
  }
  CHECK(tsl_tags_new(NULL, NULL, &(tsl_tags *){0}) == TSL_ERR_ARGUMENT);
}

/* Formats inside one another have a limit, and formats in many places end in one. */
static void builders_nest(void) {
  const char *const end[] = {"e"};
  for (int kind = 0; kind < 4; kind++) {
    tsl_tags *t = NULL;
    tsl_grammar *g = NULL;
    tsl_error e = {0};
    char *written = malloc(1 << 16);
    if (tsl_tags_new(vocab, NULL, &t) != TSL_OK) return;
    tsl_format *f = tsl_tags_text(t, "x", 1), *last = NULL;
    for (int i = 0; i < 200000 && f; i++) {
      last = f;
      f = kind == 0 ? tsl_tags_sequence(t, &f, 1) : kind == 1 ? tsl_tags_repeat(t, f, 0, 1) : kind == 2 ? tsl_tags_tag(t, "b", f, end, 1) : tsl_tags_dispatch(t, end, &f, 1, 0);
    }
    CHECK(!f && tsl_tags_compile(t, last, NULL, NULL, NULL, &g, &e) == TSL_ERR_LIMIT && strstr(e.message, "200 formats"));
    tsl_tags_free(t);
    if (tsl_tags_new(vocab, NULL, &t) != TSL_OK) return;
    f = tsl_tags_text(t, "x", 1);
    for (int i = 0; i < (kind == 3 ? 100 : 200) && f; i++) f = kind == 0 ? tsl_tags_sequence(t, &f, 1) : kind == 1 ? tsl_tags_repeat(t, f, 0, 1) : kind == 2 ? tsl_tags_tag(t, "b", f, end, 1) : tsl_tags_dispatch(t, end, &f, 1, 0);
    CHECK(f && tsl_tags_compile(t, f, NULL, NULL, NULL, &g, &e) == TSL_OK && tsl_tags_write(t, f, take_line, written, &e) == TSL_OK);
    tsl_grammar_release(g);
    g = NULL;
    CHECKF(tsl_grammar_tags(vocab, written, strlen(written), NULL, NULL, &g, &e) == TSL_OK, "%s", e.message);
    tsl_grammar_release(g);
    tsl_tags_free(t);
    free(written);
  }
  for (int kind = 0; kind < 3; kind++) {
    const tsl_limits limits = {.max_steps = 100000};
    tsl_tags *t = NULL;
    tsl_grammar *g = NULL;
    tsl_error e = {0};
        if (tsl_tags_new(vocab, NULL, &t) != TSL_OK) return;
    tsl_format *f = tsl_tags_text(t, "x", 1), *few = f;
    for (int i = 0; i < 100; i++) {
      tsl_format *two[] = {f, f};
      f = kind == 0 ? tsl_tags_or(t, two, 2) : tsl_tags_sequence(t, two, 2);
      if (kind == 2) f = tsl_tags_tag(t, "b", f, end, 1), i++;
      if (i < 4) few = f;
    }
    CHECK(tsl_tags_compile(t, f, NULL, NULL, &limits, &g, &e) == TSL_ERR_LIMIT && !g);
    CHECK(tsl_tags_write(t, f, take_line, NULL, &e) == TSL_ERR_LIMIT && strstr(e.message, "bytes"));
    CHECK(tsl_tags_compile(t, few, NULL, NULL, &limits, &g, &e) == TSL_OK); /* the tree is as good as before */
    tsl_grammar_release(g);
    tsl_tags_free(t);
  }
}

static void builders_out_of_memory(void) {
  bool done = false;
  for (uint64_t n = 0; !done && n < 20000; n = n < 300 ? n + 1 : n + 37) {
    budget b = {n, 0};
    tsl_allocator a = {&b, limited};
    tsl_tags *t = NULL;
    tsl_grammar *g = NULL;
    tsl_status status = tsl_tags_new(vocab, &a, &t);
    if (status == TSL_OK) status = tsl_tags_compile(t, build_all(t), NULL, NULL, NULL, &g, NULL);
    done = status == TSL_OK;
    CHECKF(done ? g != NULL : !g && (status == TSL_ERR_NO_MEMORY || status == TSL_ERR_ARGUMENT), "%s after %llu", tsl_status_name(status), (unsigned long long)n);
    tsl_grammar_release(g);
    tsl_tags_free(t);
    CHECK(b.bytes == 0);
  }
  CHECK(done);
}

/* ---- presets ------------------------------------------------------------------------------------------------------ */

/* What tsl_tools_write prints compiles, and to the same: it accepts what the request's grammar accepts. */
static void presets_compile(void) {
  static const char request[] = "[{\"name\":\"f\",\"input_schema\":" S "}]";
  static const tsl_thinking modes[] = {TSL_THINKING_AUTO, TSL_THINKING_ON, TSL_THINKING_OFF};
  char *written = malloc(1 << 16);
  const char *name, *json;
  size_t n = 0;
  for (; tsl_tools_preset(n, &name, &json); n++)
    for (size_t k = 0; k < 3; k++) {
      tsl_tools_options o = {.preset = name, .thinking = modes[k], .tool_choice = k == 1 ? "required" : NULL};
      tsl_grammar *g = NULL, *again = NULL;
      tsl_error e = {0};
      CHECKF(tsl_grammar_tools(vocab, request, sizeof request - 1, &o, NULL, &g, &e) == TSL_OK, "%s: %s", name, e.message);
      CHECKF(tsl_tools_write(vocab, request, sizeof request - 1, &o, take_line, written, &e) == TSL_OK, "%s: %s", name, e.message);
      CHECKF(tsl_grammar_tags(vocab, written, strlen(written), NULL, NULL, &again, &e) == TSL_OK, "%s: %s in %s", name, e.message, written);
      uint64_t a = 0, b = 0;
      tsl_matcher *m = NULL;
      if (g && tsl_matcher_new(g, NULL, &m) == TSL_OK) tsl_matcher_shortest_completion(m, &a), tsl_matcher_free(m);
      if (again && tsl_matcher_new(again, NULL, &m) == TSL_OK) tsl_matcher_shortest_completion(m, &b), tsl_matcher_free(m);
      CHECKF(a == b, "%s: %llu and %llu bytes", name, (unsigned long long)a, (unsigned long long)b);
      tsl_grammar_release(g);
      tsl_grammar_release(again);
    }
  CHECK(n == 20);
  free(written);
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
  RUN(read_back, "whole and byte by byte");
  RUN(nested_lengths, "elements inside elements");
  RUN(rejections_change_nothing, "and grammars of other kinds");
  RUN(memory_may_fail, "every allocation of a parser");
  RUN(errors_are_precise, "status, message, pointer");
  RUN(requests_are_refused, "status, message, pointer into the request");
  RUN(thoughts_are_read, "begun by the model or by the prompt, in blocks and in messages");
  RUN(edges_are_read, "near-triggers, odd names, each family's own marks");
  RUN(tokens_reach_over, "from thinking into a call");
  RUN(many_tools, "ten thousand");
  RUN(tables_are_shared, "one set of tools over another's tables");
  RUN(nothing_given, "NULL of length 0");
  RUN(options_are_kept, "and decide what is shared");
  RUN(built_in_c, "every format, compiled and written");
  RUN(builders_fail, "and say so at the end");
  RUN(tokens_written, "tokens, as they are meant");
  RUN(builders_nest, "as deep as a text may, and no longer than a limit");
  RUN(builders_out_of_memory, "every allocation of a tree");
  RUN(presets_compile, "and print as tags that compile");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
