/* decode.c - decoders that know the grammar: drafts, beams, the model's own distribution,
 * probabilities of all outputs.
 *
 * A model is a callable. It gets a list of prefixes (lists of tokens after the prompt) and returns
 * their rows of logits. These are an array of float32 of shape (prefixes, logits_width), which is
 * copied. What it raises ends the call and is raised by it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <string.h>

/* ---- the model ------------------------------------------------------------------------------- */

typedef struct model {
  PyObject *call;
  uint32_t width;
} model;

static PyObject *list_prefixes(const tsl_prefix *prefixes, size_t n) {
  PyObject *list = PyList_New((Py_ssize_t)n);
  for (size_t i = 0; list && i < n; i++) {
    PyObject *ids = core_token_list(prefixes[i].tokens, prefixes[i].count);
    if (!ids || PyList_SetItem(list, (Py_ssize_t)i, ids) < 0) Py_CLEAR(list);
  }
  return list;
}

/* Copy the rows that a model returned; 0, or -1 with an exception set. */
static int copy_rows(PyObject *rows, size_t n, uint32_t width, float *logits) {
  core_span s;
  if (core_span_open(rows, false, &s) < 0) return -1;
  int failed = 0;
  if (s.kind != 'f' || s.itemsize != 4)
    failed = (PyErr_SetString(PyExc_TypeError, "a model returns rows of float32"), -1);
  else if (s.columns != (Py_ssize_t)width || s.rows != (Py_ssize_t)n)
    failed =
        (PyErr_Format(PyExc_ValueError, "a model returned %zd rows of %zd logits, not %zu of %u",
                      s.rows, s.columns, n, width),
         -1);
  for (size_t i = 0; !failed && i < n; i++)
    memcpy(logits + i * width, (const char *)s.data + (Py_ssize_t)i * s.stride,
           width * sizeof *logits);
  core_span_close(&s);
  return failed;
}

/* TSL_ERR_STATE with an exception set where the model fails: core_raise leaves that alone. */
static tsl_status ask(void *ctx, const tsl_prefix *prefixes, size_t n, float *logits) {
  const model *m = ctx;
  PyObject *list = list_prefixes(prefixes, n),
           *rows = list ? PyObject_CallFunctionObjArgs(m->call, list, NULL) : NULL;
  int failed = !rows || copy_rows(rows, n, m->width, logits) < 0;
  Py_XDECREF(list);
  Py_XDECREF(rows);
  return failed ? TSL_ERR_STATE : TSL_OK;
}

static model model_of(PyObject *grammar, PyObject *call) {
  return (model){call,
                 tsl_vocab_logits_width(tsl_grammar_vocab(((core_grammar *)grammar)->grammar))};
}

/* ---- beams ----------------------------------------------------------------------------------- */

const char core_beam_search_doc[] =
    "beam_search(grammar, model, width, max_tokens, n_best=0, length_penalty=0.0)\n--\n\nThe most "
    "probable texts of a grammar, complete within `max_tokens`, found by keeping "
    "`width` prefixes at each length.\n\n"
    "`model(prefixes)` gets a list of lists of tokens and returns float32 logits of shape "
    "(prefixes, logits_width). A list of (text, tokens,\n"
    "log_probability, score), the best first, `n_best` at most (0: `width`); texts are bytes, and "
    "distinct. LimitError if no text fits.";

static PyObject *beam(const tsl_beams *b, size_t i) {
  size_t count, length;
  const tsl_token *tokens = tsl_beams_tokens(b, i, &count);
  const char *text = tsl_beams_text(b, i, &length);
  PyObject *ids = core_token_list(tokens, count);
  if (!ids) return NULL;
  return Py_BuildValue("y#Ndd", text, (Py_ssize_t)length, ids, tsl_beams_log_probability(b, i),
                       tsl_beams_score(b, i));
}

PyObject *core_beam_search(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"grammar", "model",          "width", "max_tokens",
                          "n_best",  "length_penalty", NULL};
  PyObject *grammar, *call;
  tsl_beam_options o = {0};
  tsl_error error = {0};
  tsl_beams *beams;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!OO&O&|O&f:beam_search", names, core.grammar,
                                   &grammar, &call, core_u32, &o.width, core_u32, &o.max_tokens,
                                   core_u32, &o.n_best, &o.length_penalty))
    return NULL;
  model m = model_of(grammar, call);
  tsl_status status =
      tsl_beam_search(((core_grammar *)grammar)->grammar, ask, &m, &o, NULL, &beams, &error);
  if (status != TSL_OK) return core_raise(status, &error, "beam search");
  PyObject *list = PyList_New((Py_ssize_t)tsl_beams_count(beams));
  for (size_t i = 0; list && i < tsl_beams_count(beams); i++) {
    PyObject *item = beam(beams, i);
    if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) Py_CLEAR(list);
  }
  tsl_beams_free(beams);
  return list;
}

/* ---- all outputs ----------------------------------------------------------------------------- */

const char core_score_all_doc[] =
    "score_all(grammar, model, *, max_outputs=0, max_prefixes=0, batch=0, all_tokenisations=False, "
    "plain_json=False, open_end=False)\n--\n\nThe probabilities of all texts "
    "of a grammar that has finitely many: a classifier's calibrated answer.\n\n"
    "`model` is as for beam_search. Returns (texts, missing): a list of (text, log_probability, "
    "probability) in the order of the bytes, where\n"
    "log_probability is the model's own and the probabilities sum to 1; and how much probability "
    "was not looked at, 0.0 unless `max_prefixes` ended a sum\n"
    "over `all_tokenisations`. 0 means the default: 1,000 outputs, 100,000 prefixes, 32 in one "
    "call. LimitError if there are more.\n"
    "With a Matcher in the place of the grammar: the ways to go on from where it stands; prefixes "
    "begin there. score_mean is the mean over several traces.";

static PyObject *scores_list(const tsl_scores *s) {
  PyObject *list = PyList_New((Py_ssize_t)tsl_scores_count(s));
  for (size_t i = 0; list && i < tsl_scores_count(s); i++) {
    size_t length;
    const char *text = tsl_scores_text(s, i, &length);
    PyObject *item = Py_BuildValue("y#dd", text, (Py_ssize_t)length,
                                   tsl_scores_log_probability(s, i), tsl_scores_probability(s, i));
    if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) Py_CLEAR(list);
  }
  return list;
}

PyObject *core_score_all(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"grammar",      "model",    "max_outputs",
                          "max_prefixes", "batch",    "all_tokenisations",
                          "plain_json",   "open_end", NULL};
  PyObject *grammar, *call;
  tsl_score_options o = {0};
  int all = 0, plain = 0, open = 0;
  tsl_error error = {0};
  tsl_scores *scores;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$O&O&O&ppp:score_all", names, &grammar, &call,
                                   core_u32, &o.max_outputs, core_u32, &o.max_prefixes, core_u32,
                                   &o.batch, &all, &plain, &open))
    return NULL;
  core_matcher *from = PyObject_TypeCheck(grammar, core.matcher) ? (core_matcher *)grammar : NULL;
  if (from && !core_matcher_is_free(grammar)) return NULL;
  if (!from && !PyObject_TypeCheck(grammar, core.grammar))
    return PyErr_SetString(PyExc_TypeError, "score_all takes a Grammar or a Matcher"), NULL;
  o.all_tokenisations = all, o.plain_json = plain, o.open_end = open;
  model m = model_of(from ? (PyObject *)from->grammar : grammar, call);
  tsl_status status =
      from ? tsl_score_all_from(from->matcher, ask, &m, &o, NULL, &scores, &error)
           : tsl_score_all(((core_grammar *)grammar)->grammar, ask, &m, &o, NULL, &scores, &error);
  if (status != TSL_OK) return core_raise(status, &error, "score_all");
  PyObject *list = scores_list(scores);
  double missing = tsl_scores_missing(scores);
  tsl_scores_free(scores);
  return list ? Py_BuildValue("Nd", list, missing) : NULL;
}

/* ---- the model's own distribution ------------------------------------------------------------ */

typedef struct core_align {
  PyObject_HEAD tsl_align *align;
  PyObject *grammar; /* a core_grammar */
  model model;
  uint32_t max_tokens;
  bool busy; /* the model is running */
} core_align;

static PyObject *align_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"grammar", "model", "max_tokens", "seed", NULL};
  PyObject *grammar, *call;
  unsigned long long seed = 0;
  tsl_align_options o = {0};
  tsl_error error = {0};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!OO&|O&:Align", names, core.grammar, &grammar,
                                   &call, core_u32, &o.max_tokens, core_u64, &seed))
    return NULL;
  o.seed = seed;
  core_align *self = (core_align *)PyType_GenericAlloc(type, 0);
  if (!self) return NULL;
  Py_INCREF(call);
  Py_INCREF(grammar);
  self->model = model_of(grammar, call);
  self->grammar = grammar;
  self->max_tokens = o.max_tokens;
  tsl_status status = tsl_align_new(((core_grammar *)grammar)->grammar, ask, &self->model, &o, NULL,
                                    &self->align, &error);
  if (status == TSL_OK) return (PyObject *)self;
  Py_DECREF(self);
  return core_raise(status, &error, "an aligned sampler");
}

/* The model is any callable, and may lead back here. */
static int align_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(((core_align *)object)->model.call);
  Py_VISIT(((core_align *)object)->grammar);
  return 0;
}

static int align_clear(PyObject *object) {
  Py_CLEAR(((core_align *)object)->model.call);
  Py_CLEAR(((core_align *)object)->grammar);
  return 0;
}

static void align_dealloc(PyObject *object) {
  PyObject_GC_UnTrack(object);
  tsl_align_free(((core_align *)object)->align);
  align_clear(object);
  core_free_instance(object);
}

/* A model that asks the sampler which asks it would change it under its feet. */
static bool begin(core_align *self) {
  if (self->busy)
    core_raise(TSL_ERR_STATE, NULL, "the model is running");
  else
    self->busy = true;
  return !PyErr_Occurred();
}

static PyObject *align_sample(PyObject *object, PyObject *unused) {
  core_align *self = (core_align *)object;
  size_t count = 0;
  double log_probability = 0;
  (void)unused;
  tsl_token *ids = core_array((Py_ssize_t)self->max_tokens, sizeof *ids);
  if (!ids) return NULL;
  if (!begin(self)) {
    PyMem_Free(ids);
    return NULL;
  }
  tsl_status status = tsl_align_sample(self->align, ids, &count, &log_probability);
  self->busy = false;
  PyObject *list =
      status == TSL_OK ? core_token_list(ids, count) : core_raise(status, NULL, "drawing a text");
  PyMem_Free(ids);
  return list ? Py_BuildValue("Nd", list, log_probability) : NULL;
}

static PyObject *align_probability(PyObject *object, PyObject *sequence) {
  core_align *self = (core_align *)object;
  Py_ssize_t count;
  double p = 0;
  tsl_token *ids = core_read_ids(sequence, &count);
  if (!ids || !begin(self)) {
    PyMem_Free(ids);
    return NULL;
  }
  tsl_status status = tsl_align_probability(self->align, ids, (size_t)count, &p);
  self->busy = false;
  PyMem_Free(ids);
  return status == TSL_OK ? PyFloat_FromDouble(p)
                          : core_raise(status, NULL, "a text's probability");
}

static PyObject *align_mass(PyObject *object, void *unused) {
  (void)unused;
  return PyFloat_FromDouble(tsl_align_mass(((core_align *)object)->align));
}

static PyMethodDef align_methods[] = {
    {"sample", align_sample, METH_NOARGS,
     "sample($self, /)\n--\n\nDraw a text: (tokens, log_probability), the end-of-generation token "
     "included, the log-probability being the model's own."},
    {"probability", align_probability, METH_O,
     "probability($self, tokens, /)\n--\n\nThe probability that the next sample is this text, "
     "tokens and all."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef align_getset[] = {
    {"mass", align_mass, NULL,
     "An upper bound of the probability that the model, left alone, writes a text of the grammar; "
     "it falls with every sample.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyObject *align_repr(PyObject *self) {
  return PyUnicode_FromFormat("<turnstile.Align of %R>", ((core_align *)self)->grammar);
}

static PyType_Slot align_slots[] = {
    {Py_tp_new, (void *)align_new},
    {Py_tp_dealloc, (void *)align_dealloc},
    {Py_tp_traverse, (void *)align_traverse},
    {Py_tp_clear, (void *)align_clear},
    {Py_tp_repr, (void *)align_repr},
    {Py_tp_methods, align_methods},
    {Py_tp_getset, align_getset},
    {Py_tp_doc,
     (void *)"Align(grammar, model, max_tokens, seed=0)\n--\n\nDraws texts of one prompt so that "
             "they converge to the model's own distribution given the grammar.\n\n"
             "Masking step by step draws from another one. `model` is as for beam_search. After "
             "Park et al. 2024, \"Grammar-Aligned Decoding\"."},
    {0, NULL},
};

static PyType_Spec align_spec = {.name = "turnstile._core.Align",
                                 .basicsize = sizeof(core_align),
                                 .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                                 .slots = align_slots};

int core_decode_init(PyObject *module) {
  core.align = core_add_type(module, &align_spec);
  return core.align ? 0 : -1;
}

/* ---- drafts ---------------------------------------------------------------------------------- */

/* Tokens and parents of a chain (parents NULL) or tree. */
typedef struct drafts {
  tsl_token *tokens;
  uint32_t *parents;
  Py_ssize_t count;
} drafts;

static void free_drafts(drafts *d) {
  PyMem_Free(d->tokens);
  PyMem_Free(d->parents);
}

/* A parent is an index, or None where the draft follows the text. */
static int read_parent(PyObject *item, uint32_t *parent) {
  tsl_token index = TSL_NO_PARENT;
  if (item != Py_None && core_token(item, &index) < 0) return -1;
  *parent = index;
  return 0;
}

static int read_drafts(PyObject *tokens, PyObject *parents, drafts *d) {
  *d = (drafts){0};
  if (!(d->tokens = core_read_ids(tokens, &d->count))) return -1;
  if (!parents || parents == Py_None) return 0;
  int failed = PySequence_Size(parents) != d->count;
  if (failed && !PyErr_Occurred())
    PyErr_SetString(PyExc_ValueError, "tokens and parents differ in length");
  failed = failed || !(d->parents = core_array(d->count, sizeof *d->parents));
  for (Py_ssize_t i = 0; !failed && i < d->count; i++) {
    PyObject *item = PySequence_GetItem(parents, i);
    failed = !item || read_parent(item, &d->parents[i]) < 0;
    Py_XDECREF(item);
  }
  if (failed) free_drafts(d);
  return failed ? -1 : 0;
}

const char core_mask_drafts_doc[] =
    "mask_drafts(matcher, tokens, out, parents=None)\n--\n\nThe masks of all positions of a chain "
    "or tree of drafts, in one call; the matcher does not move.\n\n"
    "tokens[i] is drafted after tokens[parents[i]], or after the text where that is None; without "
    "`parents` each after the one before. `out` is an int32\n"
    "or uint32 array of shape (len(tokens) + 1, mask_words): row 0 is the matcher's own, row i + 1 "
    "that after tokens[i], all zero where tokens[i] is not\n"
    "allowed. Returns a list of bool: which drafts are.";

/* The rows must follow each other without a gap. */
static uint32_t *whole_masks(const core_span *s, Py_ssize_t rows, uint32_t words) {
  Py_ssize_t want = (Py_ssize_t)words * (Py_ssize_t)sizeof(uint32_t);
  if (s->rows == rows && s->columns * s->itemsize == want && (rows <= 1 || s->stride == want))
    return core_mask_row(s, 0, words);
  return PyErr_Format(PyExc_ValueError, "the array must have %zd rows of %u words, without gaps",
                      rows, words),
         NULL;
}

static PyObject *bools(const bool *at, Py_ssize_t n) {
  PyObject *list = PyList_New(n);
  for (Py_ssize_t i = 0; list && i < n; i++)
    if (PyList_SetItem(list, i, PyBool_FromLong(at[i])) < 0) Py_CLEAR(list);
  return list;
}

PyObject *core_mask_drafts(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"matcher", "tokens", "out", "parents", NULL};
  PyObject *matcher, *tokens, *out, *parents = NULL, *result = NULL;
  core_span span;
  drafts d;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!OO|O:mask_drafts", names, core.matcher,
                                   &matcher, &tokens, &out, &parents))
    return NULL;
  if (read_drafts(tokens, parents, &d) < 0) return NULL;
  bool *allowed = core_array(d.count, sizeof *allowed);
  if (allowed && core_span_open(out, true, &span) == 0) {
    core_matcher *m = (core_matcher *)matcher;
    uint32_t *masks =
        core_matcher_is_free(matcher) ? whole_masks(&span, d.count + 1, m->words) : NULL;
    tsl_status status = masks ? tsl_matcher_mask_drafts(m->matcher, d.tokens, d.parents,
                                                        (size_t)d.count, masks, allowed)
                              : TSL_OK;
    if (masks)
      result = status == TSL_OK ? bools(allowed, d.count)
                                : core_raise(status, NULL, "the masks of drafts");
    core_span_close(&span);
  }
  PyMem_Free(allowed);
  free_drafts(&d);
  return result;
}

const char core_speculate_doc[] =
    "speculate(matcher, tokens, logits, draft_logits=None, parents=None, *, temperature=1.0, "
    "draft_temperature=1.0, draft_masked=False, distinct=False, "
    "seed=0, draws=0)\n--\n\nAccept drafts, and draw one token after them, so that tokens are "
    "distributed exactly as without drafts.\n\n"
    "`logits`, the model's, and `draft_logits`, the drafter's, are float32 of shape (len(tokens) + "
    "1, logits_width): after the text and after each draft.\n"
    "Without `draft_logits` the drafts were chosen, not drawn. `draft_masked`: the drafter drew "
    "under the grammar's masks too. `distinct`: siblings were\n"
    "drawn without replacement. Returns (path, token, draws): the indices of the drafts accepted, "
    "in order; the token after them, or None where the text\n"
    "ended; and how many random numbers of `seed` are used now, to be handed in the next time. The "
    "matcher has moved past all of them.";

/* Rows of logits as the library takes them: one after the other. NULL with an exception set if they
 * are not. */
static const float *whole_rows(const core_span *s, Py_ssize_t rows, uint32_t width) {
  Py_ssize_t row = (Py_ssize_t)width * (Py_ssize_t)sizeof(float);
  if (s->kind == 'f' && s->itemsize == 4 && s->rows == rows && s->columns == (Py_ssize_t)width &&
      (rows <= 1 || s->stride == row))
    return s->data;
  return PyErr_Format(PyExc_ValueError, "logits must be float32 of shape (%zd, %u), without gaps",
                      rows, width),
         NULL;
}

static PyObject *speculated(const uint32_t *path, size_t accepted, tsl_token next, uint64_t draws) {
  PyObject *list = core_token_list(path, accepted);
  if (!list) return NULL;
  if (next == TSL_NO_TOKEN) return Py_BuildValue("NOK", list, Py_None, (unsigned long long)draws);
  return Py_BuildValue("NIK", list, next, (unsigned long long)draws);
}

static PyObject *speculate(core_matcher *m, tsl_drafts *o, uint64_t seed, uint64_t draws) {
  if (!core_matcher_is_free((PyObject *)m)) return NULL;
  uint32_t *path = core_array((Py_ssize_t)o->count, sizeof *path);
  size_t accepted = 0;
  tsl_token next = TSL_NO_TOKEN;
  if (!path) return NULL;
  tsl_status status = tsl_speculate(m->matcher, o, seed, &draws, path, &accepted, &next);
  PyObject *result = status == TSL_OK ? speculated(path, accepted, next, draws)
                                      : core_raise(status, NULL, "speculate");
  PyMem_Free(path);
  return result;
}

PyObject *core_speculate(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *names[] = {
      "matcher",           "tokens",       "logits",   "draft_logits", "parents", "temperature",
      "draft_temperature", "draft_masked", "distinct", "seed",         "draws",   NULL};
  PyObject *matcher, *tokens, *logits, *of_draft = Py_None, *parents = NULL, *result = NULL;
  int masked = 0, distinct = 0;
  unsigned long long seed = 0, draws = 0;
  tsl_drafts o = {.temperature = 1, .draft_temperature = 1};
  core_span target, draft;
  drafts d;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!OO|OO$ffppO&O&:speculate", names, core.matcher,
                                   &matcher, &tokens, &logits, &of_draft, &parents, &o.temperature,
                                   &o.draft_temperature, &masked, &distinct, core_u64, &seed,
                                   core_u64, &draws))
    return NULL;
  if (read_drafts(tokens, parents, &d) < 0) return NULL;
  core_matcher *m = (core_matcher *)matcher;
  uint32_t width = tsl_vocab_logits_width(tsl_grammar_vocab(m->grammar->grammar));
  o.tokens = d.tokens, o.parents = d.parents, o.count = (size_t)d.count, o.draft_masked = masked,
  o.distinct = distinct;
  if (core_span_open(logits, false, &target) == 0) {
    o.logits = whole_rows(&target, d.count + 1, width);
    if (o.logits && of_draft == Py_None) {
      result = speculate(m, &o, seed, draws);
    } else if (o.logits && core_span_open(of_draft, false, &draft) == 0) {
      o.draft_logits = whole_rows(&draft, d.count + 1, width);
      if (o.draft_logits) result = speculate(m, &o, seed, draws);
      core_span_close(&draft);
    }
    core_span_close(&target);
  }
  free_drafts(&d);
  return result;
}

const char core_draft_forced_doc[] =
    "draft_forced(matcher, tail, max_retract=0, capacity=64)\n--\n\nDrafts that the grammar itself "
    "makes: the bytes that must come, in the tokens that the tokenizer would use for "
    "the text so far and them.\n\n"
    "`tail`: the last tokens accepted (16 or so). Returns (tokens, retract): the drafts, "
    "`capacity` at most, and how many of the tail's last tokens they\n"
    "replace, `max_retract` at most; roll the matcher back by so many first. The matcher does not "
    "move.";

PyObject *core_draft_forced(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"matcher", "tail", "max_retract", "capacity", NULL};
  PyObject *matcher, *tail;
  Py_ssize_t most = 0, capacity = 64, length;
  size_t count = 0, retract = 0;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O|nn:draft_forced", names, core.matcher,
                                   &matcher, &tail, &most, &capacity))
    return NULL;
  if (most < 0 || capacity < 0)
    return PyErr_SetString(PyExc_ValueError, "max_retract and capacity must not be negative"), NULL;
  tsl_token *ids = core_read_ids(tail, &length);
  if (!ids) return NULL;
  tsl_token *found = core_matcher_is_free(matcher) ? core_array(capacity, sizeof *found) : NULL;
  PyObject *result = NULL;
  if (found) {
    tsl_status status =
        tsl_matcher_draft_forced(((core_matcher *)matcher)->matcher, ids, (size_t)length,
                                 (size_t)most, found, (size_t)capacity, &count, &retract);
    PyObject *list = status == TSL_OK ? core_token_list(found, count)
                                      : core_raise(status, NULL, "forced drafts");
    if (list) result = Py_BuildValue("Nn", list, (Py_ssize_t)retract);
  }
  PyMem_Free(found);
  PyMem_Free(ids);
  return result;
}
