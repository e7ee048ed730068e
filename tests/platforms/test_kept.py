#!/usr/bin/env python3
"""Artifacts that older versions wrote are read as they were meant, or refused.

For each format that there was, tests/platforms/kept-FORMAT.tslgrammar is a file that its version
wrote of SCHEMA, for the embedded vocabulary. A tool of the same format gives the same masks from it
as from the schema. A tool of another format refuses it: exit status 2 and TSL_ERR_FORMAT. So the
test notices a change of the format that forgets the number, or that reads an old file wrongly.

    test_kept.py            check the files
    test_kept.py --write    add the file of the present format, after a change

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import re
import sys
import tempfile

import platform_checks as platform
from platform_checks import BUILD, ROOT, check, run, works

FOLDER = ROOT / "tests" / "platforms"
TOOL = pathlib.Path(os.environ.get("TSL_CLI", BUILD / "turnstile"))
SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 10, "maximum": 42}},
    "required": ["n"],
    "additionalProperties": False,
}
PREFIXES = ["", "{", '{"n"', '{"n": ', '{"n": 4', '{"n": 42', '{"n": 42}']


def present():
    text = (ROOT / "runtime" / "artifact" / "artifact.h").read_text(encoding="utf-8")
    return int(re.search(r"#define TSL__ARTIFACT_VERSION (\d+)u", text).group(1))


def masks(*grammar):
    """The ids that are allowed after each prefix."""
    return [run(TOOL, "mask", *grammar, "--prefix", prefix, "--ids").stdout for prefix in PREFIXES]


def main():
    now = present()
    with tempfile.TemporaryDirectory() as name:
        schema = pathlib.Path(name, "schema.json")
        schema.write_text(json.dumps(SCHEMA))
        if "--write" in sys.argv:
            kept = FOLDER / f"kept-{now}.tslgrammar"
            works("compile", TOOL, "compile", "--schema", schema, "-o", kept)
            return platform.close()
        files = {
            int(re.search(r"-(\d+)\.", path.name).group(1)): path
            for path in FOLDER.glob("kept-*.tslgrammar")
        }
        check(now in files, f"there is no file of format {now}: test_kept.py --write")
        wanted = masks("--schema", schema)
        check(all(wanted[:-1]), f"the schema allows something after each prefix: {wanted}")
        for number, path in files.items():
            if number == now:
                found = masks("--artifact", path)
                for prefix, a, b in zip(PREFIXES, wanted, found):
                    check(a == b, f"{path.name} after {prefix!r}: {b!r}, not {a!r}")
            else:
                done = run(TOOL, "mask", "--artifact", path, "--json")
                said = done.stdout + done.stderr
                refused = done.returncode == 2 and "TSL_ERR_FORMAT" in said
                check(refused, f"{path.name} is refused: {done.returncode}: {said}")
        with tempfile.NamedTemporaryFile(suffix=".tslgrammar") as other:
            data = bytearray(files[now].read_bytes()) if now in files else bytearray(64)
            data[12] = now - 1  # the format, behind eight letters and the order of bytes
            other.write(data)
            other.flush()
            done = run(TOOL, "mask", "--artifact", other.name, "--json")
            refused = done.returncode == 2 and "TSL_ERR_FORMAT" in done.stdout + done.stderr
            check(refused, f"another number is refused: {done.stdout}{done.stderr}")
    return platform.close()


if __name__ == "__main__":
    sys.exit(main())
