/* test_gbnf_rules.c - the rules of a GBNF grammar in print: as parsed, as JSON, without left
 * recursion, and with small rules in place of their names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/gbnf.h"

static void copy_line(void *ctx, const char *line) { snprintf(ctx, 1024, "%s", line); }

static void written(void) {
  static const char *const rows[][2] = {
      {"root ::= \"a\\\"\" x | [^b]? .\nx ::= <[7]>{2,}",
       "{\"rules\":[{\"name\":\"root\",\"line\":1,\"body\":{\"kind\":\"choice\",\"items\":[{"
       "\"kind\":\"sequence\",\"items\":[{\"kind\":\"literal\",\"text\":\"\\\"a\\\\\\\"\\\"\"},"
       "{\"kind\":\"rule\",\"name\":\"x\"}]},{\"kind\":\"sequence\",\"items\":[{\"kind\":"
       "\"repeat\",\"item\":{\"kind\":\"class\",\"text\":\"[^b]\"},\"min\":0,\"max\":1},{\"kind\":"
       "\"any\"}]}]}},"
       "{\"name\":\"x\",\"line\":2,\"body\":{\"kind\":\"repeat\",\"item\":{\"kind\":\"token\","
       "\"text\":\"<[7]>\"},\"min\":2,\"max\":null}}]}"},
      {"root ::= \"\"",
       "{\"rules\":[{\"name\":\"root\",\"line\":1,\"body\":{\"kind\":\"empty\"}}]}"},
      {"root ::= [a-c\\n]", "{\"rules\":[{\"name\":\"root\",\"line\":1,\"body\":{\"kind\":"
                            "\"class\",\"text\":\"[\\\\na-c]\"}}]}"}};
  char text[1024];
  tsl_error error = {0};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    CHECKF(tsl_gbnf_write(vocab, rows[i][0], strlen(rows[i][0]), copy_line, text, &error) == TSL_OK,
           "%s: %s", rows[i][0], error.message);
    CHECKF(!strcmp(text, rows[i][1]), "%s: %s", rows[i][0], text);
  }
  CHECK(tsl_gbnf_write(vocab, "root ::= (", 10, copy_line, text, &error) == TSL_ERR_SYNTAX &&
        error.line == 1);
  CHECK(tsl_gbnf_write(vocab, "root ::= a", 10, copy_line, text, &error) == TSL_ERR_SYNTAX &&
        error.offset == 9);
  CHECK(tsl_gbnf_write(vocab, "a ::= \"x\"", 9, copy_line, text, &error) == TSL_OK &&
        strstr(text, "\"name\":\"a\""));
  CHECK(tsl_gbnf_write(vocab, NULL, 0, copy_line, text, &error) == TSL_ERR_SYNTAX &&
        error.line == 1);
  CHECK(tsl_grammar_gbnf(vocab, NULL, 0, NULL, NULL, &(tsl_grammar *){0}, &error) ==
            TSL_ERR_SYNTAX &&
        error.line == 1);
  CHECK(tsl_gbnf_write(vocab, NULL, 1, copy_line, text, &error) == TSL_ERR_ARGUMENT);
}

static void printed_bodies(void) {
  static const char *const rows[][2] = {
      {"root ::= \"a\" \"b\"", "\"a\" \"b\""},
      {"root ::= \"a\"|\"b\" \"c\"|", "\"a\" | \"b\" \"c\" | \"\""},
      {"root ::= (\"a\"|\"b\")* root? \"c\"{2} .{1,} \"d\"{0,3}",
       "(\"a\" | \"b\")* root? \"c\"{2} .+ \"d\"{0,3}"},
      {"root ::= [b-da\\n] [^\\x00-\\U0010FFFE]", "[\\na-d] [\\U0010FFFF]"},
      {"root ::= \"\\\"\\u00e9\\n\"", "\"\\\"\\xE9\\n\""},
      {"root ::= ((\"a\"))", "\"a\""},
      {"root ::= \"\" (\"\" | \"a\")", "\"\" | \"a\""},
      {"root ::= [^\\x00-\\U0010FFFF]", "[^\\x00-\\U0010FFFF]"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[256];
    parsed p = parse(rows[i][0], strlen(rows[i][0]));
    size_t n = tsl__gbnf_print(p.g, p.g->rules.at[0].body, text, sizeof text);
    CHECKF(!strcmp(text, rows[i][1]) && n == strlen(text), "%s printed as %s", rows[i][0], text);
    CHECK(tsl__gbnf_print(p.g, p.g->rules.at[0].body, text, 3) == n &&
          strlen(text) == (n < 2 ? n : 2));
    tsl__exprs_free(p.x);
  }
  const char *tokens = "root ::= <think> !</think>* <[258]>";
  char text[256];
  parsed p = parse(tokens, strlen(tokens));
  tsl__gbnf_print(p.g, p.g->rules.at[0].body, text, sizeof text);
  CHECKF(!strcmp(text, "<[256]> !<[257]>* <[258]>"), "%s", text);
  tsl__exprs_free(p.x);
}

/* The equations of left-recursive rules: <head> rest. */
static void printed_equations(void) {
  static const char *const rows[][3] = {
      {"root ::= root \"+\" num | num\nnum ::= [0-9]", "root", "<root> \"+\" num | num"},
      {"root ::= opt root \"z\" | \"w\"\nopt ::= \"o\"?", "root",
       "%opt (root \"z\") | <root> \"z\" | \"w\""},
      {"root ::= (root | \"q\")? \"s\"", "root", "<root> \"s\" | \"q\" \"s\" | \"s\""},
      {"root ::= (root \"x\"){2,5} | \"y\"", "root", "<root> \"x\" (root \"x\"){1,4} | \"y\""},
      {"root ::= a\na ::= b \"1\" | \"x\"\nb ::= a \"2\" | \"y\"", "a", "<b> \"1\" | \"x\""},
      {"root ::= a\na ::= b \"1\" | \"x\"\nb ::= a \"2\" | \"y\"", "b", "<a> \"2\" | \"y\""},
      {"root ::= root root | \"a\" | \"\"", "root", "<root> root | <root> | \"a\""},
      {"root ::= root root root | root root | \"a\"", "root", "<root> root | \"a\""},
      {"root ::= root root root | \"a\"", "root", "<root> root root | \"a\""},
      {"root ::= root (\"+\" root | \"!\") | \"-\" root | \"1\"", "root",
       "<root> \"!\" | \"\\-\" root | \"1\" | <root> \"+\" root"},
      {"root ::= root | \"a\" root", "root", NULL}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[256];
    parsed p = parse(rows[i][0], strlen(rows[i][0]));
    uint32_t root = tsl__gbnf_find(p.g, "root", 4),
             rule = tsl__gbnf_find(p.g, rows[i][1], strlen(rows[i][1]));
    CHECK(tsl__gbnf_analyse(p.g, root) && p.g->rules.at[root].facts.some == (rows[i][2] != NULL));
    if (rows[i][2]) {
      CHECK(tsl__gbnf_left_recursion(p.g, NULL) == TSL_OK &&
            p.g->rules.at[rule].cycle != TSL__G_NO_CYCLE);
      tsl__gbnf_print_terms(p.g, rule, text, sizeof text);
      CHECKF(!strcmp(text, rows[i][2]), "%s: %s", rows[i][0], text);
    }
    tsl__exprs_free(p.x);
  }
}

/* What becomes an expression in place, and what a rule. */
static void placed(void) {
  static const char *const rows[][2] = {
      {"root ::= ws\nws ::= \" \" ws | \"\"", "( )*"},
      {"root ::= d\nd ::= d [0-9] | [0-9]", "[0-9]([0-9])*"},
      {"root ::= a b\na ::= \"x\" | \"y\"\nb ::= a a", "[xy][xy][xy]"},
      {"root ::= [a-z]{1,100}", "<root>"},
      {"root ::= \"(\" root \")\" | \"\"", "<root>"},
      {"root ::= root \"+\" root | \"1\"", "1(+1)*"},
      {"root ::= root (\"+\" root | \"!\") | \"-\" root | \"1\"", "(-)*1((\\!|+(-)*1))*"},
      {"root ::= root root root root | root root | \"a\" | \"\"", "(ε|a(a)*)"},
      {"root ::= root \"+\" root | \"(\" root \")\" | \"1\"", "<%root>"},
      {"root ::= \"\" | a\na ::= a | \"\"", "ε"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[256];
    tsl__exprs *x = NULL;
    tsl__expr e;
    CHECK(tsl__exprs_new(NULL, NULL, NULL, &x) == TSL_OK);
    CHECK(tsl__gbnf_compile(x, NULL, rows[i][0], strlen(rows[i][0]), NULL, 0, &e, NULL) == TSL_OK);
    tsl__expr_print(x, e, text, sizeof text);
    CHECKF(!strcmp(text, rows[i][1]), "%s: %s", rows[i][0], text);
    tsl__exprs_free(x);
  }
}

static void count_frame(void *ctx, const tsl_frame *frame) {
  (void)ctx;
  (void)frame;
}

static void check_frames(const char *grammar, const char *text, uint32_t frames) {
  tsl_matcher *m = start(grammar, strlen(grammar));
  uint32_t total = 0;
  if (!m) return;
  CHECK(tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK);
  CHECK(tsl_matcher_frames(m, 0, count_frame, NULL, &total) == TSL_OK);
  CHECKF(total == frames, "%s: %u frames", grammar, (unsigned)total);
  tsl_matcher_free(m);
}

/* Texts that may end where a class is counted are read in the frame of who names them, whatever
 * follows. */
static void counted_in_place(void) {
  static const struct {
    const char *grammar, *text;
    uint32_t frames;
  } rows[] = {
      {"root ::= \"- \" text \"\\n\"\ntext ::= [^\\n]{1,80}", "- ab", 1},
      {"root ::= name \": \" text \"\\n\"\nname ::= [a-z] [a-z0-9]{0,20}\ntext ::= [^\\n]{1,80}",
       "ab: c", 1},
      {"root ::= name \" \" value\nname ::= [a-z]{1,20}\nvalue ::= \"{\" value \"}\" | \"x\"", "ab",
       1},
      /* it need not end there */
      {"root ::= \"- \" text \",\"\ntext ::= [^\\n]{1,80}", "- ab", 1},
      {"root ::= name \" (x)\"\nname ::= [A-Z] [a-z ]{2,60}", "Ab c", 1},
      {"root ::= (word sep?)* \".\"\nword ::= [a-z]{1,20}\nsep ::= [a-z ]", "ab cd", 1},
      /* it ends otherwise */
      {"root ::= \"<\" text \">\"\ntext ::= \"'\" [a-z]{1,80} \"'\" root?", "<'a", 2},
      /* that of x, which names itself */
      {"root ::= (x \",\")*\nx ::= a | \"(\" x \")\"\na ::= [a-z ]{1,40}", "ab", 2},
      /* what counts is within what counts */
      {"root ::= (text \"\\n\"){9}\ntext ::= [^\\n]{1,80}", "ab", 1},
      {"root ::= text \"\\n\" (text \"-\")?\ntext ::= [^\\n]{1,80}", "ab", 1},
      {"root ::= text \"\\n\" (text \"-\")?\ntext ::= [^\\n-]{1,80}", "ab", 1},
      {"root ::= (\"x\" | text) \"\\n\"\ntext ::= [a-f]{0,80}", "ab", 1},
      {"root ::= row (\"\\n\" row)*\nrow ::= f (\",\" f)*\nf ::= \"'\" [^']{0,40} \"'\" | "
       "char{0,80}\nchar ::= [^',\\n]",
       "ab,c", 1},
      {"root ::= row (\"\\n\" row)* \"?\"\nrow ::= f (\",\" f)*\nf ::= [^,\\n]{0,80}", "ab,c", 1},
      {"root ::= \"(\" text root? \")\"\ntext ::= [^()]{0,80}", "(ab", 1},
      {"root ::= text more\nmore ::= \",\" text more | \".\"\ntext ::= [^,.]{0,80}", "a", 1},
      {"root ::= text more\nmore ::= \",\" more text | \".\"\ntext ::= [^,.]{0,80}", "a", 1},
      {"root ::= text (\"; \" text){0,5} \"\\n\"\ntext ::= [^;\\n]{1,80}", "a; b", 1},
      {"root ::= text? <[256]>\ntext ::= [^\\n]{1,80}", "ab", 1},
      {"root ::= text \"-\"\ntext ::= [a-z]{1,80} | <[256]>", "ab",
       2}}; /* a token is named in it */
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    check_frames(rows[i].grammar, rows[i].text, rows[i].frames);
}

/* Where a rule's texts run into what follows they are read in the frame of who names it. */
static void running_in_place(void) {
  static const struct {
    const char *grammar, *text;
    uint32_t frames;
  } rows[] = {
      {"root ::= w*\nw ::= [a-z]+ | \"[\" w* \"]\"", "ab", 1},
      {"root ::= w*\nw ::= [a-z]+ | \"[\" w* \"]\"", "ab[cd", 2}, /* the loop within is a rule */
      {"root ::= w*\nw ::= [a-z]+ | \"[\" w* \"]\"", "ab[cd[e]f", 2},
      {"root ::= w (\",\" w)*\nw ::= [a-z]+ | \"[\" w \"]\"", "ab", 2}, /* nothing runs on */
      /* few characters: as they were */
      {"root ::= w*\nw ::= [a-f]+ | \"[\" w* \"]\"", "ab", 2},
      {"root ::= s*\ns ::= \"<\" c* \">\"\nc ::= [^<>$] | \"$\" s", "<ab", 2},
      {"root ::= text\ntext ::= char text | char\nchar ::= [^{}] | \"{\" text \"}\"", "ab", 1},
      /* of loops within one another the inner one is a rule */
      {"root ::= i*\ni ::= [^\\\\{}]+ | \"\\\\\" [a-z]+ (\"{\" i* \"}\")*", "a\\b{c}", 1},
      {"root ::= (f \" \"?)*\nf ::= [a-z]+ | \"(\" f \")\" | \"'\" f", "a'b", 1},
      {"root ::= l\nl ::= l l | i\ni ::= [a-z]+ | \"[\" l \"]\"", "ab", 1},
      /* what counts has a frame of its own */
      {"root ::= (w \"-\"?)*\nw ::= [a-z]{1,20} | \"[\" w \"]\"", "ab", 2},
      /* of alternatives those that run on; the others are a rule, which pulls in no list */
      {"root ::= w+\nw ::= [a-z] | o\no ::= \"$\" [a-z]+ | \"(\" l \")\"\nl ::= w+ (\" \" w+)*",
       "a$bc", 1},
      {"root ::= w+\nw ::= [a-z] | o\no ::= \"$\" [a-z]+ | \"(\" l \")\"\nl ::= w+ (\" \" w+)*",
       "a(b", 2},
      /* and so has what would stay in part */
      {"root ::= s s\ns ::= [a-z] s s | [a-z]", "a", 2}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    check_frames(rows[i].grammar, rows[i].text, rows[i].frames);
}

int main(void) {
  vocab = token_vocab();
  RUN(written, "rules as JSON");
  RUN(printed_bodies, "parsed rules print");
  RUN(printed_equations, "left-recursive rules as equations");
  RUN(placed, "small regular rules stand in place");
  RUN(counted_in_place, "texts of so many characters stand in place");
  RUN(running_in_place, "rules whose texts run on stand in place");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
