/* matcher.c - the type Matcher, and filling the masks of many matchers at once.
 *
 * `mask` and `accept` are called once per token, and take their arguments in place. Over the
 * library's calls they cost an argument check, and `mask` also opens and closes a buffer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <string.h>

static tsl_matcher *of(PyObject *self) { return ((core_matcher *)self)->matcher; }

/* The check comes right before the call of the library. Reading an argument may run the user's
 * code, which may use the matcher, or let other threads do so. */
static inline bool is_free(PyObject *self) {
  if (!((core_matcher *)self)->busy) return true;
  core_raise(TSL_ERR_STATE, NULL, "the matcher is in use by another thread");
  return false;
}

bool core_matcher_is_free(PyObject *matcher) { return is_free(matcher); }

void core_matcher_hold(PyObject *matcher) {
  Py_INCREF(matcher);
  ((core_matcher *)matcher)->busy = true;
}

void core_matcher_let_go(PyObject *matcher) {
  ((core_matcher *)matcher)->busy = false;
  Py_DECREF(matcher);
}

/* ---- life ------------------------------------------------------------------------------------ */

static PyObject *wrap(PyTypeObject *type, core_grammar *grammar, tsl_matcher *matcher) {
  core_matcher *self = (core_matcher *)PyType_GenericAlloc(type, 0);
  if (!self) {
    tsl_matcher_free(matcher);
    return NULL;
  }
  self->matcher = matcher;
  Py_INCREF(grammar);
  self->grammar = grammar;
  self->words = (uint32_t)tsl_vocab_mask_words(tsl_grammar_vocab(grammar->grammar));
  return (PyObject *)self;
}

static PyObject *matcher_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"grammar", NULL};
  PyObject *grammar;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!:Matcher", names, core.grammar, &grammar))
    return NULL;
  tsl_matcher *matcher = NULL;
  tsl_status status = tsl_matcher_new(((core_grammar *)grammar)->grammar, NULL, &matcher);
  return status == TSL_OK ? wrap(type, (core_grammar *)grammar, matcher)
                          : core_raise(status, NULL, "a matcher");
}

static int matcher_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((core_matcher *)self)->grammar);
  return 0;
}

static void matcher_dealloc(PyObject *self) {
  core_matcher *m = (core_matcher *)self;
  PyObject_GC_UnTrack(self);
  tsl_matcher_free(m->matcher);
  Py_XDECREF(m->grammar);
  core_free_instance(self);
}

static PyObject *matcher_fork(PyObject *self, PyObject *unused) {
  (void)unused;
  tsl_matcher *fork = NULL;
  if (!is_free(self)) return NULL;
  tsl_status status = tsl_matcher_fork(of(self), &fork);
  return status == TSL_OK ? wrap(Py_TYPE(self), ((core_matcher *)self)->grammar, fork)
                          : core_raise(status, NULL, "a fork");
}

static PyObject *matcher_reset(PyObject *self, PyObject *unused) {
  (void)unused;
  if (!is_free(self)) return NULL;
  tsl_matcher_reset(of(self));
  Py_RETURN_NONE;
}

/* ---- masks ----------------------------------------------------------------------------------- */

uint32_t *core_mask_row(const core_span *span, Py_ssize_t row, uint32_t words) {
  if (row < 0 || row >= span->rows)
    return PyErr_Format(PyExc_IndexError, "row %zd of an array with %zd rows", row, span->rows),
           NULL;
  Py_ssize_t have = span->columns * span->itemsize,
             want = (Py_ssize_t)words * (Py_ssize_t)sizeof(uint32_t);
  char *at = (char *)span->data + row * span->stride;
  if (!core_has_words(span)) return NULL;
  if (have < want)
    return PyErr_Format(PyExc_ValueError, "a row has %zd bytes, a mask takes %zd (%u words)", have,
                        want, words),
           NULL;
  if ((uintptr_t)at % sizeof(uint32_t))
    return PyErr_SetString(PyExc_ValueError, "a row must start at a multiple of 4 bytes"), NULL;
  if (have > want) memset(at + want, 0, (size_t)(have - want));
  return (uint32_t *)(void *)at;
}

static PyObject *mask_as_bytes(PyObject *self) {
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)((core_matcher *)self)->words *
                                                        (Py_ssize_t)sizeof(uint32_t));
  if (!bytes) return NULL;
  tsl_status status = tsl_matcher_mask(of(self), (uint32_t *)(void *)PyBytes_AsString(bytes));
  if (status == TSL_OK) return bytes;
  Py_DECREF(bytes);
  return core_raise(status, NULL, "a mask");
}

static PyObject *matcher_mask(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  Py_ssize_t row = 0;
  core_span span;
  if (count == 0 || (count == 1 && args[0] == Py_None))
    return is_free(self) ? mask_as_bytes(self) : NULL;
  if (count > 2)
    return PyErr_Format(PyExc_TypeError, "mask() takes at most 2 arguments (%zd given)", count);
  if (count == 2 && (row = PyNumber_AsSsize_t(args[1], PyExc_OverflowError)) == -1 &&
      PyErr_Occurred())
    return NULL;
  if (core_span_open(args[0], true, &span) < 0) return NULL;
  uint32_t *mask = is_free(self) ? core_mask_row(&span, row, ((core_matcher *)self)->words) : NULL;
  tsl_status status = mask ? tsl_matcher_mask(of(self), mask) : TSL_OK;
  core_span_close(&span);
  if (!mask) return NULL;
  if (status != TSL_OK) return core_raise(status, NULL, "a mask");
  Py_RETURN_NONE;
}

static PyObject *matcher_mask_id(PyObject *self, PyObject *unused) {
  (void)unused;
  const uint32_t *mask;
  uint64_t id;
  if (!is_free(self)) return NULL;
  tsl_status status = tsl_matcher_mask_borrow(of(self), &mask, &id);
  return status == TSL_OK ? PyLong_FromUnsignedLongLong(id) : core_raise(status, NULL, "a mask");
}

PyObject *core_token_list(const tsl_token *ids, size_t count) {
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; list && i < count; i++) {
    PyObject *id = PyLong_FromUnsignedLong(ids[i]);
    if (!id || PyList_SetItem(list, (Py_ssize_t)i, id) < 0) Py_CLEAR(list);
  }
  return list;
}

static PyObject *allowed_list(const uint32_t *mask, uint32_t words) {
  PyObject *list = PyList_New(0);
  for (uint32_t w = 0; list && w < words; w++) {
    for (uint32_t bit = 0; list && mask[w] && bit < 32; bit++) {
      if (!((mask[w] >> bit) & 1u)) continue;
      PyObject *id = PyLong_FromUnsignedLong(w * 32 + bit);
      if (!id || PyList_Append(list, id) < 0) Py_CLEAR(list);
      Py_XDECREF(id);
    }
  }
  return list;
}

static PyObject *matcher_allowed(PyObject *self, PyObject *unused) {
  (void)unused;
  const uint32_t *mask;
  if (!is_free(self)) return NULL;
  tsl_status status = tsl_matcher_mask_borrow(of(self), &mask, NULL);
  return status == TSL_OK ? allowed_list(mask, ((core_matcher *)self)->words)
                          : core_raise(status, NULL, "a mask");
}

/* ---- moving ---------------------------------------------------------------------------------- */

/* TSL_OK is True, TSL_REJECTED False, everything else an exception. */
static PyObject *verdict(tsl_status status, const char *what) {
  if (status == TSL_OK) Py_RETURN_TRUE;
  if (status == TSL_REJECTED) Py_RETURN_FALSE;
  return core_raise(status, NULL, what);
}

/* The call's status as an exception that names the token: its number may be none of the
 * vocabulary's. */
static PyObject *token_failed(PyObject *self, tsl_status status, tsl_token token,
                              const char *what) {
  const uint32_t size = tsl_vocab_size(tsl_grammar_vocab(((core_matcher *)self)->grammar->grammar));
  tsl_error error = {.status = status};
  if (status == TSL_ERR_ARGUMENT && token >= size)
    snprintf(error.message, sizeof error.message,
             "%s: token %lu is out of range: the vocabulary has %lu tokens", what,
             (unsigned long)token, (unsigned long)size);
  return core_raise(status, error.message[0] ? &error : NULL, what);
}

static PyObject *matcher_accept(PyObject *self, PyObject *object) {
  tsl_token token;
  if (core_token(object, &token) < 0 || !is_free(self)) return NULL;
  tsl_status status = tsl_matcher_accept(of(self), token);
  return status == TSL_ERR_ARGUMENT ? token_failed(self, status, token, "accept")
                                    : verdict(status, "accept");
}

static PyObject *matcher_accept_bytes(PyObject *self, PyObject *object) {
  const char *bytes;
  Py_ssize_t length;
  if (!is_free(self) || core_text(object, "the bytes", &bytes, &length) < 0) return NULL;
  return verdict(tsl_matcher_accept_bytes(of(self), bytes, (size_t)length, NULL), "accept_bytes");
}

tsl_token *core_read_ids(PyObject *sequence, Py_ssize_t *count) {
  *count = PySequence_Size(sequence);
  tsl_token *ids = *count < 0 ? NULL : core_array(*count, sizeof *ids);
  if (!ids) return NULL;
  for (Py_ssize_t i = 0; i < *count; i++) {
    PyObject *item = PySequence_GetItem(sequence, i);
    int failed = !item || core_token(item, ids + i) < 0;
    Py_XDECREF(item);
    if (!failed) continue;
    PyMem_Free(ids);
    return NULL;
  }
  return ids;
}

/* Ids for a matcher that is free once they are read. */
static tsl_token *read_ids_for(PyObject *self, PyObject *sequence, Py_ssize_t *count) {
  tsl_token *ids = core_read_ids(sequence, count);
  if (!ids || is_free(self)) return ids;
  PyMem_Free(ids);
  return NULL;
}

static PyObject *matcher_accept_tokens(PyObject *self, PyObject *sequence) {
  Py_ssize_t count, done = 0;
  tsl_token *ids = read_ids_for(self, sequence, &count);
  if (!ids) return NULL;
  tsl_status status = TSL_OK;
  while (done < count && (status = tsl_matcher_accept(of(self), ids[done])) == TSL_OK) done++;
  const tsl_token last = done < count ? ids[done] : 0;
  PyMem_Free(ids);
  if (status != TSL_OK && status != TSL_REJECTED && done == 0)
    return token_failed(self, status, last, "accept_tokens");
  return PyLong_FromSsize_t(done);
}

static PyObject *matcher_validate(PyObject *self, PyObject *sequence) {
  Py_ssize_t count;
  size_t valid = 0;
  tsl_token *ids = read_ids_for(self, sequence, &count);
  if (!ids) return NULL;
  tsl_status status = tsl_matcher_validate(of(self), ids, (size_t)count, &valid);
  PyMem_Free(ids);
  return status == TSL_OK ? PyLong_FromSize_t(valid) : core_raise(status, NULL, "validate");
}

static PyObject *matcher_rollback(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  Py_ssize_t n = 1;
  if (count > 1)
    return PyErr_Format(PyExc_TypeError, "rollback() takes at most 1 argument (%zd given)", count);
  if (count == 1 && (n = PyNumber_AsSsize_t(args[0], PyExc_OverflowError)) == -1 &&
      PyErr_Occurred())
    return NULL;
  if (n < 0) return PyErr_SetString(PyExc_ValueError, "the count must not be negative"), NULL;
  if (!is_free(self)) return NULL;
  tsl_status status = tsl_matcher_rollback(of(self), (size_t)n);
  if (status == TSL_ERR_STATE)
    return core_raise(status, NULL, "rollback of more tokens than the history holds");
  if (status != TSL_OK) return core_raise(status, NULL, "rollback");
  Py_RETURN_NONE;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static PyObject *matcher_is_complete(PyObject *self, void *unused) {
  (void)unused;
  return is_free(self) ? PyBool_FromLong(tsl_matcher_is_complete(of(self))) : NULL;
}

static PyObject *matcher_is_terminated(PyObject *self, void *unused) {
  (void)unused;
  return is_free(self) ? PyBool_FromLong(tsl_matcher_is_terminated(of(self))) : NULL;
}

static PyObject *matcher_is_ready(PyObject *self, void *unused) {
  (void)unused;
  return is_free(self) ? PyBool_FromLong(tsl_matcher_is_ready(of(self))) : NULL;
}

static PyObject *matcher_history(PyObject *self, void *unused) {
  (void)unused;
  return is_free(self) ? PyLong_FromSize_t(tsl_matcher_history(of(self))) : NULL;
}

static PyObject *matcher_grammar(PyObject *self, void *unused) {
  (void)unused;
  PyObject *grammar = (PyObject *)((core_matcher *)self)->grammar;
  Py_INCREF(grammar);
  return grammar;
}

static PyObject *matcher_forced_bytes(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  Py_ssize_t capacity = 4096;
  size_t length = 0;
  if (count > 1)
    return PyErr_Format(PyExc_TypeError, "forced_bytes() takes at most 1 argument (%zd given)",
                        count);
  if (count == 1 && (capacity = PyNumber_AsSsize_t(args[0], PyExc_OverflowError)) == -1 &&
      PyErr_Occurred())
    return NULL;
  if (capacity < 0)
    return PyErr_SetString(PyExc_ValueError, "the capacity must not be negative"), NULL;
  if (!is_free(self)) return NULL;
  uint8_t *bytes = PyMem_Malloc((size_t)capacity + 1);
  if (!bytes) return PyErr_NoMemory();
  tsl_status status = tsl_matcher_forced_bytes(of(self), bytes, (size_t)capacity, &length);
  PyObject *result = status == TSL_OK
                         ? PyBytes_FromStringAndSize((const char *)bytes, (Py_ssize_t)length)
                         : core_raise(status, NULL, "forced_bytes");
  PyMem_Free(bytes);
  return result;
}

static PyObject *matcher_shortest(PyObject *self, PyObject *unused) {
  (void)unused;
  uint64_t bytes;
  if (!is_free(self)) return NULL;
  tsl_status status = tsl_matcher_shortest_completion(of(self), &bytes);
  if (status != TSL_OK) return core_raise(status, NULL, "shortest_completion");
  if (bytes == UINT64_MAX) Py_RETURN_NONE;
  return PyLong_FromUnsignedLongLong(bytes);
}

static PyObject *matcher_next_bytes(PyObject *self, PyObject *unused) {
  (void)unused;
  uint32_t set[8];
  char bytes[256];
  Py_ssize_t n = 0;
  if (!is_free(self)) return NULL;
  tsl_status status = tsl_matcher_next_bytes(of(self), set);
  if (status != TSL_OK) return core_raise(status, NULL, "next_bytes");
  for (unsigned b = 0; b < 256; b++)
    if ((set[b / 32] >> (b % 32)) & 1u) bytes[n++] = (char)b;
  return PyBytes_FromStringAndSize(bytes, n);
}

static PyObject *matcher_prefetch(PyObject *self, PyObject *args) {
  unsigned long long budget_us;
  PyObject *likely = NULL;
  Py_ssize_t count = 0;
  uint32_t made = 0;
  if (!PyArg_ParseTuple(args, "K|O:prefetch", &budget_us, &likely)) return NULL;
  tsl_token *ids = likely ? read_ids_for(self, likely, &count) : NULL;
  if (likely ? !ids : !is_free(self)) return NULL;
  tsl_status status = tsl_matcher_prefetch(of(self), ids, (size_t)count, budget_us, &made);
  PyMem_Free(ids);
  return status == TSL_OK ? PyLong_FromUnsignedLong(made) : core_raise(status, NULL, "prefetch");
}

/* ---- many at once ---------------------------------------------------------------------------- */

const char core_fill_batch_doc[] =
    "fill_batch(matchers, out, rows=None, threads=None)\n--\n\nWrite the masks of many matchers "
    "into the rows of one array, without the interpreter's lock.\n\n"
    "`matchers` is a sequence of Matcher or None; None sets its row to all ones (nothing is "
    "constrained). `out` is an int32 or uint32 array of shape\n"
    "(rows, >= mask_words) in host memory, written in place. Mask i goes to row i, or to rows[i] "
    "if `rows`, a sequence of as many ints, is given.\n"
    "No matcher may come twice, nor a row. `threads`, a Threads, shares the work with its workers: "
    "worth it where masks are new, as those seen before take\n"
    "0.1 us each. Other Python threads run meanwhile; a call on one of these matchers raises "
    "StateError until this one returns.";

/* Matchers by row of the array, as the library takes them. */
typedef struct batch {
  core_span span;
  Py_ssize_t count;       /* rows of the array */
  tsl_matcher **matchers; /* by row; NULL: the row is left alone */
  tsl_status *statuses;
  bool *seen;      /* by row */
  PyObject **held; /* by row: a reference on a Matcher that is marked as busy, or NULL */
} batch;

static void batch_close(batch *b) {
  for (Py_ssize_t i = 0; b->held && i < b->count; i++)
    if (b->held[i]) core_matcher_let_go(b->held[i]);
  PyMem_Free(b->matchers);
  PyMem_Free(b->statuses);
  PyMem_Free(b->seen);
  PyMem_Free(b->held);
  core_span_close(&b->span);
}

static int row_of(PyObject *rows, Py_ssize_t i, Py_ssize_t *row) {
  PyObject *item = rows ? PySequence_GetItem(rows, i) : NULL;
  *row = item ? PyNumber_AsSsize_t(item, PyExc_OverflowError) : i;
  Py_XDECREF(item);
  return rows && PyErr_Occurred() ? -1 : 0;
}

/* Put one matcher, or None, to its row. */
static int batch_put(batch *b, PyObject *matcher, Py_ssize_t row) {
  Py_ssize_t words = b->span.columns * b->span.itemsize / (Py_ssize_t)sizeof(uint32_t);
  bool none = matcher == Py_None;
  if (!none && !PyObject_TypeCheck(matcher, core.matcher))
    return PyErr_SetString(PyExc_TypeError, "expected Matcher or None"), -1;
  if (!none && !is_free(matcher)) return -1; /* also the second time in one batch */
  uint32_t *mask =
      core_mask_row(&b->span, row, none ? (uint32_t)words : ((core_matcher *)matcher)->words);
  if (!mask) return -1;
  if (b->seen[row]) return PyErr_Format(PyExc_ValueError, "row %zd comes twice", row), -1;
  b->seen[row] = true;
  if (none) {
    memset(mask, 0xff, (size_t)words * sizeof(uint32_t));
    return 0;
  }
  core_matcher_hold(matcher);
  b->held[row] = matcher;
  b->matchers[row] = of(matcher);
  return 0;
}

static int batch_open(batch *b, PyObject *sequence, PyObject *rows) {
  Py_ssize_t count = PySequence_Size(sequence);
  if (count < 0) return -1;
  if (rows && PySequence_Size(rows) != count)
    return PyErr_Occurred()
               ? -1
               : (PyErr_SetString(PyExc_ValueError, "rows and matchers differ in length"), -1);
  b->count = b->span.rows;
  b->matchers = PyMem_Calloc((size_t)b->count + 1, sizeof *b->matchers);
  b->statuses = PyMem_Calloc((size_t)b->count + 1, sizeof *b->statuses);
  b->seen = PyMem_Calloc((size_t)b->count + 1, sizeof *b->seen);
  b->held = PyMem_Calloc((size_t)b->count + 1, sizeof *b->held);
  if (!b->matchers || !b->statuses || !b->seen || !b->held) return PyErr_NoMemory(), -1;
  for (Py_ssize_t i = 0, row; i < count; i++) {
    PyObject *matcher = row_of(rows, i, &row) < 0 ? NULL : PySequence_GetItem(sequence, i);
    int failed = !matcher || batch_put(b, matcher, row) < 0;
    Py_XDECREF(matcher);
    if (failed) return -1;
  }
  return 0;
}

/* Where rows lie apart, what is between them is not the array's: then they are filled one by
 * one. */
static tsl_status batch_fill(batch *b, tsl_threads *threads) {
  const core_span *s = &b->span;
  size_t words = (size_t)(s->columns * s->itemsize) / sizeof(uint32_t),
         stride = (size_t)s->stride / sizeof(uint32_t);
  if (words == stride)
    return tsl_batch_mask(threads, b->matchers, (size_t)b->count, s->data, stride, b->statuses);
  tsl_status first = TSL_OK;
  for (Py_ssize_t i = 0; i < b->count; i++) {
    tsl_status status = tsl_batch_mask(
        NULL, b->matchers + i, 1, (uint32_t *)s->data + (size_t)i * stride, words, b->statuses + i);
    if (first == TSL_OK) first = status;
  }
  return first;
}

static PyObject *batch_error(const batch *b, tsl_status status) {
  char what[64];
  Py_ssize_t row = 0;
  while (row < b->count - 1 && (!b->matchers[row] || b->statuses[row] == TSL_OK)) row++;
  PyOS_snprintf(what, sizeof what, "the mask of row %lld", (long long)row);
  return core_raise(status, NULL, what);
}

PyObject *core_fill_batch(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"matchers", "out", "rows", "threads", NULL};
  PyObject *sequence, *out, *rows = NULL, *threads = NULL;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO:fill_batch", names, &sequence, &out, &rows,
                                   &threads))
    return NULL;
  if (rows == Py_None) rows = NULL;
  if (threads == Py_None) threads = NULL;
  if (threads && !PyObject_TypeCheck(threads, core.threads))
    return PyErr_SetString(PyExc_TypeError, "threads must be a Threads"), NULL;
  if (threads && !core_threads_are_ours(threads)) return NULL;
  batch b = {0};
  if (core_span_open(out, true, &b.span) < 0) return NULL;
  int failed = batch_open(&b, sequence, rows);
  if (!failed) {
    tsl_status status;
    Py_BEGIN_ALLOW_THREADS status =
        batch_fill(&b, threads ? ((core_threads *)threads)->threads : NULL);
    Py_END_ALLOW_THREADS if (status != TSL_OK) failed = (batch_error(&b, status), -1);
  }
  batch_close(&b);
  if (failed) return NULL;
  Py_RETURN_NONE;
}

/* ---- the type -------------------------------------------------------------------------------- */

static PyMethodDef methods[] = {
    {"mask", (PyCFunction)(void (*)(void))matcher_mask, METH_FASTCALL,
     "mask($self, out=None, row=0, /)\n--\n\nWrite the allowed tokens into `out`: token i is bit i "
     "% 32 of 32-bit word i // 32, set = allowed.\n\n"
     "`out` is an array of integers in host memory, of one dimension with at least "
     "`vocab.mask_words` words, or of two, of which row `row` is written;\n"
     "what is longer is cleared. It is written in place through the buffer protocol, or DLPack "
     "(torch). Without `out` the mask is returned as bytes.\n"
     "After the end no bit is set. 0.1 us when the position was seen before, microseconds else."},
    {"mask_id", matcher_mask_id, METH_NOARGS,
     "mask_id($self, /)\n--\n\nA number that is equal for equal masks of one grammar while it "
     "lives: masks can be kept on a device by it."},
    {"allowed", matcher_allowed, METH_NOARGS,
     "allowed($self, /)\n--\n\nThe ids of the allowed tokens, a list: for people and tests."},
    {"accept", matcher_accept, METH_O,
     "accept($self, token, /)\n--\n\nAdvance by one token. True; or False, and nothing has "
     "changed, if the grammar does not allow it."},
    {"accept_tokens", matcher_accept_tokens, METH_O,
     "accept_tokens($self, tokens, /)\n--\n\nAdvance by the longest leading part of `tokens` that "
     "is allowed; how many that were."},
    {"accept_bytes", matcher_accept_bytes, METH_O,
     "accept_bytes($self, text, /)\n--\n\nAdvance by str or bytes, as if by tokens that spell "
     "them; counts as one token for rollback. True or False."},
    {"validate", matcher_validate, METH_O,
     "validate($self, tokens, /)\n--\n\nHow many of the leading tokens could be accepted one after "
     "the other; the matcher does not move."},
    {"rollback", (PyCFunction)(void (*)(void))matcher_rollback, METH_FASTCALL,
     "rollback($self, count=1, /)\n--\n\nUndo the last `count` accepted tokens. StateError, and "
     "nothing has changed, if the history holds fewer (4,096 at most)."},
    {"fork", matcher_fork, METH_NOARGS,
     "fork($self, /)\n--\n\nAn independent matcher with the same text behind it."},
    {"reset", matcher_reset, METH_NOARGS,
     "reset($self, /)\n--\n\nBack to the beginning, history forgotten."},
    {"forced_bytes", (PyCFunction)(void (*)(void))matcher_forced_bytes, METH_FASTCALL,
     "forced_bytes($self, capacity=4096, /)\n--\n\nThe bytes that must come next whatever is "
     "chosen, `capacity` at most; empty where the text may end or go on in several ways."},
    {"shortest_completion", matcher_shortest, METH_NOARGS,
     "shortest_completion($self, /)\n--\n\nThe fewest bytes that complete the text, or None if "
     "that is 4 GiB or more."},
    {"next_bytes", matcher_next_bytes, METH_NOARGS,
     "next_bytes($self, /)\n--\n\nThe bytes that may come next, each once, in ascending order."},
    {"prefetch", matcher_prefetch, METH_VARARGS,
     "prefetch($self, budget_us, likely=(), /)\n--\n\nMake masks that the next steps are likely to "
     "need, for at most so many microseconds: that of this position, those after each of `likely` "
     "tokens, and those of the nearest positions. The number of masks made."},
    {NULL, NULL, 0, NULL},
};

static PyObject *matcher_repr(PyObject *self) {
  if (((core_matcher *)self)->busy) return PyUnicode_FromString("<turnstile.Matcher, in a batch>");
  return PyUnicode_FromFormat("<turnstile.Matcher, history of %zu tokens, %s>",
                              tsl_matcher_history(of(self)),
                              tsl_matcher_is_terminated(of(self)) ? "terminated"
                              : tsl_matcher_is_complete(of(self)) ? "complete"
                                                                  : "not complete");
}

static PyGetSetDef getset[] = {
    {"is_complete", matcher_is_complete, NULL,
     "Is the text so far a whole sentence of the grammar?", NULL},
    {"is_terminated", matcher_is_terminated, NULL, "Has an end-of-generation token been accepted?",
     NULL},
    {"is_ready", matcher_is_ready, NULL, "Is the mask of this position made already?", NULL},
    {"history", matcher_history, NULL, "Tokens that can be rolled back now.", NULL},
    {"grammar", matcher_grammar, NULL, "The grammar that it follows.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)matcher_new},
    {Py_tp_dealloc, (void *)matcher_dealloc},
    {Py_tp_traverse, (void *)matcher_traverse},
    {Py_tp_repr, (void *)matcher_repr},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {Py_tp_doc,
     (void *)"Matcher(grammar)\n--\n\nOne generation in progress. For one thread at a time."},
    {0, NULL},
};

static PyType_Spec spec = {.name = "turnstile._core.Matcher",
                           .basicsize = sizeof(core_matcher),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                           .slots = slots};

int core_matcher_init(PyObject *module) {
  core.matcher = core_add_type(module, &spec);
  return core.matcher ? 0 : -1;
}
