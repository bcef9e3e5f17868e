"""Runs every case of the matrix, several at a time, before the first test looks at its outcome."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import preloaded  # noqa: E402
import program  # noqa: E402


def pytest_configure(config):
    program.require_binary()


@pytest.fixture
def path(tmp_path):
    (tmp_path / "target").mkdir()
    return tmp_path / "target"


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture(scope="session")
def shim(tmp_path_factory):
    """The library that makes a worker's storage calls fail, hang or slow down."""
    return preloaded.build(pathlib.Path(__file__).with_name("fault_shim.c"), tmp_path_factory.mktemp("shim"))
