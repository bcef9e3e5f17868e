"""The `lab` fixture: one boot for the whole session.

Nothing here skips: a lab that cannot run fails the tests and names the reason.
"""

import os
import pathlib
import shutil
import signal
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import lab as nfs_lab  # noqa: E402

_session = {"failed": False, "log_dir": None, "boot_s": None}


def pytest_configure(config):
    def interrupt(*_):
        raise KeyboardInterrupt("SIGTERM")

    signal.signal(signal.SIGTERM, interrupt)  # so that a CI time limit, too, ends with a report


def pytest_runtest_logreport(report):
    _session["failed"] |= report.failed


def pytest_keyboard_interrupt(excinfo):
    _session["failed"] = True


def pytest_terminal_summary(terminalreporter):
    log_dir = _session["log_dir"]
    if _session["boot_s"] is not None:
        terminalreporter.write_line(f"lab: up in {_session['boot_s']:.1f} s")
    if log_dir is not None and _session["failed"]:
        terminalreporter.write_line(f"lab: consoles and commands with their output: {log_dir}")
    elif log_dir is not None:
        shutil.rmtree(log_dir, ignore_errors=True)


@pytest.fixture(scope="session")
def disk_mb():
    """Size of the server's disk, for modules to override. 0: it has no disk, and loses the exported files with its power."""
    return 0


@pytest.fixture(scope="session")
def lab(disk_mb):
    """A kernel NFS server and two clients: nfs_lab.NfsLab. Its log directory is created in $LAB_LOGS."""
    _session["log_dir"] = nfs_lab.new_log_directory(os.environ.get("LAB_LOGS"))
    with nfs_lab.NfsLab(_session["log_dir"], disk_mb=disk_mb) as running:
        _session["boot_s"] = running.boot_s
        yield running


@pytest.fixture(params=["4.2", "3"], ids=["nfs4.2", "nfs3"])
def version(request):
    """The NFS version under test; nfs_lab.MOUNT_POINTS has its mount point."""
    return request.param


@pytest.fixture
def directory_name(request):
    """The test's name, with a new one for each further attempt, since clients may remember the directory of an earlier one."""
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)
    attempt = getattr(request.node, "execution_count", 1)
    return name if attempt == 1 else f"{name}-{attempt}"


@pytest.fixture
def nfs_dir(lab, version, directory_name):
    """A new directory on the export, as all clients see it through NFS `version`."""
    lab.run(nfs_lab.SERVER, ["mkdir", f"{nfs_lab.EXPORT}/{directory_name}"])
    yield f"{nfs_lab.MOUNT_POINTS[version]}/{directory_name}"
    lab.run(nfs_lab.SERVER, ["rm", "-rf", f"{nfs_lab.EXPORT}/{directory_name}"])
