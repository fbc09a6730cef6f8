"""A server that behaves like GitHub's REST API, for as much of it as we ask: written from its documentation.

    with GitHubApi() as api:
        docs = api.repository("acre/docs", {"README.md": "# Docs"})
        ...
        docs.write("README.md", "# New")
        assert api.requests[-1].status == 304

Repositories, trees (by branch, tag or id; recursive; truncated past a limit), blobs (JSON or raw), ETags, the
hourly limit with its headers, redirects of renamed repositories, private ones, and raw files under `/raw`.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from urllib.parse import unquote

from aiohttp import web

from rowen.core.exchange.git import blob_id
from tests.support.site import Site

RESET_AFTER_S = 3600
START = 1_704_067_200
"""When the tests' clock starts, in the seconds of `x-ratelimit-reset`."""


class FakeRepository:
    def __init__(self, name: str, files: Mapping[str, str | bytes], *, branch: str = "main") -> None:
        self.name = name
        self.id = int(hashlib.sha256(name.encode()).hexdigest()[:7], 16)
        self.default_branch = branch
        self.branches: dict[str, dict[str, tuple[str, bytes]]] = {branch: {}}
        self.blobs: dict[str, bytes] = {}
        """By id; as in git, what was written once can be read for ever."""
        self.description: str | None = None
        self.has_wiki = False
        self.archived = False
        self.private_token: str | None = None
        """Only who sends this sees it."""
        self.stale_raw: dict[str, bytes] = {}
        """Paths whose raw copy has not caught up yet."""
        for path, content in files.items():
            self.write(path, content)

    @property
    def files(self) -> dict[str, tuple[str, bytes]]:
        return self.branches[self.default_branch]

    def write(self, path: str, content: str | bytes, *, mode: str = "100644", branch: str = "") -> None:
        body = content.encode() if isinstance(content, str) else content
        self.branches.setdefault(branch or self.default_branch, {})[path] = (mode, body)
        self.blobs[blob_id(body, like="")] = body

    def delete(self, path: str) -> None:
        del self.files[path]

    def rename_branch(self, new: str) -> None:
        self.branches[new] = self.branches.pop(self.default_branch)
        self.default_branch = new

    def folder(self, name: str) -> tuple[str, dict[str, tuple[str, bytes]]] | None:
        """The files of a branch, or below the folder with that id; with the id of the tree."""
        branch = self.default_branch if name == "HEAD" else name
        if branch in self.branches:
            return tree_id(self.branches[branch]), self.branches[branch]
        for files in self.branches.values():
            for path in {"", *folders_of(files)}:
                below = inside(files, path)
                if tree_id(below) == name:
                    return name, below
        return None


class GitHubApi(Site):
    def __init__(self) -> None:
        super().__init__()
        self.repositories: dict[str, FakeRepository] = {}
        self.renamed: dict[str, str] = {}
        self.max_entries = 100_000
        """More than this in a recursive tree, and it is truncated."""
        self.max_direct_entries = 100_000
        self.limit = 5_000
        self.used = 0
        self.failing: dict[str, int] = {}
        """Ends of paths to the status they answer."""
        self.failing_once: dict[str, int] = {}
        self.extra_headers: dict[str, str] = {}
        """Added to failing answers."""
        self.knows_head = True
        self.redirect_away: str | None = None

    def repository(
        self, name: str, files: Mapping[str, str | bytes] | None = None, **options: str
    ) -> FakeRepository:
        self.repositories[name] = made = FakeRepository(name, files or {}, **options)
        return made

    def rename(self, old: str, new: str) -> None:
        repository = self.repositories.pop(old)
        repository.name = new
        self.repositories[new] = repository
        self.renamed[old] = new

    @property
    def paths(self) -> list[str]:
        """What was asked, without the repository it was asked of."""
        return [asked.path.partition("/git/")[2] or asked.path for asked in self.requests]

    # The server

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        response = self._route(request)
        self._log(request, response.status)
        return response

    def _route(self, request: web.BaseRequest) -> web.Response:
        path, _, query = request.raw_path.partition("?")
        for end, status in {**self.failing, **self.failing_once}.items():
            if unquote(path).endswith(end):
                self.failing_once.pop(end, None)
                return self._said(status, "failed on purpose", self.extra_headers)
        parts = path.strip("/").split("/")
        if parts[0] == "raw":
            return self._raw([unquote(part) for part in parts[1:]])
        if self.used >= self.limit:
            return self._said(403, "API rate limit exceeded")
        response = self._asked(request, parts, recursive="recursive" in query)
        if response.status != 304:
            # A conditional request that is answered 304 does not count.
            self.used += 1
        response.headers.update(self._rate_headers())
        return response

    def _asked(self, request: web.BaseRequest, parts: list[str], *, recursive: bool) -> web.Response:
        if self.redirect_away is not None:
            return web.Response(status=301, headers={"Location": self.redirect_away})
        if parts[0] == "repositories":
            repository = next((r for r in self.repositories.values() if str(r.id) == parts[1]), None)
            rest = parts[2:]
        else:
            name = "/".join(parts[1:3])
            if name in self.renamed:
                new = self.repositories[self.renamed[name]]
                tail = "/".join(["", *parts[3:]]) + ("?recursive=1" if recursive else "")
                return web.Response(
                    status=301, headers={"Location": f"{self.url}/repositories/{new.id}{tail}"}
                )
            repository, rest = self.repositories.get(name), parts[3:]
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if token == "expired":
            return self._said(401, "Bad credentials")
        if repository is None or (repository.private_token and repository.private_token != token):
            return self._said(404, "Not Found")
        match rest:
            case []:
                return self._json(request, _facts(repository))
            case ["git", "trees", name]:
                return self._tree(request, repository, unquote(name), recursive=recursive)
            case ["git", "blobs", id_]:
                return self._blob(request, repository, id_)
        return self._said(404, "Not Found")

    def _tree(
        self, request: web.BaseRequest, repository: FakeRepository, name: str, *, recursive: bool
    ) -> web.Response:
        if not any(repository.branches.values()):
            return self._said(409, "Git Repository is empty.")
        found = repository.folder(name) if name != "HEAD" or self.knows_head else None
        if found is None:
            return self._said(404, "Not Found")
        id_, files = found
        entries = _entries(files, recursive=recursive)
        limit = self.max_entries if recursive else self.max_direct_entries
        return self._json(request, {"sha": id_, "tree": entries[:limit], "truncated": len(entries) > limit})

    def _blob(self, request: web.BaseRequest, repository: FakeRepository, id_: str) -> web.Response:
        body = repository.blobs.get(id_)
        if body is None:
            return self._said(404, "Not Found")
        if "raw" in request.headers.get("Accept", ""):
            return web.Response(body=body, content_type="application/vnd.github.raw+json")
        content = base64.b64encode(body).decode()
        return self._json(request, {"sha": id_, "encoding": "base64", "content": content})

    def _raw(self, parts: list[str]) -> web.Response:
        repository = self.repositories.get("/".join(parts[:2]))
        if repository is None or repository.private_token:
            return web.Response(status=404, text="404: Not Found")
        branch = repository.default_branch if parts[2] == "HEAD" else parts[2]
        path = "/".join(parts[3:])
        if path in repository.stale_raw:
            return web.Response(body=repository.stale_raw[path])
        file = repository.branches.get(branch, {}).get(path)
        return web.Response(status=404) if file is None else web.Response(body=file[1])

    def _json(self, request: web.BaseRequest, answer: dict[str, object]) -> web.Response:
        body = json.dumps(answer).encode()
        etag = f'W/"{hashlib.sha256(body).hexdigest()}"'
        if request.headers.get("If-None-Match") == etag:
            return web.Response(status=304, headers={"ETag": etag})
        return web.Response(body=body, content_type="application/json", headers={"ETag": etag})

    def _said(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> web.Response:
        return web.json_response(
            {"message": message}, status=status, headers={**self._rate_headers(), **(headers or {})}
        )

    def _rate_headers(self) -> dict[str, str]:
        return {
            "x-ratelimit-limit": str(self.limit),
            "x-ratelimit-remaining": str(max(0, self.limit - self.used)),
            "x-ratelimit-used": str(self.used),
            "x-ratelimit-reset": str(START + RESET_AFTER_S),
        }


def tree_id(files: Mapping[str, tuple[str, bytes]]) -> str:
    digest = hashlib.sha1()
    for path, (mode, body) in sorted(files.items()):
        digest.update(f"{mode} {path} {hashlib.sha1(body).hexdigest()}\n".encode())
    return digest.hexdigest()


def folders_of(files: Mapping[str, object]) -> set[str]:
    folders = set()
    for path in files:
        while "/" in path:
            path = path.rpartition("/")[0]
            folders.add(path)
    return folders


def inside(files: Mapping[str, tuple[str, bytes]], folder: str) -> dict[str, tuple[str, bytes]]:
    prefix = f"{folder}/" if folder else ""
    return {path.removeprefix(prefix): file for path, file in files.items() if path.startswith(prefix)}


def _entries(files: Mapping[str, tuple[str, bytes]], *, recursive: bool) -> list[dict[str, object]]:
    entries: list[dict[str, object]] = []
    for path, (mode, body) in files.items():
        if recursive or "/" not in path:
            kind = "commit" if mode == "160000" else "blob"
            entry: dict[str, object] = {
                "path": path,
                "mode": mode,
                "type": kind,
                "sha": blob_id(body, like=""),
            }
            entries.append(entry if kind == "commit" else {**entry, "size": len(body)})
    entries += [
        {"path": folder, "mode": "040000", "type": "tree", "sha": tree_id(inside(files, folder))}
        for folder in folders_of(files)
        if recursive or "/" not in folder
    ]
    return sorted(entries, key=lambda entry: str(entry["path"]))


def _facts(repository: FakeRepository) -> dict[str, object]:
    return {
        "id": repository.id,
        "full_name": repository.name,
        "default_branch": repository.default_branch,
        "description": repository.description,
        "private": repository.private_token is not None,
        "has_wiki": repository.has_wiki,
        "archived": repository.archived,
    }
