"""How each family of models writes thinking, text and calls: a writer for each preset. They are
made from the families' chat templates and know nothing of the presets.

    write(WRITERS["qwen3"], "I must call.", "", [("get_weather", {"city": "Paris"})])

A writer is the function that writes one call, and the texts around all of them. `dump` writes JSON;
test_lenient.py puts other functions in its place.

SPDX-License-Identifier: Apache-2.0
"""

import json


def dump(value):
    return json.dumps(value, ensure_ascii=False)


def bare(value):
    return value if isinstance(value, str) else dump(value)


def as_json(begin="", end="}", key="arguments"):
    return lambda i, name, a: f'{begin}{{"name": "{name}", "{key}": {dump(a)}{end}'


def members(begin, member, end):
    def write(i, name, arguments):
        inner = "".join(member(k, v) for k, v in arguments.items())
        return begin.replace("NAME", name).replace("INDEX", str(i)) + inner + end

    return write


def python(i, name, arguments):
    return f"{name}({', '.join(f'{k}={dump(v)}' for k, v in arguments.items())})"


def python_words(i, name, arguments):
    words = {True: "True", False: "False", None: "None"}
    inner = ", ".join(
        f"{k}={words[v] if v is None or isinstance(v, bool) else dump(v)}"
        for k, v in arguments.items()
    )
    return f"{name}({inner})"


MARKER = "]<]minimax[>["


def elements(value):
    if isinstance(value, dict):
        return "".join(f"{MARKER}<{k}>{elements(v)}{MARKER}</{k}>" for k, v in value.items())
    if isinstance(value, list):
        return "".join(f"{MARKER}<item>{elements(v)}{MARKER}</item>" for v in value)
    return bare(value)


def cofl(value, name=""):
    kinds = {str: "raw", dict: "dict", list: "list"}
    inner = bare(value)
    if isinstance(value, dict):
        inner = "".join(cofl(v, f' name="{k}"') for k, v in value.items())
    if isinstance(value, list):
        inner = "".join(cofl(v) for v in value)
    return f'<cofl:value{name} type="{kinds.get(type(value), "json")}">{inner}</cofl:value>'


def gemma(quote):
    def write(value):
        if isinstance(value, dict):
            return "{" + ",".join(f"{k}:{write(v)}" for k, v in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ",".join(map(write, value)) + "]"
        return quote + value + quote if isinstance(value, str) else dump(value)

    return write


def cdata(value):
    text = bare(value)
    quoted = isinstance(value, str) and any(c in text for c in "<&\n")
    return f"<![CDATA[{text}]]>" if quoted else text


def kind(value):
    names = {str: "string", bool: "boolean", dict: "object", list: "array"}
    return "null" if value is None else names.get(type(value), "number")


def dsml(word, space=""):
    p = "｜DSML｜" + space
    return members(
        f'<{p}invoke name="NAME">\n',
        lambda k, v: (
            f'<{p}parameter name="{k}" string="{dump(isinstance(v, str))}">{bare(v)}'
            f"</{p}parameter>\n"
        ),
        f"</{p}invoke>",
    )


QWEN = members(
    "<tool_call>\n<function=NAME>\n",
    lambda k, v: f"<parameter={k}>\n{bare(v)}\n</parameter>\n",
    "</function>\n</tool_call>",
)
GLM = members(
    "<tool_call>NAME\n",
    lambda k, v: f"<arg_key>{k}</arg_key>\n<arg_value>{bare(v)}</arg_value>\n",
    "</tool_call>",
)
THINK = ("<think>\n", "\n</think>", "\n\n")


def listed(call, begin, separator, end, before="", **k):
    return dict(call=call, begin=begin, separator=separator, end=end, before=before, **k)


def loose(call, separator="\n", before="\n", **k):
    return listed(call, "", separator, "", before, **k)


WRITERS = {
    "apertus": listed(
        lambda i, n, a: f'{{"{n}": {dump(a)}}}',
        "<|tools_prefix|>[",
        ", ",
        "]<|tools_suffix|>",
        think=("<|inner_prefix|>", "<|inner_suffix|>", ""),
    ),
    "cohere": listed(
        members(
            '<cofl:tool_call id="INDEX" name="NAME">',
            lambda k, v: cofl(v, f' name="{k}"'),
            "</cofl:tool_call>",
        ),
        "<cofl:tool_calls>",
        "",
        "</cofl:tool_calls>",
        think=("<|START_THINKING|>", "<|END_THINKING|>", ""),
        text=("<|START_TEXT|>", "<|END_TEXT|>"),
    ),
    "command": listed(
        lambda i, n, a: f'{{"tool_call_id": "{i}", "tool_name": "{n}", "parameters": {dump(a)}}}',
        "<|START_ACTION|>[\n    ",
        ",\n    ",
        "\n]<|END_ACTION|>",
        think=("<|START_THINKING|>", "<|END_THINKING|>", ""),
        text=("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    ),
    "deepseek-v3": listed(
        lambda i, n, a: (
            f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{n}\n```json\n{dump(a)}\n"
            "```<｜tool▁call▁end｜>"
        ),
        "<｜tool▁calls▁begin｜>",
        "\n",
        "<｜tool▁calls▁end｜>",
        think=("<think>\n", "\n</think>", "\n\n"),
    ),
    "deepseek-v3.1": listed(
        lambda i, n, a: f"<｜tool▁call▁begin｜>{n}<｜tool▁sep｜>{dump(a)}<｜tool▁call▁end｜>",
        "<｜tool▁calls▁begin｜>",
        "",
        "<｜tool▁calls▁end｜>",
        think=("<think>", "</think>", ""),
    ),
    "deepseek-v3.2": listed(
        dsml("function_calls"),
        "<｜DSML｜function_calls>\n",
        "\n",
        "\n</｜DSML｜function_calls>",
        "\n\n",
        think=("<think>", "</think>", ""),
    ),
    "deepseek-v4": listed(
        dsml("tool_calls"),
        "<｜DSML｜tool_calls>\n",
        "\n",
        "\n</｜DSML｜tool_calls>",
        "\n\n",
        think=("<think>", "</think>", ""),
    ),
    "deepseek-v4.1": listed(
        dsml("calls", " "),
        "<｜DSML｜ calls>\n",
        "\n",
        "\n</｜DSML｜ calls>",
        "\n\n",
        think=("<think>", "</think>", ""),
    ),
    "ernie45": loose(
        as_json("<tool_call>\n", "}\n</tool_call>"),
        think=THINK,
        text=("<response>\n", "\n</response>"),
        last="\n",
    ),
    "exaone4": loose(as_json("<tool_call>", "}</tool_call>"), think=THINK),
    "functiongemma": loose(
        lambda i, n, a: f"<start_function_call>call:{n}{gemma('<escape>')(a)}<end_function_call>",
        "",
        "",
    ),
    "functionary-v3.1": loose(lambda i, n, a: f"<function={n}>{dump(a)}</function>", "", ""),
    "functionary-v3.2": loose(
        lambda i, n, a: f"{n}\n{dump(a)}", ">>>", "", text=("all\n", ""), after_text=">>>"
    ),
    "gemma3": loose(as_json(key="parameters"), "\n", ""),
    "gemma4": loose(
        lambda i, n, a: f"<|tool_call>call:{n}{gemma('<|' + chr(34) + '|>')(a)}<tool_call|>",
        "",
        "",
        think=("<|channel>thought\n", "<channel|>", ""),
    ),
    "glm4": loose(GLM, think=("\n<think>", "</think>", "\n")),
    "gpt-oss": loose(
        lambda i, n, a: (
            f"<|channel|>commentary to=functions.{n} <|constrain|>json<|message|>{dump(a)}<|call|>"
        ),
        "<|start|>assistant",
        "",
        text=("<|channel|>final<|message|>", "<|end|>"),
        think=("<|channel|>analysis<|message|>", "<|end|>", "<|start|>assistant"),
        after_text="<|start|>assistant",
    ),
    "granite3": listed(as_json(), "<|tool_call|>[", ", ", "]"),
    "hermes": loose(as_json("<tool_call>\n", "}\n</tool_call>"), think=THINK, last="\n"),
    "hunyuan-3": listed(
        members(
            "<tool_call>NAME<tool_sep>\n",
            lambda k, v: f"<arg_key>{k}</arg_key>\n<arg_value>{bare(v)}</arg_value>\n",
            "</tool_call>",
        ),
        "<tool_calls>\n",
        "\n",
        "\n</tool_calls>",
        think=("<think>", "</think>", ""),
    ),
    "hunyuan-a13b": listed(
        as_json(),
        "<tool_calls>[",
        ", ",
        "]</tool_calls>",
        "\n",
        think=("<think>\n", "\n</think>", "\n"),
        text=("<answer>\n", "\n</answer>"),
    ),
    "internlm": loose(
        as_json("<|action_start|><|plugin|>\n", "}<|action_end|>", "parameters"), "\n", "\n"
    ),
    "jamba": listed(as_json(), "<tool_calls>[\n    ", ",\n    ", "\n]</tool_calls>", " "),
    "kimi-k2": listed(
        lambda i, n, a: (
            f"<|tool_call_begin|>functions.{n}:{i}<|tool_call_argument_begin|>{dump(a)}"
            "<|tool_call_end|>"
        ),
        "<|tool_calls_section_begin|>",
        "",
        "<|tool_calls_section_end|>",
        think=("<think>", "</think>", ""),
    ),
    "kimi-k3": listed(
        members(
            '<|open|>call tool="NAME" index="INDEX"<|sep|>',
            lambda k, v: (
                f'<|open|>argument key="{k}" type="{kind(v)}"<|sep|>{bare(v)}'
                "<|close|>argument<|sep|>"
            ),
            "<|close|>call<|sep|>",
        ),
        "<|open|>tools<|sep|>",
        "",
        "<|close|>tools<|sep|>",
        think=("<|open|>think<|sep|>", "<|close|>think<|sep|>", ""),
        text=("<|open|>response<|sep|>", "<|close|>response<|sep|>"),
        last="<|close|>message<|sep|>",
    ),
    "lfm2": listed(python, "<|tool_call_start|>[", ", ", "]<|tool_call_end|>", think=THINK),
    "llama3": loose(as_json(key="parameters"), "; ", ""),
    "llama4": loose(as_json(key="parameters"), "; ", ""),
    "llama4-pythonic": listed(python_words, "<|python_start|>[", ", ", "]<|python_end|>"),
    "longcat": loose(
        as_json("<longcat_tool_call>\n", "}\n</longcat_tool_call>"),
        think=("<longcat_think>\n", "\n</longcat_think>", "\n"),
    ),
    "minimax": listed(
        members(
            '<invoke name="NAME">\n',
            lambda k, v: f'<parameter name="{k}">{bare(v)}</parameter>\n',
            "</invoke>",
        ),
        "<minimax:tool_call>\n",
        "\n",
        "\n</minimax:tool_call>",
        "\n",
        think=THINK,
    ),
    "minimax-m1": listed(as_json(), "<tool_calls>\n", "\n", "\n</tool_calls>", "\n", think=THINK),
    "minimax-m3": listed(
        lambda i, n, a: f'{MARKER}<invoke name="{n}">{elements(a)}{MARKER}</invoke>',
        f"{MARKER}<tool_call>\n",
        "\n",
        f"\n{MARKER}</tool_call>",
        think=("<mm:think>", "</mm:think>", ""),
    ),
    "mistral": listed(as_json(), "[TOOL_CALLS][", ", ", "]"),
    "mistral-v11": loose(
        lambda i, n, a: f"[TOOL_CALLS]{n}[ARGS]{dump(a)}", "", "", think=("[THINK]", "[/THINK]", "")
    ),
    "nemotron-nano-v2": listed(as_json(), "<TOOLCALL>[", ", ", "]</TOOLCALL>", "\n", think=THINK),
    "olmo3": listed(python, "<function_calls>", "\n", "</function_calls>", "\n", think=THINK),
    "phi4": listed(as_json(), "<|tool_call|>[", ", ", "]<|/tool_call|>"),
    "phi4-functools": listed(as_json(), "functools[", ", ", "]"),
    "qwen3": loose(as_json("<tool_call>\n", "}\n</tool_call>"), think=THINK),
    "qwen3-coder": loose(QWEN, "\n", "\n\n", think=THINK),
    "seed-oss": loose(
        members(
            "<seed:tool_call>\n<function=NAME>\n",
            lambda k, v: f"<parameter={k}>{bare(v)}</parameter>\n",
            "</function>\n</seed:tool_call>",
        ),
        think=("\n<seed:think>", "</seed:think>", "\n"),
    ),
    "solar-open": listed(
        lambda i, n, a: (
            f"<|tool_call:begin|>call-{i}<|tool_call:name|>{n}<|tool_call:args|>{dump(a)}"
            "<|tool_call:end|>"
        ),
        "<|tool_calls|>",
        "",
        "<|calls|>",
        think=("<|think|>", "<|end|>", "<|begin|>assistant"),
        text=("<|content|>", "<|end|>"),
        either=True,
    ),
    "step3": listed(
        members(
            '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="NAME">',
            lambda k, v: f'<steptml:parameter name="{k}">{bare(v)}</steptml:parameter>',
            "</steptml:invoke><｜tool_call_end｜>",
        ),
        "<｜tool_calls_begin｜>",
        "",
        "<｜tool_calls_end｜>",
        "\n\n",
        think=("<think>\n", "\n</think>", "\n\n"),
    ),
    "xlam": listed(as_json(), "[", ", ", "]", "\n"),
    "apriel": listed(
        as_json(),
        "<tool_calls>[",
        ", ",
        "]</tool_calls>",
        "\n",
        think=("Here are my reasoning steps:\n", "\n[BEGIN FINAL RESPONSE]", "\n"),
    ),
    "dots": listed(
        members(
            '<invoke name="NAME">\n',
            lambda k, v: f'<parameter name="{k}">{bare(v)}</parameter>\n',
            "</invoke>",
        ),
        "<dots_function_call>\n",
        "\n",
        "\n</dots_function_call>",
        "\n",
        think=THINK,
    ),
    "gigachat3": listed(as_json(), "<|function_call|>", "<|function_call|>", ""),
    "gigachat3.5": listed(
        members(
            '<｜GCML｜invoke name="NAME">\n',
            lambda k, v: (
                f'<｜GCML｜parameter name="{k}" string="{dump(isinstance(v, str))}">{bare(v)}'
                "</｜GCML｜parameter>\n"
            ),
            "</｜GCML｜invoke>",
        ),
        "<｜GCML｜tool_calls>\n",
        "\n",
        "\n</｜GCML｜tool_calls>",
        "\n\n",
        think=("<think>", "</think>", "\n\n"),
    ),
    "granite-20b": loose(as_json("<function_call> ")),
    "hunyuan-4": listed(
        members(
            "<tool_call>NAME",
            lambda k, v: f"<arg_key>{k}</arg_key><arg_value>{bare(v)}</arg_value>",
            "</tool_call>",
        ),
        "<tool_calls>",
        "",
        "</tool_calls>",
        think=("<think>", "</think>", ""),
    ),
    "inkling": loose(
        lambda i, n, a: (
            f'{n}<|content_invoke_tool_json|>{{"name":"{n}","args":{dump(a)}}}<|end_message|>'
        ),
        "<|message_model|>",
        "",
        text=("<|content_text|>", "<|end_message|>"),
        think=("<|content_thinking|>", "<|end_message|>", "<|message_model|>"),
        after_text="<|message_model|>",
    ),
    "iquest-q1": loose(
        members(
            "<iquest_tool_call>NAME",
            lambda k, v: f"<arg_key>{k}</arg_key><arg_value>{bare(v)}</arg_value>",
            "</iquest_tool_call>",
        ),
        think=THINK,
    ),
    "k2-horizon": listed(
        members(
            "<ifm|tool_call>NAME\n",
            lambda k, v: (
                f"<ifm|arg_key>{k}</ifm|arg_key>\n<ifm|arg_value>{bare(v)}</ifm|arg_value>\n"
            ),
            "</ifm|tool_call>",
        ),
        "<ifm|tool_calls>\n",
        "\n",
        "\n</ifm|tool_calls>",
        think=("<ifm|think_fast>\n", "\n</ifm|think_fast>", "\n"),
    ),
    "mimo": loose(
        members(
            "<tool_call>\n<function=NAME>\n",
            lambda k, v: f"<parameter={k}>{bare(v)}</parameter>\n",
            "</function>\n</tool_call>",
        ),
        "\n",
        "\n\n",
        think=THINK,
    ),
    "minicpm5": loose(
        members(
            '<function name="NAME">',
            lambda k, v: f'<param name="{k}">{cdata(v)}</param>',
            "</function>",
        ),
        think=THINK,
    ),
    "muse-glimmer": loose(
        members(
            ' to=NAME<|message|><atem:function_calls>\n<atem:invoke name="NAME">\n',
            lambda k, v: f'<atem:parameter name="{k}">{bare(v)}</atem:parameter>\n',
            "</atem:invoke>\n</atem:function_calls><|eom|>",
        ),
        "<|start|>assistant",
        "",
        text=(" to=user<|message|>", "<|eom|>"),
        think=(" to=self<|message|>", "<|eom|>", "<|start|>assistant"),
        after_text="<|start|>assistant",
    ),
    "plamo3": listed(
        lambda i, n, a: (
            f"<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>{n}"
            "<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>"
            f"<|plamo:constrain|>json<|plamo:msg|>{dump(a)}<|plamo:end_tool_arguments:plamo|>"
            "<|plamo:end_tool_request:plamo|>"
        ),
        "<|plamo:begin_tool_requests:plamo|>",
        "",
        "<|plamo:end_tool_requests:plamo|>",
        think=("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>", ""),
    ),
}


def write(form, reasoning, content, calls):
    out = ""
    if reasoning is not None:
        begin, end, after = form["think"]
        out += begin + reasoning + end + after
    begin, end = form.get("text", ("", ""))
    out += begin + content + end if content else ""
    if not calls:
        return out
    written = form["separator"].join(form["call"](i, *c) for i, c in enumerate(calls))
    before = form["before"] if content else ""
    if content:
        before += form.get("after_text", "")
    return out + before + form["begin"] + written + form["end"] + form.get("last", "")
