"""Files of ours: what every command writes follows no link, is nobody else's to read, and lies in nobody else's directory."""
import contextlib
import os
import pathlib
import re
import subprocess

import program
import pytest

SMALL = ("-i", "0", "-i", "1", "-r", "4k", "-s", "16k")
EVE = 4711
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")

FORMATS = [word for name in ("html", "markdown", "workbook", "iozone", "bonnie", "openmetrics", "hlog", "timeline-csv")
           for word in ("--format", name)]
# What each command writes, in the current directory; TARGET is measured. `--force` is added.
COMMANDS = {
    "run": ["--path", "TARGET", *SMALL, "-t", "2", "--out", "out", "--live-csv", "live.csv", "-b", "book.xlsx", "-+z", "-+T",
            "--before-phase", "echo before", "--after-phase", "echo after", *FORMATS],
    "run with a log": ["--path", "TARGET", *SMALL, "-t", "1", "--out", "log", "-Q"],
    "report as text": ["report", "out", "--output", "report.txt"],
    "report as page": ["report", "out", "--format", "html", "--output", "report.html"],
    "compare": ["compare", "out", "log", "--output", "compare.txt"],
    "history": ["history", "out", "log", "--output", "history.txt"],
    "validate": ["validate", "TARGET", "--only", "limits", "--output", "validate.txt"],
    "capacity": ["capacity", "TARGET", "--engine", "null", "-t", "1", "-s", "1m", "--time", "0.3", "--warmup", "0.1", "--points", "1",
                 "--out", "found", "--output", "capacity.txt"],
}
OUTPUTS = {"report as text", "report as page", "compare", "history", "validate", "capacity"}


def call(place, name, *more, instead=None, force=True):
    """Runs a command of the table with a umask that takes nothing away. `instead`: other words in the place of some of its own."""
    (place / "target").mkdir(exist_ok=True)
    words = [{"TARGET": str(place / "target"), **(instead or {})}.get(word, word) for word in COMMANDS[name]]
    command = ["sh", "-c", 'umask 0; exec "$@"', "sh", program.BINARY, *words, *more, *(["--force"] if force else [])]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=program.PATIENCE_S,
                          env=program.clean_environment(), cwd=place, check=False)
    return program.Outcome(command, done.returncode, done.stdout, done.stderr, place / "out", place / "target")


def written(place):
    """Relative paths of all that is there, but for what is measured."""
    return sorted(each.relative_to(place) for each in place.rglob("*") if each.parts[len(place.parts)] != "target")


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    place = tmp_path_factory.mktemp("everything")
    for name in COMMANDS:
        outcome = call(place, name)
        assert outcome.code in (0, 4), str(outcome)
    return place


def test_only_user_and_group_can_read_what_is_written(everything):
    names = written(everything)
    assert len(names) > 60
    for kind in ("out/result.json", "out/phases.csv", "out/raw/run.pb", "out/raw/phase-000.pb", "out/tables", "out/report.html",
                 "out/hooks/phase-000-before.log", "out/Child_0.log", "live.csv", "book.xlsx", "wol.dat", "found/capacity.json",
                 "report.txt", "report.html", "compare.txt", "history.txt", "validate.txt", "capacity.txt"):
        assert pathlib.Path(kind) in names, kind
    modes = {str(name): (everything / name).lstat().st_mode & 0o7777 for name in names}
    wrong = {name: oct(mode) for name, mode in modes.items() if mode != (0o750 if (everything / name).is_dir() else 0o640)}
    assert wrong == {}


def test_a_link_in_the_place_of_a_file_leads_nowhere(everything, tmp_path):
    """Planted under every name that commands write, and under the name that each file has until it is complete."""
    foreign = tmp_path / "foreign"
    foreign.write_text("mine")
    place = tmp_path / "place"
    place.mkdir()
    for name in written(everything):
        if (everything / name).is_dir():
            continue
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).symlink_to(foreign)
        (place / f"{name}.partial").symlink_to(foreign)
    for directory, name in (("out", "run"), ("log", "run with a log"), ("found", "capacity")):
        refused = call(place, name)
        assert refused.code == 1 and foreign.read_text() == "mine", str(refused)
        for each in program.RESULT_FILES:  # otherwise no run begins
            (place / directory / each).unlink()
    refused = call(place, "run")
    assert refused.code == 1 and "--live-csv live.csv is neither a file nor a pipe" in refused.stderr, str(refused)
    (place / "live.csv").unlink()
    outcomes = {name: call(place, name) for name in COMMANDS}
    assert foreign.read_text() == "mine", "\n".join(map(str, outcomes.values()))
    # A document in whose place there is something else is left out (2).
    assert outcomes["run"].code in (0, 2), str(outcomes["run"])
    for name in ("out/hooks/phase-000-before.log", "out/raw/phase-000.pb", "out/tables/clients.csv", "out/Child_0.log"):
        assert (place / name).is_file() and not (place / name).is_symlink(), name
    for name in {"run with a log", *OUTPUTS}:
        assert outcomes[name].code == 1, str(outcomes[name])
    assert foreign.stat().st_mode & 0o777 == 0o644 and not list(place.rglob("*.partial.partial"))


# Where each writes into the directory eves: the command, and its other words.
FRESH = {"out": "fresh"}
HOSTILE = {
    "--out": ("run", {"out": "eves"}),
    "--out of capacity": ("capacity", {"found": "eves"}),
    "--live-csv": ("run", {"live.csv": "eves/live.csv", **FRESH}),
    "-b": ("run", {"book.xlsx": "eves/book.xlsx", **FRESH}),
    "--output of report as text": ("report as text", {"report.txt": "eves/file"}),
    "--output of report as page": ("report as page", {"report.html": "eves/file"}),
    "--output of compare": ("compare", {"compare.txt": "eves/file"}),
    "--output of history": ("history", {"history.txt": "eves/file"}),
    "--output of validate": ("validate", {"validate.txt": "eves/file"}),
    "--output of capacity": ("capacity", {"capacity.txt": "eves/file"}),
}


def check_refused(outcome, eves, before):
    assert outcome.code == 1, str(outcome)
    assert f"belongs to user {EVE}" in outcome.stderr and "use a directory of your own" in outcome.stderr, str(outcome)
    assert written(eves) == before, str(outcome)


@pytest.fixture
def eves(everything, tmp_path):
    """A directory of another user with a saved run; reports find what they read beside it."""
    for each in ("out", "log"):
        (tmp_path / each).symlink_to(everything / each)
    subprocess.run(["cp", "-r", everything / "log", tmp_path / "eves"], check=True)
    os.chown(tmp_path / "eves", EVE, EVE)
    return tmp_path / "eves"


@root_only
@pytest.mark.parametrize("where", HOSTILE)
def test_a_directory_of_another_user_is_refused(eves, tmp_path, where):
    name, instead = HOSTILE[where]
    before = written(eves)
    check_refused(call(tmp_path, name, instead=instead), eves, before)


@root_only
def test_another_users_results_are_neither_resumed_nor_added_to_nor_trusted_with_a_token(eves, path, tmp_path):
    before = written(eves)
    check_refused(program.plain("--resume", eves), eves, before)
    check_refused(program.plain("report", eves, "--format", "html", "--force"), eves, before)
    assert program.plain("report", eves).expect(0).stdout  # which only reads
    check_refused(program.run([*SMALL, "--listen", "127.0.0.1:0", "--workers", "1", "--token-file", str(eves / "token")], path=path,
                              out=tmp_path / "fresh"), eves, before)


@root_only
def test_a_log_of_ops_is_not_written_beside_another_users_files(tmp_path):
    place = tmp_path / "eves"
    place.mkdir()
    os.chown(place, EVE, EVE)
    refused = call(place, "run with a log")
    assert refused.code == 1 and f"belongs to user {EVE}" in " ".join(refused.stderr.split()), refused
    assert not (place / "wol.dat").exists()


@root_only
def test_the_users_own_link_is_followed_and_another_users_is_not(path, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "results").symlink_to("data")
    program.run([*SMALL], path=path, out=tmp_path / "results/one").expect(0)
    assert (tmp_path / "data/one/result.json").is_file()
    os.chown(tmp_path / "results", EVE, EVE, follow_symlinks=False)
    refused = program.run([*SMALL], path=path, out=tmp_path / "results/one").expect(1)
    assert f"symbolic link results in it belongs to user {EVE}" in refused.stderr, refused
    assert "name the directory that it leads to" in refused.stderr


def test_a_directory_that_every_user_can_write_to_is_refused_unless_it_is_sticky(path, tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    refused = program.run([*SMALL], path=path, out=shared).expect(1)
    assert "every user can exchange files in it (mode 0777)" in refused.stderr and not list(shared.iterdir())
    shared.chmod(0o1777)
    program.run([*SMALL], path=path, out=shared).expect(0)


def test_a_stricter_umask_counts(path, out):
    program.run([*SMALL], path=path, out=out, prefix=("sh", "-c", 'umask 077; exec "$@"', "sh")).expect(0)
    assert {each.stat().st_mode & 0o077 for each in (out, *out.rglob("*"))} == {0}


def test_a_live_csv_through_the_link_of_standard_output(path, out):
    """As before: what /dev/stdout leads to is written to."""
    outcome = program.run([*SMALL, "--live-csv", "/dev/stdout", "--force"], path=path, out=out).expect(0)
    assert "elapsed_s,phase_index" in outcome.stdout


def test_a_coordinator_with_a_token_leaves_no_core_dump(path, out, tmp_path):
    token = tmp_path / "token"
    with program.start([*SMALL, "--listen", "127.0.0.1:0", "--workers", "1", "--token-file", str(token)], path=path, out=out,
                       prefix=("prlimit", "--core=unlimited")) as running:
        running.wait_until(token.exists, "the token file is there")
        limits = pathlib.Path(f"/proc/{running.process.pid}/limits").read_text()
        running.interrupt()
        running.wait()
    assert re.search(r"Max core file size +[01] ", limits), limits
    with contextlib.suppress(FileNotFoundError):
        assert token.stat().st_mode & 0o777 == 0o600
