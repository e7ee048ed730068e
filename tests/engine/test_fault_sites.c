/* test_fault_sites.c - every place of the code that asks for memory is refused it once.
 *
 * test_faults.c lets the nth request of the hooks fail. Most places never meet that. An array, a
 * pool, an arena or an index calls the hooks only when it is full, and that is mostly at another
 * place. Here the linker puts wrappers around these four (--wrap, tests/meson.build), so that each
 * of their requests may be refused. Arrays grow by what is needed, no more. A place is known by
 * where the request returns to and by how deep the stack is there. Each case is run once to find
 * the places that no case before it had. Then the case is run once for each of these places. What
 * must hold is what test_faults.c says. The call returns NO_MEMORY, or notices nothing. Called
 * again it gives the same masks and errors as in the first run. Nothing is left.
 *
 * The cases are those of tests/cases/schema and of the corpora in fuzz/corpus.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L

#include "compiler/json/json.h"
#include "runtime/core/pool.h"
#include "tests/support/faulty.h"
#include "tests/support/folder.h"
#include "tests/support/text.h"
#include "tests/support/nth_token.h"

/* ---- requests and their places --------------------------------------------------------------- */

/* What is under test, while it is: the requests of tests' own arenas are none. */
static faulty *watched;

#define PLACES (1u << 16)
static uint64_t seen[PLACES]; /* places, 0: free */
static uint32_t seen_count;

#define FRESH_MAX 20000u
static unsigned long fresh[FRESH_MAX]; /* requests of this run at places that are new */
static uint32_t fresh_count;
static bool looking;
static uintptr_t base; /* of the stack */

static bool is_new(uint64_t place) {
  uint32_t i = (uint32_t)tsl__mix(place) & (PLACES - 1);
  while (seen[i] && seen[i] != place) i = (i + 1) & (PLACES - 1);
  if (seen[i]) return false;
  if (++seen_count == PLACES) abort();
  return seen[i] = place, true;
}

static bool refused(const void *caller, const void *frame) {
  if (!watched) return false;
  uint64_t place = tsl__mix((uintptr_t)caller) ^ (base - (uintptr_t)frame);
  if (looking && fresh_count < FRESH_MAX && is_new(place) &&
      tsl_test_turn(tsl__mix(place), TURN_OF(2, 3)))
    fresh[fresh_count++] = watched->made;
  return faulty_refuses(watched);
}
#define REFUSED() refused(__builtin_return_address(0), __builtin_frame_address(0))

/* Requests within a request that was let through are part of it. */
#define UNWATCHED(call) (inner = watched, watched = NULL, made = (call), watched = inner, made)

void *__real_tsl__arena_alloc(tsl__arena *arena, size_t size);
void *__wrap_tsl__arena_alloc(tsl__arena *arena, size_t size);
void *__wrap_tsl__arena_alloc(tsl__arena *arena, size_t size) {
  faulty *inner;
  void *made;
  return REFUSED() ? NULL : UNWATCHED(__real_tsl__arena_alloc(arena, size));
}

void *__real_tsl__arena_copy(tsl__arena *arena, const void *data, size_t size);
void *__wrap_tsl__arena_copy(tsl__arena *arena, const void *data, size_t size);
void *__wrap_tsl__arena_copy(tsl__arena *arena, const void *data, size_t size) {
  faulty *inner;
  void *made;
  return REFUSED() ? NULL : UNWATCHED(__real_tsl__arena_copy(arena, data, size));
}

void *__real_tsl__pool_add(tsl__pool *p, const tsl_allocator *a);
void *__wrap_tsl__pool_add(tsl__pool *p, const tsl_allocator *a);
void *__wrap_tsl__pool_add(tsl__pool *p, const tsl_allocator *a) {
  faulty *inner;
  void *made;
  return REFUSED() ? NULL : UNWATCHED(__real_tsl__pool_add(p, a));
}

bool __real_tsl__index_add(tsl__index *ix, const tsl_allocator *a, uint64_t hash, uint32_t number);
bool __wrap_tsl__index_add(tsl__index *ix, const tsl_allocator *a, uint64_t hash, uint32_t number);
bool __wrap_tsl__index_add(tsl__index *ix, const tsl_allocator *a, uint64_t hash, uint32_t number) {
  faulty *inner;
  bool made;
  return !REFUSED() && UNWATCHED(__real_tsl__index_add(ix, a, hash, number));
}

#define EXACT_MAX 32u /* elements up to which an array grows by what is needed */

bool __real_tsl__vec_grow(const tsl_allocator *a, void **at, size_t *cap, size_t need,
                          size_t element);
bool __wrap_tsl__vec_grow(const tsl_allocator *a, void **at, size_t *cap, size_t need,
                          size_t element);
bool __wrap_tsl__vec_grow(const tsl_allocator *a, void **at, size_t *cap, size_t need,
                          size_t element) {
  faulty *inner;
  bool made;
  if (!watched) return __real_tsl__vec_grow(a, at, cap, need, element);
  if (REFUSED()) return false;
  if (need > EXACT_MAX) return UNWATCHED(__real_tsl__vec_grow(a, at, cap, need, element));
  void *p;
  inner = watched, watched = NULL;
  p = tsl__resize(a, *at, *cap * element, need * element);
  watched = inner;
  if (!p) return false;
  *at = p;
  *cap = need;
  return true;
}

static void *hook(void *ctx, void *block, size_t old_size, size_t new_size) {
  return new_size && REFUSED() ? NULL : faulty_move(ctx, block, old_size, new_size);
}

/* ---- cases ----------------------------------------------------------------------------------- */

typedef enum kind { SCHEMA, REGEX, GBNF, TAGS, TOOLS, VOCABULARY } kind;

typedef struct scenario {
  kind kind;
  const char *text;
  size_t length;
  tsl_schema_options schema;
  tsl_regex_options regex;
  tsl_tools_options tools;
  /* make an artifact and load it; keep walks for other grammars; with a vocabulary of its own; ask
   * all that can be called */
  bool save, cache, cold, more;
} scenario;

static const char *const words[] = {"{\"",  "\":", "\",\"", "null", "true",    "ab",     "abc",
                                    " \"a", "12",  "0.5",   "]]",   "},",      "\"a\":", "xy",
                                    "<f",   "=a>", "</",    "</f>", "<think>", "<end>"};
enum { WORDS = sizeof words / sizeof *words, SIZE = 256 + WORDS, MASK_WORDS = (SIZE + 31) / 32 };

static tsl_status make_vocab(const tsl_allocator *a, tsl_vocab **out, tsl_error *error) {
  return faulty_vocab(words, WORDS, 2, 0, a, out, error);
}

static tsl_status compile(tsl_vocab *v, const scenario *c, tsl_grammar *over, tsl_grammar **out,
                          tsl_error *error) {
  static const tsl_limits limits = {.max_steps = 400000};
  tsl_tools_options tools = c->tools;
  tools.over = over;
  *error = (tsl_error){0};
  switch (c->kind) {
  case REGEX: return tsl_grammar_regex(v, c->text, c->length, &c->regex, &limits, out, error);
  case GBNF: return tsl_grammar_gbnf(v, c->text, c->length, NULL, &limits, out, error);
  case TAGS:
    return over ? tsl_grammar_tags_over(over, c->text, c->length, NULL, &limits, out, error)
                : tsl_grammar_tags(v, c->text, c->length, NULL, &limits, out, error);
  case TOOLS: return tsl_grammar_tools(v, c->text, c->length, &tools, &limits, out, error);
  default: return tsl_grammar_json_schema(v, c->text, c->length, &c->schema, &limits, out, error);
  }
}

/* ---- one run --------------------------------------------------------------------------------- */

#define STEPS 24

#define CACHE ((size_t)1 << 20)

/* What was seen in a run, as hashes, and of what. */
typedef struct sight {
  uint64_t hash;
  const char *what;
} sight;
#define SIGHTS 4096
static sight first_run[SIGHTS];
static unsigned sight_count;
static sight differs;     /* the first that is not as in the first run */
static tsl_status answer; /* there */

static void note_at(const char *what, tsl_status status, const void *data, size_t n) {
  const sight s = {tsl__hash(data, n), what};
  unsigned i = sight_count++;
  if (i >= SIGHTS) return;
  if (looking)
    first_run[i] = s;
  else if (!differs.what && (first_run[i].hash != s.hash || first_run[i].what != what))
    differs = s, answer = status;
}
#define NOTE(data, n) note_at(#data, TSL_OK, data, n)
#define NOTE_NUMBER(x) note_at(#x, TSL_OK, &(uint64_t){(uint64_t)(x)}, sizeof(uint64_t))

/* WITH_MEMORY, and what was said. */
#define ASK(f, status, call)                                                 \
  do {                                                                       \
    WITH_MEMORY(f, status, call);                                            \
    note_at(#call, status, &(uint64_t){(uint64_t)status}, sizeof(uint64_t)); \
  } while (0)

static void look_around(faulty *f, tsl_matcher *m, const uint32_t *mask) {
  tsl_status status;
  const uint32_t *lent;
  uint64_t id, shortest = 0;
  uint8_t forced[16];
  uint32_t next[8];
  size_t n = 0;
  ASK(f, status, tsl_matcher_mask_borrow(m, &lent, &id));
  CHECK(status != TSL_OK || !memcmp(lent, mask, MASK_WORDS * sizeof *mask));
  ASK(f, status, tsl_matcher_forced_bytes(m, forced, sizeof forced, &n));
  if (status == TSL_OK) NOTE_NUMBER(n);
  ASK(f, status, tsl_matcher_shortest_completion(m, &shortest));
  NOTE_NUMBER(shortest);
  ASK(f, status, tsl_matcher_next_bytes(m, next));
  if (status == TSL_OK) NOTE(next, sizeof next);
}

/* Reads the tokens, and to the end if `end` says so. A parser that ran out of memory is reset, and
 * reads all anew. */
static tsl_status feed(faulty *f, tsl_parser *p, const tsl_token *tokens, int n, int from,
                       bool end) {
  tsl_status status = TSL_OK;
  f->failed = false;
  for (int i = from; i < n && status == TSL_OK; i++) status = tsl_parser_token(p, tokens[i]);
  if (status == TSL_OK && end) status = tsl_parser_finish(p);
  if (status != TSL_ERR_NO_MEMORY) return status;
  CHECK(f->failed);
  faulty_disarm(f);
  tsl_parser_reset(p);
  return feed(f, p, tokens, n, 0, end);
}

static void read_json(faulty *f, tsl_parser *p) {
  f->failed = false;
  const char *json = tsl_parser_json(p);
  if (!json) {
    CHECK(f->failed);
    faulty_disarm(f);
    json = tsl_parser_json(p);
  }
  CHECK(json != NULL);
  if (json) NOTE(json, strlen(json));
}

/* A random text under masks, and, with `parsed`, what is read of it. */
static void generate(faulty *f, tsl_grammar *g, bool parsed, uint64_t seed) {
  tsl_matcher *m = NULL, *fork = NULL;
  tsl_parser *p = NULL;
  tsl_token accepted[STEPS];
  int n = 0;
  tsl_status status;
  ASK(f, status, tsl_matcher_new(g, &f->hook, &m));
  if (parsed) ASK(f, status, tsl_parser_new(g, &f->hook, &p));
  for (int i = 0; m && i < STEPS; i++) {
    uint32_t mask[MASK_WORDS] = {0};
    size_t valid = 0;
    ASK(f, status, tsl_matcher_mask(m, mask));
    size_t count = status == TSL_OK ? tsl_mask_count(mask, SIZE) : 0;
    if (!count) break;
    NOTE(mask, sizeof mask);
    if (i % 4 == 0) look_around(f, m, mask);
    tsl_token t = nth_token(mask, tsl_test_random(&seed) % count);
    if (tsl_mask_has(mask, '"') && tsl_test_random(&seed) % 3 == 0) t = '"';
    const tsl_token draft[3] = {t, ',', '"'};
    ASK(f, status, tsl_matcher_validate(m, draft, 3, &valid));
    NOTE_NUMBER(valid);
    ASK(f, status, tsl_matcher_accept(m, t));
    if (status != TSL_OK) break;
    accepted[n++] = t;
    if (p) NOTE_NUMBER(feed(f, p, accepted, n, n - 1, false));
  }
  if (p) {
    NOTE_NUMBER(feed(f, p, accepted, n, n, true));
    read_json(f, p);
  }
  ASK(f, status, m ? tsl_matcher_fork(m, &fork) : TSL_OK);
  if (fork) {
    CHECK(tsl_matcher_rollback(fork, tsl_matcher_history(fork) / 2) == TSL_OK);
    size_t bytes_read = 0;
    ASK(f, status, tsl_matcher_accept_bytes(fork, "\"a", 2, &bytes_read));
    NOTE_NUMBER(bytes_read);
  }
  tsl_parser_free(p);
  tsl_matcher_free(fork);
  tsl_matcher_free(m);
}

/* ---- what else is called --------------------------------------------------------------------- */

static struct text listed;

static void list_line(void *ctx, const char *line) {
  (void)ctx;
  text_add(&listed, line);
  text_add(&listed, "\n");
}
static void list_finding(void *ctx, const tsl_profile_finding *finding) {
  list_line(ctx, finding->message);
}
static void list_state(void *ctx, const tsl_state *state) { list_line(ctx, state->expression); }
static void list_frame(void *ctx, const tsl_frame *frame) { list_line(ctx, frame->expression); }

/* What the grammar's text is written as, or what a profile says of it. */
static tsl_status write_text(faulty *f, tsl_vocab *v, const scenario *c) {
  text_free(&listed);
  switch (c->kind) {
  case SCHEMA:
    return tsl_schema_profile("openai-strict", c->text, c->length, &f->hook, list_finding, NULL,
                              NULL);
  case GBNF: return tsl_gbnf_write(v, c->text, c->length, list_line, NULL, NULL);
  case TOOLS: return tsl_tools_write(v, c->text, c->length, &c->tools, list_line, NULL, NULL);
  default: return TSL_OK;
  }
}

static tsl_status list_states(const tsl_grammar *g) {
  text_free(&listed);
  return tsl_grammar_states(g, list_state, NULL);
}

static tsl_status list_frames(const tsl_matcher *m) {
  uint32_t total;
  text_free(&listed);
  return tsl_matcher_frames(m, 0, list_frame, NULL, &total);
}

#define NOTE_LISTED()                         \
  do {                                        \
    if (listed.at) NOTE(listed.at, listed.n); \
  } while (0)

static void listings(faulty *f, tsl_vocab *v, const scenario *c, tsl_grammar *g, tsl_matcher *m) {
  tsl_status status;
  ASK(f, status, write_text(f, v, c));
  NOTE_LISTED();
  ASK(f, status, list_states(g));
  ASK(f, status, list_frames(m));
  NOTE_LISTED();
  text_free(&listed);
}

/* A text that ends in time, as the budget has it. */
static void in_time(faulty *f, tsl_grammar *g, tsl_matcher *m) {
  tsl_budget *b = NULL;
  tsl_status status;
  tsl_error error = {0};
  ASK(f, status, tsl_budget_new(g, &f->hook, &b));
  for (uint64_t left = 20; status == TSL_OK && left > 0; left--) {
    uint32_t mask[MASK_WORDS];
    if (left == 20) ASK(f, status, tsl_budget_start(b, m, left, &error));
    if (status != TSL_OK) break;
    ASK(f, status, tsl_budget_mask(b, m, left, mask));
    size_t count = status == TSL_OK ? tsl_mask_count(mask, SIZE) : 0;
    if (!count) break;
    NOTE(mask, sizeof mask);
    ASK(f, status, tsl_matcher_accept(m, nth_token(mask, count / 2)));
  }
  tsl_budget_free(b);
}

/* The same grammar twice from a cache. */
static void cached(faulty *f, tsl_vocab *v, const scenario *c) {
  static const tsl_source_kind kinds[] = {TSL_SOURCE_JSON_SCHEMA, TSL_SOURCE_REGEX,
                                          TSL_SOURCE_GBNF};
  const tsl_source source = {.kind = kinds[c->kind],
                             .text = c->text,
                             .length = c->length,
                             .schema = &c->schema,
                             .regex = &c->regex};
  tsl_cache *cache = NULL;
  tsl_grammar *g[2] = {NULL, NULL};
  tsl_status status;
  ASK(f, status, tsl_cache_new((uint64_t)1 << 24, &f->hook, &cache));
  for (int i = 0; i < 2; i++) ASK(f, status, tsl_cache_get(cache, v, &source, &g[i], NULL));
  NOTE_NUMBER(g[0] == g[1]);
  for (int i = 0; i < 2; i++) tsl_grammar_release(g[i]);
  tsl_cache_free(cache);
}

static void ask_more(faulty *f, tsl_vocab *v, const scenario *c, tsl_grammar *g) {
  tsl_matcher *m = NULL;
  tsl_status status;
  ASK(f, status, tsl_matcher_new(g, &f->hook, &m));
  if (m) listings(f, v, c, g, m);
  if (m) in_time(f, g, m);
  tsl_matcher_free(m);
  if (c->kind <= GBNF) cached(f, v, c);
}

static void save_and_load(faulty *f, tsl_vocab *v, const scenario *c, tsl_grammar *g) {
  const tsl_source source = {
      .kind = TSL_SOURCE_JSON_SCHEMA, .text = c->text, .length = c->length, .schema = &c->schema};
  const tsl_artifact_options options = {.source = c->kind == SCHEMA ? &source : NULL};
  tsl_artifact *a = NULL;
  tsl_grammar *loaded = NULL;
  tsl_status status;
  size_t size;
  ASK(f, status, tsl_artifact_make(g, &options, &f->hook, &a, NULL));
  if (status == TSL_OK) {
    const void *data = tsl_artifact_data(a, &size);
    ASK(f, status, tsl_grammar_load_memory(v, data, size, NULL, &loaded, NULL));
    CHECK(status == TSL_OK);
  }
  if (loaded) generate(f, loaded, false, 9);
  tsl_grammar_release(loaded);
  tsl_artifact_free(a);
}

/* As the corpus has it: the file, a NUL, a text. */
static void load_and_encode(faulty *f, const scenario *c) {
  static const tsl_vocab_options options = {.pattern = "\\s+|\\w+|[^\\s\\w]"};
  size_t length = strnlen(c->text, c->length), count = 0;
  const char *end = c->text + c->length;
  while (end > c->text && end[-1]) end--;
  if (end > c->text)
    length = (size_t)(end - c->text) - 1;
  else
    end = "some text";
  tsl_vocab *v = NULL;
  tsl_status status;
  tsl_token ids[64] = {0};
  ASK(f, status, tsl_vocab_load_memory(c->text, length, NULL, &options, &f->hook, &v, NULL));
  if (!v) return;
  ASK(f, status,
      tsl_vocab_encode(v, end, strlen(end), TSL_ENCODE_SPECIAL | TSL_ENCODE_BOS, ids, 64, &count));
  NOTE(ids, sizeof ids);
  tsl_vocab_release(v);
}

static void compile_and_follow(faulty *f, tsl_vocab *v, const scenario *c) {
  tsl_grammar *g = NULL, *other = NULL;
  tsl_error error = {0};
  tsl_status status;
  bool parsed = c->kind == TAGS || c->kind == TOOLS;
  if (v)
    tsl_vocab_retain(v);
  else
    ASK(f, status, make_vocab(&f->hook, &v, &error));
  tsl_vocab_set_walk_cache(v, 0);
  if (c->cache) tsl_vocab_set_walk_cache(v, CACHE);
  ASK(f, status, compile(v, c, NULL, &g, &error));
  CHECKF(error.status == status && (g != NULL) == (status == TSL_OK) &&
             (!status || error.message[0]),
         "%.*s: %s, but %s: %s", (int)c->length, c->text, tsl_status_name(status),
         tsl_status_name(error.status), error.message);
  NOTE(error.pointer, strlen(error.pointer));
  NOTE(error.message, strlen(error.message));
  if (g) {
    const char *report = NULL;
    ASK(f, status, (report = tsl_grammar_report(g)) != NULL ? TSL_OK : TSL_ERR_NO_MEMORY);
    NOTE(report, strlen(report));
    generate(f, g, parsed, 5);
    if (c->more) ask_more(f, v, c, g);
    if (c->save) save_and_load(f, v, c, g);
  }
  if (g && parsed) {
    ASK(f, status, compile(v, c, g, &other, &error));
    if (other) generate(f, other, true, 6);
  }
  tsl_grammar_release(other);
  tsl_grammar_release(g);
  tsl_vocab_set_walk_cache(v, 0);
  tsl_vocab_release(v);
}

/* All of one case, with a NULL vocabulary from its making on. */
static void run(faulty *f, tsl_vocab *v, const scenario *c) {
  sight_count = 0;
  differs = (sight){0};
  base = (uintptr_t)__builtin_frame_address(0);
  watched = f;
  if (c->kind == VOCABULARY)
    load_and_encode(f, c);
  else
    compile_and_follow(f, v, c);
  watched = NULL;
}

static unsigned long cases, refusals, slow;

/* a case that makes more is too slow to be run again and again: its places are those of others */
#define REQUESTS_MAX 20000u

static faulty f;
static tsl_vocab *warm; /* what a vocabulary makes when it is first needed is there */

static unsigned long requests_of(const scenario *c) {
  faulty_arm(&f, ULONG_MAX, false);
  run(&f, c->cold ? NULL : warm, c);
  return f.made;
}

static void check_scenario(const scenario *c) {
  tsl_vocab *v = c->cold ? NULL : warm;
  /* a mask of the vocabulary that is met again and again is given a row for good */
  for (int i = 0; i < 6; i++) run(&f, v, c);
  size_t blocks = f.blocks;
  faulty_arm(&f, ULONG_MAX, false);
  fresh_count = 0;
  looking = true;
  run(&f, v, c);
  looking = false;
  unsigned want = sight_count;
  CHECK(fresh_count < FRESH_MAX);
  for (uint32_t i = 0; i < fresh_count; i++) {
    faulty_arm(&f, fresh[i], i % 2 == 1); /* once, or from then on */
    run(&f, v, c);
    refusals++;
    CHECKF(!differs.what && sight_count == want, "after request %lu of %.*s was refused %s is %s",
           fresh[i], (int)c->length, c->text, differs.what ? differs.what : "less",
           tsl_status_name(answer));
    CHECKF(f.blocks == blocks, "%zu blocks are left after request %lu of %.*s was refused",
           f.blocks - blocks, fresh[i], (int)c->length, c->text);
  }
}

/* Cases that wait for their turn, and the files that they are of. */
typedef struct waiting {
  scenario what;
  unsigned long requests;
} waiting;
static TSL__VEC(waiting) queue;
static TSL__VEC(char *) files;

static void add_case(const scenario *c) {
  if (!tsl_test_turn(cases++, TURN_OF(1, 3))) return;
  CHECK(tsl__vec_push(&tsl__malloc, &queue, (waiting){.what = *c}));
}

static int by_requests(const void *a, const void *b) {
  const waiting *x = a, *y = b;
  return (x->requests > y->requests) - (x->requests < y->requests);
}

/* Small ones first: a place is refused in the first case that has it, which is run as often as it
 * has such places. */
static void check_all(void) {
  for (size_t i = 0; i < queue.n; i++) queue.at[i].requests = requests_of(&queue.at[i].what);
  if (queue.n) qsort(queue.at, queue.n, sizeof *queue.at, by_requests);
  for (size_t i = 0; i < queue.n; i++) {
    if (queue.at[i].requests > REQUESTS_MAX)
      slow++;
    else
      check_scenario(&queue.at[i].what);
  }
  for (size_t i = 0; i < files.n; i++) free(files.at[i]);
  tsl__vec_free(&tsl__malloc, &queue);
  tsl__vec_free(&tsl__malloc, &files);
}

/* ---- where cases come from ------------------------------------------------------------------- */

#define FILES 1000

/* Each file of the folder, in the order of names. */
static void each_file(const char *folder, void (*check)(const char *data, size_t n)) {
  static char *paths[FILES];
  size_t n = folder_list(folder, "", paths, FILES), length;
  CHECKF(n > 0, "%s", folder);
  for (size_t i = 0; i < n; i++) {
    char *data = text_of_file(paths[i], &length);
    CHECKF(data != NULL, "%s", paths[i]);
    if (data && tsl__vec_push(&tsl__malloc, &files, data)) check(data, length);
    free(paths[i]);
  }
}

/* What is done besides differs from case to case. */
static void vary(scenario *c) {
  c->save = cases % 4 == 0;
  c->cache = cases % 4 == 1;
  c->more = cases % 4 == 2;
  c->cold = cases % 32 == 0;
}

/* Lines of JSON: tests/schema/test_schema.c. */
static void schema_lines(const char *data, size_t n) {
  for (const char *line = data, *end; line < data + n; line = end + 1) {
    end = memchr(line, '\n', (size_t)(data + n - line));
    if (!end) end = data + n;
    static const char key[] = "{\"schema\": ";
    size_t head = sizeof key - 1;
    tsl__arena arena;
    tsl__json *v;
    if ((size_t)(end - line) <= head || memcmp(line, key, head)) continue;
    tsl__arena_init(&arena, &tsl__malloc);
    /* the schema is what parses of the line's beginnings */
    size_t length = 0;
    for (const char *p = line + head; p < end && !length; p++)
      if ((*p == ',' || *p == '}') &&
          tsl__json_parse(&arena, NULL, line + head, (size_t)(p - line) - head, 1000, &v, NULL) ==
              TSL_OK)
        length = (size_t)(p - line) - head;
    tsl__arena_free(&arena);
    const char *content = strstr(line + head + length, "\"content\": true");
    scenario c = {.kind = SCHEMA,
                  .text = line + head,
                  .length = length,
                  .schema = {.order = TSL_ORDER_ANY, .assert_content = content && content < end}};
    vary(&c);
    if (cases % 5 == 4) c.schema.whitespace = TSL_WS_PRETTY, c.schema.indent = 2;
    if (length) add_case(&c);
  }
}

static void schema_file(const char *data, size_t n) {
  scenario c = {.kind = SCHEMA,
                .text = data + 1,
                .length = n - 1,
                .schema = {.order = data[0] & 1 ? TSL_ORDER_ANY : TSL_ORDER_SCHEMA}};
  vary(&c);
  if (n) add_case(&c);
}

static void regex_file(const char *data, size_t n) {
  scenario c = {
      .kind = REGEX, .text = data + 1, .length = strlen(data + 1), .save = true, .more = true};
  if (n) add_case(&c);
}

static void gbnf_file(const char *data, size_t n) {
  scenario c = {.kind = GBNF, .text = data, .length = n, .save = true, .more = true};
  add_case(&c);
}

static void tags_file(const char *data, size_t n) {
  const char *name, *text;
  if (n < 2) return;
  scenario c = {.kind = data[0] & 1 ? TOOLS : TAGS,
                .text = data + 2,
                .length = n - 2,
                .more = cases % 2 == 0};
  c.tools.preset = tsl_tools_preset((uint8_t)data[0] >> 1 & 31, &name, &text) ? name : "qwen3";
  c.tools.thinking = (tsl_thinking)(((uint8_t)data[0] >> 6) % 3);
  add_case(&c);
}

/* A tokenizer's file, and a text that it encodes. */
static void vocab_file(const char *data, size_t n) {
  const scenario c = {.kind = VOCABULARY, .text = data, .length = n};
  add_case(&c);
}

static void schemas(void) {
  each_file("tests/cases/schema", schema_lines);
  each_file("fuzz/corpus/schema", schema_file);
  check_all();
}

static void patterns(void) {
  each_file("fuzz/corpus/regex", regex_file);
  check_all();
}

static void grammars(void) {
  each_file("fuzz/corpus/gbnf", gbnf_file);
  check_all();
}

/* Text of which the tokens are counted. */
static void counted(void) {
  static const char text[] = "{\"type\":\"sequence\",\"elements\":[{\"type\":\"tag\",\"begin\":\"<"
                             "f\",\"content\":{\"type\":\"any_text\",\"max_tokens\":2},\"end\":\"</"
                             "f>\"},{\"type\":\"any_text\",\"max_tokens\":3}]}";
  scenario c = {.kind = TAGS, .text = text, .length = sizeof text - 1, .more = true, .cold = true};
  add_case(&c);
}

static void tags(void) {
  counted();
  each_file("fuzz/corpus/tags", tags_file);
  check_all();
}

static void vocabularies(void) {
  static const char *const formats[] = {"hf", "tiktoken", "tekken", "sentencepiece", "gguf"};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    char folder[64];
    snprintf(folder, sizeof folder, "fuzz/corpus/vocab_%s", formats[i]);
    each_file(folder, vocab_file);
  }
  check_all();
}

int main(void) {
  faulty_begin(&f);
  f.hook.reallocate = hook;
  CHECK(make_vocab(&f.hook, &warm, NULL) == TSL_OK);
  RUN(schemas, "JSON Schemas");
  RUN(patterns, "patterns");
  RUN(grammars, "GBNF");
  RUN(tags, "structural tags and tools");
  RUN(vocabularies, "tokenizers' files");
  tsl_vocab_release(warm);
  CHECK(f.blocks == 0 && !f.wrong_size && refusals > 1000);
  printf("  %lu places in %lu cases, less %lu that ask for memory more than %u times\n", refusals,
         cases, slow, REQUESTS_MAX);
  return tsl_test_end();
}
