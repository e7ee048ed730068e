/* turnstile.hpp - turnstile.h for C++17: objects that free themselves, results without exceptions.
 *
 *   auto vocab = turnstile::vocab::load_file("tokenizer.json");
 *   if (!vocab) return say(vocab.error().message());
 *   auto grammar = turnstile::grammar::json_schema(*vocab, R"({"type": "integer"})");
 *   if (!grammar) return say(grammar.error().message());
 *   auto matcher = turnstile::matcher::make(*grammar);
 *   if (!matcher) return say(matcher.error().message());
 *   std::vector<std::uint32_t> mask(vocab->mask_words());
 *   while (!matcher->is_terminated()) {
 *     if (auto bad = matcher->mask(mask)) return say(bad.message());
 *     if (auto bad = matcher->accept(choose(mask))) return say(bad.message());
 *   }
 *
 * Ownership   Each object owns one object of the C library; it can be moved. Vocabularies and
 *             grammars are shared by copying. get() lends the C object: every function of
 *             turnstile.h can be called on it.
 * Errors      A call that makes something returns result<T>, like std::expected: test it, then use
 *             * or ->, or error(). Other calls return an error, which is false where all is well.
 *             Nothing throws, and nothing here allocates but what the C library does. To use * or
 *             -> on a result that failed is undefined, as it is with std::expected.
 * Spans       span<T> is a pointer and a count. It is made from arrays and from whatever has data()
 *             and size(): std::vector, std::array, std::span.
 * Threads     As turnstile.h says: vocabularies and grammars are shared, a matcher has one user.
 * Cost        That of the C calls; all of this is inline.
 * Tested by tests/platforms/test_cmake.py, tests/platforms/wrapper.cpp
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TURNSTILE_HPP
#define TURNSTILE_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "turnstile.h"

namespace turnstile {

/* Elements of somebody else's, side by side. */
template <class T> class span {
public:
  constexpr span() noexcept = default;
  constexpr span(T *data, std::size_t size) noexcept : at_(data), size_(size) {}
  template <std::size_t N> constexpr span(T (&array)[N]) noexcept : at_(array), size_(N) {}
  template <class C, class = std::enable_if_t<
                         std::is_convertible_v<decltype(std::declval<C &>().data()), T *>>>
  constexpr span(C &&container) noexcept : at_(container.data()), size_(container.size()) {}
  constexpr T *data() const noexcept { return at_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr T &operator[](std::size_t i) const noexcept { return at_[i]; }
  constexpr T *begin() const noexcept { return at_; }
  constexpr T *end() const noexcept { return at_ + size_; }

private:
  T *at_ = nullptr;
  std::size_t size_ = 0;
};

/* What a call says: true where it failed, or where a token was rejected. */
class error {
public:
  error() noexcept { std::memset(&of_, 0, sizeof of_); }
  explicit error(tsl_status status) noexcept : error() { of_.status = status; }
  explicit error(const tsl_error &of) noexcept : of_(of) {}
  explicit operator bool() const noexcept { return of_.status != TSL_OK; }
  tsl_status status() const noexcept { return of_.status; }
  /* A grammar that does not allow the token is no failure: the matcher is as it was. */
  bool rejected() const noexcept { return of_.status == TSL_REJECTED; }
  /* One sentence; the name of the status where the call gives no sentence. */
  const char *message() const noexcept {
    return of_.message[0] ? of_.message : tsl_status_name(of_.status);
  }
  /* The place: see tsl_error. */
  const tsl_error &place() const noexcept { return of_; }

private:
  tsl_error of_;
};

/* A T, or an error: as std::expected<T, error>. */
template <class T> class result {
public:
  result(T &&value) noexcept : has_(true) { new (&value_) T(std::move(value)); }
  result(const turnstile::error &bad) noexcept : has_(false) {
    new (&error_) turnstile::error(bad);
  }
  result(result &&other) noexcept : has_(other.has_) {
    if (has_)
      new (&value_) T(std::move(other.value_));
    else
      new (&error_) turnstile::error(other.error_);
  }
  result &operator=(result &&other) noexcept {
    if (this != &other) {
      this->~result();
      new (this) result(std::move(other));
    }
    return *this;
  }
  ~result() {
    if (has_)
      value_.~T();
    else
      error_.~error();
  }
  explicit operator bool() const noexcept { return has_; }
  bool has_value() const noexcept { return has_; }
  T &operator*() & noexcept { return value_; }
  const T &operator*() const & noexcept { return value_; }
  T &&operator*() && noexcept { return std::move(value_); }
  T *operator->() noexcept { return &value_; }
  const T *operator->() const noexcept { return &value_; }
  /* Only where there is no value. */
  const turnstile::error &error() const noexcept { return error_; }

private:
  bool has_;
  union {
    T value_;
    turnstile::error error_;
  };
};

namespace detail {

/* Owns a C object that `End` ends. */
template <class T, void (*End)(T *)> class owner {
public:
  explicit owner(T *of) noexcept : of_(of) {}
  owner(owner &&other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
  owner &operator=(owner &&other) noexcept {
    std::swap(of_, other.of_);
    return *this;
  }
  owner(const owner &) = delete;
  owner &operator=(const owner &) = delete;
  ~owner() { End(of_); }
  /* The C object, lent. */
  T *get() const noexcept { return of_; }

protected:
  T *of_;
};

/* The same of what is counted: a copy is one holder more. */
template <class T, void (*Retain)(T *), void (*Release)(T *)>
class shared : public owner<T, Release> {
public:
  using owner<T, Release>::owner;
  shared(shared &&) noexcept = default;
  shared &operator=(shared &&) noexcept = default;
  shared(const shared &other) noexcept : owner<T, Release>(other.of_) {
    if (other.of_) Retain(other.of_);
  }
  shared &operator=(const shared &other) noexcept {
    shared copy(other);
    return *this = std::move(copy);
  }
};

/* What a call made, as a result: `made` if the status is TSL_OK. */
template <class T, class C>
result<T> made(tsl_status status, C *of, const tsl_error *why = nullptr) noexcept {
  if (status == TSL_OK) return T(of);
  return why && why->status != TSL_OK ? error(*why) : error(status);
}

} // namespace detail

/* See tsl_vocab. */
class vocab : public detail::shared<tsl_vocab, tsl_vocab_retain, tsl_vocab_release> {
public:
  using shared::shared;
  /* tsl_vocab_load_file */
  static result<vocab> load_file(const char *path,
                                 const tsl_vocab_options *options = nullptr) noexcept {
    tsl_vocab *of = nullptr;
    tsl_error why = {};
    tsl_status status = tsl_vocab_load_file(path, options, nullptr, &of, &why);
    return detail::made<vocab>(status, of, &why);
  }
  /* tsl_vocab_embedded: the small vocabulary that the library carries */
  static result<vocab> embedded() noexcept {
    tsl_vocab *of = nullptr;
    tsl_error why = {};
    tsl_status status = tsl_vocab_embedded(nullptr, &of, &why);
    return detail::made<vocab>(status, of, &why);
  }
  /* tsl_vocab_new */
  static result<vocab> make(const tsl_vocab_desc &desc) noexcept {
    tsl_vocab *of = nullptr;
    tsl_error why = {};
    tsl_status status = tsl_vocab_new(&desc, nullptr, &of, &why);
    return detail::made<vocab>(status, of, &why);
  }
  std::uint32_t size() const noexcept { return tsl_vocab_size(of_); }
  std::uint32_t logits_width() const noexcept { return tsl_vocab_logits_width(of_); }
  std::size_t mask_words() const noexcept { return tsl_vocab_mask_words(of_); }
  bool is_eog(tsl_token token) const noexcept { return tsl_vocab_is_eog(of_, token); }
  /* The bytes of a token, which live as long as the vocabulary. */
  std::string_view bytes(tsl_token token) const noexcept {
    std::size_t length = 0;
    const std::uint8_t *at = tsl_vocab_bytes(of_, token, &length);
    return at ? std::string_view(reinterpret_cast<const char *>(at), length) : std::string_view();
  }
};

/* See tsl_grammar. `limits` NULL: the default ones. */
class grammar : public detail::shared<tsl_grammar, tsl_grammar_retain, tsl_grammar_release> {
public:
  using shared::shared;
  /* tsl_grammar_json_schema */
  static result<grammar> json_schema(const vocab &v, std::string_view schema,
                                     const tsl_schema_options *options = nullptr,
                                     const tsl_limits *limits = nullptr) noexcept {
    tsl_grammar *of = nullptr;
    tsl_error why = {};
    tsl_status status =
        tsl_grammar_json_schema(v.get(), schema.data(), schema.size(), options, limits, &of, &why);
    return detail::made<grammar>(status, of, &why);
  }
  /* tsl_grammar_regex */
  static result<grammar> regex(const vocab &v, std::string_view pattern,
                               const tsl_regex_options *options = nullptr,
                               const tsl_limits *limits = nullptr) noexcept {
    tsl_grammar *of = nullptr;
    tsl_error why = {};
    tsl_status status =
        tsl_grammar_regex(v.get(), pattern.data(), pattern.size(), options, limits, &of, &why);
    return detail::made<grammar>(status, of, &why);
  }
  /* tsl_grammar_gbnf; `root` NULL: "root" */
  static result<grammar> gbnf(const vocab &v, std::string_view text, const char *root = nullptr,
                              const tsl_limits *limits = nullptr) noexcept {
    tsl_grammar *of = nullptr;
    tsl_error why = {};
    tsl_status status =
        tsl_grammar_gbnf(v.get(), text.data(), text.size(), root, limits, &of, &why);
    return detail::made<grammar>(status, of, &why);
  }
  /* tsl_grammar_compile: any source, with its own limits */
  static result<grammar> compile(const vocab &v, const tsl_source &source) noexcept {
    tsl_grammar *of = nullptr;
    tsl_error why = {};
    tsl_status status = tsl_grammar_compile(v.get(), &source, &of, &why);
    return detail::made<grammar>(status, of, &why);
  }
};

/* See tsl_matcher. */
class matcher : public detail::owner<tsl_matcher, tsl_matcher_free> {
public:
  using owner::owner;
  /* tsl_matcher_new */
  static result<matcher> make(const grammar &g) noexcept {
    tsl_matcher *of = nullptr;
    tsl_status status = tsl_matcher_new(g.get(), nullptr, &of);
    return detail::made<matcher>(status, of);
  }
  /* tsl_matcher_fork */
  result<matcher> fork() const noexcept {
    tsl_matcher *of = nullptr;
    tsl_status status = tsl_matcher_fork(of_, &of);
    return detail::made<matcher>(status, of);
  }
  /* tsl_matcher_mask. TSL_ERR_ARGUMENT where `words` has fewer than mask_words(). */
  error mask(span<std::uint32_t> words) noexcept {
    std::size_t need = tsl_vocab_mask_words(tsl_grammar_vocab(tsl_matcher_grammar(of_)));
    if (words.size() < need) return error(TSL_ERR_ARGUMENT);
    return error(tsl_matcher_mask(of_, words.data()));
  }
  error accept(tsl_token token) noexcept { return error(tsl_matcher_accept(of_, token)); }
  /* tsl_matcher_accept_bytes; where it fails, `*accepted` bytes could have been accepted */
  error accept_bytes(std::string_view bytes, std::size_t *accepted = nullptr) noexcept {
    return error(tsl_matcher_accept_bytes(of_, bytes.data(), bytes.size(), accepted));
  }
  error rollback(std::size_t count) noexcept { return error(tsl_matcher_rollback(of_, count)); }
  void reset() noexcept { tsl_matcher_reset(of_); }
  bool is_complete() const noexcept { return tsl_matcher_is_complete(of_); }
  bool is_terminated() const noexcept { return tsl_matcher_is_terminated(of_); }
};

/* See tsl_sampler. */
class sampler : public detail::owner<tsl_sampler, tsl_sampler_free> {
public:
  using owner::owner;
  /* tsl_sampler_new */
  static result<sampler> make(const tsl_sampler_options &options) noexcept {
    tsl_sampler *of = nullptr;
    tsl_status status = tsl_sampler_new(&options, nullptr, &of);
    return detail::made<sampler>(status, of);
  }
  /* tsl_sampler_draw. TSL_ERR_ARGUMENT where the mask has fewer bits than there are logits. */
  result<tsl_draw> draw(span<const float> logits, span<const std::uint32_t> mask) noexcept {
    tsl_draw out = {};
    if (mask.size() < (logits.size() + 31) / 32) return error(TSL_ERR_ARGUMENT);
    tsl_status status = tsl_sampler_draw(of_, logits.data(), logits.size(), mask.data(), &out);
    if (status != TSL_OK) return error(status);
    return result<tsl_draw>(std::move(out));
  }
  error accept(tsl_token token) noexcept { return error(tsl_sampler_accept(of_, token)); }
  /* tsl_sampler_set_matcher. The matcher must live as long as the sampler draws by it. */
  void set_matcher(const matcher &of) noexcept { tsl_sampler_set_matcher(of_, of.get()); }
  void set_matcher(std::nullptr_t) noexcept { tsl_sampler_set_matcher(of_, nullptr); }
  /* tsl_sampler_distribution, without the stages. `out` has room for a number for each logit. */
  error distribution(span<const float> logits, span<const std::uint32_t> mask,
                     span<double> out) noexcept {
    if (mask.size() < (logits.size() + 31) / 32 || out.size() < logits.size())
      return error(TSL_ERR_ARGUMENT);
    return error(tsl_sampler_distribution(of_, logits.data(), logits.size(), mask.data(),
                                          out.data(), nullptr, nullptr));
  }
  /* tsl_sampler_cuts. `out` has room for a byte for each logit. */
  error cuts(span<const float> logits, span<const std::uint32_t> mask,
             span<std::uint8_t> out) noexcept {
    if (mask.size() < (logits.size() + 31) / 32 || out.size() < logits.size())
      return error(TSL_ERR_ARGUMENT);
    return error(tsl_sampler_cuts(of_, logits.data(), logits.size(), mask.data(), out.data()));
  }
};

} // namespace turnstile

#endif
