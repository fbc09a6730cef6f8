"""Tables whose rows are definitions: a signature above its description in one cell (PostgreSQL's manual).

Such a table is a list of definitions in all but its tags, and becomes one.
"""

from __future__ import annotations

from turbohtml import Element

from rowen.adapters.convert.definition import Place, usable
from rowen.adapters.convert.html.sections import end_of, open_section, signature_of

_CELLS = "td.func_table_entry, td.catalog_table_entry"
_SIGNATURES = "p.func_signature, p.column_definition"


def reshape_entries(table: Element, place: Place) -> bool:
    """Works in place; False for any other table."""
    cells = table.select(_CELLS)
    if not cells:
        return False
    rows = []
    for cell in cells:
        signatures = cell.select(_SIGNATURES)
        row = Element("div", None, list(cell.children))
        ends = [_define(signature, place) for signature in signatures[:1]]
        row.extend([end for end in ends if end is not None])
        rows.append(row)
    table.clear()
    table.extend(rows)
    table.tag = "div"
    return True


def _define(signature: Element, place: Place) -> Element | None:
    named = signature.select_one("code.function, code.structfield, code.literal")
    name = "".join(named.text.split()) if named is not None else ""
    if named is None or not usable(name):
        return None
    target = signature.select_one("a[id]")
    anchor = (target.attr("id") or "") if target is not None else ""
    kind = {"function": "function", "structfield": "field"}.get(named.attr("class") or "", "operator")
    definition = place.definition(anchor, kind, name, signature_of(signature))
    open_section(signature, definition, place)
    return end_of(definition)
