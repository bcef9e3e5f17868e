"""A target without a mount (--path nfs://…) is checked, claimed, shared and removed like a mounted one."""
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import time

import ganesha
import program
import pytest
from test_client_list import Clients

SHAPE = ("-r", "64k", "-s", "1m")


@pytest.fixture(scope="module")
def server():
    libraries = subprocess.run(["ldd", program.BINARY], capture_output=True, text=True, check=True).stdout
    assert "libnfs" in libraries, "built without libnfs: these tests are registered only where it is"
    ganesha.need()
    with ganesha.Ganesha() as running:
        yield running


class Export:
    """A directory of the server: its URL, and its path on this host's disk."""

    def __init__(self, server, name):
        self.server, self.name = server, name
        self.disk = server.export / name
        self.disk.mkdir()
        (self.disk / "somebody-elses").write_text("not yours")

    def url(self, **arguments):
        return self.server.url(self.name, **arguments)

    @property
    def plain_url(self):
        return self.url().split("?")[0]

    @property
    def data(self):
        return self.disk / program.DATA_DIRECTORY

    def data_files(self):
        return sorted(file.name for file in self.data.iterdir() if not file.name.startswith("manifest"))


@pytest.fixture
def export(server, request):
    made = Export(server, f"e{abs(hash(request.node.nodeid))}")
    yield made
    assert (made.disk / "somebody-elses").read_text() == "not yours"
    strangers = {entry.name for entry in made.disk.iterdir()} - {"somebody-elses", program.DATA_DIRECTORY}
    assert not strangers, f"written outside the data directory: {strangers}"
    shutil.rmtree(made.disk)


def run(export, out, *options, **more):
    return program.run(["--engine", "libnfs", *options], path=export.url(), out=out, **more)


def one_line(outcome, code=1):
    outcome.expect(code)
    lines = outcome.stderr.strip().splitlines()
    assert len(lines) == 1, outcome
    return lines[0]


def target_facts(outcome):
    return outcome.result["clients"][0]["targets"][0]


def test_directories_of_the_server_are_like_any_others(server):
    suite = pathlib.Path(program.BINARY).parent / "tests" / "storage_test"
    done = subprocess.run([suite, "a directory of an NFS server"], capture_output=True, text=True, check=False,
                          timeout=program.PATIENCE_S,
                          env=program.clean_environment(IOBENCH_NFS_URL=server.url(),
                                                        IOBENCH_NFS_EXPORT=str(server.export)))
    assert done.returncode == 0 and "All tests passed" in done.stdout, done.stdout


def test_a_run_writes_reads_and_leaves_nothing(export, out):
    outcome = run(export, out, "-i", "0", "-i", "1", "-i", "2", "-c", "-e", "-x", "-t", "3", *SHAPE).expect(0)
    for operation in ("write", "rewrite", "read", "reread", "random-read", "random-write"):
        assert outcome.phase(operation)["bytes"] == 3 << 20
    assert not export.data.exists()


def test_the_report_says_what_is_known_of_the_target_and_nothing_else(export, out):
    outcome = run(export, out, "-i", "0", "-i", "1", *SHAPE).expect(0)
    target = target_facts(outcome)
    assert target["path"] == export.url()
    assert target["filesystem"] == "nfs3 (libnfs)"
    assert target["mount_source"] == f"127.0.0.1:{export.disk}"
    assert "vers=3" in target["mount_options"] and "rsize=" in target["mount_options"]
    assert "libnfs" in outcome.stdout and "127.0.0.1:" in outcome.stdout
    saved = json.loads((out / "result.json").read_text())
    for phase in saved["phases"]:
        for client in phase["clients"]:
            assert not client["host_delta"].get("nfs"), "there is no mount whose counters could be read"
        assert not [mark for mark in phase["marks"] if mark["code"] == "cached"], "nothing is cached"


def test_data_that_one_run_keeps_another_reads_and_verifies(export, tmp_path):
    shape = (*SHAPE, "-t", "2", "--verify")
    run(export, tmp_path / "1", "-i", "0", "-+n", "-w", *shape).expect(0)
    assert export.data_files() == ["lane-000000.0", "lane-000001.0"]
    before = {name: (export.data / name).read_bytes() for name in export.data_files()}
    assert all(len(data) == 1 << 20 for data in before.values())
    second = run(export, tmp_path / "2", "-i", "1", "-+n", "-w", *shape).expect(0)
    assert sum(step["bytes"] for step in second.phase("read")["steps"]) == 0, "nothing is written to prepare it"
    assert {name: (export.data / name).read_bytes() for name in export.data_files()} == before
    run(export, tmp_path / "3", "-i", "1", "-+n", *shape).expect(0)
    assert not export.data.exists(), "without -w the last user removes them"


def test_data_kept_on_a_mount_are_read_without_one_and_the_other_way_round(export, tmp_path):
    """The server's own directory stands in for a mount of its export."""
    shape = (*SHAPE, "-t", "2", "--verify", "-+n", "-w")
    program.run(["-i", "0", *shape], path=export.disk, out=tmp_path / "1").expect(0)
    read = run(export, tmp_path / "2", "-i", "1", *shape).expect(0).phase("read")
    assert read["verify"]["sectors"] == 2 * (1 << 20) // 512 and read["verify"]["mismatched"] == 0
    run(export, tmp_path / "3", "-i", "0", *shape).expect(0)
    read = program.run(["-i", "1", *shape], path=export.disk, out=tmp_path / "4").expect(0).phase("read")
    assert read["verify"]["sectors"] == 2 * (1 << 20) // 512 and read["verify"]["mismatched"] == 0
    program.plain("clean", export.disk).expect(0)
    assert not export.data.exists()


def test_a_run_that_is_forced_in_keeps_its_data_when_the_first_one_ends(export, out, tmp_path):
    """The first run seems to be on another host, and is stopped while the second runs, so that it learns nothing of it."""
    with program.start(["--engine", "libnfs", "-i", "0", "--time", "100", "-t", "2", *SHAPE], path=export.url(),
                       out=out) as first:
        first.wait_until(lambda: export.data.exists() and len(export.data_files()) == 2, "both lanes")
        first.interrupt(signal.SIGSTOP)
        manifest = json.loads((export.data / "manifest.json").read_text())
        for process in ("process", "coordinator"):
            manifest[process]["boot_id"] = "x" * len(manifest[process]["boot_id"])
        (export.data / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
        run(export, tmp_path / "second", "-i", "0", "-+n", "--force", "-w", "-t", "2", *SHAPE).expect(0)
        kept = {entry.name: entry.read_bytes() for entry in export.data.iterdir()}
        assert sorted(kept) == ["lane-000000.0", "lane-000001.0", "manifest.json"]
        first.interrupt(signal.SIGCONT)
        first.interrupt()
        outcome = first.wait()
    assert {entry.name: entry.read_bytes() for entry in export.data.iterdir()} == kept
    assert "belongs to another run now" in outcome.stderr and export.plain_url in outcome.stderr, outcome


def test_clean_leaves_what_only_looks_like_ours(export, out):
    run(export, out, "-i", "0", "-+n", "-w", "-t", "2", *SHAPE).expect(0)
    (export.data / "lane-000099.0").write_text("precious")
    cleaned = program.plain("clean", export.url()).expect(0)
    assert "lane-000099.0" in cleaned.stdout
    assert export.data_files() == ["lane-000099.0"] and (export.data / "lane-000099.0").read_text() == "precious"


def test_kept_data_that_do_not_fit_are_left_alone(export, tmp_path):
    run(export, tmp_path / "1", "-i", "0", "-+n", "-w", "-t", "1", *SHAPE).expect(0)
    line = one_line(run(export, tmp_path / "2", "-i", "1", "-t", "1", "-r", "64k", "-s", "2m"))
    assert export.plain_url in line and "bytes per lane" in line
    assert export.data_files() == ["lane-000000.0"]


def test_trees_that_a_run_kept_on_a_mount_are_not_taken_over_without_one(export, tmp_path):
    """They stay accounted for, so that `clean` on the mount removes them."""
    program.run(["--op", "write", "--op", "create", "--items", "5", "-t", "1", "-w", *SHAPE], path=export.disk,
                out=tmp_path / "1").expect(0)
    before = sorted(export.data.rglob("*"))
    refused = run(export, tmp_path / "2", "-i", "0", "-+n", "-t", "1", *SHAPE).expect(2)
    assert "tree-000000.0" in refused.stderr and "cluster-iobench clean" in refused.stderr, refused
    assert "not ours" not in refused.stderr and sorted(export.data.rglob("*")) == before, refused
    assert export.data / "lane-000000.0" in before and export.data / "tree-000000.0" / "item-00000004" in before
    program.plain("clean", export.disk).expect(0)
    assert not export.data.exists()


def test_reads_are_prepared(export, out):
    outcome = run(export, out, "-i", "1", "-+n", "-t", "2", "--files-per-lane", "2", *SHAPE).expect(0)
    assert sum(step["bytes"] for step in outcome.phase("read")["steps"]) == 2 << 20
    assert not export.data.exists()


@pytest.mark.parametrize("options", [("-t", "4"), ("--spawn", "2", "-t", "2")])
def test_lanes_share_a_file(options, export, out):
    outcome = run(export, out, "-i", "0", "-i", "1", "-+V", "-w", "--verify", *options, *SHAPE).expect(0)
    assert outcome.phase("read")["bytes"] == 4 << 20
    assert export.data_files() == ["shared"]
    assert (export.data / "shared").stat().st_size == 4 << 20


def test_workers_spread_over_several_targets(server, export, out):
    other = Export(server, export.name + "-2")
    outcome = program.run(["--engine", "libnfs", "-i", "0", "-+n", "-w", "--spawn", "2", "-t", "1", *SHAPE,
                           "--path", other.url()], path=export.url(), out=out).expect(0)
    assert outcome.phase("write")["bytes"] == 2 << 20
    assert len(export.data_files()) == len(other.data_files()) == 1
    for each in (export, other):
        assert "removed 1 file" in program.plain("clean", each.url()).expect(0).stdout
        assert not each.data.exists()


def test_one_worker_on_a_mount_and_one_without(export, path, out, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text(f"""
targets:
  - {{path: {path}, who: {{workers: [0]}}}}
  - {{path: '{export.url()}', who: {{workers: [1]}}}}
files: {{bytes_per_lane: 1m}}
keep_data: true
phases:
  - assignments:
      - {{who: {{workers: [0]}}, operation: {{name: write, engine: posix, record_bytes: 64k}}}}
      - {{who: {{workers: [1]}}, operation: {{name: write, engine: libnfs, record_bytes: 64k}}}}
""")
    outcome = program.plain("--plan", plan, "--spawn", "2", "--out", out).expect(0)
    outcome.out = out
    (phase,) = outcome.phases
    assert phase["bytes"] == 2 << 20 and phase["engine"] == "posix+libnfs"
    assert sorted(file.name for file in (path / program.DATA_DIRECTORY).iterdir()) == ["lane-000000.0", "manifest.json"]
    assert export.data_files() == ["lane-000001.0"]
    swapped = plan.read_text().replace("engine: posix", "engine: ENGINE").replace("engine: libnfs", "engine: posix")
    plan.write_text(swapped.replace("engine: ENGINE", "engine: libnfs"))
    line = one_line(program.plain("--plan", plan, "--spawn", "2", "--out", tmp_path / "swapped"))
    assert "worker 0" in line and "--engine libnfs" in line and str(path) in line


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_targets_that_are_the_same_directory_are_removed_by_two_at_once(host, export, out):
    """Files that one worker has removed are stale for the other."""
    paths = ["--path", export.url(), "--path", export.url().replace("127.0.0.1", host)]
    for round in range(5):
        outcome = program.plain("run", "--engine", "libnfs", *paths, "--spawn", "2", "-i", "0", "-t", "1", "-s", "1m",
                                "--out", out / str(round))
        outcome.expect(0)
        assert "ESTALE" not in outcome.stdout + outcome.stderr
        assert not export.data.exists()


def test_an_agent_brings_its_own_url(export, out, tmp_path, server):
    address = f"127.0.0.1:{program.free_port()}"
    elsewhere = Export(server, export.name + "-plan")
    agent = (program.BINARY, "worker", "--join", address, "--path", export.url())
    outcome = program.run(["--engine", "libnfs", "-i", "0", "-+n", "-w", "--listen", address, "--workers", "1",
                           "-t", "1", *SHAPE], path=elsewhere.url(), out=out, helpers=[agent]).expect(0)
    assert target_facts(outcome)["path"] == export.url()
    assert export.data_files() == ["lane-000000.0"]
    assert not elsewhere.data.exists()


def test_a_list_of_clients_says_which_export(server, export, tmp_path, out):
    other = Export(server, export.name + "-2")
    clients = Clients(tmp_path)
    listed = clients.list(*(f"localhost {tmp_path} {program.BINARY} {each.url()}" for each in (export, other)))
    clients.run(*listed, "--engine", "libnfs", "-i", "0", "-+n", "-w", *SHAPE, out=out).expect(0)
    assert export.data_files() == ["lane-000000.0"] and other.data_files() == ["lane-000001.0"]


def test_a_file_in_an_export_says_where_data_go(export, out):
    program.plain("--engine", "libnfs", "-i", "0", "-+n", "-w", *SHAPE, "--out", out, "-f",
                  export.server.url(f"{export.name}/testfile")).expect(0)
    assert export.data_files()[0] == "lane-000000.0"


def test_what_a_killed_run_leaves_is_refused_and_then_cleaned(export, tmp_path):
    with program.start(["--engine", "libnfs", "-i", "0", "--time", "60", "-t", "2", *SHAPE], path=export.url(),
                       out=tmp_path / "1") as running:
        running.wait_until(lambda: export.data.exists() and len(export.data_files()) == 2, "the data are there")
        os.killpg(running.process.pid, signal.SIGKILL)
        running.process.wait()
    line = one_line(run(export, tmp_path / "2", "-i", "0", *SHAPE))
    assert f"cluster-iobench clean {shlex.quote(export.url())}" in line and export.plain_url in line
    (export.data / "results.txt").write_text("precious")
    cleaned = program.plain("clean", export.url()).expect(0)
    assert "removed 2 files" in cleaned.stdout
    assert f"left alone, not ours: {export.plain_url}/{program.DATA_DIRECTORY}/results.txt" in cleaned.stdout
    assert (export.data / "results.txt").read_text() == "precious"
    (export.data / "results.txt").unlink()
    program.plain("clean", export.server.url(f"{export.name}/{program.DATA_DIRECTORY}")).expect(0)
    assert not export.data.exists()


def test_foreign_data_are_neither_used_nor_removed(export, out):
    export.data.mkdir()
    (export.data / "lane-000000.0").write_text("whose?")
    line = one_line(run(export, out, "-i", "0", *SHAPE))
    assert "not ours" in line and export.plain_url in line
    program.plain("clean", export.url()).expect(1)
    assert (export.data / "lane-000000.0").read_text() == "whose?"


def test_a_link_in_place_of_the_data_is_not_followed(export, out, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    export.data.symlink_to(elsewhere)
    line = one_line(run(export, out, "-i", "0", *SHAPE))
    assert "symbolic link" in line
    assert not list(elsewhere.iterdir())
    export.data.unlink()


def test_space_is_looked_for_before_anything_is_written(export, out):
    line = one_line(run(export, out, "-i", "0", "-r", "1m", "-s", "1048576g"))
    assert "are free" in line and export.plain_url in line
    assert not export.data.exists()


@pytest.mark.parametrize("options, words", [
    ((), ("--engine posix", "nfs://", "--engine libnfs")),
    (("--engine", "uring"), ("--engine uring", "nfs://")),
    (("--engine", "libnfs", "-I"), ("-I", "libnfs")),
    (("--engine", "libnfs", "-W"), ("-W", "libnfs")),
    (("--engine", "libnfs", "-+l"), ("-+l", "libnfs")),
    (("--engine", "libnfs", "-i", "1", "-K"), ("-K", "libnfs")),
    (("--engine", "libnfs", "--fadvise", "random"), ("--fadvise", "libnfs")),
    (("--engine", "libnfs", "--preallocate"), ("--preallocate", "libnfs")),
    (("--engine", "libnfs", "-i", "1", "--drop-caches"), ("--drop-caches", "libnfs")),
    (("--engine", "libnfs", "-U", "/mnt"), ("-U", "libnfs")),
    (("--engine", "libnfs", "--stripe", "2:1m"), ("--stripe",)),
    (("--engine", "libnfs", "--op", "write", "--op", "create"), ("libnfs", "create")),
    (("--engine", "libnfs", "-i", "6"), ("libnfs", "fwrite")),
])
def test_what_has_no_meaning_without_a_mount_is_refused(options, words, out):
    operation = () if {"--op", "-i"} & set(options) else ("-i", "0")
    line = one_line(program.run([*operation, *SHAPE, *options], path="nfs://server.invalid/export", out=out))
    assert all(word in line for word in words), line
    assert not out.exists()


def test_files_of_the_users_are_read_on_mounts_only(out):
    line = one_line(program.plain("--engine", "libnfs", "-i", "1", "-+n", *SHAPE, "--existing", "/etc/passwd",
                                  "--out", out))
    assert "libnfs" in line
    assert not out.exists()


@pytest.mark.parametrize("url, word", [
    ("nfs://", "path"), ("nfs://h", "path"), ("nfs:///e", "host"), ("nfs://h/e?version=4", "NFSv3"),
    ("nfs://h/e?readahead=1048576", "memory"), ("nfs://h/e?dircache=1", "memory"), ("nfs://h:x/e", "port"),
    ("nfs://h/e?color=red", "unknown argument"),
])
def test_a_bad_url_is_refused_before_anything_is_asked(url, word, out):
    line = one_line(program.run(["--engine", "libnfs", "-i", "0", *SHAPE], path=url, out=out))
    assert url in line and word in line
    assert word in one_line(program.plain("clean", url))


def test_the_engine_needs_a_url(path, out):
    line = one_line(program.run(["--engine", "libnfs", "-i", "0", *SHAPE], path=path, out=out))
    assert "--engine libnfs" in line and str(path) in line and "nfs://" in line


def test_what_cannot_be_mounted_is_said_in_one_line(server, out):
    line = one_line(program.run(["--engine", "libnfs", "-i", "0", *SHAPE], path=server.url("not-there"), out=out))
    assert "127.0.0.1" in line and "not-there" in line
    nobody = program.free_port()
    url = f"nfs://127.0.0.1/export?nfsport={nobody}&mountport={nobody}"
    line = one_line(program.run(["--engine", "libnfs", "-i", "0", *SHAPE], path=url, out=out))
    assert "127.0.0.1" in line
    assert not out.exists()


def test_a_host_that_does_not_exist_is_said_in_one_line(server, out):
    line = one_line(program.run(["--engine", "libnfs", "-i", "0", *SHAPE],
                                path="nfs://no-such-host.invalid/export?nfsport=2049&mountport=2049", out=out))
    assert "no-such-host.invalid" in line


def test_a_server_that_does_not_answer_is_given_up(export, out):
    export.server.freeze()
    try:
        begin = time.monotonic()
        outcome = run(export, out, "-i", "0", *SHAPE).expect(1)
        waited_s = time.monotonic() - begin
    finally:
        export.server.thaw()
    *meanwhile, line = outcome.stderr.strip().splitlines()
    assert "has not answered" in line and "127.0.0.1" in line
    assert all("warning" in each for each in meanwhile), "it says where it waits"
    assert waited_s < program.PATIENCE_S / 2


def test_a_server_for_low_ports_says_what_the_export_needs(server, monkeypatch, nobody, out):
    monkeypatch.setattr(ganesha, "CONFIG", ganesha.CONFIG.replace("Transports = TCP;",
                                                                  "Transports = TCP; PrivilegedPort = true;"))
    with ganesha.Ganesha() as strict:
        line = one_line(program.run(["--engine", "libnfs", "-i", "0", *SHAPE], path=strict.url(), out=out, prefix=nobody))
        assert "127.0.0.1" in line and str(strict.export) in line and "insecure" in line
        program.run(["--engine", "libnfs", "-i", "0", *SHAPE], path=strict.url(), out=out).expect(0)


def test_a_directory_that_may_not_be_written_is_said_with_what_to_do(export, out):
    os.chmod(export.disk, 0o555)
    line = one_line(program.run(["--engine", "libnfs", "-i", "0", *SHAPE], path=export.url(uid=12345, gid=12345),
                                out=out))
    assert "is not writable for user 12345 " in line and "uid=" in line
