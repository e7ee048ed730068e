/* mend_arguments.c - arguments that a model wrote, as the schema of the tool has them.
 *
 * Problem   "days": "3", "meta": "{\"k\": 1}" and <parameter=days>3</parameter> are right or wrong
 *           by the schema alone. So is an argument without a name.
 * Idea      Only one thing of the schema counts: which kinds of values may stand at a place. This
 *           is in "type", "enum" and "const", and in all parts of "anyOf", "oneOf", "allOf" and
 *           "$ref" into the same schema. Where no string may stand, a string is read as JSON. Where
 *           only a string may stand, a number becomes one. Where the kinds are not known, nothing
 *           is changed.
 * Example   {"days": {"type": "integer"}} and {"days": "3"}: 3, and the repair "type"
 * Steps     The property "days" allows integers, and the value is the string "3". No string may
 *           stand there, so `decode` reads the text as one JSON value: 3, an integer. It is of an
 *           allowed kind, so the value becomes 3. Had the text been "three", it would be no JSON of
 *           an allowed kind, and would stay as the model wrote it.
 * Places    f("Paris", 3) has arguments without names. The first gets the name of the first
 *           property of the schema, the second that of the second one. A name that is already there
 *           is not given again.
 * Alone     A value that is no object goes to the tool's only property, if it has only one.
 * Typed     {"days": 3} for a property of strings alone becomes "3". A string stays one wherever a
 *           string may be, even if it looks like a number.
 * Wrong     What does not fit stays as it is, with a note. Its kind may be wrong, or no "enum" has
 *           it, or the grammar stopped within it. A required property that is not there is noted.
 * Unknown   A property that the schema does not name stays as it is: its kinds are not known.
 * Inside    Items and members of an argument are fitted, too, 16 deep.
 * Limits    References and combinations are followed 16 deep; what lies deeper is not known.
 * Cost      Linear in the arguments and the properties.
 * Tested by tests/tools/test_mend_arguments.c, tests/programs/test_lenient.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/tools/mend.h"

#define KIND(k) (1u << (k))
#define ALL_KINDS 0x7Fu
#define FOLLOW_MAX 16u /* references and combinations inside one another */
#define LOOKS_MAX 256u /* of them in all, for one value */

/* ---- schemas --------------------------------------------------------------------------------- */

/* What a reference into the same schema means; NULL: it is another one. */
static const tsl__json *resolve(const tsl__json *root, const tsl__json *ref) {
  const char *at = ref->text, *end = ref->text + ref->length;
  if (ref->kind != TSL__JSON_STRING || !ref->length || *at != '#') return NULL;
  for (at++; root && at < end;) {
    const char *from = ++at; /* behind the slash */
    while (at < end && *at != '/') at++;
    root = tsl__json_get(root, from, (size_t)(at - from));
  }
  return root;
}

static uint32_t kind_of_type(const tsl__json *type) {
  static const struct {
    const char *name;
    uint32_t kinds;
  } types[] = {{"null", KIND(TSL__JSON_NULL)},
               {"boolean", KIND(TSL__JSON_FALSE) | KIND(TSL__JSON_TRUE)},
               {"integer", KIND(TSL__JSON_NUMBER)},
               {"number", KIND(TSL__JSON_NUMBER)},
               {"string", KIND(TSL__JSON_STRING)},
               {"array", KIND(TSL__JSON_ARRAY)},
               {"object", KIND(TSL__JSON_OBJECT)}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (tsl__json_says(type, types[i].name)) return types[i].kinds;
  return 0;
}

/* What "type", "enum" and "const" allow. */
static uint32_t own_kinds(const tsl__json *schema) {
  const tsl__json *type = tsl__json_member(schema, "type"),
                  *list = tsl__json_member(schema, "enum"),
                  *one = tsl__json_member(schema, "const");
  uint32_t kinds = ALL_KINDS, some = 0;
  if (type && type->kind == TSL__JSON_STRING) kinds &= kind_of_type(type);
  if (type && type->kind == TSL__JSON_ARRAY) {
    for (uint32_t i = 0; i < type->length; i++) some |= kind_of_type(&type->items[i]);
    kinds &= some;
  }
  if (list && list->kind == TSL__JSON_ARRAY) {
    some = 0;
    for (uint32_t i = 0; i < list->length; i++) some |= KIND(list->items[i].kind);
    kinds &= some;
  }
  return one ? kinds & KIND(one->kind) : kinds;
}

/* Each look is at one schema; the number of all is bounded, too. */
static uint32_t kinds_of(const tsl__json *root, const tsl__json *schema, uint32_t depth,
                         uint32_t *looks) {
  static const char *const words[] = {"anyOf", "oneOf", "allOf"};
  if (!schema || schema->kind != TSL__JSON_OBJECT || depth > FOLLOW_MAX || ++*looks > LOOKS_MAX)
    return ALL_KINDS;
  uint32_t kinds = own_kinds(schema);
  const tsl__json *ref = tsl__json_member(schema, "$ref");
  if (ref) kinds &= kinds_of(root, resolve(root, ref), depth + 1, looks);
  for (int w = 0; w < 3; w++) {
    const tsl__json *list = tsl__json_get(schema, words[w], 5);
    if (!list || list->kind != TSL__JSON_ARRAY) continue;
    uint32_t some = 0;
    for (uint32_t i = 0; i < list->length; i++) {
      uint32_t one = kinds_of(root, &list->items[i], depth + 1, looks);
      if (w == 2)
        kinds &= one;
      else
        some |= one;
    }
    if (w < 2) kinds &= some;
  }
  return kinds;
}

uint32_t tsl__mend_kinds(const tsl__json *root, const tsl__json *schema) {
  uint32_t looks = 0, kinds = kinds_of(root, schema, 0, &looks);
  return kinds == ALL_KINDS ? 0 : kinds;
}

/* The member of a schema, or of one that it combines or refers to. */
static const tsl__json *find(const tsl__json *root, const tsl__json *schema, const char *word,
                             tsl__string key, uint32_t depth, uint32_t *looks) {
  static const char *const words[] = {"anyOf", "oneOf", "allOf"};
  if (!schema || schema->kind != TSL__JSON_OBJECT || depth > FOLLOW_MAX || ++*looks > LOOKS_MAX)
    return NULL;
  const tsl__json *found = tsl__json_member(schema, word), *ref = tsl__json_member(schema, "$ref");
  if (found && key.at) found = tsl__json_get(found, key.at, key.length);
  if (!found && ref) found = find(root, resolve(root, ref), word, key, depth + 1, looks);
  for (int w = 0; !found && w < 3; w++) {
    const tsl__json *list = tsl__json_get(schema, words[w], 5);
    for (uint32_t i = 0; list && list->kind == TSL__JSON_ARRAY && !found && i < list->length; i++)
      found = find(root, &list->items[i], word, key, depth + 1, looks);
  }
  return found;
}

const tsl__json *tsl__mend_property(const tsl__json *root, const tsl__json *schema,
                                    tsl__string key) {
  uint32_t looks = 0;
  return find(root, schema, "properties", key, 0, &looks);
}

const tsl__json *tsl__mend_items(const tsl__json *root, const tsl__json *schema) {
  uint32_t looks = 0;
  return find(root, schema, "items", (tsl__string){NULL, 0}, 0, &looks);
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool blank(const tsl__mend_json *l) {
  for (uint32_t i = l->at; i < l->stop; i++)
    if (!strchr(" \t\r\n", l->text[i]) || !l->text[i]) return false;
  return true;
}

#define DECODED_MAX 3u /* strings in strings */

/* The whole text as one value of an allowed kind, which may be a string in a string; NULL: it is
 * none. */
static tsl__json *decode(tsl__mend *m, tsl__string text, uint32_t kinds, uint32_t depth) {
  tsl__mend_json l;
  tsl__json *value = tsl__mend_value_of(m, text, &l);
  bool again = value && value->kind == TSL__JSON_STRING && !(kinds >> TSL__JSON_STRING & 1u) &&
               value->length < text.length;
  if (again && depth) return decode(m, tsl__json_text(value), kinds, depth - 1);
  bool broken = !value || !blank(&l) || (l.unclean && value->kind < TSL__JSON_ARRAY);
  return !broken && (kinds >> value->kind & 1u) ? value : NULL;
}

/* Give a value the content of another one. */
static void become(tsl__json *value, const tsl__json *from) {
  tsl__json out = *from;
  out.key = value->key;
  out.key_length = value->key_length;
  out.user = value->user;
  *value = out;
}

static void fit_one(tsl__mend *m, const tsl__json *root, const tsl__json *schema, tsl__json *value,
                    uint32_t at) {
  uint32_t kinds = tsl__mend_kinds(root, schema);
  if (!kinds || (kinds >> value->kind & 1u)) return;
  if (value->kind == TSL__JSON_STRING) {
    tsl__json *inner = decode(m, tsl__json_text(value), kinds, DECODED_MAX);
    if (!inner) return;
    tsl__mend_note(m, inner->kind >= TSL__JSON_ARRAY ? TSL__REPAIR_ENCODED : TSL__REPAIR_TYPE, at);
    become(value, inner);
    return;
  }
  if (kinds == KIND(TSL__JSON_STRING) && value->kind < TSL__JSON_STRING &&
      value->kind != TSL__JSON_NULL) {
    static const char *const words[] = {"null", "false", "true"};
    if (value->kind < TSL__JSON_NUMBER)
      value->text = words[value->kind], value->length = (uint32_t)strlen(words[value->kind]);
    value->kind = TSL__JSON_STRING;
    tsl__mend_note(m, TSL__REPAIR_TYPE, at);
  }
}

/* A value, and the values inside of it, to their schemas. */
static void fit_value(tsl__mend *m, const tsl__json *root, const tsl__json *schema,
                      tsl__json *value, uint32_t at, uint32_t depth) {
  fit_one(m, root, schema, value, at);
  if (value->kind < TSL__JSON_ARRAY || !depth || m->work > m->work_max) return;
  const tsl__json *items = value->kind == TSL__JSON_ARRAY ? tsl__mend_items(root, schema) : NULL;
  m->work += value->length;
  for (uint32_t i = 0; i < value->length; i++) {
    tsl__json *one = &value->items[i];
    const tsl__json *of =
        value->kind == TSL__JSON_ARRAY
            ? items
            : tsl__mend_property(root, schema, (tsl__string){one->key, one->key_length});
    if (of) fit_value(m, root, of, one, at, depth - 1);
  }
}

/* As the styles define it: what may be a string and something else is a string unless it is JSON of
 * the other kind. */
void tsl__mend_bare_value(tsl__mend *m, const tsl__json *root, const tsl__json *schema,
                          tsl__string text, uint32_t at, tsl__json *out) {
  uint32_t kinds = tsl__mend_kinds(root, schema);
  if (!kinds) kinds = ALL_KINDS;
  uint32_t others = kinds & ~KIND(TSL__JSON_STRING);
  tsl__json *value = NULL;
  if (others) {
    tsl__mend_json l;
    value = tsl__mend_value_of(m, text, &l);
    bool string = kinds >> TSL__JSON_STRING & 1u;
    if (value && !string && value->kind == TSL__JSON_STRING && blank(&l)) {
      value = decode(m, tsl__json_text(value), others, DECODED_MAX);
      if (value) tsl__mend_note(m, TSL__REPAIR_TYPE, at);
    }
    if (value && (!blank(&l) || !(others >> value->kind & 1u) || (string && l.found))) value = NULL;
    if (value) tsl__mend_notes_of(m, &l, at);
  }
  if (value) {
    become(out, value);
    out->offset += at;
    return;
  }
  out->offset = at;
  out->kind = TSL__JSON_STRING;
  out->text = text.at;
  out->length = text.length;
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* May an object have members that its schema does not name? */
static bool open_to_others(const tsl__json *schema) {
  const tsl__json *more = tsl__json_member(schema, "additionalProperties");
  return tsl__json_member(schema, "patternProperties") || (more && more->kind == TSL__JSON_OBJECT);
}

static bool has_member(const tsl__json *object, tsl__string key) {
  return tsl__json_get(object, key.at, key.length) != NULL;
}

/* An argument without a name gets that of the property at its place. */
static void name_by_place(const tsl__json *properties, tsl__json *arguments, uint32_t i) {
  tsl__json *value = &arguments->items[i];
  if (properties && properties->kind == TSL__JSON_OBJECT && i < properties->length) {
    tsl__string key = tsl__json_key(&properties->items[i]);
    if (!has_member(arguments, key)) value->key = key.at, value->key_length = key.length;
  }
  value->user = 0;
}

/* A name that the schema has in another spelling becomes the schema's. */
static void name_by_spelling(tsl__mend *m, const tsl__json *properties, const tsl__json *arguments,
                             tsl__json *value, uint32_t at) {
  tsl__string key = tsl__json_key(value);
  m->work += properties->length;
  for (uint32_t i = 0; i < properties->length && m->work <= m->work_max; i++) {
    tsl__string known = tsl__json_key(&properties->items[i]);
    if (!tsl__mend_alike(known, key) || has_member(arguments, known)) continue;
    value->key = known.at;
    value->key_length = known.length;
    tsl__mend_note(m, TSL__REPAIR_NAME, at);
    return;
  }
}

/* ---- what does not fit ----------------------------------------------------------------------- */

/* Is it none of the values that "enum" or "const" list? */
static bool is_unlisted(const tsl__json *schema, const tsl__json *value) {
  const tsl__json *list = tsl__json_member(schema, "enum"),
                  *one = tsl__json_member(schema, "const");
  bool found = !list || list->kind != TSL__JSON_ARRAY;
  for (uint32_t i = 0; !found && i < list->length; i++)
    found = tsl__json_equal(&list->items[i], value);
  return !found || (one && !tsl__json_equal(one, value));
}

/* Does the grammar refuse the text within this string or number, which is not spelled in a way of
 * its own? Then the value is too long, out of range, or matches no pattern. */
static bool is_refused_inside(const tsl__mend *m, const tsl__json *value) {
  uint32_t at = m->refused_at, from = value->offset;
  if (!m->refused || m->notes.n || at <= from || at >= m->length || at - from > value->length + 1)
    return false;
  const char *text = m->text + from;
  bool plain = value->kind == TSL__JSON_STRING;
  if (plain) return !memchr(text, '\\', at - from) && m->text[at] != '\\';
  plain = value->kind == TSL__JSON_NUMBER;
  for (uint32_t i = 0; plain && i < value->length; i++)
    plain = (value->text[i] >= '0' && value->text[i] <= '9') || value->text[i] == '-';
  return plain && at - from <= value->length;
}

static bool is_whole(const tsl__json *value) {
  const char *dot = value->length ? memchr(value->text, '.', value->length) : NULL;
  for (; dot && ++dot < value->text + value->length;)
    if (*dot != '0') return false;
  return true;
}

static bool is_wrong(const tsl__mend *m, const tsl__json *root, const tsl__json *schema,
                     const tsl__json *value) {
  uint32_t kinds = tsl__mend_kinds(root, schema);
  const tsl__json *type =
      schema->kind == TSL__JSON_OBJECT ? tsl__json_member(schema, "type") : NULL;
  bool integer = tsl__json_says(type, "integer") && value->kind == TSL__JSON_NUMBER;
  return (kinds && !(kinds >> value->kind & 1u)) || (integer && !is_whole(value)) ||
         is_unlisted(schema, value) || is_refused_inside(m, value);
}

/* Of two members of one name the later one counts. */
static void drop_doubles(tsl__mend *m, tsl__json *arguments, uint32_t at) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < arguments->length; i++) {
    const tsl__json *one = &arguments->items[i];
    bool again = false;
    m->work += arguments->length - i;
    for (uint32_t k = i + 1; m->work <= m->work_max && k < arguments->length && !again; k++)
      again = tsl__json_same_key(one, &arguments->items[k]);
    if (again)
      tsl__mend_note_name(m, TSL__REPAIR_WRONG_ARGUMENT, at, tsl__json_key(one));
    else
      arguments->items[kept++] = *one;
  }
  arguments->length = kept;
}

static void note_missing(tsl__mend *m, const tsl__json *schema, const tsl__json *arguments,
                         uint32_t at) {
  const tsl__json *required = tsl__json_member(schema, "required");
  for (uint32_t i = 0; required && required->kind == TSL__JSON_ARRAY && i < required->length; i++) {
    tsl__string key = {required->items[i].text, required->items[i].length};
    m->work += arguments->length;
    if (required->items[i].kind == TSL__JSON_STRING && m->work <= m->work_max &&
        !has_member(arguments, key))
      tsl__mend_note_name(m, TSL__REPAIR_MISSING_ARGUMENT, at, key);
  }
}

void tsl__mend_fit(tsl__mend *m, const tsl__mend_tool *tool, tsl__json *arguments, uint32_t at) {
  const tsl__json *schema = tool ? tool->parameters : NULL;
  const tsl__json *properties = tsl__json_member(schema, "properties");
  for (uint32_t i = 0; i < arguments->length; i++) {
    tsl__json *value = &arguments->items[i];
    if (value->user) name_by_place(properties, arguments, i);
    if (!schema) continue;
    tsl__string key = tsl__json_key(value);
    const tsl__json *of = tsl__mend_property(schema, schema, key);
    if (!of && properties && properties->kind == TSL__JSON_OBJECT && !open_to_others(schema)) {
      name_by_spelling(m, properties, arguments, value, at);
      key = tsl__json_key(value);
      of = tsl__mend_property(schema, schema, key);
    }
    if (of)
      fit_value(m, schema, of, value, at, FOLLOW_MAX);
    else if (properties && !open_to_others(schema))
      tsl__mend_note_name(m, TSL__REPAIR_UNKNOWN_ARGUMENT, at, key);
    if (of && is_wrong(m, schema, of, value))
      tsl__mend_note_name(m, TSL__REPAIR_WRONG_ARGUMENT, at, key);
  }
  drop_doubles(m, arguments, at);
  if (schema) note_missing(m, schema, arguments, at);
}

/* The properties of a tool, or NULL where it names none. */
static const tsl__json *properties_of(const tsl__mend_tool *tool) {
  const tsl__json *properties = tool ? tsl__json_member(tool->parameters, "properties") : NULL;
  return properties && properties->kind == TSL__JSON_OBJECT && properties->length ? properties
                                                                                  : NULL;
}

/* Arguments without names get those of the properties at their places. A list is several arguments
 * where there are so many properties; the only property gets all of it. Where there are none the
 * name is "input". */
static bool name_all(tsl__mend *m, const tsl__mend_tool *tool, const tsl__json *value,
                     tsl__json *out) {
  const tsl__json *properties = properties_of(tool);
  bool several = value->kind == TSL__JSON_ARRAY && value->length && properties &&
                 properties->length > 1 && value->length <= properties->length;
  uint32_t n = several ? value->length : 1;
  tsl__json *items = tsl__arena_copy(m->arena, several ? value->items : value, n * sizeof *items);
  if (!items) return m->status = TSL_ERR_NO_MEMORY, false;
  for (uint32_t i = 0; i < n; i++) {
    items[i].key = properties ? properties->items[i].key : "input";
    items[i].key_length = properties ? properties->items[i].key_length : 5;
    items[i].user = 0;
  }
  out->items = items;
  out->length = n;
  return true;
}

/* f({"a": 1}): one argument without a name, which is all of them. It is not, where the first
 * property may be an object. */
static bool holds_all(const tsl__mend_tool *tool, const tsl__json *value) {
  const tsl__json *properties = properties_of(tool);
  if (value->kind != TSL__JSON_OBJECT || value->length != 1 || !value->items[0].user ||
      value->items[0].kind != TSL__JSON_OBJECT)
    return false;
  uint32_t kinds = properties ? tsl__mend_kinds(tool->parameters, &properties->items[0]) : 0;
  return kinds && !(kinds >> TSL__JSON_OBJECT & 1u);
}

/* {"arguments": {...}} as the arguments, where no property has that name: what is inside. */
static const tsl__json *unwrapped(tsl__mend *m, const tsl__mend_tool *tool, const tsl__json *value,
                                  uint32_t at) {
  static const char *const wrappers[] = {"arguments", "parameters", "properties",
                                         "args",      "kwargs",     "input"};
  const tsl__json *properties = properties_of(tool), *inner;
  if (!properties || value->kind != TSL__JSON_OBJECT || value->length != 1) return value;
  inner = &value->items[0];
  for (size_t i = 0; inner->kind == TSL__JSON_OBJECT && i < sizeof wrappers / sizeof *wrappers; i++)
    if (tsl__string_is(tsl__json_key(inner), wrappers[i]) &&
        !tsl__json_member(properties, wrappers[i])) {
      tsl__mend_note(m, TSL__REPAIR_MEMBER, at);
      return inner;
    }
  return value;
}

/* [{"name": "city", "value": "Paris"}, ...] as an object, where these are properties; NULL: it is
 * another list. */
static tsl__json *paired(tsl__mend *m, const tsl__mend_tool *tool, const tsl__json *list) {
  const tsl__json *properties = properties_of(tool);
  if (!properties || list->kind != TSL__JSON_ARRAY || !list->length) return NULL;
  tsl__json *out = tsl__mend_new_object(m),
            *items = tsl__arena_copy(m->arena, list->items, list->length * sizeof *items);
  if (!out || !items) return m->status = TSL_ERR_NO_MEMORY, NULL;
  for (uint32_t i = 0; i < list->length; i++) {
    const tsl__json *pair = &list->items[i], *name, *value;
    if (pair->kind != TSL__JSON_OBJECT || pair->length != 2) return NULL;
    name = tsl__json_member(pair, "name") ? tsl__json_member(pair, "name")
                                          : tsl__json_member(pair, "key");
    value = tsl__json_member(pair, "value");
    if (!name || !value || name->kind != TSL__JSON_STRING ||
        !tsl__json_get(properties, name->text, name->length))
      return NULL;
    items[i] = *value;
    items[i].key = name->text;
    items[i].key_length = name->length;
  }
  out->items = items;
  out->length = list->length;
  return out;
}

tsl__json *tsl__mend_object(tsl__mend *m, const tsl__mend_tool *tool, const tsl__json *value,
                            uint32_t at) {
  tsl__json *out = tsl__mend_new_object(m), *inner;
  if (!out) return NULL;
  if (value && holds_all(tool, value)) value = &value->items[0];
  if (value) value = unwrapped(m, tool, value, at);
  tsl__json *pairs = value ? paired(m, tool, value) : NULL;
  if (pairs) {
    tsl__mend_note(m, TSL__REPAIR_MEMBER, at);
    value = pairs;
  }
  if (value && value->kind == TSL__JSON_OBJECT) {
    become(out, value);
  } else if (value && value->kind == TSL__JSON_STRING && value->length &&
             (inner = decode(m, tsl__json_text(value), KIND(TSL__JSON_OBJECT), DECODED_MAX))) {
    tsl__mend_note(m, TSL__REPAIR_ENCODED, at);
    become(out, inner);
  } else if (value && value->kind == TSL__JSON_ARRAY && value->length == 1 &&
             value->items[0].kind == TSL__JSON_OBJECT) {
    tsl__mend_note(m, TSL__REPAIR_BRACKET, at);
    become(out, &value->items[0]);
  } else if (value && value->kind != TSL__JSON_NULL &&
             !((value->kind == TSL__JSON_STRING || value->kind == TSL__JSON_ARRAY) &&
               !value->length)) {
    if (!name_all(m, tool, value, out)) return NULL;
    tsl__mend_note(m, TSL__REPAIR_POSITION, at);
  } else if (value) {
    tsl__mend_note(m, TSL__REPAIR_TYPE, at);
  }
  out->key = NULL;
  out->key_length = 0;
  tsl__mend_fit(m, tool, out, at);
  return m->status == TSL_OK ? out : NULL;
}
