"""Whole documents, as they come from servers and folders, and what becomes of them.

Inputs that tools would take for ours end with `.sample` on top of their own ending.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rowen.adapters.convert.worker import convert
from rowen.core.split import split

_CASES = sorted(path.parent for path in Path(__file__).parent.glob("*/input.*"))


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.name)
def test_a_document_becomes_the_markdown_and_sections_we_expect(case: Path, rewrite_golden: bool) -> None:
    path = next(case.glob("input.*"))
    ending = path.name.removesuffix(".sample").partition(".")[2]
    url = f"https://docs.example.org/guide/page.{ending}"
    converted = convert(path.read_bytes(), content_type="", url=url)
    facts = {
        "title": converted.title,
        "canonical": converted.canonical,
        "metadata": converted.metadata,
        "links": list(converted.links),
        "sections": [
            {
                "level": section.level,
                "parent": section.parent,
                "heading_path": list(section.heading_path),
                "anchor": section.anchor,
                "chars": len(section.text),
            }
            for section in split(converted.text)
        ],
    }
    written = json.dumps(facts, ensure_ascii=False, indent=1) + "\n"
    if rewrite_golden:
        (case / "expected.md").write_text(converted.text, "utf-8")
        (case / "expected.sections.json").write_text(written, "utf-8")
    assert converted.text == (case / "expected.md").read_text("utf-8")
    assert written == (case / "expected.sections.json").read_text("utf-8")


def test_there_are_cases() -> None:
    assert len(_CASES) >= 30
