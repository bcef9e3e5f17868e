"""What is typed, or written in a plan or mix, is what runs: values of flags, explicit zeros, letters of other programs,
and the command that reports print."""
import json
import re
import shlex
import subprocess

import program
import pytest

COMMANDS = ("run", "preflight", "validate", "capacity", "observe", "worker", "report", "compare", "history", "selftest", "clean")
NULL = ("--engine", "null", "--op", "read", "-r", "64k", "-s", "1m", "-t", "1")


def plan_of(*options):
    return program.plain(*options, "--path", "/tmp", "--print-plan").expect(0).stdout


def flags_of(command):
    """Long names of the options that take no value, as the help shows them."""
    text = program.plain(command, "--help", "all").expect(0).stdout
    names = re.findall(r"^  (?:-\w,)?--([a-z-]+)(?: {2,}|$)", text, re.M)
    return [name for name in names if name not in ("help", "version")]


# ------------------------------------------------------------------------------------------------ flags


@pytest.mark.parametrize("command", COMMANDS)
def test_every_flag_of_every_command_refuses_what_is_neither_yes_nor_no(command):
    flags = flags_of(command)
    assert flags or command in ("compare", "observe"), "the pattern finds them"
    required = {"worker": ["--join", "unix:/nowhere"]}.get(command, [])
    for flag in flags:
        for value in ("banana", "2", "+", "on"):
            outcome = program.plain(command, *required, f"--{flag}={value}")
            assert outcome.code == 1 and f'"{value}" is neither' in outcome.stderr, f"{flag}\n{outcome}"
        assert program.plain(command, *required, f"--{flag}=").code == 1, flag


def test_a_flag_that_is_turned_off_is_off():
    for value in ("0", "no", "false", "False", "NO"):
        assert "direct: false" in plan_of("-i", "0", "-s", "1m", f"--direct={value}")
    for value in ("1", "yes", "true", "TRUE"):
        assert "direct: true" in plan_of("-i", "0", "-s", "1m", f"--direct={value}")
    assert "direct: true" in plan_of("-i", "0", "-s", "1m", "--direct=0", "-I"), "the last one counts"
    assert "direct: false" in plan_of("-i", "0", "-s", "1m", "-I", "--direct=0")
    apart = program.plain("-i", "0", "--direct", "0", "--path", "/tmp")
    assert apart.code == 1 and "--direct takes no argument; as a value: --direct=0" in apart.stderr, apart
    help_of_value = program.plain("--help=0")
    assert help_of_value.code == 1 and "takes no value" in help_of_value.stderr


def test_flags_outside_of_the_plan_can_be_turned_off(path, out):
    program.run(NULL, path=path, out=out).expect(0)
    program.run([*NULL, "--force=no"], path=path, out=out).expect(1)  # the results exist
    program.run([*NULL, "--force=yes"], path=path, out=out).expect(0)
    assert "--force" not in program.plain("clean", path, "--force=0").expect(0).stderr


def test_a_flag_turns_off_what_a_suite_turns_on():
    suite = ("--suite", "iozone-nfs")
    assert "keep_data: true" in plan_of(*suite)
    assert "keep_data: false" in plan_of(*suite, "--keep=0")
    regions = re.findall(r"fsync: (\w+)", plan_of(*suite))
    assert "true" in regions and set(re.findall(r"fsync: (\w+)", plan_of(*suite, "--fsync-in-timing=0"))) == {"false"}
    refused = program.plain("--plan", "/dev/null", "--direct=0")
    assert refused.code == 1 and "--plan" in refused.stderr


# ------------------------------------------------------------------------------------------ plans and mixes

MIX_OF_WRITES = """
files: {bytes_per_lane: 256k}
lanes_per_worker: 1
phases:
- assignments:
  - operation: {name: write, record_bytes: 4k}
- assignments:
  - operation: {name: random-mix, record_bytes: 4k, read_percent: 0}
"""


def test_a_mix_of_0_percent_reads_only_writes(path, out, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text(MIX_OF_WRITES)
    outcome = program.run(["--plan", plan], path=path, out=out).expect(0)
    kinds = outcome.phase("random-mix")["by_kind"]
    assert {kind: figures["ops"] for kind, figures in kinds.items()} == {"write": 64}


def test_a_part_of_0_percent_reads_only_writes(path, out, tmp_path):
    mix = tmp_path / "mix.yaml"
    mix.write_text("parts:\n- {operation: random-mix, record_bytes: 4k, read_percent: 0, percent: 100}\n")
    outcome = program.run(["--mix", mix, "--rate", "200", "--time", "1", "-s", "256k"], path=path, out=out).expect(0)
    assert set(outcome.phases[0]["by_kind"]) == {"write"}


def test_a_phase_that_says_false_has_files_of_its_own_under_a_shared_plan(path, out, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text("""
files: {bytes_per_lane: 64k, shared_file: true}
lanes_per_worker: 2
keep_data: true
phases:
- assignments:
  - operation: {name: write, record_bytes: 4k}
  files: {shared_file: false}
""")
    outcome = program.run(["--plan", plan], path=path, out=out).expect(0)
    sizes = sorted(file.stat().st_size for file in (path / "cluster-iobench.data").iterdir() if file.name.startswith("lane"))
    assert sizes == [65536, 65536], f"two files\n{outcome}"


def test_a_find_of_0_bytes_finds_empty_files_only(path, out, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text("""
lanes_per_worker: 1
phases:
- assignments:
  - operation: {name: create, tree: {items_per_lane: 20, file_bytes: 100}}
- assignments:
  - operation: {name: find, tree: {items_per_lane: 20, file_bytes: 100, find: {bytes: 0}}}
""")
    outcome = program.run(["--plan", plan], path=path, out=out).expect(0)
    assert outcome.phase("find")["found_items"] == 0


def test_a_zero_that_cannot_run_is_refused_with_its_place(path, out, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text(MIX_OF_WRITES.replace("lanes_per_worker: 1", "lanes_per_worker: 0"))
    outcome = program.run(["--plan", plan], path=path, out=out).expect(1)
    assert "lanes_per_worker is 0: use 1 or more (-t), or leave it out for 1" in outcome.stderr, outcome
    assert not outcome.data.exists() and not out.exists()


# -------------------------------------------------------------------------------- letters of other programs


@pytest.mark.parametrize("size", ["1m", "4k", "1048576", "64KiB"])
def test_a_block_size_is_no_workbook(size, path, out, tmp_path):
    outcome = program.run(["-i", "0", "-s", "64k", "-b", size], path=path, out=out).expect(1)
    assert f'"{size}" is a size: -r {size}' in outcome.stderr, outcome
    assert not outcome.data.exists() and not out.exists()


def test_a_number_is_no_file(path, out):
    outcome = program.plain("-i", "0", "-s", "64k", "--files", "10", "--out", out).expect(1)
    assert "--files-per-lane 10" in outcome.stderr, outcome
    assert not out.exists()


def test_threads_are_lanes():
    for words in (("--threads=3",), ("--threads", "3")):
        assert "lanes_per_worker: 3" in plan_of("-i", "0", "-s", "1m", *words)
    assert "lanes_per_worker: 2" in plan_of("-i", "0", "-s", "1m", "-T", "-t", "2")  # IOzone's letter: as threads
    selftest = program.plain("selftest", "--threads", "0")
    assert selftest.code == 1 and "--lanes" in selftest.stderr


# --------------------------------------------------------------------------------------- the printed command

HARD = ["--require", "read>=1KiB/s", "--label", "it's 5 o'clock; $HOME `x` \"q\" \\ *"]


def as_a_shell_reads(command):
    done = subprocess.run(["sh", "-c", f"printf '%s\\0' {command}"], capture_output=True, text=True, check=True)
    return done.stdout.split("\0")[:-1]


def test_the_printed_command_can_be_pasted_into_a_shell(out, tmp_path):
    path = tmp_path / "my dir (1)"
    path.mkdir()
    words = [*NULL, *HARD, "--format", "openmetrics", "--format", "markdown", "--path", str(path), "--out", str(out)]
    outcome = program.plain(*words)
    assert outcome.code in (0, 4), outcome
    expected = ["cluster-iobench", *words]
    result = json.loads((out / "result.json").read_text())
    assert as_a_shell_reads(result["run"]["command"]) == expected
    assert shlex.split(result["run"]["command"]) == expected
    verbose = program.plain("report", out, "--verbose").expect(0).stdout
    shown = re.search(r"^ *command +(.*(?:\n {6,}.*)*)", verbose, re.M).group(1)
    assert as_a_shell_reads(re.sub(r"\n +", " ", shown)) == expected, verbose
    markdown = program.plain("report", out, "--format", "markdown").expect(0).stdout
    block = markdown.split("The command, as it was typed:")[1]
    assert result["run"]["command"] in block
    metrics = program.plain("report", out, "--format", "openmetrics").expect(0).stdout
    label = re.search(r'command="((?:[^"\\]|\\.)*)"', metrics).group(1)
    assert as_a_shell_reads(re.sub(r"\\(.)", lambda m: "\n" if m.group(1) == "n" else m.group(1), label)) == expected
    hint = re.search(r"all details: `(cluster-iobench report .*) --verbose`", outcome.stdout + outcome.stderr).group(1)
    assert as_a_shell_reads(hint) == ["cluster-iobench", "report", str(out)]


def test_a_hint_names_a_directory_with_blanks_for_a_shell(path, tmp_path):
    out = tmp_path / "my results (1)"
    outcome = program.run(NULL, path=path, out=out).expect(0)
    hint = re.search(r"all details: `(.*)`", outcome.stdout + outcome.stderr).group(1)
    assert as_a_shell_reads(hint) == ["cluster-iobench", "report", str(out), "--verbose"]
