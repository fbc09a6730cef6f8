"""An invented corpus that looks like documentation to a search engine, and how to load it in bulk.

Words have the frequencies of a natural language (Zipf) and come from the vocabulary of the default model, so
that its vectors mean something. A topic is a word and those nearest to it; a document has a topic and a few
words of its own, so vectors form clusters in clusters. The shares below were chosen so that sections are as
near to questions and to each other as 52,000 docstrings of Python packages are. One source holds a hundredth
of the sections. A document is one content, packed as the store packs it, and its passages are cut out of it,
as a run leaves them: to show a hit, its page is opened. Nothing is measured here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import psycopg
from numpy.typing import NDArray

from rowen.adapters.embedders.static import MODEL, TOKENIZER, StaticEmbedder
from rowen.adapters.store.shared.search.words import words as postgres_words
from rowen.adapters.store.shared.slices import packed as packed_runs
from rowen.adapters.store.sqlite.texts import pack

SMALL, LARGE = 1, 2
"""The ids of the two sources."""
WORDS = 40_000
TOPICS, TOPIC_WORDS, OWN_WORDS = 150, 100, 8
FROM_TOPIC, FROM_OWN = 0.06, 0.12
"""Of the words of a section. The others could stand anywhere."""
PER_DOCUMENT = 8
MEAN_WORDS = 90
BATCH = 4096
NOW, EARLIER = "2026-05-01T12:00:00.000000+00:00", "2026-04-01T12:00:00.000000+00:00"
"""When every other document was fetched."""
TEAMS = 10
"""Values of a field in the metadata of documents, each as frequent."""

Rows = Iterator[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Section:
    id: int
    source_id: int
    document_id: int
    position: int
    heading: str
    text: str
    vector: bytes

    @property
    def hash(self) -> bytes:
        return hashlib.sha256(f"{self.id} {self.heading}\n{self.text}".encode()).digest()


class Corpus:
    def __init__(self, sections: int, *, seed: int = 7) -> None:
        self.sections = sections
        self.small = max(PER_DOCUMENT, sections // 100 // PER_DOCUMENT * PER_DOCUMENT)
        """So many sections, the first ones, are in the small source."""
        self.embedder = StaticEmbedder()
        self._chance = np.random.default_rng(seed)
        self._words = _vocabulary(self._chance)
        self._topics = np.empty((0, TOPIC_WORDS), np.int64)
        self._often = _zipf(WORDS, 1.07)
        self._often_in_topic = _zipf(TOPIC_WORDS, 0.7)
        self._often_here = _zipf(OWN_WORDS, 1.0)

    async def prepare(self) -> None:
        """Find the topics: this takes the model."""
        embedded = b"".join(await self.embedder.embed(self._words))
        near = np.frombuffer(embedded, np.int8).reshape(WORDS, -1).astype(np.float32)
        seeds = _ranks(self._chance, 150, 10_000, TOPICS)
        self._topics = np.argsort(-(near[seeds] @ near.T), axis=1)[:, :TOPIC_WORDS]

    async def batches(self) -> AsyncIterator[list[Section]]:
        """Whole documents, a few thousand sections at a time."""
        for start in range(0, self.sections, BATCH):
            numbers = range(start, min(start + BATCH, self.sections))
            written = self._written(len(numbers))
            vectors = await self.embedder.embed([f"{heading}\n{text}" for heading, text in written])
            yield [
                Section(
                    id=number + 1,
                    source_id=SMALL if number < self.small else LARGE,
                    document_id=number // PER_DOCUMENT + 1,
                    position=number % PER_DOCUMENT,
                    heading=heading,
                    text=text,
                    vector=vector,
                )
                for number, (heading, text), vector in zip(numbers, written, vectors, strict=True)
            ]

    def questions(self, count: int) -> list[str]:
        """Three to five words: about a document, its topic, and some that could stand anywhere."""
        chance = np.random.default_rng(11)
        asked = []
        for topic, own in zip(*self._documents(chance, count), strict=True):
            ranks = [
                *own[self._often_here.searchsorted(chance.random(chance.integers(1, 3)))],
                self._topics[topic, chance.integers(TOPIC_WORDS)],
                *_ranks(chance, 100, 5000, int(chance.integers(1, 3))),
            ]
            asked.append(" ".join(self._words[rank] for rank in ranks))
        return asked

    def _documents(
        self, chance: np.random.Generator, count: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The topic of each, and its own words."""
        topics = chance.integers(TOPICS, size=count)
        chosen = chance.random((count, TOPIC_WORDS)).argsort(axis=1)[:, :OWN_WORDS]
        return topics, np.take_along_axis(self._topics[topics], chosen, axis=1)

    def _written(self, count: int) -> list[tuple[str, str]]:
        """Heading and text of so many sections."""
        chance = self._chance
        topics, own = self._documents(chance, -(-count // PER_DOCUMENT))
        lengths = chance.lognormal(np.log(MEAN_WORDS), 0.6, count).astype(np.int64).clip(12, 400)
        document = np.repeat(np.arange(count) // PER_DOCUMENT, lengths)
        drawn = chance.random((4, len(document)))
        from_topic = self._topics[topics[document], self._often_in_topic.searchsorted(drawn[0])]
        from_own = own[document, self._often_here.searchsorted(drawn[1])]
        ranks = np.select(
            [drawn[3] < FROM_TOPIC, drawn[3] < FROM_TOPIC + FROM_OWN],
            [from_topic, from_own],
            self._often.searchsorted(drawn[2]),
        )
        written = []
        for chosen in np.split(ranks, np.cumsum(lengths)[:-1]):
            words = [self._words[rank] for rank in chosen]
            written.append((" ".join(words[:3]).title(), " ".join(words) + "."))
        return written


def _ranks(chance: np.random.Generator, low: int, high: int, count: int) -> NDArray[np.int64]:
    """Neither all common nor all rare."""
    return np.exp(chance.uniform(np.log(low), np.log(high), count)).astype(np.int64)


def _zipf(count: int, exponent: float) -> NDArray[np.float64]:
    weights = 1 / (np.arange(count) + 2.7) ** exponent
    summed: NDArray[np.float64] = np.cumsum(weights / weights.sum())
    summed[-1] = 1.0
    return summed


def _vocabulary(chance: np.random.Generator) -> list[str]:
    """The whole words among the model's tokens, common ones first; then words made of two of them."""
    spec = find_spec("wordllama")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    file = Path(spec.submodule_search_locations[0]) / TOKENIZER
    tokens: dict[str, int] = json.loads(file.read_text("utf-8"))["model"]["vocab"]
    whole = [token[1:] for token in sorted(tokens, key=tokens.__getitem__) if token.startswith("▁")]
    words = [word for word in whole if word.isascii() and word.isalpha() and word.islower() and len(word) > 2]
    seen = dict.fromkeys(words)
    while len(seen) < WORDS:
        first, second = chance.integers(0, len(words), 2)
        seen[words[first] + words[second]] = None
    return list(seen)


# Loading: the rows of both databases, and the two ways in.


def _digest(number: int) -> bytes:
    """A hash as texts have them: no two begin alike."""
    return hashlib.sha256(str(number).encode()).digest()


def _rows(sections: Sequence[Section]) -> dict[str, Rows]:
    """By table, what a run would have written of these sections, all of them visible."""
    first = {one.document_id: one for one in reversed(sections)}
    contents = dict.fromkeys(first, "")
    cut: list[Sequence[Any]] = []
    for one in sections:
        head = f"## {one.heading}\n\n"
        start = len(contents[one.document_id])
        contents[one.document_id] += f"{head}{one.text}\n\n"
        end = len(contents[one.document_id])
        runs = packed_runs((len(head), len(one.text)))
        cut.append((one.document_id, one.position, 2, None, one.heading, None, start, end, one.id, runs))
    return {
        "refs": ((one.document_id, one.source_id, _url(one)) for one in first.values()),
        "contents": ((number, _digest(number), text, True) for number, text in contents.items()),
        "passages": ((one.id, one.hash, one.heading, one.text) for one in sections),
        "sections": iter(cut),
        "vectors": ((one.id, 1, one.vector) for one in sections),
        "documents": (
            (
                *(one.document_id, one.source_id, one.document_id, one.document_id, _url(one), one.heading),
                *("text/html", b"", 1, b"", NOW if one.document_id % 2 else EARLIER, 1),
                f'{{"team": "{one.document_id % TEAMS}"}}',
            )
            for one in first.values()
        ),
    }


COLUMNS = {
    "refs": ("id", "source_id", "reference"),
    "contents": ("id", "hash", "text", "sectioned"),
    "passages": ("id", "hash", "heading_path", "text", "chars"),
    "sections": (
        *("content_id", "position", "level", "parent", "heading", "anchor"),
        *("start_at", "end_at", "passage_id", "kept"),
    ),
    "vectors": ("passage_id", "model_id", "vector"),
    "documents": (
        *("id", "source_id", "ref_id", "content_id", "url", "title"),
        *("content_type", "payload_hash", "depth", "links", "fetched_at", "born", "metadata"),
    ),
}
ONCE = (
    *(
        "INSERT INTO sources (id, key, kind, name, location, active_generation, last_generation, created_at)"
        f" VALUES ({number}, '{name}', 'web', '{name}', 'https://{name}.example/', 1, 1, '{NOW}')"
        for number, name in ((SMALL, "small"), (LARGE, "large"))
    ),
    f"INSERT INTO models (id, name, digest, dimensions)"
    f" VALUES (1, '{MODEL.name}', '{MODEL.digest}', {MODEL.dimensions})",
)


def load_sqlite(db: apsw.Connection, sections: Sequence[Section]) -> None:
    with db:
        for table, rows in _rows(sections).items():
            names = COLUMNS[table]
            if table == "contents":
                rows = ((number, digest, pack(text), there) for number, digest, text, there in rows)
            elif table == "passages":
                # A passage has no text of its own: its section says which part of the content it is.
                rows = ((*row[:3], "", len(row[3])) for row in rows)
            places = ", ".join("?" * len(names))
            db.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})", rows)


def load_postgres(db: psycopg.Connection[Any], sections: Sequence[Section]) -> None:
    with db.transaction(), db.cursor() as cursor:
        for table, rows in _rows(sections).items():
            names = COLUMNS[table]
            if table == "passages":
                # The server makes the words, so these come in through a table of their own.
                cursor.execute(
                    "CREATE TEMP TABLE came (id bigint, hash bytea, heading_path text, text text,"
                    " heading_words text, text_words text) ON COMMIT DROP"
                )
                rows = ((*row, postgres_words(row[2]), postgres_words(row[3])) for row in rows)
                table, names = "came", (*names[:4], "heading_words", "text_words")
            elif table == "refs":
                rows = ((*row, hashlib.sha256(row[2].encode()).digest()) for row in rows)
                names = (*names, "digest")
            elif table == "vectors":
                rows = ((*row, str(np.frombuffer(row[2], np.int8).tolist())) for row in rows)
                names = (*names, "embedding")
            with cursor.copy(f"COPY {table} ({', '.join(names)}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
            if table == "came":
                cursor.execute(
                    "INSERT INTO passages (id, hash, heading_path, text, chars, words)"
                    " SELECT id, hash, heading_path, '', length(text),"
                    " setweight(to_tsvector('rowen', heading_words), 'A')"
                    " || setweight(to_tsvector('rowen', text_words), 'D') FROM came"
                )


def _url(section: Section) -> str:
    name = "small" if section.source_id == SMALL else "large"
    return f"https://{name}.example/{section.document_id}.html"
