"""What a process gets from whoever starts it: standard descriptors that are closed."""
import itertools
import subprocess

import pytest

import program

SMALL = ("-i", "0", "-i", "1", "-s", "1m", "-r", "64k", "-t", "1")

# ------------------------------------------------------------------------------------------- closed descriptors

CLOSED = [closed for count in (1, 2, 3) for closed in itertools.combinations((0, 1, 2), count)]


def without(descriptors, *command):
    """The command, started with these of the standard descriptors closed."""
    closing = "".join(f" {number}{'<' if number == 0 else '>'}&-" for number in descriptors)
    return ("bash", "-c", f'exec "$@"{closing}', "bash", *command)


@pytest.mark.parametrize("closed", CLOSED, ids=str)
def test_closed_standard_descriptors_are_not_taken_by_files(closed, path, out):
    outcome = program.run([*SMALL, "--spawn", "2", "--verify", "-w"], path=path, out=out, prefix=without(closed)).expect(0)
    assert [phase["name"] for phase in outcome.phases] == ["write", "rewrite", "read", "reread"]
    assert (outcome.stdout == "") == (1 in closed) and outcome.stderr == ""
    assert program.plain("report", out).expect(0).stdout.count("reread") > 0
    assert [file.stat().st_size for file in sorted(outcome.data.glob("lane-*"))] == [1 << 20] * 2


@pytest.mark.parametrize("closed", [(0,), (1,), (0, 1, 2)], ids=str)
def test_a_hook_and_a_worker_get_all_three_descriptors(closed, path, out, tmp_path):
    """What they print, or read, must not be a file of the run."""
    hook = f"readlink /proc/self/fd/0 > {tmp_path}/hook; cat; echo out; echo err >&2"
    address = f"unix:{tmp_path}/socket"
    worker = without(closed, program.BINARY, "worker", "--join", address)
    program.run([*SMALL, "--listen", address, "--workers", "1", "--before-phase", hook], path=path, out=out, helpers=(worker,),
                prefix=without(closed)).expect(0)
    assert (tmp_path / "hook").read_text() == "/dev/null\n"
    assert [entry.name for entry in path.iterdir()] == ["somebody-elses"]


def test_a_report_for_a_closed_standard_output_harms_nothing(path, out):
    program.run(SMALL, path=path, out=out).expect(0)
    before = (out / "result.json").read_bytes()
    subprocess.run(without((1,), program.BINARY, "report", str(out)), check=True, timeout=program.PATIENCE_S)
    assert (out / "result.json").read_bytes() == before
