"""What is shipped for many processes: container files that speak of what is there, and commands that work.

There is no container engine here. So the commands of the services are run as plain processes on a real
PostgreSQL, and the rest of the files is compared with what they speak of.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from rowen.config import load
from tests.support.doc_blocks import problem_of
from tests.support.postgres import Server

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
OURS = ("setup", "server", "worker")


@pytest.fixture
def services() -> dict[str, Any]:
    return dict(yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"])


@pytest.fixture
def dockerfile() -> list[list[str]]:
    """Its instructions, each as its words."""
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """PostgreSQL is not root, and folders of tests let nobody else pass."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_the_image_is_made_of_files_that_are_there(dockerfile: list[list[str]]) -> None:
    copied = [words[1:-1] for words in dockerfile if words[0] == "COPY" and "--from=build" not in words]
    assert {name for names in copied for name in names} >= {"pyproject.toml", "constraints.txt", "src"}
    assert all((ROOT / name).exists() for names in copied for name in names)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    # What the build itself reads.
    assert [project["readme"]] + project["license-files"] == ["README.md", "LICENSE"]
    installed = next(words[-1] for words in dockerfile if words[0] == "RUN" and "pip" in " ".join(words))
    extras = re.fullmatch(r"'\.\[([a-z,]+)\]'", installed)
    assert extras is not None
    # The API and assistants are part of the default install.
    assert {"postgres"} <= set(extras[1].split(",")) <= set(project["optional-dependencies"])


def test_the_image_runs_rowen_and_not_as_root(dockerfile: list[list[str]]) -> None:
    last = {words[0]: words[1:] for words in dockerfile}
    assert last["USER"] == ["rowen"]
    assert last["ENTRYPOINT"] == ['["rowen"]']
    made = next(words for words in dockerfile if "useradd" in words)
    assert made[made.index("--home-dir") + 1] == last["VOLUME"][0] == last["WORKDIR"][0]


def test_every_service_says_when_it_is_well_and_comes_back_when_it_ends(services: dict[str, Any]) -> None:
    assert set(services) == {"db", *OURS}
    assert services["db"]["image"] == "pgvector/pgvector:pg17"
    for name, service in services.items():
        if name != "setup":
            assert service["healthcheck"]["test"]
            assert service["restart"] == "unless-stopped"
    for name in OURS:
        assert services[name]["depends_on"]["db"] == {"condition": "service_healthy"}
        assert (DEPLOY / services[name]["build"]["context"] / services[name]["build"]["dockerfile"]).exists()
    assert services["worker"]["deploy"]["replicas"] == 2


def test_data_lie_in_volumes_and_secrets_come_from_outside(services: dict[str, Any]) -> None:
    whole = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    named = {one.partition(":")[0] for service in services.values() for one in service["volumes"]}
    assert named == set(whole["volumes"]) == {"db", "state"}
    given = {line.partition("=")[0] for line in (DEPLOY / "env.example").read_text().splitlines()}
    for service in services.values():
        for name, value in service["environment"].items():
            if re.search("PASSWORD|KEY|TOKEN", name):
                asked = re.fullmatch(r"\$\{([A-Z_]+)(:[-?].*)?\}", value)
                assert asked is not None
                assert asked[1] in given
    assert services["server"]["ports"] == ["127.0.0.1:8340:8340"]


def test_every_setting_of_the_services_is_one_that_there_is(services: dict[str, Any]) -> None:
    _, settings = load(environment={})
    known = {one.variable for one in settings}
    for name in OURS:
        assert {one for one in services[name]["environment"] if one.startswith("ROWEN_")} <= known


def test_one_container_is_the_server_of_many_with_a_file_as_its_store(services: dict[str, Any]) -> None:
    whole = yaml.safe_load((DEPLOY / "single.yaml").read_text())
    single = whole["services"]
    assert set(single) == {"setup", "server"}
    assert set(whole["volumes"]) == {"state"}
    for name in single:
        other = services[name]
        assert {key for key in other if single[name].get(key) != other[key]} <= {"environment", "depends_on"}
        assert set(single[name]["environment"]) <= set(other["environment"])
        assert single[name]["environment"]["ROWEN_DB"] == "sqlite:////var/lib/rowen/rowen.db"
    assert single["server"]["depends_on"] == {"setup": {"condition": "service_completed_successfully"}}


@pytest.fixture
def units() -> dict[str, list[tuple[str, str]]]:
    """The lines of each unit of systemd, as names and values."""
    return {
        path.name: [
            (name, value)
            for name, found, value in (line.partition("=") for line in path.read_text().splitlines())
            if found and not name.startswith("#")
        ]
        for path in sorted((DEPLOY / "systemd").iterdir())
    }


def test_units_call_commands_and_set_variables_that_there_are(
    units: dict[str, list[tuple[str, str]]],
) -> None:
    known = {one.variable for one in load(environment={})[1]} | {"ROWEN_CONFIG"}
    called = 0
    for lines in units.values():
        for name, value in lines:
            if name == "ExecStart" and value.startswith("/opt/rowen/bin/rowen"):
                assert problem_of(value.removeprefix("/opt/rowen/bin/")) is None
                called += 1
            if name == "Environment":
                assert value.partition("=")[0] in known
    assert called == 3


def test_no_unit_runs_as_root(units: dict[str, list[tuple[str, str]]]) -> None:
    for name, lines in units.items():
        if name.endswith(".service"):
            assert dict(lines)["User"] == "rowen"
            assert dict(lines)["ProtectSystem"] == "strict"


def test_systemd_accepts_the_units_where_it_is_installed(tmp_path: Path) -> None:
    """It looks for the programs, so they are named where they are here."""
    for path in (DEPLOY / "systemd").iterdir():
        text = re.sub(r"(?<==)/(?:opt|usr)/\S+", sys.executable, path.read_text())
        (tmp_path / path.name).write_text(text)
    names = [path.name.replace("@", "@1") for path in tmp_path.iterdir()]
    if shutil.which("systemd-analyze"):
        done = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", *(f"./{name}" for name in names)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.torture
def test_the_commands_of_the_services_work_together(
    services: dict[str, Any], postgres: Server, tmp_path: Path
) -> None:
    with postgres.schema() as schema, ExitStack() as running:
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "ROWEN_DB": f"{postgres.url}&schema={schema}",
            "ROWEN_SERVICE_HOST": services["server"]["environment"]["ROWEN_SERVICE_HOST"],
            "ROWEN_SERVICE_PORT": str(_free_port()),
        }

        def run(words: list[str]) -> int:
            return subprocess.run(words, env=environment, cwd=tmp_path, check=False).returncode

        def healthy(name: str) -> bool:
            kind, words = services[name]["healthcheck"]["test"]
            assert kind == "CMD-SHELL"
            return run(["sh", "-c", words.replace("$$", "$")]) == 0

        setup = [*services["setup"]["entrypoint"], services["setup"]["command"][0].replace("$$", "$")]
        assert run(setup) == 0
        token = tmp_path / "token"
        assert token.stat().st_mode & 0o777 == 0o600
        first = token.read_text()
        assert run(setup) == 0
        assert token.read_text() == first, "a second start makes no second token"

        assert not healthy("server")
        assert not healthy("worker")
        for name, said in (("server", "listening"), ("worker", "working for")):
            running.enter_context(_started(services[name]["command"], environment, said))
        assert healthy("server")
        assert healthy("worker")


@pytest.mark.torture
def test_a_whole_cluster_comes_up_works_and_leaves_nothing_behind(open_folder: Path) -> None:
    ended = subprocess.run(
        [sys.executable, ROOT / "scripts" / "cluster.py"],
        env={**os.environ, "TMPDIR": str(open_folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "completed: 14 pages" in ended.stdout
    assert "completed: 1 updated, 1 created, 1 deleted, 12 unchanged" in ended.stdout
    assert "2 workers; 0 tickets under way, 0 waiting" in ended.stdout
    assert "1. Drain a worker" in ended.stdout
    assert list(open_folder.iterdir()) == []


@contextmanager
def _started(words: list[str], environment: dict[str, str], said: str) -> Iterator[None]:
    """A command of a service, until it says that it is ready; ended as a container ends it."""
    process = subprocess.Popen(["rowen", *words], env=environment, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        assert any(said in line for line in process.stderr), f"{words[0]} ended at once"
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
    assert process.returncode in (0, 128 + signal.SIGTERM)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
