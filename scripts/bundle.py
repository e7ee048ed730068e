#!/usr/bin/env python3
"""The packages of Rust and Go, with the C sources inside.

    scripts/bundle.py crate     build/crate: the crates of bindings/rust, the one source in
                                turnstile-sys/vendor; packed by cargo into build/crate/packed
    scripts/bundle.py go        build/go: the package of bindings/go, and beside it every C source,
                                each in a file of its own, as cgo wants them

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import amalgamate  # noqa: E402
import sources  # noqa: E402


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


def main():
    made = {"crate": crate, "go": go}
    if len(sys.argv) != 2 or sys.argv[1] not in made:
        sys.exit(__doc__)
    found = made[sys.argv[1]](ROOT / "build" / sys.argv[1])
    for path in found if isinstance(found, list) else [found]:
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
