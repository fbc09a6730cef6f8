"""LlamaIndex: its web reader, and an ingestion pipeline with document management (upserts, deletes) and
cache.

It has no reader that follows links without a browser, so it is told every address.
"""

from __future__ import annotations

import asyncio
from typing import Any

from common import CHUNK, Model, addresses, arguments, said
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.readers.web import AsyncWebPageReader

OPTIONS = arguments()
MODEL = Model(OPTIONS.model)
CHARACTERS_A_TOKEN = 4


class Static(BaseEmbedding):
    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return MODEL.embed(texts).tolist()

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def pipeline(vectors: Any) -> IngestionPipeline:
    made = IngestionPipeline(
        transformations=[
            SentenceSplitter(chunk_size=CHUNK // CHARACTERS_A_TOKEN, chunk_overlap=0),
            Static(model_name="static", embed_batch_size=256),
        ],
        docstore=SimpleDocumentStore(),
        docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE,
        vector_store=vectors,
    )
    if (OPTIONS.state / "pipeline").exists():
        made.load(str(OPTIONS.state / "pipeline"))
    return made


async def load() -> list[Any]:
    reader = AsyncWebPageReader(html_to_text=True, limit=3)
    pages = await reader.aload_data(addresses(OPTIONS.address, OPTIONS.folder))
    for page in pages:
        page.id_ = page.metadata["Source"]
    return pages


kept = OPTIONS.state / "vectors.json"
vectors = SimpleVectorStore.from_persist_path(str(kept)) if kept.exists() else SimpleVectorStore()
pages = asyncio.run(load())
steps = pipeline(vectors)
steps.run(documents=pages)
steps.persist(str(OPTIONS.state / "pipeline"))
vectors.persist(str(kept))
said(pages=len(pages), chunks=len(vectors.data.embedding_dict), embeddings=MODEL.embedded)
