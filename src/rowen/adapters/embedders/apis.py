"""How each provider wants to be asked, and where its answer has the vectors.

Pure: texts in, a JSON body out; a JSON answer in, rows of numbers out. An answer of another shape raises
what reading it raises; `remote` makes one error of all of these.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from rowen.adapters.embedders.spec import Resolved
from rowen.core.safety.secrets import Secret


class Api(ABC):
    """What most providers share; one that differs says so in its own class."""

    path = "/embeddings"

    def url(self, resolved: Resolved) -> str:
        return _joined(resolved.base_url, self.path)

    def headers(self, key: Secret) -> dict[str, Secret]:
        return {"Authorization": Secret(f"Bearer {key.reveal()}")}

    @abstractmethod
    def body(self, resolved: Resolved, texts: Sequence[str], *, query: bool) -> dict[str, Any]: ...

    def rows(self, answer: Any) -> list[Any]:
        """`{"data": [{"index": 1, "embedding": ...}, ...]}`, in any order."""
        data = answer["data"]
        by_place = {one.get("index", position): one["embedding"] for position, one in enumerate(data)}
        if sorted(by_place) != list(range(len(data))):
            raise ValueError("an index is missing or doubled")
        return [by_place[place] for place in range(len(data))]


class OpenAi(Api):
    """`POST /v1/embeddings`: OpenAI, and the many servers that speak like it."""

    def body(self, resolved: Resolved, texts: Sequence[str], *, query: bool) -> dict[str, Any]:
        body = {"model": resolved.model, "input": list(texts), "encoding_format": resolved.encoding}
        return body | ({"dimensions": resolved.dimensions} if resolved.ask_dimensions else {})


class Gemini(Api):
    """`POST /v1beta/models/NAME:batchEmbedContents`; the key goes into a header, never into the address."""

    def url(self, resolved: Resolved) -> str:
        return f"{resolved.base_url}/models/{quote(resolved.model, safe='')}:batchEmbedContents"

    def headers(self, key: Secret) -> dict[str, Secret]:
        return {"x-goog-api-key": key}

    def body(self, resolved: Resolved, texts: Sequence[str], *, query: bool) -> dict[str, Any]:
        common: dict[str, Any] = {"model": f"models/{resolved.model}"}
        if resolved.task_types and not resolved.query_prefix:
            common["taskType"] = "RETRIEVAL_QUERY" if query else "RETRIEVAL_DOCUMENT"
        if resolved.ask_dimensions:
            common["outputDimensionality"] = resolved.dimensions
        return {"requests": [common | {"content": {"parts": [{"text": text}]}} for text in texts]}

    def rows(self, answer: Any) -> list[Any]:
        return [one["values"] for one in answer["embeddings"]]


class Ollama(Api):
    """`POST /api/embed`; it cuts what is too long for the model by itself."""

    def url(self, resolved: Resolved) -> str:
        return _joined(resolved.base_url.removesuffix("/api"), "/api/embed")

    def body(self, resolved: Resolved, texts: Sequence[str], *, query: bool) -> dict[str, Any]:
        body: dict[str, Any] = {"model": resolved.model, "input": list(texts), "truncate": True}
        return body | ({"dimensions": resolved.dimensions} if resolved.ask_dimensions else {})

    def rows(self, answer: Any) -> list[Any]:
        return list(answer["embeddings"])


class Cohere(Api):
    """`POST /v2/embed`; `input_type` must be given."""

    path = "/embed"

    def body(self, resolved: Resolved, texts: Sequence[str], *, query: bool) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": resolved.model,
            "texts": list(texts),
            "input_type": "search_query" if query and resolved.task_types else "search_document",
            "embedding_types": [resolved.encoding],
            "truncate": "END",
        }
        return body | ({"output_dimension": resolved.dimensions} if resolved.ask_dimensions else {})

    def rows(self, answer: Any) -> list[Any]:
        (rows,) = (rows for rows in answer["embeddings"].values() if rows)
        return list(rows)


class Voyage(Api):
    """`POST /v1/embeddings`, like OpenAI's, with names of its own for what it can do more."""

    def body(self, resolved: Resolved, texts: Sequence[str], *, query: bool) -> dict[str, Any]:
        body: dict[str, Any] = {"model": resolved.model, "input": list(texts), "truncation": True}
        if resolved.task_types:
            body["input_type"] = "query" if query else "document"
        if resolved.encoding == "base64":
            body["encoding_format"] = "base64"
        return body | ({"output_dimension": resolved.dimensions} if resolved.ask_dimensions else {})


APIS: Mapping[str, Api] = {
    "openai": OpenAi(),
    "gemini": Gemini(),
    "ollama": Ollama(),
    "cohere": Cohere(),
    "voyage": Voyage(),
}


def _joined(base_url: str, path: str) -> str:
    # Some write the whole address into the setting.
    return base_url if base_url.endswith(path) else base_url + path
