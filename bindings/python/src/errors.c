/* errors.c - a status of the library as a Python exception.
 *
 * Which exception a status becomes is decided in turnstile/errors.py, in one table; here it is
 * called with the fields of tsl_error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <string.h>

/* Messages and pointers are UTF-8 that may quote the user's broken text. */
static PyObject *text_of(const char *text) {
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace");
}

PyObject *core_raise(tsl_status status, const tsl_error *error, const char *what) {
  if (status == TSL_ERR_NO_MEMORY) return PyErr_NoMemory();
  if (PyErr_Occurred()) return NULL; /* a callback of the user raised */
  PyObject *message = error && error->message[0]
                          ? text_of(error->message)
                          : PyUnicode_FromFormat("%s: %s", what, tsl_status_name(status));
  PyObject *pointer = text_of(error ? error->pointer : "");
  if (message && pointer) {
    PyObject *exception =
        PyObject_CallFunction(core.errors, "sOOnII", tsl_status_name(status), message, pointer,
                              error ? (Py_ssize_t)error->offset : 0, error ? error->line : 0u,
                              error ? error->column : 0u);
    if (exception) PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_XDECREF(exception);
  }
  Py_XDECREF(message);
  Py_XDECREF(pointer);
  return NULL;
}
