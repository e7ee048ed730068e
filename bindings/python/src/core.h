/* core.h - what the files of the Python extension share.
 *
 * The extension is written against the stable ABI of CPython 3.9, so that one binary serves every
 * later version. A Python object holds one object of the library and nothing else that matters.
 * Vocab, Grammar, Matcher, Budget, Sampler and MaskTable have a file each. compile.c has Cancel,
 * Threads, Cache and Compile.
 *
 * Four things are newer in the stable ABI than in CPython itself, and declared here. The limited
 * headers have the buffer protocol from 3.11 on; the layout that 3.11 froze has been the same since
 * 3.0. They have METH_FASTCALL from 3.10 on; the convention is that of 3.7. The others are
 * PyUnicode_AsUTF8AndSize and PyMem_Calloc.
 *
 * Threads: calls that compile, load or fill a batch let other Python threads run meanwhile. A
 * matcher belongs to one thread at a time in the library. Here a matcher is marked as busy while a
 * batch is filled. A call from another thread raises StateError instead of racing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TURNSTILE_PYTHON_CORE_H
#define TURNSTILE_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include "turnstile.h"

#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif

#ifndef PyBUF_SIMPLE
typedef struct {
  void *buf;
  PyObject *obj;
  Py_ssize_t len, itemsize;
  int readonly, ndim;
  char *format;
  Py_ssize_t *shape, *strides, *suboffsets;
  void *internal;
} Py_buffer;
#define PyBUF_SIMPLE 0
#define PyBUF_WRITABLE 0x0001
#define PyBUF_FORMAT 0x0004
#define PyBUF_ND 0x0008
#define PyBUF_STRIDES (0x0010 | PyBUF_ND)
#define PyBUF_C_CONTIGUOUS (0x0020 | PyBUF_STRIDES)
PyAPI_FUNC(int) PyObject_CheckBuffer(PyObject *object);
PyAPI_FUNC(int) PyObject_GetBuffer(PyObject *object, Py_buffer *view, int flags);
PyAPI_FUNC(void) PyBuffer_Release(Py_buffer *view);
#endif
PyAPI_FUNC(const char *) PyUnicode_AsUTF8AndSize(PyObject *text, Py_ssize_t *length);
PyAPI_FUNC(void *) PyMem_Calloc(size_t count, size_t size);

typedef struct core_vocab {
  PyObject_HEAD tsl_vocab *vocab;
} core_vocab;

typedef struct core_grammar {
  PyObject_HEAD tsl_grammar *grammar;
  PyObject *vocab;  /* a core_vocab */
  PyObject *cancel; /* a core_cancel, the only flag that the grammar may poll, or NULL */
} core_grammar;

typedef struct core_matcher {
  PyObject_HEAD tsl_matcher *matcher;
  core_grammar *grammar;
  uint32_t words; /* of a mask */
  bool busy;      /* in a call that runs without the interpreter's lock */
} core_matcher;

typedef struct core_cancel {
  PyObject_HEAD int flag;
} core_cancel;

typedef struct core_threads {
  PyObject_HEAD tsl_threads *threads;
  long process; /* that they run in */
} core_threads;

typedef struct core_cache {
  PyObject_HEAD tsl_cache *cache;
} core_cache;

/* The types and exceptions of the module: one per process, made by its first import. The library
 * keeps no globals; CPython's types are. */
typedef struct core_types {
  PyTypeObject *vocab, *grammar, *matcher, *budget, *sampler, *cancel, *threads, *cache, *compile,
      *align, *events, *parser, *mask_table;
  PyObject *errors; /* turnstile.errors: a function that makes the exception of a status */
} core_types;
extern core_types core;

/* errors.c: set a Python exception from a status; always returns NULL. `error` may be NULL, `what`
 * names the call then. */
PyObject *core_raise(tsl_status status, const tsl_error *error, const char *what);

/* buffers.c: the memory of an object that has the buffer protocol or speaks DLPack (torch, jax,
 * cupy), in place. */
typedef struct core_span {
  void *data;
  Py_ssize_t bytes;   /* all of it */
  int ndim;           /* 1 or 2; a buffer without shape is 1 */
  Py_ssize_t rows;    /* 1 where ndim is 1 */
  Py_ssize_t stride;  /* bytes from one row to the next */
  Py_ssize_t columns; /* elements of a row */
  Py_ssize_t itemsize;
  char kind; /* 'i' signed, 'u' unsigned, 'f' float, 'b' bfloat16, '?' something else */
  Py_buffer view;
  PyObject *capsule; /* DLPack's, or NULL */
  bool has_view;
} core_span;
/* Open `object`, for writing if `writable`; rows must be contiguous. 0, or -1 with an exception
 * set. Close it with core_span_close. */
int core_span_open(PyObject *object, bool writable, core_span *span);
void core_span_close(core_span *span);
/* Is it an array of integers that can be read in place, as a mask is? false with TypeError set
 * otherwise: also for those of 64 bits, in whose words the tokens would not be where one looks for
 * them. */
bool core_has_words(const core_span *span);
/* Can the rows of a span be read as masks for `columns` logits? 0, or -1 with an exception set. */
int core_check_mask(const core_span *span, Py_ssize_t columns);

/* Make the types of a file and add them to the module; -1 with an exception set on failure. */
int core_vocab_init(PyObject *module);
int core_compile_init(PyObject *module);
int core_compile_types_init(PyObject *module);
int core_budget_init(PyObject *module);
int core_grammar_init(PyObject *module);
int core_matcher_init(PyObject *module);
int core_sampler_init(PyObject *module);
int core_decode_init(PyObject *module);
int core_events_init(PyObject *module);
int core_parser_init(PyObject *module);
int core_mask_table_init(PyObject *module);

/* compile.c: class methods of Grammar. _compile(kind, vocab, text, options, limits): compile;
 * _start((the same), threads): a Compile. What is in the tuples stands there, and in
 * turnstile/grammar.py, which makes them. */
PyObject *core_compile(PyObject *type, PyObject *arguments);
PyObject *core_write_tools(PyObject *module, PyObject *arguments);
/* lint.c: _lint(text, rules, fix, bounds): (findings as tuples, the mended text or None). */
PyObject *core_lint(PyObject *module, PyObject *arguments);
/* request.c: _request(text): (kind, text, pointer, offset, part, compact), the members of
 * tsl_request_source. _place(text, (pointer, offset, part), (message, pointer, offset, line,
 * column)): the latter five at their place in the request. */
PyObject *core_request(PyObject *module, PyObject *text);
PyObject *core_place(PyObject *module, PyObject *arguments);
PyObject *core_load(PyObject *type, PyObject *args);
PyObject *core_start(PyObject *type, PyObject *args);
/* A function of the module, which calls it at exit: cancel the compiles in the background that may
 * ask a resolver, and wait for them. */
PyObject *core_end_compiles(PyObject *module, PyObject *unused);
/* Do these threads run in this process, which may be a fork of theirs? false with an exception set
 * otherwise. */
bool core_threads_are_ours(PyObject *threads);
/* The number of this process. */
long core_this_process(void);
/* Is that this process? If not, a Python exception with the text `what` is set. */
bool core_is_ours(long process, const char *what);

/* matcher.c: what other files ask of a matcher. */
/* Is nobody using it? false with an exception set otherwise. Every call of the library's on a
 * matcher goes through here first, after all arguments are read. */
bool core_matcher_is_free(PyObject *matcher);
/* For a call that runs without the interpreter's lock: keep a free matcher alive and mark it as
 * busy, until it is let go. */
void core_matcher_hold(PyObject *matcher);
void core_matcher_let_go(PyObject *matcher);
/* Row `row` of an array as a mask of `words` words, the rest of the row cleared. NULL with an
 * exception set if it does not fit. */
uint32_t *core_mask_row(const core_span *span, Py_ssize_t row, uint32_t words);
/* An array of ids as a list; NULL with an exception set on failure. */
PyObject *core_token_list(const tsl_token *ids, size_t count);
/* A sequence of ids as an array to be freed with PyMem_Free; NULL with an exception set on
 * failure. */
tsl_token *core_read_ids(PyObject *sequence, Py_ssize_t *count);
PyObject *core_fill_batch(PyObject *module, PyObject *args, PyObject *kwargs);
extern const char core_fill_batch_doc[];

/* sampler.c, decode.c: functions of the module, and what they say of themselves. */
PyObject *core_measure_step(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_classifier_free(PyObject *module, PyObject *args);
PyObject *core_contrastive(PyObject *module, PyObject *args);
PyObject *core_find_loop(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_beam_search(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_score_all(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_mask_drafts(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_speculate(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_draft_forced(PyObject *module, PyObject *args, PyObject *kwargs);
extern const char core_measure_step_doc[], core_classifier_free_doc[], core_contrastive_doc[],
    core_beam_search_doc[], core_score_all_doc[], core_mask_drafts_doc[], core_speculate_doc[],
    core_draft_forced_doc[], core_find_loop_doc[];

/* Make a heap type from a spec and add it to the module under its last name; NULL on failure. */
PyTypeObject *core_add_type(PyObject *module, PyType_Spec *spec);

/* Read a str or bytes object as bytes that live as long as it does; -1 with an exception set for
 * anything else. */
int core_text(PyObject *object, const char *what, const char **text, Py_ssize_t *length);

/* An id, 0 to 2^32 - 2; -1 with an exception set otherwise. */
int core_token(PyObject *object, tsl_token *token);

/* For "O&": a uint32_t, an unsigned long long. What is negative or too large is a ValueError, where
 * CPython's own formats would take it modulo. */
int core_u32(PyObject *object, void *number);
int core_u64(PyObject *object, void *number);

/* Room for `count` elements and one more, to be freed with PyMem_Free; NULL with MemoryError set,
 * also where their size overflows. */
void *core_array(Py_ssize_t count, size_t size);

/* tp_new of types that are made by their class methods alone. */
PyObject *core_no_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);

/* Types that refer to other objects are traversed by the collector of cycles, and need no tp_clear.
 * What they refer to never changes, as with a tuple. So a cycle goes through something else that
 * can be cleared (a __dict__, a list). */

/* Free an instance of a heap type, and its reference to the type. */
void core_free_instance(PyObject *self);

#endif
