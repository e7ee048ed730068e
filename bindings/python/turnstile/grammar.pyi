import enum
import os
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, Union

from turnstile import _core
from turnstile.vocab import Vocab

class Grammar(_core.Grammar):
    vocab: Vocab
    @classmethod
    def json_schema(
        cls,
        vocab: Vocab,
        schema: Any,
        *,
        order: str = "schema",
        whitespace: Union[str, int, Tuple[int, int]] = "plain",
        indent: int = 2,
        spelling: str = "plain",
        generous: bool = False,
        draft: str = "auto",
        ignore_formats: bool = False,
        assert_content: bool = False,
        nullable: bool = False,
        repeated_names: bool = False,
        lazy: bool = False,
        max_nesting: int = 0,
        resolver: Optional[Callable[[str], Union[str, bytes, None]]] = None,
        base_uri: Optional[str] = None,
        max_memory: int = 0,
        max_stacks: int = 0,
        max_depth: int = 0,
        max_steps: int = 0,
        deadline: Optional[float] = None,
        cancel: Optional[_core.Cancel] = None,
        cache: Union[_core.Cache, str, "os.PathLike[str]", None] = None,
    ) -> Grammar: ...
    @classmethod
    def json_object(cls, vocab: Vocab, **options: Any) -> Grammar: ...
    @classmethod
    def request(
        cls, vocab: Vocab, body: Union[str, bytes, Dict[str, Any]], **options: Any
    ) -> Grammar: ...
    @classmethod
    def pydantic(cls, vocab: Vocab, model: Any, **options: Any) -> Grammar: ...
    @classmethod
    def regex(
        cls,
        vocab: Vocab,
        pattern: Union[str, bytes],
        *,
        case_insensitive: bool = False,
        dot_all: bool = False,
        search: bool = False,
        max_memory: int = 0,
        max_stacks: int = 0,
        max_depth: int = 0,
        max_steps: int = 0,
        deadline: Optional[float] = None,
        cancel: Optional[_core.Cancel] = None,
        cache: Union[_core.Cache, str, "os.PathLike[str]", None] = None,
    ) -> Grammar: ...
    @classmethod
    def choice(
        cls,
        vocab: Vocab,
        choices: Iterable[Union[str, int, enum.Enum]],
        *,
        max_memory: int = 0,
        max_stacks: int = 0,
        max_depth: int = 0,
        max_steps: int = 0,
        deadline: Optional[float] = None,
        cancel: Optional[_core.Cancel] = None,
        cache: Union[_core.Cache, str, "os.PathLike[str]", None] = None,
    ) -> Grammar: ...
    @classmethod
    def gbnf(
        cls,
        vocab: Vocab,
        text: Union[str, bytes],
        *,
        root: Optional[str] = "root",
        max_memory: int = 0,
        max_stacks: int = 0,
        max_depth: int = 0,
        max_steps: int = 0,
        deadline: Optional[float] = None,
        cancel: Optional[_core.Cancel] = None,
        cache: Union[_core.Cache, str, "os.PathLike[str]", None] = None,
    ) -> Grammar: ...
    @classmethod
    def ebnf(
        cls,
        vocab: Vocab,
        text: Union[str, bytes],
        *,
        root: Optional[str] = "root",
        max_memory: int = 0,
        max_stacks: int = 0,
        max_depth: int = 0,
        max_steps: int = 0,
        deadline: Optional[float] = None,
        cancel: Optional[_core.Cancel] = None,
        cache: Union[_core.Cache, str, "os.PathLike[str]", None] = None,
    ) -> Grammar: ...
    @classmethod
    def abnf(
        cls,
        vocab: Vocab,
        text: Union[str, bytes],
        *,
        root: Optional[str] = None,
        max_memory: int = 0,
        max_stacks: int = 0,
        max_depth: int = 0,
        max_steps: int = 0,
        deadline: Optional[float] = None,
        cancel: Optional[_core.Cancel] = None,
        cache: Union[_core.Cache, str, "os.PathLike[str]", None] = None,
    ) -> Grammar: ...
    @classmethod
    def lark(
        cls,
        vocab: Vocab,
        text: Union[str, bytes],
        *,
        start: Optional[str] = "start",
        resolver: Optional[Callable[[str], Union[str, bytes, None]]] = None,
        lexer: Optional[str] = None,
        max_memory: int = 0,
        max_stacks: int = 0,
        max_depth: int = 0,
        max_steps: int = 0,
        deadline: Optional[float] = None,
        cancel: Optional[_core.Cancel] = None,
        cache: Union[_core.Cache, str, "os.PathLike[str]", None] = None,
    ) -> Grammar: ...
    @classmethod
    def tags(
        cls,
        vocab: Vocab,
        structure: Union[str, bytes, Dict[str, Any]],
        *,
        over: Optional[_core.Grammar] = None,
        order: str = "schema",
        whitespace: Union[str, int, Tuple[int, int]] = "plain",
        indent: int = 2,
        spelling: str = "plain",
        generous: bool = False,
        draft: str = "auto",
        ignore_formats: bool = False,
        assert_content: bool = False,
        nullable: bool = False,
        repeated_names: bool = False,
        lazy: bool = False,
        max_nesting: int = 0,
        resolver: Optional[Callable[[str], Union[str, bytes, None]]] = None,
        base_uri: Optional[str] = None,
        max_memory: int = 0,
        max_stacks: int = 0,
        max_depth: int = 0,
        max_steps: int = 0,
        deadline: Optional[float] = None,
        cancel: Optional[_core.Cancel] = None,
    ) -> Grammar: ...
    @classmethod
    def tools(
        cls,
        vocab: Vocab,
        request: Union[str, bytes, Dict[str, Any], List[Any]],
        *,
        preset: str,
        tool_choice: Optional[str] = None,
        parallel: Optional[bool] = None,
        thinking: str = "auto",
        max_thinking_tokens: int = 0,
        lenient: bool = False,
        over: Optional[_core.Grammar] = None,
        order: str = "schema",
        whitespace: Union[str, int, Tuple[int, int]] = "plain",
        indent: int = 2,
        spelling: str = "plain",
        generous: bool = False,
        draft: str = "auto",
        ignore_formats: bool = False,
        assert_content: bool = False,
        nullable: bool = False,
        repeated_names: bool = False,
        lazy: bool = False,
        max_nesting: int = 0,
        resolver: Optional[Callable[[str], Union[str, bytes, None]]] = None,
        base_uri: Optional[str] = None,
        max_memory: int = 0,
        max_stacks: int = 0,
        max_depth: int = 0,
        max_steps: int = 0,
        deadline: Optional[float] = None,
        cancel: Optional[_core.Cancel] = None,
    ) -> Grammar: ...
    @classmethod
    def start(
        cls,
        kind: str,
        vocab: Vocab,
        text: Any,
        *,
        threads: Optional[_core.Threads] = None,
        **options: Any,
    ) -> _core.Compile: ...
    @classmethod
    def load(cls, vocab: Vocab, path: Union[str, bytes, "os.PathLike[str]"]) -> Grammar: ...
    def report(self) -> List[Dict[str, Any]]: ...
    warnings: List[str]
    def matcher(self) -> _core.Matcher: ...

def write_tools(
    vocab: Vocab,
    request: Union[str, bytes, Dict[str, Any], List[Any]],
    *,
    preset: str,
    tool_choice: Optional[str] = None,
    parallel: Optional[bool] = None,
    thinking: str = "auto",
    max_thinking_tokens: int = 0,
) -> str: ...
def score_mean(
    traces: Sequence[Sequence[Tuple[bytes, float, float]]],
) -> List[Tuple[bytes, float, float]]: ...
