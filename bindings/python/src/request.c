/* request.c - _request and _place: what a request to a server constrains, before a compile.
 *
 * Problem   Grammar.request takes the options of all constructors, a cache and background threads
 *           among them. So the compile has to go through Python's own constructors.
 * Idea      The library finds the constraint and says its kind, text and place. Python calls the
 *           constructor of that kind. An error of that call is moved to its place in the request
 *           by the library again.
 * Example   _request(b'{"guided_choice": ["a", "b"]}') is
 *           (1, b"a|b", "/guided_choice", 18, False, False).
 * Cost      One tuple, and a copy of the text. The interpreter's lock is held.
 * Tested by tests/package/test_package_grammars.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <string.h>

static void keep_source(void *ctx, const tsl_request_source *s) {
  *(PyObject **)ctx =
      Py_BuildValue("(iy#snNN)", (int)s->kind, s->text, (Py_ssize_t)s->length, s->pointer,
                    (Py_ssize_t)s->offset, PyBool_FromLong(s->part), PyBool_FromLong(s->compact));
}

PyObject *core_request(PyObject *module, PyObject *text) {
  PyObject *found = NULL;
  const char *request;
  Py_ssize_t length;
  tsl_error error = {0};
  (void)module;
  if (core_text(text, "a request", &request, &length) < 0) return NULL;
  tsl_status status =
      tsl_request_read(request, (size_t)length, NULL, NULL, keep_source, &found, &error);
  return status == TSL_OK ? found : core_raise(status, &error, "reading a request");
}

/* A text into a field of tsl_error; what does not fit is cut off. */
static void copy_text(char *field, size_t room, const char *text) {
  size_t n = strlen(text);
  if (n >= room) n = room - 1;
  memcpy(field, text, n);
  field[n] = 0;
}

PyObject *core_place(PyObject *module, PyObject *arguments) {
  PyObject *text;
  const char *request, *at, *message, *pointer;
  Py_ssize_t length, value, offset;
  int part;
  unsigned line, column;
  tsl_request_source source = {0};
  tsl_error error = {.status = TSL_ERR_SCHEMA};
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O(snp)(ssnII):_place", &text, &at, &value, &part, &message,
                        &pointer, &offset, &line, &column) ||
      core_text(text, "a request", &request, &length) < 0)
    return NULL;
  source.pointer = at;
  source.offset = (size_t)value;
  source.part = part != 0;
  copy_text(error.message, sizeof error.message, message);
  copy_text(error.pointer, sizeof error.pointer, pointer);
  error.offset = (size_t)offset;
  error.line = line;
  error.column = column;
  tsl_request_place(request, (size_t)length, &source, &error);
  return Py_BuildValue("(ssnII)", error.message, error.pointer, (Py_ssize_t)error.offset,
                       error.line, error.column);
}
