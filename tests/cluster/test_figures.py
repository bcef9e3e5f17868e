"""Figures that only a whole run can test count the right ops, lanes and file systems."""
import os
import pathlib
import subprocess

import program
import pytest
from report_checks import lanes_of


@pytest.mark.parametrize("engine", ["posix", "uring"])
def test_an_op_that_is_not_due_at_the_end_is_not_issued(engine, path, out):
    """At two ops per second for 1.25 s, ops are due at 0, 0.5 and 1 s; the fourth would be due at 1.5 s."""
    outcome = program.run(["-i", "1", "-+n", "-t", "2", "-r", "4k", "-s", "64k", "--engine", engine, "-+O", "2",
                           "--time", "1.25"], path=path, out=out).expect(0)
    phase = outcome.phase("read")
    for lane in lanes_of(phase):
        assert 1 <= lane["ops"] <= 3, lane
        assert lane["end_s"] >= 1.2, "it waited until the end, and that is its time"
    assert "pace_missed" not in {mark["code"] for mark in phase["marks"]}


def test_an_overlay_on_tmpfs_is_memory(tmp_path, out):
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
        (pytest.fail if os.geteuid() == 0 else pytest.skip)("needs a mount namespace")
    base = tmp_path / "base"
    base.mkdir()
    mounts = ('mount -t tmpfs none "$0" && cd "$0" && mkdir lower upper work merged && '
              'mount -t overlay overlay -o lowerdir="$0"/lower,upperdir="$0"/upper,workdir="$0"/work merged && '
              'exec "$@"')
    outcome = program.run(["-i", "0", "-+n", "-t", "1", "-r", "4k", "-s", "64k"], path=base / "merged", out=out,
                          prefix=["unshare", "--mount", "sh", "-c", mounts, str(base)]).expect(0)
    mark = next(mark for mark in outcome.phase("write")["marks"] if mark["code"] == "memory_fs")
    assert "merged (overlay)" in mark["text"]


PROTO = pathlib.Path(__file__).resolve().parents[2] / "proto"


def fields_of(path, message):
    """A raw file as (path of names, value) in the file's order, such as (("workers", "lanes", "ops"), "5")."""
    text = subprocess.run(["protoc", f"--decode=iobench.v1.{message}", "-I", str(PROTO), "iobench/v1/result.proto"],
                          stdin=path.open("rb"), capture_output=True, check=True).stdout.decode()
    names = []
    for line in text.splitlines():
        if line.endswith("{"):
            names.append(line.split()[0])
        elif line.strip() == "}":
            yield tuple(names), "}"
            names.pop()
        else:
            name, value = line.strip().split(": ", 1)
            yield (*names, name), value


@pytest.mark.parametrize("options", [["-i", "0", "-i", "2", "-r", "4k", "-s", "1m"],
                                     ["-i", "1", "-+n", "-r", "4k", "-s", "1m", "--time", "1", "--warmup", "0.3"],
                                     ["--op", "create,stat", "--items", "100"]], ids=["size", "warm-up", "names"])
def test_a_lane_has_each_measured_op_in_one_latency_slice(options, path, out):
    outcome = program.run([*options, "--spawn", "2", "-t", "2"], path=path, out=out).expect(0)
    for phase in outcome.result["phases"]:
        in_slices, measured, lanes, slices_ns = 0, 0, 0, []
        lane = ("workers", "lanes")
        for names, value in fields_of(out / "raw" / f"phase-{phase['index']:03d}.pb", "PhaseRecord"):
            if names == (*lane, "latency_slices", "counts"):
                in_slices += int(value)
            elif names == (*lane, "kinds", "ops"):
                measured += int(value)
            elif names == (*lane, "latency_slices", "slice_ns"):
                slices_ns.append(int(value))
            elif names == lane and value == "}":
                lanes += 1
                assert in_slices == measured > 0, phase["name"]
                in_slices = measured = 0
        assert lanes == len(slices_ns) == 4
        assert all(0.99e6 < slice_ns <= 2.1e6 * max(1000 * phase["duration_s"] / 64, 1) for slice_ns in slices_ns)
