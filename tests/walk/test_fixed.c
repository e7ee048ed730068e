/* test_fixed.c - fixed texts of strings, spelled raw and in escapes: what is accepted, beside
 * comparing characters; and masks, token by token.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/check.h"
#include "tests/support/text.h"
#include "tests/support/nth_token.h"
#include "turnstile.h"

#define TEXTS 6u
#define TOKENS 846u

static tsl_vocab *vocab;
static uint64_t seed = 12;
static uint32_t below(uint32_t n) { return (uint32_t)(tsl_test_random(&seed) % n); }

/* A text is a list of numbers of characters; each character has a few spellings, which are unlike
 * any beginning of another's. */
static const char *const spellings[][6] = {
    {"a", "\\u0061"},
    {"b", "\\u0062"},
    {"c", "\\u0063"},
    {"z", "\\u007a", "\\u007A"},
    {"o", "\\u006f", "\\u006F"},
    {"j", "\\u006A", "\\u006a"},
    {"@", "\\u0040"},
    {"0", "\\u0030"},
    {"9", "\\u0039"},
    {"\\n", "\\u000a", "\\u000A"},
    {"\\\"", "\\u0022"},
    {"\\\\", "\\u005c", "\\u005C"},
    {"/", "\\/", "\\u002f", "\\u002F"},
    {"\\u001f", "\\u001F"},
    {"\x7F", "\\u007f"},
    {"\xC3\xA9", "\\u00e9", "\\u00E9"},
    {"\xC2\x80", "\\u0080"},
    {"\xE4\xB8\x96", "\\u4e16", "\\u4E16"},
    {"\xF0\x9F\x98\x80", "\\ud83d\\ude00", "\\uD83D\\uDE00"}};
#define CHARACTERS (sizeof spellings / sizeof *spellings)

typedef struct word {
  uint32_t at[6], n;
} word;

static tsl_spelling spelling = TSL_SPELLING_ANY; /* of all grammars */
static tsl_order order;

/* Few characters, so that words begin with one another. */
static word random_word(uint32_t few, uint32_t from) {
  word w = {.n = below(6)};
  for (uint32_t i = 0; i < w.n; i++) w.at[i] = (from + below(few)) % CHARACTERS;
  return w;
}

static void spell(struct text *t, const word *w, bool plain) {
  for (uint32_t i = 0; i < w->n; i++) {
    uint32_t ways = 0;
    while (ways < 6 && spellings[w->at[i]][ways]) ways++;
    text_add(t, spellings[w->at[i]][plain || below(2) ? 0 : below(ways)]);
  }
}

static bool same(const word *a, const word *b) {
  return a->n == b->n && !memcmp(a->at, b->at, a->n * sizeof *a->at);
}

/* What looks like a spelling of characters and is none: what is no digit, and a backslash within a
 * character. */
static const char *const broken[] = {
    "\\u006G",    "\\u006:",     "\\u003@",        "\\u006Q",    "\\u006q",        "\\u007Q",
    "\\u006g",    "\\u00:1",     "\\u00@1",        "\\u00Z1",    "\\u00`1",        "\\u00/1",
    "\\u 061",    "\\U0061",     "\\u+061",        "\\x61",      "\xC3\\",         "\xE4\\",
    "\xE4\xB8\\", "\xF0\x9F\\",  "\xF0\x9F\x98\\", "\xC3\\u",    "\xC2\\u0080",    "a\xC3\\u00e9",
    "\xC3\xA9\\", "\xC3\xA9\\u", "\\ud83d\\",      "\\ud83d\\u", "\\ud83d\\ud83d", "\\ude00",
    "\x80",       "\xA9\\u"};
#define WHOLE (6 * CHARACTERS)
#define BROKEN (sizeof broken / sizeof *broken)

/* Bytes; all escapes of ASCII in both sizes of digits; broken ones; pieces of words, with what
 * closes a string and goes on after it. */
static void make_vocab(void) {
  static const char *const ends[] = {"", "", "\"", "\",", "\",\"", "\"]"};
  struct text t = {0};
  uint32_t offsets[TOKENS + 1];
  for (uint32_t i = 0; i < TOKENS; i++) {
    char piece[40] = {(char)i};
    offsets[i] = (uint32_t)t.n;
    if (i < 256) {
      text_put(&t, piece, 1);
    } else if (i < 512) {
      snprintf(piece, sizeof piece, i % 2 ? "\\u%04x" : "\\u%04X", (i - 256) / 2);
      text_add(&t, piece);
    } else if (i < 512 + BROKEN) {
      text_add(&t, broken[i - 512]);
    } else if (i < 512 + BROKEN +
                       WHOLE) { /* each spelling of each character, as a whole string's rest */
      const char *spelled = spellings[(i - 512 - BROKEN) / 6][(i - 512 - BROKEN) % 6];
      text_add(&t, spelled ? spelled : "?");
      text_add(&t, "\"");
    } else {
      word w = random_word(1 + below(6), below(CHARACTERS));
      spell(&t, &w, false);
      text_add(&t, ends[w.n ? below(6) : 3]);
    }
  }
  offsets[TOKENS] = (uint32_t)t.n;
  const tsl_vocab_desc desc = {.bytes = (const uint8_t *)t.at, .offsets = offsets, .size = TOKENS};
  CHECK(tsl_vocab_new(&desc, NULL, &vocab, NULL) == TSL_OK);
  text_free(&t);
}

/* The list of words as JSON. */
static void list(struct text *t, const word *words, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    text_add(t, i ? ",\"" : "[\"");
    spell(t, &words[i], true);
    text_add(t, "\"");
  }
  text_add(t, "]");
}

/* An object that has each word as a name. */
static void list_members(struct text *t, const word *words, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    bool met = false;
    for (uint32_t k = 0; k < i; k++) met = met || same(&words[i], &words[k]);
    if (met) continue;
    text_add(t, i ? ",\"" : "{\"");
    spell(t, &words[i], true);
    text_add(t, "\":{\"type\":\"null\"}");
  }
  text_add(t, "}");
}

static tsl_grammar *compile(const char *before, const char *words, const char *after) {
  struct text schema = {0};
  const tsl_schema_options options = {
      .order = order, .whitespace = TSL_WS_COMPACT, .spelling = spelling};
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  text_add(&schema, before);
  text_add(&schema, words);
  text_add(&schema, after);
  CHECKF(tsl_grammar_json_schema(vocab, schema.at, schema.n, &options, NULL, &g, &error) == TSL_OK,
         "%s: %s", schema.at, error.message);
  text_free(&schema);
  return g;
}

/* Has a text no escape but those of plain strings? */
static bool is_plain(const struct text *t) {
  for (size_t i = 0; i + 1 < t->n; i++) {
    unsigned value = 0;
    if (t->at[i] != '\\') continue;
    if (t->at[i + 1] == '/') return false;
    if (t->at[i + 1] == 'u' && i + 5 < t->n && sscanf(t->at + i + 2, "%4x", &value) == 1 &&
        value >= 0x20 && value <= 0x7E)
      return false;
    i++;
  }
  return true;
}

/* At once, byte by byte, and how many bytes there and there. */
static void check_text(tsl_grammar *g, const struct text *t, bool right, const char *words) {
  tsl_matcher *m = NULL, *slow = NULL;
  size_t at_once = 0, n = 0;
  right = right && (spelling == TSL_SPELLING_ANY || is_plain(t));
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_matcher_new(g, NULL, &slow) == TSL_OK);
  bool accepted =
      tsl_matcher_accept_bytes(m, t->at, t->n, &at_once) == TSL_OK && tsl_matcher_is_complete(m);
  while (n < t->n && tsl_matcher_accept_bytes(slow, t->at + n, 1, NULL) == TSL_OK) n++;
  CHECKF(accepted == right, "%s in %s", t->at, words);
  CHECKF(at_once == n && accepted == (n == t->n && tsl_matcher_is_complete(slow)),
         "%s in %s: %zu bytes at once, %zu one by one", t->at, words, at_once, n);
  tsl_matcher_free(m);
  tsl_matcher_free(slow);
}

/* Along a random text, after a given one: each token is accepted exactly if the mask has it. */
static void check_masks_after(tsl_grammar *g, const char *before, const char *words) {
  uint32_t mask[(TOKENS + 31) / 32];
  tsl_matcher *m = NULL;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
        tsl_matcher_accept_bytes(m, before, strlen(before), NULL) == TSL_OK);
  for (int step = 0; m && step < 8; step++) {
    CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
    bool good = true;
    for (tsl_token t = 0; t < TOKENS; t++) {
      size_t valid = 0;
      good = good && tsl_matcher_validate(m, &t, 1, &valid) == TSL_OK &&
             (valid == 1) == tsl_mask_has(mask, t);
    }
    CHECKF(good, "%s, step %d after %s", words, step, before);
    size_t n = tsl_mask_count(mask, TOKENS), k = n ? below((uint32_t)n) : 0;
    if (!n) break;
    CHECK(tsl_matcher_accept(m, nth_token(mask, k)) == TSL_OK);
  }
  tsl_matcher_free(m);
}

static void check_masks(tsl_grammar *g, const char *words) { check_masks_after(g, "", words); }

/* None of the words again, however it is spelled. */
static void check_unique(const word *words, uint32_t n, const char *listed) {
  tsl_grammar *g =
      compile("{\"type\":\"array\",\"uniqueItems\":true", "", ",\"items\":{\"type\":\"string\"}}");
  struct text used = {0};
  for (uint32_t i = 0; i < n; i++) {
    bool met = false;
    for (uint32_t k = 0; k < i; k++) met = met || same(&words[i], &words[k]);
    if (met) continue;
    text_add(&used, i ? ",\"" : "[\"");
    spell(&used, &words[i], spelling == TSL_SPELLING_PLAIN);
    text_add(&used, "\"");
  }
  text_add(&used, ",\"");
  for (int k = 0; g && k < 2; k++) check_masks_after(g, used.at, listed);
  tsl_grammar_release(g);
  text_free(&used);
}

static void random_texts(void) {
  for (int round = 0; round < ROUNDS_OF(150); round++) {
    uint32_t few = 1 + below(4), from = below(CHARACTERS), n = 1 + below(TEXTS);
    word words[TEXTS];
    struct text listed = {0}, members = {0};
    for (uint32_t i = 0; i < n; i++) words[i] = random_word(few, from);
    list(&listed, words, n);
    list_members(&members, words, n);
    tsl_grammar *names =
        compile("{\"type\":\"object\",\"minProperties\":1,\"properties\":", members.at,
                below(2) ? ",\"additionalProperties\":false}" : "}");
    tsl_grammar *among = compile("{\"items\":{\"enum\":", listed.at, "},\"type\":\"array\"}"),
                *others = compile("{\"type\":\"string\",\"not\":{\"enum\":", listed.at, "}}");
    for (int k = 0; among && others && k < 40; k++) {
      struct text one = {0}, many = {0};
      word w = below(2) ? words[below(n)] : random_word(few + below(2), from),
           second = words[below(n)];
      bool known = false;
      for (uint32_t i = 0; i < n; i++) known = known || same(&words[i], &w);
      text_add(&one, "\"");
      spell(&one, &w, false);
      text_add(&one, "\"");
      text_add(&many, "[\"");
      spell(&many, &second, false);
      text_add(&many, "\",");
      text_add(&many, one.at);
      text_add(&many, "]");
      check_text(others, &one, !known, listed.at);
      check_text(among, &many, known, listed.at);
      text_free(&one);
      text_free(&many);
    }
    for (int k = 0; among && others && k < 3; k++)
      check_masks_after(k == 2 ? others : among, k == 2 ? "\"" : "", listed.at);
    for (int k = 0; names && k < 2; k++) check_masks(names, members.at);
    tsl_grammar_release(names);
    check_unique(words, n, listed.at);
    tsl_grammar_release(among);
    tsl_grammar_release(others);
    text_free(&listed);
    text_free(&members);
  }
}

/* Names that are left where some have come. A backslash may begin few of these in plain strings, up
 * to four ranges of them with others between. */
static void names_left(void) {
  static const char *const names[] = {"\\n", "!",    "\\\"",     "a",    "\\\\",    "b",
                                      "o",   "\x7F", "\xC3\xA9", "a\\n", "a\\u001f"};
  enum { NAMES = sizeof names / sizeof *names };
  order = TSL_ORDER_ANY;
  for (int round = 0; round < ROUNDS_OF(150); round++) {
    struct text members = {0}, before = {0};
    bool there[NAMES] = {false}, come[NAMES] = {false};
    text_add(&members, "{");
    for (uint32_t i = 0; i < NAMES; i++) {
      there[i] = round < 50 || below(4) > 0;
      if (!there[i]) continue;
      text_add(&members, members.n > 1 ? ",\"" : "\"");
      text_add(&members, names[i]);
      text_add(&members, "\":{\"const\":1}");
    }
    text_add(&members, "}");
    tsl_grammar *g = compile("{\"type\":\"object\",\"minProperties\":1,\"properties\":", members.at,
                             ",\"additionalProperties\":false}");
    text_add(&before, "{\"");
    for (uint32_t i = below(NAMES), k = 0, n = below(NAMES); k < n; k++, i = (i + 3) % NAMES) {
      if (!there[i] || come[i]) continue;
      come[i] = true;
      text_add(&before, names[i]);
      text_add(&before, "\":1,\"");
    }
    bool left = false;
    for (uint32_t i = 0; i < NAMES; i++) left = left || (there[i] && !come[i]);
    for (int k = 0; g && left && k < 3; k++) check_masks_after(g, before.at, members.at);
    tsl_grammar_release(g);
    text_free(&members);
    text_free(&before);
  }
  order = (tsl_order)0;
}

/* One to forty members, whose names end at nodes of the trie that go on. Tested is what a walk of
 * names keeps of them, in any number. */
static void members(void) {
  for (uint32_t n = 1; n <= 40; n++) {
    if (!tsl_test_turn(n, TURN_OF(1, 4))) continue;
    struct text names = {0}, tokens = {0};
    uint32_t offsets[300], count = 0, *words = NULL;
    tsl_vocab *plain = vocab;
    for (; count < 256; count++)
      offsets[count] = (uint32_t)tokens.n, text_put(&tokens, &(char){(char)count}, 1);
    for (uint32_t i = 0; i < n; i++, count++) {
      char name[40];
      offsets[count] = (uint32_t)tokens.n;
      snprintf(name, sizeof name, "%c%c\":%u", 'a' + (int)(i % 26), 'A' + (int)(i / 26), 3 + i % 3);
      text_add(&tokens, name);
      snprintf(name, sizeof name, "%s\"%c%c\":{\"enum\":[%u]}", i ? "," : "", 'a' + (int)(i % 26),
               'A' + (int)(i / 26), 3 + i % 2);
      text_add(&names, name);
    }
    offsets[count] = (uint32_t)tokens.n;
    const tsl_vocab_desc desc = {
        .bytes = (const uint8_t *)tokens.at, .offsets = offsets, .size = count};
    CHECK(tsl_vocab_new(&desc, NULL, &vocab, NULL) == TSL_OK);
    tsl_grammar *g = compile("{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{",
                             names.at, "}}");
    tsl_matcher *m = NULL;
    words = calloc(tsl_vocab_mask_words(vocab), sizeof *words);
    CHECK(words && g && tsl_matcher_new(g, NULL, &m) == TSL_OK &&
          tsl_matcher_accept_bytes(m, "{\"", 2, NULL) == TSL_OK &&
          tsl_matcher_mask(m, words) == TSL_OK);
    for (uint32_t i = 0; words && i < n; i++)
      CHECKF(tsl_mask_has(words, 256 + i) == (i % 3 == i % 2), "member %u of %u", i, n);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
    tsl_vocab_release(vocab);
    vocab = plain;
    free(words);
    text_free(&names);
    text_free(&tokens);
  }
}

int main(void) {
  make_vocab();
  if (!vocab) return tsl_test_end();
  RUN(random_texts, "lists of texts, and all but these");
  RUN(names_left, "names that are left");
  spelling = TSL_SPELLING_PLAIN;
  RUN(random_texts, "the same where spellings are plain");
  RUN(names_left, "the same where spellings are plain");
  RUN(members, "any number of names that end within tokens");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
