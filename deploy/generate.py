"""``python -m deploy.generate`` writes the chart's files that are made from code. In: exported rules, settings. Out: the chart with both.

The alerts are those of ``throttlescope rules export`` with its default options. The schema of ``config`` in the chart's values has the
keys of ``throttlescope.toml``, so that ``helm lint`` refuses what a pod would refuse; the rest of that file is written by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from throttlescope.app.config import describe
from throttlescope.app.rules_export.export import RULES_NAME, rules_document
from throttlescope.app.rules_export.options import ExportOptions

CHART = Path(__file__).parent / "chart" / "throttlescope"
RULES_FILE = CHART / "files" / RULES_NAME
SCHEMA_FILE = CHART / "values.schema.json"

#: Set from other values of the chart.
_SET_BY_THE_CHART = ("lake",)
_TYPES: Mapping[str, dict[str, Any]] = {
    "text": {"type": "string"},
    "path": {"type": "string"},
    "folder or URI": {"type": "string"},
    "duration": {"type": "string", "pattern": "^([0-9]+(ms|[smhdwy]))+$"},
    "true or false": {"type": "boolean"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "list of text": {"type": "array", "items": {"type": "string"}},
    "table of text": {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}},
}


def exported_rules(present: str) -> str:
    """The rules file of the export; what is there does not count."""
    return rules_document(ExportOptions())


def values_schema(present: str) -> str:
    """The schema of the chart's values with the keys of the configuration filled in."""
    schema = json.loads(present)
    schema["$defs"]["config"] = config_schema()
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def config_schema() -> dict[str, Any]:
    """JSON Schema of ``throttlescope.toml``, without what the chart sets."""
    root = _table()
    for key, type_, default, meaning in describe():
        if key in _SET_BY_THE_CHART:
            continue
        *tables, name = key.split(".")
        table = root
        for part in tables:
            table = _inner(table, part)
        table["properties"][name] = {"description": meaning, **_type_schema(type_)}
        if default == "required":
            table.setdefault("required", []).append(name)
    return root


def _table() -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": {}}


def _inner(table: dict[str, Any], part: str) -> dict[str, Any]:
    if part == "NAME":
        # A table of tables: any name, each of the same form.
        if not table["additionalProperties"]:
            table["additionalProperties"] = _table()
        return table["additionalProperties"]
    return table["properties"].setdefault(part, _table())


def _type_schema(type_: str) -> dict[str, Any]:
    if words := re.findall(r'"([^"]+)"', type_):
        return {"enum": words}
    return dict(_TYPES[type_])


#: By file, what writes it from what is there.
GENERATED: Mapping[Path, Callable[[str], str]] = {RULES_FILE: exported_rules, SCHEMA_FILE: values_schema}


def main() -> None:
    """Write all generated files."""
    for path, render in GENERATED.items():
        present = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text(render(present), encoding="utf-8")


if __name__ == "__main__":
    main()
