"""The engines that `./dev bench peers` measures beside Turnstile: fetched through their package
clients, pinned, verified, built into build/peers.

  llguidance      a crate; llguidance/Cargo.lock has the checksums (cargo build --locked)
  XGrammar, outlines-core   wheels; requirements.lock has the hashes
  llama.cpp       out of the source package of llama-cpp-python; sdist.lock has its hash. Only the
                  grammar and the vocabulary are used

What cannot be installed (no cargo, no cmake, no network, another Python than the wheels') is
reported as missing; the others run.

SPDX-License-Identifier: Apache-2.0
"""

import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build" / "peers"
PYTHON = BUILD / "venv" / "bin" / "python"
LLGUIDANCE = BUILD / "cargo" / "release" / "peer-llguidance"
LLAMA_CPP = BUILD / "peer-llama-cpp"
GGUF = BUILD / "llama3_1.gguf"
VOCAB = ROOT / "build" / "vocabs" / "llama3_1" / "tokenizer.json"
EOS = "128001"
JOBS = str(min(2, os.cpu_count() or 1))


def part_of(engine):
    """Which installation an engine of the report comes with."""
    return "wheels" if engine.startswith("XGrammar") or engine == "outlines-core" else engine


def versions():
    locks = (
        (HERE / "requirements.lock").read_text()
        + (HERE / "sdist.lock").read_text()
        + (HERE / "llguidance" / "Cargo.toml").read_text()
    )
    found = dict(re.findall(r"^([\w-]+)(?:==| = \"=)([\w.]+)", locks, re.M))
    return {
        "llguidance": found["llguidance"],
        "XGrammar": found["xgrammar"],
        "outlines-core": found["outlines-core"],
        "llama.cpp": f"of llama-cpp-python {found['llama-cpp-python']}",
    }


def run(*command, **more):
    done = subprocess.run(
        [str(c) for c in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, **more
    )
    if done.returncode:
        raise RuntimeError(
            f"{pathlib.Path(str(command[0])).name}: {(done.stderr or done.stdout).strip()[-300:]}"
        )


def stamp_of(*files):
    return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()


def install_llguidance():
    run(
        "cargo",
        "build",
        "--release",
        "--locked",
        "--jobs",
        JOBS,
        "--target-dir",
        BUILD / "cargo",
        cwd=HERE / "llguidance",
    )


def install_wheels():
    run(sys.executable, "-m", "venv", BUILD / "venv")
    run(
        PYTHON,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--require-hashes",
        "-r",
        HERE / "requirements.lock",
    )


def install_llama_cpp():
    run(
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--no-binary",
        ":all:",
        "--require-hashes",
        "-r",
        HERE / "sdist.lock",
        "-d",
        BUILD,
    )
    archive = next(BUILD.glob("llama_cpp_python-*.tar.gz"))
    with tarfile.open(archive) as tar:
        tar.extractall(BUILD, filter="data") if hasattr(tarfile, "data_filter") else tar.extractall(
            BUILD
        )
    source, made = BUILD / archive.name[: -len(".tar.gz")] / "vendor" / "llama.cpp", BUILD / "llama"
    off = [
        f"-D{name}=OFF"
        for name in (
            "BUILD_SHARED_LIBS",
            "LLAMA_BUILD_TESTS",
            "LLAMA_BUILD_EXAMPLES",
            "LLAMA_BUILD_TOOLS",
            "LLAMA_BUILD_SERVER",
            "LLAMA_BUILD_COMMON",
            "LLAMA_CURL",
            "GGML_OPENMP",
        )
    ]
    run("cmake", "-S", source, "-B", made, "-DCMAKE_BUILD_TYPE=Release", *off)
    run("cmake", "--build", made, "-j", JOBS, "--target", "llama")
    parts = [
        source / "common" / f"{name}.cpp"
        for name in ("common", "json-schema-to-grammar", "json", "json-schema", "trie", "unicode")
    ]
    includes = [
        f"-I{source / folder}" for folder in ("common", "include", "ggml/include", "vendor")
    ]
    # common.cpp is wanted for three string functions; what else it needs goes with the unused
    # sections.
    run(
        "g++",
        "-std=c++17",
        "-O2",
        "-ffunction-sections",
        "-fdata-sections",
        *includes,
        HERE / "llama_cpp.cpp",
        *parts,
        "-Wl,--gc-sections",
        "-Wl,--start-group",
        made / "src" / "libllama.a",
        *sorted((made / "ggml" / "src").glob("*.a")),
        "-Wl,--end-group",
        "-lpthread",
        "-ldl",
        "-lm",
        "-o",
        LLAMA_CPP,
    )
    run(sys.executable, HERE / "gguf.py", VOCAB, EOS, GGUF)


# What, how, what it leaves, what it depends on.
PARTS = {
    "llguidance": (
        install_llguidance,
        [LLGUIDANCE],
        [HERE / "llguidance" / "Cargo.lock", HERE / "llguidance" / "src" / "main.rs"],
    ),
    "wheels": (install_wheels, [PYTHON], [HERE / "requirements.lock"]),
    "llama.cpp": (
        install_llama_cpp,
        [LLAMA_CPP, GGUF],
        [HERE / "sdist.lock", HERE / "llama_cpp.cpp", HERE / "gguf.py"],
    ),
}


def is_there(name):
    _, left, inputs = PARTS[name]
    mark = BUILD / f".{name}.stamp"
    return (
        all(path.exists() for path in left)
        and mark.is_file()
        and mark.read_text() == stamp_of(*inputs)
    )


def check():
    """Missing part -> why; installs nothing."""
    return {
        name: "not installed (./dev bench peers installs it)"
        for name in PARTS
        if not is_there(name)
    }


def install():
    """Install what is not there; missing part -> why."""
    missing = {}
    BUILD.mkdir(parents=True, exist_ok=True)
    for name, (how, _, inputs) in PARTS.items():
        if is_there(name):
            continue
        print(f"== installing {name} into build/peers", file=sys.stderr, flush=True)
        try:
            how()
            (BUILD / f".{name}.stamp").write_text(stamp_of(*inputs))
        except (RuntimeError, OSError, StopIteration) as error:
            missing[name] = " ".join(str(error).split()) or "the package could not be had"
    return missing
