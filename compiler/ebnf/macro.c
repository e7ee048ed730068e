/* macro.c - Regex, Substring, Token, ExcludeToken, TagDispatch and TokenTagDispatch.
 *
 * Problem   A macro looks like a call: a name, and arguments in parentheses, some of them by name.
 *           Each has arguments of its own kind.
 * Idea      One reader for each macro, and a list of them. Strings, tokens and triggers go to
 *           arrays of the reader, which are empty between macros.
 * Example   TagDispatch(("<a>", rule_a), excludes=("x", "y"), loop_after_dispatch=false).
 *           Regex("a.c", flags="s"): with flags, `.` is any character only if 's' is among them.
 *           Token(5, 7, 5): tokens 5 and 7.
 * Steps     Of that TagDispatch: the list of macros finds its reader by the name. "<a>" goes to the
 *           grammar's bytes. A trigger notes where it lies there, and the rule rule_a. `excludes`
 *           puts x and y into r->strings. `loop_after_dispatch` is the flag that
 *           tsl__ebnf_dispatch gets. The next macro's `begin` empties the lists.
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
  size_t start = r->in.at;
  if (!tsl__ebnf_take_name(r, name)) return false;
  tsl__ebnf_space(r);
  if (take(r, '=')) return tsl__ebnf_space(r), true;
  r->in.at = start;
  return false;
}

/* The ',' between arguments, or the end of them; false: they are over. */
static bool more(tsl__ebnf *r, size_t start) {
  tsl__ebnf_space(r);
  if (tsl__ebnf_over(r)) return false;
  if (take(r, ',')) return tsl__ebnf_space(r), true;
  if (!take(r, ')'))
    FAIL(r, peek(r) < 0 ? start : r->in.at,
         peek(r) < 0 ? "the arguments of a macro end with ')'" : "expected ',' or ')'");
  return false;
}

/* Begin the arguments; false: there are none. */
static bool begin(tsl__ebnf *r) {
  r->strings.n = 0;
  r->firsts.n = 0;
  r->tokens.n = 0;
  r->triggers.n = 0;
  return tsl__ebnf_expect(r, '(', "behind the name of a macro") && !take(r, ')');
}

static bool boolean(tsl__ebnf *r) {
  if (tsl__ebnf_take_name(r, "true")) return true;
  if (!tsl__ebnf_take_name(r, "false")) FAIL(r, r->in.at, "expected true or false");
  return false;
}

/* A string, which goes to r->strings; its place in r->bytes until all are read. */
static void string_argument(tsl__ebnf *r, bool may_be_empty) {
  size_t start = r->in.at;
  uint32_t first, count;
  tsl__greader_string(&r->in, &first, &count);
  if (!r->in.status && !count && !may_be_empty) FAIL(r, start, "an empty string");
  if (!r->in.status && (!tsl__vec_push(&r->in.alloc, &r->strings, ((tsl__string){NULL, count})) ||
                        !tsl__vec_push(&r->in.alloc, &r->firsts, first)))
    tsl__ebnf_no_memory(r);
}

/* ( value, value, ) */
static void tuple(tsl__ebnf *r, bool strings) {
  size_t start = r->in.at;
  if (!tsl__ebnf_expect(r, '(', "before what is excluded") || take(r, ')')) return;
  do {
    if (take(r, ')')) return;
    if (strings)
      string_argument(r, false);
    else
      tsl__ebnf_add_token(r, tsl__greader_token_id(&r->in));
  } while (more(r, start));
}

/* ---- the macros ------------------------------------------------------------------------------ */

static void regex_flags(tsl__ebnf *r, tsl__regex_flags *flags) {
  size_t start = r->in.at;
  uint32_t first, count;
  tsl__greader_string(&r->in, &first, &count);
  flags->dot_all = false;
  for (uint32_t i = 0; i < count && !r->in.status; i++) {
    uint8_t c = r->in.g->bytes.at[first + i];
    flags->dot_all |= c == 's';
    flags->case_insensitive |= c == 'i';
    if (c != 's' && c != 'i' && c != 'u')
      FAIL(r, start, "a flag of a regular expression is i, s or u");
  }
}

static uint32_t regex(tsl__ebnf *r) {
  tsl__regex_flags flags = {.dot_all = true};
  size_t start = r->in.at, pattern;
  uint32_t first = 0, count = 0;
  tsl_error error;
  tsl__expr e = TSL__NONE;
  if (!begin(r)) return FAIL(r, start, "Regex has one string, the pattern"), 0;
  pattern = r->in.at;
  tsl__greader_string(&r->in, &first, &count);
  while (!r->in.status && more(r, start)) {
    size_t at = r->in.at;
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
  tsl_status status = tsl__regex_compile(r->in.x, (const char *)r->in.g->bytes.at + first, count,
                                         &flags, &e, &error);
  if (status == TSL_ERR_SYNTAX || status == TSL_ERR_UNSUPPORTED)
    r->in.status =
        tsl__fail_at(r->in.error, status, r->in.text, r->in.length, pattern,
                     "in the regular expression, at byte %zu: %.300s", error.offset, error.message);
  else if (status)
    r->in.status = tsl__fail(r->in.error, status, "%s", error.message);
  return tsl__ebnf_over(r) ? 0 : tsl__gbnf_node(r->in.g, TSL__G_EXPR, e, 0, 0);
}

/* All is read: the grammar's bytes do not move any more. */
static void settle_strings(tsl__ebnf *r) {
  for (size_t i = 0; i < r->strings.n; i++)
    r->strings.at[i].at = (const char *)r->in.g->bytes.at + r->firsts.at[i];
}

static uint32_t substring(tsl__ebnf *r) {
  size_t start = r->in.at;
  if (begin(r)) do
      string_argument(r, true);
    while (more(r, start));
  if (tsl__ebnf_over(r)) return 0;
  settle_strings(r);
  tsl__expr e = tsl__lark_substring(r->in.x, r->strings.at, (uint32_t)r->strings.n);
  return tsl__ebnf_over(r) ? 0 : tsl__gbnf_node(r->in.g, TSL__G_EXPR, e, 0, 0);
}

static uint32_t token_set(tsl__ebnf *r, bool others) {
  size_t start = r->in.at;
  if (!begin(r)) return FAIL(r, start, "a token id is missing"), 0;
  do tsl__ebnf_add_token(r, tsl__greader_token_id(&r->in));
  while (more(r, start));
  return tsl__ebnf_tokens(r, others);
}

/* ( "text", rule ), or ( 7, rule ) */
static void trigger(tsl__ebnf *r, bool strings) {
  tsl__ebnf_trigger t = {0};
  size_t start = r->in.at;
  if (!tsl__ebnf_expect(r, '(', "before a trigger and its rule")) return;
  if (strings) {
    tsl__greader_string(&r->in, &t.first, &t.count);
    if (!r->in.status && !t.count) FAIL(r, start, "an empty trigger");
  } else {
    t.token = tsl__greader_token_id(&r->in);
  }
  if (!tsl__ebnf_expect(r, ',', "between a trigger and its rule")) return;
  t.at = r->in.at;
  t.rule = tsl__ebnf_mention(r);
  tsl__ebnf_space(r);
  if (take(r, ',')) tsl__ebnf_space(r);
  if (!r->in.status && !take(r, ')'))
    FAIL(r, r->in.at, "expected ')' behind a trigger and its rule");
  if (!r->in.status && !tsl__vec_push(&r->in.alloc, &r->triggers, t)) tsl__ebnf_no_memory(r);
}

/* Read the arguments of a dispatch; false after a failure. */
static bool dispatch_arguments(tsl__ebnf *r, bool strings, bool *loop) {
  size_t start = r->in.at;
  bool excluded = false;
  *loop = true;
  if (begin(r)) do {
      size_t at = r->in.at;
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
  size_t start = r->in.at;
  bool loop;
  if (!dispatch_arguments(r, true, &loop)) return 0;
  settle_strings(r);
  for (size_t i = 0; i < r->strings.n; i++)
    for (size_t k = 0; k < r->triggers.n; k++) {
      const tsl__ebnf_trigger *t = &r->triggers.at[k];
      tsl__string s = r->strings.at[i];
      if (!tsl__exprs_work(r->in.x, 1)) return tsl__ebnf_over(r), 0;
      if (s.length <= t->count && !memcmp(r->in.g->bytes.at + t->first, s.at, s.length))
        return FAIL(r, start, "a trigger begins with a text that is excluded: \"%.*s\"",
                    (int)(s.length < 100 ? s.length : 100), s.at),
               0;
    }
  return tsl__ebnf_dispatch(r, loop);
}

/* Free tokens, those that are excluded and the triggers left out. */
static uint32_t free_tokens(tsl__ebnf *r) {
  for (size_t i = 0; i < r->triggers.n; i++) tsl__ebnf_add_token(r, r->triggers.at[i].token);
  uint32_t one = tsl__ebnf_tokens(r, true);
  return r->in.status ? 0 : tsl__gbnf_node(r->in.g, TSL__G_REPEAT, one, 0, TSL__INF);
}

static uint32_t token_trigger(tsl__ebnf *r, const tsl__ebnf_trigger *t) {
  tsl__ebnf_add_token(r, t->token);
  uint32_t token = tsl__ebnf_tokens(r, false);
  if (r->in.status) return 0;
  return tsl__gbnf_pair(r->in.g, token,
                        tsl__gbnf_node(r->in.g, TSL__G_REF, t->rule, (uint32_t)t->at, 0));
}

static uint32_t token_dispatch(tsl__ebnf *r) {
  size_t start = r->in.at, base = r->in.pending.n;
  bool loop;
  if (!dispatch_arguments(r, false, &loop)) return 0;
  for (size_t i = 0; i < r->tokens.n; i++)
    for (size_t k = 0; k < r->triggers.n; k++) {
      if (!tsl__exprs_work(r->in.x, 1)) return tsl__ebnf_over(r), 0;
      if (r->tokens.at[i] == r->triggers.at[k].token)
        return FAIL(r, start, "token %u is a trigger, and excluded", r->tokens.at[i]), 0;
    }
  uint32_t text = free_tokens(r);
  for (size_t i = 0; i < r->triggers.n && !tsl__ebnf_over(r); i++)
    tsl__greader_pend(&r->in, token_trigger(r, &r->triggers.at[i]));
  uint32_t node = 0;
  if (!r->in.status && r->triggers.n) {
    uint32_t calls =
        tsl__gbnf_list(r->in.g, TSL__G_ALT, r->in.pending.at + base, (uint32_t)r->triggers.n);
    uint32_t once = tsl__gbnf_pair(r->in.g, text, calls);
    node = loop ? tsl__gbnf_pair(r->in.g, tsl__gbnf_node(r->in.g, TSL__G_REPEAT, once, 0, TSL__INF),
                                 text)
                : tsl__gbnf_list(r->in.g, TSL__G_ALT, (uint32_t[]){once, text}, 2);
  }
  r->in.pending.n = base;
  return tsl__ebnf_over(r) ? 0 : r->triggers.n ? node : text;
}

bool tsl__ebnf_macro(tsl__ebnf *r, uint32_t *node) {
  static const char *const names[] = {"Regex",        "Substring",   "Token",
                                      "ExcludeToken", "TagDispatch", "TokenTagDispatch"};
  size_t which = 0;
  while (which < sizeof names / sizeof *names && !tsl__ebnf_take_name(r, names[which])) which++;
  if (which == sizeof names / sizeof *names) return false;
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
