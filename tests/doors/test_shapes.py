"""Each JSON shape and each counter is declared once, and every door shows what was declared."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import pytest

from rowen.core.run import Counters
from rowen.doors.shapes.shape import Day, Rounded, Shape, Time, at

ONE_LINE_MORE = """
import contextlib, io, json, sys
from pathlib import Path
from types import ModuleType

folder = Path(sys.argv[1])
path = Path(sys.argv[2]) / "run.py"
anchor = "    retries: int = 0\\n"
source = path.read_text()
assert source.count(anchor) == 1
import rowen.core
rowen.core.run = module = ModuleType("rowen.core.run")
module.__file__ = str(path)
sys.modules["rowen.core.run"] = module
exec(compile(source.replace(anchor, anchor + "    surprises: int = 7\\n"), str(path), "exec"), vars(module))

from rowen.doors.cli import main

def said(*arguments):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main([*arguments, "--db", f"sqlite:///{folder}/rowen.db"]) == 0
    return out.getvalue()

said("add", str(folder / "notes"), "--name", "notes")
synced = json.loads(said("sync", "--json"))
shown = said("sync")
runs = json.loads(said("runs", "notes", "--json"))["runs"]

from rowen.doors.shapes import runs as shapes
from rowen.doors.rest.models import model

described = [model(one) for one in (shapes.Run, shapes.HandoffReceipt)]
answered = described[0](**runs[0], source="notes").model_dump()
print(json.dumps({
    "sync --json": synced["surprises"],
    "runs --json": [one["surprises"] for one in runs],
    "receipt": "7 surprises" in shown,
    "REST": answered["surprises"],
    "OpenAPI": [one.model_json_schema()["properties"]["surprises"]["default"] for one in described],
}))
"""


def test_a_counter_added_in_one_line_is_in_every_door(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "barley.md").write_text("# Barley\n\nIt is sown in spring.\n")
    core = Path(sys.modules[Counters.__module__].__file__ or "").parent
    done = subprocess.run(
        [sys.executable, "-c", ONE_LINE_MORE, str(tmp_path), str(core)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "sync --json": 7,
        "runs --json": [7, 7],
        "receipt": True,
        "REST": 7,
        "OpenAPI": [7, 7],
    }


class Colour(StrEnum):
    RED = "red"


@dataclass
class Thing:
    number: int
    colour: Colour
    digest: bytes
    share: float
    made_at: datetime | None
    day: date
    parts: tuple[Thing, ...] = ()


class ThingShape(Shape, schema_name="Thing"):
    """A thing."""

    id: int = at("number")
    """Its number"""
    colour: str
    digest: str
    share: Annotated[float, Rounded(2)]
    made_at: Time | None
    day: Day
    colours: list[str] = at(lambda thing: [part.colour for part in thing.parts])
    note: str | None = None


def a_thing(**values: Any) -> Thing:
    given: dict[str, Any] = {
        "number": 1,
        "colour": Colour.RED,
        "digest": b"\1\2",
        "share": 0.123,
        "made_at": None,
    }
    return Thing(**{**given, "day": date(2026, 5, 1), **values})


def test_values_of_core_become_values_of_json() -> None:
    moment = datetime(2026, 5, 1, tzinfo=UTC)
    shown = ThingShape.show(a_thing(made_at=moment, parts=(a_thing(),)), note=None)
    assert json.loads(json.dumps(shown)) == {
        "id": 1,
        "colour": "red",
        "digest": "0102",
        "share": 0.12,
        "made_at": "2026-05-01T00:00:00+00:00",
        "day": "2026-05-01",
        "colours": ["red"],
        "note": None,
    }


def test_a_value_that_was_given_goes_before_one_that_is_there() -> None:
    assert ThingShape.show(a_thing(), id=9, note="given")["id"] == 9


def test_a_field_that_no_value_has_is_an_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match=r"ThingShape\.note"):
        ThingShape.show(a_thing())


def test_a_model_has_the_types_the_sentences_and_the_defaults_of_its_shape() -> None:
    from rowen.doors.rest.models import model

    schema = model(ThingShape).model_json_schema()
    assert (schema["title"], schema["description"]) == ("Thing", "A thing.")
    assert schema["properties"]["id"] == {"title": "Id", "type": "integer", "description": "Its number"}
    assert schema["properties"]["day"] == {"title": "Day", "type": "string", "format": "date"}
    assert schema["required"] == ["id", "colour", "digest", "share", "made_at", "day", "colours"]
    assert model(ThingShape) is model(ThingShape)


def test_every_shape_can_be_described() -> None:
    from rowen.doors.rest.models import model
    from rowen.doors.shapes import documents, runs, sources

    found = [
        one
        for module in (documents, runs, sources)
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, Shape)
    ]
    assert len(found) > 30
    for one in found:
        assert model(one).model_json_schema()["title"] == one.schema_name
