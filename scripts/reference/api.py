"""The pages of what programs call: REST from the description that the server sends, and the tools of MCP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from unittest.mock import MagicMock

from rowen.config import load
from rowen.doors.mcp.tools import TOOLS
from rowen.doors.rest.app import create_app
from rowen.doors.rest.reference.page import METHODS, ORDINARY
from scripts.reference.markdown import WRITTEN, one_line, table

Node = Mapping[str, Any]

REST = f"""# REST operations

{WRITTEN}
The same description is at `/openapi.json` of `rowen serve --listen`, and readable at `/docs`.
[The REST API](../api.md) says what it cannot: who may call, how syncs join, what refusals look like.

A caller sends `Authorization: Bearer TOKEN`. Every refusal is a [Problem](rest-shapes.md#problem); any
operation may answer {", ".join(sorted(ORDINARY))}. Parameters with a star are needed.
"""

SHAPES = f"""# REST shapes

{WRITTEN}
The JSON objects that [REST operations](rest-operations.md) take and send. Fields with a star are always
there.
"""

MCP = f"""# MCP tools

{WRITTEN}
[Rowen for assistants](../mcp.md) says how to connect one. Arguments with a star are needed. Every answer
has a text for the model and the fields below for programs.
"""


def description() -> Node:
    """The OpenAPI document. It is made of signatures; no operation runs, so nothing stands behind them."""
    config, _ = load(environment={})
    return create_app(MagicMock(), config, queue=MagicMock()).openapi()


def rest_page() -> Iterator[str]:
    document = description()
    yield REST
    for tag in document["tags"]:
        yield f"## {tag['name'].capitalize()}\n"
        yield f"{tag['description']}.\n"
        for path, methods in document["paths"].items():
            for method in METHODS:
                if tag["name"] in methods.get(method, {}).get("tags", ()):
                    yield from _operation(path, method, methods[method])


def shapes_page() -> Iterator[str]:
    yield SHAPES
    for name, shape in sorted(description()["components"]["schemas"].items()):
        yield from _shape(name, shape)


def _operation(path: str, method: str, operation: Node) -> Iterator[str]:
    yield f"### {method.upper()} `{path}`\n"
    scope = operation.get("x-rowen-scope")
    said = [f"{operation['summary']}.", one_line(operation.get("description", ""))]
    yield " ".join([*filter(None, said), f"Scope `{scope}`." if scope else "No token."]) + "\n"
    rows = [
        (
            f"`{one['name']}`{' *' if one.get('required') else ''}",
            one["in"],
            _type(one["schema"]),
            _meaning(one["schema"], one.get("description", "")),
        )
        for one in operation.get("parameters", ())
    ]
    if rows:
        yield table(("parameter", "in", "type", "meaning"), rows)
    bodies = operation.get("requestBody", {}).get("content", {})
    if bodies:
        shown = ", ".join(f"{_type(one.get('schema', {}))} as `{media}`" for media, one in bodies.items())
        yield f"Body: {shown}.\n"
    answers = [
        f"`{status}` {shown}".strip()
        for status, one in operation["responses"].items()
        if status not in ORDINARY
        for shown in [_answer(one)]
    ]
    yield f"Answers: {', '.join(answers)}.\n"


def _answer(answer: Node) -> str:
    """What comes with a status; a refusal is always the same shape, and is not repeated."""
    kinds = {
        _type(one.get("schema", {})) or f"`{media}`"
        for media, one in answer.get("content", {}).items()
        if media != "application/problem+json"
    }
    return " or ".join(sorted(kinds))


def _shape(name: str, shape: Node) -> Iterator[str]:
    yield f"## {name}\n"
    if shape.get("description"):
        yield one_line(shape["description"]) + "\n"
    if "enum" in shape:
        yield "One of " + ", ".join(f"`{one}`" for one in shape["enum"]) + ".\n"
    wanted = shape.get("required", ())
    rows = [
        (
            f"`{field}`{' *' if field in wanted else ''}",
            _type(schema),
            _meaning(schema, schema.get("description", "")),
        )
        for field, schema in shape.get("properties", {}).items()
    ]
    if rows:
        yield table(("field", "type", "meaning"), rows)


def _type(schema: Node) -> str:
    """A schema in a word or two, with links to shapes."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](rest-shapes.md#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(one) for one in schema["anyOf"]))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {})) or 'anything'}"
    return str(schema.get("format") or schema.get("type") or "")


def _meaning(schema: Node, description: str) -> str:
    default = schema.get("default")
    said = [f"{one_line(description)}." if description else ""]
    said += [f"Default: `{str(default).lower()}`."] if default not in (None, "", []) else []
    return " ".join(filter(None, said))


def mcp_page() -> Iterator[str]:
    yield MCP
    for tool in TOOLS:
        yield f"## {tool.name}\n"
        yield tool.description + ("" if tool.read_only else " Needs the scope `sync` over HTTP.") + "\n"
        rows = [
            (
                f"`{name}`{' *' if name in tool.required else ''}",
                schema["type"],
                f"{schema['description']}." if "description" in schema else "",
            )
            for name, schema in tool.takes.items()
        ]
        if rows:
            yield table(("argument", "type", "meaning"), rows)
        yield "Answers with " + ", ".join(f"`{name}` ({kind})" for name, kind in tool.answers.items()) + ".\n"
