"""IOzone's letters, sweeps and suites make the right phases, and leave the right files."""
import contextlib
import csv
import hashlib
import os
import re
import shutil
import subprocess

import program
import pytest

SMALL = ("-i", "0", "-i", "1", "-r", "4k", "-s", "64k")


def one_line(outcome, *patterns):
    outcome.expect(1)
    lines = [line for line in outcome.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, f"one line\n{outcome}"
    for pattern in patterns:
        assert re.search(pattern, lines[0]), f"names {pattern}\n{outcome}"
    assert not outcome.data.exists() and not outcome.out.exists(), "nothing was written"


# ----------------------------------------------------------------------------------------------- sweeps


def test_automatic_mode_goes_through_sizes_and_records(path, out):
    outcome = program.run("-a -n 64k -g 256k -y 4k -q 64k -i 0 -i 1".split(), path=path, out=out).expect(0)
    expected = [(size << 10, record << 10, operation) for size in (64, 128, 256) for record in (4, 8, 16, 32, 64)
                for operation in ("write", "rewrite", "read", "reread")]
    assert [(phase["bytes_per_lane"], phase["record_bytes"], phase["operation"])
            for phase in outcome.phases] == expected
    for phase in outcome.phases:
        assert phase["bytes"] == phase["bytes_per_lane"] and phase["lane_count"] == 1
        assert phase["name"] == "{} {}k/{}k".format(phase["operation"], phase["bytes_per_lane"] >> 10,
                                                    phase["record_bytes"] >> 10)
    names = [phase["name"] for phase in outcome.phases]
    assert len(set(names)) == len(names)
    assert len(outcome.stdout.splitlines()) < 60, "60 phases are four tables"
    factors = {"KiB/s": 1 << 10, "MiB/s": 1 << 20, "GiB/s": 1 << 30}
    for operation in ("write", "rewrite", "read", "reread"):
        ((unit, text),) = re.findall(rf"^{operation}, ([KMG]iB/s)\n((?:  .*\n){{4}})", outcome.stdout, re.M)
        table = text.splitlines()
        assert [line.split()[0] for line in table] == ["size", "64k", "128k", "256k"]
        # A letter behind a figure is a mark.
        rates = [[float(cell.replace(",", "")) for cell in line.split()[1:] if not cell.isalpha()] for line in table[1:]]
        assert [len(row) for row in rates] == [5, 5, 5]
        measured = [phase["headline"]["bytes_per_s"] / factors[unit] for phase in outcome.phases if phase["operation"] == operation]
        assert sum(rates, []) == pytest.approx(measured, rel=0.006)
    assert len(re.findall(r", [KMG]iB/s\n", program.plain("report", out).expect(0).stdout)) == 4
    assert {row["bytes_per_lane"] for row in outcome.rows} == {"65536", "131072", "262144"}
    assert not outcome.data.exists(), "the data are removed"


def test_automatic_mode_does_all_tests_that_iozone_does_with_one_lane(path, out):
    outcome = program.run("-a -n 64k -g 64k -y 64k -q 64k".split(), path=path, out=out).expect(0)
    assert [phase["operation"] for phase in outcome.phases] == [
        "write", "rewrite", "read", "reread", "random-read", "random-write", "backward-read", "record-rewrite",
        "stride-read", "fwrite", "refwrite", "fread", "refread"]


def test_sizes_in_any_order_are_all_done(path, out):
    outcome = program.run("-i 0 -+n -s 256k -s 64k -r 16k -r 4k -t 1".split(), path=path, out=out).expect(0)
    assert [phase["bytes"] for phase in outcome.phases] == [65536, 65536, 262144, 262144]


@pytest.mark.parametrize("where", ["in-process", "spawn", program.MPI])
def test_lanes_are_swept(where, path, out, tmp_path):
    prefix, options, _ = program.Transports(tmp_path).parts(where)
    options = [option for option in options if option not in ("-t", "4", "2") or where == "spawn" and option == "2"]
    options = [option for i, option in enumerate(options) if not (option == "2" and options[i - 1] != "--spawn")]
    workers = program.Transports.workers(where)
    outcome = program.run([*options, "-t", "1", "-t", "2,3", *SMALL], path=path, out=out, prefix=prefix).expect(0)
    assert [phase["lane_count"] for phase in outcome.phases] == [n * workers for n in (1, 2, 3) for _ in range(4)]
    assert [phase["bytes"] for phase in outcome.phases] == [n * workers * 65536 for n in (1, 2, 3) for _ in range(4)]
    assert outcome.phases[4]["name"] == "write, 2 lanes"
    for phase in outcome.phases:
        assert phase["lanes_sat_out"] == 0 and phase["lanes_failed"] == 0


def test_sizes_shrink_again_when_lanes_change(path, out):
    outcome = program.run("-i 1 -i 0 -+n -t 1 -t 2 -s 128k -s 64k -r 8k -w".split(), path=path, out=out).expect(0)
    assert [(phase["lane_count"], phase["bytes"]) for phase in outcome.phases] == [
        (1, 65536), (1, 65536), (1, 131072), (1, 131072), (2, 131072), (2, 131072), (2, 262144), (2, 262144)]
    sizes = [file.stat().st_size for file in sorted(outcome.data.glob("lane-*"))]
    assert sizes == [131072, 131072], "at the end all lanes have the largest size, as the manifest says"
    later = program.run("-i 1 -+n -t 2 -s 128k -r 8k".split(), path=path, out=out.parent / "later").expect(0)
    assert later.phases[0]["bytes"] == 262144


def test_a_constant_total_is_shared_by_all_workers(path, out):
    outcome = program.run("-+k -s 1m -r 4k -i 0 -+n -t 2 --spawn 2".split(), path=path, out=out).expect(0)
    assert outcome.phases[0]["bytes_per_lane"] == 1 << 18 and outcome.phases[0]["bytes"] == 1 << 20


def test_thirteen_tests_with_32_lanes_need_no_pauses(path, out):
    numbers = [word for number in range(13) for word in ("-i", str(number))]
    outcome = program.run([*numbers, "-t", "32", "-s", "64k", "-r", "4k"], path=path, out=out).expect(0)
    operations = [phase["operation"] for phase in outcome.phases]
    assert len(operations) == 22 and operations[0] == "write" and operations[-1] == "repreadv"
    for phase in outcome.phases:
        assert phase["bytes"] == 32 * 65536 and phase["lanes_failed"] == 0, phase["name"]
    # IOzone sleeps 2 s and more between two tests. No tight bound: our overhead besides lanes and steps is small beside
    # that, even where 32 lanes share two processors.
    fixed = sorted(phase["fixed_cost_s"] for phase in outcome.phases)
    assert fixed[len(fixed) // 2] < 2, fixed


# ---------------------------------------------------------------------------------------- existing files


def digest(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_existing_files_are_read_and_left_as_they_are(tmp_path, out):
    files = [tmp_path / "one", tmp_path / "two"]
    for file in files:
        file.write_bytes(os.urandom(100_000))
        file.chmod(0o444)
    before = [(digest(file), file.stat().st_mtime_ns) for file in files]
    outcome = program.plain("--existing", files[0], "--existing", files[1], *"-i 1 -i 2 -i 3 -i 5 -i 10 -i 12".split(), "-r", "4k", "-s", "96k", "-t", "4", "--out", out).expect(0)
    outcome.out = out
    assert [phase["bytes"] for phase in outcome.phases] == [4 * 98304] * len(outcome.phases)
    lanes = [lane for lane in outcome.phases[0]["clients"][0]["workers"][0]["lanes"]]
    assert [lane["file"] for lane in lanes] == [str(files[i % 2]) for i in range(4)]
    assert [(digest(file), file.stat().st_mtime_ns) for file in files] == before
    assert sorted(os.listdir(tmp_path)) == sorted(["one", "two", *([out.name] if out.parent == tmp_path else [])])


def test_existing_files_by_iozones_letters_and_through_a_link(tmp_path, out):
    (tmp_path / "data").write_bytes(os.urandom(65536))
    (tmp_path / "link").symlink_to(tmp_path / "data")
    outcome = program.plain("-+E", "-f", tmp_path / "link", "-i", "1", "-+n", "-r", "4k", "-s", "64k", "--out", out)
    outcome.expect(0)
    assert "existing files" in outcome.stdout
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("options, patterns", [
    ("-i 1 -s 64k", ("nothere", "ENOENT")),
    ("-i 1 -s 64k --spawn 2", ("nothere", "ENOENT")),
])
def test_an_existing_file_that_is_missing(options, patterns, tmp_path, out):
    outcome = program.plain("--existing", tmp_path / "nothere", *options.split(), "--out", out)
    outcome.out, outcome.path = out, tmp_path
    one_line(outcome, *patterns)


def test_an_existing_file_that_is_too_small_or_no_file(tmp_path, out):
    (tmp_path / "small").write_bytes(b"x" * 1000)
    for file, patterns in ((tmp_path / "small", ("small", "1000 B|1,000 B|0.98 KiB|1000", "-s")),
                           (tmp_path, ("not a regular file",))):
        outcome = program.plain("--existing", file, *"-i 1 -s 64k -r 4k".split(), "--out", out)
        outcome.out, outcome.path = out, tmp_path
        one_line(outcome, *patterns)


def test_nothing_writes_to_an_existing_file(tmp_path, out):
    (tmp_path / "mine").write_bytes(b"x" * 65536)
    for options in ("-i 0", "--op random-write", "-i 8", "-i 9", "--op update", "--op putc", "--op create", "-s 64k"):
        outcome = program.plain("--existing", tmp_path / "mine", *options.split(), "--out", out)
        outcome.out, outcome.path = out, tmp_path
        one_line(outcome, r"--existing")
    assert (tmp_path / "mine").read_bytes() == b"x" * 65536


# --------------------------------------------------------------------------------------------- modifiers


def test_files_that_are_kept_are_written_over_in_place(path, out):
    program.run([*SMALL, "-t", "2", "-w"], path=path, out=out).expect(0)
    data = path / program.DATA_DIRECTORY
    before = {file.name: file.stat().st_ino for file in data.glob("lane-*")}
    again = program.run(["-i", "0", "-+n", "-+N", "-r", "4k", "-s", "64k", "-t", "2", "-w"], path=path,
                        out=out.parent / "again").expect(0)
    assert {file.name: file.stat().st_ino for file in data.glob("lane-*")} == before, "the same files"
    assert again.phases[0]["bytes"] == 131072
    with contextlib.ExitStack() as held:  # open, so that no new file gets an old file's inode number
        for file in data.glob("lane-*"):
            held.enter_context(file.open())
        program.run(["-i", "0", "-+n", "-r", "4k", "-s", "64k", "-t", "2", "-w"], path=path,
                    out=out.parent / "anew").expect(0)
        assert {file.name: file.stat().st_ino for file in data.glob("lane-*")} != before, "without -+N they are new"


def test_a_rest_is_timed_and_reported(path, out):
    outcome = program.run([*SMALL, "-+n", "-+q", "0.3", "--verbose"], path=path, out=out).expect(0)
    rests = [[step["seconds"] for step in phase["steps"] if step["name"] == "rest"] for phase in outcome.phases]
    assert rests[0] == [] and len(rests[1]) == 1 and rests[1][0] >= 0.3
    assert "rest 3" in outcome.stdout


def test_a_rest_comes_between_repetitions_too(path, out):
    words = ["-i", "0", "-+n", "-r", "4k", "-s", "64k", "--repeat", "3", "-+q", "0.1"]
    outcome = program.run(words, path=path, out=out).expect(0)
    rests = [[step for step in phase["steps"] if step["name"] == "rest"] for phase in outcome.phases]
    assert [len(steps) for steps in rests] == [0, 1, 1]


def test_a_lane_ends_after_so_many_ops(path, out):
    outcome = program.run("-i 0 -i 2 -r 4k -s 1m -t 2 --max-ops 10 -x -w".split(), path=path, out=out).expect(0)
    for phase in outcome.phases:
        assert phase["measured_ops"] == 20, phase["name"]
    assert {file.stat().st_size for file in outcome.data.glob("lane-*")} == {1 << 20}, "what was begun is finished"


def test_interleaved_records_fill_a_shared_file(path, out):
    outcome = program.run("-i 0 -i 1 -i 2 -+V --interleaved -r 4k -s 64k -t 3 --spawn 2 -w --data pattern:7".split(),
                          path=path, out=out).expect(0)
    shared = outcome.data / "shared"
    assert shared.read_bytes() == b"\7" * (6 * 65536), "every byte was written, and none beyond"
    assert len(outcome.phases) == 6


def test_blocks_of_several_records_fill_a_shared_file(path, out):
    words = "-+V --interleaved --block 16k -r 4k -s 64k -t 3 --spawn 2 -w".split()
    outcome = program.run(["--op", "write,random-write,read", "--data", "pattern:7", *words], path=path, out=out).expect(0)
    assert (outcome.data / "shared").read_bytes() == b"\7" * (6 * 65536), "every byte was written, and none beyond"


@pytest.mark.parametrize("options, says", [
    (("-r", "4k", "--block", "6k"), "not a multiple of the record of 4096 bytes"),
    (("-r", "4k", "--block", "12k"), "not a multiple of blocks of 12288 bytes"),
    (("-r", "4k", "--block", "0"), "--block")])
def test_blocks_are_whole_records_and_fill_a_lane_s_size(options, says, path, out):
    refused = program.run(["--op", "write", "-+V", "--interleaved", "-s", "64k", "-t", "2", *options], path=path, out=out).expect(1)
    assert says in " ".join(refused.stderr.split()), refused


@pytest.mark.parametrize("record, size", [("4k", "64k"), ("1k", "16k")])
def test_interleaved_records_are_made_where_nothing_was_written(record, size, path, out):
    """All lanes make them at the same time, each its own records."""
    words = f"-i 1 -i 2 -+V --interleaved -r {record} -s {size} -t 3 --spawn 2 -w --data pattern:7".split()
    outcome = program.run(words, path=path, out=out).expect(0)
    lane_bytes = int(size.rstrip("k")) * 1024
    assert (outcome.data / "shared").read_bytes() == b"\7" * (6 * lane_bytes)
    made = [{step["name"]: step for step in phase["steps"]}.get("prefill", {}).get("bytes", 0)
            for phase in outcome.phases if phase["operation"] in ("read", "reread")]
    assert made[0] == 6 * lane_bytes and not any(made[1:]), made


def test_a_sequential_mix_has_readers_and_writers(path, out):
    outcome = program.run("-i 8 -+B -+K 1 -+F -r 4k -s 256k -t 3".split(), path=path, out=out).expect(0)
    phase = outcome.phases[0]
    assert phase["operation"] == "sequential-mix"
    assert phase["by_kind"]["read"]["ops"] > 0 and phase["by_kind"]["write"]["ops"] > 0
    steps = {step["name"]: step for step in phase["steps"]}
    assert "empty" in steps["create-files"]["outcome"]
    assert steps["prefill"]["bytes"] == 262144, "only the reader's file is prepared"


def test_iozones_directories_are_ours(tmp_path, out):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    outcome = program.plain("-F", tmp_path / "a" / "f1", tmp_path / "b" / "f2", *SMALL, "-t", "1", "--spawn", "2",
                            "-w", "--out", out).expect(0)
    assert outcome.stderr == "" or "warn" not in outcome.stderr
    for name in ("a", "b"):
        assert os.listdir(tmp_path / name) == [program.DATA_DIRECTORY], "and no file of that name"
    refused = program.plain("-F", tmp_path / "a" / "f1", tmp_path / "b" / "f2", *SMALL, "--out", tmp_path / "no")
    refused.out, refused.path = tmp_path / "no", tmp_path / "nowhere"
    one_line(refused, "-F", "workers")


def test_clustered_letters_as_in_iozones_manual(path, out):
    outcome = program.run("-Racz -g 64k -y 64k -i0 -i1 -+n".split(), path=path, out=out).expect(0)
    assert [phase["operation"] for phase in outcome.phases] == ["write", "read"]
    assert outcome.phases[0]["headline"]["region"] == "ops+close"


# ------------------------------------------------------------------------------------------------ suites


def test_suites_are_listed():
    outcome = program.plain("--suite", "list").expect(0)
    for name in ("bonnie", "etcd", "io500-like", "iozone-auto", "iozone-nfs", "metadata", "smoke"):
        assert re.search(rf"^  {name} +\S", outcome.stdout, re.MULTILINE), outcome.stdout


@pytest.mark.parametrize("suite, options, phases", [
    ("bonnie", "-s 4m --items 20", 12),
    ("bonnie", "-s 4m --items 20 -I -t 2", 12),
    ("io500-like", "-s 2m --items 20", 12),
    ("iozone-auto", "-g 64k -y 64k -i 1", 2),
])
def test_a_suite_runs(suite, options, phases, path, out):
    outcome = program.run(["--suite", suite, *options.split(), "--spawn", "2"], path=path, out=out).expect(0)
    assert len(outcome.phases) == phases
    for phase in outcome.phases:
        assert phase["lanes_failed"] == 0 and phase["lanes_sat_out"] == 0, phase["name"]


def test_the_smoke_suite_runs(path, out, tmp_path):
    plan = program.plain("--suite", "smoke", "-s", "1m", "--path", path, "--print-plan").expect(0).stdout
    assert len(re.findall("(?:time|deadline)_s: 2$", plan, re.MULTILINE)) == 7, plan
    (tmp_path / "plan.yaml").write_text(plan.replace("_s: 2\n", "_s: 0.1\n"))
    outcome = program.run(["--plan", tmp_path / "plan.yaml", "--spawn", "2"], path=path, out=out).expect(0)
    assert [phase["operation"] for phase in outcome.phases] == ["write", "read", "random-read", "random-write",
                                                               "create", "stat", "file-mix"]
    for phase in outcome.phases:
        assert phase["ops"] > 0 and phase["lanes_failed"] == 0 and phase["lanes_sat_out"] == 0, phase["name"]


def test_the_etcd_suite_is_judged_by_its_flushes(path, out):
    outcome = program.run(["--suite", "etcd", "-s", "1m"], path=path, out=out)
    assert outcome.code in (0, 4), f"a short run may be undecided\n{outcome}"
    (phase,) = outcome.phases
    (criterion,) = outcome.result["criteria"]
    assert phase["by_kind"]["fdatasync"]["ops"] == phase["ops"] == (1 << 20) // 2300 + 1
    assert criterion["criterion"] == "append-log:fdatasync:p99<=10ms"
    assert criterion["measured"] == phase["by_kind"]["fdatasync"]["latency_us"]["p99"]


def test_iozone_nfs_keeps_its_data(path, out):
    outcome = program.run("--suite iozone-nfs -s 1m -r 64k".split(), path=path, out=out).expect(0)
    assert [phase["operation"] for phase in outcome.phases] == ["write", "read", "random-read", "random-write"]
    assert outcome.phases[0]["headline"]["region"] == "ops+fsync+close"
    assert [file.stat().st_size for file in outcome.data.glob("lane-*")] == [1 << 20]


def test_bonnies_seekers_share_one_file(path, out):
    outcome = program.run("--suite bonnie -s 4m --items 20 -w".split(), path=path, out=out).expect(0)
    seeks = [phase for phase in outcome.phases if phase["operation"] == "seeks"][0]
    lanes = seeks["clients"][0]["workers"][0]["lanes"]
    assert len(lanes) == 5 and len({lane["file"] for lane in lanes}) == 1
    assert seeks["by_kind"]["update"]["ops"] > 0, "every tenth is rewritten"
    assert len(list(outcome.data.glob("lane-*"))) == 1
    assert "smaller than twice" in outcome.stdout


def test_the_io500_like_score_is_printed_and_printed_again(path, out):
    outcome = program.run("--suite io500-like -s 2m --items 20".split(), path=path, out=out).expect(0)
    names = [phase["name"] for phase in outcome.phases]
    assert names.index("mdtest-hard-write") + 1 == names.index("find"), "where the IO500 has it"
    assert 0 < outcome.phase("find")["found_items"] < outcome.phase("find")["ops"]
    assert "and of 8 metadata phases" in " ".join(outcome.stdout.split())
    found = re.search(r"score ([\d.e+-]+) \[INVALID\] = sqrt", outcome.stdout)
    score = outcome.result["score"]
    assert f"{score['value']:.4g}" == f"{float(found.group(1)):.4g}" and not score["valid"]
    assert "shorter than the 300 s" in score["problems"][0] and "ior-easy-write (" in score["problems"][0]
    assert "ior-easy-read" not in score["problems"][0], "only phases that write or create have a minimum"
    with (out / "phases.csv").open() as rows:
        scores = [(row["phase"], float(row["score"]), row["score_valid"]) for row in csv.DictReader(rows) if row["score"]]
    assert scores == [(names[-1], score["value"], "0")]
    assert "until the last lane ended" not in outcome.stdout, "the headlines are full"
    assert found and "not an IO500 submission" in " ".join(outcome.stdout.split())
    again = program.plain("report", out).expect(0)
    assert found.group(0) in again.stdout


def test_a_suite_installed_elsewhere_is_found(path, out, tmp_path):
    (tmp_path / "bin").mkdir()
    plans = tmp_path / "share" / "cluster-iobench" / "plans"
    plans.mkdir(parents=True)
    try:
        os.link(program.BINARY, tmp_path / "bin" / "cluster-iobench")
    except OSError:     # another file system
        shutil.copy2(program.BINARY, tmp_path / "bin")
    (plans / "mine.yaml").write_text("# Only mine\nfiles: {bytes_per_lane: 64k}\nphases:\n- assignments:\n"
                                     "  - operation: {name: write, record_bytes: 4k}\n")
    listed = subprocess.run([tmp_path / "bin" / "cluster-iobench", "--suite", "list"], capture_output=True, text=True,
                            check=True, env=program.clean_environment())
    assert "Only mine" in listed.stdout and "bonnie" not in listed.stdout
