"""Web hooks that come in: who signed them, and what they say has changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.exchange import delivery
from rowen.core.sync_request import MAX_ONLY
from rowen.errors import UserError
from rowen.kinds.github.push_event import MAX_COMMITS, Route, read_push, repository_key, route
from rowen.service.hooks.rules import SAME_BODY_S, Delivery, hub_signature, named_references
from tests.support.github_pushes import NOTHING, push_payload

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
BODY = b'{"urls": ["https://docs.example/a"]}'
A, B, C, D = ("a" * 40, "b" * 40, "c" * 40, "d" * 40)


def by_github(body: bytes, signature: str, **more: str) -> Delivery:
    return Delivery({"x-hub-signature-256": signature, **more}, body)


def by_us(body: bytes, secret: str, at: datetime, **more: str) -> Delivery:
    timestamp = str(int(at.timestamp()))
    signed = delivery.signature(secret, timestamp, body)
    return Delivery({"x-rowen-signature": signed, "x-rowen-timestamp": timestamp, **more}, body)


# Signatures


def test_the_signature_is_the_one_of_githubs_documentation() -> None:
    signature = hub_signature("It's a Secret to Everybody", b"Hello, World!")
    assert signature == "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert by_github(b"Hello, World!", signature).is_signed("It's a Secret to Everybody", now=NOW)


@pytest.mark.parametrize(
    "signature",
    ["", "sha256=", "sha1=" + "0" * 40, "sha256=" + "0" * 64, "säha", "\udcff", "sha256=" + "9" * 10_000],
)
def test_no_other_signature_is_taken(signature: str) -> None:
    assert not by_github(BODY, signature).is_signed("secret", now=NOW)
    assert not Delivery({}, BODY).is_signed("secret", now=NOW)


@pytest.mark.parametrize("nothing", [None, ""])
def test_without_a_secret_nothing_is_signed(nothing: str | None) -> None:
    assert not by_github(BODY, hub_signature("", BODY)).is_signed(nothing, now=NOW)
    assert not by_us(BODY, "", NOW).is_signed(nothing, now=NOW)


@given(st.binary(max_size=50), st.binary(max_size=50), st.text(min_size=1, max_size=20))
def test_a_signature_holds_for_one_body_and_one_secret(body: bytes, other: bytes, secret: str) -> None:
    secret = secret.encode("utf-8", "replace").decode()
    signed = hub_signature(secret, body)
    assert by_github(body, signed).is_signed(secret, now=NOW)
    assert by_github(other, signed).is_signed(secret, now=NOW) == (other == body)
    assert not by_github(body, signed).is_signed(secret + "x", now=NOW)


def test_our_own_signature_is_over_the_time_too() -> None:
    assert by_us(BODY, "secret", NOW).is_signed("secret", now=NOW + timedelta(minutes=4))
    assert not by_us(BODY, "secret", NOW).is_signed("secret", now=NOW + timedelta(minutes=6))
    assert not by_us(BODY, "secret", NOW).is_signed("secret", now=NOW - timedelta(minutes=6))
    later = {**by_us(BODY, "secret", NOW).headers, "x-rowen-timestamp": str(int(NOW.timestamp()) + 60)}
    assert not Delivery(later, BODY).is_signed("secret", now=NOW)


@pytest.mark.parametrize("timestamp", ["", "now", "-5", "1e9", "١٢٣", "9" * 40])
def test_a_time_that_is_none_is_refused(timestamp: str) -> None:
    signed = delivery.signature("secret", timestamp, BODY)
    headers = {"x-rowen-signature": signed, "x-rowen-timestamp": timestamp}
    assert not Delivery(headers, BODY).is_signed("secret", now=NOW)


def test_githubs_signature_does_not_stand_in_for_a_wrong_one_of_ours() -> None:
    headers = {"x-rowen-signature": "sha256=0", "x-hub-signature-256": hub_signature("secret", BODY)}
    assert not Delivery(headers, BODY).is_signed("secret", now=NOW)


# Names of deliveries


def test_a_delivery_is_known_by_the_name_its_sender_gave_it() -> None:
    assert by_github(BODY, "", **{"x-github-delivery": "72d3"}).name(now=NOW) == "72d3"
    assert len(by_github(BODY, "s", **{"x-github-delivery": "7" * 10_000}).name(now=NOW)) <= 200


def test_without_a_name_the_signed_time_and_the_body_tell_it_apart() -> None:
    first, later = by_us(BODY, "s", NOW), by_us(BODY, "s", NOW + timedelta(seconds=1))
    assert first.name(now=NOW) == first.name(now=NOW + timedelta(minutes=3))
    assert first.name(now=NOW) != later.name(now=NOW)
    assert first.name(now=NOW) != by_us(b"", "s", NOW).name(now=NOW)


def test_with_neither_the_same_body_is_the_same_for_a_short_time() -> None:
    plain = by_github(BODY, "")
    assert plain.name(now=NOW) == plain.name(now=NOW + timedelta(seconds=SAME_BODY_S / 2))
    assert plain.name(now=NOW) != plain.name(now=NOW + timedelta(seconds=SAME_BODY_S))


# Pushes


def commit(**changed: Any) -> dict[str, Any]:
    return {"id": B, "added": [], "modified": [], "removed": [], **changed}


def a_push(*commits: dict[str, Any], **said: Any) -> dict[str, Any]:
    return push_payload("Acre/Docs", **{"before": A, "after": B, "commits": list(commits), **said})


def test_a_push_names_everything_its_commits_touched_once() -> None:
    push = read_push(
        a_push(commit(added=["a.md"], removed=["b.md"]), commit(modified=["a.md", "c.md"], added=["b.md"]))
    )
    assert push.paths == ("a.md", "b.md", "c.md")
    assert push.references() == (f"rowen:push:{A}..{B}", "a.md", "b.md", "c.md")
    assert (push.branch, push.deleted) == ("main", False)


@pytest.mark.parametrize(
    "said",
    [
        {"forced": True},
        {"forced": None},
        {"before": NOTHING, "created": True},
        {"commits": []},
        {"commits": [commit(added=[str(n)]) for n in range(MAX_COMMITS + 1)]},
        {"commits": [commit(added=[f"{n}.md" for n in range(MAX_ONLY)])]},
        {"commits": [{"id": B, "added": ["a.md"], "modified": []}]},
        {"commits": [commit(removed=None)]},
    ],
)
def test_where_a_push_does_not_say_it_all_everything_is_compared(said: dict[str, Any]) -> None:
    push = read_push(a_push(**{"commits": [commit(added=["a.md"])], **said}))
    assert push.paths is None
    assert push.references() is None


def test_as_many_commits_as_are_believed_are_believed() -> None:
    push = read_push(a_push(*(commit(added=[f"{n}.md"]) for n in range(MAX_COMMITS))))
    assert push.paths is not None
    assert len(push.paths) == MAX_COMMITS


def test_a_source_of_one_folder_hears_of_that_folder() -> None:
    push = read_push(a_push(commit(added=["docs/a.md", "docsx/b.md", "src/c.py"])))
    assert push.references("docs") == (f"rowen:push:{A}..{B}", "docs/a.md")
    assert push.references("guide") == ()


@pytest.mark.parametrize(
    ("ref", "branch", "mirrored"),
    [
        ("refs/heads/main", None, True),
        ("refs/heads/main", "main", True),
        ("refs/heads/feature/x", "feature/x", True),
        ("refs/heads/feature/x", None, False),
        ("refs/heads/main", "v1", False),
        ("refs/tags/main", "main", False),
        ("refs/tags/main", None, False),
    ],
)
def test_only_the_mirrored_branch_counts(ref: str, branch: str | None, mirrored: bool) -> None:
    assert read_push(a_push(commit(), ref=ref)).is_of(branch) is mirrored


def test_a_repository_is_recognised_by_each_of_its_addresses() -> None:
    push = read_push(a_push(commit()))
    for address in (
        "https://github.com/acre/docs",
        "git+https://github.com/acre/docs.git",
        "git@github.com:acre/docs.git",
        "git+ssh://git@github.com/acre/docs.git",
        "https://www.github.com/ACRE/docs",
    ):
        assert repository_key(address) in push.repositories, address
    for address in ("https://github.com/acre/docs2", "https://evil.example/acre/docs", "nonsense", None):
        assert repository_key(address) not in push.repositories, address


@pytest.mark.parametrize(
    "payload",
    [
        None,
        [],
        "push",
        {},
        {"ref": "refs/heads/main"},
        a_push(commit(), before="HEAD"),
        a_push(commit(), after=None),
        a_push(commit(), ref=7),
        a_push(commit(), repository=None),
        a_push(commit(), commits=[7]),
    ],
)
def test_what_is_no_push_is_refused(payload: Any) -> None:
    with pytest.raises(UserError, match="not a push event"):
        read_push(payload)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["ref", "before", "after", "commits", "repository", "forced", "added"]), inner
            )
        ),
    )
)
def test_no_payload_is_too_odd_to_be_refused(payload: Any) -> None:
    try:
        read_push(payload)
    except UserError:
        return


# The way from commit to commit


def marks(*steps: tuple[str, str]) -> list[str]:
    return [f"rowen:push:{before}..{after}" for before, after in steps]


def test_pushes_that_begin_where_we_are_lead_to_where_they_end() -> None:
    assert route([*marks((A, B)), "x.md"], A) == Route(("x.md",), True, B)
    assert route([*marks((B, C), (A, B)), "x.md", "y.md"], A) == Route(("x.md", "y.md"), True, C)


@pytest.mark.parametrize("have", [None, B, D])
def test_pushes_with_a_gap_lead_nowhere(have: str | None) -> None:
    assert route([*marks((A, B)), "x.md"], have).commit is None
    assert route([*marks((A, B), (C, D)), "x.md"], A).commit is None


def test_paths_alone_need_no_way() -> None:
    assert route(["x.md", "rowen:push:odd"], A) == Route(("x.md", "rowen:push:odd"), False, None)


def test_a_circle_of_pushes_ends() -> None:
    assert route(marks((A, B), (B, A)), A) == Route((), True, A)


# Our own bodies


def test_a_body_names_addresses_or_everything() -> None:
    assert named_references(None) is None
    assert named_references({}) is None
    assert named_references({"urls": ["/a", "/b", "/a"]}) == ("/a", "/b")
    assert named_references({"urls": []}) == ()
    assert named_references({"urls": [f"/{n}" for n in range(MAX_ONLY + 1)]}) is None


@pytest.mark.parametrize(
    "payload",
    [[], "x", 7, {"url": "/a"}, {"urls": "/a"}, {"urls": [7]}, {"urls": [""]}, {"urls": ["x" * 9999]}],
)
def test_other_bodies_are_refused(payload: Any) -> None:
    with pytest.raises(UserError, match="web hook"):
        named_references(payload)
