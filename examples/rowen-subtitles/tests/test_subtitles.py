"""Subtitles alone, and through Rowen, where the converter runs in a child process."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowen import Rowen
from rowen.plugin import Unparseable

SRT = """1
00:00:01,000 --> 00:00:02,500
<i>Pears</i> are ripe

2
00:00:03,000 --> 00:00:04,000
in autumn.

3
00:00:20,000 --> 00:00:21,000
{\\an8}Plums &amp; quinces

4
00:05:01,000 --> 00:05:02,000
later.
"""
VTT = "WEBVTT\n\nNOTE nothing\n\nintro\n00:01.000 --> 00:02.000 align:start\nHello\n"


def test_cues_become_paragraphs_under_the_time() -> None:
    from rowen_subtitles import convert

    converted = convert(SRT.replace("\n", "\r\n").encode("utf-8-sig"), "talks/On%20pears.srt")
    assert converted.title == "On pears"
    assert converted.text == (
        "# On pears\n\n## 0:00:00\n\nPears are ripe in autumn.\n\nPlums & quinces\n\n## 0:05:00\n\nlater.\n"
    )
    assert converted.metadata == {"format": "subtitles", "duration_s": 302}
    assert convert(VTT.encode(), "https://e.org/x.vtt?lang=en").text.endswith("\n\nHello\n")


def test_a_file_without_cues_is_unparseable() -> None:
    from rowen_subtitles import convert

    with pytest.raises(Unparseable):
        convert(b"WEBVTT\n", "x.vtt")


def test_rowen_reads_a_folder_of_subtitles(tmp_path: Path) -> None:
    (tmp_path / "talks").mkdir()
    (tmp_path / "talks/orchard.srt").write_text(SRT)
    (tmp_path / "talks/broken.vtt").write_text("WEBVTT\n")
    with Rowen(db=f"sqlite:///{tmp_path / 'rowen.db'}") as rowen:
        rowen.add(str(tmp_path / "talks"), name="talks")
        counters = rowen.sync("talks").counters
        assert (counters.created, counters.failed) == (1, 1)
        (hit,) = rowen.search("quinces", mode="keyword").hits
        assert hit.title == "orchard"
        assert hit.heading_path.endswith("0:00:00")
