"""vLLM: structured outputs served by Turnstile.    python vllm_json.py MODEL

SPDX-License-Identifier: Apache-2.0
"""

import os
import sys

os.environ["TURNSTILE_VLLM"] = (
    "1"  # every process of vLLM registers Turnstile: this is all that it takes
)

from vllm import LLM, SamplingParams  # noqa: E402
from vllm.sampling_params import StructuredOutputsParams  # noqa: E402

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 4}, "age": {"enum": ["18", "19"]}},
    "required": ["name", "age"],
    "additionalProperties": False,
}

if __name__ == "__main__":
    llm = LLM(
        sys.argv[1],
        max_model_len=512,
        enforce_eager=True,
        block_size=32,
        structured_outputs_config={"backend": "xgrammar", "disable_any_whitespace": True},
    )  # the backend that Turnstile replaces
    params = SamplingParams(max_tokens=100, structured_outputs=StructuredOutputsParams(json=SCHEMA))
    print(llm.generate(["Describe a person, as JSON:"], params, use_tqdm=False)[0].outputs[0].text)
