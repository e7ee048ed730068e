#!/usr/bin/env python3
"""Everything that is handed out, of the commit that is checked out, in dist/.

    scripts/release.py [--untagged] [--only PART]... [--wheel TARGET]... [--twice]
                       [--sign COMMAND] [--out FOLDER]

The commit has to be the tag vVERSION, and the tree has to be as the commit is; --untagged lets both
pass, for trials. Parts, all by default:

  source        turnstile-VERSION.tar.gz: the files of the commit
  amalgamation  turnstile-amalgamation-VERSION.tar.gz: the one source, and the sources of what it
                stands on
  wheels        the wheels and the source distribution for Python (scripts/wheels.py, which tries
                those that can run here); with --wheel, for trials, those that are named
  npm           the package for Node and browsers (bindings/node)
  crates        the crates for Rust (scripts/bundle.py)
  go            turnstile-go-VERSION.tar.gz: the package for Go, with the C sources inside
  java          the jar, with the library for this machine inside
  sbom          the bill of materials of build/, as SPDX

Beside them stand SHA256SUMS, which `sha256sum -c` reads, and provenance.json. That is an in-toto
statement (SLSA provenance, version 1), which names the files with their hashes, the commit, and the
lock files of the tools. COMMAND is the hook for signatures: it is called with the path of
SHA256SUMS, and what it writes beside it stays.

All files are the same, byte for byte, if they are made again. --twice does that and compares. The
objects of the first time (COMPILED) are removed before, and neither ccache nor zig gives what it
keeps, so all is compiled anew. Wheels are tried the first time. build/, which the bill of materials
is of, is not built again: ./dev reproducible does that.
Debian's packages are not among them: debuild makes them out of the source (packaging/README.md).

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import gzip
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
sys.path.insert(0, str(ROOT / "packaging" / "python"))

import amalgamate  # noqa: E402
import backend  # noqa: E402
import bundle  # noqa: E402
import sources  # noqa: E402

COMPILED = {  # what parts keep
    "amalgamation": "build/one-source",
    "wheels": "build/wheels",
    "npm": "build/hosts/node",
    "java": "build/java",
}
LOCKS = ["packages.lock", "zig.lock", "audit.lock"]


def run(command, **more):
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, **more)
    if done.returncode:
        said = (done.stdout + done.stderr)[-3000:].decode(errors="replace")
        sys.exit(f"release: {' '.join(map(str, command[:6]))}: {said}")
    return done.stdout


def git(*words):
    return run(["git", *words]).decode().strip()


# ---- parts: each puts its files into a folder ----------------------------------------------------


def source(out):
    name = f"turnstile-{sources.version()}"
    archive = run(["git", "archive", "--format=tar", f"--prefix={name}/", "HEAD"])
    with open(out / f"{name}.tar.gz", "wb") as file:
        with gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
            packed.write(archive)


def pack(tree, archive, folder):
    """A folder's files as an archive, the same bytes for the same files."""
    files = {
        path.relative_to(tree).as_posix(): path.read_bytes()
        for path in tree.rglob("*")
        if path.is_file()
    }
    backend.write_tar(archive, files, folder)


def amalgamation(out):
    folder = f"turnstile-amalgamation-{sources.version()}"
    with tempfile.TemporaryDirectory() as scratch:
        made = pathlib.Path(scratch, folder)
        amalgamate.amalgamate(made, True)
        pack(made, out / f"{folder}.tar.gz", folder)


TARGETS = []  # of --wheel


def wheels(out, *how):
    said = run([sys.executable, "scripts/wheels.py", *how, *TARGETS]).decode()
    for name in re.findall(r"^  ok   (\S+): ", said, re.M):
        shutil.copyfile(ROOT / "build" / "wheels" / name, out / name)


def npm(out):
    with tempfile.TemporaryDirectory() as scratch:
        dist, tree = ROOT / "build" / "hosts" / "node", pathlib.Path(scratch, "package")
        run([sys.executable, "bindings/node/build.py", dist])
        ignored = shutil.ignore_patterns("dist", "__pycache__")
        shutil.copytree(ROOT / "bindings" / "node", tree, ignore=ignored)
        (tree / "dist").mkdir()
        for path in dist.iterdir():
            if path.is_file() and path.name != "lock":
                shutil.copyfile(path, tree / "dist" / path.name)
        run(["npm", "pack", "--silent", "--pack-destination", out.resolve(), tree])


def crates(out):
    for path in bundle.crate(ROOT / "build" / "crate"):
        shutil.copyfile(path, out / path.name)


def go(out):
    folder = f"turnstile-go-{sources.version()}"
    with tempfile.TemporaryDirectory() as scratch:
        pack(bundle.go(pathlib.Path(scratch, "go")), out / f"{folder}.tar.gz", folder)


def java(out):
    made = bundle.java(ROOT / "build" / "java")
    shutil.copyfile(made, out / made.name)


def sbom(out):
    text = run([sys.executable, "scripts/sbom.py", "build"])
    (out / f"turnstile-{sources.version()}.spdx.json").write_bytes(text)


def wheels_again(out):
    """As they are made for the second time: the same bytes would pass the same tests."""
    wheels(out, "--again")


PARTS = {
    "source": source,
    "amalgamation": amalgamation,
    "wheels": wheels,
    "npm": npm,
    "crates": crates,
    "go": go,
    "java": java,
    "sbom": sbom,
}

# ---- what stands beside them ---------------------------------------------------------------------


def digests(folder):
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
        if path.name not in ("SHA256SUMS", "provenance.json")
    }


def provenance(found, parts):
    """The statement, as text. It names no time: the commit has one."""
    materials = [{"uri": "git:turnstile", "digest": {"gitCommit": git("rev-parse", "HEAD")}}]
    for name in LOCKS:
        data = (ROOT / "scripts" / "locks" / name).read_bytes()
        digest = {"sha256": hashlib.sha256(data).hexdigest()}
        materials.append({"uri": f"scripts/locks/{name}", "digest": digest})
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": sha}} for name, sha in found.items()],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "./dev release",
                "externalParameters": {"version": sources.version(), "parts": parts},
                "resolvedDependencies": materials,
            },
            "runDetails": {"builder": {"id": "scripts/release.py"}},
        },
    }
    return json.dumps(statement, indent=1) + "\n"


def make(out, parts, how=None):
    """All files in a folder that is made anew; {name: hash}. It says how long each part took."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for part in parts:
        start = time.monotonic()
        (how or PARTS)[part](out)
        print(f"  made {part}: {time.monotonic() - start:.0f} s", flush=True)
    found = digests(out)
    (out / "SHA256SUMS").write_text("".join(f"{sha}  {name}\n" for name, sha in found.items()))
    (out / "provenance.json").write_text(provenance(found, parts))
    return found


def make_again(parts):
    """make(), with nothing that the first time compiled; {name: hash}."""
    for part in COMPILED.keys() & set(parts):
        shutil.rmtree(ROOT / COMPILED[part], ignore_errors=True)
    os.environ["CCACHE_DISABLE"] = "1"
    with tempfile.TemporaryDirectory() as scratch:
        return make(pathlib.Path(scratch, "again"), parts, {**PARTS, "wheels": wheels_again})


def refuse_other_trees():
    tag = f"v{sources.version()}"
    if tag not in git("tag", "--points-at", "HEAD").split():
        sys.exit(f"release: the commit is not tagged {tag}; for a trial: --untagged")
    if changed := git("status", "--porcelain"):
        sys.exit(f"release: the tree is not as the commit is:\n{changed}\nfor a trial: --untagged")


def main():
    options = argparse.ArgumentParser(prog="./dev release", description="see scripts/release.py")
    options.add_argument("--untagged", action="store_true", help="let any commit and tree pass")
    options.add_argument("--only", action="append", choices=PARTS, help="make this part")
    options.add_argument("--wheel", action="append", metavar="TARGET", help="make this wheel")
    options.add_argument("--twice", action="store_true", help="make all again, and compare")
    options.add_argument("--sign", metavar="COMMAND", help="called with the path of SHA256SUMS")
    options.add_argument("--out", type=pathlib.Path, default=ROOT / "dist", help="(dist)")
    given = options.parse_args()
    if given.wheel and not given.untagged:
        sys.exit("release: --wheel leaves wheels out, so it needs --untagged: it is for trials")
    if not given.untagged:
        refuse_other_trees()
    TARGETS.extend(given.wheel or [])
    parts = given.only or list(PARTS)
    found = make(given.out, parts)
    different = []
    if given.twice:
        again = make_again(parts)
        different = [
            name for name in sorted({*found, *again}) if found.get(name) != again.get(name)
        ]
    for name, sha in found.items():
        size = (given.out / name).stat().st_size
        said = ", not the same twice" if name in different else ""
        print(f"  {'FAIL' if said else 'ok  '} {name}: {size:,} bytes, {sha[:16]}{said}")
    if given.sign:
        run([*shlex.split(given.sign), given.out / "SHA256SUMS"])
    print(f"{len(found) - len(different)} passed, {len(different)} failed, 0 skipped")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
