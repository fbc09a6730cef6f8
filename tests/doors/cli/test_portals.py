"""`rowen add --from portals.toml`: all of them or, when one is wrong, none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors.conftest import Rowen
from tests.support.ckan_server import CkanServer, a_dataset, datasets


@pytest.fixture
def portal() -> Iterator[CkanServer]:
    with CkanServer(datasets(25)) as server:
        yield server


def write(folder: Path, text: str) -> str:
    file = folder / "portals.toml"
    file.write_text(text)
    return str(file)


def test_all_enabled_portals_are_added_and_synced(rowen: Rowen, portal: CkanServer, tmp_path: Path) -> None:
    file = write(
        tmp_path,
        f"""
        [[portals]]
        name = "one"
        url = "{portal.url}"
        type = "ckan"
        language = "de"
        [[portals]]
        name = "two"
        url = "{portal.url}/dataset"
        [[portals]]
        name = "off"
        url = "https://off.example.org"
        enabled = false
        """,
    )
    ended = rowen("add", "--from", file)
    assert ended.code == 0, ended.err
    assert [line.split()[:2] for line in ended.out.splitlines()] == [
        ["added", "one"],
        ["added", "two"],
        ["disabled", "off"],
    ]
    assert portal.asked == []
    outcomes = [value["outcome"] for value in rowen("add", "--from", file, "--json").lines]
    assert outcomes == ["exists", "exists", "disabled"]
    receipts = rowen("sync", "--json").lines
    assert [(value["source"], value["created"]) for value in receipts[:2]] == [("one", 25), ("two", 25)]


def test_a_mistake_in_one_portal_adds_none(rowen: Rowen, portal: CkanServer, tmp_path: Path) -> None:
    good = f"[[portals]]\nname = 'good'\nurl = '{portal.url}'\n"
    for bad, said in [
        ("[[portals]]\nname = 'bad'\nurl = 'https://x.org'\nlanguag = 'de'\n", "did you mean `language`?"),
        ("[[portals]]\nname = 'bad'\nurl = 'https://x.org'\ntype = 'ckann'\n", "did you mean `ckan`?"),
        ("[[portals]]\nname = 'b d'\nurl = 'https://x.org'\n", "portal `b d`"),
        ("[[portals]]\nname = 'bad'\nurl = 'https://u:p@x.org'\n", "holds a user name or password"),
    ]:
        ended = rowen("add", "--from", write(tmp_path, good + bad))
        assert (ended.code, said in ended.err) == (2, True), ended.err
    assert rowen("status", "--json").json["sources"] == []


def test_portals_are_asked_when_wanted(rowen: Rowen, portal: CkanServer, tmp_path: Path) -> None:
    file = write(tmp_path, f"[[portals]]\nname = 'gone'\nurl = '{portal.url}/nowhere'\n")
    ended = rowen("add", "--from", file, "--check")
    assert (ended.code, "404 from the portal" in ended.err) == (2, True)


def test_the_file_says_everything(rowen: Rowen, tmp_path: Path) -> None:
    assert rowen("add", "--from", str(tmp_path / "none.toml")).code == 2
    ended = rowen("add", "https://x.org", "--from", write(tmp_path, ""))
    assert (ended.code, "the file has the locations" in ended.err) == (2, True)


def test_a_dataset_is_shown_as_its_portal_sent_it(rowen: Rowen, portal: CkanServer) -> None:
    rowen("add", portal.url, "--name", "data", "--kind", "ckan")
    rowen("sync", "data")
    address = f"{portal.url}/dataset/dataset-7"
    assert "<https://example.org/7.csv>" in rowen("show", address).out
    assert json.loads(rowen("show", address, "--record").out) == a_dataset(7)
    shown = rowen("show", address, "--record", "--json").json
    assert (shown["reference"], shown["record"]) == ("id-000007", a_dataset(7))


def test_status_answers_how_the_last_sync_of_a_portal_went(rowen: Rowen, portal: CkanServer) -> None:
    rowen("add", portal.url, "--name", "data", "--kind", "ckan")
    rowen("sync", "data", "--full-sync")
    (first,) = rowen("status", "--json").json["sources"]
    assert (first["last_mode"], first["last_outcome"], first["last_processed"]) == ("full", "completed", 25)
    assert first["key"].startswith("ckan:data:")
    assert first["location"] == portal.url
    assert first["last_success_at"]
    rowen("sync", "data")
    (second,) = rowen("status", "--json").json["sources"]
    assert (second["last_mode"], second["last_processed"]) == ("incremental", 0)
    assert second["last_success_at"] >= first["last_success_at"]
