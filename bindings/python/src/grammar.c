/* grammar.c - the type Grammar of the extension. Its public constructors stand in
 * turnstile/grammar.py, what they call in compile.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <string.h>

static int grammar_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((core_grammar *)self)->vocab);
  Py_VISIT(((core_grammar *)self)->cancel);
  return 0;
}

static void grammar_dealloc(PyObject *self) {
  core_grammar *g = (core_grammar *)self;
  PyObject_GC_UnTrack(self);
  tsl_grammar_release(g->grammar);
  Py_XDECREF(g->vocab);
  Py_XDECREF(g->cancel);
  core_free_instance(self);
}

/* ---- asking it ------------------------------------------------------------------------------- */

static tsl_grammar *of(PyObject *self) { return ((core_grammar *)self)->grammar; }

static PyObject *grammar_vocab(PyObject *self, void *unused) {
  (void)unused;
  PyObject *vocab = ((core_grammar *)self)->vocab;
  Py_INCREF(vocab);
  return vocab;
}

static PyObject *grammar_report(PyObject *self, PyObject *unused) {
  (void)unused;
  const char *report = tsl_grammar_report(of(self));
  return report ? PyUnicode_FromString(report) : PyErr_NoMemory();
}

static PyObject *grammar_stats(PyObject *self, PyObject *unused) {
  (void)unused;
  tsl_grammar_stats s;
  tsl_grammar_get_stats(of(self), &s);
  return Py_BuildValue("{s:K,s:I,s:I,s:I,s:I,s:I,s:K}", "memory", (unsigned long long)s.memory,
                       "exprs", s.exprs, "states", s.states, "walks", s.walks, "masks", s.masks,
                       "stacks", s.stacks, "walk_steps", (unsigned long long)s.walk_steps);
}

static PyObject *grammar_repr(PyObject *self) {
  tsl_grammar_stats s;
  tsl_grammar_get_stats(of(self), &s);
  return PyUnicode_FromFormat("<turnstile.Grammar of %R, %u states, %zu bytes>",
                              ((core_grammar *)self)->vocab, s.states, (size_t)s.memory);
}

static void add_line(void *ctx, const char *line) {
  PyObject *text = PyErr_Occurred()
                       ? NULL
                       : PyUnicode_DecodeUTF8(line, (Py_ssize_t)strlen(line), "backslashreplace");
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

static PyObject *grammar_save(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"path", "max_states", "max_walk_steps", NULL};
  PyObject *path;
  unsigned long long steps = 0;
  tsl_artifact_options options = {0};
  tsl_artifact *artifact = NULL;
  tsl_error error = {0};
  tsl_status status;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|O&O&:save", names, PyUnicode_FSConverter,
                                   &path, core_u32, &options.max_states, core_u64, &steps))
    return NULL;
  options.max_walk_steps = steps;
  const char *name = PyBytes_AsString(path);
  Py_BEGIN_ALLOW_THREADS status = tsl_artifact_make(of(self), &options, NULL, &artifact, &error);
  if (status == TSL_OK) status = tsl_artifact_write(artifact, name, &error);
  tsl_artifact_free(artifact);
  Py_END_ALLOW_THREADS Py_DECREF(path);
  if (status != TSL_OK) return core_raise(status, &error, "saving a grammar");
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"_load", (PyCFunction)core_load, METH_VARARGS | METH_CLASS, NULL},
    {"save", (PyCFunction)(void (*)(void))grammar_save, METH_VARARGS | METH_KEYWORDS,
     "save($self, /, path, max_states=0, max_walk_steps=0)\n--\n\nWrite the grammar as an "
     "artifact, for Grammar.load. LimitError or UnsupportedError where its states cannot be listed "
     "(docs/artifacts.md)."},
    {"_compile", (PyCFunction)core_compile, METH_VARARGS | METH_CLASS, NULL},
    {"_start", (PyCFunction)core_start, METH_VARARGS | METH_CLASS, NULL},
    {"_report", grammar_report, METH_NOARGS, NULL},
    {"stats", grammar_stats, METH_NOARGS,
     "stats($self, /)\n--\n\nA dict: memory in bytes, and the number of exprs, states, walks, "
     "masks, stacks and walk_steps so far."},
    {"dump", grammar_dump, METH_NOARGS,
     "dump($self, /)\n--\n\nThe states that were visited so far, with their transitions: a list of "
     "lines, for people."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"vocab", grammar_vocab, NULL, "The vocabulary that it is bound to.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)core_no_new},
    {Py_tp_dealloc, (void *)grammar_dealloc},
    {Py_tp_traverse, (void *)grammar_traverse},
    {Py_tp_repr, (void *)grammar_repr},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {Py_tp_doc, (void *)"The base of turnstile.Grammar."},
    {0, NULL},
};

static PyType_Spec spec = {.name = "turnstile._core.Grammar",
                           .basicsize = sizeof(core_grammar),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                           .slots = slots};

int core_grammar_init(PyObject *module) {
  core.grammar = core_add_type(module, &spec);
  return core.grammar ? 0 : -1;
}
