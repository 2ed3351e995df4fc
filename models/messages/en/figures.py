"""Figures: titles, axes, legends and hover texts. ``%{{x}}`` is filled in by Plotly."""

from __future__ import annotations

SENTENCES = {
    "figures.anomaly.stored": "usual as stored, worst minute",
    "figures.calibration.ideal": "right as often as stated",
    "figures.calibration.hover": "confidence %{{customdata}}: stated %{{x:.2f}}, right %{{y:.3f}}<extra></extra>",
    "figures.events.proves_nothing": "{limiter}: proves nothing",
    "figures.events.unproven": "{limiter} is not known: unproven",
    "figures.permits.most": "permits, consumer with most",
    "figures.permits.fewest": "permits, consumer with fewest",
    "figures.lanes.no_broker": "a broker that no scrape named",
    "figures.lanes.use": "{lane}<br>up to <b>%{{z:.0%}}</b> of the limit in {step}<extra></extra>",
    "figures.lanes.bound": (
        "{lane}<br>bound: it limited up to <b>%{{customdata}}</b> subscription partitions at once<extra></extra>"
    ),
    "figures.rates.shared": "out, all that share the {level} limit",
    "figures.rates.limit": "{level} limit {rate}, {set_by}",
    "figures.rates.limit_until": "{level} limit {rate}, {set_by}, until {time}",
    "figures.rates.above": "↑ {limit} (above this chart)",
    "figures.replay.simulated": "{time}: from here on simulated",
    "figures.replay.drained": "{run}: drained after {length}",
    "figures.ribbon.truth": "what the recording's script did",
    "figures.ribbon.limit_changed": "a limit changed",
    "figures.ribbon.moved": "moved to broker {broker}",
    "figures.ribbon.restarted": "counters restarted (unload, restart or new dispatcher)",
    "figures.ribbon.run": "{length}, confidence {share}",
    "figures.sparkline.none": "not measured in this range",
    "figures.sparkline.constant": "always {value}, {newest} at its end",
    "figures.sparkline.range": "{low} to {high}, {newest} at its end",
    "figures.sweep.never": "not gone by then",
    "figures.sweep.never.hover": "%{{x:~s}}: not gone by then",
    "figures.sweep.gone.hover": "%{{x:~s}}: gone after %{{y:.3~s}} min",
    "figures.what_if.replayed": "replayed as it was",
    "figures.simulation.title": "{scenario}: limiter engine {engine}, Pulsar {version}, seed {seed}",
    "figures.simulation.some": "{title}; the {drawn} of {partitions} with the largest backlogs",
}
