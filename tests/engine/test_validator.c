/* test_validator.c - the validator that the fuzzer fuzz_judge compares the engine with.
 *
 *   json      what is JSON and what is not
 *   verdicts  one schema and one instance a row: valid, invalid, or no verdict
 *   suite     the JSON Schema Test Suite of draft 2020-12: wherever there is a verdict it is the
 *             suite's, and there is one for most
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>

#include "tests/support/check.h"
#include "tests/judges/validator.h"

static json_document document;

static void json(void) {
  static const char *const good[] = {
      "null",       " [ ] ", "{\"a\":1,\"a\":2}", "-0.0e+0", "\"\\ud83d\\ude00\xF0\x9F\x98\x80\"",
      "[1,[2,{}]]", "1E5"};
  static const char *const bad[] = {"",
                                    "nul",
                                    "01",
                                    "1.",
                                    ".5",
                                    "-",
                                    "1e",
                                    "[1,]",
                                    "[,1]",
                                    "{\"a\"}",
                                    "{a:1}",
                                    "\"\n\"",
                                    "\"\\x\"",
                                    "\"\\u12g4\"",
                                    "\"",
                                    "1 1",
                                    "\"\xC0\x80\"",
                                    "\"\xED\xA0\x80\"",
                                    "\"\xF5\x80\x80\x80\"",
                                    "[}",
                                    "\xEF\xBB\xBF\x31",
                                    "+1"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++)
    CHECKF(json_document_read(&document, good[i], strlen(good[i])), "%s", good[i]);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    CHECKF(!json_document_read(&document, bad[i], strlen(bad[i])), "%s", bad[i]);
  CHECK(json_document_read(&document, "\"\\ud83d\\ude00\\u00e9\\n\"", 22) &&
        document.value[0].text_n == 7 &&
        !memcmp(document.value[0].text, "\xF0\x9F\x98\x80\xC3\xA9\n", 7));
  CHECK(json_document_read(&document, "\"\\ud83d\"", 8) && document.odd);
  CHECK(json_document_read(&document, "{\"\\u0061\":1,\"a\":2}", 18) && document.repeated);
}

static void verdicts(void) {
  static const struct {
    const char *schema, *instance;
    verdict verdict;
  } rows[] = {
      {"true", "1", VALID},
      {"false", "1", INVALID},
      {"{}", "[1", INVALID},
      {"{}", "{\"a\":1,\"a\":1}", INVALID},
      {"{\"type\":\"integer\"}", "10e-1", VALID},
      {"{\"type\":\"integer\"}", "1e-1", INVALID},
      {"{\"enum\":[1,{\"a\":[1.0],\"b\":2}]}", "{\"b\":2.0e0,\"a\":[1]}", VALID},
      {"{\"const\":-0}", "0e5", VALID},
      {"{\"minimum\":1e400}", "1e401", VALID},
      {"{\"minimum\":0.1}", "0.09999", INVALID},
      {"{\"exclusiveMaximum\":-2}", "-2.0", INVALID},
      {"{\"multipleOf\":0.01}", "0.3", VALID},
      {"{\"multipleOf\":0.03}", "0.1", INVALID},
      {"{\"multipleOf\":7}", "1e3", INVALID},
      {"{\"maxLength\":1}", "\"\\ud83d\\ude00\"", VALID},
      {"{\"pattern\":\"^a$\"}", "\"a\\n\"", INVALID},
      {"{\"pattern\":\"(?=a)\"}", "\"a\"", NO_VERDICT},
      {"{\"pattern\":\".\"}", "\"\\r\"", NO_VERDICT},
      {"{\"format\":\"email\"}", "1", NO_VERDICT},
      {"{\"minLength\":-1}", "\"\"", NO_VERDICT},
      {"{\"$ref\":\"#\"}", "1", NO_VERDICT},
      {"{\"$ref\":\"other.json\"}", "1", NO_VERDICT},
      {"{\"contains\":{\"const\":1},\"minContains\":0}", "[]", VALID},
      {"{\"contains\":{\"const\":1},\"maxContains\":1}", "[1,1.0]", INVALID},
      {"{\"uniqueItems\":true}", "[[1],[1.0]]", INVALID},
      {"{\"allOf\":[{\"properties\":{\"a\":true}}],\"unevaluatedProperties\":false}", "{\"a\":1}",
       VALID},
      {"{\"not\":{\"not\":{\"properties\":{\"a\":true}}},\"unevaluatedProperties\":false}",
       "{\"a\":1}", INVALID},
      {"{\"prefixItems\":[true],\"contains\":{\"const\":2},\"unevaluatedItems\":false}", "[1,2,2]",
       VALID},
      {"{\"if\":{\"minItems\":2},\"then\":{\"items\":{\"const\":1}}}", "[1,2]", INVALID},
      {"{\"patternProperties\":{\"b\":{\"unevaluatedItems\":true},\"^b\":{\"unevaluatedItems\":{"
       "\"const\":1}}}}",
       "{\"b\":[2]}", INVALID},
      {"{\"$defs\":{\"a/b\":{\"const\":1}},\"$ref\":\"#/$defs/a~1b\"}", "2", INVALID},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    verdict v = validator_judge_texts(rows[i].schema, strlen(rows[i].schema), rows[i].instance,
                                      strlen(rows[i].instance));
    CHECKF(v == rows[i].verdict, "%s, %s: %d", rows[i].schema, rows[i].instance, (int)v);
  }
}

static char *read_file(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  char *text = malloc(JSON_TEXT);
  *n = f && text ? fread(text, 1, JSON_TEXT, f) : 0;
  if (f) fclose(f);
  return text;
}

static unsigned long judged, silent;

static void run_file(const char *path, const char *name) {
  size_t n;
  char *text = read_file(path, &n);
  bool read = json_document_read(&document, text, n);
  CHECKF(read, "%s", path);
  for (const json_value *group = read ? document.value[0].first : NULL; group;
       group = group->next) {
    const json_value *tests = json_member(group, "tests"), *schema = json_member(group, "schema");
    for (const json_value *t = tests->first; t; t = t->next) {
      const json_value *about = json_member(t, "description");
      verdict want = json_member(t, "valid")->kind == JSON_TRUE ? VALID : INVALID,
              v = validator_judge(&document, schema, json_member(t, "data"));
      judged += v != NO_VERDICT;
      silent += v == NO_VERDICT;
      CHECKF(v == want || v == NO_VERDICT, "%s: %.*s", name, (int)about->text_n, about->text);
    }
  }
  free(text);
}

static void suite(void) {
  const char *folder = getenv("TSL_SUITE");
  char path[4096];
  snprintf(path, sizeof path, "%s/tests/draft2020-12", folder ? folder : "build/suite");
  DIR *d = opendir(path);
  if (!d) {
    SKIP("the JSON Schema Test Suite is not there: `./dev fetch suite` gets it, TSL_SUITE names "
         "its folder");
    return;
  }
  for (struct dirent *e; (e = readdir(d));) {
    char file[8192];
    size_t n = strlen(e->d_name);
    if (n < 5 || strcmp(e->d_name + n - 5, ".json")) continue;
    snprintf(file, sizeof file, "%s/%s", path, e->d_name);
    run_file(file, e->d_name);
  }
  closedir(d);
  printf("  %lu of the suite's tests judged, %lu without a verdict\n", judged, silent);
  CHECKF(judged > 900, "%lu", judged);
}

int main(void) {
  RUN(json, "what is JSON");
  RUN(verdicts, "verdicts, row by row");
  RUN(suite, "the JSON Schema Test Suite");
  return tsl_test_end();
}
