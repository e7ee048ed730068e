"""xgrammar.structural_tag: formats of structural tags as pydantic models.

The members are those of the JSON that docs/tools.md describes. A format that XGrammar lacks,
as a preset of Turnstile's may write it, is an OtherFormat: it is kept as it is.

SPDX-License-Identifier: Apache-2.0
"""

from typing import Annotated, Any, Dict, List, Literal, Optional, Tuple, Type, Union

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from turnstile.compat_xgrammar.closed import schema_of

_Count = Optional[Annotated[int, Field(ge=0, le=2147483647)]]
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
    """A format of Turnstile's own, with the members that it has."""

    model_config = ConfigDict(extra="allow")
    type: str


_FORMATS = (
    AnyTextFormat,
    ConstStringFormat,
    JSONSchemaFormat,
    GrammarFormat,
    RegexFormat,
    QwenXMLParameterFormat,
    OrFormat,
    SequenceFormat,
    TagFormat,
    TriggeredTagsFormat,
    TokenTriggeredTagsFormat,
    TagsWithSeparatorFormat,
    OptionalFormat,
    PlusFormat,
    StarFormat,
    TokenFormat,
    ExcludeTokenFormat,
    AnyTokensFormat,
    RepeatFormat,
    DispatchFormat,
    TokenDispatchFormat,
)
_BY_TYPE = {kind.model_fields["type"].default: kind for kind in _FORMATS}


def _class_of(value):
    """The name under which a format, or its dict, stands in the union."""
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    known = _BY_TYPE.get(kind)
    if known and isinstance(value, dict) and not value.keys() <= known.model_fields.keys():
        return "OtherFormat"  # with members that XGrammar's does not have
    if isinstance(value, OtherFormat) or not known:
        return "OtherFormat"
    return known.__name__


Format = Annotated[
    Union[tuple(Annotated[kind, Tag(kind.__name__)] for kind in (*_FORMATS, OtherFormat))],
    Discriminator(_class_of),
]

for _kind in _FORMATS:
    _kind.model_rebuild()


class StructuralTagItem(BaseModel):
    begin: str
    schema_: Union[str, Type[BaseModel], Dict[str, Any]] = Field(alias="schema")
    end: str


class StructuralTag(BaseModel):
    type: Literal["structural_tag"] = "structural_tag"
    format: Format

    @staticmethod
    def from_legacy_structural_tag(tags, triggers):
        return StructuralTag(
            format=TriggeredTagsFormat(
                triggers=triggers,
                tags=[
                    TagFormat(
                        begin=tag.begin,
                        content=JSONSchemaFormat(
                            json_schema=schema_of(tag.schema_, f"the schema of {tag.begin!r}")
                        ),
                        end=tag.end,
                    )
                    for tag in tags
                ],
            )
        )

    @staticmethod
    def from_json(json_str):
        if isinstance(json_str, str):
            return StructuralTag.model_validate_json(json_str)
        if isinstance(json_str, dict):
            return StructuralTag.model_validate(json_str)
        raise ValueError("a structural tag is a JSON text or a dict")
