from typing import Any, Dict, Optional, Tuple, Union

from turnstile.compat_xgrammar.grammar import Grammar
from turnstile.compat_xgrammar.tokenizer_info import TokenizerInfo
from turnstile.grammar import Grammar as TurnstileGrammar

class CompiledGrammar:
    grammar: Grammar
    turnstile_grammar: TurnstileGrammar
    tokenizer_info: TokenizerInfo
    def __init__(self, grammar: Grammar, info: TokenizerInfo) -> None: ...
    @property
    def memory_size_bytes(self) -> int: ...
    def serialize_json(self) -> str: ...
    @staticmethod
    def deserialize_json(json_str: str, tokenizer_info: TokenizerInfo) -> CompiledGrammar: ...

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
    def compile_lark(
        self, lark_string: str, *, named_grammars: Optional[Dict[str, Union[Grammar, str]]] = None
    ) -> CompiledGrammar: ...
    def compile_grammar(
        self, grammar: Union[Grammar, str], *, root_rule_name: str = "root"
    ) -> CompiledGrammar: ...
    def compile_structural_tag(self, *args: Any, **kwargs: Any) -> CompiledGrammar: ...
    def clear_cache(self) -> None: ...
    def get_cache_size_bytes(self) -> int: ...
    @property
    def cache_limit_bytes(self) -> int: ...
