"""From a lake to a receiver and back into the lake: each change once, whatever fails in between."""

from __future__ import annotations

import json
import threading
import time

import pytest

from tests.app.commands import throttlescope
from tests.app.notifications.episodes import GONE, NAME, at, judged, write
from tests.app.notifications.receiver import YES, hangs, receiving
from tests.models.episodes.scenes import KEY, minutes, verdicts
from throttlescope.app.config import Notifications
from throttlescope.app.incident.notifications import notifier as notifier_module
from throttlescope.app.incident.notifications.delivery import open_channels
from throttlescope.app.incident.notifications.notifier import BackgroundNotifier, Notifier
from throttlescope.ingest.core.errors import InputError

pytestmark = pytest.mark.long

MAX_AGE_MS = 6 * 3_600_000


def settings(url, *, secret=False, **changed):
    channel = {"type": "webhook", "url": url, "timeout": "1s", **changed.pop("channel", {})}
    if secret:
        channel["secret_env"] = "HOOK_SECRET"  # noqa: S105
    return Notifications(
        channels={"ops": channel}, **{"advice_within": "0s", "page_url": "https://scope.example", **changed}
    )


def notifier(lake, url, *, minute=120, **changed):
    known = settings(url, **changed)
    return Notifier(
        lake,
        known,
        open_channels(known, ["all"]),
        MAX_AGE_MS,
        now_ms=lambda: at(minute),
        sleep=lambda s: None,
    )


def rows(lake):
    return sorted(lake.read("notifications").to_pylist(), key=lambda row: row["sent_ms"])


def test_each_change_reaches_the_channel_once(tmp_path):
    lake = judged(tmp_path / "lake", until=60)
    with receiving(YES["webhook"]) as receiver:
        for _ in range(2):
            notifier(lake, receiver.url, minute=60).notify(["prod"])
        (opened,) = receiver.requests
        write(lake, minutes(GONE), verdicts("hhhhPPPPPPPPPPPPPhhhhhhh"), 120)
        for _ in range(2):
            notifier(lake, receiver.url).notify(["prod"])
    (_, closed) = receiver.requests
    changes = [request.document["changes"][0] for request in (opened, closed)]
    assert [one["change"] for one in changes] == ["opened", "closed"]
    assert len({one["episode_id"] for one in changes}) == 1
    assert changes[0]["name"] == NAME
    assert changes[0]["limiter"] == "topic.msg"
    assert changes[0]["url"].startswith("https://scope.example/subscription?cluster=prod&")
    assert [row["change"] for row in rows(lake)] == ["opened", "closed"]
    assert [row["message_id"] for row in rows(lake)] == [one["message_id"] for one in changes]


def test_crash_before_the_record_repeats_the_same_id(tmp_path, monkeypatch):
    lake = judged(tmp_path / "lake")
    with receiving(YES["webhook"]) as receiver:
        with monkeypatch.context() as patch:
            patch.setattr(type(lake), "upsert", lambda *_, **__: (_ for _ in ()).throw(OSError("killed")))
            (outcome,) = notifier(lake, receiver.url).notify(["prod"])
        assert "killed" in outcome.failed
        (outcome,) = notifier(lake, receiver.url, minute=121).notify(["prod"])
        assert outcome.failed is None
        notifier(lake, receiver.url, minute=122).notify(["prod"])
    first, second = receiver.requests
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert len(rows(lake)) == 1


def test_refused_message_is_sent_by_the_next_run(tmp_path):
    lake = judged(tmp_path / "lake")
    with receiving((500, b"", {})) as receiver:
        (outcome,) = notifier(lake, receiver.url).notify(["prod"])
    assert "500 Internal Server Error" in outcome.failed
    assert lake.version("notifications") is None
    with receiving(YES["webhook"]) as receiver:
        (outcome,) = notifier(lake, receiver.url).notify(["prod"])
    assert (outcome.failed, outcome.changes) == (None, 1)


def test_hanging_channel_delays_no_longer_than_its_deadline(tmp_path):
    lake = judged(tmp_path / "lake")
    begun_s = time.monotonic()
    with receiving(hangs) as receiver:
        (outcome,) = notifier(lake, receiver.url, deadline="2s").notify(["prod"])
    assert "did not answer in time" in outcome.failed
    assert time.monotonic() - begun_s < 6


def test_many_changes_are_one_digest(tmp_path):
    keys = [KEY._replace(partition=i) for i in range(5)]
    lake = judged(tmp_path / "lake", keys=keys)
    with receiving(YES["webhook"]) as receiver:
        notifier(lake, receiver.url).notify(["prod"])
        notifier(lake, receiver.url, minute=121).notify(["prod"])
    (request,) = receiver.requests
    assert request.document["title"] == "5 backlogs changed: 5 opened, 0 with another cause, 0 gone"
    assert {one["partition"] for one in request.document["changes"]} == set(range(5))
    assert len(rows(lake)) == 5


def test_two_channels_know_their_own(tmp_path):
    lake = judged(tmp_path / "lake")
    with receiving(YES["webhook"]) as one, receiving((500, b"", {})) as other:
        known = Notifications(
            advice_within="0s",
            channels={
                "bad": {"type": "webhook", "url": other.url},
                "good": {"type": "webhook", "url": one.url},
                "billing": {"type": "webhook", "url": one.url, "sides": ["consumer_capacity"]},
            },
        )
        found = Notifier(
            lake,
            known,
            open_channels(known, ["all"]),
            MAX_AGE_MS,
            now_ms=lambda: at(120),
            sleep=lambda s: None,
        ).notify(["prod"])
    assert [(one.channel, one.changes, one.failed is None) for one in found] == [
        ("bad", 0, False), ("good", 1, True), ("billing", 0, True),
    ]  # fmt: skip
    assert [row["channel"] for row in rows(lake)] == ["good"]


def test_best_recommendation_is_in_the_message(tmp_path, monkeypatch):
    """What is recommended is tested elsewhere; here that it is asked for at the right moment and written."""
    from tests.app.web.test_subscription_advice import FOUND
    from throttlescope.app.incident import advice
    from throttlescope.app.incident.advice import AdviceOutcome

    lake, asked = judged(tmp_path / "lake"), []

    def within(root, question, now_ms, *, most_s):
        asked.append((question.subscription, question.cluster, question.at, most_s))
        return AdviceOutcome(FOUND, None)

    monkeypatch.setattr(advice, "advice_within", within)
    with receiving(YES["webhook"]) as receiver:
        notifier(lake, receiver.url, advice_within="7s").notify(["prod"])
    assert asked == [(f"persistent://{NAME}", "prod", "2026-11-19T02:00:00Z", 7.0)]
    (change,) = receiver.requests[0].document["changes"]
    assert change["what_helps"]["text"] in change["text"]


def test_background_rounds_send_and_end(tmp_path, capsys):
    lake = judged(tmp_path / "lake")
    with receiving(YES["webhook"]) as receiver:
        background = BackgroundNotifier(notifier(lake, receiver.url), between_s=0.05)
        background.changed(["prod"])
        background.changed(["prod"])
        background.end()
        assert len(receiver.requests) == 1
    assert not any(thread.name == "notifications" for thread in threading.enumerate())
    assert "1 message to ops" in capsys.readouterr().err


def test_background_round_does_not_delay_its_caller(tmp_path, monkeypatch):
    monkeypatch.setattr(notifier_module, "_LAST_ROUND_S", 0.1)
    lake = judged(tmp_path / "lake")
    with receiving(hangs) as receiver:
        begun_s = time.monotonic()
        background = BackgroundNotifier(notifier(lake, receiver.url, deadline="2s"))
        background.changed(["prod"])
        background.end()
        assert time.monotonic() - begun_s < 1.5


# -- commands -----------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A lake whose newest minute is now, as far as notifications look at a clock, and a configuration."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOOK_SECRET", "a secret of the hook")
    judged(tmp_path / "lake")

    def configured(url):
        (tmp_path / "throttlescope.toml").write_text(
            f'[notifications]\nadvice_within = "0s"\n[notifications.channels.ops]\ntype = "webhook"\nurl = "{url}"\n'
            'secret_env = "HOOK_SECRET"\ntimeout = "1s"\n'
        )

    return configured


OLD = ("--notify-max-age", "3650d")


def test_send_command_sends_signed_and_once(here):
    with receiving(YES["webhook"]) as receiver:
        here(receiver.url)
        dry = throttlescope("notify", "send", "--to", "ops", "--dry-run", *OLD)
        assert (dry.code, receiver.requests) == (0, [])
        assert f"Backlog of {NAME}: throttled (topic message limit)" in dry.out
        first = throttlescope("notify", "send", "--to", "ops", "--format", "json", *OLD)
        again = throttlescope("notify", "send", "--to", "all", *OLD)
    assert (first.code, again.code) == (0, 0)
    (outcome,) = json.loads(first.out)
    assert (outcome["changes"], outcome["failed"]) == (1, None)
    assert again.out == "Nothing new for ops\n"
    (request,) = receiver.requests
    assert request.headers["webhook-signature"].startswith("v1,")
    assert "a secret of the hook" not in first.out + first.err + dry.out


def test_old_changes_are_counted_by_send(here):
    with receiving(YES["webhook"]) as receiver:
        here(receiver.url)
        done = throttlescope("notify", "send", "--to", "ops", "--notify-max-age", "1m")
    assert done.code == 0
    assert "1 change older than 1 min not sent to ops" in done.out
    assert receiver.requests == []


def test_lake_without_verdicts_is_refused_by_send(here, tmp_path):
    """A mistyped --lake is not a lake in which nothing is new."""
    with receiving(YES["webhook"]) as receiver:
        here(receiver.url)
        done = throttlescope("notify", "send", "--to", "ops", "--lake", "lakes")
    assert (done.code, receiver.requests, done.out) == (2, [], "")
    assert "There are no verdicts in this lake" in done.line
    assert not (tmp_path / "lakes").exists()


def test_test_command_says_what_a_channel_answered(here):
    with receiving(YES["webhook"], (403, b"bad signature", {})) as receiver:
        here(receiver.url)
        good = throttlescope("notify", "test", "--to", "ops")
        bad = throttlescope("notify", "test", "--to", "ops")
    assert good.code == 0
    assert receiver.requests[0].document["kind"] == "test"
    assert bad.code == 4
    assert "403 Forbidden, bad signature" in bad.line


@pytest.mark.parametrize(
    ("to", "says"),
    [
        ("opps", "did you mean ops"),
        ("ftp://host/x", "expected http://HOST"),
        ("https://host/x?key=secret-of-a-robot", "a URL must end before"),
    ],
)
def test_unknown_channel_is_refused_before_anything(here, to, says):
    here("http://127.0.0.1:1")
    done = throttlescope("notify", "test", "--to", to)
    assert done.code == 2
    assert says in done.line
    assert "secret-of-a-robot" not in done.line


def test_address_is_a_channel_of_its_host(here):
    here("http://127.0.0.1:1")
    with receiving(YES["webhook"]) as receiver:
        done = throttlescope("notify", "send", "--to", receiver.url, *OLD)
    assert done.code == 0
    assert "webhook-signature" not in receiver.requests[0].headers


def test_missing_secret_is_refused(here, monkeypatch):
    here("http://127.0.0.1:1")
    monkeypatch.delenv("HOOK_SECRET")
    done = throttlescope("notify", "test", "--to", "ops")
    assert (done.code, "The secret for signatures is empty; got $HOOK_SECRET" in done.line) == (2, True)


@pytest.mark.parametrize(
    ("channel", "says"),
    [
        ({"type": "slack", "url": "https://hooks.slack.com/services/T/B/x"}, "is a secret"),
        ({"type": "webhook"}, "name the address once"),
        ({"type": "wecom", "url_env": "X", "secret_env": "Y"}, "has no signatures"),
        ({"type": "webhook", "url_env": "X", "causes": ["throtled"]}, "did you mean throttled"),
    ],
)
def test_configuration_of_a_channel_is_checked(tmp_path, channel, says):
    from throttlescope.app.config import load_settings

    lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in channel.items())
    (tmp_path / "throttlescope.toml").write_text(f"[notifications.channels.ops]\n{lines}\n")
    with pytest.raises(InputError, match=says):
        load_settings(tmp_path / "throttlescope.toml")


def test_schema_command_prints_the_schema():
    import jsonschema

    done = throttlescope("notify", "schema")
    jsonschema.Draft202012Validator.check_schema(json.loads(done.out))
    assert "ChangeBody" in json.loads(done.out)["$defs"]
