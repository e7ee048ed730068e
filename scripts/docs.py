#!/usr/bin/env python3
"""Build the manual as a site: docs/, a reference made of include/turnstile.h, railroads of the
shipped grammars; with mkdocs-material, in build/manual/site.

    scripts/docs.py            (./dev docs)

The site works from the file system (but for its search box, which needs a server) and loads nothing
from elsewhere. mkdocs runs strict: a warning is a failure, as is a link that leads nowhere. Links
from docs/ to files of the tree that are no pages are kept as names. Packages:
scripts/locks/docs.lock, installed with pip into build/manual/venv.

SPDX-License-Identifier: Apache-2.0
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MANUAL = ROOT / "build" / "manual"
LOCK = ROOT / "scripts" / "locks" / "docs.lock"
CONFIG = """site_name: Turnstile
site_description: Constrained decoding for language models
docs_dir: pages
site_dir: site
use_directory_urls: false
theme:
  name: material
  font: false
  features: [navigation.sections, navigation.top, toc.follow, content.code.copy]
  palette:
    - media: "(prefers-color-scheme: light)"
      scheme: default
      primary: teal
      toggle: {icon: material/weather-night, name: Dark}
    - media: "(prefers-color-scheme: dark)"
      scheme: slate
      primary: teal
      toggle: {icon: material/weather-sunny, name: Light}
plugins: [search, offline]
markdown_extensions: [tables, attr_list, toc, pymdownx.highlight, pymdownx.superfences]
validation: {omitted_files: warn, absolute_links: warn, unrecognized_links: warn, anchors: warn}
nav:
"""
NAV = [
    ("Turnstile", "index.md"),
    ("Guide", "guide.md"),
    ("Concepts", "concepts.md"),
    ("Inspector and playground", "inspector.md"),
    ("What it does", ["schema.md", "tools.md", "sampling.md", "decoding.md", "vocabularies.md"]),
    (
        "Hosts",
        [
            "models.md",
            "hosts.md",
            "switch.md",
            "python.md",
            "llama.cpp.md",
            "artifacts.md",
            "scale-out.md",
        ],
    ),
    ("Platforms", "platforms.md"),
    ("Reference", "reference.md"),
    ("Limits and security", ["limits.md", "security.md"]),
    (
        "Benchmarks",
        ["bench.md", "bench/peers.md", "bench/scaling.md", "bench/tools.md", "bench/gpu.md"],
    ),
    ("Testing", ["testing.md", "testing-log.md"]),
    (
        "Work on it",
        ["contributing.md", "architecture.md", "extend.md", "glossary.md", "changelog.md"],
    ),
    ("Railroads", "railroads.md"),
]


def environment():
    """Python with mkdocs; pip checks the hashes."""
    venv, stamp = MANUAL / "venv", f"{hashlib.sha256(LOCK.read_bytes()).hexdigest()} {sys.version}"
    mark = venv / ".stamp"
    if not mark.is_file() or mark.read_text() != stamp:
        print("== installing mkdocs-material into build/manual/venv", file=sys.stderr, flush=True)
        shutil.rmtree(venv, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        subprocess.run(
            [
                str(venv / "bin" / "python"),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--no-deps",
                "--only-binary",
                ":all:",
                "--require-hashes",
                "-r",
                str(LOCK),
            ],
            check=True,
        )
        mark.write_text(stamp)
    return venv / "bin" / "python"


# ---- the reference -------------------------------------------------------------------------------


def prose(comment):
    """A C comment as Markdown."""
    lines = [
        re.sub(r"^\s*(/\*|\*/|\*)? ?", "", line).removesuffix("*/").rstrip()
        for line in comment.split("\n")
    ]
    text = re.sub(r"([<>_*|])", r"\\\1", "\n".join(lines).strip())
    return text


def reference(header):
    """Chunks of the header: a heading for each section, then comments as text and declarations as
    code.
    """
    out = ["# Reference", "", "Made of `include/turnstile.h`, which is the whole interface.", ""]
    body = header[header.index("/* ---- 1. Status") : header.index("#ifdef __cplusplus\n}")]
    for chunk in re.split(r"\n\s*\n|\n(?=/\* --)", body):
        chunk = chunk.strip("\n")
        title = re.match(r"/\* -{2,4} ([0-9].*?) -{2,} \*/", chunk)
        if title:
            out += [("### " if chunk.startswith("/* -- ") else "## ") + title[1], ""]
            chunk = chunk[title.end() :].strip("\n")
        comment = re.match(r"/\*.*?\*/(?=\n|$)", chunk, re.S)
        if comment:
            out += [prose(comment[0]), ""]
            chunk = chunk[comment.end() :].strip("\n")
        if chunk:
            out += ["```c", chunk.replace("TSL_API ", ""), "```", ""]
    return "\n".join(out)


# ---- other pages ---------------------------------------------------------------------------------


def railroads():
    """Every rule of every shipped grammar, drawn by page/railroad.js."""
    if not shutil.which("node"):
        return (
            "# Railroads\n\nNode was not there when this site was built, so the rules of the "
            "shipped grammars were not drawn.\n"
        )
    out = [
        "# Railroads",
        "",
        "The rules of the grammars in `schemas/examples`, as `turnstile explain --rules` shows "
        "them.",
        "",
    ]
    script = (
        "const R = require('./page/railroad.js'); "
        "console.log(JSON.stringify(JSON.parse(require('fs').readFileSync(0)).rules.map((r) "
        "=> [r.name, R.draw(r)])))"
    )
    for path in sorted((ROOT / "schemas" / "examples").glob("*.gbnf")):
        rules = subprocess.run(
            [str(ROOT / "build" / "turnstile"), "explain", "--grammar", str(path), "--rules"],
            check=True,
            capture_output=True,
        ).stdout
        drawn = json.loads(
            subprocess.run(
                ["node", "-e", script], input=rules, check=True, capture_output=True, cwd=ROOT
            ).stdout
        )
        out += [f"## {path.name}", ""]
        for name, svg in drawn:
            out += [f"**{name}**", "", f'<div style="overflow-x: auto">{svg}</div>', ""]
    return "\n".join(out)


def plots():
    """The plots of docs/bench as they are there, each run with the day that its report says."""
    out = [
        "",
        "## Plots",
        "",
        "As the last runs in `docs/bench` left them; figures of other days and versions are in "
        "the reports' history.",
    ]
    for name, title in (("peers", "Beside other engines"), ("scaling", "Scaling")):
        report = (ROOT / "docs" / "bench" / f"{name}.md").read_text(encoding="utf-8")
        day = re.search(r"^Made by `[^`]*` on (\d{4}-\d\d-\d\d)", report, re.M)
        if not day:
            sys.exit(f"docs/bench/{name}.md does not say when it was made")
        out += [
            "",
            f"### {title}, {day[1]}",
            "",
            f"[The report](bench/{name}.md) says how it was measured.",
        ]
        out += [
            part
            for alt, file in re.findall(r"!\[([^\]]*)\]\(([^)]+\.svg)\)", report)
            for part in ("", f"![{alt}](bench/{file})")
        ]
    return "\n".join(out) + "\n"


def index(readme):
    """The README; its last section lists pages, which the manual's own navigation does."""
    return (
        readme.split("\n## More\n")[0].replace("](docs/pictures/", "](pictures/")
        + "\n\nBegin with the [guide](docs/guide.md), or [see it](docs/inspector.md).\n"
    )


def relink(text, page):
    """Links of a file of the tree become links of the site; what is no page is named only."""
    special = {
        ROOT / "include" / "turnstile.h": "reference.md",
        ROOT / "SECURITY.md": "security.md",
        ROOT / "README.md": "index.md",
        ROOT / "CONTRIBUTING.md": "contributing.md",
        ROOT / "CHANGELOG.md": "changelog.md",
    }

    def target(match):
        label, path, anchor = match[1], match[2], match[3] or ""
        if re.match(r"[a-z]+:", path):
            return match[0]
        file = (page["source"].parent / path).resolve()
        if file in special:
            place = special[file]
        elif file.is_relative_to(ROOT / "docs") and file.is_file():
            place = str(file.relative_to(ROOT / "docs"))
        else:
            return label if label.startswith("`") else f"`{label}`"
        return f"[{label}]({os.path.relpath(place, pathlib.Path(page['to']).parent)}{anchor})"

    return re.sub(r"(?<!!)\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)", target, text)


def pages():
    """{place in the site: text}."""
    found = {}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        to = str(path.relative_to(ROOT / "docs"))
        found[to] = relink(path.read_text(encoding="utf-8"), {"source": path, "to": to})
    for name, to, change in (
        ("README.md", "index.md", index),
        ("SECURITY.md", "security.md", str),
        ("CONTRIBUTING.md", "contributing.md", str),
        ("CHANGELOG.md", "changelog.md", str),
    ):
        found[to] = relink(
            change((ROOT / name).read_text(encoding="utf-8")), {"source": ROOT / name, "to": to}
        )
    found["bench.md"] += plots()
    found["reference.md"] = reference(
        (ROOT / "include" / "turnstile.h").read_text(encoding="utf-8")
    )
    found["railroads.md"] = railroads()
    return found


def nav_lines(found):
    named, lines = set(), []
    for title, places in NAV:
        if isinstance(places, str):
            lines.append(f"  - {title}: {places}")
            named.add(places)
            continue
        lines.append(f"  - {title}:")
        lines += [f"    - {place}" for place in places]
        named |= set(places)
    rest = sorted(set(found) - named)
    if rest:
        lines += ["  - More:", *(f"    - {place}" for place in rest)]
    return "\n".join(lines) + "\n"


def main():
    python, place = environment(), MANUAL / "pages"
    shutil.rmtree(place, ignore_errors=True)
    found = pages()
    for to, text in found.items():
        (place / to).parent.mkdir(parents=True, exist_ok=True)
        (place / to).write_text(text, encoding="utf-8")
    for picture in (p for p in (ROOT / "docs").rglob("*") if p.suffix in (".svg", ".png", ".webp")):
        target = place / picture.relative_to(ROOT / "docs")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(picture, target)
    (MANUAL / "mkdocs.yml").write_text(CONFIG + nav_lines(found), encoding="utf-8")
    done = subprocess.run(
        [
            str(python),
            "-m",
            "mkdocs",
            "build",
            "--strict",
            "--quiet",
            "-f",
            str(MANUAL / "mkdocs.yml"),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    said = done.stdout.strip()
    if done.returncode or said:
        sys.exit(f"{said}\nthe manual has warnings")
    made = list((MANUAL / "site").rglob("*.html"))
    # the one thing that the theme would load; without it the search box works where the site is
    # served, not from the file system
    for path in made:
        path.write_text(
            re.sub(
                r'<script src="https://unpkg\.com/iframe-worker/shim"></script>',
                "",
                path.read_text(encoding="utf-8"),
            ),
            encoding="utf-8",
        )
    loaded = [
        f"{path.name}: {url}"
        for path in made
        for url in re.findall(
            r'<(?:script|link|img)[^>]+(?:src|href)="(https?://[^"]+)"',
            path.read_text(encoding="utf-8"),
        )
    ]
    if loaded:
        sys.exit(f"the site would load {loaded[:3]}")
    print(
        f"build/manual/site/index.html: {len(made)} pages, no warning, nothing loaded from "
        "elsewhere"
    )


if __name__ == "__main__":
    main()
