"""The compose file: read by a parser of the specification, and its services started as processes until a verdict is there."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
import requests
import yaml
from compose_spec import PyCompose

from tests.deploy.compose import composed, order, read_compose
from tests.lab.parts import (
    BROKER_VERSION,
    PROMETHEUS_SERIES,
    PartMissing,
    admin_tool_jars,
    broker_jars,
    perf_tool_jars,
    prometheus_binary,
)
from tests.lab.processes import log_tail
from throttlescope.app.config import load_settings
from throttlescope.app.services.rule_files import check_rule_files

FILE = Path(__file__).parents[2] / "deploy" / "compose.yaml"
COMPOSE = read_compose(FILE)
SERVICES = COMPOSE["services"]
VERDICT_S = 600
VERDICT = re.compile(
    r'^throttlescope_verdict\{(?=[^}]*cluster="standalone")(?=[^}]*subscription="billing")[^}]*cause="(\w+)"',
    re.MULTILINE,
)


def test_specification_accepts_the_file():
    """With its merges resolved, as an engine does first; an unknown key is refused."""
    parsed = PyCompose.from_yaml(yaml.safe_dump(COMPOSE))
    assert set(parsed.service_names()) == set(SERVICES)
    with pytest.raises(ValueError, match="healthchek"):
        PyCompose.from_yaml(yaml.safe_dump({"services": {"a": {"image": "b:1", "healthchek": {}}}}))


def test_images_are_pinned():
    images = {declared["image"] for declared in SERVICES.values()}
    assert images == {
        f"docker.io/apachepulsar/pulsar:{BROKER_VERSION}", f"docker.io/prom/prometheus:v{PROMETHEUS_SERIES}.0", "throttlescope:0.1.0",
    }  # fmt: skip


def test_ports_are_open_on_this_machine_only():
    ports = [port for declared in SERVICES.values() for port in declared.get("ports", ())]
    assert len(ports) == 2
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_health_is_waited_for_where_it_is_known():
    waited = {
        needed
        for declared in SERVICES.values()
        for needed, how in declared.get("depends_on", {}).items()
        if how["condition"] == "service_healthy"
    }
    assert waited == {"pulsar", "prometheus"}
    assert all(SERVICES[name]["healthcheck"]["test"] for name in waited)
    assert order(COMPOSE)[0] == "pulsar"


def test_throttlescope_writes_only_into_volumes():
    for name in ("follow", "serve"):
        assert SERVICES[name]["read_only"] is True
        assert SERVICES[name]["cap_drop"] == ["ALL"]
        named = {mount.split(":")[0] for mount in SERVICES[name]["volumes"] if not mount.startswith(".")}
        assert named == {"lake", "cache"} <= set(COMPOSE["volumes"])


def test_mounted_files_are_right():
    sources = {
        mount.split(":")[0]
        for declared in SERVICES.values()
        for mount in declared.get("volumes", ())
        if mount.startswith(".")
    }
    assert len(sources) == 3
    for source in sources:
        assert (FILE.parent / source).is_file(), source
    assert load_settings(FILE.parent / "compose" / "throttlescope.toml").clusters["standalone"].pulsar_admin
    (checked,) = check_rule_files(
        [next(FILE.parent / source for source in sources if source.endswith("rules.yml"))]
    )
    assert checked["fault"] is None


@pytest.mark.study
@pytest.mark.broker
@pytest.mark.prometheus
@pytest.mark.timeout(1200)
def test_live_verdict_names_the_limit(tmp_path):
    """The services as processes: a limit throttles the subscription, and the web app's metrics say so."""
    try:
        broker_jars(), admin_tool_jars(), perf_tool_jars(), prometheus_binary()
    except PartMissing as missing:
        pytest.skip(f"a part of the services is missing: {missing}")
    began_s, causes = time.monotonic(), []
    with composed(FILE, tmp_path, max_lifetime_s=1100) as services:
        while "throttled" not in causes:
            text = _metrics(services.url("serve"))
            causes = VERDICT.findall(text)
            if time.monotonic() - began_s > VERDICT_S:
                logs = "\n".join(f"{name}: {log_tail(services.log_file(name))}" for name in SERVICES)
                pytest.fail(f"no verdict after {VERDICT_S} s, but {causes}:\n{logs}")
            time.sleep(2)
        print(f"first verdict of the limit after {time.monotonic() - began_s:.0f} s")
        assert requests.get(f"{services.url('serve')}/-/ready", timeout=30).status_code == 200
        prometheus = services.url("prometheus")
        rules = requests.get(f"{prometheus}/api/v1/rules", timeout=30).json()["data"]["groups"]
        assert {rule["lastError"] for group in rules for rule in group["rules"] if "lastError" in rule} <= {
            ""
        }
        targets = requests.get(f"{prometheus}/api/v1/targets", timeout=30).json()["data"]["activeTargets"]
        assert {target["labels"]["job"] for target in targets} == {"pulsar", "throttlescope"}


def _metrics(url: str) -> str:
    try:
        return requests.get(f"{url}/metrics", timeout=30).text
    except requests.RequestException:
        return ""
