"""Plug-ins by the command line: used by name, listed, and of no harm when they are broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.doors.conftest import Rowen
from tests.support.plugins import on_path, write_package

_MODULE = """
from rowen.plugin import (
    Fetched, Harvested, Item, Kind, Param, Prepared, Sent, SinkKind, StopReason, Validators, take_in, words
)

async def prepare(ports, location, *, settings, check):
    return Prepared(kind="fruit", location=location)

async def harvest(ports, source, params, intake):
    async def fetch(item):
        return Fetched(f"# {item.reference}\\n\\nA fruit.\\n".encode())

    items = [
        Item(reference=name, validators=Validators("v1"), url=f"fruit:{name}", content_type="text/markdown")
        for name in params["names"]
    ]
    await take_in(ports, intake, items, fetch, complete=True)
    return Harvested(stop_reason=StopReason.EXHAUSTED)

NAMES = Param(name="names", default=["pear", "plum"], parse=words, identity=False, help="Which fruits")
FRUIT = Kind(name="fruit", params=(NAMES,), prepare=prepare, harvest=harvest)

async def send(ports, sink, lease, *, force):
    page = await ports.store.feed(sink.cursor)
    return Sent(sent=len(page), cursor=page[-1].cursor if page else None)

BASKET = SinkKind(send=send, check=lambda ports, entry: {}, from_beginning=True)
"""
_GROUPS = {"rowen.kinds": {"fruit": "fruit_plugin:FRUIT"}, "rowen.sinks": {"basket": "fruit_plugin:BASKET"}}


@pytest.fixture
def packages(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    with on_path(folder):
        yield folder


@pytest.fixture
def fruit(packages: Path, rowen: Rowen) -> Callable[[], None]:
    """A source and a sink of a plug-in, synced once; call it to break the plug-in."""
    write_package(packages, "rowen-fruit", _GROUPS, modules={"fruit_plugin": _MODULE})
    listed = packages / "rowen.toml"
    listed.write_text(
        '[[sources]]\nname = "fruit"\nlocation = "basket"\nkind = "fruit"\n'
        '[[sinks]]\nname = "basket"\nkind = "basket"\n'
    )
    assert rowen("apply", str(listed)).code == 0
    assert rowen("sync", "fruit", "--json").json["created"] == 2

    def break_it() -> None:
        metadata = packages / "rowen_fruit-1.0.dist-info/entry_points.txt"
        metadata.write_text(metadata.read_text().replace("fruit_plugin", "no_such_module"))

    return break_it


def test_a_kind_and_a_sink_of_a_plugin_are_used_like_ours(rowen: Rowen, fruit: Callable[[], None]) -> None:
    assert rowen("sync", "fruit", "--json").json["unchanged"] == 2
    (hit,) = rowen("search", "pear", "--kind", "fruit", "--mode", "keyword", "--json").json["hits"]
    assert hit["title"] == "pear"
    assert rowen("sinks", "--json").json["sinks"][0]["last_error"] is None
    assert rowen("add", "basket", "--name", "more", "--kind", "fruit", "--set", "names=fig").code == 0
    ended = rowen("add", "basket", "--name", "bad", "--kind", "fruit", "--set", "nam=fig")
    assert (ended.code, "did you mean `names`?" in ended.err) == (2, True)
    help_text = rowen("add", "--help").out
    assert "Settings of kind `fruit`" in help_text
    assert "names=pear,plum" in help_text


def test_a_plan_of_a_kind_that_cannot_be_sampled_says_so_and_no_nought(
    rowen: Rowen, fruit: Callable[[], None]
) -> None:
    rowen("add", "basket", "--kind", "fruit", "--name", "fruits")
    said = rowen("plan", "fruits").out
    assert "its kind has no cheap way to say how much there is" in said
    assert "about 0" not in said
    assert "`rowen plan fruits --out FILE` asks for everything" in said


def test_a_broken_plugin_fails_the_commands_that_use_it_and_no_others(
    rowen: Rowen, fruit: Callable[[], None], tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/fig.md").write_text("# Fig\n\nAnother fruit.\n")
    assert rowen("add", str(tmp_path / "docs"), "--name", "docs").code == 0
    fruit()
    said = "plug-in `fruit` of package `rowen-fruit 1.0`: cannot be loaded: ModuleNotFoundError"
    ended = rowen("add", "basket", "--name", "more", "--kind", "fruit")
    assert (ended.code, said in ended.err) == (2, True)
    assert "pip uninstall rowen-fruit" in ended.err
    assert "Traceback" not in ended.err

    ended = rowen("sync", "--json")
    status = {line["source"]: (line["status"], line["created"]) for line in ended.lines}
    assert status == {"docs": ("completed", 1), "fruit": ("failed", 0)}
    for command in ("status", "sinks"):
        assert rowen(command).code == 0
    assert rowen("search", "fruit", "--kind", "fruit", "--mode", "keyword", "--json").json["hits"]
    assert "Settings of kind `web`" in rowen("add", "--help").out


def test_doctor_lists_the_plugins(rowen: Rowen, fruit: Callable[[], None]) -> None:
    report = rowen("doctor", "--json").json
    assert report["ok"]
    assert report["plugins"] == [
        {
            "name": name,
            "group": group,
            "distribution": "rowen-fruit",
            "version": "1.0",
            "ok": True,
            "error": None,
            "hint": None,
        }
        for name, group in (("fruit", "rowen.kinds"), ("basket", "rowen.sinks"))
    ]
    assert "`fruit` in rowen.kinds, rowen-fruit 1.0" in rowen("doctor").out
    fruit()
    ended = rowen("doctor")
    assert ended.code == 1
    assert "plug-in `fruit` of package `rowen-fruit 1.0`: cannot be loaded" in " ".join(ended.out.split())


def test_options_of_an_embedder_that_has_none_are_refused(
    rowen: Rowen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROWEN_EMBEDDING_OPTIONS", "{")
    assert "setting `embedding.options`: not JSON" in rowen("embed").err
    monkeypatch.setenv("ROWEN_EMBEDDING_OPTIONS", "[]")
    assert "setting `embedding.options`: expected an object" in rowen("embed").err
    monkeypatch.setenv("ROWEN_EMBEDDING_OPTIONS", '{"a": 1}')
    ended = rowen("embed")
    assert (ended.code, "provider `static` has no options" in ended.err) == (2, True)


def test_options_may_be_a_table_of_the_settings_file(
    rowen: Rowen, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "settings.toml").write_text("[embedding]\noptions = { a = 1 }\n")
    monkeypatch.setenv("ROWEN_CONFIG", str(tmp_path / "settings.toml"))
    assert "provider `static` has no options" in rowen("embed").err
