"""The `github` kind: the files of a repository at GitHub or a GitHub Enterprise server, by its API.

With a token, blobs come from the API, which serves private repositories and Enterprise alike and hands out
exactly the version the tree named. Without one the API allows 60 requests an hour, so files come from the
host for raw files; its copies may be minutes old, so what came is checked against the blob id, and the API is
asked where it does not fit. The wiki is a second part, by git (`wiki.py`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from rowen.core.document import Validators
from rowen.core.exchange import git
from rowen.core.exchange.git import File, gather
from rowen.core.params import how, switch, what
from rowen.core.run import Counters
from rowen.core.safety.secrets import Credentials, Secret, fill, reference
from rowen.core.source import Source
from rowen.core.web import urls
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested, Kind, Prepared, Sample
from rowen.engine.ports import Ports
from rowen.errors import BadLocation, PermanentError, TransientError
from rowen.fetching.client import open_client
from rowen.kinds import sampling
from rowen.kinds.github import rules as github
from rowen.kinds.github import wiki as wikis
from rowen.kinds.github.api import GitHubApi, NotThere
from rowen.kinds.github.reading import Reading
from rowen.kinds.github.rules import Address
from rowen.kinds.listing import trees
from rowen.kinds.settings import CONCURRENCY
from rowen.ports.fetcher import Response

VARIABLE = "GITHUB_TOKEN"
OWN_TOKEN = "${GITHUB_TOKEN}"
MAX_ANSWER_BYTES = 16_000_000
"""A tree may take 7 MB; the sizes of files are known before they are fetched."""


def _server(text: str) -> str:
    if urls.normalise(text) is None or urls.without_credentials(text) != text:
        raise ValueError("expected an http or https address")
    return text.rstrip("/")


def _repository(text: str) -> str:
    if git.parse_address(text) is None:
        raise ValueError("expected the address of a git repository")
    return text


PARAMS = (
    *trees.PARAMS,
    what(
        "api_url",
        "",
        "The API; detected for github.com if omitted, `https://HOST/api/v3` for others",
        _server,
    ),
    how(
        "raw_url",
        "",
        "The host for raw files, asked when there is no token; detected for github.com if omitted",
        _server,
    ),
    how(
        "token",
        "",
        "A token for the API, by reference; without it the variable GITHUB_TOKEN, if it is set",
        reference,
        secret=True,
    ),
    how("wiki", True, "Also the pages of its wiki, if it has one; that needs the `git` command", switch),
    how(
        "wiki_url",
        "",
        "The repository of the wiki; `https://HOST/OWNER/REPOSITORY.wiki.git` if omitted",
        _repository,
    ),
    CONCURRENCY,
)


def claims(ports: Ports, location: str) -> bool:
    address = github.parse_address(location)
    return address is not None and address.is_public_site


async def prepare(ports: Ports, location: str, *, settings: Mapping[str, Any], check: bool) -> Prepared:
    address = _address(location)
    if not check:
        return Prepared(kind="github", location=address.location)
    try:
        async with _open_api(ports, address, settings, Counters()) as api:
            facts = await api.facts()
            owner, _, name = facts.repository.partition("/")
            chosen = replace(address, owner=owner, name=name)
            if address.branch is not None:
                chosen = await _reading(api, chosen)
    except (TransientError, PermanentError) as exc:
        raise BadLocation(f"location `{address.location}`: {exc.message}", hint=exc.hint) from exc
    findings = _findings(address, facts, has_token=api.has_token)
    place = wikis.address_of(chosen, settings) if facts.has_wiki else None
    said = await wikis.finding(ports, place) if place is not None else None
    findings += [said] if said else []
    return Prepared(kind="github", location=chosen.location, findings=tuple(findings))


def _address(location: str) -> Address:
    address = github.parse_address(location)
    if address is None:
        shown = urls.without_credentials(location)
        raise BadLocation(
            f"location `{shown}`: not the address of a repository or its files",
            hint="write `https://github.com/owner/repo`, or `.../tree/branch/path` for a part of it",
            location=shown,
        )
    return address


async def _reading(api: GitHubApi, address: Address) -> Address:
    """Where the name of the branch ends and the path begins: the first reading that the API knows."""
    for reading in address.readings():
        assert reading.branch is not None
        try:
            await api.tree(reading.branch, recursive=False, validators=Validators())
        except NotThere:
            continue
        return reading
    raise NotThere(f"no branch, tag or commit `{address.branch}` in `{address.repository}`")


def _findings(address: Address, facts: github.Facts, *, has_token: bool) -> list[str]:
    findings = [f"repository `{facts.repository}`, default branch `{facts.default_branch}`: kind `github`"]
    if facts.repository.lower() != address.repository.lower():
        findings.append(f"`{address.repository}` is called `{facts.repository}` now")
    if facts.description:
        findings.append(facts.description)
    if facts.archived:
        findings.append("archived: it will not change any more")
    if not has_token:
        findings.append(
            "no token in GITHUB_TOKEN: the API answers 60 requests an hour, files come from elsewhere"
        )
    return findings


async def sample(ports: Ports, source: Source, params: Mapping[str, Any]) -> Sample:
    """The tree in one answer, and a few blobs of it. Wikis are not looked at."""
    address, counters = _address(source.location), Counters()
    async with _open_api(ports, address, params, counters) as api:
        branch = address.branch or (await api.facts()).default_branch
        answer = await api.tree(branch, recursive=True, validators=Validators())
        tree = github.parse_tree(answer.body)
        files = gather(tree.entries, within=address.path, whole=not tree.truncated).files
        chosen = trees.chosen_files(ports, source, params, files)
        few = sampling.evenly(chosen, sampling.ITEMS)

        async def read(file: File) -> bytes | None:
            return await api.blob(file.id)

        return await trees.sample(
            ports, chosen, few, read, exact=not tree.truncated, requests=lambda: counters.requests
        )


async def harvest(ports: Ports, source: Source, params: Mapping[str, Any], intake: Intake) -> Harvested:
    address = _address(source.location)
    async with _open_api(ports, address, params, intake.counters) as api:
        raw_url = "" if api.has_token else _raw_url(address, params)
        if not raw_url:
            return await Reading(ports, address, params, intake, api, None, "").run(source)
        async with open_client(
            ports, raw_url, params, intake.counters, max_body_bytes=MAX_ANSWER_BYTES, limits=_limits
        ) as raw:
            return await Reading(ports, address, params, intake, api, raw, raw_url).run(source)


def _raw_url(address: Address, params: Mapping[str, Any]) -> str:
    public = address.is_public_site and not params["api_url"]
    return str(params["raw_url"]) or (github.RAW if public else "")


@asynccontextmanager
async def _open_api(
    ports: Ports, address: Address, params: Mapping[str, Any], counters: Counters
) -> AsyncIterator[GitHubApi]:
    base = params["api_url"] or (github.API if address.is_public_site else f"{address.site}/api/v3")
    text = params["token"] or (OWN_TOKEN if ports.secrets(VARIABLE) else "")
    token = fill("token", text, ports.secrets) if text else ""
    headers = {"Authorization": Secret(f"Bearer {token}")} if token else {}
    async with open_client(
        ports,
        base,
        params,
        counters,
        own_credentials=Credentials(urls.origin_of(base), headers),
        max_body_bytes=MAX_ANSWER_BYTES,
        limits=_limits,
    ) as client:
        yield GitHubApi(client, base, address, has_token=bool(token))


def _limits(response: Response, now: datetime) -> float | None:
    return github.limited_s(response.status, response.headers, response.body, now)


KIND = Kind(
    name="github",
    params=PARAMS,
    claims=claims,
    prepare=prepare,
    sample=sample,
    covers=trees.covers,
    lists=True,
    asks_named=True,
    harvest=harvest,
)
