/* fuzz_gbnf.c - any bytes as a GBNF grammar.
 *
 * Properties  Compiling ends with a documented status and a filled error. What parses prints as a
 *             grammar that parses and prints the same. What compiles has an expression with a
 *             shortest text. Compiled again from its printed form, it has one of the same length.
 * Memory and steps are limited, so that a hang or a blow-up is a finding.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "compiler/gbnf/ast.h"
#include "fuzz/require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tsl__exprs *new_exprs(void) {
  const tsl_limits limits = {.max_memory = 64 << 20, .max_steps = 200000};
  tsl__exprs *x = NULL;
  require(tsl__exprs_new(NULL, NULL, &limits, &x) == TSL_OK, "no expressions");
  return x;
}

static int by_rule_name(const void *a, const void *b) {
  const tsl__grule *r = *(const tsl__grule *const *)a, *q = *(const tsl__grule *const *)b;
  size_t n = r->name_length < q->name_length ? r->name_length : q->name_length;
  int c = memcmp(r->name, q->name, n);
  return c ? c : (r->name_length > q->name_length) - (r->name_length < q->name_length);
}

/* All rules, one a line, by name (their numbers follow the order in which they are first
 * mentioned); NULL if the text does not parse. The caller frees. */
static char *print_all(const char *text, size_t length) {
  tsl__exprs *x = new_exprs();
  tsl__gbnf *g;
  tsl_error error = {0};
  char *out = NULL;
  size_t n = 0, cap = 1;
  tsl_status status = tsl__gbnf_parse(x, NULL, text, length, 64, &g, &error);
  require(status == error.status, "an error without its status");
  require(status == TSL_OK || (error.message[0] && error.offset <= length),
          "an error without its place");
  for (size_t i = 0; status == TSL_OK && i < g->rules.n; i++)
    cap += g->rules.at[i].name_length + 6 + tsl__gbnf_print(g, g->rules.at[i].body, NULL, 0);
  if (status == TSL_OK) out = malloc(cap);
  const tsl__grule **sorted = malloc((g->rules.n + 1) * sizeof *sorted);
  for (size_t i = 0; i < g->rules.n; i++) sorted[i] = &g->rules.at[i];
  qsort(sorted, g->rules.n, sizeof *sorted, by_rule_name);
  for (size_t i = 0; out && i < g->rules.n; i++) {
    const tsl__grule *r = sorted[i];
    n += (size_t)snprintf(out + n, cap - n, "%.*s ::= ", (int)r->name_length, r->name);
    n += tsl__gbnf_print(g, r->body, out + n, cap - n);
    out[n++] = '\n';
  }
  if (out) out[n] = 0;
  free(sorted);
  tsl__exprs_free(x);
  return out;
}

/* The bytes of the shortest text, or UINT32_MAX with the status where it does not compile. */
static uint32_t shortest(const char *text, size_t length, tsl_status *status) {
  tsl__exprs *x = new_exprs();
  tsl_error error = {0};
  tsl__expr e;
  *status = tsl__gbnf_compile(x, NULL, text, length, NULL, 64, &e, &error);
  require(*status == error.status, "an error without its status");
  require((e != TSL__NONE) == (*status == TSL_OK), "an expression and an error");
  require(*status == TSL_OK || *status == TSL_ERR_SYNTAX || *status == TSL_ERR_EMPTY ||
              *status == TSL_ERR_LIMIT || *status == TSL_ERR_NO_MEMORY,
          "an undocumented status");
  uint32_t n = *status ? UINT32_MAX : tsl__expr_shortest(x, e);
  tsl__exprs_free(x);
  return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *text = size ? (const char *)data : "";
  tsl_status first, second;
  uint32_t n = shortest(text, size, &first);
  char *printed = print_all(text, size);
  if (!printed) return 0;
  char *again = print_all(printed, strlen(printed));
  require(again && !strcmp(printed, again), "a printed grammar parses to something else");
  require(shortest(printed, strlen(printed), &second) == n && first == second,
          "a printed grammar compiles to something else");
  free(printed);
  free(again);
  return 0;
}
