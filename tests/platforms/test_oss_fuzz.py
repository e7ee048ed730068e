#!/usr/bin/env python3
"""fuzz/oss-fuzz/build.sh makes a target, with seeds and a dictionary, without OSS-Fuzz's images.

Their environment is set by hand: clang, libFuzzer, and ASan with --full. One target is built, run
over its seeds, and given 200 inputs that libFuzzer makes. The target must find the libraries beside
it.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import shutil
import sys
import tempfile
import zipfile

import platform_checks as platform
from platform_checks import ROOT, check, run, skip

sys.path.insert(0, str(ROOT / "tests" / "support"))
import share  # noqa: E402 - the folder is no package

TARGET = "gbnf"


def names_agree():
    """Each target has seeds, and the list of targets is meson's."""
    meson = (ROOT / "fuzz" / "meson.build").read_text(encoding="utf-8")
    listed = re.findall(r"^  '(\w+)',$", meson, re.M)
    files = sorted(p.stem[5:] for p in (ROOT / "fuzz").glob("fuzz_*.c"))
    check(sorted(listed) == files, f"targets: {listed} in meson.build, {files} as files")
    for name in files:
        check(any((ROOT / "fuzz" / "corpus" / name).iterdir()), f"{name} has seeds")


def built(folder):
    out, work, source = folder / "out", folder / "work", folder / "src"
    for path in (out, work, source):
        path.mkdir()
    (source / "turnstile").symlink_to(ROOT)
    # ASan takes a third of the time, and build.sh is the same without it: --full has it.
    sanitizers = "address,fuzzer-no-link" if share.number() is None else "fuzzer-no-link"
    flags = f"-O0 -fno-omit-frame-pointer -fsanitize={sanitizers}"
    done = run(
        ROOT / "fuzz" / "oss-fuzz" / "build.sh",
        CC="clang",
        CXX="clang++",
        CFLAGS=flags,
        CXXFLAGS=flags,
        LIB_FUZZING_ENGINE="-fsanitize=fuzzer",
        SRC=str(source),
        WORK=str(work),
        OUT=str(out),
        TARGETS=TARGET,
    )
    if not check(done.returncode == 0, f"build.sh: {(done.stdout + done.stderr)[-2000:]}"):
        return
    program = out / f"fuzz_{TARGET}"
    seeds = folder / "seeds"
    with zipfile.ZipFile(f"{program}_seed_corpus.zip") as archive:
        archive.extractall(seeds)
    there = len(list((ROOT / "fuzz" / "corpus" / TARGET).iterdir()))
    check(len(list(seeds.iterdir())) == there, "all seeds are in the archive")
    check((out / f"fuzz_{TARGET}.dict").exists(), "the dictionary is beside it")
    needed = run("readelf", "-d", program).stdout
    check("$ORIGIN/lib" in needed, "it looks for libraries beside itself")
    check(any((out / "lib").iterdir()), "they are there")
    ran = run(program, "-runs=200", f"-dict={program}.dict", seeds, cwd=folder)
    check(ran.returncode == 0, f"the target: {ran.stderr[-2000:]}")


def main():
    names_agree()
    if not shutil.which("clang") or not shutil.which("readelf"):
        skip("clang or readelf is not there (./dev test installs them)")
    else:
        with tempfile.TemporaryDirectory() as folder:
            built(pathlib.Path(folder))
    failed = platform.results.count(False)
    print(
        f"{len(platform.results) - failed} passed, {failed} failed, {len(platform.skips)} skipped"
    )
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
