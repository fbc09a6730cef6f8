"""Repositories that others name: by https to public addresses, the very ones that were looked at."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowen.adapters.git import GitRepositories
from rowen.adapters.git.command import Git
from rowen.adapters.git.public import pins
from rowen.errors import AddressRefused, ConfigError, HostUnknown, RowenError, Unfetchable
from rowen.ports.repositories import Head, Repositories
from tests.support.git_repository import WorkingCopy
from tests.support.names import Names
from tests.support.site import Site

pytestmark = pytest.mark.anyio

SOMEWHERE = "93.184.215.14"


def public(
    folder: Path,
    *,
    program: str = "git",
    allow_private: bool = False,
    roots: tuple[Path, ...] = (),
    environment: dict[str, str] | None = None,
) -> Repositories:
    operators = GitRepositories(folder / "clones", environment or dict(os.environ), program=program)
    return operators.public(
        may_read=lambda path: any(Path(path).is_relative_to(root) for root in roots),
        allow_private=allow_private,
    )


@pytest.fixture
def private() -> Iterator[Site]:
    with Site({"/acre.git/info/refs": "secret"}) as site:
        yield site
        assert site.requests == []


def a_spy(folder: Path, *, version: str = "2.39.5") -> tuple[Path, Path]:
    """A git that writes down how it was started and knows no branch."""
    shown, program = folder / "shown", folder / "program"
    program.write_text(
        f'#!/bin/sh\ncase "$*" in *" version") echo "git version {version}"; exit;; esac\n'
        f'echo "$@" >> {shown}; env >> {shown}\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program, shown


@pytest.mark.parametrize(
    "address",
    [
        "git+ssh://git@git.example/acre/docs.git",
        "git+git://git.example/acre/docs.git",
        "git+http://git.example/acre/docs.git",
        "git+file:///etc/repository",
        "git+https://127.0.0.1/acre/docs.git",
        "git+https://127.1/acre/docs.git",
        "git+https://0x7f000001/acre/docs.git",
        "git+https://2130706433/acre/docs.git",
        "git+https://[::1]/acre/docs.git",
        "git+https://[::ffff:127.0.0.1]/acre/docs.git",
        "git+https://10.0.0.1/acre/docs.git",
        "git+https://169.254.169.254/acre/docs.git",
        "git+https://inside.example/acre/docs.git",
        "git+https://half.example/acre/docs.git",
        "git+https://open.example./acre/docs.git",
        "git+https://%6fpen.example/acre/docs.git",
        "git+https://öpen.example/acre/docs.git",
        "git+https://open.example:port/acre/docs.git",
        "git+ext::touch /tmp/made",
    ],
)
async def test_git_is_not_started_for_an_address_that_is_not_open_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    Names(
        {
            "inside.example": [["10.0.0.1"]],
            "half.example": [[SOMEWHERE, "127.0.0.1"]],
            "open.example": [[SOMEWHERE]],
            "open.example.": [[SOMEWHERE]],
            "git.example": [[SOMEWHERE]],
        }
    ).put_in_place(monkeypatch)
    program, shown = a_spy(tmp_path)
    repositories = public(tmp_path, program=str(program))
    with pytest.raises(AddressRefused):
        await repositories.head(address, None)
    with pytest.raises(AddressRefused):
        async with repositories.open(address, Head("HEAD", "a" * 40)):
            pass
    assert not shown.exists()


async def test_git_is_held_to_the_addresses_that_were_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = Names({"git.example": [[SOMEWHERE, "2606:2800:21f::1"], ["127.0.0.1"]]})
    names.put_in_place(monkeypatch)
    program, shown = a_spy(tmp_path)
    repositories = public(tmp_path, program=str(program))
    with pytest.raises(Unfetchable):
        await repositories.head("git+https://git.example/acre/docs.git", None)
    words = shown.read_text()
    for name in ("git.example", "*"):
        assert f"http.curloptResolve={name}:443:{SOMEWHERE},[2606:2800:21f::1]" in words
    assert names.asked == ["git.example"]
    with pytest.raises(AddressRefused):
        await repositories.head("git+https://git.example/acre/docs.git", None)


async def test_nothing_of_the_operator_goes_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Names({"git.example": [[SOMEWHERE]]}).put_in_place(monkeypatch)
    program, shown = a_spy(tmp_path)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/home/operator",
        "https_proxy": "http://10.0.0.1:3128",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "http.extraHeader",
        "GIT_CONFIG_VALUE_0": "Authorization: Basic secret",
        "SSH_AUTH_SOCK": "/run/agent",
        "GITHUB_TOKEN": "secret",
    }
    repositories = public(tmp_path, program=str(program), environment=environment)
    with pytest.raises(Unfetchable):
        await repositories.head("git+https://git.example/acre/docs.git", None)
    lines = shown.read_text().splitlines()
    assert {"GIT_ALLOW_PROTOCOL=https", f"GIT_CONFIG_GLOBAL={os.devnull}", f"HOME={os.devnull}"} <= set(lines)
    assert not [line for line in lines if "secret" in line or "10.0.0.1" in line or "agent" in line]


async def test_a_git_that_cannot_be_held_to_an_address_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Names({"git.example": [[SOMEWHERE]]}).put_in_place(monkeypatch)
    program, shown = a_spy(tmp_path, version="2.36.6")
    with pytest.raises(ConfigError, match="too old"):
        await public(tmp_path, program=str(program)).head("git+https://git.example/acre/docs.git", None)
    assert not shown.exists()


async def test_a_host_that_is_unknown_may_be_known_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Names({}).put_in_place(monkeypatch)
    with pytest.raises(HostUnknown):
        await public(tmp_path).head("git+https://git.example/acre/docs.git", None)


async def test_the_real_git_goes_where_the_pin_says_and_asks_nobody_for_the_name() -> None:
    with Site({"/acre.git/info/refs": ""}) as site:
        settings = pins("nowhere.invalid", site.port, ["127.0.0.1"])
        git = Git(dict(os.environ), timeout_s=20, protocols="http", settings=settings)
        for host in ("nowhere.invalid", "another.invalid"):
            await git.run("x", "ls-remote", "--", f"http://{host}:{site.port}/acre.git")
            assert site.requests[-1].headers["Host"] == f"{host}:{site.port}"


async def test_a_redirect_of_a_git_server_is_not_followed(private: Site) -> None:
    with Site(host="127.0.0.2") as site:
        site.set("/acre.git/info/refs", redirect=f"{private.url}/acre.git/info/refs")
        settings = pins("git.invalid", site.port, ["127.0.0.2"])
        git = Git(dict(os.environ), timeout_s=20, protocols="http", settings=settings)
        with pytest.raises(Unfetchable):
            await git.run("x", "ls-remote", "--", f"http://git.invalid:{site.port}/acre.git")
        assert site.requests


async def test_a_repository_below_an_allowed_folder_is_read(tmp_path: Path) -> None:
    copy = WorkingCopy(tmp_path / "allowed" / "acre docs")
    copy.commit({"README.md": "# Farm\n"})
    address = copy.address.replace(" ", "%20")
    repositories = public(tmp_path, roots=(tmp_path / "allowed",))
    head = await repositories.head(address, None)
    async with repositories.open(address, head) as repository:
        (entry,) = await repository.entries()
        assert await repository.read(entry.id, max_bytes=100) == b"# Farm\n"
    with pytest.raises(AddressRefused):
        await public(tmp_path, roots=(tmp_path / "other",)).head(address, None)


async def test_what_the_operators_credentials_brought_is_not_for_others(tmp_path: Path) -> None:
    copy = WorkingCopy(tmp_path / "acre")
    commit = copy.commit({"README.md": "# Farm\n"})
    operators = GitRepositories(tmp_path / "clones", dict(os.environ))
    async with operators.open(copy.address, Head(commit, commit)):
        pass
    others = operators.public(may_read=lambda path: False, allow_private=False)
    with pytest.raises(AddressRefused):
        await others.head(copy.address, commit)
    with pytest.raises(AddressRefused):
        async with others.open(copy.address, Head(commit, commit)):
            pass
    assert others.public(may_read=lambda path: True, allow_private=True) is others


async def test_the_operator_can_lift_it(tmp_path: Path) -> None:
    with Site({"/acre.git/info/refs": ""}) as site:
        with pytest.raises(RowenError) as caught:
            await public(tmp_path, allow_private=True).head(f"git+{site.url}/acre.git", None)
        assert not isinstance(caught.value, AddressRefused)
        assert site.requests
        with pytest.raises(AddressRefused):
            await public(tmp_path, allow_private=True).head("git+ssh://git@127.0.0.1/acre.git", None)


def a_trap(folder: Path, kind: str, elsewhere: Path) -> Path:
    """A repository below an allowed folder that leads to another one."""
    trap = folder / "trap"
    if kind == "file":
        folder.mkdir()
        trap.write_text(f"gitdir: {elsewhere / '.git'}\n")
        return trap
    if kind in ("gitfile", "link"):
        trap.mkdir(parents=True)
        if kind == "gitfile":
            (trap / ".git").write_text(f"gitdir: {elsewhere / '.git'}\n")
        else:
            (trap / ".git").symlink_to(elsewhere / ".git")
        return trap
    copy = WorkingCopy(trap)
    copy.commit({"own.md": "# Own\n"})
    objects = elsewhere / ".git" / "objects"
    if kind == "relative alternates":
        named = os.path.relpath(objects, trap / ".git" / "objects")
    elif kind == "quoted alternates":
        named = '"' + str(objects).replace("o", "\\157") + '"'
    else:
        named = str(objects)
    if kind == "commondir":
        (trap / ".git" / "commondir").write_text(f"{elsewhere / '.git'}\n")
    elif kind == "linked pack":
        (trap / ".git" / "objects" / "pack").rmdir()
        (trap / ".git" / "objects" / "pack").symlink_to(objects / "pack")
    else:
        (trap / ".git" / "objects" / "info" / "alternates").write_text(f"# borrowed\n{named}\n")
    return trap


@pytest.mark.parametrize(
    "kind",
    [
        "gitfile",
        "file",
        "link",
        "alternates",
        "relative alternates",
        "quoted alternates",
        "commondir",
        "linked pack",
    ],
)
async def test_a_repository_does_not_lead_out_of_the_allowed_folders(tmp_path: Path, kind: str) -> None:
    secret = WorkingCopy(tmp_path / "secret")
    secret.commit({"secret.md": "# Secret\n"})
    trap = a_trap(tmp_path / "allowed", kind, tmp_path / "secret")
    address = f"git+file://{trap}"
    with pytest.raises(AddressRefused, match="leads out of the folders"):
        await public(tmp_path, roots=(tmp_path / "allowed",)).head(address, None)
    if kind in ("gitfile", "alternates"):
        # Inside of what may be read, both are ways in which git keeps repositories.
        assert await public(tmp_path, roots=(tmp_path,)).head(address, None)


async def test_a_sibling_of_the_allowed_folder_is_not_taken_for_it(tmp_path: Path) -> None:
    (tmp_path / "allowed").mkdir()
    WorkingCopy(tmp_path / "allowed.git").commit({"secret.md": "# Secret\n"})
    with pytest.raises(AddressRefused):
        await public(tmp_path, roots=(tmp_path / "allowed",)).head(f"git+file://{tmp_path}/allowed", None)
