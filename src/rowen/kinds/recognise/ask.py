"""Asking a server whether it is a portal of a known family, and preparing a source of that kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rowen.core import params as parameters
from rowen.core.web import urls
from rowen.engine.kind import Kind, Prepared
from rowen.errors import BadLocation, PermanentError, TransientError
from rowen.kinds.crawl.probe import Probe
from rowen.kinds.recognise import rules
from rowen.kinds.recognise.rules import MAX_ASKED, Sign
from rowen.ports.fetcher import Request, Response


async def portal_at(
    probe: Probe, address: str, first: Response, *, unset: Mapping[str, Any]
) -> Prepared | None:
    """The portal that answers at an address, and why it is one; None where none does.

    `first` is the answer of the address itself. `unset` are the values of the settings that were not given:
    one that differs, and that the portal's kind does not have, means that a crawl is wanted.
    """
    signs = rules.candidates(address, first.body)
    if not signs:
        return None
    asker = _Asker(probe, address, first)
    for sign in signs:
        kind = probe.ports.kinds.named(sign.kind)
        names = {spec.name for spec in kind.params}
        if any(value != unset.get(name) and name not in names for name, value in probe.settings.items()):
            continue
        for base in rules.bases(sign, address):
            found = await asker.shown(sign, base)
            if found:
                return await _prepared(probe, kind, sign, base, found)
    return None


async def _prepared(probe: Probe, kind: Kind, sign: Sign, base: str, found: str) -> Prepared:
    defaults = parameters.complete(kind.params, {})
    settings = {name: probe.settings.get(name, value) for name, value in defaults.items()}
    location = base + sign.leads.replace("{found}", found)
    prepared = await kind.prepare(probe.ports, location, settings=settings, check=True)
    why = f"`{urls.without_credentials(base)}` {sign.says.replace('{found}', found)}: kind `{kind.name}`"
    return replace(prepared, findings=(why, *prepared.findings))


class _Asker:
    def __init__(self, probe: Probe, address: str, first: Response) -> None:
        self._probe = probe
        self._left = MAX_ASKED
        self._first = first
        self._address = address.partition("#")[0]

    async def shown(self, sign: Sign, base: str) -> str:
        """What the answer shows of the sign; empty for nothing."""
        # Only an address with a mark pays for loading these.
        from rowen.kinds.api import answers, expression
        from rowen.kinds.api.kind import KINDS
        from rowen.kinds.api.presets.preset import Preset

        preset = KINDS[sign.kind].preset if sign.kind in KINDS else Preset(kind=sign.kind)
        shows = expression.compiled("sign", sign.shows)

        async def found_in(response: Response) -> str:
            try:
                answer = await answers.read(self._probe.ports.converter, preset, response, base)
                found = shows.find_or_none(answer)
            except PermanentError as exc:
                if exc.facts.get("extra"):
                    raise BadLocation(f"location {exc.message}", hint=exc.hint, location=base) from exc
                return ""
            except RecursionError:
                return ""
            return str(found)[:100] if found and not isinstance(found, list | dict) else ""

        if not sign.ask and (found := await found_in(self._first)):
            return found
        url = base + sign.ask.replace("{host}", urls.host_of(base)) if sign.ask else self._address
        response = await self._ask(url, preset.accept)
        return await found_in(response) if response is not None and response.status == 200 else ""

    async def _ask(self, url: str, accept: str) -> Response | None:
        if not self._left:
            return None
        self._left -= 1
        try:
            return (await self._probe.follow(Request(url, headers={"Accept": accept})))[1]
        except (BadLocation, TransientError, PermanentError):
            return None
