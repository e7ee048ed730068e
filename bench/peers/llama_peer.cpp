// llama_peer.cpp - llama.cpp's own sampler chain, timed on the logits and the cases of
// `turnstile-bench sampler`.
//
// Its sampler and its grammar are compiled as they are (src/llama-sampler.cpp, llama-grammar.cpp,
// unicode.cpp of the pinned source package). Their calls to a vocabulary are answered here from a
// file of token texts, so that no model has to be loaded. Called by bench/sampler_bench.py.
//
//   llama_peer LOGITS TOKENS GRAMMAR RUNS
//
// LOGITS: float32; TOKENS: (uint32 length, bytes) each. Prints one JSON object of medians in µs.
//
// The array of candidates is filled in every step, as llama.cpp's host does.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "llama-grammar.h"
#include "llama-vocab.h"
#include "llama.h"

#define PREFIX "{\"name\": \"Al" // of the text, as in sampler.c

static std::vector<std::string> pieces;

// ---- the vocabulary that llama.cpp's grammar sees -----------------------------------------------

struct llama_vocab::impl {};
llama_vocab::llama_vocab() : pimpl(new impl) {}
llama_vocab::~llama_vocab() {}
bool llama_vocab::is_eog(llama_token) const { return false; }
const std::string &llama_vocab::token_to_piece(llama_token token) const {
  return pieces[(size_t)token];
}
uint32_t llama_vocab::n_tokens() const { return (uint32_t)pieces.size(); }

// ---- timing -------------------------------------------------------------------------------------

static double median(int runs, const std::function<void()> &step) {
  std::vector<double> us;
  for (int i = 0; i < runs; i++) {
    auto start = std::chrono::steady_clock::now();
    step();
    us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
                     .count());
  }
  std::sort(us.begin(), us.end());
  return us[us.size() / 2];
}

static std::vector<llama_token_data> data;
static std::vector<float> logits;

static llama_token_data_array fill() {
  for (size_t i = 0; i < logits.size(); i++) data[i] = {(llama_token)i, logits[i], 0.0f};
  return {data.data(), data.size(), -1, false};
}

static llama_sampler *chain(std::vector<llama_sampler *> parts) {
  llama_sampler *c = llama_sampler_chain_init({true});
  for (auto *p : parts) llama_sampler_chain_add(c, p);
  llama_sampler_chain_add(c, llama_sampler_init_dist(1));
  return c;
}

static llama_sampler *cut_off() {
  return chain({llama_sampler_init_penalties((int32_t)logits.size(), 64, 1.1f, 0.1f, 0.1f),
                llama_sampler_init_top_k(40), llama_sampler_init_top_p(0.95f, 1),
                llama_sampler_init_min_p(0.05f, 1), llama_sampler_init_temp(0.8f)});
}

static std::string read(const char *path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  std::string raw = read(argv[1]), tokens = read(argv[2]), text = read(argv[3]);
  int runs = atoi(argv[4]);
  logits.assign((const float *)raw.data(), (const float *)(raw.data() + raw.size()));
  for (size_t at = 0; at + 4 <= tokens.size();) {
    uint32_t n;
    memcpy(&n, tokens.data() + at, 4);
    pieces.push_back(tokens.substr(at + 4, n));
    at += 4 + n;
  }
  if (pieces.size() != logits.size()) return 2;
  data.resize(logits.size());
  llama_vocab vocab;
  llama_grammar *grammar =
      llama_grammar_init_impl(&vocab, text.c_str(), "root", false, nullptr, 0, nullptr, 0);
  if (!grammar) return 2;
  llama_grammar_accept_str(*grammar, PREFIX);
  llama_sampler *plain = chain({llama_sampler_init_temp(0.8f)}), *cut = cut_off();
  llama_sampler *bare = chain({llama_sampler_init_top_k(40), llama_sampler_init_top_p(0.95f, 1),
                               llama_sampler_init_min_p(0.05f, 1), llama_sampler_init_temp(0.8f)});
  for (int i = 0; i < 64; i++)
    llama_sampler_accept(cut, (llama_token)((i * 7919) % (int)logits.size()));
  auto run = [](llama_sampler *s) {
    auto a = fill();
    llama_sampler_apply(s, &a);
  };
  double temperature = median(runs, [&] { run(plain); });
  double without = median(runs, [&] { run(bare); });
  double penalised = median(runs, [&] { run(cut); });
  double first = median(runs / 10 + 1, [&] {
    auto a = fill();
    llama_grammar_apply_impl(*grammar, &a);
    llama_sampler_apply(bare, &a);
  });
  auto check_one = [&](llama_token token) {
    llama_token_data one = {token, 1.0f, 0.0f};
    llama_token_data_array a = {&one, 1, -1, false};
    llama_grammar_apply_impl(*grammar, &a);
  };
  double check = median(runs, [&] { check_one(0); });
  // Draw, then check one token; where it is rejected, the whole grammar and a second draw.
  // Rejections are forced, evenly spread, so that the rate is exact.
  auto draw_first = [&](int percent, int steps) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < steps; i++) {
      auto a = fill();
      llama_sampler_apply(bare, &a);
      check_one(a.data[a.selected].id);
      if ((i + 1) * percent / 100 == i * percent / 100) continue;
      a = fill();
      llama_grammar_apply_impl(*grammar, &a);
      llama_sampler_apply(bare, &a);
    }
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
               .count() /
           steps;
  };
  double none = draw_first(0, runs), tenth = draw_first(10, 100), half = draw_first(50, 40);
  printf("{\"temperature\": %.2f, \"cut_off\": %.2f, \"cut_off_penalties\": %.2f, "
         "\"grammar_first\": %.2f, \"check_one\": %.3f, "
         "\"draw_first_0\": %.2f, \"draw_first_10\": %.2f, \"draw_first_50\": %.2f}\n",
         temperature, without, penalised, first, check, none, tenth, half);
  return 0;
}
