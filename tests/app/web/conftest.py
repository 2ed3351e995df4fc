"""What the web app's tests share: one sample lake per run, and readers on it."""

from __future__ import annotations

import pytest

from tests.app.web.browser import MonitoredPage, new_context, running_chromium, running_server
from tests.app.web.sample_lake import write_sample_lake
from throttlescope.app.web.data.reader import LakeReader


@pytest.fixture(scope="session")
def sample_lake(tmp_path_factory) -> str:
    """A lake with every shape that the pages must show; tests must not write to it."""
    return write_sample_lake(tmp_path_factory.mktemp("web") / "lake").root


@pytest.fixture
def reader(sample_lake) -> LakeReader:
    return LakeReader(sample_lake)


@pytest.fixture(scope="session")
def sample_address(sample_lake):
    """Where the app runs, on the sample lake; every page may ask it, none can change it."""
    with running_server(sample_lake) as address:
        yield address


@pytest.fixture(scope="module")
def address(sample_address):
    """Where the app runs; a module with a lake of its own says another."""
    return sample_address


# Of a module: Playwright has one at a time in a process, and other modules start their own.
@pytest.fixture(scope="module")
def browser():
    """A real Chromium."""
    with running_chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def context(browser):
    """What the pages of a module share: scripts are loaded once."""
    context = new_context(browser)
    yield context
    context.close()


@pytest.fixture
def monitored(browser, context, address):
    """A page that must report no error and send requests to this machine only."""
    monitored = MonitoredPage(browser, address, context=context)
    yield monitored
    monitored.close_and_check()
    context.clear_cookies()
