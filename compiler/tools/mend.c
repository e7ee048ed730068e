/* mend.c - an answer that nobody constrained, read for what it means.
 *
 * Problem   A model that writes freely forgets a bracket, a quote, a closing tag. A grammar refuses
 *           the whole, and what the model meant is lost.
 * Idea      The markup of a preset is looked for in the text (mend_plan.c lists it). Where a call
 *           begins, its name and arguments are read by readers that mend (mend_calls.c). Everything
 *           else is text, or thinking. Each repair is noted with its place.
 * Example   of `<tool_call>{'name': 'f', 'arguments': {'n': 3,}}`: f {"n": 3}, with the repairs
 *           "quotes" and "comma" of the call, and "end" of the answer.
 * Exact     What the grammar allows is read by the grammar (compiler/tags/mending.c). This reader
 *           has the last word there only if it finds a call that the grammar read as text. That is
 *           markup with a tool of the request behind it, or an answer that is a call and nothing
 *           else.
 * Tags      Small models write < tool_call >, <TOOL_CALL> and <|tool_call|> for the tags that they
 *           were shown. So tags are compared without case, with blanks where a reader would see
 *           none, and with the two special characters of DeepSeek as ASCII.
 * Bare      Where no call was found a second pass takes JSON with the name of a tool for a call.
 * Kept      Every byte of the answer is in a part, or is markup that a repair or the preset names.
 *           What is not understood is text, and never lost.
 * Steps     The text is read place by place. Where a text of the plan begins, its sign decides: a
 *           start of calls goes to mend_calls.c, thinking opens or closes, markup is passed over.
 *           All other bytes are text. A start behind which there is no call is text as well.
 * Cost      Linear in the text. Readings that come to nothing count the bytes that they looked at.
 *           After 64 times the text (and 1 MiB) no more calls are looked for: the rest is text.
 * Tested by tests/programs/test_lenient.py, fuzz/fuzz_tags.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/tools/mend.h"

#include <stdio.h>

#define NOTES_MAX 64u /* of a call, and of what is no call */

static const char *const repair_names[TSL__REPAIRS] = {"spelling",
                                                       "word",
                                                       "quotes",
                                                       "string",
                                                       "comma",
                                                       "colon",
                                                       "number",
                                                       "bracket",
                                                       "comment",
                                                       "encoded",
                                                       "type",
                                                       "member",
                                                       "name",
                                                       "id",
                                                       "position",
                                                       "begin",
                                                       "end",
                                                       "fence",
                                                       "markup",
                                                       "style",
                                                       "thinking",
                                                       "unknown_tool",
                                                       "unknown_argument",
                                                       "missing_argument",
                                                       "wrong_argument"};

/* ---- notes ----------------------------------------------------------------------------------- */

static void add_note(tsl__mend *m, tsl__notes *to, tsl__repair repair, uint32_t at,
                     tsl__string text) {
  tsl__note fresh = {repair, at, text};
  if (to->n >= NOTES_MAX) return;
  for (size_t i = 0; i < to->n; i++) /* the first of each kind */
    if (to->at[i].repair == repair && tsl__string_equal(to->at[i].text, text)) return;
  if (!tsl__vec_push(m->alloc, to, fresh)) m->status = TSL_ERR_NO_MEMORY;
}

void tsl__mend_note(tsl__mend *m, tsl__repair repair, uint32_t at) {
  add_note(m, &m->notes, repair, at, TSL__NO_TEXT);
}

void tsl__mend_note_name(tsl__mend *m, tsl__repair repair, uint32_t at, tsl__string name) {
  add_note(m, &m->notes, repair, at, name);
}

void tsl__mend_note_answer(tsl__mend *m, tsl__repair repair, uint32_t at) {
  add_note(m, &m->outer, repair, at, TSL__NO_TEXT);
}

void tsl__mend_notes_of(tsl__mend *m, const tsl__mend_json *l, uint32_t from) {
  for (uint32_t i = 0; i < TSL__REPAIRS; i++)
    if (l->found >> i & 1u) tsl__mend_note(m, (tsl__repair)i, from + l->first[i]);
}

/* A copy in the arena; the buffer is freed. */
static tsl__string keep(tsl__mend *m, tsl__out *o) {
  char *copy = o->failed ? NULL : tsl__arena_copy(m->arena, o->text.at, o->text.n);
  tsl__string out = {copy ? copy : "", copy ? (uint32_t)o->text.n : 0};
  if (!copy) m->status = TSL_ERR_NO_MEMORY;
  tsl__vec_free(m->alloc, &o->text);
  return out;
}

static tsl__string written_notes(tsl__mend *m, const tsl__notes *notes) {
  tsl__out o = {.alloc = m->alloc};
  for (size_t i = 0; i < notes->n; i++) {
    const tsl__note n = notes->at[i];
    char at[32];
    snprintf(at, sizeof at, "\", \"at\": %u", n.at);
    tsl__out_string(&o, i ? ", {\"repair\": \"" : "{\"repair\": \"");
    tsl__out_string(&o, repair_names[n.repair]);
    tsl__out_string(&o, at);
    if (n.repair >= TSL__REPAIR_UNKNOWN_TOOL) {
      tsl__out_string(&o, ", \"text\": ");
      tsl__out_quoted(&o, n.text.at, n.text.length);
    }
    tsl__out_string(&o, "}");
  }
  return keep(m, &o);
}

void tsl__mend_add(tsl__mend *m, tsl__string name, tsl__string id, tsl__json *arguments) {
  if (!arguments || m->status != TSL_OK) return;
  tsl__out o = {.alloc = m->alloc};
  tsl__out_json(&o, arguments);
  tsl__mended_call call = {name, id, keep(m, &o), written_notes(m, &m->notes)};
  m->notes.n = 0;
  if (!tsl__vec_push(m->alloc, &m->calls, call)) m->status = TSL_ERR_NO_MEMORY;
}

tsl__json *tsl__mend_value_of(tsl__mend *m, tsl__string text, tsl__mend_json *l) {
  *l = (tsl__mend_json){
      .alloc = m->alloc, .arena = m->arena, .text = text.at, .stop = text.length, .last = true};
  tsl__json *value = tsl__mend_json_value(l);
  if (l->status != TSL_OK) m->status = l->status;
  return value;
}

tsl__json *tsl__mend_new_object(tsl__mend *m) {
  tsl__json *out = tsl__arena_alloc(m->arena, sizeof *out);
  if (!out) return m->status = TSL_ERR_NO_MEMORY, NULL;
  *out = (tsl__json){.kind = TSL__JSON_OBJECT};
  return out;
}

tsl__json *tsl__mend_collect(tsl__mend *m, tsl__mend_values *from, uint32_t kind, tsl__json *out) {
  out->kind = kind & 7u;
  out->length = (uint32_t)from->n;
  out->items = from->n ? tsl__arena_copy(m->arena, from->at, from->n * sizeof *from->at) : NULL;
  if (from->n && !out->items) m->status = TSL_ERR_NO_MEMORY, out->length = 0;
  tsl__vec_free(m->alloc, from);
  return out;
}

/* ---- markup ---------------------------------------------------------------------------------- */

uint32_t tsl__mend_space(const tsl__mend *m, uint32_t at) {
  while (at < m->length && tsl__mend_is_space(m->text[at])) at++;
  return at;
}

/* A character of a tag as it is compared: without case, and DeepSeek's \uFF5C and \u2581 as | and
 * _. Those that HTML or Markdown escape are themselves: &lt; and \_. Its bytes. */
static uint32_t folded(const char *text, size_t n, char *out) {
  static const char bar[] = "\xEF\xBD\x9C", low[] = "\xE2\x96\x81";
  if (n >= 4 && (!memcmp(text, "&lt;", 4) || !memcmp(text, "&gt;", 4)))
    return *out = text[1] == 'l' ? '<' : '>', 4;
  if (n >= 2 && text[0] == '\\' && text[1] && strchr("<>_|", text[1])) return *out = text[1], 2;
  *out = text[0] >= 'A' && text[0] <= 'Z' ? (char)(text[0] | 32) : text[0];
  if (n < 3 || ((uint8_t)*out != 0xEF && (uint8_t)*out != 0xE2)) return 1;
  bool is_bar = !memcmp(text, bar, 3);
  if (!is_bar && memcmp(text, low, 3)) return 1;
  *out = is_bar ? '|' : '_';
  return 3;
}

/* May blanks stand there, which the tag does not have: behind < and </, or around =, or in front of
 * > ? */
static bool may_be_blank(tsl__string tag, uint32_t i) {
  char before = i ? tag.at[i - 1] : 0, c = tag.at[i];
  return before == '<' || before == '=' || c == '=' || c == '>' ||
         (before == '/' && i > 1 && tag.at[i - 2] == '<');
}

/* Does {name} stand there in a pattern? It is any name. */
static bool is_name(tsl__string pattern, uint32_t i) {
  return pattern.length - i >= 6 && !memcmp(pattern.at + i, "{name}", 6);
}

uint32_t tsl__mend_match(const tsl__mend *m, uint32_t at, tsl__string pattern) {
  bool tag = pattern.length && pattern.at[0] == '<';
  uint32_t i = 0;
  while (i < pattern.length) {
    if (is_name(pattern, i)) {
      tsl__string name;
      at = tsl__mend_read_name(m, at, 0, &name);
      if (!name.length) return 0;
      i += 6;
    } else if (i && pattern.at[i] == '<' && pattern.at[i - 1] == '>') {
      at = tsl__mend_space(m, at);
    }
    if (i == pattern.length) break;
    if (tsl__mend_is_space(pattern.at[i])) {
      while (i < pattern.length && tsl__mend_is_space(pattern.at[i])) i++;
      at = tsl__mend_space(m, at);
      continue;
    }
    if (tag && at < m->length && m->text[at] == ' ' && may_be_blank(pattern, i)) {
      at++;
      continue;
    }
    char here, wanted;
    uint32_t step = at < m->length ? folded(m->text + at, m->length - at, &here) : 0,
             next = folded(pattern.at + i, pattern.length - i, &wanted);
    if (step && tag && wanted == '_' && here == ' ') here = '_'; /* <|tool call|> */
    if (!step || (tag ? here != wanted : m->text[at] != pattern.at[i])) return 0;
    at += tag ? step : 1;
    i += tag ? next : 1;
  }
  return pattern.length ? at : 0;
}

const tsl__mend_text *tsl__mend_markup(const tsl__mend *m, uint32_t at, uint32_t *to) {
  const tsl__mend_plan *p = m->plan;
  if (at >= m->length || !tsl__bytes_has(&p->first, (uint8_t)m->text[at])) return NULL;
  for (uint32_t i = 0; i < p->text_count; i++)
    if ((!p->texts[i].first || m->first) && (*to = tsl__mend_match(m, at, p->texts[i].text)))
      return &p->texts[i];
  return NULL;
}

/* {"name" */
static bool envelope_here(const tsl__mend *m, uint32_t at) {
  static const tsl__string begins[] = {
      {"{ \"name\"", 8}, {"{ \"tool_name\"", 13}, {"{ \"tool_call_id\"", 16}};
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
    if (tsl__mend_match(m, at, begins[i])) return true;
  if (m->plan->name_key.length) return false;
  at = tsl__mend_space(m, at + 1); /* the name is the key */
  for (uint32_t i = 0; at < m->length && m->text[at] == '"' && i < m->plan->tool_count; i++) {
    tsl__string name = m->plan->tools[i].name;
    uint32_t to = tsl__mend_match(m, at + 1, name);
    if (to && to < m->length && m->text[to] == '"') return true;
  }
  return false;
}

uint32_t tsl__mend_bound(const tsl__mend *m, uint32_t at) {
  const tsl__mend_plan *p = m->plan;
  for (uint32_t to; at < m->length; at++) {
    if (m->text[at] == '{' && p->name_key.at && envelope_here(m, at)) return at;
    if (!tsl__bytes_has(&p->first, (uint8_t)m->text[at])) continue;
    const tsl__mend_text *t = tsl__mend_markup(m, at, &to);
    if (t && !t->first) return at;
    for (uint32_t i = 0; i < p->form_count; i++)
      if (p->forms[i].start.length && tsl__mend_match(m, at, p->forms[i].start)) return at;
  }
  return m->length;
}

/* ---- the whole ------------------------------------------------------------------------------- */

typedef struct pass {
  tsl__out content, reasoning;
  bool thinking;             /* text is thinking */
  bool anywhere;             /* calls may stand without markup */
  bool endless;              /* no end of thinking stands further on */
  uint32_t gap_from, gap_to; /* white space behind the last call */
} pass;

static void strip(tsl__out *o) {
  while (o->text.n && tsl__mend_is_space(o->text.at[o->text.n - 1])) o->text.n--;
}

static void put(tsl__mend *m, pass *p, uint32_t from, uint32_t to) {
  tsl__out_put(p->thinking ? &p->reasoning : &p->content, m->text + from, to - from);
}

/* Where the block of thinking ends that goes on at `at`; the end of the text: nowhere. */
static uint32_t thinking_end(const tsl__mend *m, uint32_t at, uint32_t *to) {
  for (; at < m->length; at++) {
    const tsl__mend_text *t = tsl__mend_markup(m, at, to);
    if (t && t->sign == TSL__SIGN_THINK_END) return at;
  }
  return m->length;
}

/* A block of thinking from `at` on: up to its end, or to the first call. */
static uint32_t think(tsl__mend *m, pass *p, uint32_t at) {
  bool look = !m->plan->messages && !p->endless;
  uint32_t to, end = look ? thinking_end(m, at, &to) : m->length;
  p->thinking = true;
  if (end == m->length) {
    p->endless = true;
    if (!m->plan->messages) tsl__mend_note_answer(m, TSL__REPAIR_THINKING, at);
    return at;
  }
  put(m, p, at, end);
  p->thinking = false;
  return tsl__mend_space(m, to);
}

/* Thinking that nothing opened: an end of it without a begin. */
static uint32_t begin_inside(tsl__mend *m, pass *p) {
  uint32_t to, start = tsl__mend_space(m, m->begin), end;
  if (!m->plan->thinking || m->plan->messages) return m->begin;
  const tsl__mend_text *t = tsl__mend_markup(m, start, &to);
  if (t && t->sign == TSL__SIGN_THINK) return start;
  if ((end = thinking_end(m, m->begin, &to)) == m->length) return m->begin;
  for (uint32_t i = m->begin, next; i < end; i++) { /* the end of something else */
    t = tsl__mend_markup(m, i, &next);
    if (t && t->sign != TSL__SIGN_SKIP) return m->begin;
  }
  p->thinking = true;
  put(m, p, m->begin, end);
  p->thinking = false;
  tsl__mend_note_answer(m, TSL__REPAIR_THINKING, 0);
  return tsl__mend_space(m, to);
}

static bool name_byte(char c) {
  return ((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* May a call without markup begin here? */
static bool may_begin(const tsl__mend *m, const pass *p, uint32_t at) {
  char c = m->text[at], before = at > m->begin ? m->text[at - 1] : '\n';
  if (c == '{' || c == '[') return p->anywhere || m->plan->bare_envelope;
  if (c == '<') return p->anywhere;
  bool word = tsl__mend_is_name_byte(c) || c == '*';
  return p->anywhere && word && (before == '\n' || before == '`' || before == '>');
}

/* A code fence with calls in it; the byte behind them, 0: it is another one. */
static uint32_t fenced_calls(tsl__mend *m, uint32_t at) {
  uint32_t i = at + 3, to;
  while (i < m->length && name_byte(m->text[i])) i++;
  i = tsl__mend_space(m, i);
  if (i >= m->length) return 0;
  const tsl__mend_text *t = tsl__mend_markup(m, i, &to);
  bool section = t && t->sign == TSL__SIGN_SECTION;
  to = section ? i : tsl__mend_calls(m, i);
  if (!to) to = tsl__mend_bare(m, i);
  if (!to) return 0;
  tsl__mend_note_answer(m, TSL__REPAIR_FENCE, at);
  m->fenced = true;
  m->open_fence = section;
  return to;
}

/* The end of a fence in front of a section. */
static bool closes_fence(tsl__mend *m, uint32_t at) {
  if (!m->open_fence || !tsl__mend_has(m, at, "```")) return false;
  m->open_fence = false;
  return true;
}

/* Calls at this byte: the byte behind them, 0: there are none. */
static uint32_t calls_here(tsl__mend *m, const pass *p, uint32_t at) {
  uint32_t to = 0;
  char c = m->text[at];
  if (m->work > m->work_max || !m->plan->tool_count) return 0;
  bool word = name_byte(c) && (at == m->begin || !name_byte(m->text[at - 1]));
  bool tried = tsl__bytes_has(&m->plan->first, (uint8_t)c) || m->first ||
               (m->in_section && (c == '{' || c == '[' || word));
  if (tried) to = tsl__mend_calls(m, at);
  tried |= p->anywhere;
  if (!to && c == '`' && tsl__mend_has(m, at, "```")) to = fenced_calls(m, at);
  if (!to && may_begin(m, p, at)) to = tsl__mend_bare(m, at);
  if (!to && tried) m->work += 16 + m->plan->tool_count / 16; /* names were compared */
  return to;
}

/* Behind calls: white space, and a comma or semicolon in front of a further one. */
static uint32_t past_separator(const tsl__mend *m, uint32_t at) {
  at = tsl__mend_space(m, at);
  if (at < m->length && (m->text[at] == ',' || m->text[at] == ';')) {
    uint32_t next = tsl__mend_space(m, at + 1);
    if (next < m->length && strchr("{[<", m->text[next])) return next;
  }
  return at;
}

/* Markup: what it changes; the byte behind it. */
static uint32_t obey(tsl__mend *m, pass *p, const tsl__mend_text *t, uint32_t at, uint32_t to) {
  m->first = t->sign == TSL__SIGN_SEPARATOR;
  switch (t->sign) {
  case TSL__SIGN_SECTION:
    m->in_section = m->sectioned = true;
    p->thinking = false;
    strip(&p->content);
    return tsl__mend_space(m, to);
  case TSL__SIGN_SECTION_END:
    if (!m->in_section) break;
    m->in_section = false;
    return to;
  case TSL__SIGN_CALL_END: break;
  case TSL__SIGN_THINK:
    if (!m->plan->messages && (p->reasoning.text.n || p->content.text.n))
      tsl__mend_note_answer(m, TSL__REPAIR_THINKING, at);
    return think(m, p, to);
  case TSL__SIGN_THINK_END:
    tsl__mend_note_answer(m, TSL__REPAIR_THINKING, at);
    p->thinking = false;
    return to;
  case TSL__SIGN_TEXT:
  case TSL__SIGN_SEPARATOR:
    p->thinking = false; /* a word in front of a text has a line of its own: all */
    return to + (t->first && to < m->length && m->text[to] == '\n');
  case TSL__SIGN_SKIP: return to;
  }
  tsl__mend_note_answer(m, TSL__REPAIR_MARKUP, at);
  return to;
}

static bool is_tag_byte(char c) { return name_byte(c) || c == '|' || c == ' ' || c == '-'; }

/* A tag at `at` that no format here has: <name>, </name>, <|name|>, [NAME]. The byte behind it; 0:
 * there is none. */
static uint32_t other_tag(const char *text, size_t n, size_t at) {
  bool square = text[at] == '[';
  size_t i = at + 1;
  if (text[at] != '<' && !square) return 0;
  while (i < n && i - at < 64 &&
         (square ? (text[i] >= 'A' && text[i] <= 'Z') || text[i] == '_' || text[i] == '/'
                 : is_tag_byte(text[i]) || text[i] == '/'))
    i++;
  return i < n && i > at + 2 && text[i] == (square ? ']' : '>') ? (uint32_t)i + 1 : 0;
}

/* Does it close something: </name>, [/NAME], or a name with "end" in it? */
static bool closes(const char *tag, size_t n) {
  bool end = memchr(tag, '/', n) != NULL || (n > 5 && !memcmp(tag, "[END_", 5));
  for (size_t i = 1; !end && i + 3 <= n; i++) end = !memcmp(tag + i, "end", 3);
  return end;
}

/* Tags of another format in front of a call that was found without markup; `special`: only those
 * that are spelled as special tokens are. */
static void drop_tags(tsl__mend *m, pass *p, uint32_t at, bool special) {
  for (;;) {
    strip(&p->content);
    size_t n = p->content.text.n, i = n;
    const char *text = p->content.text.at;
    while (i && n - i < 64 && text[i - 1] != '<' && text[i - 1] != '[') i--;
    if (!i || other_tag(text, n, i - 1) != n) return;
    if (special && text[i] != '|' && text[i - 1] != '[') return;
    tsl__mend_note_answer(m, TSL__REPAIR_MARKUP, at);
    p->content.text.n = i - 1;
  }
}

/* The same behind it: such as close something. */
static uint32_t past_tags(tsl__mend *m, uint32_t at, bool special) {
  for (;;) {
    uint32_t next = tsl__mend_space(m, at), to;
    if (next == m->length || !(to = other_tag(m->text, m->length, next)) ||
        !closes(m->text + next, to - next) || (special && m->text[next + 1] != '|'))
      return at;
    tsl__mend_note_answer(m, TSL__REPAIR_MARKUP, next);
    at = to;
  }
}

/* Is <x> in front of the call, and </x> behind it? */
static bool is_wrapped(const tsl__mend *m, const pass *p, uint32_t to) {
  size_t n = p->content.text.n, i = n;
  const char *text = p->content.text.at;
  while (i && n - i < 64 && text[i - 1] != '<') i--;
  to = tsl__mend_space(m, to);
  return i && other_tag(text, n, i - 1) == n && m->length - to >= n - i + 2 &&
         !memcmp(m->text + to, "</", 2) && !memcmp(m->text + to + 2, text + i, n - i);
}

/* The call from `at` to `to` was read; where reading goes on. */
static uint32_t behind_call(tsl__mend *m, pass *p, uint32_t at, uint32_t to) {
  strip(&p->content);
  bool wrapped = p->anywhere || is_wrapped(m, p, to);
  drop_tags(m, p, at, !wrapped);
  to = past_tags(m, to, !wrapped);
  p->thinking = m->first = false;
  tsl__out_put(&p->content, m->said.at, m->said.length);
  m->said_bytes += m->said.length;
  m->said = TSL__NO_TEXT;
  for (p->gap_from = to; p->gap_from > at && tsl__mend_is_space(m->text[p->gap_from - 1]);)
    p->gap_from--;
  return p->gap_to = past_separator(m, to);
}

/* Text goes on behind a call: the words on both sides of it stay apart. */
static void put_gap(tsl__mend *m, pass *p, uint32_t at) {
  if (p->gap_to != at || p->thinking || !p->content.text.n) return;
  for (uint32_t i = p->gap_from; i < at; i++)
    if (tsl__mend_is_space(m->text[i])) put(m, p, i, i + 1);
}

static void read_all(tsl__mend *m, pass *p) {
  uint32_t i = begin_inside(m, p);
  m->first = i == m->begin;
  while (i < m->length && m->status == TSL_OK) {
    uint32_t to = calls_here(m, p, i);
    if (to) {
      i = behind_call(m, p, i, to);
      continue;
    }
    const tsl__mend_text *t = tsl__mend_markup(m, i, &to);
    bool section = t && t->sign == TSL__SIGN_SECTION,
         may_start = !section && tsl__bytes_has(&m->plan->first, (uint8_t)m->text[i]);
    uint32_t alone = may_start ? tsl__mend_lone_start(m, i) : 0;
    if (alone) {
      tsl__mend_note_answer(m, TSL__REPAIR_MARKUP, i);
      i = tsl__mend_space(m, alone);
      strip(&p->content);
      continue;
    }
    if (!t && closes_fence(m, i)) {
      strip(&p->content);
      i += 3;
      continue;
    }
    if (t) {
      i = obey(m, p, t, i, to);
      continue;
    }
    put_gap(m, p, i);
    put(m, p, i, i + 1);
    m->first &= tsl__mend_is_space(m->text[i]);
    i++;
  }
}

/* Nothing, or what looks like markup: <tags>, fences. */
static bool only_markup(const tsl__out *o) {
  size_t i = 0, n = o->text.n;
  const char *s = o->text.at;
  while (i < n) {
    size_t from = i;
    if (tsl__mend_is_space(s[i]) || s[i] == '`') i++;
    if (i < n && s[i] == '<') {
      const char *end = memchr(s + i, '>', n - i < 64 ? n - i : 64);
      if (end) i = (size_t)(end - s) + 1;
    }
    if (i == from) return false;
  }
  return true;
}

static void forget(tsl__mend *m, pass *p) {
  tsl__vec_free(m->alloc, &p->content.text);
  tsl__vec_free(m->alloc, &p->reasoning.text);
  m->calls.n = m->notes.n = m->outer.n = m->parted = m->said_bytes = 0;
  m->in_section = m->fenced = m->open_fence = m->sectioned = m->listed = false;
}

/* Once more, with calls that have no markup: of what the grammar allows only such as are all. */
static void read_bare(tsl__mend *m, pass *p) {
  forget(m, p);
  *p = (pass){.content.alloc = m->alloc, .reasoning.alloc = m->alloc, .anywhere = true};
  read_all(m, p);
  if (m->calls.n) tsl__mend_note_answer(m, TSL__REPAIR_BEGIN, 0);
  if (m->refused || only_markup(&p->content) || m->parted == m->calls.n) return;
  if (m->said_bytes && m->said_bytes == p->content.text.n) return;
  m->calls.n = 0;
}

/* What was mended where no reader noted anything. */
static tsl__repair other_repair(const tsl__mend *m, uint32_t refused) {
  const tsl__mend_plan *p = m->plan;
  if (m->refused && tsl__mend_space(m, refused) == m->length) return TSL__REPAIR_END;
  if (m->calls.n && p->has_section && !m->sectioned) return TSL__REPAIR_BEGIN;
  return m->calls.n && p->has_list && !m->listed ? TSL__REPAIR_BRACKET : TSL__REPAIR_SPELLING;
}

static void hand_over(tsl__mend *m, pass *p, uint32_t refused, tsl__mended *out) {
  bool noted = m->outer.n || m->fenced;
  for (size_t i = 0; i < m->calls.n; i++) noted |= m->calls.at[i].repairs.length > 0;
  if (!noted) tsl__mend_note_answer(m, other_repair(m, refused), refused);
  if (m->fenced) tsl__mend_note_answer(m, TSL__REPAIR_FENCE, 0);
  out->content = keep(m, &p->content);
  out->reasoning = keep(m, &p->reasoning);
  out->repairs = written_notes(m, &m->outer);
  out->count = (uint32_t)m->calls.n;
  out->fenced = m->fenced;
  out->calls = tsl__arena_copy(m->arena, m->calls.at, m->calls.n * sizeof *m->calls.at);
  if (!out->calls) m->status = TSL_ERR_NO_MEMORY;
}

tsl_status tsl__mend_read(const void *plan, tsl__arena *arena, tsl__answer answer,
                          tsl__mended *out) {
  tsl__mend m = {.plan = plan,
                 .arena = arena,
                 .alloc = arena->alloc,
                 .text = answer.text,
                 .length = answer.length,
                 .begin = answer.begin,
                 .comments = {.length = answer.length},
                 .refused = answer.refused != TSL__ACCEPTED,
                 .refused_at = answer.refused,
                 .said = TSL__NO_TEXT,
                 .work_max = (uint64_t)answer.length * 64 + (1u << 20)};
  pass p = {.content.alloc = m.alloc, .reasoning.alloc = m.alloc};
  *out = (tsl__mended){.content = TSL__NO_TEXT};
  read_all(&m, &p);
  if (m.status == TSL_OK && !m.calls.n && m.plan->tool_count && (m.refused || !m.plan->content))
    read_bare(&m, &p);
  hand_over(&m, &p, m.refused ? answer.refused : 0, out);
  tsl__vec_free(m.alloc, &m.calls);
  tsl__vec_free(m.alloc, &m.notes);
  tsl__vec_free(m.alloc, &m.outer);
  return m.status;
}
