/* budget.c - the type Budget: texts that are complete within a number of tokens.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

typedef struct core_budget {
  PyObject_HEAD tsl_budget *budget;
  PyObject *grammar; /* a core_grammar */
} core_budget;

static tsl_budget *of(PyObject *self) { return ((core_budget *)self)->budget; }

static PyObject *budget_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"grammar", NULL};
  PyObject *grammar;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!:Budget", names, core.grammar, &grammar))
    return NULL;
  tsl_budget *budget = NULL;
  tsl_status status = tsl_budget_new(((core_grammar *)grammar)->grammar, NULL, &budget);
  if (status != TSL_OK) return core_raise(status, NULL, "a budget");
  core_budget *self = (core_budget *)PyType_GenericAlloc(type, 0);
  if (!self) {
    tsl_budget_free(budget);
    return NULL;
  }
  self->budget = budget;
  Py_INCREF(grammar);
  self->grammar = grammar;
  return (PyObject *)self;
}

static int budget_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((core_budget *)self)->grammar);
  return 0;
}

static void budget_dealloc(PyObject *self) {
  PyObject_GC_UnTrack(self);
  tsl_budget_free(of(self));
  Py_XDECREF(((core_budget *)self)->grammar);
  core_free_instance(self);
}

/* The matcher that a call is about, which must be of the budget's grammar; NULL with an exception
 * set otherwise. */
static tsl_matcher *matcher_of(PyObject *self, PyObject *object) {
  if (!PyObject_TypeCheck(object, core.matcher))
    return PyErr_SetString(PyExc_TypeError, "expected a Matcher"), NULL;
  if (!core_matcher_is_free(object)) return NULL;
  core_matcher *matcher = (core_matcher *)object;
  if (matcher->grammar->grammar == ((core_grammar *)((core_budget *)self)->grammar)->grammar)
    return matcher->matcher;
  return PyErr_SetString(PyExc_ValueError, "the matcher is of another grammar than the budget"),
         NULL;
}

static PyObject *budget_start(PyObject *self, PyObject *args) {
  PyObject *object;
  unsigned long long most;
  tsl_error error = {0};
  if (!PyArg_ParseTuple(args, "OO&:start", &object, core_u64, &most)) return NULL;
  tsl_matcher *matcher = matcher_of(self, object);
  if (!matcher) return NULL;
  tsl_status status = tsl_budget_start(of(self), matcher, most, &error);
  if (status != TSL_OK) return core_raise(status, &error, "a budget");
  Py_RETURN_NONE;
}

static PyObject *budget_completion(PyObject *self, PyObject *object) {
  tsl_matcher *matcher = matcher_of(self, object);
  size_t count = 0;
  if (!matcher) return NULL;
  tsl_status status = tsl_budget_completion(of(self), matcher, NULL, 0, &count);
  if (status != TSL_OK) return core_raise(status, NULL, "no completion was found");
  tsl_token *ids = core_array((Py_ssize_t)count, sizeof *ids);
  if (!ids) return NULL;
  status = tsl_budget_completion(of(self), matcher, ids, count, &count);
  PyObject *list =
      status == TSL_OK ? core_token_list(ids, count) : core_raise(status, NULL, "a completion");
  PyMem_Free(ids);
  return list;
}

static PyObject *budget_allows(PyObject *self, PyObject *args) {
  PyObject *object, *number;
  unsigned long long left;
  tsl_token token;
  if (!PyArg_ParseTuple(args, "OO&O:allows", &object, core_u64, &left, &number) ||
      core_token(number, &token) < 0)
    return NULL;
  tsl_matcher *matcher = matcher_of(self, object);
  if (!matcher) return NULL;
  tsl_status status = tsl_budget_allows(of(self), matcher, left, token);
  return status == TSL_OK || status == TSL_REJECTED ? PyBool_FromLong(status == TSL_OK)
                                                    : core_raise(status, NULL, "a budget");
}

static PyObject *budget_mask(PyObject *self, PyObject *args) {
  PyObject *object, *out;
  unsigned long long left;
  Py_ssize_t row = 0;
  core_span span;
  if (!PyArg_ParseTuple(args, "OO&O|n:mask", &object, core_u64, &left, &out, &row)) return NULL;
  tsl_matcher *matcher = matcher_of(self, object);
  if (!matcher || core_span_open(out, true, &span) < 0) return NULL;
  /* still */
  uint32_t *mask = core_matcher_is_free(object)
                       ? core_mask_row(&span, row, ((core_matcher *)object)->words)
                       : NULL;
  tsl_status status = mask ? tsl_budget_mask(of(self), matcher, left, mask) : TSL_OK;
  core_span_close(&span);
  if (!mask) return NULL;
  if (status != TSL_OK) return core_raise(status, NULL, "a mask");
  Py_RETURN_NONE;
}

static PyObject *budget_wind_down(PyObject *self, PyObject *args) {
  PyObject *object, *logits;
  unsigned long long left, soft;
  float bias;
  core_span span;
  if (!PyArg_ParseTuple(args, "OO&O&fO:wind_down", &object, core_u64, &left, core_u64, &soft, &bias,
                        &logits))
    return NULL;
  tsl_matcher *matcher = matcher_of(self, object);
  if (!matcher || core_span_open(logits, true, &span) < 0) return NULL;
  Py_ssize_t width = (Py_ssize_t)tsl_vocab_logits_width(
      tsl_grammar_vocab(((core_matcher *)object)->grammar->grammar));
  /* still */
  bool fits = span.kind == 'f' && span.itemsize == 4 && span.rows == 1 && span.columns == width,
       is_free = core_matcher_is_free(object);
  tsl_status status = fits && is_free
                          ? tsl_budget_wind_down(of(self), matcher, left, soft, bias, span.data)
                          : TSL_OK;
  core_span_close(&span);
  if (!is_free) return NULL;
  if (!fits) return PyErr_Format(PyExc_ValueError, "logits are one row of %zd float32", width);
  if (status != TSL_OK) return core_raise(status, NULL, "wind_down");
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"start", budget_start, METH_VARARGS,
     "start($self, matcher, max_tokens, /)\n--\n\nCan the matcher's text be completed with at most "
     "`max_tokens` more tokens? LimitError, which says how many it takes, if not."},
    {"completion", budget_completion, METH_O,
     "completion($self, matcher, /)\n--\n\nThe tokens of a short completion, a list: empty where "
     "the text may end. They spell a text of the fewest bytes, or nearly."},
    {"allows", budget_allows, METH_VARARGS,
     "allows($self, matcher, left, token, /)\n--\n\nMay this token be accepted, with `left` tokens "
     "(this one included) to go? Below 1 us at a position that was seen before."},
    {"mask", budget_mask, METH_VARARGS,
     "mask($self, matcher, left, out, row=0, /)\n--\n\nAs Matcher.mask, less the tokens after "
     "which the text can't be completed with the tokens that are left of `left`.\n\n"
     "Costs what Matcher.mask does where `left` is large; else all allowed tokens are looked at: "
     "milliseconds where many are. Cheaper: draw under Matcher.mask,\n"
     "ask allows(), and only if it says False draw again under this mask; the distribution of the "
     "draw is the same."},
    {"wind_down", budget_wind_down, METH_VARARGS,
     "wind_down($self, matcher, left, soft, bias, logits, /)\n--\n\nFrom `soft` tokens left on, "
     "add bias * (soft - left + 1) / soft to the logits (one row of float32, in place) of tokens "
     "that\n"
     "bring the end nearer, and of end-of-generation tokens where they are allowed; nothing inside "
     "free content, so that strings are not cut short for it."},
    {NULL, NULL, 0, NULL},
};

static PyObject *budget_repr(PyObject *self) {
  return PyUnicode_FromFormat("<turnstile.Budget of %R>", ((core_budget *)self)->grammar);
}

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)budget_new},
    {Py_tp_dealloc, (void *)budget_dealloc},
    {Py_tp_traverse, (void *)budget_traverse},
    {Py_tp_repr, (void *)budget_repr},
    {Py_tp_methods, methods},
    {Py_tp_doc,
     (void *)"Budget(grammar)\n--\n\nKnows the way to the end from every position, for all "
             "matchers of one grammar: texts that are complete within a number of tokens.\n\n"
             "start() once; then, with `left` counting down, take only tokens that mask() or "
             "allows() let through. End-of-generation tokens are not counted.\n"
             "For one thread at a time."},
    {0, NULL},
};

static PyType_Spec spec = {.name = "turnstile._core.Budget",
                           .basicsize = sizeof(core_budget),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                           .slots = slots};

int core_budget_init(PyObject *module) {
  core.budget = core_add_type(module, &spec);
  return core.budget ? 0 : -1;
}
