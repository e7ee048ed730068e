#!/usr/bin/env python3
"""turnstile serve with its n-gram model: the examples of docs/serve.md, and the protocol. Many
clients come at once, some are slow, some go away, some send large bodies or garbage.

SPDX-License-Identifier: Apache-2.0
"""

import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

import cli_checks
from cli_checks import CLI, ROOT, check, expect, skip

CHAT = "/v1/chat/completions"
AGE = {
    "type": "object",
    "properties": {"age": {"type": "integer", "minimum": 0, "maximum": 150}},
    "required": ["age"],
    "additionalProperties": False,
}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "look",
            "parameters": {
                "type": "object",
                "properties": {"city": {"enum": ["Rome", "Oslo"]}},
                "required": ["city"],
                "additionalProperties": False,
            },
        },
    }
]


def format_of(schema):
    return {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}


def asking(schema, **more):
    return {"messages": [], "response_format": format_of(schema), **more}


LONG = asking({"type": "string", "minLength": 3000, "maxLength": 4000}, max_tokens=4000)

# A long run beside other work waits longer for each answer.
PATIENCE = 600 if "TSL_REQUESTS" in os.environ else 30

SLOW = asking({"type": "string", "minLength": 150, "maxLength": 200}, max_tokens=200)


class Server:
    """A server on a free port, ended with the block."""

    def __init__(self, *options):
        self.options = options

    def __enter__(self):
        call = [CLI, "serve", "--model", "random", "--port", "0", *self.options]
        self.process = subprocess.Popen(
            call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
        )
        line = self.process.stdout.readline().decode()
        self.port = int(line.rsplit(":", 1)[1]) if "http://" in line else 0
        check(self.port, f"where it listens: {line!r}")
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            _, err = self.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            _, err = self.process.communicate()
            check(False, "the server ends at a signal")
        check(
            self.process.returncode == 0, f"exit code 0: {self.process.returncode}, {err[-400:]!r}"
        )

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def ask(self, path, body=None):
        """(status, body)."""
        with contextlib.closing(self.connect()) as c:
            data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            c.request("GET" if data is None else "POST", path, data)
            answer = c.getresponse()
            return answer.status, answer.read()

    def chat(self, body):
        status, answer = self.ask(CHAT, body)
        check(status == 200, f"status 200: {status} {answer[:300]!r}")
        return json.loads(answer)

    def metrics(self):
        text = self.ask("/metrics")[1].decode()
        return {k: float(v) for k, v in re.findall(r"^turnstile_(\w+) (\S+)$", text, re.M)}

    def send(self, data):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        s.sendall(data)
        return s

    def post(self, body):
        """A socket on which a request has been sent."""
        data = json.dumps(body).encode()
        return self.send(
            b"POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s"
            % (CHAT.encode(), len(data), data)
        )


def events(data):
    """The data of server-sent events."""
    return re.findall(r"^data: (.*)$", data.decode(), re.M)


def wait_for(condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def page():
    """The examples of docs/serve.md: each is run, and begins as the page says."""
    text = (ROOT / "docs" / "serve.md").read_text()
    blocks = re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S)
    if not shutil.which("curl"):
        skip("there is no curl")
        return
    with Server() as server:
        ran = 0
        for block in blocks:
            for example in re.split(r"^\$ ", block, flags=re.M)[1:]:
                if not example.startswith("curl"):
                    continue
                lines = example.split("\n")
                end = next(i for i, line in enumerate(lines) if i and line[:1] in "{d#")
                call = "\n".join(lines[:end]).replace(":8080/", f":{server.port}/")
                done = subprocess.run(["bash", "-c", call], capture_output=True, timeout=60)
                shown = lines[end].split("...")[0]
                number = re.compile(r"\d+")
                got = number.sub("N", done.stdout.decode())
                check(
                    done.returncode == 0 and got.startswith(number.sub("N", shown)),
                    f"{call}: {done.stdout[:300]!r} {done.stderr[:200]!r}",
                )
                ran += 1
        check(ran >= 7, f"{ran} examples")


def answers():
    with Server() as server:
        choice = server.chat(asking(AGE, seed=3))["choices"][0]
        age = json.loads(choice["message"]["content"])["age"]
        check(0 <= age <= 150 and choice["finish_reason"] == "stop", f"an age: {choice}")
        check(server.chat(asking(AGE, seed=3))["choices"] == [choice], "equal seeds, equal answers")
        wanted = {"messages": [], "tools": TOOLS, "tool_choice": "required"}
        wanted["parallel_tool_calls"] = False
        answer = server.chat(wanted)
        choice = answer["choices"][0]
        (call,) = choice["message"]["tool_calls"]
        check(
            call["function"]["name"] == "look"
            and json.loads(call["function"]["arguments"])["city"] in ("Rome", "Oslo")
            and choice["finish_reason"] == "tool_calls",
            f"a call: {answer}",
        )
        usage = answer["usage"]
        check(usage["total_tokens"] == usage["completion_tokens"] > 0, f"usage: {usage}")
        answer = server.chat(asking(AGE, logprobs=True, top_logprobs=2))
        scores = answer["choices"][0]["logprobs"]["content"]
        check(
            len(scores) == answer["usage"]["completion_tokens"]
            and all(s["logprob"] <= 0 and len(s["top_logprobs"]) <= 2 for s in scores)
            and b"".join(bytes(s["bytes"]) for s in scores).decode()
            == answer["choices"][0]["message"]["content"],
            f"log-probabilities: {scores}",
        )
        cut = server.chat({**LONG, "max_tokens": 5})["choices"][0]
        check(cut["finish_reason"] == "length", f"cut: {cut}")
        check(server.chat({"messages": []})["choices"][0]["message"]["content"] is not None, "free")
        status, body = server.ask(
            "/v1/responses",
            {
                "input": "a",
                "tools": [
                    {
                        "type": "function",
                        "name": "look",
                        "parameters": TOOLS[0]["function"]["parameters"],
                    }
                ],
                "tool_choice": "required",
                "parallel_tool_calls": False,
            },
        )
        output = json.loads(body)["output"]
        check(
            status == 200
            and [o["type"] for o in output] == ["function_call"]
            and json.loads(output[0]["arguments"])["city"],
            f"responses: {body[:500]!r}",
        )


def streams():
    with Server() as server:
        words = asking({"enum": ["naïve 😀 text", "日本語"]}, stream=True, seed=1)
        words["stream_options"] = {"include_usage": True}
        got = events(server.ask(CHAT, words)[1])
        chunks = [json.loads(e) for e in got[:-1]]
        text = "".join(c["choices"][0]["delta"].get("content", "") for c in chunks if c["choices"])
        check(got[-1] == "[DONE]" and json.loads(text) in ("naïve 😀 text", "日本語"), f"{text!r}")
        check(chunks[-2]["choices"][0]["finish_reason"] == "stop", f"the end: {chunks[-2]}")
        check(chunks[-1]["usage"]["completion_tokens"] > 0, f"usage: {chunks[-1]}")
        call = {"messages": [], "tools": TOOLS, "tool_choice": "required", "stream": True}
        deltas = [
            c["function"]
            for e in events(server.ask(CHAT, call)[1])[:-1]
            for c in json.loads(e)["choices"][0]["delta"].get("tool_calls", [])
            if c["index"] == 0
        ]
        arguments = "".join(d.get("arguments", "") for d in deltas)
        check(deltas[0]["name"] == "look" and json.loads(arguments)["city"], f"{deltas}")
        body = {
            "input": "a",
            "stream": True,
            "text": {
                "format": {"type": "json_schema", "name": "a", "schema": {"enum": ["yes", "no"]}}
            },
        }
        got = [json.loads(e) for e in events(server.ask("/v1/responses", body)[1])]
        check([e["sequence_number"] for e in got] == list(range(len(got))), "numbered events")
        text = "".join(e["delta"] for e in got if e["type"] == "response.output_text.delta")
        last = got[-1]
        check(
            last["type"] == "response.completed"
            and last["response"]["output"][0]["content"][0]["text"] == text
            and json.loads(text) in ("yes", "no"),
            f"{last}",
        )
        for seed in range(6):
            streamed_calls(server, seed, 1)
    with Server("--token-ms", "20") as server:
        streamed_calls(server, 1, 2)


def streamed_calls(server, seed, pieces):
    """Calls of a stream of responses come while they are written, as items of their own."""
    tools = [{"type": "function", **tool["function"]} for tool in TOOLS]
    body = {"input": "a", "stream": True, "tools": tools, "tool_choice": "required", "seed": seed}
    got = [json.loads(e) for e in events(server.ask("/v1/responses", body)[1])]
    check([e["sequence_number"] for e in got] == list(range(len(got))), "numbered events")
    items, deltas, done = {}, {}, {}
    for e in got:
        if e["type"] == "response.output_item.added":
            check(e["output_index"] == len(items), f"items come in their order: {e}")
            items[e["item"]["id"]] = e["item"]
        elif e["type"] == "response.function_call_arguments.delta":
            check(list(items)[e["output_index"]] == e["item_id"], f"the item's place: {e}")
            deltas.setdefault(e["item_id"], []).append(e["delta"])
        elif e["type"] == "response.function_call_arguments.done":
            check("".join(deltas[e["item_id"]]) == e["arguments"], f"the pieces: {e}")
        elif e["type"] == "response.output_item.done":
            done[e["output_index"]] = e["item"]
    output = got[-1]["response"]["output"]
    check([done[i] for i in range(len(done))] == output, f"{done} {output}")
    calls = [item for item in output if item["type"] == "function_call"]
    check(calls and all(items[c["id"]]["status"] == "in_progress" for c in calls), f"{items}")
    whole = got[-1]["type"] == "response.completed"
    for call in calls:
        check(call["status"] == "completed" or not whole, f"{call}")
        check(not whole or isinstance(json.loads(call["arguments"]), dict), f"{call}")
        check(len(deltas[call["id"]]) >= pieces, f"arguments come in pieces: {deltas}")


def refused():
    with Server("--max-body", "100000") as server:
        for body, status, param, message in (
            (b'{"messages": [],\n "n":,}', 400, None, "line 2, column 7"),
            (b"", 400, None, "not JSON"),
            (b'{"messages": ["\xff"]}', 400, None, "not JSON"),
            (b"[" * 90000, 400, None, ""),
            ([], 400, None, "must be a JSON object"),
            ({}, 400, "/messages", "is needed"),
            ({"messages": 3}, 400, "/messages", "list of messages"),
            ({"messages": [], "max_token": 5}, 400, "/max_token", "max_token"),
            ({"messages\0x": []}, 400, "/messages", "NUL"),
            ({"messages": [], "n": 2}, 400, "/n", "must be 1"),
            ({"messages": [], "stop": ["a"]}, 400, "/stop", "not support"),
            ({"messages": [], "temperature": 3}, 400, "/temperature", "from 0 to 2"),
            ({"messages": [], "max_tokens": 1.5}, 400, "/max_tokens", "whole number"),
            ({"messages": [], "stream": 1}, 400, "/stream", "true or false"),
            ({"messages": [], "top_logprobs": 2}, 400, "/top_logprobs", "logprobs"),
            (asking({"type": "string", "minLength": 3, "maxLength": 2}), 400, "minLength", ""),
            (asking({"type": 3}), 400, "/type", ""),
            ({"messages": [], "tools": [{"type": "nothing"}]}, 400, "/tools/0", ""),
            ({"messages": [], "stop": None, "logit_bias": {}, "n": 1}, 200, None, ""),
            (b'{"messages": "%s"}' % (b"a" * 200000), 413, None, "100000 bytes"),
        ):
            got, text = server.ask(CHAT, body)
            shown = f"{str(body)[:80]}: {got} {text[:300]!r}"
            check(got == status, shown)
            if got != 200:
                error = json.loads(text)["error"]
                where = f"{error['param']} {error['message']}"
                check(message in error["message"] and (param or "") in where, shown)
        check(server.ask("/nope")[0] == 404, "no such path")
        check(server.ask("/health", b"{}")[0] == 405, "a path that takes GET")
        check(server.ask(CHAT)[0] == 405, "a path that takes POST")
        counts = server.metrics()
        check(counts["refusals_total"] >= 20 and counts["errors_total"] == 0, f"{counts}")
        check(counts["compile_failures_total"] >= 3, f"refused grammars: {counts}")
    expect(2, ["serve"], err="--model is needed")
    expect(2, ["serve", "--model", "random", "--host", "nowhere"], err="no IPv4 address")
    expect(2, ["serve", "--model", "random", "--port", "70000"], err="--port")
    expect(2, ["serve", "--model", "no-such.gguf"], err="no-such.gguf")


def together(count, part):
    """Run part(i) in `count` threads; what went wrong."""
    wrong = []

    def one(i):
        try:
            part(i)
        except Exception as e:  # shown below
            wrong.append(f"{i}: {e!r}")

    threads = [threading.Thread(target=one, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    check(not any(t.is_alive() for t in threads), "all clients have ended")
    return wrong


def many():
    """64 clients at once, beside slow readers and connections that say nothing."""
    with Server("--idle", "2") as server:
        idle = [server.send(b"") for _ in range(16)]
        slow = [server.post({**SLOW, "stream": True}) for _ in range(4)]

        def client(i):
            for k in range(3):
                schema = {"type": "integer", "minimum": i, "maximum": i + k}
                stream = (i + k) % 2 == 1
                status, data = server.ask(CHAT, asking(schema, stream=stream))
                assert status == 200, data[:200]
                if stream:
                    parts = [json.loads(e)["choices"][0]["delta"] for e in events(data)[:-1]]
                    text = "".join(p.get("content", "") for p in parts)
                else:
                    text = json.loads(data)["choices"][0]["message"]["content"]
                assert i <= int(text) <= i + k, text

        begin = time.monotonic()
        wrong = together(64, client)
        took = time.monotonic() - begin
        check(not wrong, f"64 clients: {wrong[:3]}")
        print(f"       192 requests of 64 clients in {took:.1f} s")
        for s in slow:
            check(s.recv(100).startswith(b"HTTP/1.1 200"), "a slow reader has its stream")
        for s in (*slow, *idle):
            s.close()
        check(wait_for(lambda: server.metrics()["running"] == 0), "no text is written any more")


def gone():
    """Clients that go away: their answers end."""
    with Server("--token-ms", "20", "--queue", "2") as server:
        for stream in (True, False):
            before = server.metrics()["jobs_cancelled_total"]
            s = server.post({**LONG, "stream": stream})
            if stream:
                check(s.recv(2000).startswith(b"HTTP/1.1 200"), "the stream begins")
            check(wait_for(lambda: server.metrics()["running"] == 1), "it runs")
            s.close()
            check(
                wait_for(
                    lambda: server.metrics()["jobs_cancelled_total"] == before + 1
                    and server.metrics()["running"] == 0
                ),
                f"a client went away (stream: {stream}): {server.metrics()}",
            )
        for stream in (True, False):
            before = server.metrics()["jobs_cancelled_total"]
            s = server.post({**LONG, "stream": stream})
            check(wait_for(lambda: server.metrics()["running"] == 1), "it runs")
            s.sendall(b"G")  # nobody reads the begin of a second request
            s.close()
            check(
                wait_for(
                    lambda: server.metrics()["jobs_cancelled_total"] == before + 1
                    and server.metrics()["running"] == 0
                ),
                f"one went away and left a byte (stream: {stream}): {server.metrics()}",
            )
        held = [server.post(LONG)]
        check(wait_for(lambda: server.metrics()["running"] == 1), "one runs")
        held += [server.post(LONG) for _ in range(2)]
        check(wait_for(lambda: server.metrics()["waiting"] == 2), "two wait")
        status, text = server.ask(CHAT, LONG)
        check(status == 503 and b"try again" in text, f"too many wait: {status} {text!r}")
        before = server.metrics()["jobs_cancelled_total"]
        for s in held[1:]:
            s.close()
        check(wait_for(lambda: server.metrics()["waiting"] == 0), "who went away leaves the queue")
        check(server.metrics()["running"] == 1, "the first still runs")
        check(server.metrics()["jobs_cancelled_total"] == before + 2, "two are counted")
        held[0].close()
        check(wait_for(lambda: server.metrics()["running"] == 0), "nothing runs")
        before = server.metrics()["jobs_cancelled_total"]
        check(server.ask(CHAT, asking({"type": 3}))[0] == 400, "a schema that is none")
        check(server.metrics()["jobs_cancelled_total"] == before, "it was no job")
        held = [server.post({**LONG, "stream": True})]
        check(wait_for(lambda: server.metrics()["running"] == 1), "one runs when it ends")
    with Server("--idle", "1") as server:
        s = server.send(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Le")
        begin = time.monotonic()
        s.settimeout(10)
        check(s.recv(100) == b"" or time.monotonic() - begin < 10, "half a request is closed")


def large():
    """A schema of 5 MB, and another client meanwhile."""
    with Server() as server:
        schema = {"enum": [f"value number {i} of the long list" for i in range(150000)]}
        data = json.dumps(asking(schema)).encode()
        check(len(data) > 5 << 20, f"{len(data)} bytes")

        def client(i):
            if i == 0:
                status, body = server.ask(CHAT, data)
                assert status == 200, body[:300]
                assert json.loads(json.loads(body)["choices"][0]["message"]["content"])
            else:
                assert server.ask("/health")[0] == 200

        check(not (wrong := together(2, client)), f"a large schema: {wrong}")


def garbage():
    rng = random.Random(1)
    with Server() as server:
        for _ in range(40):
            with contextlib.suppress(OSError):
                s = server.send(bytes(rng.randrange(256) for _ in range(rng.randrange(1, 400))))
                s.close()
        for head in (
            b"POST %s HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n{}" % CHAT.encode(),
            b"POST %s HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" % CHAT.encode(),
            b"POST %s HTTP/1.1\r\nContent-Length: 10\r\n\r\n{" % CHAT.encode(),
            b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n",
        ):
            with contextlib.suppress(OSError):
                server.send(head).close()
        body = json.dumps(asking(AGE)).encode()
        for _ in range(60):
            cut = bytearray(body)
            for _ in range(rng.randrange(1, 4)):
                cut[rng.randrange(len(cut))] = rng.randrange(256)
            status, _ = server.ask(CHAT, bytes(cut))
            check(status in (200, 400), f"status {status} of {bytes(cut)!r}")
        check(server.chat(asking(AGE))["choices"], "it still answers")


def one_of_many(server, number):
    """A request of one of six kinds; its answer is checked. The last kind goes away unread."""
    kind = number % 6
    if kind == 5:
        server.post({**SLOW, "stream": number % 4 == 1}).close()
        return
    low = number if kind == 1 else 0  # kind 1: a schema that was not seen before
    if kind == 2:
        body = {"messages": [], "tools": TOOLS, "tool_choice": "required", "seed": number}
    else:
        schema = {"type": "integer", "minimum": low, "maximum": low + 9}
        body = asking(schema, seed=number, stream=kind == 3)
    if kind == 4:
        body["max_token"] = 1
    status, data = server.ask(CHAT, body)
    if kind == 4:
        assert status == 400 and b"/max_token" in data, data[:300]
        return
    assert status == 200, data[:300]
    if kind == 3:
        parts = [json.loads(e)["choices"][0]["delta"] for e in events(data)[:-1]]
        text = "".join(p.get("content", "") for p in parts)
    else:
        message = json.loads(data)["choices"][0]["message"]
        text = message["content"]
    if kind == 2:
        for call in message["tool_calls"]:
            assert json.loads(call["function"]["arguments"])["city"] in ("Rome", "Oslo"), call
    else:
        assert low <= int(text) <= low + 9, text


def flat():
    """Eight clients, requests of all kinds: each is answered, and what they leave behind does not
    grow. TSL_REQUESTS: how many (./dev soak serve).
    """
    requests = int(os.environ.get("TSL_REQUESTS", "600"))
    first = requests // 4  # fills the caches
    memory = pathlib.Path("/proc/self/statm")
    if not memory.exists():
        skip("no /proc")
        return
    begin = time.monotonic()
    with Server() as server, concurrent.futures.ThreadPoolExecutor(8) as clients:

        def used():
            pages = pathlib.Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]
            return int(pages) * os.sysconf("SC_PAGE_SIZE") >> 20

        def some(numbers):
            wrong = [
                error
                for error in clients.map(lambda n: tried(one_of_many, server, n), numbers)
                if error
            ]
            check(not wrong, f"{len(wrong)} requests went wrong: {wrong[:3]}")
            check(
                wait_for(
                    lambda: server.metrics()["running"] + server.metrics()["waiting"] == 0, PATIENCE
                ),
                "nothing runs any more",
            )

        some(range(first))
        before = used()
        some(range(first, requests))
        after = used()
        print(
            f"  memory after {first} and {requests} requests: {before} and {after} MiB; "
            f"{requests / (time.monotonic() - begin):.0f} requests a second"
        )
        check(after <= before + 8, f"MiB before and after: {before}, {after}")


def tried(part, *arguments):
    """What went wrong in part(), or None."""
    try:
        part(*arguments)
    except Exception as error:  # the caller shows it
        return f"{arguments[-1]}: {error!r}"


PARTS = [
    (page, "docs/serve.md"),
    (answers, "formats, tools, log-probabilities, usage"),
    (streams, "server-sent events"),
    (refused, "what is refused, and why"),
    (many, "many clients, slow readers"),
    (gone, "clients that go away"),
    (large, "a schema of 5 MB"),
    (garbage, "bytes that are no request"),
    (flat, "memory"),
]

if __name__ == "__main__":
    err = cli_checks.turnstile("serve", "--model", "random", "--host", "nowhere")[2]
    if b"not built with libmicrohttpd" in err:
        print("  skipped: the tool was built without libmicrohttpd\n0 passed, 0 failed, 1 skipped")
        raise SystemExit(0)
    cli_checks.run(PARTS)
