"""`rowen add` and `rowen sync`: receipts, JSON, exit codes."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta

import pytest

from rowen import config, wiring
from rowen.core.lease import source_lease_name
from tests.doors.conftest import Rowen, fruit_page
from tests.support.board_server import ApiServer, items
from tests.support.embedding_api import KEY, EmbeddingApi, server_error
from tests.support.site import Site, html

PROMISED = {
    "source",
    "run_id",
    "mode",
    "status",
    "generation",
    "created",
    "updated",
    "unchanged",
    "deleted",
    "failed",
    "skipped",
    "requests",
    "not_modified",
    "bytes_received",
    "embeddings_computed",
    "embeddings_reused",
    "stop_reason",
    "duration_s",
}


def test_add_says_what_the_server_said(rowen: Rowen, site: Site) -> None:
    ended = rowen("add", site.url + "/", "--name", "orchard", "--version", "2", "--set", "max_depth=3")
    assert ended.code == 0
    assert "added orchard@2  web" in ended.out
    assert "ETag" in ended.out
    assert "next: rowen sync orchard@2" in ended.err


def test_add_in_json_is_one_object(rowen: Rowen, site: Site) -> None:
    value = rowen("add", site.url + "/", "--name", "orchard", "--set", "max_depth=3", "--json").json
    assert value["source"] == "orchard"
    assert value["kind"] == "web"
    assert value["settings"] == {"max_depth": 3}
    assert value["findings"]


def test_a_wrong_call_ends_with_2_and_a_hint(rowen: Rowen, site: Site) -> None:
    for arguments, said in (
        (["add", "nonsense", "--name", "x"], "error: location `nonsense`"),
        (["add", site.url, "--name", "x", "--set", "max_depth"], "expected `key=value`"),
        (["add", site.url, "--name", "x", "--set", "max_dept=3"], "did you mean `max_depth`?"),
        (["add", site.url, "--name", "x", "--kind", "webb"], "did you mean `web`?"),
        (["add"], "missing argument 'LOCATION'"),
        (["sync", "nobody"], "source `nobody`: no such source"),
        (["sync"], "no source to sync"),
        (["search", "x", "--mode", "psychic"], "psychic"),
        (["serach", "x"], "did you mean `search`?"),
        (["--db", "mysql://u:secret@h/x", "status"], "not a store this version knows"),
    ):
        ended = rowen(*arguments)
        assert ended.code == 2, arguments
        assert said in ended.err, ended.err
        assert ended.out == ""
        assert "Traceback" not in ended.err
        assert "secret" not in ended.err


def test_a_name_that_exists_is_refused(rowen: Rowen, orchard: Site) -> None:
    ended = rowen("add", orchard.url + "/", "--name", "orchard")
    assert ended.code == 2
    assert "orchard" in ended.err


def test_sync_prints_one_json_object_with_everything_promised(rowen: Rowen, site: Site) -> None:
    rowen("add", site.url + "/", "--name", "orchard")
    ended = rowen("sync", "orchard", "--json")
    assert ended.code == 0
    assert ended.err == ""
    value = ended.json
    assert set(value) >= PROMISED
    assert (value["source"], value["mode"], value["status"]) == ("orchard", "full", "completed")
    assert (value["created"], value["generation"], value["stop_reason"]) == (4, 1, "exhausted")


def test_a_refresh_without_news_says_so(rowen: Rowen, orchard: Site) -> None:
    value = rowen("sync", "--json").json
    assert (value["mode"], value["unchanged"], value["not_modified"]) == ("incremental", 4, 4)
    assert value["generation"] == 1
    ended = rowen("sync")
    assert "generation 1, as before  completed" in ended.out
    assert "4 unchanged" in ended.out
    assert "4 items not modified: nothing downloaded or opened" in ended.out


def test_a_receipt_tells_what_was_done_and_what_was_avoided(rowen: Rowen, orchard: Site) -> None:
    orchard.set("/plum.html", fruit_page("plum", "May"))
    orchard.set("/pear.html", html("Gone"), status=410)
    ended = rowen("sync", "orchard")
    assert ended.code == 0
    assert "orchard  generation 2  completed in" in ended.out
    assert "1 updated · 1 removed · 2 unchanged" in ended.out
    assert "1 of 2 known, 1 stored" in ended.out
    assert "1 reused, 1 computed" in ended.out


def test_full_sync_asks_for_everything_anew(rowen: Rowen, orchard: Site) -> None:
    value = rowen("sync", "--full-sync", "--json").json
    assert (value["mode"], value["not_modified"], value["unchanged"]) == ("full", 0, 4)


def test_failed_pages_are_a_warning_and_are_named(rowen: Rowen, orchard: Site) -> None:
    orchard.set("/plum.html", "broken", status=500)
    ended = rowen("sync", "orchard")
    assert ended.code == 0
    assert "warning: source `orchard`: partial: 1 item failed; what was visible of them stays" in ended.err
    assert "/plum.html" in ended.out
    assert "(server_failed)" in ended.out
    assert rowen("sync", "orchard", "--json").json["status"] == "partial"


def test_one_failing_source_does_not_stop_the_others(rowen: Rowen, orchard: Site) -> None:
    assert rowen("add", "http://127.0.0.1:1/", "--name", "dead", "--no-check").code == 0
    ended = rowen("sync", "dead", "orchard", "--json")
    assert ended.code == 1
    dead, good = ended.lines
    assert (dead["source"], dead["status"]) == ("dead", "failed")
    assert dead["error"]
    assert set(dead) >= PROMISED
    assert (good["source"], good["status"]) == ("orchard", "completed")


def test_a_failed_source_ends_with_1_and_its_reason(rowen: Rowen) -> None:
    rowen("add", "http://127.0.0.1:1/", "--name", "dead", "--no-check")
    ended = rowen("sync", "dead")
    assert ended.code == 1
    assert "error: source `dead`: " in ended.err
    assert "Traceback" not in ended.err


def test_a_source_that_another_process_syncs_is_a_wrong_call(rowen: Rowen, orchard: Site, db: str) -> None:
    async def take() -> None:
        async with wiring.open_ports(config.load(db=db)[0]) as ports:
            (source,) = await ports.store.sources()
            now = ports.clock.now() + timedelta(hours=1)
            await ports.store.acquire_lease(source_lease_name(source.id), "elsewhere:1:1", now=now, ttl_s=60)

    asyncio.run(take())
    ended = rowen("sync", "orchard", "--json")
    assert ended.code == 2
    assert ended.json["status"] == "failed"
    assert set(ended.json) >= PROMISED
    assert "elsewhere" in ended.err
    assert rowen("status", "--json").json["sources"][0]["running"] is True


def test_a_held_generation_ends_with_1_and_can_be_approved(rowen: Rowen) -> None:
    leaves = [f"/{number}.html" for number in range(24)]
    with Site({"/": html("Big", links=leaves)} | {leaf: html(leaf, "Leaf") for leaf in leaves}) as site:
        rowen("add", site.url + "/", "--name", "big")
        assert rowen("sync", "big").code == 0
        for leaf in leaves[:12]:
            site.remove(leaf)
        ended = rowen("sync", "big")
        assert ended.code == 1
        assert "generation 1 stays, 2 is held" in ended.out
        assert "error: source `big`: " in ended.err
        assert "rowen approve big" in ended.err
        assert rowen("sync", "big", "--json").json["held_generation"] is not None
        status = rowen("status")
        assert "held" in status.out
        assert "rowen approve big" in status.out
        assert "approved" not in rowen("runs", "big").out
        assert rowen("approve", "big", "--json").json["before"] == 1
        assert "; approved just now by the command line" in rowen("runs", "big").out
        assert rowen("status", "--json").json["sources"][0]["documents"] == 13
        assert rowen("approve", "big").code == 2


def test_a_bug_keeps_its_traceback_and_asks_for_a_report(
    rowen: Rowen, orchard: Site, monkeypatch: object
) -> None:
    from rowen.service import attempts

    async def broken(*args: object, **options: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(attempts, "sync", broken)  # type: ignore[attr-defined]
    ended = rowen("sync", "orchard")
    assert ended.code == 1
    assert "Traceback" in ended.err
    assert "please report it" in ended.err


def test_verbose_shows_the_traceback_of_any_error(rowen: Rowen) -> None:
    assert "Traceback" not in rowen("sync", "nobody").err
    for arguments in (("-v", "sync", "nobody"), ("sync", "nobody", "-v")):
        assert "Traceback" in rowen(*arguments).err


def test_rowen_alone_shows_its_help(rowen: Rowen) -> None:
    ended = rowen()
    assert ended.code == 2
    assert "Usage: rowen" in ended.err
    assert rowen("--help").code == 0


def test_the_help_of_add_lists_the_settings_of_each_kind(rowen: Rowen) -> None:
    ended = rowen("add", "--help")
    assert ended.code == 0
    assert "Settings of kind `web`" in ended.out
    assert "max_pages=20000" in ended.out
    assert "robots=true" in ended.out


def test_failed_items_of_an_api_were_called_pages(rowen: Rowen) -> None:
    with ApiServer(items(3)) as api:
        api.quirks.detail_status = {"1": 403}
        settings = ("path=/items", "items=items", "detail=/items/{id}")
        given = [word for one in settings for word in ("--set", one)]
        rowen("add", api.url, "--name", "list", "--kind", "rest", "--no-check", *given)
        ended = rowen("sync", "list")
    assert "source `list`: partial: 1 item failed; what was visible of them stays" in ended.err


def test_a_wrong_embedding_key_is_told_by_doctor_before_and_by_sync_after(
    rowen: Rowen, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with EmbeddingApi() as api:
        values = {
            "PROVIDER": "openai",
            "BASE_URL": api.base_url("openai"),
            "MODEL": "made",
            "DIMENSIONS": "16",
        }
        for name, value in values.items():
            monkeypatch.setenv(f"ROWEN_EMBEDDING_{name}", value)
        monkeypatch.setenv("ROWEN_EMBEDDING_API_KEY_ENV", "OPENAI_API_KEY")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-a-wrong-key")
        doctor = rowen("doctor")
        assert doctor.code == 1
        assert "problem  model" in doctor.out
        assert "401 from" in doctor.out
        assert rowen("add", site.url + "/", "--name", "orchard").code == 0
        api.calls.clear()
        ended = rowen("sync", "orchard")
        assert (ended.code, len(api.calls)) == (1, 1)
        assert "source `orchard`: stored, and found by words alone: model `openai:made`: 401" in ended.err
        assert "check the key in `OPENAI_API_KEY`" in ended.err
        (state,) = rowen("status", "--json").json["sources"]
        assert (state["status"], "401" in state["last_error"]) == ("ERROR", True)
        assert "orchard: partial: model `openai:made`: 401 from" in rowen("status").out
        assert "`orchard`: its last run was partial: model `openai:made`: 401" in rowen("doctor").out
        assert rowen("search", "plum", "--mode", "keyword", "--json").json["hits"]
        refused = rowen("handoffs", "--reason", "permanent_error", "--status", "failed").out
        assert "sk-a-wrong-key" not in doctor.out + doctor.err + ended.out + ended.err + refused
        assert refused.count("permanent_error") == 4
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        assert rowen("doctor").code == 0
        assert rowen("sync", "orchard").code == 0


def test_status_says_since_when_a_provider_is_not_asked_as_people_write_it(
    rowen: Rowen, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with EmbeddingApi() as api:
        api.always(server_error())
        for name, value in (("PROVIDER", "openai"), ("BASE_URL", api.base_url("openai")), ("MODEL", "made")):
            monkeypatch.setenv(f"ROWEN_EMBEDDING_{name}", value)
        monkeypatch.setenv("ROWEN_EMBEDDING_DIMENSIONS", "16")
        monkeypatch.setenv("ROWEN_EMBEDDING_API_KEY_ENV", "OPENAI_API_KEY")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("CB_FAILURE_THRESHOLD", "1")
        rowen("add", site.url + "/", "--name", "orchard", "--sync")
    (told,) = [line for line in rowen("status").out.splitlines() if "circuit open" in line]
    assert re.fullmatch(
        r"model `openai:made`: circuit open since \d{4}-\d\d-\d\d \d\d:\d\d UTC: 500 from .*", told
    )
    opened_at = rowen("status", "--json").json["embedding"]["breakers"]["openai:made"]["opened_at"]
    assert opened_at[:16].replace("T", " ") in told, "not a minute that is still to come"


def test_what_a_limit_leaves_out_is_said_everywhere_in_the_same_words(rowen: Rowen, site: Site) -> None:
    for number in range(9):
        site.set(f"/{number}", html(str(number), "text", links=["/far"]))
    site.set("/", html("root", "text", links=[f"/{number}" for number in range(9)]))
    rowen("add", site.url + "/", "--name", "orchard", "--set", "max_pages=4", "--set", "max_depth=1")
    said = "6 addresses over `max_pages`: `rowen edit` raises `max_pages`"
    ended = rowen("sync")
    assert ended.code == 0
    assert f"left out {said}" in " ".join(ended.out.split())
    assert f"orchard: left out {said}" in rowen("status").out
    assert (
        "orchard: left out 1 address over `max_depth`: `rowen edit` raises `max_depth`" in rowen("status").out
    )
    assert f"run 1 left out {said}" in rowen("runs", "orchard").out
    assert (
        "capped" in ended.out and "capped" in rowen("status").out and "capped" in rowen("runs", "orchard").out
    )
    expected = {"over_max_pages": 6, "too_deep": 1}
    assert rowen("sync", "--json").json["left_out"] == expected
    assert rowen("status", "--json").json["sources"][0]["left_out"] == expected
    assert [run["left_out"] for run in rowen("runs", "orchard", "--json").json["runs"]] == [expected] * 2
    assert "requests, 4 not modified · 7 left out" in " ".join(rowen("runs", "orchard").out.split())


def test_a_run_that_failed_does_not_say_that_nothing_is_new(rowen: Rowen) -> None:
    settings = ("bearer=${NOT_SET}", "path=/x", "items=@", "id=id", "text=t")
    given = [word for one in settings for word in ("--set", one)]
    rowen("add", "http://127.0.0.1:1/", "--name", "closed", "--kind", "rest", "--no-check", *given)
    ended = rowen("sync", "closed")
    assert (ended.code, "nothing new" in ended.out, "nothing taken in" in ended.out) == (1, False, True)


def test_a_paused_upstream_is_asked_only_when_somebody_insists(rowen: Rowen, orchard: Site) -> None:
    orchard.everything_answers(429)
    limited = rowen("sync", "orchard")
    assert limited.code == 1
    orchard.everything_answers(None)
    orchard.clear_log()
    paused = rowen("sync", "orchard")
    upstream = orchard.url.removeprefix("http://")
    assert (paused.code, orchard.requests) == (1, [])
    assert f"source `orchard`: not synced, upstream `{upstream}` is paused until 20" in paused.err
    assert "429, asked too often" in paused.err
    assert "hint: wait for it, or ask all the same: `rowen sync orchard --force`" in paused.err
    assert "orchard: not synced until 20" in rowen("status").out
    rowen("add", orchard.url + "/", "--name", "second", "--no-check")
    (told,) = [line for line in rowen("serve", "--once").err.splitlines() if "second: not run" in line]
    assert told.count("until") == 1
    assert rowen("sync", "orchard", "--force").code == 0
    assert rowen("sync", "orchard").code == 0, "it answered: the pause is over"


def test_status_says_partial_and_how_many_items_failed(rowen: Rowen, orchard: Site) -> None:
    before = rowen("status", "--json").json["sources"][0]
    orchard.set("/plum.html", "no", status=500)
    said = rowen("sync", "orchard").out
    assert "partial in " in said
    assert ": 1 item failed" in said
    (one,) = rowen("status", "--json").json["sources"]
    assert (one["last_outcome"], one["last_outcome_text"]) == ("partial", "partial: 1 item failed")
    assert (one["last_failed"], one["last_success_at"]) == (1, before["last_success_at"])
    shown = rowen("status").out
    assert "partial" in shown
    assert "orchard: partial: 1 item failed; see `rowen runs orchard --items`" in shown


def test_a_list_of_handoffs_that_is_cut_says_how_to_see_the_others(rowen: Rowen, orchard: Site) -> None:
    cut = rowen("handoffs", "--limit", "3")
    assert "there are more: `--offset 3` shows the next ones" in cut.err
    rest = rowen("handoffs", "--limit", "3", "--offset", "3")
    assert (len(cut.out.splitlines()), len(rest.out.splitlines())) == (4, 2)
    assert "more" not in rest.err
    assert len(rowen("handoffs", "--limit", "3", "--json").json["handoffs"]) == 3


@pytest.mark.parametrize(
    "call", ["handoffs --limit", "handoffs --offset", "handoffs --run", "runs orchard --run"]
)
def test_a_number_that_no_database_takes_is_a_wrong_call_and_not_a_bug(
    rowen: Rowen, orchard: Site, call: str
) -> None:
    ended = rowen(*call.split(), "9" * 20)
    assert (ended.code, "bug" in ended.err) == (2, False), ended.err
