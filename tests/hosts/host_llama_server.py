#!/usr/bin/env python3
"""llama-server with --grammar-engine turnstile: llama.cpp's own server with
bindings/llama.cpp/server.patch, built from its sources, with requests over HTTP.

A tiny random model with Llama 3's vocabulary answers under schemas, of which one is too much for
llama.cpp's own engine. SmolLM2 answers, too. PyPI's jsonschema judges the answers. A schema that
Turnstile refuses gets an error with its JSON pointer. Without the option the server is what it was.

    python tests/hosts/host_llama_server.py     (./dev test hosts llama_server)

The build is 212 files, kept in build/llama.cpp-lib: 36 minutes of one core on a busy machine.
So ./dev test hosts runs this where the server is built, or by its name.

SPDX-License-Identifier: Apache-2.0
"""

import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import jsonschema

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import common
import host_llama

SERVER = host_llama.LIBRARY / "bin" / "llama-server"
SMOLLM = common.BUILD / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
WAIT = 300  # seconds until the server has its model; some five on an idle machine
# Without places for white space, of which a random model writes a lot.
SCHEMAS = [
    {"enum": ["yes", "no", "it depends"]},
    {"type": "integer", "minimum": -9999, "maximum": 9999, "multipleOf": 7},
    {"type": "string", "pattern": "^[a-z]+-[0-9]{3}$", "maxLength": 20},
]
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 20},
        "age": {"type": "integer", "minimum": 18, "maximum": 80, "multipleOf": 3},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
GBNF = 'root ::= [a-c]{2,8} "-" [0-9]'


@contextlib.contextmanager
def server(model, *options):
    """A server on a free port, which is the value."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [SERVER, "-m", model, "--port", port, "-c", 2048, "-np", 1, "-t", 1, *options]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        try:
            start = time.monotonic()
            while ask(port, "/health", None)[0] != 200:
                if process.poll() is not None or time.monotonic() > start + WAIT:
                    log.seek(0)
                    print(log.read()[-3000:], file=sys.stderr)
                    common.missing("llama-server did not start")
                time.sleep(0.2)
            yield port
        finally:
            process.terminate()
            process.wait()


def ask(port, path, body):
    """Status and answer of a request."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", data, {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
    except OSError as error:
        return 0, {"error": str(error)}


def chat(port, schema, seed, **more):
    """The text of an answer under a response_format, and its number of tokens."""
    body = {
        "messages": [{"role": "user", "content": "Describe a person, as JSON."}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}},
        "max_tokens": 400,
        "seed": seed,
        "temperature": 1.0,
        **more,
    }
    status, answer = ask(port, "/v1/chat/completions", body)
    if status != 200:
        return f"status {status}: {answer}", 0
    return answer["choices"][0]["message"]["content"], answer["usage"]["completion_tokens"]


class Judge:
    def __init__(self, counts):
        self.counts, self.texts, self.tokens = counts, 0, 0

    def check(self, good, what):
        self.counts["passed" if good else "failed"] += 1
        if not good:
            print(f"  FAILED: {what}")

    def text(self, text, schema, tokens):
        self.texts, self.tokens = self.texts + 1, self.tokens + tokens
        try:
            jsonschema.validate(json.loads(text), schema)
            self.check(True, "")
        except (ValueError, jsonschema.ValidationError) as error:
            self.check(False, f"{text!r}: {str(error).splitlines()[0]}")


def try_tiny(judge, model):
    with server(model, "--grammar-engine", "turnstile") as port:
        for schema in SCHEMAS:
            for seed in range(4):
                text, tokens = chat(port, schema, seed)
                judge.text(text, schema, tokens)
            body = {"prompt": "Hello", "json_schema": schema, "n_predict": 400, "temperature": 1.0}
            status, answer = ask(port, "/completion", body)
            judge.text(answer.get("content", ""), schema, answer.get("tokens_predicted", 0))
            judge.check(status == 200, f"/completion: {status} {answer}")
        body = {"prompt": "Hello", "grammar": GBNF, "n_predict": 400, "temperature": 1.0}
        status, answer = ask(port, "/completion", body)
        text = answer.get("content", "")
        judge.check(re.fullmatch("[a-c]{2,8}-[0-9]", text), f"GBNF: {status} {text!r}")
        refused = {"type": "object", "properties": {"a": {"type": "integer", "minimum": "x"}}}
        status, answer = ask(port, "/completion", {"prompt": "Hello", "json_schema": refused})
        good = status >= 400 and "/properties/a/minimum" in str(answer)
        judge.check(good, f"a bad schema: {status} {answer}")
        text, _ = chat(port, refused, 1)
        judge.check("status 400" in text, f"a bad schema in response_format: {text}")
    with server(model) as port:
        text, _ = chat(port, SCHEMAS[0], 1)
        judge.check(text in map(json.dumps, SCHEMAS[0]["enum"]), f"without the option: {text!r}")
    done = subprocess.run(
        [SERVER, "--grammar-engine", "none"], capture_output=True, text=True, check=False
    )
    judge.check("unknown engine none" in done.stderr + done.stdout, "an engine that is not there")


def main():
    if not host_llama.VOCABULARY.is_file():
        common.missing(f"{host_llama.VOCABULARY} is not there: ./dev fetch llama")
    common.say("building llama-server (once; 36 minutes of one core on a busy machine)")
    version = host_llama.build("llama-server")
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    judge = Judge(counts)
    with tempfile.TemporaryDirectory(dir=common.BUILD) as folder:
        tiny = pathlib.Path(folder, "tiny.gguf")
        common.run([common.venv("llama"), "tests/hosts/tiny_gguf.py", host_llama.VOCABULARY, tiny])
        try_tiny(judge, tiny)
    if SMOLLM.is_file():
        with server(SMOLLM, "--grammar-engine", "turnstile") as port:
            for seed in range(2):
                text, tokens = chat(port, PERSON, seed)
                judge.text(text, PERSON, tokens)
                print(f"  SmolLM2: {text}")
            example = "bindings/python/examples/llama_server_json.py"
            text = common.run([sys.executable, example, f"http://127.0.0.1:{port}"])
            judge.check(set(json.loads(text)) == {"name", "age"}, f"{example}: {text}")
    else:
        counts["skipped"] += 1
        print("  SmolLM2 was not tried: ./dev fetch model")
    common.end(
        counts,
        f"llama-server of llama.cpp {version} with bindings/llama.cpp/server.patch, "
        "--grammar-engine turnstile: response_format, json_schema, GBNF, a refused schema; "
        f"{common.account(counts, judge.texts, judge.tokens)}",
    )


if __name__ == "__main__":
    os.chdir(common.ROOT)
    main()
