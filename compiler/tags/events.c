/* events.c - what a parser reports: parts of text, reasoning and calls, and the whole as JSON.
 *
 * Problem   Threads (parse.c) note where captured frames begin and end. A caller wants parts in the
 *           order of the text, each as soon as no other reading can take it back.
 * Idea      The notes of all threads are lists with shared tails. What lies before the last note
 *           that they have in common is final. So is the text before the first note in which they
 *           differ. That much is turned into parts; the rest waits.
 * Example   Of `Hi <tool_call>{"na` in a grammar with that tag, "Hi " is final once "<tool_call>"
 *           is complete: until then the text might go on as prose. The call is reported as begun,
 *           and its name once its frame has ended.
 * Steps     A report looks at the first threads' notes up to their last common one. From there back
 *           to what was reported before lie the new notes, which are turned round into the order of
 *           the text. A begin opens a part, an end closes it; the text between two notes belongs to
 *           the innermost open part. Arguments of a style that is not JSON are written as JSON
 *           here: a key and a value are captures, and become "key": "value".
 * Revoked   Nothing that was reported is revoked. Text that two threads read in two ways waits
 *           until one of them has died, or until the end.
 * Half      An incomplete character waits: a caller gets UTF-8 that ends between characters.
 * Cost      Linear in the notes and bytes that become final. Each byte of text is copied once.
 * Tested by tests/tags/test_tags.c, tests/tags/test_answers.c, tests/programs/test_tools.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/tags/parser.h"

/* ---- reporting: text ------------------------------------------------------------------------- */

void tsl__parser_put(tsl_parser *p, text_vec *to, const char *text, size_t n) {
  if (!n) return;
  if (!tsl__vec_reserve(&p->alloc, to, n)) {
    tsl__parser_failed(p, TSL_ERR_NO_MEMORY);
    return;
  }
  memcpy(to->at + to->n, text, n);
  to->n += n;
}

void tsl__parser_put_escaped(tsl_parser *p, text_vec *to, const char *text, size_t n) {
  tsl__out out = {.alloc = &p->alloc, .text = *to};
  tsl__out_inside(&out, text, n);
  *to = out.text;
  if (out.failed) tsl__parser_failed(p, TSL_ERR_NO_MEMORY);
}

static bool in_call(const tsl_parser *p) {
  for (size_t i = 0; i < p->open.n; i++)
    if (tsl__parser_capture_at(p, p->open.at[i])->kind == TSL__CAPTURE_CALL) return true;
  return false;
}

/* The last part is one of its call: so the whole is written in one pass over each call's. */
static void chain(tsl_parser *p) {
  const part *last = &p->parts.at[p->parts.n - 1];
  if (last->kind < TSL_PART_CALL || last->kind > TSL_PART_CALL_END) return;
  while (p->call_parts.n <= last->call)
    if (!tsl__vec_push(&p->alloc, &p->call_parts, (call_parts){0})) {
      tsl__parser_failed(p, TSL_ERR_NO_MEMORY);
      return;
    }
  call_parts *all = &p->call_parts.at[last->call];
  if (all->last)
    p->parts.at[all->last - 1].next = p->parts.n;
  else
    all->first = p->parts.n;
  all->last = p->parts.n;
}

/* A part; pieces of the same thing in a row are one. */
static void report(tsl_parser *p, tsl_part_kind kind, const char *text, size_t n, bool escape) {
  bool stream = kind == TSL_PART_TEXT || kind == TSL_PART_REASONING || kind == TSL_PART_ARGUMENTS ||
                kind == TSL_PART_TAG_TEXT || kind == TSL_PART_ID;
  part *last = p->parts.n ? &p->parts.at[p->parts.n - 1] : NULL;
  bool ahead = kind == TSL_PART_ID && !in_call(p); /* the id of the call to come */
  part fresh = {kind, p->calls && !ahead ? p->calls - 1 : p->calls, p->parts_text.n, 0, 0};
  if (stream && !n) return;
  if (!stream || !last || last->kind != kind || p->parts_read == p->parts.n) {
    if (!tsl__vec_push(&p->alloc, &p->parts, fresh)) {
      tsl__parser_failed(p, TSL_ERR_NO_MEMORY);
      return;
    }
    chain(p);
    last = &p->parts.at[p->parts.n - 1];
  }
  if (escape)
    tsl__parser_put_escaped(p, &p->parts_text, text, n);
  else
    tsl__parser_put(p, &p->parts_text, text, n);
  last->length = p->parts_text.n - last->from;
}

/* Text between two notes, as what the innermost open capture makes of it. */
void tsl__parser_report_text(tsl_parser *p, size_t to) {
  tsl__capture_kind kind =
      p->open.n ? tsl__parser_capture_at(p, p->open.at[p->open.n - 1])->kind : TSL__CAPTURE_TEXT;
  if (to <= p->reported_to) return;
  const char *text = p->text.at + p->reported_to;
  size_t n = to - p->reported_to;
  p->reported_to = to;
  switch (kind) {
  case TSL__CAPTURE_TEXT: report(p, TSL_PART_TEXT, text, n, false); break;
  case TSL__CAPTURE_REASONING: report(p, TSL_PART_REASONING, text, n, false); break;
  case TSL__CAPTURE_TAG: report(p, TSL_PART_TAG_TEXT, text, n, false); break;
  case TSL__CAPTURE_ID: report(p, TSL_PART_ID, text, n, false); break;
  case TSL__CAPTURE_ARGUMENTS:
  case TSL__CAPTURE_VALUE: report(p, TSL_PART_ARGUMENTS, text, n, false); break;
  case TSL__CAPTURE_BARE: report(p, TSL_PART_ARGUMENTS, text, n, true); break;
  case TSL__CAPTURE_KEY:
    if (!tsl__parser_capture_at(p, p->open.at[p->open.n - 1])->name)
      tsl__parser_put(p, &p->key, text, n);
    break;
  default: break;
  }
}

/* ---- reporting: notes ------------------------------------------------------------------------ */

/* What stands before a value: a comma, and its key if it is no item. The value's capture is open
 * already. */
static void report_key(tsl_parser *p, const tsl__capture *m) {
  bool item = p->open.n > 1 &&
              tsl__parser_capture_at(p, p->open.at[p->open.n - 2])->kind == TSL__CAPTURE_ARRAY;
  if (p->members++) report(p, TSL_PART_ARGUMENTS, ", ", 2, false);
  report(p, TSL_PART_ARGUMENTS, "\"", item ? m->kind == TSL__CAPTURE_BARE : 1, false);
  if (item) return;
  report(p, TSL_PART_ARGUMENTS, m->name ? m->name : p->key.at, m->name ? m->name_length : p->key.n,
         true);
  report(p, TSL_PART_ARGUMENTS, "\": \"", m->kind == TSL__CAPTURE_BARE ? 4 : 3, false);
}

static void report_begin(tsl_parser *p, const note *n) {
  static const char *const words[] = {"true", "false", "null"};
  const tsl__capture *m = tsl__parser_capture_at(p, n->capture);
  if (m->kind >= TSL__CAPTURE_KEY && !p->in_members) return; /* of text in a style: it is text */
  size_t to = n->at - (m->back < n->at - p->reported_to ? m->back : n->at - p->reported_to);
  bool calls = m->kind == TSL__CAPTURE_CALL || m->kind == TSL__CAPTURE_MARKUP;
  tsl__parser_report_text(p, p->open.n ? to : tsl__gaps_before(p, to, calls));
  p->reported_to = n->at;
  if (!tsl__vec_push(&p->alloc, &p->open, n->capture)) tsl__parser_failed(p, TSL_ERR_NO_MEMORY);
  if (m->kind == TSL__CAPTURE_CALL)
    p->calls++, report(p, TSL_PART_CALL, m->name, m->name_length, false);
  if (m->kind == TSL__CAPTURE_ID && m->name) report(p, TSL_PART_ID, m->name, m->name_length, false);
  if (m->kind == TSL__CAPTURE_TAG) report(p, TSL_PART_TAG, m->name, m->name_length, false);
  if (m->kind == TSL__CAPTURE_MEMBERS)
    p->in_members++, p->members = 0, report(p, TSL_PART_ARGUMENTS, "{", 1, false);
  if (m->kind == TSL__CAPTURE_KEY) {
    p->key.n = 0;
    if (m->name) tsl__parser_put(p, &p->key, m->name, m->name_length);
  }
  if (m->kind >= TSL__CAPTURE_VALUE) report_key(p, m);
  if (m->kind == TSL__CAPTURE_OBJECT || m->kind == TSL__CAPTURE_ARRAY)
    p->members = 0,
    report(p, TSL_PART_ARGUMENTS, m->kind == TSL__CAPTURE_OBJECT ? "{" : "[", 1, false);
  if (m->kind >= TSL__CAPTURE_TRUE)
    report(p, TSL_PART_ARGUMENTS, words[m->kind - TSL__CAPTURE_TRUE],
           strlen(words[m->kind - TSL__CAPTURE_TRUE]), false);
}

static void report_end(tsl_parser *p, const note *n) {
  const tsl__capture *m = tsl__parser_capture_at(p, n->capture);
  uint32_t end = 0;
  if (m->kind >= TSL__CAPTURE_KEY && !p->in_members) return;
  for (uint32_t i = 0; i < m->end_count; i++) {
    const tsl__string e = m->ends[i];
    if (e.length > end && n->at >= p->reported_to + e.length &&
        !memcmp(p->text.at + n->at - e.length, e.at, e.length))
      end = e.length;
  }
  tsl__parser_report_text(p, n->at - end);
  /* of captures in a grammar, the end is text of what is around it */
  p->reported_to = p->tagged->whole ? n->at - end : n->at;
  if (p->open.n) p->open.n--;
  if (!p->open.n && (m->kind == TSL__CAPTURE_REASONING || m->kind == TSL__CAPTURE_CALL ||
                     m->kind == TSL__CAPTURE_MARKUP)) {
    p->behind = p->calls ? TSL__BEHIND_CALL : TSL__BEHIND_THINKING;
    p->behind_at = n->at;
  }
  if (m->kind == TSL__CAPTURE_CALL) report(p, TSL_PART_CALL_END, "", 0, false);
  if (m->kind == TSL__CAPTURE_TAG) report(p, TSL_PART_TAG_END, "", 0, false);
  if (m->kind == TSL__CAPTURE_MEMBERS)
    p->in_members--, report(p, TSL_PART_ARGUMENTS, "}", 1, false);
  if (m->kind == TSL__CAPTURE_BARE) report(p, TSL_PART_ARGUMENTS, "\"", 1, false);
  if (m->kind == TSL__CAPTURE_OBJECT || m->kind == TSL__CAPTURE_ARRAY)
    p->members = 1,
    report(p, TSL_PART_ARGUMENTS, m->kind == TSL__CAPTURE_OBJECT ? "}" : "]", 1, false);
}

/* Notes after `reported` up to `last`, in their order. */
void tsl__parser_report_notes(tsl_parser *p, uint32_t last) {
  uint32_t count = 0, at = last;
  for (; at != p->reported; at = p->notes.at[at - 1].before) count++;
  uint32_t *list = tsl__alloc(&p->alloc, (count + 1) * sizeof *list);
  if (!list) {
    tsl__parser_failed(p, TSL_ERR_NO_MEMORY);
    return;
  }
  for (uint32_t i = count, k = last; i-- > 0; k = p->notes.at[k - 1].before) list[i] = k;
  for (uint32_t i = 0; i < count; i++) {
    const note n = p->notes.at[list[i] - 1];
    if (n.begin)
      report_begin(p, &n);
    else
      report_end(p, &n);
  }
  tsl__free(&p->alloc, list, (count + 1) * sizeof *list);
  p->reported = last;
}

/* ---- reporting: how far ---------------------------------------------------------------------- */

/* Where the first note after `last` begins to count, of all threads. */
static size_t first_open(const tsl_parser *p, uint32_t last) {
  size_t to = p->text.n;
  for (size_t i = 0; i < p->now.n; i++) {
    const note *first = NULL;
    for (uint32_t n = p->now.at[i].notes; n != last; n = first->before) first = &p->notes.at[n - 1];
    if (!first) continue;
    const tsl__capture *m = tsl__parser_capture_at(p, first->capture);
    size_t back = first->begin ? m->back : 0, at;
    for (uint32_t k = 0; !first->begin && k < m->end_count; k++)
      if (m->ends[k].length > back) back = m->ends[k].length;
    at = first->at > back ? first->at - back : 0;
    if (at < to) to = at;
  }
  return to;
}

/* Not into what may be the beginning of a tag's begin or end. */
static size_t not_held(const tsl_parser *p, size_t to) {
  const tsl__tagged *t = p->tagged;
  size_t from = to > t->held_longest ? to - t->held_longest : 0;
  for (size_t k = from > p->reported_to ? from : p->reported_to; k < to; k++) {
    if (!tsl__bytes_has(&t->held_first, (uint8_t)p->text.at[k])) continue;
    for (uint32_t i = 0; i < t->held_count; i++)
      if (to - k <= t->held[i].length && !memcmp(p->text.at + k, t->held[i].at, to - k)) return k;
  }
  return to;
}

static size_t whole_characters(const tsl_parser *p, size_t to) {
  for (size_t k = 1; k <= 3 && k <= to - p->reported_to; k++) {
    uint8_t c = (uint8_t)p->text.at[to - k];
    if (c < 0x80) return to;
    if (c >= 0xC0) return (c >= 0xF0 ? 4u : c >= 0xE0 ? 3u : 2u) > k ? to - k : to;
  }
  return to;
}

void tsl__parser_report_all(tsl_parser *p) {
  uint32_t last = p->now.n ? p->now.at[0].notes : p->reported;
  for (size_t i = 1; i < p->now.n; i++) last = tsl__parser_common(p, last, p->now.at[i].notes);
  tsl__parser_report_notes(p, last);
  size_t to = first_open(p, last);
  if (to > p->reported_to) to = not_held(p, to);
  if (to > p->reported_to) to = whole_characters(p, to);
  if (to > p->reported_to && !p->open.n) to = tsl__gaps_wait(p, to);
  if (to > p->reported_to) tsl__parser_report_text(p, to);
}

/* ---- the whole as JSON ----------------------------------------------------------------------- */

static void put_string(tsl_parser *p, const char *text) {
  tsl__parser_put(p, &p->json, text, strlen(text));
}

/* All parts of a kind, as one string. */
static void put_parts(tsl_parser *p, tsl_part_kind kind) {
  put_string(p, "\"");
  for (size_t i = 0; i < p->parts.n; i++)
    if (p->parts.at[i].kind == kind)
      tsl__parser_put_escaped(p, &p->json, p->parts_text.at + p->parts.at[i].from,
                              p->parts.at[i].length);
  put_string(p, "\"");
}

/* The first part of a call, + 1. */
static size_t first_of(const tsl_parser *p, uint32_t call) {
  return call < p->call_parts.n ? p->call_parts.at[call].first : 0;
}

/* The parts of one call: as string contents, or as they are. */
static bool put_call_parts(tsl_parser *p, uint32_t call, tsl_part_kind kind, bool escape) {
  bool any = false;
  for (size_t i = first_of(p, call); i; i = p->parts.at[i - 1].next) {
    const part *q = &p->parts.at[i - 1];
    if (q->kind != kind) continue;
    any = true;
    if (escape)
      tsl__parser_put_escaped(p, &p->json, p->parts_text.at + q->from, q->length);
    else
      tsl__parser_put(p, &p->json, p->parts_text.at + q->from, q->length);
  }
  return any;
}

static bool has_part(const tsl_parser *p, uint32_t call, tsl_part_kind kind) {
  for (size_t i = first_of(p, call); i; i = p->parts.at[i - 1].next)
    if (p->parts.at[i - 1].kind == kind) return true;
  return false;
}

static bool is_json(tsl_parser *p, const char *text, size_t n) {
  tsl__arena arena;
  tsl__json *root;
  tsl__arena_init(&arena, &p->alloc);
  tsl_status status = tsl__json_parse_in_place(&arena, NULL, text, n, UINT32_MAX, &root, NULL);
  tsl__arena_free(&arena);
  if (status == TSL_ERR_NO_MEMORY) tsl__parser_failed(p, status);
  return status == TSL_OK;
}

/* As they are if they are JSON, with white space as spaces (no other control character stands
 * there): one line. What is not over, or no JSON, as a string. */
static void put_arguments(tsl_parser *p, uint32_t call, bool over) {
  size_t from = p->json.n;
  if (over && !put_call_parts(p, call, TSL_PART_ARGUMENTS, false)) {
    put_string(p, "{}");
    return;
  }
  if (over && p->status == TSL_OK && is_json(p, p->json.at + from, p->json.n - from)) {
    for (size_t i = from; i < p->json.n; i++)
      if ((uint8_t)p->json.at[i] < 0x20) p->json.at[i] = ' ';
    return;
  }
  p->json.n = from;
  put_string(p, "\"");
  put_call_parts(p, call, TSL_PART_ARGUMENTS, true);
  put_string(p, "\"");
}

static void put_call(tsl_parser *p, uint32_t call) {
  char id[24];
  put_string(p, call ? ", {\"id\": \"" : "{\"id\": \"");
  snprintf(id, sizeof id, "call_%u", call);
  if (!put_call_parts(p, call, TSL_PART_ID, true)) put_string(p, id);
  put_string(p, "\", \"name\": \"");
  put_call_parts(p, call, TSL_PART_CALL, true);
  put_string(p, "\", \"arguments\": ");
  bool over = has_part(p, call, TSL_PART_CALL_END);
  put_arguments(p, call, over);
  if (p->cut) put_string(p, ", \"repairs\": []");
  put_string(p, over ? "}" : ", \"incomplete\": true}");
}

/* The text of the tag that begins with this part; without that of tags in it, but for captures. */
static void put_tag_text(tsl_parser *p, size_t begin) {
  for (size_t i = begin + 1, depth = 1; i < p->parts.n && depth; i++) {
    const part *q = &p->parts.at[i];
    if (q->kind == TSL_PART_TAG) depth++;
    if (q->kind == TSL_PART_TAG_END) depth--;
    if (q->kind == TSL_PART_TAG_TEXT && (depth == 1 || p->tagged->whole))
      tsl__parser_put_escaped(p, &p->json, p->parts_text.at + q->from, q->length);
  }
}

/* In the order in which they begin. */
static void put_tags(tsl_parser *p) {
  const char *separator = "";
  for (size_t i = 0; i < p->parts.n; i++) {
    const part *q = &p->parts.at[i];
    if (q->kind == TSL_PART_TAG) {
      put_string(p, separator);
      put_string(p, "{\"begin\": \"");
      tsl__parser_put_escaped(p, &p->json, p->parts_text.at + q->from, q->length);
      put_string(p, "\", \"content\": \"");
      put_tag_text(p, i);
      put_string(p, "\"}");
      separator = ", ";
    }
  }
}

const char *tsl__parser_json_of_parts(tsl_parser *p) {
  if (p->status != TSL_OK) return NULL;
  p->json.n = 0;
  put_string(p, "{\"content\": ");
  put_parts(p, TSL_PART_TEXT);
  put_string(p, ", \"reasoning\": ");
  put_parts(p, TSL_PART_REASONING);
  put_string(p, ", \"calls\": [");
  for (uint32_t i = 0; i < p->calls; i++) put_call(p, i);
  put_string(p, "], \"tags\": [");
  put_tags(p);
  tsl__parser_put(p, &p->json, "]}", 3); /* its NUL too */
  bool fine = p->status == TSL_OK;
  p->status = TSL_OK; /* nothing was read */
  return fine ? p->json.at : NULL;
}

const char *tsl_parser_json(tsl_parser *p) {
  return p->mender ? tsl__mending_json(p) : tsl__parser_json_of_parts(p);
}
