from __future__ import annotations

import asyncio
import importlib.util
import io
import subprocess
import sys
from array import array
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from rowen.adapters.embedders import static, worker
from rowen.adapters.embedders.static import MAX_TOKENS, StaticEmbedder
from rowen.errors import EmbedderUnavailable
from tests.support.sizes import in_torture

pytestmark = pytest.mark.anyio


def wheel() -> Path:
    spec = importlib.util.find_spec("wordllama")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


@pytest.fixture(scope="module")
def loaded() -> static.Weights:
    return static.Weights.from_folder(wheel())


@pytest.fixture(scope="module")
def reference() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(wheel() / static.TOKENIZER))
    tokenizer.encode_special_tokens = True
    return tokenizer


def cosine(a: bytes, b: bytes) -> float:
    x, y = (np.frombuffer(v, np.int8).astype(float) for v in (a, b))
    return float(x @ y / (np.linalg.norm(x) * np.linalg.norm(y)))


async def test_a_text_becomes_the_signed_bytes_of_a_unit_vector(embedder: StaticEmbedder) -> None:
    (vector,) = await embedder.embed(["How to install a package"])
    assert len(vector) == embedder.model.dimensions == 256
    length = np.linalg.norm(np.frombuffer(vector, np.int8).astype(float))
    assert length == pytest.approx(127, rel=0.01)


async def test_near_in_meaning_is_near_in_space(embedder: StaticEmbedder) -> None:
    query = await embedder.embed_query("remove a file")
    near, far = await embedder.embed(["Deleting files from the directory", "The weather in spring is mild"])
    assert cosine(query, near) > cosine(query, far) + 0.2


async def test_texts_do_not_influence_their_neighbours(embedder: StaticEmbedder) -> None:
    texts = [f"text number {n} about {'queues ' * (n % 7)}" for n in range(600)]
    together = await embedder.embed(texts)
    assert len(together) == 600
    for n in (0, 255, 256, 599):
        assert together[n] == await embedder.embed_query(texts[n])


@pytest.mark.filterwarnings("error")
async def test_an_empty_text_has_the_zero_vector(embedder: StaticEmbedder) -> None:
    empty, full = await embedder.embed(["", "words"])
    assert empty == bytes(256)
    assert any(full)
    assert await embedder.embed([]) == []


async def test_only_the_beginning_of_a_very_long_text_counts(embedder: StaticEmbedder) -> None:
    start = "queue " * MAX_TOKENS
    assert await embedder.embed_query(start + "weather " * 100_000) == await embedder.embed_query(start)


async def test_many_may_ask_at_once_before_the_model_is_loaded() -> None:
    fresh = StaticEmbedder()
    vectors = await asyncio.gather(*(fresh.embed([f"text {n}", "same"]) for n in range(8)))
    assert len({same for _, same in vectors}) == 1
    assert len({own for own, _ in vectors}) == 8


MIXED = st.text(alphabet="ab CDé  \n\t\r12.,()[]_<>s/'\"²\u00a0日本…«मे", max_size=80) | st.text(max_size=80)


@settings(max_examples=300)
@given(MIXED)
@example("<s>strike</s> \r\n  }); x²).")
@example("def f(a_b, *args):\n    return {'k': 10.25}\n")
def test_looking_words_up_gives_the_tokens_of_the_whole_text(
    loaded: static.Weights, reference: Tokenizer, text: str
) -> None:
    assert loaded.token_ids(text) == (
        reference.encode(text, add_special_tokens=False).ids or loaded.token_ids("")
    )


@given(st.text(st.characters(max_codepoint=127)))
@example("a  b\n 12345 6, (x)_y\t- \x00 ")
def test_a_question_in_ascii_is_cut_as_any_text_is(text: str) -> None:
    assert static.Weights._ascii_words.findall(text) == static.Weights._words.findall(text)


def test_no_token_of_the_vocabulary_spans_two_words(loaded: static.Weights, reference: Tokenizer) -> None:
    special = {"<unk>", "<s>", "</s>"} | {f"<0x{n:02X}>" for n in range(256)}
    for token in reference.get_vocab().keys() - special:
        text = token.replace("▁", " ")
        assert len(loaded._words.findall(text)) == 1, token


def test_the_memory_of_words_is_bounded() -> None:
    asked: list[str] = []

    def encode(word: str) -> list[int]:
        asked.append(word)
        return [1]

    words = static._Words(encode)
    words.MOST = 3  # type: ignore[misc]
    for word in ("a", "b", "a", "c", "d", "x" * 100, "x" * 100):
        assert words[word] == array("q", [1]).tobytes()
        assert len(words) <= 3
    assert asked == ["a", "b", "c", "d", "x" * 100, "x" * 100]


def test_the_model_says_which_weights_made_its_vectors() -> None:
    model = StaticEmbedder().model
    assert (model.name, model.dimensions, model.alpha) == ("wordllama-l2-supercat-256", 256, 0.3)
    assert static.WEIGHTS_SHA256.startswith(model.digest)
    assert len(model.digest) == 16


def copied_wheel(folder: Path) -> Path:
    for name in (static.WEIGHTS, static.TOKENIZER):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_bytes((wheel() / name).read_bytes())
    return folder


@pytest.mark.parametrize("name", [static.WEIGHTS, static.TOKENIZER])
async def test_a_missing_file_is_said_with_a_hint(tmp_path: Path, name: str) -> None:
    folder = copied_wheel(tmp_path)
    (folder / name).unlink()
    with pytest.raises(EmbedderUnavailable) as caught:
        await StaticEmbedder(folder).embed_query("x")
    assert Path(name).name in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("name", [static.WEIGHTS, static.TOKENIZER])
async def test_other_weights_under_our_name_are_refused(tmp_path: Path, name: str) -> None:
    folder = copied_wheel(tmp_path)
    data = bytearray((folder / name).read_bytes())
    data[-1] ^= 1
    (folder / name).write_bytes(data)
    with pytest.raises(EmbedderUnavailable, match="expected"):
        await StaticEmbedder(folder).embed_query("x")


async def test_a_model_that_failed_to_load_is_tried_again(tmp_path: Path) -> None:
    broken = StaticEmbedder(tmp_path)
    with pytest.raises(EmbedderUnavailable):
        await broken.embed_query("x")
    copied_wheel(tmp_path)
    assert any(await broken.embed_query("x"))


async def test_a_missing_package_is_said_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EmbedderUnavailable, match="not installed"):
        await StaticEmbedder().embed_query("x")


def test_nothing_heavy_is_imported_before_the_first_text() -> None:
    code = (
        "import sys\nfrom rowen.adapters.embedders import EmbedderSpec, make\n"
        "from rowen.adapters.store.shared.search.finder import Finder\n"
        "from rowen.adapters.store.shared.search.matrix import VectorMatrix\n"
        "from pathlib import Path\n"
        "make(EmbedderSpec())\nFinder(None, Path('x'))\nVectorMatrix(1, 256)\n"
        "heavy = ('numpy', 'tantivy', 'simsimd', 'tokenizers', 'safetensors', 'wordllama')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# in child processes

TEXTS = [
    f"Queues keep what workers take, number {number}, naïvely 漢字 {'x' * (number % 7)}"
    for number in range(300)
]


@pytest.fixture
async def in_children() -> AsyncIterator[StaticEmbedder]:
    embedder = StaticEmbedder(children=1)
    yield embedder
    await embedder.close()


async def test_a_harvest_is_embedded_in_a_child_with_the_same_vectors(
    in_children: StaticEmbedder, embedder: StaticEmbedder
) -> None:
    assert await in_children.embed(TEXTS) == await embedder.embed(TEXTS)
    assert in_children._weights is None, "this process has loaded nothing"


async def test_a_few_texts_and_questions_start_no_child(in_children: StaticEmbedder) -> None:
    await in_children.embed(TEXTS[:10])
    await in_children.embed_query("how do queues work")
    assert in_children._children is None


async def test_once_there_is_a_child_it_also_gets_the_last_few_texts(in_children: StaticEmbedder) -> None:
    await in_children.embed(TEXTS)
    assert await in_children.embed([]) == []
    await in_children.embed(TEXTS[:3])
    assert (in_children._weights, in_children._children.started) == (None, 1)


async def test_a_child_that_is_killed_costs_its_batch_a_second_try(in_children: StaticEmbedder) -> None:
    vectors = await in_children.embed(TEXTS)
    (child,) = in_children._children._idle
    child.kill()
    await child.wait()
    assert await in_children.embed(TEXTS) == vectors
    assert in_children._children.started == 2


async def test_where_no_child_starts_this_process_embeds(
    in_children: StaticEmbedder, embedder: StaticEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert await in_children.embed(TEXTS) == await embedder.embed(TEXTS)


async def test_half_a_surrogate_pair_is_no_reason_to_fail(in_children: StaticEmbedder) -> None:
    assert len(await in_children.embed([*TEXTS, "broken \ud83d text"])) == len(TEXTS) + 1


@pytest.mark.parametrize("texts", [[], [""], ["a", "", "é" * 5, "\n"], ["x" * 70_000]])
def test_texts_go_through_a_frame_unchanged(texts: list[str]) -> None:
    stream = io.BytesIO(worker.request(texts) * 2)
    assert [worker.read_request(stream) for _ in range(3)] == [texts, texts, None]


def test_another_number_of_vectors_than_of_texts_is_nonsense() -> None:
    with pytest.raises(ValueError, match="for 2 vectors"):
        worker.read_answer(bytes(256), 2)


async def test_a_question_gets_the_same_vector_from_the_table_that_a_process_before_left(
    tmp_path: Path, embedder: StaticEmbedder
) -> None:
    questions = [
        "How to install a package",
        "asyncio.gather(return_exceptions=True)",
        "Straße und 中文 🙂",
        "",
        " ",
    ]
    plain = [await embedder.embed_query(text) for text in questions]
    assert [await StaticEmbedder(cache=tmp_path).embed_query(text) for text in questions[:1]] == plain[:1]
    later = StaticEmbedder(cache=tmp_path)
    assert [await later.embed_query(text) for text in questions] == plain
    assert later._weights is None  # the tokenizer and all vectors were not read
    assert await later.embed(questions) == plain


async def test_a_few_texts_of_a_changed_page_do_not_load_the_tokenizer(
    tmp_path: Path, embedder: StaticEmbedder
) -> None:
    texts = [f"Section {n} of Straße 中文 {n * 7}" for n in range(static.WORTH_A_CHILD - 1)]
    fresh = StaticEmbedder(cache=tmp_path)
    found = await fresh.embed([*texts[1:], "half \ud83d of a pair"])
    assert found == await embedder.embed([*texts[1:], "half ? of a pair"])
    assert fresh._weights is None
    assert await fresh.embed([*texts, "one more"]) == await embedder.embed([*texts, "one more"])
    assert fresh._weights is not None


@pytest.mark.parametrize("most", [2, *in_torture(5)])
async def test_a_table_of_other_files_and_a_damaged_one_are_made_again(
    tmp_path: Path, embedder: StaticEmbedder, most: int
) -> None:
    question = "How to install a package"
    expected = await embedder.embed_query(question)
    await StaticEmbedder(cache=tmp_path).embed_query(question)
    (table,) = tmp_path.iterdir()
    whole = table.read_bytes()
    damages = (whole[:-4], whole[:20] + b"stamp" + whole[25:], b"", whole[:40], b"x" + whole[1:])
    for damaged in damages[:most]:
        table.write_bytes(damaged)
        again = StaticEmbedder(cache=tmp_path)
        assert await again.embed_query(question) == expected
        assert again._weights is None, "the table that was made again is used"
        assert table.read_bytes() == whole
    assert list(tmp_path.iterdir()) == [table]


async def test_a_folder_that_cannot_be_written_costs_only_time(
    tmp_path: Path, embedder: StaticEmbedder
) -> None:
    (tmp_path / "file").write_text("")
    question = "How to install a package"
    blocked = StaticEmbedder(cache=tmp_path / "file" / "models")
    assert await blocked.embed_query(question) == await embedder.embed_query(question)


@pytest.fixture(scope="module")
def table(loaded: static.Weights, tmp_path_factory: pytest.TempPathFactory) -> static.Weights:
    path = tmp_path_factory.mktemp("cache") / "tokens"
    static.leave_table(wheel(), path)
    found = static.Weights.from_table(wheel(), path)
    assert found is not None
    return found


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200))
@example(
    "abc  XYZ äöüß éñ 中文かな한국 🙂👩\u200d👩\u200d👧 \t\n 0123456789 ²½ _-<>{}«»… \u200e ﷽ \x00\x07 <s>"
)
def test_the_table_has_the_tokens_of_the_library(
    table: static.Weights, loaded: static.Weights, text: str
) -> None:
    assert table.token_ids(text) == loaded.token_ids(text)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200))
@example("")
@example("How to install a package")
def test_a_question_has_the_same_vector_with_and_without_numpy(
    table: static.Weights, without_numpy: static.Weights, loaded: static.Weights, text: str
) -> None:
    vector = without_numpy.question(text)
    assert table.question(text) == loaded.question(text) == vector
    # Texts of a harvest are added in single precision: a number may be rounded the other way.
    harvested = array("b", loaded.embed([text])[0])
    differences = [abs(a - b) for a, b in zip(array("b", vector), harvested, strict=True)]
    assert max(differences) <= 1
    assert sum(differences) <= 2


@pytest.fixture(scope="module")
def without_numpy(loaded: static.Weights, tmp_path_factory: pytest.TempPathFactory) -> static.Weights:
    path = tmp_path_factory.mktemp("cache") / "tokens"
    static.leave_table(wheel(), path)
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "numpy")
        found = static.Weights.from_table(wheel(), path)
    assert found is not None
    assert isinstance(found._weights, static._Rows)
    return found
