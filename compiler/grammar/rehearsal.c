/* rehearsal.c - see rehearsal.h.
 *
 * Steps     Take each shape of schema, and each kind of value that finds something in it. Fill
 *           both into a schema and into a text. Compile the schema in a layer above, and follow
 *           the text byte by byte, with the mask of each position. `note` collects what that layer
 *           made of things that all lie below: unions of masks below, walks of states below,
 *           leftovers of nodes. The layer is freed, and do_for_all makes them in the vocabulary's
 *           layer.
 * Example   {"qza": $} with $ as an integer, and the text {"qza": 12}. After `12` a digit, a `}`
 *           or white space may follow: the mask is a union of "digits go on" and "the object
 *           ends". Both parts are masks of the base layer. So this union is made there, once.
 * Order     What one schema left in the layer is there before the next one is compiled. So a later
 *           schema finds what is walked over leftovers that an earlier one made.
 * Names     qza and its like are in no schema that people write, so no walk is made for a name. The
 *           masks in the middle of names are those of all names. So the first value of a shape has
 *           them made, and no other one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/grammar/rehearsal.h"

#include "compiler/expr/node.h"
#include "compiler/formats/formats.h"
#include "compiler/schema/schema.h"
#include "runtime/position/stacks.h"
#include "runtime/walk/walk.h"

#define TEXT_MAX 2048u /* bytes of a schema, or of a text of it */
#define ALL UINT8_MAX  /* shapes */

/* Values, each with two texts. A value is filled into the first `shapes` of the shapes: in the
 * others it finds nothing new with any of seven vocabularies. */
static const struct value {
  uint8_t shapes;
  const char *schema, *text, *other;
} values[] = {
    {ALL, "{\"type\":\"string\"}", "\"a b\"", "\"\""},
    {ALL, "{\"type\":\"integer\"}", "-12", "20"},
    {ALL, "{\"type\":\"number\"}", "1.5", "-20"},
    {3, "{\"type\":\"boolean\"}", "true", "false"},
    {ALL, "{\"enum\":[\"one\",\"two\"]}", "\"one\"", "\"two\""},
    {ALL, "{\"type\":[\"string\",\"null\"]}", "\"a\"", "null"},
    {ALL, "{\"type\":\"object\"}", "{\"a\": 1}", "{}"},
    {ALL, "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}", "{\"a\": \"b\"}",
     "{}"},
    {3, "{\"type\":\"array\"}", "[1]", "[]"},
    {3, "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}", "[\"a\"]", "[]"},
    {3,
     "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"qzi\":{\"type\":"
     "\"string\"}}}}",
     "[{\"qzi\": \"a\"}]", "[]"},
    {ALL, "{}", "\"a\"", "0"},
    {3, "{}", "[\"a\", {\"x\": \"\"}]", "{\"x\": \"a\", \"y\": [{}]}"},
    {ALL, "{\"type\":\"string\",\"minLength\":1}", "\"ab\"", "\"c\""},
    {ALL, "{\"type\":\"string\",\"maxLength\":100}", "\"ab\"", "\"\""},
    {ALL, "{\"type\":\"string\",\"format\":\"date-time\"}", "\"2020-01-02T03:04:05Z\"",
     "\"2020-01-02T03:04:05Z\""},
    {ALL, "{\"type\":\"string\",\"format\":\"date\"}", "\"2020-01-02\"", "\"2020-01-02\""},
    {ALL, "{\"type\":\"string\",\"format\":\"uri\"}", "\"https://a.b/c\"", "\"a:b\""},
    {3, "{\"type\":\"integer\",\"minimum\":0}", "12", "0"},
    {1, "{\"type\":\"number\",\"minimum\":0}", "1.5", "20"},
    {3, "{\"type\":[\"array\",\"null\"],\"items\":{\"type\":\"string\"}}", "[\"a\"]", "null"},
    {ALL, "{\"type\":[\"array\",\"null\"],\"items\":{\"type\":[\"string\",\"null\"]}}", "[\"a\"]",
     "null"},
    {3,
     "{\"type\":[\"array\",\"null\"],\"items\":{\"type\":\"object\",\"properties\":{\"qzi\":{"
     "\"type\":\"string\"}}}}",
     "[{\"qzi\": \"a\"}]", "null"},
    {3, "{\"type\":[\"object\",\"null\"],\"properties\":{\"qzi\":{\"type\":\"string\"}}}",
     "{\"qzi\": \"a\"}", "null"},
    {3, "{\"type\":[\"integer\",\"null\"]}", "12", "null"},
    {3, "{\"type\":\"array\",\"items\":{\"type\":[\"string\",\"null\"]}}", "[\"a\"]", "[null]"},
    {ALL,
     "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"qzi\":{\"type\":"
     "\"string\"}},\"required\":[\"qzi\"],\"additionalProperties\":false}}",
     "[{\"qzi\": \"a\"}]", "[{\"qzi\": \"a\"}, {\"qzi\": \"\"}]"},
    {3, "{\"type\":\"integer\",\"minimum\":1}", "12", "2"},
    {ALL, "{\"type\":\"string\",\"minLength\":1,\"maxLength\":50}", "\"a\"", "\"ab c\""},
    {3, "{\"type\":\"array\",\"items\":{\"enum\":[\"one\",\"two\"]}}", "[\"one\"]", "[]"},
    {3, "{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}", "[1, 2]", "[]"},
    {ALL, "{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":{\"type\":\"number\"}}}",
     "[[1, 2]]", "[]"},
    {2, "{\"enum\":[\"one\",\"two\",null]}", "\"one\"", "null"},
    {3, "{\"type\":[\"string\",\"number\"]}", "\"one\"", "1"},
    {3, "{\"type\":[\"string\",\"integer\"]}", "\"one\"", "1"},
    {3, "{\"type\":[\"boolean\",\"null\"]}", "true", "null"},
    {3, "{\"type\":[\"number\",\"null\"]}", "1.5", "null"},
    {3, "{\"type\":[\"array\",\"string\"],\"items\":{\"type\":\"string\"}}", "[\"a\"]", "\"a\""},
    {3, "{\"type\":[\"object\",\"string\"]}", "{\"a\": 1}", "\"a\""},
    {2, "{\"type\":\"array\",\"items\":{\"type\":\"number\"}}", "[1, 2]", "[]"},
    {2,
     "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"qzi\":{\"type\":"
     "\"array\",\"items\":{\"type\":\"string\"}}}}}",
     "[{\"qzi\": [\"a\"]}]", "[]"},
    {3,
     "{\"type\":\"object\",\"properties\":{\"qzi\":{\"type\":\"object\",\"properties\":{\"qzj\":{"
     "\"type\":\"string\"}}}}}",
     "{\"qzi\": {\"qzj\": \"a\"}}", "{}"},
    {3,
     "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"object\",\"properties\":{\"qzi\":{\"type\":"
     "\"string\"}}}]}",
     "\"one\"", "{\"qzi\": \"a\"}"},
    {2, "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"type\":\"string\"}}]}",
     "\"one\"", "[\"a\"]"},
};

/* Objects, `$` for a value: their members required or not, other members allowed or not. No token
 * ends one of their names, as hardly any ends those of a schema. */
static const struct shape {
  const char *schema, *text;
} shapes[] = {
    {"{\"type\":\"object\",\"properties\":{\"qza\":$,\"qzb\":{\"type\":\"object\",\"properties\":{"
     "\"qzf\":$,\"qzg\":$}},"
     "\"qzc\":{\"type\":\"array\",\"items\":$},\"qzd\":$,\"qze\":{\"type\":\"object\","
     "\"additionalProperties\":$}}}",
     "{\"qza\": $, \"qzb\": {\"qzf\": $, \"qzg\": $}, \"qzc\": [$, $], \"qzd\": $, \"qze\": "
     "{\"x\": $, \"y\": $}}"},
    {"{\"type\":\"object\",\"properties\":{\"qza\":$,\"qzb\":{\"type\":\"object\",\"properties\":{"
     "\"qzf\":$,\"qzg\":$},\"additionalProperties\":false},"
     "\"qzc\":{\"type\":\"array\",\"items\":$},\"qzd\":$,\"qze\":{\"type\":\"array\",\"items\":{"
     "\"type\":\"object\",\"properties\":{\"qzh\":$},\"additionalProperties\":false}}},"
     "\"additionalProperties\":false}",
     "{\"qza\": $, \"qzb\": {\"qzf\": $, \"qzg\": $}, \"qzc\": [$, $], \"qzd\": $, \"qze\": "
     "[{\"qzh\": $}, {\"qzh\": $}]}"},
    {"{\"type\":\"object\",\"properties\":{\"qza\":$,\"qzb\":{\"type\":\"object\",\"properties\":{"
     "\"qzf\":$,\"qzg\":$},\"required\":[\"qzf\",\"qzg\"]},"
     "\"qzc\":{\"type\":\"array\",\"items\":$},\"qzd\":$,\"qze\":{\"type\":\"array\",\"items\":{"
     "\"type\":\"object\",\"properties\":{\"qzh\":$},\"required\":[\"qzh\"]}}},\"required\":["
     "\"qza\",\"qzb\",\"qzc\",\"qzd\",\"qze\"]}",
     "{\"qza\": $, \"qzb\": {\"qzf\": $, \"qzg\": $}, \"qzc\": [$, $], \"qzd\": $, \"qze\": "
     "[{\"qzh\": $}, {\"qzh\": $}]}"},
    {"{\"type\":\"object\",\"properties\":{\"qza\":$,\"qzb\":{\"type\":\"object\",\"properties\":{"
     "\"qzf\":$,\"qzg\":$},\"required\":[\"qzf\",\"qzg\"],\"additionalProperties\":false},"
     "\"qzc\":{\"type\":\"array\",\"items\":$},\"qzd\":$,\"qze\":{\"type\":\"array\",\"items\":{"
     "\"type\":\"object\",\"properties\":{\"qzh\":$},\"required\":[\"qzh\"],"
     "\"additionalProperties\":false}}},\"required\":[\"qza\",\"qzb\",\"qzc\",\"qzd\",\"qze\"],"
     "\"additionalProperties\":false}",
     "{\"qza\": $, \"qzb\": {\"qzf\": $, \"qzg\": $}, \"qzc\": [$, $], \"qzd\": $, \"qze\": "
     "[{\"qzh\": $}, {\"qzh\": $}]}"},
};

/* Texts of formats: where they are in their middle depends on what was read, years and months for
 * one. Each hour has states of its own for its minutes (compiler/formats/formats.c), some 36 KB.
 * Those of the middle of the day are written most. */
static const struct written {
  const char *format, *texts[12];
} written[] = {
    {"date-time",
     {"2022-02-28T12:34:56.789+02:00", "2024-11-30T23:59:59Z", "1999-04-15T20:00:00.5-11:30",
      "2023-12-31T00:00:00Z", "2020-02-29T19:08:10Z", "2021-10-01T04:15:00Z",
      "2022-01-01T12:00:00Z", "2023-01-15T10:00:00Z", "2024-12-31T11:00:00Z",
      "2022-06-15T13:00:00Z", "2025-01-01T14:00:00Z", "2024-03-10T15:00:00Z"}},
    {"date", {"2022-02-28", "2024-11-30", "1999-04-15", "2023-12-31", "2020-02-29", "2021-10-01"}},
    {"time", {"12:34:56.789+02:00", "23:59:59Z", "00:00:00Z"}},
    {"email", {"john.doe@example.com", "a@b.co.uk"}},
    {"uri", {"https://www.example.com/path/to?q=a%20b&c=1#top", "http://localhost:8080/"}},
    {"iri", {"https://www.example.com/path/to?q=a#top", "https://example.com/", "http://a.b/c"}},
    {"uuid", {"123e4567-e89b-12d3-a456-426614174000"}},
    {"ipv4", {"192.168.0.1", "10.25.255.100"}},
};

#define FORMATS_MAX 3u

/* Texts of strings of one of several formats. Those of a host's first label stand for all labels of
 * that length (compiler/formats/host.c). */
static const struct passed {
  const char *formats[FORMATS_MAX], *texts[3];
} passed[] = {
    {{"hostname"}, {"abcdefghijklmnopqrstuvwx", "ab-d-f-h-j-l-n-p-r-t", "www.example.com"}},
    {{"hostname", "ipv4", "ipv6"}, {"localhost", "192.168.0.1"}},
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* What a layer above this one has done that this one can do for all. */
typedef struct findings {
  TSL__VEC(tsl__union) unions; /* `all`: whether it was joined */
  TSL__VEC(tsl__walk) walks;
  TSL__VEC(uint32_t) left;       /* leftovers: how many nodes, and these */
  TSL__VEC(tsl__child) children; /* of leftovers below: by which byte */
} findings;

/* A shape's text with one value and another in turns; false: it is too long. */
static bool fill_in(char out[TEXT_MAX], const char *shape, const char *value, const char *other) {
  size_t at = 0;
  for (bool first = true; *shape; shape++) {
    bool gap = *shape == '$';
    const char *put = gap ? (first ? value : other) : shape;
    size_t n = gap ? strlen(put) : 1;
    if (at + n >= TEXT_MAX) return false;
    memcpy(out + at, put, n);
    at += n;
    first ^= gap;
  }
  out[at] = 0;
  return true;
}

static bool of_masks_below(const tsl__space *above, const tsl__union *u) {
  for (uint32_t i = 0; i < TSL__UNION_MAX && u->parts[i]; i++)
    if (!(u->parts[i] & TSL__UNION_TOKEN) && u->parts[i] >= above->masks.first) return false;
  return true;
}

/* Of a state, and over a leftover, of the layer below; what counts has a context of its own for
 * each count. */
static bool of_states_below(const tsl__space *above, const tsl__walk *w) {
  return w->state && w->state < above->states.first &&
         tsl__leftover_set(w->over) < above->leftovers.first && w->context <= 1 && !w->follow &&
         !(tsl__state_at(above, w->state)->flags & TSL__STATE_LOOP);
}

static bool note_left(tsl__space *space, const tsl__leftover_rec *r, findings *f) {
  if (!tsl__vec_reserve(&space->alloc, &f->left, r->n + 1u)) return false;
  f->left.at[f->left.n] = r->n;
  memcpy(f->left.at + f->left.n + 1, r->nodes, r->n * sizeof *r->nodes);
  f->left.n += r->n + 1u;
  return true;
}

static bool note(tsl__space *space, const tsl__space *above, findings *f) {
  bool fine = true;
  for (uint32_t i = 0; i < above->unions.pool.n && fine; i++) {
    tsl__union u = *(const tsl__union *)tsl__pool_at(&above->unions.pool, i);
    if (!of_masks_below(above, &u)) continue;
    u.all = tsl__mask_at(above, u.all)->joined;
    fine = tsl__vec_push(&space->alloc, &f->unions, u);
  }
  for (uint32_t i = 0; i < above->walks.pool.n && fine; i++) {
    const tsl__walk *w = tsl__pool_at(&above->walks.pool, i);
    if (of_states_below(above, w)) fine = tsl__vec_push(&space->alloc, &f->walks, *w);
  }
  for (uint32_t i = 0; i < above->leftovers.pool.n && fine; i++)
    fine = note_left(space, tsl__pool_at(&above->leftovers.pool, i), f);
  for (uint32_t i = 0; i < above->children.pool.n && fine; i++) {
    const tsl__child *c = tsl__pool_at(&above->children.pool, i);
    if (c->set && c->set < above->leftovers.first)
      fine = tsl__vec_push(&space->alloc, &f->children, *c);
  }
  return fine;
}

/* Does this byte of a shape's text go on with a name? All names begin with "qz". */
static bool within_name(const char *text, size_t i) {
  return (i > 0 && !memcmp(text + i - 1, "qz", 2)) || (i > 1 && !memcmp(text + i - 2, "qz", 2));
}

/* The masks of a text's positions, in the middle of names only if `names`; false on failure, or
 * if the text is none. */
static bool go_through(tsl__space *above, tsl__state root, const char *text, bool names) {
  tsl__stack at = root ? tsl__stack_begin(above, root) : 0;
  for (size_t i = 0; at && above->status == TSL_OK && text[i]; i++) {
    tsl__space_begin(above);
    if (names || !within_name(text, i)) tsl__stack_mask(above, at);
    at = tsl__stack_byte(above, at, (uint8_t)text[i]);
  }
  if (at) tsl__stack_mask(above, at);
  return at && above->status == TSL_OK;
}

static void unite(tsl__space *space, const tsl__union *u) {
  tsl__gather *g = space->gather;
  tsl__gather_clear(g);
  for (uint32_t i = 0; i < TSL__UNION_MAX && u->parts[i]; i++) {
    if (u->parts[i] & TSL__UNION_TOKEN)
      tsl__gather_token(space, g, u->parts[i] & ~TSL__UNION_TOKEN);
    else
      tsl__gather_mask(space, g, u->parts[i]);
  }
  if (u->all)
    tsl__gather_joined(space, g);
  else
    tsl__gather_done(space, g);
}

static void do_for_all(tsl__space *space, const findings *f) {
  for (size_t i = 0; i < f->unions.n && space->status == TSL_OK; i++)
    unite(space, &f->unions.at[i]);
  for (size_t i = 0; i < f->left.n && space->status == TSL_OK; i += f->left.at[i] + 1)
    tsl__leftover_intern(space, f->left.at + i + 1, f->left.at[i]);
  for (size_t i = 0; i < f->children.n && space->status == TSL_OK; i++)
    tsl__leftover_child(space, f->children.at[i].set, f->children.at[i].byte);
  for (size_t i = 0; i < f->walks.n && space->status == TSL_OK; i++) {
    tsl__space_begin(space);
    /* as if something followed: that does for those that nothing follows, too */
    tsl__walk_over(space, f->walks.at[i].state, 0, f->walks.at[i].over, false);
  }
  if (f->walks.n) tsl__states_hint(space); /* nothing else expands a state */
}

/* What comes of one schema is done before the next, which finds out what is walked over what the
 * first has left. */
static bool rehearse(tsl__space *space, const char *schema, const char *text, bool names,
                     findings *f) {
  tsl__space *above;
  tsl__exprs *x;
  struct tsl__schema_result made = {0};
  const tsl_schema_options options = {.order = TSL_ORDER_ANY,
                                      .whitespace = TSL_WS_PLAIN,
                                      .spelling = TSL_SPELLING_PLAIN,
                                      .generous = !tsl__states_exprs(space)->plain_strings};
  if (tsl__states_layer(space, space->vocab, NULL, &above, &x) != TSL_OK) return false;
  f->unions.n = f->walks.n = f->left.n = f->children.n = 0;
  bool fine =
      tsl__schema_compile(x, schema, strlen(schema), &options, NULL, &made, NULL) == TSL_OK &&
      made.root != TSL__NONE;
  above->positions.watches = tsl__exprs_watches(x);
  fine = fine && go_through(above, tsl__state_of(above, made.root), text, names) &&
         note(space, above, f);
  tsl__space_free(above);
  if (fine) do_for_all(space, f);
  return fine && space->status == TSL_OK;
}

static bool rehearse_all(tsl__space *space, findings *f) {
  char schema[TEXT_MAX], text[TEXT_MAX];
  for (size_t s = 0; s < COUNT(shapes); s++)
    for (size_t i = 0; i < COUNT(values); i++) {
      const struct value *v = &values[i];
      if (s >= v->shapes) continue;
      if (!fill_in(schema, shapes[s].schema, v->schema, v->schema) ||
          !fill_in(text, shapes[s].text, v->text, v->other) ||
          !rehearse(space, schema, text, i == 0, f))
        return false;
    }
  return true;
}

static bool rehearse_formats(tsl__space *space, findings *f) {
  char schema[TEXT_MAX], text[TEXT_MAX];
  for (size_t i = 0; i < COUNT(written); i++)
    for (size_t k = 0; k < COUNT(written[i].texts) && written[i].texts[k]; k++)
      if (!fill_in(schema, "{\"type\":\"string\",\"format\":\"$\"}", written[i].format, "") ||
          !fill_in(text, "\"$\"", written[i].texts[k], "") ||
          !rehearse(space, schema, text, true, f))
        return false;
  return true;
}

/* A state over the vocabulary, and those that a text leads to from there. */
static void pass_through(tsl__space *space, tsl__state state, const char *text) {
  for (uint32_t count = 0; state && space->status == TSL_OK; text++) {
    tsl__space_begin(space);
    tsl__walk_over(space, state, count, TSL__WHOLE, false);
    const tsl__state_rec *r = tsl__state_expanded(space, state);
    tsl__target to =
        r && *text && tsl__state_reads(r) ? tsl__state_step(space, r, (uint8_t)*text) : 0;
    state = to ? tsl__target_resolve(space, to, count, &count) : 0;
  }
}

static tsl__expr string_of(tsl__exprs *x, const char *const formats[FORMATS_MAX]) {
  tsl__expr all[FORMATS_MAX];
  size_t n = 0;
  bool known;
  for (; n < FORMATS_MAX && formats[n]; n++)
    all[n] = tsl__format_expr(x, formats[n], strlen(formats[n]), &known);
  return tsl__expr_json_string(x, tsl__expr_alt_n(x, all, n));
}

static void pass_all(tsl__space *space) {
  for (size_t i = 0; i < COUNT(passed) && space->status == TSL_OK; i++) {
    tsl__state s = tsl__state_of(space, string_of(tsl__states_exprs(space), passed[i].formats));
    for (size_t k = 0; k < COUNT(passed[i].texts) && passed[i].texts[k]; k++)
      pass_through(space, s, passed[i].texts[k]);
  }
}

void tsl__rehearse(tsl__space *space) {
  findings f = {0};
  pass_all(space);
  tsl__states_hint(space); /* the layers of the rehearsal read these hints */
  if (!(rehearse_all(space, &f) && rehearse_formats(space, &f))) tsl__space_no_memory(space);
  tsl__vec_free(&space->alloc, &f.unions);
  tsl__vec_free(&space->alloc, &f.walks);
  tsl__vec_free(&space->alloc, &f.left);
  tsl__vec_free(&space->alloc, &f.children);
}
