"""llama-server --grammar-engine turnstile: an answer under a JSON Schema.

    llama-server -m MODEL.gguf --grammar-engine turnstile --port 8080
    python llama_server_json.py http://127.0.0.1:8080

SPDX-License-Identifier: Apache-2.0
"""

import json
import sys
import urllib.request

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 20},
        "age": {"type": "integer", "minimum": 18, "maximum": 80, "multipleOf": 3},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}

body = {
    "messages": [{"role": "user", "content": "Describe a person, as JSON."}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA}},
}
request = urllib.request.Request(
    f"{sys.argv[1]}/v1/chat/completions",
    json.dumps(body).encode(),
    {"Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as answer:
    print(json.load(answer)["choices"][0]["message"]["content"])
