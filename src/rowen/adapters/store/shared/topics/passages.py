"""Passages and their vectors, each stored once for all documents that use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rowen.adapters.store.shared.database import Topic, reads, writes
from rowen.adapters.store.shared.slices import packed, said
from rowen.adapters.store.shared.transaction import Lock, Transaction
from rowen.core.search.symbols import words_of
from rowen.core.section import Passage, Section
from rowen.ports.embedder import Model
from rowen.ports.store.passages import EmbeddingGap, PassageState


class Passages(Topic):
    @reads
    def passage_states(
        self, db: Transaction, hashes: Sequence[bytes], model: Model
    ) -> dict[bytes, PassageState]:
        rows = db.rows("passage_states", model=find_model(db, model), hashes=list(hashes))
        return {row[0]: PassageState(passage_id=row[1], embedded=bool(row[2])) for row in rows}

    @writes
    def save_passages(
        self, db: Transaction, passages: Sequence[Passage], vectors: Mapping[bytes, bytes], model: Model
    ) -> None:
        db.lock(Lock.TEXTS_USED)
        store_vectors(db, vectors, passage_ids(db, passages), model)

    @writes
    def save_vectors(self, db: Transaction, vectors: Mapping[bytes, bytes], model: Model) -> None:
        db.lock(Lock.TEXTS_USED)
        store_vectors(db, vectors, dict(db.rows("passages_find", hashes=list(vectors))), model)

    @reads
    def embedding_gap(self, db: Transaction, model: Model, source_id: int | None = None) -> EmbeddingGap:
        ((passages, missing, chars),) = db.rows(
            "embedding_gap", model=find_model(db, model), source=source_id
        )
        return EmbeddingGap(passages=passages, missing=missing, missing_chars=chars)

    @reads
    def unembedded(self, db: Transaction, model: Model, *, limit: int) -> list[Passage]:
        rows = db.rows("unembedded", model=find_model(db, model), limit=limit)
        return [Passage(*one) for one in said(db, [row[0] for row in rows]).values()]


def find_model(db: Transaction, model: Model) -> int:
    """0 for a model that has no vectors here yet."""
    return db.value("model_find", name=model.name, digest=model.digest, dimensions=model.dimensions) or 0


def passage_ids(db: Transaction, passages: Sequence[Passage]) -> dict[bytes, int]:
    """Ids of all these passages; the ones met for the first time are stored with their words."""
    wanted = {passage.hash: passage for passage in passages}
    ids: dict[bytes, int] = dict(db.rows("passages_find", hashes=list(wanted)))
    missing = db.in_order(digest for digest in wanted if digest not in ids)
    if missing:
        ids |= db.insert_passages([wanted[digest] for digest in missing])
    return ids


def store_vectors(
    db: Transaction, vectors: Mapping[bytes, bytes], ids: Mapping[bytes, int], model: Model
) -> None:
    by_passage = {ids[digest]: vector for digest, vector in vectors.items() if digest in ids}
    if not by_passage:
        return
    model_id = find_model(db, model) or db.value(
        "model_insert", name=model.name, digest=model.digest, dimensions=model.dimensions
    )
    there = {row[0] for row in db.rows("vectors_there", model=model_id, passages=list(by_passage))}
    missing = db.in_order(passage for passage in by_passage if passage not in there)
    db.insert_vectors(model_id, {passage: by_passage[passage] for passage in missing})


def store_sections(
    db: Transaction, trees: Mapping[int, Sequence[Section]], passages: Mapping[bytes, int]
) -> None:
    """The sections of contents, where they are missing."""
    missing = [row[0] for row in db.rows("contents_to_section", ids=list(trees))]
    if not missing:
        return
    db.copy(
        "sections_insert",
        (
            (
                content_id,
                section.position,
                section.level,
                section.parent,
                section.heading,
                section.anchor,
                section.start,
                section.end,
                passages[section.passage_hash],
                round(section.link_share * 100),
                section.form.value,
                *_symbol(section),
                packed(section.kept),
            )
            for content_id in missing
            for section in trees[content_id]
        ),
    )
    db.write("contents_sectioned", ids=missing)


def _symbol(section: Section) -> tuple[str | None, str | None, str | None]:
    if section.symbol is None:
        return None, None, None
    return section.symbol.name, section.symbol.kind, words_of(section.symbol.name)
