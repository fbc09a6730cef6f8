"""The store has every method of every topic, and imports a topic when it is asked."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

from rowen.adapters.store.shared import topics
from rowen.adapters.store.shared.database import Topic
from rowen.adapters.store.shared.topic_table import METHODS, TOPIC_OF


def _topics() -> dict[str, type[Topic]]:
    folder = Path(topics.__path__[0])
    found = {}
    for file in sorted(folder.rglob("*.py")):
        name = ".".join(file.relative_to(folder).with_suffix("").parts)
        if file.name == "__init__.py":
            continue
        module = import_module(f"{topics.__name__}.{name}")
        for one in vars(module).values():
            if isinstance(one, type) and issubclass(one, Topic) and one.__module__ == module.__name__:
                found[name] = one
    return found


def test_the_table_names_every_method_of_every_topic_once() -> None:
    found = {
        name: {method for method in vars(kind) if not method.startswith("_")}
        for name, kind in _topics().items()
    }
    named = {
        topic: {one for one in methods.split() if one != "_finder"} for topic, methods in METHODS.items()
    }
    assert named == found
    assert len(TOPIC_OF) == sum(len(methods.split()) for methods in METHODS.values())


def test_a_store_imports_the_topics_that_are_asked_and_no_others(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.eventloop import drive
store = SqliteStore(Path(sys.argv[1]))
assert drive(store.sources(), None) == []
drive(store.close(), None)
print(*(name for name in sys.modules if ".topics." in name))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "rowen.db")],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {name.rpartition(".topics.")[2] for name in done.stdout.split()}
    assert "sources" in loaded
    assert not loaded & {"search", "handoffs", "offers", "shards", "generations", "learning.rates"}
