"""The large run that tests of reports use has what a real one has."""
import json
import pathlib
import re
import shutil
import subprocess

import program

BIG_RUN = pathlib.Path(program.BINARY).parent / "tests" / "big_run"
PROTO = pathlib.Path(__file__).resolve().parents[2] / "proto"
SEAL_TAG = b"\xfa\xff\xff\xff\x0f"     # of field 536870911; its length follows
# Only local disks, or this machine, have them; the large run is one over NFS.
OF_LOCAL = {"disk_read_bytes", "disk_write_bytes", "all_disks_read_bytes", "dirty_bytes_after", "hole_bytes", "oom_kills"}
# The boot id is that of a local disk; the large run took no step that was not done, and none of IOzone's options.
OTHERS = {"targets.targets.boot_id", "workers.steps.outcome"}


def fields(file, message):
    """The paths of all fields that the message has. The seal behind it (raw_files.cc) is no part of it."""
    data = file.read_bytes()
    message_bytes = data.rindex(SEAL_TAG)
    assert data[message_bytes + len(SEAL_TAG)] == len(data) - message_bytes - len(SEAL_TAG) - 1
    decoded = subprocess.run([shutil.which("protoc"), "-I", PROTO, f"--decode=iobench.v1.{message}", "iobench/v1/result.proto"],
                             input=data[:message_bytes], capture_output=True, check=False)
    assert decoded.returncode == 0, decoded.stderr
    found, path = set(), []
    for line in decoded.stdout.decode("latin-1").splitlines():
        name = re.match(r" *(\w+)(: | \{)", line)
        if line.strip() == "}":
            path.pop()
        elif name:
            found.add(".".join([*path, name[1]]))
            if name[2] == " {":
                path.append(name[1])
    return found


def missing(message, file, pattern, real, large):
    written = [fields(each, message) for each in (large / "raw").glob(pattern)]  # not every phase is long enough for a second pass
    lacks = fields(real / "raw" / file, message) - set.union(*written)
    return {path for path in lacks - OTHERS if path.split(".")[-1] not in OF_LOCAL and path.split(".")[0] != "iozone"}


def test_the_large_run_has_every_field_of_a_real_one(path, out):
    program.run(["--spawn", "2", "-t", "2", "-i", "0", "-+n", "-I", "-r", "64k", "-s", "1m", "--time", "1"], path=path, out=out).expect(0)
    large = out.parent / "large"
    subprocess.run([BIG_RUN, large, "2", "2", "2"], check=True)
    assert missing("RunRecord", "run.pb", "run.pb", out, large) == set()
    assert missing("PhaseRecord", "phase-000.pb", "phase-*.pb", out, large) == set()


def test_the_large_run_has_no_errors_and_no_marks(tmp_path):
    subprocess.run([BIG_RUN, tmp_path / "run", "3", "2", "4"], check=True)
    report = json.loads(program.plain("report", str(tmp_path / "run"), "--format", "json").expect(0).stdout)
    for phase in report["phases"]:
        assert phase["errors"] == [] and phase["marks"] == [] and not phase["not_whole"], phase["name"]
