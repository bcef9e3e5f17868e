"""--hosts starts workers over ssh: with a real sshd on loopback, and with a fake remote shell for what goes wrong."""
import contextlib
import os
import pathlib
import re
import shutil
import stat
import subprocess
import time

import program
import pytest
from report_checks import check_report
from ssh_server import SshServer

SMALL = ("-i", "0", "-i", "1", "-+n", "-ce", "-r", "4k", "-s", "64k")


@pytest.fixture(scope="module")
def sshd(tmp_path_factory):
    with SshServer(tmp_path_factory.mktemp("sshd")) as server:
        server.write_client_config(
            denied=f"IdentityFile {server.directory}/other_key",
            stranger="HostKeyAlias unknown",
            closed=f"Port {program.free_port()}",
            nowhere="HostName no-such-host.invalid")
        yield server


class FakeShell:
    """A launcher that first runs a script of the test, then the command, here: $1 is the host, $2 the command."""

    def __init__(self, directory):
        self.directory = directory
        self.file = directory / "shell"
        self.launcher = f"{self.file} {{host}} {{command}}"
        self.does()

    def does(self, script=""):
        self.file.write_text(f'#!/bin/sh\nD={self.directory}\necho "$1" >>"$D/started"\n{script}\nexec sh -c "$2"\n')
        self.file.chmod(self.file.stat().st_mode | stat.S_IXUSR)

    def started(self):
        file = self.directory / "started"
        return file.read_text().split() if file.exists() else []


@pytest.fixture
def shell(tmp_path):
    directory = tmp_path / "fake"
    directory.mkdir()
    return FakeShell(directory)


# The coordinator listens on all interfaces, as for real hosts, and is reached over loopback.
def on_hosts(hosts, launcher, *more):
    return ("--hosts", hosts, "--launcher", launcher, "--listen", "0.0.0.0:0", "--coordinator-host", "127.0.0.1", *more)


def processes_with(text, where="cmdline"):
    """Processes with the text in their command line or environment: process id -> that content."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            content = pathlib.Path(f"/proc/{pid}/{where}").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if text in content and int(pid) != os.getpid():
                found[int(pid)] = content
    return found


def wait_until_none(text):
    deadline = time.monotonic() + program.PATIENCE_S
    while left := processes_with(text):
        assert time.monotonic() < deadline, f"still there: {left}"
        time.sleep(0.05)


# ------------------------------------------------------------------------------------------------- a real sshd


def test_workers_start_over_ssh_on_every_host(sshd, path, out):
    before = sshd.logins()
    outcome = program.run([*on_hosts("c[01-03],c04*2", sshd.launcher), *SMALL], path=path, out=out).expect(0)
    check_report(outcome.result)
    run = outcome.result["run"]
    assert (run["transport"], run["worker_count"], run["lane_count"]) == ("grpc", 5, 5)
    assert outcome.phase("write")["bytes"] == 5 * 64 * 1024
    assert sshd.logins() - before == 4, "one login for the two workers of c04"


def test_lanes_and_sweeps_are_as_with_other_workers(sshd, path, out):
    words = on_hosts("c[1-2]", sshd.launcher)
    outcome = program.run([*words, *SMALL, "-t", "2"], path=path, out=out).expect(0)
    assert (outcome.result["run"]["worker_count"], outcome.result["run"]["lane_count"]) == (2, 4)
    swept = program.run([*words, "-l", "1", "-u", "2", "-i", "0", "-+n", "-r", "4k", "-s", "64k"], path=path,
                        out=out.with_name("sweep")).expect(0)
    assert [phase["bytes"] for phase in swept.phases] == [64 * 1024, 2 * 64 * 1024]


def test_ssh_s_failures_are_all_named_with_their_hosts_and_what_to_do(sshd, path, out):
    words = on_hosts("c1,denied,stranger,closed,nowhere", sshd.launcher)
    outcome = program.run([*words, *SMALL], path=path, out=out)
    assert outcome.code not in (0, None) and not out.exists(), outcome
    for host, cause, advice in [("denied", "Permission denied", "ssh-copy-id denied"),
                                ("stranger", "Host key verification failed", "accept its key"),
                                ("closed", "Connection refused", "sshd runs there"),
                                ("nowhere", "Could not resolve hostname", "check the name")]:
        line = next((line for line in outcome.stderr.splitlines() if f"host {host}: " in line), "")
        assert cause in line and advice in line and "exit code 255" in line, f"{host}\n{outcome}"
    assert re.search(r"1 of 5 workers have joined; 4 of 5 hosts failed.*: denied, stranger, closed, nowhere", outcome.stderr)
    assert "host c1: " not in outcome.stderr


@pytest.mark.parametrize("number", ["KILL", "TERM"])
def test_workers_end_with_their_coordinator(sshd, path, out, number):
    words = [*on_hosts("c1,c2*2", sshd.launcher), "-i", "0", "-+n", "-r", "4k", "-s", "1m", "--time", "600"]
    with program.start(words, path=path, out=out) as running:
        running.wait_until(lambda: running.data_bytes() > 0, "lanes write")
        (port,) = set(re.findall(r"--join 127\.0\.0\.1:(\d+)", " ".join(processes_with(str(sshd.config)).values())))
        running.process.send_signal(getattr(program.signal, f"SIG{number}"))
        running.process.wait(timeout=program.PATIENCE_S)
        wait_until_none(f"--join 127.0.0.1:{port}")


def test_selftest_and_dry_run_take_hosts_too(sshd, path, out):
    words = on_hosts("c[1-2]", sshd.launcher)
    outcome = program.plain("selftest", *words, "--phases", "2").expect(0)
    assert "2 workers on 1 clients" in outcome.stdout, outcome
    dry = program.run([*words, "--dry-run", *SMALL], path=path, out=out).expect(0)
    assert dry.stdout.count("  worker ") == 2 and not out.exists()


# ------------------------------------------------------------------------------------------------- a fake remote shell


@pytest.mark.unsanitized
def test_all_hosts_start_at_the_same_time(shell, path, out):
    """Each shell waits until the last one has begun: started one after another, no worker would ever join."""
    shell.does('touch "$D/at.$1"\nwhile [ $(ls "$D" | grep -c ^at) -lt 32 ]; do sleep 0.05; done')
    outcome = program.run([*on_hosts("c[01-32]", shell.launcher), "-i", "0", "-+n", "-r", "4k", "-s", "4k"], path=path,
                          out=out).expect(0)
    assert outcome.result["run"]["worker_count"] == 32
    assert sorted(shell.started()) == [f"c{number:02d}" for number in range(1, 33)]


@pytest.mark.parametrize("more, expected", [
    ((), "3 workers need 108 open files in this process, but its limit is 101"),
    (("--sampler-hosts", "s"), "4 workers and samplers need 112 open files in this process, but its limit is 101")])
def test_remote_shells_and_samplers_count_as_open_files(shell, path, out, more, expected):
    """Each connection takes three, each shell's output one, and 96 are left to the rest of the program."""
    outcome = program.run([*on_hosts("c[1-3]", shell.launcher, *more), *SMALL], path=path, out=out,
                          prefix=("prlimit", "--nofile=101:101")).expect(1)
    assert expected in outcome.stderr, outcome
    assert shell.started() == [], "nothing was started"


def test_workers_are_numbered_by_host_and_slot(shell, path, out):
    outcome = program.run([*on_hosts("b*2,a", shell.launcher), *SMALL, "-w"], path=path, out=out).expect(0)
    assert outcome.result["run"]["worker_count"] == 3 and sorted(shell.started()) == ["a", "b"]
    assert sorted(file.name for file in outcome.data.glob("lane-*")) == [f"lane-{number:06d}.0" for number in range(3)]


def test_credentials_are_on_standard_input_only(shell, path, out):
    """Credentials pass through the shell's input; no process has them in its command line or environment."""
    shell.does('cat >"$D/input.$1"\nexec sh -c "$2" <"$D/input.$1"')
    words = [*on_hosts("a*2,b", shell.launcher), "-i", "0", "-+n", "-r", "4k", "-s", "1m", "--time", "600"]
    env = program.clean_environment(CREDENTIALS_OF=str(path))
    with program.start(words, path=path, out=out, env=env) as running:
        running.wait_until(lambda: running.data_bytes() > 0, "lanes write")
        ours = processes_with(f"CREDENTIALS_OF={path}", "environ").keys()
        texts = {(shell.directory / f"input.{host}").read_text() for host in "ab"}
        assert len(ours & processes_with("worker --join").keys()) >= 4, "three workers, and what started two of them"
        (text,) = texts
        token, certificate = text.split("\n", 1)
        assert len(token) >= 32 and "-----BEGIN CERTIFICATE-----" in certificate and "PRIVATE KEY" not in text
        for where in ("cmdline", "environ"):
            for secret in (token, certificate.splitlines()[1]):
                assert processes_with(secret, where) == {}, where
            assert not ours & processes_with("-----BEGIN", where).keys(), where
        assert token not in "".join(file.read_text(errors="replace") for file in out.rglob("*") if file.is_file())
        running.interrupt()
        running.wait()


def test_credentials_are_worth_nothing_when_the_workers_have_joined(shell, path, out):
    """Somebody who has read them comes during the run."""
    port = program.free_port()
    shell.does('cat >"$D/input"\nexec sh -c "$2" <"$D/input"')
    thief = (f"{program.BINARY} worker --join 127.0.0.1:{port} --root none --token-file - --join-timeout 30 <{shell.directory}/input "
             f">{shell.directory}/thief 2>&1; echo code $? >>{shell.directory}/thief")
    words = ["--hosts", "a*2", "--launcher", shell.launcher, "--listen", f"127.0.0.1:{port}", "--before-phase", thief]
    outcome = program.run([*words, *SMALL], path=path, out=out).expect(0)
    assert outcome.result["run"]["worker_count"] == 2
    said = (shell.directory / "thief").read_text()
    assert "the run's token was for workers that its coordinator started, and all of them have joined" in said, said
    assert "code 1" in said and "was turned away" in outcome.stderr, said + outcome.stderr


def test_a_worker_without_the_credentials_does_not_join(shell, path, out):
    shell.does('exec sh -c "$2" </dev/null')
    outcome = program.run([*on_hosts("a", shell.launcher, "--join-timeout", "15"), *SMALL], path=path, out=out)
    assert outcome.code not in (0, None), outcome
    assert "host a: " in outcome.stderr and "token" in outcome.stderr, outcome


def test_every_kind_of_failure_is_reported_at_once(shell, path, out):
    """A hang is found by the timeout; the other failures are reported before that, each with the output of its host."""
    other = shell.directory / "other"
    other.write_text(f'#!/bin/sh\nexec {program.BINARY} worker --join 127.0.0.1:1 --root / --join-timeout 0.5\n')
    other.chmod(0o755)
    shell.does(f"""case $1 in
        unknown) echo "ssh: Could not resolve hostname unknown: Name or service not known" >&2; exit 255;;
        refused) echo "ssh: connect to host refused port 22: Connection refused" >&2; exit 255;;
        denied) echo "banner" >&2; echo "x@denied: Permission denied (publickey)." >&2; exit 255;;
        missing) exec sh -c "exec /nonexistent/cluster-iobench worker";;
        astray) exec {other};;
        killed) kill -9 $$;;
        hangs) exec sleep 600;;
        esac""")
    words = on_hosts("good,unknown,refused,denied,missing,astray,killed,hangs", shell.launcher, "--join-timeout", "7")
    outcome = program.run([*words, *SMALL], path=path, out=out)
    assert outcome.code not in (0, None) and not out.exists(), outcome
    for host, *texts in [("unknown", "exit code 255", "Could not resolve hostname", "DNS"),
                         ("refused", "exit code 255", "Connection refused"),
                         ("denied", "Permission denied (publickey)", "ssh-copy-id"),
                         ("missing", "exit code 127", "/nonexistent/cluster-iobench", "--copy-binary"),
                         ("astray", "exit code 3", "127.0.0.1:1", "--coordinator-host"),
                         ("killed", "signal 9", "printed nothing"),
                         ("hangs", "has not joined after", "still runs", "printed nothing", "--join-timeout")]:
        line = next((line for line in outcome.stderr.splitlines() if f"host {host}: " in line), "")
        assert all(text in line for text in texts), f"{host}\n{outcome}"
    assert "denied printed: banner" in outcome.stderr
    assert "7 of 8 hosts failed" in outcome.stderr and "host good: " not in outcome.stderr
    wait_until_none(str(shell.directory))


def test_what_a_remote_shell_does_in_place_of_starting_a_worker_is_said(shell, path, out):
    """Each is named for what it is, with what to do, before the time for joining is over where it shows earlier."""
    os.mkfifo(shell.directory / "fifo")
    shell.does("""case $1 in
        left) exit 0;;
        empty) exec sh -c "$2" </dev/null;;
        eaten) read token; exec sh -c "$2";;
        never) exec sh -c "$2" <>"$D/fifo";;
        prompt) printf "root@prompt's password: "; exec sleep 600;;
        esac""")
    words = on_hosts("left,empty,eaten,never,prompt", shell.launcher, "--join-timeout", "10")
    outcome = program.run([*words, *SMALL], path=path, out=out).expect(3)
    on_input = "the remote shell must pass on standard input"
    for host, *texts in [("left", "ended with exit code 0 at once", "printed nothing", "runs the command that it gets"),
                         ("empty", "no token on standard input", "it is empty", on_input, "ssh -n"),
                         ("eaten", "token on standard input: its first line must be the token", on_input, "~/.bashrc"),
                         ("never", "no token on standard input", "none came within 5 s", on_input),
                         ("prompt", "root@prompt's password; it wants a password", "ssh-copy-id prompt")]:
        line = next((line for line in outcome.stderr.splitlines() if line.startswith(f"cluster-iobench: host {host}: ")), "")
        assert all(text in line for text in texts), f"{host}\n{outcome}"
    assert "has not ended" not in outcome.stderr
    wait_until_none(str(shell.directory))


@pytest.mark.parametrize("launcher, says", [("no-such-rsh -x", 'there is no remote shell "no-such-rsh" on this host (PATH)'),
                                            ("/etc/passwd", '"/etc/passwd" is not executable on this host')])
@pytest.mark.parametrize("words", [("run", "--hosts", "a"), ("run", "-+m", "LIST"), ("preflight", "--hosts", "a", "--launcher"),
                                   ("clean", "--hosts", "a"), ("clean", "--hosts", "a", "--launcher")], ids=" ".join)
def test_a_remote_shell_that_is_not_there_is_said_before_anything_starts(launcher, says, words, path, tmp_path):
    (tmp_path / "list").write_text(f"localhost {path} {program.BINARY}\n")
    words = [str(tmp_path / "list") if word == "LIST" else word for word in words]
    by_option = words[-1] == "--launcher"       # otherwise RSH names it
    env = program.clean_environment(**({} if by_option else {"RSH": launcher}))
    outcome = program.plain(*words, *([launcher] if by_option else []), path, env=env).expect(1)
    (line,) = outcome.stderr.strip().splitlines()
    assert says in line and "--launcher or RSH" in line, outcome


@pytest.mark.parametrize("command", [("run", "-i", "0", "-s", "4k", "-r", "4k"), ("run", "-+t"), ("preflight",),
                                     ("validate",), ("selftest",), ("capacity", "--slo", "p99<=1s")], ids=" ".join)
def test_workers_that_do_not_join_are_exit_code_3_of_every_command(command, path, tmp_path):
    where = () if command[0] == "selftest" or "-+t" in command else (path,)
    for who in [("--listen", f"127.0.0.1:{program.free_port()}", "--workers", "2", "--join-timeout", "1"),
                ("--hosts", "a,b", "--launcher", "false")]:
        outcome = program.plain(*command, *where, *who, cwd=tmp_path)
        assert outcome.code == 3 and "0 of 2 workers have joined" in outcome.stderr, outcome


def test_a_worker_of_another_version_is_named_with_both(shell, path, out):
    """A copy of the program in which one digit of the fingerprint differs."""
    version = program.plain("--version").stdout.split()[1]
    patched = version[:-1] + ("0" if version[-1] != "0" else "1")
    binary = pathlib.Path(program.BINARY).read_bytes()
    assert version.encode() in binary
    other = shell.directory / "cluster-iobench"
    other.write_bytes(binary.replace(version.encode(), patched.encode()))
    other.chmod(0o755)
    shell.does(f'[ "$1" = old ] && exec sh -c "$(echo "$2" | sed "s,{program.BINARY},{other},g")"')
    outcome = program.run([*on_hosts("good,old", shell.launcher, "--join-timeout", "15"), *SMALL], path=path, out=out)
    assert outcome.code not in (0, None), outcome
    assert version in outcome.stderr and patched in outcome.stderr, outcome


def test_slots_are_processes_whose_ends_are_reported_one_by_one():
    """The output by which the coordinator learns that one worker of a host has ended while others go on."""
    outcome = program.plain("worker", "--join", f"127.0.0.1:{program.free_port()}", "--root", "/", "--join-timeout", "0.3",
                            "--place", "4", "--slots", "3").expect(3)
    assert sorted(re.findall(r"the worker at position (\d) has ended: exit code 3", outcome.stderr)) == ["4", "5", "6"]


def test_slots_join_with_a_token_file_too(path, out, tmp_path):
    """Slots that are started by hand do not wait for a standard input that is never closed."""
    address, token = f"127.0.0.1:{program.free_port()}", tmp_path / "token"
    token.write_text("a-token-that-is-long-enough\n")
    token.chmod(0o600)
    worker = [program.BINARY, "worker", "--join", address, "--root", str(path), "--slots", "2", "--token-file", str(token)]
    with subprocess.Popen(worker, stdin=subprocess.PIPE) as slots:
        outcome = program.run([*SMALL, "--listen", address, "--workers", "2", "--token-file", str(token)], path=path, out=out)
        assert outcome.expect(0).result["run"]["worker_count"] == 2
        assert slots.wait(timeout=program.PATIENCE_S) == 0


def test_a_signal_ends_all_slots(path):
    port = program.free_port()
    command = [program.BINARY, "worker", "--join", f"127.0.0.1:{port}", "--root", str(path), "--slots", "3"]
    with program.Running(command, path, path, program.clean_environment()) as running:
        running.wait_until(lambda: len(processes_with(f"worker --join 127.0.0.1:{port}")) == 4, "all start")
        running.interrupt(program.signal.SIGTERM)
        assert running.wait().code == 130
    wait_until_none(f"worker --join 127.0.0.1:{port}")


# ------------------------------------------------------------------------------------------------- the list


def test_all_faults_of_a_list_are_reported_at_once(shell, path, tmp_path):
    file = tmp_path / "hosts"
    file.write_text("# ours\nc[01-02]\nc[3-1]   # down\nd:0\n\nc02\n")
    outcome = program.plain(*on_hosts(f"@{file}", shell.launcher), *SMALL, "--path", path).expect(1)
    lines = outcome.stderr.strip().splitlines()
    assert len(lines) == 3, outcome
    for line, number, words in zip(lines, (3, 4, 6), ("write 1-3", "not a port", "c02 named before, in line 2")):
        assert f"host list {file}, line {number}, " in line and words in line, outcome
    assert shell.started() == [], "nothing was started"


def test_all_faults_of_a_client_list_are_reported_at_once(shell, path, tmp_path):
    file = tmp_path / "clients"
    file.write_text("a /x\n\nb /x /y\n-x /x /y\n")
    outcome = program.plain("-+m", file, *SMALL, "--path", path).expect(1)
    lines = outcome.stderr.strip().splitlines()
    assert [re.search(r":(\d+): ", line)[1] for line in lines] == ["1", "2", "4"], outcome


@pytest.mark.parametrize("words, expected", [
    (("--hosts", "a", "--spawn", "2"), "--hosts lists the workers and starts them.*--spawn"),
    (("--hosts", "a", "--workers", "2"), "--hosts .*--workers"),
    (("--hosts", "a", "-+m", "x"), "use only one of the two"),
    (("--hosts", "a", "--transport", "local"), "--transport local"),
    (("--launcher", "ssh"), "--launcher .*needs --hosts"),
    (("--copy-binary",), "--copy-binary .*needs --hosts"),
    (("-+m", "x", "--copy-binary"), "-\\+m .*names the program"),
    (("--hosts", "a:22", "--launcher", "rsh {hots}"), "(?s){hots} is unknown.*host a:22 has a port"),
    (("--hosts", "@/nonexistent/hosts"), "/nonexistent/hosts.*ENOENT"),
])
def test_options_that_do_not_go_together(words, expected, path):
    outcome = program.plain(*words, *SMALL, "--path", path).expect(1)
    assert re.search(expected, outcome.stderr), outcome


def test_hosts_of_this_machine_need_no_listening_to_the_world(shell, path, out):
    outcome = program.run(["--hosts", "localhost*2", "--launcher", shell.launcher, *SMALL], path=path, out=out).expect(0)
    assert outcome.result["run"]["worker_count"] == 2


# ------------------------------------------------------------------------------------------------- --copy-binary


def copies(sshd):
    return sorted(file for file in sshd.cache.rglob("*") if file.is_file())


@pytest.mark.unsanitized
def test_the_program_is_copied_once_and_checked_before_use(sshd, path, out):
    words = [*on_hosts("c[1-2]*2", sshd.launcher, "--copy-binary"), *SMALL]
    program.run(words, path=path, out=out).expect(0)
    (copy,) = copies(sshd)
    assert re.fullmatch(r"cluster-iobench-worker\.[0-9a-f]{64}", copy.name)
    assert copy.parent.name == program.plain("--version").stdout.split()[1]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o700 and stat.S_IMODE(copy.parent.stat().st_mode) == 0o700
    first, logins = copy.stat(), sshd.logins()
    program.run(words, path=path, out=out.with_name("second")).expect(0)
    assert copy.stat().st_ino == first.st_ino and copy.stat().st_mtime_ns == first.st_mtime_ns
    assert sshd.logins() - logins == 2, "where the program is, one login is enough"
    with open(copy, "r+b") as file:     # damage it
        file.seek(100_000)
        file.write(b"damaged")
    program.run([*on_hosts("c1", sshd.launcher, "--copy-binary"), *SMALL], path=path, out=out.with_name("third")).expect(0)
    (again,) = copies(sshd)
    assert again == copy and again.stat().st_ino != first.st_ino


@pytest.mark.unsanitized
def test_a_program_of_another_version_is_not_shipped(shell, path, out, monkeypatch):
    for name in ("cluster-iobench", "cluster-iobench-worker"):
        shutil.copy(pathlib.Path(program.BINARY).with_name(name), shell.directory)
    version = program.plain("--version").stdout.split()[1].encode()
    worker = shell.directory / "cluster-iobench-worker"
    worker.write_bytes(worker.read_bytes().replace(version, version[::-1]))
    monkeypatch.setattr(program, "BINARY", str(shell.directory / "cluster-iobench"))
    outcome = program.run([*on_hosts("a", shell.launcher, "--copy-binary"), *SMALL], path=path, out=out).expect(1)
    assert "is not of this program's version" in outcome.stderr and shell.started() == [], outcome


@pytest.mark.unsanitized
def test_the_copy_is_what_runs(sshd, path, out):
    words = [*on_hosts("c1", sshd.launcher, "--copy-binary"), "-i", "0", "-+n", "-r", "4k", "-s", "1m", "--time", "600"]
    with program.start(words, path=path, out=out) as running:
        running.wait_until(lambda: running.data_bytes() > 0, "lanes write")
        (copy,) = copies(sshd)
        assert processes_with(f"{copy} worker --join")
        running.interrupt()
        running.wait()


@pytest.mark.unsanitized
def test_the_self_contained_worker_runs_where_there_is_nothing_else(shell, tmp_path, out):
    """In a root directory that holds only this file, /proc and the directory to test: no library, no shell, no /etc."""
    if os.geteuid() != 0:
        pytest.skip("only root can change its root directory")
    root = tmp_path / "root"
    for directory in ("proc", "data"):
        (root / directory).mkdir(parents=True)
    shutil.copy(pathlib.Path(program.BINARY).with_name("cluster-iobench-worker"), root)
    wrapper = shell.directory / "cluster-iobench"
    wrapper.write_text(f'#!/bin/sh\nexec unshare -m sh -c \'mount --bind /proc {root}/proc && exec chroot {root} '
                       f'/cluster-iobench-worker "$@"\' sh "$@"\n')
    wrapper.chmod(0o755)
    shell.does(f'exec sh -c "$(echo "$2" | sed "s,{program.BINARY},{wrapper},g")"')
    outcome = program.run([*on_hosts("a*2", shell.launcher), *SMALL, "--verify", "-w"], path="/data", out=out).expect(0)
    check_report(outcome.result)
    assert len(list((root / "data").glob("*/lane-*"))) == 2


@pytest.mark.unsanitized
def test_a_copy_that_cannot_be_written_is_reported_with_the_host(sshd, shell, path, out):
    shell.does('HOME=/proc/nowhere; export HOME; unset XDG_CACHE_HOME')
    outcome = program.run([*on_hosts("a", shell.launcher, "--copy-binary"), *SMALL], path=path, out=out)
    assert outcome.code not in (0, None), outcome
    assert "host a: " in outcome.stderr and "before the program was copied" in outcome.stderr, outcome
    assert "/proc/nowhere" in outcome.stderr


@pytest.mark.unsanitized
def test_a_host_with_another_processor_is_named(shell, path, out):
    (shell.directory / "uname").write_text("#!/bin/sh\necho sparc64\n")
    (shell.directory / "uname").chmod(0o755)
    shell.does('PATH="$D:$PATH"; export PATH')
    outcome = program.run([*on_hosts("a", shell.launcher, "--copy-binary"), *SMALL], path=path, out=out)
    assert "this host is sparc64, and the program to copy is built for" in outcome.stderr, outcome
