/* gguf_pre.c - see gguf_pre.h.
 *
 * A pre-tokenisation is up to six splits in a row. Each cuts the pieces of the one before at its
 * matches and keeps matches and rests alike. Names and patterns: llama.cpp's src/llama-vocab.cpp
 * (the copy in llama-cpp-python 0.3.36), the patterns in the form that the models' own
 * tokenizer.json files have. What its names "afmoe", "hybriddna" and "whitespace" do in code, and
 * no pattern says, is not known here.
 *
 * Example   With the two splits \p{N} and [^\s]+ the text "a1 b" is cut at the digit first: "a",
 *           "1", " b". Each piece is then cut by the second: "a", "1", " ", "b". Merges never
 *           cross a cut.
 * Aliases   Many names stand for one pattern ("llama-bpe", "llama3"): a row of the list has the
 *           splits, and all names for them.
 * Unknown   A name that is not in the list makes a vocabulary whose masks work. Only encoding says
 *           UNSUPPORTED, and names the pre-tokenisation.
 * Tested by tests/vocab_files/test_gguf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/vocab_files/gguf_pre.h"

#define MAX_SPLITS 6

#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
/* Llama 3 and its relatives differ in how many digits are one piece, and in little else. */
#define WORDS "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
#define REST " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define LLAMA3 CONTRACTIONS "|" WORDS "|\\p{N}{1,3}|" REST
#define QWEN2 CONTRACTIONS "|" WORDS "|\\p{N}|" REST
#define QWEN35                                                   \
  CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| " \
               "?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define UPPER "\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}"
#define LOWER "\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}"
#define CASED(end)                                                                      \
  "[^\\r\\n\\p{L}\\p{N}]?[" UPPER "]*[" LOWER "]+" end "|[^\\r\\n\\p{L}\\p{N}]?[" UPPER \
  "]+[" LOWER "]*" end
#define REST_SLASH " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define GPT4O CASED(CONTRACTIONS "?") "|\\p{N}{1,3}|" REST_SLASH
#define TEKKEN CASED("") "|\\p{N}|" REST_SLASH
#define KIMI_WORD(a, b)                                                          \
  "[^\\r\\n\\p{L}\\p{N}]?(?:(?!\\p{Han})[" UPPER "])" a "(?:(?!\\p{Han})[" LOWER \
  "])" b CONTRACTIONS "?"
#define KIMI                                      \
  "\\p{Han}+|" KIMI_WORD("*", "+") "|" KIMI_WORD( \
      "+", "*") "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define CJK "[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+"
#define ASCII_MARKS "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~]"
#define DEEPSEEK3                                                       \
  ASCII_MARKS "[A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| " \
              "?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define DEEPSEEK_HAN "[\u4E00-\u9FA5\u0800-\u4E00\uAC00-\uD7FF]+"
/* Letters with case, as Unicode 12 lists them. */
#define DEEPSEEK_CASED                                                                          \
  "\\s?[A-Za-z\u00B5\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u01BA\u01BC-\u01BF\u01C4-\u0293\u0295-"   \
  "\u02AF\u0370-\u0373\u0376\u0377\u037B-"                                                      \
  "\u037D\u037F\u0386\u0388-\u038A\u038C\u038E-\u03A1\u03A3-\u03F5\u03F7-\u0481\u048A-"         \
  "\u052F\u0531-\u0556\u10A0-\u10C5\u13A0-\u13F5"                                               \
  "\u13F8-\u13FD\u1C90-\u1CBA\u1CBD-\u1CBF\u1D00-\u1D2B\u1D6B-\u1D77\u1D79-\u1D9A\u1E00-"       \
  "\u1F15\u1F18-\u1F1D\u1F20-\u1F45\u1F48-"                                                     \
  "\u1F4D\u1F50-\u1F57\u1F59\u1F5B\u1F5D\u1F5F-\u1F7D\u1F80-\u1FB4\u1FB6-\u1FBC\u1FBE\u1FC2-"   \
  "\u1FC4\u1FC6-\u1FCC\u1FD0-\u1FD3\u1FD6-"                                                     \
  "\u1FDB\u1FE0-\u1FEC\u1FF2-\u1FF4\u1FF6-\u1FFC\u2102\u2107\u210A-\u2113\u2115\u2119-"         \
  "\u211D\u2124\u2126\u2128\u212A-\u212D\u212F-"                                                \
  "\u2134\u2139\u213C-\u213F\u2145-\u2149\u214E\u2183\u2184\u2C00-\u2C7B\u2C7E-\u2CE4\u2CEB-"   \
  "\u2CEE\u2CF2\u2CF3\uA640-\uA66D\uA680-"                                                      \
  "\uA69B\uA722-\uA76F\uA771-\uA787\uA78B-\uA78E\uAB70-\uABBF\uFB00-\uFB06\uFB13-\uFB17\uFF21-" \
  "\uFF3A\uFF41-\uFF5A\U00010400-"                                                              \
  "\U0001044F\U000104B0-\U000104D3\U000104D8-\U000104FB\U00010C80-\U00010CB2\U00010CC0-"        \
  "\U00010CF2\U000118A0-\U000118DF\U0001E900-"                                                  \
  "\U0001E943]+"
#define BLOOM " ?[^(\\s|.,!?\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C)]+"

typedef struct pre {
  const char *splits[MAX_SPLITS]; /* up to NULL */
  bool whole_pieces, add_bos;
  const char *names; /* between spaces */
} pre;

static const pre pres[] = {
    {{LLAMA3},
     true,
     true,
     " llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano "},
    {{LLAMA3}, false, false, " dbrx smaug-bpe chatglm-bpe "},
    {{LLAMA3}, true, false, " glm4 glm5 "},
    {{"\\p{N}{1,3}", CONTRACTIONS "|" WORDS "|\\p{N}+|" REST}, true, false, " minicpm5 "},
    {{QWEN2}, false, false, " qwen2 deepseek-r1-qwen "},
    {{QWEN2}, false, false, " stablelm2 hunyuan solar-open megrez grok-2 kormo f2llmv2 "},
    {{QWEN35}, false, false, " qwen35 "},
    {{WORDS "|\\p{N}|" REST}, false, false, " ufakzeka "},
    {{CONTRACTIONS "|" WORDS "|\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
     false,
     false,
     " seed-coder "},
    {{"'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}| "
      "?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"},
     false,
     false,
     " bailingmoe bailingmoe2 llada-moe "},
    {{CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}| "
                   "?[^\\s\\p{L}\\p{N}]+[\\r\\n/"
                   "]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"},
     false,
     false,
     " exaone-moe "},
    {{CONTRACTIONS
      "|" WORDS "|\\p{N}{1,3}| "
      "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s{512}(?!\\S)|\\s{256}(?!\\S)|\\s{128}(?!\\S)|"
      "\\s{64}(?!\\S)|\\s{32}(?!\\S)|\\s{16}(?!\\S)|\\s{8}(?!\\S)|\\s{4}(?!\\S)|\\s{1,2}(?!\\S)|"
      "\\s{1}"},
     false,
     false,
     " jais-2 "},
    {{"[^\\n]+|[\\n]+", QWEN2}, false, false, " laguna "},
    {{GPT4O}, false, false, " gpt-4o llama4 kanana2 talkie minimax-m2 "},
    {{GPT4O}, true, false, " granite-embed-multi-97m "},
    {{"\\d{1,3}(?=(?:\\d{3})*\\b)", GPT4O}, false, false, " tiny_aya cohere2moe "},
    {{"[\uAC00-\uD7A3\u3131-\u318E]+|["
      "\uFF01\u2026\u201C\u201D\u2018\u2019\u2014\uFF1A\uFF1B\uFF0C\u3001-\u303F\uFE30-\uFE4F]+|["
      "\u3105-"
      "\u312F]+|" CJK,
      CASED(CONTRACTIONS "?") "|\\p{N}|" REST_SLASH},
     true,
     false,
     " youtu "},
    {{TEKKEN}, true, true, " tekken "},
    {{KIMI}, false, false, " kimi-k2 "},
    {{"[\\r\\n]", DEEPSEEK_CASED,
      "\\s?[!-/:-~\uFF01-\uFF0F\uFF1A-\uFF5E\u2018-\u201F\u3000-\u3002]+", "\\s+$", DEEPSEEK_HAN,
      "\\p{N}+"},
     false,
     false,
     " deepseek-llm "},
    {{"[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", DEEPSEEK_HAN, "\\p{N}"},
     false,
     false,
     " deepseek-coder "},
    {{"\\p{N}{1,3}", CJK, DEEPSEEK3}, false, false, " deepseek-v3 hunyuan-dense joyai-llm hy_v4 "},
    {{"\\p{N}{1,3}", CJK,
      ASCII_MARKS "[A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| "
                  "?[\\p{P}\\p{S}]+|[\\r\\n]|\\s+(?!\\S)|\\s+",
      "\\p{N}"},
     false,
     false,
     " spark2_5 "},
    {{"[\\p{P}\\$\\+<=>\\^~\\|`]+", GPT2, "[0-9][0-9][0-9]"}, false, false, " falcon "},
    {{"\\p{N}", GPT2},
     false,
     false,
     " starcoder refact command-r smollm codeshell exaone minerva-7b mellum2 "},
    {{GPT2},
     false,
     false,
     " gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert mpt "
     "olmo jais trillion granite-docling "
     "exaone4 "
     "jina-v1-en jina-v2-code roberta-bpe "},
    {{BLOOM}, false, false, " poro-chat bloom gpt3-finnish "},
    {{BLOOM, "\\p{N}"}, false, false, " viking "},
    {{"<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", "([\\t\\n]|    |  )", "\\p{N}",
      "[\\p{P}!-/:-@\\[-`{-~]", GPT2},
     false,
     true,
     " chameleon "},
    {{"\\p{N}+", "(?=(\\d{3})+(?!\\d))"}, false, false, " superbpe "},
    {{"[\\p{P}\\$\\+<=>\\^~\\|]+", GPT2, "\\p{N}+", "[0-9][0-9][0-9]"}, false, false, " default "},
};

/* Is the name one of those between spaces? */
static bool among(const char *names, const char *name, size_t length) {
  for (const char *at = names; *at; at += strcspn(at + 1, " ") + 1)
    if (strcspn(at + 1, " ") == length && length && !memcmp(at + 1, name, length)) return true;
  return false;
}

static const pre *find(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof pres / sizeof *pres; i++)
    if (!memchr(name, ' ', length) && among(pres[i].names, name, length)) return &pres[i];
  return NULL;
}

static bool add_split(tsl__vocab_builder *b, const char *pattern) {
  tsl__step step = {
      .kind = TSL__STEP_SPLIT_REGEX, .how = TSL__SPLIT_ISOLATED, .dialect = TSL__DIALECT_ONIGURUMA};
  return tsl__builder_step(b, step, pattern, strlen(pattern), "", 0);
}

bool tsl__gguf_pre(tsl__vocab_builder *b, const char *name, size_t length, const char *pattern,
                   tsl__gguf_traits *traits, bool *ok) {
  const pre *p = find(name, length);
  *ok = true;
  if (p) *traits = (tsl__gguf_traits){p->whole_pieces, p->add_bos};
  if (pattern) *ok = *ok && add_split(b, pattern);
  for (size_t i = 0; p && !pattern && i < MAX_SPLITS && p->splits[i]; i++)
    *ok = *ok && add_split(b, p->splits[i]);
  return p || pattern;
}
