"""A review. In: a `Review`. Out: a table of figures, and the lists behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.output import print_table, write_result
from throttlescope.app.presentation.verdicts import subscription_text
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count, minute_text, percent

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.services.review import LimitUse, Review


def print_review(review: Review) -> None:
    """Print the figures of a range, then the limits, the flips and the disagreements that they count."""
    print_table(
        [
            (sentence("label.figure_heading"), "left"),
            (sentence("label.value_heading"), "left"),
            (sentence("label.of_what"), "left"),
        ],
        [*_flips(review), *_forecasts(review), *_agreement(review), *_limits(review)],
        title=sentence("review.title", start=minute_text(review.start_ms), end=minute_text(review.end_ms)),
        notes=[
            sentence(
                "review.basis",
                clusters=", ".join(review.clusters) or sentence("review.no_clusters"),
                rules=", ".join(review.rules_versions) or "-",
            ),
            sentence("review.note"),
        ],
    )
    if review.limits.most:
        print()
        _limit_table(sentence("review.limits.most", limits=review.limits.bound), review.limits.most)
    if review.limits.least:
        print()
        _limit_table(sentence("review.limits.least", limits=review.limits.never), review.limits.least)
    if review.flips.most:
        changes = ", ".join(f"{name} {number}" for name, number in review.flips.between.items())
        print()
        print_table(
            [
                *_cluster_column(review),
                (sentence("label.subscription_heading"), "left"),
                (sentence("label.flips"), "right"),
                (sentence("label.after_hysteresis"), "right"),
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
            title=sentence("review.flips.most"),
            notes=[sentence("review.flips.between", changes=changes)],
        )
    if review.agreement.disagreements:
        print()
        print_table(
            [
                *_cluster_column(review), (sentence("label.subscription_heading"), "left"), (sentence("label.episode_since_utc"), "left"), (sentence("label.cause_heading"), "left"),
                (sentence("label.verdicts_suggest"), "left"), (sentence("label.replay_drains_most"), "left"), (sentence("label.by_entries"), "right"),
            ],
            [
                [
                    *_cluster(review, one), subscription_text(vars(one)), minute_text(one.start_ms), one.cause,
                    one.verdict_lever, one.primary, count(one.gain_entries),
                ]
                for one in review.agreement.disagreements
            ],
            title=sentence("review.agreement.disagreements"),
        )  # fmt: skip


def _flips(review: Review) -> list[list[str]]:
    found = review.flips
    of = sentence(
        "review.flips.of",
        windows=count(found.windows),
        partitions=count(found.subscription_partitions),
        hours=found.hours,
    )
    return [
        [sentence("review.flips"), _rate(found.per_hour, found.flips), of],
        [sentence("review.flips.steady"), _rate(found.steady_per_hour, found.steady_flips), of],
    ]


def _forecasts(review: Review) -> list[list[str]]:
    found = review.forecasts
    if found is None:
        return [[sentence("review.drains"), "-", review.no_forecasts or "-"]]
    drains = found.all
    of = sentence(
        "review.drains.of",
        made=count(found.made),
        expected=count(found.expected),
        decided=count(drains.decided),
    )
    never = sentence("review.drains.never.of", never=count(found.never))
    rows = [
        [sentence("review.drains"), _share(drains.inside, drains.decided, drains.wilson), of],
        [
            sentence("review.drains.error"),
            percent(drains.median_error_share),
            sentence("review.drains.error.of"),
        ],
        [sentence("review.drains.never"), count(found.drained_although_never), never],
    ]
    if found.expiries:
        inside = _share(found.expiries_inside, found.expiries_decided, None)
        of = sentence("review.losses.of", forecasts=count(found.expiries))
        rows.append([sentence("review.losses"), inside, of])
    return rows


def _agreement(review: Review) -> list[list[str]]:
    found = review.agreement
    episodes, replays = count(found.episodes), count(found.asked)
    if found.failed:
        failed = count(found.failed)
        of = sentence("review.agreement.of_failed", episodes=episodes, replays=replays, failed=failed)
    else:
        of = sentence("review.agreement.of", episodes=episodes, replays=replays)
    return [[sentence("review.agreement"), _share(found.agree, found.compared, found.wilson), of]]


def _limits(review: Review) -> list[list[str]]:
    found = review.limits
    of = sentence("review.limits.of", limiters=count(found.limiters))
    rows = [
        [sentence("review.limits.bound"), count(found.bound), of],
        [sentence("review.limits.never"), count(found.never), of],
    ]
    if found.unknown:
        rows.append([sentence("review.limits.unknown"), count(found.unknown), of])
    return rows


def _limit_table(title: str, rows: list[LimitUse]) -> None:
    clusters = len({row.cluster for row in rows}) > 1
    print_table(
        [
            *(((sentence("label.cluster_heading"), "left"),) if clusters else ()), (sentence("label.limiter_heading"), "left"), (sentence("label.of_heading"), "left"), (sentence("label.limit_heading"), "right"),
            (sentence("label.set_by_heading"), "left"), (sentence("label.shared_by_heading"), "right"), (sentence("label.named_subscription_h"), "right"), (sentence("label.minutes_at_least_90_percent"), "right"),
            (sentence("label.of_minutes"), "right"), (sentence("label.most"), "right"),
        ],
        [
            [
                *((row.cluster,) if clusters else ()), row.limiter, row.owner.removeprefix("persistent://"), _limit(row),
                row.set_by or "-", count(row.shared_by), f"{row.held_h:,.1f}", count(row.near_minutes), count(row.minutes),
                percent(row.most_share),
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
    return [(sentence("label.cluster_heading"), "left")] if len(review.clusters) > 1 else []


def _cluster(review: Review, row: Any) -> list[str]:
    return [row.cluster] if len(review.clusters) > 1 else []


def _rate(per_hour: float | None, number: int) -> str:
    return "-" if per_hour is None else f"{per_hour:.3f} ({count(number)})"


def _share(part: int, of: int, interval: tuple[float, float] | None) -> str:
    if not of:
        return "-"
    between = "" if interval is None else f" [{100 * interval[0]:.0f}, {100 * interval[1]:.0f}]"
    return f"{percent(part / of)} ({count(part)}/{count(of)}){between}"


def write_review(found: Review, options: CommandOptions) -> None:
    """Write a review in the requested format."""
    write_result(options.format, table=lambda: print_review(found), document=found.to_json)
