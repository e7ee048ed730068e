/* decode.c - beams and drafts on logits that a user brings. See decode.h.
 *
 * Problem   Beam search and speculation ask a model as they go. A person who has a table of logits,
 *           from a paper or a dump, has no model to link.
 * Idea      The table is the model: each line says after which ids its logits stand. Where the
 *           search asks for a prefix that no line has, the message names it.
 * Example   {"prefix": [], "logits": {"65": -0.9}} and {"prefix": [65], "logits": {"66": 0}} lead a
 *           beam over the two tokens 65 and 66.
 * Cost      A look at each line for each prefix that the search wants.
 * Tested by tests/cli/test_cli_sample.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/brought/decode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json_out.h"

void brought_print_ids(const tsl_token *ids, size_t n) {
  putchar('[');
  for (size_t i = 0; i < n; i++) printf("%s%u", i ? ", " : "", (unsigned)ids[i]);
  putchar(']');
}

/* A member that lists ids, as an array that the caller frees; NULL after a complaint. */
static tsl_token *read_ids(const rows *r, const char *name, size_t *n) {
  json_in list = json_in_member(r->value, name), item = {0};
  double x;
  *n = 0;
  if (json_in_kind(list) != '[')
    return rows_complain(r, "there is no list of ids \"%s\"", name), NULL;
  while (json_in_next(list, &item)) ++*n;
  tsl_token *ids = cli_allocate(*n + 1, sizeof *ids);
  item = (json_in){0};
  for (size_t i = 0; json_in_next(list, &item); i++) {
    bool ok = json_in_number(item, &x) && x >= 0 && x < (double)r->width && x == floor(x);
    ids[i] = ok ? (tsl_token)x : 0;
    if (ok) continue;
    rows_complain(r, "\"%s\": number %zu is no id below %zu", name, i, r->width);
    free(ids);
    return NULL;
  }
  return ids;
}

/* ---- beams ----------------------------------------------------------------------------------- */

typedef struct table_row {
  tsl_token *prefix;
  size_t n;
  float *logits;
} table_row;

typedef struct table {
  table_row *at;
  size_t n, capacity, width;
  bool missing; /* the search wants a prefix that no line has, which was said */
} table;

static void table_free(table *t) {
  for (size_t i = 0; i < t->n; i++) {
    free(t->at[i].prefix);
    free(t->at[i].logits);
  }
  free(t->at);
}

static const table_row *find(const table *t, const tsl_prefix *p) {
  for (size_t i = 0; i < t->n; i++)
    if (t->at[i].n == p->count &&
        (!p->count || !memcmp(t->at[i].prefix, p->tokens, p->count * sizeof *p->tokens)))
      return &t->at[i];
  return NULL;
}

static tsl_status ask(void *ctx, const tsl_prefix *prefixes, size_t n, float *logits) {
  table *t = ctx;
  for (size_t i = 0; i < n; i++) {
    const table_row *row = find(t, &prefixes[i]);
    if (row) {
      memcpy(logits + i * t->width, row->logits, t->width * sizeof *logits);
      continue;
    }
    cli_text ids = {0};
    char one[16];
    for (size_t k = 0; k < prefixes[i].count; k++) {
      int length =
          snprintf(one, sizeof one, "%s%u", k ? ", " : "", (unsigned)prefixes[i].tokens[k]);
      cli_text_add(&ids, one, (size_t)length);
    }
    cli_complain("no line has the \"prefix\" [%s], which the search wants", ids.at ? ids.at : "");
    cli_text_free(&ids);
    t->missing = true;
    return TSL_ERR_ARGUMENT;
  }
  return TSL_OK;
}

static bool read_table(rows *r, table *t) {
  int more;
  while ((more = rows_next(r)) > 0) {
    table_row row = {.prefix = read_ids(r, "prefix", &row.n)};
    if (row.prefix) row.logits = rows_logits(r, json_in_member(r->value, "logits"));
    if (!row.logits) return free(row.prefix), false;
    tsl_prefix same = {row.prefix, row.n};
    bool twice = find(t, &same) != NULL;
    if (t->n == t->capacity) {
      size_t capacity = 2 * t->capacity + 16;
      table_row *wider = cli_allocate(capacity, sizeof *wider);
      if (t->n) memcpy(wider, t->at, t->n * sizeof *wider);
      free(t->at);
      t->at = wider;
      t->capacity = capacity;
    }
    t->at[t->n++] = row;
    if (twice) return rows_complain(r, "this prefix was there before"), false;
  }
  return more == 0;
}

static void print_beam(const tsl_beams *b, size_t i) {
  size_t n, length;
  const tsl_token *tokens = tsl_beams_tokens(b, i, &n);
  const char *text = tsl_beams_text(b, i, &length);
  double log_p = tsl_beams_log_probability(b, i);
  fputs("{\"tokens\": ", stdout);
  brought_print_ids(tokens, n);
  fputs(", \"text\": ", stdout);
  json_out_string(text, length);
  printf(", \"log_probability\": %.9g, \"probability\": %.9g, \"score\": %.9g}\n", log_p,
         exp(log_p), tsl_beams_score(b, i));
}

int brought_beams(const source *s, rows *r, const tsl_beam_options *options) {
  table t = {.width = r->width};
  tsl_beams *beams = NULL;
  tsl_error error = {0};
  int code = CLI_BAD;
  if (read_table(r, &t)) {
    tsl_status status = tsl_beam_search(s->grammar, ask, &t, options, NULL, &beams, &error);
    code = status == TSL_OK ? CLI_OK : status == TSL_ERR_LIMIT ? CLI_NO : CLI_BAD;
    if (status != TSL_OK && !t.missing) cli_complain("beam search: %s", error.message);
  }
  for (size_t i = 0; beams && i < tsl_beams_count(beams); i++) print_beam(beams, i);
  tsl_beams_free(beams);
  table_free(&t);
  return code;
}

/* ---- drafts ---------------------------------------------------------------------------------- */

/* A member that lists `n` rows, as one array; NULL after a complaint. */
static float *read_rows(rows *r, const char *name, size_t n) {
  json_in list = json_in_member(r->value, name), item = {0};
  size_t count = 0;
  while (json_in_kind(list) == '[' && json_in_next(list, &item)) count++;
  if (count != n) return rows_complain(r, "\"%s\" has %zu rows, not %zu", name, count, n), NULL;
  float *all = cli_allocate(n * r->width + 1, sizeof *all);
  item = (json_in){0};
  for (size_t i = 0; json_in_next(list, &item); i++) {
    float *one = rows_logits(r, item);
    if (!one) return free(all), NULL;
    memcpy(all + i * r->width, one, r->width * sizeof *one);
    free(one);
  }
  return all;
}

/* One line: accept drafts, and print what came of it. */
static int speculate(tsl_matcher *m, rows *r, uint64_t seed, float temperature, uint64_t *draws) {
  tsl_drafts d = {.temperature = temperature, .draft_temperature = temperature};
  size_t accepted = 0;
  tsl_token next = TSL_NO_TOKEN, *ids = read_ids(r, "drafts", &d.count);
  float *logits = ids ? read_rows(r, "logits", d.count + 1) : NULL, *drafted = NULL;
  bool chosen = logits && !json_in_member(r->value, "draft_logits").at;
  if (logits && !chosen) drafted = read_rows(r, "draft_logits", d.count);
  int code = chosen || drafted ? CLI_OK : CLI_BAD;
  uint32_t *path = cli_allocate(d.count + 1, sizeof *path);
  d.tokens = ids;
  d.logits = logits;
  d.draft_logits = drafted;
  tsl_status status =
      code == CLI_OK ? tsl_speculate(m, &d, seed, draws, path, &accepted, &next) : TSL_OK;
  if (status == TSL_ERR_ARGUMENT)
    code = rows_complain(r, "a draft has no probability in its row of \"draft_logits\"");
  else if (status == TSL_ERR_LOGITS)
    code = rows_complain(r, "no token that the grammar allows has a finite logit");
  else if (status != TSL_OK)
    code = rows_complain(r, "%s%s", tsl_status_name(status), cli_limit_advice(status));
  if (code == CLI_OK) {
    for (size_t i = 0; i < accepted; i++) ids[i] = ids[path[i]];
    fputs("{\"accepted\": ", stdout);
    brought_print_ids(ids, accepted);
    if (next == TSL_NO_TOKEN)
      puts(", \"next\": null}");
    else
      printf(", \"next\": %u}\n", (unsigned)next);
    fflush(stdout);
  }
  free(path);
  free(ids);
  free(logits);
  free(drafted);
  return code;
}

int brought_drafts(const source *s, rows *r, uint64_t seed, float temperature) {
  tsl_matcher *m = NULL;
  uint64_t draws = 0;
  int code = CLI_OK, more = 0;
  if (tsl_matcher_new(s->grammar, NULL, &m) != TSL_OK) return cli_complain("out of memory");
  while (code == CLI_OK && !tsl_matcher_is_terminated(m) && (more = rows_next(r)) > 0)
    code = speculate(m, r, seed, temperature, &draws);
  bool whole = tsl_matcher_is_terminated(m) || tsl_matcher_is_complete(m);
  tsl_matcher_free(m);
  return more < 0 ? CLI_BAD : code != CLI_OK ? code : whole ? CLI_OK : CLI_NO;
}
