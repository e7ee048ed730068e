/* shared.c - the values that all schemas share, made once for a vocabulary.
 *
 * Problem   Most schemas ask for the same things: a string, an integer, a date, an array of
 *           strings. Each compile would make their expressions again, and the walks of their states
 *           would be found anew for each grammar.
 * Idea      The base layer makes them once. A compile takes them by number, so that the states, and
 *           with them the masks, are those of all other grammars of the vocabulary.
 * Example   {"type": "object", "properties": {"id": {"type": "integer"}}} makes an object of its
 *           own. What follows the key "id" is members[…].rule of the base layer: colon, integer,
 *           end.
 * Cost      A few hundred expressions for a vocabulary. With white space of its own, or without a
 *           base layer, a compile makes them for itself.
 * Tested by tests/schema/test_schema.c, tests/grammar/test_store.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/expr/node.h"
#include "compiler/formats/formats.h"
#include "compiler/states/hints.h"
#include "compiler/expr/meaning.h"
#include "compiler/schema/object.h"
#include "runtime/automaton/state.h"

/* What has finitely many states is expanded ahead in the vocabulary's layer. Of integers (1.500e3
 * counts its zeros) those are expanded to which a token leads. Each grammar that comes to others
 * makes them. */

/* The shared rules, in the order in which they are made. A row has what `struct shared` calls the
 * rule, what prints name it, and the fewest bytes that it spells. White space is none where the
 * options want none. Those in COMMON are walked over what anything leaves over
 * (compiler/grammar/base_layer.c); few things come before those in BEGINNINGS. */
#define COMMON(RULE)                                                                    \
  RULE(VALUE, value, "value", 1)             /* any JSON value */                       \
  RULE(OBJECT, object, "object", 2)          /* any object */                           \
  RULE(ARRAY, array, "array", 2)             /* any array */                            \
  RULE(STRING, string, "string", 2)          /* any string, with both quotes */         \
  RULE(REST, string_rest, "string-rest", 1)  /* the same after its first quote */       \
  RULE(NUMBER, number, "number", 1)          /* any number */                           \
  RULE(INTEGER, integer, "integer", 1)       /* 1.0 is one */                           \
  RULE(DIGITS, digits, "digits", 1)          /* an integer as drafts 3 and 4 have it */ \
  RULE(COLON, colon, "colon", 1)             /* between a name and its value */         \
  RULE(MORE, more, "more", 2)                /* , and the quote of the next name */     \
  RULE(END, end, "end", 1)                   /* } after a member */                     \
  RULE(NEXT_ITEM, next_item, "next-item", 1) /* , between items */                      \
  RULE(END_ARRAY, end_array, "end-array", 1) /* ] after an item */

#define BEGINNINGS(RULE)                                                                    \
  RULE(BEGIN, begin, "begin", 2)                         /* { and the first name's quote */ \
  RULE(EMPTY, empty, "empty", 2)                         /* {} */                           \
  RULE(MEMBER_BEGIN, member_begin, "member-begin", 3)    /* : and `begin` */                \
  RULE(MEMBER_EMPTY, member_empty, "member-empty", 3)    /* : and `empty` */                \
  RULE(MEMBER_OBJECT, member_object, "member-object", 3) /* : { and a quote, or } */        \
  RULE(BEGIN_ARRAY, begin_array, "begin-array", 1)       /* [ */                            \
  RULE(MEMBER_ARRAY, member_array, "member-array", 2)    /* : and [ */                      \
  RULE(MEMBER_STRING, member_string, "member-string", 2) /* : and a quote */                \
  RULE(STRINGS, strings, "strings", 2)                   /* an array of any strings */      \
  RULE(NUMBERS, numbers, "numbers", 2)                   /* an array of any numbers */      \
  RULE(INTEGERS, integers, "integers", 2)                /* an array of any integers */

enum {
  SHARED_SPACE,
#define NUMBERED(name, field, printed, shortest) SHARED_##name,
  COMMON(NUMBERED) BEGINNINGS(NUMBERED)
#undef NUMBERED
  /* each of these stands for several rules */
  SHARED_FROM,                                      /* numbers from a bound on: tsl__shared_from */
  SHARED_MIXED = SHARED_FROM + TSL__SHARED_FROM,    /* a string or a number */
  SHARED_FORMAT = SHARED_MIXED + TSL__SHARED_MIXED, /* a string in a format: shared_formats */
  SHARED_MEMBER = SHARED_FORMAT + TSL__SHARED_FORMATS /* : and a value that many members have */
};

#define LINES 2u    /* line breaks in a row, by default */
#define COLUMNS 64u /* of an indentation, by default */

/* One byte of these. */
static tsl__expr one_of(tsl__exprs *x, const char *characters) {
  tsl__bytes set = {{0}};
  for (const char *p = characters; *p; p++) tsl__bytes_add(&set, (uint8_t)*p);
  return tsl__expr_bytes(x, &set);
}

/* White space at one place. With lines: nothing, a blank, or line breaks and an indentation, as
 * printers of JSON write them. Without: any white space, up to a length. */
static tsl__expr space_body(tsl__exprs *x, const struct space_bounds *b) {
  if (!b->lines) return tsl__expr_repeat(x, one_of(x, " \t\n\r"), 0, b->max);
  tsl__expr line = tsl__expr_seq(x, tsl__expr_opt(x, one_of(x, "\r")), one_of(x, "\n")),
            indented = tsl__expr_seq(x, tsl__expr_repeat(x, line, 1, b->lines),
                                     tsl__expr_repeat(x, one_of(x, " \t"), 0, b->columns));
  return tsl__expr_opt(x, tsl__expr_alt(x, one_of(x, " "), indented));
}

/* open space ( close | one space ("," space one space)* close ) */
static tsl__expr container(tsl__exprs *x, const struct shared *c, tsl__expr open, tsl__expr end,
                           tsl__expr one) {
  tsl__expr element[] = {one, c->space};
  one = tsl__schema_sequence(x, element, 2);
  tsl__expr more[] = {tsl__expr_literal(x, ",", 1), c->space, one};
  tsl__expr inner[] = {one, tsl__expr_star(x, tsl__schema_sequence(x, more, 3)), end};
  tsl__expr all[] = {open, c->space, tsl__expr_alt(x, end, tsl__schema_sequence(x, inner, 3))};
  return tsl__schema_sequence(x, all, 3);
}

struct shared_context {
  struct shared shared;
  struct space_bounds space;
  tsl_spelling spelling;
  /* rules that are walked over what anything leaves over (compiler/grammar/base_layer.c);
   * beginnings, which few things come before, and formats are not */
  uint32_t common;
};

/* What a rule stands for, made when it is first looked into. */
static tsl__expr unfold_shared(tsl__exprs *x, void *ctx, uint32_t which) {
  const struct shared_context *context = ctx;
  const struct shared *c = &context->shared;
  tsl__expr quote = c->quote, colon = tsl__expr_literal(x, ":", 1),
            comma = tsl__expr_literal(x, ",", 1);
  tsl__expr more[] = {c->space, comma, c->space, quote};
  tsl__expr member[] = {quote,    c->string_rest, tsl__expr_guard(x, TSL__NEW_NAME),
                        c->space, colon,          c->space,
                        c->value};
  tsl__expr value[] = {c->null, c->yes, c->no, c->number, c->string, c->array, c->object};
  switch (which) {
  case SHARED_SPACE: return space_body(x, &context->space);
  case SHARED_VALUE: return tsl__expr_alt_n(x, value, sizeof value / sizeof *value);
  case SHARED_OBJECT:
    return container(x, c, c->left_brace, c->right_brace,
                     tsl__schema_sequence(x, member, sizeof member / sizeof *member));
  case SHARED_ARRAY: return container(x, c, c->left_bracket, c->right_bracket, c->value);
  case SHARED_STRING: return tsl__expr_seq(x, quote, tsl__expr_json_string(x, tsl__expr_text(x)));
  case SHARED_REST: return tsl__expr_json_string(x, tsl__expr_text(x));
  case SHARED_NUMBER: return c->number_text;
  case SHARED_INTEGER: return c->integer_text;
  case SHARED_DIGITS: return c->digits_text;
  case SHARED_STRINGS: return container(x, c, c->left_bracket, c->right_bracket, c->string);
  case SHARED_NUMBERS: return container(x, c, c->left_bracket, c->right_bracket, c->number);
  case SHARED_INTEGERS: return container(x, c, c->left_bracket, c->right_bracket, c->integer);
  case SHARED_COLON: return tsl__schema_sequence(x, (tsl__expr[]){c->space, colon, c->space}, 3);
  case SHARED_MORE: return tsl__schema_sequence(x, more, sizeof more / sizeof *more);
  case SHARED_END: return tsl__expr_seq(x, c->space, c->right_brace);
  case SHARED_NEXT_ITEM:
    return tsl__schema_sequence(x, (tsl__expr[]){c->space, comma, c->space}, 3);
  case SHARED_END_ARRAY: return tsl__expr_seq(x, c->space, c->right_bracket);
  case SHARED_BEGIN:
    return tsl__schema_sequence(x, (tsl__expr[]){c->left_brace, c->space, quote}, 3);
  case SHARED_EMPTY:
    return tsl__schema_sequence(x, (tsl__expr[]){c->left_brace, c->space, c->right_brace}, 3);
  case SHARED_MEMBER_BEGIN: return tsl__expr_seq(x, c->colon, c->begin);
  case SHARED_MEMBER_EMPTY: return tsl__expr_seq(x, c->colon, c->empty);
  case SHARED_BEGIN_ARRAY: return tsl__expr_seq(x, c->left_bracket, c->space);
  case SHARED_MEMBER_ARRAY: return tsl__expr_seq(x, c->colon, c->begin_array);
  case SHARED_MEMBER_STRING: return tsl__expr_seq(x, c->colon, quote);
  case SHARED_MEMBER_OBJECT:
    return tsl__schema_sequence(
        x,
        (tsl__expr[]){c->colon, c->left_brace, c->space, tsl__expr_alt(x, quote, c->right_brace)},
        4);
  default: {
    if (which < SHARED_MIXED) return c->from[which - SHARED_FROM].text;
    if (which < SHARED_FORMAT) return c->mixed[which - SHARED_MIXED].value;
    if (which < SHARED_MEMBER) return c->formats[which - SHARED_FORMAT].value;
    return tsl__expr_seq(x, c->colon, c->members[which - SHARED_MEMBER].value);
  }
  }
}

/* Formats that public schemas ask for often. Others are made by the grammar that has them. */
static const char *const shared_formats[] = {
    "date-time", "date", "time",     "email",    "uri",          "uri-reference", "uuid",
    "ipv4",      "ipv6", "hostname", "duration", "json-pointer", "iri",           "uri-template"};
_Static_assert(sizeof shared_formats / sizeof *shared_formats == TSL__SHARED_FORMATS,
               "one entry for each");

static void print_shared(void *ctx, uint32_t which, char *out, size_t n) {
#define PRINTED(name, field, printed, shortest) printed,
  static const char *const names[] = {"space", COMMON(PRINTED) BEGINNINGS(PRINTED)};
#undef PRINTED
  (void)ctx;
  snprintf(out, n, "%s",
           which < SHARED_FROM     ? names[which]
           : which < SHARED_MIXED  ? "from"
           : which < SHARED_FORMAT ? "mixed"
           : which < SHARED_MEMBER ? shared_formats[which - SHARED_FORMAT]
                                   : "member");
}

static const tsl__rule_ops shared_ops = {unfold_shared, print_shared, NULL, NULL, NULL};

#define MAKE(name, field, printed, shortest) \
  h->field = tsl__expr_rule(x, &shared_ops, c, SHARED_##name, 0, shortest);

/* One more value that members of many objects have: its rule begins with the colon. */
static void add_member(tsl__exprs *x, struct shared_context *c, tsl__expr value,
                       uint32_t shortest) {
  struct shared *h = &c->shared;
  h->members[h->member_count] = (struct shared_member){
      value, tsl__expr_rule(x, &shared_ops, c, SHARED_MEMBER + h->member_count, 0, 1 + shortest)};
  h->member_count++;
}

/* Members of every simple type, and of these or null. The first is a member of any value. */
static void make_members(tsl__exprs *x, struct shared_context *c) {
  const struct shared *h = &c->shared;
  tsl__expr boolean = tsl__expr_alt(x, h->no, h->yes);
  const struct {
    tsl__expr value;
    uint32_t shortest;
  } kinds[TSL__SHARED_KINDS] = {{h->value, 1},  {h->string, 2}, {h->number, 1}, {h->integer, 1},
                                {h->digits, 1}, {boolean, 4},   {h->object, 2}, {h->array, 2}};
  tsl__expr nullable[TSL__SHARED_NULLABLE][3] = {{h->null, h->string, TSL__NONE},
                                                 {h->null, h->number, TSL__NONE},
                                                 {h->null, h->integer, TSL__NONE},
                                                 {h->null, h->digits, TSL__NONE},
                                                 {h->null, h->no, h->yes}};
  for (uint32_t i = 0; i < TSL__SHARED_KINDS; i++)
    add_member(x, c, kinds[i].value, kinds[i].shortest);
  for (uint32_t i = 0; i < TSL__SHARED_NULLABLE; i++) {
    tsl__expr value = tsl__expr_alt_n(x, nullable[i], nullable[i][2] ? 3 : 2);
    add_member(x, c, value, tsl__expr_shortest(x, value));
  }
}

/* How objects and arrays begin, and members that have such values; arrays of one type. */
static void make_begins(tsl__exprs *x, struct shared_context *c) {
  struct shared *h = &c->shared;
  BEGINNINGS(MAKE)
  add_member(x, c, h->strings, 2);
  add_member(x, c, h->numbers, 2);
  add_member(x, c, h->integers, 2);
}

#define INTEGERS_FROM(least, how)  \
  {.integer = true,                \
   .spelling = how,                \
   .multiples = &tsl__decimal_one, \
   .multiple_count = 1,            \
   .has_min = true,                \
   .min = least}
#define ZERO {.count = 0}
#define ONE {.digits = "1", .count = 1}
const tsl__number_spec tsl__shared_from[TSL__SHARED_FROM] = {INTEGERS_FROM(ZERO, 0),
                                                             INTEGERS_FROM(ONE, 0),
                                                             INTEGERS_FROM(ZERO, TSL__SPELL_DIGITS),
                                                             INTEGERS_FROM(ONE, TSL__SPELL_DIGITS),
                                                             {.has_min = true}};

/* Numbers from 0 or 1 on, which counts and identifiers are. These too are not walked over what
 * anything leaves over. */
static void make_from(tsl__exprs *x, struct shared_context *c) {
  for (uint32_t i = 0; i < TSL__SHARED_FROM && tsl__exprs_status(x) == TSL_OK; i++) {
    struct shared_from *f = &c->shared.from[i];
    tsl__number_spec spec = tsl__schema_number_spelled(&tsl__shared_from[i], c->spelling);
    f->text = tsl__number_expr(x, &spec);
    if (!tsl__number_explore(x, f->text)) return;
    f->rule = tsl__expr_rule(x, &shared_ops, c, SHARED_FROM + i, 0, 1);
    add_member(x, c, f->rule, 1);
  }
}

/* Nor these: a string, or a number. */
static void make_mixed(tsl__exprs *x, struct shared_context *c) {
  struct shared *h = &c->shared;
  const tsl__expr numbers[TSL__SHARED_MIXED] = {h->number, h->integer, h->digits};
  for (uint32_t i = 0; i < TSL__SHARED_MIXED && tsl__exprs_status(x) == TSL_OK; i++) {
    h->mixed[i] = (struct shared_mixed){tsl__expr_alt(x, numbers[i], h->string),
                                        tsl__expr_rule(x, &shared_ops, c, SHARED_MIXED + i, 0, 1)};
    add_member(x, c, h->mixed[i].rule, 1);
  }
}

/* Their rules come after all others. */
static void make_formats(tsl__exprs *x, struct shared_context *c) {
  for (uint32_t i = 0; i < TSL__SHARED_FORMATS && tsl__exprs_status(x) == TSL_OK; i++) {
    struct shared_format *f = &c->shared.formats[i];
    bool known;
    f->text = tsl__format_expr(x, shared_formats[i], strlen(shared_formats[i]), &known);
    if (f->text == TSL__NONE) continue;
    tsl__need_ahead(x, f->text);
    f->value = tsl__expr_seq(x, c->shared.quote, tsl__expr_json_string(x, f->text));
    f->shortest = tsl__expr_shortest(x, f->value);
    f->rule = tsl__expr_rule(x, &shared_ops, c, SHARED_FORMAT + i, 0, f->shortest);
    add_member(x, c, f->rule, f->shortest);
  }
}

/* The text of a format, without quotes; one of the shared ones if it is among these. */
tsl__expr tsl__schema_format(struct schema *s, const char *name, uint32_t length, bool *known) {
  for (uint32_t i = 0; i < TSL__SHARED_FORMATS; i++) {
    const struct shared_format *f = &s->shared.formats[i];
    if (f->text == TSL__NONE || strlen(shared_formats[i]) != length ||
        memcmp(shared_formats[i], name, length) != 0)
      continue;
    *known = true;
    return f->text;
  }
  return tsl__format_expr(s->x, name, length, known);
}

/* Fewest bytes of a string that a goal's entry asks for, quotes included. */
uint32_t tsl__schema_string_shortest(struct schema *s, const struct goal_entry *e) {
  if (e->any_string) return 2;
  if (e->inner) return tsl__add(2, tsl__schema_shortest(s, e->inner));
  if (tsl__schema_nests(s)) {
    tsl__expr text = tsl__schema_text_without(s, e->lits, e->n, s->style->close);
    return text == TSL__NONE ? TSL__INF : tsl__add(2, tsl__expr_shortest(s->x, text));
  }
  const struct shared_format *f = tsl__schema_format_of(s, e->string);
  return f ? f->shortest : tsl__expr_shortest(s->x, e->string);
}

/* The options' white space as bounds. `max` of 0: there is none at all. */
struct space_bounds tsl__schema_space(const tsl_schema_options *o) {
  switch (o->whitespace) {
  case TSL_WS_PLAIN:
    return (struct space_bounds){TSL__INF, o->whitespace_lines ? o->whitespace_lines : LINES,
                                 o->whitespace_columns ? o->whitespace_columns : COLUMNS};
  case TSL_WS_ANY: return (struct space_bounds){.max = TSL__INF};
  case TSL_WS_BOUNDED: return (struct space_bounds){.max = o->whitespace_max};
  default: return (struct space_bounds){0};
  }
}

static tsl__expr number_text(tsl__exprs *x, tsl_spelling how, tsl__number_spec spec) {
  spec = tsl__schema_number_spelled(&spec, how);
  return tsl__number_expr(x, &spec);
}

/* All but numbers from a bound on, mixed values and formats: what a compile without a base layer
 * needs too. */
static struct shared_context *make_shared(tsl__exprs *x, struct space_bounds space,
                                          tsl_spelling spelling) {
  struct shared_context *c = tsl__exprs_alloc(x, sizeof *c);
  if (!c) return NULL;
  struct shared *h = &c->shared;
  memset(c, 0, sizeof *c);
  c->space = space;
  c->spelling = spelling;
  h->number_text = number_text(x, spelling, (tsl__number_spec){.integer = false});
  h->integer_text = number_text(x, spelling, (tsl__number_spec){.integer = true});
  h->digits_text = number_text(x, spelling, (tsl__number_spec){.spelling = TSL__SPELL_DIGITS});
  h->quote = tsl__expr_literal(x, "\"", 1);
  h->left_brace = tsl__expr_literal(x, "{", 1);
  h->right_brace = tsl__expr_literal(x, "}", 1);
  h->left_bracket = tsl__expr_literal(x, "[", 1);
  h->right_bracket = tsl__expr_literal(x, "]", 1);
  h->null = tsl__expr_literal(x, "null", 4);
  h->no = tsl__expr_literal(x, "false", 5);
  h->yes = tsl__expr_literal(x, "true", 4);
  h->space =
      space.max ? tsl__expr_rule(x, &shared_ops, c, SHARED_SPACE, TSL__RULE_NULLABLE, 0) : TSL__EPS;
  COMMON(MAKE)
  make_members(x, c);
  c->common = (uint32_t)x->rules.n;
  make_begins(x, c);
  return tsl__exprs_status(x) == TSL_OK ? c : NULL;
}

/* Once for a vocabulary and a spelling: everything that is shared, in its layer. *common becomes
 * the number of rules that are walked over what anything leaves over. */
tsl_status tsl__schema_warm(tsl__exprs *base, tsl_spelling spelling, uint32_t *common) {
  const tsl_schema_options plain = {.whitespace = TSL_WS_PLAIN, .spelling = TSL_SPELLING_PLAIN},
                           any = {.generous = true};
  tsl_schema_options options = tsl__schema_options_of(spelling == TSL_SPELLING_ANY ? &any : &plain);
  tsl__exprs_plain_strings(base, spelling == TSL_SPELLING_PLAIN);
  struct shared_context *c = make_shared(base, tsl__schema_space(&options), spelling);
  *common = c ? c->common : 0;
  if (c) make_from(base, c);
  if (c) make_mixed(base, c);
  if (c) make_formats(base, c);
  if (c) tsl__exprs_set_user(base, c);
  return tsl__exprs_status(base);
}

uint32_t tsl__schema_between(tsl__exprs *base, tsl__expr out[TSL__SCHEMA_BETWEEN]) {
  const struct shared *h = &((const struct shared_context *)tsl__exprs_user(base))->shared;
  tsl__expr rest = tsl__expr_json_string(base, tsl__expr_text(base));
  tsl__expr comma[] = {tsl__expr_literal(base, ",", 1), h->space, h->quote};
  /* what an object that takes further members of any value goes on with. That is from the end of a
   * name on, of a quote, and of a member, which may be the last */
  tsl__expr named = tsl__expr_seq(base, tsl__expr_guard(base, TSL__NEW_NAME), h->members[0].rule),
            extra = tsl__expr_seq(base, h->string_rest, named),
            next = tsl__expr_seq(base, h->more, extra);
  const tsl__expr all[TSL__SCHEMA_BETWEEN] = {h->space,
                                              h->colon,
                                              h->members[0].rule,
                                              h->more,
                                              h->end,
                                              h->next_item,
                                              h->end_array,
                                              tsl__schema_sequence(base, comma, 3),
                                              h->right_brace,
                                              named,
                                              extra,
                                              next,
                                              tsl__expr_alt(base, h->end, next),
                                              rest};
  memcpy(out, all, sizeof all);
  return TSL__SCHEMA_BETWEEN;
}

/* Take the base layer's values if it writes white space and numbers as this compile does, else make
 * them in the layer of the compile. */
bool tsl__schema_share(struct schema *s) {
  const tsl__exprs *parent = tsl__exprs_parent(s->x);
  const struct shared_context *c = parent ? tsl__exprs_user(parent) : NULL;
  struct space_bounds space = tsl__schema_space(&s->options);
  if (c && (c->spelling != s->options.spelling || memcmp(&c->space, &space, sizeof space) != 0))
    c = NULL;
  if (!c) c = make_shared(s->x, space, s->options.spelling);
  if (c) s->shared = c->shared;
  return c != NULL;
}
