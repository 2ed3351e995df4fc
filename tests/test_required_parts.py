"""The rule of ``make test``: a test whose part can be installed may not be skipped, in any of the ways to skip."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SKIPS = {
    "in the test": "@pytest.mark.prometheus\ndef test_it():\n    pytest.skip('no binary')\n",
    "in a fixture": (
        "@pytest.fixture\ndef part():\n    pytest.skip('no binary')\n\n"
        "@pytest.mark.prometheus\ndef test_it(part):\n    pass\n"
    ),
    "by a mark": "@pytest.mark.prometheus\n@pytest.mark.skipif(True, reason='no binary')\ndef test_it():\n    pass\n",
    "as a whole file": "pytest.importorskip('a_package_that_nobody_has', reason='no binary')\n",
}


def run_pytest(folder, text, required):
    shutil.copy(Path(__file__).with_name("conftest.py"), folder / "conftest.py")
    (folder / "test_planted.py").write_text("import pytest\n\n" + text)
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:dash",
            "-p",
            "no:cacheprovider",
            "-W",
            "ignore",
            ".",
        ],
        cwd=folder,
        env={"THROTTLESCOPE_REQUIRE": required, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", SKIPS.values(), ids=SKIPS)
def test_a_skip_of_what_is_required_fails(tmp_path, text):
    done = run_pytest(tmp_path, text, "broker,prometheus")
    assert done.returncode in (1, 2), done.stdout
    assert "THROTTLESCOPE_REQUIRE" in done.stdout
    assert "no binary" in done.stdout


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", SKIPS.values(), ids=SKIPS)
def test_without_the_rule_it_is_a_skip(tmp_path, text):
    done = run_pytest(tmp_path, text, "")
    assert "1 skipped" in done.stdout
    assert done.returncode in (0, 5)  # 5: nothing but skipped files was collected


@pytest.mark.long
def test_other_markers_may_be_skipped(tmp_path):
    text = (
        "@pytest.mark.airflow\ndef test_other():\n    pytest.skip('x')\n\n"
        "@pytest.mark.prometheus\n@pytest.mark.xfail(strict=True)\ndef test_expected():\n    assert False\n\n"
        "@pytest.mark.prometheus\ndef test_good():\n    pass\n"
    )
    done = run_pytest(tmp_path, text, "prometheus")
    assert done.returncode == 0, done.stdout
    assert "1 passed, 1 skipped, 1 xfailed" in done.stdout
