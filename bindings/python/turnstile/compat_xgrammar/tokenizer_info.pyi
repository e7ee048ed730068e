import enum
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from turnstile.vocab import Vocab

class VocabType(enum.Enum):
    RAW: Any
    BYTE_FALLBACK: Any
    BYTE_LEVEL: Any

class TokenizerInfo:
    vocab: Vocab
    vocab_type: VocabType
    add_prefix_space: bool
    def __init__(
        self,
        encoded_vocab: Sequence[Union[str, bytes]],
        vocab_type: VocabType = VocabType.RAW,
        *,
        vocab_size: Optional[int] = None,
        stop_token_ids: Any = None,
        add_prefix_space: bool = False,
    ) -> None: ...
    def ordinary_tokens(self) -> Tuple[Dict[bytes, int], List[bytes], int]: ...
    @classmethod
    def from_huggingface(
        cls, tokenizer: Any, *, vocab_size: Optional[int] = None, stop_token_ids: Any = None
    ) -> TokenizerInfo: ...
    @property
    def vocab_size(self) -> int: ...
    @property
    def stop_token_ids(self) -> List[int]: ...
    @property
    def special_token_ids(self) -> List[int]: ...
    @property
    def prepend_space_in_tokenization(self) -> Any: ...
    @property
    def decoded_vocab(self) -> List[bytes]: ...
    def dump_metadata(self) -> Any: ...
    @staticmethod
    def from_vocab_and_metadata(encoded_vocab: Any, metadata: Any) -> Any: ...
    def serialize_json(self) -> Any: ...
    @staticmethod
    def deserialize_json(json_string: Any) -> Any: ...

def read_stored(text: Any, members: Any) -> Any: ...
