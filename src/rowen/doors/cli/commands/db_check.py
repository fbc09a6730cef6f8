"""`rowen db check`: is everything in the store what was written?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.commands.db_copy import choose, progress_option
from rowen.errors import StoreDamaged

if TYPE_CHECKING:
    from rowen.core.exchange.store_check import Finding
    from rowen.managing.check_store import Checked


@rowen_command("check", short_help="Look for damage in the store.")
@progress_option
def check(call: Call, progress: str) -> int:
    """Check everything in the store: its pages, rows that refer to others, each text against its hash.

    Nothing is changed. Ends with 1 if something is damaged.
    """
    from rowen import wiring
    from rowen.doors.cli import session
    from rowen.managing import check_store

    config = call.config()

    async def work() -> Checked:
        try:
            async with wiring.open_check(config) as ports:
                with choose(progress, call.out) as show:
                    return await check_store.check(ports, on_event=show)
        except StoreDamaged as exc:
            return check_store.unreadable(exc)

    checked = session.run_async(work)
    name = wiring.store_name(config)
    if call.out.json:
        findings = [asdict(one) for one in checked.findings]
        call.out.emit({"store": name, "ok": checked.good, "rows": checked.rows, "findings": findings})
    elif checked.good:
        call.out.line(f"`{name}`: nothing is damaged, {checked.rows:,} rows were looked at")
    else:
        for line in in_words(checked.findings):
            call.out.line(line)
        call.out.warn(f"store `{name}`: damaged", hint(name, wiring.is_postgres(config)))
    return 0 if checked.good else 1


def in_words(findings: list[Finding]) -> list[str]:
    from rowen.doors.words import count

    return [
        f"{one.part}: {one.said}"
        + (f" ({count(one.rows, 'row')})" if one.rows and one.part != "file" else "")
        for one in findings
    ]


def hint(name: str, postgres: bool) -> str:
    if postgres:
        return "restore the database from a backup; `rowen sync --full-sync` then asks for everything again"
    return f"`rowen db rescue sqlite:///{name} sqlite:///NEW` saves what can be read into a new store"
