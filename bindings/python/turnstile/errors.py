"""The exceptions of Turnstile. Every one carries where and why:

    status    "TSL_ERR_SCHEMA": the name of the library's status
    message   one sentence
    pointer   JSON pointer of the keyword to blame, "" where there is none
    offset    bytes into the text that was given
    line      1-based; 0 where no text is involved
    column    1-based, in bytes; 0 where no text is involved

That a grammar does not allow a token is no exception: `Matcher.accept` returns False.

SPDX-License-Identifier: Apache-2.0
"""


class TurnstileError(Exception):
    """The base of all exceptions of this package."""

    def __init__(self, message, status="", pointer="", offset=0, line=0, column=0):
        super().__init__(message)
        self.message = message
        self.status = status
        self.pointer = pointer
        self.offset = offset
        self.line = line
        self.column = column

    def __reduce__(self):
        return type(self), (
            self.message,
            self.status,
            self.pointer,
            self.offset,
            self.line,
            self.column,
        )

    def __str__(self):
        where = [f"at {self.pointer}"] if self.pointer else []
        if self.line:
            where.append(f"line {self.line}, column {self.column}")
        return f"{self.message} ({', '.join(where)})" if where else self.message


class GrammarError(TurnstileError, ValueError):
    """The grammar is malformed, is not a schema, or is satisfied by nothing."""


class UnsupportedError(GrammarError):
    """The grammar says something that is understood, but not supported; `pointer` says where."""


class ArgumentError(TurnstileError, ValueError):
    """An argument is out of its documented range."""


class FormatError(TurnstileError, ValueError):
    """A file is not what it claims to be."""


class LimitError(TurnstileError):
    """A documented limit was reached; the message names it."""


class StateError(TurnstileError, RuntimeError):
    """The call does not fit the object's state: accept after the end, rollback too far, in use by
    another thread.
    """


class LogitsError(TurnstileError, ValueError):
    """The logits cannot be sampled from."""


class CancelledError(TurnstileError):
    """The `cancel` flag was set."""


class FileError(TurnstileError, OSError):
    """A file could not be read or written."""


_BY_STATUS = {
    "TSL_ERR_ARGUMENT": ArgumentError,
    "TSL_ERR_SYNTAX": GrammarError,
    "TSL_ERR_SCHEMA": GrammarError,
    "TSL_ERR_EMPTY": GrammarError,
    "TSL_ERR_UNSUPPORTED": UnsupportedError,
    "TSL_ERR_LIMIT": LimitError,
    "TSL_ERR_IO": FileError,
    "TSL_ERR_FORMAT": FormatError,
    "TSL_ERR_STATE": StateError,
    "TSL_ERR_LOGITS": LogitsError,
    "TSL_ERR_CANCELLED": CancelledError,
}


def from_status(status, message, pointer, offset, line, column):
    """The exception of a status; called by the C part."""
    return _BY_STATUS.get(status, TurnstileError)(message, status, pointer, offset, line, column)
