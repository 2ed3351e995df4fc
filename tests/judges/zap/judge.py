"""ZAP's baseline rules as a judge of the API and of the pages. In: nothing. Out: a result for the page.

``throttlescope serve`` runs on the lake of the demo, without and with users. Everything that a browser and a client exchange with it is given to
ZAP's passive rules; no request is an attack, as in ZAP's baseline scan.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from pathlib import Path

from tests.app.api.serving import serving
from tests.judges.demo_lake import demo_lake
from tests.judges.zap.crawl import crawl_pages, request_apis, request_faults, request_login
from tests.judges.zap.exchanges import Exchange, Recorder, path_of
from tests.judges.zap.rules import Scan, compiled_rules, scan, version
from throttlescope.app.server.security.users import add_user

RISKS = ("High", "Medium", "Low", "Informational")
_SERIOUS_CONFIDENCE = {"Medium", "High", "Confirmed"}
_NAME, _PASSWORD, _ORIGIN = "judge", "a long password of nobody", "https://dashboards.example"
#: Pages that are opened, in the order in which links to them are found. ZAP's own spider stops after a minute.
_PAGES = 20


def run(most: int | None = None) -> dict:
    """Judge a server on the demo's lake, with ``most`` pages in the browser."""
    compiled_rules()
    with tempfile.TemporaryDirectory(prefix="throttlescope-zap-") as folder:
        exchanges, pages = exchanges_of(demo_lake(), Path(folder), most or _PAGES)
    return result_of(exchanges, scan(exchanges), pages, version())


def exchanges_of(lake: Path, folder: Path, most: int) -> tuple[list[Exchange], list[str]]:
    """What is exchanged with a server on a lake, and the pages that were opened.

    Parameters
    ----------
    folder : Path
        For the servers' logs and their users.
    """
    with serving(lake, folder / "serve.log") as server:
        recorder = Recorder(server.url)
        pages = crawl_pages(recorder, most)
        request_apis(recorder)
        request_faults(recorder)
    users = folder / "users"
    add_user(users, _NAME, _PASSWORD)
    origin = re.escape(_ORIGIN)
    with serving(lake, folder / "users.log", "--users", str(users), "--cors-origin", origin) as server:
        closed = Recorder(server.url)
        request_login(closed, _NAME, _PASSWORD, _ORIGIN)
    return distinct([*recorder.exchanges, *closed.exchanges]), pages


def distinct(exchanges: list[Exchange]) -> list[Exchange]:
    """Exchanges without those that repeat a request and its answer: rules would read a library again for every page."""
    found = {}
    for one in exchanges:
        first = one.request_header.split(b"\r\n", 1)[0]
        found.setdefault(
            (
                first,
                one.request_body,
                one.status,
                one.answer_body,
                b"authorization" in one.request_header.lower(),
            ),
            one,
        )
    return list(found.values())


def result_of(exchanges: list[Exchange], found: Scan, pages: list[str], judged_by: str) -> dict:
    """The result for the page: figures, then what each rule reports."""
    kinds = alerts_by_kind(found.alerts)
    faults = [one.named for one in exchanges if one.status >= 500]
    count = Counter()
    for kind in kinds:
        count[kind["risk"]] += kind["alerts"]
    serious = [kind for kind in kinds if is_serious(kind)]
    enabled = [rule for rule in found.rules if rule["enabled"]]
    errors = f", {len(found.failed)} exchanges on which a rule failed" if found.failed else ""
    return {
        "version": judged_by,
        "figure": f"{len(faults)} server errors and {sum(kind['alerts'] for kind in serious)} serious alerts "
        f"({len(serious)} kinds) in {len(exchanges):,} exchanges, of {len(pages)} pages and the APIs; {len(enabled)} rules{errors}; alerts by risk: "
        + ", ".join(f"{count[risk]} {risk.lower()}" for risk in RISKS),
        "details": [
            *({"server error": one} for one in faults),
            *kinds,
            *({"failed": one} for one in found.failed),
            {"statuses": dict(sorted(Counter(str(one.status) for one in exchanges).items()))},
            {"pages": pages},
            {"rules": [f"{rule['id']} {rule['name']}" for rule in enabled]},
        ],
    }


def alerts_by_kind(alerts: list[dict]) -> list[dict]:
    """Alerts by rule, risk and confidence, the most serious first; what a rule reports of an address twice counts once."""
    kinds: dict[tuple, dict[tuple, dict]] = {}
    for alert in alerts:
        kind = (alert["reference"], alert["name"], alert["risk"], alert["confidence"])
        where = (alert["method"], path_of(alert["url"]), alert["param"], alert["evidence"])
        kinds.setdefault(kind, {}).setdefault(where, alert)
    rows = []
    for (reference, name, risk, confidence), places in kinds.items():
        first = next(iter(places.values()))
        rows.append(
            {
                "rule": reference, "name": name, "risk": risk, "confidence": confidence, "alerts": len(places),
                "first": f"{first['method']} {path_of(first['url'])[:200]}: {first['status']}",
                "param": first["param"], "evidence": first["evidence"], "other": first["other"],
            }
        )  # fmt: skip
    return sorted(rows, key=lambda row: (RISKS.index(row["risk"]), -row["alerts"], row["rule"]))


def is_serious(kind: dict) -> bool:
    """A risk of medium or more, with a confidence of medium or more."""
    return kind["risk"] in ("High", "Medium") and kind["confidence"] in _SERIOUS_CONFIDENCE
