"""CocoIndex: a folder walked, its files memoised, chunks split and embedded (memoised too), rows in SQLite.

It has no source for a site, so it reads the files that the server serves. Vectors are stored as bytes: many
builds of Python cannot load the extension that its vector columns need.
"""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from common import CHUNK, Model, arguments, said

OPTIONS = arguments()
os.environ["COCOINDEX_DB"] = str(OPTIONS.state / "cocoindex.db")  # noqa: TID251
# Else it reports to its makers, and a benchmark speaks to loopback alone.
os.environ["COCOINDEX_DISABLE_USAGE_TRACKING"] = "1"  # noqa: TID251

import cocoindex as coco  # noqa: E402
from cocoindex.connectors import localfs, sqlite  # noqa: E402
from cocoindex.ops.text import RecursiveSplitter  # noqa: E402
from cocoindex.resources.chunk import Chunk  # noqa: E402
from cocoindex.resources.file import FileLike, PatternFilePathMatcher  # noqa: E402
from cocoindex.resources.id import IdGenerator  # noqa: E402
from lxml import html  # noqa: E402

MODEL = Model(OPTIONS.model)
TABLE = coco.ContextKey[sqlite.ManagedConnection]("table")
SPLITTER = RecursiveSplitter()
SEEN = {"pages": 0}


@coco.lifespan
def lifespan(builder: coco.EnvironmentBuilder) -> Iterator[None]:
    with sqlite.managed_connection(str(OPTIONS.state / "rows.db"), load_vec=False) as connection:
        builder.provide(TABLE, connection)
        yield


@dataclass
class Row:
    id: int
    filename: str
    text: str
    embedding: bytes


@coco.fn.as_async(batching=True, max_batch_size=256)
def embed_many(texts: list[str]) -> list[bytes]:
    return [vector.tobytes() for vector in MODEL.embed(texts)]


@coco.fn(memo=True)
async def embed(text: str) -> bytes:
    return await embed_many(text)


@coco.fn
async def chunk_row(
    chunk: Chunk, filename: pathlib.PurePath, ids: IdGenerator, table: sqlite.TableTarget[Row]
) -> None:
    table.declare_row(
        row=Row(await ids.next_id(chunk.text), str(filename), chunk.text, await embed(chunk.text))
    )


@coco.fn(memo=True)
async def page(file: FileLike, table: sqlite.TableTarget[Row]) -> None:
    SEEN["pages"] += 1
    body = html.document_fromstring(await file.read_text()).body
    text = re.sub(r"\n\n+", "\n\n", body.text_content()).strip()
    chunks = SPLITTER.split(text, chunk_size=CHUNK, chunk_overlap=0)
    await coco.map(chunk_row, chunks, file.file_path.path, IdGenerator(), table)


@coco.fn
async def main(folder: pathlib.Path) -> None:
    schema = await sqlite.TableSchema.from_class(Row, primary_key=["id"])
    table = await sqlite.mount_table_target(TABLE, "rows", schema)
    files = localfs.walk_dir(
        folder, recursive=True, path_matcher=PatternFilePathMatcher(included_patterns=["**/*.html"])
    )
    await coco.mount_each(page, files.items(), table)


app = coco.App(coco.AppConfig(name="site"), main, folder=OPTIONS.folder)
app.update_blocking()
said(pages=SEEN["pages"], embeddings=MODEL.embedded)
