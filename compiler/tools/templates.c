/* templates.c - the preset that goes with a chat template.
 *
 * Problem   A server has a model's chat template (Jinja, out of tokenizer_config.json or a GGUF
 *           file) and wants the preset. Templates of one family differ in every line but in those
 *           that write a call.
 * Idea      A table of what must be in the text and what must not, in an order: the first row that
 *           fits is the preset. Markup that only one family has stands first; what several share
 *           (<tool_call>) is decided by what else is there. Nothing is run: a template that makes
 *           its markup out of pieces is known by its pieces.
 * Example   "<tool_call>" and "<arg_key>": glm4. "<tool_call>" and "<function=": qwen3-coder.
 * Order     Rows are tried from the first on. A family that uses the markup of another one, and
 *           adds its own, has its row before the other's. With "<tool_call>" alone none of the
 *           special rows fits, and the general one (hermes) is reached.
 * Steps     A template has "<tool_call>", "<arg_key>" and "<arg_value>". The rows before glm4 need
 *           texts that it lacks. The row glm4 needs the first two: the preset is glm4, and no later
 *           row is tried, such as qwen3-coder's, which needs "<function=" and "<parameter=".
 * Shared    MiMo writes the markup of Qwen3-Coder with values on the same line. A template that has
 *           both in pieces does not show where a line ends. So the answer is qwen3-coder, whose
 *           grammar reads both.
 * Config    A tokenizer_config.json is read as JSON, and its "chat_template" searched.
 * Unknown   Where no row fits the preset is unknown. Rows whose first text is there are near.
 * Cost      A search of the text for each row: some microseconds.
 * Tested by tests/programs/test_templates.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/tools/tools.h"

typedef struct row {
  const char *preset;
  const char *has[3], *lacks; /* has: all of them; NULL: no more */
} row;

static const row rows[] = {
    {"minimax-m3", {"]<]minimax[>["}, NULL},
    {"minimax", {"<minimax:tool_call>"}, NULL},
    {"minimax-m1", {"<tool_calls>", "<beginning_of_sentence>"}, NULL},
    {"kimi-k3", {"<|open|>", "<|sep|>"}, NULL},
    {"kimi-k2", {"<|tool_call_begin|>", "<|tool_call_argument_begin|>"}, NULL},
    {"solar-open", {"<|tool_call:begin|>"}, NULL},
    {"deepseek-v3", {"<｜tool▁calls▁begin｜>", "```json"}, NULL},
    {"deepseek-v3.1", {"<｜tool▁calls▁begin｜>"}, NULL},
    {"deepseek-v3.2", {"DSML｜", "function_calls>"}, NULL},
    {"deepseek-v4", {"DSML｜", "tool_calls>"}, NULL},
    {"deepseek-v4.1", {"DSML｜", " calls>"}, NULL},
    {"step3", {"<steptml:"}, NULL},
    {"gigachat3.5", {"<｜GCML｜"}, NULL},
    {"gigachat3", {"<|role_sep|>", "function call"}, NULL},
    {"gigachat3", {"<|role_sep|>", "<|function_call|>"}, NULL},
    {"dots", {"<dots_function_call>"}, NULL},
    {"iquest-q1", {"<iquest_tool_call>"}, NULL},
    {"k2-horizon", {"<ifm|tool_call>"}, NULL},
    {"muse-glimmer", {"<atem:function_calls>"}, NULL},
    {"minicpm5", {"<function name=\"", "<param name=\""}, NULL},
    {"plamo3", {"plamo:", "tool_request"}, NULL},
    {"inkling", {"<|content_invoke_tool_json|>"}, NULL},
    {"apriel", {"<tool_calls>", "[BEGIN FINAL RESPONSE]"}, NULL},
    {"apertus", {"<|tools_prefix|>"}, NULL},
    {"cohere", {"<cofl:"}, NULL},
    {"command", {"<|START_ACTION|>"}, NULL},
    {"gemma4", {"<|tool_call>"}, NULL},
    {"functiongemma", {"<start_function_call>"}, NULL},
    {"seed-oss", {"<seed:tool_call>"}, NULL},
    {"longcat", {"<longcat_tool_call>"}, NULL},
    {"nemotron-nano-v2", {"<TOOLCALL>"}, NULL},
    {"internlm", {"<|plugin|>"}, NULL},
    {"mistral-v11", {"[TOOL_CALLS]", "[ARGS]"}, NULL},
    {"mistral", {"[TOOL_CALLS]"}, NULL},
    {"phi4", {"<|tool_call|>", "<|/tool_call|>"}, NULL},
    {"granite3", {"<|tool_call|>"}, NULL},
    {"hunyuan-3", {"<tool_sep{}>", "<tool_calls{}>"}, NULL}, /* with a suffix put in */
    {"hunyuan-3", {"<tool_sep>", "<tool_calls>"}, NULL},
    {"hunyuan-4", {"<tool_calls>", "<arg_key>"}, NULL},
    {"hunyuan-4", {"<tool_calls{}>", "<arg_key{}>"}, NULL},
    {"hunyuan-a13b", {"<tool_calls>", "<answer>"}, NULL},
    {"granite-20b", {"<function_call>"}, "<tool_call>"},
    {"jamba", {"<tool_calls>", "<|bom|>"}, NULL},
    {"llama4", {"<|header_start|>", "ipython"}, "<|python_start|>"},
    {"llama4-pythonic", {"<|header_start|>", "<|python_start|>"}, NULL},
    {"lfm2", {"<|tool_call_start|>"}, NULL},
    {"lfm2", {"<|tool_list_start|>"}, NULL},
    {"glm4", {"<arg_key>", "<tool_call>"}, NULL},
    {"qwen3-coder", {"<function=", "<parameter="}, NULL},
    {"functionary-v3.1", {"<function=", "</function>"}, NULL},
    {"functionary-v3.2", {">>>all"}, NULL},
    {"gpt-oss", {"<|channel|>", "<|message|>", "functions."}, NULL},
    {"olmo3", {"<function_calls>", "<functions>"}, NULL},
    {"exaone4", {"[|assistant|]", "<tool_call>"}, NULL},
    {"ernie45", {"<response>", "<tool_call>"}, NULL},
    {"hermes", {"<tool_call>", "FunctionCall"}, NULL},      /* Hermes 2 to 4 */
    {"hermes", {"<tool_call>", "<|start_of_role|>"}, NULL}, /* Granite 4 */
    {"hermes", {"<tool_call>", "<|function_list|>"}, NULL}, /* Bielik */
    {"hermes", {"<tool_call>", "<role>ASSISTANT"}, NULL},   /* Ling, Ring */
    {"hermes", {"<tool_call>", "MiMo", "<function-name>"}, NULL},
    {"hermes", {"<tool_call>", "<sep>", "<function-name>"}, NULL}, /* Reka */
    {"qwen3", {"<tool_call>", "<args-json-object>"}, NULL},
    {"llama3", {"{\"name\": function name, \"parameters\": dictionary"}, NULL},
};
#define ROWS (sizeof rows / sizeof *rows)

static bool fits(const row *r, tsl__string text) {
  for (int i = 0; i < 3 && r->has[i]; i++)
    if (!tsl__string_has(text, tsl__string_of(r->has[i]))) return false;
  return !r->lacks || !tsl__string_has(text, tsl__string_of(r->lacks));
}

static tsl__string text_of(const tsl__json *value) {
  return value && value->kind == TSL__JSON_STRING ? (tsl__string){value->text, value->length}
                                                  : (tsl__string){NULL, 0};
}

/* The template of a tokenizer_config.json: the only one, or that for tools; else the first. */
static tsl__string template_of(const tsl__json *config) {
  const tsl__json *all = tsl__json_member(config, "chat_template");
  tsl__string found = text_of(all);
  for (uint32_t i = 0; all && all->kind == TSL__JSON_ARRAY && i < all->length; i++) {
    const tsl__json *name = tsl__json_member(&all->items[i], "name");
    if (!found.at || tsl__json_says(name, "tool_use"))
      found = text_of(tsl__json_member(&all->items[i], "template"));
  }
  return found;
}

static const char *find(tsl__string text, const char **near_presets, size_t *count) {
  const char *found = NULL;
  size_t room = near_presets && count ? *count : 0, n = 0;
  for (size_t i = 0; i < ROWS && !found; i++)
    if (fits(&rows[i], text)) found = rows[i].preset;
  for (size_t i = 0; i < ROWS && n < room; i++) {
    bool known = found && !strcmp(found, rows[i].preset);
    for (size_t k = 0; k < n && !known; k++) known = !strcmp(near_presets[k], rows[i].preset);
    if (!known && tsl__string_has(text, tsl__string_of(rows[i].has[0])))
      near_presets[n++] = rows[i].preset;
  }
  if (count) *count = n;
  return found;
}

tsl_status tsl_tools_template(const char *text, size_t length, const char **preset,
                              const char **near_presets, size_t *count) {
  tsl__arena arena;
  tsl__json *root = NULL;
  if (!preset || (!text && length) || length > UINT32_MAX) return TSL_ERR_ARGUMENT;
  tsl__string jinja = {text ? text : "", (uint32_t)length};
  *preset = NULL;
  tsl__arena_init(&arena, &tsl__malloc);
  tsl_status status = length && text[0] == '{'
                          ? tsl__json_parse(&arena, NULL, text, length, 64, &root, NULL)
                          : TSL_ERR_SYNTAX;
  bool config = status == TSL_OK && root->kind == TSL__JSON_OBJECT;
  if (config) jinja = template_of(root);
  if (status != TSL_ERR_NO_MEMORY) status = config && !jinja.at ? TSL_ERR_SCHEMA : TSL_OK;
  if (status == TSL_OK)
    *preset = find(jinja, near_presets, count);
  else if (count)
    *count = 0;
  tsl__arena_free(&arena);
  return status;
}
