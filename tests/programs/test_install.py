#!/usr/bin/env python3
"""What other projects get.

  install  `meson install` lays down the header, both libraries, the pkg-config file and the command
           line tool. A program compiles against them through pkg-config alone, shared and static,
           and runs. Nothing of the Python package is there
  kinds    -Ddefault_library=static, and =shared, install that library alone
  subproject  another meson project finds it as dependency('turnstile')
  python   with the options that pip gives (pyproject.toml) the Python package is installed, all of
           it
  runtime  -Dcompiler=false builds a library that links neither yajl nor PCRE2, and follows what the
           full one has written

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build"))
VERSION = re.search(r"\bversion: '([0-9.]+)'", (ROOT / "meson.build").read_text(encoding="utf-8"))[
    1
]
PROGRAM = r"""
#include <stdio.h>
#include <turnstile.h>
int main(void) {
  tsl_vocab *vocab = NULL;
  if (tsl_vocab_embedded(NULL, &vocab, NULL)) return 1;
  printf("%s %u\n", tsl_version(), tsl_vocab_size(vocab));
  tsl_vocab_release(vocab);
  return 0;
}
"""

results = []


def check(condition, what):
    results.append(bool(condition))
    if not condition:
        print(f"  failed: {what}")
    return condition


def run(*command, **environment):
    return subprocess.run(
        list(map(str, command)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
    )


def compiler():
    return next(c for c in ("gcc", "cc", "clang") if shutil.which(c))


def test_install(folder):
    stage = folder / "stage"
    done = run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", stage)
    if not check(done.returncode == 0, f"meson install: {done.stdout}{done.stderr}"):
        return
    for name in ("turnstile.h", "libturnstile.so.0", "libturnstile.a", "turnstile.pc", "turnstile"):
        check([p for p in stage.rglob(name) if p.is_file()], f"{name} is installed")
    check(
        not list(stage.rglob("*.py")) + list(stage.rglob("_core.*")),
        "nothing of the Python package is installed: that is pip's",
    )
    pc = next(stage.rglob("turnstile.pc"))
    library = next(stage.rglob("libturnstile.so.0")).parent
    source = folder / "program.c"
    source.write_text(PROGRAM)
    environment = {"PKG_CONFIG_PATH": str(pc.parent), "PKG_CONFIG_SYSROOT_DIR": str(stage)}
    for kind, flags in (("shared", []), ("static", ["--static"])):
        found = run("pkg-config", "--cflags", "--libs", *flags, "turnstile", **environment)
        check(found.returncode == 0, f"pkg-config {kind}: {found.stderr}")
        # Dependencies live outside the staging folder: pkg-config puts the sysroot before their
        # paths too, which does no harm.
        words = found.stdout.replace(
            "-lturnstile", f"-l:libturnstile.{'a' if flags else 'so.0'}"
        ).split()
        done = run(compiler(), "-std=c11", source, "-o", folder / kind, *words)
        check(done.returncode == 0, f"a program compiles against the {kind} library: {done.stderr}")
        done = run(folder / kind, LD_LIBRARY_PATH=str(library))
        check(
            done.stdout == f"{VERSION} 4096\n",
            f"the {kind} program prints {done.stdout!r} {done.stderr}",
        )


def test_kinds(folder):
    for kind, there, absent in (
        ("static", "libturnstile.a", ".so"),
        ("shared", f"libturnstile.so.{VERSION}", ".a"),
    ):
        build = folder / f"{kind}-kind"
        done = run("meson", "setup", build, f"-Ddefault_library={kind}", "-Dtests=false")
        if not check(
            done.returncode == 0, f"meson setup -Ddefault_library={kind}: {done.stdout[-2000:]}"
        ):
            continue
        plan = json.loads(run("meson", "introspect", "--install-plan", build).stdout)
        names = {
            pathlib.Path(entry["destination"]).name
            for files in plan.values()
            for entry in files.values()
        }
        check(
            {there, "turnstile.h", "turnstile.pc", "turnstile"} <= names
            and not any(absent in name for name in names),
            f"{kind}: {sorted(names)}",
        )


def test_subproject(folder):
    outer = folder / "outer"
    (outer / "subprojects").mkdir(parents=True)
    (outer / "subprojects" / "turnstile").symlink_to(ROOT)
    (outer / "meson.build").write_text(
        "project('outer', 'c')\n"
        "dependency('turnstile', fallback: 'turnstile', default_options: ['tests=false', "
        "'bench=false', 'default_library=static'])\n"
    )
    done = run("meson", "setup", folder / "outer-build", outer, "--wrap-mode=forcefallback")
    check(
        done.returncode == 0 and "Dependency turnstile found: YES" in done.stdout,
        f"another project has it as a subproject: {done.stdout[-2000:]}",
    )


def test_python(folder):
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["meson-python"]["args"]
    build, package = folder / "python", ROOT / "bindings" / "python" / "turnstile"
    done = run("meson", "setup", build, *options["setup"])
    if not check(done.returncode == 0, f"meson setup {options['setup']}: {done.stdout[-2000:]}"):
        return
    plan = json.loads(run("meson", "introspect", "--install-plan", build).stdout)
    tags = options["install"][0].removeprefix("--tags=").split(",")
    names = {
        entry["destination"].rpartition("/turnstile/")[2]
        for files in plan.values()
        for entry in files.values()
        if entry["tag"] in tags
    }
    wanted = {
        str(path.relative_to(package))
        for path in package.rglob("*")
        if path.suffix in (".py", ".pyi", ".typed")
    } | {"_core.abi3.so"}
    check(names == wanted, f"pip installs the whole package, and no more: {names ^ wanted}")


def test_runtime(folder):
    build = folder / "runtime"
    done = run("meson", "setup", build, "-Dcompiler=false", "-Dtests=false", "-Dbuildtype=debug")
    if not check(done.returncode == 0, f"meson setup -Dcompiler=false: {done.stdout[-2000:]}"):
        return
    done = run("ninja", "-C", build, "-j", "1")
    if not check(done.returncode == 0, f"the runtime alone builds: {done.stdout[-2000:]}"):
        return
    needed = run("readelf", "-d", build / "libturnstile.so").stdout
    check(
        "NEEDED" in needed and "yajl" not in needed and "pcre" not in needed,
        f"the runtime needs neither yajl nor PCRE2: {needed}",
    )
    names = run("nm", "-D", "--defined-only", build / "libturnstile.so").stdout
    for name in (
        "tsl_vocab_new",
        "tsl_matcher_mask",
        "tsl_grammar_load",
        "tsl_artifact_make",
        "tsl_mask_apply",
        "tsl_sampler_draw",
    ):
        check(f" {name}@@" in names, f"the runtime has {name}")
    check("tsl_grammar_json_schema" not in names, "the runtime has no front end")
    follow_artifacts(folder, build)


def follow_artifacts(folder, runtime):
    """The same program over both libraries: the full one writes artifacts, and both print the same
    for each byte of a text."""
    source = ROOT / "tests" / "support" / "artifact_program.c"
    programs = {}
    for name, library, libraries, flags in (
        ("full", BUILD, ["yajl", "libpcre2-8"], ["-DWITH_COMPILER"]),
        ("alone", runtime, [], []),
    ):
        found = run("pkg-config", "--libs", *libraries, "libxxhash").stdout.split()
        programs[name] = folder / f"artifact-{name}"
        done = run(
            compiler(),
            "-std=c11",
            *flags,
            "-I",
            ROOT / "include",
            source,
            "-o",
            programs[name],
            library / "libturnstile.a",
            *found,
            "-lm",
            "-lpthread",
        )
        check(done.returncode == 0, f"artifact_program.c builds, {name}: {done.stderr}")
    cases = [
        (
            '{"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}, '
            '"count": {"type": "integer", "minimum": 1, "maximum": 5000}}, '
            '"required": ["count"], "additionalProperties": false}',
            '{"name": "le\\u0061f", "count": 1200e-1}',
        ),
        (
            '{"type": "array", "items": {"type": ["number", "boolean"], "multipleOf": 0.5, '
            '"exclusiveMinimum": -10}}',
            "[-9.50, true, 1e3,0.25e1 ]",
        ),
        ('{"type": "integer"}', "-120.0e-1"),
    ]
    for i, (schema, text) in enumerate(cases):
        path = folder / f"case{i}.tslgrammar"
        done = run(programs["full"], "write", schema, path)
        check(done.returncode == 0, f"the full library writes {schema}: {done.stderr}")
        full, alone = (run(programs[name], "follow", path, text) for name in ("full", "alone"))
        check(
            alone.returncode == 0
            and alone.stdout == full.stdout
            and len(full.stdout.splitlines()) == len(text) + 1,
            f"both follow {schema} alike: {full.stderr!r} {alone.stderr!r} "
            f"{full.stdout == alone.stdout}",
        )
    path = folder / "source.tslgrammar"
    run(
        programs["full"],
        "write",
        '{"type": "array", "items": {"type": "string"}, "uniqueItems": true}',
        path,
    )
    check(
        run(programs["full"], "follow", path, '["a"]').returncode == 0,
        "the full library compiles a source",
    )
    done = run(programs["alone"], "follow", path, "[")
    check(
        done.returncode == 1
        and "TSL_ERR_UNSUPPORTED" in done.stderr
        and "no compiler" in done.stderr,
        f"the runtime alone refuses it: {done.stderr}",
    )


def main():
    with tempfile.TemporaryDirectory() as name:
        for title, test in [
            ("install", test_install),
            ("kinds", test_kinds),
            ("subproject", test_subproject),
            ("python", test_python),
            ("runtime", test_runtime),
        ]:
            before = len(results)
            test(pathlib.Path(name))
            made = results[before:]
            print(f"  {'ok  ' if all(made) else 'FAIL'} {title} ({len(made)} checks)")
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed, 0 skipped")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
