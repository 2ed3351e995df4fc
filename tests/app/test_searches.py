"""Searches in the background: found by every process, two at a time, cancelled, ended, and refused."""

from __future__ import annotations

import fcntl
import json
import os
import time

import pytest

from tests.app.web.lab_lake import ADDRESS, BILLING, write_lab_lake
from throttlescope.app.services.whatif import background
from throttlescope.app.services.whatif.background import RUNNING, WAITING, Searches
from throttlescope.app.services.whatif.search import ANY, EXACT, POINTS, Search, run_search
from throttlescope.ingest.core.errors import InputError

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

#: A search gives way to everything else on the machine.
LONGEST_S = 500


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    return write_lab_lake(tmp_path_factory.mktemp("lab") / "lake").root


@pytest.fixture
def searches(tmp_path):
    own = Searches(tmp_path / "searches")
    yield own
    for place in (tmp_path / "searches").glob("*/"):
        own.cancel(place.name)


def search(lake, lever="subscription.msg", target_s=1800, **more) -> Search:
    return Search(
        lake,
        (1,),
        str(ADDRESS.name),
        BILLING.cluster,
        ADDRESS.start_ms,
        ADDRESS.end_ms,
        lever,
        target_s,
        **more,
    )


def wait_until_over(searches, name, timeout_s=LONGEST_S):
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        found = searches.progress(name)
        if found.is_over:
            return found
        time.sleep(0.1)
    raise AssertionError(f"still {found.state}: {found.words}")


@pytest.mark.study
def test_search_is_visible_to_other_processes(lake, searches, tmp_path):
    name = searches.start(search(lake))
    elsewhere = Searches(tmp_path / "searches")
    assert elsewhere.progress(name).state in ("waiting", "running")
    assert searches.start(search(lake)) == name, "the same is not begun twice"
    found = wait_until_over(elsewhere, name)
    assert (found.state, found.document["lever"]) == ("done", "subscription.msg")
    assert found.search == search(lake)
    assert elsewhere.start(search(lake)) == name
    assert elsewhere.progress(name).state == "done", "what is known is not searched again"


def test_cancelled_search_can_be_restarted(lake, searches):
    name = searches.start(search(lake, ANY))
    searches.cancel(name)
    assert wait_until_over(searches, name).state == "cancelled"
    searches.cancel(name)
    assert searches.start(search(lake, ANY)) == name
    assert searches.progress(name).state in ("waiting", "running")


@pytest.mark.study
def test_two_searches_run_others_wait(lake, searches, tmp_path):
    folder = tmp_path / "searches"
    folder.mkdir(mode=0o700)
    locks = [(folder / f"turn-{number}.lock").open("a") for number in range(RUNNING)]
    for lock in locks:
        fcntl.flock(lock, fcntl.LOCK_EX)
    names = [searches.start(search(lake, target_s=600 + number)) for number in range(RUNNING + WAITING)]
    with pytest.raises(InputError, match="Too many searches are at work; got 8; expected at most 8"):
        searches.start(search(lake, target_s=5000))
    assert {searches.progress(name).state for name in names} == {"waiting"}
    for name in names[1:]:
        searches.cancel(name)
    for lock in locks:
        lock.close()
    assert wait_until_over(searches, names[0]).state == "done"


def test_search_ends_at_its_time_limit(lake, tmp_path, monkeypatch):
    short = Searches(tmp_path / "searches", longest_s=1)
    name = short.start(search(lake, ANY, 86_400))
    found = wait_until_over(short, name)
    assert found.state in ("timed out", "done")
    if found.state == "done":
        pytest.fail("it was done within a second: nothing was ended")


def test_killed_search_is_reported_lost(lake, searches, tmp_path):
    """A search that never existed is not found."""
    name = searches.start(search(lake, ANY))
    os.kill(int((tmp_path / "searches" / name / "pid").read_text()), 9)
    assert wait_until_over(searches, name).state == "lost"
    assert searches.progress("0" * 24) is None


def test_impossible_search_has_an_error(lake, searches):
    gone = Search(
        lake, (1,), "persistent://acme/shop/orders#gone", "prod", ADDRESS.start_ms, ADDRESS.end_ms, ANY, 600
    )
    found = wait_until_over(searches, searches.start(gone))
    assert found.state == "failed"
    assert "No backlog of this subscription is in the lake" in found.words


@pytest.mark.parametrize(("lever", "target_s"), [("topic", 600), ("consumers", 5), ("consumers", 100_000)])
def test_invalid_search_is_refused(lake, lever, target_s):
    with pytest.raises(InputError):
        search(lake, lever, target_s)


def test_folder_open_to_others_is_refused(lake, tmp_path):
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    with pytest.raises(InputError, match="open to others"):
        Searches(open_to_all).start(search(lake))


def test_old_searches_are_deleted(lake, searches, tmp_path, monkeypatch):
    old = tmp_path / "searches" / ("a" * 24)
    old.mkdir(parents=True, mode=0o700)
    (tmp_path / "searches").chmod(0o700)
    os.utime(old, (1, 1))
    searches.start(search(lake))
    assert not old.exists()


def test_different_searches_have_different_names(lake):
    names = {
        search(lake).name,
        search(lake, target_s=600).name,
        search(lake, ANY).name,
        search("elsewhere").name,
    }
    assert len(names) == 4
    assert Search.of(search(lake).text) == search(lake)


# What is found


def test_sufficient_limit_drains_in_time(lake):
    """A lower limit does not."""
    notes = []
    found = run_search(search(lake), lambda *note: notes.append(note))
    enough = found["enough"]
    assert 600 < enough < 1200, "600 msg/s come"
    for point in found["points"]:
        if point["value"] >= enough:
            assert point["drain_s"] <= 1800
        if point["value"] < 0.9 * enough:
            assert point["drain_s"] is None or point["drain_s"] > 1800
    done = [note[0] for note in notes]
    assert done == sorted(done)
    assert notes[-1][0] < notes[-1][1]
    assert len(found["points"]) == POINTS
    json.dumps(found)


def test_every_lever_is_examined(lake):
    found = run_search(search(lake, ANY), lambda *_: None)
    assert found["recommendations"][0]["lever"] == "limit"
    assert found["recommendations"][0]["change"].startswith("subscription.msg=")
    assert any("Adding consumers will not help" in text for text in found["not_helping"])


@pytest.mark.parametrize("when", ["end", "start"])
def test_exact_search_replays_the_change(lake, when):
    found = run_search(
        search(lake, EXACT, 3600, change="subscription.msg=1200 processing_ms=2", when=when), lambda *_: None
    )
    assert found["forecasts"]["as it is"]["drain_s"] is None
    assert found["forecasts"]["changed"]["drain_s"] is not None


def test_worker_writes_its_result(lake, tmp_path, monkeypatch):
    monkeypatch.setattr(background.os, "nice", lambda _: None)
    monkeypatch.setattr(background.signal, "alarm", lambda _: None)
    place = tmp_path / "searches" / search(lake).name
    place.mkdir(parents=True)
    (place / "search.json").write_text(search(lake).text)
    (place / "state.json").write_text(json.dumps({"state": "waiting", "started_s": time.time()}))
    background.work(place)
    assert json.loads((place / "state.json").read_text())["state"] == "done"
    assert json.loads((place / "document.json").read_text())["enough"]
