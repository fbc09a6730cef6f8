"""Serves pages with ETags from its own process, so that its work is not counted as ours.

`--folder` serves the HTML files of a folder; without it, an invented site of `--pages` pages.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import sys
from pathlib import Path
from urllib.parse import unquote


def invented(pages: int) -> dict[str, bytes]:
    """Pages of about 6 kB with a navigation, sections, code and links to neighbours, and an index."""
    site = {}
    for number in range(pages):
        near = "".join(f'<li><a href="/p{(number + n) % pages}.html">page {n}</a></li>' for n in range(1, 30))
        sections = "".join(
            f"<h2 id='s{n}'>Section {n} of {number}</h2>"
            f"<p>{f'Field {number} gives crop {n} in season. ' * 6}</p>"
            f"<pre><code class='language-python'>crop({number}, {n})</code></pre>"
            for n in range(8)
        )
        body = (
            f"<html><head><title>Page {number}</title></head><body><nav><ul>{near}</ul></nav>"
            f"<main><h1>Page {number}</h1>{sections}</main><footer>Built today</footer></body></html>"
        )
        site[f"/p{number}.html"] = body.encode()
    links = "".join(f'<li><a href="{path}">{path}</a></li>' for path in site)
    site["/"] = f"<html><title>Index</title><body><main><ul>{links}</ul></main></body></html>".encode()
    return site


def from_folder(folder: Path) -> dict[str, bytes]:
    site = {f"/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in folder.rglob("*.html")}
    site["/"] = site["/index.html"]
    return site


async def serve(site: dict[str, bytes], latency_s: float) -> None:
    answers = {}
    for path, body in site.items():
        etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        head = f"ETag: {etag}\r\nConnection: keep-alive\r\n".encode()
        full = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n" + head
        answers[path] = (
            etag.encode(),
            full + b"Content-Length: %d\r\n\r\n" % len(body) + body,
            b"HTTP/1.1 304 Not Modified\r\n" + head + b"\r\n",
        )
    missing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n"

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                path = unquote(request.split(b" ", 2)[1].decode("ascii").partition("?")[0])
                if latency_s:
                    await asyncio.sleep(latency_s)
                answer = answers.get(path)
                if answer is None:
                    writer.write(missing)
                else:
                    etag, full, unchanged = answer
                    writer.write(unchanged if etag in request else full)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], len(site), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--latency-ms", type=int, default=0, help="what each answer takes")
    options = parser.parse_args()
    site = from_folder(options.folder) if options.folder else invented(options.pages)
    asyncio.run(serve(site, options.latency_ms / 1000))
