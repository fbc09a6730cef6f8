"""Subtitles to Markdown: what was said, in paragraphs, under headings that tell the time."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from rowen.plugin import Converted, Unparseable

_TIMES = re.compile(r"(?:(\d+):)?(\d\d):(\d\d)[.,](\d{3})\s*-->\s*(?:(\d+):)?(\d\d):(\d\d)[.,](\d{3})")
_TAG = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")
_PAUSE_S = 3.0
"""Longer than this between two cues, and a new paragraph begins."""
_SECTION_S = 300


class Cue(NamedTuple):
    start_s: float
    end_s: float
    text: str


def convert(body: bytes, url: str) -> Converted:
    """What `rowen.converters` promises. Raises `Unparseable`."""
    text = body.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    cues = list(_cues(text))
    if not cues:
        raise Unparseable(f"`{url}`: no subtitles in it", url=url)
    title = unquote(url.partition("?")[0].rpartition("/")[2].rpartition(".")[0]) or url
    pieces = [f"# {title}"]
    section, end_s = -1, 0.0
    for cue in cues:
        if int(cue.start_s) // _SECTION_S != section:
            section = int(cue.start_s) // _SECTION_S
            pieces.append(f"\n\n## {_clock(section * _SECTION_S)}\n\n{cue.text}")
        else:
            pieces.append(f"\n\n{cue.text}" if cue.start_s - end_s > _PAUSE_S else f" {cue.text}")
        end_s = cue.end_s
    metadata = {"format": "subtitles", "duration_s": round(end_s)}
    return Converted(title, "".join(pieces) + "\n", metadata=metadata)


def _cues(text: str) -> Iterator[Cue]:
    for block in re.split(r"\n[ \t]*\n", text):
        times = _TIMES.search(block)
        if times is None:
            continue  # a header, a note or a style
        lines = _TAG.sub("", block[times.end() :].partition("\n")[2])
        if words := " ".join(html.unescape(lines).split()):
            yield Cue(_seconds(times.groups()[:4]), _seconds(times.groups()[4:]), words)


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, thousandths = (int(part or 0) for part in parts)
    return hours * 3600 + minutes * 60 + seconds + thousandths / 1000


def _clock(seconds: int) -> str:
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
