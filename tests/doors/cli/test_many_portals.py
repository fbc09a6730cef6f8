"""One `rowen sync` over many portals of mixed families, a third of them broken: every count is exact."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.doors.conftest import Rowen
from tests.support.portals.many import Many, a_network
from tests.support.portals.skeleton import Portals


def add_all(rowen: Rowen, many: Many, file: Path) -> None:
    """All are healthy when they are added: every fifth is asked what it is."""
    file.write_text(many.register())
    ended = rowen("add", "--from", str(file))
    assert (ended.code, ended.err.count("refused")) == (0, 0), ended.out


def synced(rowen: Rowen, *options: str) -> dict[str, dict[str, object]]:
    return {one["source"]: one for one in rowen("sync", "--json", *options).lines}


def seen_by_readers(rowen: Rowen) -> dict[str, int]:
    return {one["name"]: one["documents"] for one in rowen("status", "--json").json["sources"]}


def tried(rowen: Rowen, number: int, tmp_path: Path) -> None:
    many = a_network(number)
    with many.portals:
        add_all(rowen, many, tmp_path / "register.csv")
        families = many.portals.families
        first = {name: len(family.live) for name, family in families.items()}
        # A third never answers well.
        broken = many.breaks(0)
        runs = synced(rowen)
        assert {name for name, one in runs.items() if one["status"] == "failed"} == broken
        assert {name: one["created"] for name, one in runs.items()} == {
            name: 0 if name in broken else size for name, size in first.items()
        }
        assert all(one["error"] for name, one in runs.items() if name in broken)
        # Another third breaks; every portal loses its last dataset meanwhile.
        for family in families.values():
            del family.records[sorted(family.records)[-1]]
        now_broken = many.breaks(1)
        runs = synced(rowen, "--full-sync")
        assert {name for name, one in runs.items() if one["status"] == "failed"} == now_broken
        assert {name: one["deleted"] for name, one in runs.items()} == {
            name: int(name not in now_broken and name not in broken) for name in families
        }
        assert {name: one["created"] for name, one in runs.items()} == {
            name: first[name] - 1 if name in broken else 0 for name in families
        }
        assert seen_by_readers(rowen) == {
            name: size - (name not in now_broken) for name, size in first.items()
        }


def test_thirty_portals_a_third_of_them_broken(rowen: Rowen, tmp_path: Path) -> None:
    tried(rowen, 30, tmp_path)


@pytest.mark.torture
def test_three_hundred_portals_a_third_of_them_broken(rowen: Rowen, tmp_path: Path) -> None:
    tried(rowen, 300, tmp_path)


def test_a_register_survives_its_broken_third_and_a_table_says_who_answered_how(
    rowen: Rowen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROWEN_FETCH_ALLOW_PRIVATE", "true")
    many = a_network(15)
    with many.portals:
        broken = many.breaks(0)
        many.portals.set("/register.csv", many.register(), content_type="text/csv")
        lines = rowen("add", "--from", f"{many.portals.url}/register.csv", "--check", "--json").lines
        assert {one["source"] for one in lines if one["outcome"] == "refused"} == broken
        assert all(one["error"] for one in lines if one["outcome"] == "refused")
        many.breaks(1)
        ended = rowen("sync")
        table = [line.split() for line in ended.out.splitlines()]
        answered = {
            words[0]: words[2] for words in table if len(words) > 3 and words[0] in many.portals.families
        }
        assert set(answered) == set(many.portals.families) - broken
        assert {name for name, state in answered.items() if state == "failed"} == many.breaks(1) - broken


def test_a_list_that_is_not_there_is_said(rowen: Rowen) -> None:
    with Portals() as portals:
        ended = rowen("add", "--from", f"{portals.url}/none.json")
        assert (ended.code, "404 from the server" in ended.err) == (2, True)
        portals.set("/list.json", json.dumps([{"url": "http://127.0.0.1:1/x"}]))
        ended = rowen("add", "--from", f"{portals.url}/list.json")
        assert (ended.code, "refused" in ended.out) == (0, True)


@pytest.mark.parametrize("kind", ["ckan", ""])
def test_a_list_from_afar_leads_to_nothing_private(rowen: Rowen, kind: str) -> None:
    with Portals() as portals:
        inside = {"name": "inside", "url": f"{portals.url}/inside/ckan", "type": kind}
        portals.set("/list.json", json.dumps([inside]))
        rowen("add", "--from", f"{portals.url}/list.json")
        portals.clear_log()
        rowen("sync")
        assert portals.requests == []
        (told,) = rowen("add", "--from", f"{portals.url}/list.json", "--check", "--json").lines
        assert told["outcome"] in ("exists", "refused")
        assert [one.path for one in portals.requests] == ["/list.json"]


def test_a_list_from_afar_gets_no_variable_that_was_not_allowed(
    rowen: Rowen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "a-secret-of-mine")
    with Portals() as portals:
        portal = f"[[portals]]\nname = 'theirs'\nurl = '{portals.url}/theirs'\nbearer = '${{MY_TOKEN}}'\n"
        portals.set("/list.toml", portal, content_type="text/plain")
        ended = rowen("add", "--from", f"{portals.url}/list.toml")
        assert (ended.code, "portal `theirs`: setting `bearer`" in ended.err) == (2, True)
        assert [one.path for one in portals.requests] == ["/list.toml"]


def test_rows_of_a_register_that_become_no_source_are_counted_and_named(rowen: Rowen, tmp_path: Path) -> None:
    file = tmp_path / "register.csv"
    file.write_bytes(
        b"\xef\xbb\xbfname;url;software\r\nAlpha;http://127.0.0.1:1/a;CKAN\r\nAgain;http://127.0.0.1:1/a;CKAN\r\n"
        b";;\r\nbroken line\r\nSecrets;file:///etc/passwd;CKAN\r\n"
    )
    ended = rowen("add", "--from", str(file))
    assert ended.out.splitlines()[1:] == [
        "left out row 2 (Again): the address of `Alpha` again",
        "left out row 4 (broken line): no http or https address",
        "left out row 5 (Secrets): no http or https address",
    ]
    assert "1 of 1 added, 3 rows left out" in ended.err
    lines = rowen("add", "--from", str(file), "--json").lines
    assert [one["outcome"] for one in lines] == ["exists", *["left_out"] * 3]
    assert lines[3]["error"] == "row 5: no http or https address"
