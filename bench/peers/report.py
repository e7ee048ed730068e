"""The report of `./dev bench peers`: peers.md, and plots as SVG that need nothing to be drawn with.

SPDX-License-Identifier: Apache-2.0
"""

import json
import math

COLOURS = {
    "Turnstile": "#c0392b",
    "llguidance": "#2471a3",
    "XGrammar": "#1e8449",
    "XGrammar, cache": "#82c99b",
    "outlines-core": "#8e44ad",
    "llama.cpp": "#b9770e",
}
OUTCOMES = [
    ("pass", "pass", "#4c9a5b"),
    ("refused", "refused", "#b8c4cc"),
    ("validation_error", "valid rejected", "#e0a030"),
    ("invalidation_error", "invalid accepted", "#c0392b"),
    ("timeout", "timeout, limit or crash", "#5d6d7e"),
]
POINTS = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)]


def folded(outcome):
    """What is counted as one in the report."""
    return "timeout" if outcome in ("limit", "crash", "inconsistent") else outcome


def percentile(ordered, p):
    return ordered[max(0, math.ceil(p * len(ordered)) - 1)]


def gather(results, engines):
    """Engine -> its samples and outcomes."""
    data = {e: {"both": [], "mask": [], "first": [], "outcomes": {}} for e in engines}
    for r in results:
        d = data[r["engine"]]
        d["outcomes"][folded(r["outcome"])] = d["outcomes"].get(folded(r["outcome"]), 0) + 1
        d["mask"] += r["mask_samples_us"]
        d["both"] += [m + c for m, c in zip(r["mask_samples_us"], r["commit_samples_us"])]
        if r["ttfm_us"]:
            d["first"].append(r["ttfm_us"])
    for d in data.values():
        for key in ("both", "mask", "first"):
            d[key].sort()
    return data


def number(value):
    return f"{value:,.2f}" if value < 10 else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def table(data, key):
    lines = [
        "| | avg | " + " | ".join(name for name, _ in POINTS) + " | max | samples |",
        "|---" * (len(POINTS) + 4) + "|",
    ]
    for engine, d in data.items():
        s = d[key]
        if s:
            cells = [sum(s) / len(s), *(percentile(s, p) for _, p in POINTS), s[-1]]
            lines.append(
                f"| {engine} | " + " | ".join(number(c) for c in cells) + f" | {len(s):,} |"
            )
    return "\n".join(lines)


def common(results, engines):
    """Only the schemas that every engine passes."""
    passed = {}
    for r in results:
        if r["outcome"] == "pass":
            passed.setdefault(r["id"], set()).add(r["engine"])
    return [r for r in results if len(passed.get(r["id"], ())) == len(engines)]


# ---- plots ---------------------------------------------------------------------------------------


def text(x, y, content, anchor="start", size=12):
    content = content.replace("&", "&amp;").replace("<", "&lt;")
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{content}</text>'
    )


def svg(width, height, body):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" fill="#222">'
        f'<rect width="{width}" height="{height}" fill="#fff"/>' + "\n".join(body) + "</svg>\n"
    )


def label(us):
    return f"{us:g} µs" if us < 1000 else f"{us / 1000:g} ms" if us < 1e6 else f"{us / 1e6:g} s"


def axis_x(low, high, left, width, top, bottom):
    """Grid lines at powers of ten."""
    out = []
    for power in range(low, high + 1):
        x = left + width * (power - low) / (high - low)
        out += [
            f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" stroke="#ddd"/>',
            text(x, bottom + 18, label(10.0**power), "middle"),
        ]
    return out


def cdf(data, key, title):
    """How many of the samples are at most so long; time on a logarithmic axis."""
    left, top, width, height = 60, 40, 620, 300
    samples = [d[key] for d in data.values() if d[key]]
    low = math.floor(math.log10(max(0.01, min(s[len(s) // 100] for s in samples))))
    high = math.ceil(math.log10(max(s[-1] for s in samples)))
    body = [text(left, 22, title, size=15), *axis_x(low, high, left, width, top, top + height)]
    for share in (0, 25, 50, 75, 100):
        y = top + height * (1 - share / 100)
        body += [
            f'<line x1="{left}" y1="{y}" x2="{left + width}" y2="{y}" stroke="#ddd"/>',
            text(left - 8, y + 4, f"{share} %", "end"),
        ]
    for i, (engine, d) in enumerate(data.items()):
        s = d[key]
        if not s:
            continue
        points = []
        for step in range(401):
            us = max(s[min(len(s) - 1, step * len(s) // 400)], 10.0**low)
            x = left + width * (math.log10(us) - low) / (high - low)
            points.append(f"{x:.1f},{top + height * (1 - step / 400):.1f}")
        body.append(
            f'<polyline points="{" ".join(points)}" fill="none" stroke="{COLOURS[engine]}" '
            'stroke-width="2"/>'
        )
        body += [
            f'<rect x="{left + width + 16}" y="{top + 22 * i}" width="14" height="14" '
            f'fill="{COLOURS[engine]}"/>',
            text(left + width + 36, top + 12 + 22 * i, engine),
        ]
    return svg(left + width + 170, top + height + 40, body)


def bars(data, schemas):
    left, width, row = 130, 560, 34
    body = [text(left, 22, f"Outcomes of {schemas:,} schemas", size=15)]
    for i, (engine, d) in enumerate(data.items()):
        x, y = left, 40 + row * i
        body.append(text(left - 8, y + 17, engine, "end"))
        for outcome, _, colour in OUTCOMES:
            n = d["outcomes"].get(outcome, 0)
            w = width * n / schemas
            if n:
                body.append(
                    f'<rect x="{x:.1f}" y="{y}" width="{w:.1f}" height="24" fill="{colour}"/>'
                )
            if w > 26:
                body.append(text(x + w / 2, y + 17, str(n), "middle"))
            x += w
    y = 40 + row * len(data) + 10
    for i, (_, name, colour) in enumerate(OUTCOMES):
        x = left + i * 120
        body += [
            f'<rect x="{x}" y="{y}" width="12" height="12" fill="{colour}"/>',
            text(x + 17, y + 11, name, size=11),
        ]
    return svg(left + width + 120, y + 30, body)


# ---- the report ----------------------------------------------------------------------------------


def outcomes(data):
    lines = [
        "| | " + " | ".join(name for _, name, _ in OUTCOMES) + " |",
        "|---" * (len(OUTCOMES) + 1) + "|",
    ]
    lines += [
        f"| {e} | " + " | ".join(str(d["outcomes"].get(o, 0)) for o, _, _ in OUTCOMES) + " |"
        for e, d in data.items()
    ]
    return "\n".join(lines)


def ratios(data):
    own = data["Turnstile"]
    lines = [
        "| peer ÷ Turnstile | mask + commit, avg | p50 | p99 | first mask, p50 | p99 |",
        "|---|---|---|---|---|---|",
    ]
    for engine, d in data.items():
        if engine == "Turnstile" or not d["both"]:
            continue
        average = [sum(x["both"]) / len(x["both"]) for x in (d, own)]
        cells = [average[0] / average[1]] + [
            percentile(d[k], p) / percentile(own[k], p)
            for k, p in (("both", 0.5), ("both", 0.99), ("first", 0.5), ("first", 0.99))
        ]
        lines.append(f"| {engine} | " + " | ".join(number(c) + " ×" for c in cells) + " |")
    return "\n".join(lines)


def write(folder, results, engines, about):
    data = gather(results, engines)
    shared = gather(common(results, engines), engines)
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    lines = [
        "# Turnstile beside other engines",
        "",
        f"Made by `./dev bench peers` on {about['date']}: {about['machine']}; {versions}. "
        f"{about['schemas']:,} schemas of {about['data']}"
        + (", a sample spread evenly over the file" if about["limit"] else "")
        + ", with Llama-3.1's vocabulary (128,256 tokens). Every mask is complete. Each engine has "
        "one thread, all on the same core, and they take turns schema by schema, with at most "
        f"{about['timeout']} s for a schema. Times are in µs. The whole run took "
        f"{about['wall_s']} s. Figures of Python workers include the call through their binding "
        "(0.2 to 0.5 µs), as their users see it. Between two runs of an engine the others run and "
        "leave the caches cold. So a figure is higher here than where one engine runs alone.",
        *([about["note"]] if about["note"] else []),
        "",
        f"Turnstile's masks, checked: {about['verified']}.",
        "",
    ]
    lines += [f"Missing in this run: {name} ({why})." for name, why in about["missing"].items()]
    lines += [
        "",
        "## Outcomes",
        "",
        "![outcomes](peers-outcomes.svg)",
        "",
        outcomes(data),
        "",
        "## Mask + commit",
        "",
        "![mask](peers-mask.svg)",
        "",
        table(data, "both"),
        "",
        "## Schema to first mask",
        "",
        "![first mask](peers-first.svg)",
        "",
        table(data, "first"),
        "",
    ]
    if "Turnstile" in data and len(data) > 1:
        lines += ["## Ratios", "", ratios(data), ""]
        some = sum(1 for r in common(results, engines) if r["engine"] == "Turnstile")
        if some:
            lines += [
                f"## The {some} schemas that all pass",
                "",
                "Mask + commit:",
                "",
                table(shared, "both"),
                "",
                "Schema to first mask:",
                "",
                table(shared, "first"),
                "",
            ]
    lines += [
        "How each engine is driven stands at the top of its worker in `bench/peers/`. Turnstile "
        "takes members in any order here, llguidance, XGrammar and outlines-core "
        "in the schema's, and llama.cpp required ones first. Some of their rejections of valid "
        "texts come from that.",
        "",
    ]
    (folder / "peers.md").write_text("\n".join(lines), encoding="utf-8")
    (folder / "peers-outcomes.svg").write_text(bars(data, about["schemas"]), encoding="utf-8")
    (folder / "peers-mask.svg").write_text(
        cdf(data, "both", "Mask + commit: share of tokens that take at most this long"),
        encoding="utf-8",
    )
    (folder / "peers-first.svg").write_text(
        cdf(data, "first", "Schema to first mask: share of schemas"), encoding="utf-8"
    )
    (folder / "peers-summary.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
