"""What a mistyped question means, by the names that are defined and the words that readers see."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from rowen.core.search.hit import Place
from rowen.core.search.symbols import fit, is_one_name, last_part, repaired, slips, words_of
from rowen.patterns import pattern
from rowen.ports.store.search import Search, SearchRequest, SearchResult

MOST_LOOKS = 5
"""For names that a mistyped one may mean and that readers can see."""
_WORD = pattern(r"[^\W_]+")


def reworded(asked: str, spelt: Mapping[str, str]) -> str:
    """With the names and words that were meant; those that are part of a name are repaired with it."""
    if not spelt:
        return asked
    names = [re.escape(one) for one in spelt if _WORD.fullmatch(one) is None]
    either = re.compile("|".join([*sorted(names, key=len, reverse=True), r"[^\W_]+"]))
    return either.sub(lambda found: spelt.get(found[0], spelt.get(found[0].lower(), found[0])), asked)


async def with_repair(
    store: Search,
    ask: Callable[[SearchRequest], Awaitable[SearchResult]],
    query: str,
    named: SearchRequest,
    places: Sequence[Place],
    all_places: Callable[[], Awaitable[Sequence[Place]]],
) -> tuple[Sequence[Place], str]:
    """The places found, and the name that was meant: another one, when nothing is called as typed.

    `named` asks for what is called by names, once these are known.
    """
    if not is_one_name(query) or any(place.symbol and fit(place.symbol, query) for place in places):
        return places, query
    word = words_of(query)
    written = {word, last_part(query).lower()}

    def is_written(places: Sequence[Place]) -> bool:
        return any(one in place.text.lower() for place in places for one in written)

    # A name that nothing is called may stand in a text.
    if is_written(await _with_texts(store, places)):
        return places, query
    known = await store.symbol_words(shortest=len(word) - slips(word), longest=len(word) + slips(word))
    near = repaired(query, known)
    if not near or is_written(await all_places()):
        return places, query
    found: Sequence[Place] = ()
    for _ in range(MOST_LOOKS):
        names = replace(named, names=near)
        found = (await ask(names)).places
        visible = {words_of(place.symbol or "") for place in found}
        hidden = {name for name in near if name not in visible}
        if not hidden:
            break
        # The store knows names of all generations; what readers do not see must not change the answer.
        known = [name for name in known if name not in hidden]
        near = repaired(query, known)
        if not near:
            break
    if not found:
        return places, query
    meant = min((place.symbol or "" for place in found), key=lambda name: (len(name), name))
    return [*found, *places], last_part(meant)


async def _with_texts(store: Search, places: Sequence[Place]) -> Sequence[Place]:
    """The places as far as their texts are still there."""
    without = [one for one in places if not one.text]
    if not without:
        return places
    texts = (await store.about([], without, proven=False)).texts
    return [one if one.text else one._replace(text=texts.get(one.passage_id, "")) for one in places]
