#!/usr/bin/env python3
"""Rust: the crates in bindings/rust, built and tested by cargo. Only turnstile-types needs other
crates, those of its lock file. Texts are judged by PyPI's jsonschema.

    python tests/hosts/host_rust.py     (./dev test hosts runs it)

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

import jsonschema

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import common
import doc_blocks

CRATES = common.ROOT / "bindings" / "rust"
LAYOUT = r"""
#include <stddef.h>
#include <stdio.h>
#include "turnstile.h"
int main(void) {
  printf("error %zu %zu %zu desc %zu %zu %zu options %zu %zu limits %zu %zu %zu schema %zu"
         " %zu %zu %zu %zu regex %zu sampler %zu %zu draw %zu %zu step %zu %zu event %zu "
         "%zu drafts %zu %zu beam %zu align %zu score %zu %zu artifact %zu %zu tools %zu "
         "%zu part %zu %zu request %zu %zu",
         sizeof(tsl_error), offsetof(tsl_error, pointer), offsetof(tsl_error, message),
         sizeof(tsl_vocab_desc), offsetof(tsl_vocab_desc, special), offsetof(tsl_vocab_desc,
         eog_count), sizeof(tsl_vocab_options), offsetof(tsl_vocab_options, pattern),
         sizeof(tsl_limits), offsetof(tsl_limits, cancel), offsetof(tsl_limits, deadline_us),
         sizeof(tsl_schema_options), offsetof(tsl_schema_options, draft),
         offsetof(tsl_schema_options, nullable), offsetof(tsl_schema_options, max_nesting),
         offsetof(tsl_schema_options, base_uri), sizeof(tsl_regex_options),
         sizeof(tsl_sampler_options), offsetof(tsl_sampler_options, eog_count),
         sizeof(tsl_draw), offsetof(tsl_draw, kept), sizeof(tsl_step), offsetof(tsl_step,
         allowed), sizeof(tsl_event), offsetof(tsl_event, text_length), sizeof(tsl_drafts),
         offsetof(tsl_drafts, distinct), sizeof(tsl_beam_options), sizeof(tsl_align_options),
         sizeof(tsl_score_options), offsetof(tsl_score_options, open_end),
         sizeof(tsl_artifact_options), offsetof(tsl_artifact_options, source),
         sizeof(tsl_tools_options), offsetof(tsl_tools_options, report_ctx), sizeof(tsl_part),
         offsetof(tsl_part, length),
         sizeof(tsl_request_source), offsetof(tsl_request_source, compact));
  return 0;
}
"""


def layout():
    """What the C compiler makes of the structs."""
    program = common.BUILD / "hosts" / "layout"
    program.parent.mkdir(exist_ok=True)
    subprocess.run(
        ["cc", "-x", "c", "-", "-Iinclude", "-o", program], input=LAYOUT, text=True, check=True
    )
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


def finds_static_library():
    """What build.rs says to cargo of an installed library that is static alone: what it needs is
    linked, too.
    """
    with tempfile.TemporaryDirectory() as name:
        pathlib.Path(name, "turnstile.pc").write_text(
            "Name: turnstile\nDescription: -\nVersion: 1.2.3\nLibs: -L/opt/lib -lturnstile -lm\n"
        )
        program = pathlib.Path(name, "build")
        subprocess.run(
            ["rustc", "--edition=2021", "-o", program, CRATES / "turnstile-sys" / "build.rs"],
            check=True,
        )
        environment = {
            key: value for key, value in os.environ.items() if key != "TURNSTILE_LIB_DIR"
        }
        printed = subprocess.run(
            [program], env={**environment, "PKG_CONFIG_PATH": name}, capture_output=True, text=True
        ).stdout.splitlines()
    return [line for line in printed if "rustc-link" in line] == [
        "cargo:rustc-link-search=native=/opt/lib",
        "cargo:rustc-link-lib=turnstile",
        "cargo:rustc-link-lib=m",
    ]


def manifests_are_old():
    """Cargo 1.63 reads no manifest that inherits of its workspace; all of one version."""
    manifests = [
        (CRATES / crate / "Cargo.toml").read_text() for crate in ("turnstile-sys", "turnstile")
    ]
    same = {
        re.search(r'^version = "(.*)"\n(?s:.*)^rust-version = "(.*)"$', m, re.M).groups()
        for m in manifests
        if "workspace = true" not in m
    }
    return len(same) == 1


def count(printed):
    """{"passed", "failed", "skipped"} of what cargo test printed."""
    rows = re.findall(r"test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", printed)
    return {
        name: sum(int(row[i]) for row in rows)
        for i, name in enumerate(("passed", "failed", "skipped"))
    }


def types(environment):
    """The crate of types: its tests, and ticket.rs, the example of the README. The counts, and what
    ticket.rs prints.
    """
    done = subprocess.run(
        ["cargo", "test", "--locked", "--quiet"],
        cwd=CRATES / "turnstile-types",
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    counts = count(done.stdout)
    if done.returncode or not counts["passed"]:
        counts["failed"] += not counts["failed"]
        print(done.stdout)
    example = subprocess.run(
        [
            "bash",
            "-euo",
            "pipefail",
            "-c",
            doc_blocks.of_host("bindings/rust/README.md", "rust-types", "sh"),
        ],
        cwd=common.ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    valid = example.returncode == 0 and list(json.loads(example.stdout)) == [
        "queue",
        "priority",
        "urgent",
    ]
    counts["passed" if valid else "failed"] += 1
    return counts, example.stdout.strip()


def main():
    if not shutil.which("cargo"):
        common.missing("cargo is not there")
    environment = {
        **os.environ,
        "TURNSTILE_LIB_DIR": str(common.BUILD),
        "LD_LIBRARY_PATH": str(common.BUILD),
        "TURNSTILE_LAYOUT": layout(),
        "CARGO_TARGET_DIR": str(common.BUILD / "hosts" / "rust"),
        "CARGO_BUILD_JOBS": "2",
    }
    done = subprocess.run(
        [
            "cargo",
            "test",
            "--offline",
            "--locked",
            "--quiet",
            "--",
            "--nocapture",
            "--test-threads=1",
        ],
        cwd=CRATES,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    counts = count(done.stdout)
    counts["failed"] += done.returncode != 0 and not counts["failed"]
    schema = json.loads(
        re.search(
            r'r#"(.*?)"#', (CRATES / "turnstile" / "tests" / "generate.rs").read_text(), re.S
        )[1]
    )
    tokens, texts = 0, re.findall(r"text (\d+) (\{.*\})", done.stdout)
    for length, text in texts:
        jsonschema.validate(json.loads(text), schema)
        tokens += int(length)
        counts["passed"] += 1
    if counts["failed"]:
        print(done.stdout)
    command = doc_blocks.of_host("bindings/rust/README.md", "rust", "sh")
    example = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=common.ROOT,
        env={**environment, "CARGO_NET_OFFLINE": "true"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    valid = example.returncode == 0 and set(json.loads(example.stdout)) == {"name", "age"}
    counts["passed" if valid else "failed"] += 1
    counts["passed" if finds_static_library() else "failed"] += 1
    counts["passed" if manifests_are_old() else "failed"] += 1
    typed, ticket = types(environment)
    counts = {name: counts[name] + typed[name] for name in counts}
    version = subprocess.run(["cargo", "--version"], capture_output=True, text=True).stdout.split()[
        1
    ]
    common.end(
        counts,
        f"Rust (cargo {version}): turnstile-sys and turnstile, example person: "
        f"{example.stdout.strip()}; types: {ticket}; {common.account(counts, len(texts), tokens)}",
    )


if __name__ == "__main__":
    os.chdir(common.ROOT)
    main()
