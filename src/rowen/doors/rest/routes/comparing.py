"""What differs, in a document and between two versions of one thing; and what would become of one page."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from rowen.core.compare.sections import fold
from rowen.core.safety.access import Scope
from rowen.doors.rest.operation import MAX_OFFSET, SourceName, answers, operations
from rowen.doors.shapes import compared as shapes
from rowen.doors.shapes.inspected import Inspection
from rowen.engine.ports import Ports
from rowen.managing.find import find, find_pair
from rowen.managing.inspect import inspect
from rowen.reading import diff, history, versions
from rowen.reading.addresses import truth

Number = Annotated[int | None, Query(ge=0, le=MAX_OFFSET)]
Reference = Annotated[
    str,
    Query(description="The document: its `reference` in the diff", min_length=1, max_length=4000),
]
Folded = Annotated[bool, Query(description="Leave out unchanged sections, and words far from a change")]
Version = Annotated[
    str,
    Query(
        description="A source; a version alone is of the other's name",
        min_length=1,
        max_length=129,
        examples=["python@3.12"],
    ),
]
Lines = Annotated[int, Query(description="Lines of each kind; `counts` are of all", ge=1, le=1000)]
Address = Annotated[str, Query(description="Of one page", min_length=1, max_length=2000)]
BySettings = Annotated[str | None, Query(description="By the settings of this source", max_length=129)]


def router(ports: Ports) -> APIRouter:
    api = operations("", "reading")

    @api.get(
        "/sources/{source}/diff/document",
        summary="The words that differ in one document between two generations",
        **answers(shapes.DocumentDiff, 404),
    )
    async def get_document_diff(
        source: SourceName,
        reference: Reference,
        from_generation: Annotated[Number, Query(alias="from", description="As in the diff")] = None,
        to_generation: Annotated[Number, Query(alias="to", description="As in the diff")] = None,
        folded: Folded = False,
    ) -> Any:
        """Its sections, and in each the pieces that both have, that went and that came. Equal and removed
        pieces together are the older text, equal and added ones the newer, unless they are folded.
        """
        named = await find(ports.store, source)
        before, after = await history.span(
            ports.store, named, from_generation=from_generation, to_generation=to_generation
        )
        found = await diff.document(
            ports.store, named, reference, from_generation=before, to_generation=after
        )
        text = fold(found.text) if folded else found.text
        return shapes.DocumentDiff.show(
            found,
            source=named.label,
            sections=text.sections,
            words_added=found.text.words_added,
            words_removed=found.text.words_removed,
        )

    @api.get(
        "/compare",
        summary="What changed between two versions of one thing",
        **answers(shapes.Compared, 400, 404),
    )
    async def compare_versions(before: Version, after: Version, limit: Lines = versions.LISTED) -> Any:
        """New, removed and changed names with their signatures, sections and pages. Pages are matched by
        their paths, names wherever they are defined.
        """
        pair = await find_pair(ports.store, before, after)
        return shapes.Compared.show(await versions.compare(ports.store, *pair, limit=limit))

    @api.get(
        "/inspect",
        summary="What would become of one page",
        **answers(Inspection, 400, 404, 502, 504, scope=Scope.SYNC),
    )
    async def inspect_page(url: Address, source: BySettings = None) -> Any:
        """It is asked for once, with robots.txt before it, and nothing is stored. Private, loopback and
        link-local addresses are refused.
        """
        belongs = await find(ports.store, source) if source else None
        known = await truth(ports.store, url, ports.clock.now())
        return Inspection.show(await inspect(ports, url, source=belongs), known=known)

    return api
