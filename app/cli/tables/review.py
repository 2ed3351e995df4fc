"""A review for eyes. In: a `Review`. Out: a table of figures, and the lists behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.output import print_table, write_result
from throttlescope.app.presentation.verdicts import subscription_text
from throttlescope.models.messages.units import count, minute_text, share

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.services.review import LimitUse, Review


def print_review(review: Review) -> None:
    """Print the figures of a range, then the limits, the flips and the disagreements that they count."""
    print_table(
        [("figure", "left"), ("value", "left"), ("of what", "left")],
        [*_flips(review), *_forecasts(review), *_agreement(review), *_limits(review)],
        title=f"Review of {minute_text(review.start_ms)} to {minute_text(review.end_ms)} UTC",
        notes=[
            f"Clusters: {', '.join(review.clusters) or 'none with verdicts in this range'}. "
            f"Rules {', '.join(review.rules_versions) or '-'}. Intervals are 95 % (Wilson), as if cases were independent.",
            "Flips are changes of the named cause from one window to the next; some are real. After hysteresis: as episodes show "
            "them. A limit binds where a verdict names it or a minute used at least 90 % of it.",
        ],
    )
    if review.limits.most:
        print()
        _limit_table(f"Limits that bind most ({review.limits.bound})", review.limits.most)
    if review.limits.least:
        print()
        _limit_table(
            f"Limits that never bind, the emptiest first ({review.limits.never})", review.limits.least
        )
    if review.flips.most:
        print()
        print_table(
            [
                *_cluster_column(review),
                ("subscription", "left"),
                ("flips", "right"),
                ("after hysteresis", "right"),
            ],
            [
                [
                    *_cluster(review, one),
                    subscription_text(vars(one)),
                    count(one.flips),
                    count(one.steady_flips),
                ]
                for one in review.flips.most
            ],
            title="Verdicts that changed most",
            notes=["Most frequent: " + ", ".join(f"{name} {n}" for name, n in review.flips.between.items())],
        )
    if review.agreement.disagreements:
        print()
        print_table(
            [
                *_cluster_column(review), ("subscription", "left"), ("episode since (UTC)", "left"), ("cause", "left"),
                ("verdicts ask for", "left"), ("replay: drains most", "left"), ("by (entries)", "right"),
            ],
            [
                [
                    *_cluster(review, one), subscription_text(vars(one)), minute_text(one.start_ms), one.cause,
                    one.verdict_lever, one.primary, count(one.gain_entries),
                ]
                for one in review.agreement.disagreements
            ],
            title="Episodes whose verdicts and replay disagree",
        )  # fmt: skip


def _flips(review: Review) -> list[list[str]]:
    found = review.flips
    of = (
        f"{count(found.windows)} windows of {count(found.subscription_partitions)} subscription partitions, "
        f"{found.hours:,.1f} h"
    )
    return [
        ["verdict flips per hour", _rate(found.per_hour, found.flips), of],
        ["the same after hysteresis", _rate(found.steady_per_hour, found.steady_flips), of],
    ]


def _forecasts(review: Review) -> list[list[str]]:
    found = review.forecasts
    if found is None:
        return [["drains inside their 90 % interval", "-", review.no_forecasts or "-"]]
    drains = found.all
    rows = [
        [
            "drains inside their 90 % interval",
            _share(drains.inside, drains.decided, drains.wilson),
            f"{count(found.made)} forecasts, {count(found.expected)} with a time, {count(drains.decided)} of them decided",
        ],
        ["median error of drained ones", share(drains.median_error_share), "of the time that it took"],
        [
            "drained although never was said",
            count(found.drained_although_never),
            f"{count(found.never)} forecasts that said never at this rate",
        ],
    ]
    if found.expiries:
        rows.append(
            [
                "losses by TTL inside their interval",
                _share(found.expiries_inside, found.expiries_decided, None),
                f"{count(found.expiries)} forecasts",
            ]
        )
    return rows


def _agreement(review: Review) -> list[list[str]]:
    found = review.agreement
    failed = f", {count(found.failed)} could not be replayed" if found.failed else ""
    return [
        [
            "verdict and counterfactual agree",
            _share(found.agree, found.compared, found.wilson),
            f"{count(found.episodes)} episodes, {count(found.asked)} with both sides blamed and a replay asked{failed}",
        ]
    ]


def _limits(review: Review) -> list[list[str]]:
    found = review.limits
    of = f"{count(found.limiters)} limiters in force"
    rows = [["limits that bind", count(found.bound), of], ["limits that never bind", count(found.never), of]]
    if found.unknown:
        rows.append(["limits whose use is not known", count(found.unknown), of])
    return rows


def _limit_table(title: str, rows: list[LimitUse]) -> None:
    clusters = len({row.cluster for row in rows}) > 1
    print_table(
        [
            *((("cluster", "left"),) if clusters else ()), ("limiter", "left"), ("of", "left"), ("limit", "right"),
            ("set by", "left"), ("shared by", "right"), ("named (subscription h)", "right"), ("minutes >= 90 %", "right"),
            ("of minutes", "right"), ("most", "right"),
        ],
        [
            [
                *((row.cluster,) if clusters else ()), row.limiter, row.owner.removeprefix("persistent://"), _limit(row),
                row.set_by or "-", count(row.shared_by), f"{row.held_h:,.1f}", count(row.near_minutes), count(row.minutes),
                share(row.most_share),
            ]
            for row in rows
        ],
        title=title,
        heads=3 if clusters else 2,
    )  # fmt: skip


def _limit(row: LimitUse) -> str:
    unit = "B" if row.limiter.endswith("bytes") else "msg"
    return f"{count(row.rate)} {unit} / {'-' if row.period_s is None else row.period_s} s"


def _cluster_column(review: Review) -> list[tuple[str, str]]:
    return [("cluster", "left")] if len(review.clusters) > 1 else []


def _cluster(review: Review, row: Any) -> list[str]:
    return [row.cluster] if len(review.clusters) > 1 else []


def _rate(per_hour: float | None, number: int) -> str:
    return "-" if per_hour is None else f"{per_hour:.3f} ({count(number)})"


def _share(part: int, of: int, interval: tuple[float, float] | None) -> str:
    if not of:
        return "-"
    between = "" if interval is None else f" [{100 * interval[0]:.0f}, {100 * interval[1]:.0f}]"
    return f"{share(part / of)} ({count(part)}/{count(of)}){between}"


def write_review(found: Review, options: CommandOptions) -> None:
    """Write a review in the requested format."""
    write_result(options.format, table=lambda: print_review(found), document=found.to_json)
