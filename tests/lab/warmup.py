"""Makes a broker warm: in, a fresh broker; out, the same broker after some seconds of throttled reads.

In the first minute of a JVM a read of 100 entries takes two to three times as long as later, which shows in every cycle of a limiter.
"""

from __future__ import annotations

import contextlib
import threading
import time

import pulsar

from tests.lab.admin import Admin
from tests.lab.broker import Broker

_NAMESPACE = "warm/up"
#: Read from the ledger and throttled, as the scenarios' backlogs are; each type has a dispatcher of its own.
_RATES_MSG = {"shared": 600, "exclusive": 300}
_TYPES = {"shared": pulsar.ConsumerType.Shared, "exclusive": pulsar.ConsumerType.Exclusive}


def warm_up(broker: Broker, seconds: float, logger: pulsar.FileLogger) -> None:
    """Dispatch a backlog under limits for some seconds, then remove its topics.

    Parameters
    ----------
    broker
        A running broker that has no clients yet.
    seconds
        Length of the dispatch.
    logger
        Takes the client's lines.
    """
    admin = Admin(broker.admin_url, broker.cluster)
    admin.call("PUT", "/tenants/warm", {"allowedClusters": [broker.cluster], "adminRoles": []})
    admin.call("PUT", f"/namespaces/{_NAMESPACE}", {"bundles": {"numBundles": 1}})
    client = pulsar.Client(broker.service_url, logger=logger, io_threads=1, message_listener_threads=1)
    ends_at = time.monotonic() + seconds
    try:
        threads = [
            threading.Thread(target=_dispatch, args=(admin, client, name, rate, seconds), daemon=True)
            for name, rate in _RATES_MSG.items()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(1.0, ends_at + 60 - time.monotonic()))
    finally:
        client.close()
    for name in _RATES_MSG:
        admin.call("DELETE", f"/persistent/{_NAMESPACE}/{name}?force=true")


def _dispatch(admin: Admin, client: pulsar.Client, name: str, rate_msg: int, seconds: float) -> None:
    path, topic = f"/persistent/{_NAMESPACE}/{name}", f"persistent://{_NAMESPACE}/{name}"
    admin.call("PUT", path)
    admin.call("PUT", f"{path}/subscription/warm", {"ledgerId": -1, "entryId": -1})
    limit = {
        "dispatchThrottlingRateInMsg": rate_msg,
        "dispatchThrottlingRateInByte": -1,
        "ratePeriodInSecond": 1,
    }
    admin.call("POST", f"{path}/subscriptionDispatchRate", limit)
    producer = client.create_producer(topic, batching_enabled=False, block_if_queue_full=True)
    for _ in range(round(rate_msg * seconds)):
        producer.send_async(bytes(256), None)
    producer.flush()
    consumer = client.subscribe(topic, "warm", consumer_type=_TYPES[name])
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at:
        with contextlib.suppress(pulsar.Timeout):
            consumer.acknowledge(consumer.receive(timeout_millis=250))
    consumer.close()
    producer.close()
