#!/usr/bin/env python3
"""Chat templates and the presets that go with them: `turnstile tools --template F`.

  table      every template of llama.cpp (build/llama.cpp, may be absent): its preset, or None where
             no preset reads what the model writes
  lines      the lines that write a call, in templates that are not there
  files      a tokenizer_config.json with its template, one with several, one without
  unknown    exit code 1, and the presets that share markup

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tally  # noqa: E402 - the folder is no package
from tally import check  # noqa: E402

CLI = os.environ.get("TSL_CLI", str(ROOT / "build" / "turnstile"))
LLAMA = pathlib.Path(os.environ.get("TSL_LLAMA", ROOT / "build" / "llama.cpp"))
TEMPLATES = LLAMA / "models" / "templates"

TABLE = {
    "Apertus-8B-Instruct": "apertus",
    "Apriel-1.6-15b-Thinker-fixed": "apriel",
    "Bielik-11B-v3.0-Instruct": "hermes",
    "ByteDance-Seed-OSS": "seed-oss",
    "Cohere2MoE": "command",
    "CohereForAI-c4ai-command-r-plus-tool_use": None,
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use": "command",
    "GLM-4.6": "glm4",
    "GLM-4.7-Flash": "glm4",
    "GigaChat3-10B-A1.8B": "gigachat3",
    "GigaChat3.1-10B-A1.8B": "gigachat3",
    "HuggingFaceTB-SmolLM3-3B": None,
    "Kimi-K2-Instruct": "kimi-k2",
    "Kimi-K2-Thinking": "kimi-k2",
    "Kimi-K3": "kimi-k3",
    "LFM2-8B-A1B": "lfm2",
    "LFM2.5-8B-A1B": "lfm2",
    "LFM2.5-Instruct": None,
    "MiMo-VL": "hermes",
    "MiniMax-M1": "minimax-m1",
    "MiniMax-M2": "minimax",
    "MiniMax-M3": "minimax-m3",
    "Mistral-Small-3.2-24B-Instruct-2506": "mistral-v11",
    "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": "qwen3-coder",
    "NVIDIA-Nemotron-Nano-v2": "nemotron-nano-v2",
    "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use": "hermes",
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use": "hermes",
    "Qwen-QwQ-32B": "qwen3",
    "Qwen-Qwen2.5-7B-Instruct": "qwen3",
    "Qwen-Qwen3-0.6B": "qwen3",
    "Qwen3-Coder": "qwen3-coder",
    "Qwen3.5-4B": "qwen3-coder",
    "Reka-Edge": "hermes",
    "Spark2.5": "glm4",
    "StepFun3.5-Flash": "qwen3-coder",
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B": "deepseek-v3",
    "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B": "deepseek-v3",
    "deepseek-ai-DeepSeek-V3.1": "deepseek-v3.1",
    "deepseek-ai-DeepSeek-V3.2": "deepseek-v3.2",
    "deepseek-ai-DeepSeek-V4": "deepseek-v4",
    "deepseek-ai-DeepSeek-V4-Flash-0731": "deepseek-v4",
    "fireworks-ai-llama-3-firefunction-v2": None,
    "google-gemma-2-2b-it": None,
    "google-gemma-4-31B-it": "gemma4",
    "google-gemma-4-31B-it-interleaved": "gemma4",
    "ibm-granite-granite-3.3-2B-Instruct": "granite3",
    "ibm-granite-granite-4.0": "hermes",
    "ibm-granite-granite-4.1": "hermes",
    "inclusionai-ling-3.0-flash": "glm4",
    "llama-cpp-deepseek-r1": "deepseek-v3",
    "llama-cpp-rwkv-world": None,
    "meetkai-functionary-medium-v3.1": "functionary-v3.1",
    "meetkai-functionary-medium-v3.2": "functionary-v3.2",
    "meta-llama-Llama-3.1-8B-Instruct": "llama3",
    "meta-llama-Llama-3.2-3B-Instruct": "llama3",
    "meta-llama-Llama-3.3-70B-Instruct": "llama3",
    "microsoft-Phi-3.5-mini-instruct": None,
    "mistralai-Ministral-3-14B-Reasoning-2512": "mistral-v11",
    "mistralai-Mistral-Nemo-Instruct-2407": "mistral",
    "moonshotai-Kimi-K2": "kimi-k2",
    "muse-glimmer": "muse-glimmer",
    "openai-gpt-oss-120b": "gpt-oss",
    "openbmb-MiniCPM5-1B": "minicpm5",
    "poolside-Laguna-S-2.1": "glm4",
    "poolside-Laguna-XS-2.1": "glm4",
    "poolside-Laguna-XS.2": "glm4",
    "tencent-Hy3": "hunyuan-3",
    "unsloth-Apriel-1.5": "apriel",
    "unsloth-mistral-Devstral-Small-2507": "mistral-v11",
    "upstage-Solar-Open-100B": "solar-open",
}
LINES = {
    "dots": "{{ '<dots_function_call>\\n<invoke name=\"' }}",
    "gigachat3.5": "{{ '<｜GCML｜tool_calls>\\n' }}",
    "granite-20b": "{{ '<function_call> ' + call | tojson }}",
    "hunyuan-4": "{{ '<tool_calls>' }}{{ '<tool_call>' + name }}{{ '<arg_key>' + key }}",
    "inkling": "{{ '<|message_model|>' + name + '<|content_invoke_tool_json|>' }}",
    "iquest-q1": "{{ '<iquest_tool_call>' + name }}{{ '<arg_key>' + key }}",
    "k2-horizon": "{{ '<ifm|tool_calls>\\n' }}{{ '<ifm|tool_call>' + name }}",
    "plamo3": "{{ '<|plamo:begin_tool_request:plamo|>' }}",
    "cohere": "{{ '<cofl:tool_calls><cofl:tool_call id=\"' }}",
    "functiongemma": "{{ '<start_function_call>call:' + name + '{' }}",
    "longcat": '{{ \'<longcat_tool_call>\\n{"name": "\' }}',
    "step3": "{{ '<steptml:invoke name=\"' + name + '\">' }}",
    "phi4": "{{ '<|tool_call|>' + calls + '<|/tool_call|>' }}",
    "exaone4": "{{ '[|assistant|]' }}{{ '<tool_call>' }}",
    "jamba": "{{ '<|bom|><|assistant|>' }}{{ '<tool_calls>[\\n    ' }}",
    "hunyuan-a13b": "{{ '<answer>\\n' }}{{ '<tool_calls>' }}",
    "internlm": "{{ '<|action_start|><|plugin|>' }}",
    "deepseek-v4.1": "{{ '<' + '｜DSML｜' + ' calls>' }}",
}


def ask(file):
    done = subprocess.run([CLI, "tools", "--template", file], capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


def is_preset(file, preset):
    code, found, error = ask(file)
    good = found and found["preset"] == preset and code == (0 if preset else 1)
    check(good, file, preset, code, found, error)


def main():
    for file in sorted(TEMPLATES.glob("*.jinja")):
        check(file.stem in TABLE, "no row for", file.name)
        is_preset(file, TABLE.get(file.stem))
    if not TEMPLATES.is_dir():
        tally.skip(f"{TEMPLATES} is not there")
    with tempfile.TemporaryDirectory() as name:
        file = pathlib.Path(name) / "template"
        for preset, line in LINES.items():
            file.write_text(f"{{%- for m in messages %}}{line}{{%- endfor %}}", encoding="utf-8")
            is_preset(file, preset)
        config = {"chat_template": LINES["step3"], "eos_token": "x"}
        file.write_text(json.dumps(config), encoding="utf-8")
        is_preset(file, "step3")
        several = [{"name": "default", "template": "x"}, {"name": "tool_use", "template": "<cofl:"}]
        file.write_text(json.dumps({"chat_template": several}), encoding="utf-8")
        is_preset(file, "cohere")
        file.write_text("{}", encoding="utf-8")
        code, found, error = ask(file)
        check(code == 2 and "chat_template" in error, "no template", code, found, error)
        file.write_text("{{ '<tool_calls>' }} <tool_call>", encoding="utf-8")
        code, found, error = ask(file)
        check(code == 1 and found["preset"] is None, "unknown", code, found, error)
        near = {"minimax-m1", "hunyuan-4", "hunyuan-a13b", "jamba", "hermes", "qwen3", "apriel"}
        check(set(found["near"]) == near, "near", found)
        check("no preset" in error, "unknown", error)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
