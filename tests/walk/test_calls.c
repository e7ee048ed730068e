/* test_calls.c - masks of names that are called: random grammars whose rules call themselves, and
 * what they begin with may end after each letter.
 *
 * A vocabulary of words, and of words with what stands between them. Random rules have names,
 * strings, brackets, lists, calls and optional parts, with white space that may be missing. So what
 * follows a name may begin with a sign, with the same name again, or with nothing at all
 * (runtime/walk/follow.h). Along random texts each mask must allow just the tokens that can be
 * accepted one by one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/draw.h"
#include "turnstile.h"

#define TOKENS 4200u
#define STEPS 12
#define TEXT_MAX 4096
#define RULES 4u

static tsl_vocab *vocab;
static uint64_t seed = 11;
static unsigned rounds = ROUNDS_OF(60u), first; /* numbers of grammars, from which on */
static unsigned long compared, given_up;

static unsigned below(unsigned n) { return (unsigned)(tsl_test_random(&seed) % n); }
#define ONE_OF(list) (list)[below(sizeof(list) / sizeof *(list))]

static uint32_t put_bytes(uint8_t *at, const char *text) {
  memcpy(at, text, strlen(text));
  return (uint32_t)strlen(text);
}

/* Single bytes first, then words with what may come between them. */
static void make_vocab(void) {
  static uint8_t bytes[TOKENS * 64];
  static uint32_t offsets[TOKENS + 1];
  static uint8_t special[TOKENS];
  static const char *const between[] = {
      " ", " ",  "(", ")",        "()",           "{",  "}",  ":", ",", ", ",
      ";", "\n", ".", "\"",       "\",",          "'",  "=",  "-", "+", "1",
      "_", "[",  "]", "\xC3\xA9", "\xE4\xB8\xAD", "if", "let"};
  uint32_t n = 0;
  for (uint32_t t = 0; t < TOKENS; t++) {
    offsets[t] = n;
    if (t < 256) {
      bytes[n++] = (uint8_t)t;
      continue;
    }
    if (t == 256) { /* ends a generation */
      special[t] = 1;
      n += put_bytes(bytes + n, "<end>");
      continue;
    }
    uint32_t begin = n, pieces = 1 + below(2) * below(4);
    if (below(3) == 0) bytes[n++] = ' ';
    for (uint32_t i = 0; i < pieces && n - begin < 40; i++) {
      for (uint32_t k = below(9); k > 0; k--)
        bytes[n++] = (uint8_t)("abcdefghijkxyz_AB2"[below(below(2) ? 4 : 18)]);
      if (i + 1 < pieces || below(2)) n += put_bytes(bytes + n, ONE_OF(between));
    }
    if (n == begin) bytes[n++] = 'a';
  }
  offsets[TOKENS] = n;
  const tsl_token end = 256;
  tsl_vocab_desc desc = {bytes, offsets, TOKENS, 0, special, &end, 1};
  tsl_error error = {0};
  CHECKF(tsl_vocab_new(&desc, NULL, &vocab, &error) == TSL_OK, "%s", error.message);
}

/* Random texts of a grammar, each mask beside every token by itself. */
static void follow(tsl_grammar *g, const char *what) {
  static uint32_t mask[(TOKENS + 31) / 32 + 16];
  static char text[TEXT_MAX];
  tsl_matcher *m = NULL;
  text[0] = 0;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (int step = 0; m && step < STEPS && !tsl_matcher_is_terminated(m); step++) {
    bool limit, right = checked_mask(m, mask, what, text, &limit);
    given_up += limit;
    if (limit) break;
    tsl_token t = right ? draw(mask, (TOKENS + 31) / 32 * 32, &seed) : TSL_NO_TOKEN;
    if (t == TSL_NO_TOKEN) break;
    compared++;
    if (t == 256 || below(3) == 0) { /* to go on, by a step into what is called */
      static const char steps[] = "a({b1\" [";
      tsl_token other = (tsl_token)(unsigned char)steps[below(sizeof steps - 1)];
      if (tsl_mask_has(mask, other)) t = other;
    }
    take_and_keep(m, t, text, sizeof text);
  }
  tsl_matcher_free(m);
}

/* ---- grammars -------------------------------------------------------------------------------- */

typedef struct writer {
  char at[4000];
  size_t n;
} writer;

#define PUT(w, ...) \
  ((w)->n += (size_t)snprintf((w)->at + (w)->n, sizeof(w)->at - (w)->n, __VA_ARGS__))

static void put_name_rules(writer *w) {
  static const char *const names[] = {"[a-z] [a-z0-9_]*",
                                      "[a-zA-Z_]+",
                                      "[a-z]+",
                                      "[a-zA-Z_] [a-zA-Z0-9_]*",
                                      "[a-z] [a-z_-]*",
                                      "[^ (){}\\[\\],;:\"'\\n=]+",
                                      "[a-z]+ (\"-\" [a-z]+)*",
                                      "[a-z\xC3\xA0-\xC3\xBF]+",
                                      "\"if\" | \"let\" | [a-z]+",
                                      "[a-z]{1,20}",
                                      "[a-z]*",
                                      "[a-zA-Z]* \"_\"?",
                                      "[a-z] [a-z]* | [A-Z] [A-Z]*",
                                      "\"@\"? [a-zA-Z0-9]+",
                                      "[a-z.]+",
                                      "[^ (),]* \" \"?",
                                      "[a-k]+ | [x-z]+ \"2\"?"};
  static const char *const texts[] = {"\"\\\"\" [^\"\\n]* \"\\\"\"", "\"'\" [^']* \"'\"", "[0-9]+",
                                      "\"-\"? [0-9]+ (\".\" [0-9]+)?",
                                      "\"\\\"\" ([^\"\\\\] | \"\\\\\" [\"n])* \"\\\"\""};
  static const char *const spaces[] = {"\" \"*", "[ \\n]*", "\" \"?", "\" \"", "\" \"+", "\"\""};
  static const char *const signs[] = {"\",\"",  "\", \"",   "\";\"", "\"=\"", "\" \"",
                                      "\"-\"",  "\"+\"",    "\":\"", "\".\"", "\"\\n\"",
                                      "\"if\"", "\" if \"", "\"\""};
  PUT(w, "n ::= %s\nm ::= %s\nt ::= %s\nw ::= %s\ns ::= %s\nu ::= %s\n", ONE_OF(names),
      ONE_OF(names), ONE_OF(texts), ONE_OF(spaces), ONE_OF(signs), ONE_OF(signs));
}

static unsigned rule(void) { return below(RULES); }

/* One way to begin a rule: mostly with a name or a bracket, so that few grammars have rules that
 * call each other without reading. */
static void put_way(writer *w) {
  switch (below(22)) {
  case 0:
  case 1:
  case 2: PUT(w, "n"); return;
  case 3: PUT(w, "m"); return;
  case 4: PUT(w, "t"); return;
  case 5: PUT(w, "\"(\" w r%u w \")\"", rule()); return;
  case 6: PUT(w, "\"{\" w (r%u w)* \"}\"", rule()); return;
  case 7: PUT(w, "n w \"(\" w (r%u (w \",\" w r%u)*)? w \")\"", rule(), rule()); return;
  case 8:
    PUT(w, "n (w \":\" w n)? (\"(\" r%u \")\")? (w \"{\" w (r%u w)+ \"}\")?", rule(), rule());
    return;
  case 9: PUT(w, "n s r%u", rule()); return;
  case 10: PUT(w, "n (s r%u)*", rule()); return;
  case 11: PUT(w, "\"[\" r%u? \"]\" r%u?", rule(), rule()); return;
  case 12: PUT(w, "r%u (s r%u)*", rule(), rule()); return;
  case 13: PUT(w, "m r%u?", rule()); return;
  case 14: PUT(w, "\"-\" r%u", rule()); return;
  case 15: PUT(w, "n? \"(\" (r%u u){1,3} \")\" n?", rule()); return;
  case 16: PUT(w, "\"[\" (r%u w){0,12} \"]\"", rule()); return;
  case 17: PUT(w, "\"let\" w n w \"=\" w r%u", rule()); return;
  case 18: PUT(w, "n | \"if\" r%u \"(\" r%u \")\"", rule(), rule()); return;
  case 19: PUT(w, "n s m | n u r%u", rule()); return;
  case 20: PUT(w, "\"{\" (n u r%u \";\" w)* \"}\"", rule()); return;
  default: PUT(w, "r%u", rule()); return;
  }
}

static void put_grammar(writer *w) {
  static const char *const roots[] = {"w (r0 w)+",     "r0",
                                      "r0 (s r0)*",    "\"{\" w (r0 w)* \"}\"",
                                      "(r0 \";\" w)*", "n w \"(\" r0 \")\"",
                                      "r0 u r1",       "(r0 | r1 s)* \";\""};
  PUT(w, "root ::= %s\n", ONE_OF(roots));
  for (unsigned i = 0; i < RULES; i++) {
    PUT(w, "r%u ::= n", i); /* each can end */
    for (unsigned ways = 1 + below(4); ways > 0; ways--) PUT(w, " | "), put_way(w);
    if (below(8) == 0) PUT(w, " | \"\"");
    PUT(w, "\n");
  }
  put_name_rules(w);
}

/* The same from the grammar as a file, in which walks are that were done ahead. */
static void follow_loaded(tsl_grammar *g, const char *what) {
  tsl_artifact *file = NULL;
  tsl_grammar *loaded = NULL;
  tsl_error error = {0};
  const tsl_artifact_options options = {.max_walk_steps = 100000};
  size_t n = 0;
  tsl_status status = tsl_artifact_make(g, &options, NULL, &file, &error);
  CHECKF(status == TSL_OK || status == TSL_ERR_LIMIT || status == TSL_ERR_UNSUPPORTED, "%s: %s",
         what, error.message);
  const void *data = file ? tsl_artifact_data(file, &n) : NULL;
  if (data)
    CHECKF(tsl_grammar_load_memory(vocab, data, n, NULL, &loaded, &error) == TSL_OK, "%s: %s", what,
           error.message);
  if (loaded) follow(loaded, what);
  tsl_grammar_release(loaded);
  tsl_artifact_free(file);
}

static void names_that_are_called(void) {
  for (unsigned i = first; i < first + rounds; i++) {
    writer w = {.n = 0};
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    seed = i * 7919 + 3;
    put_grammar(&w);
    tsl_status status = tsl_grammar_gbnf(vocab, w.at, w.n, NULL, NULL, &g, &error);
    CHECKF(status == TSL_OK || status == TSL_ERR_LIMIT, "%s: %s", w.at, error.message);
    for (int k = 0; g && k < 3; k++) follow(g, w.at);
    if (g && i % 4 == 0) follow_loaded(g, w.at);
    tsl_grammar_release(g);
  }
}

/* A rule that is the last thing in another is read in its frame: a letter may be both the name's
 * and its first. */
static void names_before_what_is_last(void) {
  static const char *const grammars[] = {
      "root ::= \"[\" t \"]\"\nt ::= [a-z]* r | \"<\" t \">\"\nr ::= \"x\" | \"(\" r \")\"\n",
      "root ::= \"{\" t \";}\"\nt ::= [a-z] [a-z0-9_]* r?\nr ::= \"(\" t \")\" | \"ab\" t \"-\" | "
      "\"cd\"\n",
  };
  for (size_t i = 0; i < sizeof grammars / sizeof *grammars; i++) {
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    CHECKF(tsl_grammar_gbnf(vocab, grammars[i], strlen(grammars[i]), NULL, NULL, &g, &error) ==
               TSL_OK,
           "%s", error.message);
    for (int k = 0; g && k < 6; k++) follow(g, grammars[i]);
    tsl_grammar_release(g);
  }
}

/* A call among letters is searched while its caller's letters are: the caller goes on with its own
 * afterwards. There are tokens enough that begin with the call for its letters to be requested. */
static void letters_behind_a_call(void) {
  static const char grammar[] = "root ::= \"(\" r \")\"\nr ::= ([0-9A-Z] k?)* | \"<\" r \">\"\nk "
                                "::= \"x\" [a-z]* \"!\" | \"[\" k \"]\"\n";
  static const char *const ends[] = {"", "!", "!)", "!A"};
  enum { MANY = 1200 };
  static uint8_t bytes[MANY * 16], special[MANY] = {[256] = 1};
  static uint32_t offsets[MANY + 1], mask[MANY / 32 + 16];
  const tsl_token end = 256;
  uint32_t n = 0;
  seed = 3;
  for (uint32_t t = 0; t < MANY; t++) {
    offsets[t] = n;
    if (t < 256)
      bytes[n++] = (uint8_t)t;
    else if (t == 256)
      n += put_bytes(bytes + n, "<end>");
    else if (t >= 300) { /* a letter, and a call */
      n += put_bytes(bytes + n, "0x");
      for (unsigned k = 1 + below(5); k > 0; k--) bytes[n++] = (uint8_t)('a' + below(8));
      n += put_bytes(bytes + n, ONE_OF(ends));
    } else {
      for (unsigned k = 1 + below(3); k > 0; k--) bytes[n++] = (uint8_t)('A' + below(7));
      bytes[n++] = (uint8_t)(")x>a"[below(4)]);
    }
  }
  offsets[MANY] = n;
  tsl_vocab_desc desc = {bytes, offsets, MANY, 0, special, &end, 1};
  tsl_vocab *own = NULL;
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  CHECK(tsl_vocab_new(&desc, NULL, &own, NULL) == TSL_OK &&
        tsl_grammar_gbnf(own, grammar, sizeof grammar - 1, NULL, NULL, &g, NULL) == TSL_OK &&
        tsl_matcher_new(g, NULL, &m) == TSL_OK);
  CHECK(tsl_matcher_accept_bytes(m, "(A", 2, NULL) == TSL_OK &&
        tsl_matcher_mask(m, mask) == TSL_OK && mask_is_right(m, mask, grammar, "(A"));
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(own);
}

static void masks_were_compared(void) {
  printf("     %lu masks compared; %lu times the limit of steps\n", compared, given_up);
  CHECK(compared > rounds * 10 && given_up * 20 < compared);
}

/* test_calls [ROUNDS [FIRST]] */
int main(int argc, char **argv) {
  tsl_test_part(&rounds, &first, 2);
  if (argc > 1) rounds = (unsigned)strtoul(argv[1], NULL, 10);
  if (argc > 2) first = (unsigned)strtoul(argv[2], NULL, 10);
  make_vocab();
  if (!vocab) return tsl_test_end();
  RUN(names_that_are_called, "names that are called");
  RUN(names_before_what_is_last, "names before what is last in a frame");
  RUN(letters_behind_a_call, "letters behind a call among them");
  RUN(masks_were_compared, "the comparison did happen");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
