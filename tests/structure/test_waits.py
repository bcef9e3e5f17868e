"""A test that takes long is named, with where it waits, and what is said does not look like a failure."""
import os
import pathlib
import shutil
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
MODULE = """
import time


def test_quick():
    pass


def test_slow():
    time.sleep(1)
"""


def test_a_test_that_waits_is_named(tmp_path):
    (tmp_path / "support").mkdir()
    shutil.copy(TESTS / "conftest.py", tmp_path)
    for name in ("reruns.py", "waits.py"):
        shutil.copy(TESTS / "support" / name, tmp_path / "support")
    (tmp_path / "test_it.py").write_text(MODULE)
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path / "test_it.py"],
                          cwd=tmp_path, env=os.environ | {"IOBENCH_TEST_SAYS_WHERE_AFTER_S": "0.3"}, capture_output=True,
                          text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout
    said, _, stack = done.stderr.partition("(most recent call first):")
    assert "test_it.py::test_slow has run for 0.3 s. This is no failure" in said and "test_quick" not in done.stderr, done.stderr
    assert "in test_slow" in stack, done.stderr


def test_nothing_else_prints_stacks():
    assert "faulthandler_timeout" not in (TESTS / "pytest.ini").read_text(encoding="utf-8")
