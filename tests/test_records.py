"""A dataclass of ours means what one of the standard library means, and costs nothing until it is used."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import threading
from dataclasses import FrozenInstanceError, asdict, field, fields, is_dataclass, replace
from typing import Any, ClassVar
from typing import NamedTuple as StandardNamedTuple

import pytest

from rowen import records
from rowen.records import NamedTuple, dataclass


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


def test_the_base_of_one_with_slots_may_have_none() -> None:
    @dataclasses.dataclass(frozen=True)
    class Open:
        size: int = 1

    @dataclass(frozen=True, slots=True)
    class Jar(Open):
        name: str = ""

    made = [Jar(number, "a") for number in range(records.FEW * 2)]
    assert [(one.size, one.name) for one in made] == [(number, "a") for number in range(records.FEW * 2)]


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


@pytest.fixture
def completed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the classes whose methods the standard decorator wrote, each time it did."""
    completed: list[str] = []
    standard = dataclasses._process_class  # type: ignore[attr-defined]

    def counting(cls: type, *options: object) -> type:
        completed.append(cls.__name__)
        return standard(cls, *options)  # type: ignore[no-any-return]

    monkeypatch.setattr(dataclasses, "_process_class", counting)
    return completed


def test_the_constructor_is_written_for_many_instances_and_comparisons_for_the_first_each_once(
    completed: list[str],
) -> None:
    @dataclass(frozen=True, slots=True)
    class Late:
        a: int

    assert completed == []
    late, later = [Late(number + 1) for number in range(records.FEW)][:2]
    assert completed == []
    assert (late.a, Late(a=3).a, Late(4).a) == (1, 3, 4)
    assert completed == ["Late"]
    assert late != later
    assert late == Late(1)
    assert completed == ["Late", "Late"]
    assert hash(late) == hash(Late(1))
    assert repr(late).endswith("Late(a=1)")
    assert completed == ["Late", "Late"]


def test_an_instance_is_the_same_whether_its_constructor_was_written_or_not(completed: list[str]) -> None:
    @dataclass(frozen=True, kw_only=True, slots=True)
    class Base:
        number: int = 1

    @dataclass(frozen=True, slots=True)
    class Whole(Base):
        name: str
        tags: list[str] = field(default_factory=list)
        seen: list[int] = field(default_factory=list, compare=False)

        def __post_init__(self) -> None:
            self.seen.append(self.number)

    def made() -> list[Whole]:
        return [Whole("a"), Whole("a", ["b"]), Whole("a", tags=[], number=3, seen=[4]), Whole(name="a")]

    filled = made()
    assert completed == []
    for _ in range(records.FEW):
        Whole("more")
    assert completed[0] == "Whole"
    assert list(map(asdict, filled)) == list(map(asdict, made()))
    assert filled[2].seen == [4, 3]
    assert filled == made()


def test_fields_that_are_not_given_get_their_defaults_however_many_instances_there_are() -> None:
    @dataclass(frozen=True, slots=True)
    class Counted:
        name: str
        steps: list[int] = field(default_factory=list, init=False)
        first: int = field(default=1, init=False)
        last: int | None = field(default=None, kw_only=True)

    made = [Counted("a", last=number) for number in range(records.FEW * 2)]
    assert {(one.name, *one.steps, one.first) for one in made} == {("a", 1)}
    assert [one.last for one in made] == list(range(records.FEW * 2))
    assert made[-1].steps is not made[-2].steps
    assert Counted("a").last is None
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'first'"):
        made[-1].first = 2  # type: ignore[misc]


@pytest.mark.parametrize(
    ("args", "named", "said"),
    [
        ((), {}, "missing 1 required positional argument: 'name'"),
        (("a", [], 3), {}, "takes from 2 to 3 positional arguments but 4 were given"),
        (("a",), {"name": "b"}, "multiple values for argument 'name'"),
        (("a",), {"nickname": "b"}, "unexpected keyword argument 'nickname'"),
    ],
)
def test_a_wrong_call_is_refused_in_the_words_of_python_also_before_the_constructor_is_written(
    args: tuple[object, ...], named: dict[str, object], said: str
) -> None:
    @dataclass(frozen=True, slots=True)
    class Named:
        name: str
        tags: list[str] = field(default_factory=list)

    with pytest.raises(TypeError, match=said):
        Named(*args, **named)  # type: ignore[arg-type]


def test_a_frozen_one_refuses_every_change_before_its_methods_are_written(completed: list[str]) -> None:
    @dataclass(frozen=True, slots=True)
    class Cold:
        a: int

    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'a'"):
        Cold(1).a = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'a'"):
        del Cold(1).a
    assert completed == []


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


class Point(NamedTuple):
    """A place."""

    x: int
    y: int = 2
    """Upwards."""

    def moved(self) -> Point:
        return self._replace(x=self.x + 1)


class StandardPoint(StandardNamedTuple):
    x: int
    y: int = 2


@pytest.fixture(params=["first", "written"])
def point(request: pytest.FixtureRequest) -> type[Any]:
    """A class of which none or many instances were made."""

    class Fresh(NamedTuple):
        x: int
        y: int = 2

    if request.param == "written":
        for _ in range(records.FEW + 1):
            Fresh(1)
    made: type[Any] = Fresh
    return made


def test_a_named_tuple_is_what_one_of_the_standard_library_is(point: type[Any]) -> None:
    for made in (point(1), point(1, 2), point(x=1), point(1, y=2), point._make([1, 2])):
        assert made == (1, 2) == StandardPoint(1)
        assert (made.x, made.y, made[1], *made) == (1, 2, 2, 1, 2)
        assert hash(made) == hash((1, 2))
        assert made._asdict() == {"x": 1, "y": 2}
    assert repr(point(1)) == "Fresh(x=1, y=2)"
    assert point._fields == point.__match_args__ == StandardPoint._fields
    assert point._field_defaults == StandardPoint._field_defaults
    assert not hasattr(point(1), "__dict__")
    with pytest.raises(AttributeError):
        point(1).x = 2


@pytest.mark.parametrize(
    ("given", "named"), [((), {}), ((1, 2, 3), {}), ((1,), {"x": 1}), ((1,), {"z": 1})], ids=str
)
def test_a_wrong_call_of_a_named_tuple_is_refused_in_the_words_of_python(
    point: type[Any], given: tuple[int, ...], named: dict[str, int]
) -> None:
    with pytest.raises(TypeError) as standard:
        StandardPoint(*given, **named)
    with pytest.raises(TypeError) as refused:
        point(*given, **named)
    assert str(refused.value) == str(standard.value).replace("StandardPoint", "Fresh")
    assert point(1) == (1, 2)


def test_a_named_tuple_has_methods_and_can_be_replaced_copied_and_matched() -> None:
    moved = Point(1).moved()
    assert (type(moved), moved) == (Point, Point(2, 2))
    assert Point.__doc__ == "A place."
    for one in (copy.copy(moved), copy.deepcopy(moved), pickle.loads(pickle.dumps(moved))):
        assert (type(one), one) == (Point, moved)
    match moved:
        case Point(x, y):
            assert (x, y) == (2, 2)
    with pytest.raises(ValueError, match="unexpected field names: \\['z'\\]"):
        moved._replace(z=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Expected 2 arguments, got 1"):
        Point._make([1])
