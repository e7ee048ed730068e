/* xgrammar.h - XGrammar's C++ calls over Turnstile: a host switches by its include path. One
 * header, C++17, nothing to compile.
 *
 *     c++ -std=c++17 -Ibindings/compat/xgrammar -Iinclude host.cpp -lturnstile            (and -I
 *     for <dlpack/dlpack.h>, if the host has it)
 *
 * There are TokenizerInfo, Grammar, GrammarCompiler, CompiledGrammar, GrammarMatcher,
 * BatchGrammarMatcher and the functions on bitmasks, with the arguments that XGrammar 0.2 gives
 * them. Grammar reads EBNF, JSON Schema, regular expressions, plain JSON, and structural tags in
 * the form of one JSON text. What there is not, a program that uses it does not compile with:
 * serialisation, captures, temperatures, unions of grammars, draft trees, metadata of tokenizers.
 *
 * Where it differs, though the calls are the same:
 *   masks        Turnstile's, that is exact; bits past the vocabulary are 0, and
 *                FillNextTokenBitmask always says that the mask has to be applied
 *   schemas      enforced or refused. strict_mode closes objects and arrays that list their members
 *                (unevaluatedProperties and unevaluatedItems false) where the schema says nothing
 *                of others. Parts of an allOf stay open, because only the whole can be closed. Of
 *                indent and separators, those that Turnstile writes are accepted (any_whitespace;
 *                compact; indent with ", " or "," and ": "), and others refused
 *   regex        ECMA-262's and PCRE's syntax, "." being any character, but in structural tags,
 *                where it is no end of a line; EBNF is as docs/ebnf.md says
 *   Grammar      is checked when it is compiled, not when it is made
 *   stop tokens  belong to the vocabulary: override_stop_tokens is refused
 *   rollback     at most 4,096 tokens
 *   cache        bounded by 1 GiB where XGrammar's has no bound
 *
 * Errors are std::runtime_error, as XGrammar's are. Objects share what they are copies of, as
 * XGrammar's do, and are for one thread at a time, compilers excepted.
 *
 * Tested by tests/hosts/xgrammar.cpp
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef XGRAMMAR_XGRAMMAR_H_
#define XGRAMMAR_XGRAMMAR_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#elif !defined(DLPACK_DLPACK_H_)
#define DLPACK_DLPACK_H_
/* As far as it is needed here; layout and numbers are DLPack's. */
typedef enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3 } DLDeviceType;
typedef enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4 } DLDataTypeCode;
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;
typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} DLTensor;
#endif

#include "strict.h"
#include "turnstile.h"

namespace xgrammar {

/* ---- shared ---------------------------------------------------------------------------------- */

namespace turnstile_detail {

inline void check(tsl_status status, const tsl_error *error = nullptr) {
  if (status == TSL_OK) return;
  std::string message = error && error->message[0] ? error->message : tsl_status_name(status);
  if (error && error->pointer[0]) message += std::string(" at ") + error->pointer;
  throw std::runtime_error(message);
}

/* The memory of row `index` of a tensor in host memory, and its columns. */
inline char *row_of(const DLTensor &tensor, int index, int64_t *columns) {
  if (tensor.device.device_type != kDLCPU && tensor.device.device_type != kDLCUDAHost)
    throw std::runtime_error("the tensor is not in host memory");
  if (tensor.ndim != 1 && tensor.ndim != 2)
    throw std::runtime_error("the tensor must have one or two dimensions");
  int64_t rows = tensor.ndim == 2 ? tensor.shape[0] : 1;
  *columns = tensor.shape[tensor.ndim - 1];
  if (tensor.strides && tensor.strides[tensor.ndim - 1] != 1 && *columns > 1)
    throw std::runtime_error("the elements of a row must be contiguous");
  if (index < 0 || index >= rows)
    throw std::runtime_error("the tensor has no row " + std::to_string(index));
  int64_t stride = tensor.ndim == 2 && tensor.strides ? tensor.strides[0] : *columns;
  return static_cast<char *>(tensor.data) + tensor.byte_offset +
         index * stride * tensor.dtype.bits / 8;
}

/* Row `index` of a bitmask that has room for `words`; what is past is cleared. */
inline uint32_t *mask_row(const DLTensor &bitmask, int index, size_t words) {
  int64_t columns;
  if (bitmask.dtype.code != kDLInt || bitmask.dtype.bits != 32)
    throw std::runtime_error("a bitmask is a tensor of int32");
  uint32_t *row = reinterpret_cast<uint32_t *>(row_of(bitmask, index, &columns));
  if (columns < static_cast<int64_t>(words))
    throw std::runtime_error("the bitmask is too small for the vocabulary");
  std::fill(row + words, row + columns, 0u);
  return row;
}

} // namespace turnstile_detail

/* ---- tokenizers ------------------------------------------------------------------------------ */

enum class VocabType : int { RAW = 0, BYTE_FALLBACK = 1, BYTE_LEVEL = 2 };

namespace turnstile_detail {

/* "<0x0A>" is a byte, U+2581 a space. */
inline std::string decode_fallback(const std::string &token) {
  if (token.size() == 6 && token.compare(0, 3, "<0x") == 0 && token[5] == '>')
    return std::string(1, static_cast<char>(std::stoi(token.substr(3, 2), nullptr, 16)));
  std::string out;
  for (size_t i = 0; i < token.size();) {
    bool space = token.compare(i, 3, "\xE2\x96\x81") == 0;
    out += space ? ' ' : token[i];
    i += space ? 3 : 1;
  }
  return out;
}

/* The byte that a character of the byte-level alphabet stands for: printable ones for themselves,
 * the others in order from U+0100 on; -1 for none. */
inline int byte_of(uint32_t character) {
  auto plain = [](uint32_t c) {
    return (c >= '!' && c <= '~') || (c >= 0xA1 && c <= 0xAC) || (c >= 0xAE && c <= 0xFF);
  };
  if (character < 256) return plain(character) ? static_cast<int>(character) : -1;
  uint32_t next = 256;
  for (int byte = 0; byte < 256; byte++)
    if (!plain(static_cast<uint32_t>(byte)) && next++ == character) return byte;
  return -1;
}

/* A token with other characters than those of the alphabet, such as a special one, stands for
 * itself. */
inline std::string decode_bytes(const std::string &token) {
  std::string out;
  for (size_t i = 0; i < token.size();) {
    unsigned char c = static_cast<unsigned char>(token[i]);
    size_t length = c < 0x80 ? 1 : c < 0xE0 ? 2 : 3;
    if (i + length > token.size()) return token;
    int byte = byte_of(length == 1 ? c
                       : length == 2
                           ? (c & 0x1Fu) << 6 | (static_cast<unsigned char>(token[i + 1]) & 0x3Fu)
                           : 0);
    if (byte < 0) return token;
    out += static_cast<char>(byte);
    i += length;
  }
  return out;
}

} // namespace turnstile_detail

class TokenizerInfo {
public:
  TokenizerInfo(const std::vector<std::string> &encoded_vocab,
                VocabType vocab_type = VocabType::RAW, std::optional<int> vocab_size = std::nullopt,
                std::optional<std::vector<int32_t>> stop_token_ids = std::nullopt,
                bool add_prefix_space = false)
      : data_(std::make_shared<Data>()) {
    data_->type = vocab_type;
    data_->add_prefix_space = add_prefix_space;
    data_->size = vocab_size.value_or(static_cast<int>(encoded_vocab.size()));
    for (const std::string &token : encoded_vocab)
      data_->decoded.push_back(vocab_type == VocabType::RAW ? token
                               : vocab_type == VocabType::BYTE_FALLBACK
                                   ? turnstile_detail::decode_fallback(token)
                                   : turnstile_detail::decode_bytes(token));
    data_->stops = stop_token_ids ? *stop_token_ids : known_stops(encoded_vocab);
    build();
  }

  /* Not XGrammar's: a vocabulary that Turnstile loaded from a file, as tsl_vocab_load_file does.
   * Takes a reference. */
  explicit TokenizerInfo(tsl_vocab *vocab) : data_(std::make_shared<Data>()) {
    uint32_t count;
    const tsl_token *ends = tsl_vocab_eog(vocab, &count);
    tsl_vocab_retain(data_->vocab = vocab);
    data_->size = static_cast<int>(tsl_vocab_logits_width(vocab));
    data_->stops.assign(ends, ends + count);
    for (tsl_token i = 0; i < tsl_vocab_size(vocab); i++) {
      size_t length;
      const char *bytes = reinterpret_cast<const char *>(tsl_vocab_bytes(vocab, i, &length));
      data_->decoded.emplace_back(length ? bytes : "", length);
    }
    find_specials();
  }

  VocabType GetVocabType() const { return data_->type; }
  bool GetAddPrefixSpace() const { return data_->add_prefix_space; }
  int GetVocabSize() const { return data_->size; }
  const std::vector<std::string> &GetDecodedVocab() const { return data_->decoded; }
  const std::vector<int32_t> &GetStopTokenIds() const { return data_->stops; }
  /* tokens without bytes, those past the tokenizer's among them, and special ones that end
   * nothing */
  const std::vector<int32_t> &GetSpecialTokenIds() const { return data_->specials; }

  tsl_vocab *turnstile_vocab() const { return data_->vocab; } /* borrowed */

private:
  struct Data {
    tsl_vocab *vocab = nullptr;
    VocabType type = VocabType::RAW;
    bool add_prefix_space = false;
    int size = 0;
    std::vector<std::string> decoded;
    std::vector<int32_t> stops, specials;
    Data() = default;
    Data(const Data &) = delete;
    ~Data() { tsl_vocab_release(vocab); }
  };
  std::shared_ptr<Data> data_;

  static std::vector<int32_t> known_stops(const std::vector<std::string> &tokens) {
    static const char *const names[] = {"</s>",
                                        "<eos>",
                                        "<|eos|>",
                                        "<|endoftext|>",
                                        "<|eot_id|>",
                                        "<|end_of_text|>",
                                        "<end_of_turn>",
                                        "<\xEF\xBD\x9C"
                                        "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>"};
    std::vector<int32_t> stops;
    for (size_t i = 0; i < tokens.size(); i++)
      for (const char *name : names)
        if (tokens[i] == name) stops.push_back(static_cast<int32_t>(i));
    return stops;
  }

  void build() {
    std::string bytes;
    std::vector<uint32_t> offsets{0};
    for (const std::string &token : data_->decoded) {
      bytes += token;
      offsets.push_back(static_cast<uint32_t>(bytes.size()));
    }
    std::vector<tsl_token> ends(data_->stops.begin(), data_->stops.end());
    tsl_vocab_desc desc{};
    desc.bytes = reinterpret_cast<const uint8_t *>(bytes.data());
    desc.offsets = offsets.data();
    desc.size = static_cast<uint32_t>(data_->decoded.size());
    desc.logits_width = static_cast<uint32_t>(data_->size);
    desc.eog = ends.data();
    desc.eog_count = static_cast<uint32_t>(ends.size());
    tsl_error error{};
    turnstile_detail::check(tsl_vocab_new(&desc, nullptr, &data_->vocab, &error), &error);
    find_specials();
  }

  void find_specials() {
    for (int i = 0; i < data_->size; i++) {
      tsl_token token = static_cast<tsl_token>(i);
      size_t at = static_cast<size_t>(i);
      bool other = at >= data_->decoded.size() || data_->decoded[at].empty();
      if (other ||
          (tsl_vocab_is_special(data_->vocab, token) && !tsl_vocab_is_eog(data_->vocab, token)))
        data_->specials.push_back(i);
    }
  }
};

/* ---- grammars -------------------------------------------------------------------------------- */

/* The text of a grammar and how it is to be read. */
class Grammar {
public:
  static Grammar FromEBNF(const std::string &ebnf_string,
                          const std::string &root_rule_name = "root") {
    Grammar g(kEBNF, ebnf_string);
    g.root_ = root_rule_name;
    return g;
  }
  static Grammar FromJSONSchema(
      const std::string &schema, bool any_whitespace = true,
      std::optional<int> indent = std::nullopt,
      std::optional<std::pair<std::string, std::string>> separators = std::nullopt,
      bool strict_mode = true, std::optional<int> max_whitespace_cnt = std::nullopt) {
    Grammar g(kSchema, strict_mode ? turnstile_detail::close_schema(schema) : schema);
    g.options_.whitespace = any_whitespace ? max_whitespace_cnt ? TSL_WS_BOUNDED : TSL_WS_ANY
                            : indent       ? TSL_WS_PRETTY
                                           : TSL_WS_COMPACT;
    g.options_.whitespace_max = static_cast<uint32_t>(max_whitespace_cnt.value_or(0));
    g.options_.indent = static_cast<uint32_t>(indent.value_or(0));
    bool written = any_whitespace ||
                   (indent ? !separators || separators->second == ": "
                           : separators && separators->first == "," && separators->second == ":");
    if (!written)
      throw std::runtime_error(
          "Turnstile does not write JSON with this indent and these separators");
    return g;
  }
  static Grammar FromRegex(const std::string &regex) { return Grammar(kRegex, regex); }
  static Grammar FromStructuralTag(const std::string &structural_tag_json) {
    return Grammar(kTag, turnstile_detail::close_tag(structural_tag_json));
  }
  static Grammar BuiltinJSONGrammar() {
    return Grammar(kSchema, "{\"type\": [\"object\", \"array\"]}");
  }

private:
  friend class GrammarCompiler;
  enum Kind { kEBNF, kSchema, kRegex, kTag };
  Grammar(Kind kind, std::string text) : kind_(kind), text_(std::move(text)) {}
  Kind kind_;
  std::string text_, root_;
  tsl_schema_options options_{};
};

class CompiledGrammar {
public:
  TokenizerInfo GetTokenizerInfo() const { return info_; }
  size_t MemorySizeBytes() const {
    tsl_grammar_stats stats;
    tsl_grammar_get_stats(grammar_.get(), &stats);
    return stats.memory;
  }
  tsl_grammar *turnstile_grammar() const { return grammar_.get(); } /* borrowed */

private:
  friend class GrammarCompiler;
  CompiledGrammar(tsl_grammar *grammar, TokenizerInfo info)
      : grammar_(grammar, tsl_grammar_release), info_(std::move(info)) {}
  std::shared_ptr<tsl_grammar> grammar_;
  TokenizerInfo info_;
};

class GrammarCompiler {
public:
  /* max_threads has no meaning here: a compile takes microseconds, in the caller's thread. */
  explicit GrammarCompiler(const TokenizerInfo &tokenizer_info, int max_threads = 8,
                           bool cache_enabled = true, int64_t max_memory_bytes = -1)
      : info_(tokenizer_info) {
    (void)max_threads;
    tsl_cache *cache = nullptr;
    if (cache_enabled)
      turnstile_detail::check(tsl_cache_new(
          max_memory_bytes > 0 ? static_cast<uint64_t>(max_memory_bytes) : uint64_t{1} << 30,
          nullptr, &cache));
    cache_.reset(cache, tsl_cache_free);
  }

  CompiledGrammar CompileJSONSchema(
      const std::string &schema, bool any_whitespace = true,
      std::optional<int> indent = std::nullopt,
      std::optional<std::pair<std::string, std::string>> separators = std::nullopt,
      bool strict_mode = true, std::optional<int> max_whitespace_cnt = std::nullopt) {
    return CompileGrammar(Grammar::FromJSONSchema(
        schema, any_whitespace, indent, std::move(separators), strict_mode, max_whitespace_cnt));
  }
  CompiledGrammar CompileBuiltinJSONGrammar() {
    return CompileGrammar(Grammar::BuiltinJSONGrammar());
  }
  CompiledGrammar CompileRegex(const std::string &regex) {
    return CompileGrammar(Grammar::FromRegex(regex));
  }
  CompiledGrammar CompileStructuralTag(const std::string &json) {
    return CompileGrammar(Grammar::FromStructuralTag(json));
  }
  CompiledGrammar CompileGrammar(const std::string &ebnf,
                                 const std::string &root_rule_name = "root") {
    return CompileGrammar(Grammar::FromEBNF(ebnf, root_rule_name));
  }
  CompiledGrammar CompileGrammar(const Grammar &g) {
    tsl_error error{};
    tsl_grammar *grammar = nullptr;
    tsl_vocab *vocab = info_.turnstile_vocab();
    tsl_regex_options any_character{}; /* as "." is for XGrammar */
    any_character.dot_all = true;
    tsl_source source{};
    source.kind = g.kind_ == Grammar::kEBNF    ? TSL_SOURCE_EBNF
                  : g.kind_ == Grammar::kRegex ? TSL_SOURCE_REGEX
                                               : TSL_SOURCE_JSON_SCHEMA;
    source.text = g.text_.data();
    source.length = g.text_.size();
    source.schema = &g.options_;
    source.root = g.root_.c_str();
    source.regex = &any_character;
    tsl_status status = g.kind_ == Grammar::kTag
                            ? tsl_grammar_tags(vocab, source.text, source.length, &g.options_,
                                               nullptr, &grammar, &error)
                        : cache_ ? tsl_cache_get(cache_.get(), vocab, &source, &grammar, &error)
                                 : tsl_grammar_compile(vocab, &source, &grammar, &error);
    turnstile_detail::check(status, &error);
    return CompiledGrammar(grammar, info_);
  }
  void ClearCache() {
    if (cache_) tsl_cache_clear(cache_.get());
  }
  int64_t GetCacheSizeBytes() const {
    tsl_cache_stats stats{};
    if (cache_) tsl_cache_get_stats(cache_.get(), &stats);
    return static_cast<int64_t>(stats.bytes);
  }

private:
  TokenizerInfo info_;
  std::shared_ptr<tsl_cache> cache_;
};

/* ---- matchers -------------------------------------------------------------------------------- */

class GrammarMatcher {
public:
  explicit GrammarMatcher(const CompiledGrammar &compiled_grammar,
                          std::optional<std::vector<int>> override_stop_tokens = std::nullopt,
                          bool terminate_without_stop_token = false, int max_rollback_tokens = -1)
      : compiled_(compiled_grammar), without_stop_(terminate_without_stop_token),
        stops_(compiled_grammar.GetTokenizerInfo().GetStopTokenIds()) {
    (void)max_rollback_tokens;
    if (override_stop_tokens)
      throw std::runtime_error("stop tokens belong to the vocabulary: give them to TokenizerInfo");
    tsl_matcher *matcher = nullptr;
    turnstile_detail::check(tsl_matcher_new(compiled_.turnstile_grammar(), nullptr, &matcher));
    matcher_.reset(matcher, tsl_matcher_free);
  }

  bool AcceptToken(int32_t token_id, bool debug_print = false) {
    (void)debug_print;
    /* there is nothing that they end */
    if (without_stop_ && std::find(stops_.begin(), stops_.end(), token_id) != stops_.end())
      return false;
    return token_id >= 0 && token_id < GetVocabSize() &&
           accepted(tsl_matcher_accept(matcher_.get(), static_cast<tsl_token>(token_id)));
  }
  bool AcceptString(const std::string &input_str, bool debug_print = false) {
    (void)debug_print;
    return accepted(
        tsl_matcher_accept_bytes(matcher_.get(), input_str.data(), input_str.size(), nullptr));
  }
  /* Always true: the mask has to be applied. Throws after the end. */
  bool FillNextTokenBitmask(DLTensor *next_token_bitmask, int index = 0, bool debug_print = false) {
    (void)debug_print;
    check_going();
    turnstile_detail::check(tsl_matcher_mask(
        matcher_.get(), turnstile_detail::mask_row(*next_token_bitmask, index, words())));
    return true;
  }
  /* Whole characters of what must come. */
  std::string FindJumpForwardString() {
    check_going();
    std::string bytes(4096, '\0');
    size_t length = 0;
    turnstile_detail::check(tsl_matcher_forced_bytes(
        matcher_.get(), reinterpret_cast<uint8_t *>(&bytes[0]), bytes.size(), &length));
    size_t whole = length;
    while (whole && (static_cast<unsigned char>(bytes[whole - 1]) & 0xC0) == 0x80) whole--;
    if (whole) {
      unsigned char lead = static_cast<unsigned char>(bytes[whole - 1]);
      size_t wanted = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
      whole = whole - 1 + wanted <= length ? whole - 1 + wanted : whole - 1;
    }
    return bytes.substr(0, whole);
  }
  void Rollback(int num_tokens = 1) {
    if (num_tokens > 0)
      turnstile_detail::check(
          tsl_matcher_rollback(matcher_.get(), static_cast<size_t>(num_tokens)));
  }
  bool IsTerminated() const {
    return without_stop_ ? IsCompleted() : tsl_matcher_is_terminated(matcher_.get());
  }
  /* Also after the end. */
  bool IsCompleted() const {
    return tsl_matcher_is_complete(matcher_.get()) || tsl_matcher_is_terminated(matcher_.get());
  }
  void Reset() { tsl_matcher_reset(matcher_.get()); }
  GrammarMatcher Fork() const {
    GrammarMatcher fork(*this);
    tsl_matcher *matcher = nullptr;
    turnstile_detail::check(tsl_matcher_fork(matcher_.get(), &matcher));
    fork.matcher_.reset(matcher, tsl_matcher_free);
    return fork;
  }
  int GetMaxRollbackTokens() const { return static_cast<int>(TSL_MAX_ROLLBACK); }
  const std::vector<int> &GetStopTokenIds() const { return stops_; }
  int GetVocabSize() const {
    return static_cast<int>(
        tsl_vocab_logits_width(tsl_grammar_vocab(compiled_.turnstile_grammar())));
  }
  tsl_matcher *turnstile_matcher() const { return matcher_.get(); } /* borrowed */

private:
  friend class BatchGrammarMatcher;
  CompiledGrammar compiled_;
  std::shared_ptr<tsl_matcher> matcher_;
  bool without_stop_;
  std::vector<int> stops_;

  size_t words() const {
    return tsl_vocab_mask_words(tsl_grammar_vocab(compiled_.turnstile_grammar()));
  }
  void check_going() const {
    if (tsl_matcher_is_terminated(matcher_.get()))
      throw std::runtime_error("the matcher has terminated: a stop token was accepted");
  }
  static bool accepted(tsl_status status) {
    if (status != TSL_REJECTED && status != TSL_ERR_STATE && status != TSL_ERR_ARGUMENT)
      turnstile_detail::check(status);
    return status == TSL_OK;
  }
};

class BatchGrammarMatcher {
public:
  /* "auto": as many threads as the machine has processors; 1: the caller's alone. */
  explicit BatchGrammarMatcher(std::variant<std::string, int32_t> max_threads = "auto") {
    tsl_threads_options options{};
    tsl_threads *threads = nullptr;
    if (const int32_t *count = std::get_if<int32_t>(&max_threads)) {
      if (*count <= 1) return;
      options.workers = static_cast<uint32_t>(*count) - 1;
    }
    turnstile_detail::check(tsl_threads_new(&options, nullptr, &threads));
    threads_.reset(threads, tsl_threads_free);
  }

  void BatchFillNextTokenBitmask(std::vector<GrammarMatcher> *matchers,
                                 DLTensor *next_token_bitmask,
                                 const std::optional<std::vector<int32_t>> &indices = std::nullopt,
                                 bool debug_print = false) {
    (void)debug_print;
    if (indices && indices->size() != matchers->size())
      throw std::runtime_error("matchers and indices differ in number");
    std::vector<tsl_matcher *> rows(
        static_cast<size_t>(next_token_bitmask->ndim == 2 ? next_token_bitmask->shape[0] : 1));
    for (size_t i = 0; i < matchers->size(); i++) {
      GrammarMatcher &matcher = (*matchers)[i];
      int row = indices ? (*indices)[i] : static_cast<int>(i);
      matcher.check_going();
      turnstile_detail::mask_row(*next_token_bitmask, row, matcher.words());
      rows[static_cast<size_t>(row)] = matcher.turnstile_matcher();
    }
    fill(*next_token_bitmask, rows);
  }
  static std::vector<uint8_t> BatchAcceptString(std::vector<GrammarMatcher> *matchers,
                                                const std::vector<std::string> &input_strs,
                                                bool debug_print = false) {
    (void)debug_print;
    std::vector<uint8_t> accepted;
    as_many(*matchers, input_strs.size());
    for (size_t i = 0; i < matchers->size(); i++)
      accepted.push_back((*matchers)[i].AcceptString(input_strs[i]));
    return accepted;
  }
  static std::vector<uint8_t> BatchAcceptToken(std::vector<GrammarMatcher> *matchers,
                                               const std::vector<int32_t> &token_ids,
                                               bool debug_print = false) {
    (void)debug_print;
    std::vector<uint8_t> accepted;
    as_many(*matchers, token_ids.size());
    for (size_t i = 0; i < matchers->size(); i++)
      accepted.push_back((*matchers)[i].AcceptToken(token_ids[i]));
    return accepted;
  }
  static void BatchRollback(std::vector<GrammarMatcher> *matchers,
                            const std::vector<int> &num_tokens) {
    as_many(*matchers, num_tokens.size());
    for (size_t i = 0; i < matchers->size(); i++) (*matchers)[i].Rollback(num_tokens[i]);
  }

private:
  std::shared_ptr<tsl_threads> threads_;

  static void as_many(const std::vector<GrammarMatcher> &matchers, size_t values) {
    if (values != matchers.size()) throw std::runtime_error("matchers and values differ in number");
  }

  void fill(const DLTensor &bitmask, const std::vector<tsl_matcher *> &rows) {
    int64_t columns;
    uint32_t *first = reinterpret_cast<uint32_t *>(turnstile_detail::row_of(bitmask, 0, &columns));
    bool dense = bitmask.ndim == 1 || !bitmask.strides || bitmask.strides[0] == columns;
    if (dense)
      return turnstile_detail::check(tsl_batch_mask(threads_.get(), rows.data(), rows.size(), first,
                                                    static_cast<size_t>(columns), nullptr));
    for (size_t i = 0; i < rows.size(); i++)
      if (rows[i])
        turnstile_detail::check(
            tsl_matcher_mask(rows[i], reinterpret_cast<uint32_t *>(turnstile_detail::row_of(
                                          bitmask, static_cast<int>(i), &columns))));
  }
};

/* ---- bitmasks -------------------------------------------------------------------------------- */

inline int32_t GetBitmaskSize(int vocab_size) { return (vocab_size + 31) / 32; }
inline DLDataType GetBitmaskDLType() { return DLDataType{kDLInt, 32, 1}; }

/* Logits (float32, float16 or bfloat16) of tokens that are not in the bitmask become -inf: all
 * rows, or those named. Of a row, the first vocab_size columns. */
inline void ApplyTokenBitmaskInplaceCPU(DLTensor *logits, const DLTensor &bitmask,
                                        int vocab_size = -1,
                                        std::optional<std::vector<int>> indices = std::nullopt) {
  bool half = logits->dtype.bits == 16;
  if (logits->dtype.code != kDLFloat && !(half && logits->dtype.code == kDLBfloat))
    throw std::runtime_error("logits are float32, float16 or bfloat16");
  tsl_dtype dtype = logits->dtype.code == kDLBfloat ? TSL_BF16 : half ? TSL_F16 : TSL_F32;
  std::vector<int> rows = indices.value_or(std::vector<int>());
  for (int i = 0; !indices && i < (logits->ndim == 2 ? logits->shape[0] : 1); i++)
    rows.push_back(i);
  for (int row : rows) {
    int64_t columns, words;
    char *values = turnstile_detail::row_of(*logits, row, &columns);
    const uint32_t *mask =
        reinterpret_cast<const uint32_t *>(turnstile_detail::row_of(bitmask, row, &words));
    int64_t width =
        std::min(vocab_size < 0 ? columns : std::min<int64_t>(vocab_size, columns), words * 32);
    turnstile_detail::check(tsl_mask_apply(mask, values, static_cast<size_t>(width), dtype));
  }
}

} // namespace xgrammar

#endif // XGRAMMAR_XGRAMMAR_H_
