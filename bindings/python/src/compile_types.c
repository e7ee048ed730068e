/* compile_types.c - the types that are passed to a compile: Cancel (a flag that ends compiles),
 * Threads (workers) and Cache (compiled grammars by content).
 *
 * Each of them wraps one object of the library, and is used by several compiles at once. A Python
 * object that frees its library object waits for nobody: the compiles hold references.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#ifndef _WIN32
#include <unistd.h>
#endif

/* ---- processes ------------------------------------------------------------------------------- */

/* A fork has none of the threads of the process that it was made from: who waits there for one of
 * them waits for ever. So what has threads remembers its process; in another one it is not used,
 * and not freed. */
long core_this_process(void) {
#ifdef _WIN32
  return 0; /* there are no forks */
#else
  return (long)getpid();
#endif
}

bool core_is_ours(long process, const char *what) {
  if (process == core_this_process()) return true;
  core_raise(TSL_ERR_STATE, NULL, what);
  return false;
}

bool core_threads_are_ours(PyObject *threads) {
  return core_is_ours(((core_threads *)threads)->process,
                      "the threads are those of another process, of which this one is a fork");
}

/* ---- Cancel ---------------------------------------------------------------------------------- */

static PyObject *cancel_set(PyObject *self, PyObject *unused) {
  (void)unused;
  *(volatile int *)&((core_cancel *)self)->flag = 1;
  Py_RETURN_NONE;
}

static PyObject *cancel_clear(PyObject *self, PyObject *unused) {
  (void)unused;
  *(volatile int *)&((core_cancel *)self)->flag = 0;
  Py_RETURN_NONE;
}

static bool is_up(PyObject *self) { return *(volatile int *)&((core_cancel *)self)->flag; }

static PyObject *cancel_is_set(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(is_up(self));
}

static PyObject *cancel_repr(PyObject *self) {
  return PyUnicode_FromFormat("<turnstile.Cancel, %s>", is_up(self) ? "set" : "not set");
}

static PyMethodDef cancel_methods[] = {
    {"set", cancel_set, METH_NOARGS,
     "set($self, /)\n--\n\nEnd compiles and masks that poll this flag with CancelledError. From "
     "any thread."},
    {"clear", cancel_clear, METH_NOARGS, "clear($self, /)\n--\n\nLower the flag again."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef cancel_getset[] = {{"is_set", cancel_is_set, NULL, "Is the flag up?", NULL},
                                      {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot cancel_slots[] = {
    {Py_tp_dealloc, (void *)core_free_instance},
    {Py_tp_new, (void *)PyType_GenericNew},
    {Py_tp_repr, (void *)cancel_repr},
    {Py_tp_methods, cancel_methods},
    {Py_tp_getset, cancel_getset},
    {Py_tp_doc, (void *)"Cancel()\n--\n\nA flag that ends compiles from another thread: pass it as "
                        "`cancel=`, call set()."},
    {0, NULL},
};
static PyType_Spec cancel_spec = {.name = "turnstile._core.Cancel",
                                  .basicsize = sizeof(core_cancel),
                                  .flags = Py_TPFLAGS_DEFAULT,
                                  .slots = cancel_slots};

/* ---- Threads --------------------------------------------------------------------------------- */

static PyObject *threads_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"workers", NULL};
  tsl_threads_options options = {0};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O&:Threads", names, core_u32, &options.workers))
    return NULL;
  tsl_threads *threads = NULL;
  tsl_status status = tsl_threads_new(&options, NULL, &threads);
  if (status != TSL_OK) return core_raise(status, NULL, "starting worker threads");
  core_threads *self = (core_threads *)PyType_GenericAlloc(type, 0);
  if (!self) return tsl_threads_free(threads), NULL;
  self->threads = threads;
  self->process = core_this_process();
  return (PyObject *)self;
}

static void threads_dealloc(PyObject *self) {
  if (((core_threads *)self)->process == core_this_process()) {
    Py_BEGIN_ALLOW_THREADS /* a worker may be in a resolver written in Python */
        tsl_threads_free(((core_threads *)self)->threads);
    Py_END_ALLOW_THREADS
  }
  core_free_instance(self);
}

static PyObject *threads_workers(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromUnsignedLong(tsl_threads_count(((core_threads *)self)->threads));
}

static PyObject *threads_repr(PyObject *self) {
  return PyUnicode_FromFormat("<turnstile.Threads, %u workers>",
                              tsl_threads_count(((core_threads *)self)->threads));
}

static PyGetSetDef threads_getset[] = {
    {"workers", threads_workers, NULL, "How many threads there are.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot threads_slots[] = {
    {Py_tp_new, (void *)threads_new},
    {Py_tp_dealloc, (void *)threads_dealloc},
    {Py_tp_repr, (void *)threads_repr},
    {Py_tp_getset, threads_getset},
    {Py_tp_doc,
     (void *)"Threads(workers=0)\n--\n\nWorker threads of the library's own, for fill_batch and "
             "for compiles in the background; they never need the interpreter's lock.\n\n"
             "A fork of the process has none of them: StateError there.\n"
             "`workers` 0 starts one less than the machine has processors, at least 1 (the thread "
             "that calls fill_batch works too)."},
    {0, NULL},
};
static PyType_Spec threads_spec = {.name = "turnstile._core.Threads",
                                   .basicsize = sizeof(core_threads),
                                   .flags = Py_TPFLAGS_DEFAULT,
                                   .slots = threads_slots};

/* ---- Cache ----------------------------------------------------------------------------------- */

static PyObject *cache_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"max_bytes", NULL};
  unsigned long long bytes;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&:Cache", names, core_u64, &bytes)) return NULL;
  tsl_cache *cache = NULL;
  tsl_status status = tsl_cache_new(bytes, NULL, &cache);
  if (status != TSL_OK) return core_raise(status, NULL, "a cache, whose bound must not be 0");
  core_cache *self = (core_cache *)PyType_GenericAlloc(type, 0);
  if (self)
    self->cache = cache;
  else
    tsl_cache_free(cache);
  return (PyObject *)self;
}

static void cache_dealloc(PyObject *self) {
  tsl_cache_free(((core_cache *)self)->cache);
  core_free_instance(self);
}

static PyObject *cache_stats(PyObject *self, PyObject *unused) {
  (void)unused;
  tsl_cache_stats s;
  tsl_cache_get_stats(((core_cache *)self)->cache, &s);
  return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K}", "hits", (unsigned long long)s.hits,
                       "waits", (unsigned long long)s.waits, "misses", (unsigned long long)s.misses,
                       "bypasses", (unsigned long long)s.bypasses, "evictions",
                       (unsigned long long)s.evictions, "bytes", (unsigned long long)s.bytes,
                       "max_bytes", (unsigned long long)s.max_bytes, "entries",
                       (unsigned long long)s.entries);
}

static PyObject *cache_repr(PyObject *self) {
  tsl_cache_stats s;
  tsl_cache_get_stats(((core_cache *)self)->cache, &s);
  return PyUnicode_FromFormat("<turnstile.Cache of %zu grammars, %zu of %zu bytes>",
                              (size_t)s.entries, (size_t)s.bytes, (size_t)s.max_bytes);
}

static PyObject *cache_clear(PyObject *self, PyObject *unused) {
  (void)unused;
  tsl_cache_clear(((core_cache *)self)->cache);
  Py_RETURN_NONE;
}

static PyMethodDef cache_methods[] = {
    {"stats", cache_stats, METH_NOARGS,
     "stats($self, /)\n--\n\nA dict: hits, waits (hits that waited for another thread's compile), "
     "misses, bypasses (a resolver is set: not kept), evictions, bytes, max_bytes, entries."},
    {"clear", cache_clear, METH_NOARGS,
     "clear($self, /)\n--\n\nDrop everything that is held; the counters stay."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot cache_slots[] = {
    {Py_tp_new, (void *)cache_new},
    {Py_tp_dealloc, (void *)cache_dealloc},
    {Py_tp_repr, (void *)cache_repr},
    {Py_tp_methods, cache_methods},
    {Py_tp_doc,
     (void *)"Cache(max_bytes)\n--\n\nCompiled grammars by content, for any number of threads: "
             "pass it as `cache=`. Equal text, options, limits and vocabulary are one grammar;\n"
             "threads that ask for one at once compile it once. The least recently used go when "
             "the grammars' memory is over the bound. Failures are not kept."},
    {0, NULL},
};
static PyType_Spec cache_spec = {.name = "turnstile._core.Cache",
                                 .basicsize = sizeof(core_cache),
                                 .flags = Py_TPFLAGS_DEFAULT,
                                 .slots = cache_slots};

int core_compile_types_init(PyObject *module) {
  core.cancel = core_add_type(module, &cancel_spec);
  core.threads = core_add_type(module, &threads_spec);
  core.cache = core_add_type(module, &cache_spec);
  return core.cancel && core.threads && core.cache ? 0 : -1;
}
