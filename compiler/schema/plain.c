/* plain.c - what a look at the keywords of a subschema shows, before anything is made of it.
 *
 * Problem   A request may bring hundreds of schemas, of which a generation uses one or two. A
 *           compile must still say of each whether anything satisfies it. To find the alternatives
 *           of its goal, make its objects and measure the shortest value would take most of the
 *           compile.
 * Idea      Most subschemas are plain: they constrain each type by a keyword or two. Then the tree
 *           itself says of which types there certainly is a value. Examples are a string whose
 *           lengths leave room, and an object whose required members have values in turn. What is
 *           not plain is left to empty.c, which decides exactly.
 * Example   {"type": "object", "properties": {"a": {"type": "integer", "minimum": 3}, "b": {"not":
 *           {}}}, "required": ["a"]} has an object. 3 is a value of "a", and "b" may stay away.
 * Begins    The same look shows how arrays and objects begin, so a value is offered before its goal
 *           is opened. The goal of an object is opened when a text enters the object. For {"oneOf":
 *           [{"$ref": "#/$defs/O"}, {"type": "null"}]} nothing is opened. All places that refer to
 *           O enter the same object.
 * Together  Several subschemas may speak of one value (a member that a pattern names as well).
 *           There is a value if one of them has one, of a type of which the others take all.
 * Right     A type is claimed only if there is a value of it; a type that is not claimed may have
 *           values all the same. So answers can be kept. A subschema may be looked at while it is
 *           being looked at, as it requires itself or refers to itself. Then it claims nothing.
 * Cost      A look at each keyword of each subschema that something needs, once.
 * Tested by tests/schema/test_schema.c, and by every test that finds a schema satisfiable or not
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/node.h"
#include "compiler/schema/object.h"

#define DEPTH_MAX 64u /* subschemas inside one another; deeper ones are not plain */
/* properties looked at for names that are not required in their order */
#define SEARCH_MAX 4096u
#define DIGITS_MAX 15u       /* of bounds that are compared here */
#define BYTES_MAX (1u << 24) /* of a value that is claimed, about */
#define ALONE_MAX 8u         /* branches of oneOf that are compared with all others */
/* subschemas looked at for the one that says what arrays and objects there are, or for what takes
 * all values of a type */
#define LEAVES_MAX 64u
#define TOGETHER_MAX 8u /* subschemas for one value that are looked at together */

static const uint64_t plain_members =
    OF(TYPE) | OF(PROPERTIES) | OF(REQUIRED) | OF(ADDITIONAL_PROPERTIES);

/* A look at one subschema. */
struct look {
  struct schema *s;
  const struct node *n;
  sid id;
  uint32_t depth;
  uint64_t bytes; /* no type that is claimed needs more, about */
};

static uint8_t claim(struct schema *s, sid id, uint32_t depth, uint64_t *bytes);

static uint32_t count_of(const struct node *n, enum keyword k, uint32_t otherwise) {
  const struct keyword_value *v = tsl__keyword_or_null(n, k);
  return v ? v->count : otherwise;
}

/* Can the style write one of the strings? */
static bool writes_string(struct look *l) {
  lit own = POS(l->id);
  return !tsl__schema_nests(l->s) || tsl__schema_text_avoids(l->s, &own, 1, l->s->style->close);
}

static void needs(struct look *l, uint64_t bytes) {
  if (bytes > l->bytes) l->bytes = bytes;
}

/* ---- scalars --------------------------------------------------------------------------------- */

/* Values that are listed, with no other demand but their type. */
static uint8_t listed(struct look *l) {
  const struct node *n = l->n;
  uint8_t types = 0, unclear = n->integer ? T_NUMBER : 0;
  if (n->mask & ~(OF(TYPE) | OF(ENUM)) && n->mask & ~(OF(TYPE) | OF(CONST))) return 0;
  if (l->s->max_nesting) unclear |= T_ARRAY | T_OBJECT;
  if (tsl__schema_nests(l->s)) unclear |= T_ARRAY | T_OBJECT;
  const tsl__json *list = tsl__has(n, KW_ENUM) ? tsl__keyword(n, KW_ENUM)->value : NULL,
                  *one = list ? list->items : tsl__keyword(n, KW_CONST)->value;
  for (uint32_t i = 0; i < (list ? list->length : 1); i++) {
    types |= tsl__json_type(&one[i]);
    needs(l, one[i].kind >= TSL__JSON_ARRAY ? one[i].end - one[i].offset : one[i].length);
  }
  if (types & T_STRING && !writes_string(l)) unclear |= T_STRING;
  return types & n->types & (uint8_t)~unclear;
}

static bool some_string(struct look *l) {
  const struct node *n = l->n;
  const struct keyword_value *text =
      tsl__has(n, KW_PATTERN) ? tsl__keyword(n, KW_PATTERN) : tsl__keyword_or_null(n, KW_FORMAT);
  needs(l, count_of(n, KW_MIN_LENGTH, 0));
  if (!text) return count_of(n, KW_MIN_LENGTH, 0) <= count_of(n, KW_MAX_LENGTH, TSL__INF);
  /* more than one keyword */
  if ((n->mask & tsl__keyword_sets.plain_strings) &
          ((n->mask & tsl__keyword_sets.plain_strings) - 1) ||
      text->exprs[0] == TSL__NONE)
    return false;
  tsl__node e = tsl__node_at(l->s->x, text->exprs[0]);
  needs(l, e.shortest);
  return e.flags & TSL__SEARCHED && writes_string(l);
}

/* An integer that is spelled with few digits. */
static bool small_integer(const tsl__json *v, int64_t *out) {
  bool negative = v->length && v->text[0] == '-';
  *out = 0;
  if (v->length > DIGITS_MAX + negative) return false;
  for (uint32_t i = negative; i < v->length; i++) {
    if (v->text[i] < '0' || v->text[i] > '9') return false;
    *out = *out * 10 + (v->text[i] - '0');
  }
  if (negative) *out = -*out;
  return true;
}

static bool some_number(const struct node *n) {
  uint64_t limits = n->mask & tsl__keyword_sets.plain_numbers;
  int64_t least = 0, most = 0;
  if (limits == OF(MULTIPLE_OF) || limits == OF(DIVISIBLE_BY)) return true; /* 0 */
  if (limits & ~(OF(MINIMUM) | OF(MAXIMUM))) return false;
  if (tsl__has(n, KW_MINIMUM) && !small_integer(tsl__keyword(n, KW_MINIMUM)->value, &least))
    return false;
  if (tsl__has(n, KW_MAXIMUM) && !small_integer(tsl__keyword(n, KW_MAXIMUM)->value, &most))
    return false;
  return limits != (OF(MINIMUM) | OF(MAXIMUM)) || least <= most;
}

/* ---- arrays and objects ---------------------------------------------------------------------- */

static bool some_array(struct look *l) {
  const struct node *n = l->n;
  uint32_t min = count_of(n, KW_MIN_ITEMS, 0);
  uint64_t bytes = 8;
  if (!min) return true; /* [] */
  if (l->s->max_nesting || min > count_of(n, KW_MAX_ITEMS, TSL__INF)) return false;
  if (n->mask & (OF(UNIQUE_ITEMS) | OF(PREFIX_ITEMS) | OF(ADDITIONAL_ITEMS))) return false;
  const struct keyword_value *items = tsl__keyword_or_null(n, KW_ITEMS);
  if (items &&
      (items->value->kind == TSL__JSON_ARRAY || !claim(l->s, items->children[0], l->depth, &bytes)))
    return false;
  needs(l, min * bytes);
  return true;
}

/* The index of a property, looked for from *from on: names are mostly required in the order of the
 * properties. */
static uint32_t find_property(const struct keyword_value *properties, const tsl__json *name,
                              uint32_t *from, uint32_t *looked) {
  for (uint32_t i = 0, at = *from; i < properties->count && *looked < SEARCH_MAX;
       i++, at++, (*looked)++) {
    if (at >= properties->count) at = 0;
    const tsl__json *p = &properties->value->items[at];
    if (p->key_length == name->length && !memcmp(p->key, name->text, name->length))
      return *from = at + 1, at;
  }
  return UINT32_MAX;
}

static bool has_members(struct look *l, const tsl__json *names) {
  const struct keyword_value *properties = tsl__keyword_or_null(l->n, KW_PROPERTIES),
                             *others = tsl__keyword_or_null(l->n, KW_ADDITIONAL_PROPERTIES);
  uint32_t from = 0, looked = 0;
  uint64_t total = 8;
  if (l->n->mask & tsl__keyword_sets.plain_objects & ~plain_members || l->s->max_nesting)
    return false;
  for (uint32_t i = 0; i < names->length; i++) {
    uint32_t at =
        properties ? find_property(properties, &names->items[i], &from, &looked) : UINT32_MAX;
    uint64_t bytes = 8;
    if (looked == SEARCH_MAX) return false;
    if (tsl__schema_nests(l->s) &&
        (at == UINT32_MAX || !tsl__schema_writes_key(l->s, (tsl__string){names->items[i].text,
                                                                         names->items[i].length})))
      return false;
    if (at != UINT32_MAX ? !claim(l->s, properties->children[at], l->depth, &bytes)
                         : others && !claim(l->s, others->children[0], l->depth, &bytes))
      return false;
    total += bytes + names->items[i].length;
  }
  needs(l, total);
  return true;
}

static bool some_object(struct look *l) {
  const struct keyword_value *required = tsl__keyword_or_null(l->n, KW_REQUIRED);
  if (count_of(l->n, KW_MIN_PROPERTIES, 0)) return false;
  return !required || !required->value->length || has_members(l, required->value); /* {} */
}

/* ---- all together ---------------------------------------------------------------------------- */

static uint8_t of_keywords(struct look *l) {
  const struct node *n = l->n;
  uint8_t types = n->types & n->possible;
  if (types & T_STRING && n->mask & tsl__keyword_sets.plain_strings && !some_string(l))
    types &= (uint8_t)~T_STRING;
  if (types & T_NUMBER && n->mask & tsl__keyword_sets.plain_numbers && !some_number(n))
    types &= (uint8_t)~T_NUMBER;
  if (types & T_ARRAY && n->mask & tsl__keyword_sets.plain_arrays && !some_array(l))
    types &= (uint8_t)~T_ARRAY;
  if (types & T_OBJECT && n->mask & tsl__keyword_sets.plain_objects && !some_object(l))
    types &= (uint8_t)~T_OBJECT;
  return types;
}

/* Those of the types whose values satisfy no other branch, if they satisfy this one. */
static uint8_t alone(struct schema *s, const struct keyword_value *v, uint32_t branch,
                     uint8_t types) {
  for (uint32_t i = 0; i < v->count && types; i++) {
    uint8_t both = i == branch ? 0 : types & tsl__schema_plain_node(s, v->children[i])->possible;
    for (; both; both &= (uint8_t)(both - 1)) {
      uint8_t type = both & (uint8_t)-both;
      if (!tsl__schema_work(s, 16) ||
          !tsl__schema_disjoint(s, type, v->children[branch], v->children[i]))
        types &= (uint8_t)~type;
    }
  }
  return types;
}

/* The branches of a node that combines others and asks nothing else but perhaps a type; NULL: it is
 * none. */
static const struct keyword_value *branches_alone(const struct node *n) {
  uint64_t rest = n->mask & ~OF(TYPE);
  bool alone = rest == OF(REF) || rest == OF(ANY_OF) || rest == OF(ONE_OF) || rest == OF(ALL_OF);
  return alone ? &n->values[tsl__has(n, KW_TYPE)] : NULL; /* values are in the order of keywords */
}

/* What one of the branches has; of oneOf only what no other has, which is not looked for for
 * long. */
static uint8_t of_branches(struct look *l, const struct keyword_value *v) {
  uint8_t types = 0;
  uint32_t looked = 0;
  if (v->keyword == KW_ALL_OF && v->count != 1) return 0;
  for (uint32_t i = 0; i < v->count; i++) {
    uint64_t bytes = 0;
    uint8_t own = claim(l->s, v->children[i], l->depth, &bytes) & (uint8_t)~types;
    if (v->keyword == KW_ONE_OF && own) own = looked++ < ALONE_MAX ? alone(l->s, v, i, own) : 0;
    types |= own;
    if (own) needs(l, bytes);
  }
  return types & l->n->types;
}

static uint8_t look_at(struct look *l) {
  const struct node *n = l->n;
  const struct keyword_value *branches = branches_alone(n);
  if (n->mask & (OF(ENUM) | OF(CONST))) return listed(l);
  if (branches) return of_branches(l, branches);
  if (n->mask & ~tsl__keyword_sets.plain) return 0;
  /* a member's schema says that it is required */
  if (tsl__has(n, KW_PROPERTIES) && l->s->resources.at[n->resource].draft == D3) return 0;
  return of_keywords(l);
}

/* Recursion: DEPTH_MAX. *bytes: what the types need that are claimed. */
static uint8_t claim(struct schema *s, sid id, uint32_t depth, uint64_t *bytes) {
  struct node *n = s->nodes.at[id];
  if (id == SID_FALSE || depth == DEPTH_MAX) return 0;
  if (!n->looked_at) {
    struct look l = {.s = s, .n = n, .id = id, .depth = depth + 1, .bytes = 16};
    n->looked_at = true; /* claims nothing for now */
    uint8_t types = look_at(&l);
    tsl__exprs_work(s->x, 1);
    if (l.bytes <= BYTES_MAX) n->plain = types, n->plain_bytes = (uint32_t)l.bytes;
  }
  *bytes = n->plain_bytes;
  return n->plain;
}

uint8_t tsl__schema_plain(struct schema *s, sid id) {
  uint64_t bytes;
  return claim(s, id, 0, &bytes);
}

/* Those of the types of which every value satisfies the lit, as far as that is plain. Recursion is
 * bounded by *left. */
static uint8_t takes_all(const struct schema *s, lit l, uint8_t types, uint32_t *left);

/* The same of a node's branches together: of oneOf the types of which one takes all values, and no
 * other may have any. */
static uint8_t branches_take_all(const struct schema *s, const struct keyword_value *v,
                                 uint8_t types, uint32_t *left) {
  uint8_t some = 0, all = types, possible = 0, twice = 0;
  for (uint32_t i = 0; i < v->count; i++) {
    uint8_t own = takes_all(s, POS(v->children[i]), types, left),
            may = tsl__schema_plain_node(s, v->children[i])->possible;
    some |= own;
    all &= own;
    twice |= possible & may;
    possible |= may;
  }
  return v->keyword == KW_ANY_OF ? some : v->keyword == KW_ONE_OF ? some & (uint8_t)~twice : all;
}

static uint8_t takes_all(const struct schema *s, lit l, uint8_t types, uint32_t *left) {
  l = tsl__schema_simplify(s, l);
  const struct node *n = tsl__node_of(s, l >> 1);
  const struct keyword_value *branches = branches_alone(n);
  if (l & 1) return types & (uint8_t)~n->possible;
  if (l == POS(SID_FALSE) || !*left) return 0;
  --*left;
  types &= n->types & n->possible & (uint8_t) ~(n->integer ? T_NUMBER : 0);
  if (branches) return types ? branches_take_all(s, branches, types, left) : 0;
  if (n->mask & ~tsl__keyword_sets.plain) return 0;
  if (n->mask & tsl__keyword_sets.plain_strings) types &= (uint8_t)~T_STRING;
  if (n->mask & tsl__keyword_sets.plain_numbers) types &= (uint8_t)~T_NUMBER;
  if (n->mask & tsl__keyword_sets.plain_arrays) types &= (uint8_t)~T_ARRAY;
  if (n->mask & tsl__keyword_sets.plain_objects) types &= (uint8_t)~T_OBJECT;
  return types;
}

uint8_t tsl__schema_plain_together(struct schema *s, const lit *lits, uint32_t n) {
  uint8_t found = 0;
  for (uint32_t i = 0; i < n && n <= TOGETHER_MAX; i++) {
    uint8_t types = lits[i] & 1 ? 0 : tsl__schema_plain(s, lits[i] >> 1);
    uint32_t left = LEAVES_MAX;
    for (uint32_t j = 0; j < n && types; j++)
      if (j != i) types = takes_all(s, lits[j], types, &left);
    found |= types;
  }
  return found;
}

/* Do its keywords say something of the members of objects? */
static bool says_of_members(const struct schema *s, const struct node *n) {
  const struct keyword_value *others = tsl__keyword_or_null(n, KW_ADDITIONAL_PROPERTIES),
                             *required = tsl__keyword_or_null(n, KW_REQUIRED);
  if ((tsl__has(n, KW_PROPERTIES) && tsl__keyword(n, KW_PROPERTIES)->count) ||
      tsl__has(n, KW_PATTERN_PROPERTIES))
    return true;
  return (others && tsl__schema_simplify(s, POS(others->children[0])) != POS(SID_TRUE)) ||
         (required && required->value->length);
}

/* Do its keywords say something of all the arrays and objects that it is about? */
static bool says_something(const struct schema *s, sid id) {
  const struct node *n = tsl__schema_plain_node(s, id);
  if (n->possible & T_OBJECT && !says_of_members(s, n)) return false;
  if (!(n->possible & T_ARRAY)) return true;
  const struct keyword_value *items = tsl__keyword_or_null(n, KW_ITEMS);
  return items && items->value->kind != TSL__JSON_ARRAY &&
         tsl__schema_simplify(s, POS(items->children[0])) != POS(SID_TRUE);
}

bool tsl__schema_plain_container(struct schema *s, sid id) {
  const struct node *n = tsl__node_of(s, id);
  uint8_t types = tsl__schema_plain(s, id);
  if (!(types & (T_ARRAY | T_OBJECT))) return false;
  if (types & ~(T_ARRAY | T_OBJECT) || says_something(s, id)) return true;
  const struct keyword_value *branches =
      tsl__has(n, KW_ANY_OF) ? tsl__keyword(n, KW_ANY_OF) : tsl__keyword_or_null(n, KW_ONE_OF);
  bool all = branches != NULL;
  for (uint32_t i = 0; all && i < branches->count; i++)
    all = says_something(s, branches->children[i]);
  return all;
}

bool tsl__schema_plain_object(const struct schema *s, sid id) {
  const struct node *n = tsl__node_of(s, id);
  return n->types == T_OBJECT && tsl__has(n, KW_PROPERTIES) && !(n->mask & ~plain_members) &&
         tsl__keyword(n, KW_PROPERTIES)->count && s->resources.at[n->resource].draft != D3;
}

/* The node that alone says what values of the type are. It is *id or, below combinations in which
 * all other branches are about other types, one of theirs. False: it is not plain that there is
 * one. *id becomes SID_FALSE where there are no such values. */
static bool find_leaf(const struct schema *s, sid *id, uint8_t type, uint32_t *left) {
  lit l = tsl__schema_simplify(s, POS(*id));
  const struct node *n = tsl__node_of(s, l >> 1);
  *id = l >> 1;
  if (l & 1 || !*left) return false;
  --*left;
  if (*id == SID_FALSE || !(n->possible & type)) return *id = SID_FALSE, true;
  const struct keyword_value *v = branches_alone(n);
  if (!v) return true;
  if (v->keyword == KW_ALL_OF && v->count != 1) return false;
  *id = SID_FALSE;
  for (uint32_t i = 0; i < v->count; i++) {
    sid one = v->children[i];
    if (!find_leaf(s, &one, type, left) || (one != SID_FALSE && *id != SID_FALSE)) return false;
    if (one != SID_FALSE) *id = one;
  }
  return true;
}

static bool plain_arrays(const struct node *n) {
  const struct keyword_value *items = tsl__keyword_or_null(n, KW_ITEMS);
  return !(n->mask & tsl__keyword_sets.plain_arrays &
           ~(OF(ITEMS) | OF(MIN_ITEMS) | OF(MAX_ITEMS))) &&
         !(items && items->value->kind == TSL__JSON_ARRAY);
}

static bool matches_some(struct schema *s, const struct keyword_value *patterns,
                         const tsl__json *property) {
  for (uint32_t i = 0; patterns && i < patterns->count; i++)
    if (tsl__expr_matches(s->x, patterns->exprs[i], property->key, property->key_length))
      return true;
  return false;
}

/* Is it plain that one of the members that need not come may? */
static bool some_member(struct schema *s, const struct node *n) {
  const struct keyword_value *properties = tsl__keyword_or_null(n, KW_PROPERTIES),
                             *patterns = tsl__keyword_or_null(n, KW_PATTERN_PROPERTIES);
  const struct keyword_value *others = tsl__keyword_or_null(n, KW_ADDITIONAL_PROPERTIES);
  for (uint32_t i = 0; properties && i < properties->count; i++)
    if (tsl__schema_plain(s, properties->children[i]))
      return !matches_some(s, patterns, &properties->value->items[i]);
  if (!patterns) return !others || tsl__schema_plain(s, others->children[0]);
  if (patterns->count != 1 || (properties && properties->count) || patterns->exprs[0] == TSL__NONE)
    return false;
  return tsl__node_at(s->x, patterns->exprs[0]).flags & TSL__SEARCHED &&
         tsl__schema_plain(s, patterns->children[0]);
}

/* Is it plain how its objects begin? */
static bool plain_objects(struct schema *s, sid id, struct plain_containers *out) {
  const struct node *n = tsl__node_of(s, id);
  const struct keyword_value *required = tsl__keyword_or_null(n, KW_REQUIRED);
  out->ends = !required || !required->value->length;
  out->any_object = !says_of_members(s, n);
  if (n->mask & tsl__keyword_sets.plain_objects & ~(plain_members | OF(PATTERN_PROPERTIES)) ||
      s->resources.at[n->resource].draft == D3)
    return false;
  /* where there are no other values it can be looked up */
  if (n->possible != T_OBJECT && !(tsl__schema_plain(s, id) & T_OBJECT)) return false;
  /* what is required comes, if there is any object */
  return !out->ends || out->any_object || some_member(s, n);
}

bool tsl__schema_plain_containers(struct schema *s, sid id, struct plain_containers *out) {
  uint32_t left = LEAVES_MAX;
  *out = (struct plain_containers){id, id, false, false};
  if (!find_leaf(s, &out->array, T_ARRAY, &left) || !find_leaf(s, &out->object, T_OBJECT, &left))
    return false;
  const struct node *array = tsl__node_of(s, out->array), *object = tsl__node_of(s, out->object);
  if ((array->mask | object->mask) & ~tsl__keyword_sets.plain ||
      (out->array == SID_FALSE && out->object == SID_FALSE))
    return false;
  return (out->array == SID_FALSE || plain_arrays(array)) &&
         (out->object == SID_FALSE || plain_objects(s, out->object, out));
}
