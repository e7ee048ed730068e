/* tiktoken.c - a vocabulary from a tiktoken rank file.
 *
 * File      A line for each token: the base64 form of its bytes, a space, and its rank, which is
 *           its id. "IQ== 0" is the byte 21 with id 0.
 * Problem   The file names neither the pre-tokenisation pattern nor the special tokens, nor
 *           merges.
 * Idea      Both are known for OpenAI's encodings, by the file's name. Any other file needs
 *           options->pattern, and has no special tokens. What the pattern does not match is left
 *           out, as tiktoken does. Merges need no list: of two neighbours in a text, the pair
 *           whose joined bytes have the lowest rank is joined first.
 * Example   With a: 0, b: 1, c: 2, bc: 3, ab: 4 the text "abc" has the pairs ab (rank 4) and bc
 *           (rank 3). bc is joined first, then a·bc is looked for and is no token: the ids are 0,
 *           3.
 * Lies      An id twice, or a line that is no base64 and number: FORMAT, with the line.
 * Cost      A line is decoded once; a table by id puts the tokens in order.
 * Patterns  and ids: tiktoken_ext/openai_public.py of tiktoken 0.12.
 * Tested by tests/tokenizer/test_encode.c, tests/vocab_files/test_vocab_files.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "runtime/tokenizer/tokenizer.h"

#define R50K_PATTERN \
  "'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s"
#define CL100K_PATTERN                                                   \
  "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| " \
  "?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s"
#define O200K_PATTERN                                                                              \
  "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'" \
  "s|'t|'re|'ve|'m|'ll|'d)?|"                                                                      \
  "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'" \
  "s|'t|'re|'ve|'m|'ll|'d)?|"                                                                      \
  "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

typedef struct special {
  const char *text;
  tsl_token id;
} special;

typedef struct encoding {
  const char *name, *pattern;
  special specials[12];                   /* up to text = NULL */
  tsl_token reserved_begin, reserved_end; /* ids without another name are <|reserved_ID|> */
} encoding;

static const encoding encodings[] = {
    {"gpt2", R50K_PATTERN, {{"<|endoftext|>", 50256}}, 0, 0},
    {"r50k_base", R50K_PATTERN, {{"<|endoftext|>", 50256}}, 0, 0},
    {"p50k_base", R50K_PATTERN, {{"<|endoftext|>", 50256}}, 0, 0},
    {"p50k_edit",
     R50K_PATTERN,
     {{"<|endoftext|>", 50256},
      {"<|fim_prefix|>", 50281},
      {"<|fim_middle|>", 50282},
      {"<|fim_suffix|>", 50283}},
     0,
     0},
    {"cl100k_base",
     CL100K_PATTERN,
     {{"<|endoftext|>", 100257},
      {"<|fim_prefix|>", 100258},
      {"<|fim_middle|>", 100259},
      {"<|fim_suffix|>", 100260},
      {"<|endofprompt|>", 100276}},
     0,
     0},
    {"o200k_base", O200K_PATTERN, {{"<|endoftext|>", 199999}, {"<|endofprompt|>", 200018}}, 0, 0},
    {"o200k_harmony",
     O200K_PATTERN,
     {{"<|startoftext|>", 199998},
      {"<|endoftext|>", 199999},
      {"<|return|>", 200002},
      {"<|constrain|>", 200003},
      {"<|channel|>", 200005},
      {"<|start|>", 200006},
      {"<|end|>", 200007},
      {"<|message|>", 200008},
      {"<|call|>", 200012},
      {"<|endofprompt|>", 200018}},
     200000,
     201088},
};

typedef struct line {
  uint32_t id, begin, length;
} line; /* bytes[begin …] of the pool of decoded tokens */

typedef struct tiktoken {
  const tsl_allocator *a;
  const char *text;
  size_t length;
  tsl_error *error;
  tsl__vocab_builder b;
  TSL__VEC(uint8_t) decoded;
  TSL__VEC(line) lines;
  uint32_t size;
  uint32_t *by_id; /* index into lines + 1, 0: none */
} tiktoken;

static tsl_status no_memory(const tiktoken *t) {
  return tsl__fail(t->error, TSL_ERR_NO_MEMORY, "out of memory");
}

static tsl_status malformed(const tiktoken *t, size_t offset, tsl_status status, const char *what) {
  return tsl__fail_at(t->error, status, t->text, t->length, offset, "%s", what);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int sextet(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

int tsl__base64_group(const char g[4], bool last, uint8_t out[3], int *wrong) {
  int pad = last ? (g[3] == '=') + (g[3] == '=' && g[2] == '=') : 0;
  uint32_t bits = 0;
  for (*wrong = 0; *wrong < 4; ++*wrong) {
    int value = *wrong >= 4 - pad ? 0 : sextet(g[*wrong]);
    if (value < 0) return -1;
    bits = bits << 6 | (uint32_t)value;
  }
  *wrong = -1;
  if (bits & (pad == 2 ? 0xFFFFu : pad ? 0xFFu : 0u)) return -1;
  for (int i = 0; i < 3 - pad; i++) out[i] = (uint8_t)(bits >> (16 - 8 * i));
  return 3 - pad;
}

/* Decode text[at … end) to t->decoded: whole groups of four, padded. */
static tsl_status read_base64(tiktoken *t, size_t at, size_t end) {
  if ((end - at) % 4 || at == end)
    return malformed(t, at, TSL_ERR_SYNTAX, "base64 comes in groups of four characters");
  if (!tsl__vec_reserve(t->a, &t->decoded, (end - at) / 4 * 3)) return no_memory(t);
  for (; at < end; at += 4) {
    int wrong,
        n = tsl__base64_group(t->text + at, at + 4 == end, t->decoded.at + t->decoded.n, &wrong);
    if (n < 0 && wrong >= 0)
      return malformed(t, at + (size_t)wrong, TSL_ERR_SYNTAX, "not a character of base64");
    if (n < 0) return malformed(t, at, TSL_ERR_SYNTAX, "base64 with bits left over");
    t->decoded.n += (size_t)n;
  }
  return t->decoded.n > UINT32_MAX / 2
             ? malformed(t, at, TSL_ERR_LIMIT, "the tokens have more than 2^31 bytes")
             : TSL_OK;
}

/* One line, text[at … end). */
static tsl_status read_line(tiktoken *t, size_t at, size_t end) {
  const char *space = memchr(t->text + at, ' ', end - at);
  if (!space) return malformed(t, at, TSL_ERR_SYNTAX, "a line is not a token, a space and a rank");
  line l = {0, (uint32_t)t->decoded.n, 0};
  size_t digit = (size_t)(space - t->text) + 1;
  tsl_status status = read_base64(t, at, digit - 1);
  if (status) return status;
  if (digit == end || end - digit > 9)
    return malformed(t, digit, TSL_ERR_SYNTAX, "a rank has one to nine digits");
  for (; digit < end; digit++) {
    if (t->text[digit] < '0' || t->text[digit] > '9')
      return malformed(t, digit, TSL_ERR_SYNTAX, "a rank is a decimal number");
    l.id = l.id * 10 + (uint32_t)(t->text[digit] - '0');
  }
  if (l.id >= TSL_MAX_VOCAB)
    return malformed(t, end, TSL_ERR_LIMIT, "a rank is not below 4,194,304 (TSL_MAX_VOCAB)");
  l.length = (uint32_t)t->decoded.n - l.begin;
  if (l.id >= t->size) t->size = l.id + 1;
  return tsl__vec_push(t->a, &t->lines, l) ? TSL_OK : no_memory(t);
}

static tsl_status read_lines(tiktoken *t) {
  for (size_t at = 0; at < t->length;) {
    const char *newline = memchr(t->text + at, '\n', t->length - at);
    size_t next = newline ? (size_t)(newline - t->text) + 1 : t->length,
           end = newline ? next - 1 : next;
    if (end > at && t->text[end - 1] == '\r') end--;
    tsl_status status = end > at ? read_line(t, at, end) : TSL_OK;
    if (status) return status;
    at = next;
  }
  if (!t->lines.n) return malformed(t, 0, TSL_ERR_FORMAT, "the file has no tokens");
  return tsl__too_many_unnamed(t->size, t->lines.n)
             ? malformed(t, 0, TSL_ERR_LIMIT,
                         "a rank is over 65,536 more than twice the number of tokens")
             : TSL_OK;
}

/* ---- special tokens -------------------------------------------------------------------------- */

static const encoding *find_encoding(const char *name) {
  const char *base = name ? name : "";
  for (const char *p = base; *p; p++)
    if (*p == '/' || *p == '\\') base = p + 1;
  size_t n = strcspn(base, ".");
  for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++)
    if (strlen(encodings[i].name) == n && !memcmp(encodings[i].name, base, n)) return &encodings[i];
  return NULL;
}

static const char *special_name(const encoding *e, tsl_token id, char buffer[32]) {
  for (size_t i = 0; e && i < sizeof e->specials / sizeof *e->specials && e->specials[i].text; i++)
    if (e->specials[i].id == id) return e->specials[i].text;
  if (!e || id < e->reserved_begin || id >= e->reserved_end) return NULL;
  snprintf(buffer, 32, "<|reserved_%u|>", id);
  return buffer;
}

static uint32_t last_special(const encoding *e) {
  uint32_t end = e ? e->reserved_end : 0;
  for (size_t i = 0; e && i < sizeof e->specials / sizeof *e->specials && e->specials[i].text; i++)
    if (e->specials[i].id >= end) end = e->specials[i].id + 1;
  return end;
}

static tsl_status add_special(tiktoken *t, tsl_token id, const char *text) {
  size_t n = strlen(text);
  bool ok = tsl__vec_reserve(t->a, &t->b.bytes, n) && tsl__builder_added(&t->b, id, 0, text, n) &&
            (!tsl__is_eog_name(text, n) || tsl__vec_push(t->a, &t->b.eog, id));
  if (!ok) return no_memory(t);
  memcpy(t->b.bytes.at + t->b.bytes.n, text, n);
  t->b.bytes.n += n;
  return TSL_OK;
}

/* ---- by id ----------------------------------------------------------------------------------- */

static tsl_status sort_by_id(tiktoken *t) {
  t->by_id = tsl__alloc_zero(t->a, t->size * sizeof *t->by_id);
  if (!t->by_id) return no_memory(t);
  for (size_t i = 0; i < t->lines.n; i++) {
    if (t->by_id[t->lines.at[i].id])
      return tsl__fail(t->error, TSL_ERR_FORMAT, "two tokens have the rank %u", t->lines.at[i].id);
    t->by_id[t->lines.at[i].id] = (uint32_t)i + 1;
  }
  return TSL_OK;
}

static tsl_status add_token(tiktoken *t, tsl_token id, const encoding *e) {
  char buffer[32];
  const char *name = special_name(e, id, buffer);
  const line *l = t->by_id[id] ? &t->lines.at[t->by_id[id] - 1] : NULL;
  if (name && l)
    return tsl__fail(t->error, TSL_ERR_FORMAT, "the rank %u belongs to the special token %s", id,
                     name);
  if (!tsl__vec_push(t->a, &t->b.offsets, (uint32_t)t->b.bytes.n) ||
      !tsl__vec_push(t->a, &t->b.special, name != NULL))
    return no_memory(t);
  if (name) return add_special(t, id, name);
  if (!l) return TSL_OK;
  if (!tsl__vec_reserve(t->a, &t->b.bytes, l->length)) return no_memory(t);
  memcpy(t->b.bytes.at + t->b.bytes.n, t->decoded.at + l->begin, l->length);
  t->b.bytes.n += l->length;
  if (l->length == 1) t->b.facts.bytes[t->decoded.at[l->begin]] = id;
  return TSL_OK;
}

/* One more than the largest id that the options name as the end of a generation, as long as there
 * are logits for it. Ranks are of text, and what ends it comes behind them. */
static uint32_t last_eog(const tsl_vocab_options *o) {
  uint32_t end = 0, width = o->logits_width < TSL_MAX_VOCAB ? o->logits_width : TSL_MAX_VOCAB;
  for (uint32_t i = 0; i < o->eog_count; i++)
    if (o->eog[i] >= end && o->eog[i] < width) end = o->eog[i] + 1;
  return end;
}

static tsl_status add_all(tiktoken *t, const encoding *e, const tsl_vocab_options *options) {
  if (last_special(e) > t->size) t->size = last_special(e);
  if (last_eog(options) > t->size) t->size = last_eog(options);
  tsl_status status = sort_by_id(t);
  for (tsl_token id = 0; id < t->size && !status; id++) status = add_token(t, id, e);
  if (status) return status;
  return tsl__vec_push(t->a, &t->b.offsets, (uint32_t)t->b.bytes.n) ? TSL_OK : no_memory(t);
}

/* The LOOKUP table; tokens that spell the same are an error. */
static tsl_status make_lookup(tiktoken *t) {
  uint8_t *take = tsl__alloc(t->a, t->size);
  if (!take) return no_memory(t);
  for (tsl_token id = 0; id < t->size; id++) take[id] = t->by_id[id] != 0;
  bool ok = tsl__lookup_build(&t->b, t->size, take);
  tsl__free(t->a, take, t->size);
  if (!ok) return no_memory(t);
  size_t found = tsl__lookup_count(&t->b.tables);
  return found == t->lines.n ? TSL_OK
                             : tsl__fail(t->error, TSL_ERR_FORMAT, "%zu tokens are there twice",
                                         t->lines.n - found);
}

static tsl_status load(tiktoken *t, const char *name, const tsl_vocab_options *options,
                       tsl_vocab **out) {
  const encoding *e = find_encoding(name);
  const char *pattern = options->pattern ? options->pattern : e ? e->pattern : NULL;
  if (!pattern)
    return tsl__fail(
        t->error, TSL_ERR_ARGUMENT,
        "no pre-tokenisation pattern is known for a rank file of this name, but for those of "
        "OpenAI's encodings (cl100k_base.tiktoken); for others options->pattern gives one");
  tsl_status status = read_lines(t);
  if (!status) status = add_all(t, e, options);
  if (!status) status = make_lookup(t);
  if (status) return status;
  tsl__step split = {.kind = TSL__STEP_SPLIT_REGEX,
                     .how = TSL__SPLIT_REMOVED,
                     .invert = 1,
                     .dialect = TSL__DIALECT_RUST};
  if (!tsl__builder_step(&t->b, split, pattern, strlen(pattern), "", 0)) return no_memory(t);
  t->b.facts.units = TSL__UNITS_RANKS;
  t->b.facts.whole_pieces = 1;
  return tsl__builder_finish(&t->b, options, out, t->error);
}

tsl_status tsl__load_tiktoken(const char *text, size_t length, const char *name,
                              const tsl_vocab_options *options, const tsl_allocator *a,
                              tsl_vocab **out, tsl_error *error) {
  tiktoken t = {.a = a, .text = text, .length = length, .error = error};
  tsl__builder_init(&t.b, a);
  tsl_status status = load(&t, name, options, out);
  tsl__vec_free(a, &t.decoded);
  tsl__vec_free(a, &t.lines);
  tsl__free(a, t.by_id, t.size * sizeof *t.by_id);
  tsl__builder_free(&t.b);
  return status;
}
