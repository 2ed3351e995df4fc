"""The button that asks Prometheus: a verdict of a real recording in its place, one at a time, and each fault said."""

from __future__ import annotations

import threading
import time

import pytest

from tests.app.now.recorded import Recorded, settings
from tests.app.web.components import find
from tests.app.web.test_pages import address, read
from throttlescope.app.config import load_settings
from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.services.diagnose_now import CancelledError
from throttlescope.app.web import live as live_module
from throttlescope.app.web.components.shell import explained
from throttlescope.app.web.live import Live
from throttlescope.app.web.pages.subscription import now
from throttlescope.app.web.pages.subscription import page as subscription
from throttlescope.app.web.pages.subscription.content import read_view
from throttlescope.app.web.pages.subscription.page_state import state_of
from throttlescope.ingest.core.errors import InputError, SourceError

NAME = "slow-one-of-three"


@pytest.fixture
def recorded(monkeypatch) -> Recorded:
    """The recording in the place of the sources, at a moment of its first state."""
    found = Recorded(NAME)
    _, end_ms = found.state("first")
    found.take_the_place_of_the_sources(monkeypatch, found.said(end_ms))
    monkeypatch.setattr(live_module.time, "time", lambda: end_ms / 1000)
    monkeypatch.setattr(live_module, "DEADLINE_S", 600.0)
    return found


def key(cluster=NAME) -> SubscriptionPartition:
    return SubscriptionPartition(cluster, f"persistent://lab/{NAME}/orders", -1, "billing")


def not_cancelled() -> bool:
    return False


@pytest.mark.long
def test_card_shows_the_current_verdict(recorded):
    said = read(now.card(Live(settings()).diagnose(key(), cancelled=not_cancelled)))
    assert said.startswith("Now ● Slow consumers")
    assert "The consumers cannot keep up." in said
    assert "Consumers: 1 of 3 consumers is slow" in said
    assert "Nothing was stored." in said
    assert "data up to 2026-" in said


def test_prometheus_of_other_cluster_is_refused(recorded):
    with pytest.raises(InputError, match="another cluster's"):
        Live(settings()).diagnose(key("elsewhere"), cancelled=not_cancelled)


def test_cluster_is_chosen_by_name():
    clusters = {name: {"prometheus": {"url": "http://127.0.0.1:9"}} for name in ("east", "west")}
    live = Live(load_settings(None, {"clusters": clusters}))
    assert live._cluster_of(key("west")) == "west"
    with pytest.raises(InputError, match="No Prometheus of this cluster is configured"):
        live._cluster_of(key("north"))


def test_one_diagnosis_runs_and_one_waits(recorded, monkeypatch):
    live, begun, go_on = Live(settings()), threading.Event(), threading.Event()

    def slow(*_, **__):
        begun.set()
        go_on.wait(60)
        raise SourceError("enough")

    monkeypatch.setattr("throttlescope.app.services.diagnose_now.diagnose_now", slow)

    def diagnose():
        with pytest.raises(SourceError):
            live.diagnose(key(), cancelled=not_cancelled)

    threads = [threading.Thread(target=diagnose) for _ in range(2)]
    threads[0].start()
    assert begun.wait(60)
    threads[1].start()
    end_s = time.monotonic() + 60
    while live._concurrency._admitted._value:
        assert time.monotonic() < end_s
        time.sleep(0.02)
    with pytest.raises(SourceError, match="Another diagnosis"):
        live.diagnose(key(), cancelled=not_cancelled)
    go_on.set()
    for thread in threads:
        thread.join(60)


def test_cancelled_diagnosis_ends(recorded):
    with pytest.raises(CancelledError):
        Live(settings()).diagnose(key(), cancelled=lambda: True)


@pytest.mark.long
def test_button_without_source_says_what_to_configure(reader):
    assert Live.of(load_settings(None, {})) is None
    tree = subscription.page(read_view(reader, address("billing")))
    (button,) = [part for part in find(tree, "Button") if part.children == "Diagnose now"]
    assert button.disabled
    assert "start serve with --prometheus URL" in read(tree)


@pytest.mark.long
def test_button_with_source_is_enabled(reader):
    live = Live.of(settings())
    tree = subscription.page(read_view(reader, address("billing")), live)
    (button,) = [part for part in find(tree, "Button") if part.children == "Diagnose now"]
    assert not getattr(button, "disabled", False)
    assert button.id == "subscription-now-ask"


@pytest.mark.long
def test_unreachable_prometheus_is_explained(reader):
    data = state_of(read_view(reader, address("billing")))
    said = read(explained(lambda: now.diagnosis_card(Live(settings()), data))())
    assert "127.0.0.1:9" in said
    assert "could not be built" not in said


@pytest.mark.parametrize(
    "data", [{}, {"href": "x"}, {"href": "/subscription?cluster=a", "start_ms": "x"}, "text"]
)
def test_incomplete_request_is_refused(data):
    said = read(explained(lambda: now.diagnosis_card(Live(settings()), data))())
    assert "does not say what its page shows" in said or "does not name a subscription" in said
