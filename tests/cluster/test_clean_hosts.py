"""`clean --hosts` cleans all hosts of a list at the same time, and touches nothing that is not ours."""
import hashlib
import json
import pathlib
import shutil
import stat
import time

import program
import pytest
from ssh_server import SshServer


class Shell:
    """A remote shell that runs the command here. HOST in the command becomes the host's name, as if each host had a
    directory of its own."""

    def __init__(self, directory):
        self.file = directory / "shell"
        self.launcher = f"{self.file} {{host}} {{command}}"
        self.does()

    def does(self, script=""):
        self.file.write_text(f'#!/bin/sh\nh=$1\n{script}\nexec sh -c "$(printf %s "$2" | sed "s/HOST/$h/g")"\n')
        self.file.chmod(self.file.stat().st_mode | stat.S_IXUSR)


@pytest.fixture(name="shell")
def fake_shell(tmp_path):
    return Shell(tmp_path)


def left_by_a_crash(path, tmp_path, name):
    """Makes data whose run was killed; returns their directory."""
    path.mkdir(exist_ok=True)
    with program.start(["-i", "0", "-+n", "-r", "4k", "-s", "64k", "--time", "100", "-+O", "50", "--transport", "local", "-t", "2"],
                       path=path, out=tmp_path / f"out-{name}") as running:
        running.wait_until(lambda: running.data_bytes() > 0, "data")
        running.process.kill()
        running.process.wait()
    (path / "somebody-elses").write_text("not yours")
    return path / program.DATA_DIRECTORY


def clean(shell, hosts, *words):
    return program.plain("clean", "--hosts", hosts, "--launcher", shell.launcher, *words)


def test_every_host_is_cleaned_and_all_faults_are_in_one_table(shell, tmp_path):
    data = [left_by_a_crash(tmp_path / host, tmp_path, host) for host in ("c1", "c2")]
    (data[1] / "foreign").write_text("theirs")
    shell.does('test "$h" = down && { echo "ssh: connect to host down port 22: Connection refused" >&2; exit 255; }\n'
               'test "$h" = bare && { echo "sh: 1: cluster-iobench: not found" >&2; exit 127; }')
    done = clean(shell, "c[1-2],down,empty,bare", f"{tmp_path}/HOST")
    assert done.code == 3, done
    lines = done.stdout.splitlines()
    assert any(line.startswith("c1 ") and "removed 2 files of cluster-iobench" in line for line in lines), done
    assert any(line.startswith("c2 ") and "left alone, not ours" in line for line in lines), done
    assert not data[0].exists() and [entry.name for entry in data[1].iterdir() if entry.name != "manifest.json"] == ["foreign"]
    faults = [line for line in lines if "FAILED" in line]
    assert [line.split()[0] for line in faults] == ["down", "empty", "bare"], done
    assert "Connection refused" in faults[0] and "sshd runs there" in faults[0], done
    assert "No such file or directory" in faults[1], done
    assert lines[-1] == "2 of 5 hosts are clean"
    assert all((tmp_path / host / "somebody-elses").read_text() == "not yours" for host in ("c1", "c2"))


def test_a_relative_directory_is_relative_to_where_the_command_is_typed(shell, tmp_path):
    data = left_by_a_crash(tmp_path / "c1", tmp_path, "c1")
    shell.does("cd /")       # as ssh does, in the login directory
    done = program.plain("clean", "--hosts", "c1", "--launcher", shell.launcher, "./HOST/", cwd=tmp_path)
    assert done.code == 0 and not data.exists(), done
    assert f"below {tmp_path}/c1" in done.stdout, done


def test_data_of_a_run_that_is_alive_stay_whatever_is_forced(shell, tmp_path):
    path = tmp_path / "c1"
    path.mkdir()
    with program.start(["-i", "0", "-+n", "-r", "4k", "-s", "64k", "--time", "100", "-+O", "50", "--transport", "local"], path=path,
                       out=tmp_path / "out") as running:
        running.wait_until(lambda: running.data_bytes() > 0, "data")
        manifest = path / program.DATA_DIRECTORY / "manifest.json"
        # The data as another host that shares the directory sees them.
        (tmp_path / "far").mkdir()
        far = tmp_path / "far" / program.DATA_DIRECTORY
        far.mkdir()
        seen = json.loads(manifest.read_text())
        for process in ("process", "coordinator"):
            seen[process]["boot_id"] = "another host's"
        (far / "manifest.json").write_text(json.dumps(seen))
        done = clean(shell, "c1,far", f"{tmp_path}/HOST", "--force")
        assert done.code == 3 and "is in use" in done.stdout and "cannot be seen from here" in done.stdout, done
        assert manifest.exists() and (far / "manifest.json").exists()
        running.interrupt()
        running.wait().expect(130)
    # No host sees the run alive any more: now --force counts.
    refused = clean(shell, "c1,far", f"{tmp_path}/HOST")
    assert refused.code == 3 and (far / "manifest.json").exists(), refused
    done = clean(shell, "c1,far", f"{tmp_path}/HOST", "--force")
    assert done.code == 0 and not far.exists(), done


def test_a_host_that_hangs_is_given_up_and_named(shell, tmp_path):
    data = left_by_a_crash(tmp_path / "c1", tmp_path, "c1")
    shell.does('test "$h" = hung && exec sleep 1000')
    begin = time.monotonic()
    done = clean(shell, "hung,c1", "--timeout", "3", f"{tmp_path}/HOST")
    assert done.code == 3 and "not done after 3" in done.stdout and not data.exists(), done
    assert "waiting for 1 host after" in done.stderr and "hung" in done.stderr, done
    assert time.monotonic() - begin < program.PATIENCE_S


@pytest.mark.unsanitized
def test_a_shipped_program_cleans_if_it_is_the_one_that_was_shipped(shell, tmp_path):
    """On a host that has no other program. Not one that somebody has put in its place, or can."""
    worker = pathlib.Path(program.BINARY).with_name("cluster-iobench-worker")
    digest = hashlib.sha256(worker.read_bytes()).hexdigest()
    copies = tmp_path / "cache" / "cluster-iobench"
    version = copies / program.plain("--version").stdout.split()[1]
    version.mkdir(parents=True)
    for directory in (copies, version):
        directory.chmod(0o700)
    copy = version / f"cluster-iobench-worker.{digest}"
    data = left_by_a_crash(tmp_path / "c1", tmp_path, "c1")
    shell.does(f'XDG_CACHE_HOME={tmp_path}/cache; export XDG_CACHE_HOME\n'
               f'set -- "$1" "$(printf %s "$2" | sed "s,{program.BINARY},/nonexistent,g")"')
    evil = f"#!/bin/sh\ntouch {tmp_path}/evil\n"
    (version / ("cluster-iobench-worker." + hashlib.sha256(evil.encode()).hexdigest())).write_text(evil)
    copy.write_text(evil)
    for file in version.iterdir():
        file.chmod(0o700)
    done = clean(shell, "c1", f"{tmp_path}/HOST")
    assert done.code == 3 and "command not found" in done.stdout, done
    shutil.copy(worker, copy)
    version.chmod(0o770)
    done = clean(shell, "c1", f"{tmp_path}/HOST")
    assert done.code == 3 and "can be changed by other users" in done.stdout and data.exists(), done
    version.chmod(0o700)
    done = clean(shell, "c1", f"{tmp_path}/HOST")
    assert done.code == 0 and not data.exists() and not (tmp_path / "evil").exists(), done


def test_copies_are_removed_over_ssh_and_other_files_stay(tmp_path):
    with SshServer(tmp_path) as sshd:
        sshd.write_client_config()
        ours = sshd.cache / "cluster-iobench" / "0.1.0+abc"
        ours.mkdir(parents=True)
        (ours / ("cluster-iobench-worker." + "0123456789abcdef" * 4)).write_text("a copy")
        (ours / ("cluster-iobench-worker." + "0123456789abcdef" * 4 + ".Xy12Zz")).write_text("cut off")
        foreign = [ours / "cluster-iobench-worker.mine", sshd.cache / "other" / "file"]
        for file in foreign:
            file.parent.mkdir(exist_ok=True)
            file.write_text("not yours")
        data = left_by_a_crash(tmp_path / "target", tmp_path, "ssh")
        done = program.plain("clean", "--hosts", "c1", "--launcher", sshd.launcher, "--copies", tmp_path / "target")
        assert done.code == 0 and "removed 2 copies" in done.stdout and not data.exists(), done
        assert [file.name for file in ours.iterdir()] == ["cluster-iobench-worker.mine"]
        assert all(file.read_text() == "not yours" for file in foreign)
        foreign[0].unlink()
        done = program.plain("clean", "--hosts", "c[1-2]", "--launcher", sshd.launcher, "--copies")
        assert done.code == 0 and not (sshd.cache / "cluster-iobench").exists(), done
        assert sshd.logins() == 1 + 1 + 2


@pytest.mark.parametrize("words, expected", [
    ((), "needs the directory"), (("--copies",), "--hosts"), (("/tmp", "--timeout", "5"), "--hosts"),
    (("--hosts", "c[2-1]", "/tmp"), "1-2")])
def test_options_that_do_not_go_together(words, expected):
    done = program.plain("clean", *words)
    assert done.code == 1 and expected in done.stderr, done


def test_several_directories_here(tmp_path):
    data = [left_by_a_crash(tmp_path / name, tmp_path, name) for name in ("a", "b")]
    done = program.plain("clean", tmp_path / "a", tmp_path / "b")
    assert done.code == 0 and not any(each.exists() for each in data), done
    assert all((tmp_path / name / "somebody-elses").exists() for name in ("a", "b"))
