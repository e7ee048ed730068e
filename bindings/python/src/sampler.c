/* sampler.c - the type Sampler, and the functions on one row of logits: what the model wanted,
 * guidance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <string.h>

typedef struct core_sampler {
  PyObject_HEAD tsl_sampler *sampler;
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
                        NULL};

static int read_options(PyObject *args, PyObject *kwargs, lists *l, tsl_sampler_options *o) {
  unsigned long long seed = 0;
  int legal_mass = 1;
  PyObject *stages = NULL, *breakers = NULL, *bias = NULL, *allowed = NULL, *banned = NULL,
           *eog = NULL;
  if (!PyArg_ParseTupleAndKeywords(
          args, kwargs, "|O&fO&ffp$OfffffffffffffO&ffO&O&OOOOO&O&O&OO&O&:Sampler", names, core_u64,
          &seed, &o->temperature, core_u32, &o->top_k, &o->top_p, &o->min_p, &legal_mass, &stages,
          &o->dynamic_range, &o->dynamic_exponent, &o->top_n_sigma, &o->typical_p, &o->epsilon,
          &o->eta, &o->xtc_probability, &o->xtc_threshold, &o->mirostat_tau, &o->mirostat_eta,
          &o->repetition_penalty, &o->frequency_penalty, &o->presence_penalty, core_u32,
          &o->penalty_window, &o->dry_multiplier, &o->dry_base, core_u32, &o->dry_allowed, core_u32,
          &o->dry_window, &breakers, &bias, &allowed, &banned, core_u32, &o->no_repeat_ngram,
          core_u32, &o->min_tokens, core_u32, &o->max_tokens, &eog, core_u32, &o->loop_repeats,
          core_u32, &o->loop_longest))
    return -1;
  o->seed = seed;
  o->legal_mass = legal_mass != 0;
  return read_stages(stages, l, o) < 0 || read_bias(bias, l, o) < 0 ||
                 read_set(allowed, &l->allowed, &o->allowed, &o->allowed_count) < 0 ||
                 read_set(banned, &l->banned, &o->banned, &o->banned_count) < 0 ||
                 read_set(eog, &l->eog, &o->eog, &o->eog_count) < 0 ||
                 read_set(breakers, &l->breakers, &o->dry_breakers, &o->dry_breaker_count) < 0
             ? -1
             : 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

static PyObject *wrap(PyTypeObject *type, tsl_sampler *sampler) {
  core_sampler *self = (core_sampler *)PyType_GenericAlloc(type, 0);
  if (self)
    self->sampler = sampler;
  else
    tsl_sampler_free(sampler);
  return (PyObject *)self;
}

static PyObject *sampler_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  tsl_sampler_options options = {.temperature = 1, .top_p = 1};
  lists l = {0};
  tsl_sampler *sampler = NULL;
  int failed = read_options(args, kwargs, &l, &options);
  tsl_status status = failed ? TSL_OK : tsl_sampler_new(&options, NULL, &sampler);
  free_lists(&l);
  if (failed) return NULL;
  return status == TSL_OK ? wrap(type, sampler) : core_raise(status, NULL, "a sampler's options");
}

static void sampler_dealloc(PyObject *self) {
  tsl_sampler_free(of(self));
  core_free_instance(self);
}

static PyObject *sampler_fork(PyObject *self, PyObject *number) {
  unsigned long long seed;
  tsl_sampler *fork = NULL;
  if (!core_u64(number, &seed)) return NULL;
  tsl_status status = tsl_sampler_fork(of(self), seed, &fork);
  return status == TSL_OK ? wrap(Py_TYPE(self), fork) : core_raise(status, NULL, "a fork");
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
  tsl_status status =
      tsl_sampler_draw(of(self), r.logits.data, (size_t)r.logits.columns, mask_of(&r), &d);
  close_row(&r);
  if (status != TSL_OK) return core_raise(status, NULL, "drawing a token");
  return Py_BuildValue("IddII", d.token, d.probability, d.legal_mass, d.allowed, d.kept);
}

/* ---- what the model wanted ------------------------------------------------------------------- */

static PyObject *pairs(const tsl_token_logprob *at, uint32_t n) {
  PyObject *list = PyList_New((Py_ssize_t)n);
  for (uint32_t i = 0; list && i < n; i++) {
    PyObject *pair = Py_BuildValue("Id", at[i].token, at[i].logprob);
    if (!pair || PyList_SetItem(list, (Py_ssize_t)i, pair) < 0) Py_CLEAR(list);
  }
  return list;
}

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
             "        eog=None, loop_repeats=0, loop_longest=0)\n--\n\nDraws tokens: bans, then "
             "the stages, then one draw. What is "
             "0 or None is off; docs/sampling.md says what each does.\n\n"
             "`temperature` 0 is greedy; top_k 0, top_p 1 and min_p 0 keep everything; without "
             "`legal_mass` a draw does not measure it, and is 20 us faster.\n"
             "`stages`: names in the order in which they run, of bias, penalties, dry, "
             "temperature, top_n_sigma, top_k, top_p, min_p, typical_p, epsilon, eta,\n"
             "xtc, mirostat; None: that order. `bias`: a dict from token to what is added to its "
             "logit. Others named as lists: sequences of tokens."},
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
