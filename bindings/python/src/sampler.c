/* sampler.c - the type Sampler.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

typedef struct core_sampler {
  PyObject_HEAD
  tsl_sampler *sampler;
} core_sampler;

static PyObject *sampler_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"seed", "temperature", "top_k", "top_p", "min_p", "legal_mass", NULL};
  unsigned long long seed = 0;
  tsl_sampler_options options = {.temperature = 1, .top_p = 1, .legal_mass = true};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|KfIff:Sampler", names, &seed, &options.temperature, &options.top_k, &options.top_p, &options.min_p))
    return NULL;
  options.seed = seed;
  tsl_sampler *sampler = NULL;
  tsl_status status = tsl_sampler_new(&options, NULL, &sampler);
  if (status != TSL_OK) return core_raise(status, NULL, "a sampler's options");
  core_sampler *self = (core_sampler *)PyType_GenericAlloc(type, 0);
  if (self) self->sampler = sampler;
  else tsl_sampler_free(sampler);
  return (PyObject *)self;
}

static void sampler_dealloc(PyObject *self) {
  tsl_sampler_free(((core_sampler *)self)->sampler);
  core_free_instance(self);
}

/* The columns of a row of float32 logits and of a mask must fit together. */
static int check_shapes(const core_span *logits, const core_span *mask) {
  if (logits->kind != 'f' || logits->itemsize != 4 || logits->ndim != 1)
    return PyErr_SetString(PyExc_TypeError, "logits are one row of float32"), -1;
  return mask ? core_check_mask(mask, logits->columns) : 0;
}

static PyObject *draw(core_sampler *self, const core_span *logits, const core_span *mask) {
  tsl_draw d;
  if (check_shapes(logits, mask) < 0) return NULL;
  tsl_status status = tsl_sampler_draw(self->sampler, logits->data, (size_t)logits->columns, mask ? mask->data : NULL, &d);
  if (status != TSL_OK) return core_raise(status, NULL, "drawing a token");
  return Py_BuildValue("IddII", d.token, d.probability, d.legal_mass, d.allowed, d.kept);
}

static PyObject *sampler_draw(PyObject *self, PyObject *args) {
  PyObject *logits, *mask = Py_None, *result = NULL;
  core_span of_logits, of_mask;
  if (!PyArg_ParseTuple(args, "O|O:draw", &logits, &mask) || core_span_open(logits, false, &of_logits) < 0) return NULL;
  if (mask == Py_None) {
    result = draw((core_sampler *)self, &of_logits, NULL);
  } else if (core_span_open(mask, false, &of_mask) == 0) {
    result = draw((core_sampler *)self, &of_logits, &of_mask);
    core_span_close(&of_mask);
  }
  core_span_close(&of_logits);
  return result;
}

static PyMethodDef methods[] = {
  {"draw", sampler_draw, METH_VARARGS,
   "draw($self, logits, mask=None, /)\n--\n\nDraw a token from one row of float32 logits under a mask (None: everything is allowed).\n\n"
   "Returns (token, probability, legal_mass, allowed, kept): the token, its probability among those left after the cut-offs, the mass that the model\n"
   "had put on allowed tokens, and the number of tokens allowed by the mask and left after the cut-offs. Equal seeds and inputs give equal tokens.\n"
   "LogitsError if nothing allowed is finite, or one is NaN or +inf."},
  {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
  {Py_tp_new, (void *)sampler_new},
  {Py_tp_dealloc, (void *)sampler_dealloc},
  {Py_tp_methods, methods},
  {Py_tp_doc, (void *)"Sampler(seed=0, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, legal_mass=True)\n--\n\nDraws tokens: mask, temperature, top-k, top-p, min-p, "
                      "draw.\n\n`temperature` 0 is greedy; top_k 0, top_p 1 and min_p 0 keep everything; without `legal_mass` a draw does not measure it, and is 20 us faster."},
  {0, NULL},
};

static PyType_Spec spec = {
  .name = "turnstile._core.Sampler", .basicsize = sizeof(core_sampler), .flags = Py_TPFLAGS_DEFAULT, .slots = slots};

int core_sampler_init(PyObject *module) {
  core.sampler = core_add_type(module, &spec);
  return core.sampler ? 0 : -1;
}
