"""Limits of control groups: what they withhold is reported, is to blame for the rate, and counts in sizes.

With real groups, v1 or v2, wherever this process may make some. tests/unit/cgroup_limits_test.cc reads layouts that this
machine does not have.
"""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import program
import pytest
from report_checks import check_schema

MIB = 2**20
READS = ("-i", "1", "-+n", "-r", "4k", "-s", "1m")


def own_group(controller):
    """The directory of this process's group for a controller, and whether it is of v2."""
    groups = {}
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        for name in controllers.split(","):
            groups[name] = group.rstrip("/")
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        fields, kind, source = line.partition(" - ")[0].split(), *line.partition(" - ")[2].split(" ", 1)
        is_v2 = kind == "cgroup2"
        if not is_v2 and (kind != "cgroup" or controller not in source.split()[-1].split(",")):
            continue
        directory = pathlib.Path(fields[4] + groups.get("" if is_v2 else controller, "/?"))
        if is_v2 and controller not in (directory / "cgroup.subtree_control").read_text().split():
            continue
        if directory.is_dir():
            return directory, is_v2
    pytest.skip(f"NOT TESTED with a real group: no cgroup hierarchy here has the controller {controller}")


@contextlib.contextmanager
def group(controller, **limits):
    """A new group with limits, given as v2_FILE or v1_FILE; yields a command that enters it and runs another."""
    parent, is_v2 = own_group(controller)
    directory = parent / f"cluster-iobench-test-{os.getpid()}"
    try:
        directory.mkdir()
        for name, value in limits.items():
            version, _, file = name.partition("_")
            if (version == "v2") == is_v2:
                (directory / file.replace("__", ".")).write_text(str(value))
    except OSError as error:
        with contextlib.suppress(OSError):
            directory.rmdir()
        pytest.skip(f"NOT TESTED with a real group: {directory}: {error}")
    try:
        yield ["sh", "-c", f'echo $$ > {directory}/cgroup.procs && exec "$@"', "sh"]
    finally:
        for _ in range(100):
            try:
                directory.rmdir()
                break
            except OSError:  # its processes have not ended yet
                time.sleep(0.05)


def codes(phase):
    """Without cpu_bound for what the hypervisor of the test machine gave to others, which is true when it appears."""
    return {mark["code"] for mark in phase["marks"] if "(steal)" not in mark["text"]}


def test_a_cpu_quota_is_named_as_the_limit_and_nobody_else_is(path, out):
    with group("cpu", v2_cpu__max="10000 100000", v1_cpu__cfs_quota_us=10000) as enter:
        outcome = program.run([*READS, "-t", "1", "--time", "2"], path=path, out=out, prefix=enter).expect(0)
    check_schema(outcome.result)
    phase, = outcome.phases
    client, = phase["clients"]
    cgroup = client["host_delta"]["cgroup"]
    assert cgroup["cpu_processors"] == pytest.approx(0.1)
    assert cgroup["throttled_s"] > 0.5, cgroup
    assert client["lanes_run_delay_s"] > 0.5 * client["lanes_wall_s"], client
    assert "cpu_quota" in codes(phase) and "cpu_bound" not in codes(phase), phase["marks"]
    assert phase["why"][0]["name"] == "cpu-quota", phase["why"]
    assert "0.1 processors" in phase["limited_by"]
    assert outcome.result["clients"][0]["cpu_quota_processors"] == pytest.approx(0.1)
    assert "cpu_quota" in outcome.stdout and "others" not in outcome.stdout, outcome


def test_a_limit_of_block_io_is_named_as_the_limit_and_nobody_else_is(out):
    directory = pathlib.Path("/var/tmp") / f"cluster-iobench-io-{os.getpid()}"
    directory.mkdir()
    try:
        device = directory.stat().st_dev
        disk = pathlib.Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").resolve()
        if not disk.exists():
            pytest.skip(f"NOT TESTED with a real group: {directory} is not on a block device")
        if (disk / "partition").exists():
            disk = disk.parent
        number = (disk / "dev").read_text().strip()
        with group("io" if pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists() else "blkio",
                   v2_io__max=f"{number} wbps={4 * MIB}",
                   v1_blkio__throttle__write_bps_device=f"{number} {4 * MIB}") as enter:
            outcome = program.run(["-i", "0", "-+n", "-I", "-r", "64k", "-s", "8m", "-t", "1", "--time", "3"],
                                  path=directory, out=out, prefix=enter).expect(0)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    check_schema(outcome.result)
    phase, = outcome.phases
    limit, = phase["clients"][0]["host_delta"]["cgroup"]["io_limits"]
    assert limit["writes"] and not limit["ops"] and limit["limit_per_s"] == 4 * MIB, limit
    assert phase["headline"]["bytes_per_s"] < 4.6 * MIB
    assert "io_limited" in codes(phase) and "cpu_bound" not in codes(phase), phase["marks"]
    assert phase["why"][0]["name"] == "io-limit", phase["why"]


def test_a_memory_limit_counts_instead_of_the_hosts_memory(path, out):
    with group("memory", v2_memory__max=512 * MIB, v1_memory__limit_in_bytes=512 * MIB) as enter:
        outcome = program.run(["-i", "1", "-+n", "--engine", "null", "-r", "1m", "-s", "2xram", "-t", "2", "--max-ops", "50"],
                              path=path, out=out, prefix=enter).expect(0)
        eaten = program.run(["-i", "1", "-+n", "--engine", "null", "-r", "4k", "-s", "1m", "--eat-memory", "50"],
                            path=path, out=out.parent / "eaten", prefix=enter).expect(0)
    client, = outcome.result["clients"]
    assert client["memory_bytes"] == 512 * MIB < client["host_memory_bytes"]
    assert outcome.result["run"]["plan"]["files"]["bytes_per_lane"] == 512 * MIB
    text = program.plain("report", out, "--verbose").stdout
    assert "512 MiB of" in text and "(cgroup limit)" in text, text
    steps = [step for step in eaten.phases[0]["steps"] if step["name"] == "eat-memory"]
    assert all("256 MiB of 512 MiB" in step["outcome"] for step in steps), steps


# Takes memory of its group until the kernel has killed the process of argv[1].
EATER = """import os, sys, time
taken = []
while os.path.exists("/proc/" + sys.argv[1]):
    taken.append(bytearray(b"x") * (1 << 20))
    time.sleep(0.002)
"""


def test_a_worker_that_was_killed_for_want_of_memory_is_called_that(path, out):
    words = ("-i", "0", "-+n", "--engine", "null", "-r", "4k", "-s", "1m", "--time", "600", "--spawn", "2", "--progress")
    # A process with the address sanitizer ends slowly: the kernel may kill the eater, too, before its memory is free.
    with group("memory", v2_memory__max=256 * MIB, v1_memory__limit_in_bytes=256 * MIB) as enter, \
            program.start(words, path=path, out=out, prefix=enter) as running:
        def workers():
            listed = subprocess.run(["pgrep", "-f", "^cluster-iobench worker --spawned", "-P", str(running.process.pid)],
                                    capture_output=True, text=True, check=False).stdout
            return listed.split()
        running.wait_until(lambda: len(workers()) == 2 and (out / "result.json").exists(), "the run begins")
        victim = pathlib.Path(f"/proc/{workers()[0]}")
        (victim / "oom_score_adj").write_text("1000")
        with subprocess.Popen([*enter, sys.executable, "-c", EATER, victim.name]):
            running.wait_until(lambda: len(workers()) == 1, "the kernel kills a worker")
        running.interrupt()
        outcome = running.wait()
    assert re.search(r"worker \d on \S+ is lost: .*; its process ended with signal 9 \(KILL\); the kernel killed "
                     r"(a process|2 processes) of its control group, whose memory of 256 MiB was used up .*: raise memory.max", outcome.stderr), outcome


def test_without_a_cgroup_file_system_nothing_is_zero(path, out):
    unmount = "awk '$0 ~ / - cgroup2? /{print $5}' /proc/self/mountinfo | sort -r | xargs -r umount -l 2>/dev/null; "
    prefix = ["unshare", "-m", "sh", "-c", unmount + 'exec "$@"', "sh"]
    if os.geteuid() != 0 or subprocess.run([*prefix, "true"], check=False).returncode != 0:
        pytest.skip("NOT TESTED: unmounting needs root")
    outcome = program.run([*READS, "-t", "1", "--max-ops", "1000"], path=path, out=out, prefix=prefix).expect(0)
    check_schema(outcome.result)
    assert "cgroup" not in outcome.phases[0]["clients"][0]["host_delta"]
    client, = outcome.result["clients"]
    assert "cpu_quota_processors" not in client
    assert client["memory_bytes"] == client["host_memory_bytes"]
    assert not codes(outcome.phases[0]) & {"cpu_quota", "io_limited"}
