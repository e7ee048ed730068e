/* mend.h - what the files that read answers of no format share.
 *
 * Words     The option is `lenient`. A lenient reader mends: it reads what the grammar refuses, and
 *           notes each repair.
 * Files     plan       what such a reader needs of a preset and a request: where calls begin, how
 *                      their arguments are written, what is markup (mend_plan.c)
 *           answer     one reading of one answer (mend.c, mend_calls.c, mend_elements.c)
 *           envelopes  calls that are JSON with the name inside (mend_envelopes.c)
 *           names      which tool is meant (mend_names.c)
 *           JSON       as models write it (mend_json.c), and as it is written (mend_write.c)
 *           bare       calls without the markup of their format (mend_bare.c), or with that of
 *                      another (mend_tags.c)
 *           arguments  what fits the schema of a tool (mend_arguments.c)
 *           ends       texts of tokens that end an answer (mend_ends.c)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_TOOLS_MEND_H
#define TSL_COMPILER_TOOLS_MEND_H

#include "compiler/tags/mended.h"
#include "compiler/tools/mend_json.h"
#include "compiler/tools/tools.h"

/* How the arguments of a call are written, and where its name stands. */
typedef enum tsl__mend_kind {
  TSL__MEND_ENVELOPE, /* {"name": ..., "arguments": {...}}: the name is part of the JSON */
  TSL__MEND_JSON,     /* the name, then JSON */
  TSL__MEND_ELEMENTS, /* the name, then an element for each argument */
  TSL__MEND_PYTHON    /* name(key=value) */
} tsl__mend_kind;

/* Elements of a style: <OPEN KEY BETWEEN> VALUE <CLOSE>. */
typedef struct tsl__mend_style {
  const char *name, *open, *between, *inner, *close, *item;
  bool nested;
} tsl__mend_style;

typedef struct tsl__mend_form {
  tsl__mend_kind kind;
  tsl__string start; /* in front of the name, or of the JSON that has it; may be empty */
  tsl__string after; /* what stands behind the name: up to an id, or to the arguments */
  tsl__string then;  /* behind an id */
  tsl__string id_prefix;
  bool has_id, id_first;
  bool attributes;              /* the name is an attribute of a tag */
  bool ends;                    /* something stands behind the arguments */
  bool cut;                     /* the start is a part of the preset's */
  bool named;                   /* the start begins with the name: it does so with a message */
  const tsl__mend_style *style; /* of elements; NULL: none */
  tsl__string quote;            /* stands around strings (of the styles with braces) */
} tsl__mend_form;

/* Markup, and what it says. */
typedef enum tsl__mend_sign {
  TSL__SIGN_SKIP,
  TSL__SIGN_SECTION,     /* calls begin */
  TSL__SIGN_SECTION_END, /* calls are over */
  TSL__SIGN_CALL_END,
  TSL__SIGN_THINK, /* thinking begins */
  TSL__SIGN_THINK_END,
  TSL__SIGN_TEXT,      /* text begins */
  TSL__SIGN_SEPARATOR, /* between messages */
} tsl__mend_sign;

typedef struct tsl__mend_text {
  tsl__string text;
  tsl__mend_sign sign;
  bool first; /* only where a message begins */
  bool part;  /* it is one tag of a text of several */
} tsl__mend_text;

typedef struct tsl__mend_tool {
  tsl__string name;
  const tsl__json *parameters; /* NULL: any object */
} tsl__mend_tool;

typedef struct tsl__mend_plan {
  tsl__arena *arena;
  tsl__mend_form *forms;
  tsl__mend_text *texts; /* longest first */
  tsl__mend_tool *tools;
  uint32_t form_count, text_count, tool_count;
  tsl__bytes first;                    /* first bytes of starts and texts */
  tsl__bytes bare;                     /* first bytes of calls without a start */
  bool thinking;                       /* there may be a block of it */
  bool messages;                       /* the answer is a list of messages */
  bool bare_envelope;                  /* JSON that is a call may stand anywhere */
  bool content;                        /* text is bound to a format */
  bool lists;                          /* calls stand in a section, which may be a list */
  bool ids;                            /* calls have an id beside their name */
  bool has_section;                    /* markup stands in front of all calls */
  bool has_list;                       /* and a bracket behind it */
  bool python;                         /* some form is name(key=value) */
  tsl__string name_key, arguments_key; /* of an envelope */
} tsl__mend_plan;

/* What a plan is made of. */
typedef struct tsl__mend_source {
  const tsl__json *preset;
  const tsl__request *request;
  bool thinking;
} tsl__mend_source;

typedef struct tsl__note {
  tsl__repair repair;
  uint32_t at;
  tsl__string text;
} tsl__note;
typedef TSL__VEC(tsl__note) tsl__notes;

typedef struct tsl__mend {
  const tsl__mend_plan *plan;
  tsl__arena *arena;
  const tsl_allocator *alloc;
  const char *text;
  uint32_t length, begin; /* begin: the byte behind what stands in front of the answer */
  tsl__comment_end comments;
  bool refused, bare;  /* bare: calls without their start count */
  uint32_t refused_at; /* the byte that the grammar refuses */
  bool in_section;
  bool first;              /* a message begins here */
  uint64_t work, work_max; /* bytes looked at by readings that came to nothing */
  TSL__VEC(tsl__mended_call) calls;
  tsl__notes notes; /* of the call under way */
  tsl__notes outer; /* of what is no call */
  bool fenced;
  bool open_fence;   /* a section follows it: it is to be closed */
  bool sectioned;    /* a section began */
  bool listed;       /* calls stand in a list */
  size_t parted;     /* calls in two parts with names: prose has none */
  bool cut;          /* the end cuts a string off, which was read last */
  tsl__string said;  /* content of a message whose calls were read */
  size_t said_bytes; /* of all such messages */
  tsl_status status; /* sticky */
} tsl__mend;

/* ---- mend_plan.c ----------------------------------------------------------------------------- */
/* What reads answers of no format: belongs to the expressions. NULL on failure (t->status). */
const tsl__mender *tsl__mend_plan_new(tsl__tags *t, tsl__exprs *x, const tsl__mend_source *from);

/* ---- mend_ends.c ----------------------------------------------------------------------------- */
/* Texts that end an answer, or stand in front of one, and are no markup of the preset
 * (tsl__mender.ends, .begins). NULL: no memory. */
char *tsl__mend_ends(const tsl__mend_plan *p);
char *tsl__mend_begins(const tsl__mend_plan *p);

/* ---- mend.c ---------------------------------------------------------------------------------- */
/* Note a repair of the call under way, maybe with the name it is about; or of the answer. */
void tsl__mend_note(tsl__mend *m, tsl__repair repair, uint32_t at);
void tsl__mend_note_name(tsl__mend *m, tsl__repair repair, uint32_t at, tsl__string name);
void tsl__mend_note_answer(tsl__mend *m, tsl__repair repair, uint32_t at);
/* The repairs of JSON that begins at `from`. */
void tsl__mend_notes_of(tsl__mend *m, const tsl__mend_json *l, uint32_t from);
/* A text as one value, read by *l. NULL: it is none. */
tsl__json *tsl__mend_value_of(tsl__mend *m, tsl__string text, tsl__mend_json *l);
/* An object without members. NULL: no memory is left. */
tsl__json *tsl__mend_new_object(tsl__mend *m);
/* The values as the children of *out, which becomes an object or array. They are freed. Returns
 * `out`. */
typedef TSL__VEC(tsl__json) tsl__mend_values;
tsl__json *tsl__mend_collect(tsl__mend *m, tsl__mend_values *from, uint32_t kind, tsl__json *out);
tsl_status tsl__mend_read(const void *plan, tsl__arena *arena, tsl__answer answer,
                          tsl__mended *out);
/* Does the pattern stand at `at`, white space aside? The byte behind it; 0: no. */
uint32_t tsl__mend_match(const tsl__mend *m, uint32_t at, tsl__string pattern);
uint32_t tsl__mend_space(const tsl__mend *m, uint32_t at);
/* Markup at that byte, the longest; NULL: there is none. `*to`: the byte behind it. */
const tsl__mend_text *tsl__mend_markup(const tsl__mend *m, uint32_t at, uint32_t *to);
/* The first place from `at` on where markup ends a call, or another call begins. */
uint32_t tsl__mend_bound(const tsl__mend *m, uint32_t at);

/* ---- mend_calls.c ---------------------------------------------------------------------------- */
/* One call or several at `at`: the byte behind them, 0 if there is none. */
uint32_t tsl__mend_calls(tsl__mend *m, uint32_t at);
void tsl__mend_add(tsl__mend *m, tsl__string name, tsl__string id, tsl__json *arguments);

/* The pieces of it. Each returns the byte behind a call, 0: there is none. A form whose start ends
 * at `at`: */
uint32_t tsl__mend_form_at(tsl__mend *m, const tsl__mend_form *f, uint32_t at);
/* f(a=1), several in a row; f and JSON, with an id; f and elements, or JSON in their place. */
uint32_t tsl__mend_python(tsl__mend *m, uint32_t at, tsl__string quote);
uint32_t tsl__mend_named(tsl__mend *m, const tsl__mend_form *f, uint32_t at);
uint32_t tsl__mend_styled(tsl__mend *m, const tsl__mend_form *f, uint32_t at);
typedef tsl__json *(*tsl__loose_reader)(tsl__mend_json *l);
/* The JSON at `at`, NULL: there is none; *to: the byte behind it. What was mended becomes notes of
 * the call. */
tsl__json *tsl__mend_read_json(tsl__mend *m, uint32_t at, tsl__string quote, tsl__loose_reader read,
                               uint32_t *to);

/* ---- mend_envelopes.c ------------------------------------------------------------------------ */
/* An object that is a call: {"name": ..., "arguments": ...}, or with other names of members. */
typedef struct tsl__mend_envelope {
  tsl__string name, id;
  const tsl__json *object;    /* that has the name */
  const tsl__json *arguments; /* NULL: none */
  bool bare;                  /* the members beside the name are the arguments */
  bool wrapped;               /* it stands in a member of another object */
  const char *name_key, *arguments_key;
} tsl__mend_envelope;
/* Does an object describe a call? */
bool tsl__mend_open_envelope(const tsl__mend *m, const tsl__json *object, tsl__mend_envelope *out);
/* Envelopes in a row; the byte behind them, 0: there is none. `opened`: markup stands in front. */
uint32_t tsl__mend_envelopes(tsl__mend *m, uint32_t at, bool opened);

/* ---- mend_bare.c ----------------------------------------------------------------------------- */
/* Calls at `at` without what the format has in front of them. The byte behind them; 0. */
uint32_t tsl__mend_bare(tsl__mend *m, uint32_t at);
/* A call in two parts, each with a name of its own: <name>f</name> and <arguments>, or a line
 * `Action: f` and a line `Action Input: {...}`. The byte behind it; 0: there is none. */
uint32_t tsl__mend_parted(tsl__mend *m, uint32_t at);

/* Does an answer's tag stand alone at `at`, with no call behind it? The byte behind it; 0: no. */
uint32_t tsl__mend_lone_start(const tsl__mend *m, uint32_t at);

/* ---- mend_tags.c ----------------------------------------------------------------------------- */
/* A call that is a tag: <function=f> and its like, <f> and elements, <f city="Paris"/>. The byte
 * behind it; 0: there is none. */
uint32_t tsl__mend_function_tag(tsl__mend *m, uint32_t at);
/* Of these one with attributes that are the arguments. With `more` also <call id="1" name="f">, and
 * what stands behind it. */
uint32_t tsl__mend_attributes(tsl__mend *m, uint32_t at, bool more);

/* ---- mend_names.c ---------------------------------------------------------------------------- */
#define TSL__MEND_NAME_BYTES 256u /* of a name that the request does not have */
/* The tool of exactly that name, or NULL. */
const tsl__mend_tool *tsl__mend_tool_of(const tsl__mend *m, tsl__string name);
/* The tool that a name means, in whatever spelling; NULL: none, or one of several. */
const tsl__mend_tool *tsl__mend_tool_meant(const tsl__mend *m, tsl__string name);
/* Are two names equal but for case, spaces, - and _? */
bool tsl__mend_alike(tsl__string a, tsl__string b);
/* The request's name for it, and the tool. Where the request has none the name stays as it is, and
 * *tool is NULL. */
tsl__string tsl__mend_known_name(tsl__mend *m, tsl__string name, uint32_t at,
                                 const tsl__mend_tool **tool);
/* The name at `at`: the longest of the request's, or what looks like one. The byte behind it. */
uint32_t tsl__mend_read_name(const tsl__mend *m, uint32_t at, char stop, tsl__string *out);

/* The name of a tool of the request at `at`; the byte behind it, 0: there is none. */
uint32_t tsl__mend_known(const tsl__mend *m, uint32_t at, tsl__string *name);

/* ---- mend_elements.c ------------------------------------------------------------------------- */
/* The arguments from `at` on, as an object; *to: the byte behind them. */
tsl__json *tsl__mend_elements(tsl__mend *m, const tsl__mend_style *style,
                              const tsl__mend_tool *tool, uint32_t at, uint32_t *to);
/* The same of elements of any style, or with the names of the tool's properties. NULL: there is
 * none. */
tsl__json *tsl__mend_other_elements(tsl__mend *m, const tsl__mend_tool *tool, uint32_t at,
                                    uint32_t *to);
const tsl__mend_style *tsl__mend_style_of(tsl__string name);
/* A text with its entities (&quot;) decoded. */
tsl__string tsl__mend_plain(tsl__mend *m, tsl__string text);
/* Lines such as `  city: Paris` or `- city = Paris`, each with a property of the tool, from `at`
 * on. It is what YAML makes of arguments. NULL: there are none (mend_bare.c). */
tsl__json *tsl__mend_properties(tsl__mend *m, const tsl__mend_tool *tool, uint32_t at,
                                uint32_t *to);

/* ---- mend_arguments.c ------------------------------------------------------------------------ */
/* Kinds of values that a schema allows: a bit for each TSL__JSON_ kind; 0: not known. */
uint32_t tsl__mend_kinds(const tsl__json *root, const tsl__json *schema);
/* The schema of a member; NULL: it is not known. */
const tsl__json *tsl__mend_property(const tsl__json *root, const tsl__json *schema,
                                    tsl__string key);
/* The items of an array's schema, or NULL. */
const tsl__json *tsl__mend_items(const tsl__json *root, const tsl__json *schema);
/* What a bare text means where a schema stands. */
void tsl__mend_bare_value(tsl__mend *m, const tsl__json *root, const tsl__json *schema,
                          tsl__string text, uint32_t at, tsl__json *out);
/* Make the arguments fit: decode, name what has only a place, note what is unknown. */
void tsl__mend_fit(tsl__mend *m, const tsl__mend_tool *tool, tsl__json *arguments, uint32_t at);
/* The arguments that a value means, as an object. */
tsl__json *tsl__mend_object(tsl__mend *m, const tsl__mend_tool *tool, const tsl__json *value,
                            uint32_t at);

/* The byte at `at`; 0 behind the end. */
static inline char tsl__mend_byte(const tsl__mend *m, uint32_t at) {
  return at < m->length ? m->text[at] : 0;
}
/* The byte behind spaces and tabs. */
static inline uint32_t tsl__mend_blanks(const tsl__mend *m, uint32_t at) {
  while (tsl__mend_byte(m, at) == ' ' || tsl__mend_byte(m, at) == '\t') at++;
  return at;
}
/* Does that text stand at `at`, as it is? */
static inline bool tsl__mend_has(const tsl__mend *m, uint32_t at, const char *text) {
  const size_t n = strlen(text);
  return m->length - at >= n && !memcmp(m->text + at, text, n);
}
/* tsl__mend_match of a text that a NUL ends. */
static inline uint32_t tsl__mend_word(const tsl__mend *m, uint32_t at, const char *text) {
  return tsl__mend_match(m, at, tsl__string_of(text));
}

static inline tsl__string tsl__mend_trimmed(tsl__string s) {
  while (s.length && tsl__mend_is_space(s.at[0])) s.at++, s.length--;
  while (s.length && tsl__mend_is_space(s.at[s.length - 1])) s.length--;
  return s;
}

/* May a tool's name have it? */
static inline bool tsl__mend_is_name_byte(char c) {
  return ((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         (uint8_t)c >= 0x80;
}

#endif
