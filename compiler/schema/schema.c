/* schema.c - compiling a schema: the passes in order.
 *
 * Problem   A schema is text with references, of which each may lead anywhere in several
 *           documents. A text must be followed through it byte by byte, without a dead end.
 * Idea      The passes read like a table of contents (`run`). Load the documents, read each
 *           subschema into a node, check that the root has a value, and make the root's expression.
 *           Bodies of objects and arrays are made later, when a text first arrives at them.
 * Example   {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type":
 *           "integer"}}}
 *             load    one resource, whose base is the caller's URI; three subschemas
 *             read    node of the root with the keywords type and properties; node of n
 *             check   the goal {root} has a value: {} satisfies it, and no more is looked at
 *             value   a rule for {root}; its body will be members, colon and the goal {n}
 * Owners    The compiled schema lives as long as the expressions (tsl__exprs_own): rules unfold
 *           into it.
 * Failing   The first failure is kept, with the pointer of the subschema that it is about.
 * Tested by tests/schema/test_schema.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/schema.h"

#include <stdio.h>

#include "compiler/expr/node.h"
#include "compiler/schema/inner/inner.h"

#define FIRST 16u          /* room for subschemas, and for goals, at first */
#define WORK_OF_CELL 4u    /* in nodes of expressions */
#define PRETTY_NESTING 64u /* levels of pretty-printed output where max_nesting does not say */

/* ---- failing, memory, tables ----------------------------------------------------------------- */

/* Where in which document a place is: into the error's pointer. */
static void locate(struct schema *s, const tsl__json *at) {
  char pointer[sizeof s->error->pointer];
  size_t n = tsl__json_pointer(s->root, at, pointer, sizeof pointer);
  if (n != SIZE_MAX) {
    tsl__error_pointer(s->error, pointer, strlen(pointer));
    return;
  }
  for (size_t i = 0; i < s->resources.n; i++) {
    const struct resource *r = &s->resources.at[i];
    char with_uri[2 * sizeof pointer];
    if (!r->document || !r->root ||
        tsl__json_pointer(r->root, at, pointer, sizeof pointer) == SIZE_MAX)
      continue;
    snprintf(with_uri, sizeof with_uri, "%.200s#%s", r->uri, pointer);
    tsl__error_pointer(s->error, with_uri, strlen(with_uri));
    return;
  }
}

/* After the compile there is no tsl_error with a pointer: the message says where. */
static void add_place(const struct schema *s, const tsl__json *at, char *message, size_t room) {
  char pointer[256];
  size_t n = strlen(message);
  if (tsl__json_pointer(s->root, at, pointer, sizeof pointer) < sizeof pointer)
    snprintf(message + n, room - n, ": %s", *pointer ? pointer : "the root of the schema");
}

void tsl__schema_fail(struct schema *s, tsl_status status, const tsl__json *at, const char *format,
                      ...) {
  char message[512];
  va_list args;
  if (!tsl__schema_ok(s)) return;
  /* compiling; later a failure is that of one call of a matcher, and the expressions keep it until
   * the next one */
  if (s->text) s->status = status;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  if (!at && status == TSL_ERR_LIMIT) at = s->at;
  if (s->root && s->text) { /* compiling */
    bool here = at && tsl__json_pointer(s->root, at, NULL, 0) != SIZE_MAX;
    if (here)
      tsl__fail_at(s->error, status, s->text, s->length, at->offset, "%s", message);
    else
      tsl__fail(s->error, status, "%s", message);
    if (at && s->error) locate(s, at);
  } else if (s->root && at) {
    add_place(s, at, message, sizeof message);
  }
  const char *kept = tsl__arena_copy(&s->arena, message, strlen(message) + 1);
  tsl__exprs_fail(s->x, status, kept ? kept : "out of memory");
  s->noted = tsl__exprs_why(s->x);
}

void tsl__schema_note(struct schema *s) {
  char message[512];
  if (tsl__schema_ok(s)) return;
  if (s->text) { /* compiling: the error will have the pointer */
    if (!s->blamed) s->blamed = s->at;
    return;
  }
  if (!s->root || !s->at || tsl__exprs_why(s->x) == s->noted ||
      tsl__exprs_status(s->x) != TSL_ERR_LIMIT)
    return;
  snprintf(message, sizeof message, "%s", tsl__exprs_why(s->x));
  add_place(s, s->at, message, sizeof message);
  const char *kept = tsl__arena_copy(&s->arena, message, strlen(message) + 1);
  if (kept) tsl__exprs_explain(s->x, s->noted = kept);
}

void *tsl__schema_alloc(struct schema *s, size_t size) {
  s->x->held = s->arena.total;
  tsl__worked(s->x, WORK_OF_CELL); /* what the front end does, it keeps notes of */
  void *p = tsl__arena_alloc(&s->arena, size);
  if (p)
    memset(p, 0, size);
  else
    tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
  return p;
}

/* Open addressing: the slots from the hash on, until an empty one. */
static uint32_t look(const struct slot *slots, uint32_t capacity, uint32_t hash,
                     bool (*same)(const void *ctx, uint32_t index), const void *ctx) {
  for (uint32_t i = hash & (capacity - 1); slots[i].index; i = (i + 1) & (capacity - 1))
    if (slots[i].hash == hash && same(ctx, slots[i].index - 1)) return slots[i].index - 1;
  return UINT32_MAX;
}

/* The number of an entry with that hash for which `same` is true, UINT32_MAX if there is none. */
uint32_t tsl__table_find(const struct table *t, uint64_t hash,
                         bool (*same)(const void *ctx, uint32_t index), const void *ctx) {
  if (!t->capacity) return UINT32_MAX;
  uint32_t found = look(t->slots, t->capacity, (uint32_t)hash, same, ctx);
  return found == UINT32_MAX && t->before
             ? look(t->before, t->capacity / 2, (uint32_t)hash, same, ctx)
             : found;
}

/* Into the first free slot. */
static void put(struct table *t, struct slot slot) {
  uint32_t i = slot.hash & (t->capacity - 1);
  while (t->slots[i].index) i = (i + 1) & (t->capacity - 1);
  t->slots[i] = slot;
}

static void free_slots(struct schema *s, struct slot *slots, uint32_t capacity) {
  tsl__free(s->alloc, slots, capacity * sizeof *slots);
}

#define MOVED_AT_ONCE 16u /* slots for each entry that is added; two would do */

/* A table grows without a stall. What was moved also stays where it was, or what stands behind it
 * would not be found. */
static void move_some(struct schema *s, struct table *t) {
  uint32_t capacity = t->capacity / 2,
           end = t->moved + MOVED_AT_ONCE < capacity ? t->moved + MOVED_AT_ONCE : capacity;
  for (; t->moved < end; t->moved++)
    if (t->before[t->moved].index) put(t, t->before[t->moved]);
  if (end < capacity) return;
  free_slots(s, t->before, capacity);
  t->before = NULL;
}

/* Half full, a table is replaced by one of twice the size, which takes over the entries step by
 * step. */
bool tsl__table_add(struct schema *s, struct table *t, uint64_t hash, uint32_t index) {
  if (t->before) move_some(s, t);
  if (t->used * 2 >= t->capacity) {
    struct table bigger = {
        .capacity = t->capacity ? t->capacity * 2 : 32, .used = t->used, .before = t->slots};
    bigger.slots = tsl__alloc_zero(s->alloc, bigger.capacity * sizeof *bigger.slots);
    if (!bigger.slots) return tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), false;
    *t = bigger;
  }
  put(t, (struct slot){index + 1, (uint32_t)hash});
  t->used++;
  return true;
}

void tsl__table_free(struct schema *s, struct table *t) {
  free_slots(s, t->slots, t->capacity);
  if (t->before) free_slots(s, t->before, t->capacity / 2);
  *t = (struct table){0};
}

/* With the expressions, which own the schema. */
static void destroy(void *ctx) {
  struct schema *s = ctx;
  tsl__vec_free(s->alloc, &s->resources);
  tsl__vec_free(s->alloc, &s->anchors);
  tsl__vec_free(s->alloc, &s->scopes);
  tsl__vec_free(s->alloc, &s->dialects);
  tsl__vec_free(s->alloc, &s->nodes);
  tsl__vec_free(s->alloc, &s->names);
  tsl__vec_free(s->alloc, &s->key_lits);
  tsl__vec_free(s->alloc, &s->goals);
  tsl__vec_free(s->alloc, &s->states);
  tsl__vec_free(s->alloc, &s->array_states);
  tsl__vec_free(s->alloc, &s->frames);
  tsl__vec_free(s->alloc, &s->quoted);
  tsl__vec_free(s->alloc, &s->gaps);
  tsl__vec_free(s->alloc, &s->measured);
  tsl__schema_forget_patterns(s);
  tsl__schema_forget_references(s);
  tsl__table_free(s, &s->scoped);
  tsl__table_free(s, &s->goal_table);
  tsl__table_free(s, &s->union_table);
  tsl__table_free(s, &s->alike_table);
  tsl__table_free(s, &s->state_table);
  tsl__table_free(s, &s->array_state_table);
  tsl__table_free(s, &s->frame_table);
  tsl__table_free(s, &s->quoted_table);
  tsl__arena_free(&s->arena);
  tsl__free(s->alloc, s, sizeof *s);
}

/* ---- the passes ------------------------------------------------------------------------------ */

/* Nodes 0 and 1 are true and false, goals 0 and 1 likewise. */
static bool begin(struct schema *s) {
  if (!tsl__vec_reserve(s->alloc, &s->nodes, FIRST) ||
      !tsl__vec_reserve(s->alloc, &s->goals, FIRST))
    return false;
  for (int i = 0; i < 2; i++) {
    struct node *n = tsl__schema_alloc(s, sizeof *n);
    if (!n || !tsl__vec_push(s->alloc, &s->nodes, n)) return false;
    n->types = n->possible = i ? 0 : T_ALL;
  }
  s->nodes_read = 2;
  tsl__schema_goal(s, NULL, 0, 0);
  struct goal_entry *none = tsl__schema_alloc(s, sizeof *none);
  if (!none || !tsl__vec_push(s->alloc, &s->goals, none)) return false;
  none->shortest = TSL__INF;
  none->final = true;
  return tsl__schema_share(s);
}

/* The bit of a draft that the caller names. */
static uint32_t draft_of_option(tsl_draft draft) {
  switch (draft) {
  case TSL_DRAFT_3: return D3;
  case TSL_DRAFT_4: return D4;
  case TSL_DRAFT_6: return D6;
  case TSL_DRAFT_7: return D7;
  case TSL_DRAFT_2019_09: return D19;
  case TSL_DRAFT_2020_12: return D20;
  default: return AUTO;
  }
}

/* The options with what `generous` stands for. */
tsl_schema_options tsl__schema_options_of(const tsl_schema_options *options) {
  tsl_schema_options o = options ? *options : (tsl_schema_options){.order = TSL_ORDER_SCHEMA};
  if (o.generous) o.order = TSL_ORDER_ANY, o.whitespace = TSL_WS_ANY, o.spelling = TSL_SPELLING_ANY;
  return o;
}

bool tsl__schema_options_known(const tsl_schema_options *o) {
  return !o || ((o->draft == TSL_DRAFT_AUTO || draft_of_option(o->draft) != AUTO) &&
                (uint32_t)o->order <= TSL_ORDER_ANY && (uint32_t)o->whitespace <= TSL_WS_ANY &&
                (uint32_t)o->spelling <= TSL_SPELLING_ANY);
}

static bool load(struct schema *s) {
  if (tsl__schema_document(s, s->root, s->options.base_uri ? s->options.base_uri : "",
                           draft_of_option(s->options.draft)) == UINT32_MAX)
    return false;
  struct resource modern = {.uri = "", .draft = D20};
  s->modern = (uint32_t)s->resources.n;
  return tsl__vec_push(s->alloc, &s->resources, modern);
}

/* opened ahead to see that uniqueItems can be followed; what comes after them is found when it is
 * reached */
#define GOALS_AHEAD 2000u

/* Open a goal, which makes those of its members and items, and make those that its clauses and
 * counters may ask of members and items. */
static void open_ahead(struct schema *s, goal g) {
  if (!tsl__schema_open(s, g)) return;
  for (uint32_t i = 0; i < tsl__goal_of(s, g)->object_count && tsl__schema_ok(s); i++)
    tsl__object_goals_wanted(tsl__goal_of(s, g)->objects[i]);
  for (uint32_t i = 0; i < tsl__goal_of(s, g)->array_count && tsl__schema_ok(s); i++)
    tsl__array_goals_wanted(tsl__goal_of(s, g)->arrays[i]);
}

/* uniqueItems is not followed everywhere (with too few values, or under a negation with few items):
 * say so now, not when the first array begins. */
static bool check_unique(struct schema *s) {
  if (!(s->keywords >> KW_UNIQUE_ITEMS & 1)) return true;
  for (size_t i = 2; i < s->nodes.n && tsl__schema_ok(s); i++) {
    lit l = POS((sid)i);
    if (tsl__has(s->nodes.at[i], KW_UNIQUE_ITEMS))
      tsl__schema_open(s, tsl__schema_goal(s, &l, 1, 0));
  }
  for (size_t g = 2; g < s->goals.n && g < GOALS_AHEAD && tsl__schema_ok(s); g++)
    open_ahead(s, (goal)g);
  return tsl__schema_ok(s);
}

/* Is there a keyword that distinguishes names that the schema does not list? */
static bool constrains_names(const struct schema *s) {
  return s->keywords & (OF(PROPERTY_NAMES) | OF(PATTERN_PROPERTIES));
}

static bool run(struct schema *s, struct tsl__schema_result *out) {
  if (!begin(s) || !load(s)) return false;
  uint32_t resource = tsl__schema_resource_of(s, s->root, 0);
  sid root = s->root_node =
      tsl__schema_node(s, s->root, resource, tsl__schema_enter(s, 0, resource));
  if (!tsl__schema_read(s) || !tsl__schema_acyclic(s)) return false;
  tsl__schema_forget_patterns(s);
  tsl__schema_forget_references(s);
  lit l = POS(root);
  goal g = s->root_goal = tsl__schema_goal(s, &l, 1, 0);
  /* what strings hold is found before values are measured */
  if (!tsl__schema_check_inner(s) || !check_unique(s)) return false;
  bool possible = tsl__schema_possible(s, g);
  if (!tsl__schema_ok(s)) return false;
  if (!possible) {
    tsl__schema_blame(s, root);
    return false;
  }
  if (!s->options.repeated_names) tsl__exprs_guard_names(s->x, constrains_names(s));
  out->root = s->style ? tsl__schema_styled(s, g) : tsl__schema_value(s, g);
  out->schema = s;
  return tsl__schema_ok(s);
}

static struct schema *make(tsl__exprs *x, const tsl_allocator *a, const tsl_schema_options *options,
                           const tsl_limits *limits) {
  struct schema *s = tsl__alloc_zero(a, sizeof *s);
  if (!s) return NULL;
  s->x = x;
  s->alloc = a;
  tsl__arena_init(&s->arena, a);
  s->options = tsl__schema_options_of(options);
  s->max_depth = tsl__json_depth(limits ? limits->max_depth : 0);
  s->max_nesting = s->options.max_nesting;
  if (s->options.whitespace == TSL_WS_PRETTY && !s->max_nesting) s->max_nesting = PRETTY_NESTING;
  s->levels = s->max_nesting != 0;
  s->no_strings.is_set = true;
  return tsl__exprs_own(x, s, destroy) ? s : NULL;
}

struct schema *tsl__schema_blank(tsl__exprs *x) {
  const tsl_schema_options options = {.generous = true};
  struct schema *s = make(x, tsl__exprs_allocator(x), &options, NULL);
  struct resource modern = {.uri = "", .draft = D20};
  return s && begin(s) && tsl__vec_push(s->alloc, &s->resources, modern) ? s : NULL;
}

/* The expressions of a subschema ran into a limit, or out of time: it is to blame. */
static tsl_status blame_expressions(struct schema *s, const char *text, size_t length,
                                    tsl_error *error) {
  tsl_status status = tsl__exprs_status(s->x);
  const tsl__json *at = s->blamed;
  if (status == TSL_ERR_NO_MEMORY) return tsl__fail(error, status, "%s", tsl__exprs_why(s->x));
  if (!at || tsl__json_pointer(s->root, at, NULL, 0) == SIZE_MAX) at = s->root;
  tsl__fail_at(error, status, text, length, at->offset, "%s", tsl__exprs_why(s->x));
  s->error = error;
  locate(s, s->blamed ? s->blamed : s->root);
  s->error = NULL;
  return status;
}

/* s->root is the tree. */
static tsl_status compile(struct schema *s, const char *text, size_t length,
                          struct tsl__schema_result *out, tsl_error *error) {
  s->text = text;
  s->length = length;
  s->error = error;
  tsl__exprs_plain_strings(s->x, s->options.spelling == TSL_SPELLING_PLAIN);
  bool done = run(s, out);
  s->text = NULL; /* from here on failures are the matcher's */
  s->error = NULL;
  if (done) return TSL_OK;
  if (s->status != TSL_OK) return s->status;
  if (tsl__exprs_status(s->x) != TSL_OK) return blame_expressions(s, text, length, error);
  return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
}

tsl_status tsl__schema_compile(tsl__exprs *x, const char *text, size_t length,
                               const tsl_schema_options *options, const tsl_limits *limits,
                               struct tsl__schema_result *out, tsl_error *error) {
  tsl_error ignored;
  if (!error) error = &ignored;
  out->root = TSL__NONE;
  out->schema = NULL;
  struct schema *s = make(x, tsl__exprs_allocator(x), options, limits);
  if (!s) return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  tsl__until until = tsl__exprs_until(x);
  tsl_status status =
      tsl__json_parse(&s->arena, &until, text, length, s->max_depth, &s->root, error);
  return status != TSL_OK ? status : compile(s, text, length, out, error);
}

tsl_status tsl__schema_compile_tree(tsl__exprs *x, tsl__json *tree, const tsl_allocator *lent,
                                    const struct tsl__schema_style *style, const char *text,
                                    size_t length, const tsl_schema_options *options,
                                    const tsl_limits *limits, struct tsl__schema_result *out,
                                    tsl_error *error) {
  tsl_error ignored;
  if (!error) error = &ignored;
  out->root = TSL__NONE;
  out->schema = NULL;
  struct schema *s = make(x, lent ? lent : tsl__exprs_allocator(x), options, limits);
  if (!s || !(s->root = lent ? tree : tsl__json_copy(&s->arena, tree)))
    return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  s->style = style;
  return compile(s, text, length, out, error);
}
