"""A batch job on Ray Data and a deployment of Ray Serve, on a cluster of two nodes that are
processes of this machine. Workers are killed meanwhile. They are bindings/python/examples:
ray_batch.py and ray_serve.py.

The answer to a prompt is the same in every process. So a job is right if it has each prompt once,
with the answer that this process writes. --prompts N: so many prompts (default: 600).

SPDX-License-Identifier: Apache-2.0
"""

import functools
import json
import os
import pathlib
import signal
import socket
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bindings" / "python" / "examples"))
import jsonschema  # noqa: E402
import ray  # noqa: E402
import ray_batch  # noqa: E402
import ray_serve  # noqa: E402
from ray import serve  # noqa: E402
from ray.cluster_utils import Cluster  # noqa: E402

WORKERS = 4
# Two CPUs a node: four workers of half a CPU leave two for the tasks that read. Ray starts a
# process for each CPU at once, so more CPUs would cost seconds. No dashboard: nobody looks at it.
HEAD = {"num_cpus": 2, "include_dashboard": False}
results = []
generated = []  # tokens of each text


def check(condition, what):
    results.append(bool(condition))
    if not condition:
        print(f"  failed: {what}")
    return condition


@functools.cache
def validator(schema):
    """The validator of a schema's text: jsonschema.validate would check the schema again."""
    return jsonschema.Draft202012Validator(json.loads(schema))


def judge(answer, schema):
    """Count a generated text, {"text", "tokens"}, and check it with an independent validator."""
    generated.append(answer["tokens"])
    try:
        validator(json.dumps(schema)).validate(json.loads(answer["text"]))
        check(True, "valid")
    except (ValueError, jsonschema.ValidationError) as error:
        check(False, f"{answer['text']!r}: {str(error).splitlines()[0]}")


def workers_of(name):
    """Process ids of the Ray workers whose title has `name`."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        try:
            line = (folder / "cmdline").read_bytes()
        except (OSError, ValueError):
            continue
        if folder.name.isdigit() and line.startswith(b"ray::") and name in line:
            found.append(int(folder.name))
    return found


class Killer(threading.Thread):
    """Kills a worker that is at work, `times` times."""

    def __init__(self, name, times):
        super().__init__(daemon=True)
        self.name_of_workers, self.times, self.killed = name, times, 0
        self.done = threading.Event()

    def run(self):
        while self.killed < self.times and not self.done.wait(0.5):
            for worker in workers_of(self.name_of_workers)[:1]:
                try:
                    os.kill(worker, signal.SIGKILL)
                    self.killed += 1
                except ProcessLookupError:
                    pass
            self.done.wait(2)


def batch(folder, prompts, size):
    """The job; its rows in the order of the prompts, seconds, and how many workers were killed."""
    killer = Killer(b"MapWorker", 2)
    began = time.monotonic()
    answers = ray.data.range(prompts, override_num_blocks=prompts // size).map_batches(
        ray_batch.Answer,
        batch_size=size,
        concurrency=WORKERS,
        num_cpus=0.5,
        fn_constructor_kwargs={"folder": folder},
    )
    killer.start()
    rows = answers.take_all()
    killer.done.set()
    killer.join()
    return rows, time.monotonic() - began, killer.killed


def test_batch(folder, prompts):
    rows, seconds, killed = batch(folder, prompts, max(10, prompts // 40))
    check(killed >= 1, f"{killed} workers were killed")
    check(
        sorted(row["prompt"] for row in rows) == list(range(prompts)),
        f"each of {prompts} prompts is there once: {len(rows)} rows",
    )
    alone = ray_batch.Answer(folder)
    began = time.monotonic()
    sample = sorted(rows, key=lambda row: row["prompt"])[:: max(1, prompts // 200)]
    wrong = [
        row for row in sample if alone.write(int(row["prompt"])) != (row["text"], row["tokens"])
    ]
    one = (time.monotonic() - began) / len(sample)
    check(not wrong, f"{len(wrong)} of {len(sample)} answers differ: {wrong[:1]}")
    for row in rows:
        judge(row, ray_batch.SCHEMA)
    files = [name for name in os.listdir(folder) if not name.endswith(".lock")]
    check(len(files) >= 1, f"files of grammars: {files}")
    return (
        f"{prompts} prompts by {WORKERS} workers of which {killed} were killed: {seconds:.1f} s, "
        f"start-up included; one process writes them in {one * prompts:.1f} s"
    )


def post(port, body):
    """The answer and status of a request. A replica that dies loses its request: ask again."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    for _ in range(20):
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code == 400:
                return error.code, json.load(error)
        except OSError:
            pass
        time.sleep(0.5)
    return 0, {}


def start_serve():
    """Serve on a free port, which is returned. Ray gives its proxies 60 s to start, and kills them
    then, which is too little on a busy machine. So there are several tries.
    """
    for left in range(2, -1, -1):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        try:
            serve.start(http_options={"host": "127.0.0.1", "port": port})
            return port
        except (ray.exceptions.RayError, TimeoutError):
            if not left:
                raise
            serve.shutdown()
    raise AssertionError("the last try returns or raises")


def test_serve(folder, requests):
    port = start_serve()
    serve.run(ray_serve.Answers.bind(folder=folder))
    killer = Killer(b"ServeReplica", 1)
    killer.start()
    for i in range(requests):
        low = i % 5
        schema = {"type": "integer", "minimum": low, "maximum": low + 3}
        status, answer = post(port, {"prompt": i, "schema": schema})
        if check(status == 200, f"request {i}: {status} {answer}"):
            judge(answer, schema)
    status, answer = post(port, {"prompt": 1, "schema": {"type": "integer", "minimum": "x"}})
    check(status == 400 and answer["pointer"] == "/minimum", f"a bad schema: {status} {answer}")
    killer.done.set()
    killer.join()
    check(killer.killed == 1, f"{killer.killed} replicas were killed")
    serve.shutdown()
    return f"{requests + 1} requests to 2 replicas of which {killer.killed} was killed"


def start_cluster():
    """Two nodes. Ray gives a node 30 s to start, which is too little where its modules are compiled
    for the first time on a busy machine. So there are several tries.
    """
    for left in range(4, -1, -1):
        try:
            cluster = Cluster(initialize_head=True, head_node_args=HEAD)
            cluster.add_node(num_cpus=2)
            return cluster
        except Exception as error:
            if not left:
                raise
            print(f"  once more: {error}", file=sys.stderr)


def main():
    prompts = int(sys.argv[sys.argv.index("--prompts") + 1]) if "--prompts" in sys.argv else 600
    path = f"{os.environ['PYTHONPATH']}:{ROOT / 'bindings' / 'python' / 'examples'}"
    os.environ["PYTHONPATH"] = path
    cluster = start_cluster()
    ray.init(address=cluster.address, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    with tempfile.TemporaryDirectory() as folder:
        done = [test_batch(folder, prompts), test_serve(folder, 40)]
    ray.shutdown()
    cluster.shutdown()
    bad = results.count(False)
    print(
        f"ray {ray.__version__}, two nodes: {'; '.join(done)}; {len(generated)} texts, "
        f"{sum(generated)} tokens generated, {'NOT all checks hold' if bad else 'all valid'}"
    )
    print(f"{len(results) - bad} passed, {bad} failed, 0 skipped")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
