"""Serves a folder of HTML on loopback from its own process, and counts what it was asked.

Validators are those of common web servers: `ETag` from the time and size of a file, and `Last-Modified`. A
line on standard input is answered with the counts since the last one; the end of standard input ends the
server.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from email.utils import formatdate
from pathlib import Path
from urllib.parse import unquote

KEPT = "Cache-Control: max-age=0\r\nConnection: keep-alive\r\n"
MISSING = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n"


class Site:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.counts: Counter[str] = Counter()

    def answer(self, request: bytes) -> bytes:
        path = unquote(request.split(b" ", 2)[1].decode("ascii").partition("?")[0]).lstrip("/")
        said = self._answer(self._folder / (path or "index.html"), request)
        self.counts["requests"] += 1
        self.counts[said[9:12].decode("ascii")] += 1
        self.counts["bytes"] += len(said)
        return said

    def _answer(self, file: Path, request: bytes) -> bytes:
        if not file.is_file() or self._folder not in file.resolve().parents:
            return MISSING
        known = file.stat()
        etag = f'"{known.st_mtime_ns // 10**9:x}-{known.st_size:x}"'
        modified = formatdate(known.st_mtime, usegmt=True)
        head = f"ETag: {etag}\r\nLast-Modified: {modified}\r\n{KEPT}"
        asked = {
            name.strip().lower(): value.strip()
            for name, _, value in (
                line.partition(":") for line in request.decode("latin-1").split("\r\n")[1:]
            )
        }
        # Entity tags go before times, as HTTP says.
        same = asked.get("if-modified-since") == modified
        if "if-none-match" in asked:
            same = etag in asked["if-none-match"]
        if same:
            return f"HTTP/1.1 304 Not Modified\r\n{head}\r\n".encode()
        body = file.read_bytes()
        kind = "Content-Type: text/html; charset=utf-8\r\n"
        return f"HTTP/1.1 200 OK\r\n{kind}{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def serve(folder: Path) -> None:
    site = Site(folder)

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                writer.write(site.answer(await reader.readuntil(b"\r\n\r\n")))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps(site.counts), flush=True)
        site.counts.clear()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]).resolve()))
