"""The child process that parses: `python -m rowen.adapters.convert.worker MEMORY_MB TIMEOUT_S`.

Frames come on standard input and go on standard output; `frames.py` says how they look. The child ends when
its input ends, so it does not outlive its parent, and it kills itself when one body takes far too long, so it
does not even when the parent died while it was busy.
"""

from __future__ import annotations

import signal
import sys
from importlib import import_module
from typing import TYPE_CHECKING, BinaryIO

from rowen.adapters.convert import frames
from rowen.adapters.convert.kinds import Kind, kind_of
from rowen.errors import Unparseable

if TYPE_CHECKING:
    from rowen.core.document import Converted

# What begins so is not text, whatever the header says.
_BINARY = (
    b"%PDF-",
    b"\x89PNG",
    b"GIF87a",
    b"GIF89a",
    b"\xff\xd8\xff",
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"\x7fELF",
)
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_PIPE_BYTES = 1024 * 1024


def convert(body: bytes, *, content_type: str, url: str) -> Converted:
    """What `Converter.convert` promises, in this process and without bounds."""
    kind = kind_of(content_type, url)
    if kind is None:
        raise Unparseable(f"`{url}`: no converter for `{content_type}`", url=url, content_type=content_type)
    if body.startswith(_BINARY) or _has_zeros(body, content_type):
        raise Unparseable(
            f"`{url}`: not text, but called `{content_type}`", url=url, content_type=content_type
        )
    from rowen.adapters.convert.charset import decode

    text = decode(body, content_type, is_html=kind is Kind.HTML)
    if kind is Kind.HTML:
        from rowen.adapters.convert.html import convert_html

        return convert_html(text, url)
    from rowen.adapters.convert.plain import convert_markdown, convert_plain

    return convert_markdown(text, url) if kind is Kind.MARKDOWN else convert_plain(text, url)


def _has_zeros(body: bytes, content_type: str) -> bool:
    return b"\0" in body[:1024] and not body.startswith(_UTF16) and "utf-16" not in content_type.lower()


def serve(incoming: BinaryIO, outgoing: BinaryIO, *, timeout_s: float) -> None:
    """Answer requests until the input ends."""
    outgoing.write(frames.READY)
    outgoing.flush()
    while (request := frames.read_request(incoming)) is not None:
        _limit_time(timeout_s)
        try:
            answer = frames.answer(convert(request.body, content_type=request.content_type, url=request.url))
        except Unparseable as exc:
            answer = frames.refusal(exc.message)
        except MemoryError:
            answer = frames.refusal(f"`{request.url}`: parsing it takes too much memory")
        except Exception as exc:
            # A page must not end the run, whatever the parser makes of it.
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


def main() -> None:
    # Ctrl-C goes to the whole group; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    # Nothing but frames may reach the pipe.
    sys.stdout = sys.stderr
    _limit_memory(int(sys.argv[1]))
    _widen(incoming, outgoing)
    # The parser, loaded before READY so that no page pays for it.
    import_module("rowen.adapters.convert.html")
    try:
        serve(incoming, outgoing, timeout_s=float(sys.argv[2]))
    except BrokenPipeError:
        sys.stderr.close()  # the parent is gone; nobody reads what flushing would say


if __name__ == "__main__":
    main()
