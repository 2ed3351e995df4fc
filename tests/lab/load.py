"""A load process: in, a plan file and commands on standard input; out, one answer per command and a report file.

The plan is JSON: ``{"service_url", "report_file", "log_file", "scenarios": [scenario, ...]}`` with scenarios as in the
schema. Commands are JSON lines ``{"id", "scenario", "action", ...}``: ``connect``, ``start``, ``set_consumers``, ``hang``,
``set_ack``, ``set_redelivery``, ``set_rate``, ``set_delay``, ``stop``. The report file gets a JSON line every 10 s with the counts of every producer and consumer.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pulsar

from tests.lab.consumers import SubscriptionLoad
from tests.lab.producers import ProducerLoad, new_client
from throttlescope.models.throttling.scenario import Scenario

REPORT_EVERY_S = 10


class ScenarioLoad:
    """Producers and consumers of one scenario."""

    def __init__(self, scenario: Scenario, service_url: str, logger: Any) -> None:
        self.scenario = scenario
        prefix = f"persistent://{scenario.namespace}"
        named = {item.client for item in (*scenario.subscriptions, *scenario.producers)} - {None}
        shared = {name: new_client(service_url, logger) for name in named}
        self.subscriptions = {
            item.name: SubscriptionLoad(
                item,
                [f"{prefix}/{topic}" for topic in item.reads],
                service_url,
                logger,
                client=shared.get(item.client),
            )
            for item in scenario.subscriptions
        }
        self.producers = {
            item.topic: ProducerLoad(
                item,
                f"{prefix}/{item.topic}",
                service_url,
                logger,
                partitions=scenario.topic(item.topic).partitions,
                until_s=scenario.duration_s,
                client=shared.get(item.client),
            )
            for item in scenario.producers
        }

    def command(self, command: dict[str, Any]) -> None:
        """Do one command; returns when it has taken effect."""
        action = command["action"]
        if action == "connect":
            for subscription in self.subscriptions.values():
                subscription.resize(subscription.spec.consumers)
            for producer in self.producers.values():
                producer.connect()
        elif action == "start":
            for producer in self.producers.values():
                producer.start(command["at_s"])
        elif action == "set_consumers":
            subscription = self.subscriptions[command["subscription"]]
            if command.get("processing_ms") is not None:
                subscription.set_processing(command["processing_ms"])
            if command.get("consumers") is not None:
                subscription.resize(command["consumers"])
        elif action == "hang":
            self.subscriptions[command["subscription"]].hang(command["consumers"])
        elif action == "set_ack":
            self.subscriptions[command["subscription"]].set_ack(command["ack"])
        elif action == "set_redelivery":
            self.subscriptions[command["subscription"]].set_redelivery(command["nack_share"])
        elif action == "set_rate":
            self.producers[command["topic"]].set_rate(command["rate_msg"])
        elif action == "set_delay":
            self.producers[command["topic"]].set_delay(command["deliver_after_ms"])
        elif action == "stop":
            for producer in self.producers.values():
                producer.stop()
            for subscription in self.subscriptions.values():
                subscription.resize(0)
        else:
            raise ValueError(f"unknown action {action!r}")

    def report(self) -> dict[str, Any]:
        """Return the counts so far."""
        return {
            "producers": {name: item.report() for name, item in self.producers.items()},
            "subscriptions": {name: item.report() for name, item in self.subscriptions.items()},
        }


def main(plan_file: str) -> None:
    """Run the load of a plan until standard input closes."""
    plan = json.loads(Path(plan_file).read_text())
    logger = pulsar.FileLogger(pulsar.LoggerLevel.Warn, plan["log_file"])
    loads = {}
    for body in plan["scenarios"]:
        scenario = Scenario.model_validate(body)
        loads[scenario.name] = ScenarioLoad(scenario, plan["service_url"], logger)
    closing = threading.Event()
    reporter = threading.Thread(target=_report, args=(loads, Path(plan["report_file"]), closing), daemon=True)
    reporter.start()
    for line in sys.stdin:
        command = json.loads(line)
        # A thread each: a slow subscribe of one scenario must not delay another one's intervention.
        threading.Thread(target=_answer, args=(loads[command["scenario"]], command), daemon=True).start()
    closing.set()
    reporter.join(5)


def _answer(load: ScenarioLoad, command: dict[str, Any]) -> None:
    try:
        load.command(command)
        answer = {"id": command["id"], "error": None, "report": load.report()}
    except Exception as error:
        answer = {"id": command["id"], "error": f"{type(error).__name__}: {error}"}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _report(loads: dict[str, ScenarioLoad], file: Path, closing: threading.Event) -> None:
    with file.open("a") as out:
        while True:
            last = closing.wait(REPORT_EVERY_S)
            row = {
                "at_ms": round(time.time() * 1000),
                "scenarios": {name: load.report() for name, load in loads.items()},
            }
            out.write(json.dumps(row) + "\n")
            out.flush()
            if last:
                return


if __name__ == "__main__":
    main(sys.argv[1])
