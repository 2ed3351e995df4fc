"""What the rules say. In: the rules themselves. Out: components: what each cause means, the order of the rules, the truth table, every number."""

from __future__ import annotations

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import CAUSES, SIDES
from throttlescope.app.web.address.data_quality import DataAddress
from throttlescope.app.web.components.parts import cause_badge, plain_table, section
from throttlescope.ingest.contracts.vocabulary import LIMITERS
from throttlescope.models.diagnosis.causes import CAUSE_OF, RULES
from throttlescope.models.diagnosis.thresholds import THRESHOLDS
from throttlescope.models.diagnosis.truth_table import TABLE
from throttlescope.models.diagnosis.verdict import ANSWER_FLOOR, CONFIDENCE_OF_GRADE, FLAWS, RULES_VERSION

_GRADES = {
    "A": "two independent kinds of evidence agree",
    "B": "one decisive kind, and nothing against it",
    "C": "by elimination, or from weaker evidence",
    "D": "little more than a lean",
    "": "no cause is named",
}
_WORDS = (
    (
        "limit: at, near, possible, far",
        "use / limit from high to low; far also where no limit is set; the numbers are below",
    ),
    ("limit: unknown", "not read, not in force, or a period that does not fit twice into the window"),
    ("counter: continuous", "as often as a limiter that holds, and its events mean something"),
    (
        "counter: ticking",
        "as often, but every read of a healthy subscription would count too (or it is not known)",
    ),
    ("counter: sparse, silent, unseen", "less often than a limiter that holds; never; no such counter"),
    (
        "queues: full, between, empty, unknown",
        "the broker waits for consumers; not clear; the consumers have room; not measured",
    ),
)


def rules() -> list:
    """The shipped rules in words."""
    return [
        html.P(
            [
                html.Strong(f"Rules {RULES_VERSION}"),
                ". A pure function: minutes of one subscription partition and the day before them in, one verdict out. No clock, no "
                "training. What they cannot see: ",
                dcc.Link("blind spots", href=DataAddress("blind").href()),
                ".",
            ]
        ),
        section(
            "What each cause means",
            [
                plain_table(
                    ("Cause", "Side", "Says", "First", "Not"),
                    [
                        [
                            cause_badge(word), _side(word),
                            _long(cause.answer + "."), _long(cause.first), _long(cause.never),
                        ]
                        for word, cause in CAUSES.items()
                    ],
                )
            ],
        ),
        section(
            "Order of the rules",
            [
                html.Ol(
                    [
                        html.Li([html.Strong(rule.__name__.replace("_", " ")), ": ", _first_line(rule)])
                        for rule in RULES
                    ],
                    className="hypotheses",
                )
            ],
            note="several may match; the first is the cause, the others contribute",
        ),
        section(
            "The truth table of limiter and consumers",
            [
                plain_table(("Word", "Means"), [[word, _long(meaning)] for word, meaning in _WORDS]),
                plain_table(
                    ("Limit", "Counter", "Queues", "Cause", "Grade", "Because"),
                    [
                        [
                            _any(row.zones), _any(row.activities), _any(row.queues), cause_badge(row.cause),
                            row.grade or "none", _long(row.why),
                        ]
                        for row in TABLE
                    ],
                ),
            ],
            note=f"the first row that matches answers, for each of {len(LIMITERS)} limiters",
        ),
        section(
            "How sure",
            [
                plain_table(
                    ("Grade", "Confidence", "When"),
                    [
                        [grade or "unknown", fmt.percent(value), _GRADES.get(grade, "")]
                        for grade, value in CONFIDENCE_OF_GRADE.items()
                    ],
                ),
                html.P(
                    "A flaw of the evidence multiplies the confidence: "
                    + ", ".join(f"{name.replace('_', ' ')} x {factor:g}" for name, factor in FLAWS.items())
                    + f". Below {ANSWER_FLOOR:g} no cause is named."
                ),
            ],
            note="stated; whether it is kept is measured under Accuracy",
        ),
        section(
            "Every number in the rules",
            [
                html.Details(
                    [
                        html.Summary(f"{len(THRESHOLDS)} thresholds, each with where it comes from"),
                        plain_table(
                            ("Name", "Value", "Unit", "From", "Meaning"),
                            [[html.Code(t.name), f"{t.value:g}", t.unit, t.source, _long(t.meaning)] for t in THRESHOLDS],
                        ),
                    ]
                )
            ],
            note="none was fitted to a recording",
        ),
    ]  # fmt: skip


def _any(words: str) -> str:
    return "any" if words == "*" else words.replace(" ", " or ")


def _side(cause: str) -> str:
    side = SIDES[CAUSE_OF[cause].side]
    return f"{side.mark} {side.label}"


def _first_line(rule) -> str:
    return (rule.__doc__ or "").strip().splitlines()[0]


def _long(text: str) -> html.Span:
    return html.Span(text, className="cell-long wide")
