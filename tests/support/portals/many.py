"""Hundreds of portals of mixed families on one server, a third of them broken in the usual ways."""

from __future__ import annotations

from dataclasses import dataclass

from tests.support.portals.every import FAMILIES, PAGED, ListOfLines
from tests.support.portals.skeleton import Family, Portals

MIXED = [one for one in FAMILIES if one is not ListOfLines]
"""Without lists as lines of text, which cannot show that they were cut."""
FAULTS = ("close", "error", "html", "empty", "cut")


@dataclass
class Many:
    portals: Portals

    def breaks(self, third: int) -> set[str]:
        """Every third portal from this one on answers with a fault, the others are healthy; who is broken."""
        broken = set()
        for number, (name, family) in enumerate(self.portals.families.items()):
            family.asked.clear()
            family.fault = ""
            if number % 3 == third:
                broken.add(name)
                family.fault = FAULTS[number // 3 % len(FAULTS)]
        return broken

    def register(self) -> str:
        """The list of all of them as CSV; every fifth does not say what it is."""
        lines = ["name,url,software"]
        for number, (name, family) in enumerate(self.portals.families.items()):
            lines.append(f"{name},{self.portals.at(name)},{family.kind if number % 5 else ''}")
        return "\n".join(lines) + "\n"


def a_network(number: int) -> Many:
    families: dict[str, Family] = {}
    for place in range(number):
        family = MIXED[place % len(MIXED)](4 + place % 7)
        if isinstance(family, PAGED):
            # Lists in pages of three; a page size that is refused is halved, so Invenio's is not so small.
            family.most = 10 if family.kind == "invenio" else 3
        families[f"p{place:03}-{family.kind}"] = family
    return Many(Portals(**families))
