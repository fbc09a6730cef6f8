"""`rowen search`: search the visible documents, with a link to each section that was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowen.doors.cli import last_search
from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.output import Output, clean
from rowen.doors.cli.starting.declared import click
from rowen.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from rowen.core.search.as_of import AsOf
    from rowen.core.search.hit import Answer, Hit
    from rowen.engine.ports import Ports
    from rowen.ports.store.store import Store

MAX_TITLE_CHARS = 160
SOURCES_TOLD = 5
COPIES_SHOWN = 3


@store_command("search", reads=True)
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--source",
    "sources",
    multiple=True,
    shell_complete=source_names,
    metavar="NAME",
    help="Only in this source: `name`, `name@3` or `name@3.12`; repeatable.",
)
@click.option("--kind", "kinds", multiple=True, help="Only in sources of this kind; repeatable.")
@click.option(
    "--where",
    multiple=True,
    metavar="KEY=VALUE",
    help="Only documents with this metadata, for example `tags=water`; repeatable.",
)
@click.option(
    "--language", default="", metavar="TAG", help="Only what is in this language, for example `de`."
)
@click.option("--limit", default=10, show_default=True, help="At most this many hits.")
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "keyword", "vector"]),
    default="hybrid",
    show_default=True,
    help="By words, by meaning, or by both.",
)
@click.option(
    "--as-of",
    metavar="WHEN",
    help="What was answered then: a date (its beginning, UTC), an instant, or `2d` for two days ago.",
)
@click.option(
    "--generation",
    type=click.IntRange(1),
    metavar="G",
    help="In this generation of the source, if it is kept.",
)
@click.option(
    "--fresh",
    metavar="SHARE",
    help="Ask again for hits that are less likely current than this, for example `99%`, before answering.",
)
async def command(call: Call, query: tuple[str, ...], **options: Any) -> None:
    """Search for QUERY in the visible generation of every source, or in what was visible earlier.

    Quotes around several words may be left out; `--` comes before a query that begins with a dash.
    """
    from rowen import wiring

    await perform(call.ports, call.out, " ".join(query), store=wiring.store_name(call.config()), **options)


async def perform(
    ports: Ports,
    out: Output,
    query: str,
    *,
    store: str | None = None,
    sources: tuple[str, ...] = (),
    kinds: tuple[str, ...] = (),
    where: tuple[str, ...] = (),
    language: str = "",
    limit: int = 10,
    mode: str = "hybrid",
    as_of: str | None = None,
    generation: int | None = None,
    fresh: str | None = None,
) -> Answer:
    """With the name of the `store`, the hits are remembered for `rowen show` and `rowen open`."""
    from rowen.core.freshness.recheck import wanted_share
    from rowen.core.search.hit import SearchMode
    from rowen.doors import asking

    changes: list[None] = []
    answer = await asking.search(
        ports,
        query,
        fresh=wanted_share(fresh) if fresh is not None else None,
        on_change=lambda: changes.append(None),
        sources=sources,
        kinds=_known(kinds),
        metadata=dict(_pair(one) for one in where),
        language=language,
        mode=SearchMode(mode),
        limit=limit,
        as_of=as_of,
        generation=generation,
    )
    if changes:
        from rowen.doors.cli.commands.announce import after_a_change

        await after_a_change(ports, out)
    if out.json:
        from rowen.doors.shapes import documents as shapes

        out.emit(shapes.Answer.show(answer))
        return answer
    if answer.rechecked:
        out.line(answer.rechecked.says)
        for note in answer.rechecked.notes:
            out.warn(clean(note))
    if answer.as_of:
        _show_time(out, answer, answer.as_of)
    if answer.degraded:
        out.warn(answer.degraded)
    if answer.corrected:
        out.line(f"showing results for {clean(answer.corrected)}")
    if answer.hits and not answer.fits:
        out.line("nothing fits well; nearest:")
    if store is not None:
        last_search.remember(
            store, query, [hit.url for hit in answer.hits], [hit.heading_path for hit in answer.hits]
        )
    several = answer.in_several_languages
    for number, hit in enumerate(answer.hits, 1):
        if number > 1:
            out.line("")
        _show(out, number, hit, ports.clock.now(), tell_language=several)
    if not answer.hits:
        given = {"--source": sources, "--kind": kinds, "--where": where, "--language": language}
        narrowed = [option for option, value in given.items() if value]
        await _nothing(ports.store, out, query, narrowed=narrowed)
    return answer


def _show(out: Output, number: int, hit: Hit, now: datetime, *, tell_language: bool = False) -> None:
    from rowen.doors.words import OLD_VERSION, proof

    spoken = f", {hit.language}" if hit.language and tell_language else ""
    said = f"  {hit.label}, generation {hit.generation}{spoken}"
    out.styled((f"{number}. ", "dim"), (_line(hit.title) or hit.url, "bold"), (said, "dim"))
    margin = len(str(number)) + 2
    if hit.heading_path and hit.heading_path != hit.title:
        out.styled((_line(hit.heading_path), "cyan"), margin=margin, wraps=True)
    if hit.snippet:
        out.styled(*highlighted(hit.snippet, hit.matches), margin=margin, wraps=True)
    out.styled((clean(hit.url), "blue"), margin=margin)
    if said := proof(hit.verified_at, hit.verified_by, hit.p_fresh, now):
        out.styled((said, "dim"), margin=margin, wraps=True)
    if hit.old_version:
        out.styled((OLD_VERSION, "yellow"), margin=margin, wraps=True)
    if hit.sections:
        also = "; ".join(_line(section.heading_path.rpartition(" › ")[2]) for section in hit.sections[:3])
        out.styled((f"also: {also}", "dim"), margin=margin, wraps=True)
    if same := hit.same_text_at:
        more = f" and {len(same) - 1} more" if len(same) > 1 else ""
        out.styled((f"same text at {clean(same[0].url)}{more}", "dim"), margin=margin)
    if hit.same_page_in:
        out.styled(
            (f"same page in {', '.join(map(clean, hit.same_page_in))}", "dim"), margin=margin, wraps=True
        )
    for copy in hit.copies[:COPIES_SHOWN]:
        out.styled((f"same dataset in {copy.label}: {clean(copy.url)}", "dim"), margin=margin)
    if len(hit.copies) > COPIES_SHOWN:
        out.styled((f"and in {len(hit.copies) - COPIES_SHOWN} more", "dim"), margin=margin)


def _show_time(out: Output, answer: Answer, as_of: AsOf) -> None:
    """What was visible then of the sources that answered, and what cannot be answered."""
    out.line(as_of.says)
    answering = {hit.label for hit in answer.hits}
    told = [one for one in as_of.sources if one.source in answering]
    for one in told or [one for one in as_of.sources if not one.missing][:SOURCES_TOLD]:
        out.line(f"  {clean(one.says)}")
    missing = [one for one in as_of.sources if one.missing]
    for one in missing[:SOURCES_TOLD]:
        out.warn(f"{clean(one.says)}")
    if len(missing) > SOURCES_TOLD:
        out.warn(f"and {len(missing) - SOURCES_TOLD} more sources had nothing then, or do not keep it")
    out.line("")


def _line(text: str) -> str:
    """A title for people: there are pages whose title is their whole text."""
    shown = clean(text)
    return shown if len(shown) <= MAX_TITLE_CHARS else shown[: MAX_TITLE_CHARS - 1].rstrip() + "…"


def highlighted(snippet: str, matches: Iterable[tuple[int, int]]) -> Iterator[tuple[str, str]]:
    """The matched words of a snippet by their colour; where there are no colours, plain text."""
    done = 0
    for start, end in matches:
        yield clean(snippet[done:start]), ""
        yield clean(snippet[start:end]), "bold yellow"
        done = end
    yield clean(snippet[done:]), ""


async def _nothing(store: Store, out: Output, query: str, *, narrowed: Sequence[str]) -> None:
    every: list[Any] = await store.sources()
    out.line(f"nothing found for `{clean(query)}`")
    if not every:
        out.note("hint: nothing is indexed yet: `rowen add docs.example.org --sync`")
    elif not any(source.active_generation for source in every):
        out.note("hint: no source was synced yet: run `rowen sync`")
    elif narrowed:
        without = " and ".join(f"`{option}`" for option in narrowed)
        out.note(f"hint: try without {without}, or with other words")
    else:
        out.note("hint: try fewer or other words, or `--mode vector` to search by meaning")


def _known(kinds: tuple[str, ...]) -> frozenset[str]:
    if not kinds:
        return frozenset()
    # All of them are heavy, and most searches name none.
    from rowen.registers import kinds as known

    register = known()
    for kind in kinds:
        register.check(kind)
    return frozenset(kinds)


def _pair(text: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if not separator or not key:
        raise UserError(f"condition `{text}`: expected `key=value`")
    return key, value
