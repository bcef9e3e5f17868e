"""Bad input is refused with exit code 1 and one line that says what to do; nothing is written."""
import os
import re
import subprocess

import program
import pytest

SMALL = ("-i", "0", "-r", "4k", "-s", "64k")

# (options, what the line must name). --path and --out are added.
WRONG = {
    "unknown operation": ("-i nonsense", "nonsense"),
    "near operation": ("--op ramdom-read", "random-read"),
    "unknown number": ("-i 77", "77"),
    "size 0": ("-i 0 -s 0 -r 4k", "size"),
    "record 0": ("-i 0 -s 64k -r 0", "record"),
    "record larger than file": ("-i 0 -r 8k -s 4k", "larger"),
    "record larger than one of the files": ("-i 0 -r 64k -s 64k --files-per-lane 2", "larger"),
    "files that do not split evenly": ("-i 0 -r 1k -s 64k --files-per-lane 3", "split"),
    "record off the block with -I": ("-i 0 -I -r 700b -s 7000b", "multiple"),
    "a size nobody can read": ("-i 0 -s 4x", "4x"),
    "a size beyond 64 bits": ("-i 0 -s 99999999999999t", "99999999999999t"),
    "a negative number of lanes": ("-i 0 -t -3", "-3"),
    "no lanes": ("-i 0 -t 0", "lanes"),
    "unknown engine": ("-i 0 --engine warp", "warp"),
    "unknown option": ("-i 0 --nonsense", "--nonsense"),
    "unknown plus option": ("-i 0 -+Z", r"-\+Z"),
    "two directories of results": ("-i 0 --out /tmp/elsewhere", "--out was given twice"),
    "an argument too many": ("-i 0 surplus", "surplus"),
    "an option without its value": ("-i 0 -r", "r"),
    "a percentage over 100": ("-i 8 -+p 101", "101"),
    "time and deadline": ("-i 1 --time 1 --deadline 1", "deadline"),
    "warm-up that leaves nothing": ("-i 1 --time 1 --warmup 2", "warm"),
    "wear-out without a deadline": ("-i 1 --wear-out", "deadline"),
    "negative time": ("-i 1 --time -1", "-1"),
    "shared file of several": ("-i 0 -+V --files-per-lane 2", "shared"),
    "unknown transport": ("-i 0 --transport pigeon", "pigeon"),
    "MPI without a launcher": ("-i 0 --transport mpi", "mpirun"),
    "gRPC without workers": ("-i 0 --transport grpc", "--spawn|--listen"),
    "spawn nobody": ("-i 0 --spawn 0", "spawn"),
    "listen for nobody": ("-i 0 --listen 127.0.0.1:0", "--workers"),
    "workers from nowhere": ("-i 0 --workers 2", "--listen"),
    "listen to the world": ("-i 0 --listen 0.0.0.0:0 --workers 1", "--insecure"),
    "listen to the IPv6 world": ("-i 0 --listen [::]:0 --workers 1", "--insecure"),
    "not an address": ("-i 0 --listen 127.0.0.1:port --workers 1", "port"),
    "fsync of names": ("--op create --op stat -e", r"-e \(--fsync-in-timing\): metadata operations"),
    "close of names": ("--op stat -c", r"-c \(--close-in-timing\): metadata operations"),
    "open of names": ("--op stat --open-in-timing", "metadata operations"),
    "O_SYNC of names": ("--op stat -o", r"-o \(--sync\): no operation in this run opens files for writing"),
    "O_DSYNC of names": ("--op unlink -+D", r"-\+D .*for writing"),
    "more readers than lanes": ("-i 8 -r 4k -s 64k -t 2 -+K 3", r"-\+K 3 .* 2 .*in all"),
    "more readers than the lanes of all workers": ("-i 8 -r 4k -s 64k -t 2 --spawn 2 -+K 5", r"-\+K 5 .* 4 .*in all"),
    "no time": ("-i 1 --time 0", "--time.*from 0.001 to 10000000"),
    "no deadline": ("-i 1 --deadline 0", "--deadline.*from 0.001"),
    "a negative join timeout": ("-i 1 --join-timeout -1", "--join-timeout"),
    "a negative patience": ("-i 1 --lost-after -1", "--lost-after"),
    "an option behind --": ("-i 0 -- -w", '"-w" follows --'),
    "a tree that is too deep": ("--op create --tree-depth 21", "from 0 to 20"),
    "a negative seed": ("-i 0 --seed -1", "from 0 to 18446744073709551615"),
    "a seed beyond 64 bits": ("-i 0 --seed 18446744073709551616", "from 0 to 18446744073709551615"),
    "a record over a GiB": ("-i 0 -r 1025m -s 2g", "1025 MiB .*1 GiB"),
    "a record just larger than its file": ("-i 0 -r 1025k -s 1m", "1025 KiB .*1 MiB"),
    "more than the file system has": ("-i 0 -r 1m -s 900t", "free: use a smaller -s or"),
    "more names than the file system has room for": (
        "--op create --items 100000000 --file-bytes 1g", "free: use smaller --items or --file-bytes"),
    "a second word behind --path": ("--path /tmp stray -i 0", '"stray" belongs to no option'),
    "a directory without a worker": ("-i 0 -r 4k -s 64k --path /tmp", "more directories than workers"),
    "a directory without a worker, dry": ("-i 0 -r 4k -s 64k --path /tmp --spawn 1 --dry-run", "more directories than"),
    "nobody to be insecure with": ("-i 0 --insecure", "--insecure .*--listen"),
    "nobody to wait for": ("-i 0 --join-timeout 5", "--join-timeout .*--spawn"),
    "two kinds of O_SYNC": ("-i 0 -o --dsync", r"-o \(--sync\) cannot be combined with -\+D"),
    "a very long value": ("-i 0 -r " + "7" * 500, '"7{79}…"'),
    "a very long word that nothing takes": ("-i 0 " + "x" * 500, '"x{79}…" belongs to no option'),
    "a very long option": ("-i 0 --" + "x" * 500, 'unknown option "--x{77}…"'),
    "a very long number of workers": ("-i 0 --spawn 9" + "x" * 500, '"9x{78}…"'),
}


def expect_one_line(outcome, pattern):
    outcome.expect(1)
    lines = [line for line in outcome.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, f"one line\n{outcome}"
    assert re.search(pattern, lines[0], re.IGNORECASE), f"names {pattern}\n{outcome}"
    assert outcome.stdout == "", f"nothing on stdout\n{outcome}"


def expect_untouched(outcome):
    assert not outcome.data.exists(), "no data directory"
    assert not outcome.out.exists(), "no output directory"


@pytest.mark.parametrize("wrong", WRONG, ids=lambda name: name.replace(" ", "-"))
def test_wrong_options(wrong, path, out):
    options, pattern = WRONG[wrong]
    outcome = program.run(options.split(), path=path, out=out)
    expect_one_line(outcome, pattern)
    expect_untouched(outcome)


def test_not_enough_space_counts_all_lanes_together_and_force_overrides(path, out):
    stat = os.statvfs(path)
    free = stat.f_bavail * stat.f_frsize
    share = str(free // 4 // (1 << 20) + 100) + "m"       # one lane fits, eight do not
    short = ("-i", "1", "-r", "1m", "--time", "0.1")
    outcome = program.run(["-i", "0", "-r", "1m", "-s", share, "--spawn", "2", "-t", "4"], path=path, out=out)
    expect_one_line(outcome, "free")
    expect_untouched(outcome)
    program.run([*short, "--engine", "null", "-s", share, "-t", "8"], path=path, out=out).expect(0)


def test_results_do_not_go_into_a_data_directory(path):
    for out in (path / program.DATA_DIRECTORY, path / program.DATA_DIRECTORY / "results"):
        outcome = program.run([*SMALL, "--spawn", "1"], path=path, out=out)
        expect_one_line(outcome, f"--out .*{program.DATA_DIRECTORY}")
        expect_untouched(outcome)
    program.run(SMALL, path=path, out=path.parent / "out").expect(0)


def test_a_kept_runs_data_directory_is_no_target(path, out):
    program.run([*SMALL, "-w"], path=path, out=out).expect(0)
    data = path / program.DATA_DIRECTORY
    before = sorted(os.listdir(data))
    outcome = program.run(SMALL, path=data, out=path.parent / "second")
    expect_one_line(outcome, f"--path .*{program.DATA_DIRECTORY} is in the data directory of a run")
    assert not outcome.out.exists() and sorted(os.listdir(data)) == before
    program.run(["-i", "1", "-r", "4k", "-s", "64k"], path=path, out=path.parent / "third").expect(0)


def test_path_is_missing(tmp_path, out):
    outcome = program.run(SMALL, path=tmp_path / "nowhere", out=out)
    expect_one_line(outcome, "nowhere")
    assert not (tmp_path / "nowhere").exists()
    expect_untouched(outcome)


def test_path_is_a_file(tmp_path, out):
    (tmp_path / "file").write_text("mine")
    outcome = program.run(SMALL, path=tmp_path / "file", out=out)
    expect_one_line(outcome, "not a directory")
    assert (tmp_path / "file").read_text() == "mine"
    assert not out.exists()


def test_path_is_not_writable(tmp_path, out):
    place = tmp_path / "read-only"
    place.mkdir()
    mounted = False
    if os.geteuid() == 0:       # only a read-only mount stops root
        subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,size=1m", "tmpfs", place], check=True)
        mounted = True
    else:
        place.chmod(0o500)
    try:
        outcome = program.run(SMALL, path=place, out=out)
    finally:
        if mounted:
            subprocess.run(["umount", place], check=True)
    expect_one_line(outcome, "read-only")
    assert not out.exists()


def test_out_holds_a_result_already(path, out):
    program.run(SMALL, path=path, out=out).expect(0)
    before = (out / "result.json").read_bytes()
    again = program.run(SMALL, path=path, out=out)
    expect_one_line(again, "out")
    assert (out / "result.json").read_bytes() == before
    program.run([*SMALL, "--force"], path=path, out=out).expect(0)
    assert (out / "result.json").read_bytes() != before


def test_workers_see_no_such_path_over_grpc(tmp_path, out):
    outcome = program.run([*SMALL, "--spawn", "2"], path=tmp_path / "nowhere", out=out)
    expect_one_line(outcome, "nowhere")
    assert not out.exists()


# ------------------------------------------------------------------------------------------------ plans


def plan_of(path, *options):
    printed = program.plain(*options, "--path", path, "--print-plan").expect(0)
    assert not list(path.glob(program.DATA_DIRECTORY)), "printing a plan runs nothing"
    return printed.stdout


def test_a_printed_plan_repeats_the_run(path, out, tmp_path):
    options = ("-i", "0", "-i", "5", "-r", "4k", "-s", "64k", "-t", "3", "-c", "-j", "7")
    text = plan_of(path, *options)
    (tmp_path / "plan.yaml").write_text(text)
    outcome = program.plain("--plan", tmp_path / "plan.yaml", "--out", out).expect(0)
    outcome.out = out
    assert [phase["operation"] for phase in outcome.phases] == ["write", "rewrite", "stride-read"]
    assert outcome.result["run"]["lane_count"] == 3
    assert outcome.result["run"]["plan"]["phases"][2]["assignments"][0]["operation"]["stride_records"] == 7
    assert len(outcome.result["run"]["plan"]["phases"]) == 3


@pytest.mark.parametrize("change, place, word", [
    (("record_bytes", "record_size"), "record_size", "record_size"),     # a field that does not exist
    (("lanes_per_worker: 1", "lanes_per_worker: many"), "lanes_per_worker: many", "lanes_per_worker"),
    (("name: write", "name: scribble"), "", "scribble"),
    (("phases:", "phases: 3\nrest:"), "", "phases"),
])
def test_a_wrong_plan_names_its_place(change, place, word, path, out, tmp_path):
    text = plan_of(path, *SMALL, "-t", "1")
    assert change[0] in text, text
    broken = text.replace(*change)
    (tmp_path / "plan.yaml").write_text(broken)
    outcome = program.plain("--plan", tmp_path / "plan.yaml", "--out", out)
    outcome.out, outcome.path = out, path
    expect_one_line(outcome, word)
    if place:
        line = 1 + broken[:broken.index(place)].count("\n")
        assert re.search(rf"\b{line}\b", outcome.stderr), f"line {line}\n{outcome}\n{broken}"
    expect_untouched(outcome)


def test_a_plan_without_a_size_is_told_what_a_plan_calls_it(path, out, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text("phases:\n  - assignments:\n      - operation: {name: write, record_bytes: 4k}\n")
    outcome = program.run(["--plan", str(plan)], path=path, out=out)
    expect_one_line(outcome, "files.bytes_per_lane")
    expect_untouched(outcome)


def test_a_plan_and_a_suite_have_a_drawn_seed_where_they_say_none(path, out, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text("files: {bytes_per_lane: 64k}\n"
                    "phases:\n  - assignments:\n      - operation: {name: write, record_bytes: 4k}\n")
    seeds = {program.run(["--plan", str(plan)], path=path, out=tmp_path / number).expect(0).result["run"]["plan"]["seed"]
             for number in "12"}
    smoke = ("--suite", "smoke", "--path", path, "--print-plan")
    seeds |= {re.search(r"^seed: (\d+)$", program.plain(*smoke).expect(0).stdout, re.MULTILINE)[1] for _ in "12"}
    assert len(seeds) == 4
    assert "seed: 7\n" in program.plain("--suite", "smoke", "--seed", "7", "--path", path, "--print-plan").stdout


def test_a_plan_that_is_not_there(out, tmp_path):
    outcome = program.plain("--plan", tmp_path / "nowhere.yaml", "--out", out)
    expect_one_line(outcome, "nowhere.yaml")


def test_a_dry_run_says_who_does_what_and_writes_nothing(path, out):
    outcome = program.run([*SMALL, "-t", "2", "--dry-run"], path=path, out=out).expect(0)
    assert "rewrite" in outcome.stdout and str(path) in outcome.stdout
    assert "128 KiB" in outcome.stdout, "two lanes of 64 KiB"
    expect_untouched(outcome)


# --------------------------------------------------------------------------------------------- commands


def test_report_of_nothing(tmp_path):
    expect_one_line(program.plain("report", tmp_path / "nowhere"), "nowhere")


def test_report_of_a_damaged_run(path, out):
    program.run(SMALL, path=path, out=out).expect(0)
    raw = out / "raw" / "run.pb"
    raw.write_bytes(raw.read_bytes()[:20])
    expect_one_line(program.plain("report", out), "run.pb")


def test_clean_of_nothing(tmp_path):
    expect_one_line(program.plain("clean", tmp_path / "nowhere"), "nowhere")


def test_a_worker_needs_somebody_to_join():
    expect_one_line(program.plain("worker"), "--join")


def test_nothing_is_written_where_stdout_is_asked_for_help():
    for options in (["--help"], ["worker", "--help"], ["report", "--help"], ["clean", "--help"]):
        outcome = program.plain(*options).expect(0)
        assert "Usage" in outcome.stdout and outcome.stderr == ""


@pytest.mark.parametrize("option, what", [("--plan", "plan"), ("-+m", "client list"), ("-Y", "trace")])
def test_what_has_no_end_or_makes_one_wait_is_not_read(option, what, path, out, tmp_path):
    fifo, huge = tmp_path / "fifo", tmp_path / "huge"
    os.mkfifo(fifo)
    with huge.open("w") as file:
        file.truncate((2 << 30) + 1)
    for index, (file, problem) in enumerate([("/dev/zero", "not a regular file"), (fifo, "not a regular file"),
                                             (huge, "longer than")]):
        words = [option, file] if option != "-Y" else ["--op", "write", "-s", "64k", "-t", "1", option, file]
        outcome = program.run(words, path=path, out=tmp_path / f"out-{index}")
        outcome.expect(1)
        line, = outcome.stderr.strip().splitlines()
        assert f"{what} {file}: " in line and problem in line


def test_an_empty_plan_says_so(path, out, tmp_path):
    (tmp_path / "plan.yaml").write_text("\n \n")
    outcome = program.run(["--plan", tmp_path / "plan.yaml"], path=path, out=out).expect(1)
    assert outcome.stderr.strip().endswith("plan.yaml: it is empty"), outcome


def test_a_saved_result_that_is_no_file_is_not_waited_for(path, out):
    program.run(["--op", "write", "-s", "64k", "-t", "1"], path=path, out=out).expect(0)
    (out / "raw" / "run.pb").unlink()
    os.mkfifo(out / "raw" / "run.pb")
    outcome = program.plain("report", out).expect(1)
    assert "run.pb: not a regular file" in outcome.stderr, outcome


@pytest.mark.parametrize("name", program.RESULT_FILES)
def test_what_is_in_the_place_of_a_result_is_not_waited_for(name, path, out):
    out.mkdir()
    os.mkfifo(out / name)
    outcome = program.run([*SMALL, "--force"], path=path, out=out)
    expect_one_line(outcome, "is not a cluster-iobench result and is left alone")
    assert (out / name).is_fifo() and not outcome.data.exists()


@pytest.mark.parametrize("options, name", [
    (("--format", "markdown"), "report.md"), (("--format", "openmetrics", "--format", "hlog"), "latency.hlog"),
    (("-+T",), "Child_0.log"), (("-+z",), "Iozone_histogram_child_0.txt")])
def test_a_file_of_the_user_is_not_replaced_by_a_document(options, name, path, out):
    out.mkdir()
    (out / name).write_text("not ours")
    outcome = program.run([*SMALL, *options], path=path, out=out)
    expect_one_line(outcome, f"{name} exists and does not belong.*--out.*--force")
    assert [entry.name for entry in out.iterdir()] == [name] and not outcome.data.exists()
    program.run(SMALL, path=path, out=out).expect(0)
    assert (out / name).read_text() == "not ours", "a run that does not write it leaves it alone"
    program.run([*SMALL, *options, "--force"], path=path, out=out).expect(0)
    assert (out / name).read_text() != "not ours"


def test_the_help_is_in_words_of_ours():
    outcome = program.plain("run", "--help").expect(0)
    assert "UINT in" not in outcome.stdout and "{auto,local" not in outcome.stdout, outcome


# Many files in one lane: each lane has a table of descriptors of its own.
MANY_FILES = ("-i", "0", "-+n", "-r", "4k", "-s", "400k", "-t", "1", "--files-per-lane", "100")


def test_a_low_soft_limit_on_open_files_is_raised(path, out):
    low = ("sh", "-c", 'ulimit -Sn 64 && exec "$@"', "sh")
    program.run(MANY_FILES, path=path, out=out, prefix=low).expect(0)


@pytest.mark.unsanitized
def test_without_descriptors_a_low_hard_limit_is_said(path, out):
    hard = ("sh", "-c", 'ulimit -Sn 64 && ulimit -Hn 64 && exec "$@"', "sh")
    outcome = program.run(MANY_FILES, path=path, out=out, prefix=hard).expect(1)
    assert re.search(r"may\s+have\s+64\s+files\s+open", outcome.stderr), outcome
