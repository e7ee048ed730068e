#!/usr/bin/env python3
"""The crates, from their packed files alone.

  pack      cargo packs both (scripts/bundle.py crate); each holds its licence and no build product
  use       a project that has nothing but the unpacked files compiles the library by a C compiler,
            and generates a text
  document  `cargo doc` has no warning
  oldest    the Rust that the crates name as their oldest compiles them, where Debian's is that one.
            The C sources were compiled by `use`: here `true` stands for the C compiler and `ar`

No registry is needed: cargo runs with --offline.

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import re
import shutil
import sys
import tarfile
import tempfile

import platform_checks as platform
from platform_checks import ROOT, check, run, skip, works

sys.path.insert(0, str(ROOT / "scripts"))
import bundle  # noqa: E402

HOST = """[package]
name = "host"
version = "0.0.0"
edition = "2021"
[dependencies]
turnstile-llm = {{ path = "{one}" }}
[patch.crates-io]
turnstile-llm-sys = {{ path = "{two}" }}
"""
CARGO = {"CARGO_BUILD_JOBS": "2", "CARGO_NET_OFFLINE": "true"}


def unpacked(package, folder):
    with tarfile.open(package) as archive:
        archive.extractall(folder)
    made = folder / package.name[: -len(".crate")]
    names = [path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()]
    check("src/lib.rs" in names, f"{package.name} holds {names[:5]}")
    products = [name for name in names if re.search(r"\.(o|a|so|rlib)$|^target/", name)]
    check(not products, f"{package.name} holds build products: {products[:5]}")
    return made


def debian_rust():
    """Debian's cargo and rustc, where they are as old as the crates allow; None otherwise."""
    wanted = re.search(
        r'^rust-version = "(.*)"', (ROOT / "bindings/rust/turnstile/Cargo.toml").read_text(), re.M
    ).group(1)
    folder = pathlib.Path("/usr/bin")
    both = all(shutil.which(folder / name) for name in ("cargo", "rustc"))
    if both and f"rustc {wanted}." in run(folder / "rustc", "-V").stdout:
        return folder
    return None


def main():
    if not shutil.which("cargo"):
        skip("cargo is not installed")
        return platform.close()
    packed = {path.name.rsplit("-", 1)[0]: path for path in bundle.crate(ROOT / "build" / "crate")}
    check(sorted(packed) == ["turnstile-llm", "turnstile-llm-sys"], f"packed: {sorted(packed)}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        one, two = (unpacked(packed[n], folder) for n in ("turnstile-llm", "turnstile-llm-sys"))
        check((two / "vendor/turnstile.c").is_file(), "the C sources are inside")
        host = folder / "host"
        (host / "src").mkdir(parents=True)
        (host / "Cargo.toml").write_text(HOST.format(one=one, two=two))
        shutil.copyfile(one / "examples" / "person.rs", host / "src" / "main.rs")
        built = works("cargo build", "cargo", "build", "--quiet", cwd=host, **CARGO)
        if built is not None:
            said = works("the program", host / "target" / "debug" / "host")
            check(set(json.loads(said or "{}")) == {"name", "age"}, f"it writes {said!r}")
            more = {**CARGO, "RUSTDOCFLAGS": "-D warnings"}
            for crate in ("turnstile-llm", "turnstile-llm-sys"):
                command = ["cargo", "doc", "--quiet", "--no-deps", "-p", crate]
                works(f"cargo doc of {crate}", *command, cwd=host, **more)
        oldest = debian_rust()
        if oldest:
            path = {"RUSTC": str(oldest / "rustc"), "CARGO_TARGET_DIR": str(folder / "oldest")}
            path |= {"CC": "true", "AR": "true"}
            (host / "Cargo.lock").unlink(missing_ok=True)
            command = [oldest / "cargo", "check", "--quiet"]
            works("the oldest Rust", *command, cwd=host, **CARGO, **path)
        else:
            skip("the oldest Rust is not tried: Debian's is not installed, or another one")
    return platform.close()


if __name__ == "__main__":
    sys.exit(main())
