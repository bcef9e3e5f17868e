"""Runs of thousands of phases use bounded memory, and a run that is killed leaves whole results."""
import json
import pathlib
import re
import signal

import program
import pytest

MANY_PHASES = ("-i", "0", "-+n", "--engine", "null", "-r", "4k", "-s", "4k", "-t", "1", "--repeat", "10000")
# It prints more than a pipe holds, so its output is discarded.
QUIET = ("sh", "-c", 'exec "$0" "$@" >/dev/null')


def raw_phases(out):
    return sorted((out / "raw").glob("phase-*.pb"))


def there(out, index):
    return (out / "raw" / f"phase-{index:03d}.pb").exists


def test_a_killed_run_leaves_whole_results_of_what_was_measured(path, out):
    with program.start(MANY_PHASES, path=path, out=out, prefix=QUIET) as running:
        running.wait_until(there(out, 300), "300 phases")
        seen = json.loads((out / "result.json").read_text())
        assert not seen["run"]["finished"]
        running.process.send_signal(signal.SIGKILL)
        running.process.wait()
    saved = json.loads((out / "result.json").read_text())
    assert saved["schema"] == "cluster-iobench result 1" and not saved["run"]["finished"]
    count = len(raw_phases(out))
    assert 300 < count and 0 < len(saved["phases"]) <= count
    assert [phase["index"] for phase in saved["phases"]] == list(range(len(saved["phases"])))
    assert not [file.name for file in out.iterdir() if file.name.startswith("result.json.")]
    again = program.plain("report", out).expect(0)
    assert re.search(rf"^  write +{count:,} ", again.stdout, re.MULTILINE), "one row of all phases that were measured"
    assert "unfinished" in again.stdout


def peak_memory_kib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")))


@pytest.mark.unsanitized
def test_memory_does_not_grow_with_the_phases(path, out):
    # Each phase leaves a summary of 3 KiB; its whole report took 11 KiB here, and more with more lanes and clients.
    with program.start(MANY_PHASES, path=path, out=out, prefix=QUIET) as running:
        running.wait_until(there(out, 500), "500 phases")
        early_kib = peak_memory_kib(running.process.pid)
        running.wait_until(there(out, 2000), "2,000 phases")
        late_kib = peak_memory_kib(running.process.pid)
        running.interrupt()
        running.wait().expect(130)
    assert late_kib < early_kib + 9000, f"VmHWM {early_kib} KiB at 500 phases, {late_kib} KiB at 2,000"
