/* expr.h - what is left to match: interned expressions over bytes.
 *
 * Problem   A grammar must be followed byte by byte, in any state, with no state built that no
 *           generation visits.
 * Idea      An expression denotes the language that may still follow. Reading a byte replaces it by
 *           its Brzozowski derivative. All expressions are hash-consed, so that equal ones are one
 *           number, derivatives meet again, and a table of derivatives is a DFA that builds itself.
 *           `and` and `not` need no construction of their own: D_b(a & b) = D_b(a) & D_b(b).
 * Calls     A RULE stands for an expression that is unfolded on the first visit. `rule · k`, where
 *           k is not ε, is a call. The matcher pushes k and goes on with the rule's body, which has
 *           its own frame, shared by all callers. A RULE that is last replaces the frame (tail
 *           call).
 * Empty     An expression whose language is empty is always TSL__NONE: constructors simplify,
 *           `and`/`not` search the derivative graph (empty.c), rules are productive by contract. So
 *           "not NONE" means "can still be completed".
 * Counters  repeat{m,n} with large bounds is not unrolled. Once entered, the loop becomes COUNTED:
 *           a register of the frame holds the number of iterations begun (see deriv.h).
 *
 * Example   D_a( a(b|c)* ) = (b|c)*;  D_b( (b|c)* ) = (b|c)*: two states.
 * Cost      A constructor is one hash probe; a node is 32 bytes.
 * Failure   Sticky: when memory or a limit runs out, constructors return TSL__NONE and
 *           tsl__exprs_status says so; check it once, before a result is used. (RE2 and zstd do the
 *           same: code that builds stays readable.)
 * Layers    A tsl__exprs may have a frozen parent (the vocabulary's shared one): ids below parent's
 *           count belong to it and are found, never made again.
 * Refs      Owens, Reppy, Turon 2009 "Regular-expression derivatives re-examined".
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_EXPR_EXPR_H
#define TSL_COMPILER_EXPR_EXPR_H

#include "runtime/core/base.h"

typedef uint32_t tsl__expr;
typedef struct tsl__exprs tsl__exprs;

#define TSL__NONE 0u /* ∅: no text at all */
#define TSL__EPS 1u  /* ε: the empty text */
#define TSL__INF UINT32_MAX
/* Sums and products that saturate there. */
static inline uint32_t tsl__add(uint32_t a, uint32_t b) {
  return a > TSL__INF - b ? TSL__INF : a + b;
}
static inline uint32_t tsl__multiply(uint32_t a, uint32_t b) {
  uint64_t product = (uint64_t)a * b;
  return product > TSL__INF ? TSL__INF : (uint32_t)product;
}

/* A set of code points: sorted, disjoint, non-adjacent ranges. See charset.h. */
struct tsl__charset;
struct tsl__meaning;
struct tsl__calls;

/* `parent` (may be NULL) must be frozen and outlive x. `max_steps` and `max_memory` of `limits`
 * bound it (NULL = defaults). */
tsl_status tsl__exprs_new(const tsl__exprs *parent, const tsl_allocator *allocator,
                          const tsl_limits *limits, tsl__exprs **out);
void tsl__exprs_free(tsl__exprs *x);
size_t tsl__exprs_memory(const tsl__exprs *x);
tsl_status tsl__exprs_status(const tsl__exprs *x);
/* Make the failure stick (front ends use it for limits of their own). `what` is a string that
 * outlives x. */
void tsl__exprs_fail(tsl__exprs *x, tsl_status status, const char *what);
const char *tsl__exprs_why(const tsl__exprs *x);
/* Forget a failure of the status UNSUPPORTED, for a caller that tries something else. Work, limits
 * and deadline count on. */
void tsl__exprs_forgive(tsl__exprs *x);
/* Say more about the failure. */
void tsl__exprs_explain(tsl__exprs *x, const char *why);
/* What one piece of work may take from here on; returns what it might. */
uint64_t tsl__exprs_bound(tsl__exprs *x, uint64_t max_steps);
/* What it took so far. */
uint64_t tsl__exprs_steps(const tsl__exprs *x);
/* The present piece of work must end at `deadline` (0: never). */
void tsl__exprs_end_by(tsl__exprs *x, uint64_t deadline);
/* What ends the present piece of work early. */
tsl__until tsl__exprs_until(const tsl__exprs *x);
/* Count work of a front end, by things touched; steps and time are looked at now and then (sticky
 * failure). False: stop, because something has failed. */
bool tsl__exprs_work(tsl__exprs *x, uint64_t things);
/* The front end holds so many bytes beside x: they count against max_memory. */
void tsl__exprs_hold(tsl__exprs *x, size_t bytes);
size_t tsl__exprs_held(const tsl__exprs *x);
const tsl_allocator *tsl__exprs_allocator(const tsl__exprs *x);
/* Memory that lives as long as x (contexts of rules, keys). NULL when out of memory (sticky). */
void *tsl__exprs_alloc(tsl__exprs *x, size_t size);
/* One pointer per layer for the front ends' own shared things, and the frozen layer below (NULL if
 * there is none). */
void tsl__exprs_set_user(tsl__exprs *x, void *user);
void *tsl__exprs_user(const tsl__exprs *x);
const tsl__exprs *tsl__exprs_parent(const tsl__exprs *x);
/* Have `destroy(ctx)` called when x is freed; called at once if this fails. */
bool tsl__exprs_own(tsl__exprs *x, void *ctx, void (*destroy)(void *ctx));
/* All of `arena` belongs to x from now on; `hooks` takes from where it went. */
void tsl__exprs_absorb(tsl__exprs *x, tsl__arena *arena, tsl_allocator *hooks);

/* ---- regular expressions over bytes ---------------------------------------------------------- */

tsl__expr tsl__expr_bytes(tsl__exprs *x, const tsl__bytes *set);
tsl__expr tsl__expr_range(tsl__exprs *x, uint8_t lo, uint8_t hi); /* both ends included */
tsl__expr tsl__expr_literal(tsl__exprs *x, const void *bytes, size_t length);
tsl__expr tsl__expr_seq(tsl__exprs *x, tsl__expr a, tsl__expr b);
tsl__expr tsl__expr_alt(tsl__exprs *x, tsl__expr a, tsl__expr b);
/* The same, for one place. Where b is of keys (tsl__expr_keys) or was made of them like this,
 * nobody will look for the node by its content. */
tsl__expr tsl__expr_seq_alone(tsl__exprs *x, tsl__expr a, tsl__expr b);
tsl__expr tsl__expr_alt_alone(tsl__exprs *x, tsl__expr a, tsl__expr b);
tsl__expr tsl__expr_alt_n(tsl__exprs *x, const tsl__expr *e, size_t n);
/* a{min,max}; max may be TSL__INF. */
tsl__expr tsl__expr_repeat(tsl__exprs *x, tsl__expr a, uint32_t min, uint32_t max);
#define tsl__expr_star(x, a) tsl__expr_repeat((x), (a), 0, TSL__INF)
#define tsl__expr_opt(x, a) tsl__expr_alt((x), (a), TSL__EPS)
/* What may follow these bytes in a text of `e`; NONE: no text begins with them. Tokens are not
 * spelled: a text that begins with one counts for nothing. (after.c) */
tsl__expr tsl__expr_after(tsl__exprs *x, tsl__expr e, const void *bytes, size_t length);
/* Intersection and complement (of all byte strings): of expressions without rules and tokens
 * only. */
tsl__expr tsl__expr_and(tsl__exprs *x, tsl__expr a, tsl__expr b);
/* The same where the caller knows that there is a text: none is searched for. */
tsl__expr tsl__expr_and_some(tsl__exprs *x, tsl__expr a, tsl__expr b);
tsl__expr tsl__expr_not(tsl__exprs *x, tsl__expr a);

/* ---- code points ----------------------------------------------------------------------------- */

/* One code point out of the set, as UTF-8. Surrogates are left out. */
tsl__expr tsl__expr_charset(tsl__exprs *x, const struct tsl__charset *set);
tsl__expr tsl__expr_any_char(tsl__exprs *x); /* any code point */
tsl__expr tsl__expr_text(tsl__exprs *x);     /* any valid UTF-8 text: any_char* */
/* Texts that `a` does not match: text & !a. */
tsl__expr tsl__expr_text_not(tsl__exprs *x, tsl__expr a);

/* ---- sets of strings ------------------------------------------------------------------------- */

/* A sorted, immutable array of distinct strings (property names, enum values), bytes of UTF-8. Its
 * index is the position in sorted order (memcmp, shorter first). */
typedef uint32_t tsl__stringset;
/* Copies, sorts and removes doubles. `order` (may be NULL) receives for each input its index in the
 * set. */
tsl__stringset tsl__stringset_new(tsl__exprs *x, const tsl__string *strings, size_t n,
                                  uint32_t *order);
/* The same of texts that stay where they are as long as x: they are not copied. */
tsl__stringset tsl__stringset_over(tsl__exprs *x, const tsl__string *strings, size_t n,
                                   uint32_t *order);
uint32_t tsl__stringset_size(const tsl__exprs *x, tsl__stringset s);
tsl__string tsl__stringset_at(const tsl__exprs *x, tsl__stringset s, uint32_t index);
/* Exactly the strings of the set, as one node that is split by binary search. */
tsl__expr tsl__expr_stringset(tsl__exprs *x, tsl__stringset s);

/* ---- JSON strings ---------------------------------------------------------------------------- */

/* The rest of a JSON string, closing quote included, whose *decoded* text `text` matches (an
 * expression over UTF-8 without rules or tokens). It has every spelling: raw characters, \n, \u0041
 * and surrogate pairs. The opening quote is not part of it:
 *   seq(literal("\""), json_string(e)). */
tsl__expr tsl__expr_json_string(tsl__exprs *x, tsl__expr text);

/* A part of a JSON string whose decoded text `text` matches: as above, without the quote. Rules
 * and tokens may stand between such parts, so a grammar can be written within a string. */
tsl__expr tsl__expr_json_part(tsl__exprs *x, tsl__expr text);

/* Strings that are made from now on are plain, or not (as at first). In a plain one, an escape
 * stands only for the quote, the backslash, and what is not printable ASCII. "/" has none. For all
 * strings of a layer; what its parent made stays as it is. */
void tsl__exprs_plain_strings(tsl__exprs *x, bool plain);

/* Bytes that texts of e may hold, at least. At most some thousand parts are looked at. */
void tsl__expr_alphabet(const tsl__exprs *x, tsl__expr e, tsl__bytes *out);

/* Bytes that spell one byte of a text inside a JSON string, as short as can be. */
uint32_t tsl__spelling_cost(uint8_t b);
/* Bytes that spell a text inside a JSON string, quotes not counted, as short as can be. */
uint32_t tsl__json_spelled(const char *at, uint32_t length);

/* What follows a key. All are called while x may be changed, when a text or a token gets there. */
typedef struct tsl__keys_ops {
  /* May string `index` of the set be used? At least one may. */
  bool (*allows)(void *ctx, uint32_t param, uint32_t index);
  /* The fewest bytes over all allowed keys, quote and what comes after it included; saturating. */
  uint32_t (*fewest)(void *ctx, uint32_t param);
  /* The fewest bytes of what comes after the closing quote of that key, if it is allowed;
   * saturating. */
  uint32_t (*shortest)(void *ctx, uint32_t param, uint32_t index);
  /* What comes after the closing quote of that key; never TSL__NONE for an allowed one. */
  tsl__expr (*after)(tsl__exprs *x, void *ctx, uint32_t param, uint32_t index);
  /* The rule that `after` begins with if it is that rule and something else (*then), and nothing
   * beside; TSL__NONE: it is not, or not known. May be NULL. */
  tsl__expr (*calls)(void *ctx, uint32_t param, uint32_t index, tsl__expr *then);
  /* That rule, or another that allows the same until it has ended, and is cheaper to make;
   * TSL__NONE: none is known. NULL where `calls` is. */
  tsl__expr (*begins)(void *ctx, uint32_t param, uint32_t index);
  /* Those of 64 strings, from number 64 * `word` on, of which `allows` is known at once. *allowed
   * has those of them that may be used. May be NULL. */
  uint64_t (*allowed)(void *ctx, uint32_t param, uint32_t word, uint64_t *allowed);
} tsl__keys_ops;
/* The rest of a JSON string (after its opening quote) that spells an allowed string of the set.
 * Then come its closing quote and what follows that key. That is the union over allowed keys of
 * json_string(key) · after(key), never spelled out. It is a call of the frame in which the set's
 * strings are spelled, then RESUME. The frame does not know what is allowed, so all (ops, ctx,
 * param) share it. RESUME knows. Whoever runs the frame asks RESUME before it lets a prefix
 * through. (ctx, param) name the continuation: equal pairs must behave equally for ever. */
tsl__expr tsl__expr_keys(tsl__exprs *x, tsl__stringset set, const tsl__keys_ops *ops, void *ctx,
                         uint32_t param);
/* The same as a call: its frame, and *resume, which goes on after it. TSL__NONE on failure
 * (sticky). */
tsl__expr tsl__expr_names(tsl__exprs *x, tsl__stringset set, const tsl__keys_ops *ops, void *ctx,
                          uint32_t param, tsl__expr *resume);
/* A frame that spells the rest of a JSON string: any text but those of the set. */
tsl__expr tsl__expr_others(tsl__exprs *x, tsl__stringset set);
/* Of a RESUME (or an alternation of them): may string `index` be used, and what follows it? */
bool tsl__expr_resume_allows(tsl__exprs *x, tsl__expr resume, uint32_t index);
uint64_t tsl__expr_resume_allowed(const tsl__exprs *x, tsl__expr resume, uint32_t word,
                                  uint64_t *allowed);
uint32_t tsl__expr_resume_shortest(tsl__exprs *x, tsl__expr resume, uint32_t index);
/* The fewest bytes in which e, of a frame of names, can end as string `index`; saturating. */
uint32_t tsl__expr_name_shortest(tsl__exprs *x, tsl__expr e, uint32_t index);
tsl__expr tsl__expr_resume_after(tsl__exprs *x, tsl__expr resume, uint32_t index);
/* The rule that what follows calls, and what comes after it, as above; TSL__NONE: it may not, or is
 * no frame of its own. */
tsl__expr tsl__expr_resume_calls(tsl__exprs *x, tsl__expr resume, uint32_t index, tsl__expr *then);
/* A rule that it begins with, as above; TSL__NONE: the same. */
tsl__expr tsl__expr_resume_begins(tsl__exprs *x, tsl__expr resume, uint32_t index);
/* Is e a RESUME, or several? *names: strings in the set. */
bool tsl__expr_is_resume(const tsl__exprs *x, tsl__expr e, uint32_t *names);
bool tsl__expr_has_names(const tsl__exprs *x); /* was a frame of names made, in any layer? */

/* ---- cases ----------------------------------------------------------------------------------- */

#define TSL__CASES_MAX 32u
/* The decoded text of a JSON string, which `text` allows, for tsl__expr_json_string alone. What
 * follows its closing quote depends on which of the patterns match the whole text. ops->after gets
 * them as bits in `index`, and never returns TSL__NONE. ops->fewest is the most bytes that what
 * follows takes at least, over all cases. The other functions are not called. n is at most
 * TSL__CASES_MAX; TSL__NONE on failure (sticky). */
tsl__expr tsl__expr_cases(tsl__exprs *x, tsl__expr text, const tsl__expr *patterns, uint32_t n,
                          const tsl__keys_ops *ops, void *ctx, uint32_t param);
/* Can it be made of these? */
bool tsl__cases_possible(const tsl__exprs *x, tsl__expr text, const tsl__expr *patterns,
                         uint32_t n);

/* ---- native automata ------------------------------------------------------------------------- */

/* An automaton in C for languages that would be clumsy as expressions (numbers with bounds).
 * `param` is a number that the owner interns: equal languages should have equal params. Its
 * language is never empty. */
typedef struct tsl__native_ops {
  bool (*nullable)(void *ctx, uint32_t param);
  /* Add every byte b where behaviour may differ from byte b - 1 (0 is implied). */
  void (*boundaries)(void *ctx, uint32_t param, tsl__bytes *out);
  /* The derivative: any expression, TSL__NONE if the byte is illegal. */
  tsl__expr (*step)(tsl__exprs *x, void *ctx, uint32_t param, uint8_t byte);
  /* The fewest bytes of a member; saturates at TSL__INF. */
  uint32_t (*shortest)(void *ctx, uint32_t param);
  /* For listings: a name such as "number[1,10]"; writes at most n bytes with NUL. */
  void (*print)(void *ctx, uint32_t param, char *out, size_t n);
  /* A param with fewer differences that behaves equally over texts of at most *limit characters (so
   * that one walk serves many); NULL: none. */
  uint32_t (*like)(void *ctx, uint32_t param, uint32_t *limit);
  /* The ASCII characters that its texts can have, and what it goes on with; NULL: any. */
  const char *ascii;
  /* `param`, and whether there is a ctx, say all: the same in every grammar; and its texts are
   * UTF-8 */
  bool plain;
  /* Characters on which it goes on, whichever of them come and however many: it does not die, and
   * may end where `param` may. ASCII, and bytes from 0x80 on where all others do, too. *need: the
   * most bytes that completing it then takes. False: it is to be explored. NULL: always. */
  bool (*letters)(void *ctx, uint32_t param, tsl__bytes *out, uint32_t *need);
  /* The fewest characters of a member, and are all of them UTF-8 (they are not in the middle of a
   * character)? NULL: known by `shortest` and `plain` alone. */
  uint32_t (*characters)(void *ctx, uint32_t param, bool *texts);
  /* The most characters of a member; NULL: there may be any number. */
  uint32_t (*most)(void *ctx, uint32_t param);
  /* Add the bytes that may lead somewhere: no other does. NULL: those of `ascii`, and any from 0x80
   * on. */
  void (*live)(void *ctx, uint32_t param, tsl__bytes *out);
  /* Hand over the words that describe an expression around such automata; false: it has no
   * description. NULL: none has. Its meaning is a digest of these words. */
  bool (*outline)(tsl__exprs *x, tsl__expr e, void *to, bool (*put)(void *to, uint32_t word));
  /* The most bytes that completing a text takes after any of its beginnings but the empty one; 0:
   * not known. */
  uint32_t later;
} tsl__native_ops;
tsl__expr tsl__expr_native(tsl__exprs *x, const tsl__native_ops *ops, void *ctx, uint32_t param);

/* ---- tokens and rules ------------------------------------------------------------------------ */

/* One whole token out of `tokens` (sorted ids), or, if `complement`, any token but these and the
 * end-of-generation ones. */
tsl__expr tsl__expr_token(tsl__exprs *x, const tsl_token *tokens, size_t n, bool complement);

/* A rule: an expression that is made when it is first needed. */
typedef struct tsl__rule_ops {
  /* The body; never TSL__NONE (rules are productive), and never left-recursive: no chain of
   * unfoldings reaches the rule again before a byte or token. Called once, later answers come from
   * memory. */
  tsl__expr (*unfold)(tsl__exprs *x, void *ctx, uint32_t param);
  /* For listings: writes at most n bytes with NUL. */
  void (*print)(void *ctx, uint32_t param, char *out, size_t n);
  /* What it stands for (compiler/expr/meaning.h); NULL, or false: nothing that can be said
   * without its grammar. */
  bool (*meaning)(struct tsl__meaning *m, void *ctx, uint32_t param, tsl__digest *out);
  /* The fewest bytes of a member, saturating at TSL__INF; computed once, when somebody wants to
   * know. NULL: what was given to tsl__expr_rule. */
  uint32_t (*shortest)(tsl__exprs *x, void *ctx, uint32_t param);
  /* Adds the calls that the body begins with, as tsl__only_calls does, where it is known without
   * the body that it begins with nothing else. They are cheaper to make. False: the body decides.
   * May be NULL. */
  bool (*calls)(tsl__exprs *x, void *ctx, uint32_t param, struct tsl__calls *out);
} tsl__rule_ops;

#define TSL__RULE_NULLABLE 1u /* the body matches the empty text; must be right */
/* never a frame of its own: the body is put in place (small bodies, no memo wanted) */
#define TSL__RULE_INLINE 2u

/* A new expression for a new rule; the caller interns (ctx, param) itself and asks once. `shortest`
 * is the fewest bytes of a member, saturating at TSL__INF. It must be right. A lower bound is
 * enough for TSL__RULE_INLINE, and where `ops` has a `shortest` of its own. */
tsl__expr tsl__expr_rule(tsl__exprs *x, const tsl__rule_ops *ops, void *ctx, uint32_t param,
                         uint32_t flags, uint32_t shortest);

/* ---- what must be new, or must not ----------------------------------------------------------- */

/* ε that guards what follows. seq(CALL, seq(guard, rest)) goes on with `rest` only if the text of
 * the call is new in the innermost open container (runtime/position/distinct.h). `kind` is
 * TSL__NEW_ITEM or TSL__NEW_NAME (runtime/automaton/state.h); or TSL__SAME_ITEM: only if it is not
 * new. One guard a kind. */
tsl__expr tsl__expr_guard(tsl__exprs *x, uint8_t kind);
/* What is left of e without the alternatives that begin with a guard of the kinds that are `gone`.
 * *found: all kinds that its alternatives begin with are added. */
tsl__expr tsl__expr_unguarded(tsl__exprs *x, tsl__expr e, uint8_t gone, uint8_t *found);
/* The spellings of values, in expressions that hold nothing else. */
typedef struct tsl__speller {
  /* What `spell` needs, which belongs to x; NULL when out of memory. */
  void *(*open)(tsl__exprs *x);
  /* The spellings of these JSON values (white space around them left out), in the x that ctx was
   * opened with; TSL__NONE on failure (sticky). */
  tsl__expr (*spell)(void *ctx, const tsl__string *texts, uint32_t n);
} tsl__speller;
/* The grammar has guards for items. */
void tsl__exprs_guard(tsl__exprs *x, const tsl__speller *speller);
bool tsl__exprs_guards(const tsl__exprs *x);
/* The guards for names mean something in this grammar. `few`: it constrains them. */
void tsl__exprs_guard_names(tsl__exprs *x, bool few);
/* So do those for items that must be repeated. */
void tsl__exprs_guard_repeats(tsl__exprs *x);
/* The kinds that do. */
uint8_t tsl__exprs_watches(const tsl__exprs *x);
/* Tokens will be named, perhaps by rules that are not unfolded yet: whoever takes a token is to
 * know, before its states are made. */
void tsl__exprs_name_tokens(tsl__exprs *x);
bool tsl__exprs_names_tokens(const tsl__exprs *x);

/* ---- questions ------------------------------------------------------------------------------- */

bool tsl__expr_nullable(const tsl__exprs *x, tsl__expr e);
/* Is there a rule or token in it? Then it cannot stand under and, not or json_string. */
bool tsl__expr_has_calls(const tsl__exprs *x, tsl__expr e);
/* The fewest bytes of a member (saturating); for and/not found by search on the first call. */
uint32_t tsl__expr_shortest(tsl__exprs *x, tsl__expr e);
/* The same within a JSON string, where bytes cost what they cost there. */
uint32_t tsl__expr_shortest_spelled(tsl__exprs *x, tsl__expr e);
/* Bounds of how many characters its texts have, by structure: at least *least, at most *most
 * (TSL__INF: any number). e is of UTF-8. */
void tsl__expr_characters(const tsl__exprs *x, tsl__expr e, uint32_t *least, uint32_t *most);
/* Are there finitely many texts, or more than `limit`? Then *count says how many (more: limit +
 * 1). Call-free e only. */
bool tsl__expr_count(tsl__exprs *x, tsl__expr e, uint32_t limit, uint32_t *count);
/* Calls `member` for each text, in order; there must be finitely many. false on failure (sticky).
 * Call-free e only. */
bool tsl__expr_members(tsl__exprs *x, tsl__expr e,
                       void (*member)(void *ctx, const uint8_t *at, uint32_t n), void *ctx);
/* Does call-free e match these bytes? */
bool tsl__expr_matches(tsl__exprs *x, tsl__expr e, const void *bytes, size_t length);
/* The expression in a regex-like notation; writes at most n bytes with NUL, returns the length it
 * would need. */
size_t tsl__expr_print(const tsl__exprs *x, tsl__expr e, char *out, size_t n);

#endif
