"""``throttlescope analyze-backlog``: a POST per partition, sums, lower bounds, and what to do about each refusal."""

from __future__ import annotations

import contextlib
import json
import threading

import pytest

from tests.app.commands import throttlescope
from tests.app.http_server import answering
from tests.app.web.components import find
from tests.app.web.test_pages import read
from throttlescope.app.config import load_settings
from throttlescope.app.presentation.links.subscription import SubscriptionPartition
from throttlescope.app.services.analyze_backlog import analyze
from throttlescope.app.services.diagnose_now import CancelledError, Deadline
from throttlescope.app.web.live import Live
from throttlescope.app.web.pages.subscription import backlog_analysis
from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.core.subscription_name import SubscriptionName

TOPIC = "persistent://acme/shop/orders"
NAME = f"{TOPIC}#billing/eu"
#: As brokers of 4.x answer.
ANSWER = {
    "entries": 120, "messages": 1000, "markerMessages": 20, "filterRejectedEntries": 3, "filterAcceptedEntries": 97,
    "filterRescheduledEntries": 0, "filterRejectedMessages": 30, "filterAcceptedMessages": 970, "filterRescheduledMessages": 0,
    "aborted": False, "firstMessageId": None, "lastMessageId": None,
}  # fmt: skip


class Broker:
    """Answers by partition (-1: not partitioned); ``requests`` are methods and paths so far."""

    def __init__(self, answers: dict[int, object], partitions: int = 0) -> None:
        self.answers, self.partitions = answers, partitions
        self.requests: list[tuple[str, str]] = []
        self.asked, self.go_on = threading.Event(), threading.Event()
        self.go_on.set()

    def __call__(self, method: str, path: str, _headers: dict) -> tuple[int, str, bytes]:
        self.requests.append((method, path))
        if path.endswith("/partitions"):
            return 200, "application/json", json.dumps({"partitions": self.partitions}).encode()
        self.asked.set()
        self.go_on.wait(20)
        topic = path.split("/subscription/")[0]
        _, found, number = topic.rpartition("-partition-")
        answer = self.answers[int(number) if found else -1]
        if isinstance(answer, int):
            return answer, "application/json", json.dumps({"reason": "as the broker says"}).encode()
        return 200, "application/json", json.dumps(answer).encode()


@contextlib.contextmanager
def serving(answers: dict[int, object], partitions: int = 0):
    broker = Broker(answers, partitions)
    with answering(broker) as url:
        broker.settings = load_settings(None, {"clusters": {"prod": {"pulsar_admin": {"urls": [url]}}}})
        broker.url = url
        yield broker


def run(broker: Broker, name: str = NAME, **deadline):
    return analyze(
        broker.settings, None, SubscriptionName.of(name), Deadline(**{"deadline_s": 20.0} | deadline)
    )


def test_one_topic_is_one_post():
    with serving({-1: ANSWER}) as broker:
        found = run(broker)
    assert broker.requests[-1] == (
        "POST", "/admin/v2/persistent/acme/shop/orders/subscription/billing%2Feu/analyzeBacklog",
    )  # fmt: skip
    whole = found.total
    assert (whole.entries, whole.messages, whole.marker_messages) == (120, 1000, 20)
    assert (whole.rejected_messages, whole.accepted_entries, whole.is_lower_bound) == (30, 97, False)


def test_partitions_are_read_one_by_one_and_summed():
    with serving({0: ANSWER, 1: {**ANSWER, "entries": 5, "aborted": True}}, partitions=2) as broker:
        found = run(broker)
        (one,) = run(broker, f"{TOPIC}-partition-1#billing/eu").partitions.items()
    assert list(found.partitions) == [0, 1]
    assert (found.total.entries, found.total.is_lower_bound) == (125, True)
    assert (one[0], one[1].entries) == (1, 5)


def test_partition_without_answer_makes_a_lower_bound():
    with serving({0: ANSWER, 1: 500}, partitions=2) as broker:
        found = run(broker)
    assert "as the broker says" in found.failures[1]
    assert (found.total.entries, found.total.is_lower_bound) == (120, True)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "wants authentication"),
        (403, "permission to consume"),
        (404, "check the names of the topic and the subscription"),
        (405, "name one partition"),
        (500, "as the broker says"),
    ],
)
def test_refusals_say_what_to_do(status, words):
    with serving({-1: status}) as broker, pytest.raises(SourceError, match=words):
        run(broker)


@pytest.mark.parametrize(
    "answer",
    [{}, [], {**ANSWER, "entries": "many"}, {**ANSWER, "messages": -1}, {"entries": 1, "messages": 1}],
)
def test_answers_of_another_kind_are_refused(answer):
    with serving({-1: answer}) as broker, pytest.raises(SourceError, match="no analysis of a backlog"):
        run(broker)


def test_broker_without_markers_or_filters_is_read():
    with serving({-1: {"entries": 7, "messages": 9, "aborted": False}}) as broker:
        assert run(broker).total.marker_messages == 0


def test_deadline_ends_the_wait():
    with serving({-1: ANSWER}) as broker:
        broker.go_on.clear()
        with pytest.raises(SourceError, match="did not finish reading") as error:
            run(broker, deadline_s=1.0)
        broker.go_on.set()
    assert "--deadline" in error.value.fix


def test_partitions_after_the_deadline_are_left_out():
    with serving(dict.fromkeys(range(3), ANSWER), partitions=3) as broker:
        clock = Deadline(20.0)

        def spend(_note: str) -> None:
            if len(broker.requests) == 2:
                object.__setattr__(clock, "started_s", clock.started_s - 60)

        found = analyze(broker.settings, None, SubscriptionName.of(NAME), clock, spend)
    assert found.left_out or found.failures
    assert found.total.is_lower_bound


def test_cancelled_analysis_sends_no_more_requests():
    wanted = pytest.raises(CancelledError, match="analysis was cancelled")
    with serving(dict.fromkeys(range(3), ANSWER), partitions=3) as broker, wanted:
        run(broker, cancelled=broker.asked.is_set)
    assert [path for method, path in broker.requests if method == "POST"] == [
        "/admin/v2/persistent/acme/shop/orders-partition-0/subscription/billing%2Feu/analyzeBacklog"
    ]


@pytest.mark.parametrize(
    ("name", "words"),
    [(f"{TOPIC}@west", "replicator's backlog"), ("non-persistent://a/b/c#s", "Only persistent topics")],
)
def test_names_without_a_backlog_are_refused(name, words):
    with serving({-1: ANSWER}) as broker, pytest.raises(InputError, match=words):
        run(broker, name)
    assert broker.requests == []


def test_without_admin_api_the_fix_is_named():
    with pytest.raises(InputError, match="add --pulsar-admin URL"):
        analyze(load_settings(None, {}), None, SubscriptionName.of(NAME), Deadline(20.0))


def test_command_prints_counts_and_their_units():
    with serving({0: ANSWER, 1: {**ANSWER, "aborted": True}}, partitions=2) as broker:
        done = throttlescope("analyze-backlog", NAME, "--pulsar-admin", broker.url)
    assert done.code == 0, done.err
    assert "reads the backlog from storage" in done.err
    assert "markers (entries)" in done.out
    assert ">= 240" in done.out
    assert "lower bound" in done.out
    assert "40 entries (17 %) are markers" in done.out


def test_command_writes_json():
    with serving({-1: ANSWER}) as broker:
        done = throttlescope(
            "analyze-backlog", NAME, "--pulsar-admin", broker.url, "--format", "json", "--quiet"
        )
    document = json.loads(done.out)
    assert document["total"]["messages"] == 1000
    assert document["partitions"][0]["partition"] == -1


def test_missing_topic_says_what_to_check():
    def gone(_method: str, _path: str, _headers: dict) -> tuple[int, str, bytes]:
        return 404, "application/json", b'{"reason": "Topic not found"}'

    with answering(gone) as url:
        done = throttlescope("analyze-backlog", NAME, "--pulsar-admin", url)
    assert done.code == 4
    assert "Topic not found" in done.err
    assert "check the names of the topic" in done.err


def test_page_shows_the_counts():
    with serving({-1: ANSWER}) as broker:
        key = SubscriptionPartition("prod", TOPIC, -1, "billing/eu")
        live = Live.of(broker.settings)
        said = read(backlog_analysis.card(live.analyze(key, cancelled=lambda: False)))
    assert "not partitioned 120 1,000 20 970 30 0" in said
    assert not live.can_diagnose


def test_page_button_needs_the_admin_api():
    (button,) = backlog_analysis.button(None, "billing")
    assert button.disabled
    assert "pulsar_admin.urls" in button.title
    assert backlog_analysis.button(None, "pulsar.repl.west") == []
    with serving({}) as broker:
        (button,) = backlog_analysis.button(Live.of(broker.settings), "billing")
    assert "from storage" in button.title
    assert not find(button, "Table")
