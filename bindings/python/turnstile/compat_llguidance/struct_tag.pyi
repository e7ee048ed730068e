from typing import Any, Dict, Sequence, Union

class StructTag:
    trigger: str
    begin: str
    grammar: Union[str, Dict[str, Any]]
    end: str
    def __init__(
        self, *, trigger: str, begin: str, grammar: Union[str, Dict[str, Any]], end: str
    ) -> None: ...
    @staticmethod
    def to_grammar(
        tags: Sequence[StructTag], *, assume_special: bool = True, text_regex: str = ...
    ) -> str: ...
