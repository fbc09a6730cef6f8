"""GitHub's API with commits, and the pushes it tells others about: written from its documentation.

    with PushingApi() as api:
        docs = api.repository("acre/docs", {"README.md": "# Docs"})
        payload = api.push("acre/docs", {"README.md": "# New"}, remove=["old.md"])
        ...
        await post(payload, api.headers(payload, secret="..."))

A commit is a snapshot of the default branch; files can be read at any of them, by the API and as raw files.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from aiohttp import web

from rowen.core.exchange.git import blob_id
from rowen.service.hooks.rules import hub_signature
from tests.support.github_api import FakeRepository, GitHubApi

NOTHING = "0" * 40
LARGE_BYTES = 1_000_000
"""Larger files do not come along with what is said of them."""


class PushingApi(GitHubApi):
    def __init__(self) -> None:
        super().__init__()
        self.commits: dict[str, dict[str, tuple[str, bytes]]] = {}
        self.heads: dict[str, str] = {}
        self.deliveries = 0
        self.odd: dict[str, str] = {}
        """Ends of paths to what is answered there, with 200."""

    def repository(
        self, name: str, files: Mapping[str, str | bytes] | None = None, **options: str
    ) -> FakeRepository:
        made = super().repository(name, files, **options)
        self.commit(made)
        return made

    def commit(self, repository: FakeRepository) -> str:
        """The default branch as it is now; answers the commit's id."""
        snapshot = dict(repository.files)
        text = f"{len(self.commits)} {sorted(snapshot.items())!r}"
        id_ = hashlib.sha1(text.encode()).hexdigest()
        self.commits[id_] = snapshot
        self.heads[repository.name] = id_
        return id_

    def push(
        self,
        name: str,
        files: Mapping[str, str | bytes] | None = None,
        *,
        remove: Sequence[str] = (),
        **payload: Any,
    ) -> dict[str, Any]:
        """One commit with these changes; answers what GitHub would tell of it."""
        repository = self.repositories[name]
        before = self.heads[name]
        known = set(repository.files)
        for path, content in (files or {}).items():
            repository.write(path, content)
        for path in remove:
            repository.delete(path)
        after = self.commit(repository)
        changed = list(files or {})
        return push_payload(
            name,
            before=before,
            after=after,
            commits=[
                {
                    "id": after,
                    "added": [path for path in changed if path not in known],
                    "modified": [path for path in changed if path in known],
                    "removed": list(remove),
                }
            ],
            **payload,
        )

    def headers(self, body: bytes, *, secret: str, event: str = "push") -> dict[str, str]:
        """As GitHub sends them; each delivery has a name of its own."""
        self.deliveries += 1
        return {
            "Content-Type": "application/json",
            "X-GitHub-Event": event,
            "X-GitHub-Delivery": f"72d3162e-cc78-11e3-81ab-{self.deliveries:012}",
            "X-Hub-Signature-256": hub_signature(secret, body),
        }

    # The server

    def _asked(self, request: web.BaseRequest, parts: list[str], *, recursive: bool) -> web.Response:
        repository = self.repositories.get("/".join(parts[1:3]))
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if repository is None or (repository.private_token and repository.private_token != token):
            return super()._asked(request, parts, recursive=recursive)
        for end, said in self.odd.items():
            if unquote(request.raw_path.partition("?")[0]).endswith(end):
                return web.Response(text=said)
        match parts[3:]:
            case ["commits", name]:
                return self._commit_id(request, repository, unquote(name))
            case ["contents", *path]:
                ref = request.raw_path.partition("?ref=")[2]
                return self._content(request, self.commits.get(ref, {}), unquote("/".join(path)))
        return super()._asked(request, parts, recursive=recursive)

    def _commit_id(self, request: web.BaseRequest, repository: FakeRepository, name: str) -> web.Response:
        is_head = name in ("HEAD", repository.default_branch)
        id_ = self.heads[repository.name] if is_head else name
        if id_ not in self.commits:
            return self._said(422, f"No commit found for SHA: {name}")
        assert request.headers["Accept"] == "application/vnd.github.sha"
        return web.Response(text=id_, content_type="application/vnd.github.sha")

    def _content(
        self, request: web.BaseRequest, files: Mapping[str, tuple[str, bytes]], path: str
    ) -> web.Response:
        if any(one.startswith(f"{path}/") for one in files):
            return web.json_response([{"type": "file"}])
        if path not in files:
            return self._said(404, "Not Found")
        mode, body = files[path]
        answer: dict[str, object] = {"path": path, "sha": blob_id(body, like=""), "size": len(body)}
        if mode == "160000":
            return self._json(request, {**answer, "type": "submodule"})
        if mode == "120000":
            target = body.decode()
            if target not in files:
                return self._json(request, {**answer, "type": "symlink", "target": target})
            # The content of the file it points at, under the name of the link.
            body = files[target][1]
        if len(body) > LARGE_BYTES:
            return self._json(request, {**answer, "type": "file", "encoding": "none", "content": ""})
        content = base64.encodebytes(body).decode()
        return self._json(request, {**answer, "type": "file", "encoding": "base64", "content": content})

    def _raw(self, parts: list[str]) -> web.Response:
        if parts[2] not in self.commits:
            return super()._raw(parts)
        file = self.commits[parts[2]].get("/".join(parts[3:]))
        return web.Response(status=404) if file is None else web.Response(body=file[1])


def push_payload(name: str, **said: Any) -> dict[str, Any]:
    """What GitHub tells of a push, as far as anybody here looks."""
    return {
        "ref": "refs/heads/main",
        "before": NOTHING,
        "after": NOTHING,
        "created": False,
        "deleted": False,
        "forced": False,
        "commits": [],
        "repository": {
            "full_name": name,
            "html_url": f"https://github.com/{name}",
            "clone_url": f"https://github.com/{name}.git",
            "ssh_url": f"git@github.com:{name}.git",
            "git_url": f"git://github.com/{name}.git",
            "default_branch": "main",
        },
        **said,
    }


def encoded(payload: Mapping[str, Any]) -> bytes:
    return json.dumps(payload).encode()
