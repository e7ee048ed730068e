"""xgrammar.builtin_structural_tag: how a model's family writes reasoning and calls of tools.

The formats are those of Turnstile's presets (docs/tools.md), under XGrammar's names of models.
A name of a preset works too. A model of one's own is added by register_model_structural_tag.

SPDX-License-Identifier: Apache-2.0
"""

import json
from typing import Any, Callable, Dict, List, Tuple, Union

from pydantic import TypeAdapter

from turnstile._core import tool_presets
from turnstile.compat_xgrammar.openai_tool_call_schema import (
    AllowedToolChoiceParam,
    BuiltinToolChoiceParam,
    BuiltinToolParam,
    FunctionToolParam,
    NamedToolChoiceParam,
    ToolChoiceOptionParam,
    ToolParam,
)
from turnstile.compat_xgrammar.structural_tag import StructuralTag
from turnstile.grammar import write_tools
from turnstile.vocab import Vocab

_PRESETS = {
    "cohere": "cohere",
    "deepseek_r1": "deepseek-v3",
    "deepseek_v3_1": "deepseek-v3.1",
    "deepseek_v3_2": "deepseek-v3.2",
    "deepseek_v4": "deepseek-v4",
    "deepseek_v4_1": "deepseek-v4.1",
    "exaone": "exaone4",
    "harmony": "gpt-oss",
    "kimi": "kimi-k2",
    "kimi_k3": "kimi-k3",
    "llama": "llama3",
    "minimax": "minimax",
    "minimax_m3": "minimax-m3",
    "qwen_3": "qwen3",
    "qwen_3_5": "qwen3-coder",
    "qwen_3_coder": "qwen3-coder",
}
# Formats without a preset: what a call begins with, how its arguments are written, its end.
_CALLS = {
    "glm_4_7": ("<tool_call>{name}", "glm_xml", "</tool_call>"),
    "mimo": ("<tool_call><function={name}>", "qwen_xml", "</function></tool_call>"),
}
_ANY = {"type": "object", "x-any": True}  # the parameters of a tool that has none
_THINKING = {"enabled": "on", "disabled": "off", "auto": "auto", True: "on", False: "off"}
_TOOL = TypeAdapter(ToolParam)
_CHOICE = TypeAdapter(ToolChoiceOptionParam)
_registered: Dict[str, Callable[..., Any]] = {}


def get_model_structural_tag(
    model: str,
    tools: Any = None,
    tool_choice: Any = "auto",
    reasoning: Union[bool, str] = "enabled",
    force_reasoning: bool = False,
    any_order: bool = False,
    exclude_special_tokens: bool = True,
    max_whitespace_cnt: Any = None,
    parallel_tool_calls: bool = True,
) -> StructuralTag:
    """The structural tag of what a model may answer. `force_reasoning` and
    `exclude_special_tokens` have no meaning here: free text never holds the model's markup.
    """
    if reasoning not in _THINKING:
        raise ValueError(f"reasoning is enabled, disabled or auto, not {reasoning!r}")
    functions, builtins, choice = normalize_tool_choice(tools, tool_choice)
    mode = reasoning if isinstance(reasoning, str) else "enabled" if reasoning else "disabled"
    if model in _registered:
        return _registered[model](
            functions,
            builtins,
            choice,
            mode,
            any_order=any_order,
            exclude_special_tokens=exclude_special_tokens,
            max_whitespace_cnt=max_whitespace_cnt,
            parallel_tool_calls=parallel_tool_calls,
        )
    listed = _functions(functions, builtins)
    if model in _CALLS:
        tag = _own(model, listed, choice, mode, parallel_tool_calls)
    else:
        tag = _of_preset(model, listed, choice, mode, parallel_tool_calls)
    return StructuralTag.model_validate(_with_options(tag, any_order, max_whitespace_cnt))


def _functions(functions: Any, builtins: Any) -> List[Tuple[str, Any]]:
    """(name, schema of the arguments) of each tool."""
    own = [
        (f.function.name, True if f.function.strict is False else f.function.parameters)
        for f in functions
    ]
    own += [(tool.name or tool.type, tool.parameters) for tool in builtins]
    return [(name, True if schema is None else schema) for name, schema in own]


def _of_preset(model: str, tools: Any, choice: str, mode: str, parallel: bool) -> Dict[str, Any]:
    preset = _PRESETS.get(model, model)
    presets = tool_presets()
    if preset not in presets:
        known = sorted({*_PRESETS, *_CALLS, *presets, *_registered})
        raise ValueError(f"there is no model {model!r}; there are {', '.join(known)}")
    request = {
        "tools": [
            {
                "type": "function",
                "function": {"name": name, "parameters": _ANY if schema is True else schema},
            }
            for name, schema in tools
        ]
    }
    written = write_tools(
        Vocab.embedded(),
        request,
        preset=preset,
        tool_choice="none" if not tools else "required" if choice != "auto" else "auto",
        parallel=parallel and choice != "forced",
        thinking=_THINKING[mode],
    )
    return _without_marks(json.loads(written))


def _own(model: str, tools: Any, choice: str, mode: str, parallel: bool) -> Dict[str, Any]:
    begin, style, end = _CALLS[model]
    excludes = ["<think>", "</think>"]
    text: Dict[str, Any] = {"type": "any_text", "excludes": excludes}
    if tools:
        text = {
            "type": "triggered_tags",
            "triggers": ["<tool_call>"],
            "tags": [
                {
                    "type": "tag",
                    "begin": begin.format(name=name),
                    "content": {"type": "json_schema", "json_schema": schema, "style": style},
                    "end": end,
                }
                for name, schema in tools
            ],
            "excludes": excludes,
            "at_least_one": choice != "auto",
            "stop_after_first": not parallel or choice == "forced",
        }
    thinking: Dict[str, Any] = {
        "type": "tag",
        "begin": "<think>" if mode == "auto" or model == "mimo" else "",
        "content": {"type": "any_text", "excludes": excludes},
        "end": "</think>",
    }
    if mode == "auto":
        thinking = {"type": "optional", "content": thinking}
    if mode != "disabled":
        text = {"type": "sequence", "elements": [thinking, text]}
    return {"type": "structural_tag", "format": text}


def _without_marks(part: Any) -> Any:
    """A format without what says how an answer is read back."""
    if isinstance(part, list):
        return [_without_marks(value) for value in part]
    if not isinstance(part, dict):
        return part
    if part.get("json_schema") == _ANY:
        part = {**part, "json_schema": True}
    return {
        key: value if key == "json_schema" else _without_marks(value)
        for key, value in part.items()
        if key not in ("as", "name") or "type" not in part
    }


def _with_options(part: Any, any_order: bool, most: Any) -> Any:
    """A format whose JSON is in any order, or has bounded white space."""
    if isinstance(part, list):
        return [_with_options(value, any_order, most) for value in part]
    if not isinstance(part, dict):
        return part
    out = {
        key: value if key == "json_schema" else _with_options(value, any_order, most)
        for key, value in part.items()
    }
    if out.get("type") == "json_schema":
        if any_order:
            out["any_order"] = True
        if most is not None:
            out["max_whitespace_cnt"] = most
    return out


def normalize_tool_choice(
    tools: Any = None, tool_choice: Any = "auto"
) -> Tuple[List[FunctionToolParam], List[BuiltinToolParam], str]:
    """The functions and the provider's tools that may be called, and "auto", "required" or
    "forced". ValueError where a tool that is chosen is not there, or none is left.
    """
    if not isinstance(tools, (list, type(None))):
        raise ValueError("tools are a list")
    models = [
        tool
        if isinstance(tool, (FunctionToolParam, BuiltinToolParam))
        else _TOOL.validate_python(tool)
        for tool in tools or []
    ]
    functions = [tool for tool in models if isinstance(tool, FunctionToolParam)]
    builtins = [tool for tool in models if isinstance(tool, BuiltinToolParam)]
    choice = _CHOICE.validate_python("auto" if tool_choice is None else tool_choice)
    if choice == "none":
        return [], [], "auto"
    simple = choice
    if isinstance(choice, AllowedToolChoiceParam):
        functions, builtins = _allowed(functions, builtins, choice.allowed_tools.tools)
        simple = choice.allowed_tools.mode
    elif isinstance(choice, NamedToolChoiceParam):
        functions = [tool for tool in functions if tool.function.name == choice.function.name]
        builtins, simple = [], "forced"
        if not functions:
            raise ValueError(f"there is no tool {choice.function.name!r}")
    elif isinstance(choice, BuiltinToolChoiceParam):
        builtins = [tool for tool in builtins if tool.type == choice.type]
        functions, simple = [], "forced"
    if simple == "required" and not functions and not builtins:
        raise ValueError("a call is required, and there are no tools")
    if simple == "forced" and len(functions) + len(builtins) != 1:
        raise ValueError("the tool that is chosen must be one")
    return functions, builtins, str(simple)


def _allowed(functions: Any, builtins: Any, refs: Any) -> Tuple[List[Any], List[Any]]:
    names = {ref.function.name for ref in refs if ref.type == "function" and ref.function}
    types = {ref.type for ref in refs if ref.type != "function"}
    missing = (names - {tool.function.name for tool in functions}) | (
        types - {tool.type for tool in builtins}
    )
    if missing or any(ref.type == "function" and not ref.function for ref in refs):
        raise ValueError(f"these allowed tools are not there: {', '.join(sorted(missing))}")
    return (
        [tool for tool in functions if tool.function.name in names],
        [tool for tool in builtins if tool.type in types],
    )


def register_model_structural_tag(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: get_model_structural_tag(name) calls the function."""

    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        _registered[name] = function
        return function

    return keep


def get_builtin_structural_tag(
    model: str,
    reasoning: Union[bool, str] = "enabled",
    tools: Any = None,
    builtin_tools: Any = None,
    force_empty_reasoning: bool = False,
) -> StructuralTag:
    """The older name of get_model_structural_tag."""
    return get_model_structural_tag(
        model, [*(tools or []), *(builtin_tools or [])], "auto", reasoning
    )
