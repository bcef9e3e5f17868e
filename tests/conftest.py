"""Makes reruns of failed tests (tests/CMakeLists.txt, --reruns) measure again, and reports the first failure of each. Says
where a test waits that takes long."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
import reruns  # noqa: E402
import waits  # noqa: E402

WATCH = pytest.StashKey()


def pytest_configure(config):
    config.stash[WATCH] = waits.Watch()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    item.config.stash[WATCH].begin(item.nodeid)
    yield
    item.config.stash[WATCH].end()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown(item):
    yield
    reruns.after_teardown(item)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    reruns.before_setup(item)


def pytest_terminal_summary(terminalreporter):
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.write_sep("_", f"failed first: {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)
        for name, text in report.sections:
            terminalreporter.write_sep("-", name)
            terminalreporter.write_line(text)
