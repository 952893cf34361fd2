"""JSON Schemas as picky clients take them: one object, no references, no alternatives where a type will do."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import BaseModel

from flashcards.operation import Params

Schema = dict[str, Any]

_NOISE = frozenset({"title", "$defs", "discriminator", "examples"})


def argument_schema(params: type[Params]) -> Schema:
    """The arguments of a tool: exactly what is enforced, but that null for an optional argument goes unmentioned."""
    full = params.model_json_schema(by_alias=True)
    plain = _plain(full, full.get("$defs", {}), nullable=False)
    # The model's docstring is for developers; the tool has a description of its own.
    return {key: value for key, value in plain.items() if key != "description"}


def envelope_schema(data: type[BaseModel]) -> Schema:
    """What a tool's `structuredContent` looks like, success or error: the envelope with that `data`.

    Nothing inside `data` is required, because the data of an error is empty. A client pays for every word of the list
    in each conversation, so the schema says types alone and leaves the rest of the envelope open.
    """
    full = data.model_json_schema(by_alias=True, mode="serialization")
    plain = _plain(full, full.get("$defs", {}), nullable=True)
    return {
        "type": "object",
        "properties": {
            "ok": {"type": "boolean"},
            "data": _types_alone({"type": "object", "properties": plain.get("properties", {})}),
            "instructions": {"type": "string"},
            "error": {"type": "object"},
        },
        "required": ["ok", "data", "instructions"],
    }


def _plain(schema: Mapping[str, Any], definitions: Mapping[str, Any], *, nullable: bool) -> Schema:
    """`schema` with references inlined, and without titles, null defaults and, unless `nullable`, null."""
    if "$ref" in schema:
        named = definitions[str(schema["$ref"]).rpartition("/")[2]]
        own = {key: value for key, value in schema.items() if key != "$ref"}
        return _plain({**named, **own}, definitions, nullable=nullable)
    result: Schema = {}
    for key, value in schema.items():
        if key in _NOISE or (key, value) in (("default", None), ("additionalProperties", True)):
            continue
        result |= _plain_part(key, value, definitions, nullable=nullable)
    return result


def _plain_part(key: str, value: Any, definitions: Mapping[str, Any], *, nullable: bool) -> Schema:
    if key == "properties":
        return {key: {name: _plain(part, definitions, nullable=nullable) for name, part in value.items()}}
    if key == "anyOf":
        return _alternatives([_plain(part, definitions, nullable=nullable) for part in value], nullable=nullable)
    if key in ("items", "additionalProperties") and isinstance(value, Mapping):
        return {key: _plain(value, definitions, nullable=nullable)}
    return {key: value}


def _alternatives(parts: list[Schema], *, nullable: bool) -> Schema:
    # A list of types would be shorter than alternatives, and is what clients with a dialect of their own stumble over.
    kept = parts if nullable else [part for part in parts if part != {"type": "null"}]
    return kept[0] if len(kept) == 1 else {"anyOf": kept}


def _types_alone(schema: Schema, around: Collection[str] = ()) -> Schema:
    """`schema` without prose; an object that has nothing but names of the object `around` it need not say so again."""
    names = schema.get("properties", {})
    dropped = {"description", "required"} | ({"properties"} if set(names) <= set(around) else set())
    result = {key: value for key, value in schema.items() if key not in dropped}
    if "properties" in result:
        result["properties"] = {name: _types_alone(part, names) for name, part in names.items()}
    if "items" in result:
        result["items"] = _types_alone(result["items"], around)
    if "anyOf" in result:
        result["anyOf"] = [_types_alone(part, around) for part in result["anyOf"]]
    return result
