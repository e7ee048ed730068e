/* boundary.c - see boundary.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/position/boundary.h"

#include <stdlib.h>

#include "runtime/automaton/seen_names.h"

#define BITSETS 3u /* bitsets of tsl__boundary */

static const uint8_t *past_space(const uint8_t *at, const uint8_t *end) {
  while (at < end && memchr(" \t\n\r", *at, 4)) at++;
  return at;
}

/* After the quote that closes a string; NULL: there is none. */
static const uint8_t *past_string(const uint8_t *at, const uint8_t *end) {
  for (; at < end && *at != '"'; at++) at += *at == '\\';
  return at < end ? at + 1 : NULL;
}

/* After a value that is whole, white space before it; NULL: there is none. */
static const uint8_t *past_value(const uint8_t *at, const uint8_t *end) {
  const uint8_t *begin = past_space(at, end);
  unsigned depth = 0;
  if (begin < end && (!tsl__is_bare(*begin) || *begin == '.' || *begin == '+') &&
      !memchr("\"[{", *begin, 3))
    return NULL;
  for (at = begin; at;) {
    if (at == end) return depth == 0 && at > begin ? at : NULL;
    if (!depth && at > begin && memchr("]},: \t\n\r", *at, 8)) return at;
    if (*at == '"') {
      at = past_string(at + 1, end);
      continue;
    }
    depth += *at == '[' || *at == '{';
    if (*at == ']' || *at == '}') {
      if (depth-- == 0) return NULL;
    } else if (!memchr("[{,: \t\n\r", *at, 8) && !tsl__is_bare(*at)) {
      return NULL;
    }
    at++;
  }
  return NULL;
}

/* Is there a whole value first, and a comma after it? */
static bool ends_item(const uint8_t *at, const uint8_t *end) {
  const uint8_t *after = past_value(at, end);
  return after && (after = past_space(after, end)) < end && *after == ',';
}

/* Does an array begin, with a whole item and a comma? */
static bool holds_item(const uint8_t *at, const uint8_t *end) {
  while (at < end && (at = memchr(at, '[', (size_t)(end - at)))) {
    if (ends_item(++at, end)) return true;
  }
  return false;
}

/* Are there these two bytes, one after the other? */
static bool in_order(const uint8_t *at, const uint8_t *end, uint8_t first, uint8_t second) {
  const uint8_t *found = memchr(at, first, (size_t)(end - at));
  return found && memchr(found, second, (size_t)(end - found));
}

/* Does a comma come that is not in a string, and nothing that JSON has in strings alone? */
static bool has_comma(const uint8_t *at, const uint8_t *end) {
  bool comma = false;
  while (at && at < end) {
    if (!memchr("[]{},:\" \t\n\r+-.0123456789truefalsnE", *at, 34)) return false;
    comma = comma || *at == ',';
    at = *at == '"' ? past_string(at + 1, end) : at + 1;
  }
  return comma;
}

/* Does a comma come, and the beginning of a string after it, its first byte included? */
static bool begins_name(const uint8_t *at, const uint8_t *end) {
  while (at && (at = memchr(at, ',', (size_t)(end - at)))) {
    const uint8_t *quote = past_space(++at, end);
    if (quote + 1 < end && *quote == '"') return true;
  }
  return false;
}

/* Does a comma come, and a whole string after it that may be a name? */
static bool holds_name(const uint8_t *at, const uint8_t *end) {
  const uint8_t *colon = memchr(at, ':', (size_t)(end - at));
  if (colon && begins_name(colon, end)) return true;
  while ((at = memchr(at, ',', (size_t)(end - at)))) {
    const uint8_t *quote = past_space(++at, end);
    const uint8_t *after = quote < end && *quote == '"' ? past_string(quote + 1, end) : NULL;
    if (after && ((after = past_space(after, end)) == end || *after == ':')) return true;
  }
  return false;
}

static bool any_of(const uint8_t *at, const uint8_t *end, const char *characters) {
  for (; at < end; at++)
    if (memchr(characters, *at, strlen(characters))) return true;
  return false;
}

#define BIT(byte) (uint64_t)1 << ((byte) & 63)

/* Brackets, commas, colons, quotes and backslashes: most tokens have none. */
static const tsl__bytes structural = {
    {BIT('"') | BIT(',') | BIT(':'), BIT('[') | BIT('\\') | BIT(']') | BIT('{') | BIT('}'), 0, 0}};

static bool has_structural(const uint8_t *at, const uint8_t *end) {
  for (; at < end; at++)
    if (tsl__bytes_has(&structural, *at)) return true;
  return false;
}

bool tsl__begins_one(const uint8_t *at, const uint8_t *end, bool in_string) {
  for (; at < end && (in_string || *at != ','); at++) {
    if (in_string && *at == '\\')
      at++;
    else if (*at == '"')
      in_string = !in_string;
  }
  if (at >= end) return true;
  for (at++; at < end && memchr(" \t\n\r[{", *at, 6); at++) {
  }
  if (at < end && *at == '"') return !memchr(at + 1, '"', (size_t)(end - at - 1));
  for (; at < end; at++)
    if (memchr("[]{},:\"", *at, 7)) return false;
  return true;
}

uint64_t tsl__outline(const uint8_t *at, const uint8_t *end, bool in_string, const uint8_t **rest) {
  uint64_t made = 0;
  *rest = end;
  for (; at < end; at++) {
    if (*at == '"' || (!in_string && memchr("[]{},:", *at, 6))) {
      if (made >> 56) return 0;
      made = made << 8 | *at;
      if (*at != '"') continue;
      in_string = !in_string;
      *rest = in_string ? at + 1 : end;
    } else if (in_string) {
      at += *at == '\\';
    } else if (made && !memchr(" \t\n\r", *at, 4)) {
      return 0;
    }
  }
  return made;
}

/* The sign of a name, or of what is left of one, that a quote in the token closes; 0: none does. */
static uint64_t closed_sign(const uint8_t *at, const uint8_t *end) {
  uint8_t open[12], count = 0, utf8[4];
  if (!past_string(at, end)) return 0;
  if (*at != '\\') return tsl__name_sign(at, *at != '"');
  for (; count < 12 && (count < 2 || *at != '"'); at++)
    if (tsl__escape_byte(open, &count, *at, utf8)) return tsl__name_sign(utf8, 1);
  return UINT64_MAX; /* no escape that is complete */
}

/* What a token with a comma says about the next name, if the token begins outside strings, or
 * within one. */
static tsl__next_name next_name(tsl_token token, const uint8_t *from, const uint8_t *end,
                                bool in_string) {
  const uint8_t *at = from;
  bool unknown = holds_name(from, end);
  uint16_t closes = 0;
  uint32_t within = 0; /* of containers that begin in the token: open */
  for (; at < end && (in_string || *at != ','); at++) {
    if (*at == '"')
      in_string = !in_string;
    else if (in_string)
      at += *at == '\\';
    else if (*at == '[' || *at == '{')
      within++;
    else if (*at == ']' || *at == '}')
      within ? (void)within-- : (void)closes++;
  }
  if (at >= end)
    return (tsl__next_name){token, unknown ? TSL__CLOSES_UNKNOWN : TSL__CLOSES_NEVER, 0};
  return (tsl__next_name){token, within || unknown ? TSL__CLOSES_UNKNOWN : closes,
                          (uint16_t)(past_space(at + 1, end) - from)};
}

static int by_closes(const void *x, const void *y) {
  const tsl__next_name *a = x, *b = y;
  return a->closes != b->closes ? (a->closes < b->closes ? -1 : 1)
                                : (a->token > b->token) - (a->token < b->token);
}

/* Is there a closing square bracket, or a line break, which in indented text may be the way to one
 * and to nothing else? */
static bool may_close(const uint8_t *at, const uint8_t *end) {
  return memchr(at, ']', (size_t)(end - at)) || memchr(at, '\n', (size_t)(end - at));
}

static void put(uint32_t *set, tsl_token t, bool bit) { set[t >> 5] |= (uint32_t)bit << (t & 31); }

static bool add_to(tsl__tokens *list, const tsl_allocator *a, tsl_token t, bool holds) {
  return !holds || tsl__vec_push(a, list, t);
}

static bool pass_to(tsl__passings *list, const tsl_allocator *a, tsl_token t, uint32_t kind,
                    bool holds) {
  return !holds || tsl__vec_push(a, list, ((tsl__passing){t, kind}));
}

/* Outlines of the kinds. */
typedef struct kinds {
  uint64_t at[TSL__PASSING_KINDS]; /* at[0]: none */
  uint32_t n;
} kinds;

/* The kind of a token that begins outside strings, or within one, and that begins one item at
 * most. */
static uint32_t kind_of(kinds *k, const uint8_t *at, const uint8_t *end, bool in_string) {
  const uint8_t *rest;
  uint64_t outline = tsl__outline(at, end, in_string, &rest);
  if (!outline || rest < end) return 0;
  for (uint32_t i = 1; i < k->n; i++)
    if (k->at[i] == outline) return i;
  if (k->n == TSL__PASSING_KINDS) return 0;
  k->at[k->n] = outline;
  return k->n++;
}

/* A token that holds brackets, commas, colons, quotes or backslashes. false: out of memory. */
static bool classify(tsl__boundary *c, const tsl_allocator *a, kinds *k, tsl_token t,
                     const uint8_t *at, const uint8_t *end) {
  const uint8_t *quote = memchr(at, '"', (size_t)(end - at));
  bool whole = holds_item(at, end), comma = memchr(at, ',', (size_t)(end - at)) != NULL;
  put(c->unstructured, t, !any_of(at, end, "[]{},:\""));
  put(c->unstructured_quoted, t, !any_of(at, end, "\"\\"));
  c->name_ends |= closed_sign(at, end);
  c->whole_names |= quote && past_space(at, end) == quote ? closed_sign(quote + 1, end) : 0;
  bool passes = quote && memchr(quote, ',', (size_t)(end - quote));
  for (uint32_t n = (uint32_t)(end - at); passes && n-- > c->reach;)
    if (at[n] == '"') c->reach = n;
  bool one = comma && tsl__begins_one(at, end, false),
       one_quoted = comma && tsl__begins_one(at, end, true);
  uint32_t kind = one ? kind_of(k, at, end, false) : 0,
           quoted = one_quoted && quote ? kind_of(k, at, end, true) : 0;
  if (!pass_to(&c->several, a, t, 0, comma && !one) ||
      !pass_to(&c->several_quoted, a, t, 0, comma && !one_quoted))
    return false;
  if (!add_to(&c->ends, a, t, may_close(at, end)) ||
      !add_to(&c->ends_quoted, a, t, quote && may_close(quote, end)))
    return false;
  if (!pass_to(&c->comma, a, t, kind, whole || has_comma(at, end)) ||
      !pass_to(&c->quoted, a, t, quoted, passes))
    return false;
  return pass_to(&c->whole, a, t, 0, whole) &&
         pass_to(&c->first, a, t, 0, whole || ends_item(at, end)) &&
         pass_to(&c->closed, a, t, kind, whole || in_order(at, end, '}', ',')) &&
         pass_to(&c->closed_quoted, a, t, quoted,
                 whole || (quote && in_order(quote, end, '}', ','))) &&
         add_to(&c->named, a, t, holds_name(at, end)) &&
         (!begins_name(at, end) ||
          (tsl__vec_push(a, &c->begun, next_name(t, at, end, false)) &&
           tsl__vec_push(a, &c->begun_quoted, next_name(t, at, end, true))));
}

/* The nodes of the trie after white space and a quote. */
static bool find_names(const tsl_vocab *v, const tsl_allocator *a, tsl__boundary *c) {
  const tsl__trie *trie = &v->trie;
  TSL__VEC(struct tsl__name_start) at = {0}, found = {0};
  bool fine = tsl__vec_push(a, &at, ((struct tsl__name_start){0, 0}));
  while (fine && at.n) {
    struct tsl__name_start s = at.at[--at.n];
    for (const char *b = " \t\n\r\""; fine && *b; b++) {
      struct tsl__name_start child = {tsl__trie_child(trie, s.node, (uint8_t)*b), s.depth + 1};
      if (child.node && trie->nodes[child.node].children)
        fine = *b == '"' ? tsl__vec_push(a, &found, child) : tsl__vec_push(a, &at, child);
    }
  }
  tsl__vec_free(a, &at);
  c->names = found.at;
  c->names_count = (uint32_t)found.n;
  c->names_capacity = (uint32_t)found.cap;
  return fine;
}

tsl__boundary *tsl__boundary_make(const tsl_vocab *v, const tsl_allocator *a) {
  tsl__boundary *c = tsl__alloc_zero(a, sizeof *c);
  if (!c) return NULL;
  c->words = tsl_vocab_mask_words(v);
  c->unstructured = tsl__alloc_zero(a, BITSETS * c->words * sizeof *c->unstructured);
  kinds k = {.n = 1};
  bool fine = c->unstructured && find_names(v, a, c);
  if (fine) {
    c->unstructured_quoted = c->unstructured + c->words;
    c->space = c->unstructured_quoted + c->words;
  }
  for (tsl_token t = 0; fine && t < v->size; t++) {
    const uint8_t *at = v->bytes + v->offsets[t], *end = v->bytes + v->offsets[t + 1];
    put(c->space, t, past_space(at, end) == end);
    if (has_structural(at, end))
      fine = classify(c, a, &k, t, at, end);
    else
      put(c->unstructured, t, true), put(c->unstructured_quoted, t, true),
          fine = add_to(&c->ends, a, t, may_close(at, end));
  }
  if (!fine) tsl__boundary_free(c, a), c = NULL;
  if (fine && c->begun.n) {
    qsort(c->begun.at, c->begun.n, sizeof *c->begun.at, by_closes);
    qsort(c->begun_quoted.at, c->begun_quoted.n, sizeof *c->begun_quoted.at, by_closes);
  }
  return c;
}

void tsl__boundary_free(tsl__boundary *c, const tsl_allocator *a) {
  if (!c) return;
  tsl__passings *passing[] = {&c->comma,  &c->quoted,        &c->first,   &c->whole,
                              &c->closed, &c->closed_quoted, &c->several, &c->several_quoted};
  for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) tsl__vec_free(a, passing[i]);
  tsl__vec_free(a, &c->ends);
  tsl__vec_free(a, &c->ends_quoted);
  tsl__vec_free(a, &c->named);
  tsl__vec_free(a, &c->begun);
  tsl__vec_free(a, &c->begun_quoted);
  tsl__free(a, c->unstructured, c->unstructured ? BITSETS * c->words * sizeof *c->unstructured : 0);
  tsl__free(a, c->names, c->names_capacity * sizeof *c->names);
  tsl__free(a, c, sizeof *c);
}

size_t tsl__boundary_memory(const tsl__boundary *c) {
  if (!c) return 0;
  size_t passing = c->comma.cap + c->quoted.cap + c->first.cap + c->whole.cap + c->closed.cap +
                   c->closed_quoted.cap + c->several.cap + c->several_quoted.cap;
  size_t listed = c->ends.cap + c->ends_quoted.cap + c->named.cap;
  return sizeof *c + BITSETS * c->words * sizeof *c->unstructured + passing * sizeof(tsl__passing) +
         listed * sizeof(tsl_token) + (c->begun.cap + c->begun_quoted.cap) * sizeof *c->begun.at +
         c->names_capacity * sizeof *c->names;
}

/* A grammar that was loaded has no layer below: its vocabulary keeps it for all of them. */
static void free_kept(tsl_vocab *v) {
  tsl__boundary_free(atomic_load_explicit(&v->boundary, memory_order_acquire), &v->alloc);
}
static size_t kept_memory(const tsl_vocab *v) {
  return tsl__boundary_memory(
      atomic_load_explicit(&((tsl_vocab *)(uintptr_t)v)->boundary, memory_order_acquire));
}

const tsl__boundary *tsl__boundary_of(tsl__space *space) {
  static const tsl__kept_ops kept = {free_kept, kept_memory};
  const tsl__boundary *known = tsl__boundary_known(space);
  if (known) return known;
  tsl_vocab *v = (tsl_vocab *)(uintptr_t)space->vocab;
  tsl__mutex_lock(&v->lock);
  tsl__boundary *made = atomic_load_explicit(&v->boundary, memory_order_acquire);
  if (!made && (made = tsl__boundary_make(v, &v->alloc))) {
    atomic_store_explicit(&v->boundary, made, memory_order_release);
    atomic_store_explicit(&v->kept[TSL__KEPT_BOUNDARY], &kept, memory_order_release);
  }
  tsl__mutex_unlock(&v->lock);
  if (!made) tsl__space_no_memory(space);
  return made;
}
