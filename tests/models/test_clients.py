#!/usr/bin/env python3
"""Clients of OpenAI's interface against turnstile serve, and type checkers over the package.

  openai     chat with a schema, a pydantic class, tools, streams; responses and their streams
  instructor, pydantic-ai, langchain-openai   an object of a pydantic class
  types      mypy and pyright (basedpyright) over tests/models/typed.py and the examples

The server writes with the tool's n-gram model (TSL_MODEL: a GGUF file instead). ./dev test models
runs this with the packages of scripts/hosts/models.lock. Arguments name parts; none: all.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import traceback

import jsonschema
import pydantic

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLI = os.environ.get("TSL_CLI", str(ROOT / "build" / "turnstile"))
PACKAGE = os.environ.get("TSL_PYTHON", str(ROOT / "build" / "bindings" / "python"))
MODEL = os.environ.get("TSL_MODEL", "random")
counts = {"passed": 0, "failed": 0}
os.environ.update(LANGSMITH_TRACING="false", LANGCHAIN_TRACING_V2="false", DO_NOT_TRACK="1")


class Person(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    name: str = pydantic.Field(min_length=1, max_length=12)
    age: int = pydantic.Field(ge=0, le=130)


PARAMETERS = {
    "type": "object",
    "properties": {"city": {"enum": ["Rome", "Oslo"]}, "days": {"enum": [1, 2, 3]}},
    "required": ["city", "days"],
    "additionalProperties": False,
}
TOOL = {"name": "weather", "description": "The weather of a city", "parameters": PARAMETERS}
ASK = [{"role": "user", "content": "Anna is 30. The weather in Rome?"}]


def check(condition, what):
    counts["passed" if condition else "failed"] += 1
    if not condition:
        print(f"  FAILED: {what}")


def is_valid(text, schema):
    try:
        jsonschema.validate(json.loads(text), schema)
        return True
    except (ValueError, jsonschema.ValidationError):
        return False


def openai_chat(url):
    import openai

    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    check(client.models.list().data[0].id, "a list of models")
    said = client.chat.completions.parse(model="m", messages=ASK, response_format=Person)
    check(isinstance(said.choices[0].message.parsed, Person), f"a pydantic class: {said}")
    tools = [{"type": "function", "function": TOOL}]
    asking = {"model": "m", "messages": ASK, "tools": tools, "tool_choice": "required"}
    calls = client.chat.completions.create(**asking).choices[0].message.tool_calls
    check(
        calls and all(is_valid(c.function.arguments, PARAMETERS) for c in calls), f"calls: {calls}"
    )
    pieces = {}
    for chunk in client.chat.completions.create(**asking, stream=True):
        for call in (chunk.choices[0].delta.tool_calls or []) if chunk.choices else []:
            pieces[call.index] = pieces.get(call.index, "") + (call.function.arguments or "")
    check(pieces and all(is_valid(p, PARAMETERS) for p in pieces.values()), f"pieces: {pieces}")
    wanted = {"type": "json_schema", "json_schema": {"name": "a", "schema": PARAMETERS}}
    text = ""
    for chunk in client.chat.completions.create(
        model="m",
        messages=ASK,
        response_format=wanted,
        stream=True,
        stream_options={"include_usage": True},
    ):
        if chunk.choices:
            text += chunk.choices[0].delta.content or ""
        else:
            check(chunk.usage.completion_tokens > 0, f"usage: {chunk}")
    check(is_valid(text, PARAMETERS), f"a stream: {text!r}")
    try:
        bad = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": 3}}}
        client.chat.completions.create(model="m", messages=ASK, response_format=bad)
        check(False, "a schema that is none")
    except openai.BadRequestError as error:
        check("type" in str(error), f"an error with its place: {error}")


def openai_responses(url):
    import openai

    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    said = client.responses.parse(model="m", input="Anna is 30.", text_format=Person)
    check(isinstance(said.output_parsed, Person), f"a pydantic class: {said}")
    tools = [{"type": "function", **TOOL, "strict": True}]
    asking = {"model": "m", "input": "Rome?", "tools": tools, "tool_choice": "required"}
    with client.responses.stream(**asking) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    check("response.function_call_arguments.delta" in kinds, f"pieces of arguments: {set(kinds)}")
    calls = [item for item in final.output if item.type == "function_call"]
    check(calls and all(is_valid(c.arguments, PARAMETERS) for c in calls), f"calls: {final.output}")


def with_instructor(url):
    import instructor
    import openai

    client = instructor.from_openai(
        openai.OpenAI(base_url=url, api_key="none", max_retries=0), mode=instructor.Mode.TOOLS
    )
    person = client.chat.completions.create(
        model="m", messages=ASK, response_model=Person, max_retries=0
    )
    check(isinstance(person, Person), f"instructor: {person!r}")


def with_pydantic_ai(url):
    import pydantic_ai
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=url, api_key="none"))
    for output in (Person, pydantic_ai.NativeOutput(Person)):
        found = pydantic_ai.Agent(model, output_type=output).run_sync("Anna is 30.").output
        check(isinstance(found, Person), f"pydantic-ai: {found!r}")


def with_langchain(url):
    import langchain_openai

    model = langchain_openai.ChatOpenAI(model="m", base_url=url, api_key="none", max_retries=0)
    for method in ("json_schema", "function_calling"):
        found = model.with_structured_output(Person, method=method).invoke("Anna is 30.")
        check(isinstance(found, Person), f"langchain ({method}): {found!r}")
    parts = list(model.with_structured_output(Person, method="json_schema").stream("Anna is 30."))
    check(parts and isinstance(parts[-1], Person), f"langchain's stream: {parts}")


def types(url):
    variables = {**os.environ, "PYTHONPATH": PACKAGE, "MYPYPATH": PACKAGE}
    typed = str(ROOT / "tests" / "models" / "typed.py")
    folder = pathlib.Path(sys.executable).parent
    for command in (
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", typed],
        [str(folder / "basedpyright"), "--level", "error", typed],
    ):
        done = subprocess.run(
            command,
            cwd=PACKAGE,
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        check(done.returncode == 0, f"{command[1:3]}: {done.stdout[-2000:]} {done.stderr[-500:]}")


PARTS = (openai_chat, openai_responses, with_instructor, with_pydantic_ai, with_langchain, types)


def main(names):
    call = [CLI, "serve", "--model", MODEL, "--port", "0"]
    server = subprocess.Popen(call, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    line = server.stdout.readline()
    if "http://" not in line:
        sys.exit(f"turnstile serve does not start: {line!r}")
    url = f"http://127.0.0.1:{line.rsplit(':', 1)[1].strip()}/v1"
    for part in PARTS:
        if names and part.__name__ not in names:
            continue
        try:
            part(url)
        except Exception:  # a client's own errors: the other parts go on
            traceback.print_exc(limit=-3)
            check(False, f"{part.__name__} raised")
        print(f"  {part.__name__}", flush=True)
    server.send_signal(signal.SIGTERM)
    check(server.wait(timeout=20) == 0, "the server ends at a signal")
    print(f"{counts['passed']} passed, {counts['failed']} failed, 0 skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
