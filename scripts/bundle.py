#!/usr/bin/env python3
"""The packages of Rust, Go and Java, with the C sources or the library inside.

    scripts/bundle.py crate     build/crate: the crates of bindings/rust, the one source in
                                turnstile-sys/vendor; packed by cargo into build/crate/packed
    scripts/bundle.py go        build/go: the package of bindings/go, and beside it every C source,
                                each in a file of its own, as cgo wants them
    scripts/bundle.py java      build/java: the classes of bindings/java as a jar, and in it the
                                library for this machine, where JNA looks for it. TSL_JAVA_CFLAGS
                                stand in place of -O2

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import platform
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import amalgamate  # noqa: E402
import sources  # noqa: E402
import vendor  # noqa: E402

JNA = pathlib.Path("/usr/share/java/jna.jar")  # Debian: libjna-java
# What JNA calls this machine: a folder of the jar, and the library's name in it.
SYSTEMS = {
    ("Linux", "x86_64"): ("linux-x86-64", "libturnstile.so"),
    ("Linux", "aarch64"): ("linux-aarch64", "libturnstile.so"),
    ("Darwin", "x86_64"): ("darwin-x86-64", "libturnstile.dylib"),
    ("Darwin", "arm64"): ("darwin-aarch64", "libturnstile.dylib"),
}


def with_sources(folder):
    """The one source and what it stands on in a folder; files that are the same keep their time."""
    new = folder.with_name(folder.name + ".new")
    amalgamate.amalgamate(new, True)
    sources.write_if_new(new, folder)
    shutil.rmtree(new)


def crate(out):
    """The folder with both crates; the packed files."""
    rust = ROOT / "bindings" / "rust"
    for name in ("turnstile", "turnstile-sys"):
        shutil.copytree(rust / name, out / name, dirs_exist_ok=True)
        shutil.copyfile(ROOT / "LICENSE", out / name / "LICENSE")
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copyfile(rust / name, out / name)
    with_sources(out / "turnstile-sys" / "vendor")
    packed = out / "packed"
    # Each .crate is unpacked and compiled by the tests; here it is only packed.
    command = ["cargo", "package", "--workspace", "--allow-dirty", "--no-verify", "--offline"]
    done = subprocess.run(
        [*command, "--quiet", "--target-dir", str(out / "target")],
        cwd=out,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"bundle: cargo package: {done.stderr[-2000:]}")
    packed.mkdir(exist_ok=True)
    made = sorted((out / "target" / "package").glob("*.crate"))
    return [pathlib.Path(shutil.copy(path, packed / path.name)) for path in made]


def go(out):
    """The package's folder."""
    for path in sorted((ROOT / "bindings" / "go").iterdir()):
        out.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, out / path.name)
    shutil.copyfile(ROOT / "LICENSE", out / "LICENSE")
    with_sources(out / "c")
    source, parts = out / "c", out / "c" / "vendor"
    flat = out / "flat"
    shutil.copytree(parts / "include", flat / "include", dirs_exist_ok=True)
    shutil.copyfile(parts / "LICENCES", flat / "LICENCES")
    for path in (source / "turnstile.c", source / "turnstile.h"):
        shutil.copyfile(path, flat / path.name)
    for part in ("pcre2", "yajl"):
        for path in (parts / part).iterdir():
            shutil.copyfile(path, flat / path.name)
    sources.write_if_new(flat, out)
    shutil.rmtree(flat)
    shutil.rmtree(source)
    return out


def command(what, *words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bundle: {what}: {(done.stdout + done.stderr)[-2000:]}")


def shared_library(folder, name):
    """The library with all that it stands on, compiled out of the one source. Objects that are
    newer than their source are kept, where the command is the same.
    """
    with_sources(folder / "c")
    parts = folder / "c" / "vendor"
    compiler = [*os.environ.get("CC", "cc").split(), "-fPIC", "-fvisibility=hidden", "-DNDEBUG"]
    compiler += os.environ.get("TSL_JAVA_CFLAGS", "-O2").split()
    ours = ["-std=c11", "-DPCRE2_STATIC", "-DTSL_BUILD_SHARED", f"-I{parts / 'include'}"]
    todo = [(folder / "c" / "turnstile.c", ours)]
    todo += [(path, vendor.flags(parts)) for path in vendor.sources(parts)]
    objects = []
    newest = max(path.stat().st_mtime for path in (folder / "c").rglob("*.h"))
    for source, flags in todo:
        made = folder / f"{source.parent.name}-{source.stem}.o"
        objects.append(made)
        words = [*compiler, *flags, "-c", source, "-o", made]
        said, mark = " ".join(map(str, words)), made.with_suffix(".command")
        kept = made.is_file() and mark.is_file() and mark.read_text() == said
        if kept and made.stat().st_mtime > max(newest, source.stat().st_mtime):
            continue
        command(source.name, *words)
        mark.write_text(said)
    command("linking", *compiler, "-shared", *objects, "-lm", "-lpthread", "-o", folder / name)
    return folder / name


def java(out):
    """The jar: the same bytes for the same classes and library."""
    machine = (platform.system(), platform.machine())
    if machine not in SYSTEMS:
        sys.exit(f"bundle: the jar is not made on {' '.join(machine)}, but on {list(SYSTEMS)}")
    if not JNA.is_file():
        sys.exit(f"bundle: {JNA} is not there (Debian: libjna-java)")
    folder, name = SYSTEMS[machine]
    classes = out / "classes"
    shutil.rmtree(classes, ignore_errors=True)
    classes.mkdir(parents=True)
    main = sorted((ROOT / "bindings" / "java" / "src" / "main" / "java").rglob("*.java"))
    options = ["-Xlint:all", "-Werror", "--release", "11", "-cp", JNA, "-d", classes]
    command("javac", "javac", *options, *main)
    library = shared_library(out, name)
    files = {path.relative_to(classes).as_posix(): path for path in classes.rglob("*.class")}
    files |= {f"{folder}/{name}": library, "META-INF/LICENSE": ROOT / "LICENSE"}
    files["META-INF/LICENCES"] = out / "c" / "vendor" / "LICENCES"
    made = out / f"turnstile-llm-{sources.version()}.jar"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as jar:
        for inside, path in sorted(files.items()):
            entry = zipfile.ZipInfo(inside, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            jar.writestr(entry, path.read_bytes())
    return made


def main():
    made = {"crate": crate, "go": go, "java": java}
    if len(sys.argv) != 2 or sys.argv[1] not in made:
        sys.exit(__doc__)
    found = made[sys.argv[1]](ROOT / "build" / sys.argv[1])
    for path in found if isinstance(found, list) else [found]:
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
