"""vLLM: structured outputs served by Turnstile.    python vllm_json.py MODEL

A server needs no program: vllm serve MODEL --structured-outputs-config.backend turnstile

SPDX-License-Identifier: Apache-2.0
"""

import sys

from vllm import LLM, SamplingParams
from vllm.sampling_params import StructuredOutputsParams

import turnstile.vllm

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 4}, "age": {"enum": ["18", "19"]}},
    "required": ["name", "age"],
    "additionalProperties": False,
}

if __name__ == "__main__":
    turnstile.vllm.add_backend()
    llm = LLM(
        sys.argv[1],
        max_model_len=512,
        enforce_eager=True,
        block_size=32,
        structured_outputs_config={"backend": "turnstile", "disable_any_whitespace": True},
    )
    params = SamplingParams(max_tokens=100, structured_outputs=StructuredOutputsParams(json=SCHEMA))
    print(llm.generate(["Describe a person, as JSON:"], params, use_tqdm=False)[0].outputs[0].text)
