/* scalar.c - what goals say of null, booleans, strings and numbers.
 *
 * Problem   allOf, anyOf, oneOf, not and `if` combine constraints of scalars as they do those of
 *           objects. Alternatives of conjunctions (conj.c) would be many and mostly needless.
 * Idea      Null and the booleans are three values: a bit each, and every keyword is a boolean
 *           operation on bits. Strings are closed under and, or, not as expressions over the
 *           decoded text: a subschema is one set of texts. Two forms stay apart as long as
 *           possible: a list of strings (enum), which is filtered instead of intersected, and
 *           lengths, which are intersected last. Numbers are alternatives of conjunctions, each a
 *           tsl__number_spec.
 * Example   {"enum": ["a", "bb", "c"], "not": {"const": "c"}, "maxLength": 1}: the list is filtered
 *           by "not c", which leaves "a" and "bb". Then it is filtered by the length, which leaves
 *           "a". No expression is made before that.
 * Cost      Each node's set of strings is found once (and that of its negation), then kept. A list
 *           costs one match for each of its strings. Recursion follows in-place subschemas, which
 *           cannot be cyclic (cycles.c sees to that).
 * Tested by tests/schema/test_schema.c, tests/number/test_number.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/object.h"

/* ---- null, false, true ----------------------------------------------------------------------- */

#define SCALARS (T_NULL | T_FALSE | T_TRUE)

static uint8_t bits_of(struct schema *s, sid id);

/* oneOf: values that exactly one branch allows. */
static uint8_t one_of_bits(struct schema *s, const struct keyword_value *v) {
  uint8_t once = 0, twice = 0;
  for (uint32_t i = 0; i < v->count; i++) {
    uint8_t bits = bits_of(s, v->children[i]);
    twice |= once & bits;
    once |= bits;
  }
  return once & (uint8_t)~twice;
}

/* anyOf: values that some branch allows. */
static uint8_t any_of_bits(struct schema *s, const struct keyword_value *v) {
  uint8_t bits = 0;
  for (uint32_t i = 0; i < v->count; i++) bits |= bits_of(s, v->children[i]);
  return bits;
}

/* Of values that satisfy `if` those that `then` allows, of others those that `else` does. */
static uint8_t if_bits(struct schema *s, const struct node *n) {
  uint8_t condition = bits_of(s, tsl__subschema(n, KW_IF));
  uint8_t then = tsl__has(n, KW_THEN) ? bits_of(s, tsl__subschema(n, KW_THEN)) : SCALARS;
  uint8_t otherwise = tsl__has(n, KW_ELSE) ? bits_of(s, tsl__subschema(n, KW_ELSE)) : SCALARS;
  return (uint8_t)((condition & then) | (~condition & otherwise));
}

/* A node's three values: its own keywords, and those of all that stands in its place. */
static uint8_t compute_bits(struct schema *s, sid id) {
  const struct node *n = tsl__node_of(s, id);
  uint8_t bits = n->possible & SCALARS;
  if (id == SID_FALSE) return 0;
  for (struct conjuncts c = {.n = n}; bits && tsl__next_conjunct(&c);) bits &= bits_of(s, c.s);
  if (bits && tsl__has(n, KW_NOT)) bits &= (uint8_t)~bits_of(s, tsl__subschema(n, KW_NOT));
  if (bits && tsl__has(n, KW_ANY_OF)) bits &= any_of_bits(s, tsl__keyword(n, KW_ANY_OF));
  if (bits && tsl__has(n, KW_ONE_OF)) bits &= one_of_bits(s, tsl__keyword(n, KW_ONE_OF));
  if (bits && tsl__has(n, KW_IF)) bits &= if_bits(s, n);
  return bits;
}

/* Found once for each node: a node may be reached in exponentially many ways. */
static uint8_t bits_of(struct schema *s, sid id) {
  struct node *n = s->nodes.at[id];
  if (n->has_scalars) return n->scalars;
  n->scalars = compute_bits(s, id);
  n->has_scalars = true;
  return n->scalars;
}

uint8_t tsl__schema_scalars(struct schema *s, lit l) {
  uint8_t bits = bits_of(s, l >> 1);
  return l & 1 ? SCALARS & (uint8_t)~bits : bits;
}

/* ---- strings --------------------------------------------------------------------------------- */

static const struct strings any_string = {.max = TSL__INF, .any_text = true};
static const struct strings no_string = {.is_set = true};

static bool all_texts(const struct strings *a) {
  return !a->is_set && a->any_text && !a->min && a->max == TSL__INF;
}
static bool none(const struct strings *a) { return a->is_set && !a->count; }

static tsl__expr text_of(struct schema *s, const struct strings *a) {
  if (a->is_set)
    return a->count ? tsl__expr_stringset(s->x, tsl__stringset_new(s->x, a->set, a->count, NULL))
                    : TSL__NONE;
  if (a->any_text)
    return !a->min && a->max == TSL__INF
               ? tsl__expr_text(s->x)
               : tsl__expr_repeat(s->x, tsl__expr_any_char(s->x), a->min, a->max);
  if (!a->min && a->max == TSL__INF) return a->text;
  uint32_t least, most;
  tsl__expr_characters(s->x, a->text, &least, &most);
  /* what holds anyway need not be counted */
  uint32_t min = a->min <= least ? 0 : a->min, max = a->max >= most ? TSL__INF : a->max;
  return tsl__expr_and(s->x, a->text, tsl__expr_repeat(s->x, tsl__expr_any_char(s->x), min, max));
}

static struct strings from_text(tsl__expr text) {
  struct strings a = {.text = text, .max = TSL__INF};
  return text == TSL__NONE ? no_string : a;
}

static uint32_t code_points(tsl__string text) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < text.length; i++) n += ((uint8_t)text.at[i] & 0xC0) != 0x80;
  return n;
}

static bool in_set(const struct strings *a, tsl__string text) {
  for (uint32_t i = 0; i < a->count; i++)
    if (tsl__string_equal(a->set[i], text)) return true;
  return false;
}

/* Are its texts those of a grammar, as they stand in a string (text_grammar.c)? */
static bool is_written(const struct schema *s, const struct strings *a) {
  return !a->is_set && !a->any_text && tsl__expr_has_calls(s->x, a->text);
}

static bool member(struct schema *s, const struct strings *a, tsl__string text) {
  if (a->is_set) return in_set(a, text);
  if (is_written(s, a)) return tsl__schema_inner_has(s, a, text);
  uint32_t n = code_points(text);
  return n >= a->min && n <= a->max &&
         (a->any_text || tsl__expr_matches(s->x, a->text, text.at, text.length));
}

#define LOOPED_MAX 16u /* texts of a list that are compared one by one */

/* Members of the list `a` that are (or, with `keep` false, are not) in b. In a large list they are
 * found by their hash. */
static struct strings filter(struct schema *s, const struct strings *a, const struct strings *b,
                             bool keep) {
  struct strings out = {.is_set = true};
  struct table by_hash = {0};
  tsl__string *set = tsl__schema_alloc(s, (a->count + 1) * sizeof *set);
  bool large = set && a->count && b->is_set && b->count > LOOPED_MAX;
  for (uint32_t i = 0; large && i < b->count && tsl__schema_work(s, 1); i++)
    tsl__table_add(s, &by_hash, tsl__hash(b->set[i].at, b->set[i].length), i);
  for (uint32_t i = 0; set && i < a->count && tsl__schema_work(s, 4); i++) {
    const tsl__string text = a->set[i];
    bool found = large ? tsl__schema_find_text(&by_hash, tsl__hash(text.at, text.length), b->set,
                                               text) != UINT32_MAX
                       : member(s, b, text);
    if (found == keep) set[out.count++] = text;
  }
  tsl__table_free(s, &by_hash);
  out.set = set;
  return out;
}

/* Such texts meet no others but lists, and there is no complement of them. */
static struct strings not_alone(struct schema *s) {
  tsl__schema_fail(s, TSL_ERR_UNSUPPORTED, s->at,
                   "\"contentMediaType\" beside another condition on the same string");
  return no_string;
}

/* JSON texts, and at least one character: all of them have one. */
static bool one_character(const struct schema *s, const struct strings *json,
                          const struct strings *a) {
  return !a->is_set && a->any_text && a->min <= 1 && a->max == TSL__INF &&
         (json->inner || json->text == s->content_json);
}

/* Of which one at least is written. */
static struct strings both_written(struct schema *s, const struct strings *a,
                                   const struct strings *b) {
  if (a->inner && b->inner) return tsl__schema_inner_both(s, a->inner, b->inner);
  if (a->is_set) return filter(s, a, b, true);
  if (b->is_set) return filter(s, b, a, true);
  if (one_character(s, a, b)) return *a;
  return one_character(s, b, a) ? *b : not_alone(s);
}

static struct strings both(struct schema *s, const struct strings *a, const struct strings *b) {
  if (all_texts(a) || none(b)) return *b;
  if (all_texts(b) || none(a)) return *a;
  if (is_written(s, a) || is_written(s, b)) return both_written(s, a, b);
  if (a->is_set) return filter(s, a, b, true);
  if (b->is_set) return filter(s, b, a, true);
  struct strings out = {.min = a->min > b->min ? a->min : b->min,
                        .max = a->max < b->max ? a->max : b->max};
  if (out.min > out.max) return no_string;
  out.any_text = a->any_text && b->any_text;
  out.text = a->any_text ? b->text : b->any_text ? a->text : tsl__expr_and(s->x, a->text, b->text);
  return out.any_text || out.text != TSL__NONE ? out : no_string;
}

/* Two lists become one list. Else both become texts, and an alternative of these. */
static struct strings either(struct schema *s, const struct strings *a, const struct strings *b) {
  if (all_texts(a) || none(b)) return *a;
  if (all_texts(b) || none(a)) return *b;
  struct strings out;
  if (is_written(s, a) || is_written(s, b))
    return tsl__schema_inner_either(s, a, text_of(s, a), b, text_of(s, b), &out) ? out
                                                                                 : not_alone(s);
  if (!a->is_set || !b->is_set) return from_text(tsl__expr_alt(s->x, text_of(s, a), text_of(s, b)));
  out = filter(s, b, a, false);
  tsl__string *set = tsl__schema_alloc(s, (a->count + out.count + 1) * sizeof *set);
  if (!set) return no_string;
  memcpy(set, a->set, a->count * sizeof *set);
  memcpy(set + a->count, out.set, out.count * sizeof *set);
  out.set = set;
  out.count += a->count;
  return out;
}

/* What satisfies a lit; memoised for both signs. */
static struct strings *strings_of(struct schema *s, lit l);

/* Strings of a list, or of one of the texts; they are joined at once, pairwise it would be
 * quadratic. There is room for one text more. */
static struct strings list_or_texts(struct schema *s, const struct strings *list,
                                    struct strings *texts, uint32_t n) {
  tsl__expr *all = n > 1 ? tsl__schema_alloc(s, (n + 1) * sizeof *all) : NULL;
  bool written = n == 1;
  if (!n || (n > 1 && !all)) return *list;
  for (uint32_t i = 0; i < n; i++) written |= is_written(s, &texts[i]);
  if (written) {
    struct strings one = *list;
    for (uint32_t i = 0; i < n; i++) one = either(s, &one, &texts[i]);
    return one;
  }
  for (uint32_t i = 0; i < n; i++) all[i] = text_of(s, &texts[i]);
  if (!none(list)) all[n++] = text_of(s, list);
  return from_text(tsl__expr_alt_n(s->x, all, n));
}

/* Branches of an anyOf or a oneOf that allow some string: lists, and others. */
struct allowing {
  const struct strings **lists;
  struct strings *texts;
  sid *branch; /* of each text */
  uint32_t list_count, text_count;
};

/* False: there are none, or no memory. */
static bool sort_branches(struct schema *s, const struct keyword_value *v, struct allowing *out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < v->count; i++) n += !none(strings_of(s, POS(v->children[i])));
  const size_t each = sizeof *out->lists + sizeof *out->texts + sizeof *out->branch;
  out->lists = n ? tsl__schema_alloc(s, n * each) : NULL;
  if (!out->lists) return false;
  out->texts = (struct strings *)(out->lists + n);
  out->branch = (sid *)(out->texts + n);
  for (uint32_t i = 0; i < v->count; i++) {
    const struct strings *one = strings_of(s, POS(v->children[i]));
    if (none(one)) continue;
    if (one->is_set) {
      out->lists[out->list_count++] = one;
      continue;
    }
    out->branch[out->text_count] = v->children[i];
    out->texts[out->text_count++] = *one;
  }
  return true;
}

/* What one of these allows. */
static struct strings any_of_strings(struct schema *s, const struct keyword_value *v) {
  struct allowing b = {0};
  if (!sort_branches(s, v, &b)) return no_string;
  for (uint32_t i = 0; i < b.text_count; i++)
    if (all_texts(&b.texts[i])) return any_string;
  const struct strings list = tsl__schema_lists_joined(s, b.lists, b.list_count, NULL);
  return list_or_texts(s, &list, b.texts, b.text_count);
}

/* All other strings. A range of lengths that is open at one end stays one: not "at most 3" is
 * "at least 4". */
static struct strings inverse(struct schema *s, const struct strings *a) {
  if (all_texts(a)) return no_string;
  if (none(a)) return any_string;
  if (is_written(s, a)) return not_alone(s);
  if (!a->is_set && a->any_text) { /* lengths only */
    struct strings low = any_string, high = any_string;
    low.max = a->min - 1;
    high.min = a->max + 1;
    if (!a->min) return high;
    if (a->max == TSL__INF) return low;
  }
  return from_text(tsl__expr_text_not(s->x, text_of(s, a)));
}

static bool has_text(const struct strings *a) { return !a->is_set && !a->any_text; }

/* Both of a and of a complement. The lengths meet as part of the text, as the complement may be
 * that of the same text and lengths, and more. */
static struct strings met(struct schema *s, const struct strings *a, const struct strings *others) {
  return has_text(a) && has_text(others)
             ? from_text(tsl__expr_and(s->x, text_of(s, a), text_of(s, others)))
             : both(s, a, others);
}

/* Strings of a that b does not have. */
static struct strings without(struct schema *s, const struct strings *a, const struct strings *b) {
  if (none(a) || none(b)) return *a;
  if (a->is_set) return filter(s, a, b, false);
  if (b->is_set && is_written(s, a)) {
    const struct strings common = filter(s, b, a, true);
    return none(&common) ? *a : not_alone(s);
  }
  const struct strings others = inverse(s, b);
  return met(s, a, &others);
}

static struct strings narrowed(struct schema *s, const struct strings *a, lit l) {
  if (l & 1 && (a->is_set || is_written(s, a))) return without(s, a, strings_of(s, l ^ 1));
  const struct strings *b = strings_of(s, l);
  return l & 1 ? met(s, a, b) : both(s, a, b);
}

#define LISTS_MIN 8u /* negated lists that are joined before they narrow anything */

/* Does the lit only forbid some strings that are listed? */
static const struct strings *forbidden(struct schema *s, lit l) {
  const struct strings *a = l & 1 ? strings_of(s, l ^ 1) : NULL;
  return a && a->is_set ? a : NULL;
}

/* All strings that some lit forbids; none, if few lits do. */
static struct strings all_forbidden(struct schema *s, const lit *lits, uint32_t n) {
  struct strings all = {.is_set = true};
  uint32_t lists = 0, count = 0;
  for (uint32_t i = 0; i < n && tsl__schema_work(s, 1); i++) {
    const struct strings *one = forbidden(s, lits[i]);
    if (one) lists++, count += one->count;
  }
  tsl__string *set = lists < LISTS_MIN ? NULL : tsl__schema_alloc(s, (count + 1) * sizeof *set);
  for (uint32_t i = 0; set && i < n; i++) {
    const struct strings *one = forbidden(s, lits[i]);
    if (one && one->count) memcpy(set + all.count, one->set, one->count * sizeof *set);
    all.count += one ? one->count : 0;
  }
  all.set = set;
  return all;
}

/* Strings that satisfy every lit of a goal. Many strings that are forbidden one by one make one
 * list: each complement more would be compared with all others. */
static struct strings all_of_strings(struct schema *s, const lit *lits, uint32_t n) {
  struct strings a = n == 1 ? *strings_of(s, lits[0]) : any_string,
                 listed = n < LISTS_MIN ? no_string : all_forbidden(s, lits, n);
  for (uint32_t i = 0; i < n && n > 1 && !none(&a); i++)
    if (none(&listed) || !forbidden(s, lits[i])) a = narrowed(s, &a, lits[i]);
  return without(s, &a, &listed);
}

/* The strings of `enum`. Short lists lose their doubles at once, long ones when they are sorted. */
static struct strings list_strings(struct schema *s, const tsl__json *values, uint32_t n) {
  struct strings out = {.is_set = true};
  tsl__string *set = tsl__schema_alloc(s, (n + 1) * sizeof *set);
  for (uint32_t i = 0; set && i < n; i++) {
    tsl__string text = {values[i].text, values[i].length};
    out.set = set;
    if (values[i].kind == TSL__JSON_STRING && (n > 64 || !in_set(&out, text)))
      set[out.count++] = text;
  }
  return out;
}

/* Text i without those of the others in its group. Several complements are that of one union; but
 * lengths stay lengths. */
static struct strings alone(struct schema *s, const struct allowing *b, uint32_t i,
                            const uint32_t *group) {
  struct strings out = b->texts[i], others = no_string;
  tsl__expr *texts = tsl__schema_alloc(s, (b->text_count + 1) * sizeof *texts);
  uint32_t n = 0, last = 0;
  for (uint32_t k = 0; texts && k < b->text_count && tsl__schema_work(s, 1); k++) {
    if (k == i || group[k] != group[i]) continue;
    if (!has_text(&b->texts[k]))
      out = narrowed(s, &out, NEG(b->branch[k]));
    else
      texts[n++] = text_of(s, &b->texts[k]), last = k;
  }
  if (n == 1) return narrowed(s, &out, NEG(b->branch[last]));
  if (n) others = from_text(tsl__expr_alt_n(s->x, texts, n));
  return without(s, &out, &others);
}

/* Strings that one branch alone has. Most texts begin as no other one does, so that they need no
 * complement (choice/strings.c). */
static struct strings one_of_strings(struct schema *s, const struct keyword_value *v) {
  struct allowing b = {0};
  if (!sort_branches(s, v, &b)) return no_string;
  uint32_t *group = tsl__schema_alloc(s, 2 * (b.text_count + 1) * sizeof *group), once;
  if (!group) return no_string;
  tsl__expr *exprs = group + b.text_count;
  struct strings all = tsl__schema_lists_joined(s, b.lists, b.list_count, &once), own = all;
  own.count = once;
  for (uint32_t i = 0; i < b.text_count; i++)
    if (!none(&own)) own = filter(s, &own, &b.texts[i], false);
  b.text_count = tsl__schema_inner_one(s, b.texts, b.branch, b.text_count);
  for (uint32_t i = 0; i < b.text_count; i++) {
    const struct strings *one = &b.texts[i];
    if (is_written(s, one) && b.text_count > 1) return not_alone(s);
    exprs[i] = one->any_text ? tsl__expr_text(s->x) : one->text;
  }
  tsl__schema_text_groups(s, exprs, b.text_count, group);
  struct strings *texts = tsl__schema_alloc(s, (b.text_count + 1) * sizeof *texts);
  for (uint32_t i = 0; texts && i < b.text_count; i++) {
    const struct strings listed = filter(s, &all, &b.texts[i], true);
    texts[i] = alone(s, &b, i, group);
    texts[i] = without(s, &texts[i], &listed);
  }
  return texts ? list_or_texts(s, &own, texts, b.text_count) : no_string;
}

/* (if and then) or (not if and else), or with `sign` 1 the same of not then and not else. */
static struct strings if_strings(struct schema *s, const struct node *n, lit sign) {
  lit condition = POS(tsl__subschema(n, KW_IF));
  lit then = POS(tsl__subschema_or_true(n, KW_THEN)) ^ sign;
  lit otherwise = POS(tsl__subschema_or_true(n, KW_ELSE)) ^ sign;
  struct strings yes = narrowed(s, strings_of(s, condition), then),
                 no = narrowed(s, strings_of(s, condition ^ 1), otherwise);
  return either(s, &yes, &no);
}

static void narrow(struct schema *s, struct strings *a, struct strings b) { *a = both(s, a, &b); }

/* A node's own keywords about strings. */
static struct strings own_strings(struct schema *s, const struct node *n) {
  struct strings a = any_string, lengths = any_string;
  if (tsl__has(n, KW_CONST)) a = list_strings(s, tsl__keyword(n, KW_CONST)->value, 1);
  if (tsl__has(n, KW_ENUM))
    narrow(s, &a,
           list_strings(s, tsl__keyword(n, KW_ENUM)->value->items,
                        tsl__keyword(n, KW_ENUM)->value->length));
  if (tsl__has(n, KW_CONTENT_SCHEMA)) narrow(s, &a, tsl__schema_inner_text(s, n));
  if (tsl__has(n, KW_MIN_LENGTH)) lengths.min = tsl__keyword(n, KW_MIN_LENGTH)->count;
  if (tsl__has(n, KW_MAX_LENGTH)) lengths.max = tsl__keyword(n, KW_MAX_LENGTH)->count;
  narrow(s, &a, lengths.min > lengths.max ? no_string : lengths);
  if (tsl__has(n, KW_PATTERN)) narrow(s, &a, from_text(tsl__keyword(n, KW_PATTERN)->exprs[0]));
  if (tsl__has(n, KW_FORMAT)) narrow(s, &a, from_text(tsl__keyword(n, KW_FORMAT)->exprs[0]));
  for (enum keyword k = KW_CONTENT_ENCODING; k <= KW_CONTENT_MEDIA_TYPE; k++)
    if (tsl__has(n, k)) narrow(s, &a, from_text(tsl__keyword(n, k)->exprs[0]));
  return a;
}

/* All that must hold, one after another: each narrows what the ones before it left. */
static struct strings positive(struct schema *s, const struct node *n) {
  struct strings a = own_strings(s, n);
  for (struct conjuncts c = {.n = n}; tsl__next_conjunct(&c);) a = narrowed(s, &a, POS(c.s));
  if (tsl__has(n, KW_NOT)) a = narrowed(s, &a, NEG(tsl__subschema(n, KW_NOT)));
  if (tsl__has(n, KW_ANY_OF)) narrow(s, &a, any_of_strings(s, tsl__keyword(n, KW_ANY_OF)));
  if (tsl__has(n, KW_ONE_OF)) narrow(s, &a, one_of_strings(s, tsl__keyword(n, KW_ONE_OF)));
  if (tsl__has(n, KW_IF)) narrow(s, &a, if_strings(s, n, 0));
  return a;
}

static void add_strings(struct schema *s, struct strings *a, struct strings b) {
  *a = either(s, a, &b);
}

/* De Morgan: a complement is made of single keywords only. */
static struct strings negative(struct schema *s, const struct node *n) {
  struct strings own = own_strings(s, n), a = inverse(s, &own);
  for (struct conjuncts c = {.n = n}; tsl__next_conjunct(&c);)
    a = either(s, &a, strings_of(s, NEG(c.s)));
  if (tsl__has(n, KW_NOT)) a = either(s, &a, strings_of(s, POS(tsl__subschema(n, KW_NOT))));
  if (tsl__has(n, KW_ANY_OF)) {
    const struct keyword_value *v = tsl__keyword(n, KW_ANY_OF);
    lit *all = tsl__schema_alloc(s, (v->count + 1) * sizeof *all);
    for (uint32_t i = 0; all && i < v->count; i++) all[i] = NEG(v->children[i]);
    if (all) add_strings(s, &a, all_of_strings(s, all, v->count));
  }
  if (tsl__has(n, KW_ONE_OF)) {
    struct strings one = one_of_strings(s, tsl__keyword(n, KW_ONE_OF));
    add_strings(s, &a, inverse(s, &one));
  }
  if (tsl__has(n, KW_IF)) add_strings(s, &a, if_strings(s, n, 1));
  return a;
}

static struct strings compute_strings(struct schema *s, lit l) {
  const struct node *n = tsl__node_of(s, l >> 1);
  bool sign = l & 1;
  if (l >> 1 == SID_FALSE || !(n->possible & T_STRING)) return sign ? any_string : no_string;
  if (!n->mask) return sign ? no_string : any_string;
  return sign ? negative(s, n) : positive(s, n);
}

static struct strings *strings_of(struct schema *s, lit l) {
  struct node *n = s->nodes.at[l >> 1];
  struct strings **memo = l & 1 ? &n->not_strings : &n->strings;
  if (*memo) return *memo;
  struct strings a = compute_strings(s, l);
  struct strings *kept = tsl__arena_copy(&s->arena, &a, sizeof a);
  if (!kept) tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
  return tsl__schema_ok(s) ? *memo = kept : &s->no_strings;
}

const struct strings *tsl__schema_string_list(struct schema *s, lit l) {
  const struct strings *a = l & 1 ? NULL : strings_of(s, l);
  return a && a->is_set ? a : NULL;
}

tsl__expr tsl__schema_written_text(struct schema *s, const lit *lits, uint32_t n, bool *any,
                                   goal *inner) {
  goal ignored;
  if (!inner) inner = &ignored;
  if (n == 1) { /* one expression for one lit: names are compared by it */
    struct strings *one = strings_of(s, lits[0]);
    *any = all_texts(one);
    *inner = one->inner;
    if (one->is_set && one->text == TSL__NONE) one->text = text_of(s, one);
    return one->is_set ? one->text : text_of(s, one);
  }
  struct strings a = all_of_strings(s, lits, n);
  *any = all_texts(&a);
  *inner = a.inner;
  return text_of(s, &a);
}

tsl__expr tsl__schema_text(struct schema *s, const lit *lits, uint32_t n, bool *any) {
  tsl__expr text = tsl__schema_written_text(s, lits, n, any, NULL);
  if (!tsl__expr_has_calls(s->x, text)) return text;
  not_alone(s);
  return TSL__NONE;
}

/* Is there a text of the goal that does not hold the part? Styles that cannot escape their
 * closing tag ask so. */
bool tsl__schema_text_avoids(struct schema *s, const lit *lits, uint32_t n, const char *part) {
  struct strings a = all_of_strings(s, lits, n);
  /* a character will do, as often as it takes */
  if (none(&a) || (!a.is_set && a.any_text)) return true;
  for (uint32_t i = 0; a.is_set && i < a.count; i++)
    if (!tsl__string_has(a.set[i], tsl__string_of(part))) return true;
  if (!a.is_set && tsl__expr_has_calls(s->x, a.text)) return true; /* see text_grammar.c */
  /* a meet without texts is none */
  return !a.is_set && s->style->without(s->style->ctx, text_of(s, &a), part) != TSL__NONE;
}

/* The texts of the goal that do not hold the part. */
tsl__expr tsl__schema_text_without(struct schema *s, const lit *lits, uint32_t n,
                                   const char *part) {
  struct strings a = all_of_strings(s, lits, n), kept = {.is_set = true};
  if (!a.is_set && tsl__expr_has_calls(s->x, a.text)) /* see text_grammar.c */
    return a.text == s->content_json ? s->content_bare : a.text;
  if (!a.is_set) return s->style->without(s->style->ctx, text_of(s, &a), part);
  tsl__string *set = tsl__schema_alloc(s, (a.count + 1) * sizeof *set);
  if (!set) return TSL__NONE;
  for (uint32_t i = 0; i < a.count; i++)
    if (!tsl__string_has(a.set[i], tsl__string_of(part))) set[kept.count++] = a.set[i];
  kept.set = set;
  return text_of(s, &kept);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* A number of the schema, exactly. One of very many digits is refused at its place. */
bool tsl__schema_decimal(struct schema *s, const tsl__json *v, tsl__decimal *out) {
  tsl_status status = tsl__decimal_parse(&s->arena, v->text, v->length, out);
  if (status != TSL_OK)
    tsl__schema_fail(s, status == TSL_ERR_NO_MEMORY ? status : TSL_ERR_LIMIT, v,
                     "a number with too many digits");
  return status == TSL_OK;
}

/* minimum and exclusiveMinimum (a number, or a boolean that makes minimum exclusive), or the same
 * of maximum. */
static bool bound(struct schema *s, const struct node *n, enum keyword inclusive,
                  enum keyword exclusive, int order, bool *has, bool *open, tsl__decimal *out) {
  const struct keyword_value *in = tsl__keyword_or_null(n, inclusive),
                             *ex = tsl__keyword_or_null(n, exclusive);
  if (in) {
    if (!tsl__schema_decimal(s, in->value, out)) return false;
    *has = true;
  }
  if (!ex) return true;
  if (ex->value->kind != TSL__JSON_NUMBER) {
    *open = true;
    return true;
  }
  tsl__decimal other;
  if (!tsl__schema_decimal(s, ex->value, &other)) return false;
  if (*has && tsl__decimal_compare(&other, out) * order < 0) return true;
  *out = other;
  *has = *open = true;
  return true;
}

/* A node's own keywords about numbers, exact in decimal: {"minimum": 0.1, "multipleOf": 0.1} has
 * no rounding. */
bool tsl__schema_number_spec(struct schema *s, const struct node *n, tsl__number_spec *out) {
  memset(out, 0, sizeof *out);
  out->integer = n->integer;
  if (n->digits) out->spelling = TSL__SPELL_DIGITS;
  if (!bound(s, n, KW_MINIMUM, KW_EXCLUSIVE_MINIMUM, 1, &out->has_min, &out->min_exclusive,
             &out->min))
    return false;
  if (!bound(s, n, KW_MAXIMUM, KW_EXCLUSIVE_MAXIMUM, -1, &out->has_max, &out->max_exclusive,
             &out->max))
    return false;
  for (unsigned i = 0; i < 2; i++) {
    const struct keyword_value *v = tsl__keyword_or_null(n, i ? KW_DIVISIBLE_BY : KW_MULTIPLE_OF);
    tsl__decimal *multiple = v ? tsl__schema_alloc(s, sizeof *multiple) : NULL;
    if (!v) continue;
    if (!multiple || !tsl__schema_decimal(s, v->value, multiple)) return false;
    out->multiples = multiple;
    out->multiple_count = 1;
  }
  return true;
}

/* The same numbers, spelled as printers of JSON do, if the options ask for that and each has
 * such a spelling. */
tsl__number_spec tsl__schema_number_spelled(const tsl__number_spec *spec, tsl_spelling how) {
  tsl__number_spec out = *spec;
  bool integer = out.integer && !(out.spelling & TSL__SPELL_MARKED);
  if (how == TSL_SPELLING_ANY || !tsl__number_printable(spec)) return out;
  out.spelling |= TSL__SPELL_PRINTED | (integer ? TSL__SPELL_DIGITS : 0);
  return out;
}

/* The texts of these numbers. A single value is listed: its own spelling, and that of a printer. */
tsl__expr tsl__schema_number(struct schema *s, const tsl__number_spec *spec) {
  bool one = spec->has_min && spec->has_max && tsl__decimal_equal(&spec->min, &spec->max) &&
             !spec->min_exclusive && !spec->max_exclusive;
  if (s->options.spelling == TSL_SPELLING_PLAIN && one && !(spec->spelling & TSL__SPELL_MARKED))
    return tsl__number_listed(s->x, spec);
  tsl__number_spec spelled = tsl__schema_number_spelled(spec, s->options.spelling);
  if (!s->numbers) s->numbers = tsl__numbers_new(s->x);
  return s->numbers ? tsl__numbers_expr(s->numbers, &spelled) : TSL__NONE;
}

struct number_union {
  struct schema *s;
  TSL__VEC(tsl__expr) exprs;
};

/* The numbers of a spec, if all schemas share them. */
static tsl__expr shared_from(const struct schema *s, const tsl__number_spec *spec) {
  for (uint32_t i = 0; i < TSL__SHARED_FROM && spec->has_min && !spec->has_max; i++)
    if (s->shared.from[i].text != TSL__NONE && tsl__number_equal(spec, &tsl__shared_from[i]))
      return s->shared.from[i].text;
  return TSL__NONE;
}

/* An expression that all schemas share, if there is one for these numbers. */
static tsl__expr numbers_of(struct schema *s, const tsl__number_spec *spec) {
  bool integer = false;
  if (!spec || tsl__number_plain(spec, &integer))
    return integer ? s->shared.integer_text : s->shared.number_text;
  tsl__expr shared = shared_from(s, spec);
  return shared != TSL__NONE ? shared : tsl__schema_number(s, spec);
}

/* One alternative of the goal: its numbers, if it has any. */
static void number_leaf(void *ctx, const struct part *parts, const tsl__number_spec *spec) {
  struct number_union *u = ctx;
  struct schema *s = u->s;
  (void)parts;
  if (spec && tsl__number_empty(spec)) return;
  if (!tsl__vec_push(s->alloc, &u->exprs, numbers_of(s, spec)))
    tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
}

/* The numbers of a goal: one expression for each alternative of conjunctions. */
tsl__expr tsl__schema_numbers(struct schema *s, goal g) {
  struct number_union u = {.s = s};
  tsl__schema_expand(s, g, T_NUMBER, number_leaf, &u);
  tsl__expr all = u.exprs.n == 1 ? u.exprs.at[0] : tsl__expr_alt_n(s->x, u.exprs.at, u.exprs.n);
  tsl__vec_free(s->alloc, &u.exprs);
  return all;
}
