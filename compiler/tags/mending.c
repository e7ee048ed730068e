/* mending.c - a parser whose grammar was compiled with `lenient`: no answer is refused.
 *
 * Problem   An answer that was written without a grammar may leave it at any byte. A caller still
 *           wants the parts before that byte, and the meaning of the rest.
 * Idea      The text is read by the grammar up to the first byte that the grammar refuses. All
 *           parts so far are reported, and the rest waits for the end. Then the mender (mended.h)
 *           reads the whole text once more, and the parts that were not reported yet follow.
 * Example   The answer is `<tool_call>{"name": "f", "arguments": {"n": 3,}}`. The grammar refuses
 *           the brace after the comma. Nothing was reported until then, because the call was not
 *           whole. At the end the mender reads the text and drops the comma. The call f {"n": 3} is
 *           reported, with the repair.
 * Exact     A text that the grammar allows is read by the grammar, byte for byte. The mender's
 *           reading replaces this one only if it has more calls, or the same calls in a code fence.
 *           So it does where the grammar's text is but the brackets and commas of a list of calls.
 * Streams   Text and thinking are reported as they come, and never revoked. So markup, a call or
 *           thinking that is recognised late may have been reported as text. A call is reported
 *           when it is whole, because its arguments may still be mended.
 * Ends      Servers that do not strip special tokens leave <|im_end|> or </s> at the end of a text.
 *           Such texts (tsl__mender.ends) are no part of the answer. What may become one is held
 *           back until more text follows it, or the answer ends. Elsewhere they are text.
 * Headers   <|im_start|>assistant and the like in front of an answer (tsl__mender.begins), and a
 *           byte order mark, are no part of it either. They are read first.
 * Cost      The text is kept once more, and read twice.
 * Tested by tests/programs/test_lenient.py, tests/tools/test_mend_json.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/tags/parser.h"

#include <stdio.h>

#define TEXT_MAX (1u << 30) /* bytes of an answer */
#define ENDS_MAX 256u       /* bytes of end tokens at the end of an answer; more are text */
#define HEADERS_MAX 256u    /* bytes of headers that are waited for */

/* ---- reading --------------------------------------------------------------------------------- */

/* A limit of the grammar's reader ends its reading alone. */
static void leave_grammar(tsl_parser *p) {
  if (p->status != TSL_ERR_NO_MEMORY) p->status = TSL_OK;
  p->refused = true;
}

static tsl_status keep(tsl_parser *p, const char *text, size_t length) {
  if (p->finished) return TSL_ERR_STATE;
  if (length > TEXT_MAX || p->raw.n > TEXT_MAX - length) return TSL_ERR_LIMIT;
  tsl__parser_put(p, &p->raw, text, length);
  return p->status;
}

static tsl_status read_on(tsl_parser *p, const char *text, size_t length) {
  tsl_status status = keep(p, text, length);
  if (status != TSL_OK || p->refused || !length) return status;
  status = tsl__parser_read_text(p, text, length);
  if (status == TSL_REJECTED) { /* all that can be read of it */
    for (size_t i = 0; i < length && tsl__parser_read_text(p, text + i, 1) == TSL_OK; i++) continue;
  }
  if (status != TSL_OK) leave_grammar(p);
  return p->status;
}

/* ---- end tokens ------------------------------------------------------------------------------ */

/* Is a text end tokens with white space between them? Before the answer is `over` the last one may
 * be the beginning of one. */
static bool spells_ends(const tsl_parser *p, const char *text, size_t n, bool over) {
  size_t at = 0;
  while (at < n) {
    const char *end = p->mender->ends;
    size_t left = n - at, length = strlen(end);
    for (; length; end += length + 1, length = strlen(end)) {
      if (left >= length ? !memcmp(text + at, end, length) : !over && !memcmp(text + at, end, left))
        break;
    }
    if (!length) return false;
    if (left < length) return true;
    for (at += length; at < n && strchr(" \t\r\n", text[at]) && text[at];) at++;
  }
  return true;
}

/* How many bytes at the end of a text are end tokens? */
static size_t ends_of(const tsl_parser *p, const char *text, size_t n, bool over) {
  for (size_t at = n > ENDS_MAX ? n - ENDS_MAX : 0; at < n; at++)
    if ((text[at] == '<' || text[at] == '[') && spells_ends(p, text + at, n - at, over))
      return n - at;
  return 0;
}

/* What is held back goes on as text, but for end tokens. */
static tsl_status release(tsl_parser *p, bool over) {
  text_vec *held = &p->ends;
  size_t kept = ends_of(p, held->at, held->n, over), n = held->n - kept;
  tsl_status status = n ? read_on(p, held->at, n) : p->status;
  if (n && kept) memmove(held->at, held->at + n, kept);
  held->n = kept;
  return status;
}

/* ---- headers --------------------------------------------------------------------------------- */

static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/* The word that templates have in front of an answer, where the tokens around it were left out. It
 * is a header if an empty line follows, or markup in the next line. Its bytes; 0: it is text.
 * *more: more of the text decides that. */
static size_t word_of(const char *text, size_t n, bool *more) {
  static const char word[] = "assistant";
  size_t length = sizeof word - 1, lines = 0;
  if (n < length) return *more |= !memcmp(text, word, n), 0;
  if (memcmp(text, word, length)) return 0;
  for (; length < n && is_space(text[length]); length++) lines += text[length] == '\n';
  if (length == n) return *more = true, 0;
  return lines > 1 || (lines && strchr("<{[", text[length])) ? length : 0;
}

/* How many bytes at the beginning of a text are headers? *more: more of the text decides that. */
static size_t headers_of(const tsl_parser *p, const char *text, size_t n, bool *more) {
  size_t at = 0;
  for (;;) {
    const char *one = p->mender->begins;
    size_t left = n - at, length = strlen(one);
    for (*more = false; length; one += length + 1, length = strlen(one)) {
      if (left >= length && !memcmp(text + at, one, length)) break;
      *more |= left < length && !memcmp(text + at, one, left);
    }
    if (!length) return at + word_of(text + at, left, more);
    for (at += length; at < n && is_space(text[at]);) at++;
  }
}

/* What stands in front of the answer is no part of it. `over`: no more text comes. */
static tsl_status begin(tsl_parser *p, const char *text, size_t length, bool over) {
  bool more;
  text_vec *held = &p->ends;
  tsl__parser_put(p, held, text, length);
  size_t n = p->status == TSL_OK ? headers_of(p, held->n ? held->at : "", held->n, &more) : 0;
  if (p->status != TSL_OK || (more && !over && held->n < HEADERS_MAX)) return p->status;
  p->begun = true;
  p->skipped = n;
  p->cut |= n > 0;
  if (n && keep(p, held->at, n) != TSL_OK) return p->status;
  if (n) memmove(held->at, held->at + n, held->n - n);
  held->n -= n;
  return release(p, over);
}

tsl_status tsl__mending_text(tsl_parser *p, const char *text, size_t length) {
  if (p->finished) return TSL_ERR_STATE;
  if (!p->begun) return length ? begin(p, text, length, false) : p->status;
  if (!p->ends.n && !ends_of(p, text, length, false)) return read_on(p, text, length);
  tsl__parser_put(p, &p->ends, text, length);
  return p->status == TSL_OK ? release(p, false) : p->status;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

tsl_status tsl__mending_token(tsl_parser *p, tsl_token token) {
  const tsl_vocab *v = p->grammar->vocab;
  size_t length;
  const char *bytes = (const char *)tsl_vocab_bytes(v, token, &length);
  if (!bytes || p->finished) return p->finished ? TSL_ERR_STATE : TSL_ERR_ARGUMENT;
  if (tsl_vocab_is_eog(v, token)) return tsl__mending_finish(p);
  if (!p->begun && length) {
    bool more;
    if (p->ends.n || headers_of(p, bytes, length, &more) || more)
      return begin(p, bytes, length, false);
    p->begun = true;
  }
  if (length && ends_of(p, bytes, length, true) == length)
    return tsl__mending_text(p, bytes, length);
  if (p->ends.n) { /* it was not the end */
    tsl_status before = read_on(p, p->ends.at, p->ends.n);
    p->ends.n = 0;
    if (before != TSL_OK) return before;
  }
  tsl_status status = keep(p, bytes, length);
  if (status != TSL_OK || p->refused) return status;
  status = tsl__parser_read_token(p, token);
  if (status == TSL_REJECTED && length && !tsl_vocab_is_special(v, token)) {
    for (size_t i = 0; i < length && tsl__parser_read_text(p, bytes + i, 1) == TSL_OK; i++)
      continue;
  }
  if (status != TSL_OK && length) leave_grammar(p);
  return p->status;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static bool of_call(tsl_part_kind kind) {
  return kind >= TSL_PART_CALL && kind <= TSL_PART_CALL_END;
}

bool tsl__mending_holds(const tsl_parser *p, size_t i) {
  const part *q = &p->parts.at[i];
  if (p->is_mended || !of_call(q->kind)) return false;
  if (q->call >= p->call_parts.n) return true; /* there was no memory for it */
  return p->parts.at[p->call_parts.at[q->call].last - 1].kind != TSL_PART_CALL_END;
}

static void add_part(tsl_parser *p, tsl_part_kind kind, uint32_t call, tsl__string text) {
  part fresh = {kind, call, p->parts_text.n, text.length, 0};
  tsl__parser_put(p, &p->parts_text, text.at, text.length);
  if (p->status == TSL_OK && !tsl__vec_push(&p->alloc, &p->parts, fresh))
    tsl__parser_failed(p, TSL_ERR_NO_MEMORY);
}

/* How many bytes of a whole were given as parts of that kind: those that it begins with. */
static uint32_t given_of(const tsl_parser *p, tsl_part_kind kind, tsl__string whole) {
  uint32_t n = 0;
  for (size_t i = 0; i < p->parts_read; i++) {
    const part *q = &p->parts.at[i];
    if (q->kind != kind) continue;
    if (q->length > whole.length - n || memcmp(whole.at + n, p->parts_text.at + q->from, q->length))
      return whole.length; /* it was read otherwise: nothing of it is given twice */
    n += (uint32_t)q->length;
  }
  return n;
}

static tsl__string rest_of(tsl__string whole, uint32_t from) {
  return (tsl__string){whole.at + from, whole.length - from};
}

/* The mender's parts in place of the grammar's, less those that were given. */
static void replace_parts(tsl_parser *p) {
  const tsl__mended *m = &p->mended;
  uint32_t content = given_of(p, TSL_PART_TEXT, m->content),
           reasoning = given_of(p, TSL_PART_REASONING, m->reasoning), calls = 0;
  for (size_t i = 0; i < p->parts_read; i++) calls += p->parts.at[i].kind == TSL_PART_CALL_END;
  p->parts.n = p->parts_read = p->parts_text.n = 0;
  if (reasoning < m->reasoning.length)
    add_part(p, TSL_PART_REASONING, 0, rest_of(m->reasoning, reasoning));
  if (content < m->content.length) add_part(p, TSL_PART_TEXT, 0, rest_of(m->content, content));
  for (uint32_t i = calls; i < m->count; i++) {
    add_part(p, TSL_PART_CALL, i, m->calls[i].name);
    if (m->calls[i].id.length) add_part(p, TSL_PART_ID, i, m->calls[i].id);
    add_part(p, TSL_PART_ARGUMENTS, i, m->calls[i].arguments);
    add_part(p, TSL_PART_CALL_END, i, (tsl__string){"", 0});
  }
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool mend(tsl_parser *p, bool refused) {
  uint32_t at = refused ? (uint32_t)(p->skipped + p->text.n + p->held.n) : TSL__ACCEPTED;
  tsl__answer answer = {p->raw.n ? p->raw.at : "", (uint32_t)p->raw.n, (uint32_t)p->skipped, at};
  tsl__arena_free(&p->arena);
  tsl_status status = p->mender->read(p->mender->ctx, &p->arena, answer, &p->mended);
  if (status != TSL_OK) tsl__parser_failed(p, status);
  return status == TSL_OK;
}

/* Is all text that the grammar sees brackets and commas, such as those of a list, or special tokens
 * of other formats? */
static bool only_brackets(const tsl_parser *p) {
  size_t n = 0;
  bool token = false;
  for (size_t i = 0; i < p->parts.n; i++) {
    const part *q = &p->parts.at[i];
    const char *text = p->parts_text.at + q->from;
    if (q->kind != TSL_PART_TEXT) continue;
    for (size_t k = 0; k < q->length; k++) {
      token |= text[k] == '<' && k + 1 < q->length && text[k + 1] == '|';
      token |= text[k] == '[' && k + 1 < q->length && text[k + 1] >= 'A' && text[k + 1] <= 'Z';
      if (!token && !memchr("[]{},; \n", text[k], 8)) return false;
      token &= text[k] != '>' && text[k] != ']';
    }
    n += q->length;
  }
  return n > 0;
}

/* Does the mender see calls where the grammar sees text? Or nothing where that sees the brackets of
 * a list of calls? */
static bool sees_more(const tsl_parser *p) {
  const tsl__mended *m = &p->mended;
  if (m->count > p->calls) return true;
  return m->count && m->count == p->calls &&
         (m->fenced || (!m->content.length && only_brackets(p)));
}

tsl_status tsl__mending_finish(tsl_parser *p) {
  if (p->finished || p->status != TSL_OK) return p->status;
  if (!p->begun && begin(p, "", 0, true) != TSL_OK) return p->status;
  if (p->ends.n && release(p, true) != TSL_OK) return p->status;
  p->cut |= p->ends.n > 0;
  if (!p->refused && tsl__parser_read_end(p) != TSL_OK) leave_grammar(p);
  if (p->status == TSL_OK && mend(p, p->refused) && (p->refused || sees_more(p))) {
    replace_parts(p);
    p->is_mended = true;
  }
  p->finished = p->status == TSL_OK;
  return p->status;
}

/* ---- the whole as JSON ----------------------------------------------------------------------- */

static void put(tsl_parser *p, const char *text) {
  tsl__parser_put(p, &p->json, text, strlen(text));
}
static void put_text(tsl_parser *p, tsl__string text) {
  tsl__parser_put(p, &p->json, text.at, text.length);
}
static void put_string(tsl_parser *p, tsl__string text) {
  put(p, "\"");
  tsl__parser_put_escaped(p, &p->json, text.at, text.length);
  put(p, "\"");
}

/* The repairs of the answer. End tokens and headers that were left out are markup. */
static void put_repairs(tsl_parser *p, tsl__string repairs) {
  char cut[64];
  put(p, ", \"repairs\": [");
  put_text(p, repairs);
  snprintf(cut, sizeof cut, "%s{\"repair\": \"markup\", \"at\": %zu}", repairs.length ? ", " : "",
           p->skipped ? (size_t)0 : p->raw.n);
  bool noted = false;
  for (uint32_t i = 0; i + 8 <= repairs.length && !noted; i++)
    noted = !memcmp(repairs.at + i, "\"markup\"", 8);
  if (p->cut && !noted) put(p, cut);
  tsl__parser_put(p, &p->json, "]}", 3); /* its NUL too */
}

static void put_call(tsl_parser *p, uint32_t i) {
  const tsl__mended_call *c = &p->mended.calls[i];
  char id[24];
  snprintf(id, sizeof id, "call_%u", i);
  put(p, i ? ", {\"id\": " : "{\"id\": ");
  put_string(p, c->id.length ? c->id : (tsl__string){id, (uint32_t)strlen(id)});
  put(p, ", \"name\": ");
  put_string(p, c->name);
  put(p, ", \"arguments\": ");
  put_text(p, c->arguments);
  put(p, ", \"repairs\": [");
  put_text(p, c->repairs);
  put(p, "]}");
}

const char *tsl__mending_json(tsl_parser *p) {
  if (p->status != TSL_OK) return NULL;
  if (!p->is_mended && !p->refused) {
    const char *whole = tsl__parser_json_of_parts(p);
    if (!whole || !p->cut) return whole;
    p->json.n -= 2; /* its brace and its NUL */
    put_repairs(p, (tsl__string){"", 0});
    return p->status == TSL_OK ? p->json.at : NULL;
  }
  if (!p->is_mended && !mend(p, true)) { /* so far; nothing was read */
    p->status = TSL_OK;
    return NULL;
  }
  p->json.n = 0;
  put(p, "{\"content\": ");
  put_string(p, p->mended.content);
  put(p, ", \"reasoning\": ");
  put_string(p, p->mended.reasoning);
  put(p, ", \"calls\": [");
  for (uint32_t i = 0; i < p->mended.count; i++) put_call(p, i);
  put(p, "], \"tags\": []");
  put_repairs(p, p->mended.repairs);
  bool fine = p->status == TSL_OK;
  p->status = TSL_OK;
  return fine ? p->json.at : NULL;
}
