"""The tasks of the evaluation: 120 extractions, 120 tool requests, 60 classifications, and 40
questions of arithmetic. tasks() gives them in an order in which every beginning is a fair sample of
the kinds.

    python3 bench/eval/tasks.py          prints some

SPDX-License-Identifier: Apache-2.0
"""

import dataclasses
import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import extraction  # noqa: E402
import tool_tasks  # noqa: E402

SEED = 20261129
KINDS = ("extraction", "tool", "classification", "arithmetic")


@dataclasses.dataclass
class Task:
    name: str
    kind: str
    prompt: str
    schema: dict
    truth: object
    steps: str = "The reason in one sentence."  # what a member for reasoning shall hold


def closed(members):
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


def kind_of(schema):
    if "enum" in schema:
        return " or ".join(json.dumps(one) for one in schema["enum"])
    return {"boolean": "true or false"}.get(schema["type"], schema["type"])


def form(members):
    """How a prompt shows an object: {"age": integer, …}"""
    return "{" + ", ".join(f'"{key}": {kind_of(one)}' for key, one in members.items()) + "}"


def wants(what, shown):
    return f"{what} Write JSON of this form, and nothing else:\n{shown}"


# ---- classification ------------------------------------------------------------------------------

LETTERS = {
    "complaint": [
        "The kettle stopped working after two days and nobody answers my calls.",
        "I waited three hours for a plumber who never came.",
        "Half of the plates in the box were broken.",
        "Your driver left my parcel in the rain, and now it is ruined.",
        "The soup was cold and there was a hair in it.",
        "I was charged twice for the same ticket.",
        "The hotel room smelled of smoke although I asked for a clean one.",
        "The jacket lost its colour in the first wash. I want my money back.",
        "Once more the train was so full that I could not get in.",
        "Your shop sent me the wrong size for the third time.",
    ],
    "question": [
        "Until when is the library open on Saturdays?",
        "Can I bring my dog into the museum?",
        "How long does the battery of the small model last?",
        "Do you also sell the blue one with a handle?",
        "Which bus do I take from the station to your office?",
        "Is breakfast part of the price?",
        "What do I need to bring to open an account?",
        "How many people fit into the large tent?",
        "Could you tell me whether the pool is heated in May?",
        "Where do I find the number of my contract?",
    ],
    "praise": [
        "Your nurses were so kind to my mother. Thank you!",
        "Best bread in town, my children ask for it every day.",
        "The repair took ten minutes and cost nothing. Wonderful service.",
        "I have used your lamp for a year and love it.",
        "What a beautiful evening we had at your theatre.",
        "The guide knew every stone and made us laugh. Five stars.",
        "Fast delivery, good quality, friendly people. I will come back.",
        "Your course changed how I cook. Thanks to the teacher.",
        "The garden looks lovely since your team was here.",
        "Great support: one call, and all was solved.",
    ],
}
HEADLINES = {
    "sport": [
        "Young goalkeeper saves three penalties in the final",
        "Rower breaks the lake record by four seconds",
        "Coach of the handball team resigns after fifth defeat",
        "Marathon in the fog: 800 runners reach the finish",
        "Chess club wins the league for the second time",
    ],
    "politics": [
        "Parliament votes for lower taxes on rents",
        "Mayor presents plan for the old harbour after election",
        "Minister of transport steps down over bridge contracts",
        "Two parties agree on a common candidate for president",
        "Council rejects the new law on shop hours",
    ],
    "science": [
        "Telescope finds water vapour around a small planet",
        "Researchers grow nerve cells on a chip of glass",
        "New beetle species discovered in a city park",
        "Measurements show that the glacier moves faster in winter",
        "Chemists make plastic out of seaweed",
    ],
    "business": [
        "Furniture maker doubles its profit in the third quarter",
        "Shares of the ferry company fall after weak sales",
        "Bakery chain buys its largest rival",
        "Start-up for bike parts raises nine million from investors",
        "Bank closes a third of its branches to cut costs",
    ],
    "culture": [
        "Museum shows the forgotten painter of the islands",
        "Opera house opens with a work by a 22-year-old composer",
        "Festival of short films draws visitors from forty countries",
        "Novel about a lighthouse wins the book prize",
        "Sculptor turns the old silo into a work of art",
    ],
    "weather": [
        "Storm with heavy rain expected on the coast tonight",
        "First snow of the year falls in the valleys",
        "Heat wave ends with thunder and hail",
        "Fog and ice on the roads in the morning",
        "A dry April: no rain for three weeks",
    ],
}


def classifications():
    for table, what in ((LETTERS, "customer's letter"), (HEADLINES, "headline")):
        labels = list(table)
        for label, texts in table.items():
            for number, text in enumerate(texts):
                yield Task(
                    f"class-{label}-{number}",
                    "classification",
                    wants(
                        f"{text}\n\nWhich class has this {what}?", form({"label": {"enum": labels}})
                    ),
                    closed({"label": {"enum": labels}}),
                    {"label": label},
                )


# ---- arithmetic ----------------------------------------------------------------------------------

STORIES = [
    ("{n} has {a} apples and buys {b} more. How many apples are there now?", lambda a, b, c: a + b),
    ("A bus has {a} seats. {b} are taken. How many seats are free?", lambda a, b, c: a - b),
    ("{n} reads {b} pages a day for {c} days. How many pages is that?", lambda a, b, c: b * c),
    (
        "A shop has {a} lamps, sells {b} of them and gets {c} new ones. How many has it now?",
        lambda a, b, c: a - b + c,
    ),
    ("One ticket costs {b} euros. {n} buys {c} and pays with {a} euros. How much is left?", None),
    (
        "{n} saves {b} euros a week. How much is saved after {c} weeks, with {a} euros at "
        "the start?",
        lambda a, b, c: a + b * c,
    ),
    (
        "{c} boxes hold {b} cups each. {n} breaks 2 cups. How many are whole?",
        lambda a, b, c: b * c - 2,
    ),
    (
        "A film of {a} minutes has a break of {c} minutes. How long is the evening?",
        lambda a, b, c: a + c,
    ),
]
NAMES = "Mira Tom Aisha Lars Ines Hugo Zoe Kofi".split()


def arithmetic(rng):
    for number in range(40):
        story, answer = STORIES[number % len(STORIES)]
        c = rng.randint(2, 9)
        b = rng.randint(3, 12)
        a = rng.randint(30, 90) if answer else b * c + rng.randint(5, 30)
        value = answer(a, b, c) if answer else a - b * c
        text = story.format(n=rng.choice(NAMES), a=a, b=b, c=c)
        yield Task(
            f"sum-{number}",
            "arithmetic",
            wants(text, '{"answer": integer}'),
            closed({"answer": {"type": "integer", "minimum": -1000, "maximum": 100000}}),
            {"answer": value},
            "The calculation, step by step.",
        )


# ---- the others ----------------------------------------------------------------------------------


def extractions(rng):
    for name, paragraph, wanted, members, truth in extraction.tasks(rng):
        prompt = wants(f"{paragraph}\n\nExtract the facts about {wanted}.", form(members))
        yield Task(name, "extraction", prompt, closed(members), truth)


def tool_requests(rng):
    table = {tool[0]: tool for tool in tool_tasks.TOOLS}
    for name, sentence, shown, truth in tool_tasks.tasks(rng, extraction.filled):
        lines, branches = [], []
        for tool in shown:
            _, described, parameters, _, _ = table[tool]
            schema = tool_tasks.schema_of(parameters)
            call = f'{{"name": "{tool}", "arguments": {form(schema["properties"])}}}'
            lines.append(f"{described}: {call}")
            branches.append(closed({"name": {"const": tool}, "arguments": schema}))
        prompt = (
            f"Request: {sentence}\n\nChoose the tool that fits, and fill in its arguments. "
            f"Write one "
            "of these as JSON, and nothing else:\n" + "\n".join(lines)
        )
        yield Task(name, "tool", prompt, {"anyOf": branches}, truth)


def tasks():
    """All tasks, shuffled within their kinds, the kinds spread evenly."""
    rng = random.Random(SEED)
    groups = [
        list(extractions(rng)),
        list(tool_requests(rng)),
        list(classifications()),
        list(arithmetic(rng)),
    ]
    placed = []
    for group in groups:
        rng.shuffle(group)
        placed += [((i + 0.5) / len(group), task.kind, task) for i, task in enumerate(group)]
    return [task for _, _, task in sorted(placed, key=lambda one: one[:2])]


def bare(text):
    return text.strip().casefold().removeprefix("the ")


def equal(value, truth):
    """Equal up to the case of texts, white space around them, and a leading "the"."""
    if isinstance(truth, dict):
        return (
            isinstance(value, dict)
            and set(value) >= set(truth)
            and all(equal(value[key], one) for key, one in truth.items())
        )
    if isinstance(truth, str):
        return isinstance(value, str) and bare(value) == bare(truth)
    return type(value) is type(truth) and value == truth


if __name__ == "__main__":
    every = tasks()
    for task in every[:: len(every) // 10]:
        print(f"== {task.name}\n{task.prompt}\n{json.dumps(task.truth)}")
    print(len(every), {kind: sum(t.kind == kind for t in every) for kind in KINDS})
