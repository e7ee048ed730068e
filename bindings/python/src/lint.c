/* lint.c - _lint: what in a schema makes models worse, as a list of tuples.
 *
 * Problem   The library hands over findings one by one, in C.
 * Idea      The sink appends a tuple to a list. An exception in the sink is kept until the call
 *           returns; later findings are dropped. turnstile/tools.py makes objects of the tuples.
 * Cost      One tuple for each finding. The interpreter's lock is held: the sink needs it.
 * Tested by tests/package/test_package_grammars.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

typedef struct lint_result {
  PyObject *findings, *mended;
  bool failed;
} lint_result;

static void add_finding(void *ctx, const tsl_lint_finding *f) {
  lint_result *r = ctx;
  if (r->failed) return;
  PyObject *one = Py_BuildValue("(sssssN)", f->rule, f->severity, f->pointer, f->message, f->why,
                                PyBool_FromLong(f->mended));
  r->failed = !one || PyList_Append(r->findings, one) < 0;
  Py_XDECREF(one);
}

static void keep_mended(void *ctx, const char *text) {
  lint_result *r = ctx;
  if (r->failed) return;
  r->mended = PyUnicode_FromString(text);
  r->failed = !r->mended;
}

PyObject *core_lint(PyObject *module, PyObject *arguments) {
  const char *text, *rules;
  Py_ssize_t length;
  int fix, bounds;
  tsl_error error = {0};
  (void)module;
  if (!PyArg_ParseTuple(arguments, "s#spp:_lint", &text, &length, &rules, &fix, &bounds))
    return NULL;
  lint_result r = {.findings = PyList_New(0)};
  if (!r.findings) return NULL;
  const tsl_lint_options options = {rules, fix, bounds};
  tsl_status status =
      tsl_schema_lint(text, (size_t)length, &options, NULL, add_finding, keep_mended, &r, &error);
  PyObject *result = NULL;
  if (status != TSL_OK && !r.failed)
    core_raise(status, &error, "linting a schema");
  else if (!r.failed)
    result = Py_BuildValue("(OO)", r.findings, r.mended ? r.mended : Py_None);
  Py_DECREF(r.findings);
  Py_XDECREF(r.mended);
  return result;
}
