/* test_forged.c - forged artifacts, whose checksums are right: they do not make the program work
 * longer or hold more memory than its limits allow.
 *
 * A draft is read from a good artifact, or written by hand, changed, and assembled again. Then its
 * checksums are right, and what refuses it must look at the content. More forged files:
 * fuzz/fuzz_artifact.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/support/cpu_time.h"
#include "tests/artifact/follow.h"

/* What is in an artifact, to be changed and assembled again: then its checksums are right. */
static tsl__a_draft draft_of(const tsl_artifact *a) {
  size_t size;
  const uint8_t *data = tsl_artifact_data(a, &size);
  tsl__a_draft d = {.a = &tsl__malloc, .header = *(const tsl__a_header *)(const void *)data};
  for (unsigned i = 0; i < TSL__A_SECTIONS; i++) {
    const tsl__a_section *s = &d.header.section[i];
    CHECK(!s->size ||
          tsl__a_put_text(&d, i, (const char *)data + s->offset, (size_t)s->size) == TSL_OK);
  }
  return d;
}

/* NULL: *status says why. The draft is gone. */
static tsl_grammar *load_forged(tsl_vocab *v, tsl__a_draft *d, const tsl_limits *limits,
                                tsl_status *status) {
  tsl_artifact *a = NULL;
  tsl_grammar *g = NULL;
  size_t size;
  *status = tsl__a_assemble(d, v, d->a, &a);
  const void *data = a ? tsl_artifact_data(a, &size) : NULL;
  if (data) *status = tsl_grammar_load_memory(v, data, size, limits, &g, NULL);
  tsl_artifact_free(a);
  tsl__a_draft_free(d);
  return g;
}

/* What the first mask says, if it was loaded. */
static tsl_status first_mask(tsl_grammar *g, tsl_status status) {
  tsl_matcher *m = NULL;
  uint32_t mask[16];
  if (status == TSL_OK) status = tsl_matcher_new(g, NULL, &m);
  if (status != TSL_OK) return status;
  status = tsl_matcher_mask(m, mask);
  CHECK(tsl_matcher_mask(m, mask) == status); /* called again it says so again */
  tsl_matcher_free(m);
  return status;
}

/* The first target of the first state, which does nothing but read. */
static uint32_t *first_target(const tsl__a_draft *d) {
  uint32_t *w = d->section[TSL__A_BODY].at + d->section[TSL__A_STATES].at[d->header.start];
  CHECK(!(w[0] & (TSL__HEAD_FLAGS | TSL__HEAD_OUTLINE | TSL__HEAD_NAMED)) &&
        w[0] >> TSL__HEAD_RANGES);
  uint32_t *to = w + 3 + (w[0] & TSL__HEAD_HINT ? TSL__HINT_WORDS : 0);
  while (!*to) to++;
  return to;
}

static void leads_nowhere(void) {
  tsl_vocab *v = small_vocab("<end>");
  tsl_artifact *a = artifact_of(v, "{\"enum\": [\"leaf\", \"node\"]}", 1);
  for (unsigned op = 0; op < 4; op++) {
    tsl__a_draft d = draft_of(a);
    uint32_t *to = first_target(&d);
    *to = op ? tsl__target_make(0, op) : *to;
    tsl_status status;
    tsl_grammar *g = load_forged(v, &d, NULL, &status);
    status = first_mask(g, status);
    CHECKF(status == (op ? TSL_ERR_FORMAT : TSL_OK), "operation %u: %s", op,
           tsl_status_name(status));
    tsl_grammar_release(g);
  }
  tsl_artifact_free(a);
  tsl_vocab_release(v);
}

/* A state that calls, and comes back to other states each time, all of which say that they do so
 * many names apart. */
static tsl__a_draft many_resumes(uint32_t states, uint32_t apart, uint32_t words) {
  tsl__a_draft d = {.a = &tsl__malloc,
                    .header = {.flags = TSL__A_COMPLETE, .start = 1, .states = states + 3}};
  tsl__words *place = &d.section[TSL__A_STATES], *body = &d.section[TSL__A_BODY];
  CHECK(tsl__vec_reserve(d.a, place, states + 3) &&
        tsl__vec_reserve(d.a, body, 2 * states + words + 11) &&
        tsl__a_put_text(&d, TSL__A_REPORT, "[]", 3) == TSL_OK);
  const uint32_t head[3] = {0, states, 0}, end[3] = {TSL__STATE_NULLABLE, 0, 0},
                 resume[5] = {TSL__STATE_RESUME, 0, 0, apart, 0};
  uint32_t *at = body->at;
  memset(at, 0, (2 * states + words + 11) * sizeof *at);
  memcpy(at, head, sizeof head);
  for (uint32_t i = 0; i < states; i++) at[3 + 2 * i] = 3 + i, at[4 + 2 * i] = 2;
  memcpy(at + 3 + 2 * states, end, sizeof end);
  memcpy(at + 6 + 2 * states, resume, sizeof resume);
  place->at[0] = place->at[1] = 0;
  place->at[2] = 3 + 2 * states;
  for (uint32_t i = 0; i < states; i++) place->at[3 + i] = 6 + 2 * states;
  place->n = states + 3;
  body->n = 2 * states + words + 11;
  return d;
}

/* A call of a frame that spells any of so many names, over a state that lets none through. */
static tsl__a_draft many_names(uint32_t count) {
  const uint32_t head[] = {0, 1, 0, 3, 2}, resume[] = {TSL__STATE_RESUME, 0, 0, count, 0},
                 keyed[] = {TSL__STATE_KEYED | 1u << TSL__HEAD_KEYED | 1u << TSL__HEAD_RANGES, 0, 1,
                            0, count},
                 targets[] = {2, 255};
  tsl__a_draft d = {.a = &tsl__malloc,
                    .header = {.flags = TSL__A_COMPLETE, .start = 1, .states = 4}};
  tsl__words *body = &d.section[TSL__A_BODY];
  CHECK(tsl__vec_reserve(d.a, &d.section[TSL__A_STATES], 4) &&
        tsl__vec_reserve(d.a, body, count + 17) &&
        tsl__a_put_text(&d, TSL__A_REPORT, "[]", 3) == TSL_OK);
  const uint32_t places[4] = {0, 0, 10, 5};
  memcpy(d.section[TSL__A_STATES].at, places, sizeof places);
  memset(body->at, 0, (count + 17) * sizeof *body->at);
  memcpy(body->at, head, sizeof head);
  memcpy(body->at + 5, resume, sizeof resume);
  memcpy(body->at + 10, keyed, sizeof keyed);
  memcpy(body->at + 15 + count, targets, sizeof targets);
  d.section[TSL__A_STATES].n = 4;
  body->n = count + 17;
  return d;
}

/* To ask for a million names, none of which is allowed, is work, too. */
static void names_one_by_one(void) {
  static const tsl_limits few = {.max_steps = 8000};
  tsl_vocab *v = small_vocab("<end>");
  for (int k = 0; k < 2; k++) {
    tsl__a_draft d = many_names(k ? 1 << 20 : 1 << 10);
    tsl_status status;
    tsl_grammar *g = load_forged(v, &d, &few, &status);
    status = first_mask(g, status);
    CHECKF(status == (k ? TSL_ERR_LIMIT : TSL_OK), "%s", tsl_status_name(status));
    tsl_grammar_release(g);
  }
  tsl_vocab_release(v);
}

/* The file says how many names there are, and they take memory by that number. So the number is at
 * most what the file could spell, and the memory at most max_memory. */
static void names_without_end(void) {
  static const tsl_limits limits = {.max_memory = 16 << 20};
  static const struct {
    uint32_t names, words;
    tsl_status status;
  } tries[] = {{1 << 24, 0, TSL_ERR_FORMAT}, {1 << 20, 1 << 20, TSL_ERR_LIMIT}, {8, 8, TSL_OK}};
  tsl_vocab *v = small_vocab("<end>");
  for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
    tsl__a_draft d = many_resumes(400, tries[i].names, tries[i].words);
    tsl_status status;
    tsl_grammar *g = load_forged(v, &d, &limits, &status);
    status = first_mask(g, status);
    CHECKF(status == tries[i].status, "%u names: %s", tries[i].names, tsl_status_name(status));
    tsl_grammar_release(g);
  }
  tsl_vocab_release(v);
}

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if __has_feature(address_sanitizer)
#define SECONDS 3.0 /* of processor time */
#else
#define SECONDS 0.5
#endif

/* A table of walks without a free place, all of which name one walk: whoever looks for another
 * gives up, and walks. */
static void no_free_place(void) {
  const uint32_t slots = 1 << 22;
  tsl_vocab *v = small_vocab("<end>");
  tsl_artifact *a = artifact_of(v, tree, 0);
  tsl_grammar *compiled = NULL;
  CHECK(tsl_grammar_json_schema(v, tree, sizeof tree - 1, NULL, NULL, &compiled, NULL) == TSL_OK);
  for (unsigned section = TSL__A_LEFT_SLOTS; section <= TSL__A_WALK_SLOTS; section++) {
    tsl__a_draft d = draft_of(a);
    tsl__words *table = &d.section[section];
    table->n = 0;
    CHECK(tsl__vec_reserve(d.a, table, slots));
    for (uint32_t i = 0; i < slots; i++) table->at[table->n++] = 1;
    tsl_status status;
    tsl_grammar *loaded = load_forged(v, &d, NULL, &status);
    CHECK(status == TSL_OK);
    clock_t begin = clock();
    if (loaded) follow(compiled, loaded, 6, 60, "forged");
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    CHECKF(seconds < SECONDS, "section %u: %.2f s", section, seconds);
    tsl_grammar_release(loaded);
  }
  tsl_grammar_release(compiled);
  tsl_artifact_free(a);
  tsl_vocab_release(v);
}

/* ---- each word is another ------------------------------------------------------------------- */

/* Follow a text by what the masks allow. What is forged fails with FORMAT or at a limit, and tokens
 * that a forged mask has may be rejected. */
static bool follow_forged(tsl_vocab *v, tsl_grammar *g, uint64_t *draws) {
  static const unsigned steps = 24;
  tsl_matcher *m = NULL;
  uint32_t mask[16];
  uint64_t left;
  tsl_status status = tsl_matcher_new(g, NULL, &m);
  for (unsigned i = 0; i < steps && status == TSL_OK; i++) {
    if ((status = tsl_matcher_mask(m, mask)) != TSL_OK) break;
    tsl_token t = draw(mask, tsl_vocab_logits_width(v), draws);
    if (t == TSL_NO_TOKEN) break;
    status = tsl_matcher_shortest_completion(m, &left);
    if (status == TSL_OK) status = tsl_matcher_accept(m, t);
  }
  CHECKF(status == TSL_OK || status == TSL_ERR_FORMAT || status == TSL_ERR_LIMIT ||
             status == TSL_REJECTED,
         "%s", tsl_status_name(status));
  tsl_matcher_free(m);
  return status == TSL_ERR_FORMAT;
}

/* One word of a section becomes another. Is that noticed, at once or where a text gets there? */
static bool forge(tsl_vocab *v, const tsl_artifact *a, unsigned section, size_t at, uint32_t word) {
  static const tsl_limits limits = {.max_memory = 16 << 20, .max_steps = 200000};
  uint64_t draws = at * 2654435761u + word;
  tsl__a_draft d = draft_of(a);
  tsl_status status;
  d.section[section].at[at] = word;
  tsl_grammar *g = load_forged(v, &d, &limits, &status);
  CHECKF(status == TSL_OK || status == TSL_ERR_FORMAT || status == TSL_ERR_LIMIT, "%s",
         tsl_status_name(status));
  bool noticed = !g;
  for (unsigned text = 0; g && text < 4; text++) noticed |= follow_forged(v, g, &draws);
  tsl_grammar_release(g);
  return noticed;
}

static const struct {
  tsl_source_kind kind;
  const char *text;
} forged_sources[] = {
    {TSL_SOURCE_JSON_SCHEMA,
     "{\"properties\":{\"ab\":{\"type\":\"integer\"},\"ac\":{\"enum\":[\"x\""
     ",null]},\"\\n\":{}},\"required\":[\"ab\"],\"maxProperties\":4}"},
    {TSL_SOURCE_JSON_SCHEMA, "{\"$defs\":{\"t\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/t"
                             "\"},\"maxItems\":3}},\"$ref\":\"#/$defs/t\"}"},
    {TSL_SOURCE_REGEX, "[\\u0000-\\u{10FFFF}]{0,40}x|[^ab\\u00e9]{3,}"},
    {TSL_SOURCE_GBNF, "root ::= \"a\" root root \"b\" | \"ab\" | <[5]> x{2,9}\n"
                      "x ::= [0-9] | \"(\" root? \")\""},
    {TSL_SOURCE_GBNF, "root ::= e\ne ::= e \"+\" e | [a-c]+ | \"\""},
};

/* The words that a word becomes: beside it, at the ends, another of the section, with one bit. */
static uint32_t another(const tsl__words *w, size_t at, unsigned way, uint64_t *draws) {
  uint64_t r = tsl_test_random(draws);
  switch (way) {
  case 0: return w->at[at] + 1;
  case 1: return w->at[at] - 1;
  case 2: return r & 1 ? 0 : UINT32_MAX;
  case 3: return w->at[r % w->n];
  default: return w->at[at] ^ (uint32_t)1 << r % 32;
  }
}

static void each_word(void) {
  enum { WAYS = 5 };
  uint64_t draws = 20261201;
  unsigned long forged = 0, noticed = 0;
  tsl_vocab *v = small_vocab("<end>");
  for (size_t k = 0; k < 2 * sizeof forged_sources / sizeof *forged_sources; k++) {
    const size_t i = k / 2;
    static const tsl_schema_options any = {.order = TSL_ORDER_ANY};
    const tsl_source source = {.kind = forged_sources[i].kind,
                               .text = forged_sources[i].text,
                               .length = strlen(forged_sources[i].text),
                               .schema = &any};
    /* with many walks, and with few: then the states are read */
    const tsl_artifact_options options = {.max_states = 300, .max_walk_steps = k % 2 ? 1 : 20000};
    tsl_grammar *g = NULL;
    tsl_artifact *a = NULL;
    tsl_error e = {0};
    CHECKF(tsl_grammar_compile(v, &source, &g, &e) == TSL_OK, "%s: %s", source.text, e.message);
    CHECKF(g && tsl_artifact_make(g, &options, NULL, &a, &e) == TSL_OK, "%s: %s", source.text,
           e.message);
    tsl__a_draft d = a ? draft_of(a) : (tsl__a_draft){.a = &tsl__malloc};
    for (unsigned section = 0; a && section < TSL__A_SECTIONS; section++) {
      const tsl__words *w = &d.section[section];
      const size_t step = 1 + w->n / (WAYS * ROUNDS_OF(600u));
      for (size_t at = 0; at < w->n; at += step, forged++)
        noticed += forge(v, a, section, at, another(w, at, (unsigned)(forged % WAYS), &draws));
    }
    tsl__a_draft_free(&d);
    tsl_artifact_free(a);
    tsl_grammar_release(g);
  }
  printf("    %lu of %lu forged words were noticed\n", noticed, forged);
  CHECK(noticed > forged / 20);
  tsl_vocab_release(v);
}

int main(void) {
  RUN(leads_nowhere, "a target without a state");
  RUN(names_without_end, "more names than the file spells");
  RUN(names_one_by_one, "names requested one by one");
  RUN(no_free_place, "a table without a free place");
  RUN(each_word, "each word of an artifact is another, and the checksums are right");
  return tsl_test_end();
}
