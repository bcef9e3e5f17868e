"""A library that is preloaded between the program and glibc sees every data call, as tracers and file systems in user space
need it; without one, calls are made directly. What a library sees is counted by one that does nothing else."""
import collections

import pytest

import program

# A library before the sanitizer's.
pytestmark = pytest.mark.unsanitized


@pytest.fixture
def run(call_counter, tmp_path):
    """A function that runs the program with the library, and returns what the library has counted and the phases."""
    def of(*options, **extra):
        path, out, counts = tmp_path / "target", tmp_path / "out", tmp_path / "counts"
        path.mkdir()
        env = program.clean_environment(LD_PRELOAD=str(call_counter), CALL_COUNTS=str(counts), **extra)
        outcome = program.run(["-t", "2", *options], path=path, out=out, env=env)
        assert outcome.code == 0, outcome.stderr
        seen = collections.Counter()
        for line in counts.read_text().splitlines():
            name, number = line.split()
            seen[name] += int(number)
        return seen, outcome.phases, outcome.result
    return of


def about_calls(phase):
    return [step["outcome"] for step in phase["steps"] if step["name"] == "engine"]


RECORDS = 2 * 256 // 4
SHAPE = ("-r", "4k", "-s", "256k")


@pytest.mark.parametrize("operations, expected", [
    (("-i", "0", "-+n", "-i", "1"), {"write": RECORDS, "read": RECORDS}),
    (("--op", "write,random-read,random-write"), {"write": RECORDS, "pread": RECORDS, "pwrite": RECORDS}),
    (("--op", "write,pwritev,preadv"), {"write": RECORDS, "pwritev": RECORDS // 16, "preadv": RECORDS // 16}),
    (("--op", "write,random-read", "-+l", "-m"), {"write": RECORDS, "pread": RECORDS}),
], ids=["stream", "positional", "vectors", "locks"])
def test_a_preloaded_library_sees_every_data_call(run, operations, expected):
    seen, phases, result = run(*SHAPE, *operations)
    assert {name: seen[name] for name in expected} == expected
    assert seen["openat"] >= len(phases) * 2
    for phase in phases:
        assert about_calls(phase) == ["calls of the C library (preloaded: call_counter.so)"]
    assert [client["settings"]["preloaded"] for client in result["clients"]] == ["call_counter.so"]


def test_a_preloaded_library_sees_the_calls_on_items(run):
    seen, phases, _ = run("--op", "create,open-close,readdir", "--items", "20", "--file-bytes", "4k")
    assert seen["write"] == 2 * 20
    assert seen["read"] == 2 * 20
    assert seen["openat"] >= 2 * 20 * 2
    assert all(about_calls(phase) == ["calls of the C library (preloaded: call_counter.so)"] for phase in phases)


def test_libc_calls_are_made_on_request(run):
    seen, phases, _ = run(*SHAPE, "-i", "0", "-+n", "--libc-calls", COUNT_HIDDEN="1")
    assert seen["write"] == RECORDS
    assert about_calls(phases[0]) == ["calls of the C library"]


def test_without_a_preloaded_library_calls_are_direct(run):
    seen, phases, _ = run(*SHAPE, "-i", "0", "-+n", COUNT_HIDDEN="1")
    assert seen["write"] == 0 and phases[0]["ops"] == RECORDS
    assert about_calls(phases[0]) == []


def test_the_report_says_if_a_preloaded_library_sees_nothing(run):
    seen, phases, _ = run(*SHAPE, "-i", "0", "-+n", "--engine", "uring")
    assert seen["write"] == seen["pwrite"] == 0
    assert "no preloaded library sees it (preloaded: call_counter.so)" in about_calls(phases[0])[0]


def test_an_engine_without_such_calls_is_refused(tmp_path):
    outcome = program.plain("--path", str(tmp_path), "-i", "0", "--engine", "uring", "--libc-calls")
    assert outcome.code == 1
    assert "--libc-calls" in outcome.stderr and "uring" in outcome.stderr
