"""``external_labels`` of a Prometheus' configuration. In: its YAML, as the server shows it. Out: labels, as they are written there.

Only the events of the YAML are read and nothing is built of them: an alias of a thousand others is not expanded,
and a value is its characters, as in Prometheus (``01`` and ``true`` are texts).
"""

from __future__ import annotations

import yaml

_PLACE = ("global", "external_labels")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def configured_external_labels(text: str) -> dict[str, str]:
    """The external labels of a configuration; empty where there are none, or no YAML."""
    found: dict[str, str] = {}
    # Of every open list or mapping: its key in the mapping around it, and the key whose value comes next.
    around: list[str | None] = []
    waiting: list[str | None] = []
    mappings: list[bool] = []
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            if isinstance(event, yaml.CollectionEndEvent):
                if tuple(around[1:]) == _PLACE:
                    return found
                around.pop(), waiting.pop(), mappings.pop()
                continue
            if not isinstance(event, yaml.NodeEvent):
                continue
            key = waiting[-1] if waiting else None
            is_key = bool(mappings) and mappings[-1] and key is None
            if isinstance(event, yaml.CollectionStartEvent):
                if mappings:
                    waiting[-1] = "" if is_key else None
                around.append(key)
                waiting.append(None)
                mappings.append(isinstance(event, yaml.MappingStartEvent))
                continue
            value = event.value if isinstance(event, yaml.ScalarEvent) else ""
            if is_key:
                waiting[-1] = value
            elif waiting:
                waiting[-1] = None
                if key is not None and isinstance(event, yaml.ScalarEvent) and tuple(around[1:]) == _PLACE:
                    found[key] = value
    except (yaml.YAMLError, ValueError):
        return {}
    return {}
