/* mend_ends.c - texts of tokens that end an answer, or stand in front of one. See mend.h.
 *
 * Problem   `{"name": "f", "parameters": {}}<|eom_id|>`: a server may leave special tokens in the
 *           text. So do tests and logs. They are no content.
 * Idea      A list of what models end their turns with. Of a preset those count that none of its
 *           markup holds: <|end|> closes a message of gpt-oss.
 * Held      compiler/tags/mending.c holds back what may become one of them, and drops those at the
 *           end of an answer. In the middle of an answer they are text: somebody may ask which
 *           token ends a text of Llama 2.
 * Headers   Chat templates end with <|im_start|>assistant and such. A model may write it
 *           again, and a server may keep it in front of the answer.
 * Example   of gpt-oss: all but <|end|> and <|return|>
 * Tested by tests/programs/test_lenient.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/tools/mend.h"

static const char *const all[] = {"</s>",
                                  "<eos>",
                                  "[EOS]",
                                  "[e~[",
                                  "<|eos|>",
                                  "<|eot|>",
                                  "<|eom|>",
                                  "<|end|>",
                                  "<|EOT|>",
                                  "<turn|>",
                                  "<|user|>",
                                  "<|return|>",
                                  "<|eot_id|>",
                                  "<|eom_id|>",
                                  "<|im_end|>",
                                  "<seed:eos>",
                                  "<|role_end|>",
                                  "<end_of_turn>",
                                  "[|endofturn|]",
                                  "<|endofturn|>",
                                  "<|endoftext|>",
                                  "<|end_of_text|>",
                                  "<|observation|>",
                                  "<|assistant_end|>",
                                  "<|tool_response>",
                                  "<|END_OF_TURN_TOKEN|>",
                                  "<start_function_response>",
                                  "<\xEF\xBD\x9C"
                                  "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>"};

static bool is_markup(const tsl__mend_plan *p, tsl__string end) {
  for (uint32_t i = 0; i < p->text_count; i++)
    if (tsl__string_has(p->texts[i].text, end)) return true;
  for (uint32_t i = 0; i < p->form_count; i++)
    if (tsl__string_has(p->forms[i].start, end)) return true;
  return false;
}

/* Those texts that are no markup, each ended by NUL, and an empty one. */
static char *joined(const tsl__mend_plan *p, const char *const *texts, size_t count) {
  size_t n = 1;
  for (size_t i = 0; i < count; i++) n += strlen(texts[i]) + 1;
  char *out = tsl__arena_alloc(p->arena, n), *to = out;
  for (size_t i = 0; out && i < count; i++) {
    if (is_markup(p, tsl__string_of(texts[i]))) continue;
    memcpy(to, texts[i], strlen(texts[i]) + 1);
    to += strlen(texts[i]) + 1;
  }
  if (out) *to = 0;
  return out;
}

char *tsl__mend_ends(const tsl__mend_plan *p) { return joined(p, all, sizeof all / sizeof *all); }

static const char *const headers[] = {"\xEF\xBB\xBF", /* a byte order mark */
                                      "<bos>",
                                      "<|begin_of_text|>",
                                      "<|startoftext|>",
                                      "<\xEF\xBD\x9C"
                                      "begin\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>",
                                      "<\xEF\xBD\x9C"
                                      "Assistant\xEF\xBD\x9C>",
                                      "<|assistant|>",
                                      "[|assistant|]",
                                      "<|im_start|>assistant",
                                      "<start_of_turn>model",
                                      "<|turn>model",
                                      "<|start_header_id|>assistant<|end_header_id|>",
                                      "<|header_start|>assistant<|header_end|>",
                                      "<|start_of_role|>assistant<|end_of_role|>",
                                      "<|role_start|>assistant<|role_end|>",
                                      "<|im_assistant|>assistant<|im_middle|>",
                                      "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
                                      "<seed:bos>assistant",
                                      "]~b]ai"};

char *tsl__mend_begins(const tsl__mend_plan *p) {
  return joined(p, headers, sizeof headers / sizeof *headers);
}
