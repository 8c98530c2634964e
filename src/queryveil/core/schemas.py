"""Generate the JSON schema of a record class, for the documentation and for other programs."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from datetime import date, datetime
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from .records import Json, JsonObject, Record, field_types, flat_record, is_required

_PLAIN: dict[Any, dict[str, Json]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Path: {"type": "string"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    Fraction: {"type": "string", "pattern": "^-?[0-9.]+(E[+-]?[0-9]+)?(/[0-9]+)?$"},
    Any: {},
}


def json_schema(cls: type[Record]) -> JsonObject:
    """Return the JSON schema (draft 2020-12) of the documents that a record class writes."""
    definitions: dict[str, Json] = {}
    schema = _object_schema(cls, definitions)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": cls.__name__}
    return head | schema | ({"$defs": definitions} if definitions else {})


def _object_schema(cls: type[Record], definitions: dict[str, Json]) -> JsonObject:
    properties: dict[str, Json] = {}
    required: list[str] = []
    additional: Any = False
    if cls.schema_number is not None:
        properties["schema"] = {"const": cls.schema_number}
        required.append("schema")
    expected = field_types(cls)  # type: ignore[arg-type]  # mypy: a class is hashable
    for declared in dataclasses.fields(cls):
        kind = expected[declared.name]
        if not declared.metadata.get("flat"):
            properties[declared.name] = _schema_of(kind, definitions)
            if is_required(declared):
                required.append(declared.name)
        elif (flat := flat_record(kind))[0] is not None:
            record, may_be_none = flat
            inner = _object_schema(record, definitions)
            properties |= inner["properties"]
            if not may_be_none:
                required += [name for name in inner["required"] if name not in required]
        else:  # a mapping whose keys stand beside the others
            additional = _schema_of(kind, definitions).get("additionalProperties", True)
    summary = (cls.__doc__ or "").strip().split("\n")[0]
    return {
        "description": summary,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": additional,
    }


def _schema_of(  # noqa: PLR0911  (one case a type)
    kind: Any, definitions: dict[str, Json]
) -> dict[str, Json]:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema_of(one, definitions) for one in arguments]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is tuple and arguments[1:] == (...,):
        return {"type": "array", "items": _schema_of(arguments[0], definitions)}
    if origin is tuple:
        items = [_schema_of(one, definitions) for one in arguments]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema_of(arguments[1], definitions)}
    if issubclass(kind, Enum):
        return {"enum": [member.value for member in kind]}
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}  # a record may contain itself
        definitions[kind.__name__] = _object_schema(kind, definitions)
    return {"$ref": f"#/$defs/{kind.__name__}"}
