from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple, Union

from turnstile import _core
from turnstile.grammar import Grammar
from turnstile.vocab import Vocab

class Tools:
    grammar: Grammar
    def __init__(
        self,
        vocab: Vocab,
        request: Union[str, bytes, Dict[str, Any], List[Any]],
        *,
        preset: str,
        **options: Any,
    ) -> None: ...
    @staticmethod
    def from_template(text: Union[str, bytes]) -> Tuple[Optional[str], List[str]]: ...
    def parser(self, lenient: bool = False) -> _core.Parser: ...
    def read(self, text: Union[str, bytes], *, lenient: bool = False) -> Dict[str, Any]: ...

def ebnf_or_lark(vocab: Vocab, text: str, **options: Any) -> Grammar: ...
def grammar_of_request(
    vocab: Vocab, body: Union[str, bytes, Dict[str, Any]], options: Dict[str, Any]
) -> Grammar: ...

class Finding(NamedTuple):
    rule: str
    severity: str
    pointer: str
    message: str
    why: str
    mended: bool

def lint(schema: Any, *, rules: Union[str, Iterable[str]] = ()) -> List[Finding]: ...
def lint_fix(
    schema: Any, *, rules: Union[str, Iterable[str]] = (), bounds: bool = False
) -> Tuple[Any, List[Finding]]: ...
