"""A client list (-+m FILE) starts a worker for each line through a remote shell, here a script that records its arguments."""
import json
import os
import stat

import program
import pytest
from report_checks import check_report

SMALL = ("-i", "0", "-i", "1", "-+n", "-ce", "-r", "4k", "-s", "64k")


class Clients:
    """A list of clients, and a remote shell as IOzone's users would write it for a test on one host."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.log = scratch / "rsh.log"
        self.shell = scratch / "rsh"
        self.file = scratch / "clients"
        self.shell.write_text('#!/bin/sh\necho "$@" >>"$LOG"\n[ "$1" = -x ] && shift\n[ "$2" = -n ] || exec sh -c "$2"\n'
                              'exec sh -c "$3" </dev/null\n')
        self.shell.chmod(self.shell.stat().st_mode | stat.S_IXUSR)

    def list(self, *lines):
        self.file.write_text("".join(line + "\n" for line in lines))
        return ("-+m", str(self.file))

    def environment(self, **extra):
        return program.clean_environment(RSH=str(self.shell), LOG=str(self.log), **extra)

    def started(self):
        """The client and command of each remote shell, in order of --place."""
        lines = self.log.read_text().splitlines()
        return sorted(lines, key=lambda line: int(line.split("--place ")[1].split()[0]))

    def run(self, *args, env=None, out=None):
        """Runs without --path: the list names the directories."""
        words = [*args, *(("--out", str(out)) if out else ())]
        outcome = program.plain(*words, env=env or self.environment(), cwd=self.scratch)
        outcome.out = out
        return outcome


@pytest.fixture
def clients(tmp_path):
    return Clients(tmp_path)


def test_each_line_is_a_worker_of_one_lane_in_its_directory(clients, path, out):
    listed = clients.list("# three fields", *[f"localhost {path} {program.BINARY}"] * 3)
    outcome = clients.run(*listed, *SMALL, out=out).expect(0)
    check_report(outcome.result)
    run = outcome.result["run"]
    assert (run["transport"], run["worker_count"], run["lane_count"]) == ("grpc", 3, 3)
    assert outcome.phase("write")["bytes"] == 3 * 64 * 1024
    assert [target["path"] for target in run["plan"]["targets"]] == [str(path)]
    started = clients.started()
    assert len(started) == 3
    for line in started:
        assert line.startswith(f"localhost -n cd {path} && ") and "--join 127.0.0.1:" in line


def test_t_takes_the_first_lines(clients, path, out):
    listed = clients.list(*[f"localhost {path} {os.path.dirname(program.BINARY)}"] * 3)
    outcome = clients.run(*listed, "-t", "2", *SMALL, out=out).expect(0)
    assert outcome.result["run"]["worker_count"] == 2
    assert len(clients.started()) == 2, "a third field that is a directory has the program in it"


def test_srun_starts_nobody_as_another_user(clients, path):
    listed = clients.list(f"localhost {path} {program.BINARY}", *[f"me@localhost {path} {program.BINARY}"] * 2)
    srun = clients.shell.rename(clients.scratch / "srun")
    outcome = clients.run(*listed, *SMALL, env=clients.environment() | {"RSH": str(srun)}).expect(1)
    assert outcome.stderr.count("host me@localhost has a user") == 1 and "leave out me@" in outcome.stderr, outcome
    assert not clients.log.exists(), "no worker is started"


def test_a_sweep_is_over_workers(clients, path, out):
    listed = clients.list(*[f"localhost {path} {program.BINARY}"] * 3)
    outcome = clients.run(*listed, "-l", "2", "-u", "3", "-i", "0", "-+n", "-r", "4k", "-s", "64k", out=out).expect(0)
    assert outcome.result["run"]["worker_count"] == 3
    assert [phase["bytes"] for phase in outcome.phases] == [2 * 64 * 1024, 3 * 64 * 1024]


def test_more_workers_than_lines(clients, path):
    listed = clients.list(f"localhost {path} {program.BINARY}")
    outcome = clients.run(*listed, "-t", "2", *SMALL).expect(1)
    assert "-t 2 asks for 2 workers" in outcome.stderr and "1 line" in outcome.stderr, outcome


def test_the_fourth_field_is_the_worker_s_own_path(clients, path, tmp_path, out):
    other = tmp_path / "other"
    other.mkdir()
    # As in IOzone's lists, the field may name a file that need not exist.
    listed = clients.list(f"localhost {tmp_path} {program.BINARY} {path}",
                          f"localhost {tmp_path} {program.BINARY} {other}/iozone.tmp",
                          f"localhost {tmp_path} {program.BINARY} other/")
    outcome = clients.run(*listed, "-w", *SMALL, out=out).expect(0)
    check_report(outcome.result)
    targets = outcome.result["run"]["plan"]["targets"]
    assert [(target["path"], target["who"]["workers"]) for target in targets] == [(str(path), [0]), (str(other), [1, 2])]
    assert sorted(file.name for file in path.glob("*/lane-*")) == ["lane-000000.0"]
    assert sorted(file.name for file in other.glob("*/lane-*")) == ["lane-000001.0", "lane-000002.0"]


def test_offset_latency_files_go_to_the_directory_of_the_line(clients, path, tmp_path, out):
    directories = [tmp_path / "d0", tmp_path / "d1"]
    for directory in directories:
        directory.mkdir()
    listed = clients.list(*[f"localhost {directory} {program.BINARY} {path}" for directory in directories])
    clients.run(*listed, "-Q", *SMALL, out=out).expect(0)
    for number, directory in enumerate(directories):
        assert sorted(file.name for file in directory.iterdir()) == [f"Child_{number}_{name}.dat" for name in ("rol", "wol")]


def test_the_fourth_field_and_path_say_the_same_thing_twice(clients, path):
    listed = clients.list(f"localhost / {program.BINARY} {path}")
    outcome = clients.run(*listed, "--path", path, *SMALL).expect(1)
    assert "--path" in outcome.stderr and "fourth field" in outcome.stderr, outcome


def test_workers_keep_the_order_of_the_list(clients, path, tmp_path, out):
    directories = [tmp_path / f"d{number}" for number in range(4)]
    for directory in directories:
        directory.mkdir()
    listed = clients.list(*[f"localhost {directory} {program.BINARY}" for directory in directories])
    outcome = clients.run(*listed, "-w", *SMALL, out=out).expect(0)
    for number, directory in enumerate(directories):
        assert [file.name for file in directory.glob("*/lane-*")] == [f"lane-{number:06d}.0"]
    assert outcome.result["run"]["worker_count"] == 4


def test_rsh_may_hold_options(clients, path, out):
    listed = clients.list(f"localhost {path} {program.BINARY}")
    env = clients.environment()
    env["RSH"] = f"{clients.shell} -x"
    clients.run(*listed, *SMALL, env=env, out=out).expect(0)
    assert clients.log.read_text().startswith("-x localhost -n cd ")


@pytest.mark.parametrize("content, line, words", [
    ("localhost / /bin/x\n\nlocalhost / /bin/x\n", 2, "blank line"),
    ("# ours\nlocalhost /\n", 2, "3 or 4 fields"),
    ("localhost / /bin/x /mnt more\n", 1, "3 or 4 fields"),
])
def test_a_bad_line_is_named(clients, content, line, words):
    clients.file.write_text(content)
    outcome = clients.run("-+m", clients.file, *SMALL).expect(1)
    assert f"{clients.file}:{line}: " in outcome.stderr and words in outcome.stderr, outcome
    assert len(outcome.stderr.strip().splitlines()) == 1
    assert not clients.log.exists(), "nothing was started"


def test_no_such_list(clients):
    outcome = clients.run("-+m", "/nonexistent/clients", *SMALL).expect(1)
    assert "/nonexistent/clients" in outcome.stderr and "ENOENT" in outcome.stderr


def test_a_directory_that_is_not_there_is_told_at_once(clients, path):
    listed = clients.list(f"localhost {path} {program.BINARY}", f"localhost /nonexistent/dir {program.BINARY}")
    outcome = clients.run(*listed, *SMALL).expect(3)
    assert "client localhost (worker 1)" in outcome.stderr and "exit code " in outcome.stderr, outcome
    assert "/nonexistent/dir" in outcome.stderr


def test_a_program_that_is_not_there(clients, path):
    listed = clients.list(f"localhost {path} /nonexistent/program")
    outcome = clients.run(*listed, *SMALL).expect(3)
    assert "exit code 127" in outcome.stderr and "/nonexistent/program" in outcome.stderr, outcome


def test_a_worker_that_cannot_join_says_where(clients, path):
    port = program.free_port()
    wrapper = clients.scratch / "wrapper"
    wrapper.write_text(f'#!/bin/sh\nexec {program.BINARY} worker --join 127.0.0.1:{port} --root / --join-timeout 1\n')
    wrapper.chmod(0o755)
    outcome = clients.run(*clients.list(f"localhost {path} {wrapper}"), *SMALL).expect(3)
    assert f"127.0.0.1:{port}" in outcome.stderr and "exit code 3" in outcome.stderr, outcome
    assert "-+h HOST" in outcome.stderr


def test_clients_elsewhere_join_with_credentials_from_their_standard_input(clients, path, out):
    """No -n, which would close standard input. Runs on this host alone, or with --insecure, need no credentials."""
    listed = clients.list(f"node7 {path} {program.BINARY}")
    clients.run(*listed, "-+h", "127.0.0.1", *SMALL, out=out).expect(0)
    started = clients.log.read_text()
    assert " -n " not in started and "--token-file -" in started and "--insecure" not in started


def test_the_address_that_clients_are_told(clients, path, out):
    listed = clients.list(f"node7 {path} {program.BINARY}")
    clients.run(*listed, "--insecure", "-+h", "127.0.0.1", *SMALL, out=out).expect(0)
    assert "--join 127.0.0.1:" in clients.log.read_text()


def test_a_list_of_this_host_alone_joins_at_the_address_that_it_is_told(clients, path, out):
    """Where other hosts can join too: with credentials."""
    any_address = "0.0.0.0"     # reaches this host, but is no loopback address
    listed = clients.list(f"localhost {path} {program.BINARY}")
    clients.run(*listed, "-+h", any_address, *SMALL, out=out).expect(0)
    started = clients.log.read_text()
    assert f"--join {any_address}:" in started and "--token-file -" in started and " -n " not in started


def test_dry_run_and_print_plan(clients, path, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    listed = clients.list(f"localhost {path} {program.BINARY}", f"localhost {other} {program.BINARY}")
    shown = clients.run(*listed, "--print-plan", *SMALL).expect(0).stdout
    assert "who:" in shown and str(other) in shown
    dry = clients.run(*listed, "--dry-run", *SMALL).expect(0).stdout
    first, second = (line for line in dry.splitlines() if line.startswith("  worker "))
    assert str(path) in first and str(other) in second


@pytest.mark.parametrize("other", [("--spawn", "2"), ("--workers", "2"), ("--transport", "mpi")])
def test_a_list_says_which_workers_there_are(clients, path, other):
    outcome = clients.run(*clients.list(f"localhost {path} {program.BINARY}"), *other, *SMALL).expect(1)
    assert "-+m" in outcome.stderr and other[0] in outcome.stderr, outcome


def test_no_worker_outlives_an_interrupted_run(clients, path, out):
    """The second client never answers; the first has joined."""
    listed = clients.list(f"localhost {path} {program.BINARY}", "localhost / /bin/sleep")
    wrapper = clients.scratch / "never"
    wrapper.write_text("#!/bin/sh\nexec sleep 600\n")
    wrapper.chmod(0o755)
    listed = clients.list(f"localhost {path} {program.BINARY}", f"localhost / {wrapper}")
    command = [program.BINARY, *listed, *SMALL, "--out", str(out)]
    with program.Running(command, out, path, clients.environment()) as running:
        running.wait_until(lambda: clients.log.exists() and len(clients.log.read_text().splitlines()) == 2, "both start")
        running.interrupt()
        outcome = running.wait(timeout=60)
    assert outcome.code == 130
    assert not any(str(clients.scratch) in line for line in commands_running()), "a shell of ours still runs"


def commands_running():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                yield file.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue


def test_a_worker_may_say_itself_where_it_works(path, tmp_path, out):
    """This works with --listen too; the other workers use the path of the plan."""
    other = tmp_path / "other"
    other.mkdir()
    address = f"127.0.0.1:{program.free_port()}"
    worker = (program.BINARY, "worker", "--join", address, "--root", str(path))
    outcome = program.run([*SMALL, "-w", "--listen", address, "--workers", "2"], path=path, out=out,
                          helpers=(worker, (*worker, "--path", str(other)))).expect(0)
    check_report(outcome.result)
    targets = {target["path"] for target in outcome.result["run"]["plan"]["targets"]}
    assert targets == {str(path), str(other)}
    assert len(list(path.glob("*/lane-*"))) == len(list(other.glob("*/lane-*"))) == 1


def test_selftest_runs_on_clients(clients, path):
    outcome = clients.run("selftest", *clients.list(*[f"localhost {path} {program.BINARY}"] * 2), "--phases", "2").expect(0)
    assert "2 workers on 1 clients" in outcome.stdout, outcome


def test_saved_plan_repeats_the_run(clients, path, out):
    listed = clients.list(*[f"localhost {path} {program.BINARY}"] * 2)
    outcome = clients.run(*listed, *SMALL, out=out).expect(0)
    saved = json.loads((out / "result.json").read_text())["run"]["plan"]
    assert saved["lanes_per_worker"] == 1 and outcome.result["run"]["worker_count"] == 2


def test_a_validation_uses_all_clients_of_the_list(clients, tmp_path):
    where = tmp_path / "shared"
    where.mkdir()
    listed = clients.list(*[f"localhost {where} {program.BINARY}"] * 3)
    outcome = clients.run("validate", *listed, "--only", "mmap", "--path", str(where)).expect(0)
    assert len(clients.started()) == 3 and "on 1 client, 3 workers" in outcome.stdout
    assert not list(where.iterdir())
