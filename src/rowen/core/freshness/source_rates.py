"""How fast the pages of one source change: what is learnt from a sample of them, and kept in one record.

Folders and kinds of pages that the sample has enough of have a prior of their own; the rate of a single page
comes from that prior and from what its own checks said. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from rowen.core.freshness.evidence import NOTHING, Evidence
from rowen.core.freshness.rates import Group, Prior, estimate, priors_of, rounded
from rowen.records import dataclass

HALF_LIFE_S = 90 * 86_400.0
"""What a check said counts half after this time: rates change, too."""
SAMPLE = 1_000
"""So many pages are enough to learn from."""
LEARN_EVERY_S = 86_400.0
"""Priors move slowly: they are learnt once a day at most."""
WATCHED_S = 43_200.0
"""A source whose pages were watched for less says nothing about the days in which they change."""
FEW = 10
"""A folder, or a kind of page in it, with fewer pages in the sample has no prior of its own."""
DEPTH = 3
"""Folders are told apart so deep; the host counts."""
LONGEST_SUFFIX = 5


def group_of(reference: str) -> Group:
    """The folder of a page, and its kind by the end of its name."""
    path = reference.partition("?")[0].rpartition("://")[2]
    *folders, name = path.split("/")
    suffix = name.rpartition(".")[2].lower() if folders and "." in name else ""
    kind = suffix if suffix.isalnum() and len(suffix) <= LONGEST_SUFFIX else ""
    return "/".join(folders[:DEPTH]), kind


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceRates:
    priors: Mapping[Group, Prior]
    """By group; the empty one is the whole source."""

    def rate(self, reference: str, evidence: Evidence) -> float:
        """Changes per second of a page."""
        return estimate(evidence, self.prior(reference)).rate

    def rates(self, pages: Iterable[tuple[str, Evidence]]) -> list[float]:
        """The same for many pages: those whose evidence is about the same share the work."""
        found: dict[tuple[Prior, Evidence], float] = {}
        rates = []
        for reference, evidence in pages:
            key = self.prior(reference), rounded(evidence, 3)
            if key not in found:
                found[key] = estimate(key[1], key[0]).rate
            rates.append(found[key])
        return rates

    def prior(self, reference: str) -> Prior:
        """Of the smallest group around a page that has one."""
        group = group_of(reference)
        depth = max(depth for depth in range(len(group) + 1) if group[:depth] in self.priors)
        return self.priors[group[:depth]]

    def as_rows(self) -> list[list[Any]]:
        """For JSON: the names of a group, then mean and width of its prior."""
        return [[list(group), prior.mean, prior.width] for group, prior in self.priors.items()]

    @staticmethod
    def of_rows(rows: Iterable[Sequence[Any]]) -> SourceRates:
        return SourceRates(priors={tuple(group): Prior(mean, width) for group, mean, width in rows})


def watched_long_enough(pages: Iterable[tuple[str, Evidence]]) -> bool:
    """Whether there is something to learn from: minutes without a change say nothing about a day."""
    return any(evidence.unchanged_s + evidence.changed_s >= WATCHED_S for _, evidence in pages)


def learnt(pages: Sequence[tuple[str, Evidence]]) -> SourceRates:
    """From what the checks of some pages said, by reference."""
    groups = [group_of(reference) for reference, _ in pages]
    sizes = Counter(group[:depth] for group in groups for depth in range(1, len(group) + 1))
    kept = [_kept(group, sizes) for group in groups]
    evidences = [evidence for _, evidence in pages]
    return SourceRates(priors=priors_of(zip(evidences, kept, strict=True)))


def _kept(group: Group, sizes: Mapping[Group, int]) -> Group:
    """The smallest group around a page that has enough pages."""
    depth = max(depth for depth in range(len(group) + 1) if not depth or sizes[group[:depth]] >= FEW)
    return group[:depth]


def seen_quiet(before: Evidence | None, fetched_at: datetime, verified_at: datetime) -> Evidence:
    """What is known of a page: of its earlier versions, and that this one stood from one check to another."""
    stretch_s = (verified_at - fetched_at).total_seconds()
    return (before or NOTHING).after_quiet(stretch_s, HALF_LIFE_S)


def seen_changed(
    before: Evidence | None, fetched_at: datetime, verified_at: datetime, changed_at: datetime
) -> Evidence:
    """With a new version that was found at `changed_at`; the one before stood until it was verified last."""
    interval_s = max((changed_at - verified_at).total_seconds(), 0.0)
    quiet = seen_quiet(before, fetched_at, verified_at)
    return quiet.faded(interval_s, HALF_LIFE_S).after_change(interval_s)
