"""XML from outside becomes data, or a refusal before it can do harm."""

from __future__ import annotations

import pytest

from rowen.core.web import xml_body


def test_elements_are_lists_under_their_names_and_leaves_are_texts() -> None:
    body = b'<a:r xmlns:a="x" b="1"><a:t xml:lang="de">Wasser &amp; Eis</a:t><t>Ice</t><u/>tail</a:r>'
    assert xml_body.read(body) == {
        "r": {
            "@b": "1",
            "t": [{"@language": "de", "@value": "Wasser & Eis"}, "Ice"],
            "u": [""],
            "@value": "tail",
        }
    }


@pytest.mark.parametrize(
    "body",
    [
        b'<!DOCTYPE r SYSTEM "http://127.0.0.1/x.dtd"><r/>',
        b'<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><r>&b;</r>',
        b"<r>&unknown;</r>",
        b"<r><unclosed></r>",
        b"<r/><r/>",
        b"",
        b"{}",
        b'<?xml version="1.0" encoding="no-such"?><r/>',
        b"<r>" * (xml_body.MAX_DEPTH + 1),
    ],
)
def test_what_declares_entities_breaks_off_or_is_too_deep_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        xml_body.read(body)


def test_the_number_of_elements_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_body, "MAX_ELEMENTS", 10)
    with pytest.raises(ValueError, match="more than 10 elements"):
        xml_body.read(b"<r>" + b"<a/>" * 10 + b"</r>")
