"""What answers in tests for the addresses that the documents name."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.support.ckan_server import CkanServer, datasets
from tests.support.doc_blocks import ROOT
from tests.support.git_repository import WorkingCopy
from tests.support.site import Page, Site, html

PAGES = {
    "/": html("Docs", "How to install it", links=["/install.html"]),
    "/install.html": html("Install", "Install it with pip and run it."),
}
LISTED = {
    "/llms.txt": Page("# Fields\n\n## Crops\n\n- [Oats](/oats.md): when to sow\n", content_type="text/plain"),
    "/oats.md": Page("# Oats\n\nSow oats in March.\n", content_type="text/markdown"),
}


@contextmanager
def stand_ins(place: Path) -> Iterator[dict[str, str]]:
    """Addresses in the documents, and what answers for them here; `place` is where commands are typed."""
    (place / "docs").symlink_to(ROOT / "docs")
    with ExitStack() as running:
        site = running.enter_context(Site(PAGES))
        listed = running.enter_context(Site(LISTED))
        portal = running.enter_context(CkanServer(datasets(3)))
        receiver = running.enter_context(_receiver())
        copy = WorkingCopy(place / "remote")
        copy.commit({"README.md": "# Handbook\n", "docs/leave.md": "# Leave\n\nAsk two weeks before.\n"})
        (place / "portals.toml").write_text(
            f'[[portals]]\nname = "other"\nurl = "{portal.url}/other"\ntype = "ckan"\nenabled = false\n'
        )
        yield {
            "https://docs.example.org/": site.url + "/",
            "https://docs.internal/": site.url + "/",
            "https://llms.example.org/": listed.url + "/",
            "https://data.example.org": portal.url,
            "https://index.example.org": receiver,
            "https://git.example.org/handbook.git": f"file://{copy.folder}",
            "/srv/rowen": str(place),
        }


@contextmanager
def _receiver() -> Iterator[str]:
    """A program that takes every delivery."""

    class Taken(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(204)
            self.end_headers()

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Deliveries are not printed."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Taken) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
