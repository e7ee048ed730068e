#!/usr/bin/env python3
"""What ./dev release leaves in its folder, as far as seconds show.

  twice       the archive of the sources is the same twice; it holds the files of the commit
  different   a file that is not the same twice is named, and fails. For the second time nothing
              that was compiled is left, and ccache is off
  sums        `sha256sum -c` takes SHA256SUMS, and refuses it if a file has changed
  provenance  the statement names each file with its hash, the commit, and the lock files
  sign        the hook is called with SHA256SUMS; if the hook fails, so does the release
  go          the package for Go holds the module, the C sources and the licences
  refuse      a commit without the tag, a tree with changes, and some wheels alone are errors that
              say so

The parts that take long are those of scripts/wheels.py, bindings/node/build.py and
scripts/bundle.py, which ./dev test platforms runs.

SPDX-License-Identifier: Apache-2.0
"""

import contextlib
import hashlib
import io
import json
import os
import pathlib
import sys
import tarfile
import tempfile

import platform_checks as platform
from platform_checks import ROOT, check, run, skip, works

sys.path.insert(0, str(ROOT / "scripts"))
import release  # noqa: E402
import sources  # noqa: E402

RELEASE = ROOT / "scripts" / "release.py"


def released(folder, *more, part="source"):
    return run(sys.executable, RELEASE, "--only", part, "--out", folder, *more)


def test_made(folder):
    sign = f"{sys.executable} -c \"import sys; open(sys.argv[1] + '.asc', 'w').write('signed')\""
    done = released(folder, "--untagged", "--twice", "--sign", sign)
    if not check(done.returncode == 0, f"release: {done.stdout}{done.stderr}"):
        return
    check("1 passed, 0 failed" in done.stdout, f"one file is the same twice: {done.stdout}")
    name = f"turnstile-{sources.version()}.tar.gz"
    with tarfile.open(folder / name) as archive:
        packed = {m.name.partition("/")[2] for m in archive.getmembers() if not m.isdir()}
    listed = set(run("git", "ls-tree", "-r", "-z", "--name-only", "HEAD").stdout.split("\0")) - {""}
    check(packed == listed, f"the archive is the commit: {sorted(packed ^ listed)[:5]}")
    signed = folder / "SHA256SUMS.asc"
    check(signed.is_file() and signed.read_text() == "signed", "the hook got SHA256SUMS")

    statement = json.loads((folder / "provenance.json").read_text())
    digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    check(statement["subject"] == [{"name": name, "digest": {"sha256": digest}}], "its subject")
    materials = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    commit = run("git", "rev-parse", "HEAD").stdout.strip()
    check(materials[0]["digest"] == {"gitCommit": commit}, f"the commit is named: {materials[0]}")
    for one in materials[1:]:
        data = (ROOT / one["uri"]).read_bytes()
        check(one["digest"]["sha256"] == hashlib.sha256(data).hexdigest(), f"{one['uri']}: hash")
    check(len(materials) > 3, f"{len(materials)} materials")

    works("sha256sum -c", "sha256sum", "-c", "SHA256SUMS", cwd=folder)
    with open(folder / name, "ab") as file:
        file.write(b"x")
    done = run("sha256sum", "-c", "SHA256SUMS", cwd=folder)
    check(done.returncode != 0, "a file that has changed is noticed")


def test_different(folder):
    """With parts that stand in for those that compile."""
    objects = folder / "objects"
    seen = []

    def one(out):
        seen.append((objects.exists(), os.environ.get("CCACHE_DISABLE")))
        objects.mkdir(exist_ok=True)
        (out / "same").write_text("same")
        (out / "other").write_text(str(len(seen)))

    os.environ.pop("CCACHE_DISABLE", None)
    parts, compiled, words = release.PARTS, release.COMPILED, sys.argv
    release.PARTS, release.COMPILED = {"one": one}, {"one": objects}
    sys.argv = ["release", "--untagged", "--twice", "--out", str(folder / "dist")]
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            status = release.main()
    finally:
        release.PARTS, release.COMPILED, sys.argv = parts, compiled, words
        os.environ.pop("CCACHE_DISABLE", None)
    text = said.getvalue()
    check(status == 1 and "1 passed, 1 failed" in text, f"one of two files differs: {text}")
    check("FAIL other" in text and "ok   same" in text, f"the file is named: {text}")
    check(seen == [(False, None), (False, "1")], f"the second time finds nothing: {seen}")


def test_go(folder):
    if not (ROOT / "build" / "wasm" / "pcre2").is_dir():
        return skip("the sources of PCRE2 are not there: ./dev fetch wasm")
    done = released(folder, "--untagged", part="go")
    if not check(done.returncode == 0, f"release: {done.stdout}{done.stderr}"):
        return None
    with tarfile.open(folder / f"turnstile-go-{sources.version()}.tar.gz") as archive:
        packed = {m.name.partition("/")[2] for m in archive.getmembers()}
    wanted = {"go.mod", "turnstile.go", "turnstile.c", "turnstile.h", "LICENSE", "LICENCES"}
    check(wanted <= packed, f"the package for Go lacks {wanted - packed}")
    return None


def test_refuse(folder):
    done = released(folder / "signed", "--untagged", "--sign", "false")
    check(done.returncode == 1 and "release: false" in done.stderr, f"a hook fails: {done.stderr}")
    done = released(folder / "made", "--wheel", "sdist")
    check(done.returncode == 1 and "--untagged" in done.stderr, f"some wheels: {done.stderr}")
    tags = run("git", "tag", "--points-at", "HEAD").stdout.split()
    done = released(folder / "made")
    if f"v{sources.version()}" in tags:
        changed = run("git", "status", "--porcelain").stdout
        check((done.returncode == 0) == (not changed), f"a tree with changes: {done.stderr}")
    else:
        said = f"the commit is not tagged v{sources.version()}"
        check(done.returncode == 1 and said in done.stderr, f"no tag: {done.stderr}")
        check(not (folder / "made").exists(), "nothing is made then")


def main():
    if run("git", "rev-parse", "HEAD").returncode:
        skip("this tree is not one of git")
        return platform.close()
    with tempfile.TemporaryDirectory() as name:
        test_made(pathlib.Path(name, "dist"))
        test_different(pathlib.Path(name, "different"))
        test_go(pathlib.Path(name, "go"))
        test_refuse(pathlib.Path(name))
    return platform.close()


if __name__ == "__main__":
    sys.exit(main())
