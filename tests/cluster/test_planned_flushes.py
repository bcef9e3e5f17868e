"""The latencies of flush calls are those that the calls take: a preloaded library gives each fdatasync a planned time, for this
program and for fio, whose `sync` percentiles are the reference."""
import json
import math
import pathlib
import subprocess

import pytest

import preloaded
import program

# A library before the sanitizer's.
pytestmark = pytest.mark.unsanitized

CALLS, STEPS = 2000, 1000
PERCENTS = {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "p99_9": 99.9}
# Ours are upper edges of buckets, of which there are 128 per octave; fio's are in the middle of one of 64. The rest is for
# calls that lose the processor between a program's clock and the library's.
WITHIN, CLOCK_US = 0.02, 2


def planned_ns():
    """From 100 us to 5 ms in equal ratios, mixed so that short and long ones alternate."""
    steps = [round(1e5 * 50 ** (i / (STEPS - 1))) for i in range(STEPS)]
    return [steps[i * 383 % STEPS] for i in range(STEPS)]


def percentile(values, percent):
    return sorted(values)[math.ceil(percent / 100 * len(values) - 1e-9) - 1]


@pytest.fixture
def planned(tmp_path):
    """A function that runs something whose fdatasync of certain files takes the planned times, and returns what they took."""
    library = preloaded.build(pathlib.Path(__file__).with_name("planned_flushes.c"), tmp_path)
    plan, taken = tmp_path / "plan", tmp_path / "taken"
    plan.write_text("\n".join(map(str, planned_ns())))

    def of(files, start):
        taken.unlink(missing_ok=True)
        outcome = start(program.clean_environment(LD_PRELOAD=str(library), PLANNED_FILES=files, PLANNED_NS=str(plan), TAKEN_NS=str(taken)))
        return outcome, [int(line) for line in taken.read_text().splitlines()]
    return of


def test_percentiles_of_flush_calls_are_those_of_the_calls_and_of_fio(planned, path, out, tmp_path):
    outcome, took = planned("/lane-", lambda env: program.run(
        ["--op", "append-log", "-r", "4k", "-s", f"{4 * CALLS}k", "-t", "1"], path=path, out=out, env=env).expect(0))
    [phase] = outcome.phases
    ours = phase["by_kind"]["fdatasync"]["latency_us"]
    assert ours["count"] == phase["ops"] == len(took) == CALLS
    assert min(took) >= min(planned_ns())
    for name, percent in PERCENTS.items():
        true_us = percentile(took, percent) / 1e3
        assert true_us <= ours[name] <= true_us * (1 + WITHIN) + CLOCK_US, name
    assert ours["mean"] == pytest.approx(sum(took) / len(took) / 1e3, rel=WITHIN, abs=CLOCK_US)

    shown, took_fio = planned("planned.", lambda env: subprocess.run(
        ["fio", "--name=planned", "--thread", "--ioengine=psync", "--fallocate=none", "--rw=write", "--bs=4k", f"--size={4 * CALLS}k", "--fdatasync=1",
         f"--directory={tmp_path}", "--percentile_list=50:90:95:99:99.9", "--output-format=json"],
        env=env, check=True, capture_output=True, text=True, timeout=program.PATIENCE_S).stdout)
    [job] = json.loads(shown)["jobs"]
    theirs = job["sync"]["lat_ns"]
    assert abs(theirs["N"] - CALLS) <= 1 and abs(len(took_fio) - CALLS) <= 1
    for name, percent in PERCENTS.items():
        # What a busy machine adds differs from run to run, so each is compared with what its own calls took.
        of_fio = theirs["percentile"][f"{percent:.6f}"] / percentile(took_fio, percent)
        of_ours = ours[name] * 1e3 / percentile(took, percent)
        assert of_ours / of_fio == pytest.approx(1, abs=WITHIN), name
