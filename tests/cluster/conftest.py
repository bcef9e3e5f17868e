"""Fixtures of whole runs: the directory that is measured, where results go, and a user other than root."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import joining  # noqa: E402
import preloaded  # noqa: E402
import program  # noqa: E402


def pytest_configure(config):
    program.require_binary()


@pytest.fixture
def path(tmp_path):
    """The directory that is measured. It holds a foreign file, which must still be there afterwards."""
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
def call_counter(tmp_path_factory):
    """A library to preload that counts data calls, notes what is written, and can lose writes."""
    return preloaded.build(pathlib.Path(__file__).with_name("call_counter.c"), tmp_path_factory.mktemp("counter"))


@pytest.fixture(scope="session")
def reachable_program():
    """A copy of the program that every user can run: only root can enter a clone in /root, which has mode 700."""
    with tempfile.TemporaryDirectory(prefix="iobench-program-", dir="/var/tmp") as directory:
        os.chmod(directory, 0o755)
        copy = shutil.copy(program.BINARY, directory)
        os.chmod(copy, 0o755)
        yield copy


@pytest.fixture
def nobody(monkeypatch, request):
    """The prefix that runs a command as the user nobody; meanwhile program.BINARY is a copy that this user can run.

    For root, as in CI, this must work, or the test fails. Other users cannot become nobody: the test is skipped.
    """
    if os.geteuid() != 0:
        pytest.skip("only root can run the program as another user")
    monkeypatch.setattr(program, "BINARY", request.getfixturevalue("reachable_program"))
    tried = subprocess.run([*program.NOBODY, program.BINARY, "--version"], capture_output=True, text=True, check=False)
    assert tried.returncode == 0, f"user nobody cannot run {program.BINARY}: {tried.stderr}"
    return program.NOBODY


@pytest.fixture
def cluster(tmp_path, path, out):
    """A coordinator and workers that join it, all of which end with the test."""
    made = joining.Cluster(tmp_path, path, out)
    with made.stack:
        yield made
