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
from functools import partial
from typing import Any
from urllib.parse import quote

from rowen.core.document import Validators
from rowen.core.exchange import git
from rowen.core.exchange.git import File, blob_id, gather, is_within
from rowen.core.params import how, switch, what
from rowen.core.run import Counters, Mode
from rowen.core.safety.secrets import Credentials, Secret, fill, reference
from rowen.core.source import Source
from rowen.core.web import urls
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested, Kind, Prepared, Sample
from rowen.engine.ports import Ports
from rowen.errors import BadLocation, PermanentError, TransientError
from rowen.fetching.client import Client, open_client, stop_reason
from rowen.kinds import sampling
from rowen.kinds.github import push as github_push
from rowen.kinds.github import rules as github
from rowen.kinds.github import wiki as wikis
from rowen.kinds.github.api import GitHubApi, NotThere
from rowen.kinds.github.push import Start
from rowen.kinds.github.rules import WIKI, Address
from rowen.kinds.github.tree import TreeListing
from rowen.kinds.github.wiki import Wiki
from rowen.kinds.listing import trees
from rowen.kinds.listing.includes.includes import Includes
from rowen.kinds.listing.listing import Fetched, Item, take_in_named
from rowen.kinds.listing.text_files import NO_TEXT, TextFiles
from rowen.kinds.settings import CONCURRENCY
from rowen.ports.fetcher import Request, Response
from rowen.ports.store.documents import Listing

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
            return await _Reading(ports, address, params, intake, api, None, "").run(source)
        async with open_client(
            ports, raw_url, params, intake.counters, max_body_bytes=MAX_ANSWER_BYTES, limits=_limits
        ) as raw:
            return await _Reading(ports, address, params, intake, api, raw, raw_url).run(source)


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


class _Reading:
    """One run over one repository."""

    def __init__(
        self,
        ports: Ports,
        address: Address,
        params: Mapping[str, Any],
        intake: Intake,
        api: GitHubApi,
        raw: Client | None,
        raw_url: str,
    ) -> None:
        self._ports = ports
        self._address = address
        self._params = params
        self._intake = intake
        self._api = api
        self._raw = raw
        self._raw_url = raw_url
        self._branch = ""

    async def run(self, source: Source) -> Harvested:
        listings = await self._ports.store.listings(self._intake.run.source_id)
        listing = TreeListing(self._ports.store, self._intake, self._api, self._address, listings)
        try:
            start = await github_push.begin(source, self._intake, self._api, listing.branch)
            if start.paths is not None:
                if any(path.startswith(WIKI) for path in start.paths):
                    await self._wiki().take_in(listings)
                return await self._read_named(start, listings)
            files = await listing.files()
        except (TransientError, PermanentError) as exc:
            return Harvested.stopped(stop_reason(exc), exc, root_answered=False)
        self._branch = listing.branch
        stopped = await trees.take_in_files(
            self._ports,
            self._intake,
            self._params,
            files,
            listings=listings,
            read=self._read,
            page_of=self._address.page_of,
            complete=listing.complete,
            is_part=lambda reference: not reference.startswith(WIKI),
        )
        if stopped is not None:
            return Harvested(stop_reason=stop_reason(stopped), error=stopped)
        hint = await self._wiki().take_in(listings)
        return Harvested(stop_reason=stop_reason(None), metadata=start.learnt, hint=hint)

    def _wiki(self) -> Wiki:
        place = wikis.address_of(self._address, self._params)
        return Wiki(self._ports, self._intake, self._params, self._address, place)

    async def _read_named(self, start: Start, listings: Mapping[str, Listing]) -> Harvested:
        """Take in the files that pushes or a caller named, at one commit and without the tree."""
        text = TextFiles(self._ports, self._intake, self._params)
        text.load(listings)
        known_no_text = listings[NO_TEXT].payload if NO_TEXT in listings else {}
        # Where files stand in the tree is not known here: what is included is asked for at the commit.
        includes = Includes(
            self._ports, self._intake, listings, {}, partial(self._read_included, start.commit)
        )
        pushed = dict.fromkeys(start.paths or ())
        named = [*pushed, *(path for path in includes.includers_of(pushed) if path not in pushed)]
        paths = [path for path in named if self._is_wanted(path, text)]
        look = partial(self._look, text, includes, start.commit)
        stopped = await take_in_named(self._intake, paths, look, concurrency=self._params["concurrency"])
        await text.save({*known_no_text, *paths})
        await includes.save({*includes.includers, *paths})
        return Harvested(
            stop_reason=stop_reason(stopped),
            error=stopped,
            # That nothing is new is an answer; that nothing answered is not.
            mode=None if self._intake.counters.failed else Mode.INCREMENTAL,
            complete=False,
            metadata=start.learnt,
        )

    def _is_wanted(self, path: str, text: TextFiles) -> bool:
        if path.startswith(WIKI):
            return False
        ignored = self._intake.counters.ignored
        if not is_within(path, self._address.path):
            ignored["out_of_scope"] += 1
            return False
        if not self._params["hidden"] and (path.startswith(".") or "/." in path):
            ignored["hidden"] += 1
            return False
        # Its blob id is not known yet; that of no file is empty.
        return text.wants(path, "")

    async def _look(
        self, text: TextFiles, includes: Includes, commit: str, path: str
    ) -> tuple[Item, Fetched | None] | None:
        found = await self._read_at(commit, path)
        if found is None:
            return None
        id_, body = found
        fetched = text.content(path, id_, body, url=self._address.page_of(path))
        fetched = await includes.followed(path, id_, fetched)
        return Item(reference=path, validators=Validators(id_)), fetched

    async def _read_included(self, commit: str, path: str) -> tuple[str, bytes] | None:
        if not is_within(path, self._address.path):
            return None
        found = await self._read_at(commit, path)
        return None if found is None or found[1] is None else (found[0], found[1])

    async def _read_at(self, commit: str, path: str) -> tuple[str, bytes | None] | None:
        """The id and the bytes of a file at a commit; None for nothing there, no bytes for too many."""
        body = await self._read_raw(commit, path)
        if body is not None:
            id_, size = blob_id(body, like=commit), len(body)
        else:
            content = await self._api.content(path, commit)
            if content is None:
                return None
            if content.why_not is not None:
                self._intake.counters.ignored[content.why_not] += 1
                return None
            id_, size, body = content.id, content.size, content.body
        if size > self._ports.fetch.max_body_bytes:
            return id_, None
        return id_, body if body is not None else await self._api.blob(id_)

    async def _read(self, file: File) -> bytes:
        body = await self._read_raw(self._branch, file.path)
        if body is not None and blob_id(body, like=file.id) == file.id:
            return body
        return await self._api.blob(file.id)

    async def _read_raw(self, name: str, path: str) -> bytes | None:
        """A file by branch or commit; None when it cannot be had from the host for raw files."""
        if self._raw is None:
            return None
        place = f"{self._raw_url}/{quote(f'{self._address.repository}/{name}/{path}')}"
        response = await self._raw.ask(Request(place))
        return response.body if response.status == 200 else None


KIND = Kind(
    name="github",
    params=PARAMS,
    claims=claims,
    prepare=prepare,
    sample=sample,
    covers=trees.covers,
    lists=True,
    harvest=harvest,
)
