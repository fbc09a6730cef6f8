"""Conversion in child processes: bounds, crashes, ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest

from rowen.adapters.convert.formats import PluginFormat
from rowen.adapters.convert.pool import PoolConverter
from rowen.errors import TransientError, Unparseable

pytestmark = pytest.mark.anyio

_URL = "https://docs.example.org/x"

# Our child, but some bodies make it misbehave; before it does, it answers nothing.
_MISCHIEF = """
import os, signal, sys
from rowen.adapters.convert import worker
real = worker.convert
def convert(body, **facts):
    if body == b"hang":
        signal.pause()
    if body == b"crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if body == b"raise":
        raise RecursionError("too deep")
    if body == b"memory":
        raise MemoryError
    if body == b"garbage":
        os.write(pipe, b"\\0\\0\\0\\2{x")
        signal.pause()
    if body == b"flood":
        os.write(pipe, b"\\xff\\xff\\xff\\xff")
        signal.pause()
    if body == b"pid":
        body = str(os.getpid()).encode()
    return real(body, **facts)
worker.convert = convert
real_pipes = worker.take_pipes
def take_pipes():
    global pipe
    incoming, outgoing = real_pipes()
    pipe = outgoing.fileno()
    return incoming, outgoing
worker.take_pipes = take_pipes
sys.argv = ["worker", "1024", "60"]
worker.main()
"""

Opener = Callable[..., PoolConverter]


@pytest.fixture
async def open_pool() -> AsyncIterator[Opener]:
    opened: list[PoolConverter] = []

    def open_one(**options: object) -> PoolConverter:
        opened.append(PoolConverter(**options))  # type: ignore[arg-type]
        return opened[-1]

    yield open_one
    for pool in opened:
        await pool.close()


def _mischievous(open_pool: Opener, **options: object) -> PoolConverter:
    return open_pool(command=(sys.executable, "-c", _MISCHIEF), **options)


async def _text(pool: PoolConverter, body: bytes) -> str:
    return (await pool.convert(body, content_type="text/plain", url=_URL)).text


async def test_a_page_goes_through_a_child_and_comes_back_whole(open_pool: Opener) -> None:
    page = '<html lang="en"><link rel="canonical" href="/c"><main><h1>Jars é</h1><a href="a">x</a></main>'
    converted = await open_pool().convert(
        page.encode("latin-1"), content_type="text/html; charset=latin-1", url=_URL
    )
    assert converted.title == "Jars é"
    assert converted.text == "# Jars é\n\n[x](https://docs.example.org/a)\n"
    assert converted.links == ("https://docs.example.org/a",)
    assert converted.canonical == "https://docs.example.org/c"
    assert converted.metadata == {"lang": "en"}


async def test_a_graph_is_read_in_a_child_and_comes_back_as_json(open_pool: Opener) -> None:
    body = b"<1> <https://x.org/knows> <2>, 'two'@en , 3 ."
    graph = await open_pool().graph(body, syntax="ttl", url="https://x.org/g")
    two = {"@value": "two", "@language": "en"}
    said = {"@id": "https://x.org/1", "https://x.org/knows": [{"@id": "https://x.org/2"}, two, "3"]}
    assert json.loads(graph) == [said]
    with pytest.raises(Unparseable, match="broken Turtle"):
        await open_pool().graph(b"<1> <2>", syntax="ttl", url="https://x.org/g")


async def test_no_child_starts_before_the_first_body_and_no_more_than_are_busy(open_pool: Opener) -> None:
    pool = _mischievous(open_pool, workers=2)
    pids = {await _text(pool, b"pid") for _ in range(5)}
    assert len(pids) == 1
    assert len({*await asyncio.gather(*(_text(pool, b"pid") for _ in range(20))), *pids}) <= 2


async def test_a_body_of_ten_megabytes_goes_through(open_pool: Opener) -> None:
    body = b"a line of text\n" * 700_000
    assert await _text(open_pool(), body) == body.decode()


@pytest.mark.parametrize("bad", [b"crash", b"raise", b"memory", b"garbage", b"flood"])
async def test_a_body_the_child_fails_on_is_unparseable_and_the_others_go_on(
    open_pool: Opener, bad: bytes
) -> None:
    pool = _mischievous(open_pool, workers=1)
    with pytest.raises(Unparseable):
        await _text(pool, bad)
    assert await _text(pool, b"good") == "good\n"


async def test_a_body_that_takes_too_long_is_unparseable_and_the_child_is_replaced(
    open_pool: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = _mischievous(open_pool, workers=1, timeout_s=0.3)
    with pytest.raises(Unparseable) as caught:
        await _text(pool, b"hang")
    assert caught.value.facts["timeout_s"] == 0.3
    # A busy machine may need longer than this even for a good answer.
    monkeypatch.setattr(pool, "_timeout_s", 60.0)
    assert await _text(pool, b"good") == "good\n"


async def test_a_conversion_that_is_cancelled_leaves_no_half_answer_behind(open_pool: Opener) -> None:
    pool = _mischievous(open_pool, workers=1)
    first = await _text(pool, b"pid")
    hanging = asyncio.ensure_future(_text(pool, b"hang"))
    await asyncio.sleep(0)
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    assert await _text(pool, b"pid") != first


async def test_memory_is_bounded(open_pool: Opener) -> None:
    pool = open_pool(workers=1, memory_mb=160)
    with pytest.raises(Unparseable):
        await pool.convert(b"<p><b>x</b>" * 900_000, content_type="text/html", url=_URL)
    assert await _text(pool, b"good") == "good\n"


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("deep.rst", "".join("   " * n + ".. note::\n\n" for n in range(1_200)).encode()),
        ("deep.json", b"[" * 1_000_000),
        ("deep.py", b"x = " + b"(" * 1_000_000),
        ("deep.xml", b"<a>" * 500_000),
        ("open.mdx", b"<A " * 200_000),
        ("long.ts", b"a<b> " * 500_000),
    ],
)
async def test_hostile_text_is_refused_or_stays_text_and_the_child_lives(
    open_pool: Opener, name: str, body: bytes
) -> None:
    pool = _mischievous(open_pool, workers=1)
    pid = await _text(pool, b"pid")
    try:
        converted = await pool.convert(body, content_type="", url=f"https://docs.example.org/{name}")
        assert body.strip().decode() in converted.text
    except Unparseable as exc:
        assert "nested too deep" in exc.message
    assert await _text(pool, b"pid") == pid


async def test_what_is_not_text_is_unparseable_whatever_the_header_says(open_pool: Opener) -> None:
    pool = open_pool()
    for body in (b"PK\x03\x04 ...", b"\x89PNG\r\n", b"GIF89a", b"text with \0 zeros"):
        with pytest.raises(Unparseable, match="not text"):
            await pool.convert(body, content_type="text/html", url=_URL)
    with pytest.raises(Unparseable, match="no converter"):
        await pool.convert(b"{}", content_type="application/ld+json", url=_URL)


async def test_a_child_that_does_not_start_is_nobodys_page(open_pool: Opener) -> None:
    for command in ((sys.executable, "-c", "raise SystemExit(3)"), ("/no/such/program",)):
        with pytest.raises(TransientError):
            await _text(open_pool(command=command), b"x")


async def test_close_ends_the_children(open_pool: Opener) -> None:
    pool = _mischievous(open_pool)
    pid = int(await _text(pool, b"pid"))
    os.kill(pid, 0)
    await pool.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_child_ignores_ctrl_c(open_pool: Opener) -> None:
    pool = _mischievous(open_pool, workers=1)
    pid = await _text(pool, b"pid")
    os.kill(int(pid), signal.SIGINT)
    assert await _text(pool, b"pid") == pid


def test_a_child_ends_when_its_parent_is_gone() -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "rowen.adapters.convert.worker", "1024", "60"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stdout.readline() == b"rowen\n"
    child.stdin.close()
    assert child.wait(timeout=120) == 0
    child.stdout.close()


_PLUGIN = """
import os, subprocess, sys, time
from rowen.plugin import Converted, Unparseable

def read(body, url):
    if body == b"print":
        print("this is not a frame", flush=True)
        os.write(1, b"and neither is this")
        subprocess.run([sys.executable, "-c", "print('nor this')"], check=True)
        assert sys.stdin.read() == ""
    if body == b"hang":
        time.sleep(600)
    if body == b"raise":
        raise KeyError("pear")
    if body == b"refuse":
        raise Unparseable("no pears in it", hint="plant some")
    if body == b"exit":
        sys.exit(3)
    if body == b"wrong":
        return "pears"
    return Converted("Pears", body.decode(), metadata={"from": url})
"""


@pytest.fixture
def open_pears(open_pool: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opener:
    """A pool with a plug-in that reads `.pear` and `text/pear`."""
    (tmp_path / "pears_in_child.py").write_text(_PLUGIN)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    plugin = PluginFormat("pears_in_child:read", "rowen-pears 1.0")

    def find(names: Sequence[str]) -> PluginFormat | None:
        return plugin if {".pear", "text/pear"} & set(names) else None

    def open_one(**options: object) -> PoolConverter:
        return open_pool(find_plugin=find, **options)

    return open_one


async def test_a_plugin_reads_what_we_do_not(open_pears: Opener) -> None:
    pool = open_pears(workers=1)
    assert pool.handles("text/pear", "https://e.org/x")
    assert pool.handles("", "a/b.pear")
    assert not pool.handles("text/plum", "a/b.plum")
    for content_type, url in (("text/pear; charset=utf-8", _URL), ("", "a/b.pear"), ("text/plain", "c.PEAR")):
        converted = await pool.convert(b"ripe", content_type=content_type, url=url)
        assert (converted.title, converted.text, converted.metadata) == ("Pears", "ripe", {"from": url})
    assert (await pool.convert(b"ripe", content_type="text/plain", url=_URL)).title == "ripe"


async def test_what_a_plugin_prints_or_reads_does_not_disturb_the_frames(open_pears: Opener) -> None:
    pool = open_pears(workers=1)
    assert (await pool.convert(b"print", content_type="text/pear", url=_URL)).text == "print"
    assert (await pool.convert(b"more", content_type="text/pear", url=_URL)).text == "more"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"raise", "plug-in `pears_in_child:read` of package `rowen-pears 1.0`: KeyError: 'pear'"),
        (b"exit", "plug-in `pears_in_child:read` of package `rowen-pears 1.0`: SystemExit: 3"),
        (b"wrong", "plug-in `pears_in_child:read` of package `rowen-pears 1.0`: makes a str"),
        (b"refuse", "no pears in it"),
    ],
)
async def test_what_a_plugin_does_wrong_is_an_error_of_that_page(
    open_pears: Opener, body: bytes, said: str
) -> None:
    pool = open_pears(workers=1)
    with pytest.raises(Unparseable) as caught:
        await pool.convert(body, content_type="text/pear", url=_URL)
    assert said in caught.value.message
    assert caught.value.hint
    assert (await pool.convert(b"ripe", content_type="text/pear", url=_URL)).text == "ripe"


async def test_a_plugin_that_hangs_is_ended_like_a_parser(open_pears: Opener) -> None:
    pool = open_pears(workers=1, timeout_s=1.0)
    with pytest.raises(Unparseable, match="not parsed within 1 s"):
        await pool.convert(b"hang", content_type="text/pear", url=_URL)


def test_asking_what_is_handled_loads_no_parser() -> None:
    script = (
        "import sys; from rowen.adapters.convert.pool import PoolConverter; pool = PoolConverter(); "
        "assert pool.handles('text/html', 'https://example.org/') and not pool.handles('image/png', ''); "
        "sys.exit('turbohtml' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
