/* events.c - the type Events: the parts of a JSON text while it is written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

typedef struct core_events {
  PyObject_HEAD tsl_events *events;
  PyObject *list; /* what was found in the call at hand; NULL after a failure */
} core_events;

static void take_event(void *ctx, const tsl_event *e) {
  static const char *const kinds[] = {"", "begin", "text", "end"};
  static const char *const values[] = {"",       "object", "array", "string",
                                       "number", "true",   "false", "null"};
  core_events *self = ctx;
  if (!self->list) return;
  PyObject *event = Py_BuildValue("sss#s#", kinds[e->kind], values[e->value], e->pointer,
                                  (Py_ssize_t)e->pointer_length, e->text_length ? e->text : "",
                                  (Py_ssize_t)e->text_length);
  if (!event || PyList_Append(self->list, event) < 0) Py_CLEAR(self->list);
  Py_XDECREF(event);
}

static PyObject *events_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {NULL};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, ":Events", names)) return NULL;
  core_events *self = (core_events *)PyType_GenericAlloc(type, 0);
  if (!self) return NULL;
  tsl_status status = tsl_events_new(take_event, self, NULL, &self->events);
  if (status == TSL_OK) return (PyObject *)self;
  Py_DECREF(self);
  return core_raise(status, NULL, "a reader of events");
}

static void events_dealloc(PyObject *self) {
  tsl_events_free(((core_events *)self)->events);
  core_free_instance(self);
}

/* The list of this call's events, or what went wrong. */
static PyObject *finish(core_events *self, tsl_status status, const tsl_error *error) {
  PyObject *list = self->list;
  self->list = NULL;
  if (!list) return NULL; /* an event could not be made: the exception is set */
  if (status == TSL_OK) return list;
  Py_DECREF(list);
  return core_raise(status, error, "events: a reset is needed after a failure");
}

static PyObject *events_feed(PyObject *object, PyObject *text) {
  core_events *self = (core_events *)object;
  const char *bytes;
  Py_ssize_t length;
  tsl_error error = {0};
  if (core_text(text, "the text", &bytes, &length) < 0 || !(self->list = PyList_New(0)))
    return NULL;
  tsl_status status = tsl_events_feed(self->events, bytes, (size_t)length, &error);
  return finish(self, status, &error);
}

static PyObject *events_end(PyObject *object, PyObject *unused) {
  core_events *self = (core_events *)object;
  tsl_error error = {0};
  (void)unused;
  if (!(self->list = PyList_New(0))) return NULL;
  tsl_status status = tsl_events_end(self->events, &error);
  return finish(self, status, &error);
}

static PyObject *events_reset(PyObject *object, PyObject *unused) {
  (void)unused;
  tsl_events_reset(((core_events *)object)->events);
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"feed", events_feed, METH_O,
     "feed($self, text, /)\n--\n\nRead on, str or bytes of any length: the bytes of each accepted "
     "token. A list of (event, value, pointer, text).\n\n"
     "`event` is begin, text or end; `value` object, array, string, number, true, false or null; "
     "`pointer` the JSON pointer of the value; `text` more of a\n"
     "string (whole characters, decoded), or the spelling of a number that ended. GrammarError if "
     "the text is no JSON."},
    {"end", events_end, METH_NOARGS,
     "end($self, /)\n--\n\nThe text is over: the last events. GrammarError if a value is open."},
    {"reset", events_reset, METH_NOARGS, "reset($self, /)\n--\n\nBack to the beginning of a text."},
    {NULL, NULL, 0, NULL},
};

static PyObject *events_repr(PyObject *self) {
  (void)self;
  return PyUnicode_FromString("<turnstile.Events, reads JSON>");
}

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)events_new},
    {Py_tp_dealloc, (void *)events_dealloc},
    {Py_tp_repr, (void *)events_repr},
    {Py_tp_methods, methods},
    {Py_tp_doc, (void *)"Events()\n--\n\nReads one JSON text in pieces and says when a value "
                        "begins, what more is known of a string, and when a value is whole."},
    {0, NULL},
};

static PyType_Spec spec = {.name = "turnstile._core.Events",
                           .basicsize = sizeof(core_events),
                           .flags = Py_TPFLAGS_DEFAULT,
                           .slots = slots};

int core_events_init(PyObject *module) {
  core.events = core_add_type(module, &spec);
  return core.events ? 0 : -1;
}
