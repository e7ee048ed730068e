from typing import Any, Optional, Tuple

def grammar_from(format: str, text: Any) -> str: ...
def regex_to_lark(regex: str, use_ascii: str = "d") -> str: ...

class JsonCompiler:
    def __init__(
        self,
        separators: Optional[Tuple[str, str]] = None,
        whitespace_flexible: bool = False,
        coerce_one_of: bool = False,
        whitespace_pattern: Optional[str] = None,
    ) -> None: ...
    def compile(self, schema: str, check: bool = True) -> str: ...

class LarkCompiler:
    def compile(self, lark: str, check: bool = True) -> str: ...

class RegexCompiler:
    def compile(self, regex: str, check: bool = True) -> str: ...
