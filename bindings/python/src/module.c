/* module.c - turnstile._core: the types of the extension, masks on logits, and what its files
 * share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <string.h>

core_types core;

/* ---- shared ---------------------------------------------------------------------------------- */

PyTypeObject *core_add_type(PyObject *module, PyType_Spec *type_spec) {
  PyObject *type = PyType_FromSpec(type_spec);
  if (!type) return NULL;
  Py_INCREF(type); /* one for the module, one for `core` */
  if (PyModule_AddObject(module, strrchr(type_spec->name, '.') + 1, type) == 0)
    return (PyTypeObject *)type;
  Py_DECREF(type);
  Py_DECREF(type);
  return NULL;
}

void core_free_instance(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

PyObject *core_no_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  (void)type, (void)args, (void)kwargs;
  PyErr_SetString(
      PyExc_TypeError,
      "this type is made by class methods, such as Vocab.from_file and Grammar.json_schema");
  return NULL;
}

int core_text(PyObject *object, const char *what, const char **text, Py_ssize_t *length) {
  char *bytes;
  if (PyBytes_Check(object)) {
    if (PyBytes_AsStringAndSize(object, &bytes, length) < 0) return -1;
    *text = bytes;
    return 0;
  }
  if (!PyUnicode_Check(object))
    return PyErr_Format(PyExc_TypeError, "%s must be str or bytes", what), -1;
  *text = PyUnicode_AsUTF8AndSize(object, length);
  return *text ? 0 : -1;
}

/* An integer, or what stands for one (NumPy's, say), from 0 to `most`; -1 with an exception set
 * otherwise. */
static int read_number(PyObject *object, unsigned long long most, unsigned long long *number,
                       const char *message) {
  PyObject *index = PyNumber_Index(object);
  if (!index) return -1;
  *number = PyLong_AsUnsignedLongLong(index);
  Py_DECREF(index);
  if (PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return -1;
    PyErr_Clear();
  } else if (*number <= most) {
    return 0;
  }
  return PyErr_SetString(PyExc_ValueError, message), -1;
}

int core_token(PyObject *object, tsl_token *token) {
  unsigned long long number;
  if (read_number(object, TSL_NO_TOKEN - 1, &number, "a token is a number from 0 to 2**32 - 2") < 0)
    return -1;
  *token = (tsl_token)number;
  return 0;
}

int core_u32(PyObject *object, void *number) {
  unsigned long long value;
  if (read_number(object, UINT32_MAX, &value, "expected a number from 0 to 2**32 - 1") < 0)
    return 0;
  *(uint32_t *)number = (uint32_t)value;
  return 1;
}

int core_u64(PyObject *object, void *number) {
  return read_number(object, UINT64_MAX, number, "expected a number from 0 to 2**64 - 1") == 0;
}

void *core_array(Py_ssize_t count, size_t size) {
  void *array =
      (size_t)count < PY_SSIZE_T_MAX / size ? PyMem_Malloc(((size_t)count + 1) * size) : NULL;
  return array ? array : PyErr_NoMemory();
}

/* ---- masks on logits ------------------------------------------------------------------------- */

static int dtype_of(const core_span *logits, tsl_dtype *dtype) {
  if (logits->kind == 'f' && logits->itemsize == 4) return *dtype = TSL_F32, 0;
  if (logits->kind == 'f' && logits->itemsize == 2) return *dtype = TSL_F16, 0;
  if (logits->kind == 'b' && logits->itemsize == 2) return *dtype = TSL_BF16, 0;
  PyErr_SetString(PyExc_TypeError, "logits are float32, float16 or bfloat16");
  return -1;
}

static int apply_rows(const core_span *mask, const core_span *logits) {
  tsl_dtype dtype;
  if (dtype_of(logits, &dtype) < 0) return -1;
  if (core_check_mask(mask, logits->columns) < 0) return -1;
  if (mask->rows != logits->rows)
    return PyErr_Format(PyExc_ValueError, "%zd masks for %zd rows of logits", mask->rows,
                        logits->rows),
           -1;
  tsl_status status = TSL_OK;
  Py_BEGIN_ALLOW_THREADS for (Py_ssize_t i = 0; i < logits->rows && status == TSL_OK; i++) status =
      tsl_mask_apply((const uint32_t *)(void *)((char *)mask->data + i * mask->stride),
                     (char *)logits->data + i * logits->stride, (size_t)logits->columns, dtype);
  Py_END_ALLOW_THREADS return status == TSL_OK ? 0 : (core_raise(status, NULL, "apply_mask"), -1);
}

static PyObject *apply_mask(PyObject *module, PyObject *args) {
  PyObject *mask, *logits;
  core_span of_mask, of_logits;
  (void)module;
  if (!PyArg_ParseTuple(args, "OO:apply_mask", &mask, &logits) ||
      core_span_open(mask, false, &of_mask) < 0)
    return NULL;
  int result = core_span_open(logits, true, &of_logits);
  if (result == 0) {
    result = apply_rows(&of_mask, &of_logits);
    core_span_close(&of_logits);
  }
  core_span_close(&of_mask);
  if (result < 0) return NULL;
  Py_RETURN_NONE;
}

static PyObject *count_mask(PyObject *module, PyObject *mask) {
  core_span span;
  (void)module;
  if (core_span_open(mask, false, &span) < 0) return NULL;
  size_t count = 0;
  int result = core_check_mask(&span, 0);
  for (Py_ssize_t i = 0; result == 0 && i < span.rows; i++)
    count += tsl_mask_count((const uint32_t *)(void *)((char *)span.data + i * span.stride),
                            (size_t)(span.columns * span.itemsize / 4) * 32);
  core_span_close(&span);
  if (result < 0) return NULL;
  return PyLong_FromSize_t(count);
}

/* ---- the module ------------------------------------------------------------------------------ */

/* (name or None, [names of others]) */
static PyObject *find_template(PyObject *module, PyObject *text) {
  const char *bytes, *preset, *others[16];
  size_t count = sizeof others / sizeof *others;
  Py_ssize_t length;
  (void)module;
  if (core_text(text, "the template", &bytes, &length) < 0) return NULL;
  tsl_status status = tsl_tools_template(bytes, (size_t)length, &preset, others, &count);
  if (status != TSL_OK) return core_raise(status, NULL, "the JSON has no chat_template");
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && i < count; i++) {
    PyObject *one = PyUnicode_FromString(others[i]);
    if (!one || PyList_Append(list, one) < 0) Py_CLEAR(list);
    Py_XDECREF(one);
  }
  return list ? Py_BuildValue("zN", preset, list) : NULL;
}

static PyObject *tool_presets(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  PyObject *dict = PyDict_New();
  const char *name, *json;
  for (size_t i = 0; dict && tsl_tools_preset(i, &name, &json); i++) {
    PyObject *text = PyUnicode_FromString(json);
    if (!text || PyDict_SetItemString(dict, name, text) < 0) Py_CLEAR(dict);
    Py_XDECREF(text);
  }
  return dict;
}

#define WITH_KEYWORDS(f) (PyCFunction)(void (*)(void))(f), METH_VARARGS | METH_KEYWORDS

static PyMethodDef functions[] = {
    {"measure_step", WITH_KEYWORDS(core_measure_step), core_measure_step_doc},
    {"find_loop", WITH_KEYWORDS(core_find_loop), core_find_loop_doc},
    {"guide_classifier_free", core_classifier_free, METH_VARARGS, core_classifier_free_doc},
    {"guide_contrastive", core_contrastive, METH_VARARGS, core_contrastive_doc},
    {"beam_search", WITH_KEYWORDS(core_beam_search), core_beam_search_doc},
    {"score_all", WITH_KEYWORDS(core_score_all), core_score_all_doc},
    {"mask_drafts", WITH_KEYWORDS(core_mask_drafts), core_mask_drafts_doc},
    {"speculate", WITH_KEYWORDS(core_speculate), core_speculate_doc},
    {"draft_forced", WITH_KEYWORDS(core_draft_forced), core_draft_forced_doc},
    {"fill_batch", (PyCFunction)(void (*)(void))core_fill_batch, METH_VARARGS | METH_KEYWORDS,
     core_fill_batch_doc},
    {"apply_mask", apply_mask, METH_VARARGS,
     "apply_mask(mask, logits, /)\n--\n\nSet the logits of tokens that are not in the mask to "
     "-inf, in place.\n\n`logits` is float32, float16 or bfloat16 in host memory, one\n"
     "row or (rows, width); `mask` has as many rows, of at least ceil(width / 32) words each. Runs "
     "without the interpreter's lock."},
    {"count_mask", count_mask, METH_O,
     "count_mask(mask, /)\n--\n\nHow many tokens a mask allows (all rows together)."},
    {"_write_tools", core_write_tools, METH_VARARGS, NULL},
    {"_lint", core_lint, METH_VARARGS, NULL},
    {"_request", core_request, METH_O, NULL},
    {"_place", core_place, METH_VARARGS, NULL},
    {"_end_compiles", core_end_compiles, METH_NOARGS, NULL},
    {"_find_template", find_template, METH_O,
     "_find_template(text, /)\n--\n\nThe preset of a chat template, or None, and the presets that "
     "share markup with it."},
    {"tool_presets", tool_presets, METH_NOARGS,
     "tool_presets()\n--\n\nThe presets of Grammar.tools: a dict from name to JSON text, which can "
     "be changed and given in a name's place."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "turnstile._core",
                                 .m_doc = "The C part of the package turnstile.", .m_size = -1,
                                 .m_methods = functions};

static int fill_module(PyObject *module) {
  PyObject *errors = PyImport_ImportModule("turnstile.errors");
  core.errors = errors ? PyObject_GetAttrString(errors, "from_status") : NULL;
  Py_XDECREF(errors);
  if (!core.errors || PyModule_AddStringConstant(module, "version", tsl_version()) < 0) return -1;
  int (*const inits[])(PyObject *) = {core_vocab_init,   core_compile_types_init, core_compile_init,
                                      core_grammar_init, core_matcher_init,       core_budget_init,
                                      core_sampler_init, core_decode_init,        core_events_init,
                                      core_parser_init,  core_mask_table_init};
  for (size_t i = 0; i < sizeof inits / sizeof *inits; i++)
    if (inits[i](module) < 0) return -1;
  return 0;
}

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void) {
  PyObject *module = PyModule_Create(&definition);
  if (module && fill_module(module) < 0) Py_CLEAR(module);
  return module;
}
