/* cases.c - see cases.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <yajl/yajl_tree.h>

/* ---- the file -------------------------------------------------------------------------------- */

static bool fail(bench_reader *reader, const char *why) {
  snprintf(reader->why, sizeof reader->why, "%s:%zu: %s", reader->path, reader->line, why);
  reader->failed = true;
  return false;
}

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n >= m && !strcmp(text + n - m, end);
}

/* Start `xz -dc path` and read its output. */
static bool open_xz(bench_reader *reader) {
  int ends[2];
  if (access(reader->path, R_OK) || pipe(ends)) return fail(reader, strerror(errno));
  reader->child = fork();
  if (reader->child < 0) return fail(reader, strerror(errno));
  if (reader->child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execlp("xz", "xz", "-dc", "--", reader->path, (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  reader->file = fdopen(ends[0], "r");
  return reader->file ? true : fail(reader, strerror(errno));
}

bool bench_reader_open(bench_reader *reader, const char *path) {
  *reader = (bench_reader){.path = path};
  if (ends_with(path, ".xz")) return open_xz(reader);
  reader->file = fopen(path, "r");
  return reader->file ? true : fail(reader, strerror(errno));
}

bool bench_reader_close(bench_reader *reader) {
  /* Closing early ends xz by SIGPIPE, which is no error. */
  bool at_end = reader->file && feof(reader->file);
  if (reader->file) fclose(reader->file);
  free(reader->buffer);
  if (reader->child > 0) {
    int status;
    if (waitpid(reader->child, &status, 0) == reader->child && at_end && status != 0)
      fail(reader, "xz could not decompress the file");
  }
  return !reader->failed;
}

/* ---- one line -------------------------------------------------------------------------------- */

static yajl_val member(yajl_val object, const char *key, yajl_type type) {
  const char *path[] = {key, NULL};
  return yajl_tree_get(object, path, type);
}

/* The ids of "tokens", where there are some; false when an entry is no token id. */
static bool read_tokens(bench_test *test, yajl_val array) {
  size_t n = array->u.array.len;
  test->tokens = malloc((n ? n : 1) * sizeof *test->tokens);
  if (!test->tokens) return false;
  for (; test->token_count < n; test->token_count++) {
    yajl_val v = array->u.array.values[test->token_count];
    if (!YAJL_IS_INTEGER(v) || YAJL_GET_INTEGER(v) < 0 || YAJL_GET_INTEGER(v) >= TSL_MAX_VOCAB)
      return false;
    test->tokens[test->token_count] = (tsl_token)YAJL_GET_INTEGER(v);
  }
  return true;
}

static bool read_test(bench_test *test, yajl_val v) {
  yajl_val valid = member(v, "valid", yajl_t_any), text = member(v, "text", yajl_t_string);
  yajl_val tokens = member(v, "tokens", yajl_t_array);
  if (!text || !(YAJL_IS_TRUE(valid) || YAJL_IS_FALSE(valid))) return false;
  test->valid = YAJL_IS_TRUE(valid);
  test->text = YAJL_GET_STRING(text);
  test->length = strlen(test->text);
  return !tokens || read_tokens(test, tokens);
}

/* The schema or grammar of a line. */
static bool read_text(bench_case *c, yajl_val tree) {
  static const struct {
    const char *name;
    tsl_source_kind kind;
    bool tags;
  } members[] = {{"schema", TSL_SOURCE_JSON_SCHEMA, false},
                 {"lark", TSL_SOURCE_LARK, false},
                 {"gbnf", TSL_SOURCE_GBNF, false},
                 {"regex", TSL_SOURCE_REGEX, false},
                 {"tags", TSL_SOURCE_JSON_SCHEMA, true}};
  yajl_val text = NULL;
  for (size_t i = 0; !text && i < sizeof members / sizeof *members; i++) {
    text = member(tree, members[i].name, yajl_t_string);
    c->kind = members[i].kind;
    c->tags = members[i].tags;
  }
  if (!text) return false;
  c->text = YAJL_GET_STRING(text);
  c->length = strlen(c->text);
  return true;
}

static bool read_case(bench_case *c, yajl_val tree) {
  yajl_val id = member(tree, "id", yajl_t_string);
  yajl_val tests = member(tree, "tests", yajl_t_array);
  if (!id || !read_text(c, tree) || !tests) return false;
  c->id = YAJL_GET_STRING(id);
  c->tests = calloc(tests->u.array.len + 1, sizeof *c->tests);
  if (!c->tests) return false;
  for (; c->test_count < tests->u.array.len; c->test_count++)
    if (!read_test(&c->tests[c->test_count], tests->u.array.values[c->test_count])) {
      c->test_count++;
      return false;
    }
  return true;
}

void bench_case_free(bench_case *c) {
  for (size_t i = 0; i < c->test_count; i++) free(c->tests[i].tokens);
  free(c->tests);
  yajl_tree_free(c->tree);
}

bool bench_reader_next(bench_reader *reader, bench_case *out) {
  char why[160];
  ssize_t length;
  *out = (bench_case){0};
  do {
    length = getline(&reader->buffer, &reader->capacity, reader->file);
    if (length < 0) return ferror(reader->file) ? fail(reader, strerror(errno)) : false;
    reader->line++;
  } while (strspn(reader->buffer, " \t\r\n") == (size_t)length);
  out->tree = yajl_tree_parse(reader->buffer, why, sizeof why);
  if (!out->tree) return fail(reader, why);
  if (read_case(out, out->tree)) return true;
  bench_case_free(out);
  return fail(reader, "not of the form {\"id\", \"schema\", \"tests\": [{\"valid\", \"text\"}]}");
}
