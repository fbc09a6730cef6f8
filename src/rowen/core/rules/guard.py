"""The guard: may this generation be shown, or do readers lose too much by it?

Documents are lost when they are removed, and also when their address still answers but their text is gone:
many documents that become one text (a maintenance page, a login wall), that become empty, or that keep less
than half of what they said. It does not delete or activate anything; it answers with a reason to hold, or
None.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from rowen.core.generation import Replacement
from rowen.core.rules.pattern import pattern_of
from rowen.records import NamedTuple

MIN_DOCUMENTS = 20
MIN_ALIKE = 3
"""In a smaller source, two documents with one text say little."""
SHOWN_CHARS = 60


def must_look(*, before: int, touched: int, max_deleted_share: float) -> bool:
    """Can so few changed or removed documents be too many? If not, their texts need not be looked at."""
    if not touched or not before or max_deleted_share >= 1.0:
        return False
    return touched >= before if before < MIN_DOCUMENTS else touched > before * max_deleted_share


def reason_to_hold(
    *,
    before: int,
    deleted: int,
    max_deleted_share: float,
    root_answered: bool = True,
    replaced: Sequence[Replacement] = (),
) -> str | None:
    """Why a generation must wait for a person: it removes `deleted` of `before` documents, or their texts."""
    if not before or max_deleted_share >= 1.0:
        return None
    removal = f"it would remove {deleted} of {before} documents"
    if deleted and not root_answered:
        # The root is the witness: while it does not answer, other pages' absence proves little.
        return f"{removal} while the source itself does not answer"
    if deleted >= before:
        # Even a small source does not vanish on its own: an empty answer is more often a bad hour.
        return f"it would remove all {before} documents"
    bound = before * max_deleted_share
    changed = [one for one in replaced if one.content_before not in (None, one.content)]
    # Where the start page is an error page, nothing links to the others any more: then it says why.
    rest = f", and what is left says `{_start_of(changed[0])}`" if deleted + len(changed) == before else ""
    if before >= MIN_DOCUMENTS and deleted > bound:
        return f"{removal}, more than {max_deleted_share:.0%}{rest}"
    if rest and before >= MIN_ALIKE and deleted == before - 1 and len(replaced) == 1:
        return removal + rest

    empty = [one for one in changed if one.text == ""]
    shared = _shared([one for one in changed if one.text != ""])
    words = [removal] if deleted else []
    if empty:
        words.append(f"{len(empty)} of {before} documents would be empty")
    alike = sum(len(group.documents) for group in shared)
    if shared:
        texts = "the same text" if len(shared) == 1 else f"{len(shared)} texts, most often"
        most = max(shared, key=lambda group: len(group.documents)).documents[0]
        words.append(f"{alike} of {before} documents would show {texts}: `{_start_of(most)}`")
    if before < MIN_DOCUMENTS:
        all_gone = deleted + len(empty) + alike >= before and len(shared) <= 1
        return " and ".join(words) if all_gone and (not alike or alike >= MIN_ALIKE) else None
    lost = deleted + len(empty) + _lost(shared)
    if lost <= bound:
        counted = {one.reference for group in (empty, *(g.documents for g in shared)) for one in group}
        shrunken = _shrunken([one for one in changed if one.reference not in counted], replaced)
        if shrunken:
            words.append(f"{shrunken} of {before} documents would lose most of their text")
        lost += shrunken
    return " and ".join(words) if lost > bound else None


def _shared(changed: Sequence[Replacement]) -> list[_Shared]:
    """Documents that had texts of their own and would share one: word for word, or but for numbers and
    addresses in it, whichever tells more.

    Texts that were alike before, such as the rows of one table, are not lost by staying alike.
    """
    exactly = _groups(changed, lambda one: (one.content, one.content_before))
    roughly = _groups([one for one in changed if one.text is not None], _patterns)
    return max(exactly, roughly, key=_lost)


class _Shared(NamedTuple):
    documents: list[Replacement]
    texts_before: set[Hashable]


def _groups(
    changed: Sequence[Replacement], keys: Callable[[Replacement], tuple[Hashable, Hashable]]
) -> list[_Shared]:
    """By their new text; those that were one text before lose it once, and are no group."""
    groups: dict[Hashable, _Shared] = {}
    for one in changed:
        after, before = keys(one)
        group = groups.setdefault(after, _Shared([], set()))
        group.documents.append(one)
        group.texts_before.add(before)
    return [group for group in groups.values() if len(group.texts_before) > 1]


def _lost(shared: Sequence[_Shared]) -> int:
    return sum(len(group.texts_before) - 1 for group in shared)


def _patterns(one: Replacement) -> tuple[Hashable, Hashable]:
    after = pattern_of(one.text or "", one.reference)
    if one.text_before is None:
        return after, one.content_before
    return after, pattern_of(one.text_before, one.reference)


def _shrunken(changed: Sequence[Replacement], staged: Sequence[Replacement]) -> int:
    """Documents that keep less than half of their text, unless new documents say it instead."""
    shrunken = [one for one in changed if one.bytes * 2 < one.bytes_before]
    gone = sum(one.bytes_before - one.bytes for one in shrunken)
    gained = sum(max(one.bytes - one.bytes_before, 0) for one in staged)
    return len(shrunken) if gained * 2 < gone else 0


def _start_of(one: Replacement) -> str:
    text = " ".join(line.lstrip("# ") for line in (one.text or "").splitlines() if line.strip())
    if not text:
        return f"… {one.bytes} bytes"
    return text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS].rsplit(" ", 1)[0] + " …"
