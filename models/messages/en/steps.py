"""Steps of work that take a while, as progress lines say them."""

from __future__ import annotations

SENTENCES = {
    "steps.anomalies.compare": "Comparing with the weeks before",
    "steps.episodes.replay": "Lifting each cause in a replay",
    "steps.repair.source_empty": "the source no longer has any of it",
    "steps.vacuum.find": "looking for unreferenced files",
    "steps.simulate.compile": "the first run on this machine compiles the simulator, about a minute",
    "steps.whatif.exact": "simulating message by message",
    "steps.whatif.smallest": "looking for the smallest that is enough",
    "steps.whatif.levers": "trying every lever",
}
