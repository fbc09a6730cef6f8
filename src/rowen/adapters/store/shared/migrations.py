"""The numbered steps between the schemas of a database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from rowen.adapters.store.shared.queries import folder_of
from rowen.records import dataclass


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    up: str
    down: str


@cache
def read_migrations(package: str) -> tuple[Migration, ...]:
    folder = folder_of(package) / "migrations"
    ups = sorted(file.name for file in folder.iterdir() if file.name.endswith(".up.sql"))
    return tuple(
        Migration(
            int(name[:4]),
            name[5 : -len(".up.sql")],
            (folder / name).read_text("utf-8"),
            (folder / name.replace(".up.", ".down.")).read_text("utf-8"),
        )
        for name in ups
    )


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
