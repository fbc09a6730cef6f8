"""The child process that parses: `python -m rowen.adapters.convert.worker MEMORY_MB TIMEOUT_S`.

Frames come on standard input and go on standard output; `frames.py` says how they look.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rowen.adapters.children.child import limit_memory, serve, take_pipes
from rowen.adapters.convert import frames
from rowen.adapters.convert.charset import decode
from rowen.adapters.convert.formats import Kind, PluginFormat, kind_of
from rowen.adapters.convert.sniff import BINARY_KINDS, is_utf16, sniff
from rowen.errors import Unparseable

if TYPE_CHECKING:
    from rowen.core.document import Converted

# Where each kind is converted: modules load when the first body of their kind comes.
_CONVERTERS = {
    Kind.HTML: ("html.page", "convert_html"),
    Kind.MARKDOWN: ("plain", "convert_markdown"),
    Kind.PLAIN: ("plain", "convert_plain"),
    Kind.MDX: ("markup.mdx", "convert_mdx"),
    Kind.RST: ("markup.rst", "convert_rst"),
    Kind.ASCIIDOC: ("markup.asciidoc", "convert_asciidoc"),
    Kind.JSON: ("data.structured", "convert_json"),
    Kind.JSON_LINES: ("data.structured", "convert_json_lines"),
    Kind.YAML: ("data.structured", "convert_yaml"),
    Kind.TOML: ("data.structured", "convert_toml"),
    Kind.INI: ("data.structured", "convert_ini"),
    Kind.XML: ("data.structured", "convert_xml"),
    Kind.NOTEBOOK: ("markup.notebook", "convert_notebook"),
    Kind.PDF: ("office.pdf", "convert_pdf"),
    Kind.DOCX: ("office.docx", "convert_docx"),
    Kind.PPTX: ("office.pptx", "convert_pptx"),
    Kind.XLSX: ("office.xlsx", "convert_xlsx"),
}
_UPDATE = "update the package or remove it; `rowen doctor` lists the plug-ins"


def convert(body: bytes, *, content_type: str, url: str) -> Converted:
    """What `Converter.convert` promises, in this process and without bounds."""
    kind = kind_of(content_type, url)
    if kind is None:
        raise Unparseable(f"`{url}`: no converter for `{content_type}`", url=url, content_type=content_type)
    real = sniff(body, kind, content_type)
    if real is None:
        said = f"called `{content_type}`" if content_type else f"its name says {kind}"
        what = f"no {kind.upper()}" if kind in BINARY_KINDS else "not text"
        raise Unparseable(f"`{url}`: {what}, but {said}", url=url, content_type=content_type)
    if real in BINARY_KINDS:
        return _converter(real)(body, url)
    if real is Kind.HTML and b"\0" in body and not is_utf16(body, content_type):
        body = body.replace(b"\0", b"")
    text = decode(body, content_type, is_html=real is Kind.HTML)
    if real is Kind.CODE:
        from rowen.adapters.convert.code.outline import convert_code

        return convert_code(text, url, content_type)
    return _converter(real)(text, url)


def convert_by_plugin(body: bytes, *, url: str, plugin: PluginFormat) -> Converted:
    """What the function of a plug-in makes of a body. Raises `Unparseable` for all that it does wrong."""
    from importlib.metadata import EntryPoint

    from rowen.core.document import Converted

    who = f"`{url}`: plug-in `{plugin.target}` of package `{plugin.package}`"
    try:
        converted = EntryPoint("", plugin.target, "").load()(body, url)
    except (Unparseable, MemoryError, RecursionError):
        raise
    except (Exception, SystemExit) as exc:
        raise Unparseable(f"{who}: {type(exc).__name__}: {exc}", hint=_UPDATE, url=url) from exc
    if not isinstance(converted, Converted):
        made = type(converted).__name__
        raise Unparseable(f"{who}: makes a {made}, expected Converted", hint=_UPDATE, url=url)
    return converted


def graph(body: bytes, *, syntax: str, url: str) -> Converted:
    """What `Converter.graph` promises, as the text of a document, in this process and without bounds."""
    from rowen.adapters.convert.data.graphs import convert_graph

    return convert_graph(body, url, syntax)


def _converted(request: frames.Request) -> Converted:
    if request.syntax:
        return graph(request.body, syntax=request.syntax, url=request.url)
    if request.plugin is not None:
        return convert_by_plugin(request.body, url=request.url, plugin=request.plugin)
    return convert(request.body, content_type=request.content_type, url=request.url)


def _converter(kind: Kind) -> Callable[[Any, str], Converted]:
    module, function = _CONVERTERS[kind]
    converter: Callable[[Any, str], Converted] = getattr(
        import_module(f"rowen.adapters.convert.{module}"), function
    )
    return converter


def answer(request: frames.Request) -> bytes:
    """What a request becomes: a document, or why there is none. A parser that fails ends no run."""
    try:
        return frames.answer(_converted(request))
    except Unparseable as exc:
        return frames.refusal(exc.message, exc.hint)
    except MemoryError:
        return frames.refusal(f"`{request.url}`: parsing it takes too much memory")
    except RecursionError:
        return frames.refusal(f"`{request.url}`: nested too deep")
    except Exception as exc:
        return frames.refusal(f"`{request.url}`: {type(exc).__name__}: {exc}")


def main() -> None:
    incoming, outgoing = take_pipes()
    limit_memory(int(sys.argv[1]))
    # The parser, loaded before the child is ready so that no page pays for it.
    import_module("rowen.adapters.convert.html.page")
    serve(incoming, outgoing, frames.read_request, answer, timeout_s=float(sys.argv[2]))


if __name__ == "__main__":
    main()
