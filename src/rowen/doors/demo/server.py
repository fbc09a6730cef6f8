"""The demo's web server: plain HTTP on localhost with ETags, in a thread."""

from __future__ import annotations

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

from rowen.doors.demo.pages import DemoSite


class DemoServer:
    def __init__(self, site: DemoSite) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(site))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(site: DemoSite) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            page = site.page(self.path)
            if page is None:
                self._answer(404, b"not found\n", "text/plain")
                return
            body = page.encode()
            etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
            if self.headers.get("If-None-Match") == etag:
                self._answer(304, b"", None, etag)
            else:
                self._answer(200, body, "text/html; charset=utf-8", etag)

        def _answer(
            self, status: int, body: bytes, content_type: str | None, etag: str | None = None
        ) -> None:
            self.send_response(status)
            if etag is not None:
                self.send_header("ETag", etag)
            if content_type is not None:
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class named it
            """The demo shows what Rowen says, not what its server says."""

    return Handler
