#!/usr/bin/env python3
"""Run the hosts' scripts, or those that are named: tests/hosts/run.py [--page] [NAME...],
host_NAME.py being the script. --prepare: only make the environments of Python.

Each prints a line that says which version of the host was there and what was exercised. It ends in
"N texts, N tokens generated, all valid". A line without that end is a failure. The last line is "N
passed, N failed, N skipped". So does this. ./dev test hosts has built and fetched what they need.
The summary has the seconds of each host, on the clock and of the processors. Programs that the host
did not wait for, such as Ray's workers, are not in the latter.

Three run at a time, since most of what they do is one processor's work, or waits for the network.
The first one makes what they share (common.one_at_a_time). What a host prints comes when it is
done. With --page the test of the pages in a browser, which is as slow and as idle, runs among them.

SPDX-License-Identifier: Apache-2.0
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

FOLDER = pathlib.Path(__file__).resolve().parent
AT_A_TIME = 3
# Hosts that take long to build: without names they run where they are built. (the file, the cost)
BUILT = {
    "llama_server": (
        FOLDER.parents[1] / "build" / "llama.cpp-lib" / "bin" / "llama-server",
        "36 minutes of one core on a busy machine",
    )
}
LONGEST = (
    "vllm",
    "page",
    "llama",
    "models",
)  # begin first; what the page compiles to WebAssembly the package for Node takes over
ENDS = re.compile(r"\b[1-9]\d* texts, [1-9]\d* tokens generated, all valid$")
PAGE = [FOLDER.parent / "run.py", "build", "page"]
printing = threading.Lock()


def run_host(name, command):
    """Run one script of Python; its counts (failed is not 0 if it did not end as it should), and
    its line in the summary.
    """
    start = time.monotonic()
    with subprocess.Popen(
        [sys.executable, *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as process:
        output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = f"{time.monotonic() - start:6.1f} s, {used.ru_utime + used.ru_stime:5.1f} of CPU"
    lines = output.splitlines()
    closing = re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) skipped", lines[-1] if lines else "")
    counts = [int(count) for count in closing.groups()] if closing else [0, 0, 0]
    line = lines[-2] if len(lines) > 1 else ""
    good = process.returncode == 0 and closing
    if good and command != PAGE and not ENDS.search(line):
        good, line = False, f"NO TEXT IS COUNTED: {line}"
    if not good and not counts[1]:
        counts[1] = 1
    with printing:
        print(f"== {name}\n{output}", end="", flush=True)
    return (counts, f"   {name:<12} {'ok' if good else 'FAILED':<6} {seconds}  {line}")


def main(names, page):
    scripts = {path.stem.removeprefix("host_"): path for path in sorted(FOLDER.glob("host_*.py"))}
    unknown = [name for name in names if name not in scripts]
    if unknown:
        sys.exit(f"there is no host {', '.join(unknown)}; there are {', '.join(scripts)}")
    left_out = {} if names else {n: cost for n, (file, cost) in BUILT.items() if not file.exists()}
    commands = {name: [scripts[name]] for name in names or scripts if name not in left_out}
    if page:
        commands["page"] = PAGE
    order = sorted(
        commands, key=lambda name: LONGEST.index(name) if name in LONGEST else len(LONGEST)
    )
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        results = list(pool.map(lambda name: run_host(name, commands[name]), order))
    total = [sum(counts[i] for counts, _ in results) for i in range(3)]
    print("== summary")
    print(*(line for _, line in results), sep="\n")
    for name, cost in left_out.items():
        total[2] += 1
        print(f"   {name:<12} NOT RUN: ./dev test hosts {name} builds it, {cost}, and runs it")
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return 1 if total[1] else 0


def prepare():
    import common
    import host_transformers_js
    import python_hosts

    common.venv("llama")
    common.venv("models")
    common.venv("triton")
    common.venv("ray")
    common.venv("runtimes")
    host_transformers_js.install()
    python_hosts.prepare()


if __name__ == "__main__":
    if sys.argv[1:] == ["--prepare"]:
        sys.exit(prepare())
    sys.exit(main([name for name in sys.argv[1:] if name != "--page"], "--page" in sys.argv))
