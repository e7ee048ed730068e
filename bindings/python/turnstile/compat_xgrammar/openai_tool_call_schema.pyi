from typing import Any, Dict, List, Literal, Optional

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
    type: str
    name: Optional[str] = None
    parameters: Optional[Dict[str, Any]] = None

ToolParam: Any

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

ToolChoiceOptionParam: Any
