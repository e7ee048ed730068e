"""What vllm_own.py gives to vLLM's own tests: a plug-in of pytest (-p own_tests), which

  - puts turnstile.vllm.Backend where the tests import the class of the backend OWN_NAME,
  - keeps the tests that are about OWN_NAME, and without one those about XGrammar and guidance, and
  - writes to the file OWN_RESULTS the backends, the outcome and the message of each test.

Run as a program it makes the folders of models that the tests name: own_tests.py RANKS TEKKEN
QWEN FOLDER. GPT-2's tokens are those of tiktoken's p50k_base without its last 24, runs of blanks
that were added to GPT-2's.

SPDX-License-Identifier: Apache-2.0
"""

import base64
import json
import os
import pathlib
import sys

NAMES = ("xgrammar", "guidance", "outlines", "lm-format-enforcer", "auto")
GPT2_TOKENS = 50256  # and <|endoftext|>
results, backends = {}, {}


# ---- the plug-in ---------------------------------------------------------------------------------


def name_of(test):
    return test.nodeid.split("/")[-1]


def pytest_collection():
    # vLLM's file has a schema of 2,000 levels, which Python 3.11 reads only so. 3.12 reads it.
    sys.setrecursionlimit(20000)


def pytest_collection_finish():
    sys.setrecursionlimit(1000)


def pytest_configure():
    own = os.environ.get("OWN_NAME", "")
    if not own:
        return
    import vllm.v1.structured_output.backend_guidance as guidance
    import vllm.v1.structured_output.backend_xgrammar as xgrammar

    import turnstile.vllm

    turnstile.vllm.add_backend()
    if own == "xgrammar":
        xgrammar.XgrammarBackend = turnstile.vllm.Backend
    if own == "guidance":
        guidance.GuidanceBackend = turnstile.vllm.Backend


def about(item, renamed):
    """The backends that a test is about: those that its parameters name, or its file's name, or
    all that the file speaks of.
    """
    file = pathlib.Path(item.path)
    params = getattr(item, "callspec", None)
    values = [str(value) for value in params.params.values()] if params else []
    values = [renamed if value == "turnstile" else value for value in values]
    named = {value for value in values if value in NAMES}
    if named:
        return named
    named = {name for name in NAMES[:3] if name in file.stem}
    text = file.read_text().lower().replace("turnstile", renamed or "turnstile")
    return named or {name for name in NAMES[:3] if name in text}


def pytest_collection_modifyitems(items, config):
    renamed = os.environ.get("OWN_NAME", "")
    wanted = {renamed} if renamed else set(NAMES[:2])
    items[:] = [item for item in items if wanted & about(item, renamed)]
    backends.update({name_of(item): sorted(about(item, renamed)) for item in items})


def pytest_runtest_logreport(report):
    name = name_of(report)
    if report.when == "call" or report.outcome != "passed":
        outcome = report.outcome
        if hasattr(report, "wasxfail"):
            outcome = "expected to fail"
        elif report.failed and report.when != "call":
            outcome = "error"
        crash = getattr(report.longrepr, "reprcrash", None)
        text = crash.message if crash else str(report.longrepr or "")
        results[name] = (backends[name], outcome, text[:400])


def pytest_collectreport(report):
    if report.failed:
        results[name_of(report)] = (NAMES[:2], "error", str(report.longrepr)[-400:])


def pytest_sessionfinish():
    pathlib.Path(os.environ["OWN_RESULTS"]).write_text(json.dumps(results))


# ---- models --------------------------------------------------------------------------------------


def gpt2(ranks, folder):
    import transformers
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    rows = [line.split() for line in ranks.read_text().splitlines()]
    order = {base64.b64decode(token): int(rank) for token, rank in rows if int(rank) < GPT2_TOKENS}
    assert len(order) == GPT2_TOKENS
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {byte: chr(byte) for byte in visible}
    for i, byte in enumerate(byte for byte in range(256) if byte not in letters):
        letters[byte] = chr(256 + i)

    def spell(token):
        return "".join(letters[byte] for byte in token)

    def halves(token):
        """The two parts that the token is merged from: what merging its bytes by rank ends with."""
        parts = [bytes([byte]) for byte in token]
        while len(parts) > 2:
            pairs = [order.get(a + b, 1 << 30) for a, b in zip(parts, parts[1:])]
            at = pairs.index(min(pairs))
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return tuple(map(spell, parts))

    merges = [halves(token) for token in sorted(order, key=order.get) if len(token) > 1]
    words = {spell(token): rank for token, rank in order.items()}
    words["<|endoftext|>"] = GPT2_TOKENS
    tokenizer = Tokenizer(models.BPE(vocab=words, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken("<|endoftext|>", special=True)])
    end = {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>"}
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **end)
    assert fast.encode("Hello world") == [15496, 995] and len(fast) == 50257
    fast.save_pretrained(folder)
    transformers.GPT2Config(architectures=["GPT2LMHeadModel"]).save_pretrained(folder)


def qwen(tokenizer, folder):
    """The model that vLLM's configuration has where none is named: its shape, without weights."""
    import transformers

    transformers.Qwen3Config(architectures=["Qwen3ForCausalLM"]).save_pretrained(folder)
    transformers.PreTrainedTokenizerFast(tokenizer_file=str(tokenizer)).save_pretrained(folder)


def mistral(tekken, folder):
    """The newest tokenizer of mistral_common, with the version and the control tokens of v11."""
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    content = json.loads(tekken.read_text())
    names = [token["token_str"] for token in Tekkenizer.DEPRECATED_SPECIAL_TOKENS]
    content["special_tokens"] = [
        {"rank": rank, "token_str": str(name.value if hasattr(name, "value") else name)}
        for rank, name in enumerate([*names, "[ARGS]", "[CALL_ID]"])
    ]
    for token in content["special_tokens"]:
        token["is_control"] = True
    content["config"]["version"] = "v11"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tekken.json").write_text(json.dumps(content))


def compare(folder):
    """What Turnstile reads of vLLM's tokenizer for Mistral's files: each token's bytes, the end."""
    from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy
    from vllm.tokenizers.mistral import MistralTokenizer

    from turnstile.hosts.vllm_requests import make_vocab, width_of

    tokenizer = MistralTokenizer.from_pretrained(str(folder))
    vocab, inner = make_vocab(tokenizer, width_of(tokenizer)), tokenizer.tokenizer
    keep = SpecialTokenPolicy.KEEP
    for token in range(vocab.size):
        if not inner.is_special(token):
            assert vocab.token_bytes(token) == inner.id_to_byte_piece(token, keep), token
    assert list(vocab.eog_tokens) == [tokenizer.eos_token_id]
    print(f"Mistral's tokenizer: {vocab.size} tokens, as mistral_common spells them")


def main(ranks, tekken, tokenizer, folder):
    for name in ("gpt2", "openai-community/gpt2"):
        gpt2(pathlib.Path(ranks), pathlib.Path(folder, name))
    qwen(tokenizer, pathlib.Path(folder, "Qwen", "Qwen3-0.6B"))
    for name in ("Ministral-3-3B-Instruct-2512", "Mistral-Small-3.2-24B-Instruct-2506"):
        mistral(pathlib.Path(tekken), pathlib.Path(folder, "mistralai", name))
    compare(pathlib.Path(folder, "mistralai", name))


if __name__ == "__main__":
    main(*sys.argv[1:])
