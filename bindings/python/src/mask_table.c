/* mask_table.c - the type MaskTable: which masks a device has already, and what must be copied
 * there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <string.h>

typedef struct core_mask_table {
  PyObject_HEAD tsl_mask_table
      *table;      /* NULL after a failed call that found no memory for another one */
  PyObject *vocab; /* a core_vocab */
  uint32_t rows, words;
  bool busy; /* in a call that runs without the interpreter's lock */
} core_mask_table;

static core_mask_table *of(PyObject *self) { return (core_mask_table *)self; }

/* An empty table in the place of what there was. */
static tsl_status renew(core_mask_table *t) {
  tsl_mask_table_free(t->table);
  t->table = NULL;
  return tsl_mask_table_new(((core_vocab *)t->vocab)->vocab, t->rows, NULL, &t->table);
}

static PyObject *mask_table_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"vocab", "rows", NULL};
  PyObject *vocab;
  Py_ssize_t rows;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!n:MaskTable", names, core.vocab, &vocab, &rows))
    return NULL;
  if (rows < 1 || rows > TSL_MAX_MASK_ROWS)
    return PyErr_Format(PyExc_ValueError, "a table has 1 to %u rows, not %zd", TSL_MAX_MASK_ROWS,
                        rows),
           NULL;
  core_mask_table *self = (core_mask_table *)PyType_GenericAlloc(type, 0);
  if (!self) return NULL;
  Py_INCREF(vocab);
  self->vocab = vocab;
  self->rows = (uint32_t)rows;
  self->words = (uint32_t)tsl_vocab_mask_words(((core_vocab *)vocab)->vocab);
  tsl_status status = renew(self);
  if (status == TSL_OK) return (PyObject *)self;
  Py_DECREF(self);
  return core_raise(status, NULL, "a table of masks");
}

static int mask_table_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(of(self)->vocab);
  return 0;
}

static void mask_table_dealloc(PyObject *self) {
  PyObject_GC_UnTrack(self);
  tsl_mask_table_free(of(self)->table);
  Py_XDECREF(of(self)->vocab);
  core_free_instance(self);
}

/* ---- one step -------------------------------------------------------------------------------- */

typedef struct step {
  Py_ssize_t count;
  core_matcher **matchers; /* each held, and marked as busy */
  core_span rows, fresh, fresh_rows;
  int open; /* of the three spans, in this order */
} step;

static void step_close(step *s) {
  core_span *spans[] = {&s->rows, &s->fresh, &s->fresh_rows};
  while (s->open) core_span_close(spans[--s->open]);
  for (Py_ssize_t i = 0; i < s->count; i++) core_matcher_let_go((PyObject *)s->matchers[i]);
  PyMem_Free(s->matchers);
}

static int step_hold(step *s, PyObject *sequence, Py_ssize_t count) {
  s->matchers = PyMem_Calloc((size_t)count + 1, sizeof(core_matcher *));
  if (!s->matchers) return PyErr_NoMemory(), -1;
  for (; s->count < count; s->count++) {
    PyObject *matcher = PySequence_GetItem(sequence, s->count);
    if (!matcher) return -1;
    bool right = PyObject_TypeCheck(matcher, core.matcher);
    if (!right) PyErr_SetString(PyExc_TypeError, "expected a Matcher");
    right = right && core_matcher_is_free(matcher); /* not so the second time in one call, too */
    if (right) core_matcher_hold(matcher);
    Py_DECREF(matcher);
    if (!right) return -1;
    s->matchers[s->count] = (core_matcher *)matcher;
  }
  return 0;
}

static int open_numbers(step *s, PyObject *object, core_span *span, Py_ssize_t count,
                        const char *name) {
  if (core_span_open(object, true, span) < 0) return -1;
  s->open++;
  if ((span->kind != 'i' && span->kind != 'u') || span->itemsize != 8 ||
      (uintptr_t)span->data % 8 || span->rows != 1)
    return PyErr_Format(PyExc_TypeError, "%s is an array of int64, of one dimension", name), -1;
  if (span->columns < count)
    return PyErr_Format(PyExc_ValueError, "%s has %zd elements for %zd matchers", name,
                        span->columns, count),
           -1;
  return 0;
}

static int step_open(step *s, const core_mask_table *t, PyObject *sequence, PyObject *rows,
                     PyObject *fresh, PyObject *fresh_rows) {
  Py_ssize_t count = PySequence_Size(sequence);
  if (count < 0) return -1;
  if ((size_t)count > t->rows)
    return PyErr_Format(PyExc_ValueError, "%zd matchers for a table of %u rows", count, t->rows),
           -1;
  if (open_numbers(s, rows, &s->rows, count, "rows") < 0 ||
      core_span_open(fresh, true, &s->fresh) < 0)
    return -1;
  s->open++;
  if (core_check_mask(&s->fresh, (Py_ssize_t)t->words * 32) < 0) return -1;
  if (s->fresh.rows < count)
    return PyErr_Format(PyExc_ValueError, "fresh has %zd rows for %zd matchers", s->fresh.rows,
                        count),
           -1;
  if (open_numbers(s, fresh_rows, &s->fresh_rows, count, "fresh_rows") < 0) return -1;
  return step_hold(s, sequence, count);
}

/* Runs without the interpreter's lock. *at: the matcher that failed. */
static tsl_status step_run(step *s, const core_mask_table *t, Py_ssize_t *fresh, Py_ssize_t *at) {
  int64_t *rows = s->rows.data, *fresh_rows = s->fresh_rows.data;
  tsl_mask_table_step(t->table);
  for (*fresh = 0, *at = 0; *at < s->count; ++*at) {
    uint32_t row;
    const uint32_t *words;
    tsl_status status = tsl_mask_table_row(t->table, s->matchers[*at]->matcher, &row, &words);
    if (status != TSL_OK) return status;
    rows[*at] = row;
    if (!words) continue;
    memcpy((char *)s->fresh.data + *fresh * s->fresh.stride, words, t->words * sizeof *words);
    fresh_rows[(*fresh)++] = row;
  }
  return TSL_OK;
}

/* Is nobody using it, now that the arguments have been read, which may run the user's code? */
static bool is_ready(core_mask_table *t) {
  if (t->busy)
    return core_raise(TSL_ERR_STATE, NULL, "the table is in use by another thread"), false;
  tsl_status status = t->table ? TSL_OK : renew(t);
  return status == TSL_OK || (core_raise(status, NULL, "a table of masks"), false);
}

static PyObject *mask_table_fill(PyObject *self, PyObject *args) {
  PyObject *sequence, *rows, *fresh, *fresh_rows;
  core_mask_table *t = of(self);
  if (!PyArg_ParseTuple(args, "OOOO:fill", &sequence, &rows, &fresh, &fresh_rows)) return NULL;
  step s = {0};
  Py_ssize_t copied = 0, at = 0;
  int failed = step_open(&s, t, sequence, rows, fresh, fresh_rows) < 0 || !is_ready(t);
  if (!failed) {
    tsl_status status;
    t->busy = true;
    Py_BEGIN_ALLOW_THREADS status = step_run(&s, t, &copied, &at);
    Py_END_ALLOW_THREADS t->busy = false;
    if (status != TSL_OK) {
      char what[64];
      PyOS_snprintf(what, sizeof what, "the mask of matcher %lld", (long long)at);
      failed = (core_raise(status, NULL, what), -1);
      /* what was handed out as fresh never reaches the device; without memory the next call tries
       * again */
      (void)renew(t);
    }
  }
  step_close(&s);
  return failed ? NULL : PyLong_FromSsize_t(copied);
}

static PyObject *mask_table_stats(PyObject *self, PyObject *unused) {
  (void)unused;
  tsl_mask_table_stats s = {0};
  if (of(self)->busy)
    return core_raise(TSL_ERR_STATE, NULL, "the table is in use by another thread");
  if (of(self)->table) tsl_mask_table_get_stats(of(self)->table, &s);
  return Py_BuildValue("{s:K,s:K,s:K,s:I}", "hits", (unsigned long long)s.hits, "copies",
                       (unsigned long long)s.copies, "evictions", (unsigned long long)s.evictions,
                       "rows", s.rows);
}

/* ---- the type -------------------------------------------------------------------------------- */

static PyMethodDef methods[] = {
    {"fill", mask_table_fill, METH_VARARGS,
     "fill($self, matchers, rows, fresh, fresh_rows, /)\n--\n\nOne step: in which row of the "
     "device's table each matcher's mask is; how many masks the device must be given first.\n\n"
     "rows[i], int64, is the row of matchers[i]. The first `n` rows of `fresh` (int32 or uint32 of "
     "shape (>= matchers, >= mask_words)) are written with masks\n"
     "that the device has not, and the first `n` of `fresh_rows`, int64, with the rows that they "
     "go to; `n` is returned. All in host memory. The device keeps what\n"
     "it has in other rows; rows of this step stay as they are until the next call. 0.1 us a "
     "matcher, more where its mask is new to the table, and a copy of what is fresh. Runs without "
     "the\n"
     "interpreter's lock. After an error the table is empty: all masks are fresh again. "
     "ValueError: more matchers than rows, or an array that is too short."},
    {"stats", mask_table_stats, METH_NOARGS,
     "stats($self, /)\n--\n\nA dict: hits (masks the device had), copies (masks that were fresh), "
     "evictions (rows given to another mask), rows (that hold one)."},
    {NULL, NULL, 0, NULL},
};

static PyObject *mask_table_repr(PyObject *self) {
  return PyUnicode_FromFormat("<turnstile.MaskTable of %u rows, %u words each>", of(self)->rows,
                              of(self)->words);
}

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)mask_table_new},
    {Py_tp_dealloc, (void *)mask_table_dealloc},
    {Py_tp_traverse, (void *)mask_table_traverse},
    {Py_tp_repr, (void *)mask_table_repr},
    {Py_tp_methods, methods},
    {Py_tp_doc,
     (void *)"MaskTable(vocab, rows)\n--\n\nA table of `rows` masks that a device keeps a copy of, "
             "so that a step sends a row's number for each sequence instead of a mask.\n\n"
             "Takes matchers of any grammars of one vocabulary, as many at a time as it has rows. "
             "Rows are given up least recently used first. 4 bytes * mask_words a row."},
    {0, NULL},
};

static PyType_Spec spec = {.name = "turnstile._core.MaskTable",
                           .basicsize = sizeof(core_mask_table),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                           .slots = slots};

int core_mask_table_init(PyObject *module) {
  core.mask_table = core_add_type(module, &spec);
  return core.mask_table ? 0 : -1;
}
