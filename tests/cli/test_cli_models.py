#!/usr/bin/env python3
"""turnstile run without a model: what it refuses, and what it says where llama.cpp is not there or
is another library. With a model: tests/models.

SPDX-License-Identifier: Apache-2.0
"""

import base64
import ctypes.util
import shutil
import subprocess

import cli_checks
from cli_checks import check, expect, files, skip, turnstile

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def refused():
    """Options that do not go together, each with its message."""
    schema = files("s.json", SCHEMA)
    for arguments, err in (
        ([], "--model F is needed"),
        (["--model", "m.gguf"], "one of --prompt and --chat"),
        (["--model", "m.gguf", "--prompt", "a", "--chat", "c"], "one of --prompt and --chat"),
        (["--model", "m.gguf", "--chat", "c", "--raw"], "go with --prompt"),
        (["--model", "m.gguf", "--prompt", "a", "--raw", "--tools", "t"], "--raw goes without"),
        (["--model", "m.gguf", "--prompt", "a", "--preset", "qwen3"], "go with --tools"),
        (["--model", "m.gguf", "--prompt", "a", "--steps"], "need a grammar"),
        (["--model", "m.gguf", "--prompt", "a", "rest"], "unexpected argument rest"),
        (
            ["--model", "m.gguf", "--prompt", "a", "--tools", "t", "--schema", schema],
            "makes a grammar of its own",
        ),
        (["--model", "m.gguf", "--prompt", "a", "--threads", "0"], "--threads"),
        (["--model", "no-such.gguf", "--prompt", "a", "--schema", schema], "no-such.gguf"),
        (["--model", files("m.gguf", "GGUF"), "--prompt", "a"], "m.gguf"),
    ):
        expect(2, ["run", *arguments], err=err)
    expect(0, ["run", "--help"], out="--no-forced")


def libraries():
    """No library, a file that is none, and a library that is another one."""
    call = ["run", "--model", "m.gguf", "--vocab", make_vocab(), "--prompt", "a"]
    expect(2, [*call, "--library", "no/such/lib.so"], err="no/such/lib.so")
    expect(2, [*call, "--library", "no/such/lib.so"], err="./dev fetch model")
    expect(2, [*call, "--library", files("lib.so", "no library")], err="lib.so")
    code, _, err = turnstile(*call, env={"TURNSTILE_LLAMA": "no/such/lib.so"})
    check(code == 2 and b"no/such/lib.so" in err, f"TURNSTILE_LLAMA is read: {err!r}")
    other = ctypes.util.find_library("m")
    if other:
        expect(2, [*call, "--library", other], err="this llama.cpp has no")
    else:
        skip("there is no libm that could be opened")


FAKE = """
#include <stdint.h>
#include <stdlib.h>
struct context { uint32_t n[34]; };
struct model { uint32_t n[18]; };
struct context llama_context_default_params(void) { return (struct context){{%s}}; }
struct model llama_model_default_params(void) { return (struct model){{0}}; }
const char *llama_version(void) { return "9.9"; }
void *llama_model_load_from_file(const char *path, struct model p) { return 0; }
void llama_log_set(void (*log)(int, const char *, void *), void *ctx) {
  if (log) log(4, "the fake says no\\n", ctx);
}
size_t ggml_backend_reg_count(void) { return 1; }
"""
OTHERS = (
    "llama_backend_init llama_model_free llama_init_from_model llama_free llama_set_n_threads "
    "llama_n_ctx llama_model_get_vocab llama_vocab_n_tokens llama_model_chat_template "
    "llama_chat_apply_template llama_tokenize llama_batch_get_one llama_decode "
    "llama_get_logits_ith llama_get_memory llama_memory_seq_rm llama_memory_clear "
    "ggml_backend_load_all_from_path"
).split()


def versions():
    """A llama.cpp whose parameters are others is refused; one that loads no model says why."""
    compiler = shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")
    if not compiler:
        skip("there is no C compiler")
        return
    call = ["run", "--model", "m.gguf", "--vocab", make_vocab(), "--prompt", "a"]
    for numbers, err in (
        ("1, 2, 3", "has other parameters"),
        ("512, 2048, 512", "cannot load it: the fake says no"),
    ):
        rest = "".join(f"void {name}(void) {{}}\n" for name in OTHERS)
        source = files("fake.c", FAKE % numbers + rest)
        library = source.with_name(f"libfake{numbers[:1]}.so")
        subprocess.run([compiler, "-shared", "-fPIC", "-w", "-o", library, source], check=True)
        expect(2, [*call, "--library", library], err=err)


def make_vocab():
    """A tiktoken file with a token for each byte."""
    lines = (f"{base64.b64encode(bytes([i])).decode()} {i}" for i in range(256))
    return files("cl100k_base.tiktoken", "\n".join(lines) + "\n")


def main():
    refused()
    libraries()
    versions()
    print(f"{cli_checks.passed} passed, {cli_checks.failed} failed, {cli_checks.skipped} skipped")
    return 1 if cli_checks.failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
