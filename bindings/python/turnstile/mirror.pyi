from typing import Any, Dict, Optional, Sequence

from turnstile import _core

class Mirror:
    rows: int
    def __init__(self, vocab: _core.Vocab, device: Any, rows: int = 1024) -> None: ...
    def apply_(
        self, logits: Any, matchers: Sequence[_core.Matcher], rows: Optional[Sequence[int]] = None
    ) -> Any: ...
    def stats(self) -> Dict[str, int]: ...
