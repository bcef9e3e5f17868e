"""Every pytest file is in its folder's CMakeLists.txt, and one ctest entry runs each test of tests/cluster."""
import configparser
import json
import pathlib
import re

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]


def markers():
    config = configparser.ConfigParser()
    config.read(TESTS / "pytest.ini")
    return [line.split(":")[0] for line in config["pytest"]["markers"].split("\n") if line]


MARKERS = markers()


def entries():
    """(name, files, marker expression, words after it) of each iobench_pytest() in tests/cluster."""
    text = (TESTS / "cluster" / "CMakeLists.txt").read_text()
    unmarked = re.search(r'set\(unmarked "(.*?)"\)', text)[1]
    found = []
    for body in re.findall(r"iobench_pytest\((.*?)\)\n", text, re.S):
        name, files, expression, more = re.search(r"NAME (\S+)\s+FILES (.*?)\s+MARKERS (\S+)(.*)", body, re.S).groups()
        found.append((name, files.split(), unmarked if expression == "${unmarked}" else expression, more.split()))
    return found


ENTRIES = entries()


def markers_of_tests(file):
    """The sets of our markers that the tests of a file carry."""
    text = file.read_text()
    whole = set(re.findall(r"^pytestmark = pytest\.mark\.(\w+)$", text, re.M))
    single = set(re.findall(r"^@pytest\.mark\.(\w+)$", text, re.M)) & set(MARKERS)
    if "program.MPI" in text:
        single.add("mpi")
    return [whole, *(whole | {marker} for marker in sorted(single - whole))]


def chooses(expression, carried):
    return eval(expression, {"__builtins__": {}}, {marker: marker in carried for marker in MARKERS})


@pytest.mark.parametrize("folder", ["cluster", "faults", "lab", "structure"])
def test_every_file_is_named(folder):
    named = (TESTS / folder / "CMakeLists.txt").read_text()
    files = sorted(file.name for file in (TESTS / folder).glob("test_*.py"))
    assert files and [file for file in files if not re.search(rf"\b{re.escape(file)}\b", named)] == []


@pytest.mark.parametrize("file", sorted((TESTS / "cluster").glob("test_*.py")), ids=lambda file: file.name)
def test_every_test_is_in_one_entry(file):
    for carried in markers_of_tests(file):
        chosen = [name for name, files, expression, _ in ENTRIES if file.name in files and chooses(expression, carried)]
        assert len(chosen) == 1, f"tests marked {sorted(carried)} are run by {chosen}"


def test_what_runs_once_runs_under_the_sanitizer():
    """bootstrap.sh runs entries with ONCE only under the sanitizer's preset, which therefore must not exclude them."""
    presets = json.loads((TESTS.parent / "CMakePresets.json").read_text())["testPresets"]
    (asan,) = [preset for preset in presets if preset["name"] == "asan"]
    left_out = set(asan["filter"]["exclude"]["label"].split("|"))
    once = {name: words for name, _, _, words in ENTRIES if "ONCE" in words}
    assert once and [name for name, words in once.items() if left_out & set(words)] == []
