from typing import Any, Callable, Optional

class Cache:
    def __init__(
        self,
        most: int,
        max_bytes: Optional[int] = None,
        size: Optional[Callable[[Any], int]] = None,
    ) -> None: ...
    def get(self, key: Any, make: Callable[[], Any]) -> Any: ...
    def clear(self) -> None: ...
