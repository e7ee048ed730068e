from typing import Any, Final, Literal

class _Nothing:
    def __bool__(self) -> Literal[False]: ...

NOTHING: Final[_Nothing]

def read(text: str) -> Any: ...
