"""Figures while a run lasts: --live on a terminal (tmux), --live-csv, and --live-metrics as Prometheus reads it."""
import contextlib
import csv
import json
import math
import os
import pathlib
import pty
import re
import shlex
import signal
import subprocess
import time
import urllib.error
import urllib.request

import program
import pytest
from prometheus_client.openmetrics import parser

RUN = "-i 0 -i 1 -r 64k -s 8m -t 2".split()


def rows_of(file):
    with open(file, newline="", encoding="utf-8") as text:
        return list(csv.DictReader(text))


def check_csv(rows, result):
    """The rates of each client, and of the cluster, times their intervals add up to what the report says."""
    for phase in result["phases"]:
        of_phase = [row for row in rows if row["phase_index"] == str(phase["index"])]
        assert {row["phase"] for row in of_phase} == {phase["name"]}
        clients = [row["client"] for row in of_phase[:1 + len(phase["clients"])]]
        assert clients == ["all", *(client["host"] for client in phase["clients"])]
        for client in phase["clients"]:
            moved, before_s = 0, 0
            for row in of_phase:
                if row["client"] != client["host"] or not row["bytes_per_s"]:
                    continue
                moved += float(row["bytes_per_s"]) * (float(row["elapsed_s"]) - before_s)
                before_s = float(row["elapsed_s"])
            # Times have three decimals, and phases last at least a second.
            assert moved == pytest.approx(client["bytes"], rel=0.01)
        assert int(of_phase[-1]["bytes"]) == phase["clients"][-1]["bytes"]
        check_latencies(of_phase, phase)


def check_latencies(rows, phase):
    """A phase's last rows have the report's latencies; those of earlier rows are in order, and none exceeds the report's max."""
    for name, reported in (("all", phase), *((client["host"], client) for client in phase["clients"])):
        *moving, last = [row for row in rows if row["client"] == name]
        for column, field in (("mean_us", "mean"), ("p50_us", "p50"), ("p99_us", "p99"), ("max_us", "max")):
            assert float(last[column]) == pytest.approx(reported["latency_us"][field], abs=0.0006)
        for row in moving:
            if not row["p50_us"]:
                continue
            assert 0 < float(row["p50_us"]) <= float(row["p99_us"]) <= float(row["max_us"])
            assert 0 < float(row["mean_us"]) <= float(row["max_us"])
            # A live figure is the middle of a bin: at most 3.2 % off.
            assert float(row["max_us"]) <= 1.032 * reported["latency_us"]["max"] + 0.004
            assert float(row["max_us"]) >= 0.968 * reported["latency_us"]["min"] - 0.004


@pytest.mark.parametrize("workers", [(), ("--spawn", "2")], ids=["local", "grpc"])
def test_a_csv_file_has_a_row_per_client_and_second(workers, path, out, tmp_path):
    file = tmp_path / "live.csv"
    outcome = program.run([*RUN, *workers, "--time", "2", "--live-csv", str(file)], path=path, out=out).expect(0)
    rows = rows_of(file)
    check_csv(rows, outcome.result)
    assert len({row["elapsed_s"] for row in rows if row["client"] == "all" and row["phase_index"] == "0"}) >= 2
    assert any(row["p99_us"] for row in rows if row["client"] == "all" and row["lanes_running"] != "0")
    assert all(int(row["lanes_running"]) <= int(row["lanes"]) for row in rows)


def test_a_phase_shorter_than_a_second_has_the_row_of_its_end(path, out, tmp_path):
    file = tmp_path / "live.csv"
    outcome = program.run([*RUN, "--live-csv", str(file)], path=path, out=out).expect(0)
    rows = rows_of(file)
    for phase in outcome.phases:
        last = [row for row in rows if row["phase_index"] == str(phase["index"]) and row["client"] == "all"][-1]
        assert int(last["bytes"]) == phase["bytes"] and last["lanes_running"] == "0"


def test_a_csv_file_that_exists_is_kept_without_force(path, out, tmp_path):
    file = tmp_path / "live.csv"
    file.write_text("mine")
    refused = program.run([*RUN, "--live-csv", str(file)], path=path, out=out).expect(1)
    assert "--force" in refused.stderr and file.read_text() == "mine"
    assert not out.exists() and not refused.data.exists(), "refused before anything is written"
    program.run([*RUN, "--live-csv", str(file), "--force"], path=path, out=out).expect(0)
    assert file.read_text().startswith("time,elapsed_s,")


def test_a_refused_run_leaves_no_csv_file(path, out, tmp_path):
    file = tmp_path / "live.csv"
    program.run([*RUN, "--live-csv", str(file), "--path", str(tmp_path / "nowhere")], path=path, out=out).expect(1)
    assert not file.exists()


def test_a_full_disk_ends_the_csv_file_and_not_the_run(path, out):
    outcome = program.run([*RUN, "--live-csv", "/dev/full", "--force"], path=path, out=out).expect(2)
    assert "/dev/full is incomplete" in outcome.stderr
    assert [phase["operation"] for phase in outcome.phases] == ["write", "rewrite", "read", "reread"]


def families(url):
    with urllib.request.urlopen(url, timeout=program.PATIENCE_S) as answer:
        assert answer.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
        return {family.name: family for family in parser.text_string_to_metric_families(answer.read().decode())}


def test_prometheus_reads_the_metrics_while_the_run_lasts(path, out):
    with program.start([*RUN, "--spawn", "2", "--time", "3", "--live-metrics", "127.0.0.1:0"],
                       path=path, out=out) as running:
        url = re.search(r"http://\S+", running.process.stderr.readline())[0]
        deadline = time.monotonic() + program.PATIENCE_S
        # Right after the start of a phase, there are no figures yet.
        while not all((found := families(url))[f"iobench_{name}"].samples for name in (
                "phase_bytes_per_second", "client_bytes_per_second", "phase_op_duration_seconds", "client_op_duration_seconds")):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        host = os.uname().nodename
        for name, kind in (("bytes_per_second", "gauge"), ("ops_per_second", "gauge"), ("bytes", "counter"),
                           ("ops", "counter"), ("lanes_running", "gauge")):
            for scope, client in (("phase", None), ("client", host)):
                family = found[f"iobench_{scope}_{name}"]
                assert family.type == kind
                (sample,) = family.samples
                assert sample.labels.get("client") == client
                assert sample.labels["run"] and sample.labels["phase"] and sample.labels["phase_index"].isdigit()
        for scope in ("phase", "client"):
            family = found[f"iobench_{scope}_op_duration_seconds"]
            assert family.type == "histogram"
            buckets = [(float(sample.labels["le"]), sample.value) for sample in family.samples
                       if sample.name.endswith("_bucket")]
            assert buckets == sorted(buckets) and len(buckets) > 10 and buckets[-1][0] == math.inf
            others = {sample.name.rpartition("_")[2]: sample.value for sample in family.samples
                      if not sample.name.endswith("_bucket")}
            assert others["count"] == buckets[-1][1] and 0 < others["sum"] < 4 * program.PATIENCE_S
        assert found["iobench_phase_bytes"].samples[0].value == found["iobench_client_bytes"].samples[0].value > 0
        assert found["iobench_phase_lanes_running"].samples[0].value <= 4
        assert found["iobench_run_workers_lost"].samples[0].value == 0
        assert running.process.wait(timeout=program.PATIENCE_S) == 0
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(url, timeout=5)


@pytest.mark.parametrize("address", ["9464", "127.0.0.1:http", "192.0.2.1:9464"])
def test_an_address_that_cannot_be_used_is_refused_before_anything_is_written(address, path, out):
    outcome = program.run([*RUN, "--live-metrics", address], path=path, out=out).expect(1)
    assert address in outcome.stderr and len(outcome.stderr.splitlines()) == 1
    assert not out.exists() and not outcome.data.exists()


def test_the_live_view_needs_a_terminal(path, out):
    outcome = program.run([*RUN, "--live"], path=path, out=out).expect(1)
    assert "--live needs a terminal" in outcome.stderr and len(outcome.stderr.splitlines()) == 1
    assert not out.exists() and not outcome.data.exists()


@pytest.mark.parametrize("option", [("--live",), ("--live-csv", "f"), ("--live-metrics", ":0")])
def test_the_network_test_has_nothing_to_watch(option):
    outcome = program.plain("-+t", "--listen", "127.0.0.1:0", "--workers", "1", *option).expect(1)
    assert option[0] in outcome.stderr and "cannot be combined with -+t" in outcome.stderr


class Terminal:
    """A shell in tmux, with a tmux server of its own."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        sanitizers = [f"{name}={os.environ[name]}" for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")
                      if name in os.environ]
        self.tmux("new-session", "-d", "-x", "100", "-y", "30", "env", "-i", *sanitizers, f"PATH={os.environ['PATH']}", "PS1=$ ",
                  "LC_ALL=C.UTF-8", "TERM=screen", "sh")

    def tmux(self, *arguments):
        command = ["tmux", "-u", "-S", str(self.directory / "tmux"), "-f", "/dev/null", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=program.PATIENCE_S).stdout

    def type(self, line):
        self.tmux("send-keys", "-l", line)
        self.tmux("send-keys", "Enter")

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def wait_for(self, text):
        deadline = time.monotonic() + program.PATIENCE_S
        while not re.search(text, screen := self.screen(), re.M):
            assert time.monotonic() < deadline, f"no {text!r} on\n{screen}"
            time.sleep(0.05)
        return screen

    def close(self):
        subprocess.run(["tmux", "-S", str(self.directory / "tmux"), "kill-server"], capture_output=True, check=False)


@pytest.fixture
def terminal(tmp_path_factory):
    opened = Terminal(tmp_path_factory.mktemp("t"))
    yield opened
    opened.close()


def command(path, out, *options):
    return shlex.join([program.BINARY, *RUN, *options, "--live", "--path", str(path), "--out", str(out)])


def test_the_live_view_shows_the_run_resizes_and_leaves_the_report(terminal, path, out):
    terminal.type(command(path, out, "--spawn", "2", "--time", "3") + "; echo code=$?")
    # The first screens of a phase may have no figures yet.
    screen = terminal.wait_for(r"^\d/4 \w+   \S+ [KMG]iB/s   \S+ ops/s   \d of 4 lanes   p50 \S+ [num]?s   p99 ")
    assert "clients 1-1 of 1, slow first" in screen
    assert re.search(r"^clients 1-1 of 1, slow first .* ops/s +p50 [num]?s +p99 [num]?s +max [num]?s +lanes$", screen, re.M), screen
    assert re.search(r"^█*░*  \d+ %   left \d s$", screen, re.M), screen
    assert re.search(r"^> \w+ +running$", screen, re.M) and re.search(r"^  reread +to come$", screen, re.M), screen
    assert screen.rstrip().endswith("scroll the clients"), "the keys are in the last line"
    terminal.tmux("resize-window", "-x", "60", "-y", "14")
    screen = terminal.wait_for(r"\A(?:.*\n){13}q or Ctrl-C: end the run")
    assert max(map(len, screen.splitlines())) <= 60
    terminal.tmux("resize-window", "-x", "120", "-y", "60")
    terminal.wait_for(r"\A(?:.*\n){59}q or Ctrl-C: end the run")
    terminal.tmux("resize-window", "-x", "120", "-y", "200")  # a busy machine gets more marks than 60 lines hold
    screen = terminal.wait_for(r"^code=0$")
    assert re.search(r"^write, overwriting +\S+ [KMG]iB/s   stonewalled", screen, re.M), screen
    assert "summary" in screen and "slow first" not in screen, "the report, and nothing of the view"


@pytest.mark.parametrize("key", ["C-c", "q"])
def test_the_terminal_is_as_before_after_an_interrupt(key, terminal, path, out):
    terminal.type("stty -g > " + shlex.quote(str(terminal.directory / "before")))
    terminal.type(command(path, out, "--time", "600") + "; echo code=$?")
    terminal.wait_for("slow first")
    terminal.tmux("send-keys", key)
    screen = terminal.wait_for(r"^code=130$")
    assert "interrupted" in screen and "slow first" not in screen
    terminal.type("stty -g > " + shlex.quote(str(terminal.directory / "after")) + "; echo ended")
    terminal.wait_for("^ended$")
    assert (terminal.directory / "before").read_text() == (terminal.directory / "after").read_text()


def test_a_second_interrupt_leaves_the_terminal_usable(terminal, path, out):
    terminal.type("stty -g > " + shlex.quote(str(terminal.directory / "before")))
    terminal.type(command(path, out, "--time", "600") + "; echo code=$?")
    terminal.wait_for("slow first")
    terminal.tmux("send-keys", "C-c", "C-c")
    terminal.wait_for(r"^code=130$")
    terminal.type("stty -g > " + shlex.quote(str(terminal.directory / "after")) + "; echo ended")
    terminal.wait_for("^ended$")
    assert (terminal.directory / "before").read_text() == (terminal.directory / "after").read_text()


def test_a_request_to_terminate_is_shown_and_q_does_not_cut_it_short(terminal, path, out):
    terminal.type(command(path, out, "--spawn", "2", "--time", "600") + "; echo code=$?")
    terminal.wait_for("slow first")
    (coordinator,) = map(int, subprocess.run(["pgrep", "-f", f"live --path {path}"], capture_output=True, text=True,
                                             check=True).stdout.split())
    worker = int(subprocess.run(["pgrep", "-P", str(coordinator)], capture_output=True, text=True,
                                check=True).stdout.split()[0])
    os.kill(worker, signal.SIGSTOP)     # the run waits for its results
    try:
        os.kill(coordinator, signal.SIGTERM)
        terminal.wait_for(r"^ending: ")
        terminal.tmux("send-keys", "q")
        terminal.wait_for(r"^code=130$")
    finally:
        with contextlib.suppress(ProcessLookupError):   # its coordinator has ended
            os.kill(worker, signal.SIGCONT)
    # A program that q had ended at once would not have saved and printed what it had measured.
    assert "the report shows what was done until then" in terminal.screen()
    assert (out / "result.json").exists()


def test_marks_and_messages_appear_while_the_run_lasts(terminal, path, out):
    terminal.type(command(path, out, "--time", "1") + "; echo code=$?")
    # The phase reads what this client has just written.
    terminal.wait_for(r"^! read: cached: ")
    terminal.wait_for(r"^code=0$")


def test_a_lost_worker_is_seen_and_its_message_stays_after_the_view(terminal, path, out):
    terminal.type(command(path, out, "--spawn", "2", "--time", "600") + "; echo code=$?")
    terminal.wait_for("slow first")
    (coordinator,) = subprocess.run(["pgrep", "-f", f"live --path {path}"], capture_output=True, text=True,
                                    check=True).stdout.split()
    workers = subprocess.run(["pgrep", "-P", coordinator], capture_output=True, text=True, check=True).stdout.split()
    assert len(workers) == 2
    os.kill(int(workers[0]), signal.SIGKILL)
    screen = terminal.wait_for(r"^1 worker lost$")
    assert "slow first" in screen
    terminal.wait_for(r"^! .*worker \d on .*lost")
    terminal.tmux("send-keys", "C-c")
    terminal.wait_for(r"^code=\d+$")
    assert re.search(r"worker \d on \S+ is lost", terminal.tmux("capture-pane", "-p", "-J", "-S", "-100"))


def test_a_second_signal_ends_the_live_view_of_a_terminal_that_is_gone(path, out):
    """As it does on a terminal: without waiting for a worker that hangs."""
    ours, its = pty.openpty()
    arguments = [*RUN, "--spawn", "1", "--time", "60", "--live", "--path", str(path), "--out", str(out)]
    process = subprocess.Popen([program.BINARY, *arguments], stdin=its, stdout=its, stderr=its, start_new_session=True,
                               env=program.clean_environment(TERM="xterm", LC_ALL="C.UTF-8"))
    os.close(its)
    try:
        shown = b""
        while b"running" not in shown:
            shown += os.read(ours, 65536)
        (worker,) = [int(pid) for pid in
                     pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
        os.kill(worker, signal.SIGSTOP)
        os.close(ours)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.3)   # signals within 0.1 s are one request
        process.send_signal(signal.SIGTERM)
        assert process.wait(program.PATIENCE_S) == 130
        saved = json.loads((out / "result.json").read_text())
        assert saved["run"]["exit_code"] is None, "it did not even save the end of the run"
    finally:
        process.kill()
        process.wait()
