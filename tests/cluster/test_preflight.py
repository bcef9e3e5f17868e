"""Preflight finds everything that is wrong with a run's clients and leaves nothing behind; a run can skip bad clients."""
import json
import os
import subprocess
import time

import preloaded
import program
import pytest

CHECK_WAIT = ("--share-wait", "0.3")


class Cluster:
    """Workers in mount namespaces of their own, so that they see different storage at one path, as clients do."""

    def __init__(self, directory):
        self.path = directory / "mnt"
        self.socket = directory / "coordinator.sock"
        self.path.mkdir()
        self.out = directory / "out"

    def worker(self, setup="true", options=""):
        """A worker that has run `setup` in its own mount namespace."""
        join = f"{program.BINARY} worker --join unix:{self.socket} --root / --join-timeout 30 {options}"
        return ("unshare", "-m", "--propagation", "private", "sh", "-c", f"{setup} && exec {join}")

    def on_own_disk(self, directory):
        directory.mkdir()
        return self.worker(f"mount --bind {directory} {self.path}")

    def command(self, command, workers, *options):
        words = [command, "--listen", f"unix:{self.socket}", "--workers", str(len(workers)), "--path", str(self.path),
                 *options]
        if command == "run":
            words += ["--out", str(self.out)]
        with program.Running([program.BINARY, *words], self.out, self.path, program.clean_environment(), workers) as running:
            return running.wait()

    def left(self):
        return sorted(os.listdir(self.path))


@pytest.fixture
def cluster(tmp_path):
    if os.geteuid() != 0:
        pytest.fail("needs root, for mount namespaces")
    return Cluster(tmp_path)


def findings(outcome):
    return json.loads(outcome.stdout)["findings"]


def faults(outcome):
    return [each for each in findings(outcome) if each["severity"] == "fault"]


def test_clients_that_are_fine_have_no_faults_and_keep_no_files(cluster):
    outcome = cluster.command("preflight", [cluster.worker()] * 3).expect(0)
    assert "3 workers: no faults" in outcome.stdout
    assert cluster.left() == []


def test_all_faults_are_in_one_table(cluster, tmp_path):
    workers = [cluster.worker(), cluster.worker(), cluster.on_own_disk(tmp_path / "own"),
               cluster.worker(f"mount --bind -o ro {cluster.path} {cluster.path}"), cluster.worker("ulimit -n 70"),
               cluster.worker(options="--max-lanes 1")]
    options = ("-i", "0", "-t", "20", "-s", "64k", "-r", "64k", *CHECK_WAIT)
    outcome = cluster.command("preflight", workers, *options, "--format", "json").expect(1)
    assert json.loads(outcome.stdout)["ok"] is False
    assert json.loads(outcome.stdout)["workers"] == 6
    found = {(each["check"], len(each["workers"])) for each in faults(outcome)}
    assert found == {("storage", 1), ("path", 1), ("limits", 1)}, outcome
    problems = " ".join(each["problem"] for each in faults(outcome))
    assert "is other storage than" in problems and "read-only" in problems and "70 files open" in problems
    assert "at most 1 lanes" in problems
    assert all(each["advice"] or ":" in each["problem"] for each in faults(outcome))
    assert cluster.left() == [] and os.listdir(tmp_path / "own") == []

    text = cluster.command("preflight", workers, *options).expect(1).stdout
    assert text.count("fault  ") == len(faults(outcome))
    refused = cluster.command("run", workers, *options).expect(1)
    assert "listed above" in refused.stderr and refused.stderr.count("fault  ") == len(faults(outcome))
    assert cluster.left() == [] and not cluster.out.exists()


def test_one_fault_is_told_on_one_line(cluster, tmp_path):
    workers = [cluster.worker(), cluster.worker(), cluster.on_own_disk(tmp_path / "own")]
    refused = cluster.command("run", workers, "-i", "0", "-s", "64k", *CHECK_WAIT).expect(1)
    assert "is other storage than" in refused.stderr and "fault  " not in refused.stderr
    assert "--force" in refused.stderr and "--skip-bad" not in refused.stderr, "all workers are on one client"


def test_storage_is_the_same_by_content_whatever_it_is_called(cluster, tmp_path):
    """Two mounts of one directory: another device for one of them, but the files are the same."""
    upper, work = tmp_path / "upper", tmp_path / "work"
    for directory in (upper, work):
        directory.mkdir()
    outcome = cluster.command("preflight", [cluster.worker(), cluster.worker(f"mount --bind {cluster.path} {work} && "
                                                                           f"mount --bind {work} {cluster.path}")])
    outcome.expect(0)


def test_with_force_a_run_adds_up_different_storage(cluster, tmp_path):
    workers = [cluster.worker(), cluster.on_own_disk(tmp_path / "own")]
    outcome = cluster.command("run", workers, "-i", "0", "-s", "64k", "-r", "64k", "--force", *CHECK_WAIT).expect(0)
    assert outcome.phase("write")["bytes"] == 2 * 64 * 1024
    assert "not_shared" in {mark["code"] for mark in outcome.phase("write")["marks"]}
    assert cluster.left() == [] and os.listdir(tmp_path / "own") == []


def test_a_single_worker_compares_its_storage_with_nobody(cluster):
    outcome = program.plain("preflight", cluster.path).expect(0)
    assert "same storage: there is only one worker" in outcome.stdout
    assert cluster.left() == []


def test_a_client_of_one_machine_is_left_out_with_all_its_workers(cluster, tmp_path):
    """All workers of these tests are on one client, so no client is left."""
    workers = [cluster.worker(), cluster.on_own_disk(tmp_path / "own")]
    refused = cluster.command("run", workers, "-i", "0", "-s", "64k", "--skip-bad", *CHECK_WAIT).expect(1)
    assert "is other storage than" in refused.stderr


def test_skip_bad_goes_on_without_workers_that_do_not_come(cluster):
    workers = [cluster.worker(), cluster.worker(), ("false",)]
    late = ("--join-timeout", "5")
    missing = cluster.command("preflight", workers, *late, "--format", "json").expect(1)
    assert [each["check"] for each in faults(missing)] == ["join"]
    outcome = cluster.command("run", workers, "-i", "0", "-s", "64k", "-r", "64k", "--skip-bad", *late).expect(0)
    assert "left out" in outcome.stdout and "2 of 3 workers have joined" in " ".join(outcome.stdout.split())
    run = outcome.result["run"]
    assert run["worker_count"] == 2 and run["left_out"][0]["worker_count"] == 0
    assert outcome.phase("write")["bytes"] == 2 * 64 * 1024


def test_hosts_that_cannot_be_reached_are_in_the_table_and_can_be_left_out(tmp_path):
    shell, path = tmp_path / "shell", tmp_path / "path"
    path.mkdir()
    shell.write_text('#!/bin/sh\n[ "$1" = bad ] && { echo "no route to host"; exit 255; }\nexec sh -c "$2"\n')
    shell.chmod(0o755)
    where = ("--hosts", "good,bad", "--launcher", f"{shell} {{host}} {{command}}", "--listen", "127.0.0.1:0",
             "--path", path, "-i", "0", "-s", "64k", "-r", "64k")
    outcome = program.plain("preflight", *where, "--format", "json").expect(1)
    (fault,) = faults(outcome)
    assert fault["client"] == "bad" and fault["check"] == "join" and "no route to host" in fault["problem"]
    assert json.loads(outcome.stdout)["clients"] == 2
    program.plain("run", *where, "--out", tmp_path / "refused").expect(3)
    program.plain("run", *where, "--out", tmp_path / "out", "--skip-bad").expect(0)
    run = json.loads((tmp_path / "out" / "result.json").read_text())["run"]
    assert run["worker_count"] == 1 and [each["client"] for each in run["left_out"]] == ["bad"]
    assert run["exit_code"] == 0 and os.listdir(path) == []


def test_an_interrupted_preflight_leaves_no_files(cluster, tmp_path):
    """The interrupt comes while preflight waits for a file that will never appear."""
    own = tmp_path / "own"
    workers = [cluster.worker(), cluster.on_own_disk(own)]
    words = ["preflight", "--listen", f"unix:{cluster.socket}", "--workers", "2", "--path", str(cluster.path),
             "--share-wait", "60"]

    def left():
        # The worker that joined first writes the file, and this may be either.
        return cluster.left() + os.listdir(own)

    with program.Running([program.BINARY, *words], cluster.out, cluster.path, program.clean_environment(), workers) as running:
        running.wait_until(left, "a check file is there")
        running.interrupt()
        running.wait().expect(130)
        # Workers end after the coordinator, and on a busy machine some time after it.
        deadline = time.monotonic() + program.PATIENCE_S
        while left() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert left() == []


@pytest.mark.mpi
def test_ranks_are_checked_too(tmp_path):
    done = subprocess.run([*program.mpirun(2), program.BINARY, "preflight", str(tmp_path)], capture_output=True,
                          text=True, timeout=program.PATIENCE_S, env=program.clean_environment(), check=False)
    assert done.returncode == 0 and "2 workers: no faults" in done.stdout, done
    assert os.listdir(tmp_path) == []


def test_a_bounded_run_skips_what_has_not_begun(tmp_path):
    outcome = program.run(["-i", "0", "-i", "1", "-i", "2", "-+n", "-t", "1", "-s", "64k", "-r", "64k", "--time", "1",
                           "--max-duration", "1.5"], path=tmp_path, out=tmp_path / "out").expect(0)
    run = outcome.result["run"]
    assert run["skipped_phases"] and "write" not in run["skipped_phases"]
    assert len(outcome.phases) + len(run["skipped_phases"]) == len(run["plan"]["phases"])
    assert all(phase["duration_s"] < 1.6 for phase in outcome.phases)
    for name in run["skipped_phases"]:
        assert name in outcome.stdout.split("--max-duration")[-1]
    again = program.plain("report", tmp_path / "out").expect(0)
    assert "did not begin" in " ".join(again.stdout.split())


def test_a_dry_run_estimates_the_time(tmp_path):
    timed = program.plain("--dry-run", tmp_path, "-i", "0", "-+n", "-s", "1m", "--time", "10", "--repeat", "7").expect(0)
    assert "1 min 10 s in 7 phases" in timed.stdout and "with a time limit" in timed.stdout
    sized = program.plain("--dry-run", tmp_path, "-i", "0", "-+n", "-t", "1", "-s", "2m").expect(0)
    assert "1 phase by size, which moves 2 MiB in all" in sized.stdout and "1 GiB/s" in sized.stdout
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("options, words", [
    (("--skip-bad",), "--skip-bad is about several workers"),
    (("--share-wait", "1"), "--share-wait is about several workers"),
    (("--max-duration", "0"), "--max-duration"),
])
def test_options_without_an_effect_are_refused(tmp_path, options, words):
    assert words in program.plain("run", tmp_path, "-i", "0", "-s", "64k", *options).expect(1).stderr


# ------------------------------------------------------------------------------------------ space, inodes, users


def test_too_few_inodes_are_refused_before_anything_is_made(cluster):
    prefix = ("unshare", "-m", "--propagation", "private", "sh", "-c",
              'mount -t tmpfs -o nr_inodes=200 none "$0" && "$@"; code=$?; ls -A "$0" >&2; exit $code', str(cluster.path))
    outcome = program.run(["--op", "create", "--items", "1000", "-t", "1"], path=cluster.path, out=cluster.out, prefix=prefix).expect(1)
    assert "need at least 1,000 inodes, but only" in outcome.stderr and "smaller --items" in outcome.stderr, outcome
    assert program.DATA_DIRECTORY not in outcome.stderr.splitlines()[-1]
    program.run(["--op", "create", "--items", "100", "-t", "1"], path=cluster.path, out=cluster.out, prefix=prefix).expect(0)


SIZES = """
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <string.h>
static int tell(struct statvfs* told) {
  memset(told, 0, sizeof *told);
  told->f_bsize = told->f_frsize = 4096;
  told->f_blocks = told->f_bfree = told->f_bavail = told->f_files = told->f_ffree = told->f_favail =
      strtoull(getenv("TOLD_BLOCKS"), NULL, 10);
  return 0;
}
int fstatvfs(int fd, struct statvfs* told) { return tell(told); }
int fstatvfs64(int fd, void* told) { return tell(told); }
"""


@pytest.mark.unsanitized  # a library before the sanitizer's
@pytest.mark.parametrize("blocks", [0, 1 << 63, (1 << 64) - 1])
def test_a_file_system_that_does_not_tell_its_size_is_not_full(blocks, tmp_path):
    (tmp_path / "sizes.c").write_text(SIZES)
    shim = preloaded.build(tmp_path / "sizes.c", tmp_path)
    env = program.clean_environment(LD_PRELOAD=str(shim), TOLD_BLOCKS=str(blocks))
    path, out = tmp_path / "mnt", tmp_path / "out"
    path.mkdir()
    dry = program.plain("-i", "0", "-s", "64k", "-r", "4k", "--path", path, "--dry-run", env=env).expect(0)
    assert "an unknown amount free" in dry.stdout, dry
    program.run(["-i", "0", "-s", "64k", "-r", "4k", "-t", "1"], path=path, out=out, env=env).expect(0)


def test_workers_that_may_not_write_each_others_files_are_a_fault(cluster, reachable_program):
    """The first worker to join makes the data directory, and the other could not create a file in it. Neither is root, so
    that it does not matter which is first."""
    directory = subprocess.run(["mktemp", "-d", "/var/tmp/iobench-users-XXXXXX"], check=True, capture_output=True,
                               text=True).stdout.strip()
    os.chmod(directory, 0o1777)
    try:
        address = f"127.0.0.1:{program.free_port()}"
        join = (str(reachable_program), "worker", "--join", address, "--root", directory)
        words = ["preflight", "--listen", address, "--workers", "2", "--path", directory, "--format", "json"]
        with program.Running([program.BINARY, *words], cluster.out, directory, program.clean_environment(),
                             [(*join, "--user", user) for user in ("daemon", "nobody")]) as running:
            outcome = running.wait().expect(1)
        (fault,) = faults(outcome)
        assert fault["check"] == "storage" and "what another worker has made" in fault["problem"], outcome
        assert os.listdir(directory) == []
    finally:
        subprocess.run(["rm", "-rf", directory], check=True)
