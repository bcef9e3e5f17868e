"""Fixtures for the tests of deploy/: the program, and a directory that it measures."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import program  # noqa: E402


def pytest_configure(config):
    program.require_binary()


@pytest.fixture
def path(tmp_path):
    """The directory that is measured."""
    directory = tmp_path / "target"
    directory.mkdir()
    return directory
