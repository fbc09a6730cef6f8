"""The website that other tests rely on."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from http.client import RemoteDisconnected

import pytest

from tests.support.site import Page, Site, html


def ask(url: str, **headers: str) -> tuple[int, bytes, dict[str, str]]:
    request = urllib.request.Request(url, headers={k.replace("_", "-"): v for k, v in headers.items()})
    try:
        with urllib.request.build_opener(NoRedirect).open(request, timeout=120) as answer:
            return answer.status, answer.read(), dict(answer.headers)
    except urllib.error.HTTPError as exc:
        with exc:
            return exc.code, exc.read(), dict(exc.headers)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def test_pages_are_served_changed_and_removed() -> None:
    with Site({"/": html("Home", "One")}) as site:
        first = ask(site.url + "/")[2]["ETag"]
        assert ask(site.url + "/", If_None_Match=first)[0] == 304
        site.set("/", html("Home", "Two"))
        status, body, headers = ask(site.url + "/", If_None_Match=first)
        assert status == 200
        assert b"Two" in body
        assert headers["ETag"] != first
        site.remove("/")
        assert ask(site.url + "/")[0] == 404
        assert [(a.method, a.path, a.conditional, a.status) for a in site.requests] == [
            ("GET", "/", False, 200),
            ("GET", "/", True, 304),
            ("GET", "/", True, 200),
            ("GET", "/", False, 404),
        ]
        site.clear_log()
        assert site.requests == []


def test_dates_and_weak_tags_are_honoured() -> None:
    old, new = "Wed, 01 May 2024 12:00:00 GMT", "Thu, 02 May 2024 12:00:00 GMT"
    pages = {
        "/d": Page("x", etag=False, last_modified=old),
        "/w": Page("x", etag="weak"),
        "/n": Page("x", etag=False),
    }
    with Site(pages) as site:
        assert ask(site.url + "/d", If_Modified_Since=old)[0] == 304
        assert ask(site.url + "/d", If_Modified_Since=new)[0] == 304
        site.set("/d", "y", etag=False, last_modified=new)
        assert ask(site.url + "/d", If_Modified_Since=old)[0] == 200
        tag = ask(site.url + "/w")[2]["ETag"]
        assert tag.startswith('W/"')
        assert ask(site.url + "/w", If_None_Match=f'"other", {tag}')[0] == 304
        assert "ETag" not in ask(site.url + "/n")[2]


def test_failures_outages_redirects_and_cuts() -> None:
    pages = {"/f": Page("x", fail_times=2), "/r": Page(redirect="/f"), "/c": Page(reset=True)}
    with Site(pages) as site:
        assert [ask(site.url + "/f")[0] for _ in range(3)] == [500, 500, 200]
        status, _, headers = ask(site.url + "/r")
        assert (status, headers["Location"]) == (302, "/f")
        with pytest.raises((ConnectionResetError, RemoteDisconnected, urllib.error.URLError)):
            ask(site.url + "/c")
        site.everything_answers(503)
        assert [ask(site.url + path)[0] for path in ("/f", "/nowhere", "/c")] == [503] * 3
        site.everything_answers(None)
        assert ask(site.url + "/f")[0] == 200


def test_a_delayed_page_waits_for_its_event_and_stopping_does_not_wait() -> None:
    gate = threading.Event()
    answers: list[int] = []
    with Site({"/s": Page("x", delay=gate), "/": "home"}) as site:
        waiting = threading.Thread(target=lambda: answers.append(ask(site.url + "/s")[0]))
        waiting.start()
        assert ask(site.url + "/")[0] == 200
        assert answers == []
        gate.set()
        waiting.join(60)
        assert answers == [200]


def test_compression_only_for_those_who_ask() -> None:
    with Site({"/": Page("hello " * 1000, gzip=True)}) as site:
        assert len(ask(site.url + "/")[1]) == 6000
        status, body, headers = ask(site.url + "/", Accept_Encoding="gzip")
        assert headers["Content-Encoding"] == "gzip"
        assert len(body) < 200
        assert status == 200


def test_a_query_finds_its_own_page_first_and_then_the_plain_one() -> None:
    with Site({"/a": "plain", "/a?p=2": "second"}) as site:
        assert ask(site.url + "/a?p=2")[1] == b"second"
        assert ask(site.url + "/a?p=3")[1] == b"plain"
        assert len(site.asked_for("/a?p=2")) == 1


def test_a_port_can_be_used_again() -> None:
    with Site({"/": "one"}) as first:
        port = first.port
    with Site({"/": "two"}, port=port) as second:
        assert ask(second.url + "/")[1] == b"two"
