"""PDF and Office files: bounds, damage, and what the golden cases do not show."""

from __future__ import annotations

import sys
import time
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import pytest

from rowen.adapters.convert.formats import kind_of
from rowen.adapters.convert.office import ooxml, pdf, xlsx
from rowen.adapters.convert.office.docx import convert_docx
from rowen.adapters.convert.office.pdf import convert_pdf
from rowen.adapters.convert.office.pptx import convert_pptx
from rowen.adapters.convert.office.xlsx import convert_xlsx
from rowen.adapters.convert.pool import PoolConverter
from rowen.errors import Unparseable
from tests.adapters.convert.pdf_maker import make_pdf

_URL = "https://docs.example.org/guide/a%20file"
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'


def _package(parts: Mapping[str, str | bytes]) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def _word(body: str, **parts: str) -> bytes:
    document = f"<w:document {_W}><w:body>{body}</w:body></w:document>"
    return _package({"word/document.xml": document, **{f"word/{k}.xml": v for k, v in parts.items()}})


def _sheet(rows: str, **parts: str) -> bytes:
    return _package(
        {
            "xl/workbook.xml": f'<workbook {_S} {_R}><sheets><sheet name="A" r:id="r1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="r1" Target="worksheets/a.xml"/>'
            "</Relationships>",
            "xl/worksheets/a.xml": f"<worksheet {_S}><sheetData>{rows}</sheetData></worksheet>",
            **{f"xl/{name}.xml": text for name, text in parts.items()},
        }
    )


def test_a_pdf_without_outline_has_a_section_for_each_page() -> None:
    text = convert_pdf(make_pdf([["One"], [], ["Three"]]), _URL + ".pdf").text
    assert text == "# a file.pdf\n\n## Page 1 {#page=1}\n\nOne\n\n## Page 3 {#page=3}\n\nThree\n"


def test_heads_and_feet_that_repeat_on_every_page_of_a_pdf_are_left_out() -> None:
    pages = [["The larder", f"Words {word}", f"Page {n}"] for n, word in enumerate("abcdef")]
    text = convert_pdf(make_pdf(pages, title="T"), _URL).text
    assert "The larder" not in text
    assert "Page 0" not in text
    assert all(f"Words {word}" in text for word in "abcdef")


def test_a_pdf_with_too_many_pages_says_how_many_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "_MAX_PAGES", 2)
    converted = convert_pdf(make_pdf([["a"], ["b"], ["c"]]), _URL)
    assert converted.text.endswith("b\n\n1 of 3 pages are left out.\n")
    assert converted.metadata == {"pages": 3}


def test_a_pdf_with_too_much_text_says_how_many_pages_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "_MAX_CHARS", 10)
    assert "2 of 3 pages are left out" in convert_pdf(make_pdf([["a" * 9], ["b" * 9], ["c"]]), _URL).text


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"%PDF-1.7 nothing", "damaged"),
        (make_pdf([["x"]])[:200], "damaged"),
        (make_pdf([[], []]), "no text on 2 pages"),
    ],
)
def test_a_pdf_that_gives_no_text_says_why(body: bytes, why: str) -> None:
    with pytest.raises(Unparseable, match=why):
        convert_pdf(body, _URL)


def test_a_title_that_is_the_name_of_a_file_is_no_title() -> None:
    assert convert_pdf(make_pdf([["x"]], title="Microsoft Word - x.doc"), _URL + ".pdf").title == "a file.pdf"


def test_without_the_extra_a_pdf_is_handled_and_the_reason_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    assert kind_of("application/pdf", "") is not None
    with pytest.raises(Unparseable, match="extra that is not installed") as caught:
        convert_pdf(make_pdf([["x"]]), _URL)
    assert caught.value.hint == "pip install 'rowen[docs]'"


@pytest.mark.anyio
async def test_the_hint_comes_through_the_child() -> None:
    pool = PoolConverter(workers=1)
    try:
        with pytest.raises(Unparseable) as caught:
            await pool.convert(make_pdf([[]]), content_type="application/octet-stream", url=_URL + ".pdf")
        assert caught.value.hint is not None
        converted = await pool.convert(make_pdf([["Jam"]]), content_type="text/html", url=_URL)
        assert "Jam" in converted.text
    finally:
        await pool.close()


def test_what_was_deleted_in_a_word_document_is_gone_and_what_was_inserted_stays() -> None:
    deleted = "<w:del><w:r><w:delText>old</w:delText><w:t>old</w:t></w:r></w:del>"
    body = f"<w:p>{deleted}<w:ins><w:r><w:t>new</w:t></w:r></w:ins></w:p>"
    assert convert_docx(_word(body), _URL + ".docx").text == "# a file.docx\n\nnew\n"


def test_a_heading_of_a_word_document_is_known_by_the_style_its_style_is_based_on() -> None:
    styles = (
        f'<w:styles {_W}><w:style w:styleId="h"><w:name w:val="Überschrift 2"/></w:style>'
        '<w:style w:styleId="mine"><w:name w:val="Mine"/><w:basedOn w:val="h"/></w:style>'
        '<w:style w:styleId="loop"><w:name w:val="Loop"/><w:basedOn w:val="loop"/></w:style>'
        '<w:style w:styleId="c"><w:name w:val="Source Code"/></w:style></w:styles>'
    )

    def paragraph(style: str, words: str) -> str:
        return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{words}</w:t></w:r></w:p>'

    body = (
        paragraph("mine", "Shelves")
        + paragraph("loop", "text")
        + paragraph("c", "a = 1")
        + paragraph("c", "# b")
    )
    text = convert_docx(_word(body, styles=styles), _URL).text
    assert text == "## Shelves\n\ntext\n\n```\na = 1\n# b\n```\n"


def test_numbered_lists_of_a_word_document_are_numbered() -> None:
    numbering = (
        f'<w:numbering {_W}><w:abstractNum w:abstractNumId="7">'
        '<w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl>'
        '<w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num></w:numbering>'
    )

    def item(depth: int) -> str:
        return (
            f'<w:p><w:pPr><w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="1"/></w:numPr></w:pPr>'
            "<w:r><w:t>x</w:t></w:r></w:p>"
        )

    text = convert_docx(_word(item(0) + item(1), numbering=numbering), _URL).text
    assert text.endswith("\n1. x\n  - x\n")


def test_the_rows_of_a_sheet_past_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx, "_MAX_ROWS", 2)
    monkeypatch.setattr(xlsx, "_MAX_COLUMNS", 2)
    cells = '<c r="A1"><v>1</v></c><c r="B1"><v>2</v></c><c r="XFD1"><v>3</v></c>'
    text = convert_xlsx(_sheet(f"<row>{cells}</row>" * 5 + "<row/>"), _URL).text
    assert "| 1 | 2 |\n" in text
    assert text.endswith("3 of 5 rows are left out.\n\nColumns after the first 2 are left out.\n")


def test_cells_that_point_nowhere_or_hold_no_number_do_no_harm() -> None:
    cells = '<c t="s"><v>9</v></c><c t="s"><v>x</v></c><c s="1"><v>1e400</v></c>'
    rows = f'<row>{cells}<c t="inlineStr"><is><t>in</t></is></c></row>'
    styles = f'<styleSheet {_S}><cellXfs><xf/><xf numFmtId="14"/></cellXfs></styleSheet>'
    assert "in" in convert_xlsx(_sheet(rows, styles=styles), _URL).text


@pytest.mark.parametrize("convert", [convert_docx, convert_pptx, convert_xlsx])
@pytest.mark.parametrize("body", [b"", b"PK\x03\x04", b"nothing", _package({"x": "y"})])
def test_an_archive_that_is_none_or_lacks_its_parts_is_unparseable(convert: object, body: bytes) -> None:
    with pytest.raises(Unparseable):
        convert(body, _URL)  # type: ignore[operator]


def test_a_zip_bomb_is_refused_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = _word("<w:p/>" * 12_000_000)
    assert len(bomb) < 200_000
    started = time.process_time()
    with pytest.raises(Unparseable, match="too large when unpacked"):
        convert_docx(bomb, _URL)
    assert time.process_time() - started < 5
    monkeypatch.setattr(ooxml, "_MAX_TOTAL_BYTES", 1_000)
    with pytest.raises(Unparseable, match="too large when unpacked"):
        convert_docx(_word("<w:p/>" * 10, styles=f"<w:styles {_W}>{' ' * 900}</w:styles>"), _URL)


def test_an_archive_of_too_many_parts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ooxml, "_MAX_ENTRIES", 1)
    with pytest.raises(Unparseable, match="2 parts"):
        convert_docx(_word("", styles="<x/>"), _URL)


def test_entities_are_refused_in_office_files() -> None:
    laughs = f'<!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><w:document {_W}>&b;</w:document>'
    with pytest.raises(Unparseable, match="document type"):
        convert_docx(_package({"word/document.xml": laughs}), _URL)
    with pytest.raises(Unparseable, match="document type"):
        convert_xlsx(_sheet("", sharedStrings="<!DOCTYPE s><sst/>"), _URL)


def test_deep_nesting_in_office_files_costs_no_stack() -> None:
    deep = "<w:p>" + "<w:ins>" * 20_000 + "<w:r><w:t>deep</w:t></w:r>" + "</w:ins>" * 20_000 + "</w:p>"
    assert "deep" in convert_docx(_word(deep), _URL).text


def test_an_archive_with_a_password_is_unparseable() -> None:
    body = bytearray(_word("<w:p/>"))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        body[body.index(mark) + offset] |= 1  # the flag that says so
    with pytest.raises(Unparseable, match="cannot be unpacked"):
        convert_docx(bytes(body), _URL)


@pytest.mark.parametrize("case", ["docx", "pptx", "xlsx"])
@pytest.mark.torture
def test_damage_anywhere_in_an_office_file_is_survived(case: str) -> None:
    body = (Path(__file__).parents[2] / "golden" / case / f"input.{case}").read_bytes()
    convert = {"docx": convert_docx, "pptx": convert_pptx, "xlsx": convert_xlsx}[case]
    for at in range(0, len(body), max(1, len(body) // 150)):
        damaged = bytearray(body)
        damaged[at] ^= 0xFF
        try:
            convert(bytes(damaged), _URL)
        except Unparseable:
            continue
