/* grammar.c - the types Grammar and Cancel of the extension. The public constructors of grammars stand in turnstile/grammar.py.
 *
 * Compiling runs without the interpreter's lock; it is taken again for a resolver of the user's. What a resolver returned is kept alive until the
 * compile ends, and an exception that it raised is the one that the compile raises.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <string.h>

/* ---- Cancel ------------------------------------------------------------------------------------------------------ */

static PyObject *cancel_set(PyObject *self, PyObject *unused) {
  (void)unused;
  *(volatile int *)&((core_cancel *)self)->flag = 1;
  Py_RETURN_NONE;
}

static PyObject *cancel_clear(PyObject *self, PyObject *unused) {
  (void)unused;
  *(volatile int *)&((core_cancel *)self)->flag = 0;
  Py_RETURN_NONE;
}

static PyObject *cancel_is_set(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(*(volatile int *)&((core_cancel *)self)->flag);
}

static PyMethodDef cancel_methods[] = {
  {"set", cancel_set, METH_NOARGS, "set($self, /)\n--\n\nEnd compiles and masks that poll this flag with CancelledError. From any thread."},
  {"clear", cancel_clear, METH_NOARGS, "clear($self, /)\n--\n\nLower the flag again."},
  {NULL, NULL, 0, NULL},
};
static PyGetSetDef cancel_getset[] = {{"is_set", cancel_is_set, NULL, "Is the flag up?", NULL}, {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot cancel_slots[] = {
  {Py_tp_dealloc, (void *)core_free_instance},
  {Py_tp_new, (void *)PyType_GenericNew},
  {Py_tp_methods, cancel_methods},
  {Py_tp_getset, cancel_getset},
  {Py_tp_doc, (void *)"Cancel()\n--\n\nA flag that ends compiles from another thread: pass it as `cancel=`, call set()."},
  {0, NULL},
};
static PyType_Spec cancel_spec = {
  .name = "turnstile._core.Cancel", .basicsize = sizeof(core_cancel), .flags = Py_TPFLAGS_DEFAULT, .slots = cancel_slots};

/* ---- compiling --------------------------------------------------------------------------------------------------- */

/* What the three front ends have in common: (vocab, text, limits), limits being (max_memory, max_stacks, max_depth, max_steps, cancel or None). */
typedef struct job {
  core_vocab *vocab;
  const char *text;
  Py_ssize_t length;
  tsl_limits limits;
  PyObject *cancel;
} job;

static int read_job(PyObject *vocab, PyObject *text, PyObject *limits, job *j) {
  unsigned long long memory, steps;
  unsigned int stacks, depth;
  if (!PyObject_TypeCheck(vocab, core.vocab)) return PyErr_SetString(PyExc_TypeError, "the first argument must be a Vocab"), -1;
  if (core_text(text, "the grammar", &j->text, &j->length) < 0) return -1;
  if (!PyArg_ParseTuple(limits, "KIIKO", &memory, &stacks, &depth, &steps, &j->cancel)) return -1;
  if (j->cancel == Py_None) j->cancel = NULL;
  if (j->cancel && !PyObject_TypeCheck(j->cancel, core.cancel)) return PyErr_SetString(PyExc_TypeError, "cancel must be a Cancel"), -1;
  j->vocab = (core_vocab *)vocab;
  j->limits = (tsl_limits){.max_memory = memory, .max_stacks = stacks, .max_depth = depth, .max_steps = steps,
                           .cancel = j->cancel ? &((core_cancel *)j->cancel)->flag : NULL};
  return 0;
}

static PyObject *finish(PyTypeObject *type, const job *j, tsl_status status, const tsl_error *error, tsl_grammar *grammar) {
  if (status != TSL_OK) return core_raise(status, error, "compiling a grammar");
  core_grammar *self = (core_grammar *)PyType_GenericAlloc(type, 0);
  if (!self) {
    tsl_grammar_release(grammar);
    return NULL;
  }
  self->grammar = grammar;
  Py_INCREF(j->vocab);
  self->vocab = (PyObject *)j->vocab;
  Py_XINCREF(j->cancel);
  self->cancel = j->cancel;
  return (PyObject *)self;
}

/* A resolver written in Python: asked with the URI, answers str, bytes or None. */
typedef struct resolving {
  PyObject *callable;
  PyObject *kept; /* a list of what it returned */
} resolving;

static bool answer(resolving *r, const char *uri, const char **text, size_t *length) {
  if (PyErr_Occurred()) return false;
  PyObject *document = PyObject_CallFunction(r->callable, "s", uri);
  Py_ssize_t n = 0;
  bool found = document && document != Py_None && core_text(document, "what a resolver returns", text, &n) == 0 &&
               PyList_Append(r->kept, document) == 0;
  *length = (size_t)n;
  Py_XDECREF(document);
  return found;
}

static bool resolve(void *ctx, const char *uri, const char **text, size_t *length) {
  PyGILState_STATE state = PyGILState_Ensure();
  bool found = answer(ctx, uri, text, length);
  PyGILState_Release(state);
  return found;
}

static PyObject *grammar_json_schema(PyObject *type, PyObject *args) {
  PyObject *vocab, *text, *limits, *callable;
  int order, whitespace, draft, ignore_formats, nullable;
  unsigned int whitespace_max, indent, max_nesting;
  const char *base_uri;
  job j;
  if (!PyArg_ParseTuple(args, "OOOiiIIippIOz", &vocab, &text, &limits, &order, &whitespace, &whitespace_max, &indent, &draft, &ignore_formats, &nullable,
                        &max_nesting, &callable, &base_uri) ||
      read_job(vocab, text, limits, &j) < 0)
    return NULL;
  resolving r = {.callable = callable, .kept = PyList_New(0)};
  if (!r.kept) return NULL;
  tsl_schema_options options = {.order = (tsl_order)order, .whitespace = (tsl_whitespace)whitespace, .whitespace_max = whitespace_max,
                                .indent = indent, .draft = (tsl_draft)draft, .ignore_formats = ignore_formats, .nullable = nullable,
                                .max_nesting = max_nesting, .resolver = callable == Py_None ? NULL : resolve, .resolver_ctx = &r,
                                .base_uri = base_uri};
  tsl_grammar *grammar = NULL;
  tsl_error error = {0};
  tsl_status status;
  Py_BEGIN_ALLOW_THREADS
  status = tsl_grammar_json_schema(j.vocab->vocab, j.text, (size_t)j.length, &options, &j.limits, &grammar, &error);
  Py_END_ALLOW_THREADS
  Py_DECREF(r.kept);
  if (status == TSL_OK && PyErr_Occurred()) {
    tsl_grammar_release(grammar);
    return NULL;
  }
  return finish((PyTypeObject *)type, &j, status, &error, grammar);
}

static PyObject *grammar_regex(PyObject *type, PyObject *args) {
  PyObject *vocab, *text, *limits;
  int insensitive, dot_all, search;
  job j;
  if (!PyArg_ParseTuple(args, "OOOppp", &vocab, &text, &limits, &insensitive, &dot_all, &search) || read_job(vocab, text, limits, &j) < 0) return NULL;
  tsl_regex_options options = {.case_insensitive = insensitive, .dot_all = dot_all, .search = search};
  tsl_grammar *grammar = NULL;
  tsl_error error = {0};
  tsl_status status;
  Py_BEGIN_ALLOW_THREADS
  status = tsl_grammar_regex(j.vocab->vocab, j.text, (size_t)j.length, &options, &j.limits, &grammar, &error);
  Py_END_ALLOW_THREADS
  return finish((PyTypeObject *)type, &j, status, &error, grammar);
}

static PyObject *grammar_gbnf(PyObject *type, PyObject *args) {
  PyObject *vocab, *text, *limits;
  const char *root;
  job j;
  if (!PyArg_ParseTuple(args, "OOOz", &vocab, &text, &limits, &root) || read_job(vocab, text, limits, &j) < 0) return NULL;
  tsl_grammar *grammar = NULL;
  tsl_error error = {0};
  tsl_status status;
  Py_BEGIN_ALLOW_THREADS
  status = tsl_grammar_gbnf(j.vocab->vocab, j.text, (size_t)j.length, root, &j.limits, &grammar, &error);
  Py_END_ALLOW_THREADS
  return finish((PyTypeObject *)type, &j, status, &error, grammar);
}

/* (order, whitespace, whitespace_max, indent): how the JSON inside tags and tool calls is written. */
static int read_style(PyObject *style, tsl_schema_options *options) {
  int order, whitespace;
  if (!PyArg_ParseTuple(style, "iiII", &order, &whitespace, &options->whitespace_max, &options->indent)) return -1;
  options->order = (tsl_order)order;
  options->whitespace = (tsl_whitespace)whitespace;
  return 0;
}

static PyObject *grammar_tags(PyObject *type, PyObject *args) {
  PyObject *vocab, *text, *limits, *style;
  tsl_schema_options options = {0};
  job j;
  if (!PyArg_ParseTuple(args, "OOOO!", &vocab, &text, &limits, &PyTuple_Type, &style) || read_style(style, &options) < 0 ||
      read_job(vocab, text, limits, &j) < 0)
    return NULL;
  tsl_grammar *grammar = NULL;
  tsl_error error = {0};
  tsl_status status;
  Py_BEGIN_ALLOW_THREADS
  status = tsl_grammar_tags(j.vocab->vocab, j.text, (size_t)j.length, &options, &j.limits, &grammar, &error);
  Py_END_ALLOW_THREADS
  return finish((PyTypeObject *)type, &j, status, &error, grammar);
}

static PyObject *grammar_tools(PyObject *type, PyObject *args) {
  PyObject *vocab, *text, *limits, *style;
  tsl_schema_options schema = {0};
  tsl_tools_options options = {.schema = &schema};
  int thinking;
  job j;
  if (!PyArg_ParseTuple(args, "OOOO!szii", &vocab, &text, &limits, &PyTuple_Type, &style, &options.preset, &options.tool_choice, &options.parallel,
                        &thinking) ||
      read_style(style, &schema) < 0 || read_job(vocab, text, limits, &j) < 0)
    return NULL;
  options.thinking = (tsl_thinking)thinking;
  tsl_grammar *grammar = NULL;
  tsl_error error = {0};
  tsl_status status;
  Py_BEGIN_ALLOW_THREADS
  status = tsl_grammar_tools(j.vocab->vocab, j.text, (size_t)j.length, &options, &j.limits, &grammar, &error);
  Py_END_ALLOW_THREADS
  return finish((PyTypeObject *)type, &j, status, &error, grammar);
}

static void grammar_dealloc(PyObject *self) {
  core_grammar *g = (core_grammar *)self;
  tsl_grammar_release(g->grammar);
  Py_XDECREF(g->vocab);
  Py_XDECREF(g->cancel);
  core_free_instance(self);
}

/* ---- asking it --------------------------------------------------------------------------------------------------- */

static tsl_grammar *of(PyObject *self) { return ((core_grammar *)self)->grammar; }

static PyObject *grammar_vocab(PyObject *self, void *unused) {
  (void)unused;
  PyObject *vocab = ((core_grammar *)self)->vocab;
  Py_INCREF(vocab);
  return vocab;
}

static PyObject *grammar_report(PyObject *self, PyObject *unused) {
  (void)unused;
  return PyUnicode_FromString(tsl_grammar_report(of(self)));
}

static PyObject *grammar_stats(PyObject *self, PyObject *unused) {
  (void)unused;
  tsl_grammar_stats s;
  tsl_grammar_get_stats(of(self), &s);
  return Py_BuildValue("{s:K,s:I,s:I,s:I,s:I,s:I,s:K}", "memory", (unsigned long long)s.memory, "exprs", s.exprs, "states", s.states, "walks", s.walks,
                       "masks", s.masks, "stacks", s.stacks, "walk_steps", (unsigned long long)s.walk_steps);
}

static void add_line(void *ctx, const char *line) {
  PyObject *text = PyErr_Occurred() ? NULL : PyUnicode_DecodeUTF8(line, (Py_ssize_t)strlen(line), "backslashreplace");
  if (text) PyList_Append(ctx, text); /* a failure stays set and is seen after the listing */
  Py_XDECREF(text);
}

static PyObject *grammar_dump(PyObject *self, PyObject *unused) {
  (void)unused;
  PyObject *lines = PyList_New(0);
  if (!lines) return NULL;
  tsl_grammar_dump(of(self), add_line, lines);
  if (PyErr_Occurred()) Py_CLEAR(lines);
  return lines;
}

static PyMethodDef methods[] = {
  {"_json_schema", (PyCFunction)grammar_json_schema, METH_VARARGS | METH_CLASS, NULL},
  {"_regex", (PyCFunction)grammar_regex, METH_VARARGS | METH_CLASS, NULL},
  {"_gbnf", (PyCFunction)grammar_gbnf, METH_VARARGS | METH_CLASS, NULL},
  {"_tags", (PyCFunction)grammar_tags, METH_VARARGS | METH_CLASS, NULL},
  {"_tools", (PyCFunction)grammar_tools, METH_VARARGS | METH_CLASS, NULL},
  {"_report", grammar_report, METH_NOARGS, NULL},
  {"stats", grammar_stats, METH_NOARGS,
   "stats($self, /)\n--\n\nA dict: memory in bytes, and the number of exprs, states, walks, masks, stacks and walk_steps so far."},
  {"dump", grammar_dump, METH_NOARGS, "dump($self, /)\n--\n\nThe states that were visited so far, with their transitions: a list of lines, for people."},
  {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {{"vocab", grammar_vocab, NULL, "The vocabulary that it is bound to.", NULL}, {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
  {Py_tp_dealloc, (void *)grammar_dealloc},
  {Py_tp_methods, methods},
  {Py_tp_getset, getset},
  {Py_tp_doc, (void *)"The base of turnstile.Grammar."},
  {0, NULL},
};

static PyType_Spec spec = {
  .name = "turnstile._core.Grammar", .basicsize = sizeof(core_grammar), .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, .slots = slots};

int core_grammar_init(PyObject *module) {
  core.cancel = core_add_type(module, &cancel_spec);
  core.grammar = core_add_type(module, &spec);
  return core.cancel && core.grammar ? 0 : -1;
}
