"""docs/quality.md: the tables and pictures, from the results.

    python3 bench/eval/report.py [RESULTS]      (./dev eval --report does the same)

Results are lines of JSON: those that are kept (results.jsonl.xz), then those of a run
(build/eval.jsonl). The last line of an answer counts.

The page has its words by hand, and tables between lines `<!-- eval: NAME -->` and `<!-- /eval -->`,
which this file writes, as it writes docs/quality/*.svg. An answer is judged here, by its text: so a
change of the rules needs no new run.

Intervals are 95 %. Shares have Wilson's. Means, and differences between two conditions on the same
tasks, have a bootstrap over tasks (2,000 resamples, seed fixed).

SPDX-License-Identifier: Apache-2.0
"""

import collections
import html
import json
import lzma
import math
import pathlib
import random
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "eval"))
import tasks  # noqa: E402

KEPT = ROOT / "bench" / "eval" / "results.jsonl.xz"
PAGE = ROOT / "docs" / "quality.md"
PICTURES = ROOT / "docs" / "quality"
RESAMPLES = 2000
NAMES = {
    "free": "no grammar, `json.loads`",
    "lenient": "no grammar, lenient reader",
    "schema": "Turnstile, schema order",
    "schema-unforced": "the same, no forced tokens",
    "any-order": "Turnstile, any order",
    "compact": "Turnstile, compact JSON",
    "llama.cpp": "llama.cpp's grammar",
    "xgrammar": "XGrammar",
    "llguidance": "llguidance",
}
SPEED = {
    "free": "no grammar",
    "schema": "Turnstile, schema order",
    "schema-unforced": "the same, no forced tokens",
    "drafts": "the same, drafts that the model checks",
    "any-order": "Turnstile, any order",
    "compact": "Turnstile, compact JSON",
    "llama.cpp": "llama.cpp's grammar",
    "xgrammar": "XGrammar",
    "llguidance": "llguidance",
}
SAMPLED = {
    "free": "no grammar, `json.loads`",
    "lenient": "no grammar, lenient reader",
    "schema": "Turnstile, schema order",
    "aligned": "Turnstile, aligned samples",
    "aligned-learned": "aligned, after 20 samples",
}
SHORT = ("classification", "arithmetic")  # kinds that all of SAMPLED is run on


# ---- statistics ----------------------------------------------------------------------------------


def wilson(hits, n):
    """The share and its interval of 95 %."""
    if not n:
        return 0.0, 0.0, 0.0
    z, p = 1.959964, hits / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return p, max(0.0, middle - half), min(1.0, middle + half)


def bootstrap(values):
    """The mean and its interval of 95 %, resampled over tasks."""
    if not values:
        return 0.0, 0.0, 0.0
    rng = random.Random(1)
    means = sorted(sum(rng.choices(values, k=len(values))) / len(values) for _ in range(RESAMPLES))
    mean = sum(values) / len(values)
    return mean, means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES) - 1]


def median(values):
    values = sorted(values)
    return values[len(values) // 2] if values else 0.0


# ---- answers -------------------------------------------------------------------------------------


def leaves(truth, value):
    """(members that are right, members)"""
    if isinstance(truth, dict):
        sums = [
            leaves(one, value.get(key) if isinstance(value, dict) else None)
            for key, one in truth.items()
        ]
        return sum(a for a, _ in sums), sum(b for _, b in sums)
    return int(tasks.equal(value, truth)), 1


def parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def answers(path):
    """The lines of the kept file and of `path`, by (model, task, condition, seed)."""
    text = lzma.decompress(KEPT.read_bytes()).decode() if KEPT.is_file() else ""
    if pathlib.Path(path).is_file():
        text += pathlib.Path(path).read_text()
    lines = {}
    for line in text.splitlines():
        one = json.loads(line)
        lines[one["model"], one["task"], one["condition"], one["seed"]] = one
    return lines


def keep(path):
    """Put all answers into the kept file."""
    lines = [json.dumps(one, ensure_ascii=False) for one in answers(path).values()]
    KEPT.write_bytes(lzma.compress(("\n".join(lines) + "\n").encode(), preset=9))


def read(path):
    """Answers by (model, condition, is sampled), each with what is judged of it."""
    known = {task.name: task for task in tasks.tasks()}
    found = collections.defaultdict(list)
    for one in answers(path).values():
        task, sampled = known[one["task"]], one["seed"] is not None
        ways = [(one["condition"], parsed(one["text"]), one["valid"])]
        if one["condition"] == "free":
            ways.append(("lenient", one["lenient_value"], one["lenient_valid"]))
        for condition, value, valid in ways:
            right, of = leaves(task.truth, value)
            judged = {"valid": valid, "exact": tasks.equal(value, task.truth), "share": right / of}
            found[one["model"], condition, sampled].append({**one, **judged})
    return found


# ---- tables --------------------------------------------------------------------------------------


def percent(triple):
    mean, low, high = triple
    return f"{100 * mean:.0f} % ({100 * low:.0f}–{100 * high:.0f})"


def quality_row(name, answers):
    """Of greedy answers, or of samples, whose tasks are the units of the bootstrap."""
    by_task = collections.defaultdict(list)
    for one in answers:
        by_task[one["task"]].append(one)

    def means(member):
        return [sum(float(o[member]) for o in group) / len(group) for group in by_task.values()]

    sampled = any(len(group) > 1 for group in by_task.values())
    cells = [name, str(len(answers))]
    for member in ("valid", "exact"):
        hits = sum(one[member] for one in answers)
        cells.append(percent(bootstrap(means(member)) if sampled else wilson(hits, len(answers))))
    return [*cells, percent(bootstrap(means("share")))]


def table(head, rows, left=1):
    if not rows:
        return "No answers yet."
    lines = ["| " + " | ".join(head) + " |"]
    lines.append("|" + "|".join("---" if i < left else "---:" for i in range(len(head))) + "|")
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


CHANGES = ["change", "tasks", "valid, points", "exact, points", "members right, points"]
HEAD = ["greedy", "answers", "valid", "exact", "members right"]


def quality(found, model, names, sampled=False, kinds=tasks.KINDS):
    rows = []
    for name, label in names.items():
        answers = [o for o in found.get((model, name, sampled), []) if o["kind"] in kinds]
        if answers:
            rows.append(quality_row(label, answers))
    return table(["sampled" if sampled else "greedy", *HEAD[1:]], rows)


def means(answers, kinds):
    """The means over the samples of each task."""
    by_task = collections.defaultdict(list)
    for one in answers:
        if one["kind"] in kinds:
            by_task[one["task"]].append(one)
    members = ("valid", "exact", "share")
    return {
        task: {m: sum(float(o[m]) for o in of) / len(of) for m in members}
        for task, of in by_task.items()
    }


def sampled_differences(found, model):
    """What one change does to samples, on the tasks that both conditions have."""
    rows = []
    for what, one, other, sides, kinds in (
        ("grammar instead of the lenient reader", "lenient", "schema", (True, True), tasks.KINDS),
        ("samples instead of greedy", "schema", "schema", (False, True), tasks.KINDS),
        ("aligned", "schema", "aligned", (True, True), tasks.KINDS),
        ("aligned, short answers", "schema", "aligned", (True, True), SHORT),
        (
            "aligned after 20 samples, short answers",
            "schema",
            "aligned-learned",
            (True,) * 2,
            SHORT,
        ),
    ):
        first, second = (
            means(found.get((model, name, side), []), kinds)
            for name, side in zip((one, other), sides)
        )
        both = [(first[task], second[task]) for task in first if task in second]
        if both:
            cells = [signed(difference(both, m)) for m in ("valid", "exact", "share")]
            rows.append([what, str(len(both)), *cells])
    return table(CHANGES, rows)


def by_kind(found, model):
    """Exact answers by kind of task."""
    rows = []
    for name in ("free", "lenient", "schema", "any-order", "compact"):
        answers = found.get((model, name, False), [])
        cells = [NAMES[name]]
        for kind in tasks.KINDS:
            of = [one for one in answers if one["kind"] == kind]
            cells.append(percent(wilson(sum(o["exact"] for o in of), len(of))))
        rows.append(cells)
    counts = [
        sum(one["kind"] == kind for one in found.get((model, "schema", False), []))
        for kind in tasks.KINDS
    ]
    head = ["exact", *(f"{kind} (n {n})" for kind, n in zip(tasks.KINDS, counts))]
    return table(head, rows)


def pairs(found, model, one, other, kinds=tasks.KINDS):
    """Answers of two conditions to the same tasks."""
    second = {x["task"]: x for x in found.get((model, other, False), [])}
    return [
        (x, second[x["task"]])
        for x in found.get((model, one, False), [])
        if x["task"] in second and x["kind"] in kinds
    ]


def difference(both, member):
    """Mean of the second minus the first, over tasks."""
    return bootstrap([float(b[member]) - float(a[member]) for a, b in both])


def signed(triple):
    return "{:+.0f} ({:+.0f} to {:+.0f})".format(*(100 * x for x in triple))


def differences(found, model):
    """What one change does, on the tasks that both conditions have."""
    rows = []
    for what, one, other, kinds in (
        ("grammar instead of the lenient reader", "lenient", "schema", tasks.KINDS),
        ("forced tokens", "schema-unforced", "schema", tasks.KINDS),
        ("members in any order", "schema", "any-order", tasks.KINDS),
        ("compact JSON", "schema", "compact", tasks.KINDS),
        ("reasoning first, classification", "schema", "thinking", ("classification",)),
        ("reasoning first, arithmetic", "schema", "thinking", ("arithmetic",)),
        (
            "reasoning first, not last, classification",
            "thinking-last",
            "thinking",
            ("classification",),
        ),
        ("reasoning first, not last, arithmetic", "thinking-last", "thinking", ("arithmetic",)),
        ("guard against loops, reasoning first", "thinking", "guard", tasks.KINDS),
        ("reasoning of any length, not 200", "thinking", "endless", tasks.KINDS),
        ("guard against loops, any length", "endless", "endless-guard", tasks.KINDS),
        ("Turnstile instead of llama.cpp's grammar", "llama.cpp", "schema", tasks.KINDS),
        ("Turnstile instead of XGrammar", "xgrammar", "schema", tasks.KINDS),
        ("Turnstile instead of llguidance", "llguidance", "schema", tasks.KINDS),
    ):
        both = pairs(found, model, one, other, kinds)
        if both:
            rows.append(
                [
                    what,
                    str(len(both)),
                    *(signed(difference(both, m)) for m in ("valid", "exact", "share")),
                ]
            )
    return table(CHANGES, rows)


def rate(answers, member):
    """Tokens or passes in a second."""
    return sum(o[member] for o in answers) / max(1e-9, sum(o["seconds"] for o in answers))


def native(found, model):
    """`turnstile run`, on the tasks that were run in all manners."""
    names = {
        "run-free": "no grammar",
        "run-unforced": "grammar, no forced tokens",
        "run-schema": "grammar, forced tokens",
    }
    whole = set.intersection(
        *({o["task"] for o in found.get((model, name, False), [])} for name in names)
    )
    rows, free = [], None
    for kinds in (tasks.KINDS, ("tool",)):
        for name, label in names.items():
            of = [o for o in found.get((model, name, False), []) if o["task"] in whole]
            of = [o for o in of if o["kind"] in kinds]
            if not of:
                continue
            free = of if name == "run-free" else free
            tokens, seconds = sum(o["tokens"] for o in of), sum(o["seconds"] for o in of)
            outside = seconds - sum(o["model_seconds"] for o in of)
            passes = sum(o["passes"] for o in of)
            rows.append(
                [
                    label + (", tool calls" if kinds == ("tool",) else ""),
                    str(len(of)),
                    f"{tokens / len(of):.0f}",
                    f"{passes / len(of):.0f}",
                    f"{rate(of, 'tokens'):.1f}",
                    f"{rate(of, 'tokens') / rate(free, 'tokens'):.2f}",
                    f"{1000 * seconds / passes:.1f} ms",
                    f"{1e6 * outside / tokens:.0f} µs",
                    f"{100 * outside / seconds:.2f} %",
                ]
            )
    head = ["`turnstile run`", "answers", "tokens", "passes", "tokens/s", "× free", "a pass"]
    return table([*head, "masks and draws, a token", "of the time"], rows)


def speed(found, model):
    rows = []
    base = found.get((model, "free", False), [])
    free = rate(base, "tokens")
    for name, label in SPEED.items():
        answers = found.get((model, name, False), [])[1:]  # the first warms the engine
        if not answers:
            continue
        tokens, seconds = sum(o["tokens"] for o in answers), sum(o["seconds"] for o in answers)
        inside = sum(o["model_seconds"] for o in answers)
        passes, forced = sum(o["passes"] for o in answers), sum(o["forced"] for o in answers)
        rows.append(
            [
                label,
                str(len(answers)),
                f"{tokens / len(answers):.0f}",
                f"{100 * forced / tokens:.0f} %",
                f"{passes / len(answers):.0f}",
                f"{tokens / seconds:.0f}",
                f"{tokens / seconds / free:.2f}",
                f"{1000 * seconds / passes:.1f} ms",
                f"{1000 * seconds / len(answers):.0f} ms",
                f"{100 * (1 - inside / seconds):.1f} %",
                f"{1000 * median([o['setup'] for o in answers]):.2f} ms",
            ]
        )
    head = [
        "engine",
        "answers",
        "tokens",
        "forced",
        "passes",
        "tokens/s",
        "× free",
        "a pass",
        "an answer",
        "outside the model",
        "compile and first mask",
    ]
    return table(head, rows)


def first_token(found, model):
    """Milliseconds until the logits behind a prompt: the model's part of the first token."""
    whole = [
        (one["prefill"][1], one["prompt"])
        for one in found.get((model, "free", False), [])
        if one["prefill"][0] > 0.5 * one["prompt"]
    ]
    ms = sorted(1000 * seconds for seconds, _ in whole)
    if not ms:
        return ""
    return (
        f"Prompts have {median([n for _, n in whole])} tokens (median), and the model reads one in "
        f"{median(ms):.0f} ms (nine of ten in {ms[int(0.9 * len(ms))]:.0f} ms). "
        "The last column adds to that, once for each new grammar."
    )


def reasoned(found, model):
    """Answers with a member for reasoning, and without."""
    rows = []
    for name, label in (
        ("schema", "answer alone"),
        ("thinking-last", "reasoning last"),
        ("thinking", "reasoning first"),
        ("guard", "reasoning first, guard against loops"),
        ("endless", "reasoning first, of any length"),
        ("endless-guard", "the same, guard against loops"),
    ):
        for kind in ("classification", "arithmetic"):
            of = [o for o in found.get((model, name, False), []) if o["kind"] == kind]
            if of:
                rows.append(
                    [
                        label,
                        kind,
                        str(len(of)),
                        percent(wilson(sum(o["valid"] for o in of), len(of))),
                        percent(wilson(sum(o["exact"] for o in of), len(of))),
                        f"{sum(o['tokens'] for o in of) / len(of):.0f}",
                    ]
                )
    return table(["written", "kind", "answers", "valid", "exact", "tokens"], rows, 2)


def guarded(found, model):
    """In how many texts the guard against loops makes a difference."""
    parts = []
    for one, other, what in (
        ("thinking", "guard", "of at most 200 characters"),
        ("endless", "endless-guard", "of any length"),
    ):
        both = pairs(found, model, one, other)
        if both:
            changed = sum(a["text"] != b["text"] for a, b in both)
            cut = [sum(not one["over"] for one in side) for side in zip(*both)]
            parts.append(
                f"Reasoning {what}: {changed} of {len(both)} answers are others with the guard. "
                f"Cut after 160 tokens: {cut[0]} without it, {cut[1]} with it."
            )
    return "\n\n".join(parts) or "No answers yet."


def saved(found, model, name="schema"):
    """What a condition saves, on the tasks that have both, by kind of task."""
    rows = []
    for what, kinds in (("all", tasks.KINDS), *((kind, (kind,)) for kind in tasks.KINDS)):
        both = pairs(found, model, "schema-unforced", name, kinds)
        if not both:
            continue
        without, forced = ([pair[i] for pair in both] for i in (0, 1))
        sums = [
            [sum(one[member] for one in side) for member in ("tokens", "passes", "seconds")]
            for side in (without, forced)
        ]
        n = len(both)
        rows.append(
            [
                what,
                str(n),
                f"{sum(a['text'] == b['text'] for a, b in both)}",
                f"{sums[0][1] / n:.0f}",
                f"{sums[1][1] / n:.0f}",
                f"{100 * (1 - sums[1][1] / sums[0][1]):.0f} %",
                f"{(sums[1][0] / sums[1][2]) / (sums[0][0] / sums[0][2]):.2f}",
            ]
        )
    head = ["tasks", "n", "same text", "passes without", "passes with", "saved", "× tokens/s"]
    return table(head, rows)


def ends(found, model):
    free = found.get((model, "free", False), [])
    over = percent(wilson(sum(one["over"] for one in free), len(free)))
    return f"Of {len(free)} answers without a grammar, {over} ended within 96 tokens."


# ---- pictures ------------------------------------------------------------------------------------

COLOURS = ("#4477aa", "#ee6677", "#228833")


def bars(title, rows, unit, top):
    """Horizontal bars with intervals: (label, value, low, high)."""
    left, width, step = 230, 420, 26
    height = 50 + step * len(rows)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 70} {height}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="100%" height="100%" fill="white"/><text x="10" y="20" font-size="15">'
        f"{html.escape(title)}</text>",
    ]
    for i, (label, value, low, high) in enumerate(rows):
        y = 36 + i * step
        scale = width / top
        out.append(
            f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{html.escape(label)}</text>'
            f'<rect x="{left}" y="{y}" width="{value * scale:.1f}" height="18" '
            f'fill="{COLOURS[0]}"/>'
        )
        if high > low:
            out.append(
                f'<path d="M{left + low * scale:.1f} {y + 9}H{left + high * scale:.1f}" '
                'stroke="black" stroke-width="1.5"/>'
            )
        end = left + max(value, high) * scale + 6
        out.append(f'<text x="{end:.1f}" y="{y + 14}">{value:.0f}{unit}</text>')
    return "\n".join([*out, "</svg>", ""])


def draw(found, model):
    PICTURES.mkdir(exist_ok=True)
    rows, times = [], []
    for name, label in NAMES.items():
        answers = found.get((model, name, False), [])
        if not answers:
            continue
        share = [100 * x for x in bootstrap([one["share"] for one in answers])]
        rows.append((label.replace("`", ""), *share))
        if name != "lenient":
            label = "no grammar" if name == "free" else label
            mean = bootstrap([1000 * one["seconds"] for one in answers[1:]])
            times.append((label, *mean))
    title = f"Members that are right, {model}, greedy (95 % intervals)"
    (PICTURES / f"members-{model}.svg").write_text(bars(title, rows, " %", 100))
    title = f"Milliseconds of an answer, behind the prompt, {model}"
    top = max((high for _, _, _, high in times), default=1) * 1.05
    (PICTURES / f"time-{model}.svg").write_text(bars(title, times, " ms", top))


# ---- the page ------------------------------------------------------------------------------------


def run_of(found, model):
    tasks_of = {one["task"] for one in found.get((model, "schema", False), [])}
    samples = found.get((model, "schema", True), [])
    seeds = {one["seed"] for one in samples}
    return (
        f"{model}: {len(tasks_of)} of {len(tasks.tasks())} tasks greedy; "
        f"{len({one['task'] for one in samples})} tasks sampled with {len(seeds)} seeds."
    )


def write(results):
    """Write the tables into the page, and the pictures beside it."""
    found = read(results)
    text = PAGE.read_text(encoding="utf-8")
    for model in sorted({key[0] for key in found}):
        parts = {
            "run": run_of(found, model),
            "quality": quality(found, model, NAMES),
            "kinds": by_kind(found, model),
            "changes": differences(found, model),
            "sampled": quality(
                found, model, {n: SAMPLED[n] for n in SAMPLED if n != "aligned-learned"}, True
            ),
            "speed": speed(found, model),
            "first": first_token(found, model),
            "reasoned": reasoned(found, model),
            "native": native(found, model),
            "saved": saved(found, model),
            "drafts": saved(found, model, "drafts"),
            "guarded": guarded(found, model),
            "sampled-short": quality(found, model, SAMPLED, True, SHORT),
            "sampled-changes": sampled_differences(found, model),
            "ends": ends(found, model),
        }
        for name, part in parts.items():
            place = re.compile(
                rf"(<!-- eval: {re.escape(model)} {name} -->\n).*?(<!-- /eval -->)", re.S
            )
            text = place.sub(lambda m, part=part: f"{m[1]}{part}\n{m[2]}", text)
        draw(found, model)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "eval.jsonl")
