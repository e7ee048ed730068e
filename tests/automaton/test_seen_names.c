/* test_seen_names.c - names that are used, and the spelling of the next one: random names against
 * plain lists, every way to write a character.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/matcher/grammar.h"
#include "runtime/automaton/seen_names.h"
#include "tests/support/check.h"

static tsl_vocab *vocab;
static tsl_grammar *grammar;
static tsl__space *space;
static uint64_t seed = 12;
static uint32_t below(uint32_t n) { return (uint32_t)(tsl_test_random(&seed) % n); }

static void set_up(void) {
  static const uint8_t bytes[] = "a";
  static const uint32_t offsets[] = {0, 1};
  const tsl_vocab_desc desc = {.bytes = bytes, .offsets = offsets, .size = 1};
  CHECK(tsl_vocab_new(&desc, NULL, &vocab, NULL) == TSL_OK &&
        tsl_grammar_regex(vocab, "a", 1, NULL, NULL, &grammar, NULL) == TSL_OK);
  space = grammar->space;
}

/* ---- characters ------------------------------------------------------------------------------ */

static const uint32_t characters[] = {
    'a',  'b',  '"',  '\\',  '/',   '\b',   '\f',   '\n',   '\r',   '\t',    'u',     0x1F,
    0x7F, 0x80, 0xE4, 0x7FF, 0x800, 0x20AC, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x1F600, 0x10FFFF};
#define CHARACTERS (sizeof characters / sizeof *characters)

static uint32_t utf8(uint32_t c, uint8_t *out) {
  if (c < 0x80) return out[0] = (uint8_t)c, 1;
  if (c < 0x800) return out[0] = (uint8_t)(0xC0 | c >> 6), out[1] = (uint8_t)(0x80 | (c & 63)), 2;
  if (c < 0x10000)
    return out[0] = (uint8_t)(0xE0 | c >> 12), out[1] = (uint8_t)(0x80 | (c >> 6 & 63)),
           out[2] = (uint8_t)(0x80 | (c & 63)), 3;
  return out[0] = (uint8_t)(0xF0 | c >> 18), out[1] = (uint8_t)(0x80 | (c >> 12 & 63)),
         out[2] = (uint8_t)(0x80 | (c >> 6 & 63)), out[3] = (uint8_t)(0x80 | (c & 63)), 4;
}

/* One way to write a character in a JSON string. 0: as it is. 1: \u with small letters. 2: \u with
 * capitals. 3: the short escape. 0 if there is none. */
static uint32_t written(uint32_t c, int way, uint8_t out[13]) {
  static const char shorts[][2] = {{'\b', 'b'}, {'\f', 'f'}, {'\n', 'n'},  {'\r', 'r'},
                                   {'\t', 't'}, {'"', '"'},  {'\\', '\\'}, {'/', '/'}};
  if (way == 0) return c < 0x20 || c == '"' || c == '\\' ? 0 : utf8(c, out);
  if (way < 3) {
    const char *format = way == 1 ? "\\u%04x" : "\\u%04X";
    if (c < 0x10000) return (uint32_t)snprintf((char *)out, 13, format, c);
    snprintf((char *)out, 13, format, 0xD800 + ((c - 0x10000) >> 10));
    return 6 + (uint32_t)snprintf((char *)out + 6, 7, format, 0xDC00 + ((c - 0x10000) & 0x3FF));
  }
  for (size_t i = 0; i < sizeof shorts / sizeof *shorts; i++)
    if ((uint32_t)shorts[i][0] == c) return out[0] = '\\', out[1] = (uint8_t)shorts[i][1], 2;
  return 0;
}

/* A text of these characters is decoded to them, byte by byte and in parts. An open escape may
 * become those characters that are written so. */
static void every_way_is_read(void) {
  for (size_t i = 0; i < CHARACTERS; i++)
    for (int way = 0; way < 4; way++) {
      uint8_t text[16] = "x", want[8] = "x";
      uint32_t n = written(characters[i], way, text + 1),
               length = 1 + utf8(characters[i], want + 1);
      if (!n) continue;
      text[++n] = 'y';
      want[length++] = 'y';
      n++;
      for (uint32_t cut = 0; cut <= n; cut++) {
        tsl__spelling s = {0};
        CHECK(tsl__spelling_bytes(space, &s, text, cut));
        for (uint32_t k = cut; k < n; k++) CHECK(tsl__spelling_byte(space, &s, text[k]));
        CHECKF(s.decoded.n == length && !memcmp(s.decoded.at, want, length) && s.open_count == 0,
               "U+%04X written in way %d, cut at %u", characters[i], way, cut);
        tsl__vec_free(&space->alloc, &s.decoded);
      }
    }
}

/* The beginning of an escape, and each character that it may become. */
static void open_escapes(void) {
  for (size_t i = 0; i < CHARACTERS; i++)
    for (int way = 1; way < 4; way++) {
      uint8_t text[16];
      uint32_t n = written(characters[i], way, text);
      for (uint32_t cut = 1; cut < n; cut++)
        for (size_t k = 0; k < CHARACTERS; k++) {
          uint8_t name[9] = "..", other[16];
          bool want = false;
          for (int w = 1; w < 4; w++) {
            uint32_t m = written(characters[k], w, other);
            bool same = m > cut;
            /* letters of hexadecimal digits may be of either size */
            for (uint32_t b = 0; b < cut && same; b++)
              same = text[b] == other[b] || (b % 6 >= 2 && w < 3 && text[1] == 'u' &&
                                             (text[b] | 0x20) == (other[b] | 0x20));
            want = want || same;
          }
          const tsl__spelled spelled = {name, 2 + utf8(characters[k], name + 2)};
          CHECKF(tsl__escape_opens(text, cut, &spelled, 2) == want, "%.*s may become U+%04X: %d",
                 (int)cut, (char *)text, characters[k], want);
        }
      const tsl__spelled ended = {text, n};
      CHECK(n == 0 || !tsl__escape_opens(text, 1, &ended, n)); /* a name that is over */
      for (uint32_t within = 1; text[0] >= 0x80 && within < n; within++)
        CHECK(!tsl__escape_opens((const uint8_t *)"\\", 1, &ended, within));
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

#define NAMES 120u

typedef struct name {
  uint8_t at[16];
  uint32_t n;
} name;

static name random_name(void) {
  name made = {{0}, 0};
  for (uint32_t left = below(4); left > 0; left--)
    made.n += utf8(characters[below(3) ? below(3) : below(CHARACTERS)], made.at + made.n);
  return made;
}

static bool begins(const name *a, const uint8_t *text, uint32_t n) {
  return a->n >= n && (!n || !memcmp(a->at, text, n));
}

static bool equal(const name *a, const name *b) { return a->n == b->n && begins(a, b->at, b->n); }

/* The first of names [lo, hi) that an escape, cut off, may go on with. */
static void check_open(const tsl__seen_names *g, uint32_t known, uint32_t lo, uint32_t hi) {
  uint8_t text[16];
  uint32_t n = written(characters[below(CHARACTERS)], 1 + (int)below(2), text);
  for (uint32_t cut = 1; cut < n; cut++) {
    uint32_t first = lo, want = lo;
    while (want < hi && !tsl__escape_opens(text, cut, &g->names[want], known)) want++;
    tsl__seen_names_narrow_open(g, known, text, cut, &first, hi);
    CHECKF(first == want, "%.*s among %u names: %u, not %u", (int)cut, (char *)text, hi - lo, first,
           want);
  }
}

static void check_groups(uint32_t seen_names, uint32_t count) {
  uint32_t total = 0, before = 0;
  for (uint32_t at = seen_names; at;) {
    const tsl__seen_names *g = tsl__space_at(space, seen_names, at);
    total += g->count;
    CHECK(g->count > before && !(g->count & (g->count - 1)));
    before = g->count;
    name text = random_name();
    uint32_t lo, hi, byte = below(256), first = 0, last = 0, known = text.n;
    tsl__seen_names_range(g, text.at, text.n, &lo, &hi);
    for (uint32_t i = 0; i < g->count; i++)
      CHECK((i >= lo && i < hi) ==
            (g->names[i].n >= text.n && (!text.n || !memcmp(g->names[i].at, text.at, text.n))));
    if (lo < hi && g->names[lo].n > known && below(2)) byte = g->names[lo].at[known];
    first = lo, last = hi;
    tsl__seen_names_narrow(g, known, (uint8_t)byte, &first, &last);
    for (uint32_t i = lo; i < hi; i++)
      CHECK((i >= first && i < last) == (g->names[i].n > known && g->names[i].at[known] == byte));
    check_open(g, known, lo, hi);
    for (int k = 0; k < 20; k++) check_open(g, 0, 0, g->count);
    bool shortened = false;
    for (uint32_t i = 0; i < g->count; i++)
      for (uint32_t k = 0; k < g->names[i].n; k++)
        shortened = shortened || g->names[i].at[k] < 0x20 || strchr("\"\\/", g->names[i].at[k]);
    CHECK(g->shortened == shortened);
    at = g->next;
  }
  CHECK(total == count);
}

static void sets_of_names(void) {
  for (int round = 0; round < 20; round++) {
    name names[NAMES];
    uint32_t seen_names = 0, n = 0;
    for (int step = 0; step < 200 && n < NAMES; step++) {
      name one = random_name();
      bool known = false;
      for (uint32_t i = 0; i < n && !known; i++) known = equal(&names[i], &one);
      CHECK(tsl__seen_names_has(space, seen_names, one.at, one.n) == known);
      tsl__spelling s = {0};
      bool rival = false;
      CHECK(tsl__spelling_bytes(space, &s, one.at, 0));
      for (uint32_t k = 0; k < one.n; k++)
        CHECK(tsl__vec_push(&space->alloc, &s.decoded, one.at[k]));
      for (uint32_t i = 0; i < n; i++) rival = rival || begins(&names[i], one.at, one.n);
      CHECK(tsl__seen_names_rivals(space, seen_names, &s) == rival);
      tsl__vec_free(&space->alloc, &s.decoded);
      if (known) continue;
      seen_names = tsl__seen_names_add(space, seen_names, one.at, one.n);
      CHECK(seen_names != 0);
      names[n++] = one;
    }
    check_groups(seen_names, n);
    uint32_t again = 0; /* what is there already is found: the same set is the same number */
    for (uint32_t i = 0; i < n; i++)
      again = tsl__seen_names_add(space, again, names[i].at, names[i].n);
    CHECK(again == seen_names);
  }
}

/* An open escape rules out those names that go on with another character. */
static void rivals_of_an_escape(void) {
  static const struct {
    const char *name, *text;
    bool rival;
  } cases[] = {
      {"ab", "a\\", true},
      {"ab", "a\\u00", true},
      {"ab", "a\\u006", true},
      {"ab", "a\\u007", false},
      {"ab", "a\\n", false},
      {"a\n", "a\\", true},
      {"a", "a\\", false},
      {"ab", "b\\", false},
      {"\xC3\xA4", "\\u00e", true},
      {"\xC3\xA4", "\\u00E", true},
      {"\xC3\xA4", "\\u00f", false},
      {"\xF0\x9F\x98\x80", "\\ud83d", true},
      {"\xF0\x9F\x98\x80", "\\uD83D\\uDE", true},
      {"\xF0\x9F\x98\x80", "\\ud83d\\udd", false},
      {"\xF0\x9F\x98\x80", "\\ud83c", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl__spelling s = {0};
    uint32_t seen_names = tsl__seen_names_add(space, 0, (const uint8_t *)cases[i].name,
                                              (uint32_t)strlen(cases[i].name));
    CHECK(seen_names &&
          tsl__spelling_bytes(space, &s, (const uint8_t *)cases[i].text, strlen(cases[i].text)));
    CHECKF(tsl__seen_names_rivals(space, seen_names, &s) == cases[i].rival, "%s and %s",
           cases[i].name, cases[i].text);
    tsl__vec_free(&space->alloc, &s.decoded);
  }
}

int main(void) {
  set_up();
  RUN(every_way_is_read, "characters as they are and in every escape, cut anywhere");
  RUN(open_escapes, "what an escape that is open may become");
  RUN(sets_of_names, "names seen: found, ranges of those that begin with a text, rivals");
  RUN(rivals_of_an_escape, "and of a spelling with an open escape");
  tsl_grammar_release(grammar);
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
