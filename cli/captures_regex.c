/* captures_regex.c - named groups of a finished text, through PCRE2. See captures.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <string.h>

#include "captures.h"
#include "json_out.h"

static uint32_t option_bits(const tsl_regex_options *o) {
  uint32_t bits = PCRE2_UTF | PCRE2_ALT_BSUX | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C;
  if (o->case_insensitive) bits |= PCRE2_CASELESS;
  if (o->dot_all) bits |= PCRE2_DOTALL;
  if (!o->search) bits |= PCRE2_ANCHORED | PCRE2_ENDANCHORED;
  return bits;
}

static int say(const char *what, int number) {
  PCRE2_UCHAR message[256];
  pcre2_get_error_message(number, message, sizeof message);
  return cli_complain("%s: PCRE2: %s", what, (const char *)message);
}

/* The name of a group in the table, or NULL: entries are two bytes of number, then the name. */
static const char *name_of(const pcre2_code *code, uint32_t group) {
  uint32_t count = 0, size = 0;
  PCRE2_SPTR names = NULL;
  pcre2_pattern_info(code, PCRE2_INFO_NAMECOUNT, &count);
  pcre2_pattern_info(code, PCRE2_INFO_NAMEENTRYSIZE, &size);
  pcre2_pattern_info(code, PCRE2_INFO_NAMETABLE, &names);
  for (uint32_t i = 0; i < count; i++) {
    PCRE2_SPTR entry = names + (size_t)i * size;
    if (((uint32_t)entry[0] << 8 | entry[1]) == group) return (const char *)entry + 2;
  }
  return NULL;
}

static void print_groups(const pcre2_code *code, pcre2_match_data *match, const char *text) {
  const PCRE2_SIZE *at = pcre2_get_ovector_pointer(match);
  const char *between = "";
  putchar('{');
  for (uint32_t g = 1; g < pcre2_get_ovector_count(match); g++) {
    const char *name = name_of(code, g);
    if (!name) continue;
    fputs(between, stdout);
    between = ",";
    json_out_string(name, strlen(name));
    putchar(':');
    if (at[2 * g] == PCRE2_UNSET) fputs("null", stdout);
    else json_out_string(text + at[2 * g], at[2 * g + 1] - at[2 * g]);
  }
  puts("}");
}

int captures_regex(const char *pattern, size_t pattern_length, const tsl_regex_options *options, const char *text, size_t length) {
  int number;
  PCRE2_SIZE offset;
  pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, pattern_length, option_bits(options), &number, &offset, NULL);
  if (!code) return say("regex", number);
  pcre2_match_data *match = pcre2_match_data_create_from_pattern(code, NULL);
  int exit_code = CLI_OK;
  number = match ? pcre2_match(code, (PCRE2_SPTR)text, length, 0, 0, match, NULL) : PCRE2_ERROR_NOMEMORY;
  if (number >= 0) print_groups(code, match, text);
  else exit_code = say("finding the groups", number);
  pcre2_match_data_free(match);
  pcre2_code_free(code);
  return exit_code;
}
