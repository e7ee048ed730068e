"""xgrammar.testing: helpers of tests.

SPDX-License-Identifier: Apache-2.0
"""

from typing import Any, List, Optional, Tuple, Union

from turnstile.compat_xgrammar.compiler import CompiledGrammar
from turnstile.compat_xgrammar.grammar import Grammar
from turnstile.compat_xgrammar.matcher import GrammarMatcher
from turnstile.compat_xgrammar.tokenizer_info import TokenizerInfo


def _compiled(grammar: Union[Grammar, str], info: Optional[TokenizerInfo]) -> CompiledGrammar:
    source = Grammar("ebnf", grammar, root="root") if isinstance(grammar, str) else grammar
    if info is None:  # every byte is a token, so that all texts can be written
        info = TokenizerInfo([bytes([byte]) for byte in range(256)] + [b"</s>"])
    return CompiledGrammar(source, info)


def _get_matcher_from_grammar(grammar: Union[Grammar, str], **kwargs: Any) -> GrammarMatcher:
    """A matcher for strings: it ends where the text is complete."""
    return GrammarMatcher(_compiled(grammar, None), terminate_without_stop_token=True, **kwargs)


def _get_matcher_from_grammar_and_tokenizer_info(
    grammar: Union[Grammar, str], tokenizer_info: Optional[TokenizerInfo] = None, **kwargs: Any
) -> GrammarMatcher:
    return GrammarMatcher(_compiled(grammar, tokenizer_info), **kwargs)


def _is_grammar_accept_string(
    grammar: Union[Grammar, str],
    input_str: str,
    *,
    debug_print: bool = False,
    print_time: bool = False,
    require_termination: bool = True,
) -> bool:
    """Is a text, or with `require_termination` false the beginning of one, in the grammar?"""
    matcher = _get_matcher_from_grammar(grammar)
    accepted = matcher.accept_string(input_str)
    return accepted and (not require_termination or matcher.is_terminated())


def _traverse_draft_tree(
    retrieve_next_token: Any,
    retrieve_next_sibling: Any,
    draft_tokens: Any,
    matcher: GrammarMatcher,
    allocate_token_bitmask: Any,
    time_threshold: float = -1.0,
) -> bool:
    return matcher.traverse_draft_tree(
        retrieve_next_token,
        retrieve_next_sibling,
        draft_tokens,
        allocate_token_bitmask,
        time_threshold,
    )


def bitmask_to_bool_mask(bit_mask: Any, vocab_size: Optional[int] = None) -> Any:
    """A tensor of bools, one for each token, of a bitmask on the processor."""
    import torch

    if bit_mask.dtype != torch.int32 or bit_mask.device.type != "cpu":
        raise ValueError("a bitmask is int32, on the processor")
    width = bit_mask.shape[1] * 32 if vocab_size is None else vocab_size
    if width > bit_mask.shape[1] * 32:
        raise ValueError(f"the bitmask has {bit_mask.shape[1] * 32} bits, not {width}")
    bits = (bit_mask.unsqueeze(-1) >> torch.arange(32)) & 1
    return bits.flatten(1)[:, :width].bool()


def bool_mask_to_bitmask(bool_mask: Any) -> Any:
    """The other way; bits past the width are set."""
    import torch

    rows, width = bool_mask.shape
    whole = torch.ones((rows, (width + 31) // 32 * 32), dtype=torch.int64)
    whole[:, :width] = bool_mask.to(torch.int64)
    words = (whole.view(rows, -1, 32) << torch.arange(32)).sum(dim=2)
    return (words - ((words >> 31) << 32)).to(torch.int32)


def _get_masked_tokens_from_bitmask(bitmask: Any, vocab_size: int, index: int = 0) -> List[int]:
    """The tokens that are not allowed."""
    allowed = bitmask_to_bool_mask(bitmask[index : index + 1], vocab_size)[0]
    return (~allowed).nonzero().flatten().tolist()


def _is_single_token_bitmask(bitmask: Any, vocab_size: int, index: int = 0) -> Tuple[bool, int]:
    """Is one token allowed alone, and which (-1: no)."""
    allowed = bitmask_to_bool_mask(bitmask[index : index + 1], vocab_size)[0].nonzero().flatten()
    return (True, int(allowed[0])) if len(allowed) == 1 else (False, -1)
