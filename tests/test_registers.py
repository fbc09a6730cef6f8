"""Names that are ours, names of plug-ins, and plug-ins of no use."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rowen import registers
from rowen.adapters.embedders import EmbedderSpec
from rowen.adapters.embedders.static import StaticEmbedder
from rowen.adapters.system.plugins import GROUPS
from rowen.errors import ConfigError
from tests.support.plugins import on_path, write_package

_KIND = """
from rowen.plugin import Kind, Harvested, Prepared, StopReason

async def prepare(ports, location, *, settings, check):
    return Prepared(kind="pears", location=location)

async def harvest(ports, source, params, intake):
    return Harvested(stop_reason=StopReason.EXHAUSTED)

PEARS = Kind(name="pears", params=(), prepare=prepare, harvest=harvest)

def make():
    return PEARS

def breaks():
    raise RuntimeError("no pears")
"""

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path) -> Iterator[Install]:
    folder = tmp_path / "site-packages"
    folder.mkdir()

    def add(name: str, group: str, entries: dict[str, str], **modules: str) -> None:
        write_package(folder, name, {group: entries}, modules=modules)

    with on_path(folder):
        yield add


def test_a_kind_of_a_plugin_is_found_and_has_the_settings_that_every_kind_has(install: Install) -> None:
    install("rowen-pears", "rowen.kinds", {"pears": "pears_a:PEARS"}, pears_a=_KIND)
    kind = registers.kinds().named("pears")
    assert kind.name == "pears"
    common = ["max_deleted_share", "time_limit_s", "keep", "webhook_secret"]
    assert [param.name for param in kind.params] == common
    assert "pears" in registers.kinds().names()
    assert registers.kinds().loadable()["pears"] == kind


def test_a_kind_may_be_a_function_that_makes_one(install: Install) -> None:
    install("rowen-pears", "rowen.kinds", {"pears": "pears_b:make"}, pears_b=_KIND)
    assert registers.kinds().named("pears").name == "pears"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("no_such_module:X", "cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"),
        ("pears_c:NOTHING", "cannot be loaded: AttributeError"),
        ("pears_c:breaks", "cannot be loaded: RuntimeError: no pears"),
        ("pears_c:__name__", "`pears_c:__name__` is of type str, expected a Kind"),
        ("pears_c:Prepared.__doc__.split", "is of type list, expected a Kind"),
    ],
)
def test_a_plugin_of_no_use_is_said_with_its_package(install: Install, target: str, said: str) -> None:
    install("rowen-pears", "rowen.kinds", {"pears": target}, pears_c=_KIND)
    register = registers.kinds()
    with pytest.raises(ConfigError) as caught:
        register.named("pears")
    assert caught.value.message.startswith("plug-in `pears` of package `rowen-pears 1.0`: ")
    assert said in caught.value.message
    assert caught.value.hint == "update the package, or remove it: `pip uninstall rowen-pears`"
    assert register.get("pears") is None
    assert "pears" not in register.loadable()
    assert register.named("web").name == "web"
    assert "web" in register.loadable()


def test_a_kind_that_calls_itself_otherwise_is_refused(install: Install) -> None:
    install("rowen-pears", "rowen.kinds", {"plums": "pears_d:PEARS"}, pears_d=_KIND)
    with pytest.raises(ConfigError, match="its kind calls itself `pears`, not `plums`"):
        registers.kinds().named("plums")


def test_a_name_that_two_packages_offer_is_refused(install: Install) -> None:
    install("rowen-pears", "rowen.kinds", {"pears": "pears_e:PEARS"}, pears_e=_KIND)
    install("other-pears", "rowen.kinds", {"pears": "pears_e:PEARS"})
    with pytest.raises(ConfigError) as caught:
        registers.kinds().named("pears")
    assert "`other-pears 1.0`: `rowen-pears 1.0` offers the same name" in caught.value.message
    assert caught.value.hint == "uninstall all but one of them"


def test_our_own_names_cannot_be_taken(install: Install) -> None:
    install("rowen-pears", "rowen.kinds", {"web": "no_such_module:X"})
    assert registers.kinds().named("web").name == "web"
    (state,) = registers.plugins()
    assert not state.ok
    assert state.error == (
        "plug-in `web` of package `rowen-pears 1.0`: the name is one of ours, so it is not used"
    )


def test_every_installed_plugin_is_listed_with_whether_it_is_of_use(install: Install) -> None:
    install("rowen-pears", "rowen.kinds", {"pears": "pears_f:PEARS", "plums": "gone:X"}, pears_f=_KIND)
    install("rowen-more", "rowen.converters", {".pear": "pears_f:make", ".html": "pears_f:make"})
    found = {
        state.name: (state.group, state.distribution, state.version, state.ok)
        for state in registers.plugins()
    }
    assert found == {
        "pears": ("rowen.kinds", "rowen-pears", "1.0", True),
        "plums": ("rowen.kinds", "rowen-pears", "1.0", False),
        ".pear": ("rowen.converters", "rowen-more", "1.0", True),
        ".html": ("rowen.converters", "rowen-more", "1.0", False),
    }


def test_names_are_listed_and_checked_without_loading_a_plugin(install: Install) -> None:
    install("rowen-pears", "rowen.kinds", {"pears": "pears_g:PEARS"}, pears_g=_KIND)
    register = registers.kinds()
    register.check("pears")
    register.check("web")
    assert register.names()[-1] == "pears"
    assert "pears_g" not in sys.modules
    with pytest.raises(ConfigError, match="kind `plums`: no such kind of source"):
        register.check("plums")


def test_our_own_names_are_found_without_looking_for_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise AssertionError("the metadata of packages was read")

    monkeypatch.setattr(importlib.metadata, "entry_points", fail)
    assert registers.kinds().named("web").name == "web"
    assert registers.sinks().get("webhook") is not None
    registers.embedders().named("static")(EmbedderSpec())


def test_the_groups_are_these() -> None:
    assert GROUPS == ("rowen.kinds", "rowen.sinks", "rowen.embedders", "rowen.converters")


def test_embedders_are_chosen_by_name() -> None:
    assert isinstance(registers.embedders().named("static")(EmbedderSpec()), StaticEmbedder)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("statik", "did you mean `static`?"),
        ("openia", "did you mean `openai`?"),
        ("zzz", "known: static, minilm, openai, gemini, ollama, cohere, voyage"),
    ],
)
def test_an_unknown_provider_is_answered_with_a_suggestion(name: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        registers.embedders().named(name)
    assert caught.value.message == f"embedding provider `{name}`: no such provider"
    assert caught.value.hint == hint


def test_the_fake_embedder_cannot_be_chosen() -> None:
    with pytest.raises(ConfigError):
        registers.embedders().named("fake")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("def make(settings): return 3", "makes something of type int, expected an Embedder"),
        ("def make(settings): return 1 / 0", "makes no embedder: ZeroDivisionError"),
        ("make = 3", "`pears_h:make` is of type int, expected a function"),
    ],
)
def test_a_plugin_that_makes_no_embedder_is_said(install: Install, function: str, said: str) -> None:
    install("rowen-pears", "rowen.embedders", {"pears": "pears_h:make"}, pears_h=function)
    with pytest.raises(ConfigError) as caught:
        registers.embedders().named("pears")(EmbedderSpec(provider="pears"))
    assert said in caught.value.message


def test_a_named_key_must_be_set_before_a_plugin_makes_an_embedder(install: Install) -> None:
    install(
        "rowen-pears",
        "rowen.embedders",
        {"pears": "pears_i:make"},
        pears_i="def make(settings): return 1 / 0",
    )
    spec = EmbedderSpec(provider="pears", key_variable="PEARS_KEY")
    with pytest.raises(ConfigError, match="variable `PEARS_KEY`: not set"):
        registers.embedders().named("pears")(spec)


def test_our_kinds_are_named_without_being_loaded_and_each_is_there() -> None:
    from rowen.kinds.api.kind import KINDS
    from rowen.kinds.builtin import APIS

    assert list(APIS) == list(KINDS)
    register = registers.kinds()
    assert [kind.name for kind in register.ours()] == register.names()[: len(list(register.ours()))]


def test_a_sync_of_a_site_loads_no_other_kind() -> None:
    program = "from rowen import registers; registers.kinds().named('web'); import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[2] for name in done.stdout.split() if name.startswith("rowen.kinds.")}
    assert not loaded & {"api", "ckan", "files", "git", "github", "listing"}


def test_a_stored_name_whose_plug_in_is_gone_is_not_taken_for_a_misspelling() -> None:
    with pytest.raises(ConfigError) as caught:
        registers.kinds().stored("rss")
    assert caught.value.hint == "its plug-in is not installed here: install that package"
