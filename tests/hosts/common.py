"""What the scripts host_*.py share: running programs, counting, an environment of pinned Python
packages for each host.

SPDX-License-Identifier: Apache-2.0
"""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "tree"))
BUILD = ROOT / "build"
# The environments come without bytecode. Let the first program that imports a module compile the
# module for all others. Otherwise each process of Ray compiles Ray again: three times the seconds.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def say(text):
    print(f"== {text}", file=sys.stderr, flush=True)


def run(command, **more):
    """Run a program that must succeed; its output is shown if it does not."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=more.pop("cwd", ROOT),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=more.pop("stderr", subprocess.STDOUT),
        text=True,
        **more,
    )
    if done.returncode:
        print(done.stdout[-6000:], file=sys.stderr)
        sys.exit(f"{command[0]} ended with status {done.returncode}")
    return done.stdout


def program(command, **more):
    """Run a test program; its lines, failures included. What it says on standard error is passed
    on.
    """
    done = subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        **more,
    )
    if done.returncode not in (0, 1):
        print(done.stdout[-2000:], file=sys.stderr)
        sys.exit(f"{command[0]} {command[1]} ended with status {done.returncode}")
    return done.stdout.splitlines()


def add(counts, lines):
    """Add a test program's closing line; print its remarks, which are indented."""
    closing = re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) skipped", lines[-1] if lines else "")
    if not closing:
        sys.exit("a test program has no closing line")
    for name, value in zip(("passed", "failed", "skipped"), closing.groups()):
        counts[name] += int(value)
    for line in lines[:-1]:
        if line.startswith(" "):
            print(line)


@contextlib.contextmanager
def one_at_a_time(name):
    """Of the programs that make build/hosts/NAME at once, one does, and the others wait."""
    (BUILD / "hosts").mkdir(parents=True, exist_ok=True)
    with open(BUILD / "hosts" / f"{name}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def venv(name):
    """Python of build/hosts/NAME, which has the packages of scripts/hosts-NAME.lock; pip checks
    their hashes.
    """
    lock = ROOT / "scripts" / "hosts" / f"{name}.lock"
    folder = BUILD / "hosts" / name
    stamp = f"{hashlib.sha256(lock.read_bytes()).hexdigest()} {sys.version}"
    mark = folder / ".stamp"
    with one_at_a_time(name):
        if not mark.is_file() or mark.read_text() != stamp:
            say(f"installing Python packages into {folder.relative_to(ROOT)}")
            shutil.rmtree(folder, ignore_errors=True)
            run([sys.executable, "-m", "venv", folder])
            run(
                [
                    folder / "bin" / "python",
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                    "--no-cache-dir",
                    "--no-compile",
                    "--retries",
                    "10",
                    "--no-deps",
                    "--only-binary",
                    ":all:",
                    "--require-hashes",
                    "-r",
                    lock,
                ]
            )
            mark.write_text(stamp)
    return folder / "bin" / "python"


@contextlib.contextmanager
def kept_objects():
    """Variables with which pip builds this tree in build/hosts/objects, for one caller at a time.
    The library is compiled once for all that are built there. Only the module is compiled anew for
    each Python.
    """
    folder = BUILD / "hosts" / "objects"
    with one_at_a_time("objects"):
        folder.mkdir(exist_ok=True)
        yield {
            **os.environ,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_CONFIG_SETTINGS": f"builddir={folder}",
        }


def missing(what):
    """The end of a host that could not be tried: a failure, not a skip."""
    end({"passed": 0, "failed": 1, "skipped": 0}, f"NOT TRIED: {what}")


def account(counts, texts, tokens):
    """How a host's line ends. The validator has judged each of the texts, and counted a wrong one
    as failed.
    """
    if not texts:
        counts["failed"] += 1
    verdict = "NOT all checks hold" if counts["failed"] else "all valid"
    return f"{texts} texts, {tokens} tokens generated, {verdict}"


def end(counts, what):
    """The host's line, and the closing line that ./dev test adds up."""
    print(what)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    sys.exit(1 if counts["failed"] or not (counts["passed"] or counts["skipped"]) else 0)
