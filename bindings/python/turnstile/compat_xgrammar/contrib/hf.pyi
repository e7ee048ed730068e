from typing import Any

from turnstile import hf

class LogitsProcessor(hf.LogitsProcessor):
    def __init__(self, compiled_grammar: Any) -> None: ...
