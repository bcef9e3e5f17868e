"""A test that fails is run again with measurements of its own, and no fixture loses its end."""
import pathlib
import shutil
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
# `measured` is good at the second measurement. Each fixture and test says what it does.
MODULE = """
import pathlib
import pytest
import reruns

SAID = pathlib.Path(__file__).with_name("said")


def say(text):
    with SAID.open("a") as said:
        print(text, file=said)


@pytest.fixture(scope="module")
def server():
    say("server begins")
    yield
    say("server ends")


@pytest.fixture(scope="module")
@reruns.measures
def measured():
    say("measured")
    return SAID.read_text().count("measured")


@pytest.fixture(scope="module")
def derived(measured):
    return 10 * measured


@pytest.fixture(scope="module")
def costly():
    say("costly")


def test_that_uses_the_server(server, costly):
    say("first")


def test_of_the_measurement(measured, costly):
    assert measured >= GOOD


def test_of_what_follows_from_it(derived, measured):
    say(f"derived {derived} from {measured}")


def test_at_the_end():
    say("last")
"""


def run(place, good):
    """(exit code, what was said, what pytest printed) of a session in which measurement number `good` is the first good one."""
    (place / "support").mkdir()
    shutil.copy(TESTS / "conftest.py", place)
    for name in ("reruns.py", "waits.py"):
        shutil.copy(TESTS / "support" / name, place / "support")
    (place / "test_it.py").write_text(MODULE.replace("GOOD", str(good)))
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", place, "--reruns", "2",
                           place / "test_it.py"], cwd=place, capture_output=True, text=True, timeout=120, check=False)
    assert (place / "said").exists(), done.stdout + done.stderr
    return done.returncode, (place / "said").read_text().splitlines(), done.stdout


def test_a_rerun_measures_again_once_and_ends_every_fixture(tmp_path):
    code, said, _ = run(tmp_path, good=2)
    assert said == ["server begins", "costly", "first", "measured", "measured", "derived 20 from 2", "last", "server ends"]
    assert code == 0


def test_each_attempt_of_a_test_that_fails_for_good_measures_once(tmp_path):
    code, said, printed = run(tmp_path, good=9)
    assert said.count("measured") == 3 and said.count("costly") == 1 and said[-1] == "server ends"
    assert code == 1 and printed.count("failed first: ") == 2, printed
