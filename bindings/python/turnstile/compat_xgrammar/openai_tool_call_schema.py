"""xgrammar.openai_tool_call_schema: tools and choices among them, as in OpenAI's chat completions.

SPDX-License-Identifier: Apache-2.0
"""

from typing import Any, Dict, List, Literal, Optional, Union

from pydantic import BaseModel


class FunctionDefinition(BaseModel):
    name: str
    description: Optional[str] = None
    parameters: Optional[Dict[str, Any]] = None
    strict: Optional[bool] = None


class FunctionToolParam(BaseModel):
    type: Literal["function"] = "function"
    function: FunctionDefinition


class BuiltinToolParam(BaseModel):
    """A tool of the provider's: `name`, or else `type`, is what the model writes."""

    type: str
    name: Optional[str] = None
    parameters: Optional[Dict[str, Any]] = None


ToolParam = Union[FunctionToolParam, BuiltinToolParam]


class NamedToolChoiceFunction(BaseModel):
    name: str


class NamedToolChoiceParam(BaseModel):
    type: Literal["function"] = "function"
    function: NamedToolChoiceFunction


class BuiltinToolChoiceParam(BaseModel):
    type: str
    name: Optional[str] = None


class AllowedToolRef(BaseModel):
    type: str
    function: Optional[NamedToolChoiceFunction] = None
    name: Optional[str] = None


class AllowedTools(BaseModel):
    mode: Literal["auto", "required"]
    tools: List[AllowedToolRef]


class AllowedToolChoiceParam(BaseModel):
    type: Literal["allowed_tools"] = "allowed_tools"
    allowed_tools: AllowedTools


ToolChoiceOptionParam = Union[
    Literal["none", "auto", "required"],
    NamedToolChoiceParam,
    AllowedToolChoiceParam,
    BuiltinToolChoiceParam,
]
