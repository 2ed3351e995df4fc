"""Pictures of the DAGs in Airflow's own pages. In: a folder. Out: ``airflow-graph.png`` and ``airflow-log.png`` of a real chain.

``python -m tests.airflow.pictures docs/images``
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from pathlib import Path

from tests.airflow.chain import run_chain, slow_source
from tests.airflow.own_airflow import COMMAND, airflow_in, feed, prepare, smallest_recording
from tests.airflow.standalone import running_standalone
from tests.lab.prometheus import running_prometheus
from throttlescope.ingest.core.times import block_start
from throttlescope.ingest.lake import Lake

_SIZE = {"width": 1500, "height": 900}
_WAIT_MS = 120_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    with (
        tempfile.TemporaryDirectory(prefix="throttlescope-airflow-") as scratch,
        running_prometheus() as server,
    ):
        folder = Path(scratch)
        feed(server.url, smallest_recording(), block_start(int(time.time() * 1000)))
        airflow = airflow_in(folder / "home")
        airflow.home.mkdir()
        prepare(airflow)
        airflow.environment["PATH"] = f"{COMMAND.parent}:{airflow.environment['PATH']}"
        lake = Lake(folder / "lake")
        with (
            slow_source(server.url, lake) as slow,
            running_standalone(
                airflow,
                THROTTLESCOPE_LAKE=lake.root,
                THROTTLESCOPE_PROMETHEUS=slow.url,
                # By its name alone: the picture is of a log, and not of this machine's folders.
                THROTTLESCOPE_COMMAND="throttlescope",
            ) as api,
        ):
            chain = run_chain(api, slow)
            first, second = chain.ingested, chain.diagnosed
            for run in (first, second):
                tries = {name: task["try_number"] for name, task in api.tasks(run).items()}
                print(run["dag_run_id"], run["run_type"], run["state"], tries, flush=True)
            print(lake.read("verdicts").num_rows, "verdicts", flush=True)
            take(api.url, first, out)


def take(url: str, run: dict, out: Path) -> None:
    """Look at the graph of a run, and at the log of its task ``ingest``."""
    from playwright.sync_api import sync_playwright

    out.mkdir(parents=True, exist_ok=True)
    of_run = f"{url}/dags/{run['dag_id']}/runs/{run['dag_run_id']}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        page = browser.new_page(viewport=_SIZE)
        page.set_default_timeout(_WAIT_MS)
        page.goto(f"{url}/auth/token/login")
        page.goto(of_run)
        page.get_by_text("source_is_fresh").first.wait_for()
        graph = page.get_by_label("Graph").or_(page.get_by_title("Graph"))
        if graph.count():
            graph.first.click()
        page.wait_for_timeout(10_000)
        page.screenshot(path=out / "airflow-graph.png")
        page.goto(f"{of_run}/tasks/ingest")
        line = page.get_by_text(re.compile(r"\[\d/\d\] "))
        line.first.wait_for()
        # Airflow's key for the log alone.
        page.keyboard.press("f")
        page.wait_for_timeout(10_000)
        # The summary is at the end.
        page.keyboard.press("End")
        # Opening it puts the focus on the first try, whose tooltip lies over the log.
        page.evaluate("document.activeElement.blur()")
        page.mouse.move(_SIZE["width"] / 2, _SIZE["height"] - 50)
        page.wait_for_timeout(10_000)
        page.screenshot(path=out / "airflow-log.png")
        browser.close()


if __name__ == "__main__":
    main()
