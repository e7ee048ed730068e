/* pictures.c - states and rules of a grammar for those who draw them. See pictures.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/pictures/pictures.h"

#include <inttypes.h>
#include <string.h>

#include "cli/json_out.h"
#include "cli/utf8.h"

#define LABEL_MAX 48 /* bytes of an expression in a label */

typedef struct drawing {
  FILE *to;
  const picture_state *known;
  uint32_t count;
  bool any;
} drawing;

static size_t text_length(const char *text, size_t limit) {
  size_t n = strlen(text);
  return utf8_prefix((const uint8_t *)text, n < limit ? n : limit);
}

/* ---- Graphviz -------------------------------------------------------------------------------- */

/* Inside a quoted string: backslashes doubled, quotes escaped. */
static void put_escaped(FILE *to, const char *text, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '"' || text[i] == '\\') putc('\\', to);
    putc(text[i], to);
  }
}

static void put_dot_byte(FILE *to, unsigned b) {
  char c = (char)b;
  if (b == ' ')
    fputs("␠", to);
  else if (b > 0x20 && b < 0x7f)
    put_escaped(to, &c, 1);
  else
    fprintf(to, "%02X", b);
}

/* "a-z 0 9"; of more than a few ranges the first ones and how many more there are. */
static void put_dot_bytes(FILE *to, const uint32_t set[8]) {
  unsigned ranges = 0;
  for (unsigned b = 0; b < 256; b++) {
    unsigned first = b;
    while (b < 256 && (set[b >> 5] >> (b & 31) & 1)) b++;
    if (b == first || ++ranges > 6) continue;
    if (ranges > 1) putc(' ', to);
    put_dot_byte(to, first);
    if (b - 1 > first) putc('-', to), put_dot_byte(to, b - 1);
  }
  if (ranges > 6) fprintf(to, " and %u more", ranges - 6);
}

static void put_dot_edge(FILE *to, uint32_t from, const tsl_edge *e) {
  switch (e->kind) {
  case TSL_EDGE_BYTES:
    fprintf(to, "  s%" PRIu32 " -> s%" PRIu32 " [label=\"", from, e->to);
    put_dot_bytes(to, e->bytes);
    fputs("\"];\n", to);
    break;
  case TSL_EDGE_CALL:
    fprintf(to, "  s%" PRIu32 " -> s%" PRIu32 " [style=dashed, label=\"call\"];\n", from, e->to);
    fprintf(to, "  s%" PRIu32 " -> s%" PRIu32 " [style=dotted, label=\"then\"];\n", from, e->then);
    break;
  case TSL_EDGE_OR:
    fprintf(to, "  s%" PRIu32 " -> s%" PRIu32 " [label=\"or\", color=gray];\n", from, e->to);
    break;
  case TSL_EDGE_TOKENS:
    fprintf(to,
            "  s%" PRIu32 " -> s%" PRIu32 " [label=\"%s %" PRIu32
            " tokens\", color=\"#0a6470\"];\n",
            from, e->to, e->complement ? "any but" : "one of", e->tokens);
    break;
  }
}

static void put_dot_state(void *ctx, const tsl_state *s) {
  drawing *d = ctx;
  if (!s->visited) return;
  fprintf(d->to, "  s%" PRIu32 " [label=\"%" PRIu32 "\\n", s->number, s->number);
  size_t n = text_length(s->expression, LABEL_MAX);
  put_escaped(d->to, s->expression, n);
  if (s->expression[n]) fputs("…", d->to);
  if (s->number < d->count && d->known[s->number].visits) {
    const picture_state *k = &d->known[s->number];
    fprintf(d->to, "\\n%" PRIu32, k->least);
    if (k->most > k->least) fprintf(d->to, " to %" PRIu32, k->most);
    fputs(" tokens", d->to);
  }
  fprintf(d->to, "\"%s];\n", s->nullable ? ", peripheries=2" : "");
  for (size_t i = 0; i < s->edge_count; i++) put_dot_edge(d->to, s->number, &s->edges[i]);
}

bool pictures_dot(FILE *to, const tsl_grammar *grammar, const picture_state *known,
                  uint32_t count) {
  drawing d = {to, known, known ? count : 0, false};
  fputs("digraph states {\n  rankdir=LR;\n  node [shape=box, style=rounded, "
        "fontname=\"monospace\", fontsize=10];\n  edge "
        "[fontname=\"monospace\", fontsize=9];\n",
        to);
  bool ok = tsl_grammar_states(grammar, put_dot_state, &d) == TSL_OK;
  fputs("}\n", to);
  return ok;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_edge(FILE *to, const tsl_edge *e) {
  static const char *const kinds[] = {"bytes", "call", "or", "tokens"};
  fprintf(to, "{\"kind\":\"%s\",\"to\":%" PRIu32, kinds[e->kind], e->to);
  if (e->kind == TSL_EDGE_CALL) fprintf(to, ",\"then\":%" PRIu32, e->then);
  if (e->kind == TSL_EDGE_TOKENS)
    fprintf(to, ",\"tokens\":%" PRIu32 ",\"complement\":%s", e->tokens,
            e->complement ? "true" : "false");
  if (e->kind == TSL_EDGE_BYTES) {
    fputs(",\"bytes\":", to);
    json_out_set(to, e->bytes);
  }
  putc('}', to);
}

static void put_state(void *ctx, const tsl_state *s) {
  drawing *d = ctx;
  if (!s->visited) return;
  fprintf(d->to, "%s\n{\"state\":%" PRIu32 ",\"nullable\":%s,\"expression\":", d->any ? "," : "",
          s->number, s->nullable ? "true" : "false");
  json_out_string_to(d->to, s->expression, text_length(s->expression, SIZE_MAX));
  fputs(",\"edges\":[", d->to);
  for (size_t i = 0; i < s->edge_count; i++) {
    if (i) putc(',', d->to);
    put_edge(d->to, &s->edges[i]);
  }
  fputs("]}", d->to);
  d->any = true;
}

bool pictures_states(FILE *to, const tsl_grammar *grammar) {
  drawing d = {.to = to};
  fputs("{\"states\":[", to);
  bool ok = tsl_grammar_states(grammar, put_state, &d) == TSL_OK;
  fputs("]}\n", to);
  return ok;
}
