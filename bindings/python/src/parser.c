/* parser.c - the type Parser: an answer read back into text, reasoning and calls; and what a
 * request's answer looks like, as a structural tag.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

typedef struct core_parser {
  PyObject_HEAD tsl_parser *parser;
  PyObject *grammar;
} core_parser;

static PyObject *parser_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"grammar", NULL};
  PyObject *grammar;
  tsl_parser *parser = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!:Parser", names, core.grammar, &grammar))
    return NULL;
  tsl_status status = tsl_parser_new(((core_grammar *)grammar)->grammar, NULL, &parser);
  if (status != TSL_OK)
    return core_raise(status, NULL, "a parser is for grammars of Grammar.tags and Grammar.tools");
  core_parser *self = (core_parser *)PyType_GenericAlloc(type, 0);
  if (!self) return tsl_parser_free(parser), NULL;
  self->parser = parser;
  Py_INCREF(grammar);
  self->grammar = grammar;
  return (PyObject *)self;
}

static int parser_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((core_parser *)self)->grammar);
  return 0;
}

static void parser_dealloc(PyObject *object) {
  core_parser *self = (core_parser *)object;
  PyObject_GC_UnTrack(object);
  tsl_parser_free(self->parser);
  Py_XDECREF(self->grammar);
  core_free_instance(object);
}

/* True, or False where the grammar does not allow it. */
static PyObject *answer(tsl_status status) {
  if (status == TSL_OK) Py_RETURN_TRUE;
  if (status == TSL_REJECTED) Py_RETURN_FALSE;
  return core_raise(status, NULL, "parser");
}

static PyObject *parser_text(PyObject *self, PyObject *text) {
  const char *bytes;
  Py_ssize_t length;
  if (core_text(text, "the text", &bytes, &length) < 0) return NULL;
  return answer(tsl_parser_text(((core_parser *)self)->parser, bytes, (size_t)length));
}

static PyObject *parser_token(PyObject *self, PyObject *value) {
  tsl_token token;
  if (core_token(value, &token) < 0) return NULL;
  return answer(tsl_parser_token(((core_parser *)self)->parser, token));
}

static PyObject *parser_finish(PyObject *self, PyObject *unused) {
  (void)unused;
  return answer(tsl_parser_finish(((core_parser *)self)->parser));
}

static PyObject *parser_parts(PyObject *self, PyObject *unused) {
  static const char *const kinds[] = {"text",     "reasoning", "call",     "id",     "arguments",
                                      "call_end", "tag",       "tag_text", "tag_end"};
  PyObject *list = PyList_New(0);
  tsl_part part;
  (void)unused;
  while (list && tsl_parser_next(((core_parser *)self)->parser, &part)) {
    PyObject *one = Py_BuildValue("sIs#", kinds[part.kind], (unsigned int)part.call,
                                  part.length ? part.text : "", (Py_ssize_t)part.length);
    if (!one || PyList_Append(list, one) < 0) Py_CLEAR(list);
    Py_XDECREF(one);
  }
  return list;
}

static PyObject *parser_json(PyObject *self, PyObject *unused) {
  (void)unused;
  const char *json = tsl_parser_json(((core_parser *)self)->parser);
  return json ? PyUnicode_FromString(json) : PyErr_NoMemory();
}

static PyObject *parser_reset(PyObject *self, PyObject *unused) {
  (void)unused;
  tsl_parser_reset(((core_parser *)self)->parser);
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"text", parser_text, METH_O,
     "text($self, text, /)\n--\n\nRead on, str or bytes of any length. False and no change if the "
     "grammar does not allow it."},
    {"token", parser_token, METH_O,
     "token($self, token, /)\n--\n\nRead a token on. False and no change if the grammar does not "
     "allow it."},
    {"finish", parser_finish, METH_NOARGS,
     "finish($self, /)\n--\n\nThe text is over. False if it is not complete; what is known so far "
     "stays available."},
    {"parts", parser_parts, METH_NOARGS,
     "parts($self, /)\n--\n\nThe parts that became certain since the last time: a list of (kind, "
     "call, text).\n\n"
     "`kind` is text, reasoning, call (text: the tool's name), id, arguments (a piece of JSON, "
     "whatever the format), call_end, tag (text: its begin), tag_text or\n"
     "tag_end; `call` is 0 for the first call. Text that may be the beginning of a tag is held "
     "back until it is known."},
    {"json", parser_json, METH_NOARGS,
     "json($self, /)\n--\n\nAll parts so far, read or not, as JSON text: {\"content\", "
     "\"reasoning\", \"calls\": [{\"id\", \"name\", \"arguments\"}], \"tags\"}; a call that is not "
     "over has\n"
     "\"incomplete\": true."},
    {"reset", parser_reset, METH_NOARGS, "reset($self, /)\n--\n\nBack to the beginning of a text."},
    {NULL, NULL, 0, NULL},
};

static PyObject *parser_repr(PyObject *self) {
  return PyUnicode_FromFormat("<turnstile.Parser of %R>", ((core_parser *)self)->grammar);
}

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)parser_new},
    {Py_tp_dealloc, (void *)parser_dealloc},
    {Py_tp_traverse, (void *)parser_traverse},
    {Py_tp_repr, (void *)parser_repr},
    {Py_tp_methods, methods},
    {Py_tp_doc, (void *)"Parser(grammar)\n--\n\nReads an answer back, by the states of its own "
                        "grammar (of Grammar.tags or Grammar.tools): text or tokens in, parts out "
                        "as soon as they are certain."},
    {0, NULL},
};

static PyType_Spec spec = {.name = "turnstile._core.Parser",
                           .basicsize = sizeof(core_parser),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                           .slots = slots};

int core_parser_init(PyObject *module) {
  core.parser = core_add_type(module, &spec);
  return core.parser ? 0 : -1;
}
