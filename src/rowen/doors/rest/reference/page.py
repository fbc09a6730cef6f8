"""The OpenAPI document as HTML: operations by tag with parameters, bodies, answers and a call to copy.

Everything is in the page when it is sent: no script, and one style sheet of our own, as the policy of
`frame.py` wants it. Pure: the document in, text out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any
from urllib.parse import quote

STYLE = "/docs/style.css"
METHODS = ("get", "post", "put", "patch", "delete")
ORDINARY = frozenset(("401", "403", "422", "429", "500", "503"))
"""Refusals that every operation may have: told once."""

Node = Mapping[str, Any]


def render(document: Node, *, url: str) -> str:
    """`url` is where the server is, for the calls to copy."""
    info = document["info"]
    body = [
        f"<header><h1>{_text(info['title'])} <small>{_text(info['version'])}</small></h1>"
        f"<p>{_text(info.get('summary', ''))}. For programs: <a href=/openapi.json>openapi.json</a>.</p>"
        "<p>A caller sends <code>Authorization: Bearer TOKEN</code>; <code>rowen token create NAME --scope "
        "read|sync|admin</code> makes a token. Every refusal is a <a href=#shape-Problem>Problem</a>; any "
        f"operation may answer {', '.join(sorted(ORDINARY))}.</p></header>",
        "<nav aria-label=Operations><ul>",
        *(f"<li><a href=#tag-{_id(tag['name'])}>{_text(tag['name'])}</a></li>" for tag in document["tags"]),
        "<li><a href=#shapes>Shapes</a></li></ul></nav><main>",
    ]
    for tag in document["tags"]:
        body.append(f"<section id=tag-{_id(tag['name'])}><h2>{_text(tag['name'])}</h2>")
        body.append(f"<p>{_text(tag.get('description', ''))}.</p>")
        body += [_operation(*one, url=url) for one in _operations(document, tag["name"])]
        body.append("</section>")
    body.append("<section id=shapes><h2>Shapes</h2>")
    body += [_shape(name, shape) for name, shape in sorted(document["components"]["schemas"].items())]
    body.append("</section></main>")
    return (
        "<!doctype html><html lang=en><head><meta charset=utf-8>"
        '<meta name=viewport content="width=device-width, initial-scale=1">'
        f"<title>{_text(info['title'])} API</title><link rel=stylesheet href={STYLE}></head>"
        f"<body>{''.join(body)}</body></html>\n"
    )


def _operations(document: Node, tag: str) -> Iterator[tuple[str, str, Node]]:
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods and tag in methods[method].get("tags", ()):
                yield path, method, methods[method]


def _operation(path: str, method: str, operation: Node, *, url: str) -> str:
    scope = operation.get("x-rowen-scope")
    parts = [
        f"<details id={_id(operation['operationId'])}><summary><b class=method>{method.upper()}</b> "
        f"<code>{_text(path)}</code> <span>{_text(operation.get('summary', ''))}</span></summary>"
    ]
    if scope:
        parts.append(f"<p class=scope>Needs a token with scope <code>{_text(scope)}</code>.</p>")
    if operation.get("description"):
        parts.append(f"<p>{_text(operation['description'])}</p>")
    if operation.get("parameters"):
        rows = [
            (one["name"], one["in"], _type(one["schema"]), one.get("required", False), one)
            for one in operation["parameters"]
        ]
        parts.append("<table><caption>Parameters</caption><tr><th>Name<th>In<th>Type<th>Meaning")
        parts += [
            f"<tr><td><code>{_text(name)}</code>{' *' if required else ''}<td>{place}<td>{kind}"
            f"<td>{_text(one.get('description', ''))}{_default(one['schema'])}"
            for name, place, kind, required, one in rows
        ]
        parts.append("</table>")
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"<p>Body: {_type(content.get('schema', {}))} as <code>{_text(media)}</code></p>")
    parts.append("<ul class=answers>")
    parts += [
        _answer(status, one) for status, one in operation["responses"].items() if status not in ORDINARY
    ]
    parts.append(f"</ul><pre>{_text(_call(path, method, operation, url=url))}</pre></details>")
    return "".join(parts)


def _answer(status: str, answer: Node) -> str:
    kinds = [_type(content.get("schema", {})) for content in answer.get("content", {}).values()]
    shown = ", ".join(kind for kind in kinds if kind)
    said = answer.get("description", "")
    said = "" if said == "Successful Response" else _text(said)
    return f"<li><b>{status}</b> {': '.join(one for one in (said, shown) if one)}</li>"


def _call(path: str, method: str, operation: Node, *, url: str) -> str:
    """A call to copy, with the examples of the description filled in."""
    address = path
    for one in operation.get("parameters", ()):
        if one["in"] == "path":
            examples = one["schema"].get("examples") or [one["name"].upper()]
            address = address.replace(f"{{{one['name']}}}", quote(str(examples[0])))
    wanted = [
        f"{one['name']}={quote(str(_example(one)))}"
        for one in operation.get("parameters", ())
        if one["in"] == "query" and one.get("required")
    ]
    address += f"?{'&'.join(wanted)}" if wanted else ""
    lines = [f"curl {'' if method == 'get' else f'-X {method.upper()} '}'{url}{address}'"]
    if operation.get("security"):
        lines.append("-H 'Authorization: Bearer TOKEN'")
    if "application/json" in operation.get("requestBody", {}).get("content", {}):
        lines += ["-H 'Content-Type: application/json'", "-d @body.json"]
    return " \\\n  ".join(lines)


def _example(parameter: Node) -> Any:
    schema = parameter["schema"]
    return (schema.get("examples") or [schema.get("default", "...")])[0]


def _shape(name: str, shape: Node) -> str:
    parts = [f"<details id=shape-{_id(name)}><summary><code>{_text(name)}</code></summary>"]
    if shape.get("description"):
        parts.append(f"<p>{_text(shape['description'])}</p>")
    if "enum" in shape:
        parts.append(f"<p>{', '.join(f'<code>{_text(one)}</code>' for one in shape['enum'])}</p>")
    if shape.get("properties"):
        wanted = shape.get("required", ())
        parts.append("<table><tr><th>Field<th>Type<th>Meaning")
        parts += [
            f"<tr><td><code>{_text(field)}</code>{' *' if field in wanted else ''}<td>{_type(schema)}"
            f"<td>{_text(schema.get('description', ''))}{_default(schema)}"
            for field, schema in shape["properties"].items()
        ]
        parts.append("</table>")
    for example in shape.get("examples", ()):
        shown = json.dumps(example, indent=2, ensure_ascii=False)
        parts.append(f"<pre>{_text(shown)}</pre>")
    parts.append("</details>")
    return "".join(parts)


def _type(schema: Node) -> str:
    """A schema in one word, with links to shapes."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"<a href=#shape-{_id(name)}>{_text(name)}</a>"
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {})) or 'anything'}"
    return _text(schema.get("format") or schema.get("type") or "")


def _default(schema: Node) -> str:
    return (
        f" <i>Default: {_text(schema['default'])}</i>" if schema.get("default") not in (None, "", []) else ""
    )


def _id(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "-", text)


def _text(value: object) -> str:
    """Escaped, and `code` as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(str(value)))
