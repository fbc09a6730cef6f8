"""What differs between two generations, document by document and word by word.

`history.diff` says which documents are new, updated or removed; here is what differs inside one of them.
"""

from __future__ import annotations

from rowen.core.compare.sections import TextDiff, compare
from rowen.core.generation import Version
from rowen.core.source import Source
from rowen.errors import NotFound
from rowen.ports.store.generations import Generations
from rowen.records import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentDiff:
    """One document in two generations. `core.compare.sections.fold` shortens its text for reading."""

    reference: str
    from_generation: int
    to_generation: int
    before: Version | None
    """With its text; None when it was not there."""
    after: Version | None
    text: TextDiff

    @property
    def kind(self) -> str:
        """`added`, `changed`, `removed`, or `same` when nothing differs, metadata included."""
        if self.before is None or self.after is None:
            return "added" if self.before is None else "removed"
        return "same" if self.before.document_id == self.after.document_id else "changed"


async def document(
    store: Generations, source: Source, reference: str, *, from_generation: int, to_generation: int
) -> DocumentDiff:
    """One document in two generations, its sections and the words that differ in them."""
    numbers = (from_generation, to_generation)
    versions = await store.versions(source.id, reference, text_at=numbers)
    before, after = (next((one for one in versions if one.is_visible_at(number)), None) for number in numbers)
    if before is None and after is None:
        raise NotFound(
            f"`{reference}` of `{source.label}`: in neither generation {numbers[0]} nor {numbers[1]}",
            hint=f"`rowen diff {source.label}` lists what differs",
            reference=reference,
        )
    return DocumentDiff(
        reference=reference,
        from_generation=from_generation,
        to_generation=to_generation,
        before=before,
        after=after,
        text=compare(before.text if before else None, after.text if after else None),
    )
