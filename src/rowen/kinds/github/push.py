"""What pushes changed: the files they name at one commit, where that can be read without a tree.

Pushes are believed as long as each begins where the one before it ended, from the commit that readers see. A
gap, a forced push or a commit the API does not know leads to the comparison of trees, which finds everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from rowen.core.source import Source
from rowen.engine.intake import Intake
from rowen.kinds.github.api import GitHubApi, NotThere
from rowen.kinds.github.push_event import route as route_of
from rowen.records import dataclass

COMMIT = "commit"
"""In a source's metadata: readers see everything up to this commit. Known once a push has been followed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """What a run over a repository sets out to do."""

    paths: tuple[str, ...] | None = None
    """These files; None for a comparison of everything."""
    commit: str = ""
    """Where the files are read."""
    learnt: Mapping[str, Any] = field(default_factory=dict)
    """What to remember when the run went well."""


async def begin(source: Source, intake: Intake, api: GitHubApi, branch: str) -> Start:
    """One question at most: where the commit or the branch stands. Raises like the API."""
    if intake.only is None or not source.active_generation:
        return Start()
    # After a rollback readers see less than was taken in.
    current = source.active_generation == source.last_generation
    route = route_of(intake.only, source.metadata.get(COMMIT) if current else None)
    try:
        commit = await api.commit(route.commit or branch)
    except NotThere:
        # Rewritten since, or not everywhere yet; if the repository is gone, the tree will say so.
        return Start()
    if route.commit is not None:
        return Start(paths=route.paths, commit=commit, learnt={COMMIT: commit})
    if route.pushed or not current:
        # Asked before the tree, which so is of this commit or a later one.
        return Start(learnt={COMMIT: commit})
    return Start(paths=route.paths, commit=commit)
