/* test_listing.c - states and positions as data: what a picture or a person is shown.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>

#include "tests/support/check.h"
#include "tests/support/toy.h"

static tsl_vocab *vocab;

static const char *const arithmetic = "root ::= expr\nexpr ::= term ((\"+\" | \"-\") term)*\nterm "
                                      "::= num | \"(\" expr \")\"\nnum ::= [0-9]+\n";

/* ---- frames ---------------------------------------------------------------------------------- */

typedef struct shown {
  char text[4000]; /* "0:rules:expression>below,below; " per frame */
  uint32_t frames, deepest;
} shown;

static void show(void *ctx, const tsl_frame *f) {
  shown *s = ctx;
  size_t n = strlen(s->text);
  CHECKF(f->number == s->frames, "frame %u comes as number %u", f->number, s->frames);
  n += (size_t)snprintf(s->text + n, sizeof s->text - n, "%u:%s:%s>", f->number, f->rule,
                        f->expression);
  for (uint32_t i = 0; i < f->below_count && n < sizeof s->text; i++)
    n += (size_t)snprintf(s->text + n, sizeof s->text - n, "%s%u", i ? "," : "", f->below[i]);
  if (n < sizeof s->text) snprintf(s->text + n, sizeof s->text - n, "; ");
  s->frames++;
  if (f->depth > s->deepest) s->deepest = f->depth;
}

static tsl_matcher *after(tsl_grammar *g, const char *text) {
  tsl_matcher *m = NULL;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  CHECKF(tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK, "%s", text);
  return m;
}

static void frames(void) {
  static const struct {
    const char *grammar, *text, *shown;
  } cases[] = {
      {arithmetic, "", "0:<root>:<root>>; "},
      /* terms stand in place, and have no frame */
      {arithmetic, "(1+",
       "0:<expr>:(([0-9]){1,}|\\(<expr>\\))([+-](([0-9]){1,}|\\(<expr>\\)))*>1; "
       "1:<root>:\\)([+-](([0-9]){1,}|\\(<expr>\\)))*>; "},
      {arithmetic, "(1",
       "0:<expr>:([0-9])*([+-](([0-9]){1,}|\\(<expr>\\)))*>1; "
       "1:<root>:\\)([+-](([0-9]){1,}|\\(<expr>\\)))*>; "},
      /* ambiguous: two frames read on */
      {"root ::= a | b\na ::= \"(\" a \")\" | \"x\"\nb ::= \"(\" b \"]\" | \"x\"", "((",
       "0:<a>:<a>\\)>2; 1:<b>:<b>\\]>3; 2:<root>:\\)>; 3:<root>:\\]>; "},
      /* a rule in the last place goes on in the frame that named it */
      {"root ::= \"a\" list\nlist ::= \"a\" | \"(\" list \")\" list", "a(a)(",
       "0:<root>:<list>\\)<list>>; "},
      {"root ::= x x\nx ::= \"(\" x \")\" | \"y\"", "(", "0:<x>:<x>\\)>1; 1:<root>:<x>>; "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_grammar *g = toy_gbnf(vocab, cases[i].grammar);
    tsl_matcher *m = after(g, cases[i].text);
    shown s = {0};
    uint32_t total = 0;
    CHECK(tsl_matcher_frames(m, 0, show, &s, &total) == TSL_OK);
    CHECKF(total == s.frames && total > 0, "%u frames of %u", s.frames, total);
    CHECKF(!strcmp(s.text, cases[i].shown), "after \"%s\": %s", cases[i].text, s.text);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
}

static void limits(void) {
  char text[3000] = {0};
  tsl_grammar *g = toy_gbnf(vocab, arithmetic);
  memset(text, '(', sizeof text - 1);
  tsl_matcher *m = after(g, text);
  shown s = {0};
  uint32_t total = 0;
  CHECK(tsl_matcher_frames(m, 3, show, &s, &total) == TSL_OK && s.frames == 3 &&
        total == TSL_MAX_FRAMES);
  CHECK(tsl_matcher_frames(m, TSL_MAX_FRAMES + 1, show, &s, &total) == TSL_ERR_ARGUMENT &&
        total == 0);
  tsl_matcher_free(m);
  m = after(g, "1");
  CHECK(tsl_matcher_accept(m, tsl_vocab_eog(vocab, &total)[0]) == TSL_OK);
  s = (shown){0};
  /* the generation is over */
  CHECK(tsl_matcher_frames(m, 0, show, &s, &total) == TSL_OK && s.frames == 0 && total == 0);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* A value that must be new has a memory beside its position: the frames are those of the
 * position. */
static void guarded(void) {
  tsl_grammar *g = toy_schema(
      vocab, "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"integer\"}}");
  tsl_matcher *m = after(g, "[1,");
  shown s = {0};
  uint32_t total = 0;
  CHECK(tsl_matcher_frames(m, 0, show, &s, &total) == TSL_OK && total > 0);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* ---- states ---------------------------------------------------------------------------------- */

typedef struct listed {
  uint32_t states, visited, calls, bytes;
  bool begins; /* a state that is left by '(' alone among brackets */
} listed;

static void list(void *ctx, const tsl_state *s) {
  listed *l = ctx;
  l->states++;
  l->visited += s->visited;
  CHECK(s->visited || s->edge_count == 0);
  for (size_t i = 0; i < s->edge_count; i++) {
    const tsl_edge *e = &s->edges[i];
    l->calls += e->kind == TSL_EDGE_CALL && e->then;
    l->bytes += e->kind == TSL_EDGE_BYTES;
    if (e->kind != TSL_EDGE_BYTES) continue;
    uint32_t any = 0;
    for (int w = 0; w < 8; w++) any |= e->bytes[w];
    CHECK(any);
    for (size_t k = 0; k < i; k++)
      CHECK(s->edges[k].kind != TSL_EDGE_BYTES || s->edges[k].to != e->to);
    l->begins |= (e->bytes['(' >> 5] >> ('(' & 31) & 1) && !(e->bytes[')' >> 5] >> (')' & 31) & 1);
  }
}

static void states(void) {
  tsl_grammar *g = toy_gbnf(vocab, arithmetic);
  tsl_matcher *m = after(g, "(1+2)");
  tsl_grammar_stats stats;
  listed l = {0};
  CHECK(tsl_grammar_states(g, list, &l) == TSL_OK);
  tsl_grammar_get_stats(g, &stats);
  CHECKF(l.states == stats.states && l.visited > 3 && l.calls > 0 && l.bytes > 3 && l.begins,
         "%u of %u states, %u visited, %u calls, %u edges of bytes", l.states, stats.states,
         l.visited, l.calls, l.bytes);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void ignore_frame(void *ctx, const tsl_frame *f) { (void)ctx, (void)f; }
static void ignore_state(void *ctx, const tsl_state *s) { (void)ctx, (void)s; }

static void no_memory(void) {
  failing memory = {.left = LONG_MAX};
  tsl_allocator a = failing_allocator(&memory);
  tsl_vocab *v = NULL;
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  uint32_t total = 0;
  CHECK(tsl_vocab_embedded(&a, &v, NULL) == TSL_OK &&
        tsl_grammar_gbnf(v, arithmetic, strlen(arithmetic), NULL, NULL, &g, NULL) == TSL_OK);
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
        tsl_matcher_accept_bytes(m, "(1", 2, NULL) == TSL_OK);
  long held = memory.held;
  for (int round = 0; round < 2; round++) {
    long n = 0;
    for (bool failed = true; failed && n < 1000; n++) {
      memory.left = n;
      tsl_status status = round ? tsl_grammar_states(g, ignore_state, NULL)
                                : tsl_matcher_frames(m, 0, ignore_frame, NULL, &total);
      CHECK(status == TSL_OK || status == TSL_ERR_NO_MEMORY);
      CHECKF(memory.held == held, "%ld bytes are left", memory.held - held);
      failed = failing_failed(&memory);
      CHECK(failed || status == TSL_OK);
    }
    CHECKF(n > 1 && n < 1000, "%ld failures", n - 1);
  }
  memory.left = LONG_MAX;
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
  CHECK(memory.held == 0);
}

int main(void) {
  CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
  RUN(frames, "what is on the stack, and for which rules");
  RUN(limits, "deep stacks are cut, and the number says so");
  RUN(guarded, "positions with a memory");
  RUN(states, "states, edges, calls");
  RUN(no_memory, "every allocation fails once");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
