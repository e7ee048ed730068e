/* buffers.c - memory of arrays, without copying.
 *
 * Whatever has the buffer protocol (bytearray, array, memoryview, NumPy, mmap, ctypes) is read
 * through it. What has not, torch's tensors among them, is read through DLPack. Its structures
 * stand here as its specification (version 0.8 to 1.0, unversioned capsule) gives them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <string.h>

/* ---- DLPack ---------------------------------------------------------------------------------- */

typedef struct dl_tensor {
  void *data;
  /* type 1: host memory; 3: host memory that a GPU reads too */
  struct {
    int32_t type, id;
  } device;
  int32_t ndim;
  /* code 0 signed, 1 unsigned, 2 float, 4 bfloat16 */
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape, *strides; /* in elements; strides NULL: compact, last index fastest */
  uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed {
  dl_tensor tensor;
  void *manager;
  void (*deleter)(struct dl_managed *self);
} dl_managed;

static char dl_kind(uint8_t code) {
  return code == 0 ? 'i' : code == 1 ? 'u' : code == 2 ? 'f' : code == 4 ? 'b' : '?';
}

static int span_from_tensor(const dl_tensor *t, core_span *span) {
  if (t->device.type != 1 && t->device.type != 3) {
    PyErr_SetString(PyExc_ValueError, "the array is not in host memory; masks are filled there, "
                                      "copy it to the device afterwards");
    return -1;
  }
  if (t->ndim < 1 || t->ndim > 2) {
    PyErr_SetString(PyExc_ValueError, "the array must have one or two dimensions");
    return -1;
  }
  span->ndim = t->ndim;
  span->itemsize = t->dtype.bits / 8 * t->dtype.lanes;
  span->kind = dl_kind(t->dtype.code);
  span->rows = t->ndim == 2 ? (Py_ssize_t)t->shape[0] : 1;
  span->columns = (Py_ssize_t)t->shape[t->ndim - 1];
  int64_t step = t->strides ? t->strides[t->ndim - 1] : 1;
  if (step != 1 && span->columns > 1) {
    PyErr_SetString(PyExc_ValueError, "the elements of a row must be contiguous");
    return -1;
  }
  int64_t stride = t->ndim == 2 && t->strides ? t->strides[0] : span->columns;
  if (stride < span->columns && span->rows > 1) {
    PyErr_SetString(PyExc_ValueError, "rows must not overlap");
    return -1;
  }
  span->stride = (Py_ssize_t)stride * span->itemsize;
  span->data = (char *)t->data + t->byte_offset;
  span->bytes = span->rows ? (span->rows - 1) * span->stride + span->columns * span->itemsize : 0;
  return 0;
}

static int open_dlpack(PyObject *object, core_span *span) {
  PyObject *capsule = PyObject_CallMethod(object, "__dlpack__", NULL);
  if (!capsule) return -1;
  dl_managed *managed = PyCapsule_GetPointer(capsule, "dltensor");
  if (!managed || span_from_tensor(&managed->tensor, span) < 0) {
    Py_DECREF(capsule); /* its destructor calls the deleter, as the capsule was not consumed */
    return -1;
  }
  span->capsule = capsule;
  return 0;
}

/* ---- the buffer protocol --------------------------------------------------------------------- */

/* Bytes of another order than this machine's can't be read in place. */
static bool is_foreign(char order, Py_ssize_t itemsize) {
  const uint16_t one = 1;
  bool little = *(const uint8_t *)&one == 1;
  return itemsize > 1 && (little ? order == '>' || order == '!' : order == '<');
}

static char format_kind(const char *format, Py_ssize_t itemsize) {
  if (!format) return 'u';
  if (is_foreign(format[0], itemsize)) return '?';
  if (format[0] && strchr("@=<>!", format[0])) format++;
  if (!format[0] || format[1]) return '?';
  if (strchr("bhilqn", format[0])) return 'i';
  if (strchr("BHILQNc", format[0])) return 'u';
  return strchr("efd", format[0]) ? 'f' : '?';
}

static int span_from_view(const Py_buffer *view, core_span *span) {
  if (view->ndim > 2) {
    PyErr_SetString(PyExc_ValueError, "the array must have one or two dimensions");
    return -1;
  }
  span->data = view->buf;
  span->bytes = view->len;
  span->ndim = view->ndim == 2 ? 2 : 1;
  span->itemsize = view->itemsize ? view->itemsize : 1;
  span->kind = format_kind(view->format, span->itemsize);
  span->rows = view->ndim == 2 ? view->shape[0] : 1;
  span->columns = view->ndim == 2 ? view->shape[1] : view->len / span->itemsize;
  span->stride = span->columns * span->itemsize;
  return 0;
}

int core_span_open(PyObject *object, bool writable, core_span *span) {
  span->capsule = NULL;
  span->has_view = false;
  if (!PyObject_CheckBuffer(object)) {
    if (PyObject_HasAttrString(object, "__dlpack__")) return open_dlpack(object, span);
    PyErr_SetString(PyExc_TypeError,
                    "expected an array: something with the buffer protocol, or with __dlpack__");
    return -1;
  }
  if (PyObject_GetBuffer(object, &span->view,
                         PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0)) < 0)
    return -1;
  span->has_view = true;
  if (span_from_view(&span->view, span) == 0) return 0;
  core_span_close(span);
  return -1;
}

void core_span_close(core_span *span) {
  if (span->has_view) PyBuffer_Release(&span->view);
  Py_XDECREF(span->capsule);
  span->has_view = false;
  span->capsule = NULL;
}

bool core_has_words(const core_span *span) {
  if ((span->kind == 'i' || span->kind == 'u') && span->itemsize <= (Py_ssize_t)sizeof(uint32_t))
    return true;
  return PyErr_SetString(PyExc_TypeError,
                         "a mask is an array of integers of 32 bits (or of bytes), 32 tokens to a "
                         "word, in this machine's byte order"),
         false;
}

int core_check_mask(const core_span *span, Py_ssize_t columns) {
  Py_ssize_t have = span->columns * span->itemsize,
             want = (columns + 31) / 32 * (Py_ssize_t)sizeof(uint32_t);
  if (!core_has_words(span)) return -1;
  if (have < want)
    return PyErr_Format(PyExc_ValueError, "a mask of %zd bytes for %zd tokens, which take %zd",
                        have, columns, want),
           -1;
  if ((uintptr_t)span->data % sizeof(uint32_t) || span->stride % (Py_ssize_t)sizeof(uint32_t))
    return PyErr_SetString(PyExc_ValueError,
                           "the rows of a mask must start at multiples of 4 bytes"),
           -1;
  return 0;
}
