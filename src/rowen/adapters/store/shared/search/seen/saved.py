"""A view on the disk, so that a command does not read every document to answer one question."""

from __future__ import annotations

from pathlib import Path

from rowen.adapters.store.shared.search.arrays.library import np
from rowen.adapters.store.shared.search.files import VIEW_FORMAT, Stamped, writing
from rowen.adapters.store.shared.search.seen.view import DOCUMENTS, SECTIONS, Token, View, whole
from rowen.adapters.store.shared.transaction import Transaction

ARRAYS = (*DOCUMENTS, "stems", *SECTIONS)


class SavedView:
    def __init__(self, folder: Path) -> None:
        self._files = Stamped(folder, "view", format=VIEW_FORMAT)

    def load(self, db: Transaction) -> View | None:
        """The view, if the store still knows of the activation that it was made after.

        A store that was put back from a copy gives the numbers of documents and activations again, but not at
        the same moment.
        """
        stamp = self._files.read()
        if stamp is None:
            return None
        from zipfile import BadZipFile

        try:
            token = tuple(stamp["token"])
            if stamp["at"] is None or _shown_at(db, token) != stamp["at"]:
                return None
            with np.load(self._files.path(str(stamp["begun"]), "npz")) as file:
                arrays = {name: file[name] for name in ARRAYS}
            sources = {int(number): tuple(source) for number, source in stamp["sources"].items()}
            return whole(token, sources, arrays)
        except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile):
            return None

    def save(self, db: Transaction, view: View) -> bool:
        with writing(self._files.folder) as mine:
            if mine:
                begun = self._files.begin()
                np.savez(self._files.path(begun, "npz"), **{name: getattr(view, name) for name in ARRAYS})
                at = _shown_at(db, view.token)
                self._files.write(begun=begun, token=view.token, at=at, sources=view.sources)
            return mine


def _shown_at(db: Transaction, token: Token) -> str | None:
    at: str | None = db.value("activation_at", activation=token[0])
    return at
