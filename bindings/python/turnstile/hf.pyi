from typing import Any, Optional, Sequence, Union

import transformers

from turnstile import _core
from turnstile.vocab import Vocab

def vocab_of(tokenizer: Any, model: Any) -> Vocab: ...

class LogitsProcessor(transformers.LogitsProcessor):
    def __init__(
        self,
        grammars: Union[_core.Grammar, Sequence[Optional[_core.Grammar]]],
        max_tokens: Optional[int] = None,
        loop_repeats: int = 0,
    ) -> None: ...
    def reset(self) -> None: ...
    def __call__(self, input_ids: Any, scores: Any) -> Any: ...
