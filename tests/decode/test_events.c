/* test_events.c - a JSON text's events: what they are, and that they do not depend on how the text
 * is cut into pieces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/toy.h"

/* The events as text: `+object@`, `text@/a:…`, `-number@/b:12`. Neighbouring texts of one string
 * are joined: then pieces do not matter. */
typedef struct record {
  char at[1 << 14];
  size_t n;
  bool in_text; /* the last event was a text */
  size_t texts;
  bool split; /* a text was not whole characters */
} record;

static void put(record *r, const char *s, size_t n) {
  if (r->n + n >= sizeof r->at) abort();
  memcpy(r->at + r->n, s, n);
  r->n += n;
  r->at[r->n] = 0;
}

static bool whole_characters(const char *s, size_t n) {
  for (size_t i = 0; i < n;) {
    uint8_t c = (uint8_t)s[i];
    size_t length = c < 0x80 ? 1 : c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC2 ? 2 : 0;
    if (!length || i + length > n) return false;
    for (size_t k = 1; k < length; k++)
      if (((uint8_t)s[i + k] & 0xC0) != 0x80) return false;
    i += length;
  }
  return true;
}

static void take(void *ctx, const tsl_event *e) {
  static const char *const names[] = {"",       "object", "array", "string",
                                      "number", "true",   "false", "null"};
  record *r = ctx;
  if (e->kind == TSL_EVENT_TEXT) {
    r->texts++;
    if (e->text_length == 0 || !whole_characters(e->text, e->text_length)) r->split = true;
    if (!r->in_text) {
      put(r, " text@", 6);
      put(r, e->pointer, e->pointer_length);
      put(r, ":", 1);
    }
    put(r, e->text, e->text_length);
    r->in_text = true;
    return;
  }
  r->in_text = false;
  put(r, e->kind == TSL_EVENT_BEGIN ? " +" : " -", 2);
  put(r, names[e->value], strlen(names[e->value]));
  put(r, "@", 1);
  put(r, e->pointer, e->pointer_length);
  if (e->text_length) put(r, ":", 1), put(r, e->text, e->text_length);
}

/* Read `text` in pieces of the lengths that `cut` says (0: bytes drawn from `seed`). */
static tsl_status read_in_pieces(const char *text, size_t n, size_t piece, uint64_t seed, record *r,
                                 tsl_error *error) {
  tsl_events *e = NULL;
  tsl_status status = tsl_events_new(take, r, NULL, &e);
  r->n = r->texts = 0;
  r->at[0] = 0;
  r->in_text = r->split = false;
  for (size_t i = 0; i < n && status == TSL_OK;) {
    size_t length = piece ? piece : 1 + tsl_test_random(&seed) % 7;
    if (length > n - i) length = n - i;
    status = tsl_events_feed(e, text + i, length, error);
    i += length;
  }
  if (status == TSL_OK)
    status = tsl_events_end(e, error);
  else
    CHECK(tsl_events_feed(e, "", 0, NULL) == TSL_ERR_STATE);
  tsl_events_free(e);
  return status;
}

static const struct {
  const char *text, *events;
} cases[] = {
    {"12", " +number@ -number@:12"},
    {" -0.5e+10 ", " +number@ -number@:-0.5e+10"},
    {"\"\"", " +string@ -string@"},
    {"\"a\\nb\\u00e9\\ud83d\\ude00 \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"",
     " +string@ text@:a\nb\xC3\xA9\xF0\x9F\x98\x80 \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80 -string@"},
    {"\"\\ud83dx\\ude00\\ud83d\\ud83d\\ude00\\ud83d\"",
     " +string@ text@:\xEF\xBF\xBDx\xEF\xBF\xBD\xEF\xBF\xBD\xF0\x9F\x98\x80\xEF\xBF\xBD -string@"},
    {"\"\\ud83d\\n\"", " +string@ text@:\xEF\xBF\xBD\n -string@"},
    {"\"\\\"\\\\\\/\\b\\f\\r\\t\"", " +string@ text@:\"\\/\b\f\r\t -string@"},
    {"[]", " +array@ -array@"},
    {"{}", " +object@ -object@"},
    {"[true, false,null]",
     " +array@ +true@/0 -true@/0 +false@/1 -false@/1 +null@/2 -null@/2 -array@"},
    {"{\"a~/\\u0062\": [1, {\"x\":\"yz\"}], \"\": -2.50}",
     " +object@ +array@/a~0~1b +number@/a~0~1b/0 -number@/a~0~1b/0:1 +object@/a~0~1b/1 "
     "+string@/a~0~1b/1/x text@/a~0~1b/1/x:yz"
     " -string@/a~0~1b/1/x -object@/a~0~1b/1 -array@/a~0~1b +number@/ -number@/:-2.50 -object@"},
    {"[[[0]],1e9]", " +array@ +array@/0 +array@/0/0 +number@/0/0/0 -number@/0/0/0:0 -array@/0/0 "
                    "-array@/0 +number@/1 -number@/1:1e9 -array@"},
};

static void listed(void) {
  static record r;
  tsl_error e;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (size_t piece = 0; piece < 40; piece++) {
      size_t n = strlen(cases[i].text);
      tsl_status status =
          read_in_pieces(cases[i].text, n, piece < 20 ? 0 : piece - 19, piece, &r, &e);
      CHECKF(status == TSL_OK && !strcmp(r.at, cases[i].events), "%s in pieces of %zu: %s",
             cases[i].text, piece, r.at);
      CHECK(!r.split);
    }
}

/* One event for what comes in one piece; nothing is given before it is certain. */
static void pieces(void) {
  static record r;
  tsl_events *e = NULL;
  CHECK(tsl_events_new(take, &r, NULL, &e) == TSL_OK);
  CHECK(tsl_events_feed(e, "{\"k\":\"one\\ttwo \xE2", 16, NULL) == TSL_OK && r.texts == 1);
  CHECK(!strcmp(r.at, " +object@ +string@/k text@/k:one\ttwo "));
  CHECK(tsl_events_feed(e, "\x82", 1, NULL) == TSL_OK && r.texts == 1);
  CHECK(tsl_events_feed(e, "\xAC\\ud8", 5, NULL) == TSL_OK && r.texts == 2);
  CHECK(tsl_events_feed(e, "3d\\", 3, NULL) == TSL_OK &&
        tsl_events_feed(e, "ude0", 4, NULL) == TSL_OK && r.texts == 2);
  CHECK(tsl_events_feed(e, "0", 1, NULL) == TSL_OK && r.texts == 3);
  CHECK(tsl_events_feed(e, "\",\"n\":1", 7, NULL) == TSL_OK && strstr(r.at, "+number@/n") &&
        !strstr(r.at, "-number"));
  CHECK(tsl_events_feed(e, "2", 1, NULL) == TSL_OK && !strstr(r.at, "-number"));
  CHECK(tsl_events_feed(e, " ", 1, NULL) == TSL_OK && strstr(r.at, "-number@/n:12"));
  CHECK(tsl_events_end(e, NULL) == TSL_ERR_SYNTAX);
  tsl_events_reset(e);
  CHECK(tsl_events_feed(e, "1", 1, NULL) == TSL_OK && tsl_events_end(e, NULL) == TSL_OK);
  tsl_events_free(e);
}

static void refused(void) {
  static const struct {
    const char *text;
    size_t offset;
  } bad[] = {{"", 0},
             {" ", 1},
             {"[1,]", 3},
             {"{\"a\" 1}", 5},
             {"{a:1}", 1},
             {"[1 2]", 3},
             {"01", 1},
             {"-", 1},
             {"1.", 2},
             {"1.e", 2},
             {"1e", 2},
             {"+1", 0},
             {"\"\n\"", 1},
             {"\"\\x\"", 2},
             {"\"\\u12g4\"", 5},
             {"nul", 3},
             {"nulL", 3},
             {"[}", 1},
             {"{\"a\":1]", 6},
             {"1 1", 2},
             {"\"\xC3(\"", 2},
             {"\"\xC0\x80\"", 2},
             {"\"\xED\xA0\x80\"", 3},
             {"\"\xF5\x80\x80\x80\"", 4},
             {"\"\x80", 2},
             {"{\"a\":1,}", 7},
             {"[", 1},
             {"tru e", 3},
             {",", 0}};
  static record r;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    for (size_t piece = 1; piece < 4; piece++) {
      tsl_error e = {0};
      tsl_status status = read_in_pieces(bad[i].text, strlen(bad[i].text), piece, 0, &r, &e);
      CHECKF(status == TSL_ERR_SYNTAX && e.status == TSL_ERR_SYNTAX &&
                 (bad[i].text[0] == '"' || e.offset == bad[i].offset),
             "%s: %s at %zu", bad[i].text, tsl_status_name(status), e.offset);
    }
}

static void every_allocation_fails(void) {
  const char *text = "{\"a name that is rather long\": [[[[[[\"and a text that is longer than any "
                     "first block would be\"]]]]]]}";
  static record r;
  bool done = false;
  for (long nth = 0; nth < 40 && !done; nth++) {
    failing f = {nth, 0};
    tsl_allocator a = failing_allocator(&f);
    tsl_events *e = NULL;
    tsl_error error = {0};
    tsl_status status = tsl_events_new(take, &r, &a, &e);
    r.n = 0;
    if (status == TSL_OK) status = tsl_events_feed(e, text, strlen(text), &error);
    if (status == TSL_OK) status = tsl_events_end(e, &error);
    CHECK(status == TSL_OK || status == TSL_ERR_NO_MEMORY);
    done = status == TSL_OK && !failing_failed(&f);
    tsl_events_free(e);
    CHECK(f.held == 0);
  }
  CHECK(done);
}

int main(void) {
  RUN(listed, "events of listed texts, in any pieces");
  RUN(pieces, "what is given when");
  RUN(refused, "what is not JSON, and where");
  RUN(every_allocation_fails, "every nth allocation fails");
  return tsl_test_end();
}
