/* run.c - turnstile run: what a real model answers under a grammar.
 *
 * The grammar comes from the options that every command has, or from a request with tools
 * (--tools, --preset). Without any the model answers freely, which is what the rest is compared
 * with. The prompt is a message in the model's chat template, a list of messages, or a raw text.
 *
 * Tested by tests/cli/test_cli_models.py, and with a model by tests/models/test_models.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/answer.h"
#include "cli/model/prompt.h"
#include "cli/pictures/trace.h"
#include "cli/steps.h"

#define FREE_TOKENS 256u /* of a free answer, unless --max-tokens says otherwise */

typedef struct settings {
  llama_settings model;
  const char *prompt, *system, *chat, *tools, *preset, *choice, *trace;
  bool raw, steps, no_forced;
} settings;

static bool set_prompt(void *to, const char *v) { return ((settings *)to)->prompt = v, true; }
static bool set_system(void *to, const char *v) { return ((settings *)to)->system = v, true; }
static bool set_chat(void *to, const char *v) { return ((settings *)to)->chat = v, *v != 0; }
static bool set_raw(void *to, const char *v) { return (void)v, ((settings *)to)->raw = true; }
static bool set_tools(void *to, const char *v) { return ((settings *)to)->tools = v, *v != 0; }
static bool set_preset(void *to, const char *v) { return ((settings *)to)->preset = v, *v != 0; }
static bool set_choice(void *to, const char *v) { return ((settings *)to)->choice = v, *v != 0; }
static bool set_trace(void *to, const char *v) { return ((settings *)to)->trace = v, *v != 0; }
static bool set_steps(void *to, const char *v) { return (void)v, ((settings *)to)->steps = true; }
static bool set_no_forced(void *to, const char *v) {
  return (void)v, ((settings *)to)->no_forced = true;
}

static const cli_option table[] = {
    {"--prompt", "TEXT", "what the user says, in the model's chat template", set_prompt},
    {"--system", "TEXT", "with --prompt: what the system says before it", set_system},
    {"--raw", NULL, "with --prompt: the text as it is, without a chat template", set_raw},
    {"--chat", "F", "messages: a list, or a request that has \"messages\"", set_chat},
    {"--tools", "F",
     "instead of a grammar: a request with tools, as turnstile tools reads it; the tools are shown "
     "to "
     "the model",
     set_tools},
    {"--preset", "NAME|F", "with --tools: how the model writes calls (default hermes)", set_preset},
    {"--tool-choice", "C", "with --tools: auto, required, none or a tool's name", set_choice},
    {"--steps", NULL,
     "a line for each token instead of the text as it is written: how many tokens were allowed, "
     "and their probability",
     set_steps},
    {"--trace", "F",
     "write a page to F that shows every step (the record alone if F ends in .json); see turnstile "
     "trace",
     set_trace},
    {"--no-forced", NULL,
     "run the model for every token (default: where the next bytes are forced, they are written "
     "without it)",
     set_no_forced},
};

/* ---- the prompt ------------------------------------------------------------------------------ */

static bool read_json(const char *path, cli_text *text, json_in *out) {
  size_t offset;
  const char *why;
  if (!cli_read(path, text)) return false;
  if (json_in_check(text->at, text->length, out, &offset, &why)) return true;
  return cli_complain("%s: %s at byte %zu", cli_file_name(path), why, offset), false;
}

static bool add_messages(const settings *o, prompt *p) {
  cli_text text = {0};
  json_in value;
  if (!o->chat) {
    if (o->system) prompt_add(p, "system", o->system);
    return prompt_add(p, "user", o->prompt), true;
  }
  bool ok = read_json(o->chat, &text, &value);
  bool request = ok && json_in_kind(value) == '{';
  if (request) value = json_in_member(value, "messages");
  if (ok && !prompt_read(p, value)) {
    cli_complain("%s: %s%s: %s", cli_file_name(o->chat), request ? "/messages" : "", p->pointer,
                 p->why);
    ok = false;
  }
  cli_text_free(&text);
  return ok;
}

static bool is_hermes(const settings *o) {
  return !o->preset || !strcmp(o->preset, "hermes") || !strcmp(o->preset, "qwen3");
}

/* The tools of a request as the model sees them. */
static json_in tools_of(json_in request) {
  if (json_in_kind(request) != '{') return request;
  json_in tools = json_in_member(request, "tools");
  if (!tools.at) tools = json_in_member(request, "functions");
  return tools.at ? tools : request;
}

static bool make_prompt(const settings *o, llama *model, const cli_text *request, prompt *p) {
  size_t offset;
  const char *why;
  json_in value;
  if (o->raw) {
    bool ok =
        llama_encode(model, o->prompt, strlen(o->prompt), true, true, &p->tokens, &p->token_count);
    return ok || (cli_complain("--prompt: the text is too long"), false);
  }
  if (!add_messages(o, p)) return false;
  if (request->at && json_in_check(request->at, request->length, &value, &offset, &why))
    prompt_show_tools(p, tools_of(value), is_hermes(o));
  return prompt_encode(p, model) ||
         (cli_complain("the prompt: %s; --raw takes one as it is", p->why), false);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* What a run has open. */
typedef struct running {
  const settings *o;
  llama *model;
  source *source;
  prompt prompt;
  cli_text request; /* the text of --tools */
  answer_cost cost;
} running;

/* The logits behind the prompt: what a user waits for. */
static bool read_prompt(running *r, uint64_t room) {
  const prompt *p = &r->prompt;
  double start = cli_now();
  if (!llama_prompt(r->model, p->tokens, p->token_count, room) || !llama_logits(r->model))
    return cli_complain("%s", llama_error(r->model)), false;
  r->cost.first_us = cli_now() - start;
  r->cost.prompt = p->token_count;
  r->cost.model_us = -llama_get_sums(r->model)->us;
  r->cost.all_us = -cli_now();
  r->cost.model_worked = -llama_get_sums(r->model)->worked;
  r->cost.worked = -cli_worked();
  return true;
}

static void say_cost(running *r, uint64_t tokens, uint64_t forced) {
  answer_cost *c = &r->cost;
  c->all_us += cli_now();
  c->model_us += llama_get_sums(r->model)->us;
  c->worked += cli_worked();
  c->model_worked += llama_get_sums(r->model)->worked;
  c->passes = llama_get_sums(r->model)->passes;
  c->tokens = tokens;
  c->forced = forced;
  fflush(stdout);
  fprintf(stderr, "%s: ", llama_name(r->model));
  answer_say(stderr, c);
}

static void write_bytes(const void *bytes, size_t length) {
  fwrite(bytes, 1, length, stdout);
  fflush(stdout);
}

/* Without a grammar. */
static int run_free(running *r, const generation_settings *how) {
  tsl_vocab *vocab = r->source->vocab;
  uint64_t most = how->max_tokens ? how->max_tokens : FREE_TOKENS, tokens = 0;
  size_t width = tsl_vocab_logits_width(vocab), length;
  tsl_sampler *sampler = NULL;
  tsl_draw drawn;
  if (!read_prompt(r, most)) return CLI_BAD;
  bool ok = tsl_sampler_new(&how->sampler, NULL, &sampler) == TSL_OK, ended = false;
  while (ok && !ended && tokens < most && !cli_output_failed()) {
    const float *row = llama_logits(r->model);
    ok = row && tsl_sampler_draw(sampler, row, width, NULL, &drawn) == TSL_OK;
    ended = ok && tsl_vocab_is_eog(vocab, drawn.token);
    if (!ok || ended) break;
    const uint8_t *bytes = tsl_vocab_bytes(vocab, drawn.token, &length);
    write_bytes(bytes, length);
    tokens++;
    ok = llama_read(r->model, drawn.token) && tsl_sampler_accept(sampler, drawn.token) == TSL_OK;
  }
  tsl_sampler_free(sampler);
  putchar('\n');
  if (!ok) return cli_complain("the model: %s", llama_error(r->model));
  say_cost(r, tokens, 0);
  if (!ended) cli_complain("the answer was cut after %llu tokens", (unsigned long long)tokens);
  return ended ? CLI_OK : CLI_NO;
}

/* One text under the grammar, or its table of steps. */
static generation_result write_answer(const settings *o, generation *g, tsl_step_sums *sums) {
  generation_step step;
  generation_result result;
  uint64_t number = 0;
  size_t before = 0;
  if (o->steps) steps_head(stdout);
  do {
    result = generation_next(g, &step);
    if (result == GENERATION_MORE && o->steps) steps_line(stdout, g, ++number, &step);
    if (o->steps && step.want.allowed) tsl_step_add(sums, &step.want);
    if (!o->steps && g->text.length > before)
      write_bytes(g->text.at + before, g->text.length - before);
    before = g->text.length;
  } while (result == GENERATION_MORE && !cli_output_failed());
  if (o->steps) {
    putchar('\n');
    write_bytes(g->text.at ? g->text.at : "", g->text.length);
  }
  putchar('\n');
  return result;
}

static bool is_json_file(const char *path) {
  size_t n = strlen(path);
  return n > 5 && !strcmp(path + n - 5, ".json");
}

static int run_under(running *r, generation_settings *how) {
  const settings *o = r->o;
  generation_model real = answer_model(r->model);
  generation g;
  trace record;
  tsl_step_sums sums = {0};
  how->real = &real;
  how->forced = !o->no_forced && !o->trace;
  how->score_all = o->steps;
  if (o->trace && !trace_open(&record, r->source, how)) return CLI_BAD;
  generation_result result = GENERATION_BAD;
  if (generation_open(&g, r->source, how)) {
    if (read_prompt(r, g.max_tokens)) {
      result = o->trace ? trace_text(&record, &g) : write_answer(o, &g, &sums);
      if (o->trace && result != GENERATION_BAD) {
        write_bytes(g.text.at ? g.text.at : "", g.text.length);
        putchar('\n');
        if (!trace_write(&record, o->trace, !is_json_file(o->trace))) result = GENERATION_BAD;
      }
      if (result != GENERATION_BAD) say_cost(r, g.tokens, g.forced_tokens);
    }
    if (sums.steps)
      fprintf(stderr,
              "%llu tokens drawn: probability on allowed tokens %.1f %% in the mean of "
              "logarithms, %.2g %% where it was least\n",
              (unsigned long long)sums.steps, 100 * exp(sums.log_legal_mass / (double)sums.steps),
              100 * sums.least_legal_mass);
    if (result == GENERATION_CUT)
      cli_complain("the answer was cut after %llu tokens; see --max-tokens",
                   (unsigned long long)g.tokens);
    generation_close(&g);
  }
  if (o->trace) trace_close(&record);
  return result == GENERATION_DONE ? CLI_OK : result == GENERATION_CUT ? CLI_NO : CLI_BAD;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* The grammar of --tools, into the source. */
static int open_tools(running *r) {
  source *s = r->source;
  tsl_error error = {0};
  cli_text preset = {0};
  const char *name = r->o->preset ? r->o->preset : "hermes";
  if (strchr(name, '.') && strchr(name, '/')) {
    if (!cli_read(name, &preset)) return CLI_BAD;
    name = preset.at;
  }
  tsl_tools_options options = {.preset = name, .tool_choice = r->o->choice, .schema = &s->schema};
  int code = cli_open_vocab(s->vocab_path, s->vocab_cache, &s->vocab);
  if (code == CLI_OK && tsl_grammar_tools(s->vocab, r->request.at, r->request.length, &options,
                                          NULL, &s->grammar, &error) != TSL_OK)
    code = cli_complain_error(cli_file_name(r->o->tools), &error);
  cli_text_free(&preset);
  s->from = r->o->tools;
  return code;
}

static int open_grammar(running *r) {
  source *s = r->source;
  if (!s->vocab_path) s->vocab_path = r->o->model.model;
  if (r->o->tools) return cli_read(r->o->tools, &r->request) ? open_tools(r) : CLI_BAD;
  return s->kind == SOURCE_NONE ? cli_open_vocab(s->vocab_path, s->vocab_cache, &s->vocab)
                                : source_open(s);
}

static int run_all(const settings *o, source *s, generation_settings *how, const sampling *draws) {
  running r = {.o = o, .source = s};
  int code = open_grammar(&r);
  how->sampler = sampling_of(draws, s->vocab);
  if (code == CLI_OK) {
    r.model = llama_open(&o->model, tsl_vocab_logits_width(s->vocab));
    code = r.model && make_prompt(o, r.model, &r.request, &r.prompt) ? CLI_OK : CLI_BAD;
  }
  if (code == CLI_OK) code = s->grammar ? run_under(&r, how) : run_free(&r, how);
  prompt_free(&r.prompt);
  llama_close(r.model);
  cli_text_free(&r.request);
  return code;
}

/* Does the call make sense? */
static int check(const settings *o, const source *s, const cli_arguments *arguments) {
  if (arguments->rest_count) return cli_complain("run: unexpected argument %s", arguments->rest[0]);
  if (!o->model.model) return cli_complain("run: --model F is needed: a GGUF file");
  if (!o->prompt == !o->chat) return cli_complain("run: one of --prompt and --chat is needed");
  if (o->chat && (o->system || o->raw))
    return cli_complain("run: --system and --raw go with --prompt");
  if (o->raw && (o->system || o->tools))
    return cli_complain("run: --raw goes without --system and --tools");
  if (o->tools && s->kind != SOURCE_NONE)
    return cli_complain("run: --tools makes a grammar of its own: without --schema, --regex, "
                        "--grammar, --lark and --artifact");
  if (!o->tools && (o->preset || o->choice))
    return cli_complain("run: --preset and --tool-choice go with --tools");
  if (s->kind == SOURCE_NONE && !o->tools && (o->steps || o->trace))
    return cli_complain("run: --steps and --trace need a grammar");
  if (o->steps && o->trace) return cli_complain("run: --steps goes without --trace");
  return CLI_OK;
}

static int run(int argc, char **argv) {
  source s = {0};
  generation_settings how = generation_defaults();
  sampling draws = sampling_defaults();
  settings o = {0};
  draws.o.temperature = 0;
  how.any_spelling = true; /* the grammar sees to it, and so knows what is forced */
  s.schema.spelling = TSL_SPELLING_PLAIN;
  s.schema.whitespace = TSL_WS_PRETTY;
  s.schema.indent = 2;
  cli_options sets[] = {llama_options(&o.model),
                        {table, sizeof table / sizeof *table, &o},
                        source_options(&s, SOURCE_MASKS),
                        generation_options(&how),
                        sampling_table(&draws)};
  cli_arguments arguments;
  if (!cli_parse(&cli_run, argc, argv, sets, 5, &arguments)) return CLI_BAD;
  int code = CLI_OK;
  if (!arguments.help) {
    code = check(&o, &s, &arguments);
    if (code == CLI_OK) code = run_all(&o, &s, &how, &draws);
  }
  source_close(&s);
  cli_arguments_free(&arguments);
  return code;
}

const cli_command cli_run = {
    "run",
    "--model F.gguf (--prompt TEXT | --chat F) [--schema F | … | --tools F] [options]",
    "what a real model answers under a grammar, through llama.cpp",
    "The model's vocabulary is read from its file. Without a grammar the model answers freely.\n"
    "The text goes to stdout while it is written; a line with its cost follows on stderr: tokens a "
    "second, forced tokens, the share of masks.\n"
    "Temperature 0 is the default here: the most likely token. So is --ws pretty:2, the white "
    "space that models write by themselves.\n"
    "llama.cpp's library is opened when it is needed: `./dev fetch model` brings it, with a small "
    "model.\n"
    "exit codes: 0 the text is complete; 1 it was cut; 2 the call, the grammar, the model or a "
    "file is bad.\n",
    run,
    NULL};
