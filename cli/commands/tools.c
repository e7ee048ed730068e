/* tools.c - turnstile tools: what a model may answer to a request with tools.
 *
 * Without a text it prints the structural tag of the answer. With --parse it reads an answer back.
 * With --compile it says how long compiling took. With --generate it writes answers by random
 * draws.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "cli/commands/tools_read.h"
#include "cli/common.h"
#include "cli/json_out.h"
#include "cli/os.h"
#include "cli/source.h"

#define NUDGES_MAX 64
#define TOKENS_MAX 8000u /* of one answer: one that is brought to its end takes fewer */

typedef struct settings {
  const char *preset, *tools, *choice, *parse, *vocab, *vocab_cache, *tags, *jinja;
  int parallel;
  tsl_thinking thinking;
  bool list, compile, stream, null, masks, strict, lenient, tokens;
  uint64_t generate, seed, max_thinking, budget;
  tsl_schema_options schema;
  const char *nudge[NUDGES_MAX];
  size_t nudge_count;
} settings;

/* Options that set one field: to their text, or to what the option itself says. */
#define SET(name, field, value, fine)                        \
  static bool set_##name(void *to, const char *v) {          \
    return (void)v, ((settings *)to)->field = (value), fine; \
  }
SET(preset, preset, v, true)
SET(tools, tools, v, true)
SET(tags, tags, v, true)
SET(template, jinja, v, true)
SET(choice, choice, v, *v != 0)
SET(parse, parse, v, true)
SET(vocab, vocab, v, *v != 0)
SET(vocab_cache, vocab_cache, v, *v != 0)
SET(parallel, parallel, 1, true)
SET(serial, parallel, -1, true)
SET(list, list, true, true)
SET(compile, compile, true, true)
SET(stream, stream, true, true)
SET(null, null, true, true)
SET(masks, masks, true, true)
SET(strict, strict, true, true)
SET(tokens, tokens, true, true)
SET(lenient, lenient, true, true)
#undef SET

static bool set_nudge(void *to, const char *v) {
  settings *o = to;
  return o->nudge_count < NUDGES_MAX && *v ? o->nudge[o->nudge_count++] = v, true : false;
}
static bool set_generate(void *to, const char *v) {
  return cli_number(v, 1, 100000, &((settings *)to)->generate);
}
static bool set_max_thinking(void *to, const char *v) {
  return cli_number(v, 1, INT32_MAX, &((settings *)to)->max_thinking);
}
static bool set_seed(void *to, const char *v) {
  return cli_number(v, 0, UINT64_MAX, &((settings *)to)->seed);
}
static bool set_budget(void *to, const char *v) {
  return cli_number(v, 1, TOKENS_MAX, &((settings *)to)->budget);
}
static bool set_order(void *to, const char *v) {
  ((settings *)to)->schema.order = !strcmp(v, "any") ? TSL_ORDER_ANY : TSL_ORDER_SCHEMA;
  return !strcmp(v, "any") || !strcmp(v, "schema") || !strcmp(v, "preferred");
}
static bool set_whitespace(void *to, const char *v) {
  return source_whitespace(v, &((settings *)to)->schema);
}
static bool set_spelling(void *to, const char *v) {
  ((settings *)to)->schema.spelling = !strcmp(v, "any") ? TSL_SPELLING_ANY : TSL_SPELLING_PLAIN;
  return !strcmp(v, "any") || !strcmp(v, "plain");
}
static bool set_generous(void *to, const char *v) {
  return (void)v, ((settings *)to)->schema.generous = true;
}

static bool set_thinking(void *to, const char *v) {
  static const char *const words[] = {"auto", "on", "off"};
  for (int i = 0; i < 3; i++)
    if (!strcmp(v, words[i])) return ((settings *)to)->thinking = (tsl_thinking)i, true;
  return false;
}

static const cli_option table[] = {
    {"--preset", "NAME|F",
     "how the model writes calls: a name of --list, a model's name, or a file", set_preset},
    {"--tools", "F",
     "a request (OpenAI chat completions or responses, Anthropic messages), an MCP tools/list "
     "result, or an array of tools",
     set_tools},
    {"--tags", "F", "a structural tag, in place of --preset, --tools and their options", set_tags},
    {"--tool-choice", "C", "auto, required, none or a tool's name (default: what the request says)",
     set_choice},
    {"--parallel", NULL, "several calls are allowed (default: what the request says, else yes)",
     set_parallel},
    {"--no-parallel", NULL, "one call at most", set_serial},
    {"--thinking", "T", "auto (default), on or off", set_thinking},
    {"--max-thinking", "N", "at most N tokens of thinking in a block", set_max_thinking},
    {"--order", "any|schema|preferred",
     "order of the members of arguments: the schema's (schema or preferred, the default) or any",
     set_order},
    {"--ws", "plain[:LINES:COLUMNS]|compact|at-most:N|pretty[:INDENT]|any",
     "white space inside of arguments and response formats (default: plain)", set_whitespace},
    {"--spelling", "plain|any",
     "numbers and strings as printers of JSON write them (default), or in every spelling",
     set_spelling},
    {"--generous", NULL, "for reading: --order any, --ws any and --spelling any together",
     set_generous},
    {"--budget", "N", "with --generate: an answer takes N tokens at most", set_budget},
    {"--vocab", "F", CLI_VOCABS " (default: the embedded vocabulary)", set_vocab},
    {"--vocab-cache", "DIR", CLI_VOCAB_CACHE, set_vocab_cache},
    {"--parse", "F", "read an answer back: writes its text, thinking and calls as JSON", set_parse},
    {"--stream", NULL, "with --parse: read byte by byte, and write each part as it becomes certain",
     set_stream},
    {"--tokens", NULL,
     "with --parse: encode the answer with --vocab first, and read it token by token", set_tokens},
    {"--strict", NULL,
     "with --parse: read what the mask allows and nothing else (default: an answer that does not "
     "match is read once more, leniently)",
     set_strict},
    {"--lenient", NULL,
     "with --parse: refuse no answer: mend what models write beside the format, and say what was "
     "mended",
     set_lenient},
    {"--null", NULL,
     "with --parse: the file holds several answers, each ended by a NUL byte; one line of JSON for "
     "each, null where it does not match",
     set_null},
    {"--generate", "N",
     "write N answers by random draws under the mask, as {\"text\", \"tokens\", \"parsed\"}, a "
     "line each",
     set_generate},
    {"--seed", "S", "for --generate (default 0)", set_seed},
    {"--nudge", "TEXT",
     "with --generate: write TEXT, or a beginning of it, now and then where it is allowed (at most "
     "64 times)",
     set_nudge},
    {"--masks", NULL,
     "with --generate: before each answer a line {\"token\", \"mask\"} per token; mask: its bytes "
     "in hexadecimal",
     set_masks},
    {"--compile", NULL, "compile, and say how long it and the first mask took", set_compile},
    {"--list", NULL, "list the presets", set_list},
    {"--template", "F",
     "say which preset goes with a chat template: Jinja, or a tokenizer_config.json; exit code 1 "
     "if "
     "it is unknown",
     set_template},
};

/* ---- compiling ------------------------------------------------------------------------------- */

typedef struct job {
  const settings *o;
  cli_text request, preset;
  tsl_tools_options options;
  tsl_vocab *vocab;
  tsl_grammar *grammar;
} job;

static const char *request_path(const settings *o) { return o->tags ? o->tags : o->tools; }

static bool known_preset(const char *name) {
  const char *known, *json;
  for (size_t i = 0; tsl_tools_preset(i, &known, &json); i++)
    if (!strcmp(name, known)) return true;
  return false;
}

static bool open_job(job *j, const settings *o) {
  j->o = o;
  j->options = (tsl_tools_options){.preset = o->preset,
                                   .tool_choice = o->choice,
                                   .parallel = o->parallel,
                                   .thinking = o->thinking,
                                   .max_thinking_tokens = (uint32_t)o->max_thinking,
                                   .lenient = o->lenient,
                                   .schema = &o->schema,
                                   .report = o->compile ? NULL : cli_print_left_out};
  if (!cli_read(request_path(o), &j->request)) return false;
  /* what is no file either is the name of a model, or an error that lists names like it */
  if (o->preset && !known_preset(o->preset) &&
      (!strcmp(o->preset, "-") || cli_os_there(o->preset))) {
    if (!cli_read(o->preset, &j->preset)) return false;
    /* its { distinguishes it from a name */
    j->options.preset = j->preset.at + strspn(j->preset.at, " \t\r\n");
    if (*j->options.preset != '{')
      return cli_complain("%s: no preset: it must be a JSON object", cli_file_name(o->preset)),
             false;
  }
  return cli_open_vocab(o->vocab, o->vocab_cache, &j->vocab) == CLI_OK;
}

static void print_nothing(void *ctx, const char *line) { (void)ctx, (void)line; }

/* Say what is wrong, and with which file: with a preset that serves no plain request either, or
 * with the request. */
static int complain(job *j, const tsl_error *error) {
  static const char plain[] = "[{\"type\": \"function\", \"function\": {\"name\": \"a\"}}]";
  tsl_tools_options options = {.preset = j->options.preset};
  tsl_error own;
  if (error->status == TSL_ERR_ARGUMENT && !error->line) /* an option is wrong, and no file */
    return cli_complain("tools: %s", error->message);
  bool in_preset = j->preset.at && tsl_tools_write(j->vocab, plain, sizeof plain - 1, &options,
                                                   print_nothing, NULL, &own) != TSL_OK;
  return in_preset ? cli_complain_error(cli_file_name(j->o->preset), &own)
                   : cli_complain_error(cli_file_name(request_path(j->o)), error);
}

static bool compile(job *j) {
  tsl_error error;
  tsl_status status = j->o->tags ? tsl_grammar_tags(j->vocab, j->request.at, j->request.length,
                                                    &j->o->schema, NULL, &j->grammar, &error)
                                 : tsl_grammar_tools(j->vocab, j->request.at, j->request.length,
                                                     &j->options, NULL, &j->grammar, &error);
  if (status != TSL_OK) complain(j, &error);
  if (status == TSL_OK && !j->o->compile) cli_print_warnings(j->grammar, "");
  return status == TSL_OK;
}

static void close_job(job *j) {
  tsl_grammar_release(j->grammar);
  tsl_vocab_release(j->vocab);
  cli_text_free(&j->request);
  cli_text_free(&j->preset);
}

/* ---- printing -------------------------------------------------------------------------------- */

static void print_line(void *ctx, const char *line) {
  (void)ctx;
  puts(line);
}

static int print_tags(job *j) {
  tsl_error error;
  if (j->o->tags)
    return cli_complain(
        "tools: --tags is a structural tag already; say --compile, --parse or --generate");
  if (tsl_tools_write(j->vocab, j->request.at, j->request.length, &j->options, print_line, NULL,
                      &error) != TSL_OK)
    return complain(j, &error);
  return compile(j) ? CLI_OK : CLI_BAD; /* what is wrong with the schemas of the tag */
}

static int list_presets(void) {
  const char *name, *json;
  for (size_t i = 0; tsl_tools_preset(i, &name, &json); i++) puts(name);
  return CLI_OK;
}

/* {"preset": NAME or null, "near": [NAME, ...]} */
static int find_template(const char *path) {
  const char *preset, *others[16];
  size_t count = sizeof others / sizeof *others;
  cli_text text = {0};
  if (!cli_read(path, &text)) return CLI_BAD;
  tsl_status status = tsl_tools_template(text.at, text.length, &preset, others, &count);
  cli_text_free(&text);
  if (status == TSL_ERR_SCHEMA)
    return cli_complain("%s: the JSON has no chat_template", cli_file_name(path));
  if (status != TSL_OK) return cli_complain("tools: %s", tsl_status_name(status));
  fputs("{\"preset\": ", stdout);
  if (preset)
    json_out_string(preset, strlen(preset));
  else
    fputs("null", stdout);
  fputs(", \"near\": [", stdout);
  for (size_t i = 0; i < count; i++) {
    if (i) fputs(", ", stdout);
    json_out_string(others[i], strlen(others[i]));
  }
  puts("]}");
  if (!preset)
    cli_complain("%s: no preset is known for this template; see docs/tools.md to write one",
                 cli_file_name(path));
  return preset ? CLI_OK : CLI_NO;
}

static int time_compile(job *j) {
  tsl_matcher *m = NULL;
  double best = 0, best_mask = 0;
  uint32_t *mask = cli_allocate(tsl_vocab_mask_words(j->vocab), sizeof *mask);
  int code = CLI_OK;
  for (int i = 0; i < 6 && code == CLI_OK; i++) { /* the first one warms the vocabulary */
    tsl_grammar_release(j->grammar);
    j->grammar = NULL;
    double start = cli_now();
    code = compile(j) ? CLI_OK : CLI_BAD;
    double compiled = cli_now();
    if (code == CLI_OK &&
        (tsl_matcher_new(j->grammar, NULL, &m) != TSL_OK || tsl_matcher_mask(m, mask) != TSL_OK))
      code = cli_complain("tools: no mask");
    double masked = cli_now();
    if (i == 1 || (i > 1 && masked - start < best_mask))
      best = compiled - start, best_mask = masked - start;
    tsl_matcher_free(m);
    m = NULL;
  }
  if (code == CLI_OK) printf("compiled in %.0f us, first mask after %.0f us\n", best, best_mask);
  free(mask);
  return code;
}

/* ---- parsing --------------------------------------------------------------------------------- */

static int parse(job *j) {
  const tools_reading how = {
      j->vocab,     j->grammar, &j->options,  &j->request,
      j->o->stream, j->o->null, j->o->tokens, !j->o->strict && !j->o->lenient && !j->o->tags};
  return tools_read(&how, j->o->parse);
}

/* ---- generating ------------------------------------------------------------------------------ */

static uint64_t next_random(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* A random allowed token; TSL_NO_TOKEN if there is none. Long tokens are drawn as often as short
 * ones. */
static tsl_token draw(const uint32_t *mask, size_t width, uint64_t *state) {
  size_t n = tsl_mask_count(mask, width), pick = n ? next_random(state) % n : 0;
  for (size_t w = 0; n && w * 32 < width; w++) {
    size_t here = (size_t)__builtin_popcount(mask[w]);
    if (pick >= here) {
      pick -= here;
      continue;
    }
    for (tsl_token t = (tsl_token)(w * 32);; t++)
      if (tsl_mask_has(mask, t) && pick-- == 0) return t;
  }
  return TSL_NO_TOKEN;
}

typedef struct answer {
  tsl_matcher *m;
  tsl_budget *budget; /* NULL: any number of tokens */
  uint64_t tokens_max;
  tsl_parser *p;
  cli_text text;
  uint32_t *mask;
  uint64_t tokens;
} answer;

static bool take(job *j, answer *a, tsl_token t) {
  size_t n;
  const uint8_t *bytes = tsl_vocab_bytes(j->vocab, t, &n);
  if (tsl_matcher_accept(a->m, t) != TSL_OK)
    return cli_complain("tools: a token of the mask was rejected"), false;
  if (tsl_parser_token(a->p, t) != TSL_OK)
    return cli_complain("tools: the parser rejects what the matcher accepts"), false;
  if (!tsl_vocab_is_eog(j->vocab, t)) cli_text_add(&a->text, bytes, n);
  a->tokens++;
  return true;
}

/* The allowed token after which the least is missing. */
static tsl_token towards_end(job *j, answer *a) {
  uint64_t best = UINT64_MAX;
  tsl_token found = TSL_NO_TOKEN;
  size_t width = tsl_vocab_logits_width(j->vocab), looked = 0;
  uint32_t ends;
  const tsl_token *eog = tsl_vocab_eog(j->vocab, &ends);
  for (uint32_t i = 0; i < ends; i++)
    if (tsl_mask_has(a->mask, eog[i])) return eog[i];
  for (tsl_token t = 0; t < width && looked < 3000; t++) {
    uint64_t left;
    if (!tsl_mask_has(a->mask, t)) continue;
    looked++;
    if (tsl_matcher_accept(a->m, t) != TSL_OK ||
        tsl_matcher_shortest_completion(a->m, &left) != TSL_OK)
      return TSL_NO_TOKEN;
    tsl_matcher_rollback(a->m, 1);
    if (left < best) best = left, found = t;
  }
  return found;
}

/* An allowed token that the text begins with, one of the longest four at random; TSL_NO_TOKEN if
 * there is none. */
static tsl_token spell(job *j, const answer *a, const char *text, size_t length, uint64_t *state) {
  tsl_token found[4] = {TSL_NO_TOKEN};
  size_t lengths[4] = {0}, kinds = 0, size = tsl_vocab_size(j->vocab);
  for (tsl_token t = 0; t < size; t++) {
    size_t n, k = 0;
    const uint8_t *bytes = tsl_vocab_bytes(j->vocab, t, &n);
    if (!tsl_mask_has(a->mask, t) || !n || n > length || memcmp(bytes, text, n)) continue;
    while (k < 3 && lengths[k] > n) k++;
    if (n < lengths[k]) continue;
    for (size_t i = 3; i > k; i--) found[i] = found[i - 1], lengths[i] = lengths[i - 1];
    found[k] = t;
    lengths[k] = n;
  }
  while (kinds < 4 && lengths[kinds]) kinds++;
  return kinds ? found[next_random(state) % kinds] : TSL_NO_TOKEN;
}

typedef struct nudge {
  const char *text; /* what is left of it; NULL: none is under way */
  size_t length;
} nudge;

static tsl_token next_token(job *j, answer *a, nudge *n, uint64_t *state) {
  if (!n->text && j->o->nudge_count && next_random(state) % 6 == 0) {
    n->text = j->o->nudge[next_random(state) % j->o->nudge_count];
    n->length = strlen(n->text);
    if (next_random(state) % 3 == 0) n->length = next_random(state) % n->length + 1;
  }
  if (n->text) {
    size_t length;
    tsl_token t = spell(j, a, n->text, n->length, state);
    tsl_vocab_bytes(j->vocab, t, &length);
    if (t != TSL_NO_TOKEN && length < n->length)
      n->text += length, n->length -= length;
    else
      n->text = NULL;
    if (t != TSL_NO_TOKEN) return t;
  }
  return draw(a->mask, tsl_vocab_logits_width(j->vocab), state);
}

/* With a budget the tokens after which it can be kept. */
static bool make_mask(answer *a) {
  uint64_t left = a->tokens < a->tokens_max ? a->tokens_max - a->tokens : 0;
  return (a->budget ? tsl_budget_mask(a->budget, a->m, left, a->mask)
                    : tsl_matcher_mask(a->m, a->mask)) == TSL_OK;
}

/* The matcher is at the beginning of an answer. */
static int start_budget(const job *j, answer *a) {
  tsl_error error;
  a->tokens_max = j->o->budget;
  if (!a->tokens_max) return CLI_OK;
  if (!a->budget && tsl_budget_new(j->grammar, NULL, &a->budget) != TSL_OK)
    return cli_complain("tools: no memory for a budget");
  return tsl_budget_start(a->budget, a->m, a->tokens_max, &error) == TSL_OK
             ? CLI_OK
             : cli_complain("tools: --budget %llu: %s", (unsigned long long)a->tokens_max,
                            error.message);
}

static void print_mask(const job *j, const answer *a, tsl_token t) {
  size_t words = tsl_vocab_mask_words(j->vocab);
  printf("{\"token\": %u, \"mask\": \"", t);
  for (size_t i = 0; i < words; i++)
    for (int b = 0; b < 4; b++) printf("%02x", a->mask[i] >> (8 * b) & 0xFFu);
  puts("\"}");
}

static bool call_ended(answer *a) {
  tsl_part part;
  bool ended = false;
  while (tsl_parser_next(a->p, &part)) ended |= part.kind == TSL_PART_CALL_END;
  return ended;
}

/* A token that goes on, if there is one. */
static tsl_token go_on(job *j, answer *a, uint64_t *state) {
  uint32_t ends;
  const tsl_token *eog = tsl_vocab_eog(j->vocab, &ends);
  for (uint32_t i = 0; i < ends; i++) a->mask[eog[i] / 32] &= ~(1u << eog[i] % 32);
  return draw(a->mask, tsl_vocab_logits_width(j->vocab), state);
}

/* Random tokens, then the shortest way to the end; after a call often another one. */
static int write_answer(job *j, answer *a, uint64_t *state) {
  nudge n = {NULL, 0};
  uint64_t room = 20 + next_random(state) % 80, more = next_random(state) % 4;
  for (bool after_call = false;;) {
    if (!make_mask(a)) return cli_complain("tools: no mask");
    tsl_token t = TSL_NO_TOKEN;
    if (after_call && more) {
      more--;
      room = a->tokens + 5 + next_random(state) % 30;
      t = go_on(j, a, state);
      make_mask(a);
    }
    if (t == TSL_NO_TOKEN) t = a->tokens > room ? towards_end(j, a) : next_token(j, a, &n, state);
    if (t == TSL_NO_TOKEN || a->tokens > TOKENS_MAX)
      return cli_complain("tools: dead end after %llu tokens: %.*s", (unsigned long long)a->tokens,
                          (int)a->text.length, a->text.at);
    if (j->o->masks) print_mask(j, a, t);
    if (!take(j, a, t)) return CLI_BAD;
    if (tsl_matcher_is_terminated(a->m)) return CLI_OK;
    after_call = call_ended(a);
  }
}

/* The whole text at once, and byte by byte, must be read as the tokens were. */
static bool read_alike(tsl_parser *p, const answer *a) {
  const char *text = a->text.at ? a->text.at : "", *wanted = tsl_parser_json(a->p);
  for (size_t step = a->text.length ? a->text.length : 1, i = 0; i < 2; i++, step = 1) {
    tsl_status status = TSL_OK;
    tsl_part part;
    tsl_parser_reset(p);
    for (size_t at = 0; at < a->text.length && status == TSL_OK; at += step) {
      status = tsl_parser_text(p, text + at, step);
      while (tsl_parser_next(p, &part)) continue;
    }
    if (status != TSL_OK || tsl_parser_finish(p) != TSL_OK || !wanted ||
        strcmp(tsl_parser_json(p), wanted))
      return cli_complain("tools: read %s the answer is not the same: %.*s",
                          i ? "byte by byte" : "as a whole", (int)a->text.length, text),
             false;
  }
  return true;
}

static int generate(job *j) {
  tsl_parser *again = NULL;
  answer a = {.mask = cli_allocate(tsl_vocab_mask_words(j->vocab), sizeof(uint32_t))};
  uint64_t state = j->o->seed;
  int code = tsl_matcher_new(j->grammar, NULL, &a.m) == TSL_OK &&
                     tsl_parser_new(j->grammar, NULL, &a.p) == TSL_OK &&
                     tsl_parser_new(j->grammar, NULL, &again) == TSL_OK
                 ? CLI_OK
                 : cli_complain("tools: no matcher");
  for (uint64_t i = 0; i < j->o->generate && code == CLI_OK && !cli_output_failed(); i++) {
    tsl_matcher_reset(a.m);
    tsl_parser_reset(a.p);
    a.text.length = a.tokens = 0;
    code = start_budget(j, &a);
    if (code == CLI_OK) code = write_answer(j, &a, &state);
    if (code == CLI_OK && !read_alike(again, &a)) code = CLI_BAD;
    if (code != CLI_OK) break;
    printf("{\"text\": ");
    json_out_string(a.text.at ? a.text.at : "", a.text.length);
    printf(", \"tokens\": %llu, \"parsed\": %s}\n", (unsigned long long)a.tokens,
           tsl_parser_json(a.p));
  }
  tsl_budget_free(a.budget);
  tsl_matcher_free(a.m);
  tsl_parser_free(a.p);
  tsl_parser_free(again);
  cli_text_free(&a.text);
  free(a.mask);
  return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int work(const settings *o) {
  job j = {0};
  int code = open_job(&j, o) ? CLI_OK : CLI_BAD;
  if (code == CLI_OK && o->compile)
    code = time_compile(&j);
  else if (code == CLI_OK && !o->parse && !o->generate)
    code = print_tags(&j);
  else if (code == CLI_OK)
    code = !compile(&j) ? CLI_BAD : o->parse ? parse(&j) : generate(&j);
  close_job(&j);
  return code;
}

static int run(int argc, char **argv) {
  settings o = {0};
  cli_options sets[] = {{table, sizeof table / sizeof *table, &o}};
  cli_arguments arguments;
  if (!cli_parse(&cli_tools, argc, argv, sets, 1, &arguments)) return CLI_BAD;
  int code = CLI_OK;
  if (arguments.help)
    code = CLI_OK;
  else if (arguments.rest_count)
    code = cli_complain("tools: %s is no option", arguments.rest[0]);
  else if (o.list)
    code = list_presets();
  else if (o.jinja)
    code = find_template(o.jinja);
  else if (!o.tags && (!o.preset || !o.tools))
    code = cli_complain("tools: give --preset and --tools, or --tags");
  else if (o.tags &&
           (o.preset || o.tools || o.choice || o.parallel || o.thinking || o.max_thinking))
    code = cli_complain("tools: --tags stands without --preset, --tools, --tool-choice, "
                        "--parallel, --no-parallel, --thinking and --max-thinking");
  else if ((o.null || o.stream || o.strict || o.lenient || o.tokens) && !o.parse)
    code =
        cli_complain("tools: --stream, --null, --tokens, --strict and --lenient go with --parse");
  else if (o.lenient && (o.strict || o.tags))
    code = cli_complain("tools: --lenient does not go with --strict or --tags");
  else if ((o.masks || o.nudge_count) && !o.generate)
    code = cli_complain("tools: --nudge and --masks go with --generate");
  else if (o.null && o.stream)
    code = cli_complain("tools: --stream does not go with --null");
  else
    code = work(&o);
  cli_arguments_free(&arguments);
  return code;
}

const cli_command cli_tools = {
    "tools",
    "--preset NAME --tools F [options]",
    "what a model may answer to a request with tools: print, compile, write, read back",
    "exit codes: 0 done; 1 with --parse, the answer (with --null: one of them) does not match; 2 "
    "the call, the request, the preset or a file is bad.\n"
    "  turnstile tools --preset qwen3 --tools request.json\n"
    "  turnstile tools --preset qwen3 --tools request.json --parse answer.txt\n",
    run,
    NULL};
