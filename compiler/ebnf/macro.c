/* macro.c - Regex, Substring, Token, ExcludeToken, TagDispatch and TokenTagDispatch.
 *
 * Problem   A macro looks like a call: a name, and arguments in parentheses, some of them by name.
 *           Each has arguments of its own kind.
 * Idea      One reader for each macro, and a list of them. Strings, tokens and triggers go to
 *           arrays of the reader, which are empty between macros.
 * Example   TagDispatch(("<a>", rule_a), excludes=("x", "y"), loop_after_dispatch=false).
 *           Regex("a.c", flags="s"): with flags, `.` is any character only if 's' is among them.
 *           Token(5, 7, 5): tokens 5 and 7.
 * Steps     Of that TagDispatch: the list of macros finds its reader by the name. "<a>" goes to
 *           r->bytes, and a trigger notes where it lies there, and the rule rule_a. `excludes`
 *           puts x and y into r->strings. `loop_after_dispatch` is the flag that
 *           tsl__ebnf_dispatch gets. The next macro's `begin` empties the three arrays.
 * Refused   json_string=true of Regex: what XGrammar makes of it depends on how it reads the
 *           pattern, which no document says. A JSON Schema with `pattern` is the way to it.
 * Cost      Linear in the text, and what the regular expression costs.
 * Tested by tests/ebnf/test_ebnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/ebnf/reader.h"
#include "compiler/regex/regex.h"

#define peek tsl__ebnf_peek
#define take tsl__ebnf_take
#define FAIL TSL__EBNF_FAIL

/* ---- arguments ------------------------------------------------------------------------------- */

/* Behind `name =`; false: something else stands here. */
static bool take_named(tsl__ebnf *r, const char *name) {
  size_t start = r->at, length = tsl__ebnf_name(r);
  if (length != strlen(name) || memcmp(r->text + start, name, length) != 0) return false;
  r->at += length;
  tsl__ebnf_space(r);
  if (take(r, '=')) return tsl__ebnf_space(r), true;
  r->at = start;
  return false;
}

/* The ',' between arguments, or the end of them; false: they are over. */
static bool more(tsl__ebnf *r, size_t start) {
  tsl__ebnf_space(r);
  if (tsl__ebnf_over(r)) return false;
  if (take(r, ',')) return tsl__ebnf_space(r), true;
  if (!take(r, ')'))
    FAIL(r, peek(r) < 0 ? start : r->at,
         peek(r) < 0 ? "the arguments of a macro end with ')'" : "expected ',' or ')'");
  return false;
}

/* Begin the arguments; false: there are none. */
static bool begin(tsl__ebnf *r) {
  r->bytes.n = 0;
  r->strings.n = 0;
  r->firsts.n = 0;
  r->tokens.n = 0;
  r->triggers.n = 0;
  return tsl__ebnf_expect(r, '(', "behind the name of a macro") && !take(r, ')');
}

static bool boolean(tsl__ebnf *r) {
  size_t start = r->at, length = tsl__ebnf_name(r);
  r->at += length;
  if (length == 4 && !memcmp(r->text + start, "true", 4)) return true;
  if (length != 5 || memcmp(r->text + start, "false", 5) != 0)
    FAIL(r, start, "expected true or false");
  return false;
}

static void token_id(tsl__ebnf *r) {
  size_t start = r->at;
  tsl_token id = tsl__ebnf_number(r, "a token id", INT32_MAX);
  if (!r->status && r->vocab && id >= tsl_vocab_size(r->vocab))
    FAIL(r, start, "the vocabulary has no token %u", id);
  if (!r->status && !tsl__vec_push(&r->alloc, &r->tokens, id)) tsl__ebnf_no_memory(r);
}

/* A string, which goes to r->strings; its place in r->bytes until all are read. */
static void string_argument(tsl__ebnf *r, bool may_be_empty) {
  size_t start = r->at;
  uint32_t first, count;
  tsl__ebnf_string(r, &first, &count);
  if (!r->status && !count && !may_be_empty) FAIL(r, start, "an empty string");
  if (!r->status && (!tsl__vec_push(&r->alloc, &r->strings, ((tsl__string){NULL, count})) ||
                     !tsl__vec_push(&r->alloc, &r->firsts, first)))
    tsl__ebnf_no_memory(r);
}

/* ( value, value, ) */
static void tuple(tsl__ebnf *r, bool strings) {
  size_t start = r->at;
  if (!tsl__ebnf_expect(r, '(', "before what is excluded") || take(r, ')')) return;
  do {
    if (take(r, ')')) return;
    if (strings)
      string_argument(r, false);
    else
      token_id(r);
  } while (more(r, start));
}

/* ---- the macros ------------------------------------------------------------------------------ */

static void regex_flags(tsl__ebnf *r, tsl__regex_flags *flags) {
  size_t start = r->at;
  uint32_t first, count;
  tsl__ebnf_string(r, &first, &count);
  flags->dot_all = false;
  for (uint32_t i = 0; i < count && !r->status; i++) {
    uint8_t c = r->bytes.at[first + i];
    flags->dot_all |= c == 's';
    flags->case_insensitive |= c == 'i';
    if (c != 's' && c != 'i' && c != 'u')
      FAIL(r, start, "a flag of a regular expression is i, s or u");
  }
}

static uint32_t regex(tsl__ebnf *r) {
  tsl__regex_flags flags = {.dot_all = true};
  size_t start = r->at, pattern = start;
  uint32_t first = 0, count = 0;
  tsl_error error;
  tsl__expr e = TSL__NONE;
  if (!begin(r)) return FAIL(r, start, "Regex has one string, the pattern"), 0;
  pattern = r->at;
  tsl__ebnf_string(r, &first, &count);
  while (!r->status && more(r, start)) {
    size_t at = r->at;
    if (take_named(r, "flags"))
      regex_flags(r, &flags);
    else if (!take_named(r, "json_string"))
      FAIL(r, at, "Regex has flags and json_string behind the pattern, and nothing else");
    else if (boolean(r))
      TSL__EBNF_UNSUPPORTED(r, at,
                            "json_string=true is not supported: use a JSON Schema with "
                            "\"pattern\"");
  }
  if (tsl__ebnf_over(r)) return 0;
  tsl_status status =
      tsl__regex_compile(r->x, (const char *)r->bytes.at + first, count, &flags, &e, &error);
  if (status == TSL_ERR_SYNTAX || status == TSL_ERR_UNSUPPORTED)
    r->status =
        tsl__fail_at(r->error, status, r->text, r->length, pattern,
                     "in the regular expression, at byte %zu: %.300s", error.offset, error.message);
  else if (status)
    r->status = tsl__fail(r->error, status, "%s", error.message);
  return tsl__ebnf_over(r) ? 0 : tsl__gbnf_node(r->g, TSL__G_EXPR, e, 0, 0);
}

/* All is read: r->bytes does not move any more. */
static void settle_strings(tsl__ebnf *r) {
  for (size_t i = 0; i < r->strings.n; i++)
    r->strings.at[i].at = (const char *)r->bytes.at + r->firsts.at[i];
}

static uint32_t substring(tsl__ebnf *r) {
  size_t start = r->at;
  if (begin(r)) do
      string_argument(r, true);
    while (more(r, start));
  if (tsl__ebnf_over(r)) return 0;
  settle_strings(r);
  tsl__expr e = tsl__lark_substring(r->x, r->strings.at, (uint32_t)r->strings.n);
  return tsl__ebnf_over(r) ? 0 : tsl__gbnf_node(r->g, TSL__G_EXPR, e, 0, 0);
}

static uint32_t token_set(tsl__ebnf *r, bool others) {
  size_t start = r->at;
  if (!begin(r)) return FAIL(r, start, "a token id is missing"), 0;
  do token_id(r);
  while (more(r, start));
  return tsl__ebnf_tokens(r, others);
}

/* ( "text", rule ), or ( 7, rule ) */
static void trigger(tsl__ebnf *r, bool strings) {
  tsl__ebnf_trigger t = {0};
  size_t start = r->at;
  if (!tsl__ebnf_expect(r, '(', "before a trigger and its rule")) return;
  if (strings) {
    tsl__ebnf_string(r, &t.first, &t.count);
    if (!r->status && !t.count) FAIL(r, start, "an empty trigger");
  } else {
    token_id(r);
    t.token = r->status ? 0 : r->tokens.at[--r->tokens.n];
  }
  if (!tsl__ebnf_expect(r, ',', "between a trigger and its rule")) return;
  t.at = r->at;
  t.rule = tsl__ebnf_mention(r);
  tsl__ebnf_space(r);
  if (take(r, ',')) tsl__ebnf_space(r);
  if (!r->status && !take(r, ')')) FAIL(r, r->at, "expected ')' behind a trigger and its rule");
  if (!r->status && !tsl__vec_push(&r->alloc, &r->triggers, t)) tsl__ebnf_no_memory(r);
}

/* Its arguments; false after a failure. */
static bool dispatch_arguments(tsl__ebnf *r, bool strings, bool *loop) {
  size_t start = r->at;
  bool excluded = false;
  *loop = true;
  if (begin(r)) do {
      size_t at = r->at;
      if (take_named(r, "loop_after_dispatch")) {
        *loop = boolean(r);
      } else if (take_named(r, "excludes")) {
        if (excluded) FAIL(r, at, "excludes is given twice");
        excluded = true;
        tuple(r, strings);
      } else {
        trigger(r, strings);
      }
    } while (more(r, start));
  return !tsl__ebnf_over(r);
}

static uint32_t tag_dispatch(tsl__ebnf *r) {
  size_t start = r->at;
  bool loop;
  if (!dispatch_arguments(r, true, &loop)) return 0;
  settle_strings(r);
  for (size_t i = 0; i < r->strings.n; i++)
    for (size_t k = 0; k < r->triggers.n; k++) {
      const tsl__ebnf_trigger *t = &r->triggers.at[k];
      tsl__string s = r->strings.at[i];
      if (!tsl__exprs_work(r->x, 1)) return tsl__ebnf_over(r), 0;
      if (s.length <= t->count && !memcmp(r->bytes.at + t->first, s.at, s.length))
        return FAIL(r, start, "a trigger begins with a text that is excluded: \"%.*s\"",
                    (int)(s.length < 100 ? s.length : 100), s.at),
               0;
    }
  return tsl__ebnf_dispatch(r, loop);
}

/* Free tokens, those that are excluded and the triggers left out. */
static uint32_t free_tokens(tsl__ebnf *r) {
  for (size_t i = 0; i < r->triggers.n; i++)
    if (!tsl__vec_push(&r->alloc, &r->tokens, r->triggers.at[i].token)) tsl__ebnf_no_memory(r);
  uint32_t one = tsl__ebnf_tokens(r, true);
  return r->status ? 0 : tsl__gbnf_node(r->g, TSL__G_REPEAT, one, 0, TSL__INF);
}

static uint32_t token_trigger(tsl__ebnf *r, const tsl__ebnf_trigger *t) {
  if (!tsl__vec_push(&r->alloc, &r->tokens, t->token)) tsl__ebnf_no_memory(r);
  uint32_t token = tsl__ebnf_tokens(r, false);
  if (r->status) return 0;
  return tsl__gbnf_pair(r->g, token, tsl__gbnf_node(r->g, TSL__G_REF, t->rule, (uint32_t)t->at, 0));
}

static uint32_t token_dispatch(tsl__ebnf *r) {
  size_t start = r->at, base = r->pending.n;
  bool loop;
  if (!dispatch_arguments(r, false, &loop)) return 0;
  for (size_t i = 0; i < r->tokens.n; i++)
    for (size_t k = 0; k < r->triggers.n; k++) {
      if (!tsl__exprs_work(r->x, 1)) return tsl__ebnf_over(r), 0;
      if (r->tokens.at[i] == r->triggers.at[k].token)
        return FAIL(r, start, "token %u is a trigger, and excluded", r->tokens.at[i]), 0;
    }
  uint32_t text = free_tokens(r);
  for (size_t i = 0; i < r->triggers.n && !tsl__ebnf_over(r); i++)
    if (!tsl__vec_push(&r->alloc, &r->pending, token_trigger(r, &r->triggers.at[i])))
      tsl__ebnf_no_memory(r);
  uint32_t node = 0;
  if (!r->status && r->triggers.n) {
    uint32_t calls =
        tsl__gbnf_list(r->g, TSL__G_ALT, r->pending.at + base, (uint32_t)r->triggers.n);
    uint32_t once = tsl__gbnf_pair(r->g, text, calls);
    node = loop ? tsl__gbnf_pair(r->g, tsl__gbnf_node(r->g, TSL__G_REPEAT, once, 0, TSL__INF), text)
                : tsl__gbnf_list(r->g, TSL__G_ALT, (uint32_t[]){once, text}, 2);
  }
  r->pending.n = base;
  return tsl__ebnf_over(r) ? 0 : r->triggers.n ? node : text;
}

static bool is(const tsl__ebnf *r, size_t length, const char *name) {
  return length == strlen(name) && !memcmp(r->text + r->at, name, length);
}

bool tsl__ebnf_macro(tsl__ebnf *r, size_t length, uint32_t *node) {
  static const char *const names[] = {"Regex",        "Substring",   "Token",
                                      "ExcludeToken", "TagDispatch", "TokenTagDispatch"};
  size_t which = 0;
  while (which < sizeof names / sizeof *names && !is(r, length, names[which])) which++;
  if (which == sizeof names / sizeof *names) return false;
  r->at += length;
  switch (which) {
  case 0: *node = regex(r); break;
  case 1: *node = substring(r); break;
  case 2: *node = token_set(r, false); break;
  case 3: *node = token_set(r, true); break;
  case 4: *node = tag_dispatch(r); break;
  default: *node = token_dispatch(r); break;
  }
  return true;
}
