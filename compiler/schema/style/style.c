/* style.c - the members of an object in the styles of tool calls, which are not JSON.
 *
 * Problem   Some models write arguments as <parameter=city>Paris</parameter>: keys and strings
 *           bare, everything else JSON. Which keys may come, in which order, how often, and what
 *           their values must satisfy is still the schema's business, with all its logic.
 * Idea      The object is followed as any other (members.c: keys seen, clauses, counts); only what
 *           is written around keys and values differs. That is a struct tsl__schema_style. Values
 *           inside of values are JSON.
 * Strings   A bare string is its text, up to the first `close`, which it cannot hold: the styles
 *           have no escapes. One `padding` (a line break) on each side is not part of it. One style
 *           has guards, XML's <![CDATA[ and ]]>: a string between them may hold all but the second.
 * Both      A value may be a string or something else (no `type`, or several), and the style may
 *           not say which. Then JSON of an allowed value that is no string is that value, and
 *           everything else is the string.
 * Types     One style names the type of each value. Another one is Python's: strings are written as
 *           JSON's are, but the words for true, false and null differ. That holds at the top:
 *           inside of arrays and objects all is JSON.
 * Nested    Some styles write members and items at every depth in their own way. A value is then a
 *           rule that is unfolded where it is reached. Objects and arrays follow their states as in
 *           JSON, without brackets and commas. Every value that can be reached is looked at when
 *           the schema is compiled. The questions are whether keys can be written, and whether
 *           there is anything to write.
 * Elements  One nested style has an element for each. The closing tag repeats the key. A grammar
 *           cannot compare two free texts. So behind a key that the schema does not name the
 *           closing tag may have any name, and the opening one counts. An empty element is the
 *           empty string where that is allowed, else the empty array, else the empty object.
 * Wrapped   The others have texts of their own around each kind of value: {a:<|"|>x<|"|>,b:[1]}.
 * Lengths   Costs are those of the JSON spelling, which is shorter: lower bounds. Of elements they
 *           are exact. Otherwise a caller who goes where an answer seems to be near its end could
 *           add items for ever.
 * Tested by tests/tags/test_tags.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/schema/array.h"
#include "compiler/schema/object.h"

/* subschemas inside one another; deeper ones are opened to see whether all has a spelling */
#define NESTS_MAX 64u

static tsl__expr literal(struct schema *s, const char *text) {
  return tsl__expr_literal(s->x, text, strlen(text));
}
static tsl__expr styled(struct schema *s, const char *text) {
  return s->style->text(s->style->ctx, text);
}
static tsl__expr seq3(struct schema *s, tsl__expr a, tsl__expr b, tsl__expr c) {
  return tsl__expr_seq(s->x, a, tsl__expr_seq(s->x, b, c));
}

/* Any text with `part` in it. */
static tsl__expr holding(struct schema *s, tsl__expr part) {
  return seq3(s, tsl__expr_text(s->x), part, tsl__expr_text(s->x));
}

/* The bare strings of a goal without that part. */
static tsl__expr text_without(struct schema *s, goal g, const char *part) {
  const struct goal_entry *e = tsl__goal_of(s, g);
  return tsl__schema_text_without(s, e->lits, e->n, part);
}
static tsl__expr bare_text(struct schema *s, goal g) { return text_without(s, g, s->style->close); }

/* What no bare string can hold. */
static const char *stop_of(const struct tsl__schema_style *style) {
  return style->guard[0] ? style->guard[1] : style->close;
}

/* The values of a goal that are of these types, none of them strings, as JSON. */
static tsl__expr values_of(struct schema *s, goal g, uint8_t types) {
  const struct goal_entry *e = tsl__goal_of(s, g);
  tsl__expr all = TSL__NONE;
  if (e->scalars & types & T_NULL) all = tsl__expr_alt(s->x, all, literal(s, "null"));
  if (e->scalars & types & T_FALSE) all = tsl__expr_alt(s->x, all, literal(s, "false"));
  if (e->scalars & types & T_TRUE) all = tsl__expr_alt(s->x, all, literal(s, "true"));
  if ((types & T_NUMBER) && e->number != TSL__NONE) all = tsl__expr_alt(s->x, all, e->number);
  for (uint32_t i = 0; (types & T_ARRAY) && i < e->array_count && tsl__schema_ok(s); i++)
    if (tsl__array_shortest(e->arrays[i]) != TSL__INF)
      all = tsl__expr_alt(s->x, all,
                          e->arrays[i]->any ? s->shared.array : tsl__array_body(e->arrays[i]));
  for (uint32_t i = 0; (types & T_OBJECT) && i < e->object_count && tsl__schema_ok(s); i++)
    if (tsl__object_shortest(e->objects[i]) != TSL__INF)
      all = tsl__expr_alt(s->x, all,
                          e->objects[i]->any ? s->shared.object : tsl__object_body(e->objects[i]));
  return all;
}

static tsl__expr other_values(struct schema *s, goal g) {
  return tsl__goal_of(s, g)->string == TSL__NONE ? tsl__schema_value(s, g) : values_of(s, g, T_ALL);
}

/* Is there nothing but white space? */
static bool blank(tsl__string key) {
  uint32_t i = 0;
  while (i < key.length && strchr(" \t\n\r\f\v", key.at[i])) i++;
  return i == key.length;
}

/* Is a key the name of a tag? */
static bool names_tags(const struct tsl__schema_style *style) {
  return style->nested && !style->around[0][0];
}

static bool key_stops(const struct tsl__schema_style *style, tsl__string key) {
  if (names_tags(style) ? blank(key) || key.at[0] == '/' : style->nested && !key.length)
    return true;
  for (uint32_t i = 0; i < key.length; i++)
    if (tsl__bytes_has(&style->stops, (uint8_t)key.at[i])) return true;
  return false;
}

bool tsl__schema_writes_key(const struct schema *s, tsl__string key) {
  return !key_stops(s->style, key);
}

/* Some characters are written as entities. */
static tsl__expr spelled_key(struct schema *s, tsl__string key) {
  tsl__expr all = TSL__EPS;
  if (!s->style->entities) return tsl__expr_literal(s->x, key.at, key.length);
  for (uint32_t i = key.length; i-- > 0;) {
    char c = key.at[i];
    const char *entity = c == '&'   ? "&amp;"
                         : c == '<' ? "&lt;"
                         : c == '>' ? "&gt;"
                         : c == '"' ? "&quot;"
                                    : NULL;
    tsl__expr one =
        entity ? tsl__expr_literal(s->x, entity, strlen(entity)) : tsl__expr_literal(s->x, &c, 1);
    all = tsl__expr_seq(s->x, one, all);
  }
  return all;
}

/* White space, or what begins with a slash. */
static tsl__expr no_tag_name(struct schema *s) {
  tsl__bytes space = {{0}};
  for (const char *c = " \t\n\r\f\v"; *c; c++) tsl__bytes_add(&space, (uint8_t)*c);
  return tsl__expr_alt(s->x, tsl__expr_star(s->x, tsl__expr_bytes(s->x, &space)),
                       tsl__expr_seq(s->x, literal(s, "/"), tsl__expr_text(s->x)));
}

/* The key as it stands in the text: a known one, or one of a cell without the characters that would
 * end it. */
static tsl__expr key_text(struct schema *s, const struct object *o, uint32_t key, uint32_t cell,
                          tsl__string *known) {
  const struct tsl__schema_style *style = s->style;
  if (key != UINT32_MAX) {
    *known = tsl__stringset_at(s->x, o->set, key);
    return key_stops(style, *known) ? TSL__NONE : spelled_key(s, *known);
  }
  tsl__bytes stops = {{0}};
  for (const char *c = style->key_stops; *c; c++) tsl__bytes_add(&stops, (uint8_t)*c);
  if (names_tags(style)) tsl__bytes_add(&stops, '<');
  for (const char *c = "&<>\""; style->entities && *c; c++) tsl__bytes_add(&stops, (uint8_t)*c);
  tsl__expr stop = holding(s, tsl__expr_bytes(s->x, &stops)),
            never = tsl__expr_alt(s->x, stop, names_tags(style) ? no_tag_name(s) : TSL__EPS),
            text = tsl__expr_text_not(s->x, never);
  return o->cells[cell].all ? text : tsl__expr_and(s->x, o->cells[cell].key, text);
}

/* The same in a frame, so that it can be found in a text. */
static tsl__expr captured_key(struct schema *s, tsl__expr name, const tsl__string *known) {
  return name == TSL__NONE ? name : s->style->capture_key(s->style->ctx, name, known);
}

static tsl__expr maybe(struct schema *s, const char *text) {
  return tsl__expr_opt(s->x, literal(s, text));
}

/* From the end of `between` on, with a value's frame. */
static tsl__expr enclosed(struct schema *s, tsl__expr value) {
  const struct tsl__schema_style *style = s->style;
  tsl__expr inner =
      *style->inner ? tsl__expr_seq(s->x, maybe(s, style->gap), styled(s, style->inner)) : TSL__EPS;
  return seq3(s, inner, value, tsl__expr_seq(s->x, styled(s, style->close), maybe(s, style->gap)));
}

static tsl__expr written(struct schema *s, tsl__expr body, tsl__string key,
                         enum tsl__spelling spelling) {
  const struct tsl__schema_style *style = s->style;
  if (body == TSL__NONE) return body;
  return enclosed(s, seq3(s, maybe(s, style->padding),
                          style->capture_value(style->ctx, body, key.at, key.length, spelling),
                          maybe(s, style->padding)));
}

/* A string between the guards of the style, or without them where nothing in it needs them. */
static tsl__expr written_text(struct schema *s, goal g, tsl__string key) {
  const struct tsl__schema_style *style = s->style;
  if (!style->guard[0]) return written(s, bare_text(s, g), key, TSL__AS_BARE);
  tsl__expr inside = text_without(s, g, style->guard[1]), guarded = inside;
  bool calls = tsl__expr_has_calls(s->x, inside); /* nothing is left out of these texts */
  tsl__expr plain = calls ? TSL__NONE : text_without(s, g, style->guard_stop);
  if (inside != TSL__NONE)
    guarded =
        enclosed(s, seq3(s, styled(s, style->guard[0]),
                         style->capture_value(style->ctx, inside, key.at, key.length, TSL__AS_BARE),
                         styled(s, style->guard[1])));
  return tsl__expr_alt(s->x, written(s, plain, key, TSL__AS_BARE), guarded);
}

/* The values that are no strings, each after the name of its type. */
static tsl__expr typed_values(struct schema *s, goal g, tsl__string key) {
  static const struct {
    const char *name;
    uint8_t types;
  } names[] = {{"null", T_NULL},
               {"boolean", T_FALSE | T_TRUE},
               {"number", T_NUMBER},
               {"array", T_ARRAY},
               {"object", T_OBJECT}};
  tsl__expr all = TSL__NONE;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    tsl__expr values = written(s, values_of(s, g, names[i].types), key, TSL__AS_JSON);
    all = tsl__expr_alt(
        s->x, all, seq3(s, literal(s, names[i].name), styled(s, s->style->typed_between), values));
  }
  return all;
}

/* Python's words, where the values may be what they mean. */
static tsl__expr python_words(struct schema *s, const struct goal_entry *e, tsl__string key) {
  static const struct {
    const char *word;
    uint8_t type;
    enum tsl__spelling spelling;
  } words[] = {{"None", T_NULL, TSL__AS_NULL},
               {"False", T_FALSE, TSL__AS_FALSE},
               {"True", T_TRUE, TSL__AS_TRUE}};
  tsl__expr all = TSL__NONE;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (e->scalars & words[i].type)
      all = tsl__expr_alt(s->x, all, written(s, literal(s, words[i].word), key, words[i].spelling));
  return all;
}

static tsl__expr python_values(struct schema *s, goal g, tsl__string key) {
  const struct goal_entry *e = tsl__goal_of(s, g);
  tsl__expr all = written(
      s,
      tsl__expr_alt(s->x,
                    values_of(s, g, s->style->json_words ? T_ALL : T_NUMBER | T_ARRAY | T_OBJECT),
                    e->any_string ? s->shared.string : e->string),
      key, TSL__AS_JSON);
  return tsl__expr_alt(s->x, all, python_words(s, e, key));
}

/* ---- elements -------------------------------------------------------------------------------- */

static tsl__expr arrays_of(struct schema *s, const struct goal_entry *e) {
  tsl__expr all = TSL__NONE;
  for (uint32_t i = 0; i < e->array_count && tsl__schema_ok(s); i++)
    if (tsl__array_shortest(e->arrays[i]) != TSL__INF)
      all = tsl__expr_alt(s->x, all, tsl__array_body(e->arrays[i]));
  return all;
}

static bool nameless(const struct object *o) { return o->unnamed && !o->n; }

/* Objects of which nothing but {} can be written count only where there is nothing else. */
static tsl__expr objects_of(struct schema *s, const struct goal_entry *e, bool others) {
  tsl__expr all = TSL__NONE;
  for (uint32_t i = 0; i < e->object_count && tsl__schema_ok(s); i++)
    if (!(others && nameless(e->objects[i])) && tsl__object_shortest(e->objects[i]) != TSL__INF)
      all = tsl__expr_alt(s->x, all, tsl__object_body(e->objects[i]));
  return all;
}

/* A value, and the marker of its element's closing tag: so the frame of an empty one is entered. */
static tsl__expr spelled(struct schema *s, tsl__expr body, enum tsl__spelling spelling) {
  if (body == TSL__NONE) return body;
  tsl__expr value = s->style->capture_value(s->style->ctx, body, NULL, 0, spelling);
  if (!tsl__schema_wraps(s)) return tsl__expr_seq(s->x, value, styled(s, s->style->close));
  const char *const *around = s->style->around[spelling];
  return seq3(s, styled(s, around[0]), value, styled(s, around[1]));
}

static tsl__expr unfold_nested(tsl__exprs *x, void *ctx, uint32_t g) {
  struct schema *s = ctx;
  const struct goal_entry *e = tsl__goal_of(s, g);
  tsl__expr all = spelled(s, values_of(s, g, T_NULL | T_FALSE | T_TRUE | T_NUMBER), TSL__AS_JSON);
  if (e->string != TSL__NONE)
    all = tsl__expr_alt(x, all, spelled(s, bare_text(s, g), TSL__AS_BARE));
  all = tsl__expr_alt(x, all, spelled(s, arrays_of(s, e), TSL__AS_ARRAY));
  return tsl__expr_alt(x, all, spelled(s, objects_of(s, e, all != TSL__NONE), TSL__AS_OBJECT));
}

static void print_nested(void *ctx, uint32_t g, char *out, size_t n) {
  (void)ctx;
  snprintf(out, n, "nested#%u", (unsigned)g);
}

static const tsl__rule_ops nested_ops = {unfold_nested, print_nested, NULL, NULL, NULL};

/* The content of an element, and that marker. */
static tsl__expr nested_value(struct schema *s, goal g) {
  struct goal_entry *e = tsl__goal_of(s, g);
  uint32_t bytes = tsl__schema_shortest(s, g);
  if (bytes == TSL__INF || !tsl__schema_open(s, g)) return TSL__NONE;
  if (e->value == TSL__NONE)
    e->value = tsl__expr_rule(
        s->x, &nested_ops, s, g, TSL__RULE_INLINE,
        tsl__schema_wraps(s) ? bytes : tsl__add(bytes - 2, (uint32_t)strlen(s->style->close)));
  return e->value;
}

uint32_t tsl__schema_element_cost(const struct schema *s) {
  return (uint32_t)(strlen(s->style->open) + strlen(s->style->close) +
                    2 * strlen(s->style->between) + strlen("</"));
}

static tsl__expr element(struct schema *s, tsl__expr name, tsl__expr opening_name, goal g) {
  const struct tsl__schema_style *style = s->style;
  tsl__expr between = styled(s, style->between),
            end =
                seq3(s, literal(s, "</"), name, tsl__expr_seq(s->x, between, maybe(s, style->gap)));
  return seq3(s, styled(s, style->open), opening_name, seq3(s, between, nested_value(s, g), end));
}

tsl__expr tsl__schema_styled_item(struct schema *s, goal value) {
  if (tsl__schema_wraps(s))
    return tsl__expr_seq(s->x, styled(s, s->style->item_open), nested_value(s, value));
  return element(s, literal(s, "item"), literal(s, "item"), value);
}

/* ---- members --------------------------------------------------------------------------------- */

tsl__expr tsl__schema_styled_member(struct schema *s, const struct object *o, uint32_t key,
                                    uint32_t cell, goal value) {
  const struct tsl__schema_style *style = s->style;
  tsl__string known = {NULL, 0};
  tsl__expr name = key_text(s, o, key, cell, &known), bare = TSL__NONE, json;
  if (name == TSL__NONE || !tsl__schema_open(s, value)) return TSL__NONE;
  bool free_key = key == UINT32_MAX;
  tsl__expr open = styled(s, style->open), between = styled(s, style->between);
  if (tsl__schema_wraps(s))
    return seq3(s, open, captured_key(s, name, free_key ? NULL : &known),
                tsl__expr_seq(s->x, between, nested_value(s, value)));
  if (style->nested) return element(s, name, captured_key(s, name, NULL), value);
  if (free_key) name = captured_key(s, name, NULL);
  if (style->python)
    return seq3(s, open, name, tsl__expr_seq(s->x, between, python_values(s, value, known)));
  if (tsl__goal_of(s, value)->string != TSL__NONE) bare = written_text(s, value, known);
  json = style->typed ? typed_values(s, value, known)
                      : written(s, other_values(s, value), known, TSL__AS_JSON);
  if (!style->json_open)
    return seq3(s, open, name, tsl__expr_seq(s->x, between, tsl__expr_alt(s->x, json, bare)));
  tsl__expr as_json = seq3(s, styled(s, style->json_open), name,
                           tsl__expr_seq(s->x, styled(s, style->json_between), json));
  return tsl__expr_alt(s->x, seq3(s, open, name, tsl__expr_seq(s->x, between, bare)), as_json);
}

/* ---- the object ------------------------------------------------------------------------------ */

struct collecting {
  struct schema *s;
  tsl__expr all;
};

static void add_object(struct collecting *c, struct object *o) {
  if (!o || !tsl__object_possible(o->schema, o)) return;
  o->styled = true;
  c->all = tsl__expr_alt(c->s->x, c->all, tsl__object_body(o));
}

static void object_leaf(void *ctx, const struct part *parts, const tsl__number_spec *number) {
  (void)number;
  struct collecting *c = ctx;
  add_object(c, tsl__object_new(c->s, 0, parts));
}

typedef TSL__VEC(goal) goals;

static void look_ahead(struct schema *s, goal g, goals *ahead) {
  struct goal_entry *e = tsl__goal_of(s, g);
  if (g == GOAL_NONE || e->spelled || !tsl__schema_possible(s, g)) return;
  e->spelled = true;
  if (!tsl__vec_push(s->alloc, ahead, g))
    tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
}

/* Has the value a spelling, if there is such a value? What is no string is JSON. */
static bool plainly_spelled(struct schema *s, goal g) {
  const struct goal_entry *e = tsl__goal_of(s, g);
  return s->style->python || tsl__schema_text_avoids(s, e->lits, e->n, stop_of(s->style));
}

/* Every key, and every value, must have a spelling: otherwise the way would end in nothing. For
 * most this is seen without opening their goals. */
static bool spellable(struct schema *s, goal g) {
  const struct goal_entry *e = tsl__goal_of(s, g);
  for (uint32_t i = 0; i < e->object_count; i++) {
    const struct object *o = e->objects[i];
    for (uint32_t k = 0; k < o->n && tsl__schema_ok(s); k++) {
      goal value = o->known[k].value;
      tsl__string key = tsl__stringset_at(s->x, o->set, k);
      if (value == GOAL_NONE ||
          (!key_stops(s->style, key) && (s->style->nested || plainly_spelled(s, value))))
        continue;
      if (tsl__schema_shortest(s, value) == TSL__INF) continue; /* there is no such value */
      if (tsl__schema_styled_member(s, o, k, UINT32_MAX, value) != TSL__NONE || !tsl__schema_ok(s))
        continue;
      tsl__schema_fail(s, TSL_ERR_UNSUPPORTED, s->root,
                       "the property \"%.*s\" cannot be written in this style",
                       (int)(key.length < 100 ? key.length : 100), key.at);
    }
  }
  return tsl__schema_ok(s);
}

const tsl__json *tsl__goal_place(const struct schema *s, const struct goal_entry *e) {
  const tsl__json *at = e->n ? tsl__node_of(s, e->lits[0] >> 1)->at : NULL;
  return at ? at : s->root;
}

/* What a value of an element must have to be written, and what is in it. The root may be an object
 * without keys. */
static void check_nested(struct schema *s, goal g, bool root, goals *ahead) {
  struct goal_entry *e = tsl__goal_of(s, g);
  bool others = root || e->scalars || e->number != TSL__NONE ||
                (e->string != TSL__NONE && plainly_spelled(s, g));
  for (uint32_t i = 0; i < e->array_count; i++) {
    struct array *a = e->arrays[i];
    if (tsl__array_shortest(a) == TSL__INF) continue;
    others = true;
    if (a->unique || a->guarded || a->repeats)
      tsl__schema_fail(s, TSL_ERR_UNSUPPORTED, tsl__goal_place(s, e), "uniqueItems in the style %s",
                       s->style->name);
    for (uint32_t k = 0; k < a->prefix_count; k++) look_ahead(s, a->prefix[k], ahead);
    if (a->max > a->prefix_count) look_ahead(s, a->rest, ahead);
  }
  for (uint32_t i = 0; i < e->object_count; i++) {
    others |= !nameless(e->objects[i]);
    for (uint32_t k = 0; k < e->objects[i]->n; k++)
      look_ahead(s, e->objects[i]->known[k].value, ahead);
  }
  if (!others && tsl__schema_ok(s))
    tsl__schema_fail(
        s, TSL_ERR_UNSUPPORTED, tsl__goal_place(s, e),
        "no value can be written here in the style %s, where the keys of objects must be named",
        s->style->name);
}

static bool nested_spellable(struct schema *s, goal root) {
  goals ahead = {0};
  look_ahead(s, root, &ahead);
  for (size_t i = 0; i < ahead.n && tsl__schema_ok(s); i++)
    if (tsl__schema_open(s, ahead.at[i]) && spellable(s, ahead.at[i]))
      check_nested(s, ahead.at[i], ahead.at[i] == root, &ahead);
  tsl__vec_free(s->alloc, &ahead);
  return tsl__schema_ok(s);
}

static tsl__expr all_objects(struct schema *s, goal g) {
  struct collecting c = {s, TSL__NONE};
  const struct goal_entry *e = tsl__goal_of(s, g);
  /* not the goal's own: that may stand inside itself, as JSON */
  if (s->refers && !s->style->nested) {
    tsl__schema_expand(s, g, T_OBJECT, object_leaf, &c);
  } else {
    for (uint32_t i = 0; i < e->object_count; i++) add_object(&c, e->objects[i]);
  }
  return c.all;
}

static bool nests_plainly(struct schema *s, sid id, uint32_t depth);

static bool all_nest(struct schema *s, const struct keyword_value *v, uint32_t depth) {
  for (uint32_t i = 0; v && i < v->count; i++)
    if (!nests_plainly(s, v->children[i], depth)) return false;
  return true;
}

static bool keys_are_written(const struct schema *s, const struct keyword_value *properties) {
  for (uint32_t i = 0; i < properties->count; i++)
    if (key_stops(s->style, (tsl__string){properties->value->items[i].key,
                                          properties->value->items[i].key_length}))
      return false;
  return true;
}

/* What the node's own keywords ask, by type: a value of each type that it may have must have a
 * spelling. */
static bool types_nest(struct schema *s, sid id, const struct node *n, uint32_t depth) {
  const struct keyword_value *properties = tsl__keyword_or_null(n, KW_PROPERTIES),
                             *items = tsl__keyword_or_null(n, KW_ITEMS);
  uint8_t types = n->types & n->possible;
  lit l = POS(id);
  if (n->mask & ~tsl__keyword_sets.styled ||
      (types & (T_ARRAY | T_OBJECT) && n->mask & (OF(ENUM) | OF(CONST))))
    return false;
  if (types & T_STRING && !tsl__schema_text_avoids(s, &l, 1, stop_of(s->style))) return false;
  if (types & T_OBJECT && (!properties || !properties->count || !keys_are_written(s, properties) ||
                           !all_nest(s, properties, depth)))
    return false;
  return !(types & T_ARRAY) ||
         (items && items->value->kind != TSL__JSON_ARRAY && all_nest(s, items, depth));
}

/* Has every value in it, however deep, plainly a spelling? Recursion: NESTS_MAX. A subschema that
 * is open already is looked at further out. One answer of false is the answer for all, so nothing
 * is looked up again after it. */
static bool nests_plainly(struct schema *s, sid id, uint32_t depth) {
  struct node *n = s->nodes.at[id];
  if (n->nests) return true;
  if (depth == NESTS_MAX || !tsl__schema_plain(s, id) || s->resources.at[n->resource].draft == D3 ||
      !tsl__schema_ok(s))
    return false;
  n->nests = true;
  uint64_t rest = n->mask & ~OF(TYPE);
  const struct keyword_value *branches = rest == OF(REF)      ? tsl__keyword(n, KW_REF)
                                         : rest == OF(ANY_OF) ? tsl__keyword(n, KW_ANY_OF)
                                                              : NULL;
  return branches ? all_nest(s, branches, depth + 1) : types_nest(s, id, n, depth + 1);
}

/* Of most objects the schema itself shows that all has a spelling; they are opened when they are
 * entered. */
static bool plainly_spellable(struct schema *s, goal g) {
  const struct goal_entry *e = tsl__goal_of(s, g);
  if (e->opened || e->n != 1 || e->lits[0] & 1 || !tsl__schema_plain_object(s, e->lits[0] >> 1))
    return false;
  if (s->style->nested) return nests_plainly(s, e->lits[0] >> 1, 0);
  const struct keyword_value *properties =
      tsl__keyword(tsl__node_of(s, e->lits[0] >> 1), KW_PROPERTIES);
  for (uint32_t i = 0; i < properties->count && !s->style->python && tsl__schema_ok(s); i++) {
    lit l = POS(properties->children[i]);
    if (!tsl__schema_text_avoids(s, &l, 1, stop_of(s->style))) return false;
  }
  return keys_are_written(s, properties) && tsl__schema_ok(s);
}

static tsl__expr unfold_styled(tsl__exprs *x, void *ctx, uint32_t g) {
  (void)x;
  return tsl__schema_open(ctx, g) ? all_objects(ctx, g) : TSL__NONE;
}

static void print_styled(void *ctx, uint32_t g, char *out, size_t n) {
  (void)ctx;
  snprintf(out, n, "styled#%u", (unsigned)g);
}

static uint32_t styled_shortest(tsl__exprs *x, void *ctx, uint32_t g) {
  return tsl__expr_shortest(x, unfold_styled(x, ctx, g));
}

static const tsl__rule_ops styled_ops = {unfold_styled, print_styled, NULL, styled_shortest, NULL};

static tsl__expr opened_later(struct schema *s, goal g) {
  const struct keyword_value *required =
      tsl__keyword_or_null(tsl__node_of(s, tsl__goal_of(s, g)->lits[0] >> 1), KW_REQUIRED);
  bool empty = !required || !required->value->length;
  return tsl__expr_rule(s->x, &styled_ops, s, g,
                        TSL__RULE_INLINE | (empty ? TSL__RULE_NULLABLE : 0), !empty);
}

tsl__expr tsl__schema_styled(struct schema *s, goal g) {
  if (!tsl__style_unique(s, g)) return TSL__NONE;
  if (plainly_spellable(s, g)) return opened_later(s, g);
  if (!tsl__schema_ok(s) || !tsl__schema_open(s, g) ||
      !(s->style->nested ? nested_spellable(s, g) : spellable(s, g)))
    return TSL__NONE;
  tsl__expr all = all_objects(s, g);
  if (all == TSL__NONE && tsl__schema_ok(s))
    tsl__schema_fail(s, TSL_ERR_UNSUPPORTED, s->root,
                     "arguments in this style are objects, and the schema allows none");
  return all;
}
