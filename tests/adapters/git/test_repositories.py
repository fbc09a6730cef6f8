"""The `git` command as a port: what it asks for, what it refuses, and how its failures come out."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
from pathlib import Path

import pytest

from rowen.adapters.git import GitRepositories
from rowen.adapters.git.command import Git, failure
from rowen.errors import (
    ConfigError,
    ConnectionFailed,
    FetchTimeout,
    HostUnknown,
    RateLimited,
    RowenError,
    ServerFailed,
    Unfetchable,
)
from rowen.ports.repositories import Head
from tests.support.git_repository import WorkingCopy
from tests.support.site import Site

pytestmark = pytest.mark.anyio


@pytest.fixture
def copy(tmp_path: Path) -> WorkingCopy:
    made = WorkingCopy(tmp_path / "a repository")
    made.commit({"README.md": "# Farm\n", "docs/oats.md": "# Oats\n"})
    return made


@pytest.fixture
def repositories(tmp_path: Path) -> GitRepositories:
    return GitRepositories(tmp_path / "clones", dict(os.environ))


def address_of(copy: WorkingCopy) -> str:
    return copy.address.replace(" ", "%20")


async def test_the_head_is_where_the_default_branch_a_branch_or_a_tag_stands(
    copy: WorkingCopy, repositories: GitRepositories
) -> None:
    first = copy.git("rev-parse", "HEAD")
    copy.git("tag", "--annotate", "--message=one", "v1")
    second = copy.commit({"new.md": "# New\n"})
    address = address_of(copy)
    assert await repositories.head(address, None) == Head("HEAD", second)
    assert await repositories.head(address, "main") == Head("refs/heads/main", second)
    assert await repositories.head(address, "v1") == Head("refs/tags/v1", first)
    assert await repositories.head(address, first) == Head(first, first)
    with pytest.raises(Unfetchable, match="no branch or tag `nowhere`"):
        await repositories.head(address, "nowhere")


async def test_a_clone_without_files_brings_the_ones_that_are_wanted(
    copy: WorkingCopy, repositories: GitRepositories, tmp_path: Path
) -> None:
    address = address_of(copy)
    head = await repositories.head(address, None)
    async with repositories.open(address, head) as repository:
        entries = {entry.path: entry for entry in await repository.entries()}
        assert set(entries) == {"README.md", "docs/oats.md"}
        assert missing(tmp_path) == 2
        assert await repository.bring([entries["docs/oats.md"].id]) == 1
        assert missing(tmp_path) == 1
        assert await repository.read(entries["docs/oats.md"].id, max_bytes=100) == b"# Oats\n"
        # Not brought before: git gets it now.
        assert await repository.read(entries["README.md"].id, max_bytes=100) == b"# Farm\n"


async def test_what_is_at_hand_is_not_fetched_again(copy: WorkingCopy, repositories: GitRepositories) -> None:
    address = address_of(copy)
    head = await repositories.head(address, None)
    async with repositories.open(address, head) as repository:
        assert repository.fetched
    async with repositories.open(address, head) as repository:
        assert not repository.fetched
    copy.commit({"README.md": "# Changed\n"})
    async with repositories.open(address, await repositories.head(address, None)) as repository:
        assert repository.fetched
        assert len(await repository.entries()) == 2


async def test_a_server_that_cannot_leave_files_out_gives_them_all(
    tmp_path: Path, repositories: GitRepositories
) -> None:
    plain = WorkingCopy(tmp_path / "plain", filters=False)
    plain.commit({"a.md": "# A\n"})
    head = await repositories.head(plain.address, None)
    async with repositories.open(plain.address, head) as repository:
        (entry,) = await repository.entries()
        await repository.bring([entry.id])
        assert await repository.read(entry.id, max_bytes=100) == b"# A\n"


async def test_a_rewritten_history_is_followed(copy: WorkingCopy, repositories: GitRepositories) -> None:
    address = address_of(copy)
    async with repositories.open(address, await repositories.head(address, None)) as repository:
        await repository.entries()
    copy.write("README.md", "# Rewritten\n")
    copy.git("commit", "--quiet", "--all", "--amend", "--message=other")
    async with repositories.open(address, await repositories.head(address, None)) as repository:
        entry = next(entry for entry in await repository.entries() if entry.path == "README.md")
        assert await repository.read(entry.id, max_bytes=100) == b"# Rewritten\n"


async def test_a_broken_clone_is_made_again(
    copy: WorkingCopy, repositories: GitRepositories, tmp_path: Path
) -> None:
    address = address_of(copy)
    head = await repositories.head(address, None)
    async with repositories.open(address, head):
        pass
    (clone,) = (tmp_path / "clones").iterdir()
    (clone / "HEAD").unlink()
    async with repositories.open(address, head) as repository:
        assert len(await repository.entries()) == 2


async def test_a_file_that_is_too_large_or_missing_leaves_the_next_one_readable(
    copy: WorkingCopy, repositories: GitRepositories
) -> None:
    copy.commit({"large.md": "x" * 3_000_000})
    address = address_of(copy)
    async with repositories.open(address, await repositories.head(address, None)) as repository:
        ids = {entry.path: entry.id for entry in await repository.entries()}
        assert await repository.read(ids["large.md"], max_bytes=1_000) is None
        assert await repository.read(ids["README.md"], max_bytes=1_000) == b"# Farm\n"
        with pytest.raises((Unfetchable, ConnectionFailed)):
            await repository.read("0" * 39 + "1", max_bytes=1_000)
        assert await repository.read(ids["docs/oats.md"], max_bytes=1_000) == b"# Oats\n"


async def test_a_repository_that_goes_away_while_it_is_read_is_an_error_until_it_is_back(
    copy: WorkingCopy, repositories: GitRepositories
) -> None:
    address = address_of(copy)
    async with repositories.open(address, await repositories.head(address, None)) as repository:
        ids = {entry.path: entry.id for entry in await repository.entries()}
        away = copy.folder.rename(copy.folder.with_name("away"))
        with pytest.raises(RowenError, match="repository `git"):
            await repository.read(ids["README.md"], max_bytes=100)
        away.rename(copy.folder)
        assert await repository.read(ids["README.md"], max_bytes=100) == b"# Farm\n"


async def test_half_an_answer_is_not_taken_for_the_next_one(
    copy: WorkingCopy, repositories: GitRepositories
) -> None:
    copy.commit({"large.md": "x" * 3_000_000})
    address = address_of(copy)
    async with repositories.open(address, await repositories.head(address, None)) as repository:
        ids = {entry.path: entry.id for entry in await repository.entries()}
        reading = asyncio.create_task(repository.read(ids["large.md"], max_bytes=9_000_000))
        for _ in range(3):
            # The question is on its way, and an answer of this size takes more turns than these.
            await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert await repository.read(ids["README.md"], max_bytes=100) == b"# Farm\n"


async def test_a_server_of_plain_files_gives_its_whole_history(
    copy: WorkingCopy, repositories: GitRepositories
) -> None:
    copy.commit({"README.md": "# Second\n"})
    copy.git("update-server-info")
    root = copy.folder / ".git"
    files = {f"/acre.git/{path.relative_to(root)}": path for path in root.rglob("*") if path.is_file()}
    with Site({path: file.read_bytes() for path, file in files.items()}) as site:
        address = f"git+{site.url}/acre.git"
        async with repositories.open(address, await repositories.head(address, None)) as repository:
            ids = {entry.path: entry.id for entry in await repository.entries()}
            assert await repository.bring(list(ids.values())) == 0
            assert await repository.read(ids["README.md"], max_bytes=100) == b"# Second\n"
            with pytest.raises(Unfetchable, match="no blob"):
                await repository.read("0" * 39 + "1", max_bytes=100)
        latest = copy.commit({"README.md": "# Third\n"})
        copy.git("update-server-info")
        for file in (path for path in root.rglob("*") if path.is_file()):
            site.set(f"/acre.git/{file.relative_to(root)}", file.read_bytes())
        site.clear_log()
        async with repositories.open(address, Head("HEAD", latest)) as repository:
            assert len(await repository.entries()) == 2
        # Three new objects; what the clone held is not asked for again.
        assert sum("/objects/" in asked.path and asked.status == 200 for asked in site.requests) == 3


async def test_names_with_odd_letters_come_out_as_they_are(
    copy: WorkingCopy, repositories: GitRepositories
) -> None:
    copy.commit({"Käse\tund Brot.md": "# Käse\n"})
    address = address_of(copy)
    async with repositories.open(address, await repositories.head(address, None)) as repository:
        assert "Käse\tund Brot.md" in {entry.path for entry in await repository.entries()}


async def test_a_repository_that_is_not_there_says_so(tmp_path: Path, repositories: GitRepositories) -> None:
    with pytest.raises(Unfetchable, match="repository `git\\+file:///nowhere/at/all`"):
        await repositories.head("git+file:///nowhere/at/all", None)
    empty = WorkingCopy(tmp_path / "empty")
    with pytest.raises(Unfetchable, match="it is empty"):
        await repositories.head(empty.address, None)


async def test_a_machine_without_git_gets_a_clear_word(tmp_path: Path) -> None:
    repositories = GitRepositories(tmp_path, dict(os.environ), program="git-that-is-not-installed")
    with pytest.raises(ConfigError, match="not installed") as caught:
        await repositories.head("git+file:///anything/at", None)
    assert "install git" in str(caught.value.hint)


async def test_a_git_that_hangs_is_ended_with_its_helpers(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    slow = a_program(tmp_path, f"sleep 600 & echo $! $$ > {pids}\nwait")
    git = Git(dict(os.environ), program=str(slow), timeout_s=1.0)
    with pytest.raises(FetchTimeout, match="longer than 1 s"):
        await git.run("repository `x`", "fetch")
    for pid in pids.read_text().split():
        await until_gone(int(pid))


async def test_git_is_started_without_questions_hooks_or_odd_transports(tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    spy = a_program(tmp_path, f'echo "$@" > {shown}; env >> {shown}')
    environment = {**os.environ, "GIT_DIR": "/elsewhere", "GIT_SSH_COMMAND": "my-ssh"}
    repositories = GitRepositories(tmp_path, environment, program=str(spy))
    with pytest.raises(Unfetchable):
        await repositories.head("git+https://example.org/a.git", "-x")
    words = shown.read_text()
    assert "protocol.ext.allow=never" in words
    assert f"core.hooksPath={os.devnull}" in words
    assert "http.followRedirects=false" in words
    assert "-- https://example.org/a.git refs/heads/-x" in words
    lines = words.splitlines()
    assert {"GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh"} <= set(lines)
    assert "GIT_SSH_COMMAND=my-ssh" in lines
    assert not [line for line in lines if line.startswith("GIT_DIR=")]


async def test_a_transport_that_runs_programs_is_not_allowed(
    tmp_path: Path, repositories: GitRepositories
) -> None:
    with pytest.raises(Unfetchable, match="not allowed"):
        await repositories.head(f"git+ext::touch {tmp_path}/made", None)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("fatal: unable to access 'https://x/': Could not resolve host: x", HostUnknown),
        ("fatal: unable to access 'https://x/': The requested URL returned error: 503", ServerFailed),
        ("fatal: could not read Username for 'https://x': terminal prompts disabled", Unfetchable),
        ("git@x: Permission denied (publickey).\nfatal: Could not read from remote repository.", Unfetchable),
        ("fatal: repository 'https://x/' not found", Unfetchable),
        ("fatal: unable to access 'https://x/': Failed to connect to x port 443", ConnectionFailed),
        ("", ConnectionFailed),
    ],
)
def test_what_git_says_becomes_one_of_our_errors(said: str, kind: type[Exception]) -> None:
    assert type(failure("repository `x`", said.encode())) is kind


@pytest.mark.parametrize(
    ("answer", "kind", "hint"),
    [
        ({"redirect": "http://127.0.0.1:1/elsewhere.git"}, Unfetchable, "another address"),
        ({"status": 404}, Unfetchable, "check the address"),
        ({"status": 401, "headers": {"WWW-Authenticate": "Basic realm=x"}}, Unfetchable, "credential helper"),
        ({"status": 500}, ServerFailed, "None"),
        ({"status": 429}, RateLimited, "None"),
        ({"reset": True}, ConnectionFailed, "None"),
    ],
)
async def test_a_server_that_does_not_answer_well_is_an_error(
    repositories: GitRepositories, answer: dict[str, object], kind: type[RowenError], hint: str
) -> None:
    with Site() as site:
        site.set("/acre.git/info/refs", "", **answer)
        with pytest.raises(kind) as caught:
            await repositories.head(f"git+{site.url}/acre.git", None)
        assert hint in str(caught.value.hint)


def test_a_password_in_what_git_says_is_not_repeated() -> None:
    exc = failure("repository `x`", b"fatal: unable to access 'https://me:hunter2@x/': it failed")
    assert "hunter2" not in exc.message


def a_program(folder: Path, script: str) -> Path:
    program = folder / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


async def until_gone(pid: int) -> None:
    async with asyncio.timeout(120):
        while Path(f"/proc/{pid}").exists() and "Z" not in state_of(pid):  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0.01)


def state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2]
    except OSError:
        return "Z"


def missing(tmp_path: Path) -> int:
    """Files the clone knows of and does not hold."""
    (clone,) = (tmp_path / "clones").iterdir()
    listing = subprocess.run(
        ["git", f"--git-dir={clone}", "rev-list", "--objects", "--missing=print", "--all"],
        capture_output=True,
        check=True,
        text=True,
    )
    return sum(line.startswith("?") for line in listing.stdout.splitlines())
