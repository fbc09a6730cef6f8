"""A small web site on this machine, for the scripts that measure a sync: pages with ETags, one editable.

The root links to every other page. A request that names the present ETag is answered 304. It has no
robots.txt and no sitemap: those are answered 404.
"""

from __future__ import annotations

import hashlib
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

BODY_AFTER_S = 0.2


class Site:
    """`with Site(pages=12) as site`: pages `/`, `/p1.html`, `/p2.html` and so on, at `site.url`."""

    def __init__(self, *, pages: int) -> None:
        others = [f"/p{number}.html" for number in range(1, pages)]
        links = " ".join(f'<a href="{path}">{path}</a>' for path in others)
        self._bodies = {"/": _page("Root", f"Welcome to a site of some pages. {links}")}
        self._bodies |= {path: _page(path, f"What {path} says about crops and fields.") for path in others}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/"

    def edit(self) -> None:
        """The last page gets another sentence."""
        path = list(self._bodies)[-1]
        self._bodies[path] = self._bodies[path].replace(b"</p>", b" An edit added these words.</p>")

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        bodies = self._bodies

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                body = bodies.get(self.path)
                etag = f'"{hashlib.sha256(body or b"").hexdigest()[:16]}"'
                if body is None:
                    self._answer(404, {"Content-Length": "0"})
                elif self.headers.get("If-None-Match") == etag:
                    self._answer(304, {"ETag": etag})
                else:
                    head = {"ETag": etag, "Content-Type": "text/html", "Content-Length": str(len(body))}
                    self._answer(200, head, body)

            def _answer(self, status: int, head: dict[str, str], body: bytes = b"") -> None:
                self.send_response(status)
                for name, value in head.items():
                    self.send_header(name, value)
                self.end_headers()
                if body:
                    # The reader then waits twice, for head and body, on a busy machine as on an idle one.
                    time.sleep(BODY_AFTER_S)
                    self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                return None

        return Handler


def _page(title: str, text: str) -> bytes:
    head = f"<head><meta charset='utf-8'><title>{title}</title></head>"
    return f"<html>{head}<body><main><h1>{title}</h1><p>{text}</p></main></body></html>".encode()
