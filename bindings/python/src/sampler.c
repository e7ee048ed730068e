/* sampler.c - the type Sampler, and the functions on one row of logits: what the model wanted,
 * guidance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What repr() says of a sampler. */
typedef struct numbers {
  unsigned long long seed;
  double temperature, top_p, min_p;
  unsigned top_k;
} numbers;

typedef struct core_sampler {
  PyObject_HEAD tsl_sampler *sampler;
  PyObject *matcher; /* whose structure penalties spare; owned; NULL: none */
  numbers shown;
} core_sampler;

static tsl_sampler *of(PyObject *self) { return ((core_sampler *)self)->sampler; }

/* ---- options --------------------------------------------------------------------------------- */

/* Arrays that the options lead to; freed after the sampler has copied them. */
typedef struct lists {
  tsl_token *allowed, *banned, *eog, *breakers;
  tsl_token_bias *bias;
  tsl_stage stages[16];
} lists;

static void free_lists(lists *l) {
  PyMem_Free(l->allowed);
  PyMem_Free(l->banned);
  PyMem_Free(l->eog);
  PyMem_Free(l->breakers);
  PyMem_Free(l->bias);
}

static int read_set(PyObject *sequence, tsl_token **ids, const tsl_token **at, uint32_t *count) {
  Py_ssize_t n = 0;
  if (!sequence || sequence == Py_None) return 0;
  if (!(*ids = core_read_ids(sequence, &n))) return -1;
  if ((uint64_t)n > UINT32_MAX) return PyErr_SetString(PyExc_ValueError, "too many tokens"), -1;
  *at = *ids;
  *count = (uint32_t)n;
  return 0;
}

static int read_bias(PyObject *dict, lists *l, tsl_sampler_options *o) {
  if (!dict || dict == Py_None) return 0;
  if (!PyDict_Check(dict))
    return PyErr_SetString(PyExc_TypeError,
                           "bias is a dict from token to what is added to its logit"),
           -1;
  /* a list of one's own: reading a number may run code that changes the dict */
  PyObject *items = PyDict_Items(dict);
  Py_ssize_t n = items ? PyList_Size(items) : 0;
  if (items) l->bias = core_array(n, sizeof *l->bias);
  int failed = !l->bias;
  for (Py_ssize_t i = 0; !failed && i < n; i++) {
    PyObject *item = PyList_GetItem(items, i);
    failed = core_token(PyTuple_GetItem(item, 0), &l->bias[i].token) < 0;
    if (failed) break;
    l->bias[i].bias = (float)PyFloat_AsDouble(PyTuple_GetItem(item, 1));
    failed = PyErr_Occurred() != NULL;
  }
  Py_XDECREF(items);
  o->bias = l->bias;
  o->bias_count = (uint32_t)n;
  return failed ? -1 : 0;
}

static const char *const stage_names[] = {
    "",      "bias",  "penalties", "dry",     "temperature", "top_n_sigma", "top_k",
    "top_p", "min_p", "typical_p", "epsilon", "eta",         "xtc",         "mirostat"};
#define STAGES ((int)(sizeof stage_names / sizeof *stage_names))

static int read_stage(PyObject *item, tsl_stage *stage) {
  const char *text;
  Py_ssize_t length;
  if (core_text(item, "a stage", &text, &length) < 0) return -1;
  for (int i = 1; i < STAGES; i++)
    if (!strcmp(stage_names[i], text)) return *stage = (tsl_stage)i, 0;
  return PyErr_Format(PyExc_ValueError, "there is no stage %R", item), -1;
}

static int read_stages(PyObject *sequence, lists *l, tsl_sampler_options *o) {
  if (!sequence || sequence == Py_None) return 0;
  Py_ssize_t n = PySequence_Size(sequence);
  if (n < 0) return -1;
  if (n >= STAGES)
    return PyErr_Format(PyExc_ValueError, "%zd stages: there are %d, each comes once at most", n,
                        STAGES - 1),
           -1;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *item = PySequence_GetItem(sequence, i);
    int failed = !item || read_stage(item, &l->stages[i]) < 0;
    Py_XDECREF(item);
    if (failed) return -1;
  }
  o->stages = l->stages;
  o->stage_count = (uint32_t)n;
  return 0;
}

static char *names[] = {"seed",
                        "temperature",
                        "top_k",
                        "top_p",
                        "min_p",
                        "legal_mass",
                        "stages",
                        "dynamic_range",
                        "dynamic_exponent",
                        "top_n_sigma",
                        "typical_p",
                        "epsilon",
                        "eta",
                        "xtc_probability",
                        "xtc_threshold",
                        "mirostat_tau",
                        "mirostat_eta",
                        "repetition_penalty",
                        "frequency_penalty",
                        "presence_penalty",
                        "penalty_window",
                        "dry_multiplier",
                        "dry_base",
                        "dry_allowed",
                        "dry_window",
                        "dry_breakers",
                        "bias",
                        "allowed",
                        "banned",
                        "no_repeat_ngram",
                        "min_tokens",
                        "max_tokens",
                        "eog",
                        "loop_repeats",
                        "loop_longest",
                        "penalise_structure",
                        NULL};

static int read_options(PyObject *args, PyObject *kwargs, lists *l, tsl_sampler_options *o) {
  unsigned long long seed = 0;
  int legal_mass = 1, structure = 0;
  PyObject *stages = NULL, *breakers = NULL, *bias = NULL, *allowed = NULL, *banned = NULL,
           *eog = NULL;
  if (!PyArg_ParseTupleAndKeywords(
          args, kwargs, "|O&fO&ffp$OfffffffffffffO&ffO&O&OOOOO&O&O&OO&O&p:Sampler", names, core_u64,
          &seed, &o->temperature, core_u32, &o->top_k, &o->top_p, &o->min_p, &legal_mass, &stages,
          &o->dynamic_range, &o->dynamic_exponent, &o->top_n_sigma, &o->typical_p, &o->epsilon,
          &o->eta, &o->xtc_probability, &o->xtc_threshold, &o->mirostat_tau, &o->mirostat_eta,
          &o->repetition_penalty, &o->frequency_penalty, &o->presence_penalty, core_u32,
          &o->penalty_window, &o->dry_multiplier, &o->dry_base, core_u32, &o->dry_allowed, core_u32,
          &o->dry_window, &breakers, &bias, &allowed, &banned, core_u32, &o->no_repeat_ngram,
          core_u32, &o->min_tokens, core_u32, &o->max_tokens, &eog, core_u32, &o->loop_repeats,
          core_u32, &o->loop_longest, &structure))
    return -1;
  o->seed = seed;
  o->legal_mass = legal_mass != 0;
  o->penalise_structure = structure != 0;
  return read_stages(stages, l, o) < 0 || read_bias(bias, l, o) < 0 ||
                 read_set(allowed, &l->allowed, &o->allowed, &o->allowed_count) < 0 ||
                 read_set(banned, &l->banned, &o->banned, &o->banned_count) < 0 ||
                 read_set(eog, &l->eog, &o->eog, &o->eog_count) < 0 ||
                 read_set(breakers, &l->breakers, &o->dry_breakers, &o->dry_breaker_count) < 0
             ? -1
             : 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

static PyObject *wrap(PyTypeObject *type, tsl_sampler *sampler, numbers shown) {
  core_sampler *self = (core_sampler *)PyType_GenericAlloc(type, 0);
  if (!self) return tsl_sampler_free(sampler), NULL;
  self->sampler = sampler;
  self->shown = shown;
  return (PyObject *)self;
}

static PyObject *sampler_repr(PyObject *object) {
  const numbers *n = &((core_sampler *)object)->shown;
  char text[160];
  snprintf(text, sizeof text, "seed=%llu, temperature=%g, top_k=%u, top_p=%g, min_p=%g", n->seed,
           n->temperature, n->top_k, n->top_p, n->min_p);
  return PyUnicode_FromFormat("<turnstile.Sampler, %s>", text);
}

static PyObject *sampler_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  tsl_sampler_options options = {.temperature = 1, .top_p = 1};
  lists l = {0};
  tsl_sampler *sampler = NULL;
  int failed = read_options(args, kwargs, &l, &options);
  tsl_status status = failed ? TSL_OK : tsl_sampler_new(&options, NULL, &sampler);
  free_lists(&l);
  if (failed) return NULL;
  const numbers shown = {options.seed, options.temperature, options.top_p, options.min_p,
                         options.top_k};
  return status == TSL_OK ? wrap(type, sampler, shown)
                          : core_raise(status, NULL, "a sampler's options");
}

static void sampler_dealloc(PyObject *self) {
  tsl_sampler_free(of(self));
  Py_XDECREF(((core_sampler *)self)->matcher);
  core_free_instance(self);
}

static PyObject *sampler_fork(PyObject *self, PyObject *number) {
  unsigned long long seed;
  tsl_sampler *fork = NULL;
  if (!core_u64(number, &seed)) return NULL;
  tsl_status status = tsl_sampler_fork(of(self), seed, &fork);
  numbers shown = ((core_sampler *)self)->shown;
  shown.seed = seed;
  return status == TSL_OK ? wrap(Py_TYPE(self), fork, shown) : core_raise(status, NULL, "a fork");
}

/* ---- the text so far ------------------------------------------------------------------------- */

static PyObject *nothing(tsl_status status, const char *what) {
  if (status != TSL_OK) return core_raise(status, NULL, what);
  Py_RETURN_NONE;
}

static PyObject *sampler_accept(PyObject *self, PyObject *object) {
  tsl_token token;
  if (core_token(object, &token) < 0) return NULL;
  return nothing(tsl_sampler_accept(of(self), token), "accept");
}

static PyObject *sampler_prompt(PyObject *self, PyObject *sequence) {
  Py_ssize_t count;
  tsl_token *ids = core_read_ids(sequence, &count);
  if (!ids) return NULL;
  tsl_status status = tsl_sampler_prompt(of(self), ids, (size_t)count);
  PyMem_Free(ids);
  return nothing(status, "prompt: tokens were accepted already");
}

static PyObject *sampler_rollback(PyObject *self, PyObject *args) {
  Py_ssize_t n = 1;
  if (!PyArg_ParseTuple(args, "|n:rollback", &n)) return NULL;
  if (n < 0) return PyErr_SetString(PyExc_ValueError, "the count must not be negative"), NULL;
  return nothing(tsl_sampler_rollback(of(self), (size_t)n),
                 "rollback of more tokens than were accepted");
}

static PyObject *sampler_restart(PyObject *self, PyObject *unused) {
  (void)unused;
  tsl_sampler_restart(of(self));
  Py_RETURN_NONE;
}

static PyObject *sampler_set_matcher(PyObject *self, PyObject *matcher) {
  core_sampler *s = (core_sampler *)self;
  bool none = matcher == Py_None;
  if (!none && !PyObject_TypeCheck(matcher, core.matcher))
    return PyErr_SetString(PyExc_TypeError, "a Matcher or None is expected"), NULL;
  PyObject *before = s->matcher;
  Py_XINCREF(none ? NULL : matcher);
  s->matcher = none ? NULL : matcher;
  tsl_sampler_set_matcher(s->sampler, none ? NULL : ((core_matcher *)matcher)->matcher);
  Py_XDECREF(before);
  Py_RETURN_NONE;
}

/* Is the matcher that a draw will look at free? */
static bool matcher_is_free(PyObject *self) {
  PyObject *matcher = ((core_sampler *)self)->matcher;
  return !matcher || core_matcher_is_free(matcher);
}

/* ---- rows of logits -------------------------------------------------------------------------- */

/* A row of float32; 0, or -1 with an exception set. */
static int check_row(const core_span *span) {
  if (span->kind == 'f' && span->itemsize == 4 && span->ndim == 1) return 0;
  return PyErr_SetString(PyExc_TypeError, "logits are one row of float32"), -1;
}

/* A row and a mask that fits it, or None; both to be closed if this returns 0. */
typedef struct masked_row {
  core_span logits, mask;
  bool has_mask;
} masked_row;

static void close_row(masked_row *r) {
  core_span_close(&r->logits);
  if (r->has_mask) core_span_close(&r->mask);
}

/* A mask for one row of `columns` logits; 0, or -1 with an exception set. An array of no rows has
 * no memory to read. */
static int check_row_mask(const core_span *mask, Py_ssize_t columns) {
  if (core_check_mask(mask, columns) < 0) return -1;
  if (mask->rows == 1) return 0;
  return PyErr_Format(PyExc_ValueError, "%zd masks for one row of logits", mask->rows), -1;
}

static int open_row(PyObject *logits, PyObject *mask, masked_row *r) {
  r->has_mask = false;
  if (core_span_open(logits, false, &r->logits) < 0) return -1;
  if (check_row(&r->logits) == 0) {
    if (!mask || mask == Py_None) return 0;
    if (core_span_open(mask, false, &r->mask) == 0) {
      r->has_mask = true;
      if (check_row_mask(&r->mask, r->logits.columns) == 0) return 0;
    }
  }
  close_row(r);
  return -1;
}

static const uint32_t *mask_of(const masked_row *r) { return r->has_mask ? r->mask.data : NULL; }

static PyObject *sampler_draw(PyObject *self, PyObject *args) {
  PyObject *logits, *mask = Py_None;
  masked_row r;
  tsl_draw d;
  if (!PyArg_ParseTuple(args, "O|O:draw", &logits, &mask) || open_row(logits, mask, &r) < 0)
    return NULL;
  if (!matcher_is_free(self)) return close_row(&r), NULL;
  tsl_status status =
      tsl_sampler_draw(of(self), r.logits.data, (size_t)r.logits.columns, mask_of(&r), &d);
  close_row(&r);
  if (status != TSL_OK) return core_raise(status, NULL, "drawing a token");
  return Py_BuildValue("IddII", d.token, d.probability, d.legal_mass, d.allowed, d.kept);
}

/* ---- the whole distribution ------------------------------------------------------------------ */

static PyObject *pairs(const tsl_token_logprob *at, uint32_t n) {
  PyObject *list = PyList_New((Py_ssize_t)n);
  for (uint32_t i = 0; list && i < n; i++) {
    PyObject *pair = Py_BuildValue("Id", at[i].token, at[i].logprob);
    if (!pair || PyList_SetItem(list, (Py_ssize_t)i, pair) < 0) Py_CLEAR(list);
  }
  return list;
}

/* A token and its probability, the most likely first, ties by id. */
static int compare_likely(const void *a, const void *b) {
  const tsl_token_logprob *x = a, *y = b;
  if (x->logprob != y->logprob) return x->logprob > y->logprob ? -1 : 1;
  return (x->token > y->token) - (x->token < y->token);
}

/* Those of a probability above 0: a list of (token, probability). */
static PyObject *likely(const double *p, size_t width) {
  size_t n = 0;
  tsl_token_logprob *at = core_array((Py_ssize_t)width, sizeof *at);
  if (!at) return NULL;
  for (size_t t = 0; t < width; t++)
    if (p[t] > 0) at[n++] = (tsl_token_logprob){(tsl_token)t, p[t]};
  qsort(at, n, sizeof *at, compare_likely);
  PyObject *list = pairs(at, (uint32_t)n);
  PyMem_Free(at);
  return list;
}

/* The tokens that one thing cut. */
static PyObject *cut_by(const uint8_t *cuts, size_t width, uint8_t what) {
  PyObject *list = PyList_New(0);
  for (size_t t = 0; list && t < width; t++) {
    if (cuts[t] != what) continue;
    PyObject *token = PyLong_FromUnsignedLong((unsigned long)t);
    if (!token || PyList_Append(list, token) < 0) Py_CLEAR(list);
    Py_XDECREF(token);
  }
  return list;
}

/* (stage, how many it left, which tokens it cut) of each. */
static PyObject *stage_list(const tsl_stage_left *left, size_t n, const uint8_t *cuts,
                            size_t width) {
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && i < n; i++) {
    PyObject *cut = cut_by(cuts, width, (uint8_t)left[i].stage);
    PyObject *item =
        cut ? Py_BuildValue("sIN", stage_names[left[i].stage], left[i].left, cut) : NULL;
    if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
    Py_XDECREF(item);
  }
  return list;
}

static PyObject *sampler_distribution(PyObject *self, PyObject *args) {
  PyObject *logits, *mask = Py_None, *result = NULL;
  masked_row r;
  tsl_stage_left left[16];
  size_t count = 16;
  if (!PyArg_ParseTuple(args, "O|O:distribution", &logits, &mask) || open_row(logits, mask, &r) < 0)
    return NULL;
  size_t width = (size_t)r.logits.columns;
  double *p = core_array((Py_ssize_t)width, sizeof *p);
  uint8_t *cuts = p ? core_array((Py_ssize_t)width, 1) : NULL;
  if (cuts && matcher_is_free(self)) {
    tsl_status status =
        tsl_sampler_distribution(of(self), r.logits.data, width, mask_of(&r), p, left, &count);
    if (status == TSL_OK)
      status = tsl_sampler_cuts(of(self), r.logits.data, width, mask_of(&r), cuts);
    PyObject *tokens = NULL, *stages = NULL;
    if (status != TSL_OK)
      core_raise(status, NULL, "a distribution");
    else if ((tokens = likely(p, width)) && (stages = stage_list(left, count, cuts, width)))
      result = PyTuple_Pack(2, tokens, stages);
    Py_XDECREF(tokens);
    Py_XDECREF(stages);
  }
  PyMem_Free(cuts);
  PyMem_Free(p);
  close_row(&r);
  return result;
}

/* ---- what the model wanted ------------------------------------------------------------------- */

static PyObject *measured(const tsl_step *s, const tsl_token_logprob *top,
                          const tsl_token_logprob *masked_top) {
  PyObject *before = pairs(top, s->top_count),
           *after = before ? pairs(masked_top, s->masked_top_count) : NULL;
  if (!after) {
    Py_XDECREF(before);
    return NULL;
  }
  return Py_BuildValue("{sdsdsdsdsdsIsNsN}", "legal_mass", s->legal_mass, "logprob", s->logprob,
                       "masked_logprob", s->masked_logprob, "entropy", s->entropy, "masked_entropy",
                       s->masked_entropy, "allowed", s->allowed, "top", before, "masked_top",
                       after);
}

const char core_measure_step_doc[] =
    "measure_step(logits, mask=None, token=None, top_n=0)\n--\n\nWhat the model wanted at one "
    "step, before and after the mask: a dict.\n\n"
    "`legal_mass`: the probability that it had put on allowed tokens, small where the grammar "
    "fights the model. `logprob`, `masked_logprob`: of `token`\n"
    "(NaN without one). `entropy`, `masked_entropy`: in nats. `allowed`: tokens in the mask. "
    "`top`, `masked_top`: the `top_n` most likely, as (token,\n"
    "logprob). No temperature and no stage is applied. LogitsError if a logit is NaN or +inf, or "
    "nothing allowed is finite.";

PyObject *core_measure_step(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *step_names[] = {"logits", "mask", "token", "top_n", NULL};
  PyObject *logits, *mask = Py_None, *number = Py_None;
  uint32_t n = 0;
  tsl_token token = TSL_NO_TOKEN;
  masked_row r;
  tsl_step step;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOO&:measure_step", step_names, &logits, &mask,
                                   &number, core_u32, &n))
    return NULL;
  if (number != Py_None && core_token(number, &token) < 0) return NULL;
  if (open_row(logits, mask, &r) < 0) return NULL;
  if ((Py_ssize_t)n > r.logits.columns) n = (uint32_t)r.logits.columns;
  tsl_token_logprob *top = core_array((Py_ssize_t)n, 2 * sizeof *top);
  PyObject *result = NULL;
  if (top) {
    tsl_status status = tsl_step_measure(r.logits.data, (size_t)r.logits.columns, mask_of(&r),
                                         token, n, top, top + n, &step);
    result = status == TSL_OK ? measured(&step, top, top + n)
                              : core_raise(status, NULL, "measuring a step");
  }
  PyMem_Free(top);
  close_row(&r);
  return result;
}

/* ---- loops ----------------------------------------------------------------------------------- */

const char core_find_loop_doc[] =
    "find_loop(tokens, repeats=3, longest=64)\n--\n\nDo the tokens end with the same stretch, "
    "`repeats` times in a row? (its length, at most `longest`; the token that would begin "
    "another\ncopy), or None.";
static char *loop_names[] = {"tokens", "repeats", "longest", NULL};

PyObject *core_find_loop(PyObject *module, PyObject *args, PyObject *kwargs) {
  PyObject *sequence;
  uint32_t repeats = 3, longest = 64;
  Py_ssize_t count = 0;
  tsl_token next = 0;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O&O&:find_loop", loop_names, &sequence,
                                   core_u32, &repeats, core_u32, &longest))
    return NULL;
  if (repeats < 2)
    return PyErr_SetString(PyExc_ValueError, "repeats: a loop has two copies at least"), NULL;
  tsl_token *tokens = core_read_ids(sequence, &count);
  if (!tokens) return NULL;
  uint32_t period = tsl_find_loop(tokens, (size_t)count, repeats, longest, &next);
  PyMem_Free(tokens);
  if (!period) Py_RETURN_NONE;
  return Py_BuildValue("II", (unsigned)period, (unsigned)next);
}

/* ---- guidance -------------------------------------------------------------------------------- */

/* The second row and the one to write to must be as long as the first. */
static int open_rows(PyObject *first, PyObject *second, PyObject *out, core_span spans[3]) {
  PyObject *objects[3] = {first, second, out};
  for (int i = 0; i < 3; i++) {
    int failed = core_span_open(objects[i], i == 2, &spans[i]) < 0;
    if (!failed && check_row(&spans[i]) == 0) {
      if (i == 0 || spans[i].columns == spans[0].columns) continue;
      PyErr_SetString(PyExc_ValueError, "the rows differ in length");
    }
    for (int j = failed ? i - 1 : i; j >= 0; j--) core_span_close(&spans[j]);
    return -1;
  }
  return 0;
}

static void close_rows(core_span spans[3]) {
  for (int i = 0; i < 3; i++) core_span_close(&spans[i]);
}

const char core_classifier_free_doc[] =
    "guide_classifier_free(conditional, unconditional, scale, out, /)\n--\n\nout = unconditional + "
    "scale * (conditional - unconditional), before the mask.\n\n"
    "Rows of float32 of one length; `out` is written in place and may be one of the others.";

PyObject *core_classifier_free(PyObject *module, PyObject *args) {
  PyObject *with, *without, *out;
  float scale;
  core_span s[3];
  (void)module;
  if (!PyArg_ParseTuple(args, "OOfO:guide_classifier_free", &with, &without, &scale, &out) ||
      open_rows(with, without, out, s) < 0)
    return NULL;
  tsl_status status =
      tsl_guide_classifier_free(s[0].data, s[1].data, (size_t)s[0].columns, scale, s[2].data);
  close_rows(s);
  return nothing(status, "guide_classifier_free");
}

const char core_contrastive_doc[] =
    "guide_contrastive(strong, weak, alpha, beta, out, mask=None, /)\n--\n\nout = strong - beta * "
    "weak where the strong model gives at least alpha times its\n"
    "largest probability, -inf elsewhere; with a mask the largest is sought among its tokens, and "
    "others become -inf.\n\n"
    "Rows of float32 of one length; `out` is written in place and may be one of the others.";

PyObject *core_contrastive(PyObject *module, PyObject *args) {
  PyObject *strong, *weak, *out, *mask = Py_None;
  float alpha, beta;
  core_span s[3], m;
  (void)module;
  if (!PyArg_ParseTuple(args, "OOffO|O:guide_contrastive", &strong, &weak, &alpha, &beta, &out,
                        &mask) ||
      open_rows(strong, weak, out, s) < 0)
    return NULL;
  bool masked = mask != Py_None;
  int failed = masked && core_span_open(mask, false, &m) < 0;
  if (failed)
    masked = false;
  else if (masked)
    failed = check_row_mask(&m, s[0].columns) < 0;
  tsl_status status = TSL_OK;
  if (!failed)
    status = tsl_guide_contrastive(s[0].data, s[1].data, (size_t)s[0].columns,
                                   masked ? m.data : NULL, alpha, beta, s[2].data);
  if (masked) core_span_close(&m);
  close_rows(s);
  return failed ? NULL : nothing(status, "guide_contrastive");
}

/* ---- the type -------------------------------------------------------------------------------- */

static PyMethodDef methods[] = {
    {"draw", sampler_draw, METH_VARARGS,
     "draw($self, logits, mask=None, /)\n--\n\nDraw a token from one row of float32 logits under a "
     "mask (None: everything is allowed).\n\n"
     "Returns (token, probability, legal_mass, allowed, kept): the token, its probability among "
     "those left after the cut-offs, the mass that the model\n"
     "had put on allowed tokens, and the number of tokens allowed by the mask and left after the "
     "cut-offs. Equal seeds and inputs give equal tokens.\n"
     "LogitsError if nothing allowed is finite, or one is NaN or +inf."},
    {"distribution", sampler_distribution, METH_VARARGS,
     "distribution($self, logits, mask=None, /)\n--\n\nWhat the next draw draws from: (tokens, "
     "stages). Nothing moves on.\n\n"
     "`tokens`: (token, probability) of those that are left, the most likely first; the "
     "probabilities sum to 1. `stages`: for each stage that does\n"
     "something, in their order, (name, how many tokens it left, the tokens that it cut). Errors "
     "as of draw."},
    {"set_matcher", sampler_set_matcher, METH_O,
     "set_matcher($self, matcher, /)\n--\n\nPenalties, DRY and no_repeat_ngram spare structure "
     "from here on, such as brackets and names of members: tokens\n"
     "that write no content where this matcher stands. The matcher is that of the text, and at its "
     "position when a token is drawn. None ends that."},
    {"accept", sampler_accept, METH_O,
     "accept($self, token, /)\n--\n\nNote a token that became part of the text: for "
     "penalties, DRY, n-grams, mirostat, min_tokens and max_tokens."},
    {"prompt", sampler_prompt, METH_O,
     "prompt($self, tokens, /)\n--\n\nThe same for tokens that were there before, which min_tokens "
     "and max_tokens do not count. StateError once a token is accepted."},
    {"rollback", sampler_rollback, METH_VARARGS,
     "rollback($self, count=1, /)\n--\n\nForget the last `count` accepted tokens. StateError, and "
     "nothing has changed, if there are fewer."},
    {"restart", sampler_restart, METH_NOARGS,
     "restart($self, /)\n--\n\nBegin another text; the random numbers go on."},
    {"fork", sampler_fork, METH_O,
     "fork($self, seed, /)\n--\n\nAnother sampler with the same options and text so far, which "
     "draws with its own random numbers."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)sampler_new},
    {Py_tp_dealloc, (void *)sampler_dealloc},
    {Py_tp_repr, (void *)sampler_repr},
    {Py_tp_methods, methods},
    {Py_tp_doc,
     (void *)"Sampler(seed=0, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, legal_mass=True, *, "
             "stages=None, dynamic_range=0.0, dynamic_exponent=0.0,\n"
             "        top_n_sigma=0.0, typical_p=0.0, epsilon=0.0, eta=0.0, xtc_probability=0.0, "
             "xtc_threshold=0.0, mirostat_tau=0.0, mirostat_eta=0.0,\n"
             "        repetition_penalty=0.0, frequency_penalty=0.0, presence_penalty=0.0, "
             "penalty_window=0, dry_multiplier=0.0, dry_base=0.0,\n"
             "        dry_allowed=0, dry_window=0, dry_breakers=None, bias=None, allowed=None, "
             "banned=None, no_repeat_ngram=0, min_tokens=0, max_tokens=0,\n"
             "        eog=None, loop_repeats=0, loop_longest=0,\n"
             "        penalise_structure=False)\n--\n\nDraws tokens: bans, then "
             "the stages, then one draw. What is "
             "0 or None is off; docs/sampling.md says what each does.\n\n"
             "`temperature` 0 is greedy; top_k 0, top_p 1 and min_p 0 keep everything; without "
             "`legal_mass` a draw does not measure it, and is 20 us faster.\n"
             "`stages`: names in the order in which they run, of bias, penalties, dry, "
             "temperature, top_n_sigma, top_k, top_p, min_p, typical_p, epsilon, eta,\n"
             "xtc, mirostat; None: that order. `bias`: a dict from token to what is added to its "
             "logit. Others named as lists: sequences of tokens.\n"
             "`penalise_structure`: set_matcher changes nothing."},
    {0, NULL},
};

static PyType_Spec spec = {.name = "turnstile._core.Sampler",
                           .basicsize = sizeof(core_sampler),
                           .flags = Py_TPFLAGS_DEFAULT,
                           .slots = slots};

int core_sampler_init(PyObject *module) {
  core.sampler = core_add_type(module, &spec);
  return core.sampler ? 0 : -1;
}
