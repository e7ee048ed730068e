from typing import Any, List, Optional, Sequence, Union

from turnstile import _core
from turnstile.vocab import Vocab

MAX_REQUESTS: int

def vocab_of(
    tokenizer: Any, logits_width: int = 0, eog: Union[int, Sequence[int]] = ()
) -> Vocab: ...

class LogitsProcessor:
    def __init__(
        self, grammar: _core.Grammar, max_tokens: Optional[int] = None, on_error: str = "end"
    ) -> None: ...
    def __call__(
        self,
        req_id: int,
        logits: Any,
        token_ids: List[List[int]],
        stream_ptr: Optional[int] = None,
        client_id: Optional[int] = None,
    ) -> None: ...
