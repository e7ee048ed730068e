/* xgrammar.cpp - a program over XGrammar's C++ calls, on bindings/compat/xgrammar. test_compat.py
 * does the same with XGrammar's own Python package, line by line.
 *
 * Masks are printed as hexadecimal words. The vocabulary is 288 tokens: so many that no bit of a
 * mask is left over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <xgrammar/xgrammar.h>

using namespace xgrammar;

static const int kTokens = 288, kStop = 256;

static std::vector<std::string> tokens() {
  std::vector<std::string> out;
  for (int i = 0; i < 256; i++) out.emplace_back(1, static_cast<char>(i));
  for (const char *text : {"</s>", "ab", "cd", "abc", "{\"", "\":", "true", "false", "null",
                           "\", \"", "}}", "[[", "12", "123", "  ", "\n  ", "ly", "only"})
    out.emplace_back(text);
  while (out.size() < kTokens) out.push_back("<extra" + std::to_string(out.size()) + ">");
  return out;
}

struct Bitmask {
  std::vector<int32_t> words;
  int64_t shape[2];
  DLTensor tensor{};
  explicit Bitmask(int rows)
      : words(static_cast<size_t>(rows * GetBitmaskSize(kTokens)), -1),
        shape{rows, GetBitmaskSize(kTokens)} {
    tensor.data = words.data();
    tensor.device = DLDevice{kDLCPU, 0};
    tensor.ndim = 2;
    tensor.dtype = GetBitmaskDLType();
    tensor.shape = shape;
  }
  bool has(int row, int token) const {
    return words[static_cast<size_t>(row * GetBitmaskSize(kTokens) + token / 32)] >> token % 32 & 1;
  }
  void print(int row) const {
    for (int i = 0; i < GetBitmaskSize(kTokens); i++)
      printf("%08x",
             static_cast<unsigned>(words[static_cast<size_t>(row * GetBitmaskSize(kTokens) + i)]));
    printf("\n");
  }
};

static bool throws(const std::function<void()> &call) {
  try {
    call();
  } catch (const std::runtime_error &error) {
    return error.what()[0] != 0;
  }
  return false;
}

static void state(const char *what, const GrammarMatcher &m) {
  printf("%s: completed %d, terminated %d\n", what, m.IsCompleted(), m.IsTerminated());
}

static std::vector<int> generate(GrammarMatcher &m, Bitmask &mask, unsigned seed) {
  std::vector<int> out;
  while (!m.IsTerminated() && out.size() < 40) {
    m.FillNextTokenBitmask(&mask.tensor);
    mask.print(0);
    std::vector<int> allowed;
    for (int i = 0; i < kTokens; i++)
      if (mask.has(0, i)) allowed.push_back(i);
    seed = seed * 1664525u + 1013904223u;
    out.push_back(allowed[(seed >> 8) % allowed.size()]);
    printf("token %d %d\n", out.back(), m.AcceptToken(out.back()));
  }
  return out;
}

static void matcher(GrammarCompiler &compiler) {
  CompiledGrammar compiled = compiler.CompileRegex("(ab|cd){2,4}-[0-9]{3}");
  GrammarMatcher m(compiled);
  Bitmask mask(1);
  std::vector<int> out = generate(m, mask, 3);
  state("generated", m);
  printf("after the end: %d", m.AcceptToken('a'));
  printf(" %d %d\n", throws([&] { m.FillNextTokenBitmask(&mask.tensor); }),
         throws([&] { m.FindJumpForwardString(); }));
  m.Rollback(2);
  state("rolled back", m);
  printf("again %d", m.AcceptToken(out[out.size() - 2]));
  printf(", too far %d\n", throws([&] { m.Rollback(100); }));
  m.Reset();
  for (const char *text : {"abcd", "x", "-1"}) printf("string %s %d\n", text, m.AcceptString(text));
  GrammarMatcher fork = m.Fork();
  printf("fork %d", fork.AcceptString("23"));
  printf(" %d\n", m.IsCompleted());
  state("fork", fork);
  printf("tokens that are none %d %d\n", m.AcceptToken(1000), m.AcceptToken(-1));
  GrammarMatcher at_once(compiler.CompileRegex("ab*"), std::nullopt, true);
  printf("without a stop token %d", at_once.AcceptToken('a'));
  printf(" %d", at_once.IsTerminated());
  printf(" %d %d\n", at_once.AcceptToken('b'), at_once.AcceptToken(256));
  printf("jump-forward %s, %s\n",
         GrammarMatcher(compiler.CompileGrammar("root ::= \"only \" [0-9]"))
             .FindJumpForwardString()
             .c_str(),
         GrammarMatcher(compiler.CompileGrammar("top ::= \"caf\xC3\xA9\" | \"cafe\"", "top"))
             .FindJumpForwardString()
             .c_str());
}

static void grammars(GrammarCompiler &compiler) {
  const std::string object =
      R"({"type": "object", "properties": {"a": {"type": "integer"}, )"
      R"("in": {"properties": {"b": true}, "type": "object"}}, "required": ["a"]})";
  const std::string odd =
      R"({"type": "object", "properties": {"enum": {"enum": [{"type": "object"}, "q\"uote"]}, )"
      R"("t": {"type": "array", "prefixItems": [{"type": "null"}]}},
    "required": ["enum"]})";
  auto takes = [&](const CompiledGrammar &g, const std::string &text) {
    GrammarMatcher m(g);
    return m.AcceptString(text) && m.IsCompleted();
  };
  CompiledGrammar strict = compiler.CompileJSONSchema(object),
                  loose =
                      compiler.CompileJSONSchema(object, true, std::nullopt, std::nullopt, false);
  for (const char *text : {R"({"a": 1})", R"({"a": 1, "c": 2})", R"({"a": 1, "in": {"b": 0}})",
                           R"({"a": 1, "in": {"b": 0, "d": 0}})"})
    printf("%s: strict %d, loose %d\n", text, takes(strict, text), takes(loose, text));
  CompiledGrammar other = compiler.CompileJSONSchema(odd);
  for (const char *text :
       {R"({"enum": {"type":"object"}})", R"({"enum": "q\"uote", "t": [null]})",
        R"({"enum": "q\"uote", "t": [null, 1]})", R"({"enum": "q\"uote", "u": 1})"})
    printf("%s: %d\n", text, takes(other, text));
  for (const char *schema :
       {R"({"type": "object"})", R"({"type": "object", "title": "t"})",
        R"({"type": "object", "required": []})", R"({"maxProperties": 2, "type": "object"})",
        R"({"type": "object", "minProperties": 0})", R"({"type": "object", "properties": {}})",
        R"({"type": ["object", "null"]})", R"({"anyOf": [{"type": "object"}]})"})
    printf("%s: %d\n", schema, takes(compiler.CompileJSONSchema(schema), R"({"b": 1})"));
  CompiledGrammar compact = compiler.CompileJSONSchema(
      object, false, std::nullopt, std::make_pair(std::string(","), std::string(":")));
  CompiledGrammar pretty = compiler.CompileJSONSchema(object, false, 2);
  printf("style %d %d %d %d\n", takes(compact, R"({"a":1})"), takes(compact, R"({"a": 1})"),
         takes(pretty, "{\n  \"a\": 1\n}"), takes(pretty, R"({"a": 1})"));
  printf("json %d %d\n", takes(compiler.CompileBuiltinJSONGrammar(), R"({"x": [1, null]})"),
         takes(compiler.CompileBuiltinJSONGrammar(), "{,}"));
  for (const char *text : {"1", "[1]", "\"x\""})
    printf("json %s %d\n", text, takes(compiler.CompileBuiltinJSONGrammar(), text));
  printf("dot %d\n", takes(compiler.CompileRegex("a.b"), "a\nb"));
  CompiledGrammar tag = compiler.CompileStructuralTag(
      R"({"type": "structural_tag", "format": {"type": "triggered_tags", "triggers": ["<f"], )"
      R"("tags": [{"begin": "<f>", "content": {"type": "json_schema", "json_schema": )" +
      object + R"(},
    "end": "</f>"}]}})");
  for (const char *text :
       {R"(x <f>{"a": 1}</f>)", R"(<f>{"a": 1, "c": 2}</f>)", R"(<f>{"a": 1, "in": {"d": 0}}</f>)"})
    printf("%s: %d\n", text, takes(tag, text));
  printf("refused %d %d %d\n", throws([&] { compiler.CompileRegex("a("); }),
         throws([&] { compiler.CompileGrammar("root ::= x"); }),
         throws([&] { compiler.CompileJSONSchema(R"({"type": 3})"); }));
}

static void batch(GrammarCompiler &compiler) {
  Bitmask mask(4);
  BatchGrammarMatcher filler(2);
  CompiledGrammar a = compiler.CompileRegex("[a-c]+"), b = compiler.CompileRegex("[0-9]{2}");
  std::vector<GrammarMatcher> matchers{GrammarMatcher(a), GrammarMatcher(b), GrammarMatcher(a)};
  std::vector<uint8_t> done = BatchGrammarMatcher::BatchAcceptToken(&matchers, {'a', '7', 'x'});
  printf("batch %d %d %d\n", done[0], done[1], done[2]);
  done = BatchGrammarMatcher::BatchAcceptString(&matchers, {"b", "7", "cc"});
  printf("batch %d %d %d\n", done[0], done[1], done[2]);
  printf("too few %d %d %d\n",
         throws([&] { BatchGrammarMatcher::BatchAcceptToken(&matchers, {'a'}); }),
         throws([&] { BatchGrammarMatcher::BatchAcceptString(&matchers, {"a"}); }),
         throws([&] { BatchGrammarMatcher::BatchRollback(&matchers, {1}); }));
  filler.BatchFillNextTokenBitmask(&matchers, &mask.tensor, std::vector<int32_t>{3, 0, 1});
  for (int row = 0; row < 4; row++) mask.print(row);
  BatchGrammarMatcher::BatchRollback(&matchers, {1, 2, 1});
  filler.BatchFillNextTokenBitmask(&matchers, &mask.tensor);
  for (int row = 0; row < 3; row++) mask.print(row);
  std::vector<float> logits(2 * kTokens, 1.0f);
  int64_t shape[] = {2, kTokens};
  DLTensor tensor{};
  tensor.data = logits.data();
  tensor.device = DLDevice{kDLCPU, 0};
  tensor.ndim = 2;
  tensor.dtype = DLDataType{kDLFloat, 32, 1};
  tensor.shape = shape;
  ApplyTokenBitmaskInplaceCPU(&tensor, mask.tensor, -1, std::vector<int>{1});
  int left[2] = {0, 0};
  for (int i = 0; i < 2 * kTokens; i++) left[i / kTokens] += logits[static_cast<size_t>(i)] == 1.0f;
  printf("logits left %d %d\n", left[0], left[1]);
}

static void tokenizers() {
  auto show = [](const TokenizerInfo &info) {
    for (const std::string &token : info.GetDecodedVocab()) {
      for (unsigned char c : token) printf("%02x", c);
      printf(" ");
    }
    printf("size %d, stop", info.GetVocabSize());
    for (int id : info.GetStopTokenIds()) printf(" %d", id);
    printf(", special");
    for (int id : info.GetSpecialTokenIds()) printf(" %d", id);
    printf("\n");
  };
  show(TokenizerInfo({"<0x0A>",
                      "\xE2\x96\x81"
                      "a",
                      "<0xE2>", "b", "</s>"},
                     VocabType::BYTE_FALLBACK));
  show(TokenizerInfo({"\xC4\xA0"
                      "a",
                      "\xC4\x8A", "\xC3\xA9", "<|endoftext|>", "\xC4\xA2"},
                     VocabType::BYTE_LEVEL));
  show(TokenizerInfo({"a", "b", "", "c"}, VocabType::RAW, 40, std::vector<int32_t>{3}));
}

int main() {
  TokenizerInfo info(tokens(), VocabType::RAW, std::nullopt, std::vector<int32_t>{kStop});
  GrammarCompiler compiler(info);
  printf("vocabulary %d, stop %d\n", info.GetVocabSize(), info.GetStopTokenIds()[0]);
  matcher(compiler);
  grammars(compiler);
  batch(compiler);
  tokenizers();
  return 0;
}
