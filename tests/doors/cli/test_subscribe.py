"""`rowen subscribe`: being told when one answer changes, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.doors.conftest import Rowen, fruit_page
from tests.support.site import Site


def test_a_heading_is_subscribed_to_listed_told_and_removed(
    rowen: Rowen, orchard: Site, tmp_path: Path
) -> None:
    file = tmp_path / "told.jsonl"
    asked = ("--heading", "Storing", "--source", "orchard", "--file", str(file), "--name", "storing")
    made = rowen("subscribe", *asked)
    assert made.out == "subscribed as `storing`: heading `Storing`, 3 answer it now\n"
    rowen("sync", "orchard")
    assert not file.exists()
    orchard.set("/plum.html", fruit_page("plum", "May"))
    rowen("sync", "orchard")
    (line,) = file.read_text().splitlines()
    (change,) = json.loads(line)["changes"]
    assert change["url"] == f"{orchard.url}/plum.html#storing"
    assert "May" in change["after"]
    (listed,) = rowen("subscriptions", "--json").json["subscriptions"]
    assert (listed["subscription"], listed["messages"], listed["pending"]) == ("storing", 1, False)
    assert "heading `Storing`" in rowen("subscriptions").out
    assert rowen("unsubscribe", "storing").out == "unsubscribed `storing`\n"
    assert rowen("subscriptions").out == "no subscriptions\n"
    assert rowen("unsubscribe", "storing").code == 2


def test_a_wrong_subscription_is_refused(rowen: Rowen, orchard: Site, tmp_path: Path) -> None:
    assert rowen("subscribe", "--heading", "x").code == 2
    assert rowen("subscribe", "--path", "x", "--file", str(tmp_path / "a"), "--source", "nobody").code == 2
    assert rowen("subscriptions", "--json").json["subscriptions"] == []
