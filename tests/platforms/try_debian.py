#!/usr/bin/env python3
"""The Debian packages of packaging/debian: built, looked at, installed, used, removed.

  build    dpkg-buildpackage makes the three packages out of a copy of the tree. Unless --optimised
           is given, that is without optimisation, without packages for debuggers, and with the
           least compression
  lintian  finds no error and no warning
  names    the library's package says what it needs, and the manual has a page for each command
  install  dpkg lays the packages down in a root of their own; a program is compiled against it with
           pkg-config, and the tool runs
  remove   dpkg takes them away again, and no file of theirs stays

Nothing of the system is changed. The packages are left in build/debian.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import platform_checks as platform
from platform_checks import ROOT, check, run, works

sys.path.insert(0, str(ROOT / "scripts"))
import sources  # noqa: E402

OUT = ROOT / "build" / "debian"
NAMES = ["libturnstile0", "libturnstile-dev", "turnstile-tools"]


def copy_tree(folder):
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / "packaging" / "debian", folder / "debian")


def build(scratch):
    """{name: package}"""
    tree = scratch / f"turnstile-{sources.version()}"
    copy_tree(tree)
    options, flags = "nocheck parallel=2", {}
    if "--optimised" not in sys.argv:
        options += " noopt noautodbgsym"
        flags = {"DEB_CFLAGS_APPEND": "-g0", "DPKG_DEB_COMPRESSOR_LEVEL": "0"}
    path = os.environ["PATH"]
    if pathlib.Path("/usr/lib/ccache").is_dir():
        path = "/usr/lib/ccache:" + path
    made = works(
        "dpkg-buildpackage",
        *("dpkg-buildpackage", "-b", "-us", "-uc", "-d"),
        cwd=tree,
        DEB_BUILD_OPTIONS=options,
        **flags,
        PATH=path,
        CCACHE_BASEDIR=str(tree),
        CCACHE_NOHASHDIR="1",
    )
    if made is None:
        return {}
    packages = {path.name.split("_")[0]: path for path in scratch.glob("*.deb")}
    check(
        set(NAMES) <= set(packages), f"the packages are {', '.join(NAMES)}, not {sorted(packages)}"
    )
    changes = next(iter(scratch.glob("*.changes")))
    if shutil.which("lintian"):
        done = run("lintian", "--fail-on", "error,warning", "--allow-root", "--no-cfg", changes)
        check(done.returncode == 0, f"lintian: {done.stdout}{done.stderr}")
    else:
        platform.skip("lintian is not installed")
    OUT.mkdir(parents=True, exist_ok=True)
    for path in packages.values():
        shutil.copy(path, OUT / path.name)
    return packages


def look(packages):
    needs = works("fields", "dpkg-deb", "-f", packages["libturnstile0"], "Depends") or ""
    for name in ("libc6", "libpcre2-8-0", "libyajl2"):
        check(name in needs, f"libturnstile0 depends on {name}: {needs}")
    listing = works("files", "dpkg-deb", "-c", packages["turnstile-tools"]) or ""
    pages = re.findall(r"/man1/(turnstile[\w-]*)\.1\.gz", listing)
    tool = (ROOT / "cli" / "commands").glob("*.c")
    check(len(pages) > 5 and list(tool), f"pages of the manual: {pages}")


def dpkg(root, *arguments):
    """dpkg on a root of its own, in which what the packages depend on is not installed."""
    for name in ("info", "updates", "triggers"):
        (root / "var" / "lib" / "dpkg" / name).mkdir(parents=True, exist_ok=True)
    for name in ("status", "available"):
        (root / "var" / "lib" / "dpkg" / name).touch()
    command = ["dpkg", f"--root={root}", "--force-depends", "--force-not-root", "--log=/dev/null"]
    return works(f"dpkg {arguments[0]}", *command, *arguments)


def files(root):
    """What lies in a root beside dpkg's own records."""
    return sorted(
        path.relative_to(root)
        for path in root.rglob("*")
        if not path.is_dir() and path.relative_to(root).parts[:3] != ("var", "lib", "dpkg")
    )


def use(root, scratch, expected):
    library = next(iter((root / "usr" / "lib").glob("*/libturnstile.so")), None)
    if not check(library and library.exists(), "libturnstile.so leads to the library"):
        return
    flags = works(
        "pkg-config",
        *("pkg-config", "--cflags", "--libs", "turnstile"),
        PKG_CONFIG_PATH=str(library.parent / "pkgconfig"),
        PKG_CONFIG_SYSROOT_DIR=str(root),
    )
    program = scratch / "program"
    command = ["gcc", "-std=c11", platform.CONSUMER, "-o", program, *(flags or "").split()]
    if works("a program", *command) is None:
        return
    environment = {"LD_LIBRARY_PATH": str(library.parent)}
    check(works("it", program, **environment) == expected, "it prints what the others print")
    said = works("the tool", root / "usr" / "bin" / "turnstile", "--help", **environment)
    check("usage: turnstile" in (said or ""), f"the tool says {said}")


def main():
    if not shutil.which("dpkg-buildpackage") or not shutil.which("dh"):
        platform.skip("dpkg-buildpackage and debhelper are not installed")
        return platform.close()
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        expected = platform.expected(scratch)
        packages = build(scratch)
        if len(packages) >= len(NAMES):
            look(packages)
            root = scratch / "root"
            if dpkg(root, "--install", *(packages[name] for name in NAMES)) is not None:
                check(len(files(root)) > 20, f"files are there: {files(root)}")
                use(root, scratch, expected)
                dpkg(root, "--purge", *reversed(NAMES))
                check(files(root) == [], f"these stayed: {files(root)}")
    return platform.close()


if __name__ == "__main__":
    sys.exit(main())
