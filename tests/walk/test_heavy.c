/* test_heavy.c - the engine beside the oracle over a trie with much below its nodes.
 *
 * Problem   The fuzz targets' vocabularies have some 250 short words, so hardly a node has a
 *           hundred tokens below. What the walk does at such nodes (letters, classes, tables,
 *           counters near their ends) is seen at the root alone.
 * Idea      Vocabularies of many tokens that begin with one another (tests/support/heavy.h). Over
 *           them go the inputs of fuzz/corpus/mask, and the schemas, patterns and grammars of
 *           tests/cases with random commands (tests/judges/lockstep.h says what is compared).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/judges/lockstep.h"
#include "tests/support/check.h"
#include "tests/support/folder.h"
#include "tests/support/heavy.h"
#include "tests/support/text.h"

#define COMMANDS 26u
#define INPUT_MAX 20000u

static tsl_vocab *vocabs[HEAVY_KINDS];
static uint64_t seed = 31;
static uint32_t below(uint32_t n) { return heavy_below(&seed, n); }

/* ---- what goes over them --------------------------------------------------------------------- */

/* A finding ends the process; where a limit is reached, an input ends early. */
static void run(unsigned which, const uint8_t *data, size_t size) {
  uint8_t *exact = malloc(size); /* so that a sanitizer sees reads past it */
  if (!exact) abort();
  memcpy(exact, data, size);
  tsl_test_passed += lockstep_run(vocabs[which], exact, size);
  free(exact);
}

static void corpus(void) {
  static char *paths[1000];
  size_t count = folder_list("fuzz/corpus/mask", "", paths, 1000), n;
  CHECK(count > 0);
  for (size_t i = 0; i < count; i++) {
    char *data =
        i % (8 / ROUNDS_OF(8)) || !tsl_test_turn(i / 8, 2) ? NULL : text_of_file(paths[i], &n);
    if (data && n > 2) run((uint8_t)data[0] % HEAVY_KINDS, (uint8_t *)data + 1, n - 1);
    free(data);
    free(paths[i]);
  }
}

/* A grammar and random commands: mostly tokens that are allowed, now and then any other. */
static void follow(uint8_t kind, const char *text, size_t n) {
  static uint8_t input[INPUT_MAX];
  static unsigned long number;
  if (n + 2 + 3 * COMMANDS > INPUT_MAX || memchr(text, 0, n)) return;
  input[0] = kind;
  memcpy(input + 1, text, n);
  for (unsigned round = 0; round < ROUNDS_OF(2u); round++) {
    if (!tsl_test_turn(number++, 3)) continue;
    seed = number;
    size_t size = n + 1;
    input[size++] = 0;
    for (unsigned i = 0; i < COMMANDS; i++) {
      input[size++] = (uint8_t)(below(3) ? 0 : below(256));
      input[size++] = (uint8_t)below(256);
    }
    run(below(HEAVY_KINDS), input, size);
  }
}

/* The end of the JSON value at `at`, which is followed by something. */
static const char *value_end(const char *at) {
  int depth = 0;
  do {
    if (*at == '"')
      for (at++; *at != '"'; at++) at += *at == '\\';
    depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
    at++;
  } while (depth || (*at != ',' && *at != '}'));
  return at;
}

static void each_line(const char *path, void (*visit)(const char *line)) {
  size_t n;
  char *text = text_of_file(path, &n);
  CHECKF(text != NULL, "%s", path);
  for (char *line = text ? strtok(text, "\n") : NULL; line; line = strtok(NULL, "\n")) visit(line);
  free(text);
}

static void schema_of_line(const char *line) {
  static const char begin[] = "{\"schema\": ";
  const char *schema = line + strlen(begin);
  if (!strncmp(line, begin, strlen(begin)))
    follow((uint8_t)(below(64) << 2 | below(2)), schema, (size_t)(value_end(schema) - schema));
}

static void schemas(void) {
  static const char *const files[] = {"arrays", "basic",      "logic",      "objects",
                                      "plain",  "references", "unevaluated"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[100];
    snprintf(path, sizeof path, "tests/cases/schema/%s.jsonl", files[i]);
    each_line(path, schema_of_line);
  }
}

static void pattern_of_line(const char *line) {
  const char *space = line[0] == 'p' ? strchr(line, ' ') : NULL;
  if (space) follow((uint8_t)(2 | below(8) << 2), space + 1, strlen(space + 1));
}

static void patterns(void) { each_line("tests/cases/regex.txt", pattern_of_line); }

static void grammars(void) {
  size_t n;
  char *text = text_of_file("tests/cases/gbnf/accept.txt", &n);
  CHECK(text != NULL);
  for (char *at = text ? strstr(text, "\n== ") : NULL; at; at = strstr(at, "\n== ")) {
    const char *begin = strchr(at + 1, '\n'), *end = begin;
    while (end && end[1] && end[1] != '+' && end[1] != '-') end = strchr(end + 1, '\n');
    if (end) follow(3, begin + 1, (size_t)(end - begin));
    at++;
  }
  free(text);
}

/* Nearly any byte may come, and then a call, a fork, a repetition or an end. Tested is what is read
 * along the table, and what is not. */
static void nonascii_beginnings(void) {
  static const struct {
    uint8_t kind;
    const char *text;
  } cases[] = {
      {3, "root ::= ([^x] call)*\ncall ::= \"a\" | \"(\" call \")\" | \"b\" call"},
      {3, "root ::= [^b] [^c] (call | [^a]{2,9})* \"\\n\"?\ncall ::= \"a\" | \" \" call"},
      {3, "root ::= line+\nline ::= [^\\n,]{0,20} (\",\" line)? \"\\n\""},
      {3, "root ::= ([^<] | \"<\" [^/])* \"</\" name \">\"\nname ::= [a-z]+ | \"\" \"1\""},
      {3, "root ::= [^\\x00-\\x1f] root? | \"\\n\" [a-c]* \"-\" root"},
      {2, "(?:[^x]{3}x|[^a]{2,17}a|.b)*"},
      {2, "(?:[^,]{1,16},){2}[a-c]*"},
      {2, "[a-cx]{0,16}(?:-[\\x00-\\x{ff}]{1,20})?"},
      {2, "(?:[ab\\x{80}-\\x{ff}]*1|[\\p{L} ]{2,30}-)*"},
      {2, "[ab\\x{e0}-\\x{2028}]{1,16}"},
      {2, "[^\\x{80}\\x{800}\\x{4e00}-\\x{ffff}]*"},
      {0, "{\"type\":\"string\",\"pattern\":\"^[abc\\\\u00e0-\\\\u00ff]{1,18}$\"}"},
      {0, "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"maxLength\":16},\"maxItems\":20}"},
      {0, "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^[a-c "
          "]*$\",\"maxLength\":17}}"},
      {0, "{\"type\":\"array\",\"items\":{\"anyOf\":[{\"type\":\"string\",\"pattern\":\"^a.{3,20}$"
          "\"},{\"type\":\"string\",\"pattern\":\"b$\"}]}}"},
      {5, "{\"type\":\"object\",\"properties\":{\"a\":{\"maxLength\":4},\"ab\":{},\"\\u00e9\":true}"
          ",\"additionalProperties\":{\"type\":\"string\",\"maxLength\":20}}"},
      {5, "{\"anyOf\":[{\"type\":\"object\",\"properties\":{\"a\":{\"const\":1},\"b\":true},"
          "\"additionalProperties\":false},{\"type\":\"object\",\"properties\":{\"a\":{\"const\":"
          "10},\"ab\":true,\"c\":{\"maxLength\":2}},\"additionalProperties\":false}]}"},
      {5, "{\"type\":\"object\",\"oneOf\":[{\"required\":[\"a\"],\"properties\":{\"a\":{\"enum\":["
          "1,\"a\"]}}},{\"required\":[\"b\"]},{\"properties\":{\"a\":false,\"b\":false,\"c\":{"
          "\"type\":\"null\"}},\"minProperties\":1}]}"},
      {5, "{\"patternProperties\":{\"^a\":{\"type\":\"integer\"},\"b$\":{\"type\":\"string\"}},"
          "\"type\":\"object\"}"},
      {1, "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"minProperties\":2},\"uniqueItems\":"
          "true,\"minItems\":2}"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (unsigned round = 0; round < ROUNDS_OF(10u); round++)
      follow((uint8_t)(cases[i].kind | (cases[i].kind == 2 ? 4 : 8) * (round % 4) |
                       (round % 2 ? 128 : 0)),
             cases[i].text, strlen(cases[i].text));
}

int main(void) {
  for (unsigned i = 0; i < HEAVY_KINDS; i++)
    if (!(vocabs[i] = heavy_vocab(i, &seed))) return tsl_test_end();
  RUN(corpus, "the corpus of fuzz_mask");
  RUN(schemas, "schemas of tests/cases");
  RUN(patterns, "patterns of tests/cases");
  RUN(grammars, "grammars of tests/cases");
  RUN(nonascii_beginnings, "nearly any byte, and something else after it");
  for (unsigned i = 0; i < HEAVY_KINDS; i++) tsl_vocab_release(vocabs[i]);
  return tsl_test_end();
}
