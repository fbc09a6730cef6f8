"""Servers with certificates that this machine does not know: what is said, and how to trust one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rowen.core.run import RunStatus, StopReason
from rowen.core.source import API
from rowen.doors.cli import main
from rowen.engine.ports import FetchSettings
from rowen.errors import BadLocation, ConfigError
from rowen.managing import sources
from tests.support.certificates import self_signed, server_context
from tests.support.site import Site, html
from tests.support.world import a_page, a_world

pytestmark = pytest.mark.anyio


def a_secure_site(certificate: Path, *, host: str = "localhost") -> Site:
    pages = {"/": html("Home", "root", links=["/a"]), "/a": a_page("/a", "oats")}
    return Site(dict(pages), host=host, tls=server_context(certificate))


@pytest.mark.parametrize(
    ("options", "host", "fact", "hint"),
    [
        ({}, "localhost", "is self-signed, or its authority is not known", "ca_file"),
        ({"days": 0}, "localhost", "has expired", "clock of this machine"),
        ({"begins": 1, "days": 2}, "localhost", "is not valid yet", "clock of this machine"),
        ({"host": "docs.example"}, "localhost", "is for another host", "use the name"),
        ({"host": "docs.example"}, "127.0.0.1", "is for another host", "use the name"),
    ],
)
async def test_a_certificate_that_proves_nothing_is_refused_with_its_own_reason(
    tmp_path: Path, options: dict[str, object], host: str, fact: str, hint: str
) -> None:
    certificate = self_signed(tmp_path, **options)  # type: ignore[arg-type]
    with a_secure_site(certificate, host=host) as site:
        async with a_world(tmp_path, site) as world:
            settings = {} if fact.startswith("is self") else {"ca_file": str(certificate)}
            with pytest.raises(BadLocation, match=fact) as refused:
                await sources.add(world.ports, site.url, name="docs", settings=settings)
            assert f"the certificate of `{host}`" in refused.value.message
            assert hint in (refused.value.hint or "")
            assert site.requests == []


async def test_a_ca_file_makes_a_source_trust_its_server_and_no_other(tmp_path: Path) -> None:
    certificate = self_signed(tmp_path)
    with a_secure_site(certificate) as site:
        async with a_world(tmp_path, site) as world:
            await world.add(ca_file=certificate)
            assert (await world.sync()).status is RunStatus.COMPLETED
            assert await world.found("oats") == ["/a"]
            with pytest.raises(BadLocation, match="self-signed"):
                await world.add("other")


async def test_a_server_that_changes_its_certificate_stops_the_run_and_readers_keep_what_they_see(
    tmp_path: Path,
) -> None:
    trusted = self_signed(tmp_path)
    with a_secure_site(trusted) as site:
        port = site.port
        async with a_world(tmp_path, site) as world:
            await world.add(ca_file=trusted)
            await world.sync()
            site.stop()
            (tmp_path / "other").mkdir()
            other = Site(port=port, host="localhost", tls=server_context(self_signed(tmp_path / "other")))
            with other:
                receipt = await world.sync()
            assert (receipt.status, receipt.stop_reason) == (RunStatus.FAILED, StopReason.HOST_UNAVAILABLE)
            assert "is self-signed" in (receipt.error or "")
            assert "ca_file" in (receipt.hint or "")
            assert (receipt.counters.retries, receipt.counters.deleted) == (0, 0)
            assert await world.found("oats") == ["/a"]


@pytest.mark.parametrize(
    ("content", "fact"), [(None, "cannot be read: No such file"), ("no PEM", "holds no certificate")]
)
async def test_a_ca_file_that_is_none_is_a_setting_to_fix(
    tmp_path: Path, content: str | None, fact: str
) -> None:
    with a_secure_site(self_signed(tmp_path)) as site:
        async with a_world(tmp_path, site) as world:
            file = tmp_path / "ca.pem"
            if content is not None:
                file.write_text(content)
            with pytest.raises(ConfigError, match=fact):
                await world.add(ca_file=file)
            with pytest.raises(ConfigError, match="expected an absolute path"):
                await world.add(ca_file="ca.pem")


@pytest.mark.parametrize("check", [True, False])
async def test_a_source_added_by_api_reads_a_ca_file_below_the_allowed_folders_only(
    tmp_path: Path, check: bool
) -> None:
    allowed = tmp_path / "certificates"
    allowed.mkdir()
    certificate = self_signed(allowed)
    with a_secure_site(certificate) as site:
        async with a_world(tmp_path, site) as world:

            async def add() -> object:
                return await sources.add(
                    world.ports,
                    site.url,
                    name="docs",
                    settings={"ca_file": str(certificate)},
                    check=check,
                    origin=API,
                )

            world.ports = replace(world.ports, fetch=FetchSettings(allow_private=True))
            with pytest.raises(ConfigError, match="ca_file"):
                await add()
            fetch = FetchSettings(allow_private=True, allowed_roots=(str(allowed),))
            world.ports = replace(world.ports, fetch=fetch)
            await add()
            assert (await world.sync()).status is RunStatus.COMPLETED
            world.ports = replace(world.ports, fetch=FetchSettings(allow_private=True))
            assert (await world.sync()).status is RunStatus.FAILED


def test_the_command_line_says_how_to_trust_a_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with a_secure_site(self_signed(tmp_path)) as site:
        store = f"sqlite:///{tmp_path}/rowen.db"
        assert main(["--db", store, "add", site.url, "--name", "docs"]) == 2
        assert "--set ca_file=/path/ca.pem" in " ".join(capsys.readouterr().err.split())
