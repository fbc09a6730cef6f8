"""The providers with their usual addresses, limits and variables, and the models whose size is known.

So most settings can stay empty. Only facts: what follows from them is decided in `spec`, and how each one is
asked stands in `apis`.
"""

from __future__ import annotations

from collections.abc import Mapping

from rowen.records import dataclass

STATIC = "static"
MINILM = "minilm"


@dataclass(frozen=True, kw_only=True, slots=True)
class Provider:
    base_url: str
    key_variable: str
    """Empty for one that needs no key."""
    model: str
    batch_size: int
    batch_size_elsewhere: int | None = None
    """At another address than its own; None for the same."""
    max_tokens: int
    cuts_itself: bool
    """Does it cut a text that is too long, or refuse it?"""
    encodings: tuple[str, ...] = ("float",)
    """The first is used at its own address, `float` elsewhere."""


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(
        base_url="https://api.openai.com/v1",
        key_variable="OPENAI_API_KEY",
        model="text-embedding-3-small",
        # 2,048 texts and 300,000 tokens are allowed; 128 passages of ours stay far below the second.
        batch_size=128,
        # The limit text-embeddings-inference starts with.
        batch_size_elsewhere=32,
        max_tokens=8191,
        cuts_itself=False,
        # Half the bytes. Elsewhere some servers refuse it.
        encodings=("base64", "float"),
    ),
    "gemini": Provider(
        base_url="https://generativelanguage.googleapis.com/v1beta",
        key_variable="GEMINI_API_KEY",
        model="gemini-embedding-001",
        batch_size=100,
        max_tokens=2048,
        cuts_itself=False,
    ),
    "ollama": Provider(
        base_url="http://localhost:11434",
        key_variable="",
        model="nomic-embed-text",
        # One machine works them off one by one: a large batch only makes a time-out likelier.
        batch_size=32,
        max_tokens=8192,
        cuts_itself=True,
    ),
    "cohere": Provider(
        base_url="https://api.cohere.com/v2",
        key_variable="COHERE_API_KEY",
        model="embed-v4.0",
        batch_size=96,
        max_tokens=8192,
        cuts_itself=True,
        encodings=("float", "int8"),
    ),
    "voyage": Provider(
        base_url="https://api.voyageai.com/v1",
        key_variable="VOYAGE_API_KEY",
        model="voyage-3.5",
        batch_size=128,
        max_tokens=16_000,
        cuts_itself=True,
        encodings=("base64", "float"),
    ),
}


@dataclass(frozen=True, slots=True)
class KnownModel:
    dimensions: int
    max_tokens: int = 0
    document: str = ""
    query: str = ""
    """What its makers want in front of a text; an API with task types of its own does that by itself."""


_GEMMA = ("title: none | text: ", "task: search result | query: ")
_SENTENCE = "Represent this sentence for searching relevant passages: "

# Local servers spell the same model in many ways, so a part of the name is enough; the longest part wins.
KNOWN_MODELS: Mapping[str, KnownModel] = {
    "text-embedding-3-small": KnownModel(1536),
    "text-embedding-3-large": KnownModel(3072),
    "text-embedding-ada-002": KnownModel(1536),
    "gemini-embedding-001": KnownModel(3072, 2048),
    # The second one takes no task type: the task stands in the text.
    "gemini-embedding-2": KnownModel(3072, 8192, *_GEMMA),
    "embeddinggemma": KnownModel(768, 2048, *_GEMMA),
    "nomic-embed-text": KnownModel(768, 2048, "search_document: ", "search_query: "),
    "mxbai-embed-large": KnownModel(1024, 512, "", _SENTENCE),
    "all-minilm": KnownModel(384, 256),
    "bge-m3": KnownModel(1024, 8192),
    "bge-large-en": KnownModel(1024, 512, "", _SENTENCE),
    "bge-base-en": KnownModel(768, 512, "", _SENTENCE),
    "bge-small-en": KnownModel(384, 512, "", _SENTENCE),
    "embed-v4.0": KnownModel(1536),
    "embed-english-v3.0": KnownModel(1024, 512),
    "embed-multilingual-v3.0": KnownModel(1024, 512),
    "embed-english-light-v3.0": KnownModel(384, 512),
    "embed-multilingual-light-v3.0": KnownModel(384, 512),
    "voyage-3": KnownModel(1024),
    "voyage-3.5": KnownModel(1024),
    "voyage-3-lite": KnownModel(512),
    "voyage-code-3": KnownModel(1024),
    "voyage-multilingual-2": KnownModel(1024),
}


def known_model(model: str) -> KnownModel | None:
    name = model.lower()
    parts = [part for part in KNOWN_MODELS if part in name]
    return KNOWN_MODELS[max(parts, key=len)] if parts else None
