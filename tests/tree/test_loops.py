#!/usr/bin/env python3
"""Every loop of compiler/ and runtime/ spends work, is bounded by a constant, or has a reason.

    tests/tree/test_loops.py [--write | --list FILE]

A deadline, `cancel` and `max_steps` end a call where its loops look at them. This check reads the
sources and puts each loop into one of three groups:

  spends    the loop calls what looks at time and steps (SPENDS), or a function that does, however
            deep. That a call may be behind a condition is not seen here: tests/engine/
            test_deadlines.c measures.
  constant  the condition compares with a number, a name in capitals, or a size of a type. Or each
            turn halves a number, as loops over digits and bits do.
  other     all that are left: loops over what a call was given, or over what was made before. Their
            number stands in tests/tree/loops.txt, for each file, with the reason why they need not
            look: a letter that is explained there.

A new loop of the third group makes the number of its file wrong, and the check fails. Whoever adds
a loop has it spend, or sees to it that the reason of the file holds for it, too. Then the number is
written anew: --write keeps the reasons; a new file gets a `?`, which fails. --list shows the loops
of the third group of a file.

Public calls, too: each function of include/turnstile.h is measured in test_deadlines.c, or stands
in loops.txt with a reason.

SPDX-License-Identifier: Apache-2.0
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "tests" / "tree" / "loops.txt"

SPENDS = {
    "tsl__exprs_step",
    "tsl__exprs_work",
    "tsl__space_step",
    "tsl__space_look",
    "tsl__space_go_on",
    "tsl__is_over",
    "tsl__expired",
    "spend",
}
QUIET = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
LOOP = re.compile(r"\b(for|while|do)\b")
CALL = re.compile(r"\b([a-z_]\w*)\s*\(")
CONSTANT = re.compile(r"(?:<=?|>=?|!=)\s*\(?(?:\d+\w*|[A-Z][A-Z0-9_]{2,}\w*|TSL__\w+|sizeof\b)")
HALVES = re.compile(r"/=|>>=|&=\s*\S+\s*-\s*1\b")
MADE = re.compile(r"_data\.[ch]$|/metaschemas\.c$|compiler/tools/presets\.c$")


def quiet(text):
    """The text with comments and strings blanked, of the same length."""
    return QUIET.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def past(text, at, opening, closing):
    """The index after the bracket that matches the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == opening) - (text[i] == closing)
        if depth == 0:
            return i + 1
    return len(text)


def statement(text, at):
    """The index after the statement that begins at `at`."""
    while at < len(text) and text[at].isspace():
        at += 1
    if at >= len(text):
        return at
    if text[at] == "{":
        return past(text, at, "{", "}")
    head = re.match(r"(for|while|if|switch|else|do)\b", text[at:])
    if head and head.group() in ("else", "do"):
        return statement(text, at + len(head.group()))
    if head:
        at = statement(text, past(text, text.index("(", at), "(", ")"))
        rest = re.match(r"\s*else\b", text[at:])
        return statement(text, at + rest.end()) if rest else at
    while at < len(text) and text[at] != ";":
        at = past(text, at, "(", ")") if text[at] == "(" else at + 1
    return at + 1


def functions(text):
    """(name, body) of each function, as clang-format lays them out: from column 0 to a `}` there.
    Macros of several lines count as functions of their names."""
    for m in re.finditer(
        r"^(?:[A-Za-z_][^\n;={}]*(?:\n[ ][^\n;={}]*)*)\{\n.*?^\}", text, re.S | re.M
    ):
        head = m.group().split("{", 1)[0]
        names = CALL.findall(head)
        if names:
            yield names[0], m.start() + len(head), m.group()[len(head) :]
    for m in re.finditer(r"^(?:[A-Za-z_][^\n;={}]*(?:\n[ ][^\n;={}]*)*)\{[^\n]+\}$", text, re.M):
        head = m.group().split("{", 1)[0]
        names = CALL.findall(head)
        if names:
            yield names[0], m.start() + len(head), m.group()[len(head) :]
    for m in re.finditer(r"^#define (\w+)\((?:.*\\\n)*.*\n", text, re.M):
        yield m.group(1), m.start(), m.group().replace("\\", " ")


def loops(body):
    """(index, condition, head, all of it) of each loop."""
    for m in LOOP.finditer(body):
        if m.group() == "do":
            end = statement(body, m.end())
            tail = re.match(r"\s*while\s*\(", body[end:])
            if not tail:
                continue
            stop = past(body, end + tail.end() - 1, "(", ")")
            condition = body[end + tail.end() : stop]
            yield m.start(), condition, condition, body[m.start() : stop]
            continue
        paren = re.match(r"\s*\(", body[m.end() :])
        if not paren:
            continue
        at = m.end() + paren.end() - 1
        stop = past(body, at, "(", ")")
        inside = body[at + 1 : stop - 1]
        if m.group() == "while" and body[stop:].lstrip().startswith(";"):
            if re.search(r"\bdo\b", body[: m.start()]) and re.search(
                r"[};]\s*$", body[: m.start()]
            ):
                continue  # of a `do`
        condition = inside.split(";")[1] if m.group() == "for" and ";" in inside else inside
        yield m.start(), condition, inside, body[m.start() : statement(body, stop)]


def read():
    """{file: [(function, index of the body, body, text)]}"""
    found = {}
    for room in ("compiler", "runtime"):
        for path in sorted((ROOT / room).rglob("*.[ch]")):
            name = str(path.relative_to(ROOT))
            if MADE.search(name):
                continue
            text = quiet(path.read_text(encoding="utf-8"))
            found[name] = [(f, at, body, text) for f, at, body in functions(text)]
    return found


def spenders(found):
    """Names of all functions that spend, and of those that call one. A static function is known in
    its file alone."""
    calls = collections.defaultdict(set)
    for name, parts in found.items():
        own = {f for f, _, _, _ in parts if not f.startswith("tsl")}
        for f, _, body, _ in parts:
            key = (name, f) if f in own else f
            calls[key] |= {(name, c) if c in own else c for c in CALL.findall(body)}
    spend = set(SPENDS)
    while True:
        more = {f for f, to in calls.items() if f not in spend and to & spend}
        if not more:
            return spend
        spend |= more


def classify(found):
    """(spending, constant, {file: [(line, function, text)]} of the others)."""
    spend = spenders(found)
    spending = constant = 0
    others = collections.defaultdict(list)
    for name, parts in found.items():
        own = {f for f, _, _, _ in parts if not f.startswith("tsl")}
        for f, at, body, text in parts:
            for index, condition, head, whole in loops(body):
                called = {(name, c) if c in own else c for c in CALL.findall(whole)}
                if called & spend:
                    spending += 1
                elif CONSTANT.search(condition) or HALVES.search(head):
                    constant += 1
                else:
                    line = text.count("\n", 0, at + index) + 1
                    others[name].append((line, f, " ".join(whole.split())[:90]))
    return spending, constant, others


def listed():
    """(reasons by letter, {file: (number, letters)})."""
    reasons, files = {}, {}
    for line in LIST.read_text(encoding="utf-8").splitlines() if LIST.exists() else []:
        if m := re.match(r"# ([a-z]) +(\S.*)", line):
            reasons[m.group(1)] = m.group(2)
        elif m := re.match(r"(\S+) (\d+) (\S+)$", line):
            files[m.group(1)] = (int(m.group(2)), m.group(3))
    return reasons, files


def write(others, files):
    rows = [f"{f} {len(v)} {files.get(f, (0, '?'))[1]}" for f, v in sorted(others.items())]
    head, tail = [], []
    for x in LIST.read_text(encoding="utf-8").splitlines():
        if not re.match(r"(compiler|runtime)/", x):
            (tail if tail or x.startswith("# Public calls") else head).append(x)
    while head[-1] == "#":  # the line that parts the head from the rows
        head.pop()
    LIST.write_text("\n".join(head + ["#"] + rows + ["#"] + tail) + "\n", encoding="utf-8")


def unmeasured():
    """(number of public calls, those that are neither measured nor listed, names listed that are no
    calls or are measured)."""
    header = (ROOT / "include" / "turnstile.h").read_text(encoding="utf-8")
    public = set(re.findall(r"TSL_API[^;]*?\b(tsl_\w+)\s*\(", header))
    test = (ROOT / "tests" / "engine" / "test_deadlines.c").read_text(encoding="utf-8")
    measured = set(re.findall(r"\btsl_\w+(?=\()", test)) - set(
        re.findall(r"\btsl_\w+_(?:new|free|release|size|\w*width|\w*words)(?=\()", test)
    )
    rows = re.findall(r"^call ([a-z]) (.*)$", LIST.read_text(encoding="utf-8"), re.M)
    names = [n for _, line in rows for n in line.split()]
    covered = {
        p for p in public for n in names if p == n or (n[-1] == "*" and p.startswith(n[:-1]))
    }
    idle = [n for n in names if n[-1] != "*" and n not in public]
    idle += sorted(
        {n for n in names if n in measured and n not in ("tsl_vocab_embedded", "tsl_status_name")}
    )
    return len(public), sorted(public - covered - measured), idle


def main():
    spending, constant, others = classify(read())
    reasons, files = listed()
    if sys.argv[1:2] == ["--list"]:
        for line, f, text in others.get(sys.argv[2], []):
            print(f"{sys.argv[2]}:{line}: {f}: {text}")
        return
    if sys.argv[1:2] == ["--write"]:
        write(others, files)
        return
    failed = 0
    for name in sorted(set(others) | set(files)):
        number, letters = files.get(name, (0, "?"))
        now = len(others.get(name, []))
        if now != number:
            failed += 1
            print(f"{name}: {now} loops that do not spend, tests/tree/loops.txt says {number}")
            print(f"  python3 tests/tree/test_loops.py --list {name} shows them")
        if not set(letters) <= set(reasons):
            failed += 1
            print(f"{name}: no reason, or one that loops.txt does not explain: {letters}")
    public, missing, idle = unmeasured()
    for name in missing:
        print(f"{name}: neither measured by tests/engine/test_deadlines.c nor in loops.txt")
    for name in idle:
        print(f"{name}: in loops.txt, but it is measured, or no public call")
    failed += len(missing) + len(idle)
    print(f"  {public} public calls: {public - len(missing)} are measured or have a reason")
    total = sum(len(v) for v in others.values())
    print(f"  {spending} loops spend, {constant} have a constant bound, {total} have a reason")
    print(f"{spending + constant + total + public - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
