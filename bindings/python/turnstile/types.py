"""Python types as JSON Schema, and JSON back as values of these types.

    schema, build = turnstile.types.schema_of(Person)     # a dataclass
    build({"name": "Anna", "age": 42})                    # Person(name='Anna', age=42)

Types: None, bool, int, float, str, Literal, Enum, Union, Optional, list, tuple, set, frozenset,
dict with keys of str, dataclasses, TypedDict, NamedTuple. Also datetime, date, time, UUID, Decimal,
Any, NewType, and functions. A function stands for its parameters as an object, which comes back as
a dict. Annotated with bounds by their usual names (ge, gt, le, lt, multiple_of, min_length,
max_length, pattern), as those of annotated-types, pydantic.Field and msgspec.Meta. A class may
contain itself: it becomes $defs.

Classes of pydantic have their own schema and validation. pydantic, where it is installed,
reads every other type too (EmailStr, bytes, deque).

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

__all__ = ["is_type", "schema_of"]


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
    reader = _Reader()
    schema, build = reader.read(wanted)
    if reader.defs:
        schema = {**schema, "$defs": reader.defs}
    return schema, build


def is_type(wanted):
    """Is it what schema_of reads, and no JSON Schema? None is neither."""
    return (
        isinstance(wanted, (type, *_ALIASES))
        or typing.get_origin(wanted) is not None
        or wanted is typing.Any
        or inspect.isfunction(wanted)
        or inspect.ismethod(wanted)
        or hasattr(wanted, "__supertype__")
        or _is_adapter(wanted)
    )


def _is_adapter(wanted):
    """A TypeAdapter of pydantic."""
    return hasattr(wanted, "json_schema") and hasattr(wanted, "validate_python")


# The type of `type X = int`, of Python 3.12 and later.
_ALIASES = (typing.TypeAliasType,) if hasattr(typing, "TypeAliasType") else ()

# Bounds of Annotated: the attribute that metadata has, and the keyword for numbers, texts, arrays
# and objects.
_BOUNDS = {
    "ge": {"number": "minimum"},
    "gt": {"number": "exclusiveMinimum"},
    "le": {"number": "maximum"},
    "lt": {"number": "exclusiveMaximum"},
    "multiple_of": {"number": "multipleOf"},
    "min_length": {"string": "minLength", "array": "minItems", "object": "minProperties"},
    "max_length": {"string": "maxLength", "array": "maxItems", "object": "maxProperties"},
    "pattern": {"string": "pattern"},
}


def _bounds(schema, metadata):
    """A schema with the bounds that Annotated's metadata say."""
    kind = "number" if schema.get("type") == "integer" else schema.get("type")
    bounded = dict(schema)
    for one in metadata:
        for part in (one, *getattr(one, "metadata", ())):  # pydantic.Field has a list of such
            for name, keywords in _BOUNDS.items():
                bound = getattr(part, name, None)
                if bound is None:
                    continue
                if kind not in keywords:
                    raise UnsupportedError(f"{name}={bound!r} is no bound of {schema}")
                bounded[keywords[kind]] = getattr(bound, "pattern", bound)
    return bounded


def _keys_equal(key, value):
    """Equal in JSON: 1 and True are two values there."""
    return type(key) is type(value) and key == value


class _Unknown(Exception):
    """A type that pydantic may know."""


class _Reader:
    def __init__(self):
        self.defs = {}  # name: the schema of a class that contains itself, or that pydantic has
        self._open = []  # classes and aliases that are being read: all that can hold themselves
        self._named = {}  # class or alias that was met in itself: [name in defs, its build]

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
            return self._itself(wanted)
        if isinstance(wanted, (type, *_ALIASES)):
            return self._class(wanted)
        return self._known(wanted)

    def _class(self, wanted):
        self._open.append(wanted)
        try:
            schema, build = self._known(wanted)
        finally:
            self._open.pop()
        named = self._named.get(wanted)
        if named is None or named[1] is not None:
            return schema, build
        self.defs[named[0]] = schema
        named[1] = build
        return {"$ref": f"#/$defs/{named[0]}"}, build

    def _known(self, wanted):
        try:
            return self._compound(wanted)
        except _Unknown as error:
            adapter = _adapter_of(wanted)
            if adapter is None:
                raise UnsupportedError(f"{error}; see turnstile.types") from None
            return self._pydantic(adapter.json_schema(), adapter.validate_python)

    def _itself(self, wanted):
        """A type inside itself: a reference to what the reader of the outer one puts into defs."""
        if wanted not in self._named:
            name = self._free(_name(wanted))
            self.defs[name] = {}
            self._named[wanted] = [name, None]
        named = self._named[wanted]
        return {"$ref": f"#/$defs/{named[0]}"}, lambda value: named[1](value)

    def _free(self, name):
        """A name that defs do not have."""
        number, free = 1, name
        while free in self.defs:
            number += 1
            free = f"{name}-{number}"
        return free

    def _pydantic(self, schema, build):
        """A schema whose $defs go to the root, where its references look for them."""
        schema = dict(schema)
        defs = schema.pop("$defs", {})
        names = {}
        for name, one in defs.items():
            names[name] = name if self.defs.get(name) == one else self._free(name)
            self.defs[names[name]] = one
        for name in names.values():
            self.defs[name] = _renamed(self.defs[name], names)
        return _renamed(schema, names), build

    def _compound(self, wanted):
        origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
        if isinstance(wanted, _ALIASES):
            return self.read(wanted.__value__)
        if hasattr(wanted, "__supertype__"):  # NewType
            return self.read(wanted.__supertype__)
        if origin is not None:
            return self._generic(wanted, origin, arguments)
        if hasattr(wanted, "model_json_schema") and hasattr(wanted, "model_validate"):
            return self._pydantic(wanted.model_json_schema(), wanted.model_validate)
        if _is_adapter(wanted):
            return self._pydantic(wanted.json_schema(), wanted.validate_python)
        if hasattr(wanted, "__pydantic_validator__"):  # a dataclass of pydantic
            raise _Unknown(f"{_name(wanted)} needs pydantic")
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
        raise _Unknown(f"{_name(wanted)} has no JSON form")

    def _generic(self, wanted, origin, arguments):
        if origin is typing.Literal:
            return self._literal(arguments)
        if origin is typing.Union or origin is getattr(types, "UnionType", None):
            return self._union(arguments)
        if hasattr(wanted, "__metadata__"):  # Annotated
            if any(hasattr(m, "__get_pydantic_core_schema__") for m in wanted.__metadata__):
                raise _Unknown(f"{_name(wanted)} has validators of pydantic")
            schema, build = self.read(arguments[0])
            return _bounds(schema, wanted.__metadata__), build
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
        if origin is dict:
            raise UnsupportedError(f"{_name(wanted)}: JSON has no keys but strings")
        if str(origin).endswith(("Required", "NotRequired", "ReadOnly")):
            return self.read(arguments[0])
        raise _Unknown(f"{_name(wanted)} has no JSON form")

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
                if _fits(value, schema, self.defs):
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


def _adapter_of(wanted):
    """pydantic's TypeAdapter of a type; None where pydantic is missing or does not know it."""
    try:
        import pydantic
    except ImportError:
        return None
    try:
        return pydantic.TypeAdapter(wanted)
    except (pydantic.PydanticUserError, pydantic.PydanticSchemaGenerationError):
        return None


def _renamed(schema, names):
    """A copy in which references to #/$defs lead to the new names."""
    if isinstance(schema, list):
        return [_renamed(one, names) for one in schema]
    if not isinstance(schema, dict):
        return schema
    copy = {}
    for key, one in schema.items():
        if key in ("$ref", "mapping"):
            one = _moved(one, names)
        copy[key] = one if key in ("const", "enum", "default") else _renamed(one, names)
    return copy


def _moved(reference, names):
    """A reference, or discriminator's mapping to references, by the new names."""
    if isinstance(reference, dict):
        return {key: _moved(one, names) for key, one in reference.items()}
    if not isinstance(reference, str) or not reference.startswith("#/$defs/"):
        return reference
    name = reference[len("#/$defs/") :]
    return f"#/$defs/{names.get(name, name)}"


def _fits(value, schema, defs):
    """Could the value be of this schema? A look at its outside, enough to choose among the parts of
    a union; of objects the names of members, too.
    """
    if "$ref" in schema:
        schema = defs.get(schema["$ref"][len("#/$defs/") :], {})
    if "enum" in schema:
        return any(_keys_equal(key, value) for key in schema["enum"])
    if "anyOf" in schema:
        return any(_fits(value, one, defs) for one in schema["anyOf"])
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
            and all(_fits(value[name], one, defs) for name, one in names.items() if name in value)
        )
    if kind == "array" and isinstance(schema.get("items"), dict):
        return all(_fits(one, schema["items"], defs) for one in value)
    return True


def _name(wanted):
    return getattr(wanted, "__name__", None) or str(wanted)
