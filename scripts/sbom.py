#!/usr/bin/env python3
"""The bill of materials of a build, as SPDX 2.3 JSON. It lists Turnstile, what its library links or
takes in as a header, and the checksums of what was built.

    scripts/sbom.py BUILD > turnstile.spdx.json

Versions are those that pkg-config gives for the machine that built it. The result says nothing
about when or where: the same tree and libraries give the same bytes, unless SOURCE_DATE_EPOCH says
otherwise. What benchmarks and tests use beside is in scripts/locks/packages.lock and
scripts/locks/requirements.lock.

SPDX-License-Identifier: Apache-2.0
"""

import datetime
import hashlib
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# pkg-config module, licence, how it gets in
PARTS = [
    ("yajl", "ISC", "DYNAMIC_LINK", "reads JSON"),
    ("libpcre2-8", "BSD-3-Clause", "DYNAMIC_LINK", "Unicode's tables, patterns of tokenizer files"),
    ("libxxhash", "BSD-2-Clause", "CONTAINS", "its header is compiled in"),
]
# What the tool alone is linked with, where it was built with it.
TOOL_PARTS = [("libmicrohttpd", "LGPL-2.1-or-later", "DYNAMIC_LINK", "HTTP of turnstile serve")]
BUILT = ["libturnstile.so", "libturnstile.a", "turnstile"]


def version_of(module):
    return subprocess.run(
        ["pkg-config", "--modversion", module], check=True, capture_output=True, text=True
    ).stdout.strip()


def package(name, version, licence, note=None):
    out = {
        "SPDXID": f"SPDXRef-{name}",
        "name": name,
        "versionInfo": version,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "downloadLocation": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "filesAnalyzed": False,
    }
    return {**out, "comment": note} if note else out


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    project = json.loads((build / "meson-info" / "intro-projectinfo.json").read_text())
    own = package("turnstile", project["version"], "Apache-2.0")
    packages, relations, files = [own], [("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"])], []
    for module, licence, how, note in PARTS:
        packages.append(package(module, version_of(module), licence, note))
        relations.append((own["SPDXID"], how, packages[-1]["SPDXID"]))
    found = json.loads((build / "meson-info" / "intro-dependencies.json").read_text())
    for module, licence, how, note in TOOL_PARTS:
        if any(dependency["name"] == module for dependency in found):
            packages.append(package(module, version_of(module), licence, note))
            relations.append(("SPDXRef-file-turnstile", how, packages[-1]["SPDXID"]))
    for name in BUILT:
        path = build / name
        if not path.exists():
            continue
        files.append(
            {
                "SPDXID": f"SPDXRef-file-{name}",
                "fileName": name,
                "licenseConcluded": "Apache-2.0",
                "copyrightText": "NOASSERTION",
                "checksums": [
                    {
                        "algorithm": "SHA256",
                        "checksumValue": hashlib.sha256(path.read_bytes()).hexdigest(),
                    },
                    {
                        "algorithm": "SHA1",
                        "checksumValue": hashlib.sha1(path.read_bytes()).hexdigest(),
                    },
                ],
            }
        )
        relations.append((own["SPDXID"], "GENERATES", files[-1]["SPDXID"]))
    digest = hashlib.sha256(json.dumps([packages, files]).encode()).hexdigest()
    created = datetime.datetime.fromtimestamp(
        int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc
    )
    json.dump(
        {
            "spdxVersion": "SPDX-2.3",
            "dataLicense": "CC0-1.0",
            "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"turnstile-{project['version']}",
            "documentNamespace": f"urn:sha256:{digest}",
            "creationInfo": {
                "created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "creators": ["Tool: scripts/sbom.py"],
            },
            "packages": packages,
            "files": files,
            "relationships": [
                {"spdxElementId": a, "relationshipType": r, "relatedSpdxElement": b}
                for a, r, b in relations
            ],
        },
        sys.stdout,
        indent=1,
    )
    print()


if __name__ == "__main__":
    main()
