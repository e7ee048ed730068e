from os import PathLike
from typing import Any, Iterable, Optional, Sequence, Union

from turnstile import _core

class Vocab(_core.Vocab):
    @classmethod
    def from_file(
        cls,
        path: Union[str, PathLike[str]],
        *,
        logits_width: int = 0,
        eog: Iterable[int] = (),
        cache_dir: Union[str, PathLike[str], None] = None,
        pattern: Optional[str] = None,
    ) -> Vocab: ...
    @classmethod
    def from_pretrained(
        cls,
        source: Union[str, PathLike[str], Any],
        *,
        logits_width: int = 0,
        eog: Iterable[int] = (),
    ) -> Vocab: ...
    @classmethod
    def from_memory(
        cls,
        data: bytes,
        *,
        name: Optional[str] = None,
        logits_width: int = 0,
        eog: Iterable[int] = (),
        pattern: Optional[str] = None,
    ) -> Vocab: ...
    @classmethod
    def from_tokens(
        cls,
        tokens: Sequence[bytes],
        *,
        special: Iterable[int] = (),
        eog: Iterable[int] = (),
        logits_width: int = 0,
    ) -> Vocab: ...
    @classmethod
    def from_transformers(
        cls, tokenizer: Any, *, logits_width: int = 0, eog: Union[int, Iterable[int], None] = ()
    ) -> Vocab: ...
    @classmethod
    def from_tiktoken(
        cls, encoding: Any, *, logits_width: int = 0, eog: Iterable[int] = ()
    ) -> Vocab: ...
    @classmethod
    def from_gguf(
        cls,
        path: Union[str, PathLike[str]],
        *,
        logits_width: int = 0,
        eog: Iterable[int] = (),
        cache_dir: Union[str, PathLike[str], None] = None,
    ) -> Vocab: ...
    @classmethod
    def embedded(cls) -> Vocab: ...
    def __len__(self) -> int: ...
