"""All targets by their names. In: a name. Out: its target; its module is imported only then."""

from __future__ import annotations

import importlib

from tests.fuzz.target import Target

_MODULES = {
    "frames": "remote_read",
    "chunks": "remote_read",
    "messages": "remote_read",
    "snappy": "remote_read",
    "labels": "labels",
    "exposition": "labels",
    "prometheus-json": "prometheus_json",
    "admin-json": "admin_json",
    "recordings": "recordings",
    "promql": "languages",
    "selectors": "languages",
    "rules": "languages",
    "scenarios": "languages",
    "config": "languages",
    "addresses": "addresses",
    "parameters": "addresses",
    "places": "addresses",
}
NAMES = tuple(_MODULES)


def target_of(name: str) -> Target:
    """The target of that name; KeyError where there is none."""
    module = importlib.import_module(f"tests.fuzz.targets.{_MODULES[name]}")
    return {target.name: target for target in module.TARGETS}[name]
