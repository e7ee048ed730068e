/* example.cpp - a program for XGrammar's C++ calls, on Turnstile: example SCHEMA
 *
 *     c++ -std=c++17 -Ibindings/compat/xgrammar -Iinclude example.cpp -lturnstile
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <xgrammar/xgrammar.h>

#include <cstdlib>
#include <iostream>

int main(int argc, char **argv) try {
  std::vector<std::string> words = {"</s>"}; /* of a model; here the printable characters */
  for (char c = ' '; c <= '~'; c++) words.emplace_back(1, c);
  xgrammar::TokenizerInfo info(words);
  xgrammar::GrammarCompiler compiler(info);
  xgrammar::GrammarMatcher matcher(compiler.CompileJSONSchema(
      argc == 2 ? argv[1] : "true", false, std::nullopt, std::make_pair(",", ":")));
  std::vector<int32_t> words_of_mask(xgrammar::GetBitmaskSize(info.GetVocabSize()));
  int64_t shape = static_cast<int64_t>(words_of_mask.size());
  DLTensor bitmask{};
  bitmask.data = words_of_mask.data();
  bitmask.device = DLDevice{kDLCPU, 0};
  bitmask.ndim = 1;
  bitmask.dtype = xgrammar::GetBitmaskDLType();
  bitmask.shape = &shape;
  while (!matcher.IsTerminated()) {
    matcher.FillNextTokenBitmask(&bitmask);
    int token; /* a model would choose; here a random one of those that are allowed */
    do token = std::rand() % info.GetVocabSize();
    while (!(words_of_mask[token / 32] >> token % 32 & 1));
    matcher.AcceptToken(token);
    if (token) std::cout << info.GetDecodedVocab()[token];
  }
  std::cout << std::endl;
  return 0;
} catch (const std::exception &error) {
  std::cerr << error.what() << std::endl;
  return 1;
}
