"""Changing a source in place: the next sync drops what its settings do not cover, and takes what they add.

Documents, generations and runs stay: it is the same source with another key. Only kinds that can say of a
reference whether their settings cover it can be edited; of the others it cannot be told which documents came
by the old settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rowen.core import params as parameters
from rowen.core.params import Param
from rowen.core.source import CREDENTIALS, EDITED, FATAL, Edited, Source, source_key
from rowen.engine import confine
from rowen.engine.kind import Kind
from rowen.engine.leases import reloaded, run_lease
from rowen.engine.ports import Ports
from rowen.errors import ConfigError, UserError, did_you_mean
from rowen.records import dataclass

# fmt: off
SELECTING = frozenset((
    "branch", "exclude", "hidden", "ignore_files", "include", "max_depth", "max_endless", "max_pages", "path",
    "robots", "scope", "sitemap", "wiki",
))
# fmt: on
"""Settings that choose among documents and leave the text of each as it is."""

ACCOUNT = frozenset(("header", *CREDENTIALS))
"""Settings that say who asks, not what for. How far the source was read stays with others of them: a token
that takes the place of another one is no reason to list everything again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """What an edit would do."""

    source: Source
    params: Mapping[str, Any]
    changed: tuple[str, ...]
    """The settings that differ; empty when nothing does."""
    edited: Edited | None
    """What the next run must do; None when the new settings fetch the same."""
    account: bool
    """They are asked for as somebody else, and nothing else changes of what is fetched."""
    documents: int
    """What readers see now."""
    uncovered: int
    """How many of them go with the next run, as far as their names say."""


async def plan(
    ports: Ports, source: Source, settings: Mapping[str, str], *, unset: Sequence[str] = ()
) -> Edit:
    """What `settings` (as `--set` gives them) would change; nothing is written.

    `unset` names settings that go back to their defaults.
    """
    kind = ports.kinds.named(source.kind)
    if not source.is_typed:
        # What came over the network stays confined when it is edited.
        confine.check_variables(ports, settings)
        confine.check_ca_file(ports, settings.get("ca_file"))
    params = _merged(kind.params, source.params, settings, unset)
    return await compare(ports, source, kind, params)


async def compare(ports: Ports, source: Source, kind: Kind, params: Mapping[str, Any]) -> Edit:
    before, now = (parameters.complete(kind.params, one) for one in (source.params, params))
    changed = [spec for spec in kind.params if before[spec.name] != now[spec.name]]
    fetches = [spec.name for spec in changed if spec.identity]
    account = bool(fetches) and set(fetches) <= ACCOUNT
    edited, uncovered = None, 0
    if fetches and not is_editable(kind, fetches):
        raise UserError(
            f"source `{source.label}`: {_listed(fetches)} cannot be changed for the kind `{kind.name}`: its "
            "documents do not show which settings they came by",
            hint="remove the source and add it again, or add a second one under another name",
        )
    if fetches and not account:
        edited = _next_run(kind, fetches, before, now, pending=source.edited)
        covered = kind.covers(source, now) if kind.covers else bool
        uncovered = sum(not covered(reference) for reference in await ports.store.known(source.id))
    return Edit(
        source=source,
        params=params,
        changed=tuple(spec.name for spec in changed),
        edited=edited,
        account=account,
        documents=(await ports.store.stats(source.id)).documents,
        uncovered=uncovered,
    )


async def carry_out(ports: Ports, edit: Edit) -> Source:
    """Write the new settings down. Raises `Conflict` while the source is being synced."""
    async with run_lease(ports, edit.source):
        source = await reloaded(ports.store, edit.source)
        if edit.edited is None and not edit.account:
            await ports.store.set_params(source.id, edit.params)
        else:
            kind = ports.kinds.named(source.kind)
            metadata = {name: value for name, value in source.metadata.items() if name != FATAL}
            if edit.edited is not None and source.active_generation:
                # Before the first harvest there is nothing to drop or to read again.
                metadata[EDITED] = edit.edited.value
            await ports.store.change_source(
                source.id,
                key=source_key(
                    kind=source.kind,
                    name=source.name,
                    location=source.location,
                    version=source.version,
                    identity=parameters.identity(kind.params, edit.params),
                ),
                params=edit.params,
                metadata=metadata,
                forget=not edit.account,
            )
        return await reloaded(ports.store, source)


def is_editable(kind: Kind, names: Sequence[str]) -> bool:
    """Can these settings of a source, which decide what is fetched, be changed in place?"""
    return kind.covers is not None or set(names) <= ACCOUNT


def narrows(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Do other `include` and `exclude` only leave out more than before, by the look of their globs?"""
    included = not before["include"] or (
        bool(now["include"]) and set(now["include"]) <= set(before["include"])
    )
    return included and set(before["exclude"]) <= set(now["exclude"])


def _next_run(
    kind: Kind,
    fetches: Sequence[str],
    before: Mapping[str, Any],
    now: Mapping[str, Any],
    *,
    pending: Edited | None,
) -> Edited:
    if pending is Edited.READ or not set(fetches) <= SELECTING | ACCOUNT:
        return Edited.READ
    # A crawl follows the links that were stored, and those are the links its old settings covered.
    if kind.lists or (set(fetches) <= {"include", "exclude"} and narrows(before, now)):
        return Edited.COVER
    return Edited.READ


def _merged(
    specs: Sequence[Param], params: Mapping[str, Any], settings: Mapping[str, str], unset: Sequence[str]
) -> dict[str, Any]:
    given = _read(specs, settings)
    tables = {spec.name for spec in specs if spec.key is not None}
    merged = {name: dict(value) if name in tables else value for name, value in params.items()}
    for name in unset:
        table, _, key = name.partition(".")
        if name not in {spec.name for spec in specs} and table not in tables:
            hint = did_you_mean(name, sorted(spec.name for spec in specs))
            raise ConfigError(f"setting `{name}`: no such setting for this kind of source", hint=hint)
        if key:
            merged.get(table, {}).pop(key, None)
        else:
            merged.pop(name, None)
    for name, value in given.items():
        merged[name] = {**merged.get(name, {}), **value} if name in tables else value
    return {name: value for name, value in merged.items() if value != {} or name not in tables}


def _read(specs: Sequence[Param], settings: Mapping[str, str]) -> dict[str, Any]:
    try:
        return parameters.read(specs, settings)
    except ConfigError as exc:
        empty = [name for name, text in settings.items() if not text.strip()]
        if exc.hint or not empty:
            raise
        raise ConfigError(exc.message, hint=f"`--unset {empty[0]}` takes it away") from None


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
