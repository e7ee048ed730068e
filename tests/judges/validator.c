/* validator.c - see validator.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "tests/judges/validator.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 60u
#define STEPS_MAX 100000u
#define CHILDREN_MAX 64u /* of an instance: what is evaluated is a bit each */

/* ---- numbers, exactly ------------------------------------------------------------------------ */

/* (-1)^negative * digits * 10^exponent; no zero first or last, no digits for zero. */
typedef struct decimal {
  char digits[512];
  int n;
  long exponent;
  bool negative, lost;
} decimal;

static decimal decimal_of(const json_value *v) {
  decimal d = {0};
  const char *at = v->text, *end = at + v->text_n;
  bool fraction = false;
  d.negative = at < end && *at == '-';
  for (at += d.negative; at < end && (*at | 32) != 'e'; at++) {
    if (*at == '.') {
      fraction = true;
      continue;
    }
    d.exponent -= fraction;
    if (d.n == 0 && *at == '0') continue;
    if (d.n == (int)sizeof d.digits) return d.lost = true, d;
    d.digits[d.n++] = *at;
  }
  if (at < end) {
    char exponent[16] = {0};
    size_t n = (size_t)(end - at) - 1;
    if (n > 8) return d.lost = true, d;
    memcpy(exponent, at + 1, n);
    d.exponent += strtol(exponent, NULL, 10);
  }
  for (; d.n && d.digits[d.n - 1] == '0'; d.n--) d.exponent++;
  if (!d.n) d.negative = false, d.exponent = 0;
  return d;
}

static int compare_magnitudes(const decimal *a, const decimal *b) {
  long high_a = a->n + a->exponent, high_b = b->n + b->exponent;
  if (!a->n || !b->n) return (a->n > 0) - (b->n > 0);
  if (high_a != high_b) return high_a < high_b ? -1 : 1;
  for (int i = 0; i < a->n || i < b->n; i++) {
    char x = i < a->n ? a->digits[i] : '0', y = i < b->n ? b->digits[i] : '0';
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

static int compare_decimals(const decimal *a, const decimal *b) {
  if (a->negative != b->negative) return a->negative ? -1 : 1;
  return a->negative ? -compare_magnitudes(a, b) : compare_magnitudes(a, b);
}

static bool is_whole(const decimal *d) { return d->exponent >= 0; }

/* Is a = k * step for a whole k? Without zeros at their ends, a can only be a multiple of a step of
 * no higher exponent. */
static bool is_multiple(const decimal *a, const decimal *step, bool *lost) {
  uint64_t divisor = 0, rest = 0;
  if (!a->n) return true;
  if (a->exponent < step->exponent) return false;
  if (step->n > 9 || a->exponent - step->exponent > 20000) return *lost = true, false;
  for (int i = 0; i < step->n; i++) divisor = divisor * 10 + (uint64_t)(step->digits[i] - '0');
  for (int i = 0; i < a->n; i++) rest = (rest * 10 + (uint64_t)(a->digits[i] - '0')) % divisor;
  for (long e = a->exponent; e > step->exponent; e--) rest = rest * 10 % divisor;
  return rest == 0;
}

/* ---- judging --------------------------------------------------------------------------------- */

typedef struct judge {
  const json_value *root;
  unsigned depth, steps;
  bool lost; /* no verdict */
} judge;

static bool evaluate(judge *j, const json_value *schema, const json_value *instance,
                     uint64_t *seen);

static bool equal(judge *j, const json_value *a, const json_value *b) {
  if (j->steps++ > STEPS_MAX) j->lost = true;
  if (j->lost || a->kind != b->kind) return false;
  if (a->kind == JSON_STRING) return json_same_text(a->text, a->text_n, b->text, b->text_n);
  if (a->kind == JSON_NUMBER) {
    decimal x = decimal_of(a), y = decimal_of(b);
    j->lost |= x.lost || y.lost;
    return compare_decimals(&x, &y) == 0;
  }
  if (a->count != b->count) return false;
  const json_value *y = b->first;
  for (const json_value *x = a->first; x; x = x->next, y = y->next) {
    const json_value *other = y;
    if (a->kind == JSON_OBJECT)
      for (other = b->first;
           other && !json_same_text(x->name, x->name_n, other->name, other->name_n);)
        other = other->next;
    if (!other || !equal(j, x, other)) return false;
  }
  return true;
}

static uint32_t points(const json_value *v) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < v->text_n; i++) n += (v->text[i] & 0xC0) != 0x80;
  return n;
}

/* A number that counts something; false, and no verdict, if it is none. */
static bool count_of(judge *j, const json_value *v, uint32_t *count) {
  decimal d = {0};
  if (v->kind == JSON_NUMBER) d = decimal_of(v);
  if (v->kind != JSON_NUMBER || d.lost || d.negative || !is_whole(&d)) return j->lost = true, false;
  *count = 0;
  for (long i = 0; i < d.n + d.exponent && *count < 100000000; i++)
    *count = *count * 10 + (i < d.n ? (uint32_t)(d.digits[i] - '0') : 0);
  return true;
}

/* Is it a pattern that ECMA-262 and PCRE2 read alike? Letters, digits, classes, groups, counts; no
 * spaces past ASCII's one, no look-around. */
static bool plain_pattern(const char *p, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (p[i] == '\\') {
      if (++i == n || !strchr("dDwW.", p[i]) || !p[i]) return false;
    } else if (p[i] == '{') { /* "{2}" or "{2,3}": anything else is a brace to some */
      size_t k = i + 1;
      while (k < n && p[k] >= '0' && p[k] <= '9') k++;
      if (k == i + 1 || k - i > 4) return false;
      if (k < n && p[k] == ',') k++;
      while (k < n && p[k] >= '0' && p[k] <= '9') k++;
      if (k == n || p[k] != '}') return false;
      i = k;
    } else if (!((p[i] >= '0' && p[i] <= '9') || ((p[i] | 32) >= 'a' && (p[i] | 32) <= 'z') ||
                 (p[i] && strchr("^$|*+?()[]-_.@ ", p[i])) || (p[i] & 0x80))) {
      return false;
    } else if (p[i] == '[' && i + 1 < n &&
               (p[i + 1] == ']' || p[i + 1] == '[' ||
                (p[i + 1] == '^' && i + 2 < n && p[i + 2] == ']'))) {
      return false;
    } else if (p[i] == '(' && i + 1 < n && p[i + 1] == '?' && !(i + 2 < n && p[i + 2] == ':')) {
      return false;
    } else if (p[i] == '(' && i + 1 < n && p[i + 1] == '*') {
      return false;
    }
  }
  return true;
}

/* Characters that end lines to one of the two only. */
static bool plain_subject(const char *s, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (s[i] == '\r' ||
        (n - i >= 3 && !memcmp(s + i, "\xE2\x80", 2) && ((unsigned char)s[i + 2] & 0xFE) == 0xA8))
      return false;
  return true;
}

/* Is the pattern found in the text? */
static bool matches(judge *j, const char *pattern, size_t n, const char *text, size_t text_n) {
  int code;
  PCRE2_SIZE at;
  if (!plain_pattern(pattern, n) || !plain_subject(text, text_n)) return j->lost = true, false;
  pcre2_code *compiled =
      pcre2_compile((PCRE2_SPTR)pattern, n, PCRE2_UTF | PCRE2_DOLLAR_ENDONLY, &code, &at, NULL);
  if (!compiled) return j->lost = true, false;
  pcre2_match_data *data = pcre2_match_data_create(1, NULL);
  int found = data ? pcre2_match(compiled, (PCRE2_SPTR)text, text_n, 0, 0, data, NULL)
                   : PCRE2_ERROR_NOMEMORY;
  pcre2_match_data_free(data);
  pcre2_code_free(compiled);
  if (found < 0 && found != PCRE2_ERROR_NOMATCH) j->lost = true;
  return found >= 0;
}

/* ---- assertions ------------------------------------------------------------------------------ */

static bool has_type(judge *j, const json_value *type, const json_value *v) {
  static const char *const names[] = {"null",   "boolean", "boolean", "number",
                                      "string", "array",   "object"};
  if (type->kind == JSON_ARRAY) {
    for (const json_value *t = type->first; t; t = t->next)
      if (has_type(j, t, v)) return true;
    return false;
  }
  if (type->kind != JSON_STRING) return j->lost = true, false;
  if (json_same_text(type->text, type->text_n, names[v->kind], (uint32_t)strlen(names[v->kind])))
    return true;
  if (v->kind != JSON_NUMBER || !json_same_text(type->text, type->text_n, "integer", 7))
    return false;
  decimal d = decimal_of(v);
  j->lost |= d.lost;
  return is_whole(&d);
}

static bool check_equal(judge *j, const json_value *schema, const json_value *v) {
  const json_value *list = json_member(schema, "enum"), *one = json_member(schema, "const"), *e;
  if (one && !equal(j, one, v)) return false;
  if (!list) return true;
  if (list->kind != JSON_ARRAY) return j->lost = true, false;
  for (e = list->first; e && !equal(j, e, v);) e = e->next;
  return e != NULL;
}

static bool check_number(judge *j, const json_value *schema, const json_value *v) {
  static const char *const bounds[] = {"minimum", "exclusiveMinimum", "maximum",
                                       "exclusiveMaximum"};
  const json_value *step = json_member(schema, "multipleOf");
  decimal d = decimal_of(v);
  bool good = true;
  j->lost |= d.lost;
  for (int i = 0; i < 4; i++) {
    const json_value *b = json_member(schema, bounds[i]);
    if (!b) continue;
    if (b->kind != JSON_NUMBER) return j->lost = true, false;
    decimal bound = decimal_of(b);
    j->lost |= bound.lost;
    int c = compare_decimals(&d, &bound) * (i < 2 ? 1 : -1);
    good &= c > 0 || (c == 0 && i % 2 == 0);
  }
  if (!step) return good;
  decimal s = {0};
  if (step->kind == JSON_NUMBER) s = decimal_of(step);
  if (s.lost || s.negative || !s.n) return j->lost = true, false;
  return is_multiple(&d, &s, &j->lost) && good;
}

/* Is `n` within what two keywords allow? */
static bool within(judge *j, const json_value *schema, const char *least, const char *most,
                   uint32_t n) {
  const json_value *low = json_member(schema, least), *high = json_member(schema, most);
  uint32_t bound;
  bool good = true;
  if (low && count_of(j, low, &bound)) good &= n >= bound;
  if (high && count_of(j, high, &bound)) good &= n <= bound;
  return good;
}

static bool check_string(judge *j, const json_value *schema, const json_value *v) {
  const json_value *pattern = json_member(schema, "pattern");
  bool good = within(j, schema, "minLength", "maxLength", points(v));
  if (!pattern) return good;
  if (pattern->kind != JSON_STRING) return j->lost = true, false;
  return matches(j, pattern->text, pattern->text_n, v->text, v->text_n) && good;
}

static bool check_unique(judge *j, const json_value *schema, const json_value *v) {
  const json_value *unique = json_member(schema, "uniqueItems");
  if (!unique || unique->kind == JSON_FALSE) return true;
  if (unique->kind != JSON_TRUE) return j->lost = true, false;
  for (const json_value *a = v->first; a; a = a->next)
    for (const json_value *b = a->next; b; b = b->next)
      if (equal(j, a, b)) return false;
  return true;
}

/* ---- applicators: items and members ---------------------------------------------------------- */

/* Does a child hold to a schema? What that evaluates of the child, no other schema gets to know. */
static bool child_holds(judge *j, const json_value *schema, const json_value *child) {
  uint64_t own = 0;
  return evaluate(j, schema, child, &own);
}

static bool check_contains(judge *j, const json_value *schema, const json_value *v,
                           uint64_t *seen) {
  const json_value *contains = json_member(schema, "contains"),
                   *least = json_member(schema, "minContains");
  uint32_t n = 0, i = 0;
  if (!contains) return true;
  for (const json_value *item = v->first; item; item = item->next, i++) {
    if (!child_holds(j, contains, item)) continue;
    n++;
    *seen |= (uint64_t)1 << i;
  }
  return (least || n > 0) && within(j, schema, "minContains", "maxContains", n);
}

static bool check_items(judge *j, const json_value *schema, const json_value *v, uint64_t *seen) {
  const json_value *prefix = json_member(schema, "prefixItems"),
                   *items = json_member(schema, "items"), *p;
  uint32_t i = 0;
  bool good = true;
  if (prefix && prefix->kind != JSON_ARRAY) return j->lost = true, false;
  p = prefix ? prefix->first : NULL;
  for (const json_value *item = v->first; item; item = item->next, i++) {
    const json_value *s = p ? p : items;
    if (p) p = p->next;
    if (!s) break;
    good &= child_holds(j, s, item);
    *seen |= (uint64_t)1 << i;
  }
  return good;
}

static bool check_array(judge *j, const json_value *schema, const json_value *v, uint64_t *seen) {
  bool good = within(j, schema, "minItems", "maxItems", v->count);
  good &= check_unique(j, schema, v);
  good &= check_items(j, schema, v, seen);
  return check_contains(j, schema, v, seen) && good;
}

/* The schemas of `properties` and `patternProperties` for a member; *known: there are some. */
static bool check_member(judge *j, const json_value *schema, const json_value *m, bool *known) {
  const json_value *properties = json_member(schema, "properties"),
                   *patterns = json_member(schema, "patternProperties");
  bool good = true;
  if ((properties && properties->kind != JSON_OBJECT) ||
      (patterns && patterns->kind != JSON_OBJECT))
    return j->lost = true, false;
  for (const json_value *p = properties ? properties->first : NULL; p; p = p->next)
    if (json_same_text(p->name, p->name_n, m->name, m->name_n))
      *known = true, good &= child_holds(j, p, m);
  for (const json_value *p = patterns ? patterns->first : NULL; p; p = p->next)
    if (matches(j, p->name, p->name_n, m->name, m->name_n))
      *known = true, good &= child_holds(j, p, m);
  return good;
}

static bool check_members(judge *j, const json_value *schema, const json_value *v, uint64_t *seen) {
  const json_value *others = json_member(schema, "additionalProperties"),
                   *names = json_member(schema, "propertyNames");
  uint32_t i = 0;
  bool good = true;
  for (const json_value *m = v->first; m; m = m->next, i++) {
    const json_value name = {.kind = JSON_STRING, .text = m->name, .text_n = m->name_n};
    bool known = false;
    good &= check_member(j, schema, m, &known);
    if (names) good &= child_holds(j, names, &name);
    if (!known && others) good &= child_holds(j, others, m);
    if (known || others) *seen |= (uint64_t)1 << i;
  }
  return good;
}

static bool has_name(const json_value *object, const json_value *name) {
  for (const json_value *m = object->first; m; m = m->next)
    if (json_same_text(m->name, m->name_n, name->text, name->text_n)) return true;
  return false;
}

static bool has_all(judge *j, const json_value *names, const json_value *v) {
  if (names->kind != JSON_ARRAY) return j->lost = true, false;
  for (const json_value *n = names->first; n; n = n->next) {
    if (n->kind != JSON_STRING) return j->lost = true, false;
    if (!has_name(v, n)) return false;
  }
  return true;
}

static bool check_object(judge *j, const json_value *schema, const json_value *v, uint64_t *seen) {
  const json_value *required = json_member(schema, "required"),
                   *dependent = json_member(schema, "dependentRequired");
  bool good = within(j, schema, "minProperties", "maxProperties", v->count);
  if (required) good &= has_all(j, required, v);
  if (dependent && dependent->kind != JSON_OBJECT) return j->lost = true, false;
  for (const json_value *d = dependent ? dependent->first : NULL; d; d = d->next) {
    const json_value name = {.kind = JSON_STRING, .text = d->name, .text_n = d->name_n};
    if (has_name(v, &name)) good &= has_all(j, d, v);
  }
  return check_members(j, schema, v, seen) && good;
}

/* ---- applicators: in place ------------------------------------------------------------------- */

/* Whether a subschema holds; what it evaluates counts if it does. */
static bool holds(judge *j, const json_value *schema, const json_value *v, uint64_t *seen) {
  uint64_t mine = 0;
  bool good = evaluate(j, schema, v, &mine);
  if (good) *seen |= mine;
  return good;
}

/* Of a list: how many hold, and out of how many. */
static uint32_t hold(judge *j, const json_value *list, const json_value *v, uint64_t *seen) {
  uint32_t n = 0;
  if (list->kind != JSON_ARRAY || !list->count) j->lost = true;
  for (const json_value *s = list->first; s && !j->lost; s = s->next) n += holds(j, s, v, seen);
  return n;
}

static bool check_condition(judge *j, const json_value *schema, const json_value *v,
                            uint64_t *seen) {
  const json_value *condition = json_member(schema, "if");
  if (!condition) return true;
  const json_value *then = json_member(schema, holds(j, condition, v, seen) ? "then" : "else");
  return !then || holds(j, then, v, seen);
}

/* "#", or a JSON pointer in a fragment. */
static const json_value *follow(judge *j, const json_value *ref) {
  const json_value *at = j->root;
  const char *p = ref->text, *end = p + ref->text_n;
  if (ref->kind != JSON_STRING || p == end || *p++ != '#' || (p < end && *p != '/'))
    return j->lost = true, NULL;
  while (p < end && at) {
    char part[128];
    size_t n = 0;
    for (p++; p < end && *p != '/'; p++) {
      if (*p == '%' || n + 1 == sizeof part ||
          (*p == '~' && (p + 1 == end || (p[1] != '0' && p[1] != '1'))))
        return j->lost = true, NULL;
      part[n++] = *p != '~' ? *p : *++p == '0' ? '~' : '/';
    }
    part[n] = 0;
    if (at->kind == JSON_ARRAY || memchr(part, 0, n)) return j->lost = true, NULL;
    at = json_member(at, part);
  }
  if (!at) j->lost = true;
  return at;
}

static bool check_in_place(judge *j, const json_value *schema, const json_value *v,
                           uint64_t *seen) {
  const json_value *all = json_member(schema, "allOf"), *any = json_member(schema, "anyOf"),
                   *one = json_member(schema, "oneOf");
  const json_value *not = json_member(schema, "not"), *ref = json_member(schema, "$ref"),
                   *dependent = json_member(schema, "dependentSchemas");
  uint64_t ignored = 0;
  bool good = true;
  const json_value *target = ref ? follow(j, ref) : NULL;
  if (target) good &= holds(j, target, v, seen);
  if (all) good &= hold(j, all, v, seen) == all->count;
  if (any) good &= hold(j, any, v, seen) > 0;
  if (one) good &= hold(j, one, v, seen) == 1;
  if (not ) good &= !evaluate(j, not, v, &ignored);
  if (dependent && dependent->kind != JSON_OBJECT) return j->lost = true, false;
  for (const json_value *d = dependent && v->kind == JSON_OBJECT ? dependent->first : NULL; d;
       d = d->next) {
    const json_value name = {.kind = JSON_STRING, .text = d->name, .text_n = d->name_n};
    if (has_name(v, &name)) good &= holds(j, d, v, seen);
  }
  return check_condition(j, schema, v, seen) && good;
}

/* unevaluatedItems, unevaluatedProperties: for what nothing beside them has evaluated. */
static bool check_rest(judge *j, const json_value *schema, const json_value *v, uint64_t *seen) {
  const json_value *rest = v->kind == JSON_ARRAY    ? json_member(schema, "unevaluatedItems")
                           : v->kind == JSON_OBJECT ? json_member(schema, "unevaluatedProperties")
                                                    : NULL;
  uint32_t i = 0;
  bool good = true;
  for (const json_value *child = rest ? v->first : NULL; child; child = child->next, i++) {
    if (!(*seen >> i & 1)) good &= child_holds(j, rest, child);
  }
  if (rest) *seen = UINT64_MAX;
  return good;
}

/* Keywords that this validator does not follow, in any draft. */
static bool has_others(const json_value *schema) {
  static const char *const others[] = {"$id",
                                       "id",
                                       "$anchor",
                                       "$dynamicRef",
                                       "$dynamicAnchor",
                                       "$recursiveRef",
                                       "$recursiveAnchor",
                                       "$vocabulary",
                                       "format",
                                       "dependencies"};
  static const char draft[] = "https://json-schema.org/draft/2020-12/schema";
  const json_value *named = json_member(schema, "$schema");
  if (named && (named->kind != JSON_STRING ||
                !json_same_text(named->text, named->text_n, draft, sizeof draft - 1)))
    return true;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (json_member(schema, others[i])) return true;
  return false;
}

static bool evaluate_object(judge *j, const json_value *schema, const json_value *v,
                            uint64_t *seen) {
  const json_value *type = json_member(schema, "type");
  bool good = !type || has_type(j, type, v);
  good &= check_equal(j, schema, v);
  if (v->kind == JSON_NUMBER) good &= check_number(j, schema, v);
  if (v->kind == JSON_STRING) good &= check_string(j, schema, v);
  if (v->kind == JSON_ARRAY) good &= check_array(j, schema, v, seen);
  if (v->kind == JSON_OBJECT) good &= check_object(j, schema, v, seen);
  good &= check_in_place(j, schema, v, seen);
  return check_rest(j, schema, v, seen) && good;
}

/* Does the instance hold to the schema? *seen gets a bit for each child that a keyword has
 * evaluated; without a meaning where it does not hold. */
static bool evaluate(judge *j, const json_value *schema, const json_value *v, uint64_t *seen) {
  bool good;
  if (schema->kind == JSON_TRUE || schema->kind == JSON_FALSE) return schema->kind == JSON_TRUE;
  if (schema->kind != JSON_OBJECT || v->count > CHILDREN_MAX || j->depth >= DEPTH_MAX ||
      j->steps++ > STEPS_MAX || has_others(schema))
    j->lost = true;
  if (j->lost) return false;
  j->depth++;
  good = evaluate_object(j, schema, v, seen);
  j->depth--;
  return good;
}

verdict validator_judge(const json_document *schema, const json_value *root,
                        const json_value *instance) {
  judge j = {.root = root};
  uint64_t seen = 0;
  if (schema->repeated || schema->odd) return NO_VERDICT;
  bool good = evaluate(&j, root, instance, &seen);
  return j.lost ? NO_VERDICT : good ? VALID : INVALID;
}

verdict validator_judge_repeated(const json_document *schema) {
  for (uint32_t i = 0; i < schema->values; i++) {
    const json_value *v = json_member(&schema->value[i], "patternProperties");
    if (v && v->kind == JSON_OBJECT && v->count >= 3) return NO_VERDICT;
  }
  return INVALID;
}

verdict validator_judge_texts(const char *schema, size_t schema_n, const char *text, size_t n) {
  /* 2.4 MB: ASan's allocator would map and clear them for each text */
  static json_document documents[2];
  verdict v = NO_VERDICT;
  if (json_document_read(&documents[0], schema, schema_n)) {
    bool json = json_document_read(&documents[1], text, n);
    if (!json)
      v = documents[1].full ? NO_VERDICT : INVALID;
    else if (!documents[1].odd)
      v = documents[1].repeated
              ? validator_judge_repeated(&documents[0])
              : validator_judge(&documents[0], documents[0].value, documents[1].value);
  }
  return v;
}
