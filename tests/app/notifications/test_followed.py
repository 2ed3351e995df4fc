"""``run --follow --notify`` as it is used: one process next to a real Prometheus and a real receiver, ended and started again."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time

import pytest

from tests.app.notifications.receiver import YES, receiving
from tests.lab.prometheus import running_prometheus, write_series
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.ingest.lake import Lake

pytestmark = [pytest.mark.prometheus, pytest.mark.long, pytest.mark.timeout(600)]

LABELS = {
    "cluster": "live", "namespace": "t/n", "topic": "persistent://t/n/orders", "instance": "broker:8080", "job": "pulsar"
}  # fmt: skip
SCRAPE_MS = 15_000
#: How long a process may take to its message.
LONGEST_S = 240


def write(url, start_ms, end_ms, *, backlog_begins_ms=None):
    """Scrapes of a broker whose one subscription falls behind by 30 messages per second, or keeps up."""
    times_ms = range(start_ms, end_ms, SCRAPE_MS)
    seconds = [(at_ms - times_ms[0]) / 1000 + 10_000 for at_ms in times_ms]
    behind = [
        0.0 if backlog_begins_ms is None else 30.0 * (at_ms - backlog_begins_ms) / 1000 for at_ms in times_ms
    ]
    subscription = LABELS | {"subscription": "billing"}
    series = {
        "pulsar_subscription_back_log": (subscription, behind),
        "pulsar_subscription_back_log_no_delayed": (subscription, behind),
        "pulsar_subscription_consumers_count": (subscription, [2.0] * len(seconds)),
        "pulsar_out_messages_total": (subscription, [(100.0 if backlog_begins_ms is None else 70.0) * s for s in seconds]),
        "pulsar_in_messages_total": (LABELS, [100.0 * s for s in seconds]),
    }  # fmt: skip
    write_series(
        url, [({"__name__": name, **labels}, list(zip(times_ms, values, strict=True))) for name, (labels, values) in series.items()]
    )  # fmt: skip


@contextlib.contextmanager
def following(folder, url, *options):
    """The process, which is asked to end when the block does; it has to end well."""
    command = [
        sys.executable, "-m", "throttlescope.app.cli", "run", "--prometheus", url, "--lake", str(folder / "lake"),
        "--follow", "5s", "--every", "1m", "--notify", "ops", *options,
    ]  # fmt: skip
    with (folder / "log").open("a") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        try:
            yield process
            process.send_signal(signal.SIGTERM)
            assert process.wait(LONGEST_S) == 0, (folder / "log").read_text()[-3000:]
        finally:
            process.kill()
            process.wait()


def wait_for(count, receiver, process, folder):
    deadline_s = time.monotonic() + LONGEST_S
    while len(receiver.requests) < count:
        assert process.poll() is None, (folder / "log").read_text()[-3000:]
        assert time.monotonic() < deadline_s, (folder / "log").read_text()[-3000:]
        time.sleep(0.2)


def test_followed_change_is_one_message(tmp_path):
    """A backlog opens while one process follows, and is gone when the next one does; both send what they have not sent."""
    now_ms = int(time.time()) * 1000 // SCRAPE_MS * SCRAPE_MS
    began_ms, gone_ms = now_ms - 50 * MINUTE_MS, now_ms - 25 * MINUTE_MS
    with running_prometheus() as server, receiving(YES["webhook"]) as receiver:
        (tmp_path / "throttlescope.toml").write_text(
            f'[notifications]\nadvice_within = "0s"\n[notifications.channels.ops]\ntype = "webhook"\nurl = "{receiver.url}"\n'
        )
        write(server.url, began_ms, gone_ms, backlog_begins_ms=began_ms - 10 * MINUTE_MS)
        with following(tmp_path, server.url, "--start", str(began_ms / 1000)) as process:
            wait_for(1, receiver, process, tmp_path)
        # Ending sends what is new for the last time.
        assert len(receiver.requests) == 1
        write(server.url, gone_ms, now_ms)
        with following(tmp_path, server.url) as process:
            wait_for(2, receiver, process, tmp_path)
    changes = [change for request in receiver.requests for change in request.document["changes"]]
    assert [(one["change"], one["subscription"]) for one in changes] == [
        ("opened", "billing"),
        ("closed", "billing"),
    ]
    assert len({one["episode_id"] for one in changes}) == 1
    rows = Lake(tmp_path / "lake").read("notifications").to_pylist()
    assert {row["message_id"] for row in rows} == {one["message_id"] for one in changes}
    assert len(rows) == 2
