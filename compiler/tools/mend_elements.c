/* mend_elements.c - arguments that are written as elements, some of whose tags are missing.
 *
 * Problem   <parameter=city>Paris</parameter> comes as <parameter name="city">Paris, as
 *           <parameter=city> Paris <parameter=days>3, or with the call's end inside.
 * Idea      An element begins with the tag of its style and a key, as `=KEY>` or as an attribute.
 *           Its value goes up to its closing tag. If another element begins before that, or there
 *           is no closing tag, it goes up to that element or to the end of the call.
 * Example   <parameter=city> Paris <parameter=days>3</function>, and the call ends at </function>.
 *           The first head is city. Its value has no closing tag before the next head, so it ends
 *           there: " Paris ". The second head is days. Its value goes up to the call's end: "3".
 *           Both values are trimmed where the style does that, and both get the repair "element".
 * Heads     A head is what opens an element, then `=KEY>` or attributes. name="city" or key=city
 *           give the key; string="true" and type="list" say how the value is meant. A key's
 *           entities (&amp;lt; and its like) are decoded.
 * Kinds     A value is a string or JSON. If the head does not say which, the schema decides
 *           (mend_arguments.c).
 * Guards    MiniCPM's strings may stand in XML's <![CDATA[ and ]]>. A tag between them is text, so
 *           they are looked for before a closing tag is.
 * Nested    Two styles have elements inside of elements. They are followed 64 deep; what lies
 *           deeper is text.
 * Cost      Linear in the text, times the number of unclosed elements in a row.
 * Tested by tests/programs/test_lenient.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/tools/mend.h"

#include <stdio.h>

#define NESTS_MAX 64u

static const tsl__mend_style styles[] = {
    {"qwen_xml", "<parameter", ">", "", "</parameter>", NULL, false},
    {"seed_xml", "<parameter", ">", "", "</parameter>", NULL, false},
    {"step_xml", "<steptml:parameter", ">", "", "</steptml:parameter>", NULL, false},
    {"minimax_xml", "<parameter", ">", "", "</parameter>", NULL, false},
    {"deepseek_xml", "<｜DSML｜parameter", ">", "", "</｜DSML｜parameter>", NULL, false},
    {"deepseek_v4_1_xml", "<｜DSML｜ parameter", ">", "", "</｜DSML｜ parameter>", NULL, false},
    {"glm_xml", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", NULL, false},
    {"glm_xml with names", "<arg_name>", "</arg_name>", "<arg_value>", "</arg_value>", NULL, false},
    {"gigachat_xml", "<｜GCML｜parameter", ">", "", "</｜GCML｜parameter>", NULL, false},
    {"ifm_xml", "<ifm|arg_key>", "</ifm|arg_key>", "<ifm|arg_value>", "</ifm|arg_value>", NULL,
     false},
    {"atem_xml", "<atem:parameter", ">", "", "</atem:parameter>", NULL, false},
    {"glm_xml with keys", "<key>", "</key>", "<value>", "</value>", NULL, false},
    {"qwen_xml with arg", "<arg", ">", "", "</arg>", NULL, false},
    {"qwen_xml with argument", "<argument", ">", "", "</argument>", NULL, false},
    {"qwen_xml with param", "<param", ">", "", "</param>", NULL, false},
    {"minicpm_xml", "<param", ">", "", "</param>", NULL, false},
    {"kimi_k3_xml", "<|open|>argument", "<|sep|>", "", "<|close|>argument<|sep|>", NULL, false},
    {"cohere_xml", "<cofl:value", ">", "", "</cofl:value>", NULL, true},
    {"minimax_m3_xml", "]<]minimax[>[<", ">", "", "]<]minimax[>[</", "item", true},
};

const tsl__mend_style *tsl__mend_style_of(tsl__string name) {
  for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
    if (tsl__string_is(name, styles[i].name)) return &styles[i];
  return NULL;
}

/* The first place of a text, exactly as it is; the end if there is none. */
static uint32_t find(const tsl__mend *m, uint32_t at, const char *text) {
  tsl__string rest = {m->text + at, at < m->length ? m->length - at : 0};
  uint32_t found = tsl__string_find(rest, tsl__string_of(text));
  return found == UINT32_MAX ? m->length : at + found;
}

/* The same in any spelling. */
static uint32_t find_alike(const tsl__mend *m, uint32_t at, const char *text) {
  char first[2] = {text[0], 0};
  for (at = find(m, at, first); at < m->length && !tsl__mend_word(m, at, text);)
    at = find(m, at + 1, first);
  return at;
}

/* ---- heads ----------------------------------------------------------------------------------- */

typedef struct head {
  tsl__string key;
  uint32_t value;  /* where it begins */
  uint8_t type;    /* of the value: one of the following */
  tsl__string tag; /* that stands in front of the value in place of the style's */
} head;
enum { TYPE_OPEN, TYPE_STRING, TYPE_JSON, TYPE_OBJECT, TYPE_ARRAY };

/* An attribute's value at `at`, in quotes or without; the byte behind it. */
static uint32_t attribute(const tsl__mend *m, uint32_t at, uint32_t end, tsl__string *out) {
  char quote = at < end && (m->text[at] == '"' || m->text[at] == '\'') ? m->text[at] : 0;
  uint32_t from = at + (quote != 0), i = from;
  while (i < end && m->text[i] != quote && (quote || !strchr(" \t\r\n", m->text[i]))) i++;
  *out = (tsl__string){m->text + from, i - from};
  return i + (quote && i < end);
}

static uint8_t type_of(tsl__string name, tsl__string value) {
  if (tsl__string_is(name, "string"))
    return tsl__string_is(value, "true") ? TYPE_STRING : TYPE_JSON;
  if (!tsl__string_is(name, "type")) return TYPE_OPEN;
  return tsl__string_is(value, "string") || tsl__string_is(value, "raw") ? TYPE_STRING
         : tsl__string_is(value, "dict")                                 ? TYPE_OBJECT
         : tsl__string_is(value, "list")                                 ? TYPE_ARRAY
                                                                         : TYPE_JSON;
}

/* ` name="city" string="true"` or `=city`. */
static void attributes(const tsl__mend *m, uint32_t at, uint32_t end, head *out) {
  while (at < end) {
    while (at < end && strchr(" \t\r\n", m->text[at])) at++;
    if (at == end) return;
    uint32_t from = at;
    while (at < end && !strchr(" \t\r\n=", m->text[at])) at++;
    tsl__string name = {m->text + from, at - from}, value = {"", 0};
    uint32_t sign = tsl__mend_space(m, at);
    if (sign < end && m->text[sign] == '=')
      at = attribute(m, tsl__mend_space(m, sign + 1), end, &value);
    bool lone = !value.length && !(sign < end && m->text[sign] == '=');
    if (!name.length || tsl__string_is(name, "name") || tsl__string_is(name, "key"))
      out->key = value;
    if (lone && !out->key.length) out->key = name; /* <parameter city> */
    if (type_of(name, value)) out->type = type_of(name, value);
    if (at == from) at++;
  }
}

tsl__string tsl__mend_plain(tsl__mend *m, tsl__string key) {
  static const struct {
    const char *entity;
    char is;
  } all[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
  enum { COUNT = sizeof all / sizeof *all };
  uint32_t n = 0;
  if (!key.length || !memchr(key.at, '&', key.length)) return key;
  char *out = tsl__arena_copy(m->arena, key.at, key.length);
  if (!out) return m->status = TSL_ERR_NO_MEMORY, key;
  for (uint32_t i = 0; i < key.length;) {
    size_t k = 0, length = 0;
    for (; k < COUNT; k++) {
      length = strlen(all[k].entity);
      if (key.length - i >= length && !memcmp(key.at + i, all[k].entity, length)) break;
    }
    out[n++] = k < COUNT ? all[k].is : key.at[i];
    i += k < COUNT ? (uint32_t)length : 1;
  }
  return (tsl__string){out, n};
}

/* A tag of one word at `at`, such as <arg_val>. */
static tsl__string tag_at(const tsl__mend *m, uint32_t at) {
  uint32_t i = at + 1;
  while (i < m->length && tsl__mend_is_name_byte(m->text[i])) i++;
  bool tag =
      at < m->length && m->text[at] == '<' && i > at + 1 && i < m->length && m->text[i] == '>';
  return (tsl__string){m->text + (tag ? at : 0), tag ? i + 1 - at : 0};
}

/* An element that begins at `at`; false: there is none. */
static bool read_head(tsl__mend *m, const tsl__mend_style *style, uint32_t at, head *out) {
  uint32_t from = tsl__mend_word(m, at, style->open), end;
  *out = (head){.type = TYPE_OPEN, .key = {"", 0}};
  if (!from || (style->item && from < m->length && m->text[from] == '/')) return false;
  if (style->inner[0]) { /* <arg_key>city</arg_key><arg_value> */
    for (end = from; end < m->length && !strchr("<\n", m->text[end]); end++) continue;
    out->key = (tsl__string){m->text + from, end - from};
    uint32_t next = tsl__mend_word(m, end, style->between), value;
    if (!next) next = end;
    value = tsl__mend_word(m, tsl__mend_space(m, next), style->inner);
    out->value = value ? value : tsl__mend_space(m, next);
    if (!value) out->tag = tag_at(m, out->value);
    out->value += out->tag.length;
    return true;
  }
  bool word = !style->item && tsl__mend_is_name_byte(m->text[from - 1]);
  if (word && from < m->length && tsl__mend_is_name_byte(m->text[from])) return false;
  end = find(m, from, style->between);
  if (end == m->length || end - from > 4096) return false;
  out->value = end + (uint32_t)strlen(style->between);
  if (style->item)
    out->key = (tsl__string){m->text + from, end - from};
  else
    attributes(m, from, end, out);
  out->key = tsl__mend_plain(m, out->key);
  return true;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Does something that may follow an element stand there? */
static bool goes_on(const tsl__mend *m, const tsl__mend_style *style, uint32_t at) {
  uint32_t to;
  at = tsl__mend_space(m, at);
  return at == m->length || tsl__mend_word(m, at, style->open) || tsl__mend_markup(m, at, &to);
}

#define NAME_MAX_BYTES 128u /* of a property that is a tag */

static const char cdata[] = "<![CDATA[", cdata_end[] = "]]>";

/* A value of minicpm_xml that stands in CDATA: its text, and the byte behind its closing tag. */
static bool in_cdata(const tsl__mend *m, const tsl__mend_style *style, uint32_t at,
                     tsl__string *text, uint32_t *next) {
  uint32_t from =
      strcmp(style->name, "minicpm_xml") ? 0 : tsl__mend_word(m, tsl__mend_space(m, at), cdata);
  uint32_t end = from ? find(m, from, cdata_end) : m->length;
  if (end == m->length) return false;
  uint32_t behind = end + (uint32_t)strlen(cdata_end),
           close = tsl__mend_word(m, tsl__mend_space(m, behind), style->close);
  *text = (tsl__string){m->text + from, end - from};
  *next = close ? close : behind;
  return true;
}

/* The closing tag of the value at `at`. It is the first one with an element or the call's end
 * behind it, as a string may hold the text of the tag. If none is like that, the first one. */
static uint32_t closing_of(tsl__mend *m, const tsl__mend_style *style, uint32_t at) {
  uint32_t first = find(m, at, style->close), n = (uint32_t)strlen(style->close);
  if (style->nested || first == m->length || goes_on(m, style, first + n)) return first;
  uint32_t stop = find_alike(m, first, style->open);
  for (uint32_t i = first, tries = 0; tries < 64; tries++) {
    i = find(m, i + n, style->close);
    if (i >= stop) return first;
    if (!goes_on(m, style, i + n)) continue;
    tsl__mend_note(m, TSL__REPAIR_STRING, first);
    return i;
  }
  return first;
}

/* The end of a value without a tag that closes nothing in it: </city>, </parameter=city>, or the
 * style's own without its slash. */
static uint32_t without_tag(const tsl__mend *m, const tsl__mend_style *style, uint32_t at,
                            uint32_t end) {
  uint32_t tag = end;
  while (tag > at && m->text[tag - 1] != '<') tag--;
  if (tag == at || m->text[end - 1] != '>') return end;
  uint32_t name = tag + (m->text[tag] == '/'), i = name;
  if (name == tag) return tsl__mend_word(m, tag - 1, style->open) ? tag - 1 : end;
  while (i < end && tsl__mend_is_name_byte(m->text[i])) i++;
  for (uint32_t k = at; k + (i - name) + 1 < tag; k++)
    if (m->text[k] == '<' && !memcmp(m->text + k + 1, m->text + name, i - name)) return end;
  return tag - 1;
}

/* Behind a tag at `at` that opens an element, and names none: <parameter> for </parameter>. */
static uint32_t behind_lone(const tsl__mend *m, const tsl__mend_style *style, uint32_t at) {
  uint32_t behind = style->inner[0] ? 0 : tsl__mend_word(m, at, style->open);
  return behind ? tsl__mend_word(m, behind, style->between) : 0;
}

/* Where the value that begins at `at` ends; *next: the byte behind its closing tag. */
static uint32_t value_end(tsl__mend *m, const tsl__mend_style *style, uint32_t at, uint32_t *next) {
  uint32_t close = closing_of(m, style, at), open = find_alike(m, at, style->open);
  uint32_t lone = open < close && !style->nested ? behind_lone(m, style, open) : 0;
  if (lone) {
    tsl__mend_note(m, TSL__REPAIR_END, open);
    *next = lone;
    return open;
  }
  if (!style->nested && close >= open) close = find_alike(m, at, style->close);
  if (close == m->length || open == m->length) m->work += m->length - at;
  if (close < m->length && (open > close || style->nested)) {
    *next = tsl__mend_word(m, close, style->close);
    return close;
  }
  uint32_t end = tsl__mend_bound(m, at);
  if (open < end) end = open;
  tsl__mend_note(m, TSL__REPAIR_END, end);
  *next = end;
  while (end > at && strchr(" \t\r\n", m->text[end - 1])) end--;
  return without_tag(m, style, at, end);
}

/* A value without the line break on each side, in the styles that write one. */
static tsl__string padded(const tsl__mend *m, const tsl__mend_style *style, uint32_t from,
                          uint32_t to) {
  bool pads = !strncmp(style->name, "qwen_xml", 8);
  if (pads && to - from > 1 && m->text[from] == '\r' && m->text[from + 1] == '\n') from++;
  if (pads && from < to && m->text[from] == '\n') from++;
  if (pads && from < to && m->text[to - 1] == '\n') to--;
  if (pads && from < to && m->text[to - 1] == '\r') to--;
  return (tsl__string){m->text + from, to - from};
}

static void typed_value(tsl__mend *m, const tsl__json *root, const tsl__json *schema, uint8_t type,
                        tsl__string text, tsl__json *out) {
  uint32_t at = (uint32_t)(text.at - m->text);
  if (type == TYPE_STRING) {
    out->kind = TSL__JSON_STRING;
    out->text = text.at;
    out->length = text.length;
  } else if (type == TYPE_JSON) {
    tsl__mend_json l;
    tsl__json *value = tsl__mend_value_of(m, text, &l);
    if (value)
      out->kind = value->kind, out->text = value->text, out->length = value->length;
    else
      typed_value(m, root, schema, TYPE_STRING, text, out);
    if (value) tsl__mend_notes_of(m, &l, at);
    if (value && value->kind >= TSL__JSON_ARRAY) out->items = value->items;
  } else {
    tsl__mend_bare_value(m, root, schema, text, at, out);
  }
}

static uint32_t children(tsl__mend *m, const tsl__mend_style *style, const tsl__json *root,
                         const tsl__json *schema, uint32_t at, uint32_t depth, uint8_t type,
                         tsl__json *out);

/* The closing tag at `at`, with the key that it names; 0: there is none. */
static uint32_t closing(const tsl__mend *m, const tsl__mend_style *style, uint32_t at) {
  uint32_t to = tsl__mend_word(m, at, style->close);
  if (!to || !style->item) return to;
  uint32_t end = find(m, to, ">");
  return end < m->length ? end + 1 : m->length;
}

/* The value of an element of a nested style; the byte behind its closing tag. */
static uint32_t nested_value(tsl__mend *m, const tsl__mend_style *style, const tsl__json *root,
                             const tsl__json *schema, head h, uint32_t depth, tsl__json *out) {
  head inner;
  uint32_t kinds = tsl__mend_kinds(root, schema), at = h.value, next;
  bool text = h.type == TYPE_STRING || h.type == TYPE_JSON;
  if (!text && depth < NESTS_MAX &&
      (h.type >= TYPE_OBJECT || read_head(m, style, tsl__mend_space(m, at), &inner))) {
    uint8_t type = h.type ? h.type : (uint8_t)(kinds == 1u << TSL__JSON_ARRAY ? TYPE_ARRAY : 0);
    at = tsl__mend_space(m, children(m, style, root, schema, at, depth + 1, type, out));
    uint32_t to = closing(m, style, at);
    if (!to) tsl__mend_note(m, TSL__REPAIR_END, at);
    return to ? to : at;
  }
  uint32_t end = value_end(m, style, at, &next);
  tsl__string content = padded(m, style, at, end);
  if (style->item && !content.length && kinds && !(kinds >> TSL__JSON_STRING & 1u)) {
    out->kind = kinds >> TSL__JSON_ARRAY & 1u ? TSL__JSON_ARRAY : TSL__JSON_OBJECT;
    out->items = NULL;
    out->length = 0;
  } else {
    typed_value(m, root, schema, h.type, content, out);
  }
  uint32_t to = closing(m, style, end);
  return to ? to : next;
}

/* Elements from `at` on, as an object or an array; the byte behind the last one. */
static uint32_t children(tsl__mend *m, const tsl__mend_style *style, const tsl__json *root,
                         const tsl__json *schema, uint32_t at, uint32_t depth, uint8_t type,
                         tsl__json *out) {
  tsl__mend_values all = {0};
  head h;
  tsl__string text;
  bool items = true;
  uint32_t next, from;
  while (m->status == TSL_OK && m->work <= m->work_max &&
         read_head(m, style, from = tsl__mend_space(m, at), &h)) {
    tsl__json one = {.key = h.key.at, .key_length = h.key.length, .offset = from};
    bool item = style->item ? tsl__string_is(h.key, style->item) : !h.key.length;
    const tsl__json *of = type == TYPE_ARRAY || (item && !type)
                              ? tsl__mend_items(root, schema)
                              : tsl__mend_property(root, schema, h.key);
    items &= item;
    if (style->nested) {
      at = nested_value(m, style, root, of, h, depth, &one);
    } else if (in_cdata(m, style, h.value, &text, &next)) {
      typed_value(m, root, of, TYPE_STRING, text, &one);
      at = next;
    } else {
      uint32_t end = value_end(m, style, h.value, &next);
      typed_value(m, root, of, h.type, padded(m, style, h.value, end), &one);
      at = next;
    }
    if (!tsl__vec_push(m->alloc, &all, one)) m->status = TSL_ERR_NO_MEMORY;
  }
  bool list = type == TYPE_ARRAY || (!type && depth && items && all.n);
  tsl__mend_collect(m, &all, list ? TSL__JSON_ARRAY : TSL__JSON_OBJECT, out);
  return at;
}

tsl__json *tsl__mend_elements(tsl__mend *m, const tsl__mend_style *style,
                              const tsl__mend_tool *tool, uint32_t at, uint32_t *to) {
  const tsl__json *schema = tool ? tool->parameters : NULL;
  tsl__json *out = tsl__mend_new_object(m);
  if (!out) return NULL;
  *to = children(m, style, schema, schema, at, 0, TYPE_OBJECT, out);
  return m->status == TSL_OK ? out : NULL;
}

/* Elements that have the names of the tool's properties, as <city>Paris</city>. NULL: there is
 * none. */
static tsl__json *plain_elements(tsl__mend *m, const tsl__mend_tool *tool, uint32_t at,
                                 uint32_t *to) {
  const tsl__json *schema = tool ? tool->parameters : NULL, *of;
  tsl__mend_values all = {0};
  while (schema && m->status == TSL_OK && m->work <= m->work_max) {
    uint32_t from = tsl__mend_space(m, at), open = tsl__mend_word(m, from, "<"), end;
    char close[NAME_MAX_BYTES + 4];
    if (!open || (end = find(m, open, ">")) - open > NAME_MAX_BYTES || end == m->length) break;
    tsl__string key = {m->text + open, end - open};
    if (!(of = tsl__mend_property(schema, schema, key))) break;
    snprintf(close, sizeof close, "</%.*s>", (int)key.length, key.at);
    uint32_t stop = find(m, end, close);
    m->work += stop - end;
    if (stop == m->length) break;
    tsl__json one = {.key = key.at, .key_length = key.length, .offset = from};
    tsl__mend_bare_value(m, schema, of, (tsl__string){m->text + end + 1, stop - end - 1}, end + 1,
                         &one);
    if (!tsl__vec_push(m->alloc, &all, one)) m->status = TSL_ERR_NO_MEMORY;
    *to = at = stop + (uint32_t)strlen(close);
  }
  tsl__json *out = all.n ? tsl__mend_new_object(m) : NULL;
  if (out) return tsl__mend_collect(m, &all, TSL__JSON_OBJECT, out);
  tsl__vec_free(m->alloc, &all);
  return NULL;
}

/* The style, of all that have flat elements, whose element begins at `at`. It is the one with the
 * longest tag: <param is a beginning of <parameter. NULL: there is none. */
static const tsl__mend_style *style_at(tsl__mend *m, uint32_t at) {
  const tsl__mend_style *best = NULL;
  head h;
  for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
    if (!styles[i].nested && (!best || strlen(styles[i].open) > strlen(best->open)) &&
        read_head(m, &styles[i], at, &h) && h.key.length)
      best = &styles[i];
  return best;
}

tsl__json *tsl__mend_other_elements(tsl__mend *m, const tsl__mend_tool *tool, uint32_t at,
                                    uint32_t *to) {
  const tsl__mend_style *style = style_at(m, tsl__mend_space(m, at));
  return style ? tsl__mend_elements(m, style, tool, at, to) : plain_elements(m, tool, at, to);
}
