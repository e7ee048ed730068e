#!/usr/bin/env python3
"""The package for Java: the jar of scripts/bundle.py, with the library inside, without
optimisation. The tests of bindings/java see the jar and JNA alone.

  jar    javac has no warning; the jar holds the classes and the library, and is the same when it is
         made again of the same objects
  tests  each test passes, with the library that JNA takes out of the jar
  pom    it names the version of the tree, and JNA

JNA is Debian's libjna-java.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import re
import shutil
import sys
import tempfile
import zipfile

import platform_checks as platform
from platform_checks import ROOT, check, skip, works

sys.path.insert(0, str(ROOT / "scripts"))
import bundle  # noqa: E402
import sources  # noqa: E402

PACKAGE = ROOT / "bindings" / "java"


def main():
    text = (PACKAGE / "pom.xml").read_text(encoding="utf-8")
    versions = re.findall(r"<version>(.*)</version>", text)
    check(versions[0] == sources.version(), f"pom.xml has the version {versions[0]}")
    if not shutil.which("javac") or not bundle.JNA.is_file():
        skip("javac or libjna-java is not installed")
        return platform.close()
    jna = bundle.JNA.resolve().stem
    check(jna == f"jna-{versions[1]}", f"pom.xml names JNA {versions[1]}, here is {jna}")
    os.environ["TSL_JAVA_CFLAGS"] = "-O0"
    if shutil.which("ccache"):
        os.environ["CC"] = "ccache cc"
    jar = bundle.java(ROOT / "build" / "java")
    first = jar.read_bytes()
    check(bundle.java(ROOT / "build" / "java").read_bytes() == first, "the same jar twice")
    with zipfile.ZipFile(jar) as archive:
        names = archive.namelist()
    check("turnstile/Vocab.class" in names, f"the jar holds {names}")
    check(any(name.endswith("/libturnstile.so") for name in names), f"a library: {names}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.pathsep.join([str(jar), str(bundle.JNA)])
        tests = sorted((PACKAGE / "src" / "test").rglob("*.java"))
        options = ["-Xlint:all", "-Werror", "--release", "11", "-cp", path, "-d", folder]
        if works("javac of the tests", "javac", *options, *tests) is not None:
            # It sees no other library: the folder that JNA would look in first is an empty one.
            nowhere = pathlib.Path(folder, "nowhere")
            nowhere.mkdir()
            command = ["java", f"-Djna.library.path={nowhere}", "-Djna.nosys=true"]
            command += ["-cp", os.pathsep.join([path, folder]), "turnstile.TurnstileTest"]
            said = works("the tests", *command) or ""
            passed = re.findall(r"^ok (\w+)$", said, re.M)
            check(len(passed) >= 4, f"tests that passed: {passed}")
    return platform.close()


if __name__ == "__main__":
    sys.exit(main())
