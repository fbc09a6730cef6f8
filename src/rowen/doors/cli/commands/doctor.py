"""`rowen doctor`: is everything installed that Rowen needs, and does it work?

Each check uses the real part once: the store is opened, the model embeds a word, the parser reads a page,
and every source is asked for one answer.
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rowen.core.rules.clocks import SKEW
from rowen.core.rules.standing import last_run
from rowen.core.source import Status
from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.starting.declared import click
from rowen.errors import NotFound, RowenError

if TYPE_CHECKING:
    from rowen.config import Config
    from rowen.core.source import Source
    from rowen.managing.reach import Reached
    from rowen.registers import PluginState

LEAST_FREE_BYTES = 500_000_000
MAX_SAID = 3
"""Of what is damaged; `rowen db check` tells it all."""
REACH_LIMIT_S = 5.0
"""How long a source may take to answer; a run is more patient."""
PAGE = b"<html><body><nav>menu</nav><main><h1>Hello</h1><p>World</p></main></body></html>"


@dataclass(frozen=True)
class Check:
    name: str
    ok: bool
    said: str
    hint: str | None = None


@rowen_command("doctor")
@click.argument("name", required=False, shell_complete=source_names)
@click.option("--offline", is_flag=True, help="Ask no source whether it answers.")
def command(call: Call, name: str | None, offline: bool) -> int:
    """Check this installation and whether its sources answer. Ends with 1 if there is a problem.

    With NAME: which signals of that source hold (dates of its sitemap, ETag, Last-Modified), and which lied.
    """
    from rowen.doors.cli import session

    if name is not None:
        from rowen.doors.cli import signals

        return signals.show(call, name)

    async def work() -> list[Check]:
        return [check async for check in _checks(call.config(), offline=offline)]

    from rowen import registers

    checks = session.run_async(work)
    plugins = registers.plugins()
    good = all(check.ok for check in checks) and all(plugin.ok for plugin in plugins)
    if call.out.json:
        call.out.emit(
            {
                "ok": good,
                "checks": [asdict(check) for check in checks],
                "plugins": [asdict(plugin) for plugin in plugins],
            }
        )
        return 0 if good else 1
    checks += map(_of_plugin, plugins)
    from rowen.doors.cli.drawing.text import Text

    width = max(len(check.name) for check in checks)
    for check in checks:
        line = Text("ok       " if check.ok else "problem  ", style="green" if check.ok else "bold red")
        line.append(f"{check.name:<{width}}  ", "bold default").append(check.said, "default")
        line.hang = width + 11
        call.out.line(line)
        if check.hint:
            hint = Text(" " * line.hang + f"hint: {check.hint}", style="cyan")
            hint.hang = line.hang + len("hint: ")
            call.out.line(hint)
    return 0 if good else 1


async def _checks(config: Config, *, offline: bool) -> AsyncIterator[Check]:
    from rowen import wiring

    yield Check("python", True, ".".join(map(str, sys.version_info[:3])))
    yield _sqlite()
    yield _decoders()
    yield _authorities()
    for check in () if wiring.is_postgres(config) else _folder(wiring.store_path(config)):
        yield check
    sources: list[Source] = []
    yield await _store(config, sources)
    reached = [] if offline else await _reach(config, sources)
    yield await _clock(config, reached)
    yield _extras()
    yield _browser(config, sources)
    if sources:
        yield _sources(sources, reached)
    away = [one for one in reached if one.problem]
    for one in away:
        yield Check("source", False, f"`{one.source.label}`: {one.problem}", one.hint)
    unreachable = {one.source.id for one in away}
    for source in sources:
        if source.status is Status.ERROR and source.consecutive_failures and source.id not in unreachable:
            yield _failing(source)
        if path := source.params.get("ca_file"):
            yield _ca_file(source.label, path)
    # The others have a store of their own: what is wrong with the real one must not hide them.
    with tempfile.TemporaryDirectory(prefix="rowen-") as folder:
        apart = replace(config, store=replace(config.store, url=f"sqlite:///{folder}/rowen.db"))
        async with wiring.open_ports(apart) as ports:
            try:
                vector = await ports.embedder().embed_query("hello")
                model = ports.embedder().model
                right = len(vector) == model.dimensions
                said = f"`{model.name}`, {model.dimensions} dimensions, weights {model.digest}"
                yield Check("model", right, said if right else f"{said}, but vectors of {len(vector)}")
            except RowenError as exc:
                yield Check("model", False, exc.message, exc.hint)
            try:
                page = await ports.converter.convert(PAGE, content_type="text/html", url="http://localhost/")
                right = "World" in page.text and "menu" not in page.text
                yield Check("parser", right, "reads a page" if right else f"read a page as `{page.text}`")
            except RowenError as exc:
                yield Check("parser", False, exc.message, exc.hint)


async def _store(config: Config, sources: list[Source]) -> Check:
    """Fills `sources` with what is in it."""
    from rowen import wiring
    from rowen.doors.cli.commands import db_check
    from rowen.doors.words import count

    name = wiring.store_name(config)
    try:
        # First as other commands open it, which may upgrade it; then as it is.
        async with wiring.open_ports(config, create=False) as ports:
            sources += await ports.store.sources()
        async with wiring.open_check(config) as store:
            findings = await store.checking.structure(thorough=False) or await store.checking.references()
            read_only = ", read-only" if store.read_only else ""
        async with wiring.open_schema(config) as schema:
            without = "".join(f", without `{part}`" for part in await schema.missing())
    except NotFound as exc:
        named = bool(config.store.url)
        said = exc.message if named else f"`{name}`: not there yet; `rowen add` makes it"
        return Check("store", not named, said, exc.hint if named else None)
    except RowenError as exc:
        return Check("store", False, exc.message, exc.hint)
    if findings:
        found = "; ".join(db_check.in_words(findings[:MAX_SAID]))
        return Check("store", False, f"`{name}`: damaged: {found}", "`rowen db check` looks at everything")
    good = f"`{name}`: opens, schema up to date, not damaged, {count(len(sources), 'source')}"
    return Check("store", True, f"{good}{read_only}{without}")


async def _reach(config: Config, sources: list[Source]) -> list[Reached]:
    from rowen import wiring
    from rowen.managing.reach import reach

    if not sources:
        return []
    async with wiring.open_ports(config, create=False) as ports:
        return await reach(ports, sources, limit_s=REACH_LIMIT_S)


def _sources(sources: list[Source], reached: list[Reached]) -> Check:
    from rowen.doors.words import count

    asked = [one for one in reached if one.asked]
    if not asked:
        return Check("sources", True, f"{count(len(sources), 'source')}, none of them asked")
    answer = sum(one.problem is None for one in asked)
    return Check("sources", True, f"{answer:,} of {count(len(asked), 'source')} can be reached")


async def _clock(config: Config, reached: list[Reached]) -> Check:
    """Is this clock right, by what servers say? Are there times in the store that lie in the future?"""
    from rowen import wiring

    try:
        async with wiring.open_ports(config, create=False) as ports:
            now = ports.clock.now()
            ahead = await ports.store.times_ahead(now=now)
    except RowenError:
        # The check of the store says why.
        return Check("clock", True, "no stored time to compare with")
    said = f"{now:%Y-%m-%d %H:%M} UTC"
    off_s = _clock_is_off_s(reached)
    if off_s is not None and abs(off_s) > SKEW.total_seconds():
        from rowen.doors.words import seconds

        way = "ahead of" if off_s > 0 else "behind"
        return Check(
            "clock",
            False,
            f"{said}: {seconds(abs(off_s))} {way} the servers that answered",
            "set the clock right, for example with `timedatectl set-ntp true`",
        )
    if off_s is not None:
        said += ", as the servers say"
    if not ahead:
        return Check("clock", True, f"{said}, no stored time is later")
    first = ahead[0]
    more = f", and {len(ahead) - 1} more" if len(ahead) > 1 else ""
    return Check(
        "clock",
        False,
        f"{said}, and {first.of} `{first.name}` has {first.field} {first.at:%Y-%m-%d %H:%M}{more}",
        "set the clock right if it is behind; times in the future are not believed, and the next run replaces"
        " them",
    )


def _clock_is_off_s(reached: list[Reached]) -> float | None:
    """By the middle of what servers say: one of them may be wrong, or answer from an old copy."""
    from statistics import median

    off = [
        (one.answered_at - one.server_time).total_seconds()
        for one in reached
        if one.answered_at and one.server_time
    ]
    return median(off) if off else None


def _of_plugin(plugin: PluginState) -> Check:
    said = f"`{plugin.name}` in {plugin.group}, {plugin.distribution} {plugin.version}"
    return Check("plug-in", plugin.ok, plugin.error or said, plugin.hint)


def _sqlite() -> Check:
    import apsw

    version = apsw.sqlite_lib_version()
    if "ENABLE_FTS5" in apsw.compile_options:
        return Check("sqlite", True, f"{version} with FTS5")
    hint = "install the `apsw` wheel, it has its own SQLite"
    return Check("sqlite", False, f"{version} without FTS5", hint)


def _decoders() -> Check:
    """What servers may pack their pages with; fewer only means larger downloads."""
    modules = {"gzip": ("zlib",), "br": ("brotli",), "zstd": ("compression", "backports.zstd")}
    there = [name for name, any_of in modules.items() if any(_installed(module) for module in any_of)]
    return Check("compression", True, ", ".join(there))


def _authorities() -> Check:
    """Does this machine know the authorities that sign certificates? Without them no `https` site answers."""
    import ssl

    places = ssl.get_default_verify_paths()
    place = places.cafile or places.capath
    if place:
        return Check("certificates", True, f"authorities in `{place}`")
    hint = "install the package `ca-certificates`, or set SSL_CERT_FILE to a PEM file"
    return Check("certificates", False, "no authorities are known: no https site can be asked", hint)


EXTRAS = {
    "brotli": ("brotli", "smaller downloads"),
    "docs": ("pypdfium2", "PDF files"),
    "parquet": ("pyarrow", "Parquet exports"),
    "postgres": ("psycopg", "PostgreSQL"),
    "quality": ("onnxruntime", "a better local model"),
    "rdf": ("pyoxigraph", "catalogues in Turtle"),
    "render": ("playwright", "pages that need JavaScript"),
    "sheets": ("cryptography", "Google Sheets"),
}
"""What `pip install 'rowen[NAME]'` adds: the package that shows it is there, and what it is for."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def _extras() -> Check:
    missing = {name: what for name, (module, what) in EXTRAS.items() if not _installed(module)}
    said = f"installed: {', '.join(name for name in EXTRAS if name not in missing) or 'none'}"
    if not missing:
        return Check("extras", True, said)
    absent = ", ".join(f"{name} ({what})" for name, what in missing.items())
    hint = f"pip install 'rowen[{','.join(missing)}]' adds them"
    return Check("extras", True, f"{said}; not installed: {absent}", hint)


def _browser(config: Config, sources: list[Source]) -> Check:
    """A browser is needed only where a source asks for one."""
    wanted = [source.label for source in sources if source.params.get("render")]
    found = config.render.browser or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found and (Path(found).exists() or shutil.which(found)):
        return Check("browser", True, f"`{found}`")
    if not wanted:
        return Check("browser", True, "none found; only sources with `render` need one")
    hint = "install Chromium, for example with `apt install chromium`"
    return Check("browser", False, f"none found; source `{wanted[0]}` asks for one", hint)


def _failing(source: Source) -> Check:
    """What its last run met may be over by now, and is no fault of this installation: it is only told."""
    said = f"`{source.label}`: {last_run(source)}: {source.last_error or source.status.value}"
    hint = f"`rowen sync {source.label}` tries again; `rowen runs {source.label}` shows what happened"
    return Check("source", True, said, hint)


def _ca_file(label: str, path: str) -> Check:
    import ssl

    try:
        ssl.create_default_context().load_verify_locations(path)
    except OSError as exc:  # ssl.SSLError is one
        fact = "no certificate in it" if isinstance(exc, ssl.SSLError) else exc.strerror
        return Check("ca_file", False, f"source `{label}`: `{path}`: {fact}", "it must be a PEM file")
    return Check("ca_file", True, f"source `{label}`: `{path}`")


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _folder(path: Path) -> Iterator[Check]:
    """The folder of the store, or the nearest that exists above it."""
    folder = path.absolute().parent
    while not folder.exists():
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            yield Check("data folder", True, f"`{folder}`: can be written")
    except OSError as exc:
        yield Check(
            "data folder",
            False,
            f"`{folder}`: {exc.strerror}",
            "choose another with `--db sqlite:///path/rowen.db`",
        )
    free = shutil.disk_usage(folder).free
    enough = free >= LEAST_FREE_BYTES
    hint = None if enough else "free some space, or run `rowen vacuum`"
    from rowen.doors.words import size

    yield Check("disk", enough, f"{size(free)} free", hint)
