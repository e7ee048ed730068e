/* steps.c - normalisers and pre-tokenisers: a list of small steps over pieces of text.
 *
 * Every step reads all pieces and writes new ones; two buffers take turns. HF's larger components
 * are lists of these steps. "ByteLevel" is a PREPEND and a SPLIT_REGEX. "Metaspace" is a REPLACE, a
 * PREPEND and a SPLIT_TEXT (runtime/vocab_files/hf_steps.c makes them).
 *
 * Splits    A pattern cuts a piece into entries, matches and what lies between. What HF calls a
 *           behaviour is a rule that says which borders between neighbouring entries stay. The
 *           examples split "a-b--c" by "-":
 *             isolated         all of them: a | - | b | - | - | c
 *             with previous    not before a match, but after one: a- | b- | - | c
 *                              (a match behind a match keeps its border)
 *             with next        not after a match, but before one: a | -b | - | -c
 *             contiguous       not between two of the same kind: a | - | b | -- | c
 *             removed          all of them; matches are dropped: a | b | c
 *
 * Tested by tests/tokenizer/test_encode.c, tests/vocab_files/test_vocab_files.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tokenizer/dialect.h"

/* ---- patterns -------------------------------------------------------------------------------- */

/* `code` and the context allocate through `alloc`. */
struct tsl__pattern {
  tsl_allocator alloc;
  pcre2_general_context *context;
  pcre2_code *code;
  bool jit;
};

/* The size of a block is kept in the 16 bytes before it, since PCRE2 frees without telling it. */
static void *pcre2_take(size_t size, void *ctx) {
  size_t *block = tsl__alloc(ctx, size + 16);
  if (!block) return NULL;
  *block = size;
  return block + 16 / sizeof *block;
}

static void pcre2_leave(void *p, void *ctx) {
  if (!p) return;
  size_t *block = (size_t *)p - 16 / sizeof(size_t);
  tsl__free(ctx, block, *block + 16);
}

/* A line ends in a line feed, whatever PCRE2 was built for. */
static pcre2_compile_context *make_context(tsl__pattern *p) {
  p->context = pcre2_general_context_create(pcre2_take, pcre2_leave, &p->alloc);
  pcre2_compile_context *context = p->context ? pcre2_compile_context_create(p->context) : NULL;
  if (!context) return NULL;
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  pcre2_set_bsr(context, PCRE2_BSR_UNICODE);
  return context;
}

/* `text` ends in a NUL, for the message. */
static tsl_status compile(tsl__pattern *p, const tsl__pattern_text *text, uint32_t dialect,
                          pcre2_compile_context *context, tsl_error *error) {
  uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C |
                     (dialect == TSL__DIALECT_RUST ? PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_CIRCUMFLEX
                                                   : PCRE2_MULTILINE);
  int code = 0;
  PCRE2_SIZE offset = 0;
  PCRE2_UCHAR words[160];
  p->code = pcre2_compile((PCRE2_SPTR)text->at, text->n - 1, options, &code, &offset, context);
  if (p->code) {
    p->jit = !pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE);
    return TSL_OK;
  }
  if (code == PCRE2_ERROR_NOMEMORY || code == 121 /* ERR21: failed to allocate heap memory */)
    return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  pcre2_get_error_message(code, words, sizeof words);
  return tsl__fail(error, TSL_ERR_SYNTAX, "the pre-tokenisation pattern \"%.100s\": %s at byte %zu",
                   text->at, (char *)words, (size_t)offset);
}

static tsl_status make_pattern(tsl__pattern *p, const char *s, size_t n, uint32_t dialect,
                               pcre2_compile_context *context, tsl_error *error) {
  tsl__pattern_text text = {0};
  tsl_status status = tsl__dialect_rewrite(s, n, dialect, context, &p->alloc, &text, error);
  if (!status && !tsl__vec_push(&p->alloc, &text, 0))
    status = tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  if (!status) status = compile(p, &text, dialect, context, error);
  tsl__vec_free(&p->alloc, &text);
  return status;
}

tsl_status tsl__pattern_new(const char *s, size_t n, uint32_t dialect, const tsl_allocator *a,
                            tsl__pattern **out, tsl_error *error) {
  tsl__pattern *p = tsl__alloc_zero(a, sizeof *p);
  if (p) p->alloc = *a;
  pcre2_compile_context *context = p ? make_context(p) : NULL;
  tsl_status status = context ? make_pattern(p, s, n, dialect, context, error)
                              : tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  if (context) pcre2_compile_context_free(context);
  if (status) tsl__pattern_free(p, a), p = NULL;
  *out = p;
  return status;
}

void tsl__pattern_free(tsl__pattern *p, const tsl_allocator *a) {
  if (!p) return;
  if (p->code) pcre2_code_free(p->code);
  if (p->context) pcre2_general_context_free(p->context);
  tsl__free(a, p, sizeof *p);
}

size_t tsl__pattern_memory(const tsl__pattern *p) {
  size_t size = 0, jit = 0;
  pcre2_pattern_info(p->code, PCRE2_INFO_SIZE, &size);
  pcre2_pattern_info(p->code, PCRE2_INFO_JITSIZE, &jit);
  return sizeof *p + size + jit;
}

/* ---- splitting ------------------------------------------------------------------------------- */

/* The next match at or after `from`; *begin and *end are set, or *begin = length if there is
 * none. */
static tsl_status match_regex(const tsl__pattern *p, tsl__encode_work *w, const uint8_t *s,
                              uint32_t length, uint32_t from, uint32_t *begin, uint32_t *end) {
  if (!w->match_data) w->match_data = pcre2_match_data_create(1, p->context);
  pcre2_match_data *data = w->match_data;
  if (!data) return TSL_ERR_NO_MEMORY;
  int rc = p->jit ? pcre2_jit_match(p->code, s, length, from, 0, data, NULL)
                  : PCRE2_ERROR_JIT_STACKLIMIT;
  if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
    rc = pcre2_match(p->code, s, length, from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data, NULL);
  *begin = *end = length;
  if (rc == PCRE2_ERROR_NOMATCH) return TSL_OK;
  if (rc == PCRE2_ERROR_NOMEMORY) return TSL_ERR_NO_MEMORY;
  if (rc < 0) return TSL_ERR_LIMIT; /* match limit, depth limit, heap limit */
  const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(data);
  /* a match that does not begin where it was found: \K would do that, by whichever way it came
   * in */
  if (ends[0] < from || ends[1] < ends[0]) return TSL_ERR_UNSUPPORTED;
  *begin = (uint32_t)ends[0];
  *end = (uint32_t)ends[1];
  return TSL_OK;
}

tsl_status tsl__pattern_test(const tsl__pattern *p, tsl__encode_work *w, const uint8_t *text,
                             uint32_t length, bool *matches) {
  uint32_t begin, end;
  tsl_status status = match_regex(p, w, text, length, 0, &begin, &end);
  *matches = !status && begin < length;
  return status;
}

static void match_text(const uint8_t *text, uint32_t n, const uint8_t *s, uint32_t length,
                       uint32_t from, uint32_t *begin, uint32_t *end) {
  *begin = *end = length;
  for (uint32_t at = from; n && n <= length && at <= length - n; at++) {
    const uint8_t *found = memchr(s + at, text[0], length - n - at + 1);
    if (!found) return;
    at = (uint32_t)(found - s);
    if (memcmp(found, text, n)) continue;
    *begin = at;
    *end = at + n;
    return;
  }
}

static uint32_t next_point(const uint8_t *s, uint32_t length, uint32_t at) {
  for (at++; at < length && (s[at] & 0xC0) == 0x80;) at++;
  return at;
}

/* Put begin and end of every match of a piece into w->marks. */
static tsl_status find_matches(const tsl__bpe_tokenizer *t, const tsl__step *step,
                               size_t step_index, tsl__encode_work *w, const uint8_t *s,
                               uint32_t length) {
  const uint8_t *pool = tsl__tok_pool(&t->tables);
  uint32_t from = 0, last = UINT32_MAX, begin, end;
  w->marks.n = 0;
  while (from <= length) {
    tsl_status status = TSL_OK;
    if (step->kind == TSL__STEP_SPLIT_REGEX)
      status = match_regex(t->patterns[step_index], w, s, length, from, &begin, &end);
    else
      match_text(pool + step->text, step->text_length, s, length, from, &begin, &end);
    if (status) return status;
    if (begin == length) return TSL_OK;  /* none; an empty match at the very end makes no piece */
    if (end == begin && begin == last) { /* an empty match right after a match does not count */
      from = next_point(s, length, from);
      continue;
    }
    if (!tsl__vec_push(w->alloc, &w->marks, begin) || !tsl__vec_push(w->alloc, &w->marks, end))
      return TSL_ERR_NO_MEMORY;
    last = end;
    from = end > begin ? end : next_point(s, length, end);
  }
  return TSL_OK;
}

static bool border_stays(uint32_t how, bool before, bool after) {
  switch (how) {
  case TSL__SPLIT_WITH_PREVIOUS: return !(after && !before);
  case TSL__SPLIT_WITH_NEXT: return !(before && !after);
  case TSL__SPLIT_CONTIGUOUS: return before != after;
  default: return true;
  }
}

/* Close the piece that ends at s[end]; w->pieces[1] gets its end, and its bytes if some are left
 * out. */
static bool close_piece(tsl__encode_work *w, const tsl__step *step, uint32_t base, uint32_t begin,
                        uint32_t end, bool match) {
  tsl__pieces *out = &w->pieces[1];
  if (begin == end) return true;
  if (step->how != TSL__SPLIT_REMOVED) return tsl__vec_push(w->alloc, &out->ends, base + end);
  if (match) return true;
  if (!tsl__vec_reserve(w->alloc, &out->bytes, end - begin)) return false;
  memcpy(out->bytes.at + out->bytes.n, w->pieces[0].bytes.at + base + begin, end - begin);
  out->bytes.n += end - begin;
  return tsl__vec_push(w->alloc, &out->ends, (uint32_t)out->bytes.n);
}

/* Cut one piece of `length` bytes at `base` by the matches in w->marks. */
static bool cut(tsl__encode_work *w, const tsl__step *step, uint32_t base, uint32_t length) {
  uint32_t piece = 0, at = 0; /* where the open piece and the open entry begin */
  bool any = false, last_match = false;
  for (size_t i = 0; at < length || i < w->marks.n;) {
    bool is_match = i < w->marks.n && w->marks.at[i] == at;
    uint32_t end = is_match ? w->marks.at[i + 1] : i < w->marks.n ? w->marks.at[i] : length;
    if (is_match) i += 2;
    bool match = is_match != (step->invert != 0);
    if (any && border_stays(step->how, last_match, match)) {
      if (!close_piece(w, step, base, piece, at, last_match)) return false;
      piece = at;
    }
    any = true;
    last_match = match;
    at = end;
  }
  return close_piece(w, step, base, piece, length, last_match);
}

/* Where a piece begins; all of them may be empty. */
static const uint8_t *piece_at(const tsl__pieces *in, uint32_t begin) {
  static const uint8_t nothing[1];
  return in->bytes.at ? in->bytes.at + begin : nothing;
}

static tsl_status run_split(const tsl__bpe_tokenizer *t, const tsl__step *step, size_t step_index,
                            tsl__encode_work *w) {
  tsl__pieces *in = &w->pieces[0];
  for (size_t i = 0; i < in->ends.n; i++) {
    uint32_t begin = i ? in->ends.at[i - 1] : 0, length = in->ends.at[i] - begin;
    tsl_status status = find_matches(t, step, step_index, w, piece_at(in, begin), length);
    if (status) return status;
    if (!cut(w, step, begin, length)) return TSL_ERR_NO_MEMORY;
  }
  if (step->how == TSL__SPLIT_REMOVED) return TSL_OK;
  tsl__pieces old = *in; /* the bytes are the same: they change sides without a copy */
  in->bytes.at = w->pieces[1].bytes.at, in->bytes.n = w->pieces[1].bytes.n,
  in->bytes.cap = w->pieces[1].bytes.cap;
  w->pieces[1].bytes.at = old.bytes.at, w->pieces[1].bytes.n = old.bytes.n,
  w->pieces[1].bytes.cap = old.bytes.cap;
  return TSL_OK;
}

/* ---- rewriting ------------------------------------------------------------------------------- */

static bool append(tsl__encode_work *w, const uint8_t *s, size_t n) {
  tsl__pieces *out = &w->pieces[1];
  w->too_long = out->bytes.n + n > w->most;
  if (w->too_long || !tsl__vec_reserve(w->alloc, &out->bytes, n)) return false;
  if (n) memcpy(out->bytes.at + out->bytes.n, s, n);
  out->bytes.n += n;
  return true;
}

static bool replace(tsl__encode_work *w, const uint8_t *pool, const tsl__step *step,
                    const uint8_t *s, uint32_t length) {
  uint32_t done = 0, begin, end;
  for (;;) {
    match_text(pool + step->text, step->text_length, s, length, done, &begin, &end);
    if (!append(w, s + done, begin - done)) return false;
    if (begin == length) return true;
    if (!append(w, pool + step->content, step->content_length)) return false;
    done = end;
  }
}

static bool prepend(tsl__encode_work *w, const uint8_t *pool, const tsl__step *step,
                    const uint8_t *s, uint32_t length, bool at_start) {
  bool has = length >= step->text_length && !memcmp(s, pool + step->text, step->text_length);
  bool wanted = length && (step->how == TSL__WHEN_ALWAYS ||
                           (!has && (step->how == TSL__WHEN_MISSING || at_start)));
  return (!wanted || append(w, pool + step->text, step->text_length)) && append(w, s, length);
}

static tsl_status run_rewrite(const tsl__bpe_tokenizer *t, const tsl__step *step,
                              tsl__encode_work *w, bool at_start) {
  const uint8_t *pool = tsl__tok_pool(&t->tables);
  const tsl__pieces *in = &w->pieces[0];
  for (size_t i = 0; i < in->ends.n; i++) {
    uint32_t begin = i ? in->ends.at[i - 1] : 0, length = in->ends.at[i] - begin;
    const uint8_t *s = piece_at(in, begin);
    bool ok = true;
    if (step->kind == TSL__STEP_NFC)
      ok = tsl__nfc(w->alloc, s, length, &w->pieces[1]) == TSL_OK;
    else if (step->kind == TSL__STEP_REPLACE)
      ok = replace(w, pool, step, s, length);
    else
      ok = prepend(w, pool, step, s, length, at_start && !i);
    if (w->too_long) return TSL_ERR_LIMIT;
    if (!ok || !tsl__vec_push(w->alloc, &w->pieces[1].ends, (uint32_t)w->pieces[1].bytes.n))
      return TSL_ERR_NO_MEMORY;
  }
  return TSL_OK;
}

/* ---- the list -------------------------------------------------------------------------------- */

/* Does the step leave the pieces as they are? NFC of text that has no marks. */
static bool is_idle(const tsl__step *step, const tsl__encode_work *w) {
  return step->kind == TSL__STEP_NFC &&
         tsl__nfc_is_plain(w->pieces[0].bytes.at, w->pieces[0].bytes.n);
}

tsl_status tsl__steps_run(const tsl__bpe_tokenizer *t, tsl__encode_work *w, bool normaliser,
                          bool at_start) {
  const tsl__span *span = &t->tables.span[TSL__SPAN_STEPS];
  const tsl__step *steps = span->at;
  for (size_t i = 0; i < span->size / sizeof *steps; i++) {
    if ((steps[i].normaliser != 0) != normaliser || is_idle(&steps[i], w)) continue;
    w->pieces[1].bytes.n = w->pieces[1].ends.n = 0;
    tsl_status status = steps[i].kind >= TSL__STEP_SPLIT_TEXT
                            ? run_split(t, &steps[i], i, w)
                            : run_rewrite(t, &steps[i], w, at_start);
    if (status) return status;
    tsl__pieces done = w->pieces[0];
    w->pieces[0] = w->pieces[1];
    w->pieces[1] = done;
  }
  return TSL_OK;
}

void tsl__work_free(tsl__encode_work *w) {
  for (int i = 0; i < 2; i++) {
    tsl__vec_free(w->alloc, &w->pieces[i].bytes);
    tsl__vec_free(w->alloc, &w->pieces[i].ends);
  }
  tsl__vec_free(w->alloc, &w->symbols);
  tsl__vec_free(w->alloc, &w->heap);
  tsl__vec_free(w->alloc, &w->marks);
  tsl__vec_free(w->alloc, &w->normalised);
  if (w->match_data) pcre2_match_data_free(w->match_data);
}
