"""Fixtures of whole runs: the directory that is measured, where results go, and a user other than root."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import program  # noqa: E402


def pytest_configure(config):
    program.require_binary()


@pytest.fixture
def path(tmp_path):
    """The directory that is measured. A file of somebody else's lies in it and must be there afterwards."""
    directory = tmp_path / "target"
    directory.mkdir()
    bystander = directory / "somebody-elses"
    bystander.write_text("not yours")
    yield directory
    assert bystander.read_text() == "not yours"
    strangers = {entry.name for entry in directory.iterdir()} - {bystander.name, program.DATA_DIRECTORY}
    assert not strangers, f"written outside the data directory: {strangers}"


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture(scope="session")
def reachable_program():
    """A copy of the program where every user can run it: a clone in /root, with mode 700, is closed to all but root."""
    with tempfile.TemporaryDirectory(prefix="iobench-program-", dir="/var/tmp") as directory:
        os.chmod(directory, 0o755)
        copy = shutil.copy(program.BINARY, directory)
        os.chmod(copy, 0o755)
        yield copy


@pytest.fixture
def nobody(monkeypatch, request):
    """The words before a command that run it as the user nobody, and meanwhile the program is a copy that nobody can run.

    As root, as in CI, that has to work, or the test fails; other users cannot become nobody, and skip.
    """
    if os.geteuid() != 0:
        pytest.skip("only root can run the program as another user")
    monkeypatch.setattr(program, "BINARY", request.getfixturevalue("reachable_program"))
    tried = subprocess.run([*program.NOBODY, program.BINARY, "--version"], capture_output=True, text=True, check=False)
    assert tried.returncode == 0, f"user nobody cannot run {program.BINARY}: {tried.stderr}"
    return program.NOBODY
