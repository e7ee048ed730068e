#!/usr/bin/env python3
"""What packages are made of, as far as a second shows.

  manual    scripts/man.py makes a page for each command out of the tool's help. Each option of the
            help is in its page. The same tool gives the same bytes
  wheel     the writer of wheels records a hash of each file, and gives the same bytes twice; the
            description names the extras of pyproject.toml. Of an object for Windows both kinds of
            names are found
  versions  the files of packaging/ name the version of meson.build; the port of vcpkg names what
            the library stands on
  read      Ruby carries the formula out, and Nix the expression, where they are installed. What
            Homebrew and nixpkgs would bring are stand-ins that note what the recipes call

SPDX-License-Identifier: Apache-2.0
"""

import base64
import hashlib
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import zipfile

import platform_checks as platform
from platform_checks import BUILD, ROOT, check, run, skip, works

sys.path.insert(0, str(ROOT / "scripts"))
import sources  # noqa: E402
import wheels  # noqa: E402

PACKAGING = ROOT / "packaging"
HOMEBREW = """
require "json"
FOUND = Hash.new { |hash, name| hash[name] = [] }
class Formula
  %w[desc license head depends_on].each do |name|
    define_singleton_method(name) { |*words, **more| FOUND[name] << words + more.keys }
  end
  def self.test(&block) = FOUND["test"] << block.class
  def system(*words) = FOUND["ran"] << words
  def std_meson_args = ["--prefix=/p"]
  def bin = Pathname("/p/bin")
  def man1 = Class.new { def install(pages) = FOUND["pages"] << pages }.new
end
require "pathname"
load ARGV[0]
Turnstile.new.install
puts JSON.generate(FOUND)
"""
NIX = """
let
  names = [ "meson" "ninja" "pkg-config" "python3" "libmicrohttpd" "pcre2" "xxHash" "yajl" ];
  begins = with builtins; p: s: substring 0 (stringLength p) s == p;
  pkgs = builtins.listToAttrs (map (name: { inherit name; value = name; }) names) // {
    stdenv.mkDerivation = made: made;
    lib = { cleanSourceWith = a: a; hasPrefix = begins; licenses.asl20 = ""; };
    lib.platforms.unix = [ ];
  };
  made = import @ { inherit pkgs; };
in {
  inherit (made) version buildInputs;
  kept = map (p: made.src.filter p "directory") [ "/a/build" "/a/runtime" ];
}
"""
TOOL = pathlib.Path(os.environ.get("TSL_CLI", BUILD / "turnstile"))


def test_manual(folder):
    if not TOOL.is_file():
        return skip("the tool is not built")
    for name in ("one", "two"):
        works("man.py", sys.executable, ROOT / "scripts" / "man.py", TOOL, folder / name)
    pages = sorted((folder / "one").glob("*.1"))
    same = [p for p in pages if p.read_bytes() == (folder / "two" / p.name).read_bytes()]
    check(
        len(pages) > 5 and same == pages, f"{len(pages)} pages, {len(same)} of them the same twice"
    )
    for page in pages:
        text = page.read_text(encoding="utf-8")
        command = page.stem.removeprefix("turnstile").removeprefix("-")
        said = run(TOOL, *([command] if command else []), "--help").stdout
        options = re.findall(r"^  (--[\w-]+)", said, re.M)
        absent = [o for o in options if "\\fB" + o.replace("-", "\\-") not in text]
        check(not absent, f"{page.name} has no {absent}")
        check(not re.search(r"^\.(?!TH|SH|TP|PP|br|nf|fi)", text, re.M), f"{page.name}: requests")


def test_wheel(folder):
    about, entries = wheels.metadata()
    info, files = wheels.backend.described(about, entries, {"LICENSE": b"l"}, "cp39-abi3-any")
    files["turnstile/a.py"] = b"a = 1\n"
    for name in ("one", "two"):
        wheels.backend.write(folder / name, dict(files), info)
    check((folder / "one").read_bytes() == (folder / "two").read_bytes(), "the same bytes twice")
    with zipfile.ZipFile(folder / "one") as made:
        rows = made.read(f"{info}/RECORD").decode().splitlines()
        for row in rows[:-1]:
            name, digest, size = row.split(",")
            data = made.read(name)
            right = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            check(digest == f"sha256={right}" and int(size) == len(data), f"RECORD: {row}")
        check(len(rows) == len(made.namelist()), "RECORD has a row for each file")
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    name = re.search(r'^name = "(.*)"', text, re.M).group(1)
    check(f"\nName: {name}\n" in about, "the name is that of pyproject.toml")
    extras = re.search(r"optional-dependencies\]\n((?:\w+ = .*\n)+)", text).group(1)
    for extra in re.findall(r"^(\w+) =", extras, re.M):
        check(f'; extra == "{extra}"' in about, f"the extra {extra} is in the description")
    check("[vllm.general_plugins]" in entries, "the entry points are there")
    check(set(wheels.listed("python_sources")), "the extension has sources")
    named = wheels.python_names(b"\0\0__imp_PyBool_FromLong\0PyType_GenericNew\0a_PyNo\0_Py_None\0")
    wanted = {b"PyBool_FromLong", b"PyType_GenericNew", b"_Py_None"}
    check(named == wanted, f"an object for Windows names {named}")


def test_versions():
    version = sources.version()
    port = json.loads((PACKAGING / "vcpkg/turnstile/vcpkg.json").read_text())
    check(port["version"] == version, f"vcpkg.json has the version {port['version']}")
    wanted = {d if isinstance(d, str) else d["name"] for d in port["dependencies"]}
    check({"pcre2", "yajl", "xxhash"} <= wanted, f"vcpkg.json names {sorted(wanted)}")
    log = (PACKAGING / "debian/changelog").read_text()
    check(log.startswith(f"turnstile ({version}-"), "debian/changelog has the version")
    pattern = re.search(r'match "(.*?)" \(builtins', (PACKAGING / "nix/default.nix").read_text())
    check(
        re.match(pattern.group(1), (ROOT / "meson.build").read_text(), re.S).group(1) == version,
        "Nix finds the version in meson.build",
    )


def test_read():
    formula, expression = PACKAGING / "homebrew/turnstile.rb", PACKAGING / "nix/default.nix"
    if shutil.which("ruby"):
        said = works("the formula", "ruby", "-e", HOMEBREW, formula)
        found = json.loads(said or "{}")
        needs = {name[0] for name in found.get("depends_on", []) if isinstance(name[0], str)}
        check({"pcre2", "yajl", "xxhash"} <= needs, f"the formula depends on {sorted(needs)}")
        check(found.get("ran", [[]])[0][:2] == ["meson", "setup"], f"it runs {found.get('ran')}")
    else:
        skip("ruby is not installed")
    if shutil.which("nix-instantiate"):
        command = ("nix-instantiate", "--eval", "--strict", "--json", "-E")
        made = json.loads(
            works("the expression", *command, NIX.replace("@", str(expression))) or "{}"
        )
        check(made.get("version") == sources.version(), f"Nix finds the version {made}")
        check({"pcre2", "yajl", "xxHash"} <= set(made.get("buildInputs", [])), f"it needs {made}")
        check(
            made.get("kept") == [False, True], f"Nix takes the sources, not build folders: {made}"
        )
    else:
        skip("nix-instantiate is not installed")


def main():
    for test in (test_manual, test_wheel):
        with tempfile.TemporaryDirectory() as folder:
            test(pathlib.Path(folder))
    test_versions()
    test_read()
    return platform.close()


if __name__ == "__main__":
    sys.exit(main())
