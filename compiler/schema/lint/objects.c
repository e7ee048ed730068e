/* objects.c - rules of the lint about objects: their members, the order of these, their branches.
 *
 * Problem   A model writes members in the order of `properties`, one after the other. It sees what
 *           it wrote, and not what comes. So order, and the number of choices, matter more than in
 *           a schema that only validates.
 * Idea      One function for each rule. A rule about names compares letters without case and
 *           without _ and -, so finalAnswer and final_answer are one name.
 * Example   {"properties": {"label": …, "rationale": …}}: "rationale" moves before "label".
 * Doubt     A rule keeps silent where the text alone does not decide. Members may come from a
 *           reference or from an allOf, so the rule `undeclared` skips objects that have one.
 * Cost      Linear in the object. A name that is not declared is compared with all properties,
 *           eight names of an object at most.
 * Tested by tests/schema/test_lint.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/lint/lint.h"

#define SHOWN(v) tsl__lint_shown((v)->key, (v)->key_length), (v)->key

/* The properties of a schema, if they are an object. */
static tsl__json *properties_of(const tsl__json *schema) {
  tsl__json *v = tsl__json_member(schema, "properties");
  return v && v->kind == TSL__JSON_OBJECT ? v : NULL;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* A word that is nearly a keyword asserts nothing: {"minlength": 3} allows every length. */
void tsl__lint_typo(lint *l, lint_place *p) {
  for (uint32_t i = 0; i < p->at->length; i++) {
    tsl__json *m = &p->at->items[i], before = *m;
    if (tsl__schema_keyword(m->key, m->key_length) != KW_COUNT) continue;
    const char *meant = tsl__schema_meant(m->key, m->key_length);
    if (!meant) continue;
    bool mends = tsl__lint_mends(l) && !tsl__json_member(p->at, meant);
    if (mends) {
      m->key = meant;
      m->key_length = (uint32_t)strlen(meant);
    }
    tsl__lint_find(l, p, &before, mends, "\"%.*s\" is no keyword: is %s meant?", SHOWN(&before),
                   meant);
  }
}

/* ---- types ----------------------------------------------------------------------------------- */

#define TYPES_OF(name, text, drafts, shape, types, vocabulary, group, traits) types,
static const uint8_t types_of[] = {TSL__KEYWORDS(TYPES_OF)};
#undef TYPES_OF

/* The one type that keywords of these types belong to; NULL: they are of several. */
static const char *type_name(uint32_t types) {
  return types == T_OBJECT   ? "object"
         : types == T_ARRAY  ? "array"
         : types == T_STRING ? "string"
         : types == T_NUMBER ? "number"
                             : NULL;
}

/* Does the schema around a branch say the type, or is the branch a condition? */
static bool typed_around(const lint_place *p) {
  if (p->role != LINT_BRANCH) return false;
  if (p->via != KW_ANY_OF && p->via != KW_ONE_OF) return true;
  const lint_place *around = p->above;
  while (around->above && around->at->kind == TSL__JSON_ARRAY) around = around->above;
  return tsl__json_member(around->at, "type") || tsl__json_member(around->at, "properties") ||
         around->role == LINT_BRANCH;
}

/* {"minLength": 3} allows every number and every object, besides strings that are long enough. */
void tsl__lint_untyped(lint *l, lint_place *p) {
  uint32_t types = 0;
  const tsl__json *first = NULL;
  for (uint32_t i = 0; i < p->at->length; i++) {
    const tsl__json *m = &p->at->items[i];
    enum keyword k = tsl__schema_keyword(m->key, m->key_length);
    if (k == KW_COUNT || types_of[k] == T_ALL) continue;
    if (k == KW_REQUIRED && m->kind != TSL__JSON_ARRAY) continue; /* draft 3 */
    if (!first) first = m;
    types |= types_of[k];
  }
  if (!first || tsl__json_member(p->at, "type") || tsl__json_member(p->at, "enum") ||
      tsl__json_member(p->at, "const") || tsl__lint_in_place(p->at) || typed_around(p))
    return;
  const char *type = type_name(types);
  tsl__json before = *first;
  bool mends = tsl__lint_mends(l) && type;
  if (mends && !tsl__lint_add(l, p->at, "type", tsl__lint_text(type), true)) return;
  if (type)
    tsl__lint_find(l, p, &before, mends, "%.*s without \"type\": \"%s\"", SHOWN(&before), type);
  else
    tsl__lint_find(l, p, &before, false, "%.*s and keywords of other types, without \"type\"",
                   SHOWN(&before));
}

/* ---- members --------------------------------------------------------------------------------- */

#define NEAREST_MAX 8u /* names of an object that are compared with its properties */

/* Is a property required by its name? The list is read anew, as mending changes it. */
static bool is_demanded(const tsl__json *required, const tsl__json *property) {
  for (uint32_t i = 0; i < required->length; i++)
    if (tsl__json_is(&required->items[i], property->key, property->key_length)) return true;
  return false;
}

/* A required name that no property has: any value may stand there. Mostly the name is
 * misspelled. */
void tsl__lint_undeclared(lint *l, lint_place *p) {
  tsl__json *required = tsl__json_member(p->at, "required"), *properties = properties_of(p->at);
  const tsl__json *more = tsl__json_member(p->at, "additionalProperties");
  lint_names declared;
  uint32_t compared = 0;
  if (!required || required->kind != TSL__JSON_ARRAY || p->role == LINT_BRANCH ||
      tsl__lint_in_place(p->at) || tsl__json_member(p->at, "patternProperties") ||
      tsl__json_member(p->at, "dependentSchemas") || (more && more->kind == TSL__JSON_OBJECT))
    return;
  if (!tsl__lint_names_of(l, properties, &declared)) return;
  for (uint32_t i = 0; i < required->length; i++) {
    tsl__json *name = &required->items[i], before = *name;
    if (name->kind != TSL__JSON_STRING || tsl__lint_named(&declared, name->text, name->length))
      continue;
    const tsl__json *near = properties && compared++ < NEAREST_MAX
                                ? tsl__schema_nearest(properties, name->text, name->length)
                                : NULL;
    bool mends = near && tsl__lint_mends(l) && !is_demanded(required, near);
    if (mends) {
      name->text = near->key;
      name->length = near->key_length;
    }
    if (near)
      tsl__lint_find(l, p, required, mends, "\"%.*s\" is not declared: is \"%.*s\" meant?",
                     tsl__lint_shown(before.text, before.length), before.text, SHOWN(near));
    else
      tsl__lint_find(l, p, required, false, "\"%.*s\" is not declared in properties",
                     tsl__lint_shown(before.text, before.length), before.text);
  }
}

/* Properties that nothing satisfies, as a trial compile has found out (compiled.c). */
void tsl__lint_never(lint *l, lint_place *p) {
  tsl__json *properties = properties_of(p->at);
  for (uint32_t i = 0; properties && l->never_count && i < properties->length; i++)
    for (uint32_t j = 0; j < l->never_count; j++) {
      const tsl__json *m = &properties->items[i];
      if (m->offset != l->never[j]) continue;
      lint_place at = {.above = p, .at = properties, .key = properties->key};
      at.key_length = properties->key_length;
      tsl__lint_find(l, &at, m, false,
                     "no value satisfies the schema of \"%.*s\", so it is never written", SHOWN(m));
    }
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Is it one of these words (small letters, with a space before and after each)? */
static bool is_one_of(const tsl__json *m, const char *words) {
  char letters[TSL__WORD_MAX + 2];
  uint32_t n = tsl__near_letters(m->key, m->key_length, letters + 1);
  if (!n || n >= TSL__WORD_MAX) return false;
  for (uint32_t i = 1; i <= n; i++)
    if (letters[i] == ' ' || !letters[i]) return false;
  letters[0] = letters[n + 1] = ' ';
  for (const char *at = words; (at = strchr(at, ' ')) && at[1]; at++)
    if (!strncmp(at, letters, n + 2)) return true;
  return false;
}

static const char answers[] =
    " answer finalanswer result finalresult conclusion verdict decision label category class "
    "classification score rating sentiment choice output prediction solution grade diagnosis "
    "response selection ";
static const char reasons[] =
    " reasoning reason reasons rationale explanation explanations thought thoughts thinking "
    "chainofthought cot analysis justification evidence scratchpad steps reasoningsteps working "
    "workings stepbystep thoughtprocess argument arguments ";

/* A model that writes the answer first reasons for what it has written already. Every reason
 * moves before the first answer, and the order of the reasons stays. */
void tsl__lint_answer_first(lint *l, lint_place *p) {
  tsl__json *properties = properties_of(p->at);
  uint32_t n = properties ? properties->length : 0, answer = 0;
  while (answer < n && !is_one_of(&properties->items[answer], answers)) answer++;
  for (uint32_t i = answer + 1; i < n; i++) {
    if (!is_one_of(&properties->items[i], reasons)) continue;
    const tsl__json reason = properties->items[i], before = properties->items[answer];
    bool mends = tsl__lint_mends(l);
    if (mends) tsl__lint_move(properties, i, answer++);
    tsl__lint_find(l, p, properties, mends, "\"%.*s\" stands before \"%.*s\"", SHOWN(&before),
                   SHOWN(&reason));
    if (!mends) return;
  }
}

#define SORTED_LEAST 5u /* fewer names are sorted by chance too often */

/* By bytes, as programs sort keys. */
static int compare_keys(const tsl__json *a, const tsl__json *b) {
  uint32_t n = a->key_length < b->key_length ? a->key_length : b->key_length;
  int c = memcmp(a->key, b->key, n);
  return c ? c : (int)(a->key_length > b->key_length) - (int)(a->key_length < b->key_length);
}

/* Does `required` name all properties, each once, in another order? */
static bool has_order(lint *l, const tsl__json *properties, const tsl__json *required) {
  lint_names names;
  bool other = false;
  if (!required || required->kind != TSL__JSON_ARRAY || required->length != properties->length ||
      !tsl__lint_names_of(l, required, &names))
    return false;
  for (uint32_t i = 0; i < properties->length; i++) {
    const tsl__json *m = &properties->items[i], *name = &required->items[i];
    if (!tsl__lint_named(&names, m->key, m->key_length)) return false;
    other = other || !tsl__json_is(name, m->key, m->key_length);
  }
  return other;
}

/* Each property moves to the place of its name. The keys are unique, and so are the names, as there
 * are as many. */
static bool reorder(lint *l, tsl__json *properties, const tsl__json *required) {
  uint32_t n = properties->length;
  tsl__json *items = tsl__arena_alloc(&l->arena, n * sizeof *items);
  if (!items) return l->failed = true, false;
  for (uint32_t i = 0; i < n; i++)
    items[i] = *tsl__json_get(properties, required->items[i].text, required->items[i].length);
  properties->items = items;
  return true;
}

#define REORDER_MAX 1000u /* properties that are put in order: each is looked for */

/* A program has sorted the names, so their order says nothing. `required` often has kept the one
 * that was meant. */
void tsl__lint_sorted(lint *l, lint_place *p) {
  tsl__json *properties = properties_of(p->at), *required = tsl__json_member(p->at, "required");
  uint32_t n = properties ? properties->length : 0, i = 1;
  while (i < n && compare_keys(&properties->items[i - 1], &properties->items[i]) < 0) i++;
  if (n < SORTED_LEAST || i < n) return;
  bool ordered = n <= REORDER_MAX && has_order(l, properties, required);
  bool mends = ordered && tsl__lint_mends(l);
  if (l->failed || (mends && !reorder(l, properties, required))) return;
  tsl__lint_find(l, p, properties, mends,
                 ordered ? "%u names stand in the order of the alphabet; required has another order"
                         : "%u names stand in the order of the alphabet",
                 n);
}

#define OPTIONAL_MAX 16u

/* Each optional member is a choice that the model makes; small models leave out what they should
 * write. */
void tsl__lint_optional(lint *l, lint_place *p) {
  tsl__json *properties = properties_of(p->at);
  lint_names required;
  uint32_t optional = 0;
  if (!properties || properties->length <= OPTIONAL_MAX ||
      !tsl__lint_names_of(l, tsl__json_member(p->at, "required"), &required))
    return;
  for (uint32_t i = 0; i < properties->length; i++)
    optional +=
        !tsl__lint_named(&required, properties->items[i].key, properties->items[i].key_length);
  if (optional > OPTIONAL_MAX)
    tsl__lint_find(l, p, properties, false,
                   "%u of %u members are optional: require them, with null for none, or split the "
                   "object",
                   optional, properties->length);
}

/* An object that lists its members, and takes any others as well. */
void tsl__lint_open(lint *l, lint_place *p) {
  tsl__json *properties = properties_of(p->at);
  bool conditional = p->role == LINT_BRANCH && p->via != KW_ANY_OF && p->via != KW_ONE_OF;
  if (!properties || conditional || typed_around(p) || tsl__lint_in_place(p->at) ||
      tsl__json_member(p->at, "additionalProperties") ||
      tsl__json_member(p->at, "unevaluatedProperties") ||
      tsl__json_member(p->at, "patternProperties"))
    return;
  bool mends = tsl__lint_mends(l);
  const tsl__json no = tsl__lint_word(TSL__JSON_FALSE);
  if (mends && !tsl__lint_add(l, p->at, "additionalProperties", no, false)) return;
  tsl__lint_find(l, p, NULL, mends, "no \"additionalProperties\": false");
}

/* ---- oneOf ----------------------------------------------------------------------------------- */

/* The subschema that a reference into the same text means, one step; the schema itself without. */
static const tsl__json *target_of(const lint *l, const tsl__json *schema) {
  const tsl__json *ref = tsl__json_member(schema, "$ref"), *at = l->base;
  char token[128];
  if (!ref || ref->kind != TSL__JSON_STRING || !ref->length || ref->text[0] != '#') return schema;
  for (uint32_t i = 1; i < ref->length && at;) {
    size_t n = 0;
    if (ref->text[i++] != '/') return schema;
    for (; i < ref->length && ref->text[i] != '/'; i++) {
      char c = ref->text[i];
      if (c == '~' && i + 1 < ref->length) c = ref->text[++i] == '1' ? '/' : '~';
      if (n == sizeof token || c == '%') return schema;
      token[n++] = c;
    }
    at = at->kind == TSL__JSON_ARRAY ? tsl__json_item(at, token, n) : tsl__json_get(at, token, n);
  }
  return at ? at : schema;
}

/* The types that a branch allows, as far as it says so itself. */
static uint32_t types_in(const tsl__json *branch) {
  static const struct {
    const char *name;
    uint32_t types;
  } names[] = {{"null", T_NULL},      {"boolean", T_FALSE | T_TRUE}, {"number", T_NUMBER},
               {"integer", T_NUMBER}, {"string", T_STRING},          {"array", T_ARRAY},
               {"object", T_OBJECT}};
  uint32_t types = 0;
  if (!tsl__json_member(branch, "type"))
    return tsl__json_member(branch, "properties") ? T_OBJECT : T_ALL;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (tsl__schema_names_type(branch, names[i].name)) types |= names[i].types;
  return types;
}

/* The one text that a property must be, or NULL. */
static const tsl__json *constant_of(const tsl__json *branch, const tsl__json *name) {
  const tsl__json *properties = properties_of(branch),
                  *required = tsl__json_member(branch, "required");
  const tsl__json *v = properties ? tsl__json_get(properties, name->key, name->key_length) : NULL;
  const tsl__json *one = v ? tsl__json_member(v, "const") : NULL,
                  *list = v ? tsl__json_member(v, "enum") : NULL;
  bool demanded = false;
  if (!one && list && list->kind == TSL__JSON_ARRAY && list->length == 1) one = &list->items[0];
  for (uint32_t i = 0; required && required->kind == TSL__JSON_ARRAY && i < required->length; i++)
    demanded = demanded || tsl__json_is(&required->items[i], name->key, name->key_length);
  return one && demanded && one->kind == TSL__JSON_STRING ? one : NULL;
}

#define CANDIDATES_MAX 8u /* members that are tried as a discriminator */

/* Does this member differ between all branches that are objects? */
static bool discriminates(lint *l, const tsl__json *branches, const tsl__json *name) {
  tsl__json texts = {.kind = TSL__JSON_ARRAY};
  lint_names names;
  uint32_t distinct = 0;
  texts.items = tsl__arena_alloc(&l->arena, branches->length * sizeof *texts.items);
  if (!texts.items) return l->failed = true, false;
  for (uint32_t i = 0; i < branches->length; i++) {
    const tsl__json *branch = target_of(l, &branches->items[i]);
    if (types_in(branch) != T_OBJECT) continue;
    const tsl__json *one = constant_of(branch, name);
    if (!one) return false;
    texts.items[texts.length++] = *one;
  }
  if (!tsl__lint_names_of(l, &texts, &names)) return false;
  for (uint32_t i = 0; i <= names.mask; i++) distinct += names.slots[i] != NULL;
  return distinct == texts.length;
}

/* The member in which branches differ; NULL: there is none. */
static const tsl__json *discriminator_of(lint *l, const tsl__json *branches) {
  uint32_t tried = 0;
  for (uint32_t i = 0; i < branches->length; i++) {
    const tsl__json *branch = target_of(l, &branches->items[i]);
    if (types_in(branch) != T_OBJECT) continue;
    const tsl__json *properties = properties_of(branch);
    for (uint32_t j = 0; properties && j < properties->length && tried < CANDIDATES_MAX; j++) {
      const tsl__json *name = &properties->items[j];
      if (!constant_of(branch, name)) continue;
      tried++;
      if (discriminates(l, branches, name)) return name;
    }
    return NULL;
  }
  return NULL;
}

/* Do all pairs of branches differ in type, but for objects? */
static bool types_differ(const lint *l, const tsl__json *branches, bool *objects) {
  uint32_t seen = 0, count = 0;
  for (uint32_t i = 0; i < branches->length; i++) {
    uint32_t types = types_in(target_of(l, &branches->items[i]));
    if (seen & types & ~(uint32_t)T_OBJECT) return false;
    if (types & T_OBJECT) {
      if (types != T_OBJECT) return false;
      count++;
    }
    seen |= types;
  }
  *objects = count > 1;
  return true;
}

void tsl__lint_one_of(lint *l, lint_place *p) {
  tsl__json *branches = tsl__json_member(p->at, "oneOf");
  bool objects = false;
  if (!branches || branches->kind != TSL__JSON_ARRAY || branches->length < 2) return;
  bool differ = types_differ(l, branches, &objects);
  const tsl__json *name = differ && objects ? discriminator_of(l, branches) : NULL;
  const tsl__json before = *branches;
  if (l->failed) return;
  if (!differ || (objects && !name)) {
    tsl__lint_find(
        l, p, branches, false,
        "no type and no member separates the branches: give each a required member with its "
        "own \"const\"");
    return;
  }
  bool mends = tsl__lint_mends(l) && !tsl__json_member(p->at, "anyOf");
  if (mends) {
    branches->key = "anyOf";
    branches->key_length = 5;
  }
  if (name)
    tsl__lint_find(l, p, &before, mends, "the branches differ in \"%.*s\": anyOf says the same",
                   SHOWN(name));
  else
    tsl__lint_find(l, p, &before, mends, "the branches differ in type: anyOf says the same");
}
