"""A dataclass of ours means what one of the standard library means, and costs nothing until it is used."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import threading
from dataclasses import FrozenInstanceError, asdict, field, fields, is_dataclass, replace
from typing import ClassVar

import pytest

from rowen import records
from rowen.records import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    name: str
    tags: list[str] = field(default_factory=list)
    known: ClassVar[int] = 3

    def loud(self) -> str:
        return self.name.upper()


@dataclass(frozen=True, kw_only=True, slots=True)
class Town(Place):
    people: int = 0

    def __post_init__(self) -> None:
        if self.people < 0:
            raise ValueError("people")


@dataclass(frozen=True, order=True, slots=True)
class Cursor:
    number: int


@dataclass(slots=True)
class Tally:
    seen: int = 0


@dataclass(frozen=True, eq=False, slots=True)
class Token:
    name: str


def test_an_instance_has_fields_defaults_methods_and_class_variables() -> None:
    place = Place("x")
    assert (place.name, place.tags, place.loud(), Place.known) == ("x", [], "X", 3)
    assert Place("x").tags is not Place("x").tags
    assert repr(place) == "Place(name='x', tags=[])"


def test_equal_fields_make_equal_instances_and_equal_hashes() -> None:
    assert Cursor(1) == Cursor(1) != Cursor(2)
    assert hash(Cursor(1)) == hash(Cursor(1))
    assert Cursor(1) < Cursor(2)
    assert Place("x") != Town("x")
    assert Token("a") != Token("a")
    with pytest.raises(TypeError, match="unhashable"):
        hash(Tally())


def test_a_frozen_one_cannot_be_changed_and_another_one_can() -> None:
    with pytest.raises(FrozenInstanceError):
        Place("x").name = "y"  # type: ignore[misc]
    tally = Tally()
    tally.seen += 1
    assert tally == Tally(1)


def test_there_are_slots_and_no_dictionary() -> None:
    assert Town.__slots__ == ("people",)
    assert not hasattr(Town("x"), "__dict__")


def test_a_subclass_has_the_fields_of_its_base_and_checks_itself() -> None:
    assert Town("x", people=3) == Town("x", [], people=3)
    with pytest.raises(ValueError, match="people"):
        Town("x", people=-1)


def test_wrong_arguments_are_refused_by_name() -> None:
    with pytest.raises(TypeError, match="nickname"):
        Cursor(nickname=1)  # type: ignore[call-arg]


def test_the_functions_of_the_standard_library_work_before_the_first_instance_and_after() -> None:
    @dataclass(frozen=True, slots=True)
    class Fresh:
        a: int
        b: int = 2

    assert is_dataclass(Fresh)
    assert [each.name for each in fields(Fresh)] == ["a", "b"]
    assert asdict(replace(Fresh(1), b=5)) == {"a": 1, "b": 5}


def test_a_pattern_matches_by_position() -> None:
    @dataclass(frozen=True, slots=True)
    class Pair:
        a: int
        b: int

    match Pair(1, 2):
        case Pair(1, other):
            assert other == 2
        case _:
            raise AssertionError("no match")


def test_copies_and_pickles_are_equal() -> None:
    town = Town("x", ["a"], people=4)
    assert copy.deepcopy(town) == town
    assert pickle.loads(pickle.dumps(town)) == town


def test_methods_are_written_at_the_first_instance_and_at_the_first_comparison_each_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    completed: list[str] = []
    standard = dataclasses._process_class  # type: ignore[attr-defined]

    def counting(cls: type, *options: object) -> type:
        completed.append(cls.__name__)
        return standard(cls, *options)  # type: ignore[no-any-return]

    monkeypatch.setattr(dataclasses, "_process_class", counting)

    @dataclass(frozen=True, slots=True)
    class Late:
        a: int

    assert completed == []
    late, later = Late(1), Late(2)
    assert completed == ["Late"]
    assert late != later
    assert late == Late(1)
    assert completed == ["Late", "Late"]
    assert hash(late) == hash(Late(1))
    assert repr(late).endswith("Late(a=1)")
    assert completed == ["Late", "Late"]


def test_threads_that_make_the_first_instances_at_once_all_get_one() -> None:
    for _ in range(50):

        @dataclass(frozen=True, order=True, slots=True)
        class Shared:
            a: int

        start, made = threading.Barrier(4), []

        def make(kind: type = Shared, start: threading.Barrier = start, made: list[object] = made) -> None:
            start.wait(60)
            made.append(kind(1))

        threads = [threading.Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [Shared(1)] * 4


def test_a_class_without_slots_is_a_standard_one() -> None:
    @records.dataclass(frozen=True)
    class Plain:
        a: int = 1

    assert Plain().__dict__ == {"a": 1}
