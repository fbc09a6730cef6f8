"""OpenAPI (and Swagger 2) descriptions as the reference they are: one section for each operation and schema.

Takes parsed values. References inside the document are followed one step, for names; what a schema looks like
stands in its own section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rowen.adapters.convert.pieces import heading, one_line
from rowen.core.document import Converted

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_HEADING = re.compile(r"^(#{1,6})(?=[ \t])", re.MULTILINE)
_MAX_STEPS = 20


def is_openapi(value: object) -> bool:
    return (
        isinstance(value, dict)
        and ("openapi" in value or "swagger" in value)
        and isinstance(value.get("paths"), dict)
    )


def describe(value: Mapping[str, Any], name: str) -> Converted:
    info = _mapping(value.get("info"))
    title = one_line(str(info.get("title") or "")) or name
    pieces = [heading(1, title)]
    if version := info.get("version"):
        pieces.append(f"\nVersion {version}\n")
    servers = [_mapping(server).get("url") for server in _sequence(value.get("servers"))]
    if known := [f"- `{server}`\n" for server in servers if server]:
        pieces += ["\nServers:\n\n", *known]
    pieces += _paragraphs(info.get("summary"), info.get("description"), level=1)
    for path, item in _mapping(value.get("paths")).items():
        pieces += _operations(value, str(path), _mapping(item))
    schemas = _mapping(_mapping(value.get("components")).get("schemas")) or _mapping(value.get("definitions"))
    for schema_name, schema in schemas.items():
        pieces += _schema(str(schema_name), _mapping(schema))
    metadata: dict[str, Any] = {"format": "openapi"}
    if description := info.get("summary"):
        metadata["description"] = one_line(str(description))
    return Converted(title, "".join(pieces), metadata=metadata)


def _operations(root: Mapping[str, Any], path: str, item: Mapping[str, Any]) -> Iterator[str]:
    shared = _sequence(item.get("parameters"))
    for method in _METHODS:
        if method not in item:
            continue
        operation = _mapping(item[method])
        yield "\n" + heading(2, f"{method.upper()} {path}")
        if operation.get("deprecated") is True:
            yield "\nDeprecated.\n"
        yield from _paragraphs(operation.get("summary"), operation.get("description"), level=2)
        if operation.get("operationId"):
            yield f"\nOperation `{operation['operationId']}`\n"
        parameters = [_followed(root, one) for one in (*shared, *_sequence(operation.get("parameters")))]
        if parameters:
            yield "\nParameters:\n\n"
            yield from (_parameter(one) for one in parameters)
        body = _followed(root, operation.get("requestBody"))
        if body:
            words = ", ".join(_content(body)) or "a body"
            yield f"\nRequest body: {words}{_described(body)}\n"
        responses = _mapping(operation.get("responses"))
        if responses:
            yield "\nResponses:\n\n"
            for status, raw in responses.items():
                response = _followed(root, raw)
                words = ", ".join(_content(response))
                yield f"- `{status}`{_described(response)}{f' ({words})' if words else ''}\n"


def _parameter(parameter: Mapping[str, Any]) -> str:
    facts = [str(parameter.get("in") or ""), _type_of(_mapping(parameter.get("schema")) or parameter)]
    if parameter.get("required") is True:
        facts.append("required")
    return f"- `{parameter.get('name', '')}` ({', '.join(filter(None, facts))}){_described(parameter)}\n"


def _schema(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield "\n" + heading(2, f"Schema {name}")
    yield from _paragraphs(schema.get("title"), schema.get("description"), level=2)
    required = {str(one) for one in _sequence(schema.get("required"))}
    lines = []
    for part in (schema, *map(_mapping, _sequence(schema.get("allOf")))):
        for field, raw in _mapping(part.get("properties")).items():
            value = _mapping(raw)
            facts = ", ".join(filter(None, (_type_of(value), "required" if field in required else "")))
            lines.append(f"- `{field}`{f' ({facts})' if facts else ''}{_described(value)}\n")
    if lines:
        yield "\n"
        yield from lines
    elif words := _type_of(schema):
        yield f"\nType: {words}\n"


def _type_of(schema: Mapping[str, Any], steps: int = 0) -> str:
    if steps > _MAX_STEPS:
        return ""
    if reference := schema.get("$ref"):
        return f"`{str(reference).rpartition('/')[2]}`"
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = " or ".join(map(str, kind))
    if kind == "array":
        inner = _type_of(_mapping(schema.get("items")), steps + 1)
        return f"array of {inner}" if inner else "array"
    for word in ("oneOf", "anyOf", "allOf"):
        if not kind and (options := _sequence(schema.get(word))):
            names = [_type_of(_mapping(one), steps + 1) for one in options]
            return (" and " if word == "allOf" else " or ").join(filter(None, names))
    words = str(kind or "")
    if allowed := _sequence(schema.get("enum")):
        words = f"{words}: {' | '.join(f'`{one}`' for one in allowed)}".removeprefix(": ")
    elif schema.get("format"):
        words = f"{words} {schema['format']}".strip()
    return words


def _content(holder: Mapping[str, Any]) -> Iterator[str]:
    for media_type, raw in _mapping(holder.get("content")).items():
        kind = _type_of(_mapping(_mapping(raw).get("schema")))
        yield f"`{media_type}`{f' {kind}' if kind else ''}"
    if "schema" in holder and "content" not in holder and (kind := _type_of(_mapping(holder["schema"]))):
        yield kind


def _described(value: Mapping[str, Any]) -> str:
    words = one_line(str(value.get("description") or ""))
    return f": {words}" if words else ""


def _paragraphs(*texts: object, level: int) -> Iterator[str]:
    for text in dict.fromkeys(str(one).strip() for one in texts if one):
        # A description may have headings: they belong below the one it stands under.
        yield "\n" + _HEADING.sub(lambda marks: "#" * min(6, len(marks[1]) + level), text) + "\n"


def _followed(root: Mapping[str, Any], value: object) -> Mapping[str, Any]:
    holder = _mapping(value)
    reference = holder.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return holder
    found: object = root
    for step in reference[2:].split("/"):
        found = _mapping(found).get(step.replace("~1", "/").replace("~0", "~"))
    return _mapping(found)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _sequence(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
