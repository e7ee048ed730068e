"""xgrammar.exception: what the stand-in raises beside RuntimeError.

SPDX-License-Identifier: Apache-2.0
"""

from turnstile.errors import GrammarError

__all__ = [
    "DeserializeFormatError",
    "DeserializeVersionError",
    "InvalidJSONError",
    "InvalidStructuralTagError",
    "RefusedError",
]


class RefusedError(GrammarError, RuntimeError):
    """A grammar that is refused: a RuntimeError, as with XGrammar."""


class InvalidStructuralTagError(RefusedError):
    """A structural tag that is refused."""


class InvalidJSONError(RefusedError):
    """A structural tag or a stored object that is not JSON."""


class DeserializeFormatError(RuntimeError):
    """A stored object of another kind, or of another vocabulary."""


class DeserializeVersionError(RuntimeError):
    """A stored object that another version wrote."""
