"""LangChain: the web loader, the recursive splitter, and the indexing API with its record manager.

The vectors are kept in FAISS, on disk between runs. It is told every address and the encoding: its
loader that follows links takes more time for the links of a large site than all the rest, and guessing
encodings as much again.
"""

from __future__ import annotations

import re

from common import CHUNK, Model, addresses, arguments, said
from langchain_classic.indexes import SQLRecordManager, index
from langchain_community.docstore.in_memory import InMemoryDocstore
from langchain_community.document_loaders import WebBaseLoader
from langchain_community.vectorstores import FAISS
from langchain_core.embeddings import Embeddings
from langchain_text_splitters import RecursiveCharacterTextSplitter

OPTIONS = arguments()
MODEL = Model(OPTIONS.model)


class Static(Embeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return MODEL.embed(texts).tolist()

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def store() -> FAISS:
    if (OPTIONS.state / "index.faiss").exists():
        return FAISS.load_local(str(OPTIONS.state), Static(), allow_dangerous_deserialization=True)
    import faiss

    return FAISS(Static(), faiss.IndexFlatL2(256), InMemoryDocstore(), {})


records = SQLRecordManager("site", db_url=f"sqlite:///{OPTIONS.state}/records.db")
records.create_schema()
loader = WebBaseLoader(
    addresses(OPTIONS.address, OPTIONS.folder), encoding="utf-8", default_parser="lxml", show_progress=False
)
pages = []
for page in loader.lazy_load():
    page.page_content = re.sub(r"\n\n+", "\n\n", page.page_content).strip()
    pages.append(page)
chunks = RecursiveCharacterTextSplitter(chunk_size=CHUNK, chunk_overlap=0).split_documents(pages)
vectors = store()
index(
    chunks, records, vectors, cleanup="full", source_id_key="source", key_encoder="blake2b", batch_size=1000
)
vectors.save_local(str(OPTIONS.state))
said(pages=len(pages), chunks=len(chunks), embeddings=MODEL.embedded)
