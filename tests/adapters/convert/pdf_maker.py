"""A small PDF, written by hand: pages of lines in one font, a title, an outline."""

from __future__ import annotations

from collections.abc import Sequence


def make_pdf(
    pages: Sequence[Sequence[str]], *, title: str = "", outline: Sequence[tuple[int, int, str]] = ()
) -> bytes:
    """`outline` is (level from 0, page from 0, title) in order; levels 0 and 1 are written."""
    objects: dict[int, str] = {}
    first_page, first_text = 10, 10 + len(pages)
    first_mark = first_text + len(pages)
    kids = " ".join(f"{first_page + n} 0 R" for n in range(len(pages)))
    objects[1] = "<< /Type /Catalog /Pages 2 0 R" + (" /Outlines 5 0 R" if outline else "") + " >>"
    objects[2] = f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>"
    objects[3] = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    objects[4] = f"<< /Title ({title}) >>" if title else "<< >>"
    for number, lines in enumerate(pages):
        shown = " T* ".join(f"({line}) Tj" for line in lines)
        stream = f"BT /F1 12 Tf 14 TL 72 720 Td {shown} ET" if lines else ""
        objects[first_page + number] = (
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {first_text + number} 0 R >>"
        )
        objects[first_text + number] = f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream"
    if outline:
        _add_outline(objects, outline, first_mark, first_page)
    return _assembled(objects)


def _add_outline(
    objects: dict[int, str], outline: Sequence[tuple[int, int, str]], first: int, first_page: int
) -> None:
    tops = [n for n, (level, _, _) in enumerate(outline) if level == 0]
    objects[5] = f"<< /Type /Outlines /First {first + tops[0]} 0 R /Last {first + tops[-1]} 0 R >>"
    for n, (level, page, title) in enumerate(outline):
        owner = max((top for top in tops if top < n), default=0)
        same = (
            tops if level == 0 else [m for m in range(owner + 1, len(outline)) if _owner(outline, m) == owner]
        )
        at = same.index(n)
        parts = [f"/Title ({title}) /Parent {5 if level == 0 else first + owner} 0 R"]
        parts.append(f"/Dest [{first_page + page} 0 R /XYZ 72 720 0]")
        if at + 1 < len(same):
            parts.append(f"/Next {first + same[at + 1]} 0 R")
        if at:
            parts.append(f"/Prev {first + same[at - 1]} 0 R")
        below = [m for m in range(len(outline)) if outline[m][0] == 1 and _owner(outline, m) == n]
        if level == 0 and below:
            parts.append(f"/First {first + below[0]} 0 R /Last {first + below[-1]} 0 R /Count {len(below)}")
        objects[first + n] = f"<< {' '.join(parts)} >>"


def _owner(outline: Sequence[tuple[int, int, str]], n: int) -> int:
    return max((m for m in range(n) if outline[m][0] == 0), default=-1) if outline[n][0] else -1


def _assembled(objects: dict[int, str]) -> bytes:
    body = b"%PDF-1.7\n"
    offsets: dict[int, int] = {}
    for number in sorted(objects):
        offsets[number] = len(body)
        body += f"{number} 0 obj\n{objects[number]}\nendobj\n".encode("cp1252")
    start = len(body)
    size = max(objects) + 1
    table = "".join(
        f"{offsets[n]:010d} 00000 n \n" if n in offsets else "0000000000 65535 f \n" for n in range(size)
    )
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R /Info 4 0 R >>\nstartxref\n{start}\n%%EOF\n"
    return body + f"xref\n0 {size}\n{table}{trailer}".encode("ascii")
