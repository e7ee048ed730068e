/* test_formats.c - formats: cases after the RFCs, leap seconds against arithmetic, and the JSON
 * Schema Test Suite where it is there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/formats/formats.h"

#include "compiler/expr/deriv.h"
#include "compiler/json/json.h"
#include "compiler/regex/regex.h"
#include "tests/support/check.h"
#include "tests/support/text.h"

static tsl__exprs *new_exprs(void) {
  tsl__exprs *x = NULL;
  if (tsl__exprs_new(NULL, NULL, NULL, &x) != TSL_OK) exit(2);
  return x;
}

/* Formats are made once and kept: some take long. */
typedef struct made {
  char name[32];
  tsl__exprs *x;
  tsl__expr e;
  bool known;
} made;
static made cache[64];
static size_t cached;

static made *format(const char *name, size_t length) {
  static made too_many;
  if (length >= sizeof cache[0].name) return &too_many;
  for (size_t i = 0; i < cached; i++)
    if (strlen(cache[i].name) == length && !memcmp(cache[i].name, name, length)) return &cache[i];
  if (cached == sizeof cache / sizeof *cache) return &too_many;
  made *m = &cache[cached++];
  memcpy(m->name, name, length);
  m->x = new_exprs();
  m->e = tsl__format_expr(m->x, name, length, &m->known);
  CHECKF(tsl__exprs_status(m->x) == TSL_OK && m->known == (m->e != TSL__NONE), "%s: %s", m->name,
         tsl__exprs_why(m->x));
  return m;
}

static bool valid(made *m, const void *text, size_t n) {
  tsl__exprs_begin(m->x); /* the step budget is for one text, not for all of the test */
  bool result = tsl__expr_matches(m->x, m->e, text, n);
  CHECKF(tsl__exprs_status(m->x) == TSL_OK, "%s: %s", m->name, tsl__exprs_why(m->x));
  return result;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void check_table(const char *path) {
  char line[2048];
  uint8_t text[2048];
  unsigned number = 0;
  made *m = NULL;
  FILE *f = fopen(path, "r");
  CHECKF(f != NULL, "%s can't be opened", path);
  if (!f) return;
  while (fgets(line, sizeof line, f)) {
    number++;
    line[strcspn(line, "\n")] = 0;
    const char *rest = line[0] && line[1] ? line + 2 : "";
    if (line[0] == 'f') {
      m = format(rest, strlen(rest));
      CHECKF(m->known, "%s:%u: %s is not known", path, number, rest);
    } else if (line[0] == '?') {
      CHECKF(!format(rest, strlen(rest))->known, "%s:%u: %s is known", path, number, rest);
    } else if (m && (line[0] == '+' || line[0] == '-')) {
      size_t n = text_unescape(rest, text);
      CHECKF(valid(m, text, n) == (line[0] == '+'), "%s:%u: %s: %s", path, number, m->name, line);
    }
  }
  fclose(f);
}

static void test_table(void) {
  check_table("tests/cases/regex_formats.txt");
  check_table("tests/cases/labels.txt");
}

/* ---- leap seconds ---------------------------------------------------------------------------- */

/* Every hour and minute with every quarter of an hour (and some odd minutes) of offset. */
static void test_leap_seconds(void) {
  made *m = format("time", 4);
  char text[64];
  for (int minute = 0; minute < 1440; minute++)
    for (int offset = 0; offset < 1440; offset += offset % 15         ? 1
                                                  : offset % 120 == 0 ? 1
                                                                      : 14 + (offset % 15 == 0)) {
      for (int sign = -1; sign <= 1; sign += 2) {
        int n = snprintf(text, sizeof text, "%02d:%02d:60%c%02d:%02d", minute / 60, minute % 60,
                         sign < 0 ? '-' : '+', offset / 60, offset % 60);
        bool want = (minute - sign * offset + 2 * 1440) % 1440 == 1439;
        if (valid(m, text, (size_t)n) != want) CHECKF(false, "%s", text);
      }
    }
  CHECK(valid(m, "23:59:60Z", 9) && !valid(m, "23:58:60Z", 9));
}

/* The days of a calendar, computed. */
static void test_calendar(void) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  made *m = format("date", 4);
  char text[64];
  for (int year = 0; year < 10000; year += year % 100 == 4 ? 23 : 1)
    for (int month = 1; month <= 12; month++)
      for (int day = 27; day <= 32; day++) {
        bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        int n = snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, day);
        bool want = day <= days[month - 1] + (month == 2 && leap);
        if (valid(m, text, (size_t)n) != want) CHECKF(false, "%s", text);
      }
  CHECK(valid(m, "2024-02-29", 10));
}

/* ---- host names ------------------------------------------------------------------------------ */

/* The rules of compiler/formats/host.c once more, as a pattern. A-labels are in the table. */
#define LABEL "[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?"

static size_t random_label(uint64_t *seed, char *out) {
  static const char *const begins[] = {"", "", "xn", "XN-", "xn-", "ab--", "x", "a", "x-n-", "-"};
  static const char letters[] = "aaabzx019n--";
  const char *begin = begins[tsl_test_random(seed) % 10];
  size_t n = strlen(begin), more = tsl_test_random(seed) % 8 ? tsl_test_random(seed) % 7
                                                             : 50 + tsl_test_random(seed) % 15;
  memcpy(out, begin, n);
  for (; more > 0; more--) out[n++] = more % 16 == 15 ? 'b' : letters[tsl_test_random(seed) % 12];
  return n;
}

/* Is a label an A-label by its prefix? */
static bool has_prefix(const char *text, size_t n) {
  for (size_t i = 0; i + 4 <= n; i++)
    if ((!i || text[i - 1] == '.') && (text[i] | 32) == 'x' && (text[i + 1] | 32) == 'n' &&
        text[i + 2] == '-' && text[i + 3] == '-')
      return true;
  return false;
}

static void test_host_names(void) {
  static const char pattern[] = "(?=.{1,253}$)" LABEL "(?:\\." LABEL ")*";
  made *m = format("hostname", 8);
  tsl__exprs *x = new_exprs();
  tsl__expr e;
  uint64_t seed = 3;
  unsigned matched = 0, compared = 0;
  char text[1024];
  CHECK(tsl__regex_compile(x, pattern, sizeof pattern - 1, NULL, &e, NULL) == TSL_OK);
  for (unsigned round = 0; round < 6000; round++) {
    size_t n = 0;
    for (unsigned labels = (unsigned)(tsl_test_random(&seed) % 6 ? tsl_test_random(&seed) % 3
                                                                 : tsl_test_random(&seed) % 11);
         ; labels--) {
      n += random_label(&seed, text + n);
      if (!labels) break;
      text[n++] = '.';
    }
    if (has_prefix(text, n)) continue;
    compared++;
    bool want = tsl__expr_matches(x, e, text, n);
    matched += want;
    CHECKF(valid(m, text, n) == want, "%.*s", (int)n, text);
    if (tsl__exprs_memory(x) > 16 << 20) { /* the pattern has many states */
      tsl__exprs_free(x);
      x = new_exprs();
      CHECK(tsl__regex_compile(x, pattern, sizeof pattern - 1, NULL, &e, NULL) == TSL_OK);
    }
  }
  CHECK(matched > 1000 && compared > 5000);
  printf("  %u names like the pattern says, %u of them valid\n", compared, matched);
  tsl__exprs_free(x);
}

/* ---- no dead ends ---------------------------------------------------------------------------- */

/* Follow the shortest way to the end; each step must be one byte nearer. */
static bool completes(made *m, tsl__expr e) {
  for (uint32_t shortest = tsl__expr_shortest(m->x, e); shortest > 0; shortest--) {
    tsl__expr next = TSL__NONE;
    tsl__bytes edges;
    tsl__boundaries(m->x, e, &edges);
    for (unsigned b = 0; b < 256 && !next; b++) {
      tsl__expr d =
          b == 0 || tsl__bytes_has(&edges, b) ? tsl__derive_plain(m->x, e, (uint8_t)b) : TSL__NONE;
      if (d && tsl__expr_shortest(m->x, d) + 1 == shortest) next = d;
    }
    if (!(e = next)) return false;
  }
  return tsl__expr_nullable(m->x, e);
}

/* Along every prefix of texts that begin well, the rest can be completed in as many bytes as the
 * state says. */
static void test_completions(void) {
  static const struct row {
    const char *format, *text;
  } rows[] = {
      {"time", "01:29:60+01:30"},
      {"time", "23:59:60.5Z"},
      {"time", "00:00:60-"},
      {"date-time", "2024-02-29T23:59:60Z"},
      {"date", "1900-02-2"},
      {"idn-hostname", "l\xC2\xB7l\xE3\x83\xBB"},
      {"idn-hostname", "\xD8\xA8\xE2\x80\x8C"},
      {"idn-hostname", "ab-\xC3\xA9-"},
      {"idn-hostname", "\xCD\xB5"},
      {"idn-hostname", "llllllllllllllllllllllllllllllllllllllllllllllllllllllllll\xC2\xB7"},
      {"hostname", "xn--4gbwdl.a-b"},
      {"hostname", "xn--i1b6b1a6a2e.xn---b-9ia.a"},
      {"hostname", "xn--a--cja"},
      {"hostname", "0a.xn--a-9"},
      {"hostname", "xn--bcher-kvabcher-kvabcher-kvabcher-kvabcher-kvabcher-kvabch"},
      {"idn-hostname", "xn--l-\xE3\x80\x82"},
      {"idn-hostname", "\xD7\x90-\xD6\xB4.a\xCA\xB9"},
      {"idn-hostname", "\xD7\x90\xEF\xBC\x8E\xC3\xA9\xCA\xB9"},
      {"idn-hostname", "\xE1\xA0\xA0\xE2\x80\x8C"},
      {"email", "\"a b\"@[IPv6:1::"},
      {"uri", "http://[1:2::3]:8/%4"},
      {"uri-template", "{+a,b*}{x:1"},
      {"duration", "P1Y2M3DT4H"},
      {"ipv6", "1:2:3:4:5:6:7"},
      {"iri-reference", "\xC3\xA9:"},
      {"uuid", "0123456"},
      {"relative-json-pointer", "10/~"},
      {"regex", "(?<ab>[^\\d-]|\\u{1F600}{2,3}?\\3(?:(?=[!-\\x7a\xC3\xA9"},
      {"regex", "a{12,9"},
      {"regex", "[\xF0\x9F\x98\x80-\\u{0001F64"},
      {"regex", "(?<a>)(?<a"},
      {"regex", "(?<suffix>)(?<sum>(?<b>x)\\k<su"},
      {"regex", "(?<zzz>)(?<tag>\\2\\k<tag>*\\k<t"},
      {"regex", "[\\u{1F600}-\\"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    made *m = format(rows[i].format, strlen(rows[i].format));
    tsl__expr e = m->e;
    for (const char *at = rows[i].text; e; e = tsl__derive_plain(m->x, e, (uint8_t)*at++)) {
      CHECKF(completes(m, e), "%s: after %.*s", rows[i].format, (int)(at - rows[i].text),
             rows[i].text);
      if (!*at) break;
    }
  }
}

/* ---- the JSON Schema Test Suite -------------------------------------------------------------- */

static const tsl__json *get(const tsl__json *object, const char *key) {
  return tsl__json_get(object, key, strlen(key));
}

/* One file: groups of a schema and its tests. Returns how many tests were made. */
static unsigned run_suite_file(const char *path) {
  size_t length;
  char *text = text_of_file(path, &length);
  unsigned tests = 0;
  tsl__arena arena;
  tsl__json *root = NULL;
  if (!text) return 0;
  tsl__arena_init(&arena, &tsl__malloc);
  CHECKF(tsl__json_parse(&arena, NULL, text, length, 100, &root, NULL) == TSL_OK, "%s", path);
  for (uint32_t i = 0; root && i < root->length; i++) {
    const tsl__json *name = get(get(&root->items[i], "schema"), "format"),
                    *cases = get(&root->items[i], "tests");
    made *m = name ? format(name->text, name->length) : NULL;
    for (uint32_t k = 0; m && m->known && k < cases->length; k++) {
      const tsl__json *data = get(&cases->items[k], "data"), *want = get(&cases->items[k], "valid"),
                      *what = get(&cases->items[k], "description");
      if (data->kind != TSL__JSON_STRING) continue;
      tests++;
      CHECKF(valid(m, data->text, data->length) == (want->kind == TSL__JSON_TRUE),
             "%s: %s: %.*s: %.*s", path, m->name, (int)what->length, what->text, (int)data->length,
             data->text);
    }
  }
  tsl__arena_free(&arena);
  free(text);
  return tests;
}

static void test_suite(void) {
  static const char *const drafts[] = {"draft4", "draft6", "draft7", "draft2019-09",
                                       "draft2020-12"};
  static const char *const files[] = {"date",
                                      "date-time",
                                      "duration",
                                      "email",
                                      "hostname",
                                      "idn-email",
                                      "idn-hostname",
                                      "ipv4",
                                      "ipv6",
                                      "iri",
                                      "iri-reference",
                                      "json-pointer",
                                      "relative-json-pointer",
                                      "time",
                                      "uri",
                                      "uri-reference",
                                      "uri-template",
                                      "uuid"};
  const char *folder = getenv("TSL_SUITE");
  char path[1024];
  unsigned tests = 0;
  for (size_t d = 0; folder && d < sizeof drafts / sizeof *drafts; d++)
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
      snprintf(path, sizeof path, "%s/tests/%s/optional/format/%s.json", folder, drafts[d],
               files[i]);
      tests += run_suite_file(path);
    }
  if (!tests)
    SKIP("the JSON Schema Test Suite is not there: `./dev fetch suite` gets it, TSL_SUITE names "
         "its folder");
  else
    CHECKF(tests > 1000, "%u tests of the JSON Schema Test Suite", tests);
}

/* A byte that a format cannot hold, by tsl__expr_alphabet, is nowhere legal: on random walks
 * through its texts. */
static void test_alphabets(void) {
  static const char *const names[] = {"date",  "date-time", "time", "hostname", "idn-hostname",
                                      "email", "uuid",      "ipv4", "ipv6",     "duration"};
  uint64_t seed = 1;
  unsigned never = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    made *m = format(names[i], strlen(names[i]));
    CHECK(m->known);
    for (unsigned walk = 0; walk < 40; walk++) {
      tsl__expr e = m->e;
      for (unsigned step = 0; step < 40 && e; step++) {
        tsl__expr next = TSL__NONE;
        unsigned legal = 0;
        tsl__bytes alphabet;
        tsl__exprs_begin(m->x);
        tsl__expr_alphabet(m->x, e, &alphabet);
        for (unsigned b = 0; b < 256; b++) {
          tsl__expr d = tsl__derive_plain(m->x, e, (uint8_t)b);
          if (!tsl__bytes_has(&alphabet, (uint8_t)b)) {
            never++;
            CHECKF(d == TSL__NONE, "%s: byte %u", names[i], b);
          }
          seed = seed * 6364136223846793005u + 1442695040888963407u;
          if (d && (seed >> 33) % ++legal == 0) next = d;
        }
        e = next;
      }
    }
  }
  CHECK(never > 100000);
}

/* What is left after the beginning of a text, as it is printed. */
static void test_printed(void) {
  static const struct {
    const char *name, *text, *printed;
  } cases[] = {{"time", "2", "leap["},
               {"hostname", "ab-", "host["},
               {"hostname", "xn--ll-0e", "a-label["},
               {"idn-hostname", "\xC3\xA9", "u-label["}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    made *m = format(cases[i].name, strlen(cases[i].name));
    char printed[4096];
    tsl__expr e = m->e;
    for (const char *c = cases[i].text; *c; c++) e = tsl__derive_plain(m->x, e, (uint8_t)*c);
    tsl__expr_print(m->x, e, printed, sizeof printed);
    CHECKF(strstr(printed, cases[i].printed), "%s after %s: %s", cases[i].name, cases[i].text,
           printed);
  }
}

int main(void) {
  RUN(test_alphabets, "bytes that no text has");
  RUN(test_table, "tests/cases/regex_formats.txt and labels.txt");
  RUN(test_calendar, "dates against the rules of the calendar");
  RUN(test_leap_seconds, "leap seconds against arithmetic");
  RUN(test_host_names, "random host names against a pattern");
  RUN(test_completions, "what has begun well can be completed");
  RUN(test_suite, "JSON Schema Test Suite");
  RUN(test_printed, "states of formats");
  for (size_t i = 0; i < cached; i++) tsl__exprs_free(cache[i].x);
  return tsl_test_end();
}
