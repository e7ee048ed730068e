/* test_named_presets.c - presets by names of models, and what is said of names that are none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/tags.h"

#include "compiler/tools/tools.h"

/* The preset of a name, or "" */
static const char *preset_of(const char *name) {
  const char *text = tsl__preset_named(name), *known, *json;
  for (size_t i = 0; text && tsl_tools_preset(i, &known, &json); i++)
    if (json == text) return known;
  return "";
}

static void is(const char *name, const char *preset) {
  CHECKF(!strcmp(preset_of(name), preset), "%s: %s, not %s", name, preset_of(name), preset);
}

static void test_models(void) {
  is("Qwen/Qwen3-8B", "qwen3");
  is("Qwen/Qwen2.5-7B-Instruct", "qwen3");
  is("Qwen/Qwen3-Coder-30B-A3B-Instruct", "qwen3-coder");
  is("meta-llama/Llama-3.1-8B-Instruct", "llama3");
  is("meta-llama/Meta-Llama-3.1-70B", "llama3");
  is("deepseek-ai/DeepSeek-V3.1", "deepseek-v3.1");
  is("deepseek-ai/DeepSeek-V3-0324", "deepseek-v3");
  is("deepseek-ai/DeepSeek-R1-0528", "deepseek-v3");
  is("openai/gpt-oss-20b", "gpt-oss");
  is("zai-org/GLM-4.6", "glm4");
  is("mistralai/Magistral-Small-2509", "mistral-v11");
  is("moonshotai/Kimi-K2-Instruct", "kimi-k2");
  is("/models/folder/gemma-3-27b-it", "gemma3");
  is("CohereLabs/c4ai-command-r7b-12-2024", "command");
  is("MiniMaxAI/MiniMax-M2", "minimax");
  is("NousResearch/Hermes-3-Llama-3.1-8B", "hermes");
}

/* A model whose name begins like that of another family, and that writes no calls of it. */
static void test_none(void) {
  is("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "");
  is("meta-llama/Llama-3-8B", "");
  is("CohereLabs/c4ai-command-r-plus", "");
  is("qwen35", "");
  is("gpt-4", "");
  is("", "");
  is("/", "");
}

/* Every preset's own name, as it is and as people write it, is that preset. Every row of the table
 * names one that there is. */
static void test_own_names(void) {
  const char *known, *json;
  for (size_t i = 0; tsl_tools_preset(i, &known, &json); i++) {
    char name[80];
    snprintf(name, sizeof name, "Owner/%s_7B", known);
    is(known, known);
    CHECKF(*preset_of(name), "%s", name);
  }
#define TSL__MODEL(begin, preset) is(begin, preset);
#include "compiler/tools/models.def"
#undef TSL__MODEL
}

static void test_near(void) {
  char message[320];
  tsl__preset_near("qwen33", message, sizeof message);
  CHECKF(strstr(message, "no preset \"qwen33\"") && strstr(message, "nearest presets: qwen3"), "%s",
         message);
  char name[2000];
  memset(name, 'x', sizeof name - 1);
  name[sizeof name - 1] = 0;
  tsl__preset_near(name, message, sizeof message);
  CHECKF(strlen(message) < sizeof message && !strstr(message, "nearest"), "%s", message);
  tsl__preset_near("xyz", message, 10);
  CHECKF(strlen(message) == 9, "%s", message);
}

static void test_compiled(void) {
  static const char request[] = "[{\"name\":\"ping\"}]";
  tsl_vocab *vocab = NULL;
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_tools_options o = {.preset = "Qwen/Qwen3-8B"};
  CHECK(tsl_vocab_embedded(NULL, &vocab, &error) == TSL_OK);
  CHECKF(tsl_grammar_tools(vocab, request, sizeof request - 1, &o, NULL, &g, &error) == TSL_OK,
         "%s", error.message);
  tsl_grammar_release(g);
  o.preset = "qwen33";
  CHECK(tsl_grammar_tools(vocab, request, sizeof request - 1, &o, NULL, &g, &error) ==
        TSL_ERR_ARGUMENT);
  CHECKF(strstr(error.message, "nearest presets: qwen3"), "%s", error.message);
  tsl_vocab_release(vocab);
}

int main(void) {
  RUN(test_models, "names of models");
  RUN(test_none, "models that write no calls of a preset");
  RUN(test_own_names, "names of presets, and rows of the table");
  RUN(test_near, "names that are none");
  RUN(test_compiled, "a grammar by the name of a model");
  return tsl_test_end();
}
