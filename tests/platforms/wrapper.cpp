/* wrapper.cpp - turnstile.hpp at work: what objects do when they are moved, copied and freed, what
 * results say. Compiled with -fno-exceptions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cstdio>
#include <turnstile.hpp>
#include <vector>

static int passed, failed;

static void check(bool fine, const char *what) {
  (fine ? passed : failed)++;
  if (!fine) std::printf("  failed: %s\n", what);
}

int main() {
  auto vocab = turnstile::vocab::embedded();
  check(bool(vocab), "the embedded vocabulary is there");
  if (!vocab) return 1;
  auto missing = turnstile::vocab::load_file("no/such/file");
  check(!missing && missing.error().status() == TSL_ERR_IO, "a file that is not there");
  check(!missing && missing.error().message()[0] != '\0', "has a message");

  auto wrong = turnstile::grammar::json_schema(*vocab, R"({"type": 1})");
  check(!wrong && wrong.error().status() == TSL_ERR_SCHEMA, "a wrong schema is an error");
  check(!wrong && std::string_view(wrong.error().place().pointer) == "/type", "with its place");
  wrong = turnstile::grammar::regex(*vocab, "yes|no");
  check(bool(wrong), "a result can be assigned another");

  auto made = turnstile::grammar::gbnf(*vocab, "root ::= \"ab\" | \"ac\"");
  check(bool(made), "a GBNF");
  turnstile::grammar copy = *made, moved = std::move(*made);
  check(copy.get() == moved.get() && made->get() == nullptr, "copies share, moves empty");
  moved = copy;
  auto matcher = turnstile::matcher::make(moved);
  check(bool(matcher), "a matcher");
  if (!matcher) return 1;

  std::vector<std::uint32_t> mask(vocab->mask_words());
  check(!matcher->mask(mask), "a mask into a vector");
  std::uint32_t small[1];
  check(matcher->mask(small).status() == TSL_ERR_ARGUMENT, "a mask that is too small");
  check(!matcher->accept_bytes("a"), "bytes that fit");
  std::size_t accepted = 9;
  turnstile::error no = matcher->accept_bytes("x", &accepted);
  check(no && no.rejected() && accepted == 0, "bytes that do not");
  auto fork = matcher->fork();
  check(fork && !fork->accept_bytes("c") && fork->is_complete(), "a fork goes its way");
  check(!matcher->is_complete(), "the first one does not go along");
  check(!matcher->rollback(1) && !matcher->accept_bytes("ab"), "back and on");

  tsl_sampler_options options = {};
  options.temperature = 1;
  auto sampler = turnstile::sampler::make(options);
  check(bool(sampler), "a sampler");
  matcher->reset();
  check(!matcher->mask(mask), "a mask again");
  std::vector<float> logits(vocab->logits_width(), 0.0f);
  auto draw = sampler->draw(logits, mask);
  check(draw && vocab->bytes(draw->token).substr(0, 1) == "a", "a draw within the mask");
  check(draw && !matcher->accept(draw->token), "which the matcher takes");
  sampler->set_matcher(*matcher);
  std::vector<double> shares(logits.size());
  std::vector<std::uint8_t> cuts(logits.size());
  check(!matcher->mask(mask) && !sampler->distribution(logits, mask, shares) &&
            !sampler->cuts(logits, mask, cuts),
        "a distribution, and what was cut");
  double sum = 0;
  for (double share : shares) sum += share;
  check(sum > 0.999 && sum < 1.001, "which sums to 1");
  sampler->set_matcher(nullptr);
  auto bad = sampler->draw(logits, small);
  check(!bad && bad.error().status() == TSL_ERR_ARGUMENT, "a mask of another size");
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed > 0;
}
