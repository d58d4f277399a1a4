"""The OpenAPI document as a reader wants it: calls by section, then the shapes they take and give. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

Json = Mapping[str, Any]
METHODS = ("get", "post", "put", "patch", "delete")
CREDENTIALS = {"bearer": "a login", "apiKey": "an API key"}


@dataclass(frozen=True)
class Kind:
    """A type in words; `shape` names what it consists of, where that has a name of its own."""

    words: str
    shape: str | None = None


@dataclass(frozen=True)
class Field:
    name: str
    kind: Kind
    required: bool
    words: str


@dataclass(frozen=True)
class Answer:
    status: str
    kind: Kind | None
    words: str


@dataclass(frozen=True)
class Call:
    anchor: str
    method: str
    path: str
    summary: str
    words: str
    credentials: str
    parameters: tuple[Field, ...]
    body: Kind | None
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Section:
    title: str
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Shape:
    name: str
    words: str
    fields: tuple[Field, ...]
    kind: Kind
    """What it is where it has no fields."""


def sections(document: Json) -> list[Section]:
    """All calls, in the order of the document, under the first of their tags."""
    calls = [
        (_title(operation), _call(path, method, operation))
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if method in METHODS
    ]
    ordered = sorted(calls, key=lambda pair: pair[0])
    return [Section(title, tuple(call for _, call in group)) for title, group in groupby(ordered, lambda pair: pair[0])]


def shapes(document: Json) -> list[Shape]:
    """All named shapes, by name."""
    named = document["components"]["schemas"]
    return [
        Shape(name, schema.get("description", ""), tuple(_fields(schema)), _kind(schema))
        for name, schema in sorted(named.items())
    ]


def _title(operation: Json) -> str:
    return str(next(iter(operation.get("tags", [])), "site"))


def _call(path: str, method: str, operation: Json) -> Call:
    asked = [name for choice in operation.get("security", []) for name in choice]
    return Call(
        anchor=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation.get("summary", ""),
        words=operation.get("description", ""),
        credentials=" or ".join(CREDENTIALS[name] for name in asked),
        parameters=tuple(
            Field(one["name"], _kind(one["schema"]), bool(one.get("required")), one.get("description", ""))
            for one in operation.get("parameters", [])
        ),
        body=_content(operation.get("requestBody", {})),
        answers=tuple(
            Answer("refused" if status == "default" else status, _content(answer), answer.get("description", ""))
            for status, answer in operation["responses"].items()
        ),
    )


def _content(holder: Json) -> Kind | None:
    """The kind of the first media type, with its name where it isn't JSON."""
    for media, content in holder.get("content", {}).items():
        kind = _kind(content.get("schema", {}))
        return kind if media == "application/json" else Kind(f"{kind.words} ({media})", kind.shape)
    return None


def _fields(schema: Json) -> Iterator[Field]:
    required = set(schema.get("required", ()))
    for name, field in schema.get("properties", {}).items():
        yield Field(name, _kind(field), name in required, field.get("description", ""))


def _kind(schema: Json) -> Kind:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return Kind(name, name)
    parts = [part for key in ("allOf", "oneOf", "anyOf") for part in schema.get(key, ())]
    if parts:
        kinds = [_kind(part) for part in parts]
        return Kind(" or ".join(kind.words for kind in kinds), next((kind.shape for kind in kinds if kind.shape), None))
    return _plain(schema)


def _plain(schema: Json) -> Kind:
    if "enum" in schema:
        return Kind(" | ".join("null" if value is None else str(value) for value in schema["enum"]))
    types = schema.get("type", "any value")
    names = types if isinstance(types, list) else [types]
    if "array" in names:
        inner = _kind(schema.get("items", {}))
        return Kind(f"list of {inner.words}", inner.shape)
    if "object" in names and isinstance(schema.get("additionalProperties"), Mapping):
        inner = _kind(schema["additionalProperties"])
        return Kind(f"object of {inner.words} by name", inner.shape)
    words = " or ".join([*names, *(["null"] if schema.get("nullable") else [])])
    return Kind(f"{words} ({schema['format']})" if "format" in schema else words)
