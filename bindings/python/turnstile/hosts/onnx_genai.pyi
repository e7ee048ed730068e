from typing import Any, List, Optional, Sequence, Union

from turnstile import _core

class Constraint:
    def __init__(
        self,
        generator: Any,
        grammars: Union[_core.Grammar, Sequence[Optional[_core.Grammar]]],
        max_tokens: Optional[int] = None,
        on_error: str = "raise",
    ) -> None: ...
    @property
    def errors(self) -> List[Optional[BaseException]]: ...
    def apply(self) -> None: ...
