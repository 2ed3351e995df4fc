"""The commands typed into Pulsar's own ``pulsar-admin`` against a real broker: each changes what it names, and its way back ends where it began."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.lab.admin import Admin
from tests.lab.broker import running_broker
from tests.lab.parts import PartMissing, admin_tool_jars, broker_jars, java_binary
from tests.transforms.lakes import limit_row
from throttlescope.models.recommendation.commands import set_limit

pytestmark = [pytest.mark.broker, pytest.mark.study, pytest.mark.timeout(600)]

TOPIC = "persistent://lab/shop/orders"
PATH = "/persistent/lab/shop/orders"
OLD = {"msg": 500, "size": 1_000_000, "period_s": 10}
OLD_BODY = {
    "dispatchThrottlingRateInMsg": 500,
    "dispatchThrottlingRateInByte": 1_000_000,
    "ratePeriodInSecond": 10,
    "relativeToPublishRate": False,
}
NEW = OLD_BODY | {"dispatchThrottlingRateInMsg": 800}


@dataclass
class Typed:
    """A broker, and a folder with a ``pulsar-admin`` for the shell's path."""

    admin: Admin
    bin: Path

    def __call__(self, command: str) -> None:
        done = subprocess.run(
            ["bash", "-c", command],
            env={"PATH": f"{self.bin}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stderr[-2000:]}{done.stdout[-500:]}"

    def answer(self, path: str) -> dict | None:
        text = self.admin.get_text(f"/admin/v2{path}")
        return None if text is None else json.loads(text)


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Typed]:
    try:
        java, _, tool = java_binary(), broker_jars(), admin_tool_jars()
    except PartMissing as missing:
        pytest.skip(f"no real broker or pulsar-admin here: {missing}")
    folder = tmp_path_factory.mktemp("typed")
    with running_broker("helm", scratch_dir=folder, max_lifetime_s=600) as broker:
        admin = Admin(broker.admin_url, broker.cluster)
        admin.create_tenant()
        admin.call("PUT", "/namespaces/lab/shop", {"bundles": {"numBundles": 1}})
        admin.call("PUT", PATH)
        admin.call("PUT", f"{PATH}/subscription/billing")
        (folder / "client.conf").write_text(f"webServiceUrl={broker.admin_url}\n")
        script = folder / "bin" / "pulsar-admin"
        script.parent.mkdir()
        script.write_text(
            f"#!/bin/sh\nexec {shlex.quote(str(java))} -XX:TieredStopAtLevel=1 -cp {shlex.quote(f'{tool[0].parent}/*')} "
            f'org.apache.pulsar.admin.cli.PulsarAdminTool {shlex.quote(str(folder / "client.conf"))} "$@"\n'
        )
        script.chmod(0o755)
        yield Typed(admin, script.parent)


@pytest.mark.parametrize(
    ("level", "set_by", "path"),
    [
        ("subscription", "subscription_policy", f"{PATH}/billing/dispatchRate"),
        ("subscription", "topic_policy", f"{PATH}/subscriptionDispatchRate"),
        ("subscription", "namespace_policy", f"{PATH}/billing/dispatchRate"),
        ("topic", "topic_policy", f"{PATH}/dispatchRate"),
        ("topic", "none", f"{PATH}/dispatchRate"),
    ],
)
def test_a_policy_is_changed_and_taken_back(typed: Typed, level: str, set_by: str, path: str) -> None:
    if set_by.endswith("_policy") and set_by != "namespace_policy":
        typed.admin.call("POST", path, OLD_BODY)
    before = typed.answer(path)
    row = limit_row(level, at_ms=0, set_by=set_by, **OLD)
    found = set_limit(row, TOPIC, "billing", msg=800, size=row["rate_bytes"], period_s=row["period_s"])
    typed(found.do)
    after = typed.answer(path)
    assert {name: after[name] for name in NEW} == NEW
    typed(found.undo)
    assert typed.answer(path) == before
    if before is not None:
        typed.admin.call("DELETE", path)


def test_broker_setting_has_change_and_rollback(typed: Typed) -> None:
    path = "/brokers/configuration/values"
    before = typed.answer(path) or {}
    row = limit_row("broker", at_ms=0, set_by="broker_file", **OLD | {"period_s": 1})
    found = set_limit(row, TOPIC, "billing", msg=800, size=row["rate_bytes"], period_s=1)
    typed(found.do)
    assert typed.answer(path) == before | {"dispatchThrottlingRateInMsg": "800"}
    typed(found.undo)
    assert (typed.answer(path) or {}) == before
