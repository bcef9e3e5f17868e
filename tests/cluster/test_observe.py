"""observe: what it refuses, and what it computes from the counters of a mount, which a file provides."""
import signal
import subprocess
import threading
import time

import program
import pytest

MOUNT = "/mnt/home"


def mountstats(age_s, reads=0, stats=0, mount=MOUNT):
    """The statistics of one NFS mount: reads of 8 KiB that take 4 ms, and stats that take 1 ms."""
    return "\n".join([
        "device rootfs mounted on / with fstype rootfs", f"device filer:/home mounted on {mount} with fstype nfs4 statvers=1.1",
        f"\tage:\t{age_s}", f"\tbytes:\t{reads * 8192} 0 0 0 {reads * 8192} 0 0 0",
        "\txprt:\ttcp 800 1 1 0 0 10 10 0 10 0 2 0 0", "\txprt:\ttcp 801 1 1 0 0 10 10 0 10 0 2 0 0",
        "\tper-op statistics", f"\tREAD: {reads} {reads} 0 0 0 0 {3 * reads} {4 * reads} 0",
        f"\tGETATTR: {stats} {stats} 0 0 0 0 {stats} {stats} 0", "\tCOMMIT: 0 0 0 0 0 0 0 0 0", ""])


class Counting(threading.Thread):
    """Every 20 ms, or later on a busy machine, replaces a file of statistics with text_at(seconds since the start)."""

    def __init__(self, file, text_at):
        super().__init__(daemon=True)
        self.file, self.text_at, self.ended = file, text_at, threading.Event()
        self.begin = self.written = time.monotonic()
        self.longest_s = 0      # between two replacements: how old the file was at most
        self.write()

    def write(self):
        draft = self.file.with_suffix(".draft")
        draft.write_text(self.text_at(time.monotonic() - self.begin))
        draft.rename(self.file)
        before, self.written = self.written, time.monotonic()
        self.longest_s = max(self.longest_s, self.written - before)

    def run(self):
        while not self.ended.wait(0.02):
            self.write()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()


def steady(seconds):
    return mountstats(100 + int(seconds), reads=int(500 * seconds), stats=int(200 * seconds))


def observe(*args):
    return program.plain("observe", *args)


def test_rates_are_those_of_the_counters_and_the_file_is_a_mix_that_runs(path, out, tmp_path):
    counters, seen = tmp_path / "mountstats", tmp_path / "seen.yaml"
    with Counting(counters, steady) as counting:
        outcome = observe("--path", MOUNT + "/ann", "--mountstats", counters, "--for", "3s", "--interval", "1s", "--output", seen)
    assert outcome.code == 0, outcome.stderr
    assert f"observing {MOUNT} (filer:/home, nfs4) for 3 s" in outcome.stderr
    assert "READ" in outcome.stdout and "random-read" in outcome.stdout
    text = seen.read_text()
    assert "do not distinguish sequential from random" in text and "filer:/home" in text
    rerun = program.run(["--mix", seen, "--time", "2", "--spawn", "2", "-s", "1m", "--items", "100"], path=path, out=out).expect(0)
    parts = {part["operation"]: part for part in rerun.phases[0]["parts"]}
    share = 0.05 + counting.longest_s / 3
    assert parts["random-read"]["open_loop"]["asked_ops_per_s"] == pytest.approx(500, rel=share)
    assert parts["stat"]["open_loop"]["asked_ops_per_s"] == pytest.approx(200, rel=share)
    assert parts["random-read"]["record_bytes"] == 8192


def test_without_an_output_the_mix_is_all_that_standard_output_has(tmp_path):
    counters = tmp_path / "mountstats"
    with Counting(counters, steady):
        outcome = observe(MOUNT, "--mountstats", counters, "--for", "1s")
    assert outcome.code == 0
    assert outcome.stdout.startswith("# observed on ") and "operation: random-read" in outcome.stdout
    assert outcome.stdout.count(" per_s: [") == 10, "ten intervals, of a tenth each"
    assert "random-read" in outcome.stderr and "observed for 1 s" in outcome.stderr


def test_an_interrupt_ends_it_early_and_writes_what_was_seen(tmp_path):
    counters, seen = tmp_path / "mountstats", tmp_path / "seen.yaml"
    with Counting(counters, steady):
        command = [program.BINARY, "observe", "--path", MOUNT, "--mountstats", counters, "--for", "1h", "--interval", "0.5",
                   "--output", seen]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert "observing" in process.stderr.readline()
        time.sleep(1.2)  # time for observe to see something; the test does not wait for an event
        process.send_signal(signal.SIGINT)
        printed, complaints = process.communicate(timeout=20)
    assert process.returncode == 0, complaints
    assert "wrote" in printed and "operation: random-read" in seen.read_text()


def test_a_remount_and_a_time_without_mount_are_left_out(tmp_path):
    """Counters restart after 1 s and are gone from 2 s to 3 s: three of eight intervals of half a second cannot count."""
    def text_at(seconds):
        if 2 <= seconds < 3:
            return "device rootfs mounted on / with fstype rootfs\n"
        return mountstats(100 + int(seconds), reads=int(500 * seconds)) if seconds < 1 else \
            mountstats(int(seconds), reads=int(500 * (seconds - 1)))

    counters = tmp_path / "mountstats"
    with Counting(counters, text_at) as counting:
        outcome = observe("--path", MOUNT, "--mountstats", counters, "--for", "4s", "--interval", "0.5s")
    assert outcome.code == 0, outcome.stderr
    assert "is no longer mounted" in outcome.stderr and "is mounted again" in outcome.stderr
    assert "was remounted" in outcome.stderr
    lines = [line for line in outcome.stdout.splitlines() if "lost_intervals" in line]
    lost = int(lines[0].split()[-1])
    assert 3 <= lost < 8
    rate = [line for line in outcome.stdout.splitlines() if "ops_per_s:" in line]
    # The intervals that count are up to three stretches.
    assert float(rate[0].split()[-1]) == pytest.approx(500, rel=0.1 + 3 * counting.longest_s / (0.5 * (8 - lost)))


def test_files_of_several_clients_become_one(path, out, tmp_path):
    counters = tmp_path / "mountstats"
    files = [tmp_path / "one.yaml", tmp_path / "two.yaml"]
    with Counting(counters, steady) as counting:
        for file in files:
            assert observe("--path", MOUNT, "--mountstats", counters, "--for", "1s", "--output", file).code == 0
    merged = tmp_path / "all.yaml"
    assert observe("--merge", *files, "--output", merged).code == 0
    rerun = program.run(["--mix", merged, "--mix-factor", "0.5", "--time", "1", "--spawn", "4", "-s", "1m", "--items", "100"],
                        path=path, out=out).expect(0)
    assert rerun.phases[0]["open_loop"]["asked_ops_per_s"] == pytest.approx(700, rel=0.1 + counting.longest_s)
    assert len(rerun.phases[0]["parts"]) == 4


@pytest.mark.parametrize("arguments, message", [
    ([], "observe needs a directory"), (["--path", "/tmp"], "observe needs a time"),
    (["--path", "/tmp", "--for", "2s"], "/tmp is not on NFS"),
    (["--path", "/no/such/place", "--for", "2s"], "/no/such/place does not exist"),
    (["--path", "nfs://filer/home", "--for", "2s"], "give a directory where it is mounted"),
    (["--path", "/tmp", "--for", "soon"], "soon"), (["--path", "/tmp", "--for", "1s", "--interval", "2s"], "is longer than --for"),
    (["--path", "/tmp", "--for", "1000h", "--interval", "1s"], "use a longer --interval"),
    (["--path", "/tmp", "/var", "--for", "1s"], "only one directory"), (["home", "--for", "1s"], "home"),
    (["--merge", "a.yaml"], "give at least two"), (["--merge", "/no/a.yaml", "/no/b.yaml"], "/no/a.yaml"),
    (["--merge", "a.yaml", "b.yaml", "--for", "2s"], "--merge joins files"),
    (["--path", "/tmp", "--for", "1s", "--mountstats", "/no/such"], "cannot read /no/such"),
    (["--path", "/tmp", "--for", "1s", "--output", "/no/such/seen.yaml"], "/no/such")])
def test_bad_usage_is_one_line(arguments, message):
    begin = time.monotonic()
    outcome = observe(*arguments)
    assert outcome.code == 1 and message in outcome.stderr, outcome.stderr
    assert len(outcome.stderr.strip().splitlines()) == 1
    assert time.monotonic() - begin < program.PATIENCE_S / 2, "it did not begin to observe"


def test_an_idle_mount_a_missing_one_and_a_file_that_is_there_are_refused(tmp_path):
    counters, seen = tmp_path / "mountstats", tmp_path / "seen.yaml"
    counters.write_text(mountstats(100, reads=5))
    idle = observe("--path", MOUNT, "--mountstats", counters, "--for", "1s", "--output", seen)
    assert idle.code == 1 and "no request that can be replayed reached the server" in idle.stderr and not seen.exists()
    other = observe("--path", "/mnt/homes", "--mountstats", counters, "--for", "1s")
    assert other.code == 1 and f"NFS is mounted at {MOUNT}" in other.stderr
    seen.write_text("mine")
    for extra, code in (([], 1), (["--force"], 0)):
        with Counting(counters, steady):
            again = observe("--path", MOUNT, "--mountstats", counters, "--for", "1s", "--output", seen, *extra)
        assert again.code == code, again.stderr
        assert (seen.read_text() == "mine") == (code == 1)
