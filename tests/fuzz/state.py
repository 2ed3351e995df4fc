"""What is done of a target. In: its name and a seed. Out: executions and what became of them, kept in a file and added up."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

#: Not committed.
FOLDER = Path(".fuzz")
#: Findings that are kept with their inputs; the others are counted.
_KEPT = 40


@dataclass
class State:
    """How far one target is with one seed.

    Attributes
    ----------
    executions : int
        Done so far, which is also the number of the next input.
    classes : dict
        Executions by what became of them.
    refusals : dict
        Refused executions by class of the error.
    slowest_s : float
        Most work for one input.
    largest_peak_bytes : int
        Most memory that an execution took, of those that were measured.
    measured : int
        Executions whose memory was measured.
    findings : list of dict
        Inputs that gave trouble: number, kind, what was said.
    """

    target: str
    seed: int
    executions: int = 0
    seconds: float = 0.0
    classes: dict[str, int] = field(default_factory=dict)
    refusals: dict[str, int] = field(default_factory=dict)
    slowest_s: float = 0.0
    largest_peak_bytes: int = 0
    measured: int = 0
    trouble: int = 0
    findings: list[dict] = field(default_factory=list)

    @classmethod
    def load(cls, target: str, seed: int, folder: Path = FOLDER) -> State:
        """What an earlier run left; a new state where there is none."""
        path = _path(folder, target, seed)
        return cls(**json.loads(path.read_text())) if path.exists() else cls(target, seed)

    def save(self, folder: Path = FOLDER) -> None:
        """Keep it: a run that is stopped goes on from here."""
        path = _path(folder, self.target, self.seed)
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_suffix(".part")
        scratch.write_text(json.dumps(asdict(self), indent=1))
        scratch.replace(path)

    def add(self, report: dict) -> None:
        """Take over what a child reports of some more executions."""
        self.executions = report["next"]
        self.seconds = round(self.seconds + report["seconds"], 1)
        for name in ("classes", "refusals"):
            setattr(self, name, dict(Counter(getattr(self, name)) + Counter(report[name])))
        self.slowest_s = max(self.slowest_s, report["slowest_s"])
        self.largest_peak_bytes = max(self.largest_peak_bytes, report["largest_peak_bytes"])
        self.measured += report["measured"]
        for finding in report["findings"]:
            self.find(finding)

    def find(self, finding: dict) -> None:
        """Count trouble, and keep it where there is nothing like it yet."""
        self.trouble += 1
        alike = (finding["kind"], finding["said"].rpartition(" at ")[2][:80])
        known = {(one["kind"], one["said"].rpartition(" at ")[2][:80]) for one in self.findings}
        if alike not in known and len(self.findings) < _KEPT:
            self.findings.append(finding)


def _path(folder: Path, target: str, seed: int) -> Path:
    return folder / f"{target}-{seed}.json"
