/* vocab.c - the type Vocab of the extension. Its public constructors stand in turnstile/vocab.py,
 * which subclasses it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

/* ---- making one ------------------------------------------------------------------------------ */

/* A sequence of ids as an array that the caller frees with PyMem_Free; None is NULL with count
 * 0. */
static int read_tokens(PyObject *sequence, tsl_token **tokens, uint32_t *count) {
  *tokens = NULL;
  *count = 0;
  if (sequence == Py_None) return 0;
  Py_ssize_t n;
  if (!(*tokens = core_read_ids(sequence, &n))) return -1;
  if ((uint64_t)n <= TSL_MAX_VOCAB) return *count = (uint32_t)n, 0;
  PyMem_Free(*tokens);
  *tokens = NULL;
  return PyErr_SetString(PyExc_ValueError, "more tokens than a vocabulary can have"), -1;
}

static PyObject *wrap(PyTypeObject *type, tsl_vocab *vocab) {
  core_vocab *self = (core_vocab *)PyType_GenericAlloc(type, 0);
  if (self)
    self->vocab = vocab;
  else
    tsl_vocab_release(vocab);
  return (PyObject *)self;
}

static PyObject *load(PyTypeObject *type, const char *path, const char *data, Py_ssize_t size,
                      uint32_t width, PyObject *eog, const char *cache_dir, const char *pattern) {
  tsl_token *ids;
  uint32_t count;
  if (read_tokens(eog, &ids, &count) < 0) return NULL;
  tsl_vocab_options options = {.logits_width = width,
                               .eog = ids,
                               .eog_count = count,
                               .cache_dir = cache_dir,
                               .pattern = pattern};
  tsl_vocab *vocab = NULL;
  tsl_error error = {0};
  tsl_status status;
  Py_BEGIN_ALLOW_THREADS status =
      data ? tsl_vocab_load_memory(data, (size_t)size, path, &options, NULL, &vocab, &error)
           : tsl_vocab_load_file(path, &options, NULL, &vocab, &error);
  Py_END_ALLOW_THREADS PyMem_Free(ids);
  return status == TSL_OK ? wrap(type, vocab) : core_raise(status, &error, "loading a vocabulary");
}

static PyObject *vocab_load_file(PyObject *type, PyObject *args) {
  PyObject *path, *eog, *result;
  uint32_t width;
  const char *cache_dir, *pattern;
  if (!PyArg_ParseTuple(args, "O&O&Ozz", PyUnicode_FSConverter, &path, core_u32, &width, &eog,
                        &cache_dir, &pattern))
    return NULL;
  const char *text = PyBytes_AsString(path);
  result = text ? load((PyTypeObject *)type, text, NULL, 0, width, eog, cache_dir, pattern) : NULL;
  Py_DECREF(path);
  return result;
}

static PyObject *vocab_load_memory(PyObject *type, PyObject *args) {
  PyObject *eog;
  const char *data, *name, *pattern;
  Py_ssize_t size;
  uint32_t width;
  if (!PyArg_ParseTuple(args, "y#zO&Oz", &data, &size, &name, core_u32, &width, &eog, &pattern))
    return NULL;
  return load((PyTypeObject *)type, name, data, size, width, eog, NULL, pattern);
}

static PyObject *vocab_embedded(PyObject *type, PyObject *unused) {
  (void)unused;
  tsl_vocab *vocab = NULL;
  tsl_error error = {0};
  tsl_status status = tsl_vocab_embedded(NULL, &vocab, &error);
  return status == TSL_OK ? wrap((PyTypeObject *)type, vocab)
                          : core_raise(status, &error, "the embedded vocabulary");
}

static PyObject *vocab_from_arrays(PyObject *type, PyObject *args) {
  PyObject *eog;
  const char *bytes, *offsets, *special;
  Py_ssize_t size, offsets_size, special_size;
  uint32_t width;
  if (!PyArg_ParseTuple(args, "y#y#y#O&O", &bytes, &size, &offsets, &offsets_size, &special,
                        &special_size, core_u32, &width, &eog))
    return NULL;
  Py_ssize_t count = offsets_size / (Py_ssize_t)sizeof(uint32_t) - 1;
  if (count < 1 || special_size != count ||
      ((const uint32_t *)(const void *)offsets)[count] != (uint64_t)size)
    return PyErr_SetString(PyExc_ValueError, "offsets, flags and bytes do not fit together"), NULL;
  tsl_vocab_desc desc = {.bytes = (const uint8_t *)bytes,
                         .offsets = (const uint32_t *)(const void *)offsets,
                         .size = (uint32_t)count,
                         .logits_width = width,
                         .special = (const uint8_t *)special};
  tsl_token *ids;
  if (read_tokens(eog, &ids, &desc.eog_count) < 0) return NULL;
  desc.eog = ids;
  tsl_vocab *vocab = NULL;
  tsl_error error = {0};
  tsl_status status;
  Py_BEGIN_ALLOW_THREADS status = tsl_vocab_new(&desc, NULL, &vocab, &error);
  Py_END_ALLOW_THREADS PyMem_Free(ids);
  return status == TSL_OK ? wrap((PyTypeObject *)type, vocab)
                          : core_raise(status, &error, "a vocabulary from arrays");
}

static void vocab_dealloc(PyObject *self) {
  tsl_vocab_release(((core_vocab *)self)->vocab);
  core_free_instance(self);
}

/* ---- asking it ------------------------------------------------------------------------------- */

static tsl_vocab *of(PyObject *self) { return ((core_vocab *)self)->vocab; }

static PyObject *vocab_size(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromUnsignedLong(tsl_vocab_size(of(self)));
}

static PyObject *vocab_width(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromUnsignedLong(tsl_vocab_logits_width(of(self)));
}

static PyObject *vocab_words(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromSize_t(tsl_vocab_mask_words(of(self)));
}

static PyObject *vocab_memory(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromSize_t(tsl_vocab_memory(of(self)));
}

static PyObject *vocab_identity(PyObject *self, void *unused) {
  (void)unused;
  uint8_t identity[16];
  tsl_vocab_identity(of(self), identity);
  return PyBytes_FromStringAndSize((const char *)identity, sizeof identity);
}

static PyObject *vocab_eog(PyObject *self, void *unused) {
  (void)unused;
  uint32_t count;
  const tsl_token *ids = tsl_vocab_eog(of(self), &count);
  PyObject *tuple = PyTuple_New(count);
  for (uint32_t i = 0; tuple && i < count; i++) {
    PyObject *id = PyLong_FromUnsignedLong(ids[i]);
    if (!id || PyTuple_SetItem(tuple, i, id) < 0) Py_CLEAR(tuple);
  }
  return tuple;
}

static PyObject *vocab_is_eog(PyObject *self, PyObject *token) {
  tsl_token id;
  return core_token(token, &id) < 0 ? NULL : PyBool_FromLong(tsl_vocab_is_eog(of(self), id));
}

static PyObject *vocab_is_special(PyObject *self, PyObject *token) {
  tsl_token id;
  return core_token(token, &id) < 0 ? NULL : PyBool_FromLong(tsl_vocab_is_special(of(self), id));
}

static PyObject *vocab_bytes(PyObject *self, PyObject *token) {
  tsl_token id;
  size_t length;
  if (core_token(token, &id) < 0) return NULL;
  const uint8_t *bytes = tsl_vocab_bytes(of(self), id, &length);
  if (!bytes && id >= tsl_vocab_size(of(self)))
    return PyErr_Format(PyExc_IndexError, "the vocabulary has no token %u", id);
  return PyBytes_FromStringAndSize((const char *)bytes, (Py_ssize_t)length);
}

static PyObject *vocab_set_walk_cache(PyObject *self, PyObject *bytes) {
  size_t most = PyLong_AsSize_t(bytes);
  if (most == (size_t)-1 && PyErr_Occurred()) return NULL;
  tsl_vocab_set_walk_cache(of(self), most);
  Py_RETURN_NONE;
}

static PyObject *vocab_find_special(PyObject *self, PyObject *object) {
  const char *text;
  Py_ssize_t length;
  if (core_text(object, "a token's text", &text, &length) < 0) return NULL;
  tsl_token id = tsl_vocab_find_special(of(self), text, (size_t)length);
  if (id != TSL_NO_TOKEN) return PyLong_FromUnsignedLong(id);
  Py_RETURN_NONE;
}

static PyObject *vocab_encode(PyObject *self, PyObject *args) {
  PyObject *object;
  int special = 0, bos = 0;
  const char *text;
  Py_ssize_t length;
  if (!PyArg_ParseTuple(args, "O|pp", &object, &special, &bos) ||
      core_text(object, "the text", &text, &length) < 0)
    return NULL;
  uint32_t flags = (special ? TSL_ENCODE_SPECIAL : 0) | (bos ? TSL_ENCODE_BOS : 0);
  size_t capacity = (size_t)length / 2 + 16, count = 0;
  for (;;) {
    tsl_token *ids = PyMem_Malloc(capacity * sizeof *ids);
    if (!ids) return PyErr_NoMemory();
    tsl_status status =
        tsl_vocab_encode(of(self), text, (size_t)length, flags, ids, capacity, &count);
    PyObject *list = status == TSL_OK ? core_token_list(ids, count) : NULL;
    PyMem_Free(ids);
    if (status != TSL_ERR_LIMIT || count <= capacity)
      return list || status == TSL_OK ? list : core_raise(status, NULL, "encoding a text");
    capacity = count;
  }
}

static PyMethodDef methods[] = {
    {"_load_file", (PyCFunction)vocab_load_file, METH_VARARGS | METH_CLASS, NULL},
    {"_load_memory", (PyCFunction)vocab_load_memory, METH_VARARGS | METH_CLASS, NULL},
    {"_from_arrays", (PyCFunction)vocab_from_arrays, METH_VARARGS | METH_CLASS, NULL},
    {"embedded", (PyCFunction)vocab_embedded, METH_NOARGS | METH_CLASS,
     "embedded()\n--\n\nThe embedded vocabulary: 4,096 byte-level BPE tokens, for demonstrations "
     "and tests."},
    {"is_eog", vocab_is_eog, METH_O,
     "is_eog($self, token, /)\n--\n\nDoes the token end a generation?"},
    {"is_special", vocab_is_special, METH_O,
     "is_special($self, token, /)\n--\n\nIs the token special? Then it is allowed only where a "
     "grammar names it, never as the text that it looks like."},
    {"token_bytes", vocab_bytes, METH_O,
     "token_bytes($self, token, /)\n--\n\nThe bytes that a token spells. IndexError for an id out "
     "of range."},
    {"find_special", vocab_find_special, METH_O,
     "find_special($self, text, /)\n--\n\nThe id of the special or added token of exactly that "
     "text, or None."},
    {"set_walk_cache", vocab_set_walk_cache, METH_O,
     "set_walk_cache($self, max_bytes, /)\n--\n\nBound what grammars of the vocabulary learn from "
     "one another (9 MiB unless set; 0: nothing, and what there is goes).\n"
     "Masks are the same with and without."},
    {"encode", vocab_encode, METH_VARARGS,
     "encode($self, text, special=False, bos=False, /)\n--\n\nThe ids of a text, as the tokenizer "
     "would give them. With `special`, special tokens that are written\n"
     "out become those tokens; with `bos`, the beginning-of-sequence token comes first where the "
     "tokenizer asks for one. O(n log n)."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"size", vocab_size, NULL, "Number of tokens.", NULL},
    {"logits_width", vocab_width, NULL,
     "Columns of a row of logits; at least `size`. Those from `size` on are never allowed.", NULL},
    {"mask_words", vocab_words, NULL, "32-bit words of a mask: ceil(logits_width / 32).", NULL},
    {"memory", vocab_memory, NULL, "Bytes held.", NULL},
    {"identity", vocab_identity, NULL,
     "16 bytes: a hash of everything that changes a mask or an encoding.", NULL},
    {"eog_tokens", vocab_eog, NULL, "The ids that end a generation, a tuple.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)core_no_new},
    {Py_tp_dealloc, (void *)vocab_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {Py_tp_doc, (void *)"The base of turnstile.Vocab."},
    {0, NULL},
};

static PyType_Spec spec = {.name = "turnstile._core.Vocab",
                           .basicsize = sizeof(core_vocab),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                           .slots = slots};

int core_vocab_init(PyObject *module) {
  core.vocab = core_add_type(module, &spec);
  return core.vocab ? 0 : -1;
}
