"""The child process that parses: `python -m rowen.adapters.convert.worker MEMORY_MB TIMEOUT_S`.

Frames come on standard input and go on standard output; `frames.py` says how they look. The child ends when
its input ends, so it does not outlive its parent, and it kills itself when one body takes far too long, so it
does not even when the parent died while it was busy.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO

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
_PIPE_BYTES = 1024 * 1024
_UPDATE = "update the package or remove it; `rowen doctor` lists the plug-ins"


def convert(body: bytes, *, content_type: str, url: str) -> Converted:
    """What `Converter.convert` promises, in this process and without bounds."""
    kind = kind_of(content_type, url)
    if kind is None:
        raise Unparseable(f"`{url}`: no converter for `{content_type}`", url=url, content_type=content_type)
    real = sniff(body, kind, content_type)
    if real is None:
        said = content_type or f"{kind} by its name"
        what = f"no {kind.upper()}" if kind in BINARY_KINDS else "not text"
        raise Unparseable(f"`{url}`: {what}, but called `{said}`", url=url, content_type=content_type)
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


def _converted(request: frames.Request) -> Converted:
    if request.plugin is not None:
        return convert_by_plugin(request.body, url=request.url, plugin=request.plugin)
    return convert(request.body, content_type=request.content_type, url=request.url)


def _converter(kind: Kind) -> Callable[[Any, str], Converted]:
    module, function = _CONVERTERS[kind]
    converter: Callable[[Any, str], Converted] = getattr(
        import_module(f"rowen.adapters.convert.{module}"), function
    )
    return converter


def serve(incoming: BinaryIO, outgoing: BinaryIO, *, timeout_s: float) -> None:
    """Answer requests until the input ends."""
    outgoing.write(frames.READY)
    outgoing.flush()
    while (request := frames.read_request(incoming)) is not None:
        _limit_time(timeout_s)
        try:
            answer = frames.answer(_converted(request))
        except Unparseable as exc:
            answer = frames.refusal(exc.message, exc.hint)
        except MemoryError:
            answer = frames.refusal(f"`{request.url}`: parsing it takes too much memory")
        except RecursionError:
            answer = frames.refusal(f"`{request.url}`: nested too deep")
        except Exception as exc:
            # A page on which a parser fails must not end the run.
            answer = frames.refusal(f"`{request.url}`: {type(exc).__name__}: {exc}")
        _limit_time(0.0)
        outgoing.write(answer)
        outgoing.flush()


def _limit_time(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit_memory(memory_mb: int) -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    limit = memory_mb * 1024 * 1024
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    except (ValueError, OSError):
        return  # macOS refuses; the time limit still holds


def _widen(*pipes: BinaryIO) -> None:
    """A page in one piece instead of many: most of what a round trip costs is waking up."""
    try:
        import fcntl

        for pipe in pipes:
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    except (ImportError, AttributeError, OSError):
        return  # not Linux, or not allowed: slower, not wrong


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The two pipes, out of reach of what parsers and plug-ins print or read: only frames may pass there."""
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    return incoming, outgoing


def main() -> None:
    # Ctrl-C goes to the whole group; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    incoming, outgoing = _take_pipes()
    _limit_memory(int(sys.argv[1]))
    _widen(incoming, outgoing)
    # The parser, loaded before READY so that no page pays for it.
    import_module("rowen.adapters.convert.html.page")
    try:
        serve(incoming, outgoing, timeout_s=float(sys.argv[2]))
    except BrokenPipeError:
        sys.stderr.close()  # the parent is gone: flushing would only complain


if __name__ == "__main__":
    main()
