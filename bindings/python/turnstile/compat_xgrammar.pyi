import enum
from typing import Any, List, Optional, Sequence, Tuple, Union

from turnstile.errors import GrammarError
from turnstile.grammar import Grammar
from turnstile.vocab import Vocab

class RefusedError(GrammarError, RuntimeError): ...

class VocabType(enum.Enum):
    RAW = 0
    BYTE_FALLBACK = 1
    BYTE_LEVEL = 2

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
    def decoded_vocab(self) -> List[bytes]: ...

class CompiledGrammar:
    turnstile_grammar: Grammar
    tokenizer_info: TokenizerInfo
    def __init__(self, grammar: Grammar, info: TokenizerInfo) -> None: ...
    @property
    def memory_size_bytes(self) -> int: ...

class GrammarCompiler:
    def __init__(
        self,
        tokenizer_info: TokenizerInfo,
        *,
        max_threads: int = 8,
        cache_enabled: bool = True,
        cache_limit_bytes: int = -1,
    ) -> None: ...
    def compile_json_schema(
        self,
        schema: Any,
        *,
        any_whitespace: bool = True,
        indent: Optional[int] = None,
        separators: Optional[Tuple[str, str]] = None,
        strict_mode: bool = True,
        max_whitespace_cnt: Optional[int] = None,
        any_order: bool = False,
    ) -> CompiledGrammar: ...
    def compile_builtin_json_grammar(self) -> CompiledGrammar: ...
    def compile_regex(self, regex: str) -> CompiledGrammar: ...
    def compile_grammar(self, grammar: str, *, root_rule_name: str = "root") -> CompiledGrammar: ...
    def compile_structural_tag(
        self, structural_tag: Any, triggers: Optional[Sequence[str]] = None
    ) -> CompiledGrammar: ...
    def clear_cache(self) -> None: ...

class GrammarMatcher:
    def __init__(
        self,
        compiled_grammar: CompiledGrammar,
        *,
        override_stop_tokens: Any = None,
        terminate_without_stop_token: bool = False,
        max_rollback_tokens: int = -1,
    ) -> None: ...
    def accept_token(self, token_id: int, *, debug_print: bool = False) -> bool: ...
    def accept_string(
        self, input_str: Union[str, bytes, bytearray, memoryview], *, debug_print: bool = False
    ) -> bool: ...
    def fill_next_token_bitmask(
        self, bitmask: Any, index: int = 0, *, debug_print: bool = False
    ) -> bool: ...
    def find_jump_forward_string(self) -> str: ...
    def rollback(self, num_tokens: int = 1) -> None: ...
    def is_completed(self) -> bool: ...
    def is_terminated(self) -> bool: ...
    def reset(self) -> None: ...
    def fork(self) -> GrammarMatcher: ...
    @property
    def max_rollback_tokens(self) -> int: ...
    @property
    def stop_token_ids(self) -> List[int]: ...

class BatchGrammarMatcher:
    def __init__(self, max_threads: Union[int, str] = "auto") -> None: ...
    def batch_fill_next_token_bitmask(
        self,
        matchers: Sequence[GrammarMatcher],
        bitmask: Any,
        indices: Optional[Sequence[int]] = None,
        debug_print: bool = False,
    ) -> None: ...
    @staticmethod
    def batch_accept_token(
        matchers: Sequence[GrammarMatcher], tokens: Sequence[int], debug_print: bool = False
    ) -> List[bool]: ...
    @staticmethod
    def batch_accept_string(
        matchers: Sequence[GrammarMatcher],
        strings: Sequence[Union[str, bytes]],
        debug_print: bool = False,
    ) -> List[bool]: ...
    @staticmethod
    def batch_rollback(
        matchers: Sequence[GrammarMatcher], num_tokens: Union[int, Sequence[int]] = 1
    ) -> None: ...

def get_bitmask_shape(batch_size: int, vocab_size: int) -> Tuple[int, int]: ...
def allocate_token_bitmask(batch_size: int, vocab_size: int) -> Any: ...
def reset_token_bitmask(bitmask: Any) -> None: ...
def apply_token_bitmask_inplace(
    logits: Any,
    bitmask: Any,
    *,
    vocab_size: Optional[int] = None,
    indices: Optional[Sequence[int]] = None,
    backend: str = "auto",
) -> None: ...
