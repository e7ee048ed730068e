/* named.c - the preset that a name means: its own, or that of a model.
 *
 * Problem   A server of Qwen/Qwen3-8B knows that name, but not which preset reads the model's
 *           calls. A preset's name that is misspelled deserves more than "there is none".
 * Idea      A name that no preset has is compared with beginnings of models' names: the presets'
 *           own names, and the rows of models.def. Small letters count, - and _ are one, and what
 *           stands before the last / is left out. A beginning ends where a word of the name ends:
 *           `qwen3` begins qwen3-8b, and not qwen35. The longest beginning counts.
 * Example   "meta-llama/Llama-3.1-8B-Instruct" is llama-3.1-8b-instruct, and begins with the row
 *           llama-3.1: the preset llama3. "qwen33" begins with nothing. Three presets are most like
 *           it, and the error lists these.
 * Cost      About 120 comparisons of short texts; of an error, a table of letters a preset.
 * Tested by tests/tools/test_named_presets.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/json/near.h"
#include "compiler/tools/tools.h"

#define MODEL_NAME 128u /* bytes of a model's name that are compared */
#define SHOWN 3u        /* presets that an error lists */

static const struct {
  const char *begin, *preset;
} models[] = {
#define TSL__MODEL(begin, preset) {begin, preset},
#include "compiler/tools/models.def"
#undef TSL__MODEL
};

/* A name without its owner, in small letters. */
static void fold(const char *name, char out[MODEL_NAME + 1]) {
  const char *slash = strrchr(name, '/');
  size_t n = 0;
  for (const char *p = slash ? slash + 1 : name; *p && n < MODEL_NAME; p++)
    out[n++] = *p >= 'A' && *p <= 'Z' ? (char)(*p | 0x20) : *p == '_' ? '-' : *p;
  out[n] = 0;
}

static bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

/* How long is the beginning, if the name begins with it and a word ends there? Else 0. */
static size_t begins(const char *name, const char *begin) {
  const size_t n = strlen(begin);
  return strncmp(name, begin, n) || is_word(name[n]) ? 0 : n;
}

static const char *text_of(const char *preset) {
  const char *known, *json;
  for (size_t i = 0; tsl_tools_preset(i, &known, &json); i++)
    if (!strcmp(known, preset)) return json;
  return NULL;
}

const char *tsl__preset_named(const char *name) {
  char folded[MODEL_NAME + 1];
  const char *known, *json, *found = text_of(name);
  size_t longest = 0;
  if (found) return found;
  fold(name, folded);
  for (size_t i = 0; tsl_tools_preset(i, &known, &json); i++) {
    const size_t n = begins(folded, known);
    if (n > longest) longest = n, found = json;
  }
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    const size_t n = begins(folded, models[i].begin);
    if (n >= longest && n) longest = n, found = text_of(models[i].preset);
  }
  return found;
}

/* ---- names that are none --------------------------------------------------------------------- */

void tsl__preset_near(const char *name, char *message, size_t size) {
  const char *known, *json, *nearest[SHOWN] = {0};
  uint32_t apart[SHOWN] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
  char folded[MODEL_NAME + 1], own[TSL__WORD_MAX], other[TSL__WORD_MAX];
  fold(name, folded);
  const uint32_t n = tsl__near_letters(folded, strlen(folded), own);
  for (size_t i = 0; n != UINT32_MAX && tsl_tools_preset(i, &known, &json); i++) {
    const uint32_t m = tsl__near_letters(known, strlen(known), other);
    if (m == UINT32_MAX) continue;
    uint32_t d = tsl__near_apart(own, n, other, m, TSL__WORD_MAX);
    for (size_t k = 0; k < SHOWN; k++) {
      if (d >= apart[k]) continue;
      const uint32_t later = apart[k];
      const char *pushed = nearest[k];
      apart[k] = d, nearest[k] = known;
      d = later, known = pushed;
    }
  }
  size_t at = (size_t)snprintf(
      message, size, "there is no preset \"%.100s\", and no model is known by this name", name);
  for (size_t k = 0; k < SHOWN && nearest[k] && apart[k] != UINT32_MAX && at < size; k++)
    at += (size_t)snprintf(message + at, size - at, "%s%s",
                           k ? ", " : "; the nearest presets: ", nearest[k]);
}
