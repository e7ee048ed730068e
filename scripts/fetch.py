#!/usr/bin/env python3
"""Fetch what the tests and benchmarks use, pinned and verified.

    scripts/fetch.py [all | python | vocabs | suite]...

  python  build/venv    the packages of scripts/requirements.lock (pip checks the hashes)
  vocabs  build/vocabs  tokenizer files out of npm packages: the package against its sha512, each file against its sha256
  suite   build/suite   the JSON Schema Test Suite out of the source package of jsonschema (pip checks the hash)

Packages come through the ordinary clients (pip, npm) as they are set up on the machine. What is there already and verifies is not fetched
again, so that a second run needs no network. Exit status 1 and one line that says what failed, if something did.

SPDX-License-Identifier: Apache-2.0
"""
import base64
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
LOCK = ROOT / "scripts" / "packages.lock"
REQUIREMENTS = ROOT / "scripts" / "requirements.lock"
TRIES = 3


class FetchError(Exception):
    """What could not be fetched, as one line."""


def say(text):
    print(f"== {text}", file=sys.stderr, flush=True)


def client(what, command, **more):
    """Run a package client, a few times if it fails; its standard output."""
    for attempt in range(TRIES):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, **more)
        if done.returncode == 0:
            return done.stdout
        time.sleep(2 ** attempt)
    sys.stderr.write(done.stdout[-2000:] + done.stderr[-4000:])
    raise FetchError(f"{what}: {' '.join(command[:3])} ended with status {done.returncode}")


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def stamped(folder, stamp):
    """Was the folder finished with this stamp?"""
    mark = folder / ".stamp"
    return mark.is_file() and mark.read_text() == stamp


# ---- Python packages -------------------------------------------------------------------------------------------------


def fetch_python():
    venv = BUILD / "venv"
    stamp = f"{sha256(REQUIREMENTS)} {sys.version}"
    if stamped(venv, stamp):
        return
    say("installing Python packages into build/venv")
    shutil.rmtree(venv, ignore_errors=True)
    client("build/venv", [sys.executable, "-m", "venv", str(venv)])
    client("Python packages", [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
                               "--only-binary", ":all:", "--require-hashes", "-r", str(REQUIREMENTS)])
    (venv / ".stamp").write_text(stamp)


# ---- vocabularies ----------------------------------------------------------------------------------------------------


def check_integrity(package, path, integrity):
    name, _, expected = integrity.partition("-")
    found = base64.b64encode(hashlib.new(name, path.read_bytes()).digest()).decode()
    if found != expected:
        raise FetchError(f"{package}: its {name} is {found}, not {expected}")


def unpack(package, archive, file, target):
    """Write one member of an archive to its place, which it reaches only if it verifies."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".partial")
    with tarfile.open(archive) as tar, open(partial, "wb") as out:
        shutil.copyfileobj(tar.extractfile(file["member"]), out)
    if sha256(partial) != file["sha256"]:
        raise FetchError(f"{package}: {file['member']} does not have the sha256 {file['sha256']}")
    os.replace(partial, target)


def fetch_package(entry):
    """Pack one npm package into a folder of its own, check it, take its files out."""
    package = entry["package"]
    say(f"fetching {package}")
    (BUILD / "npm").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD / "npm") as folder:
        environment = {**os.environ, "npm_config_cache": os.path.join(folder, "cache"), "npm_config_update_notifier": "false"}
        client(package, ["npm", "pack", "--silent", package], cwd=folder, env=environment)
        archives = list(pathlib.Path(folder).glob("*.tgz"))
        if len(archives) != 1:
            raise FetchError(f"{package}: npm pack left {len(archives)} archives")
        check_integrity(package, archives[0], entry["integrity"])
        for file in entry["files"]:
            unpack(package, archives[0], file, BUILD / "vocabs" / file["to"])


def fetch_vocabs():
    for entry in json.loads(LOCK.read_text())["vocabularies"]:
        targets = [(BUILD / "vocabs" / file["to"], file["sha256"]) for file in entry["files"]]
        if not all(path.is_file() and sha256(path) == digest for path, digest in targets):
            fetch_package(entry)


# ---- JSON Schema Test Suite ------------------------------------------------------------------------------------------


def locked_requirement(package):
    """The lines of requirements.lock that pin one package."""
    match = re.search(rf"^{re.escape(package)}\b.*?(?=^\S|\Z)", REQUIREMENTS.read_text(), re.M | re.S)
    if not match:
        raise FetchError(f"{package} is not in {REQUIREMENTS.name}")
    return match.group(0)


def unpack_folder(archive, folder, target):
    """The regular files below <top>/<folder>/ of an archive, into a new target folder."""
    partial = target.with_name(target.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    with tarfile.open(archive) as tar:
        for member in tar:
            parts = pathlib.PurePosixPath(member.name).parts
            if not member.isfile() or parts[1:2] != (folder,) or ".." in parts:
                continue
            path = partial.joinpath(*parts[2:])
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "wb") as out:
                shutil.copyfileobj(tar.extractfile(member), out)
    if not partial.is_dir():
        raise FetchError(f"{archive.name} has no folder {folder}")
    shutil.rmtree(target, ignore_errors=True)
    os.replace(partial, target)


def fetch_suite():
    suite = json.loads(LOCK.read_text())["suite"]
    target = BUILD / "suite"
    requirement = locked_requirement(suite["package"])
    if stamped(target, requirement):
        return
    fetch_python()  # has what pip needs to look into a source package
    say(f"fetching the JSON Schema Test Suite ({suite['package']})")
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        wanted = pathlib.Path(folder, "requirement.txt")
        wanted.write_text(requirement)
        client("JSON Schema Test Suite",
               [str(BUILD / "venv" / "bin" / "python"), "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                "--no-build-isolation", "--no-binary", ":all:", "--require-hashes", "-r", str(wanted), "-d", folder])
        archives = list(pathlib.Path(folder).glob("*.tar.gz"))
        if len(archives) != 1:
            raise FetchError(f"{suite['package']}: pip left {len(archives)} source packages")
        unpack_folder(archives[0], suite["folder"], target)
    (target / ".stamp").write_text(requirement)


FETCHERS = {"python": fetch_python, "vocabs": fetch_vocabs, "suite": fetch_suite}


def main():
    names = sys.argv[1:] or ["all"]
    unknown = [name for name in names if name != "all" and name not in FETCHERS]
    if unknown:
        print(f"fetch: there is no {', '.join(unknown)}; there are all, {', '.join(FETCHERS)}", file=sys.stderr)
        return 2
    BUILD.mkdir(exist_ok=True)
    try:
        for name, fetch in FETCHERS.items():
            if name in names or "all" in names:
                fetch()
    except FetchError as error:
        print(f"fetch: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
