import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import program  # noqa: E402


def pytest_configure(config):
    if not program.BINARY or not pathlib.Path(program.BINARY).is_file():
        raise pytest.UsageError("set CLUSTER_IOBENCH to the built program, or use ctest")


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
