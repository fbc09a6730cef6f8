"""The commands that look at what is there and what happened, and those that put it in order."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.doors.conftest import Rowen, fruit_page
from tests.support.fakes import FakeEmbedder
from tests.support.site import Site, html


def test_search_prints_one_json_object_with_everything_promised(rowen: Rowen, orchard: Site) -> None:
    value = rowen("search", "storing plum cool", "--json").json
    assert " ".join(value) == "query mode degraded corrected on_topic fits as_of rechecked hits"
    assert (value["query"], value["mode"], value["degraded"]) == ("storing plum cool", "hybrid", None)
    best = value["hits"][0]
    assert {"source", "url", "title", "heading_path", "snippet", "score", "generation"} <= set(best)
    assert best["url"] == orchard.url + "/plum.html#storing"
    assert best["heading_path"] == "Plum › Storing"
    assert best["generation"] == 1
    assert not set("«»") & set(best["snippet"])
    assert "plum" in [best["snippet"][start:end] for start, end in best["matches"]]


def test_phrases_and_excluded_words_choose_among_what_is_found(rowen: Rowen, orchard: Site) -> None:
    def urls(query: str) -> set[str]:
        return {hit["url"].partition("#")[0] for hit in rowen("search", query, "--json").json["hits"]}

    plum = orchard.url + "/plum.html"
    assert plum in urls("plum")
    assert plum not in urls("fruit -plum")
    assert urls('"no page says this"') == set()


def test_search_for_people_shows_title_path_snippet_and_address(rowen: Rowen, orchard: Site) -> None:
    ended = rowen("search", "plum cool", "--limit", "1")
    assert ended.code == 0
    assert ended.out.startswith(
        "1. Plum  orchard, generation 1\n   Plum › Storing\n   Keep every plum cool and dark"
    )
    assert f"\n   {orchard.url}/plum.html#storing\n" in ended.out
    assert "\n2. " not in ended.out


def test_a_title_without_end_filled_the_screen(rowen: Rowen, orchard: Site) -> None:
    orchard.set("/apple.html", html("Quince " * 500, "The medlar is picked by hand."))
    rowen("sync", "orchard", "--json")
    ended = rowen("search", "medlar", "--mode", "keyword")
    head = ended.out.splitlines()[0]
    assert head.startswith("1. Quince Quince")
    assert "…  orchard, generation 2" in head
    assert max(len(line) for line in ended.out.splitlines()) < 250
    assert len(rowen("search", "medlar", "--mode", "keyword", "--json").json["hits"][0]["title"]) > 1000


def test_search_can_be_narrowed(rowen: Rowen, orchard: Site) -> None:
    assert rowen("search", "plum", "--source", "orchard", "--kind", "web", "--json").json["hits"]
    (hit, *_) = rowen("search", "plum", "--language", "EN", "--json").json["hits"]
    assert hit["language"] == "en"
    assert rowen("search", "plum", "--language", "de", "--json").json["hits"] == []
    assert rowen("search", "plum", "--language", "no language").code == 2
    assert rowen("search", "plum", "--source", "garden").code == 2
    assert rowen("search", "plum", "--kind", "wbe").code == 2
    assert rowen("search", "plum", "--limit", "0").code == 2
    assert rowen("search", " ").code == 2


def test_search_takes_several_words_without_quotes(rowen: Rowen, orchard: Site) -> None:
    quoted = rowen("search", "plum cool", "--json").json
    assert rowen("search", "plum", "cool", "--json").json == quoted
    assert rowen("search", "--json").code == 2


def test_a_question_that_looks_like_an_option_is_told_how_to_be_asked(rowen: Rowen, orchard: Site) -> None:
    refused = rowen("search", "--with-pydebug")
    assert refused.code == 2
    assert "words that begin with a dash come after `--`: `rowen search -- --flag`" in refused.err
    assert rowen("search", "--limit", "1", "--", "--with-pydebug").code == 0
    assert rowen("search", "--", '"-Wall"').code == 0
    assert "come after" not in rowen("sync", "--with-pydebug").err


def test_a_search_that_only_leaves_out_words_has_nothing_to_look_for(rowen: Rowen, orchard: Site) -> None:
    refused = rowen("search", "--", "-plum")
    assert (refused.code, refused.out) == (2, "")
    assert "query `-plum`: only words that must not stand, and none to look for" in refused.err


def test_search_without_a_hit_says_what_to_try(rowen: Rowen, orchard: Site) -> None:
    ended = rowen("search", "zebra", "--mode", "keyword")
    assert ended.code == 0
    assert ended.out == "nothing found for `zebra`\n"
    assert "--mode vector" in ended.err
    narrowed = rowen("search", "zebra", "--mode", "keyword", "--source", "orchard")
    assert "without `--source`, or" in narrowed.err
    narrowed = rowen("search", "plum", "--where", "tags=fruit", "--kind", "web")
    assert "without `--kind` and `--where`, or" in narrowed.err


def test_search_in_an_empty_store_says_how_to_begin(rowen: Rowen, site: Site) -> None:
    assert "rowen add" in rowen("search", "plum").err
    rowen("add", site.url + "/", "--name", "orchard")
    assert "rowen sync" in rowen("search", "plum").err


def test_search_says_when_the_model_is_missing(
    rowen: Rowen, orchard: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rowen.adapters import embedders

    fake = FakeEmbedder()
    fake.down = True
    monkeypatch.setattr(embedders, "make", lambda name: fake)
    ended = rowen("search", "plum")
    assert ended.code == 0
    assert "Plum" in ended.out
    assert "warning: answered from keywords" in ended.err
    value = rowen("search", "plum", "--json").json
    assert value["mode"] == "keyword"
    assert "is away" in value["degraded"]


def test_a_page_cannot_move_the_cursor(rowen: Rowen, site: Site) -> None:
    site.set("/", html("Evil \x1b[2J\x9b31m title", "some \x1b]0;text\x07 body \u202e here"))
    rowen("add", site.url + "/", "--name", "evil")
    rowen("sync")
    out = rowen("search", "body").out
    assert "body" in out
    assert not set(out) & {"\x1b", "\x9b", "\x07", "\u202e"}


def test_status_of_an_empty_store_says_how_to_begin(rowen: Rowen, db: str) -> None:
    ended = rowen("status")
    assert ended.code == 0
    assert "no sources yet" in ended.out
    assert "rowen add" in ended.err
    empty = {"search_model": None, "vectors_pending": False, "breakers": {}}
    status = rowen("status", "--json").json
    assert status == {
        "db": db.removeprefix("sqlite:///"),
        "sources": [],
        "embedding": empty,
        "workforce": {"workers": [], "waiting": 0, "running": 0, "oldest_at": None},
    }


def test_status_shows_each_source(rowen: Rowen, orchard: Site) -> None:
    rowen("add", orchard.url + "/", "--name", "later", "--version", "9")
    lines = rowen("status").out.splitlines()
    states = {line.split()[0]: line for line in lines}
    heading = "source kind generation documents sections last run next run state"
    assert " ".join(states["source"].split()) == heading
    assert states["orchard"].split()[:5] == ["orchard", "web", "1", "4", "7"]
    assert states["orchard"].endswith("not served  up to date")
    assert states["later@9"].endswith("never run")
    one = next(s for s in rowen("status", "--json").json["sources"] if s["name"] == "orchard")
    assert " ".join(one) == (
        "name version label key kind location status state state_text state_since state_by state_hint "
        "loudness next_run_at next_run_text served generation kept_since held_generation held_reason held_at "
        "documents sections last_run_at last_success_at last_error_at last_error last_outcome "
        "last_outcome_text last_mode last_processed last_bytes_received last_bytes_avoided last_failed "
        "last_processed_date watermark "
        "consecutive_failures every_s every_auto paused paused_at paused_by pinned pinned_at pinned_by "
        "client_paused_until stopped running left_out signals"
    )
    assert (one["documents"], one["generation"], one["running"], one["status"]) == (4, 1, False, "SUCCESS")


def test_status_shows_the_sources_that_are_named(rowen: Rowen, orchard: Site) -> None:
    rowen("add", orchard.url + "/", "--name", "later", "--no-check")
    assert [one["label"] for one in rowen("status", "later", "--json").json["sources"]] == ["later"]
    assert "later" not in rowen("status", "orchard").out
    ended = rowen("status", "lather")
    assert (ended.code, ended.err) == (
        2,
        "error: source `lather`: no such source\nhint: did you mean `later`?\n",
    )


def test_a_mistyped_option_of_a_search_is_told_which_was_meant(rowen: Rowen) -> None:
    ended = rowen("search", "pears", "--sorce", "orchard")
    assert ended.code == 2
    assert "'--source'" in ended.err
    assert "come after" not in ended.err


def test_status_tells_an_error_in_words(rowen: Rowen) -> None:
    rowen("add", "http://127.0.0.1:1/", "--name", "dead", "--no-check")
    rowen("sync")
    rowen("sync")
    ended = rowen("status")
    assert "waiting" in ended.out
    assert "dead: its last run failed: " in ended.out
    assert "(2 times in a row)" in ended.out


def test_runs_show_the_newest_first(rowen: Rowen, orchard: Site) -> None:
    rowen("sync")
    value = rowen("runs", "orchard", "--json").json
    newest, oldest = value["runs"]
    assert newest["run_id"] > oldest["run_id"]
    assert (newest["mode"], newest["not_modified"]) == ("incremental", 4)
    assert (oldest["mode"], oldest["created"], oldest["status"]) == ("full", 4, "completed")
    assert len(rowen("runs", "orchard", "--limit", "1", "--json").json["runs"]) == 1
    assert len(rowen("runs", "orchard").out.splitlines()) == 3


def test_items_of_a_run_are_listed_and_the_unchanged_are_counted(rowen: Rowen, orchard: Site) -> None:
    orchard.set("/plum.html", fruit_page("plum", "May"))
    rowen("sync")
    value = rowen("runs", "orchard", "--items", "--json").json
    assert value["items"] == [
        {
            "reference": orchard.url + "/plum.html",
            "outcome": "updated",
            "reason": "content_changed",
            "detail": None,
        }
    ]
    assert value["unlisted"] == {"not_modified": 3}
    out = rowen("runs", "orchard", "--items").out
    assert "updated   content_changed" in out
    assert "3 others: unchanged, not modified" in out


def test_one_run_can_be_chosen(rowen: Rowen, orchard: Site) -> None:
    rowen("sync")
    first = rowen("runs", "orchard", "--json").json["runs"][-1]["run_id"]
    value = rowen("runs", "orchard", "--run", str(first), "--items", "--json").json
    assert [run["run_id"] for run in value["runs"]] == [first]
    assert len(value["items"]) == 4
    assert rowen("runs", "orchard", "--run", "999").code == 2


def test_runs_of_a_new_source_say_how_to_begin(rowen: Rowen, site: Site) -> None:
    rowen("add", site.url + "/", "--name", "orchard")
    assert "no runs yet" in rowen("runs", "orchard", "--items").out
    assert rowen("runs", "orchard", "--items", "--json").json == {
        "source": "orchard",
        "runs": [],
        "items": [],
        "unlisted": {},
    }


def test_diff_and_rollback(rowen: Rowen, orchard: Site) -> None:
    orchard.set("/", html("Orchard", "All the fruit", links=["/apple.html", "/plum.html", "/quince.html"]))
    orchard.set("/plum.html", fruit_page("plum", "May"))
    orchard.set("/quince.html", fruit_page("quince"))
    orchard.remove("/pear.html")
    rowen("sync")
    value = rowen("diff", "orchard", "--json").json
    assert (value["from_generation"], value["to_generation"]) == (1, 2)
    kinds = {change["url"].rpartition("/")[2]: change["kind"] for change in value["changes"]}
    assert kinds == {"plum.html": "changed", "quince.html": "added", "pear.html": "removed"}
    out = rowen("diff", "orchard", "--from", "1", "--to", "2").out
    assert "+ Quince" in out
    assert "~ Plum" in out
    assert "    ~ Plum › Storing" in out
    assert "- Pear" in out
    assert "1 new, 1 updated, 1 removed" in out
    assert rowen("diff", "orchard", "--to", "7").code == 2

    assert "generation 1 is visible again, 2 is not" in rowen("rollback", "orchard").out
    assert rowen("search", "pear", "--mode", "keyword", "--json").json["hits"][0]["title"] == "Pear"
    assert rowen("rollback", "orchard").code == 2
    assert "already" in rowen("rollback", "orchard", "--to", "1").out
    assert rowen("rollback", "orchard", "--to", "1", "--json").json == {
        "source": "orchard",
        "generation": 1,
        "before": 1,
    }


def test_handoffs_are_listed_and_filtered(rowen: Rowen, orchard: Site) -> None:
    every = rowen("handoffs", "--json").json["handoffs"]
    assert len(every) == 4
    assert {one["status"] for one in every} == {"completed"}
    assert {one["reason_code"] for one in every} == {"ingested"}
    assert len(rowen("handoffs", "orchard", "--limit", "3", "--offset", "2", "--json").json["handoffs"]) == 2
    assert rowen("handoffs", "--status", "failed", "--json").json == {"handoffs": []}
    assert rowen("handoffs", "--run", "999").out == "no handoffs\n"
    assert "completed" in rowen("handoffs", "orchard").out


def test_vacuum_says_what_it_forgot(rowen: Rowen, orchard: Site) -> None:
    orchard.set("/plum.html", fruit_page("plum", "May"))
    rowen("sync")
    assert rowen("vacuum", "--json").json["documents"] == 0
    assert rowen("vacuum", "--keep", "1", "--json").json["documents"] == 1
    assert "forgot 0 document versions" in rowen("vacuum").out


def test_remove_asks_first(rowen: Rowen, orchard: Site) -> None:
    refused = rowen("remove", "orchard")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert rowen("remove", "orchard", "--yes", "--json").json == {
        "source": "orchard",
        "removed": True,
        "documents": 4,
    }
    assert rowen("status", "--json").json["sources"] == []
    assert rowen("search", "plum", "--mode", "keyword", "--json").json["hits"] == []


def test_config_show_tells_where_values_come_from(rowen: Rowen, db: str, tmp_path: Path) -> None:
    shown = {one["name"]: one for one in rowen("config", "show", "--json").json["settings"]}
    assert (shown["store.url"]["value"], shown["store.url"]["origin"]) == (db, "ROWEN_DB")
    assert shown["fetch.timeout_s"]["origin"] == "default"
    assert shown["fetch.timeout_s"]["variable"] == "ROWEN_FETCH_TIMEOUT_S"
    other = f"sqlite:///{tmp_path / 'other.db'}"
    for arguments in (
        ("--db", other, "config", "show", "--json"),
        ("config", "show", "--json", "--db", other),
    ):
        shown = {one["name"]: one for one in rowen(*arguments).json["settings"]}
        assert (shown["store.url"]["value"], shown["store.url"]["origin"]) == (other, "--db")
    assert "fetch.timeout_s" in rowen("config", "show").out


def test_doctor_checks_the_real_parts(rowen: Rowen) -> None:
    ended = rowen("doctor", "--json")
    assert ended.code == 0, ended.out
    assert [check["name"] for check in ended.json["checks"]] == [
        "python",
        "sqlite",
        "compression",
        "certificates",
        "data folder",
        "disk",
        "store",
        "clock",
        "extras",
        "browser",
        "model",
        "parser",
    ]
    assert rowen("doctor").out.count("ok  ") == 12


def test_doctor_names_a_stored_time_that_lies_in_the_future(rowen: Rowen, orchard: Site, db: str) -> None:
    with closing(sqlite3.connect(db.removeprefix("sqlite:///"))) as store, store:
        store.execute("UPDATE sources SET last_run_at = '2999-01-01T00:00:00.000000+00:00'")
    ended = rowen("doctor")
    assert ended.code == 1
    assert "problem  clock" in ended.out
    assert "source `orchard` has last_run_at 2999-01-01" in ended.out
    assert "set the clock right if it is behind" in ended.out


def test_doctor_tries_the_better_model_where_it_is_chosen(
    rowen: Rowen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROWEN_EMBEDDING_PROVIDER", "minilm")
    model = next(check for check in rowen("doctor", "--json").json["checks"] if check["name"] == "model")
    assert model["ok"]
    assert "minilm-l6-v2-int8" in model["said"]
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    model = next(check for check in rowen("doctor", "--json").json["checks"] if check["name"] == "model")
    assert not model["ok"]
    assert "rowen[quality]" in model["hint"]


def test_doctor_finds_a_ca_file_that_is_gone(rowen: Rowen, tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    added = rowen(
        "add", "https://docs.example/", "--name", "inside", "--no-check", "--set", f"ca_file={file}"
    )
    assert added.code == 0, added.err
    ended = rowen("doctor", "--offline")
    assert ended.code == 1
    assert "problem  ca_file" in ended.out
    assert "source `inside`" in ended.out


def test_doctor_finds_a_file_that_is_no_database(rowen: Rowen, tmp_path: Path) -> None:
    wrong = tmp_path / "letter.txt"
    wrong.write_text("Dear Sir, " * 500)
    ended = rowen("doctor", "--db", f"sqlite:///{wrong}")
    assert ended.code == 1
    assert "problem  store" in ended.out
    assert wrong.read_text().startswith("Dear Sir, ")


def test_errors_in_json_mode_are_json_on_standard_error(rowen: Rowen, tmp_path: Path) -> None:
    wrong = tmp_path / "letter.txt"
    wrong.write_text("Dear Sir, " * 500)
    for arguments, reason in (
        (["sync", "nobody", "--json"], "not_found"),
        (["status", "--json", "--db", f"sqlite:///{wrong}"], "store_unusable"),
        (["search", "--json"], "bad_call"),
    ):
        ended = rowen(*arguments)
        assert ended.code == 2
        assert ended.out == ""
        assert json.loads(ended.err)["reason"] == reason


def test_plan_estimates_before_anybody_pays(
    rowen: Rowen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROWEN_EMBEDDING_PRICE_PER_MILLION_TOKENS", "20")
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\nText.\n")
    rowen("add", str(folder), "--name", "notes")
    plan = rowen("plan", "notes", "--json").json
    assert (plan["items"], plan["stored"], plan["new_items"], plan["calls"]) == (3, 0, 3, 1)
    assert plan["cost"] > 0
    assert rowen("plan", "notes").out.startswith(
        "notes: not synced yet; an estimate: the files were counted; lengths from 3 of them\n"
        "3 items, 48 B\nabout 3 texts, "
    )
    rowen("sync", "notes")
    assert rowen("plan", "notes", "--json").json["texts"] == 0
    assert rowen("plan", "notes").out.startswith("notes: nothing to do, 3 unchanged\n")
    assert "3 items, 3 stored, at least 0 new" in rowen("plan", "notes", "--estimate").out


def test_embed_says_when_nothing_is_missing(rowen: Rowen, orchard: Site) -> None:
    answer = rowen("embed", "--json").json
    assert (answer["embedded"], answer["missing"], answer["error"]) == (0, 0, None)
    assert rowen("status", "--json").json["embedding"]["search_model"] == answer["model"]


def test_the_same_text_at_another_address_is_a_line_of_the_hit(rowen: Rowen, orchard: Site) -> None:
    orchard.set("/pear-tree.html", orchard.pages["/plum.html"].body)
    orchard.set("/", orchard.pages["/"].body + '<a href="/pear-tree.html">one more</a>')
    rowen("sync", "orchard")
    (hit, *_) = rowen("search", "plum cool", "--mode", "keyword", "--json").json["hits"]
    assert [one["url"].partition("#")[0] for one in hit["also_at"]] == [f"{orchard.url}/plum.html"]
    shown = rowen("search", "plum cool", "--mode", "keyword").out
    assert f"same text at {orchard.url}/plum.html" in shown


def test_a_page_of_two_sources_does_not_name_its_own_address_as_another(rowen: Rowen, orchard: Site) -> None:
    rowen("add", f"{orchard.url}/plum.html", "--name", "fruit", "--sync")
    shown = rowen("search", "plum cool", "--mode", "keyword").out
    assert "same text at" not in shown
    assert "same page in fruit" in shown or "same page in orchard" in shown


def test_doctor_lists_extras_the_browser_and_failing_sources(
    rowen: Rowen, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rowen.doors.cli.commands import doctor

    missing = {"pyarrow", "psycopg"}
    monkeypatch.setattr(doctor, "_installed", lambda module: module not in missing)
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    rowen("add", site.url, "--name", "drawn", "--no-check", "--set", "render=true")
    rowen("add", "http://127.0.0.1:1/", "--name", "dead", "--no-check")
    rowen("sync", "dead")
    ended = rowen("doctor", "--offline", "--json")
    assert ended.code == 1
    checks = {check["name"]: check for check in ended.json["checks"]}
    assert "not installed: parquet (Parquet exports), postgres (PostgreSQL)" in checks["extras"]["said"]
    assert (checks["extras"]["ok"], checks["extras"]["hint"]) == (
        True,
        "pip install 'rowen[parquet,postgres]' adds them",
    )
    assert (checks["browser"]["ok"], checks["source"]["ok"]) == (False, True)
    assert "source `drawn` asks for one" in checks["browser"]["said"]
    assert checks["source"]["said"].startswith("`dead`: its last run failed: ")
    assert checks["source"]["hint"].startswith("`rowen sync dead` tries again")
