/* charset.c - sets of code points as sorted ranges; Unicode is looked up in PCRE2.
 *
 * Problem   \p{Lu} and case-insensitive matching need Unicode's tables, which change every year.
 * Idea      PCRE2 has them. A property is a pattern. Run it over a text that holds every code point
 *           once, in order, and each match of `(?:…)+` is one range. The text is made one plane
 *           (65,536 code points) at a time in a buffer that is used again. Case folding is the same
 *           question: the code points that `(?i)[set]` matches.
 * Example   \p{Lu}: the first match is A-Z, the next one is U+00C0-U+00D6, … 646 ranges.
 * Case      A set of hundreds of ranges, such as \p{Lu}, would be compared with 130,000 code
 *           points. So the text then holds only those that change with case, some 2,900.
 * Cost      About 5 ms for a property (all 17 planes, with PCRE2's just-in-time compiler). Without
 *           that compiler it takes ten times as much. Folding a set that is not ASCII (two planes)
 *           takes a tenth. unicode_cache.c asks each question once. Sets of ASCII are folded by
 *           hand in nanoseconds: only k (U+212A KELVIN SIGN) and s (U+017F LONG S) have partners
 *           outside. Everything else here is linear in the number of ranges, but for the sort.
 * Tested by tests/expr/test_charset.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/charset.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>

#define PLANE 0x10000u
#define PLANE_BYTES (PLANE * 4u)
#define NAME_MAX_BYTES 64u /* of a property; the longest that Unicode has is shorter */

/* ---- ranges ---------------------------------------------------------------------------------- */

bool tsl__charset_add(const tsl_allocator *a, tsl__charset *s, uint32_t lo, uint32_t hi) {
  tsl__range range = {lo, hi};
  return tsl__vec_push(a, &s->ranges, range);
}

bool tsl__charset_add_set(const tsl_allocator *a, tsl__charset *s, const tsl__charset *other) {
  size_t n = other->ranges.n;
  if (!n) return true;
  if (!tsl__vec_reserve(a, &s->ranges, n)) return false;
  /* other may be s: no overlap either way */
  memcpy(s->ranges.at + s->ranges.n, other->ranges.at, n * sizeof *s->ranges.at);
  s->ranges.n += n;
  return true;
}

static int compare_ranges(const void *a, const void *b) {
  const tsl__range *x = a, *y = b;
  if (x->lo != y->lo) return x->lo < y->lo ? -1 : 1;
  return x->hi < y->hi ? -1 : x->hi > y->hi;
}

/* Insertion sort for the short lists that patterns have, qsort for what PCRE2 returns in several
 * pieces. */
static void sort_ranges(tsl__range *at, size_t n) {
  if (n > 32) {
    qsort(at, n, sizeof *at, compare_ranges);
    return;
  }
  for (size_t i = 1; i < n; i++) {
    tsl__range r = at[i];
    size_t k = i;
    for (; k && at[k - 1].lo > r.lo; k--) at[k] = at[k - 1];
    at[k] = r;
  }
}

void tsl__charset_normalise(tsl__charset *s) {
  size_t kept = 0;
  if (!s->ranges.n) return;
  sort_ranges(s->ranges.at, s->ranges.n);
  for (size_t i = 1; i < s->ranges.n; i++) {
    tsl__range *last = &s->ranges.at[kept], r = s->ranges.at[i];
    if (r.lo <= last->hi || r.lo == last->hi + 1) {
      if (r.hi > last->hi) last->hi = r.hi;
    } else {
      s->ranges.at[++kept] = r;
    }
  }
  s->ranges.n = kept + 1;
}

bool tsl__charset_negate(const tsl_allocator *a, tsl__charset *s) {
  uint32_t from = 0;
  size_t n = 0, old;
  if (!tsl__vec_reserve(a, &s->ranges, 1)) return false;
  tsl__charset_normalise(s);
  old = s->ranges.n;
  for (size_t i = 0; i < old; i++) {
    tsl__range r = s->ranges.at[i]; /* written places are never ahead of the one being read */
    if (r.lo > from) s->ranges.at[n++] = (tsl__range){from, r.lo - 1};
    from = r.hi + 1;
  }
  if (from <= TSL__CP_MAX) s->ranges.at[n++] = (tsl__range){from, TSL__CP_MAX};
  s->ranges.n = n;
  return true;
}

bool tsl__charset_has(const tsl__charset *s, uint32_t cp) {
  size_t lo = 0, hi = s->ranges.n;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (s->ranges.at[mid].hi < cp)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < s->ranges.n && s->ranges.at[lo].lo <= cp;
}

void tsl__charset_free(const tsl_allocator *a, tsl__charset *s) { tsl__vec_free(a, &s->ranges); }

/* ---- asking PCRE2 ---------------------------------------------------------------------------- */

/* PCRE2 frees without saying the size, so each block has it in front. */
#define BLOCK_HEAD 16u

static void *ask_malloc(size_t size, void *ctx) {
  char *block = tsl__alloc(ctx, size + BLOCK_HEAD);
  if (!block) return NULL;
  memcpy(block, &size, sizeof size);
  return block + BLOCK_HEAD;
}

static void ask_free(void *p, void *ctx) {
  size_t size;
  if (!p) return;
  memcpy(&size, (char *)p - BLOCK_HEAD, sizeof size);
  tsl__free(ctx, (char *)p - BLOCK_HEAD, size + BLOCK_HEAD);
}

typedef struct asking {
  const tsl_allocator *alloc;
  pcre2_general_context *general;
  pcre2_compile_context *compile;
  pcre2_code *code;
  pcre2_match_data *match;
  uint8_t *text; /* PLANE_BYTES */
} asking;

static void asking_end(asking *q) {
  pcre2_match_data_free(q->match);
  pcre2_code_free(q->code);
  pcre2_compile_context_free(q->compile);
  pcre2_general_context_free(q->general);
  tsl__free(q->alloc, q->text, PLANE_BYTES);
}

/* TSL_ERR_SYNTAX if PCRE2 does not compile the pattern. */
static tsl_status asking_begin(asking *q, const tsl_allocator *a, const char *pattern,
                               size_t length) {
  int code;
  PCRE2_SIZE offset;
  memset(q, 0, sizeof *q);
  q->alloc = a;
  q->general = pcre2_general_context_create(ask_malloc, ask_free, (void *)(uintptr_t)a);
  if (!q->general) return TSL_ERR_NO_MEMORY;
  q->compile = pcre2_compile_context_create(q->general);
  q->text = tsl__alloc(a, PLANE_BYTES);
  if (!q->compile || !q->text) return TSL_ERR_NO_MEMORY;
  q->code = pcre2_compile((PCRE2_SPTR)pattern, length, PCRE2_UTF, &code, &offset, q->compile);
  if (!q->code) return code == PCRE2_ERROR_HEAP_FAILED ? TSL_ERR_NO_MEMORY : TSL_ERR_SYNTAX;
  q->match = pcre2_match_data_create(1, q->general);
  if (!q->match) return TSL_ERR_NO_MEMORY;
  /* faster; without it the interpreter answers */
  (void)pcre2_jit_compile(q->code, PCRE2_JIT_COMPLETE);
  return TSL_OK;
}

/* All code points of a plane but the surrogates. */
static size_t plane_text(uint8_t *text, uint32_t plane) {
  size_t n = 0;
  /* 64 in a row differ in the last byte only */
  for (uint32_t cp = plane * PLANE, end = cp + PLANE; cp < end; cp += 64) {
    if (cp == 0xD800) cp = 0xE000;
    size_t bytes = tsl__utf8_encode(cp, text + n);
    for (size_t done = bytes; done < 64 * bytes; done *= 2) memcpy(text + n + done, text + n, done);
    for (uint32_t i = 0; i < 64; i++, n += bytes)
      text[n + bytes - 1] = (uint8_t)(text[n + bytes - 1] + i);
  }
  return n;
}

static uint32_t decode_at(const uint8_t *text, size_t length, size_t offset) {
  uint32_t cp = 0;
  (void)tsl__utf8_decode(text + offset, length - offset, &cp);
  return cp;
}

/* The code points of the text that match; each match is a run of neighbours. */
static tsl_status ask_text(asking *q, tsl__charset *out, size_t length) {
  size_t at = 0;
  while (at < length) {
    int rc = pcre2_match(q->code, q->text, length, at, PCRE2_NO_UTF_CHECK, q->match, NULL);
    if (rc == PCRE2_ERROR_NOMATCH) return TSL_OK;
    /* the only way left for this pattern: no room for a backtracking frame */
    if (rc < 0) return TSL_ERR_NO_MEMORY;
    const PCRE2_SIZE *span = pcre2_get_ovector_pointer(q->match);
    size_t last = span[1] - 1;
    while ((q->text[last] & 0xC0) == 0x80) last--;
    if (!tsl__charset_add(q->alloc, out, decode_at(q->text, length, span[0]),
                          decode_at(q->text, length, last)))
      return TSL_ERR_NO_MEMORY;
    at = span[1];
  }
  return TSL_OK;
}

/* The code points of one plane that match. A run over the gap of the surrogates takes them in. That
 * does no harm: no text holds one. */
static tsl_status ask_plane(asking *q, tsl__charset *out, uint32_t plane) {
  return ask_text(q, out, plane_text(q->text, plane));
}

#define ALL_PLANES (TSL__CP_MAX / PLANE)
#define FOLD_MANY 24u /* ranges from which the code points with case are sought first */
#define CASED "\\p{Changes_When_Casemapped}+"
#define CASED_PLANES 1u /* case lies in the planes 0 and 1; later ones have ideographs and marks */

/* The last plane of those that are like this one from here on. No character of the planes 4 to 13
 * is assigned, and those of 15 and 16 are for private use. All properties are the same there. */
static uint32_t last_alike(uint32_t plane) { return plane == 4 ? 13 : plane == 15 ? 16 : plane; }

/* Add `of`, which is of one plane, to that plane and `more` behind it. */
static bool add_planes(const tsl_allocator *a, tsl__charset *out, const tsl__charset *of,
                       uint32_t more) {
  for (uint32_t k = 0; k <= more; k++)
    for (size_t i = 0; i < of->ranges.n; i++)
      if (!tsl__charset_add(a, out, of->ranges.at[i].lo + k * PLANE,
                            of->ranges.at[i].hi + k * PLANE))
        return false;
  return true;
}

/* Add every code point of planes 0 to `last` that the pattern, one of the form `x+`, matches. `out`
 * is unchanged on failure. Half a millisecond for each plane that is looked at. */
static tsl_status ask(const tsl_allocator *a, const tsl__until *until, tsl__charset *out,
                      const char *pattern, size_t length, uint32_t last) {
  asking q;
  size_t before = out->ranges.n;
  tsl__charset found = {0};
  tsl_status status = asking_begin(&q, a, pattern, length);
  for (uint32_t plane = 0; status == TSL_OK && plane <= last; plane++) {
    uint32_t more = last_alike(plane) - plane;
    found.ranges.n = 0;
    status = tsl__is_over(until) ? TSL_ERR_CANCELLED : ask_plane(&q, &found, plane);
    if (status == TSL_OK && !add_planes(a, out, &found, more)) status = TSL_ERR_NO_MEMORY;
    plane += more;
  }
  asking_end(&q);
  tsl__charset_free(a, &found);
  if (status != TSL_OK) out->ranges.n = before;
  return status;
}

/* ---- case ------------------------------------------------------------------------------------ */

bool tsl__charset_is_ascii(const tsl__charset *s) {
  for (size_t i = 0; i < s->ranges.n; i++)
    if (s->ranges.at[i].hi >= 0x80) return false;
  return true;
}

/* Add what [lo, hi] of the ASCII letters from `from` to `from` + 25 is in the other case. */
static bool add_shifted(const tsl_allocator *a, tsl__charset *s, tsl__range r, uint32_t from,
                        uint32_t to) {
  uint32_t lo = r.lo < from ? from : r.lo, hi = r.hi > from + 25 ? from + 25 : r.hi;
  if (lo > hi) return true;
  return tsl__charset_add(a, s, lo - from + to, hi - from + to);
}

static bool fold_ascii(const tsl_allocator *a, tsl__charset *s) {
  size_t n = s->ranges.n;
  if (!tsl__vec_reserve(a, &s->ranges, 2 * n + 2)) return false;
  for (size_t i = 0; i < n; i++) {
    tsl__range r = s->ranges.at[i];
    if (!add_shifted(a, s, r, 'a', 'A') || !add_shifted(a, s, r, 'A', 'a')) return false;
  }
  tsl__charset_normalise(s);
  bool k = tsl__charset_has(s, 'k'), long_s = tsl__charset_has(s, 's');
  return (!k || tsl__charset_add(a, s, 0x212A, 0x212A)) &&
         (!long_s || tsl__charset_add(a, s, 0x17F, 0x17F));
}

/* Add those of `among` that the pattern, which is one of a code point, matches. */
static tsl_status ask_among(const tsl_allocator *a, const tsl__charset *among, tsl__charset *out,
                            const char *pattern, size_t length) {
  asking q;
  size_t n = 0;
  tsl_status status = asking_begin(&q, a, pattern, length);
  for (size_t i = 0; status == TSL_OK && i < among->ranges.n; i++)
    for (uint32_t cp = among->ranges.at[i].lo; cp <= among->ranges.at[i].hi; cp++) {
      n += tsl__utf8_encode(cp, q.text + n);
      if (n <= PLANE_BYTES - 4) continue;
      if ((status = ask_text(&q, out, n)) != TSL_OK) break;
      n = 0;
    }
  if (status == TSL_OK) status = ask_text(&q, out, n);
  asking_end(&q);
  return status;
}

/* Add what a pattern of the form `x+` matches in the planes that have case. A set of many ranges is
 * compared with code points that change with case, if PCRE2 knows which do. */
static tsl_status ask_cased(const tsl_allocator *a, tsl__charset *s, const char *pattern,
                            size_t length) {
  tsl__charset cased = {0};
  tsl_status status = s->ranges.n < FOLD_MANY
                          ? TSL_ERR_SYNTAX
                          : ask(a, NULL, &cased, CASED, sizeof CASED - 1, CASED_PLANES);
  if (status == TSL_OK)
    status = ask_among(a, &cased, s, pattern, length - 1);
  else if (status == TSL_ERR_SYNTAX)
    status = ask(a, NULL, s, pattern, length, CASED_PLANES);
  tsl__charset_free(a, &cased);
  return status;
}

/* "(?i)[\x{41}-\x{5a}…]+" */
static tsl_status fold_nonascii(const tsl_allocator *a, tsl__charset *s) {
  size_t room = 16 + s->ranges.n * 24, n = 0; /* a range is at most 21 characters */
  char *pattern = tsl__alloc(a, room);
  if (!pattern) return TSL_ERR_NO_MEMORY;
  n += (size_t)snprintf(pattern + n, room - n, "(?i)[");
  for (size_t i = 0; i < s->ranges.n; i++) {
    tsl__range r = s->ranges.at[i];
    /* PCRE2 refuses surrogates, and they have no case */
    if (r.lo >= 0xD800 && r.lo <= 0xDFFF) r.lo = 0xE000;
    if (r.hi >= 0xD800 && r.hi <= 0xDFFF) r.hi = 0xD7FF;
    if (r.lo <= r.hi)
      n += (size_t)snprintf(pattern + n, room - n, "\\x{%x}-\\x{%x}", (unsigned)r.lo,
                            (unsigned)r.hi);
  }
  n += (size_t)snprintf(pattern + n, room - n, "]+");
  /* 7: nothing but surrogates */
  tsl_status status = n > 7 ? ask_cased(a, s, pattern, n) : TSL_OK;
  tsl__free(a, pattern, room);
  return status;
}

bool tsl__charset_fold(const tsl_allocator *a, tsl__charset *s) {
  bool ok = tsl__charset_is_ascii(s) ? fold_ascii(a, s) : fold_nonascii(a, s) == TSL_OK;
  if (ok) tsl__charset_normalise(s);
  return ok;
}

/* ---- properties ------------------------------------------------------------------------------ */

/* General categories have long names in ECMA-262 (PropertyValueAliases.txt) that PCRE2 does not
 * know. */
static const struct category {
  const char *name, *alias;
} categories[] = {
    {"Cased_Letter", "L&"},
    {"LC", "L&"},
    {"Close_Punctuation", "Pe"},
    {"Connector_Punctuation", "Pc"},
    {"Control", "Cc"},
    {"cntrl", "Cc"},
    {"Currency_Symbol", "Sc"},
    {"Dash_Punctuation", "Pd"},
    {"Decimal_Number", "Nd"},
    {"digit", "Nd"},
    {"Enclosing_Mark", "Me"},
    {"Final_Punctuation", "Pf"},
    {"Format", "Cf"},
    {"Initial_Punctuation", "Pi"},
    {"Letter", "L"},
    {"Letter_Number", "Nl"},
    {"Line_Separator", "Zl"},
    {"Lowercase_Letter", "Ll"},
    {"Mark", "M"},
    {"Combining_Mark", "M"},
    {"Math_Symbol", "Sm"},
    {"Modifier_Letter", "Lm"},
    {"Modifier_Symbol", "Sk"},
    {"Nonspacing_Mark", "Mn"},
    {"Number", "N"},
    {"Open_Punctuation", "Ps"},
    {"Other", "C"},
    {"Other_Letter", "Lo"},
    {"Other_Number", "No"},
    {"Other_Punctuation", "Po"},
    {"Other_Symbol", "So"},
    {"Paragraph_Separator", "Zp"},
    {"Private_Use", "Co"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Spacing_Mark", "Mc"},
    {"Surrogate", "Cs"},
    {"Symbol", "S"},
    {"Titlecase_Letter", "Lt"},
    {"Unassigned", "Cn"},
    {"Uppercase_Letter", "Lu"},
};

/* The ways to name what kind of property follows, and what PCRE2 calls that ("" for general
 * categories). */
static const struct prefix {
  const char *name, *prefix;
} prefixes[] = {
    {"General_Category=", ""},      {"gc=", ""},      {"Script=", "sc:"}, {"sc=", "sc:"},
    {"Script_Extensions=", "scx:"}, {"scx=", "scx:"},
};

static bool same(const char *name, size_t length, const char *other) {
  return strlen(other) == length && !memcmp(name, other, length);
}

static const char *category_alias(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
    if (same(name, length, categories[i].name)) return categories[i].alias;
  return NULL;
}

/* Nothing that could end \p{…} and go on with other syntax. */
static bool is_name(const char *name, size_t length) {
  for (size_t i = 0; i < length; i++) {
    char c = name[i];
    bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '=' || c == ':' || c == '&' || c == '-' || c == ' ';
    if (!ok) return false;
  }
  return length > 0 && length <= NAME_MAX_BYTES;
}

tsl_status tsl__charset_add_property(const tsl_allocator *a, const tsl__until *until,
                                     tsl__charset *s, const char *name, size_t length) {
  const char *prefix = "", *alias;
  char pattern[NAME_MAX_BYTES + 16];
  if (!is_name(name, length)) return TSL_ERR_SYNTAX;
  if (same(name, length, "Any"))
    return tsl__charset_add(a, s, 0, TSL__CP_MAX) ? TSL_OK : TSL_ERR_NO_MEMORY;
  if (same(name, length, "ASCII"))
    return tsl__charset_add(a, s, 0, 0x7F) ? TSL_OK : TSL_ERR_NO_MEMORY;
  if (same(name, length, "Assigned")) return ask(a, until, s, "\\P{Cn}+", 7, ALL_PLANES);
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
    size_t n = strlen(prefixes[i].name);
    if (length <= n || memcmp(name, prefixes[i].name, n) != 0) continue;
    prefix = prefixes[i].prefix;
    name += n;
    length -= n;
    break;
  }
  alias = *prefix ? NULL : category_alias(name, length);
  int n = alias ? snprintf(pattern, sizeof pattern, "\\p{%s}+", alias)
                : snprintf(pattern, sizeof pattern, "\\p{%s%.*s}+", prefix, (int)length, name);
  return ask(a, until, s, pattern, (size_t)n, ALL_PLANES);
}
