"""What the rules say. In: the rules themselves. Out: components: what each cause means, the order of the rules, the truth table, every number."""

from __future__ import annotations

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import CAUSES, SIDES
from throttlescope.app.web.address.data_quality import DataAddress
from throttlescope.app.web.components.parts import cause_badge, plain_table, section, stored_english
from throttlescope.app.web.components.sentence_parts import sentence_parts
from throttlescope.ingest.contracts.vocabulary import LIMITERS
from throttlescope.models.diagnosis.causes import CAUSE_OF, RULES
from throttlescope.models.diagnosis.thresholds import THRESHOLDS
from throttlescope.models.diagnosis.truth_table import TABLE
from throttlescope.models.diagnosis.verdict import ANSWER_FLOOR, CONFIDENCE_OF_GRADE, FLAWS, RULES_VERSION
from throttlescope.models.messages.catalogue import message, sentence
from throttlescope.models.messages.language import HTML_CODES, STORED_LANGUAGE

#: Words of the truth table, as keys of the catalogue.
_WORDS = ("limit", "unknown", "continuous", "ticking", "silent", "queues")


def rules() -> list:
    """The shipped rules in words."""
    return [
        html.P(
            sentence_parts(
                message(
                    "accuracy.rules",
                    rules=html.Strong(sentence("label.rules_version", version=RULES_VERSION)),
                    blind_spots=dcc.Link(sentence("accuracy.blind_spots"), href=DataAddress("blind").href()),
                )
            )
        ),
        _causes(),
        _order(),
        _truth_table(),
        _confidence(),
        _thresholds(),
    ]


def _causes() -> html.Section:
    rows = [
        [
            cause_badge(word),
            _side(word),
            _long(f"{cause.answer}."),
            _long(cause.first),
            _long(cause.never),
        ]
        for word, cause in CAUSES.items()
    ]
    return section(
        sentence("accuracy.causes.title"),
        [
            plain_table(
                (
                    sentence("label.cause"),
                    sentence("label.side"),
                    sentence("label.answer"),
                    sentence("label.first_step"),
                    sentence("label.caution"),
                ),
                rows,
            )
        ],
    )


def _order() -> html.Section:
    steps = [
        html.Li(
            [html.Strong(rule.__name__.replace("_", " ")), ": ", _first_line(rule)],
            lang=HTML_CODES[STORED_LANGUAGE],
        )
        for rule in RULES
    ]
    return section(
        sentence("accuracy.order.title"),
        [html.Ol(steps, className="hypotheses")],
        note=sentence("accuracy.order.note"),
    )


def _truth_table() -> html.Section:
    words = [
        [sentence(f"accuracy.word.{word}"), _long(sentence(f"accuracy.meaning.{word}"))] for word in _WORDS
    ]
    rows = [
        [
            _any(row.zones),
            _any(row.activities),
            _any(row.queues),
            cause_badge(row.cause),
            row.grade or sentence("label.none"),
            _long(row.why),
        ]
        for row in TABLE
    ]
    return section(
        sentence("accuracy.truth_table.title"),
        [
            plain_table((sentence("label.word"), sentence("label.means")), words),
            plain_table(
                (
                    sentence("label.limit"),
                    sentence("label.counter"),
                    sentence("label.queues"),
                    sentence("label.cause"),
                    sentence("label.grade"),
                    sentence("label.because"),
                ),
                rows,
            ),
        ],
        note=sentence("accuracy.truth_table.note", limiters=len(LIMITERS)),
    )


def _confidence() -> html.Section:
    rows = [
        [
            grade or sentence("label.unknown_heading"),
            fmt.percent(value),
            sentence(f"accuracy.grade.{grade or 'none'}"),
        ]
        for grade, value in CONFIDENCE_OF_GRADE.items()
    ]
    flaws = [f"{name} x {factor:g}" for name, factor in FLAWS.items()]
    return section(
        sentence("label.how_sure"),
        [
            plain_table(
                (sentence("label.grade"), sentence("label.confidence"), sentence("label.when")), rows
            ),
            html.P(sentence("accuracy.flaws", flaws=flaws, floor=ANSWER_FLOOR)),
        ],
        note=sentence("accuracy.grades.note"),
    )


def _thresholds() -> html.Section:
    rows = [
        [
            html.Code(t.name),
            f"{t.value:g}",
            stored_english(t.unit),
            stored_english(t.source),
            stored_english(t.meaning, className="cell-long wide"),
        ]
        for t in THRESHOLDS
    ]
    return section(
        sentence("accuracy.thresholds.title"),
        [
            html.Details(
                [
                    html.Summary(sentence("accuracy.thresholds.summary", number=len(THRESHOLDS))),
                    plain_table(
                        (
                            sentence("label.name"),
                            sentence("label.value"),
                            sentence("label.unit"),
                            sentence("label.from"),
                            sentence("label.meaning"),
                        ),
                        rows,
                    ),
                ]
            )
        ],
        note=sentence("accuracy.thresholds.note"),
    )


def _any(words: str) -> str:
    return sentence("accuracy.any") if words == "*" else words.replace(" ", sentence("accuracy.or"))


def _side(cause: str) -> str:
    side = SIDES[CAUSE_OF[cause].side]
    return f"{side.mark} {side.label}"


def _first_line(rule) -> str:
    return (rule.__doc__ or "").strip().splitlines()[0]


def _long(text: str) -> html.Span:
    return html.Span(text, className="cell-long wide")
