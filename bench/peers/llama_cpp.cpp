// The llama.cpp worker of `./dev bench peers` (protocol: worker.py): peer-llama-cpp VOCAB.gguf EOS.
//
// The driver calls what llama.cpp's server calls for a json_schema: json_schema_to_grammar,
// llama_sampler_init_grammar, and per token the grammar on the candidates. The candidates are the
// whole vocabulary. In use the server draws first and lets the grammar check one token. A full mask
// is what all others here write too. Filling the array of candidates is not timed.
//
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "json-schema-to-grammar.h"
#include "llama.h"

using json = nlohmann::ordered_json;

static double now_us() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct candidates {
  std::vector<llama_token_data> data;
  llama_token_data_array array;

  explicit candidates(int n) : data(n) {}

  // The grammar's verdict on every token; how long it took, in microseconds.
  double apply(llama_sampler *grammar) {
    for (size_t i = 0; i < data.size(); i++) data[i] = {static_cast<llama_token>(i), 0.0f, 0.0f};
    array = {data.data(), data.size(), -1, false};
    double start = now_us();
    llama_sampler_apply(grammar, &array);
    return now_us() - start;
  }
  bool has(llama_token t) const { return !std::isinf(data[t].logit); }
};

static json run_case(const llama_vocab *vocab, const json &c, llama_token eos, candidates &all) {
  std::vector<double> mask, commit;
  json result = {{"outcome", "pass"}, {"message", ""}};
  double start = now_us(), first = -1;
  llama_sampler *grammar = nullptr;
  std::string text;
  try {
    text = c.contains("schema")
               ? json_schema_to_grammar(common_json::parse(c["schema"].get<std::string>()))
               : c.at("gbnf").get<std::string>();
    grammar = llama_sampler_init_grammar(vocab, text.c_str(), "root");
  } catch (const std::exception &e) {
    return {{"outcome", "refused"}, {"message", e.what()}};
  }
  if (!grammar) return {{"outcome", "refused"}, {"message", "the grammar could not be parsed"}};
  double compiled = now_us() - start;
  first = all.apply(grammar);
  result["ttfm_us"] = compiled + first;
  for (size_t i = 0; i < c["tests"].size(); i++) {
    const json &test = c["tests"][i];
    bool accepted = true;
    if (i) llama_sampler_reset(grammar);
    for (llama_token token : test["tokens"]) {
      mask.push_back(first >= 0 ? first : all.apply(grammar));
      first = -1;
      accepted = all.has(token);
      double at = now_us();
      if (accepted) llama_sampler_accept(grammar, token);
      commit.push_back(accepted ? now_us() - at : 0);
      if (!accepted) break;
    }
    if (accepted && first < 0) all.apply(grammar);
    first = -1;
    if (accepted) accepted = all.has(eos);
    bool valid = test["valid"];
    if (accepted != valid && result["outcome"] == "pass")
      result["outcome"] = valid ? "validation_error" : "invalidation_error";
  }
  llama_sampler_free(grammar);
  result["mask_samples_us"] = mask;
  result["commit_samples_us"] = commit;
  return result;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  llama_log_set([](ggml_log_level, const char *, void *) {}, nullptr);
  llama_model_params params = llama_model_default_params();
  params.vocab_only = true;
  llama_model *model = llama_model_load_from_file(argv[1], params);
  if (!model) return fprintf(stderr, "%s could not be loaded\n", argv[1]), 1;
  const llama_vocab *vocab = llama_model_get_vocab(model);
  candidates all(llama_vocab_n_tokens(vocab));
  llama_token eos = std::stoi(argv[2]);
  std::cout << json{{"ready", "llama.cpp (llama-cpp-python 0.3.36)"}} << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    json c = json::parse(line), result;
    try {
      result = run_case(vocab, c, eos, all);
    } catch (const std::exception &e) {
      result = {{"outcome", "limit"}, {"message", e.what()}};
    }
    result["id"] = c["id"];
    std::cout << result << std::endl;
  }
  llama_model_free(model);
  return 0;
}
