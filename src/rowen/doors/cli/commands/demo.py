"""`rowen demo`: two syncs of a bundled site, so that the second one can be compared with the first.

Works without internet, in a temporary folder that is deleted at the end, also after a failure.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.output import Output

if TYPE_CHECKING:
    from rowen.core.run import Event
    from rowen.core.source import Source
    from rowen.doors.cli.progress import Progress
    from rowen.doors.demo import DemoServer, DemoSite
    from rowen.engine.ports import Ports
    from rowen.engine.receipt import Receipt

QUESTIONS = ("how long does it wait before trying again", "take a machine out of service")
GONE = '"quernd"'
NEXT = (
    ("rowen add https://docs.python.org/3/ --name python", "harvest a real site"),
    ("rowen sync python", "the second time is the cheap one"),
    ('rowen search "read a file line by line"', "ask it"),
    ("rowen status", "what is there"),
    ("rowen --help", "everything else"),
)


@rowen_command("demo")
def command(call: Call) -> None:
    """Sync a small bundled documentation site, change it, sync it again, and compare.

    Needs no internet and leaves nothing behind.
    """
    from rowen.doors.cli import session
    from rowen.doors.demo import DemoServer, DemoSite

    site = DemoSite()
    with tempfile.TemporaryDirectory(prefix="rowen-demo-") as folder, DemoServer(site) as server:
        call.db = f"sqlite:///{Path(folder) / 'rowen.db'}"

        async def work(ports: Ports) -> None:
            await _Tour(ports, call.out, site, server).walk()

        session.run(call, work, interrupted="interrupted; the demo left nothing behind", creates=True)


class _Tour:
    def __init__(self, ports: Ports, out: Output, site: DemoSite, server: DemoServer) -> None:
        self._ports = ports
        self._out = out
        self._site = site
        self._server = server

    async def walk(self) -> None:
        from rowen.doors.cli.commands import add, diff, search

        ports, out = self._ports, self._out
        self._title("A small documentation site", f"{len(self._site)} pages about a task queue, on localhost")
        self._shell(f"rowen add {self._server.url} --name quern")
        await add.perform(ports, out, self._server.url, name="quern")

        self._title("The first harvest", "everything is new")
        first = await self._sync()

        self._title("The site changes", "as sites do")
        for change in self._site.second_season():
            self._say(f"  {change}")

        self._title("The second harvest", "only what changed costs anything")
        second = await self._sync()

        self._title("Both receipts side by side")
        self._compare(first, second)

        self._title("Search", "finds the new text, and nothing of the removed page")
        for question in QUESTIONS:
            self._shell(f'rowen search "{question}" --limit 2')
            await search.perform(ports, out, question, limit=2)
            self._say("")
        self._shell(f"rowen search '{GONE}' --mode keyword", "# it stood on the removed page")
        await search.perform(ports, out, GONE, mode="keyword")

        self._title("What changed", "between the two generations; `rowen rollback quern` would go back")
        self._shell("rowen diff quern")
        await diff.perform(ports, out, await self._source())

        self._title("Next")
        for line, why in NEXT:
            self._say(f"  .venv/bin/{line:<52}", f"# {why}")

    async def _sync(self) -> Receipt:
        from rowen.doors.cli.commands import sync
        from rowen.doors.cli.progress import BarProgress, Silence

        self._shell("rowen sync quern")
        on_terminal = self._out.messages.is_terminal and not self._out.json
        progress: Progress[Event] = BarProgress(self._out.messages) if on_terminal else Silence()
        return await sync.perform(self._ports, self._out, await self._source(), progress=progress)

    async def _source(self) -> Source:
        from rowen.managing.find import find

        return await find(self._ports.store, "quern")

    def _compare(self, first: Receipt, second: Receipt) -> None:
        from rowen.doors.cli.receipt import side_by_side

        self._out.print(side_by_side([("first harvest", first), ("second harvest", second)]))

    def _title(self, text: str, remark: str = "") -> None:
        from rowen.doors.cli.drawing.text import Text

        self._out.line("")
        line = Text("── ", style="green").append(text, "bold green")
        self._out.line(line.append(f"  {remark}", "dim") if remark else line)

    def _shell(self, line: str, remark: str = "") -> None:
        from rowen.doors.cli.drawing.text import Text

        text = Text("$ ", style="dim").append(line, "bold default")
        self._out.line(text.append(f"  {remark}", "dim") if remark else text)

    def _say(self, text: str, remark: str = "") -> None:
        from rowen.doors.cli.drawing.text import Text

        self._out.line(Text(text).append(remark, "dim"))
