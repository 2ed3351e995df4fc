"""The PromQL console and the alerts page in a real Chromium: suggestions by keys, Ctrl+Enter, cancel, history, a rule previewed."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from tests.app.web.browser import (
    MonitoredPage,
    axe_findings,
    fits,
    is_settled,
    needs_chromium,
    running_server,
)
from tests.app.web.sample_lake import HOSTILE_NAME
from tests.app.web.sampled_lake import write_sampled_lake

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    needs_chromium,
]

BACKLOG = "pulsar_subscription_back_log"
LARGE = f"groups:\n- name: g\n  rules:\n  - {{alert: Large, expr: {BACKLOG} > 10000, for: 5m}}\n"
RANGE = "from=2026-11-20T00:10:00Z&to=2026-11-20T03:00:00Z"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    lake = write_sampled_lake(tmp_path_factory.mktemp("sampled") / "lake")
    with running_server(lake.root, workers=1, queries=1) as address:
        yield address


def query_of(page) -> dict:
    return parse_qs(urlsplit(page.url).query)


def test_query_is_completed_and_run_by_keyboard(monitored):
    page = monitored.open("/promql")
    page.wait_for_selector(".promql-examples")
    page.click("#promql-query")
    page.keyboard.insert_text("sum by (topic) (pulsar_sub")
    page.wait_for_selector(".suggestion")
    assert page.get_attribute("#promql-query", "aria-activedescendant") is None
    page.keyboard.press("ArrowDown")
    active = page.get_attribute("#promql-query", "aria-activedescendant")
    assert page.get_attribute(f"#{active}", "aria-selected") == "true"
    assert page.inner_text(f"#{active}").startswith(BACKLOG)
    page.keyboard.press("Enter")
    page.wait_for_selector("#promql-suggestions", state="hidden")
    page.keyboard.insert_text("{")
    page.wait_for_selector(".suggestion:has-text('subscription')")
    page.keyboard.insert_text("subs")
    page.wait_for_function("() => document.querySelectorAll('.suggestion').length === 1")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    # Values come without asking, and narrow by any part of them.
    page.wait_for_selector(".suggestion:has-text('billing')")
    page.keyboard.insert_text("illin")
    page.wait_for_function("() => document.querySelectorAll('.suggestion').length === 1")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.type("})")
    assert page.input_value("#promql-query") == f'sum by (topic) ({BACKLOG}{{subscription="billing"}})'
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".promql-said")
    assert "persistent://shop/checkout/orders" in page.inner_text(".promql-content")
    assert query_of(page)["query"] == [f'sum by (topic) ({BACKLOG}{{subscription="billing"}})']
    assert query_of(page)["from"][0].endswith("Z"), "shared links carry absolute times"
    page.keyboard.press("Control+z")
    assert page.input_value("#promql-query").endswith("}"), "suggestions are typed, so they can be undone"


@pytest.mark.study
def test_escape_closes_the_suggestions(monitored):
    """A hostile label value is inserted as text."""
    page = monitored.open("/promql")
    page.wait_for_selector(".promql-examples")
    page.click("#promql-query")
    page.keyboard.insert_text(BACKLOG + '{subscription="</scr')
    page.wait_for_selector(".suggestion:has-text('</script>')")
    page.keyboard.press("Escape")
    page.wait_for_selector("#promql-suggestions", state="hidden")
    assert page.evaluate("document.activeElement.id") == "promql-query"
    page.keyboard.press("Control+Space")
    page.wait_for_selector(".suggestion")
    page.click(".suggestion")
    page.keyboard.insert_text("}")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".promql-said")
    assert "1 line, at" in page.inner_text(".promql-said").replace("\N{NO-BREAK SPACE}", " ")
    assert page.locator("img").count() == 0
    assert len(HOSTILE_NAME) < len(query_of(page)["query"][0])


@pytest.mark.study
def test_links_restore_query_tab_and_times(monitored):
    """So does going back."""
    page = monitored.open(f"/promql?query={BACKLOG}&{RANGE}&tab=graph&step=1m")
    page.wait_for_selector("#promql-graph .xtick text")
    assert page.input_value("#promql-query") == BACKLOG
    assert page.input_value("#promql-from") == "2026-11-20 00:10:00"
    assert page.input_value("#promql-step") == "1m"
    page.click(".promql-tabs >> text=table")
    page.wait_for_selector(".promql-said:has-text('lines, at')")
    page.fill("#promql-query", "sum(")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".promql-marked mark")
    assert "line 1, column 5" in page.inner_text(".promql-marked")
    page.go_back()
    page.wait_for_selector(".promql-said:has-text('lines, at')")
    page.wait_for_function(f"() => document.getElementById('promql-query').value === '{BACKLOG}'")
    page.go_back()
    page.wait_for_selector("#promql-graph")


@pytest.mark.study
def test_times_are_local_and_links_utc(browser, address):
    monitored = MonitoredPage(browser, address, timezone_id="Europe/Berlin")
    monitored.context.add_cookies([{"name": "throttlescope-zone", "value": "Europe/Berlin", "url": address}])
    page = monitored.open(f"/promql?query={BACKLOG}&{RANGE}")
    page.wait_for_selector(".promql-said")
    assert page.input_value("#promql-from") == "2026-11-20 01:10:00"
    page.fill("#promql-to", "2026-11-20 3:30")
    page.keyboard.press("Enter")
    page.wait_for_selector(".promql-said:has-text('03:30:00 UTC+01:00')")
    assert query_of(page)["to"] == ["2026-11-20T02:30:00Z"]
    # A change of the clock in between.
    assert (
        page.evaluate("throttlescope.absoluteTime('2026-07-01 12:00:00', 'Europe/Berlin')")
        == "2026-07-01T10:00:00Z"
    )
    assert (
        page.evaluate("throttlescope.shownTime('2026-07-01T10:00:00Z', 'Europe/Berlin')")
        == "2026-07-01 12:00:00"
    )
    assert page.evaluate("throttlescope.absoluteTime('noon', 'UTC')") == "noon"
    monitored.close_and_check()


@pytest.mark.study
def test_empty_query_suggests_recent_queries(monitored):
    page = monitored.open("/promql")
    page.wait_for_selector(".promql-examples")
    page.fill("#promql-query", "1 + 1")
    page.click("#promql-run")
    page.wait_for_selector(".promql-said")
    page.fill("#promql-query", "")
    page.keyboard.press("Control+Space")
    page.wait_for_selector(".suggestion")
    assert page.inner_text(".suggestion").startswith("1 + 1")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.input_value("#promql-query") == "1 + 1"


@pytest.fixture(scope="module")
def completion_context(browser, address):
    """The completion context at the end of a text, as the page's script finds it."""
    monitored = MonitoredPage(browser, address)
    page = monitored.open("/promql")
    page.wait_for_function("() => window.throttlescope && throttlescope.promqlContext")
    yield lambda typed: page.evaluate("text => throttlescope.promqlContext(text, text.length)", typed)
    monitored.close_and_check()


@pytest.mark.parametrize(
    ("typed", "kind", "from_", "label"),
    [
        ("ra", "word", 0, None),
        ("rate(pul", "word", 5, None),
        ("x{", "label", 2, None),
        ('x{a="1", b', "label", 9, None),
        ('x{a="1", b=~"va', "value", 13, "b"),
        ("x{a=", "none", 4, None),
        ("sum by (to", "label", 8, None),
        ("x / on(a, ", "label", 10, None),
        ("x[5", "none", None, None),
        ('label_replace(x, "a', "none", None, None),
        ("x # co", "none", None, None),
        ('x{"utf8.name"="v', "value", 15, "utf8.name"),
        (r'x{a="\"", b="', "value", 13, "b"),
    ],
)
def test_completion_context_is_found_from_text(completion_context, typed, kind, from_, label):
    found = completion_context(typed)
    assert found["kind"] == kind
    if from_ is not None:
        assert found["from"] == from_
    assert found.get("label") == label


#: Seconds each, one after the other: minutes on any machine, and more than an answer is awaited.
ENDLESS = " + ".join(f"sum(quantile_over_time(0.{n}, {BACKLOG}[2h:1s]))" for n in range(30, 80))


@pytest.mark.study
def test_cancelled_query_stops_on_server(monitored):
    page = monitored.open(f"/promql?{RANGE}&tab=graph&step=1s")
    page.wait_for_selector(".promql-examples")
    page.fill("#promql-query", ENDLESS)
    page.click("#promql-run")
    page.wait_for_selector(".cancel-button:visible")
    assert re.fullmatch(r"running, \d+ s", page.inner_text(".running-words"))
    page.click(".cancel-button")
    page.wait_for_selector("#notice:has-text('Cancelled')")
    page.wait_for_selector(".cancel-button", state="hidden")
    # One query runs at once here: the next one is answered because the place is free again.
    page.fill("#promql-query", "1 + 1")
    page.click("#promql-run")
    page.wait_for_selector(".promql-said")


@pytest.mark.study
def test_leaving_the_page_ends_its_query(monitored):
    page = monitored.open(f"/promql?query={quote(ENDLESS)}&{RANGE}&tab=graph&step=1s")
    page.wait_for_selector(".cancel-button:visible")
    page.click(".shell-header .shell-link:has-text('Overview')")
    page.wait_for_selector("#overview-content .card")
    monitored.go("/promql?query=1")
    page.wait_for_selector(".promql-said")


@pytest.mark.study
def test_text_typed_while_loading_stays(monitored):
    page = monitored.page
    pending = []
    page.route(
        "**/_dash-update-component*",
        lambda route: (
            pending.append(route) if "promql-content" in route.request.post_data else route.continue_()
        ),
    )
    monitored.open("/promql?query=1")
    page.fill("#promql-query", "2 + 2")
    page.wait_for_function("() => document.querySelector('.cancel-button:not([hidden])')")
    pending.pop().continue_()
    page.wait_for_selector(".promql-said")
    page.wait_for_function("() => document.getElementById('promql-to').value")
    assert page.input_value("#promql-query") == "2 + 2"


@pytest.mark.study
def test_listed_rule_is_previewed_and_edited(monitored):
    page = monitored.open("/alerts")
    page.click("text=PulsarBacklogGrowsUnexplained")
    page.wait_for_selector("#alerts-answer")
    page.wait_for_function("() => document.getElementById('alerts-size').textContent.includes('moments')")
    page.click("text=change a copy of it")
    page.wait_for_selector("#alerts-yaml:visible")
    page.wait_for_function(
        "() => document.getElementById('alerts-yaml').value.includes('PulsarBacklogGrowsUnexplained')"
    )
    page.fill("#alerts-yaml", LARGE)
    page.click("#alerts-run")
    page.wait_for_selector("#alerts-answer:has-text('It would have fired')")
    assert query_of(page)["yaml"] == [LARGE]
    assert "Large" in page.inner_text(".alerts-name")
    page.click(".alerts-table a:has-text('billing')")
    page.wait_for_selector("#answer")
    assert query_of(page)["subscription"] == ["billing"]
    page.go_back()
    page.wait_for_selector("#alerts-answer:has-text('It would have fired')")
    page.wait_for_function("() => document.getElementById('alerts-yaml').value.includes('Large')")
    with page.expect_download() as download:
        page.click("text=throttlescope.live.rules.yml")
    assert download.value.suggested_filename == "throttlescope.live.rules.yml"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "path",
    [
        f"/promql?query={BACKLOG}&{RANGE}",
        f"/promql?query={BACKLOG}&{RANGE}&tab=graph",
        f"/promql?query={BACKLOG}&{RANGE}&tab=explain",
        f"/alerts?yaml={quote(LARGE)}&{RANGE}",
    ],
)
def test_results_are_accessible_and_fit_phone(monitored, path):
    page = monitored.open(path)
    page.wait_for_selector(".promql-limits")
    for scheme, width, height in (("light", 1440, 900), ("dark", 390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        page.wait_for_selector(f"html[data-mantine-color-scheme={scheme}]")
        is_settled(page)
        # The frame around every page has its own test.
        assert axe_findings(page, "#page") == []
        assert fits(page)


@pytest.mark.study
def test_unreadable_rule_is_explained(monitored):
    page = monitored.open(
        "/alerts?yaml=groups%3A%0A-%20name%3A%20g%0A%20%20rules%3A%0A%20%20-%20alert%3A%20A%0A%20%20%20%20expr%3A%20sum(&"
        + RANGE
    )
    page.wait_for_selector(".explain")
    assert "the rule, line 5" in page.inner_text("#alerts-content")
