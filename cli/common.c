/* common.c - texts, files, messages and options of the commands. See common.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/common.h"

#include "cli/json_out.h"
#include "cli/os.h"
#include "cli/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ----------------------------------------------------------------------------------- */

void *cli_allocate(size_t count, size_t size) {
  void *p = calloc(count ? count : 1, size);
  if (p) return p;
  exit(cli_complain("out of memory"));
}

void cli_text_add(cli_text *text, const void *bytes, size_t length) {
  if (text->capacity - text->length <= length) {
    size_t capacity = text->capacity * 2 + length + 64;
    char *at = realloc(text->at, capacity);
    if (!at) exit(cli_complain("out of memory"));
    text->at = at;
    text->capacity = capacity;
  }
  if (length) memcpy(text->at + text->length, bytes, length);
  text->length += length;
  text->at[text->length] = 0;
}

void cli_text_free(cli_text *text) {
  free(text->at);
  *text = (cli_text){0};
}

const char *cli_file_name(const char *path) { return strcmp(path, "-") ? path : "stdin"; }

FILE *cli_open_input(const char *path) {
  static bool stdin_is_read;
  bool is_stdin = !strcmp(path, "-");
  if (is_stdin && stdin_is_read) {
    cli_complain("stdin can be read only once, and two inputs are to come from it");
    return NULL;
  }
  stdin_is_read |= is_stdin;
  FILE *file = is_stdin ? stdin : cli_os_open(path, "rb");
  if (!file) cli_complain("%s: %s", path, strerror(errno));
  return file;
}

void cli_close_input(FILE *file) {
  if (file && file != stdin) fclose(file);
}

bool cli_read(const char *path, cli_text *out) {
  FILE *file = cli_open_input(path);
  if (!file) return false;
  char block[65536];
  size_t n;
  cli_text_add(out, "", 0);
  while ((n = fread(block, 1, sizeof block, file)) > 0) cli_text_add(out, block, n);
  bool ok = !ferror(file);
  if (!ok) cli_complain("%s: %s", cli_file_name(path), strerror(errno));
  cli_close_input(file);
  return ok;
}

/* ---- messages -------------------------------------------------------------------------------- */

const char *cli_style_on(FILE *to, cli_style style) {
  static const char *const codes[] = {"\033[0m", "\033[1m", "\033[31m", "\033[32m"};
  const char *no_color = getenv("NO_COLOR");
  return (no_color && *no_color) || !cli_os_is_terminal(to) ? "" : codes[style];
}

/* --json was given; there is one command line in a process. */
static bool messages_as_json;

static void print_message(const char *text) {
  if (messages_as_json) {
    fputs("{\"error\":{\"message\":", stderr);
    json_out_string_to(stderr, text, strlen(text));
    fputs("}}\n", stderr);
  } else {
    fprintf(stderr, "%sturnstile:%s ", cli_style_on(stderr, CLI_RED),
            cli_style_on(stderr, CLI_PLAIN));
    cli_print_plain(stderr, text);
    fputc('\n', stderr);
  }
}

int cli_complain(const char *format, ...) {
  va_list arguments;
  cli_memory text;
  if (cli_memory_open(&text)) {
    va_start(arguments, format);
    vfprintf(text.to, format, arguments);
    va_end(arguments);
    cli_memory_close(&text);
  }
  fflush(stdout);
  print_message(text.at ? text.at : "out of memory");
  free(text.at);
  return CLI_BAD;
}

static bool one_of(const char *at, size_t length, const char *list) {
  for (const char *p = list; *p; p += strspn(p, " ")) {
    size_t n = strcspn(p, " ");
    if (n == length && !memcmp(p, at, n)) return true;
    p += n;
  }
  return false;
}

/* The keyword that a pointer into a schema ends with, "" if it ends with a subschema:
 * /properties/type is one, /properties/a/type the keyword type. */
static const char *keyword_of(const char *pointer, size_t *length) {
  const char *keyword = strchr(pointer, '#') ? strchr(pointer, '#') + 1 : pointer;
  *length = 0;
  while (*keyword == '/') {
    keyword++;
    *length = strcspn(keyword, "/");
    const char *next = keyword + *length;
    bool named =
        one_of(keyword, *length,
               "properties patternProperties $defs definitions dependentSchemas dependencies");
    bool listed = one_of(keyword, *length, "allOf anyOf oneOf prefixItems items") &&
                  next[0] == '/' && next[1] >= '0' && next[1] <= '9';
    if (!*next) return keyword;
    if (named || listed)
      next += 1 + strcspn(next + 1, "/");
    else if (!one_of(keyword, *length,
                     "not if then else items contains additionalProperties additionalItems "
                     "unevaluatedProperties unevaluatedItems propertyNames"))
      return keyword;
    keyword = next;
    *length = 0;
  }
  return keyword;
}

int cli_complain_at(const char *name, const tsl_error *error) {
  size_t length;
  const char *keyword = keyword_of(error->pointer, &length);
  fflush(stdout);
  fprintf(stderr, "{\"error\":{\"status\":\"%s\",\"file\":", tsl_status_name(error->status));
  json_out_string_to(stderr, name, strlen(name));
  fprintf(stderr, ",\"line\":%u,\"column\":%u,\"offset\":%zu,\"pointer\":", (unsigned)error->line,
          (unsigned)error->column, error->offset);
  json_out_string_to(stderr, error->pointer, strlen(error->pointer));
  fputs(",\"keyword\":", stderr);
  json_out_string_to(stderr, keyword, length);
  fputs(",\"message\":", stderr);
  json_out_string_to(stderr, error->message, strlen(error->message));
  fputs("}}\n", stderr);
  return CLI_BAD;
}

bool cli_json(void) { return messages_as_json; }

bool cli_output_failed(void) { return ferror(stdout) != 0; }

/* The message without the name that it begins with, where that is said before it. */
static const char *message_after(const char *name, const char *message) {
  size_t n = strlen(name);
  if (strncmp(message, name, n) || (message[n] != ':' && message[n] != ' ')) return message;
  return message + n + strspn(message + n, ": ");
}

const char *cli_limit_advice(tsl_status status) {
  return status == TSL_ERR_LIMIT ? ": the grammar takes more than a limit allows there; make it "
                                   "simpler, or see docs/limits.md"
                                 : "";
}

int cli_complain_error(const char *name, const tsl_error *error) {
  if (messages_as_json) return cli_complain_at(name, error);
  char place[64] = "", pointer[300] = "";
  if (error->line)
    snprintf(place, sizeof place, ":%u:%u (byte %zu)", error->line, error->column, error->offset);
  if (error->pointer[0]) snprintf(pointer, sizeof pointer, " at %s", error->pointer);
  return cli_complain("%s%s%s: %s [%s]", name, place, pointer, message_after(name, error->message),
                      tsl_status_name(error->status));
}

/* ---- vocabularies ---------------------------------------------------------------------------- */

int cli_open_vocab(const char *file, const char *cache, tsl_vocab **out) {
  tsl_vocab_options options = {.cache_dir = cache};
  tsl_error error = {0};
  if (cache && !file) return cli_complain("--vocab-cache goes with --vocab");
  tsl_status status = file ? tsl_vocab_load_file(file, &options, NULL, out, &error)
                           : tsl_vocab_embedded(NULL, out, &error);
  return status == TSL_OK ? CLI_OK
                          : cli_complain_error(file ? file : "embedded vocabulary", &error);
}

/* Characters that nobody sees: soft hyphen, zero width, line ends, marks of direction, byte order
 * mark. Some of them turn the order of others around. */
static bool is_invisible(const unsigned char *at, size_t n) {
  static const char *const characters =
      "\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060"
      "\u2066\u2067\u2068\u2069\ufeff";
  for (const char *c = characters; *c; c += utf8_character((const unsigned char *)c, strlen(c)))
    if (!strncmp(c, (const char *)at, n)) return true;
  return false;
}

/* Bytes of the UTF-8 character at `at` if it is whole, valid and printable; 0 else. */
static size_t printable(const unsigned char *at, size_t left) {
  unsigned char c = at[0];
  if (c < 0x80) return c >= 0x20 && c < 0x7f;
  size_t n = utf8_character(at, left);
  if (c == 0xc2 && n && at[1] < 0xa0) return 0; /* U+0080 … U+009F are control characters */
  return n && is_invisible(at, n) ? 0 : n;
}

static void print_escaped(FILE *to, unsigned char c) {
  static const char plain[] = "\n\r\t\\\"", letter[] = "nrt\\\"";
  const char *found = c ? strchr(plain, c) : NULL;
  if (found)
    fprintf(to, "\\%c", letter[found - plain]);
  else
    fprintf(to, "\\x%02x", c);
}

void cli_print_quoted(FILE *to, const void *bytes, size_t length, size_t limit) {
  const unsigned char *at = bytes;
  size_t i = 0;
  fputc('"', to);
  while (i < length && i < limit) {
    size_t n = at[i] == '\\' || at[i] == '"' ? 0 : printable(at + i, length - i);
    if (n)
      fwrite(at + i, 1, n, to);
    else
      print_escaped(to, at[i]);
    i += n ? n : 1;
  }
  fputs(i < length ? "…\"" : "\"", to);
}

char *cli_quoted(const void *bytes, size_t length, size_t limit) {
  cli_memory text;
  if (!cli_memory_open(&text)) exit(cli_complain("out of memory"));
  cli_print_quoted(text.to, bytes, length, limit);
  if (!cli_memory_close(&text)) exit(cli_complain("out of memory"));
  return text.at;
}

void cli_print_plain(FILE *to, const char *text) {
  const unsigned char *at = (const unsigned char *)text;
  size_t left = strlen(text);
  while (left) {
    size_t n = printable(at, left);
    if (n)
      fwrite(at, 1, n, to);
    else
      print_escaped(to, *at);
    n += !n;
    at += n;
    left -= n;
  }
}

static void print_byte(FILE *to, unsigned b) {
  if (b == '\'')
    fputs("\"'\"", to);
  else if (b >= 0x20 && b < 0x7f)
    fprintf(to, "'%c'", (char)b);
  else
    print_escaped(to, (unsigned char)b);
}

void cli_print_set(FILE *to, const uint32_t set[8]) {
  const char *between = "";
  for (unsigned b = 0; b < 256; b++) {
    if (!(set[b >> 5] >> (b & 31) & 1)) continue;
    unsigned end = b;
    while (end + 1 < 256 && (set[(end + 1) >> 5] >> ((end + 1) & 31) & 1)) end++;
    fputs(between, to);
    between = ", ";
    print_byte(to, b);
    if (end == b) continue;
    if (end > b + 1)
      fputs("–", to);
    else
      fputs(between, to);
    print_byte(to, end);
    b = end;
  }
}

double cli_now(void) { return cli_os_now(); }
double cli_worked(void) { return cli_os_worked(); }

/* ---- options --------------------------------------------------------------------------------- */

/* The option that `name` (up to `length`) spells, and whose settings it changes. */
static const cli_option *find_option(const cli_options *sets, size_t set_count, const char *name,
                                     size_t length, void **settings) {
  for (size_t s = 0; s < set_count; s++)
    for (size_t i = 0; i < sets[s].count; i++) {
      const cli_option *o = &sets[s].table[i];
      if (strlen(o->name) != length || strncmp(o->name, name, length)) continue;
      *settings = sets[s].settings;
      return o;
    }
  return NULL;
}

static void print_help(const cli_command *command, const cli_options *sets, size_t set_count) {
  printf("usage: turnstile %s %s\n\n%s\n\noptions:\n", command->name, command->usage,
         command->summary);
  for (size_t s = 0; s < set_count; s++)
    for (size_t i = 0; i < sets[s].count; i++) {
      const cli_option *o = &sets[s].table[i];
      int width = (int)strlen(o->name);
      if (command->unlisted && one_of(o->name, strlen(o->name), command->unlisted)) continue;
      if (o->value)
        width += printf("  %s %s", o->name, o->value) - 2 - width;
      else
        printf("  %s", o->name);
      printf("%*s %s\n", width < 22 ? 22 - width : 0, "", o->help);
    }
  void *settings;
  bool own = find_option(sets, set_count, "--json", strlen("--json"), &settings) != NULL;
  if (!own)
    printf("  %-22s %s\n", "--json",
           "errors as JSON, one object a line: status, file, line, column, offset, pointer, "
           "keyword, message");
  printf("  %-22s %s\n\n%s", "--help", "this text", command->details);
}

/* Why the last value was refused, "" where nobody said. */
static char why_refused[128];

bool cli_refuse(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why_refused, sizeof why_refused, format, arguments);
  va_end(arguments);
  return false;
}

static void complain_value(const cli_command *command, const cli_option *o, const char *value) {
  if (*why_refused)
    cli_complain("%s: %s %s: %s", command->name, o->name, value, why_refused);
  else if (!*value)
    cli_complain("%s: %s: the value is empty", command->name, o->name);
  else if (strchr(o->value, '|'))
    cli_complain("%s: %s %s: the value is none of %s", command->name, o->name, value, o->value);
  else
    cli_complain("%s: %s %s: %s", command->name, o->name, value, o->help);
}

/* Apply argv[*i] as an option; moves *i over its value. */
static bool apply_option(const cli_command *command, int argc, char **argv, int *i,
                         const cli_options *sets, size_t set_count) {
  const char *argument = argv[*i],
             *equals = !strncmp(argument, "--", 2) ? strchr(argument, '=') : NULL, *value = NULL;
  void *settings = NULL;
  size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
  const cli_option *o = find_option(sets, set_count, argument, length, &settings);
  if (!o && !strcmp(argument, "--json")) return true; /* seen before */
  if (!o) {
    cli_complain("%s: no option %.*s; see turnstile %s --help", command->name, (int)length,
                 argument, command->name);
    return false;
  }
  if (o->value) value = equals ? equals + 1 : *i + 1 < argc ? argv[++*i] : NULL;
  if (o->value && !value) {
    cli_complain("%s: %s needs a value: %s", command->name, o->name, o->value);
    return false;
  }
  if (!o->value && equals) {
    cli_complain("%s: %s takes no value", command->name, o->name);
    return false;
  }
  *why_refused = 0;
  if (o->set(settings, value)) return true;
  complain_value(command, o, value ? value : "");
  return false;
}

bool cli_parse(const cli_command *command, int argc, char **argv, const cli_options *sets,
               size_t set_count, cli_arguments *out) {
  bool options = true;
  *out = (cli_arguments){cli_allocate((size_t)argc + 1, sizeof *out->rest), 0, false};
  for (int i = 0; i < argc && strcmp(argv[i], "--"); i++)
    if (!strcmp(argv[i], "--json")) messages_as_json = true;
  for (int i = 0; i < argc; i++) {
    if (!options || argv[i][0] != '-' || !argv[i][1]) {
      out->rest[out->rest_count++] = argv[i];
    } else if (!strcmp(argv[i], "--")) {
      options = false;
    } else if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
      print_help(command, sets, set_count);
      out->help = true;
      return true;
    } else if (!apply_option(command, argc, argv, &i, sets, set_count)) {
      cli_arguments_free(out);
      return false;
    }
  }
  return true;
}

void cli_arguments_free(cli_arguments *arguments) {
  free(arguments->rest);
  *arguments = (cli_arguments){0};
}

bool cli_number(const char *value, uint64_t low, uint64_t high, uint64_t *out) {
  char *end;
  errno = 0;
  unsigned long long n = strtoull(value, &end, 10);
  if (*value < '0' || *value > '9' || errno || *end || n < low || n > high)
    return cli_refuse("not a whole number from %llu to %llu", (unsigned long long)low,
                      (unsigned long long)high);
  *out = n;
  return true;
}

bool cli_real(const char *value, double low, double high, float *out) {
  char *end;
  double x = strtod(value, &end);
  if (end == value || *end || !(x >= low && x <= high))
    return cli_refuse("not a number from %g to %g", low, high);
  *out = (float)x;
  return true;
}
