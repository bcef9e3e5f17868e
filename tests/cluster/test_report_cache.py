"""raw/report.cache: reports of a large saved run are the same with and without the cached figures of an earlier report."""
import pathlib
import shutil
import subprocess

import program
import pytest

BIG_RUN = pathlib.Path(program.BINARY).parent / "tests" / "big_run"
FORMATS = [None, "json", "csv", "lanes-csv", "timeline-csv", "openmetrics", "hlog", "iozone", "markdown", "html"]


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A saved run whose raw data are just over the 16 MiB from which on a run has a cache."""
    directory = tmp_path_factory.mktemp("large")
    subprocess.run([BIG_RUN, directory, "60", "8", "8"], check=True)
    assert sum(file.stat().st_size for file in (directory / "raw").iterdir()) > 16 << 20
    return directory


@pytest.fixture
def saved(large, tmp_path):
    return pathlib.Path(shutil.copytree(large, tmp_path / "run"))


def cache_of(directory):
    return directory / "raw" / "report.cache"


def report(directory, name, expected_code=0):
    command = [program.BINARY, "report", directory, *(["--format", name] if name else ["--verbose"])]
    page = directory.parent / "page.html"
    if name == "html":
        command += ["--output", page, "--force"]
    outcome = subprocess.run(command, capture_output=True, check=False)
    assert outcome.returncode == expected_code, outcome.stderr.decode()
    written = page.read_bytes() if name == "html" and expected_code == 0 else outcome.stdout
    return written, outcome.stderr.decode()


def test_every_format_is_the_same_with_and_without_the_cache(saved):
    computed = {}
    for name in FORMATS:
        computed[name] = report(saved, name)
        assert cache_of(saved).exists()
        cache_of(saved).unlink()
    report(saved, "html")  # with charts
    for name in FORMATS:
        before = cache_of(saved).stat()
        assert report(saved, name) == computed[name], name
        assert cache_of(saved).stat().st_mtime_ns == before.st_mtime_ns, "it was computed again"


def test_a_damaged_raw_file_is_one_line_although_the_cache_has_its_phase(saved):
    report(saved, "csv")
    file = saved / "raw" / "phase-003.pb"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    text, errors = report(saved, "csv", expected_code=2)
    assert len(text.splitlines()) == 1 + 8  # the damaged one has a row that says so
    assert len(errors.splitlines()) == 1 and "phase-003.pb: damaged" in errors


def test_a_small_run_has_no_cache(tmp_path):
    subprocess.run([BIG_RUN, tmp_path / "run", "2", "2", "2"], check=True)
    report(tmp_path / "run", "json")
    assert not cache_of(tmp_path / "run").exists()
