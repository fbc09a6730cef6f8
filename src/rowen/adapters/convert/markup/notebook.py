"""Jupyter notebooks: their text as it is, their code in fences, the beginning of what it printed.

Pictures are dropped, and so is the number of each run: running a notebook again must not make it new.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from rowen.adapters.convert.pieces import fence, file_name, trimmed
from rowen.adapters.convert.plain import convert_markdown
from rowen.core.document import Converted
from rowen.errors import Unparseable

_MAX_OUTPUT_LINES = 20
_MAX_OUTPUT_CHARS = 4_000
_TERMINAL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_EMBEDDED = re.compile(r"!\[[^\]\n]*\]\((?:attachment:|data:)[^)\n]*\)")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
# The address of an object in memory says nothing and differs each time.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{6,}")


def convert_notebook(text: str, url: str) -> Converted:
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise Unparseable(f"`{url}`: not the JSON of a notebook", url=url) from exc
    notebook = notebook if isinstance(notebook, dict) else {}
    cells = notebook.get("cells")
    if cells is None:  # the format before 2015
        sheets = notebook.get("worksheets")
        cells = (
            [cell for sheet in sheets if isinstance(sheet, dict) for cell in sheet.get("cells") or []]
            if sheets
            else None
        )
    if not isinstance(cells, list):
        raise Unparseable(f"`{url}`: JSON without the cells of a notebook", url=url)
    language = _language(notebook)
    pieces = [piece for cell in cells if isinstance(cell, dict) for piece in _cell(cell, language)]
    converted = convert_markdown("\n".join(pieces), url)
    markdown = converted.text
    if converted.title == file_name(url):
        markdown = f"# {converted.title}\n\n{markdown}"
    return Converted(
        converted.title, markdown, converted.links, None, {**converted.metadata, "language": language}
    )


def _language(notebook: Mapping[str, Any]) -> str:
    metadata = notebook.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    for place, key in (("kernelspec", "language"), ("language_info", "name")):
        holder = metadata.get(place)
        if isinstance(holder, dict) and isinstance(name := holder.get(key), str) and name:
            return name.lower().replace(" ", "")
    return "python"


def _cell(cell: Mapping[str, Any], language: str) -> Iterator[str]:
    source = _joined(cell.get("source", cell.get("input", "")))
    match cell.get("cell_type"):
        case "markdown":
            if words := _EMBEDDED.sub("", source).strip("\n"):
                yield _with_closed_fence(words) + "\n"
        case "heading":
            yield f"{'#' * int(cell.get('level') or 1)} {source}\n"
        case "code":
            if source.strip():
                yield fence(source.rstrip("\n"), language)
            for output in cell.get("outputs") or []:
                if isinstance(output, dict) and (words := _output(output)):
                    yield fence(words, "")
        case _:
            if source.strip():
                yield fence(source.rstrip("\n"), "")


def _output(output: Mapping[str, Any]) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        text = f"{output.get('ename', '')}: {output.get('evalue', '')}"
    else:
        data = output.get("data")
        data = data if isinstance(data, dict) else output
        if any(str(key).startswith("image/") or key in ("png", "jpeg", "svg") for key in data):
            return ""
        text = _joined(data.get("text/plain") or output.get("text") or "")
    text = _ADDRESS.sub("", _TERMINAL.sub("", text).replace("\r\n", "\n"))
    lines = trimmed([line.rpartition("\r")[2].rstrip() for line in text.split("\n")])
    kept = "\n".join(lines[:_MAX_OUTPUT_LINES])[:_MAX_OUTPUT_CHARS]
    return f"{kept}\n[...]" if len(lines) > _MAX_OUTPUT_LINES or len(kept) == _MAX_OUTPUT_CHARS else kept


def _joined(source: object) -> str:
    if isinstance(source, list):
        return "".join(str(line) for line in source)
    return source if isinstance(source, str) else ""


def _with_closed_fence(markdown: str) -> str:
    """A cell that leaves a fence open must not swallow the cells after it."""
    marks = ""
    for found in _FENCE.finditer(markdown):
        if not marks:
            marks = found[1]
        elif found[1].startswith(marks) and not found[2].strip():
            marks = ""
    return f"{markdown}\n{marks}" if marks else markdown
