/* read.c - the hook of a loaded grammar: states out of a file.
 *
 * Nothing in the file is believed. A block's checksum is looked at before its first use. Every
 * offset, count and number is checked where it is read. What the runtime takes for granted about
 * states is checked where a state is made:
 *   loops     their three states lie in a row, and targets name the first
 *   forks     their branches are no forks (they are entered without reading a byte)
 *   names     a frame of names is entered by a call only, above a RESUME that knows all its names,
 *             and is left at its end only. A RESUME is never over (runtime/walk/names.h)
 *   lists     of tokens, nodes and ranges are sorted and within the vocabulary
 * What a file can still say is another language than the one it was made for, which is what a
 * checksum is for.
 *
 * Example   A text arrives at state 7 of the space, which is state 3 of the file. Row 3 lies in
 *           some block, whose checksum is compared with its bytes now, once. The row says where
 *           the ranges of the state lie: that must be within their section. Each target must be a
 *           state of the file. It gets a number in the space when it is first met, here or
 *           elsewhere.
 * Tested by tests/artifact/test_artifact.c, fuzz/fuzz_artifact.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/artifact/artifact.h"
#include "runtime/walk/names.h"
#include "runtime/walk/nonascii.h"

#include "runtime/core/os.h"

#include <stdio.h>

#define NAMES_MAX (1u << 24)

static tsl__reader *reader(void *ctx) { return ctx; }

bool tsl__a_bad(tsl__reader *r, const char *why) {
  return tsl__space_fail(r->space, TSL_ERR_FORMAT, why), false;
}

/* ---- words of the file ----------------------------------------------------------------------- */

static void unshare(tsl__reader *r) {
  if (r->shared) tsl__free(&r->space->alloc, r->shared, strlen(r->shared) + 1);
  r->shared = NULL;
}

/* Remember where the file lies, and which file it is, so that a damaged one can be removed. Without
 * memory, or if the file is gone, it is not remembered, and stays. */
void tsl__reader_share(tsl__reader *r, const char *path) {
  tsl__file_info info;
  size_t n = strlen(path) + 1;
  /* then it stays where it is */
  if (!tsl__path_look(path, true, &info) || !(r->shared = tsl__alloc(&r->space->alloc, n))) return;
  memcpy(r->shared, path, n);
  r->inode = info.inode;
}

/* Not what has its name by now, if that is another file. */
static void take_away(tsl__reader *r) {
  tsl__file_info info;
  if (r->shared && tsl__path_look(r->shared, true, &info) && info.inode == r->inode)
    tsl__file_remove(r->shared);
  unshare(r);
}

/* A block is hashed before its first use, and a bit remembers that it was. A damaged file in a
 * shared folder is removed, so that the next reader makes a new one. */
static bool verify(tsl__reader *r, uint64_t block) {
  uint64_t bit = (uint64_t)1 << (block & 63), at = r->h->begin + block * TSL__ARTIFACT_BLOCK;
  if (r->verified[block >> 6] & bit) return true;
  size_t n =
      r->h->size - at < TSL__ARTIFACT_BLOCK ? (size_t)(r->h->size - at) : TSL__ARTIFACT_BLOCK;
  if (tsl__hash(r->file.at + at, n) != r->sums[block])
    return take_away(r), tsl__a_bad(r, "the artifact is damaged: a checksum is wrong");
  r->verified[block >> 6] |= bit;
  return true;
}

/* n words of a section, from word `at` on; NULL, with a sticky failure, if they lie outside or
 * their blocks are damaged. No words are a place, too: it is not read. */
const uint32_t *tsl__a_words(tsl__reader *r, unsigned section, uint64_t at, uint64_t n) {
  const tsl__a_section *s = &r->h->section[section];
  if (at > s->size / 4 || n > s->size / 4 - at)
    return tsl__a_bad(r, "the artifact is damaged: something lies outside of it"), NULL;
  uint64_t first = s->offset + at * 4;
  if (n == 0) return (const uint32_t *)(const void *)(r->file.at + first);
  for (uint64_t b = (first - r->h->begin) / TSL__ARTIFACT_BLOCK,
                end = (first + n * 4 - 1 - r->h->begin) / TSL__ARTIFACT_BLOCK;
       b <= end; b++)
    if (!verify(r, b)) return NULL;
  return (const uint32_t *)(const void *)(r->file.at + first);
}

/* A place in BODY that moves on as words are read. After a failure it reads nothing (NULL). */
typedef struct cursor {
  tsl__reader *r;
  uint64_t at;
} cursor;

static const uint32_t *take(cursor *c, uint64_t n) {
  const uint32_t *w =
      c->r->space->status == TSL_OK ? tsl__a_words(c->r, TSL__A_BODY, c->at, n) : NULL;
  c->at += n;
  return w;
}

/* The beginning of a state, and what of it lies before its targets. */
typedef struct body {
  cursor at;
  uint32_t flags, keyed, ranges, edges, token_edges, shortest;
  const uint32_t *loop, *names, *costs, *resume, *named, *hint; /* NULL: has none */
  uint32_t name_count, allowed;
  const uint32_t *outline; /* NULL: it is listed; else its words, and nothing else is set */
  uint32_t outline_words;
} body;

/* Ranges of names, then the fewest bytes to the end for each of them. */
static bool read_names(body *b) {
  uint64_t names = 0;
  b->names = take(&b->at, 2 * (uint64_t)b->keyed);
  for (uint32_t i = 0; b->names && i < b->keyed; i++) {
    uint32_t lo = b->names[2 * i], hi = b->names[2 * i + 1];
    if (lo >= hi || hi > NAMES_MAX) return tsl__a_bad(b->at.r, "the artifact is damaged: names");
    names += hi - lo;
  }
  return b->names && (b->costs = take(&b->at, names)) != NULL;
}

static bool read_resume(body *b) {
  const uint32_t *w = take(&b->at, 2);
  if (!w) return false;
  b->name_count = w[0];
  b->allowed = w[1];
  /* the frame of the names spells each of them in BODY: fewer words than names is another file */
  if (b->name_count > NAMES_MAX || b->name_count > b->at.r->h->section[TSL__A_BODY].size / 4 ||
      b->allowed > b->name_count)
    return tsl__a_bad(b->at.r, "the artifact is damaged: names");
  return (b->resume = take(&b->at, 3 * (uint64_t)b->allowed)) != NULL;
}

/* What of a state lies before its targets. Its parts are there as its flags say; flags that
 * contradict one another are refused. */
static bool read_body(tsl__reader *r, uint32_t number, body *out) {
  body b = {.at = {r, 0}};
  const uint32_t *place =
      number && number < r->h->states ? tsl__a_words(r, TSL__A_STATES, number, 1) : NULL;
  if (!place) return tsl__a_bad(r, "the artifact is damaged: there is no such state");
  b.at.at = *place;
  const uint32_t *w = take(&b.at, 3);
  if (!w) return false;
  if (w[0] & TSL__HEAD_OUTLINE) {
    b.at.at--;
    b.outline_words = w[1];
    *out = b;
    return w[0] == TSL__HEAD_OUTLINE ? (out->outline = take(&b.at, w[1])) != NULL
                                     : tsl__a_bad(r, "the artifact is damaged: a state of no kind");
  }
  b.flags = w[0] & 0xFF;
  b.keyed = (w[0] >> TSL__HEAD_KEYED & 3) + (w[0] & TSL__HEAD_KEYED_FOUR ? 4 : 0);
  b.ranges = w[0] >> TSL__HEAD_RANGES;
  b.edges = w[1] & 0xFFFF;
  b.token_edges = w[1] >> 16;
  b.shortest = w[2];
  bool hint = w[0] & TSL__HEAD_HINT, loop = b.flags & TSL__STATE_LOOP,
       names = b.flags & TSL__STATE_KEYED, resume = b.flags & TSL__STATE_RESUME;
  bool odd = b.ranges > 256 || (b.flags & TSL__STATE_FINAL) ||
             (resume && b.flags != TSL__STATE_RESUME) || names != (b.keyed > 0) ||
             b.keyed > TSL__KEYED_RANGES ||
             (loop + names + resume + !!(b.flags & TSL__STATE_FORK)) > 1;
  if (odd || b.flags / TSL__STATE_PHASE > (loop ? 2 : 0))
    return tsl__a_bad(r, "the artifact is damaged: a state of no kind");
  if (loop && (!(b.loop = take(&b.at, 5)) || b.loop[0] > b.loop[1]))
    return tsl__a_bad(r, "the artifact is damaged: a loop");
  if ((names && !read_names(&b)) || (resume && !read_resume(&b))) return false;
  if ((w[0] & TSL__HEAD_NAMED) && !(b.named = take(&b.at, 1))) return false;
  if (hint && !(b.hint = take(&b.at, TSL__HINT_WORDS))) return false;
  *out = b;
  return true;
}

/* ---- states ---------------------------------------------------------------------------------- */

static bool fill_fork(tsl__reader *r, tsl__state s, body *b);

/* The state in the place of one that waits for a new name: itself it waits for none. */
static bool otherwise(tsl__reader *r, uint32_t number, tsl__state *out) {
  body b;
  if (number &&
      (!read_body(r, number, &b) || b.named || (b.flags & ~(uint32_t)TSL__STATE_NULLABLE)))
    return tsl__a_bad(r, "the artifact is damaged: a repeated name");
  *out = tsl__a_state(r, number);
  return r->space->status == TSL_OK;
}

/* The record of the state in the space. Targets are read later, when a text first arrives there. */
static bool init_state(tsl__reader *r, tsl__state s, uint32_t number, const body *b) {
  tsl__state_rec *rec = tsl__state_own(r->space, s);
  rec->flags = (uint8_t)b->flags;
  rec->handle = number | TSL__A_LISTED;
  if (b->loop) {
    rec->loop_min = b->loop[0];
    rec->loop_max = b->loop[1];
  }
  if (b->names) {
    tsl__keyed k = {.n = b->keyed};
    for (uint32_t i = 0; i < b->keyed; i++)
      k.range[i] = (tsl__name_range){b->names[2 * i], b->names[2 * i + 1]};
    rec->keyed = tsl__arena_copy(&r->space->arena, &k, sizeof k);
    if (!rec->keyed) return tsl__space_no_memory(r->space);
  }
  if (b->named) {
    if (!otherwise(r, *b->named, &rec->otherwise)) return false;
    rec->guarded = TSL__NEW_NAME;
  }
  return !b->resume || tsl__resume_make(r->space, rec, b->name_count);
}

/* The three states of a loop. */
static tsl__state make_loop(tsl__reader *r, uint32_t number, uint32_t phase) {
  body b[3];
  if (phase >= number) return tsl__a_bad(r, "the artifact is damaged: a loop"), 0;
  uint32_t base = number - phase;
  for (uint32_t i = 0; i < 3; i++) {
    if (!read_body(r, base + i, &b[i])) return 0;
    if (!b[i].loop || b[i].flags / TSL__STATE_PHASE != i || b[i].loop[0] != b[0].loop[0] ||
        b[i].loop[1] != b[0].loop[1])
      return tsl__a_bad(r, "the artifact is damaged: a loop"), 0;
  }
  tsl__state first = tsl__state_new(r->space, 3);
  for (uint32_t i = 0; first && i < 3; i++) {
    if (!init_state(r, first + i, base + i, &b[i])) return 0;
    r->state_of[base + i] = first + i;
  }
  return first ? first + phase : 0;
}

/* ---- outlines -------------------------------------------------------------------------------- */

/* Is the state written out in the file? Others grew from an outline. */
static bool is_listed(const tsl__state_rec *r) { return r->handle & TSL__A_LISTED; }

/* What a listed state is in the file. */
static bool read_state(tsl__reader *r, tsl__state state, body *out) {
  return read_body(r, tsl__state_at(r->space, state)->handle & ~TSL__A_LISTED, out);
}

/* The file's number of a state of the space; 0: the file does not have it. */
uint32_t tsl__a_number(const tsl__reader *r, tsl__state state) {
  const tsl__state_rec *rec = tsl__state_at(r->space, state);
  return is_listed(rec)         ? rec->handle & ~TSL__A_LISTED
         : state < r->file_of.n ? r->file_of.at[state]
                                : 0;
}

/* Expressions to grow states from: all spaces of a grammar have the same. */
static bool open_outlines(tsl__reader *r) {
  if (r->outlines) return true;
  if (r->of && !open_outlines(r->of)) return tsl__space_no_memory(r->space);
  tsl_status status = r->of ? r->growth->beside(r->space, r->of->outlines, &r->outlines)
                            : r->growth->open(r->space, &r->limits, &r->outlines);
  if (status != TSL_OK) return tsl__space_fail(r->space, status, "out of memory"), false;
  r->grown = r->growth->states(r->outlines);
  return true;
}

/* A state from its outline, by the compiler's code. What that needs is opened with the first
 * one. */
static tsl__state grow(tsl__reader *r, uint32_t number, const body *b) {
  if (!open_outlines(r)) return 0;
  tsl__state s = r->growth->state(r->space, r->outlines, b->outline, b->outline_words);
  if (!s) return tsl__a_bad(r, "the artifact is damaged: an outline"), 0;
  while (r->file_of.n <= s)
    if (!tsl__vec_push(&r->space->alloc, &r->file_of, 0)) return tsl__space_no_memory(r->space), 0;
  if (!r->file_of.at[s]) r->file_of.at[s] = number; /* two may grow to the same */
  return r->state_of[number] = s;
}

/* The space's number of a state of the file, which is made when it is first wanted. 0 on failure,
 * which is sticky. */
tsl__state tsl__a_state(tsl__reader *r, uint32_t number) {
  body b;
  if (number == 0 || r->space->status != TSL_OK) return 0;
  if (number < r->h->states && r->state_of[number]) return r->state_of[number];
  if (!read_body(r, number, &b)) return 0;
  if (b.outline) return grow(r, number, &b);
  if (b.loop) return make_loop(r, number, b.flags / TSL__STATE_PHASE);
  tsl__state s = tsl__state_new(r->space, 1);
  if (!s || !init_state(r, s, number, &b)) return 0;
  if ((b.flags & TSL__STATE_FORK) && !fill_fork(r, s, &b)) return 0;
  return r->state_of[number] = s;
}

/* A target, as the space's. `keyed`: of a frame of names, whose names are below `names`. */
static tsl__target target_of(tsl__reader *r, uint32_t word, bool keyed, uint32_t names) {
  tsl__state s = tsl__a_state(r, tsl__target_state(word));
  if (!s) return tsl__a_bad(r, "the artifact is damaged: a target that leads nowhere"), 0;
  const tsl__state_rec *to = tsl__state_at(r->space, s);
  if (to->flags / TSL__STATE_PHASE)
    return tsl__a_bad(r, "the artifact is damaged: a target in the middle of a loop"), 0;
  if (!(to->flags & TSL__STATE_FORK) && keyed != !!(to->flags & TSL__STATE_KEYED))
    return tsl__a_bad(r, "the artifact is damaged: names and other frames mixed"), 0;
  /* its branches were checked when it was made: all of one kind */
  if (to->flags & TSL__STATE_FORK) {
    const tsl__state_rec *branch =
        tsl__state_at(r->space, tsl__target_state(tsl__state_edges(to)[0].to));
    if (keyed != !!(branch->flags & TSL__STATE_KEYED))
      return tsl__a_bad(r, "the artifact is damaged: names and other frames mixed"), 0;
  }
  for (uint32_t i = 0; keyed && (to->flags & TSL__STATE_KEYED) && i < to->keyed->n; i++)
    if (to->keyed->range[i].hi > names) return tsl__a_bad(r, "the artifact is damaged: names"), 0;
  return tsl__target_make(s, tsl__target_op(word));
}

/* Forks are made whole: nobody asks whether they are expanded. */
static bool fill_fork(tsl__reader *r, tsl__state s, body *b) {
  tsl__edge *edges = tsl__arena_alloc(&r->space->arena, (b->edges + 1) * sizeof *edges);
  const uint32_t *w = take(&b->at, 2 * (uint64_t)b->edges);
  if (!edges) return tsl__space_no_memory(r->space);
  if (!w) return false;
  if (b->edges == 0 || b->ranges || b->token_edges || b->flags != TSL__STATE_FORK)
    return tsl__a_bad(r, "the artifact is damaged: a fork");
  for (uint32_t i = 0; i < b->edges; i++) {
    body branch;
    if (!read_body(r, tsl__target_state(w[2 * i + 1]), &branch)) return false;
    if (w[2 * i] || (!branch.outline && (branch.flags & TSL__STATE_FORK)))
      return tsl__a_bad(r, "the artifact is damaged: a fork");
    tsl__target to = target_of(r, w[2 * i + 1], false, 0);
    if (!to) return false;
    /* what grows from a forged outline may be a fork itself */
    if (tsl__state_at(r->space, tsl__target_state(to))->flags & TSL__STATE_FORK)
      return tsl__a_bad(r, "the artifact is damaged: a fork");
    edges[i] = (tsl__edge){0, to};
  }
  tsl__ranges none = {0};
  return tsl__state_fill(r->space, s, &none, edges, b->edges, NULL, 0) == TSL_OK;
}

/* ---- expanding ------------------------------------------------------------------------------- */

/* Where bytes lead: ranges in order, the last byte of each beside its target. They cover all 256
 * bytes, or there are none. */
static bool read_targets(body *b, const tsl__state_rec *own, tsl__ranges *out) {
  const uint32_t *to = take(&b->at, b->ranges), *upper = take(&b->at, (b->ranges + 3) / 4);
  uint32_t names = 0;
  for (uint32_t i = 0; own->flags & TSL__STATE_KEYED && i < own->keyed->n; i++)
    if (own->keyed->range[i].hi > names) names = own->keyed->range[i].hi;
  unsigned next = 0;
  if (!to || !upper) return false;
  for (uint32_t i = 0; i < b->ranges; i++) {
    unsigned last = upper[i / 4] >> 8 * (i % 4) & 0xFF;
    if (last < next) return tsl__a_bad(b->at.r, "the artifact is damaged: ranges of bytes");
    tsl__target t = to[i] ? target_of(b->at.r, to[i], own->flags & TSL__STATE_KEYED, names) : 0;
    if (to[i] && !t) return false;
    out->upper[i] = (uint8_t)last;
    out->to[i] = t;
    next = last + 1;
  }
  out->n = b->ranges;
  return next == 0 || next == 256 ||
         tsl__a_bad(b->at.r, "the artifact is damaged: ranges of bytes");
}

/* A call of a frame of names comes back to a RESUME that knows them. */
static bool check_call(tsl__reader *r, const tsl__edge *e) {
  const tsl__state_rec *callee = tsl__state_at(r->space, tsl__target_state(e->to)),
                       *then = tsl__state_at(r->space, tsl__target_state(e->push));
  if (callee->flags & TSL__STATE_FORK) return tsl__a_bad(r, "the artifact is damaged: a call");
  if (!(callee->flags & TSL__STATE_KEYED)) return true;
  if (!(then->flags & TSL__STATE_RESUME))
    return tsl__a_bad(r, "the artifact is damaged: names without a place to go on");
  for (uint32_t i = 0; i < callee->keyed->n; i++)
    if (callee->keyed->range[i].hi > then->resume->names)
      return tsl__a_bad(r, "the artifact is damaged: names");
  return true;
}

/* Calls: where each goes on afterwards, and what it calls. A call enters a loop at its first state
 * only. */
static bool read_calls(body *b, tsl__edge *edges) {
  tsl__reader *r = b->at.r;
  const uint32_t *w = take(&b->at, 2 * (uint64_t)b->edges);
  if (!w) return false;
  for (uint32_t i = 0; i < b->edges; i++) {
    tsl__state callee = tsl__a_state(r, tsl__target_state(w[2 * i + 1]));
    if (!callee) return tsl__a_bad(r, "the artifact is damaged: a call");
    if (tsl__state_at(r->space, callee)->flags / TSL__STATE_PHASE)
      return tsl__a_bad(r, "the artifact is damaged: a call");
    edges[i] = (tsl__edge){target_of(r, w[2 * i], false, 0),
                           tsl__target_make(callee, tsl__target_op(w[2 * i + 1]))};
    if (!edges[i].push) return tsl__a_bad(r, "the artifact is damaged: a call");
    if (!check_call(r, &edges[i])) return false;
  }
  return true;
}

/* Tokens are in order, each once, and within the vocabulary. */
bool tsl__a_check_tokens(tsl__reader *r, const uint32_t *at, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (at[i] >= r->space->vocab->size || (i && at[i] <= at[i - 1]))
      return tsl__a_bad(r, "the artifact is damaged: tokens");
  return true;
}

static bool read_token_edges(body *b, tsl__token_edge *edges) {
  tsl__reader *r = b->at.r;
  const uint32_t *w = take(&b->at, 4 * (uint64_t)b->token_edges);
  if (!w) return false;
  if (b->token_edges && !r->space->names_tokens)
    return tsl__a_bad(r, "the artifact is damaged: tokens are named, against its header");
  for (uint32_t i = 0; i < b->token_edges; i++, w += 4) {
    const uint32_t *tokens = tsl__a_words(r, TSL__A_RANGES, w[0], w[1]);
    if (!tokens || !tsl__a_check_tokens(r, tokens, w[1])) return false;
    edges[i] = (tsl__token_edge){tokens, w[1], w[2] & 1, target_of(r, w[3], false, 0)};
    if (!edges[i].to) return tsl__a_bad(r, "the artifact is damaged: a token that leads nowhere");
  }
  return true;
}

/* The hook: fills in a state's targets and edges. All of it is read and checked before anything is
 * filled in. */
static tsl_status expand(void *ctx, tsl__state state) {
  tsl__reader *r = reader(ctx);
  const tsl__state_rec *own = tsl__state_at(r->space, state);
  tsl__ranges targets;
  body b;
  if (!is_listed(own)) return r->growth->hook->states.expand(r->grown, state);
  if (!read_state(r, state, &b)) return r->space->status;
  if (((own->flags & TSL__STATE_KEYED) && (b.edges || b.token_edges)) ||
      ((own->flags & TSL__STATE_RESUME) && (b.edges || b.token_edges || b.ranges)))
    return tsl__a_bad(r, "the artifact is damaged: a frame of names that calls"), r->space->status;
  size_t edges_size = b.edges * sizeof(tsl__edge),
         tokens_size = b.token_edges * sizeof(tsl__token_edge);
  char *both = tsl__alloc(&r->space->alloc, edges_size + tokens_size + 1);
  if (!both) return tsl__space_fail(r->space, TSL_ERR_NO_MEMORY, "out of memory");
  tsl__token_edge *tokens = (void *)both;
  tsl__edge *edges = (void *)(both + tokens_size);
  if (read_targets(&b, own, &targets) && read_calls(&b, edges) && read_token_edges(&b, tokens) &&
      r->space->status == TSL_OK)
    tsl__state_fill(r->space, state, &targets, edges, b.edges, tokens, b.token_edges);
  tsl__free(&r->space->alloc, both, edges_size + tokens_size + 1);
  return r->space->status;
}

static tsl__state fixed(void *ctx, const tsl__state_rec *from, uint32_t lo, uint32_t hi,
                        uint32_t depth) {
  if (!is_listed(from))
    return reader(ctx)->growth->hook->states.fixed(reader(ctx)->grown, from, lo, hi, depth);
  return tsl__a_bad(reader(ctx), "the artifact is damaged: no state of it has fixed texts"), 0;
}

static uint32_t derive(void *ctx, const tsl__state_rec *state, uint8_t byte) {
  if (!is_listed(state))
    return reader(ctx)->growth->hook->states.derive(reader(ctx)->grown, state, byte);
  return tsl__a_bad(reader(ctx), "the artifact is damaged: a target that is not there"),
         TSL__TARGET_LATER;
}

/* ---- hints ----------------------------------------------------------------------------------- */

static void read_set(const uint32_t *w, tsl__bytes *out) {
  for (int i = 0; i < 4; i++) out->w[i] = w[2 * i] | (uint64_t)w[2 * i + 1] << 32;
}

/* A state that a hint names: walked in the place of another one, so of no frame of names, and the
 * first of its loop. */
static bool hinted_state(tsl__reader *r, uint32_t number, tsl__state *out) {
  *out = 0;
  if (!number) return true;
  tsl__target t = target_of(r, number & 0x3FFFFFFFu, false, 0);
  *out = tsl__target_state(t);
  return t != 0;
}

static bool read_nonascii(tsl__reader *r, uint32_t at, uint32_t n, bool whole, uint32_t *out) {
  const uint32_t *pairs = n ? tsl__a_words(r, TSL__A_RANGES, at, 2 * (uint64_t)n) : NULL;
  *out = 0;
  if (n == 0) return true;
  if (!pairs) return false;
  for (uint32_t i = 0; i < 2 * n; i++)
    if (pairs[i] > 0x10FFFF || (i && (i % 2 ? pairs[i] < pairs[i - 1] : pairs[i] <= pairs[i - 1])))
      return tsl__a_bad(r, "the artifact is damaged: code points");
  return (*out = tsl__nonascii_of(r->space, pairs, n, whole)) != 0;
}

/* A listed state's hint is whole. */
static bool form_of(void *ctx, const tsl__state_rec *state, tsl__hint *hint) {
  tsl__reader *r = reader(ctx);
  body b;
  if (!is_listed(state)) return r->growth->hook->states.form(r->grown, state, hint);
  if (!read_body(r, state->handle & ~TSL__A_LISTED, &b) || !b.hint) return false;
  const uint32_t *w = b.hint;
  tsl__hint h = {.limit = w[3],
                 .dead = TSL__COUNT_INF,
                 .like_limit = w[4],
                 .like_dead = w[5],
                 .like_unit = w[6],
                 .counted = w[7] & 1,
                 .ends = w[7] >> 1 & 1,
                 .calls = w[7] >> 2 & 1};
  read_set(w + 10, &h.letters);
  read_set(w + 18, &h.exits);
  if (!hinted_state(r, w[0], &h.base) || !hinted_state(r, w[1], &h.except) ||
      !hinted_state(r, w[2], &h.like) || !read_nonascii(r, w[8], w[9], w[7] >> 3 & 1, &h.nonascii))
    return false;
  *hint = h;
  return r->space->status == TSL_OK;
}

static bool letters_of(void *ctx, const tsl__state_rec *state, tsl__hint *hint) {
  return !is_listed(state) &&
         reader(ctx)->growth->hook->states.letters(reader(ctx)->grown, state, hint);
}

/* ---- the rest of the hook -------------------------------------------------------------------- */

static uint32_t shortest(void *ctx, tsl__state state, uint32_t count) {
  tsl__reader *r = reader(ctx);
  body b;
  if (!is_listed(tsl__state_at(r->space, state)))
    return r->growth->hook->states.shortest(r->grown, state, count);
  if (!read_state(r, state, &b)) return UINT32_MAX;
  if (!b.loop || count >= b.loop[0]) return b.shortest;
  return tsl__a_way_out(b.loop[2], b.loop[3], b.loop[0] - count - 1, b.loop[4]);
}

/* The entry of an allowed name: name, target, fewest bytes; NULL: it is not allowed. */
static const uint32_t *find_name(const body *b, uint32_t name) {
  uint32_t lo = 0, hi = b->allowed;
  while (lo < hi) {
    uint32_t mid = (lo + hi) / 2;
    if (b->resume[3 * mid] < name)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < b->allowed && b->resume[3 * lo] == name ? &b->resume[3 * lo] : NULL;
}

static bool allows(void *ctx, tsl__state resume, uint32_t name) {
  body b;
  return read_state(reader(ctx), resume, &b) && b.resume && find_name(&b, name);
}

static uint32_t resume(void *ctx, tsl__state at, uint32_t name) {
  body b;
  tsl__reader *r = reader(ctx);
  if (!read_state(r, at, &b)) return 0;
  const uint32_t *e = b.resume ? find_name(&b, name) : NULL;
  return e ? target_of(r, e[1], false, 0)
           : (tsl__a_bad(r, "the artifact is damaged: a name that is not allowed"), 0u);
}

static uint32_t name_shortest(void *ctx, tsl__state state, uint32_t name) {
  body b;
  tsl__reader *r = reader(ctx);
  if (!read_state(r, state, &b)) return UINT32_MAX;
  if (b.resume) {
    const uint32_t *e = find_name(&b, name);
    return e ? e[2] : UINT32_MAX;
  }
  uint32_t before = 0, best = UINT32_MAX;
  for (uint32_t i = 0; i < b.keyed; i++) {
    uint32_t lo = b.names[2 * i], hi = b.names[2 * i + 1];
    if (name >= lo && name < hi && b.costs[before + name - lo] < best)
      best = b.costs[before + name - lo];
    before += hi - lo;
  }
  return best;
}

static tsl__space *speller(void *ctx) {
  return tsl__a_bad(reader(ctx), "the artifact is damaged: nothing in it compares items"), NULL;
}

static bool outline(void *ctx, tsl__state state, void *to, bool (*put)(void *to, uint32_t word)) {
  tsl__reader *r = reader(ctx);
  return !is_listed(tsl__state_at(r->space, state)) &&
         r->growth->hook->states.outline(r->grown, state, to, put);
}

static void print(void *ctx, tsl__state state, char *out, size_t n) {
  tsl__reader *r = reader(ctx);
  if (is_listed(tsl__state_at(r->space, state)))
    snprintf(out, n, "#%u", (unsigned)tsl__a_number(r, state));
  else
    r->growth->hook->states.print(r->grown, state, out, n);
}

static void begin(void *ctx, uint64_t deadline) {
  const tsl__reader *r = reader(ctx);
  /* spaces share the expressions, which another one may have opened */
  void *grown = r->grown ? r->grown : r->of ? r->of->grown : NULL;
  if (grown) r->growth->hook->life.begin(grown, deadline);
}

static const char *why(void *ctx) {
  tsl__reader *r = reader(ctx);
  return r->space->why ? r->space->why
         : r->grown    ? r->growth->hook->life.why(r->grown)
                       : "the artifact is damaged";
}

static size_t memory(void *ctx) {
  const tsl__reader *r = ctx;
  return sizeof *r + r->maps + (r->left_id.cap + r->file_of.cap) * sizeof(uint32_t) +
         (r->file.mapped || r->of ? 0 : r->file.size) + (r->shared ? strlen(r->shared) + 1 : 0) +
         (r->grown ? r->growth->hook->life.memory(r->grown) : 0);
}

static uint32_t count(void *ctx) { return reader(ctx)->h->states; }

static void release(void *ctx) {
  tsl__reader *r = ctx;
  tsl_allocator a = r->space->alloc;
  if (r->outlines) r->growth->close(r->space, r->outlines);
  tsl__vec_free(&a, &r->left_id);
  tsl__vec_free(&a, &r->file_of);
  tsl__free(&a, r->verified, r->maps);
  if (!r->of) tsl__a_close(&r->file, &a);
  unshare(r);
  tsl__free(&a, r, sizeof *r);
}

/* ---- other spaces over the same file --------------------------------------------------------- */

static void *again(void *ctx, tsl__space *fresh) {
  tsl__reader *r = ctx, *other = tsl__alloc_zero(&fresh->alloc, sizeof *other);
  if (!other) return NULL;
  *other = (tsl__reader){.space = fresh,
                         .growth = r->growth,
                         .limits = r->limits,
                         .file = r->file,
                         .h = r->h,
                         .sums = r->sums,
                         .walks = r->walks,
                         .of = r->of ? r->of : r};
  if (tsl__reader_maps(other)) return other;
  tsl__free(&fresh->alloc, other, sizeof *other);
  return NULL;
}

static tsl__state carry(void *ctx, const tsl__space *from, tsl__state state) {
  tsl__reader *r = ctx;
  const tsl__state_rec *rec = tsl__state_at(from, state);
  if (is_listed(rec)) return tsl__a_state(r, rec->handle & ~TSL__A_LISTED);
  return open_outlines(r) ? r->growth->hook->life.carry(r->grown, from, state) : 0;
}

const tsl__hook tsl__artifact_hook = {
    .states = {.expand = expand,
               .derive = derive,
               .fixed = fixed,
               .form = form_of,
               .letters = letters_of,
               .shortest = shortest,
               .walk = tsl__a_find_walk,
               .outline = outline,
               .print = print},
    .names = {.allows = allows, .resume = resume, .name_shortest = name_shortest},
    .life = {.begin = begin,
             .why = why,
             .memory = memory,
             .count = count,
             .free = release,
             .again = again,
             .carry = carry,
             .speller = speller},
};

tsl__reader *tsl__reader_of(const tsl__space *space) {
  return space->hook == &tsl__artifact_hook ? space->hook_ctx : NULL;
}

void tsl__reader_forget_limits(tsl__reader *r) {
  r->limits.cancel = r->space->work.cancel = NULL;
  r->limits.deadline_us = r->space->work.deadline_us = r->space->work.deadline = 0;
  if (r->outlines) r->growth->forget_limits(r->outlines);
}
