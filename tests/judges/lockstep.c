/* lockstep.c - see lockstep.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/judges/lockstep.h"

#include "tests/judges/repeats.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/matcher/grammar.h"
#include "runtime/walk/linear.h"
#include "tests/judges/oracle.h"
#include "tests/judges/tables.h"
#include "tests/support/nth_token.h"

#define MATCHERS 4
#define TEXT_MAX 64u  /* tokens or pieces of bytes of one text */
#define MASKS_MAX 48u /* masks compared for one input */
#define BYTES_MAX 16u
#define SEARCH_DEPTH 6u
#define EXPLAINED_MAX 40u /* denied tokens of one input for which a way on is searched */
#define STACKS_MAX 64u    /* stacks of the oracle: past them it has no verdict in reasonable time */

/* What was accepted: one token, or bytes. */
typedef struct piece {
  tsl_token token; /* TSL_NO_TOKEN: bytes */
  uint8_t bytes[BYTES_MAX];
  uint8_t n;
} piece;

typedef struct side {
  tsl_matcher *matcher;
  piece text[TEXT_MAX];
  uint32_t n;
  bool ended; /* an end-of-generation token was accepted */
} side;

typedef struct run {
  tsl_vocab *vocab;
  tsl_grammar *grammar;
  side side[MATCHERS];
  unsigned sides, now, masks, explained;
  oracle oracle; /* stands where side[now] stands */
  uint32_t *mine, *naive;
  const uint8_t *at, *end; /* commands left */
  bool stop;               /* a limit was reached */
} run;

void lockstep_require(int truth, const char *what) {
  if (truth) return;
  fprintf(stderr, "lockstep: %s\n", what);
  abort();
}

static uint8_t next_byte(run *r) { return r->at < r->end ? *r->at++ : 0; }

static bool limited(run *r, tsl_status status) {
  if (status == TSL_ERR_LIMIT || status == TSL_ERR_NO_MEMORY || status == TSL_ERR_UNSUPPORTED)
    r->stop = true;
  else
    lockstep_require(status == TSL_OK || status == TSL_REJECTED,
                     "an undocumented status of a matcher");
  return r->stop;
}

/* Trouble on the oracle's side: too many stacks, or the states could not grow. */
static bool oracle_lost(run *r) {
  if (r->oracle.overflow || r->oracle.now.n > STACKS_MAX || r->grammar->space->status != TSL_OK)
    r->stop = true;
  return r->stop;
}

static void report(const run *r) {
  for (tsl_token t = 0; t < r->vocab->logits_width; t++) {
    size_t n;
    const uint8_t *s = tsl_vocab_bytes(r->vocab, t, &n);
    if (tsl_mask_has(r->mine, t) != tsl_mask_has(r->naive, t))
      fprintf(stderr, "  token %u '%.*s': engine %d, oracle %d\n", t, (int)n,
              s ? (const char *)s : "", tsl_mask_has(r->mine, t), tsl_mask_has(r->naive, t));
  }
  const side *s = &r->side[r->now];
  fprintf(stderr, "  after");
  for (uint32_t i = 0; i < s->n; i++) {
    size_t n = s->text[i].n;
    const uint8_t *b = s->text[i].token == TSL_NO_TOKEN
                           ? s->text[i].bytes
                           : tsl_vocab_bytes(r->vocab, s->text[i].token, &n);
    fprintf(stderr, " '%.*s'", (int)n, (const char *)b);
  }
  fprintf(stderr, "\n");
}

/* Put the oracle where side[now] stands. */
static void oracle_follow(run *r) {
  const side *s = &r->side[r->now];
  oracle_free(&r->oracle);
  tsl__space_begin(r->grammar->space);
  oracle_begin(&r->oracle, r->grammar->space, r->grammar->start);
  for (uint32_t i = 0; i < s->n && !oracle_lost(r); i++) {
    if (s->ended && i + 1 == s->n) break;
    bool ok = s->text[i].token == TSL_NO_TOKEN
                  ? oracle_bytes(&r->oracle, s->text[i].bytes, s->text[i].n)
                  : oracle_token(&r->oracle, s->text[i].token);
    if (oracle_lost(r)) return;
    lockstep_require(ok, "the oracle cannot follow");
  }
}

/* ---- what must not be repeated --------------------------------------------------------------- */

/* Does the grammar compare items or names? The oracle knows the plain grammar alone: then it allows
 * more, and what it allows more is to be explained. */
static bool compares(const run *r) { return r->grammar->space->positions.watches != 0; }

static bool repeats(const char *text, size_t n) {
  return text_repeats_item(text, n) || text_repeats_name(text, n);
}

/* The text of side[now] and `more` after it; the caller frees. */
static char *text_with(const run *r, const uint8_t *more, size_t more_n, size_t *n) {
  const side *s = &r->side[r->now];
  char *text = malloc(TEXT_MAX * 64u + more_n + SEARCH_DEPTH);
  lockstep_require(text != NULL, "no memory");
  *n = 0;
  for (uint32_t i = 0; i <= s->n; i++) {
    size_t length = i == s->n ? more_n : s->text[i].n;
    const uint8_t *bytes = i == s->n ? more : s->text[i].bytes;
    if (i < s->n && s->text[i].token != TSL_NO_TOKEN)
      bytes = tsl_vocab_bytes(r->vocab, s->text[i].token, &length);
    if (length) memcpy(text + *n, bytes, length);
    *n += length;
  }
  return text;
}

/* Can the text be completed so that nothing is repeated? A few bytes, tried one by one by the
 * oracle: a yes is sure, a no is not. */
static bool completable(run *r, char *text, size_t n, unsigned depth, unsigned *tries) {
  static const char tried[] = "\"]},:0a1b[{ t2x";
  oracle o;
  tsl__space_begin(r->grammar->space);
  oracle_begin(&o, r->grammar->space, r->grammar->start);
  bool fine = oracle_bytes(&o, (const uint8_t *)text, n) && !o.overflow && !repeats(text, n),
       complete = fine && oracle_complete(&o);
  oracle_free(&o);
  if (!fine || complete || !depth) return complete;
  for (size_t i = 0; i < sizeof tried - 1 && *tries && !complete; i++, (*tries)--) {
    text[n] = tried[i];
    complete = completable(r, text, n + 1, depth - 1, tries);
  }
  return complete;
}

/* The oracle allows these bytes and the engine does not: they repeat something, or at least no way
 * on is found. */
static void explain(run *r, const uint8_t *bytes, size_t size) {
  size_t n;
  unsigned tries = 60;
  lockstep_require(compares(r), "the engine allows less than the oracle");
  char *text = text_with(r, bytes, size, &n);
  bool wrong = !repeats(text, n) && r->explained++ < EXPLAINED_MAX &&
               completable(r, text, n, SEARCH_DEPTH, &tries);
  if (wrong) fprintf(stderr, "  '%.*s'\n", (int)n, text);
  free(text);
  lockstep_require(!wrong, "what is denied can be completed and repeats nothing");
}

static void explain_token(run *r, tsl_token t) {
  size_t n = 0;
  const uint8_t *bytes = tsl_vocab_is_eog(r->vocab, t) ? NULL : tsl_vocab_bytes(r->vocab, t, &n);
  explain(r, bytes, n);
}

/* The engine's mask, which is the oracle's, or lacks what repeats something. */
static void explain_mask(run *r) {
  for (tsl_token t = 0; t < r->vocab->logits_width; t++) {
    bool mine = tsl_mask_has(r->mine, t), naive = tsl_mask_has(r->naive, t);
    if (mine == naive) continue;
    if (mine || !compares(r)) report(r);
    lockstep_require(!mine, "the engine allows what the oracle does not");
    explain_token(r, t);
  }
}

/* ---- comparing ------------------------------------------------------------------------------- */

static void naive_mask(run *r) {
  if (r->side[r->now].ended)
    memset(r->naive, 0, tsl_vocab_mask_words(r->vocab) * sizeof *r->naive);
  else
    oracle_mask(&r->oracle, r->naive);
}

#define ACCEPTED_EACH 53u

/* Some tokens, the first of all among them: each is accepted exactly if the mask has it. */
static void check_accepted(run *r) {
  for (tsl_token t = 0; t < r->vocab->size && !r->stop;
       t += t ? ACCEPTED_EACH : 1 + r->masks % ACCEPTED_EACH) {
    size_t valid = 0;
    if (limited(r, tsl_matcher_validate(r->side[r->now].matcher, &t, 1, &valid))) return;
    lockstep_require((valid == 1) == tsl_mask_has(r->mine, t),
                     "a token is not accepted as the mask says");
  }
}

/* Both masks; false if there is no verdict. */
static bool compare(run *r) {
  size_t size = tsl_vocab_mask_words(r->vocab) * sizeof *r->mine;
  if (r->masks >= MASKS_MAX || limited(r, tsl_matcher_mask(r->side[r->now].matcher, r->mine)))
    return r->stop = true, false;
  tsl__space_begin(r->grammar->space);
  naive_mask(r);
  if (oracle_lost(r)) return false;
  r->masks++;
  if (memcmp(r->mine, r->naive, size)) explain_mask(r);
  check_accepted(r);
  return !oracle_lost(r);
}

static bool accepted(const run *r, tsl_token t) {
  return t < r->vocab->size && tsl_mask_has(r->naive, t);
}

/* The matcher has accepted: so does the oracle. */
static void follow(run *r, piece p) {
  side *s = &r->side[r->now];
  bool end = p.token != TSL_NO_TOKEN && tsl_vocab_is_eog(r->vocab, p.token);
  s->text[s->n++] = p;
  s->ended |= end;
  if (end) return;
  bool ok = p.token == TSL_NO_TOKEN ? oracle_bytes(&r->oracle, p.bytes, p.n)
                                    : oracle_token(&r->oracle, p.token);
  if (!oracle_lost(r)) lockstep_require(ok, "the engine accepts what the oracle rejects");
  lockstep_require(tsl_matcher_history(s->matcher) == s->n, "the history's length");
}

static void accept_allowed(run *r) {
  if (!compare(r)) return;
  uint32_t count = (uint32_t)tsl_mask_count(r->mine, r->vocab->logits_width), k = next_byte(r);
  side *s = &r->side[r->now];
  lockstep_require(count || s->ended || (!compares(r) && oracle_complete(&r->oracle)),
                   "a dead end");
  if (!count || s->n == TEXT_MAX) return;
  k = k * count / 256;
  tsl_token t = nth_token(r->mine, k);
  tsl_status status = tsl_matcher_accept(s->matcher, t);
  if (limited(r, status)) return;
  lockstep_require(status == TSL_OK, "an allowed token is rejected");
  follow(r, (piece){.token = t});
}

static void accept_any(run *r) {
  side *s = &r->side[r->now];
  tsl_token t = next_byte(r);
  t = (t << 8 | next_byte(r)) % r->vocab->logits_width;
  tsl__space_begin(r->grammar->space);
  naive_mask(r);
  if (oracle_lost(r) || s->n == TEXT_MAX) return;
  tsl_status status = tsl_matcher_accept(s->matcher, t);
  if (limited(r, status)) return;
  lockstep_require(status != TSL_OK || accepted(r, t),
                   "the engine accepts what the oracle does not");
  if (status != TSL_OK && accepted(r, t)) explain_token(r, t);
  if (status == TSL_OK) follow(r, (piece){.token = t});
}

static void roll_back(run *r, unsigned count) {
  side *s = &r->side[r->now];
  tsl_status status = tsl_matcher_rollback(s->matcher, count);
  lockstep_require(status == (count > s->n ? TSL_ERR_STATE : TSL_OK), "the status of a rollback");
  if (status != TSL_OK || !count) return;
  s->n -= count;
  s->ended = false;
  oracle_follow(r);
}

static void fork_side(run *r) {
  if (r->sides == MATCHERS) return;
  side *to = &r->side[r->sides];
  *to = r->side[r->now];
  lockstep_require(tsl_matcher_fork(r->side[r->now].matcher, &to->matcher) == TSL_OK,
                   "a fork fails");
  r->now = r->sides++;
}

/* The tokens of a draft up to the one that was rejected. */
static void explain_draft(run *r, const tsl_token *draft, size_t valid) {
  uint8_t bytes[16 * 64];
  size_t n = 0, length;
  for (size_t i = 0; i <= valid; i++) {
    if (tsl_vocab_is_eog(r->vocab, draft[i])) break;
    const uint8_t *token = tsl_vocab_bytes(r->vocab, draft[i], &length);
    memcpy(bytes + n, token, length);
    n += length;
  }
  explain(r, bytes, n);
}

static void validate(run *r, unsigned count) {
  side *s = &r->side[r->now];
  tsl_token draft[16];
  size_t valid, want = 0;
  bool ended = s->ended;
  for (unsigned i = 0; i < count; i++) draft[i] = next_byte(r) * r->vocab->logits_width / 256;
  if (limited(r, tsl_matcher_validate(s->matcher, draft, count, &valid))) return;
  tsl__space_begin(r->grammar->space);
  for (; want < count && !ended; want++) {
    if (draft[want] >= r->vocab->size) break;
    if (tsl_vocab_is_eog(r->vocab, draft[want])) {
      if (!oracle_complete(&r->oracle)) break;
      ended = true;
    } else if (!oracle_token(&r->oracle, draft[want])) {
      break;
    }
  }
  if (oracle_lost(r)) return;
  lockstep_require(valid <= want, "a draft is longer than the oracle's");
  oracle_follow(r);
  if (valid < want && !r->stop) explain_draft(r, draft, valid);
}

static void accept_bytes(run *r, unsigned count) {
  side *s = &r->side[r->now];
  piece p = {.token = TSL_NO_TOKEN, .n = (uint8_t)count};
  size_t accepted = 99, want = 0;
  for (unsigned i = 0; i < count; i++) p.bytes[i] = next_byte(r);
  if (s->n == TEXT_MAX || !count) return;
  tsl_status status = tsl_matcher_accept_bytes(s->matcher, p.bytes, count, &accepted);
  if (limited(r, status)) return;
  tsl__space_begin(r->grammar->space);
  while (!s->ended && want < count && oracle_bytes(&r->oracle, p.bytes + want, 1)) want++;
  if (oracle_lost(r)) return;
  lockstep_require(accepted <= want && (status == TSL_OK) == (accepted == count), "bytes accepted");
  if (accepted < want) explain(r, p.bytes, accepted + 1);
  if (status == TSL_OK) s->text[s->n++] = p;
  oracle_follow(r);
}

/* Bytes that must come next: at each place the oracle allows that byte alone, and no end. */
static void check_forced(run *r) {
  uint8_t bytes[4];
  size_t n;
  if (limited(r, tsl_matcher_forced_bytes(r->side[r->now].matcher, bytes, sizeof bytes, &n)))
    return;
  tsl__space_begin(r->grammar->space);
  for (size_t i = 0; i < n; i++) {
    uint32_t alone[8] = {0};
    alone[bytes[i] / 32] = (uint32_t)1 << bytes[i] % 32;
    naive_mask(r);
    if (oracle_lost(r)) return;
    lockstep_require(!oracle_complete(&r->oracle) || compares(r),
                     "a byte is forced where the text may end");
    lockstep_require(!memcmp(alone, r->naive, sizeof alone) || r->grammar->space->names_tokens ||
                         compares(r),
                     "a byte is forced where another may come");
    lockstep_require(oracle_bytes(&r->oracle, bytes + i, 1) || oracle_lost(r),
                     "a forced byte is rejected");
  }
  if (n) oracle_follow(r);
}

/* The shortest completion is one byte longer than the shortest after the best next byte. What must
 * not be repeated makes it a lower bound only. */
static void check_shortest(run *r, const uint32_t next[8], uint64_t shortest) {
  uint64_t best = UINT64_MAX;
  for (unsigned b = 0; b < 256 && shortest && !r->stop; b++) {
    tsl_matcher *fork;
    uint8_t byte = (uint8_t)b;
    uint64_t rest;
    if (!tsl_mask_has(next, b)) continue;
    lockstep_require(tsl_matcher_fork(r->side[r->now].matcher, &fork) == TSL_OK, "a fork fails");
    if (!limited(r, tsl_matcher_accept_bytes(fork, &byte, 1, NULL)) &&
        !limited(r, tsl_matcher_shortest_completion(fork, &rest)) && rest < best)
      best = rest;
    tsl_matcher_free(fork);
  }
  if (!shortest || r->stop) return;
  if (best + 1 != shortest)
    fprintf(stderr, "  shortest %llu, after a byte %llu\n", (unsigned long long)shortest,
            (unsigned long long)best);
  lockstep_require(best + 1 == shortest,
                   "the shortest completion is not that of the next byte and one more");
}

static void check_questions(run *r) {
  side *s = &r->side[r->now];
  uint32_t next[8];
  uint64_t shortest;
  if (limited(r, tsl_matcher_next_bytes(s->matcher, next)) ||
      limited(r, tsl_matcher_shortest_completion(s->matcher, &shortest)))
    return;
  tsl__space_begin(r->grammar->space);
  naive_mask(r);
  if (oracle_lost(r)) return;
  for (unsigned b = 0; b < 256 && !r->grammar->space->names_tokens; b++) {
    lockstep_require(!tsl_mask_has(next, b) || accepted(r, b),
                     "a byte may come next that the oracle rejects");
    if (tsl_mask_has(next, b) != accepted(r, b)) explain_token(r, b);
  }
  lockstep_require(tsl_matcher_is_terminated(s->matcher) == s->ended, "terminated");
  lockstep_require(s->ended || !tsl_matcher_is_complete(s->matcher) || oracle_complete(&r->oracle),
                   "complete");
  if (!s->ended && oracle_complete(&r->oracle) && !tsl_matcher_is_complete(s->matcher))
    explain(r, NULL, 0);
  lockstep_require(s->ended || (shortest == 0) == oracle_complete(&r->oracle),
                   "complete, and the shortest completion is not empty (or the reverse)");
  if (s->ended) return;
  if (!compares(r) && !r->grammar->space->names_tokens) check_shortest(r, next, shortest);
  if (!r->stop) check_forced(r);
}

static void check_borrow(run *r) {
  const uint32_t *words;
  uint64_t id, again;
  tsl_matcher *m = r->side[r->now].matcher;
  size_t size = tsl_vocab_mask_words(r->vocab) * sizeof *words;
  if (limited(r, tsl_matcher_mask_borrow(m, &words, &id)) ||
      limited(r, tsl_matcher_mask(m, r->mine)))
    return;
  lockstep_require(!memcmp(words, r->mine, size), "the borrowed mask differs");
  memcpy(r->naive, words, size);
  unsigned other = (r->now + 1) % r->sides;
  if (limited(r, tsl_matcher_mask_borrow(r->side[other].matcher, &words, &again))) return;
  lockstep_require((id == again) == !memcmp(r->naive, words, size), "the identity of a mask");
}

/* One batch call for all copies, with rows longer than a mask and one row without a matcher. */
static void check_batch(run *r) {
  size_t words = tsl_vocab_mask_words(r->vocab), stride = words + 3;
  tsl_matcher *matchers[MATCHERS + 1] = {0};
  tsl_status statuses[MATCHERS + 1];
  uint32_t *rows = malloc((MATCHERS + 1) * stride * sizeof *rows);
  lockstep_require(rows != NULL, "no memory");
  memset(rows, 0xA5, (MATCHERS + 1) * stride * sizeof *rows);
  /* row 1 is nobody's */
  for (unsigned i = 0; i < r->sides; i++) matchers[i + (i > 0)] = r->side[i].matcher;
  tsl_status status = tsl_batch_mask(NULL, matchers, r->sides + 1u, rows, stride, statuses);
  if (!limited(r, status)) {
    for (unsigned i = 0; i < r->sides && !r->stop; i++) {
      const uint32_t *row = rows + (i + (i > 0)) * stride;
      if (limited(r, tsl_matcher_mask(r->side[i].matcher, r->mine))) break;
      lockstep_require(!memcmp(row, r->mine, words * sizeof *row), "a mask of a batch differs");
      lockstep_require(!row[words] && !row[words + 2], "a row of a batch is not padded with zeros");
    }
    for (size_t i = 0; i < stride; i++)
      lockstep_require(rows[stride + i] == 0xA5A5A5A5u, "a row of nobody is written");
  }
  free(rows);
}

static void begin_anew(run *r) {
  side *s = &r->side[r->now];
  tsl_matcher_reset(s->matcher);
  s->n = 0;
  s->ended = false;
  oracle_follow(r);
}

static void another_goes_first(run *r) {
  tsl_matcher *m;
  lockstep_require(tsl_matcher_new(r->grammar, NULL, &m) == TSL_OK, "no matcher");
  for (int i = 0; i < 4 && !limited(r, tsl_matcher_mask(m, r->mine)); i++) {
    size_t count = tsl_mask_count(r->mine, r->vocab->size);
    if (!count || limited(r, tsl_matcher_accept(m, nth_token(r->mine, count / 2)))) break;
  }
  tsl_matcher_free(m);
}

static void command(run *r) {
  uint8_t c = next_byte(r);
  unsigned number = c >> 4;
  switch (c & 15) {
  case 5: check_batch(r); break;
  case 6: accept_any(r); break;
  case 7: roll_back(r, number); break;
  case 8: fork_side(r); break;
  case 9:
    r->now = number % r->sides;
    oracle_follow(r);
    break;
  case 10: validate(r, number); break;
  case 11: accept_bytes(r, number); break;
  case 12: check_questions(r); break;
  case 13: check_borrow(r); break;
  case 14: begin_anew(r); break;
  case 15: another_goes_first(r); break;
  default: accept_allowed(r); break;
  }
}

static tsl_grammar *compile_input(tsl_vocab *vocab, uint8_t kind, const char *text, size_t length) {
  static const tsl_whitespace spaces[] = {TSL_WS_ANY, TSL_WS_COMPACT, TSL_WS_BOUNDED,
                                          TSL_WS_PRETTY};
  bool plain = kind & 1; /* the spelling; and white space, where that is any otherwise */
  const tsl_limits limits = {.max_memory = 64 << 20, .max_steps = 200000};
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_status status;
  if ((kind & 3) == 2) {
    const tsl_regex_options options = {
        .search = kind & 4, .case_insensitive = kind & 8, .dot_all = kind & 16};
    status = tsl_grammar_regex(vocab, text, length, &options, &limits, &g, &error);
  } else if ((kind & 3) == 3) {
    status = tsl_grammar_gbnf(vocab, text, length, NULL, &limits, &g, &error);
  } else {
    const tsl_schema_options options = {
        .order = kind & 4 ? TSL_ORDER_ANY : TSL_ORDER_SCHEMA,
        .whitespace = plain && !(kind >> 3 & 3) ? TSL_WS_PLAIN : spaces[kind >> 3 & 3],
        .whitespace_max = 2,
        .spelling = plain ? TSL_SPELLING_PLAIN : TSL_SPELLING_ANY,
        .indent = 2,
        .max_nesting = kind & 32 ? 3 : 0,
        .nullable = (kind & 64) != 0,
        .repeated_names = (kind & 128) == 0};
    status = tsl_grammar_json_schema(vocab, text, length, &options, &limits, &g, &error);
  }
  lockstep_require((g != NULL) == (status == TSL_OK) && error.status == status &&
                       (!status || error.message[0]),
                   "an error that is not filled");
  return g;
}

/* From how many tokens on a trie is read along its table, and from how much work on a walk is a
 * reference to others. */
static void set_least(const tsl_grammar *g, bool least) {
  tsl__linear *l = g->space->parent ? g->space->parent->warm.linear : NULL;
  if (l) l->least = least ? 1 : TSL__LINEAR_TOKENS;
  if (least) g->space->walking.delta_work = 1;
}

unsigned lockstep_run(tsl_vocab *vocab, const uint8_t *data, size_t size) {
  run r = {.vocab = vocab, .sides = 1};
  if (size < 2) return 0;
  const uint8_t *text = data + 1, *zero = memchr(text, 0, size - 1);
  size_t length = zero ? (size_t)(zero - text) : size - 1;
  r.grammar = compile_input(vocab, data[0], (const char *)text, length);
  if (!r.grammar) return 0;
  set_least(r.grammar, data[size - 1] & 1);
  r.mine = malloc(tsl_vocab_mask_words(vocab) * sizeof *r.mine);
  r.naive = malloc(tsl_vocab_mask_words(vocab) * sizeof *r.naive);
  lockstep_require(r.mine && r.naive &&
                       tsl_matcher_new(r.grammar, NULL, &r.side[0].matcher) == TSL_OK,
                   "no matcher");
  r.at = zero ? zero + 1 : data + size;
  r.end = data + size;
  oracle_follow(&r);
  /* a grammar without commands is walked a little */
  for (int i = 0; i < 6 && r.at == r.end && !r.stop; i++) accept_allowed(&r);
  while (r.at < r.end && !r.stop) command(&r);
  const char *twice = r.stop ? NULL : tables_have_twice(r.grammar->space);
  if (twice) fprintf(stderr, "  %s\n", twice);
  lockstep_require(!twice, "something is in a table twice");
  for (unsigned i = 0; i < r.sides; i++) tsl_matcher_free(r.side[i].matcher);
  oracle_free(&r.oracle);
  free(r.mine);
  free(r.naive);
  tsl_grammar_release(r.grammar);
  return r.masks;
}
