/* compile.c - compiling: what Grammar's constructors call, and Compile (a compile that runs in the
 * background). The types that are passed to a compile are in compile_types.c.
 *
 * A compile is a job: its arguments as the library takes them, and references on the Python objects
 * that they point into. Kinds of grammars differ in a tuple of options alone. The library works
 * without the interpreter's lock; it is acquired again for a resolver of the user's, on whatever
 * thread that is. What a resolver returned is kept alive until the compile ends, and an exception
 * that it raised is the one that the compile raises.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a job ----------------------------------------------------------------------------------- */

/* The numbers of turnstile/grammar.py. The first six are those of tsl_source_kind. */
enum {
  KIND_JSON_SCHEMA = TSL_SOURCE_JSON_SCHEMA,
  KIND_REGEX = TSL_SOURCE_REGEX,
  KIND_GBNF = TSL_SOURCE_GBNF,
  KIND_LARK = TSL_SOURCE_LARK,
  KIND_EBNF = TSL_SOURCE_EBNF,
  KIND_ABNF = TSL_SOURCE_ABNF,
  KIND_TAGS,
  KIND_TOOLS
};

typedef struct job {
  int kind;
  core_vocab *vocab;   /* these three borrowed from `arguments` */
  core_cancel *cancel; /* or NULL */
  core_cache *cache;   /* or NULL */
  const char *folder;  /* of artifacts; or NULL */
  tsl_source source;
  tsl_schema_options schema; /* of JSON in tags and tools too */
  tsl_regex_options regex;
  tsl_lark_options lark;
  tsl_tools_options tools;
  char *left_out; /* lines, each ended by a newline, of what was left out of tools; or NULL */
  size_t left_out_length;
  bool left_out_lost; /* there was no memory for a line */
  tsl_limits limits;
  PyObject *resolver;  /* borrowed; or NULL */
  PyObject *kept;      /* a list of what it returned */
  PyObject *raised[3]; /* what it raised: type, value, traceback; or NULL */
  /* the Compile that this job is part of, borrowed; NULL without one, and once that is being
   * freed */
  PyObject *owner;
  PyObject *arguments; /* what the pointers above point into */
} job;

static void job_close(job *j) {
  Py_CLEAR(j->kept);
  Py_CLEAR(j->arguments);
  for (int i = 0; i < 3; i++) Py_CLEAR(j->raised[i]);
  free(j->left_out);
  j->left_out = NULL;
}

/* Called without the interpreter's lock. */
static void keep_left_out(void *ctx, const char *line) {
  job *j = ctx;
  size_t n = strlen(line);
  char *grown = realloc(j->left_out, j->left_out_length + n + 2);
  if (!grown) {
    j->left_out_lost = true;
    return;
  }
  j->left_out = grown;
  memcpy(grown + j->left_out_length, line, n);
  memcpy(grown + j->left_out_length + n, "\n", 2);
  j->left_out_length += n + 1;
}

/* A resolver written in Python: called with the URI, answers str, bytes or None. */
static bool answer(job *j, const char *uri, const char **text, size_t *length) {
  if (j->raised[0]) return false;
  PyObject *document = PyObject_CallFunction(j->resolver, "s", uri);
  Py_ssize_t n = 0;
  bool found = document && document != Py_None &&
               core_text(document, "what a resolver returns", text, &n) == 0 &&
               PyList_Append(j->kept, document) == 0;
  *length = (size_t)n;
  Py_XDECREF(document);
  if (PyErr_Occurred()) {
    PyErr_Fetch(&j->raised[0], &j->raised[1], &j->raised[2]);
    PyErr_NormalizeException(&j->raised[0], &j->raised[1], &j->raised[2]);
  }
  return found;
}

static int drop(void *object) {
  Py_DECREF((PyObject *)object);
  return 0;
}

/* On the thread that compiles. Should the resolver drop its own Compile, that is freed later and by
 * another thread, as freeing it waits for this one. */
static bool resolve(void *ctx, const char *uri, const char **text, size_t *length) {
  job *j = ctx;
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject *owner = j->owner;
  Py_XINCREF(owner);
  bool found = answer(j, uri, text, length);
  if (owner && Py_REFCNT(owner) > 1)
    Py_DECREF(owner);
  else if (owner)
    Py_AddPendingCall(
        drop, owner); /* a full queue keeps it for ever, which is better than waiting for oneself */
  PyGILState_Release(state);
  return found;
}

/* How JSON is written (order, whitespace, its bounds, indent, spelling, generous), and what schemas
 * mean, wherever they stand. */
static int read_style(PyObject *style, tsl_schema_options *schema) {
  int order, whitespace, spelling, generous, draft, ignore_formats, assert_content, nullable;
  int repeated_names;
  if (!PyArg_ParseTuple(style, "iiO&O&O&O&ipippppO&", &order, &whitespace, core_u32,
                        &schema->whitespace_max, core_u32, &schema->whitespace_lines, core_u32,
                        &schema->whitespace_columns, core_u32, &schema->indent, &spelling,
                        &generous, &draft, &ignore_formats, &assert_content, &nullable,
                        &repeated_names, core_u32, &schema->max_nesting))
    return -1;
  schema->spelling = (tsl_spelling)spelling;
  schema->generous = generous;
  schema->order = (tsl_order)order;
  schema->whitespace = (tsl_whitespace)whitespace;
  schema->draft = (tsl_draft)draft;
  schema->ignore_formats = ignore_formats;
  schema->assert_content = assert_content;
  schema->nullable = nullable;
  schema->repeated_names = repeated_names;
  return 0;
}

/* (style, lazy, resolver or None, base_uri or None) */
static int read_schema(PyObject *options, job *j) {
  PyObject *style;
  int lazy;
  if (!PyArg_ParseTuple(options, "O!pOz", &PyTuple_Type, &style, &lazy, &j->resolver,
                        &j->schema.base_uri) ||
      read_style(style, &j->schema) < 0)
    return -1;
  j->schema.lazy = lazy;
  if (j->resolver == Py_None) j->resolver = NULL;
  if (!j->resolver) return 0;
  j->schema.resolver = resolve;
  j->schema.resolver_ctx = j;
  j->kept = PyList_New(0);
  return j->kept ? 0 : -1;
}

/* A Grammar of the same vocabulary, or None. Whether its tables are shared is not known here: if
 * they are, its flag is polled, and the one of the call is not. So its flag, where it has one, is
 * the new grammar's too. There is one flag to keep alive, however many grammars are made over one
 * another. What another resolver has answered is not kept: the library would know it by the job's
 * address alone, where jobs come and go. */
static int read_over(PyObject *over, job *j) {
  if (over == Py_None) return 0;
  if (!PyObject_TypeCheck(over, core.grammar))
    return PyErr_SetString(PyExc_TypeError, "over must be a Grammar"), -1;
  core_grammar *before = (core_grammar *)over;
  if (before->vocab != (PyObject *)j->vocab)
    return PyErr_SetString(PyExc_ValueError, "over must be a Grammar of the same Vocab"), -1;
  if (j->resolver) return 0;
  j->tools.over = before->grammar;
  if (before->cancel) {
    j->cancel = (core_cancel *)before->cancel;
    j->limits.cancel = &j->cancel->flag;
  }
  return 0;
}

static int read_tags(PyObject *options, job *j) {
  PyObject *schema, *over;
  if (!PyArg_ParseTuple(options, "O!O", &PyTuple_Type, &schema, &over) ||
      read_schema(schema, j) < 0)
    return -1;
  return read_over(over, j);
}

static int read_tools(PyObject *options, job *j) {
  PyObject *schema, *over;
  int thinking, lenient;
  if (!PyArg_ParseTuple(options, "O!sziiO&pO", &PyTuple_Type, &schema, &j->tools.preset,
                        &j->tools.tool_choice, &j->tools.parallel, &thinking, core_u32,
                        &j->tools.max_thinking_tokens, &lenient, &over) ||
      read_schema(schema, j) < 0)
    return -1;
  j->tools.thinking = (tsl_thinking)thinking;
  j->tools.lenient = lenient != 0;
  j->tools.schema = &j->schema;
  j->tools.report = keep_left_out;
  j->tools.report_ctx = j;
  return read_over(over, j);
}

static int read_regex(PyObject *options, job *j) {
  int insensitive, dot_all, search;
  if (!PyArg_ParseTuple(options, "ppp", &insensitive, &dot_all, &search)) return -1;
  j->regex =
      (tsl_regex_options){.case_insensitive = insensitive, .dot_all = dot_all, .search = search};
  return 0;
}

/* (start, resolver or None, lexer or None) */
static int read_lark(PyObject *options, job *j) {
  if (!PyArg_ParseTuple(options, "zOz", &j->source.root, &j->resolver, &j->lark.lexer)) return -1;
  j->source.lark = &j->lark;
  if (j->resolver == Py_None) j->resolver = NULL;
  if (!j->resolver) return 0;
  j->lark.resolver = resolve;
  j->lark.resolver_ctx = j;
  j->kept = PyList_New(0);
  return j->kept ? 0 : -1;
}

static int read_options(PyObject *options, job *j) {
  switch (j->kind) {
  case KIND_JSON_SCHEMA: return read_schema(options, j);
  case KIND_REGEX: return read_regex(options, j);
  case KIND_EBNF:
  case KIND_ABNF:
  case KIND_GBNF: return PyArg_ParseTuple(options, "z", &j->source.root) ? 0 : -1;
  case KIND_LARK: return read_lark(options, j);
  case KIND_TAGS: return read_tags(options, j);
  default: return read_tools(options, j);
  }
}

/* (max_memory, max_stacks, max_depth, max_steps, deadline in µs, Cancel or None, Cache, path of a
 * folder or None) */
static int read_limits(PyObject *limits, job *j) {
  unsigned long long memory, steps, deadline;
  uint32_t stacks, depth;
  PyObject *cancel, *cache;
  if (!PyArg_ParseTuple(limits, "O&O&O&O&O&OO", core_u64, &memory, core_u32, &stacks, core_u32,
                        &depth, core_u64, &steps, core_u64, &deadline, &cancel, &cache))
    return -1;
  if (cancel != Py_None && !PyObject_TypeCheck(cancel, core.cancel))
    return PyErr_SetString(PyExc_TypeError, "cancel must be a Cancel"), -1;
  bool folder = PyUnicode_Check(cache);
  if (folder && !(j->folder = PyUnicode_AsUTF8AndSize(cache, NULL))) return -1;
  if (cache != Py_None && !folder && !PyObject_TypeCheck(cache, core.cache))
    return PyErr_SetString(PyExc_TypeError, "cache must be a Cache or a path"), -1;
  j->cancel = cancel == Py_None ? NULL : (core_cancel *)cancel;
  j->cache = cache == Py_None || folder ? NULL : (core_cache *)cache;
  j->limits = (tsl_limits){.max_memory = memory,
                           .max_stacks = stacks,
                           .max_depth = depth,
                           .max_steps = steps,
                           .deadline_us = deadline,
                           .cancel = j->cancel ? &j->cancel->flag : NULL};
  return 0;
}

/* Read (kind, vocab, text, options, limits). `j` must stay where it is; close it in any case. */
static int job_open(PyObject *arguments, job *j) {
  PyObject *vocab, *text, *options, *limits;
  Py_ssize_t length;
  memset(j, 0, sizeof *j);
  if (!PyArg_ParseTuple(arguments, "iOOO!O!", &j->kind, &vocab, &text, &PyTuple_Type, &options,
                        &PyTuple_Type, &limits))
    return -1;
  Py_INCREF(arguments);
  j->arguments = arguments;
  if (!PyObject_TypeCheck(vocab, core.vocab))
    return PyErr_SetString(PyExc_TypeError, "the first argument must be a Vocab"), -1;
  j->vocab = (core_vocab *)vocab;
  if (core_text(text, "the grammar", &j->source.text, &length) < 0 || read_limits(limits, j) < 0 ||
      read_options(options, j) < 0)
    return -1;
  j->source.kind = (tsl_source_kind)j->kind;
  j->source.length = (size_t)length;
  j->source.schema = &j->schema;
  j->source.regex = &j->regex;
  j->source.limits = &j->limits;
  return 0;
}

static tsl_status job_run(const job *j, tsl_grammar **out, tsl_error *error) {
  const tsl_source *s = &j->source;
  if (j->kind == KIND_TAGS && j->tools.over)
    return tsl_grammar_tags_over(j->tools.over, s->text, s->length, &j->schema, &j->limits, out,
                                 error);
  if (j->kind == KIND_TAGS)
    return tsl_grammar_tags(j->vocab->vocab, s->text, s->length, &j->schema, &j->limits, out,
                            error);
  if (j->kind == KIND_TOOLS)
    return tsl_grammar_tools(j->vocab->vocab, s->text, s->length, &j->tools, &j->limits, out,
                             error);
  if (j->folder) return tsl_store_get(j->vocab->vocab, j->folder, s, NULL, out, NULL, error);
  if (j->cache) return tsl_cache_get(j->cache->cache, j->vocab->vocab, s, out, error);
  return tsl_grammar_compile(j->vocab->vocab, s, out, error);
}

static void keep_text(void *ctx, const char *line) {
  *(PyObject **)ctx = PyUnicode_FromString(line);
}

PyObject *core_write_tools(PyObject *module, PyObject *arguments) {
  job j;
  PyObject *text = NULL;
  tsl_error error = {0};
  (void)module;
  if (job_open(arguments, &j) == 0 && j.kind == KIND_TOOLS) {
    tsl_status status = tsl_tools_write(j.vocab->vocab, j.source.text, j.source.length, &j.tools,
                                        keep_text, &text, &error);
    if (status != TSL_OK) core_raise(status, &error, "writing a structural tag");
  }
  job_close(&j);
  return text;
}

PyObject *core_load(PyObject *type, PyObject *args) {
  PyObject *vocab, *path;
  tsl_grammar *grammar = NULL;
  tsl_error error = {0};
  tsl_status status;
  if (!PyArg_ParseTuple(args, "O!O&:load", core.vocab, &vocab, PyUnicode_FSConverter, &path))
    return NULL;
  const char *name = PyBytes_AsString(path);
  Py_BEGIN_ALLOW_THREADS status =
      tsl_grammar_load(((core_vocab *)vocab)->vocab, name, NULL, &grammar, &error);
  Py_END_ALLOW_THREADS Py_DECREF(path);
  if (status != TSL_OK) return core_raise(status, &error, "loading a grammar");
  core_grammar *self = (core_grammar *)PyType_GenericAlloc((PyTypeObject *)type, 0);
  if (!self) return tsl_grammar_release(grammar), NULL;
  self->grammar = grammar;
  Py_INCREF(vocab);
  self->vocab = vocab;
  return (PyObject *)self;
}

/* What a caller can do about a document that nobody has. */
static tsl_error with_advice(const job *j, const tsl_error *error) {
  static const char begin[] = "no document is known for ";
  tsl_error e = *error;
  const size_t n = strlen(e.message);
  if (!j->resolver && !strncmp(e.message, begin, sizeof begin - 1))
    snprintf(e.message + n, sizeof e.message - n,
             "; resolver= takes a function that finds documents");
  return e;
}

/* The Grammar of a job that has ended, or its exception. Takes `grammar` over. */
static PyObject *job_result(job *j, PyTypeObject *type, tsl_status status, const tsl_error *error,
                            tsl_grammar *grammar) {
  if (j->raised[0]) {
    tsl_grammar_release(grammar);
    for (int i = 0; i < 3; i++) Py_XINCREF(j->raised[i]); /* it may be requested again */
    PyErr_Restore(j->raised[0], j->raised[1], j->raised[2]);
    return NULL;
  }
  if (status != TSL_OK) {
    const tsl_error e = with_advice(j, error);
    return core_raise(status, &e, "compiling a grammar");
  }
  core_grammar *self = (core_grammar *)PyType_GenericAlloc(type, 0);
  if (!self) {
    tsl_grammar_release(grammar);
    return NULL;
  }
  self->grammar = grammar;
  Py_INCREF(j->vocab);
  self->vocab = (PyObject *)j->vocab;
  Py_XINCREF(j->cancel);
  self->cancel = (PyObject *)j->cancel;
  PyObject *lines = j->left_out_lost ? PyErr_NoMemory()
                    : j->left_out    ? PyUnicode_FromString(j->left_out)
                                     : NULL;
  bool fails = PyErr_Occurred() ||
               (lines && PyObject_SetAttrString((PyObject *)self, "_left_out", lines) < 0);
  Py_XDECREF(lines);
  if (fails) Py_CLEAR(self);
  return (PyObject *)self;
}

PyObject *core_compile(PyObject *type, PyObject *arguments) {
  job j;
  PyObject *result = NULL;
  if (job_open(arguments, &j) == 0) {
    tsl_grammar *grammar = NULL;
    tsl_error error = {0};
    tsl_status status;
    Py_BEGIN_ALLOW_THREADS status = job_run(&j, &grammar, &error);
    Py_END_ALLOW_THREADS result = job_result(&j, (PyTypeObject *)type, status, &error, grammar);
  }
  job_close(&j);
  return result;
}

/* ---- Compile --------------------------------------------------------------------------------- */

typedef struct core_background {
  PyObject_HEAD job job;
  tsl_compile *compile;
  long process;                         /* that it was started in */
  PyObject *threads;                    /* a core_threads, or NULL */
  PyObject *type;                       /* of the Grammar that it will be */
  struct core_background *next, **link; /* in `asking`; link NULL: not in it */
} core_background;

/* Compiles that may ask a resolver written in Python. A thread that wants the interpreter's lock
 * while the interpreter ends never gets it. Who waits for the compile of such a thread waits for
 * ever. So these threads are ended before. */
static core_background *asking;

static void add_asking(core_background *b) {
  b->next = asking;
  b->link = &asking;
  if (asking) asking->link = &b->next;
  asking = b;
}

static void remove_asking(core_background *b) {
  if (!b->link) return;
  *b->link = b->next;
  if (b->next) b->next->link = b->link;
  b->link = NULL;
}

/* Begin the job of a Compile. */
static int background_start(core_background *self) {
  if (self->job.kind > KIND_ABNF)
    return PyErr_SetString(PyExc_ValueError, "tags and tools can't be compiled in the background"),
           -1;
  if (self->job.folder)
    return PyErr_SetString(PyExc_ValueError,
                           "a compile in the background uses a Cache, not a folder"),
           -1;
  if (self->job.cancel)
    return PyErr_SetString(PyExc_ValueError,
                           "a compile in the background is ended by its own cancel()"),
           -1;
  tsl_error error = {0};
  tsl_status status =
      tsl_compile_start(self->threads ? ((core_threads *)self->threads)->threads : NULL,
                        self->job.cache ? self->job.cache->cache : NULL, self->job.vocab->vocab,
                        &self->job.source, &self->compile, &error);
  if (status != TSL_OK) return core_raise(status, &error, "starting a compile"), -1;
  if (self->job.resolver) add_asking(self);
  return 0;
}

PyObject *core_start(PyObject *type, PyObject *args) {
  PyObject *threads, *arguments;
  if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &arguments, &threads)) return NULL;
  if (threads != Py_None && !PyObject_TypeCheck(threads, core.threads))
    return PyErr_SetString(PyExc_TypeError, "threads must be a Threads"), NULL;
  if (threads != Py_None && !core_threads_are_ours(threads)) return NULL;
  core_background *self = (core_background *)PyType_GenericAlloc(core.compile, 0);
  if (!self) return NULL;
  if (threads != Py_None) {
    Py_INCREF(threads);
    self->threads = threads;
  }
  Py_INCREF(type);
  self->type = type;
  self->process = core_this_process();
  int failed = job_open(arguments, &self->job);
  self->job.owner = (PyObject *)self;
  if (!failed && background_start(self) == 0) return (PyObject *)self;
  Py_DECREF(self);
  return NULL;
}

/* The arguments, a resolver among them, and what that returned and raised. */
static int background_traverse(PyObject *object, visitproc visit, void *arg) {
  core_background *self = (core_background *)object;
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->job.arguments);
  Py_VISIT(self->job.kept);
  for (int i = 0; i < 3; i++) Py_VISIT(self->job.raised[i]);
  Py_VISIT(self->threads);
  Py_VISIT(self->type);
  return 0;
}

static void background_dealloc(PyObject *object) {
  core_background *self = (core_background *)object;
  PyObject_GC_UnTrack(object);
  /* a resolver that is called from here on must not hold what is being freed */
  self->job.owner = NULL;
  remove_asking(self);
  if (self->process == core_this_process()) {
    Py_BEGIN_ALLOW_THREADS /* the compile may be in a resolver written in Python */
        tsl_compile_free(self->compile);
    Py_END_ALLOW_THREADS
  }
  job_close(&self->job);
  Py_XDECREF(self->threads);
  Py_XDECREF(self->type);
  core_free_instance(object);
}

#define OTHER_COMPILE "the compile is that of another process, of which this one is a fork"

static PyObject *background_cancel(PyObject *self, PyObject *unused) {
  (void)unused;
  if (!core_is_ours(((core_background *)self)->process, OTHER_COMPILE)) return NULL;
  tsl_compile_cancel(((core_background *)self)->compile);
  Py_RETURN_NONE;
}

static PyObject *background_done(PyObject *self, void *unused) {
  (void)unused;
  if (!core_is_ours(((core_background *)self)->process, OTHER_COMPILE)) return NULL;
  return PyBool_FromLong(tsl_compile_is_done(((core_background *)self)->compile));
}

/* Wait `left` seconds in parts of a tenth, so that Ctrl-C is seen. */
static tsl_status wait_in_parts(core_background *self, double left, tsl_grammar **grammar,
                                tsl_error *error) {
  tsl_status status;
  do {
    double part = left < 0.1 ? left : 0.1;
    Py_BEGIN_ALLOW_THREADS status =
        tsl_compile_wait(self->compile, (uint64_t)(part * 1e6), grammar, error);
    Py_END_ALLOW_THREADS left -= part;
  } while (status == TSL_ERR_STATE && left > 0 && PyErr_CheckSignals() == 0);
  return status;
}

PyObject *core_end_compiles(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  for (core_background *b = asking; b; b = b->next)
    if (b->process == core_this_process()) tsl_compile_cancel(b->compile);
  while (asking && !PyErr_Occurred()) {
    core_background *b = asking;
    remove_asking(b);
    if (b->process != core_this_process()) continue;
    tsl_grammar *grammar = NULL;
    tsl_error error = {0};
    Py_INCREF(b);
    (void)wait_in_parts(b, 1e12, &grammar, &error);
    tsl_grammar_release(grammar);
    Py_DECREF(b);
  }
  if (PyErr_Occurred()) return NULL; /* Ctrl-C */
  Py_RETURN_NONE;
}

static PyObject *background_result(PyObject *object, PyObject *args) {
  core_background *self = (core_background *)object;
  PyObject *timeout = Py_None;
  if (!PyArg_ParseTuple(args, "|O:result", &timeout)) return NULL;
  double seconds = timeout == Py_None ? 1e12 : PyFloat_AsDouble(timeout);
  if (PyErr_Occurred() || !core_is_ours(self->process, OTHER_COMPILE)) return NULL;
  tsl_grammar *grammar = NULL;
  tsl_error error = {0};
  Py_INCREF(self); /* a handler of signals may drop it */
  tsl_status status = wait_in_parts(self, seconds > 0 ? seconds : 0, &grammar, &error);
  PyObject *result = NULL;
  if (!PyErr_Occurred()) {
    if (status == TSL_ERR_STATE)
      PyErr_SetString(PyExc_TimeoutError, "the compile has not ended yet");
    else
      result = job_result(&self->job, (PyTypeObject *)self->type, status, &error, grammar);
  }
  Py_DECREF(self);
  return result;
}

static PyObject *background_repr(PyObject *self) {
  PyObject *done = background_done(self, NULL);
  if (!done) return NULL;
  PyObject *text =
      PyUnicode_FromFormat("<turnstile.Compile, %s>", done == Py_True ? "done" : "under way");
  Py_DECREF(done);
  return text;
}

static PyMethodDef background_methods[] = {
    {"result", background_result, METH_VARARGS,
     "result($self, timeout=None, /)\n--\n\nThe Grammar, or the exception of the compile; waits "
     "for it, at most `timeout` seconds (None: as long as it takes): TimeoutError then."},
    {"cancel", background_cancel, METH_NOARGS,
     "cancel($self, /)\n--\n\nAsk the compile to end early, with CancelledError as its result. "
     "Never blocks."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef background_getset[] = {
    {"done", background_done, NULL, "Has it ended, well or not?", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot background_slots[] = {
    {Py_tp_new, (void *)core_no_new},
    {Py_tp_dealloc, (void *)background_dealloc},
    {Py_tp_traverse, (void *)background_traverse},
    {Py_tp_repr, (void *)background_repr},
    {Py_tp_methods, background_methods},
    {Py_tp_getset, background_getset},
    {Py_tp_doc, (void *)"A compile in the background, made by Grammar.start. Dropping it cancels "
                        "what has not ended, and waits for that."},
    {0, NULL},
};
static PyType_Spec background_spec = {.name = "turnstile._core.Compile",
                                      .basicsize = sizeof(core_background),
                                      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                                      .slots = background_slots};

int core_compile_init(PyObject *module) {
  core.compile = core_add_type(module, &background_spec);
  return core.compile ? 0 : -1;
}
