"""XGrammar's strict_mode: schemas whose objects and arrays hold what they list, and nothing else.

Example  {"properties": {"a": {}}} gets "unevaluatedProperties": false. A part of an allOf does
         not: only the whole can be closed.

SPDX-License-Identifier: Apache-2.0
"""

import json
from typing import Any

from turnstile.compat_xgrammar.exception import RefusedError

_BOUNDS = (
    "required",
    "minProperties",
    "maxProperties",
)  # beside one of these the type "object" lists its members, for XGrammar: alone it is any object
_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS = ("anyOf", "oneOf", "prefixItems")
_ONES = (
    "items",
    "additionalProperties",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
)


def closed(schema: Any, close: bool = True) -> Any:
    """A schema whose objects and arrays hold what it lists, and nothing else. Recursion is bounded
    by Python's own limit (RecursionError).
    """
    if not isinstance(schema, dict):
        return schema
    out = dict(schema)
    for key in _MAPS:
        if isinstance(out.get(key), dict):
            out[key] = {name: closed(value) for name, value in out[key].items()}
    for key in _LISTS:
        if isinstance(out.get(key), list):
            out[key] = [closed(value) for value in out[key]]
    for key in _ONES:
        if key in out:
            out[key] = closed(out[key])
    if isinstance(out.get("allOf"), list):
        out["allOf"] = [closed(value, close=False) for value in out["allOf"]]
    bounded = out.get("type") == "object" and any(key in out for key in _BOUNDS)
    listed = (
        "properties" in out
        or "patternProperties" in out
        or bounded
        or ("allOf" in out and len(out["allOf"]) > 0)
    )
    if close and listed and not {"additionalProperties", "unevaluatedProperties"} & set(out):
        out["unevaluatedProperties"] = False
    if close and "prefixItems" in out and not {"items", "unevaluatedItems"} & set(out):
        out["unevaluatedItems"] = False
    return out


def schema_of(schema: Any, what: str) -> Any:
    """A schema (a dict, its text, or a pydantic model) as a dict; an error calls it `what`."""
    if hasattr(schema, "model_json_schema"):
        return schema.model_json_schema()
    try:
        return json.loads(schema) if isinstance(schema, str) else schema
    except ValueError as error:
        raise RefusedError(f"{what} is not JSON: {error}") from error


def item_of(item: Any) -> Any:
    """An item of old as a dict."""
    begin, schema, end = (
        (item["begin"], item["schema"], item["end"])
        if isinstance(item, dict)
        else (item.begin, item.schema_, item.end)
    )
    return {"begin": begin, "schema": schema_of(schema, f"the schema of {begin!r}"), "end": end}


def closed_tags(part: Any) -> Any:
    """A structural tag with its schemas closed."""
    if isinstance(part, dict):
        return {
            key: closed(value) if key in ("json_schema", "schema") else closed_tags(value)
            for key, value in part.items()
        }
    return [closed_tags(value) for value in part] if isinstance(part, list) else part
