"""What a word means that has no option before it: a directory to test, a run that was saved, a file that comes with the program."""
import subprocess

import program
import pytest

SMALL = ("-i", "0", "-+n", "-ce", "-r", "4k", "-s", "64k")


@pytest.fixture
def here(tmp_path):
    (tmp_path / "d").mkdir()
    return tmp_path


@pytest.mark.parametrize("words", [("d",), ("run", "d"), ("run", "--", "d"), ("--", "d"), ("run", "-t", "1", "--", "d")])
def test_a_word_that_names_a_directory_is_one(words, here):
    plan = program.plain(*words, "--print-plan", cwd=here) if "--" not in words else \
        program.plain(words[0], "--print-plan", *words[1:], cwd=here) if words[0] == "run" else \
        program.plain("--print-plan", *words, cwd=here)
    assert f"path: {here / 'd'}" in plan.expect(0).stdout, plan


def test_a_word_that_names_none_is_refused_as_before(here):
    assert "belongs to no option" in program.plain("nowhere", cwd=here).expect(1).stderr
    assert '"--print-plan" follows --' in program.plain("run", "--", "--print-plan", cwd=here).expect(1).stderr
    (here / "write").mkdir()
    assert "write --op before it" in program.plain("write", cwd=here).expect(1).stderr, "it is an operation"


def test_runs_are_the_newest_ones_here(here):
    assert "there is no run in ./cluster-iobench.out" in program.plain("report", cwd=here).expect(1).stderr
    for label in ("first", "second", "third"):
        program.plain("d", *SMALL, "--label", label, cwd=here).expect(0)
    runs = sorted((here / "cluster-iobench.out").iterdir())
    assert "third" in program.plain("report", cwd=here).expect(0).stdout
    compared = program.plain("compare", cwd=here).expect(0).stdout
    assert runs[1].name in compared and runs[2].name in compared and runs[0].name not in compared, compared
    assert "history of 3 runs" in program.plain("history", cwd=here).expect(0).stdout
    assert "third" in program.plain("report", cwd=runs[2]).expect(0).stdout, "the working directory is a run's"


@pytest.mark.parametrize("file", ["result.json", "raw/run.pb", "clients.csv"])
def test_a_file_of_a_run_means_the_run(file, here):
    program.plain("d", *SMALL, "--label", "mine", "--out", "one", cwd=here).expect(0)
    assert "mine" in program.plain("report", f"one/{file}", cwd=here).expect(0).stdout
    assert "mine" in program.plain("report", file, cwd=here / "one").expect(0).stdout
    assert "no repetitions" in program.plain("compare", f"one/{file}", cwd=here).expect(1).stderr


def test_expectations_are_found_by_name(here):
    listed = program.plain("validate", "--expect", "list").expect(0).stdout
    assert "nfs-10gbe" in listed, listed
    refused = program.plain("validate", "d", "--expect", "nfs-10gb", cwd=here).expect(1).stderr
    assert "nfs-100gbe" in refused and "did you mean" in refused, refused
    refused = program.plain("validate", "d", "--expect", "nfs-10gbe", "--only", "locks", cwd=here).expect(1).stderr
    assert "leave out the check" in refused, "it was found"


def completed(line):
    """What bash offers for the last word of the line."""
    script = program.plain("--generate", "bash").expect(0).stdout
    words = line.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    run = f'{script}\nCOMP_WORDS=({quoted})\nCOMP_CWORD={len(words) - 1}\n_cluster_iobench\nprintf "%s\\n" "${{COMPREPLY[@]}}"'
    return subprocess.run(["bash", "-c", run], capture_output=True, text=True, check=True).stdout.split()


def test_shells_complete_the_names_of_what_comes_with_the_program():
    assert "nfs-10gbe" in completed("cluster-iobench validate --expect nfs-1")
    assert completed("cluster-iobench run --suite smo") == ["smoke"]
    assert completed("cluster-iobench capacity --mix home") == ["home-directories"]


def test_a_depth_needs_no_engine(path, out):
    outcome = program.run([*SMALL, "--depth", "4"], path=path, out=out).expect(0)
    assert outcome.result["run"]["plan"]["phases"][0]["assignments"][0]["operation"]["engine"] in ("uring", "posix-aio")
