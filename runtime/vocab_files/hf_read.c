/* hf_read.c - see hf_read.h.
 *
 * Problem   A tokenizer.json has 9 MB, nearly all of it in two lists: the vocabulary and the
 *           merges. As a tree of nodes these would take ten times as much memory.
 * Idea      yajl calls back for every value; `open` is the container that is being read, its
 *           parents are on `parents`. A mode says whether the values are tree nodes or belong to
 *           one of the two big lists, which are flat arrays.
 * Example   {"model": {"type": "BPE", "vocab": {"a": 0}}}: "type" becomes a node of the tree. At
 *           the name "vocab" within "model" the mode changes: "a" and 0 become an entry of the
 *           list of tokens. The `}` behind it changes the mode back.
 * Memory    yajl does not look at what its allocator returns, so a NULL must never get there. Its
 *           hook takes from an arena and, if that is exhausted, jumps out of yajl altogether
 *           (longjmp to read_all). All yajl state lies in the arena, so nothing leaks.
 * Tested by tests/vocab_files/test_vocab_files.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/vocab_files/hf_read.h"

#include <setjmp.h>

#include <yajl/yajl_parse.h>

typedef enum mode { IN_TREE, IN_VOCAB, IN_MERGES, IN_PAIR } mode;

typedef struct reader {
  tsl__hf_file *file;
  yajl_handle yajl;
  tsl__arena scratch; /* yajl's memory */
  jmp_buf out_of_memory;
  tsl__doc *parents[TSL__HF_MAX_DEPTH];
  uint32_t depth; /* containers that are open in the tree */
  bool whole;     /* all of the text was read; what is wrong now is that it ended */
  mode mode;
  const char *key; /* of the next value */
  uint32_t key_length, key_offset;
  tsl__hf_merge pair;
  uint32_t pair_parts;
  tsl_status status;
  uint32_t offset;
  const char *message;
} reader;

/* ---- yajl's memory --------------------------------------------------------------------------- */

/* A block's size is kept in the 16 bytes before it. */
static void *yajl_take(void *ctx, size_t size) {
  reader *r = ctx;
  size_t *block = tsl__arena_alloc(&r->scratch, size + 16);
  if (!block) longjmp(r->out_of_memory, 1);
  *block = size;
  return block + 16 / sizeof *block;
}

static void *yajl_retake(void *ctx, void *p, size_t size) {
  size_t old = p ? *((size_t *)p - 16 / sizeof(size_t)) : 0;
  if (size <= old) return p;
  void *q = yajl_take(ctx, size);
  if (p) memcpy(q, p, old);
  return q;
}

static void yajl_leave(void *ctx, void *p) {
  (void)ctx;
  (void)p;
}

/* ---- where we are ---------------------------------------------------------------------------- */

static int stop(reader *r, tsl_status status, uint32_t offset, const char *message) {
  r->status = status;
  r->offset = offset;
  r->message = message;
  return 0;
}

static int no_memory(reader *r) { return stop(r, TSL_ERR_NO_MEMORY, 0, "out of memory"); }

/* Bytes read so far: the end of the token that yajl calls back for. */
static uint32_t end_of_token(const reader *r) { return (uint32_t)yajl_get_bytes_consumed(r->yajl); }

static bool in_text(const reader *r, const void *p) {
  return (uintptr_t)p >= (uintptr_t)r->file->text &&
         (uintptr_t)p < (uintptr_t)r->file->text + r->file->length;
}

/* A string as yajl gives it: part of the text, or (it had escapes) in a buffer that will be reused.
 * *offset is that of its opening quote, or, with escapes, of its end. NULL when out of memory. */
static const char *keep(reader *r, const unsigned char *s, size_t n, uint32_t *offset) {
  *offset = in_text(r, s) ? (uint32_t)((const char *)s - r->file->text) - 1 : end_of_token(r);
  return in_text(r, s) ? (const char *)s
                       : tsl__arena_copy(&r->file->arena, n ? (const void *)s : "", n);
}

/* ---- the tree -------------------------------------------------------------------------------- */

static bool key_is(const tsl__doc *node, const char *key) {
  return node->key_length == strlen(key) && !memcmp(node->key, key, node->key_length);
}

/* A new node in the open container; NULL when out of memory. */
static tsl__doc *append(reader *r, tsl__doc_kind kind, uint32_t offset) {
  tsl__doc *node = tsl__arena_alloc(&r->file->arena, sizeof *node);
  if (!node) {
    no_memory(r);
    return NULL;
  }
  *node = (tsl__doc){.key = r->key ? r->key : "",
                     .key_length = r->key ? r->key_length : 0,
                     .offset = offset,
                     .kind = kind,
                     .text = ""};
  r->key = NULL;
  if (!r->depth) {
    r->file->root = node;
    return node;
  }
  tsl__doc *parent = r->parents[r->depth - 1];
  if (parent->last)
    parent->last->next = node;
  else
    parent->first = node;
  parent->last = node;
  return node;
}

static int open_container(reader *r, tsl__doc_kind kind) {
  uint32_t offset = end_of_token(r) - 1;
  if (r->depth == TSL__HF_MAX_DEPTH)
    return stop(r, TSL_ERR_FORMAT, offset, "brackets are nested deeper than 64 levels");
  tsl__doc *node = append(r, kind, offset);
  if (!node) return 0;
  if (r->depth == 2 && key_is(r->parents[1], "model")) {
    if (kind == TSL__DOC_OBJECT && key_is(node, "vocab")) r->mode = IN_VOCAB;
    if (kind == TSL__DOC_ARRAY && key_is(node, "merges")) r->mode = IN_MERGES;
  }
  r->parents[r->depth++] = node;
  return 1;
}

static int close_container(reader *r) {
  r->depth--;
  r->mode = IN_TREE;
  return 1;
}

static int misplaced(reader *r) {
  return stop(
      r, TSL_ERR_FORMAT, end_of_token(r),
      r->mode == IN_VOCAB
          ? "a member of model.vocab is not a number"
          : "an element of model.merges is neither \"left right\" nor [\"left\", \"right\"]");
}

/* ---- the big lists --------------------------------------------------------------------------- */

static bool parse_u32(const char *s, size_t n, uint32_t *out) {
  uint64_t value = 0;
  for (size_t i = 0; i < n; i++) {
    if (s[i] < '0' || s[i] > '9' || i > 9) return false;
    value = value * 10 + (uint64_t)(s[i] - '0');
  }
  *out = (uint32_t)value;
  return n && value < UINT32_MAX;
}

static int add_token(reader *r, const char *number, size_t n) {
  tsl__hf_token token = {r->key, r->key_length, 0, r->key_offset};
  if (!parse_u32(number, n, &token.id))
    return stop(r, TSL_ERR_FORMAT, end_of_token(r),
                "a token's id is not a whole number below 2^32 - 1");
  r->key = NULL;
  return tsl__vec_push(r->file->alloc, &r->file->tokens, token) ? 1 : no_memory(r);
}

static int add_merge(reader *r) {
  return tsl__vec_push(r->file->alloc, &r->file->merges, r->pair) ? 1 : no_memory(r);
}

/* "left right": exactly one space. */
static int add_spaced_merge(reader *r, const char *s, uint32_t n, uint32_t offset) {
  const char *space = n ? memchr(s, ' ', n) : NULL;
  if (!space || memchr(space + 1, ' ', n - (size_t)(space + 1 - s)))
    return stop(r, TSL_ERR_FORMAT, offset, "a merge is not two tokens with one space between");
  uint32_t left = (uint32_t)(space - s);
  r->pair = (tsl__hf_merge){s, space + 1, left, n - left - 1, offset};
  return add_merge(r);
}

static int add_pair_part(reader *r, const char *s, uint32_t n) {
  if (r->pair_parts == 0) r->pair.left = s, r->pair.left_length = n;
  if (r->pair_parts == 1) r->pair.right = s, r->pair.right_length = n;
  return r->pair_parts++ < 2 ? 1 : misplaced(r);
}

/* ---- what yajl calls ------------------------------------------------------------------------- */

static int on_null(void *ctx) {
  reader *r = ctx;
  return r->mode != IN_TREE ? misplaced(r) : append(r, TSL__DOC_NULL, end_of_token(r) - 4) != NULL;
}

static int on_boolean(void *ctx, int value) {
  reader *r = ctx;
  return r->mode != IN_TREE ? misplaced(r)
                            : append(r, value ? TSL__DOC_TRUE : TSL__DOC_FALSE,
                                     end_of_token(r) - (value ? 4 : 5)) != NULL;
}

static int on_number(void *ctx, const char *s, size_t n) {
  reader *r = ctx;
  if (r->mode == IN_VOCAB) return add_token(r, s, n);
  if (r->mode != IN_TREE) return misplaced(r);
  tsl__doc *node = append(r, TSL__DOC_NUMBER, end_of_token(r) - (uint32_t)n);
  if (!node) return 0;
  node->length = (uint32_t)n;
  node->text = tsl__arena_copy(&r->file->arena, s, n);
  return node->text ? 1 : no_memory(r);
}

static int on_string(void *ctx, const unsigned char *s, size_t n) {
  reader *r = ctx;
  uint32_t offset;
  const char *text = keep(r, s, n, &offset);
  if (!text) return no_memory(r);
  if (r->mode == IN_VOCAB) return misplaced(r);
  if (r->mode == IN_MERGES) return add_spaced_merge(r, text, (uint32_t)n, offset);
  if (r->mode == IN_PAIR) return add_pair_part(r, text, (uint32_t)n);
  tsl__doc *node = append(r, TSL__DOC_STRING, offset);
  if (!node) return 0;
  node->text = text;
  node->length = (uint32_t)n;
  return 1;
}

static int on_key(void *ctx, const unsigned char *s, size_t n) {
  reader *r = ctx;
  r->key_length = (uint32_t)n;
  r->key = keep(r, s, n, &r->key_offset);
  return r->key ? 1 : no_memory(r);
}

static int on_start_map(void *ctx) {
  reader *r = ctx;
  return r->mode != IN_TREE ? misplaced(r) : open_container(r, TSL__DOC_OBJECT);
}

static int on_start_array(void *ctx) {
  reader *r = ctx;
  if (r->mode == IN_TREE) return open_container(r, TSL__DOC_ARRAY);
  if (r->mode != IN_MERGES) return misplaced(r);
  r->mode = IN_PAIR;
  r->pair_parts = 0;
  r->pair.offset = end_of_token(r) - 1;
  return 1;
}

static int on_end_map(void *ctx) { return close_container(ctx); }

static int on_end_array(void *ctx) {
  reader *r = ctx;
  if (r->mode != IN_PAIR) return close_container(r);
  if (r->pair_parts != 2) return misplaced(r);
  r->mode = IN_MERGES;
  return add_merge(r);
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end_map,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end_array,
};

/* ---- the whole ------------------------------------------------------------------------------- */

static tsl_status report(reader *r, yajl_status status, tsl_error *error) {
  const tsl__hf_file *f = r->file;
  if (r->status == TSL_ERR_NO_MEMORY) return tsl__fail(error, r->status, "out of memory");
  if (r->status)
    return tsl__fail_at(error, r->status, f->text, f->length, r->offset, "%s", r->message);
  if (status == yajl_status_ok) return TSL_OK;
  size_t at = r->whole ? f->length : yajl_get_bytes_consumed(r->yajl);
  unsigned char *words = yajl_get_error(r->yajl, 0, (const unsigned char *)f->text, f->length);
  return tsl__fail_at(error, TSL_ERR_SYNTAX, f->text, f->length, at < f->length ? at : f->length,
                      "not JSON: %.*s", (int)strcspn((const char *)words, "\n"),
                      (const char *)words);
}

static bool read_hex(const char *s, const char *end, uint32_t *out) {
  *out = 0;
  if (end - s < 6 || s[0] != '\\' || s[1] != 'u') return false;
  for (int i = 2; i < 6; i++) {
    int digit = tsl__hex_value((uint8_t)s[i]);
    if (digit < 0) return false;
    *out = *out << 4 | (uint32_t)digit;
  }
  return true;
}

/* The text is JSON. Half a pair of surrogates is no text: yajl would make "?" of it. */
static tsl_status check_escapes(const tsl__hf_file *f, tsl_error *error) {
  const char *end = f->text + f->length, *at = f->text;
  while (at < end && (at = memchr(at, '\\', (size_t)(end - at))) != NULL) {
    uint32_t high, low;
    if (!read_hex(at, end, &high)) {
      at += 2;
      continue;
    }
    bool pair = high >= 0xD800 && high < 0xDC00 && read_hex(at + 6, end, &low) && low >= 0xDC00 &&
                low < 0xE000;
    if (high >= 0xD800 && high < 0xE000 && !pair)
      return tsl__fail_at(error, TSL_ERR_SYNTAX, f->text, f->length, (size_t)(at - f->text),
                          "half a pair of surrogates is no text");
    at += pair ? 12 : 6;
  }
  return TSL_OK;
}

/* All that must survive a longjmp is in *r. */
static tsl_status read_all(reader *r, tsl_error *error) {
  if (setjmp(r->out_of_memory)) return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  yajl_alloc_funcs hooks = {yajl_take, yajl_retake, yajl_leave, r};
  r->yajl = yajl_alloc(&callbacks, &hooks, r);
  yajl_status status = yajl_parse(r->yajl, (const unsigned char *)r->file->text, r->file->length);
  r->whole = status == yajl_status_ok;
  if (r->whole) status = yajl_complete_parse(r->yajl);
  tsl_status result = report(r, status, error);
  return result ? result : check_escapes(r->file, error);
}

tsl_status tsl__hf_read(tsl__hf_file *file, const tsl_allocator *a, const char *text, size_t length,
                        tsl_error *error) {
  memset(file, 0, sizeof *file);
  if (length >= UINT32_MAX)
    return tsl__fail(error, TSL_ERR_LIMIT, "a tokenizer file may have at most 4,294,967,294 bytes");
  file->alloc = a;
  file->text = text;
  file->length = length;
  tsl__arena_init(&file->arena, a);
  reader *r = tsl__alloc_zero(a, sizeof *r);
  if (!r) return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  r->file = file;
  tsl__arena_init(&r->scratch, a);
  tsl_status status = read_all(r, error);
  tsl__arena_free(&r->scratch);
  tsl__free(a, r, sizeof *r);
  if (status) tsl__hf_free(file);
  return status;
}

void tsl__hf_free(tsl__hf_file *f) {
  if (!f->alloc) return;
  tsl__vec_free(f->alloc, &f->tokens);
  tsl__vec_free(f->alloc, &f->merges);
  tsl__arena_free(&f->arena);
  memset(f, 0, sizeof *f);
}

/* ---- asking the tree ------------------------------------------------------------------------- */

tsl__doc *tsl__doc_get(const tsl__doc *node, const char *key) {
  if (!node || node->kind != TSL__DOC_OBJECT) return NULL;
  for (tsl__doc *child = node->first; child; child = child->next)
    if (key_is(child, key)) return child->kind == TSL__DOC_NULL ? NULL : child;
  return NULL;
}

bool tsl__doc_is(const tsl__doc *node, const char *text) {
  return node && node->kind == TSL__DOC_STRING && node->length == strlen(text) &&
         !memcmp(node->text, text, node->length);
}

bool tsl__doc_true(const tsl__doc *node) { return node && node->kind == TSL__DOC_TRUE; }

bool tsl__doc_u32(const tsl__doc *node, uint32_t *out) {
  return node && node->kind == TSL__DOC_NUMBER && parse_u32(node->text, node->length, out);
}
