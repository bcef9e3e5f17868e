"""Verification finds and classifies every kind of damage that is done to kept data between two runs."""
import hashlib
import json
import zlib

import program
import pytest
import schema

SECTOR = 512
SHAPE = ("-r", "4k", "-s", "64k")


@pytest.fixture(params=["in-process", "spawn"])
def options(request, tmp_path):
    return program.Transports(tmp_path).parts(request.param)[1]


def write_and_keep(path, out, *options):
    return program.run(["-i", "0", "-w", "--verify", *SHAPE, *options], path=path, out=out).expect(0)


def read_again(path, out, *options):
    return program.run(["-i", "1", "-+n", "-w", "--verify", *SHAPE, *options], path=path, out=out)


def data_file(path, lane=0):
    return path / program.DATA_DIRECTORY / f"lane-{lane:06}.0"


def overwrite(file, offset, data):
    with open(file, "r+b") as opened:
        opened.seek(offset)
        opened.write(data)


def sector(file, offset):
    return file.read_bytes()[offset:offset + SECTOR]


def test_a_second_run_verifies_what_the_first_kept(path, tmp_path, options):
    write_and_keep(path, tmp_path / "1", *options)
    outcome = read_again(path, tmp_path / "2", *options).expect(0)
    verify = outcome.phase("read")["verify"]
    assert verify["sectors"] == 4 * 64 * 1024 // SECTOR
    assert verify["mismatched"] == verify["undetermined"] == 0
    assert verify["counts"] == {} and verify["first"] == []
    assert "512 sectors, all as written" in outcome.stdout


def test_sectors_are_torn_by_the_seed_of_the_run_that_wrote_them(path, tmp_path):
    write_and_keep(path, tmp_path / "1", "--seed", "3")
    old = data_file(path).read_bytes()
    program.run(["--op", "rewrite", "-w", "--verify", *SHAPE, "--seed", "8"], path=path, out=tmp_path / "2").expect(0)
    overwrite(data_file(path), 8192 + 256, old[8192 + 256:8192 + 512])
    outcome = read_again(path, tmp_path / "3").expect(2)
    assert outcome.phase("read")["verify"]["counts"] == {"torn": 1}


def damage(kind, path):
    """Damages one sector of lane 1's file, at 8192; returns where the mismatch is."""
    file = data_file(path, 1)
    if kind == "zeros":
        overwrite(file, 8192, bytes(SECTOR))
    elif kind == "corrupt":
        byte = sector(file, 8192)[300]
        overwrite(file, 8192 + 300, bytes([byte ^ 1]))
    elif kind == "wrong-offset":
        overwrite(file, 8192, sector(file, 4096))
    elif kind == "other-file":
        overwrite(file, 8192, sector(data_file(path, 2), 8192))
    elif kind == "torn":
        overwrite(file, 8192 + 256, bytes(256))


def test_data_in_which_something_is_wrong_stay_as_evidence(path, tmp_path, options):
    write_and_keep(path, tmp_path / "1", *options)
    damage("corrupt", path)
    before = data_file(path, 1).read_bytes()
    read = ["-i", "1", "-+n", "--verify", *SHAPE, *options]
    outcome = program.run(read, path=path, out=tmp_path / "2").expect(2)
    data = path / program.DATA_DIRECTORY
    assert data_file(path, 1).read_bytes() == before
    (problem,) = outcome.result["run"]["problems"]
    for text in (problem["message"], outcome.stdout, outcome.stderr):
        text = "".join(text.split())    # lines may be wrapped anywhere
        for part in ("verificationfailed", str(data), f"cluster-iobenchclean{path}"):
            assert part in text, outcome
    again = program.run(read, path=path, out=tmp_path / "3").expect(2)
    assert again.phase("read")["verify"]["counts"] == {"corrupt": 1}, "as after -w it can be looked at again"
    program.plain("clean", path).expect(0)
    assert not data.exists()


@pytest.mark.parametrize("kind", ["zeros", "corrupt", "wrong-offset", "other-file", "torn"])
def test_damaged_data_are_told_by_kind_and_end_the_run_with_2(kind, path, tmp_path, options):
    write_and_keep(path, tmp_path / "1", *options)
    damage(kind, path)
    outcome = read_again(path, tmp_path / "2", *options).expect(2)
    phase = outcome.phase("read")
    assert phase["verify"]["mismatched"] == 1 and phase["verify"]["counts"] == {kind: 1}, outcome
    (first,) = phase["verify"]["first"]
    assert first["file"] == str(data_file(path, 1)) and first["offset"] == 8192
    assert first["expected"] == "generation 2", "write, rewrite"
    (error,) = phase["errors"]
    assert error["lane"] == 1 and error["offset"] == 8192 and kind in error["message"]
    assert outcome.result["run"]["exit_code"] == 2
    assert "FAILED" in outcome.stdout and f"1 {kind}" in outcome.stdout
    assert phase["bytes"] == 4 * 64 * 1024, "the lane reads on"


def test_an_earlier_write_that_comes_back_is_stale(path, tmp_path, options):
    program.run(["-i", "0", "-+n", "-w", "--verify", *SHAPE, *options], path=path, out=tmp_path / "1").expect(0)
    before = data_file(path, 3).read_bytes()
    # Every record is rewritten by the second run, which goes on where the first ended.
    second = program.run(["--op", "rewrite", "-w", "--verify", *SHAPE, *options], path=path, out=tmp_path / "2")
    second.expect(0)
    read_again(path, tmp_path / "3", *options).expect(0)
    overwrite(data_file(path, 3), 12288, before[12288:16384])
    outcome = read_again(path, tmp_path / "4", *options).expect(2)
    verify = outcome.phase("read")["verify"]
    assert verify["counts"] == {"stale": 8}
    assert {mismatch["found"] for mismatch in verify["first"]} == {"generation 1 by lane 3"}
    assert {mismatch["expected"] for mismatch in verify["first"]} == {"generation 2"}


def test_after_a_partial_rewrite_both_generations_are_right(path, out, options):
    outcome = program.run(["-i", "0", "-+n", "-i", "8", "-i", "1", "--verify", *SHAPE, *options], path=path, out=out)
    outcome.expect(0)
    mix, read = outcome.phase("random-mix")["verify"], outcome.phase("read")["verify"]
    assert 0 < mix["undetermined"] == mix["sectors"] < 512
    assert read["undetermined"] == read["sectors"] == 512
    assert mix["mismatched"] == read["mismatched"] == 0


ENGINES = ["posix", "mmap", "posix-aio", "uring"]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_writes_and_reads_what_can_be_verified(engine, path, out):
    more = ["--depth", "4"] if engine in ("posix-aio", "uring") else ["--op", "update"]
    run = program.run(["-i", "0", "-i", "1", "-i", "2", "-i", "3", "-i", "5", *more, "-i", "1", "--verify", "-t", "2",
                       "--engine", engine, *SHAPE], path=path, out=out).expect(0)
    checked = [phase for phase in run.phases if "verify" in phase]
    assert len(checked) >= 6, [phase["name"] for phase in checked]
    for phase in checked:
        assert phase["verify"]["mismatched"] == phase["verify"]["undetermined"] == 0 or phase["name"] == "update", phase
        assert phase["verify"]["sectors"] == 2 * 64 * 1024 // SECTOR


def test_streams_vectors_and_characters_are_verified(path, out):
    numbers = [word for number in (6, 7, 9, 10, 11, 12) for word in ("-i", str(number))]
    run = program.run([*numbers, "--op", "putc", "--op", "getc", "--verify", "-t", "2", *SHAPE], path=path, out=out)
    run.expect(0)
    for name in ("fread", "pread", "preadv", "getc"):
        assert run.phase(name)["verify"]["sectors"] == 256 and run.phase(name)["verify"]["mismatched"] == 0, name


@pytest.mark.parametrize("record", ["1", "100", "1000"])
def test_records_that_are_no_multiple_of_a_sector_are_verified(record, path, out):
    run = program.run(["-i", "0", "-i", "1", "-i", "2", "--verify", "-t", "2", "-r", f"{record}b", "-s", "4k"], path=path,
                      out=out).expect(0)
    for name in ("read", "random-read"):
        assert run.phase(name)["verify"]["sectors"] >= 2 * 4096 // SECTOR
        assert run.phase(name)["verify"]["mismatched"] == 0


def test_shared_files_and_rotated_clients_are_verified(path, out):
    run = program.run(["-i", "0", "-i", "1", "--verify", "--spawn", "2", "-t", "2", "-+V", "--rotate-clients", *SHAPE],
                      path=path, out=out).expect(0)
    assert run.phase("read")["verify"]["sectors"] == 512
    assert run.phase("read")["verify"]["mismatched"] == 0


def test_data_that_were_prepared_are_verified(path, out, options):
    run = program.run(["-i", "2", "--verify", *SHAPE, *options], path=path, out=out).expect(0)
    assert run.phase("random-read")["verify"]["sectors"] == 512
    assert run.phase("random-read")["verify"]["mismatched"] == 0


def test_kept_data_without_sectors_cannot_be_verified(path, tmp_path):
    program.run(["-i", "0", "-+n", "-w", *SHAPE], path=path, out=tmp_path / "1").expect(0)
    outcome = read_again(path, tmp_path / "2").expect(1)
    assert len(outcome.stderr.strip().splitlines()) == 1 and "--verify no, now yes" in outcome.stderr, outcome


def test_a_pattern_is_checked_byte_by_byte(path, tmp_path, options):
    shape = (*SHAPE, *options)
    program.run(["-i", "0", "-+n", "-w", "-V", "170", *shape], path=path, out=tmp_path / "1").expect(0)
    assert set(data_file(path).read_bytes()) == {170}
    overwrite(data_file(path), 5001, b"\x00")
    outcome = program.run(["-i", "1", "-+n", "-V", "170", *shape], path=path, out=tmp_path / "2").expect(2)
    (first,) = outcome.phase("read")["verify"]["first"]
    assert first["offset"] == 5001 and first["what"] == "CORRUPT" and first["found"] == "0x00"


def records_of(path, lanes, record=4096):
    files = [data_file(path, lane).read_bytes() for lane in range(lanes)]
    return [[hashlib.sha1(data[at:at + record]).digest() for at in range(0, len(data), record)] for data in files]


# ------------------------------------------------------------------- what the run wrote, and somebody took away


def lose_after(tmp_path, phase, action):
    script = tmp_path / "hook.sh"
    script.write_text(f'[ "$IOBENCH_PHASE" = {phase} ] || exit 0\ncd "$IOBENCH_PATHS"/cluster-iobench.data && {action}\n')
    return ("--after-phase", f"sh {script}")


@pytest.mark.parametrize("action, lost, said", [
    ("truncate -s 10000 lane-000001.0", 65536 - 10000, "ends at 10000"),
    ("truncate -s 0 lane-000001.0", 65536, "ends at 0"),
    ("rm lane-000001.0", 65536, "is missing"),
])
@pytest.mark.parametrize("verify", [(), ("--verify",), ("-V", "7")], ids=["unverified", "sectors", "pattern"])
def test_data_that_are_lost_between_two_phases_are_not_written_again(action, lost, said, verify, path, out, tmp_path, options):
    outcome = program.run(["--op", "write,read,rewrite,reread", *SHAPE, *verify, *options, *lose_after(tmp_path, "write", action)],
                          path=path, out=out).expect(2)
    assert schema.problems(outcome.result) == []
    read = outcome.phase("read")
    assert read["verify"]["missing_bytes"] == lost and read["verify"]["mismatched"] == 0
    first, = read["verify"]["first"]
    assert first["what"] == "MISSING" and first["file"].endswith("lane-000001.0")
    error, = read["errors"]
    assert error["client"] and error["lane"] == 1 and error["file"] == first["file"] and said in error["message"]
    assert f"{lost} bytes" in error["message"]
    assert read["bytes"] == 3 * 65536, "the other lanes read on"
    assert "FAILED: " in outcome.stdout and "all as written" not in outcome.stdout.split("rewrite")[0]
    assert "the data are kept" in outcome.stderr and data_file(path, 0).stat().st_size == 65536
    assert not data_file(path, 1).exists() or data_file(path, 1).stat().st_size == 65536 - lost, "nobody has mended it"


def test_lost_data_of_shared_files_of_several_files_and_of_preparations_are_found(path, tmp_path):
    """A phase that prepares its data leaves them to the phases after it."""
    for index, (words, phase, action, lost) in enumerate([
            ("--op read,random-read -t 2", "read", "truncate -s 4096 lane-000000.0", 65536 - 4096),
            ("--op write,read -t 2 --shared-file", "write", "truncate -s 69632 shared", 65536 - 4096),
            ("--op write,read -t 2 --files-per-lane 4", "write", "rm lane-000001.2", 16384),
            ("--op write,update -t 1", "write", "truncate -s 65535 lane-000000.0", 1),
            ("--op write,read --max-ops 4 -t 1", "write", "truncate -s 8192 lane-000000.0", 8192)]):
        outcome = program.run([*words.split(), *SHAPE, *lose_after(tmp_path, phase, action)], path=path,
                              out=tmp_path / f"out{index}").expect(2)
        assert outcome.phases[1]["verify"]["missing_bytes"] == lost, (words, outcome)
        program.plain("clean", path).expect(0)


def test_a_phase_that_uses_other_files_than_those_before_it_prepares_them(path, out):
    """Nobody has written these data, or not all of them."""
    outcome = program.run(["--op", "write,read", *SHAPE, "--max-lanes", "2"], path=path, out=out).expect(0)
    assert all(not phase["errors"] for phase in outcome.phases)


def test_deduplicable_data_have_the_fractions_asked_for(path, out, options):
    lanes = 4
    program.run(["-i", "0", "-w", "-r", "4k", "-s", "4m", "-+w", "40", "-+y", "30", "-+C", "25", *options], path=path,
                out=out).expect(0)
    files = records_of(path, lanes)
    count = len(files[0])
    for lane in range(lanes):
        others = set().union(*(files[other] for other in range(lanes) if other != lane))
        across = [digest for digest in files[lane] if digest in others]
        within = [digest for digest in files[lane] if files[lane].count(digest) > 1]
        assert abs(len(across) / count - 0.40 * (1 - 0.30 * 0.25)) < 0.01
        assert abs(len(within) / count - 0.40 * 0.30) < 0.01
        assert abs(len(set(files[lane]) - others) / count - 0.60) < 0.01


@pytest.mark.parametrize("verify", [[], ["--verify", "-i", "1"]], ids=["plain", "verified"])
@pytest.mark.parametrize("percent", [30, 75])
def test_compressible_data_compress_by_as_much(percent, verify, path, out):
    run = program.run(["-i", "0", "-w", "-r", "64k", "-s", "4m", "--compress", str(percent), "-t", "2", *verify], path=path,
                      out=out).expect(0)
    assert not verify or run.phase("read")["verify"]["sectors"] == 2 * (4 << 20) // SECTOR
    for lane in range(2):
        data = data_file(path, lane).read_bytes()
        assert abs(len(zlib.compress(data, 9)) / len(data) - (1 - percent / 100)) < 0.01


def test_zeros_are_zeros(path, out):
    outcome = program.run(["-i", "0", "-w", "--data", "zero", *SHAPE], path=path, out=out).expect(0)
    assert set(data_file(path).read_bytes()) == {0}
    assert outcome.phase("write")["between_s"] == 0, "and cost nothing"


def test_a_pace_is_kept_and_shown(path, out):
    outcome = program.run(["-i", "0", "-+n", "-+O", "200", "-r", "4k", "-s", "400k", "-t", "2"], path=path, out=out)
    phase = outcome.expect(0).phase("write")
    assert phase["asked_ops_per_s"] == 200
    assert 100 < phase["paced_ops_per_s"] <= 200 * 1.001, "a busy machine may miss it, nothing may exceed it"
    assert phase["between_s"] > 0.4 and phase["pause_s"] == 0
    assert "target 200 ops/s" in outcome.stdout


def test_think_time_is_left_out_of_children_only(path, out):
    outcome = program.run(["-i", "0", "-+n", "-J", "2", "-r", "4k", "-s", "400k", "-t", "1"], path=path, out=out)
    phase = outcome.expect(0).phase("write")
    rates = phase["throughput_bytes_per_s"]
    assert phase["pause_s"] >= 0.2
    assert rates["children"] > 5 * rates["stonewalled"]
    assert rates["stonewalled"] == pytest.approx(phase["bytes"] / phase["duration_s"], rel=0.2)
    counted = program.run(["-i", "0", "-+n", "-J", "2", "-+J", "-r", "4k", "-s", "400k", "-t", "1"], path=path,
                          out=out.with_name("counted")).expect(0).phase("write")
    assert counted["pause_s"] == 0 and counted["between_s"] >= 0.2
    rates = counted["throughput_bytes_per_s"]
    assert rates["children"] == pytest.approx(rates["stonewalled"], rel=0.05)


def test_a_manifest_says_what_later_runs_have_to_know(path, out):
    write_and_keep(path, out)
    manifest = json.loads((path / program.DATA_DIRECTORY / "manifest.json").read_text())
    assert manifest["data"]["verify"] and manifest["data"]["unit_bytes"] == SECTOR
    assert manifest["data"]["generation_low"] == manifest["data"]["generation_high"] == 2


def reads_were_whole(outcome):
    lanes = outcome.result["run"]["lane_count"]
    for phase in outcome.phases:
        if phase["operation"] in ("read", "reread", "random-read"):
            assert phase["verify"]["sectors"] == lanes * 64 * 1024 // SECTOR
            assert phase["verify"]["mismatched"] == phase["verify"]["undetermined"] == 0
    return lanes


def test_interleaved_records_are_verified_each_as_its_lane_s(path, tmp_path, options):
    shape = ("-+V", "--interleaved", *options)
    outcome = program.run(["-i", "0", "-i", "1", "-i", "2", "--verify", "-w", *SHAPE, *shape], path=path,
                          out=tmp_path / "1").expect(0)
    lanes = reads_were_whole(outcome)
    # Records 0 and 1 of the file are those of lanes 0 and 1.
    shared = path / program.DATA_DIRECTORY / "shared"
    overwrite(shared, 4096, shared.read_bytes()[:4096])
    overwrite(shared, 4096 * lanes + 512, bytes(512))
    again = program.run(["-i", "1", "-+n", "-w", "--verify", *SHAPE, *shape], path=path, out=tmp_path / "2").expect(2)
    verify = again.phase("read")["verify"]
    assert verify["counts"] == {"wrong-offset": 8, "zeros": 1}, verify
    places = {mismatch["what"]: mismatch for mismatch in verify["first"]}
    assert places["ZEROS"]["offset"] == 4096 * lanes + 512, "of lane 0's second record"
    assert "of the extent of lane 0" in places["WRONG_OFFSET"]["found"]
    for words, says in ((("-r", "8k"), "sectors at multiples of bytes 4096, now 8192"), (("-r", "4k", "-r", "8k"), "-r")):
        other = program.run(["-i", "1", "-+n", "-w", "--verify", "-s", "64k", *words, *shape], path=path,
                            out=tmp_path / "3").expect(1)
        assert says in other.stderr, other


def test_blocks_that_alternate_are_verified_each_as_its_lane_s_and_only_in_the_layout_that_they_have(path, tmp_path, options):
    shape = ("-+V", "--interleaved", "--block", "16k", *options)
    outcome = program.run(["-i", "0", "-i", "1", "-i", "2", "--verify", "-w", *SHAPE, *shape], path=path,
                          out=tmp_path / "1").expect(0)
    lanes = reads_were_whole(outcome)
    # Block 0 of the file is lane 0's first, block 1 lane 1's, block `lanes` lane 0's second.
    shared = path / program.DATA_DIRECTORY / "shared"
    overwrite(shared, 16384 + 512, bytes(512))
    overwrite(shared, 16384 * lanes, shared.read_bytes()[:4096])
    verify = program.run(["-i", "1", "-+n", "-w", "--verify", *SHAPE, *shape], path=path,
                         out=tmp_path / "2").expect(2).phase("read")["verify"]
    assert verify["counts"] == {"wrong-offset": 8, "zeros": 1}, verify
    places = sorted((mismatch["offset"], mismatch["what"]) for mismatch in verify["first"])
    assert places == [(16384 + 512, "ZEROS"), *((16384 * lanes + 512 * n, "WRONG_OFFSET") for n in range(8))], verify
    for other in (("--block", "8k"), ()):
        refused = program.run(["-i", "1", "-+n", "-w", "--verify", *SHAPE, "-+V", "--interleaved", *other, *options], path=path,
                              out=tmp_path / "3").expect(1)
        assert f"blocks of bytes 16384, now {8192 if other else 0}" in " ".join(refused.stderr.split()), refused
