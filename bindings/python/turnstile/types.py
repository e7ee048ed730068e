"""Python types as JSON Schema, and JSON back as values of these types.

    schema, build = turnstile.types.schema_of(Person)     # a dataclass
    build({"name": "Anna", "age": 42})                    # Person(name='Anna', age=42)

Types: None, bool, int, float, str, Literal, Enum, Union and Optional, list, tuple, set, frozenset,
dict with keys of str, dataclasses, TypedDict, NamedTuple, datetime, date, time, UUID, Decimal, Any,
Annotated (the type alone), classes of pydantic (their own schema and validation), and functions:
their parameters as an object, which comes back as a dict. A type that contains itself is an error.

SPDX-License-Identifier: Apache-2.0
"""

import dataclasses
import datetime
import decimal
import enum
import inspect
import types
import typing
import uuid

from turnstile.errors import UnsupportedError

__all__ = ["schema_of"]


def _float(value):
    try:
        return float(value)
    except OverflowError:  # digits of a whole number past what a float holds
        return float("inf") if value > 0 else float("-inf")


# Python's type, its schema, and what makes a value of what JSON has.
_SCALARS = {
    type(None): ({"type": "null"}, lambda value: None),
    bool: ({"type": "boolean"}, bool),
    int: ({"type": "integer"}, int),
    float: ({"type": "number"}, _float),
    str: ({"type": "string"}, str),
    decimal.Decimal: ({"type": "number"}, lambda value: decimal.Decimal(str(value))),
    uuid.UUID: ({"type": "string", "format": "uuid"}, uuid.UUID),
    # Patterns beside the formats: JSON Schema has the year 0 and leap seconds, Python has not.
    datetime.date: (
        {"type": "string", "format": "date", "pattern": "^(?!0000)"},
        datetime.date.fromisoformat,
    ),
    datetime.datetime: (
        {
            "type": "string",
            "format": "date-time",
            "pattern": r"^(?!0000)....-..-..T..:..:[0-5][0-9](\.[0-9]{6})?[+-]..:..$",
        },
        datetime.datetime.fromisoformat,
    ),
    datetime.time: (
        {"type": "string", "pattern": r"^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{6})?$"},
        datetime.time.fromisoformat,
    ),
}
_ABSENT = object()


def schema_of(wanted):
    """(JSON Schema as a dict, function from parsed JSON to a value of the type). Raises
    UnsupportedError where the type has no JSON form.
    """
    return _Reader().read(wanted)


def _keys_equal(key, value):
    """Equal in JSON: 1 and True are two values there."""
    return type(key) is type(value) and key == value


class _Reader:
    def __init__(self):
        self._open = []  # types that are being read

    def read(self, wanted):
        if wanted is None:
            wanted = type(None)
        if wanted is typing.Any or wanted is object:
            return {}, lambda value: value
        try:
            if wanted in _SCALARS:
                return _SCALARS[wanted]
        except TypeError:
            pass  # not hashable: none of them
        if any(wanted is other for other in self._open):
            raise UnsupportedError(
                f"{_name(wanted)} contains itself; write its JSON Schema with $ref instead"
            )
        self._open.append(wanted)
        try:
            return self._compound(wanted)
        finally:
            self._open.pop()

    def _compound(self, wanted):
        origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
        if origin is not None:
            return self._generic(wanted, origin, arguments)
        if hasattr(wanted, "model_json_schema") and hasattr(wanted, "model_validate"):
            return wanted.model_json_schema(), wanted.model_validate
        if isinstance(wanted, type) and issubclass(wanted, enum.Enum):
            return self._enum(wanted)
        if dataclasses.is_dataclass(wanted) and isinstance(wanted, type):
            fields = [f for f in dataclasses.fields(wanted) if f.init]
            optional = {
                f.name
                for f in fields
                if f.default is not dataclasses.MISSING
                or f.default_factory is not dataclasses.MISSING
            }
            return self._object(wanted, [f.name for f in fields], optional, wanted)
        if isinstance(wanted, type) and issubclass(wanted, tuple) and hasattr(wanted, "_fields"):
            return self._object(wanted, wanted._fields, set(wanted._field_defaults), wanted)
        if hasattr(wanted, "__required_keys__"):  # TypedDict
            names = typing.get_type_hints(wanted)
            return self._object(wanted, names, set(wanted.__optional_keys__), dict)
        if wanted in (list, tuple, set, frozenset):
            return self._list(wanted, typing.Any)
        if wanted is dict:
            return {"type": "object"}, dict
        if inspect.isfunction(wanted) or inspect.ismethod(wanted):
            return self._function(wanted)
        raise UnsupportedError(f"{_name(wanted)} has no JSON form; see turnstile.types")

    def _generic(self, wanted, origin, arguments):
        if origin is typing.Literal:
            return self._literal(arguments)
        if origin is typing.Union or origin is getattr(types, "UnionType", None):
            return self._union(arguments)
        if hasattr(wanted, "__metadata__"):  # Annotated
            return self.read(arguments[0])
        if origin is tuple and not (len(arguments) == 2 and arguments[1] is Ellipsis):
            return self._tuple(arguments)
        if origin in (list, tuple, set, frozenset):
            return self._list(origin, arguments[0])
        if origin is dict and arguments[0] is str:
            schema, build = self.read(arguments[1])
            return (
                {"type": "object", "additionalProperties": schema},
                lambda value: {key: build(item) for key, item in value.items()},
            )
        if str(origin).endswith(("Required", "NotRequired", "ReadOnly")):
            return self.read(arguments[0])
        raise UnsupportedError(f"{_name(wanted)} has no JSON form")

    def _literal(self, values):
        values = [value.value if isinstance(value, enum.Enum) else value for value in values]
        return {"enum": list(values)}, lambda value: value

    def _enum(self, wanted):
        members = list(wanted)
        plain = all(isinstance(m.value, (str, int, float, bool, type(None))) for m in members)
        keys = [m.value if plain else m.name for m in members]

        def build(value):
            return next(m for key, m in zip(keys, members) if _keys_equal(key, value))

        return {"enum": keys}, build

    def _union(self, arguments):
        parts = [self.read(argument) for argument in arguments]
        schemas = [schema for schema, _ in parts]

        def build(value):
            for schema, make in parts:
                if _fits(value, schema):
                    try:
                        return make(value)
                    except (ValueError, TypeError, KeyError, StopIteration):
                        continue
            raise ValueError(f"{value!r} is of none of {', '.join(map(_name, arguments))}")

        return {"anyOf": schemas}, build

    def _list(self, origin, item):
        schema, build = self.read(item)
        whole = {"type": "array", "items": schema}
        if origin in (set, frozenset):
            whole["uniqueItems"] = True
        return whole, lambda value: origin(build(one) for one in value)

    def _tuple(self, arguments):
        parts = [self.read(argument) for argument in arguments if argument != ()]
        n = len(parts)
        schema = {"type": "array", "items": False, "minItems": n, "maxItems": n}
        if parts:
            schema["prefixItems"] = [one for one, _ in parts]
        return schema, lambda value: tuple(make(one) for one, (_, make) in zip(value, parts))

    def _object(self, wanted, names, optional, make):
        hints = typing.get_type_hints(wanted)
        return self._members({name: hints.get(name, typing.Any) for name in names}, optional, make)

    def _members(self, hints, optional, make):
        parts = {name: self.read(hint) for name, hint in hints.items()}
        schema = {
            "type": "object",
            "properties": {name: one for name, (one, _) in parts.items()},
            "required": [name for name in parts if name not in optional],
            "additionalProperties": False,
        }
        return schema, lambda value: make(
            **{name: parts[name][1](item) for name, item in value.items()}
        )

    def _function(self, wanted):
        hints = typing.get_type_hints(wanted)
        named = {}
        optional = set()
        for name, parameter in inspect.signature(wanted).parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise UnsupportedError(f"{wanted.__name__}: parameter {name} takes any number")
            if name == "self":
                continue
            named[name] = hints.get(name, typing.Any)
            if parameter.default is not parameter.empty:
                optional.add(name)
        return self._members(named, optional, dict)


_KINDS = {
    "null": type(None),
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "string": str,
    "array": list,
    "object": dict,
}


def _fits(value, schema):
    """Could the value be of this schema? A look at its outside, enough to choose among the parts of
    a union; of objects the names of members, too.
    """
    if "enum" in schema:
        return any(_keys_equal(key, value) for key in schema["enum"])
    if "anyOf" in schema:
        return any(_fits(value, one) for one in schema["anyOf"])
    kind = schema.get("type")
    if kind is None:
        return True
    if isinstance(value, bool):
        return kind == "boolean"
    if not isinstance(value, _KINDS[kind]):
        return False
    if kind == "array" and "prefixItems" in schema:
        return len(value) == len(schema["prefixItems"])
    if kind == "object" and "properties" in schema:
        names = schema["properties"]
        return (
            set(schema.get("required", ())) <= set(value)
            and (schema.get("additionalProperties", True) is not False or set(value) <= set(names))
            and all(_fits(value[name], one) for name, one in names.items() if name in value)
        )
    if kind == "array" and isinstance(schema.get("items"), dict):
        return all(_fits(one, schema["items"]) for one in value)
    return True


def _name(wanted):
    return getattr(wanted, "__name__", None) or str(wanted)
