"""The deletion guard: may this generation be shown?

It does not delete or activate anything; it answers with a reason to hold, or None.
"""

from __future__ import annotations

MIN_DOCUMENTS = 20


def reason_to_hold(
    *, before: int, deleted: int, max_deleted_share: float, root_answered: bool = True
) -> str | None:
    """Why a generation that removes `deleted` of `before` documents must wait for a person."""
    if not deleted or not before or max_deleted_share >= 1.0:
        return None
    if not root_answered:
        # The root is the witness: while it does not answer, other pages' absence proves little.
        return f"it would remove {deleted} of {before} documents while the source itself does not answer"
    if deleted >= before:
        # Even a small source does not vanish on its own: an empty answer is more often a bad hour.
        return f"it would remove all {before} documents"
    if before < MIN_DOCUMENTS or deleted <= before * max_deleted_share:
        return None
    return f"it would remove {deleted} of {before} documents, more than {max_deleted_share:.0%}"
