"""The numbered steps between the schemas of a database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from rowen.adapters.store.shared.queries import folder_of
from rowen.records import NamedTuple

UP, DOWN = ".up.sql", ".down.sql"


class Migration(NamedTuple):
    """A step by its files, which are read when it is taken: most stores are up to date."""

    number: int
    name: str
    folder: Path

    @property
    def up(self) -> str:
        return self._statements(UP)

    @property
    def down(self) -> str:
        return self._statements(DOWN)

    def _statements(self, way: str) -> str:
        return (self.folder / f"{self.number:04}_{self.name}{way}").read_text("utf-8")


@cache
def read_migrations(package: str) -> tuple[Migration, ...]:
    folder = folder_of(package) / "migrations"
    ups = sorted(file.name for file in folder.iterdir() if file.name.endswith(UP))
    return tuple(Migration(int(name[:4]), name[5 : -len(UP)], folder) for name in ups)


PARTS = ("handoffs",)
"""Tables that can be taken down alone. Migrations whose name begins like the table make it, together."""


def steps_of(known: Sequence[Migration], part: str) -> list[Migration]:
    return [one for one in known if one.name.startswith(part.removesuffix("s"))]


def parts_at(known: Sequence[Migration], version: int) -> list[str]:
    """The parts that a whole store of a version has."""
    return [part for part in PARTS if steps_of(known, part)[0].number <= version]


def upwards(known: Sequence[Migration], version: int, target: int) -> Iterator[Migration]:
    """The steps from a version up to a higher one; none when it is not higher."""
    return (one for one in known if version < one.number <= target)


def downwards(known: Sequence[Migration], version: int, target: int) -> Iterator[Migration]:
    """The steps from a version back to a lower one; none when it is not lower."""
    return (one for one in reversed(known) if target < one.number <= version)
