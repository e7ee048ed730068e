from typing import Any, Dict, List, Literal, Optional, Tuple, Type, Union

from pydantic import BaseModel, Field

_Count = Optional[int]
_Token = Union[int, str]

class ConstStringFormat(BaseModel):
    type: Literal["const_string"] = "const_string"
    value: str

class JSONSchemaFormat(BaseModel):
    type: Literal["json_schema"] = "json_schema"
    json_schema: Union[bool, Dict[str, Any]]
    style: str = "json"
    any_order: bool = False
    max_whitespace_cnt: Optional[int] = None
    excludes: List[str] = []

class QwenXMLParameterFormat(BaseModel):
    type: Literal["qwen_xml_parameter"] = "qwen_xml_parameter"
    json_schema: Union[bool, Dict[str, Any]]

class AnyTextFormat(BaseModel):
    type: Literal["any_text"] = "any_text"
    excludes: List[str] = []
    max_tokens: _Count = None
    max_chars: _Count = None

class TokenFormat(BaseModel):
    type: Literal["token"] = "token"
    token: _Token

class ExcludeTokenFormat(BaseModel):
    type: Literal["exclude_token"] = "exclude_token"
    exclude_tokens: List[_Token] = []

class AnyTokensFormat(BaseModel):
    type: Literal["any_tokens"] = "any_tokens"
    exclude_tokens: List[_Token] = []
    max_tokens: _Count = None

class GrammarFormat(BaseModel):
    type: Literal["grammar"] = "grammar"
    grammar: str

class RegexFormat(BaseModel):
    type: Literal["regex"] = "regex"
    pattern: str

class SequenceFormat(BaseModel):
    type: Literal["sequence"] = "sequence"
    elements: List["Format"]

class OrFormat(BaseModel):
    type: Literal["or"] = "or"
    elements: List["Format"]

class TagFormat(BaseModel):
    type: Literal["tag"] = "tag"
    begin: Union[str, TokenFormat]
    content: "Format"
    end: Union[str, List[str], TokenFormat]

class TriggeredTagsFormat(BaseModel):
    type: Literal["triggered_tags"] = "triggered_tags"
    triggers: List[str]
    tags: List[TagFormat]
    at_least_one: bool = False
    stop_after_first: bool = False
    excludes: List[str] = []

class TokenTriggeredTagsFormat(BaseModel):
    type: Literal["token_triggered_tags"] = "token_triggered_tags"
    trigger_tokens: List[_Token]
    tags: List[TagFormat]
    exclude_tokens: List[_Token] = []
    at_least_one: bool = False
    stop_after_first: bool = False

class TagsWithSeparatorFormat(BaseModel):
    type: Literal["tags_with_separator"] = "tags_with_separator"
    tags: List[TagFormat]
    separator: str
    at_least_one: bool = False
    stop_after_first: bool = False

class OptionalFormat(BaseModel):
    type: Literal["optional"] = "optional"
    content: "Format"

class PlusFormat(BaseModel):
    type: Literal["plus"] = "plus"
    content: "Format"

class StarFormat(BaseModel):
    type: Literal["star"] = "star"
    content: "Format"

class RepeatFormat(BaseModel):
    type: Literal["repeat"] = "repeat"
    min: int
    max: int
    content: "Format"

class DispatchFormat(BaseModel):
    type: Literal["dispatch"] = "dispatch"
    rules: List[Tuple[str, "Format"]]
    loop: bool = True
    excludes: List[str] = []

class TokenDispatchFormat(BaseModel):
    type: Literal["token_dispatch"] = "token_dispatch"
    rules: List[Tuple[_Token, "Format"]]
    loop: bool = True
    exclude_tokens: List[_Token] = []

class OtherFormat(BaseModel):
    model_config: Any
    type: str

Format: Any

class StructuralTagItem(BaseModel):
    begin: str
    schema_: Union[str, Type[BaseModel], Dict[str, Any]] = Field(alias="schema")
    end: str

class StructuralTag(BaseModel):
    type: Literal["structural_tag"] = "structural_tag"
    format: Format
    @staticmethod
    def from_legacy_structural_tag(tags: Any, triggers: Any) -> Any: ...
    @staticmethod
    def from_json(json_str: Any) -> Any: ...
