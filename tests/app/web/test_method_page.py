"""Accuracy page: every number on the page is one that ships, and what did not ship is said."""

from __future__ import annotations

import pytest

from tests.app.web.components import find, text_of
from tests.app.web.test_format import plain
from throttlescope.app.presentation.causes import CAUSES
from throttlescope.app.presentation.figures.calibration import calibration_figure
from throttlescope.app.presentation.figures.confusion import confusion_figure
from throttlescope.app.web.address.method import TABS, MethodAddress
from throttlescope.app.web.pages.accuracy import diagnosis, models, page, rules
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.diagnosis.thresholds import THRESHOLDS
from throttlescope.models.diagnosis.truth_table import TABLE
from throttlescope.models.diagnosis.verdict import RULES_VERSION
from throttlescope.models.evaluation.measured import PARTS, measured_of


@pytest.fixture
def found():
    return measured_of("diagnosis")


def read(part) -> str:
    return " ".join(plain(text_of(part)).split())


def table(tree, title: str):
    return next(one for one in find(tree, "Table") if title in read(one))


def percent(count: int, of: int) -> str:
    return f"{100 * count / of:.1f} %"


# -- the address ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address", [*(MethodAddress(tab) for tab in TABS), MethodAddress(recordings="kept aside")]
)
def test_address_round_trip(address):
    assert MethodAddress.parse(address.href().partition("?")[2]) == address


def test_broken_address_is_an_error():
    with pytest.raises(InputError):
        MethodAddress.parse("tab=x")
    with pytest.raises(InputError):
        page.page(MethodAddress(recordings="nobody"))


# -- accuracy ---------------------------------------------------------------------------------------


def test_all_four_parts_ship():
    assert all(measured_of(part) for part in PARTS)


def test_targets_show_their_measured_results(found):
    said = read(page.page(MethodAddress()))
    assert found["targets"]
    for target in found["targets"]:
        met = {True: "✓ met", False: "✖ missed", None: "? nothing to count"}[target["met"]]
        assert (
            f"{target['what'][0].upper()}{target['what'][1:]} {target['wanted']} {target['measured']['kept aside']} {met}"
            in said
        )


@pytest.mark.parametrize("name", ["kept aside", "development", "shipped"])
def test_the_matrix_has_every_window_once(found, name):
    part = found["sets"][name]
    figure = confusion_figure(part["confusion"])
    numbers = [int(text) for trace in figure.data for row in trace.text for text in row if text]
    assert sum(numbers) == part["windows"]
    right, wrong = figure.data
    assert sum(int(text) for row in right.text for text in row if text) == sum(
        row.get(true, 0) for true, row in part["confusion"].items()
    )
    for trace in (right, wrong):
        assert list(trace.y) == [
            f"{CAUSES[word].mark} {CAUSES[word].label}" for word in CAUSES if part["confusion"].get(word)
        ]
    for row, label in enumerate(right.y):
        shares = [value for trace in (right, wrong) for value in trace.z[row] if value is not None]
        assert sum(shares) == pytest.approx(1), label


def test_miss_is_in_its_row_and_column():
    right, wrong = confusion_figure(
        {"throttled": {"throttled": 3, "healthy": 1}, "healthy": {"healthy": 5}}
    ).data
    assert [list(row) for row in right.text] == [["3", ""], ["", "5"]]
    assert [list(row) for row in wrong.text] == [["", "1"], ["", ""]]
    assert wrong.customdata[0][1] == "Throttled: 1 of 4 windows called Healthy"
    assert right.z[0][0] == 0.75


@pytest.mark.parametrize("name", ["kept aside", "development", "shipped"])
def test_recall_and_precision_come_with_their_intervals(found, name):
    part = found["sets"][name]
    said = read(page.page(MethodAddress(recordings=name)))
    for cause, one in part["classes"].items():
        if one["windows"]:
            recall = one["recall"]
            low, high = (f"{100 * bound:.1f}" for bound in recall["wilson"])
            assert (
                f"{percent(recall['count'], recall['of'])} {recall['count']} of {recall['of']}, {low} to {high} %"
                in said
            ), cause


def test_every_rule_is_compared_with_ours(found):
    said = read(table(page.page(MethodAddress()), "Burrow"))
    for rule in found["sets"]["kept aside"]["rules"].values():
        share = rule["side_right_when_answered"]
        assert f"{percent(share['count'], share['of'])} {share['count']} of {share['of']}" in said
    naive = found["sets"]["kept aside"]["rules"]["naive rule"]
    wrong = naive["side_right_when_answered"]["of"] - naive["side_right_when_answered"]["count"]
    assert (
        f"Here it named the wrong side in {wrong} of {naive['side_right_when_answered']['of']} windows"
        in read(page.page(MethodAddress()))
    )


def test_calibration_is_drawn_with_its_intervals(found):
    bins = found["sets"]["kept aside"]["calibration"]["bins"]
    points = calibration_figure(bins).data[1]
    assert list(points.x) == [one["stated"] for one in bins]
    for n, one in enumerate(bins):
        assert points.y[n] == one["right"]["count"] / one["right"]["of"]
        assert points.y[n] + points.error_y.array[n] == pytest.approx(one["right"]["wilson"][1])
        assert points.y[n] - points.error_y.arrayminus[n] == pytest.approx(one["right"]["wilson"][0])


def test_missing_evidence_and_delays_are_shown(found):
    part = found["sets"]["kept aside"]
    said = read(page.page(MethodAddress()))
    for one in part["evidence"].values():
        assert f"{one['unknown']['count']} of {one['unknown']['of']}, " in said
    change = part["delays"]["after_change"]
    assert (
        f"after a cause began {change['median_s']:.0f} s {change['p90_s']:.0f} s {change['changes']} {change['never']}"
        in said
    )


@pytest.mark.long
def test_figures_of_other_rules_are_marked(found):
    said = read(diagnosis.accuracy(found | {"rules_version": "0"}, MethodAddress()))
    assert f"These figures are of rules 0. The installed rules are {RULES_VERSION}" in said
    assert "These figures are of rules" not in read(page.page(MethodAddress()))


def test_missing_figures_are_explained():
    assert "No figures of the diagnosis came with this package." in read(
        diagnosis.accuracy(None, MethodAddress())
    )
    for show in (models.simulator, models.forecasts, models.anomalies):
        assert "came with this package" in read(show(None))


# -- rules ------------------------------------------------------------------------------------------


def test_rules_are_shown_completely():
    tree = rules.rules()
    said = read(tree)
    for cause in CAUSES.values():
        assert cause.answer in said
    assert len(find(table(tree, "Because"), "Tr")) == 1 + len(TABLE)
    assert len(find(table(tree, "Meaning"), "Tr")) == 1 + len(THRESHOLDS)
    assert f"Rules {RULES_VERSION}" in said


# -- simulator, forecasts, anomalies ----------------------------------------------------------------


def test_misses_of_the_simulator_are_shown():
    found = measured_of("simulator")
    said = read(models.simulator(found))
    judged = found["parts"]["kept aside"]
    for name, target in found["targets"].items():
        met = judged["ours"][name] <= target["wanted"]
        shown = f"{judged['ours'][name]:.2f}" if name == "events" else f"{100 * judged['ours'][name]:.1f} %"
        assert f"{shown} {'✓ met' if met else '✖ missed'}" in said, name
    assert all(far.replace("_", " ") in said for far in judged["families_too_far"])


def test_forecasts_say_whether_their_target_is_met():
    """Judged by what no calibration had seen; a cross-validated figure does not count."""
    found = measured_of("forecasts")
    judged, unseen = found["parts"][found["target"]["judges"]], found["target"]["unseen"]
    said = read(models.forecasts(found))
    assert said.startswith("Drains: measured inside the 90 % interval")
    assert unseen["wilson"][1] < found["target"]["wanted"]
    assert "✖ missed Target: the Wilson interval contains 90.0 %" in said
    for share in (unseen, judged):
        assert (
            f"{share['inside']} of {share['decided']} = {percent(share['inside'], share['decided'])}" in said
        )


def test_anomalies_are_compared_with_simpler_detectors():
    found = measured_of("anomalies")
    said = read(models.anomalies(found))
    for name, one in found["detectors"].items():
        assert f"{name} {one['precision']:.3f} {one['recall']:.3f} {one['f1']:.3f}" in said
    for kind, one in found["kinds"].items():
        assert f"{kind} {one['found']} of {one['events']}" in said
