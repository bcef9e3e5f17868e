"""validate as a whole program: what it prints, how it ends, and that it leaves nothing behind."""
import json
import os
import pathlib
import re
import subprocess
import time
import xml.etree.ElementTree

import jsonschema
import program
import pytest

QUICK = ("--names", "60", "--visible-within", "2")
# A user other than root may have no groups to check.
PASSED = "19 passed" if os.geteuid() == 0 else "passed"
BETWEEN_CLIENTS = {"close-to-open", "visibility", "mmap", "races", "locks", "append", "delegations", "renames",
                   "cache-modes"}


def validate(*options, path, workers="3"):
    return program.plain("validate", "--spawn", workers, *QUICK, *options, path)


def checks(outcome):
    return {check["name"]: check for check in json.loads(outcome.stdout)["checks"]}


def test_a_right_deployment_has_a_line_per_check_and_keeps_no_files(tmp_path):
    outcome = validate(path=tmp_path).expect(0)
    names = [line.split()[0] for line in program.plain("validate", "--list").expect(0).stdout.splitlines()]
    assert {"mounts", "client-identity", "dead-client"} <= set(names)
    shown = {line.split()[1]: line.split()[0] for line in outcome.stdout.splitlines() if line.startswith("  ") and
             len(line.split()) > 1 and line.split()[1] in names and not line.startswith("     ")}
    assert list(shown) == names
    assert all(shown[name] == "pass" for name in BETWEEN_CLIENTS)
    assert shown["durability"] == "skipped" and "--fault-hook" in outcome.stdout
    assert shown["quota"] == "skipped" and "--over-quota" in outcome.stdout
    assert PASSED in outcome.stdout
    assert os.listdir(tmp_path) == []


def test_one_process_checks_what_it_can(tmp_path):
    outcome = program.plain("validate", *QUICK, "--format", "json", tmp_path).expect(0)
    verdicts = {name: check["verdict"] for name, check in checks(outcome).items()}
    assert verdicts["limits"] == "pass" and verdicts["listings"] == "pass"
    assert all(verdicts[name] == "skipped" for name in BETWEEN_CLIENTS)
    assert os.listdir(tmp_path) == []


def test_only_and_skip_choose(tmp_path):
    outcome = validate("--only", "locks,mmap", "--skip", "mmap", "--format", "json", path=tmp_path).expect(0)
    assert list(checks(outcome)) == ["locks"]


class TwoDisks:
    """Two workers in mount namespaces of their own, which see different directories at one path."""

    def __init__(self, directory):
        self.path, self.own = directory / "mnt", directory / "own"
        self.path.mkdir()
        self.own.mkdir()
        self.socket = directory / "coordinator.sock"

    def worker(self, setup="true"):
        join = f"{program.BINARY} worker --join unix:{self.socket} --root / --join-timeout 30"
        return ("unshare", "-m", "--propagation", "private", "sh", "-c", f"{setup} && exec {join}")

    def validate(self, *options):
        words = [program.BINARY, "validate", "--listen", f"unix:{self.socket}", "--workers", "2", "--share-wait", "0.2",
                 *QUICK, *options, str(self.path)]
        workers = [self.worker(), self.worker(f"mount --bind {self.own} {self.path}")]
        with program.Running(words, self.path, self.path, program.clean_environment(), workers) as running:
            return running.wait()


@pytest.fixture
def disks(tmp_path):
    if os.geteuid() != 0:
        pytest.fail("needs root, for mount namespaces")
    return TwoDisks(tmp_path)


def test_a_failure_is_exit_code_4_and_a_waiver_makes_it_known(disks, tmp_path):
    outcome = disks.validate("--format", "json", "--skip", "visibility").expect(4)
    found = checks(outcome)
    assert found["storage"]["verdict"] == "fail" and found["storage"]["advice"]
    assert "is other storage than" in found["storage"]["evidence"][0]
    assert all(found[name]["verdict"] == "follows" and found[name]["follows_from"] == "storage"
               for name in BETWEEN_CLIENTS - {"visibility"})
    assert found["limits"]["verdict"] == "pass", "the other worker is checked without it"
    assert os.listdir(disks.path) == [] and os.listdir(disks.own) == []
    waivers = tmp_path / "waivers.yaml"
    waivers.write_text('storage: "two disks on purpose"\nlimits: "was wrong once"\n')
    known = disks.validate("--waive", str(waivers), "--skip", "visibility").expect(0)
    text = " ".join(known.stdout.split())
    assert "known storage" in text and "known: two disks on purpose" in text
    assert "passes now, although --waive names it: was wrong once" in text


def test_junit_goes_to_a_file_that_is_not_replaced_unasked(disks, tmp_path):
    file = tmp_path / "validate.xml"
    disks.validate("--format", "junit", "--output", str(file), "--only", "storage,limits").expect(4)
    (suite,) = xml.etree.ElementTree.parse(file).getroot()
    assert suite.attrib["tests"] == "2" and suite.attrib["failures"] == "1"
    cases = {case.attrib["name"]: case for case in suite.iter("testcase")}
    assert cases["storage"].find("failure") is not None and cases["limits"].find("failure") is None
    before = file.read_text()
    refused = program.plain("validate", "--output", file, tmp_path / "mnt").expect(1)
    assert "--force" in refused.stderr and file.read_text() == before
    for where in ("/nowhere/report", str(tmp_path), "/dev/null"):
        assert where in program.plain("validate", "--force", "--output", where, tmp_path / "mnt").expect(1).stderr


@pytest.mark.parametrize("words, said", [
    (["--only", "lock"], "did you mean locks?"),
    (["--skip", "nothing"], 'there is no check "nothing"'),
    (["--waive", "/nowhere"], "/nowhere"),
    (["--names", "0"], "--names"),
    (["--format", "csv"], "--format"),
    (["--visible-within", "never"], "--visible-within"),
    (["--size", "64m"], "add --per-client"),
    (["--phase-time", "1"], "add --per-client"),
    (["--outlier-below", "40"], "add --per-client"),
    (["--per-client", "--only", "locks"], "leave out all checks that use it"),
    (["--per-client", "--size", "4k"], "--size 4k"),
    (["--per-client", "--phase-time", "0"], "--phase-time"),
    (["--expect", "/nowhere"], "/nowhere"),
])
def test_bad_options_are_refused_in_one_line_before_anything_is_written(words, said, tmp_path):
    outcome = program.plain("validate", *words, tmp_path).expect(1)
    assert said in outcome.stderr and len(outcome.stderr.splitlines()) == 1
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("where", ["a file", "a directory", "nowhere"])
def test_a_report_that_cannot_be_written_is_refused_before_anybody_waits_for_workers(where, tmp_path):
    output = tmp_path / "report" if where != "nowhere" else tmp_path / "missing" / "report"
    if where == "a file":
        output.write_text("mine")
    if where == "a directory":
        output.mkdir()
    address = f"127.0.0.1:{program.free_port()}"
    outcome = program.plain("validate", "--listen", address, "--workers", "2", "--insecure", "--output", output, tmp_path)
    outcome.expect(1)
    assert "waiting for" not in outcome.stderr and len(outcome.stderr.splitlines()) == 1, outcome
    assert {"a file": "exists", "a directory": "not a regular file", "nowhere": "No such file"}[where] in outcome.stderr
    assert where != "a file" or output.read_text() == "mine"


def test_a_quota_that_nobody_enforces_fails_and_a_size_too_small_is_refused(tmp_path):
    outcome = validate("--only", "quota", "--over-quota", "3m", "--format", "json", path=tmp_path, workers="1").expect(4)
    assert checks(outcome)["quota"]["found"].startswith("3 MiB were stored without an error")
    assert os.listdir(tmp_path) == []
    outcome = validate("--over-quota", "3k", path=tmp_path).expect(1)
    assert "--over-quota 3k is not a size from 1m to 1t" in outcome.stderr
    outcome = validate("--over-quota", "3m", "--only", "locks", path=tmp_path).expect(1)
    assert "leave out the check that uses it: quota" in outcome.stderr


def test_a_directory_is_needed(tmp_path):
    assert "--path DIR" in program.plain("validate").expect(1).stderr
    assert "mount nfs://server/export" in program.plain("validate", "nfs://server/export").expect(1).stderr
    assert "only one" in program.plain("validate", "--path", tmp_path, f"{tmp_path}/other").expect(1).stderr
    outcome = program.plain("validate", tmp_path / "nowhere").expect(1)
    assert "does not exist" in " ".join(outcome.stderr.split()) and outcome.stdout == ""
    report = tmp_path / "report.json"
    program.plain("validate", "--format", "json", "--output", report, tmp_path / "nowhere").expect(1)
    written = json.loads(report.read_text())
    assert written["exit_code"] == 1 and {check["verdict"] for check in written["checks"]} == {"skipped"}
    assert "exists on no client" in written["checks"][0]["found"]
    nothing = program.plain("validate", "--only", "locks", tmp_path).expect(1)
    assert "no check could run" in nothing.stderr and "needs 2 clients" in nothing.stdout


def test_an_interrupt_ends_it_and_leaves_nothing(tmp_path):
    path = tmp_path / "data"
    path.mkdir()
    words = [program.BINARY, "validate", "--spawn", "2", "--whole", str(path)]
    with program.Running(words, path, path, program.clean_environment()) as running:
        running.wait_until(lambda: os.listdir(path), "a check has begun")
        running.interrupt()
        running.wait().expect(130)
    assert os.listdir(path) == []


def test_workers_whose_coordinator_is_killed_remove_what_was_made(tmp_path):
    path, temporary = tmp_path / "data", tmp_path / "temporary"
    path.mkdir()
    temporary.mkdir()
    socket = f"unix:{tmp_path}/socket"
    words = [program.BINARY, "validate", "--listen", socket, "--workers", "2", "--whole", "--lease", "2", str(path)]
    worker = (program.BINARY, "worker", "--join", socket, "--root", "/", "--join-timeout", "30")
    environment = program.clean_environment() | {"TMPDIR": str(temporary)}
    with program.Running(words, path, path, environment, [worker] * 2) as running:
        running.wait_until(lambda: any(".validate-" in name for name in os.listdir(path)), "a check has begun")
        running.process.kill()
        assert os.listdir(temporary) == []
        deadline = time.monotonic() + program.PATIENCE_S
        while os.listdir(path):
            assert time.monotonic() < deadline, os.listdir(path)
            time.sleep(0.1)


def test_a_fault_hook_that_does_nothing_is_told(tmp_path):
    path, log = tmp_path / "data", tmp_path / "hook"
    path.mkdir()
    hook = f"echo \"$IOBENCH_PATH\" > {log}"
    outcome = validate("--fault-hook", hook, "--only", "durability,failover,lock-reclaim", "--format", "json",
                       path=path).expect(0)
    assert log.read_text().strip() == str(path)
    found = checks(outcome)
    assert {check["verdict"] for check in found.values() if check["verdict"] != "skipped"} == {"warn"}
    assert all("no fault was seen" in found[name]["found"] for name in ("durability", "failover", "lock-reclaim"))
    figures = {figure["name"]: figure["value"] for figure in found["durability"]["figures"]}
    assert figures["acknowledged_writes"] > 0 and figures["lost_blocks"] == 0
    assert os.listdir(path) == []


def test_a_fault_hook_that_fails_or_never_returns_fails_the_checks(tmp_path):
    failed = validate("--fault-hook", "echo no server >&2; exit 7", "--only", "failover", path=tmp_path).expect(4)
    said = " ".join(failed.stdout.split())
    assert "exit code 7" in said
    kept = pathlib.Path(re.search(r"see (\S+/cluster-iobench-hook-\w+)", said)[1])
    assert kept.read_text() == "no server\n"
    kept.unlink()
    # A command line that no other test on this machine has.
    nap = f"sleep {1_000_000 + os.getpid()}"
    endless = validate("--fault-hook", nap, "--fault-timeout", "1", "--only", "failover", path=tmp_path).expect(4)
    assert "--fault-timeout" in " ".join(endless.stdout.split())
    assert subprocess.run(["pgrep", "-f", f"^{nap}$"], capture_output=True, check=False).returncode == 1
    assert os.listdir(tmp_path) == []


def test_a_failed_check_counts_more_than_files_that_are_left(tmp_path):
    hook = 'cd "$IOBENCH_PATH"/cluster-iobench.validate-* && mkdir -p a/b/c/d/e; exit 7'
    outcome = validate("--fault-hook", hook, "--only", "failover", path=tmp_path).expect(4)
    assert "exit code 7" in " ".join(outcome.stdout.split()) and "remove it by hand" in outcome.stderr, outcome


@pytest.mark.mpi
def test_ranks_validate_too(tmp_path):
    done = subprocess.run([*program.mpirun(2), program.BINARY, "validate", *QUICK, str(tmp_path)], capture_output=True,
                          text=True, timeout=program.PATIENCE_S, env=program.clean_environment(), check=False)
    assert done.returncode == 0 and PASSED in done.stdout, done
    assert os.listdir(tmp_path) == []


PERFORMANCE = ("client-rates", "network-limit", "scaling", "metadata-rates", "latency-tail")
BRIEFLY = ("--size", "4m", "--phase-time", "0.3")


def test_each_worker_alone_and_then_all(tmp_path):
    outcome = validate("--per-client", *BRIEFLY, "--only", ",".join(PERFORMANCE), "--format", "json", path=tmp_path,
                       workers="2")
    found = checks(outcome)
    # The machine does other work: rates may differ, and phases are too short to fail because of that.
    outcome.expect(0)
    assert list(found) == list(PERFORMANCE)
    assert found["network-limit"]["verdict"] == "skipped", "a local file system has no interface"
    for name in ("client-rates", "scaling", "metadata-rates", "latency-tail"):
        assert found[name]["verdict"] in ("pass", "warn"), found[name]
    figures = {figure["name"]: figure["value"] for check in found.values() for figure in check["figures"]}
    alone = [name for name in figures if name.startswith(("write_alone_worker_", "read_alone_worker_"))]
    assert len(alone) == 4 and all(figures[name] > 0 for name in alone), figures
    assert figures["create_per_s"] > 0 and figures["unlink_per_s"] > 0 and figures["write_p99"] > 0
    valid = json.loads((pathlib.Path(__file__).parents[2] / "docs" / "validate.schema.json").read_text())
    assert list(jsonschema.Draft202012Validator(valid).iter_errors(json.loads(outcome.stdout))) == []
    assert "measuring performance: 15 phases, about " in outcome.stderr
    assert os.listdir(tmp_path) == []


def test_one_worker_is_measured_without_comparison(tmp_path):
    found = checks(program.plain("validate", "--per-client", *BRIEFLY, "--only", ",".join(PERFORMANCE), "--format", "json",
                                 tmp_path).expect(0))
    assert found["client-rates"]["verdict"] == found["scaling"]["verdict"] == "skipped"
    assert found["latency-tail"]["verdict"] == "pass"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("has_manifest", [True, False], ids=["kept", "foreign"])
def test_data_of_another_run_are_left_alone_and_fail_what_would_replace_them(has_manifest, tmp_path):
    program.plain("--path", tmp_path, "-i", "0", "-s", "64k", "-w", "--out", tmp_path / "out").expect(0)
    data = tmp_path / "cluster-iobench.data"
    if not has_manifest:
        (data / "manifest.json").unlink()
    before = sorted(os.listdir(data))
    outcome = validate("--per-client", *BRIEFLY, "--only", "client-rates,latency-tail", path=tmp_path).expect(4)
    text = " ".join(outcome.stdout.split())
    assert "FAIL client-rates not measured: " in text and "skipped latency-tail" in text
    assert before and sorted(os.listdir(data)) == before


EXPECTED = """
performance:
  client_write_min: 1 kB/s
  total_create_min: 1/s
  write_longest_max: 600 s
facts:
  clients: 1
  processors: ">= 1"
"""


def test_expectations_are_judged_one_by_one(tmp_path):
    path, file = tmp_path / "data", tmp_path / "expect.yaml"
    path.mkdir()
    file.write_text(EXPECTED)
    only = ("--only", "expected,latency-tail", *BRIEFLY, "--expect", file)
    met = validate(*only, "--format", "json", path=path, workers="2")
    lines = checks(met)["expected"]["evidence"]
    assert len(lines) == 5
    # Writes that a file system in memory or a page cache has absorbed meet no expectation.
    assert all(line.startswith("met: ") or "undecided" in line for line in lines), lines
    file.write_text(EXPECTED.replace("clients: 1", "clients: 7").replace("total_create_min: 1/s",
                                                                         "total_create_min: 900000 k/s"))
    missed = validate(*only, path=path, workers="2").expect(4)
    text = " ".join(missed.stdout.split())
    assert "FAIL expected" in text and "not met: clients = 7: there are 1" in text
    assert "not met: total_create_min 900000 k/s: all has " in text
    junit = validate(*only, "--format", "junit", path=path, workers="2").expect(4)
    (suite,) = xml.etree.ElementTree.fromstring(junit.stdout)
    (failed,) = [case.attrib["name"] for case in suite.iter("testcase") if case.find("failure") is not None]
    assert failed == "expected"
    assert os.listdir(path) == []


def test_facts_alone_need_no_measurement(tmp_path):
    path, file = tmp_path / "data", tmp_path / "expect.yaml"
    path.mkdir()
    file.write_text("facts:\n  clients: 1\n")
    outcome = validate("--only", "expected", "--expect", file, path=path).expect(0)
    assert "measuring" not in outcome.stderr and "all 1 expectations of" in " ".join(outcome.stdout.split())


@pytest.mark.parametrize("text, said", [
    ("facts:\n  nconect: 4\n", "expect.yaml:2: there is no expectation \"nconect\"; did you mean nconnect?"),
    ("performance:\n  client_write_min: fast\n", "expect.yaml:2: client_write_min: \"fast\" is not a rate"),
    ("performance:\n  write_p99_max: 2 s\n  write_longest_max: 1 s\n", "contradicts"),
    ("facts: [", "not valid YAML"),
    ("", "expectations are the maps"),
])
def test_bad_expectations_are_refused_in_one_line_before_anything_is_written(text, said, tmp_path):
    path, file = tmp_path / "data", tmp_path / "expect.yaml"
    path.mkdir()
    file.write_text(text)
    outcome = program.plain("validate", "--expect", file, path).expect(1)
    assert said in outcome.stderr and len(outcome.stderr.splitlines()) == 1
    assert os.listdir(path) == []


@pytest.mark.parametrize("example", sorted((pathlib.Path(__file__).parents[2] / "deploy" / "expect").glob("*.yaml")), ids=lambda file: file.stem)
def test_the_shipped_expectations_can_be_read(example, tmp_path):
    """A local file system does not meet them."""
    outcome = validate("--only", "expected", "--expect", example, *BRIEFLY, path=tmp_path).expect(4)
    assert "not met: filesystem = nfs or nfs4" in " ".join(outcome.stdout.split())
    assert os.listdir(tmp_path) == []


def test_an_interrupt_while_measuring_leaves_nothing(tmp_path):
    path = tmp_path / "data"
    path.mkdir()
    words = [program.BINARY, "validate", "--spawn", "2", "--only", "client-rates", "--phase-time", "30", str(path)]
    with program.Running(words, path, path, program.clean_environment()) as running:
        running.wait_until(lambda: "cluster-iobench.data" in os.listdir(path), "a phase has begun")
        time.sleep(0.5)
        running.interrupt()
        running.wait().expect(130)
    assert os.listdir(path) == []
