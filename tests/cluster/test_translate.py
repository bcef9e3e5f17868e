"""Lines of other tools become commands that the program accepts and that measure what they say."""
import os
import pathlib
import re
import shlex
import subprocess

import program
import pytest
import schema

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "unit" / "translate"
PUBLIC_LINES = [line for line in (DATA / "public_lines.txt").read_text().splitlines() if line and not line.startswith("#")]


def commands_in(outcome):
    """The words after the program's name of each command that `translate` printed, but for those with a plan."""
    lines = [line for line in outcome.expect(0).stdout.splitlines() if "cluster-iobench" in line and not line.startswith("#")]
    return [shlex.split(line[line.index("cluster-iobench") + len("cluster-iobench"):]) for line in lines if "--plan" not in line]


def sh(text, cwd):
    """Runs what `translate` printed, as a user does who saved it as a script; returns the saved results of each run."""
    (cwd / "bin").mkdir(exist_ok=True)
    name = cwd / "bin" / "cluster-iobench"
    if not name.exists():
        name.symlink_to(program.BINARY)
    env = program.clean_environment(PATH=f"{cwd}/bin:{os.environ['PATH']}")
    done = subprocess.run(["sh", "-e"], input=text, cwd=cwd, env=env, capture_output=True, text=True, timeout=program.PATIENCE_S,
                          check=False)
    assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
    saved = sorted((cwd / "cluster-iobench.out").iterdir(), key=lambda directory: directory.stat().st_mtime_ns)
    return [schema.load(directory / "result.json") for directory in saved], done.stdout


def test_what_a_public_line_becomes_is_accepted_as_it_is_printed():
    """A third of them: translate_test.cc has all."""
    checked = 0
    for line in PUBLIC_LINES[::3]:
        outcome = program.plain("translate", line)
        if outcome.code != 0:
            assert len(outcome.stderr.splitlines()) == 1 and ": " in outcome.stderr, outcome
            continue
        assert all(len(text) <= 80 for text in outcome.stdout.splitlines() if text.startswith("#")), outcome
        for words in commands_in(outcome):
            if "-+m" in words or any(word.startswith("@") for word in words):
                continue  # a file of hosts that is not here
            if "--user" in words:
                at = words.index("--user")
                words = words[:at] + words[at + 2:]  # nobody of that name is here
            program.plain(*words, "--print-plan").expect(0)
            checked += 1
    assert checked >= 15


def test_a_line_may_be_quoted_or_not():
    quoted = program.plain("translate", "fio --name=a --rw=read --bs=4k --size=1m --direct=1").expect(0).stdout
    assert program.plain("translate", "fio", "--name=a", "--rw=read", "--bs=4k", "--size=1m", "--direct=1").expect(0).stdout == quoted
    assert quoted == "cluster-iobench --path . --op read -r 4k -s 1m -t 1 -I --label a\n"


def operations(result):
    return [phase["operation"] for phase in result["phases"]]


@pytest.mark.parametrize("line, expected", [
    ("fio --name=t --directory=. --rw=randwrite --bs=4k --size=1m --numjobs=2 --overwrite=1 --end_fsync=1", ["random-write"]),
    ("ior -w -r -F -C -e -b 256k -t 64k -s 2 -o ./file", ["write", "read"]),
    ("mdtest -n 40 -u -z 1 -b 4 -w 100 -d .", ["mkdir", "rmdir", "create", "stat", "open-close", "unlink"]),
    ("elbencho -w -r -t 2 -s 1m -b 64k --rand ./file1", ["random-write", "random-read"]),
    ("elbencho -d -w --stat -r -F -t 2 -n 2 -N 8 -s 4k ./", ["mkdir", "create", "stat", "open-close", "unlink"]),
    ("smallfile_cli.py --top . --operation rename --threads 2 --files 40 --file-size 4", ["rename"]),
])
def test_a_translated_line_measures_what_it_says(line, expected, tmp_path):
    results, printed = sh(program.plain("translate", line).expect(0).stdout, tmp_path)
    assert [operation for result in results for operation in operations(result)] == expected
    for phase in [phase for result in results for phase in result["phases"]]:
        assert phase["ops"] > 0 and phase["name"] in printed, phase
    assert not (tmp_path / program.DATA_DIRECTORY).exists() and not (tmp_path / "file1").exists()


def test_jobs_that_run_together_become_a_plan(tmp_path):
    job = (DATA / "together.fio").read_text().replace("/mnt/nfs/fio", str(tmp_path)).replace("direct=1", "invalidate=0")
    (tmp_path / "jobs.fio").write_text(job.replace("128m", "1m").replace("runtime=20", "runtime=1"))
    text = program.plain("translate", tmp_path / "jobs.fio").expect(0).stdout
    assert program.plain("translate", f"fio {tmp_path}/jobs.fio").expect(0).stdout == text
    (result,), _ = sh(text, tmp_path)
    (phase,) = result["phases"]
    assert [(part["name"], part["worker_count"]) for part in phase["parts"]] == [("readers", 3), ("writer", 1)]


def test_a_parameter_file_of_vdbench_is_translated(tmp_path):
    text = (DATA / "oltp.vdbench").read_text().replace("/mnt/nfs/db", str(tmp_path)).replace("4g", "1m").replace(",openflags=o_direct", "")
    text = text.replace("elapsed=60", "elapsed=1").replace("warmup=10", "warmup=0.2").replace("(1,2,4,8)", "(1,2)")
    (tmp_path / "parameters").write_text(text)
    results, _ = sh(program.plain("translate", f"vdbench -f {tmp_path}/parameters").expect(0).stdout, tmp_path)
    assert [operations(result) for result in results] == [["random-mix"] * 2, ["random-mix"], ["random-mix"]]


def test_what_is_no_line_of_another_tool_is_refused(tmp_path):
    (tmp_path / "empty").write_text("")
    for words in (["ls -l"], [tmp_path / "empty"], ["/nonexistent"], []):
        outcome = program.plain("translate", *words).expect(1)
        assert outcome.stdout == "" and len(outcome.stderr.splitlines()) == 1, outcome


@pytest.mark.parametrize("tool", ["fio", "ior", "mdtest", "elbencho", "bonnie++", "smallfile", "vdbench"])
def test_help_lists_the_options_of_a_tool(tool):
    text = program.plain("--help", tool).expect(0).stdout
    assert len(text.splitlines()) > 20 and all(len(line) <= 80 for line in text.splitlines()), text
    assert program.plain("run", "--help", tool).expect(0).stdout == text


# ----------------------------------------------------------- lines that people publish, as typed, with smaller sizes


def test_bonnie_as_typed(tmp_path):
    """bonnie -d DIR -s 1024 -m centos4; bonnie++ -d DIR -s 3000 -n 1 -m centOS4 -x 3 -r 1500 -u oracle"""
    blocks = ["putc", "write", "update", "getc", "read", "seeks"]
    text = program.plain("translate", f"bonnie -d {tmp_path} -s 4 -m centos4").expect(0).stdout
    (result,), printed = sh(text.replace("cluster-iobench ", "cluster-iobench --items 20 ", 1), tmp_path)
    assert operations(result)[:6] == blocks and result["run"]["label"] == "centos4" and "centos4" in printed
    user = "nobody" if os.geteuid() == 0 else ""
    as_user = f"-u {user}" if user else ""
    text = program.plain("translate", f"bonnie++ -d {tmp_path}/. -s 4 -n 1 -m centOS4 -x 3 -r 1500 {as_user}").expect(0).stdout
    assert (f"--user {user}" in text) == bool(user) and "--repeat 3" in text and "--items 1024" in text
    results, _ = sh(re.sub(r" --user \S+", "", text).replace("1024", "20"), tmp_path)
    assert operations(results[-1])[:12] == blocks + ["create", "stat", "unlink"] * 2
    assert len(results[-1]["phases"]) == 3 * 12


def test_bonnie_without_characters_and_files_is_a_plan(tmp_path):
    """bonnie++ -u 0 -r 1024 -s 20480 -n 256 -b -d /, and with -f and -n 0"""
    text = program.plain("translate", f"bonnie++ -r 1024 -s 4 -n 0 -f -b -d {tmp_path}").expect(0).stdout
    (result,), printed = sh(text, tmp_path)
    assert operations(result) == ["write", "update", "read", "seeks"]
    assert "unflushed" not in printed, "-b writes with O_SYNC"


def test_iozone_in_throughput_mode_as_typed(path, out):
    """iozone -t 8 -i 0 -i 1 -s 1g -r 1m -c -e"""
    (words,) = commands_in(program.plain("translate", "iozone -t 8 -i 0 -i 1 -s 256k -r 64k -c -e"))
    outcome = program.run(words, path=path, out=out).expect(0)
    assert operations(outcome.result) == ["write", "rewrite", "read", "reread"]
    assert all(phase["lane_count"] == 8 for phase in outcome.phases), outcome
    assert "(ops+fsync+close)" in outcome.stdout and "stonewalled" in outcome.stdout, outcome


def test_an_iozone_sweep_as_typed(path, out):
    """iozone -l 1 -u 8 -i 0 -i 1 -s 64m -r 64k"""
    (words,) = commands_in(program.plain("translate", "iozone -l 1 -u 8 -i 0 -i 1 -s 128k -r 64k"))
    outcome = program.run(words, path=path, out=out).expect(0)
    assert [phase["lane_count"] for phase in outcome.phases if phase["operation"] == "write"] == list(range(1, 9))
    rows = re.findall(r"^ +(\d+)((?: +[\d.,]+(?: [a-z]+)?){4})$", outcome.stdout, re.M)
    assert [int(lanes) for lanes, _ in rows] == list(range(1, 9)), outcome
